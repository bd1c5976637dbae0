/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mergeable histogram of sizes. It is exact while it has at most LAB_HISTOGRAM_EXACT distinct sizes; beyond
 * that, a size above 4096 is rounded up to 12 significant bits (by at most 0.05 %).
 *
 * Whether it is exact depends only on the set of sizes, so the histograms of parts merge to the histogram of
 * the whole, however it was split and in whatever order. Count, sums, least and most are always exact. Each
 * size has a count of partitions and a weight (their rows), so the histogram has the row-weighted
 * distribution too. */
#ifndef LAB_HISTOGRAM_H
#define LAB_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/archive.h"

#define LAB_HISTOGRAM_EXACT 65536u

__extension__ typedef unsigned __int128 lab_wide;

struct lab_bin {
    uint64_t size;
    uint64_t count;
    uint64_t weight;
};

struct lab_histogram {
    struct lab_bin *slots; /* open addressing; count 0 marks a free slot */
    size_t slot_count;     /* 0 or a power of two */
    size_t used;
    bool is_rounded;
    bool out_of_memory; /* set once an add was lost, and never cleared */
    uint64_t count, weight;
    uint64_t least, most;                           /* 0 while empty */
    lab_wide sum, sum_of_squares;                   /* over partitions */
    lab_wide weighted_sum, weighted_sum_of_squares; /* over rows; saturating at 2^128 - 1 */
};

void lab_histogram_init(struct lab_histogram *histogram);
void lab_histogram_clear(struct lab_histogram *histogram);
void lab_histogram_add(struct lab_histogram *histogram, uint64_t size, uint64_t count, uint64_t weight_each);
/* Adds one size to the count, the sums over partitions, least and most, but to no bin and no weight, so that
 * the histogram has no quantiles. */
static inline void lab_histogram_note(struct lab_histogram *histogram, uint64_t size)
{
    const lab_wide square = (lab_wide)size * size, squares = histogram->sum_of_squares + square;
    histogram->least = histogram->count == 0 || size < histogram->least ? size : histogram->least;
    histogram->most = size > histogram->most ? size : histogram->most;
    histogram->count++;
    histogram->sum += size;
    histogram->sum_of_squares = squares < square ? ~(lab_wide)0 : squares;
}
/* Adds `count` sizes with a count and a weight of 1 each: several times as fast as one by one, because the
 * processor waits for many bins at once. */
void lab_histogram_add_each(struct lab_histogram *histogram, const uint64_t *sizes, size_t count);
/* Begins to load the bin of a size that will be added soon. */
void lab_histogram_prefetch(const struct lab_histogram *histogram, uint64_t size);
void lab_histogram_merge(struct lab_histogram *into, const struct lab_histogram *from);
/* Makes a copy with fewer bins, for storing: sizes are rounded up to 1 to 12 significant bits; count, sums,
 * least and most stay exact. Copies of parts merge to the copy of the whole. The histogram must not have lost
 * an add. On failure *out is empty. */
bool lab_histogram_coarse(const struct lab_histogram *histogram, unsigned significant_bits,
                          struct lab_histogram *out);
/* Returns the bins in order of size, and sets *count to their number. The caller must free them. NULL when
 * the histogram is empty or when out of memory. */
struct lab_bin *lab_histogram_sorted(const struct lab_histogram *histogram, size_t *count);
/* The smallest size that this share of the entries does not exceed; 0 for an empty histogram. */
uint64_t lab_histogram_quantile(const struct lab_histogram *histogram, double share);
/* Returns the sorted bins of the histogram that lab_histogram_merge() makes of both. *figures: its other
 * members. */
struct lab_bin *lab_histogram_both(const struct lab_histogram *one, const struct lab_histogram *other,
                                   struct lab_histogram *figures, size_t *count);
/* Rebuilds a histogram from its bins, in any order, and from the exact count, sums, least and most in
 * `figures`. */
bool lab_histogram_restore(struct lab_histogram *histogram, const struct lab_bin *bins, size_t bin_count,
                           const struct lab_histogram *figures);

/* Saves or loads. Loading needs an initialised histogram, and leaves it empty on errors. */
void lab_histogram_archive(struct lab_histogram *histogram, struct sim_archive *archive);

/* The largest distance between two distributions of sizes (Kolmogorov-Smirnov distance), and the size at
 * which it occurs. */
struct lab_gap {
    double distance; /* 0: equal distributions; 1: all sizes of one are smaller than all sizes of the other */
    uint64_t size;   /* the smallest size at which the distance is largest; 0 when the distance is 0 */
    double one, other; /* the shares of sizes up to this one in both distributions */
};
/* Computes the exact distance; if one histogram is rounded, the other is rounded likewise. Neither may be
 * empty. Returns false when out of memory. */
bool lab_histogram_gap(const struct lab_histogram *one, const struct lab_histogram *other,
                       struct lab_gap *out);

/* The sizes of the partitions of a run of `tune`, of which only a few quantiles are needed. While they are
 * few, they are a list, which takes less time and memory than a histogram; otherwise they are a histogram. */
struct lab_sizes {
    /* In any order: those below 2^32, and the others. */
    uint32_t *small;
    uint64_t *large;
    size_t small_count, small_capacity, large_count, large_capacity;
    struct lab_histogram rest; /* those that are not listed */
    bool out_of_memory;        /* set once a size was lost, and never cleared */
};

#define LAB_SIZES_LISTED (1u << 18) /* a histogram takes more memory */

/* The slow path of lab_sizes_add(). */
void lab_sizes_add_more(struct lab_sizes *sizes, uint64_t size);
/* Adds a size to sizes that were zeroed at first. */
static inline void lab_sizes_add(struct lab_sizes *sizes, uint64_t size)
{
    if (size <= UINT32_MAX && sizes->small_count < sizes->small_capacity &&
        sizes->small_count + sizes->large_count < LAB_SIZES_LISTED)
        sizes->small[sizes->small_count++] = (uint32_t)size;
    else
        lab_sizes_add_more(sizes, size);
}
void lab_sizes_merge(struct lab_sizes *into, const struct lab_sizes *from);
/* For each rank, from 1 to the number of sizes, finds the largest size that this many sizes reach: exact, or
 * rounded up as in a histogram, if the sizes are many. Returns false when out of memory. */
bool lab_sizes_find(const struct lab_sizes *sizes, const uint64_t *ranks, size_t rank_count, uint64_t *out);
void lab_sizes_clear(struct lab_sizes *sizes);

#endif
