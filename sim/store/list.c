/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists the runs of a database. */
#include <stdlib.h>

#include "kernel/grow.h"
#include "private.h"

static bool take_row(struct store *store, struct store_row *row, struct store_run_row *out,
                     struct sim_error *error)
{
    out->run = store_take_integer(row);
    out->scenario_name = store_take_name(row);
    out->seed = (uint64_t)store_take_whole(row, UINT64_MAX);
    out->digest = store_take_digest(row);
    out->rows = (uint64_t)store_take_whole(row, UINT64_MAX);
    out->created_unix_s = store_take_integer(row);
    out->elapsed_ms = (int64_t)store_take_whole(row, INT64_MAX / 2);
    out->strategy_count = store_take_integer(row);
    out->expects = store_take_integer(row);
    out->expects_failed = store_take_integer(row);
    out->version = store_take_text(row);
    out->sweep = store_take_integer(row);
    out->sweep_runs = store_take_integer(row);
    return store_row_check(store, row, error);
}

/* Lists runs, with the number of their sweep and its number of runs; folds_sweeps: with only the newest run
 * of each sweep. */
static bool list(struct store *store, int folds_sweeps, struct store_run_row **out, size_t *count,
                 struct sim_error *error)
{
    static const char sql[] =
        "SELECT run, scenario, seed, digest, rows, created_unix_s, elapsed_ms, (SELECT count(*) FROM "
        "strategy "
        "WHERE strategy.run = run.run), (SELECT count(*) FROM expectation WHERE expectation.run = run.run), "
        "(SELECT count(*) FROM expectation WHERE expectation.run = run.run AND NOT ok), version, "
        "coalesce(sweep, 0), coalesce(runs, 0) FROM run LEFT JOIN sweep_job USING (run) LEFT JOIN (SELECT "
        "sweep, count(*) AS runs, max(run) AS newest FROM sweep_job GROUP BY sweep) USING (sweep) WHERE ?1 = "
        "0 OR newest IS NULL OR run = newest ORDER BY run DESC";
    *out = NULL;
    *count = 0;
    if (store->db == NULL)
        return true;
    sqlite3_stmt *statement;
    struct store_row row;
    struct store_run_row *rows = NULL;
    size_t used = 0, capacity = 0;
    bool more = true, fine = store_prepare(store, sql, &statement, error);
    if (fine)
        sqlite3_bind_int(statement, 1, folds_sweeps);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        if (!sim_grow(&rows, &capacity, used + 1, sizeof *rows))
            fine = sim_fail_memory(error);
        else
            fine = take_row(store, &row, &rows[used++], error);
    }
    sqlite3_finalize(statement);
    if (!fine) {
        store_runs_free(rows, used);
        return false;
    }
    *out = rows;
    *count = used;
    return true;
}

bool store_list_runs(struct store *store, struct store_run_row **out, size_t *count, struct sim_error *error)
{
    return list(store, 0, out, count, error);
}

bool store_list_folded(struct store *store, struct store_run_row **out, size_t *count,
                       struct sim_error *error)
{
    return list(store, 1, out, count, error);
}

void store_runs_free(struct store_run_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(rows[i].scenario_name);
        free(rows[i].version);
    }
    free(rows);
}
