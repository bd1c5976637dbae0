/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `cluster`: the ring, its nodes and the network between them. */
#include <stdio.h>
#include <string.h>

#include "cassandra/ring.h"
#include "kernel/time.h"
#include "lab/scenario_part.h"

#define REPLICAS_DEFAULT 3
#define TOKENS_MAX       4096
#define NAME_SIZE_MAX    (sizeof((struct cass_datacenter *)0)->name - 1)

#define SCENARIO(member)   offsetof(struct lab_scenario, member)
#define NETWORK(member)    offsetof(struct lab_scenario, network.member)
#define DATACENTER(member) offsetof(struct cass_datacenter, member)
#define SPAN_MAX           ((double)SIM_HOUR)
#define SPAN_RANGE         "a duration from 0s to 1h"
#define TIMEOUT_RANGE      "a duration from 1us to 1d"
#define NODES_RANGE        "a whole number from 1 to 65535"

#define TIMEOUT_FIELD(name, member)                                                                          \
    {                                                                                                        \
        name, lab_read_duration, SCENARIO(member), LAB_OPTIONAL, (double)SIM_US, (double)SIM_DAY,            \
            TIMEOUT_RANGE, NULL                                                                              \
    }

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

static bool fail_factor(struct lab_reader *reader, const struct lab_node *factor, uint32_t nodes)
{
    char problem[96];
    snprintf(problem, sizeof problem, "more replicas than the %u node%s; lower it, or add nodes", nodes,
             nodes == 1 ? "" : "s");
    return lab_fail_value(reader, factor, problem);
}

static bool check_datacenter(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    struct cass_datacenter *datacenter = target;
    const struct lab_node *factor = lab_node_find(mapping, "replication_factor");
    if (factor == NULL)
        datacenter->replication_factor =
            datacenter->nodes < REPLICAS_DEFAULT ? datacenter->nodes : REPLICAS_DEFAULT;
    if (datacenter->replication_factor > datacenter->nodes)
        return fail_factor(reader, factor, datacenter->nodes);
    if (datacenter->racks > datacenter->nodes) {
        char problem[96];
        snprintf(problem, sizeof problem, "more racks than the %u node%s; lower it, or add nodes",
                 datacenter->nodes, datacenter->nodes == 1 ? "" : "s");
        return lab_fail_value(reader, lab_node_find(mapping, "racks"), problem);
    }
    return true;
}

static const struct lab_table datacenter_table = {
    .fields =
        (const struct lab_field[]){
            {"nodes", lab_read_whole32, DATACENTER(nodes), LAB_REQUIRED, 1, CASS_NODES_MAX, NODES_RANGE,
             NULL},
            {"racks", lab_read_whole32, DATACENTER(racks), LAB_OPTIONAL, 1, CASS_NODES_MAX, NODES_RANGE,
             NULL},
            {"replication_factor", lab_read_whole32, DATACENTER(replication_factor), LAB_OPTIONAL, 0,
             CASS_REPLICAS_MAX, "a whole number from 0 to 64", NULL},
            {.name = NULL},
        },
    .check = check_datacenter};

static bool read_level(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    enum cass_consistency level;
    if (node->kind == LAB_NODE_SCALAR && cass_consistency_parse(node->text, &level) &&
        (level == CASS_SERIAL || level == CASS_LOCAL_SERIAL))
        return lab_fail_value(reader, node,
                              "a level only for conditional updates; set it under 'serial', and use a plain "
                              "level here, as in LOCAL_QUORUM");
    if (node->kind == LAB_NODE_SCALAR && strcmp(node->text, "ANY") == 0 && field->detail != write_levels)
        return lab_fail_value(reader, node, "not a level of reads; use ONE, or a quorum");
    return lab_read_choice(reader, field, node, out);
}

