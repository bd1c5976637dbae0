/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `run` compares the strategies of scenarios: it checks everything, then runs everything, then stores, draws
 * and prints everything, so that nothing is left half done. --continue makes a finished run longer. `init`
 * writes a starter scenario. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/events.h"
#include "cli/execute.h"
#include "cli/files.h"
#include "cli/page.h"
#include "cli/result.h"
#include "cli/scenario.h"
#include "cli/table.h"
#include "cli/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"
#include "lab/run.h"
#include "reports/output.h"
#include "starter.h"
#include "store/store.h"
#include "tune/expected.h"

static bool lengthen(const struct store_run_info *info, const char *database, const char *files,
                     uint64_t seed, int64_t for_ns, struct lab_scenario **out, struct sim_error *error)
{
    struct lab_scenario *before;
    if (!cli_scenario_again(info, database, files, NULL, seed, &before, error))
        return false;
    int64_t duration_ns = before->workload.duration_ns;
    bool is_endless = duration_ns == 0;
    lab_scenario_destroy(before);
    if (is_endless)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "run %" PRId64 " reached the end of its trace, and no rows come after it; "
                        "run %s with a longer trace instead",
                        info->run, info->scenario_path);
    if (for_ns > INT64_MAX - duration_ns)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --for overflows the range of timestamps; make it shorter");
    char text[48];
    snprintf(text, sizeof text, "duration=%" PRId64 "ns", duration_ns + for_ns);
    const struct lab_override longer = {text};
    return cli_scenario_again(info, database, files, &longer, seed, out, error);
}

/* --continue RUN --for DURATION: makes the scenario of a finished run with a longer duration. The caller must
 * free *path. */
static bool find_continued(const struct cli_args *args, const char *database, struct lab_scenario **scenario,
                           char **path, struct sim_error *error)
{
    struct store *store;
    struct store_run_info info;
    struct lab_result *result;
    int64_t run, for_ns;
    *scenario = NULL;
    *path = NULL;
    if (!cli_run_parse(cli_value(args, "continue", ""), &run, error) ||
        !cli_duration_option(args, "for", &for_ns, error) || !store_open(database, STORE_READ, &store, error))
        return false;
    bool is_fine = store_load_run(store, run, &info, &result, error);
    if (is_fine) {
        is_fine =
            lengthen(&info, database, cli_value(args, "files", NULL), result->seed, for_ns, scenario, error);
        *path = strdup(info.scenario_path);
        if (is_fine && *path == NULL)
            is_fine = sim_fail_memory(error);
        lab_result_destroy(result);
    }
    store_close(store);
    return is_fine;
}

