/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: no element of a chart overlaps another or is clipped. Method: the boxes of every chart of every
 * special case of the gallery, measured by Pango, compared with each other, the page and the plots. A warning
 * of Pango or Cairo ends the program. */
#include "fixture.h"

static const double slack = 0.01;

static void test_chart_of_each_case_has_no_overlap_and_no_clipping(void **state)
{
    struct report_typesetter *typesetter = *state;
    size_t charts = 0;
    for (size_t i = 0; i < FIXTURE_COUNT; i++) {
        struct lab_result *result = fixture_case(i);
        for (int kind = 0; kind < REPORT_KIND_COUNT; kind++) {
            struct report_arena arena = {NULL};
            struct report_scene scene;
            const struct report_chart *chart = report_chart_make(result, (enum report_kind)kind, &arena);
            if (chart->absent == NULL) {
                report_layout(chart, REPORT_PAGE_WIDTH, typesetter, &arena, &scene);
                fixture_check_scene(&scene);
                charts++;
                /* The same at the width of a phone, except for the summary, which is not part of a page, and
                 * for charts with hundreds of panels, which would be too high. */
                if (kind != REPORT_SUMMARY && chart->panel_count < 64) {
                    report_layout(chart, 390, typesetter, &arena, &scene);
                    assert_true(scene.width == 390);
                    fixture_check_scene(&scene);
                }
            }
            report_arena_free(&arena);
        }
        lab_result_destroy(result);
    }
    assert_true(charts > 40);
}

/* Sixteen panels fit side by side on one screen; from seven panels on they are small, six are not. */
static void test_many_strategies_are_side_by_side(void **state)
{
    for (size_t count = REPORT_WIDE_PANELS_MAX; count <= 16; count += 10) {
        struct lab_result *result = fixture_result("many", "synthetic");
        struct bk_strategy strategy;
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(bk_strategy_count(10 + i, &strategy), BK_OK);
            char label[32];
            snprintf(label, sizeof label, "number-%zu", i);
            struct lab_strategy_result *out = fixture_add(result, label, &strategy);
            fixture_put(out, false, 10 + i, 90000);
            fixture_metrics(result, out, 1, 0, 0);
        }
        struct report_arena arena;
        struct report_scene scene;
        struct report_chart *chart = fixture_chart(result, REPORT_PARTITIONS_ROWS, &arena);
        report_layout(chart, REPORT_PAGE_WIDTH, *state, &arena, &scene);
        double first = 0, second = 0;
        for (size_t i = 0; i < scene.count; i++) {
            const struct report_mark *mark = &scene.marks[i];
            const bool is_text = mark->shape == REPORT_SHAPE_TEXT;
            first = is_text && strcmp(mark->type.text, "number-0") == 0 ? mark->box.y : first;
            second = is_text && strcmp(mark->type.text, "number-1") == 0 ? mark->box.y : second;
        }
        assert_true(count == 16 ? first == second && scene.height < 1000 : first < second);
        report_arena_free(&arena);
        lab_result_destroy(result);
    }
}

static void test_label_with_markup_stays_text(void **state)
{
    struct report_typesetter *typesetter = *state;
    const struct report_type marked = {.text = "<b>x</b> & y", .font = REPORT_FONT_LABEL, .lines = 1};
    const struct report_type plain = {.text = "x & y", .font = REPORT_FONT_LABEL, .lines = 1};
    assert_true(report_typeset_measure(typesetter, &marked).width >
                report_typeset_measure(typesetter, &plain).width + 20);
}

static void test_text_beyond_its_width_is_broken_then_cut(void **state)
{
    struct report_typesetter *typesetter = *state;
    struct report_type type = {.text = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", .font = REPORT_FONT_LABEL};
    type.lines = 1;
    const struct report_extent free_extent = report_typeset_measure(typesetter, &type);
    type.width = 100;
    const struct report_extent one = report_typeset_measure(typesetter, &type);
    assert_true(free_extent.width > 300 && one.width <= 100.01);
    assert_true(fabs(one.height - free_extent.height) < slack);
    type.lines = 3;
    const struct report_extent three = report_typeset_measure(typesetter, &type);
    assert_true(three.width <= 100.01);
    assert_true(fabs(three.height - 3 * one.height) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chart_of_each_case_has_no_overlap_and_no_clipping),
        cmocka_unit_test(test_many_strategies_are_side_by_side),
        cmocka_unit_test(test_label_with_markup_stays_text),
        cmocka_unit_test(test_text_beyond_its_width_is_broken_then_cut),
    };
    return cmocka_run_group_tests(tests, fixture_typesetter_begin, fixture_typesetter_end);
}
