/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs leave and enter a database: `export` writes the histograms, exact and sorted by size, or the metrics
 * of a run as CSV (RFC 4180); `merge` puts the runs of several databases into one. An output is made
 * completely before its first byte is written. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/execute.h"
#include "cli/files.h"
#include "cli/table.h"
#include "cli/text.h"
#include "store/merge.h"
#include "store/store.h"

static const struct cli_option export_options[] = {
    {"label", "L", "only of this strategy (default: of all)"},
    {"state", "S", "closed, open or read; all: closed and open together\n(default: each of the three)"},
    {"unit", "U", "rows, bytes or partitions (default: all)"},
    {"metrics", NULL, "export metrics instead of histograms"},
    {"out", "FILE", "write to FILE instead of standard output"},
    CLI_OPTION_DB,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

struct wish {
    const char *label; /* NULL: all */
    int state, unit;   /* STATE_COUNT, UNIT_COUNT: all */
    bool wants_metrics;
};

enum state { STATE_CLOSED, STATE_OPEN, STATE_READ, STATE_ALL, STATE_COUNT };
enum unit { UNIT_ROWS, UNIT_BYTES, UNIT_PARTITIONS, UNIT_COUNT };
static const char *const state_names[] = {"closed", "open", "read", "all"};
static const char *const unit_names[] = {"rows", "bytes", "partitions"};

static bool read_choice(const struct cli_args *args, const char *name, const char *const *names, int count,
                        const char *list, int *out, struct sim_error *error)
{
    const char *value = cli_value(args, name, NULL);
    *out = count;
    for (int i = 0; value != NULL && i < count; i++) {
        if (strcmp(value, names[i]) == 0)
            *out = i;
    }
    return value == NULL || *out < count ||
           sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s: no %s '%s'; choose %s", name, name, value,
                    list);
}

static bool read_wish(const struct cli_args *args, struct wish *wish, struct sim_error *error)
{
    *wish = (struct wish){.label = cli_value(args, "label", NULL), .wants_metrics = cli_has(args, "metrics")};
    if (!read_choice(args, "state", state_names, STATE_COUNT, "closed, open, read or all", &wish->state,
                     error) ||
        !read_choice(args, "unit", unit_names, UNIT_COUNT, "rows, bytes or partitions", &wish->unit, error))
        return false;
    bool has_state = wish->state != STATE_COUNT, has_unit = wish->unit != UNIT_COUNT;
    if (wish->wants_metrics && (has_state || has_unit))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --%s applies to histograms, and --metrics asks for metrics; leave out one of them",
            has_state ? "state" : "unit");
    if (has_state && has_unit && (wish->state == STATE_READ) != (wish->unit == UNIT_PARTITIONS))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --state %s has no sizes in %s; reads are in partitions, the others in rows "
            "and bytes",
            state_names[wish->state], unit_names[wish->unit]);
    if (cli_has(args, "out") && cli_value(args, "out", "")[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --out: no file named; write --out sizes.csv");
    return true;
}

static bool check_label(const struct wish *wish, int64_t run, const struct lab_result *result,
                        struct sim_error *error)
{
    const char *labels[LAB_STRATEGIES_MAX];
    char where[CLI_NUMBER_SIZE];
    for (size_t i = 0; i < result->strategy_count && i < LAB_STRATEGIES_MAX; i++) {
        labels[i] = result->strategies[i].label;
        if (wish->label == NULL || strcmp(wish->label, labels[i]) == 0)
            return true;
    }
    snprintf(where, sizeof where, run == 0 ? "the run" : "run %" PRId64, run);
    return wish->label == NULL || cli_fail_label(where, wish->label, labels, result->strategy_count, error);
}

/* For reads there is no number of rows; `partitions` is then the number of reads that queried `size`
 * partitions. */
static bool write_histogram(FILE *stream, const char *label, int state, int unit,
                            const struct lab_histogram *histogram)
{
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &count);
    if (bins == NULL && histogram->used > 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        cli_csv_text(stream, label);
        fprintf(stream, ",%s,%s,%" PRIu64 ",%" PRIu64 ",", state_names[state], unit_names[unit], bins[i].size,
                bins[i].count);
        if (state != STATE_READ)
            fprintf(stream, "%" PRIu64, bins[i].weight);
        fputs("\r\n", stream);
    }
    free(bins);
    return true;
}

static bool write_all_sizes(FILE *stream, const struct lab_strategy_result *strategy, int unit)
{
    bool is_rows = unit == UNIT_ROWS;
    struct lab_histogram both;
    lab_histogram_init(&both);
    lab_histogram_merge(&both, is_rows ? &strategy->closed_rows : &strategy->closed_bytes);
    lab_histogram_merge(&both, is_rows ? &strategy->open_rows : &strategy->open_bytes);
    bool is_fine = !both.out_of_memory && write_histogram(stream, strategy->label, STATE_ALL, unit, &both);
    lab_histogram_clear(&both);
    return is_fine;
}

