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

#include "cli/base.h"
#include "cli/run.h"
#include "lab/metric.h"
#include "lab/quantity.h"
#include "lab/result.h"
#include "lab/run.h"
#include "lab/team.h"
#include "store/store.h"
#include "tune/sample.h"

#define BATCH_JOBS    64
#define BATCH_MS      500
#define CONFIDENCE    0.95
#define LABEL_COLUMNS 16
#define COLUMNS       24 /* the labels, and the metrics */
#define SETTINGS_SIZE 400

static const struct cli_option options[] = {{CLI_OPTION_SEED},
                                            {"set", "PATH=VALUE",
                                             "change one field of the scenario, as in\n"
                                             "sweep.seeds=50; repeatable"},
                                            {CLI_OPTION_SAMPLE},
                                            {"shard", "I/N", "run only part I of N, as in 1/4"},
                                            {"metric", "NAME",
                                             "show this figure instead of the usual ones;\n"
                                             "repeatable"},
                                            {"csv", "FILE", "write every figure of every point"},
                                            {CLI_OPTION_DB},
                                            {CLI_OPTION_JOBS},
                                            {NULL, NULL, NULL}};

struct sweeper {
    struct lab_sweep *sweep;
    struct store *store;
    struct store_sweep *stored;
    const struct cli_args *args; /* NULL on another rank */
    char *path;                  /* absolute path of the scenario */
    const char **metrics;        /* of --metric, or the headlines */
    size_t metric_count;
    bool is_chosen; /* by --metric */
    uint64_t shard, shards;
    uint32_t workers;
    struct lab_team team;
    uint64_t *todo; /* jobs to run, in order */
    uint64_t todo_count;
    GArray *batch;    /* finished jobs that are not stored yet: struct store_job */
    int64_t batch_ms; /* when the last batch was stored */
    bool is_broken;   /* a batch could not be stored */
    uint64_t digest;  /* of all jobs */
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

static bool read_shard(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    const char *text = cli_value(args, "shard", "1/1");
    if (!cli_pair(text, "/", &sweeper->shard, &sweeper->shards))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --shard %s: not a part; give two whole numbers, as in --shard 1/4", text);
    if (sweeper->shard < 1 || sweeper->shard > sweeper->shards)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --shard %s: no such part; parts are numbered from 1/N to N/N", text);
    return true;
}

static bool read_metrics(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    sweeper->is_chosen = cli_has(args, "metric");
    sweeper->metrics = g_new0(const char *, args->given_count + HEADLINE_COUNT);
    for (size_t i = 0; i < HEADLINE_COUNT && !sweeper->is_chosen; i++)
        sweeper->metrics[sweeper->metric_count++] = headlines[i].name;
    for (const char *name; (name = cli_value_at(args, "metric", sweeper->metric_count)) != NULL;) {
        size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.");
        if (size == 0 || name[size] != '\0' || size >= LAB_METRIC_NAME_SIZE)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: --metric %s: not a metric's name; write it without the label, as in "
                            "partitions.all.rows.max",
                            name);
        sweeper->metrics[sweeper->metric_count++] = name;
    }
    return true;
}

static bool read_scenario(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    const char *path = cli_argument(args, 0);
    struct cli_changes changes;
    size_t size;
    char *text = NULL;
    bool is_fine = cli_changes_read(args, path, &changes, error) &&
                   lab_scenario_text(path, &text, &size, error) &&
                   lab_sweep_parse(path, text, size, changes.overrides, changes.count, changes.seed,
                                   &sweeper->sweep, error);
    free(text);
    g_free(changes.overrides);
    sweeper->path = cli_absolute(path);
    return is_fine;
}

static bool check_outputs(const struct cli_args *args, const struct sweeper *sweeper, struct sim_error *error)
{
    struct cli_outputs outputs = {NULL};
    cli_outputs_file(&outputs, "csv", cli_value(args, "csv", NULL));
    cli_outputs_input(&outputs, "the sample", cli_value(args, "sample", NULL));
    cli_outputs_database(&outputs, "db", args->database, true);
    cli_outputs_input(&outputs, "the scenario", sweeper->sweep->path);
    g_auto(GStrv) files = g_strsplit(sweeper->sweep->files, "\n", -1);
    for (size_t i = 0; files[i] != NULL && files[i][0] != '\0'; i++)
        cli_outputs_input(&outputs, "the trace", files[i]);
    bool is_fine = cli_outputs_check(&outputs, error);
    for (size_t i = 0; is_fine && !args->is_quiet && files[i] != NULL && files[i][0] != '\0'; i++)
        cli_warnings_file(stderr, files[i]);
    return is_fine;
}

