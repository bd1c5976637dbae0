/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Baselines: for each scenario, by its name, the run with which later runs are compared, and the range of
 * each metric over other seeds. They are stored in a run database, which may have other runs too. */
#ifndef STORE_BASELINE_H
#define STORE_BASELINE_H

#include "store/store.h"

/* A metric over the seeds. */
struct store_baseline_metric {
    char *label; /* of the strategy */
    char name[LAB_METRIC_NAME_SIZE];
    uint64_t count; /* number of seeds that have the metric */
    double mean, stddev;
    double low, high; /* -INFINITY and INFINITY: no bound */
};

struct store_baseline {
    struct store_run_info info;
    struct lab_result *result;
    uint64_t seeds;
    struct store_baseline_metric *metrics; /* after a load, sorted by label, then by name, as bytes */
    size_t metric_count;
};

/* Stores the baselines in one transaction: all or none. Each replaces the baseline that its scenario had,
 * together with its run. Sets info.run. */
bool store_baselines_save(struct store *store, struct store_baseline *baselines, size_t count,
                          struct sim_error *error);
/* Sets *is_there to whether the scenario of this name has a baseline; if it has, the caller must clear *out.
 * The strings of out->info live until store_close() or the next load. */
bool store_baseline_load(struct store *store, const char *scenario, struct store_baseline *out,
                         bool *is_there, struct sim_error *error);
/* Frees the contents; a zeroed struct is allowed. */
void store_baseline_clear(struct store_baseline *baseline);

#endif
