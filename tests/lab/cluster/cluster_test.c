/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the cluster engine is the stream engine plus a network: without latency and with one agent it puts
 * every row where the stream engine does, and with latency and several agents its figures add up. Method: the
 * same scenario runs through both engines; runs with faults are checked for what must be conserved; some
 * leads must be safe and others must not. */
#include <stdlib.h>

#include "../../share.h"
#include "run_of.h"

#define LIMITS "limits: {partition_rows: 60, partition_bytes: 20KB}\n"
#define WORKLOAD                                                                                             \
    "name: cluster-test\n"                                                                                   \
    "duration: 15m\n"                                                                                        \
    "keys: {count: 12, popularity: {zipf: 1.0}}\n"                                                           \
    "arrivals: {rate: 8/s, bursts: {on: 1m, off: 10m, factor: 20}}\n"                                        \
    "row: {bytes: {lognormal: {mean: 350, sigma: 1}}}\n" LIMITS
#define LATE_WORKLOAD                                                                                        \
    "name: cluster-test\n"                                                                                   \
    "duration: 30m\n"                                                                                        \
    "keys: {count: 12, popularity: {zipf: 1.0}}\n"                                                           \
    "arrivals: {rate: 8/s, late: {share: 10%, by: 5m}, resolution: 10s,\n"                                   \
    "           backfill: {before: 2h, lasts: 10m, rate: 1/s, order: reverse}}\n"                            \
    "row: {bytes: {lognormal: {mean: 350, sigma: 1}}}\n" LIMITS
#define TRACE                                                                                                \
    "name: cluster-test\n"                                                                                   \
    "trace: {file: " BUCKETLAB_SOURCE_DIR "/scenarios/traces/small.csv}\n" LIMITS
#define NO_TIME                                                                                              \
    "network: {latency: 0us}, node: {write: 0us, read: 0us, scan_row: 0us, gc: {every: 1h, lasts: 0ms}}}\n"  \
    "agents: {count: 1}\n"
#define NOTHING_TAKES_TIME "cluster: {nodes: 3, replication_factor: 3, " NO_TIME
#define ONE_NODE           "cluster: {nodes: 1, replication_factor: 1, " NO_TIME
#define ONE_NODE_REMEMBERED                                                                                  \
    "cluster: {nodes: 1, replication_factor: 1, network: {latency: 0us}, node: {write: 0us, read: 0us, "     \
    "scan_row: 0us, gc: {every: 1h, lasts: 0ms}}}\n"                                                         \
    "agents: {count: 1, cache_ttl: 365d}\n"
#define STATELESS                                                                                            \
    "strategies:\n"                                                                                          \
    "  - unbucketed: {}\n"                                                                                   \
    "  - time: {window: 7m}\n"                                                                               \
    "  - count: {rows: 100, counter: external}\n"                                                            \
    "  - hash: {buckets: 16}\n"
#define COUNTED STATELESS "  - probabilistic: {bits: 3, threshold: 12}\n"

static void assert_same_placements(const struct lab_result *one, const struct lab_result *other)
{
    assert_int_equal(one->rows, other->rows);
    assert_int_equal(one->keys, other->keys);
    for (size_t i = 0; i < other->strategy_count; i++) {
        if (one->strategies[i].placement_digest != other->strategies[i].placement_digest)
            fail_msg("%s: placements differ", one->strategies[i].label);
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            const struct lab_largest *a = &one->strategies[i].largest[unit];
            const struct lab_largest *b = &other->strategies[i].largest[unit];
            assert_true(a->size > 0 && a->size == b->size && a->bucket == b->bucket);
            assert_string_equal(a->key, b->key);
        }
    }
}

static void assert_cluster_equals_stream(const char *on_stream, const char *on_cluster)
{
    struct lab_result *stream = run(on_stream);
    struct lab_result *cluster = run(on_cluster);
    assert_true(stream->rows > 10000);
    assert_same_placements(cluster, stream);
    for (size_t i = 0; i < stream->strategy_count; i++) {
        const char *label = stream->strategies[i].label;
        static const char *const names[] = {"partitions.total",
                                            "partitions.closed",
                                            "partitions.all.rows.max",
                                            "partitions.all.bytes.max",
                                            "partitions.all.rows.mean",
                                            "partitions.first_over_days",
                                            "peak.rows_per_second_one_partition"};
        assert_same_metrics(cluster, stream, label, names, COUNT(names));
    }
}

