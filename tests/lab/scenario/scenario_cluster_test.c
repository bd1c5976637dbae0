/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: cluster, agents, faults and the strategies that need them become the structs that they describe, and
 * omitted fields have their defaults. Method: texts with every field, checked member by member; the shortest
 * text for the defaults; bounds that are still accepted; the ring that the stream engine makes of
 * datacenters; and the engine that each mixture selects. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../scenario_of.h"
#include "kernel/time.h"
#include "lab/run.h"
#include "lab/scenario.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define HEAD "duration: 1d\nkeys: {count: 10}\narrivals: {rate: 1/s}\n"
#define TAIL "strategies: [unbucketed: {}]\n"

/* The faults have a separate order of fields, and come before the cluster that they refer to. */
static const char everything[] = HEAD
    "seed: 7\n"
    "faults:\n"
    "  - {node_down: {node: 8, at: 1h, lasts: 10m}}\n"
    "  - {slow_node: {node: 0, factor: 2.5, at: 0s, lasts: 1d}}\n"
    "  - gc_storm: {node: 1, at: 2h}\n"
    "  - {network_partition: {between: [agents, dc2], at: 2h, lasts: 30s}}\n"
    "  - {network_partition: {between: [agent 15, node 8], at: 2h}}\n"
    "  - {lost_message: {chance: 1%, at: 3h, lasts: 1s}}\n"
    "  - {duplicate_message: {chance: 100%, at: 3h}}\n"
    "  - {delay: {factor: 0.5, at: 3h}}\n"
    "  - {hint_loss: {node: 2, at: 4h}}\n"
    "  - {agent_crash: {rate: 1/h}}\n"
    "  - {agent_crash: {agent: 15, at: 5h, lasts: 1m}}\n"
    "  - {clock_jump: {agent: 4, at: 3h, by: -2s}}\n"
    "  - {random: {rate: 6/h, kinds: [node_down, network_partition, clock_jump], until: 20h, lasts: 4s}}\n"
    "cluster:\n"
    "  datacenters: {dc1: {nodes: 6, racks: 3, replication_factor: 2}, dc2: {nodes: 3}}\n"
    "  num_tokens: 8\n"
    "  consistency: {write: ANY, read: TWO, state: EACH_QUORUM, serial: SERIAL}\n"
    "  network: {latency: {lognormal: {mean: 400us, sigma: 0.3}}, between: {uniform: [1ms, 3ms]}, loss: "
    "1%, duplicate: 2%}\n"
    "  node: {concurrency: 16, write: 81us, read: 182us, scan_row: 3us, scan_tombstone: 4us, gc: {every: "
    "1m, lasts: 51ms}}\n"
    "  timeouts: {write: 1s, read: 3s, counter: 4s, cas: 2s, client: 11s}\n"
    "  lwt: paxos-v2\n"
    "agents:\n"
    "  {count: 16, cache_ttl: 4s, cache_entries: 1000, clock: {offset: 50ms, drift: 20ppm, bound: 100ms}, "
    "retries: 2, counter_retries: 1, operations: 77, restart: 9s}\n"
    "strategies:\n"
    "  - probabilistic: {bits: 9, threshold: 40, coordination: three-state, lead: 10s, counter: lwt}\n"
    "  - probabilistic: {bits: 9, threshold: 40, coordination: locked, label: locked, lock: {lasts: 6s, "
    "backoff: 7ms}}\n"
    "  - probabilistic: {bits: 9, threshold: 40, counter: counter, label: single}\n"
    "  - probabilistic: {bits: 9, threshold: 40, coordination: guarded, label: guarded, grant: 3s, counter: "
    "counter}\n"
    "  - probabilistic: {bits: 9, threshold: 40, coordination: guarded, label: by default}\n"
    "  - hash: {buckets: 65536}\n";

static void check_datacenter(const struct cass_datacenter *datacenter, const char *name, uint32_t nodes,
                             uint32_t racks, uint32_t replication_factor)
{
    assert_string_equal(datacenter->name, name);
    assert_int_equal(datacenter->nodes, nodes);
    assert_int_equal(datacenter->racks, racks);
    assert_int_equal(datacenter->replication_factor, replication_factor);
}

