/* SPDX-License-Identifier: MIT */
/* A history of strategies that follow one another in time: which of them places a row, and which buckets a
 * read queries. */
#include "bucketing/history.h"

#include <string.h>

#include "calendar.h"

/* The place of a row of BK_KIND_COUNT: the era that it belongs to, and whether it is the first row of the
 * era. */
struct place {
    uint32_t era;
    bool opens;
    struct bk_era_start start;
};

/* BK_KIND_COUNT starts counting again at the first row of an era and, with a greatest age, at the first row
 * after a line. Its state can hold only one of these, so the combination is refused. */
static enum bk_status check_strategy(const struct bk_strategy *strategy)
{
    enum bk_status status = bk_strategy_check(strategy);
    bool is_aged_count = status == BK_OK && strategy->kind == BK_KIND_COUNT && strategy->max_age_ns != 0;
    return is_aged_count ? BK_ERROR_AGE : status;
}

enum bk_status bk_history_begin(const struct bk_strategy *first, struct bk_history *out)
{
    if (out == NULL)
        return BK_ERROR_NULL;
    memset(out, 0, sizeof *out);
    enum bk_status status = check_strategy(first);
    if (status != BK_OK)
        return status;
    out->count = 1;
    out->eras[0] = (struct bk_era){INT64_MIN, 0, *first};
    return BK_OK;
}

/* Returns whether the current bucket of a key depends on its state or on its newest sequence number. */
static bool keeps_state(enum bk_kind kind)
{
    return kind == BK_KIND_COUNT || bk_kind_fires(kind);
}

/* Returns whether a greatest age begins between two eras. This is refused, because only a state of an era
 * with an age has the start of the newest bucket. */
static bool begins_to_age(const struct bk_strategy *last, const struct bk_strategy *next)
{
    return keeps_state(last->kind) && last->max_age_ns == 0 && next->max_age_ns != 0;
}

static int64_t highest_before(const struct bk_era *era, int64_t until_ns)
{
    if (era->strategy.kind == BK_KIND_TIME)
        return era->shift +
               (bk_window_of(&era->strategy, until_ns - 1).index + 1) * bk_shards_of(&era->strategy) - 1;
    return era->shift + (era->strategy.kind == BK_KIND_HASH ? (int64_t)era->strategy.of.hash.buckets - 1 : 0);
}

static int64_t lowest_from(const struct bk_strategy *strategy, int64_t from_ns)
{
    return strategy->kind == BK_KIND_TIME ? bk_window_of(strategy, from_ns).index * bk_shards_of(strategy)
                                          : 0;
}

/* The checks of every call; the other ones were made when the history was created. */
static enum bk_status check_use(const struct bk_history *history)
{
    if (history == NULL)
        return BK_ERROR_NULL;
    return history->count >= 1 && history->count <= BK_ERAS_MAX ? BK_OK : BK_ERROR_ERAS;
}

/* Whether an era may follow another one; sets *shift to its shift. */
static enum bk_status check_next(const struct bk_era *last, int64_t from_ns, const struct bk_strategy *next,
                                 int64_t *shift)
{
    if (from_ns <= last->from_ns)
        return BK_ERROR_ERA_TIME;
    if (keeps_state(last->strategy.kind) && next->kind != last->strategy.kind)
        return BK_ERROR_ERA_KIND;
    if (begins_to_age(&last->strategy, next))
        return BK_ERROR_AGE;
    if (keeps_state(last->strategy.kind) && bk_shards_of(&last->strategy) != bk_shards_of(next))
        return BK_ERROR_SHARDS; /* the eras share their bucket numbers */
    *shift = last->shift;
    if (!keeps_state(last->strategy.kind))
        /* This cannot overflow: a window lasts at least a microsecond, and a hash has at most 2^31
         * buckets. */
        *shift = highest_before(last, from_ns) + 1 - lowest_from(next, from_ns);
    return BK_OK;
}

enum bk_status bk_history_check(const struct bk_history *history)
{
    enum bk_status status = check_use(history);
    for (uint32_t i = 0; status == BK_OK && i < history->count; i++) {
        const struct bk_era *era = &history->eras[i];
        int64_t shift = 0;
        status = check_strategy(&era->strategy);
        if (status == BK_OK && i > 0)
            status = check_next(era - 1, era->from_ns, &era->strategy, &shift);
        else if (status == BK_OK && era->from_ns != INT64_MIN)
            status = BK_ERROR_ERA_TIME;
        if (status == BK_OK && era->shift != shift)
            status = BK_ERROR_BUCKET;
    }
    return status;
}

