/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of partitions over the run: its virtual time is divided into a few equal slices, and each slice
 * has the final sizes of the partitions whose first row was written in it. Plain data. */
#ifndef LAB_TIMELINE_H
#define LAB_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "lab/largest.h"

#define LAB_SLICES_MAX 96u

enum lab_partition_state { LAB_CLOSED, LAB_OPEN, LAB_STATES };

/* Quantiles of sizes. Least and most are exact. Any other is the smallest size N with P(size <= N) >= p,
 * rounded up by less than an eighth, but not above most. */
struct lab_slice_sizes {
    uint64_t least, p10, p50, p90, most;
};

struct lab_slice {
    enum lab_partition_state state;
    int64_t start_ns, end_ns; /* the last slice ends with the run */
    uint64_t partitions;      /* at least 1: slices without partitions are left out */
    struct lab_slice_sizes sizes[LAB_SIZE_UNITS];
};

struct lab_timeline {
    struct lab_slice *items; /* sorted by state, then time; NULL when there are none */
    size_t count;
};

#endif
