/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `cluster` and `agents`: the ring, its nodes and the network between them; the processes of the
 * application, their caches and clocks. In: both nodes, and perhaps a file of measurements of a node, which
 * tests/cassandra5/latency.py writes; only its mapping `node` is read, which has the same fields as the
 * scenario. The file is JSON, which is YAML. Fields in the scenario take precedence. Out: the network and the
 * agents of the scenario. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/ring.h"
#include "kernel/time.h"
#include "lab/fields.h"

#define REPLICAS_DEFAULT 3
#define TOKENS_MAX       4096
#define NAME_SIZE_MAX    (sizeof((struct cass_datacenter *)0)->name - 1)

static const struct lab_choice paxos_variants[] = {
    {"paxos-v1", CASS_PAXOS_V1}, {"paxos-v2", CASS_PAXOS_V2}, {NULL, 0}};
/* ANY is first, so that the levels of reads are the rest of the list. */
static const struct lab_choice write_levels[] = {{"ANY", CASS_ANY},
                                                 {"ONE", CASS_ONE},
                                                 {"TWO", CASS_TWO},
                                                 {"THREE", CASS_THREE},
                                                 {"QUORUM", CASS_QUORUM},
                                                 {"ALL", CASS_ALL},
                                                 {"LOCAL_QUORUM", CASS_LOCAL_QUORUM},
                                                 {"EACH_QUORUM", CASS_EACH_QUORUM},
                                                 {"LOCAL_ONE", CASS_LOCAL_ONE},
                                                 {NULL, 0}};
static const struct lab_choice serial_levels[] = {
    {"SERIAL", CASS_SERIAL}, {"LOCAL_SERIAL", CASS_LOCAL_SERIAL}, {NULL, 0}};

static bool fail_nodes(struct lab_reader *reader, const struct lab_node *node, const char *what,
                       uint32_t nodes)
{
    return lab_fail_value(reader, node, "more %s than the %u node%s; lower it, or add nodes", what, nodes,
                          nodes == 1 ? "" : "s");
}

static bool check_datacenter(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    struct cass_datacenter *datacenter = target;
    const struct lab_node *factor = lab_node_find(mapping, "replication_factor");
    if (factor == NULL)
        datacenter->replication_factor =
            datacenter->nodes < REPLICAS_DEFAULT ? datacenter->nodes : REPLICAS_DEFAULT;
    if (datacenter->replication_factor > datacenter->nodes)
        return fail_nodes(reader, factor, "replicas", datacenter->nodes);
    return datacenter->racks <= datacenter->nodes ||
           fail_nodes(reader, lab_node_find(mapping, "racks"), "racks", datacenter->nodes);
}

static const struct lab_table datacenter_table = {
    LAB_FIELDS(
        {"nodes", lab_read_whole32, LAB_AT(struct cass_datacenter, nodes), LAB_REQUIRED,
         LAB_FROM(1, CASS_NODES_MAX)},
        {"racks", lab_read_whole32, LAB_AT(struct cass_datacenter, racks), LAB_FROM(1, CASS_NODES_MAX)},
        {"replication_factor", lab_read_whole32, LAB_AT(struct cass_datacenter, replication_factor),
         LAB_FROM(0, CASS_REPLICAS_MAX)}),
    .check = check_datacenter};

static const struct lab_table consistency_table = {
    LAB_FIELDS({"write", lab_read_choice, LAB_IN(consistency.write), .detail = write_levels},
               {"read", lab_read_choice, LAB_IN(consistency.read), .detail = write_levels + 1},
               {"state", lab_read_choice, LAB_IN(consistency.state), .detail = write_levels + 1},
               {"serial", lab_read_choice, LAB_IN(consistency.serial), .detail = serial_levels})};

static bool read_span(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    int64_t span_ns;
    if (!lab_read_duration(reader, field, node, &span_ns))
        return false;
    *(double *)out = (double)span_ns;
    return true;
}

