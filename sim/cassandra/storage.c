/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers, counters and rows of named columns as replicas store them. In: the cells and shards of writes.
 * Kept: a copy per replica, and the bodies of messages. Out: what a read finds, by the rules by which one of
 * two cells wins. */
#include <assert.h>

#include "cassandra/token.h"
#include "state.h"

#define NO_CELL                                                                                              \
    {                                                                                                        \
        .timestamp_us = NO_TIME, .deletion_s = NEVER                                                         \
    }
const struct image cass_image_none = {.cells = {NO_CELL, NO_CELL, NO_CELL, NO_CELL, NO_CELL, NO_CELL},
                                      .marker_us = NO_TIME,
                                      .marker_until_s = NEVER,
                                      .deleted_us = NO_TIME};
static_assert(CASS_COLUMNS == 6, "one for each column");

/* The key is a bigint. */
uint32_t cass_position(const struct cass_cluster *cluster, uint64_t key)
{
    uint8_t bytes[8];
    for (uint32_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(key >> (56 - 8 * i));
    return (uint32_t)cass_ring_position(cluster->ring, cass_token(bytes, sizeof(bytes)));
}

static uint32_t key_hash(uint64_t key)
{
    return (uint32_t)(sim_mix64(key + UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static inline uint32_t find(const struct sim_table *table, const void *entries, uint64_t key)
{
    uint32_t hash = key_hash(key);
    for (const struct sim_slot *slot = sim_table_first(table, hash); slot->index != CASS_NONE;
         slot = sim_table_next(table, slot)) {
        if (slot->hash == hash && ((const struct register_entry *)entries)[slot->index].key == key)
            return slot->index;
    }
    return CASS_NONE;
}

/* Makes an entry, and at the same index the copies of its replicas. */
static uint32_t make(const struct cass_cluster *cluster, struct sim_table *table, struct cass_pool *entries,
                     struct cass_pool *copies, uint64_t key)
{
    uint32_t entry = cass_pool_take(entries), copy = cass_pool_take(copies);
    if (entry == CASS_NONE || copy == CASS_NONE)
        return CASS_NONE;
    ((struct register_entry *)(void *)entries->items)[entry] =
        (struct register_entry){.key = key, .position = cass_position(cluster, key)};
    sim_table_put(table, key_hash(key), entry);
    return entry;
}

uint32_t cass_register_find(const struct cass_cluster *cluster, uint64_t key)
{
    return find(&cluster->register_table, cluster->registers.items, key);
}

void cass_prefetch_register(const struct cass_cluster *cluster, uint64_t key, bool is_entry)
{
    const struct sim_slot *slot = sim_table_first(&cluster->register_table, key_hash(key));
    if (is_entry)
        __builtin_prefetch(register_at(cluster, slot->index));
    else
        __builtin_prefetch(slot);
}

uint32_t cass_register_need(struct cass_cluster *cluster, uint64_t key)
{
    uint32_t found = cass_register_find(cluster, key);
    return found != CASS_NONE
               ? found
               : make(cluster, &cluster->register_table, &cluster->registers, &cluster->images, key);
}

uint32_t cass_counter_find(const struct cass_cluster *cluster, uint64_t key)
{
    return find(&cluster->counter_table, cluster->counters.items, key);
}

/* A shard that was never written has clock 0, which every real clock exceeds. */
uint32_t cass_counter_need(struct cass_cluster *cluster, uint64_t key)
{
    uint32_t found = cass_counter_find(cluster, key);
    return found != CASS_NONE
               ? found
               : make(cluster, &cluster->counter_table, &cluster->counters, &cluster->shards, key);
}

uint32_t cass_body_new(struct cass_cluster *cluster)
{
    uint32_t index = cass_pool_take(&cluster->bodies);
    body_at(cluster, index)->references = 1;
    body_at(cluster, index)->named = CASS_NONE;
    return index;
}

void cass_body_release(struct cass_cluster *cluster, uint32_t index)
{
    if (index == CASS_NONE || --body_at(cluster, index)->references > 0)
        return;
    cass_pool_give(&cluster->named, body_at(cluster, index)->named);
    cass_pool_give(&cluster->bodies, index);
}

/* Cells.resolveRegular of Cassandra 4.0 and later: the higher timestamp; on a tie tombstones and expiring
 * cells beat plain ones, a tombstone beats an expiring one, then the later deletion, then the larger value,
 * as unsigned bytes. */
static bool wins(const struct cell *left, const struct cell *right)
{
    if (left->timestamp_us != right->timestamp_us)
        return left->timestamp_us > right->timestamp_us;
    bool left_dies = left->deletion_s != NEVER, right_dies = right->deletion_s != NEVER;
    if (left_dies != right_dies)
        return left_dies;
    bool left_tomb = left->deletion_s < 0, right_tomb = right->deletion_s < 0;
    if (left_tomb != right_tomb)
        return left_tomb;
    if (left->deletion_s != right->deletion_s)
        return (left_tomb ? ~left->deletion_s : left->deletion_s) >
               (right_tomb ? ~right->deletion_s : right->deletion_s);
    return !left_tomb && (uint64_t)left->value > (uint64_t)right->value;
}

/* LivenessInfo.supersedes: the higher timestamp; on a tie one that expires, then the later expiry. */
static bool marker_wins(const struct image *left, const struct image *right)
{
    if (left->marker_us != right->marker_us)
        return left->marker_us > right->marker_us;
    bool left_dies = left->marker_until_s != NEVER, right_dies = right->marker_until_s != NEVER;
    return left_dies != right_dies ? left_dies : left->marker_until_s > right->marker_until_s;
}

/* A deletion covers what has its timestamp, too. */
static void drop_deleted(struct image *image)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (image->cells[i].timestamp_us <= image->deleted_us)
            image->cells[i] = cass_image_none.cells[i];
    }
    if (image->marker_us <= image->deleted_us) {
        image->marker_us = NO_TIME;
        image->marker_until_s = NEVER;
    }
}

static void merge_cells(struct cell *into, const struct cell *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (wins(&from[i], &into[i]))
            into[i] = from[i];
    }
}

void cass_image_merge(struct image *into, const struct image *from)
{
    merge_cells(into->cells, from->cells, CASS_COLUMNS);
    if (from->marker_us != NO_TIME && marker_wins(from, into)) {
        into->marker_us = from->marker_us;
        into->marker_until_s = from->marker_until_s;
    }
    if (from->deleted_us > into->deleted_us)
        into->deleted_us = from->deleted_us;
    if (into->deleted_us != NO_TIME)
        drop_deleted(into);
}

static bool are_equal(const struct cell *left, const struct cell *right, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (left[i].timestamp_us != right[i].timestamp_us || left[i].value != right[i].value ||
            left[i].deletion_s != right[i].deletion_s)
            return false;
    }
    return true;
}

