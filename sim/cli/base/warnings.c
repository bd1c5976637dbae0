/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the lint warnings of a scenario, as lines or as JSON. */
#define _POSIX_C_SOURCE 200809L
#include "cli/warnings.h"

#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/text.h"
#include "kernel/file.h"

bool cli_warnings_print(FILE *stream, const struct lab_scenario *scenario, struct sim_error *error)
{
    struct lab_warnings warnings;
    if (!lab_lint(scenario, &warnings))
        return sim_fail_memory(error);
    for (size_t i = 0; i < warnings.count; i++) {
        const struct lab_warning *one = &warnings.items[i];
        const struct lab_strategy *strategy =
            one->strategy == SIZE_MAX ? NULL : &scenario->strategies[one->strategy];
        fprintf(stream, "warning: ");
        cli_print_text(stream, scenario->path);
        if (strategy != NULL && strategy->line > 0)
            fprintf(stream, ":%d:%d", strategy->line, strategy->column);
        fprintf(stream, ": ");
        if (strategy != NULL) {
            cli_print_text(stream, strategy->label);
            fprintf(stream, ": ");
        }
        fprintf(stream, "column '%s': %s; %s\n", one->column, one->text, one->cure);
    }
    lab_warnings_clear(&warnings);
    return true;
}

void cli_warnings_file(FILE *stream, const char *path)
{
    unsigned char magic[2] = {0}, last;
    struct stat status;
    int reason, file = sim_input_open(path, &reason);
    if (file == -1)
        return; /* the reader says why */
    bool is_unended = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                      pread(file, &last, 1, status.st_size - 1) == 1 && last != '\n' &&
                      pread(file, magic, sizeof magic, 0) >= 1 && !(magic[0] == 0x1f && magic[1] == 0x8b);
    close(file);
    if (!is_unended)
        return;
    fprintf(stream, "warning: ");
    cli_print_text(stream, path);
    fprintf(stream,
            ": the last line has no line break; it is used as it is, check that it was not cut off\n");
}

void cli_warnings_files(FILE *stream, const struct lab_scenario *scenario)
{
    if (scenario->trace_path != NULL)
        cli_warnings_file(stream, scenario->trace_path);
    for (size_t i = 0; i < scenario->observed_count; i++)
        cli_warnings_file(stream, scenario->observed[i].path);
}

json_t *cli_warnings_json(const struct lab_scenario *scenario)
{
    struct lab_warnings warnings;
    if (!lab_lint(scenario, &warnings))
        return NULL;
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < warnings.count; i++) {
        const struct lab_warning *one = &warnings.items[i];
        json_t *object = json_object();
        bool is_fine = cli_json_set(object, "risk", json_string(lab_risk_name(one->risk))) &&
                       cli_json_set(object, "certain", json_boolean(one->is_certain)) &&
                       cli_json_set(object, "strategy",
                                    one->strategy == SIZE_MAX
                                        ? json_null()
                                        : json_string(scenario->strategies[one->strategy].label)) &&
                       cli_json_set(object, "column", json_string(one->column)) &&
                       cli_json_set(object, "text", json_string(one->text)) &&
                       cli_json_set(object, "cure", json_string(one->cure));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    lab_warnings_clear(&warnings);
    return list;
}
