/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: reads of data rows return exactly the live rows, scan each tombstone at its clustering position, and
 * depend only on the replicas that they query. Method: cases by hand; then random writes, row deletes, range
 * deletes and partition deletes with timestamps and times to live, some of which never reach some replicas,
 * compared with a list of everything that each replica received. In addition, the static columns, batches and
 * times to live that other tests leave out. */
#include "../share.h"
#include "fixture.h"
#include "kernel/random.h"

#define REPLICAS 3
#define CHANGES  4000
#define CELLS    3

static void set_config(void)
{
    config = harness_config();
    config.keeps_lifetimes = true;
    config.row_cells = CELLS;
}

static struct cass_statement row_at(enum cass_statement_kind kind, int64_t time_ns, int64_t order)
{
    static uint64_t ids;
    struct cass_statement statement = statement_of(kind, CASS_ALL, 1);
    statement.row_time_ns = time_ns;
    statement.row_order = order;
    statement.row_id = ++ids;
    statement.bytes = 100;
    return statement;
}

static void change(const struct cass_statement *statement)
{
    assert_int_equal(harness_do(&h, 0, statement).result, CASS_OK);
}

static void put(int64_t time_ns)
{
    struct cass_statement row = row_at(CASS_WRITE_ROW, time_ns, 0);
    change(&row);
}

static struct cass_reply read_rows(uint64_t limit)
{
    struct cass_statement read = statement_of(CASS_READ_ROWS, CASS_QUORUM, 1);
    read.limit = limit;
    return harness_do(&h, 0, &read);
}

/* 400 deleted rows precede 5 live ones: a read with a limit of 5 scans all of them. Rows after the limit are
 * not scanned. */
static void test_limit_scans_the_tombstones_before_its_rows(void **state)
{
    (void)state;
    set_config();
    harness_start(&h, &config);
    for (int64_t i = 0; i < 410; i++)
        put(i);
    for (int64_t i = 10; i < 410; i++) {
        struct cass_statement gone = row_at(CASS_DELETE_ROW, i, 0);
        change(&gone);
        change(&gone); /* the same row again: one tombstone */
    }
    struct cass_reply reply = read_rows(5);
    assert_true(reply.rows == 5 && reply.tombstones == 400 && reply.scanned == 405);
    put(1000);
    reply = read_rows(1);
    assert_true(reply.rows == 1 && reply.tombstones == 0);
    reply = read_rows(0);
    assert_true(reply.rows == 11 && reply.tombstones == 400);
}

static void test_expired_row_is_as_many_tombstones_as_it_has_cells(void **state)
{
    (void)state;
    set_config();
    harness_start(&h, &config);
    for (int64_t i = 0; i < 40; i++) {
        struct cass_statement row = row_at(CASS_WRITE_ROW, i, 0);
        row.ttl_ns = i < 20 ? 5 * SIM_SECOND : 0;
        change(&row);
    }
    harness_run_for(&h, 10 * SIM_SECOND);
    assert_int_equal(read_rows(20).tombstones, 0);
    struct cass_reply reply = read_rows(0);
    assert_true(reply.rows == 20 && reply.tombstones == 20 * CELLS);
    struct cass_statement count = statement_of(CASS_COUNT_ROWS, CASS_QUORUM, 1);
    reply = harness_do(&h, 0, &count);
    assert_true(reply.rows == 20 && reply.columns[0] == 39);
}

static void test_tombstones_cost_time_and_fail_reads(void **state)
{
    (void)state;
    set_config();
    config.scan_row_ns = SIM_MS;
    config.scan_tombstone_ns = 10 * SIM_MS;
    config.tombstone_fail = 50;
    harness_start(&h, &config);
    put(1);
    for (int64_t i = 2; i < 42; i++) {
        struct cass_statement gone = row_at(CASS_DELETE_ROW, i, 0);
        change(&gone);
    }
    int64_t before = sim_queue_now(&h.queue);
    assert_int_equal(read_rows(1).rows, 1);
    int64_t spent = sim_queue_now(&h.queue) - before;
    assert_in_range(spent, 401 * SIM_MS, 401 * SIM_MS + 4 * SIM_MS);
    for (int64_t i = 50; i < 61; i++) {
        struct cass_statement gone = row_at(CASS_DELETE_ROW, i, 0);
        change(&gone);
    }
    assert_int_equal(read_rows(1).result, CASS_READ_FAILURE);
}

/* A change that replicas received. */
struct change {
    enum cass_statement_kind kind;
    int64_t time_ns, order, until_ns, timestamp_us, expires_s;
    uint8_t held; /* the replicas that received it */
};

static struct change changes[CHANGES];
static uint32_t change_count;

