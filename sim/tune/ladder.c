/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generates the settings of one strategy in steps, from small buckets to large ones. */
#include <math.h>

#include "kernel/time.h"
#include "tune/contest.h"
#include "tune/horizon.h"
#include "tune/search.h"
#include "tune/weighted.h"

/* Above this threshold the CV is below 3%, and a smaller one has no benefit. With agents, each setting is
 * simulated on its own cluster, so the ladder has fewer rungs. */
#define THRESHOLD_MOST         1000u
#define THRESHOLD_MOST_CLUSTER 100u
/* Windows are tried if they are at most this many times shorter than the mean rate of the busiest key
 * requires. */
#define WINDOW_ROOM 100.0
#define HASH_MOST   65536.0
/* Up to this threshold, bytes are varied in fine steps. */
#define WEIGHTED_FINE 2u

/* If no partition may exceed a limit, the risk is such that a tenth of a partition is expected to exceed it
 * in all seeds together. */
static double risk_of(const struct tune_contest *contest)
{
    const struct lab_tune *terms = &contest->terms;
    double partitions = (double)terms->seeds * (double)contest->rows.rows / contest->rows.limit_rows;
    return terms->share > 0 ? terms->share : fmin(0.001, 0.1 / fmax(partitions, 1));
}

/* For each number of bits: the largest threshold that the distribution allows, and fractions of it, which
 * leave room for effects that the distribution does not include. Also includes the first number of bits that
 * the distribution does not allow. */
static size_t climb_probabilistic(const struct tune_contest *contest, const struct bk_strategy *template,
                                  struct bk_strategy *out)
{
    static const double all[] = {1, 0.75, 0.5, 0.25}, few[] = {0.9, 0.5};
    bool is_cluster = contest->scenario->engine == LAB_ENGINE_CLUSTER;
    const double *parts = is_cluster ? few : all;
    const size_t part_count = is_cluster ? sizeof few / sizeof *few : sizeof all / sizeof *all;
    const struct tune_goal goal = {.rows_max =
                                       (uint64_t)fmin(contest->rows.limit_rows, (double)TUNE_ROWS_MAX),
                                   .risk = risk_of(contest)};
    size_t count = 0;
    bool is_over = false;
    for (uint32_t bits = BK_BITS_MAX + 1; bits-- > 0;) {
        uint64_t most = tune_fit_thresholds(&goal, UINT64_C(1) << bits).last, before = 0;
        if (most == 0) {
            is_over = true;
            continue;
        }
        if (is_over && count == 0 && bk_strategy_probabilistic(bits + 1, 1, &out[count]) == BK_OK)
            out[count++].max_age_ns = template->max_age_ns;
        for (size_t i = 0; i < part_count && count < TUNE_LADDER_MAX; i++) {
            uint64_t threshold = (uint64_t)ceil((double)most * parts[i]);
            if (threshold == before)
                continue;
            before = threshold;
            if (bk_strategy_probabilistic(bits, threshold, &out[count]) == BK_OK)
                out[count++].max_age_ns = template->max_age_ns;
        }
        if (most > (is_cluster ? THRESHOLD_MOST_CLUSTER : THRESHOLD_MOST))
            break;
    }
    return count;
}

/* Estimates `rest` of tune_weighted_above_about() from TUNE_SIZES_DRAWN draws. Returns infinity if only a
 * trace has the sizes. */
static double rest_of(const struct tune_contest *contest)
{
    const struct lab_scenario *scenario = contest->scenario;
    struct sim_random random;
    double sum = 0, squares = 0;
    if (scenario->trace_path != NULL && !scenario->has_row_bytes)
        return (double)INFINITY;
    sim_random_init(&random, scenario->seed, SIM_ROW_BYTES, UINT64_MAX);
    for (unsigned i = 0; i < TUNE_SIZES_DRAWN; i++) {
        double bytes = (double)sim_size_draw(&scenario->workload.row_bytes, &random);
        sum += bytes;
        squares += bytes * bytes;
    }
    return sum > 0 ? squares / (2 * sum) : 0;
}

/* Returns the greatest number of bytes per increment with which the share of partitions above the limit is
 * within the risk. */
static uint64_t bytes_that_hold(uint64_t threshold, uint64_t limit, double rest, double risk)
{
    uint64_t low = 0, high = limit + 1;
    while (high - low > 1) {
        const struct tune_weighted distribution = {
            .bytes = low + (high - low) / 2, .threshold = threshold, .row_bytes = 1};
        if (tune_weighted_above_about(&distribution, limit, fmin(rest, (double)distribution.bytes)) <= risk)
            low = distribution.bytes;
        else
            high = distribution.bytes;
    }
    return low;
}

static uint64_t round_down(uint64_t value, unsigned digits)
{
    uint64_t unit = 1, most = 1;
    for (unsigned i = 0; i < digits; i++)
        most *= 10;
    while (value / unit >= most)
        unit *= 10;
    return value / unit * unit;
}

/* Rounds down to two digits, or to three if two would lose more than 2%. */
static uint64_t round_bytes(uint64_t value)
{
    uint64_t rounded = round_down(value, 2);
    return value - rounded > value / 50 ? round_down(value, 3) : rounded;
}

/* For thresholds that are powers of two: the most bytes that the distribution allows, and fractions of them,
 * which leave room for effects that the distribution does not include and that a few partitions do not show.
 * A tenth fewer bytes halve the probability. With large thresholds the increments cost more, so one setting
 * each is enough. */
