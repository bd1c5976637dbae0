/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that a command writes: text files, which get their names when they are complete, charts and the page;
 * and the comparison of every output path with every input, by name and by inode, before anything is opened.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/text.h"
#include "kernel/file.h"
#include "kernel/grow.h"
#include "reports/output.h"

static bool fail_with(int code, const char *path, struct sim_error *error)
{
    return sim_fail(error, code == EISDIR ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT, "%s: %s; %s", path,
                    strerror(code),
                    code == EISDIR   ? "name a file in it"
                    : code == ENOENT ? "make the folder first, or name another file"
                                     : "free space there, check its permissions, or name another file");
}

bool cli_text_file_check(const char *name, const char *path, struct sim_error *error)
{
    struct stat status;
    if (path[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s: no file named; write --%s FILE", name,
                        name);
    bool is_there = stat(path, &status) == 0;
    if (is_there && S_ISDIR(status.st_mode))
        return fail_with(EISDIR, path, error);
    char *folder = cli_folder_of(path);
    if (folder == NULL)
        return sim_fail_memory(error);
    bool is_special = is_there && !S_ISREG(status.st_mode);
    int code = is_special || access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    return code == 0 || fail_with(code, path, error);
}

bool cli_text_file_write(const char *path, const char *text, size_t size, struct sim_error *error)
{
    struct report_partial output;
    int code = report_partial_open(&output, path, false);
    if (code != 0)
        return fail_with(code, path, error);
    code = report_partial_write(&output, text, size);
    code = code != 0 ? code : report_partial_sync(&output);
    int ended = report_partial_end(&output, code == 0);
    code = code != 0 ? code : ended;
    return code == 0 || fail_with(code, path, error);
}

char *cli_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* A longer name of a database is not printed; the user must fill it in. */
#define WORD_SIZE 512

static bool read_formats(const char *list, struct cli_charts *out, struct sim_error *error)
{
    while (true) {
        char name[16];
        size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), list);
        enum report_format format;
        if (strcmp(name, "html") == 0)
            out->has_page = true;
        else if (report_format_parse(name, &format))
            out->wanted[format] = true;
        else
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: --format: no format '%s'; choose png, svg, pdf or html", name);
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

bool cli_charts_read(const struct cli_args *args, struct cli_charts *out, struct sim_error *error)
{
    *out = (struct cli_charts){.folder = cli_value(args, "out", "bucketlab-out")};
    const char *list;
    for (size_t i = 0; (list = cli_value_at(args, "format", i)) != NULL; i++) {
        if (!read_formats(list, out, error))
            return false;
    }
    if (!cli_has(args, "format"))
        out->wanted[REPORT_PNG] = true;
    return cli_has(args, "no-charts") || cli_folder_check(out->folder, error);
}

bool cli_charts_write(struct cli_charts *charts, const struct lab_result *result, struct sim_error *error)
{
    for (int format = 0; format < REPORT_FORMAT_COUNT; format++) {
        if (charts->wanted[format] &&
            !report_write(result, (enum report_format)format, charts->folder, &charts->files[format], error))
            return false;
    }
    return true;
}

bool cli_charts_fail(int64_t first, int64_t last, const char *database, struct sim_error *error)
{
    char word[WORD_SIZE] = "FILE";
    if (4 * strlen(database) + 3 <= sizeof word)
        cli_quote(database, word);
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
        for (size_t i = 0; i < charts->files[format].count; i++) {
            fputs(prefix, stdout);
            cli_print_text(stdout, charts->files[format].paths[i]);
            putchar('\n');
            has_some = true;
        }
    }
    if (charts->page != NULL) {
        fputs(prefix, stdout);
        cli_print_text(stdout, charts->page);
        putchar('\n');
    }
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
    static const char name[] = "/.bucketlab.XXXXXX";
    char *made = malloc(strlen(path) + sizeof name);
    if (made == NULL)
        return ENOMEM;
    strcpy(made, path);
    strcat(made, name);
    int code = mkdtemp(made) == NULL ? errno : 0;
    if (code == 0)
        (void)rmdir(made);
    free(made);
    return code == ENAMETOOLONG ? 0 : code;
}

