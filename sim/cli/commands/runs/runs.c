/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands about stored runs: `runs` lists them, `show` prints one as `run` printed it, `report` draws its
 * charts or its page again, `replay` runs it again and compares the digests, and `import` stores the sizes
 * that tools of Cassandra printed as a run of one strategy, `observed`, so that every command that reads runs
 * can read it. `export` writes the histograms, exact and sorted by size, or the metrics of a run as CSV (RFC
 * 4180); `merge` puts the runs of several databases into one. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base.h"
#include "cli/contest_answer.h"
#include "cli/result.h"
#include "cli/run.h"
#include "kernel/sampler.h"
#include "kernel/time.h"
#include "store/store.h"

static const struct cli_option runs_options[] = {
    {CLI_OPTION_DB}, {"all", NULL, "list each run of a sweep, too"}, {NULL, NULL, NULL}};

static json_t *as_json(const struct store_run_row *rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct store_run_row *row = &rows[i];
        char created[SIM_TIME_TEXT_SIZE];
        sim_time_format(row->created_unix_s * SIM_SECOND, created);
        json_t *object = CLI_OBJECT(
            {"run", json_integer(row->run)}, {"scenario", json_string(row->scenario_name)},
            {"seed", cli_json_whole(row->seed)}, {"digest", cli_json_digest(row->digest)},
            {"rows", cli_json_whole(row->rows)}, {"strategies", json_integer(row->strategy_count)},
            {"expects", json_integer(row->expects)}, {"expects_failed", json_integer(row->expects_failed)},
            {"created", json_string(created)}, {"elapsed_ms", json_integer(row->elapsed_ms)},
            {"version", json_string(row->version)});
        if (row->sweep != 0) {
            object = cli_json_with(object, "sweep", json_integer(row->sweep));
            object = cli_json_with(object, "sweep_runs", json_integer(row->sweep_runs));
        }
        list = cli_json_append(list, object);
    }
    return list;
}

/* Prints how many runs of a sweep are not listed. */
static void print_folded(const void *is_all, const json_t *row)
{
    const json_int_t runs = json_integer_value(json_object_get(row, "sweep_runs"));
    char count[CLI_NUMBER_SIZE];
    if (*(const bool *)is_all || runs <= 1)
        return;
    cli_grouped((uint64_t)runs, count);
    printf("      the newest of %s runs of sweep %" JSON_INTEGER_FORMAT "; --all lists them\n", count,
           json_integer_value(json_object_get(row, "sweep")));
}

static void print_table(json_t *rows, bool is_all)
{
    static const struct cli_column columns[] = {
        {"run", "run", CLI_EXACT, .group = NULL},        {"scenario", "scenario", CLI_LABEL, .group = NULL},
        {"seed", "seed", CLI_EXACT, .group = NULL},      {"rows", "rows", CLI_NUMBER, .group = NULL},
        {"expected", "state", CLI_WORDS, .group = NULL}, {"stored", "created", CLI_WORDS, .group = NULL}};
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        const json_int_t failed = json_integer_value(json_object_get(row, "expects_failed"));
        const bool has_some = json_integer_value(json_object_get(row, "expects")) > 0;
        json_object_set_new(row, "state",
                            has_some && failed > 0 ? json_sprintf("%" JSON_INTEGER_FORMAT " FAILED", failed)
                                                   : json_string(has_some ? "ok" : "-"));
    }
    cli_table_print(stdout, &(struct cli_table){.rows = rows,
                                                .columns = columns,
                                                .count = 6,
                                                .gap = 2,
                                                .label_least = 8,
                                                .label_most = 27,
                                                .below = print_folded,
                                                .context = &is_all});
}

