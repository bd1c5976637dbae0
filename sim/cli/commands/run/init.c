/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab init: writes a starter scenario. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/run.h"
#include "cli/text.h"
#include "reports/output.h"
#include "starter.h"

static const struct cli_option options[] = {CLI_OPTION_QUIET, {NULL, NULL, NULL}};

static bool ends_in_yaml(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static bool fail_with(int code, const char *path, struct sim_error *error)
{
    if (code == EEXIST)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: already exists, and was not changed; choose another name, or remove it first",
                        path);
    bool is_input = code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG;
    return sim_fail(error, is_input ? SIM_ERROR_INPUT : SIM_ERROR_ENVIRONMENT, "%s: %s; %s", path,
                    strerror(code),
                    is_input ? "make the folder first, or choose another name"
                             : "free space there, or choose a folder that you may write to");
}

static bool write_starter(const char *path, struct sim_error *error)
{
    struct report_partial output;
    int code = report_partial_open(&output, path, true);
    if (code != 0)
        return fail_with(code, path, error);
    code = report_partial_write(&output, cli_starter, cli_starter_size);
    code = code != 0 ? code : report_partial_sync(&output);
    int ended = report_partial_end(&output, code == 0);
    code = code != 0 ? code : ended;
    return code == 0 || fail_with(code, path, error);
}

static int init(const struct cli_args *args, struct sim_error *error)
{
    const char *name = cli_argument_count(args) > 0 ? cli_argument(args, 0) : "scenario";
    if (name[0] == '\0' || name[strlen(name) - 1] == '/') {
        sim_fail(error, SIM_ERROR_INPUT, "bucketlab: init '%s': no file name; write 'bucketlab init chat'",
                 name);
        return SIM_ERROR_INPUT;
    }
    size_t size = strlen(name) + 32;
    char *path = malloc(size);
    bool is_fine = path != NULL;
    if (!is_fine) {
        sim_fail_memory(error);
    } else {
        snprintf(path, size, "%s%s", name, ends_in_yaml(name) ? "" : ".yaml");
        is_fine = write_starter(path, error);
    }
    if (is_fine && !cli_has(args, "quiet")) {
        printf("wrote ");
        cli_print_text(stdout, path);
        printf("; try it: bucketlab run ");
        cli_print_text(stdout, path);
        putchar('\n');
    }
    free(path);
    return is_fine ? 0 : (int)error->class;
}

const struct cli_command cli_init = {
    .name = "init",
    .arguments = "[NAME]",
    .summary = "write a commented starter scenario (default scenario.yaml)",
    .example = "  bucketlab init chat\n  bucketlab run chat.yaml\n",
    .options = options,
    .least = 0,
    .most = 1,
    .run = init,
};
