/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data partitions. In: rows, deletes and range tombstones, replica by replica. Kept: counts, and as far as
 * the configuration says, the places and lifetimes of rows. Out: what a read of some replicas finds and
 * scans. A row has its own record only while it is pending: while a replica misses it, a message or a hint
 * carries it, or its writer has not received an OK. So counts are exact whatever is retried. Expiring rows
 * are stored as sums per second, because a TTL is in seconds. */
#include <string.h>

#include "cassandra/token.h"
#include "state.h"

/* Up to this many records of a partition are searched one after the other; more are in a hash table. */
#define RECORDS_LISTED 8u

/* The partition key is (key bigint, bucket bigint). */
uint32_t cass_partition_position(const struct cass_cluster *cluster, uint64_t key, int64_t bucket)
{
    uint8_t numbers[2][8];
    for (uint32_t i = 0; i < 8; i++) {
        numbers[0][i] = (uint8_t)(key >> (56 - 8 * i));
        numbers[1][i] = (uint8_t)((uint64_t)bucket >> (56 - 8 * i));
    }
    const struct cass_component parts[] = {{numbers[0], 8}, {numbers[1], 8}};
    uint8_t serialised[2 * (8 + 3)];
    cass_key_serialise(parts, 2, serialised);
    return (uint32_t)cass_ring_position(cluster->ring, cass_token(serialised, sizeof(serialised)));
}

static uint32_t partition_hash(uint64_t key, int64_t bucket)
{
    return (uint32_t)(sim_mix64(key * UINT64_C(0x9e3779b97f4a7c15) ^ sim_mix64((uint64_t)bucket + 1)) >> 32);
}

uint32_t cass_partition_find(const struct cass_cluster *cluster, uint64_t key, int64_t bucket)
{
    const struct sim_table *table = &cluster->partition_table;
    uint32_t hash = partition_hash(key, bucket);
    for (const struct sim_slot *slot = sim_table_first(table, hash); slot->index != CASS_NONE;
         slot = sim_table_next(table, slot)) {
        const struct partition *partition = partition_at(cluster, slot->index);
        if (slot->hash == hash && partition->key == key && partition->bucket == bucket)
            return slot->index;
    }
    return CASS_NONE;
}

void cass_prefetch_partition(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, bool is_entry)
{
    const struct sim_slot *slot = sim_table_first(&cluster->partition_table, partition_hash(key, bucket));
    if (!is_entry) {
        __builtin_prefetch(slot);
        return;
    }
    const struct partition *partition = partition_at(cluster, slot->index);
    __builtin_prefetch(partition);
    __builtin_prefetch(&partition->newest);
}

uint32_t cass_partition_need_other(struct cass_cluster *cluster, uint64_t key, int64_t bucket)
{
    uint32_t *last = &cluster->written[key % CASS_WRITTEN_LAST];
    uint32_t found = cass_partition_find(cluster, key, bucket);
    if (found != CASS_NONE)
        return *last = found;
    uint32_t index = cass_pool_take(&cluster->partitions);
    *partition_at(cluster, index) = (struct partition){
        .key = key,
        .bucket = bucket,
        .position = cass_partition_position(cluster, key, bucket),
    };
    sim_table_put(&cluster->partition_table, partition_hash(key, bucket), index);
    return index;
}

void cass_partition_expire(struct cass_cluster *cluster, uint32_t index)
{
    struct partition *partition = partition_at(cluster, index);
    int64_t now_s = now_ns(cluster) / SIM_SECOND;
    while (partition->expiry_head != CASS_NONE) {
        uint32_t head = partition->expiry_head;
        const struct expiry *expiry = expiry_at(cluster, head);
        if (expiry->second > now_s)
            break;
        partition->rows -= expiry->rows < partition->rows ? expiry->rows : partition->rows;
        partition->bytes -= expiry->bytes < partition->bytes ? expiry->bytes : partition->bytes;
        partition->tombstones += expiry->rows;
        partition->expiry_head = expiry->next;
        cass_pool_give(&cluster->expiries, head);
    }
}

static uint32_t row_hash(uint32_t partition, uint64_t row_id, uint32_t flags)
{
    return (uint32_t)(sim_mix64(row_id ^ sim_mix64(partition) ^ flags) >> 32);
}