static void test_cluster_without_latency_equals_stream(void **state)
{
    (void)state;
    assert_cluster_equals_stream(WORKLOAD COUNTED, WORKLOAD NOTHING_TAKES_TIME COUNTED);
}

static void test_cluster_with_rows_out_of_order_equals_stream(void **state)
{
    (void)state;
    assert_cluster_equals_stream(LATE_WORKLOAD COUNTED, LATE_WORKLOAD NOTHING_TAKES_TIME COUNTED);
    struct lab_result *stream = run(LATE_WORKLOAD COUNTED);
    struct lab_result *cluster = run(LATE_WORKLOAD NOTHING_TAKES_TIME COUNTED);
    static const char *const names[] = {"time.writes.late", "time.writes.into_closed",
                                        "time.partitions.reopened", "hash.writes.late"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(metric(stream, "%s", names[i]) > 10);
        assert_true(metric(cluster, "%s", names[i]) == metric(stream, "%s", names[i]));
    }
}

#define CHANGED                                                                                              \
    "strategies:\n"                                                                                          \
    "  - time: {window: 7m, then: [{at: 5m, window: 2m}, {at: 10m, window: 4m}]}\n"                          \
    "  - hash: {buckets: 16, then: [{at: 5m, buckets: 5}]}\n"                                                \
    "  - probabilistic: {bits: 3, threshold: 12, then: [{at: 5m, bits: 2, threshold: 40}, {at: 10m, bits: "  \
    "4, threshold: 2}]}\n"                                                                                   \
    "  - weighted: {bytes: 2KB, threshold: 12, then: [{at: 8m, bytes: 1KB, threshold: 9}]}\n"
#define FORGOTTEN                                                                                            \
    "strategies:\n"                                                                                          \
    "  - time: {window: 2m, then: [{at: 5m, window: 1m, keep_old: false}]}\n"                                \
    "  - hash: {buckets: 5, then: [{at: 5m, buckets: 16, keep_old: false}]}\n"                               \
    "  - probabilistic: {bits: 3, threshold: 40, then: [{at: 5m, bits: 2, threshold: 7, keep_old: "          \
    "false}]}\n"

/* There is one node, since only timestamps of one node order the plain writes of a key's state. */
static void test_cluster_with_settings_that_change_equals_stream(void **state)
{
    (void)state;
    assert_cluster_equals_stream(WORKLOAD CHANGED, WORKLOAD ONE_NODE CHANGED);
    assert_cluster_equals_stream(LATE_WORKLOAD CHANGED, LATE_WORKLOAD ONE_NODE CHANGED);
    assert_cluster_equals_stream(WORKLOAD FORGOTTEN, WORKLOAD ONE_NODE FORGOTTEN);
}

/* A change whose date all agents know in advance leaves them in agreement, whatever their clocks. A rolling
 * deploy does not, unless the key's state determines the bucket. */
