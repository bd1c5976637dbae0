/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the chart of agents' views shows what the samples contain: the old and the new bucket, what each agent
 * believed at each time and how long agents disagreed, limited to the relevant span. Method: a few hand-made
 * samples, as text or field by field. */
#include "fixture.h"

#include "kernel/time.h"
#include "reports/format.h"

static const int64_t stored_ns = INT64_C(1767225600000000000);

static void assert_says(const struct lab_result *result, const char *part)
{
    char *text = fixture_dump(result, REPORT_BUCKET_CHANGES);
    fixture_says(text, part, true);
    free(text);
}

static void assert_silent(const struct lab_result *result, const char *part)
{
    char *text = fixture_dump(result, REPORT_BUCKET_CHANGES);
    fixture_says(text, part, false);
    free(text);
}

static struct lab_strategy_result *add(struct lab_result *result, const char *label)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(9, 40, &strategy), BK_OK);
    struct lab_strategy_result *added = fixture_add(result, label, &strategy);
    assert_true(lab_metrics_add(&added->metrics, "writes.misrouted", 1));
    return added;
}

/* Samples of one agent at second 0, 1, 2 ... from `from_s` on, one character per sample: a digit is a bucket,
 * a letter the same bucket with a change ahead (a: 0, b: 1), '.' an unknown bucket. */
static void look_all(struct lab_strategy_result *strategy, int from_s, const char *const *lanes,
                     uint32_t lane_count)
{
    for (size_t i = 0; lanes[0][i] != 0; i++) {
        for (uint32_t lane = 0; lane < lane_count; lane++) {
            const char at = lanes[lane][i];
            bool is_changing = at >= 'a';
            fixture_look(strategy, stored_ns + (from_s + (int64_t)i) * SIM_SECOND, lane, at != '.',
                         is_changing ? at - 'a' : at - '0', is_changing);
        }
    }
}

static struct lab_result *result_of(const char *const *lanes, uint32_t lane_count, int from_s, int until_s)
{
    struct lab_result *result = fixture_result("views", "synthetic");
    struct lab_strategy_result *strategy = add(result, NULL);
    fixture_views_begin(strategy, "k", lane_count, stored_ns, stored_ns + until_s * SIM_SECOND);
    look_all(strategy, from_s, lanes, lane_count);
    return result;
}

static void test_change_of_three_agents_is_described_lane_by_lane(void **state)
{
    (void)state;
    const char *const lanes[] = {"3333ddd4444444", "33333333344444", "..33.dd4444445"};
    struct lab_result *result = result_of(lanes, 3, -4, 3);
    result->strategies[0].settings.coordination = BK_THREE_STATE;
    result->strategies[0].settings.lead_ns = 3 * SIM_SECOND;
    char *text = fixture_dump(result, REPORT_BUCKET_CHANGES);
    assert_string_equal(
        text,
        "chart bucket-changes\n"
        "title Each agent's view of a key's bucket: views\n"
        "subtitle 1 strategy over 1.56G rows of 10K keys · synthetic workload · seed 1\n"
        "foot digest 0123456789abcdef · virtual time 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z\n"
        "start 1767225600000000000\n"
        "legend old old bucket\n"
        "legend old-soon old bucket, knows the coming change\n"
        "legend new new bucket\n"
        "legend other another bucket\n"
        "legend unknown not in the agent's cache\n"
        "legend split agents disagree, and rows were misrouted\n"
        "panel 'probabilistic' '9 bits, threshold 40, three-state, lead 3 s · key k' ''\n"
        "  x -4..10 'seconds since the change was stored' -4='−4' -2='−2' 0='0' 2='2' 4='4' 6='6' 8='8' "
        "10='10'\n"
        "  band split 3..5\n"
        "  band split 9..10\n"
        "  moment 0 'change stored'\n"
        "  moment 3 'change time'\n"
        "  stage -4..0 'steady'\n"
        "  stage 0..3 'pre-change'\n"
        "  stage 3..10 'post-change'\n"
        "  lane 'agent 0' old -4..0 old-soon 0..3 new 3..10\n"
        "  lane 'agent 1' old -4..5 new 5..10\n"
        "  lane 'agent 2' unknown -4..-2 old -2..0 unknown 0..1 old-soon 1..3 new 3..9 other 9..10\n"
        "  figure 'agents' 3\n"
        "  figure 'old bucket' 3\n"
        "  figure 'new bucket' 4\n"
        "  figure 'change time' after 3 s\n"
        "  figure 'agents disagree for' 3 s !\n"
        "  figure 'sampled every' 1 s\n");
    free(text);
    lab_result_destroy(result);
}

