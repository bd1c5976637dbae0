/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: faults of the cluster engine that overlap, come at the very start or end of the run, never end, or are
 * far too many have exactly their described effect, and operations that they leave open are counted
 * correctly. Method: runs whose figures are known in advance, or that are compared with a run without the
 * fault that must not matter. */
#include <math.h>
#include <stdlib.h>

#include "run_of.h"

#define KEYS                                                                                                 \
    "name: faults\n"                                                                                         \
    "duration: 5m\n"                                                                                         \
    "keys: {count: 3}\n"                                                                                     \
    "arrivals: {rate: 20/s}\n"                                                                               \
    "row: {bytes: 100}\n"
#define NODES "cluster: {nodes: 3, replication_factor: 3}\n"
#define NONE  "strategies: [unbucketed: {}]\n"

/* The lines of an event trace within a time range that contain all of these words. */
struct lines {
    const char *words[2];
    double from_s, until_s;
    int count;
    double first_s;
    struct lab_result *result;
};

static void count_lines(void *context, const char *text)
{
    struct lines *lines = context;
    double at_s = strtod(text, NULL);
    if (at_s < lines->from_s || at_s >= lines->until_s || strstr(text, lines->words[0]) == NULL ||
        strstr(text, lines->words[1]) == NULL)
        return;
    if (lines->count++ == 0)
        lines->first_s = at_s;
}

static struct lines lines_of(const char *text, const char *word, const char *other, double from_s,
                             double until_s)
{
    struct lines lines = {{word, other}, from_s, until_s, 0, 0, NULL};
    const struct lab_event_trace event_trace = {.context = &lines, .line = count_lines};
    struct lab_scenario *scenario = scenario_of("", text);
    lines.result = run_in(scenario, 1, &event_trace);
    lab_scenario_destroy(scenario);
    return lines;
}

/* Runs the same scenario again with `count` faults of this kind before the others. */
static struct lab_result *run_many(const char *before, const char *fault, int count, const char *after)
{
    size_t size = strlen(before) + strlen(after) + (size_t)count * (strlen(fault) + 1) + 32;
    char *text = malloc(size);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, size, "%sfaults:\n", before);
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, size - used, "%s", fault);
    snprintf(text + used, size - used, "%s", after);
    struct lab_result *result = run(text);
    free(text);
    return result;
}

static void test_fault_agent_with_overlapping_crashes_restarts_after_both(void **state)
{
    (void)state;
    struct lines back = lines_of(KEYS NODES "agents: {count: 1}\nfaults:\n"
                                            "  - {agent_crash: {agent: 0, at: 10s, lasts: 20s}}\n"
                                            "  - {agent_crash: {agent: 0, at: 15s, lasts: 40s}}\n"
                                            "  - {agent_crash: {agent: 0, at: 20s, lasts: 1s}}\n" NONE,
                                 "agent 0 is back", "", 0, 1e9);
    assert_int_equal(back.count, 1);
    assert_true(back.first_s == 55);
    double refused = metric(back.result, "writes.refused");
    assert_true(refused > 700 && refused < 1100); /* 45 s at 20 rows/s */
}

static void test_fault_all_agents_down_from_the_start_refuses_all(void **state)
{
    (void)state;
    struct lab_result *result =
        run(KEYS NODES "agents: {count: 2}\nreads: {latest: {rows: 5, rate: 1/s}}\nfaults:\n"
                       "  - {agent_crash: {agent: 0, at: 0s, lasts: 1000d}}\n"
                       "  - {agent_crash: {agent: 1, at: 0s, lasts: 1000d}}\n" NONE);
    assert_true(result->rows > 5000);
    assert_true(metric(result, "writes.refused") == (double)result->rows);
    assert_true(metric(result, "writes.unresolved") == 0);
    assert_true(metric(result, "reads.count") == 0);
}