static const struct cli_option run_options[] = {
    {"seed", "N", "use this seed instead of the scenario's"},
    {"set", "PATH=VALUE",
     "change one field of the scenario, as in\n"
     "strategies.count.rows=5000; repeatable"},
    CLI_OPTION_SAMPLE,
    CLI_OPTION_DB,
    CLI_OPTION_FILES,
    CLI_OPTION_OUT,
    CLI_OPTION_FORMAT,
    {"no-charts", NULL, "draw no charts"},
    {"no-store", NULL, "do not store the run in the database"},
    {"trace-events", "FILE",
     "write the events between agents and cluster to FILE, one\n"
     "per line; or, if FILE ends in .json, as a Chrome trace,\n"
     "which Perfetto opens; - means stdout"},
    {"trace-format", "F", "lines, chrome, or record: a history for `judge`"},
    {"kinds", "K,...",
     "with --trace-events: rows, reads, requests, state,\n"
     "faults or violations only"},
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
    {"for", "DURATION", "how much longer, in virtual time"},
    CLI_OPTION_JOBS,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

struct job {
    struct lab_scenario *scenario;
    char *path; /* absolute, so that the stored run can be repeated from any folder */
    struct lab_result *result;
    int64_t run, elapsed_ms;
    struct store_run_info info; /* as stored */
    struct cli_charts charts;
    struct cli_partial partial; /* not used with a listener */
    char *text;                 /* output of --json */
};

struct batch {
    struct job *jobs;
    size_t count;
    const char *database;
    uint32_t workers;
    struct lab_team team;
    bool is_quiet, is_json, has_charts, is_stored;
    struct cli_charts charts; /* as requested; each job has a copy */
    struct cli_event_trace event_trace;
    struct cli_signals signals;
    bool is_resumed; /* --resume */
};

static bool check_options(const struct cli_args *args, struct sim_error *error)
{
    static const char *const of_new_runs[] = {"seed",  "set",   "sample", "trace-events", "key",
                                              "agent", "kinds", "from",   "until",        "trace-format"};
    const bool continues = cli_has(args, "continue");
    if (continues != cli_has(args, "for"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --continue and --for go together; write '--continue RUN --for 30d'");
    if (!continues && cli_argument_count(args) == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'run' lacks an argument; write 'bucketlab run %s'", "SCENARIO...");
    if (continues && cli_argument_count(args) > 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --continue takes its scenario from the database; remove '%s'",
                        cli_argument(args, 0));
    for (size_t i = 0; continues && i < sizeof of_new_runs / sizeof *of_new_runs; i++) {
        if (cli_has(args, of_new_runs[i]))
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: --continue takes scenario and options from the stored run; remove --%s",
                of_new_runs[i]);
    }
    static const char *const of_stored_runs[] = {"db", "resume", "continue"};
    for (size_t i = 0; cli_has(args, "no-store") && i < sizeof of_stored_runs / sizeof *of_stored_runs; i++) {
        if (cli_has(args, of_stored_runs[i]))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: --no-store uses no database; remove --no-store or --%s",
                            of_stored_runs[i]);
    }
    return true;
}

static bool load_scenarios(const struct cli_args *args, struct batch *batch, struct sim_error *error)
{
    if (cli_argument_count(args) == 0)
        return find_continued(args, batch->database, &batch->jobs[0].scenario, &batch->jobs[0].path, error);
    for (size_t i = 0; i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        if (!cli_scenario_load(args, cli_argument(args, i), &job->scenario, error) ||
            !lab_expects_check(job->scenario, error))
            return false;
        job->path = cli_absolute(cli_argument(args, i));
        if (job->path == NULL)
            return sim_fail_memory(error);
    }
    return true;
}

/* Checks that names are unique, since charts are named after them. */
static bool check_names(const struct batch *batch, struct sim_error *error)
{
    for (size_t i = 0; batch->has_charts && i < batch->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct lab_scenario *one = batch->jobs[j].scenario, *other = batch->jobs[i].scenario;
            if (strcmp(one->name, other->name) == 0)
                return sim_fail(
                    error, SIM_ERROR_INPUT,
                    "%s: the name '%s' is also that of %s, and their charts would be the same file; "
                    "run them one by one with --out, or with --no-charts",
                    other->path, other->name, one->path);
        }
    }
    return true;
}

static bool check_outputs(const struct cli_args *args, const struct batch *batch, struct sim_error *error)
{
    struct cli_outputs outputs = {0};
    cli_outputs_file(&outputs, "trace-events", cli_value(args, "trace-events", NULL));
    if (batch->is_stored)
        cli_outputs_database(&outputs, "db", batch->database, true);
    cli_outputs_input(&outputs, "the sample", cli_value(args, "sample", NULL));
    for (size_t i = 0; i < batch->count; i++) {
        cli_outputs_scenario(&outputs, batch->jobs[i].scenario);
        if (batch->has_charts)
            cli_outputs_charts(&outputs, &batch->charts, batch->jobs[i].scenario->name);
    }
    return cli_outputs_check(&outputs, error);
}

/* Opens and closes the database, so that an invalid one is found before the work. A missing database is not
 * created. */
static bool check_database(const char *path, struct sim_error *error)
{
    if (path[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --db: no file named; write --db bucketlab.db");
    struct store *store;
    if (!store_open(path, STORE_WRITE, &store, error))
        return false;
    store_close(store);
    return true;
}

static bool read_batch(const struct cli_args *args, struct batch *batch, struct sim_error *error)
{
    if (batch->count == 0)
        batch->count = 1; /* the scenario comes from the database */
    batch->jobs = calloc(batch->count, sizeof *batch->jobs);
    if (batch->jobs == NULL)
        return sim_fail_memory(error);
    batch->database = cli_value(args, "db", "bucketlab.db");
    batch->is_quiet = cli_has(args, "quiet");
    batch->is_json = cli_has(args, "json");
    batch->has_charts = !cli_has(args, "no-charts");
    batch->is_stored = !cli_has(args, "no-store");
    batch->is_resumed = cli_has(args, "resume");
    if (!cli_jobs(args, &batch->workers, error) || !cli_team(args, &batch->team, error) ||
        !cli_charts_read(args, &batch->charts, error) || !load_scenarios(args, batch, error))
        return false;
    if (!check_names(batch, error) || !check_outputs(args, batch, error) ||
        !cli_event_trace_read(args, batch->jobs[0].scenario, batch->count, &batch->event_trace, error))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        batch->jobs[i].charts = batch->charts;
    if (batch->is_stored && !check_database(batch->database, error))
        return false;
    for (size_t i = 0; i < batch->count && !batch->is_quiet; i++) {
        if (!cli_warnings_print(stderr, batch->jobs[i].scenario, error))
            return false;
        cli_warnings_files(stderr, batch->jobs[i].scenario);
    }
    return true;
}

/* --resume: checks that there is something to resume from. */
static bool check_resume(const struct batch *batch, const struct job *job, struct sim_error *error)
{
    const char *path = job->scenario->path;
    if (!batch->is_resumed || job->partial.lab.kept != NULL)
        return true;
    if (job->partial.store == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: a run of a cluster has no partial result, and starts again; remove --resume",
                        path);
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s: %s has no partial result of this run; remove --resume to run it from the start",
                    path, batch->database);
}

static bool execute_one(struct batch *batch, struct job *job, struct sim_error *error)
{
    struct cli_listener *listener = cli_event_trace_listener(&batch->event_trace);
    struct cli_partial *partial = listener != NULL || !batch->is_stored ? NULL : &job->partial;
    if (partial != NULL &&
        !cli_partial_open(partial, batch->database, job->scenario, job->path, batch->is_quiet, error))
        return false;
    return check_resume(batch, job, error) &&
           cli_execute(job->scenario, batch->workers, &batch->team, batch->is_quiet, listener, partial,
                       &batch->signals, &job->result, &job->elapsed_ms, error);
}

static void describe(struct job *job)
{
    job->info = (struct store_run_info){.scenario_path = job->path,
                                        .scenario_text = job->scenario->text,
                                        .overrides = job->scenario->overrides,
                                        .version = BUCKETLAB_VERSION,
                                        .created_unix_s = (int64_t)time(NULL),
                                        .elapsed_ms = job->elapsed_ms};
}

static bool store_all(struct batch *batch, struct sim_error *error)
{
    if (!batch->is_stored)
        return true;
    struct store *store;
    bool is_fine = store_open(batch->database, STORE_WRITE, &store, error);
    for (size_t i = 0; is_fine && i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        describe(job);
        is_fine =
            store_save_run(store, &job->info, job->result, error) && cli_partial_forget(&job->partial, error);
        job->run = job->info.run;
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
    if (count > 0 && batch->signals.caught != 0)
        store_all(batch, &ignored);
    batch->count = all;
}

static bool execute_all(struct batch *batch, struct sim_error *error)
{
    if (!cli_event_trace_begin(&batch->event_trace, error))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        if (execute_one(batch, &batch->jobs[i], error) &&
            tune_horizons_add(batch->jobs[i].scenario, batch->jobs[i].result, error))
            continue;
        /* If the run ended because the event trace could not be written, that is the error. */
        if (batch->event_trace.code == 0 || batch->signals.caught != 0) {
            keep_finished(batch, i);
            return false;
        }
    }
    return cli_event_trace_end(&batch->event_trace, error);
}

static bool draw(const struct batch *batch, struct job *job, struct sim_error *error)
{
    const struct cli_page page = {job->result, &job->info, batch->database, NULL};
    const int64_t last = batch->jobs[batch->count - 1].run;
    if (!batch->is_stored)
        describe(job);
    bool is_fine =
        cli_charts_write(&job->charts, job->result, error) && cli_page_write(&job->charts, &page, error);
    return is_fine || (batch->is_stored && cli_charts_fail(job->run, last, batch->database, error));
}

/* Makes all outputs before the first is printed, so that standard output is empty after an error. */
static bool describe_all(struct batch *batch, struct sim_error *error)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        json_t *object = cli_json_run(job->run, job->result, cli_warnings_json(job->scenario));
        job->text = cli_json_text(object);
        json_decref(object);
        if (job->text == NULL)
            return sim_fail_memory(error);
    }
    return true;
}

