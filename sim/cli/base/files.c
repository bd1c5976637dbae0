/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a command writes: text files, which get their names when they are complete, charts and the page;
 * and the comparison of every output path with every input, by name and by inode, before anything is opened.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base.h"
#include "kernel/file.h"
#include "reports/output.h"

bool cli_file_check(const char *name, const char *path, struct sim_error *error)
{
    struct stat status;
    if (path == NULL || strcmp(path, "-") == 0)
        return true;
    if (path[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s: no file named; write --%s FILE", name,
                        name);
    const bool is_there = stat(path, &status) == 0;
    if ((is_there && S_ISDIR(status.st_mode)) || g_str_has_suffix(path, "/"))
        return report_file_fail(EISDIR, path, error);
    g_autofree char *folder = g_path_get_dirname(path);
    return (is_there && !S_ISREG(status.st_mode)) || access(folder, W_OK | X_OK) == 0 ||
           report_file_fail(errno, path, error);
}

bool cli_file_write(const char *path, const void *text, size_t size, struct sim_error *error)
{
    const struct report_bytes content = {.data = (unsigned char *)(uintptr_t)text, .size = size};
    return report_output(&path, &content, 1, false, error);
}

FILE *cli_memory_open(char **text, size_t *size)
{
    FILE *stream = open_memstream(text, size);
    if (stream == NULL)
        g_error("no memory for a stream");
    return stream;
}

void cli_memory_close(FILE *stream)
{
    const bool is_lost = ferror(stream) != 0;
    if (fclose(stream) != 0 || is_lost)
        g_error("no memory for a stream");
}

bool cli_file_open(struct cli_file *file, const char *path, struct sim_error *error)
{
    *file = (struct cli_file){.path = path};
    int code = report_partial_open(&file->output, path, false);
    if (code == 0 && (file->stream = report_partial_stream(&file->output)) == NULL)
        code = errno;
    if (code != 0)
        report_partial_end(&file->output, false);
    return code == 0 || report_file_fail(code, path, error);
}

bool cli_file_close(struct cli_file *file, bool is_whole, struct sim_error *error)
{
    if (file->stream == NULL)
        return true;
    int code = fflush(file->stream) != 0 || ferror(file->stream) != 0 ? errno : 0;
    if (fclose(file->stream) != 0 && code == 0)
        code = errno;
    file->stream = NULL;
    code = code != 0 || !is_whole ? code : report_partial_sync(&file->output);
    int ended = report_partial_end(&file->output, is_whole && code == 0);
    code = code != 0 ? code : ended;
    return !is_whole || code == 0 || report_file_fail(code, file->path, error);
}

bool cli_charts_read(const struct cli_args *args, struct cli_charts *out, struct sim_error *error)
{
    *out = (struct cli_charts){.folder = cli_value(args, "out", "bucketlab-out"),
                               .has_page = cli_chooses(args, "format", "html")};
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++)
        out->wanted[format] =
            cli_chooses(args, "format", report_format_extension((enum report_format)format));
    out->wanted[REPORT_PNG] |= !cli_has(args, "format");
    return cli_has(args, "no-charts") || cli_folder_check(out->folder, error);
}

bool cli_charts_fail(int64_t first, int64_t last, const char *database, struct sim_error *error)
{
    g_autofree char *word = cli_quoted(database);
    if (first == last)
        return sim_fail(error, error->class,
                        "%s; run %" PRId64 " is stored, draw it by: bucketlab report %" PRId64 " --db %s",
                        error->text, first, first, word);
    return sim_fail(error, error->class,
                    "%s; runs %" PRId64 " to %" PRId64
                    " are stored, draw each by: bucketlab report RUN --db %s",
                    error->text, first, last, word);
}

bool cli_charts_print(const struct cli_charts *charts, const char *prefix)
{
    bool has_some = charts->page != NULL;
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++) {
        for (size_t i = 0; i < charts->files[format].count; i++)
            cli_print_line(stdout, prefix, charts->files[format].paths[i]);
        has_some |= charts->files[format].count > 0;
    }
    if (charts->page != NULL)
        cli_print_line(stdout, prefix, charts->page);
    return has_some;
}

void cli_charts_free(struct cli_charts *charts)
{
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++)
        report_files_free(&charts->files[format]);
    free(charts->page);
    charts->page = NULL;
}

/* Makes a folder there and removes it. Permissions do not tell everything: root may write to any folder, but
 * /proc and a full disk take no files. Returns an errno, or 0. */
static int try_folder(const char *path)
{
    g_autofree char *made = g_strconcat(path, "/.bucketlab.XXXXXX", NULL);
    if (mkdtemp(made) == NULL)
        return errno == ENAMETOOLONG ? 0 : errno;
    (void)rmdir(made);
    return 0;
}

