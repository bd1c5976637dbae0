/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The largest distance between two cumulative distributions (Kolmogorov and Smirnov). */
#include <assert.h>
#include <stdlib.h>

#include "lab/histogram.h"

static bool sorted(const struct lab_histogram *histogram, bool is_rounded, struct lab_bin **out,
                   size_t *count)
{
    struct lab_histogram same;
    lab_histogram_init(&same);
    same.is_rounded = is_rounded;
    lab_histogram_merge(&same, histogram);
    *out = same.out_of_memory ? NULL : lab_histogram_sorted(&same, count);
    lab_histogram_clear(&same);
    return *out != NULL;
}

/* Compares cumulative shares in whole numbers, each multiplied by the total of the other histogram. */
static void compare(const struct lab_bin *one, size_t one_count, lab_wide one_total,
                    const struct lab_bin *other, size_t other_count, lab_wide other_total,
                    struct lab_gap *out)
{
    lab_wide below = 0, other_below = 0, most = 0;
    size_t i = 0, j = 0;
    *out = (struct lab_gap){0};
    while (i < one_count || j < other_count) {
        uint64_t size =
            j == other_count || (i < one_count && one[i].size < other[j].size) ? one[i].size : other[j].size;
        if (i < one_count && one[i].size == size)
            below += one[i++].count;
        if (j < other_count && other[j].size == size)
            other_below += other[j++].count;
        lab_wide a = below * other_total, b = other_below * one_total, gap = a > b ? a - b : b - a;
        if (gap > most) {
            most = gap;
            *out = (struct lab_gap){.size = size,
                                    .one = (double)below / (double)one_total,
                                    .other = (double)other_below / (double)other_total};
        }
    }
    out->distance = (double)most / ((double)one_total * (double)other_total);
}

bool lab_histogram_gap(const struct lab_histogram *one, const struct lab_histogram *other,
                       struct lab_gap *out)
{
    assert(one->count > 0 && other->count > 0);
    struct lab_bin *bins = NULL, *other_bins = NULL;
    size_t count, other_count;
    bool is_rounded = one->is_rounded || other->is_rounded;
    bool is_fine =
        sorted(one, is_rounded, &bins, &count) && sorted(other, is_rounded, &other_bins, &other_count);
    if (is_fine)
        compare(bins, count, one->count, other_bins, other_count, other->count, out);
    free(bins);
    free(other_bins);
    return is_fine;
}
