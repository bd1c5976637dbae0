/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

/* Lists the numbers of the runs, such as "1 to 5, 8, 10 to 12", as far as they fit into a line. */
static bool list_runs(struct store *store, char *list, size_t size, struct sim_error *error)
{
    static const char sql[] = "SELECT min(run), max(run) FROM (SELECT run, run - row_number() OVER (ORDER BY "
                              "run) AS island FROM run) GROUP BY island ORDER BY 1";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool more = store->db != NULL, fine = !more || store_prepare(store, sql, &statement, error);
    size_t used = 0;
    list[0] = '\0';
    while (more && fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        long long first = (long long)store_take_integer(&row), last = (long long)store_take_integer(&row);
        const char *comma = used == 0 ? "" : ", ";
        if (used > size - 64) {
            used += (size_t)snprintf(list + used, size - used, ", ...");
            break;
        }
        if (first == last)
            used += (size_t)snprintf(list + used, size - used, "%s%lld", comma, first);
        else
            used += (size_t)snprintf(list + used, size - used, "%s%lld to %lld", comma, first, last);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool fail_missing(struct store *store, int64_t run, struct sim_error *error)
{
    char list[256];
    if (!list_runs(store, list, sizeof list, error))
        return false;
    if (list[0] == '\0')
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: has no run yet; run a scenario first, or name another with --db", store->path);
    return sim_fail(error, SIM_ERROR_INPUT, "%s: no run %lld; it has run%s %s", store->path, (long long)run,
                    strpbrk(list, " ,") == NULL ? "" : "s", list);
}

bool store_load_run(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                    struct sim_error *error)
{
    *out = NULL;
    if (store->db == NULL)
        return fail_missing(store, run, error);
    /* One transaction, so that all queries see the same state. */
    bool fine = store_execute(store, "BEGIN", error) && store_load_within(store, run, info, out, error);
    store_rollback(store);
    return fine;
}

static void take_head(struct store *store, struct store_row *row, struct store_run_info *info,
                      struct lab_result *result)
{
    memset(info, 0, sizeof *info);
    info->run = store_take_integer(row);
    info->created_unix_s = store_take_integer(row);
    info->elapsed_ms = (int64_t)store_take_whole(row, INT64_MAX / 2);
    for (int i = 0; i < STORE_INFO_TEXTS; i++) {
        free(store->texts[i]);
        store->texts[i] = store_take_text(row);
    }
    info->version = store->texts[0];
    info->scenario_path = store->texts[1];
    info->scenario_text = store->texts[2];
    info->overrides = store->texts[3];
    result->scenario_name = store_take_name(row);
    result->about = store_take_text(row);
    result->source = store_take_text(row);
    result->seed = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->digest = store_take_digest(row);
    result->rows = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->keys = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->start_ns = store_take_integer(row);
    result->end_ns = store_take_integer(row);
    result->limits.partition_rows = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->limits.partition_bytes = (uint64_t)store_take_whole(row, UINT64_MAX);
    result->limits.tiny_rows = (uint64_t)store_take_whole(row, UINT64_MAX);
}

static bool load_head(struct store *store, int64_t run, struct store_run_info *info,
                      struct lab_result *result, bool *is_there, struct sim_error *error)
{
    /* Strategies are counted in their table and found through its index: if one of the two is damaged, the
     * results differ. */
    static const char sql[] =
        "SELECT run, created_unix_s, elapsed_ms, version, scenario_path, scenario_text, overrides, scenario, "
        "about, CASE source WHEN 'made' THEN 'synthetic' ELSE source END, seed, digest, rows, keys, "
        "start_ns, end_ns, limit_partition_rows, "
        "limit_partition_bytes, limit_tiny_rows, (SELECT count(*) FROM strategy NOT INDEXED WHERE "
        "strategy.run = run.run), (SELECT count(*) FROM expectation WHERE expectation.run = run.run), "
        "EXISTS (SELECT 1 FROM tune WHERE tune.run = run.run) FROM run WHERE ?1 IN (run, 0) ORDER BY run "
        "DESC LIMIT 1";
    sqlite3_stmt *statement;
    struct store_row row;
    *is_there = false;
    bool fine = store_query(store, sql, run, &statement, error) &&
                store_next(store, statement, &row, is_there, error);
    if (fine && *is_there) {
        take_head(store, &row, info, result);
        size_t strategies = (size_t)store_take_whole(&row, INT64_MAX);
        size_t expects = (size_t)store_take_whole(&row, INT64_MAX);
        result->is_tuned = store_take_whole(&row, 1) != 0;
        result->strategies = calloc(strategies > 0 ? strategies : 1, sizeof *result->strategies);
        result->expects = calloc(expects > 0 ? expects : 1, sizeof *result->expects);
        if (result->strategies == NULL || result->expects == NULL) {
            row.is_out_of_memory = true;
        } else {
            result->strategy_count = strategies;
            result->expect_count = expects;
        }
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool load_strategy(struct store *store, struct store_row *row, struct lab_strategy_result *out,
                          struct sim_error *error)
{
    int64_t id = store_take_integer(row);
    out->label = store_take_name(row);
    char *kind = store_take_name(row);
    out->placement_digest = store_take_digest(row);
    bool fine =
        store_row_check(store, row, error) && store_settings_load(store, id, kind, out, error) &&
        store_metrics_load(store, id, &out->metrics, error) && store_histograms_load(store, id, out, error) &&
        store_largest_load(store, id, out->largest, error) &&
        store_slices_load(store, id, &out->timeline, error) && store_nodes_load(store, id, out, error) &&
        store_events_load(store, id, &out->events, error) && store_views_load(store, id, &out->views, error);
    free(kind);
    return fine;
}

static bool load_strategies(struct store *store, int64_t run, struct lab_result *result,
                            struct sim_error *error)
{
    /* Version 8 renamed one kind. */
    static const char sql[] =
        "SELECT strategy, label, CASE kind WHEN 'none' THEN 'unbucketed' ELSE kind END, "
        "placement_digest FROM strategy WHERE run = ? ORDER BY position";
    sqlite3_stmt *statement;
    struct store_row row;
    bool more, fine = store_query(store, sql, run, &statement, error);
    for (size_t i = 0; fine && i < result->strategy_count; i++) {
        fine = store_next(store, statement, &row, &more, error);
        if (fine && !more)
            fine = store_fail_damaged(store, "fewer strategies than were counted", error);
        fine = fine && load_strategy(store, &row, &result->strategies[i], error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool load_expectations(struct store *store, int64_t run, struct lab_result *result,
                              struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more,
        fine = store_query(store, "SELECT text, actual, ok FROM expectation WHERE run = ? ORDER BY position",
                           run, &statement, error);
    result->expects_hold = true;
    for (size_t i = 0; fine && i < result->expect_count; i++) {
        fine = store_next(store, statement, &row, &more, error);
        if (fine && !more)
            fine = store_fail_damaged(store, "fewer expectations than were counted", error);
        if (!fine)
            break;
        struct lab_expect_result *expect = &result->expects[i];
        expect->text = store_take_name(&row);
        expect->actual = store_take_real(&row);
        expect->ok = store_take_integer(&row) != 0;
        if (!expect->ok)
            result->expects_hold = false;
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool load_all(struct store *store, int64_t run, struct store_run_info *info, struct lab_result *result,
                     struct sim_error *error)
{
    struct store_run_info found;
    bool is_there;
    if (!load_head(store, run, &found, result, &is_there, error))
        return false;
    if (!is_there)
        return fail_missing(store, run, error);
    if (!store_terms_load(store, found.run, result, error) ||
        !load_strategies(store, found.run, result, error) ||
        !load_expectations(store, found.run, result, error))
        return false;
    *info = found;
    return true;
}

bool store_load_within(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                       struct sim_error *error)
{
    struct store_run_info ignored;
    struct lab_result *result = calloc(1, sizeof *result);
    *out = NULL;
    if (result == NULL)
        return sim_fail_memory(error);
    if (!load_all(store, run, info == NULL ? &ignored : info, result, error)) {
        lab_result_destroy(result);
        return false;
    }
    *out = result;
    return true;
}
