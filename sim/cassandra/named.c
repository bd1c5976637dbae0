/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of named columns: registers with as many columns as the configuration says, which are read together. A
 * read takes all columns of a replica at one moment and merges the columns of the replicas one by one, as
 * Cassandra does with the rows of a partition. */
#include "data.h"
#include "state.h"

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
        if (cass_cell_wins(&cell, into)) /* a batch may name a column twice */
            *into = cell;
    }
    return index;
}

static void merge(const struct cass_cluster *cluster, struct cell *into, const struct cell *from)
{
    for (uint32_t i = 0; i < cluster->config.named_columns; i++) {
        if (cass_cell_wins(&from[i], &into[i]))
            into[i] = from[i];
    }
}

uint32_t cass_named_copy(struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    if (register_at(cluster, entity)->named == CASS_NONE)
        return CASS_NONE;
    uint32_t index = fresh(cluster);
    merge(cluster, named_at(cluster, index), copy_at(cluster, entity, replica));
    return index;
}

void cass_named_apply(struct cass_cluster *cluster, uint32_t entity, uint32_t replica, uint32_t named)
{
    if (named != CASS_NONE)
        merge(cluster, copy_at(cluster, entity, replica), named_at(cluster, named));
}

void cass_named_gather(struct cass_cluster *cluster, uint32_t gathered, uint32_t set)
{
    if (body_at(cluster, body_at(cluster, gathered)->answers[first_bit(set)])->named == CASS_NONE)
        return;
    if (body_at(cluster, gathered)->named == CASS_NONE) {
        uint32_t index = fresh(cluster);
        body_at(cluster, gathered)->named = index;
    }
    const struct body *body = body_at(cluster, gathered);
    clear(cluster, named_at(cluster, body->named));
    for (; set != 0; set &= set - 1) {
        const struct body *answer = body_at(cluster, body->answers[first_bit(set)]);
        merge(cluster, named_at(cluster, body->named), named_at(cluster, answer->named));
    }
}

bool cass_named_equal(const struct cass_cluster *cluster, uint32_t left, uint32_t right)
{
    if (left == CASS_NONE || right == CASS_NONE)
        return left == right;
    for (uint32_t i = 0; i < cluster->config.named_columns; i++) {
        const struct cell *a = &named_at(cluster, left)[i], *b = &named_at(cluster, right)[i];
        if (a->timestamp_us != b->timestamp_us || a->value != b->value || a->deletion_s != b->deletion_s)
            return false;
    }
    return true;
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
        merge(cluster, named_at(cluster, index), copy_at(cluster, entity, replica));
    uint32_t count = live(cluster, named_at(cluster, index), out, capacity);
    cass_pool_give(&cluster->named, index);
    return count;
}
