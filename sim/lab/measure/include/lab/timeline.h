/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of partitions over the run: its virtual time in a few equal slices, and of each slice the
 * partitions whose first row was written in it, as large as they were at the end. Plain data. */
#ifndef LAB_TIMELINE_H
#define LAB_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

#include "lab/largest.h"

#define LAB_SLICES_MAX 96u

enum lab_partition_state { LAB_CLOSED, LAB_OPEN, LAB_STATES };

/* Least and most are exact. A quantile is the smallest size N with P(size <= N) >= p, rounded up by less than
 * an eighth, and within least and most. */
struct lab_slice_sizes {
    uint64_t least, p10, p50, p90, most;
};

struct lab_slice {
    enum lab_partition_state state;
    int64_t start_ns, end_ns; /* the last one of a run ends with it */
    uint64_t partitions;      /* at least 1: a slice in which none began is left out */
    struct lab_slice_sizes sizes[LAB_SIZE_UNITS];
};

struct lab_timeline {
    struct lab_slice *items; /* by state, then time; NULL when there are none */
    size_t count;
};

#endif
