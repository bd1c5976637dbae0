/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the chart of nodes shows the load of each node, in the order of node numbers or, for many nodes, of
 * loads; or why it is left out. Method: charts of hand-made results as text and by their hints; shares
 * that add up to 1; the layout's boxes for 1 to 9 strategies and 2 to 500 nodes; every allocation fails in
 * turn. */
#include "fixture.h"

/* The loads go up and down, so that neither order occurs by chance. */
static struct lab_result *make_result(size_t strategies, size_t nodes)
{
    struct lab_result *result = fixture_result("loads", "synthetic");
    for (size_t i = 0; i < strategies; i++) {
        char label[64];
        struct bk_strategy strategy;
        snprintf(label, sizeof label, i == 1 ? "сообщения пользователей с очень длинным именем" : "time %zu",
                 i);
        assert_int_equal(bk_strategy_time(INT64_C(3600000000000), 0, &strategy), BK_OK);
        struct lab_strategy_result *added = fixture_add(result, label, &strategy);
        free(added->nodes);
        added->nodes = calloc(nodes, sizeof *added->nodes);
        assert_true(added->nodes != NULL || nodes == 0);
        added->node_count = nodes;
        for (size_t node = 0; node < nodes; node++) {
            snprintf(added->nodes[node].name, sizeof added->nodes[node].name, "node %zu", node);
            added->nodes[node].rows = 10 + (node * 7 + i) % 5;
            added->nodes[node].bytes = 1000 * added->nodes[node].rows;
        }
    }
    return result;
}

static void assert_text(const struct lab_result *result, const char *expected)
{
    char *text = fixture_dump(result, REPORT_NODES);
    assert_string_equal(text, expected);
    free(text);
}

static void test_few_nodes_are_sorted_by_their_numbers(void **state)
{
    (void)state;
    struct lab_result *result = make_result(1, 3);
    assert_text(result,
                "chart nodes\n"
                "title Load per node: loads\n"
                "subtitle 1 strategy over 1.56G rows of 10K keys · synthetic workload · seed 1\n"
                "foot digest 0123456789abcdef · virtual time 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z\n"
                "start 1767225600000000000\n"
                "legend closed share of all bytes, replicas included\n"
                "legend distribution even share\n"
                "x -0.5..2.5 'node' 0='0' 1='1' 2='2'\n"
                "panel 'time 0' 'time: windows of 1 h' ''\n"
                "  y 0..0.4122 'share of bytes' 0='0%' 0.1='10%' 0.2='20%' 0.3='30%' 0.4='40%'\n"
                "  bar closed -0.4200..0.4200 0..0.2778\n"
                "  bar closed 0.5800..1.4200 0..0.3333\n"
                "  bar closed 1.5800..2.4200 0..0.3889\n"
                "  curve distribution -0.5000..2.5000 top 0.3333 at -0.5000\n"
                "  figure 'nodes' 3\n"
                "  figure 'fullest holds' 14 KB\n"
                "  figure 'fullest / even' 1.17\n"
                "  figure 'emptiest / even' 0.833\n");
    lab_result_destroy(result);
}

static void test_many_nodes_are_sorted_by_their_loads_and_add_up_to_all(void **state)
{
    (void)state;
    struct lab_result *result = make_result(2, 100);
    struct report_arena arena;
    const struct report_chart *chart = fixture_chart(result, REPORT_NODES, &arena);
    assert_string_equal(chart->x.title, "nodes, the fullest first");
    for (size_t i = 0; i < 2; i++) {
        const struct report_panel *panel = &chart->panels[i];
        double sum = 0;
        assert_int_equal(panel->bar_count, 100);
        for (size_t bar = 0; bar < 100; bar++) {
            sum += panel->bars[bar].high;
            assert_true(bar == 0 || panel->bars[bar].high <= panel->bars[bar - 1].high);
        }
        assert_true(fabs(sum - 1) < 1e-12);
        assert_true(panel->curve_count == 2 && panel->curve[0].y == 0.01 && panel->curve[1].x == 100.5);
    }
    assert_string_equal(chart->panels[0].bars[0].hint,
                        "node 2: 1.17% of the bytes, 1.17 times the even share (14,000 bytes, 14 rows)");
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_result_without_several_nodes_says_why(void **state)
{
    (void)state;
    struct lab_result *result = make_result(1, 1);
    assert_text(result, "absent one node holds everything\n");
    lab_result_destroy(result);
    result = make_result(1, 0);
    assert_text(result, "absent what each node holds was not kept with this run\n");
    result->strategies[0].settings.observed = WL_OBSERVED_PARTITIONS;
    assert_text(result, "absent nothing was run, so no node holds data\n");
    lab_result_destroy(result);
}

static void test_empty_nodes_have_no_bars(void **state)
{
    (void)state;
    struct lab_result *result = make_result(1, 4);
    struct report_arena arena;
    memset(result->strategies[0].nodes, 0, 4 * sizeof *result->strategies[0].nodes);
    const struct report_chart *chart = fixture_chart(result, REPORT_NODES, &arena);
    assert_true(chart->absent == NULL && chart->panels[0].bar_count == 0 &&
                chart->panels[0].figure_count == 0);
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_layout_has_no_overlap_and_no_clipping(void **state)
{
    static const size_t strategies[] = {1, 2, 5, 9}, nodes[] = {2, 3, 24, 25, 500};
    for (size_t i = 0; i < 20; i++) {
        struct lab_result *result = make_result(strategies[i / 5], nodes[i % 5]);
        fixture_lay_out(result, REPORT_NODES, REPORT_PAGE_WIDTH, *state);
        lab_result_destroy(result);
    }
}

static void test_chart_without_memory_reports_the_failure(void **state)
{
    (void)state;
    struct lab_result *result = make_result(2, 30);
    assert_true(fixture_without_memory(result, REPORT_NODES, NULL, NULL) > 20);
    lab_result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_nodes_are_sorted_by_their_numbers),
        cmocka_unit_test(test_many_nodes_are_sorted_by_their_loads_and_add_up_to_all),
        cmocka_unit_test(test_result_without_several_nodes_says_why),
        cmocka_unit_test(test_empty_nodes_have_no_bars),
        cmocka_unit_test(test_layout_has_no_overlap_and_no_clipping),
        cmocka_unit_test(test_chart_without_memory_reports_the_failure),
    };
    return cmocka_run_group_tests(tests, fixture_typesetter_begin, fixture_typesetter_end);
}
