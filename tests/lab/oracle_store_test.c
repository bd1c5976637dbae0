/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: conserved, no_duplicates and the ledger of increments find every row and increment that is stored
 * twice, never or elsewhere, and excuse what nobody was told of. Method: each of these made by hand, and
 * thousands of random increments held against a plain list. */
#include <string.h>

#include "oracle_stand.h"

#define SECOND SIM_SECOND

static void open_stand(struct stand *stand)
{
    stand_prepare_probabilistic(stand, BK_SINGLE);
    stand_open(stand);
}

/* --- conserved: what became of a row, as its host tells it. */

enum ending { ACKNOWLEDGED, UNKNOWN, REFUSED };

static void end_write(struct stand *stand, struct lab_host_operation *operation, enum ending ending)
{
    if (ending == ACKNOWLEDGED)
        stand_acknowledge(stand, operation);
    stand->run.unresolved += ending == UNKNOWN;
    stand->run.refused += ending == REFUSED;
    lab_oracles_write_ended(&stand->run, operation, false, ending == REFUSED);
}

/* A row of key 0 that is put into one bucket, and stored in another one, or nowhere (-1). */
static void write(struct stand *stand, uint64_t row, int64_t bucket, int64_t stored_in, enum ending ending)
{
    struct lab_host_operation operation = stand_operation(0, row, bucket);
    stand_place(stand, 0, row, 0, bucket, 0);
    if (stored_in >= 0)
        stand_store(stand, 0, row, 0, stored_in, ending == ACKNOWLEDGED);
    end_write(stand, &operation, ending);
}

static void assert_conserved_at_end(struct stand *stand, uint64_t violations)
{
    stand_end(stand);
    assert_violations(stand, LAB_ORACLE_CONSERVED, violations);
    stand_close(stand);
}

static void test_conserved_rows_of_every_ending_are_no_violation(void **state)
{
    (void)state;
    struct stand stand;
    open_stand(&stand);
    write(&stand, 0, 0, 0, ACKNOWLEDGED);
    write(&stand, 1, 0, 0, UNKNOWN);
    write(&stand, 2, 0, -1, UNKNOWN);
    write(&stand, 3, 0, -1, REFUSED);
    stand_store(&stand, 0, 1, 0, 0, false); /* once more, and the same row */
    assert_conserved_at_end(&stand, 0);
    /* Of unknown outcome, and stored long after. */
    open_stand(&stand);
    write(&stand, 0, 0, -1, UNKNOWN);
    stand_wait_until(&stand, 5 * SECOND);
    stand_store(&stand, 0, 0, 0, 0, false);
    assert_conserved_at_end(&stand, 0);
}

static void test_conserved_row_that_was_never_told_of_is_a_difference(void **state)
{
    (void)state;
    struct stand stand;
    open_stand(&stand);
    write(&stand, 0, 0, 0, ACKNOWLEDGED);
    stand_arrive(&stand, 0, 1);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_CONSERVED, 1);
    assert_int_equal(stand.run.oracles.verdict.violations[LAB_ORACLE_CONSERVED].key, LAB_NO_KEY);
    stand_close(&stand);
    open_stand(&stand);
    write(&stand, 0, 0, 0, ACKNOWLEDGED);
    stand.run.refused++;
    assert_conserved_at_end(&stand, 1);
    open_stand(&stand);
    stand.run.refused = 1;
    stand_place(&stand, 0, 0, 0, LAB_UNPLACED, 0);
    assert_conserved_at_end(&stand, 0);
}

static void test_conserved_row_stored_never_or_elsewhere_is_a_difference(void **state)
{
    (void)state;
    struct stand stand;
    open_stand(&stand);
    write(&stand, 0, 0, -1, ACKNOWLEDGED);
    assert_conserved_at_end(&stand, 1);
    open_stand(&stand);
    write(&stand, 0, 0, 1, ACKNOWLEDGED); /* one too few here, one too many there */
    assert_conserved_at_end(&stand, 2);
    open_stand(&stand);
    write(&stand, 0, 0, 0, REFUSED);
    assert_conserved_at_end(&stand, 1);
    open_stand(&stand);
    write(&stand, 0, 0, 1, UNKNOWN);
    assert_conserved_at_end(&stand, 1);
}

/* Two rows that change places leave every number as it was. */
static void test_conserved_rows_that_changed_places_are_differences(void **state)
{
    (void)state;
    struct stand stand;
    open_stand(&stand);
    write(&stand, 0, 0, 1, ACKNOWLEDGED);
    write(&stand, 1, 1, 0, ACKNOWLEDGED);
    write(&stand, 2, 1, 1, ACKNOWLEDGED);
    assert_conserved_at_end(&stand, 2);
}

