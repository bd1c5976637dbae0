/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available: the waits between the tries of an operation. Method: on the oracles' test stand an operation
 * receives an outcome by hand and acts again after a wait. The wait is one that agent.h of the core allows,
 * or is a little shorter or longer; meanwhile clocks drift, jump and pause. */
#include <stdlib.h>
#include <string.h>

#include "oracle_stand.h"
#include "oracles.h"

#define B      (10 * SIM_MS)
#define GRANT  (100 * SIM_MS)
#define AGENTS 8

struct wait_case {
    enum bk_coordination coordination;
    enum bk_action_kind asked, next;
    enum bk_outcome_kind heard;
    uint32_t tried; /* before this try */
    int64_t spent_ns, least_ns, most_ns;
};

static struct lab_host_agent hosts[AGENTS];

static void open_agents(struct stand *stand, enum bk_coordination coordination)
{
    memset(hosts, 0, sizeof hosts);
    stand_prepare_probabilistic(stand, coordination);
    stand->run.config.retry_backoff_ns = B;
    stand->run.config.grant_ns = GRANT;
    stand->run.config.lock_backoff_ns = 50 * SIM_MS;
    stand->scenario.agents.clock_bound_ns = SIM_SECOND;
    stand->scenario.agents.retries = 10;
    stand_open(stand);
    for (int i = 0; i < AGENTS; i++)
        hosts[i].jumped_ns = hosts[i].disturbed_ns = INT64_MIN;
    stand->run.agents = hosts;
}

static void close_agents(struct stand *stand)
{
    stand->run.agents = NULL;
    stand_close(stand);
}

/* The action was requested 10 s after the start and answered spent_ns later; the operation acts waited_ns
 * after the answer. */
static uint32_t act(struct stand *stand, uint32_t agent, const struct wait_case *what, int64_t waited_ns)
{
    struct lab_host_operation operation = stand_operation(0, 0, 0);
    int64_t asked_ns = sim_queue_now(&stand->run.queue) - stand->run.start_ns + 10 * SIM_SECOND;
    operation.is_awaited = true;
    operation.action = what->asked;
    operation.tried = what->tried;
    operation.outcome.kind = what->heard;
    operation.outcome.mask = 15;
    operation.asked_ns = stand_time(stand, asked_ns);
    operation.heard_ns = stand_time(stand, asked_ns + what->spent_ns);
    stand_wait_until(stand, asked_ns + what->spent_ns + waited_ns);
    struct bk_action next = {.kind = what->next};
    if (what->next == BK_ACT_DONE)
        next.status = BK_OPERATION_REFUSED;
    lab_waits_acted(&stand->run, agent, &operation, &next);
    assert_false(operation.is_awaited);
    return operation.tried;
}