static bool runs(const struct cli_args *args, struct sim_error *error)
{
    struct store *store;
    struct store_run_row *rows = NULL;
    size_t count = 0;
    const bool is_all = cli_has(args, "all");
    if (!store_open(args->database, STORE_READ, &store, error))
        return false;
    bool is_fine = store_list_runs(store, !is_all, &rows, &count, error);
    json_t *list = as_json(rows, count);
    if (is_fine && args->is_json)
        cli_json_print(json_incref(list));
    else if (is_fine)
        print_table(list, is_all);
    json_decref(list);
    store_runs_free(rows, count);
    store_close(store);
    return is_fine;
}

const struct cli_command cli_runs = {
    .name = "runs",
    .arguments = "",
    .summary = "list the runs of the database, newest first",
    .example = "  bucketlab runs --db chat.db\n",
    .options = runs_options,
    .least = 0,
    .most = 0,
    .run = runs,
};

static void print_overrides(const char *overrides)
{
    while (*overrides != '\0') {
        size_t length = strcspn(overrides, "\n");
        printf("\n  --set '%.*s'", (int)length, overrides);
        overrides += length + (overrides[length] == '\n');
    }
}

/* Prints a stored run. scenario: for its warnings; NULL when it cannot be parsed again. */
static void show_run(const struct cli_args *args, const struct store_run_info *info,
                     const struct lab_result *result, const struct lab_scenario *scenario)
{
    char created[SIM_TIME_TEXT_SIZE];
    if (args->is_json) {
        cli_json_print(
            cli_json_run(info->run, result, scenario == NULL ? json_array() : cli_warnings_json(scenario)));
        return;
    }
    sim_time_format(info->created_unix_s * SIM_SECOND, created);
    cli_print_result(result);
    cli_print_settings(result, scenario);
    if (scenario != NULL)
        cli_warnings_print(stdout, scenario);
    printf("\nrun %" PRId64 ", seed %" PRIu64 ", digest %016" PRIx64 "\nscenario ", info->run, result->seed,
           result->digest);
    cli_print_text(stdout, info->scenario_path);
    print_overrides(info->overrides);
    printf("\nstored %s by bucketlab %s, took %.1f s\nagain: bucketlab replay %" PRId64 " --db ", created,
           info->version, (double)info->elapsed_ms / 1000, info->run);
    cli_print_line(stdout, "", args->database);
}

static const struct cli_option show_options[] = {{CLI_OPTION_DB}, {NULL, NULL, NULL}};

static bool show(const struct cli_args *args, struct sim_error *error)
{
    struct cli_stored stored;
    bool is_fine = cli_stored_open(args, cli_argument(args, 0), &stored, error);
    if (is_fine) {
        /* This version may refuse the scenario of another version; the stored results are printed anyway. */
        struct lab_scenario *scenario = NULL;
        struct sim_error refused = {0};
        cli_scenario_again(args, &stored.info, NULL, stored.result->seed, &scenario, &refused);
        show_run(args, &stored.info, stored.result, scenario);
        lab_scenario_destroy(scenario);
    }
    cli_stored_close(&stored);
    return is_fine;
}

const struct cli_command cli_show = {
    .name = "show",
    .arguments = "RUN",
    .summary = "print a stored run again; RUN is a number or 'last'",
    .example = "  bucketlab show last\n  bucketlab show 3 --json\n",
    .options = show_options,
    .least = 1,
    .most = 1,
    .run = show,
};

static const struct cli_option report_options[] = {
    {CLI_OPTION_DB}, {CLI_OPTION_OUT}, {CLI_OPTION_FORMAT}, {NULL, NULL, NULL}};

static bool check_charts(const struct cli_charts *charts, const char *database,
                         const struct lab_result *result, struct sim_error *error)
{
    struct cli_outputs outputs = {NULL};
    cli_outputs_charts(&outputs, charts, result->scenario_name);
    cli_outputs_database(&outputs, "db", database, false);
    return cli_outputs_check(&outputs, error);
}

