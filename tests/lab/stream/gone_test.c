/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: rows that are deleted or expire leave tombstones in the right partitions, and every written row is
 * live, deleted or expired. Method: the choice and times of the deleted rows are compared with their
 * distribution (fixed seed; bounds of 6.2 standard deviations, a false alarm has a chance below 1e-9); the
 * fate of single rows is tested at the edges of seconds; each partition of a key is counted row by row and
 * compared with the stream engine; and the stream engine is compared with the cluster engine where nothing
 * takes time, and where everything fails. */
#include <math.h>
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

#define SIGMAS 6.2
#define START  INT64_C(1767225600000000000)

#define WORKLOAD                                                                                             \
    "name: gone-test\n"                                                                                      \
    "duration: 30m\n"                                                                                        \
    "keys: {count: 12, popularity: {zipf: 1.0}}\n"                                                           \
    "arrivals: {rate: 8/s}\n"
#define NOTHING_TAKES_TIME                                                                                   \
    "cluster: {nodes: 3, replication_factor: 3, network: {latency: 0us},\n"                                  \
    "  node: {write: 0us, read: 0us, scan_row: 0us, gc: {every: 1h, lasts: 0ms}}}\n"                         \
    "agents: {count: 1}\n"
#define STRATEGIES                                                                                           \
    "strategies:\n"                                                                                          \
    "  - unbucketed: {}\n"                                                                                   \
    "  - time: {window: 7m}\n"                                                                               \
    "  - count: {rows: 100, counter: external}\n"                                                            \
    "  - hash: {buckets: 16}\n"                                                                              \
    "  - probabilistic: {bits: 3, threshold: 12}\n"

#define EXPIRING_READS                                                                                       \
    "row: {ttl: 5m}\n"                                                                                       \
    "reads: {latest: {rows: 60, rate: 3/s}, range: {span: 4m, age: 3m, rate: 3/s}, all: {rate: 3/s}}\n"

static struct lab_result *run_text(const char *text)
{
    struct lab_scenario *scenario = scenario_of("", text);
    struct lab_result *result;
    struct sim_error error;
    if (!lab_run(scenario, 2, NULL, &result, &error))
        fail_msg("%s", error.text);
    lab_scenario_destroy(scenario);
    return result;
}

static double metric(const struct lab_result *result, size_t strategy, const char *name)
{
    const struct lab_metric *found = lab_metrics_find(&result->strategies[strategy].metrics, name);
    if (found == NULL)
        fail_msg("%s has no %s", result->strategies[strategy].label, name);
    return found->value;
}

static void test_deletes_follow_their_distribution(void **state)
{
    (void)state;
    struct lab_scenario scenario = {.seed = 3, .deletes = {.share = 0.05, .after_ns = SIM_HOUR}};
    double rows = 400000, deleted = 0, sum = 0, above = 0, mean = (double)SIM_HOUR;
    for (uint64_t row = 0; row < (uint64_t)rows; row++) {
        int64_t after_ns = lab_deleted_after(&scenario, row % 4, row / 4);
        deleted += after_ns >= 0;
        sum += after_ns >= 0 ? (double)after_ns : 0;
        above += (double)after_ns > mean * 0.693147180559945309;
    }
    double share = scenario.deletes.share;
    assert_true(fabs(deleted - rows * share) <= SIGMAS * sqrt(rows * share * (1 - share)));
    assert_true(fabs(sum / deleted - mean) <= SIGMAS * mean / sqrt(deleted));
    assert_true(fabs(above - deleted / 2) <= SIGMAS * sqrt(deleted) / 2);
}

