/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of sweeps in the store: a sweep, and made-up jobs for it. */
#ifndef TESTS_STORE_SWEEP_SAMPLE_H
#define TESTS_STORE_SWEEP_SAMPLE_H

#include "sample.h"

#include "store/store.h"

#define SWEEP_JOBS    12u
#define SWEEP_VERSION "0.1.0"

static inline struct lab_sweep *sweep_make(void)
{
    static const char text[] = "duration: 1d\nkeys: {count: 10}\narrivals: {rate: 1/s}\n"
                               "strategies:\n  - hash: {buckets: 2}\n"
                               "sweep: {seeds: 4, grid: {strategies.hash.buckets: [2, 3, 4]}}\n";
    struct lab_sweep *sweep;
    struct sim_error error = {0};
    if (!lab_sweep_parse("x.yaml", text, sizeof text - 1, NULL, 0, NULL, &sweep, &error))
        fail_msg("%s", error.text);
    assert_int_equal(sweep->job_count, SWEEP_JOBS);
    return sweep;
}

static inline uint64_t sweep_run_digest(uint64_t job)
{
    return sim_mix64(job + 77);
}

static inline struct store_job sweep_job_make(uint64_t job, uint64_t bins)
{
    struct store_job made = {.job = job, .created_unix_s = 1767225600, .elapsed_ms = 12};
    made.result = sample_make(bins);
    made.result->digest = sweep_run_digest(job);
    made.result->strategies[0].metrics.items[0].value = (double)job;
    made.overrides = text_copy("strategies.hash.buckets=2\n");
    return made;
}

static inline void sweep_jobs_clear(struct store_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lab_result_destroy(jobs[i].result);
        free(jobs[i].overrides);
    }
}

/* Stores the jobs whose bits are set, in one batch. */
static inline bool sweep_keep(struct store_sweep *stored, unsigned bits, uint64_t bins,
                              struct sim_error *error)
{
    struct store_job jobs[SWEEP_JOBS];
    size_t count = 0;
    for (unsigned job = 0; job < SWEEP_JOBS; job++) {
        if (bits >> job & 1)
            jobs[count++] = sweep_job_make(job, bins);
    }
    bool is_fine = store_sweep_keep(stored, jobs, count, error);
    sweep_jobs_clear(jobs, count);
    return is_fine;
}

static inline struct store_sweep *sweep_must_open(struct store *store, const struct lab_sweep *sweep)
{
    struct store_sweep *stored;
    struct sim_error error = {0};
    if (!store_sweep_open(store, sweep, "/x.yaml", SWEEP_VERSION, &stored, &error))
        fail_msg("%s", error.text);
    return stored;
}

/* Stores the jobs whose bits are set. */
static inline void sweep_must_store(const char *path, const struct lab_sweep *sweep, unsigned bits)
{
    struct sim_error error = {0};
    struct store *store = store_must_open(path, STORE_WRITE);
    struct store_sweep *stored = sweep_must_open(store, sweep);
    if (!sweep_keep(stored, bits, 3, &error))
        fail_msg("%s", error.text);
    store_sweep_close(stored);
    store_close(store);
}

/* The finished jobs as bits; asserts that the database has each of them once and nothing else. */
static inline unsigned sweep_done(const char *path, const struct lab_sweep *sweep)
{
    unsigned bits = 0;
    uint64_t digest, expected = 0;
    struct sim_error error = {0};
    struct store *store = store_must_open(path, STORE_WRITE);
    struct store_sweep *stored = sweep_must_open(store, sweep);
    if (!store_sweep_digest(stored, &digest, &error))
        fail_msg("%s", error.text);
    for (unsigned job = 0; job < SWEEP_JOBS; job++) {
        if (!store_sweep_is_done(stored, job))
            continue;
        bits |= 1u << job;
        expected = lab_sweep_digest_add(expected, job + 1, sweep_run_digest(job));
    }
    assert_true(digest == expected);
    assert_int_equal(store_sweep_done(stored), __builtin_popcount(bits));
    store_sweep_close(stored);
    store_close(store);
    assert_query(path, "PRAGMA integrity_check", "ok\n");
    assert_query(path, "PRAGMA foreign_key_check", "");
    assert_query(
        path, "SELECT job FROM sweep_job JOIN run USING (run) GROUP BY sweep, job HAVING count(*) > 1", "");
    return bits;
}

#endif