static void enter(struct cass_cluster *cluster, uint32_t index)
{
    const struct row *row = row_at(cluster, index);
    sim_table_put(&cluster->row_table, row_hash(row->partition, row->row_id, row->flags & ROW_KIND), index);
    partition_at(cluster, row->partition)->records++;
}

/* Adds the records in the partition's list to the hash table, now that they are many. */
static void enter_all(struct cass_cluster *cluster, uint32_t index)
{
    struct partition *partition = partition_at(cluster, index);
    partition->is_tabled = 1;
    partition->records = 0;
    for (uint32_t at = partition->unresolved; at != CASS_NONE; at = row_at(cluster, at)->next)
        enter(cluster, at);
}

static inline uint32_t row_new(struct cass_cluster *cluster, uint32_t partition_index,
                               const struct cass_statement *statement, uint32_t flags)
{
    uint32_t index = cass_pool_take(&cluster->rows);
    struct partition *partition = partition_at(cluster, partition_index);
    int64_t now = now_ns(cluster), expires_s = cass_expiry_s(now, cass_ttl(cluster, statement));
    if (SIM_UNLIKELY(flags & ROW_DELETE))
        expires_s = now / SIM_SECOND;
    *row_at(cluster, index) = (struct row){
        .next = partition->unresolved,
        .partition = partition_index,
        .flags = flags,
        .row_id = statement->row_id,
        .bytes = statement->bytes,
        .time_ns = statement->row_time_ns,
        .order = statement->row_order,
        .expires_s = expires_s,
        .timestamp_us = statement->timestamp_us != NO_TIME ? statement->timestamp_us : now / SIM_US,
    };
    if (SIM_UNLIKELY(flags & ROW_RANGE)) {
        bool is_all = flags & ROW_ALL;
        row_at(cluster, index)->time_ns = is_all ? INT64_MIN : statement->from_ns;
        row_at(cluster, index)->order =
            is_all ? INT64_MAX : statement->until_ns - (statement->until_ns != INT64_MIN);
    }
    if (partition->unresolved != CASS_NONE)
        row_at(cluster, partition->unresolved)->previous = index;
    if (index != CASS_NONE)
        partition->unresolved = index;
    if (SIM_UNLIKELY(partition->is_tabled))
        enter(cluster, index);
    else if (SIM_UNLIKELY(partition->records == RECORDS_LISTED))
        enter_all(cluster, partition_index);
    else
        partition->records++;
    return index;
}

static inline uint32_t row_find(const struct cass_cluster *cluster, uint32_t partition, uint64_t row_id,
                                uint32_t flags)
{
    const struct sim_table *table = &cluster->row_table;
    if (SIM_LIKELY(!partition_at(cluster, partition)->is_tabled)) {
        uint32_t at = partition_at(cluster, partition)->unresolved;
        while (at != CASS_NONE &&
               (row_at(cluster, at)->row_id != row_id || (row_at(cluster, at)->flags & ROW_KIND) != flags))
            at = row_at(cluster, at)->next;
        return at;
    }
    uint32_t hash = row_hash(partition, row_id, flags);
    for (const struct sim_slot *slot = sim_table_first(table, hash); slot->index != CASS_NONE;
         slot = sim_table_next(table, slot)) {
        const struct row *row = row_at(cluster, slot->index);
        if (slot->hash == hash && row->partition == partition && row->row_id == row_id &&
            (row->flags & ROW_KIND) == flags)
            return slot->index;
    }
    return CASS_NONE;
}

uint32_t cass_row_need(struct cass_cluster *cluster, uint32_t partition,
                       const struct cass_statement *statement)
{
    uint32_t flags = statement->kind == CASS_WRITE_ROW ? 0 : ROW_DELETE;
    if (statement->kind == CASS_DELETE_RANGE || statement->kind == CASS_DELETE_PARTITION)
        flags |= statement->kind == CASS_DELETE_RANGE ? ROW_RANGE : ROW_RANGE | ROW_ALL;
    uint32_t index = row_find(cluster, partition, statement->row_id, flags);
    if (SIM_LIKELY(index == CASS_NONE))
        index = row_new(cluster, partition, statement, flags);
    row_at(cluster, index)->references++;
    return index;
}

uint32_t cass_row_find(const struct cass_cluster *cluster, uint32_t partition, uint64_t row_id)
{
    return row_find(cluster, partition, row_id, 0);
}