static const struct lab_table lognormal_table = {
    LAB_FIELDS({"mean", read_span, LAB_AT(struct sim_size, a), LAB_REQUIRED, LAB_FROM(1, SIM_HOUR),
                LAB_DRAWS("<200us..20ms>")},
               {"sigma", lab_read_number, LAB_AT(struct sim_size, b), LAB_REQUIRED, LAB_FROM(0, 10),
                LAB_DRAWS("<1..10:1>")})};

static bool read_uniform(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    return lab_read_uniform(reader, field, node, read_span, "uniform: [200us, 1ms]", out);
}

static const struct lab_table latency_table = {
    LAB_FIELDS({"uniform", read_uniform, LAB_FROM(1, SIM_HOUR), LAB_DRAWN(UNIFORM, 0.06, "<uniform>")},
               {"lognormal", lab_read_mapping, .detail = &lognormal_table, LAB_DRAWN(NETWORK, 1, NULL)})};

static bool check_network(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    struct cass_cluster_config *network = &((struct lab_scenario *)target)->network;
    if (network->loss + network->duplicate > 1)
        return lab_fail_at(&reader->tree, &mapping->place,
                           "loss and duplicate add up to more than 100%%; lower one of them");
    return true;
}

/* Preparing cannot fail, since the ranges of the fields were checked. */
static bool read_latency(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    if (!lab_read_distribution(reader, field, node, read_span, "uniform or lognormal", out))
        return false;
    if (node->kind != LAB_NODE_SCALAR)
        sim_size_prepare(out);
    return true;
}

static const struct lab_table network_table = {
    LAB_FIELDS({"latency", read_latency, LAB_IN(network.latency_ns), LAB_FROM(0, SIM_HOUR),
                .detail = &latency_table, LAB_DRAWS("{|}")},
               {"between", read_latency, LAB_IN(network.latency_between_ns), LAB_FROM(0, SIM_HOUR),
                .detail = &latency_table, LAB_DRAWS("{lognormal: {mean: <far>, sigma: 0.2}}"),
                .draw.when = "has_far"},
               {"loss", lab_read_share, LAB_IN(network.loss), LAB_DRAWN(LOSS, 0.02, "<~.3t:0.1..5>%")},
               {"duplicate", lab_read_share, LAB_IN(network.duplicate),
                LAB_DRAWN(DUPLICATE, 0.03, "<~.3t:0.1..10>%")}),
    .check = check_network};

static const struct lab_table timeouts_table = {
    LAB_FIELDS({"write", lab_read_duration, LAB_IN(network.timeout_write_ns), LAB_FROM(SIM_US, SIM_DAY),
                LAB_DRAWN(TIMEOUTS, 1, "<timeout..2s>"), .draw.skip = 1, .draw.when = "has_timeouts"},
               {"read", lab_read_duration, LAB_IN(network.timeout_read_ns), LAB_FROM(SIM_US, SIM_DAY),
                LAB_DRAWN(TIMEOUTS, 1, "<timeout..2s>"), .draw.skip = 2, .draw.when = "has_timeouts"},
               {"counter", lab_read_duration, LAB_IN(network.timeout_counter_ns), LAB_FROM(SIM_US, SIM_DAY),
                LAB_DRAWN(TIMEOUTS, 1, "<timeout..2s>"), .draw.skip = 3, .draw.when = "has_timeouts"},
               {"cas", lab_read_duration, LAB_IN(network.timeout_cas_ns), LAB_FROM(SIM_US, SIM_DAY),
                LAB_DRAWN(TIMEOUTS, 1, "<timeout..2s>"), .draw.skip = 4, .draw.when = "has_timeouts"},
               {"client", lab_read_duration, LAB_IN(agents.timeout_ns), LAB_FROM(SIM_US, SIM_DAY),
                LAB_DRAWS("<client>"), .draw.when = "has_timeouts"},
               {"detect", lab_read_duration, LAB_IN(network.detect_ns), LAB_FROM(SIM_US, SIM_DAY),
                LAB_DRAWN(DETECT, 0.08, "<20ms..1m>")})};

