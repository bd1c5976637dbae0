/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs run on several threads. Finished jobs are stored every half second, in one transaction, so that SQLite
 * costs little, and hardly any work is lost when the program is killed. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/commands/sweep.h"
#include "cli/execute.h"
#include "cli/outputs.h"
#include "cli/sample.h"
#include "cli/text.h"
#include "cli/text_file.h"
#include "cli/warnings.h"
#include "kernel/grow.h"
#include "lab/crew.h"
#include "lab/quantity.h"
#include "store/sweep.h"
#include "sweep_report.h"

#define BATCH_JOBS 64
#define BATCH_MS   500

static const struct cli_option options[] = {{"seed", "N", "use this seed instead of the scenario's"},
                                            {"set", "PATH=VALUE",
                                             "change one field of the scenario, as in\n"
                                             "sweep.seeds=50; repeatable"},
                                            CLI_OPTION_SAMPLE,
                                            {"shard", "I/N", "run only part I of N, as in 1/4"},
                                            {"metric", "NAME",
                                             "show this figure instead of the usual ones;\n"
                                             "repeatable"},
                                            {"csv", "FILE", "write every figure of every point"},
                                            CLI_OPTION_DB,
                                            CLI_OPTION_JOBS,
                                            CLI_OPTION_JSON,
                                            CLI_OPTION_QUIET,
                                            {NULL, NULL, NULL}};

struct sweeper {
    struct lab_sweep *sweep;
    struct store *store;
    struct store_sweep *stored;
    char *path; /* absolute path of the scenario */
    const char *database;
    const char **metrics;
    size_t metric_count;
    uint64_t shard, shards;
    uint32_t workers;
    struct lab_team team;
    bool is_quiet;
    uint64_t *todo; /* jobs to run, in order */
    uint64_t todo_count;
    struct store_job *batch; /* finished jobs that are not stored yet */
    size_t batch_count, batch_capacity;
    int64_t batch_ms; /* when the last batch was stored */
    bool is_broken;   /* a batch could not be stored */
    struct cli_signals signals;
};

static bool read_shard(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    const char *text = cli_value(args, "shard", "1/1"), *slash = strchr(text, '/');
    char first[CLI_NUMBER_SIZE] = "";
    if (slash != NULL && (size_t)(slash - text) < sizeof first)
        snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    if (slash == NULL || lab_quantity_whole(first, &sweeper->shard) != NULL ||
        lab_quantity_whole(slash + 1, &sweeper->shards) != NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --shard %s: not a part; give two whole numbers, as in --shard 1/4", text);
    if (sweeper->shard < 1 || sweeper->shard > sweeper->shards)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --shard %s: no such part; parts are numbered from 1/N to N/N", text);
    return true;
}

static bool read_metrics(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    while (cli_value_at(args, "metric", sweeper->metric_count) != NULL)
        sweeper->metric_count++;
    sweeper->metrics = calloc(sweeper->metric_count + 1, sizeof *sweeper->metrics);
    if (sweeper->metrics == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < sweeper->metric_count; i++) {
        const char *name = sweeper->metrics[i] = cli_value_at(args, "metric", i);
        size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.");
        if (size == 0 || name[size] != '\0' || size >= LAB_METRIC_NAME_SIZE)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: --metric %s: not a metric's name; write it without the label, as in "
                            "partitions.all.rows.max",
                            name);
    }
    return true;
}

static bool read_scenario(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    const char *path = cli_argument(args, 0);
    size_t count, size;
    uint64_t seed = 0;
    char *text = NULL, of_sample[CLI_SAMPLE_TEXT_SIZE];
    struct lab_override *overrides;
    if (!cli_whole(args, "seed", 0, UINT64_MAX, &seed, error) ||
        !cli_overrides(args, &overrides, &count, error))
        return false;
    const uint64_t *own_seed = cli_has(args, "seed") ? &seed : NULL;
    bool is_fine = cli_sample_override(args, path, own_seed, overrides, &count, of_sample, error) &&
                   lab_scenario_text(path, &text, &size, error) &&
                   lab_sweep_parse(path, text, size, overrides, count, own_seed, &sweeper->sweep, error);
    free(text);
    free(overrides);
    if (is_fine && (sweeper->path = realpath(path, NULL)) == NULL)
        sweeper->path = strdup(path);
    return is_fine && (sweeper->path != NULL || sim_fail_memory(error));
}