/* Drops the record of a row that is not pending. A row that no replica has, and that no message carries any
 * more, was never written. */
void cass_row_settle(struct cass_cluster *cluster, uint32_t index)
{
    const struct row *row = row_at(cluster, index);
    bool is_complete = row->held == cluster->all && row->flags & ROW_CONFIRMED;
    if (!is_complete && row->held != 0)
        return;
    struct partition *partition = partition_at(cluster, row->partition);
    if (SIM_UNLIKELY(partition->is_tabled))
        sim_table_remove(&cluster->row_table, row_hash(row->partition, row->row_id, row->flags & ROW_KIND),
                         index);
    if (--partition->records == 0)
        partition->is_tabled = 0;
    if (row->previous != CASS_NONE)
        row_at(cluster, row->previous)->next = row->next;
    else
        partition->unresolved = row->next;
    if (row->next != CASS_NONE)
        row_at(cluster, row->next)->previous = row->previous;
    cass_pool_give(&cluster->rows, index);
}

void cass_row_confirm(struct cass_cluster *cluster, uint32_t index)
{
    row_at(cluster, index)->flags |= ROW_CONFIRMED;
}

/* The clustering order of a partition's rows, which a cluster keeps if it is configured to: places in chunks,
 * newest first. Rows arrive nearly in order, so a place is usually added to one of the first chunks, and the
 * number of places newer than a given one is found in a few chunks. */

static const struct lifetime lifetime_none = {
    .written_us = NO_TIME, .expires_s = NEVER, .deleted_us = NO_TIME};

