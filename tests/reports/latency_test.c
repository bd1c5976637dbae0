/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the chart of latencies shows how long the operations of a result took, or why it is left out. Method:
 * charts of hand-made results as text and by their hints; each line compared with the histogram's own
 * quantiles; the layout's boxes. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include "reports/format.h"

static char *dump(size_t index, void (*write)(const struct report_chart *chart, FILE *out))
{
    struct lab_result *result = fixture_latency_case(index);
    struct report_arena arena;
    char *text = fixture_text(fixture_chart(result, REPORT_LATENCY, &arena), write);
    report_arena_free(&arena);
    lab_result_destroy(result);
    return text;
}

static void test_latencies_that_differ_little_are_on_a_linear_axis(void **state)
{
    (void)state;
    char *text = dump(1, report_chart_dump);
    fixture_says(
        text,
        "chart latency\n"
        "title Latency by percentile: all-alike\n"
        "subtitle 2 strategies over the same 1.56G rows of 10K keys · synthetic workload · seed 1\n"
        "foot digest 0123456789abcdef · virtual time 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z\n"
        "start 1767225600000000000\n"
        "x 0..3 'percentile: the share of operations that took no longer' 0='0%' 0.301='50%' 1='90%' 2='99%' "
        "3='99.9%'\n"
        "panel 'Writes' 'from a row's arrival at its agent to its acknowledgement' ''\n"
        "  y 39.2..60.8 'latency (ms)' 40='40' 45='45' 50='50' 55='55' 60='60'\n"
        "  line line1 'forty' 0,40 0.301,40 0.6021,40 1,40 1.301,40 2,40 2.301,40 3,40 3,40\n"
        "  line line2 'forty to sixty' 0,40.37 ",
        true);
    free(text);
}

static void test_hint_of_a_percentile_says_how_many_took_at_most_how_long(void **state)
{
    (void)state;
    char *text = dump(6, report_chart_dump_hints);
    fixture_says(text,
                 "panel 'Writes'\n"
                 "hint single: 50% of 5,000 writes took at most 2 ms\n"
                 "hint single: 75% of 5,000 writes took at most 2.65 ms\n"
                 "hint single: 90% of 5,000 writes took at most 3.83 ms\n",
                 true);
    fixture_says(text, "hint single: the slowest of 5,000 writes took ", true);
    fixture_says(text, "panel 'Reads'\nhint a label too long", true);
    free(text);
    text = dump(0, report_chart_dump_hints);
    assert_string_equal(text, "panel 'Writes'\nhint probabilistic: the one write took 1.23 ms\n");
    free(text);
    text = dump(7, report_chart_dump);
    fixture_says(text, "subtitle 2 designs of identifiers · seed 1\n", true);
    free(text);
    text = dump(7, report_chart_dump_hints);
    fixture_says(text, "panel 'Locks'\nhint constant: 50% of 800 locks took at most 9 ms\n", true);
    fixture_says(text, "panel 'Leases'\n", true);
    free(text);
}

static void test_operations_that_failed_are_reported(void **state)
{
    (void)state;
    char *text = dump(6, report_chart_dump);
    fixture_says(text,
                 "acknowledgement' 'never acknowledged, and not in the lines: single 21, a label too long "
                 "for its place beside the line, which therefore goes to the key above 1.23K'\n",
                 true);
    fixture_says(text, "'failed, and not in the lines: a label too long", true);
    free(text);
}

static void test_strategies_without_a_colour_are_counted(void **state)
{
    (void)state;
    char *text = dump(5, report_chart_dump);
    fixture_says(text, "line line9 'setting 9'", true);
    assert_null(strstr(text, "'setting 10'"));
    free(text);
    struct lab_result *result = fixture_latency_case(5);
    struct report_arena arena;
    assert_string_equal(fixture_chart(result, REPORT_LATENCY, &arena)->note,
                        "9 of 12 strategies are drawn, without setting 10, setting 11 and setting 12.");
    report_arena_free(&arena);
    lab_result_destroy(result);
}

/* The least latency that the share 1 - 10^-x of the operations did not exceed, from the bins alone. */
static double quantile(const struct lab_bin *bins, uint64_t count, double x)
{
    uint64_t left = count;
    for (size_t i = 0;; i++) {
        left -= bins[i].count;
        if ((double)left <= (double)count * pow(10, -x) * (1 + 1e-9)) {
            return (double)bins[i].size;
        }
    }
}