/* A datacenter's name must not be like `agents`, `agent 3` or `node 3`, since a network partition may name
 * any of these. */
static bool check_datacenter_name(struct lab_reader *reader, const struct lab_node *node)
{
    static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    char shown[LAB_SHOWN_SIZE];
    size_t size = strlen(node->name);
    if (size == 0 || size > NAME_SIZE_MAX || strspn(node->name, signs) != size)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "'%s' is not a name for a datacenter; use 1 to %zu of letters, digits, - and _",
                           lab_show(node->name, shown), NAME_SIZE_MAX);
    if (strcmp(node->name, "agents") == 0)
        return lab_fail_at(
            &reader->tree, &node->name_place,
            "'agents' cannot be the name of a datacenter, since in faults it means the agents; choose "
            "another");
    return true;
}

static bool read_datacenters(struct lab_reader *reader, const struct lab_field *field,
                             const struct lab_node *node, void *out)
{
    struct cass_cluster_config *network = out;
    (void)field;
    network->datacenter_count = 0;
    memset(network->datacenters, 0, sizeof network->datacenters);
    if (node->kind == LAB_NODE_MAPPING) {
        for (const struct lab_node *one = node->first; one != NULL; one = one->next) {
            if (one->is_null)
                continue;
            if (network->datacenter_count == CASS_DATACENTERS_MAX)
                return lab_fail_at(&reader->tree, &one->name_place,
                                   "more than %d datacenters; remove this one", CASS_DATACENTERS_MAX);
            struct cass_datacenter *datacenter = &network->datacenters[network->datacenter_count++];
            datacenter->racks = 1;
            if (!check_datacenter_name(reader, one) ||
                !lab_table_read(reader, &datacenter_table, one, datacenter))
                return false;
            memcpy(datacenter->name, one->name, strlen(one->name) + 1);
        }
    }
    if (network->datacenter_count > 0)
        return true;
    return lab_fail_at(&reader->tree, &node->place,
                       "'datacenters' takes names with their settings; write it as {dc1: {nodes: 6, "
                       "replication_factor: 3}}");
}

static const struct lab_table gc_table = {LAB_FIELDS({"every", lab_read_duration, LAB_IN(network.gc_every_ns),
                                                      LAB_FROM(0, 366.0 * SIM_DAY), LAB_DRAWS("<5s..1m>")},
                                                     {"lasts", lab_read_duration, LAB_IN(network.gc_lasts_ns),
                                                      LAB_FROM(0, SIM_HOUR), LAB_DRAWS("<10ms..500ms>")})};

static const struct lab_field node_fields[] = {
    {.name = "like", .read = lab_read_later},
    {"concurrency", lab_read_whole32, LAB_IN(network.concurrency), LAB_FROM(1, 4096),
     LAB_DRAWN(NODE, 1, "<cores>"), .draw.skip = 2},
    {"coordinate", lab_read_duration, LAB_IN(network.coordinate_ns), LAB_FROM(0, SIM_HOUR),
     LAB_DRAWN(NODE_TIMES, 0.08, "<50us..1ms>")},
    {"write", lab_read_duration, LAB_IN(network.write_ns), LAB_FROM(0, SIM_HOUR),
     LAB_DRAWN(NODE_TIMES, 0.08, "<50us..1ms>"), .draw.skip = 1},
    {"read", lab_read_duration, LAB_IN(network.read_ns), LAB_FROM(0, SIM_HOUR),
     LAB_DRAWN(NODE_TIMES, 0.08, "<100us..2ms>"), .draw.skip = 2},
    {"scan_row", lab_read_duration, LAB_IN(network.scan_row_ns), LAB_FROM(0, SIM_HOUR),
     LAB_DRAWN(NODE_TIMES, 0.08, "<1us..20us>"), .draw.skip = 3},
    {"scan_tombstone", lab_read_duration, LAB_IN(network.scan_tombstone_ns), LAB_FROM(0, SIM_HOUR),
     LAB_DRAWN(NODE_TIMES, 0.08, "<1us..20us>"), .draw.skip = 4},
    {"tombstone_warn", lab_read_whole32, LAB_IN(network.tombstone_warn), LAB_FROM(1, 1e9),
     LAB_DRAWN(NODE_TIMES, 0.08, "<~1..1000>"), .draw.skip = 5},
    {"tombstone_fail", lab_read_whole32, LAB_IN(network.tombstone_fail), LAB_FROM(1, 1e9),
     LAB_DRAWN(NODE_TIMES, 0.08, "30%:<~2..2000>"), .draw.skip = 6},
    {"gc", lab_read_mapping, .detail = &gc_table, LAB_DRAWN(NODE, 1, NULL)},
    {.name = NULL},
};
static const struct lab_table node_table = {.fields = node_fields},
                              measured_table = {.fields = node_fields + 1};

