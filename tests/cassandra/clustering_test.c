/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the rows of a partition are counted in clustering order, from any position on. Method: rows in
 * ascending, descending, nearly ascending and random order, compared with a count over the plain list of
 * written rows. Replicas that miss rows or tombstones are in lifetimes_test.c. */
#include "fixture.h"
#include "kernel/random.h"

#define ROWS 1500

struct place {
    int64_t time_ns, order;
};

static bool is_after(const struct place *a, const struct place *b)
{
    return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->order > b->order;
}

static void put(uint64_t id, const struct place *place, enum cass_consistency level)
{
    struct cass_statement row = write_row(level, 1, id);
    row.row_time_ns = place->time_ns;
    row.row_order = place->order;
    assert_int_equal(harness_do(&h, 0, &row).result, CASS_OK);
}

static struct cass_reply count(uint32_t coordinator, enum cass_consistency level, const struct place *after)
{
    struct cass_statement statement = statement_of(CASS_COUNT_ROWS, level, 1);
    statement.has_after = after != NULL;
    statement.after_time_ns = after != NULL ? after->time_ns : 0;
    statement.after_order = after != NULL ? after->order : 0;
    struct cass_reply reply = harness_do(&h, coordinator, &statement);
    assert_int_equal(reply.result, CASS_OK);
    return reply;
}

static void check_count(const struct place *places, uint64_t written, const struct place *after)
{
    struct cass_reply reply = count(0, CASS_QUORUM, after);
    const struct place *last = NULL;
    uint64_t expected = 0;
    for (uint64_t i = 0; i < written; i++) {
        if (after != NULL && !is_after(&places[i], after))
            continue;
        expected++;
        last = last == NULL || is_after(&places[i], last) ? &places[i] : last;
    }
    assert_true(reply.rows == expected && reply.found == (expected > 0));
    if (last == NULL) {
        assert_int_equal(reply.columns_mask, 0);
        return;
    }
    assert_int_equal(reply.columns_mask, 3);
    assert_true(reply.columns[0] == last->time_ns && reply.columns[1] == last->order);
}

/* The times have few values, so that many are equal, and some orders are negative. */
static struct place draw_place(int kind, int64_t i)
{
    int64_t draw = (int64_t)(sim_hash(7, SIM_AGENT, (uint64_t)i) >> 1);
    int64_t at = kind == 0 ? i : kind == 1 ? ROWS - i : kind == 2 ? i - draw % 40 : draw % ROWS;
    return (struct place){START + at / 5, (at % 5 - 2) * 10000 + (kind < 2 ? 0 : i)};
}

static void test_rows_in_any_order_are_counted_from_any_place(void **state)
{
    (void)state;
    static struct place places[ROWS];
    const struct place least = {INT64_MIN, INT64_MIN}, greatest = {INT64_MAX, INT64_MAX};
    for (int kind = 0; kind < 4; kind++) {
        config = harness_config();
        config.keeps_lifetimes = true;
        harness_start(&h, &config);
        check_count(places, 0, NULL);
        check_count(places, 0, &least);
        for (int64_t i = 0; i < ROWS; i++) {
            places[i] = draw_place(kind, i);
            put((uint64_t)i, &places[i], CASS_ALL);
            if (i % 37 == 0 || i == ROWS - 1) {
                const struct place *at = &places[sim_hash(8, SIM_AGENT, (uint64_t)i) % ((uint64_t)i + 1)];
                const struct place before = {at->time_ns, at->order - 1};
                check_count(places, (uint64_t)i + 1, NULL);
                check_count(places, (uint64_t)i + 1, at);
                check_count(places, (uint64_t)i + 1, &before);
            }
        }
        check_count(places, ROWS, &least);
        check_count(places, ROWS, &greatest);
        for (int64_t i = 0; i < ROWS; i += 11)
            check_count(places, ROWS, &places[i]);
        harness_stop(&h);
    }
}

/* Replica 2 lacks the newest row. A read of replica 2 alone reports an older row only when one exists. */
static void test_row_missing_on_the_queried_replica_is_not_older(void **state)
{
    (void)state;
    config.keeps_lifetimes = true;
    config.hint_window_ns = 0;
    harness_start(&h, &config);
    const struct place places[] = {{START + 10, 0}, {START + 20, 0}, {START + 30, 0}};
    put(0, &places[0], CASS_ALL);
    put(1, &places[1], CASS_ALL);
    cass_set_down(h.cluster, 2, true);
    put(2, &places[2], CASS_QUORUM);
    cass_set_down(h.cluster, 2, false);
    const struct {
        int64_t from_ns, until_ns;
        uint64_t rows;
        bool saw_older;
    } reads[] = {
        {10, 20, 1, false}, {10, 31, 2, false}, {0, 5, 0, false}, {11, 31, 1, true}, {25, 31, 0, true}};
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        struct cass_statement read = statement_of(CASS_READ_ROWS, CASS_ONE, 1);
        read.has_span = true;
        read.from_ns = START + reads[i].from_ns;
        read.until_ns = START + reads[i].until_ns;
        struct cass_reply reply = harness_do(&h, 2, &read);
        assert_int_equal(reply.result, CASS_OK);
        assert_int_equal(reply.rows, reads[i].rows);
        assert_int_equal(reply.saw_older, reads[i].saw_older);
        assert_int_equal(reply.scanned, reads[i].rows + reads[i].saw_older);
    }
}

/* Each row that is scanned takes its time, and at least one row is scanned. */
static void test_count_costs_the_scan_of_the_rows_after_the_place(void **state)
{
    (void)state;
    config.keeps_lifetimes = true;
    config.scan_row_ns = SIM_MS;
    harness_start(&h, &config);
    struct place places[50];
    for (int64_t i = 0; i < 50; i++) {
        places[i] = (struct place){START + i, 0};
        put((uint64_t)i, &places[i], CASS_ALL);
    }
    const struct place *const afters[] = {NULL, &places[9], &places[48], &places[49]};
    const int64_t rows[] = {50, 40, 1, 1};
    int64_t lasted_ns[4];
    for (int i = 0; i < 4; i++) {
        uint64_t tag = h.tags;
        count(0, CASS_ONE, afters[i]);
        lasted_ns[i] = h.answered_ns[tag % REPLIES_MAX] - h.sent_ns[tag % REPLIES_MAX];
        assert_true(lasted_ns[i] - lasted_ns[0] == (rows[i] - rows[0]) * SIM_MS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_in_any_order_are_counted_from_any_place),
        harness_test(test_row_missing_on_the_queried_replica_is_not_older),
        harness_test(test_count_costs_the_scan_of_the_rows_after_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
