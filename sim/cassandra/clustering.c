/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clustering order of a partition's rows, kept when a cluster is asked to: places in chunks, newest
 * first. Rows come nearly in order, so a place goes into one of the first chunks; how many are newer than a
 * given one is told by the chunks that hold them alone. */
#include <string.h>

#include "cluster_private.h"

static bool is_before(const struct clustering *a, const struct clustering *b);
static bool is_full_before(const struct clustering_chunk *chunk, const struct clustering *place);
static void begin_newest(struct cass_cluster *cluster, uint32_t partition, const struct clustering *place);
static bool split(struct cass_cluster *cluster, uint32_t chunk);
static bool is_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                      const struct clustering *place);

void cass_clustering_add(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns, int64_t order)
{
    struct clustering place = {time_ns, order};
    uint32_t chunk = partition_at(cluster, partition)->newest;
    if (chunk == CASS_NONE || is_full_before(chunk_at(cluster, chunk), &place)) {
        begin_newest(cluster, partition, &place);
        return;
    }
    /* The last one whose oldest is not after it; below the oldest of all: the last chunk. */
    while (chunk_at(cluster, chunk)->next != CASS_NONE &&
           is_before(&place, &chunk_at(cluster, chunk)->places[0]))
        chunk = chunk_at(cluster, chunk)->next;
    if (chunk_at(cluster, chunk)->count == CLUSTERING_CHUNK) {
        if (!split(cluster, chunk))
            return;
        if (is_before(&place, &chunk_at(cluster, chunk)->places[0]))
            chunk = chunk_at(cluster, chunk)->next;
    }
    struct clustering_chunk *into = chunk_at(cluster, chunk);
    uint32_t at = into->count;
    while (at > 0 && is_before(&place, &into->places[at - 1]))
        at--;
    memmove(&into->places[at + 1], &into->places[at], (into->count - at) * sizeof *into->places);
    into->places[at] = place;
    into->count++;
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

uint64_t cass_span_scanned(const struct cass_cluster *cluster, const struct operation *operation)
{
    const struct cass_statement *statement = &operation->statement;
    if (operation->entity == CASS_NONE)
        return 1;
    uint64_t rows =
        cass_span_rows(cluster, operation->entity, statement->from_ns, statement->until_ns, operation->asked);
    return (statement->limit > 0 && statement->limit < rows ? statement->limit : rows) + 1;
}

static bool is_before(const struct clustering *a, const struct clustering *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static bool is_full_before(const struct clustering_chunk *chunk, const struct clustering *place)
{
    return chunk->count == CLUSTERING_CHUNK && !is_before(place, &chunk->places[CLUSTERING_CHUNK - 1]);
}

/* So rows in order fill their chunks. Where there is no chunk left the pool is broken, and the run with it.
 */
static void begin_newest(struct cass_cluster *cluster, uint32_t partition, const struct clustering *place)
{
    uint32_t fresh = cass_pool_take(&cluster->chunks);
    if (fresh == CASS_NONE)
        return;
    *chunk_at(cluster, fresh) = (struct clustering_chunk){
        .next = partition_at(cluster, partition)->newest, .count = 1, .places = {*place}};
    partition_at(cluster, partition)->newest = fresh;
}

/* The older half goes into a chunk of its own, behind it. */
static bool split(struct cass_cluster *cluster, uint32_t chunk)
{
    uint32_t fresh = cass_pool_take(&cluster->chunks);
    if (fresh == CASS_NONE)
        return false;
    struct clustering_chunk *newer = chunk_at(cluster, chunk), *older = chunk_at(cluster, fresh);
    uint32_t moved = newer->count / 2;
    *older = (struct clustering_chunk){.next = newer->next, .count = moved};
    memcpy(older->places, newer->places, moved * sizeof *older->places);
    newer->count -= moved;
    newer->next = fresh;
    memmove(newer->places, &newer->places[moved], newer->count * sizeof *newer->places);
    return true;
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