static void list_jobs(struct sweeper *sweeper)
{
    uint64_t jobs = sweeper->sweep->job_count, mine = 0;
    sweeper->todo = g_new0(uint64_t, jobs);
    for (uint64_t job = sweeper->shard - 1; job < jobs; mine++) {
        if (!store_sweep_is_done(sweeper->stored, job))
            sweeper->todo[sweeper->todo_count++] = job;
        job = sweeper->shards < jobs - job ? job + sweeper->shards : jobs;
    }
    if (sweeper->args->is_quiet || sweeper->todo_count == mine)
        return;
    char done[CLI_NUMBER_SIZE], all[CLI_NUMBER_SIZE];
    cli_grouped(mine - sweeper->todo_count, done);
    cli_grouped(mine, all);
    fprintf(stderr, "sweep: %s of %s runs were done\n", done, all);
}

static bool begin(const struct cli_args *args, struct sweeper *sweeper, struct sim_error *error)
{
    return read_shard(args, sweeper, error) && read_metrics(args, sweeper, error) &&
           cli_file_check("csv", cli_value(args, "csv", NULL), error) &&
           read_scenario(args, sweeper, error) && check_outputs(args, sweeper, error) &&
           store_open(args->database, STORE_WRITE, &sweeper->store, error) &&
           store_sweep_open(sweeper->store, sweeper->sweep, sweeper->path, BUCKETLAB_VERSION,
                            &sweeper->stored, error);
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
    struct piece *piece = g_new0(struct piece, 1);
    int64_t begin_ms = cli_now_ms();
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

static bool keep_batch(struct sweeper *sweeper, struct sim_error *error)
{
    const guint count = sweeper->batch == NULL ? 0 : sweeper->batch->len;
    if (count == 0)
        return true;
    const struct store_job *jobs = (const struct store_job *)(const void *)sweeper->batch->data;
    sweeper->is_broken = !store_sweep_keep(sweeper->stored, jobs, count, error);
    if (sweeper->is_broken)
        return false;
    g_array_set_size(sweeper->batch, 0);
    sweeper->batch_ms = cli_now_ms();
    return true;
}

/* Called for a finished job after one that was stopped, too: it is stored with the last batch. No other
 * thread is running then. On another rank, called for each job that was handed over. */
static void drop_job(void *made)
{
    struct piece *piece = made;
    if (piece->sweeper->stored == NULL) {
        clear_piece(piece);
    } else {
        g_array_append_val(piece->sweeper->batch, piece->job);
        free(piece);
    }
}

static bool take_job(void *context, uint64_t index, void *made, bool *is_enough, struct sim_error *error)
{
    struct sweeper *sweeper = context;
    (void)index;
    (void)is_enough;
    if (made != NULL)
        drop_job(made);
    bool is_due = sweeper->batch->len >= BATCH_JOBS || cli_now_ms() - sweeper->batch_ms >= BATCH_MS;
    return !is_due || keep_batch(sweeper, error);
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
    if (is_fine && !is_kept)
        *error = after;
    return is_fine && is_kept;
}

bool cli_sweep_serve(const struct lab_team *team, const struct lab_order *order, struct sim_archive *archive,
                     struct sim_error *error)
{
    struct sweeper sweeper = {.team = *team};
    struct lab_sweep *sweep = sweeper.sweep = g_new0(struct lab_sweep, 1);
    (void)order;
    archive_jobs(&sweeper, archive);
    sweeper.workers = lab_team_threads(team, ranks_own(team->ranks));
    bool is_fine = sim_archive_finish_load(archive, error) && run_jobs(&sweeper, NULL, error);
    lab_sweep_destroy(sweep);
    free(sweeper.todo);
    return is_fine;
}

static bool work_off(struct sweeper *sweeper, struct sim_error *error)
{
    const struct cli_args *args = sweeper->args;
    const struct cli_task task = {
        .name = sweeper->sweep->name, .unit = "runs/s", .run = run_jobs, .context = sweeper};
    char done[CLI_NUMBER_SIZE], jobs[CLI_NUMBER_SIZE];
    bool is_fine = cli_attend(args, &task, NULL, error);
    if (!is_fine || args->signals->caught == 0)
        return is_fine;
    cli_grouped(store_sweep_done(sweeper->stored), done);
    cli_grouped(sweeper->sweep->job_count, jobs);
    return sim_fail(error, SIM_ERROR_CHECK,
                    "interrupted; %s of %s runs are in %s, and the same command resumes with the others",
                    done, jobs, args->database);
}

/* --- the report */

/* The current point's sums, and the outputs. */
struct sum {
    const struct sweeper *sweeper;
    size_t point;
    struct cli_figures figures; /* metrics by strategy, in order */
    uint64_t *failed;           /* by point: number of jobs with a failed expectation */
    uint64_t *done;             /* by point */
    struct cli_column columns[COLUMNS];
    size_t column_count; /* 0: not chosen yet */
    json_t *points;
    bool *is_seen; /* by metric: some run has it */
};

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

/* The metrics to read, as a JSON list. */
static char *wanted_names(const struct sweeper *sweeper)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sweeper->metric_count; i++)
        list = cli_json_append(list, json_string(sweeper->metrics[i]));
    char *text = cli_json_text(list);
    json_decref(list);
    return text;
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

