/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the oracle knows which increments of counter columns were lost and which were made twice, and its sum
 * equals the cluster's. Method: each case is made by hand, and thousands of random ones are compared with a
 * plain list. */
#include "oracle_stand.h"
#include "oracles.h"

#define SECOND SIM_SECOND

/* The amount that a row adds. Lost and doubled increments are counted as operations; their conserved total is
 * a sum of amounts. */
static uint64_t amount_of(uint64_t row)
{
    return 1 + row % 5;
}

static void open_counters(struct stand *stand)
{
    stand_prepare_probabilistic(stand, BK_SINGLE);
    stand->run.config.counter = BK_COUNTER_COLUMN;
    stand->run.key_count = 2;
    stand_open(stand);
}

/* An update of a counter that is applied and answered, or is not even forwarded. */
static void add(struct stand *stand, uint64_t counter, uint64_t row)
{
    struct cass_statement statement = {.kind = CASS_ADD_COUNTER,
                                       .consistency = CASS_LOCAL_QUORUM,
                                       .key = counter,
                                       .row_id = row,
                                       .delta = (int64_t)amount_of(row),
                                       .timestamp_us = INT64_MIN};
    cass_request(stand->run.cluster, 0, CASS_ANY_NODE, 0, &statement);
    stand_wait_until(stand, (sim_queue_now(&stand->run.queue) - stand->run.start_ns));
    cass_reply_discard(stand->run.cluster, stand->reply);
}

/* An acknowledged row of a key that fires, and the fate of its increment: it was requested `asked` times, of
 * which the first `made` took effect. */
static void count(struct stand *stand, uint32_t key, uint64_t row, int asked, int made, bool is_counted)
{
    struct lab_host_operation operation = stand_operation(key, row, 0);
    operation.fires = true;
    operation.weight = amount_of(row);
    stand_place(stand, key, row, 0, 0, 0);
    stand_store(stand, key, row, 0, 0, true);
    stand_acknowledge(stand, &operation);
    for (int i = 0; i < asked; i++) {
        operation.has_counted = true;
        operation.counter = key;
        lab_increment_asked(&stand->run, key, row, amount_of(row));
        if (i < made)
            add(stand, key, row);
    }
    lab_oracles_write_ended(&stand->run, &operation, is_counted, false);
}

static void assert_increments(struct stand *stand, uint64_t lost, uint64_t doubled)
{
    stand_end(stand);
    assert_int_equal(stand->run.oracles.verdict.increments_lost, lost);
    assert_int_equal(stand->run.oracles.verdict.increments_doubled, doubled);
    assert_violations(stand, LAB_ORACLE_CONSERVED, 0);
    stand_close(stand);
}

static void test_increments_made_once_are_not_kept(void **state)
{
    (void)state;
    struct stand stand;
    open_counters(&stand);
    for (uint64_t row = 0; row < 100; row++)
        count(&stand, 0, row, 1, 1, true);
    assert_int_equal(stand.run.oracles.increments.used, 0);
    assert_int_equal(stand.run.oracles.verdict.conditions >> LAB_CONDITION_LOST_INCREMENT & 1, 0);
    assert_increments(&stand, 0, 0);
}

static void test_increments_lost_and_doubled_are_counted(void **state)
{
    (void)state;
    struct stand stand;
    open_counters(&stand);
    count(&stand, 0, 0, 1, 0, false); /* lost */
    assert_true(stand.run.oracles.verdict.conditions >> LAB_CONDITION_LOST_INCREMENT & 1);
    count(&stand, 0, 1, 1, 1, false); /* unknown, and made */
    count(&stand, 0, 2, 2, 2, true);  /* doubled */
    count(&stand, 0, 3, 3, 3, false); /* doubled twice */
    count(&stand, 0, 4, 2, 1, true);
    count(&stand, 0, 5, 0, 0, false); /* never requested */
    assert_increments(&stand, 2, 3);
}

/* An increment of unknown outcome at the end of its operation takes effect later. */
static void test_increments_made_late_are_not_lost(void **state)
{
    (void)state;
    struct stand stand;
    open_counters(&stand);
    count(&stand, 0, 0, 1, 0, false);
    count(&stand, 0, 1, 2, 1, true);
    count(&stand, 0, 2, 1, 0, false);
    stand_wait_until(&stand, 60 * SECOND);
    add(&stand, 0, 0);
    add(&stand, 0, 1);
    assert_increments(&stand, 1, 1);
}

/* A message arrives twice, after its increment was forgotten; and an increment is acknowledged without being
 * made. */
static void test_increments_made_again_after_the_end_are_doubled(void **state)
{
    (void)state;
    struct stand stand;
    open_counters(&stand);
    count(&stand, 0, 0, 1, 1, true);
    assert_int_equal(stand.run.oracles.increments.used, 0);
    add(&stand, 0, 0);
    count(&stand, 0, 1, 1, 0, true);
    assert_increments(&stand, 1, 1);
}

/* An increment that was never requested is lost, though another key's row of this number waits for its own
 * increment. */
static void test_increments_never_requested_do_not_count_for_another_key(void **state)
{
    (void)state;
    struct stand stand;
    open_counters(&stand);
    count(&stand, 0, 7, 1, 0, false);
    count(&stand, 1, 7, 0, 0, false);
    add(&stand, 0, 7);
    for (uint32_t key = 0; key < 2; key++)
        stand.run.unresolved += 7; /* the rows 0 to 6 */
    assert_increments(&stand, 1, 0);
}

/* An addition that was never requested is not explained by any row. */
static void test_increments_without_a_row_are_a_difference(void **state)
{
    (void)state;
    struct stand stand;
    open_counters(&stand);
    stand.run.oracles.increments.amount_lost = 1;
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_CONSERVED, 1);
    stand_close(&stand);
}

