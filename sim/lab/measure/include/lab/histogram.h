/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A histogram of sizes that merges: exact while it holds at most LAB_HISTOGRAM_EXACT different sizes; from
 * then on a size above 4096 is rounded up to 12 significant bits (at most 0.05 % more).
 *
 * Whether it is exact depends on the set of sizes alone, so histograms of parts merge to that of the whole,
 * whatever the split and the order. Count, sums, least and most stay exact always. Each size carries a count
 * of partitions and a weight (their rows), which makes the row-weighted distribution of the same partitions
 * free. */
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
    bool out_of_memory; /* sticky: an add was lost */
    uint64_t count, weight;
    uint64_t least, most;                           /* 0 while empty */
    lab_wide sum, sum_of_squares;                   /* over partitions */
    lab_wide weighted_sum, weighted_sum_of_squares; /* over rows; saturates at 2^128 - 1 */
};

void lab_histogram_init(struct lab_histogram *histogram);
void lab_histogram_clear(struct lab_histogram *histogram);
void lab_histogram_add(struct lab_histogram *histogram, uint64_t size, uint64_t count, uint64_t weight_each);
void lab_histogram_merge(struct lab_histogram *into, const struct lab_histogram *from);
/* A copy to be kept, in few bins: sizes rounded up to so many significant bits, 1 to 12, the figures exact;
 * what are copies of parts merge to the copy of the whole. On failure *out is empty. Not of one that lost an
 * add. */
bool lab_histogram_coarse(const struct lab_histogram *histogram, unsigned significant_bits,
                          struct lab_histogram *out);
/* The bins in order of size, malloc'ed, the caller's; NULL when empty or when out of memory. *count is their
 * number. */
struct lab_bin *lab_histogram_sorted(const struct lab_histogram *histogram, size_t *count);
/* Rebuilds one from sorted or unsorted bins and the exact figures that were kept with them. */
bool lab_histogram_restore(struct lab_histogram *histogram, const struct lab_bin *bins, size_t bin_count,
                           const struct lab_histogram *figures);

/* Both ways; loading takes one that was initialised, and leaves it empty in trouble. */
void lab_histogram_archive(struct lab_histogram *histogram, struct sim_archive *archive);

/* Where two distributions of sizes lie furthest apart: the distance of Kolmogorov and Smirnov. */
struct lab_gap {
    double distance;   /* 0: the same distribution; 1: all of one are smaller than any of the other */
    uint64_t size;     /* the least size at which it is so large; 0 when it is 0 */
    double one, other; /* the shares of both that are no larger than that */
};
/* Exact; where either is rounded, both are taken as rounded. Neither is empty. False when out of memory. */
bool lab_histogram_gap(const struct lab_histogram *one, const struct lab_histogram *other,
                       struct lab_gap *out);

#endif
