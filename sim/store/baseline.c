/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the baselines of `check`. */
#include "store/store.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "private.h"

/* In the database NULL means that there is no bound. */
static void bounds_to_null(struct store_baseline_metric *metric, bool is_loaded)
{
    if (is_loaded && isnan(metric->low))
        metric->low = -(double)INFINITY;
    else if (isinf(metric->low))
        metric->low = (double)NAN;
    if (is_loaded && isnan(metric->high))
        metric->high = (double)INFINITY;
    else if (isinf(metric->high))
        metric->high = (double)NAN;
}

static bool save_one(struct store *store, const struct store_baseline *baseline, int64_t *run,
                     struct sim_error *error)
{
    const struct store_baseline_row row = {.scenario = baseline->result->scenario_name,
                                           .seeds = baseline->seeds};
    int64_t none;
    /* The second is needed only for a database that was edited by hand: a baseline is deleted together with
     * its run. */
    bool fine =
        store_number(store, "DELETE FROM run WHERE run = (SELECT run FROM baseline WHERE scenario = ?2)", 0,
                     row.scenario, &none, NULL, error) &&
        store_number(store, "DELETE FROM baseline WHERE scenario = ?2", 0, row.scenario, &none, NULL,
                     error) &&
        store_save_within(store, &baseline->info, baseline->result, run, error) &&
        store_rows_save(store, STORE_BASELINE, *run, &row, 1, error);
    for (size_t i = 0; fine && i < baseline->metric_count; i++) {
        struct store_baseline_metric metric = baseline->metrics[i];
        bounds_to_null(&metric, false);
        fine = store_rows_save(store, STORE_BASELINE_METRIC, *run, &metric, 1, error);
    }
    return fine;
}

bool store_baselines_save(struct store *store, struct store_baseline *baselines, size_t count,
                          struct sim_error *error)
{
    assert(store->mode == STORE_WRITE);
    int64_t *runs = g_new0(int64_t, count);
    bool is_new, fine = store_begin(store, &is_new, error);
    for (size_t i = 0; fine && i < count; i++)
        fine = save_one(store, &baselines[i], &runs[i], error);
    fine = fine && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    for (size_t i = 0; fine && i < count; i++)
        baselines[i].info.run = runs[i];
    free(runs);
    return fine;
}

/* Loads the baseline of a scenario, if there is one. */
static bool load(struct store *store, const char *scenario, struct store_baseline *out, bool *is_there,
                 struct sim_error *error)
{
    struct store_baseline_row *row;
    size_t count;
    bool fine = store_rows_find(store, STORE_BASELINE, "scenario = ?2", 0, scenario, &row, &count, error);
    *is_there = fine && count > 0;
    if (*is_there) {
        out->seeds = row->seeds;
        fine =
            (row->run > 0 || store_fail_damaged(store, "a baseline without its run", error)) &&
            store_load_within(store, row->run, &out->info, &out->result, error) &&
            store_rows_load(store, STORE_BASELINE_METRIC, row->run, &out->metrics, &out->metric_count, error);
        for (size_t i = 0; i < out->metric_count; i++)
            bounds_to_null(&out->metrics[i], true);
    }
    store_rows_free(STORE_BASELINE, row, count);
    return fine;
}

bool store_baseline_load(struct store *store, const char *scenario, struct store_baseline *out,
                         bool *is_there, struct sim_error *error)
{
    *out = (struct store_baseline){0};
    *is_there = false;
    if (store->db == NULL)
        return true;
    /* One transaction, so that all queries see the same state. */
    const bool fine = store_execute(store, "BEGIN", error) && load(store, scenario, out, is_there, error);
    store_rollback(store);
    if (!fine) {
        *is_there = false;
        store_baseline_clear(out);
    }
    return fine;
}

void store_baseline_clear(struct store_baseline *baseline)
{
    store_rows_free(STORE_BASELINE_METRIC, baseline->metrics, baseline->metric_count);
    lab_result_destroy(baseline->result);
    *baseline = (struct store_baseline){0};
}
