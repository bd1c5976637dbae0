/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the scenarios of commands: that of a stored run again, one that reads observed sizes and runs
 * nothing, and the compression that --sample measures; and warns of what looks wrong in a scenario and its
 * files. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base.h"
#include "kernel/file.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "sample/sample.h"
#include "workload/trace.h"

/* Whether the scenario is still in its folder. Only a file of the same size is opened. */
static bool is_in_place(const struct store_run_info *info)
{
    struct stat status;
    char *text = NULL;
    size_t size = 0, stored = strlen(info->scenario_text);
    bool is_same = stat(info->scenario_path, &status) == 0 && S_ISREG(status.st_mode) &&
                   (uintmax_t)status.st_size == stored &&
                   lab_scenario_text(info->scenario_path, &text, &size, NULL) && size == stored &&
                   memcmp(text, info->scenario_text, stored) == 0;
    free(text);
    return is_same;
}

bool cli_scenario_again(const struct cli_args *args, const struct store_run_info *info,
                        const struct lab_override *more, uint64_t seed, struct lab_scenario **out,
                        struct sim_error *error)
{
    g_autofree char *own = g_path_get_dirname(args->database),
                    *beside = is_in_place(info) ? g_path_get_dirname(info->scenario_path) : NULL;
    const char *files = cli_value(args, "files", NULL),
               *folders[] = {own, files == NULL ? beside : files, files == NULL ? NULL : beside, NULL};
    return lab_scenario_again_within(folders, info->scenario_path, info->scenario_text, info->overrides, more,
                                     more == NULL ? 0 : 1, seed, out, error);
}

bool cli_stored_open(const struct cli_args *args, const char *run, struct cli_stored *out,
                     struct sim_error *error)
{
    int64_t number;
    *out = (struct cli_stored){.store = NULL};
    if (!cli_run_parse(run, &number, error) || !store_open(args->database, STORE_READ, &out->store, error) ||
        !store_load_run(out->store, number, &out->info, &out->result, error))
        return false;
    /* Another program may have left out a text. */
    const char **texts[] = {&out->info.version, &out->info.scenario_path, &out->info.scenario_text,
                            &out->info.overrides};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = *texts[i] == NULL ? "" : *texts[i];
    return true;
}

bool cli_database_check(const char *path, struct sim_error *error)
{
    struct store *store = NULL;
    bool is_fine = store_open(path, STORE_WRITE, &store, error);
    store_close(store);
    return is_fine;
}

void cli_stored_close(struct cli_stored *stored)
{
    lab_result_destroy(stored->result);
    store_close(stored->store);
    *stored = (struct cli_stored){.store = NULL};
}

bool cli_stored_find(const struct cli_stored *stored, const char *label,
                     const struct lab_strategy_result **out, struct sim_error *error)
{
    const char *labels[LAB_STRATEGIES_MAX];
    const size_t count = stored->result->strategy_count;
    char where[CLI_NUMBER_SIZE];
    for (size_t i = 0; i < count && i < LAB_STRATEGIES_MAX; i++) {
        labels[i] = stored->result->strategies[i].label;
        if (label == NULL ? count == 1 : strcmp(labels[i], label) == 0) {
            *out = &stored->result->strategies[i];
            return true;
        }
    }
    snprintf(where, sizeof where, "run %" PRId64, stored->info.run);
    return cli_fail_label(where, label, labels, count, error);
}

struct store_run_info cli_info_of(const struct lab_scenario *scenario, const char *path, int64_t elapsed_ms)
{
    return (struct store_run_info){.scenario_path = path,
                                   .scenario_text = scenario->text,
                                   .overrides = scenario->overrides,
                                   .version = BUCKETLAB_VERSION,
                                   .created_unix_s = (int64_t)time(NULL),
                                   .elapsed_ms = elapsed_ms};
}

/* The range of ratios in a scenario; a few bytes that do not compress take more than twice as many on
 * disk. */
#define RATIO_LEAST 0.001
#define RATIO_MOST  2.0

static void tell(const char *path, const struct sample_figures *figures, double ratio)
{
    char rows[CLI_NUMBER_SIZE], partitions[CLI_NUMBER_SIZE], bytes[CLI_NUMBER_SIZE],
        compressed[CLI_NUMBER_SIZE];
    cli_grouped(figures->rows, rows);
    cli_grouped(figures->partitions, partitions);
    cli_grouped(figures->bytes, bytes);
    cli_grouped(figures->compressed_bytes, compressed);
    fprintf(stderr, "sample ");
    cli_print_text(stderr, path);
    fprintf(stderr, ": %s row%s in %s partition%s, %s bytes, compressed %s: row.compression %.4f\n", rows,
            figures->rows == 1 ? "" : "s", partitions, figures->partitions == 1 ? "" : "s", bytes, compressed,
            ratio);
}

