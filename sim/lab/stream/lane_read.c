/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reads of a lane, of whose partitions only the numbers of rows are known. Reads are made one by one, by
 * the core's reader; lane_expect.c computes their expected numbers instead.
 *
 * Rows come in the order of their times, so each partition, except with BK_KIND_HASH, or all shards of a
 * window together, and each range of time consists of consecutive rows of the key; and rows expire in the
 * order of their numbers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "lab/scenario.h"
#include "lane.h"
#include "workload/workload.h"

#define IDS_AT_ONCE 64u

/* The state of a read. */
struct reading {
    struct lab_lane *lane;
    const struct lab_read_event *event;
    struct bk_reader reader;
    uint64_t row_from, row_until; /* the range of row numbers that the read is for */
    uint64_t live_from;           /* the rows before this one have expired */
    size_t left; /* partitions of the book that it has not passed yet; not for BK_KIND_HASH */
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
    const struct lab_lane *lane = reading->lane;
    reading->row_from = 0;
    reading->row_until = event->key_rows;
    if (event->kind == LAB_READ_RANGE) {
        reading->row_from = row_at(lane->horizon, reading->reader.from_ns);
        reading->row_until = row_at(lane->horizon, reading->reader.until_ns);
    }
    if (rows_expire(lane->settings))
        reading->live_from = row_at(lane->horizon, lab_live_since(lane->settings->scenario, event->now_ns));
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
    const struct lab_lane_settings *settings = reading->lane->settings;
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
    reading->left = settings->strategy->kind == BK_KIND_HASH ? 0 : lane->book.count;
    if (reading->left > 0 && lab_open(lane)->size.rows == 0)
        reading->left--; /* without the rows that are to come */
    find_rows(reading);
    uint64_t all = wanted_between(reading, 0, UINT64_MAX);
    reading->done.due = event->kind == LAB_READ_LATEST && query.rows < all ? query.rows : all;
}

/* The partitions of a window or bucket, one per shard that has rows; or one partition, if there are no
 * shards. */
struct window {
    const struct lab_entry *lowest;
    size_t count;
    int64_t low, high; /* its buckets */
    uint64_t from_row, end_row;
};

/* The highest window of the book that the read has not passed yet; count 0: none. */
static struct window next_down(const struct reading *reading)
{
    const struct lab_lane *lane = reading->lane;
    const struct bk_strategy *strategy = lane->settings->strategy;
    if (reading->left == 0)
        return (struct window){.low = INT64_MIN, .high = INT64_MIN};
    const struct lab_entry *highest = &lane->book.items[lane->book.begin + reading->left - 1];
    uint64_t rows = highest->size.rows;
    struct window window = {.lowest = highest,
                            .count = 1,
                            .low = highest->bucket,
                            .high = highest->bucket,
                            .from_row = highest->end_row - rows,
                            .end_row = highest->end_row};
    const int64_t shards = lab_shards(strategy);
    if (shards == 1)
        return window;
    window.low = lab_first_shard(strategy, highest->bucket);
    window.high = window.low + shards - 1;
    for (; window.count < reading->left && window.lowest[-1].bucket >= window.low; window.count++) {
        window.lowest--;
        rows += window.lowest->size.rows;
        window.end_row = window.lowest->end_row > window.end_row ? window.lowest->end_row : window.end_row;
    }
    if (strategy->kind == BK_KIND_TIME && wl_has_own_times(&lane->settings->scenario->workload))
        window.end_row = rows;
    window.from_row = window.end_row - rows;
    return window;
}

/* Returns how many rows of the window the read is for. Counts the partitions in which a query finds such
 * rows, and the rows that it scans there, up to `limit` in each. If the read is for some rows of several
 * shards, their ids say which shards have them. */