static void test_fault_without_end_still_accounts_for_all_rows(void **state)
{
    (void)state;
    static const char *const kinds[] = {"node_down: {node: 0", "gc_storm: {node: 0",
                                        "lost_message: {chance: 100%", "slow_node: {node: 0, factor: 1e6",
                                        "delay: {factor: 1e6"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct lab_result *result =
            run_filled("%scluster: {nodes: 1, replication_factor: 1}\nagents: {count: 3}\n"
                       "faults:\n  - {%s, at: 0s}}\n  - {%s, at: 299999ms}}\n"
                       "strategies: [probabilistic: {bits: 1, threshold: 3, coordination: locked}]\n",
                       KEYS, kinds[i], kinds[i]);
        double lost = metric(result, "writes.refused") + metric(result, "writes.unresolved");
        if (lost != (double)result->rows)
            fail_msg("%s: %.0f of %.0f rows", kinds[i], lost, (double)result->rows);
    }
}

#define PAUSED                                                                                               \
    KEYS NODES "agents: {count: 2}\nfaults:\n  - {agent_pause: {agent: 0, at: 1m, lasts: 2m}}\n"             \
               "strategies: [probabilistic: {bits: 1, threshold: 9, coordination: guarded, grant: 5s}]\n"

/* The agent hears one event during the pause. The actions that it then requests, and later events, wait until
 * the pause is over. */
static void test_fault_paused_agent_handles_one_event_and_acts_after_the_pause(void **state)
{
    (void)state;
    struct lines heard = lines_of(PAUSED, "agent 0", "", 60.0001, 179.9999);
    assert_int_equal(heard.count, 1);
    struct lines acts = lines_of(PAUSED, "agent 0 ", "", 180, 181);
    assert_true(acts.count > 1 && acts.first_s == 180);
    /* Meanwhile rows go to the other agent. */
    assert_true(lines_of(PAUSED, "agent 1 takes row", "", 60.5, 179).count > 2000);
    assert_int_equal(lines_of(PAUSED, "agent 0 takes row", "", 60.5, 179.9999).count, 0);
}

/* The later end of two pauses counts, and a crash ends both pauses. */
static void test_fault_overlapping_pauses_with_a_crash_end_correctly(void **state)
{
    (void)state;
    static const char twice[] =
        KEYS NODES "agents: {count: 2}\nfaults:\n  - {agent_pause: {agent: 0, at: 1m, lasts: 1m}}\n"
                   "  - {agent_pause: {agent: 0, at: 90s, lasts: 1m}}\n" NONE;
    assert_int_equal(lines_of(twice, "agent 0", "takes row", 61, 149.9999).count, 0);
    assert_true(lines_of(twice, "agent 0", "takes row", 150, 160).count > 0);
    static const char crashed[] =
        KEYS NODES "agents: {count: 2}\nfaults:\n  - {agent_pause: {agent: 0, at: 1m, lasts: 100s}}\n"
                   "  - {agent_crash: {agent: 0, at: 70s, lasts: 10s}}\n"
                   "  - {agent_pause: {agent: 0, at: 100s, lasts: 20s}}\n" NONE;
    assert_true(lines_of(crashed, "agent 0", "takes row", 80, 100).count > 100);
    assert_int_equal(lines_of(crashed, "agent 0", "takes row", 101, 119.9999).count, 0);
    assert_true(lines_of(crashed, "agent 0", "takes row", 120, 150).count > 100);
}

/* An agent need not read again what its checkpoint contains. */
static void test_fault_agent_from_a_checkpoint_keeps_its_knowledge(void **state)
{
    (void)state;
    char text[1024];
    static const char *const crashes[] = {"", ", checkpoint: 20s"};
    int reads[2];
    for (int i = 0; i < 2; i++) {
        snprintf(
            text, sizeof text,
            KEYS NODES
            "agents: {count: 1}\nfaults:\n  - {agent_crash: {agent: 0, at: 1m, lasts: 1s%s}}\n"
            "strategies: [probabilistic: {bits: 1, threshold: 9999, coordination: guarded, grant: 1h}]\n",
            crashes[i]);
        reads[i] = lines_of(text, "agent 0 reads the state", "", 61, 300).count;
    }
    assert_int_equal(reads[0], 3);
    assert_int_equal(reads[1], 0);
}