/* A NaN is written as an empty field. */
static void write_metrics(FILE *stream, const struct lab_strategy_result *strategy)
{
    for (size_t i = 0; i < strategy->metrics.count; i++) {
        const struct lab_metric *metric = &strategy->metrics.items[i];
        cli_csv_text(stream, strategy->label);
        fprintf(stream, ",%s,", metric->name);
        if (isfinite(metric->value))
            fprintf(stream, "%.17g", metric->value);
        fputs("\r\n", stream);
    }
}

static bool write_csv(const struct wish *wish, const struct lab_result *result, FILE *stream)
{
    fputs(wish->wants_metrics ? "label,metric,value\r\n" : "label,state,unit,size,partitions,rows\r\n",
          stream);
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *one = &result->strategies[i];
        const struct {
            int state, unit;
            const struct lab_histogram *histogram;
        } stored[] = {{STATE_CLOSED, UNIT_ROWS, &one->closed_rows},
                      {STATE_CLOSED, UNIT_BYTES, &one->closed_bytes},
                      {STATE_OPEN, UNIT_ROWS, &one->open_rows},
                      {STATE_OPEN, UNIT_BYTES, &one->open_bytes},
                      {STATE_READ, UNIT_PARTITIONS, &one->read_partitions}};
        if (wish->label != NULL && strcmp(wish->label, one->label) != 0)
            continue;
        if (wish->wants_metrics) {
            write_metrics(stream, one);
            continue;
        }
        for (size_t j = 0; j < sizeof stored / sizeof *stored; j++) {
            if ((wish->state == STATE_COUNT || wish->state == stored[j].state) &&
                (wish->unit == UNIT_COUNT || wish->unit == stored[j].unit) &&
                !write_histogram(stream, one->label, stored[j].state, stored[j].unit, stored[j].histogram))
                return false;
        }
        for (int unit = UNIT_ROWS; wish->state == STATE_ALL && unit <= UNIT_BYTES; unit++) {
            if ((wish->unit == UNIT_COUNT || wish->unit == unit) && !write_all_sizes(stream, one, unit))
                return false;
        }
    }
    return true;
}

/* On a terminal, characters that control it are not printed. */
static void print_lines(char *text)
{
    char *end = text;
    for (const char *next = text; *next != '\0'; next++) {
        if (*next != '\r')
            *end++ = *next;
    }
    *end = '\0';
    cli_print_lines(stdout, text);
}

static int export(const struct cli_args *args, struct sim_error *error)
{
    struct wish wish;
    int64_t run;
    struct store *store;
    struct lab_result *result = NULL;
    const char *path = cli_value(args, "out", NULL);
    const char *database = cli_value(args, "db", "bucketlab.db");
    struct cli_outputs outputs = {0};
    cli_outputs_file(&outputs, "out", path);
    cli_outputs_database(&outputs, "db", database, false);
    if (!cli_outputs_check(&outputs, error) || !read_wish(args, &wish, error) ||
        !cli_run_number(args, &run, error) || !store_open(database, STORE_READ, &store, error))
        return (int)error->class;
    bool is_fine = store_load_run(store, run, NULL, &result, error) && check_label(&wish, run, result, error);
    char *text = NULL;
    size_t size = 0;
    if (is_fine) {
        FILE *stream = open_memstream(&text, &size);
        is_fine = stream != NULL && write_csv(&wish, result, stream) && ferror(stream) == 0;
        is_fine = (stream != NULL && fclose(stream) == 0 && is_fine) || sim_fail_memory(error);
    }
    if (is_fine && path != NULL)
        is_fine = cli_text_file_write(path, text, size, error);
    else if (is_fine && isatty(STDOUT_FILENO) == 1)
        print_lines(text);
    else if (is_fine)
        fwrite(text, 1, size, stdout); /* main() checks for write errors */
    free(text);
    lab_result_destroy(result);
    store_close(store);
    return is_fine ? 0 : (int)error->class;
}

const struct cli_command cli_export = {
    .name = "export",
    .arguments = "RUN",
    .summary = "write histograms or metrics of a stored run, as CSV",
    .example = "  bucketlab export last --state all --unit bytes --out sizes.csv\n"
               "  bucketlab export 3 --metrics\n",
    .options = export_options,
    .least = 1,
    .most = 1,
    .run = export,
};

