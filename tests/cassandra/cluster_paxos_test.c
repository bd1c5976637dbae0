/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: conditional updates contend, fail and take effect later as in Cassandra. Method: single operations
 * with constant latency whose messages are dropped at a chosen moment. paxos_model_test.c and
 * tests/cassandra5/linear_test.py have the random operations. */
#include "fixture.h"

static struct cass_statement create(uint64_t key, int64_t value)
{
    struct cass_statement statement = cas_column(key, 0, value);
    statement.if_mask = 0;
    statement.if_absent = true;
    return statement;
}

static struct cass_statement serial_read(uint64_t key)
{
    return statement_of(CASS_READ_COLUMNS, CASS_SERIAL, key);
}

/* The latency of the last statement in milliseconds, from sending to answer. */
static int64_t took_ms(void)
{
    return (h.answered_ns[h.tags - 1] - h.sent_ns[h.tags - 1]) / SIM_MS;
}

static void check_round_trips(enum cass_paxos paxos, int64_t cas, int64_t refused, int64_t read)
{
    config = harness_config();
    config.paxos = paxos;
    harness_start(&h, &config);
    /* 2 ms between client and coordinator, and 2 ms per round trip to a quorum. */
    struct cass_statement statement = create(7, 5);
    assert_true(harness_do(&h, 0, &statement).applied);
    assert_int_equal(took_ms(), 2 + 2 * cas);
    harness_run_for(&h, SIM_SECOND);
    struct cass_reply reply = harness_do(&h, 0, &statement);
    assert_int_equal(reply.result, CASS_OK);
    assert_false(reply.applied);
    assert_int_equal(took_ms(), 2 + 2 * refused);
    harness_run_for(&h, SIM_SECOND);
    statement = serial_read(7);
    assert_int_equal(harness_do(&h, 0, &statement).columns[0], 5);
    assert_int_equal(took_ms(), 2 + 2 * read);
    harness_stop(&h);
}

static void test_semantics_6_v1_takes_four_round_trips_and_v2_fewer(void **state)
{
    (void)state;
    check_round_trips(CASS_PAXOS_V1, 4, 3, 3);
    check_round_trips(CASS_PAXOS_V2, 3, 1, 1);
}

static void note_key(void *context, uint64_t key)
{
    *(uint64_t *)context = key;
}

/* The columns stay; a second loss removes nothing; Paxos state older than the span is kept. */
static void test_replica_forgets_recent_paxos_and_keeps_columns(void **state)
{
    (void)state;
    struct cass_statement statement = create(7, 5);
    uint64_t forgotten = 0;
    uint32_t replicas[CASS_CLUSTER_REPLICAS_MAX];
    assert_true(harness_do(&h, 0, &statement).applied);
    harness_run_for(&h, SIM_SECOND);
    cass_key_replicas(h.cluster, 7, replicas);
    assert_int_equal(cass_forget_paxos(h.cluster, replicas[1], 500 * SIM_MS, note_key, &forgotten), 0);
    assert_int_equal(cass_forget_paxos(h.cluster, replicas[1], 10 * SIM_SECOND, note_key, &forgotten), 1);
    assert_int_equal(forgotten, 7);
    assert_int_equal(cass_forget_paxos(h.cluster, replicas[1], 10 * SIM_SECOND, NULL, NULL), 0);
    statement = serial_read(7);
    assert_int_equal(harness_do(&h, 0, &statement).columns[0], 5);
}

static void test_columns_set_on_all_replicas_replace_the_old_ones(void **state)
{
    (void)state;
    struct cass_statement statement = create(7, 5);
    assert_true(harness_do(&h, 0, &statement).applied);
    harness_run_for(&h, SIM_SECOND);
    const int64_t columns[CASS_COLUMNS] = {3};
    cass_set_columns(h.cluster, 7, columns, 1);
    struct cass_statement read = serial_read(7);
    assert_int_equal(harness_do(&h, 0, &read).columns[0], 3);
    cass_set_columns(h.cluster, 7, columns, 0);
    assert_false(harness_do(&h, 0, &read).found);
    assert_true(harness_do(&h, 0, &statement).applied);
}

static void test_semantics_6_failed_condition_returns_current_values(void **state)
{
    (void)state;
    struct cass_statement absent = cas_column(7, 1, 2);
    struct cass_reply reply = harness_do(&h, 0, &absent);
    assert_false(reply.applied);
    assert_false(reply.found);
    assert_int_equal(reply.columns_mask, 0);
    struct cass_statement first = create(7, 5);
    first.set_mask = 3;
    first.set[1] = 6;
    assert_true(harness_do(&h, 1, &first).applied);
    /* IF NOT EXISTS returns the whole row, IF col = ... the columns of the condition. */
    reply = harness_do(&h, 2, &first);
    assert_false(reply.applied);
    assert_int_equal(reply.columns_mask, 3);
    assert_int_equal(reply.columns[1], 6);
    reply = harness_do(&h, 2, &absent);
    assert_false(reply.applied);
    assert_int_equal(reply.columns_mask, 1);
    assert_int_equal(reply.columns[0], 5);
}