/* A key whose state is lost begins again; a key whose state is restored goes back to the older state. */
static void test_fault_lost_or_restored_state_goes_back(void **state)
{
    (void)state;
    static const char *const faults[] = {"state_lost: {key: 0, at: 2m}",
                                         "state_restored: {key: 0, at: 2m, age: 1m}"};
    for (int i = 0; i < 2; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 KEYS NODES "agents: {count: 3, cache_ttl: 1s}\nfaults:\n  - {%s}\n"
                            "strategies: [probabilistic: {bits: 0, threshold: 30}]\n",
                 faults[i]);
        assert_int_equal(
            lines_of(text, "key-0: the state goes back", i == 0 ? "to bucket 0" : "", 120, 120.1).count, 1);
        assert_int_equal(lines_of(text, "the state goes back", "key-1", 0, 300).count, 0);
    }
    /* A strategy without a state is not affected. */
    struct lab_result *with =
        run(KEYS NODES "agents: {count: 1}\nfaults:\n  - {state_lost: {key: 0, at: 1m}}\n"
                       "strategies: [hash: {buckets: 3}]\n");
    assert_true(metric(with, "oracle.findable.violations") == 0);
}

/* A late message arrives after its delay; no other message is delayed. */
static void test_fault_late_messages_arrive_after_their_time(void **state)
{
    (void)state;
    struct lab_result *result =
        run(KEYS NODES
            "agents: {count: 1}\nfaults:\n  - {late_message: {chance: 100%, by: 700ms, at: 0s}}\n" NONE);
    /* Messages go to the coordinator, to a replica, and back. */
    assert_true(metric(result, "latency.write.p50") > 1400);
    result = run(KEYS NODES "agents: {count: 1}\nfaults:\n  - {late_message: {chance: 100%, by: 700ms, at: "
                            "10s, lasts: 1s}}\n" NONE);
    assert_true(metric(result, "latency.write.p50") < 100);
}

/* The engine combines chances as 1 minus a product, which rounds a tiny chance by more than a small part of
 * it. */
static void test_fault_with_a_tiny_chance_of_loss_is_unchanged(void **state)
{
    (void)state;
    struct lab_result *result =
        run(KEYS "cluster: {nodes: 3, network: {loss: 0.0000001%, duplicate: 0.00000003%}}\n"
                 "agents: {count: 1}\nfaults:\n  - {delay: {factor: 2, at: 10s, lasts: 5s}}\n" NONE);
    const struct lab_violation *found = &result->strategies[0].verdict.violations[LAB_ORACLE_AVAILABLE];
    assert_true(result->strategies[0].verdict.is_judged[LAB_ORACLE_AVAILABLE]);
    if (found->count > 0)
        fail_msg("%llu: %s", (unsigned long long)found->count, found->text);
}

/* A fault within an equal fault changes nothing, and neither does its end: even the nodes that others believe
 * to be down stay the same. */
static void test_fault_within_an_equal_fault_changes_nothing(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"  - {network_partition: {between: [agents, node 1], at: 1m, lasts: 3m}}\n",
         "  - {network_partition: {between: [agent 0, node 1], at: 2m, lasts: 10s}}\n"},
        {"  - {network_partition: {between: [node 0, node 1], at: 1m, lasts: 3m}}\n",
         "  - {network_partition: {between: [node 1, node 0], at: 2m, lasts: 10s}}\n"},
        {"  - {node_down: {node: 1, at: 1m, lasts: 3m}}\n",
         "  - {node_down: {node: 1, at: 2m, lasts: 10s}}\n"},
        {"  - {gc_storm: {node: 1, at: 1m, lasts: 3m}}\n", "  - {gc_storm: {node: 1, at: 2m, lasts: 10s}}\n"},
        {"  - {slow_node: {node: 1, factor: 9, at: 1m, lasts: 3m}}\n",
         "  - {slow_node: {node: 1, factor: 1, at: 2m, lasts: 10s}}\n"},
        {"  - {delay: {factor: 9, at: 1m, lasts: 3m}}\n", "  - {delay: {factor: 1, at: 2m, lasts: 10s}}\n"},
        {"  - {lost_message: {chance: 5%, at: 1m, lasts: 3m}}\n",
         "  - {duplicate_message: {chance: 0.0000001%, at: 2m, lasts: 10s}}\n"}};
    static const char *const names[] = {"writes.retried", "writes.unresolved", "writes.refused",
                                        "latency.write.p99", "latency.write.p999"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct lab_result *one = run_many(KEYS NODES "agents: {count: 3}\n", pairs[i][0], 1, NONE);
        char after[512];
        snprintf(after, sizeof after, "%s%s", pairs[i][1], NONE);
        struct lab_result *two = run_many(KEYS NODES "agents: {count: 3}\n", pairs[i][0], 1, after);
        assert_same_metrics(two, one, "unbucketed", names, COUNT(names));
    }
}