static bool is_before(const struct clustering *a, const struct clustering *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static bool is_full_before(const struct clustering_chunk *chunk, const struct clustering *place)
{
    return chunk->count == CLUSTERING_CHUNK && is_before(&chunk->places[CLUSTERING_CHUNK - 1], place);
}

/* Returns the position in the chunk at which `place` belongs: after the places that are not newer. */
static uint32_t position_in(const struct clustering_chunk *chunk, const struct clustering *place)
{
    uint32_t at = chunk->count;
    while (at > 0 && is_before(place, &chunk->places[at - 1]))
        at--;
    return at;
}

/* Begins a new first chunk, so that rows in order fill their chunks. If no chunk can be taken, the pool is
 * marked as broken, which stops the run. */
static uint32_t begin_newest(struct cass_cluster *cluster, uint32_t partition, const struct clustering *place)
{
    uint32_t fresh = cass_pool_take(&cluster->chunks);
    if (fresh == CASS_NONE)
        return CASS_NONE;
    *chunk_at(cluster, fresh) = (struct clustering_chunk){.next = partition_at(cluster, partition)->newest,
                                                          .count = 1,
                                                          .special = 1,
                                                          .places = {*place},
                                                          .items = {lifetime_none}};
    partition_at(cluster, partition)->newest = fresh;
    return fresh;
}

static bool is_plain(const struct clustering_chunk *chunk, uint32_t at)
{
    const struct lifetime *item = &chunk->items[at];
    return chunk->open[at] == 0 && item->written_us != NO_TIME && item->expires_s == NEVER &&
           item->deleted_us == NO_TIME;
}

static uint32_t count_special(const struct clustering_chunk *chunk)
{
    uint32_t special = 0;
    for (uint32_t i = 0; i < chunk->count; i++)
        special += !is_plain(chunk, i);
    return special;
}

/* Moves the older half of the chunk into a new chunk after it. */
static bool split(struct cass_cluster *cluster, uint32_t chunk)
{
    uint32_t fresh = cass_pool_take(&cluster->chunks);
    if (fresh == CASS_NONE)
        return false;
    struct clustering_chunk *newer = chunk_at(cluster, chunk), *older = chunk_at(cluster, fresh);
    const uint32_t moved = newer->count / 2, left = newer->count - moved;
    *older = *newer;
    older->count = moved;
    newer->count = left;
    newer->next = fresh;
    memmove(newer->places, &newer->places[moved], left * sizeof *newer->places);
    memmove(newer->items, &newer->items[moved], left * sizeof *newer->items);
    memmove(newer->open, &newer->open[moved], left * sizeof *newer->open);
    older->special = count_special(older);
    newer->special = count_special(newer);
    return true;
}

static void insert(struct cass_cluster *cluster, uint32_t index, uint32_t at, const struct clustering *place)
{
    struct clustering_chunk *into = chunk_at(cluster, index);
    uint32_t behind = into->count - at;
    memmove(&into->places[at + 1], &into->places[at], behind * sizeof *into->places);
    memmove(&into->items[at + 1], &into->items[at], behind * sizeof *into->items);
    memmove(&into->open[at + 1], &into->open[at], behind * sizeof *into->open);
    into->places[at] = *place;
    into->items[at] = lifetime_none;
    into->open[at] = 0;
    into->special++;
    into->count++;
}

/* Finds the place of a row, or adds it. Returns its chunk, CASS_NONE when out of memory, and its position
 * there. */
static uint32_t need(struct cass_cluster *cluster, const struct row *row, uint32_t *position)
{
    const struct clustering *place = &(const struct clustering){row->time_ns, row->order};
    uint32_t partition = row->partition, chunk = partition_at(cluster, partition)->newest;
    *position = 0;
    if (chunk == CASS_NONE || is_full_before(chunk_at(cluster, chunk), place))
        return begin_newest(cluster, partition, place);
    /* Finds the first chunk whose oldest place is not newer than `place`; the last chunk if there is none. */
    while (chunk_at(cluster, chunk)->next != CASS_NONE &&
           is_before(place, &chunk_at(cluster, chunk)->places[0]))
        chunk = chunk_at(cluster, chunk)->next;
    uint32_t at = position_in(chunk_at(cluster, chunk), place);
    if (at > 0 && !is_before(&chunk_at(cluster, chunk)->places[at - 1], place)) {
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

/* The lifetimes of a partition's rows, which a cluster keeps if it is configured to: each place has a time
 * of its write, an expiry and a deletion. These are what all replicas have. What some replicas miss
 * stays in the records of rows, and a reader adds the records that its replicas have, so each set of replicas
 * finds its own rows. A read goes down from the newest place and counts what Cassandra's replicas scan, which
 * is rows and tombstones, until it has enough rows. Source: apache/cassandra db/ReadCommand.java
 * (MetricRecording). */

enum fate { FATE_ABSENT, FATE_LIVE, FATE_DELETED, FATE_EXPIRED };

struct walk {
    const struct cass_cluster *cluster;
    const struct partition *partition;
    uint32_t replicas;
    int64_t now_s;
    bool has_ranges;
};

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
                                               .deleted_us = row->timestamp_us,
                                               .deleted_s = row->expires_s};
    partition->ranges = fresh;
}

static void open_lifetime(struct cass_cluster *cluster, uint32_t index)
{
    const struct row *row = row_at(cluster, index);
    struct partition *partition = partition_at(cluster, row->partition);
    if (row->flags & ROW_RANGE) {
        partition->open_ranges++;
        return;
    }
    uint32_t at, chunk = need(cluster, row, &at);
    if (chunk == CASS_NONE)
        return;
    struct clustering_chunk *found = chunk_at(cluster, chunk);
    found->special += is_plain(found, at);
    found->open[at]++;
}

static void settle_lifetime(struct cass_cluster *cluster, uint32_t index)
{
    const struct row *row = row_at(cluster, index);
    if (row->flags & ROW_RANGE) {
        partition_at(cluster, row->partition)->open_ranges--;
        range_add(cluster, row);
        return;
    }
    uint32_t at, chunk = need(cluster, row, &at);
    if (chunk == CASS_NONE)
        return;
    struct clustering_chunk *found = chunk_at(cluster, chunk);
    found->open[at]--;
    merge(&found->items[at], row);
    found->special -= is_plain(found, at);
}

/* Returns whether some replicas lack the record and one of the reader's replicas has it. */
static bool is_seen(const struct walk *walk, const struct row *row)
{
    return (row->held & walk->replicas) != 0 && row->held != walk->cluster->all;
}

/* Adds the records that the reader's replicas have to a chunk's lifetimes. It goes through the records once
 * for all rows of the chunk, because there may be many of both. */
static void add_records(const struct walk *walk, const struct clustering_chunk *chunk, struct lifetime *items)
{
    for (uint32_t at = walk->partition->unresolved; at != CASS_NONE; at = row_at(walk->cluster, at)->next) {
        const struct row *row = row_at(walk->cluster, at);
        const struct clustering place = {row->time_ns, row->order};
        uint32_t low = 0, high = chunk->count;
        if (row->flags & ROW_RANGE || !is_seen(walk, row) || is_before(&chunk->places[high - 1], &place))
            continue;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (is_before(&chunk->places[middle], &place))
                low = middle + 1;
            else
                high = middle;
        }
        if (chunk->open[low] > 0 && !is_before(&place, &chunk->places[low]))
            merge(&items[low], row);
    }
}