static bool read_measured(struct lab_reader *reader, const char *path)
{
    struct lab_reader inner = {.tree = {.path = path, .error = reader->tree.error},
                               .scenario = reader->scenario};
    char *text = NULL;
    size_t size = 0;
    struct lab_node *root;
    bool ok = lab_scenario_text(path, &text, &size, reader->tree.error) &&
              lab_tree_read(&inner.tree, NULL, text, size, "", &root);
    if (ok) {
        const struct lab_node *node = root->kind == LAB_NODE_MAPPING ? lab_node_find(root, "node") : NULL;
        ok = node != NULL
                 ? lab_table_read(&inner, &measured_table, node, reader->scenario)
                 : lab_fail_at(&inner.tree, &root->place,
                               "no field 'node' in it; write the file with tests/cassandra5/latency.py");
    }
    lab_tree_clear(&inner.tree);
    free(text);
    return ok;
}

/* The file is read first, so that fields in the scenario take precedence. */
static bool read_node(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    static const struct lab_field like_field = {"like", lab_read_text, LAB_FROM(0, 4096),
                                                .range = "the name of a file that latency.py wrote"};
    char **path = &reader->scenario->like_path;
    const struct lab_node *like = node->kind == LAB_NODE_MAPPING ? lab_node_find(node, "like") : NULL;
    (void)field;
    if (like != NULL && (!lab_read_text(reader, &like_field, like, path) || !lab_resolve(reader, path) ||
                         !read_measured(reader, *path)))
        return false;
    return lab_table_read(reader, &node_table, node, out);
}

const struct lab_table lab_cluster_table = {LAB_FIELDS(
    {"nodes", lab_read_whole32, LAB_IN(network.datacenters[0].nodes), LAB_FROM(1, CASS_NODES_MAX),
     LAB_DRAWS("<nodes>"), .draw.when = "has_plain_ring"},
    {"replication_factor", lab_read_whole32, LAB_IN(network.datacenters[0].replication_factor),
     LAB_FROM(1, CASS_REPLICAS_MAX), LAB_DRAWS("<replicas>"), .draw.when = "has_plain_ring"},
    {"datacenters", read_datacenters, LAB_IN(network), LAB_DRAWS("<datacenters>"),
     .draw.when = "has_datacenters"},
    {"num_tokens", lab_read_whole32, LAB_IN(network.num_tokens), LAB_FROM(1, TOKENS_MAX),
     LAB_DRAWN(TOKENS, 1, "<tokens>")},
    {"consistency", lab_read_mapping, .detail = &consistency_table, LAB_DRAWN(LEVELS, 1, "<levels>")},
    {"network", lab_read_mapping, .detail = &network_table},
    {"node", read_node, .detail = &node_table, LAB_DRAWS("{}")},
    {"timeouts", lab_read_mapping, .detail = &timeouts_table},
    {"lwt", lab_read_choice, LAB_IN(network.paxos), .detail = paxos_variants,
     LAB_DRAWN(PAXOS, 1, "<50%paxos-v1|paxos-v2>")})};

