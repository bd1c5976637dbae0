/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a timeline shows each slice of the run with the sizes that the result has for it, under correct dates.
 * Method: charts of hand-made results as text; axes over runs of all lengths, whose labels are in order, far
 * enough apart and at the times that they name. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include "kernel/time.h"
#include "reports/format.h"

#define START (INT64_C(1767225600) * SIM_SECOND) /* 2026-01-01 */

static struct lab_slice *add_slice(struct lab_strategy_result *strategy, enum lab_partition_state state,
                                   int64_t start_ns, int64_t end_ns, uint64_t partitions)
{
    struct lab_timeline *timeline = &strategy->timeline;
    timeline->items = realloc(timeline->items, (timeline->count + 1) * sizeof *timeline->items);
    assert_non_null(timeline->items);
    struct lab_slice *slice = &timeline->items[timeline->count++];
    *slice =
        (struct lab_slice){.state = state, .start_ns = start_ns, .end_ns = end_ns, .partitions = partitions};
    return slice;
}

/* Two slices; the second one has closed and open partitions. */
static struct lab_result *two_slices(void)
{
    struct lab_result *result = fixture_result("two", "synthetic");
    result->end_ns = START + 12 * SIM_HOUR;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(100, &strategy), BK_OK);
    struct lab_strategy_result *count = fixture_add(result, NULL, &strategy);
    assert_true(lab_metrics_add(&count->metrics, "partitions.over_limit_rows", 3));
    assert_true(lab_metrics_add(&count->metrics, "partitions.over_limit_bytes", 4));
    struct lab_slice *slice = add_slice(count, LAB_CLOSED, START, START + 6 * SIM_HOUR, 1200);
    slice->sizes[LAB_IN_ROWS] = (struct lab_slice_sizes){10, 20, 100, 1000, 100000};
    slice->sizes[LAB_IN_BYTES] = (struct lab_slice_sizes){1000, 2000, 10000, 100000, 10000000};
    slice = add_slice(count, LAB_CLOSED, START + 6 * SIM_HOUR, START + 12 * SIM_HOUR, 1);
    slice->sizes[LAB_IN_ROWS] = (struct lab_slice_sizes){100, 100, 100, 100, 100};
    slice->sizes[LAB_IN_BYTES] = (struct lab_slice_sizes){1, 1, 1, 1, 1};
    slice = add_slice(count, LAB_OPEN, START + 6 * SIM_HOUR, START + 12 * SIM_HOUR, 2);
    slice->sizes[LAB_IN_ROWS] = (struct lab_slice_sizes){1, 1, 1, 20480, 20480};
    slice->sizes[LAB_IN_BYTES] = (struct lab_slice_sizes){0, 0, 0, 9000, 9000};
    return result;
}

static void check(const struct lab_result *result, bool is_hints, const char *wanted)
{
    struct report_arena arena;
    char *text = fixture_text(fixture_chart(result, REPORT_TIMELINE, &arena),
                              is_hints ? report_chart_dump_hints : report_chart_dump);
    assert_string_equal(text, wanted);
    free(text);
    report_arena_free(&arena);
}

static void test_timeline_shows_the_sizes_of_each_slice(void **state)
{
    (void)state;
    struct lab_result *result = two_slices();
    check(result, false,
          "chart timeline\n"
          "title Rows per partition over time: two\n"
          "subtitle 1 strategy over 1.56G rows of 10K keys · synthetic workload · seed 1\n"
          "foot digest 0123456789abcdef · virtual time 2026-01-01T00:00:00Z to 2026-01-01T12:00:00Z\n"
          "start 1767225600000000000\n"
          "legend range closed: smallest to largest\n"
          "legend middle 10th to 90th percentile\n"
          "legend open still open at the end: smallest to largest\n"
          "legend distribution median (dotted where all are open)\n"
          "legend over over the limit of 100K rows\n"
          "x 0..4.32e+04 'first row written (UTC, 2026)' 0='Jan 1' 7200='02:00' 1.44e+04='04:00' "
          "2.16e+04='06:00' 2.88e+04='08:00' 3.6e+04='10:00' 4.32e+04='12:00'\n"
          "panel 'count' '100 rows' ''\n"
          "  y -0.05176..5.228 'rows (log)' 0='1' 2='100' 4='10K'\n"
          "  band level over 5..5.228\n"
          "  step 0..21600 closed 1.000 1.301 2.000 3.000 5.000\n"
          "  step 21600..43200 closed 2.000 2.000 2.000 2.000 2.000 open 0.000 0.000 0.000 4.311 4.311\n"
          "  figure 'partitions' 1.2K\n"
          "  figure 'step length' 6 h\n"
          "  figure 'medians' 100\n"
          "  figure 'largest' 100K\n"
          "  figure 'over the limit' 3 !\n");
    lab_result_destroy(result);
}

