/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a condition that excuses a broken guarantee is noted if it holds, and only then. Method: settings, and
 * writes of the state as agents request them, on both sides of each bound. */
#include "events.h"
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

static bool holds(enum lab_condition condition)
{
    return stand.run.oracles.verdict.conditions >> condition & 1;
}

static uint64_t met(enum lab_probe probe)
{
    return stand.run.oracles.verdict.probes[probe];
}

/* --- conditions of the settings */

static void test_conditions_of_agents_and_leads_are_noted(void **state)
{
    (void)state;
    for (int64_t short_ns = 0; short_ns <= 1; short_ns++) {
        for (int coordination = BK_SINGLE; coordination <= BK_THREE_STATE; coordination++) {
            stand_prepare_probabilistic(&stand, (enum bk_coordination)coordination);
            stand.scenario.agents.count = 1 + (uint32_t)short_ns;
            stand.run.config.cache_ttl_ns = 3 * SECOND;
            stand.run.config.clock_bound_ns = SECOND;
            stand.run.config.lead_ns = 5 * SECOND - short_ns;
            stand_open(&stand);
            assert_int_equal(holds(LAB_CONDITION_MANY_AGENTS), short_ns);
            assert_int_equal(holds(LAB_CONDITION_SHORT_LEAD),
                             coordination == BK_THREE_STATE && short_ns == 1);
            assert_false(holds(LAB_CONDITION_WEAK_LEVELS));
        }
    }
}

struct levels {
    uint32_t datacenters, factor; /* factor: in each datacenter */
    enum cass_consistency write, read, state, serial;
    bool is_weak;
};

static void set_levels(const struct levels *levels)
{
    struct cass_cluster_config *network = &stand.scenario.network;
    network->datacenter_count = levels->datacenters;
    for (uint32_t d = 0; d < levels->datacenters; d++)
        network->datacenters[d] = (struct cass_datacenter){.name = {'d', (char)('1' + d)},
                                                           .nodes = levels->factor,
                                                           .racks = 1,
                                                           .replication_factor = levels->factor};
    stand.scenario.consistency =
        (struct lab_consistency){levels->write, levels->read, levels->state, levels->serial};
}

