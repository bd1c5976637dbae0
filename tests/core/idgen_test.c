/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a client of leased identifiers draws its stripes and waits as configured; what it requests is in
 * tests/core/scripts/idgen.txt. Method: its actions, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bucketing/idgen.h"

static const struct bk_idgen_config plain = {
    .client_id = 7,
    .batch = 3,
    .stripes = 1,
    .stripe = 1,
    .lock_lasts_ns = 100,
    .lease_ns = 50,
    .backoff_base_ns = 10,
    .retries = 1,
};

/* Takes an identifier that does not exist yet, and answers up to the columns of the lock row. */
static void read_lock_row(struct bk_idgen *idgen, const struct bk_idgen_config *config, int64_t now_ns,
                          int64_t own_until_ns)
{
    const struct bk_idgen_column own = {7, own_until_ns};
    const struct bk_idgen_outcome done = {.kind = BK_IDGEN_APPLIED};
    const struct bk_idgen_outcome row = {
        .kind = BK_IDGEN_APPLIED, .columns = &own, .column_count = own_until_ns != 0};
    struct bk_idgen_action action;
    int64_t id;
    assert_int_equal(bk_idgen_init(config, idgen), BK_OK);
    assert_int_equal(bk_idgen_take(idgen, now_ns, &id), BK_ERROR_EMPTY);
    assert_true(bk_idgen_next(idgen, &action) && action.kind == BK_IDGEN_WRITE_COLUMN);
    assert_int_equal(bk_idgen_report(idgen, now_ns, action.ticket, &done), BK_OK);
    assert_true(bk_idgen_next(idgen, &action) && action.kind == BK_IDGEN_READ_COLUMNS);
    assert_int_equal(bk_idgen_report(idgen, now_ns, action.ticket, &row), BK_OK);
}

static void test_stripes_at_random_come_about_equally_often(void **state)
{
    (void)state;
    /* 8000 draws over 5 stripes: a count is off by 400 with a chance of 2 Q(400 / sqrt(1280)) < 1e-27. */
    uint32_t counts[5] = {0};
    for (uint64_t client = 1; client <= 8000; client++) {
        struct bk_idgen_config config = plain;
        config.client_id = client;
        config.stripes = 5;
        config.stripe = 0;
        config.choice = BK_IDGEN_RANDOM;
        struct bk_idgen idgen;
        struct bk_idgen_action action;
        int64_t id;
        assert_int_equal(bk_idgen_init(&config, &idgen), BK_OK);
        assert_int_equal(bk_idgen_take(&idgen, 0, &id), BK_ERROR_EMPTY);
        assert_true(bk_idgen_next(&idgen, &action));
        counts[action.stripe - 1]++;
    }
    for (int i = 0; i < 5; i++)
        assert_in_range(counts[i], 1200, 2000);
}

static void test_a_last_identifier_of_another_stripe_is_refused(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.stripes = 5;
    config.stripe = 2;
    static const int64_t wrong[] = {-3, 0, 1, 8, INT64_MIN + 5};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bk_idgen idgen;
        struct bk_idgen_action action;
        const struct bk_idgen_outcome last = {.kind = BK_IDGEN_APPLIED, .found = true, .values = {wrong[i]}};
        read_lock_row(&idgen, &config, 1000, 1100);
        assert_true(bk_idgen_next(&idgen, &action) && action.kind == BK_IDGEN_READ_LAST);
        assert_int_equal(bk_idgen_report(&idgen, 1000, action.ticket, &last), BK_OK);
        assert_true(bk_idgen_next(&idgen, &action) && action.kind == BK_IDGEN_DELETE_COLUMNS);
        const struct bk_idgen_outcome deleted = {.kind = BK_IDGEN_APPLIED};
        assert_int_equal(bk_idgen_report(&idgen, 1001, action.ticket, &deleted), BK_OK);
        assert_true(bk_idgen_next(&idgen, &action));
        assert_int_equal(action.kind, BK_IDGEN_FAILED);
        assert_int_equal(action.status, BK_ERROR_LAST);
    }
}

/* The waits of a client that never finds its column to be the only one. */
static void waits_of(const struct bk_idgen_config *config, int count, const char *expected)
{
    const struct bk_idgen_column other = {8, INT64_MAX};
    const struct bk_idgen_outcome row = {.kind = BK_IDGEN_APPLIED, .columns = &other, .column_count = 1};
    struct bk_idgen idgen;
    struct bk_idgen_action action;
    int64_t now_ns = 0, id;
    char text[256];
    size_t length = 0;
    assert_int_equal(bk_idgen_init(config, &idgen), BK_OK);
    assert_int_equal(bk_idgen_take(&idgen, now_ns, &id), BK_ERROR_EMPTY);
    while (count-- > 0) {
        assert_true(bk_idgen_next(&idgen, &action));
        for (int i = 0; i < 3; i++) {
            assert_int_equal(bk_idgen_report(&idgen, now_ns, action.ticket, &row), BK_OK);
            if (bk_idgen_next(&idgen, &action) && action.kind == BK_IDGEN_FAILED)
                length += (size_t)snprintf(text + length, sizeof text - length, " failed");
        }
        int64_t next_ns = bk_idgen_deadline(&idgen);
        if (next_ns == INT64_MAX)
            break;
        length +=
            (size_t)snprintf(text + length, sizeof text - length, " %lld", (long long)(next_ns - now_ns));
        now_ns = next_ns;
        assert_int_equal(bk_idgen_tick(&idgen, now_ns), BK_OK);
    }
    assert_string_equal(text, expected);
}

