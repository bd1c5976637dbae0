/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a histogram reports what a list of the same sizes gives, exactly or rounded as its header guarantees,
 * and does not depend on how its parts were combined. Method: random sizes go into a histogram and into a
 * plain list; the sums of the list, computed one by one, must equal those of the histogram. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/random.h"
#include "lab/histogram.h"

#define WIDE_MAX (~(lab_wide)0)

struct sizes {
    uint64_t *items;
    size_t count;
};

static struct sizes draw_sizes(uint64_t seed, size_t count, uint64_t below)
{
    struct sim_random random;
    struct sizes sizes = {malloc(count * sizeof *sizes.items), count};
    assert_non_null(sizes.items);
    sim_random_init(&random, seed, SIM_ROW_BYTES, 0);
    for (size_t i = 0; i < count; i++)
        sizes.items[i] = sim_random_below(&random, below);
    return sizes;
}

/* Enough sizes to be rounded: 0, 3, 6 ..., in a scattered order. */
static struct sizes many_sizes(size_t count)
{
    struct sizes sizes = {malloc(count * sizeof *sizes.items), count};
    assert_non_null(sizes.items);
    for (size_t i = 0; i < count; i++)
        sizes.items[i] = 3 * ((i * 7919) % count);
    return sizes;
}

static void add_all(struct lab_histogram *histogram, const struct sizes *sizes, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        lab_histogram_add(histogram, sizes->items[i], 1, sizes->items[i] % 7);
}

static int compare_sizes(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void assert_same_figures(const struct lab_histogram *a, const struct lab_histogram *b)
{
    assert_int_equal(a->is_rounded, b->is_rounded);
    assert_int_equal(a->out_of_memory, b->out_of_memory);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->weight, b->weight);
    assert_int_equal(a->least, b->least);
    assert_int_equal(a->most, b->most);
    assert_true(a->sum == b->sum && a->sum_of_squares == b->sum_of_squares);
    assert_true(a->weighted_sum == b->weighted_sum &&
                a->weighted_sum_of_squares == b->weighted_sum_of_squares);
}

static void assert_same(const struct lab_histogram *a, const struct lab_histogram *b)
{
    size_t a_count, b_count;
    struct lab_bin *a_bins = lab_histogram_sorted(a, &a_count), *b_bins = lab_histogram_sorted(b, &b_count);
    assert_same_figures(a, b);
    assert_int_equal(a_count, b_count);
    if (a_count > 0)
        assert_memory_equal(a_bins, b_bins, a_count * sizeof *a_bins);
    free(a_bins);
    free(b_bins);
}

/* Compares every figure, and the numbers of partitions and rows at or below each bin. */
static void assert_is_of(const struct lab_histogram *histogram, struct sizes *sizes)
{
    lab_wide sum = 0, squares = 0, weighted = 0, weighted_squares = 0;
    uint64_t weight = 0;
    qsort(sizes->items, sizes->count, sizeof *sizes->items, compare_sizes);
    for (size_t i = 0; i < sizes->count; i++) {
        uint64_t size = sizes->items[i];
        sum += size;
        squares += (lab_wide)size * size;
        weighted += (lab_wide)size * (size % 7);
        weighted_squares += (lab_wide)size * size * (size % 7);
        weight += size % 7;
    }
    assert_int_equal(histogram->count, sizes->count);
    assert_int_equal(histogram->weight, weight);
    assert_int_equal(histogram->least, sizes->items[0]);
    assert_int_equal(histogram->most, sizes->items[sizes->count - 1]);
    assert_true(histogram->sum == sum && histogram->sum_of_squares == squares);
    assert_true(histogram->weighted_sum == weighted &&
                histogram->weighted_sum_of_squares == weighted_squares);

    size_t bin_count, at = 0;
    struct lab_bin *bins = lab_histogram_sorted(histogram, &bin_count);
    assert_int_equal(bin_count, histogram->used);
    for (size_t i = 0; i < bin_count; i++) {
        struct lab_bin bin = {bins[i].size, 0, 0};
        for (; at < sizes->count && sizes->items[at] <= bin.size; at++) {
            uint64_t size = sizes->items[at], excess = bin.size - size;
            assert_true(excess == 0 || (histogram->is_rounded && size > 4096 && excess * 2048 < size));
            bin.count++;
            bin.weight += size % 7;
        }
        assert_memory_equal(&bins[i], &bin, sizeof bin);
    }
    assert_int_equal(at, sizes->count);
    free(bins);
}

