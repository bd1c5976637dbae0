/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane: one strategy at work on one key. Rows come in batches in time order; the core says how far a route
 * holds, so a run of rows in one bucket costs one step, and only strategies that look at every id pay for
 * every row.
 *
 * A lane holds what is open; what is finished goes into the tally of (worker, strategy), which merges by
 * addition. */
#ifndef LAB_LANE_H
#define LAB_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/bucketing.h"
#include "cassandra/partition.h"
#include "cassandra/ring.h"
#include "change.h"
#include "kernel/archive.h"
#include "kernel/digest.h"
#include "lab/histogram.h"
#include "lab/largest.h"
#include "lab/scenario.h"
#include "reads.h"
#include "slices.h"

struct lab_stored;

/* What a strategy has done so far on the keys of one worker. */
struct lab_tally {
    struct lab_histogram closed_rows, open_rows, closed_bytes, open_bytes;
    struct lab_read_tally reads, reads_of[LAB_READ_KINDS]; /* the latter of several kinds only */
    struct lab_slices slices;
    uint64_t over_limit, over_limit_rows, over_limit_bytes, tiny;
    struct lab_largest largest[LAB_SIZE_UNITS];
    uint64_t rows, counter_increments, state_reads, state_writes;
    uint64_t lwt, lock_ops, rows_scanned, retried, duplicated, misrouted; /* of a cluster run */
    uint64_t peak_rows_per_s;
    /* With a time to live, or deletes: of each partition the live rows and the tombstones at the end. */
    struct lab_histogram live_rows, tombstones;
    uint64_t rows_deleted, rows_expired, emptied;
    uint64_t tombstones_read, tombstone_warnings, reads_failed, deletes_lost; /* of a cluster run */
    uint64_t late_rows;                  /* that came later than their own time says */
    uint64_t rows_into_closed, reopened; /* rows put into closed partitions; such partitions */
    uint64_t placement_digest;
    struct cass_node_load *nodes; /* one for each node of the ring */
    struct lab_stored *stored;    /* what the table keeps of it (stored.h), where the scenario has one */
    bool out_of_memory;           /* sticky */
};

/* Rows of one key in time order, as columns. */
struct lab_batch {
    const int64_t *times_ns;
    const int64_t *own_ns;  /* the rows' own times, in no order; NULL: those of their arrival */
    const int64_t *late_ns; /* how late each is; NULL: none */
    const uint64_t *ids;
    const uint64_t *bytes;       /* of each row; NULL when no strategy goes by it */
    const uint32_t *gone_before; /* count + 1 running sums of the rows that are gone at the end; NULL: none */
    const uint64_t *bytes_before; /* count + 1 running sums; NULL when every row has bytes_each */
    const uint64_t *second_begin; /* the number of the key's first row in the row's whole second */
    uint64_t bytes_each;
    uint64_t first_row;      /* number within the key of row 0 of the batch */
    uint64_t most_in_second; /* the longest run of the key's rows within one second, up to the batch's end */
    size_t count;
    const struct lab_horizon *horizon;
};

/* Who the key is, and what a lane needs of the run. */
struct lab_key_name {
    const char *text;
    size_t size;
    uint64_t index;
};

struct lab_cell {
    uint64_t rows, bytes, gone;
    int64_t first_ns; /* when its first row came, as in all below */
    uint64_t second;
    uint32_t bucket;
    uint32_t rows_in_second;
};

/* A partition of BK_TIME where rows come out of order. */
struct lab_time_window {
    int64_t bucket;
    uint64_t rows, bytes, gone;
    int64_t first_ns;
    uint64_t second;
    uint32_t rows_in_second;
    bool is_reopened;
};

struct lab_past {
    int64_t bucket;
    uint64_t first_row,
        rows; /* numbers within the key: rows come in order of time, so these are neighbours */
};

/* Of a key: the rows that a range may still reach, oldest first. */
struct lab_horizon {
    struct lab_horizon_row {
        int64_t time_ns;
        uint64_t id;
    } * rows;
    size_t begin, end, capacity;
    uint64_t end_row; /* the number of the next row */
};

struct lab_lane {
    struct bk_key_state state;
    int64_t bucket; /* of the open partition, when it holds rows */
    struct cass_partition open;
    uint64_t open_first_row, open_gone;
    int64_t open_first_ns;
    struct sim_placement placement;
    /* BK_SCOPE_ROW: the partitions of the key, by bucket & mask; a free cell has no rows. */
    struct lab_cell *cells;
    uint32_t cell_count, cells_used;
    /* BK_TIME where rows have own times: the key's partitions, in order of buckets. */
    struct lab_time_window *windows;
    size_t window_begin, window_count, window_capacity;
    /* With reads: the finished partitions that a read of the newest rows can meet, oldest first. */
    uint32_t past_begin, past_end, past_capacity;
    uint32_t in_range_count; /* of the last */
    struct lab_past *past;
    uint64_t past_rows;
    struct lab_era_lane *eras; /* of a strategy whose settings change; in place of all the above but placement
                                */
    uint64_t past_count;       /* of all that have finished, also of those that are forgotten */
    struct bk_empties *empties; /* what the readers remember; NULL: nothing */
    uint64_t *in_range;         /* BK_HASH, of a range: rows by cell */
};

struct lab_lane_settings {
    const struct lab_scenario *scenario;
    const struct cass_ring *ring;
    const struct bk_strategy *strategy; /* as rows are placed by it */
    const struct lab_strategy *way;     /* the same as the scenario has it */
    const struct lab_regimes *regimes;  /* NULL: the settings hold throughout */
};