static void test_back_off_constant_and_exponential(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    waits_of(&config, 4, " 10 10 10 10");
    config.attempts = 3;
    waits_of(&config, 9, " 10 10 failed");
    config.backoff = BK_IDGEN_EXPONENTIAL;
    config.attempts = 0;
    waits_of(&config, 5, " 10 20 40 80 160");
    config.backoff_limit_ns = 50;
    waits_of(&config, 5, " 10 20 40 failed");
    config.backoff_cap_ns = 50;
    waits_of(&config, 6, " 10 20 40 50 50 50");
}

/* A wait that would overflow is infinite; the next attempt then never comes. */
static void test_back_off_does_not_overflow(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.backoff = BK_IDGEN_EXPONENTIAL;
    config.backoff_base_ns = 3;
    struct bk_idgen idgen;
    int64_t id;
    struct bk_idgen_action action;
    assert_int_equal(bk_idgen_init(&config, &idgen), BK_OK);
    assert_int_equal(bk_idgen_take(&idgen, 0, &id), BK_ERROR_EMPTY);
    for (int n = 1; n <= 70; n++) {
        assert_true(bk_idgen_next(&idgen, &action));
        for (int i = 0; i < 2; i++) {
            assert_int_equal(bk_idgen_report(&idgen, -1, action.ticket,
                                             &(struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED}),
                             BK_OK);
            assert_true(bk_idgen_next(&idgen, &action));
        }
        assert_int_equal(action.kind, BK_IDGEN_DELETE_COLUMNS);
        assert_int_equal(
            bk_idgen_report(&idgen, 0, action.ticket, &(struct bk_idgen_outcome){.kind = BK_IDGEN_APPLIED}),
            BK_OK);
        int64_t wait_ns =
            n <= 62 && INT64_C(1) << (n - 1) <= INT64_MAX / 3 ? 3 * (INT64_C(1) << (n - 1)) : INT64_MAX;
        assert_int_equal(bk_idgen_deadline(&idgen), wait_ns);
        assert_int_equal(bk_idgen_tick(&idgen, wait_ns - 1), BK_OK);
        assert_false(bk_idgen_next(&idgen, &action));
        assert_int_equal(bk_idgen_tick(&idgen, INT64_MAX), BK_OK);
    }
}

static void test_back_off_random_is_drawn_once_a_lease_and_multiplied(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.backoff = BK_IDGEN_RANDOM_TIMES;
    config.backoff_base_ns = 1000;
    config.backoff_limit_ns = 2000;
    waits_of(&config, 20, " 420 840 1260 1680 failed");
    config.client_id = 9; /* another client draws another wait */
    waits_of(&config, 20, " 594 1188 1782 failed");
}

/* A failure that the host did not fetch ends with the next take. */
static void test_a_take_after_a_failure_begins_anew(void **state)
{
    (void)state;
    struct bk_idgen_config config = plain;
    config.attempts = 1;
    struct bk_idgen idgen;
    struct bk_idgen_action action;
    int64_t id;
    read_lock_row(&idgen, &config, 1000, 0);
    assert_true(bk_idgen_next(&idgen, &action) && action.kind == BK_IDGEN_DELETE_COLUMNS);
    const struct bk_idgen_outcome deleted = {.kind = BK_IDGEN_APPLIED};
    assert_int_equal(bk_idgen_report(&idgen, 1003, action.ticket, &deleted), BK_OK);
    assert_int_equal(bk_idgen_take(&idgen, 1004, &id), BK_ERROR_EMPTY);
    assert_true(bk_idgen_next(&idgen, &action) && action.kind == BK_IDGEN_WRITE_COLUMN);
    assert_int_equal(action.columns[0].until_ns, 1104);
    assert_false(bk_idgen_next(&idgen, &action));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stripes_at_random_come_about_equally_often),
        cmocka_unit_test(test_a_last_identifier_of_another_stripe_is_refused),
        cmocka_unit_test(test_back_off_constant_and_exponential),
        cmocka_unit_test(test_back_off_does_not_overflow),
        cmocka_unit_test(test_back_off_random_is_drawn_once_a_lease_and_multiplied),
        cmocka_unit_test(test_a_take_after_a_failure_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
