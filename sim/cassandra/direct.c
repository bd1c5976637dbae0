/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inspects and changes what is stored from outside of the simulation, immediately and without cost. In: the
 * names of registers, counters, partitions and rows. Kept: nothing of its own. Out: what a replica has; and
 * in the cluster, what an administrator deletes or restores, what a power failure loses, and the data of a
 * recorded history. */
#include <assert.h>

#include "kernel/time.h"
#include "state.h"

static bool forget(struct paxos_state *state, int64_t since_us)
{
    const struct proposal none = {.ballot = {.micros = NO_TIME}, .image = cass_image_none};
    bool is_lost = state->promised.micros > since_us;
    if (state->committed.ballot.micros > since_us) {
        state->committed = none;
        is_lost = true;
    }
    if (state->accepted.ballot.micros > since_us) {
        state->accepted = none;
        is_lost = true;
    }
    /* The previous promise is not stored, but the accepted and the committed ballot had been promised, so the
     * newest of those remains. */
    if (state->promised.micros > since_us)
        state->promised = cass_ballot_after(&state->accepted.ballot, &state->committed.ballot)
                              ? state->accepted.ballot
                              : state->committed.ballot;
    return is_lost;
}

/* Returns the Paxos state of a register on a node; NULL if it has none. */
static struct paxos_state *state_on(const struct cass_cluster *cluster, uint32_t entry, uint32_t node)
{
    const struct register_entry *item = register_at(cluster, entry);
    uint32_t replica = 0;
    while (replica < cluster->factor && replicas_at(cluster, item->position)[replica] != node)
        replica++;
    return item->paxos == CASS_NONE || replica == cluster->factor ? NULL
                                                                  : paxos_at(cluster, item->paxos) + replica;
}

uint64_t cass_forget_paxos(struct cass_cluster *cluster, uint32_t node, int64_t last_ns,
                           void (*forgot)(void *context, uint64_t key), void *context)
{
    assert(node < cluster->node_count && last_ns >= 0);
    uint64_t count = 0;
    int64_t since_us = (now_ns(cluster) - last_ns) / SIM_US;
    for (uint32_t entry = 1; entry < cluster->registers.used; entry++) {
        struct paxos_state *state = state_on(cluster, entry, node);
        if (state == NULL || !forget(state, since_us))
            continue;
        count++;
        if (forgot != NULL)
            forgot(context, register_at(cluster, entry)->key);
    }
    return count;
}

/* A row with these columns, without a deletion. */
static struct image image_of(const int64_t *columns, uint32_t mask, int64_t timestamp_us)
{
    struct image image = cass_image_none;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (mask >> i & 1)
            image.cells[i] =
                (struct cell){.value = columns[i], .timestamp_us = timestamp_us, .deletion_s = NEVER};
    }
    if (mask != 0)
        image.marker_us = timestamp_us;
    return image;
}

/* The row is deleted, and the restored cells have a timestamp one microsecond later. */
void cass_set_columns(struct cass_cluster *cluster, uint64_t key, const int64_t *columns, uint32_t mask)
{
    uint32_t entry = cass_register_need(cluster, key);
    int64_t now_us = now_ns(cluster) / SIM_US;
    struct image image = image_of(columns, mask, now_us + 1);
    image.deleted_us = now_us;
    for (uint32_t replica = 0; replica < cluster->factor; replica++)
        cass_image_merge(image_need(cluster, entry, replica), &image);
    cass_register_tell(cluster, entry);
}

/* Stores the data of a recorded history directly, without requests, messages or simulated time. Observers are
 * notified as if a replica had stored it, so that the oracles that judge runs can judge histories. */

void cass_record_row(struct cass_cluster *cluster, const struct cass_statement *row, uint32_t replica)
{
    uint32_t first = replica == CASS_EVERY_REPLICA ? 0 : replica;
    uint32_t end = replica == CASS_EVERY_REPLICA ? cluster->factor : replica + 1;
    uint32_t index = cass_row_need(cluster, cass_partition_need(cluster, row->key, row->bucket), row);
    for (uint32_t i = first; index != CASS_NONE && i < end; i++)
        cass_row_apply(cluster, index, i);
    cass_row_release(cluster, index);
}

void cass_record_answer(struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id)
{
    uint32_t partition = cass_partition_find(cluster, key, bucket);
    uint32_t index = partition == CASS_NONE ? CASS_NONE : cass_row_find(cluster, partition, row_id);
    if (index == CASS_NONE)
        return;
    row_at(cluster, index)->references++;
    cass_row_confirm(cluster, index);
    cass_row_release(cluster, index);
}