enum bk_status bk_history_change(struct bk_history *history, int64_t from_ns, const struct bk_strategy *next)
{
    enum bk_status status = bk_history_check(history);
    int64_t shift;
    if (status == BK_OK)
        status = check_strategy(next);
    if (status == BK_OK && history->count == BK_ERAS_MAX)
        status = BK_ERROR_ERAS;
    if (status == BK_OK)
        status = check_next(&history->eras[history->count - 1], from_ns, next, &shift);
    if (status == BK_OK)
        history->eras[history->count++] = (struct bk_era){from_ns, shift, *next};
    return status;
}

uint32_t bk_history_era_at(const struct bk_history *history, int64_t time_ns)
{
    if (check_use(history) != BK_OK)
        return 0;
    uint32_t era = history->count - 1;
    while (era > 0 && time_ns < history->eras[era].from_ns)
        era--;
    return era;
}

/* Returns the first of the eras that have the same kind as the last one, without a different kind in between.
 * These eras share their bucket numbers. */
static uint32_t first_of_kind(const struct bk_history *history)
{
    uint32_t era = history->count - 1;
    while (era > 0 && history->eras[era - 1].strategy.kind == history->eras[era].strategy.kind)
        era--;
    return era;
}

static enum bk_status add(int64_t bucket, int64_t more, int64_t *out)
{
    if (more > 0 && bucket > INT64_MAX - more)
        return BK_ERROR_BUCKET;
    *out = bucket + more; /* only windows have numbers below 0, and those are far from INT64_MIN */
    return BK_OK;
}

/* Routes a row by the era's rows per bucket, counted from the era's start. The route has no bounds in
 * time. */
static enum bk_status count_in(const struct bk_history *history, uint32_t era, struct bk_era_start start,
                               uint64_t sequence, struct bk_placement *out)
{
    struct bk_row row = {.sequence = sequence - start.sequence};
    enum bk_status status = bk_route_whole(&history->eras[era].strategy, NULL, &row, out);
    if (status != BK_OK)
        return status;
    out->sequence_low += start.sequence;
    out->sequence_high =
        out->sequence_high > UINT64_MAX - start.sequence ? UINT64_MAX : out->sequence_high + start.sequence;
    return add(out->bucket, start.bucket, &out->bucket);
}

/* Begins the era `newest` with this row, in a bucket above all that the key has used according to its
 * sequence numbers and to its state. */
static enum bk_status begin_era(const struct bk_history *history, const struct bk_history_state *state,
                                uint32_t newest, const struct bk_row *row, struct place *out)
{
    uint32_t first = first_of_kind(history), before = state->opened < first ? first : state->opened;
    struct bk_era_start start = before == first ? (struct bk_era_start){0, 0} : state->starts[before];
    if (state->key.bucket < 0 || start.bucket < 0)
        return BK_ERROR_STATE;
    struct bk_placement last = {.bucket = start.bucket - 1};
    if (row->sequence > start.sequence) {
        enum bk_status status = count_in(history, before, start, row->sequence - 1, &last);
        if (status != BK_OK)
            return status;
    }
    if (state->has_rows && state->key.bucket > last.bucket)
        last.bucket = state->key.bucket;
    *out = (struct place){newest, true, {row->sequence, 0}};
    return add(last.bucket, 1, &out->start.bucket);
}

/* Finds the newest era that began at or below the row's sequence number. If the row's time is in an era that
 * has not begun yet, the row begins that era. */
static enum bk_status find_place(const struct bk_history *history, const struct bk_history_state *state,
                                 const struct bk_row *row, struct place *out)
{
    uint32_t first = first_of_kind(history);
    uint32_t opened = state == NULL || state->opened < first ? first : state->opened;
    uint32_t due = bk_history_era_at(history, row->time_ns), era = opened;
    if (opened >= history->count)
        return BK_ERROR_STATE;
    if (state == NULL && first + 1 < history->count)
        return BK_ERROR_NULL;
    while (era > first && row->sequence < state->starts[era].sequence)
        era--;
    if (era == opened && due > opened)
        return begin_era(history, state, due, row, out);
    out->era = era;
    out->opens = false;
    out->start = era == first ? (struct bk_era_start){0, 0} : state->starts[era];
    return out->start.bucket >= 0 ? BK_OK : BK_ERROR_STATE;
}

