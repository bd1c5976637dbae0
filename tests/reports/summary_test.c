/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the summary shows a run's answer in one chart, and is readable at three quarters of its size. Method:
 * the chart of hand-made results as text; the choice of strategies when there are more than fit; the fonts
 * and the size of its layout. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

static void set(struct lab_strategy_result *strategy, const char *name, double value)
{
    for (size_t i = 0; i < strategy->metrics.count; i++) {
        if (strcmp(strategy->metrics.items[i].name, name) == 0) {
            strategy->metrics.items[i].value = value;
            return;
        }
    }
    assert_true(lab_metrics_add(&strategy->metrics, name, value));
}

/* The result of `strategies` strategies: strategy i, of kind count, has 100 * (i + 1) rows per partition and
 * i operations. */
static struct lab_result *counted(size_t strategies)
{
    struct lab_result *result = fixture_result("counted", "synthetic");
    for (size_t i = 0; i < strategies; i++) {
        struct bk_strategy strategy;
        char label[32];
        snprintf(label, sizeof label, "count %zu", i);
        assert_int_equal(bk_strategy_count(100 * (i + 1), &strategy), BK_OK);
        struct lab_strategy_result *out = fixture_add(result, label, &strategy);
        fixture_put(out, false, 100 * (i + 1), 50);
        fixture_metrics(result, out, (double)i, 1.5, 3);
        set(out, "writes.rows", 5000 * (double)(i + 1));
        set(out, "writes.extra_ops_per_1000_rows", (double)i + 1);
    }
    return result;
}

static void test_answer_sizes_and_figures_are_in_one_chart(void **state)
{
    (void)state;
    struct lab_result *result = counted(2);
    set(&result->strategies[0], "partitions.over_limit", 5);
    set(&result->strategies[0], "partitions.over_limit_rows", 5);
    char *text = fixture_dump(result, REPORT_SUMMARY);
    assert_string_equal(
        text, "chart summary\n"
              "title Which strategy: counted\n"
              "subtitle 2 strategies over the same 1.56G rows of 10K keys · synthetic workload · seed 1\n"
              "foot digest 0123456789abcdef · virtual time 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z\n"
              "start 1767225600000000000\n"
              "legend chosen the choice\n"
              "legend closed closed partitions\n"
              "legend tiny tiny: below 24 rows\n"
              "legend over over the limit of 100K rows, which is beyond the axis\n"
              "sentence Use count 1 (count with 200 rows).\n"
              "sentence size: 200 rows when full, CV 0%; none of 50 partitions is above 100,000 rows or "
              "100\u202FMB\n"
              "sentence cost: 2 extra operations per 1000 rows; 1.5 partitions per read; together as "
              "much as 2 inserts per 1000 rows\n"
              "x -0.15..2.301 'rows per partition' 0='1' 1='10' 2='100'\n"
              "panel 'count 0' 'count: 100 rows' ''\n"
              "  y 0..53 'partitions' 0='0' 20='20' 40='40'\n"
              "  band tiny -0.15..1.362\n"
              "  bar closed 1.9031..2.0000 0..50\n"
              "  figure 'cost in inserts per 1000 rows' 1\n"
              "  figure 'partitions above a limit' 10% !\n"
              "  figure 'partitions per read' 1.5\n"
              "panel chosen 'count 1' 'count: 200 rows' ''\n"
              "  y 0..53 'partitions' 0='0' 20='20' 40='40'\n"
              "  band tiny -0.15..1.362\n"
              "  bar closed 2.1987..2.3010 0..50\n"
              "  figure 'cost in inserts per 1000 rows' 2\n"
              "  figure 'partitions above a limit' 0\n"
              "  figure 'partitions per read' 1.5\n");
    free(text);
    lab_result_destroy(result);
}

