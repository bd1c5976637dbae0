/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: data partitions count every row once even if it is retried, duplicated or late; a read returns the
 * rows of the replicas that it queried, and its cost is that of the rows that it scans. Method: single faults
 * by hand, then a random campaign in which every row is retried until it is acknowledged. */
#include "../share.h"
#include "fixture.h"

static struct cass_partition_view view_at(size_t index)
{
    struct cass_partition_view view;
    cass_partition_at(h.cluster, index, &view);
    return view;
}

static struct cass_statement read_rows(enum cass_consistency level, uint64_t key, uint64_t limit)
{
    struct cass_statement statement = statement_of(CASS_READ_ROWS, level, key);
    statement.limit = limit;
    return statement;
}

static void test_rows_are_counted_with_bytes_and_times(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        struct cass_statement write = write_row(CASS_ALL, 7, i);
        write.bucket = (int64_t)(i % 2);
        write.bytes = 10 + i;
        write.row_time_ns = START + (int64_t)i;
        assert_int_equal(harness_do(&h, 0, &write).result, CASS_OK);
    }
    assert_int_equal(cass_partition_count(h.cluster), 2);
    struct cass_partition_view view = view_at(1);
    assert_int_equal(view.bucket, 1);
    assert_int_equal(view.rows, 5);
    assert_int_equal(view.bytes, 10 * 5 + 25);
    assert_int_equal(cass_missing_rows(h.cluster, 1), 0);
    struct cass_node_stats stats;
    cass_node_stats(h.cluster, 2, &stats);
    assert_int_equal(stats.rows, 10);
    struct cass_statement read = read_rows(CASS_QUORUM, 7, 3);
    assert_int_equal(harness_do(&h, 0, &read).rows, 3);
    read.limit = 0;
    assert_int_equal(harness_do(&h, 0, &read).rows, 5);
    read.key = 8;
    struct cass_reply none = harness_do(&h, 0, &read);
    assert_int_equal(none.result, CASS_OK);
    assert_false(none.found);
}

/* All three replicas have the row, the answer is lost, and the retry comes much later. */
static void test_semantics_2_retry_of_a_row_is_the_same_row(void **state)
{
    (void)state;
    struct cass_statement write = write_row(CASS_QUORUM, 7, 1);
    uint64_t tag = harness_send(&h, 0, 0, &write);
    harness_run_for(&h, SIM_MS + SIM_MS / 2);
    uint32_t client = cass_place_of_client(h.cluster, 0);
    separate(&h, 0, client, true);
    harness_run_for(&h, SIM_HOUR);
    assert_false(h.is_answered[tag]);
    assert_int_equal(view_at(0).rows, 1);
    assert_int_equal(cass_missing_rows(h.cluster, 0), 0);
    cass_heal(h.cluster);
    assert_int_equal(harness_do(&h, 1, &write).result, CASS_OK);
    assert_int_equal(view_at(0).rows, 1);
}

static void test_semantics_4_row_on_one_replica_is_seen_by_its_readers(void **state)
{
    (void)state;
    config.detect_ns = SIM_HOUR;
    harness_start(&h, &config);
    separate(&h, 0, 1, true);
    separate(&h, 0, 2, true);
    struct cass_statement write = write_row(CASS_QUORUM, 7, 1), read = read_rows(CASS_ONE, 7, 10);
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_WRITE_TIMEOUT);
    assert_int_equal(view_at(0).rows, 1);
    assert_int_equal(cass_missing_rows(h.cluster, 0), 1);
    assert_int_equal(harness_do(&h, 0, &read).rows, 1);
    assert_int_equal(harness_do(&h, 1, &read).rows, 0);
    read.consistency = CASS_QUORUM;
    separate(&h, 1, 2, true);
    separate(&h, 0, 1, false);
    /* Node 1 can now reach only node 0. The quorum may wait for node 2 until the timeout, so the read is
     * repeated. */
    cass_drop_hints(h.cluster, 0);
    struct cass_reply reply = {.result = CASS_READ_TIMEOUT};
    for (int i = 0; i < 20 && reply.result != CASS_OK; i++)
        reply = harness_do(&h, 1, &read);
    assert_int_equal(reply.rows, 1);
    read.consistency = CASS_ONE;
    assert_int_equal(harness_do(&h, 1, &read).rows, 1); /* the read repaired node 1 */
    assert_int_equal(harness_do(&h, 2, &read).rows, 0);
}

