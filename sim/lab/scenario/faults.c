/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `faults`. In: a list, each element of which is one kind of fault with its settings. Out: the faults
 * of the scenario. The nodes, agents and keys that a fault names are looked up when the whole scenario was
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/fields.h"
#include "lab/quantity.h"

#define RANDOM_NAME    "random"
#define FACTOR_DEFAULT 10
#define CHANCE_DEFAULT 0.05
#define BY_DEFAULT     (2 * SIM_SECOND)
#define MEAN_DEFAULT   (30 * SIM_SECOND)
#define KIND(name)     (UINT32_C(1) << LAB_FAULT_##name)
/* The kinds of `random` without `kinds`: those that a cluster must survive. */
#define USUAL_KINDS  ((UINT32_C(1) << LAB_FAULT_AGENT_PAUSE) - 1)
#define CHANCE_KINDS (KIND(LOST_MESSAGE) | KIND(DUPLICATE_MESSAGE))
#define KEY_KINDS    (KIND(STATE_LOST) | KIND(STATE_RESTORED))
#define LATE_CHANCE  0.01
#define LATE_BY      SIM_MINUTE
#define RESTORED_AGE (30 * SIM_SECOND)
#define SYNC_PERIOD  (10 * SIM_SECOND)
#define INDEX_MAX    1e6
#define DRAWN        UINT32_MAX

#define ROW(name, read, member, ...)                                                                         \
    {                                                                                                        \
        name, read, LAB_AT(struct lab_fault, member), __VA_ARGS__                                            \
    }
#define NODE_FIELD                                                                                           \
    ROW("node", lab_read_whole32, target, LAB_REQUIRED, LAB_FROM(0, INDEX_MAX),                              \
        .range = "the number of a node, from 0")
#define AGENT_FIELD                                                                                          \
    ROW("agent", lab_read_whole32, target, LAB_REQUIRED, LAB_FROM(0, INDEX_MAX),                             \
        .range = "the number of an agent, from 0")
#define KEY_FIELD                                                                                            \
    ROW("key", lab_read_whole32, target, LAB_REQUIRED, LAB_FROM(0, 0x1p32 - 2),                              \
        .range = "the number of a key, from 0")
#define AT_FIELD                                                                                             \
    ROW("at", lab_read_duration, at_ns, LAB_REQUIRED, .range = "the time since the start, as in 1h")
#define LASTS_FIELD                                                                                          \
    ROW("lasts", lab_read_duration, lasts_ns, LAB_FROM(1, 0x1p63),                                           \
        .range = ", or leave it out when the fault never ends")
#define FACTOR_FIELD ROW("factor", lab_read_number, factor, LAB_FROM(1e-6, 1e6))
#define CHANCE_FIELD ROW("chance", lab_read_share, factor, LAB_FROM(1e-12, 1))
#define AGE_MAX      (365.0 * (double)SIM_DAY)

static bool read_between(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    (void)field;
    (void)out;
    return lab_check_list(reader, node, 2, 2, "between: [agents, node 3]") &&
           lab_scalar(reader, node->first) != NULL && lab_scalar(reader, node->last) != NULL;
}

static const struct lab_table node_for_a_time_table = {LAB_FIELDS(NODE_FIELD, AT_FIELD, LASTS_FIELD)};
static const struct lab_table slow_node_table = {LAB_FIELDS(NODE_FIELD, FACTOR_FIELD, AT_FIELD, LASTS_FIELD)};
static const struct lab_table network_partition_table = {
    LAB_FIELDS({"between", read_between, LAB_REQUIRED, .range = "two places, as in [agents, node 3]"},
               AT_FIELD, LASTS_FIELD)};
static const struct lab_table message_table = {LAB_FIELDS(CHANCE_FIELD, AT_FIELD, LASTS_FIELD)};
static const struct lab_table delay_table = {LAB_FIELDS(FACTOR_FIELD, AT_FIELD, LASTS_FIELD)};
static const struct lab_table hint_loss_table = {LAB_FIELDS(NODE_FIELD, AT_FIELD)};

