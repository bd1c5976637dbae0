/* SPDX-License-Identifier: MIT */
/* A history: the strategies by which a key's rows were put into buckets, each valid from a date on.
 *
 * A new era changes the settings of a live table. All agents must have the new era before its date. They
 * choose the era of a row by the row's own time, so they all place a row alike, whenever they handle it.
 * Bucket numbers keep rising from era to era and none is reused, so a reader finds old rows by continuing to
 * lower buckets, and no row is moved. The application keeps the table of eras (dates and settings) for as
 * long as rows of these eras exist, and every agent has the same table.
 *
 * BK_KIND_UNBUCKETED, BK_KIND_TIME and BK_KIND_HASH may be followed by any kind. The highest bucket that such
 * an era can have used follows from its settings and dates alone, and the next era begins above that bucket.
 * BK_KIND_COUNT, BK_KIND_PROBABILISTIC and BK_KIND_WEIGHTED can only be followed by their own kind, since
 * only a key's state shows which bucket the key had reached at the date of the change:
 * - BK_KIND_PROBABILISTIC and BK_KIND_WEIGHTED stay in the same bucket, with the same counter. Whether a row
 * fires, and whether the counter is full, depends on the settings that are valid at the row's own time; when
 * the new threshold is lower than the counter, the next row that fires rolls the key. Each of their eras may
 * have its own greatest age (bk_strategy_max_age()). An era without a greatest age may follow one that has
 * it, but not the reverse (BK_ERROR_AGE), since the earlier state does not show whether the newest bucket has
 *   rows. No era of BK_KIND_COUNT may have a greatest age.
 * - BK_KIND_COUNT is ordered by sequence numbers, not by times. The first row of a key with a time at or
 * after the date opens the era, at its own sequence number and in the bucket above the newest; rows of the
 * era are counted from that number. The state keeps this number, and agents must agree on it as they agree on
 * the sequence.
 *
 * The structs are plain, contain no pointers, are owned by the caller and may be copied. Every call takes
 * constant time, bounded by BK_ERAS_MAX.
 *
 * Example: rows with a time from date_ns on go into partitions of half the size.
 *
 *     struct bk_history history;
 *     struct bk_history_state key;
 *     memset(&key, 0, sizeof key);
 *     bk_history_begin(&strategy, &history);
 *     if (bk_history_change(&history, date_ns, &smaller) != BK_OK)
 *         return false;
 *     bk_history_route(&history, &key, &row, &route);
 * */
#ifndef BUCKETING_HISTORY_H
#define BUCKETING_HISTORY_H

#include "bucketing/api.h"
#include "bucketing/read.h"
#include "bucketing/route.h"

BK_BEGIN

#define BK_ERAS_MAX 8u

struct bk_era {
    int64_t from_ns; /**< the earliest row time that belongs to the era; INT64_MIN for the first era */
    int64_t shift;   /**< added to the bucket that the era's strategy gives */
    struct bk_strategy strategy;
};

struct bk_history {
    uint32_t count; /**< number of eras, from 1 to BK_ERAS_MAX */
    struct bk_era eras[BK_ERAS_MAX];
};

/** Where an era of BK_KIND_COUNT begins in a key: its first sequence number, and the bucket of that number
 * before the era's shift is added. */
struct bk_era_start {
    uint64_t sequence;
    int64_t bucket;
};

/** The state that is stored per key. A new key's state is all zero. */
struct bk_history_state {
    struct bk_key_state key; /**< its bucket is the number before the era's shift is added */
    bool has_rows;           /**< BK_KIND_COUNT: bk_history_advance() was called for a row */
    uint32_t
        opened; /**< BK_KIND_COUNT: number of the newest era with an entry in `starts`; 0: none has one */
    struct bk_era_start starts[BK_ERAS_MAX];
};

/** Makes a history of one era.
 *
 * @param first  copied
 * @param out    every member is set; zeroed on errors
 * @return       BK_OK; BK_ERROR_NULL, BK_ERROR_AGE (BK_KIND_COUNT with a greatest age), or an error of
 *               bk_strategy_check() */
