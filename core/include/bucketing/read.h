/* SPDX-License-Identifier: MIT */
/* Read plans: which partitions to query for a key's newest rows, for the rows of a span of time or for all
 * rows, and when to stop.
 *
 * A reader is a small plain struct that the caller owns. bk_read_next() names the next step, one or more
 * neighbouring buckets to query at once; the host queries them and reports the rows found. The read ends when
 * enough rows were found or no lower bucket is left. Every read goes from higher to lower buckets and is
 * bounded: it ends at bucket 0, or for BK_KIND_TIME at the window of the key's first row, even when the key
 * has fewer rows than requested, and it queries at most as many partitions as the query allows. A step
 * without rows does not end the read, since buckets may be empty.
 *
 * Each call takes constant time, except bk_read_begin(), which is linear in the starts, and the calls with
 * known empty windows, which are linear in the number of runs of such windows. Readers of different keys
 * share nothing; no function keeps a pointer.
 *
 * Example: the newest 50 rows of a key.
 *
 *     struct bk_reader reader;
 *     struct bk_read_step step;
 *     bk_read_latest(&strategy, &state, now_ns, birth_ns, 50, BK_PLAN_DEFAULT, &reader);
 *     while (bk_read_next(&reader, &step))
 *         bk_read_found(&reader, ask(step.bucket_low, step.bucket_high, step.rows));
 * */
#ifndef BUCKETING_READ_H
#define BUCKETING_READ_H

#include "bucketing/api.h"
#include "bucketing/route.h"

BK_BEGIN

enum bk_plan {
    BK_PLAN_DEFAULT, /**< BK_PLAN_WALK; for BK_KIND_HASH, BK_PLAN_ALL */
    BK_PLAN_WALK,    /**< from the newest bucket down, one bucket, with all of its shards, per step; not for
                        BK_KIND_HASH */
    BK_PLAN_PAIR,    /**< the same with two buckets per step; not for BK_KIND_HASH */
    BK_PLAN_ALL,     /**< BK_KIND_HASH: all buckets in one step, since each may hold the newest row */
    BK_PLAN_LAZY, /**< BK_KIND_HASH: one bucket per step until enough rows were found, not always the newest
                   */
    BK_PLAN_PARALLEL /**< `at_once` buckets per step. With shards, as many whole buckets as have at most
                        `at_once` partitions, but at least one. With BK_KIND_HASH all buckets are queried */
};

#define BK_WALK_WINDOWS_MAX                                                                                  \
    100000000 /**< the most windows between birth and now; a larger number is taken for a mistake in a unit  \
               */
#define BK_WALK_PARTITIONS_MAX (BK_WALK_WINDOWS_MAX + 1)
#define BK_AT_ONCE_DEFAULT     8u

enum bk_query_kind {
    BK_QUERY_LATEST, /**< the newest `rows` rows */
    BK_QUERY_RANGE,  /**< the rows with a time in [from_ns, until_ns) */
    BK_QUERY_ALL
};

/** The start of a bucket as a whole, with all of its shards: rows with a time after start_ns are in `bucket`
 * or a higher one, rows with a time before it in a lower one; rows of exactly start_ns may be in either. */
struct bk_bucket_start {
    int64_t bucket, start_ns;
};

/** Which rows a read requests, and how it finds them. */
struct bk_query {
    enum bk_query_kind kind;
    enum bk_plan plan;
    uint32_t at_once;          /**< BK_PLAN_PARALLEL: number of buckets per step; 0: BK_AT_ONCE_DEFAULT */
    uint64_t rows;             /**< BK_QUERY_LATEST: >= 1 */
    int64_t from_ns, until_ns; /**< BK_QUERY_RANGE: from before until */
    int64_t now_ns, birth_ns;  /**< BK_KIND_TIME: the reader's time, and the time of the key's first row; if
                                  birth_ns  is after now_ns, only the window of now_ns is read */
    uint64_t partitions_max;   /**< the most partitions that the read may query, in whole buckets; 0:
                                  BK_WALK_PARTITIONS_MAX */
    /** BK_QUERY_RANGE, for strategies whose buckets follow each other in time: the known starts of buckets,
     * in ascending order, with which the read queries only the buckets of its range. NULL: no start is known.
     * The pointer is not kept. */
    const struct bk_bucket_start *starts;
    size_t start_count;
};

