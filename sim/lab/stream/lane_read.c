/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reads of a lane: the core's reader queries partitions of which only the numbers of rows are known. Rows
 * come in the order of their times, so each partition, except with BK_HASH, and each range of time consists
 * of consecutive rows of the key; and rows expire in the order of their numbers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lab/gone.h"
#include "lane.h"

#define PAST_MIN 8u

/* The state of a read. */
struct reading {
    struct lab_lane *lane;
    const struct lab_lane_settings *settings;
    const struct lab_read_event *event;
    struct bk_reader reader;
    uint64_t row_from, row_until; /* the range of row numbers that the read is for */
    uint64_t live_from;           /* the rows before this one have expired */
    bool at_open;
    size_t windows; /* if rows come out of order: the number of windows not yet passed */
    uint32_t past;  /* the next lower partition is the one before this index, if not the open one */
    struct lab_read_done done;
};

/* Returns the number of the first row of the horizon at or after this time. */
static uint64_t row_at(const struct lab_horizon *horizon, int64_t time_ns)
{
    size_t low = horizon->begin, high = horizon->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (horizon->rows[middle].time_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return horizon->end_row - (horizon->end - low);
}

static bool rows_expire(const struct lab_lane_settings *settings)
{
    return settings->scenario->row_ttl_ns > 0;
}

static void find_rows(struct reading *reading)
{
    const struct lab_read_event *event = reading->event;
    reading->row_from = 0;
    reading->row_until = event->key_rows;
    if (event->kind == LAB_READ_RANGE) {
        reading->row_from = row_at(event->horizon, reading->reader.from_ns);
        reading->row_until = row_at(event->horizon, reading->reader.until_ns);
    }
    if (rows_expire(reading->settings))
        reading->live_from =
            row_at(event->horizon, lab_live_since(reading->settings->scenario, event->now_ns));
}

static uint64_t wanted_between(const struct reading *reading, uint64_t from, uint64_t until)
{
    from = from > reading->row_from ? from : reading->row_from;
    from = from > reading->live_from ? from : reading->live_from;
    until = until < reading->row_until ? until : reading->row_until;
    return until > from ? until - from : 0;
}

static void begin(struct reading *reading)
{
    const struct lab_lane_settings *settings = reading->settings;
    const struct lab_lane *lane = reading->lane;
    const struct lab_read_event *event = reading->event;
    struct bk_query query;
    lab_read_query(settings->scenario, settings->scenario_strategy, event->kind, event->now_ns,
                   event->birth_ns, &query);
    /* A state has the date of its last change. */
    struct bk_bucket_start start = {lane->state.bucket, lane->state.last_change_ns};
    if (bk_kind_fires(settings->strategy->kind) && lane->state.bucket > 0) {
        query.starts = &start;
        query.start_count = 1;
    }
    enum bk_status status = bk_read_begin(settings->strategy, &lane->state, &query, &reading->reader);
    assert(status == BK_OK);
    (void)status;
    reading->at_open = lane->open.rows > 0;
    reading->past = lane->past_end;
    reading->windows = lane->window_count;
    find_rows(reading);
    uint64_t all = wanted_between(reading, 0, UINT64_MAX);
    reading->done.due = event->kind == LAB_READ_LATEST && query.rows < all ? query.rows : all;
}

/* Finds the highest partition that the read has not passed yet. Returns false if none is left, or if it was
 * not kept. */
static bool next_down(const struct reading *reading, struct lab_past *out)
{
    const struct lab_lane *lane = reading->lane;
    if (reading->windows > 0) /* there are no reads of ranges, so row numbers are not needed */
        *out = (struct lab_past){lab_window_at(lane, reading->windows - 1)->bucket, 0,
                                 lab_window_at(lane, reading->windows - 1)->rows};
    else if (reading->at_open)
        *out = (struct lab_past){lane->bucket, lane->open_first_row, lane->open.rows};
    else if (reading->past > lane->past_begin)
        *out = lane->past[reading->past - 1];
    else
        return false;
    return true;
}

/* Returns whether the partition has the row just below the range, at which an ordered read ends. */
static bool holds_older(const struct reading *reading, const struct lab_past *past)
{
    uint64_t from = past->first_row, until = past->first_row + past->rows;
    from = from > reading->live_from ? from : reading->live_from;
    until = until < reading->row_from ? until : reading->row_from;
    return from < until;
}

/* Returns whether all rows have expired, so that the partition looks like an empty one. */
static bool is_all_expired(const struct reading *reading, const struct lab_past *past)
{
    return past->first_row + past->rows <= reading->live_from;
}

static void pass(struct reading *reading)
{
    if (reading->windows > 0)
        reading->windows--;
    else if (reading->at_open)
        reading->at_open = false;
    else
        reading->past--;
}

static void answer_walk(struct reading *reading, const struct bk_read_step *step)
{
    struct bk_reader *reader = &reading->reader;
    struct lab_past past;
    uint64_t rows = 0;
    int64_t empty_high = step->bucket_high;
    bool saw_older = false;
    const struct lab_reading *named = &reading->settings->scenario_strategy->settings.reading;
    struct bk_empties *empties = reading->lane->empties;
    for (; next_down(reading, &past) && past.bucket >= step->bucket_low; pass(reading)) {
        uint64_t wanted = wanted_between(reading, past.first_row, past.first_row + past.rows);
        bool is_older = holds_older(reading, &past);
        if (is_all_expired(reading, &past))
            continue;
        if (past.bucket <=
            step->bucket_high) { /* otherwise the partition is newer than the range and not queried */
            rows += wanted;
            reading->done.filled += wanted > 0;
            reading->done.scanned += wanted < step->rows ? wanted : step->rows;
            /* The end of a range is recognised by the first row beyond it. */
            reading->done.scanned += is_older && reader->ends_at_older;
            saw_older = saw_older || is_older;
            if (empties != NULL && past.bucket < empty_high)
                bk_empties_learn(empties, reading->settings->strategy, reader, reading->event->now_ns,
                                 named->late_ns, past.bucket + 1, empty_high);
            empty_high = past.bucket - 1;
        }
    }
    if (empties != NULL && step->bucket_low <= empty_high)
        bk_empties_learn(empties, reading->settings->strategy, reader, reading->event->now_ns, named->late_ns,
                         step->bucket_low, empty_high);
    bk_read_found_range(reader, rows, saw_older);
}

/* Goes down the buckets. Consecutive empty buckets are handled together unless empty windows are remembered
 * individually. */
static void read_walk(struct reading *reading)
{
    struct bk_read_step step;
    struct lab_past newest;
    const struct bk_empties *known = reading->lane->empties;
    for (;;) {
        if (known == NULL)
            bk_read_skip_to(&reading->reader, next_down(reading, &newest) ? newest.bucket : INT64_MIN);
        if (!bk_read_next_known(&reading->reader, known, &step))
            return;
        answer_walk(reading, &step);
    }
}

/* Handles a read of all rows without a limit or remembered windows, whose result follows from the counts. */
static void read_whole(struct reading *reading)
{
    struct bk_reader *reader = &reading->reader;
    const struct lab_lane *lane = reading->lane;
    reader->partitions_asked = (uint64_t)(reader->next - reader->floor) + 1;
    reader->rows_found = reading->event->key_rows;
    reading->done.scanned = reader->rows_found;
    reading->done.filled = lane->past_count + (lane->open.rows > 0) + lane->window_count;
}

/* Returns whether some rows of a cell may be outside of the range or expired. */
static bool is_counted(const struct reading *reading)
{
    return reading->event->kind == LAB_READ_RANGE || rows_expire(reading->settings);
}

static uint64_t add_cell(struct reading *reading, uint32_t index, uint64_t limit)
{
    const struct lab_lane *lane = reading->lane;
    uint64_t rows = is_counted(reading) ? lane->in_range[index] : lane->cells[index].rows;
    reading->done.filled += rows > 0;
    reading->done.scanned += rows < limit ? rows : limit;
    return rows;
}

/* Answers a step: if it queries all buckets, goes through the cells; otherwise looks up each bucket. */
static void answer_cells(struct reading *reading, const struct bk_read_step *step)
{
    const struct lab_lane *lane = reading->lane;
    uint64_t rows = 0, buckets = (uint64_t)(step->bucket_high - step->bucket_low) + 1;
    if (buckets == reading->settings->strategy->of.hash.buckets) {
        for (uint32_t i = 0; i < lane->cell_count; i++)
            rows += add_cell(reading, i, step->rows);
    } else {
        for (int64_t bucket = step->bucket_high; lane->cell_count > 0 && bucket >= step->bucket_low;
             bucket--) {
            uint32_t i = lab_cell_slot(lane->cells, lane->cell_count, (uint32_t)bucket);
            if (lane->cells[i].rows > 0)
                rows += add_cell(reading, i, step->rows);
        }
    }
    bk_read_found(&reading->reader, rows);
}

/* Counts the live rows of the range in each cell. */
static bool count_range(struct reading *reading)
{
    struct lab_lane *lane = reading->lane;
    const struct lab_horizon *horizon = reading->event->horizon;
    if (lane->in_range_count != lane->cell_count) {
        free(lane->in_range);
        lane->in_range = calloc(lane->cell_count, sizeof *lane->in_range);
        lane->in_range_count = lane->in_range == NULL ? 0 : lane->cell_count;
        if (lane->in_range == NULL)
            return false;
    }
    uint64_t first = reading->row_from > reading->live_from ? reading->row_from : reading->live_from;
    for (uint64_t row = first; row < reading->row_until; row++) {
        uint64_t id = horizon->rows[horizon->end - (size_t)(horizon->end_row - row)].id;
        uint32_t bucket = (uint32_t)bk_bucket_of_id(id, reading->settings->strategy->of.hash.buckets);
        lane->in_range[lab_cell_slot(lane->cells, lane->cell_count, bucket)]++;
    }
    return true;
}

static bool read_hash(struct reading *reading)
{
    struct lab_lane *lane = reading->lane;
    struct bk_read_step step;
    if (is_counted(reading) && !count_range(reading))
        return false;
    while (bk_read_next(&reading->reader, &step))
        answer_cells(reading, &step);
    reading->done.is_early =
        reading->reader.order == BK_ORDER_NONE && reading->reader.next >= reading->reader.floor;
    if (lane->in_range != NULL)
        memset(lane->in_range, 0, lane->in_range_count * sizeof *lane->in_range);
    return true;
}

/* A read of all rows that may be cut off, or that skips remembered windows, must know each partition. */
static bool keeps_all(const struct lab_lane_settings *settings)
{
    const struct lab_reads *reads = &settings->scenario->reads;
    return reads->kinds[LAB_READ_ALL].rate_per_s > 0 &&
           (reads->limit != 0 || settings->scenario_strategy->settings.reading.remembers_empty);
}

int64_t lab_newest_bucket(const struct lab_lane *lane, const struct lab_lane_settings *settings,
                          int64_t now_ns)
{
    const struct bk_row row = {.time_ns = now_ns};
    struct bk_route route;
    if (settings->strategy->kind != BK_TIME)
        return lane->state.bucket;
    bk_route(settings->strategy, NULL, &row, &route);
    return route.bucket;
}

/* Returns whether a read of the newest rows finds all of them in the newest partition, which it queries
 * first. Then its result needs no reader. */
static bool ends_at_once(const struct lab_lane *lane, const struct lab_lane_settings *settings,
                         const struct lab_read_event *event)
{
    const struct bk_strategy *strategy = settings->strategy;
    enum bk_plan plan;
    uint32_t at_once;
    if (event->kind != LAB_READ_LATEST || strategy->kind == BK_HASH || lane->window_count > 0 ||
        lane->open.rows < settings->scenario->reads.kinds[LAB_READ_LATEST].rows || rows_expire(settings) ||
        settings->scenario_strategy->settings.reading.remembers_empty)
        return false;
    lab_read_plan(settings->scenario, settings->scenario_strategy, LAB_READ_LATEST, &plan, &at_once);
    return (plan == BK_PLAN_DEFAULT || plan == BK_PLAN_WALK) &&
           lane->bucket == lab_newest_bucket(lane, settings, event->now_ns);
}

bool lab_lane_ask(struct lab_lane *lane, const struct lab_lane_settings *settings,
                  const struct lab_read_event *event, struct lab_read_done *done)
{
    if (ends_at_once(lane, settings, event)) {
        const uint64_t rows = settings->scenario->reads.kinds[LAB_READ_LATEST].rows;
        *done = (struct lab_read_done){.kind = LAB_READ_LATEST,
                                       .order = BK_ORDER_NEWEST_FIRST,
                                       .partitions = 1,
                                       .filled = 1,
                                       .rows = lane->open.rows,
                                       .due = rows,
                                       .scanned = rows};
        return true;
    }
    struct reading reading = {.lane = lane, .settings = settings, .event = event};
    bool ok = true;
    if (settings->scenario_strategy->settings.reading.remembers_empty && lane->empties == NULL) {
        lane->empties = calloc(1, sizeof *lane->empties);
        ok = lane->empties != NULL;
    }
    begin(&reading);
    if (settings->strategy->kind == BK_HASH)
        ok = ok && read_hash(&reading);
    else if (event->kind == LAB_READ_ALL && !keeps_all(settings) && !rows_expire(settings))
        read_whole(&reading);
    else
        read_walk(&reading);
    *done = reading.done;
    done->kind = event->kind;
    done->order = reading.reader.order;
    done->partitions = reading.reader.partitions_asked;
    done->rows = reading.reader.rows_found;
    done->empties = done->partitions - done->filled;
    done->is_cut = reading.reader.status != BK_OK;
    done->is_before = event->kind == LAB_READ_RANGE &&
                      lab_range_is_before(settings->scenario, reading.reader.from_ns, settings->start_ns);
    return ok;
}

static void read_times(struct lab_lane *lane, const struct lab_lane_settings *settings,
                       struct lab_tally *tally, const struct lab_read_event *event, uint64_t times)
{
    struct lab_read_done done;
    if (!lab_lane_ask(lane, settings, event, &done)) {
        tally->out_of_memory = true;
        return;
    }
    lab_read_count(&tally->reads, &done, times);
    if (lab_read_kind_count(settings->scenario) > 1)
        lab_read_count(&tally->reads_of[event->kind], &done, times);
}

int64_t lab_window_end(const struct lab_lane_settings *settings, int64_t time_ns)
{
    const struct bk_row row = {.time_ns = time_ns};
    struct bk_route route;
    bk_route(settings->strategy, NULL, &row, &route);
    return route.until_ns;
}

void lab_lane_reads(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                    const struct lab_read_event *first, const int64_t *times_ns, size_t count)
{
    const bool are_alike = settings->regimes == NULL && first->kind == LAB_READ_LATEST &&
                           !rows_expire(settings) &&
                           !settings->scenario_strategy->settings.reading.remembers_empty;
    struct lab_read_event event = *first;
    for (size_t i = 0, end; i < count; i = end) {
        end = i + 1;
        event.now_ns = times_ns[i];
        event.birth_ns = event.key_rows > 0 ? first->birth_ns : event.now_ns;
        if (are_alike && end < count) {
            /* Until the next row, only the end of a window changes what a read queries. */
            const int64_t until_ns =
                settings->strategy->kind == BK_TIME ? lab_window_end(settings, event.now_ns) : INT64_MAX;
            while (end < count && times_ns[end] < until_ns)
                end++;
        }
        if (settings->regimes != NULL)
            lab_eras_read(lane, settings, tally, &event);
        else
            read_times(lane, settings, tally, &event, end - i);
    }
}

uint32_t lab_read_width(const struct lab_lane_settings *settings)
{
    uint32_t most = 1;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        enum bk_plan plan;
        uint32_t at_once;
        lab_read_plan(settings->scenario, settings->scenario_strategy, (enum lab_read_kind)kind, &plan,
                      &at_once);
        uint32_t width = plan == BK_PLAN_PAIR ? 2 : plan != BK_PLAN_PARALLEL ? 1 : BK_AT_ONCE_DEFAULT;
        if (plan == BK_PLAN_PARALLEL && at_once != 0)
            width = at_once;
        most = width > most ? width : most;
    }
    return most;
}

