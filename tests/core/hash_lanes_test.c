/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the consistent hash puts an input into the same bucket whatever registers a processor has. Method: the
 * source is included, and the walks of each width that this processor supports are compared with single
 * walks: of random inputs, and of inputs whose first quotient is nearly a whole number, or nearly ends the
 * walk. The hashes of ids are compared in the same way. */
#include "hash.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#ifdef __SSE2__

static uint64_t drawn = 7;

static uint64_t draw_bits(void)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return drawn ^ drawn >> 29;
}

/* An input whose first draw is this one. */
static uint64_t input_of(uint64_t draw)
{
    uint64_t back = 1, state = (draw - 1) << 33 | draw_bits() >> 31;
    for (int i = 0; i < 6; i++) /* Newton's steps to the inverse of WALK_FACTOR */
        back *= 2 - WALK_FACTOR * back;
    return (state - 1) * back;
}

static void check(walk_lanes *walks, const uint64_t *inputs, size_t count, uint32_t buckets)
{
    int32_t out[WALKS_AT_ONCE + 1];
    out[count] = -7; /* nothing is written after the last element */
    walks(inputs, count, buckets, out);
    assert_int_equal(out[count], -7);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(out[i], bk_consistent_hash(inputs[i], buckets));
}

static void check_all(walk_lanes *walks)
{
    static const uint32_t some[] = {1, 2, 3, 7, 255, 256, 1000, 16383, 16384};
    uint64_t inputs[WALKS_AT_ONCE];
    for (size_t j = 0; j < sizeof some / sizeof *some; j++) {
        for (size_t count = 0; count <= WALKS_AT_ONCE; count += count < 70 ? 1 : 17) {
            for (size_t i = 0; i < count; i++)
                inputs[i] = draw_bits();
            check(walks, inputs, count, some[j]);
        }
        for (uint64_t quotient = 1; quotient <= some[j] + 1; quotient += quotient < 300 ? 1 : 97) {
            for (int64_t i = 0; i < 80; i++) {
                int64_t off = i < 40 ? i - 20 : (i - 60) * 61;
                inputs[i] = input_of(UINT64_C(0x80000000) / quotient + (uint64_t)off);
            }
            check(walks, inputs, 80, some[j]);
        }
    }
}

static void test_walks_of_each_width_equal_those_one_by_one(void **state)
{
    (void)state;
    check_all(walk_lanes_4);
    if (__builtin_cpu_supports("avx2"))
        check_all(walk_lanes_8);
    if (__builtin_cpu_supports("avx512dq"))
        check_all(walk_lanes_16);
}

static void check_hashes(size_t (*hash)(const uint64_t *, size_t, uint64_t *), size_t lanes)
{
    uint64_t ids[100], hashes[101];
    for (size_t count = 0; count <= 100; count++) {
        for (size_t i = 0; i < count; i++)
            ids[i] = i % 3 == 0 ? i : draw_bits();
        hashes[count] = 7; /* nothing is written after the last element */
        assert_int_equal(hash(ids, count, hashes), count - count % (lanes / 2));
        assert_int_equal(hashes[count], 7);
        for (size_t i = 0; i < count - count % (lanes / 2); i++)
            assert_true(hashes[i] == hash_id(ids[i]));
    }
}

static void test_ids_of_each_width_are_hashed_as_one_by_one(void **state)
{
    (void)state;
    if (__builtin_cpu_supports("avx2"))
        check_hashes(hash_lanes_8, 8);
    if (__builtin_cpu_supports("avx512dq"))
        check_hashes(hash_lanes_16, 16);
}

#endif

/* In double precision a quotient that is nearly whole is correct. */
static void test_walks_in_double_precision_equal_those_one_by_one(void **state)
{
    (void)state;
    uint64_t inputs[200];
    int32_t out[200];
    for (uint32_t buckets = 1; buckets < 100000; buckets = buckets * 3 + 1) {
        for (size_t i = 0; i < 200; i++)
            inputs[i] = (i + buckets) * UINT64_C(0x9e3779b97f4a7c15);
        walk_together(inputs, 200, buckets, out);
        for (size_t i = 0; i < 200; i++)
            assert_int_equal(out[i], bk_consistent_hash(inputs[i], buckets));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef __SSE2__
        cmocka_unit_test(test_walks_of_each_width_equal_those_one_by_one),
        cmocka_unit_test(test_ids_of_each_width_are_hashed_as_one_by_one),
#endif
        cmocka_unit_test(test_walks_in_double_precision_equal_those_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
