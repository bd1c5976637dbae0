/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the oracles findable and newest judge like a reader that starts now: from the bucket in the key's
 * state downwards. Method: rows and states made by hand; each violation is paired with a case that just
 * avoids it. */
#include "cluster_view.h"
#include "events.h"
#include "oracle_stand.h"
#include "oracles.h"

static struct stand stand;

#define SECOND SIM_SECOND

/* A test stand whose readers want this number of rows. */
static void open_newest(uint64_t rows)
{
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.reads.present = true;
    stand.scenario.reads.kinds[LAB_READ_LATEST].rows = rows;
    stand_open(&stand);
}

/* --- newest */

static void store(uint64_t row, int64_t time_ns, int64_t bucket)
{
    stand_place(&stand, 0, row, time_ns, bucket, 0);
    stand_store(&stand, 0, row, time_ns, bucket, true);
}

static void test_newest_in_order_is_no_violation(void **state)
{
    (void)state;
    open_newest(3);
    uint64_t row = 0;
    for (int64_t bucket = 0; bucket < 10; bucket++) {
        if (bucket > 0)
            stand_state(&stand, 0, bucket, (int64_t)row * SECOND, 0);
        for (int i = 0; i < 1 + bucket % 5; i++, row++)
            store(row, (int64_t)row * SECOND, bucket);
    }
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0);
}

/* The same holds for a read of a single row: any row in a higher bucket hides a newer row in a lower bucket.
 */
static void test_newest_one_row_below_the_newest_bucket_is_missed(void **state)
{
    (void)state;
    open_newest(1);
    stand_state(&stand, 0, 1, 0, 0);
    store(0, 5 * SECOND, 1);
    store(1, 4 * SECOND, 0);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0);
    store(2, 6 * SECOND, 0);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
    store(3, 7 * SECOND, 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
}

/* The n-th newest row of all is in a lower bucket, which the reader visits last or does not visit. */
static void test_newest_nth_row_decides(void **state)
{
    (void)state;
    open_newest(2);
    stand_state(&stand, 0, 1, 0, 0);
    store(0, 1 * SECOND, 0);
    store(1, 5 * SECOND, 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0); /* the reader continues to bucket 0 */
    store(2, 6 * SECOND, 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0);
    store(3, 5 * SECOND + 1, 0); /* the second newest row, below two rows of bucket 1 */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
    store(4, 7 * SECOND, 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
}

/* A reader takes every row of the higher buckets, including a row that is older than the newest n. Such a row
 * uses up one of the n results. */
static void test_newest_counts_old_rows_of_a_high_bucket(void **state)
{
    (void)state;
    open_newest(2);
    store(0, 9 * SECOND, 0);
    store(1, 10 * SECOND, 0);
    stand_state(&stand, 0, 1, 0, 0);
    store(2, 1 * SECOND, 0);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0);
    store(3, 1 * SECOND, 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
    store(4, 2 * SECOND, 0); /* still missed after any further row */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 2);
    store(5, 11 * SECOND, 1); /* the reader gets 11 and 1; 11 and 10 are the newest */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 3);
    store(6, 12 * SECOND, 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 3);
}

/* Among rows of equal time any row is correct, whatever the order of arrival. */
static void test_newest_accepts_any_order_of_equal_times(void **state)
{
    (void)state;
    open_newest(2);
    stand_state(&stand, 0, 2, 0, 0);
    store(0, 5 * SECOND, 1);
    store(1, 5 * SECOND, 1);
    store(2, 5 * SECOND, 0); /* not returned, and not missed */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0);
    store(3, 5 * SECOND, 2); /* returned, with one of the other rows */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0);
    store(4, 6 * SECOND, 1); /* the newest row and one row of 5 s */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0);
    store(5, 5 * SECOND, 2); /* two rows of 5 s hide the newest row */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
}

/* While there are fewer than n rows, the reader must reach all of them. */
static void test_newest_of_few_rows_are_all(void **state)
{
    (void)state;
    open_newest(4);
    stand_state(&stand, 0, 2, 0, 0);
    store(0, 1 * SECOND, 0);
    store(1, 3 * SECOND, 2);
    store(2, 2 * SECOND, 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 0);
}