#define G BK_GUARDED
#define S BK_SINGLE
static const struct wait_case cases[] = {
    {S, BK_ACT_PUT_ROW, BK_ACT_ACK, BK_OUTCOME_APPLIED, 0, B, 0, 0},
    {S, BK_ACT_PUT_ROW, BK_ACT_PUT_ROW, BK_OUTCOME_UNKNOWN, 2, B, 0, 0},
    {S, BK_ACT_PUT_ROW, BK_ACT_PUT_ROW, BK_OUTCOME_REFUSED, 0, B, B, B},
    {S, BK_ACT_PUT_ROW, BK_ACT_PUT_ROW, BK_OUTCOME_REFUSED, 2, B, 3 * B, 3 * B},
    {S, BK_ACT_PUT_ROW, BK_ACT_DONE, BK_OUTCOME_REFUSED, 10, B, 0, 0},
    {S, BK_ACT_READ_STATE, BK_ACT_READ_STATE, BK_OUTCOME_REFUSED, 1, B, 2 * B, 2 * B},
    {S, BK_ACT_DONE, BK_ACT_PUT_ROW, BK_OUTCOME_APPLIED, 0, 0, 0, 0},
    {G, BK_ACT_PUT_ROW, BK_ACT_PUT_ROW, BK_OUTCOME_REFUSED, 1, B, 2 * B, 2 * B},
    {G, BK_ACT_READ_STATE, BK_ACT_READ_STATE, BK_OUTCOME_REFUSED, 0, B, B, 3 * B},
    {G, BK_ACT_CAS_STATE, BK_ACT_CAS_STATE, BK_OUTCOME_REFUSED, 2, B, 4 * B, 12 * B},
    {G, BK_ACT_CAS_STATE, BK_ACT_CAS_STATE, BK_OUTCOME_REFUSED, 9, B, 32 * B, 96 * B},
    {G, BK_ACT_CAS_STATE, BK_ACT_READ_STATE, BK_OUTCOME_UNKNOWN, 0, B, B, 3 * B},
    {G, BK_ACT_CAS_STATE, BK_ACT_READ_STATE, BK_OUTCOME_UNKNOWN, 0, 20 * B, 10 * B, 30 * B},
    {G, BK_ACT_CAS_STATE, BK_ACT_READ_STATE, BK_OUTCOME_UNKNOWN, 0, 9 * GRANT, 4 * GRANT, 12 * GRANT},
    {G, BK_ACT_CAS_STATE, BK_ACT_CAS_STATE, BK_OUTCOME_NOT_APPLIED, 3, B, 0, 0},
    {G, BK_ACT_CAS_STATE, BK_ACT_PUT_ROW, BK_OUTCOME_APPLIED, 3, B, 0, 0},
    {G, BK_ACT_READ_START, BK_ACT_PUT_ROW, BK_OUTCOME_APPLIED, 3, B, 0, 0},
    {G, BK_ACT_READ_START, BK_ACT_READ_START, BK_OUTCOME_APPLIED, 0, B, B, 3 * B},
};

static uint64_t violations_of(const struct wait_case *what, int64_t waited_ns)
{
    struct stand stand;
    open_agents(&stand, what->coordination);
    act(&stand, 0, what, waited_ns);
    uint64_t count = stand_violations(&stand, LAB_ORACLE_AVAILABLE);
    close_agents(&stand);
    return count;
}

static void test_waits_not_shorter_and_not_longer_than_their_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wait_case *what = &cases[i];
        int64_t late_ns = what->most_ns > 0 ? 10 : 0; /* for rounding to whole nanoseconds */
        assert_int_equal(violations_of(what, what->least_ns), 0);
        assert_int_equal(violations_of(what, what->most_ns), 0);
        assert_int_equal(violations_of(what, what->most_ns + late_ns + 1), 1);
        if (what->least_ns > 0)
            assert_int_equal(violations_of(what, what->least_ns - 1), 1);
    }
}

/* An operation that has requested nothing yet may be parked behind another one, and so may one that has read
 * the total of a counter. */
static void test_waits_of_parked_operations_are_not_judged(void **state)
{
    (void)state;
    static const struct wait_case begun = {G, BK_ACT_DONE, BK_ACT_PUT_ROW, BK_OUTCOME_APPLIED, 0, 0, 0, 0},
                                  total = {
                                      G, BK_ACT_READ_COUNTER, BK_ACT_CAS_STATE, BK_OUTCOME_APPLIED, 0, B, 0,
                                      0};
    assert_int_equal(violations_of(&begun, SIM_SECOND), 0);
    assert_int_equal(violations_of(&total, SIM_SECOND), 0);
}

/* The lock row names its owner, and the end of the lock. */
static void test_waits_for_a_lock_that_another_agent_holds(void **state)
{
    (void)state;
    static const struct {
        int64_t owner, until_ns; /* until_ns: after the answer */
        int64_t waited_ns;
        uint64_t expected;
    } held[] = {{2, SIM_SECOND, 50 * SIM_MS, 0}, {2, SIM_SECOND, 25 * SIM_MS - 1, 1},
                {2, SIM_SECOND, 76 * SIM_MS, 1}, {2, 0, 0, 0},
                {2, 0, 50 * SIM_MS, 1},          {0, 0, 0, 0}};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        struct stand stand;
        open_agents(&stand, BK_LOCKED);
        struct lab_host_operation operation = stand_operation(0, 0, 0);
        operation.action = BK_ACT_CAS_LOCK;
        operation.columns[BK_LOCK_OWNER] = 1;
        operation.outcome = (struct bk_outcome){.kind = BK_OUTCOME_NOT_APPLIED, .mask = 3};
        operation.heard_ns = stand_time(&stand, 10 * SIM_SECOND);
        operation.outcome.columns[BK_LOCK_OWNER] = held[i].owner;
        operation.outcome.columns[BK_LOCK_UNTIL] = operation.heard_ns + held[i].until_ns;
        stand_wait_until(&stand, 10 * SIM_SECOND + held[i].waited_ns);
        lab_waits_acted(&stand.run, 0, &operation, &(struct bk_action){.kind = BK_ACT_CAS_LOCK});
        assert_violations(&stand, LAB_ORACLE_AVAILABLE, held[i].expected);
        close_agents(&stand);
    }
}