/* -1: nothing to scan; 0: the row is live; otherwise the number of tombstones. */
static int fate_of(int64_t time_ns, int64_t order, uint32_t replica)
{
    int64_t written = INT64_MIN, expires = INT64_MAX, deleted = INT64_MIN, dropped = INT64_MIN;
    for (uint32_t i = 0; i < change_count; i++) {
        const struct change *one = &changes[i];
        if (!(one->held >> replica & 1))
            continue;
        bool is_here = one->time_ns == time_ns && one->order == order;
        if (one->kind == CASS_WRITE_ROW && is_here &&
            (one->timestamp_us > written || (one->timestamp_us == written && one->expires_s != INT64_MAX &&
                                             (expires == INT64_MAX || one->expires_s > expires)))) {
            written = one->timestamp_us;
            expires = one->expires_s;
        }
        if (one->kind == CASS_DELETE_ROW && is_here && one->timestamp_us > deleted)
            deleted = one->timestamp_us;
        bool covers = one->kind == CASS_DELETE_PARTITION ||
                      (one->kind == CASS_DELETE_RANGE && one->time_ns <= time_ns && time_ns < one->until_ns);
        if (covers && one->timestamp_us > dropped)
            dropped = one->timestamp_us;
    }
    if (written > deleted && written > dropped)
        return expires > sim_queue_now(&h.queue) / SIM_SECOND ? 0 : CELLS;
    return deleted != INT64_MIN && deleted >= dropped ? 1 : -1;
}

#define TIMES  60
#define ORDERS 2

static void check_replica(uint32_t replica, struct sim_random *random)
{
    struct cass_statement read = statement_of(CASS_READ_ROWS, CASS_ONE, 1);
    read.limit = sim_random_below(random, 3) == 0 ? 0 : 1 + sim_random_below(random, 20);
    read.has_span = sim_random_below(random, 2) == 0;
    read.from_ns = (int64_t)sim_random_below(random, TIMES);
    read.until_ns = read.from_ns + (int64_t)sim_random_below(random, TIMES);
    bool counts = !read.has_span && sim_random_below(random, 2) == 0;
    if (counts) {
        read.kind = CASS_COUNT_ROWS;
        read.has_after = sim_random_below(random, 2) == 0;
        read.after_time_ns = (int64_t)sim_random_below(random, TIMES);
        read.after_order = (int64_t)sim_random_below(random, ORDERS);
        read.limit = 0;
    }
    uint64_t rows = 0;
    int64_t last_time = -1, last_order = -1;
    for (int64_t i = TIMES * ORDERS; i-- > 0 && (read.limit == 0 || rows < read.limit);) {
        int64_t time_ns = i / ORDERS, order = i % ORDERS;
        if ((read.has_span && (time_ns < read.from_ns || time_ns >= read.until_ns)) ||
            (read.has_after && i <= read.after_time_ns * ORDERS + read.after_order) ||
            fate_of(time_ns, order, replica) != 0)
            continue;
        last_time = rows == 0 ? time_ns : last_time;
        last_order = rows == 0 ? order : last_order;
        rows++;
    }
    struct cass_reply reply = harness_do(&h, replica, &read);
    assert_int_equal(reply.result, CASS_OK);
    assert_int_equal(reply.rows, rows);
    if (counts && rows > 0)
        assert_true(reply.columns[0] == last_time && reply.columns[1] == last_order);
}

/* A read of all replicas repairs each of them, both rows and deletions. */
static void read_all(void)
{
    struct cass_statement read = statement_of(CASS_READ_ROWS, CASS_ALL, 1);
    assert_int_equal(harness_do(&h, 0, &read).result, CASS_OK);
    for (uint32_t i = 0; i < change_count; i++)
        changes[i].held = (1u << REPLICAS) - 1;
}

/* Each change misses the replicas that are down. There are no hints, and a read of one replica repairs
 * none. */