bool cli_folder_check(const char *folder, struct sim_error *error)
{
    if (folder[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --out: no folder named; write --out charts");
    g_autofree char *path = g_strdup(folder);
    struct stat status;
    while (stat(path, &status) != 0 && errno == ENOENT) {
        char *slash = strrchr(path, '/');
        if (slash == NULL || slash == path)
            strcpy(path, slash == NULL ? "." : "/");
        else
            *slash = '\0';
    }
    int code = stat(path, &status) != 0         ? errno
               : !S_ISDIR(status.st_mode)       ? ENOTDIR
               : access(path, W_OK | X_OK) != 0 ? errno
                                                : try_folder(path);
    bool is_input = code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP;
    return code == 0 || sim_fail(error, is_input ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT,
                                 "%s: %s; choose a folder that you may write to", folder, strerror(code));
}

/* The number of symbolic links that Linux follows. */
#define LINKS_MAX   40
#define ENDINGS_MAX (REPORT_FORMAT_COUNT + 1)

enum kind { INPUT, DATABASE, OUTPUT, FOLDER };

struct cli_output_file {
    enum kind kind;
    const char *option; /* without the dashes; NULL: an input */
    const char *what;   /* of an input */
    char *named;        /* as given by the user; for FOLDER, the folder */
    char *whole;        /* absolute path without links; for FOLDER, the folder's */
    bool is_there, is_written;
    dev_t device;
    ino_t inode;
    char *stem; /* only for FOLDER, like the members below */
    const char *endings[ENDINGS_MAX];
};

/* The absolute path of a file without links, "." and ".."; neither the file nor its folders need exist. */
static char *whole_path(const char *path, int links)
{
    char *real = realpath(path, NULL);
    if (real != NULL)
        return real;
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    g_autofree char *plain = g_strndup(path, size), *folder = g_path_get_dirname(plain),
                    *name = g_path_get_basename(plain),
                    *target = links < LINKS_MAX ? g_file_read_link(plain, NULL) : NULL;
    if (target != NULL) { /* the link of a file that does not exist */
        g_autofree char *there =
            g_path_is_absolute(target) ? g_strdup(target) : g_build_filename(folder, target, NULL);
        return whole_path(there, links + 1);
    }
    if (strcmp(folder, plain) == 0)
        return g_strdup(plain);
    g_autofree char *above = whole_path(folder, links);
    if (strcmp(name, "..") == 0)
        return g_path_get_dirname(above);
    return strcmp(name, ".") == 0 ? g_strdup(above) : g_build_filename(above, name, NULL);
}

/* NULL when there is no path. */
static struct cli_output_file *add(struct cli_outputs *outputs, enum kind kind, const char *path)
{
    struct stat status;
    if (path == NULL || path[0] == '\0')
        return NULL;
    if (outputs->files == NULL)
        outputs->files = g_ptr_array_new();
    const bool is_stdin = kind == INPUT && strcmp(path, SIM_STANDARD_INPUT) == 0;
    struct cli_output_file *file = g_new0(struct cli_output_file, 1);
    file->kind = kind;
    file->named = g_strdup(path);
    file->whole = is_stdin ? g_strdup("") : whole_path(path, 0);
    file->is_there = (is_stdin ? fstat(STDIN_FILENO, &status) : stat(path, &status)) == 0;
    if (file->is_there) {
        file->device = status.st_dev;
        file->inode = status.st_ino;
    }
    g_ptr_array_add(outputs->files, file);
    return file;
}

static void add_output(struct cli_outputs *outputs, enum kind kind, const char *option, const char *path,
                       bool is_written)
{
    struct cli_output_file *file = add(outputs, kind, path);
    if (file != NULL) {
        file->option = option;
        file->is_written = is_written;
    }
}

void cli_outputs_input(struct cli_outputs *outputs, const char *what, const char *path)
{
    struct cli_output_file *file = add(outputs, INPUT, path);
    if (file != NULL)
        file->what = what;
}

void cli_outputs_scenario(struct cli_outputs *outputs, const struct lab_scenario *scenario)
{
    cli_outputs_input(outputs, "the scenario", scenario->path);
    cli_outputs_input(outputs, "the trace", scenario->trace_path);
    cli_outputs_input(outputs, "the measured node", scenario->like_path);
    for (size_t i = 0; i < scenario->observed_count; i++)
        cli_outputs_input(outputs, "the observed file", scenario->observed[i].settings.observed_file);
}

void cli_outputs_database(struct cli_outputs *outputs, const char *option, const char *path, bool is_written)
{
    add_output(outputs, DATABASE, option, path, is_written);
}

void cli_outputs_file(struct cli_outputs *outputs, const char *option, const char *path)
{
    struct stat status;
    if (path != NULL && strcmp(path, "-") != 0 && (stat(path, &status) != 0 || S_ISREG(status.st_mode)))
        add_output(outputs, OUTPUT, option, path, true);
}

static void add_folder(struct cli_outputs *outputs, const char *folder, const char *name,
                       const char *const *endings, size_t count)
{
    struct cli_output_file *file = add(outputs, FOLDER, folder);
    g_autofree char *path = report_output_path("", name, false, NULL, "");
    file->option = "out";
    file->is_written = true;
    memcpy(file->endings, endings, count * sizeof *endings);
    file->stem = g_strndup(path, strlen(path) - 1); /* without the dot */
}

void cli_outputs_charts(struct cli_outputs *outputs, const struct cli_charts *charts, const char *scenario)
{
    static const char *const names[REPORT_FORMAT_COUNT] = {".png", ".svg", ".pdf"};
    const char *endings[ENDINGS_MAX];
    size_t count = 0;
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++) {
        if (charts->wanted[format])
            endings[count++] = names[format];
    }
    if (charts->has_page)
        endings[count++] = ".html";
    add_folder(outputs, charts->folder, scenario, endings, count);
}

void cli_outputs_finding(struct cli_outputs *outputs, const char *folder, const char *name)
{
    static const char *const endings[] = {".yaml"};
    add_folder(outputs, folder, name, endings, 1);
}

/* Whether a file of this name may be one of the files that the command writes into the folder. */
static bool is_made_name(const struct cli_output_file *made, const char *name)
{
    const size_t stem = strlen(made->stem);
    if (!g_str_has_prefix(name, made->stem) || (name[stem] != '-' && name[stem] != '.'))
        return false;
    for (size_t i = 0; i < ENDINGS_MAX && made->endings[i] != NULL; i++) {
        if (g_str_has_suffix(name + stem, made->endings[i]))
            return true;
    }
    return false;
}

static bool is_same(const struct cli_output_file *one, const struct cli_output_file *other)
{
    return strcmp(one->whole, other->whole) == 0 ||
           (one->is_there && other->is_there && one->device == other->device && one->inode == other->inode);
}

/* Compares paths, and inodes for links with other names. */
static bool is_made(const struct cli_output_file *made, const struct cli_output_file *other)
{
    g_autofree char *folder = g_path_get_dirname(other->whole), *name = g_path_get_basename(other->whole);
    if (strcmp(folder, made->whole) == 0 && is_made_name(made, name))
        return true;
    DIR *listing = other->is_there ? opendir(made->whole) : NULL;
    bool is_found = false;
    for (struct dirent *entry; !is_found && listing != NULL && (entry = readdir(listing)) != NULL;) {
        struct stat status;
        is_found = is_made_name(made, entry->d_name) &&
                   fstatat(dirfd(listing), entry->d_name, &status, 0) == 0 &&
                   status.st_dev == other->device && status.st_ino == other->inode;
    }
    if (listing != NULL)
        closedir(listing);
    return is_found;
}

/* Whether a file is one that SQLite makes beside a database, of which it follows the links. */
static bool is_beside(const struct cli_output_file *database, const struct cli_output_file *other)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; database->kind == DATABASE && i < sizeof endings / sizeof *endings; i++) {
        g_autofree char *path = g_strconcat(database->whole, endings[i], NULL);
        struct stat status;
        if (strcmp(path, other->whole) == 0 ||
            (other->is_there && stat(path, &status) == 0 && status.st_dev == other->device &&
             status.st_ino == other->inode))
            return true;
    }
    return false;
}

