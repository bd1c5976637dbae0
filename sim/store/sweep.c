/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores steps of longer work, so that it can be resumed: jobs of a sweep, runs of `tune`, and outcomes of
 * other work, such as the partial result of a run. Lists the runs that differ only in their seeds. */
#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bucketing/hash.h"
#include "kernel/digest.h"
#include "kernel/grow.h"
#include "private.h"
#include "store/outcomes.h"
#include "store/sweep.h"

struct store_sweep {
    struct store *store;
    const struct lab_sweep *sweep;
    const char *path, *version;
    int64_t number; /* 0: not in the database yet */
    int64_t last;   /* the jobs of runs up to this number were read */
    _Atomic unsigned char *is_done;
    uint64_t *digests; /* digests of the runs of the jobs that are done */
    _Atomic uint64_t done;
};

static bool check_version(const struct store_sweep *sweep, const char *version, struct sim_error *error)
{
    return strcmp(version, sweep->version) == 0 ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "%s: bucketlab %s began this sweep, and this is %s: runs of two versions cannot be "
                    "combined; resume with that version, or name another database with --db",
                    sweep->store->path, version, sweep->version);
}

/* Sets the sweep's number, if it is in the database. */
static bool find(struct store_sweep *sweep, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = false,
         fine = store_prepare(sweep->store, "SELECT sweep, version, jobs FROM sweep WHERE identity = ?",
                              &statement, error);
    if (fine) {
        struct store_binder binder = {.statement = statement};
        store_bind_digest(&binder, sweep->sweep->identity);
        fine = store_next(sweep->store, statement, &row, &more, error);
    }
    if (fine && more) {
        int64_t number = store_take_integer(&row);
        char *version = store_take_name(&row);
        row.is_damaged = row.is_damaged || store_take_whole(&row, UINT64_MAX) != sweep->sweep->job_count;
        fine = store_row_check(sweep->store, &row, error) && check_version(sweep, version, error);
        if (fine)
            sweep->number = number;
        free(version);
    }
    sqlite3_finalize(statement);
    return fine;
}

/* In the database, as in messages, jobs and points are numbered from 1. */
static uint64_t take_job(const struct store_sweep *sweep, struct store_row *row)
{
    uint64_t job = (uint64_t)store_take_whole(row, INT64_MAX) - 1;
    row->is_damaged = row->is_damaged || job >= sweep->sweep->job_count;
    return job;
}

static void know(struct store_sweep *sweep, uint64_t job, uint64_t digest)
{
    sweep->digests[job] = digest;
    if (atomic_exchange(&sweep->is_done[job], 1) == 0)
        atomic_fetch_add(&sweep->done, 1);
}

/* Reads the jobs that this process or another has stored since the last call. The numbers of runs ascend. */
static bool learn(struct store_sweep *sweep, struct sim_error *error)
{
    static const char sql[] = "SELECT job, run, digest FROM sweep_job JOIN run USING (run) WHERE +sweep = ? "
                              "AND sweep_job.run > ? ORDER BY run";
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true, fine = store_prepare(sweep->store, sql, &statement, error);
    if (fine) {
        sqlite3_bind_int64(statement, 1, sweep->number);
        sqlite3_bind_int64(statement, 2, sweep->last);
    }
    while (fine && (fine = store_next(sweep->store, statement, &row, &more, error)) && more) {
        uint64_t job = take_job(sweep, &row);
        int64_t run = store_take_integer(&row);
        uint64_t digest = store_take_digest(&row);
        fine = store_row_check(sweep->store, &row, error);
        if (fine) {
            know(sweep, job, digest);
            sweep->last = run;
        }
    }
    sqlite3_finalize(statement);
    return fine;
}

void store_sweep_close(struct store_sweep *sweep)
{
    if (sweep == NULL)
        return;
    free(sweep->is_done);
    free(sweep->digests);
    free(sweep);
}

bool store_sweep_open(struct store *store, const struct lab_sweep *of, const char *path, const char *version,
                      struct store_sweep **out, struct sim_error *error)
{
    struct store_sweep *sweep = calloc(1, sizeof *sweep);
    *out = NULL;
    if (sweep == NULL)
        return sim_fail_memory(error);
    *sweep = (struct store_sweep){.store = store, .sweep = of, .path = path, .version = version};
    sweep->is_done = calloc(of->job_count, sizeof *sweep->is_done);
    sweep->digests = calloc(of->job_count, sizeof *sweep->digests);
    bool fine = (sweep->is_done != NULL && sweep->digests != NULL) || sim_fail_memory(error);
    fine = fine && (store->db == NULL || (find(sweep, error) && learn(sweep, error)));
    if (!fine) {
        store_sweep_close(sweep);
        return false;
    }
    *out = sweep;
    return true;
}