/* A thinned line deviates by less than a detail; it never falls, and ends with the slowest operation. */
static void test_line_of_each_case_follows_the_quantiles(void **state)
{
    (void)state;
    static const enum lab_latency order[] = {LAB_LATENCY_WRITE, LAB_LATENCY_READ};
    size_t lines = 0;
    for (size_t which = 3; which < 6; which++) {
        struct lab_result *result = fixture_latency_case(which);
        struct report_arena arena;
        const struct report_chart *chart = fixture_chart(result, REPORT_LATENCY, &arena);
        const double reach = 0.01 + 1.5 * chart->x.high / 600;
        for (size_t i = 0; i < 2; i++) {
            const struct report_panel *panel = &chart->panels[i];
            const double detail = (panel->y.high - panel->y.low) / 200;
            const bool is_log = strcmp(panel->y.title, "latency (log scale)") == 0;
            for (size_t k = 0, of = 0; is_log && k < panel->line_count; k++, of++) {
                while (result->strategies[of].latency[order[i]].count == 0) {
                    of++;
                }
                const struct report_line *line = &panel->lines[k];
                const struct lab_histogram *latency = &result->strategies[of].latency[order[i]];
                size_t count;
                struct lab_bin *bins = lab_histogram_sorted(latency, &count);
                const struct report_sample *end = &line->samples[line->sample_count - 1];
                assert_true(fabs(end->y - log10((double)latency->most / 1e9)) < 1e-9);
                assert_true(fabs(end->x - log10((double)latency->count)) < 1e-9);
                size_t at = 0;
                for (double x = 0; x < end->x; x += 0.01) {
                    for (; line->samples[at + 1].x <= x; at++) {
                        assert_true(line->samples[at + 1].y >= line->samples[at].y);
                    }
                    const double low = quantile(bins, latency->count, fmax(0, x - reach));
                    const double high = quantile(bins, latency->count, fmin(end->x, x + reach));
                    assert_true(line->samples[at].y > log10(low / 1e9) - detail - 0.007);
                    assert_true(line->samples[at].y < log10(high / 1e9) + detail);
                }
                free(bins);
                lines++;
            }
        }
        report_arena_free(&arena);
        lab_result_destroy(result);
    }
    assert_true(lines == 2 + 9 + 9 + 9 + 9);
}

/* 90 of 100 operations are exactly 90 %: that percentile is their latency, rounded up, not the next one. */
static void test_percentile_at_the_edge_of_a_step_is_the_lower_one(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("edge", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    struct lab_strategy_result *only = fixture_add(result, NULL, &strategy);
    fixture_spend_each(only, LAB_LATENCY_WRITE, 1000000, 90);
    fixture_spend_each(only, LAB_LATENCY_WRITE, 8000000, 10);
    fixture_spent(only, LAB_LATENCY_WRITE);
    struct report_arena arena;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    report_chart_dump_hints(fixture_chart(result, REPORT_LATENCY, &arena), file);
    assert_int_equal(fclose(file), 0);
    fixture_says(text,
                 "hint unbucketed: 90% of 100 writes took at most 1.01 ms\n"
                 "hint unbucketed: 95% of 100 writes took at most 8 ms\n",
                 true);
    free(text);
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_result_without_latencies_says_why(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("none", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    struct lab_strategy_result *only = fixture_add(result, NULL, &strategy);
    struct report_arena arena;
    assert_string_equal(fixture_chart(result, REPORT_LATENCY, &arena)->absent,
                        "the scenario has no agents, so operations take no time");
    report_arena_free(&arena);
    only->events.stride = 1;
    assert_string_equal(fixture_chart(result, REPORT_LATENCY, &arena)->absent, "no operation was answered");
    report_arena_free(&arena);
    assert_true(lab_metrics_add(&only->metrics, "latency.write.p50", 1));
    assert_string_equal(fixture_chart(result, REPORT_LATENCY, &arena)->absent,
                        "the run was stored before latencies were kept; run its scenario again");
    report_arena_free(&arena);
    only->settings.observed = WL_OBSERVED_PARTITIONS;
    assert_string_equal(fixture_chart(result, REPORT_LATENCY, &arena)->absent,
                        "nothing was run, so nothing took time");
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_layout_of_each_case_has_no_overlap_and_no_clipping(void **state)
{
    for (size_t i = 0; i < FIXTURE_LATENCY_COUNT; i++) {
        struct lab_result *result = fixture_latency_case(i);
        fixture_lay_out(result, REPORT_LATENCY, REPORT_PAGE_WIDTH, *state);
        lab_result_destroy(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latencies_that_differ_little_are_on_a_linear_axis),
        cmocka_unit_test(test_hint_of_a_percentile_says_how_many_took_at_most_how_long),
        cmocka_unit_test(test_operations_that_failed_are_reported),
        cmocka_unit_test(test_strategies_without_a_colour_are_counted),
        cmocka_unit_test(test_line_of_each_case_follows_the_quantiles),
        cmocka_unit_test(test_percentile_at_the_edge_of_a_step_is_the_lower_one),
        cmocka_unit_test(test_result_without_latencies_says_why),
        cmocka_unit_test(test_layout_of_each_case_has_no_overlap_and_no_clipping),
    };
    return cmocka_run_group_tests(tests, fixture_typesetter_begin, fixture_typesetter_end);
}