/* The same database may be given twice, as --db and --baseline. */
static bool overwrites(const struct cli_output_file *output, const struct cli_output_file *other)
{
    if (output == other || !output->is_written || other->kind == FOLDER)
        return false;
    if (output->kind == FOLDER)
        return is_made(output, other);
    return is_beside(output, other) || is_beside(other, output) ||
           (is_same(output, other) && (output->kind != DATABASE || other->kind != DATABASE));
}

static bool refuse(const struct cli_output_file *output, const struct cli_output_file *other,
                   struct sim_error *error)
{
    bool is_folder = output->kind == FOLDER;
    const char *what = is_beside(other, output)  ? "a file of the database"
                       : other->kind == DATABASE ? "the database"
                       : other->kind == INPUT    ? other->what
                                                 : "the file of another option,";
    return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: %swould overwrite %s %s; name another %s",
                    output->option, output->named, is_folder ? "a file there " : "", what, other->named,
                    is_folder ? "folder" : "file");
}

bool cli_outputs_check(struct cli_outputs *outputs, struct sim_error *error)
{
    const guint count = outputs->files == NULL ? 0 : outputs->files->len;
    struct cli_output_file **files = count == 0 ? NULL : (struct cli_output_file **)outputs->files->pdata;
    bool is_fine = true;
    /* Files are checked before databases, so that the message for `--csv x --db x` is about the file. */
    for (guint i = 0; is_fine && i < 2 * count * count; i++) {
        const struct cli_output_file *output = files[i / count % count], *other = files[i % count];
        if ((output->kind == DATABASE) == (i >= count * count) && overwrites(output, other))
            is_fine = refuse(output, other, error);
    }
    for (guint i = 0; i < count; i++) {
        g_free(files[i]->named);
        g_free(files[i]->whole);
        g_free(files[i]->stem);
        g_free(files[i]);
    }
    if (outputs->files != NULL)
        g_ptr_array_free(g_steal_pointer(&outputs->files), TRUE);
    return is_fine;
}
