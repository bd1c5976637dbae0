/* SPDX-License-Identifier: MIT */
/* The memory of empty windows: a sorted list of runs. It is searched from the newest end, where readers
 * begin. */
#include <string.h>

#include "bucketing/read.h"
#include "calendar.h"

/* Returns the number of runs that begin at or below the bucket. The last of them may contain the bucket. */
static uint32_t run_at(const struct bk_empties *empties, int64_t bucket)
{
    uint32_t at = empties->count;
    while (at > 0 && empties->runs[at - 1].low > bucket)
        at--;
    return at;
}

static void drop(struct bk_empties *empties, uint32_t at)
{
    empties->count--;
    memmove(&empties->runs[at], &empties->runs[at + 1], (empties->count - at) * sizeof *empties->runs);
}

static uint64_t length(const struct bk_window_run *run)
{
    return (uint64_t)run->high - (uint64_t)run->low;
}

/* If there is no room, the shortest run is dropped, because forgetting it costs the fewest queries. */
static void insert(struct bk_empties *empties, uint32_t at, struct bk_window_run run)
{
    if (empties->count == BK_EMPTY_RUNS_MAX) {
        uint32_t shortest = 0;
        for (uint32_t i = 1; i < empties->count; i++) {
            if (length(&empties->runs[i]) < length(&empties->runs[shortest]))
                shortest = i;
        }
        if (length(&run) <= length(&empties->runs[shortest]))
            return;
        drop(empties, shortest);
        at -= shortest < at;
    }
    memmove(&empties->runs[at + 1], &empties->runs[at], (empties->count - at) * sizeof run);
    empties->runs[at] = run;
    empties->count++;
}

/* Adds a run and merges it with all runs that it overlaps or adjoins. */
static void add(struct bk_empties *empties, int64_t low, int64_t high)
{
    /* high + 1 does not overflow: the window has ended, so there is a later one. */
    uint32_t end = run_at(empties, high + 1), begin = end;
    while (begin > 0 &&
           (empties->runs[begin - 1].high == INT64_MAX || empties->runs[begin - 1].high + 1 >= low))
        begin--;
    struct bk_window_run run = {low, high};
    if (begin < end && empties->runs[begin].low < low)
        run.low = empties->runs[begin].low;
    if (begin < end && empties->runs[end - 1].high > high)
        run.high = empties->runs[end - 1].high;
    for (uint32_t i = begin; i < end; i++)
        drop(empties, begin);
    insert(empties, begin, run);
}

enum bk_status bk_empties_learn(struct bk_empties *empties, const struct bk_strategy *strategy,
                                const struct bk_reader *reader, int64_t now_ns, int64_t late_ns, int64_t low,
                                int64_t high)
{
    if (empties == NULL || strategy == NULL || reader == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_strategy_check(strategy);
    if (status != BK_OK)
        return status;
    if (strategy->kind != BK_TIME)
        return BK_ERROR_KIND;
    if (late_ns < 0)
        return BK_ERROR_RANGE;
    int64_t settled_ns = now_ns < INT64_MIN + late_ns ? INT64_MIN : now_ns - late_ns;
    int64_t open =
        bk_window_of(strategy, settled_ns).index; /* this window and later ones may still get rows */
    if (high >= open)
        high = open - 1;
    struct bk_window first = bk_window_of(strategy, reader->from_ns);
    struct bk_window last = bk_window_of(strategy, reader->until_ns);
    int64_t low_whole = first.index + (reader->from_ns > first.from_ns);
    low = low < low_whole ? low_whole : low;
    high = reader->until_ns < INT64_MAX && high >= last.index ? last.index - 1 : high;
    if (low <= high)
        add(empties, low, high);
    return BK_OK;
}

void bk_empties_forget(struct bk_empties *empties, int64_t bucket)
{
    if (empties == NULL)
        return;
    uint32_t at = run_at(empties, bucket);
    if (at == 0 || empties->runs[at - 1].high < bucket)
        return;
    struct bk_window_run *run = &empties->runs[at - 1];
    struct bk_window_run above = {bucket + 1, run->high};
    if (run->low == bucket && run->high == bucket) {
        drop(empties, at - 1);
    } else if (run->low == bucket) {
        run->low++;
    } else if (run->high == bucket) {
        run->high--;
    } else {
        run->high = bucket - 1;
        insert(empties, at, above);
    }
}

int64_t bk_empties_pass(const struct bk_empties *empties, int64_t bucket)
{
    uint32_t at = empties == NULL ? 0 : run_at(empties, bucket);
    if (at == 0 || empties->runs[at - 1].high < bucket)
        return bucket;
    /* Runs have gaps between them, so the window just below a run is not known to be empty. */
    int64_t low = empties->runs[at - 1].low;
    return low == INT64_MIN ? INT64_MIN : low - 1;
}

int64_t bk_empties_top(const struct bk_empties *empties, int64_t bucket)
{
    uint32_t at = empties == NULL ? 0 : run_at(empties, bucket);
    if (at == 0)
        return INT64_MIN;
    return empties->runs[at - 1].high < bucket ? empties->runs[at - 1].high : bucket;
}
