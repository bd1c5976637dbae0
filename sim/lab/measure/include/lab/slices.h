/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects a timeline (lab/timeline.h): a coarse histogram for each slice, state and unit, with eight bins
 * per octave. It has only counts, so the slices of several workers merge by addition to the same result,
 * however the work was split. Bins are allocated on demand: a slice without partitions takes 144 bytes. */
#ifndef LAB_SLICES_H
#define LAB_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/partition.h"
#include "kernel/archive.h"

/* A strategy's largest partition, with its key and bucket, so that a user who sees that a limit is exceeded
 * can find the partition. */
enum lab_size_unit { LAB_IN_ROWS, LAB_IN_BYTES, LAB_SIZE_UNITS };

#define LAB_KEY_NAME_SIZE 256

/* The largest partition; of several equally large ones, that of the lowest key index, and of its lowest
 * bucket. */
struct lab_largest {
    char key[LAB_KEY_NAME_SIZE]; /* a longer name is truncated between two characters */
    uint64_t key_index;
    int64_t bucket;
    uint64_t size; /* in rows or bytes; 0: there is no partition */
};

/* A total order, so that the results of several workers merge to the same result in any order. */
static inline bool lab_is_larger(uint64_t size, uint64_t key_index, int64_t bucket,
                                 const struct lab_largest *other)
{
    if (size != other->size)
        return size > other->size;
    if (key_index != other->key_index)
        return key_index < other->key_index;
    return bucket < other->bucket;
}

/* The sizes of partitions over the run: its virtual time is divided into a few equal slices, and each slice
 * has the final sizes of the partitions whose first row was written in it. Plain data. */
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
/* Whether all times of [from_ns, until_ns) are in one slice, or nothing is collected. */
bool lab_slices_is_one(const struct lab_slices *slices, int64_t from_ns, int64_t until_ns);
/* Both must be of the same run; `into` may be zeroed. */
void lab_slices_merge(struct lab_slices *into, const struct lab_slices *from);
/* Computes the timeline. Returns false when out of memory. */
bool lab_slices_timeline(const struct lab_slices *slices, struct lab_timeline *out);
/* Saves or loads. Loading needs slices that have begun the same run and are empty. */
void lab_slices_archive(struct lab_slices *slices, struct sim_archive *archive);
void lab_slices_clear(struct lab_slices *slices);

#endif
