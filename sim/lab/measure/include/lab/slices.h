/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a timeline (lab/timeline.h) is gathered: a coarse histogram of each slice, state and unit, eight bins
 * an octave. Counts alone, so parts of several workers merge by addition to the same, however the work was
 * split. Memory is taken for what is met: a slice without partitions costs 144 bytes. */
#ifndef LAB_SLICES_H
#define LAB_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "cassandra/partition.h"
#include "kernel/archive.h"
#include "lab/timeline.h"

struct lab_slice_cell;

struct lab_slices {
    int64_t start_ns, end_ns;
    uint64_t slice_ns;  /* a round length */
    uint64_t inverse;   /* 2^64 / slice_ns, or a little less */
    uint32_t count;     /* of slices, at most LAB_SLICES_MAX; 0: not begun, and nothing is gathered */
    bool out_of_memory; /* sticky */
    struct lab_slice_cell *cells; /* by state, then time; NULL before the first partition */
};

/* Of a run from start_ns to end_ns, which is not before; slices of zeros are ready for it. */
void lab_slices_begin(struct lab_slices *slices, int64_t start_ns, int64_t end_ns);
/* A partition whose first row was written at first_ns; what lies outside the run is taken to its nearest end.
 */
void lab_slices_add(struct lab_slices *slices, int64_t first_ns, bool is_closed,
                    const struct cass_partition *partition);
/* Both of one run; one of zeros takes over the other's. */
void lab_slices_merge(struct lab_slices *into, const struct lab_slices *from);
/* False when out of memory. */
bool lab_slices_timeline(const struct lab_slices *slices, struct lab_timeline *out);
/* Both ways; loading takes slices that have begun the same run and are still empty. */
void lab_slices_archive(struct lab_slices *slices, struct sim_archive *archive);
void lab_slices_clear(struct lab_slices *slices);

#endif