/* A crash is either at random times, for any agent, or at a given time, for one agent. */
static bool check_agent_crash(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    bool has_agent = lab_node_find(mapping, "agent") != NULL, has_at = lab_node_find(mapping, "at") != NULL;
    bool has_more = lab_node_find(mapping, "lasts") != NULL || lab_node_find(mapping, "checkpoint") != NULL;
    (void)target;
    return (lab_node_find(mapping, "rate") != NULL ? !has_agent && !has_at && !has_more
                                                   : has_agent && has_at) ||
           lab_fail_at(&reader->tree, &mapping->place,
                       "'agent_crash' takes either a rate alone, by which any agent crashes at any time, or "
                       "'agent' and 'at', and perhaps 'lasts' and 'checkpoint'; write it as {rate: 1/h}");
}

static const struct lab_table agent_crash_table = {
    LAB_FIELDS({"rate", lab_read_rate, LAB_AT(struct lab_fault, rate_per_s), LAB_FROM(1e-9, 1e3)},
               {"agent", lab_read_whole32, LAB_AT(struct lab_fault, target), LAB_FROM(0, INDEX_MAX),
                .range = "the number of an agent, from 0"},
               {"at", lab_read_duration, LAB_AT(struct lab_fault, at_ns)},
               {"lasts", lab_read_duration, LAB_AT(struct lab_fault, lasts_ns), LAB_FROM(1, 0x1p63),
                .range = "a duration above 0s, or leave it out for the agents' 'restart'"},
               {"checkpoint", lab_read_duration, LAB_AT(struct lab_fault, age_ns), LAB_FROM(1, AGE_MAX)}),
    .check = check_agent_crash};

static bool read_by(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                    void *out)
{
    int64_t by_ns;
    if (!lab_read_signed_duration(reader, field, node, &by_ns))
        return false;
    if (by_ns == 0)
        return lab_fail_value(reader, node, "no jump at all; give a duration other than 0s, as in -2s");
    *(int64_t *)out = by_ns;
    return true;
}

static const struct lab_table clock_jump_table = {
    LAB_FIELDS(AGENT_FIELD, AT_FIELD,
               {"by", read_by, LAB_AT(struct lab_fault, by_ns), LAB_REQUIRED,
                LAB_FROM(-365.0 * (double)SIM_DAY, 365.0 * (double)SIM_DAY),
                .range = "a duration other than 0s, at most 365d either way, as in -2s"})};

static const struct lab_table agent_pause_table = {LAB_FIELDS(
    AGENT_FIELD, AT_FIELD,
    {"lasts", lab_read_duration, LAB_AT(struct lab_fault, lasts_ns), LAB_REQUIRED, LAB_FROM(1, 0x1p63)})};

static const struct lab_table late_message_table = {LAB_FIELDS(
    CHANCE_FIELD, {"by", lab_read_duration, LAB_AT(struct lab_fault, by_ns), LAB_FROM(1, (double)SIM_DAY)},
    AT_FIELD, LASTS_FIELD)};

static const struct lab_table state_lost_table = {LAB_FIELDS(KEY_FIELD, AT_FIELD)};
static const struct lab_table state_restored_table = {LAB_FIELDS(
    KEY_FIELD, AT_FIELD, {"age", lab_read_duration, LAB_AT(struct lab_fault, age_ns), LAB_FROM(1, AGE_MAX)})};
static const struct lab_table paxos_loss_table = {
    LAB_FIELDS(NODE_FIELD, AT_FIELD,
               {"last", lab_read_duration, LAB_AT(struct lab_fault, age_ns), LAB_FROM(1, AGE_MAX)})};

static bool read_kinds(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    const char *names[LAB_FAULT_KIND_COUNT];
    (void)field;
    for (int kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++)
        names[kind] = lab_fault_kind_name((enum lab_fault_kind)kind);
    if (!lab_read_names(reader, node, "kind of fault", names, LAB_FAULT_KIND_COUNT,
                        "[node_down, network_partition], or leave it out for all", out))
        return false;
    return (*(uint32_t *)out & KIND(STATE_RESTORED)) == 0 ||
           lab_fail_at(&reader->tree, &node->place,
                       "state_restored cannot be drawn, since its backup is made at a known time; list it "
                       "separately, as in '- state_restored: {key: 0, at: 1h}'");
}

static const struct lab_table random_table = {LAB_FIELDS(
    {"rate", lab_read_rate, LAB_AT(struct lab_fault, rate_per_s), LAB_REQUIRED, LAB_FROM(1e-9, 1e3)},
    {"kinds", read_kinds, LAB_AT(struct lab_fault, kinds)},
    {"until", lab_read_duration, LAB_AT(struct lab_fault, until_ns), LAB_FROM(1, 0x1p63)},
    {"lasts", lab_read_duration, LAB_AT(struct lab_fault, lasts_ns), LAB_FROM(1, 0x1p63)})};