static void test_cluster_a_rollout_without_a_date_is_seen(void **state)
{
    (void)state;
    struct lab_result *result =
        run(WORKLOAD
            "reads: {latest: {rows: 20, rate: 2/s}}\n"
            "cluster: {nodes: 3, replication_factor: 3}\n"
            "agents: {count: 8, clock: {offset: 50ms, bound: 100ms}}\n"
            "strategies:\n"
            "  - {label: dated, time: {window: 2m, then: [{at: 3m, window: 5m}]}}\n"
            "  - {label: rollout, time: {window: 2m, then: [{at: 3m, window: 5m, rollout: 8m}]}}\n"
            "  - {label: hash, hash: {buckets: 3, then: [{at: 3m, buckets: 9}]}}\n"
            "  - {label: hash-rollout, hash: {buckets: 3, then: [{at: 3m, buckets: 9, rollout: 8m}]}}\n"
            "  - {label: guarded, probabilistic: {bits: 3, threshold: 12, coordination: guarded, then: [{at: "
            "3m, bits: 4, threshold: 5, rollout: 8m}]}}\n"
            "  - {label: forgets, time: {window: 2m, then: [{at: 3m, window: 5m, keep_old: false}]}}\n");
    static const char *const steady[] = {"dated", "hash", "guarded"};
    static const char *const oracles[] = {"findable", "newest", "agreement", "monotone"};
    for (size_t i = 0; i < sizeof steady / sizeof *steady; i++) {
        assert_true(metric(result, "%s.writes.misrouted", steady[i]) == 0);
        assert_true(metric(result, "%s.reads.incomplete", steady[i]) == 0);
        for (size_t j = 0; j < sizeof oracles / sizeof *oracles; j++) {
            if (i != 1 || j == 0)
                assert_true(metric(result, "%s.oracle.%s.violations", steady[i], oracles[j]) == 0);
        }
    }
    for (size_t j = 0; j < sizeof oracles / sizeof *oracles; j++) {
        assert_true(metric(result, "rollout.oracle.%s.violations", oracles[j]) > 100);
    }
    assert_true(metric(result, "rollout.writes.misrouted") > 1000);
    assert_true(metric(result, "hash-rollout.writes.misrouted") > 1000);
    assert_true(metric(result, "forgets.reads.incomplete") > 0);
    assert_true(metric(result, "forgets.oracle.findable.violations") > 1000);
}

/* Guarded looks up a late row's bucket. Three-state, which knows two changes, guesses or refuses it. Single
 * uses the newest bucket. */
static void test_cluster_late_rows_keep_their_bucket_by_guarded_only(void **state)
{
    (void)state;
    struct lab_result *result =
        run("name: late-rows\nduration: 20m\nkeys: {count: 2}\n"
            "arrivals: {rate: 20/s, late: {share: 10%, by: 4m}}\nagents: {count: 3}\nstrategies:\n"
            "  - probabilistic: {bits: 3, threshold: 40, label: single}\n"
            "  - probabilistic: {bits: 3, threshold: 40, coordination: three-state, lead: 8s, label: three}\n"
            "  - probabilistic: {bits: 3, threshold: 40, coordination: guarded, label: guarded}\n");
    assert_true(metric(result, "single.oracle.newest.violations") > 100);
    assert_true(metric(result, "single.writes.misrouted") > 100);
    assert_true(metric(result, "three.writes.refused") > 100);
    assert_true(metric(result, "three.partitions.reopened") > 0);
    static const char *const kept[] = {"writes.refused", "writes.misrouted", "oracle.newest.violations",
                                       "oracle.monotone.violations", "oracle.agreement.violations"};
    assert_none(result, "guarded", kept, COUNT(kept));
    assert_true(metric(result, "guarded.writes.into_closed") > 500);
    for (size_t i = 0; i < 3; i++)
        assert_true(result->strategies[i].verdict.conditions >> LAB_CONDITION_LATE_ROWS & 1);
}

/* A retried row must go to the same bucket, or it is stored twice. */
static void test_cluster_rows_that_are_routed_again_are_stored_twice(void **state)
{
    (void)state;
    static const char *const retries[] = {"same-bucket", "route-again"};
    for (int again = 0; again < 2; again++) {
        struct lab_result *result =
            run_filled("name: retries\nduration: 10m\nkeys: {count: 2}\narrivals: {rate: 40/s}\n"
                       "agents: {count: 3, retry: %s}\n"
                       "cluster: {network: {loss: 2%%}, timeouts: {write: 1s, client: 2s}}\nstrategies:\n"
                       "  - time: {window: 10s}\n"
                       "  - probabilistic: {bits: 2, threshold: 20, label: single}\n"
                       "  - probabilistic: {bits: 2, threshold: 20, coordination: guarded, label: guarded}\n",
                       retries[again]);
        static const char *const labels[] = {"time", "single", "guarded"};
        for (size_t i = 0; i < 3; i++) {
            double duplicated = metric(result, "%s.writes.duplicated", labels[i]);
            assert_true(metric(result, "%s.oracle.no_duplicates.violations", labels[i]) == duplicated);
            assert_true(again ? duplicated > 0 : duplicated == 0);
            assert_true(metric(result, "%s.oracle.conserved.violations", labels[i]) == 0);
            assert_int_equal(result->strategies[i].verdict.conditions >> LAB_CONDITION_ROUTE_AGAIN & 1,
                             again);
        }
    }
}