static bool read_serial(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        void *out)
{
    enum cass_consistency level;
    if (node->kind == LAB_NODE_SCALAR && cass_consistency_parse(node->text, &level) && level != CASS_SERIAL &&
        level != CASS_LOCAL_SERIAL)
        return lab_fail_value(reader, node, "not a level of conditional updates; use SERIAL or LOCAL_SERIAL");
    return lab_read_choice(reader, field, node, out);
}

static const struct lab_table consistency_table = {
    .fields = (const struct lab_field[]){
        {"write", read_level, SCENARIO(consistency.write), LAB_OPTIONAL, 0, 0, NULL, write_levels},
        {"read", read_level, SCENARIO(consistency.read), LAB_OPTIONAL, 0, 0, NULL, write_levels + 1},
        {"state", read_level, SCENARIO(consistency.state), LAB_OPTIONAL, 0, 0, NULL, write_levels + 1},
        {"serial", read_serial, SCENARIO(consistency.serial), LAB_OPTIONAL, 0, 0, NULL, serial_levels},
        {.name = NULL},
    }};

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
    .fields = (const struct lab_field[]){
        {"mean", read_span, offsetof(struct sim_size, a), LAB_REQUIRED, 1, SPAN_MAX,
         "a duration from 1ns to 1h", NULL},
        {"sigma", lab_read_number, offsetof(struct sim_size, b), LAB_REQUIRED, 0, 10, "a number from 0 to 10",
         NULL},
        {.name = NULL},
    }};

static bool read_uniform(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    struct sim_size *distribution = out;
    if (node->kind != LAB_NODE_LIST || node->count != 2)
        return lab_fail_at(&reader->tree, &node->place,
                           "'uniform' takes the least and the most; write it as uniform: [200us, 1ms]");
    if (!read_span(reader, field, node->first, &distribution->a) ||
        !read_span(reader, field, node->last, &distribution->b))
        return false;
    if (distribution->a > distribution->b)
        return lab_fail_at(&reader->tree, &node->place,
                           "'uniform' has its least above its most; swap the two");
    return true;
}

static const struct lab_table latency_table = {
    .fields = (const struct lab_field[]){
        {"lognormal", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lognormal_table},
        {"uniform", read_uniform, 0, LAB_OPTIONAL, 1, SPAN_MAX, "a duration from 1ns to 1h", NULL},
        {.name = NULL},
    }};

static bool check_network(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    struct cass_cluster_config *network = &((struct lab_scenario *)target)->network;
    if (network->loss + network->duplicate > 1)
        return lab_fail_at(&reader->tree, &mapping->place,
                           "loss and duplicate add up to more than 100%%; lower one of them");
    return true;
}

static bool read_latency(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    struct sim_size *distribution = out;
    char what[LAB_SHOWN_SIZE];
    *distribution = (struct sim_size){.kind = SIM_SIZE_CONSTANT};
    if (node->kind == LAB_NODE_SCALAR)
        return read_span(reader, field, node, &distribution->a);
    if (!lab_table_read(reader, &latency_table, node, distribution))
        return false;
    snprintf(what, sizeof what, "'%s'", node->name);
    const struct lab_node *form = lab_only_field(reader, node, NULL, what, "uniform or lognormal");
    if (form == NULL)
        return false;
    distribution->kind = strcmp(form->name, "uniform") == 0 ? SIM_SIZE_UNIFORM : SIM_SIZE_LOGNORMAL;
    /* Cannot fail, since the ranges of the fields were checked. */
    return sim_size_prepare(distribution) == 0 ||
           lab_fail_at(
               &reader->tree, &node->place,
               "these figures are not a distribution of latency; write them as in {lognormal: {mean: 500us, "
               "sigma: 0.4}}");
}

static const struct lab_table network_table = {
    .fields =
        (const struct lab_field[]){
            {"latency", read_latency, NETWORK(latency_ns), LAB_OPTIONAL, 0, SPAN_MAX, SPAN_RANGE, NULL},
            {"between", read_latency, NETWORK(latency_between_ns), LAB_OPTIONAL, 0, SPAN_MAX, SPAN_RANGE,
             NULL},
            {"loss", lab_read_share, NETWORK(loss), LAB_OPTIONAL, 0, 0, NULL, NULL},
            {"duplicate", lab_read_share, NETWORK(duplicate), LAB_OPTIONAL, 0, 0, NULL, NULL},
            {.name = NULL},
        },
    .check = check_network};