/** The order in which a read finds rows. Each bucket returns its own rows newest first. */
enum bk_order {
    BK_ORDER_NEWEST_FIRST, /**< bucket by bucket, without sorting */
    BK_ORDER_MERGED,       /**< hash and shards: after the answers of a step are merged by time */
    BK_ORDER_NONE          /**< BK_PLAN_LAZY: in no order, since any bucket may hold the newest row */
};

struct bk_reader {
    enum bk_query_kind kind;
    enum bk_order order;
    enum bk_status
        status;       /**< BK_ERROR_WALK_TOO_LONG: the read reached partitions_max before it was complete */
    int64_t next;     /**< highest bucket not yet queried */
    int64_t floor;    /**< lowest bucket of the history */
    int64_t width;    /**< buckets queried at once */
    int64_t step_low; /**< lowest bucket of the open step */
    int64_t from_ns, until_ns; /**< the times of a range read; all times for other reads */
    uint64_t rows_wanted;      /**< UINT64_MAX: all */
    uint64_t rows_found;
    uint64_t rows_each; /**< with asks_all: the most rows requested from each bucket */
    uint64_t partitions_asked, partitions_max;
    uint64_t partitions_spared; /**< number of partitions known to be empty, and not queried */
    bool step_open;             /**< a step was given and its rows are not yet reported */
    bool asks_all; /**< all buckets are queried even when enough rows were found, since each may have newer
                    * rows
                    */
    bool ends_at_older; /**< a step that finds only rows older than the range is the last step */
};

struct bk_read_step {
    int64_t bucket_low, bucket_high; /**< both inclusive */
    uint64_t rows; /**< the most rows to request from each bucket (LIMIT in CQL); UINT64_MAX: no limit */
    int64_t from_ns,
        until_ns; /**< requested times, [from_ns, until_ns); INT64_MIN and INT64_MAX: all times */
};

/** The windows of one key (BK_KIND_TIME) that are known to be empty: runs of closed windows that were queried
 * and had no row. The caller owns one such struct, without pointers, for each key; all zero means that no
 * window is known to be empty. When there is no room for another run, the shortest run is forgotten, and its
 * windows are queried again. */
#define BK_EMPTY_RUNS_MAX 32u
struct bk_window_run {
    int64_t low, high; /**< both inclusive */
};
struct bk_empties {
    uint32_t count;
    uint32_t shards;                              /**< of a window, each of which is in a run as a whole */
    struct bk_window_run runs[BK_EMPTY_RUNS_MAX]; /**< ascending, with gaps between them */
};

/** Makes a query for the newest rows, with defaults for all other members.
 *
 * @param now_ns    the reader's time; only BK_KIND_TIME uses this and birth_ns
 * @param birth_ns  time of the key's first row, or earlier: the read ends at the window of this time. Where
 *                  several writers' clocks differ, subtract their largest difference, since a later row may
 *                  have an earlier time.
 * @param rows      how many rows; bk_read_begin() refuses 0
 * @return          a plain struct without pointers; there is nothing to free */
struct bk_query bk_query_latest(int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan);