static void test_cluster_over_a_trace_equals_stream(void **state)
{
    (void)state;
    struct lab_result *stream = run(TRACE COUNTED);
    struct lab_result *cluster = run(TRACE NOTHING_TAKES_TIME COUNTED);
    assert_same_placements(cluster, stream);
}

/* With one agent and no latency there is nothing to coordinate, whatever the protocol. There is one node,
 * since two conditional updates by two coordinators in one microsecond contend and back off. */
static void test_cluster_every_coordination_of_one_agent_equals_stream(void **state)
{
    (void)state;
    static const char *const protocols[] = {"counter: lwt",
                                            "counter: counter",
                                            "coordination: locked",
                                            "coordination: locked, counter: lwt",
                                            "coordination: locked, counter: counter",
                                            "coordination: three-state, lead: 0s",
                                            "coordination: three-state, lead: 0s, counter: lwt",
                                            "coordination: guarded, grant: 1ns"};
    struct lab_result *stream = run(WORKLOAD "strategies: [probabilistic: {bits: 3, threshold: 12}]\n");
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        struct lab_result *cluster = run_filled(
            WORKLOAD ONE_NODE "strategies: [probabilistic: {bits: 3, threshold: 12, %s}]\n", protocols[i]);
        if (cluster->strategies[0].placement_digest != stream->strategies[0].placement_digest)
            fail_msg("%s: placements differ", protocols[i]);
        /* With a lead of 0 the row that begins a change already belongs to the new bucket. */
        if (strstr(protocols[i], "three-state") == NULL)
            assert_true(metric(cluster, "probabilistic.writes.misrouted") == 0);
    }
}

/* For every counter, the placement of rows, the closed partitions and the cost of each operation equal what
 * the stream engine computes from the number of rows. */
static void test_cluster_every_counter_of_one_agent_equals_stream(void **state)
{
    (void)state;
    static const char *const protocols[] = {"counter: external",
                                            "counter: counter",
                                            "counter: lwt",
                                            "counter: lease, batch: 7",
                                            "counter: lease, batch: 1000",
                                            "counter: incremental, every_rows: 1",
                                            "counter: incremental, every_rows: 30",
                                            "counter: incremental, every_rows: 400",
                                            "counter: scan",
                                            "counter: scan, every_rows: 9",
                                            "counter: memory"};
    static const char *const figures[] = {
        "partitions.closed",      "partitions.open",     "writes.counter_increments",
        "writes.state_reads",     "writes.state_writes", "writes.lwt",
        "writes.rows_scanned",    "writes.misrouted",    "writes.rows",
        "partitions.all.rows.max"};
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        struct lab_result *stream =
            run_filled(WORKLOAD "strategies: [count: {rows: 100, %s}]\n", protocols[i]);
        struct lab_result *cluster =
            run_filled(WORKLOAD ONE_NODE_REMEMBERED "strategies: [count: {rows: 100, %s}]\n", protocols[i]);
        if (cluster->strategies[0].placement_digest != stream->strategies[0].placement_digest)
            fail_msg("%s: placements differ", protocols[i]);
        assert_same_metrics(cluster, stream, "count", figures, COUNT(figures));
        assert_true(metric(stream, "count.partitions.closed") > 10);
    }
}

#define BUSY                                                                                                 \
    "name: cluster-test\n"                                                                                   \
    "duration: 5m\n"                                                                                         \
    "keys: {count: 4}\n"                                                                                     \
    "arrivals: {rate: 100/s}\n"                                                                              \
    "row: {bytes: 100}\n"                                                                                    \
    "reads: {latest: {rows: 20, rate: 2/s}}\n"                                                               \
    "cluster: {nodes: 6, replication_factor: 3}\n"                                                           \
    "agents: {count: 8, cache_ttl: 2s, clock: {offset: 20ms, bound: 50ms}}\n"