/* Node 0 fails after all replicas had accepted its proposal, so its commit is lost. */
static void check_dropped_commit(enum cass_paxos paxos, int64_t accepted_us)
{
    config = harness_config();
    config.paxos = paxos;
    harness_start(&h, &config);
    struct cass_statement cas = create(7, 42), plain = statement_of(CASS_READ_COLUMNS, CASS_QUORUM, 7);
    struct cass_statement serial = serial_read(7);
    uint64_t tag = harness_send(&h, 0, 0, &cas);
    harness_run_for(&h, accepted_us * SIM_US);
    cass_set_loss(h.cluster, 1, 0);
    harness_run_for(&h, SIM_MS);
    cass_set_down(h.cluster, 0, true);
    cass_set_loss(h.cluster, 0, 0);
    harness_run_for(&h, SIM_MINUTE);
    assert_false(h.is_answered[tag]);
    assert_false(harness_do(&h, 1, &plain).found);
    struct cass_reply reply = harness_do(&h, 2, &serial);
    assert_int_equal(reply.result, CASS_OK);
    assert_int_equal(reply.columns[0], 42);
    harness_run_for(&h, SIM_SECOND);
    assert_int_equal(peek(&h, 1, 7, 0), 42);
    assert_int_equal(peek(&h, 2, 7, 0), 42);
    harness_stop(&h);
}

static void test_semantics_6_dropped_commit_is_completed_by_a_serial_read(void **state)
{
    (void)state;
    check_dropped_commit(CASS_PAXOS_V1, 6500);
    check_dropped_commit(CASS_PAXOS_V2, 4500);
}

/* On two of three replicas the second coordinator's prepare arrives between the first one's prepare and its
 * proposal. */
static void check_partial_accept(enum cass_paxos paxos, int64_t second_us, enum cass_result wanted)
{
    config = harness_config();
    config.paxos = paxos;
    harness_start(&h, &config);
    struct cass_statement first = create(7, 1), second = create(7, 2), read = serial_read(7);
    uint64_t tag = harness_send(&h, 0, 0, &first);
    harness_run_for(&h, second_us * SIM_US);
    uint64_t other = harness_send(&h, 1, 2, &second);
    harness_run_for(&h, SIM_MINUTE);
    assert_true(h.is_answered[tag] && h.is_answered[other]);
    if (h.replies[tag].result != wanted)
        fail_msg("%s", cass_result_name(h.replies[tag].result));
    /* Whichever update won, both replies agree with the current value. */
    struct cass_reply reply = harness_do(&h, 1, &read);
    assert_int_equal(h.replies[other].result, CASS_OK);
    assert_int_equal(reply.columns[0], h.replies[other].applied ? 2 : 1);
    harness_stop(&h);
}

static void test_semantics_6_partial_accept_is_unknown(void **state)
{
    (void)state;
    check_partial_accept(CASS_PAXOS_V1, 3500, CASS_CAS_UNKNOWN);
    check_partial_accept(CASS_PAXOS_V2, 1500, CASS_WRITE_TIMEOUT);
}

static void test_semantics_6_contenders_sleep_and_one_wins(void **state)
{
    (void)state;
    struct cass_statement first = create(7, 0);
    assert_true(harness_do(&h, 0, &first).applied);
    uint64_t tags[3];
    uint32_t applied = 0, contentions = 0;
    for (uint32_t node = 0; node < 3; node++) {
        struct cass_statement cas = cas_column(7, 0, node + 1);
        tags[node] = harness_send(&h, node % 2, node, &cas);
    }
    harness_run_for(&h, SIM_MINUTE);
    for (uint32_t node = 0; node < 3; node++) {
        assert_true(h.is_answered[tags[node]]);
        applied += h.replies[tags[node]].applied ? 1 : 0;
        contentions += h.replies[tags[node]].contentions;
    }
    assert_true(applied <= 1);
    assert_true(contentions > 0);
}

/* Node 1 keeps preparing ballots from the future, so node 0 never wins a round; it gives up after 1 s. */
static void test_semantics_6_contention_ends_at_the_cas_timeout(void **state)
{
    (void)state;
    uint64_t tags[64];
    uint32_t timeouts = 0;
    for (uint32_t i = 0; i < 64; i++) {
        struct cass_statement cas = create(7, i);
        tags[i] = harness_send(&h, i % 2, i % 3, &cas);
    }
    harness_run_for(&h, SIM_MINUTE);
    for (uint32_t i = 0; i < 64; i++) {
        assert_true(h.is_answered[tags[i]]);
        const struct cass_reply *reply = &h.replies[tags[i]];
        if (reply->result != CASS_WRITE_TIMEOUT)
            continue;
        timeouts++;
        assert_true(reply->contentions > 0);
        assert_int_equal(reply->received, 0);
        assert_true(h.answered_ns[tags[i]] - h.sent_ns[tags[i]] < 1200 * SIM_MS);
        assert_true(h.answered_ns[tags[i]] - h.sent_ns[tags[i]] >= SIM_SECOND);
    }
    assert_true(timeouts > 0);
}

