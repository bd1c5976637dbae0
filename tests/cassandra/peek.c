/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and sets the state of a cluster directly, for tests. */
#include "peek.h"

#include <assert.h>
#include <string.h>

#include "state.h"

bool cass_consistency_parse(const char *name, enum cass_consistency *out)
{
    for (int i = 0; i < CASS_CONSISTENCY_COUNT; i++) {
        if (strcmp(name, cass_consistency_name((enum cass_consistency)i)) != 0)
            continue;
        *out = (enum cass_consistency)i;
        return true;
    }
    return false;
}

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

int64_t cass_ring_token_at(const struct cass_ring *ring, size_t position)
{
    return ring->tokens[position];
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

struct cass_paxos_age cass_peek_paxos(const struct cass_cluster *cluster, uint32_t node, int64_t since_us)
{
    struct cass_paxos_age age = {0, 0};
    for (uint32_t entry = 1; entry < cluster->registers.used; entry++) {
        const struct register_entry *item = register_at(cluster, entry);
        uint32_t replica = replica_on(cluster, item->position, node);
        if (item->paxos == CASS_NONE || replica == cluster->factor)
            continue;
        const struct paxos_state *state = paxos_at(cluster, item->paxos) + replica;
        int64_t told_us[] = {state->accepted.ballot.micros, state->committed.ballot.micros};
        age.newer += state->promised.micros > since_us;
        for (int i = 0; i < 2; i++) {
            age.newer += told_us[i] > since_us;
            age.older += told_us[i] <= since_us && told_us[i] != NO_TIME;
        }
    }
    return age;
}

bool cass_has_hints(const struct cass_cluster *cluster, uint32_t node)
{
    for (uint32_t target = 0; target < cluster->node_count; target++) {
        if (cluster->hints_for[(size_t)node * cluster->node_count + target].head != CASS_NONE)
            return true;
    }
    return false;
}

bool cass_places_are_separated(const struct cass_cluster *cluster, uint32_t place, uint32_t node)
{
    assert(place < cluster->place_count && node < cluster->node_count);
    return cluster->separated[(size_t)place * cluster->node_count + node] != 0;
}

uint64_t cass_missing_rows(const struct cass_cluster *cluster, size_t partition)
{
    uint64_t missing = 0;
    for (uint32_t at = partition_at(cluster, (uint32_t)partition + 1)->unresolved; at != CASS_NONE;) {
        const struct row *row = row_at(cluster, at);
        missing += !(row->flags & ROW_DELETE) && row->expires_s > now_ns(cluster) / SIM_SECOND &&
                   row->held != 0 && row->held != cluster->all;
        at = row->next;
    }
    return missing;
}

void cass_disturbance(const struct cass_cluster *cluster, struct cass_disturbance *out)
{
    *out = (struct cass_disturbance){.loss = cluster->loss,
                                     .duplicate = cluster->duplicate,
                                     .late = cluster->late,
                                     .delay = cluster->delay,
                                     .late_ns = cluster->late_ns,
                                     .delayed_until_ns = cluster->delayed_until_ns};
}

void cass_node_disturbance(const struct cass_cluster *cluster, uint32_t index,
                           struct cass_node_disturbance *out)
{
    assert(index < cluster->node_count);
    const struct node *node = &cluster->nodes[index];
    *out = (struct cass_node_disturbance){node->is_down, node->slow, node->paused_until_ns};
}

void cass_set_failing(struct cass_cluster *cluster, uint32_t node, bool is_failing)
{
    assert(node < cluster->node_count);
    cluster->nodes[node].is_failing = is_failing;
}

void cass_set_clock(struct cass_cluster *cluster, uint32_t node, int64_t offset_ns)
{
    assert(node < cluster->node_count);
    cluster->nodes[node].clock_offset_ns = offset_ns;
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