/* A clock that runs fast by a tenth shows the end of a wait early. After a jump or a pause nothing is judged
 * except a wait that would be too short without them. */
static void test_waits_by_clocks_that_drift_jump_and_stop(void **state)
{
    (void)state;
    static const struct {
        int64_t drift_ppb, waited_ns;
        bool jumps, pauses;
        uint64_t expected;
    } clocks[] = {{100000000, B, false, false, 0},
                  {100000000, B / 11 * 10 - 2, false, false, 1},
                  {100000000, B / 10 * 12, false, false, 1},
                  {-100000000, B, false, false, 1},
                  {0, 0, true, false, 0},
                  {0, 9 * B, true, false, 0},
                  {0, B - 1, false, true, 1},
                  {0, 9 * B, false, true, 0}};
    static const struct wait_case refused = {S, BK_ACT_PUT_ROW, BK_ACT_PUT_ROW, BK_OUTCOME_REFUSED, 0, 0, 0,
                                             0};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++) {
        struct stand stand;
        open_agents(&stand, BK_SINGLE);
        hosts[0].drift_ppb = clocks[i].drift_ppb;
        int64_t heard_ns = stand_time(&stand, 10 * SIM_SECOND);
        hosts[0].jumped_ns = clocks[i].jumps ? heard_ns : INT64_MIN;
        hosts[0].disturbed_ns = clocks[i].jumps || clocks[i].pauses ? heard_ns : INT64_MIN;
        stand.scenario.agents.clock_bound_ns = SIM_HOUR; /* more than any drift */
        act(&stand, 0, &refused, clocks[i].waited_ns);
        assert_violations(&stand, LAB_ORACLE_AVAILABLE, clocks[i].expected);
        close_agents(&stand);
    }
}

static void test_waits_that_are_all_alike(void **state)
{
    (void)state;
    static const struct wait_case refused = {
        G, BK_ACT_READ_STATE, BK_ACT_READ_STATE, BK_OUTCOME_REFUSED, 0, 0, 0, 0};
    for (int is_spread = 0; is_spread < 2; is_spread++) {
        struct stand stand;
        open_agents(&stand, BK_GUARDED);
        for (uint32_t agent = 0; agent < AGENTS; agent++)
            act(&stand, agent, &refused, 2 * B + (is_spread ? agent * SIM_MS / 10 : 0));
        assert_violations(&stand, LAB_ORACLE_AVAILABLE, !is_spread);
        close_agents(&stand);
    }
}

/* Reads and updates of a grant are tries of one action; a put begins again. */
static void test_waits_count_the_tries_of_an_action(void **state)
{
    (void)state;
    static const struct {
        struct wait_case what;
        uint32_t tried;
    } steps[] = {{{G, BK_ACT_READ_STATE, BK_ACT_CAS_STATE, BK_OUTCOME_APPLIED, 2, 0, 0, 0}, 2},
                 {{G, BK_ACT_CAS_STATE, BK_ACT_CAS_STATE, BK_OUTCOME_NOT_APPLIED, 2, 0, 0, 0}, 2},
                 {{G, BK_ACT_CAS_STATE, BK_ACT_READ_STATE, BK_OUTCOME_UNKNOWN, 2, 0, 8 * B, 0}, 3},
                 {{G, BK_ACT_CAS_STATE, BK_ACT_PUT_ROW, BK_OUTCOME_APPLIED, 2, 0, 0, 0}, 0},
                 {{G, BK_ACT_WRITE_START, BK_ACT_CAS_STATE, BK_OUTCOME_APPLIED, 2, 0, 0, 0}, 0},
                 {{S, BK_ACT_CAS_STATE, BK_ACT_CAS_STATE, BK_OUTCOME_NOT_APPLIED, 2, 0, 0, 0}, 0},
                 {{S, BK_ACT_READ_STATE, BK_ACT_READ_STATE, BK_OUTCOME_UNKNOWN, 2, 0, 0, 0}, 3}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct stand stand;
        open_agents(&stand, steps[i].what.coordination);
        assert_int_equal(act(&stand, 0, &steps[i].what, steps[i].what.least_ns), steps[i].tried);
        assert_violations(&stand, LAB_ORACLE_AVAILABLE, 0);
        close_agents(&stand);
    }
}

