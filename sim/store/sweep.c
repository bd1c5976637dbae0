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
#include "private.h"
#include "store/store.h"

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
    struct store_work_row *row;
    size_t count;
    char identity[STORE_DIGEST_SIZE];
    bool fine = store_rows_find(sweep->store, STORE_SWEEP, "identity = ?2", 0,
                                store_digest_text(sweep->sweep->identity, identity), &row, &count, error);
    if (fine && count > 0) {
        fine = (row->jobs == sweep->sweep->job_count ||
                store_fail_damaged(sweep->store, "a sweep with another number of jobs", error)) &&
               check_version(sweep, row->version, error);
        sweep->number = fine ? row->sweep : sweep->number;
    }
    store_rows_free(STORE_SWEEP, row, count);
    return fine;
}

/* In the database, as in messages, jobs and points are numbered from 1. */
static bool check_job(const struct store_sweep *sweep, int64_t number, struct sim_error *error)
{
    return (number >= 1 && (uint64_t)number <= sweep->sweep->job_count) ||
           store_fail_damaged(sweep->store, "a job that the sweep does not have", error);
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
    struct store_job_row *rows;
    size_t count;
    char identity[STORE_DIGEST_SIZE];
    bool fine = store_rows_find(
        sweep->store, STORE_SWEEP_JOB,
        "run > ?1 AND +sweep = (SELECT sweep FROM sweep WHERE identity = ?2) ORDER BY run", sweep->last,
        store_digest_text(sweep->sweep->identity, identity), &rows, &count, error);
    for (size_t i = 0; fine && i < count; i++) {
        fine = check_job(sweep, rows[i].job, error);
        if (fine) {
            know(sweep, (uint64_t)rows[i].job - 1, rows[i].digest);
            sweep->last = rows[i].run;
        }
    }
    free(rows);
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
    struct store_sweep *sweep = g_new(struct store_sweep, 1);
    *out = NULL;
    *sweep = (struct store_sweep){.store = store, .sweep = of, .path = path, .version = version};
    sweep->is_done = g_malloc0(of->job_count * sizeof *sweep->is_done);
    sweep->digests = g_new0(uint64_t, of->job_count);
    if (store->db != NULL && (!find(sweep, error) || !learn(sweep, error))) {
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

static bool insert_sweep(struct store_sweep *sweep, int64_t *number, struct sim_error *error)
{
    const struct lab_sweep *of = sweep->sweep;
    const struct store_work_row row = {.identity = of->identity,
                                       .scenario = of->name,
                                       .version = (char *)(uintptr_t)sweep->version,
                                       .path = (char *)(uintptr_t)sweep->path,
                                       .text = of->text,
                                       .overrides = of->overrides,
                                       .points = of->point_count,
                                       .jobs = of->job_count,
                                       .created_unix_s = (int64_t)time(NULL)};
    struct store_text_row *points = g_new0(struct store_text_row, of->point_count);
    bool fine = store_rows_save(sweep->store, STORE_SWEEP, 0, &row, 1, error);
    *number = fine ? sqlite3_last_insert_rowid(sweep->store->db) : 0;
    for (size_t i = 0; fine && i < of->point_count; i++)
        points[i].text = of->points[i].settings;
    fine = fine && store_rows_save(sweep->store, STORE_SWEEP_POINT, *number, points, of->point_count, error);
    free(points);
    return fine;
}

static bool fail_digest(const struct store_sweep *sweep, const struct store_job *job, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_CHECK,
                    "%s: job %" PRIu64 " is stored with digest %016" PRIx64 ", and came to %016" PRIx64
                    " now; 'bucketlab replay' of its run tells which is right",
                    sweep->store->path, job->job + 1, sweep->digests[job->job], job->result->digest);
}

static bool keep_job(struct store_sweep *sweep, int64_t number, const struct store_job *job,
                     struct sim_error *error)
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
    if (!store_save_within(sweep->store, &info, job->result, &run, error))
        return false;
    const struct store_job_row row = {
        .sweep = number, .job = (int64_t)job->job + 1, .point = (int64_t)point + 1, .run = run};
    return store_rows_save(sweep->store, STORE_SWEEP_JOB, 0, &row, 1, error);
}

static bool keep_all(struct store_sweep *sweep, const struct store_job *jobs, size_t count, int64_t *number,
                     struct sim_error *error)
{
    /* Jobs that another process has stored meanwhile are not stored again. */
    bool fine = find(sweep, error) && learn(sweep, error);
    *number = sweep->number;
    if (fine && *number == 0)
        fine = insert_sweep(sweep, number, error);
    for (size_t i = 0; fine && i < count; i++)
        fine = keep_job(sweep, *number, &jobs[i], error);
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
    struct store_job_row *rows;
    size_t count;
    bool fine = store_rows_find(sweep->store, STORE_SWEEP_JOB,
                                "sweep = ?1 AND EXISTS (SELECT 1 FROM expectation WHERE expectation.run = "
                                "sweep_job.run AND NOT ok) ORDER BY job",
                                sweep->number, NULL, &rows, &count, error);
    for (size_t i = 0; fine && i < count; i++)
        fine = check_job(sweep, rows[i].job, error) &&
               visitor->failed(visitor->context, (uint64_t)rows[i].job - 1, error);
    free(rows);
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
                             store_query(store, sql, sweep->number, names, &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        const int64_t job = store_take_integer(&row);
        char *label = store_take_text(&row), *name = store_take_text(&row);
        double value = store_take_real(&row);
        fine = store_row_check(store, &row, error) && check_job(sweep, job, error) &&
               visitor->metric(visitor->context, (uint64_t)job - 1, label, name, value, error);
        free(label);
        free(name);
    }
    sqlite3_finalize(statement);
    store_rollback(store);
    return fine;
}