bool cass_image_equal(const struct image *left, const struct image *right)
{
    return are_equal(left->cells, right->cells, CASS_COLUMNS) && left->marker_us == right->marker_us &&
           left->marker_until_s == right->marker_until_s && left->deleted_us == right->deleted_us;
}

static bool is_dead(const struct cell *cell, int64_t now_s)
{
    return cell->deletion_s < 0 || cell->deletion_s <= now_s;
}

uint32_t cass_image_live(const struct image *image, int64_t now, int64_t *columns)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *cell = &image->cells[i];
        bool is_live = cell->timestamp_us != NO_TIME && !is_dead(cell, now / SIM_SECOND);
        columns[i] = is_live ? cell->value : 0;
        mask |= (is_live ? 1u : 0u) << i;
    }
    return mask;
}

bool cass_image_is_found(const struct image *image, int64_t now, uint32_t columns)
{
    return columns != 0 || (image->marker_us != NO_TIME && image->marker_until_s > now / SIM_SECOND);
}

/* PartitionUpdate.Builder.updateAllTimestamp: a deletion is a little older than what is written with it. */
void cass_image_date(struct image *image, int64_t timestamp_us)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (image->cells[i].timestamp_us != NO_TIME)
            image->cells[i].timestamp_us = timestamp_us;
    }
    if (image->marker_us != NO_TIME)
        image->marker_us = timestamp_us;
    if (image->deleted_us != NO_TIME)
        image->deleted_us = timestamp_us - 1;
}

void cass_image_set(struct image *image, const struct cass_statement *statement, int64_t timestamp_us,
                    int64_t now)
{
    int64_t now_s = now / SIM_SECOND, until_s = cass_expiry_s(now, statement->ttl_ns);
    uint32_t nulls = statement->kind == CASS_DELETE_COLUMNS ? statement->set_mask : statement->null_mask;
    *image = cass_image_none;
    if (statement->is_whole_row) {
        image->deleted_us = timestamp_us;
        return;
    }
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (statement->set_mask >> i & 1) {
            bool is_null = nulls >> i & 1;
            image->cells[i] = (struct cell){.value = is_null ? 0 : statement->set[i],
                                            .timestamp_us = timestamp_us,
                                            .deletion_s = is_null ? ~now_s : until_s};
        }
    }
    if (statement->is_insert || statement->if_absent) {
        image->marker_us = timestamp_us;
        image->marker_until_s = until_s;
    }
}

/* Rows of named columns: registers with as many columns as the configuration says, which are read together. A
 * read takes all columns of a replica at one moment and merges the columns of the replicas one by one, as
 * Cassandra does with the rows of a partition. */

static struct cell *copy_at(const struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    size_t at = register_at(cluster, entity)->named * cluster->named_copies.item_size;
    return (struct cell *)(void *)(cluster->named_copies.items + at) +
           (size_t)replica * cluster->config.named_columns;
}

static void clear(const struct cass_cluster *cluster, struct cell *cells)
{
    for (uint32_t i = 0; i < cluster->config.named_columns; i++)
        cells[i] = (struct cell){.timestamp_us = NO_TIME, .deletion_s = NEVER};
}

