/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Creates a cluster: checks of the configuration, and its defaults (docs/mock.md gives their sources). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "traffic.h"

void cass_cluster_config_default(struct cass_cluster_config *out)
{
    *out = (struct cass_cluster_config){
        .datacenter_count = 1,
        .datacenters = {{.name = "dc1", .nodes = 6, .racks = 3, .replication_factor = 3}},
        .num_tokens = 16,
        .client_count = 1,
        .latency_ns = {.kind = SIM_SIZE_LOGNORMAL, .a = 500e3, .b = 0.4},
        .latency_between_ns = {.kind = SIM_SIZE_LOGNORMAL, .a = 40e6, .b = 0.1},
        .concurrency = 32,
        .write_ns = 80 * SIM_US,
        .read_ns = 180 * SIM_US,
        .scan_row_ns = 1 * SIM_US,
        .scan_tombstone_ns = 1 * SIM_US,
        .gc_every_ns = 30 * SIM_SECOND,
        .gc_lasts_ns = 50 * SIM_MS,
        .timeout_write_ns = 2 * SIM_SECOND,
        .timeout_read_ns = 5 * SIM_SECOND,
        .timeout_counter_ns = 5 * SIM_SECOND,
        .timeout_cas_ns = 1 * SIM_SECOND,
        .detect_ns = 10 * SIM_SECOND,
        .hint_window_ns = 3 * SIM_HOUR,
        .hint_retry_ns = 10 * SIM_SECOND,
        .slow_query_ns = 500 * SIM_MS,
        .paxos = CASS_PAXOS_V1,
        .tombstone_warn = 1000,
        .tombstone_fail = 100000,
        .row_cells = 1,
    };
}

static bool check_datacenters(const struct cass_cluster_config *config, struct sim_error *error)
{
    uint32_t count = config->datacenter_count;
    if (count < 1 || count > CASS_DATACENTERS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT, "a cluster cannot have %" PRIu32 " datacenters; give 1 to %d",
                        count, CASS_DATACENTERS_MAX);
    uint64_t nodes = 0, replicas = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct cass_datacenter *datacenter = &config->datacenters[i];
        if (datacenter->nodes < 1 || datacenter->nodes > CASS_CLUSTER_NODES_MAX || datacenter->racks < 1)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "datacenter '%s' has %" PRIu32 " nodes in %" PRIu32
                            " racks; give 1 to %u nodes and at least 1 rack",
                            datacenter->name, datacenter->nodes, datacenter->racks, CASS_CLUSTER_NODES_MAX);
        if (datacenter->replication_factor > datacenter->nodes)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "datacenter '%s' has %" PRIu32 " nodes, too few for %" PRIu32
                            " replicas; lower the replication factor or add nodes",
                            datacenter->name, datacenter->nodes, datacenter->replication_factor);
        nodes += datacenter->nodes;
        replicas += datacenter->replication_factor;
    }
    if (nodes > CASS_CLUSTER_NODES_MAX || nodes * (nodes + config->client_count) > CASS_CLUSTER_PAIRS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%" PRIu64 " nodes with %" PRIu32
                        " clients are too many; give at most %u nodes and %zu "
                        "pairs of a node and another place",
                        nodes, config->client_count, CASS_CLUSTER_NODES_MAX, CASS_CLUSTER_PAIRS_MAX);
    if (replicas < 1 || replicas > CASS_CLUSTER_REPLICAS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT, "a row cannot have %" PRIu64 " replicas; give 1 to %u",
                        replicas, CASS_CLUSTER_REPLICAS_MAX);
    return true;
}

static bool check_times(const struct cass_cluster_config *config, struct sim_error *error)
{
    const struct {
        const char *name;
        int64_t value, least;
    } times[] = {
        {"time of a coordinator's own work", config->coordinate_ns, 0},
        {"time of a write", config->write_ns, 0},
        {"time of a read", config->read_ns, 0},
        {"time to scan a row", config->scan_row_ns, 0},
        {"time to scan a tombstone", config->scan_tombstone_ns, 0},
        {"time between garbage collections", config->gc_every_ns, 0},
        {"length of a garbage collection", config->gc_lasts_ns, 0},
        {"timeout of writes", config->timeout_write_ns, 1},
        {"timeout of reads", config->timeout_read_ns, 1},
        {"timeout of counters", config->timeout_counter_ns, 1},
        {"timeout of conditional updates", config->timeout_cas_ns, 1},
        {"delay of failure detection", config->detect_ns, 0},
        {"window of hints", config->hint_window_ns, 0},
        {"time between tries to deliver hints", config->hint_retry_ns, 1},
        {"threshold of slow queries", config->slow_query_ns, 0},
        {"default time to live", config->default_ttl_ns, 0},
    };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        if (times[i].value < times[i].least || times[i].value > 36500 * SIM_DAY)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "the %s cannot be %" PRId64 " ns; give %" PRId64 " ns to 100 years",
                            times[i].name, times[i].value, times[i].least);
    }
    return true;
}

