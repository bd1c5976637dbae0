/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: what is said of a limit is true of every table whose tools would print this file, and nothing that is
 * not in the file is said. Method: known answers, and drawn sizes whose percentiles are computed as Cassandra
 * does, whose true share above drawn limits must lie within the bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cassandra/estimated_histogram.h"
#include "kernel/random.h"
#include "lab/judgment.h"

static const char *const names[WL_OBSERVED_POINTS] = {"min", "p50", "p75", "p95", "p98", "p99", "max"};

static void print(struct lab_strategy_result *out, const uint64_t points[WL_OBSERVED_POINTS])
{
    *out = (struct lab_strategy_result){.settings = {.observed = WL_OBSERVED_PERCENTILES}};
    for (size_t i = 0; i < WL_OBSERVED_POINTS; i++) {
        char name[LAB_METRIC_NAME_SIZE] = "partitions.all.bytes.";
        assert_true(lab_metrics_add(&out->metrics, strcat(name, names[i]), (double)points[i]));
    }
    lab_histogram_add(&out->open_bytes, points[WL_OBSERVED_MAX], 100, 0);
}

static void assert_known(const struct lab_known *known, double least, double most, uint64_t largest_least,
                         uint64_t largest_most)
{
    assert_float_equal(known->over_least, least, 1e-12);
    assert_float_equal(known->over_most, most, 1e-12);
    assert_int_equal(known->largest_least, largest_least);
    assert_int_equal(known->largest_most, largest_most);
}

static void test_percentiles_bound_the_share_above_a_limit(void **state)
{
    (void)state;
    static const struct {
        uint64_t points[WL_OBSERVED_POINTS], limit;
        double least, most;
        uint64_t largest_least;
    } cases[] = {
        /* Of the largest piece alone: its bucket begins above the limit. */
        {{125, 1131752, 17436917, 36157190, 36157190, 36157190, 557074610}, 100000000, 0, 0.01, 464228843},
        /* Every piece: the smallest is above the limit. */
        {{129557751, 386857368, 386857368, 464228842, 557074610, 668489532, 802187438},
         100000000,
         1,
         1,
         668489533},
        /* Within, at the end of the largest bucket, and not judged a byte below. */
        {{73, 8239, 9887, 11864, 14237, 17084, 29521}, 29521, 0, 0, 24602},
        {{73, 8239, 9887, 11864, 14237, 17084, 29521}, 29520, 0, 0.01, 24602},
        /* 2 %: the bucket of p98 begins at 11,864. The smallest of equal percentiles says most. */
        {{73, 8239, 9887, 11864, 14237, 17084, 29521}, 11864, 0.02, 0.05, 24602},
        {{73, 8239, 9887, 9887, 14237, 17084, 29521}, 8239, 0.25, 0.5, 24602},
        {{73, 8239, 9887, 11864, 14237, 17084, 29521}, 72, 1, 1, 24602},
        {{73, 8239, 9887, 11864, 14237, 17084, 29521}, 0, 0, 0, 24602}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab_strategy_result observed;
        const struct lab_limits limits = {.partition_rows = 1, .partition_bytes = cases[i].limit};
        print(&observed, cases[i].points);
        struct lab_known known = lab_known_of(&observed, &limits, LAB_IN_BYTES);
        assert_int_equal(known.by, LAB_KNOWN_PERCENTILES);
        assert_known(&known, cases[i].least, cases[i].most, cases[i].largest_least,
                     cases[i].points[WL_OBSERVED_MAX]);
        known = lab_known_of(&observed, &limits, LAB_IN_ROWS);
        assert_int_equal(known.by, LAB_KNOWN_NOTHING);
        assert_known(&known, 0, 1, 0, UINT64_MAX);
        lab_strategy_result_clear(&observed);
    }
}

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint64_t bucket_end(uint64_t size)
{
    uint64_t offsets[CASS_HISTOGRAM_OFFSETS];
    size_t bucket = 0;
    cass_histogram_offsets(offsets, CASS_HISTOGRAM_OFFSETS);
    while (offsets[bucket] < size)
        bucket++;
    return offsets[bucket];
}

