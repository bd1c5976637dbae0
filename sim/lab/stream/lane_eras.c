/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane of a strategy whose settings change. It keeps all partitions until the key ends, in the order of
 * their buckets, because an older one may get rows again: late rows, or rows of new settings whose bucket
 * numbers overlap those of the old settings. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "lane.h"

struct era_partition {
    int64_t bucket;
    struct cass_partition size;
    struct lab_disk *disk;
    uint64_t gone; /* how many of its rows are deleted or expired at the end */
    int64_t first_ns;
    uint64_t second; /* for the peak: the second of the newest row, and the number of rows in that second */
    uint32_t rows_in_second;
    uint64_t last_row; /* the number of the last row within the key */
    uint32_t regime;   /* the regime that wrote last */
    bool is_reopened;  /* the partition got a row after it was closed */
};

struct lab_era_lane {
    struct bk_history_state state;
    uint32_t regime;
    bool is_unordered; /* rows do not come in the order of their times */
    size_t count, capacity, recent;
    struct era_partition *partitions;
};

void lab_eras_begin(struct lab_era_lane *eras)
{
    if (eras == NULL)
        return;
    memset(&eras->state, 0, sizeof eras->state);
    eras->regime = 0;
    eras->is_unordered = false;
    eras->count = eras->recent = 0;
}

void lab_eras_clear(struct lab_era_lane *eras)
{
    for (size_t i = 0; eras != NULL && i < eras->count; i++)
        free(eras->partitions[i].disk);
    if (eras != NULL)
        free(eras->partitions);
    free(eras);
}

static struct lab_era_lane *need(struct lab_lane *lane, struct lab_tally *tally)
{
    if (lane->eras == NULL)
        lane->eras = calloc(1, sizeof *lane->eras);
    if (lane->eras == NULL)
        tally->out_of_memory = true;
    return lane->eras;
}

/* Begins the regimes up to a time. A regime that forgets the older settings still has the contents of the
 * database: the number of rows, from which a reader with BK_COUNT derives the newest bucket, and the key's
 * state row, whose count may be above the new threshold. */
static void enter(struct lab_lane *lane, const struct lab_regimes *regimes, int64_t time_ns)
{
    struct lab_era_lane *eras = lane->eras;
    while (eras->regime + 1 < regimes->count && time_ns >= regimes->items[eras->regime + 1].from_ns) {
        const struct bk_strategy *strategy = &regimes->items[++eras->regime].history.eras[0].strategy;
        struct bk_key_state key = eras->state.key;
        memset(&eras->state, 0, sizeof eras->state);
        if (strategy->kind == BK_COUNT && lane->placement.rows > 0) {
            key.bucket = (int64_t)((lane->placement.rows - 1) / strategy->of.count.rows);
            eras->state.has_rows = true;
        }
        if (bk_kind_fires(strategy->kind) && key.counter >= bk_threshold(strategy))
            key.counter = bk_threshold(strategy) - 1;
        eras->state.key = key;
    }
}

static const int64_t *own_times(const struct lab_batch *batch)
{
    return batch->own_ns != NULL ? batch->own_ns : batch->times_ns;
}

/* Returns the end of the rows for which the route is valid, including the first one that fires, and that come
 * before until_ns. */
static size_t stretch(const struct bk_history *history, const struct lab_batch *batch, size_t from, size_t to,
                      const struct bk_route *route, int64_t until_ns)
{
    const int64_t *own_ns = own_times(batch);
    uint64_t sequence = batch->first_row + from;
    if (route->sequence_high - sequence < to - from)
        to = from + (size_t)(route->sequence_high - sequence);
    size_t end = from + 1;
    while (end < to && own_ns[end] >= route->from_ns && own_ns[end] < route->until_ns &&
           batch->times_ns[end] < until_ns)
        end++;
    const struct bk_era *era = &history->eras[bk_history_era_at(history, own_ns[from])];
    size_t firing = bk_first_firing(&era->strategy, batch->ids, batch->bytes, from, end);
    return firing < end ? firing + 1 : end;
}

