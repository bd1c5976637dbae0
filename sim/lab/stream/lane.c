/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane routes batches of a key's rows by one strategy, from lab_lane_begin() to lab_lane_end().
 *
 * What comes in: batches, in order of arrival. What it keeps: the key's state, and the book of its
 * partitions. What goes out: finished partitions, costs and the digest, to the tally. Rows take one of five
 * ways:
 *
 *   by range    the route of a row holds for those after it; only the last partition of the book is open
 *   by id       BK_KIND_HASH: each row has its own bucket; the book is a hash table
 *   by window   BK_KIND_TIME with shards, or where rows have their own times, so that any window may get
 *               another row: all are kept
 *   by shard    counted buckets with shards: all of the newest bucket's are open
 *   by era      the settings change: an older partition may get rows again, late ones, or rows of new
 *               settings whose bucket numbers overlap those of the old ones; all are kept */
#include "lane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/token.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "lab/scenario.h"
#include "workload/workload.h"

#define BOOK_MIN    8u
#define CELLS_MIN   4u
#define IDS_AT_ONCE 256u
#define STEP_FIRST  8u

void lab_lane_begin(struct lab_lane *lane)
{
    memset(&lane->state, 0, sizeof lane->state);
    memset(&lane->history, 0, sizeof lane->history);
    lane->placement = (struct sim_placement){0};
    lane->book.count = lane->book.recent = 0;
    lane->partition_count = 0;
    lane->runs.count = 0;
    lane->regime = 0;
    lane->is_unordered = false;
    lane->ended_count = 0;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        lane->counted[kind].items = 0;
    if (lane->empties != NULL)
        lane->empties->count = 0;
}

size_t lab_first_at(const int64_t *times_ns, size_t from, size_t to, int64_t until_ns)
{
    /* Most runs of rows are short, so the search begins in steps that grow. The binary search has no
     * branches, since half of them would be mispredicted. */
    size_t left = to - from;
    for (size_t step = STEP_FIRST; left > step; step *= 2) {
        if (times_ns[from + step - 1] >= until_ns) {
            left = step;
            break;
        }
        from += step;
        left -= step;
    }
    const int64_t *first = times_ns + from;
    while (left > 0) {
        const size_t half = (left + 1) / 2;
        first += half & -(size_t)(first[half - 1] < until_ns);
        left -= half;
    }
    return (size_t)(first - times_ns);
}

/* --- The book --- */

static struct lab_entry *item(const struct lab_book *book, size_t index)
{
    return &book->items[book->begin + index];
}

