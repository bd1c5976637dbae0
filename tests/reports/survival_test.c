/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a survival curve shows the share of partitions larger than each size, its steps are accurate to half a
 * pixel with few points, and the distribution drawn with it is the exact one. Method: charts as text; every
 * size of large random histograms compared with the drawn line; distributions compared with sums of their own
 * probabilities. */
#include "fixture.h"

#include "kernel/text.h"
#include "reports/format.h"
#include "tune/odds.h"

struct made {
    struct report_arena arena;
    struct report_chart *chart;
};

static struct made make(const struct lab_result *result, enum report_kind kind)
{
    struct made made;
    made.chart = fixture_chart(result, kind, &made.arena);
    return made;
}

static void assert_says(const struct lab_result *result, enum report_kind kind, const char *part, bool says)
{
    char *text = fixture_dump(result, kind);
    fixture_says(text, part, says);
    free(text);
}

static struct bk_strategy none(void)
{
    struct bk_strategy out;
    assert_int_equal(bk_strategy_unbucketed(&out), BK_OK);
    return out;
}

static struct bk_strategy probabilistic(uint32_t bits, uint64_t threshold)
{
    struct bk_strategy out;
    assert_int_equal(bk_strategy_probabilistic(bits, threshold, &out), BK_OK);
    return out;
}

static void test_curve_of_few_sizes_is_described_step_by_step(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("steps", "synthetic");
    const struct bk_strategy strategy = none();
    struct lab_strategy_result *out = fixture_add(result, NULL, &strategy);
    fixture_put(out, false, 10, 6);
    fixture_put(out, false, 1000, 3);
    fixture_put(out, false, 100000, 1);
    fixture_put(out, true, 7, 99); /* where there are closed ones, only these are drawn */
    out = fixture_add(result, "other", &strategy);
    fixture_put(out, true, 100, 2);
    char *text = fixture_dump(result, REPORT_SURVIVAL_ROWS);
    assert_string_equal(
        text, "chart survival-rows\n"
              "title Partitions larger than x rows: steps\n"
              "subtitle 2 strategies over the same 1.56G rows of 10K keys · synthetic workload · seed 1\n"
              "foot digest 0123456789abcdef · virtual time 2026-01-01T00:00:00Z to "
              "2026-04-01T00:00:00Z\n"
              "start 1767225600000000000\n"
              "note (open): no partition of the strategy was closed, so all of them count.\n"
              "x 0.96..5.04 'x: rows in a partition (log scale)' 1='10' 2='100' 3='1K' 4='10K' "
              "5='100K'\n"
              "y -1.108..0.01097 'share of partitions larger than x (log scale)' -1='10%' "
              "-0.699='20%' -0.301='50%' 0='100%'\n"
              "rule 1.362 'tiny: below 24 rows'\n"
              "rule 5 'limit: 100K rows'\n"
              "line line1 'unbucketed' 0.96,0 1,0 1,-0.3979 3,-0.3979 3,-1 5,-1\n"
              "line line2 'other (open)' 0.96,0 2,0 2,-0.301\n");
    free(text);
    struct made made = make(result, REPORT_SURVIVAL_ROWS);
    const struct report_line *lines = made.chart->panels[0].lines;
    const char *const hints[] = {NULL,
                                 NULL,
                                 "unbucketed: 10 rows, 4 of 10 closed partitions are larger (40%)",
                                 NULL,
                                 "unbucketed: 1,000 rows, 1 of 10 closed partitions is larger (10%)",
                                 "unbucketed: 100,000 rows, none of 10 closed partitions is larger"};
    for (size_t i = 0; i < 6; i++) {
        if (hints[i] == NULL) {
            assert_null(lines[0].samples[i].hint);
        } else {
            assert_string_equal(lines[0].samples[i].hint, hints[i]);
        }
    }
    assert_string_equal(lines[1].samples[2].hint, "other: 100 rows, none of 2 open partitions is larger");
    report_arena_free(&made.arena);
    assert_says(result, REPORT_SURVIVAL_BYTES, "x 3.5..8.045 'x: bytes in a partition (log scale)' 4='10",
                true);
    assert_says(result, REPORT_SURVIVAL_BYTES, "rule 8 'limit: 100", true);
    assert_says(result, REPORT_SURVIVAL_BYTES, "tiny", false);
    lab_result_destroy(result);
}

