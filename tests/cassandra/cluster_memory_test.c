/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when out of memory, the creation of a ring, a value or a cluster fails as a whole, with an environment
 * error, and a running cluster stops without harm. Method: allocation 1, 2, 3 ... fails until everything
 * succeeds, under the leak sanitizer. */
#include <stdlib.h>

#include "../no_memory.h"
#include "cassandra/ring.h"
#include "cassandra/token.h"
#include "cluster_harness.h"

static bool make_ring(bool is_drawn, struct cass_ring **ring, struct sim_error *error)
{
    static const int64_t tokens[] = {3, 1, 2};
    static const uint32_t nodes[] = {0, 1, 2}, zeros[3], factor = 2;
    const struct cass_datacenter only = {.nodes = 6, .racks = 1, .replication_factor = 3};
    const struct cass_topology topology = {3, zeros, zeros, 1, &factor};
    return is_drawn ? cass_ring_create(1, &only, 1, 16, ring, error)
                    : cass_ring_create_from(tokens, nodes, 3, &topology, ring, error);
}

static void test_ring_without_memory_is_refused_whole(void **state)
{
    (void)state;
    for (int drawn = 0; drawn < 2; drawn++) {
        bool made = false;
        int failures = 0;
        for (; !made && failures < 100; failures += made ? 0 : 1) {
            struct cass_ring *ring = (struct cass_ring *)&made;
            struct sim_error error = {0};
            allocations_left = failures;
            made = make_ring(drawn == 1, &ring, &error);
            allocations_left = ALLOCATIONS_WITHOUT_END;
            assert_int_equal(ring != NULL, made);
            assert_int_equal(error.class, made ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
            cass_ring_destroy(ring);
        }
        assert_in_range(failures, 5, 99);
    }
}

static void test_value_without_memory_is_refused(void **state)
{
    (void)state;
    uint8_t *bytes = (uint8_t *)&state;
    size_t size = 1;
    struct sim_error error = {0};
    allocations_left = 0;
    bool parsed = cass_value_parse(CASS_INT, "1", &bytes, &size, &error);
    allocations_left = ALLOCATIONS_WITHOUT_END;
    assert_false(parsed);
    assert_null(bytes);
    assert_int_equal(size, 0);
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
}

static void test_cluster_without_memory_is_refused_whole(void **state)
{
    (void)state;
    struct cass_cluster_config config = harness_config();
    config.named_columns = 2;
    struct sim_queue queue;
    int failures = 0;
    for (bool made = false; !made; failures += made ? 0 : 1) {
        struct cass_cluster *cluster = (struct cass_cluster *)&queue;
        struct sim_error error = {0};
        assert_true(sim_queue_create(64, START, &queue));
        allocations_left = failures;
        made = cass_cluster_create(&config, &queue, &cluster, &error);
        allocations_left = ALLOCATIONS_WITHOUT_END;
        assert_int_equal(cluster != NULL, made);
        assert_int_equal(error.class, made ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        cass_cluster_destroy(cluster);
        sim_queue_destroy(&queue);
    }
    assert_in_range(failures, 20, 100);
}

/* Statements of every kind, with faults, so that each pool grows. */
static void use(struct harness *h)
{
    for (uint32_t i = 0; i < 120 && cass_cluster_is_sound(h->cluster); i++) {
        struct cass_statement row = write_row(CASS_QUORUM, i, i), cas = cas_column(i % 40, 0, 1);
        struct cass_statement add = statement_of(CASS_ADD_COUNTER, CASS_ONE, i % 20);
        struct cass_statement read = statement_of(CASS_READ_COLUMNS, CASS_QUORUM, i % 40);
        row.ttl_ns = SIM_SECOND * (1 + i);
        cas.if_mask = 0;
        harness_send(h, 0, CASS_ANY_NODE, &row);
        /* Its rows arrive in descending order, so that chunks of clustering positions are split. */
        row.key = 1000;
        row.row_time_ns -= i;
        harness_send(h, 0, CASS_ANY_NODE, &row);
        struct cass_statement range = statement_of(CASS_DELETE_RANGE, CASS_QUORUM, 1000);
        range.row_id = i;
        range.from_ns = row.row_time_ns;
        range.until_ns = row.row_time_ns + 2;
        harness_send(h, 1, CASS_ANY_NODE, &range);
        harness_send(h, 1, CASS_ANY_NODE, &cas);
        harness_send(h, 0, CASS_ANY_NODE, &add);
        harness_send(h, 1, CASS_ANY_NODE, &read);
        struct cass_statement named = statement_of(CASS_WRITE_NAMED, CASS_QUORUM, 1000 + i % 40);
        named.named_count = 1;
        named.named[0] = (struct cass_named){.name = i % 2, .value = i, .timestamp_us = INT64_MIN};
        harness_send(h, 0, CASS_ANY_NODE, &named);
        named.kind = CASS_READ_NAMED;
        harness_send(h, 1, CASS_ANY_NODE, &named);
        if (i % 50 == 20)
            cass_set_down(h->cluster, i % 3, true);
        if (i % 50 == 40)
            cass_heal(h->cluster);
    }
    struct sim_event event;
    int64_t time;
    while (cass_cluster_is_sound(h->cluster) && sim_queue_peek(&h->queue, &time) &&
           time < START + SIM_MINUTE && sim_queue_pop(&h->queue, &time, &event)) {
        if (event.kind == CASS_EVENT_REPLY)
            cass_reply_discard(h->cluster, event.b);
        else
            cass_handle(h->cluster, &event);
    }
}

static void test_cluster_that_runs_out_of_memory_stops(void **state)
{
    (void)state;
    static struct harness h;
    struct cass_cluster_config config = harness_config();
    config.named_columns = 2;
    config.duplicate = 0.1;
    config.keeps_lifetimes = true;
    int failures = 0;
    for (bool is_sound = false; !is_sound; failures++) {
        harness_start(&h, &config);
        allocations_left = failures;
        use(&h);
        is_sound = cass_cluster_is_sound(h.cluster);
        allocations_left = ALLOCATIONS_WITHOUT_END;
        struct sim_event event = {.kind = CASS_EVENT_FIRST};
        if (!is_sound)
            cass_handle(h.cluster, &event); /* has no effect */
        cass_cluster_destroy(h.cluster);
        sim_queue_destroy(&h.queue);
        assert_true(failures < 1000);
    }
    assert_true(failures > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_without_memory_is_refused_whole),
        cmocka_unit_test(test_value_without_memory_is_refused),
        cmocka_unit_test(test_cluster_without_memory_is_refused_whole),
        cmocka_unit_test(test_cluster_that_runs_out_of_memory_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