static void test_histogram_empty_has_nothing(void **state)
{
    (void)state;
    struct lab_histogram histogram, other;
    size_t count = 9;
    lab_histogram_init(&histogram);
    lab_histogram_init(&other);
    lab_histogram_add(&histogram, 12, 0, 5);
    lab_histogram_merge(&histogram, &other);
    assert_null(lab_histogram_sorted(&histogram, &count));
    assert_int_equal(count, 0);
    assert_same_figures(&histogram, &other);
}

static void test_histogram_of_few_sizes_is_exact(void **state)
{
    (void)state;
    struct sizes sizes = draw_sizes(1, 30000, 20000);
    struct lab_histogram histogram;
    lab_histogram_init(&histogram);
    add_all(&histogram, &sizes, 0, sizes.count);
    assert_false(histogram.is_rounded);
    assert_is_of(&histogram, &sizes);
    lab_histogram_clear(&histogram);
    free(sizes.items);
}

/* Sizes of any number of bytes, and any number of sizes with the same upper bytes. */
static void test_histogram_sorts_sizes_of_any_width(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits < 64; bits++) {
        struct sizes sizes = draw_sizes(bits, 1 + bits * bits, UINT64_C(1) << bits);
        struct lab_histogram histogram;
        lab_histogram_init(&histogram);
        for (size_t i = 0; i < sizes.count; i++) {
            if (i % 2 == 1)
                sizes.items[i] = sizes.items[i - 1] ^ (sizes.items[i] & 255);
            lab_histogram_add(&histogram, sizes.items[i], 1, 1);
        }
        qsort(sizes.items, sizes.count, sizeof *sizes.items, compare_sizes);
        size_t count, at = 0;
        struct lab_bin *bins = lab_histogram_sorted(&histogram, &count);
        for (size_t i = 0; i < count; at += bins[i++].count)
            assert_true(at < sizes.count && bins[i].size == sizes.items[at] &&
                        bins[i].size == sizes.items[at + bins[i].count - 1]);
        assert_int_equal(at, sizes.count);
        free(bins);
        lab_histogram_clear(&histogram);
        free(sizes.items);
    }
}

/* Three MiB hold as many exact sizes as there may be, half of that nearly nine tenths of them. */
static void test_histogram_of_many_sizes_has_a_bound_on_memory(void **state)
{
    (void)state;
    struct lab_histogram histogram;
    lab_histogram_init(&histogram);
    for (uint64_t size = 0; size < LAB_HISTOGRAM_EXACT; size++) {
        lab_histogram_add(&histogram, 1000 + 7 * size, 1, 1);
        assert_true(histogram.slot_count > histogram.used);
        assert_true(histogram.slot_count <= LAB_HISTOGRAM_EXACT * (histogram.used <= 57344 ? 1 : 2));
    }
    assert_true(histogram.slot_count * sizeof *histogram.slots <= 3 << 20);
    lab_histogram_clear(&histogram);
}

static void test_histogram_rounds_once_sizes_exceed_its_capacity(void **state)
{
    (void)state;
    struct sizes sizes = many_sizes(LAB_HISTOGRAM_EXACT);
    struct lab_histogram histogram;
    lab_histogram_init(&histogram);
    add_all(&histogram, &sizes, 0, sizes.count);
    assert_false(histogram.is_rounded);
    assert_int_equal(histogram.used, LAB_HISTOGRAM_EXACT);
    /* A known size changes nothing; a new size starts the rounding. */
    lab_histogram_add(&histogram, 3, 1, 3);
    assert_false(histogram.is_rounded);
    lab_histogram_add(&histogram, 4, 1, 4);
    assert_true(histogram.is_rounded);
    assert_int_equal(histogram.count, LAB_HISTOGRAM_EXACT + 2);
    lab_histogram_clear(&histogram);
    free(sizes.items);
}