/* Keeps times of agents' clocks far from the ends of int64. */
#define CLOCK_MAX (365.0 * SIM_DAY)
#define TRIES_MAX 1000
#define DRIFT_MAX 0.1

static bool check_clock(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    struct lab_agents *agents = &((struct lab_scenario *)target)->agents;
    const struct lab_node *bound = lab_node_find(mapping, "bound");
    if (bound == NULL)
        agents->clock_bound_ns = agents->clock_offset_ns + agents->clock_resolution_ns;
    if (agents->clock_bound_ns < agents->clock_offset_ns)
        return lab_fail_value(reader, bound,
                              "less than the clocks' own 'offset'; raise it, or lower the offset");
    return agents->clock_bound_ns - agents->clock_offset_ns >= agents->clock_resolution_ns ||
           lab_fail_value(
               reader, bound,
               "less than the clocks' 'offset' and 'resolution' together; raise it, or lower one of "
               "them");
}

static const struct lab_table clock_table = {
    LAB_FIELDS({"offset", lab_read_duration, LAB_IN(agents.clock_offset_ns), LAB_FROM(0, CLOCK_MAX),
                LAB_DRAWS("<offset>"), .draw.when = "has_offset"},
               {"drift", lab_read_drift, LAB_IN(agents.clock_drift), LAB_FROM(0, DRIFT_MAX),
                LAB_DRAWS("<drift>ppm"), .draw.when = "has_offset"},
               {"resolution", lab_read_duration, LAB_IN(agents.clock_resolution_ns), LAB_FROM(1, SIM_DAY),
                LAB_DRAWS("<step>"), .draw.when = "has_steps"},
               {"bound", lab_read_duration, LAB_IN(agents.clock_bound_ns), LAB_FROM(0, CLOCK_MAX),
                LAB_DRAWS("<bound>"), .draw.when = "has_offset"}),
    .check = check_clock};

static const struct lab_choice routings[] = {{"any", false}, {"key", true}, {NULL, 0}};

static const struct lab_choice retries_go[] = {
    {"same-bucket", LAB_RETRY_SAME_BUCKET}, {"route-again", LAB_RETRY_ROUTE_AGAIN}, {NULL, 0}};

static bool read_routing(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    int choice = 0;
    if (!lab_read_choice(reader, field, node, &choice))
        return false;
    *(bool *)out = choice != 0;
    return true;
}

const struct lab_table lab_agents_table = {LAB_FIELDS(
    {"count", lab_read_whole32, LAB_IN(agents.count), LAB_REQUIRED, LAB_FROM(1, LAB_AGENTS_MAX),
     LAB_DRAWS("<agents>")},
    {"cache_ttl", lab_read_duration, LAB_IN(agents.cache_ttl_ns), LAB_FROM(0, CLOCK_MAX),
     LAB_DRAWS("<cache>")},
    {"cache_entries", lab_read_whole32, LAB_IN(agents.cache_entries), LAB_FROM(1, 16777216),
     LAB_DRAWS("<entries>")},
    {"operations", lab_read_whole32, LAB_IN(agents.operations), LAB_FROM(1, LAB_OPERATIONS_MAX),
     LAB_DRAWN(OPERATIONS, 1, "<operations>")},
    {"queue", lab_read_whole32, LAB_IN(agents.queue), LAB_FROM(1, 1000000),
     LAB_DRAWN(QUEUE, 0.08, "<~1..1000>")},
    {"routing", read_routing, LAB_IN(agents.by_key), .detail = routings, LAB_DRAWN(ROUTING, 0.12, "key")},
    {"clock", lab_read_mapping, .detail = &clock_table},
    {"retry", lab_read_choice, LAB_IN(agents.retry), .detail = retries_go,
     LAB_DRAWN(TRAP, 0.02, "route-again")},
    {"retries", lab_read_whole32, LAB_IN(agents.retries), LAB_FROM(0, TRIES_MAX),
     LAB_DRAWN(RETRIES, 1, "<0..5>")},
    {"counter_retries", lab_read_whole32, LAB_IN(agents.counter_retries), LAB_FROM(0, TRIES_MAX),
     LAB_DRAWN(RETRIES, 1, "<0..2>"), .draw.skip = 1},
    {"restart", lab_read_duration, LAB_IN(agents.restart_ns), LAB_FROM(1, CLOCK_MAX),
     LAB_DRAWN(RESTART, 1, "<run/500&1s..run/20&1m>")},
    {"twin", lab_read_share, LAB_IN(agents.twin_share), LAB_FROM(0, 1),
     LAB_DRAWN(TWIN, 0.1, "<~.1:0.1..10>%")})};