static void test_newest_reader_does_not_find_rows_above_the_state(void **state)
{
    (void)state;
    open_newest(1);
    store(0, 1 * SECOND, 0);
    store(1, 2 * SECOND, 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
    store(2, 3 * SECOND, 0); /* a newer row becomes visible: now the reader gets the newest rows */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
    stand_state(&stand, 0, 1, 0, 0); /* hides the row; judged with the next row */
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
    store(3, 1 * SECOND, 0);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 2);
}

/* Without `reads:` the oracle expects the newest 16 rows; for reads of more than 64 rows it expects the
 * newest 64. */
static void test_newest_number_of_rows_is_that_of_the_readers(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    assert_int_equal(stand.run.oracles.newest_rows, 16);
    open_newest(UINT64_C(1) << 32);
    assert_int_equal(stand.run.oracles.newest_rows, 64);
}

/* With windows of time the reader begins at its own time and slightly ahead of it, since clocks differ. */
static void test_newest_of_windows_begins_at_the_clock(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_time(10 * SECOND, 0, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    stand.scenario.reads.present = true;
    stand.scenario.reads.kinds[LAB_READ_LATEST].rows = 1;
    stand.scenario.agents.clock_bound_ns = SECOND;
    stand_open(&stand);
    int64_t first = lab_state_newest(&stand.run, 0);
    stand_wait_until(&stand, 8 * SECOND - 1);
    store(0, 10 * SECOND, first + 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
    assert_int_equal(lab_state_newest(&stand.run, 0), first);
    stand_wait_until(&stand, 8 * SECOND);
    assert_int_equal(lab_state_newest(&stand.run, 0), first + 1);
    store(1, 10 * SECOND + 1, first + 1);
    assert_violations(&stand, LAB_ORACLE_NEWEST, 1);
}

/* --- findable */

static void acknowledge(uint64_t row, int64_t bucket)
{
    struct lab_host_operation operation = stand_operation(0, row, bucket);
    stand_acknowledge(&stand, &operation);
}

static void test_findable_at_the_states_bucket_and_below(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_state(&stand, 0, 2, 0, 0);
    for (uint64_t row = 0; row < 4; row++)
        store(row, (int64_t)row, (int64_t)row);
    acknowledge(0, 0);
    acknowledge(1, 1);
    acknowledge(2, 2);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 0);
    acknowledge(3, 3);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 1);
}

/* Rows that were never acknowledged cannot be lost. Each acknowledged row is lost at most once, however often
 * the state moves up and down. */
static void test_findable_state_going_back_loses_each_row_once(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_SINGLE);
    stand_state(&stand, 0, 3, 0, 0);
    for (uint64_t row = 0; row < 8; row++) {
        store(row, (int64_t)row, (int64_t)row / 2);
        if (row != 7)
            acknowledge(row, (int64_t)row / 2);
    }
    stand_state(&stand, 0, 2, 0, 0);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 1);
    stand_state(&stand, 0, 3, 0, 0);
    stand_state(&stand, 0, 2, 0, 0);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 1);
    stand_state(&stand, 0, 1, 0, 0);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 3);
    store(8, 8, 2); /* acknowledged while readers cannot see it */
    acknowledge(8, 2);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 4);
    stand_state(&stand, 0, 2, 0, 0);
    acknowledge(7, 3);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 5);
    stand_state(&stand, 0, 0, 0, 0);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 7);
}

/* A change of dates only, and the first state of a key, move no bucket. */
static void test_findable_other_changes_lose_nothing(void **state)
{
    (void)state;
    stand_open_probabilistic(&stand, BK_THREE_STATE);
    stand_write(&stand, 0, 0, 0, 0);
    stand_state(&stand, 0, 0, 0, 0);
    stand_state(&stand, 0, 1, 0, 5 * SECOND);
    stand_write(&stand, 0, 1, 1, 1);
    stand_state(&stand, 0, 1, 5 * SECOND, 0);
    stand_state(&stand, 0, 1, 4 * SECOND, 0);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 0);
    assert_int_equal(stand.run.oracles.verdict.rolls, 1);
}

/* A read of the range that begins at from_ns found 1 of 3 rows. */
static void read_too_few(enum lab_read_kind kind, int64_t from_ns)
{
    struct lab_host_operation operation = {.is_read = true,
                                           .read = kind,
                                           .row_time_ns = stand_time(&stand, from_ns),
                                           .done = {.kind = kind, .rows = 1, .due = 3}};
    lab_findable_read(&stand.run, &operation, 3);
}

