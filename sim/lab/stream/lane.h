/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane: one strategy applied to one key. Rows are added in batches in time order. The core says for which
 * rows a route is valid, so a run of rows in the same bucket costs one step, and only strategies that use
 * every row's id have a cost per row.
 *
 * A lane has the open partitions; finished partitions are added to the tally of (worker, strategy), and
 * tallies merge by addition. */
#ifndef LAB_LANE_H
#define LAB_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/bucketing.h"
#include "cassandra/ring.h"
#include "lab/batch.h"
#include "lab/change.h"
#include "lab/disk.h"
#include "lab/tally.h"

struct lab_cell {
    uint64_t rows, bytes, gone;
    struct lab_disk *disk; /* NULL: all rows are on disk; here and below */
    int64_t first_ns;      /* arrival of its first row, here and below */
    uint64_t second;
    uint32_t bucket;
    uint32_t rows_in_second;
};

/* A partition of BK_TIME, when rows are out of order. */
struct lab_time_window {
    int64_t bucket;
    uint64_t rows, bytes, gone;
    struct lab_disk *disk;
    int64_t first_ns;
    uint64_t second;
    uint32_t rows_in_second;
    bool is_reopened;
};

struct lab_past {
    int64_t bucket;
    uint64_t first_row, rows; /* numbers within the key; consecutive, since rows are in order of time */
};

/* The rows of a key that a read of a range may still reach, oldest first. */
struct lab_horizon {
    struct lab_horizon_row {
        int64_t time_ns;
        uint64_t id;
    } * rows;
    size_t begin, end, capacity;
    uint64_t end_row; /* number of the next row */
};

#define LAB_FEW_PARTITIONS 8
/* For lab_reads.are_expected: how many partitions a read of the key queries, since when, and when that
 * changes. */
struct lab_expected {
    int64_t start_ns, since_ns, birth_ns; /* birth: time of the key's first row */
    bool is_walk;                         /* a read queries one bucket after another, from the newest down */
    int64_t newest, lowest; /* in a walk: the newest bucket that has rows, and the last one queried */
    double parts_per_ns;    /* rate of reads, in LAB_READ_PARTS per read */
    uint64_t parts;         /* counted so far */
    uint64_t parts_of[LAB_FEW_PARTITIONS]; /* not in the tally yet, by the number of partitions */
    uint64_t partitions;                   /* number of partitions that a read queries */
    uint64_t rows_left; /* number of rows after which a read queries fewer partitions; UINT64_MAX: never */
};

struct lab_lane {
    struct bk_key_state state;
    int64_t bucket; /* bucket of the open partition, if it has rows */
    struct cass_partition open;
    struct lab_disk *open_disk;
    uint64_t open_first_row, open_gone;
    int64_t open_first_ns;
    struct sim_placement placement;
    /* BK_SCOPE_ROW: hash table of the key's partitions, by bucket & mask; a free cell has no rows. */
    struct lab_cell *cells;
    uint32_t cell_count, cells_used;
    /* BK_TIME, when rows have their own times: the key's partitions, in order of buckets. */
    struct lab_time_window *windows;
    size_t window_begin, window_count, window_capacity;
    /* With reads: the finished partitions that a read of the newest rows can reach, oldest first. */
    uint32_t past_begin, past_end, past_capacity;
    uint32_t in_range_count; /* of the last */
    struct lab_past *past;
    uint64_t past_rows;
    struct lab_era_lane
        *eras; /* for a strategy whose settings change; replaces all members above except placement */
    uint64_t past_count;           /* number of all finished partitions, including those no longer stored */
    struct bk_empties *empties;    /* empty windows that readers remember; NULL: none */
    uint64_t *in_range;            /* BK_HASH, for reads of ranges: rows per cell */
    struct lab_expected *expected; /* with lab_reads.are_expected; else NULL */
    size_t firing_place;           /* in the batch's rows that fire: those before it were passed */
};