/* The answer of `tune`, if the run has one. */
static bool load_answer(struct store *store, int64_t run, json_t **out, struct sim_error *error)
{
    char *text;
    if (!store_tune_load(store, run, &text, error))
        return false;
    if (text == NULL)
        return true;
    json_error_t problem;
    *out = json_loads(text, JSON_REJECT_DUPLICATES, &problem);
    free(text);
    return *out != NULL ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "the answer of 'tune' that is stored with the run is damaged: %s; restore the database "
                    "from a copy, or tune again",
                    problem.text);
}

/* Printed on stderr, since stdout lists the files. */
static void tell_left_out(const struct lab_result *result)
{
    struct report_files lines;
    report_left_out(result, &lines);
    for (size_t i = 0; i < lines.count; i++)
        cli_print_line(stderr, "left out: ", lines.paths[i]);
    report_files_free(&lines);
}

static bool report(const struct cli_args *args, struct sim_error *error)
{
    struct cli_charts charts;
    struct cli_stored stored = {.store = NULL};
    json_t *answer = NULL;
    bool is_fine = cli_charts_read(args, &charts, error) &&
                   cli_stored_open(args, cli_argument(args, 0), &stored, error) &&
                   check_charts(&charts, args->database, stored.result, error) &&
                   load_answer(stored.store, stored.info.run, &answer, error);
    if (is_fine) {
        const struct cli_page page = {stored.result, &stored.info, args->database, answer};
        is_fine = cli_charts_write(&charts, &page, error);
        if (is_fine && !args->is_quiet)
            tell_left_out(stored.result);
    }
    cli_stored_close(&stored);
    json_decref(answer);
    if (is_fine)
        cli_charts_print(&charts, "");
    cli_charts_free(&charts);
    return is_fine;
}

const struct cli_command cli_report = {
    .name = "report",
    .arguments = "RUN",
    .summary = "draw the charts, or the page, of a stored run",
    .example = "  bucketlab report last --format html\n"
               "  bucketlab report 3 --format svg,pdf --out charts\n",
    .options = report_options,
    .has_no_json = true,
    .least = 1,
    .most = 1,
    .run = report,
};

static const struct cli_option replay_options[] = {
    {CLI_OPTION_DB}, {CLI_OPTION_FILES}, {CLI_OPTION_JOBS}, {NULL, NULL, NULL}};

struct rerun {
    const struct cli_args *args;
    struct cli_stored stored;
    struct lab_scenario *scenario;
    struct cli_execution again;
};

static const char *cure_of(const struct store_run_info *info)
{
    if (info->has_earlier_digest)
        return "its digest is of an earlier kind, which this version does not make; run the scenario again";
    return strcmp(info->version, BUCKETLAB_VERSION) == 0
               ? "a trace that changed since, or this is a defect; please report it"
               : "another version stored it";
}

/* Always returns false, with an error that names the first event that differs. To get the text of that event,
 * it runs the strategy once more with an event listener. */
static bool fail_event(struct rerun *rerun, size_t strategy, const struct cli_difference *difference,
                       struct sim_error *error)
{
    const struct lab_strategy_result *one = &rerun->stored.result->strategies[strategy];
    const struct lab_event_log *now = &rerun->again.result->strategies[strategy].events;
    int64_t run = rerun->stored.info.run;
    const char *cure = cure_of(&rerun->stored.info);
    char event[CLI_EVENT_SIZE] = "", place[128];
    if (!difference->is_placed)
        return sim_fail(
            error, SIM_ERROR_CHECK,
            "run %" PRId64 ": strategy '%s': the events differ, digest %016" PRIx64 " of %" PRIu64
            " stored and %016" PRIx64 " of %" PRIu64 " now, and the stored marks do not show where; %s",
            run, one->label, one->events.digest, one->events.events, now->digest, now->events, cure);
    if (difference->first == difference->last)
        snprintf(place, sizeof place, "is number %" PRIu64, difference->first);
    else
        snprintf(place, sizeof place, "is between %" PRIu64 " and %" PRIu64 ", the first of these",
                 difference->first, difference->last);
    if (difference->first > now->events)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "run %" PRId64 ": strategy '%s': the first event that differs %s, and now there are "
                        "%" PRIu64 "; %s",
                        run, one->label, place, now->events, cure);
    if (!cli_difference_tell(rerun->args, rerun->scenario, strategy, difference, event, error))
        return false;
    return sim_fail(error, SIM_ERROR_CHECK,
                    "run %" PRId64
                    ": strategy '%s': the first event that differs %s at %s (as it is now); %s",
                    run, one->label, place, event, cure);
}