static const struct cli_option merge_options[] = {
    {"db", "FILE", "the database that receives them (default: the first)"},
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

struct merging {
    const char *target;
    struct store *into;
    struct store **sources;
    size_t source_count;
    struct store_merged merged;
    struct store_sweep_row *sweeps;
    size_t sweep_count;
    struct cli_signals signals;
};

/* The sources are opened first, so that the target is unchanged, and not even migrated, when a source is
 * refused. */
static bool open_all(const struct cli_args *args, struct merging *merging, struct sim_error *error)
{
    size_t count = cli_argument_count(args), first = merging->target == NULL;
    if (merging->target == NULL)
        merging->target = cli_argument(args, 0);
    if (merging->target[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --db: no file named; write --db all.db");
    if (first == count)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'merge' has nothing to merge %s with; name a second database, or --db",
                        merging->target);
    struct cli_outputs outputs = {0};
    cli_outputs_database(&outputs, "db", merging->target, true);
    for (size_t i = first; i < count; i++)
        cli_outputs_database(&outputs, "db", cli_argument(args, i), false);
    if (!cli_outputs_check(&outputs, error))
        return false;
    merging->sources = calloc(count, sizeof *merging->sources);
    if (merging->sources == NULL)
        return sim_fail_memory(error);
    for (size_t i = first; i < count; i++) {
        if (!store_open(cli_argument(args, i), STORE_READ, &merging->sources[merging->source_count], error))
            return false;
        merging->source_count++;
    }
    /* Without --db the first database is the target, which must exist. */
    struct store *there = NULL;
    if (first == 1 && !store_open(merging->target, STORE_READ, &there, error))
        return false;
    store_close(there);
    return store_open(merging->target, STORE_WRITE, &merging->into, error);
}

static bool merge_all(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct merging *merging = context;
    return store_merge(merging->into, merging->sources, merging->source_count, progress, &merging->merged,
                       error);
}

static void print_merged(const struct merging *merging)
{
    char added[CLI_NUMBER_SIZE], found[CLI_NUMBER_SIZE], done[CLI_NUMBER_SIZE], jobs[CLI_NUMBER_SIZE];
    cli_grouped(merging->merged.added, added);
    cli_grouped(merging->merged.found, found);
    cli_print_text(stdout, merging->target);
    printf(": %s run%s added, %s %s there already\n", added, merging->merged.added == 1 ? "" : "s", found,
           merging->merged.found == 1 ? "was" : "were");
    for (size_t i = 0; i < merging->sweep_count; i++) {
        const struct store_sweep_row *sweep = &merging->sweeps[i];
        cli_grouped(sweep->done, done);
        cli_grouped(sweep->jobs, jobs);
        printf("sweep %" PRId64 " of ", sweep->sweep);
        cli_print_text(stdout, sweep->scenario_name);
        printf(": %s of %s runs done, digest %016" PRIx64 "\n", done, jobs, sweep->digest);
    }
}

static json_t *merged_json(const struct merging *merging)
{
    json_t *list = json_array();
    for (size_t i = 0; i < merging->sweep_count; i++) {
        const struct store_sweep_row *sweep = &merging->sweeps[i];
        list = cli_json_append(list, CLI_OBJECT({"sweep", json_integer(sweep->sweep)},
                                                {"scenario", json_string(sweep->scenario_name)},
                                                {"identity", cli_json_digest(sweep->identity)},
                                                {"digest", cli_json_digest(sweep->digest)},
                                                {"jobs", cli_json_whole(sweep->jobs)},
                                                {"done", cli_json_whole(sweep->done)}));
    }
    return CLI_OBJECT({"db", json_string(merging->target)}, {"added", cli_json_whole(merging->merged.added)},
                      {"found", cli_json_whole(merging->merged.found)}, {"sweeps", list});
}

static int merge(const struct cli_args *args, struct sim_error *error)
{
    struct merging merging = {.target = cli_value(args, "db", NULL)};
    int64_t elapsed_ms;
    bool is_fine = open_all(args, &merging, error);
    int code = 0;
    if (is_fine) {
        const struct cli_task task = {.name = "merge",
                                      .unit = "runs/s",
                                      .is_quiet = cli_has(args, "quiet"),
                                      .run = merge_all,
                                      .context = &merging};
        cli_signals_hold(&merging.signals);
        is_fine = cli_attend(&task, &merging.signals, &elapsed_ms, error);
        code = is_fine ? 0 : cli_exit_code(&merging.signals, error);
        cli_signals_release(&merging.signals);
    }
    is_fine = is_fine && store_list_sweeps(merging.into, &merging.sweeps, &merging.sweep_count, error);
    if (is_fine && cli_has(args, "json"))
        is_fine = cli_json_print(merged_json(&merging), error);
    else if (is_fine)
        print_merged(&merging);
    for (size_t i = 0; i < merging.source_count; i++)
        store_close(merging.sources[i]);
    free(merging.sources);
    store_close(merging.into);
    store_sweeps_free(merging.sweeps, merging.sweep_count);
    return is_fine || code != 0 ? code : (int)error->class;
}

const struct cli_command cli_merge = {
    .name = "merge",
    .arguments = "FILE.db...",
    .summary = "combine run databases and parts of sweeps; keep each run once",
    .example = "  bucketlab merge part-1.db part-2.db --db all.db\n",
    .options = merge_options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = merge,
};
