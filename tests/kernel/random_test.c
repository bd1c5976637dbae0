/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the generator is xoshiro256++, a stream depends only on (seed, purpose, entity), and integers are
 * drawn without bias. Method: known answers from the authors' own program, golden first draws of derived
 * streams, and counts within 8 standard deviations (false alarm below 1e-13 each). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_random_known_state_gives_known_answers(void **state)
{
    (void)state;
    static const uint64_t wanted[] = {UINT64_C(41943041),
                                      UINT64_C(58720359),
                                      UINT64_C(3588806011781223),
                                      UINT64_C(3591011842654386),
                                      UINT64_C(9228616714210784205),
                                      UINT64_C(9973669472204895162),
                                      UINT64_C(14011001112246962877),
                                      UINT64_C(12406186145184390807),
                                      UINT64_C(15849039046786891736),
                                      UINT64_C(10450023813501588000)};
    struct sim_random random = {{1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_true(sim_random_next(&random) == wanted[i]);
}

/* The first outputs of the authors' splitmix64 from state 0, which adds its constant before it mixes. */
static void test_mix_is_that_of_splitmix64(void **state)
{
    (void)state;
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    assert_true(sim_mix64(golden) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(sim_mix64(2 * golden) == UINT64_C(0x6e789e6aa1b965f4));
    assert_true(sim_mix64(3 * golden) == UINT64_C(0x06c45d188009454f));
    assert_true(sim_mix64(0) == 0);
    assert_true(sim_rotl64(UINT64_C(0x8000000000000001), 1) == 3);
}

static void test_random_streams_keep_their_first_draws(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        enum sim_purpose purpose;
        uint64_t entity, hash, first;
    } golden[] = {
        {0, SIM_ARRIVAL, 0, UINT64_C(0xb0d3487f2fe0ae1a), UINT64_C(0x1175da8da789ceb4)},
        {1, SIM_ARRIVAL, 0, UINT64_C(0xe73df50fd658d62a), UINT64_C(0x9d7a4fcb29fe891f)},
        {1, SIM_ARRIVAL, 1, UINT64_C(0x5a0eb1e2a9c71e71), UINT64_C(0xba063262274d8fa6)},
        {1, SIM_ROW_ID, 0, UINT64_C(0x8807e245216124a4), UINT64_C(0x9baffc6adc96c1f6)},
        {UINT64_MAX, SIM_RING, UINT64_MAX, UINT64_C(0x75466a6162274d20), UINT64_C(0x70deab57b266b847)},
    };
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        struct sim_random random;
        uint64_t hash = sim_hash(golden[i].seed, golden[i].purpose, golden[i].entity);
        sim_random_init(&random, golden[i].seed, golden[i].purpose, golden[i].entity);
        uint64_t first = sim_random_next(&random);
        if (hash != golden[i].hash || first != golden[i].first)
            fail_msg("stream %zu: 0x%016" PRIx64 " 0x%016" PRIx64, i, hash, first);
    }
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void test_random_neighbouring_streams_are_all_different(void **state)
{
    (void)state;
    enum { SEEDS = 8, PURPOSES = 8, ENTITIES = 1024, COUNT = SEEDS * PURPOSES * ENTITIES };
    static uint64_t words[4 * COUNT];
    size_t count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int purpose = 0; purpose < PURPOSES; purpose++) {
            for (uint64_t entity = 0; entity < ENTITIES; entity++) {
                struct sim_random random;
                sim_random_init(&random, seed, (enum sim_purpose)purpose, entity);
                memcpy(words + count, random.s, sizeof random.s);
                count += 4;
            }
        }
    }
    /* No word occurs twice in all states, so no stream is a shifted copy of another. */
    qsort(words, count, sizeof *words, compare_u64);
    for (size_t i = 1; i < count; i++)
        assert_true(words[i] != words[i - 1]);
    assert_true(words[0] != 0);
}

static int popcount(uint64_t x)
{
    int count = 0;
    for (; x != 0; x &= x - 1)
        count++;
    return count;
}

static void check_half_of_bits_differ(struct sim_random a, struct sim_random b)
{
    enum { DRAWS = 2000 };
    double differing = 0;
    for (int i = 0; i < DRAWS; i++)
        differing += popcount(sim_random_next(&a) ^ sim_random_next(&b));
    assert_true(fabs(differing - 32.0 * DRAWS) <= 8 * sqrt(16.0 * DRAWS));
}