static void test_conditions_levels_that_need_not_meet_are_weak(void **state)
{
    (void)state;
#define QUORUMS CASS_QUORUM, CASS_SERIAL
    static const struct levels cases[] = {
        {1, 3, CASS_QUORUM, CASS_QUORUM, QUORUMS, false},
        {1, 3, CASS_ONE, CASS_ALL, QUORUMS, false},
        {1, 3, CASS_ONE, CASS_QUORUM, QUORUMS, true},
        {1, 3, CASS_TWO, CASS_TWO, QUORUMS, false},
        {1, 3, CASS_ANY, CASS_ALL, QUORUMS, true},
        {1, 5, CASS_TWO, CASS_THREE, QUORUMS, true},
        {1, 5, CASS_THREE, CASS_THREE, QUORUMS, false},
        {1, 2, CASS_ONE, CASS_QUORUM, QUORUMS, false},
        {1, 1, CASS_ONE, CASS_LOCAL_ONE, QUORUMS, false},
        {1, 3, CASS_QUORUM, CASS_QUORUM, CASS_ONE, CASS_SERIAL, true},
        {1, 4, CASS_QUORUM, CASS_QUORUM, CASS_TWO, CASS_SERIAL, true},
        {1, 3, CASS_LOCAL_QUORUM, CASS_LOCAL_QUORUM, CASS_LOCAL_QUORUM, CASS_LOCAL_SERIAL, false},
        {2, 3, CASS_QUORUM, CASS_QUORUM, QUORUMS, false},
        {2, 3, CASS_LOCAL_QUORUM, CASS_QUORUM, QUORUMS, true},
        {2, 3, CASS_QUORUM, CASS_LOCAL_ONE, QUORUMS, true},
        {2, 3, CASS_QUORUM, CASS_QUORUM, CASS_QUORUM, CASS_LOCAL_SERIAL, true},
        {2, 3, CASS_QUORUM, CASS_QUORUM, CASS_LOCAL_QUORUM, CASS_SERIAL, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct levels *levels = &cases[i];
        stand_prepare_probabilistic(&stand, BK_SINGLE);
        set_levels(levels);
        stand_open(&stand);
        if (holds(LAB_CONDITION_WEAK_LEVELS) != levels->is_weak)
            fail_msg("case %zu", i);
    }
}

/* A level that a strategy does not use is not weak. Guarantees that depend only on the state are not excused
 * by the levels of rows, and those on numbers are not excused by the level of the state, which only readers
 * use. */
static void test_conditions_levels_are_weak_for_what_is_requested_at_them(void **state)
{
    (void)state;
    static const struct {
        enum bk_kind kind;
        enum bk_source source;
        struct levels levels;
        bool excuses_bounded;
    } cases[] = {
        {BK_KIND_UNBUCKETED, 0, {1, 3, CASS_QUORUM, CASS_QUORUM, CASS_ONE, CASS_SERIAL, false}, false},
        {BK_KIND_UNBUCKETED,
         0,
         {2, 3, CASS_QUORUM, CASS_QUORUM, CASS_QUORUM, CASS_LOCAL_SERIAL, false},
         false},
        {BK_KIND_UNBUCKETED, 0, {1, 3, CASS_ONE, CASS_ONE, CASS_ONE, CASS_SERIAL, true}, false},
        {BK_KIND_COUNT, BK_SOURCE_LWT, {1, 3, CASS_QUORUM, CASS_QUORUM, CASS_ONE, CASS_SERIAL, true}, false},
        {BK_KIND_COUNT, BK_SOURCE_LWT, {1, 3, CASS_ONE, CASS_ONE, CASS_QUORUM, CASS_SERIAL, true}, false},
        {BK_KIND_COUNT,
         BK_SOURCE_LWT,
         {2, 3, CASS_QUORUM, CASS_QUORUM, CASS_QUORUM, CASS_LOCAL_SERIAL, true},
         true},
        {BK_KIND_COUNT, BK_SOURCE_SCAN, {1, 3, CASS_ONE, CASS_ONE, CASS_QUORUM, CASS_SERIAL, true}, true},
        {BK_KIND_COUNT,
         BK_SOURCE_COUNTER,
         {1, 3, CASS_QUORUM, CASS_QUORUM, CASS_ONE, CASS_SERIAL, true},
         true},
        {BK_KIND_PROBABILISTIC, 0, {1, 3, CASS_ONE, CASS_ONE, CASS_QUORUM, CASS_SERIAL, true}, false},
        {BK_KIND_PROBABILISTIC, 0, {1, 3, CASS_ONE, CASS_ONE, CASS_ONE, CASS_SERIAL, true}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct levels *levels = &cases[i].levels;
        struct bk_strategy strategy = {.kind = BK_KIND_UNBUCKETED};
        if (cases[i].kind == BK_KIND_COUNT)
            assert_int_equal(bk_strategy_count(8, &strategy), BK_OK);
        if (cases[i].kind == BK_KIND_PROBABILISTIC)
            assert_int_equal(bk_strategy_probabilistic(3, 4, &strategy), BK_OK);
        stand_prepare(&stand, &strategy, BK_SINGLE);
        stand.run.config.source = stand.strategy.settings.source = cases[i].source;
        set_levels(levels);
        stand_open(&stand);
        uint32_t bounded = stand.run.oracles.except[LAB_ORACLE_BOUNDED] >> LAB_CONDITION_WEAK_LEVELS & 1;
        if (holds(LAB_CONDITION_WEAK_LEVELS) != levels->is_weak || bounded != cases[i].excuses_bounded)
            fail_msg("case %zu", i);
        assert_true(stand.run.oracles.except[LAB_ORACLE_FINDABLE] >> LAB_CONDITION_WEAK_LEVELS & 1);
    }
}

static void test_conditions_rows_without_an_answer_are_noted_at_the_end(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        stand_open_probabilistic(&stand, BK_SINGLE);
        stand.run.refused = which == 1;
        stand.run.unresolved = which == 2;
        stand_end(&stand);
        assert_int_equal(holds(LAB_CONDITION_REFUSED_ROWS), which > 0);
    }
}

/* Rows that live as long as the run have not expired. A deleted row concerns only its own key. */
static void test_conditions_rows_that_expire_or_are_deleted_are_noted_at_the_end(void **state)
{
    (void)state;
    static const struct {
        int64_t ttl_ns;
        uint64_t deleted; /* of key 0 */
        bool holds[2];    /* of keys 0 and 1 */
    } cases[] = {{0, 0, {false, false}},
                 {10 * SECOND, 0, {false, false}},
                 {10 * SECOND - 1, 0, {true, true}},
                 {0, 1, {true, false}}};
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(10, &strategy), BK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stand_prepare(&stand, &strategy, BK_SINGLE);
        stand.run.config.source = BK_SOURCE_SCAN;
        stand.run.key_count = 2;
        stand_open(&stand);
        stand.scenario.row_ttl_ns = cases[i].ttl_ns;
        stand.run.keys[0].deletes_asked = cases[i].deleted;
        stand_wait_until(&stand, 10 * SECOND);
        stand_end(&stand);
        for (uint32_t key = 0; key < 2; key++)
            assert_int_equal(
                lab_conditions_at(&stand.run, key, SECOND, SECOND) >> LAB_CONDITION_REMOVED_ROWS & 1,
                cases[i].holds[key]);
    }
}

