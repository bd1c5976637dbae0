/* SPDX-License-Identifier: MIT */
/* Read plans: which partitions to ask for the newest rows of a key, and when to stop.
 *
 * A reader is a small plain struct of the caller's. bk_read_next() names the next step, one or more
 * neighbouring buckets to ask at once; the host asks them and reports the rows found; it ends when enough
 * rows are there or nothing is left below. Every walk goes down and is bounded: it ends at bucket 0, or for
 * BK_TIME at the window of the key's birth, so a history shorter than the rows asked for ends too.
 *
 *     bk_read_latest(&strategy, &state, now, birth, 50, BK_PLAN_DEFAULT, &reader);
 *     while (bk_read_next(&reader, &step))
 *         bk_read_found(&reader, ask(step.bucket_low, step.bucket_high, step.rows));
 */
#ifndef BUCKETING_READ_H
#define BUCKETING_READ_H

#include "bucketing/route.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bk_plan {
    BK_PLAN_DEFAULT, /* walk; for BK_HASH all */
    BK_PLAN_WALK,    /* down from the newest bucket, one at a time */
    BK_PLAN_PAIR,    /* down, two at once */
    BK_PLAN_ALL      /* BK_HASH: all buckets at once, since each may hold the newest row */
};

#define BK_WALK_WINDOWS_MAX 100000000 /* between birth and now; more is surely a wrong unit */

struct bk_reader {
    int64_t next;  /* highest bucket not yet asked */
    int64_t floor; /* lowest bucket of the history */
    int64_t width; /* buckets asked at once */
    uint64_t rows_wanted;
    uint64_t rows_found;
    uint64_t partitions_asked;
    bool step_open; /* a step was given and its rows are not yet reported */
};

struct bk_read_step {
    int64_t bucket_low, bucket_high; /* both inclusive */
    uint64_t rows;                   /* still wanted: the LIMIT of each query */
};

/* Starts a read of the newest `rows` rows. state: as for bk_route(), also needed by BK_COUNT; now_ns: the
 * reader's time, birth_ns: of the key's first row (BK_TIME only; a birth after now reads the window of now
 * alone). Errors: BK_ERROR_NULL, those of bk_strategy_check(), BK_ERROR_ROWS (0 rows), BK_ERROR_PLAN,
 * BK_ERROR_STATE, BK_ERROR_WALK_TOO_LONG; *reader is then zeroed and has no steps. */
enum bk_status bk_read_latest(const struct bk_strategy *strategy, const struct bk_key_state *state,
                              int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan,
                              struct bk_reader *reader);

/* The next step, or false when the read is complete. Called again before bk_read_found(), it gives the same
 * step. */
bool bk_read_next(struct bk_reader *reader, struct bk_read_step *step);
/* The step's buckets held `rows` rows together. Without an open step it changes nothing. */
void bk_read_found(struct bk_reader *reader, uint64_t rows);
/* For a host that knows that the buckets from the next one down to bucket + 1 are empty: takes those steps at
 * once, as if each had been asked and answered 0. Returns the partitions asked by that. */
uint64_t bk_read_skip_to(struct bk_reader *reader, int64_t bucket);

#ifdef __cplusplus
}
#endif
#endif