static bool compare_digests(struct rerun *rerun, struct sim_error *error)
{
    const struct lab_result *stored = rerun->stored.result, *again = rerun->again.result;
    const struct store_run_info *info = &rerun->stored.info;
    const char *cure = cure_of(info);
    for (size_t i = 0; i < stored->strategy_count && i < again->strategy_count; i++) {
        const struct lab_strategy_result *one = &stored->strategies[i], *other = &again->strategies[i];
        struct cli_difference difference;
        bool is_same = strcmp(one->label, other->label) == 0;
        if (is_same && cli_difference_find(&one->events, &other->events, &difference))
            return fail_event(rerun, i, &difference, error);
        if (is_same && one->settings.observed != WL_OBSERVED_AUTO &&
            one->placement_digest != other->placement_digest)
            return sim_fail(error, SIM_ERROR_CHECK,
                            "run %" PRId64
                            ": strategy '%s': %s gives other sizes than before, digest %016" PRIx64
                            " then and %016" PRIx64 " now; restore the file, or run it again",
                            info->run, one->label,
                            other->settings.observed_file == NULL ? "it" : other->settings.observed_file,
                            one->placement_digest, other->placement_digest);
        if (!is_same || one->placement_digest != other->placement_digest)
            return sim_fail(error, SIM_ERROR_CHECK,
                            "run %" PRId64 ": strategy '%s' places rows differently, %016" PRIx64
                            " stored (by %s) and %016" PRIx64 " now (%s); %s",
                            info->run, one->label, one->placement_digest, info->version,
                            other->placement_digest, BUCKETLAB_VERSION, cure);
    }
    if (stored->digest == again->digest && stored->strategy_count == again->strategy_count)
        return true;
    return sim_fail(error, SIM_ERROR_CHECK,
                    "run %" PRId64 ": digest %016" PRIx64 " stored (by %s) and %016" PRIx64
                    " now (%s), while "
                    "each strategy's is the same; %s",
                    info->run, stored->digest, info->version, again->digest, BUCKETLAB_VERSION, cure);
}

static void print_same(const struct cli_args *args, int64_t run, const struct lab_result *again)
{
    if (args->is_json)
        cli_json_print(CLI_OBJECT({"run", json_integer(run)}, {"same", json_true()},
                                  {"digest", cli_json_digest(again->digest)}));
    else
        printf("run %" PRId64 ": same digest %016" PRIx64 "\n", run, again->digest);
}

static bool replay(const struct cli_args *args, struct sim_error *error)
{
    struct rerun rerun = {.args = args};
    bool is_fine =
        cli_stored_open(args, cli_argument(args, 0), &rerun.stored, error) &&
        cli_scenario_again(args, &rerun.stored.info, NULL, rerun.stored.result->seed, &rerun.scenario, error);
    rerun.again = (struct cli_execution){.scenario = rerun.scenario, .jobs = args->jobs};
    is_fine = is_fine && cli_execute(args, &rerun.again, error) && compare_digests(&rerun, error);
    cli_release(args);
    if (is_fine)
        print_same(args, rerun.stored.info.run, rerun.again.result);
    lab_scenario_destroy(rerun.scenario);
    lab_result_destroy(rerun.again.result);
    cli_stored_close(&rerun.stored);
    return is_fine;
}

const struct cli_command cli_replay = {
    .name = "replay",
    .arguments = "RUN",
    .summary = "run a stored run again, and check that its digest is the same",
    .example = "  bucketlab replay last\n",
    .options = replay_options,
    .least = 1,
    .most = 1,
    .run = replay,
};