static bool check_outputs(const struct cli_args *args, const struct sweeper *sweeper, struct sim_error *error)
{
    struct cli_outputs outputs = {0};
    cli_outputs_file(&outputs, "csv", cli_value(args, "csv", NULL));
    cli_outputs_input(&outputs, "the sample", cli_value(args, "sample", NULL));
    cli_outputs_database(&outputs, "db", sweeper->database, true);
    cli_outputs_input(&outputs, "the scenario", sweeper->sweep->path);
    for (size_t i = 0; i < sweeper->sweep->file_count; i++)
        cli_outputs_input(&outputs, "the trace", sweeper->sweep->files[i]);
    bool is_fine = cli_outputs_check(&outputs, error);
    for (size_t i = 0; is_fine && !sweeper->is_quiet && i < sweeper->sweep->file_count; i++)
        cli_warnings_file(stderr, sweeper->sweep->files[i]);
    return is_fine;
}

static bool list_jobs(struct sweeper *sweeper, struct sim_error *error)
{
    uint64_t jobs = sweeper->sweep->job_count, mine = 0;
    sweeper->todo = calloc(jobs, sizeof *sweeper->todo);
    if (sweeper->todo == NULL)
        return sim_fail_memory(error);
    for (uint64_t job = sweeper->shard - 1; job < jobs; mine++) {
        if (!store_sweep_is_done(sweeper->stored, job))
            sweeper->todo[sweeper->todo_count++] = job;
        job = sweeper->shards < jobs - job ? job + sweeper->shards : jobs;
    }
    if (sweeper->is_quiet || sweeper->todo_count == mine)
        return true;
    char done[CLI_NUMBER_SIZE], all[CLI_NUMBER_SIZE];
    cli_grouped(mine - sweeper->todo_count, done);
    cli_grouped(mine, all);
    fprintf(stderr, "sweep: %s of %s runs were done\n", done, all);
    return true;
}

