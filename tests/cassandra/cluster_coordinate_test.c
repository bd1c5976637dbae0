/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a coordinator's own work takes service time on that node only, in the same queue as the work of
 * replicas. Method: one server per node and constant times, so that the time of every answer is known; and a
 * crash between a request's arrival and its service. */
#include "fixture.h"

#define OWN_NS  (3 * SIM_MS)
#define SERVICE (2 * SIM_MS)
#define TRIP    (2 * SIM_MS) /* a round trip */

static void set_config(void)
{
    config = harness_config();
    config.concurrency = 1;
    config.coordinate_ns = OWN_NS;
    config.write_ns = SERVICE;
}

static int64_t took(uint64_t tag)
{
    while (!h.is_answered[tag])
        assert_true(harness_step(&h));
    return h.answered_ns[tag] - h.sent_ns[tag];
}

static void test_a_request_waits_for_its_coordinators_own_work(void **state)
{
    set_config();
    (void)state;
    harness_start(&h, &config);
    /* The coordinator is a replica too, and its answer satisfies ONE. */
    struct cass_statement write = write_row(CASS_ONE, 7, 1);
    assert_int_equal(took(harness_send(&h, 0, 0, &write)), TRIP + OWN_NS + SERVICE);
    struct cass_node_stats stats;
    harness_run_for(&h, SIM_SECOND);
    cass_node_stats(h.cluster, 0, &stats);
    assert_int_equal(stats.busy_ns, OWN_NS + SERVICE);
    cass_node_stats(h.cluster, 1, &stats);
    assert_int_equal(stats.busy_ns, SERVICE);
}

static void test_requests_at_one_coordinator_queue(void **state)
{
    set_config();
    (void)state;
    harness_start(&h, &config);
    /* A write cannot have the level SERIAL, so its coordinator refuses each of them without any replica. */
    struct cass_statement write = write_row(CASS_SERIAL, 7, 1);
    uint64_t first = harness_send(&h, 0, 0, &write), second = harness_send(&h, 1, 0, &write),
             third = harness_send(&h, 1, 1, &write);
    assert_int_equal(took(first), TRIP + OWN_NS);
    assert_int_equal(took(third), TRIP + OWN_NS);
    assert_int_equal(took(second), TRIP + 2 * OWN_NS);
    assert_int_equal(h.replies[second].result, CASS_INVALID);
}

static void test_a_crash_forgets_requests_that_wait(void **state)
{
    set_config();
    (void)state;
    harness_start(&h, &config);
    struct cass_statement write = write_row(CASS_ONE, 7, 1), later = write_row(CASS_ONE, 7, 2);
    uint64_t lost = harness_send(&h, 0, 0, &write);
    harness_run_for(&h, TRIP / 2 + OWN_NS / 2);
    cass_set_down(h.cluster, 0, true);
    cass_set_down(h.cluster, 0, false);
    harness_run_for(&h, SIM_SECOND);
    assert_false(h.is_answered[lost]);
    struct cass_partition_view view;
    for (size_t i = 0; i < cass_partition_count(h.cluster); i++) {
        cass_partition_at(h.cluster, i, &view);
        assert_int_equal(view.written_rows, 0);
    }
    assert_int_equal(took(harness_send(&h, 0, 0, &later)), TRIP + OWN_NS + SERVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        harness_test(test_a_request_waits_for_its_coordinators_own_work),
        harness_test(test_requests_at_one_coordinator_queue),
        harness_test(test_a_crash_forgets_requests_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
