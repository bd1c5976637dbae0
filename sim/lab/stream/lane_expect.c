/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes the expected numbers of a lane's reads instead of simulating each read. Reads of the newest rows
 * are a Poisson process, so between two changes of what a read queries, their expected number is proportional
 * to the time between. What a read queries depends only on the rows of a few of the newest partitions and on
 * the ends of windows, so the work depends on the number of partitions and not on that of reads or rows. */
#include <stdlib.h>

#include "lane.h"

/* A span in which more windows end is divided into this many pieces. */
#define PIECES 64

/* Returns the expected number of reads from the first one to this time, in fractional parts. */
static uint64_t parts_until(const struct lab_expected *expected, int64_t time_ns)
{
    return (uint64_t)((double)(time_ns - expected->start_ns) * expected->parts_per_ns);
}

/* Returns how many partitions a read that begins at this time queries. A walk ends where look() found its
 * end.
 */
static uint64_t ask(struct lab_lane *lane, const struct lab_lane_settings *settings, int64_t now_ns)
{
    struct lab_read_done done;
    if (lane->expected->is_walk && lane->placement.rows > 0) {
        const int64_t top = lab_newest_bucket(lane, settings, now_ns);
        if (top >= lane->expected->newest)
            return (uint64_t)(top - lane->expected->lowest) + 1;
    }
    const bool is_born = lane->placement.rows > 0;
    const struct lab_read_event event = {.kind = LAB_READ_LATEST,
                                         .now_ns = now_ns,
                                         .birth_ns = is_born ? lane->expected->birth_ns : now_ns,
                                         .key_rows = lane->placement.rows};
    lab_lane_ask(lane, settings, &event, &done);
    return done.partitions;
}

/* Finds the last partition that a walk queries: the newest partitions down to it hold as many rows as a read
 * wants. And finds how many more rows the open partition needs for the walk to end one partition sooner. */
static void find_end(struct lab_lane *lane, const struct lab_lane_settings *settings)
{
    struct lab_expected *expected = lane->expected;
    const uint64_t wanted = settings->scenario->reads.kinds[LAB_READ_LATEST].rows;
    const bool has_past = lane->past_end > lane->past_begin;
    uint64_t newer = 0, found = lane->open.rows;
    expected->newest = found > 0 || !has_past ? lane->bucket : lane->past[lane->past_end - 1].bucket;
    expected->lowest = expected->newest;
    for (uint32_t i = lane->past_end; found < wanted && i > lane->past_begin; i--) {
        newer = found;
        found += lane->past[i - 1].rows;
        expected->lowest = lane->past[i - 1].bucket;
    }
    expected->rows_left = newer > 0 ? wanted - newer : UINT64_MAX;
    if (found < wanted && expected->is_walk && lane->placement.rows > 0)
        expected->lowest =
            settings->strategy->kind == BK_TIME ? lab_newest_bucket(lane, settings, expected->birth_ns) : 0;
}

static void count(struct lab_expected *expected, struct lab_tally *tally, uint64_t partitions,
                  int64_t until_ns)
{
    const uint64_t parts = parts_until(expected, until_ns);
    if (parts > expected->parts && partitions < LAB_FEW_PARTITIONS)
        expected->parts_of[partitions] += parts - expected->parts;
    else if (parts > expected->parts)
        lab_histogram_add(&tally->reads.partitions, partitions, parts - expected->parts, 1);
    expected->parts = parts;
    expected->since_ns = until_ns;
}

/* Each window that ends without a row is one more to query. If there are very many, each piece is evaluated
 * at its middle. */
static void pass_windows(struct lab_lane *lane, const struct lab_lane_settings *settings,
                         struct lab_tally *tally, int64_t until_ns)
{
    struct lab_expected *expected = lane->expected;
    for (unsigned i = 0; i < PIECES && expected->since_ns < until_ns; i++) {
        const int64_t end_ns = lab_window_end(settings, expected->since_ns);
        count(expected, tally, expected->partitions, end_ns < until_ns ? end_ns : until_ns);
        if (expected->since_ns == end_ns)
            expected->partitions = ask(lane, settings, end_ns);
    }
    if (expected->since_ns == until_ns)
        return;
    const int64_t piece_ns = (until_ns - expected->since_ns) / PIECES + 1;
    while (expected->since_ns < until_ns) {
        const int64_t left_ns = until_ns - expected->since_ns;
        const int64_t some_ns = left_ns < piece_ns ? left_ns : piece_ns;
        const uint64_t partitions = ask(lane, settings, expected->since_ns + some_ns / 2);
        count(expected, tally, partitions, expected->since_ns + some_ns);
    }
    expected->partitions = ask(lane, settings, until_ns);
}

