/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a chart shows the contents of the result, and nothing else. Method: charts of hand-made results, as
 * text (the dump) or field by field; the distribution compared with the bins' own odds. */
#include "fixture.h"

#include "kernel/time.h"
#include "lab/judgment.h"
#include "reports/format.h"
#include "tune/odds.h"

static void test_number_of_any_size_has_three_digits_and_a_suffix(void **state)
{
    (void)state;
    struct report_arena arena = {NULL};
    assert_string_equal(report_number(&arena, 0), "0");
    assert_string_equal(report_number(&arena, 1), "1");
    assert_string_equal(report_number(&arena, 2.345), "2.35");
    assert_string_equal(report_number(&arena, 0.012), "0.012");
    assert_string_equal(report_number(&arena, 0.00001), "10⁻⁵");
    assert_string_equal(report_number(&arena, 0.000012345), "1.2·10⁻⁵");
    assert_string_equal(report_percent(&arena, 1.4e-6), "1.4·10⁻⁴%");
    assert_string_equal(report_number(&arena, 999), "999");
    assert_string_equal(report_number(&arena, 999.6), "1K");
    assert_string_equal(report_number(&arena, 1234), "1.23K");
    assert_string_equal(report_number(&arena, 20480), "20.5K");
    assert_string_equal(report_number(&arena, 999600), "1M");
    assert_string_equal(report_number(&arena, 1e12), "1T");
    assert_string_equal(report_size(&arena, 1e8, REPORT_BYTES), "100\u202FMB");
    assert_string_equal(report_exact(&arena, 100000, REPORT_ROWS), "100K");
    assert_string_equal(report_exact(&arena, 20480, REPORT_ROWS), "20,480");
    assert_string_equal(report_exact(&arena, 1250, REPORT_ROWS), "1.25K");
    assert_string_equal(report_exact(&arena, 1234567, REPORT_BYTES), "1,234,567\u202FB");
    assert_string_equal(report_exact(&arena, UINT64_MAX, REPORT_ROWS), "18,446,744,073,709,551,615");
    assert_string_equal(report_percent(&arena, 0), "0%");
    assert_string_equal(report_percent(&arena, 0.0123), "1.23%");
    assert_string_equal(report_percent(&arena, 0.99999), ">99.9%");
    assert_string_equal(report_percent(&arena, 1), "100%");
    assert_string_equal(report_duration(&arena, 10 * SIM_DAY), "10 d");
    assert_string_equal(report_duration(&arena, 90 * SIM_MINUTE), "90 min");
    assert_string_equal(report_duration(&arena, 1001), "1001 ns");
    assert_string_equal(report_time(&arena, 0), "0 s");
    assert_string_equal(report_time(&arena, 999), "999 ns");
    assert_string_equal(report_time(&arena, 999600), "1 ms");
    assert_string_equal(report_time(&arena, 25e6), "25 ms");
    assert_string_equal(report_time(&arena, 1.0234e9), "1.02 s");
    assert_string_equal(report_time(&arena, 150e9), "2.5 min");
    assert_string_equal(report_time(&arena, 47 * 3600e9), "47 h");
    assert_string_equal(report_time(&arena, 60 * 86400e9), "60 d");
    report_arena_free(&arena);
}

/* Every size is in the range of its bar, the ranges are in order, and a size of exactly the limit is the last
 * one of its range. */
static void test_bars_of_any_range_cover_their_sizes(void **state)
{
    (void)state;
    const uint64_t sizes[] = {1,     2,     9,     10,     11,      350,           999,
                              20000, 40000, 50000, 100000, 1000000, 1000000000000, UINT64_MAX / 1000};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    for (size_t i = 0; i < SIZES * SIZES; i++) {
        const uint64_t least = sizes[i / SIZES], most = sizes[i % SIZES];
        struct lab_result *result = fixture_result("bars", "synthetic");
        struct report_arena arena;
        fixture_put(fixture_add(result, NULL, &strategy), false, least, 3);
        fixture_put(&result->strategies[0], false, most, 4);
        const struct report_panel *panel = fixture_chart(result, REPORT_PARTITIONS_ROWS, &arena)->panels;
        double met = 0, last = 0;
        for (size_t k = 0; k < panel->bar_count; k++) {
            const struct report_bar *bar = &panel->bars[k];
            assert_true(bar->from < bar->to && bar->first > last && bar->last >= bar->first);
            met += bar->first <= (double)least && (double)least <= bar->last ? 3 : 0;
            met += bar->first <= (double)most && (double)most <= bar->last ? 4 : 0;
            last = bar->last;
            assert_true(bar->last == 20000 || !(bar->first <= 20000 && bar->last > 20000));
            assert_true(bar->last == 100000 || !(bar->first <= 100000 && bar->last > 100000));
        }
        assert_true(met == 7);
        report_arena_free(&arena);
        lab_result_destroy(result);
    }
}

