/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the event log of a run, and the views of its agents. */
#include <stdlib.h>

#include "private.h"

#define MARK_BYTES 2

bool store_events_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                       const struct lab_event_log *events, struct sim_error *error)
{
    if (events->stride == 0)
        return true;
    /* Written in little-endian order on every machine. */
    size_t size = events->mark_count * MARK_BYTES;
    unsigned char *bytes = malloc(size > 0 ? size : 1);
    if (bytes == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(events->marks[i / MARK_BYTES] >> (8 * (i % MARK_BYTES)) & 0xff);
    struct store_binder binder = {.statement = insert};
    store_bind_integer(&binder, id);
    store_bind_digest(&binder, events->digest);
    store_bind_whole(&binder, events->events);
    store_bind_whole(&binder, events->stride);
    store_bind_blob(&binder, bytes, size);
    bool fine = store_bind_run(store, &binder, error);
    free(bytes);
    return fine;
}

static bool is_sound(const struct lab_event_log *events, size_t bytes)
{
    bool is_power = events->stride != 0 && (events->stride & (events->stride - 1)) == 0;
    return is_power && bytes % MARK_BYTES == 0 && bytes / MARK_BYTES <= LAB_EVENT_MARKS_MAX &&
           bytes / MARK_BYTES == events->events / events->stride;
}

static bool take_marks(struct lab_event_log *events, const unsigned char *bytes, size_t size)
{
    events->marks = calloc(size > 0 ? size / MARK_BYTES : 1, sizeof *events->marks);
    if (events->marks == NULL)
        return false;
    events->mark_count = size / MARK_BYTES;
    for (size_t i = 0; i < events->mark_count; i++)
        events->marks[i] = (uint16_t)(bytes[MARK_BYTES * i] | bytes[MARK_BYTES * i + 1] << 8);
    return true;
}

bool store_events_load(struct store *store, int64_t id, struct lab_event_log *out, struct sim_error *error)
{
    static const char sql[] = "SELECT digest, events, stride, marks FROM event_log WHERE strategy = ?";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool is_there = false, fine = store_query(store, sql, id, &statement, error) &&
                                  store_next(store, statement, &row, &is_there, error);
    if (fine && is_there) {
        size_t size;
        out->digest = store_take_digest(&row);
        out->events = (uint64_t)store_take_whole(&row, UINT64_MAX);
        out->stride = (uint64_t)store_take_whole(&row, UINT64_MAX);
        const unsigned char *bytes = store_take_blob(&row, &size);
        fine = store_row_check(store, &row, error);
        if (fine && !is_sound(out, size))
            fine = store_fail_damaged(store, "marks that do not fit their events", error);
        if (fine && !take_marks(out, bytes, size))
            fine = sim_fail_memory(error);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_views_save(struct store *store, sqlite3_stmt *insert_change, sqlite3_stmt *insert_belief,
                      int64_t id, const struct lab_views *views, struct sim_error *error)
{
    if (views->key == NULL)
        return true;
    struct store_binder binder = {.statement = insert_change};
    store_bind_integer(&binder, id);
    store_bind_text(&binder, views->key);
    store_bind_integer(&binder, views->change_ns);
    store_bind_integer(&binder, views->until_ns);
    store_bind_whole(&binder, views->agents);
    bool fine = store_bind_run(store, &binder, error);
    for (size_t i = 0; fine && i < views->count; i++) {
        const struct lab_view *view = &views->items[i];
        binder = (struct store_binder){.statement = insert_belief};
        store_bind_integer(&binder, id);
        store_bind_integer(&binder, (int64_t)i);
        store_bind_integer(&binder, view->time_ns);
        store_bind_whole(&binder, view->agent);
        store_bind_integer(&binder, view->bucket);
        store_bind_integer(&binder, view->is_known);
        store_bind_integer(&binder, view->is_changing);
        fine = store_bind_run(store, &binder, error);
    }
    return fine;
}

/* Returns the number of beliefs. */
static size_t take_change(struct store_row *row, struct lab_views *out)
{
    out->key = store_take_name(row);
    out->change_ns = store_take_integer(row);
    out->until_ns = store_take_integer(row);
    out->agents = (uint32_t)store_take_whole(row, UINT32_MAX);
    return (size_t)store_take_whole(row, INT64_MAX);
}

static bool load_beliefs(struct store *store, int64_t id, struct lab_views *out, size_t count,
                         struct sim_error *error)
{
    static const char sql[] = "SELECT time_ns, agent, bucket, is_known, is_changing FROM belief WHERE "
                              "strategy = ? ORDER BY position";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    out->items = calloc(count > 0 ? count : 1, sizeof *out->items);
    if (out->items == NULL)
        return sim_fail_memory(error);
    out->capacity = count > 0 ? count : 1;
    bool more, fine = store_query(store, sql, id, &statement, error);
    while (fine && out->count < count) {
        fine = store_next(store, statement, &row, &more, error);
        if (fine && !more)
            fine = store_fail_damaged(store, "fewer beliefs than were counted", error);
        if (!fine)
            break;
        struct lab_view *view = &out->items[out->count++];
        view->time_ns = store_take_integer(&row);
        view->agent = (uint32_t)store_take_whole(&row, UINT32_MAX);
        view->bucket = store_take_integer(&row);
        view->is_known = store_take_integer(&row) != 0;
        view->is_changing = store_take_integer(&row) != 0;
        row.is_damaged = row.is_damaged || view->agent >= out->agents;
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

bool store_views_load(struct store *store, int64_t id, struct lab_views *out, struct sim_error *error)
{
    static const char sql[] = "SELECT key, change_ns, until_ns, agents, (SELECT count(*) FROM belief WHERE "
                              "belief.strategy = change.strategy) FROM change WHERE strategy = ?";
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool is_there = false, fine = store_query(store, sql, id, &statement, error) &&
                                  store_next(store, statement, &row, &is_there, error);
    if (fine && is_there) {
        size_t count = take_change(&row, out);
        fine = store_row_check(store, &row, error) && load_beliefs(store, id, out, count, error);
    }
    sqlite3_finalize(statement);
    return fine;
}