static void test_histogram_of_many_sizes_is_rounded_up_a_little(void **state)
{
    (void)state;
    struct sizes sizes = many_sizes(LAB_HISTOGRAM_EXACT + 20000);
    struct lab_histogram histogram;
    lab_histogram_init(&histogram);
    add_all(&histogram, &sizes, 0, sizes.count);
    assert_true(histogram.is_rounded);
    assert_true(histogram.used < 20000);
    assert_is_of(&histogram, &sizes);
    lab_histogram_clear(&histogram);
    free(sizes.items);
}

/* A power of two is a bin's own size, and the size after it goes to the next bin. */
static void test_histogram_rounded_bins_have_twelve_significant_bits(void **state)
{
    static const uint64_t cases[][2] = {{0, 0},
                                        {1, 1},
                                        {4095, 4095},
                                        {4096, 4096},
                                        {4097, 4098},
                                        {8190, 8190},
                                        {8191, 8192},
                                        {8192, 8192},
                                        {8193, 8196},
                                        {(UINT64_C(1) << 40) + 1, (UINT64_C(1) << 40) + (1 << 29)},
                                        {(UINT64_C(1) << 63) + 1, (UINT64_C(1) << 63) + (UINT64_C(1) << 52)},
                                        {UINT64_MAX - 1, UINT64_MAX},
                                        {UINT64_MAX, UINT64_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab_histogram histogram;
        lab_histogram_init(&histogram);
        histogram.is_rounded = true;
        lab_histogram_add(&histogram, cases[i][0], 1, 1);
        size_t count;
        struct lab_bin *bins = lab_histogram_sorted(&histogram, &count);
        assert_int_equal(count, 1);
        assert_int_equal(bins[0].size, cases[i][1]);
        assert_int_equal(histogram.most, cases[i][0]);
        free(bins);
        lab_histogram_clear(&histogram);
    }
}

/* For any split and any order: rounded in no part, in one, in all, or only in the union. */
static void test_histogram_merged_from_parts_is_that_of_the_whole(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 2, SIM_SPIKE, 0);
    for (int turn = 0; turn < 12; turn++) {
        struct sizes sizes = turn < 4 ? draw_sizes(3 + (uint64_t)turn, 20000, 5000)
                                      : many_sizes(LAB_HISTOGRAM_EXACT - 1 + (size_t)(turn / 4 - 1) * 70000);
        size_t cut_1 = sim_random_below(&random, sizes.count + 1);
        size_t cut_2 = cut_1 + sim_random_below(&random, sizes.count - cut_1 + 1);
        size_t cuts[4] = {0, cut_1, cut_2, sizes.count};
        struct lab_histogram whole, parts[3], merged;
        lab_histogram_init(&whole);
        lab_histogram_init(&merged);
        add_all(&whole, &sizes, 0, sizes.count);
        for (int i = 0; i < 3; i++) {
            lab_histogram_init(&parts[i]);
            add_all(&parts[i], &sizes, cuts[i], cuts[i + 1]);
        }
        for (int i = 0; i < 3; i++)
            lab_histogram_merge(&merged, &parts[(i + turn) % 3]);
        assert_same(&merged, &whole);
        lab_histogram_clear(&whole);
        lab_histogram_clear(&merged);
        for (int i = 0; i < 3; i++)
            lab_histogram_clear(&parts[i]);
        free(sizes.items);
    }
}

/* In batches with few and many sizes, with sizes above 2^32, and across the size from which on it is rounded.
 */
