/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores outcomes, one row per outcome, with a digest over identity, job and bytes, so that a damaged one is
 * not used. */
#include "store/outcomes.h"
#include "kernel/grow.h"

#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "kernel/digest.h"
#include "private.h"

static uint64_t digest_of(uint64_t identity, const struct store_outcome *outcome)
{
    uint64_t digest = sim_digest_chain(identity, outcome->job);
    return sim_digest_chain(digest, bk_murmur3_128(outcome->bytes, outcome->size, 0).h1);
}

/* Appends the row's outcome, if it is intact. False when out of memory. */
static bool take_outcome(struct store_row *row, uint64_t identity, struct store_outcome **out, size_t *count,
                         size_t *capacity)
{
    struct store_outcome outcome = {.job = store_take_digest(row)};
    uint64_t digest = store_take_digest(row);
    const unsigned char *bytes = store_take_blob(row, &outcome.size);
    if (!sim_grow(out, capacity, *count + 1, sizeof **out))
        return false;
    outcome.bytes = malloc(outcome.size + 1);
    if (outcome.bytes == NULL)
        return false;
    if (bytes == NULL)
        outcome.size = 0; /* no bytes, or out of memory */
    else
        memcpy(outcome.bytes, bytes, outcome.size);
    if (digest_of(identity, &outcome) == digest)
        (*out)[(*count)++] = outcome;
    else
        free(outcome.bytes);
    return true;
}

bool store_outcomes_load(struct store *store, const struct store_work *work, struct store_outcome **out,
                         size_t *count, struct sim_error *error)
{
    static const char sql[] = "SELECT job, digest, outcome FROM outcome WHERE identity = ?";
    sqlite3_stmt *statement;
    struct store_row row;
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    if (store->db == NULL)
        return true;
    bool more = true, fine = store_prepare(store, sql, &statement, error);
    if (fine) {
        struct store_binder binder = {.statement = statement};
        store_bind_digest(&binder, work->identity);
        fine = binder.code == SQLITE_OK || store_fail(store, binder.code, error);
    }
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        fine = take_outcome(&row, work->identity, out, count, &capacity) || sim_fail_memory(error);
        fine = fine && store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    if (!fine) {
        store_outcomes_free(*out, *count);
        *out = NULL;
        *count = 0;
    }
    return fine;
}

void store_outcomes_free(struct store_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(outcomes[i].bytes);
    free(outcomes);
}

static bool insert_outcomes(struct store *store, const struct store_work *work,
                            const struct store_outcome *outcomes, size_t count, struct sim_error *error)
{
    sqlite3_stmt *insert;
    bool fine = store_prepare(store,
                              "INSERT OR REPLACE INTO outcome (identity, job, command, digest, outcome) "
                              "VALUES (?, ?, ?, ?, ?)",
                              &insert, error);
    for (size_t i = 0; fine && i < count; i++) {
        struct store_binder binder = {.statement = insert};
        store_bind_digest(&binder, work->identity);
        store_bind_digest(&binder, outcomes[i].job);
        store_bind_digest(&binder, work->command);
        store_bind_digest(&binder, digest_of(work->identity, &outcomes[i]));
        store_bind_blob(&binder, outcomes[i].bytes, outcomes[i].size);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(insert);
    return fine;
}

bool store_outcomes_keep(struct store *store, const struct store_work *work,
                         const struct store_outcome *outcomes, size_t count, struct sim_error *error)
{
    bool is_new, fine = store_begin(store, &is_new, error);
    fine =
        fine && insert_outcomes(store, work, outcomes, count, error) && store_execute(store, "COMMIT", error);
    store_end(store, is_new, fine);
    return fine;
}

bool store_outcomes_forget(struct store *store, const struct store_work *work, struct sim_error *error)
{
    sqlite3_stmt *statement;
    if (store->db == NULL)
        return true;
    bool fine =
        store_prepare(store, "DELETE FROM outcome WHERE command = ? OR identity = ?", &statement, error);
    if (fine) {
        struct store_binder binder = {.statement = statement};
        store_bind_digest(&binder, work->command);
        store_bind_digest(&binder, work->identity);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(statement);
    return fine;
}