void cass_record_columns(struct cass_cluster *cluster, uint64_t key, const int64_t *columns, uint32_t mask)
{
    uint32_t entry = cass_register_need(cluster, key);
    const struct image image = image_of(columns, mask, now_ns(cluster) / SIM_US);
    for (uint32_t replica = 0; replica < cluster->factor; replica++)
        *image_need(cluster, entry, replica) = image;
    cass_register_tell(cluster, entry);
}

void cass_record_addition(struct cass_cluster *cluster, uint64_t key, uint64_t row_id, int64_t delta)
{
    uint32_t entry = cass_counter_need(cluster, key);
    struct shard *own = shard_at(cluster, entry, 0, 0);
    own->clock++;
    own->count = cass_count_sum(own->count, delta);
    if (cluster->observer.counter_added != NULL)
        cluster->observer.counter_added(cluster->observer.context, key, row_id, delta);
}

void cass_record_rows(struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t rows)
{
    struct partition *partition = partition_at(cluster, cass_partition_need(cluster, key, bucket));
    partition->rows = partition->written_rows = rows;
}

size_t cass_partition_count(const struct cass_cluster *cluster)
{
    return cluster->partitions.used - 1;
}

void cass_partition_at(struct cass_cluster *cluster, size_t index, struct cass_partition_view *out)
{
    assert(index < cass_partition_count(cluster));
    cass_partition_expire(cluster, (uint32_t)index + 1);
    const struct partition *partition = partition_at(cluster, (uint32_t)index + 1);
    *out = (struct cass_partition_view){.key = partition->key,
                                        .bucket = partition->bucket,
                                        .rows = partition->rows,
                                        .bytes = partition->bytes,
                                        .tombstones = partition->tombstones,
                                        .written_rows = partition->written_rows,
                                        .written_bytes = partition->written_bytes};
}

void cass_observe(struct cass_cluster *cluster, const struct cass_observer *observer)
{
    cluster->observer = *observer;
}

void cass_register_tell(const struct cass_cluster *cluster, uint32_t entity)
{
    if (cluster->observer.register_changed != NULL)
        cluster->observer.register_changed(cluster->observer.context, register_at(cluster, entity)->key);
}

bool cass_peek_merged(const struct cass_cluster *cluster, uint64_t key, int64_t *columns, uint32_t *mask)
{
    *mask = 0;
    uint32_t entry = cass_register_find(cluster, key);
    if (entry == CASS_NONE)
        return false;
    struct image merged = *image_at(cluster, entry, 0);
    for (uint32_t replica = 1; replica < cluster->factor; replica++)
        cass_image_merge(&merged, image_at(cluster, entry, replica));
    *mask = cass_image_live(&merged, now_ns(cluster), columns);
    return cass_image_is_found(&merged, now_ns(cluster), *mask);
}

uint32_t cass_row_held(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id)
{
    uint32_t partition = cass_partition_find(cluster, key, bucket);
    uint32_t row = partition == CASS_NONE ? CASS_NONE : cass_row_find(cluster, partition, row_id);
    return row == CASS_NONE ? cluster->factor : bit_count(row_at(cluster, row)->held);
}

bool cass_row_is_open(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id)
{
    uint32_t partition = cass_partition_find(cluster, key, bucket);
    uint32_t row = partition == CASS_NONE ? CASS_NONE : cass_row_find(cluster, partition, row_id);
    return row != CASS_NONE && row_at(cluster, row)->held != 0 &&
           (row_at(cluster, row)->flags & ROW_CONFIRMED) == 0;
}

int64_t cass_counter_total(const struct cass_cluster *cluster, uint64_t key)
{
    uint32_t entry = cass_counter_find(cluster, key);
    int64_t total = 0;
    for (uint32_t leader = 0; entry != CASS_NONE && leader < cluster->factor; leader++)
        total += shard_at(cluster, entry, leader, leader)->count;
    return total;
}

uint64_t cass_counters_total(const struct cass_cluster *cluster)
{
    uint64_t total = 0;
    for (uint32_t entry = 1; entry < cluster->counters.used; entry++) {
        for (uint32_t leader = 0; leader < cluster->factor; leader++)
            total += (uint64_t)shard_at(cluster, entry, leader, leader)->count;
    }
    return total;
}

uint32_t cass_place_count(const struct cass_cluster *cluster)
{
    return cluster->place_count;
}

uint32_t cass_place_of_client(const struct cass_cluster *cluster, uint32_t client)
{
    return cluster->node_count + client;
}

uint32_t cass_node_count(const struct cass_cluster *cluster)
{
    return cluster->node_count;
}

void cass_node_stats(const struct cass_cluster *cluster, uint32_t node, struct cass_node_stats *out)
{
    assert(node < cluster->node_count);
    *out = cluster->nodes[node].stats;
}