enum bk_status bk_history_begin(const struct bk_strategy *first, struct bk_history *out);
/** Adds an era: rows with a time from from_ns on are placed by other settings.
 *
 * @param from_ns  the earliest row time of the era. All agents must know the era before that time, since an
 *                 agent that does not know it places rows by the old settings
 * @param next     copied
 * @return         BK_OK; an error of bk_history_check(), BK_ERROR_ERA_TIME (not later than the previous era),
 *                 BK_ERROR_ERA_KIND (another kind after BK_KIND_COUNT, BK_KIND_PROBABILISTIC or
 * BK_KIND_WEIGHTED), BK_ERROR_AGE (a greatest age with BK_KIND_COUNT, or after an era without one),
 * BK_ERROR_ERAS (no room), BK_ERROR_BUCKET (bucket numbers would exceed 2^63 - 1). On errors nothing is
 *                 changed */
enum bk_status bk_history_change(struct bk_history *history, int64_t from_ns, const struct bk_strategy *next);
/** Checks a struct that these functions may not have made, for example one read from a file. Returns BK_OK
 * when bk_history_begin() and bk_history_change() could have made it; otherwise the error that they would
 * have returned, BK_ERROR_ERAS for a count out of range, or BK_ERROR_BUCKET when the shift of an era differs
 * from the one that bk_history_change() computes. */
enum bk_status bk_history_check(const struct bk_history *history);

/** The number of the era that a row time belongs to; 0 for NULL. */
uint32_t bk_history_era_at(const struct bk_history *history, int64_t time_ns);

/** As bk_route(), bk_fires() and bk_advance(), by the settings of the row's era. A history of one era behaves
 * like its strategy. The validity of a route never extends beyond the era; the route of a row that opens an
 * era is valid only for that row's sequence number, and bk_history_fires() is true for such a row too, since
 * opening an era is a write of the state.
 *
 * Call bk_history_advance() for each row that fires, and for some other rows, before the next row is routed:
 * - with a greatest age, for each row whose route `begins` a bucket;
 * - with BK_KIND_COUNT, for each row that opens an era or has a new highest sequence number.
 *
 * Errors: as for bk_route(); BK_ERROR_ERAS, BK_ERROR_BUCKET (the row's bucket would exceed 2^63 - 1), and
 * BK_ERROR_STATE. On errors nothing is changed. */
enum bk_status bk_history_route(const struct bk_history *history, const struct bk_history_state *state,
                                const struct bk_row *row, struct bk_placement *out);
bool bk_history_fires(const struct bk_history *history, const struct bk_history_state *state,
                      const struct bk_row *row);
enum bk_status bk_history_advance(const struct bk_history *history, struct bk_history_state *state,
                                  const struct bk_row *row, struct bk_effect *effect);

/** A read of several eras, from the era of the reader's time down to the era of the key's first row, with one
 * bk_reader per era. */
struct bk_history_reader {
    struct bk_reader reader;    /**< the reader of the current era: its counts cover that era only, but its
                                   `order`    is that of the whole read */
    uint32_t era;               /**< the lowest era that `reader` covers */
    uint64_t rows_before;       /**< rows found in later eras */
    uint64_t partitions_before; /**< partitions queried in later eras */
    struct bk_query query;      /**< a copy of the caller's query, with no starts */
};

/** As bk_read_begin() and bk_read_latest(), over all eras from that of now_ns down to that of birth_ns. A
 * birth of INT64_MIN means that the time of the key's first row is not known; an era of BK_KIND_TIME refuses
 * it. The plan must fit the strategy of every era that is read; BK_PLAN_DEFAULT fits all strategies. The
 * query's starts are used only in eras whose `shift` is 0. In a history that begins with BK_KIND_COUNT,
 * BK_KIND_PROBABILISTIC or BK_KIND_WEIGHTED, these are all eras. */
enum bk_status bk_history_read_begin(const struct bk_history *history, const struct bk_history_state *state,
                                     const struct bk_query *query, struct bk_history_reader *reader);
enum bk_status bk_history_read_latest(const struct bk_history *history, const struct bk_history_state *state,
                                      int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan,
                                      struct bk_history_reader *reader);
/** As bk_read_next(). history must be the one with which the read began. Report the rows found to
 * &reader->reader, with bk_read_found() or bk_read_found_range(); call bk_read_skip_to() with &reader->reader
 * too. */
bool bk_history_read_next(const struct bk_history *history, struct bk_history_reader *reader,
                          struct bk_read_step *step);
/** The number of rows found, and of partitions queried, by the whole read so far; 0 for NULL. */
uint64_t bk_history_rows_found(const struct bk_history_reader *reader);
uint64_t bk_history_partitions_asked(const struct bk_history_reader *reader);

BK_END
#endif