static const struct lab_table timeouts_table = {.fields = (const struct lab_field[]){
                                                    TIMEOUT_FIELD("write", network.timeout_write_ns),
                                                    TIMEOUT_FIELD("read", network.timeout_read_ns),
                                                    TIMEOUT_FIELD("counter", network.timeout_counter_ns),
                                                    TIMEOUT_FIELD("cas", network.timeout_cas_ns),
                                                    TIMEOUT_FIELD("client", agents.timeout_ns),
                                                    TIMEOUT_FIELD("detect", network.detect_ns),
                                                    {.name = NULL},
                                                }};

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

const struct lab_table lab_cluster_table = {
    .fields = (const struct lab_field[]){
        {"nodes", lab_read_whole32, NETWORK(datacenters[0].nodes), LAB_OPTIONAL, 1, CASS_NODES_MAX,
         NODES_RANGE, NULL},
        {"replication_factor", lab_read_whole32, NETWORK(datacenters[0].replication_factor), LAB_OPTIONAL, 1,
         CASS_REPLICAS_MAX, "a whole number from 1 to 64", NULL},
        {"datacenters", read_datacenters, SCENARIO(network), LAB_OPTIONAL, 0, 0, NULL, NULL},
        {"num_tokens", lab_read_whole32, NETWORK(num_tokens), LAB_OPTIONAL, 1, TOKENS_MAX,
         "a whole number from 1 to 4096", NULL},
        {"consistency", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &consistency_table},
        {"network", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &network_table},
        {"node", lab_read_node, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
        {"timeouts", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &timeouts_table},
        {"lwt", lab_read_choice, NETWORK(paxos), LAB_OPTIONAL, 0, 0, NULL, paxos_variants},
        {.name = NULL},
    }};

void lab_cluster_default(struct lab_scenario *scenario)
{
    struct cass_cluster_config *network = &scenario->network;
    cass_cluster_config_default(network);
    network->datacenter_count = 1;
    network->datacenters[0] = (struct cass_datacenter){.name = "dc1", .nodes = 6, .racks = 1};
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

/* With `datacenters`, the settings of each datacenter are given there. */
static bool check_forms(struct lab_reader *reader, const struct lab_node *node)
{
    static const char *const others[] = {"nodes", "replication_factor"};
    for (size_t i = 0; i < 2; i++) {
        const struct lab_node *other = lab_node_find(node, others[i]);
        if (other != NULL)
            return lab_fail_at(&reader->tree, &other->name_place,
                               "'%s' conflicts with 'datacenters', which have their own; remove one of them",
                               others[i]);
    }
    return true;
}

bool lab_cluster_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct cass_cluster_config *network = &reader->scenario->network;
    struct lab_cluster *ring = &reader->scenario->cluster;
    const struct lab_node *node = lab_node_find(root, "cluster");
    if (lab_node_find(node, "datacenters") != NULL) {
        if (!check_forms(reader, node))
            return false;
    } else {
        struct cass_datacenter *only = &network->datacenters[0];
        const struct lab_node *factor = lab_node_find(node, "replication_factor");
        if (factor == NULL)
            only->replication_factor = only->nodes < REPLICAS_DEFAULT ? only->nodes : REPLICAS_DEFAULT;
        if (only->replication_factor > only->nodes)
            return fail_factor(reader, factor, only->nodes);
    }
    *ring = (struct lab_cluster){.num_tokens = network->num_tokens};
    for (uint32_t i = 0; i < network->datacenter_count; i++) {
        ring->nodes += network->datacenters[i].nodes;
        ring->replication_factor += network->datacenters[i].replication_factor;
    }
    return check_ring(reader, node);
}