static void test_semantics_8_read_pays_for_rows_and_tombstones(void **state)
{
    (void)state;
    config.latency_ns.a = 0;
    config.read_ns = 5 * SIM_MS;
    config.scan_row_ns = SIM_MS;
    config.scan_tombstone_ns = 10 * SIM_MS;
    config.tombstone_warn = 3;
    config.tombstone_fail = 4;
    harness_start(&h, &config);
    for (uint64_t i = 0; i < 40; i++) {
        struct cass_statement write = write_row(CASS_ALL, 7, i);
        harness_do(&h, 0, &write);
    }
    struct cass_statement read = read_rows(CASS_ONE, 7, 30), erase = write_row(CASS_ALL, 7, 0);
    assert_int_equal(harness_do(&h, 0, &read).scanned, 30);
    assert_int_equal(h.answered_ns[40] - h.sent_ns[40], 35 * SIM_MS);
    erase.kind = CASS_DELETE_ROW;
    for (uint64_t i = 0; i < 4; i++) {
        erase.row_id = i;
        assert_int_equal(harness_do(&h, 0, &erase).result, CASS_OK);
    }
    assert_int_equal(view_at(0).rows, 36);
    assert_int_equal(view_at(0).tombstones, 4);
    read.limit = 0;
    struct cass_reply reply = harness_do(&h, 0, &read);
    assert_int_equal(reply.tombstones, 4);
    assert_int_equal(h.answered_ns[45] - h.sent_ns[45], (5 + 36 + 40) * SIM_MS);
    struct cass_node_stats stats;
    cass_node_stats(h.cluster, 0, &stats);
    assert_int_equal(stats.tombstone_warnings, 1);
    assert_int_equal(stats.slow_queries, 0);
    erase.row_id = 4;
    harness_do(&h, 0, &erase);
    assert_int_equal(harness_do(&h, 0, &read).result, CASS_READ_FAILURE);
    cass_set_slow(h.cluster, 0, 100);
    read.limit = 1;
    harness_do(&h, 0, &read);
    cass_node_stats(h.cluster, 0, &stats);
    assert_int_equal(stats.slow_queries, 1);
}

static void test_rows_with_ttl_become_tombstones(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 60; i++) {
        struct cass_statement write = write_row(CASS_ALL, 7, i);
        write.ttl_ns = (int64_t)(i % 3) * 10 * SIM_SECOND;
        harness_do(&h, 0, &write);
        harness_run_for(&h, 100 * SIM_MS);
    }
    struct cass_statement read = read_rows(CASS_ALL, 7, 0);
    assert_int_equal(harness_do(&h, 0, &read).rows, 60);
    harness_run_for(&h, 11 * SIM_SECOND);
    assert_int_equal(view_at(0).rows, 40);
    assert_int_equal(view_at(0).tombstones, 20);
    struct cass_reply reply = harness_do(&h, 0, &read);
    assert_int_equal(reply.rows, 40);
    assert_int_equal(reply.tombstones, 20);
    harness_run_for(&h, SIM_MINUTE);
    assert_int_equal(harness_do(&h, 0, &read).rows, 20);
}