static void test_random_neighbouring_streams_are_unrelated(void **state)
{
    (void)state;
    for (uint64_t entity = 0; entity < 64; entity++) {
        struct sim_random random, other_entity, other_seed, other_purpose, exchanged;
        sim_random_init(&random, 3, SIM_ROW_ID, entity);
        sim_random_init(&other_entity, 3, SIM_ROW_ID, entity + 1);
        sim_random_init(&other_seed, 4, SIM_ROW_ID, entity);
        sim_random_init(&other_purpose, 3, SIM_ROW_BYTES, entity);
        sim_random_init(&exchanged, entity + 100, SIM_ROW_ID, 3);
        check_half_of_bits_differ(random, other_entity);
        check_half_of_bits_differ(random, other_seed);
        check_half_of_bits_differ(random, other_purpose);
        check_half_of_bits_differ(random, exchanged);
    }
    /* Any number of draws for one purpose leaves the stream of another purpose unchanged. */
    struct sim_random a, b, again;
    sim_random_init(&a, 9, SIM_ARRIVAL, 5);
    sim_random_init(&b, 9, SIM_BURST, 5);
    for (int i = 0; i < 100; i++)
        sim_random_next(&a);
    sim_random_init(&again, 9, SIM_BURST, 5);
    assert_true(sim_random_next(&b) == sim_random_next(&again));
}

static void test_unit_is_a_multiple_of_2_to_minus_53_below_1(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 5, SIM_ARRIVAL, 0);
    double sum = 0, squares = 0;
    enum { DRAWS = 1000000 };
    for (int i = 0; i < DRAWS; i++) {
        double unit = sim_random_unit(&random);
        assert_true(unit >= 0 && unit < 1 && unit * 0x1p53 == floor(unit * 0x1p53));
        sum += unit;
        squares += unit * unit;
    }
    assert_true(fabs(sum / DRAWS - 0.5) <= 8 * sqrt(1.0 / 12 / DRAWS));
    assert_true(fabs(squares / DRAWS - 1.0 / 3) <= 8 * sqrt(4.0 / 45 / DRAWS));
    /* The state whose next draw has all bits set, which gives the largest unit. */
    struct sim_random full = {{UINT64_MAX, 0, 0, 1}};
    assert_true(sim_random_unit(&full) == 1 - 0x1p-53);
}

static void test_below_stays_in_range(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 6, SIM_ARRIVAL, 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t n = 1 + (sim_random_next(&random) >> sim_random_below(&random, 64)) % UINT64_MAX;
        assert_true(sim_random_below(&random, n) < n);
        assert_true(sim_random_below(&random, 1) == 0);
        assert_true(sim_random_below(&random, UINT64_MAX) < UINT64_MAX);
    }
}

static void test_below_small_and_large_ranges_are_unbiased(void **state)
{
    (void)state;
    enum { DRAWS = 600000 };
    struct sim_random random;
    sim_random_init(&random, 7, SIM_ARRIVAL, 0);
    double counts[6] = {0};
    for (int i = 0; i < DRAWS; i++)
        counts[sim_random_below(&random, 6)]++;
    for (int i = 0; i < 6; i++)
        assert_true(fabs(counts[i] - DRAWS / 6.0) <= 8 * sqrt(DRAWS * 5 / 36.0));
    /* Below 3 * 2^62, a plain multiplication would give the multiples of 3 half of the draws. */
    double thirds[3] = {0};
    for (int i = 0; i < DRAWS; i++)
        thirds[sim_random_below(&random, UINT64_C(3) << 62) % 3]++;
    for (int i = 0; i < 3; i++)
        assert_true(fabs(thirds[i] - DRAWS / 3.0) <= 8 * sqrt(DRAWS * 2 / 9.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_known_state_gives_known_answers),
        cmocka_unit_test(test_mix_is_that_of_splitmix64),
        cmocka_unit_test(test_random_streams_keep_their_first_draws),
        cmocka_unit_test(test_random_neighbouring_streams_are_all_different),
        cmocka_unit_test(test_random_neighbouring_streams_are_unrelated),
        cmocka_unit_test(test_unit_is_a_multiple_of_2_to_minus_53_below_1),
        cmocka_unit_test(test_below_stays_in_range),
        cmocka_unit_test(test_below_small_and_large_ranges_are_unbiased),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