struct lab_lane_settings {
    const struct lab_scenario *scenario;
    const struct cass_ring *ring;
    const struct bk_strategy *strategy;           /* by which rows are placed */
    const struct lab_strategy *scenario_strategy; /* the strategy in the scenario */
    const struct lab_regimes *regimes;            /* NULL: the settings do not change */
    int64_t start_ns;                             /* of the run */
    struct lab_disk_windows disk;
    uint32_t width;         /* from lab_read_width() */
    const uint16_t *firing; /* the rows of the batch that fire, and a number above all; NULL: none fires */
};

/* A read that is due. If the key has no row yet, birth_ns is now_ns. */
struct lab_read_event {
    enum lab_read_kind kind;
    int64_t now_ns, birth_ns; /* birth: time of the key's first row */
    uint64_t key_rows;        /* rows of the key so far */
    const struct lab_horizon *horizon;
};

/* Begins a key. The lane must be zeroed, or the previous key ended by lab_lane_end(), which keeps the lane's
 * memory. */
void lab_lane_begin(struct lab_lane *lane);
void lab_lane_rows(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to);
/* lane_read.c: lab_lane_reads() makes reads at the given times, between which no row arrives; they differ
 * from `first` only in now_ns. lab_lane_remember() is called when the open partition has finished, so that
 * later readers reach it as a past one. */
void lab_lane_reads(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                    const struct lab_read_event *first, const int64_t *times_ns, size_t count);
/* Computes what a read queries and finds; false when out of memory. Not for a strategy whose settings
 * change. */
bool lab_lane_ask(struct lab_lane *lane, const struct lab_lane_settings *settings,
                  const struct lab_read_event *event, struct lab_read_done *done);
/* Returns the greatest number of buckets that one step of a read queries. */
uint32_t lab_read_width(const struct lab_lane_settings *settings);
/* The bucket with which a reader begins at this time. Not for BK_HASH. */
int64_t lab_newest_bucket(const struct lab_lane *lane, const struct lab_lane_settings *settings,
                          int64_t now_ns);
/* BK_TIME: the end of the window of this time. */
int64_t lab_window_end(const struct lab_lane_settings *settings, int64_t time_ns);
void lab_lane_remember(struct lab_lane *lane, const struct lab_lane_settings *settings,
                       struct lab_tally *tally, const struct lab_horizon *horizon);
/* Called after the key's last row; end_ns: end of the run. */
void lab_lane_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                  const struct lab_key_name *key, int64_t end_ns);
void lab_lane_clear(struct lab_lane *lane);
/* BK_HASH: finds or makes the partition of a bucket; NULL when out of memory. */
struct lab_cell *lab_lane_cell(struct lab_lane *lane, const struct bk_strategy *strategy, uint32_t bucket);
/* The size of a partition whose rows have rows->bytes: adds the partition's overhead, and a tombstone for
 * each deleted row. */
struct cass_partition lab_lane_weigh(const struct lab_scenario *scenario, const struct lab_key_name *key,
                                     const struct cass_partition *rows, uint64_t gone);
/* lane_over.c: only a partition with more rows, or with more bytes of rows, can exceed a limit. */
struct cass_partition lab_over_bound(const struct lab_scenario *scenario, const struct lab_key_name *key);
/* Notes when a partition exceeded a limit, if it did so by one of the rows [from, to), after which it has
 * rows->rows rows of rows->bytes bytes, of which `gone` are deleted at the end of the run; their tombstones
 * count from then on. */
void lab_lane_over(const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to,
                   const struct cass_partition *rows, uint64_t gone);
/* Puts the rows on disk, and notes the same. */
void lab_lane_store(const struct lab_lane_settings *settings, struct lab_tally *tally,
                    const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to,
                    uint64_t gone, struct lab_disk **disk);
/* To be called after the rows [from, to) were added to a partition; cheap for those that have no limit, or
 * are far below it. */
