/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores the states of unfinished runs. */
#include "store/unfinished.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "private.h"

#define COLUMNS                                                                                              \
    "run, attempt, state = 'stopped', scenario, seed, sources, created_unix_s, elapsed_ms, version, "        \
    "scenario_path, scenario_text, overrides, (SELECT count(DISTINCT part) FROM snapshot WHERE "             \
    "snapshot.run = unfinished.run), (SELECT coalesce(sum(length(bytes)), 0) FROM snapshot WHERE "           \
    "snapshot.run = unfinished.run)"

/* Its states are deleted with it. */
static const char drop_text[] = "DELETE FROM unfinished WHERE run = ?1 AND attempt = ?2 AND ?3 >= 0";

/* Reserves the number of the next run. SQLite (AUTOINCREMENT) never reuses a number, even after the run is
 * deleted. */
static bool reserve(struct store *store, int64_t *run, struct sim_error *error)
{
    if (!store_execute(store,
                       "INSERT INTO run (seed, digest, rows, keys, scenario, start_ns, end_ns, "
                       "limit_partition_rows, limit_partition_bytes, limit_tiny_rows, created_unix_s, "
                       "elapsed_ms) VALUES (0, '', 0, 0, '', 0, 0, 0, 0, 0, 0, 0)",
                       error))
        return false;
    *run = sqlite3_last_insert_rowid(store->db);
    return store_execute(store, "DELETE FROM run WHERE digest = ''", error);
}