static bool print_job(const struct batch *batch, const struct job *job, struct sim_error *error)
{
    if (!cli_print_result(job->result, error))
        return false;
    if (batch->has_charts) {
        printf("\ncharts\n");
        if (!cli_charts_print(&job->charts, "  "))
            printf("  none: %s\n", job->result->strategies[0].settings.is_idgen
                                       ? "identifiers have no partitions"
                                       : "there is nothing to show");
    }
    if (batch->is_stored) {
        printf("\nrun %" PRId64 " in ", job->run);
        cli_print_text(stdout, batch->database);
    } else {
        printf("\nnot stored");
    }
    printf(", seed %" PRIu64 ", digest %016" PRIx64 ", %.1f s\n", job->result->seed, job->result->digest,
           (double)job->elapsed_ms / 1000);
    return true;
}

/* Returns whether all expectations hold; the error names the first scenario with a failed one. */
static bool print_all(struct batch *batch, struct sim_error *error)
{
    bool is_fine = true;
    if (batch->is_json && !describe_all(batch, error))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        const struct job *job = &batch->jobs[i];
        if (batch->is_json) {
            puts(job->text);
        } else {
            fputs(i == 0 ? "" : "\n", stdout);
            if (!print_job(batch, job, error))
                return false;
        }
        is_fine = is_fine && cli_expects_hold(job->result, error);
    }
    return is_fine;
}