static void test_chart_of_two_strategies_describes_both(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("two", "/somewhere/trace.csv");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(5, &strategy), BK_OK);
    struct lab_strategy_result *count = fixture_add(result, NULL, &strategy);
    fixture_put(count, false, 5, 7);
    fixture_put(count, true, 2, 1);
    fixture_metrics(result, count, 1000, 1.5, 3);
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    struct lab_strategy_result *none = fixture_add(result, "base", &strategy);
    fixture_put(none, true, 12, 2);
    fixture_metrics(result, none, 0, 1, 1);
    result->limits = (struct lab_limits){.partition_rows = 10, .tiny_rows = 3};
    char *text = fixture_dump(result, REPORT_PARTITIONS_ROWS);
    assert_string_equal(
        text, "chart partitions-rows\n"
              "title Rows per partition: two\n"
              "subtitle 2 strategies over the same 1.56G rows of 10K keys · trace trace.csv · seed 1\n"
              "foot digest 0123456789abcdef · virtual time 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z\n"
              "start 1767225600000000000\n"
              "legend closed closed partitions\n"
              "legend open open partitions\n"
              "legend tiny tiny: below 3 rows\n"
              "legend over over the limit of 10 rows\n"
              "x -0.15..1.176 'rows in a partition (log scale)' 0='1' 0.301='2' 0.699='5' 1='10'\n"
              "panel 'count' '5 rows' ''\n"
              "  y 0..7.42 'partitions' 0='0' 2='2' 4='4' 6='6'\n"
              "  band tiny -0.15..0.301\n"
              "  band over 1..1.176\n"
              "  bar open 0.0000..0.3010 0..1\n"
              "  bar closed 0.6021..0.6990 0..7\n"
              "  figure 'partitions' 8\n"
              "  figure 'closed' 7\n"
              "  figure 'p50 of closed' 5\n"
              "  figure 'p99 of closed' 5\n"
              "  figure 'largest' 5\n"
              "  figure 'over the limit' 0\n"
              "panel 'base' 'unbucketed: one partition per key' ''\n"
              "  y 0..7.42 'partitions' 0='0' 2='2' 4='4' 6='6'\n"
              "  band tiny -0.15..0.301\n"
              "  band over 1..1.176\n"
              "  bar open 1.0000..1.0792 0..2\n"
              "  figure 'partitions' 2\n"
              "  figure 'closed' 0\n"
              "  figure 'p50 of all' 12\n"
              "  figure 'p99 of all' 12\n"
              "  figure 'largest' 12\n"
              "  figure 'over the limit' 0\n");
    free(text);
    lab_result_destroy(result);
}