/* Lists the runs that differ from a given run only in the seed. */

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
    struct store_seed_row *rows = NULL;
    size_t found = 0, used = 0;
    *out = NULL;
    *count = 0;
    bool fine =
        store->db == NULL || store_rows_find(store, STORE_SEED_LIST, "one.run = ?1 ORDER BY other.run DESC",
                                             run, NULL, &rows, &found, error);
    *out = g_new0(struct store_seed, found);
    for (size_t i = 0; fine && i < found; i++) {
        if (are_equal(rows[i].overrides, rows[i].wanted))
            (*out)[used++] = (struct store_seed){.run = rows[i].run, .seed = rows[i].seed};
    }
    store_rows_free(STORE_SEED_LIST, rows, found);
    if (fine && used > 0)
        qsort(*out, used, sizeof **out, compare_seeds);
    for (size_t i = 0; fine && i < used; i++) {
        if (*count == 0 || (*out)[*count - 1].seed != (*out)[i].seed)
            (*out)[(*count)++] = (*out)[i];
    }
    return fine;
}

/* --- Outcomes, and the answers of `tune` --- */

bool store_outcomes_forget(struct store *store, const struct store_work *work, struct sim_error *error)
{
    char identity[STORE_DIGEST_SIZE];
    int64_t none;
    return store->db == NULL ||
           store_number(store, "DELETE FROM outcome WHERE command = printf('%016x', ?1) OR identity = ?2",
                        (int64_t)work->command, store_digest_text(work->identity, identity), &none, NULL,
                        error);
}

bool store_tune_save(struct store *store, const struct store_work *tune, struct store_run_info *info,
                     const struct lab_result *result, const char *answer, struct sim_error *error)
{
    int64_t run = 0;
    bool is_new, fine = store_begin(store, &is_new, error);
    const struct store_text_row row = {(char *)(uintptr_t)answer};
    fine = fine && store_save_within(store, info, result, &run, error) &&
           store_rows_save(store, STORE_TUNE, run, &row, 1, error) &&
           store_outcomes_forget(store, tune, error) && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    if (fine)
        info->run = run;
    return fine;
}

bool store_tune_load(struct store *store, int64_t run, char **answer, struct sim_error *error)
{
    struct store_text_row *row;
    size_t count;
    const bool fine = store_rows_load(store, STORE_TUNE, run, &row, &count, error);
    *answer = fine && count > 0 ? row->text : NULL;
    if (*answer != NULL)
        row->text = NULL;
    store_rows_free(STORE_TUNE, row, count);
    return fine;
}

/* Stores outcomes, one row per outcome, with a digest over identity, job and bytes, so that a damaged one is
 * not used. */

static uint64_t digest_of(uint64_t identity, const struct store_outcome *outcome)
{
    uint64_t digest = sim_digest_chain(identity, outcome->job);
    return sim_digest_chain(digest, bk_murmur3_128(outcome->bytes, outcome->size, 0).h1);
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
    struct store_outcome_row *rows = NULL;
    size_t found = 0;
    char identity[STORE_DIGEST_SIZE];
    *out = NULL;
    *count = 0;
    bool fine = store->db == NULL ||
                store_rows_find(store, STORE_OUTCOME, "identity = ?2", 0,
                                store_digest_text(work->identity, identity), &rows, &found, error);
    *out = g_new0(struct store_outcome, found);
    for (size_t i = 0; fine && i < found; i++) {
        struct store_outcome_row *row = &rows[i];
        const struct store_outcome outcome = {row->job, row->outcome.size, row->outcome.bytes};
        if (digest_of(work->identity, &outcome) != row->digest)
            continue;
        (*out)[(*count)++] = outcome;
        row->outcome.bytes = NULL;
    }
    store_rows_free(STORE_OUTCOME, rows, found);
    return fine;
}

bool store_outcomes_keep(struct store *store, const struct store_work *work,
                         const struct store_outcome *outcomes, size_t count, struct sim_error *error)
{
    bool is_new, fine = store_begin(store, &is_new, error);
    for (size_t i = 0; fine && i < count; i++) {
        const struct store_outcome_row row = {.identity = work->identity,
                                              .job = outcomes[i].job,
                                              .command = work->command,
                                              .digest = digest_of(work->identity, &outcomes[i]),
                                              .outcome = {outcomes[i].bytes, outcomes[i].size}};
        fine = store_rows_save(store, STORE_OUTCOME, 0, &row, 1, error);
    }
    fine = fine && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    return fine;
}