/* Returns the exclusive end of an era; INT64_MAX if it has none. */
static int64_t until_of(const struct bk_history *history, uint32_t era)
{
    return era + 1 < history->count ? history->eras[era + 1].from_ns : INT64_MAX;
}

/* The bucket is that of the state: neither the era's shift is in it, nor its shards. */
static enum bk_status route_count(const struct bk_history *history, const struct bk_history_state *state,
                                  const struct bk_row *row, struct bk_placement *out, struct place *place)
{
    enum bk_status status =
        bk_strategy_check(&history->eras[bk_history_era_at(history, row->time_ns)].strategy);
    if (status == BK_OK)
        status = find_place(history, state, row, place);
    if (status == BK_OK)
        status = count_in(history, place->era, place->start, row->sequence, out);
    if (status != BK_OK)
        return status;
    uint32_t first = first_of_kind(history);
    uint32_t opened = state == NULL || state->opened < first ? first : state->opened;
    if (place->opens) {
        out->sequence_low = row->sequence;
        out->sequence_high = row->sequence == UINT64_MAX ? UINT64_MAX : row->sequence + 1;
        out->from_ns = history->eras[place->era].from_ns;
        out->until_ns = until_of(history, place->era);
    } else if (place->era < opened) {
        uint64_t end = state->starts[place->era + 1].sequence;
        out->sequence_high = out->sequence_high < end ? out->sequence_high : end;
    } else {
        out->until_ns = until_of(history, opened);
    }
    /* Rows before the first counted era belong to earlier eras. */
    if (first > 0 && out->from_ns < history->eras[first].from_ns)
        out->from_ns = history->eras[first].from_ns;
    return out->bucket <= bk_last_bucket(&history->eras[place->era].strategy) ? BK_OK : BK_ERROR_BUCKET;
}

/* Limits the count of a state to one below this era's threshold, since an earlier era with a higher threshold
 * may have made it; then the next increment fills the bucket. Returns false if no era can have made the
 * count. */
static bool clamp(const struct bk_history *history, uint32_t era, const struct bk_key_state *state,
                  struct bk_key_state *out)
{
    uint64_t highest = 0, threshold = bk_threshold(&history->eras[era].strategy);
    for (uint32_t i = first_of_kind(history); i < history->count; i++) {
        uint64_t other = bk_threshold(&history->eras[i].strategy);
        highest = other > highest ? other : highest;
    }
    *out = *state;
    if (threshold > 0 && state->counter >= threshold && state->counter < highest)
        out->counter = threshold - 1;
    return state->counter < highest;
}

/* Routes a row of any kind but BK_KIND_COUNT. */
static enum bk_status route_plain(const struct bk_history *history, const struct bk_history_state *state,
                                  const struct bk_row *row, uint32_t number, struct bk_placement *out)
{
    const struct bk_era *era = &history->eras[number];
    struct bk_key_state key;
    bool is_counted = bk_kind_fires(era->strategy.kind);
    if (is_counted && state == NULL)
        return BK_ERROR_NULL;
    if (is_counted && !clamp(history, number, &state->key, &key))
        return BK_ERROR_STATE;
    enum bk_status status = bk_route(&era->strategy, is_counted ? &key : NULL, row, out);
    if (status == BK_OK)
        status = add(out->bucket, era->shift, &out->bucket);
    if (status != BK_OK || out->scope == BK_SCOPE_ROW)
        return status;
    int64_t until_ns = until_of(history, number);
    out->from_ns = out->from_ns > era->from_ns ? out->from_ns : era->from_ns;
    out->until_ns = out->until_ns < until_ns ? out->until_ns : until_ns;
    return BK_OK;
}

enum bk_status bk_history_route(const struct bk_history *history, const struct bk_history_state *state,
                                const struct bk_row *row, struct bk_placement *out)
{
    if (out == NULL)
        return BK_ERROR_NULL;
    memset(out, 0, sizeof *out);
    enum bk_status status = row == NULL ? BK_ERROR_NULL : check_use(history);
    if (status != BK_OK)
        return status;
    uint32_t era = bk_history_era_at(history, row->time_ns);
    struct place place;
    struct bk_placement route;
    if (history->eras[era].strategy.kind != BK_KIND_COUNT)
        status = route_plain(history, state, row, era, &route);
    else if ((status = route_count(history, state, row, &route, &place)) == BK_OK) {
        bk_divide(&history->eras[place.era].strategy, row, &route);
        status = add(route.bucket, history->eras[place.era].shift, &route.bucket);
    }
    if (status == BK_OK)
        *out = route;
    return status;
}