static void fill_lifetimes(const struct walk *walk, const struct clustering_chunk *chunk,
                           struct lifetime *items)
{
    uint32_t open = 0;
    memcpy(items, chunk->items, chunk->count * sizeof *items);
    for (uint32_t i = 0; i < chunk->count; i++)
        open += chunk->open[i];
    if (open > 0)
        add_records(walk, chunk, items);
}

/* Goes through the range tombstones that the reader's replicas have. */
struct ranges {
    uint32_t settled, open; /* the next one that all replicas have, and the next record */
    struct range range;
};

static struct ranges ranges_of(const struct walk *walk)
{
    return (struct ranges){.settled = walk->partition->ranges, .open = walk->partition->unresolved};
}

static const struct range *next_range(const struct walk *walk, struct ranges *ranges)
{
    if (ranges->settled != CASS_NONE) {
        const struct range *range = range_at(walk->cluster, ranges->settled);
        ranges->settled = range->next;
        return range;
    }
    while (ranges->open != CASS_NONE) {
        const struct row *row = row_at(walk->cluster, ranges->open);
        ranges->open = row->next;
        ranges->range = (struct range){.from_ns = row->time_ns,
                                       .until_ns = row->order,
                                       .deleted_us = row->timestamp_us,
                                       .deleted_s = row->expires_s};
        if (row->flags & ROW_RANGE && is_seen(walk, row))
            return &ranges->range;
    }
    return NULL;
}

static bool is_whole(const struct range *range)
{
    return range->from_ns == INT64_MIN && range->until_ns == INT64_MAX;
}

/* What deletes the rows of a time: the newest range, of equally new ones the earliest, and the newest
 * deletion of the partition, which hides older ranges. NO_TIME: nothing. */
struct dropped {
    int64_t range_us, range_s, whole_us;
};

static struct dropped dropped_at(const struct walk *walk, int64_t time_ns)
{
    struct dropped dropped = {NO_TIME, NEVER, NO_TIME};
    const struct range *range;
    for (struct ranges ranges = ranges_of(walk); (range = next_range(walk, &ranges)) != NULL;) {
        if (is_whole(range)) {
            dropped.whole_us = at_least(dropped.whole_us, range->deleted_us);
        } else if (range->from_ns <= time_ns && time_ns <= range->until_ns &&
                   (range->deleted_us > dropped.range_us ||
                    (range->deleted_us == dropped.range_us && range->deleted_s < dropped.range_s))) {
            dropped.range_us = range->deleted_us;
            dropped.range_s = range->deleted_s;
        }
    }
    if (dropped.range_us <= dropped.whole_us)
        dropped.range_us = NO_TIME;
    return dropped;
}

static enum fate fate_of(const struct walk *walk, const struct lifetime *lifetime, int64_t time_ns)
{
    /* The deletion of a range also supersedes the row's own deletion unless that is as new. */
    struct dropped dropped = {.range_us = NO_TIME, .whole_us = NO_TIME};
    if (walk->has_ranges)
        dropped = dropped_at(walk, time_ns);
    int64_t dropped_us = at_least(dropped.range_us, dropped.whole_us);
    if (lifetime->written_us > at_least(dropped_us, lifetime->deleted_us))
        return lifetime->expires_s > walk->now_s ? FATE_LIVE : FATE_EXPIRED;
    return lifetime->deleted_us != NO_TIME && lifetime->deleted_us >= dropped_us ? FATE_DELETED : FATE_ABSENT;
}

/* Counts the markers of range tombstones from until_ns down to end_ns: as in RangeTombstoneList, there is one
 * wherever another deletion begins to be the newest. A scan that is cut ends at the first row of the time
 * end_ns, others close the range that is open at the end. The deletion of a whole partition has no marker. */
