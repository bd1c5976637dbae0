/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: conserved and no_duplicates find every row that is stored twice, never, or elsewhere, and excuse rows
 * of unknown outcome. Method: each of these cases is made by hand. */
#include "events.h"
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

static void open_stand(void)
{
    stand_open_probabilistic(&stand, BK_SINGLE);
}

/* --- conserved: the outcome of a row's write, as its host reports it. */

enum ending { ACKNOWLEDGED, UNKNOWN, REFUSED };

static void end_write(struct lab_host_operation *operation, enum ending ending)
{
    if (ending == ACKNOWLEDGED)
        stand_acknowledge(&stand, operation);
    stand.run.unresolved += ending == UNKNOWN;
    stand.run.refused += ending == REFUSED;
    stand_finish(&stand, operation, false, ending == REFUSED);
}

/* A row of key 0 that is put into one bucket and stored in another bucket, or nowhere (-1). */
static void write(uint64_t row, int64_t bucket, int64_t stored_in, enum ending ending)
{
    struct lab_host_operation operation = stand_operation(0, row, bucket);
    stand_place(&stand, 0, row, 0, bucket, 0);
    if (stored_in >= 0)
        stand_store(&stand, 0, row, 0, stored_in, ending == ACKNOWLEDGED);
    end_write(&operation, ending);
}

static void assert_conserved_at_end(uint64_t violations)
{
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_CONSERVED, violations);
}

static void test_conserved_rows_of_every_ending_are_no_violation(void **state)
{
    (void)state;
    open_stand();
    write(0, 0, 0, ACKNOWLEDGED);
    write(1, 0, 0, UNKNOWN);
    write(2, 0, -1, UNKNOWN);
    write(3, 0, -1, REFUSED);
    stand_store(&stand, 0, 1, 0, 0, false); /* the same row once more */
    assert_conserved_at_end(0);
    /* A write of unknown outcome is stored long after. */
    open_stand();
    write(0, 0, -1, UNKNOWN);
    stand_wait_until(&stand, 5 * SECOND);
    stand_store(&stand, 0, 0, 0, 0, false);
    assert_conserved_at_end(0);
}

static void test_conserved_row_that_was_never_reported_is_a_difference(void **state)
{
    (void)state;
    open_stand();
    write(0, 0, 0, ACKNOWLEDGED);
    stand_arrive(&stand, 0, 1);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_CONSERVED, 1);
    assert_int_equal(stand.run.oracles.verdict.violations[LAB_ORACLE_CONSERVED].key, LAB_NO_KEY);
    open_stand();
    write(0, 0, 0, ACKNOWLEDGED);
    stand.run.refused++;
    assert_conserved_at_end(1);
    open_stand();
    stand.run.refused = 1;
    stand_place(&stand, 0, 0, 0, LAB_UNPLACED, 0);
    assert_conserved_at_end(0);
}

static void test_conserved_row_stored_never_or_elsewhere_is_a_difference(void **state)
{
    (void)state;
    open_stand();
    write(0, 0, -1, ACKNOWLEDGED);
    assert_conserved_at_end(1);
    open_stand();
    write(0, 0, 1, ACKNOWLEDGED); /* one row too few here, one too many there */
    assert_conserved_at_end(2);
    open_stand();
    write(0, 0, 0, REFUSED);
    assert_conserved_at_end(1);
    open_stand();
    write(0, 0, 1, UNKNOWN);
    assert_conserved_at_end(1);
}

/* Two rows that swap their places leave every count as it was. */
static void test_conserved_rows_that_changed_places_are_differences(void **state)
{
    (void)state;
    open_stand();
    write(0, 0, 1, ACKNOWLEDGED);
    write(1, 1, 0, ACKNOWLEDGED);
    write(2, 1, 1, ACKNOWLEDGED);
    assert_conserved_at_end(2);
}

static void test_conserved_row_stored_twice_is_a_difference(void **state)
{
    (void)state;
    open_stand();
    write(0, 0, 0, ACKNOWLEDGED);
    stand_store(&stand, 0, 0, 0, 1, true);
    assert_conserved_at_end(1);
}

/* The contents of the cluster at the end differ from what the cluster acknowledged. */
static void test_conserved_row_that_vanished_is_a_difference(void **state)
{
    (void)state;
    open_stand();
    write(0, 0, 0, ACKNOWLEDGED);
    struct cass_statement statement = {
        .kind = CASS_DELETE_ROW, .consistency = CASS_ONE, .bytes = 100, .timestamp_us = INT64_MIN};
    cass_request(stand.run.cluster, 0, CASS_ANY_NODE, 0, &statement);
    stand_wait_until(&stand, SECOND);
    cass_reply_discard(stand.run.cluster, stand.reply);
    assert_conserved_at_end(1);
}

enum then { NOTHING, HINTS_DROPPED, NODE_STAYS_DOWN };

/* A replica misses a row, and a hint waits for the replica unless it is down for too long. The oracle does
 * not ask the cluster about its hints: after the run the row has to be there. A missing row is excused if a
 * node has forgotten its hints, or if the cluster was unhealthy for longer than hints are kept; a network
 * that loses most messages is not judged. */