static void test_row_expires_with_its_whole_second(void **state)
{
    (void)state;
    struct lab_scenario scenario = {.seed = 1, .row_ttl_ns = 10 * SIM_SECOND};
    int64_t written_ns = START + SIM_SECOND - 1;
    assert_int_equal(lab_row_fate(&scenario, 0, 0, written_ns, START + 10 * SIM_SECOND - 1), LAB_FATE_LIVE);
    assert_int_equal(lab_row_fate(&scenario, 0, 0, written_ns, START + 10 * SIM_SECOND), LAB_FATE_EXPIRED);
    scenario.row_ttl_ns++; /* rounded up to the next second */
    assert_int_equal(lab_row_fate(&scenario, 0, 0, written_ns, START + 11 * SIM_SECOND - 1), LAB_FATE_LIVE);
    assert_int_equal(lab_row_fate(&scenario, 0, 0, written_ns, START + 11 * SIM_SECOND), LAB_FATE_EXPIRED);
}

/* The last second before 1970 is as long as any other second. */
static void test_row_before_1970_expires_with_its_whole_second(void **state)
{
    (void)state;
    struct lab_scenario scenario = {.seed = 1, .row_ttl_ns = SIM_SECOND};
    assert_int_equal(lab_row_fate(&scenario, 0, 0, -SIM_SECOND, -1), LAB_FATE_LIVE);
    assert_int_equal(lab_row_fate(&scenario, 0, 0, -1, 0), LAB_FATE_EXPIRED);
    assert_int_equal(lab_row_fate(&scenario, 0, 0, 0, SIM_SECOND - 1), LAB_FATE_LIVE);
}

/* A row that expires first is no longer deleted, and a delete after the end of the run does not count. */
static void test_row_disappears_only_once(void **state)
{
    (void)state;
    struct lab_scenario scenario = {.seed = 1, .deletes = {.share = 1, .after_ns = SIM_MINUTE}};
    for (uint64_t row = 0; row < 1000; row++) {
        int64_t after_ns = lab_deleted_after(&scenario, 7, row), end_ns = START + after_ns;
        assert_true(after_ns >= 0);
        scenario.row_ttl_ns = 0;
        assert_int_equal(lab_row_fate(&scenario, 7, row, START, end_ns), LAB_FATE_LIVE);
        assert_int_equal(lab_row_fate(&scenario, 7, row, START, end_ns + 1), LAB_FATE_DELETED);
        scenario.row_ttl_ns = SIM_MINUTE;
        enum lab_fate late = lab_row_fate(&scenario, 7, row, START, START + SIM_DAY);
        assert_int_equal(late, after_ns < SIM_MINUTE ? LAB_FATE_DELETED : LAB_FATE_EXPIRED);
    }
}

/* Rows are live, deleted or expired, and the deleted and expired rows are the tombstones. */
static void assert_conserved(const struct lab_result *result, double lost)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        double live = metric(result, i, "rows.live"), deleted = metric(result, i, "rows.deleted");
        double expired = metric(result, i, "rows.expired"), total = metric(result, i, "partitions.total");
        assert_true(live + deleted + expired == metric(result, i, "writes.rows") - lost);
        double tombstones = metric(result, i, "tombstones.partition.mean") * total;
        assert_true(fabs(tombstones - deleted - expired) < 1e-6 * total);
        double emptied = metric(result, i, "partitions.emptied");
        double lives = metric(result, i, "partitions.live.rows.mean") * (total - emptied);
        assert_true(fabs(lives - live) < 1e-6 * total);
        assert_true(deleted + expired > 500);
    }
}

