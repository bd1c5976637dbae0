/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the charts of reads and of nodes show how many partitions the reads of a result queried, and the load
 * of each node, in the order of node numbers or, for many nodes, of loads; or why they are left out. Method:
 * charts of hand-made results as text and by their hints; the bars' sum compared with the histogram; shares
 * that add up to 1; the layout's boxes. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

static char *dump(size_t index)
{
    struct lab_result *result = fixture_reads_case(index);
    char *text = fixture_dump(result, REPORT_READS);
    lab_result_destroy(result);
    return text;
}

static void test_reads_of_few_partitions_are_on_a_linear_axis(void **state)
{
    (void)state;
    char *text = dump(1);
    assert_string_equal(
        text, "chart reads\n"
              "title Partitions per read: reads-with-alarms\n"
              "subtitle 2 strategies over the same 1.56G rows of 10K keys · synthetic workload · seed 1\n"
              "foot digest 0123456789abcdef · virtual time 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z\n"
              "start 1767225600000000000\n"
              "x -0.7..12.7 'partitions queried by a read' 0='0' 2='2' 4='4' 6='6' 8='8' 10='10' 12='12'\n"
              "panel 'hash' '12 buckets' ''\n"
              "  y 0..1908 'reads' 0='0' 500='500' 1000='1K' 1500='1.5K'\n"
              "  bar closed 0.5800..1.4200 0..600\n"
              "  bar closed 1.5800..2.4200 0..300\n"
              "  bar closed 2.5800..3.4200 0..200\n"
              "  bar closed 3.5800..4.4200 0..150\n"
              "  bar closed 4.5800..5.4200 0..120\n"
              "  bar closed 5.5800..6.4200 0..100\n"
              "  bar closed 6.5800..7.4200 0..85\n"
              "  bar closed 7.5800..8.4200 0..75\n"
              "  bar closed 8.5800..9.4200 0..66\n"
              "  bar closed 9.5800..10.4200 0..60\n"
              "  bar closed 10.5800..11.4200 0..54\n"
              "  bar closed 11.5800..12.4200 0..50\n"
              "  figure 'reads' 1.86K\n"
              "  figure 'mean' 3.86\n"
              "  figure 'p99' 12\n"
              "  figure 'most' 12\n"
              "  figure 'without a row' 10.4%\n"
              "  figure 'failed' 3 !\n"
              "  figure 'incomplete' 17 !\n"
              "  figure 'out of order' 1.41K !\n"
              "  figure 'cut off at 12' 50 !\n"
              "panel 'time' 'windows of 1 d' ''\n"
              "  y 0..1908 'reads' 0='0' 500='500' 1000='1K' 1500='1.5K'\n"
              "  bar closed -0.4200..0.4200 0..40\n"
              "  bar closed 1.5800..2.4200 0..1800\n"
              "  figure 'reads' 1.84K\n"
              "  figure 'mean' 1.96\n"
              "  figure 'p99' 2\n"
              "  figure 'most' 2\n"
              "  figure 'without a row' 0%\n");
    free(text);
}

static void test_reads_of_many_partitions_are_on_a_log_axis(void **state)
{
    (void)state;
    char *text = dump(4);
    fixture_says(text,
                 "x -0.12..2.122 'partitions queried by a read (log scale)' 0='1' 0.301='2' 0.699='5' 1='10' "
                 "1.301='20' 1.699='50' 2='100'\n",
                 true);
    fixture_says(text, "  bar closed -0.0600..0.0600 0..10\n  bar closed 0.2410..0.3610 0..10\n", true);
    free(text);
    text = dump(2);
    fixture_says(text, " -0.3='0' 0='1' 1='10' ", true);
    fixture_says(
        text, "  bar closed -0.3600..-0.2400 -0.301..1.301\n  bar closed -0.0600..0.0600 -0.301..2\n", true);
    fixture_says(text,
                 "panel 'without reads' 'time: windows of 1 d' 'no read was answered'\n"
                 "  y -0.301..3.737 'reads (log)' 0='1' 1='10' 2='100' 3='1K'\n",
                 true);
    free(text);
}