/* An update takes up to 1 s, and all tries together 3 s. Rows of a crowd may fail, wherever the edge of a
 * second is; a row that arrives when the updates before it are done is not in their crowd. */
static void test_conditions_rows_that_wait_for_one_another_are_a_crowd(void **state)
{
    (void)state;
    static const struct {
        int64_t rows_ms[4];        /* when rows arrive; 0: no more rows */
        int64_t from_ms, until_ms; /* of the crowd; 0: there is none */
    } cases[] = {{{10900, 11000, 0, 0}, 0, 0},
                 {{10900, 11000, 11100, 0}, 10900, 13900},
                 {{10900, 11899, 12899, 0}, 10900, 13900},
                 {{10900, 11899, 12900, 13900}, 0, 0},
                 {{10900, 11000, 12900, 13900}, 0, 0},
                 {{10900, 11000, 12899, 13000}, 10900, 14900}};
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(10, &strategy), BK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stand_prepare(&stand, &strategy, BK_SINGLE);
        stand.run.config.source = BK_SOURCE_LWT;
        stand.scenario.agents.retries = 2;
        stand_open(&stand);
        for (uint64_t row = 0; row < 4 && cases[i].rows_ms[row] != 0; row++) {
            stand_wait_until(&stand, cases[i].rows_ms[row] * SIM_MS);
            stand_arrive(&stand, 0, row);
        }
        for (int64_t at_ms = 10000; at_ms < 16000; at_ms += 100) {
            int64_t at_ns = stand_time(&stand, at_ms * SIM_MS);
            assert_int_equal(
                lab_conditions_at(&stand.run, 0, at_ns, at_ns) >> LAB_CONDITION_SHORT_TIMEOUTS & 1,
                cases[i].from_ms != 0 && at_ms >= cases[i].from_ms && at_ms <= cases[i].until_ms);
        }
    }
}

/* --- conditions of state writes */

#define ROLL                                                                                                 \
    (1u << BK_COLUMN_BUCKET | 1u << BK_COLUMN_COUNTER | 1u << BK_COLUMN_LAST_CHANGE |                        \
     1u << BK_COLUMN_NEXT_CHANGE)
#define COUNT  (1u << BK_COLUMN_COUNTER)
#define RESET  (1u << BK_COLUMN_COUNTER | 1u << BK_COLUMN_LAST_CHANGE | 1u << BK_COLUMN_NEXT_CHANGE)
#define UNSAID BK_OUTCOME_UNKNOWN

static void ask(struct lab_host_operation *operation, enum bk_action_kind kind, uint32_t mask, int64_t bucket)
{
    struct bk_action action = {.kind = kind, .mask = mask};
    struct cass_statement statement = {.kind = CASS_WRITE_COLUMNS};
    action.columns[BK_COLUMN_BUCKET] = bucket;
    if (kind == BK_ACT_CAS_STATE) {
        action.if_mask = ROLL;
        action.expected[BK_COLUMN_BUCKET] = bucket - 1;
    }
    operation->action = kind;
    cluster_emit_of(&stand.run, REQUEST_SENT, 0, operation, .action = &action, .statement = &statement);
}

static void hear(struct lab_host_operation *operation, enum bk_outcome_kind outcome)
{
    operation->outcome.kind = outcome;
    cluster_emit_of(&stand.run, HEARD, 0, operation, .flag = false);
}

static void read_state(struct lab_host_operation *operation)
{
    ask(operation, BK_ACT_READ_STATE, 0, 0);
    hear(operation, BK_OUTCOME_APPLIED);
}