static uint64_t count_found(struct reading *reading, const struct window *window, uint64_t limit)
{
    const struct lab_lane *lane = reading->lane;
    const uint64_t wanted = wanted_between(reading, window->from_row, window->end_row);
    if (window->count == 1) {
        reading->done.filled += wanted > 0;
        reading->done.scanned += wanted < limit ? wanted : limit;
        return wanted;
    }
    const struct lab_horizon *horizon = lane->horizon;
    const uint32_t shards = (uint32_t)lab_shards(lane->settings->strategy);
    uint64_t rows[BK_SHARDS_MAX] = {0}, filled = 0;
    if (wanted == window->end_row - window->from_row) {
        for (; filled < window->count; filled++)
            rows[filled] = window->lowest[filled].size.rows;
    } else if (wanted > 0) {
        uint64_t row = window->from_row > reading->row_from ? window->from_row : reading->row_from;
        row = row > reading->live_from ? row : reading->live_from;
        for (const uint64_t end = row + wanted; row < end; row++) {
            const uint64_t id = horizon->rows[horizon->end - (size_t)(horizon->end_row - row)].id;
            filled += rows[bk_bucket_of_id(id, shards)]++ == 0;
            if (limit == UINT64_MAX && filled == window->count)
                break; /* only their number matters */
        }
    }
    reading->done.filled += filled;
    if (limit == UINT64_MAX)
        reading->done.scanned += wanted;
    for (uint32_t i = 0; limit != UINT64_MAX && i < shards; i++)
        reading->done.scanned += rows[i] < limit ? rows[i] : limit;
    return wanted;
}

/* Returns whether the window has the row just below the range, at which an ordered read ends. */
static bool holds_older(const struct reading *reading, const struct window *window)
{
    uint64_t from = window->from_row, until = window->end_row;
    from = from > reading->live_from ? from : reading->live_from;
    until = until < reading->row_from ? until : reading->row_from;
    return from < until;
}

/* The shards of such a window in which a query finds an older row. */
static uint64_t count_older(const struct reading *reading, const struct window *window)
{
    const struct lab_horizon *horizon = reading->lane->horizon;
    const uint32_t shards = (uint32_t)lab_shards(reading->lane->settings->strategy);
    uint64_t older = 0, seen = 0;
    if (window->count == 1)
        return 1;
    if (!rows_expire(reading->lane->settings)) {
        for (size_t i = 0; i < window->count; i++)
            older += window->lowest[i].first_ns < reading->reader.from_ns;
        return older;
    }
    uint64_t row = window->from_row > reading->live_from ? window->from_row : reading->live_from;
    for (; row < window->end_row && row < reading->row_from; row++) {
        const uint64_t id = horizon->rows[horizon->end - (size_t)(horizon->end_row - row)].id;
        seen |= UINT64_C(1) << bk_bucket_of_id(id, shards);
    }
    return (uint64_t)__builtin_popcountll(seen);
}

static void answer_walk(struct reading *reading, const struct bk_read_step *step)
{
    struct bk_reader *reader = &reading->reader;
    uint64_t rows = 0;
    int64_t empty_high = step->bucket_high;
    bool saw_older = false;
    const struct lab_reading *named = &reading->lane->settings->scenario_strategy->settings.reading;
    struct bk_empties *empties = reading->lane->empties;
    for (;;) {
        const struct window past = next_down(reading);
        if (past.count == 0 || past.low < step->bucket_low)
            break;
        reading->left -= past.count;
        bool is_older = holds_older(reading, &past);
        if (past.end_row <= reading->live_from)
            continue;                         /* all rows have expired, so it looks like an empty one */
        if (past.high <= step->bucket_high) { /* otherwise it is newer than the range and not queried */
            rows += count_found(reading, &past, step->rows);
            /* The end of a range is recognised by the first row beyond it. */
            if (is_older && reader->ends_at_older)
                reading->done.scanned += count_older(reading, &past);
            saw_older = saw_older || is_older;
            if (empties != NULL && past.high < empty_high)
                bk_empties_learn(empties, reading->lane->settings->strategy, reader, reading->event->now_ns,
                                 named->late_ns, past.high + 1, empty_high);
            empty_high = past.low - 1;
        }
    }
    if (empties != NULL && step->bucket_low <= empty_high)
        bk_empties_learn(empties, reading->lane->settings->strategy, reader, reading->event->now_ns,
                         named->late_ns, step->bucket_low, empty_high);
    bk_read_found_range(reader, rows, saw_older);
}