bool bk_history_fires(const struct bk_history *history, const struct bk_history_state *state,
                      const struct bk_row *row)
{
    if (row == NULL || check_use(history) != BK_OK)
        return false;
    const struct bk_strategy *strategy = &history->eras[bk_history_era_at(history, row->time_ns)].strategy;
    struct place place;
    if (strategy->kind == BK_KIND_COUNT)
        return bk_strategy_check(strategy) == BK_OK && find_place(history, state, row, &place) == BK_OK &&
               place.opens;
    return bk_fires(strategy, row);
}

static enum bk_status advance_count(const struct bk_history *history, struct bk_history_state *state,
                                    const struct bk_row *row, struct bk_effect *effect)
{
    struct place place;
    struct bk_placement route;
    enum bk_status status = route_count(history, state, row, &route, &place);
    if (status != BK_OK)
        return status;
    if (place.opens) {
        /* Eras in which the key had no rows begin where this one does. */
        uint32_t first = first_of_kind(history);
        for (uint32_t i = (state->opened < first ? first : state->opened) + 1; i <= place.era; i++)
            state->starts[i] = place.start;
        state->opened = place.era;
    }
    bool rolled = route.bucket > state->key.bucket;
    if (rolled) {
        state->key.bucket = route.bucket;
        state->key.last_change_ns = row->time_ns;
    }
    state->has_rows = true;
    if (effect != NULL)
        *effect = (struct bk_effect){.state_writes = place.opens, .rolled = rolled};
    return BK_OK;
}

enum bk_status bk_history_advance(const struct bk_history *history, struct bk_history_state *state,
                                  const struct bk_row *row, struct bk_effect *effect)
{
    if (effect != NULL)
        memset(effect, 0, sizeof *effect);
    enum bk_status status = row == NULL || state == NULL ? BK_ERROR_NULL : check_use(history);
    if (status != BK_OK)
        return status;
    uint32_t era = bk_history_era_at(history, row->time_ns);
    const struct bk_strategy *strategy = &history->eras[era].strategy;
    if (strategy->kind == BK_KIND_COUNT)
        return advance_count(history, state, row, effect);
    struct bk_key_state key = state->key;
    if (bk_kind_fires(strategy->kind) && !clamp(history, era, &state->key, &key))
        return BK_ERROR_STATE;
    struct bk_effect done;
    status = bk_advance(strategy, &key, row, &done);
    /* A row that neither fires nor begins a bucket does not change the count, even if it is above the
     * threshold. */
    if (status == BK_OK && (done.counter_increments > 0 || done.state_writes > 0))
        state->key = key;
    if (status == BK_OK && effect != NULL)
        *effect = done;
    return status;
}

/* Opens a reader of one era. `state` may be NULL for an era of a kind that does not depend on a state. */
static enum bk_status open_reader(const struct bk_history *history, uint32_t number,
                                  const struct bk_history_state *state, const struct bk_query *query,
                                  uint64_t rows_before, struct bk_reader *out)
{
    const struct bk_era *era = &history->eras[number];
    bool has_state = keeps_state(era->strategy.kind);
    int64_t until_ns = until_of(history, number);
    struct bk_query own = *query;
    if (query->kind == BK_QUERY_LATEST)
        own.rows -= rows_before < own.rows ? rows_before : own.rows;
    if (!has_state) {
        own.now_ns = query->now_ns < until_ns || number + 1 == history->count ? query->now_ns : until_ns - 1;
        own.birth_ns = query->birth_ns > era->from_ns ? query->birth_ns : era->from_ns;
    }
    if (!has_state || era->shift != 0)
        own.starts = NULL;
    enum bk_status status =
        bk_read_begin(&era->strategy, has_state && state != NULL ? &state->key : NULL, &own, out);
    if (status == BK_OK)
        status = add(out->next, era->shift, &out->next);
    if (status == BK_OK)
        status = add(out->floor, era->shift, &out->floor);
    if (status != BK_OK)
        memset(out, 0, sizeof *out);
    else if (!has_state && query->kind == BK_QUERY_RANGE &&
             (query->until_ns <= era->from_ns || query->from_ns >= until_ns))
        out->next = out->floor - 1; /* no row of this era is in the queried range */
    return status;
}

