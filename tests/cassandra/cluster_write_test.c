/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: plain writes and reads follow the rules of levels, timestamps, errors, hints and repair. Method: three
 * nodes with constant latency, faults by hand, and inspection of each replica's copy. */
#include "fixture.h"

static void test_semantics_2_write_goes_to_all_replicas(void **state)
{
    (void)state;
    struct cass_statement write = set_column(CASS_ONE, 7, 0, 42);
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_OK);
    harness_run_for(&h, SIM_SECOND);
    for (uint32_t node = 0; node < 3; node++)
        assert_int_equal(peek(&h, node, 7, 0), 42);
}

/* Each replica has a different delay, so the latency shows how many replicas the coordinator waits for. */
static void test_semantics_3_levels_wait_for_their_replicas(void **state)
{
    (void)state;
    static const struct {
        enum cass_consistency level;
        int64_t wanted_ms;
    } rows[] = {{CASS_ANY, 13},         {CASS_ONE, 13},       {CASS_TWO, 23},
                {CASS_THREE, 43},       {CASS_QUORUM, 23},    {CASS_LOCAL_QUORUM, 23},
                {CASS_EACH_QUORUM, 23}, {CASS_LOCAL_ONE, 13}, {CASS_ALL, 43}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        config = harness_config();
        config.write_ns = SIM_MS;
        harness_start(&h, &config);
        /* The coordinator is a replica too: 1 ms to it, its own service, 1 ms back; the other replicas take 2
         * ms more. */
        cass_set_slow(h.cluster, 0, 11);
        cass_set_slow(h.cluster, 1, 19);
        cass_set_slow(h.cluster, 2, 39);
        struct cass_statement write = set_column(rows[i].level, 7, 0, 42);
        assert_int_equal(harness_do(&h, 0, &write).result, CASS_OK);
        int64_t took = h.answered_ns[0] - h.sent_ns[0];
        if (took != rows[i].wanted_ms * SIM_MS)
            fail_msg("%s took %lld us", cass_consistency_name(rows[i].level), (long long)(took / 1000));
        harness_stop(&h);
    }
}

static void test_semantics_3_impossible_levels_are_invalid(void **state)
{
    (void)state;
    struct cass_statement write = set_column(CASS_SERIAL, 7, 0, 42);
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_INVALID);
    struct cass_statement read = statement_of(CASS_READ_COLUMNS, CASS_ANY, 7);
    assert_int_equal(harness_do(&h, 0, &read).result, CASS_INVALID);
    struct cass_statement add = statement_of(CASS_ADD_COUNTER, CASS_ANY, 7);
    assert_int_equal(harness_do(&h, 0, &add).result, CASS_INVALID);
    struct cass_statement cas = cas_column(7, 0, 1);
    cas.timestamp_us = 5;
    assert_int_equal(harness_do(&h, 0, &cas).result, CASS_INVALID);
    assert_int_equal(peek(&h, 0, 7, 0), -1);
}

static void test_semantics_4_unavailable_is_surely_not_applied(void **state)
{
    (void)state;
    cass_set_down(h.cluster, 1, true);
    cass_set_down(h.cluster, 2, true);
    struct cass_statement write = set_column(CASS_QUORUM, 7, 0, 42);
    struct cass_reply reply = harness_do(&h, 0, &write);
    assert_int_equal(reply.result, CASS_UNAVAILABLE);
    assert_int_equal(reply.received, 1);
    assert_int_equal(reply.required, 2);
    cass_heal(h.cluster);
    harness_run_for(&h, SIM_MINUTE);
    for (uint32_t node = 0; node < 3; node++)
        assert_int_equal(peek(&h, node, 7, 0), -1);
}

/* The coordinator does not know yet that the two nodes are down, so it tries the write, which times out and
 * takes effect later through hints. */
static void test_semantics_4_write_timeout_surfaces_later(void **state)
{
    (void)state;
    config.detect_ns = 10 * SIM_SECOND;
    harness_start(&h, &config);
    cass_set_down(h.cluster, 1, true);
    cass_set_down(h.cluster, 2, true);
    struct cass_statement write = set_column(CASS_QUORUM, 7, 0, 42);
    struct cass_reply reply = harness_do(&h, 0, &write);
    assert_int_equal(reply.result, CASS_WRITE_TIMEOUT);
    assert_int_equal(reply.received, 1);
    assert_int_equal(h.answered_ns[0] - h.sent_ns[0], 2 * SIM_SECOND + 2 * SIM_MS);
    assert_int_equal(peek(&h, 0, 7, 0), 42);
    assert_int_equal(peek(&h, 1, 7, 0), -1);
    cass_heal(h.cluster);
    harness_run_for(&h, SIM_MINUTE);
    for (uint32_t node = 0; node < 3; node++)
        assert_int_equal(peek(&h, node, 7, 0), 42);
}

