/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads --out and --format, draws a run's charts, and prints which files it wrote. */
#define _XOPEN_SOURCE 700
#include "cli/charts.h"
#include "cli/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