/* Counts the reads up to until_ns, during which the lane did not change. An expected time may be after a time
 * that is drawn later; then nothing is counted twice and nothing is taken back. */
static void go_to(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                  int64_t until_ns)
{
    struct lab_expected *expected = lane->expected;
    if (until_ns <= expected->since_ns)
        return;
    if (settings->strategy->kind == BK_TIME && lane->placement.rows > 0)
        pass_windows(lane, settings, tally, until_ns);
    else
        count(expected, tally, expected->partitions, until_ns);
}

static void look(struct lab_lane *lane, const struct lab_lane_settings *settings)
{
    find_end(lane, settings);
    lane->expected->partitions = ask(lane, settings, lane->expected->since_ns);
}

bool lab_expect_begin(struct lab_lane *lane, const struct lab_lane_settings *settings, double reads_per_ns,
                      int64_t start_ns)
{
    if (lane->expected == NULL)
        lane->expected = malloc(sizeof *lane->expected);
    if (lane->expected == NULL)
        return false;
    enum bk_plan plan;
    uint32_t at_once;
    lab_read_plan(settings->scenario, settings->scenario_strategy, LAB_READ_LATEST, &plan, &at_once);
    *lane->expected = (struct lab_expected){.start_ns = start_ns,
                                            .since_ns = start_ns,
                                            .is_walk = settings->strategy->kind != BK_HASH &&
                                                       (plan == BK_PLAN_DEFAULT || plan == BK_PLAN_WALK) &&
                                                       settings->scenario->reads.limit == 0,
                                            .parts_per_ns = reads_per_ns * LAB_READ_PARTS};
    look(lane, settings);
    return true;
}

static int64_t time_of(const struct lab_row_times *times, uint64_t row)
{
    return times->each_ns != NULL ? times->each_ns[row]
                                  : times->first_ns + (int64_t)((double)row * times->gap_ns);
}

/* Goes step by step from the lane's state before these rows to its state after them, which is restored at the
 * end. */
void lab_expect_changes(struct lab_lane *lane, const struct lab_lane_settings *settings,
                        struct lab_tally *tally, const struct lab_row_times *times, uint64_t rows)
{
    struct lab_expected *expected = lane->expected;
    const int64_t bucket = lane->state.bucket;
    uint64_t left = rows;
    if (lane->open.rows == rows)
        expected->rows_left = 1; /* a new partition begins */
    lane->state.bucket = lane->bucket;
    lane->open.rows -= rows;
    lane->placement.rows -= rows;
    while (expected->rows_left <= left) {
        const uint64_t some = expected->rows_left;
        left -= some;
        go_to(lane, settings, tally, time_of(times, rows - left - 1));
        if (lane->placement.rows == 0)
            expected->birth_ns = time_of(times, 0);
        lane->open.rows += some;
        lane->placement.rows += some;
        look(lane, settings);
    }
    lane->open.rows += left;
    lane->placement.rows += left;
    lane->state.bucket = bucket;
    if (expected->rows_left != UINT64_MAX)
        expected->rows_left -= left;
    if (settings->strategy->kind != BK_TIME && bucket != lane->bucket) {
        go_to(lane, settings, tally, time_of(times, rows - 1));
        look(lane, settings);
    }
}

void lab_expect_end(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                    int64_t end_ns)
{
    go_to(lane, settings, tally, end_ns);
    for (unsigned partitions = 0; partitions < LAB_FEW_PARTITIONS; partitions++)
        lab_histogram_add(&tally->reads.partitions, partitions, lane->expected->parts_of[partitions], 1);
}
