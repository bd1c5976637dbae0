/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab sweep: a grid of settings and seeds comes in as jobs; the jobs that the database does not have
 * run on several threads and ranks; the means over seeds of each point go out as tables, JSON or CSV.
 * Finished jobs are stored every half second, in one transaction, so that SQLite costs little, and hardly any
 * work is lost when the program is killed. */
#define _XOPEN_SOURCE 700
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/execute.h"
#include "cli/files.h"
#include "cli/scenario.h"
#include "cli/table.h"
#include "cli/text.h"
#include "kernel/grow.h"
#include "lab/crew.h"
#include "lab/metric.h"
#include "lab/quantity.h"
#include "lab/result.h"
#include "lab/run.h"
#include "store/sweep.h"
#include "tune/sample.h"

#define BATCH_JOBS    64
#define BATCH_MS      500
#define CONFIDENCE    0.95
#define LABEL_COLUMNS 16
#define COLUMNS       24 /* the labels, and the metrics */
#define SETTINGS_SIZE 400

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
    uint64_t digest; /* of all jobs */
    bool is_json;
    const char *csv; /* file; NULL: none */
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
    sweeper->path = is_fine ? cli_absolute(path) : NULL;
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

static bool run_job(void *context, uint64_t index, struct lab_progress *progress, void **made,
                    struct sim_error *error)
{
    struct sweeper *sweeper = context;
    struct lab_scenario *scenario = NULL;
    const uint64_t job = sweeper->todo[index];
    /* Another process may work on the same sweep. */
    if (sweeper->stored != NULL && store_sweep_is_done(sweeper->stored, job))
        return true;
    struct piece *piece = calloc(1, sizeof *piece);
    int64_t begin_ms = cli_now_ms();
    if (piece == NULL)
        return sim_fail_memory(error);
    piece->sweeper = sweeper;
    piece->job = (struct store_job){.job = job, .created_unix_s = (int64_t)time(NULL)};
    bool is_fine = (lab_sweep_scenario(sweeper->sweep, job, &scenario, error) &&
                    lab_run(scenario, 1, progress, &piece->job.result, error)) ||
                   name_job(sweeper, job, error);
    if (is_fine) {
        piece->job.overrides = scenario->overrides;
        scenario->overrides = NULL;
        piece->job.elapsed_ms = cli_passed_ms(begin_ms);
        *made = piece;
    } else {
        free(piece);
    }
    lab_scenario_destroy(scenario);
    return is_fine;
}

static void clear_piece(struct piece *piece)
{
    lab_result_destroy(piece->job.result);
    free(piece->job.overrides);
    free(piece);
}

/* The result of a job on another rank; NULL: it was done. */
static void archive_piece(void *context, void **made, struct sim_archive *archive)
{
    struct piece *piece = *made;
    bool is_there = piece != NULL;
    sim_archive_bool(archive, &is_there);
    if (!is_there)
        return;
    if (archive->is_loading) {
        *made = piece = sim_archive_allocate(archive, 1, sizeof *piece, 1);
        if (piece == NULL)
            return;
        piece->sweeper = context;
        piece->job.result = sim_archive_allocate(archive, 1, sizeof *piece->job.result, 1);
    }
    sim_archive_u64(archive, &piece->job.job);
    sim_archive_i64(archive, &piece->job.created_unix_s);
    sim_archive_i64(archive, &piece->job.elapsed_ms);
    sim_archive_text(archive, &piece->job.overrides);
    if (piece->job.result != NULL)
        lab_result_archive(piece->job.result, archive);
    if (!sim_archive_is_fine(archive) && archive->is_loading) {
        clear_piece(piece);
        *made = NULL;
    }
}

/* The jobs of a sweep, for another rank. */
static void archive_jobs(void *context, struct sim_archive *archive)
{
    struct sweeper *sweeper = context;
    size_t count = sweeper->todo_count;
    lab_sweep_archive(sweeper->sweep, archive);
    sweeper->todo =
        sim_archive_array(archive, sweeper->todo, sizeof *sweeper->todo, &count, LAB_SWEEP_JOBS_MAX);
    for (size_t i = 0; i < count && sim_archive_is_fine(archive); i++)
        sim_archive_check(archive, sweeper->todo[i] < sweeper->sweep->job_count);
    sweeper->todo_count = count;
}

