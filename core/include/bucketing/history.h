/* SPDX-License-Identifier: MIT */
/* A history: the strategies by which a key's rows were put into buckets, each from a date on.
 *
 * A new era changes the settings of a live table. All agents learn its date before the date comes, and find
 * the era of a row by the row's own time, so they all place a row alike, whenever they handle it. Bucket
 * numbers keep rising from era to era and none is reused, so a reader finds old rows by walking further down,
 * and no row is moved. The application keeps the table of eras (dates and settings) for as long as rows of
 * these eras exist, and every agent has the same table.
 *
 * BK_UNBUCKETED, BK_TIME and BK_HASH may be followed by any kind. The table shows which buckets their eras
 * can have used, and the next era begins above them. BK_COUNT, BK_PROBABILISTIC and BK_WEIGHTED can only be
 * followed by their own kind, since only a key's state shows which bucket the key had reached at the date:
 * - BK_PROBABILISTIC and BK_WEIGHTED stay in the same bucket, with the same counter. The settings of a row's
 * own time decide whether it fires and whether the counter is full; when the new threshold is lower than the
 * counter, the next row that fires rolls the key. Their eras may have a greatest age, each its own; an age
 * may end with an era, but not begin with one (BK_ERROR_AGE), since the state before does not tell whether
 * the newest bucket has rows. Of BK_COUNT no era of a history has one.
 * - BK_COUNT is ordered by sequence numbers, not by times. The first row of a key at or after the date opens
 * the era, at its own number and in the bucket above the newest; rows are counted from that number on. The
 * state keeps this number, and agents must agree on it as they agree on the sequence.
 *
 * The structs are plain, without pointers, owned by the caller and may be copied. Every call takes constant
 * time, bounded by BK_ERAS_MAX.
 *
 * Example: from a date on, partitions are half as large; a row's own time decides.
 *
 *     struct bk_history history;
 *     struct bk_history_state key;
 *     memset(&key, 0, sizeof key);
 *     bk_history_begin(&strategy, &history);
 *     if (bk_history_change(&history, date_ns, &smaller) != BK_OK)
 *         return false;
 *     bk_history_route(&history, &key, &row, &route);
 */
#ifndef BUCKETING_HISTORY_H
#define BUCKETING_HISTORY_H

#include "bucketing/api.h"
#include "bucketing/read.h"
#include "bucketing/route.h"

BK_BEGIN

#define BK_ERAS_MAX 8u

struct bk_era {
    int64_t from_ns; /* the first row time that belongs to it; INT64_MIN for the first era */
    int64_t shift;   /* added to the bucket that the era's strategy gives */
    struct bk_strategy strategy;
};

struct bk_history {
    uint32_t count; /* of eras, from 1 to BK_ERAS_MAX */
    struct bk_era eras[BK_ERAS_MAX];
};

/* Where an era of BK_COUNT begins in a key: its first sequence number, and the bucket of that number without
 * the shift. */
struct bk_era_start {
    uint64_t sequence;
    int64_t bucket;
};

/* What is kept per key. A new key's state is all zero. */
struct bk_history_state {
    struct bk_key_state key; /* its bucket does not include the shift */
    bool has_rows;           /* BK_COUNT: bk_history_advance() was called for a row */
    uint32_t opened;         /* BK_COUNT: the newest era that has a start; 0: no era has one */
    struct bk_era_start starts[BK_ERAS_MAX];
};

/* A history of one era.
 *
 * @param first  copied
 * @param out    set whole; zeroed on errors
 * @return       BK_OK; those of bk_strategy_check(), BK_ERROR_AGE (of a count's greatest age),
 *               BK_ERROR_NULL */