/* With `count`, a read of a range may end at an older row that is above rows of the range, and only there. */
static void test_findable_range_of_counts_is_judged_where_times_keep_the_order(void **state)
{
    (void)state;
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(2, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    stand.scenario.reads.kinds[LAB_READ_RANGE].rate_per_s = 1;
    stand_open(&stand);
    stand_place(&stand, 0, 0, 10, 0, 0);
    stand_place(&stand, 0, 1, 30, 0, 0);
    stand_place(&stand, 0, 2, 30, 1, 0);
    read_too_few(LAB_READ_RANGE, 20);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 2);
    stand_place(&stand, 0, 3, 25, 2, 0); /* after rows of 30 in lower buckets */
    read_too_few(LAB_READ_RANGE, 26);
    read_too_few(LAB_READ_RANGE, 30);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 2);
    read_too_few(LAB_READ_RANGE, 25);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 4);
    read_too_few(LAB_READ_RANGE, 31);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 6);
    read_too_few(LAB_READ_ALL, 26);
    read_too_few(LAB_READ_LATEST, 26);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 10);
}

/* There are three replicas. A reader queries two replicas at QUORUM, possibly the two without the row. */
static void open_replicas(enum cass_consistency read)
{
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.network.datacenters[0] =
        (struct cass_datacenter){.name = "dc1", .nodes = 3, .racks = 1, .replication_factor = 3};
    stand.scenario.consistency.read = read;
    stand_open(&stand);
}

static void test_findable_on_too_few_replicas_is_violated(void **state)
{
    (void)state;
    static const struct {
        enum cass_consistency read;
        uint32_t enough;
    } cases[] = {{CASS_ONE, 3},          {CASS_LOCAL_ONE, 3}, {CASS_TWO, 2}, {CASS_QUORUM, 2},
                 {CASS_LOCAL_QUORUM, 2}, {CASS_THREE, 1},     {CASS_ALL, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint32_t held = 1; held <= 3; held++) {
            open_replicas(cases[i].read);
            for (uint32_t node = held; node < 3; node++)
                cass_set_down(stand.run.cluster, node, true);
            store(0, 0, 0);
            assert_int_equal(cass_row_held(stand.run.cluster, 0, 0, 0), held);
            acknowledge(0, 0);
            assert_violations(&stand, LAB_ORACLE_FINDABLE, held < cases[i].enough);
        }
    }
}

/* A row is lost only once, whatever the reasons. */
static void test_findable_on_few_replicas_is_not_lost_again(void **state)
{
    (void)state;
    open_replicas(CASS_ONE);
    stand_state(&stand, 0, 1, 0, 0);
    cass_set_down(stand.run.cluster, 2, true);
    store(0, 0, 1);
    acknowledge(0, 1);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 1);
    cass_set_down(stand.run.cluster, 2, false);
    store(1, 1, 1);
    acknowledge(1, 1);
    stand_state(&stand, 0, 0, 0, 0);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 2);
}

/* With a second datacenter it is unknown which replicas a reader queries. For a read that does not walk down,
 * no bucket is too high. */
static void test_findable_ignores_a_cause_that_does_not_apply(void **state)
{
    (void)state;
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.network.datacenter_count = 2;
    stand.scenario.network.datacenters[1] = stand.scenario.network.datacenters[0];
    stand.scenario.network.datacenters[1].name[2] = '2';
    stand.scenario.consistency.read = CASS_ONE;
    stand_open(&stand);
    cass_set_down(stand.run.cluster, 1, true);
    store(0, 0, 0);
    assert_int_equal(cass_row_held(stand.run.cluster, 0, 0, 0), 1);
    acknowledge(0, 0);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 0);
    store(1, 0, 1);
    acknowledge(1, 1);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 1);

    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_hash(10, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    stand_open(&stand);
    store(0, 0, 9);
    acknowledge(0, 9);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 0);
    assert_false(stand.run.oracles.verdict.is_judged[LAB_ORACLE_NEWEST]);
}

/* --- findable: the run's own readers of windows */

#define WINDOW     (10 * SECOND)
#define INDEX(nth) (1767225600 / 10 + (nth))

static void open_windows(void)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_time(WINDOW, 0, &strategy), BK_OK);
    stand_prepare(&stand, &strategy, BK_SINGLE);
    stand.scenario.agents.clock_bound_ns = SECOND;
    stand.run.config.remember_keys = 1;
    stand.run.config.late_ns = 5 * SECOND;
    stand_open(&stand);
}