/* Whatever the bins, no read is lost; the histogram may round values up beyond the maximum. */
static void test_bars_of_each_case_add_up_to_all_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < FIXTURE_READS_COUNT; i++) {
        struct lab_result *result = fixture_reads_case(i);
        struct report_arena arena;
        const struct report_chart *chart = fixture_chart(result, REPORT_READS, &arena);
        for (size_t k = 0; k < chart->panel_count; k++) {
            const struct report_panel *panel = &chart->panels[k];
            double sum = 0, last = chart->x.low;
            for (size_t bar = 0; bar < panel->bar_count; bar++) {
                sum += panel->y.is_log ? round(pow(10, panel->bars[bar].high)) : panel->bars[bar].high;
                assert_true(panel->bars[bar].from >= last && panel->bars[bar].to > panel->bars[bar].from);
                assert_non_null(panel->bars[bar].hint);
                last = panel->bars[bar].to;
            }
            assert_true(last <= chart->x.high);
            assert_true(sum == (double)result->strategies[k].read_partitions.count);
        }
        report_arena_free(&arena);
        lab_result_destroy(result);
    }
}

static void test_hint_of_a_bar_counts_its_reads_exactly(void **state)
{
    (void)state;
    struct lab_result *result = fixture_reads_case(2);
    struct report_arena arena;
    const struct report_chart *chart = fixture_chart(result, REPORT_READS, &arena);
    const struct report_panel *wide = &chart->panels[0];
    assert_string_equal(wide->bars[0].hint, "0 partitions: 20 of 5,420 reads (0.369%); 0.369% query no more");
    assert_string_equal(wide->bars[1].hint, "1 partition: 100 of 5,420 reads (1.85%); 2.21% query no more");
    assert_string_equal(
        wide->bars[wide->bar_count - 1].hint,
        "891,250,001 to 999,999,999 partitions: 500 of 5,420 reads (9.23%); 100% query no more");
    assert_string_equal(chart->panels[1].bars[0].hint,
                        "252 to 281 partitions: 3,900 of 3,900 reads (100%); 100% query no more");
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_result_without_reads_says_why(void **state)
{
    (void)state;
    char *text = dump(5);
    assert_string_equal(text, "absent no read was answered in the time of the run\n");
    free(text);
    struct lab_result *result = fixture_result("no-reads", "synthetic");
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_unbucketed(&strategy), BK_OK);
    struct lab_strategy_result *only = fixture_add(result, NULL, &strategy);
    struct report_arena arena;
    assert_string_equal(fixture_chart(result, REPORT_READS, &arena)->absent, "the scenario has no reads");
    report_arena_free(&arena);
    only->settings.observed = WL_OBSERVED_PARTITIONS;
    assert_string_equal(fixture_chart(result, REPORT_READS, &arena)->absent,
                        "nothing was run, so nothing was read");
    report_arena_free(&arena);
    lab_result_destroy(result);
}

static void test_reads_of_each_case_do_not_overlap(void **state)
{
    for (size_t i = 0; i + 1 < FIXTURE_READS_COUNT; i++) {
        struct lab_result *result = fixture_reads_case(i);
        fixture_lay_out(result, REPORT_READS, REPORT_PAGE_WIDTH, *state);
        lab_result_destroy(result);
    }
}

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

static void test_nodes_of_each_number_do_not_overlap(void **state)
{
    static const size_t strategies[] = {1, 2, 5, 9}, nodes[] = {2, 3, 24, 25, 500};
    for (size_t i = 0; i < 20; i++) {
        struct lab_result *result = make_result(strategies[i / 5], nodes[i % 5]);
        fixture_lay_out(result, REPORT_NODES, REPORT_PAGE_WIDTH, *state);
        lab_result_destroy(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_of_few_partitions_are_on_a_linear_axis),
        cmocka_unit_test(test_reads_of_many_partitions_are_on_a_log_axis),
        cmocka_unit_test(test_bars_of_each_case_add_up_to_all_reads),
        cmocka_unit_test(test_hint_of_a_bar_counts_its_reads_exactly),
        cmocka_unit_test(test_result_without_reads_says_why),
        cmocka_unit_test(test_reads_of_each_case_do_not_overlap),
        cmocka_unit_test(test_few_nodes_are_sorted_by_their_numbers),
        cmocka_unit_test(test_many_nodes_are_sorted_by_their_loads_and_add_up_to_all),
        cmocka_unit_test(test_result_without_several_nodes_says_why),
        cmocka_unit_test(test_empty_nodes_have_no_bars),
        cmocka_unit_test(test_nodes_of_each_number_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, fixture_typesetter_begin, fixture_typesetter_end);
}
