/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clustering order of a partition's rows, which a cluster keeps if it is configured to: places in chunks,
 * newest first. Rows arrive nearly in order, so a place is usually added to one of the first chunks, and the
 * number of places newer than a given one is found in a few chunks. */
#include <string.h>

#include "data.h"
#include "state.h"

static const struct lifetime lifetime_none = {
    .written_us = NO_TIME, .expires_s = NEVER, .deleted_us = NO_TIME};

static bool is_before(const struct clustering *a, const struct clustering *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static bool is_full_before(const struct clustering_chunk *chunk, const struct clustering *place,
                           bool is_unique)
{
    const struct clustering *newest = &chunk->places[CLUSTERING_CHUNK - 1];
    return chunk->count == CLUSTERING_CHUNK &&
           (is_unique ? is_before(newest, place) : !is_before(place, newest));
}

/* Returns the position in the chunk at which `place` belongs: after the places that are not newer. */
static uint32_t position_in(const struct clustering_chunk *chunk, const struct clustering *place)
{
    uint32_t at = chunk->count;
    while (at > 0 && is_before(place, &chunk->places[at - 1]))
        at--;
    return at;
}

static bool is_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                      const struct clustering *place)
{
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        if (row->held != 0 && (row->held & replicas) == 0 && !(row->flags & ROW_DELETE) &&
            row->time_ns == place->time_ns && row->order == place->order)
            return true;
        at = row->next;
    }
    return false;
}

/* Takes a chunk from the pool, and the lifetimes of its rows at the same index, the first `count` of which
 * are initialised. */
static uint32_t fresh_chunk(struct cass_cluster *cluster, uint32_t count)
{
    uint32_t chunk = cass_pool_take(&cluster->chunks);
    if (!cluster->config.keeps_lifetimes)
        return chunk;
    uint32_t beside = cass_pool_take(&cluster->lifetimes);
    if (chunk == CASS_NONE || beside == CASS_NONE)
        return CASS_NONE;
    struct chunk_lifetimes *lifetimes = lifetimes_at(cluster, beside);
    *lifetimes = (struct chunk_lifetimes){.special = count};
    for (uint32_t i = 0; i < count; i++)
        lifetimes->items[i] = lifetime_none;
    return chunk;
}

/* Begins a new first chunk, so that rows in order fill their chunks. If no chunk can be taken, the pool is
 * marked as broken, which stops the run. */
static uint32_t begin_newest(struct cass_cluster *cluster, uint32_t partition, const struct clustering *place)
{
    uint32_t fresh = fresh_chunk(cluster, 1);
    if (fresh == CASS_NONE)
        return CASS_NONE;
    *chunk_at(cluster, fresh) = (struct clustering_chunk){
        .next = partition_at(cluster, partition)->newest, .count = 1, .places = {*place}};
    partition_at(cluster, partition)->newest = fresh;
    return fresh;
}

static void split_lifetimes(struct cass_cluster *cluster, uint32_t newer_index, uint32_t older_index,
                            uint32_t moved)
{
    struct chunk_lifetimes *newer = lifetimes_at(cluster, newer_index);
    struct chunk_lifetimes *older = lifetimes_at(cluster, older_index);
    uint32_t left = chunk_at(cluster, newer_index)->count;
    memcpy(older->items, newer->items, moved * sizeof *older->items);
    memcpy(older->open, newer->open, moved * sizeof *older->open);
    memmove(newer->items, &newer->items[moved], left * sizeof *newer->items);
    memmove(newer->open, &newer->open[moved], left * sizeof *newer->open);
    older->special = cass_lifetimes_special(older, moved);
    newer->special = cass_lifetimes_special(newer, left);
}

/* Moves the older half of the chunk into a new chunk after it. */
static bool split(struct cass_cluster *cluster, uint32_t chunk)
{
    uint32_t fresh = fresh_chunk(cluster, 0);
    if (fresh == CASS_NONE)
        return false;
    struct clustering_chunk *newer = chunk_at(cluster, chunk), *older = chunk_at(cluster, fresh);
    uint32_t moved = newer->count / 2;
    *older = (struct clustering_chunk){.next = newer->next, .count = moved};
    memcpy(older->places, newer->places, moved * sizeof *older->places);
    newer->count -= moved;
    newer->next = fresh;
    memmove(newer->places, &newer->places[moved], newer->count * sizeof *newer->places);
    if (cluster->config.keeps_lifetimes)
        split_lifetimes(cluster, chunk, fresh, moved);
    return true;
}

static void insert(struct cass_cluster *cluster, uint32_t index, uint32_t at, const struct clustering *place)
{
    struct clustering_chunk *into = chunk_at(cluster, index);
    uint32_t behind = into->count - at;
    memmove(&into->places[at + 1], &into->places[at], behind * sizeof *into->places);
    into->places[at] = *place;
    into->count++;
    if (!cluster->config.keeps_lifetimes)
        return;
    struct chunk_lifetimes *lifetimes = lifetimes_at(cluster, index);
    memmove(&lifetimes->items[at + 1], &lifetimes->items[at], behind * sizeof *lifetimes->items);
    memmove(&lifetimes->open[at + 1], &lifetimes->open[at], behind * sizeof *lifetimes->open);
    lifetimes->items[at] = lifetime_none;
    lifetimes->open[at] = 0;
    lifetimes->special++;
}

