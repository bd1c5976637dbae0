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
#include "cli/scenario.h"
#include "cli/table.h"
#include "cli/text.h"
#include "store/merge.h"
#include "store/store.h"

static const struct cli_option export_options[] = {
    {"label", "L", "only of this strategy (default: of all)"},
    {"state", "closed|open|read|all",
     "all: closed and open together (default: each of the\n"
     "other three)"},
    {"unit", "rows|bytes|partitions", "(default: all)"},
    {"metrics", NULL, "export metrics instead of histograms"},
    {"out", "FILE", "write to FILE instead of standard output"},
    {CLI_OPTION_DB},
    {CLI_OPTION_QUIET},
    {NULL, NULL, NULL}};

static bool check_options(const struct cli_args *args, struct sim_error *error)
{
    const bool is_read = cli_chooses(args, "state", "read");
    if (cli_has(args, "state") && cli_has(args, "unit") && is_read != cli_chooses(args, "unit", "partitions"))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --state %s has no sizes in %s; reads are in partitions, the others in rows "
            "and bytes",
            cli_value(args, "state", ""), cli_value(args, "unit", ""));
    return cli_exclude(args, "metrics", "state", error) && cli_exclude(args, "metrics", "unit", error) &&
           cli_file_check("out", cli_value(args, "out", NULL), error);
}

/* The sizes of one state in one unit. For reads there is no number of rows; `partitions` is then the number
 * of reads that queried `size` partitions. */
struct sizes {
    const char *state, *unit;
    const struct lab_histogram *histogram;
};

static void write_sizes(FILE *stream, const char *label, const struct sizes *sizes)
{
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(sizes->histogram, &count);
    for (size_t i = 0; bins != NULL && i < count; i++) {
        cli_csv_text(stream, label);
        fprintf(stream, ",%s,%s,%" PRIu64 ",%" PRIu64 ",", sizes->state, sizes->unit, bins[i].size,
                bins[i].count);
        if (strcmp(sizes->state, "read") != 0)
            fprintf(stream, "%" PRIu64, bins[i].weight);
        fputs("\r\n", stream);
    }
    free(bins);
}

static void write_strategy(const struct cli_args *args, FILE *stream, const struct lab_strategy_result *one)
{
    struct lab_histogram rows, bytes; /* of closed and open partitions together */
    lab_histogram_init(&rows);
    lab_histogram_init(&bytes);
    lab_histogram_merge(&rows, &one->closed_rows);
    lab_histogram_merge(&rows, &one->open_rows);
    lab_histogram_merge(&bytes, &one->closed_bytes);
    lab_histogram_merge(&bytes, &one->open_bytes);
    const struct sizes all[] = {{"closed", "rows", &one->closed_rows},
                                {"closed", "bytes", &one->closed_bytes},
                                {"open", "rows", &one->open_rows},
                                {"open", "bytes", &one->open_bytes},
                                {"read", "partitions", &one->read_partitions},
                                {"all", "rows", &rows},
                                {"all", "bytes", &bytes}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if ((cli_has(args, "state") ? cli_chooses(args, "state", all[i].state) : i < 5) &&
            (!cli_has(args, "unit") || cli_chooses(args, "unit", all[i].unit)))
            write_sizes(stream, one->label, &all[i]);
    }
    lab_histogram_clear(&rows);
    lab_histogram_clear(&bytes);
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

static void write_csv(const struct cli_args *args, const struct lab_result *result, FILE *stream)
{
    const char *label = cli_value(args, "label", NULL);
    const bool is_metrics = cli_has(args, "metrics");
    fputs(is_metrics ? "label,metric,value\r\n" : "label,state,unit,size,partitions,rows\r\n", stream);
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *one = &result->strategies[i];
        if (label != NULL && strcmp(label, one->label) != 0)
            continue;
        if (is_metrics)
            write_metrics(stream, one);
        else
            write_strategy(args, stream, one);
    }
}

/* On a terminal, characters that control it are not printed. */
static void print_csv(char *text)
{
    if (isatty(STDOUT_FILENO) == 1) {
        g_auto(GStrv) parts = g_strsplit(text, "\r", -1);
        g_autofree char *plain = g_strjoinv("", parts);
        cli_print_lines(stdout, plain);
    } else {
        fputs(text, stdout); /* main() checks for write errors */
    }
}

static bool export(const struct cli_args *args, struct sim_error *error)
{
    struct cli_stored stored = {.store = NULL};
    const struct lab_strategy_result *ignored;
    struct cli_outputs outputs = {NULL};
    const char *path = cli_value(args, "out", NULL), *label = cli_value(args, "label", NULL);
    cli_outputs_file(&outputs, "out", path);
    cli_outputs_database(&outputs, "db", args->database, false);
    bool is_fine = cli_outputs_check(&outputs, error) && check_options(args, error) &&
                   cli_stored_open(args, cli_argument(args, 0), &stored, error) &&
                   (label == NULL || cli_stored_find(&stored, label, &ignored, error));
    if (is_fine) {
        char *text;
        size_t size;
        FILE *stream = cli_memory_open(&text, &size);
        write_csv(args, stored.result, stream);
        cli_memory_close(stream);
        if (path != NULL)
            is_fine = cli_file_write(path, text, size, error);
        else
            print_csv(text);
        free(text);
    }
    cli_stored_close(&stored);
    return is_fine;
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
    {CLI_OPTION_JSON},
    {CLI_OPTION_QUIET},
    {NULL, NULL, NULL}};

struct merging {
    const char *target;
    struct store *into;
    struct store **sources;
    size_t source_count;
    struct store_merged merged;
    struct store_sweep_row *sweeps;
    size_t sweep_count;
};

/* The sources are opened first, so that the target is unchanged, and not even migrated, when a source is
 * refused. */
static bool open_all(const struct cli_args *args, struct merging *merging, struct sim_error *error)
{
    size_t count = args->count, first = !cli_has(args, "db");
    merging->target = first == 1 ? cli_argument(args, 0) : args->database;
    if (first == count)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'merge' has nothing to merge %s with; name a second database, or --db",
                        merging->target);
    struct cli_outputs outputs = {NULL};
    cli_outputs_database(&outputs, "db", merging->target, true);
    for (size_t i = first; i < count; i++)
        cli_outputs_database(&outputs, "db", cli_argument(args, i), false);
    if (!cli_outputs_check(&outputs, error))
        return false;
    merging->sources = g_new0(struct store *, count);
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

static bool merge(const struct cli_args *args, struct sim_error *error)
{
    struct merging merging = {.target = NULL};
    const struct cli_task task = {.name = "merge", .unit = "runs/s", .run = merge_all, .context = &merging};
    bool is_fine = open_all(args, &merging, error) && cli_attend(args, &task, NULL, error);
    cli_release(args);
    is_fine = is_fine && store_list_sweeps(merging.into, &merging.sweeps, &merging.sweep_count, error);
    if (is_fine && args->is_json)
        is_fine = cli_json_print(merged_json(&merging), error);
    else if (is_fine)
        print_merged(&merging);
    for (size_t i = 0; i < merging.source_count; i++)
        store_close(merging.sources[i]);
    g_free(merging.sources);
    store_close(merging.into);
    store_sweeps_free(merging.sweeps, merging.sweep_count);
    return is_fine;
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