static const struct cli_option import_options[] = {
    {"label", "L", "the strategy's label (default observed)"},
    {"table", "KS.TABLE", "which table, if the file has several (default: the only\none)"},
    {"format", "sstablepartitions|tablehistograms|large_partitions", "(default: detected)"},
    {"scenario", "FILE", "also write a scenario whose keys have these sizes, for\nrun and tune"},
    {"set", "PATH=VALUE", "add to the scenario, as in\nlimits.partition_bytes=100MB; repeatable"},
    {CLI_OPTION_DB},
    {NULL, NULL, NULL}};

/* Observed sizes, of the largest down, as a scenario whose keys each have one: in rows, if the file has them,
 * otherwise in bytes. */
struct fitted {
    struct lab_bin *bins; /* ascending */
    size_t count;
    const char *unit, *note; /* what the number of partitions is */
    double sum;              /* of all sizes, in this unit */
    double partitions, rows, bytes_per_row;
};

#define FIT_POINTS 50
#define FIT_DAYS   30
#define ROW_GUESS  1000

/* The size of the partition of a rank, counted from the largest. */
static double size_of_rank(const struct fitted *fitted, double rank)
{
    double above = 0;
    size_t i = fitted->count;
    while (i > 1 && above + (double)fitted->bins[i - 1].count < rank)
        above += (double)fitted->bins[--i].count;
    return fmax(1, (double)fitted->bins[i - 1].size);
}

static bool fit_sizes(const struct lab_strategy_result *one, struct fitted *out)
{
    struct lab_histogram rows, bytes;
    size_t row_bins;
    free(lab_histogram_both(&one->closed_rows, &one->open_rows, &rows, &row_bins));
    out->bins = lab_histogram_both(&one->closed_bytes, &one->open_bytes, &bytes, &out->count);
    const double all_rows = (double)rows.sum, all_bytes = (double)bytes.sum;
    out->bytes_per_row = all_rows > 0 ? all_bytes / all_rows : ROW_GUESS;
    const enum wl_observed_format format = one->settings.observed;
    out->note = format == WL_OBSERVED_PERCENTILES
                    ? " # a guess: the file does not say how many partitions there are"
                : format == WL_OBSERVED_LARGEST ? " # only the largest: the file has no others"
                                                : "";
    out->unit = all_rows > 0 ? "rows" : "bytes";
    out->sum = all_rows > 0 ? all_rows : all_bytes;
    out->rows = all_bytes / out->bytes_per_row;
    out->partitions = (double)bytes.count;
    if (all_rows > 0) {
        free(out->bins);
        out->bins = lab_histogram_both(&one->closed_rows, &one->open_rows, &rows, &out->count);
    }
    return out->bins != NULL && out->count > 0;
}

/* The next rank that is a point: the ends of each size if there are few, otherwise by a ratio. */
static double next_rank(const struct fitted *fitted, double rank)
{
    double last = 0;
    if (rank >= fitted->partitions)
        return rank + 1;
    if (2 * fitted->count > SIM_ZIPF_POINTS_MAX)
        return fmin(fmax(rank + 1, ceil(rank * pow(fitted->partitions, 1.0 / FIT_POINTS))),
                    fitted->partitions);
    for (size_t i = fitted->count; i > 0 && last < rank; i--)
        last += (double)fitted->bins[i - 1].count;
    return rank < last ? last : rank + 1;
}