/* Takes ownership of the piece, even when it fails because memory ran out. */
static bool add_to_batch(struct sweeper *sweeper, struct piece *piece)
{
    if (!sim_grow(&sweeper->batch, &sweeper->batch_capacity, sweeper->batch_count + 1,
                  sizeof *sweeper->batch)) {
        clear_piece(piece);
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
 * running then. On another rank, called for each job that was handed over. */
static void drop_job(void *made)
{
    struct piece *piece = made;
    if (piece->sweeper->stored != NULL)
        add_to_batch(piece->sweeper, piece);
    else
        clear_piece(piece);
}

static bool run_jobs(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct sweeper *sweeper = context;
    struct lab_order order = {.service = LAB_SERVICE_JOBS};
    const struct lab_crew crew = {.context = sweeper,
                                  .count = sweeper->todo_count,
                                  .work = run_job,
                                  .take = take_job,
                                  .drop = drop_job,
                                  .team = &sweeper->team,
                                  .order = &order,
                                  .more = archive_jobs,
                                  .archive = archive_piece};
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

bool cli_sweep_serve(const struct lab_team *team, const struct lab_order *order, struct sim_archive *archive,
                     struct sim_error *error)
{
    struct sweeper sweeper = {.team = *team};
    struct lab_sweep *sweep = sweeper.sweep = calloc(1, sizeof *sweep);
    (void)order;
    if (sweep == NULL)
        return sim_fail_memory(error);
    archive_jobs(&sweeper, archive);
    sweeper.workers = lab_team_threads(team, ranks_own(team->ranks));
    bool is_fine = sim_archive_finish_load(archive, error) && run_jobs(&sweeper, NULL, error);
    lab_sweep_destroy(sweep);
    free(sweeper.todo);
    return is_fine;
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

/* --- the report */

/* One metric of one strategy over the seeds of a point. */
struct figure {
    char *label;
    char name[LAB_METRIC_NAME_SIZE];
    struct tune_sample sample;
};

/* The current point's sums, and the outputs. */
struct sum {
    const struct sweeper *sweeper;
    size_t point;
    struct figure *figures; /* metrics by strategy, in order */
    size_t count, capacity, next;
    uint64_t *failed; /* by point: number of jobs with a failed expectation */
    uint64_t *done;   /* by point */
    struct cli_column columns[COLUMNS];
    size_t column_count; /* 0: not chosen yet */
    json_t *points;      /* with --json */
    FILE *csv;           /* with --csv: a stream in memory */
};

struct headline {
    const char *name, *title;
};

/* The first few of these metrics that a sweep has are shown. */
static const struct headline headlines[] = {
    {"partitions.all.rows.p99", "rows p99"},
    {"partitions.over_limit", "over limit"},
    {"writes.extra_ops_per_1000_rows", "ops per 1000"},
    {"reads.partitions_per_read.mean", "parts per read"},
    {"ids.per_second", "ids per s"},
    {"ids.lost", "ids lost"},
    {"latency.lease.p99", "lease p99 ms"},
    {"locks.busy", "locks busy"},
};
#define HEADLINE_COUNT (sizeof headlines / sizeof headlines[0])

static void count_done(struct sum *sum)
{
    const struct lab_sweep *sweep = sum->sweeper->sweep;
    for (uint64_t job = 0; job < sweep->job_count; job++) {
        size_t point;
        uint64_t seed;
        lab_sweep_job(sweep, job, &point, &seed);
        sum->done[point] += store_sweep_is_done(sum->sweeper->stored, job);
    }
}

static bool begin_sum(struct sum *sum, struct sim_error *error)
{
    const struct sweeper *sweeper = sum->sweeper;
    sum->failed = calloc(sweeper->sweep->point_count, sizeof *sum->failed);
    sum->done = calloc(sweeper->sweep->point_count, sizeof *sum->done);
    if (sweeper->is_json)
        sum->points = json_array();
    if (sum->failed == NULL || sum->done == NULL || (sweeper->is_json && sum->points == NULL))
        return sim_fail_memory(error);
    count_done(sum);
    return true;
}

struct seen {
    const struct sweeper *sweeper;
    bool *is_seen;
    size_t left;
};

static bool note_seen(void *context, uint64_t job, const char *label, const char *name, double value,
                      struct sim_error *error)
{
    struct seen *seen = context;
    (void)job, (void)label, (void)value, (void)error;
    for (size_t i = 0; i < seen->sweeper->metric_count; i++) {
        if (!seen->is_seen[i] && strcmp(seen->sweeper->metrics[i], name) == 0) {
            seen->is_seen[i] = true;
            seen->left--;
        }
    }
    return seen->left > 0;
}

static bool pass_failed(void *context, uint64_t job, struct sim_error *error)
{
    (void)context, (void)job, (void)error;
    return true;
}

/* The metrics to read, as a JSON list. */
static char *wanted_names(const struct sweeper *sweeper, struct sim_error *error)
{
    json_t *list = json_array();
    size_t count = sweeper->metric_count > 0 ? sweeper->metric_count : HEADLINE_COUNT;
    for (size_t i = 0; i < count; i++)
        list = cli_json_append(
            list, json_string(sweeper->metric_count > 0 ? sweeper->metrics[i] : headlines[i].name));
    char *text = list == NULL ? NULL : cli_json_text(list);
    json_decref(list);
    if (text == NULL)
        sim_fail_memory(error);
    return text;
}

/* Fails for a metric that no run has, before anything is printed. */
static bool check_metrics(const struct sweeper *sweeper, struct sim_error *error)
{
    struct seen seen = {sweeper, calloc(sweeper->metric_count + 1, sizeof(bool)), sweeper->metric_count};
    const struct store_sweep_visitor visitor = {&seen, note_seen, pass_failed};
    struct sim_error end = {.class = SIM_ERROR_NONE};
    char *names = NULL;
    bool is_fine = seen.is_seen != NULL || sim_fail_memory(error);
    if (is_fine && sweeper->metric_count > 0 && store_sweep_done(sweeper->stored) > 0) {
        names = wanted_names(sweeper, error);
        is_fine = names != NULL;
        /* The visit ends early, without an error, when all metrics were seen. */
        if (is_fine && !store_sweep_visit(sweeper->stored, names, &visitor, &end) &&
            end.class != SIM_ERROR_NONE) {
            *error = end;
            is_fine = false;
        }
        for (size_t i = 0; is_fine && i < sweeper->metric_count; i++) {
            if (!seen.is_seen[i])
                is_fine =
                    sim_fail(error, SIM_ERROR_INPUT,
                             "bucketlab: no run of this sweep has the metric '%s'; 'bucketlab show last "
                             "--json' names those of a run",
                             sweeper->metrics[i]);
        }
    }
    free(names);
    free(seen.is_seen);
    return is_fine;
}

static bool note_failed(void *context, uint64_t job, struct sim_error *error)
{
    struct sum *sum = context;
    size_t point;
    uint64_t seed;
    (void)error;
    lab_sweep_job(sum->sweeper->sweep, job, &point, &seed);
    sum->failed[point]++;
    return true;
}

/* Finds or makes a metric. Runs of a point have nearly the same metrics in the same order, so it is nearly
 * always the one after the last one. A metric that earlier runs did not have is added to those of its
 * strategy. */
static struct figure *figure_of(struct sum *sum, const char *label, const char *name)
{
    for (size_t i = 0; i < sum->count; i++) {
        struct figure *figure = &sum->figures[(sum->next + i) % sum->count];
        if (strcmp(figure->name, name) == 0 && strcmp(figure->label, label) == 0) {
            sum->next = (size_t)(figure - sum->figures) + 1;
            return figure;
        }
    }
    if (!sim_grow(&sum->figures, &sum->capacity, sum->count + 1, sizeof *sum->figures))
        return NULL;
    char *copy = strdup(label);
    if (copy == NULL)
        return NULL;
    size_t at = sum->count;
    while (at > 0 && strcmp(sum->figures[at - 1].label, label) != 0)
        at--;
    at = at > 0 ? at : sum->count;
    struct figure *figure = &sum->figures[at];
    memmove(figure + 1, figure, (sum->count - at) * sizeof *figure);
    *figure = (struct figure){.label = copy};
    snprintf(figure->name, sizeof figure->name, "%s", name);
    sum->count++;
    sum->next = at + 1;
    return figure;
}

static json_t *settings_as_json(const char *settings)
{
    json_t *object = json_object();
    for (const char *line = settings; object != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n"), path = strcspn(line, "=");
        char *name = strndup(line, path);
        object = cli_json_with(object, name, json_stringn(line + path + 1, length - path - 1));
        free(name);
        line += length + 1;
    }
    return object;
}

/* The strategies of the current point, in order, each with its figures. */
static json_t *strategies_as_json(const struct sum *sum)
{
    json_t *list = json_array();
    for (size_t i = 0, next; i < sum->count; i = next) {
        const char *label = sum->figures[i].label;
        json_t *metrics = json_object();
        for (next = i; next < sum->count && strcmp(sum->figures[next].label, label) == 0; next++) {
            const struct tune_sample *sample = &sum->figures[next].sample;
            const struct tune_interval interval = tune_sample_mean_interval(sample, CONFIDENCE);
            if (sample->count > 0)
                metrics = cli_json_with(metrics, sum->figures[next].name,
                                        CLI_OBJECT({"mean", cli_json_number(sample->mean)},
                                                   {"stddev", cli_json_number(tune_sample_stddev(sample))},
                                                   {"low", cli_json_number(interval.low)},
                                                   {"high", cli_json_number(interval.high)},
                                                   {"count", cli_json_whole(sample->count)}));
        }
        list = cli_json_append(list, CLI_OBJECT({"label", json_string(label)}, {"metrics", metrics}));
    }
    return list;
}

static json_t *point_as_json(const struct sum *sum)
{
    const struct lab_sweep_point *point = &sum->sweeper->sweep->points[sum->point];
    return CLI_OBJECT(
        {"point", json_integer((json_int_t)sum->point + 1)}, {"settings", settings_as_json(point->settings)},
        {"seeds", cli_json_whole(point->seed_count)}, {"done", cli_json_whole(sum->done[sum->point])},
        {"expects_failed", cli_json_whole(sum->failed[sum->point])}, {"strategies", strategies_as_json(sum)});
}

static void write_csv(const struct sum *sum, const json_t *point)
{
    static const char *const names[] = {"count", "mean", "stddev", "low", "high"};
    size_t index;
    json_t *strategy, *figure;
    const char *name;
    json_array_foreach(json_object_get(point, "strategies"), index, strategy)
    {
        json_object_foreach(json_object_get(strategy, "metrics"), name, figure)
        {
            fprintf(sum->csv, "%zu,", sum->point + 1);
            cli_csv_text(sum->csv, sum->sweeper->sweep->points[sum->point].settings);
            fputc(',', sum->csv);
            cli_csv_value(sum->csv, json_object_get(strategy, "label"));
            fprintf(sum->csv, ",%s", name);
            for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                fputc(',', sum->csv);
                cli_csv_value(sum->csv, json_object_get(figure, names[i]));
            }
            fputc('\n', sum->csv);
        }
    }
}

/* Makes the columns: the requested metrics, or the first few headlines that the first point has. */
static void choose_columns(struct sum *sum, const json_t *rows)
{
    const struct sweeper *sweeper = sum->sweeper;
    const size_t most = sweeper->metric_count > 0 ? sweeper->metric_count : HEADLINE_COUNT;
    sum->columns[sum->column_count++] = (struct cli_column){"strategy", "label", CLI_LABEL, .group = NULL};
    for (size_t i = 0; i < most && sum->column_count < COLUMNS; i++) {
        const char *name = sweeper->metric_count > 0 ? sweeper->metrics[i] : headlines[i].name;
        struct cli_column *column = &sum->columns[sum->column_count];
        const struct lab_metric_row *row = lab_metric_row_of(name);
        assert(row != NULL || sweeper->metric_count > 0);
        *column = (struct cli_column){name, name, CLI_MEAN, .group = NULL};
        for (size_t j = 0; j < HEADLINE_COUNT; j++) {
            if (strcmp(headlines[j].name, name) == 0)
                column->title = headlines[j].title;
        }
        if (column->title == name && row != NULL && row->unit == LAB_METRIC_BYTES)
            column->group = "bytes";
        if (column->title == name && row != NULL && row->unit == LAB_METRIC_MS)
            column->group = "ms";
        const struct cli_table table = {.rows = rows, .columns = sum->columns, .count = 1};
        sum->column_count += sweeper->metric_count > 0 || cli_table_shows(&table, column);
    }
}

static void print_point(struct sum *sum, const json_t *point)
{
    const struct sweeper *sweeper = sum->sweeper;
    const json_t *rows = json_object_get(point, "strategies");
    char settings[SETTINGS_SIZE], head[64];
    size_t column = (size_t)printf("\npoint %zu:", sum->point + 1) - 1;
    lab_sweep_describe(sweeper->sweep->points[sum->point].settings, true, settings, sizeof settings);
    column = cli_print_wrapped(settings, column);
    uint64_t failed = sum->failed[sum->point];
    snprintf(head, sizeof head, "(%" PRIu64 " of %" PRIu64 " runs%s", sum->done[sum->point],
             sweeper->sweep->points[sum->point].seed_count, failed > 0 ? ";" : ")");
    column = cli_print_wrapped(head, column);
    if (failed > 0) {
        snprintf(head, sizeof head, "expectations failed in %" PRIu64 ")", failed);
        cli_print_wrapped(head, column);
    }
    putchar('\n');
    if (sum->count == 0)
        return;
    if (sum->column_count == 0)
        choose_columns(sum, rows);
    cli_table_print(stdout, &(struct cli_table){.rows = rows,
                                                .columns = sum->columns,
                                                .count = sum->column_count,
                                                .lead = "  ",
                                                .gap = 2,
                                                .label_least = LABEL_COLUMNS,
                                                .label_most = LABEL_COLUMNS});
}

static bool end_point(struct sum *sum, struct sim_error *error)
{
    json_t *point = point_as_json(sum);
    if (point == NULL)
        return sim_fail_memory(error);
    if (sum->csv != NULL)
        write_csv(sum, point);
    if (!sum->sweeper->is_json)
        print_point(sum, point);
    else
        sum->points = cli_json_append(sum->points, json_incref(point));
    json_decref(point);
    return !sum->sweeper->is_json || sum->points != NULL || sim_fail_memory(error);
}

/* Finishes the points before `until`, which are complete. */
static bool end_points(struct sum *sum, size_t until, struct sim_error *error)
{
    for (; sum->point < until; sum->point++) {
        if (!end_point(sum, error))
            return false;
        for (size_t i = 0; i < sum->count; i++)
            free(sum->figures[i].label);
        sum->count = sum->next = 0;
    }
    return true;
}

static bool add_metric(void *context, uint64_t job, const char *label, const char *name, double value,
                       struct sim_error *error)
{
    struct sum *sum = context;
    size_t point;
    uint64_t seed;
    lab_sweep_job(sum->sweeper->sweep, job, &point, &seed);
    if (!end_points(sum, point, error))
        return false;
    struct figure *figure = figure_of(sum, label, name);
    if (figure == NULL)
        return sim_fail_memory(error);
    if (isfinite(value))
        tune_sample_add(&figure->sample, value);
    return true;
}

static void print_head(const struct sweeper *sweeper)
{
    const struct lab_sweep *sweep = sweeper->sweep;
    char jobs[CLI_NUMBER_SIZE], done[CLI_NUMBER_SIZE];
    cli_grouped(sweep->job_count, jobs);
    cli_grouped(store_sweep_done(sweeper->stored), done);
    cli_print_text(stdout, sweep->name);
    printf(": %zu point%s, %s of %s runs done\n", sweep->point_count, sweep->point_count == 1 ? "" : "s",
           done, jobs);
    printf("means over seeds +- half the width of their 95 %% interval\n");
}

/* Prints which metrics the column headings mean; docs/metrics.md explains the metrics. */
static void print_legend(const struct sum *sum)
{
    const char *separator = "\n";
    for (size_t i = 1; i < sum->column_count; i++) {
        if (sum->columns[i].title == sum->columns[i].name)
            continue;
        printf("%s%s: %s\n", separator, sum->columns[i].title, sum->columns[i].name);
        separator = "";
    }
}

static json_t *as_json(const struct sweeper *sweeper, json_t *points)
{
    return CLI_OBJECT({"sweep", json_integer(store_sweep_number(sweeper->stored))},
                      {"scenario", json_string(sweeper->sweep->name)},
                      {"identity", cli_json_digest(sweeper->sweep->identity)},
                      {"digest", cli_json_digest(sweeper->digest)},
                      {"jobs", cli_json_whole(sweeper->sweep->job_count)},
                      {"done", cli_json_whole(store_sweep_done(sweeper->stored))}, {"points", points});
}

static bool print_report(const struct sweeper *sweeper, struct sim_error *error)
{
    struct sum sum = {.sweeper = sweeper};
    const struct store_sweep_visitor visitor = {&sum, add_metric, note_failed};
    char *csv_text = NULL, *names = NULL;
    size_t csv_size = 0;
    bool is_fine = begin_sum(&sum, error) && check_metrics(sweeper, error);
    if (is_fine && sweeper->csv != NULL) {
        sum.csv = open_memstream(&csv_text, &csv_size);
        is_fine = (sum.csv != NULL &&
                   fputs("point,settings,label,metric,count,mean,stddev,low,high\n", sum.csv) >= 0) ||
                  sim_fail_memory(error);
    }
    if (is_fine && !sweeper->is_json)
        print_head(sweeper);
    bool is_all = sweeper->metric_count == 0 && (sweeper->is_json || sweeper->csv != NULL);
    is_fine = is_fine && (is_all || (names = wanted_names(sweeper, error)) != NULL) &&
              store_sweep_visit(sweeper->stored, names, &visitor, error) &&
              end_points(&sum, sweeper->sweep->point_count, error);
    if (sum.csv != NULL) {
        bool is_whole = !ferror(sum.csv);
        is_whole = fclose(sum.csv) == 0 && is_whole;
        is_fine = is_fine && (is_whole || sim_fail_memory(error)) &&
                  cli_text_file_write(sweeper->csv, csv_text, csv_size, error);
    }
    if (is_fine && sweeper->is_json) {
        is_fine = cli_json_print(as_json(sweeper, sum.points), error);
        sum.points = NULL;
    } else if (is_fine) {
        print_legend(&sum);
        printf("\nsweep %" PRId64 " in ", store_sweep_number(sweeper->stored));
        cli_print_text(stdout, sweeper->database);
        printf(", digest %016" PRIx64 "\n", sweeper->digest);
    }
    json_decref(sum.points);
    for (size_t i = 0; i < sum.count; i++)
        free(sum.figures[i].label);
    free(sum.figures);
    free(sum.failed);
    free(sum.done);
    free(csv_text);
    free(names);
    return is_fine;
}

static bool report(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    sweeper->is_json = cli_has(args, "json");
    sweeper->csv = cli_value(args, "csv", NULL);
    return store_sweep_digest(sweeper->stored, &sweeper->digest, error) && print_report(sweeper, error);
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