static void test_stream_counts_each_partition(void **state)
{
    (void)state;
    const char *text = WORKLOAD "row: {ttl: 12m}\ndeletes: {share: 30%, after: 4m}\n" STRATEGIES;
    struct lab_scenario *scenario = scenario_of("", text);
    struct lab_result *result = run_text(text);
    assert_conserved(result, 0);
    const struct wl_workload *workload = &scenario->workload;
    double of_none = 0, of_count = 0, deleted = 0, expired = 0;
    for (uint64_t index = 0; index < workload->key_count; index++) {
        struct wl_key key;
        int64_t time_ns;
        uint64_t id, row = 0, gone = 0, gone_in_bucket = 0;
        wl_key_init(&key, workload, index);
        for (; wl_key_rows(&key, INT64_MAX, 1, &time_ns, &id, NULL) == 1; row++) {
            enum lab_fate fate =
                lab_row_fate(scenario, index, row, time_ns, workload->start_ns + workload->duration_ns);
            deleted += fate == LAB_FATE_DELETED;
            expired += fate == LAB_FATE_EXPIRED;
            gone += fate != LAB_FATE_LIVE;
            gone_in_bucket = row % 100 == 0 ? 0 : gone_in_bucket;
            gone_in_bucket += fate != LAB_FATE_LIVE;
            of_count = (double)gone_in_bucket > of_count ? (double)gone_in_bucket : of_count;
        }
        of_none = (double)gone > of_none ? (double)gone : of_none;
    }
    assert_true(metric(result, 0, "rows.deleted") == deleted);
    assert_true(metric(result, 0, "rows.expired") == expired);
    assert_true(metric(result, 0, "tombstones.partition.max") == of_none);
    assert_true(metric(result, 2, "tombstones.partition.max") == of_count);
    assert_true(metric(result, 2, "partitions.emptied") > 0);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
}

static void test_stream_late_windows_count_their_tombstones(void **state)
{
    (void)state;
    struct lab_result *result = run_text("name: gone-test\nduration: 30m\nkeys: {count: 12}\n"
                                         "arrivals: {rate: 8/s, late: {share: 20%, by: 10m}}\n"
                                         "row: {ttl: 12m}\ndeletes: {share: 30%, after: 4m}\n" STRATEGIES);
    assert_conserved(result, 0);
    lab_result_destroy(result);
}

static void test_cluster_deletes_what_stream_deletes(void **state)
{
    (void)state;
    struct lab_result *stream = run_text(WORKLOAD "deletes: {share: 30%, after: 4m}\n" STRATEGIES);
    struct lab_result *cluster =
        run_text(WORKLOAD NOTHING_TAKES_TIME "deletes: {share: 30%, after: 4m}\n" STRATEGIES);
    static const char *const names[] = {"rows.live",
                                        "rows.deleted",
                                        "partitions.total",
                                        "partitions.all.rows.max",
                                        "partitions.all.bytes.max",
                                        "partitions.emptied",
                                        "partitions.live.rows.max",
                                        "tombstones.partition.p50",
                                        "tombstones.partition.max",
                                        "repair.bytes_per_differing_row"};
    assert_conserved(cluster, 0);
    for (size_t i = 0; i < stream->strategy_count; i++) {
        assert_int_equal(stream->strategies[i].placement_digest, cluster->strategies[i].placement_digest);
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            if (metric(stream, i, names[j]) != metric(cluster, i, names[j]))
                fail_msg("%s.%s: %g and %g", stream->strategies[i].label, names[j],
                         metric(stream, i, names[j]), metric(cluster, i, names[j]));
        }
        assert_true(metric(cluster, i, "writes.deletes_lost") == 0);
    }
    lab_result_destroy(stream);
    lab_result_destroy(cluster);
}

#define READ "reads: {latest: {rows: 20, rate: 2/s}}\n"

/* Deletes and reads under faults: no row is lost or removed twice, and readers find the remaining rows. */
static void test_cluster_deletes_under_faults_are_conserved(void **state)
{
    (void)state;
    struct lab_result *result =
        run_text("name: gone-test\nduration: 10m\nkeys: {count: 3}\narrivals: {rate: 20/s}\n" READ
                 "deletes: {share: 30%, after: 30s}\nagents: {count: 3}\n"
                 "cluster: {network: {loss: 1%}, timeouts: {client: 3s}}\n"
                 "faults: [{random: {rate: 1/m, kinds: [node_down, network_partition, lost_message, "
                 "agent_crash]}}]\n" STRATEGIES);
    for (size_t i = 0; i < result->strategy_count; i++) {
        assert_true(metric(result, i, "rows.deleted") > 1000);
        assert_true(metric(result, i, "oracle.conserved.violations") == 0);
        assert_true(metric(result, i, "oracle.findable.violations") == 0);
        assert_true(metric(result, i, "tombstones.scanned_per_read") > 0);
    }
    lab_result_destroy(result);
}

