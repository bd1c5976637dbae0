/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the lint warnings of a scenario, as lines or as JSON. */
#define _POSIX_C_SOURCE 200809L
#include "cli/warnings.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/text.h"
#include "kernel/file.h"
#include "kernel/time.h"
#include "workload/trace.h"
#include "workload/trace_files.h"

bool cli_warnings_print(FILE *stream, const struct lab_scenario *scenario, struct sim_error *error)
{
    struct lab_warnings warnings;
    if (!lab_lint(scenario, &warnings))
        return sim_fail_memory(error);
    for (size_t i = 0; i < warnings.count; i++) {
        const struct lab_warning *one = &warnings.items[i];
        const struct lab_strategy *strategy =
            one->strategy == SIZE_MAX ? NULL : &scenario->strategies[one->strategy];
        char place[64] = "";
        if (strategy != NULL && strategy->line > 0)
            snprintf(place, sizeof place, ":%d:%d", strategy->line, strategy->column);
        cli_print_notice(stream, "warning", "%s%s: %s%scolumn '%s': %s; %s", scenario->path, place,
                         strategy == NULL ? "" : strategy->label, strategy == NULL ? "" : ": ", one->column,
                         one->text, one->cure);
    }
    lab_warnings_clear(&warnings);
    return true;
}

void cli_warnings_file(FILE *stream, const char *path)
{
    unsigned char magic[4] = {0}, last;
    struct stat status;
    int reason, file = sim_input_open(path, &reason);
    if (file == -1)
        return; /* reading the scenario reports the error */
    bool is_unended = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                      pread(file, &last, 1, status.st_size - 1) == 1 && last != '\n' && last != '\r' &&
                      pread(file, magic, sizeof magic, 0) >= 1 && !(magic[0] == 0x1f && magic[1] == 0x8b) &&
                      memcmp(magic, "\x28\xb5\x2f\xfd", sizeof magic) != 0 &&
                      memcmp(magic + 1, "\x2a\x4d\x18", 3) != 0; /* a skippable frame of zstd */
    close(file);
    if (!is_unended)
        return;
    cli_print_notice(
        stream, "warning",
        "%s: the last line has no line break; it is used as it is, check that it was not cut off", path);
}

/* Prints how a file that is not in the plain form is read, and warns of a time that cannot be intended. */
static void tell_of_rows(FILE *stream, const char *path, const struct wl_trace_format *given)
{
    struct wl_trace_format format = *given;
    struct wl_trace *trace;
    struct wl_trace_batch row;
    struct sim_error error = {.class = SIM_ERROR_NONE};
    bool more = true;
    format.sort = false;
    if (!wl_trace_open_as(path, &format, &trace, &error))
        return; /* the run reports the error */
    /* A line with a count is returned only with the next line of its key. */
    if (wl_trace_next(trace, &row, &more, &error) && more) {
        int64_t first_ns = wl_trace_first_ns(trace);
        if (!wl_trace_is_plain(trace))
            cli_print_notice(stream, "note", "%s: read as %s", path, wl_trace_text(trace));
        if (first_ns >= 0 && first_ns < 31 * SIM_DAY)
            cli_print_notice(
                stream, "warning",
                "%s: the first row is in January 1970; if its time is in seconds or in another unit, say so: "
                "trace: {file: ..., time: s}",
                path);
    }
    wl_trace_close(trace);
}

static void warn_of_trace(FILE *stream, const struct lab_scenario *scenario)
{
    struct wl_trace_files files;
    struct sim_error error = {.class = SIM_ERROR_NONE};
    if (wl_trace_files_find(scenario->trace_path, &files, &error)) {
        for (size_t i = 0; i < files.count; i++)
            cli_warnings_file(stream, files.paths[i]);
        tell_of_rows(stream, scenario->trace_path, &scenario->trace_format);
    }
    wl_trace_files_clear(&files);
}

void cli_warnings_files(FILE *stream, const struct lab_scenario *scenario)
{
    if (scenario->trace_path != NULL)
        warn_of_trace(stream, scenario);
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