static char *fitted_text(const struct cli_args *args, const struct fitted *fitted, const char *path)
{
    const char *table = cli_value(args, "table", NULL);
    GString *text = g_string_new("# Keys with the sizes of the partitions of a file of Cassandra's tools.\n");
    g_string_append_printf(text,
                           "duration: %dd # a guess: how long the partitions have grown\n"
                           "keys:\n  count: %.0f%s\n  popularity:\n    points: [",
                           FIT_DAYS, fitted->partitions, fitted->note);
    for (double rank = 1; rank <= fitted->partitions; rank = next_rank(fitted, rank))
        g_string_append_printf(text, "%s[%.0f, %.0f]", rank > 1 ? ", " : "", rank,
                               size_of_rank(fitted, rank));
    g_autofree char *shown = cli_json_quoted(path);
    g_string_append_printf(
        text,
        "]\narrivals: {rate: %.6g/s}\n"
        "row: {bytes: %.0fB, format: payload} # all that a row takes on disk%s\n" CLI_SCENARIO_LIMITS
        "  - observed: {file: %s%s%s}\n",
        fitted->rows / (FIT_DAYS * 86400.0), fmax(1, fitted->bytes_per_row),
        fitted->bytes_per_row == ROW_GUESS ? "; a guess, if the file has no rows" : "", shown,
        table == NULL ? "" : ", table: ", table == NULL ? "" : table);
    return g_string_free(text, FALSE);
}

/* Writes the scenario, and says how far its sizes are from those of the file. */
static bool write_fitted(const struct cli_args *args, const char *path, const struct lab_result *result,
                         struct sim_error *error)
{
    static const struct {
        const char *name;
        double share;
    } points[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"largest", 1}};
    const char *file = cli_value(args, "scenario", "");
    struct fitted fitted = {.bins = NULL};
    struct lab_scenario *scenario = NULL;
    bool is_fine = fit_sizes(&result->strategies[0], &fitted) || sim_fail_memory(error);
    g_autofree char *text = is_fine ? fitted_text(args, &fitted, path) : NULL;
    is_fine = is_fine && lab_scenario_parse(file, text, strlen(text), NULL, 0, NULL, &scenario, error) &&
              cli_file_write(file, text, strlen(text), error);
    if (is_fine && !args->is_quiet && !args->is_json) {
        printf("\nwrote ");
        cli_print_text(stdout, file);
        printf("; %s of a key, expected and observed:", fitted.unit);
        for (size_t i = 0; i < G_N_ELEMENTS(points); i++) {
            const double rank = fitted.partitions - ceil(points[i].share * fitted.partitions) + 1;
            const double share = sim_zipf_share(&scenario->workload.popularity, (uint64_t)rank - 1);
            printf("%s %s %.0f and %.0f", i == 0 ? "" : ",", points[i].name, fitted.sum * share,
                   size_of_rank(&fitted, rank));
        }
        printf("\n");
    }
    lab_scenario_destroy(scenario);
    free(fitted.bins);
    return is_fine;
}

/* Without the sstable such lines may be of another table, or the same line twice. */
static void tell_merged(const struct lab_result *result)
{
    const struct lab_metric *merged = lab_metrics_find(&result->strategies[0].metrics, "partitions.merged");
    if (merged != NULL)
        fprintf(stderr,
                "%.0f of the lines have the key of a line before, and were added to it, as pieces of a "
                "partition in several sstables; to tell them apart, add a column 'generation' (the "
                "sstable)\n",
                merged->value);
}

static bool import_from(const struct cli_args *args, const char *path, struct store *store,
                        const struct lab_scenario *scenario, struct sim_error *error)
{
    struct cli_execution execution = {.scenario = scenario, .jobs = 1};
    if (!args->is_quiet)
        cli_warnings_files(stderr, scenario);
    bool is_fine = cli_execute(args, &execution, error);
    struct store_run_info info = cli_info_of(scenario, path, execution.elapsed_ms);
    is_fine = is_fine && store_save_run(store, &info, execution.result, error);
    cli_release(args);
    if (is_fine)
        show_run(args, &info, execution.result, scenario);
    if (is_fine && !args->is_quiet)
        tell_merged(execution.result);
    is_fine = is_fine && (!cli_has(args, "scenario") || write_fitted(args, path, execution.result, error)) &&
              cli_expects_hold(execution.result, error);
    lab_result_destroy(execution.result);
    return is_fine;
}