/* Goes down the buckets. Consecutive empty buckets are handled together unless empty windows are remembered
 * individually. */
static void read_walk(struct reading *reading)
{
    struct bk_read_step step;
    const struct bk_empties *known = reading->lane->empties;
    for (;;) {
        if (known == NULL)
            bk_read_skip_to(&reading->reader, next_down(reading).high);
        if (!bk_read_next_known(&reading->reader, known, &step))
            return;
        answer_walk(reading, &step);
    }
}

/* Handles a read of all rows without a limit or remembered windows, whose result follows from the counts. */
static void read_whole(struct reading *reading)
{
    struct bk_reader *reader = &reading->reader;
    reader->partitions_asked = (uint64_t)(reader->next - reader->floor) + 1;
    reader->rows_found = reading->event->key_rows;
    reading->done.scanned = reader->rows_found;
    reading->done.filled = reading->lane->partition_count;
}

/* Returns whether some rows of a cell may be outside of the range or expired. */
static bool is_counted(const struct reading *reading)
{
    return reading->event->kind == LAB_READ_RANGE || rows_expire(reading->lane->settings);
}

static uint64_t add_cell(struct reading *reading, const struct lab_entry *cell, uint64_t limit)
{
    const struct lab_lane *lane = reading->lane;
    uint64_t rows = is_counted(reading) ? lane->counted[reading->event->kind].rows[cell - lane->book.items]
                                        : cell->size.rows;
    reading->done.filled += rows > 0;
    reading->done.scanned += rows < limit ? rows : limit;
    return rows;
}

/* Answers a step: if it queries all buckets, goes through the cells; otherwise looks up each bucket. */
static void answer_cells(struct reading *reading, const struct bk_read_step *step)
{
    const struct lab_book *book = &reading->lane->book;
    uint64_t rows = 0, buckets = (uint64_t)(step->bucket_high - step->bucket_low) + 1;
    if (buckets == reading->lane->settings->strategy->of.hash.buckets) {
        for (size_t i = 0; i < book->capacity; i++)
            rows += add_cell(reading, &book->items[i], step->rows);
    } else {
        for (int64_t bucket = step->bucket_high; book->capacity > 0 && bucket >= step->bucket_low; bucket--) {
            const struct lab_entry *cell = lab_cell_at(book, bucket);
            if (cell->size.rows > 0)
                rows += add_cell(reading, cell, step->rows);
        }
    }
    bk_read_found(&reading->reader, rows);
}

static void count_rows(struct reading *reading, uint64_t from, uint64_t until, uint64_t change)
{
    const struct lab_lane *lane = reading->lane;
    const struct lab_horizon *horizon = lane->horizon;
    uint64_t ids[IDS_AT_ONCE], *counts = lane->counted[reading->event->kind].rows;
    int32_t buckets[IDS_AT_ONCE] = {0};
    for (size_t count; from < until; from += count) {
        const struct lab_horizon_row *rows = &horizon->rows[horizon->end - (size_t)(horizon->end_row - from)];
        count = until - from < IDS_AT_ONCE ? (size_t)(until - from) : IDS_AT_ONCE;
        for (size_t i = 0; i < count; i++)
            ids[i] = rows[i].id;
        bk_buckets_of_ids(ids, count, lane->settings->strategy->of.hash.buckets, buckets);
        for (size_t i = 0; i < count; i++)
            counts[lab_cell_at(&lane->book, buckets[i]) - lane->book.items] += change;
    }
}

/* Counts the live rows of the range in each cell. Where the rows of the last read of this kind are still
 * known, only those that have left the range since and those that have come into it are counted. */
