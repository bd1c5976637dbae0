/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane: one strategy applied to one key. Rows are added in batches in time order. The core says for which
 * rows a route is valid, so a run of rows in the same bucket costs one step, and only strategies that use
 * every row's id have a cost per row.
 *
 * A lane has a book of the key's partitions: those that may still get rows, and those that a read may still
 * reach. A finished partition is added to the tally of (worker, strategy); tallies merge by addition. */
#ifndef LAB_LANE_H
#define LAB_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/bucketing.h"
#include "cassandra/ring.h"
#include "lab/scenario.h"
#include "lab/tally.h"
#include "workload/workload.h"

/* A partition of a key in its book. */
struct lab_entry {
    int64_t bucket;
    struct cass_partition size; /* its rows so far, and their bytes */
    uint64_t gone;              /* of these, those that are deleted or expired at the end of the run */
    uint64_t end_row;           /* number, within the key, of its last row + 1; in order of time the others
                                   are those before it. Where rows have their own times: its rows */
    int64_t first_ns;           /* arrival of its first row */
    uint64_t left;         /* BK_KIND_HASH: reads of ranges before which its last row has left all ranges */
    struct lab_disk *disk; /* NULL: all rows are on disk */
    uint64_t second;       /* of its last row, as in lab_watch_second() */
    uint32_t rows_in_second;
    uint16_t regime;  /* that wrote last, if the settings change */
    bool is_reopened; /* it got a row after it was closed */
    bool has_ended;   /* it is only kept for readers */
};

/* The partitions of a key. Those of BK_KIND_HASH are a hash table: a partition is at bucket & mask or in the
 * free items after it, which have no rows. All others are in order of their buckets, items[begin ...]. */