static size_t climb_weighted(const struct tune_contest *contest, const struct bk_strategy *template,
                             struct bk_strategy *out)
{
    const double rest = rest_of(contest);
    const double all[] = {1, 0.9, 0.75, 0.5}, few[] = {isinf(rest) ? 1 : 0.85, 0.5};
    size_t count = 0;
    uint64_t limit = (uint64_t)fmin(contest->rows.limit_rows * contest->rows.mean_payload, 1e15);
    bool is_cluster = contest->scenario->engine == LAB_ENGINE_CLUSTER;
    uint64_t last = is_cluster ? THRESHOLD_MOST_CLUSTER : THRESHOLD_MOST, step = is_cluster ? 4 : 2;
    for (uint64_t threshold = 1; threshold <= last; threshold *= step) {
        const uint64_t most = bytes_that_hold(threshold, limit, rest, risk_of(contest));
        const bool is_fine = !is_cluster && threshold <= WEIGHTED_FINE;
        const double *parts = is_fine ? all : few;
        const size_t part_count = is_fine ? sizeof all / sizeof *all : is_cluster ? 2 : 1;
        for (size_t i = 0; i < part_count; i++) {
            uint64_t bytes = round_bytes((uint64_t)((double)most * parts[i]));
            if (bytes > 0 && count < TUNE_LADDER_MAX &&
                bk_strategy_weighted(bytes, threshold, &out[count]) == BK_OK)
                out[count++].max_age_ns = template->max_age_ns;
        }
    }
    return count;
}

/* Windows of common lengths, starting with the longest that fits into the run. */
static size_t climb_time(const struct tune_contest *contest, const struct bk_strategy *template,
                         struct bk_strategy *out)
{
    static const int64_t windows_ns[] = {
        30 * SIM_DAY,    14 * SIM_DAY,   10 * SIM_DAY,  7 * SIM_DAY,     5 * SIM_DAY,     3 * SIM_DAY,
        2 * SIM_DAY,     SIM_DAY,        12 * SIM_HOUR, 8 * SIM_HOUR,    6 * SIM_HOUR,    4 * SIM_HOUR,
        3 * SIM_HOUR,    2 * SIM_HOUR,   SIM_HOUR,      30 * SIM_MINUTE, 20 * SIM_MINUTE, 15 * SIM_MINUTE,
        10 * SIM_MINUTE, 5 * SIM_MINUTE, SIM_MINUTE};
    size_t count = 0;
    double full_ns =
        (double)contest->rows.lasts_ns * contest->rows.limit_rows / (double)contest->rows.busiest_rows;
    for (size_t i = 0; i < sizeof windows_ns / sizeof *windows_ns; i++) {
        if (windows_ns[i] > contest->rows.lasts_ns || (double)windows_ns[i] * WINDOW_ROOM < full_ns)
            continue;
        int64_t epoch_ns = template->of.time.calendar == BK_CALENDAR_NONE ? template->of.time.epoch_ns : 0;
        if (bk_strategy_time(windows_ns[i], epoch_ns, &out[count]) == BK_OK)
            count++;
    }
    return count;
}

static size_t climb_count(const struct tune_contest *contest, const struct bk_strategy *template,
                          struct bk_strategy *out)
{
    static const double parts[] = {1, 0.75, 0.5, 0.9, 0.25, 0.1};
    bool is_cluster = contest->scenario->engine == LAB_ENGINE_CLUSTER;
    size_t count = 0, part_count = is_cluster ? 3 : sizeof parts / sizeof *parts;
    for (size_t i = 0; i < part_count; i++) {
        uint64_t rows = (uint64_t)fmin(contest->rows.limit_rows * parts[i], 1e15);
        if (i > 0)
            rows = round_down(rows, 2);
        if (rows == 0 || bk_strategy_count(rows, &out[count]) != BK_OK)
            continue;
        out[count++].max_age_ns = template->max_age_ns;
    }
    return count;
}

/* The power of two that is at least twice the number of buckets that the busiest key needs, since partitions
 * that grow without end soon exceed a limit that they almost reach. If they end with their rows' time to
 * live, half as many are tried too. None if one bucket is enough, which is `unbucketed`. */
static size_t climb_hash(const struct tune_contest *contest, struct bk_strategy *out)
{
    size_t count = 0;
    double needed = (double)contest->rows.busiest_rows / contest->rows.limit_rows, buckets = 1;
    while (buckets < needed && buckets < HASH_MOST)
        buckets *= 2;
    for (int turn = tune_rows_stop(contest->scenario, tune_contest_days(contest)) ? 1 : 2;
         buckets > 1 && turn <= 2; turn++) {
        if (bk_strategy_hash((uint32_t)fmin(turn * buckets, HASH_MOST), &out[count]) == BK_OK)
            count++;
    }
    return count;
}

size_t tune_ladder(const struct tune_contest *contest, const struct bk_strategy *template,
                   struct bk_strategy *out)
{
    switch (template->kind) {
    case BK_UNBUCKETED:
        return bk_strategy_unbucketed(out) == BK_OK;
    case BK_TIME:
        return climb_time(contest, template, out);
    case BK_COUNT:
        return climb_count(contest, template, out);
    case BK_PROBABILISTIC:
        return climb_probabilistic(contest, template, out);
    case BK_WEIGHTED:
        return climb_weighted(contest, template, out);
    case BK_HASH:
        return climb_hash(contest, out);
    case BK_KIND_COUNT:
        break;
    }
    return 0;
}
