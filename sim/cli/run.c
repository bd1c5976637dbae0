/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In this order, so that nothing is left half done: everything is checked, everything is run, everything is
 * stored, everything is drawn, everything is printed. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "execute.h"
#include "json.h"
#include "page.h"
#include "pictures.h"
#include "store/store.h"
#include "story.h"
#include "table.h"
#include "warnings.h"

static const struct cli_option options[] = {{"seed", "N", "in place of the scenario's seed"},
                                            {"set", "PATH=VALUE",
                                             "change one field of the scenario, as in\n"
                                             "strategies.count.rows=5000; repeatable"},
                                            CLI_OPTION_DB,
                                            CLI_OPTION_OUT,
                                            CLI_OPTION_FORMAT,
                                            {"no-charts", NULL, "draw no pictures"},
                                            {"trace-events", "FILE",
                                             "write what happens between agents and cluster,\n"
                                             "a line an event; - stands for stdout"},
                                            {"key", "K", "in --trace-events, of this key alone"},
                                            CLI_OPTION_JOBS,
                                            CLI_OPTION_JSON,
                                            CLI_OPTION_QUIET,
                                            {NULL, NULL, NULL}};

static int run(const struct cli_args *args, struct sim_error *error);

const struct cli_command cli_run = {
    .name = "run",
    .arguments = "SCENARIO...",
    .summary = "try all strategies of a scenario on the same rows; store, draw",
    .example = "  bucketlab run chat.yaml\n"
               "  bucketlab run chat.yaml --set arrivals.rate=5/s --format png,pdf\n",
    .options = options,
    .least = 1,
    .most = CLI_ANY_NUMBER,
    .run = run,
};

struct job {
    struct lab_scenario *scenario;
    char *path; /* absolute, so that the stored run can be run again from anywhere */
    struct lab_result *result;
    int64_t run, elapsed_ms;
    struct store_run_info info; /* as it was stored */
    struct cli_pictures pictures;
};

struct batch {
    struct job *jobs;
    size_t count;
    const char *database;
    uint32_t workers;
    bool is_quiet, is_json, has_charts;
    struct cli_pictures pictures; /* as asked for; each job has a copy */
    struct cli_story story;
    struct cli_signals signals;
};

static bool read_batch(const struct cli_args *args, struct batch *batch, struct sim_error *error);
static bool load_scenarios(const struct cli_args *args, struct batch *batch, struct sim_error *error);
static bool check_names(const struct batch *batch, struct sim_error *error);
static bool check_database(const char *path, struct sim_error *error);
static bool execute_all(struct batch *batch, struct sim_error *error);
static bool store_all(struct batch *batch, struct sim_error *error);
static bool draw(const struct batch *batch, struct job *job, struct sim_error *error);
static bool print_all(const struct batch *batch, struct sim_error *error);
static bool print_job(const struct batch *batch, const struct job *job, struct sim_error *error);
static void free_batch(struct batch *batch);

static int run(const struct cli_args *args, struct sim_error *error)
{
    struct batch batch = {.count = cli_argument_count(args)};
    bool is_fine = read_batch(args, &batch, error);
    int code = (int)error->class;
    if (is_fine) {
        cli_signals_hold(&batch.signals);
        is_fine =
            execute_all(&batch, error) && store_all(&batch, error) && cli_story_name(&batch.story, error);
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

static bool read_batch(const struct cli_args *args, struct batch *batch, struct sim_error *error)
{
    batch->jobs = calloc(batch->count, sizeof *batch->jobs);
    if (batch->jobs == NULL)
        return sim_fail_memory(error);
    batch->database = cli_value(args, "db", "bucketlab.db");
    batch->is_quiet = cli_has(args, "quiet");
    batch->is_json = cli_has(args, "json");
    batch->has_charts = !cli_has(args, "no-charts");
    if (!cli_jobs(args, &batch->workers, error) || !cli_pictures_read(args, &batch->pictures, error) ||
        !load_scenarios(args, batch, error) || !check_names(batch, error) ||
        !cli_story_read(args, batch->jobs[0].scenario, batch->count, batch->database, &batch->story, error))
        return false;
    for (size_t i = 0; i < batch->count; i++)
        batch->jobs[i].pictures = batch->pictures;
    if (!check_database(batch->database, error))
        return false;
    for (size_t i = 0; i < batch->count && !batch->is_quiet; i++) {
        if (!cli_warnings_print(stderr, batch->jobs[i].scenario, error))
            return false;
    }
    return true;
}

static bool load_scenarios(const struct cli_args *args, struct batch *batch, struct sim_error *error)
{
    uint64_t seed = 0;
    struct lab_override *overrides;
    size_t override_count;
    if (!cli_whole(args, "seed", 0, UINT64_MAX, &seed, error) ||
        !cli_overrides(args, &overrides, &override_count, error))
        return false;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < batch->count; i++) {
        const char *path = cli_argument(args, i);
        struct job *job = &batch->jobs[i];
        is_fine = lab_scenario_load(path, overrides, override_count, cli_has(args, "seed") ? &seed : NULL,
                                    &job->scenario, error);
        if (is_fine && (job->path = realpath(path, NULL)) == NULL)
            job->path = strdup(path);
        if (is_fine && job->path == NULL)
            is_fine = sim_fail_memory(error);
    }
    free(overrides);
    return is_fine;
}

/* Pictures are named after the scenario's name. */
static bool check_names(const struct batch *batch, struct sim_error *error)
{
    for (size_t i = 0; batch->has_charts && i < batch->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct lab_scenario *one = batch->jobs[j].scenario, *other = batch->jobs[i].scenario;
            if (strcmp(one->name, other->name) == 0)
                return sim_fail(error, SIM_ERROR_INPUT,
                                "%s: the name '%s' is that of %s too, and their pictures would be one file; "
                                "run them one by one with --out, or with --no-charts",
                                other->path, other->name, one->path);
        }
    }
    return true;
}

