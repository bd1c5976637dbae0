/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lifetimes of a partition's rows, which a cluster keeps if it is configured to: each chunk of places has
 * a chunk of write times, expiries and deletions. These are what all replicas have. What some replicas miss
 * stays in the records of rows, and a reader adds the records that its replicas have, so each set of replicas
 * finds its own rows. A read goes down from the newest place and counts what Cassandra's replicas scan, which
 * is rows and tombstones, until it has enough rows. Source: apache/cassandra db/ReadCommand.java
 * (MetricRecording). */
#include <string.h>

#include "data.h"
#include "state.h"

enum fate { FATE_ABSENT, FATE_LIVE, FATE_DELETED, FATE_EXPIRED };

struct walk {
    const struct cass_cluster *cluster;
    const struct partition *partition;
    uint32_t replicas;
    int64_t now_s;
    bool has_ranges;
};

static bool is_plain(const struct chunk_lifetimes *chunk, uint32_t at)
{
    const struct lifetime *item = &chunk->items[at];
    return chunk->open[at] == 0 && item->written_us != NO_TIME && item->expires_s == NEVER &&
           item->deleted_us == NO_TIME;
}

uint32_t cass_lifetimes_special(const struct chunk_lifetimes *chunk, uint32_t count)
{
    uint32_t special = 0;
    for (uint32_t i = 0; i < count; i++)
        special += !is_plain(chunk, i);
    return special;
}

/* Merges a row's write into its lifetime: the newer write wins; if both have the same timestamp, the one that
 * expires, then the later expiry. */
static void merge(struct lifetime *into, const struct row *row)
{
    if (row->flags & ROW_DELETE) {
        into->deleted_us = at_least(into->deleted_us, row->timestamp_us);
        return;
    }
    bool is_tie = row->timestamp_us == into->written_us;
    bool expires = row->expires_s != NEVER, did_expire = into->expires_s != NEVER;
    if (row->timestamp_us < into->written_us || (is_tie && did_expire && !expires) ||
        (is_tie && did_expire == expires && row->expires_s < into->expires_s))
        return;
    into->written_us = row->timestamp_us;
    into->expires_s = row->expires_s;
}

static void range_add(struct cass_cluster *cluster, const struct row *row)
{
    uint32_t fresh = cass_pool_take(&cluster->ranges);
    struct partition *partition = partition_at(cluster, row->partition);
    if (fresh == CASS_NONE)
        return;
    *range_at(cluster, fresh) = (struct range){.next = partition->ranges,
                                               .from_ns = row->time_ns,
                                               .until_ns = row->order,
                                               .deleted_us = row->timestamp_us};
    partition->ranges = fresh;
}

void cass_lifetime_open(struct cass_cluster *cluster, uint32_t index)
{
    const struct row *row = row_at(cluster, index);
    struct partition *partition = partition_at(cluster, row->partition);
    if (row->flags & ROW_RANGE) {
        partition->open_ranges++;
        return;
    }
    uint32_t at, chunk = cass_clustering_need(cluster, row->partition, row->time_ns, row->order, &at);
    if (chunk == CASS_NONE)
        return;
    struct chunk_lifetimes *lifetimes = lifetimes_at(cluster, chunk);
    lifetimes->special += is_plain(lifetimes, at);
    lifetimes->open[at]++;
}

void cass_lifetime_settle(struct cass_cluster *cluster, uint32_t index)
{
    const struct row *row = row_at(cluster, index);
    if (row->flags & ROW_RANGE) {
        partition_at(cluster, row->partition)->open_ranges--;
        range_add(cluster, row);
        return;
    }
    uint32_t at, chunk = cass_clustering_need(cluster, row->partition, row->time_ns, row->order, &at);
    if (chunk == CASS_NONE)
        return;
    struct chunk_lifetimes *lifetimes = lifetimes_at(cluster, chunk);
    lifetimes->open[at]--;
    merge(&lifetimes->items[at], row);
    lifetimes->special -= is_plain(lifetimes, at);
}

/* Returns whether some replicas lack the record and one of the reader's replicas has it. */
static bool is_seen(const struct walk *walk, const struct row *row)
{
    return (row->held & walk->replicas) != 0 && row->held != all_replicas(walk->cluster);
}