static void test_cluster_rows_expire(void **state)
{
    (void)state;
    struct lab_result *result = run_text(WORKLOAD READ NOTHING_TAKES_TIME "row: {ttl: 5m}\n" STRATEGIES);
    assert_conserved(result, 0);
    for (size_t i = 0; i < result->strategy_count; i++) {
        assert_true(metric(result, i, "oracle.conserved.violations") == 0);
        assert_true(metric(result, i, "rows.deleted") == 0);
    }
    assert_true(metric(result, 0, "partitions.emptied") == 0);
    assert_true(metric(result, 2, "partitions.emptied") > 50);
    lab_result_destroy(result);
}

/* The engines draw the times of reads from other streams, so their means differ by chance: at this seed by
 * less than 3 %. */
static void test_reads_of_rows_that_expire_are_the_same_in_both_engines(void **state)
{
    (void)state;
    static const char *const kinds[] = {"latest", "range", "all"};
    struct lab_result *stream = run_text(WORKLOAD EXPIRING_READS STRATEGIES),
                      *cluster = run_text(WORKLOAD EXPIRING_READS NOTHING_TAKES_TIME STRATEGIES);
    for (size_t strategy = 0; strategy < 5; strategy++) {
        for (size_t kind = 0; kind < 3; kind++) {
            char name[64];
            if (strategy == 4 && kind == 1)
                /* An agent knows less about the beginnings of its key's buckets, even if nothing expires. */
                continue;
            snprintf(name, sizeof name, "reads.%s.partitions_per_read.mean", kinds[kind]);
            double one = metric(stream, strategy, name), other = metric(cluster, strategy, name);
            snprintf(name, sizeof name, "reads.%s.empty_partitions_per_read", kinds[kind]);
            double one_empty = metric(stream, strategy, name), other_empty = metric(cluster, strategy, name);
            if (!(fabs(one - other) <= 0.03 * other && fabs(one_empty - other_empty) <= 0.03 * other))
                fail_msg("%s, %s: %g partitions a read, %g empty, and with agents %g, %g",
                         stream->strategies[strategy].label, kinds[kind], one, one_empty, other, other_empty);
            snprintf(name, sizeof name, "reads.%s.incomplete", kinds[kind]);
            assert_true(metric(stream, strategy, name) == 0);
        }
    }
    lab_result_destroy(stream);
    lab_result_destroy(cluster);
}

/* A reader of one large partition meets more tombstones than a node will scan; a reader of small partitions
 * does not. */
static void test_cluster_reads_fail_at_the_tombstone_wall(void **state)
{
    (void)state;
    struct lab_result *result = run_text(
        WORKLOAD READ "row: {ttl: 1m}\nagents: {count: 1, retries: 0}\n"
                      "cluster: {nodes: 3, node: {tombstone_warn: 50, tombstone_fail: 200}}\n" STRATEGIES);
    assert_true(metric(result, 0, "reads.failed") > 100);
    assert_true(metric(result, 0, "tombstones.warnings") > metric(result, 0, "reads.failed"));
    assert_true(metric(result, 2, "reads.failed") == 0);
    lab_result_destroy(result);
}

#define LONG_AFTER                                                                                           \
    "keys: {count: 3}\narrivals: {rate: 60/h}\nrow: {bytes: 100, ttl: 1d}\nlimits: {partition_rows: 4500}\n" \
    "strategies:\n  - unbucketed: {}\n  - hash: {buckets: 2}\n  - time: {window: 30d}\n"

/* With a time to live, a partition has on disk what was written within it, gc_grace_seconds and a compaction
 * window: of each key 20 rows/h, for 11 days and at most 11/62 days more; within 6 standard deviations. That
 * does not grow with the run, and is the same in both engines and modes. */
