/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a strategy's figures are those of its tally, even if sums reach their bounds. Method: tallies made by
 * hand, small enough for their figures to be counted on paper. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab/metric.h"

#define NODES 4u

struct fixture {
    struct lab_scenario scenario;
    struct lab_tally tally;
    struct lab_metrics metrics;
};

static struct fixture begin(void)
{
    struct fixture fixture = {.scenario.limits = {0}};
    assert_true(lab_tally_init(&fixture.tally, NODES));
    return fixture;
}

static void compute(struct fixture *fixture)
{
    assert_true(lab_metrics_of_tally(&fixture->tally, &fixture->scenario, 0, NODES, &fixture->metrics));
}

static void end(struct fixture *fixture)
{
    lab_tally_clear(&fixture->tally);
    free(fixture->metrics.items);
}

static void assert_metric(const struct fixture *fixture, const char *name, double expected)
{
    const struct lab_metric *metric = lab_metrics_find(&fixture->metrics, name);
    if (metric == NULL)
        fail_msg("no %s", name);
    else if (metric->value != expected)
        fail_msg("%s is %.17g, not %.17g", name, metric->value, expected);
}

static void assert_absent(const struct fixture *fixture, const char *name)
{
    if (lab_metrics_find(&fixture->metrics, name) != NULL)
        fail_msg("%s exists", name);
}

static void close_partition(struct lab_tally *tally, uint64_t rows, uint64_t bytes)
{
    lab_histogram_add(&tally->closed_rows, rows, 1, rows);
    lab_histogram_add(&tally->closed_bytes, bytes, 1, rows);
}

static void test_metrics_of_nothing_are_zero_or_absent(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    compute(&fixture);
    assert_metric(&fixture, "partitions.total", 0);
    assert_metric(&fixture, "writes.extra_ops_per_1000_rows", 0);
    assert_absent(&fixture, "partitions.all.rows.mean");
    assert_absent(&fixture, "partitions.over_limit");
    assert_absent(&fixture, "partitions.tiny");
    assert_absent(&fixture, "reads.count");
    assert_absent(&fixture, "nodes.load_share_max");
    end(&fixture);
}

/* 1000 closed partitions of 1, 2 ... 1000 rows: the p-quantile is exactly 1000 p, and not one more. */
static void test_metrics_quantile_is_the_least_size_that_suffices(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    for (uint64_t rows = 1; rows <= 1000; rows++)
        close_partition(&fixture.tally, rows, 10 * rows);
    compute(&fixture);
    assert_metric(&fixture, "partitions.closed.rows.p001", 1);
    assert_metric(&fixture, "partitions.closed.rows.p01", 10);
    assert_metric(&fixture, "partitions.closed.rows.p50", 500);
    assert_metric(&fixture, "partitions.closed.rows.p90", 900);
    assert_metric(&fixture, "partitions.closed.rows.p999", 999);
    assert_metric(&fixture, "partitions.closed.bytes.p999", 9990);
    assert_metric(&fixture, "partitions.closed.rows.mean", 500.5);
    assert_metric(&fixture, "partitions.closed.rows.stddev", sqrt((1e6 - 1) / 12));
    /* Of 500500 rows, 250278 are in the partitions of up to 707 rows, and 249571 in those of up to 706. */
    assert_metric(&fixture, "partitions.row_weighted.rows.p50", 707);
    assert_metric(&fixture, "partitions.row_weighted.rows.mean", 667);
    assert_metric(&fixture, "partitions.row_weighted.bytes.p50", 7070);
    end(&fixture);
}

static void test_metrics_all_are_closed_and_open_together(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    close_partition(&fixture.tally, 7, 70);
    lab_histogram_add(&fixture.tally.open_rows, 1, 1, 1);
    lab_histogram_add(&fixture.tally.open_bytes, 30, 1, 1);
    compute(&fixture);
    assert_metric(&fixture, "partitions.total", 2);
    assert_metric(&fixture, "partitions.closed", 1);
    assert_metric(&fixture, "partitions.open", 1);
    assert_metric(&fixture, "partitions.closed.rows.min", 7);
    assert_metric(&fixture, "partitions.all.rows.min", 1);
    assert_metric(&fixture, "partitions.all.rows.mean", 4);
    assert_metric(&fixture, "partitions.all.rows.stddev", 3);
    assert_metric(&fixture, "partitions.all.bytes.mean", 50);
    assert_metric(&fixture, "partitions.all.bytes.max", 70);
    assert_metric(&fixture, "partitions.row_weighted.bytes.mean", 65);
    end(&fixture);
}