static void test_semantics_4_hints_keep_timestamps_and_window(void **state)
{
    (void)state;
    harness_start(&h, &config);
    cass_set_down(h.cluster, 2, true);
    struct cass_statement old = set_column(CASS_QUORUM, 7, 0, 1);
    assert_int_equal(harness_do(&h, 0, &old).result, CASS_OK);
    cass_set_down(h.cluster, 2, false);
    struct cass_statement newer = set_column(CASS_ALL, 7, 0, 2);
    assert_int_equal(harness_do(&h, 1, &newer).result, CASS_OK);
    harness_run_for(&h, SIM_MINUTE);
    /* The hint arrived after the newer write, and has the older timestamp. */
    struct cass_node_stats stats;
    cass_node_stats(h.cluster, 0, &stats);
    assert_int_equal(stats.hints_stored, 1);
    assert_int_equal(stats.hints_sent, 1);
    assert_int_equal(peek(&h, 2, 7, 0), 2);
    cass_set_down(h.cluster, 2, true);
    harness_run_for(&h, config.hint_window_ns + SIM_SECOND);
    struct cass_statement lost = set_column(CASS_QUORUM, 7, 0, 3);
    assert_int_equal(harness_do(&h, 0, &lost).result, CASS_OK);
    cass_heal(h.cluster);
    harness_run_for(&h, SIM_MINUTE);
    assert_int_equal(peek(&h, 0, 7, 0), 3);
    assert_int_equal(peek(&h, 2, 7, 0), 2);
}

static void test_semantics_4_any_accepts_a_hint(void **state)
{
    (void)state;
    config.datacenters[0].nodes = 4;
    harness_start(&h, &config);
    uint32_t replicas[CASS_CLUSTER_REPLICAS_MAX], stranger = 0 + 1 + 2 + 3;
    assert_int_equal(cass_key_replicas(h.cluster, 7, replicas), 3);
    for (uint32_t i = 0; i < 3; i++) {
        cass_set_down(h.cluster, replicas[i], true);
        stranger -= replicas[i];
    }
    struct cass_statement write = set_column(CASS_ONE, 7, 0, 1);
    assert_int_equal(harness_do(&h, stranger, &write).result, CASS_UNAVAILABLE);
    write.consistency = CASS_ANY;
    assert_int_equal(harness_do(&h, stranger, &write).result, CASS_OK);
    cass_heal(h.cluster);
    harness_run_for(&h, SIM_MINUTE);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(peek(&h, replicas[i], 7, 0), 1);
}

static void test_semantics_4_dropped_hints_are_replaced_by_read_repair(void **state)
{
    (void)state;
    cass_set_down(h.cluster, 2, true);
    struct cass_statement write = set_column(CASS_QUORUM, 7, 0, 1);
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_OK);
    harness_run_for(&h, 3 * SIM_SECOND);
    cass_drop_hints(h.cluster, 0);
    cass_heal(h.cluster);
    harness_run_for(&h, SIM_MINUTE);
    assert_int_equal(peek(&h, 2, 7, 0), -1);
    struct cass_statement read = statement_of(CASS_READ_COLUMNS, CASS_ONE, 7);
    struct cass_reply reply = harness_do(&h, 2, &read); /* ONE reads node 2 only: no repair */
    assert_int_equal(reply.result, CASS_OK);
    assert_false(reply.found);
    assert_int_equal(peek(&h, 2, 7, 0), -1);
    read.consistency = CASS_QUORUM;
    reply = harness_do(&h, 2, &read);
    assert_int_equal(reply.columns[0], 1);
    assert_int_equal(peek(&h, 2, 7, 0), 1); /* the repair happened before the answer */
    /* 2 ms between client and coordinator, 2 ms for digests, 2 ms for full reads. Node 2 repairs itself
     * without the network. */
    assert_int_equal(h.answered_ns[2] - h.sent_ns[2], 6 * SIM_MS);
}

static void test_semantics_4_write_failure_as_soon_as_the_level_is_lost(void **state)
{
    (void)state;
    cass_set_failing(h.cluster, 1, true);
    struct cass_statement write = set_column(CASS_QUORUM, 7, 0, 1);
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_OK);
    cass_set_failing(h.cluster, 2, true);
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_WRITE_FAILURE);
    assert_int_equal(h.answered_ns[1] - h.sent_ns[1], 4 * SIM_MS);
    cass_heal(h.cluster);
}