static void check_distribution(const struct sim_size *distribution, enum sim_size_kind kind, double a,
                               double b)
{
    struct sim_size wanted = {.kind = kind, .a = a, .b = b};
    if (kind != SIM_SIZE_CONSTANT || a >= 1)
        assert_int_equal(sim_size_prepare(&wanted), 0);
    assert_int_equal(distribution->kind, kind);
    assert_true(distribution->a == a && distribution->b == b && distribution->log_mean == wanted.log_mean);
}

static void test_cluster_with_every_field_is_read_whole(void **state)
{
    struct lab_scenario *s = scenario_of("", everything);
    const struct cass_cluster_config *network = &s->network;
    (void)state;
    assert_int_equal(s->engine, LAB_ENGINE_CLUSTER);
    assert_true(s->cluster.nodes == 9 && s->cluster.replication_factor == 5 && s->cluster.num_tokens == 8);
    assert_int_equal(network->seed, 7);
    assert_int_equal(network->client_count, 16);
    assert_int_equal(network->datacenter_count, 2);
    check_datacenter(&network->datacenters[0], "dc1", 6, 3, 2);
    check_datacenter(&network->datacenters[1], "dc2", 3, 1, 3);
    assert_int_equal(network->num_tokens, 8);
    assert_int_equal(s->consistency.write, CASS_ANY);
    assert_int_equal(s->consistency.read, CASS_TWO);
    assert_int_equal(s->consistency.state, CASS_EACH_QUORUM);
    assert_int_equal(s->consistency.serial, CASS_SERIAL);
    check_distribution(&network->latency_ns, SIM_SIZE_LOGNORMAL, 400e3, 0.3);
    check_distribution(&network->latency_between_ns, SIM_SIZE_UNIFORM, 1e6, 3e6);
    assert_true(network->loss == 0.01 && network->duplicate == 0.02);
    assert_int_equal(network->concurrency, 16);
    assert_true(network->write_ns == 81 * SIM_US && network->read_ns == 182 * SIM_US);
    assert_true(network->scan_row_ns == 3 * SIM_US && network->scan_tombstone_ns == 4 * SIM_US);
    assert_true(network->gc_every_ns == SIM_MINUTE && network->gc_lasts_ns == 51 * SIM_MS);
    assert_true(network->timeout_write_ns == SIM_SECOND && network->timeout_read_ns == 3 * SIM_SECOND);
    assert_true(network->timeout_counter_ns == 4 * SIM_SECOND && network->timeout_cas_ns == 2 * SIM_SECOND);
    assert_int_equal(network->paxos, CASS_PAXOS_V2);
    lab_scenario_destroy(s);
}

static void test_agents_with_every_field_are_read_whole(void **state)
{
    struct lab_scenario *s = scenario_of("", everything);
    const struct lab_agents *agents = &s->agents;
    (void)state;
    assert_true(agents->present);
    assert_int_equal(agents->count, 16);
    assert_true(agents->cache_ttl_ns == 4 * SIM_SECOND && agents->cache_entries == 1000);
    assert_true(agents->clock_offset_ns == 50 * SIM_MS && agents->clock_bound_ns == 100 * SIM_MS);
    assert_true(agents->clock_drift == 20e-6);
    assert_true(agents->retries == 2 && agents->counter_retries == 1 && agents->operations == 77);
    assert_true(agents->timeout_ns == 11 * SIM_SECOND && agents->restart_ns == 9 * SIM_SECOND);
    lab_scenario_destroy(s);
}

static void test_strategies_of_agents_are_read_whole(void **state)
{
    struct lab_scenario *s = scenario_of("", everything);
    const struct lab_strategy *strategy = s->strategies;
    (void)state;
    assert_int_equal(s->strategy_count, 6);
    assert_int_equal(strategy[0].settings.coordination, BK_THREE_STATE);
    assert_int_equal(strategy[0].settings.counter, BK_COUNTER_LWT);
    assert_true(strategy[0].settings.lead_ns == 10 * SIM_SECOND);
    assert_true(strategy[0].settings.lock_lasts_ns == 0 && strategy[0].settings.lock_backoff_ns == 0);
    assert_int_equal(strategy[1].settings.coordination, BK_LOCKED);
    assert_int_equal(strategy[1].settings.counter, BK_COUNTER_RMW);
    assert_true(strategy[1].settings.lock_lasts_ns == 6 * SIM_SECOND &&
                strategy[1].settings.lock_backoff_ns == 7 * SIM_MS);
    assert_int_equal(strategy[1].settings.lead_ns, 0);
    assert_int_equal(strategy[2].settings.coordination, BK_SINGLE);
    assert_int_equal(strategy[2].settings.counter, BK_COUNTER_NATIVE);
    for (int i = 3; i < 5; i++) {
        assert_int_equal(strategy[i].settings.coordination, BK_GUARDED);
        assert_int_equal(strategy[i].settings.counter, BK_COUNTER_NATIVE);
        assert_true(strategy[i].settings.grant_ns == (i == 3 ? 3 : 10) * SIM_SECOND);
        assert_true(strategy[i].settings.lead_ns == 0 && strategy[i].settings.lock_lasts_ns == 0);
    }
    assert_true(strategy[0].settings.grant_ns == 0 && strategy[1].settings.grant_ns == 0 &&
                strategy[2].settings.grant_ns == 0);
    assert_int_equal(strategy[5].settings.coordination, BK_SINGLE);
    assert_int_equal(strategy[5].settings.strategy.of.hash.buckets, 65536);
    lab_scenario_destroy(s);
}

