/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects a timeline (lab/timeline.h): a coarse histogram for each slice, state and unit, with eight bins
 * per octave. It has only counts, so the slices of several workers merge by addition to the same result,
 * however the work was split. Bins are allocated on demand: a slice without partitions takes 144 bytes. */
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
    uint64_t slice_ns;  /* a round duration */
    uint64_t inverse;   /* 2^64 / slice_ns, rounded down by less than 2 */
    uint32_t count;     /* number of slices, at most LAB_SLICES_MAX; 0: not begun, and nothing is collected */
    bool out_of_memory; /* never cleared */
    struct lab_slice_cell *cells; /* sorted by state, then time; NULL before the first partition */
};

/* Begins the slices of a run from start_ns to end_ns >= start_ns. The struct must be zeroed. */
void lab_slices_begin(struct lab_slices *slices, int64_t start_ns, int64_t end_ns);
/* Adds a partition whose first row was written at first_ns; a time outside of the run is moved to the nearer
 * end of the run. */
void lab_slices_add(struct lab_slices *slices, int64_t first_ns, bool is_closed,
                    const struct cass_partition *partition);
/* Both must be of the same run; `into` may be zeroed. */
void lab_slices_merge(struct lab_slices *into, const struct lab_slices *from);
/* Computes the timeline. Returns false when out of memory. */
bool lab_slices_timeline(const struct lab_slices *slices, struct lab_timeline *out);
/* Saves or loads. Loading needs slices that have begun the same run and are empty. */
void lab_slices_archive(struct lab_slices *slices, struct sim_archive *archive);
void lab_slices_clear(struct lab_slices *slices);

#endif
