/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a read among the rows of a key sees the rows of its own nanosecond and no later rows, wherever a batch
 * ends; no read is at the run's end or later. Method: a key has rows at given times, and its next read is set
 * to a given time; the tally shows what the read met. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream.h"

#define NEVER INT64_MAX

struct fixture {
    struct lab_scenario *scenario;
    struct cass_ring *ring;
    struct lab_worker *worker;
    struct lab_key key;
};

static const struct lab_key_name name = {"key-0", 5, 0};

/* No observer. */
static const struct lab_run_context alone;

static struct fixture *begin_with(const char *strategy, uint64_t rows)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    struct sim_error error;
    char text[512];
    snprintf(text, sizeof text,
             "duration: 1d\nkeys: {count: 1}\narrivals: {rate: 1/h}\nstrategies: [%s]\n"
             "reads: {latest: {rows: %u, rate: 0.000000001/s}}\n",
             strategy, (unsigned)rows);
    if (!lab_scenario_parse("x.yaml", text, strlen(text), NULL, 0, NULL, &fixture->scenario, &error))
        fail_msg("%s", error.text);
    assert_true(cass_ring_create(1, &(struct cass_datacenter){"dc", 1, 1, 1}, 1, 1, &fixture->ring, &error));
    assert_true(lab_worker_create(fixture->scenario, fixture->ring, &alone, &fixture->worker, &error));
    assert_true(lab_key_init(&fixture->key, fixture->worker));
    lab_key_begin(&fixture->key, &name, 0, 1e-9, 0);
    fixture->key.next_read_ns = NEVER;
    return fixture;
}

/* One row per partition, and a read of up to `rows` rows: it queries as many partitions as it sees rows. */
static struct fixture *begin(uint64_t rows)
{
    return begin_with("count: {rows: 1, counter: external}", rows);
}

static void end(struct fixture *fixture)
{
    lab_key_clear(&fixture->key);
    lab_worker_destroy(fixture->worker);
    cass_ring_destroy(fixture->ring);
    lab_scenario_destroy(fixture->scenario);
    free(fixture);
}

static void write_rows(struct fixture *fixture, const int64_t *times_ns, size_t count)
{
    memcpy(fixture->worker->times_ns, times_ns, count * sizeof *times_ns);
    memset(fixture->worker->ids, 0, count * sizeof *fixture->worker->ids);
    lab_key_rows(&fixture->key, count, 1);
}

/* The number of reads so far, and of partitions with rows that they met together. */
static void assert_seen(struct fixture *fixture, uint64_t reads, uint64_t rows)
{
    const struct lab_tally *tally = &fixture->worker->tallies[0];
    assert_int_equal(tally->reads.partitions.count, reads);
    assert_int_equal(tally->reads.partitions.sum - tally->reads.empties, rows);
    assert_int_equal(tally->reads.incomplete, 0);
}

static void test_read_sees_the_rows_of_its_own_nanosecond(void **state)
{
    (void)state;
    static const int64_t times_ns[] = {10, 20, 20, 21, 30};
    static const struct {
        int64_t read_ns;
        uint64_t rows;
    } cases[] = {{9, 0}, {10, 1}, {19, 1}, {20, 3}, {21, 4}, {29, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture *fixture = begin(9);
        fixture->key.next_read_ns = cases[i].read_ns;
        write_rows(fixture, times_ns, 5);
        assert_seen(fixture, 1, cases[i].rows);
        end(fixture);
    }
}

/* Further rows of the same nanosecond may come with the next batch: until then the read has to wait. */
static void test_read_at_the_end_of_a_batch_waits_for_the_next(void **state)
{
    (void)state;
    static const int64_t first[] = {10, 20}, second[] = {20, 20, 30};
    struct fixture *fixture = begin(9);
    fixture->key.next_read_ns = 20;
    write_rows(fixture, first, 2);
    assert_seen(fixture, 0, 0);
    write_rows(fixture, second, 3);
    assert_seen(fixture, 1, 4);
    end(fixture);
}

static void test_read_between_batches_sees_the_first_only(void **state)
{
    (void)state;
    static const int64_t first[] = {10, 20}, second[] = {30, 40};
    struct fixture *fixture = begin(9);
    fixture->key.next_read_ns = 25;
    write_rows(fixture, first, 2);
    write_rows(fixture, second, 2);
    assert_seen(fixture, 1, 2);
    end(fixture);
}

static void test_read_takes_no_more_rows_than_it_wants(void **state)
{
    (void)state;
    static const int64_t times_ns[] = {10, 20, 30, 40, 50};
    struct fixture *fixture = begin(3);
    fixture->key.next_read_ns = 45;
    write_rows(fixture, times_ns, 5);
    assert_seen(fixture, 1, 3);
    end(fixture);
}

static void test_no_read_at_the_exact_end_of_the_run(void **state)
{
    (void)state;
    static const int64_t times_ns[] = {10};
    for (int64_t late = 0; late < 2; late++) {
        struct fixture *fixture = begin(9);
        fixture->key.next_read_ns = 99 + late;
        write_rows(fixture, times_ns, 1);
        lab_key_end(&fixture->key, 100);
        assert_seen(fixture, late == 0, late == 0);
        end(fixture);
    }
}

/* The key has no birth to walk back to: one partition is queried, and is empty. */
static void test_read_of_a_key_without_rows_makes_one_request(void **state)
{
    (void)state;
    static const char *const strategies[] = {"unbucketed: {}", "count: {rows: 1, counter: external}",
                                             "time: {window: 1us}"};
    for (size_t i = 0; i < 3; i++) {
        struct fixture *fixture = begin_with(strategies[i], 9);
        fixture->key.next_read_ns = 5000;
        lab_key_end(&fixture->key, 6000);
        assert_seen(fixture, 1, 0);
        assert_int_equal(fixture->worker->tallies[0].reads.partitions.sum, 1);
        end(fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_sees_the_rows_of_its_own_nanosecond),
        cmocka_unit_test(test_read_at_the_end_of_a_batch_waits_for_the_next),
        cmocka_unit_test(test_read_between_batches_sees_the_first_only),
        cmocka_unit_test(test_read_takes_no_more_rows_than_it_wants),
        cmocka_unit_test(test_no_read_at_the_exact_end_of_the_run),
        cmocka_unit_test(test_read_of_a_key_without_rows_makes_one_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
