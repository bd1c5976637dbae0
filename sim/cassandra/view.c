/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inspects what is stored from outside of the simulation, immediately and without cost. */
#include <assert.h>

#include "coordination.h"
#include "data.h"
#include "state.h"

static const char *const result_names[CASS_RESULT_COUNT] = {
    [CASS_OK] = "OK",
    [CASS_UNAVAILABLE] = "UNAVAILABLE",
    [CASS_WRITE_TIMEOUT] = "WRITE_TIMEOUT",
    [CASS_WRITE_FAILURE] = "WRITE_FAILURE",
    [CASS_READ_TIMEOUT] = "READ_TIMEOUT",
    [CASS_READ_FAILURE] = "READ_FAILURE",
    [CASS_CAS_UNKNOWN] = "CAS_UNKNOWN",
    [CASS_INVALID] = "INVALID",
};

const char *cass_result_name(enum cass_result result)
{
    return result_names[result];
}

size_t cass_partition_count(const struct cass_cluster *cluster)
{
    return cluster->partitions.used - 1;
}

void cass_partition_at(const struct cass_cluster *cluster, size_t index, struct cass_partition_view *out)
{
    assert(index < cass_partition_count(cluster));
    const struct partition *partition = partition_at(cluster, (uint32_t)index + 1);
    uint32_t all = all_replicas(cluster);
    int64_t now_s = now_ns(cluster) / SIM_SECOND;
    *out = (struct cass_partition_view){.key = partition->key,
                                        .bucket = partition->bucket,
                                        .rows = partition->rows,
                                        .bytes = partition->bytes,
                                        .tombstones = partition->tombstones,
                                        .written_rows = partition->written_rows,
                                        .written_bytes = partition->written_bytes,
                                        .first_row_ns = partition->first_row_ns,
                                        .last_row_ns = partition->last_row_ns};
    for (uint32_t at = partition->expiry_head; at != CASS_NONE; at = expiry_at(cluster, at)->next) {
        const struct expiry *expiry = expiry_at(cluster, at);
        if (expiry->second > now_s)
            break;
        out->rows -= expiry->rows < out->rows ? expiry->rows : out->rows;
        out->bytes -= expiry->bytes < out->bytes ? expiry->bytes : out->bytes;
        out->tombstones += expiry->rows;
    }
    for (uint32_t at = partition->unresolved; at != CASS_NONE; at = row_at(cluster, at)->next) {
        const struct row *row = row_at(cluster, at);
        bool is_row = !(row->flags & ROW_DELETE) && row->expires_s > now_s;
        bool is_missed = is_row && row->held != 0 && row->held != all;
        out->missing_rows += is_missed ? 1 : 0;
    }
}

/* Returns the replication factor if the node has no replica. */
static uint32_t replica_on(const struct cass_cluster *cluster, uint32_t position, uint32_t node)
{
    uint32_t replica = 0;
    while (replica < cluster->factor && replicas_at(cluster, position)[replica] != node)
        replica++;
    return replica;
}

bool cass_peek_columns(const struct cass_cluster *cluster, uint32_t node, uint64_t key, int64_t *columns,
                       uint32_t *mask)
{
    *mask = 0;
    uint32_t entry = cass_register_find(cluster, key);
    uint32_t replica = replica_on(cluster, cass_position(cluster, key), node);
    if (entry == CASS_NONE || replica == cluster->factor)
        return false;
    const struct image *image = image_at(cluster, entry, replica);
    *mask = cass_image_live(image, now_ns(cluster), columns);
    return cass_image_is_found(image, now_ns(cluster), *mask);
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

bool cass_peek_counter(const struct cass_cluster *cluster, uint32_t node, uint64_t key, int64_t *value)
{
    *value = 0;
    uint32_t entry = cass_counter_find(cluster, key);
    uint32_t replica = replica_on(cluster, cass_position(cluster, key), node);
    if (entry == CASS_NONE || replica == cluster->factor)
        return false;
    const struct shard *shards = shard_at(cluster, entry, replica, 0);
    bool is_found = cass_count_is_found(shards, cluster->factor);
    for (uint32_t leader = 0; leader < cluster->factor && is_found; leader++)
        *value = cass_count_sum(*value, shards[leader].count);
    return is_found;
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

static uint32_t copy_replicas(const struct cass_cluster *cluster, uint32_t position, uint32_t *out)
{
    for (uint32_t i = 0; i < cluster->factor; i++)
        out[i] = replicas_at(cluster, position)[i];
    return cluster->factor;
}

uint32_t cass_key_replicas(const struct cass_cluster *cluster, uint64_t key, uint32_t *out)
{
    return copy_replicas(cluster, cass_position(cluster, key), out);
}

uint32_t cass_partition_replicas(const struct cass_cluster *cluster, uint64_t key, int64_t bucket,
                                 uint32_t *out)
{
    return copy_replicas(cluster, cass_partition_position(cluster, key, bucket), out);
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

size_t cass_cluster_memory(const struct cass_cluster *cluster)
{
    size_t bytes = sizeof(*cluster);
    for (size_t i = 0; i < sizeof(cluster->pools) / sizeof(cluster->pools[0]); i++)
        bytes += cluster->pools[i].capacity * cluster->pools[i].item_size;
    for (size_t i = 0; i < sizeof(cluster->tables) / sizeof(cluster->tables[0]); i++)
        bytes += ((size_t)cluster->tables[i].mask + 1) * 2 * sizeof(uint32_t);
    return bytes;
}