/* Returns whether a read may still query the oldest of the past partitions. A read that needs the partition
 * above the `width` oldest ones may query these in the same step, but none below. */
static bool is_in_reach(const struct lab_lane *lane, const struct lab_lane_settings *settings,
                        const struct lab_horizon *horizon, uint32_t width)
{
    const struct lab_reads *reads = &settings->scenario->reads;
    const struct lab_past *oldest = &lane->past[lane->past_begin];
    uint64_t older = 0;
    for (uint32_t i = 0; i <= width; i++)
        older += oldest[i].rows;
    if (reads->kinds[LAB_READ_LATEST].rate_per_s > 0 &&
        lane->past_rows - older + lane->open.rows < reads->kinds[LAB_READ_LATEST].rows)
        return true;
    bool expires = rows_expire(settings) && reads->kinds[LAB_READ_ALL].rate_per_s > 0;
    if (reads->kinds[LAB_READ_RANGE].rate_per_s <= 0 && !expires)
        return false;
    /* A read of a range ends below the first partition that has only older rows, and a read of all rows does
     * not find expired ones. */
    uint64_t first_row = horizon->end_row - (horizon->end - horizon->begin);
    return oldest[width].first_row + oldest[width].rows > first_row;
}

static bool make_room(struct lab_lane *lane)
{
    uint32_t kept = lane->past_end - lane->past_begin;
    if (lane->past_begin > lane->past_capacity / 2) {
        memmove(lane->past, lane->past + lane->past_begin, kept * sizeof *lane->past);
    } else {
        uint32_t capacity = lane->past_capacity == 0 ? PAST_MIN : lane->past_capacity * 2;
        struct lab_past *past = malloc(capacity * sizeof *past);
        if (past == NULL)
            return false;
        if (kept > 0)
            memcpy(past, lane->past + lane->past_begin, kept * sizeof *past);
        free(lane->past);
        lane->past = past;
        lane->past_capacity = capacity;
    }
    lane->past_begin = 0;
    lane->past_end = kept;
    return true;
}

void lab_lane_remember(struct lab_lane *lane, const struct lab_lane_settings *settings,
                       struct lab_tally *tally, const struct lab_horizon *horizon)
{
    /* The last step of a read of a range is one below the step with the range's last rows. */
    uint32_t width = 2 * settings->width;
    while (!keeps_all(settings) && lane->past_end - lane->past_begin > width &&
           !is_in_reach(lane, settings, horizon, width)) {
        lane->past_rows -= lane->past[lane->past_begin].rows;
        lane->past_begin++;
    }
    if (lane->past_end == lane->past_capacity && !make_room(lane)) {
        tally->out_of_memory = true;
        return;
    }
    lane->past[lane->past_end++] = (struct lab_past){lane->bucket, lane->open_first_row, lane->open.rows};
    lane->past_rows += lane->open.rows;
    lane->past_count++;
}