static bool is_after(const struct clustering *place, const struct clustering *low)
{
    return place->time_ns != low->time_ns ? place->time_ns > low->time_ns : place->order > low->order;
}

/* Adds the records that the reader's replicas have to a chunk's lifetimes. It goes through the records once
 * for all rows of the chunk, because there may be many of both. */
static void add_records(const struct walk *walk, uint32_t index, struct lifetime *items)
{
    const struct clustering_chunk *chunk = chunk_at(walk->cluster, index);
    const struct chunk_lifetimes *lifetimes = lifetimes_at(walk->cluster, index);
    for (uint32_t at = walk->partition->unresolved; at != CASS_NONE; at = row_at(walk->cluster, at)->next) {
        const struct row *row = row_at(walk->cluster, at);
        const struct clustering place = {row->time_ns, row->order};
        uint32_t low = 0, high = chunk->count;
        if (row->flags & ROW_RANGE || !is_seen(walk, row) || is_after(&place, &chunk->places[high - 1]))
            continue;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (is_after(&place, &chunk->places[middle]))
                low = middle + 1;
            else
                high = middle;
        }
        if (lifetimes->open[low] > 0 && !is_after(&chunk->places[low], &place))
            merge(&items[low], row);
    }
}

static void fill_lifetimes(const struct walk *walk, uint32_t index, struct lifetime *items)
{
    const struct chunk_lifetimes *lifetimes = lifetimes_at(walk->cluster, index);
    uint32_t count = chunk_at(walk->cluster, index)->count, open = 0;
    memcpy(items, lifetimes->items, count * sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        open += lifetimes->open[i];
    if (open > 0)
        add_records(walk, index, items);
}

/* Returns the latest deletion of a range that contains the time; NO_TIME if there is none. */
static int64_t range_deleted_us(const struct walk *walk, int64_t time_ns)
{
    int64_t deleted_us = NO_TIME;
    for (uint32_t at = walk->partition->ranges; at != CASS_NONE; at = range_at(walk->cluster, at)->next) {
        const struct range *range = range_at(walk->cluster, at);
        if (range->from_ns <= time_ns && time_ns <= range->until_ns)
            deleted_us = at_least(deleted_us, range->deleted_us);
    }
    for (uint32_t at = walk->partition->unresolved; at != CASS_NONE; at = row_at(walk->cluster, at)->next) {
        const struct row *row = row_at(walk->cluster, at);
        if (row->flags & ROW_RANGE && is_seen(walk, row) && row->time_ns <= time_ns && time_ns <= row->order)
            deleted_us = at_least(deleted_us, row->timestamp_us);
    }
    return deleted_us;
}

static enum fate fate_of(const struct walk *walk, const struct lifetime *lifetime, int64_t time_ns)
{
    /* The deletion of a range also supersedes the row's own deletion unless that is newer. */
    int64_t dropped_us = walk->has_ranges ? range_deleted_us(walk, time_ns) : NO_TIME;
    if (lifetime->written_us > at_least(dropped_us, lifetime->deleted_us))
        return lifetime->expires_s > walk->now_s ? FATE_LIVE : FATE_EXPIRED;
    return lifetime->deleted_us > dropped_us ? FATE_DELETED : FATE_ABSENT;
}

/* Counts both markers of each range tombstone that overlaps the scanned range. The deletion of a whole
 * partition has no markers. */
static uint64_t range_markers(const struct walk *walk, int64_t from_ns, int64_t until_ns)
{
    uint64_t markers = 0;
    for (uint32_t at = walk->partition->ranges; at != CASS_NONE; at = range_at(walk->cluster, at)->next) {
        const struct range *range = range_at(walk->cluster, at);
        bool is_all = range->from_ns == INT64_MIN && range->until_ns == INT64_MAX;
        markers += !is_all && range->from_ns < until_ns && range->until_ns >= from_ns ? 2 : 0;
    }
    for (uint32_t at = walk->partition->unresolved; at != CASS_NONE; at = row_at(walk->cluster, at)->next) {
        const struct row *row = row_at(walk->cluster, at);
        bool is_range = row->flags & ROW_RANGE && !(row->flags & ROW_ALL) && is_seen(walk, row);
        markers += is_range && row->time_ns < until_ns && row->order >= from_ns ? 2 : 0;
    }
    return markers;
}

/* The bounds of a scan: places after `low`, if has_low, and with times before until_ns. A read of a time span
 * continues to the row below it (goes_below), a count does not. */
struct bounds {
    bool has_low, goes_below;
    struct clustering low;
    int64_t until_ns;
    uint64_t limit;
};

static struct bounds bounds_of(const struct cass_statement *statement)
{
    struct bounds bounds = {.until_ns = INT64_MAX,
                            .limit = statement->limit > 0 ? statement->limit : UINT64_MAX};
    if (statement->kind == CASS_COUNT_ROWS) {
        bounds.has_low = statement->has_after;
        bounds.low = (struct clustering){statement->after_time_ns, statement->after_order};
        bounds.limit = UINT64_MAX;
    } else if (statement->has_span) {
        bounds.has_low = bounds.goes_below = statement->from_ns != INT64_MIN;
        bounds.low = (struct clustering){statement->from_ns - bounds.has_low, INT64_MAX};
        bounds.until_ns = statement->until_ns;
    }
    return bounds;
}

/* Counts the rows of one chunk. Returns whether the read continues after it. */
static bool scan_chunk(const struct walk *walk, uint32_t index, const struct bounds *bounds, struct scan *out)
{
    const struct clustering_chunk *chunk = chunk_at(walk->cluster, index);
    bool is_plain_chunk = lifetimes_at(walk->cluster, index)->special == 0 && !walk->has_ranges;
    if (chunk->places[0].time_ns >= bounds->until_ns && bounds->until_ns != INT64_MAX)
        return true;
    if (is_plain_chunk && (!bounds->has_low || is_after(&chunk->places[0], &bounds->low)) &&
        (bounds->until_ns == INT64_MAX || chunk->places[chunk->count - 1].time_ns < bounds->until_ns)) {
        if (out->rows == 0)
            out->last = chunk->places[chunk->count - 1];
        out->rows += chunk->count;
        out->rows = out->rows < bounds->limit ? out->rows : bounds->limit;
        return out->rows < bounds->limit;
    }
    struct lifetime items[CLUSTERING_CHUNK];
    if (!is_plain_chunk)
        fill_lifetimes(walk, index, items);
    for (uint32_t i = chunk->count; i-- > 0;) {
        const struct clustering *place = &chunk->places[i];
        if (place->time_ns >= bounds->until_ns && bounds->until_ns != INT64_MAX)
            continue;
        enum fate fate = is_plain_chunk ? FATE_LIVE : fate_of(walk, &items[i], place->time_ns);
        if (bounds->has_low && !is_after(place, &bounds->low)) {
            out->saw_older = fate == FATE_LIVE && bounds->goes_below;
            if (out->saw_older || !bounds->goes_below)
                return false;
            continue;
        }
        out->tombstones += fate == FATE_DELETED   ? 1
                           : fate == FATE_EXPIRED ? walk->cluster->config.row_cells
                                                  : 0;
        if (fate != FATE_LIVE)
            continue;
        if (out->rows == 0)
            out->last = *place;
        if (++out->rows == bounds->limit)
            return false;
    }
    return true;
}

void cass_lifetimes_scan(const struct cass_cluster *cluster, uint32_t partition,
                         const struct cass_statement *statement, uint32_t replicas, struct scan *out)
{
    const struct walk walk = {.cluster = cluster,
                              .partition = partition_at(cluster, partition),
                              .replicas = replicas,
                              .now_s = now_ns(cluster) / SIM_SECOND,
                              .has_ranges = partition_at(cluster, partition)->ranges != CASS_NONE ||
                                            partition_at(cluster, partition)->open_ranges > 0};
    const struct bounds bounds = bounds_of(statement);
    int64_t oldest_ns = bounds.has_low ? bounds.low.time_ns : INT64_MIN;
    *out = (struct scan){0};
    for (uint32_t at = walk.partition->newest; at != CASS_NONE; at = chunk_at(cluster, at)->next) {
        if (!scan_chunk(&walk, at, &bounds, out))
            break;
    }
    if (walk.has_ranges)
        out->tombstones += range_markers(&walk, oldest_ns, bounds.until_ns);
}
