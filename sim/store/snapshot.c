/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores states in pieces, since SQLite limits a value to a gigabyte. */
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "private.h"
#include "store/unfinished.h"

#define PIECE_BYTES ((size_t)64 << 20)

static bool remove_older(struct store *store, int64_t run, uint32_t part, uint32_t parts,
                         struct sim_error *error)
{
    sqlite3_stmt *statement;
    bool fine =
        store_prepare(store, "DELETE FROM snapshot WHERE run = ? AND part % ? = ?", &statement, error);
    if (fine) {
        struct store_binder binder = {.statement = statement};
        store_bind_integer(&binder, run);
        store_bind_integer(&binder, parts);
        store_bind_integer(&binder, part);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool put_all(struct store *store, const struct store_unfinished *unfinished, uint32_t part,
                    uint32_t parts, const unsigned char *data, size_t size, struct sim_error *error)
{
    sqlite3_stmt *insert;
    if (!remove_older(store, unfinished->run, part, parts, error) ||
        !store_prepare(store, "INSERT INTO snapshot (run, part, piece, bytes) VALUES (?, ?, ?, ?)", &insert,
                       error))
        return false;
    bool fine = true;
    for (size_t at = 0; fine && at < size; at += PIECE_BYTES) {
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, unfinished->run);
        store_bind_integer(&binder, part);
        store_bind_integer(&binder, (int64_t)(at / PIECE_BYTES));
        store_bind_blob(&binder, data + at, size - at < PIECE_BYTES ? size - at : PIECE_BYTES);
        fine = store_bind_run(store, &binder, error);
    }
    sqlite3_finalize(insert);
    return fine;
}

bool store_snapshot_put(struct store *store, const struct store_unfinished *unfinished, uint32_t part,
                        uint32_t parts, const unsigned char *data, size_t size, struct sim_error *error)
{
    bool fine =
        store_execute(store, "BEGIN IMMEDIATE", error) && store_unfinished_holds(store, unfinished, error) &&
        put_all(store, unfinished, part, parts, data, size, error) && store_execute(store, "COMMIT", error);
    store_rollback(store);
    return fine;
}

/* Appends a piece to its state; the state's own checksum detects missing or damaged pieces. False when out of
 * memory. */
static bool take_piece(struct store_row *row, struct store_snapshot **items, size_t *count, size_t *capacity)
{
    int64_t part = store_take_integer(row), piece = store_take_integer(row);
    size_t size;
    const unsigned char *bytes = store_take_blob(row, &size);
    if (part < 0 || part > UINT32_MAX || piece < 0) {
        row->is_damaged = true;
        return true;
    }
    if (*count == 0 || (*items)[*count - 1].part != (uint32_t)part) {
        if (!sim_grow(items, capacity, *count + 1, sizeof **items))
            return false;
        (*items)[(*count)++] = (struct store_snapshot){.part = (uint32_t)part};
    }
    struct store_snapshot *snapshot = &(*items)[*count - 1];
    unsigned char *data = realloc(snapshot->data, snapshot->size + size + 1);
    if (data == NULL)
        return false;
    if (size > 0)
        memcpy(data + snapshot->size, bytes, size);
    snapshot->data = data;
    snapshot->size += size;
    return true;
}

bool store_snapshots_load(struct store *store, int64_t run, struct store_snapshot **out, size_t *count,
                          struct sim_error *error)
{
    static const char sql[] = "SELECT part, piece, bytes FROM snapshot WHERE run = ? ORDER BY part, piece";
    struct store_snapshot *items = NULL;
    sqlite3_stmt *statement;
    struct store_row row;
    size_t capacity = 0;
    *out = NULL;
    *count = 0;
    bool more = true, fine = store_query(store, sql, run, &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        fine = take_piece(&row, &items, count, &capacity) || sim_fail_memory(error);
        fine = fine && store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    if (!fine) {
        store_snapshots_free(items, *count);
        *count = 0;
        return false;
    }
    *out = items;
    return true;
}

void store_snapshots_free(struct store_snapshot *snapshots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(snapshots[i].data);
    free(snapshots);
}