/* Returns the index of the first partition above `bucket`. */
static size_t first_above(const struct lab_era_lane *eras, int64_t bucket)
{
    size_t low = 0, high = eras->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (eras->partitions[middle].bucket <= bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct era_partition *partition_of(struct lab_era_lane *eras, struct lab_tally *tally, int64_t bucket)
{
    if (eras->recent < eras->count && eras->partitions[eras->recent].bucket == bucket)
        return &eras->partitions[eras->recent];
    size_t at = first_above(eras, bucket);
    if (at > 0 && eras->partitions[at - 1].bucket == bucket) {
        eras->recent = at - 1;
        return &eras->partitions[at - 1];
    }
    if (!sim_grow(&eras->partitions, &eras->capacity, eras->count + 1, sizeof *eras->partitions)) {
        tally->out_of_memory = true;
        return NULL;
    }
    memmove(&eras->partitions[at + 1], &eras->partitions[at], (eras->count - at) * sizeof *eras->partitions);
    eras->partitions[at] = (struct era_partition){.bucket = bucket};
    eras->count++;
    eras->recent = at;
    return &eras->partitions[at];
}

/* Returns whether the partition is closed at the end: whether current rows go to a later era, or to a later
 * bucket of the same era. A partition that only forgotten settings wrote is closed, too, unless rows of the
 * current settings may go to any bucket. */
static bool is_closed(const struct lab_era_lane *eras, const struct lab_regimes *regimes,
                      const struct era_partition *partition, int64_t end_ns)
{
    const struct bk_history *history = &regimes->items[eras->regime].history;
    const struct bk_era *era = &history->eras[bk_history_era_at(history, end_ns)];
    if (era->strategy.kind == BK_HASH)
        return partition->bucket < era->shift ||
               partition->bucket - era->shift >= (int64_t)era->strategy.of.hash.buckets;
    if (partition->regime < eras->regime && !bk_kind_fires(era->strategy.kind))
        return true;
    int64_t current = era->shift + eras->state.key.bucket;
    if (era->strategy.kind == BK_TIME) {
        struct bk_row now = {.time_ns = end_ns};
        struct bk_route route;
        bk_history_route(history, NULL, &now, &route);
        current = route.bucket;
    }
    return partition->bucket < current;
}

static void watch_closed(const struct lab_era_lane *eras, const struct lab_regimes *regimes,
                         struct era_partition *partition, struct lab_tally *tally,
                         const struct lab_batch *batch, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (!is_closed(eras, regimes, partition, batch->times_ns[i]))
            continue;
        tally->rows_into_closed++;
        tally->reopened += !partition->is_reopened;
        partition->is_reopened = true;
    }
}

void lab_eras_rows(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to)
{
    struct lab_era_lane *eras = need(lane, tally);
    const int64_t *own_ns = own_times(batch);
    while (eras != NULL && from < to) {
        enter(lane, settings->regimes, batch->times_ns[from]);
        const struct bk_history *history = &settings->regimes->items[eras->regime].history;
        struct bk_row row = {own_ns[from], batch->first_row + from, batch->ids[from],
                             lab_batch_payload(batch, from)};
        struct bk_route route;
        enum bk_status status = bk_history_route(history, &eras->state, &row, &route);
        assert(status == BK_OK);
        bool is_last = eras->regime + 1 == settings->regimes->count;
        int64_t until_ns = is_last ? INT64_MAX : settings->regimes->items[eras->regime + 1].from_ns;
        bool is_alone = route.scope == BK_SCOPE_ROW || route.begins;
        size_t end = is_alone ? from + 1 : stretch(history, batch, from, to, &route, until_ns);
        struct era_partition *partition = partition_of(eras, tally, route.bucket);
        if (partition == NULL)
            return;
        if (partition->size.rows == 0)
            partition->first_ns = batch->times_ns[from];
        partition->size.rows += end - from;
        partition->gone += lab_gone_between(batch, from, end);
        lab_bytes_add(&partition->size.bytes, lab_batch_bytes(batch, from, end));
        lab_lane_watch(settings, tally, key, batch, from, end, &partition->size, partition->gone,
                       &partition->disk);
        partition->regime = eras->regime;
        partition->last_row = batch->first_row + end - 1;
        eras->is_unordered = eras->is_unordered || batch->own_ns != NULL;
        for (size_t i = from; i < end; i++)
            lab_watch_second(batch->second_begin[i], &partition->second, &partition->rows_in_second, tally);
        if (batch->own_ns != NULL)
            watch_closed(eras, settings->regimes, partition, tally, batch, from, end);
        sim_placement_add(&lane->placement, route.bucket, end - from);
        struct bk_row last = {own_ns[end - 1], batch->first_row + end - 1, batch->ids[end - 1],
                              lab_batch_payload(batch, end - 1)};
        struct bk_effect effect;
        status = bk_history_advance(history, &eras->state, &last, &effect);
        assert(status == BK_OK);
        (void)status;
        tally->counter_increments += effect.counter_increments;
        tally->state_writes += effect.state_writes;
        from = end;
    }
}

/* Returns whether a partition outside of [low, high], which was not queried, has a row with this number or a
 * later one. */
static bool holds_newer(const struct lab_era_lane *eras, int64_t low, int64_t high, uint64_t number)
{
    for (size_t i = 0; i < eras->count; i++) {
        const struct era_partition *partition = &eras->partitions[i];
        if ((partition->bucket < low || partition->bucket > high) && partition->last_row >= number)
            return true;
    }
    return false;
}

void lab_eras_read(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_read_event *event)
{
    const struct lab_read *read = &settings->scenario->reads.kinds[LAB_READ_LATEST];
    struct lab_read_done done = {.kind = LAB_READ_LATEST};
    struct lab_era_lane *eras = need(lane, tally);
    if (eras == NULL)
        return;
    enter(lane, settings->regimes, event->now_ns);
    const struct bk_history *history = &settings->regimes->items[eras->regime].history;
    struct bk_query query;
    struct bk_history_reader reader;
    struct bk_read_step step;
    lab_read_query(settings->scenario, settings->scenario_strategy, LAB_READ_LATEST, event->now_ns,
                   event->birth_ns, &query);
    enum bk_status status = bk_history_read_begin(history, &eras->state, &query, &reader);
    assert(status == BK_OK);
    (void)status;
    int64_t high = INT64_MIN, low = INT64_MAX; /* the range of queried buckets */
    for (;;) {
        size_t left = first_above(eras, reader.reader.next);
        int64_t newest = left > 0 ? eras->partitions[left - 1].bucket : INT64_MIN;
        bk_read_skip_to(&reader.reader, newest);
        if (!bk_history_read_next(history, &reader, &step))
            break;
        high = step.bucket_high > high ? step.bucket_high : high;
        low = step.bucket_low;
        uint64_t rows = 0;
        for (size_t i = first_above(eras, step.bucket_high);
             i > 0 && eras->partitions[i - 1].bucket >= step.bucket_low; i--) {
            uint64_t held = eras->partitions[i - 1].size.rows;
            rows += held;
            done.scanned += held < step.rows ? held : step.rows;
            done.filled++;
        }
        bk_read_found(&reader.reader, rows);
    }
    done.rows = bk_history_rows_found(&reader);
    done.due = event->key_rows < read->rows ? event->key_rows : read->rows;
    done.partitions = bk_history_partitions_asked(&reader);
    done.empties = done.partitions - done.filled;
    done.order = reader.reader.order;
    done.is_cut = reader.reader.status == BK_ERROR_WALK_TOO_LONG;
    done.is_early = done.order == BK_ORDER_NONE && reader.reader.next >= reader.reader.floor;
    /* If older settings were forgotten, the read may find enough rows that are not the newest ones. */
    if (done.rows >= done.due && eras->regime > 0 && !eras->is_unordered)
        done.is_stale = holds_newer(eras, low, high, event->key_rows - done.due);
    lab_read_count(&tally->reads, &done, 1);
}

void lab_eras_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                  const struct lab_key_name *key, int64_t end_ns)
{
    struct lab_era_lane *eras = lane->eras;
    if (eras == NULL)
        return;
    enter(lane, settings->regimes, end_ns);
    for (size_t i = 0; i < eras->count; i++) {
        struct era_partition *partition = &eras->partitions[i];
        lab_lane_finish(settings, tally, key, partition->bucket, &partition->size, &partition->disk,
                        partition->gone, partition->first_ns,
                        is_closed(eras, settings->regimes, partition, end_ns));
    }
    eras->count = 0;
}