/* Parts of n sizes: 0, a few, some that are rounded only together, and some of which one is rounded. */
static void test_histogram_bins_of_both_are_those_of_the_merged_one(void **state)
{
    (void)state;
    static const size_t cuts[][2] = {{0, 0},          {0, 9},      {400, 900},
                                     {60000, 100000}, {5, 100000}, {99999, 100000}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        struct sizes sizes = i < 3 ? draw_sizes(i, 1000, 700) : many_sizes(100000);
        struct lab_histogram parts[2], merged, figures;
        lab_histogram_init(&merged);
        for (size_t part = 0; part < 2; part++) {
            lab_histogram_init(&parts[part]);
            add_all(&parts[part], &sizes, part == 0 ? 0 : cuts[i][0], cuts[i][part]);
            lab_histogram_merge(&merged, &parts[part]);
        }
        size_t count, merged_count;
        struct lab_bin *bins = lab_histogram_both(&parts[0], &parts[1], &figures, &count);
        struct lab_bin *merged_bins = lab_histogram_sorted(&merged, &merged_count);
        assert_same_figures(&figures, &merged);
        assert_int_equal(count, merged_count);
        if (count > 0)
            assert_memory_equal(bins, merged_bins, count * sizeof *bins);
        free(bins);
        free(merged_bins);
        for (size_t part = 0; part < 2; part++)
            lab_histogram_clear(&parts[part]);
        lab_histogram_clear(&merged);
        free(sizes.items);
    }
}

static void test_histogram_of_sizes_added_together_is_that_of_sizes_added_one_by_one(void **state)
{
    (void)state;
    static const uint64_t below[] = {50, UINT64_C(1) << 20, UINT64_C(1) << 31, UINT64_C(1) << 33, UINT64_MAX};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct sizes sizes = draw_sizes(seed, 70000, below[seed % 5]);
        struct lab_histogram one, each;
        lab_histogram_init(&one);
        lab_histogram_init(&each);
        lab_histogram_add_each(&each, sizes.items, 0);
        for (size_t i = 0, count = 0; i < sizes.count; i += count) {
            count = 1 + i % 127 < sizes.count - i ? 1 + i % 127 : sizes.count - i;
            lab_histogram_add_each(&each, sizes.items + i, count);
        }
        for (size_t i = 0; i < sizes.count; i++)
            lab_histogram_add(&one, sizes.items[i], 1, 1);
        assert_same(&one, &each);
        lab_histogram_clear(&one);
        lab_histogram_clear(&each);
        free(sizes.items);
    }
}

static void test_histogram_merge_keeps_loss_of_memory(void **state)
{
    (void)state;
    struct lab_histogram into, from;
    lab_histogram_init(&into);
    lab_histogram_init(&from);
    lab_histogram_add(&into, 1, 1, 1);
    lab_histogram_add(&from, 2, 1, 1);
    from.out_of_memory = true;
    lab_histogram_merge(&into, &from);
    assert_true(into.out_of_memory);
    from.out_of_memory = false;
    lab_histogram_merge(&into, &from);
    assert_true(into.out_of_memory);
    lab_histogram_clear(&into);
    lab_histogram_clear(&from);
}

static void test_histogram_sums_of_squares_stop_at_the_top(void **state)
{
    (void)state;
    const uint64_t size = UINT64_C(1) << 60, rows = UINT64_C(1) << 9;
    struct lab_histogram histogram, other;
    lab_histogram_init(&histogram);
    lab_histogram_init(&other);
    /* 2^120 for each partition, 2^129 for its rows: the product alone is too large. */
    lab_histogram_add(&histogram, size, 1, rows);
    assert_true(histogram.sum_of_squares == (lab_wide)1 << 120);
    assert_true(histogram.weighted_sum == (lab_wide)1 << 69);
    assert_true(histogram.weighted_sum_of_squares == WIDE_MAX);
    /* 255 of these fit, and the 256th makes the sum too large. */
    lab_histogram_add(&histogram, size, 254, 1);
    assert_true(histogram.sum_of_squares == (lab_wide)255 << 120);
    lab_histogram_add(&other, size, 1, 1);
    lab_histogram_merge(&other, &histogram);
    assert_true(other.sum_of_squares == WIDE_MAX && other.weighted_sum_of_squares == WIDE_MAX);
    lab_histogram_add(&histogram, size, 1, 1);
    assert_true(histogram.sum_of_squares == WIDE_MAX);
    /* The smallest size whose square times the largest number of rows is too large. */
    lab_histogram_clear(&other);
    lab_histogram_add(&other, (UINT64_C(1) << 32) + 1, 1, UINT64_MAX);
    assert_true(other.weighted_sum_of_squares == WIDE_MAX);
    /* A square near the maximum is still the sum for a single size. */
    lab_histogram_clear(&other);
    lab_histogram_add(&other, UINT64_MAX, 1, 1);
    assert_true(other.sum_of_squares == (lab_wide)UINT64_MAX * UINT64_MAX);
    lab_histogram_clear(&other);
    lab_histogram_clear(&histogram);
}