bool store_sweep_is_done(const struct store_sweep *sweep, uint64_t job)
{
    return atomic_load(&sweep->is_done[job]) != 0;
}

uint64_t store_sweep_done(const struct store_sweep *sweep)
{
    return atomic_load(&sweep->done);
}

int64_t store_sweep_number(const struct store_sweep *sweep)
{
    return sweep->number;
}

/* Fails when the file was removed or replaced: this process would then write to a file without a name. */
static bool check_place(const struct store_sweep *sweep, struct sim_error *error)
{
    int has_moved = 0;
    struct store *store = sweep->store;
    if (store->db != NULL)
        sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    return has_moved == 0 ||
           sim_fail(
               error, SIM_ERROR_ENVIRONMENT,
               "%s: was removed, moved or replaced meanwhile; put it back if you have it, and sweep again",
               store->path);
}

static bool insert_points(struct store_sweep *sweep, int64_t number, struct sim_error *error)
{
    sqlite3_stmt *insert;
    bool fine = store_prepare(
        sweep->store, "INSERT INTO sweep_point (sweep, point, settings) VALUES (?, ?, ?)", &insert, error);
    for (size_t i = 0; fine && i < sweep->sweep->point_count; i++) {
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, number);
        store_bind_integer(&binder, (int64_t)i + 1);
        store_bind_text(&binder, sweep->sweep->points[i].settings);
        fine = store_bind_run(sweep->store, &binder, error);
    }
    sqlite3_finalize(insert);
    return fine;
}

static bool insert_sweep(struct store_sweep *sweep, int64_t *number, struct sim_error *error)
{
    const struct lab_sweep *of = sweep->sweep;
    sqlite3_stmt *insert;
    bool fine = store_prepare(sweep->store,
                              "INSERT INTO sweep (identity, scenario, version, scenario_path, scenario_text, "
                              "overrides, points, jobs, created_unix_s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                              &insert, error);
    if (fine) {
        struct store_binder binder = {.statement = insert};
        store_bind_digest(&binder, of->identity);
        store_bind_text(&binder, of->name);
        store_bind_text(&binder, sweep->version);
        store_bind_text(&binder, sweep->path);
        store_bind_text(&binder, of->text);
        store_bind_text(&binder, of->overrides);
        store_bind_whole(&binder, of->point_count);
        store_bind_whole(&binder, of->job_count);
        store_bind_integer(&binder, (int64_t)time(NULL));
        fine = store_bind_run(sweep->store, &binder, error);
    }
    sqlite3_finalize(insert);
    *number = fine ? sqlite3_last_insert_rowid(sweep->store->db) : 0;
    return fine && insert_points(sweep, *number, error);
}

static bool fail_digest(const struct store_sweep *sweep, const struct store_job *job, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_CHECK,
                    "%s: job %" PRIu64 " is stored with digest %016" PRIx64 ", and came to %016" PRIx64
                    " now; 'bucketlab replay' of its run tells which is right",
                    sweep->store->path, job->job + 1, sweep->digests[job->job], job->result->digest);
}

static bool keep_job(struct store_sweep *sweep, struct store_saver *saver, sqlite3_stmt *insert,
                     int64_t number, const struct store_job *job, struct sim_error *error)
{
    if (store_sweep_is_done(sweep, job->job))
        return sweep->digests[job->job] == job->result->digest || fail_digest(sweep, job, error);
    const struct store_run_info info = {.scenario_path = sweep->path,
                                        .scenario_text = sweep->sweep->text,
                                        .overrides = job->overrides,
                                        .version = sweep->version,
                                        .created_unix_s = job->created_unix_s,
                                        .elapsed_ms = job->elapsed_ms};
    int64_t run;
    size_t point;
    uint64_t seed;
    lab_sweep_job(sweep->sweep, job->job, &point, &seed);
    if (!store_saver_add(sweep->store, saver, &info, job->result, &run, error))
        return false;
    struct store_binder binder = {.statement = insert};
    store_bind_integer(&binder, number);
    store_bind_whole(&binder, job->job + 1);
    store_bind_integer(&binder, (int64_t)point + 1);
    store_bind_integer(&binder, run);
    return store_bind_run(sweep->store, &binder, error);
}