static void test_bounds_hold_for_drawn_tables(void **state)
{
    (void)state;
    enum { TABLES = 2000, MOST = 500 };
    static const unsigned percents[] = {50, 75, 95, 98, 99};
    size_t decided = 0;
    for (uint64_t table = 0; table < TABLES; table++) {
        struct sim_random random;
        sim_random_init(&random, 5, SIM_CHOICE, table);
        const size_t count = 1 + (size_t)(sim_random_unit(&random) * MOST);
        const double width = 1 + 12 * sim_random_unit(&random);
        uint64_t sizes[MOST + 1], points[WL_OBSERVED_POINTS], over = 0;
        for (size_t i = 0; i < count; i++)
            sizes[i] = 1 + (uint64_t)(1000 * (double)(1u << (unsigned)(width * sim_random_unit(&random))) *
                                      sim_random_unit(&random));
        qsort(sizes, count, sizeof *sizes, ascending);
        for (size_t i = 0; i < sizeof percents / sizeof *percents; i++)
            points[WL_OBSERVED_P50 + i] = bucket_end(sizes[(count * percents[i] + 99) / 100 - 1]);
        points[WL_OBSERVED_MIN] = cass_histogram_above(bucket_end(sizes[0])) + 1;
        points[WL_OBSERVED_MAX] = bucket_end(sizes[count - 1]);
        struct lab_strategy_result observed;
        print(&observed, points);
        const uint64_t limit = sizes[(size_t)(sim_random_unit(&random) * (double)count)] + table % 3 - 1;
        for (size_t i = 0; i < count; i++)
            over += limit > 0 && sizes[i] > limit;
        const struct lab_known known =
            lab_known_of(&observed, &(struct lab_limits){.partition_bytes = limit}, LAB_IN_BYTES);
        const double share = (double)over / (double)count;
        assert_true(known.over_least <= share && share <= known.over_most);
        assert_true(known.largest_least <= sizes[count - 1] && sizes[count - 1] <= known.largest_most);
        decided += known.over_least > 0 || known.over_most < 1;
        lab_strategy_result_clear(&observed);
    }
    assert_in_range(decided, TABLES / 2, TABLES);
}

static void test_a_list_is_exact_or_only_the_largest(void **state)
{
    (void)state;
    struct lab_strategy_result observed = {.settings = {.observed = WL_OBSERVED_PARTITIONS}};
    const struct lab_limits limits = {.partition_rows = 10, .partition_bytes = 100};
    lab_histogram_add(&observed.open_bytes, 90, 3, 0);
    lab_histogram_add(&observed.open_bytes, 300, 1, 0);
    struct lab_known known = lab_known_of(&observed, &limits, LAB_IN_BYTES);
    assert_true(known.by == LAB_KNOWN_EXACTLY && known.over == 1 && known.listed == 4);
    assert_known(&known, 0.25, 0.25, 300, 300);
    known = lab_known_of(&observed, &limits, LAB_IN_ROWS);
    assert_true(known.by == LAB_KNOWN_NOTHING && known.listed == 0);
    observed.settings.observed = WL_OBSERVED_LARGEST;
    known = lab_known_of(&observed, &limits, LAB_IN_BYTES);
    assert_true(known.by == LAB_KNOWN_LARGEST && known.over == 1 && known.listed == 4);
    assert_known(&known, 0, 1, 300, UINT64_MAX);
    lab_strategy_result_clear(&observed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_percentiles_bound_the_share_above_a_limit),
                                       cmocka_unit_test(test_bounds_hold_for_drawn_tables),
                                       cmocka_unit_test(test_a_list_is_exact_or_only_the_largest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
