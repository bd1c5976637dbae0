/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the placement digest changes with every decision and with nothing else. Method: random placements, in
 * which one row's bucket, the order, the key's index or the number of rows is changed, or the same rows are
 * added in other batches and the keys in another order; and golden values, since digests are stored and
 * compared between versions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/digest.h"

#include <inttypes.h>

#define ROWS 200

static void draw_buckets(struct sim_random *random, int64_t *buckets)
{
    int64_t bucket = (int64_t)sim_random_below(random, 7) - 3;
    for (int i = 0; i < ROWS; i++) {
        if (sim_random_below(random, 10) == 0)
            bucket += (int64_t)sim_random_below(random, 5) - 2;
        buckets[i] = bucket;
    }
}

static uint64_t digest_of(const int64_t *buckets, int rows, uint64_t key_index)
{
    struct sim_placement placement = {0};
    for (int i = 0; i < rows; i++)
        sim_placement_add(&placement, buckets[i], 1);
    return sim_placement_finish(&placement, key_index);
}

static void test_placement_reported_in_other_parts_is_the_same(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    for (int run = 0; run < 500; run++) {
        int64_t buckets[ROWS];
        draw_buckets(&random, buckets);
        struct sim_placement placement = {0};
        for (int i = 0; i < ROWS;) {
            int longest = 1;
            while (i + longest < ROWS && buckets[i + longest] == buckets[i])
                longest++;
            int part = run == 0 ? longest : 1 + (int)sim_random_below(&random, (uint64_t)longest);
            sim_placement_add(&placement, buckets[i], (uint64_t)part);
            i += part;
        }
        assert_true(sim_placement_finish(&placement, 5) == digest_of(buckets, ROWS, 5));
    }
}

static void test_placement_any_change_changes_the_digest(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 2, SIM_ARRIVAL, 0);
    for (int run = 0; run < 50; run++) {
        int64_t buckets[ROWS];
        draw_buckets(&random, buckets);
        uint64_t digest = digest_of(buckets, ROWS, 5);
        for (int i = 0; i < ROWS; i++) {
            int64_t kept = buckets[i];
            for (int64_t other = kept - 2; other <= kept + 2; other++) {
                buckets[i] = other;
                assert_int_equal(digest_of(buckets, ROWS, 5) == digest, other == kept);
            }
            buckets[i] = kept;
            if (i > 0 && buckets[i - 1] != kept) {
                buckets[i] = buckets[i - 1];
                buckets[i - 1] = kept;
                assert_true(digest_of(buckets, ROWS, 5) != digest);
                buckets[i - 1] = buckets[i];
                buckets[i] = kept;
            }
            assert_true(digest_of(buckets, i, 5) != digest);
        }
        assert_true(digest_of(buckets, ROWS, 4) != digest && digest_of(buckets, ROWS, 6) != digest);
        /* Moving all buckets alike gives another placement. */
        for (int i = 0; i < ROWS; i++)
            buckets[i]++;
        assert_true(digest_of(buckets, ROWS, 5) != digest);
    }
}

static void test_placement_keys_merge_in_any_order(void **state)
{
    (void)state;
    enum { KEYS = 100 };
    struct sim_random random;
    sim_random_init(&random, 3, SIM_ARRIVAL, 0);
    uint64_t parts[KEYS], forward = 0, backward = 0, halves[2] = {0, 0};
    static int64_t buckets[KEYS][ROWS];
    for (int key = 0; key < KEYS; key++) {
        draw_buckets(&random, buckets[key]);
        parts[key] = digest_of(buckets[key], ROWS, (uint64_t)key);
        forward += parts[key];
        halves[sim_random_below(&random, 2)] += parts[key];
    }
    for (int key = KEYS - 1; key >= 0; key--)
        backward += parts[key];
    assert_true(forward == backward && forward == halves[0] + halves[1]);
    /* Two keys that exchange their rows give another digest. */
    uint64_t exchanged =
        forward - parts[3] - parts[4] + digest_of(buckets[3], ROWS, 4) + digest_of(buckets[4], ROWS, 3);
    assert_true(exchanged != forward);
    /* A key without rows does not contribute. */
    assert_true(digest_of(buckets[0], 0, 7) == 0);
}

static void test_chain_depends_on_value_and_order(void **state)
{
    (void)state;
    uint64_t ab = sim_digest_chain(sim_digest_chain(0, 1), 2),
             ba = sim_digest_chain(sim_digest_chain(0, 2), 1);
    assert_true(ab != ba);
    assert_true(ab != sim_digest_chain(sim_digest_chain(0, 1), 3));
    assert_true(ab != sim_digest_chain(sim_digest_chain(sim_digest_chain(0, 0), 1), 2));
    assert_true(sim_digest_chain(0, 0) != 0);
}

static void test_digest_golden_values_are_unchanged(void **state)
{
    (void)state;
    struct sim_placement placement = {0};
    sim_placement_add(&placement, 0, 1000);
    sim_placement_add(&placement, 1, 1);
    sim_placement_add(&placement, INT64_MIN, UINT64_C(1) << 40);
    uint64_t got[2] = {sim_placement_finish(&placement, 12),
                       sim_digest_chain(sim_digest_chain(0, 7), UINT64_MAX)};
    if (got[0] != UINT64_C(0x3ce8b41a64eceea7) || got[1] != UINT64_C(0xac99d5038b37716c))
        fail_msg("digests 0x%016" PRIx64 " 0x%016" PRIx64, got[0], got[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_placement_reported_in_other_parts_is_the_same),
        cmocka_unit_test(test_placement_any_change_changes_the_digest),
        cmocka_unit_test(test_placement_keys_merge_in_any_order),
        cmocka_unit_test(test_chain_depends_on_value_and_order),
        cmocka_unit_test(test_digest_golden_values_are_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
