/* SPDX-License-Identifier: MIT */
/* A history: the strategies that a key's rows were put into buckets by, each from a date on.
 *
 * Settings of a live table are changed by a new era. Its date is agreed on before it comes and looked up by
 * the row's own time, so all agents place a row alike, whenever they take it up. Bucket numbers go on rising
 * from era to era and none is used anew, so old rows are found by walking on down and nothing is moved. The
 * application keeps the table of eras (dates and settings) for as long as rows of theirs exist, and every
 * agent has the same.
 *
 * BK_UNBUCKETED, BK_TIME and BK_HASH may be followed by any kind. What their eras can have used is known from
 * the table, so the next era is raised above it. BK_COUNT, BK_PROBABILISTIC and BK_WEIGHTED are followed by
 * their own kind alone, since which bucket a key had reached at the date only its state tells:
 * - BK_PROBABILISTIC and BK_WEIGHTED go on in the same bucket, with the same counter. A row fires, and a
 * count is full, by the settings of the row's own time; a count above a lower threshold rolls the key with
 * the next row that fires.
 * - BK_COUNT is ordered by sequence numbers, not by times. The first row of a key from the date on opens the
 *   era, with its own number and the bucket above the newest; from that number on rows are counted anew. The
 *   state keeps this, and agents must agree on it as on the sequence.
 *
 * The structs are plain, without pointers, owned by the caller and may be copied. Every call costs a
 * constant, with BK_ERAS_MAX as its bound.
 *
 * Example: from a date on, partitions are half as large; a row goes by its own time.
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
    int64_t from_ns; /* the first row time that belongs to it; of the first era INT64_MIN */
    int64_t shift;   /* the era's buckets are those of its strategy, raised by this */
    struct bk_strategy strategy;
};

struct bk_history {
    uint32_t count; /* of eras, from 1 to BK_ERAS_MAX */
    struct bk_era eras[BK_ERAS_MAX];
};

/* Where an era of BK_COUNT begins in a key: its first sequence number, and the bucket of that, less the
 * shift. */
struct bk_era_start {
    uint64_t sequence;
    int64_t bucket;
};

/* What is kept per key. A new key's state is all zero. */
struct bk_history_state {
    struct bk_key_state key; /* its bucket is less the shift */
    bool has_rows;           /* BK_COUNT: one was advanced over */
    uint32_t opened;         /* BK_COUNT: the newest era that has a start; 0: none has */
    struct bk_era_start starts[BK_ERAS_MAX];
};

/* A history of one era.
 *
 * @param first  copied
 * @param out    set whole; zeroed on errors
 * @return       BK_OK; those of bk_strategy_check(), BK_ERROR_AGE (of any greatest age),
 *               BK_ERROR_NULL */
enum bk_status bk_history_begin(const struct bk_strategy *first, struct bk_history *out);
/* From a date on rows are put by other settings.
 *
 * @param from_ns  the first row time that belongs to them; to be agreed on before it comes, since agents
 *                 that do not know of it place rows by the old ones
 * @param next     copied
 * @return         BK_OK; those of bk_history_check(), BK_ERROR_ERA_TIME (not later than the change
 *                 before), BK_ERROR_ERA_KIND (another kind after BK_COUNT, BK_PROBABILISTIC or
 *                 BK_WEIGHTED), BK_ERROR_ERAS (no room), BK_ERROR_BUCKET (bucket numbers would pass
 *                 2^63 - 1): nothing is changed then */
enum bk_status bk_history_change(struct bk_history *history, int64_t from_ns, const struct bk_strategy *next);
/* Whether a struct that came from elsewhere is one that the two functions above could have made. Errors: as
 * theirs; BK_ERROR_ERAS for a count out of range, BK_ERROR_BUCKET for a shift that is not the one made. */
enum bk_status bk_history_check(const struct bk_history *history);

/* The number of the era that a row time belongs to; 0 for NULL. */
uint32_t bk_history_era_at(const struct bk_history *history, int64_t time_ns);

/* As bk_route(), bk_fires() and bk_advance(). A route holds within its era; that of a row that opens an era
 * holds for its own sequence number alone. bk_history_fires() is true for such a row too, and both it and
 * every highest sequence number of BK_COUNT must be advanced over, before the next row is routed. The effect
 * of opening is a write of the state. A history of one era answers what its strategy does.
 * Errors: as for bk_route(); BK_ERROR_ERAS, BK_ERROR_BUCKET (the row's bucket would pass 2^63 - 1), and
 * BK_ERROR_STATE. Nothing is changed then. */
enum bk_status bk_history_route(const struct bk_history *history, const struct bk_history_state *state,
                                const struct bk_row *row, struct bk_route *out);
bool bk_history_fires(const struct bk_history *history, const struct bk_history_state *state,
                      const struct bk_row *row);
enum bk_status bk_history_advance(const struct bk_history *history, struct bk_history_state *state,
                                  const struct bk_row *row, struct bk_effect *effect);

/* A read: eras from that of the reader's time down to that of the birth, one bk_reader after the other. */
struct bk_history_reader {
    struct bk_reader reader;    /* of the era; its counts are of that alone, its order of the whole read */
    uint32_t era;               /* the lowest that it covers */
    uint64_t rows_before;       /* found in the eras above */
    uint64_t partitions_before; /* asked there */
    struct bk_query query;      /* without its starts */
};

/* As bk_read_begin() and bk_read_latest(). The birth also ends the walk over eras; INT64_MIN: not known,
 * which only BK_TIME cannot do without. A plan must be one of every era's strategy that is read;
 * BK_PLAN_DEFAULT always is. Starts are taken where the buckets are not shifted (BK_COUNT and
 * BK_PROBABILISTIC throughout). */
enum bk_status bk_history_read_begin(const struct bk_history *history, const struct bk_history_state *state,
                                     const struct bk_query *query, struct bk_history_reader *reader);
enum bk_status bk_history_read_latest(const struct bk_history *history, const struct bk_history_state *state,
                                      int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan,
                                      struct bk_history_reader *reader);
/* As bk_read_next(), over the same history. Its answer is told by bk_read_found() or bk_read_found_range() to
 * reader->reader, which bk_read_skip_to() takes as well. */
bool bk_history_read_next(const struct bk_history *history, struct bk_history_reader *reader,
                          struct bk_read_step *step);
/* Of the whole read so far; 0 for NULL. */
uint64_t bk_history_rows_found(const struct bk_history_reader *reader);
uint64_t bk_history_partitions_asked(const struct bk_history_reader *reader);

BK_END
#endif