static void test_semantics_6_v2_queues_at_its_coordinator(void **state)
{
    (void)state;
    config.paxos = CASS_PAXOS_V2;
    harness_start(&h, &config);
    uint64_t tags[8];
    for (uint32_t i = 0; i < 8; i++) {
        struct cass_statement cas = create(7, i);
        tags[i] = harness_send(&h, 0, 0, &cas);
    }
    harness_run_for(&h, SIM_MINUTE);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(h.replies[tags[i]].result, CASS_OK);
        assert_int_equal(h.replies[tags[i]].contentions, 0);
        assert_int_equal(h.replies[tags[i]].applied, i == 0);
    }
}

static void test_semantics_6_too_few_participants_is_unavailable(void **state)
{
    (void)state;
    cass_set_down(h.cluster, 1, true);
    cass_set_down(h.cluster, 2, true);
    struct cass_statement cas = create(7, 1), read = serial_read(7);
    assert_int_equal(harness_do(&h, 0, &cas).result, CASS_UNAVAILABLE);
    cass_heal(h.cluster);
    assert_false(harness_do(&h, 0, &read).found);
}

static void test_semantics_6_commit_may_be_unavailable_though_decided(void **state)
{
    (void)state;
    cass_set_down(h.cluster, 2, true);
    struct cass_statement cas = create(7, 9), read = serial_read(7);
    cas.consistency = CASS_ALL;
    assert_int_equal(harness_do(&h, 0, &cas).result, CASS_UNAVAILABLE);
    assert_int_equal(peek(&h, 0, 7, 0), -1);
    assert_int_equal(harness_do(&h, 1, &read).columns[0], 9);
}

static void test_semantics_6_ballot_is_the_timestamp(void **state)
{
    (void)state;
    cass_set_clock(h.cluster, 1, SIM_MINUTE);
    struct cass_statement plain = set_column(CASS_ALL, 7, 0, 1), cas = cas_column(7, 1, 2);
    harness_do(&h, 1, &plain);
    /* The update is applied, but a plain write whose timestamp exceeds the ballot hides it immediately. */
    assert_true(harness_do(&h, 0, &cas).applied);
    harness_run_for(&h, SIM_SECOND);
    assert_int_equal(peek(&h, 0, 7, 0), 1);
}

/* Two datacenters: SERIAL needs a quorum of all six replicas, LOCAL_SERIAL of the three local ones. */
static void test_semantics_6_local_serial_stays_in_its_datacenter(void **state)
{
    (void)state;
    config.datacenter_count = 2;
    config.datacenters[1] = config.datacenters[0];
    config.latency_between_ns.a = 20e6;
    harness_start(&h, &config);
    struct cass_statement cas = create(7, 1);
    cas.consistency = CASS_LOCAL_QUORUM;
    cas.serial_consistency = CASS_LOCAL_SERIAL;
    assert_true(harness_do(&h, 0, &cas).applied);
    assert_int_equal(took_ms(), 10);
    harness_run_for(&h, SIM_SECOND);
    assert_int_equal(peek(&h, 5, 7, 0), 1); /* the commit is sent to all replicas */
    struct cass_statement all = cas_column(7, 1, 2);
    assert_true(harness_do(&h, 0, &all).applied);
    /* Prepare, read at QUORUM, propose and commit need a fourth replica, at a round trip of 40 ms. */
    assert_true(took_ms() >= 2 + 4 * 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_semantics_6_v1_takes_four_round_trips_and_v2_fewer),
        started_test(test_replica_forgets_recent_paxos_and_keeps_columns),
        started_test(test_columns_set_on_all_replicas_replace_the_old_ones),
        started_test(test_semantics_6_failed_condition_returns_current_values),
        cmocka_unit_test(test_semantics_6_dropped_commit_is_completed_by_a_serial_read),
        cmocka_unit_test(test_semantics_6_partial_accept_is_unknown),
        started_test(test_semantics_6_contenders_sleep_and_one_wins),
        started_test(test_semantics_6_contention_ends_at_the_cas_timeout),
        harness_test(test_semantics_6_v2_queues_at_its_coordinator),
        started_test(test_semantics_6_too_few_participants_is_unavailable),
        started_test(test_semantics_6_commit_may_be_unavailable_though_decided),
        started_test(test_semantics_6_ballot_is_the_timestamp),
        harness_test(test_semantics_6_local_serial_stays_in_its_datacenter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