#define FAULTY                                                                                               \
    "faults:\n"                                                                                              \
    "  - {node_down: {node: 3, at: 1m, lasts: 30s}}\n"                                                       \
    "  - {network_partition: {between: [agent 1, node 2], at: 2m, lasts: 20s}}\n"                            \
    "  - {agent_crash: {rate: 60/h}}\n"                                                                      \
    "  - {lost_message: {chance: 2%, at: 3m, lasts: 30s}}\n"                                                 \
    "  - {clock_jump: {agent: 4, at: 3m, by: -2s}}\n"
/* Safe: one conditional update starts the change, and the lead outlasts cache, read, update and the clocks'
 * skew. */
#define SAFE                                                                                                 \
    "  - probabilistic: {bits: 3, threshold: 25, coordination: three-state, counter: lwt, lead: 4s, label: " \
    "safe}\n"
#define UNSAFE                                                                                               \
    "  - probabilistic: {bits: 3, threshold: 25, coordination: three-state, lead: 50ms, label: unsafe}\n"
/* Safe under all circumstances. */
#define GUARDED                                                                                              \
    "  - probabilistic: {bits: 3, threshold: 25, coordination: guarded, grant: 500ms, label: guarded}\n"
#define SINGLE "  - probabilistic: {bits: 3, threshold: 25, label: single}\n"

/* Rows of an agent whose clock is behind come before rows that other agents have already counted. */
static void test_cluster_wrong_clocks_leave_rows_uncounted(void **state)
{
    (void)state;
    static const char *const offsets[] = {"0ms", "200ms", "2s"};
    double uncounted[3], rows[3];
    for (int i = 0; i < 3; i++) {
        struct lab_result *result =
            run_filled("name: cluster-test\nduration: 5m\nkeys: {count: 4}\narrivals: {rate: 100/s}\n"
                       "agents: {count: 8, cache_ttl: 2s, clock: {offset: %s}}\n"
                       "strategies: [count: {rows: 300, counter: incremental, every_rows: 10}]\n",
                       offsets[i]);
        uncounted[i] = metric(result, "count.writes.rows_uncounted");
        rows[i] = metric(result, "count.partitions.closed.rows.mean");
        assert_true(metric(result, "count.writes.conditions_lost") > 0);
        assert_true(metric(result, "count.writes.lwt") > metric(result, "count.writes.conditions_lost"));
        assert_true(metric(result, "count.oracle.conserved.violations") == 0);
    }
    assert_true(uncounted[1] > 2 * uncounted[0] && uncounted[2] > 3 * uncounted[1]);
    assert_true(rows[0] > 300 && rows[1] > rows[0] && rows[2] > 1.2 * rows[1]);
}

static void test_cluster_a_lead_beyond_every_cache_routes_all_rows_right(void **state)
{
    (void)state;
    struct lab_result *result = run(BUSY "strategies:\n" SAFE UNSAFE SINGLE);
    assert_true(metric(result, "safe.partitions.closed") > 50);
    assert_true(metric(result, "safe.writes.misrouted") == 0);
    assert_true(metric(result, "unsafe.writes.misrouted") > 0);
    assert_true(metric(result, "single.writes.misrouted") > 0);
    assert_true(metric(result, "safe.writes.duplicated") == 0);
}

/* Rows in = rows stored + rows refused, except for rows whose outcome is unknown. */
static void assert_conserved(const struct lab_result *result, const char *label)
{
    double partitions = metric(result, "%s.partitions.total", label);
    double stored = partitions * metric(result, "%s.partitions.all.rows.mean", label),
           rows = (double)result->rows;
    double refused = metric(result, "%s.writes.refused", label);
    double unresolved = metric(result, "%s.writes.unresolved", label);
    if (!(stored + refused <= rows + 0.5 && stored + refused + unresolved >= rows - 0.5))
        fail_msg("%s: %.0f rows, %.0f stored, %.0f refused, %.0f unresolved", label, rows, stored, refused,
                 unresolved);
}