static void test_partition_has_on_disk_what_was_written_lately(void **state)
{
    (void)state;
    static const char *const texts[] = {"duration: 40d\n" LONG_AFTER, "duration: 80d\n" LONG_AFTER,
                                        "duration: 80d\nengine: thinned\n" LONG_AFTER,
                                        "duration: 40d\n" LONG_AFTER NOTHING_TAKES_TIME};
    const double rows = 20 * 24 * 11, more = rows * 63 / 62;
    struct lab_result *results[4];
    for (int i = 0; i < 4; i++) {
        results[i] = run_text(texts[i]);
        const double most = metric(results[i], 0, "partitions.all.rows.max");
        assert_true(most >= rows - 6 * sqrt(rows) && most <= more + 6 * sqrt(rows));
        assert_true(most == metric(results[i], 0, "keys.rows.max"));
        assert_true(metric(results[i], 2, "partitions.all.rows.max") <= most);
        assert_true(metric(results[i], 1, "partitions.all.rows.max") <= most / 2 + 6 * sqrt(rows));
        const double first = metric(results[i], 0, "partitions.first_over_days"), mean = 4501.0 / 20 / 24;
        assert_true(first <= mean && first >= mean - 6 * sqrt(4501.0) / 20 / 24);
    }
    static const char *const names[] = {"partitions.all.rows.max", "partitions.all.bytes.max",
                                        "partitions.all.rows.mean", "keys.rows.max", "partitions.over_limit"};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            assert_true(metric(results[0], i, names[j]) == metric(results[3], i, names[j]));
    }
    assert_true(metric(results[0], 2, "partitions.first_over_days") ==
                metric(results[3], 2, "partitions.first_over_days"));
    for (int i = 0; i < 4; i++)
        lab_result_destroy(results[i]);
}

/* gc_grace replaces the 10 days of a tombstone: 1 + 4 days of rows, and at most 1/12 more for the windows of
 * compaction. The busiest of 100 keys gets its share of 12,000 rows. Both within 6 standard deviations. */
static void test_gc_grace_and_the_share_of_the_busiest_key_are_as_given(void **state)
{
    (void)state;
    struct lab_result *result =
        run_text("duration: 40d\nkeys: {count: 3}\narrivals: {rate: 60/h}\nrow: {bytes: 100, "
                 "ttl: 1d, gc_grace: 4d}\nstrategies:\n  - unbucketed: {}\n");
    const double rows = 20 * 24 * 5, most = metric(result, 0, "partitions.all.rows.max");
    assert_true(most >= rows - 6 * sqrt(rows) && most <= rows * 13 / 12 + 6 * sqrt(rows));
    lab_result_destroy(result);
    for (int percent = 4; percent <= 20; percent += 16) {
        char text[256];
        snprintf(text, sizeof text,
                 "duration: 10d\nkeys: {count: 100, popularity: {top: %d%%}}\narrivals: {rate: 50/h}\n"
                 "strategies:\n  - unbucketed: {}\n",
                 percent);
        result = run_text(text);
        const double share = percent / 100.0, deviation = sqrt(12000 * share * (1 - share));
        assert_true(fabs(metric(result, 0, "partitions.all.rows.max") - 12000 * share) <=
                    6 * deviation + 6 * sqrt(12000) * share);
        lab_result_destroy(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partition_has_on_disk_what_was_written_lately),
        cmocka_unit_test(test_gc_grace_and_the_share_of_the_busiest_key_are_as_given),
        cmocka_unit_test(test_deletes_follow_their_distribution),
        cmocka_unit_test(test_row_expires_with_its_whole_second),
        cmocka_unit_test(test_row_before_1970_expires_with_its_whole_second),
        cmocka_unit_test(test_row_disappears_only_once),
        cmocka_unit_test(test_stream_counts_each_partition),
        cmocka_unit_test(test_stream_late_windows_count_their_tombstones),
        cmocka_unit_test(test_cluster_deletes_what_stream_deletes),
        cmocka_unit_test(test_cluster_deletes_under_faults_are_conserved),
        cmocka_unit_test(test_cluster_rows_expire),
        cmocka_unit_test(test_reads_of_rows_that_expire_are_the_same_in_both_engines),
        cmocka_unit_test(test_cluster_reads_fail_at_the_tombstone_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