static void test_conserved_row_stored_twice_is_a_difference(void **state)
{
    (void)state;
    struct stand stand;
    open_stand(&stand);
    write(&stand, 0, 0, 0, ACKNOWLEDGED);
    stand_store(&stand, 0, 0, 0, 1, true);
    assert_conserved_at_end(&stand, 1);
}

/* What the cluster holds at the end is not what it said it got. */
static void test_conserved_row_that_vanished_is_a_difference(void **state)
{
    (void)state;
    struct stand stand;
    open_stand(&stand);
    write(&stand, 0, 0, 0, ACKNOWLEDGED);
    struct cass_statement statement = {
        .kind = CASS_DELETE_ROW, .consistency = CASS_ONE, .bytes = 100, .timestamp_us = INT64_MIN};
    cass_request(stand.run.cluster, 0, CASS_ANY_NODE, 0, &statement);
    stand_wait_until(&stand, SECOND);
    cass_reply_discard(stand.run.cluster, stand.reply);
    assert_conserved_at_end(&stand, 1);
}

/* A replica lacks an acknowledged row: excused for as long as the row may be on its way, by the run's own
 * time, whatever the row's time says; after faults; and where a node has forgotten what it owed. */
static void test_conserved_row_that_a_replica_is_owed_is_a_difference_in_the_end(void **state)
{
    (void)state;
    static const struct {
        int64_t row_time_ns, waits_ns, fault_ends_ns;
        bool is_forgotten;
        uint64_t violations;
    } cases[] = {
        /* Timeout of the write 2 s, of the client 1 s, two looks of 10 s at hints; after a fault the lag of 2
         * s in place of the client's, which is part of the fault. */
        {0, 23 * SECOND, -1, false, 1},
        {0, 23 * SECOND - 1, -1, false, 0},
        {10 * SECOND, 23 * SECOND, -1, false, 1},
        {-SIM_HOUR, 23 * SECOND - 1, -1, false, 0},
        {0, 60 * SECOND, 36 * SECOND, false, 0},
        {0, 60 * SECOND, 36 * SECOND - 1, false, 1},
        {0, 60 * SECOND, -1, true, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stand stand;
        stand_prepare_probabilistic(&stand, BK_SINGLE);
        stand.scenario.network.datacenters[0] =
            (struct cass_datacenter){.name = "dc1", .nodes = 3, .racks = 1, .replication_factor = 3};
        stand_open(&stand);
        stand_wait_until(&stand, 9 * SECOND);
        cass_set_down(stand.run.cluster, 2, true); /* for too long for hints */
        stand_wait_until(&stand, 10 * SECOND);
        struct lab_host_operation operation = stand_operation(0, 0, 0);
        stand_place(&stand, 0, 0, cases[i].row_time_ns, 0, 0);
        stand_store(&stand, 0, 0, cases[i].row_time_ns, 0, true);
        end_write(&stand, &operation, ACKNOWLEDGED);
        cass_set_down(stand.run.cluster, 2, false);
        if (cases[i].fault_ends_ns >= 0) {
            stand_wait_until(&stand, 10 * SECOND + cases[i].fault_ends_ns - SECOND);
            lab_health_pulse(&stand.run, stand_time(&stand, 10 * SECOND + cases[i].fault_ends_ns - SECOND));
        }
        stand.run.oracles.hints_may_be_lost = cases[i].is_forgotten;
        stand_wait_until(&stand, 10 * SECOND + cases[i].waits_ns);
        assert_conserved_at_end(&stand, cases[i].violations);
    }
}

/* --- no_duplicates: a row that is put into one bucket after the other, as a host tells of it. */

static void move(struct stand *stand, struct lab_host_operation *operation, int64_t bucket, bool is_stored)
{
    if (operation->bucket == LAB_UNPLACED) {
        stand_place(stand, 0, operation->row, 0, bucket, 0);
    } else if (operation->bucket != bucket) {
        assert_true(lab_open_add(&stand->run.oracles.moved, operation));
        operation->is_moved = true;
    }
    operation->bucket = bucket;
    if (is_stored)
        stand_store(stand, 0, operation->row, 0, bucket, false);
}

/* Puts of one row: "A" is stored in bucket 0 and not told, "a" is lost; the last one ends so. */
static void put(struct stand *stand, uint64_t row, const char *puts, enum ending ending)
{
    struct lab_host_operation operation = stand_operation(0, row, LAB_UNPLACED);
    for (const char *at = puts; *at != '\0'; at++) {
        bool is_stored = *at >= 'A' && *at <= 'Z';
        move(stand, &operation, is_stored ? *at - 'A' : *at - 'a', is_stored);
    }
    if (ending == ACKNOWLEDGED)
        stand_store(stand, 0, row, 0, operation.bucket, true);
    end_write(stand, &operation, ending);
}

static void test_no_duplicates_counts_rows_that_stand_in_several_buckets(void **state)
{
    (void)state;
    static const struct {
        const char *puts;
        enum ending ending;
        uint64_t violations;
    } cases[] = {
        {"A", ACKNOWLEDGED, 0},   {"A", UNKNOWN, 0},       {"AA", UNKNOWN, 0},
        {"AAA", ACKNOWLEDGED, 0}, {"AB", ACKNOWLEDGED, 1}, {"aB", ACKNOWLEDGED, 0},
        {"AB", UNKNOWN, 1},       {"Ab", UNKNOWN, 0},      {"aB", UNKNOWN, 0},
        {"ab", UNKNOWN, 0},       {"ab", REFUSED, 0},      {"aba", ACKNOWLEDGED, 0},
        {"aBa", ACKNOWLEDGED, 1}, {"ABA", UNKNOWN, 1},     {"AbA", UNKNOWN, 0},
        {"ABC", ACKNOWLEDGED, 1}, {"AbC", UNKNOWN, 1},     {"abC", ACKNOWLEDGED, 0},
        {"CBA", ACKNOWLEDGED, 1}, {"aBabab", UNKNOWN, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stand stand;
        open_stand(&stand);
        put(&stand, 0, cases[i].puts, cases[i].ending);
        stand_end(&stand);
        if (stand_violations(&stand, LAB_ORACLE_NO_DUPLICATES) != cases[i].violations)
            fail_msg("%s, ending %d", cases[i].puts, cases[i].ending);
        assert_int_equal(stand.run.tally.duplicated, cases[i].violations);
        assert_violations(&stand, LAB_ORACLE_CONSERVED, 0);
        stand_close(&stand);
    }
}

static void test_no_duplicates_counts_each_row(void **state)
{
    (void)state;
    struct stand stand;
    open_stand(&stand);
    put(&stand, 0, "AB", ACKNOWLEDGED);
    put(&stand, 1, "aB", ACKNOWLEDGED);
    put(&stand, 2, "ABC", UNKNOWN);
    put(&stand, 3, "BA", ACKNOWLEDGED);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_NO_DUPLICATES, 3);
    stand_close(&stand);
}

/* --- increments of counter columns */

static void open_counters(struct stand *stand)
{
    stand_prepare_probabilistic(stand, BK_SINGLE);
    stand->run.config.counter = BK_COUNTER_COLUMN;
    stand->run.key_count = 2;
    stand_open(stand);
}

/* A counter's update that is carried out and answered, or not even sent on. */
static void add(struct stand *stand, uint64_t counter, uint64_t row)
{
    struct cass_statement statement = {.kind = CASS_ADD_COUNTER,
                                       .consistency = CASS_LOCAL_QUORUM,
                                       .key = counter,
                                       .row_id = row,
                                       .delta = 1,
                                       .timestamp_us = INT64_MIN};
    cass_request(stand->run.cluster, 0, CASS_ANY_NODE, 0, &statement);
    stand_wait_until(stand, (sim_queue_now(&stand->run.queue) - stand->run.start_ns));
    cass_reply_discard(stand->run.cluster, stand->reply);
}

/* An acknowledged row of a key that fires, and what became of its increment: asked so often, of which the
 * first ones were made. */
static void count(struct stand *stand, uint32_t key, uint64_t row, int asked, int made, bool is_counted)
{
    struct lab_host_operation operation = stand_operation(key, row, 0);
    operation.fires = true;
    stand_place(stand, key, row, 0, 0, 0);
    stand_store(stand, key, row, 0, 0, true);
    stand_acknowledge(stand, &operation);
    for (int i = 0; i < asked; i++) {
        operation.has_counted = true;
        operation.counter = key;
        lab_increment_asked(&stand->run, key, row);
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

static void test_increments_made_once_leave_nothing(void **state)
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
    count(&stand, 0, 5, 0, 0, false); /* never asked for */
    assert_increments(&stand, 2, 3);
}

/* What was unknown when its operation ended takes effect later. */
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

/* A message that came twice, after its increment was forgotten; and one whose answer was no answer. */
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

/* An increment that was never asked for is lost, though another key's row of this number waits for its own.
 */
static void test_increments_never_asked_for_are_not_taken_for_another_keys(void **state)
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

/* An addition that nobody asked for is not explained by any row. */
static void test_increments_that_no_row_explains_are_a_difference(void **state)
{
    (void)state;
    struct stand stand;
    open_counters(&stand);
    stand.run.oracles.increments.lost = 1;
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_CONSERVED, 1);
    stand_close(&stand);
}

/* --- the table of increments against a plain list */

#define TRIES 20000u

struct listed {
    uint64_t counter, row;
    uint32_t asked, applied;
    bool is_open, is_forgotten;
};

struct list {
    struct listed items[TRIES];
    size_t count;
    uint64_t due, lost, doubled;
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
    lab_increment_asked(run, listed->counter, listed->row);
}

static void apply_listed(struct lab_cluster_run *run, struct list *list, struct listed *listed)
{
    listed->applied++;
    list->doubled += listed->applied > 1;
    lab_increment_applied(run, listed->counter, listed->row);
}

static void end_listed(struct lab_cluster_run *run, struct list *list, struct listed *listed,
                       struct sim_random *random)
{
    /* A client that was told so has asked once at least, and one addition was made. */
    bool is_counted = listed->applied > 0 && sim_random_below(random, 4) != 0;
    listed->is_open = false;
    listed->is_forgotten = is_counted && listed->asked == 1 && listed->applied == 1;
    list->due++;
    const struct lab_host_operation operation = {
        .counter = listed->counter, .row = listed->row, .has_counted = true};
    lab_increment_ended(run, &operation, is_counted);
}

static void try_random(struct lab_cluster_run *run, struct list *list, struct sim_random *random,
                       uint64_t tries)
{
    for (uint64_t i = 0; i < tries; i++) {
        /* Few counters and near rows, so that they crowd; sooner or later most are ended. */
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

static void test_increments_random_are_as_a_plain_list_has_them(void **state)
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
        try_random(&run, &list, &random, seed % 10 == 0 ? 3000 : 300);
        size_t used = 0;
        for (size_t i = 0; i < list.count; i++) {
            struct listed *listed = &list.items[i];
            if (listed->is_open)
                end_listed(&run, &list, listed, &random);
            forgotten += listed->is_forgotten;
            used += !listed->is_forgotten;
            list.lost += listed->applied == 0;
        }
        assert_int_equal(run.oracles.increments.used, used);
        assert_int_equal(run.oracles.increments.due, list.due);
        lab_increments_end(&run);
        assert_int_equal(run.oracles.verdict.increments_lost, list.lost);
        assert_int_equal(run.oracles.verdict.increments_doubled, list.doubled);
        lost_in_all += list.lost;
        doubled_in_all += list.doubled;
        lab_oracles_destroy(&run);
    }
    assert_true(forgotten > 10000 && lost_in_all > 1000 && doubled_in_all > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conserved_rows_of_every_ending_are_no_violation),
        cmocka_unit_test(test_conserved_row_that_was_never_told_of_is_a_difference),
        cmocka_unit_test(test_conserved_row_stored_never_or_elsewhere_is_a_difference),
        cmocka_unit_test(test_conserved_rows_that_changed_places_are_differences),
        cmocka_unit_test(test_conserved_row_stored_twice_is_a_difference),
        cmocka_unit_test(test_conserved_row_that_vanished_is_a_difference),
        cmocka_unit_test(test_conserved_row_that_a_replica_is_owed_is_a_difference_in_the_end),
        cmocka_unit_test(test_no_duplicates_counts_rows_that_stand_in_several_buckets),
        cmocka_unit_test(test_no_duplicates_counts_each_row),
        cmocka_unit_test(test_increments_made_once_leave_nothing),
        cmocka_unit_test(test_increments_lost_and_doubled_are_counted),
        cmocka_unit_test(test_increments_made_late_are_not_lost),
        cmocka_unit_test(test_increments_made_again_after_the_end_are_doubled),
        cmocka_unit_test(test_increments_never_asked_for_are_not_taken_for_another_keys),
        cmocka_unit_test(test_increments_that_no_row_explains_are_a_difference),
        cmocka_unit_test(test_increments_random_are_as_a_plain_list_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