static void test_limit_far_from_the_sizes_is_reported_and_not_drawn(void **state)
{
    (void)state;
    const struct {
        uint64_t limit, rows;
        const char *says;
        bool is_drawn;
    } cases[] = {{100, 50, "rule 2 'limit: 100 rows'", true},
                 {5000, 50, "limit: 5K rows", true},
                 {5100, 50, "note The limit of 5.1K rows lies right of the axis.", false},
                 {50, 5000, "limit: 50 rows", true},
                 {49, 5000, "note The limit of 49 rows lies left of the axis.", false},
                 {UINT64_MAX, UINT64_MAX, "lies left of the axis", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lab_result *result = fixture_result("limits", "synthetic");
        result->limits = (struct lab_limits){.partition_rows = cases[i].limit};
        const struct bk_strategy strategy = none();
        struct lab_strategy_result *out = fixture_add(result, NULL, &strategy);
        lab_histogram_add(&out->closed_rows, cases[i].rows, 1, cases[i].rows);
        if (i < 5) {
            assert_says(result, REPORT_SURVIVAL_ROWS, cases[i].says, true);
        }
        assert_says(result, REPORT_SURVIVAL_ROWS, "rule ", cases[i].is_drawn);
        lab_result_destroy(result);
    }
}

/* Whether some point of the line is within `most` pixels of (x, y). */
static bool is_near(const struct report_chart *chart, const struct report_line *line, double x, double y,
                    double most)
{
    const double across = REPORT_PAGE_WIDTH / (chart->x.high - chart->x.low);
    const double down = REPORT_CURVES_HEIGHT / (chart->panels[0].y.high - chart->panels[0].y.low);
    for (size_t i = 1; i < line->sample_count; i++) {
        const double x0 = (line->samples[i - 1].x - x) * across, y0 = (line->samples[i - 1].y - y) * down;
        const double dx = (line->samples[i].x - x) * across - x0, dy = (line->samples[i].y - y) * down - y0;
        const double length = dx * dx + dy * dy;
        const double share = length > 0 ? fmin(1, fmax(0, -(x0 * dx + y0 * dy) / length)) : 0;
        if (hypot(x0 + share * dx, y0 + share * dy) <= most) {
            return true;
        }
    }
    return false;
}

static void test_curve_of_each_size_is_exact_to_half_a_pixel_with_few_points(void **state)
{
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        struct lab_result *result = fixture_result("dense", "synthetic");
        const struct bk_strategy strategy = none();
        struct lab_strategy_result *out = fixture_add(result, NULL, &strategy);
        uint64_t draw = 1 + (uint64_t)turn;
        const int count = turn == 0 ? 60000 : turn == 1 ? 5000 : turn == 2 ? 200 : 20;
        for (int i = 0; i < count; i++) {
            draw = draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            fixture_put(out, false, 1 + (draw >> (20 + draw % 40)) % 4000000000u, 1);
        }
        struct made made = make(result, REPORT_SURVIVAL_ROWS);
        const struct report_line *line = &made.chart->panels[0].lines[0];
        assert_in_range(line->sample_count, 3, 600);
        size_t bin_count;
        struct lab_bin *bins = lab_histogram_sorted(&out->closed_rows, &bin_count);
        uint64_t larger = out->closed_rows.count;
        double before = 0;
        for (size_t i = 0; i < bin_count; i++) {
            larger -= bins[i].count;
            const double x = log10((double)bins[i].size);
            const double after = log10((larger > 0 ? (double)larger : 1) / (double)out->closed_rows.count);
            /* Half a pixel of the chart is a quarter of a logical pixel; the rest allows for rounding. */
            assert_true(is_near(made.chart, line, x, before, 0.2501));
            assert_true(is_near(made.chart, line, x, after, 0.2501));
            before = after;
        }
        free(bins);
        report_arena_free(&made.arena);
        lab_result_destroy(result);
    }
}