static const struct lab_fault wanted_faults[] = {
    {1 << LAB_FAULT_NODE_DOWN, SIM_HOUR, 10 * SIM_MINUTE, 0, INT64_MAX, 8, {{0}}, 10, 0, 0, 6, 5},
    {1 << LAB_FAULT_SLOW_NODE, 0, SIM_DAY, 0, INT64_MAX, 0, {{0}}, 2.5, 0, 0, 7, 5},
    {1 << LAB_FAULT_GC_STORM, 2 * SIM_HOUR, INT64_MAX, 0, INT64_MAX, 1, {{0}}, 10, 0, 0, 8, 5},
    {1 << LAB_FAULT_NETWORK_PARTITION,
     2 * SIM_HOUR,
     30 * SIM_SECOND,
     0,
     INT64_MAX,
     UINT32_MAX,
     {{LAB_GROUP_AGENTS, 0}, {LAB_GROUP_DATACENTER, 1}},
     10,
     0,
     0,
     9,
     5},
    {1 << LAB_FAULT_NETWORK_PARTITION,
     2 * SIM_HOUR,
     INT64_MAX,
     0,
     INT64_MAX,
     UINT32_MAX,
     {{LAB_GROUP_AGENT, 15}, {LAB_GROUP_NODE, 8}},
     10,
     0,
     0,
     10,
     5},
    {1 << LAB_FAULT_LOST_MESSAGE,
     3 * SIM_HOUR,
     SIM_SECOND,
     0,
     INT64_MAX,
     UINT32_MAX,
     {{0}},
     0.01,
     0,
     0,
     11,
     5},
    {1 << LAB_FAULT_DUPLICATE_MESSAGE,
     3 * SIM_HOUR,
     INT64_MAX,
     0,
     INT64_MAX,
     UINT32_MAX,
     {{0}},
     1.0,
     0,
     0,
     12,
     5},
    {1 << LAB_FAULT_DELAY, 3 * SIM_HOUR, INT64_MAX, 0, INT64_MAX, UINT32_MAX, {{0}}, 0.5, 0, 0, 13, 5},
    {1 << LAB_FAULT_HINT_LOSS, 4 * SIM_HOUR, INT64_MAX, 0, INT64_MAX, 2, {{0}}, 10, 0, 0, 14, 5},
    {1 << LAB_FAULT_AGENT_CRASH,
     0,
     9 * SIM_SECOND,
     1.0 / 3600,
     INT64_MAX,
     UINT32_MAX,
     {{0}},
     10,
     0,
     0,
     15,
     5},
    {1 << LAB_FAULT_AGENT_CRASH, 5 * SIM_HOUR, SIM_MINUTE, 0, INT64_MAX, 15, {{0}}, 10, 0, 0, 16, 5},
    {1 << LAB_FAULT_CLOCK_JUMP,
     3 * SIM_HOUR,
     INT64_MAX,
     0,
     INT64_MAX,
     4,
     {{0}},
     10,
     -2 * SIM_SECOND,
     0,
     17,
     5},
    {1 << LAB_FAULT_NODE_DOWN | 1 << LAB_FAULT_NETWORK_PARTITION | 1 << LAB_FAULT_CLOCK_JUMP,
     0,
     4 * SIM_SECOND,
     6.0 / 3600,
     20 * SIM_HOUR,
     UINT32_MAX,
     {{0}},
     10,
     2 * SIM_SECOND,
     0,
     18,
     5},
};