static bool keep_all(struct store_sweep *sweep, const struct store_job *jobs, size_t count, int64_t *number,
                     struct sim_error *error)
{
    struct store *store = sweep->store;
    struct store_saver *saver = NULL;
    sqlite3_stmt *insert = NULL;
    /* Jobs that another process has stored meanwhile are not stored again. */
    bool fine = find(sweep, error) && learn(sweep, error) && store_saver_make(store, &saver, error) &&
                store_prepare(store, "INSERT INTO sweep_job (sweep, job, point, run) VALUES (?, ?, ?, ?)",
                              &insert, error);
    *number = sweep->number;
    if (fine && *number == 0)
        fine = insert_sweep(sweep, number, error);
    for (size_t i = 0; fine && i < count; i++)
        fine = keep_job(sweep, saver, insert, *number, &jobs[i], error);
    sqlite3_finalize(insert);
    store_saver_free(saver);
    return fine;
}

bool store_sweep_keep(struct store_sweep *sweep, const struct store_job *jobs, size_t count,
                      struct sim_error *error)
{
    struct store *store = sweep->store;
    int64_t number = 0;
    assert(store->mode == STORE_WRITE);
    if (!check_place(sweep, error))
        return false;
    bool is_new, fine = store_begin(store, &is_new, error) && keep_all(sweep, jobs, count, &number, error) &&
                        store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    if (!fine)
        return false;
    sweep->number = number;
    for (size_t i = 0; i < count; i++)
        know(sweep, jobs[i].job, jobs[i].result->digest);
    return check_place(sweep, error);
}

bool store_sweep_digest(struct store_sweep *sweep, uint64_t *digest, struct sim_error *error)
{
    uint64_t count = sweep->sweep->job_count;
    *digest = 0;
    for (uint64_t job = 0; job < count; job++)
        atomic_store(&sweep->is_done[job], 0);
    atomic_store(&sweep->done, 0);
    sweep->last = 0;
    if (!check_place(sweep, error) ||
        (sweep->store->db != NULL && (!find(sweep, error) || !learn(sweep, error))))
        return false;
    for (uint64_t job = 0; job < count; job++) {
        if (store_sweep_is_done(sweep, job))
            *digest = lab_sweep_digest_add(*digest, job + 1, sweep->digests[job]);
    }
    return true;
}

