/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Baselines: for each scenario, by its name, the run that later ones are compared with, and from where to
 * where its figures lie when the seed is another one. They are in a run database, with runs or alone. */
#ifndef STORE_BASELINE_H
#define STORE_BASELINE_H

#include "store/store.h"

/* One figure over the seeds. */
struct store_baseline_metric {
    char *label; /* of the strategy */
    char name[LAB_METRIC_NAME_SIZE];
    uint64_t count; /* of the seeds that have it */
    double mean, stddev;
    double low, high; /* -INFINITY and INFINITY: no bound */
};

struct store_baseline {
    struct store_run_info info;
    struct lab_result *result;
    uint64_t seeds;
    struct store_baseline_metric *metrics; /* loaded: by label, then name, in the order of bytes */
    size_t metric_count;
};

/* Puts each in the place of the one that its scenario had, run included, in one transaction: all or none.
 * Sets info.run. */
bool store_baselines_save(struct store *store, struct store_baseline *baselines, size_t count,
                          struct sim_error *error);
/* *is_there: whether the scenario of this name has one; then the caller clears it. The strings of out->info
 * live until store_close() or the next load. */
bool store_baseline_load(struct store *store, const char *scenario, struct store_baseline *out,
                         bool *is_there, struct sim_error *error);
/* Frees what is in it; a zeroed one is fine. */
void store_baseline_clear(struct store_baseline *baseline);

#endif