static void free_batch(struct batch *batch)
{
    for (size_t i = 0; batch->jobs != NULL && i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        cli_partial_close(&job->partial);
        lab_scenario_destroy(job->scenario);
        lab_result_destroy(job->result);
        cli_charts_free(&job->charts);
        free(job->path);
        free(job->text);
    }
    free(batch->jobs);
    cli_event_trace_free(&batch->event_trace);
}

static int run(const struct cli_args *args, struct sim_error *error)
{
    struct batch batch = {.count = cli_argument_count(args)};
    bool is_fine = check_options(args, error) && read_batch(args, &batch, error);
    int code = (int)error->class;
    if (is_fine) {
        cli_signals_hold(&batch.signals);
        is_fine = execute_all(&batch, error) && store_all(&batch, error) &&
                  cli_event_trace_name(&batch.event_trace, error);
        for (size_t i = 0; is_fine && batch.has_charts && i < batch.count; i++)
            is_fine = draw(&batch, &batch.jobs[i], error);
        code = is_fine ? 0 : cli_exit_code(&batch.signals, error);
        cli_signals_release(&batch.signals);
    }
    if (is_fine && !print_all(&batch, error))
        code = (int)error->class;
    free_batch(&batch);
    return code;
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

static const struct cli_option init_options[] = {CLI_OPTION_QUIET, {NULL, NULL, NULL}};

static bool ends_in_yaml(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static bool fail_starter(int code, const char *path, struct sim_error *error)
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
        return fail_starter(code, path, error);
    code = report_partial_write(&output, cli_starter, cli_starter_size);
    code = code != 0 ? code : report_partial_sync(&output);
    int ended = report_partial_end(&output, code == 0);
    code = code != 0 ? code : ended;
    return code == 0 || fail_starter(code, path, error);
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
    .options = init_options,
    .least = 0,
    .most = 1,
    .run = init,
};