static bool visit_failed(struct store_sweep *sweep, const struct store_sweep_visitor *visitor,
                         struct sim_error *error)
{
    static const char sql[] =
        "SELECT job FROM sweep_job WHERE sweep = ? AND EXISTS (SELECT 1 FROM expectation WHERE "
        "expectation.run = sweep_job.run AND NOT ok) ORDER BY job";
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true, fine = store_prepare(sweep->store, sql, &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, sweep->number);
    while (fine && (fine = store_next(sweep->store, statement, &row, &more, error)) && more) {
        uint64_t job = take_job(sweep, &row);
        fine = store_row_check(sweep->store, &row, error) && visitor->failed(visitor->context, job, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_sweep_visit(struct store_sweep *sweep, const char *names,
                       const struct store_sweep_visitor *visitor, struct sim_error *error)
{
    static const char sql[] =
        "SELECT job, label, name, value FROM sweep_job JOIN strategy USING (run) JOIN metric USING "
        "(strategy) WHERE sweep = ?1 AND (?2 IS NULL OR name IN (SELECT value FROM json_each(?2))) ORDER BY "
        "job, strategy.position, metric.position";
    if (sweep->store->db == NULL)
        return true;
    struct store *store = sweep->store;
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool more = true, fine = store_execute(store, "BEGIN", error) && visit_failed(sweep, visitor, error) &&
                             store_prepare(store, sql, &statement, error);
    if (fine) {
        sqlite3_bind_int64(statement, 1, sweep->number);
        sqlite3_bind_text(statement, 2, names, -1, SQLITE_STATIC);
    }
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        uint64_t job = take_job(sweep, &row);
        char *label = store_take_text(&row), *name = store_take_text(&row);
        double value = store_take_real(&row);
        fine = store_row_check(store, &row, error) &&
               visitor->metric(visitor->context, job, label, name, value, error);
        free(label);
        free(name);
    }
    sqlite3_finalize(statement);
    store_rollback(store);
    return fine;
}

/* Lists the runs that differ from a given run only in the seed. */

struct seeds {
    struct store_seed *items;
    size_t count, capacity;
};

static const char *skip_seed(const char *overrides)
{
    static const char seed[] = "seed=";
    while (strncmp(overrides, seed, sizeof seed - 1) == 0) {
        overrides += strcspn(overrides, "\n");
        overrides += *overrides == '\n';
    }
    return overrides;
}

/* Compares two lists of overrides, one per line, without those of the seed. */
static bool are_equal(const char *one, const char *other)
{
    one = skip_seed(one == NULL ? "" : one);
    other = skip_seed(other == NULL ? "" : other);
    while (*one != '\0' && *other != '\0') {
        size_t length = strcspn(one, "\n");
        if (length != strcspn(other, "\n") || memcmp(one, other, length) != 0)
            return false;
        one = skip_seed(one + length + (one[length] == '\n'));
        other = skip_seed(other + length + (other[length] == '\n'));
    }
    return *one == *other;
}

static bool take_seed(struct store *store, struct store_row *row, struct seeds *seeds,
                      struct sim_error *error)
{
    struct store_seed seed = {.run = store_take_integer(row)};
    seed.seed = (uint64_t)store_take_whole(row, UINT64_MAX);
    char *overrides = store_take_text(row), *wanted = store_take_text(row);
    bool fine = store_row_check(store, row, error);
    bool is_one = fine && are_equal(overrides, wanted);
    free(overrides);
    free(wanted);
    if (is_one && !sim_grow(&seeds->items, &seeds->capacity, seeds->count + 1, sizeof *seeds->items))
        return sim_fail_memory(error);
    if (is_one)
        seeds->items[seeds->count++] = seed;
    return fine;
}

static int compare_seeds(const void *left, const void *right)
{
    const struct store_seed *one = left, *other = right;
    if (one->seed != other->seed)
        return one->seed < other->seed ? -1 : 1;
    return (one->run < other->run) - (one->run > other->run);
}

bool store_list_seeds(struct store *store, int64_t run, struct store_seed **out, size_t *count,
                      struct sim_error *error)
{
    static const char sql[] =
        "SELECT other.run, other.seed, other.overrides, one.overrides FROM run AS one JOIN run AS other ON "
        "other.scenario = one.scenario AND other.version IS one.version AND "
        "other.scenario_text IS one.scenario_text AND (one.source IN ('made', 'synthetic') OR "
        "other.scenario_path IS one.scenario_path) WHERE one.run = ? ORDER BY other.run DESC";
    sqlite3_stmt *statement;
    struct store_row row;
    struct seeds seeds = {NULL, 0, 0};
    *out = NULL;
    *count = 0;
    if (store->db == NULL)
        return true;
    bool more = true, fine = store_query(store, sql, run, &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more)
        fine = take_seed(store, &row, &seeds, error);
    sqlite3_finalize(statement);
    if (!fine) {
        free(seeds.items);
        return false;
    }
    if (seeds.count > 0)
        qsort(seeds.items, seeds.count, sizeof *seeds.items, compare_seeds);
    for (size_t i = 0; i < seeds.count; i++) {
        if (*count == 0 || seeds.items[*count - 1].seed != seeds.items[i].seed)
            seeds.items[(*count)++] = seeds.items[i];
    }
    *out = seeds.items;
    return true;
}

/* Stores and loads the answers of `tune`. */

static bool insert_answer(struct store *store, int64_t run, const char *answer, struct sim_error *error)
{
    sqlite3_stmt *insert;
    bool fine = store_prepare(store, "INSERT INTO tune (run, answer) VALUES (?, ?)", &insert, error);
    if (fine) {
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, run);
        store_bind_text(&binder, answer);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(insert);
    return fine;
}

bool store_outcomes_forget(struct store *store, const struct store_work *work, struct sim_error *error)
{
    sqlite3_stmt *statement;
    if (store->db == NULL)
        return true;
    bool fine =
        store_prepare(store, "DELETE FROM outcome WHERE command = ? OR identity = ?", &statement, error);
    if (fine) {
        struct store_binder binder = {.statement = statement};
        store_bind_digest(&binder, work->command);
        store_bind_digest(&binder, work->identity);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_tune_save(struct store *store, const struct store_work *tune, struct store_run_info *info,
                     const struct lab_result *result, const char *answer, struct sim_error *error)
{
    int64_t run = 0;
    bool is_new, fine = store_begin(store, &is_new, error);
    fine = fine && store_save_within(store, info, result, &run, error) &&
           insert_answer(store, run, answer, error) && store_outcomes_forget(store, tune, error) &&
           store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    if (fine)
        info->run = run;
    return fine;
}

bool store_tune_load(struct store *store, int64_t run, char **answer, struct sim_error *error)
{
    sqlite3_stmt *select = NULL;
    struct store_row row;
    bool more = false;
    *answer = NULL;
    bool fine = store_prepare(store, "SELECT answer FROM tune WHERE run = ?", &select, error);
    if (fine)
        sqlite3_bind_int64(select, 1, run);
    fine = fine && store_next(store, select, &row, &more, error);
    if (fine && more) {
        *answer = store_take_text(&row);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(select);
    if (!fine) {
        free(*answer);
        *answer = NULL;
    }
    return fine;
}

/* Stores outcomes, one row per outcome, with a digest over identity, job and bytes, so that a damaged one is
 * not used. */

static uint64_t digest_of(uint64_t identity, const struct store_outcome *outcome)
{
    uint64_t digest = sim_digest_chain(identity, outcome->job);
    return sim_digest_chain(digest, bk_murmur3_128(outcome->bytes, outcome->size, 0).h1);
}

/* Appends the row's outcome, if it is intact. False when out of memory. */
static bool take_outcome(struct store_row *row, uint64_t identity, struct store_outcome **out, size_t *count,
                         size_t *capacity)
{
    struct store_outcome outcome = {.job = store_take_digest(row)};
    uint64_t digest = store_take_digest(row);
    const unsigned char *bytes = store_take_blob(row, &outcome.size);
    if (!sim_grow(out, capacity, *count + 1, sizeof **out))
        return false;
    outcome.bytes = malloc(outcome.size + 1);
    if (outcome.bytes == NULL)
        return false;
    if (bytes == NULL)
        outcome.size = 0; /* no bytes, or out of memory */
    else
        memcpy(outcome.bytes, bytes, outcome.size);
    if (digest_of(identity, &outcome) == digest)
        (*out)[(*count)++] = outcome;
    else
        free(outcome.bytes);
    return true;
}

void store_outcomes_free(struct store_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(outcomes[i].bytes);
    free(outcomes);
}

bool store_outcomes_load(struct store *store, const struct store_work *work, struct store_outcome **out,
                         size_t *count, struct sim_error *error)
{
    static const char sql[] = "SELECT job, digest, outcome FROM outcome WHERE identity = ?";
    sqlite3_stmt *statement;
    struct store_row row;
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    if (store->db == NULL)
        return true;
    bool more = true, fine = store_prepare(store, sql, &statement, error);
    if (fine) {
        struct store_binder binder = {.statement = statement};
        store_bind_digest(&binder, work->identity);
        fine = binder.code == SQLITE_OK || store_fail(store, binder.code, error);
    }
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        fine = take_outcome(&row, work->identity, out, count, &capacity) || sim_fail_memory(error);
        fine = fine && store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    if (!fine) {
        store_outcomes_free(*out, *count);
        *out = NULL;
        *count = 0;
    }
    return fine;
}

static bool insert_outcomes(struct store *store, const struct store_work *work,
                            const struct store_outcome *outcomes, size_t count, struct sim_error *error)
{
    sqlite3_stmt *insert;
    bool fine = store_prepare(store,
                              "INSERT OR REPLACE INTO outcome (identity, job, command, digest, outcome) "
                              "VALUES (?, ?, ?, ?, ?)",
                              &insert, error);
    for (size_t i = 0; fine && i < count; i++) {
        struct store_binder binder = {.statement = insert};
        store_bind_digest(&binder, work->identity);
        store_bind_digest(&binder, outcomes[i].job);
        store_bind_digest(&binder, work->command);
        store_bind_digest(&binder, digest_of(work->identity, &outcomes[i]));
        store_bind_blob(&binder, outcomes[i].bytes, outcomes[i].size);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(insert);
    return fine;
}

bool store_outcomes_keep(struct store *store, const struct store_work *work,
                         const struct store_outcome *outcomes, size_t count, struct sim_error *error)
{
    bool is_new, fine = store_begin(store, &is_new, error);
    fine =
        fine && insert_outcomes(store, work, outcomes, count, error) && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    return fine;
}