static uint64_t range_markers(const struct walk *walk, int64_t until_ns, int64_t end_ns, bool is_cut)
{
    struct dropped open = dropped_at(walk, until_ns - 1);
    uint64_t markers = open.range_us != NO_TIME;
    for (int64_t at_ns = until_ns; at_ns > end_ns;) {
        int64_t next_ns = end_ns;
        const struct range *range;
        for (struct ranges ranges = ranges_of(walk); (range = next_range(walk, &ranges)) != NULL;) {
            if (!is_whole(range) && range->until_ns < at_ns - 1)
                next_ns = at_least(next_ns, range->until_ns + 1);
            if (!is_whole(range) && range->from_ns < at_ns)
                next_ns = at_least(next_ns, range->from_ns);
        }
        if (next_ns > end_ns) {
            struct dropped below = dropped_at(walk, next_ns - 1);
            markers += below.range_us != open.range_us ||
                       (below.range_us != NO_TIME && below.range_s != open.range_s);
            open = below;
        }
        at_ns = next_ns;
    }
    return markers + (!is_cut && open.range_us != NO_TIME);
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
static bool scan_chunk(const struct walk *walk, const struct clustering_chunk *chunk,
                       const struct bounds *bounds, struct scan *out)
{
    bool is_plain_chunk = chunk->special == 0 && !walk->has_ranges;
    if (chunk->places[0].time_ns >= bounds->until_ns && bounds->until_ns != INT64_MAX)
        return true;
    if (is_plain_chunk && (!bounds->has_low || is_before(&bounds->low, &chunk->places[0])) &&
        (bounds->until_ns == INT64_MAX || chunk->places[chunk->count - 1].time_ns < bounds->until_ns)) {
        if (out->rows == 0)
            out->last = chunk->places[chunk->count - 1];
        if (chunk->count >= bounds->limit - out->rows)
            out->seen.oldest = chunk->places[chunk->count - (bounds->limit - out->rows)];
        out->rows += chunk->count;
        out->rows = out->rows < bounds->limit ? out->rows : bounds->limit;
        return out->rows < bounds->limit;
    }
    struct lifetime items[CLUSTERING_CHUNK];
    if (!is_plain_chunk)
        fill_lifetimes(walk, chunk, items);
    for (uint32_t i = chunk->count; i-- > 0;) {
        const struct clustering *place = &chunk->places[i];
        if (place->time_ns >= bounds->until_ns && bounds->until_ns != INT64_MAX)
            continue;
        enum fate fate = is_plain_chunk ? FATE_LIVE : fate_of(walk, &items[i], place->time_ns);
        if (bounds->has_low && !is_before(&bounds->low, place)) {
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
        if (++out->rows == bounds->limit) {
            out->seen.oldest = *place;
            return false;
        }
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
    *out = (struct scan){.seen = {{INT64_MIN, INT64_MIN}, bounds.until_ns}};
    if (bounds.has_low && bounds.low.order < INT64_MAX)
        out->seen.oldest = (struct clustering){bounds.low.time_ns, bounds.low.order + 1};
    else if (bounds.has_low)
        out->seen.oldest.time_ns = sim_time_after(bounds.low.time_ns, 1);
    for (uint32_t at = walk.partition->newest; at != CASS_NONE; at = chunk_at(cluster, at)->next) {
        if (!scan_chunk(&walk, chunk_at(cluster, at), &bounds, out))
            break;
    }
    bool is_cut = out->rows == bounds.limit;
    if (walk.has_ranges)
        out->tombstones += range_markers(&walk, bounds.until_ns, out->seen.oldest.time_ns, is_cut);
}

/* --- The rows of replicas. */

static void tell_copy(const struct cass_cluster *cluster, const struct row *row, uint32_t replica)
{
    const struct partition *partition = partition_at(cluster, row->partition);
    cluster->observer.row_copied(cluster->observer.context, partition->key, partition->bucket, row->row_id,
                                 row->time_ns, row->order, replica);
}

/* Adds to the sums, which are in the order of seconds. Usually the second is the last one or a later one. */
static void expiry_add(struct cass_cluster *cluster, uint32_t index, int64_t second, uint64_t bytes)
{
    struct partition *partition = partition_at(cluster, index);
    uint32_t before = CASS_NONE, at = partition->expiry_head;
    if (at != CASS_NONE && expiry_at(cluster, partition->expiry_tail)->second <= second)
        at = partition->expiry_tail;
    while (at != CASS_NONE && expiry_at(cluster, at)->second < second) {
        before = at;
        at = expiry_at(cluster, at)->next;
    }
    if (at == CASS_NONE || expiry_at(cluster, at)->second != second) {
        uint32_t fresh = cass_pool_take(&cluster->expiries);
        *expiry_at(cluster, fresh) = (struct expiry){.next = at, .second = second};
        if (before != CASS_NONE)
            expiry_at(cluster, before)->next = fresh;
        else
            partition->expiry_head = fresh;
        if (at == CASS_NONE)
            partition->expiry_tail = fresh;
        at = fresh;
    }
    expiry_at(cluster, at)->rows++;
    expiry_at(cluster, at)->bytes += bytes;
}

static inline void count_first(struct cass_cluster *cluster, const struct row *row, uint32_t replica)
{
    struct partition *partition = partition_at(cluster, row->partition);
    if (SIM_UNLIKELY(row->flags & ROW_DELETE)) {
        partition->tombstones++;
        partition->rows -= partition->rows > 0 ? 1 : 0;
        partition->bytes -= row->bytes < partition->bytes ? row->bytes : partition->bytes;
        return;
    }
    partition->rows++;
    partition->bytes += row->bytes;
    partition->written_rows++;
    partition->written_bytes += row->bytes;
    if (SIM_UNLIKELY(row->expires_s != NEVER))
        expiry_add(cluster, row->partition, row->expires_s, row->bytes);
    if (cluster->observer.row_stored != NULL) {
        cluster->observer.row_stored(cluster->observer.context, partition->key, partition->bucket,
                                     row->row_id, row->time_ns, row->order, row->bytes, replica);
    }
}

void cass_row_apply(struct cass_cluster *cluster, uint32_t index, uint32_t replica)
{
    struct row *row = row_at(cluster, index);
    uint32_t bit = UINT32_C(1) << replica;
    if (SIM_UNLIKELY(row->held & bit))
        return;
    bool is_first = row->held == 0;
    if (SIM_LIKELY(is_first)) {
        if (SIM_LIKELY(!(row->flags & ROW_RANGE)))
            count_first(cluster, row, replica);
        if (SIM_UNLIKELY(cluster->config.keeps_lifetimes))
            open_lifetime(cluster, index);
    }
    row->held |= bit;
    if (SIM_UNLIKELY(cluster->config.keeps_lifetimes && row->held == cluster->all))
        settle_lifetime(cluster, index);
    uint32_t node = replicas_at(cluster, partition_at(cluster, row->partition)->position)[replica];
    if (SIM_LIKELY(!(row->flags & ROW_DELETE))) {
        cluster->nodes[node].stats.rows++;
        cluster->nodes[node].stats.bytes += row->bytes;
        if (!is_first && cluster->observer.row_copied != NULL)
            tell_copy(cluster, row, replica);
    }
    if (row->references == 0)
        cass_row_settle(cluster, index);
}

uint64_t cass_rows_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas)
{
    uint64_t missed = 0;
    int64_t now_s = now_ns(cluster) / SIM_SECOND;
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        missed += row->held != 0 && (row->held & replicas) == 0 && !(row->flags & ROW_DELETE) &&
                  row->expires_s > now_s;
        at = row->next;
    }
    return missed;
}

static bool is_in(const struct cass_seen *seen, const struct row *row)
{
    if (row->flags & ROW_RANGE)
        return row->order >= seen->oldest.time_ns && row->time_ns < seen->until_ns;
    return !is_before(&(const struct clustering){row->time_ns, row->order}, &seen->oldest) &&
           (row->time_ns < seen->until_ns || seen->until_ns == INT64_MAX);
}

void cass_rows_repair(struct cass_cluster *cluster, uint32_t partition, uint32_t replica, uint32_t others,
                      const struct cass_seen *seen)
{
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        uint32_t next = row->next;
        if (row->held & others && is_in(seen, row))
            cass_row_apply(cluster, at, replica);
        at = next;
    }
}

uint32_t cass_rows_laggards(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                            uint32_t where, const struct cass_seen *seen)
{
    uint32_t behind = 0;
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        behind |= row->held & where && is_in(seen, row) ? replicas & ~row->held : 0;
        at = row->next;
    }
    return behind;
}
