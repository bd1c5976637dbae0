/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a coordinator that is the only replica of a row or a register serves it in fewer steps (alone.c), and
 * the shortcut is not observable. Method: two clusters that differ only in config.avoids_shortcuts get the
 * same requests and faults, drawn from a seed. After each draw their events and answers so far must be the
 * same; at the end, so must the stored data, the columns that were read, and the statistics of each node. In
 * every second seed all times are on a grid, so that many events come at one time. If events of one time come
 * in a random order, which is another one in each cluster, the answers of all writes together must come at
 * the same times. */
#include <stdlib.h>

#include "../share.h"
#include "cluster_harness.h"
#include "kernel/random.h"

#define STEPS 1500u
#define KEYS  5u
#define GRID  (100 * SIM_US)

struct pair {
    struct harness quick, whole;
    struct sim_random draws;
    uint32_t nodes;
    uint64_t rows;
    bool has_ties, is_shuffled;
};

static struct harness *both(struct pair *pair, int which)
{
    return which == 0 ? &pair->quick : &pair->whole;
}

static void start(struct pair *pair, uint64_t seed, bool is_shuffled)
{
    struct cass_cluster_config config = harness_config();
    pair->is_shuffled = is_shuffled;
    pair->has_ties = is_shuffled || seed % 2 == 1;
    sim_random_init(&pair->draws, seed, SIM_ARRIVAL, 0);
    pair->nodes = 1 + (uint32_t)sim_random_below(&pair->draws, 3);
    pair->rows = 0;
    config.seed = seed;
    config.datacenters[0].nodes = pair->nodes;
    config.datacenters[0].replication_factor = 1;
    config.latency_ns = (struct sim_size){.kind = SIM_SIZE_LOGNORMAL, .a = 5e5, .b = 0.4};
    config.latency_between_ns = (struct sim_size){.kind = SIM_SIZE_LOGNORMAL, .a = 4e7, .b = 0.1};
    config.concurrency = 1 + (uint32_t)sim_random_below(&pair->draws, 2);
    config.write_ns = 80 * SIM_US;
    config.read_ns = 180 * SIM_US;
    config.coordinate_ns = seed % 5 == 4 ? 30 * SIM_US : 0;
    config.timeout_write_ns = 3 * SIM_MS;
    config.timeout_read_ns = 3 * SIM_MS;
    config.gc_every_ns = seed % 3 == 0 ? 40 * SIM_MS : 0;
    config.gc_lasts_ns = SIM_MS;
    config.detect_ns = 5 * SIM_MS;
    config.keeps_lifetimes = seed % 4 == 3;
    if (pair->has_ties) {
        config.latency_ns = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = (double)(5 * GRID)};
        config.write_ns = GRID;
        config.read_ns = 2 * GRID;
        config.coordinate_ns = seed % 5 == 4 ? GRID : 0;
    }
    if (is_shuffled) { /* each write takes the same way, and none times out */
        config.coordinate_ns = 0;
        config.timeout_write_ns = SIM_MINUTE;
        config.gc_every_ns = 0;
    }
    for (int i = 0; i < 2; i++) {
        config.avoids_shortcuts = i == 1;
        harness_start(both(pair, i), &config);
        if (is_shuffled)
            sim_queue_shuffle_ties(&both(pair, i)->queue, 2 * seed + (uint64_t)i);
    }
}

static uint64_t below(struct pair *pair, uint64_t n)
{
    return sim_random_below(&pair->draws, n);
}

/* As a rule a new row, otherwise one of the recent rows again; a new row if ties are shuffled, because then
 * it depends on their order whether a row is still open when it comes again. */
static struct cass_statement draw_statement(struct pair *pair)
{
    static const enum cass_consistency levels[] = {CASS_ANY,       CASS_ONE,        CASS_TWO,
                                                   CASS_QUORUM,    CASS_ALL,        CASS_LOCAL_QUORUM,
                                                   CASS_LOCAL_ONE, CASS_EACH_QUORUM};
    bool is_new = below(pair, 4) > 0 || pair->rows == 0 || pair->is_shuffled;
    uint64_t row = is_new ? pair->rows++ : pair->rows - 1 - below(pair, 8);
    struct cass_statement statement =
        write_row(levels[below(pair, sizeof levels / sizeof *levels)], 1 + row % KEYS, row);
    statement.row_time_ns = (int64_t)row;
    statement.ttl_ns = below(pair, 8) == 0 ? SIM_SECOND : 0;
    if (pair->is_shuffled)
        return statement;
    uint64_t kind = below(pair, 12), key = 1 + row % KEYS;
    if (kind == 0) {
        statement = set_column(CASS_ONE, key, (uint32_t)below(pair, 2), (int64_t)row);
        statement.ttl_ns = below(pair, 2) == 0 ? SIM_SECOND : 0;
    } else if (kind < 4) {
        statement =
            statement_of(CASS_READ_COLUMNS, below(pair, 8) == 0 ? CASS_SERIAL : statement.consistency, key);
    } else if (kind == 4) {
        statement = statement_of(CASS_READ_ROWS, CASS_ONE, key);
    } else if (kind == 5) {
        statement = statement_of(CASS_DELETE_COLUMNS, CASS_ONE, key);
        statement.set_mask = 1;
    }
    return statement;
}