/* Increments have a separate number of retries. */
static void test_waits_of_a_try_beyond_the_last(void **state)
{
    (void)state;
    for (uint32_t before = 0; before <= 3; before++) {
        for (int is_increment = 0; is_increment < 2; is_increment++) {
            struct stand stand;
            open_agents(&stand, BK_SINGLE);
            stand.scenario.agents.retries = 2;
            stand.scenario.agents.counter_retries = 3;
            enum bk_action_kind kind = is_increment ? BK_ACT_ADD_COUNTER : BK_ACT_PUT_ROW;
            struct wait_case what = {S, kind, kind, BK_OUTCOME_UNKNOWN, before, 0, 0, 0};
            act(&stand, 0, &what, 0);
            assert_violations(&stand, LAB_ORACLE_AVAILABLE, before >= (is_increment ? 3 : 2));
            close_agents(&stand);
        }
    }
}

/* An agent with leases and perhaps one known number: row 1 is parked, and row 0 has sent its request or is
 * still sending it. */
static void test_parked_operation_that_could_be_served_or_waits_for_nobody(void **state)
{
    (void)state;
    for (int is_known = 0; is_known < 2; is_known++) {
        for (int is_asked = 0; is_asked < 2; is_asked++) {
            struct stand stand;
            struct bk_strategy counted;
            struct lab_host_operation operations[2];
            struct bk_action action;
            uint32_t number;
            assert_int_equal(bk_strategy_count(30, &counted), BK_OK);
            open_agents(&stand, BK_SINGLE);
            struct bk_agent_config config = stand.run.config;
            config.strategy = counted;
            config.source = stand.run.config.source = BK_SOURCE_LEASE;
            config.lease_rows = is_known ? 2 : 1;
            config.cache_entries = config.operations = stand.run.operation_count = 2;
            void *memory = malloc(bk_agent_size(&config));
            assert_int_equal(bk_agent_init(memory, bk_agent_size(&config), &config, &hosts[0].agent), BK_OK);
            assert_int_equal(bk_agent_write(hosts[0].agent, 0, 0, &(struct bk_row){0}, &number), BK_OK);
            for (int i = 0; i < 2; i++) {
                while (bk_agent_next(hosts[0].agent, &action))
                    ;
                bk_agent_outcome(hosts[0].agent, 0, number, &(struct bk_outcome){.kind = BK_OUTCOME_APPLIED});
            }
            for (uint32_t i = 0; i < 2; i++) {
                operations[i] = stand_operation(0, i, LAB_UNPLACED);
                operations[i].is_awaited = i == 1;
                operations[i].action = i == 1 ? BK_ACT_DONE : is_asked ? BK_ACT_CAS_STATE : BK_ACT_PUT_ROW;
            }
            hosts[0].operations = operations;
            hosts[0].operations_met = 2;
            lab_parked_heard(&stand.run, 0, 0, BK_ACT_CAS_STATE); /* no operation is parked */
            lab_parked_begins(&stand.run, 0, &operations[0]);
            lab_parked_begins(&stand.run, 0, &operations[1]);
            assert_true(hosts[0].parked == 1 && operations[1].is_parked && !operations[0].is_parked);
            lab_parked_heard(&stand.run, 0, 0, BK_ACT_PUT_ROW); /* a put teaches others nothing */
            lab_parked_heard(&stand.run, 0, 1, BK_ACT_CAS_STATE);
            assert_violations(&stand, LAB_ORACLE_AVAILABLE, 0);
            lab_parked_heard(&stand.run, 0, 0, BK_ACT_CAS_STATE);
            assert_violations(&stand, LAB_ORACLE_AVAILABLE, is_known || !is_asked);
            lab_parked_ends(&stand.run, 0, &operations[1]);
            assert_true(hosts[0].parked == 0 && !operations[1].is_parked);
            free(memory);
            close_agents(&stand);
        }
    }
}

