/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the baselines of `check`. */
#include "store/baseline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "private.h"

enum statement { DELETE_RUN, DELETE_BASELINE, INSERT_BASELINE, INSERT_METRIC, STATEMENT_COUNT };

static const char *const statements_sql[STATEMENT_COUNT] = {
    [DELETE_RUN] = "DELETE FROM run WHERE run = (SELECT run FROM baseline WHERE scenario = ?)",
    /* Needed only for a database that was edited by hand: a baseline is deleted together with its run. */
    [DELETE_BASELINE] = "DELETE FROM baseline WHERE scenario = ?",
    [INSERT_BASELINE] = "INSERT INTO baseline (scenario, run, seeds) VALUES (?, ?, ?)",
    [INSERT_METRIC] = ("INSERT INTO baseline_metric (scenario, label, name, count, mean, stddev, low, high) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
};

static bool run_for(struct store *store, sqlite3_stmt *statement, const char *scenario,
                    struct sim_error *error)
{
    struct store_binder binder = {.statement = statement};
    store_bind_text(&binder, scenario);
    return store_bind_run(store, &binder, error);
}

static double unbounded_as_null(double bound)
{
    return isinf(bound) ? (double)NAN : bound;
}

static bool save_one(struct store *store, sqlite3_stmt **statements, const struct store_baseline *baseline,
                     int64_t *run, struct sim_error *error)
{
    const char *scenario = baseline->result->scenario_name;
    if (!run_for(store, statements[DELETE_RUN], scenario, error) ||
        !run_for(store, statements[DELETE_BASELINE], scenario, error) ||
        !store_save_within(store, &baseline->info, baseline->result, run, error))
        return false;
    struct store_binder binder = {.statement = statements[INSERT_BASELINE]};
    store_bind_text(&binder, scenario);
    store_bind_integer(&binder, *run);
    store_bind_integer(&binder, (int64_t)baseline->seeds);
    bool fine = store_bind_run(store, &binder, error);
    for (size_t i = 0; fine && i < baseline->metric_count; i++) {
        const struct store_baseline_metric *metric = &baseline->metrics[i];
        binder = (struct store_binder){.statement = statements[INSERT_METRIC]};
        store_bind_text(&binder, scenario);
        store_bind_text(&binder, metric->label);
        store_bind_text(&binder, metric->name);
        store_bind_integer(&binder, (int64_t)metric->count);
        store_bind_real(&binder, metric->mean);
        store_bind_real(&binder, metric->stddev);
        store_bind_real(&binder, unbounded_as_null(metric->low));
        store_bind_real(&binder, unbounded_as_null(metric->high));
        fine = store_bind_run(store, &binder, error);
    }
    return fine;
}

bool store_baselines_save(struct store *store, struct store_baseline *baselines, size_t count,
                          struct sim_error *error)
{
    assert(store->mode == STORE_WRITE);
    sqlite3_stmt *statements[STATEMENT_COUNT] = {NULL};
    int64_t *runs = calloc(count > 0 ? count : 1, sizeof *runs);
    if (runs == NULL)
        return sim_fail_memory(error);
    bool is_new, fine = store_begin(store, &is_new, error);
    for (int i = 0; fine && i < STATEMENT_COUNT; i++)
        fine = store_prepare(store, statements_sql[i], &statements[i], error);
    for (size_t i = 0; fine && i < count; i++)
        fine = save_one(store, statements, &baselines[i], &runs[i], error);
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(statements[i]);
    fine = fine && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    for (size_t i = 0; fine && i < count; i++)
        baselines[i].info.run = runs[i];
    free(runs);
    return fine;
}

static bool find(struct store *store, const char *scenario, int64_t *run, struct store_baseline *out,
                 bool *is_there, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool fine = store_prepare(store, "SELECT run, seeds FROM baseline WHERE scenario = ?", &statement, error);
    if (!fine)
        return false;
    int code = sqlite3_bind_text(statement, 1, scenario, -1, SQLITE_STATIC);
    fine = (code == SQLITE_OK || store_fail(store, code, error)) &&
           store_next(store, statement, &row, is_there, error);
    if (fine && *is_there) {
        *run = store_take_integer(&row);
        out->seeds = (uint64_t)store_take_whole(&row, INT64_MAX);
        row.is_damaged = row.is_damaged || *run <= 0;
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool take_metric(struct store *store, struct store_row *row, struct store_baseline *out,
                        size_t *capacity, struct sim_error *error)
{
    if (!sim_grow(&out->metrics, capacity, out->metric_count + 1, sizeof *out->metrics))
        return sim_fail_memory(error);
    struct store_baseline_metric *metric = &out->metrics[out->metric_count++];
    *metric = (struct store_baseline_metric){.label = store_take_name(row)};
    char *name = store_take_name(row);
    row->is_damaged = row->is_damaged || strlen(name) >= sizeof metric->name;
    if (!row->is_damaged)
        memcpy(metric->name, name, strlen(name) + 1);
    free(name);
    metric->count = (uint64_t)store_take_whole(row, INT64_MAX);
    metric->mean = store_take_real(row);
    metric->stddev = store_take_real(row);
    metric->low = store_take_real(row);
    metric->high = store_take_real(row);
    /* NULL means that there is no bound. */
    metric->low = isnan(metric->low) ? -(double)INFINITY : metric->low;
    metric->high = isnan(metric->high) ? (double)INFINITY : metric->high;
    return store_row_check(store, row, error);
}

static bool load_metrics(struct store *store, const char *scenario, struct store_baseline *out,
                         struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    size_t capacity = 0;
    if (!store_prepare(store,
                       "SELECT label, name, count, mean, stddev, low, high FROM baseline_metric WHERE "
                       "scenario = ? ORDER BY label, name",
                       &statement, error))
        return false;
    int code = sqlite3_bind_text(statement, 1, scenario, -1, SQLITE_STATIC);
    bool more = true, fine = code == SQLITE_OK || store_fail(store, code, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more)
        fine = take_metric(store, &row, out, &capacity, error);
    sqlite3_finalize(statement);
    return fine;
}

bool store_baseline_load(struct store *store, const char *scenario, struct store_baseline *out,
                         bool *is_there, struct sim_error *error)
{
    int64_t run = 0;
    *out = (struct store_baseline){0};
    *is_there = false;
    if (store->db == NULL)
        return true;
    /* One transaction, so that all queries see the same state. */
    bool fine = store_execute(store, "BEGIN", error) && find(store, scenario, &run, out, is_there, error);
    if (fine && *is_there)
        fine = store_load_within(store, run, &out->info, &out->result, error) &&
               load_metrics(store, scenario, out, error);
    store_rollback(store);
    if (!fine) {
        *is_there = false;
        store_baseline_clear(out);
    }
    return fine;
}

void store_baseline_clear(struct store_baseline *baseline)
{
    for (size_t i = 0; i < baseline->metric_count; i++)
        free(baseline->metrics[i].label);
    free(baseline->metrics);
    lab_result_destroy(baseline->result);
    *baseline = (struct store_baseline){0};
}