static bool begin(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    sweeper->database = cli_value(args, "db", "bucketlab.db");
    sweeper->is_quiet = cli_has(args, "quiet");
    const char *csv = cli_value(args, "csv", NULL);
    if (sweeper->database[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --db: no file named; write --db bucketlab.db");
    return read_shard(args, sweeper, error) && read_metrics(args, sweeper, error) &&
           cli_jobs(args, &sweeper->workers, error) && cli_team(args, &sweeper->team, error) &&
           (csv == NULL || cli_text_file_check("csv", csv, error)) && read_scenario(args, sweeper, error) &&
           check_outputs(args, sweeper, error) &&
           store_open(sweeper->database, STORE_WRITE, &sweeper->store, error) &&
           store_sweep_open(sweeper->store, sweeper->sweep, sweeper->path, BUCKETLAB_VERSION,
                            &sweeper->stored, error) &&
           list_jobs(sweeper, error);
}

/* The result of a job. */
struct piece {
    struct sweeper *sweeper;
    struct store_job job;
};

static bool run_here(struct piece *piece, struct lab_progress *progress, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    bool is_fine = lab_sweep_scenario(piece->sweeper->sweep, piece->job.job, &scenario, error) &&
                   lab_run(scenario, 1, progress, &piece->job.result, error);
    if (is_fine) {
        piece->job.overrides = scenario->overrides;
        scenario->overrides = NULL;
    }
    lab_scenario_destroy(scenario);
    return is_fine;
}

static bool run_there(struct piece *piece, uint32_t rank, struct lab_progress *progress,
                      struct sim_error *error)
{
    const struct lab_sweep *sweep = piece->sweeper->sweep;
    struct lab_order order = {.path = sweep->path, .text = sweep->text};
    size_t point;
    char *overrides = lab_sweep_overrides(sweep, piece->job.job);
    lab_sweep_job(sweep, piece->job.job, &point, &order.seed);
    order.overrides = overrides;
    bool is_fine = overrides == NULL ? sim_fail_memory(error)
                                     : lab_team_run(&piece->sweeper->team, rank, &order, progress,
                                                    &piece->job.result, &piece->job.overrides, error);
    free(overrides);
    return is_fine;
}

/* Appends the job to an error's text; returns false. */
static bool name_job(const struct sweeper *sweeper, uint64_t job, struct sim_error *error)
{
    struct sim_error inner = *error;
    char settings[200];
    size_t point;
    uint64_t seed;
    lab_sweep_job(sweeper->sweep, job, &point, &seed);
    return sim_fail(
        error, inner.class, "%s (job %" PRIu64 " of the sweep: %s, seed %" PRIu64 ")", inner.text, job + 1,
        lab_sweep_describe(sweeper->sweep->points[point].settings, false, settings, sizeof settings), seed);
}

static bool run_job_far(void *context, uint64_t index, uint32_t rank, struct lab_progress *progress,
                        void **made, struct sim_error *error)
{
    struct sweeper *sweeper = context;
    uint64_t job = sweeper->todo[index];
    /* Another process may work on the same sweep. */
    if (store_sweep_is_done(sweeper->stored, job))
        return true;
    struct piece *piece = calloc(1, sizeof *piece);
    int64_t begin_ms = cli_now_ms();
    if (piece == NULL)
        return sim_fail_memory(error);
    piece->sweeper = sweeper;
    piece->job = (struct store_job){.job = job, .created_unix_s = (int64_t)time(NULL)};
    bool is_fine = (rank == 0 ? run_here(piece, progress, error) : run_there(piece, rank, progress, error)) ||
                   name_job(sweeper, job, error);
    if (is_fine) {
        piece->job.elapsed_ms = cli_passed_ms(begin_ms);
        *made = piece;
    } else {
        free(piece);
    }
    return is_fine;
}

static bool run_job(void *context, uint64_t index, struct lab_progress *progress, void **made,
                    struct sim_error *error)
{
    return run_job_far(context, index, 0, progress, made, error);
}

/* Takes ownership of the piece, even when it fails because memory ran out. */
static bool add_to_batch(struct sweeper *sweeper, struct piece *piece)
{
    if (!sim_grow(&sweeper->batch, &sweeper->batch_capacity, sweeper->batch_count + 1,
                  sizeof *sweeper->batch)) {
        lab_result_destroy(piece->job.result);
        free(piece->job.overrides);
        free(piece);
        return false;
    }
    sweeper->batch[sweeper->batch_count++] = piece->job;
    free(piece);
    return true;
}

static void clear_batch(struct sweeper *sweeper)
{
    for (size_t i = 0; i < sweeper->batch_count; i++) {
        lab_result_destroy(sweeper->batch[i].result);
        free(sweeper->batch[i].overrides);
    }
    sweeper->batch_count = 0;
}

static bool keep_batch(struct sweeper *sweeper, struct sim_error *error)
{
    if (sweeper->batch_count == 0)
        return true;
    if (!store_sweep_keep(sweeper->stored, sweeper->batch, sweeper->batch_count, error)) {
        sweeper->is_broken = true;
        return false;
    }
    clear_batch(sweeper);
    sweeper->batch_ms = cli_now_ms();
    return true;
}

static bool take_job(void *context, uint64_t index, void *made, bool *is_enough, struct sim_error *error)
{
    struct sweeper *sweeper = context;
    (void)index;
    (void)is_enough;
    if (made != NULL && !add_to_batch(sweeper, made))
        return sim_fail_memory(error);
    bool is_due = sweeper->batch_count >= BATCH_JOBS || cli_now_ms() - sweeper->batch_ms >= BATCH_MS;
    return !is_due || keep_batch(sweeper, error);
}

/* Called for a finished job after one that was stopped: it is stored with the last batch. No other thread is
 * running then. */
static void drop_job(void *made)
{
    struct piece *piece = made;
    if (piece != NULL)
        add_to_batch(piece->sweeper, piece);
}

static bool run_jobs(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct sweeper *sweeper = context;
    const struct lab_crew crew = {.context = sweeper,
                                  .count = sweeper->todo_count,
                                  .work = run_job,
                                  .take = take_job,
                                  .drop = drop_job,
                                  .team = &sweeper->team,
                                  .work_far = run_job_far};
    struct sim_error after = {0};
    uint64_t taken;
    sweeper->batch_ms = cli_now_ms();
    bool is_fine = lab_crew_run(&crew, sweeper->workers, progress, &taken, error);
    /* Finished jobs are stored, whatever ended the sweep, unless the database has just failed. */
    bool is_kept = sweeper->is_broken || keep_batch(sweeper, &after);
    clear_batch(sweeper);
    if (is_fine && !is_kept)
        *error = after;
    return is_fine && is_kept;
}

static bool fail_interrupted(struct sweeper *sweeper, struct sim_error *error)
{
    char done[CLI_NUMBER_SIZE], jobs[CLI_NUMBER_SIZE];
    cli_grouped(store_sweep_done(sweeper->stored), done);
    cli_grouped(sweeper->sweep->job_count, jobs);
    return sim_fail(error, SIM_ERROR_CHECK,
                    "interrupted; %s of %s runs are in %s, and the same command resumes with the others",
                    done, jobs, sweeper->database);
}

static bool work_off(struct sweeper *sweeper, struct sim_error *error)
{
    int64_t elapsed_ms;
    const struct cli_task task = {.name = sweeper->sweep->name,
                                  .unit = "runs/s",
                                  .is_quiet = sweeper->is_quiet,
                                  .run = run_jobs,
                                  .context = sweeper};
    bool is_fine = cli_attend(&task, &sweeper->signals, &elapsed_ms, error);
    if (is_fine && sweeper->signals.caught != 0)
        return fail_interrupted(sweeper, error);
    return is_fine;
}

static bool report(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    struct cli_sweep_report report = {.sweep = sweeper->sweep,
                                      .stored = sweeper->stored,
                                      .database = sweeper->database,
                                      .metrics = sweeper->metrics,
                                      .metric_count = sweeper->metric_count,
                                      .is_json = cli_has(args, "json"),
                                      .csv = cli_value(args, "csv", NULL)};
    return store_sweep_digest(sweeper->stored, &report.digest, error) && cli_sweep_report(&report, error);
}

static void end(struct sweeper *sweeper)
{
    clear_batch(sweeper);
    free(sweeper->batch);
    store_sweep_close(sweeper->stored);
    store_close(sweeper->store);
    lab_sweep_destroy(sweeper->sweep);
    free(sweeper->path);
    free(sweeper->metrics);
    free(sweeper->todo);
}

static int sweep(const struct cli_args *args, struct sim_error *error)
{
    struct sweeper sweeper = {.shard = 1, .shards = 1};
    int code = 0;
    bool is_fine = begin(args, &sweeper, error);
    if (is_fine && sweeper.todo_count > 0) {
        cli_signals_hold(&sweeper.signals);
        is_fine = work_off(&sweeper, error);
        code = is_fine ? 0 : cli_exit_code(&sweeper.signals, error);
        cli_signals_release(&sweeper.signals);
    }
    is_fine = is_fine && report(args, &sweeper, error);
    end(&sweeper);
    return is_fine || code != 0 ? code : (int)error->class;
}

const struct cli_command cli_sweep = {
    .name = "sweep",
    .arguments = "SCENARIO",
    .summary = "run a scenario with many settings and seeds; can be resumed",
    .example = "  bucketlab sweep chat.yaml --csv chat.csv\n"
               "  bucketlab sweep chat.yaml --shard 1/4 --db part-1.db\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = sweep,
};