/* In the cluster the write that rolls a key carries the last increment. */
static void test_cluster_counts_increments_and_rolls_apart(void **state)
{
    (void)state;
    struct lab_result *stream = run(WORKLOAD COUNTED);
    struct lab_result *cluster = run(WORKLOAD NOTHING_TAKES_TIME COUNTED);
    double rolls = metric(cluster, "probabilistic.writes.state_writes");
    assert_true(rolls > 10);
    assert_true(rolls == metric(cluster, "probabilistic.partitions.closed"));
    assert_true(rolls + metric(cluster, "probabilistic.writes.counter_increments") ==
                metric(stream, "probabilistic.writes.counter_increments"));
}

static void test_cluster_under_faults_conserves_rows(void **state)
{
    (void)state;
    struct lab_result *result = run(BUSY FAULTY COUNTED SAFE);
    double troubled = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        assert_conserved(result, result->strategies[i].label);
        troubled += metric(result, "%s.writes.unresolved", result->strategies[i].label);
        troubled += metric(result, "%s.writes.retried", result->strategies[i].label);
        assert_true(metric(result, "%s.writes.duplicated", result->strategies[i].label) == 0);
    }
    assert_true(troubled > 0);
}

/* Nodes, agents and messages fail and a clock jumps: each row is in the bucket that the committed starts
 * give, and a key's buckets are in order of time. */
static void test_cluster_guarded_under_faults_keeps_its_guarantees(void **state)
{
    (void)state;
    static const char *const none[] = {
        "writes.misrouted",           "writes.duplicated",          "oracle.findable.violations",
        "oracle.newest.violations",   "oracle.monotone.violations", "oracle.agreement.violations",
        "oracle.no_gaps.violations",  "oracle.live.violations",     "oracle.no_duplicates.violations",
        "oracle.conserved.violations"};
    struct lab_result *result = run(BUSY FAULTY "strategies:\n" GUARDED SINGLE);
    assert_conserved(result, "guarded");
    assert_none(result, "guarded", none, COUNT(none));
    assert_true(metric(result, "guarded.partitions.closed") > 50);
    assert_true(metric(result, "guarded.writes.retried") > 0 && metric(result, "guarded.writes.lwt") > 100);
    assert_true(metric(result, "guarded.writes.state_writes") > 50); /* starts of closed buckets */
    assert_true(metric(result, "single.oracle.monotone.violations") > 0);
}

static void test_cluster_same_seed_gives_same_events(void **state)
{
    (void)state;
    struct lab_scenario *scenario = scenario_of("", BUSY FAULTY COUNTED SAFE GUARDED);
    scenario->workload.duration_ns /= (int64_t)test_share();
    struct lab_result *one = run_in(scenario, 1, NULL), *two = run_in(scenario, 2, NULL);
    assert_int_equal(one->digest, two->digest);
    for (size_t i = 0; i < one->strategy_count; i++) {
        assert_int_equal(one->strategies[i].events.digest, two->strategies[i].events.digest);
        assert_int_equal(one->strategies[i].events.events, two->strategies[i].events.events);
    }
    scenario->seed = scenario->workload.seed = 2;
    struct lab_result *other = run_in(scenario, 2, NULL);
    assert_int_not_equal(one->digest, other->digest);
    lab_scenario_destroy(scenario);
}

/* Events of equal time in another order: results that depend only on the rows stay the same, and safe
 * strategies stay safe. */
static void test_cluster_shuffled_ties_change_no_guarantee(void **state)
{
    (void)state;
    struct lab_scenario *scenario = scenario_of("", BUSY COUNTED SAFE);
    scenario->workload.duration_ns /= 2;
    struct lab_result *plain = run_in(scenario, 2, NULL);
    for (uint64_t seed = 1; seed <= test_part(3); seed++) {
        scenario->tie_seed = seed;
        struct lab_result *shuffled = run_in(scenario, 2, NULL);
        /* `time` uses the agents' clocks; `count` and `hash` use the row. */
        for (size_t i = 1; i < 4; i++)
            assert_int_equal(plain->strategies[i].placement_digest, shuffled->strategies[i].placement_digest);
        assert_conserved(shuffled, "safe");
        assert_true(metric(shuffled, "safe.writes.misrouted") == 0);
    }
    lab_scenario_destroy(scenario);
}