static struct lab_host_operation begin(void)
{
    struct lab_host_operation operation = stand_operation(0, 0, 0);
    read_state(&operation);
    return operation;
}

static void open_dated(void)
{
    stand_prepare_probabilistic(&stand, BK_THREE_STATE);
    stand.run.config.lead_ns = 10 * SECOND;
    stand.run.config.cache_ttl_ns = 3 * SECOND;
    stand.scenario.agents.clock_bound_ns = SECOND;
    stand_open(&stand);
}

/* The delay counts from the read on which the write is based: the lead exceeds caches and clocks by 5 s. */
static void test_conditions_state_write_is_late_beyond_the_lead(void **state)
{
    (void)state;
    for (int64_t late_ns = 0; late_ns <= 1; late_ns++) {
        open_dated();
        struct lab_host_operation operation = begin();
        stand_wait_until(&stand, SECOND);
        ask(&operation, BK_ACT_WRITE_STATE, ROLL, 1);
        stand_wait_until(&stand, 5 * SECOND + late_ns);
        hear(&operation, BK_OUTCOME_APPLIED);
        assert_int_equal(holds(LAB_CONDITION_LATE_STATE_WRITE), late_ns);
        /* For a conditional write the delay counts from its request. */
        open_dated();
        operation = begin();
        stand_wait_until(&stand, SECOND);
        ask(&operation, BK_ACT_CAS_STATE, ROLL, 1);
        stand_wait_until(&stand, 6 * SECOND + late_ns);
        hear(&operation, BK_OUTCOME_APPLIED);
        assert_int_equal(holds(LAB_CONDITION_LATE_STATE_WRITE), late_ns);
    }
}

/* A write of unknown outcome may take effect at any time; a count changes nothing; a refused write never
 * takes effect. */