static void test_fault_after_many_others_has_an_effect(void **state)
{
    (void)state;
    struct lab_result *result =
        run_many(KEYS "cluster: {nodes: 1, replication_factor: 1}\nagents: {count: 1}\n",
                 "  - {delay: {factor: 1, at: 0s}}\n", 999, "  - {node_down: {node: 0, at: 0s}}\n" NONE);
    assert_true(metric(result, "writes.refused") + metric(result, "writes.unresolved") ==
                (double)result->rows);
    /* Overlapping factors and repeated clock jumps are bounded. */
    run_many(KEYS NODES "agents: {count: 1}\n",
             "  - {slow_node: {node: 0, factor: 1e6, at: 1m, lasts: 2m}}\n", 500,
             "  - {delay: {factor: 1e6, at: 2m, lasts: 1s}}\n" NONE);
    const char *const by[] = {"  - {clock_jump: {agent: 0, at: 1m, by: 365d}}\n",
                              "  - {clock_jump: {agent: 0, at: 1m, by: -365d}}\n"};
    for (int i = 0; i < 2; i++) {
        result = run_many(KEYS NODES "agents: {count: 1}\n", by[i], 1000,
                          "strategies: [probabilistic: {bits: 1, threshold: 9, coordination: three-state, "
                          "lead: 1s}]\n");
        assert_true(metric(result, "writes.refused") + metric(result, "writes.unresolved") == 0);
    }
}

static void test_fault_long_runs_with_every_random_kind_end(void **state)
{
    (void)state;
    static const char *const lasts[] = {"1ns", "3s", "100000d", "80000d"};
    for (size_t i = 0; i < sizeof lasts / sizeof *lasts; i++) {
        char fault[128];
        snprintf(fault, sizeof fault, "  - {random: {rate: 2/s, until: 2m, lasts: %s}}\n", lasts[i]);
        struct lab_result *result =
            run_many(KEYS NODES "agents: {count: 4}\n", fault, 1,
                     "strategies: [probabilistic: {bits: 1, threshold: 9, coordination: three-state, lead: "
                     "1s}]\n");
        double stored = metric(result, "partitions.total") * metric(result, "partitions.all.rows.mean");
        double refused = metric(result, "writes.refused"), unresolved = metric(result, "writes.unresolved");
        assert_true(stored + refused <= (double)result->rows + 0.5);
        assert_true(stored + refused + unresolved >= (double)result->rows - 0.5);
    }
}

/* A drawn network partition separates one node from all agents: their requests to this node are never
 * answered. */
static void test_fault_random_network_partition_causes_retries(void **state)
{
    (void)state;
    struct lab_result *well = run(KEYS NODES "agents: {count: 2}\n" NONE);
    struct lab_result *separated = run(
        KEYS NODES "agents: {count: 2}\nfaults:\n"
                   "  - {random: {rate: 120/h, kinds: [network_partition], until: 4m, lasts: 5s}}\n" NONE);
    assert_true(metric(well, "writes.retried") == 0);
    assert_true(metric(separated, "writes.retried") > 0);
    assert_true(metric(separated, "writes.unresolved") == 0);
    assert_true(metric(separated, "writes.refused") == 0);
}

/* A drawn jump moves a clock forwards or backwards by at most 2 s: rows then go to windows of the future or
 * the past. */