static json_t *settings_as_json(const char *settings)
{
    json_t *object = json_object();
    g_auto(GStrv) lines = cli_lines(settings);
    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) parts = g_strsplit(*line, "=", 2);
        object = cli_json_with(object, parts[0], json_string(parts[1]));
    }
    return object;
}

/* The strategies of the current point, in order, each with its figures. */
static json_t *strategies_as_json(const struct sum *sum)
{
    json_t *list = json_array();
    const struct cli_sampled *figures = sum->figures.items;
    for (size_t i = 0, next; i < sum->figures.count; i = next) {
        const char *label = figures[i].label;
        json_t *metrics = json_object();
        for (next = i; next < sum->figures.count && strcmp(figures[next].label, label) == 0; next++) {
            const struct tune_sample *sample = &figures[next].sample;
            const struct tune_interval interval = tune_sample_mean_interval(sample, CONFIDENCE);
            if (sample->count > 0)
                metrics = cli_json_with(metrics, figures[next].name,
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

static void write_csv(FILE *csv, const struct sweeper *sweeper, size_t number, const json_t *point)
{
    static const char *const names[] = {"count", "mean", "stddev", "low", "high"};
    size_t index;
    json_t *strategy, *figure;
    const char *name;
    json_array_foreach(json_object_get(point, "strategies"), index, strategy)
    {
        json_object_foreach(json_object_get(strategy, "metrics"), name, figure)
        {
            fprintf(csv, "%zu,", number + 1);
            cli_csv_text(csv, sweeper->sweep->points[number].settings);
            fputc(',', csv);
            cli_csv_value(csv, json_object_get(strategy, "label"));
            fprintf(csv, ",%s", name);
            for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                fputc(',', csv);
                cli_csv_value(csv, json_object_get(figure, names[i]));
            }
            fputc('\n', csv);
        }
    }
}

/* Makes the columns: the requested metrics, or the first few headlines that the first point has. */
static void choose_columns(struct sum *sum, const json_t *rows)
{
    const struct sweeper *sweeper = sum->sweeper;
    sum->columns[sum->column_count++] = (struct cli_column){"strategy", "label", CLI_LABEL, .group = NULL};
    for (size_t i = 0; i < sweeper->metric_count && sum->column_count < COLUMNS; i++) {
        const char *name = sweeper->metrics[i];
        struct cli_column *column = &sum->columns[sum->column_count];
        const struct lab_metric_row *row = lab_metric_row_of(name);
        assert(row != NULL || sweeper->is_chosen);
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
        sum->column_count += sweeper->is_chosen || cli_table_shows(&table, column);
    }
}

static void print_point(struct sum *sum, size_t number, const json_t *point)
{
    const struct sweeper *sweeper = sum->sweeper;
    const json_t *rows = json_object_get(point, "strategies");
    char settings[SETTINGS_SIZE], head[64];
    size_t column = (size_t)printf("\npoint %zu:", number + 1) - 1;
    lab_sweep_describe(sweeper->sweep->points[number].settings, true, settings, sizeof settings);
    column = cli_print_wrapped(settings, column);
    uint64_t failed = sum->failed[number];
    snprintf(head, sizeof head, "(%" PRIu64 " of %" PRIu64 " runs%s", sum->done[number],
             sweeper->sweep->points[number].seed_count, failed > 0 ? ";" : ")");
    column = cli_print_wrapped(head, column);
    if (failed > 0) {
        snprintf(head, sizeof head, "expectations failed in %" PRIu64 ")", failed);
        cli_print_wrapped(head, column);
    }
    putchar('\n');
    if (json_array_size(rows) == 0)
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

/* Finishes the points before `until`, which are complete. */
static void end_points(struct sum *sum, size_t until)
{
    for (; sum->point < until; sum->point++) {
        sum->points = cli_json_append(sum->points, point_as_json(sum));
        cli_figures_clear(&sum->figures);
    }
}

static bool add_metric(void *context, uint64_t job, const char *label, const char *name, double value,
                       struct sim_error *error)
{
    struct sum *sum = context;
    size_t point;
    uint64_t seed;
    (void)error;
    lab_sweep_job(sum->sweeper->sweep, job, &point, &seed);
    end_points(sum, point);
    cli_figures_add(&sum->figures, label, name, value);
    for (size_t i = 0; i < sum->sweeper->metric_count; i++)
        sum->is_seen[i] = sum->is_seen[i] || strcmp(sum->sweeper->metrics[i], name) == 0;
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

static bool write_all(const struct sum *sum, const char *path, struct sim_error *error)
{
    char *text;
    size_t size, index;
    json_t *point;
    FILE *csv = cli_memory_open(&text, &size);
    fputs("point,settings,label,metric,count,mean,stddev,low,high\n", csv);
    json_array_foreach(sum->points, index, point)
    {
        write_csv(csv, sum->sweeper, index, point);
    }
    cli_memory_close(csv);
    bool is_fine = cli_file_write(path, text, size, error);
    free(text);
    return is_fine;
}

static void print_text(struct sum *sum)
{
    const struct sweeper *sweeper = sum->sweeper;
    size_t index;
    json_t *point;
    print_head(sweeper);
    json_array_foreach(sum->points, index, point)
    {
        print_point(sum, index, point);
    }
    print_legend(sum);
    printf("\nsweep %" PRId64 " in ", store_sweep_number(sweeper->stored));
    cli_print_text(stdout, sweeper->args->database);
    printf(", digest %016" PRIx64 "\n", sweeper->digest);
}

/* Fails for a metric that no run has. */
static bool check_metrics(const struct sum *sum, struct sim_error *error)
{
    const struct sweeper *sweeper = sum->sweeper;
    for (size_t i = 0; sweeper->is_chosen && i < sweeper->metric_count; i++) {
        if (!sum->is_seen[i] && store_sweep_done(sweeper->stored) > 0)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: no run of this sweep has the metric '%s'; 'bucketlab show last "
                            "--json' names those of a run",
                            sweeper->metrics[i]);
    }
    return true;
}

static bool print_report(const struct sweeper *sweeper, struct sim_error *error)
{
    const char *csv = cli_value(sweeper->args, "csv", NULL);
    const bool is_json = sweeper->args->is_json, is_all = !sweeper->is_chosen && (is_json || csv != NULL);
    const size_t count = sweeper->sweep->point_count;
    g_autofree char *names = wanted_names(sweeper);
    struct sum sum = {.sweeper = sweeper,
                      .points = json_array(),
                      .failed = g_new0(uint64_t, count),
                      .done = g_new0(uint64_t, count),
                      .is_seen = g_new0(bool, sweeper->metric_count)};
    const struct store_sweep_visitor visitor = {&sum, add_metric, note_failed};
    count_done(&sum);
    bool is_fine = store_sweep_visit(sweeper->stored, is_all ? NULL : names, &visitor, error);
    end_points(&sum, is_fine ? count : 0);
    is_fine = is_fine && check_metrics(&sum, error) && (csv == NULL || write_all(&sum, csv, error));
    if (is_fine && is_json)
        cli_json_print(as_json(sweeper, json_incref(sum.points)));
    else if (is_fine)
        print_text(&sum);
    json_decref(sum.points);
    cli_figures_clear(&sum.figures);
    g_free(sum.failed);
    g_free(sum.done);
    g_free(sum.is_seen);
    return is_fine;
}

static void clear_job(gpointer job)
{
    lab_result_destroy(((struct store_job *)job)->result);
    free(((struct store_job *)job)->overrides);
}

static bool sweep(const struct cli_args *args, struct sim_error *error)
{
    struct sweeper sweeper = {.args = args,
                              .shard = 1,
                              .shards = 1,
                              .workers = args->jobs,
                              .team = args->team,
                              .batch = g_array_new(FALSE, FALSE, sizeof(struct store_job))};
    g_array_set_clear_func(sweeper.batch, clear_job);
    bool is_fine = begin(args, &sweeper, error);
    if (is_fine)
        list_jobs(&sweeper);
    is_fine = is_fine && (sweeper.todo_count == 0 || work_off(&sweeper, error));
    cli_release(args);
    is_fine = is_fine && store_sweep_digest(sweeper.stored, &sweeper.digest, error) &&
              print_report(&sweeper, error);
    g_array_free(sweeper.batch, TRUE);
    store_sweep_close(sweeper.stored);
    store_close(sweeper.store);
    lab_sweep_destroy(sweeper.sweep);
    g_free(sweeper.path);
    g_free(sweeper.metrics);
    free(sweeper.todo);
    return is_fine;
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