static void test_histogram_restored_from_its_bins_is_the_same(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        struct sizes sizes = many_sizes(turn == 0 ? 5000 : LAB_HISTOGRAM_EXACT + 1000);
        struct lab_histogram histogram, restored;
        lab_histogram_init(&histogram);
        add_all(&histogram, &sizes, 0, sizes.count);
        size_t count;
        struct lab_bin *bins = lab_histogram_sorted(&histogram, &count);
        /* The order of the bins does not matter. */
        struct lab_bin first = bins[0];
        bins[0] = bins[count - 1];
        bins[count - 1] = first;
        assert_true(lab_histogram_restore(&restored, bins, count, &histogram));
        assert_same(&restored, &histogram);
        /* The restored histogram continues like the original. */
        lab_histogram_add(&histogram, 100001, 2, 3);
        lab_histogram_add(&restored, 100001, 2, 3);
        assert_same(&restored, &histogram);
        free(bins);
        lab_histogram_clear(&histogram);
        lab_histogram_clear(&restored);
        free(sizes.items);
    }
}

static struct lab_histogram archived(const struct lab_histogram *histogram, size_t *size)
{
    struct lab_histogram copy = *histogram, loaded;
    struct sim_archive archive;
    unsigned char *data;
    lab_histogram_init(&loaded);
    sim_archive_begin_save(&archive, 1);
    lab_histogram_archive(&copy, &archive);
    assert_true(sim_archive_finish_save(&archive, &data, size, NULL));
    assert_true(sim_archive_begin_load(&archive, data, *size, 1, NULL));
    lab_histogram_archive(&loaded, &archive);
    assert_true(sim_archive_finish_load(&archive, NULL));
    free(data);
    return loaded;
}

/* Free slots take a bit each, and a bin takes no more bytes than its numbers need. */
static void test_histogram_archived_is_the_same_in_few_bytes(void **state)
{
    (void)state;
    const size_t counts[] = {0, 1, 33, 5000, LAB_HISTOGRAM_EXACT + 1000};
    size_t empty_size = 0, size;
    for (size_t turn = 0; turn < sizeof counts / sizeof *counts; turn++) {
        struct sizes sizes = many_sizes(counts[turn]);
        struct lab_histogram histogram, loaded;
        lab_histogram_init(&histogram);
        add_all(&histogram, &sizes, 0, sizes.count);
        loaded = archived(&histogram, &size);
        assert_same(&loaded, &histogram);
        empty_size = turn == 0 ? size : empty_size;
        assert_true(size - empty_size <= histogram.slot_count / 8 + 5 * histogram.used);
        lab_histogram_add(&histogram, 100001, 2, 3);
        lab_histogram_add(&loaded, 100001, 2, 3);
        assert_same(&loaded, &histogram);
        lab_histogram_clear(&histogram);
        lab_histogram_clear(&loaded);
        free(sizes.items);
    }
}

/* Coarse copies of exact parts and of a rounded whole agree and are as coarse as requested: never finer, and
 * never more than one step coarser. */