static void test_metrics_of_limits_exist_where_limits_do(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    fixture.tally.over_limit = 5;
    fixture.tally.over_limit_rows = 4;
    fixture.tally.over_limit_bytes = 3;
    fixture.tally.tiny = 2;
    fixture.scenario.limits.partition_bytes = 1;
    compute(&fixture);
    assert_metric(&fixture, "partitions.over_limit", 5);
    assert_metric(&fixture, "partitions.over_limit_bytes", 3);
    assert_absent(&fixture, "partitions.over_limit_rows");
    assert_absent(&fixture, "partitions.tiny");
    free(fixture.metrics.items);
    fixture.metrics = (struct lab_metrics){0};
    fixture.scenario.limits = (struct lab_limits){.partition_rows = 1, .tiny_rows = 1};
    compute(&fixture);
    assert_metric(&fixture, "partitions.over_limit", 5);
    assert_metric(&fixture, "partitions.over_limit_rows", 4);
    assert_absent(&fixture, "partitions.over_limit_bytes");
    assert_metric(&fixture, "partitions.tiny", 2);
    end(&fixture);
}

static void test_metrics_extra_operations_are_all_next_to_the_rows(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    fixture.tally.rows = 4000;
    fixture.tally.counter_increments = 8;
    fixture.tally.state_reads = 16;
    fixture.tally.state_writes = 32;
    fixture.tally.lwt = 64;
    fixture.tally.lock_ops = 128;
    compute(&fixture);
    assert_metric(&fixture, "writes.rows", 4000);
    assert_metric(&fixture, "writes.extra_ops_per_1000_rows", 62);
    end(&fixture);
}

static void test_metrics_load_is_shared_by_all_nodes(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    static const uint64_t bytes[NODES] = {30, 10, 40, 20};
    for (uint32_t i = 0; i < NODES; i++)
        fixture.tally.nodes[i].bytes = bytes[i];
    compute(&fixture);
    assert_metric(&fixture, "nodes.load_share_max", 0.4);
    assert_metric(&fixture, "nodes.load_share_min", 0.1);
    end(&fixture);
}

static void test_metrics_reads_are_counted_by_partitions(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    fixture.scenario.reads.present = true;
    compute(&fixture);
    assert_metric(&fixture, "reads.count", 0);
    assert_absent(&fixture, "reads.partitions_per_read.mean");
    free(fixture.metrics.items);
    fixture.metrics = (struct lab_metrics){0};
    lab_histogram_add(&fixture.tally.reads.partitions, 1, 98, 1);
    lab_histogram_add(&fixture.tally.reads.partitions, 51, 2, 1);
    fixture.tally.reads.empties = 150;
    fixture.tally.reads.incomplete = 3;
    fixture.tally.reads.out_of_order = 4;
    compute(&fixture);
    assert_metric(&fixture, "reads.count", 100);
    assert_metric(&fixture, "reads.partitions_per_read.mean", 2);
    assert_metric(&fixture, "reads.partitions_per_read.p50", 1);
    assert_metric(&fixture, "reads.partitions_per_read.p99", 51);
    assert_metric(&fixture, "reads.partitions_per_read.max", 51);
    assert_metric(&fixture, "reads.empty_partitions_per_read", 1.5);
    assert_metric(&fixture, "reads.incomplete", 3);
    assert_metric(&fixture, "reads.out_of_order", 4);
    end(&fixture);
}

