/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a level's latency is the order statistic of its replicas. Method: 10^5 sequential quorum writes with
 * uniform one-way latencies and no service times. The coordinator is one of three replicas and its own answer
 * takes no time, so QUORUM waits for the faster of two round trips and ALL for the slower one. A round trip
 * is the sum of two uniforms on [0, 1], whose distribution function is known in closed form. The latency
 * between client and coordinator is constant. Each share is within 5.5 standard deviations, with a chance of
 * a false alarm below 1e-7 for a random seed; the seed is fixed. */
#include "../share.h"
#include "cluster_harness.h"

#define WRITES ((int)test_part(100000))
#define UNIT   1000000 /* ns */

/* P(sum of two uniforms <= x). */
static double round_trip_below(double x)
{
    return x <= 1 ? x * x / 2 : 1 - (2 - x) * (2 - x) / 2;
}

static void check_level(enum cass_consistency level, bool is_quicker)
{
    static struct harness h;
    struct cass_cluster_config config = harness_config();
    config.latency_ns = (struct sim_size){.kind = SIM_SIZE_UNIFORM, .a = 1, .b = UNIT};
    config.datacenter_count = 2; /* only the client is in the second datacenter */
    config.datacenters[1] = (struct cass_datacenter){"far", 1, 1, 0};
    config.latency_between_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = UNIT};
    harness_start(&h, &config);
    uint64_t below[10] = {0};
    for (int i = 0; i < WRITES; i++) {
        struct cass_statement write = write_row(level, 7, (uint64_t)i);
        uint64_t tag = harness_send(&h, 1, 0, &write) % REPLIES_MAX;
        while (!h.is_answered[tag])
            assert_true(harness_step(&h));
        int64_t took = h.answered_ns[tag] - h.sent_ns[tag] - 2 * UNIT;
        for (int j = 0; j < 10; j++)
            below[j] += took <= (j + 1) * UNIT / 5;
    }
    for (int j = 0; j < 10; j++) {
        double one = round_trip_below((j + 1) / 5.0);
        double wanted = is_quicker ? 1 - (1 - one) * (1 - one) : one * one;
        double error = (double)below[j] / WRITES - wanted;
        double variance = wanted * (1 - wanted) / WRITES;
        if (error * error > 5.5 * 5.5 * variance + 1e-12)
            fail_msg("below %d/5: %f, not %f", j + 1, (double)below[j] / WRITES, wanted);
    }
    harness_stop(&h);
}

static void test_semantics_3_quorum_latency_is_the_order_statistic(void **state)
{
    (void)state;
    check_level(CASS_QUORUM, true);
}

static void test_semantics_3_all_latency_is_the_order_statistic(void **state)
{
    (void)state;
    check_level(CASS_ALL, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_semantics_3_quorum_latency_is_the_order_statistic),
        cmocka_unit_test(test_semantics_3_all_latency_is_the_order_statistic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
