/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run` compares the strategies of scenarios: it checks everything, then runs everything, then stores, draws
 * and prints everything, so that nothing is left half done. --continue makes a finished run longer. `init`
 * writes a starter scenario. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/base.h"
#include "cli/result.h"
#include "cli/run.h"
#include "kernel/time.h"
#include "lab/run.h"
#include "reports/output.h"
#include "tune/contest.h"

/* --continue RUN --for DURATION: makes the scenario of a finished run with a longer duration. */
static bool lengthen(const struct cli_args *args, const struct cli_stored *stored, struct lab_scenario **out,
                     struct sim_error *error)
{
    struct lab_scenario *before;
    int64_t for_ns;
    char text[48];
    if (!cli_duration(args, "for", SIM_MS, &for_ns, error) ||
        !cli_scenario_again(args, &stored->info, NULL, stored->result->seed, &before, error))
        return false;
    const int64_t duration_ns = before->workload.duration_ns;
    lab_scenario_destroy(before);
    if (duration_ns == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "run %" PRId64 " reached the end of its trace, and no rows come after it; "
                        "run %s with a longer trace instead",
                        stored->info.run, stored->info.scenario_path);
    if (for_ns > INT64_MAX - duration_ns)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --for overflows the range of timestamps; make it shorter");
    snprintf(text, sizeof text, "duration=%" PRId64 "ns", duration_ns + for_ns);
    const struct lab_override longer = {text};
    return cli_scenario_again(args, &stored->info, &longer, stored->result->seed, out, error);
}

static bool load_continued(const struct cli_args *args, struct lab_scenario **scenario, char **path,
                           struct sim_error *error)
{
    struct cli_stored stored;
    bool is_fine = cli_stored_open(args, cli_value(args, "continue", ""), &stored, error) &&
                   lengthen(args, &stored, scenario, error);
    *path = is_fine ? g_strdup(stored.info.scenario_path) : NULL;
    cli_stored_close(&stored);
    return is_fine;
}

static const struct cli_option run_options[] = {
    {CLI_OPTION_SEED},
    {"set", "PATH=VALUE",
     "change one field of the scenario, as in\n"
     "strategies.count.rows=5000; repeatable"},
    {CLI_OPTION_SAMPLE},
    {CLI_OPTION_DB},
    {CLI_OPTION_FILES},
    {CLI_OPTION_OUT},
    {CLI_OPTION_FORMAT},
    {"no-charts", NULL, "draw no charts"},
    {"no-store", NULL, "do not store the run in the database"},
    {"trace-events", "FILE",
     "write the events between agents and cluster to FILE, one\n"
     "per line; or, if FILE ends in .json, as a Chrome trace,\n"
     "which Perfetto opens; - means stdout"},
    {"trace-format", "lines|chrome|record", "with --trace-events: record: a history for `judge`"},
    {"kinds", "rows|reads|requests|state|faults|violations,...",
     "with --trace-events: events of these kinds only"},
    {"from", "T", "with --trace-events: from this virtual time on"},
    {"until", "T", "with --trace-events: to before this virtual time"},
    {"agent", "N", "with --trace-events: events of this agent only"},
    {"key", "K", "with --trace-events: events of this key only"},
    {"resume", NULL,
     "resume a run that was stopped or killed, which the\n"
     "same command does by itself; refused when there is\n"
     "nothing to resume from"},
    {"continue", "RUN",
     "with --for: make a finished run longer; it runs again\n"
     "from the start, at full cost"},
    {"for", "DURATION", "with --continue: how much longer, in virtual time"},
    {CLI_OPTION_JOBS},
    {NULL, NULL, NULL}};

struct job {
    struct lab_scenario *scenario;
    char *path; /* absolute, so that the stored run can be repeated from any folder */
    struct cli_execution execution;
    struct store_run_info info; /* as stored */
    struct cli_charts charts;
    struct cli_partial partial; /* not used with a listener */
};

struct batch {
    const struct cli_args *args;
    struct job *jobs;
    size_t count;
    bool has_charts, is_stored;
    struct cli_charts charts; /* as requested; each job has a copy */
    struct cli_event_trace event_trace;
};

static bool check_options(const struct cli_args *args, struct sim_error *error)
{
    static const char *const of_new_runs[] = {"seed", "set", "sample", "trace-events"};
    static const char *const of_stored_runs[] = {"db", "resume", "continue"};
    const bool continues = cli_has(args, "continue");
    if (!continues && args->count == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'run' lacks an argument; write 'bucketlab run %s'", "SCENARIO...");
    if (continues && args->count > 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --continue takes its scenario from the database; remove '%s'",
                        cli_argument(args, 0));
    for (size_t i = 0; i < sizeof of_new_runs / sizeof *of_new_runs; i++) {
        if (!cli_exclude(args, "continue", of_new_runs[i], error))
            return false;
    }
    for (size_t i = 0; i < sizeof of_stored_runs / sizeof *of_stored_runs; i++) {
        if (!cli_exclude(args, "no-store", of_stored_runs[i], error))
            return false;
    }
    return true;
}

static bool load_scenarios(struct batch *batch, struct sim_error *error)
{
    const struct cli_args *args = batch->args;
    if (args->count == 0)
        return load_continued(args, &batch->jobs[0].scenario, &batch->jobs[0].path, error);
    for (size_t i = 0; i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        if (!cli_scenario_load(args, cli_argument(args, i), &job->scenario, error) ||
            !lab_expects_check(job->scenario, error))
            return false;
        job->path = cli_absolute(cli_argument(args, i));
        for (size_t j = 0; batch->has_charts && j < i; j++) {
            if (!cli_names_differ(batch->jobs[j].scenario, job->scenario,
                                  "their charts would be the same file; run them one by one with --out, or "
                                  "with --no-charts",
                                  error))
                return false;
        }
    }
    return true;
}

static bool check_outputs(const struct batch *batch, struct sim_error *error)
{
    const struct cli_args *args = batch->args;
    struct cli_outputs outputs = {NULL};
    cli_outputs_file(&outputs, "trace-events", cli_value(args, "trace-events", NULL));
    if (batch->is_stored)
        cli_outputs_database(&outputs, "db", args->database, true);
    cli_outputs_input(&outputs, "the sample", cli_value(args, "sample", NULL));
    for (size_t i = 0; i < batch->count; i++) {
        cli_outputs_scenario(&outputs, batch->jobs[i].scenario);
        if (batch->has_charts)
            cli_outputs_charts(&outputs, &batch->charts, batch->jobs[i].scenario->name);
    }
    return cli_outputs_check(&outputs, error);
}

static bool read_batch(struct batch *batch, struct sim_error *error)
{
    const struct cli_args *args = batch->args;
    batch->count = args->count == 0 ? 1 : args->count; /* one comes from the database */
    batch->jobs = g_new0(struct job, batch->count);
    batch->has_charts = !cli_has(args, "no-charts");
    batch->is_stored = !cli_has(args, "no-store");
    if (!cli_charts_read(args, &batch->charts, error) || !load_scenarios(batch, error) ||
        !check_outputs(batch, error) ||
        !cli_event_trace_read(args, batch->jobs[0].scenario, batch->count, &batch->event_trace, error) ||
        (batch->is_stored && !cli_database_check(args->database, error)))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        batch->jobs[i].charts = batch->charts;
        if (args->is_quiet)
            continue;
        cli_warnings_print(stderr, batch->jobs[i].scenario);
        cli_warnings_files(stderr, batch->jobs[i].scenario);
    }
    return true;
}

/* --resume: checks that there is something to resume from. */
static bool check_resume(const struct batch *batch, const struct job *job, struct sim_error *error)
{
    const char *path = job->scenario->path;
    if (!cli_has(batch->args, "resume") || job->partial.lab.kept != NULL)
        return true;
    if (job->partial.store == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: a run of a cluster has no partial result, and starts again; remove --resume",
                        path);
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s: %s has no partial result of this run; remove --resume to run it from the start",
                    path, batch->args->database);
}

static bool execute_one(struct batch *batch, struct job *job, struct sim_error *error)
{
    const struct cli_args *args = batch->args;
    struct cli_event_trace *trace = &batch->event_trace;
    struct cli_listener *listener = trace->path == NULL ? NULL : &trace->listener;
    struct cli_partial *partial = listener != NULL || !batch->is_stored ? NULL : &job->partial;
    job->execution = (struct cli_execution){.scenario = job->scenario,
                                            .jobs = args->jobs,
                                            .team = &args->team,
                                            .listener = listener,
                                            .partial = partial};
    if ((partial != NULL && !cli_partial_open(partial, args, job->scenario, job->path, error)) ||
        !check_resume(batch, job, error) || !cli_execute(args, &job->execution, error))
        return false;
    job->info = cli_info_of(job->scenario, job->path, job->execution.elapsed_ms);
    return tune_horizons_add(job->scenario, job->execution.result, error);
}

static bool store_all(struct batch *batch, struct sim_error *error)
{
    if (!batch->is_stored)
        return true;
    struct store *store;
    bool is_fine = store_open(batch->args->database, STORE_WRITE, &store, error);
    for (size_t i = 0; is_fine && i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        is_fine = store_save_run(store, &job->info, job->execution.result, error) &&
                  cli_partial_forget(&job->partial, error);
    }
    store_close(store);
    return is_fine;
}

/* When one of several scenarios was interrupted, the results of those before it are stored. */
static void keep_finished(struct batch *batch, size_t count)
{
    struct sim_error ignored;
    size_t all = batch->count;
    batch->count = count;
    if (count > 0 && batch->args->signals->caught != 0)
        store_all(batch, &ignored);
    batch->count = all;
}

/* Signals are held before the event trace is opened, so that one that comes from then on also removes it. */
static bool execute_all(struct batch *batch, struct sim_error *error)
{
    if (batch->event_trace.path != NULL)
        cli_hold(batch->args);
    if (!cli_event_trace_begin(&batch->event_trace, error))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        if (execute_one(batch, &batch->jobs[i], error))
            continue;
        /* If the run ended because the event trace could not be written, that is the error. */
        if (batch->event_trace.code == 0 || batch->args->signals->caught != 0) {
            keep_finished(batch, i);
            return false;
        }
    }
    return cli_event_trace_end(&batch->event_trace, error);
}

static bool draw(const struct batch *batch, struct job *job, struct sim_error *error)
{
    const struct lab_result *result = job->execution.result;
    const struct cli_page page = {result, &job->info, batch->args->database, NULL};
    return cli_charts_write(&job->charts, &page, error) ||
           (batch->is_stored && cli_charts_fail(job->info.run, batch->jobs[batch->count - 1].info.run,
                                                batch->args->database, error));
}

static void print_job(const struct batch *batch, const struct job *job)
{
    const struct lab_result *result = job->execution.result;
    cli_print_result(result);
    if (batch->has_charts) {
        printf("\ncharts\n");
        if (!cli_charts_print(&job->charts, "  "))
            printf("  none: %s\n", result->strategies[0].settings.is_idgen ? "identifiers have no partitions"
                                                                           : "there is nothing to show");
    }
    if (batch->is_stored) {
        printf("\nrun %" PRId64 " in ", job->info.run);
        cli_print_text(stdout, batch->args->database);
    } else {
        printf("\nnot stored");
    }
    printf(", seed %" PRIu64 ", digest %016" PRIx64 ", %.1f s\n", result->seed, result->digest,
           (double)job->info.elapsed_ms / 1000);
}

/* Returns whether all expectations hold; the error names the first scenario with a failed one. */
static bool print_all(const struct batch *batch, struct sim_error *error)
{
    bool is_fine = true;
    for (size_t i = 0; i < batch->count; i++) {
        const struct job *job = &batch->jobs[i];
        const struct lab_result *result = job->execution.result;
        fputs(i == 0 || batch->args->is_json ? "" : "\n", stdout);
        if (batch->args->is_json)
            cli_json_print(cli_json_run(job->info.run, result, cli_warnings_json(job->scenario)));
        else
            print_job(batch, job);
        is_fine = is_fine && cli_expects_hold(result, error);
    }
    return is_fine;
}

static void free_batch(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        cli_partial_close(&job->partial);
        lab_scenario_destroy(job->scenario);
        lab_result_destroy(job->execution.result);
        cli_charts_free(&job->charts);
        g_free(job->path);
    }
    g_free(batch->jobs);
}

static bool run(const struct cli_args *args, struct sim_error *error)
{
    struct batch batch = {.args = args};
    bool is_fine = check_options(args, error) && read_batch(&batch, error) && execute_all(&batch, error) &&
                   store_all(&batch, error) && cli_file_close(&batch.event_trace.file, true, error);
    for (size_t i = 0; is_fine && batch.has_charts && i < batch.count; i++)
        is_fine = draw(&batch, &batch.jobs[i], error);
    cli_event_trace_free(&batch.event_trace);
    cli_release(args);
    is_fine = is_fine && print_all(&batch, error);
    free_batch(&batch);
    return is_fine;
}

const struct cli_command cli_run = {
    .name = "run",
    .arguments = "SCENARIO...",
    .summary = "compare the strategies of a scenario on the same rows",
    .example = "  bucketlab run chat.yaml\n"
               "  bucketlab run chat.yaml --set arrivals.rate=5/s --format png,pdf\n"
               "  bucketlab run --continue 7 --for 30d\n",
    .options = run_options,
    .least = 0,
    .most = CLI_ANY_NUMBER,
    .run = run,
};