static void fault(struct pair *pair)
{
    uint64_t kind = below(pair, 8), which = below(pair, pair->nodes), is_bad = below(pair, 2);
    uint32_t node = (uint32_t)which;
    for (int i = 0; i < 2; i++) {
        struct harness *harness = both(pair, i);
        switch (kind) {
        case 0:
            cass_set_down(harness->cluster, node, is_bad);
            break;
        case 1:
            cass_set_slow(harness->cluster, node, is_bad ? 20 : 1);
            break;
        case 2:
            cass_set_failing(harness->cluster, node, is_bad);
            break;
        case 3:
            cass_pause(harness->cluster, node, 2 * SIM_MS);
            break;
        case 4:
            cass_set_loss(harness->cluster, is_bad ? 0.2 : 0, is_bad ? 0.2 : 0);
            break;
        case 5:
            separate(harness, node, cass_place_of_client(harness->cluster, 0), is_bad);
            break;
        case 6:
            cass_set_late(harness->cluster, is_bad ? 0.3 : 0, SIM_MS);
            break;
        default:
            cass_heal(harness->cluster);
        }
    }
}

static void compare_ends(struct pair *pair)
{
    struct cass_cluster *left = pair->quick.cluster, *right = pair->whole.cluster;
    assert_int_equal(cass_partition_count(left), cass_partition_count(right));
    for (size_t i = 0; i < cass_partition_count(left); i++) {
        struct cass_partition_view a, b;
        cass_partition_at(left, i, &a);
        cass_partition_at(right, i, &b);
        assert_memory_equal(&a, &b, sizeof a);
    }
    uint64_t writes = 0, reads = 0;
    for (uint32_t node = 0; node < pair->nodes; node++) {
        struct cass_node_stats a, b;
        cass_node_stats(left, node, &a);
        cass_node_stats(right, node, &b);
        assert_memory_equal(&a, &b, sizeof a);
        writes += a.writes;
        reads += a.reads;
    }
    assert_true(writes > 0 && (reads > 0 || pair->is_shuffled));
    uint64_t found = 0;
    for (uint64_t tag = 0; tag < pair->quick.tags; tag++) {
        const struct cass_reply *a = &pair->quick.replies[tag], *b = &pair->whole.replies[tag];
        assert_int_equal(pair->quick.is_answered[tag], pair->whole.is_answered[tag]);
        if (!pair->quick.is_answered[tag])
            continue;
        found += a->found;
        assert_int_equal(a->found, b->found);
        assert_int_equal(a->columns_mask, b->columns_mask);
        assert_memory_equal(a->columns, b->columns, sizeof a->columns);
        assert_int_equal(a->received, b->received);
        assert_int_equal(a->required, b->required);
    }
    assert_true(found > 0 || pair->is_shuffled);
}

static void step(struct pair *pair)
{
    if (!pair->is_shuffled && below(pair, 40) == 0) {
        fault(pair);
    } else {
        struct cass_statement statement = draw_statement(pair);
        uint32_t client = (uint32_t)below(pair, 2);
        uint32_t node =
            below(pair, 4) > 0 || pair->is_shuffled ? CASS_ANY_NODE : (uint32_t)below(pair, pair->nodes);
        for (int i = 0; i < 2; i++)
            harness_send(both(pair, i), client, node, &statement);
    }
    int64_t gap_ns = (int64_t)below(pair, (uint64_t)(below(pair, 10) == 0 ? 4 * SIM_MS : 300 * SIM_US));
    gap_ns = pair->has_ties ? gap_ns / GRID * GRID : gap_ns;
    for (int i = 0; i < 2; i++)
        harness_run_for(both(pair, i), gap_ns);
}

static void stop(struct pair *pair)
{
    compare_ends(pair);
    harness_stop(&pair->quick);
    harness_stop(&pair->whole);
}

static void test_shortcuts_change_no_event(void **state)
{
    (void)state;
    static struct pair pair;
    for (uint64_t seed = 0; seed < test_part(80); seed++) {
        start(&pair, seed, false);
        for (uint32_t i = 0; i < STEPS; i++) {
            step(&pair);
            assert_int_equal(pair.quick.events, pair.whole.events);
            assert_int_equal(pair.quick.digest, pair.whole.digest);
        }
        stop(&pair);
    }
}

static int by_time(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static void test_shortcuts_hold_for_any_order_of_ties(void **state)
{
    (void)state;
    static struct pair pair;
    for (uint64_t seed = 0; seed < test_part(40); seed++) {
        start(&pair, seed, true);
        for (uint32_t i = 0; i < STEPS; i++)
            step(&pair);
        for (int i = 0; i < 2; i++) {
            harness_run_for(both(&pair, i), SIM_MINUTE);
            qsort(both(&pair, i)->answered_ns, both(&pair, i)->tags, sizeof(int64_t), by_time);
        }
        assert_memory_equal(pair.quick.answered_ns, pair.whole.answered_ns,
                            pair.quick.tags * sizeof(int64_t));
        stop(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shortcuts_change_no_event),
        cmocka_unit_test(test_shortcuts_hold_for_any_order_of_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