/* --sample: appends an override. */
static bool add_sample(const struct cli_args *args, const char *scenario_path, struct cli_changes *changes,
                       struct sim_error *error)
{
    const char *path = cli_value(args, "sample", NULL);
    struct lab_scenario *scenario;
    struct sample_figures figures;
    if (path == NULL)
        return true;
    if (!lab_scenario_load(scenario_path, changes->overrides, changes->count, changes->seed, &scenario,
                           error))
        return false;
    bool ok = sample_measure(scenario, path, &figures, error);
    lab_scenario_destroy(scenario);
    if (!ok)
        return false;
    double ratio = (double)figures.compressed_bytes / (double)figures.bytes;
    ratio = ratio < RATIO_LEAST ? RATIO_LEAST : ratio > RATIO_MOST ? RATIO_MOST : ratio;
    if (!args->is_quiet)
        tell(path, &figures, ratio);
    snprintf(changes->of_sample, sizeof changes->of_sample, "row.compression=%.4f", ratio);
    changes->overrides[changes->count++].text = changes->of_sample;
    return true;
}

bool cli_changes_read(const struct cli_args *args, const char *path, struct cli_changes *out,
                      struct sim_error *error)
{
    *out = (struct cli_changes){.seed = cli_has(args, "seed") ? &out->own_seed : NULL};
    return cli_whole(args, "seed", 0, UINT64_MAX, &out->own_seed, error) &&
           cli_overrides(args, &out->overrides, &out->count, error) && add_sample(args, path, out, error);
}

char *cli_absolute(const char *path)
{
    char *whole = realpath(path, NULL);
    return whole != NULL ? whole : g_strdup(path);
}

char *cli_run_line(const char *path, uint64_t seed, const char *overrides)
{
    char number[CLI_NUMBER_SIZE], *line = cli_line_with(g_strdup("bucketlab run"), path);
    g_auto(GStrv) lines = cli_lines(overrides);
    snprintf(number, sizeof number, "%" PRIu64, seed);
    line = cli_line_with(cli_line_with(line, "--seed"), number);
    for (char **one = lines; *one != NULL; one++)
        line = cli_line_with(cli_line_with(line, "--set"), *one);
    return line;
}

bool cli_scenario_load(const struct cli_args *args, const char *path, struct lab_scenario **out,
                       struct sim_error *error)
{
    struct cli_changes changes;
    bool is_fine = cli_changes_read(args, path, &changes, error) &&
                   lab_scenario_load(path, changes.overrides, changes.count, changes.seed, out, error);
    g_free(changes.overrides);
    return is_fine;
}

bool cli_names_differ(const struct lab_scenario *one, const struct lab_scenario *other, const char *why,
                      struct sim_error *error)
{
    return strcmp(one->name, other->name) != 0 ||
           sim_fail(error, SIM_ERROR_INPUT, "%s: the name '%s' is also that of %s, and %s", other->path,
                    other->name, one->path, why);
}

/* Checks values that the scenario would otherwise refuse at a place that the user did not write. */
static bool check_observed(const struct cli_args *args, struct sim_error *error)
{
    const char *label = cli_value(args, "label", "observed"), *table = cli_value(args, "table", "a.b");
    size_t size = strlen(label);
    bool is_label = size >= 1 && size <= LAB_LABEL_SIZE_MAX && sim_utf8_valid(label, size) == size;
    for (const char *c = label; *c != '\0'; c++)
        is_label = is_label && (unsigned char)*c >= 0x20 && *c != 0x7f;
    if (!is_label)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --label '%s': give a label of 1 to 64 bytes on one line", label);
    const char *point = strchr(table, '.');
    return (point != NULL && point != table && point[1] != '\0' && strpbrk(table, " \t\r\n/\"'") == NULL) ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --table '%s': not KEYSPACE.TABLE; write it as chat.messages", table);
}

static void put_field(GString *text, const char *name, const char *value)
{
    g_autofree char *quoted = cli_json_quoted(value); /* JSON is YAML */
    g_string_append_printf(text, "%s: %s", name, quoted);
}

static char *observed_text(const struct cli_args *args, const char *name, const struct lab_limits *limits,
                           const char *label, const char *path)
{
    static const char *const fields[] = {"format", "table"};
    GString *text = g_string_new("");
    if (name != NULL)
        put_field(text, "name", name);
    g_string_append(text, "\nlimits: {");
    if (limits != NULL && limits->partition_rows > 0)
        g_string_append_printf(text, "partition_rows: %" PRIu64 ", ", limits->partition_rows);
    if (limits != NULL && limits->partition_bytes > 0)
        g_string_append_printf(text, "partition_bytes: %" PRIu64 "B", limits->partition_bytes);
    put_field(g_string_append(text, "}\nstrategies:\n  - observed: {"), "label", label);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (cli_has(args, fields[i]))
            put_field(g_string_append(text, ", "), fields[i], cli_value(args, fields[i], NULL));
    }
    put_field(g_string_append(text, ", "), "file", path);
    return g_string_free(g_string_append(text, "}\n"), FALSE);
}