static bool count_range(struct reading *reading)
{
    const struct lab_lane *lane = reading->lane;
    const struct lab_horizon *horizon = lane->horizon;
    struct lab_counted *counted = &reading->lane->counted[reading->event->kind];
    const uint64_t from = reading->row_from > reading->live_from ? reading->row_from : reading->live_from,
                   until = reading->row_until > from ? reading->row_until : from;
    const bool is_new = counted->items != lane->book.capacity;
    if (is_new) {
        free(counted->rows);
        counted->rows = calloc(lane->book.capacity, sizeof *counted->rows);
        counted->items = counted->rows == NULL ? 0 : lane->book.capacity;
        if (counted->rows == NULL)
            return false;
    }
    if (is_new || from < counted->from || from > counted->until || until < counted->until ||
        horizon->end_row - counted->from > horizon->end) {
        if (counted->rows != NULL)
            memset(counted->rows, 0, counted->items * sizeof *counted->rows);
        counted->from = counted->until = from;
    }
    count_rows(reading, counted->from, from, UINT64_MAX); /* one less */
    count_rows(reading, counted->until, until, 1);
    counted->from = from;
    counted->until = until;
    return true;
}

static bool read_hash(struct reading *reading)
{
    struct bk_read_step step;
    if (is_counted(reading) && !count_range(reading))
        return false;
    while (bk_read_next(&reading->reader, &step))
        answer_cells(reading, &step);
    reading->done.is_early =
        reading->reader.order == BK_ORDER_NONE && reading->reader.next >= reading->reader.floor;
    return true;
}

/* A read of all rows that may be cut off, or that skips remembered windows, must know each partition. */
static bool keeps_all(const struct lab_lane_settings *settings)
{
    const struct lab_reads *reads = &settings->scenario->reads;
    return reads->kinds[LAB_READ_ALL].rate_per_s > 0 &&
           (reads->limit != 0 || settings->scenario_strategy->settings.reading.remembers_empty);
}

int64_t lab_newest_bucket(struct lab_lane *lane, int64_t now_ns)
{
    return lane->settings->strategy->kind == BK_KIND_TIME ? lab_lane_window(lane, now_ns)->bucket
                                                          : lane->state.bucket;
}

/* Returns whether a read of the newest rows finds all of them in the newest partition, which it queries
 * first. Then its result needs no reader. */
static bool ends_at_once(struct lab_lane *lane, const struct lab_read_event *event)
{
    const struct bk_strategy *strategy = lane->settings->strategy;
    enum bk_plan plan;
    uint32_t at_once;
    if (event->kind != LAB_READ_LATEST || strategy->kind == BK_KIND_HASH || lab_shards(strategy) > 1 ||
        lane->book.count == 0 ||
        lab_open(lane)->size.rows < lane->settings->scenario->reads.kinds[LAB_READ_LATEST].rows ||
        wl_has_own_times(&lane->settings->scenario->workload) || rows_expire(lane->settings) ||
        lane->settings->scenario_strategy->settings.reading.remembers_empty)
        return false;
    lab_read_plan(lane->settings->scenario, lane->settings->scenario_strategy, LAB_READ_LATEST, &plan,
                  &at_once);
    return (plan == BK_PLAN_DEFAULT || plan == BK_PLAN_WALK) &&
           lab_open(lane)->bucket == lab_newest_bucket(lane, event->now_ns);
}

bool lab_read_ask(struct lab_lane *lane, const struct lab_read_event *event, struct lab_read_done *done)
{
    if (ends_at_once(lane, event)) {
        const uint64_t rows = lane->settings->scenario->reads.kinds[LAB_READ_LATEST].rows;
        *done = (struct lab_read_done){.kind = LAB_READ_LATEST,
                                       .order = BK_ORDER_NEWEST_FIRST,
                                       .partitions = 1,
                                       .filled = 1,
                                       .rows = lab_open(lane)->size.rows,
                                       .due = rows,
                                       .scanned = rows};
        return true;
    }
    struct reading reading = {.lane = lane, .event = event};
    bool ok = true;
    if (lane->settings->scenario_strategy->settings.reading.remembers_empty && lane->empties == NULL) {
        lane->empties = calloc(1, sizeof *lane->empties);
        ok = lane->empties != NULL;
    }
    begin(&reading);
    if (lane->settings->strategy->kind == BK_KIND_HASH)
        ok = ok && read_hash(&reading);
    else if (event->kind == LAB_READ_ALL && !keeps_all(lane->settings) && !rows_expire(lane->settings))
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
    done->is_before =
        event->kind == LAB_READ_RANGE &&
        lab_range_is_before(lane->settings->scenario, reading.reader.from_ns, lane->settings->start_ns);
    return ok;
}