/* Writes a row of this time, which is acknowledged now. */
static void write_window(uint64_t row, int64_t time_ns)
{
    struct lab_host_operation operation = stand_operation(0, row, INDEX(time_ns / WINDOW));
    operation.row_time_ns = stand_time(&stand, time_ns);
    stand_place(&stand, 0, row, time_ns, operation.bucket, 0);
    stand_store(&stand, 0, row, time_ns, operation.bucket, true);
    stand_acknowledge(&stand, &operation);
}

/* The reader should have found two rows and found one. */
static void query_short(const struct bk_query *query)
{
    struct lab_host_operation operation = stand_operation(0, 0, LAB_UNPLACED);
    operation.is_read = true;
    operation.begun_ns = sim_queue_now(&stand.run.queue);
    cluster_emit_of(&stand.run, READ_TAKEN, 0, &operation, .query = query);
    operation.done = (struct lab_read_done){.due = 2, .rows = 1};
    uint64_t due = lab_findable_due(2, operation.beyond, 2);
    if (due > 1)
        lab_findable_read(&stand.run, &operation, due);
}

/* A read from the present down to the birth. */
static void read_short(int64_t now_ns, int64_t birth_ns)
{
    struct bk_query query = {
        .kind = BK_QUERY_ALL, .now_ns = stand_time(&stand, now_ns), .birth_ns = stand_time(&stand, birth_ns)};
    query_short(&query);
}

/* A range read by a reader whose clock shows 15 s, of a key with birth at 3 s. */
static void range_short(int64_t from_ns, int64_t until_ns)
{
    struct bk_query query = {.kind = BK_QUERY_RANGE,
                             .now_ns = stand_time(&stand, 15 * SECOND),
                             .birth_ns = stand_time(&stand, 3 * SECOND),
                             .from_ns = stand_time(&stand, from_ns),
                             .until_ns = stand_time(&stand, until_ns)};
    query_short(&query);
}

/* Excused rows are subtracted from all existing rows, not from the rows that a reader wants. */
static void test_findable_excused_rows_do_not_excuse_the_wanted_ones(void **state)
{
    (void)state;
    assert_int_equal(lab_findable_due(1000, 25, 20), 20);
    assert_int_equal(lab_findable_due(40, 25, 20), 15);
    assert_int_equal(lab_findable_due(20, 25, 20), 0);
}

static void test_findable_windows_that_a_reader_walks_are_judged(void **state)
{
    (void)state;
    open_windows();
    write_window(0, 9 * SECOND);
    stand_wait_until(&stand, 9 * SECOND);
    write_window(1, 10 * SECOND);
    read_short(9 * SECOND, 0); /* the reader's clock shows the first window */
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 0);
    read_short(10 * SECOND, 0);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 1);
    read_short(10 * SECOND, 10 * SECOND); /* a birth that is too late hides the first row */
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 2);
}

/* A clock dated a row later than the time on the reader's clock. No row is before the birth. */
static void test_findable_range_after_the_readers_clock_is_excused(void **state)
{
    (void)state;
    open_windows();
    write_window(0, 3 * SECOND);
    stand_wait_until(&stand, 15 * SECOND);
    write_window(1, 16 * SECOND);
    range_short(15 * SECOND + 1, 17 * SECOND);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 0);
    range_short(1 * SECOND, 3 * SECOND);
    assert_violations(&stand, LAB_ORACLE_FINDABLE, 1);
}

/* The window ends at 10 s, and a clock that is 1 s ahead remembers it 5 s later. */
static void test_findable_row_behind_a_remembered_window_is_excused(void **state)
{
    (void)state;
    for (int64_t spare_ns = 0; spare_ns <= 1; spare_ns++) {
        open_windows();
        write_window(0, 0);
        stand_wait_until(&stand, 14 * SECOND - spare_ns);
        write_window(1, SECOND);
        read_short(15 * SECOND, 0);
        assert_violations(&stand, LAB_ORACLE_FINDABLE, (uint64_t)spare_ns);
    }
}