static void test_timeline_without_a_limit_of_rows_is_in_bytes(void **state)
{
    (void)state;
    struct lab_result *result = two_slices();
    result->limits.partition_rows = 0;
    struct report_arena arena;
    char *text = fixture_text(fixture_chart(result, REPORT_TIMELINE, &arena), report_chart_dump);
    assert_non_null(strstr(text, "title Bytes per partition over time"));
    assert_non_null(strstr(text, "legend over over the limit of 100\u202FMB\n"));
    assert_non_null(strstr(text, "step 0..21600 closed 3.000 3.301 4.000 5.000 7.000\n"));
    assert_non_null(strstr(text, "open 0.000 0.000 0.000 3.954 3.954\n")); /* 0 bytes are drawn at 1 */
    assert_non_null(strstr(text, "figure 'over the limit' 4 !\n"));
    free(text);
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_slice_shows_its_time_and_sizes(void **state)
{
    (void)state;
    struct lab_result *result = two_slices();
    check(
        result, true,
        "panel 'count'\n"
        "hint 2026-01-01 00:00 to 06:00 UTC: 1,200 closed partitions of 10 to 100,000 rows, median 100, p10 "
        "20, p90 1,000\n"
        "hint 2026-01-01 06:00 to 12:00 UTC: 1 closed partition of 100 rows; 2 open, of 1 to 20,480\n");
    lab_result_destroy(result);
}

static void test_time_span_omits_repeated_parts(void **state)
{
    (void)state;
    const struct {
        int64_t start_ns, end_ns;
        const char *text;
    } cases[] = {
        {0, SIM_HOUR, "2026-01-01 00:00 to 01:00 UTC"},
        {18 * SIM_HOUR, SIM_DAY, "2026-01-01 18:00 to 2026-01-02 00:00 UTC"},
        {SIM_DAY, 6 * SIM_DAY, "2026-01-02 to 2026-01-07 UTC"},
        {0, 2 * SIM_SECOND, "2026-01-01 00:00 to 00:00:02 UTC"},
        {SIM_SECOND, SIM_SECOND + SIM_MS, "2026-01-01 00:00:01 to 00:00:01.001 UTC"},
        {0, 0, "2026-01-01 00:00 to 00:00 UTC"},
    };
    struct report_arena arena = {NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(report_interval(&arena, START + cases[i].start_ns, START + cases[i].end_ns),
                            cases[i].text);
    }
    report_arena_free(&arena);
}

static void test_time_axis_of_any_length_has_few_numbers_in_order(void **state)
{
    (void)state;
    for (double span = 1; span < 8e18; span *= 1.17) {
        for (int which = 0; which < 2; which++) {
            const int64_t span_ns = (int64_t)span;
            const int64_t start_ns = which == 0 ? START - 12345 * SIM_SECOND : INT64_MIN / 2 + 1;
            struct report_arena arena = {NULL};
            struct report_axis axis = {0};
            if (which == 0 && span_ns > INT64_MAX - start_ns) {
                continue;
            }
            report_scale_dates(&arena, start_ns, start_ns + span_ns, &axis);
            assert_true(axis.tick_count >= 1 && axis.tick_count <= 9);
            for (size_t i = 0; i < axis.tick_count; i++) {
                assert_true(axis.ticks[i].at >= 0 && axis.ticks[i].at <= axis.high * (1 + 1e-12));
                assert_true(axis.ticks[i].text[0] != 0 && strlen(axis.ticks[i].text) <= 8);
                if (i > 0) {
                    assert_true(axis.ticks[i].at - axis.ticks[i - 1].at >= axis.high / 10);
                    assert_string_not_equal(axis.ticks[i].text, axis.ticks[i - 1].text);
                }
            }
            report_arena_free(&arena);
        }
    }
}

static void assert_ticks(int64_t start_ns, int64_t span_ns, const char *wanted)
{
    struct report_arena arena = {NULL};
    struct report_axis axis = {0};
    char text[400] = "";
    report_scale_dates(&arena, start_ns, start_ns + span_ns, &axis);
    for (size_t i = 0; i < axis.tick_count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i > 0 ? " " : "",
                 axis.ticks[i].text);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), " | %s", axis.title);
    assert_string_equal(text, wanted);
    report_arena_free(&arena);
}