/* Returns whether the key may have rows of an earlier era. The first era begins at INT64_MIN, so no era is
 * before it. */
static bool has_older(const struct bk_history *history, const struct bk_query *query, uint32_t era)
{
    return query->birth_ns < history->eras[era].from_ns;
}

enum bk_status bk_history_read_begin(const struct bk_history *history, const struct bk_history_state *state,
                                     const struct bk_query *query, struct bk_history_reader *reader)
{
    if (reader == NULL)
        return BK_ERROR_NULL;
    memset(reader, 0, sizeof *reader);
    enum bk_status status = query == NULL ? BK_ERROR_NULL : check_use(history);
    if (status != BK_OK)
        return status;
    struct bk_history_reader made;
    memset(&made, 0, sizeof made);
    made.query = *query;
    made.era = bk_history_era_at(history, query->now_ns);
    if (keeps_state(history->eras[made.era].strategy.kind))
        made.era = first_of_kind(history);
    status = open_reader(history, made.era, state, query, 0, &made.reader);
    made.query.starts = NULL;
    made.query.start_count = 0;
    if (made.query.birth_ns > made.query.now_ns)
        made.query.birth_ns = made.query.now_ns;
    /* Try the earlier eras, so that invalid arguments are reported before the read begins. */
    for (uint32_t era = made.era; status == BK_OK && has_older(history, &made.query, era); era--) {
        struct bk_reader trial;
        status = open_reader(history, era - 1, NULL, &made.query, 0, &trial);
    }
    if (status == BK_OK)
        *reader = made;
    return status;
}

enum bk_status bk_history_read_latest(const struct bk_history *history, const struct bk_history_state *state,
                                      int64_t now_ns, int64_t birth_ns, uint64_t rows, enum bk_plan plan,
                                      struct bk_history_reader *reader)
{
    struct bk_query query = bk_query_latest(now_ns, birth_ns, rows, plan);
    return bk_history_read_begin(history, state, &query, reader);
}

/* Continues in the era before. The limit of partitions is one for the whole read, in whole windows of each
 * era, and the order that the read reports is the weakest of its eras. */
static void go_down(const struct bk_history *history, struct bk_history_reader *reader, uint64_t rows,
                    const struct bk_reader *next)
{
    const struct bk_reader *above = &reader->reader;
    uint64_t all = reader->query.partitions_max != 0 ? reader->query.partitions_max : BK_WALK_PARTITIONS_MAX;
    enum bk_order order = above->order > next->order ? above->order : next->order;
    reader->rows_before = rows;
    reader->partitions_before += above->partitions_asked;
    reader->reader = *next;
    reader->era--;
    uint64_t left = all > reader->partitions_before ? all - reader->partitions_before : 0;
    reader->reader.partitions_max =
        left - left % (uint64_t)bk_shards_of(&history->eras[reader->era].strategy);
    reader->reader.order = order;
}

bool bk_history_read_next(const struct bk_history *history, struct bk_history_reader *reader,
                          struct bk_read_step *step)
{
    if (reader == NULL || step == NULL || check_use(history) != BK_OK || reader->era >= history->count)
        return false;
    while (!bk_read_next(&reader->reader, step)) {
        uint64_t rows = bk_history_rows_found(reader);
        bool is_enough = reader->query.kind == BK_QUERY_LATEST && rows >= reader->query.rows;
        struct bk_reader next;
        if (is_enough || reader->reader.status != BK_OK || !has_older(history, &reader->query, reader->era) ||
            open_reader(history, reader->era - 1, NULL, &reader->query, rows, &next) != BK_OK)
            return false;
        go_down(history, reader, rows, &next);
    }
    return true;
}

uint64_t bk_history_rows_found(const struct bk_history_reader *reader)
{
    if (reader == NULL)
        return 0;
    uint64_t rows = reader->reader.rows_found;
    return rows > UINT64_MAX - reader->rows_before ? UINT64_MAX : rows + reader->rows_before;
}

uint64_t bk_history_partitions_asked(const struct bk_history_reader *reader)
{
    return reader == NULL ? 0 : reader->reader.partitions_asked + reader->partitions_before;
}