static void test_conditions_outcome_of_a_state_write_decides(void **state)
{
    (void)state;
    static const struct {
        uint32_t mask;
        enum bk_outcome_kind outcome;
        bool is_unknown, is_late;
    } cases[] = {
        {ROLL, UNSAID, true, true},
        {RESET, UNSAID, true, true},
        {COUNT, UNSAID, false, false},
        {ROLL, BK_OUTCOME_REFUSED, false, false},
        {ROLL, BK_OUTCOME_APPLIED, false, true},
        {COUNT, BK_OUTCOME_APPLIED, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_dated();
        struct lab_host_operation operation = begin();
        ask(&operation, BK_ACT_WRITE_STATE, cases[i].mask, 1);
        stand_wait_until(&stand, SIM_HOUR);
        hear(&operation, cases[i].outcome);
        assert_int_equal(holds(LAB_CONDITION_UNKNOWN_WRITE), cases[i].is_unknown);
        assert_int_equal(holds(LAB_CONDITION_LATE_STATE_WRITE), cases[i].is_late);
        assert_int_equal(stand.run.oracles.keys[0].writes_open, 0);
        assert_int_equal(stand.run.oracles.rolls_open, 0);
    }
}

/* Two plain writes are concurrent if the later one was requested while the other was under way, or is based
 * on a read from before the other took effect. */
static void test_conditions_changes_at_once_are_those_that_do_not_know_of_each_other(void **state)
{
    (void)state;
    open_dated();
    struct lab_host_operation one = begin(), other = begin();
    ask(&one, BK_ACT_WRITE_STATE, ROLL, 1);
    assert_int_equal(met(LAB_PROBE_CHANGES_AT_ONCE), 0);
    hear(&one, BK_OUTCOME_REFUSED);
    ask(&one, BK_ACT_WRITE_STATE, ROLL, 1); /* a retry of the same write */
    assert_int_equal(met(LAB_PROBE_CHANGES_AT_ONCE), 0);
    ask(&other, BK_ACT_WRITE_STATE, ROLL, 1);
    assert_int_equal(met(LAB_PROBE_CHANGES_AT_ONCE), 1);
    hear(&one, BK_OUTCOME_APPLIED);
    hear(&other, BK_OUTCOME_APPLIED);
    one = begin();
    other = begin();
    ask(&one, BK_ACT_WRITE_STATE, ROLL, 1);
    stand_state(&stand, 0, 1, 0, 5 * SECOND);
    hear(&one, BK_OUTCOME_APPLIED);
    struct lab_host_operation later = begin();
    ask(&other, BK_ACT_WRITE_STATE, COUNT, 1);
    ask(&other, BK_ACT_CAS_STATE, ROLL, 2);
    hear(&other, BK_OUTCOME_NOT_APPLIED);
    assert_int_equal(met(LAB_PROBE_CHANGES_AT_ONCE), 1);
    ask(&other, BK_ACT_WRITE_STATE, RESET, 1);
    hear(&other, BK_OUTCOME_APPLIED);
    assert_int_equal(met(LAB_PROBE_CHANGES_AT_ONCE), 2);
    ask(&later, BK_ACT_WRITE_STATE, RESET, 1);
    hear(&later, BK_OUTCOME_APPLIED);
    assert_int_equal(met(LAB_PROBE_CHANGES_AT_ONCE), 2);
    stand_end(&stand);
    assert_true(holds(LAB_CONDITION_CHANGES_AT_ONCE));
}

/* A write of unknown outcome may be dated after a later write that was applied, and hidden by a third one
 * from a read of all replicas. A read of the state that names a bucket below one that had rows when it was
 * requested shows it. */
static void test_conditions_read_of_a_state_below_rows_shows_a_late_write(void **state)
{
    (void)state;
    static const struct {
        enum bk_outcome_kind write, read;
        int64_t bucket;
        bool is_shown;
    } cases[] = {
        {UNSAID, BK_OUTCOME_APPLIED, 1, true},
        {UNSAID, BK_OUTCOME_APPLIED, 2, false},
        {UNSAID, UNSAID, 1, false},
        {BK_OUTCOME_APPLIED, BK_OUTCOME_APPLIED, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_dated();
        struct lab_host_operation operation = begin();
        ask(&operation, BK_ACT_WRITE_STATE, ROLL, 1);
        hear(&operation, cases[i].write);
        operation.asked_ns = stand_time(&stand, 0);
        ask(&operation, BK_ACT_WRITE_STATE, ROLL, 2);
        stand_state(&stand, 0, 2, SECOND, 0);
        hear(&operation, BK_OUTCOME_APPLIED);
        stand_place(&stand, 0, 0, SECOND, 2, 0);
        stand_wait_until(&stand, SIM_HOUR);
        ask(&operation, BK_ACT_READ_STATE, 0, 0);
        stand_place(&stand, 0, 1, SECOND, 3, 0);
        operation.outcome.columns[BK_COLUMN_BUCKET] = cases[i].bucket;
        hear(&operation, cases[i].read);
        int64_t now_ns = sim_queue_now(&stand.run.queue);
        assert_int_equal(lab_conditions_at(&stand.run, 0, now_ns, now_ns) >> LAB_CONDITION_UNKNOWN_WRITE & 1,
                         cases[i].is_shown);
    }
}

/* --- rare paths of a roll */

static void strike(enum lab_fault_kind kind)
{
    cluster_emit(&stand.run, FAULT_BEGINS, .fault = &(struct lab_active_fault){.kind = kind});
}

static void test_probes_of_a_roll_show_its_fate(void **state)
{
    (void)state;
    open_dated();
    struct lab_host_operation one = begin(), other = begin();
    ask(&one, BK_ACT_CAS_STATE, ROLL, 1);
    strike(LAB_FAULT_NETWORK_PARTITION); /* while the roll is under way */
    ask(&other, BK_ACT_CAS_STATE, ROLL, 1);
    hear(&one, UNSAID);
    hear(&other, BK_OUTCOME_NOT_APPLIED);
    assert_int_equal(met(LAB_PROBE_UNKNOWN_ROLL), 1);
    assert_int_equal(met(LAB_PROBE_LOST_RACE), 1);
    strike(LAB_FAULT_DELAY); /* no roll is under way or dated ahead */
    assert_int_equal(met(LAB_PROBE_ROLL_NETWORK_PARTITION), 1);
    assert_int_equal(met(LAB_PROBE_ROLL_DELAY), 0);
    stand_state(&stand, 0, 1, 0, 5 * SECOND);
    stand_wait_until(&stand, 5 * SECOND - 1);
    strike(LAB_FAULT_HINT_LOSS);
    stand_wait_until(&stand, 5 * SECOND);
    strike(LAB_FAULT_HINT_LOSS);
    assert_int_equal(met(LAB_PROBE_ROLL_HINT_LOSS), 1);
    stand_state(&stand, 0, 1, 5 * SECOND, 0);
    ask(&other, BK_ACT_WRITE_STATE, RESET, 1);
    assert_int_equal(met(LAB_PROBE_LATE_RESET), 1);
    hear(&other, BK_OUTCOME_APPLIED);
}

/* --- the table */

static void test_guarantee_is_broken_when_nothing_excuses_it(void **state)
{
    (void)state;
    struct lab_verdict verdict = {0};
    const struct lab_guarantee *guarantee =
        lab_guarantee_find(BK_KIND_PROBABILISTIC, BK_GUARDED, LAB_ORACLE_FINDABLE);
    assert_non_null(guarantee);
    assert_true(guarantee->except != 0);
    verdict.violations[LAB_ORACLE_FINDABLE].count = 1;
    assert_false(lab_guarantee_is_broken(BK_KIND_PROBABILISTIC, BK_GUARDED, LAB_ORACLE_FINDABLE, &verdict));
    verdict.is_judged[LAB_ORACLE_FINDABLE] = true;
    assert_true(lab_guarantee_is_broken(BK_KIND_PROBABILISTIC, BK_GUARDED, LAB_ORACLE_FINDABLE, &verdict));
    /* Conditions somewhere in the run excuse nothing; only conditions that overlap each violation do. */
    verdict.conditions = UINT32_MAX;
    assert_true(lab_guarantee_is_broken(BK_KIND_PROBABILISTIC, BK_GUARDED, LAB_ORACLE_FINDABLE, &verdict));
    verdict.violations[LAB_ORACLE_FINDABLE].excuse_count = 1;
    verdict.violations[LAB_ORACLE_FINDABLE].excuses[0] = guarantee->except;
    assert_false(lab_guarantee_is_broken(BK_KIND_PROBABILISTIC, BK_GUARDED, LAB_ORACLE_FINDABLE, &verdict));
    verdict.violations[LAB_ORACLE_FINDABLE].excuse_count = 2;
    assert_true(lab_guarantee_is_broken(BK_KIND_PROBABILISTIC, BK_GUARDED, LAB_ORACLE_FINDABLE, &verdict));
    assert_int_equal(lab_guarantee_excepts(guarantee), guarantee->except | UINT32_C(1)
                                                                               << LAB_CONDITION_ROUTE_AGAIN);
    verdict.violations[LAB_ORACLE_FINDABLE].count = 0;
    assert_false(lab_guarantee_is_broken(BK_KIND_PROBABILISTIC, BK_GUARDED, LAB_ORACLE_FINDABLE, &verdict));
    assert_null(lab_guarantee_find(BK_KIND_HASH, BK_SINGLE, LAB_ORACLE_MONOTONE));
}

/* Each guarantee has one row, with a protocol that its kind can have and with existing conditions. */
static void test_guarantee_table_has_no_duplicates(void **state)
{
    (void)state;
    for (size_t i = 0; i < lab_guarantee_count; i++) {
        const struct lab_guarantee *one = &lab_guarantees[i];
        assert_ptr_equal(lab_guarantee_find(one->kind, one->protocol, one->oracle), one);
        assert_true(one->kind == BK_KIND_PROBABILISTIC || one->kind == BK_KIND_COUNT ||
                    one->protocol == BK_SINGLE || one->kind == LAB_KIND_IDGEN);
        assert_int_equal(one->except >> LAB_CONDITION_COUNT, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions_of_agents_and_leads_are_noted),
        cmocka_unit_test(test_conditions_levels_that_need_not_meet_are_weak),
        cmocka_unit_test(test_conditions_levels_are_weak_for_what_is_requested_at_them),
        cmocka_unit_test(test_conditions_rows_without_an_answer_are_noted_at_the_end),
        cmocka_unit_test(test_conditions_rows_that_expire_or_are_deleted_are_noted_at_the_end),
        cmocka_unit_test(test_conditions_rows_that_wait_for_one_another_are_a_crowd),
        cmocka_unit_test(test_conditions_state_write_is_late_beyond_the_lead),
        cmocka_unit_test(test_conditions_outcome_of_a_state_write_decides),
        cmocka_unit_test(test_conditions_changes_at_once_are_those_that_do_not_know_of_each_other),
        cmocka_unit_test(test_conditions_read_of_a_state_below_rows_shows_a_late_write),
        cmocka_unit_test(test_probes_of_a_roll_show_its_fate),
        cmocka_unit_test(test_guarantee_is_broken_when_nothing_excuses_it),
        cmocka_unit_test(test_guarantee_table_has_no_duplicates),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
