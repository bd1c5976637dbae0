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
#include "cassandra/ring.h"
#include "lab/batch.h"
#include "lab/change.h"
#include "lab/tally.h"

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

/* Of a key whose reads are expected: what one asks since a time, and when that changes. */
struct lab_expected {
    int64_t start_ns, since_ns, birth_ns; /* birth: time of the key's first row */
    double parts_per_ns;                  /* LAB_READ_PARTS a read */
    uint64_t parts;                       /* counted so far */
    uint64_t partitions;                  /* that a read asks */
    uint64_t rows_left;                   /* until one more row asks for fewer; UINT64_MAX: none does */
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
    struct bk_empties *empties;    /* what the readers remember; NULL: nothing */
    uint64_t *in_range;            /* BK_HASH, of a range: rows by cell */
    struct lab_expected *expected; /* with lab_reads.are_expected; else NULL */
};

struct lab_lane_settings {
    const struct lab_scenario *scenario;
    const struct cass_ring *ring;
    const struct bk_strategy *strategy;           /* as rows are placed by it */
    const struct lab_strategy *scenario_strategy; /* the same as the scenario has it */
    const struct lab_regimes *regimes;            /* NULL: the settings hold throughout */
};

/* A read that is due; where no row has come yet, birth is now. */
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
/* lane_read.c: reads at these times, between which no row comes, whatever the first event says of now; and
 * the partition that is open has finished, so that readers will meet it as a past one. */
void lab_lane_reads(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                    const struct lab_read_event *first, const int64_t *times_ns, size_t count);
/* What the read asks and finds; false when out of memory. Not of a strategy whose settings change. */
bool lab_lane_ask(struct lab_lane *lane, const struct lab_lane_settings *settings,
                  const struct lab_read_event *event, struct lab_read_done *done);
/* Of BK_TIME: when the window of this time ends. */
int64_t lab_window_end(const struct lab_lane_settings *settings, int64_t time_ns);
void lab_lane_remember(struct lab_lane *lane, const struct lab_lane_settings *settings,
                       struct lab_tally *tally, const struct lab_horizon *horizon);
/* The key's rows are over; the run ends at end_ns. */
void lab_lane_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                  const struct lab_key_name *key, int64_t end_ns);
void lab_lane_clear(struct lab_lane *lane);
/* BK_HASH: the partition of a bucket, new when it has no rows; NULL when out of memory. */
struct lab_cell *lab_lane_cell(struct lab_lane *lane, const struct bk_strategy *strategy, uint32_t bucket);
/* A partition whose rows weigh `rows->bytes`: what stands around them, and a tombstone for each row that was
 * deleted, comes to it. */
struct cass_partition lab_lane_weigh(const struct lab_scenario *scenario, const struct lab_key_name *key,
                                     const struct cass_partition *rows, uint64_t gone);
/* Puts a partition that gets no more rows into the tally: rows and what they weigh, when it began, and
 * whether it is closed. */
void lab_lane_finish(const struct lab_lane_settings *settings, struct lab_tally *tally,
                     const struct lab_key_name *key, int64_t bucket, const struct cass_partition *rows,
                     uint64_t gone, int64_t first_ns, bool is_closed);
/* lane_expect.c: with lab_reads.are_expected. Their rate is the key's. False when out of memory. */
bool lab_expect_begin(struct lab_lane *lane, const struct lab_lane_settings *settings, double reads_per_ns,
                      int64_t start_ns);
/* When rows came, or, each_ns being NULL, are expected to have come. */
struct lab_row_times {
    const int64_t *each_ns;
    int64_t first_ns;
    double gap_ns;
};
void lab_expect_changes(struct lab_lane *lane, const struct lab_lane_settings *settings,
                        struct lab_tally *tally, const struct lab_row_times *times, uint64_t rows);
/* So many rows have gone into the open partition, and the key's state is that after them. */
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

/* The first row in [from, to) with a time of until_ns or later, or `to`: a binary search of times in order.
 */
size_t lab_first_at(const int64_t *times_ns, size_t from, size_t to, int64_t until_ns);
uint64_t lab_batch_bytes(const struct lab_batch *batch, size_t from, size_t to);

/* The slot of a hash bucket's cell, or the free one where it would stand: linear probing from bucket & mask.
 */
static inline uint32_t lab_cell_slot(const struct lab_cell *cells, uint32_t cell_count, uint32_t bucket)
{
    uint32_t mask = cell_count - 1, i = bucket & mask;
    while (cells[i].rows > 0 && cells[i].bucket != bucket)
        i = (i + 1) & mask;
    return i;
}

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