static void test_fault_random_clock_jump_moves_rows_to_other_windows(void **state)
{
    (void)state;
#define WINDOWS "strategies: [time: {window: 10s}]\n"
    struct lab_result *well = run(KEYS NODES "agents: {count: 1}\n" WINDOWS);
    struct lab_result *jumps =
        run(KEYS NODES "agents: {count: 1}\nfaults:\n"
                       "  - {random: {rate: 120/h, kinds: [clock_jump], until: 4m}}\n" WINDOWS);
    assert_int_equal(well->rows, jumps->rows);
    assert_int_not_equal(well->strategies[0].placement_digest, jumps->strategies[0].placement_digest);
    assert_true(metric(jumps, "writes.refused") == 0);
}

/* Conditional updates find no quorum here, so counting remains pending long after the row is stored. */
static void test_fault_row_that_is_stored_is_not_unresolved_when_its_agent_crashes(void **state)
{
    (void)state;
    struct lab_result *result = run(
        KEYS "cluster: {nodes: 2, replication_factor: 2, consistency: {write: ONE, read: ONE, state: ONE}}\n"
             "agents: {count: 1, cache_ttl: 1h}\n"
             "faults:\n"
             "  - {network_partition: {between: [node 0, node 1], at: 1m, lasts: 4m}}\n"
             "  - {agent_crash: {agent: 0, at: 61s, lasts: 1h}}\n"
             "strategies: [probabilistic: {bits: 1, threshold: 100000, counter: lwt}]\n");
    assert_true(metric(result, "writes.increments_unresolved") > 3);
    assert_true(metric(result, "writes.unresolved") <= 1); /* at most one row at a time is being written */
}

static void test_fault_failed_step_of_a_read_counts_no_empty_partitions(void **state)
{
    (void)state;
    struct lab_result *result =
        run("name: faults\nduration: 10m\nkeys: {count: 1}\narrivals: {rate: 1/m}\nrow: {bytes: 100}\n"
            "reads: {latest: {rows: 5, rate: 2/s}}\n" NODES "agents: {count: 2}\n"
            "faults:\n  - {lost_message: {chance: 1%, at: 0s}}\n"
            "strategies: [hash: {buckets: 16}]\n");
    assert_true(metric(result, "reads.count") > 5);
    assert_true(metric(result, "reads.empty_partitions_per_read") <= 16);
    assert_true(metric(result, "reads.partitions_per_read.mean") == 16);
}

static void test_reads_continue_behind_the_last_row(void **state)
{
    (void)state;
    struct lab_result *result =
        run("name: faults\nduration: 10h\nkeys: {count: 1}\narrivals: {rate: 1/h}\nrow: {bytes: 100}\n"
            "reads: {latest: {rows: 5, rate: 360/h}}\n" NODES "agents: {count: 2}\n" NONE);
    assert_true(metric(result, "reads.count") > 3400);
    assert_true(metric(result, "reads.count") < 3800);
    assert_true(metric(result, "reads.incomplete") == 0);
}

/* One node with 10 ms of latency each way, and nothing else takes time: every latency is a multiple of 10 ms.
 */
static void test_figures_of_a_well_cluster_are_known_beforehand(void **state)
{
    (void)state;
    struct lab_result *result =
        run(KEYS "reads: {latest: {rows: 5, rate: 1/s}}\n"
                 "cluster: {nodes: 1, replication_factor: 1, network: {latency: 10ms}, node: {write: 0us, "
                 "read: 0us, scan_row: 0us, gc: {every: 1h, lasts: 0ms}}}\n"
                 "agents: {count: 2, cache_ttl: 0s}\n"
                 "strategies: [probabilistic: {bits: 1, threshold: 100000, counter: lwt}]\n");
    assert_true(fabs(metric(result, "latency.write.p50") - 40) < 1); /* the state, the row */
    assert_true(fabs(metric(result, "latency.read.p50") - 40) < 1);
    assert_true(fabs(metric(result, "latency.lwt.p50") - 20) < 1);
    assert_true(metric(result, "writes.retried") == 0);
    assert_true(metric(result, "writes.unresolved") + metric(result, "writes.refused") == 0);
    assert_true(metric(result, "writes.rows_scanned") == 0); /* no rows are read in order to count */
    const struct lab_histogram *latency = result->strategies[0].latency;
    assert_true(latency[LAB_LATENCY_WRITE].count == result->rows);
    assert_true((double)latency[LAB_LATENCY_READ].count == metric(result, "reads.count"));
    assert_true(latency[LAB_LATENCY_LWT].count > 0 &&
                (double)latency[LAB_LATENCY_LWT].count <= metric(result, "writes.lwt"));
    assert_true(latency[LAB_LATENCY_COUNTER].count == 0 && latency[LAB_LATENCY_LOCK].count == 0);
}

