/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Routes batches of a key's rows by one strategy. */
#include "lane.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/token.h"
#include "count_cost.h"
#include "kernel/time.h"
#include "lab/gone.h"
#include "lab/stored.h"

#define CELLS_MIN     4u
#define CELLS_AT_ONCE 32u
#define IDS_AT_ONCE   256u
#define STEP_FIRST    8u

void lab_lane_begin(struct lab_lane *lane)
{
    memset(&lane->state, 0, sizeof lane->state);
    lane->bucket = 0;
    lane->open = (struct cass_partition){0, 0};
    lane->open_first_row = lane->open_gone = 0;
    lane->placement = (struct sim_placement){0};
    lane->past_begin = lane->past_end = 0;
    lane->past_rows = lane->past_count = 0;
    if (lane->empties != NULL)
        lane->empties->count = 0;
    lab_eras_begin(lane->eras);
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

static void watch_peak(const struct lab_lane *lane, struct lab_tally *tally, const struct lab_batch *batch,
                       size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        uint64_t begin =
            batch->second_begin[i] > lane->open_first_row ? batch->second_begin[i] : lane->open_first_row;
        uint64_t rows = batch->first_row + i - begin + 1;
        if (rows > tally->peak_rows_per_s)
            tally->peak_rows_per_s = rows;
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
static size_t count_firing(struct lab_lane *lane, const struct lab_lane_settings *settings,
                           struct lab_tally *tally, const struct lab_batch *batch, size_t row, size_t to)
{
    const struct bk_strategy *strategy = settings->strategy;
    const uint64_t before = lane->state.counter, most = bk_threshold(strategy) - 1;
    const uint64_t unit = strategy->kind == BK_WEIGHTED ? strategy->of.weighted.bytes : UINT64_MAX;
    while (row < to && lane->state.counter < most && lab_batch_payload(batch, row) < unit) {
        lane->state.counter++;
        row = settings->firing[++lane->firing_place];
    }
    tally->counter_increments += lane->state.counter - before;
    return row < to ? row : to;
}

static void rows_by_range(struct lab_lane *lane, const struct lab_lane_settings *settings,
                          struct lab_tally *tally, const struct lab_key_name *key,
                          const struct lab_batch *batch, size_t from, size_t to)
{
    const struct bk_strategy *strategy = settings->strategy;
    const bool counts = bk_kind_fires(strategy->kind) && strategy->max_age_ns == 0;
    if (from == 0)
        lane->firing_place = 0;
    size_t firing = first_firing(lane, settings->firing, from, to);
    while (from < to) {
        struct bk_row row = {batch->times_ns[from], batch->first_row + from, batch->ids[from], 0};
        struct bk_route route;
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
            firing = first_firing(lane, settings->firing, from, to);
        if (counts)
            firing = count_firing(lane, settings, tally, batch, firing, to);
        if (firing < end)
            end = firing + 1;
        if (route.begins)
            end = from + 1; /* bk_advance() must be called for this row before the next one is routed */

        if (lane->open.rows > 0 && route.bucket != lane->bucket) {
            lab_lane_finish(settings, tally, key, lane->bucket, &lane->open, &lane->open_disk,
                            lane->open_gone, lane->open_first_ns, true);
            if (settings->scenario->reads.present)
                lab_lane_remember(lane, settings, tally, batch->horizon);
            lane->open = (struct cass_partition){0, 0};
            lane->open_gone = 0;
        }
        if (lane->open.rows == 0) {
            lane->bucket = route.bucket;
            lane->open_first_row = batch->first_row + from;
            lane->open_first_ns = batch->times_ns[from];
        }
        lane->open.rows += end - from;
        lane->open_gone += lab_gone_between(batch, from, end);
        lab_bytes_add(&lane->open.bytes, lab_batch_bytes(batch, from, end));
        lab_lane_watch(settings, tally, key, batch, from, end, &lane->open, lane->open_gone,
                       &lane->open_disk);
        sim_placement_add(&lane->placement, route.bucket, end - from);
        if (tally->stored != NULL)
            lab_stored_rows(tally->stored, key, batch, from, end, route.bucket);
        if (batch->most_in_second > tally->peak_rows_per_s)
            watch_peak(lane, tally, batch, from, end);

        struct bk_row last = {batch->times_ns[end - 1], batch->first_row + end - 1, batch->ids[end - 1],
                              lab_batch_payload(batch, end - 1)};
        struct bk_effect effect = {.counter_increments = 0};
        if (!counts || firing < to) /* otherwise the last row is counted already, if it fires */
            status = bk_advance(strategy, &lane->state, &last, &effect);
        assert(status == BK_OK);
        tally->counter_increments += effect.counter_increments;
        tally->state_writes += effect.state_writes;
        if (last.sequence == route.sequence_high - 1 && lab_closes_when_full(settings->scenario_strategy))
            lane->state.bucket = route.bucket + 1;
        if (lane->expected != NULL)
            lab_expect_rows(lane, settings, tally, &(struct lab_row_times){batch->times_ns + from, 0, 0},
                            end - from);
        from = end;
    }
}

/* Updates the figures that depend on each single row: stored rows, deleted or expired rows, and the busiest
 * second. */
static void watch_row(struct lab_cell *cell, struct lab_tally *tally, const struct lab_key_name *key,
                      const struct lab_batch *batch, size_t row)
{
    const uint64_t number = batch->first_row + row;
    if (tally->stored != NULL)
        lab_stored_rows(tally->stored, key, batch, row, row + 1, cell->bucket);
    cell->gone += lab_gone_between(batch, row, row + 1);
    if (number >= batch->last_second)
        lab_watch_second(batch->last_second, &cell->second, &cell->rows_in_second, tally);
    else if (batch->most_in_second > tally->peak_rows_per_s)
        lab_watch_second(batch->second_begin[row], &cell->second, &cell->rows_in_second, tally);
}

/* Returns the first row that watch_row() must process: the first of the batch, or only the first of the last
 * second of the batch, which may become the busiest one. */
static size_t first_watched(const struct lab_lane_settings *settings, const struct lab_tally *tally,
                            const struct lab_batch *batch, size_t from)
{
    if (settings->scenario->is_raced && tally->stored == NULL && batch->gone_before == NULL)
        return batch->count;
    if (tally->stored != NULL || batch->gone_before != NULL || batch->last_second <= batch->first_row ||
        batch->most_in_second > tally->peak_rows_per_s)
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
static bool place_rows(struct lab_lane *lane, const struct bk_strategy *strategy,
                       const struct lab_batch *batch, size_t row, const int32_t *buckets, size_t count)
{
    for (size_t i = 0; i < count; i++, row++) {
        struct lab_cell *cell = lab_lane_cell(lane, strategy, (uint32_t)buckets[i]);
        if (cell == NULL)
            return false;
        if (cell->rows++ == 0)
            cell->first_ns = batch->times_ns[row];
        lab_bytes_add(&cell->bytes, lab_batch_bytes(batch, row, row + 1));
    }
    return true;
}

static void rows_by_id(struct lab_lane *lane, const struct lab_lane_settings *settings,
                       struct lab_tally *tally, const struct lab_key_name *key, const struct lab_batch *batch,
                       size_t from, size_t to)
{
    int32_t buckets[IDS_AT_ONCE];
    size_t watched = first_watched(settings, tally, batch, from);
    for (size_t begin = from, end; begin < to; begin = end) {
        end = to - begin < IDS_AT_ONCE ? to : begin + IDS_AT_ONCE;
        const size_t count = end - begin;
        /* cppcheck-suppress legacyUninitvar ; bk_buckets_of_ids() sets them */
        bk_buckets_of_ids(batch->ids + begin, count, settings->strategy->of.hash.buckets, buckets);
        digest_rows(&lane->placement, buckets, count);
        if (!place_rows(lane, settings->strategy, batch, begin, buckets, count)) {
            tally->out_of_memory = true;
            return;
        }
        for (; watched < end; watched++) {
            struct lab_cell *cell =
                lab_lane_cell(lane, settings->strategy, (uint32_t)buckets[watched - begin]);
            if (cell == NULL) { /* the cells were to grow at this call, after the last new one */
                tally->out_of_memory = true;
                return;
            }
            watch_row(cell, tally, key, batch, watched);
        }
        if (settings->disk.window_ns != 0)
            lab_cells_over(lane, settings, tally, key, batch, begin, buckets, count);
        else if ((batch->over_rows != UINT64_MAX || batch->over_bytes != UINT64_MAX) &&
                 batch->times_ns[begin] < tally->first_over_ns)
            lab_cells_over(lane, settings, tally, key, batch, begin, buckets, count);
    }
}

void lab_lane_rows(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to)
{
    if (from == to)
        return;
    if (lane->placement.rows == 0 &&
        (bk_kind_fires(settings->strategy->kind) || settings->strategy->max_age_ns != 0))
        tally->state_reads++; /* the writer's cache does not have the key yet */
    tally->rows += to - from;
    for (size_t i = from; batch->late_ns != NULL && i < to; i++)
        tally->late_rows += batch->late_ns[i] > 0;
    if (settings->regimes != NULL)
        lab_eras_rows(lane, settings, tally, key, batch, from, to);
    else if (settings->strategy->kind == BK_HASH)
        rows_by_id(lane, settings, tally, key, batch, from, to);
    else if (settings->strategy->kind == BK_TIME && batch->own_ns != NULL)
        lab_windows_rows(lane, settings, tally, key, batch, from, to);
    else
        rows_by_range(lane, settings, tally, key, batch, from, to);
}

/* Returns the bucket of a row at the end of the run: a bucket that ends by time has ended even if no row came
 * later. For BK_HASH it is 0, below which there are no buckets. */
static int64_t current_bucket(const struct lab_lane *lane, const struct lab_lane_settings *settings,
                              int64_t end_ns)
{
    struct bk_row now = {.time_ns = end_ns, .sequence = lane->state.first_sequence};
    struct bk_route route;
    if (settings->strategy->kind != BK_TIME && settings->strategy->max_age_ns == 0)
        return lane->state.bucket;
    bk_route(settings->strategy, &lane->state, &now, &route);
    return route.bucket;
}

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

/* Records the finished partition on the nodes `replicas`, which may be NULL in a race of `tune`. */
static void finish_on(const uint32_t *replicas, const struct lab_lane_settings *settings,
                      struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                      const struct cass_partition *rows, struct lab_disk **disk, uint64_t gone,
                      int64_t first_ns, bool is_closed)
{
    const struct cass_partition *held = *disk == NULL ? rows : &(*disk)->most;
    const struct cass_partition whole = lab_lane_weigh(settings->scenario, key, held, gone),
                                *partition = &whole;
    free(*disk);
    *disk = NULL;
    if (lab_rows_go(settings->scenario))
        lab_tally_left(tally, rows->rows - gone, lab_tombstones_of(settings->scenario, gone));
    tally->placed += rows->rows;
    lab_tally_partition(tally, &settings->scenario->limits, partition, first_ns, is_closed);
    if (settings->scenario->is_raced)
        return;
    lab_tally_largest(tally, key, bucket, partition);
    for (uint32_t i = 0; i < cass_ring_replication_factor(settings->ring); i++) {
        tally->nodes[replicas[i]].rows += partition->rows;
        lab_bytes_add(&tally->nodes[replicas[i]].bytes, partition->bytes);
    }
}

void lab_lane_finish(const struct lab_lane_settings *settings, struct lab_tally *tally,
                     const struct lab_key_name *key, int64_t bucket, const struct cass_partition *rows,
                     struct lab_disk **disk, uint64_t gone, int64_t first_ns, bool is_closed)
{
    const uint32_t *replicas =
        settings->scenario->is_raced
            ? NULL
            : cass_ring_replicas(settings->ring, cass_token_bucketed(key->text, key->size, bucket));
    finish_on(replicas, settings, tally, key, bucket, rows, disk, gone, first_ns, is_closed);
}

/* Computes the tokens of several cells first and their replicas afterwards, so that the memory loads of the
 * searches in the ring overlap. */
static void finish_cells(struct lab_lane *lane, const struct lab_lane_settings *settings,
                         struct lab_tally *tally, const struct lab_key_name *key)
{
    const bool is_raced = settings->scenario->is_raced;
    for (uint32_t begin = 0, end; lane->cells_used > 0 && begin < lane->cell_count; begin = end) {
        const uint32_t *replicas[CELLS_AT_ONCE];
        int64_t tokens[CELLS_AT_ONCE];
        end = lane->cell_count - begin < CELLS_AT_ONCE ? lane->cell_count : begin + CELLS_AT_ONCE;
        struct lab_cell *cells = lane->cells + begin;
        for (uint32_t i = 0; !is_raced && i < end - begin; i++)
            tokens[i] = cells[i].rows > 0 ? cass_token_bucketed(key->text, key->size, cells[i].bucket) : 0;
        for (uint32_t i = 0; i < end - begin; i++)
            replicas[i] = is_raced ? NULL : cass_ring_replicas(settings->ring, tokens[i]);
        for (uint32_t i = 0; i < end - begin; i++) {
            const struct cass_partition partition = {cells[i].rows, cells[i].bytes};
            if (cells[i].rows > 0)
                finish_on(replicas[i], settings, tally, key, cells[i].bucket, &partition, &cells[i].disk,
                          cells[i].gone, cells[i].first_ns, false);
            cells[i] = (struct lab_cell){0};
        }
    }
    lane->cells_used = 0;
}

void lab_lane_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                  const struct lab_key_name *key, int64_t end_ns)
{
    if (lane->expected != NULL)
        lab_expect_end(lane, settings, tally, end_ns);
    if (lane->placement.rows > 0 && settings->strategy->kind == BK_COUNT)
        lab_count_cost(settings->scenario_strategy, lane->placement.rows, tally);
    if (tally->stored != NULL && lane->placement.rows > 0)
        lab_stored_key_end(tally->stored, key, current_bucket(lane, settings, end_ns));
    tally->placement_digest += sim_placement_finish(&lane->placement, key->index);
    if (settings->regimes != NULL) {
        lab_eras_end(lane, settings, tally, key, end_ns);
        return;
    }
    finish_cells(lane, settings, tally, key);
    int64_t current = current_bucket(lane, settings, end_ns);
    lab_windows_end(lane, settings, tally, key, current);
    if (lane->open.rows > 0)
        lab_lane_finish(settings, tally, key, lane->bucket, &lane->open, &lane->open_disk, lane->open_gone,
                        lane->open_first_ns, current > lane->bucket);
}

void lab_lane_clear(struct lab_lane *lane)
{
    for (uint32_t i = 0; i < lane->cell_count; i++)
        free(lane->cells[i].disk);
    for (size_t i = 0; i < lane->window_count; i++)
        free(lab_window_at(lane, i)->disk);
    free(lane->open_disk);
    free(lane->cells);
    free(lane->past);
    free(lane->windows);
    lab_eras_clear(lane->eras);
    free(lane->empties);
    free(lane->in_range);
    free(lane->expected);
    memset(lane, 0, sizeof *lane);
}

static bool grow_cells(struct lab_lane *lane)
{
    uint32_t cell_count = lane->cell_count == 0 ? CELLS_MIN : lane->cell_count * 2;
    struct lab_cell *cells = calloc(cell_count, sizeof *cells);
    if (cells == NULL)
        return false;
    for (uint32_t i = 0; i < lane->cell_count; i++) {
        if (lane->cells[i].rows == 0)
            continue;
        cells[lab_cell_slot(cells, cell_count, lane->cells[i].bucket)] = lane->cells[i];
    }
    free(lane->cells);
    lane->cells = cells;
    lane->cell_count = cell_count;
    return true;
}

/* If there are as many cells as buckets, each bucket has its own cell. */
struct lab_cell *lab_lane_cell(struct lab_lane *lane, const struct bk_strategy *strategy, uint32_t bucket)
{
    if (lane->cell_count < strategy->of.hash.buckets && lane->cells_used * 2 >= lane->cell_count &&
        !grow_cells(lane))
        return NULL;
    uint32_t i = lab_cell_slot(lane->cells, lane->cell_count, bucket);
    if (lane->cells[i].rows == 0) {
        lane->cells[i].bucket = bucket;
        lane->cells_used++;
    }
    return &lane->cells[i];
}
