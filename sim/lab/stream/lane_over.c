/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the row by which a partition exceeded a limit. A partition only grows, so the first row after which
 * it is above the limit is found by bisection. Rows and batches that come after the first such time of the
 * tally are not examined. */
#include "lane.h"

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

static bool is_over(const struct lab_lane_settings *settings, const struct lab_key_name *key,
                    const struct cass_partition *rows, uint64_t gone)
{
    const struct cass_partition whole = lab_lane_weigh(settings->scenario, key, rows, gone);
    return lab_is_over(&settings->scenario->limits, &whole);
}

void lab_lane_over(const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to,
                   const struct cass_partition *rows, uint64_t gone)
{
    size_t low = from, high = to - 1;
    if (!is_over(settings, key, rows, gone))
        return;
    while (low < high) {
        const size_t middle = low + (high - low) / 2, after = middle + 1;
        const struct cass_partition then = {rows->rows - (to - after),
                                            rows->bytes - lab_batch_bytes(batch, after, to)};
        if (is_over(settings, key, &then, gone - lab_gone_between(batch, after, to)))
            high = middle;
        else
            low = after;
    }
    lab_tally_over(tally, batch->times_ns[low]);
}

void lab_lane_store(const struct lab_lane_settings *settings, struct lab_tally *tally,
                    const struct lab_key_name *key, const struct lab_batch *batch, size_t from, size_t to,
                    uint64_t gone, struct lab_disk **disk)
{
    for (size_t i = from, next; i < to; i = next) {
        next = lab_first_at(batch->times_ns, i + 1, to, lab_disk_until(&settings->disk, batch->times_ns[i]));
        if (!lab_disk_add(disk, &settings->disk, batch->times_ns[i], next - i,
                          lab_batch_bytes(batch, i, next))) {
            tally->out_of_memory = true;
            return;
        }
        const struct cass_partition *now = &(*disk)->now;
        if ((now->rows > batch->over_rows || now->bytes > batch->over_bytes) &&
            batch->times_ns[i] < tally->first_over_ns)
            lab_lane_over(settings, tally, key, batch, i, next, now,
                          gone - lab_gone_between(batch, next, to));
    }
}

/* Takes rows back, from the last one on, as long as the cell is above a limit. */
static void take_back(const struct lab_lane_settings *settings, struct lab_tally *tally,
                      const struct lab_key_name *key, const struct lab_batch *batch, size_t from,
                      const int32_t *buckets, size_t count, const struct lab_cell *cell)
{
    struct cass_partition rows = {cell->rows, cell->bytes};
    uint64_t gone = cell->gone;
    for (size_t i = count; i-- > 0 && is_over(settings, key, &rows, gone);) {
        if ((uint32_t)buckets[i] != cell->bucket)
            continue;
        lab_tally_over(tally, batch->times_ns[from + i]);
        rows.rows--;
        rows.bytes -= lab_batch_bytes(batch, from + i, from + i + 1);
        gone -= lab_gone_between(batch, from + i, from + i + 1);
    }
}

static struct lab_cell *cell_of(struct lab_lane *lane, int32_t bucket)
{
    return &lane->cells[lab_cell_slot(lane->cells, lane->cell_count, (uint32_t)bucket)];
}

void lab_cells_over(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                    const struct lab_key_name *key, const struct lab_batch *batch, size_t from,
                    const int32_t *buckets, size_t count)
{
    /* The cells have counted the deleted rows of the whole batch; rows on disk are examined one by one. */
    const bool counts_again = settings->disk.window_ns != 0 && settings->scenario->deletes.share > 0;
    for (size_t i = 0; counts_again && i < count; i++)
        cell_of(lane, buckets[i])->gone -= lab_gone_between(batch, from + i, from + i + 1);
    for (size_t i = 0; i < count; i++) {
        struct lab_cell *cell = cell_of(lane, buckets[i]);
        cell->gone += counts_again ? lab_gone_between(batch, from + i, from + i + 1) : 0;
        if (settings->disk.window_ns != 0)
            lab_lane_store(settings, tally, key, batch, from + i, from + i + 1, cell->gone, &cell->disk);
        else if (cell->rows > batch->over_rows || cell->bytes > batch->over_bytes)
            take_back(settings, tally, key, batch, from, buckets, count, cell);
    }
}