/* --- the table of increments compared with a plain list */

#define TRIES 20000u

struct listed {
    uint64_t counter, row;
    uint32_t asked, applied;
    bool is_open, is_forgotten;
};

struct list {
    struct listed items[TRIES];
    size_t count;
    uint64_t due, lost, doubled, amount_due, amount_lost, amount_doubled;
};

static struct listed *find(struct list *list, uint64_t counter, uint64_t row)
{
    for (size_t i = list->count; i > 0; i--) {
        if (list->items[i - 1].counter == counter && list->items[i - 1].row == row)
            return &list->items[i - 1];
    }
    return NULL;
}

static void ask_listed(struct lab_cluster_run *run, struct list *list, struct listed *listed)
{
    (void)list;
    listed->asked++;
    lab_increment_asked(run, listed->counter, listed->row, amount_of(listed->row));
}

static void apply_listed(struct lab_cluster_run *run, struct list *list, struct listed *listed)
{
    listed->applied++;
    list->doubled += listed->applied > 1;
    list->amount_doubled += listed->applied > 1 ? amount_of(listed->row) : 0;
    lab_increment_applied(run, listed->counter, listed->row, amount_of(listed->row));
}

static void end_listed(struct lab_cluster_run *run, struct list *list, struct listed *listed,
                       struct sim_random *random)
{
    /* A client with a positive answer has sent at least one request, and one addition was made. */
    bool is_counted = listed->applied > 0 && sim_random_below(random, 4) != 0;
    listed->is_open = false;
    listed->is_forgotten = is_counted && listed->asked == 1 && listed->applied == 1;
    list->due++;
    list->amount_due += amount_of(listed->row);
    const struct lab_host_operation operation = {.counter = listed->counter,
                                                 .row = listed->row,
                                                 .weight = amount_of(listed->row),
                                                 .has_counted = true};
    lab_increment_ended(run, &operation, is_counted);
}

static void try_random(struct lab_cluster_run *run, struct list *list, struct sim_random *random,
                       uint64_t tries)
{
    for (uint64_t i = 0; i < tries; i++) {
        /* Few counters and nearby rows, so that the table is crowded; most increments end sooner or later. */
        struct listed *listed = NULL;
        if (list->count > 0)
            listed =
                &list->items[list->count - 1 - sim_random_below(random, list->count < 50 ? list->count : 50)];
        switch (sim_random_below(random, 6)) {
        case 0:
        case 1: {
            uint64_t counter = sim_random_below(random, 3) << 40, row = sim_random_below(random, TRIES);
            if (find(list, counter, row) != NULL)
                break;
            list->items[list->count] = (struct listed){counter, row, 0, 0, true, false};
            ask_listed(run, list, &list->items[list->count++]);
            break;
        }
        case 2:
        case 3:
            if (listed != NULL && (listed->applied < listed->asked || sim_random_below(random, 20) == 0))
                apply_listed(run, list, listed);
            break;
        case 4:
            if (listed != NULL && listed->is_open && sim_random_below(random, 4) == 0)
                ask_listed(run, list, listed);
            break;
        default:
            if (listed != NULL && listed->is_open)
                end_listed(run, list, listed, random);
        }
    }
}

static void test_random_increments_equal_a_plain_list(void **state)
{
    (void)state;
    static struct list list;
    uint64_t forgotten = 0, lost_in_all = 0, doubled_in_all = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct lab_cluster_run run = {0};
        struct sim_random random;
        sim_random_init(&random, seed, SIM_FUZZ, 0);
        list.count = 0;
        list.due = list.lost = list.doubled = 0;
        list.amount_due = list.amount_lost = list.amount_doubled = 0;
        assert_true(sim_table_create(&run.oracles.increments.table, &run.out_of_memory));
        try_random(&run, &list, &random, seed % 10 == 0 ? 3000 : 300);
        size_t used = 0;
        for (size_t i = 0; i < list.count; i++) {
            struct listed *listed = &list.items[i];
            if (listed->is_open)
                end_listed(&run, &list, listed, &random);
            forgotten += listed->is_forgotten;
            used += !listed->is_forgotten;
            list.lost += listed->applied == 0;
            list.amount_lost += listed->applied == 0 ? amount_of(listed->row) : 0;
        }
        assert_int_equal(run.oracles.increments.used, used);
        assert_int_equal(run.oracles.increments.due, list.due);
        lab_increments_end(&run);
        assert_int_equal(run.oracles.verdict.increments_lost, list.lost);
        assert_int_equal(run.oracles.verdict.increments_doubled, list.doubled);
        assert_true(run.oracles.increments.amount_due == list.amount_due);
        assert_true(run.oracles.increments.amount_lost == list.amount_lost);
        assert_true(run.oracles.increments.amount_doubled == list.amount_doubled);
        lost_in_all += list.lost;
        doubled_in_all += list.doubled;
        lab_oracles_destroy(&run);
    }
    assert_true(forgotten > 10000 && lost_in_all > 1000 && doubled_in_all > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_increments_made_once_are_not_kept),
        cmocka_unit_test(test_increments_lost_and_doubled_are_counted),
        cmocka_unit_test(test_increments_made_late_are_not_lost),
        cmocka_unit_test(test_increments_made_again_after_the_end_are_doubled),
        cmocka_unit_test(test_increments_never_requested_do_not_count_for_another_key),
        cmocka_unit_test(test_increments_without_a_row_are_a_difference),
        cmocka_unit_test(test_random_increments_equal_a_plain_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