size_t lab_book_up_to(const struct lab_book *book, int64_t bucket)
{
    size_t low = 0, high = book->count;
    if (high > 0 && item(book, high - 1)->bucket <= bucket)
        return high; /* most often */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (item(book, middle)->bucket <= bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes room for one more item at `place`. The shorter side is moved, and there is free space at both ends,
 * so that loading a history backwards is as fast as forwards. */
static bool make_room(struct lab_book *book, size_t place)
{
    const size_t count = book->count;
    const bool moves_lower = place < count / 2;
    if (moves_lower ? book->begin == 0 : book->begin + count == book->capacity) {
        struct lab_entry *items = book->items;
        size_t capacity = book->capacity;
        if (capacity < 2 * count + BOOK_MIN / 2) {
            capacity = 3 * count + BOOK_MIN;
            items = malloc(capacity * sizeof *items);
        }
        if (items == NULL)
            return false;
        book->capacity = capacity;
        const size_t begin = (book->capacity - count) / 2;
        if (count > 0)
            memmove(items + begin, item(book, 0), count * sizeof *items);
        if (items != book->items)
            free(book->items);
        book->items = items;
        book->begin = begin;
    }
    struct lab_entry *first = count == 0 ? NULL : item(book, 0);
    if (moves_lower)
        memmove(first - 1, first, place * sizeof *first);
    else if (place < count)
        memmove(first + place + 1, first + place, (count - place) * sizeof *first);
    book->begin -= moves_lower;
    book->count++;
    return true;
}

/* Finds or makes the partition of a bucket in a book in order of buckets; NULL when out of memory. */
static struct lab_entry *find(struct lab_lane *lane, int64_t bucket)
{
    struct lab_book *book = &lane->book;
    if (book->recent < book->count && item(book, book->recent)->bucket == bucket)
        return item(book, book->recent);
    const size_t place = lab_book_up_to(book, bucket);
    if (place > 0 && item(book, place - 1)->bucket == bucket) {
        book->recent = place - 1;
        return item(book, place - 1);
    }
    if (!make_room(book, place)) {
        lane->tally->out_of_memory = true;
        return NULL;
    }
    book->recent = place;
    lane->partition_count++;
    *item(book, place) = (struct lab_entry){.bucket = bucket};
    return item(book, place);
}

struct lab_entry *lab_cell_grow(struct lab_book *book, uint32_t buckets, int64_t bucket)
{
    if (book->count * 2 >= book->capacity) {
        const struct lab_book old = *book;
        const size_t capacity = old.capacity == 0 ? CELLS_MIN : old.capacity * 2;
        struct lab_entry *items = calloc(capacity, sizeof *items);
        if (items == NULL)
            return NULL;
        book->items = items;
        book->capacity = capacity;
        book->is_table = true;
        for (size_t i = 0; i < old.capacity; i++) {
            if (old.items[i].size.rows > 0)
                *lab_cell_at(book, old.items[i].bucket) = old.items[i];
        }
        free(old.items);
        if (capacity >= buckets)
            return lab_cell(book, buckets, bucket);
    }
    struct lab_entry *cell = lab_cell_at(book, bucket);
    if (cell->size.rows == 0) {
        cell->bucket = bucket;
        book->count++;
    }
    return cell;
}

/* --- Finished partitions --- */

struct cass_partition lab_lane_weigh(const struct lab_scenario *scenario, const struct lab_key_name *key,
                                     const struct cass_partition *rows, uint64_t gone)
{
    struct cass_partition partition = *rows;
    const struct lab_row_cost *cost = &scenario->row_cost;
    lab_bytes_add(&partition.bytes, lab_partition_bytes(cost, key->size, rows->rows, rows->bytes));
    if (gone > 0 && scenario->deletes.share > 0)
        lab_bytes_add(&partition.bytes, gone * lab_tombstone_bytes(cost, LAB_STAMP_USUAL));
    return partition;
}

static void add_alike(struct lab_lane *lane, struct lab_alike *alike)
{
    if (alike->count > 0)
        lab_tally_sizes(lane->tally, &lane->settings->scenario->limits, &alike->whole, true, alike->count);
    alike->count = 0;
}

/* Adds an ended partition to the tally, and to the nodes `replicas`, which are NULL in a race of `tune`. */
static void add_ended(struct lab_lane *lane, const uint32_t *replicas, const struct lab_ended *ended,
                      const struct cass_partition *whole)
{
    if (lab_rows_go(lane->settings->scenario))
        lab_tally_left(lane->tally, ended->rows - ended->gone,
                       lab_tombstones_of(lane->settings->scenario, ended->gone));
    lane->tally->placed += ended->rows;
    if (lane->alike == NULL || !ended->is_closed)
        lab_tally_sizes(lane->tally, &lane->settings->scenario->limits, whole, ended->is_closed, 1);
    if (replicas == NULL)
        return;
    lab_slices_add(&lane->tally->slices, ended->first_ns, ended->is_closed, whole);
    lab_tally_largest(lane->tally, lane->key, ended->bucket, whole);
    struct cass_node_load *nodes = lane->tally->nodes;
    const uint64_t rows = whole->rows, bytes = whole->bytes;
    for (const uint32_t *replica = replicas, *last = replicas + lane->settings->replicas; replica < last;
         replica++) {
        nodes[*replica].rows += rows;
        lab_bytes_add(&nodes[*replica].bytes, bytes);
    }
}

/* The size of an ended partition, which is counted with those that are like it, if there may be any. */
static struct cass_partition weigh_ended(struct lab_lane *lane, const struct lab_ended *ended)
{
    struct lab_alike *alike = NULL;
    if (lane->alike != NULL && ended->is_closed) {
        alike = &lane->alike[ended->held.rows % LAB_ALIKE];
        alike->count++;
        if (alike->held.rows == ended->held.rows && alike->held.bytes == ended->held.bytes)
            return alike->whole;
        alike->count--;
        add_alike(lane, alike);
    }
    const struct cass_partition whole =
        lab_lane_weigh(lane->settings->scenario, lane->key, &ended->held, ended->gone);
    if (alike != NULL)
        *alike = (struct lab_alike){ended->held, whole, 1};
    else
        lab_tally_prefetch(lane->tally, &whole, ended->is_closed);
    return whole;
}

/* Adds at most LAB_ENDED_AT_ONCE ended partitions to the tally. Goes step by step through all of them, so
 * that the memory loads of the searches in histograms and in the ring overlap. */
static void add_all(struct lab_lane *lane, const struct lab_ended *ended, size_t count)
{
    const uint32_t *replicas[LAB_ENDED_AT_ONCE] = {NULL};
    struct cass_partition whole[LAB_ENDED_AT_ONCE];
    int64_t tokens[LAB_ENDED_AT_ONCE];
    const bool has_nodes = !lane->settings->scenario->is_raced;
    for (size_t i = 0; i < count; i++) {
        whole[i] = weigh_ended(lane, &ended[i]);
        tokens[i] = ended[i].bucket;
    }
    if (has_nodes)
        cass_tokens_bucketed(lane->key->text, lane->key->size, tokens, count);
    for (size_t i = 0; has_nodes && i < count; i++)
        replicas[i] = cass_ring_replicas(lane->settings->ring, tokens[i]);
    for (size_t i = 0; i < count; i++)
        add_ended(lane, replicas[i], &ended[i], &whole[i]);
}

static void add_all_ended(struct lab_lane *lane)
{
    add_all(lane, lane->ended, lane->ended_count);
    lane->ended_count = 0;
}

/* Ends an entry, which gets no more rows. */
static void end(struct lab_lane *lane, struct lab_entry *entry, bool is_closed)
{
    if (entry->has_ended)
        return;
    lane->ended[lane->ended_count++] =
        (struct lab_ended){.bucket = entry->bucket,
                           .first_ns = entry->first_ns,
                           .rows = entry->size.rows,
                           .gone = entry->gone,
                           .held = entry->disk == NULL ? entry->size : entry->disk->most,
                           .is_closed = is_closed && entry->bucket >= lane->settings->first_whole};
    free(entry->disk);
    entry->disk = NULL;
    if (lane->ended_count == LAB_ENDED_AT_ONCE)
        add_all_ended(lane);
}

struct lab_entry *lab_open_next(struct lab_lane *lane, int64_t bucket, int64_t first_ns)
{
    struct lab_book *book = &lane->book;
    if (book->count > 0) {
        end(lane, lab_open(lane), true);
        if (lane->settings->scenario->reads.present)
            lab_lane_forget(lane);
        else
            book->begin = book->count = 0;
    }
    if (!make_room(book, book->count)) {
        lane->tally->out_of_memory = true;
        return NULL;
    }
    struct lab_entry *open = lab_open(lane);
    *open = (struct lab_entry){.bucket = bucket, .first_ns = first_ns};
    lane->partition_count++;
    return open;
}

void lab_lane_windows(struct lab_lane *lane, const struct lab_ended *windows, size_t count, int64_t bucket,
                      int64_t begin_ns)
{
    const int64_t length_ns = lane->settings->strategy->of.time.window_ns;
    struct lab_book *book = &lane->book;
    uint64_t mark = sim_placement_mark(lane->placement.rows);
    add_all(lane, windows, count);
    if (lane->expected != NULL && book->count > 0)
        end(lane, lab_open(lane), true);
    for (size_t i = 0; i < count; i++) {
        const uint64_t before = mark;
        lane->placement.rows += windows[i].rows;
        mark = sim_placement_mark(lane->placement.rows);
        lane->placement.sum += sim_placement_weight(windows[i].bucket) * (mark - before);
        if (lane->expected == NULL)
            continue;
        if (!make_room(book, book->count)) {
            lane->tally->out_of_memory = true;
            return;
        }
        *lab_open(lane) = (struct lab_entry){.bucket = windows[i].bucket,
                                             .size = windows[i].held,
                                             .end_row = lane->placement.rows,
                                             .first_ns = windows[i].first_ns,
                                             .has_ended = true};
        lane->partition_count++;
        lab_expect_window(lane, begin_ns + (windows[i].bucket - bucket) * length_ns);
    }
    if (lane->expected != NULL)
        lab_lane_forget(lane);
}

/* --- When a limit is exceeded --- */

/* The overhead of a partition is the largest for one row without bytes. With deletes, tombstones add to it.
 */
struct cass_partition lab_over_bound(const struct lab_scenario *scenario, const struct lab_key_name *key)
{
    const struct lab_limits *limits = &scenario->limits;
    const uint64_t most = lab_partition_bytes(&scenario->row_cost, key->size, 1, 0);
    struct cass_partition bound = {UINT64_MAX, UINT64_MAX};
    if (limits->partition_rows != 0)
        bound.rows = limits->partition_rows;
    if (limits->partition_bytes != 0)
        bound.bytes = scenario->deletes.share > 0 || most > limits->partition_bytes
                          ? 0
                          : limits->partition_bytes - most;
    return bound;
}

static bool is_over(struct lab_lane *lane, const struct cass_partition *rows, uint64_t gone)
{
    const struct cass_partition whole = lab_lane_weigh(lane->settings->scenario, lane->key, rows, gone);
    return lab_is_over(&lane->settings->scenario->limits, &whole);
}

/* Notes when a partition exceeded a limit, if it did so by one of the rows [from, to), after which it has
 * rows->rows rows of rows->bytes bytes, of which `gone` are deleted at the end of the run; their tombstones
 * count from then on. A partition only grows, so this row is found by bisection. */
static void note_over(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to,
                      const struct cass_partition *rows, uint64_t gone)
{
    size_t low = from, high = to - 1;
    if (!is_over(lane, rows, gone))
        return;
    while (low < high) {
        const size_t middle = low + (high - low) / 2, after = middle + 1;
        const struct cass_partition then = {rows->rows - (to - after),
                                            rows->bytes - lab_batch_bytes(batch, after, to)};
        if (is_over(lane, &then, gone - lab_gone_between(batch, after, to)))
            high = middle;
        else
            low = after;
    }
    lab_tally_over(lane->tally, batch->times_ns[low]);
}

/* Puts the rows on disk, and notes the same. */
static void put_on_disk(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to,
                        struct lab_entry *partition)
{
    for (size_t i = from, next; i < to; i = next) {
        next = lab_first_at(batch->times_ns, i + 1, to,
                            lab_disk_until(&lane->settings->disk, batch->times_ns[i]));
        if (!lab_disk_add(&partition->disk, &lane->settings->disk, batch->times_ns[i], next - i,
                          lab_batch_bytes(batch, i, next))) {
            lane->tally->out_of_memory = true;
            return;
        }
        const struct cass_partition *now = &partition->disk->now;
        if ((now->rows > batch->over_rows || now->bytes > batch->over_bytes) &&
            batch->times_ns[i] < lane->tally->first_over_ns)
            note_over(lane, batch, i, next, now, partition->gone - lab_gone_between(batch, next, to));
    }
}

/* Adds the rows [from, to) to a partition. Cheap for those that have no limit, or are far below it. */
static inline void add_rows(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to,
                            struct lab_entry *partition)
{
    struct cass_partition *size = &partition->size;
    if (size->rows == 0)
        partition->first_ns = batch->times_ns[from];
    size->rows += to - from;
    lab_bytes_add(&size->bytes, lab_batch_bytes(batch, from, to));
    partition->gone += lab_gone_between(batch, from, to);
    partition->end_row = batch->first_row + to;
    if (lane->settings->disk.window_ns != 0)
        put_on_disk(lane, batch, from, to, partition);
    else if ((size->rows > batch->over_rows || size->bytes > batch->over_bytes) &&
             batch->times_ns[from] < lane->tally->first_over_ns)
        note_over(lane, batch, from, to, size, partition->gone);
}

/* --- Rows by range --- */

static void watch_peak(struct lab_lane *lane, const struct lab_entry *open, const struct lab_batch *batch,
                       size_t from, size_t to)
{
    const uint64_t first_row = open->end_row - open->size.rows;
    for (size_t i = from; i < to; i++) {
        uint64_t begin = batch->second_begin[i] > first_row ? batch->second_begin[i] : first_row;
        uint64_t rows = batch->first_row + i - begin + 1;
        if (rows > lane->tally->peak_rows_per_s)
            lane->tally->peak_rows_per_s = rows;
    }
}

/* Returns the first row in [from, to) that fires. */
static size_t first_firing(struct lab_lane *lane, const uint16_t *firing, size_t from, size_t to)
{
    if (firing == NULL)
        return to;
    while (firing[lane->firing_place] < from)
        lane->firing_place++;
    return firing[lane->firing_place] < to ? firing[lane->firing_place] : to;
}

/* Counts the rows from `row` on that fire, but only raise the counter, so that no bucket ends. Returns the
 * next one that fires. */
static size_t count_firing(struct lab_lane *lane, const struct lab_batch *batch, size_t row, size_t to)
{
    const struct bk_strategy *strategy = lane->settings->strategy;
    const uint64_t before = lane->state.counter, most = bk_threshold(strategy) - 1;
    const uint64_t unit = strategy->kind == BK_KIND_WEIGHTED ? strategy->of.weighted.bytes : UINT64_MAX;
    while (row < to && lane->state.counter < most && lab_batch_payload(batch, row) < unit) {
        lane->state.counter++;
        row = lane->settings->firing[++lane->firing_place];
    }
    lane->tally->counter_increments += lane->state.counter - before;
    return row < to ? row : to;
}

static void rows_by_range(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to)
{
    const struct bk_strategy *strategy = lane->settings->strategy;
    const bool counts = bk_kind_fires(strategy->kind) && strategy->max_age_ns == 0;
    if (from == 0)
        lane->firing_place = 0;
    size_t firing = first_firing(lane, lane->settings->firing, from, to);
    while (from < to) {
        struct bk_row row = {batch->times_ns[from], batch->first_row + from, batch->ids[from], 0};
        struct bk_placement route;
        enum bk_status status = bk_route(strategy, &lane->state, &row, &route);
        assert(status == BK_OK && route.scope == BK_SCOPE_RANGE);
        (void)status;
        /* The route is valid up to the first row outside of its ranges. A row that fires still belongs to the
         * route's bucket. */
        size_t end = to;
        if (route.until_ns <= batch->times_ns[end - 1])
            end = lab_first_at(batch->times_ns, from + 1, end, route.until_ns);
        if (route.sequence_high - row.sequence < end - from)
            end = from + (size_t)(route.sequence_high - row.sequence);
        if (firing < from)
            firing = first_firing(lane, lane->settings->firing, from, to);
        if (counts)
            firing = count_firing(lane, batch, firing, to);
        if (firing < end)
            end = firing + 1;
        if (route.begins)
            end = from + 1; /* bk_advance() must be called for this row before the next one is routed */

        struct lab_entry *open = lab_open(lane);
        if (open == NULL || route.bucket != open->bucket) {
            open = lab_open_next(lane, route.bucket, batch->times_ns[from]);
            if (open == NULL)
                return;
        }
        add_rows(lane, batch, from, end, open);
        sim_placement_add(&lane->placement, route.bucket, end - from);
        if (lane->tally->stored != NULL)
            lab_stored_rows(lane->tally->stored, lane->key, batch, from, end, route.bucket);
        if (batch->most_in_second > lane->tally->peak_rows_per_s)
            watch_peak(lane, open, batch, from, end);

        struct bk_row last = {batch->times_ns[end - 1], batch->first_row + end - 1, batch->ids[end - 1],
                              lab_batch_payload(batch, end - 1)};
        struct bk_effect effect = {.counter_increments = 0};
        if (!counts || firing < to) /* otherwise the last row is counted already, if it fires */
            status = bk_advance(strategy, &lane->state, &last, &effect);
        assert(status == BK_OK);
        lane->tally->counter_increments += effect.counter_increments;
        lane->tally->state_writes += effect.state_writes;
        if (last.sequence == route.sequence_high - 1 &&
            lab_closes_when_full(lane->settings->scenario_strategy))
            lane->state.bucket = route.bucket + 1;
        if (lane->expected != NULL)
            lab_expect_rows(lane, &(struct lab_row_times){.each_ns = batch->times_ns + from}, end - from);
        from = end;
    }
}

/* --- Rows by id --- */

/* Updates the figures that depend on each single row: stored rows, deleted or expired rows, and the busiest
 * second. */
static void watch_row(struct lab_lane *lane, struct lab_entry *cell, const struct lab_batch *batch,
                      size_t row)
{
    const uint64_t number = batch->first_row + row;
    if (lane->tally->stored != NULL)
        lab_stored_rows(lane->tally->stored, lane->key, batch, row, row + 1, cell->bucket);
    cell->gone += lab_gone_between(batch, row, row + 1);
    if (number >= batch->last_second)
        lab_watch_second(batch->last_second, &cell->second, &cell->rows_in_second, lane->tally);
    else if (batch->most_in_second > lane->tally->peak_rows_per_s)
        lab_watch_second(batch->second_begin[row], &cell->second, &cell->rows_in_second, lane->tally);
}

/* Returns the first row that watch_row(lane, ) must process: the first of the batch, or only the first of the
 * last second of the batch, which may become the busiest one. */
static size_t first_watched(struct lab_lane *lane, const struct lab_batch *batch, size_t from)
{
    if (!lab_counts_seconds(lane->settings->scenario) && lane->tally->stored == NULL &&
        batch->gone_before == NULL)
        return batch->count;
    if (lane->tally->stored != NULL || batch->gone_before != NULL || batch->last_second <= batch->first_row ||
        batch->most_in_second > lane->tally->peak_rows_per_s)
        return from;
    size_t first = (size_t)(batch->last_second - batch->first_row);
    return first > from ? first : from;
}

/* Adds the rows to the digest. */
static void digest_rows(struct sim_placement *placement, const int32_t *buckets, size_t count)
{
    uint64_t sum = placement->sum, row = placement->rows, mark = sim_placement_mark(row);
    for (size_t i = 0; i < count; i++) {
        const uint64_t next = sim_placement_mark(++row);
        sum += sim_placement_weight(buckets[i]) * (next - mark);
        mark = next;
    }
    *placement = (struct sim_placement){sum, row};
}

/* Adds the rows from `row` on to the cells of their buckets. Returns false when out of memory. */
static bool place_rows(struct lab_lane *lane, uint32_t bucket_count, const struct lab_batch *batch,
                       size_t row, const int32_t *buckets, size_t count)
{
    for (size_t i = 0; i < count; i++, row++) {
        struct lab_entry *cell = lab_cell(&lane->book, bucket_count, buckets[i]);
        if (cell == NULL)
            return false;
        if (cell->size.rows++ == 0)
            cell->first_ns = batch->times_ns[row];
        lab_bytes_add(&cell->size.bytes, lab_batch_bytes(batch, row, row + 1));
        if (lane->expected != NULL)
            lab_expect_cell(lane, cell, batch->times_ns[row], batch->times_ns[row], 1);
    }
    return true;
}

/* Takes rows back, from the last one on, as long as the cell is above a limit. */
static void take_back(struct lab_lane *lane, const struct lab_batch *batch, size_t from,
                      const int32_t *buckets, size_t count, const struct lab_entry *cell)
{
    struct cass_partition rows = cell->size;
    uint64_t gone = cell->gone;
    for (size_t i = count; i-- > 0 && is_over(lane, &rows, gone);) {
        if (buckets[i] != cell->bucket)
            continue;
        lab_tally_over(lane->tally, batch->times_ns[from + i]);
        rows.rows--;
        rows.bytes -= lab_batch_bytes(batch, from + i, from + i + 1);
        gone -= lab_gone_between(batch, from + i, from + i + 1);
    }
}

/* Notes when a cell exceeded a limit by the rows from `from` on with these buckets, which the cells have. */
static void watch_cells(struct lab_lane *lane, const struct lab_batch *batch, size_t from,
                        const int32_t *buckets, size_t count)
{
    const bool is_stored = lane->settings->disk.window_ns != 0;
    if (!is_stored && ((batch->over_rows == UINT64_MAX && batch->over_bytes == UINT64_MAX) ||
                       batch->times_ns[from] >= lane->tally->first_over_ns))
        return;
    /* The cells have counted the deleted rows of the whole batch; rows on disk are examined one by one. */
    const bool counts_again = is_stored && lane->settings->scenario->deletes.share > 0;
    for (size_t i = 0; counts_again && i < count; i++)
        lab_cell_at(&lane->book, buckets[i])->gone -= lab_gone_between(batch, from + i, from + i + 1);
    for (size_t i = 0; i < count; i++) {
        struct lab_entry *cell = lab_cell_at(&lane->book, buckets[i]);
        cell->gone += counts_again ? lab_gone_between(batch, from + i, from + i + 1) : 0;
        if (is_stored)
            put_on_disk(lane, batch, from + i, from + i + 1, cell);
        else if (cell->size.rows > batch->over_rows || cell->size.bytes > batch->over_bytes)
            take_back(lane, batch, from, buckets, count, cell);
    }
}

static void rows_by_id(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to)
{
    const uint32_t bucket_count = lane->settings->strategy->of.hash.buckets;
    int32_t buckets[IDS_AT_ONCE];
    size_t watched = first_watched(lane, batch, from);
    for (size_t begin = from, end; begin < to; begin = end) {
        end = to - begin < IDS_AT_ONCE ? to : begin + IDS_AT_ONCE;
        const size_t count = end - begin;
        /* cppcheck-suppress legacyUninitvar ; bk_buckets_of_ids() sets them */
        bk_buckets_of_ids(batch->ids + begin, count, bucket_count, buckets);
        digest_rows(&lane->placement, buckets, count);
        if (!place_rows(lane, bucket_count, batch, begin, buckets, count)) {
            lane->tally->out_of_memory = true;
            return;
        }
        for (; watched < end; watched++)
            watch_row(lane, lab_cell_at(&lane->book, buckets[watched - begin]), batch, watched);
        watch_cells(lane, batch, begin, buckets, count);
    }
}

/* --- Rows by window --- */

const struct bk_placement *lab_window_at(const struct bk_strategy *strategy, int64_t time_ns,
                                         struct bk_placement *last)
{
    const struct bk_row row = {.time_ns = time_ns};
    const int64_t length_ns = strategy->of.time.window_ns, until_ns = last->until_ns;
    if (time_ns >= last->from_ns && time_ns < until_ns)
        return last;
    if (time_ns != until_ns || until_ns == last->from_ns || length_ns == 0 ||
        until_ns > INT64_MAX - length_ns) {
        enum bk_status status = bk_route(strategy, NULL, &row, last);
        assert(status == BK_OK);
        (void)status;
        last->bucket = lab_first_shard(strategy, last->bucket);
        return last;
    }
    /* The next one of the same length, which needs no division. */
    last->bucket += lab_shards(strategy);
    last->from_ns = until_ns;
    last->until_ns = until_ns + length_ns;
    return last;
}

static const int64_t *own_times(const struct lab_batch *batch)
{
    return batch->own_ns != NULL ? batch->own_ns : batch->times_ns;
}

static bool goes_by_window(const struct lab_lane_settings *settings)
{
    return settings->strategy->kind == BK_KIND_TIME &&
           (lab_shards(settings->strategy) > 1 || wl_has_own_times(&settings->scenario->workload));
}

/* Adds one row to the partition. */
static void add_row(struct lab_lane *lane, const struct lab_batch *batch, size_t row,
                    struct lab_entry *partition)
{
    if (lane->tally->stored != NULL)
        lab_stored_rows(lane->tally->stored, lane->key, batch, row, row + 1, partition->bucket);
    add_rows(lane, batch, row, row + 1, partition);
    lab_watch_second(batch->second_begin[row], &partition->second, &partition->rows_in_second, lane->tally);
    sim_placement_add(&lane->placement, partition->bucket, 1);
}

static void rows_by_window(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to)
{
    const struct bk_strategy *strategy = lane->settings->strategy;
    const uint32_t shards = (uint32_t)lab_shards(strategy);
    struct bk_placement own = {0}, current = {0};
    for (size_t i = from; i < to; i++) {
        const int64_t first = lab_window_at(strategy, own_times(batch)[i], &own)->bucket;
        const int64_t bucket = first + (shards > 1 ? bk_bucket_of_id(batch->ids[i], shards) : 0);
        struct lab_entry *window = find(lane, bucket);
        if (window == NULL)
            return;
        if (batch->own_ns != NULL && first < lab_window_at(strategy, batch->times_ns[i], &current)->bucket) {
            lane->tally->rows_into_closed++;
            lane->tally->reopened += !window->is_reopened;
            window->is_reopened = true;
        }
        add_row(lane, batch, i, window);
        if (batch->own_ns != NULL)
            window->end_row = window->size.rows;
    }
}

/* --- Rows by shard --- */

/* Ends the shards of the newest bucket. */
static void end_shards(struct lab_lane *lane)
{
    struct lab_book *book = &lane->book;
    for (size_t i = book->count; i > 0 && !item(book, i - 1)->has_ended; i--) {
        end(lane, item(book, i - 1), true);
        item(book, i - 1)->has_ended = true;
    }
    if (lane->settings->scenario->reads.present)
        lab_lane_forget(lane);
    else
        book->count = 0;
}

static void rows_by_shard(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to)
{
    const struct bk_strategy *strategy = lane->settings->strategy;
    for (size_t i = from; i < to; i++) {
        const struct bk_row row = {batch->times_ns[i], batch->first_row + i, batch->ids[i],
                                   lab_batch_payload(batch, i)};
        struct bk_placement route;
        struct bk_effect effect;
        enum bk_status status = bk_route(strategy, &lane->state, &row, &route);
        assert(status == BK_OK);
        if (lane->book.count > 0 && lab_open(lane)->bucket < lab_first_shard(strategy, route.bucket))
            end_shards(lane);
        struct lab_entry *shard = find(lane, route.bucket);
        if (shard == NULL)
            return;
        add_row(lane, batch, i, shard);
        status = bk_advance(strategy, &lane->state, &row, &effect);
        assert(status == BK_OK);
        (void)status;
        lane->tally->counter_increments += effect.counter_increments;
        lane->tally->state_writes += effect.state_writes;
    }
}

/* --- Rows by era --- */

/* Begins the regimes up to a time. A regime that forgets the older settings still has the contents of the
 * database: the number of rows, from which a reader with BK_KIND_COUNT derives the newest bucket, and the
 * key's state row, whose count may be above the new threshold. */
void lab_lane_enter(struct lab_lane *lane, int64_t time_ns)
{
    while (lane->regime + 1 < lane->settings->regimes->count &&
           time_ns >= lane->settings->regimes->items[lane->regime + 1].from_ns) {
        const struct bk_strategy *strategy =
            &lane->settings->regimes->items[++lane->regime].history.eras[0].strategy;
        struct bk_key_state key = lane->history.key;
        memset(&lane->history, 0, sizeof lane->history);
        if (strategy->kind == BK_KIND_COUNT && lane->placement.rows > 0) {
            key.bucket = (int64_t)((lane->placement.rows - 1) / strategy->of.count.rows);
            lane->history.has_rows = true;
        }
        if (bk_kind_fires(strategy->kind) && key.counter >= bk_threshold(strategy))
            key.counter = bk_threshold(strategy) - 1;
        lane->history.key = key;
    }
}

/* Returns the end of the rows for which the route is valid, including the first one that fires, and that come
 * before until_ns. */
static size_t stretch(const struct bk_history *history, const struct lab_batch *batch, size_t from, size_t to,
                      const struct bk_placement *route, int64_t until_ns)
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

/* Returns whether the partition is closed at the end: whether current rows go to a later era, or to a later
 * bucket of the same era. A partition that only forgotten settings wrote is closed, too, unless rows of the
 * current settings may go to any bucket. */
static bool is_era_closed(const struct lab_lane *lane, const struct lab_entry *partition, int64_t end_ns)
{
    const struct bk_history *history = &lane->settings->regimes->items[lane->regime].history;
    const struct bk_era *era = &history->eras[bk_history_era_at(history, end_ns)];
    if (era->strategy.kind == BK_KIND_HASH)
        return partition->bucket < era->shift ||
               partition->bucket - era->shift >= (int64_t)era->strategy.of.hash.buckets;
    if (partition->regime < lane->regime && !bk_kind_fires(era->strategy.kind))
        return true;
    int64_t current = era->shift + lane->history.key.bucket * lab_shards(&era->strategy);
    if (era->strategy.kind == BK_KIND_TIME) {
        struct bk_row now = {.time_ns = end_ns};
        struct bk_placement route;
        bk_history_route(history, NULL, &now, &route);
        current = era->shift + lab_first_shard(&era->strategy, route.bucket - era->shift);
    }
    return partition->bucket < current;
}

static void watch_closed(const struct lab_lane *lane, struct lab_entry *partition,
                         const struct lab_batch *batch, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (!is_era_closed(lane, partition, batch->times_ns[i]))
            continue;
        lane->tally->rows_into_closed++;
        lane->tally->reopened += !partition->is_reopened;
        partition->is_reopened = true;
    }
}

/* Notes, for reads of ranges, that the last row is in this bucket. */
static bool note_run(struct lab_lane *lane, int64_t bucket)
{
    struct lab_runs_of_rows *runs = &lane->runs;
    const struct lab_horizon *horizon = lane->horizon;
    if (runs->count == 0 || runs->items[runs->count - 1].bucket != bucket) {
        size_t gone = 0;
        while (runs->count == runs->capacity && gone < runs->count &&
               runs->items[gone].end_row <= horizon->end_row - (horizon->end - horizon->begin))
            gone++;
        if (gone > runs->count / 2) {
            runs->count -= gone;
            memmove(runs->items, runs->items + gone, runs->count * sizeof *runs->items);
        }
        if (!sim_grow(&runs->items, &runs->capacity, runs->count + 1, sizeof *runs->items))
            return false;
        runs->items[runs->count++].bucket = bucket;
    }
    runs->items[runs->count - 1].end_row = lane->placement.rows;
    return true;
}

static void rows_by_era(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to)
{
    const int64_t *own_ns = own_times(batch);
    while (from < to) {
        lab_lane_enter(lane, batch->times_ns[from]);
        const struct bk_history *history = &lane->settings->regimes->items[lane->regime].history;
        struct bk_row row = {own_ns[from], batch->first_row + from, batch->ids[from],
                             lab_batch_payload(batch, from)};
        struct bk_placement route;
        enum bk_status status = bk_history_route(history, &lane->history, &row, &route);
        assert(status == BK_OK);
        bool is_last = lane->regime + 1 == lane->settings->regimes->count;
        int64_t until_ns = is_last ? INT64_MAX : lane->settings->regimes->items[lane->regime + 1].from_ns;
        bool is_alone = route.scope == BK_SCOPE_ROW || route.begins;
        size_t end = is_alone ? from + 1 : stretch(history, batch, from, to, &route, until_ns);
        struct lab_entry *partition = find(lane, route.bucket);
        if (partition == NULL)
            return;
        add_rows(lane, batch, from, end, partition);
        partition->regime = (uint16_t)lane->regime;
        lane->is_unordered = lane->is_unordered || batch->own_ns != NULL;
        for (size_t i = from; i < end; i++)
            lab_watch_second(batch->second_begin[i], &partition->second, &partition->rows_in_second,
                             lane->tally);
        if (batch->own_ns != NULL)
            watch_closed(lane, partition, batch, from, end);
        sim_placement_add(&lane->placement, route.bucket, end - from);
        if (lane->settings->scenario->reads.kinds[LAB_READ_RANGE].rate_per_s > 0 &&
            !note_run(lane, route.bucket)) {
            lane->tally->out_of_memory = true;
            return;
        }
        struct bk_row last = {own_ns[end - 1], batch->first_row + end - 1, batch->ids[end - 1],
                              lab_batch_payload(batch, end - 1)};
        struct bk_effect effect;
        status = bk_history_advance(history, &lane->history, &last, &effect);
        assert(status == BK_OK);
        (void)status;
        lane->tally->counter_increments += effect.counter_increments;
        lane->tally->state_writes += effect.state_writes;
        from = end;
    }
}

/* --- A key --- */

void lab_lane_rows(struct lab_lane *lane, const struct lab_batch *batch, size_t from, size_t to)
{
    if (from == to)
        return;
    if (lane->placement.rows == 0 &&
        (bk_kind_fires(lane->settings->strategy->kind) || lane->settings->strategy->max_age_ns != 0))
        lane->tally->state_reads++; /* the writer's cache does not have the lane->key yet */
    lane->tally->rows += to - from;
    for (size_t i = from; batch->late_ns != NULL && i < to; i++)
        lane->tally->late_rows += batch->late_ns[i] > 0;
    if (lane->settings->regimes != NULL)
        rows_by_era(lane, batch, from, to);
    else if (lane->settings->strategy->kind == BK_KIND_HASH)
        rows_by_id(lane, batch, from, to);
    else if (goes_by_window(lane->settings))
        rows_by_window(lane, batch, from, to);
    else if (lab_shards(lane->settings->strategy) > 1)
        rows_by_shard(lane, batch, from, to);
    else
        rows_by_range(lane, batch, from, to);
}

/* Returns the bucket of a row at the end of the run: a bucket that ends by time has ended even if no row came
 * later. For BK_KIND_HASH it is 0, below which there are no buckets. */
static int64_t current_bucket(const struct lab_lane *lane, int64_t end_ns)
{
    struct bk_row now = {.time_ns = end_ns, .sequence = lane->state.first_sequence};
    struct bk_placement route;
    if (lane->settings->strategy->kind != BK_KIND_TIME && lane->settings->strategy->max_age_ns == 0)
        return lane->state.bucket * lab_shards(lane->settings->strategy);
    bk_route(lane->settings->strategy, &lane->state, &now, &route);
    return lab_first_shard(lane->settings->strategy, route.bucket);
}

static uint64_t counts_of_partition(const struct lab_strategy *strategy)
{
    return (strategy->settings.strategy.of.count.rows - 1) / strategy->settings.every_rows + 1;
}

struct bk_strategy lab_counted_strategy(const struct lab_strategy *strategy)
{
    struct bk_strategy counted = strategy->settings.strategy;
    uint64_t rows = 0;
    if (lab_closes_when_full(strategy) &&
        !__builtin_mul_overflow(counts_of_partition(strategy), strategy->settings.every_rows, &rows))
        counted.of.count.rows = rows;
    return counted;
}

bool lab_closes_when_full(const struct lab_strategy *strategy)
{
    return strategy->settings.source == BK_SOURCE_INCREMENTAL || strategy->settings.source == BK_SOURCE_SCAN;
}

/* Returns the rows scanned by `counts` counts of n, 2n, 3n, ... rows, where n is every_rows. */
static uint64_t rows_scanned(uint64_t counts, uint64_t every_rows)
{
    return (counts % 2 == 0 ? counts / 2 * (counts + 1) : (counts + 1) / 2 * counts) * every_rows;
}

/* Adds the cost of `rows` rows of one key, above 0, by the protocols of count: there is one writer, whose
 * cache never evicts a key and whose operations take no time, so the cost depends only on the number of rows.
 */
static void count_cost(const struct lab_strategy *strategy, uint64_t rows, struct lab_tally *tally)
{
    uint64_t every_rows = strategy->settings.every_rows, counts = every_rows > 0 ? rows / every_rows : 0;
    assert(rows > 0);
    tally->state_reads +=
        strategy->settings.source >= BK_SOURCE_LWT; /* the first operation reads the state */
    switch (strategy->settings.source) {
    case BK_SOURCE_EXTERNAL:
        break;
    case BK_SOURCE_COUNTER:
        tally->counter_increments += rows;
        tally->state_reads += rows;
        break;
    case BK_SOURCE_LWT:
        tally->lwt += rows;
        break;
    case BK_SOURCE_LEASE:
        tally->lwt += (rows - 1) / strategy->settings.lease_rows + 1;
        break;
    case BK_SOURCE_INCREMENTAL:
        tally->state_reads += counts;
        tally->lwt += counts;
        tally->rows_scanned += counts * every_rows;
        break;
    case BK_SOURCE_SCAN: {
        uint64_t of_partition = counts_of_partition(strategy), full = counts / of_partition;
        /* A roll reads the state again before it writes it. */
        tally->state_reads += counts + full;
        tally->state_writes += full;
        tally->rows_scanned +=
            full * rows_scanned(of_partition, every_rows) + rows_scanned(counts % of_partition, every_rows);
        break;
    }
    case BK_SOURCE_MEMORY:
        tally->state_reads++; /* the first operation counts an empty bucket */
        tally->state_writes += (rows - 1) / strategy->settings.strategy.of.count.rows;
        break;
    }
}

void lab_lane_end(struct lab_lane *lane, int64_t end_ns)
{
    struct lab_book *book = &lane->book;
    const bool has_eras = lane->settings->regimes != NULL;
    if (lane->expected != NULL)
        lab_expect_end(lane, end_ns);
    if (lane->placement.rows > 0 && lane->settings->strategy->kind == BK_KIND_COUNT)
        count_cost(lane->settings->scenario_strategy, lane->placement.rows, lane->tally);
    const int64_t current = current_bucket(lane, end_ns);
    if (lane->tally->stored != NULL && lane->placement.rows > 0)
        lab_stored_key_end(lane->tally->stored, lane->key, lane->settings->first_whole, current);
    lane->tally->placement_digest += sim_placement_finish(&lane->placement, lane->key->index);
    if (has_eras)
        lab_lane_enter(lane, end_ns);
    if (!has_eras && lane->settings->strategy->kind == BK_KIND_HASH) {
        for (size_t i = 0; book->count > 0 && i < book->capacity; i++) {
            if (book->items[i].size.rows > 0)
                end(lane, &book->items[i], false);
        }
        add_all_ended(lane);
        if (book->count > 0)
            memset(book->items, 0, book->capacity * sizeof *book->items);
        book->count = 0;
        return;
    }
    /* Where rows come in the order of buckets, all partitions but the last have finished already. */
    const bool is_all =
        has_eras || goes_by_window(lane->settings) || lab_shards(lane->settings->strategy) > 1;
    for (size_t i = is_all || book->count == 0 ? 0 : book->count - 1; i < book->count; i++) {
        struct lab_entry *partition = item(book, i);
        const bool is_closed =
            has_eras ? is_era_closed(lane, partition, end_ns) : partition->bucket < current;
        end(lane, partition, is_closed);
    }
    add_all_ended(lane);
    for (size_t i = 0; lane->alike != NULL && i < LAB_ALIKE; i++) {
        add_alike(lane, &lane->alike[i]);
        lane->alike[i].held.rows = 0; /* the size of the next key's name may be another */
    }
    book->begin = book->count = 0;
}

void lab_lane_clear(struct lab_lane *lane)
{
    const struct lab_book *book = &lane->book;
    for (size_t i = 0; i < (book->is_table ? book->capacity : book->count); i++)
        free(item(book, i)->disk);
    free(lane->book.items);
    free(lane->empties);
    free(lane->runs.items);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        free(lane->counted[kind].rows);
    if (lane->expected != NULL)
        free(lane->expected->seams);
    free(lane->expected);
    memset(lane, 0, sizeof *lane);
}
