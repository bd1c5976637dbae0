/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves a run. */
#include <assert.h>
#include <stdlib.h>

#include "private.h"

enum insert {
    INSERT_RUN,
    INSERT_STRATEGY,
    INSERT_SETTING,
    INSERT_METRIC,
    INSERT_HISTOGRAM,
    INSERT_EXPECTATION,
    INSERT_EVENT_LOG,
    INSERT_CHANGE,
    INSERT_BELIEF,
    INSERT_LARGEST,
    INSERT_SLICE,
    INSERT_NODE,
    INSERT_TERM,
    INSERT_COUNT
};

static const char *const inserts[INSERT_COUNT] = {
    [INSERT_RUN] = "INSERT INTO run (scenario, about, source, seed, digest, rows, keys, start_ns, end_ns, "
                   "limit_partition_rows, limit_partition_bytes, limit_tiny_rows, created_unix_s, "
                   "elapsed_ms, version, scenario_path, scenario_text, overrides) VALUES (?, ?, ?, ?, ?, ?, "
                   "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_STRATEGY] =
        "INSERT INTO strategy (run, position, label, kind, placement_digest) VALUES (?, ?, ?, ?, ?)",
    [INSERT_SETTING] = "INSERT INTO setting (strategy, name, value) VALUES (?, ?, ?)",
    [INSERT_METRIC] = "INSERT INTO metric (strategy, position, name, value) VALUES (?, ?, ?, ?)",
    [INSERT_HISTOGRAM] = "INSERT INTO histogram (strategy, state, unit, is_rounded, count, weight, least, "
                         "most, sum, sum_of_squares, weighted_sum, weighted_sum_of_squares, bins) VALUES (?, "
                         "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_EXPECTATION] = "INSERT INTO expectation (run, position, text, actual, ok) VALUES (?, ?, ?, ?, ?)",
    [INSERT_EVENT_LOG] =
        "INSERT INTO event_log (strategy, digest, events, stride, marks) VALUES (?, ?, ?, ?, ?)",
    [INSERT_CHANGE] =
        "INSERT INTO change (strategy, key, change_ns, until_ns, agents) VALUES (?, ?, ?, ?, ?)",
    [INSERT_BELIEF] = ("INSERT INTO belief (strategy, position, time_ns, agent, bucket, is_known, "
                       "is_changing) VALUES (?, ?, ?, ?, ?, ?, ?)"),
    [INSERT_LARGEST] =
        "INSERT INTO largest (strategy, unit, key, key_index, bucket, size) VALUES (?, ?, ?, ?, ?, ?)",
    [INSERT_SLICE] =
        "INSERT INTO slice (strategy, state, start_ns, end_ns, partitions, rows_least, rows_p10, "
        "rows_p50, rows_p90, rows_most, bytes_least, bytes_p10, bytes_p50, bytes_p90, "
        "bytes_most) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_TERM] = "INSERT INTO run_term (run, name, value) VALUES (?, ?, ?)",
    [INSERT_NODE] = "INSERT INTO node (strategy, position, name, rows, bytes) VALUES (?, ?, ?, ?, ?)",
};

struct store_saver {
    sqlite3_stmt *statements[INSERT_COUNT];
};

bool store_save_run(struct store *store, struct store_run_info *info, const struct lab_result *result,
                    struct sim_error *error)
{
    bool is_new, fine = store_begin(store, &is_new, error);
    int64_t run = 0;
    fine =
        fine && store_save_within(store, info, result, &run, error) && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    if (fine)
        info->run = run;
    return fine;
}

bool store_save_within(struct store *store, const struct store_run_info *info,
                       const struct lab_result *result, int64_t *run, struct sim_error *error)
{
    assert(store->mode == STORE_WRITE);
    struct store_saver *saver;
    bool fine =
        store_saver_make(store, &saver, error) && store_saver_add(store, saver, info, result, run, error);
    store_saver_free(saver);
    return fine;
}

bool store_saver_make(struct store *store, struct store_saver **out, struct sim_error *error)
{
    struct store_saver *saver = *out = calloc(1, sizeof *saver);
    bool fine = saver != NULL || sim_fail_memory(error);
    for (int i = 0; fine && i < INSERT_COUNT; i++)
        fine = store_prepare(store, inserts[i], &saver->statements[i], error);
    if (!fine) {
        store_saver_free(saver);
        *out = NULL;
    }
    return fine;
}