static void test_time_axis_labels_are_at_their_times(void **state)
{
    (void)state;
    assert_ticks(START, 3 * SIM_SECOND,
                 "0 0.5 1 1.5 2 2.5 3 | seconds from 2026-01-01 00:00:00 UTC to the first row");
    assert_ticks(START + 5 * SIM_SECOND, 20 * SIM_SECOND,
                 "00:00:05 00:00:10 00:00:15 00:00:20 00:00:25 | first row written (UTC, 2026)");
    assert_ticks(START - 5 * SIM_HOUR, 10 * SIM_HOUR,
                 "20:00 22:00 Jan 1 02:00 04:00 | first row written (UTC, 2025 to 2026)");
    assert_ticks(START - SIM_HOUR, 10 * SIM_DAY,
                 "Jan 1 Jan 3 Jan 5 Jan 7 Jan 9 | first row written (UTC, 2025 to 2026)");
    assert_ticks(START - 40 * SIM_DAY, 200 * SIM_DAY,
                 "Dec 2026 Feb Mar Apr May Jun | first row written (UTC, 2025 to 2026)");
    assert_ticks(START - 400 * SIM_DAY, 3000 * SIM_DAY,
                 "2026 2028 2030 2032 | first row written (UTC, 2024 to 2033)");
}

static void test_time_axis_of_all_time_names_centuries(void **state)
{
    (void)state;
    struct report_arena arena = {NULL};
    struct report_axis axis = {0};
    report_scale_dates(&arena, INT64_MIN, INT64_MAX, &axis);
    assert_int_equal(axis.tick_count, 6);
    assert_string_equal(axis.ticks[0].text, "1700");
    assert_string_equal(axis.ticks[5].text, "2200");
    report_arena_free(&arena);
}

static void test_size_axis_covers_all_sizes_and_has_two_numbers(void **state)
{
    (void)state;
    for (uint64_t least = 1; least < UINT64_MAX / 3; least = least * 3 + 1) {
        for (uint64_t most = least; most < UINT64_C(500000000000000000); most = most * 4 + 1) {
            struct report_arena arena = {NULL};
            struct report_axis axis = {0};
            const struct report_curves_axis data = {"bytes", REPORT_UNIT_BYTES, REPORT_LOG};
            struct report_extremes extremes = report_no_extremes;
            report_extremes_meet(&extremes, (double)least);
            report_extremes_meet(&extremes, (double)most);
            extremes.is_tight = extremes.is_upright = true;
            report_scale_fill(&data, &extremes, &arena, &axis);
            size_t numbers = 0;
            for (size_t i = 0; i < axis.tick_count; i++) {
                numbers += axis.ticks[i].text[0] != 0;
            }
            assert_true(axis.low <= log10((double)least) + 1e-9);
            assert_true(axis.high >= log10((double)most) - 1e-9);
            assert_true(numbers >= 2 && numbers <= 8);
            report_arena_free(&arena);
        }
    }
}

static void test_timeline_without_partitions_says_why(void **state)
{
    (void)state;
    struct report_arena arena;
    struct lab_result *result = fixture_result("none", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    struct lab_strategy_result *none = fixture_add(result, NULL, &strategy);
    assert_string_equal(fixture_chart(result, REPORT_TIMELINE, &arena)->absent, "no partition holds a row");
    report_arena_free(&arena);
    fixture_put(none, false, 5, 7);
    assert_string_equal(fixture_chart(result, REPORT_TIMELINE, &arena)->absent,
                        "the run was stored without the sizes over time; run it again");
    report_arena_free(&arena);
    none->settings.observed = WL_OBSERVED_PERCENTILES;
    assert_string_equal(fixture_chart(result, REPORT_TIMELINE, &arena)->absent,
                        "this run does not record when its partitions began");
    none->settings.observed = WL_OBSERVED_AUTO;
    report_arena_free(&arena);
    lab_result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeline_shows_the_sizes_of_each_slice),
        cmocka_unit_test(test_timeline_without_a_limit_of_rows_is_in_bytes),
        cmocka_unit_test(test_slice_shows_its_time_and_sizes),
        cmocka_unit_test(test_time_span_omits_repeated_parts),
        cmocka_unit_test(test_time_axis_of_any_length_has_few_numbers_in_order),
        cmocka_unit_test(test_time_axis_labels_are_at_their_times),
        cmocka_unit_test(test_time_axis_of_all_time_names_centuries),
        cmocka_unit_test(test_size_axis_covers_all_sizes_and_has_two_numbers),
        cmocka_unit_test(test_timeline_without_partitions_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