const struct lab_table lab_fault_table = {
    LAB_FIELDS({"node_down", lab_read_mapping, .detail = &node_for_a_time_table,
                LAB_DRAWN(FAULTS, 0.35, "{node: <node>, at: <at>, lasts: <lasts>}")},
               {"slow_node", lab_read_mapping, .detail = &slow_node_table,
                LAB_DRAWN(FAULTS, 0.35, "{node: <node>, factor: <factor>, at: <at>, lasts: <lasts>}")},
               {"gc_storm", lab_read_mapping, .detail = &node_for_a_time_table,
                LAB_DRAWN(FAULTS, 0.35, "{node: <node>, at: <at>, lasts: <lasts>}")},
               {"network_partition", lab_read_mapping, .detail = &network_partition_table,
                LAB_DRAWN(FAULTS, 0.35, "{between: <between>, at: <at>, lasts: <lasts>}")},
               {"lost_message", lab_read_mapping, .detail = &message_table,
                LAB_DRAWN(FAULTS, 0.35, "{chance: <1..40>%, at: <at>, lasts: <lasts>}")},
               {"duplicate_message", lab_read_mapping, .detail = &message_table,
                LAB_DRAWN(FAULTS, 0.35, "{chance: <1..40>%, at: <at>, lasts: <lasts>}")},
               {"delay", lab_read_mapping, .detail = &delay_table,
                LAB_DRAWN(FAULTS, 0.35, "{factor: <factor>, at: <at>, lasts: <lasts>}")},
               {"hint_loss", lab_read_mapping, .detail = &hint_loss_table,
                LAB_DRAWN(FAULTS, 0.35, "{node: <node>, at: <at>}")},
               {"agent_crash", lab_read_mapping, .detail = &agent_crash_table,
                LAB_DRAWN(FAULTS, 0.35, "{agent: <agent>, at: <at>, lasts: <lasts><checkpoint>}")},
               {"clock_jump", lab_read_mapping, .detail = &clock_jump_table,
                LAB_DRAWN(FAULTS, 0.12, "{agent: <agent>, at: <at>, by: <is_back><by>}")},
               {"agent_pause", lab_read_mapping, .detail = &agent_pause_table,
                LAB_DRAWN(FAULTS, 0.35, "{agent: <agent>, at: <at>, lasts: <lasts>}")},
               {"late_message", lab_read_mapping, .detail = &late_message_table,
                LAB_DRAWN(FAULTS, 0.35, "{chance: 0.<1..9>%, by: <by>, at: <at>, lasts: <lasts>}")},
               {"state_lost", lab_read_mapping, .detail = &state_lost_table,
                LAB_DRAWN(FAULTS, 0.06, "{key: <0..keys_last>, at: <at>}")},
               {"state_restored", lab_read_mapping, .detail = &state_restored_table,
                LAB_DRAWN(FAULTS, 0.06, "{key: <0..keys_last>, at: <at>, age: <by>}")},
               {"paxos_loss", lab_read_mapping, .detail = &paxos_loss_table,
                LAB_DRAWN(FAULTS, 0.12, "{node: <node>, last: <by>, at: <at>}")},
               {RANDOM_NAME, lab_read_mapping, .detail = &random_table})};

const char *lab_fault_kind_name(enum lab_fault_kind kind)
{
    return lab_fault_table.fields[kind].name;
}

/* Sets the defaults of the kinds that differ from the others. */
static void set_defaults(const struct lab_node *only, struct lab_fault *fault)
{
    bool has_chance = lab_node_find(only, "chance") != NULL;
    if ((fault->kinds & CHANCE_KINDS) != 0 && !has_chance)
        fault->factor = CHANCE_DEFAULT;
    if (fault->kinds == KIND(LATE_MESSAGE) && !has_chance)
        fault->factor = LATE_CHANCE;
    if (fault->kinds == KIND(LATE_MESSAGE) && lab_node_find(only, "by") == NULL)
        fault->by_ns = LATE_BY;
    if (fault->kinds == KIND(STATE_RESTORED) && fault->age_ns == 0)
        fault->age_ns = RESTORED_AGE;
    if (fault->kinds == KIND(PAXOS_LOSS) && fault->age_ns == 0)
        fault->age_ns = SYNC_PERIOD;
}