static void test_faults_of_every_kind_are_read_whole(void **state)
{
    struct lab_scenario *s = scenario_of("", everything);
    (void)state;
    assert_int_equal(s->fault_count, COUNT(wanted_faults));
    for (size_t i = 0; i < COUNT(wanted_faults); i++) {
        const struct lab_fault *fault = &s->faults[i], *wanted = &wanted_faults[i];
        bool is_right = fault->kinds == wanted->kinds && fault->at_ns == wanted->at_ns &&
                        fault->lasts_ns == wanted->lasts_ns && fault->rate_per_s == wanted->rate_per_s &&
                        fault->until_ns == wanted->until_ns && fault->target == wanted->target &&
                        memcmp(fault->between, wanted->between, sizeof fault->between) == 0 &&
                        fault->factor == wanted->factor && fault->line == wanted->line &&
                        fault->column == wanted->column;
        bool has_by = (wanted->kinds & 1 << LAB_FAULT_CLOCK_JUMP) != 0;
        if (!is_right || (has_by && fault->by_ns != wanted->by_ns))
            fail_msg("the fault at line %d", wanted->line);
    }
    lab_scenario_destroy(s);
}

static void test_network_without_options_has_the_defaults(void **state)
{
    struct lab_scenario *s = scenario_of("", HEAD TAIL "agents: {count: 8}\n");
    const struct cass_cluster_config *network = &s->network;
    (void)state;
    assert_true(network->seed == 1 && network->client_count == 8 && network->datacenter_count == 1);
    assert_true(network->latency_ns.kind == SIM_SIZE_LOGNORMAL && network->latency_ns.a == 500e3 &&
                network->latency_ns.b == 0.4);
    assert_true(network->latency_between_ns.kind == SIM_SIZE_LOGNORMAL &&
                network->latency_between_ns.a == 40e6 && network->latency_between_ns.b == 0.1);
    assert_true(network->loss == 0.0 && network->duplicate == 0.0 && network->concurrency == 32);
    assert_true(network->write_ns == 80 * SIM_US && network->read_ns == 180 * SIM_US);
    assert_true(network->scan_row_ns == SIM_US && network->scan_tombstone_ns == SIM_US);
    assert_true(network->gc_every_ns == 30 * SIM_SECOND && network->gc_lasts_ns == 50 * SIM_MS);
    assert_true(network->timeout_write_ns == 2 * SIM_SECOND && network->timeout_read_ns == 5 * SIM_SECOND);
    assert_true(network->timeout_counter_ns == 5 * SIM_SECOND && network->timeout_cas_ns == SIM_SECOND);
    assert_true(network->paxos == CASS_PAXOS_V1 && network->num_tokens == 16);
    /* The mock sets what no field sets. */
    assert_true(network->detect_ns > 0 && network->hint_window_ns > 0 && network->tombstone_fail > 0);
    lab_scenario_destroy(s);
}

static void test_agents_without_options_have_the_defaults(void **state)
{
    struct lab_scenario *s = scenario_of("", HEAD TAIL "agents: {count: 8}\n");
    (void)state;
    /* One rack, so that the ring is the stream engine's. */
    check_datacenter(&s->network.datacenters[0], "dc1", 6, 1, 3);
    assert_true(s->cluster.nodes == 6 && s->cluster.replication_factor == 3 && s->cluster.num_tokens == 16);
    assert_int_equal(s->consistency.write, CASS_LOCAL_QUORUM);
    assert_int_equal(s->consistency.read, CASS_LOCAL_QUORUM);
    assert_int_equal(s->consistency.state, CASS_LOCAL_QUORUM);
    assert_int_equal(s->consistency.serial, CASS_LOCAL_SERIAL);
    const struct lab_agents *agents = &s->agents;
    assert_true(agents->cache_ttl_ns == 5 * SIM_SECOND && agents->cache_entries == 100000);
    assert_true(agents->clock_offset_ns == 0 && agents->clock_drift == 0.0 && agents->clock_bound_ns == 0);
    assert_true(agents->retries == 3 && agents->counter_retries == 0 && agents->operations == 0);
    assert_true(agents->timeout_ns == 12 * SIM_SECOND && agents->restart_ns == 5 * SIM_SECOND);
    assert_true(s->fault_count == 0 && s->faults == NULL);
    assert_true(s->strategies[0].settings.coordination == BK_SINGLE &&
                s->strategies[0].settings.counter == BK_COUNTER_RMW);
    lab_scenario_destroy(s);

    s = scenario_of(
        "", HEAD "cluster: {nodes: 2, consistency: {state: ONE}, network: {loss: 5%}}\n"
                 "agents: {count: 1, clock: {offset: 20ms}, cache_ttl: 0s}\n"
                 "strategies:\n  - probabilistic: {bits: 1, threshold: 1, coordination: locked, lock: {}}\n");
    check_datacenter(&s->network.datacenters[0], "dc1", 2, 1, 2);
    assert_true(s->network.loss == 0.05 && s->network.duplicate == 0.0);
    assert_true(s->consistency.state == CASS_ONE && s->consistency.read == CASS_LOCAL_QUORUM);
    assert_true(s->agents.clock_bound_ns == 20 * SIM_MS && s->agents.cache_ttl_ns == 0);
    assert_true(s->strategies[0].settings.lock_lasts_ns == 5 * SIM_SECOND);
    assert_true(s->strategies[0].settings.lock_backoff_ns == 100 * SIM_MS);
    lab_scenario_destroy(s);
}