static void random_run(uint64_t seed, bool has_ranges, uint32_t count)
{
    struct sim_random random;
    sim_random_init(&random, seed, SIM_ROW_ID, 0);
    set_config();
    config.seed = seed;
    harness_start(&h, &config);
    change_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t draw = sim_random_below(&random, 20);
        struct change *one = &changes[change_count];
        *one = (struct change){.kind = draw < 12 ? CASS_WRITE_ROW : CASS_DELETE_ROW,
                               .time_ns = (int64_t)sim_random_below(&random, TIMES),
                               .order = (int64_t)sim_random_below(&random, ORDERS),
                               .expires_s = INT64_MAX};
        if (has_ranges && draw >= 18)
            one->kind = draw == 19 && i % 7 == 0 ? CASS_DELETE_PARTITION : CASS_DELETE_RANGE;
        struct cass_statement statement = row_at(one->kind, one->time_ns, one->order);
        statement.consistency = CASS_ANY;
        statement.from_ns = one->time_ns;
        statement.until_ns = one->until_ns = one->time_ns + (int64_t)sim_random_below(&random, 9);
        one->timestamp_us = statement.timestamp_us =
            sim_random_below(&random, 3) == 0 ? START / SIM_US + (int64_t)sim_random_below(&random, 40)
                                              : START / SIM_US + i / 8;
        if (one->kind == CASS_WRITE_ROW && draw % 4 == 0) {
            statement.ttl_ns = (int64_t)(1 + sim_random_below(&random, 5)) * SIM_SECOND;
            one->expires_s = (sim_queue_now(&h.queue) + statement.ttl_ns) / SIM_SECOND;
        }
        uint32_t down = sim_random_below(&random, 3) == 0 ? (uint32_t)sim_random_below(&random, 7) : 0;
        for (uint32_t replica = 0; replica < REPLICAS; replica++)
            cass_set_down(h.cluster, replica, down >> replica & 1);
        uint32_t coordinator = down & 1 ? (down & 2 ? 2 : 1) : 0;
        assert_int_equal(harness_do(&h, coordinator, &statement).result, CASS_OK);
        harness_run_for(&h, SIM_SECOND / 20);
        cass_drop_hints(h.cluster, coordinator);
        one->held = (uint8_t)(~down & 7);
        change_count++;
        for (uint32_t replica = 0; replica < REPLICAS; replica++)
            cass_set_down(h.cluster, replica, false);
        harness_run_for(&h, SIM_SECOND / 20);
        if (sim_random_below(&random, 25) == 0)
            read_all();
        check_replica((uint32_t)sim_random_below(&random, REPLICAS), &random);
    }
    harness_stop(&h);
}

static void test_each_replica_finds_the_rows_that_it_has(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_part(12); seed++)
        random_run(seed, seed % 2 == 0, 400);
}

/* A batch for one partition is applied as a whole: static columns, and rows that are written and deleted. */
static void test_batch_has_static_columns_writes_and_deletes(void **state)
{
    (void)state;
    config.named_columns = 4;
    harness_start(&h, &config);
    struct cass_statement batch = statement_of(CASS_WRITE_NAMED, CASS_QUORUM, 5);
    batch.named_count = 3;
    for (uint32_t i = 0; i < 3; i++)
        batch.named[i] = (struct cass_named){.name = i, .value = 10 + i, .timestamp_us = INT64_MIN};
    batch.set_mask = 1;
    batch.set[0] = 77;
    assert_int_equal(harness_do(&h, 0, &batch).result, CASS_OK);
    batch.named[1].is_delete = true;
    batch.named_count = 2;
    batch.set_mask = 2;
    batch.set[1] = 78;
    assert_int_equal(harness_do(&h, 0, &batch).result, CASS_OK);
    struct cass_statement read = statement_of(CASS_READ_NAMED, CASS_QUORUM, 5);
    struct cass_reply reply = harness_do(&h, 0, &read);
    assert_true(reply.found && reply.columns_mask == 3 && reply.columns[0] == 77 && reply.columns[1] == 78);
    struct cass_named named[4];
    assert_int_equal(cass_peek_named(h.cluster, 5, named, 4), 2);
    assert_true(named[0].name == 0 && named[1].name == 2);
    /* A condition on a static column of the partition. */
    struct cass_statement cas = cas_column(5, 77, 79);
    assert_true(harness_do(&h, 0, &cas).applied);
    assert_int_equal(harness_do(&h, 0, &read).columns[0], 79);
}

static void test_default_time_to_live_and_ttl_0(void **state)
{
    (void)state;
    set_config();
    config.default_ttl_ns = 5 * SIM_SECOND;
    harness_start(&h, &config);
    struct cass_statement write = set_column(CASS_QUORUM, 1, 0, 4), row = row_at(CASS_WRITE_ROW, 1, 0);
    change(&write);
    change(&row);
    write.key = 2;
    write.ttl_ns = CASS_NO_TTL;
    change(&write);
    row = row_at(CASS_WRITE_ROW, 2, 0);
    row.ttl_ns = CASS_NO_TTL;
    change(&row);
    assert_int_equal(read_rows(0).rows, 2);
    harness_run_for(&h, 6 * SIM_SECOND);
    assert_int_equal(peek(&h, 0, 1, 0), -1);
    assert_int_equal(peek(&h, 0, 2, 0), 4);
    assert_int_equal(read_rows(0).rows, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        harness_test(test_limit_scans_the_tombstones_before_its_rows),
        harness_test(test_expired_row_is_as_many_tombstones_as_it_has_cells),
        harness_test(test_tombstones_cost_time_and_fail_reads),
        cmocka_unit_test(test_each_replica_finds_the_rows_that_it_has),
        harness_test(test_batch_has_static_columns_writes_and_deletes),
        harness_test(test_default_time_to_live_and_ttl_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