static bool set_kind(struct lab_reader *reader, const struct lab_node *item, struct lab_fault *fault)
{
    const struct lab_node *only =
        lab_only_field(reader, item, NULL, "an element of 'faults'", "the kinds of faults, or random");
    if (only == NULL)
        return false;
    if (strcmp(only->name, RANDOM_NAME) != 0) {
        for (int kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
            if (strcmp(only->name, lab_fault_kind_name((enum lab_fault_kind)kind)) == 0)
                fault->kinds = UINT32_C(1) << kind;
        }
        set_defaults(only, fault);
        return true;
    }
    if (fault->kinds == 0)
        fault->kinds = USUAL_KINDS;
    if (lab_node_find(only, "lasts") == NULL)
        fault->lasts_ns = MEAN_DEFAULT;
    return true;
}

bool lab_read_faults(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                     void *out)
{
    struct lab_scenario *scenario = out;
    (void)field;
    if (!lab_check_list(reader, node, 0, LAB_FAULTS_MAX,
                        "'- node_down: {node: 3, at: 1h, lasts: 10m}' lines"))
        return false;
    if (node->count == 0)
        return true;
    scenario->faults = calloc(node->count, sizeof *scenario->faults);
    if (scenario->faults == NULL)
        return sim_fail_memory(reader->tree.error);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        struct lab_fault *fault = &scenario->faults[scenario->fault_count++];
        *fault = (struct lab_fault){.lasts_ns = INT64_MAX,
                                    .until_ns = INT64_MAX,
                                    .target = DRAWN,
                                    .factor = FACTOR_DEFAULT,
                                    .by_ns = BY_DEFAULT,
                                    .line = item->place.argument == NULL ? item->place.line : 0,
                                    .column = item->place.argument == NULL ? item->place.column : 0};
        if (item->kind != LAB_NODE_MAPPING)
            return lab_fail_at(&reader->tree, &item->place,
                               "a fault is its kind and figures; write it as 'node_down: {node: 3, at: 1h, "
                               "lasts: 10m}'");
        if (!lab_table_read(reader, &lab_fault_table, item, fault) || !set_kind(reader, item, fault))
            return false;
    }
    return true;
}

/* The only field of an element, as checked by set_kind(). */
static const struct lab_node *kind_node(const struct lab_node *item)
{
    const struct lab_node *node = item->first;
    while (node->is_null)
        node = node->next;
    return node;
}

/* A fault at a given time must begin within the run; it may end later. */
static bool check_times(struct lab_reader *reader, const struct lab_node *node, struct lab_fault *fault)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *until = lab_node_find(node, "until");
    int64_t duration_ns = scenario->workload.duration_ns;
    bool is_known = duration_ns > 0;
    if (is_known && fault->at_ns >= duration_ns)
        return lab_fail_value(reader, lab_node_find(node, "at"),
                              "the fault begins after the run's end; move it, or make duration longer");
    if (is_known && until != NULL && fault->until_ns > duration_ns)
        return lab_fail_value(reader, until,
                              "after the run's end; lower it, leave it out, or make duration longer");
    if (fault->kinds == UINT32_C(1) << LAB_FAULT_AGENT_CRASH && fault->lasts_ns == INT64_MAX)
        fault->lasts_ns = scenario->agents.restart_ns;
    /* The end would overflow a timestamp. */
    if (fault->lasts_ns > INT64_MAX - scenario->workload.start_ns - fault->at_ns)
        fault->lasts_ns = INT64_MAX;
    return true;
}

static bool check_number(struct lab_reader *reader, const struct lab_node *node, const char *what,
                         uint64_t index, uint32_t count)
{
    if (index < count)
        return true;
    if (count == 1)
        return lab_fail_value(reader, node, "no such %s; the only %s is 0", what, what);
    return lab_fail_value(reader, node, "no such %s; the %u %ss are 0 to %u", what, count, what, count - 1);
}

/* Only synthetic keys have numbers before the run. */
static bool check_key(struct lab_reader *reader, const struct lab_node *node, const struct lab_fault *fault)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *key = lab_node_find(node, "key");
    if (scenario->identifiers.present)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "a run of identifiers has no keys with a state; remove this");
    if (scenario->trace_path != NULL)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "the keys of a trace have no numbers; remove this, or give 'keys' and 'arrivals' "
                           "instead of 'trace'");
    uint64_t count = scenario->workload.key_count;
    return key == NULL ||
           check_number(reader, key, "key", fault->target, count < UINT32_MAX ? (uint32_t)count : UINT32_MAX);
}

