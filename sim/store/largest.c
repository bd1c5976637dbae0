/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the largest partitions of a run. */
#include <stdlib.h>
#include <string.h>

#include "private.h"

static const char *const units[LAB_SIZE_UNITS] = {[LAB_IN_ROWS] = "rows", [LAB_IN_BYTES] = "bytes"};

bool store_largest_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                        const struct lab_largest *largest, struct sim_error *error)
{
    bool fine = true;
    for (int unit = 0; fine && unit < LAB_SIZE_UNITS; unit++) {
        if (largest[unit].size == 0)
            continue;
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, units[unit]);
        store_bind_text(&binder, largest[unit].key);
        store_bind_whole(&binder, largest[unit].key_index);
        store_bind_integer(&binder, largest[unit].bucket);
        store_bind_whole(&binder, largest[unit].size);
        fine = store_bind_run(store, &binder, error);
    }
    return fine;
}

static void take_largest(struct store_row *row, struct lab_largest *largest)
{
    char *key = store_take_text(row);
    if (key == NULL || strlen(key) >= sizeof largest->key)
        row->is_damaged = true;
    else
        strcpy(largest->key, key);
    free(key);
    largest->key_index = (uint64_t)store_take_whole(row, UINT64_MAX);
    largest->bucket = store_take_integer(row);
    largest->size = (uint64_t)store_take_whole(row, UINT64_MAX);
}

bool store_largest_load(struct store *store, int64_t id, struct lab_largest *out, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true, fine = store_prepare(store,
                                           "SELECT unit, key, key_index, bucket, size FROM largest WHERE "
                                           "strategy = ?",
                                           &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *unit = store_take_text(&row);
        int index = 0;
        while (index < LAB_SIZE_UNITS && unit != NULL && strcmp(unit, units[index]) != 0)
            index++;
        if (index == LAB_SIZE_UNITS)
            row.is_damaged = !row.is_out_of_memory;
        else
            take_largest(&row, &out[index]);
        fine = store_row_check(store, &row, error);
        free(unit);
    }
    sqlite3_finalize(statement);
    return fine;
}
