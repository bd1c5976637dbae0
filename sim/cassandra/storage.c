/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers and counters as replicas store them, and the rules by which one of two cells wins. */
#include <assert.h>

#include "cassandra/token.h"
#include "data.h"
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

uint32_t cass_register_find(const struct cass_cluster *cluster, uint64_t key)
{
    const struct cass_table *table = &cluster->register_table;
    uint32_t hash = key_hash(key);
    for (const struct cass_slot *slot = cass_table_first(table, hash); slot->index != CASS_NONE;
         slot = cass_table_next(table, slot)) {
        if (slot->hash == hash && register_at(cluster, slot->index)->key == key)
            return slot->index;
    }
    return CASS_NONE;
}

void cass_prefetch_register(const struct cass_cluster *cluster, uint64_t key, bool is_entry)
{
    const struct cass_slot *slot = cass_table_first(&cluster->register_table, key_hash(key));
    if (is_entry)
        __builtin_prefetch(register_at(cluster, slot->index));
    else
        __builtin_prefetch(slot);
}

uint32_t cass_register_need(struct cass_cluster *cluster, uint64_t key)
{
    uint32_t found = cass_register_find(cluster, key);
    if (found != CASS_NONE)
        return found;
    uint32_t entry = cass_pool_take(&cluster->registers);
    uint32_t images = cass_pool_take(&cluster->images);
    if (entry == CASS_NONE || images == CASS_NONE)
        return CASS_NONE;
    *register_at(cluster, entry) =
        (struct register_entry){.key = key, .position = cass_position(cluster, key)};
    cass_register_enter(cluster, entry);
    return entry;
}

void cass_register_enter(struct cass_cluster *cluster, uint32_t entry)
{
    cass_table_put(&cluster->register_table, key_hash(register_at(cluster, entry)->key), entry);
}

uint32_t cass_counter_find(const struct cass_cluster *cluster, uint64_t key)
{
    const struct cass_table *table = &cluster->counter_table;
    uint32_t hash = key_hash(key);
    for (const struct cass_slot *slot = cass_table_first(table, hash); slot->index != CASS_NONE;
         slot = cass_table_next(table, slot)) {
        if (slot->hash == hash && counter_at(cluster, slot->index)->key == key)
            return slot->index;
    }
    return CASS_NONE;
}

/* A shard that was never written has clock 0, which every real clock exceeds. */
uint32_t cass_counter_need(struct cass_cluster *cluster, uint64_t key)
{
    uint32_t found = cass_counter_find(cluster, key);
    if (found != CASS_NONE)
        return found;
    uint32_t entry = cass_pool_take(&cluster->counters);
    uint32_t shards = cass_pool_take(&cluster->shards);
    if (entry == CASS_NONE || shards == CASS_NONE)
        return CASS_NONE;
    *counter_at(cluster, entry) = (struct counter_entry){.key = key, .position = cass_position(cluster, key)};
    cass_counter_enter(cluster, entry);
    return entry;
}

void cass_counter_enter(struct cass_cluster *cluster, uint32_t entry)
{
    cass_table_put(&cluster->counter_table, key_hash(counter_at(cluster, entry)->key), entry);
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

void cass_image_clear(struct image *image)
{
    *image = cass_image_none;
}

/* Cells.resolveRegular of Cassandra 4.0 and later: the higher timestamp; on a tie tombstones and expiring
 * cells beat plain ones, a tombstone beats an expiring one, then the later deletion, then the larger value,
 * as unsigned bytes. */
bool cass_cell_wins(const struct cell *left, const struct cell *right)
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

void cass_image_merge(struct image *into, const struct image *from)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (cass_cell_wins(&from->cells[i], &into->cells[i]))
            into->cells[i] = from->cells[i];
    }
    if (from->marker_us != NO_TIME && marker_wins(from, into)) {
        into->marker_us = from->marker_us;
        into->marker_until_s = from->marker_until_s;
    }
    if (from->deleted_us > into->deleted_us)
        into->deleted_us = from->deleted_us;
    if (into->deleted_us != NO_TIME)
        drop_deleted(into);
}

bool cass_image_equal(const struct image *left, const struct image *right)
{
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *a = &left->cells[i], *b = &right->cells[i];
        if (a->timestamp_us != b->timestamp_us || a->value != b->value || a->deletion_s != b->deletion_s)
            return false;
    }
    return left->marker_us == right->marker_us && left->marker_until_s == right->marker_until_s &&
           left->deleted_us == right->deleted_us;
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
    int64_t now_s = now / SIM_SECOND, until_s = NEVER;
    uint32_t nulls = statement->kind == CASS_DELETE_COLUMNS ? statement->set_mask : statement->null_mask;
    if (statement->ttl_ns > 0)
        until_s = now_s + (statement->ttl_ns + SIM_SECOND - 1) / SIM_SECOND;
    cass_image_clear(image);
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