struct heard {
    size_t lines, rolls;
    double last_s;
    bool is_ordered;
    char event_trace[256];
};

static void hear(void *context, const char *text)
{
    struct heard *heard = context;
    double at_s = strtod(text, NULL);
    heard->is_ordered = heard->is_ordered && at_s >= heard->last_s;
    heard->last_s = at_s;
    heard->lines++;
    heard->rolls += strstr(text, "key-1: the key rolls to bucket ") != NULL;
    if (strstr(text, "key-0") != NULL)
        snprintf(heard->event_trace, sizeof heard->event_trace, "%s", text);
}

static void test_cluster_event_trace_of_a_key_shows_its_rolls_in_order(void **state)
{
    (void)state;
    struct lab_scenario *scenario = scenario_of("", BUSY "strategies:\n" SAFE);
    struct heard heard = {.is_ordered = true};
    struct lab_event_trace event_trace = {.context = &heard, .line = hear, .key = "key-1"};
    run_in(scenario, 2, &event_trace);
    assert_true(heard.lines > 10000);
    assert_true(heard.is_ordered);
    assert_true(heard.rolls > 10);
    assert_string_equal(heard.event_trace, "");
    event_trace.key = "key-9";
    struct lab_result *result;
    struct sim_error error;
    assert_false(lab_run_in(scenario, 2, &(const struct lab_run_context){.event_trace = &event_trace},
                            &result, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_null(result);
    lab_scenario_destroy(scenario);
}

static void test_cluster_views_show_the_change_and_its_disagreement(void **state)
{
    (void)state;
    struct lab_result *result = run(BUSY "strategies:\n" SAFE UNSAFE);
    for (size_t i = 0; i < 2; i++) {
        const struct lab_views *views = &result->strategies[i].views;
        bool knew_before = false, knew_after = false;
        assert_non_null(views->key);
        assert_int_equal(views->agents, 8);
        assert_int_equal(views->until_ns - views->change_ns >= INT64_C(3900000000), i == 0);
        for (size_t j = 0; j < views->count; j++) {
            const struct lab_view *view = &views->items[j];
            knew_before =
                knew_before || (view->is_known && view->bucket == 0 && view->time_ns < views->change_ns);
            knew_after =
                knew_after || (view->is_known && view->bucket == 1 && view->time_ns > views->until_ns);
        }
        assert_true(knew_before);
        assert_true(knew_after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        runs_test(test_cluster_without_latency_equals_stream),
        runs_test(test_cluster_with_rows_out_of_order_equals_stream),
        runs_test(test_cluster_with_settings_that_change_equals_stream),
        runs_test(test_cluster_a_rollout_without_a_date_is_seen),
        runs_test(test_cluster_late_rows_keep_their_bucket_by_guarded_only),
        runs_test(test_cluster_rows_that_are_routed_again_are_stored_twice),
        runs_test(test_cluster_over_a_trace_equals_stream),
        runs_test(test_cluster_every_coordination_of_one_agent_equals_stream),
        runs_test(test_cluster_every_counter_of_one_agent_equals_stream),
        runs_test(test_cluster_wrong_clocks_leave_rows_uncounted),
        runs_test(test_cluster_a_lead_beyond_every_cache_routes_all_rows_right),
        runs_test(test_cluster_counts_increments_and_rolls_apart),
        runs_test(test_cluster_under_faults_conserves_rows),
        runs_test(test_cluster_guarded_under_faults_keeps_its_guarantees),
        runs_test(test_cluster_same_seed_gives_same_events),
        runs_test(test_cluster_shuffled_ties_change_no_guarantee),
        runs_test(test_cluster_event_trace_of_a_key_shows_its_rolls_in_order),
        runs_test(test_cluster_views_show_the_change_and_its_disagreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
