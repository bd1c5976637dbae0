/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `agents`: the processes of the application, their caches and clocks. */
#include "kernel/time.h"
#include "lab/scenario_part.h"

#define AGENTS(member) offsetof(struct lab_scenario, agents.member)
/* Keeps times of agents' clocks far from the ends of int64. */
#define SPAN_MAX    (365.0 * (double)SIM_DAY)
#define SPAN_RANGE  "a duration from 0s to 365d"
#define TRIES_MAX   1000
#define TRIES_RANGE "a whole number from 0 to 1000"
#define DRIFT_MAX   0.1

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
    .fields =
        (const struct lab_field[]){
            {"offset", lab_read_duration, AGENTS(clock_offset_ns), LAB_OPTIONAL, 0, SPAN_MAX, SPAN_RANGE,
             NULL},
            {"drift", lab_read_drift, AGENTS(clock_drift), LAB_OPTIONAL, 0, DRIFT_MAX,
             "a drift from 0ppm to 100000ppm", NULL},
            {"resolution", lab_read_duration, AGENTS(clock_resolution_ns), LAB_OPTIONAL, 1, (double)SIM_DAY,
             "a duration above 0s and at most 1d", NULL},
            {"bound", lab_read_duration, AGENTS(clock_bound_ns), LAB_OPTIONAL, 0, SPAN_MAX, SPAN_RANGE, NULL},
            {.name = NULL},
        },
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

const struct lab_table lab_agents_table = {
    .fields = (const struct lab_field[]){
        {"count", lab_read_whole32, AGENTS(count), LAB_REQUIRED, 1, LAB_AGENTS_MAX,
         "a whole number from 1 to 4096", NULL},
        {"cache_ttl", lab_read_duration, AGENTS(cache_ttl_ns), LAB_OPTIONAL, 0, SPAN_MAX, SPAN_RANGE, NULL},
        {"cache_entries", lab_read_whole32, AGENTS(cache_entries), LAB_OPTIONAL, 1, 16777216,
         "a whole number from 1 to 16777216", NULL},
        {"operations", lab_read_whole32, AGENTS(operations), LAB_OPTIONAL, 1, LAB_OPERATIONS_MAX,
         "a whole number from 1 to 4096", NULL},
        {"routing", read_routing, AGENTS(by_key), LAB_OPTIONAL, 0, 0, NULL, routings},
        {"clock", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &clock_table},
        {"retry", lab_read_choice, AGENTS(retry), LAB_OPTIONAL, 0, 0, NULL, retries_go},
        {"retries", lab_read_whole32, AGENTS(retries), LAB_OPTIONAL, 0, TRIES_MAX, TRIES_RANGE, NULL},
        {"counter_retries", lab_read_whole32, AGENTS(counter_retries), LAB_OPTIONAL, 0, TRIES_MAX,
         TRIES_RANGE, NULL},
        {"restart", lab_read_duration, AGENTS(restart_ns), LAB_OPTIONAL, 1, SPAN_MAX,
         "a duration above 0s and at most 365d", NULL},
        {"twin", lab_read_share, AGENTS(twin_share), LAB_OPTIONAL, 0, 1, "a share from 0% to 100%", NULL},
        {.name = NULL},
    }};

void lab_agents_default(struct lab_agents *agents)
{
    /* Assigned member by member to a zeroed struct, so that the padding is 0 and equal scenarios are equal
     * byte by byte. */
    agents->cache_ttl_ns = 5 * SIM_SECOND;
    agents->cache_entries = 100000;
    agents->retries = 3;
    agents->timeout_ns = 12 * SIM_SECOND;
    agents->restart_ns = 5 * SIM_SECOND;
}

bool lab_agents_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    scenario->agents.present = lab_node_find(root, "agents") != NULL;
    scenario->network.client_count = scenario->agents.count;
    return true;
}