static void test_conserved_row_that_never_comes_to_a_replica_is_a_difference(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int64_t gone_ns, unwell_ns;
        enum then then;
        enum ending ending;
        bool is_forgotten;
        double loss;
        uint64_t violations;
    } cases[] = {
        {"a hint waits", SECOND, 0, NOTHING, ACKNOWLEDGED, false, 0, 0},
        {"it waits, and its node is gone", SECOND, SECOND, NODE_STAYS_DOWN, ACKNOWLEDGED, false, 0, 0},
        {"nobody was told", SECOND, 0, NOTHING, UNKNOWN, false, 0, 0},
        {"gone for too long", 61 * SECOND, 0, NOTHING, ACKNOWLEDGED, false, 0, 1},
        {"the same, known to be unwell", 61 * SECOND, 61 * SECOND, NOTHING, ACKNOWLEDGED, false, 0, 0},
        {"the hint is dropped, and none is told", SECOND, 0, HINTS_DROPPED, ACKNOWLEDGED, false, 0, 1},
        {"of a row of unknown outcome", SECOND, 0, HINTS_DROPPED, UNKNOWN, false, 0, 1},
        {"it is known to be dropped", SECOND, 0, HINTS_DROPPED, ACKNOWLEDGED, true, 0, 0},
        {"of a network that loses most", SECOND, 0, HINTS_DROPPED, ACKNOWLEDGED, false, 0.9, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stand_prepare_probabilistic(&stand, BK_SINGLE);
        stand.scenario.network.datacenters[0] =
            (struct cass_datacenter){.name = "dc1", .nodes = 3, .racks = 1, .replication_factor = 3};
        stand.scenario.network.hint_window_ns = SIM_MINUTE;
        stand_open(&stand);
        struct cass_cluster *cluster = stand.run.cluster;
        cass_set_down(cluster, 2, true);
        stand_wait_until(&stand, cases[i].gone_ns);
        struct lab_host_operation operation = stand_operation(0, 0, 0);
        stand_place(&stand, 0, 0, 0, 0, 0);
        stand_store(&stand, 0, 0, 0, 0, cases[i].ending == ACKNOWLEDGED);
        end_write(&operation, cases[i].ending);
        for (uint32_t node = 0; cases[i].then == HINTS_DROPPED && node < 3; node++)
            cass_drop_hints(cluster, node);
        if (cases[i].then != NODE_STAYS_DOWN)
            cass_set_down(cluster, 2, false);
        stand_end(&stand);
        stand.run.oracles.hints_may_be_lost = cases[i].is_forgotten;
        stand.run.oracles.health.total_ns = cases[i].unwell_ns;
        stand.scenario.network.loss = cases[i].loss;
        assert_violations(&stand, LAB_ORACLE_CONSERVED, 0);
        cluster_delivered.finish(&stand.run, NULL);
        if (stand_violations(&stand, LAB_ORACLE_CONSERVED) != cases[i].violations)
            fail_msg("%s: %d violations", cases[i].what, (int)stand_violations(&stand, LAB_ORACLE_CONSERVED));
    }
}

/* --- no_duplicates: a row that is put into one bucket after another, as a host reports it. */

static void move(struct lab_host_operation *operation, int64_t bucket, bool is_stored)
{
    if (operation->bucket == LAB_UNPLACED) {
        stand_place(&stand, 0, operation->row, 0, bucket, 0);
    } else if (operation->bucket != bucket) {
        cluster_emit_of(&stand.run, PLACED, 0, operation, .bucket = bucket);
        operation->is_moved = true;
    }
    operation->bucket = bucket;
    if (is_stored)
        stand_store(&stand, 0, operation->row, 0, bucket, false);
}

/* Puts of one row: "A" is stored in bucket 0 without an answer, "a" is lost; then the operation ends in this
 * way. */
static void put(uint64_t row, const char *puts, enum ending ending)
{
    struct lab_host_operation operation = stand_operation(0, row, LAB_UNPLACED);
    for (const char *at = puts; *at != '\0'; at++) {
        bool is_stored = *at >= 'A' && *at <= 'Z';
        move(&operation, is_stored ? *at - 'A' : *at - 'a', is_stored);
    }
    if (ending == ACKNOWLEDGED)
        stand_store(&stand, 0, row, 0, operation.bucket, true);
    end_write(&operation, ending);
}

static void test_no_duplicates_counts_rows_that_are_in_several_buckets(void **state)
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
        open_stand();
        put(0, cases[i].puts, cases[i].ending);
        stand_end(&stand);
        if (stand_violations(&stand, LAB_ORACLE_NO_DUPLICATES) != cases[i].violations)
            fail_msg("%s, ending %d", cases[i].puts, cases[i].ending);
        assert_int_equal(stand.run.tally.duplicated, cases[i].violations);
        assert_violations(&stand, LAB_ORACLE_CONSERVED, 0);
    }
}

static void test_no_duplicates_counts_each_row(void **state)
{
    (void)state;
    open_stand();
    put(0, "AB", ACKNOWLEDGED);
    put(1, "aB", ACKNOWLEDGED);
    put(2, "ABC", UNKNOWN);
    put(3, "BA", ACKNOWLEDGED);
    stand_end(&stand);
    assert_violations(&stand, LAB_ORACLE_NO_DUPLICATES, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conserved_rows_of_every_ending_are_no_violation),
        cmocka_unit_test(test_conserved_row_that_was_never_reported_is_a_difference),
        cmocka_unit_test(test_conserved_row_stored_never_or_elsewhere_is_a_difference),
        cmocka_unit_test(test_conserved_rows_that_changed_places_are_differences),
        cmocka_unit_test(test_conserved_row_stored_twice_is_a_difference),
        cmocka_unit_test(test_conserved_row_that_vanished_is_a_difference),
        cmocka_unit_test(test_conserved_row_that_never_comes_to_a_replica_is_a_difference),
        cmocka_unit_test(test_no_duplicates_counts_rows_that_are_in_several_buckets),
        cmocka_unit_test(test_no_duplicates_counts_each_row),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