static inline void lab_lane_watch(const struct lab_lane_settings *settings, struct lab_tally *tally,
                                  const struct lab_key_name *key, const struct lab_batch *batch, size_t from,
                                  size_t to, const struct cass_partition *rows, uint64_t gone,
                                  struct lab_disk **disk)
{
    if (settings->disk.window_ns != 0)
        lab_lane_store(settings, tally, key, batch, from, to, gone, disk);
    else if ((rows->rows > batch->over_rows || rows->bytes > batch->over_bytes) &&
             batch->times_ns[from] < tally->first_over_ns)
        lab_lane_over(settings, tally, key, batch, from, to, rows, gone);
}
/* BK_HASH: the same for the rows from `from` on with these buckets, which their cells have. */
void lab_cells_over(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                    const struct lab_key_name *key, const struct lab_batch *batch, size_t from,
                    const int32_t *buckets, size_t count);
/* Adds a partition that gets no more rows to the tally: all of its rows and their bytes, what it had on disk,
 * which is freed, the time of its first row, and whether it is closed. */
void lab_lane_finish(const struct lab_lane_settings *settings, struct lab_tally *tally,
                     const struct lab_key_name *key, int64_t bucket, const struct cass_partition *rows,
                     struct lab_disk **disk, uint64_t gone, int64_t first_ns, bool is_closed);
/* lane_expect.c: for lab_reads.are_expected. reads_per_ns: the rate of the key's reads. Returns false when
 * out of memory. */
bool lab_expect_begin(struct lab_lane *lane, const struct lab_lane_settings *settings, double reads_per_ns,
                      int64_t start_ns);
/* The arrival times of rows or, when each_ns is NULL, their expected arrival times, with equal gaps. */
struct lab_row_times {
    const int64_t *each_ns;
    int64_t first_ns;
    double gap_ns;
};
void lab_expect_changes(struct lab_lane *lane, const struct lab_lane_settings *settings,
                        struct lab_tally *tally, const struct lab_row_times *times, uint64_t rows);
/* Called after `rows` rows were added to the open partition, with the key's state after these rows. */
static inline void lab_expect_rows(struct lab_lane *lane, const struct lab_lane_settings *settings,
                                   struct lab_tally *tally, const struct lab_row_times *times, uint64_t rows)
{
    if (lane->open.rows == rows || lane->expected->rows_left <= rows ||
        (settings->strategy->kind != BK_TIME && lane->state.bucket != lane->bucket))
        lab_expect_changes(lane, settings, tally, times, rows);
    else if (lane->expected->rows_left != UINT64_MAX)
        lane->expected->rows_left -= rows;
}
void lab_expect_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                    int64_t end_ns);
/* lane_windows.c: the lane for BK_TIME when rows have their own times, so that any window may get another
 * row: all windows are kept, and memory grows with the number of windows of a key. */
static inline struct lab_time_window *lab_window_at(const struct lab_lane *lane, size_t index)
{
    return &lane->windows[lane->window_begin + index];
}
void lab_windows_rows(struct lab_lane *lane, const struct lab_lane_settings *settings,
                      struct lab_tally *tally, const struct lab_key_name *key, const struct lab_batch *batch,
                      size_t from, size_t to);
void lab_windows_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                     const struct lab_key_name *key, int64_t current);

/* lane_eras.c: the lane for a strategy whose settings change. eras may be NULL for begin and clear. */
void lab_eras_begin(struct lab_era_lane *eras);
void lab_eras_rows(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to);
void lab_eras_read(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_read_event *event);
void lab_eras_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                  const struct lab_key_name *key, int64_t end_ns);
void lab_eras_clear(struct lab_era_lane *eras);

/* The index of the first row in [from, to) whose time is at least until_ns, or `to`: a binary search in
 * ascending times. */
size_t lab_first_at(const int64_t *times_ns, size_t from, size_t to, int64_t until_ns);

/* The slot of a hash bucket's cell, or the free slot into which it would be inserted: linear probing from
 * bucket & mask. */
static inline uint32_t lab_cell_slot(const struct lab_cell *cells, uint32_t cell_count, uint32_t bucket)
{
    uint32_t mask = cell_count - 1, i = bucket & mask;
    while (cells[i].rows > 0 && cells[i].bucket != bucket)
        i = (i + 1) & mask;
    return i;
}

#endif