/* Compares the drawn line with the distribution, at sizes independent of the line's points. */
static void assert_distribution_is_exact(const struct report_chart *chart,
                                         const struct tune_distribution *rows)
{
    assert_true(chart->panels[0].lines[0].is_distribution);
    size_t compared = 0;
    /* The line ends at the share of one partition, like the line of the sizes. */
    const struct report_line *sizes = &chart->panels[0].lines[1];
    const double lowest = sizes->samples[sizes->sample_count - 1].y;
    for (double x = chart->x.low; x <= chart->x.high; x += (chart->x.high - chart->x.low) / 997) {
        const uint64_t n = (uint64_t)floor(pow(10, x));
        const double share = tune_above(rows, n);
        if (n > 0 && share > 0 && log10(share) > lowest) {
            compared++;
            assert_true(is_near(chart, &chart->panels[0].lines[0], x, log10(share), 0.6));
        }
    }
    assert_true(compared > 300);
}

static void test_distribution_is_the_exact_one(void **state)
{
    (void)state;
    const struct {
        uint32_t bits;
        uint64_t threshold;
    } cases[] = {{0, 40}, {1, 4}, {3, 1}, {9, 40}, {20, 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lab_result *result = fixture_result("distribution", "synthetic");
        const struct bk_strategy strategy = probabilistic(cases[i].bits, cases[i].threshold);
        const struct tune_distribution distribution = {ldexp(1, -(int)cases[i].bits), cases[i].threshold, 0};
        fixture_distribution(fixture_add(result, NULL, &strategy), distribution.p, distribution.threshold,
                             1000);
        result->limits = (struct lab_limits){0};
        struct made made = make(result, REPORT_SURVIVAL_ROWS);
        assert_distribution_is_exact(made.chart, &distribution);
        report_arena_free(&made.arena);
        lab_result_destroy(result);
    }
}

static void test_distribution_is_shown_only_where_it_holds_and_once(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("distributions", "synthetic");
    struct bk_strategy strategy = probabilistic(9, 40);
    struct lab_strategy_result *out = fixture_add(result, "few", &strategy);
    fixture_distribution(out, 1.0 / 512, 40, 99);
    assert_says(result, REPORT_SURVIVAL_ROWS, "distribution ", false);
    out = fixture_add(result, "many", &strategy);
    fixture_distribution(out, 1.0 / 512, 40, 100);
    assert_says(result, REPORT_SURVIVAL_ROWS, "\ndistribution line2 ''", true);
    assert_says(result, REPORT_SURVIVAL_ROWS,
                "legend dashes exact distribution, hidden where the sizes follow it\n", true);
    assert_says(result, REPORT_SURVIVAL_BYTES, "distribution ", false);
    out = fixture_add(result, "again", &strategy);
    fixture_distribution(out, 1.0 / 512, 40, 100);
    assert_says(result, REPORT_SURVIVAL_ROWS, "\ndistribution distribution ''", true);
    assert_says(result, REPORT_SURVIVAL_ROWS, "\ndistribution line2 ''", false);
    strategy.max_age_ns = 1000;
    out = fixture_add(result, "aged", &strategy);
    fixture_distribution(out, 1.0 / 512, 40, 100);
    strategy = probabilistic(8, 40);
    out = fixture_add(result, "other", &strategy);
    fixture_distribution(out, 1.0 / 256, 40, 100);
    char *text = fixture_dump(result, REPORT_SURVIVAL_ROWS);
    size_t distributions = 0;
    for (const char *at = text; (at = strstr(at, "\ndistribution ")) != NULL; at++) {
        distributions++;
    }
    assert_int_equal(distributions, 2);
    assert_non_null(strstr(text, "\ndistribution line5 ''"));
    free(text);
    lab_result_destroy(result);
}

static void test_more_strategies_than_colours_leave_some_out_but_not_the_one_to_choose(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("many", "synthetic");
    for (int i = 0; i < 12; i++) {
        char label[16];
        snprintf(label, sizeof label, "s%d", i + 1);
        const struct bk_strategy strategy = probabilistic(9, 40);
        struct lab_strategy_result *out = fixture_add(result, label, &strategy);
        if (i == 1) {
            continue; /* without partitions */
        }
        fixture_put(out, false, i == 11 ? 1000 : 1000000, 5);
        fixture_metrics(result, out, 1, 1, 1);
        assert_true(lab_metrics_add(&out->metrics, "writes.rows", 1000));
    }
    char *text = fixture_dump(result, REPORT_SURVIVAL_ROWS);
    assert_non_null(strstr(text,
                           "note 9 of 12 strategies are drawn, without s10 and s11. No partition, or no "
                           "share of them is known: s2.\n"));
    assert_non_null(strstr(text, "line line1 's1'"));
    assert_non_null(strstr(text, "line line2 's3'"));
    assert_non_null(strstr(text, "line line8 's9'"));
    assert_non_null(strstr(text, "line line9 's12'"));
    free(text);
    lab_result_destroy(result);
    assert_says(
        (result = fixture_case(3)), REPORT_SURVIVAL_BYTES,
        "note 9 of 64 strategies are drawn, without setting 10, setting 11, setting 12 and 52 others.\n",
        true);
    lab_result_destroy(result);
}

static void test_result_without_partitions_says_so(void **state)
{
    (void)state;
    struct lab_result *result = fixture_case(7);
    assert_says(result, REPORT_SURVIVAL_ROWS,
                "absent no partition holds a row, or its size is not known in this unit\n", true);
    const struct bk_strategy strategy = none();
    struct lab_strategy_result *out = fixture_add(result, "file", &strategy);
    out->settings.observed = WL_OBSERVED_PERCENTILES;
    lab_histogram_add(&out->open_bytes, 1000, 50, 1);
    lab_histogram_add(&out->open_bytes, 9000, 50, 1);
    assert_says(result, REPORT_SURVIVAL_ROWS, "absent ", true);
    assert_says(result, REPORT_SURVIVAL_BYTES, "absent no share of the partitions is known", true);
    lab_result_destroy(result);
}

static void test_percentiles_are_ranges_and_lists_of_the_largest_are_left_out(void **state)
{
    (void)state;
    static const double sizes[] = {73, 1000, 2000, 2000, 2000, 9000, 20000};
    struct lab_result *result = fixture_case(7);
    struct lab_strategy_result *out = fixture_percentiles(result, sizes);
    assert_says(result, REPORT_SURVIVAL_BYTES, "A range: only percentiles are known", true);
    struct made made = make(result, REPORT_SURVIVAL_BYTES);
    const struct report_line *line = &made.chart->panels[0].lines[0];
    assert_true(line->is_points && line->sample_count == 3);
    assert_string_equal(line->samples[0].hint,
                        "file: 25% to 50% of the partitions are larger than 1,000 bytes");
    assert_string_equal(line->samples[1].hint,
                        "file: 1% to 2% of the partitions are larger than 2,000 bytes");
    assert_string_equal(line->samples[2].hint,
                        "file: 0% to 1% of the partitions are larger than 9,000 bytes");
    assert_true(line->samples[2].low == made.chart->panels[0].y.low);
    report_arena_free(&made.arena);
    made = make(result, REPORT_PARTITIONS_BYTES);
    const struct report_panel *panel = &made.chart->panels[made.chart->panel_count - 1];
    assert_int_equal(panel->bar_count, 1);
    assert_true(panel->bars[0].from < report_log10(80));
    report_arena_free(&made.arena);
    out->settings.observed = WL_OBSERVED_LARGEST;
    assert_says(result, REPORT_SURVIVAL_BYTES, "absent ", true);
    lab_result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curve_of_few_sizes_is_described_step_by_step),
        cmocka_unit_test(test_limit_far_from_the_sizes_is_reported_and_not_drawn),
        cmocka_unit_test(test_curve_of_each_size_is_exact_to_half_a_pixel_with_few_points),
        cmocka_unit_test(test_distribution_is_the_exact_one),
        cmocka_unit_test(test_distribution_is_shown_only_where_it_holds_and_once),
        cmocka_unit_test(test_more_strategies_than_colours_leave_some_out_but_not_the_one_to_choose),
        cmocka_unit_test(test_result_without_partitions_says_so),
        cmocka_unit_test(test_percentiles_are_ranges_and_lists_of_the_largest_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