static void test_faults_without_figures_have_the_defaults(void **state)
{
    struct lab_scenario *s =
        scenario_of("", HEAD TAIL "agents: {count: 1}\nfaults:\n"
                                  "  - {slow_node: {node: 5, at: 1s}}\n"
                                  "  - {delay: {at: 1s}}\n"
                                  "  - {lost_message: {at: 1s}}\n"
                                  "  - {duplicate_message: {at: 1s}}\n"
                                  "  - {random: {rate: 1/h}}\n"
                                  "  - {agent_crash: {agent: 0, at: 1s}}\n"
                                  "  - {network_partition: {between: [node 0, dc1], at: 1s, lasts: 292y}}\n"
                                  "  - {clock_jump: {agent: 0, at: 1s, by: +1ns}, network_partition: null}\n"
                                  "  - {late_message: {at: 1s}}\n"
                                  "  - {state_restored: {key: 0, at: 1s}}\n"
                                  "  - {paxos_loss: {node: 5, at: 1s}}\n"
                                  "  - {agent_pause: {agent: 0, at: 1s, lasts: 3s}}\n"
                                  "  - {agent_crash: {agent: 0, at: 9s, checkpoint: 4s}}\n");
    const struct lab_fault *fault = s->faults;
    (void)state;
    assert_true(fault[0].factor == 10.0 && fault[1].factor == 10.0);
    assert_true(fault[2].factor == 0.05 && fault[3].factor == 0.05);
    assert_int_equal(fault[4].kinds, (1u << LAB_FAULT_AGENT_PAUSE) - 1);
    assert_true(fault[4].lasts_ns == 30 * SIM_SECOND && fault[4].until_ns == INT64_MAX);
    assert_true(fault[4].by_ns == 2 * SIM_SECOND && fault[4].factor == 10.0);
    assert_true(fault[5].lasts_ns == 5 * SIM_SECOND);
    /* Virtual time itself ends earlier. */
    assert_true(fault[6].lasts_ns == INT64_MAX);
    assert_true(fault[7].by_ns == 1 && fault[7].kinds == 1u << LAB_FAULT_CLOCK_JUMP);
    assert_true(fault[8].factor == 0.01 && fault[8].by_ns == SIM_MINUTE);
    assert_true(fault[9].age_ns == 30 * SIM_SECOND && fault[9].target == 0);
    assert_true(fault[10].age_ns == 10 * SIM_SECOND && fault[10].target == 5);
    assert_true(fault[11].lasts_ns == 3 * SIM_SECOND && fault[11].kinds == 1u << LAB_FAULT_AGENT_PAUSE);
    assert_true(fault[12].age_ns == 4 * SIM_SECOND && fault[5].age_ns == 0);
    lab_scenario_destroy(s);
}