/* The recorded latencies equal the metrics except for rounding, and need few bins. */
static void test_stored_latencies_equal_the_metrics(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double share;
    } quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}};
    struct lab_result *result =
        run_many(KEYS "reads: {latest: {rows: 5, rate: 1/s}}\n" NODES "agents: {count: 3}\n",
                 "  - {slow_node: {node: 1, factor: 9, at: 1m, lasts: 3m}}\n", 1,
                 "strategies: [probabilistic: {bits: 1, threshold: 100, counter: lwt}]\n");
    for (int i = LAB_LATENCY_WRITE; i <= LAB_LATENCY_LWT; i++) {
        const struct lab_histogram *latency = &result->strategies[0].latency[i];
        size_t count;
        struct lab_bin *bins = lab_histogram_sorted(latency, &count);
        assert_int_equal(count > 10 && count < 600, i != LAB_LATENCY_COUNTER);
        for (size_t k = 0; count > 0 && k < 3; k++) {
            uint64_t seen = 0;
            size_t at = 0;
            while ((double)(seen += bins[at].count) < quantiles[k].share * (double)latency->count)
                at++;
            double exact = metric(result, "%s.%s", lab_latency_name((enum lab_latency)i), quantiles[k].name),
                   kept = (double)bins[at].size / 1e6;
            assert_true(kept >= exact && kept <= exact * (1 + 1.0 / 64));
        }
        free(bins);
    }
}

/* Every answer comes 4 s after its client gave up, while the next try is under way. A late answer does not
 * count as the answer to that try. */
static void test_late_answer_is_ignored(void **state)
{
    (void)state;
    struct lab_result *result =
        run("name: late\nduration: 1m\nkeys: {count: 2}\narrivals: {rate: 1/s}\nrow: {bytes: 9}\n"
            "cluster: {nodes: 1, replication_factor: 1, network: {latency: 8s}}\n"
            "agents: {count: 1, retries: 3}\n" NONE);
    assert_true(metric(result, "writes.unresolved") == (double)result->rows);
    assert_true(metric(result, "writes.retried") == 3 * (double)result->rows);
    assert_null(lab_metrics_find(&result->strategies[0].metrics, "latency.write.p50"));
    assert_true(metric(result, "partitions.total") * metric(result, "partitions.all.rows.mean") ==
                (double)result->rows);
}

static void test_clock_that_drifts_is_kept_within_its_bound(void **state)
{
    (void)state;
    struct lab_result *one = run(KEYS NODES "agents: {count: 3}\nstrategies: [time: {window: 7s}]\n");
    struct lab_result *two =
        run(KEYS NODES "agents: {count: 3, clock: {offset: 0s, drift: 100000ppm, bound: 0s}}\n"
                       "strategies: [time: {window: 7s}]\n");
    struct lab_result *three =
        run(KEYS NODES "agents: {count: 3, clock: {offset: 0s, drift: 100000ppm, bound: 1h}}\n"
                       "strategies: [time: {window: 7s}]\n");
    assert_int_equal(one->strategies[0].placement_digest, two->strategies[0].placement_digest);
    assert_int_not_equal(one->strategies[0].placement_digest, three->strategies[0].placement_digest);
}

