/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the hint of a mark gives the full value and says what it is a value of, and every hint of a model
 * reaches the scene. Method: hints of hand-made charts, as text; every case laid out, and its hints searched
 * for among the marks. */
#define _XOPEN_SOURCE 700

#include "fixture.h"

#include "kernel/time.h"
#include "reports/format.h"

static void check_hints(const struct report_chart *chart, const char *wanted)
{
    char *text = fixture_text(chart, report_chart_dump_hints);
    assert_string_equal(text, wanted);
    free(text);
}

static void check_kind(const struct lab_result *result, enum report_kind kind, const char *wanted)
{
    struct report_arena arena;
    check_hints(fixture_chart(result, kind, &arena), wanted);
    report_arena_free(&arena);
}

static void test_number_in_full_keeps_every_digit(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {1, "1"},
                 {999, "999"},
                 {1000, "1,000"},
                 {20480, "20,480"},
                 {-1234567.25, "−1,234,567.25"},
                 {1.953125, "1.953125"},
                 {9007199254740991, "9,007,199,254,740,991"},
                 {0.1 + 0.2, "0.3"},
                 {1.0 / 3, "0.333333333333333"},
                 {0.000001, "0.000001"},
                 {1.5e-7, "1.5·10⁻⁷"},
                 {1e18, "1,000,000,000,000,000,000"}};
    struct report_arena arena = {NULL};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(report_full(&arena, cases[i].value), cases[i].text);
    }
    assert_string_equal(report_grouped(&arena, UINT64_MAX), "18,446,744,073,709,551,615");
    report_arena_free(&arena);
}

static void test_bar_shows_its_sizes_count_and_share(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("two", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(5, &strategy), BK_OK);
    struct lab_strategy_result *count = fixture_add(result, NULL, &strategy);
    fixture_put(count, false, 5, 12345);
    fixture_put(count, true, 2, 1);
    fixture_put(count, true, 2345, 7);
    check_kind(result, REPORT_PARTITIONS_ROWS,
               "panel 'count'\n"
               "hint 2 rows: 1 open partition, 0.0081% of all\n"
               "hint 5 rows: 12,345 closed partitions, 99.9% of all\n"
               "hint 2,239 to 2,511 rows: 7 open partitions, 0.0567% of all\n");
    lab_result_destroy(result);
}

static void test_bar_next_to_the_distribution_shows_what_it_expects(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("distribution", "synthetic");
    struct bk_strategy strategy;
    /* A row ends its partition with chance 1/2: half the partitions have one row. */
    assert_int_equal(bk_strategy_probabilistic(1, 1, &strategy), BK_OK);
    fixture_put(fixture_add(result, NULL, &strategy), false, 1, 101);
    check_kind(result, REPORT_PARTITIONS_ROWS,
               "panel 'probabilistic'\n"
               "hint 1 row: 101 closed partitions, 100% of all; the exact distribution expects 50.5\n");
    lab_result_destroy(result);
}

/* Samples once per second, from two seconds before the change. */
static void test_span_shows_agent_times_and_belief(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("views", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(9, 40, &strategy), BK_OK);
    struct lab_strategy_result *views = fixture_add(result, NULL, &strategy);
    const int64_t stored_ns = INT64_C(1767225600000000000);
    fixture_views_begin(views, "k", 1, stored_ns, stored_ns + 2 * SIM_SECOND);
    const struct {
        bool is_known, is_changing;
        int64_t bucket;
    } looks[] = {{false, false, 0}, {true, false, 1234}, {true, true, 1234}, {true, false, 1235},
                 {true, false, 7},  {true, false, 8},    {true, false, 8}};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        fixture_look(views, stored_ns + ((int64_t)i - 2) * SIM_SECOND, 0, looks[i].is_known, looks[i].bucket,
                     looks[i].is_changing);
    }
    check_kind(result, REPORT_BUCKET_CHANGES,
               "panel 'probabilistic'\n"
               "hint agent 0, −2 s to −1 s since the change was stored: not in its cache\n"
               "hint agent 0, −1 s to 0 s since the change was stored: bucket 1234\n"
               "hint agent 0, 0 s to 1 s since the change was stored: bucket 1234, knows the coming change\n"
               "hint agent 0, 1 s to 2 s since the change was stored: bucket 1235\n"
               "hint agent 0, 2 s to 3 s since the change was stored: bucket 7\n"
               "hint agent 0, 3 s to 5 s since the change was stored: bucket 8\n");
    lab_result_destroy(result);
}

static void test_spot_shows_both_figures(void **state)
{
    (void)state;
    struct report_arena arena = {NULL};
    const struct report_front_point spots[] = {{"9 bits", 1.953125, 15789, 15789, 15789, true, false},
                                               {"hash", 7, 500, 250, 750, false, false}};
    const struct report_front front = {.scenario = "s", .points = spots, .count = 2, .has_recommended = true};
    check_hints(
        report_front_make(&front, &arena),
        "hint 9 bits; cost in inserts per 1000 rows: 1.953125; bytes of partitions, p99: 15,789; "
        "recommended, on the front\n"
        "hint hash; cost in inserts per 1000 rows: 7; bytes of partitions, p99: 500 (250 to 750); not "
        "on the front\n");
    report_arena_free(&arena);
}

/* The number of marks with a hint is the same in the scene and in the model. */
static void test_every_hint_reaches_the_scene(void **state)
{
    for (size_t i = 0; i < fixture_pages_count(); i++) {
        struct report_arena arena = {NULL};
        struct report_scene scene;
        struct report_chart *chart = fixture_pages_chart(i, &arena);
        if (chart->absent != NULL) {
            report_arena_free(&arena);
            continue;
        }
        report_layout(chart, REPORT_PAGE_WIDTH, *state, &arena, &scene);
        char *text = fixture_text(chart, report_chart_dump_hints);
        size_t wanted = 0, found = 0;
        for (const char *at = text; (at = strstr(at, "\nhint ")) != NULL; at++) {
            wanted++;
        }
        wanted += strncmp(text, "hint ", 5) == 0;
        free(text);
        for (size_t k = 0; k < scene.count; k++) {
            found += scene.marks[k].hint != NULL;
        }
        assert_int_equal(found, wanted);
        assert_true(wanted > 0);
        report_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number_in_full_keeps_every_digit),
        cmocka_unit_test(test_bar_shows_its_sizes_count_and_share),
        cmocka_unit_test(test_bar_next_to_the_distribution_shows_what_it_expects),
        cmocka_unit_test(test_span_shows_agent_times_and_belief),
        cmocka_unit_test(test_spot_shows_both_figures),
        cmocka_unit_test(test_every_hint_reaches_the_scene),
    };
    return cmocka_run_group_tests(tests, fixture_typesetter_begin, fixture_typesetter_end);
}