/* A window that was remembered as empty because of a clock jump stays remembered. */
static void test_findable_windows_remembered_by_a_wrong_clock_are_not_judged(void **state)
{
    (void)state;
    for (uint32_t remembers = 0; remembers <= 1; remembers++) {
        open_windows();
        stand.run.config.remember_keys = remembers;
        write_window(0, 0);
        write_window(1, SECOND);
        lab_condition_of_key(&stand.run, LAB_CONDITION_CLOCK_JUMP, LAB_NO_KEY, stand_time(&stand, 0),
                             stand_time(&stand, SECOND));
        stand_wait_until(&stand, 5 * SECOND);
        read_short(5 * SECOND, 0);
        assert_violations(&stand, LAB_ORACLE_FINDABLE, 1 - remembers);
    }
}

static void tell_expired(enum cluster_event_kind kind, struct lab_host_operation *operation)
{
    static const struct bk_action done = {.status = BK_OPERATION_OK};
    const struct cluster_event event = {.kind = kind, .operation = operation, .action = &done};
    cluster_expired.on_event(&stand.run, NULL, &event);
}

static void test_conserved_rows_expire_in_their_second(void **state)
{
    (void)state;
    struct lab_host_operation operation = stand_operation(0, 0, LAB_UNPLACED);
    stand_prepare_probabilistic(&stand, BK_SINGLE);
    stand.scenario.row_ttl_ns = 2 * SECOND - 1;
    stand_open(&stand);
    stand_wait_until(&stand, SECOND / 2);
    operation.begun_ns = sim_queue_now(&stand.run.queue);
    tell_expired(CLUSTER_PLACED, &operation);
    tell_expired(CLUSTER_ACKNOWLEDGED, &operation);
    tell_expired(CLUSTER_ROW_STORED, &operation);
    operation.done.rows = 1;
    operation.is_read = true;
    for (uint64_t is_gone = 0; is_gone <= 1; is_gone++) {
        stand_wait_until(&stand, 2 * SECOND - 1 + (int64_t)is_gone);
        operation.begun_ns = sim_queue_now(&stand.run.queue);
        assert_int_equal(lab_lives_left(&stand.run, 0), 1 - is_gone);
        lab_expired_end(&stand.run, is_gone);
        assert_violations(&stand, LAB_ORACLE_CONSERVED, is_gone);
        tell_expired(CLUSTER_ENDED, &operation);
        assert_violations(&stand, LAB_ORACLE_CONSERVED, 2 * is_gone);
        lab_expired_end(&stand.run, 1 - is_gone);
        assert_violations(&stand, LAB_ORACLE_CONSERVED, 1 + 2 * is_gone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newest_in_order_is_no_violation),
        cmocka_unit_test(test_newest_one_row_below_the_newest_bucket_is_missed),
        cmocka_unit_test(test_newest_nth_row_decides),
        cmocka_unit_test(test_newest_counts_old_rows_of_a_high_bucket),
        cmocka_unit_test(test_newest_accepts_any_order_of_equal_times),
        cmocka_unit_test(test_newest_of_few_rows_are_all),
        cmocka_unit_test(test_newest_reader_does_not_find_rows_above_the_state),
        cmocka_unit_test(test_newest_number_of_rows_is_that_of_the_readers),
        cmocka_unit_test(test_newest_of_windows_begins_at_the_clock),
        cmocka_unit_test(test_findable_at_the_states_bucket_and_below),
        cmocka_unit_test(test_findable_state_going_back_loses_each_row_once),
        cmocka_unit_test(test_findable_other_changes_lose_nothing),
        cmocka_unit_test(test_findable_range_of_counts_is_judged_where_times_keep_the_order),
        cmocka_unit_test(test_findable_on_too_few_replicas_is_violated),
        cmocka_unit_test(test_findable_on_few_replicas_is_not_lost_again),
        cmocka_unit_test(test_findable_ignores_a_cause_that_does_not_apply),
        cmocka_unit_test(test_findable_excused_rows_do_not_excuse_the_wanted_ones),
        cmocka_unit_test(test_findable_windows_that_a_reader_walks_are_judged),
        cmocka_unit_test(test_findable_range_after_the_readers_clock_is_excused),
        cmocka_unit_test(test_findable_row_behind_a_remembered_window_is_excused),
        cmocka_unit_test(test_findable_windows_remembered_by_a_wrong_clock_are_not_judged),
        cmocka_unit_test(test_conserved_rows_expire_in_their_second),
    };
    return cmocka_run_group_tests(tests, NULL, stand_teardown);
}