/* Every row is retried, through any coordinator, until it is acknowledged. */
static void test_rows_retried_under_faults_are_counted_once(void **state)
{
    (void)state;
    enum { ROWS = 1500 };
    config = harness_config();
    config.latency_ns = (struct sim_size){.kind = SIM_SIZE_LOGNORMAL, .a = 2e6, .b = 1};
    config.loss = 0.05;
    config.duplicate = 0.05;
    config.gc_every_ns = SIM_SECOND;
    config.gc_lasts_ns = 50 * SIM_MS;
    harness_start(&h, &config);
    struct sim_random random;
    sim_random_init(&random, 5, SIM_READ, 1);
    uint64_t tags[ROWS], done = 0, tries = 0;
    for (uint64_t i = 0; i < ROWS; i++)
        tags[i] = UINT64_MAX;
    for (int round = 0; done < ROWS && round < 400; round++) {
        for (uint64_t i = 0; i < ROWS; i++) {
            bool is_sent = tags[i] != UINT64_MAX, is_old = round % 8 == 0;
            bool is_ok = is_sent && h.is_answered[tags[i]] && h.replies[tags[i]].result == CASS_OK;
            if (is_ok || (is_sent && !is_old) || (!is_sent && i > (uint64_t)round * 10))
                continue;
            struct cass_statement write = write_row(CASS_QUORUM, i % 10, i);
            if (h.tags < REPLIES_MAX) {
                tags[i] = harness_send(&h, (uint32_t)(i % 2), CASS_ANY_NODE, &write);
                tries++;
            }
        }
        harness_run_for(&h, 500 * SIM_MS);
        if (round % 20 == 5)
            cass_set_down(h.cluster, (uint32_t)sim_random_below(&random, 3), true);
        if (round % 20 == 15)
            cass_heal(h.cluster);
        done = 0;
        for (uint64_t i = 0; i < ROWS; i++)
            done += tags[i] != UINT64_MAX && h.is_answered[tags[i]] && h.replies[tags[i]].result == CASS_OK;
    }
    assert_int_equal(done, ROWS);
    assert_true(tries > ROWS + 100);
    cass_heal(h.cluster);
    cass_set_loss(h.cluster, 0, 0);
    harness_run_for(&h, SIM_HOUR);
    for (size_t i = 0; i < cass_partition_count(h.cluster); i++) {
        /* A coordinator that crashed before the timeout stored no hint, so a read at ALL repairs the
         * replicas. */
        struct cass_statement read = read_rows(CASS_ALL, view_at(i).key, 0);
        assert_int_equal(harness_do(&h, 0, &read).rows, ROWS / 10);
        assert_int_equal(view_at(i).rows, ROWS / 10);
        assert_int_equal(cass_missing_rows(h.cluster, i), 0);
    }
    for (uint32_t node = 0; node < 3; node++) {
        struct cass_node_stats stats;
        cass_node_stats(h.cluster, node, &stats);
        assert_int_equal(stats.rows, ROWS);
        assert_int_equal(stats.bytes, ROWS * 100);
    }
}

static void test_partition_costs_at_most_200_bytes(void **state)
{
    (void)state;
    const size_t count = test_part(50000);
    for (uint64_t i = 0; i < count; i++) {
        struct cass_statement write = write_row(CASS_ALL, i, 1);
        harness_send(&h, 0, 0, &write);
        if (i % 100 == 99)
            harness_run_for(&h, 10 * SIM_MS);
    }
    assert_int_equal(cass_partition_count(h.cluster), count);
    assert_true(cass_cluster_memory(h.cluster) <= count * 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        started_test(test_rows_are_counted_with_bytes_and_times),
        started_test(test_semantics_2_retry_of_a_row_is_the_same_row),
        harness_test(test_semantics_4_row_on_one_replica_is_seen_by_its_readers),
        harness_test(test_semantics_8_read_pays_for_rows_and_tombstones),
        started_test(test_rows_with_ttl_become_tombstones),
        harness_test(test_rows_retried_under_faults_are_counted_once),
        started_test(test_partition_costs_at_most_200_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