static void test_semantics_4_read_timeout_when_replicas_are_silent(void **state)
{
    (void)state;
    config.detect_ns = SIM_MINUTE;
    harness_start(&h, &config);
    cass_set_down(h.cluster, 1, true);
    cass_set_down(h.cluster, 2, true);
    struct cass_statement read = statement_of(CASS_READ_COLUMNS, CASS_QUORUM, 7);
    assert_int_equal(harness_do(&h, 0, &read).result, CASS_READ_TIMEOUT);
    assert_int_equal(h.answered_ns[0] - h.sent_ns[0], 5 * SIM_SECOND + 2 * SIM_MS);
}

/* The result of two writes must not depend on the order in which a replica receives them. */
static void check_tie(struct cass_statement first, struct cass_statement second, int64_t wanted)
{
    for (int order = 0; order < 2; order++) {
        config = harness_config();
        harness_start(&h, &config);
        first.timestamp_us = second.timestamp_us = 1000;
        harness_do(&h, 0, order == 0 ? &first : &second);
        harness_do(&h, 1, order == 0 ? &second : &first);
        harness_run_for(&h, SIM_SECOND);
        for (uint32_t node = 0; node < 3; node++)
            assert_int_equal(peek(&h, node, 7, 0), wanted);
        harness_stop(&h);
    }
}

static void test_semantics_2_ties_larger_value_expiring_and_delete_win(void **state)
{
    (void)state;
    struct cass_statement small = set_column(CASS_ALL, 7, 0, 5), large = set_column(CASS_ALL, 7, 0, 9);
    struct cass_statement negative = set_column(CASS_ALL, 7, 0, -3);
    struct cass_statement expiring = set_column(CASS_ALL, 7, 0, 1), later = expiring, gone = small;
    expiring.ttl_ns = 100 * SIM_SECOND;
    later.ttl_ns = 200 * SIM_SECOND;
    later.set[0] = 0;
    gone.kind = CASS_DELETE_COLUMNS;
    check_tie(small, large, 9);
    check_tie(large, negative, -3); /* values are compared as unsigned bytes */
    check_tie(large, expiring, 1);
    check_tie(expiring, later, 0);
    check_tie(large, gone, -1);
    check_tie(later, gone, -1);
}

static void test_semantics_2_coordinator_clock_rises_strictly(void **state)
{
    (void)state;
    config.latency_ns.a = 0;
    harness_start(&h, &config);
    /* All writes occur at one virtual instant, and then with the clock set back: the last one wins. */
    for (int64_t i = 0; i < 50; i++) {
        struct cass_statement write = set_column(CASS_ALL, 7, 0, 100 - i);
        assert_int_equal(harness_do(&h, 0, &write).result, CASS_OK);
    }
    assert_int_equal(peek(&h, 2, 7, 0), 51);
    cass_set_clock(h.cluster, 0, -SIM_SECOND);
    struct cass_statement write = set_column(CASS_ALL, 7, 0, 1);
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_OK);
    assert_int_equal(peek(&h, 2, 7, 0), 1);
    /* Another coordinator does not know these timestamps: a clock that is ahead hides later writes. */
    cass_set_clock(h.cluster, 1, SIM_MINUTE);
    write.set[0] = 2;
    harness_do(&h, 1, &write);
    write.set[0] = 3;
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_OK);
    assert_int_equal(peek(&h, 2, 7, 0), 2);
}

static void test_semantics_2_equal_timestamps_mix_the_columns_of_two_writers(void **state)
{
    (void)state;
    struct cass_statement one = set_column(CASS_ALL, 7, 0, 1), two = one;
    one.set_mask = two.set_mask = 3;
    one.timestamp_us = two.timestamp_us = 1000;
    one.set[1] = 9;
    two.set[0] = 4;
    two.set[1] = 2;
    harness_do(&h, 0, &one);
    harness_do(&h, 1, &two);
    assert_int_equal(peek(&h, 0, 7, 0), 4);
    assert_int_equal(peek(&h, 0, 7, 1), 9);
}

static void test_columns_ttl_ends_to_the_second(void **state)
{
    (void)state;
    struct cass_statement write = set_column(CASS_ALL, 7, 0, 1);
    write.ttl_ns = 9 * SIM_SECOND + 1;
    harness_do(&h, 0, &write);
    harness_run_for(&h, 9 * SIM_SECOND);
    assert_int_equal(peek(&h, 0, 7, 0), 1);
    harness_run_for(&h, SIM_SECOND);
    assert_int_equal(peek(&h, 0, 7, 0), -1);
}