static void test_histogram_coarse_copies_of_parts_merge_to_that_of_the_whole(void **state)
{
    (void)state;
    for (unsigned bits = 1; bits <= 12; bits++) {
        struct sizes sizes = many_sizes(LAB_HISTOGRAM_EXACT + 5000);
        struct lab_histogram whole, parts[2], coarse, merged;
        lab_histogram_init(&whole);
        lab_histogram_init(&merged);
        add_all(&whole, &sizes, 0, sizes.count);
        assert_true(whole.is_rounded && lab_histogram_coarse(&whole, bits, &coarse));
        for (size_t i = 0; i < 2; i++) {
            struct lab_histogram part;
            lab_histogram_init(&part);
            add_all(&part, &sizes, i * 40000, i == 0 ? 40000 : sizes.count);
            assert_true(!part.is_rounded && lab_histogram_coarse(&part, bits, &parts[i]));
            lab_histogram_merge(&merged, &parts[i]);
            lab_histogram_clear(&part);
            lab_histogram_clear(&parts[i]);
        }
        assert_same(&merged, &coarse);
        size_t count, at = 0;
        struct lab_bin *bins = lab_histogram_sorted(&coarse, &count);
        assert_true(count <= (UINT64_C(1) << bits) * 18);
        qsort(sizes.items, sizes.count, sizeof *sizes.items, compare_sizes);
        for (size_t i = 0; i < count; i++) {
            uint64_t met = 0, last = i > 0 ? bins[i - 1].size : 0;
            for (; at < sizes.count && sizes.items[at] <= bins[i].size; at++, met++)
                assert_true(sizes.items[at] == bins[i].size || sizes.items[at] > last);
            assert_int_equal(met, bins[i].count);
            uint64_t lowest = bins[i].size & (~bins[i].size + 1);
            assert_true(bins[i].size / (lowest == 0 ? 1 : lowest) < UINT64_C(1) << bits);
        }
        assert_int_equal(at, sizes.count);
        free(bins);
        free(sizes.items);
        lab_histogram_clear(&whole);
        lab_histogram_clear(&coarse);
        lab_histogram_clear(&merged);
    }
}

static void test_histogram_coarse_copy_of_small_or_no_sizes_has_them_all(void **state)
{
    (void)state;
    struct lab_histogram small, coarse;
    lab_histogram_init(&small);
    assert_true(lab_histogram_coarse(&small, 7, &coarse));
    assert_same_figures(&small, &coarse);
    for (uint64_t i = 0; i <= 130; i++)
        lab_histogram_add(&small, i, 1, 1);
    lab_histogram_add(&small, UINT64_MAX, 1, 1);
    assert_true(lab_histogram_coarse(&small, 7, &coarse));
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(&coarse, &count);
    assert_int_equal(count, 129 + 1 + 1);
    assert_true(bins[128].size == 128 && bins[129].size == 130 && bins[129].count == 2);
    assert_true(bins[130].size == UINT64_MAX && coarse.most == UINT64_MAX && coarse.sum == small.sum);
    free(bins);
    lab_histogram_clear(&small);
    lab_histogram_clear(&coarse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histogram_empty_has_nothing),
        cmocka_unit_test(test_histogram_of_few_sizes_is_exact),
        cmocka_unit_test(test_histogram_sorts_sizes_of_any_width),
        cmocka_unit_test(test_histogram_of_many_sizes_has_a_bound_on_memory),
        cmocka_unit_test(test_histogram_rounds_once_sizes_exceed_its_capacity),
        cmocka_unit_test(test_histogram_of_many_sizes_is_rounded_up_a_little),
        cmocka_unit_test(test_histogram_rounded_bins_have_twelve_significant_bits),
        cmocka_unit_test(test_histogram_merged_from_parts_is_that_of_the_whole),
        cmocka_unit_test(test_histogram_bins_of_both_are_those_of_the_merged_one),
        cmocka_unit_test(test_histogram_of_sizes_added_together_is_that_of_sizes_added_one_by_one),
        cmocka_unit_test(test_histogram_merge_keeps_loss_of_memory),
        cmocka_unit_test(test_histogram_sums_of_squares_stop_at_the_top),
        cmocka_unit_test(test_histogram_coarse_copies_of_parts_merge_to_that_of_the_whole),
        cmocka_unit_test(test_histogram_coarse_copy_of_small_or_no_sizes_has_them_all),
        cmocka_unit_test(test_histogram_restored_from_its_bins_is_the_same),
        cmocka_unit_test(test_histogram_archived_is_the_same_in_few_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