void store_saver_free(struct store_saver *saver)
{
    for (int i = 0; saver != NULL && i < INSERT_COUNT; i++)
        sqlite3_finalize(saver->statements[i]);
    free(saver);
}

static bool save_head(struct store *store, sqlite3_stmt *statement, const struct store_run_info *info,
                      const struct lab_result *result, struct sim_error *error)
{
    struct store_binder binder = {.statement = statement};
    store_bind_text(&binder, result->scenario_name);
    store_bind_text(&binder, result->about);
    store_bind_text(&binder, result->source);
    store_bind_whole(&binder, result->seed);
    store_bind_digest(&binder, result->digest);
    store_bind_whole(&binder, result->rows);
    store_bind_whole(&binder, result->keys);
    store_bind_integer(&binder, result->start_ns);
    store_bind_integer(&binder, result->end_ns);
    store_bind_whole(&binder, result->limits.partition_rows);
    store_bind_whole(&binder, result->limits.partition_bytes);
    store_bind_whole(&binder, result->limits.tiny_rows);
    store_bind_integer(&binder, info->created_unix_s);
    store_bind_integer(&binder, info->elapsed_ms);
    store_bind_text(&binder, info->version);
    store_bind_text(&binder, info->scenario_path);
    store_bind_text(&binder, info->scenario_text);
    store_bind_text(&binder, info->overrides);
    return store_bind_run(store, &binder, error);
}

static bool save_strategy(struct store *store, sqlite3_stmt **statements, int64_t run, size_t position,
                          const struct lab_strategy_result *result, struct sim_error *error)
{
    struct store_binder binder = {.statement = statements[INSERT_STRATEGY]};
    store_bind_integer(&binder, run);
    store_bind_integer(&binder, (int64_t)position);
    store_bind_text(&binder, result->label);
    store_bind_text(&binder, lab_result_kind(result));
    store_bind_digest(&binder, result->placement_digest);
    if (!store_bind_run(store, &binder, error))
        return false;
    int64_t id = sqlite3_last_insert_rowid(store->db);
    if (!store_settings_save(store, statements[INSERT_SETTING], id, result, error))
        return false;
    for (size_t i = 0; i < result->metrics.count; i++) {
        binder = (struct store_binder){.statement = statements[INSERT_METRIC]};
        store_bind_integer(&binder, id);
        store_bind_integer(&binder, (int64_t)i);
        store_bind_text(&binder, result->metrics.items[i].name);
        store_bind_real(&binder, result->metrics.items[i].value);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return store_histograms_save(store, statements[INSERT_HISTOGRAM], id, result, error) &&
           store_largest_save(store, statements[INSERT_LARGEST], id, result->largest, error) &&
           store_slices_save(store, statements[INSERT_SLICE], id, &result->timeline, error) &&
           store_nodes_save(store, statements[INSERT_NODE], id, result, error) &&
           store_events_save(store, statements[INSERT_EVENT_LOG], id, &result->events, error) &&
           store_views_save(store, statements[INSERT_CHANGE], statements[INSERT_BELIEF], id, &result->views,
                            error);
}

static bool save_expectations(struct store *store, sqlite3_stmt *statement, int64_t run,
                              const struct lab_result *result, struct sim_error *error)
{
    for (size_t i = 0; i < result->expect_count; i++) {
        struct store_binder binder = {.statement = statement};
        store_bind_integer(&binder, run);
        store_bind_integer(&binder, (int64_t)i);
        store_bind_text(&binder, result->expects[i].text);
        store_bind_real(&binder, result->expects[i].actual);
        store_bind_integer(&binder, result->expects[i].ok);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

static bool save_all(struct store *store, sqlite3_stmt **statements, const struct store_run_info *info,
                     const struct lab_result *result, int64_t *run, struct sim_error *error)
{
    if (!save_head(store, statements[INSERT_RUN], info, result, error))
        return false;
    *run = sqlite3_last_insert_rowid(store->db);
    if (!store_terms_save(store, statements[INSERT_TERM], *run, result, error))
        return false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (!save_strategy(store, statements, *run, i, &result->strategies[i], error))
            return false;
    }
    return save_expectations(store, statements[INSERT_EXPECTATION], *run, result, error);
}

bool store_saver_add(struct store *store, struct store_saver *saver, const struct store_run_info *info,
                     const struct lab_result *result, int64_t *run, struct sim_error *error)
{
    return save_all(store, saver->statements, info, result, run, error);
}