static void set_agents_default(struct lab_agents *agents)
{
    /* Assigned member by member to a zeroed struct, so that the padding is 0 and equal scenarios are equal
     * byte by byte. */
    agents->cache_ttl_ns = 5 * SIM_SECOND;
    agents->cache_entries = 100000;
    agents->retries = 3;
    agents->timeout_ns = 12 * SIM_SECOND;
    agents->restart_ns = 5 * SIM_SECOND;
}

void lab_cluster_default(struct lab_scenario *scenario)
{
    struct cass_cluster_config *network = &scenario->network;
    cass_cluster_config_default(network);
    network->datacenter_count = 1;
    network->datacenters[0] = (struct cass_datacenter){.name = "dc1", .nodes = 6, .racks = 1};
    set_agents_default(&scenario->agents);
    scenario->consistency = (struct lab_consistency){.write = CASS_LOCAL_QUORUM,
                                                     .read = CASS_LOCAL_QUORUM,
                                                     .state = CASS_LOCAL_QUORUM,
                                                     .serial = CASS_LOCAL_SERIAL};
}

static bool check_ring(struct lab_reader *reader, const struct lab_node *node)
{
    const struct lab_cluster *ring = &reader->scenario->cluster;
    if (ring->nodes > CASS_NODES_MAX)
        return lab_fail_at(&reader->tree, &node->place, "%u nodes in all; give at most %u", ring->nodes,
                           CASS_NODES_MAX);
    if (ring->replication_factor == 0)
        return lab_fail_at(&reader->tree, &node->place,
                           "no datacenter has replicas; give one a replication_factor of at least 1");
    if (ring->replication_factor > CASS_REPLICAS_MAX)
        return lab_fail_at(&reader->tree, &node->place,
                           "%u replicas in all; lower a replication_factor, until there are at most %u",
                           ring->replication_factor, CASS_REPLICAS_MAX);
    if ((uint64_t)ring->nodes * ring->num_tokens * ring->replication_factor > CASS_RING_REPLICAS_MAX)
        return lab_fail_at(&reader->tree, &node->place,
                           "nodes x num_tokens x replication_factor is beyond %zu; lower one of them",
                           CASS_RING_REPLICAS_MAX);
    return true;
}

bool lab_cluster_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct cass_cluster_config *network = &reader->scenario->network;
    struct lab_cluster *ring = &reader->scenario->cluster;
    const struct lab_node *node = lab_node_find(root, "cluster");
    reader->scenario->agents.present = lab_node_find(root, "agents") != NULL;
    network->client_count = reader->scenario->agents.count;
    if (lab_node_find(node, "datacenters") == NULL) {
        struct cass_datacenter *only = &network->datacenters[0];
        const struct lab_node *factor = lab_node_find(node, "replication_factor");
        if (factor == NULL)
            only->replication_factor = only->nodes < REPLICAS_DEFAULT ? only->nodes : REPLICAS_DEFAULT;
        if (only->replication_factor > only->nodes)
            return fail_nodes(reader, factor, "replicas", only->nodes);
    }
    *ring = (struct lab_cluster){.num_tokens = network->num_tokens};
    for (uint32_t i = 0; i < network->datacenter_count; i++) {
        ring->nodes += network->datacenters[i].nodes;
        ring->replication_factor += network->datacenters[i].replication_factor;
    }
    return check_ring(reader, node);
}
