/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores the data of a recorded history directly, without requests, messages or simulated time. Observers are
 * notified as if a replica had stored it, so that the oracles that judge runs can judge histories. */
#include "coordination.h"
#include "data.h"
#include "state.h"

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
    int64_t now_us = now_ns(cluster) / SIM_US;
    struct image image = cass_image_none;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (mask >> i & 1)
            image.cells[i] = (struct cell){.value = columns[i], .timestamp_us = now_us, .deletion_s = NEVER};
    }
    if (mask != 0)
        image.marker_us = now_us;
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