static void test_latency_spellings_give_equal_distributions(void **state)
{
    static const struct {
        const char *text;
        struct sim_size distribution;
    } cases[] = {
        {"0s", {SIM_SIZE_CONSTANT, 0, 0, 0}},
        {"0us", {SIM_SIZE_CONSTANT, 0, 0, 0}},
        {"1.5ms", {SIM_SIZE_CONSTANT, 1.5e6, 0, 0}},
        {"1h", {SIM_SIZE_CONSTANT, 3.6e12, 0, 0}},
        {"{uniform: [1ns, 1ns]}", {SIM_SIZE_UNIFORM, 1, 1, 0}},
        {"{uniform: [200us, 1ms]}", {SIM_SIZE_UNIFORM, 2e5, 1e6, 0}},
        {"{lognormal: {sigma: 0, mean: 1ns}}", {SIM_SIZE_LOGNORMAL, 1, 0, 0}},
        {"{lognormal: {mean: 500us, sigma: 10}, uniform: null}", {SIM_SIZE_LOGNORMAL, 5e5, 10, 0}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "%scluster: {network: {latency: %s}}\n", HEAD TAIL, cases[i].text);
        struct lab_scenario *s = scenario_of("", text);
        check_distribution(&s->network.latency_ns, cases[i].distribution.kind, cases[i].distribution.a,
                           cases[i].distribution.b);
        /* The latency to another datacenter is unchanged. */
        assert_true(s->network.latency_between_ns.a == 40e6 && s->network.latency_between_ns.b == 0.1);
        lab_scenario_destroy(s);
        snprintf(text, sizeof text, "%scluster: {network: {between: %s}}\n", HEAD TAIL, cases[i].text);
        s = scenario_of("", text);
        check_distribution(&s->network.latency_between_ns, cases[i].distribution.kind,
                           cases[i].distribution.a, cases[i].distribution.b);
        assert_true(s->network.latency_ns.a == 500e3 && s->network.latency_ns.b == 0.4);
        lab_scenario_destroy(s);
    }
}

static void test_engine_follows_from_agents(void **state)
{
    static const struct {
        const char *text;
        enum lab_engine engine;
    } cases[] = {
        {"", LAB_ENGINE_AUTO},
        {"engine: exact\n", LAB_ENGINE_EXACT},
        {"agents: null\nfaults: []\nengine: exact\n", LAB_ENGINE_EXACT},
        {"cluster: {node: {write: 1us}, lwt: paxos-v2}\n", LAB_ENGINE_AUTO},
        {"agents: {count: 1}\n", LAB_ENGINE_CLUSTER},
        {"engine: auto\nagents: {count: 1}\n", LAB_ENGINE_CLUSTER},
        {"engine: cluster\nagents: {count: 1}\nfaults: null\n", LAB_ENGINE_CLUSTER},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", HEAD TAIL, cases[i].text);
        struct lab_scenario *s = scenario_of("", text);
        assert_int_equal(s->engine, cases[i].engine);
        assert_true(s->agents.present == (cases[i].engine == LAB_ENGINE_CLUSTER));
        lab_scenario_destroy(s);
    }
}

/* 172.8 million rows. Each segment of a key needs 32 rows: the whole run; or 8: 96 steps of a day, or 22
 * spans with bursts and between them. */
static void test_engine_is_thinned_where_that_is_faster(void **state)
{
    static const struct {
        const char *keys, *arrivals;
        enum lab_engine engine;
    } cases[] = {
        {"5000000", "", LAB_ENGINE_THINNED},
        {"6000000", "", LAB_ENGINE_AUTO},
        {"220000", ", daily: {amplitude: 0.5, peak: 20h}", LAB_ENGINE_THINNED},
        {"230000", ", daily: {amplitude: 0.5, peak: 20h}", LAB_ENGINE_AUTO},
        {"900000", ", bursts: {on: 10m, off: 2h, factor: 10}", LAB_ENGINE_THINNED},
        {"1000000", ", bursts: {on: 10m, off: 2h, factor: 10}", LAB_ENGINE_AUTO},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "duration: 1d\nkeys: {count: %s}\narrivals: {rate: 2000/s%s}\n" TAIL,
                 cases[i].keys, cases[i].arrivals);
        struct lab_scenario *s = scenario_of("", text);
        assert_int_equal(s->engine, cases[i].engine);
        lab_scenario_destroy(s);
    }
}