/** Starts a read.
 *
 * @param strategy  read only, not kept
 * @param state     of the key, with its newest bucket; may be NULL for BK_KIND_UNBUCKETED, BK_KIND_TIME and
 * BK_KIND_HASH
 * @param query     read only; neither it nor its starts are kept
 * @param reader    every member is set; on errors it is zeroed and has no steps. There is nothing to free
 * @return          BK_OK; BK_ERROR_NULL, an error of bk_strategy_check(), BK_ERROR_ROWS (0 rows),
 *                  BK_ERROR_RANGE (the range does not end after it begins), BK_ERROR_QUERY, BK_ERROR_PLAN
 *                  (the strategy does not have this plan), BK_ERROR_STATE (the state or the starts are
 *                  invalid), BK_ERROR_WALK_TOO_LONG (more than BK_WALK_WINDOWS_MAX windows) */
enum bk_status bk_read_begin(const struct bk_strategy *strategy, const struct bk_key_state *state,
                             const struct bk_query *query, struct bk_reader *reader);
/** Starts a read of bk_query_latest(now_ns, birth_ns, rows, plan). */
enum bk_status bk_read_latest(const struct bk_strategy *strategy, const struct bk_key_state *state,
                              int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan,
                              struct bk_reader *reader);

/** Returns the next step. Called again before bk_read_found(), it returns the same step.
 *
 * @param step  set to the buckets to query; unchanged when the read has ended
 * @return      false when the read is complete or reached its limit (reader->status), and when a pointer is
 *              NULL */
bool bk_read_next(struct bk_reader *reader, struct bk_read_step *step);
/** As bk_read_next(), but skips the windows that are known to be empty. `known` may be NULL. */
bool bk_read_next_known(struct bk_reader *reader, const struct bk_empties *known, struct bk_read_step *step);
/** Reports that the step's buckets together returned `rows` rows. It does nothing when reader is NULL or no
 * step is open. */
void bk_read_found(struct bk_reader *reader, uint64_t rows);
/** As bk_read_found(), for a range. saw_older: one of the step's buckets has a row older than from_ns; a
 * query that reads rows newest first from until_ns, and stops at the first row before from_ns, finds this
 * out. Where buckets follow each other in time, a step that finds only older rows is the last; if saw_older
 * is never reported, the read continues down to bucket 0. */
void bk_read_found_range(struct bk_reader *reader, uint64_t rows, bool saw_older);
/** Skips the buckets from the next one down to bucket + 1, which the host knows to be empty, with the same
 * effect as querying each and finding no row.
 *
 * @return  the number of partitions counted as queried; 0 for NULL, and when nothing is skipped */
uint64_t bk_read_skip_to(struct bk_reader *reader, int64_t bucket);

/** Remembers that windows are empty: of the buckets low to high, which were queried and had no row, those
 * whose windows ended late_ns or more before now_ns. Open windows, windows that a late row may still reach,
 * and windows that the reader's range covers in part are never remembered.
 *
 * @param strategy   of kind BK_KIND_TIME
 * @param reader     the reader that queried them; read only
 * @param now_ns     the time of the request, or earlier; not the time of the answer
 * @param late_ns    how long after a window's end rows may still be written to it, >= 0. If it is too short,
 *                   later reads miss rows
 * @param low, high  both inclusive
 * @return           BK_OK; BK_ERROR_NULL, an error of bk_strategy_check(), BK_ERROR_KIND, BK_ERROR_RANGE
 *                   (late_ns below 0). On errors nothing is changed */
enum bk_status bk_empties_learn(struct bk_empties *empties, const struct bk_strategy *strategy,
                                const struct bk_reader *reader, int64_t now_ns, int64_t late_ns, int64_t low,
                                int64_t high);
/** Forgets that the bucket was empty: call it after a row was written to the bucket. empties may be NULL,
 * here and below. */
void bk_empties_forget(struct bk_empties *empties, int64_t bucket);
/** The highest bucket, at most `bucket`, that is not known to be empty; INT64_MIN: there is none. */
int64_t bk_empties_pass(const struct bk_empties *empties, int64_t bucket);
/** The highest bucket, at most `bucket`, that is known to be empty; INT64_MIN: there is none. */
int64_t bk_empties_top(const struct bk_empties *empties, int64_t bucket);

BK_END
#endif
