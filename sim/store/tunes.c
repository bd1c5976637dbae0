/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the answers of `tune`. */
#include <stdlib.h>

#include "private.h"
#include "store/outcomes.h"

static bool insert_answer(struct store *store, int64_t run, const char *answer, struct sim_error *error)
{
    sqlite3_stmt *insert;
    bool fine = store_prepare(store, "INSERT INTO tune (run, answer) VALUES (?, ?)", &insert, error);
    if (fine) {
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, run);
        store_bind_text(&binder, answer);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(insert);
    return fine;
}

bool store_tune_save(struct store *store, const struct store_work *tune, struct store_run_info *info,
                     const struct lab_result *result, const char *answer, struct sim_error *error)
{
    int64_t run = 0;
    bool is_new, fine = store_begin(store, &is_new, error);
    fine = fine && store_save_within(store, info, result, &run, error) &&
           insert_answer(store, run, answer, error) && store_outcomes_forget(store, tune, error) &&
           store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    if (fine)
        info->run = run;
    return fine;
}

bool store_tune_load(struct store *store, int64_t run, char **answer, struct sim_error *error)
{
    sqlite3_stmt *select = NULL;
    struct store_row row;
    bool more = false;
    *answer = NULL;
    bool fine = store_prepare(store, "SELECT answer FROM tune WHERE run = ?", &select, error);
    if (fine)
        sqlite3_bind_int64(select, 1, run);
    fine = fine && store_next(store, select, &row, &more, error);
    if (fine && more) {
        *answer = store_take_text(&row);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(select);
    if (!fine) {
        free(*answer);
        *answer = NULL;
    }
    return fine;
}