static void test_values_at_the_bounds_are_accepted(void **state)
{
    static const char *const texts[] = {
        "agents: {count: 4096, cache_entries: 16777216, clock: {drift: 100000ppm, offset: 1s, bound: 1s}}\n"
        "cluster: {nodes: 1024, replication_factor: 32, num_tokens: 1}\n",
        "agents: {count: 1, retries: 1000, restart: 1ns, operations: 4096}\ncluster: {nodes: 1, consistency: "
        "{write: ALL}}\n"
        "faults: [{node_down: {node: 0, at: 86399s}}, {random: {rate: 1000/s, until: 24h}}]\n",
        /* Agent 0 is the only agent, in the only datacenter with replicas. */
        "agents: {count: 1}\ncluster: {datacenters: {a: {nodes: 1}, b: {nodes: 1, replication_factor: 0}}}\n",
        "agents: {count: 2}\ncluster: {datacenters: {a: {nodes: 2}, b: {nodes: 1, replication_factor: 0}}, "
        "consistency: {write: TWO, read: QUORUM, state: ONE, serial: SERIAL}}\n",
        /* Without agents only the ring matters. */
        "cluster: {nodes: 65535, replication_factor: 64, num_tokens: 1}\n",
        "cluster: {datacenters: {a: {nodes: 3}, b: {nodes: 1, racks: 1, replication_factor: 0}}}\n",
        "cluster: {network: {loss: 60%, duplicate: 40%}, node: {gc: {every: 0s, lasts: 0s}, write: 0s}}\n",
        "cluster: {datacenters: {a: {nodes: 9}, B-2_cdefghijklmnopqrstuvwxyz012: null, "
        "B-2_cdefghijklmnopqrstuvwxyz01: {nodes: 1}}}\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", HEAD TAIL, texts[i]);
        lab_scenario_destroy(scenario_of("", text));
    }
    /* Only the file of a trace knows the trace's length. */
    lab_scenario_destroy(scenario_of("", TAIL
                                     "trace: {file: a.csv}\nagents: {count: 1}\n"
                                     "faults: [{delay: {at: 90d}}, {random: {rate: 1/h, until: 100d}}]\n"));
}

static double metric_of(const struct lab_result *result, const char *name)
{
    const struct lab_metric *metric = lab_result_find(result, name);
    if (metric == NULL)
        fail_msg("no metric %s", name);
    return metric->value;
}

/* hash with a bucket: the same rows in one datacenter, in the same datacenter spelt out, and in two
 * datacenters of which one has no replica: the nodes of that one have nothing to do. */
static void test_datacenters_are_the_ring_of_the_stream_engine(void **state)
{
    static const char *const clusters[] = {
        "cluster: {nodes: 6, num_tokens: 4}\n", "cluster: {datacenters: {a: {nodes: 6}}, num_tokens: 4}\n",
        "cluster: {datacenters: {a: {nodes: 6, racks: 3}}, num_tokens: 4}\n",
        "cluster: {datacenters: {a: {nodes: 6}, b: {nodes: 6, replication_factor: 0}}, num_tokens: 4}\n"};
    double most[COUNT(clusters)], least[COUNT(clusters)];
    (void)state;
    for (size_t i = 0; i < COUNT(clusters); i++) {
        char text[512];
        snprintf(text, sizeof text, "%s%s", HEAD TAIL, clusters[i]);
        struct lab_scenario *s = scenario_of("", text);
        struct lab_result *result;
        struct sim_error error;
        if (!lab_run(s, 1, NULL, &result, &error))
            fail_msg("%s", error.text);
        most[i] = metric_of(result, "unbucketed.nodes.load_share_max");
        least[i] = metric_of(result, "unbucketed.nodes.load_share_min");
        lab_result_destroy(result);
        lab_scenario_destroy(s);
    }
    assert_true(most[0] == most[1] && least[0] == least[1]);
    assert_true(most[2] != most[0] || least[2] != least[0]);
    assert_true(least[0] > 0 && least[3] == 0.0 && most[3] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cluster_with_every_field_is_read_whole),
        cmocka_unit_test(test_agents_with_every_field_are_read_whole),
        cmocka_unit_test(test_strategies_of_agents_are_read_whole),
        cmocka_unit_test(test_faults_of_every_kind_are_read_whole),
        cmocka_unit_test(test_network_without_options_has_the_defaults),
        cmocka_unit_test(test_agents_without_options_have_the_defaults),
        cmocka_unit_test(test_faults_without_figures_have_the_defaults),
        cmocka_unit_test(test_latency_spellings_give_equal_distributions),
        cmocka_unit_test(test_engine_follows_from_agents),
        cmocka_unit_test(test_engine_is_thinned_where_that_is_faster),
        cmocka_unit_test(test_values_at_the_bounds_are_accepted),
        cmocka_unit_test(test_datacenters_are_the_ring_of_the_stream_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
