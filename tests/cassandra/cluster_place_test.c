/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: several datacenters, levels that depend on datacenters, and invalid configurations. Method: two
 * datacenters 20 ms apart. */
#include "fixture.h"

#include "cassandra/ring.h"

static void set_two_datacenters(void)
{
    config = harness_config();
    config.datacenter_count = 2;
    config.datacenters[0] = (struct cass_datacenter){"east", 4, 2, 3};
    config.datacenters[1] = (struct cass_datacenter){"west", 3, 3, 3};
}

static void test_semantics_1_replicas_spread_over_racks(void **state)
{
    (void)state;
    set_two_datacenters();
    harness_start(&h, &config);
    for (uint64_t key = 0; key < 200; key++) {
        uint32_t replicas[CASS_CLUSTER_REPLICAS_MAX], racks = 0, east = 0;
        assert_int_equal(cass_key_replicas(h.cluster, key, replicas), 6);
        for (uint32_t i = 0; i < 6; i++) {
            /* Nodes 0 to 3 are in the east, in racks 0 1 0 1. */
            east += replicas[i] < 4 ? 1 : 0;
            racks |= replicas[i] < 4 ? 1u << replicas[i] % 2 : 0;
        }
        assert_int_equal(east, 3);
        assert_int_equal(racks, 3);
    }
}

static void test_semantics_3_local_levels_do_not_wait_for_the_other_side(void **state)
{
    (void)state;
    static const struct {
        enum cass_consistency level;
        int64_t wanted_ms;
    } rows[] = {{CASS_LOCAL_ONE, 2}, {CASS_LOCAL_QUORUM, 4}, {CASS_TWO, 4}, {CASS_THREE, 4},
                {CASS_QUORUM, 42},   {CASS_EACH_QUORUM, 42}, {CASS_ALL, 42}};
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
        set_two_datacenters();
        config.datacenters[0].nodes = 3;
        harness_start(&h, &config);
        enum cass_consistency level = rows[i / 2].level;
        struct cass_statement write = set_column(level, 7, 0, 1);
        struct cass_statement read = statement_of(CASS_READ_COLUMNS, level, 7);
        assert_int_equal(harness_do(&h, 0, i % 2 ? &read : &write).result, CASS_OK);
        if (h.answered_ns[0] - h.sent_ns[0] != rows[i / 2].wanted_ms * SIM_MS)
            fail_msg("%s took %lld us", cass_consistency_name(level),
                     (long long)((h.answered_ns[0] - h.sent_ns[0]) / 1000));
        harness_stop(&h);
    }
}

static void test_semantics_3_levels_without_their_replicas_are_unavailable(void **state)
{
    (void)state;
    set_two_datacenters();
    config.datacenters[0].nodes = 3;
    harness_start(&h, &config);
    cass_set_down(h.cluster, 4, true);
    cass_set_down(h.cluster, 5, true);
    static const struct {
        enum cass_consistency level;
        enum cass_result wanted;
    } rows[] = {{CASS_QUORUM, CASS_OK},
                {CASS_LOCAL_QUORUM, CASS_OK},
                {CASS_EACH_QUORUM, CASS_UNAVAILABLE},
                {CASS_ALL, CASS_UNAVAILABLE}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cass_statement write = set_column(rows[i].level, 7, 0, 1);
        assert_int_equal(harness_do(&h, 0, &write).result, rows[i].wanted);
    }
    struct cass_statement west = set_column(CASS_LOCAL_QUORUM, 7, 0, 1);
    assert_int_equal(harness_do(&h, 3, &west).result, CASS_UNAVAILABLE);
}

static void test_request_any_node_goes_to_a_replica_at_home(void **state)
{
    (void)state;
    set_two_datacenters();
    harness_start(&h, &config);
    uint32_t replicas[CASS_CLUSTER_REPLICAS_MAX];
    cass_key_replicas(h.cluster, 7, replicas);
    for (uint32_t i = 0; i < 300; i++) {
        struct cass_statement write = set_column(CASS_ONE, 7, 0, 1);
        harness_send(&h, i % 2, CASS_ANY_NODE, &write);
    }
    harness_run_for(&h, SIM_SECOND);
    uint64_t total = 0;
    for (uint32_t i = 0; i < 6; i++) {
        struct cass_node_stats stats;
        cass_node_stats(h.cluster, replicas[i], &stats);
        assert_in_range(stats.coordinated, 20, 80);
        total += stats.coordinated;
    }
    assert_int_equal(total, 300);
}

static void test_names_are_parsed_back(void **state)
{
    (void)state;
    for (int i = 0; i < CASS_CONSISTENCY_COUNT; i++) {
        enum cass_consistency level;
        assert_true(cass_consistency_parse(cass_consistency_name((enum cass_consistency)i), &level));
        assert_int_equal(level, i);
    }
    enum cass_consistency level;
    assert_false(cass_consistency_parse("quorum", &level));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        harness_test(test_semantics_1_replicas_spread_over_racks),
        cmocka_unit_test(test_semantics_3_local_levels_do_not_wait_for_the_other_side),
        harness_test(test_semantics_3_levels_without_their_replicas_are_unavailable),
        harness_test(test_request_any_node_goes_to_a_replica_at_home),
        cmocka_unit_test(test_names_are_parsed_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