static bool prepare_latency(struct sim_size *distribution)
{
    if (distribution->kind == SIM_SIZE_CONSTANT && distribution->a >= 0 && distribution->a < 1)
        return true;
    return sim_size_prepare(distribution) == 0;
}

static bool check(struct cass_cluster_config *config, struct sim_error *error)
{
    if (!check_datacenters(config, error) || !check_times(config, error))
        return false;
    if (config->client_count < 1)
        return sim_fail(error, SIM_ERROR_INPUT, "a cluster without clients does nothing; give 1 or more");
    if (config->concurrency < 1 || config->concurrency > 4096)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "a node cannot serve %" PRIu32 " requests at once; give 1 to 4096",
                        config->concurrency);
    bool is_chance = config->loss >= 0 && config->duplicate >= 0 && config->loss + config->duplicate <= 1;
    if (!is_chance)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "loss and duplication of messages are chances; give 0 to 1, together at most 1");
    if (!prepare_latency(&config->latency_ns) || !prepare_latency(&config->latency_between_ns))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "the network's latency is not a distribution; give a constant of 0 ns or more, or one in ns");
    return true;
}

static bool place_nodes(struct cass_cluster *cluster, struct sim_error *error)
{
    const struct cass_cluster_config *config = &cluster->config;
    uint32_t datacenters[CASS_CLUSTER_NODES_MAX], racks[CASS_CLUSTER_NODES_MAX];
    uint32_t factors[CASS_DATACENTERS_MAX], node = 0;
    for (uint32_t i = 0; i < config->datacenter_count; i++) {
        cluster->datacenter_first[i] = node;
        factors[i] = config->datacenters[i].replication_factor;
        for (uint32_t j = 0; j < config->datacenters[i].nodes; j++, node++) {
            datacenters[node] = i;
            racks[node] = j % config->datacenters[i].racks;
        }
    }
    struct cass_topology topology = {.node_count = node,
                                     .node_datacenters = datacenters,
                                     .node_racks = racks,
                                     .datacenter_count = config->datacenter_count,
                                     .replication_factors = factors};
    if (!cass_ring_create_network(config->seed, &topology, config->num_tokens, &cluster->ring, error))
        return false;
    cluster->node_count = node;
    cluster->place_count = node + config->client_count;
    cluster->factor = cass_ring_replication_factor(cluster->ring);
    cluster->all = (uint32_t)((UINT64_C(1) << cluster->factor) - 1);
    cluster->nodes = calloc(node, sizeof(*cluster->nodes));
    if (cluster->nodes == NULL)
        return sim_fail_memory(error);
    for (uint32_t i = 0; i < node; i++)
        cluster->nodes[i] = (struct node){.datacenter = datacenters[i], .rack = racks[i]};
    return true;
}

static bool create_arrays(struct cass_cluster *cluster)
{
    size_t nodes = cluster->node_count, places = cluster->place_count;
    cluster->places = calloc(places, sizeof(*cluster->places));
    cluster->free_at = calloc(nodes * cluster->config.concurrency, sizeof(*cluster->free_at));
    cluster->separated = calloc(places * nodes, sizeof(*cluster->separated));
    cluster->gone_since = calloc(places * nodes, sizeof(*cluster->gone_since));
    cluster->hints_for = calloc(nodes * nodes, sizeof(*cluster->hints_for));
    return cluster->places != NULL && cluster->free_at != NULL && cluster->separated != NULL &&
           cluster->gone_since != NULL && cluster->hints_for != NULL;
}

