/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operations of the store on a database in which every table has rows, for tests that make them fail.
 * Each operation checks that its outputs agree with its return value. */
#ifndef TESTS_STORE_OPERATIONS_H
#define TESTS_STORE_OPERATIONS_H

#include "baseline_sample.h"
#include "store/store.h"
#include "sweep_sample.h"

#define ANSWER "{\"answer\": 42}"

/* The objects that the operations use, made before any call fails. */
struct stand {
    struct folder folder;
    char source_path[PATH_SIZE]; /* the source of a merge */
    struct lab_sweep *sweep;
    struct store_job jobs[2];
    struct lab_result *result;
    struct store_baseline baseline;
    struct store *store, *source; /* open while an operation runs */
};

struct operation {
    const char *name;
    bool (*run)(struct stand *stand, struct sim_error *error);
    bool has_database; /* otherwise the operation creates one */
};

static inline bool save_run(struct stand *stand, struct sim_error *error)
{
    struct store_run_info info = sample_info();
    bool fine = store_save_run(stand->store, &info, stand->result, error);
    assert_int_equal(info.run != 0, fine);
    return fine;
}

static inline bool load_run(struct stand *stand, struct sim_error *error)
{
    struct store_run_info info;
    struct lab_result *loaded;
    bool fine = store_load_run(stand->store, 5, &info, &loaded, error);
    assert_int_equal(loaded != NULL, fine);
    lab_result_destroy(loaded);
    return fine;
}

static inline bool list_runs(struct stand *stand, struct sim_error *error)
{
    struct store_run_row *rows;
    size_t count;
    bool fine = store_list_runs(stand->store, true, &rows, &count, error);
    assert_int_equal(count, fine ? 3 : 0);
    store_runs_free(rows, count);
    return fine;
}

static inline bool list_seeds(struct stand *stand, struct sim_error *error)
{
    struct store_seed *seeds;
    size_t count;
    bool fine = store_list_seeds(stand->store, 2, &seeds, &count, error);
    assert_int_equal(count, fine ? 1 : 0);
    free(seeds);
    return fine;
}

static inline bool load_metrics(struct stand *stand, struct sim_error *error)
{
    struct lab_metrics metrics = {0};
    bool fine = store_load_metrics(stand->store, 2, "unbucketed", &metrics, error);
    if (fine)
        assert_int_equal(metrics.count, 5);
    free(metrics.items);
    return fine;
}

static const struct store_work sample_tune = {.command = 8, .identity = UINT64_MAX};

static inline struct store_outcome outcome_of(uint64_t job, char *bytes)
{
    return (struct store_outcome){.job = job, .size = strlen(bytes), .bytes = (unsigned char *)bytes};
}

static inline bool keep_outcomes(struct stand *stand, struct sim_error *error)
{
    char bytes[] = "outcome";
    const struct store_outcome outcomes[] = {outcome_of(1, bytes), outcome_of(3, bytes)};
    return store_outcomes_keep(stand->store, &sample_tune, outcomes, 2, error);
}

static inline bool load_outcomes(struct stand *stand, struct sim_error *error)
{
    struct store_outcome *outcomes;
    size_t count;
    bool fine = store_outcomes_load(stand->store, &sample_tune, &outcomes, &count, error);
    assert_int_equal(count, fine ? 2 : 0);
    store_outcomes_free(outcomes, count);
    return fine;
}

static inline bool forget_outcomes(struct stand *stand, struct sim_error *error)
{
    return store_outcomes_forget(stand->store, &sample_tune, error);
}

static inline bool save_tune(struct stand *stand, struct sim_error *error)
{
    struct store_run_info info = sample_info();
    bool fine = store_tune_save(stand->store, &sample_tune, &info, stand->result, ANSWER, error);
    assert_int_equal(info.run != 0, fine);
    return fine;
}

static inline bool load_tune(struct stand *stand, struct sim_error *error)
{
    char *answer;
    bool fine = store_tune_load(stand->store, 5, &answer, error);
    assert_int_equal(answer != NULL, fine);
    if (fine)
        assert_string_equal(answer, ANSWER);
    free(answer);
    return fine;
}

static inline bool save_baseline(struct stand *stand, struct sim_error *error)
{
    stand->baseline.info.run = 0;
    bool fine = store_baselines_save(stand->store, &stand->baseline, 1, error);
    assert_int_equal(stand->baseline.info.run != 0, fine);
    return fine;
}

static inline bool load_baseline(struct stand *stand, struct sim_error *error)
{
    struct store_baseline loaded;
    bool is_there, fine = store_baseline_load(stand->store, "chat-channels", &loaded, &is_there, error);
    assert_int_equal(is_there, fine);
    assert_int_equal(loaded.metric_count, fine ? BASELINE_METRICS : 0);
    store_baseline_clear(&loaded);
    return fine;
}

static inline bool keep_jobs(struct stand *stand, struct sim_error *error)
{
    struct store_sweep *stored;
    if (!store_sweep_open(stand->store, stand->sweep, "/x.yaml", SWEEP_VERSION, &stored, error))
        return false;
    uint64_t done = store_sweep_done(stored);
    bool fine = store_sweep_keep(stored, stand->jobs, 2, error);
    assert_int_equal(store_sweep_done(stored), done + (fine ? 2 : 0));
    assert_true(fine || store_sweep_number(stored) <= 1);
    store_sweep_close(stored);
    return fine;
}

static inline bool digest_sweep(struct stand *stand, struct sim_error *error)
{
    struct store_sweep *stored;
    uint64_t digest;
    if (!store_sweep_open(stand->store, stand->sweep, "/x.yaml", SWEEP_VERSION, &stored, error))
        return false;
    bool fine = store_sweep_digest(stored, &digest, error);
    if (fine)
        assert_int_equal(store_sweep_done(stored), 4);
    store_sweep_close(stored);
    return fine;
}

