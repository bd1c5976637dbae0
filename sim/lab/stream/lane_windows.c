/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane of time windows, which may get rows in any order. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lab/stored.h"
#include "lane.h"

#define WINDOWS_MIN 16u

/* Returns the window of a time, which is usually that of the previous row. */
static int64_t window_at(const struct bk_strategy *strategy, int64_t time_ns, struct bk_route *last)
{
    if (time_ns < last->from_ns || time_ns >= last->until_ns) {
        struct bk_row row = {.time_ns = time_ns};
        enum bk_status status = bk_route(strategy, NULL, &row, last);
        assert(status == BK_OK);
        (void)status;
    }
    return last->bucket;
}

/* Grows the array, with free space at both ends. */
static bool grow(struct lab_lane *lane)
{
    size_t count = lane->window_count, capacity = count * 3 + WINDOWS_MIN;
    struct lab_time_window *windows = malloc(capacity * sizeof *windows);
    if (windows == NULL)
        return false;
    size_t begin = (capacity - count) / 2;
    if (count > 0)
        memcpy(windows + begin, lab_window_at(lane, 0), count * sizeof *windows);
    free(lane->windows);
    lane->windows = windows;
    lane->window_begin = begin;
    lane->window_capacity = capacity;
    return true;
}

/* Makes room for one more window at `place`. The shorter side is moved, so that loading a history backwards
 * is as fast as forwards. */
static bool make_room(struct lab_lane *lane, size_t place)
{
    size_t count = lane->window_count, end = lane->window_begin + count;
    bool moves_lower = place < count / 2;
    if ((moves_lower ? lane->window_begin == 0 : end == lane->window_capacity) && !grow(lane))
        return false;
    struct lab_time_window *first = lab_window_at(lane, 0);
    if (moves_lower) {
        memmove(first - 1, first, place * sizeof *first);
        lane->window_begin--;
    } else {
        memmove(first + place + 1, first + place, (count - place) * sizeof *first);
    }
    lane->window_count++;
    return true;
}

/* Returns the window of that bucket, or NULL when out of memory. It is usually the last one or a new one
 * after it. */
static struct lab_time_window *window_of(struct lab_lane *lane, int64_t bucket)
{
    size_t low = 0, high = lane->window_count;
    if (high > 0 && lab_window_at(lane, high - 1)->bucket < bucket)
        low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lab_window_at(lane, middle)->bucket < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < lane->window_count && lab_window_at(lane, low)->bucket == bucket)
        return lab_window_at(lane, low);
    if (!make_room(lane, low))
        return NULL;
    *lab_window_at(lane, low) = (struct lab_time_window){.bucket = bucket};
    return lab_window_at(lane, low);
}

void lab_windows_rows(struct lab_lane *lane, const struct lab_lane_settings *settings,
                      struct lab_tally *tally, const struct lab_key_name *key, const struct lab_batch *batch,
                      size_t from, size_t to)
{
    const struct bk_strategy *strategy = settings->strategy;
    struct bk_route own = {0}, current = {0};
    struct lab_time_window *window = NULL;
    for (size_t i = from; i < to; i++) {
        int64_t bucket = window_at(strategy, batch->own_ns[i], &own);
        if (window == NULL || window->bucket != bucket)
            window = window_of(lane, bucket);
        if (window == NULL) {
            tally->out_of_memory = true;
            return;
        }
        if (bucket < window_at(strategy, batch->times_ns[i], &current)) {
            tally->rows_into_closed++;
            tally->reopened += !window->is_reopened;
            window->is_reopened = true;
        }
        if (tally->stored != NULL)
            lab_stored_rows(tally->stored, key, batch, i, i + 1, bucket);
        if (window->rows++ == 0)
            window->first_ns = batch->times_ns[i];
        window->gone += lab_gone_between(batch, i, i + 1);
        lab_bytes_add(&window->bytes, lab_batch_bytes(batch, i, i + 1));
        lab_lane_watch(settings, tally, key, batch, i, i + 1,
                       &(struct cass_partition){window->rows, window->bytes}, window->gone, &window->disk);
        lab_watch_second(batch->second_begin[i], &window->second, &window->rows_in_second, tally);
        sim_placement_add(&lane->placement, bucket, 1);
    }
}

void lab_windows_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                     const struct lab_key_name *key, int64_t current)
{
    for (size_t i = 0; i < lane->window_count; i++) {
        struct lab_time_window *window = lab_window_at(lane, i);
        struct cass_partition partition = {window->rows, window->bytes};
        lab_lane_finish(settings, tally, key, window->bucket, &partition, &window->disk, window->gone,
                        window->first_ns, window->bucket < current);
    }
    lane->window_count = 0;
}
