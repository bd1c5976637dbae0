/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Baselines for the tests of the store. */
#ifndef TESTS_STORE_BASELINE_SAMPLE_H
#define TESTS_STORE_BASELINE_SAMPLE_H

#include <math.h>

#include "sample.h"
#include "store/store.h"

/* In an order that differs from the order in which they are loaded. */
#define BASELINE_METRICS 4

static inline struct store_baseline baseline_make(const char *scenario, uint64_t seeds)
{
    struct store_baseline baseline = {.info = sample_info(), .result = sample_make(2), .seeds = seeds};
    free(baseline.result->scenario_name);
    baseline.result->scenario_name = text_copy(scenario);
    baseline.metrics = calloc(BASELINE_METRICS, sizeof *baseline.metrics);
    assert_non_null(baseline.metrics);
    baseline.metric_count = BASELINE_METRICS;
    baseline.metrics[0] = (struct store_baseline_metric){
        text_copy("time"), "writes.rows", seeds, 1.0 / 3.0, 5e-324, -0.1, 1.7976931348623157e308};
    baseline.metrics[1] = (struct store_baseline_metric){text_copy("hash"), "writes.rows",   1, 7, 0,
                                                         -(double)INFINITY, (double)INFINITY};
    baseline.metrics[2] =
        (struct store_baseline_metric){text_copy("hash"), "partitions.total", seeds, 0, 0, 0, 0};
    baseline.metrics[3] = (struct store_baseline_metric){
        text_copy("Kanal's \xc3\xa4"), "partitions.total", seeds, -3, 2.5, -9, -1};
    return baseline;
}

static inline void assert_metric_equal(const struct store_baseline_metric *a,
                                       const struct store_baseline_metric *b)
{
    assert_string_equal(a->label, b->label);
    assert_string_equal(a->name, b->name);
    assert_true(a->count == b->count && a->mean == b->mean && a->stddev == b->stddev);
    assert_true(a->low == b->low && a->high == b->high);
}

static inline void assert_baseline_equal(const struct store_baseline *saved,
                                         const struct store_baseline *loaded)
{
    static const size_t order[BASELINE_METRICS] = {3, 2, 1, 0};
    assert_results_equal(saved->result, loaded->result);
    assert_true(saved->seeds == loaded->seeds);
    assert_string_equal(saved->info.scenario_text, loaded->info.scenario_text);
    assert_string_equal(saved->info.version, loaded->info.version);
    assert_int_equal(loaded->metric_count, BASELINE_METRICS);
    for (size_t i = 0; i < BASELINE_METRICS; i++)
        assert_metric_equal(&saved->metrics[order[i]], &loaded->metrics[i]);
}

static inline bool baseline_save(const char *path, struct store_baseline *baselines, size_t count,
                                 struct sim_error *error)
{
    struct store *store;
    bool fine =
        store_open(path, STORE_WRITE, &store, error) && store_baselines_save(store, baselines, count, error);
    store_close(store);
    return fine;
}

#endif
