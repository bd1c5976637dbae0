/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the sizes of partitions over time, and the load of each node. */
#include <stdlib.h>
#include <string.h>

#include "private.h"

static const char *const states[LAB_STATES] = {[LAB_CLOSED] = "closed", [LAB_OPEN] = "open"};

bool store_slices_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                       const struct lab_timeline *timeline, struct sim_error *error)
{
    for (size_t i = 0; i < timeline->count; i++) {
        const struct lab_slice *slice = &timeline->items[i];
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_text(&binder, states[slice->state]);
        store_bind_integer(&binder, slice->start_ns);
        store_bind_integer(&binder, slice->end_ns);
        store_bind_whole(&binder, slice->partitions);
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            const struct lab_slice_sizes *sizes = &slice->sizes[unit];
            store_bind_whole(&binder, sizes->least);
            store_bind_whole(&binder, sizes->p10);
            store_bind_whole(&binder, sizes->p50);
            store_bind_whole(&binder, sizes->p90);
            store_bind_whole(&binder, sizes->most);
        }
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

static bool count_rows(struct store *store, const char *sql, int64_t id, size_t *count,
                       struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = false, fine = store_prepare(store, sql, &statement, error);
    *count = 0;
    if (fine) {
        sqlite3_bind_int64(statement, 1, id);
        fine = store_next(store, statement, &row, &more, error);
    }
    if (fine)
        *count = (size_t)store_take_integer(&row);
    sqlite3_finalize(statement);
    return fine;
}

static bool is_sound(const struct lab_slice_sizes *sizes)
{
    return sizes->least <= sizes->p10 && sizes->p10 <= sizes->p50 && sizes->p50 <= sizes->p90 &&
           sizes->p90 <= sizes->most;
}

static bool take_slice(struct store_row *row, struct lab_slice *slice)
{
    char *state = store_take_text(row);
    int index = 0;
    while (index < LAB_STATES && state != NULL && strcmp(state, states[index]) != 0)
        index++;
    bool is_known = state != NULL && index < LAB_STATES;
    free(state);
    slice->state = is_known ? (enum lab_partition_state)index : LAB_CLOSED;
    slice->start_ns = store_take_integer(row);
    slice->end_ns = store_take_integer(row);
    slice->partitions = (uint64_t)store_take_whole(row, UINT64_MAX);
    bool is_fine = is_known && slice->start_ns <= slice->end_ns && slice->partitions > 0;
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        struct lab_slice_sizes *sizes = &slice->sizes[unit];
        sizes->least = (uint64_t)store_take_whole(row, UINT64_MAX);
        sizes->p10 = (uint64_t)store_take_whole(row, UINT64_MAX);
        sizes->p50 = (uint64_t)store_take_whole(row, UINT64_MAX);
        sizes->p90 = (uint64_t)store_take_whole(row, UINT64_MAX);
        sizes->most = (uint64_t)store_take_whole(row, UINT64_MAX);
        is_fine = is_fine && is_sound(sizes);
    }
    /* A value that could not be read because memory ran out is not damaged. */
    return is_fine || row->is_out_of_memory;
}

bool store_slices_load(struct store *store, int64_t id, struct lab_timeline *out, struct sim_error *error)
{
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    size_t count;
    bool more = true;
    if (!count_rows(store, "SELECT count(*) FROM slice WHERE strategy = ?", id, &count, error))
        return false;
    if (count == 0)
        return true;
    out->items = calloc(count, sizeof *out->items);
    if (out->items == NULL)
        return sim_fail_memory(error);
    /* "closed" comes before "open". */
    bool fine = store_prepare(store,
                              "SELECT state, start_ns, end_ns, partitions, rows_least, rows_p10, rows_p50, "
                              "rows_p90, rows_most, bytes_least, bytes_p10, bytes_p50, bytes_p90, bytes_most "
                              "FROM slice WHERE strategy = ? ORDER BY state, start_ns",
                              &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        bool is_fine = out->count < count && take_slice(&row, &out->items[out->count]);
        row.is_damaged = row.is_damaged || !is_fine;
        out->count += out->count < count;
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_nodes_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                      const struct lab_strategy_result *result, struct sim_error *error)
{
    for (size_t i = 0; i < result->node_count; i++) {
        struct store_binder binder = {.statement = insert};
        store_bind_integer(&binder, id);
        store_bind_integer(&binder, (int64_t)i);
        store_bind_text(&binder, result->nodes[i].name);
        store_bind_whole(&binder, result->nodes[i].rows);
        store_bind_whole(&binder, result->nodes[i].bytes);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

static void take_node(struct store_row *row, struct lab_node_load *node)
{
    char *name = store_take_text(row);
    if (name != NULL && strlen(name) < sizeof node->name)
        strcpy(node->name, name);
    else
        row->is_damaged = !row->is_out_of_memory;
    free(name);
    node->rows = (uint64_t)store_take_whole(row, UINT64_MAX);
    node->bytes = (uint64_t)store_take_whole(row, UINT64_MAX);
}

bool store_nodes_load(struct store *store, int64_t id, struct lab_strategy_result *out,
                      struct sim_error *error)
{
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    size_t count;
    bool more = true;
    if (!count_rows(store, "SELECT count(*) FROM node WHERE strategy = ?", id, &count, error))
        return false;
    if (count == 0)
        return true;
    out->nodes = calloc(count, sizeof *out->nodes);
    if (out->nodes == NULL)
        return sim_fail_memory(error);
    bool fine = store_prepare(
        store, "SELECT name, rows, bytes FROM node WHERE strategy = ? ORDER BY position", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, id);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        if (out->node_count == count)
            row.is_damaged = true;
        else
            take_node(&row, &out->nodes[out->node_count++]);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}
