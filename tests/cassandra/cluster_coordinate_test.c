/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a coordinator's own work takes service time on that node only, in the same queue as the work of
 * replicas. Method: one server per node and constant times, so that the time of every answer is known; and a
 * crash between a request's arrival and its service. */
#include "cluster_harness.h"

#define OWN_NS  (3 * SIM_MS)
#define SERVICE (2 * SIM_MS)
#define TRIP    (2 * SIM_MS) /* a round trip */

static struct cass_cluster_config config_of(void)
{
    struct cass_cluster_config config = harness_config();
    config.concurrency = 1;
    config.coordinate_ns = OWN_NS;
    config.write_ns = SERVICE;
    return config;
}

static int64_t took(struct harness *harness, uint64_t tag)
{
    while (!harness->is_answered[tag])
        assert_true(harness_step(harness));
    return harness->answered_ns[tag] - harness->sent_ns[tag];
}

static void test_a_request_waits_for_its_coordinators_own_work(void **state)
{
    static struct harness h;
    struct cass_cluster_config config = config_of();
    (void)state;
    harness_start(&h, &config);
    /* The coordinator is a replica too, and its answer satisfies ONE. */
    struct cass_statement write = write_row(CASS_ONE, 7, 1);
    assert_int_equal(took(&h, harness_send(&h, 0, 0, &write)), TRIP + OWN_NS + SERVICE);
    struct cass_node_stats stats;
    harness_run_for(&h, SIM_SECOND);
    cass_node_stats(h.cluster, 0, &stats);
    assert_int_equal(stats.busy_ns, OWN_NS + SERVICE);
    cass_node_stats(h.cluster, 1, &stats);
    assert_int_equal(stats.busy_ns, SERVICE);
    harness_stop(&h);
}

static void test_requests_at_one_coordinator_queue(void **state)
{
    static struct harness h;
    struct cass_cluster_config config = config_of();
    (void)state;
    harness_start(&h, &config);
    /* A write cannot have the level SERIAL, so its coordinator refuses each of them without any replica. */
    struct cass_statement write = write_row(CASS_SERIAL, 7, 1);
    uint64_t first = harness_send(&h, 0, 0, &write), second = harness_send(&h, 1, 0, &write),
             third = harness_send(&h, 1, 1, &write);
    assert_int_equal(took(&h, first), TRIP + OWN_NS);
    assert_int_equal(took(&h, third), TRIP + OWN_NS);
    assert_int_equal(took(&h, second), TRIP + 2 * OWN_NS);
    assert_int_equal(h.replies[second].result, CASS_INVALID);
    harness_stop(&h);
}

static void test_a_crash_forgets_requests_that_wait(void **state)
{
    static struct harness h;
    struct cass_cluster_config config = config_of();
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
    assert_int_equal(took(&h, harness_send(&h, 0, 0, &later)), TRIP + OWN_NS + SERVICE);
    harness_stop(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_waits_for_its_coordinators_own_work),
        cmocka_unit_test(test_requests_at_one_coordinator_queue),
        cmocka_unit_test(test_a_crash_forgets_requests_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