/* Counts the figures, and the failed jobs, that were reported. */
static inline bool count_metric(void *context, uint64_t job, const char *label, const char *name,
                                double value, struct sim_error *error)
{
    (void)value;
    (void)error;
    assert_true(job < 4 && label != NULL && name != NULL);
    ((int *)context)[0]++;
    return true;
}

static inline bool count_failed(void *context, uint64_t job, struct sim_error *error)
{
    (void)error;
    assert_true(job < 4);
    ((int *)context)[1]++;
    return true;
}

static inline bool visit_sweep(struct stand *stand, struct sim_error *error)
{
    struct store_sweep *stored;
    int told[2] = {0, 0};
    const struct store_sweep_visitor visitor = {told, count_metric, count_failed};
    if (!store_sweep_open(stand->store, stand->sweep, "/x.yaml", SWEEP_VERSION, &stored, error))
        return false;
    bool fine = store_sweep_visit(stored, "[\"partitions.closed\"]", &visitor, error);
    if (fine)
        assert_true(told[0] == 4 * SAMPLE_STRATEGIES && told[1] == 4);
    store_sweep_close(stored);
    return fine;
}

static inline bool list_sweeps(struct stand *stand, struct sim_error *error)
{
    struct store_sweep_row *rows;
    size_t count;
    bool fine = store_list_sweeps(stand->store, &rows, &count, error);
    assert_int_equal(count, fine ? 1 : 0);
    if (fine)
        assert_int_equal(rows[0].done, 4);
    store_sweeps_free(rows, count);
    return fine;
}

static inline bool merge(struct stand *stand, struct sim_error *error)
{
    struct store_merged merged;
    bool fine = store_merge(stand->store, &stand->source, 1, NULL, &merged, error);
    if (fine)
        assert_true(merged.added > 0);
    return fine;
}

static inline bool open_to_read(struct stand *stand, struct sim_error *error)
{
    struct store *store;
    bool fine = store_open(stand->folder.db, STORE_READ, &store, error);
    assert_int_equal(store != NULL, fine);
    store_close(store);
    return fine;
}

static inline bool open_to_write(struct stand *stand, struct sim_error *error)
{
    struct store *store;
    bool fine = store_open(stand->folder.db, STORE_WRITE, &store, error);
    assert_int_equal(store != NULL, fine);
    store_close(store);
    return fine;
}

/* Runs 1 to 4 are jobs of a sweep, run 5 has an answer, run 6 belongs to a baseline, and run 7 is under way,
 * with two states. */
static const struct operation operations[] = {
    {"open to read", open_to_read, true},
    {"open to write", open_to_write, true},
    {"save a run", save_run, true},
    {"save the first run", save_run, false},
    {"load a run", load_run, true},
    {"list runs", list_runs, true},
    {"list seeds", list_seeds, true},
    {"load metrics", load_metrics, true},
    {"save an answer", save_tune, true},
    {"load an answer", load_tune, true},
    {"keep outcomes", keep_outcomes, true},
    {"keep the first outcomes", keep_outcomes, false},
    {"load outcomes", load_outcomes, true},
    {"forget outcomes", forget_outcomes, true},
    {"save a baseline", save_baseline, true},
    {"load a baseline", load_baseline, true},
    {"keep jobs", keep_jobs, true},
    {"keep the first jobs", keep_jobs, false},
    {"digest of a sweep", digest_sweep, true},
    {"visit a sweep", visit_sweep, true},
    {"list sweeps", list_sweeps, true},
    {"merge", merge, true},
    {"merge into a new one", merge, false},
};

/* jobs: a bit mask. */
static inline void fill(const char *path, struct stand *stand, unsigned jobs)
{
    struct sim_error error = {0};
    sweep_must_store(path, stand->sweep, jobs);
    struct store *store = store_must_open(path, STORE_WRITE);
    struct store_run_info info = sample_info();
    char bytes[] = "outcome";
    const struct store_outcome outcomes[] = {outcome_of(1, bytes), outcome_of(2, bytes)};
    if (!store_tune_save(store, &sample_tune, &info, stand->result, ANSWER, &error) ||
        !store_outcomes_keep(store, &sample_tune, outcomes, 2, &error) ||
        !store_baselines_save(store, &stand->baseline, 1, &error))
        fail_msg("%s", error.text);
    store_close(store);
}

static inline struct stand stand_make(void)
{
    struct stand stand = {.folder = folder_make(), .sweep = sweep_make(), .result = sample_make_small()};
    stand.result->strategies[1].largest[LAB_IN_ROWS] = (struct lab_largest){"key-7", 7, 12, 31000};
    snprintf(stand.source_path, sizeof stand.source_path, "%s/source.db", stand.folder.path);
    stand.baseline = baseline_make("chat-channels", 6);
    lab_result_destroy(stand.baseline.result);
    stand.baseline.result = sample_make_small();
    for (uint64_t i = 0; i < 2; i++)
        stand.jobs[i] = sweep_job_make(4 + i, 2);
    fill(stand.source_path, &stand, 0x03c);
    fill(stand.folder.db, &stand, 0x00f);
    return stand;
}

static inline void stand_remove(struct stand *stand)
{
    sweep_jobs_clear(stand->jobs, 2);
    store_baseline_clear(&stand->baseline);
    lab_result_destroy(stand->result);
    lab_sweep_destroy(stand->sweep);
    folder_remove(&stand->folder);
}

#endif