static void test_semantics_4_a_paused_node_neither_serves_nor_answers(void **state)
{
    (void)state;
    config.write_ns = SIM_MS;
    harness_start(&h, &config);
    struct cass_statement write = set_column(CASS_ALL, 7, 0, 1);
    uint64_t tag = harness_send(&h, 0, 0, &write);
    harness_run_for(&h, 2 * SIM_MS + SIM_MS / 2); /* nodes 1 and 2 are serving the request */
    cass_pause(h.cluster, 2, 100 * SIM_MS);
    harness_run_for(&h, SIM_SECOND);
    assert_true(h.is_answered[tag]);
    assert_int_equal(h.answered_ns[tag] - h.sent_ns[tag], 105 * SIM_MS);
    tag = harness_send(&h, 0, 0, &write);
    cass_pause(h.cluster, 0, 50 * SIM_MS); /* node 0 is the coordinator */
    harness_run_for(&h, SIM_SECOND);
    assert_int_equal(h.answered_ns[tag] - h.sent_ns[tag], 54 * SIM_MS);
}

static void test_node_serves_first_come_first_served(void **state)
{
    (void)state;
    config.datacenters[0].nodes = config.datacenters[0].replication_factor = 1;
    config.concurrency = 2;
    config.write_ns = 10 * SIM_MS;
    harness_start(&h, &config);
    struct cass_statement write = set_column(CASS_ONE, 7, 0, 1);
    for (int i = 0; i < 6; i++)
        harness_send(&h, 0, 0, &write);
    harness_run_for(&h, SIM_SECOND);
    for (int i = 0; i < 6; i++)
        assert_int_equal(h.answered_ns[i] - h.sent_ns[i], (2 + 10 * (i / 2 + 1)) * SIM_MS);
}

static void test_node_that_was_slow_ends_what_it_began(void **state)
{
    (void)state;
    config.write_ns = SIM_MS;
    config.concurrency = 1;
    harness_start(&h, &config);
    cass_set_slow(h.cluster, 0, 100);
    struct cass_statement write = set_column(CASS_ONE, 7, 0, 42);
    harness_send(&h, 0, 0, &write);
    harness_send(&h, 0, 0, &write);
    harness_run_for(&h, 50 * SIM_MS);
    cass_set_slow(h.cluster, 0, 1);
    assert_int_equal(cass_node_served_by_ns(h.cluster, 0), START + (1 + 2 * 100) * SIM_MS);
    assert_int_equal(cass_node_served_by_ns(h.cluster, 1), START + 50 * SIM_MS);
    cass_pause(h.cluster, 1, 700 * SIM_MS);
    assert_int_equal(cass_node_served_by_ns(h.cluster, 1), sim_queue_now(&h.queue) + 700 * SIM_MS);
    harness_run_for(&h, 50 * SIM_MS);
    assert_int_equal(peek(&h, 0, 7, 0), -1);
    harness_run_for(&h, 2 * SIM_MS);
    assert_int_equal(peek(&h, 0, 7, 0), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        started_test(test_semantics_2_write_goes_to_all_replicas),
        cmocka_unit_test(test_semantics_3_levels_wait_for_their_replicas),
        started_test(test_semantics_3_impossible_levels_are_invalid),
        started_test(test_semantics_4_unavailable_is_surely_not_applied),
        harness_test(test_semantics_4_write_timeout_surfaces_later),
        harness_test(test_semantics_4_hints_keep_timestamps_and_window),
        harness_test(test_semantics_4_any_accepts_a_hint),
        started_test(test_semantics_4_dropped_hints_are_replaced_by_read_repair),
        started_test(test_semantics_4_write_failure_as_soon_as_the_level_is_lost),
        harness_test(test_semantics_4_read_timeout_when_replicas_are_silent),
        cmocka_unit_test(test_semantics_2_ties_larger_value_expiring_and_delete_win),
        harness_test(test_semantics_2_coordinator_clock_rises_strictly),
        started_test(test_semantics_2_equal_timestamps_mix_the_columns_of_two_writers),
        started_test(test_columns_ttl_ends_to_the_second),
        harness_test(test_semantics_4_a_paused_node_neither_serves_nor_answers),
        harness_test(test_node_serves_first_come_first_served),
        harness_test(test_node_that_was_slow_ends_what_it_began),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