static void test_best_six_of_many_are_shown_in_order(void **state)
{
    (void)state;
    struct lab_result *result = counted(20);
    /* A disqualifier of a strategy outweighs any cost. */
    for (size_t i = 0; i < 16; i++) {
        set(&result->strategies[i], "partitions.over_limit", 50 - (double)i);
        set(&result->strategies[i], "partitions.over_limit_rows", 50 - (double)i);
    }
    struct report_arena arena;
    const struct report_chart *chart = fixture_chart(result, REPORT_SUMMARY, &arena);
    static const char *const labels[] = {"count 14", "count 15", "count 16",
                                         "count 17", "count 18", "count 19"};
    assert_int_equal(chart->panel_count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(chart->panels[i].label, labels[i]);
        assert_int_equal(chart->panels[i].is_chosen, i == 2);
    }
    assert_string_equal(chart->note,
                        "the best 6 of 20 strategies; the others cost more, or have more disqualifiers");
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_unit_is_that_of_the_exceeded_limit(void **state)
{
    (void)state;
    struct lab_result *result = counted(2);
    char *text = fixture_dump(result, REPORT_SUMMARY);
    fixture_says(text, "'rows per partition'", true);
    free(text);
    set(&result->strategies[0], "partitions.over_limit_bytes", 1);
    text = fixture_dump(result, REPORT_SUMMARY);
    fixture_says(text, "'bytes per partition'", true);
    free(text);
    set(&result->strategies[1], "partitions.over_limit_rows", 1);
    text = fixture_dump(result, REPORT_SUMMARY);
    fixture_says(text, "'rows per partition'", true);
    free(text);
    result->limits.partition_rows = 0;
    text = fixture_dump(result, REPORT_SUMMARY);
    fixture_says(text, "'bytes per partition'", true);
    free(text);
    lab_result_destroy(result);
}

static void test_without_limits_none_is_chosen_and_nothing_counts_as_above(void **state)
{
    (void)state;
    struct lab_result *result = counted(3);
    result->limits = (struct lab_limits){0};
    char *text = fixture_dump(result, REPORT_SUMMARY);
    fixture_says(text, "sentence Set limits to get a recommendation, ", true);
    fixture_says(text, "figure 'partitions above a limit' –\n", true);
    assert_null(strstr(text, "chosen '"));
    assert_null(strstr(text, "the choice"));
    free(text);
    lab_result_destroy(result);
}

static void test_percentiles_give_bounds_or_nothing(void **state)
{
    (void)state;
    static const double sizes[] = {125, 1131752, 17436917, 36157190, 36157190, 36157190, 557074610};
    static const struct {
        uint64_t limit;
        double may;
        const char *text;
    } cases[] = {{600000000, 0, "0"},    {500000000, 0, "–"},     {100000000, 0, "some !"},
                 {30000000, 0, "≥5% !"}, {37000000, 0.01, "≤1%"}, {100, 0, "100% !"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab_result *result = fixture_case(7);
        char line[64];
        fixture_percentiles(result, sizes);
        result->limits =
            (struct lab_limits){.partition_bytes = cases[i].limit, .over_limit_share = cases[i].may};
        char *text = fixture_dump(result, REPORT_SUMMARY);
        snprintf(line, sizeof line, "figure 'partitions above a limit' %s\n", cases[i].text);
        fixture_says(text, line, true);
        free(text);
        lab_result_destroy(result);
    }
}

static void test_identifiers_have_no_summary(void **state)
{
    (void)state;
    struct lab_result *result = counted(1);
    result->strategies[0].settings.is_idgen = true;
    char *text = fixture_dump(result, REPORT_SUMMARY);
    assert_string_equal(text, "absent identifiers have no partitions\n");
    free(text);
    lab_result_destroy(result);
}

/* A chat shows the chart 600 pixels wide, where a text 8 pixels high is readable. */
static void check_layout(struct report_typesetter *typesetter, const struct lab_result *result, bool may_grow)
{
    struct report_arena arena;
    struct report_scene scene;
    const struct report_chart *chart = fixture_chart(result, REPORT_SUMMARY, &arena);
    size_t frames = 0;
    report_layout(chart, REPORT_PAGE_WIDTH, typesetter, &arena, &scene);
    fixture_check_scene(&scene);
    assert_true(scene.width == 800);
    assert_true(scene.height >= 420 && scene.height < (may_grow ? 560 : 450));
    for (size_t i = 0; i < scene.count; i++) {
        const struct report_mark *mark = &scene.marks[i];
        if (mark->shape == REPORT_SHAPE_TEXT) {
            assert_true(report_fonts[mark->type.font].size * 600 / 800 >= 8);
        }
        frames += mark->shape == REPORT_SHAPE_LINE && mark->ink == REPORT_INK_CHOSEN;
    }
    assert_int_equal(frames, 4); /* the sides of one frame */
    report_arena_free(&arena);
}

static void test_layout_has_the_size_of_a_preview_and_fonts_that_can_be_read(void **state)
{
    struct report_typesetter *typesetter = report_typesetter_create(NULL);
    (void)state;
    assert_non_null(typesetter);
    for (size_t strategies = 1; strategies <= 20; strategies += strategies < 7 ? 1 : 13) {
        struct lab_result *result = counted(strategies);
        check_layout(typesetter, result, strategies > 5);
        lab_result_destroy(result);
    }
    report_typesetter_destroy(typesetter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer_sizes_and_figures_are_in_one_chart),
        cmocka_unit_test(test_best_six_of_many_are_shown_in_order),
        cmocka_unit_test(test_unit_is_that_of_the_exceeded_limit),
        cmocka_unit_test(test_without_limits_none_is_chosen_and_nothing_counts_as_above),
        cmocka_unit_test(test_percentiles_give_bounds_or_nothing),
        cmocka_unit_test(test_identifiers_have_no_summary),
        cmocka_unit_test(test_layout_has_the_size_of_a_preview_and_fonts_that_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