struct lab_book {
    struct lab_entry *items;
    size_t begin, count, capacity;
    size_t recent; /* index from `begin` of the partition that was found last */
    bool is_table;
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

/* With lab_reads.are_expected: the reads of a key, and what they find under every strategy. Numbers of reads
 * are in LAB_READ_PARTS. */
struct lab_reads_seen {
    double parts_per_ns[LAB_READ_KINDS];
    int64_t start_ns, end_ns;            /* of the run */
    int64_t first_ns[LAB_READ_KINDS];    /* reads of a range before this time are before the stream */
    int64_t span_ns, enter_ns, leave_ns; /* a row is in the range of the reads from enter_ns after it on,
                                            until leave_ns after it */
    uint64_t latest_rows;                /* rows that a read of the newest rows wants */
    const struct wl_pace *pace;          /* of rows whose times are not drawn */
    uint64_t rows;                       /* of the key */
    int64_t birth_ns, last_ns;           /* of its first and last row */
    bool has_gaps; /* after some row before one that was added last, no row came within span_ns */
    lab_wide scanned[LAB_READ_KINDS]; /* rows by all reads; of the newest ones by reads that walk */
    uint64_t covered;                 /* reads of ranges that find a row */
    uint64_t left; /* of reads of ranges, those before which the last row has left all ranges */
};

#define LAB_FEW_PARTITIONS 128
/* The reads of one kind in a lane. Between two changes of what they see, they are alike. */
struct lab_course {
    int64_t since_ns;
    uint64_t parts;                                   /* of reads before since_ns */
    uint64_t partitions, filled, scanned;             /* of a read from since_ns on */
    lab_wide all_partitions, all_filled, all_scanned; /* of the reads before */
    uint64_t parts_of[LAB_FEW_PARTITIONS];            /* not in the tally yet, by the number of partitions */
};

/* Between the times of two successive rows of a key, what a read of a range queries may change. */
struct lab_seam {
    int64_t before_ns, after_ns;
    int64_t below, above; /* the buckets of the two rows */
};

struct lab_expected {
    const struct lab_reads_seen *reads;
    struct lab_course courses[LAB_READ_KINDS];
    int64_t bucket, change_ns; /* the newest bucket that readers know, and since when */
    int64_t birth_bucket;      /* of the key's first row */
    /* Reads of the newest rows. */
    bool is_walk;           /* they query one bucket after another, from the newest down */
    int64_t newest, lowest; /* in a walk: the newest bucket that has rows, and the last one queried */
    uint64_t last;          /* the number of the partition, from 0, that has the last row of a read */
    uint64_t rows_left; /* number of rows after which a read queries fewer partitions; UINT64_MAX: never */
    /* Reads of ranges, unless by BK_KIND_HASH. */
    bool is_followed; /* by lab_expect_follow() */
    int64_t last_ns;  /* of the last row */
    int64_t last_bucket;
    bool has_seam;          /* the range begins after seam.before_ns */
    struct lab_seam seam;   /* the last such one */
    struct lab_seam *seams; /* the later ones, in order of time */
    size_t begin, end, capacity;
};

/* The rows of the last read of a kind that not all rows of a partition are for: with BK_KIND_HASH, and where
 * the settings change. */
struct lab_counted {
    uint64_t *rows; /* per item of the book */
    size_t items;
    uint64_t from, until; /* the numbers of the rows that are counted there */
};

/* A partition of a key that gets no more rows. */
struct lab_ended {
    int64_t bucket, first_ns;
    uint64_t rows, gone; /* all of its rows, and those that are deleted or expired at the end of the run */
    struct cass_partition held; /* the most that was on disk at a time: rows, and their bytes */
    bool is_closed;
};
#define LAB_ENDED_AT_ONCE 32u

/* Closed partitions of a key with the same size, which are added to the tally together. */
#define LAB_ALIKE 256u
struct lab_alike {
    struct cass_partition held, whole;
    uint64_t count;
};

/* Where the settings change: the buckets of the rows that a read of a range may still reach, in order of the
 * rows. */
struct lab_run_of_rows {
    int64_t bucket;
    uint64_t end_row; /* number of its last row + 1; it begins where the run before it ends */
};
struct lab_runs_of_rows {
    struct lab_run_of_rows *items;
    size_t count, capacity;
};

struct lab_thin;

struct lab_lane {
    const struct lab_lane_settings *settings;
    struct lab_tally *tally;
    struct lab_thin *thin;   /* NULL: every row is drawn */
    struct lab_alike *alike; /* LAB_ALIKE of them, by the number of rows; NULL: each is added at once */
    const struct lab_key_name *key; /* in progress */
    const struct lab_horizon *horizon;
    struct bk_key_state state;
    struct sim_placement placement;
    struct lab_book book;
    struct lab_ended ended[LAB_ENDED_AT_ONCE]; /* not in the tally yet */
    size_t ended_count;
    uint64_t partition_count; /* all of the key, including those no longer in the book */
    /* For a strategy whose settings change. */
    struct bk_history_state history;
    struct lab_runs_of_rows runs;
    uint32_t regime;
    bool is_unordered;          /* rows do not come in the order of their times */
    struct bk_placement window; /* BK_KIND_TIME: the last one that was asked for */
    struct bk_empties *empties; /* empty windows that readers remember; NULL: none */
    struct lab_counted counted[LAB_READ_KINDS];
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
    int64_t first_whole;                          /* see lab_first_whole() */
    struct lab_disk_windows disk;
    uint32_t width;         /* from lab_read_width() */
    uint32_t replicas;      /* of each partition */
    const uint16_t *firing; /* the rows of the batch that fire, and a number above all; NULL: none fires */
};

/* A read that is due. If the key has no row yet, birth_ns is now_ns. */
struct lab_read_event {
    enum lab_read_kind kind;
    int64_t now_ns, birth_ns; /* birth: time of the key's first row */
    uint64_t key_rows;        /* rows of the key so far */
};

/* Begins a key, which the caller has set. The previous one, if there was one, must have been ended by
 * lab_lane_end(), which keeps the lane's memory. */
void lab_lane_begin(struct lab_lane *lane);
void lab_lane_rows(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to);
/* Called after the key's last row; end_ns: end of the run. */
void lab_lane_end(struct lab_lane *lane, int64_t end_ns);
void lab_lane_clear(struct lab_lane *lane);

/* The open partition of a lane whose rows come in the order of its buckets; NULL before the first row. */
static inline struct lab_entry *lab_open(const struct lab_lane *lane)
{
    const struct lab_book *book = &lane->book;
    return book->count == 0 ? NULL : &book->items[book->begin + book->count - 1];
}
/* Finishes the open partition, if there is one, and begins the next one, which has no rows yet. NULL when out
 * of memory. */
struct lab_entry *lab_open_next(struct lab_lane *lane, int64_t bucket, int64_t first_ns);
/* BK_KIND_TIME: adds at most LAB_ENDED_AT_ONCE windows of one length, each with all of its rows, which are
 * uniform in it. `bucket` begins at begin_ns. */
void lab_lane_windows(struct lab_lane *lane, const struct lab_ended *windows, size_t count, int64_t bucket,
                      int64_t begin_ns);
/* The number of partitions with buckets up to this one, in a book in order of buckets. */
size_t lab_book_up_to(const struct lab_book *book, int64_t bucket);
/* BK_KIND_HASH: the item of a bucket, or the free one into which it would be inserted. */
static inline struct lab_entry *lab_cell_at(const struct lab_book *book, int64_t bucket)
{
    const size_t mask = book->capacity - 1;
    size_t i = (size_t)bucket & mask;
    while (book->items[i].size.rows > 0 && book->items[i].bucket != bucket)
        i = (i + 1) & mask;
    return &book->items[i];
}
/* BK_KIND_HASH: finds or makes the partition of a bucket; NULL when out of memory. */
struct lab_entry *lab_cell_grow(struct lab_book *book, uint32_t buckets, int64_t bucket);
static inline struct lab_entry *lab_cell(struct lab_book *book, uint32_t buckets, int64_t bucket)
{
    if (book->capacity < buckets)
        return lab_cell_grow(book, buckets, bucket);
    /* Each bucket has its own item. */
    struct lab_entry *cell = &book->items[bucket];
    if (cell->size.rows == 0) {
        cell->bucket = bucket;
        book->count++;
    }
    return cell;
}

/* The size of a partition whose rows have rows->bytes: adds the partition's overhead, and a tombstone for
 * each deleted row. */
struct cass_partition lab_lane_weigh(const struct lab_scenario *scenario, const struct lab_key_name *key,
                                     const struct cass_partition *rows, uint64_t gone);
/* Only a partition with more rows, or with more bytes of rows, can exceed a limit. */
struct cass_partition lab_over_bound(const struct lab_scenario *scenario, const struct lab_key_name *key);

/* The strategy by which rows are placed: a writer that counts after every n-th row closes a partition at the
 * first multiple of n that is not below its number of rows. */
struct bk_strategy lab_counted_strategy(const struct lab_strategy *strategy);
/* Whether a partition is closed by its last row, and not by the first row of the next one. */
bool lab_closes_when_full(const struct lab_strategy *strategy);

/* Begins the regimes up to a time, if the settings change. */
void lab_lane_enter(struct lab_lane *lane, int64_t time_ns);

/* lane_read.c: lab_lane_reads() makes reads at the given times, between which no row arrives; they differ
 * from `first` only in now_ns. */
void lab_lane_reads(struct lab_lane *lane, const struct lab_read_event *first, const int64_t *times_ns,
                    size_t count);
/* Returns the greatest number of buckets that one step of a read queries. */
uint32_t lab_read_width(const struct lab_lane_settings *settings);
/* Called when the open partition has finished: removes those from the book that no later read can reach. */
void lab_lane_forget(struct lab_lane *lane);
/* Computes what a read queries and finds; false when out of memory. Not for a strategy whose settings change.
 */
bool lab_read_ask(struct lab_lane *lane, const struct lab_read_event *event, struct lab_read_done *done);
/* BK_KIND_TIME: the window of this time, and its first bucket. It is often that of the call before, which
 * *last, zeroed at first, has and gets. */
const struct bk_placement *lab_window_at(const struct bk_strategy *strategy, int64_t time_ns,
                                         struct bk_placement *last);
static inline const struct bk_placement *lab_lane_window(struct lab_lane *lane, int64_t time_ns)
{
    return lab_window_at(lane->settings->strategy, time_ns, &lane->window);
}
/* Returns the bucket with which a reader begins at this time. Not for BK_KIND_HASH. */
int64_t lab_newest_bucket(struct lab_lane *lane, int64_t now_ns);

/* lane_expect.c, with lab_reads.are_expected. `share`: the key's of all reads. */
void lab_reads_seen_begin(struct lab_reads_seen *reads, const struct lab_scenario *scenario, double share,
                          int64_t start_ns, int64_t end_ns);
/* Adds rows with these times or, when each_ns is NULL, `count` rows that are uniform in [begin_ns, end_ns).
 * Must be called before the lanes get them. */
void lab_reads_seen_rows(struct lab_reads_seen *reads, const int64_t *each_ns, int64_t begin_ns,
                         int64_t end_ns, uint64_t count);
/* Returns false when out of memory. */
bool lab_expect_begin(struct lab_lane *lane, const struct lab_reads_seen *reads);
/* The arrival times of rows or, when each_ns is NULL, their expected arrival times: with equal gaps or, with
 * a pace, with equal numbers of expected rows between them. */
struct lab_row_times {
    const int64_t *each_ns;
    int64_t first_ns;
    double gap_ns;
    const struct wl_pace *pace;
    double first_rows, gap_rows;
};
/* Of rows that divide [begin_ns, end_ns) into `all` equal parts, those from the end of part `first` on. */
struct lab_row_times lab_times_between(const struct wl_pace *pace, int64_t begin_ns, int64_t end_ns,
                                       uint64_t first, uint64_t all);
static inline int64_t lab_row_time(const struct lab_row_times *times, uint64_t row)
{
    if (times->each_ns != NULL)
        return times->each_ns[row];
    return times->pace != NULL ? wl_pace_at(times->pace, times->first_rows + (double)row * times->gap_rows)
                               : times->first_ns + (int64_t)((double)row * times->gap_ns);
}
void lab_expect_changes(struct lab_lane *lane, const struct lab_row_times *times, uint64_t rows);
/* Called after `rows` rows were added to the open partition; part of lab_expect_rows(). */
void lab_expect_follow(struct lab_lane *lane, const struct lab_row_times *times, uint64_t rows);
/* BK_KIND_HASH: called after rows were added to a cell, which had cell->size.rows - rows before: one at
 * begin_ns = end_ns, or several that are uniform in [begin_ns, end_ns). */
void lab_expect_cell(struct lab_lane *lane, struct lab_entry *cell, int64_t begin_ns, int64_t end_ns,
                     uint64_t rows);
/* Called after `rows` rows were added to the open partition, with the key's state after these rows. */
static inline void lab_expect_rows(struct lab_lane *lane, const struct lab_row_times *times, uint64_t rows)
{
    const struct lab_entry *open = lab_open(lane);
    if (lane->expected->is_followed)
        lab_expect_follow(lane, times, rows);
    if (open->size.rows == rows || lane->expected->rows_left <= rows ||
        (lane->settings->strategy->kind != BK_KIND_TIME && lane->state.bucket != open->bucket))
        lab_expect_changes(lane, times, rows);
    else if (lane->expected->rows_left != UINT64_MAX)
        lane->expected->rows_left -= rows;
}
/* The same for the open partition, if it is a window of BK_KIND_TIME and has all of its rows, which are
 * uniform in it. */
void lab_expect_window(struct lab_lane *lane, int64_t begin_ns);
void lab_expect_end(struct lab_lane *lane, int64_t end_ns);
/* The index of the first row in [from, to) whose time is at least until_ns, or `to`: a binary search in
 * ascending times. */
size_t lab_first_at(const int64_t *times_ns, size_t from, size_t to, int64_t until_ns);

#endif
