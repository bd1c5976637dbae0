/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data partitions: their contents are stored as counts. A row has its own record only while it is pending:
 * while a replica misses it, a message or a hint carries it, or its writer has not received an OK. So counts
 * are exact whatever is retried. Expiring rows are stored as sums per second, because a TTL is in seconds. */
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
    const struct cass_table *table = &cluster->partition_table;
    uint32_t hash = partition_hash(key, bucket);
    for (const struct cass_slot *slot = cass_table_first(table, hash); slot->index != CASS_NONE;
         slot = cass_table_next(table, slot)) {
        const struct partition *partition = partition_at(cluster, slot->index);
        if (slot->hash == hash && partition->key == key && partition->bucket == bucket)
            return slot->index;
    }
    return CASS_NONE;
}

void cass_prefetch_partition(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, bool is_entry)
{
    const struct cass_slot *slot = cass_table_first(&cluster->partition_table, partition_hash(key, bucket));
    if (!is_entry) {
        __builtin_prefetch(slot);
        return;
    }
    const struct partition *partition = partition_at(cluster, slot->index);
    __builtin_prefetch(partition);
    __builtin_prefetch(&partition->newest);
}

static void cass_partition_enter(struct cass_cluster *cluster, uint32_t index)
{
    const struct partition *partition = partition_at(cluster, index);
    cass_table_put(&cluster->partition_table, partition_hash(partition->key, partition->bucket), index);
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
        .first_row_ns = NEVER,
        .last_row_ns = NO_TIME,
        .position = cass_partition_position(cluster, key, bucket),
    };
    cass_partition_enter(cluster, index);
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
    cass_table_put(&cluster->row_table, row_hash(row->partition, row->row_id, row->flags & ROW_KIND), index);
    partition_at(cluster, row->partition)->records++;
}

/* Counts the records in the partition's list, and adds them to the hash table if there are many. */
static void cass_rows_enter(struct cass_cluster *cluster, uint32_t index)
{
    struct partition *partition = partition_at(cluster, index);
    partition->records = 0;
    for (uint32_t at = partition->unresolved; at != CASS_NONE; at = row_at(cluster, at)->next)
        partition->records++;
    partition->is_tabled = partition->records > RECORDS_LISTED;
    if (!partition->is_tabled)
        return;
    partition->records = 0;
    for (uint32_t at = partition->unresolved; at != CASS_NONE; at = row_at(cluster, at)->next)
        enter(cluster, at);
}

static inline uint32_t row_new(struct cass_cluster *cluster, uint32_t partition_index,
                               const struct cass_statement *statement, uint32_t flags)
{
    uint32_t index = cass_pool_take(&cluster->rows);
    struct partition *partition = partition_at(cluster, partition_index);
    int64_t ttl_ns = cass_ttl(cluster, statement), now = now_ns(cluster), expires_s = NEVER;
    if (SIM_UNLIKELY(ttl_ns > 0))
        expires_s = now / SIM_SECOND + (ttl_ns + SIM_SECOND - 1) / SIM_SECOND;
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
        cass_rows_enter(cluster, partition_index);
    else
        partition->records++;
    return index;
}

static inline uint32_t row_find(const struct cass_cluster *cluster, uint32_t partition, uint64_t row_id,
                                uint32_t flags)
{
    const struct cass_table *table = &cluster->row_table;
    if (SIM_LIKELY(!partition_at(cluster, partition)->is_tabled)) {
        uint32_t at = partition_at(cluster, partition)->unresolved;
        while (at != CASS_NONE &&
               (row_at(cluster, at)->row_id != row_id || (row_at(cluster, at)->flags & ROW_KIND) != flags))
            at = row_at(cluster, at)->next;
        return at;
    }
    uint32_t hash = row_hash(partition, row_id, flags);
    for (const struct cass_slot *slot = cass_table_first(table, hash); slot->index != CASS_NONE;
         slot = cass_table_next(table, slot)) {
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
    bool is_complete = row->held == all_replicas(cluster) && row->flags & ROW_CONFIRMED;
    if (!is_complete && row->held != 0)
        return;
    struct partition *partition = partition_at(cluster, row->partition);
    if (SIM_UNLIKELY(partition->is_tabled))
        cass_table_remove(&cluster->row_table, row_hash(row->partition, row->row_id, row->flags & ROW_KIND),
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
    if (SIM_UNLIKELY(cluster->config.keeps_order && !cluster->config.keeps_lifetimes)) {
        cass_clustering_add(cluster, row->partition, row->time_ns, row->order);
        partition = partition_at(cluster, row->partition);
    }
    partition->rows++;
    partition->bytes += row->bytes;
    partition->written_rows++;
    partition->written_bytes += row->bytes;
    partition->first_row_ns = row->time_ns < partition->first_row_ns ? row->time_ns : partition->first_row_ns;
    partition->last_row_ns = row->time_ns > partition->last_row_ns ? row->time_ns : partition->last_row_ns;
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
            cass_lifetime_open(cluster, index);
    }
    row->held |= bit;
    if (SIM_UNLIKELY(cluster->config.keeps_lifetimes && row->held == all_replicas(cluster)))
        cass_lifetime_settle(cluster, index);
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

uint64_t cass_rows_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                          bool *is_mismatch)
{
    uint64_t missed = 0;
    int64_t now_s = now_ns(cluster) / SIM_SECOND;
    *is_mismatch = false;
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        uint32_t held = row->held & replicas;
        *is_mismatch = *is_mismatch || (held != 0 && held != replicas);
        if (row->held != 0 && held == 0 && !(row->flags & ROW_DELETE) && row->expires_s > now_s)
            missed++;
        at = row->next;
    }
    return missed;
}

void cass_rows_repair(struct cass_cluster *cluster, uint32_t partition, uint32_t replica, uint32_t others)
{
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        uint32_t next = row->next;
        if (row->held & others)
            cass_row_apply(cluster, at, replica);
        at = next;
    }
}

uint32_t cass_rows_laggards(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas)
{
    uint32_t behind = 0;
    for (uint32_t at = partition_at(cluster, partition)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        behind |= row->held & replicas ? replicas & ~row->held : 0;
        at = row->next;
    }
    return behind;
}