static bool begin_all(struct store *store, struct store_unfinished *unfinished, struct sim_error *error)
{
    sqlite3_stmt *insert = NULL;
    int64_t run = 0;
    bool fine = reserve(store, &run, error) &&
                store_prepare(store,
                              "INSERT INTO unfinished (run, attempt, state, scenario, seed, sources, "
                              "created_unix_s, elapsed_ms, version, scenario_path, scenario_text, overrides) "
                              "VALUES (?, 1, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                              &insert, error);
    if (fine) {
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, run);
        store_bind_text(&binder, unfinished->scenario_name);
        store_bind_whole(&binder, unfinished->seed);
        store_bind_digest(&binder, unfinished->sources);
        store_bind_integer(&binder, unfinished->created_unix_s);
        store_bind_integer(&binder, unfinished->elapsed_ms);
        store_bind_text(&binder, unfinished->version);
        store_bind_text(&binder, unfinished->scenario_path);
        store_bind_text(&binder, unfinished->scenario_text);
        store_bind_text(&binder, unfinished->overrides);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(insert);
    unfinished->run = run;
    unfinished->attempt = 1;
    return fine;
}

bool store_unfinished_begin(struct store *store, struct store_unfinished *unfinished, struct sim_error *error)
{
    bool is_new, fine = store_begin(store, &is_new, error);
    fine = fine && begin_all(store, unfinished, error) && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    if (!fine)
        unfinished->run = 0;
    return fine;
}

static void take_one(struct store_row *row, struct store_unfinished *out)
{
    memset(out, 0, sizeof *out);
    out->run = store_take_integer(row);
    out->attempt = store_take_integer(row);
    out->is_stopped = store_take_integer(row) != 0;
    out->scenario_name = store_take_name(row);
    out->seed = (uint64_t)store_take_whole(row, UINT64_MAX);
    out->sources = store_take_digest(row);
    out->created_unix_s = store_take_integer(row);
    out->elapsed_ms = store_take_integer(row);
    out->version = store_take_name(row);
    out->scenario_path = store_take_name(row);
    out->scenario_text = store_take_name(row);
    out->overrides = store_take_name(row);
    out->parts = store_take_integer(row);
    out->bytes = store_take_integer(row);
}

static bool take_all(struct store *store, const char *sql, int64_t run, struct store_unfinished **out,
                     size_t *count, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    struct store_unfinished *items = NULL;
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    if (store->db == NULL)
        return true;
    bool more = true, fine = store_query(store, sql, run, &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        if (!sim_grow(&items, &capacity, *count + 1, sizeof *items)) {
            fine = sim_fail_memory(error);
            break;
        }
        take_one(&row, &items[(*count)++]);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    if (!fine) {
        store_unfinished_free(items, *count);
        *count = 0;
        return false;
    }
    *out = items;
    return true;
}

bool store_unfinished_load(struct store *store, int64_t run, struct store_unfinished *out, bool *is_there,
                           struct sim_error *error)
{
    struct store_unfinished *items;
    size_t count;
    memset(out, 0, sizeof *out);
    *is_there = false;
    if (!take_all(store,
                  "SELECT " COLUMNS " FROM unfinished WHERE ?1 = 0 OR run = ?1 ORDER BY run DESC LIMIT 1",
                  run, &items, &count, error))
        return false;
    if (count > 0)
        *out = items[0];
    *is_there = count > 0;
    free(items);
    return true;
}

bool store_unfinished_list(struct store *store, struct store_unfinished **out, size_t *count,
                           struct sim_error *error)
{
    return take_all(store, "SELECT " COLUMNS " FROM unfinished WHERE ?1 = 0 ORDER BY run DESC", 0, out, count,
                    error);
}

void store_unfinished_clear(struct store_unfinished *unfinished)
{
    free(unfinished->scenario_name);
    free(unfinished->version);
    free(unfinished->scenario_path);
    free(unfinished->scenario_text);
    free(unfinished->overrides);
    memset(unfinished, 0, sizeof *unfinished);
}

void store_unfinished_free(struct store_unfinished *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        store_unfinished_clear(&items[i]);
    free(items);
}

static bool fail_taken(const struct store *store, const struct store_unfinished *unfinished,
                       struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_CHECK,
                    "%s: another program resumed run %" PRId64
                    ", or has finished it; see it with `bucketlab runs`",
                    store->path, unfinished->run);
}

/* Executes a statement with the parameters run, attempt and elapsed time, which must change exactly one
 * row. */
static bool update(struct store *store, const char *sql, const struct store_unfinished *unfinished,
                   struct sim_error *error)
{
    sqlite3_stmt *statement;
    bool fine = store_prepare(store, sql, &statement, error);
    if (fine) {
        struct store_binder binder = {.statement = statement};
        store_bind_integer(&binder, unfinished->run);
        store_bind_integer(&binder, unfinished->attempt);
        store_bind_integer(&binder, unfinished->elapsed_ms);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(statement);
    return fine && (sqlite3_changes(store->db) == 1 || fail_taken(store, unfinished, error));
}

bool store_unfinished_take(struct store *store, struct store_unfinished *unfinished, struct sim_error *error)
{
    bool fine = update(store,
                       "UPDATE unfinished SET attempt = attempt + 1, state = 'running' WHERE run = ?1 AND "
                       "attempt = ?2 AND ?3 >= 0",
                       unfinished, error);
    unfinished->attempt += fine;
    return fine;
}

bool store_unfinished_stop(struct store *store, const struct store_unfinished *unfinished,
                           struct sim_error *error)
{
    return update(store,
                  "UPDATE unfinished SET state = 'stopped', elapsed_ms = ?3 WHERE run = ?1 AND attempt = ?2",
                  unfinished, error);
}

bool store_unfinished_drop(struct store *store, const struct store_unfinished *unfinished,
                           struct sim_error *error)
{
    return update(store, drop_text, unfinished, error);
}

bool store_unfinished_end(struct store *store, const struct store_unfinished *unfinished,
                          struct store_run_info *info, const struct lab_result *result,
                          struct sim_error *error)
{
    bool is_new, fine = store_begin(store, &is_new, error);
    int64_t run = 0;
    info->number = unfinished->run;
    fine = fine && update(store, drop_text, unfinished, error) &&
           store_save_within(store, info, result, &run, error) && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    if (fine)
        info->run = run;
    return fine;
}

bool store_unfinished_holds(struct store *store, const struct store_unfinished *unfinished,
                            struct sim_error *error)
{
    return update(store, "UPDATE unfinished SET elapsed_ms = ?3 WHERE run = ?1 AND attempt = ?2", unfinished,
                  error);
}
