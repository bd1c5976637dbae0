/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Excuses belong to a key and a span of time. Method: on the oracles' test stand, conditions are noted and
 * violations reported by hand, for one key or another, before, within and after the condition's span. */
#include "cluster_agents.h"
#include "events.h"
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

static void open_keys(void)
{
    stand_prepare_probabilistic(&stand, BK_THREE_STATE);
    stand.run.key_count = 3;
    stand_open(&stand);
}

static void violate(uint32_t key)
{
    lab_violate(&stand.run, LAB_ORACLE_FINDABLE, key, 1, "of key %u", key);
}

static bool is_broken(void)
{
    return lab_guarantee_is_broken(BK_KIND_PROBABILISTIC, BK_THREE_STATE, LAB_ORACLE_FINDABLE,
                                   &stand.run.oracles.verdict);
}

/* A condition of one key from 10 s to 20 s, of all keys from 30 s to 40 s. */
static void test_excuse_applies_to_its_key_and_time(void **state)
{
    (void)state;
    static const struct {
        int64_t at_s;
        uint32_t key;
        bool is_broken;
    } cases[] = {{9, 1, true},  {10, 1, false}, {20, 1, false}, {21, 1, true}, {15, 2, true},
                 {15, 0, true}, {30, 0, false}, {40, 2, false}, {41, 2, true}, {29, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_keys();
        lab_condition_of_key(&stand.run, LAB_CONDITION_LATE_STATE_WRITE, 1, stand_time(&stand, 10 * SECOND),
                             stand_time(&stand, 20 * SECOND));
        lab_condition_of_key(&stand.run, LAB_CONDITION_CLOCK_JUMP, LAB_NO_KEY,
                             stand_time(&stand, 30 * SECOND), stand_time(&stand, 40 * SECOND));
        stand_wait_until(&stand, cases[i].at_s * SECOND);
        violate(cases[i].key);
        stand_end(&stand);
        assert_int_equal(is_broken(), cases[i].is_broken);
    }
}

/* A client learns only later that an outcome is unknown: the violation stays in doubt until then. */
static void test_excuse_may_be_known_after_the_violation(void **state)
{
    (void)state;
    for (int is_known = 0; is_known < 2; is_known++) {
        open_keys();
        stand_wait_until(&stand, 5 * SECOND);
        violate(1);
        stand_wait_until(&stand, 8 * SECOND);
        if (is_known)
            lab_condition_of_key(&stand.run, LAB_CONDITION_LATE_STATE_WRITE, 1,
                                 stand_time(&stand, 4 * SECOND), LAB_OPEN_ENDED);
        stand_end(&stand);
        assert_int_equal(is_broken(), !is_known);
    }
}

/* An open span ends with a request after the outcome was known, and not with an earlier request. */
static void test_open_span_ends_with_what_was_asked_later(void **state)
{
    (void)state;
    for (int is_later = 0; is_later < 2; is_later++) {
        open_keys();
        stand_wait_until(&stand, 5 * SECOND);
        lab_condition_of_key(&stand.run, LAB_CONDITION_LATE_STATE_WRITE, 1, stand_time(&stand, SECOND),
                             LAB_OPEN_ENDED);
        lab_condition_closes(&stand.run, LAB_CONDITION_LATE_STATE_WRITE, 1,
                             stand_time(&stand, (is_later ? 5 : 4) * SECOND), stand_time(&stand, 6 * SECOND));
        stand_wait_until(&stand, 7 * SECOND);
        violate(1);
        stand_end(&stand);
        assert_int_equal(is_broken(), is_later);
    }
}

/* A write of unknown outcome lowers the state below rows: readers cannot find them until the state names
 * their bucket again, even if earlier writes are known to have taken effect. */
static void test_lowered_state_excuses_until_it_names_all_rows_again(void **state)
{
    (void)state;
    for (int64_t bucket = 4; bucket <= 5; bucket++) {
        stand_open_probabilistic(&stand, BK_SINGLE);
        stand_state(&stand, 0, 5, SECOND, 0);
        stand_write(&stand, 0, 0, SECOND, 5);
        stand_wait_until(&stand, 2 * SECOND);
        lab_condition_of_key(&stand.run, LAB_CONDITION_UNKNOWN_WRITE, 0, stand_time(&stand, SECOND),
                             LAB_OPEN_ENDED);
        stand_state(&stand, 0, bucket, 2 * SECOND, 0);
        stand_wait_until(&stand, 3 * SECOND);
        struct lab_host_operation operation = stand_operation(0, 1, bucket);
        operation.asked_ns = stand_time(&stand, 3 * SECOND);
        operation.changes_state = true;
        stand.run.oracles.keys[0].writes_open = 1;
        operation.action = BK_ACT_WRITE_STATE;
        operation.outcome.kind = BK_OUTCOME_APPLIED;
        cluster_emit_of(&stand.run, HEARD, 0, &operation, .flag = false);
        stand_wait_until(&stand, SIM_HOUR);
        violate(0);
        stand_end(&stand);
        assert_int_equal(lab_guarantee_is_broken(BK_KIND_PROBABILISTIC, BK_SINGLE, LAB_ORACLE_FINDABLE,
                                                 &stand.run.oracles.verdict),
                         bucket == 5);
    }
}

/* A condition that the guarantee does not list excuses nothing; a condition of the whole run excuses
 * everything. */
static void test_only_listed_conditions_excuse(void **state)
{
    (void)state;
    static const struct {
        enum lab_condition condition;
        bool is_broken;
    } cases[] = {{LAB_CONDITION_UNKNOWN_WRITE, true},
                 {LAB_CONDITION_FAULTS, true},
                 {LAB_CONDITION_SHORT_LEAD, false},
                 {LAB_CONDITION_ROUTE_AGAIN, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_keys();
        violate(0);
        lab_condition_set(&stand.run, cases[i].condition);
        stand_end(&stand);
        assert_int_equal(is_broken(), cases[i].is_broken);
    }
}

/* Far more conditions and violations than are kept: no guarantee is called broken for lack of room, and a
 * violation that came first stays. */
static void test_full_list_of_spans_only_excuses_more(void **state)
{
    (void)state;
    for (int is_bare = 0; is_bare < 2; is_bare++) {
        open_keys();
        if (is_bare)
            violate(2);
        for (int64_t i = 1; i < 3000; i++) {
            stand_wait_until(&stand, 2 * i * SECOND);
            int64_t now_ns = sim_queue_now(&stand.run.queue);
            if (i < 1500)
                violate(1);
            lab_condition_of_key(&stand.run, LAB_CONDITION_LATE_STATE_WRITE, 1, now_ns, now_ns);
            if (i >= 1500)
                violate(1);
        }
        assert_in_range(stand.run.oracles.spans.count, 1, 16);
        assert_in_range(stand.run.oracles.doubts.count, 0, 1024);
        stand_end(&stand);
        assert_int_equal(is_broken(), is_bare);
        assert_int_equal(stand_violations(&stand, LAB_ORACLE_FINDABLE), 2999 + is_bare);
    }
}

/* A clock jumps 100 s ahead at 1 s and comes back in two jumps; or a second clock, which is 1 s ahead,
 * comes back last. The first clock dated rows up to 102 s, so jumps excuse violations until then, and not
 * at 300 s. */
static void test_jumps_excuse_until_the_farthest_clock_time(void **state)
{
    (void)state;
    static const struct {
        int64_t at_s;
        bool is_broken;
        struct {
            uint32_t agent;
            int64_t by_s;
        } jumps[4];
    } cases[] = {{100, false, {{0, 100}, {0, -99}, {0, -1}, {0, 0}}},
                 {300, true, {{0, 100}, {0, -99}, {0, -1}, {0, 0}}},
                 {100, false, {{0, 100}, {1, 1}, {0, -100}, {1, -1}}},
                 {300, true, {{0, 100}, {1, 1}, {0, -100}, {1, -1}}},
                 {300, false, {{0, 100}, {1, 1}, {0, -100}, {1, 0}}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab_host_agent agents[2] = {{0}};
        struct sim_random draws;
        open_keys();
        stand.run.agents = agents;
        stand.run.agent_count = 2;
        stand.run.fault_draws = &draws;
        sim_random_init(&draws, 1, SIM_FAULT, 0);
        for (int64_t step = 0; step < 4; step++) {
            struct lab_fault fault = {.kinds = 1u << LAB_FAULT_CLOCK_JUMP,
                                      .target = cases[i].jumps[step].agent,
                                      .by_ns = cases[i].jumps[step].by_s * SECOND};
            stand.scenario.faults = &fault;
            stand_wait_until(&stand, (step + 1) * SECOND);
            lab_fault_strike(&stand.run, 0);
        }
        stand.scenario.faults = NULL;
        stand_wait_until(&stand, cases[i].at_s * SECOND);
        violate(1);
        stand_end(&stand);
        assert_int_equal(is_broken(), cases[i].is_broken);
        stand.run.agents = NULL;
        stand.run.agent_count = 0;
        stand.run.fault_draws = NULL;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_excuse_applies_to_its_key_and_time),
        cmocka_unit_test(test_excuse_may_be_known_after_the_violation),
        cmocka_unit_test(test_open_span_ends_with_what_was_asked_later),
        cmocka_unit_test(test_lowered_state_excuses_until_it_names_all_rows_again),
        cmocka_unit_test(test_only_listed_conditions_excuse),
        cmocka_unit_test(test_full_list_of_spans_only_excuses_more),
        cmocka_unit_test(test_jumps_excuse_until_the_farthest_clock_time),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
