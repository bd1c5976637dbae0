/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: rows of named columns behave as the rows of one partition: each column is independent, and one read
 * returns all of them. Method: small clusters and sequential statements, with some replicas isolated where
 * the replicas have to differ. */
#include <stdio.h>

#include "fixture.h"

#define COLUMNS 5

static void set_config(void)
{
    config = harness_config();
    config.named_columns = COLUMNS;
}

static struct cass_statement named(enum cass_statement_kind kind, enum cass_consistency level, uint32_t name,
                                   int64_t value, int64_t timestamp)
{
    struct cass_statement statement = statement_of(kind, level, 7);
    statement.named_count = 1;
    statement.named[0] = (struct cass_named){.name = name, .value = value, .timestamp_us = timestamp};
    return statement;
}

static void write_one(uint32_t name, int64_t value, int64_t timestamp)
{
    struct cass_statement statement = named(CASS_WRITE_NAMED, CASS_QUORUM, name, value, timestamp);
    assert_int_equal(harness_do(&h, 0, &statement).result, CASS_OK);
}

/* Asserts the result of a read, given as "0=5 3=8". */
static void assert_read(enum cass_consistency level, uint32_t coordinator, const char *expected)
{
    struct cass_statement read = statement_of(CASS_READ_NAMED, level, 7);
    struct cass_named found[COLUMNS];
    struct sim_event event;
    char text[256] = "";
    int64_t time;
    uint64_t tag = 999;
    cass_request(h.cluster, 0, coordinator, tag, &read);
    while (sim_queue_pop(&h.queue, &time, &event) && (event.kind != CASS_EVENT_REPLY || event.a != tag)) {
        if (event.kind == CASS_EVENT_REPLY)
            cass_reply_discard(h.cluster, event.b);
        else
            cass_handle(h.cluster, &event);
    }
    assert_int_equal(event.kind, CASS_EVENT_REPLY);
    uint32_t count = cass_reply_named(h.cluster, event.b, found, COLUMNS);
    assert_int_equal(cass_reply_named(h.cluster, event.b, found, 0), count); /* no room: still counted */
    for (uint32_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u=%lld", i > 0 ? " " : "",
                 found[i].name, (long long)found[i].value);
    struct cass_reply reply;
    cass_reply_take(h.cluster, event.b, &reply);
    assert_int_equal(reply.result, CASS_OK);
    assert_int_equal(reply.found, count > 0);
    assert_string_equal(text, expected);
}

static void test_named_columns_are_read_whole(void **state)
{
    (void)state;
    set_config();
    harness_start(&h, &config);
    struct cass_named none;
    assert_int_equal(cass_peek_named(h.cluster, 7, &none, 1), 0);
    assert_read(CASS_QUORUM, 0, "");
    struct cass_statement two = named(CASS_WRITE_NAMED, CASS_QUORUM, 3, 8, INT64_MIN);
    two.named_count = 2;
    two.named[1] = (struct cass_named){.value = 5, .timestamp_us = INT64_MIN};
    assert_int_equal(harness_do(&h, 0, &two).result, CASS_OK);
    assert_read(CASS_QUORUM, 1, "0=5 3=8");
    write_one(4, 1, INT64_MIN);
    write_one(3, 9, INT64_MIN);
    assert_read(CASS_ONE, 2, "0=5 3=9 4=1");
    assert_int_equal(cass_peek_named(h.cluster, 7, &none, 1), 3);
    assert_int_equal(none.value, 5);
}

/* A delete removes cells with an equal or older timestamp, whichever arrives first; on a tie the delete
 * wins. */
static void test_named_columns_deletes_name_what_they_delete(void **state)
{
    (void)state;
    set_config();
    harness_start(&h, &config);
    write_one(1, 10, 10);
    write_one(2, 20, 20);
    struct cass_statement gone = named(CASS_DELETE_NAMED, CASS_QUORUM, 1, 0, 10);
    assert_int_equal(harness_do(&h, 0, &gone).result, CASS_OK);
    assert_read(CASS_QUORUM, 0, "2=20");
    write_one(1, 10, 10);
    assert_read(CASS_QUORUM, 0, "2=20");
    write_one(1, 11, 11);
    assert_int_equal(harness_do(&h, 0, &gone).result, CASS_OK);
    assert_read(CASS_QUORUM, 0, "1=11 2=20");
}

static void test_named_columns_are_repaired_by_reads(void **state)
{
    (void)state;
    set_config();
    config.hint_window_ns = 0;
    config.timeout_write_ns = 100 * SIM_MS;
    harness_start(&h, &config);
    separate(&h, 0, 2, true);
    write_one(1, 10, 10);
    harness_run_for(&h, SIM_SECOND);
    cass_heal(h.cluster);
    cass_drop_hints(h.cluster, 0);
    assert_read(CASS_ONE, 2, ""); /* node 2's own copy lacks it */
    assert_read(CASS_ALL, 2, "1=10");
    assert_read(CASS_ONE, 2, "1=10");
}

/* A replica that was down receives its columns with their original timestamps. */
static void test_named_columns_are_hinted(void **state)
{
    (void)state;
    set_config();
    harness_start(&h, &config);
    cass_set_down(h.cluster, 2, true);
    write_one(1, 10, 10);
    cass_set_down(h.cluster, 2, false);
    write_one(1, 11, 11);
    harness_run_for(&h, SIM_MINUTE);
    assert_read(CASS_ONE, 2, "1=11");
}

static void test_named_columns_cost_what_they_hold(void **state)
{
    (void)state;
    set_config();
    config.scan_row_ns = SIM_MS;
    config.scan_tombstone_ns = 10 * SIM_MS;
    harness_start(&h, &config);
    for (uint32_t i = 0; i < 3; i++)
        write_one(i, i, i + 1);
    struct cass_statement gone = named(CASS_DELETE_NAMED, CASS_ALL, 0, 0, 5);
    assert_int_equal(harness_do(&h, 0, &gone).result, CASS_OK);
    harness_run_for(&h, SIM_SECOND);
    int64_t before = sim_queue_now(&h.queue);
    assert_read(CASS_ONE, 0, "1=1 2=2");
    assert_int_equal(sim_queue_now(&h.queue) - before, 2 * SIM_MS + 2 * SIM_MS + 10 * SIM_MS);
}

static void test_named_columns_take_no_serial_level(void **state)
{
    (void)state;
    set_config();
    harness_start(&h, &config);
    struct cass_statement read = statement_of(CASS_READ_NAMED, CASS_SERIAL, 7);
    struct cass_statement write = named(CASS_WRITE_NAMED, CASS_SERIAL, 1, 1, 1);
    struct cass_statement gone = named(CASS_DELETE_NAMED, CASS_LOCAL_SERIAL, 1, 1, 1);
    assert_int_equal(harness_do(&h, 0, &read).result, CASS_INVALID);
    assert_int_equal(harness_do(&h, 0, &write).result, CASS_INVALID);
    assert_int_equal(harness_do(&h, 0, &gone).result, CASS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        harness_test(test_named_columns_are_read_whole),
        harness_test(test_named_columns_deletes_name_what_they_delete),
        harness_test(test_named_columns_are_repaired_by_reads),
        harness_test(test_named_columns_are_hinted),
        harness_test(test_named_columns_cost_what_they_hold),
        harness_test(test_named_columns_take_no_serial_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