/* A read that is due. */
struct lab_read_event {
    enum lab_read_kind kind;
    int64_t now_ns, birth_ns; /* birth: time of the key's first row */
    uint64_t key_rows;        /* so far */
    const struct lab_horizon *horizon;
};

/* A lane of zeros is ready for its first key; lab_lane_end() makes it ready for the next and keeps its
 * memory. */
void lab_lane_begin(struct lab_lane *lane);
void lab_lane_rows(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to);
/* lane_read.c: a read; and the partition that is open has finished, so that readers will meet it as a past
 * one. */
void lab_lane_read(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_read_event *event);
void lab_lane_remember(struct lab_lane *lane, const struct lab_lane_settings *settings,
                       struct lab_tally *tally, const struct lab_horizon *horizon);
/* The key's rows are over; the run ends at end_ns. */
void lab_lane_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                  const struct lab_key_name *key, int64_t end_ns);
void lab_lane_clear(struct lab_lane *lane);
/* BK_HASH: the partition of a bucket, new when it has no rows; NULL without memory. */
struct lab_cell *lab_lane_cell(struct lab_lane *lane, const struct bk_strategy *strategy, uint32_t bucket);
/* Puts a partition that gets no more rows into the tally: when it began, and whether it is closed. */
void lab_lane_finish(const struct lab_lane_settings *settings, struct lab_tally *tally,
                     const struct lab_key_name *key, int64_t bucket, const struct cass_partition *partition,
                     uint64_t gone, int64_t first_ns, bool is_closed);
/* What is left of a partition at the end. */
void lab_tally_left(struct lab_tally *tally, uint64_t live, uint64_t tombstones);
static inline uint64_t lab_gone_between(const struct lab_batch *batch, size_t from, size_t to)
{
    return batch->gone_before == NULL ? 0 : batch->gone_before[to] - batch->gone_before[from];
}

/* lane_windows.c: the same for BK_TIME where a row's own time is not that of its arrival, so that any window
 * may get one more: all are held, and memory grows with the windows of a key. */
static inline struct lab_time_window *lab_window_at(const struct lab_lane *lane, size_t index)
{
    return &lane->windows[lane->window_begin + index];
}
void lab_windows_rows(struct lab_lane *lane, const struct lab_lane_settings *settings,
                      struct lab_tally *tally, const struct lab_key_name *key, const struct lab_batch *batch,
                      size_t from, size_t to);
void lab_windows_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                     const struct lab_key_name *key, int64_t current);

/* lane_eras.c: the same for a strategy whose settings change. NULL is fine for begin and clear. */
void lab_eras_begin(struct lab_era_lane *eras);
void lab_eras_rows(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_batch *batch, size_t from, size_t to);
void lab_eras_read(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_read_event *event);
void lab_eras_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                  const struct lab_key_name *key, int64_t end_ns);
void lab_eras_clear(struct lab_era_lane *eras);
void lab_eras_archive(struct lab_era_lane **eras, const struct lab_regimes *regimes,
                      struct sim_archive *archive);

uint64_t lab_batch_bytes(const struct lab_batch *batch, size_t from, size_t to);

/* A row of a partition came in this second, which the number of the key's first row in it stands for; `last`
 * and `rows` are the partition's own. */
static inline void lab_watch_second(uint64_t second, uint64_t *last, uint32_t *rows, struct lab_tally *tally)
{
    if (*last != second)
        *rows = 0;
    *last = second;
    if (++*rows > tally->peak_rows_per_s)
        tally->peak_rows_per_s = *rows;
}

/* The slot of a hash bucket's cell, or the free one where it would stand: linear probing from bucket & mask.
 */
static inline uint32_t lab_cell_slot(const struct lab_cell *cells, uint32_t cell_count, uint32_t bucket)
{
    uint32_t mask = cell_count - 1, i = bucket & mask;
    while (cells[i].rows > 0 && cells[i].bucket != bucket)
        i = (i + 1) & mask;
    return i;
}

/* A sum beyond 2^64 - 1 stays there: over every limit, rather than small again. */
static inline void lab_bytes_add(uint64_t *sum, uint64_t bytes)
{
    *sum = bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + bytes;
}

/* Without `stored`, and without the run's span for `slices`. */
bool lab_tally_init(struct lab_tally *tally, uint32_t nodes);
void lab_tally_merge(struct lab_tally *into, const struct lab_tally *from, uint32_t nodes);
/* A partition as it is at the end: its sizes, and the limits that it passes. first_ns: of its first row. */
void lab_tally_partition(struct lab_tally *tally, const struct lab_limits *limits,
                         const struct cass_partition *partition, int64_t first_ns, bool is_closed);
/* Keeps it when it is the largest so far. */
void lab_tally_largest(struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                       const struct cass_partition *partition);
void lab_tally_clear(struct lab_tally *tally);
/* Both ways; loading takes one that was made for the same scenario, and lab_tally_clear() is due in any case.
 */
void lab_tally_archive(struct lab_tally *tally, struct sim_archive *archive, uint32_t nodes);

/* lane_archive.c: both ways, between two batches; loading takes a lane of zeros, and lab_lane_clear() is due
 * in any case. */
void lab_lane_archive(struct lab_lane *lane, const struct lab_lane_settings *settings,
                      struct sim_archive *archive);
void lab_key_state_archive(struct bk_key_state *state, struct sim_archive *archive);
/* A key cannot have come as far as that, by one row or one change at a time. */
#define LAB_COUNT_END (UINT64_C(1) << 53)
static inline bool lab_is_bucket(int64_t bucket)
{
    return bucket >= 0 && (uint64_t)bucket < LAB_COUNT_END;
}

#endif
