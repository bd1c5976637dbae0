/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an agent's twin, which resumes from the agent's own checkpoint, is reported as soon as it requests
 * something else, and changes nothing of a run. Method: runs of every protocol with twins and without; and an
 * agent on the oracles' test stand whose twin misses an event. */
#include "cluster_agents.h"
#include "events.h"
#include "oracle_stand.h"
#include "run_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char of_rows[] =
    "keys: {count: 6}\narrivals: {rate: 20/s}\nreads: {latest: {rows: 9, rate: 2/s}}\n",
                  of_identifiers[] = "identifiers: {think: 50ms}\n";

static struct lab_result *run_twins(const char *workload, const char *twin, const char *strategy)
{
    return run_filled(
        "name: twins\nduration: 60s\n%scluster: {nodes: 3, replication_factor: 3}\n"
        "agents: {count: 2, cache_entries: 4, operations: 32, restart: 2s%s}\n"
        "faults:\n  - agent_crash: {agent: 0, at: 20s}\n  - agent_pause: {agent: 1, at: 30s, lasts: 2s}\n"
        "  - agent_crash: {agent: 1, at: 40s%s}\n  - lost_message: {chance: 5%%, at: 10s, "
        "lasts: 30s}\nstrategies: [%s]\n",
        workload, twin, workload == of_rows ? ", checkpoint: 5s" : "", strategy);
}

static void test_twins_of_every_protocol_change_nothing(void **state)
{
    (void)state;
    static const char *const strategies[] = {
        "unbucketed: {}",
        "time: {window: 5s, read: {remember_empty: true, late: 1s}}",
        "hash: {buckets: 4}",
        "count: {rows: 20, counter: external}",
        "count: {rows: 20, counter: counter}",
        "count: {rows: 20, counter: lwt}",
        "count: {rows: 20, counter: lease, batch: 7}",
        "count: {rows: 20, counter: incremental, every_rows: 5}",
        "count: {rows: 20, counter: scan, every_rows: 5}",
        "count: {rows: 20, counter: memory}",
        "probabilistic: {bits: 2, threshold: 5, then: [{at: 25s, bits: 1, threshold: 3, rollout: 5s}]}",
        "probabilistic: {bits: 2, threshold: 5, counter: lwt, coordination: locked}",
        "probabilistic: {bits: 2, threshold: 5, counter: counter, coordination: three-state, lead: 6s}",
        "weighted: {bytes: 500B, threshold: 5, coordination: guarded, grant: 2s}",
        "idgen: {batch: 5, lock: columns, lock_lasts: 2s, backoff: {random: 20ms}}",
        "idgen: {batch: 3, stripes: 2, lock: lwt, lock_lasts: 2s, backoff: {exponential: 5ms, attempts: 3}}",
    };
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        const char *workload = strncmp(strategies[i], "idgen", 5) == 0 ? of_identifiers : of_rows;
        struct lab_result *alone = run_twins(workload, "", strategies[i]),
                          *beside = run_twins(workload, ", twin: 30%", strategies[i]);
        const struct lab_verdict *verdict = &beside->strategies[0].verdict;
        assert_false(alone->strategies[0].verdict.is_judged[LAB_ORACLE_RESTORED]);
        assert_true(verdict->is_judged[LAB_ORACLE_RESTORED]);
        if (verdict->violations[LAB_ORACLE_RESTORED].count > 0)
            fail_msg("%s: %s", strategies[i], verdict->violations[LAB_ORACLE_RESTORED].text);
        assert_true(verdict->probes[LAB_PROBE_RESTORED] > 100);
        assert_true(alone->strategies[0].events.digest == beside->strategies[0].events.digest);
    }
}

enum deafness { DEAF_TO_NOTHING, DEAF_TO_ROW, DEAF_TO_OUTCOME, DEAF_COUNT };

/* One row, whose start or outcome the twin does not receive. */
static uint64_t differences(enum deafness deafness)
{
    static struct stand stand;
    struct lab_host_agent agent = {.is_up = true};
    struct bk_row row = {.time_ns = SIM_SECOND, .id = 7};
    struct bk_outcome none = {.kind = BK_OUTCOME_APPLIED};
    struct bk_action action;
    uint32_t operation;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.agents.twin_share = 1e-9;
    struct lab_cluster_run *run = &stand.run;
    struct lab_host_operation *operations = calloc(1, sizeof *operations);
    run->agents = &agent;
    run->config.cache_entries = 4;
    run->config.operations = 1;
    assert_int_equal(bk_history_begin(&run->config.strategy, &agent.history), BK_OK);
    agent.operations = operations;
    struct bk_agent_config config = lab_agent_config(run, 0);
    agent.memory = malloc(bk_agent_size(&config));
    assert_non_null(agent.memory);
    assert_int_equal(bk_agent_init(agent.memory, bk_agent_size(&config), &config, &agent.agent), BK_OK);
    run->agent_count = 1;
    stand_open(&stand);
    assert_int_equal(bk_agent_write(agent.agent, 0, 0, &row, &operation), BK_OK);
    if (deafness != DEAF_TO_ROW)
        cluster_emit_of(run, ROW_TAKEN, 0, &operations[operation], .row = &row);
    for (int i = 0; i < 2; i++) {
        assert_true(bk_agent_next(agent.agent, &action));
        operations[operation].ticket = action.ticket;
        operations[operation].outcome = none;
        cluster_emit_of(run, ACTED, 0, &operations[operation], .action = &action);
        cluster_emit(run, AGENT_RESTS, .agent = 0);
        assert_int_equal(bk_agent_report(agent.agent, 1, action.ticket, &none), BK_OK);
        if (deafness != DEAF_TO_OUTCOME)
            cluster_emit_of(run, TOLD, 0, &operations[operation], .time_ns = 1);
    }
    uint64_t violations = stand_violations(&stand, LAB_ORACLE_RESTORED);
    free(agent.memory);
    free(operations);
    run->agents = NULL;
    run->agent_count = 0;
    return violations;
}

static void test_twin_that_differs_is_reported_once(void **state)
{
    (void)state;
    for (enum deafness deafness = DEAF_TO_NOTHING; deafness < DEAF_COUNT; deafness++)
        assert_int_equal(differences(deafness), deafness != DEAF_TO_NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        runs_test(test_twins_of_every_protocol_change_nothing),
        cmocka_unit_test(test_twin_that_differs_is_reported_once),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
