/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads the metrics of a run, and counts runs by them. */
#include <stdlib.h>

#include "private.h"

bool store_metrics_load(struct store *store, int64_t id, struct lab_metrics *out, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true;
    bool fine = store_prepare(store, "SELECT name, value FROM metric WHERE strategy = ? ORDER BY position",
                              &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_name(&row);
        double value = store_take_real(&row);
        fine = store_row_check(store, &row, error);
        if (fine && !lab_metrics_add(out, name, value))
            fine = sim_fail_memory(error);
        free(name);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_load_metrics(struct store *store, int64_t run, const char *label, struct lab_metrics *out,
                        struct sim_error *error)
{
    static const char sql[] = "SELECT strategy FROM strategy WHERE run = ? AND label = ?";
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = false;
    int64_t id = 0;
    if (store->db == NULL)
        return true;
    bool fine = store_prepare(store, sql, &statement, error);
    if (fine) {
        sqlite3_bind_int64(statement, 1, run);
        sqlite3_bind_text(statement, 2, label, -1, SQLITE_STATIC);
        fine = store_next(store, statement, &row, &more, error);
    }
    if (fine && more)
        id = store_take_integer(&row);
    sqlite3_finalize(statement);
    return fine && (!more || store_metrics_load(store, id, out, error));
}

bool store_count_looks(struct store *store, int64_t run, const char *label, uint64_t *out,
                       struct sim_error *error)
{
    static const char sql[] = "SELECT count(*) FROM metric JOIN strategy USING (strategy) WHERE name = "
                              "'drift.run' AND value = ? AND label = ?";
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = false;
    *out = 0;
    bool fine = store_prepare(store, sql, &statement, error);
    if (fine) {
        sqlite3_bind_double(statement, 1, (double)run);
        sqlite3_bind_text(statement, 2, label, -1, SQLITE_STATIC);
        fine = store_next(store, statement, &row, &more, error);
    }
    if (fine && more)
        *out = (uint64_t)store_take_whole(&row, INT64_MAX);
    sqlite3_finalize(statement);
    return fine;
}
