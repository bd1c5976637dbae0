/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: sizes of every rank are found, in a list, beyond its end, and after a merge. Method: random sizes of
 * several ranges, with and without repetitions, are sorted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../share.h"
#include "kernel/random.h"
#include "lab/histogram.h"

#define RANKS 40

static int from_largest(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one < other) - (one > other);
}

static void check(uint64_t seed, size_t count, unsigned bits)
{
    struct sim_random random;
    struct lab_sizes parts[2] = {0};
    uint64_t *all = malloc(count * sizeof *all), ranks[RANKS], found[RANKS];
    assert_non_null(all);
    sim_random_init(&random, seed, SIM_ROW_BYTES, 0);
    for (size_t i = 0; i < count; i++) {
        all[i] = sim_random_next(&random) >> (64 - bits);
        lab_sizes_add(&parts[i % 3 == 0], all[i]);
    }
    lab_sizes_merge(&parts[0], &parts[1]);
    qsort(all, count, sizeof *all, from_largest);
    for (size_t i = 0; i < RANKS; i++)
        ranks[i] = i == 0 ? 1 : i == 1 ? count : 1 + sim_random_below(&random, count);
    assert_true(lab_sizes_find(&parts[0], ranks, RANKS, found));
    for (size_t i = 0; i < RANKS; i++)
        assert_int_equal(found[i], all[ranks[i] - 1]);
    lab_sizes_clear(&parts[0]);
    lab_sizes_clear(&parts[1]);
    free(all);
}

static void test_size_of_each_rank_is_found(void **state)
{
    const uint64_t step = test_share() > 1 ? 3 : 1; /* at least the narrowest and the widest */
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed += test_share())
        check(seed, 1 + seed * seed / 4, 1 + (unsigned)seed % 64);
    for (uint64_t seed = 0; seed < 4; seed += step)
        check(seed, 600000, 6 + 3 * (unsigned)seed); /* more sizes than a list takes, but few distinct ones */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_size_of_each_rank_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