bool cli_observed_load(const struct cli_args *args, const char *name, const struct lab_limits *limits,
                       const char *label, const char *path, struct lab_scenario **out,
                       struct sim_error *error)
{
    size_t count;
    struct lab_override *overrides;
    if (!check_observed(args, error) || !cli_overrides(args, &overrides, &count, error))
        return false;
    g_autofree char *text = observed_text(args, name, limits, label, path);
    bool is_fine = lab_scenario_parse(path, text, strlen(text), overrides, count, NULL, out, error);
    g_free(overrides);
    return is_fine;
}

char *cli_input_path(const char *name)
{
    if (strcmp(name, SIM_STANDARD_INPUT) == 0)
        return g_strdup("/dev/stdin");
    return sim_input_is_descriptor(name) ? g_strdup(name) : cli_absolute(name);
}

static struct lab_warnings warnings_of(const struct lab_scenario *scenario)
{
    struct lab_warnings warnings;
    if (!lab_lint(scenario, &warnings))
        g_error("no memory for the warnings of a scenario");
    return warnings;
}

void cli_warnings_print(FILE *stream, const struct lab_scenario *scenario)
{
    struct lab_warnings warnings = warnings_of(scenario);
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
}

/* Whether a file that begins with these bytes is compressed, or no UTF-8 for another reason. */
static bool is_binary(const char *bytes, ssize_t size)
{
    enum { CHARACTER_MOST = 4 };
    bool has_control = false;
    for (ssize_t i = 0; i < size; i++)
        has_control = has_control || (bytes[i] >= 0 && bytes[i] < ' ' && strchr("\t\r\n", bytes[i]) == NULL);
    return size <= 0 || has_control ||
           (ssize_t)sim_utf8_valid(bytes, (size_t)size) + (size < 64 ? 0 : CHARACTER_MOST) < size;
}

void cli_warnings_file(FILE *stream, const char *path)
{
    char begin[64], last;
    struct stat status;
    int reason, file = sim_input_open(path, &reason);
    if (file == -1)
        return; /* reading the scenario reports the error */
    bool is_unended = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                      pread(file, &last, 1, status.st_size - 1) == 1 &&
                      strchr("\n\r]", last) == NULL && /* ']' ends a list of JSON */
                      !is_binary(begin, pread(file, begin, sizeof begin, 0));
    close(file);
    if (!is_unended)
        return;
    cli_print_notice(
        stream, "warning",
        "%s: the last line has no line break; it is used as it is, check that it was not cut off", path);
}

#define PLAUSIBLE_FROM (3652 * SIM_DAY) /* 1980 */

/* Prints how a file that is not in the plain form is read, and warns of a time that cannot be intended. */
static void tell_of_rows(FILE *stream, const char *path, const struct wl_trace_format *given)
{
    struct wl_trace_format format = *given;
    struct wl_trace *trace;
    struct wl_trace_batch row;
    struct sim_error error = {.class = SIM_ERROR_NONE};
    bool more = true;
    char first[SIM_TIME_TEXT_SIZE];
    format.sort = false;
    if (!wl_trace_open_as(path, &format, &trace, &error))
        return; /* the run reports the error */
    /* A line with a count is returned only with the next line of its key. */
    if (wl_trace_next(trace, &row, &more, &error) && more) {
        int64_t first_ns = wl_trace_first_ns(trace);
        if (!wl_trace_is_plain(trace))
            cli_print_notice(stream, "note", "%s: read as %s", path, wl_trace_text(trace));
        if (given->time == WL_TIME_AUTO && wl_trace_has_epochs(trace) && first_ns >= 0 &&
            first_ns < PLAUSIBLE_FROM) {
            sim_time_format(first_ns, first);
            cli_print_notice(
                stream, "warning",
                "%s: the first row is in the seventies, at %s; if its number has another unit, or "
                "is a date or a time of day, say so: trace: {file: ..., time: s}, or write times "
                "as 2026-01-31T09:05:00Z",
                path, first);
        }
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
        cli_warnings_file(stream, scenario->observed[i].settings.observed_file);
}

json_t *cli_warnings_json(const struct lab_scenario *scenario)
{
    struct lab_warnings warnings = warnings_of(scenario);
    json_t *list = json_array();
    for (size_t i = 0; i < warnings.count; i++) {
        const struct lab_warning *one = &warnings.items[i];
        list = cli_json_append(
            list, CLI_OBJECT({"risk", json_string(lab_risk_name(one->risk))},
                             {"certain", json_boolean(one->is_certain)},
                             {"strategy", one->strategy == SIZE_MAX
                                              ? json_null()
                                              : json_string(scenario->strategies[one->strategy].label)},
                             {"column", json_string(one->column)}, {"text", json_string(one->text)},
                             {"cure", json_string(one->cure)}));
    }
    lab_warnings_clear(&warnings);
    return list;
}