/* Adds a place. Returns its chunk and its position there. If the place must be unique, an existing equal
 * place is returned instead. */
static uint32_t add(struct cass_cluster *cluster, uint32_t partition, const struct clustering *place,
                    bool is_unique, uint32_t *position)
{
    uint32_t chunk = partition_at(cluster, partition)->newest;
    *position = 0;
    if (chunk == CASS_NONE || is_full_before(chunk_at(cluster, chunk), place, is_unique))
        return begin_newest(cluster, partition, place);
    /* Finds the first chunk whose oldest place is not newer than `place`; the last chunk if there is none. */
    while (chunk_at(cluster, chunk)->next != CASS_NONE &&
           is_before(place, &chunk_at(cluster, chunk)->places[0]))
        chunk = chunk_at(cluster, chunk)->next;
    uint32_t at = position_in(chunk_at(cluster, chunk), place);
    if (is_unique && at > 0 && !is_before(&chunk_at(cluster, chunk)->places[at - 1], place)) {
        *position = at - 1;
        return chunk;
    }
    if (chunk_at(cluster, chunk)->count == CLUSTERING_CHUNK) {
        if (!split(cluster, chunk))
            return CASS_NONE;
        if (is_before(place, &chunk_at(cluster, chunk)->places[0]))
            chunk = chunk_at(cluster, chunk)->next;
        at = position_in(chunk_at(cluster, chunk), place);
    }
    insert(cluster, chunk, at, place);
    *position = at;
    return chunk;
}

void cass_clustering_add(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns, int64_t order)
{
    uint32_t position;
    add(cluster, partition, &(struct clustering){time_ns, order}, false, &position);
}

uint32_t cass_clustering_need(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns,
                              int64_t order, uint32_t *position)
{
    return add(cluster, partition, &(struct clustering){time_ns, order}, true, position);
}

uint64_t cass_clustering_newer(const struct cass_cluster *cluster, uint32_t partition,
                               const struct cass_statement *statement)
{
    const struct clustering after = {statement->after_time_ns, statement->after_order};
    uint64_t newer = 0;
    for (uint32_t at = partition_at(cluster, partition)->newest; at != CASS_NONE;) {
        const struct clustering_chunk *chunk = chunk_at(cluster, at);
        uint32_t low = 0, high = chunk->count;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (is_before(&after, &chunk->places[middle]))
                high = middle;
            else
                low = middle + 1;
        }
        newer += chunk->count - low;
        if (low > 0)
            break;
        at = chunk->next;
    }
    return newer;
}

uint64_t cass_clustering_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                                const struct cass_statement *statement)
{
    const struct clustering after = {statement->after_time_ns, statement->after_order};
    uint64_t missed = 0;
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        const struct clustering place = {row->time_ns, row->order};
        missed += row->held != 0 && (row->held & replicas) == 0 && !(row->flags & ROW_DELETE) &&
                  is_before(&after, &place);
        at = row->next;
    }
    return missed;
}

bool cass_clustering_last(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                          struct clustering *out)
{
    for (uint32_t at = partition_at(cluster, partition)->newest; at != CASS_NONE;) {
        const struct clustering_chunk *chunk = chunk_at(cluster, at);
        for (uint32_t i = chunk->count; i > 0; i--) {
            if (is_missed(cluster, partition, replicas, &chunk->places[i - 1]))
                continue;
            *out = chunk->places[i - 1];
            return true;
        }
        at = chunk->next;
    }
    return false;
}

uint64_t cass_span_rows(const struct cass_cluster *cluster, uint32_t partition, int64_t from_ns,
                        int64_t until_ns, uint32_t replicas)
{
    const int64_t bounds[2] = {from_ns, until_ns};
    uint64_t newer[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        struct cass_statement last = {.after_time_ns = bounds[i] - (bounds[i] != INT64_MIN),
                                      .after_order = bounds[i] != INT64_MIN ? INT64_MAX : INT64_MIN};
        newer[i] = cass_clustering_newer(cluster, partition, &last) -
                   cass_clustering_missed(cluster, partition, replicas, &last);
    }
    return newer[0] > newer[1] ? newer[0] - newer[1] : 0;
}

uint64_t cass_span_scanned(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    const struct cass_statement *statement = &operation->statement;
    if (operation->entity == CASS_NONE)
        return 1;
    uint64_t rows =
        cass_span_rows(cluster, operation->entity, statement->from_ns, statement->until_ns, operation->asked);
    return (statement->limit > 0 && statement->limit < rows ? statement->limit : rows) + 1;
}