static void test_immediate_change_has_one_line_and_no_pre_change(void **state)
{
    (void)state;
    const char *const lanes[] = {"0000000000000011111111111111"};
    struct lab_result *result = result_of(lanes, 1, -14, 0);
    assert_says(result, "  moment 0 'change stored = change time'\n  stage -6..0 'steady'\n"
                        "  stage 0..6 'post-change'\n  lane 'agent 0' old -6..0 new 0..6\n");
    assert_says(result, "  figure 'change time' at once\n  figure 'agents disagree' never\n");
    assert_says(result, "'9 bits, threshold 40, single · key k'");
    assert_silent(result, "split");
    /* Within the interval of one sample both count as one moment, whichever came first. */
    result->strategies[0].views.until_ns = stored_ns + 999 * SIM_MS;
    assert_says(result,
                "'change stored = change time'\n  stage -6..0 'steady'\n  stage 0..6.999 'post-change'\n");
    result->strategies[0].views.until_ns = stored_ns - 999 * SIM_MS;
    result->strategies[0].settings.coordination = BK_LOCKED;
    assert_says(result, "  figure 'change time' at once\n");
    assert_says(result, "'9 bits, threshold 40, locked · key k'");
    result->strategies[0].views.until_ns = stored_ns + SIM_SECOND;
    assert_says(result, "  moment 1 'change time'\n");
    lab_result_destroy(result);
}

static void test_range_covers_little_more_than_change_and_disagreement(void **state)
{
    (void)state;
    enum { BEFORE = 200, LOOKS = 500, LEAD = 50, LATE = 30 };
    char lanes[2][LOOKS + 1] = {{0}};
    for (int i = 0; i < LOOKS; i++) {
        lanes[0][i] = i < BEFORE ? '0' : i < BEFORE + LEAD ? 'a' : '1';
        lanes[1][i] = i < BEFORE + LEAD + LATE ? '0' : '1';
    }
    const char *const both[] = {lanes[0], lanes[1]};
    struct lab_result *result = result_of(both, 2, -BEFORE, LEAD);
    /* A margin of a fifth of 80 s on either side. */
    assert_says(result, "  x -16..96 'seconds since the change was stored'");
    assert_says(result, "  band split 50..80\n");
    assert_says(result, "  lane 'agent 1' old -16..80 new 80..96\n");
    lab_result_destroy(result);
}

static void test_samples_that_end_early_say_so_and_omit_the_line(void **state)
{
    (void)state;
    const char *const lanes[] = {"0000aaa"};
    struct lab_result *result = result_of(lanes, 1, -4, 1000);
    assert_says(result, "'the last sample was 16.6 min before the change time'\n  x -4..3 ");
    assert_says(result, "  moment 0 'change stored'\n  stage -4..0 'steady'\n  stage 0..3 'pre-change'\n"
                        "  lane ");
    assert_says(result, "  figure 'new bucket' –\n  figure 'change time' after 16.7 min\n");
    lab_result_destroy(result);
}

static void test_change_time_before_the_change_was_stored_is_marked(void **state)
{
    (void)state;
    const char *const lanes[] = {"00000000001111111111"};
    struct lab_result *result = result_of(lanes, 1, -10, -2);
    assert_says(result, "  moment -2 'change time'\n  moment 0 'change stored'\n  stage -8..0 'steady'\n"
                        "  stage 0..6 'post-change'\n");
    assert_says(result, "  figure 'change time' 2 s before !\n");
    lab_result_destroy(result);
}

static void test_key_that_no_agent_knew_is_all_unknown(void **state)
{
    (void)state;
    const char *const lanes[] = {"........", "........"};
    struct lab_result *result = result_of(lanes, 2, -4, 2);
    assert_says(result, "'no agent's cache knew the key'");
    assert_says(result, "  lane 'agent 0' unknown -4..4\n  lane 'agent 1' unknown -4..4\n");
    assert_says(result, "  figure 'old bucket' –\n  figure 'new bucket' –\n");
    assert_silent(result, "split");
    lab_result_destroy(result);
}