bool cli_folder_check(const char *folder, struct sim_error *error)
{
    if (folder[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --out: no folder named; write --out charts");
    char *path = strdup(folder);
    if (path == NULL)
        return sim_fail_memory(error);
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
    free(path);
    if (code == 0)
        return true;
    if (code == ENOMEM)
        return sim_fail_memory(error);
    bool is_input = code == ENOTDIR || code == ENAMETOOLONG || code == ELOOP;
    return sim_fail(error, is_input ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT,
                    "%s: %s; choose a folder that you may write to", folder, strerror(code));
}

/* The number of symbolic links that Linux follows. */
#define LINKS_MAX   40
#define ENDINGS_MAX (REPORT_FORMAT_COUNT + 1)

enum kind { INPUT, DATABASE, DATABASE_WAL, DATABASE_SHM, DATABASE_JOURNAL, OUTPUT, FOLDER };

static const char *const database_endings[] = {
    [DATABASE] = "", [DATABASE_WAL] = "-wal", [DATABASE_SHM] = "-shm", [DATABASE_JOURNAL] = "-journal"};

struct cli_output_file {
    enum kind kind;
    const char *option; /* without the dashes; NULL: an input */
    const char *what;   /* of an input */
    const char *named;  /* as given by the user; for FOLDER, the folder */
    char *whole;        /* absolute path without links; for FOLDER, the folder's */
    bool is_there, is_written;
    dev_t device;
    ino_t inode;
    char *stem; /* only for FOLDER, like the members below */
    const char *endings[ENDINGS_MAX];
};

/* Removes the first component from *rest. */
static size_t take_component(char **rest, char **component)
{
    *component = *rest + strspn(*rest, "/");
    size_t size = strcspn(*component, "/");
    *rest = *component + size;
    return size;
}

/* Replaces a link by its target, before the rest of the path. */
static bool follow(const char *link, char *rest)
{
    char joined[PATH_MAX];
    ssize_t size = readlink(link, joined, sizeof joined - 1);
    size_t left = strlen(rest) + 1; /* including the NUL */
    if (size < 0 || (size_t)size + 1 + left > sizeof joined)
        return false;
    joined[size] = '/';
    memcpy(joined + size + 1, rest, left);
    memcpy(rest, joined, (size_t)size + 1 + left);
    return true;
}

/* The absolute path of a file, without links, "." and ".."; neither the file nor its folders need exist.
 * Links are resolved one by one, as the kernel does. A path that is too long, or whose links form a loop, is
 * returned unchanged, since it cannot be opened anyway. malloc'ed. */
static char *whole_path(const char *path)
{
    char whole[PATH_MAX] = "", rest[PATH_MAX], *component;
    int links = 0;
    if (path[0] != '/' && (getcwd(whole, sizeof whole) == NULL || strcmp(whole, "/") == 0))
        whole[0] = '\0';
    if (strlen(path) >= sizeof rest)
        return strdup(path);
    strcpy(rest, path);
    for (char *next = rest;;) {
        size_t size = take_component(&next, &component), used = strlen(whole);
        struct stat status;
        if (size == 0)
            return strdup(used == 0 ? "/" : whole);
        if (size == 1 && component[0] == '.')
            continue;
        if (size == 2 && memcmp(component, "..", 2) == 0) {
            char *slash = strrchr(whole, '/');
            *(slash == NULL ? whole : slash) = '\0';
            continue;
        }
        if (used + size + 2 > sizeof whole)
            return strdup(path);
        snprintf(whole + used, sizeof whole - used, "/%.*s", (int)size, component);
        if (lstat(whole, &status) != 0 || !S_ISLNK(status.st_mode))
            continue;
        memmove(rest, next, strlen(next) + 1);
        next = rest;
        if (++links > LINKS_MAX || !follow(whole, rest))
            return strdup(path);
        whole[rest[0] == '/' ? 0 : used] = '\0';
    }
}

static struct cli_output_file *add(struct cli_outputs *outputs, enum kind kind, const char *path)
{
    if (!sim_grow(&outputs->files, &outputs->capacity, outputs->count + 1, sizeof *outputs->files)) {
        outputs->out_of_memory = true;
        return NULL;
    }
    struct stat status;
    bool is_stdin = kind == INPUT && strcmp(path, SIM_STANDARD_INPUT) == 0;
    struct cli_output_file *file = &outputs->files[outputs->count++];
    *file = (struct cli_output_file){
        .kind = kind, .named = path, .whole = is_stdin ? strdup("") : whole_path(path)};
    outputs->out_of_memory = outputs->out_of_memory || file->whole == NULL;
    file->is_there = (is_stdin ? fstat(STDIN_FILENO, &status) : stat(path, &status)) == 0;
    if (file->is_there) {
        file->device = status.st_dev;
        file->inode = status.st_ino;
    }
    return file;
}

void cli_outputs_input(struct cli_outputs *outputs, const char *what, const char *path)
{
    struct cli_output_file *file = path == NULL ? NULL : add(outputs, INPUT, path);
    if (file != NULL)
        file->what = what;
}

void cli_outputs_scenario(struct cli_outputs *outputs, const struct lab_scenario *scenario)
{
    cli_outputs_input(outputs, "the scenario", scenario->path);
    cli_outputs_input(outputs, "the trace", scenario->trace_path);
    cli_outputs_input(outputs, "the measured node", scenario->like_path);
    for (size_t i = 0; i < scenario->observed_count; i++)
        cli_outputs_input(outputs, "the observed file", scenario->observed[i].path);
}

/* SQLite follows links, and creates its other files next to the target. */
void cli_outputs_database(struct cli_outputs *outputs, const char *option, const char *path, bool is_written)
{
    char *whole = path == NULL || path[0] == '\0' ? NULL : whole_path(path);
    if (whole == NULL) {
        outputs->out_of_memory = outputs->out_of_memory || (path != NULL && path[0] != '\0');
        return;
    }
    for (enum kind kind = DATABASE; kind <= DATABASE_JOURNAL; kind++) {
        size_t size = strlen(whole) + sizeof "-journal";
        char *side = malloc(size);
        if (side == NULL) {
            outputs->out_of_memory = true;
            break;
        }
        snprintf(side, size, "%s%s", whole, database_endings[kind]);
        struct cli_output_file *file = add(outputs, kind, side);
        free(side);
        if (file == NULL)
            break;
        file->named = path;
        file->option = option;
        file->is_written = is_written;
    }
    free(whole);
}

void cli_outputs_file(struct cli_outputs *outputs, const char *option, const char *path)
{
    struct stat status;
    if (path == NULL || path[0] == '\0' || strcmp(path, "-") == 0 ||
        (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
        return;
    struct cli_output_file *file = add(outputs, OUTPUT, path);
    if (file != NULL) {
        file->option = option;
        file->is_written = true;
    }
}

static void add_folder(struct cli_outputs *outputs, const char *folder, const char *name,
                       const char *const *endings, size_t count)
{
    struct cli_output_file *file = add(outputs, FOLDER, folder);
    if (file == NULL)
        return;
    file->option = "out";
    file->is_written = true;
    for (size_t i = 0; i < count; i++)
        file->endings[i] = endings[i];
    file->stem = report_output_path("", name, false, NULL, "");
    if (file->stem == NULL)
        outputs->out_of_memory = true;
    else
        file->stem[strlen(file->stem) - 1] = '\0'; /* removes the dot */
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
    size_t stem = strlen(made->stem), size = strlen(name);
    if (strncmp(name, made->stem, stem) != 0 || (name[stem] != '-' && name[stem] != '.'))
        return false;
    for (size_t i = 0; i < ENDINGS_MAX; i++) {
        size_t end = made->endings[i] == NULL ? 0 : strlen(made->endings[i]);
        if (end > 0 && size >= stem + end && strcmp(name + size - end, made->endings[i]) == 0)
            return true;
    }
    return false;
}

/* Compares paths, and inodes for links with other names. */
static bool is_made(const struct cli_output_file *made, const struct cli_output_file *other)
{
    const char *slash = strrchr(other->whole, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - other->whole);
    size_t wanted = strcmp(made->whole, "/") == 0 ? 0 : strlen(made->whole);
    if (slash != NULL && folder == wanted && memcmp(made->whole, other->whole, folder) == 0 &&
        is_made_name(made, slash + 1))
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

static bool is_database(const struct cli_output_file *file)
{
    return file->kind >= DATABASE && file->kind <= DATABASE_JOURNAL;
}

/* The same database may be given twice, as --db and --baseline. */
static bool overwrites(const struct cli_output_file *output, const struct cli_output_file *other)
{
    if (output == other || !output->is_written || (is_database(output) && output->kind == other->kind) ||
        (is_database(output) && is_database(other) && output->named == other->named))
        return false;
    if (output->kind == FOLDER)
        return other->kind != FOLDER && is_made(output, other);
    bool is_same = output->is_there && other->is_there && output->device == other->device &&
                   output->inode == other->inode;
    return other->kind != FOLDER && (is_same || strcmp(output->whole, other->whole) == 0);
}

static bool refuse(const struct cli_output_file *output, const struct cli_output_file *other,
                   struct sim_error *error)
{
    bool is_folder = output->kind == FOLDER;
    bool is_side = is_database(other) && other->kind != DATABASE;
    const char *what = is_side                ? "a file of the database"
                       : is_database(other)   ? "the database"
                       : other->kind == INPUT ? other->what
                                              : "the file of another option,";
    return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: %swould overwrite %s %s; name another %s",
                    output->option, output->named, is_folder ? "a file there " : "", what, other->named,
                    is_folder ? "folder" : "file");
}

bool cli_outputs_check(struct cli_outputs *outputs, struct sim_error *error)
{
    bool is_fine = !outputs->out_of_memory || sim_fail_memory(error);
    /* Files are checked before databases, so that the message for `--csv x --db x` is about the file. */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; is_fine && i < outputs->count; i++) {
            const struct cli_output_file *output = &outputs->files[i];
            for (size_t j = 0; is_fine && is_database(output) == (pass == 1) && j < outputs->count; j++) {
                if (overwrites(output, &outputs->files[j]))
                    is_fine = refuse(output, &outputs->files[j], error);
            }
        }
    }
    for (size_t i = 0; i < outputs->count; i++) {
        free(outputs->files[i].whole);
        free(outputs->files[i].stem);
    }
    free(outputs->files);
    *outputs = (struct cli_outputs){0};
    return is_fine;
}