/* 54 partitions that exceed a limit are visible next to 90,000 that do not. */
static void test_rare_partition_is_seen_next_to_many(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("tail", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    fixture_put(fixture_add(result, "tail", &strategy), true, 100, 90000);
    fixture_put(&result->strategies[0], true, 500000, 1);
    fixture_put(fixture_add(result, "none", &strategy), true, 100, 7);
    struct report_arena arena;
    const struct report_chart *chart = fixture_chart(result, REPORT_PARTITIONS_ROWS, &arena);
    const struct report_panel *panel = &chart->panels[0];
    assert_int_equal(panel->bar_count, 2);
    assert_string_equal(panel->y.title, "partitions (log)");
    assert_true(panel->y.is_log && panel->bars[1].high == 0);
    assert_true(panel->bars[1].high - panel->y.low > 0.04 * (panel->y.high - panel->y.low));
    assert_true(chart->panels[1].y.high == panel->y.high && chart->panels[1].y.low == panel->y.low);
    assert_string_equal(panel->bars[0].hint, "90 to 100 rows: 90,000 open partitions, >99.9% of all");
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_costs_are_those_of_the_choice(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    for (size_t i = 0; i < result->strategy_count; i++) {
        assert_true(lab_metrics_add(&result->strategies[i].metrics, "writes.rows", 1e6));
        assert_true(lab_metrics_add(&result->strategies[i].metrics, "writes.counter_increments", 3000));
    }
    lab_prices_default(&result->prices);
    struct report_arena arena;
    const struct report_chart *chart = fixture_chart(result, REPORT_COSTS, &arena);
    for (size_t i = 0; i < result->strategy_count; i++) {
        const double cost = lab_score_of(result, &result->strategies[i]).cost;
        assert_true(cost > 0 && chart->columns[0].cells[i].value == cost);
        assert_string_equal(chart->columns[0].cells[i].text, report_number(&arena, cost));
    }
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_costs_of_two_strategies_are_in_columns(void **state)
{
    (void)state;
    struct lab_result *result = fixture_five();
    for (size_t i = 0; i < result->strategy_count; i++) {
        assert_true(lab_metrics_add(&result->strategies[i].metrics, "writes.rows", 1e6));
    }
    char *text = fixture_dump(result, REPORT_COSTS);
    fixture_says(text, "title What each strategy costs: chat-channels\n", true);
    fixture_says(text, "row 'probabilistic' '9 bits, threshold 40'\n", true);
    fixture_says(text, "column cost 'cost in inserts per 1000 rows (log\u00A0scale)' log ", true);
    fixture_says(text, "  0 '0'\n  0 '0'\n  1000 '1K'\n  1.953 '1.95'\n  0 '0'\n", true);
    fixture_says(text, "column cost 'partitions per read (log\u00A0scale)' log ", true);
    fixture_says(text, "  2.3 mark 9 '2.3, p99 9'\n", true);
    fixture_says(text, "column alarm 'partitions over a limit' linear 0..0.3568\n  0.3568 '35.7%'\n", true);
    fixture_says(text, "column waste 'closed partitions below 24 rows' linear ", true);
    fixture_says(text, "  - '–'\n", true);
    free(text);
    lab_result_destroy(result);
}

static void test_metric_that_is_absent_leaves_its_mark_out(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("bare", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_time(SIM_DAY, 0, &strategy), BK_OK);
    struct lab_strategy_result *bare = fixture_add(result, NULL, &strategy);
    fixture_put(bare, false, 5, 7);
    char *text = fixture_dump(result, REPORT_PARTITIONS_ROWS);
    fixture_says(text, "bar closed", true);
    fixture_says(text, "figure", false);
    free(text);
    text = fixture_dump(result, REPORT_COSTS);
    assert_string_equal(text, "absent nothing was run, so there are no costs\n");
    free(text);
    assert_true(lab_metrics_add(&bare->metrics, "writes.extra_ops_per_1000_rows", 0));
    assert_true(lab_metrics_add(&bare->metrics, "writes.rows", 35));
    text = fixture_dump(result, REPORT_COSTS);
    fixture_says(text, "column cost 'cost in inserts per 1000 rows' linear 0..1\n  0 '0'\n", true);
    fixture_says(text, "read", false);
    fixture_says(text, "limit", false);
    free(text);
    lab_result_destroy(result);
}

static void test_result_without_partitions_makes_no_chart(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("nothing", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    fixture_add(result, NULL, &strategy);
    for (int kind = 0; kind < REPORT_KIND_COUNT; kind++) {
        char *text = fixture_dump(result, (enum report_kind)kind);
        assert_int_equal(strncmp(text, "absent ", 7), 0);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
        free(text);
    }
    lab_result_destroy(result);
}

static void test_limit_far_above_the_sizes_is_not_on_the_axis(void **state)
{
    (void)state;
    struct lab_result *result = fixture_case(12);
    char *text = fixture_dump(result, REPORT_PARTITIONS_ROWS);
    fixture_says(text, "legend over over the limit of 2G rows, which is beyond the axis\n", true);
    fixture_says(text, "band over", false);
    free(text);
    lab_result_destroy(result);
}

static void test_probabilistic_with_few_closed_partitions_has_no_distribution(void **state)
{
    (void)state;
    struct lab_result *result = fixture_case(10);
    char *text = fixture_dump(result, REPORT_PARTITIONS_ROWS);
    fixture_says(text,
                 "panel 'some' 'probabilistic: 9 bits, threshold 40' '12 closed: too few to compare with the "
                 "distribution'\n",
                 true);
    fixture_says(text, "'none closed: nothing to compare with the distribution'\n", true);
    fixture_says(
        text, "'390 open, 400 closed: large ones are still open, so the closed ones are left of the curve'\n",
        true);
    fixture_says(text, "panel 'empty' 'probabilistic: 9 bits, threshold 40' 'no partitions'\n", true);
    const char *distribution = strstr(text, "curve distribution");
    assert_non_null(distribution);
    assert_null(strstr(distribution + 1, "curve distribution"));
    assert_true(strstr(text, "panel 'network_partition'") < distribution);
    free(text);
    text = fixture_dump(result, REPORT_PARTITIONS_BYTES);
    fixture_says(text, "curve distribution", false);
    free(text);
    lab_result_destroy(result);
}

/* Compares each level of the distribution's curve, which begins at a power of ten, with the odds of its bin.
 */
static void check_distribution(const struct bk_strategy *strategy, double p, uint64_t threshold,
                               uint64_t most)
{
    struct lab_result *result = fixture_result("curve", "synthetic");
    struct report_arena arena;
    fixture_put(fixture_add(result, NULL, strategy), false, most, 1000);
    const struct report_panel *panel = fixture_chart(result, REPORT_PARTITIONS_ROWS, &arena)->panels;
    const struct tune_distribution distribution = {.p = p, .threshold = threshold};
    double sum = 0;
    for (size_t i = 1; i + 2 < panel->curve_count; i += 2) {
        const struct report_point *from = &panel->curve[i], *to = &panel->curve[i + 1];
        const uint64_t least = from->x < 0 ? 0 : (uint64_t)floor(report_exp10(from->x) + 0.01);
        const double expected =
            1000 * (tune_below(&distribution, (uint64_t)floor(report_exp10(to->x) + 0.01) + 1) -
                    tune_below(&distribution, least + 1));
        const double level = panel->y.is_log ? report_exp10(from->y) : from->y;
        assert_true(from->y == to->y && (fabs(level - expected) < 1e-6 || expected <= 0.5));
        sum += level;
    }
    assert_true(panel->curve_count >= 4 && fabs(sum - 1000) < 20);
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_distribution_at_the_middle_of_a_bin_is_the_bins_expectation(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(9, 40, &strategy), BK_OK);
    check_distribution(&strategy, 1.0 / 512, 40, 100000);
    assert_int_equal(bk_strategy_probabilistic_chance(1, 300, 40, &strategy), BK_OK);
    check_distribution(&strategy, 1.0 / 300, 40, 100000);
    assert_int_equal(bk_strategy_probabilistic(1, 4, &strategy), BK_OK);
    check_distribution(&strategy, 0.5, 4, 1000);
    assert_int_equal(bk_strategy_probabilistic(0, 20480, &strategy), BK_OK);
    check_distribution(&strategy, 1, 20480, 100000);
}

static void test_user_text_becomes_one_line_of_utf8(void **state)
{
    (void)state;
    struct report_arena arena = {NULL};
    assert_string_equal(report_clean(&arena, "порог <b>&"), "порог <b>&");
    assert_string_equal(report_clean(&arena, "a\nb\tc\x7f"), "a b c ");
    assert_string_equal(report_clean(&arena, "a\xff\xfe\xc3"), "a\uFFFD\uFFFD\uFFFD");
    assert_string_equal(report_clean(&arena, NULL), "");
    report_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_of_any_size_has_three_digits_and_a_suffix),
        cmocka_unit_test(test_bars_of_any_range_cover_their_sizes),
        cmocka_unit_test(test_chart_of_two_strategies_describes_both),
        cmocka_unit_test(test_rare_partition_is_seen_next_to_many),
        cmocka_unit_test(test_costs_are_those_of_the_choice),
        cmocka_unit_test(test_costs_of_two_strategies_are_in_columns),
        cmocka_unit_test(test_metric_that_is_absent_leaves_its_mark_out),
        cmocka_unit_test(test_result_without_partitions_makes_no_chart),
        cmocka_unit_test(test_limit_far_above_the_sizes_is_not_on_the_axis),
        cmocka_unit_test(test_probabilistic_with_few_closed_partitions_has_no_distribution),
        cmocka_unit_test(test_distribution_at_the_middle_of_a_bin_is_the_bins_expectation),
        cmocka_unit_test(test_user_text_becomes_one_line_of_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