static bool fail_group(struct lab_reader *reader, const struct lab_node *node)
{
    const struct cass_cluster_config *network = &reader->scenario->network;
    const char *names[CASS_DATACENTERS_MAX + 1] = {"agents"};
    for (uint32_t i = 0; i < network->datacenter_count; i++)
        names[i + 1] = network->datacenters[i].name;
    const char *nearest = sim_nearest(node->text, names, network->datacenter_count + 1);
    if (nearest != NULL)
        return lab_fail_value(reader, node, "no such place; did you mean '%s'?", nearest);
    return lab_fail_value(reader, node,
                          "no such place; give agents, agent N, node N or a datacenter, as in %s", names[1]);
}

/* Parses "agents", "agent 3", "node 3" or the name of a datacenter. */
static bool find_group(struct lab_reader *reader, const struct lab_node *node, struct lab_group *out)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct cass_cluster_config *network = &scenario->network;
    static const char agent[] = "agent ", on_node[] = "node ";
    uint64_t index;
    *out = (struct lab_group){.kind = LAB_GROUP_AGENTS};
    if (strcmp(node->text, "agents") == 0)
        return true;
    for (uint32_t i = 0; i < network->datacenter_count; i++) {
        *out = (struct lab_group){.kind = LAB_GROUP_DATACENTER, .index = i};
        if (strcmp(node->text, network->datacenters[i].name) == 0)
            return true;
    }
    bool is_agent = strncmp(node->text, agent, sizeof agent - 1) == 0;
    bool is_node = strncmp(node->text, on_node, sizeof on_node - 1) == 0;
    const char *number = node->text + (is_agent ? sizeof agent - 1 : is_node ? sizeof on_node - 1 : 0);
    if ((is_agent || is_node) && lab_quantity_whole(number, &index) == NULL) {
        *out =
            (struct lab_group){.kind = is_agent ? LAB_GROUP_AGENT : LAB_GROUP_NODE, .index = (uint32_t)index};
        return check_number(reader, node, is_agent ? "agent" : "node", index,
                            is_agent ? scenario->agents.count : scenario->cluster.nodes);
    }
    return fail_group(reader, node);
}

static bool check_places(struct lab_reader *reader, const struct lab_node *node, struct lab_fault *fault)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *on_node = lab_node_find(node, "node"), *on_agent = lab_node_find(node, "agent"),
                          *between = lab_node_find(node, "between");
    if ((fault->kinds & KEY_KINDS) != 0)
        return check_key(reader, node, fault);
    if (fault->kinds == KIND(AGENT_CRASH) && fault->age_ns > 0 && scenario->identifiers.present)
        return lab_fail_at(
            &reader->tree, &lab_node_find(node, "checkpoint")->name_place,
            "a client that restarts from a checkpoint hands out identifiers twice; remove this");
    if (on_node != NULL)
        return check_number(reader, on_node, "node", fault->target, scenario->cluster.nodes);
    if (on_agent != NULL)
        return check_number(reader, on_agent, "agent", fault->target, scenario->agents.count);
    if (between == NULL)
        return true;
    struct lab_group *groups = fault->between;
    if (!find_group(reader, between->first, &groups[0]) || !find_group(reader, between->last, &groups[1]))
        return false;
    if (groups[0].kind == groups[1].kind && groups[0].index == groups[1].index)
        return lab_fail_value(reader, between->last,
                              "the same place twice; a network partition is between two");
    if (groups[0].kind <= LAB_GROUP_AGENT && groups[1].kind <= LAB_GROUP_AGENT)
        return lab_fail_value(reader, between->last,
                              "agents send no messages to each other; name a node or a datacenter here");
    return true;
}

bool lab_faults_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *list = lab_node_find(root, "faults"), *item = list == NULL ? NULL : list->first;
    for (size_t i = 0; i < scenario->fault_count; i++, item = item->next) {
        const struct lab_node *node = kind_node(item);
        if (!check_times(reader, node, &scenario->faults[i]) ||
            !check_places(reader, node, &scenario->faults[i]))
            return false;
    }
    return true;
}