/* Returns whether a partition outside of [low, high], which was not queried, has a row with this number or a
 * later one. */
static bool holds_newer(const struct lab_book *book, int64_t low, int64_t high, uint64_t number)
{
    for (size_t i = 0; i < book->count; i++) {
        const struct lab_entry *partition = &book->items[book->begin + i];
        if ((partition->bucket < low || partition->bucket > high) && partition->end_row > number)
            return true;
    }
    return false;
}

/* Where the settings change: counts the rows of a range in each partition of the book. */
static bool count_runs(struct lab_lane *lane, uint64_t from, uint64_t until)
{
    const struct lab_book *book = &lane->book;
    const struct lab_run_of_rows *runs = lane->runs.items;
    struct lab_counted *counted = &lane->counted[LAB_READ_RANGE];
    if (!sim_grow(&counted->rows, &counted->items, book->count, sizeof *counted->rows))
        return false;
    for (size_t i = 0; i < book->count; i++)
        counted->rows[i] = 0;
    for (size_t i = lane->runs.count; i > 0 && runs[i - 1].end_row > from; i--) {
        const uint64_t begin_row = i > 1 && runs[i - 2].end_row > from ? runs[i - 2].end_row : from,
                       end_row = runs[i - 1].end_row < until ? runs[i - 1].end_row : until;
        if (end_row > begin_row)
            counted->rows[lab_book_up_to(book, runs[i - 1].bucket) - 1] += end_row - begin_row;
    }
    return true;
}

/* Queries the buckets of a step, and reports what it finds. */
static void answer_eras(struct lab_lane *lane, enum lab_read_kind kind, const struct bk_read_step *step,
                        struct bk_reader *reader, struct lab_read_done *done)
{
    const struct lab_book *book = &lane->book;
    uint64_t rows = 0;
    bool saw_older = false;
    for (size_t i = lab_book_up_to(book, step->bucket_high);
         i > 0 && book->items[book->begin + i - 1].bucket >= step->bucket_low; i--) {
        const struct lab_entry *partition = &book->items[book->begin + i - 1];
        const uint64_t held = kind == LAB_READ_RANGE ? lane->counted[kind].rows[i - 1] : partition->size.rows;
        const bool is_older = kind == LAB_READ_RANGE && partition->first_ns < reader->from_ns;
        rows += held;
        done->scanned += (held < step->rows ? held : step->rows) + (is_older && reader->ends_at_older);
        done->filled += held > 0;
        saw_older = saw_older || is_older;
    }
    bk_read_found_range(reader, rows, saw_older);
}

/* Makes a read where the settings change. */
static bool read_eras(struct lab_lane *lane, const struct lab_read_event *event, struct lab_read_done *done)
{
    const struct lab_book *book = &lane->book;
    lab_lane_enter(lane, event->now_ns);
    const struct bk_history *history = &lane->settings->regimes->items[lane->regime].history;
    struct bk_query query;
    struct bk_history_reader reader;
    struct bk_read_step step;
    lab_read_query(lane->settings->scenario, lane->settings->scenario_strategy, event->kind, event->now_ns,
                   event->birth_ns, &query);
    *done = (struct lab_read_done){.kind = event->kind, .due = event->key_rows};
    if (event->kind == LAB_READ_LATEST && query.rows < event->key_rows)
        done->due = query.rows;
    if (event->kind == LAB_READ_RANGE) {
        const uint64_t from = row_at(lane->horizon, query.from_ns),
                       until = row_at(lane->horizon, query.until_ns);
        done->due = until - from;
        done->is_before =
            lab_range_is_before(lane->settings->scenario, query.from_ns, lane->settings->start_ns);
        if (!count_runs(lane, from, until))
            return false;
    }
    enum bk_status status = bk_history_read_begin(history, &lane->history, &query, &reader);
    assert(status == BK_OK);
    (void)status;
    int64_t high = INT64_MIN, low = INT64_MAX; /* the range of queried buckets */
    for (;;) {
        size_t left = lab_book_up_to(book, reader.reader.next);
        int64_t newest = left > 0 ? book->items[book->begin + left - 1].bucket : INT64_MIN;
        bk_read_skip_to(&reader.reader, newest);
        if (!bk_history_read_next(history, &reader, &step))
            break;
        high = step.bucket_high > high ? step.bucket_high : high;
        low = step.bucket_low;
        answer_eras(lane, event->kind, &step, &reader.reader, done);
    }
    done->rows = bk_history_rows_found(&reader);
    done->partitions = bk_history_partitions_asked(&reader);
    done->empties = done->partitions - done->filled;
    done->order = reader.reader.order;
    done->is_cut = reader.reader.status == BK_ERROR_WALK_TOO_LONG;
    done->is_early = done->order == BK_ORDER_NONE && reader.reader.next >= reader.reader.floor;
    /* If older settings were forgotten, the read may find enough rows that are not the newest ones. */
    if (event->kind == LAB_READ_LATEST && done->rows >= done->due && lane->regime > 0 && !lane->is_unordered)
        done->is_stale = holds_newer(book, low, high, event->key_rows - done->due);
    return true;
}