/* The agents and nodes in the first of two datacenters are separated, and no others. */
static void test_fault_network_partition_of_a_datacenter_isolates_it(void **state)
{
    (void)state;
    static const char head[] =
        KEYS "cluster: {datacenters: {east: {nodes: 3, replication_factor: 3}, west: {nodes: 3, "
             "replication_factor: 3}}}\nagents: {count: 2}\n";
    struct lab_result *own =
        run_many(head, "  - {network_partition: {between: [agent 1, west], at: 1m, lasts: 1m}}\n", 1, NONE);
    struct lab_result *far =
        run_many(head, "  - {network_partition: {between: [agent 1, east], at: 1m, lasts: 1m}}\n", 1, NONE);
    assert_true(metric(own, "writes.retried") > 100);
    assert_true(metric(far, "writes.retried") == 0);
}

static void test_largest_number_of_agents_fits_or_is_refused(void **state)
{
    (void)state;
    run("name: most\nduration: 2s\nkeys: {count: 2}\narrivals: {rate: 50/s}\n"
        "row: {bytes: 1}\n" NODES "agents: {count: 1000}\n" NONE);
    static const char text[] = "name: most\nduration: 2s\nkeys: {count: 100000}\narrivals: {rate: 50/s}\n"
                               "row: {bytes: 1}\n" NODES "agents: {count: 4096}\n"
                               "strategies: [probabilistic: {bits: 1, threshold: 9}]\n";
    struct lab_scenario *scenario;
    struct lab_result *result = NULL;
    struct sim_error error;
    assert_true(lab_scenario_parse("most.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error));
    assert_false(lab_run(scenario, 1, NULL, &result, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_non_null(strstr(error.text, "lower cache_entries"));
    lab_scenario_destroy(scenario);
}

/* With one operation at a time an agent refuses a row that comes while another row is under way. */
static void test_agents_refuse_rows_beyond_their_operations(void **state)
{
    (void)state;
    const char *const more[] = {", operations: 1", ", operations: 4096", ""};
    double refused[3];
    for (int i = 0; i < 3; i++) {
        refused[i] = metric(run_filled("name: few\nduration: 20s\nkeys: {count: 2}\narrivals: {rate: 200/s}\n"
                                       "row: {bytes: 1}\n" NODES "agents: {count: 1%s}\n" NONE,
                                       more[i]),
                            "writes.refused");
    }
    assert_true(refused[0] > 100 && refused[1] == 0 && refused[2] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        runs_test(test_fault_agent_with_overlapping_crashes_restarts_after_both),
        runs_test(test_fault_all_agents_down_from_the_start_refuses_all),
        runs_test(test_fault_without_end_still_accounts_for_all_rows),
        runs_test(test_fault_paused_agent_handles_one_event_and_acts_after_the_pause),
        runs_test(test_fault_overlapping_pauses_with_a_crash_end_correctly),
        runs_test(test_fault_agent_from_a_checkpoint_keeps_its_knowledge),
        runs_test(test_fault_lost_or_restored_state_goes_back),
        runs_test(test_fault_late_messages_arrive_after_their_time),
        runs_test(test_fault_with_a_tiny_chance_of_loss_is_unchanged),
        runs_test(test_fault_within_an_equal_fault_changes_nothing),
        runs_test(test_fault_after_many_others_has_an_effect),
        runs_test(test_fault_long_runs_with_every_random_kind_end),
        runs_test(test_fault_random_network_partition_causes_retries),
        runs_test(test_fault_random_clock_jump_moves_rows_to_other_windows),
        runs_test(test_fault_row_that_is_stored_is_not_unresolved_when_its_agent_crashes),
        runs_test(test_fault_failed_step_of_a_read_counts_no_empty_partitions),
        runs_test(test_figures_of_a_well_cluster_are_known_beforehand),
        runs_test(test_stored_latencies_equal_the_metrics),
        runs_test(test_late_answer_is_ignored),
        runs_test(test_clock_that_drifts_is_kept_within_its_bound),
        runs_test(test_fault_network_partition_of_a_datacenter_isolates_it),
        runs_test(test_largest_number_of_agents_fits_or_is_refused),
        runs_test(test_agents_refuse_rows_beyond_their_operations),
        runs_test(test_reads_continue_behind_the_last_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