static bool create_pools(struct cass_cluster *cluster)
{
    size_t factor = cluster->factor;
    bool *broken = &cluster->is_broken;
    bool ok = cass_pool_create(&cluster->messages, sizeof(struct message), broken);
    ok = cass_pool_create(&cluster->bodies, sizeof(struct body), broken) && ok;
    ok = cass_pool_create(&cluster->operations, sizeof(struct cass_operation), broken) && ok;
    ok = cass_pool_create(&cluster->rows, sizeof(struct row), broken) && ok;
    ok = cass_pool_create(&cluster->expiries, sizeof(struct expiry), broken) && ok;
    ok = cass_pool_create(&cluster->hints, sizeof(struct hint), broken) && ok;
    ok = cass_pool_create(&cluster->chunks, sizeof(struct clustering_chunk), broken) && ok;
    ok = cass_pool_create(&cluster->replies, sizeof(struct reply_slot), broken) && ok;
    ok = cass_pool_create(&cluster->locks, sizeof(struct lock), broken) && ok;
    ok = cass_pool_create(&cluster->partitions, sizeof(struct partition), broken) && ok;
    ok = cass_pool_create(&cluster->registers, sizeof(struct register_entry), broken) && ok;
    ok = cass_pool_create(&cluster->counters, sizeof(struct counter_entry), broken) && ok;
    ok = cass_pool_create(&cluster->images, factor * sizeof(struct image), broken) && ok;
    ok = cass_pool_create(&cluster->shards, factor * (factor + 1) * sizeof(struct shard), broken) && ok;
    ok = cass_pool_create(&cluster->lifetimes, sizeof(struct chunk_lifetimes), broken) && ok;
    ok = cass_pool_create(&cluster->ranges, sizeof(struct range), broken) && ok;
    ok = cass_pool_create(&cluster->paxos, factor * sizeof(struct paxos_state), broken) && ok;
    size_t named =
        (cluster->config.named_columns > 0 ? cluster->config.named_columns : 1) * sizeof(struct cell);
    ok = cass_pool_create(&cluster->named, named, broken) && ok;
    ok = cass_pool_create(&cluster->named_copies, factor * named, broken) && ok;
    for (size_t i = 0; i < sizeof(cluster->tables) / sizeof(cluster->tables[0]); i++)
        ok = cass_table_create(&cluster->tables[i], broken) && ok;
    return ok;
}

static void begin(struct cass_cluster *cluster)
{
    const struct cass_cluster_config *config = &cluster->config;
    cluster->loss = config->loss;
    cluster->duplicate = config->duplicate;
    cluster->delay = 1;
    cluster->delayed_until_ns = INT64_MIN;
    cluster->is_alone = cluster->factor == 1 && config->datacenter_count == 1 && config->coordinate_ns == 0 &&
                        !config->avoids_shortcuts;
    cass_network_settle(cluster);
    for (uint32_t i = 0; i < cluster->place_count; i++) {
        cluster->places[i].datacenter = i < cluster->node_count
                                            ? cluster->nodes[i].datacenter
                                            : (i - cluster->node_count) % config->datacenter_count;
        sim_random_init(&cluster->places[i].latency, config->seed, SIM_NETWORK, i);
        cluster->places[i].ahead.taken = LATENCIES_AHEAD;
        sim_random_init(&cluster->places[i].loss, config->seed, SIM_LOSS, i);
        sim_random_init(&cluster->places[i].choice, config->seed, SIM_CHOICE, i);
    }
    for (size_t i = 0; i < (size_t)cluster->node_count * config->concurrency; i++)
        cluster->free_at[i] = NO_TIME;
    for (size_t i = 0; i < (size_t)cluster->place_count * cluster->node_count; i++)
        cluster->gone_since[i] = NEVER;
    for (uint32_t i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        node->paused_until_ns = NO_TIME;
        node->last_timestamp_us = NO_TIME;
        node->slow = 1;
        node->paxos_mean_ns = 4 * SIM_MS;
        sim_random_init(&node->pause, config->seed, SIM_PAUSE, i);
        sim_random_init(&node->backoff, config->seed, SIM_BACKOFF, i);
        cass_node_plan_pause(cluster, i);
    }
}

bool cass_cluster_create(const struct cass_cluster_config *config, struct sim_queue *queue,
                         struct cass_cluster **out, struct sim_error *error)
{
    *out = NULL;
    struct cass_cluster *cluster = calloc(1, sizeof(*cluster));
    if (cluster == NULL)
        return sim_fail_memory(error);
    cluster->config = *config;
    cluster->queue = queue;
    bool ok = check(&cluster->config, error) && place_nodes(cluster, error);
    ok = ok && ((create_arrays(cluster) && create_pools(cluster)) || sim_fail_memory(error));
    if (ok)
        begin(cluster);
    if (ok && cluster->is_broken)
        ok = sim_fail_memory(error);
    if (!ok) {
        cass_cluster_destroy(cluster);
        return false;
    }
    *out = cluster;
    return true;
}

void cass_cluster_destroy(struct cass_cluster *cluster)
{
    if (cluster == NULL)
        return;
    cass_ring_destroy(cluster->ring);
    free(cluster->nodes);
    free(cluster->places);
    free(cluster->free_at);
    free(cluster->separated);
    free(cluster->gone_since);
    free(cluster->hints_for);
    for (size_t i = 0; i < sizeof(cluster->pools) / sizeof(cluster->pools[0]); i++)
        cass_pool_destroy(&cluster->pools[i]);
    for (size_t i = 0; i < sizeof(cluster->tables) / sizeof(cluster->tables[0]); i++)
        cass_table_destroy(&cluster->tables[i]);
    free(cluster);
}

bool cass_cluster_is_sound(const struct cass_cluster *cluster)
{
    return !cluster->is_broken;
}

const bool *cass_cluster_broken(const struct cass_cluster *cluster)
{
    return &cluster->is_broken;
}