static void read_times(struct lab_lane *lane, const struct lab_read_event *event, uint64_t times)
{
    struct lab_read_done done;
    const bool changes = lane->settings->regimes != NULL;
    if (!(changes ? read_eras(lane, event, &done) : lab_read_ask(lane, event, &done))) {
        lane->tally->out_of_memory = true;
        return;
    }
    lab_read_count(&lane->tally->reads, &done, times);
    if (lab_read_kind_count(lane->settings->scenario) > 1)
        lab_read_count(&lane->tally->reads_of[event->kind], &done, times);
}

void lab_lane_reads(struct lab_lane *lane, const struct lab_read_event *first, const int64_t *times_ns,
                    size_t count)
{
    const bool are_alike = lane->settings->regimes == NULL && first->kind == LAB_READ_LATEST &&
                           !rows_expire(lane->settings) &&
                           !lane->settings->scenario_strategy->settings.reading.remembers_empty;
    struct lab_read_event event = *first;
    for (size_t i = 0, end; i < count; i = end) {
        end = i + 1;
        event.now_ns = times_ns[i];
        event.birth_ns = event.key_rows > 0 ? first->birth_ns : event.now_ns;
        if (are_alike && end < count) {
            /* Until the next row, only the end of a window changes what a read queries. */
            const int64_t until_ns = lane->settings->strategy->kind == BK_KIND_TIME
                                         ? lab_lane_window(lane, event.now_ns)->until_ns
                                         : INT64_MAX;
            while (end < count && times_ns[end] < until_ns)
                end++;
        }
        read_times(lane, &event, end - i);
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
static bool is_in_reach(const struct lab_lane *lane, uint32_t width)
{
    const struct lab_reads *reads = &lane->settings->scenario->reads;
    const struct lab_entry *above = &lane->book.items[lane->book.begin + width];
    if (reads->kinds[LAB_READ_LATEST].rate_per_s > 0 &&
        lane->placement.rows - above->end_row < reads->kinds[LAB_READ_LATEST].rows)
        return true;
    if (lane->expected != NULL)
        return false;
    bool expires = rows_expire(lane->settings) && reads->kinds[LAB_READ_ALL].rate_per_s > 0;
    if (reads->kinds[LAB_READ_RANGE].rate_per_s <= 0 && !expires)
        return false;
    /* A read of a range ends below the first partition that has only older rows, and a read of all rows does
     * not find expired ones. */
    uint64_t first_row = lane->horizon->end_row - (lane->horizon->end - lane->horizon->begin);
    return above->end_row > first_row;
}

void lab_lane_forget(struct lab_lane *lane)
{
    /* The last step of a read of a range is one below the step with the range's last rows. A shard's last row
     * may be older than those of others of its bucket; the partition this far above is of a later bucket. */
    const uint32_t width = 2 * lane->settings->width * (uint32_t)lab_shards(lane->settings->strategy);
    struct lab_book *book = &lane->book;
    while (!keeps_all(lane->settings) && book->count - 1 > width && !is_in_reach(lane, width)) {
        book->begin++;
        book->count--;
    }
}