/* The state was requested at 10 s, and its copy lasts for a second; a row or a read begins after_ns later. */
static void test_row_by_an_expired_cached_state(void **state)
{
    (void)state;
    static const struct {
        enum bk_coordination coordination;
        enum bk_outcome_kind heard;
        enum bk_action_kind asked, next;
        int64_t after_ns;
        uint64_t violations;
    } copies[] = {
        {BK_SINGLE, BK_OUTCOME_APPLIED, BK_ACT_READ_STATE, BK_ACT_PUT_ROW, SIM_SECOND - 1, 0},
        {BK_SINGLE, BK_OUTCOME_APPLIED, BK_ACT_READ_STATE, BK_ACT_PUT_ROW, SIM_SECOND, 1},
        {BK_THREE_STATE, BK_OUTCOME_NOT_APPLIED, BK_ACT_CAS_STATE, BK_ACT_READ_ROWS, SIM_SECOND, 1},
        {BK_SINGLE, BK_OUTCOME_APPLIED, BK_ACT_READ_STATE, BK_ACT_READ_STATE, SIM_SECOND, 0},
        {BK_SINGLE, BK_OUTCOME_UNKNOWN, BK_ACT_READ_STATE, BK_ACT_PUT_ROW, SIM_SECOND,
         0}, /* nothing is known */
        {BK_SINGLE, BK_OUTCOME_APPLIED, BK_ACT_PUT_ROW, BK_ACT_PUT_ROW, SIM_SECOND, 0},
        {BK_GUARDED, BK_OUTCOME_APPLIED, BK_ACT_READ_STATE, BK_ACT_PUT_ROW, SIM_SECOND, 0}, /* at any age */
    };
    enum { AS_IT_IS, JUMPED, RESTARTED, VARIANTS };
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        for (int variant = AS_IT_IS; variant < VARIANTS; variant++) {
            struct stand stand;
            open_agents(&stand, copies[i].coordination);
            stand.run.config.cache_ttl_ns = SIM_SECOND;
            struct lab_host_operation asker = stand_operation(0, 0, 0), later = stand_operation(0, 1, 0);
            asker.action = copies[i].asked;
            asker.outcome.kind = copies[i].heard;
            asker.asked_ns = stand_time(&stand, 10 * SIM_SECOND);
            lab_copies_heard(&stand.run, 0, &asker);
            later.action = BK_ACT_DONE;
            later.begun_ns = asker.asked_ns + copies[i].after_ns;
            if (variant == JUMPED)
                hosts[0].jumped_ns = asker.asked_ns;
            if (variant == RESTARTED)
                lab_copies_forgotten(&stand.run, 0);
            lab_copies_acted(&stand.run, 0, &later, &(struct bk_action){.kind = copies[i].next});
            assert_violations(&stand, LAB_ORACLE_AVAILABLE, variant == AS_IT_IS ? copies[i].violations : 0);
            close_agents(&stand);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_not_shorter_and_not_longer_than_their_bounds),
        cmocka_unit_test(test_waits_of_parked_operations_are_not_judged),
        cmocka_unit_test(test_waits_for_a_lock_that_another_agent_holds),
        cmocka_unit_test(test_waits_by_clocks_that_drift_jump_and_stop),
        cmocka_unit_test(test_waits_that_are_all_alike),
        cmocka_unit_test(test_waits_count_the_tries_of_an_action),
        cmocka_unit_test(test_waits_of_a_try_beyond_the_last),
        cmocka_unit_test(test_parked_operation_that_could_be_served_or_waits_for_nobody),
        cmocka_unit_test(test_row_by_an_expired_cached_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