static bool import(const struct cli_args *args, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    struct store *store = NULL;
    struct cli_outputs outputs = {NULL};
    /* Absolute, so that the stored run can be repeated from any folder. */
    g_autofree char *path = cli_input_path(cli_argument(args, 0));
    cli_outputs_database(&outputs, "db", args->database, true);
    cli_outputs_input(&outputs, "the input", path);
    cli_outputs_file(&outputs, "scenario", cli_value(args, "scenario", NULL));
    bool is_fine =
        cli_outputs_check(&outputs, error) &&
        cli_observed_load(args, NULL, NULL, cli_value(args, "label", "observed"), path, &scenario, error) &&
        store_open(args->database, STORE_WRITE, &store, error) &&
        import_from(args, path, store, scenario, error);
    store_close(store);
    lab_scenario_destroy(scenario);
    return is_fine;
}

const struct cli_command cli_import = {
    .name = "import",
    .arguments = "FILE",
    .summary = "store sizes that Cassandra's tools printed, as a run",
    .example = "  bucketlab import messages.csv --set limits.partition_bytes=100MB\n"
               "where messages.csv is the output of sstablepartitions --csv --min-size 0\n",
    .options = import_options,
    .least = 1,
    .most = 1,
    .run = import,
};

/* --- export and merge */

static const struct cli_option export_options[] = {
    {"label", "L", "only of this strategy (default: of all)"},
    {"state", "closed|open|read|all",
     "all: closed and open together (default: each of the\n"
     "other three)"},
    {"unit", "rows|bytes|partitions", "(default: all)"},
    {"metrics", NULL, "export metrics instead of histograms"},
    {"out", "FILE", "write to FILE instead of standard output"},
    {CLI_OPTION_DB},
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

/* Returns false when memory ran out, here or when the histogram was made. */
static bool write_sizes(FILE *stream, const char *label, const struct sizes *sizes)
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
    return !sizes->histogram->out_of_memory && (bins != NULL || sizes->histogram->count == 0);
}

static bool write_strategy(const struct cli_args *args, FILE *stream, const struct lab_strategy_result *one)
{
    bool is_fine = true;
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
    for (size_t i = 0; is_fine && i < sizeof all / sizeof *all; i++) {
        if ((cli_has(args, "state") ? cli_chooses(args, "state", all[i].state) : i < 5) &&
            (!cli_has(args, "unit") || cli_chooses(args, "unit", all[i].unit)))
            is_fine = write_sizes(stream, one->label, &all[i]);
    }
    lab_histogram_clear(&rows);
    lab_histogram_clear(&bytes);
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

static bool write_csv(const struct cli_args *args, const struct lab_result *result, FILE *stream)
{
    bool is_fine = true;
    const char *label = cli_value(args, "label", NULL);
    const bool is_metrics = cli_has(args, "metrics");
    fputs(is_metrics ? "label,metric,value\r\n" : "label,state,unit,size,partitions,rows\r\n", stream);
    for (size_t i = 0; is_fine && i < result->strategy_count; i++) {
        const struct lab_strategy_result *one = &result->strategies[i];
        if (label != NULL && strcmp(label, one->label) != 0)
            continue;
        if (is_metrics)
            write_metrics(stream, one);
        else
            is_fine = write_strategy(args, stream, one);
    }
    return is_fine;
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
        is_fine = write_csv(args, stored.result, stream) || sim_fail_memory(error);
        cli_memory_close(stream);
        if (is_fine && path != NULL)
            is_fine = cli_file_write(path, text, size, error);
        else if (is_fine)
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
    .has_no_json = true,
    .least = 1,
    .most = 1,
    .run = export,
};

static const struct cli_option merge_options[] = {
    {"db", "FILE", "the database that receives them (default: the first)"}, {NULL, NULL, NULL}};

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
        cli_json_print(merged_json(&merging));
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