/* Opened and closed, so that a bad one is found before the work. One that is missing is not made by this. */
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

static bool execute_all(struct batch *batch, struct sim_error *error)
{
    if (!cli_story_begin(&batch->story, error))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        bool is_fine =
            cli_execute(job->scenario, batch->workers, batch->is_quiet, cli_story_listener(&batch->story),
                        &batch->signals, &job->result, &job->elapsed_ms, error);
        /* A story that could not be written on ends its run: then that is the error. */
        if (!is_fine && (batch->story.code == 0 || batch->signals.caught != 0))
            return false;
    }
    return cli_story_end(&batch->story, error);
}

static bool store_all(struct batch *batch, struct sim_error *error)
{
    struct store *store;
    if (!store_open(batch->database, STORE_WRITE, &store, error))
        return false;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        job->info = (struct store_run_info){.scenario_path = job->path,
                                            .scenario_text = job->scenario->text,
                                            .overrides = job->scenario->overrides,
                                            .version = BUCKETLAB_VERSION,
                                            .created_unix_s = (int64_t)time(NULL),
                                            .elapsed_ms = job->elapsed_ms};
        is_fine = store_save_run(store, &job->info, job->result, error);
        job->run = job->info.run;
    }
    store_close(store);
    return is_fine;
}

static bool draw(const struct batch *batch, struct job *job, struct sim_error *error)
{
    const struct cli_page page = {job->result, &job->info, batch->database, NULL};
    return cli_pictures_write(&job->pictures, job->result, error) &&
           cli_page_write(&job->pictures, &page, error);
}

/* Returns whether all expectations hold; the error tells of the first scenario of which they do not. */
static bool print_all(const struct batch *batch, struct sim_error *error)
{
    bool is_fine = true;
    for (size_t i = 0; i < batch->count; i++) {
        const struct job *job = &batch->jobs[i];
        if (batch->is_json) {
            json_t *warnings = cli_warnings_json(job->scenario);
            if (!cli_json_print(cli_json_run(job->run, job->result, warnings), error))
                return false;
        } else {
            fputs(i == 0 ? "" : "\n", stdout);
            if (!print_job(batch, job, error))
                return false;
        }
        is_fine = is_fine && cli_expects_hold(job->result, error);
    }
    return is_fine;
}

static bool print_job(const struct batch *batch, const struct job *job, struct sim_error *error)
{
    if (!cli_print_result(job->result, error))
        return false;
    if (batch->has_charts) {
        printf("\npictures\n");
        if (!cli_pictures_print(&job->pictures, "  "))
            printf("  none: %s\n", job->result->strategies[0].is_idgen ? "identifiers have no partitions"
                                                                       : "there is nothing to show");
    }
    printf("\nrun %" PRId64 " in ", job->run);
    cli_print_text(stdout, batch->database);
    printf(", seed %" PRIu64 ", digest %016" PRIx64 ", %.1f s\n", job->result->seed, job->result->digest,
           (double)job->elapsed_ms / 1000);
    return true;
}

static void free_batch(struct batch *batch)
{
    for (size_t i = 0; batch->jobs != NULL && i < batch->count; i++) {
        struct job *job = &batch->jobs[i];
        lab_scenario_destroy(job->scenario);
        lab_result_destroy(job->result);
        cli_pictures_free(&job->pictures);
        free(job->path);
    }
    free(batch->jobs);
    cli_story_free(&batch->story);
}