enum bk_status bk_history_begin(const struct bk_strategy *first, struct bk_history *out);
/* Adds an era: from a date on, other settings place the rows.
 *
 * @param from_ns  the first row time of the era. All agents must know it before it comes, since an agent that
 *                 does not know it places rows by the old settings
 * @param next     copied
 * @return         BK_OK; those of bk_history_check(), BK_ERROR_ERA_TIME (not later than the change
 *                 before), BK_ERROR_ERA_KIND (another kind after BK_COUNT, BK_PROBABILISTIC or
 *                 BK_WEIGHTED), BK_ERROR_AGE (of a count, or where an age would begin), BK_ERROR_ERAS (no
 *                 room), BK_ERROR_BUCKET (bucket numbers would pass 2^63 - 1): nothing is changed then */
enum bk_status bk_history_change(struct bk_history *history, int64_t from_ns, const struct bk_strategy *next);
/* Checks a struct that came from elsewhere. Returns BK_OK when the two functions above could have made it;
 * otherwise their errors, BK_ERROR_ERAS for a count out of range, or BK_ERROR_BUCKET for another shift than
 * theirs. */
enum bk_status bk_history_check(const struct bk_history *history);

/* The number of the era that a row time belongs to; 0 for NULL. */
uint32_t bk_history_era_at(const struct bk_history *history, int64_t time_ns);

/* As bk_route(), bk_fires() and bk_advance(). A route holds within its era; the route of a row that opens an
 * era holds only for that row's sequence number. bk_history_fires() is true for such a row too. With a
 * greatest age also call bk_history_advance() for each row whose route `begins` a bucket. With
 * BK_COUNT, call bk_history_advance() for such a row, and for every row with a new highest sequence number,
 * before the next row is routed. Opening an era is a write of the state. A history of one era behaves as its
 * strategy does. Errors: as for bk_route(); BK_ERROR_ERAS, BK_ERROR_BUCKET (the row's bucket would pass 2^63
 * - 1), and BK_ERROR_STATE. Nothing is changed then. */
enum bk_status bk_history_route(const struct bk_history *history, const struct bk_history_state *state,
                                const struct bk_row *row, struct bk_route *out);
bool bk_history_fires(const struct bk_history *history, const struct bk_history_state *state,
                      const struct bk_row *row);
enum bk_status bk_history_advance(const struct bk_history *history, struct bk_history_state *state,
                                  const struct bk_row *row, struct bk_effect *effect);

/* A read of several eras, from the era of the reader's time down to the era of the birth, with one bk_reader
 * for each. */
struct bk_history_reader {
    struct bk_reader
        reader;           /* of the current era: its counts cover that era only, its order the whole read */
    uint32_t era;         /* the lowest era that `reader` covers */
    uint64_t rows_before; /* rows found in later eras */
    uint64_t partitions_before; /* partitions queried in later eras */
    struct bk_query query;      /* without its starts */
};

/* As bk_read_begin() and bk_read_latest(). The birth also ends the walk over eras; INT64_MIN: not known,
 * which BK_TIME refuses. The plan must fit the strategy of every era that is read; BK_PLAN_DEFAULT fits all.
 * Starts are used where the buckets are not shifted (histories of BK_COUNT and BK_PROBABILISTIC only). */
enum bk_status bk_history_read_begin(const struct bk_history *history, const struct bk_history_state *state,
                                     const struct bk_query *query, struct bk_history_reader *reader);
enum bk_status bk_history_read_latest(const struct bk_history *history, const struct bk_history_state *state,
                                      int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan,
                                      struct bk_history_reader *reader);
/* As bk_read_next(), with the history that the read began with. Report the answer to reader->reader, by
 * bk_read_found() or bk_read_found_range(); bk_read_skip_to() takes reader->reader too. */
bool bk_history_read_next(const struct bk_history *history, struct bk_history_reader *reader,
                          struct bk_read_step *step);
/* Rows found, and partitions queried, by the whole read so far; 0 for NULL. */
uint64_t bk_history_rows_found(const struct bk_history_reader *reader);
uint64_t bk_history_partitions_asked(const struct bk_history_reader *reader);

BK_END
#endif