void cass_named_need(struct cass_cluster *cluster, uint32_t entity)
{
    if (register_at(cluster, entity)->named != CASS_NONE)
        return;
    uint32_t copies = cass_pool_take(&cluster->named_copies);
    register_at(cluster, entity)->named = copies;
    for (uint32_t replica = 0; replica < cluster->factor; replica++)
        clear(cluster, copy_at(cluster, entity, replica));
}

static uint32_t fresh(struct cass_cluster *cluster)
{
    uint32_t index = cass_pool_take(&cluster->named);
    clear(cluster, named_at(cluster, index));
    return index;
}

uint32_t cass_named_set(struct cass_cluster *cluster, const struct cass_statement *statement,
                        int64_t timestamp_us)
{
    uint32_t index = fresh(cluster);
    for (uint32_t i = 0; i < statement->named_count; i++) {
        const struct cass_named *named = &statement->named[i];
        bool is_delete = statement->kind == CASS_DELETE_NAMED || named->is_delete;
        const struct cell cell = {
            .value = is_delete ? 0 : named->value,
            .timestamp_us = named->timestamp_us != NO_TIME ? named->timestamp_us : timestamp_us,
            .deletion_s = is_delete ? ~(now_ns(cluster) / SIM_SECOND) : NEVER,
        };
        struct cell *into = &named_at(cluster, index)[named->name];
        if (wins(&cell, into)) /* a batch may name a column twice */
            *into = cell;
    }
    return index;
}

uint32_t cass_named_copy(struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    if (register_at(cluster, entity)->named == CASS_NONE)
        return CASS_NONE;
    uint32_t index = fresh(cluster);
    merge_cells(named_at(cluster, index), copy_at(cluster, entity, replica), cluster->config.named_columns);
    return index;
}

void cass_named_apply(struct cass_cluster *cluster, uint32_t entity, uint32_t replica, uint32_t named)
{
    if (named != CASS_NONE)
        merge_cells(copy_at(cluster, entity, replica), named_at(cluster, named),
                    cluster->config.named_columns);
}

void cass_named_gather(struct cass_cluster *cluster, uint32_t gathered, uint32_t set)
{
    struct body *body = body_at(cluster, gathered);
    if (body->named != CASS_NONE)
        clear(cluster, named_at(cluster, body->named));
    for (; set != 0; set &= set - 1) {
        uint32_t named = body_at(cluster, body->answers[first_bit(set)])->named;
        if (named == CASS_NONE)
            continue;
        if (body->named == CASS_NONE)
            body->named = fresh(cluster);
        merge_cells(named_at(cluster, body->named), named_at(cluster, named), cluster->config.named_columns);
    }
}

bool cass_named_equal(const struct cass_cluster *cluster, uint32_t left, uint32_t right)
{
    if (left == CASS_NONE || right == CASS_NONE)
        return left == right;
    return are_equal(named_at(cluster, left), named_at(cluster, right), cluster->config.named_columns);
}

static uint32_t live(const struct cass_cluster *cluster, const struct cell *cells, struct cass_named *out,
                     uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < cluster->config.named_columns; i++) {
        if (cells[i].timestamp_us == NO_TIME || cells[i].deletion_s != NEVER)
            continue;
        if (count < capacity)
            out[count] = (struct cass_named){
                .name = i, .value = cells[i].value, .timestamp_us = cells[i].timestamp_us};
        count++;
    }
    return count;
}

bool cass_named_is_found(const struct cass_cluster *cluster, uint32_t named)
{
    return named != CASS_NONE && live(cluster, named_at(cluster, named), NULL, 0) > 0;
}

int64_t cass_named_cost(const struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    if (register_at(cluster, entity)->named == CASS_NONE)
        return 0;
    const struct cell *cells = copy_at(cluster, entity, replica);
    int64_t rows = 0, tombstones = 0;
    for (uint32_t i = 0; i < cluster->config.named_columns; i++) {
        rows += cells[i].timestamp_us != NO_TIME && cells[i].deletion_s == NEVER;
        tombstones += cells[i].deletion_s != NEVER;
    }
    return rows * cluster->config.scan_row_ns + tombstones * cluster->config.scan_tombstone_ns;
}

uint32_t cass_reply_named(const struct cass_cluster *cluster, uint64_t slot, struct cass_named *out,
                          uint32_t capacity)
{
    uint32_t named = reply_at(cluster, (uint32_t)slot)->named;
    return named == CASS_NONE ? 0 : live(cluster, named_at(cluster, named), out, capacity);
}

uint32_t cass_peek_named(struct cass_cluster *cluster, uint64_t key, struct cass_named *out,
                         uint32_t capacity)
{
    uint32_t entity = cass_register_find(cluster, key);
    if (entity == CASS_NONE || register_at(cluster, entity)->named == CASS_NONE)
        return 0;
    uint32_t index = fresh(cluster);
    for (uint32_t replica = 0; replica < cluster->factor; replica++)
        merge_cells(named_at(cluster, index), copy_at(cluster, entity, replica),
                    cluster->config.named_columns);
    uint32_t count = live(cluster, named_at(cluster, index), out, capacity);
    cass_pool_give(&cluster->named, index);
    return count;
}