static void test_old_bucket_is_that_of_most_agents_before_the_change(void **state)
{
    (void)state;
    const struct {
        const char *lanes[3];
        const char *old_figure, *new_figure;
    } cases[] = {
        {{"1111222", "2222222", "1111222"}, "'old bucket' 1", "'new bucket' 2"},
        {{"0111222", "1111222", "1111233"}, "'old bucket' 1", "'new bucket' 2"}, /* the last belief counts */
        {{"2222222", "1111111", "...3333"}, "'old bucket' 1", "'new bucket' 2"}, /* a tie: the lower one */
        {{"....bb2", "......2", "......2"}, "'old bucket' 1", "'new bucket' 2"}, /* unknown before */
        {{".....55", ".....55", "......."}, "'old bucket' 5", "'new bucket' –"}, /* seen too early */
        {{"......f", "......5", "......6"}, "'old bucket' 5", "'new bucket' 6"}, /* or not seen */
        {{"......5", "......5", "......."}, "'old bucket' –", "'new bucket' 5"},
        {{"4444444", "4444443", "4444442"},
         "'old bucket' 4",
         "'new bucket' –"}, /* a lower bucket is not a new one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lab_result *result = result_of(cases[i].lanes, 3, -4, 2);
        assert_says(result, cases[i].old_figure);
        assert_says(result, cases[i].new_figure);
        lab_result_destroy(result);
    }
}

static void test_agents_that_do_not_know_the_key_do_not_disagree(void **state)
{
    (void)state;
    const char *const apart[] = {"0000....1111", "....1111...."};
    struct lab_result *result = result_of(apart, 2, -4, 0);
    assert_silent(result, "split");
    lab_result_destroy(result);
    const char *const twice[] = {"000011111111", "000001110111"};
    result = result_of(twice, 2, -4, 0);
    assert_says(result, "  band split 0..1\n  band split 4..5\n");
    assert_says(result, "'agents disagree for' 2 s !");
    lab_result_destroy(result);
}

/* As with guarded, where no agent places a row by its cache alone. */
static void test_agents_that_disagree_without_misrouting_are_not_red(void **state)
{
    (void)state;
    const char *const twice[] = {"000011111111", "000001110111"};
    struct lab_result *result = result_of(twice, 2, -4, 0);
    result->strategies[0].metrics.items[0].value = 0;
    assert_silent(result, "split");
    assert_says(result, "'agents disagree for' 2 s\n");
    lab_result_destroy(result);
}

/* One agent is sampled at a time: each sample is valid until that agent's next one. */
static void test_samples_of_agents_in_turn_are_valid_until_the_next(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("views", "synthetic");
    struct lab_strategy_result *strategy = add(result, NULL);
    fixture_views_begin(strategy, "k", 2, stored_ns, stored_ns);
    for (int64_t i = -4; i < 8; i++) {
        fixture_look(strategy, stored_ns + i * SIM_SECOND, i % 2 != 0, true, i < 2 ? 0 : 1, false);
    }
    assert_says(result, "  band split 2..3\n");
    assert_says(result, "  lane 'agent 0' old -4..2 new 2..8\n  lane 'agent 1' old -3..3 new 3..8\n");
    lab_result_destroy(result);
}

static void test_strategies_without_a_change_have_no_panel(void **state)
{
    (void)state;
    const char *const lanes[] = {"0000000011111111"};
    struct lab_result *result = result_of(lanes, 1, -8, 0);
    struct lab_strategy_result *nameless = add(result, "no change seen");
    fixture_views_begin(nameless, NULL, 1, 0, 0);
    look_all(nameless, 0, lanes, 1);
    fixture_views_begin(add(result, "no looks"), "k", 1, stored_ns, stored_ns);
    add(result, "stream engine");
    char *text = fixture_dump(result, REPORT_BUCKET_CHANGES);
    const char *panel = strstr(text, "panel ");
    assert_non_null(panel);
    assert_null(strstr(panel + 1, "panel "));
    free(text);
    lab_result_destroy(result);
    result = fixture_result("views", "synthetic");
    add(result, "stream engine");
    text = fixture_dump(result, REPORT_BUCKET_CHANGES);
    assert_string_equal(text, "absent no agent was seen while a key's bucket changed\n");
    free(text);
    lab_result_destroy(result);
}

static void test_panels_of_similar_length_share_their_scale(void **state)
{
    (void)state;
    const char *const lanes[] = {"000000000000000000000011111111111111111111111111111111"};
    struct lab_result *result = result_of(lanes, 1, -20, 2);
    struct lab_strategy_result *longer = add(result, "longer");
    fixture_views_begin(longer, "k", 1, stored_ns, stored_ns + 9 * SIM_SECOND);
    look_all(longer, -20, lanes, 1);
    assert_says(result, "x -6..15 ");
    assert_silent(result, "x -6..8 ");
    /* When the samples end before the common scale does, the panels have separate scales. */
    const size_t count = result->strategies[0].views.count;
    result->strategies[0].views.count = 34;
    assert_says(result, "x -6..8 ");
    assert_says(result, "x -6..15 ");
    result->strategies[0].views.count = count;
    struct lab_strategy_result *minutes = add(result, "minutes");
    fixture_views_begin(minutes, "k", 1, stored_ns, stored_ns + 10 * SIM_MINUTE);
    for (int64_t i = -20; i < 40; i++) {
        fixture_look(minutes, stored_ns + i * SIM_MINUTE, 0, true, i < 10 ? 0 : 1, false);
    }
    assert_says(result, "x -6..8 'seconds");
    assert_says(result, "x -6..15 'seconds");
    assert_says(result, "x -6..16 'minutes");
    lab_result_destroy(result);
}

static void test_times_at_the_ends_of_the_clock_are_shown(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("views", "synthetic");
    struct lab_strategy_result *strategy = add(result, NULL);
    fixture_views_begin(strategy, "k", 1, INT64_MAX - 1, INT64_MAX);
    fixture_look(strategy, INT64_MIN, 0, true, INT64_MIN, false);
    fixture_look(strategy, INT64_MAX, 0, true, INT64_MAX, false);
    fixture_look(strategy, INT64_MAX, 7, true, 1, false); /* an agent that does not exist */
    assert_says(result, "days since the change was stored");
    assert_says(result, "  figure 'old bucket' -9223372036854775808\n"
                        "  figure 'new bucket' 9223372036854775807\n");
    assert_silent(result, "split");
    lab_result_destroy(result);
}

static void test_agents_beyond_the_lanes_are_counted(void **state)
{
    (void)state;
    struct lab_result *result = fixture_result("views", "synthetic");
    struct lab_strategy_result *strategy = add(result, NULL);
    fixture_views_begin(strategy, "k", 70, stored_ns, stored_ns);
    for (int64_t i = -8; i < 8; i++) {
        for (uint32_t agent = 0; agent < 70; agent++) {
            fixture_look(strategy, stored_ns + i * SIM_SECOND, agent, true, i < (agent == 69 ? 1 : 0) ? 0 : 1,
                         false);
        }
    }
    assert_says(result, "'the first 64 of 70 agents are shown'");
    assert_says(result, "lane 'agent 63'");
    assert_silent(result, "lane 'agent 64'");
    assert_says(result, "  band split 0..1\n");
    lab_result_destroy(result);
}

static void test_axis_of_any_length_has_few_even_numbers(void **state)
{
    (void)state;
    for (double span = 20; span < 1e19; span *= 1.37) {
        struct report_arena arena = {NULL};
        struct report_axis axis = {0};
        report_scale_span(&arena, -0.3e-9 * span, 0.7e-9 * span, "since", &axis);
        assert_true(fabs(axis.high * axis.unit - 0.7e-9 * span) < 1e-18 * span);
        assert_true(axis.tick_count >= 3 && axis.tick_count <= 10);
        bool has_zero = false;
        for (size_t i = 0; i < axis.tick_count; i++) {
            assert_true(axis.ticks[i].at >= axis.low && axis.ticks[i].at <= axis.high);
            has_zero |= strcmp(axis.ticks[i].text, "0") == 0;
            assert_true(i == 0 || strcmp(axis.ticks[i].text, axis.ticks[i - 1].text) != 0);
        }
        assert_true(has_zero);
        report_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_change_of_three_agents_is_described_lane_by_lane),
        cmocka_unit_test(test_immediate_change_has_one_line_and_no_pre_change),
        cmocka_unit_test(test_range_covers_little_more_than_change_and_disagreement),
        cmocka_unit_test(test_samples_that_end_early_say_so_and_omit_the_line),
        cmocka_unit_test(test_change_time_before_the_change_was_stored_is_marked),
        cmocka_unit_test(test_key_that_no_agent_knew_is_all_unknown),
        cmocka_unit_test(test_old_bucket_is_that_of_most_agents_before_the_change),
        cmocka_unit_test(test_agents_that_do_not_know_the_key_do_not_disagree),
        cmocka_unit_test(test_agents_that_disagree_without_misrouting_are_not_red),
        cmocka_unit_test(test_samples_of_agents_in_turn_are_valid_until_the_next),
        cmocka_unit_test(test_strategies_without_a_change_have_no_panel),
        cmocka_unit_test(test_panels_of_similar_length_share_their_scale),
        cmocka_unit_test(test_times_at_the_ends_of_the_clock_are_shown),
        cmocka_unit_test(test_agents_beyond_the_lanes_are_counted),
        cmocka_unit_test(test_axis_of_any_length_has_few_even_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