/* A bin that was rounded up may be above the largest partition; no figure is. */
static void test_metrics_rounded_quantiles_stay_within_the_largest(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    fixture.tally.closed_rows.is_rounded = fixture.tally.closed_bytes.is_rounded = true;
    close_partition(&fixture.tally, 8193, 8193);
    compute(&fixture);
    assert_metric(&fixture, "partitions.closed.rows.p50", 8193);
    assert_metric(&fixture, "partitions.closed.rows.p999", 8193);
    assert_metric(&fixture, "partitions.closed.rows.max", 8193);
    assert_metric(&fixture, "partitions.closed.rows.mean", 8193);
    assert_metric(&fixture, "partitions.closed.rows.stddev", 0);
    end(&fixture);
}

/* Large sizes that differ slightly: a difference of sums of squares in binary64 would give 0, or nonsense. */
static void test_metrics_cv_of_large_sizes_does_not_cancel(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    const uint64_t large = UINT64_C(1) << 40;
    close_partition(&fixture.tally, 1, large - 3);
    close_partition(&fixture.tally, 1, large + 3);
    compute(&fixture);
    assert_metric(&fixture, "partitions.closed.bytes.mean", (double)large);
    assert_metric(&fixture, "partitions.closed.bytes.stddev", 3);
    end(&fixture);
}

/* Two partitions of 2^59 +- 2^49 bytes with 2^20 rows each: the sum of the squares of the rows' sizes is
 * 2^139. */
static void test_metrics_spread_survives_squares_beyond_their_bound(void **state)
{
    (void)state;
    struct fixture fixture = begin();
    const uint64_t middle = UINT64_C(1) << 59, apart = UINT64_C(1) << 49, rows = UINT64_C(1) << 20;
    close_partition(&fixture.tally, rows, middle - apart);
    close_partition(&fixture.tally, rows, middle + apart);
    assert_true(fixture.tally.closed_bytes.weighted_sum_of_squares == ~(lab_wide)0);
    compute(&fixture);
    assert_metric(&fixture, "partitions.row_weighted.bytes.mean", (double)middle);
    assert_metric(&fixture, "partitions.row_weighted.bytes.stddev", (double)apart);
    assert_metric(&fixture, "partitions.closed.bytes.stddev", (double)apart);
    end(&fixture);
}

static void test_tally_merged_adds_up(void **state)
{
    (void)state;
    struct fixture one = begin(), other = begin();
    close_partition(&one.tally, 3, 30);
    close_partition(&other.tally, 5, 50);
    one.tally.peak_rows_per_s = 7;
    other.tally.peak_rows_per_s = 6;
    one.tally.nodes[2].bytes = UINT64_MAX - 5;
    other.tally.nodes[2].bytes = 6;
    one.tally.placement_digest = UINT64_MAX;
    other.tally.placement_digest = 3;
    lab_tally_merge(&one.tally, &other.tally, NODES);
    assert_int_equal(one.tally.closed_rows.count, 2);
    assert_int_equal(one.tally.closed_bytes.weight, 8);
    assert_int_equal(one.tally.peak_rows_per_s, 7);
    assert_int_equal(one.tally.nodes[2].bytes, UINT64_MAX);
    assert_int_equal(one.tally.placement_digest, 2);
    assert_false(one.tally.out_of_memory);
    other.tally.open_bytes.out_of_memory = true;
    lab_tally_merge(&one.tally, &other.tally, NODES);
    assert_true(one.tally.out_of_memory);
    end(&one);
    end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_of_nothing_are_zero_or_absent),
        cmocka_unit_test(test_metrics_quantile_is_the_least_size_that_suffices),
        cmocka_unit_test(test_metrics_all_are_closed_and_open_together),
        cmocka_unit_test(test_metrics_of_limits_exist_where_limits_do),
        cmocka_unit_test(test_metrics_extra_operations_are_all_next_to_the_rows),
        cmocka_unit_test(test_metrics_load_is_shared_by_all_nodes),
        cmocka_unit_test(test_metrics_reads_are_counted_by_partitions),
        cmocka_unit_test(test_metrics_rounded_quantiles_stay_within_the_largest),
        cmocka_unit_test(test_metrics_cv_of_large_sizes_does_not_cancel),
        cmocka_unit_test(test_metrics_spread_survives_squares_beyond_their_bound),
        cmocka_unit_test(test_tally_merged_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
