/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tails are sums of terms, confidence bounds and horizons are put into the equations that define them, and
 * the probabilities that a partition begins at a row are the renewal sequence of its distribution. */
#include "answers_twin.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/metric.h"
#include "lab/tally.h"
#include "tune/expected.h"
#include "tune/odds.h"
#include "workload/workload.h"

#define NEAR      1e-7  /* relative error of a figure */
#define TINY      1e-10 /* absolute error of an expected number */
#define UNLIKELY  1e-12 /* an event that no seed meets */
#define NEVER     1e-6  /* expected partitions above a limit */
#define EDGES     20000
#define ROUNDED   1e-5 /* of a figure of six digits */
#define ROWS_MOST 3000 /* of a partition, and keys, for which tails are summed */
#define KEYS_MOST 200

bool twin_differs(const struct answer *answer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(answer->message, answer->size, format, arguments);
    va_end(arguments);
    return false;
}

double twin_metric(const struct lab_strategy_result *strategy, const char *name)
{
    for (size_t i = 0; i < strategy->metrics.count; i++) {
        if (strcmp(strategy->metrics.items[i].name, name) == 0)
            return strategy->metrics.items[i].value;
    }
    return (double)NAN;
}

double twin_or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

bool twin_is_near(double told, double wanted)
{
    return (isnan(told) && isnan(wanted)) || told == wanted || fabs(told - wanted) <= NEAR * fabs(wanted);
}

/* P(at most k of n), each with chance p. */
double twin_binomial_upto(double k, double n, double p)
{
    double sum = 0;
    if (k >= n)
        return 1;
    for (double i = 0; i <= k; i++) {
        double hits = i == 0 ? 0 : i * log(p), misses = i == n ? 0 : (n - i) * log1p(-p);
        sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + hits + misses);
    }
    return sum;
}

/* P(more than k) of a Poisson number. */
static double poisson_above(double mean, double k)
{
    double sum = 0, upto = 0;
    if (!(mean > 0))
        return 0;
    for (double i = 0; i <= k; i++)
        upto += exp(i * log(mean) - mean - lgamma(i + 1));
    if (upto < 0.5)
        return 1 - upto;
    for (double i = k + 1; i < k + 60 + 20 * sqrt(mean) + mean; i++)
        sum += exp(i * log(mean) - mean - lgamma(i + 1));
    return sum;
}

/* --- growth and horizons */

/* P(T > t) of Student's distribution: the density of its angle is a power of the cosine. */
double twin_student_above(double t, double degrees)
{
    const int steps = 20000;
    double above = 0, all = 0, from = atan(t / sqrt(degrees)), half = acos(0);
    for (int i = 0; i < steps; i++) {
        double part = (i + 0.5) / steps;
        above += (half - from) * pow(cos(from + part * (half - from)), degrees - 1);
        all += 2 * half * pow(cos(-half + part * 2 * half), degrees - 1);
    }
    return above / all;
}

/* The growth per day; 0: none. */
static double growth_of(const uint64_t *weeks, size_t count, double confidence)
{
    double sum = 0, squares = 0, n = (double)(count / 2);
    if (count < 4)
        return 0;
    for (size_t i = count % 2; i < count % 2 + count / 2; i++)
        sum += log(((double)weeks[i + count / 2] + 0.5) / ((double)weeks[i] + 0.5));
    for (size_t i = count % 2; i < count % 2 + count / 2; i++)
        squares += pow(log(((double)weeks[i + count / 2] + 0.5) / ((double)weeks[i] + 0.5)) - sum / n, 2);
    double error = sqrt(squares / (n - 1) / n);
    bool grows =
        sum > 0 && (error < 1e-12 || twin_student_above(sum / n / error, n - 1) < (1 - confidence) / 2);
    return grows ? sum / n / (7 * n) : 0;
}

static bool check_weeks(const struct answer *answer, double *growth)
{
    int64_t start_ns = INT64_MAX, end_ns = answer->input->end_ns, week_ns = 7 * SIM_DAY;
    for (size_t i = 0; i < answer->input->key_count; i++) {
        const struct naive_key *key = &answer->input->keys[i];
        start_ns = key->count > 0 && key->rows[0].time_ns < start_ns ? key->rows[0].time_ns : start_ns;
    }
    start_ns = answer->scenario->has_start ? answer->input->start_ns : start_ns;
    size_t count = start_ns > end_ns ? 0 : (size_t)((end_ns - start_ns) / week_ns);
    uint64_t *weeks = naive_must(calloc(count + 1, sizeof *weeks));
    for (size_t i = 0; i < answer->input->key_count; i++) {
        const struct naive_key *key = &answer->input->keys[i];
        for (size_t j = 0; j < key->count; j++) {
            int64_t ago_ns = end_ns - key->rows[j].time_ns; /* a row at the very end belongs to no week */
            if (ago_ns > 0 && ago_ns <= (int64_t)count * week_ns)
                weeks[count - 1 - (size_t)((ago_ns - 1) / week_ns)]++;
        }
    }
    bool is_same = answer->result->week_count == count;
    for (size_t i = 0; is_same && i < count; i++)
        is_same = answer->result->weeks[i] == weeks[i];
    *growth = growth_of(weeks, count, answer->scenario->tune.confidence);
    free(weeks);
    return is_same || twin_differs(answer, "the rows by week differ");
}

/* Days in which the stream, which grows by this factor e^growth per day, has `times` its rows so far; or,
 * with is_rate, has that many times its mean rate so far. */
static double grown(double growth, double days, double times, bool is_rate)
{
    if (growth == 0)
        return is_rate ? (times >= 1 ? (double)INFINITY : 0) : days * times;
    double so_far = expm1(growth * days) / growth;
    return is_rate ? log(times * so_far / days) / growth : log1p(growth * times * so_far) / growth;
}

/* How many times these rows and bytes the nearest limit is. */
static double room_of(const struct lab_limits *limits, double rows, double bytes)
{
    double room = (double)INFINITY;
    if (limits->partition_rows > 0 && rows > 0)
        room = fmin(room, (double)limits->partition_rows / rows);
    if (limits->partition_bytes > 0 && bytes > 0)
        room = fmin(room, (double)limits->partition_bytes / bytes);
    return room;
}

/* Whether a table has other partitions than those of keys and buckets, or a row may overwrite another. */
static bool is_odd_table(const struct lab_design *design)
{
    bool has[LAB_FEED_DATA + 1] = {false}, clusters[LAB_FEED_DATA + 1] = {false};
    uint64_t values = 1;
    for (size_t i = 0; i < design->partition_count; i++) {
        const struct lab_column *column = &design->columns[design->partition[i]];
        has[column->feed] = true;
        values *= column->feed == LAB_FEED_VALUES ? column->values : 1;
    }
    for (size_t i = 0; i < design->clustering_count; i++)
        clusters[design->columns[design->clustering[i]].feed] = true;
    return design->is_given && (!has[LAB_FEED_KEY] || !has[LAB_FEED_BUCKET] || values > 1 ||
                                !clusters[LAB_FEED_ID] || clusters[LAB_FEED_KEY]);
}

/* Whether days differ in a way for which only samples are known. */
static bool has_other_days(const struct wl_workload *workload, enum bk_kind kind)
{
    return wl_has_days(workload) && (workload->has_bursts || (workload->growth > 1 && kind != BK_KIND_TIME));
}

/* The rate of a synthetic stream is known, and its rows stay where they are. */
static bool has_distribution(const struct answer *answer, const struct lab_settings *settings)
{
    const struct lab_scenario *scenario = answer->scenario;
    return scenario->engine != LAB_ENGINE_CLUSTER && scenario->trace_path == NULL &&
           !wl_has_own_times(&scenario->workload) && scenario->workload.backfill_before_ns == 0 &&
           !is_odd_table(&scenario->design) && scenario->deletes.share == 0 && settings->change_count == 0 &&
           !has_other_days(&scenario->workload, settings->strategy.kind);
}

/* Days as they are printed. */
static double capped(double days)
{
    return days > LAB_DAYS_MOST ? LAB_DAYS_MOST : days;
}

/* More of a workload than its run: later, bursts have their mean, and there are no spikes. */
struct future {
    const struct wl_workload *workload;
    double *run, *later; /* rows of each key in the run, and in as long a time without the daily curve */
    double parts;
    double rows, sized_rows; /* that a partition may have; by its bytes, if their sizes are drawn */
    double sizes, bursts;    /* relative variance of a row's bytes; of a key's rows in one time the run */
};

/* The rows until then, day by day by Simpson's rule; whole weeks have the mean rate. */
static double days_until(const struct wl_workload *workload, double times)
{
    enum { STEPS = 64 };
    const double days = times * (double)workload->duration_ns / (double)SIM_DAY, rest = fmod(days, 7),
                 peak = (double)workload->daily_peak_ns / (double)SIM_DAY,
                 first = (double)workload->start_ns / (double)SIM_DAY, turn = 2 * acos(-1);
    double sum = days - rest;
    for (double day = floor(first); day < first + rest; day++) {
        const double low = fmax(day, first), step = (fmin(day + 1, first + rest) - low) / STEPS;
        const bool is_weekend = day + 5 - 7 * floor((day + 5) / 7) < 2; /* the first day was a Thursday */
        double rates = 0;
        for (int i = 0; i <= STEPS; i++)
            rates += (i == 0 || i == STEPS ? 1
                      : i % 2 == 1         ? 4
                                           : 2) *
                     (1 + (workload->has_daily ? workload->daily_amplitude : 0) *
                              cos(turn * (low + i * step - day - peak)));
        if (workload->has_weekend)
            rates *= 7 / (5 + 2 * workload->weekend) * (is_weekend ? workload->weekend : 1);
        sum += rates * step / 3;
    }
    return sum / ((double)workload->duration_ns / (double)SIM_DAY);
}

/* P(a partition exceeds a limit): Poisson, or normal where bursts or sizes add to the variance. */
static double passed(const struct future *future, double mean, double drawn)
{
    const double limits[] = {future->rows, future->sized_rows};
    const double variances[] = {mean + drawn, mean + mean * future->sizes + drawn};
    double most = 0;
    for (int i = 0; i < 2; i++) {
        if (isfinite(limits[i]) && variances[i] > mean)
            most = fmax(most, erfc((floor(limits[i]) + 0.5 - mean) / sqrt(2 * variances[i])) / 2);
        else if (isfinite(limits[i]))
            most = fmax(most, poisson_above(mean, limits[i]));
    }
    return fmin(1, most);
}

/* -log P(no part of a key exceeds a limit): all parts have the bursts of the key. */
static double key_passed(const struct future *future, double mean, double drawn)
{
    double kept = 0, all = 0;
    if (drawn == 0 || future->parts == 1)
        return -future->parts * log1p(-passed(future, mean, drawn));
    for (double z = -4; z < 4.05; z += 0.1) {
        kept += exp(-z * z / 2) * pow(1 - passed(future, mean + z * sqrt(drawn), 0), future->parts);
        all += exp(-z * z / 2);
    }
    return -log(kept / all);
}

/* The median of the first passage above a limit, in times the run, by its definition; if that is within the
 * run, and is_after, on the condition that it is not. */
static double median_of(const struct future *future, uint64_t keys, bool is_after)
{
    double low = 0, high = 0, sought = log(2);
    for (int i = 0; i < 60; i++) {
        bool is_first = i == 0 && is_after, is_wide = high == 0;
        double middle = is_first ? 1 : is_wide ? fmax(1, 2 * low) : (low + high) / 2, sum = 0;
        double longer = fmax(0, middle - 1), run = days_until(future->workload, 1),
               until = days_until(future->workload, middle), part = fmin(run, until) / run,
               more = fmax(0, until - run);
        for (uint64_t key = 0; key < keys; key++) {
            double mean = future->run[key] * part + future->later[key] * more;
            double pace = future->later[key] / future->parts;
            sum += key_passed(future, mean / future->parts, future->bursts * pace * pace * longer);
        }
        sought += is_first && sum > log(2) ? sum : 0;
        *(sum < sought ? &low : &high) = middle;
    }
    return high;
}

/* The limits in rows, and what varies. Returns false where sizes have no variance. */
static bool limits_of(const struct answer *answer, struct future *out)
{
    const struct lab_scenario *scenario = answer->scenario;
    const struct wl_workload *workload = &scenario->workload;
    const struct sim_size *size = &workload->row_bytes;
    const double a = size->a, b = size->b, mean = sim_size_mean(size),
                 bytes = (double)scenario->limits.partition_bytes;
    const double squares[] = {[SIM_SIZE_CONSTANT] = a * a,
                              [SIM_SIZE_UNIFORM] = (a * a + a * b + b * b) / 3,
                              [SIM_SIZE_LOGNORMAL] = exp(2 * size->log_mean + 2 * b * b),
                              [SIM_SIZE_PARETO] = b * a * a / (b - 2)};
    out->rows =
        scenario->limits.partition_rows > 0 ? (double)scenario->limits.partition_rows : (double)INFINITY;
    out->sized_rows = (double)INFINITY;
    if (workload->has_bursts) { /* the integral of the covariance of a rate that switches */
        const double on = (double)workload->burst_on_ns, off = (double)workload->burst_off_ns,
                     share = on / (on + off), rate = share * workload->burst_factor + 1 - share,
                     step = (workload->burst_factor - 1) / rate, memory_ns = 1 / (1 / on + 1 / off);
        out->bursts = step * step * share * (1 - share) * 2 * memory_ns / (double)workload->duration_ns;
    }
    if (bytes == 0)
        return true;
    if (!(mean < 0x1p40) || (size->kind == SIM_SIZE_PARETO && b <= 2))
        return false;
    const uint64_t whole = sim_size_whole(mean),
                   row = lab_row_bytes(
                       &scenario->row_cost, whole,
                       naive_stamp(&scenario->row_cost, answer->input->start_ns, answer->input->end_ns));
    const double disk = fmax(1, (double)row + mean - (double)whole),
                 header = (double)lab_partition_bytes(&scenario->row_cost, strlen("key-0"), 1, row);
    const bool is_drawn = size->kind != SIM_SIZE_CONSTANT;
    double *limit = is_drawn ? &out->sized_rows : &out->rows;
    *limit = fmin(*limit, floor(fmax(0, bytes - header) / disk));
    out->sizes = is_drawn ? (squares[size->kind] - mean * mean) / disk / disk : 0;
    return true;
}

/* The moments at which windows end, from the start of the run to its end. Returns the number of windows. */
static size_t edges_of(const struct answer *answer, const struct bk_strategy *strategy, int64_t *edges_ns)
{
    size_t count = 0;
    int64_t end_ns = answer->input->end_ns;
    edges_ns[0] = answer->input->start_ns;
    while (strategy->kind == BK_KIND_TIME && edges_ns[count] < end_ns && count + 2 < EDGES) {
        int64_t window = naive_window(strategy, edges_ns[count]), next_ns = edges_ns[count];
        if (strategy->of.time.calendar == BK_CALENDAR_NONE) {
            next_ns = strategy->of.time.epoch_ns + (window + 1) * strategy->of.time.window_ns;
        } else {
            next_ns = naive_floor(next_ns, SIM_HOUR) * SIM_HOUR;
            while (naive_window(strategy, next_ns) <= window)
                next_ns += SIM_HOUR;
        }
        edges_ns[++count] = next_ns < end_ns ? next_ns : end_ns;
    }
    if (strategy->kind != BK_KIND_TIME)
        edges_ns[++count] = end_ns;
    return count;
}

/* Whether a window of the setting begins and ends in the run. */
static bool has_whole_window(const struct answer *answer, const struct bk_strategy *strategy)
{
    int64_t *edges_ns = naive_must(calloc(EDGES, sizeof *edges_ns));
    const size_t count = edges_of(answer, strategy, edges_ns);
    bool has_one = false;
    for (size_t i = 0; i < count; i++)
        has_one |= naive_window(strategy, edges_ns[i] - 1) != naive_window(strategy, edges_ns[i]) &&
                   naive_window(strategy, edges_ns[i + 1] - 1) != naive_window(strategy, edges_ns[i + 1]);
    free(edges_ns);
    return has_one;
}

/* Days until the first rows of a partition leave the disk: their time to live, and gc_grace_seconds. */
static double kept_days(const struct answer *answer)
{
    return answer->scenario->row_ttl_ns > 0 ? (double)answer->scenario->row_ttl_ns / (double)SIM_DAY + 10
                                            : (double)INFINITY;
}

bool twin_grows(const struct answer *answer, const struct lab_settings *settings)
{
    const struct bk_strategy *strategy = settings->change_count > 0
                                             ? &settings->changes[settings->change_count - 1].strategy
                                             : &settings->strategy;
    const double days = (double)(answer->result->end_ns - answer->result->start_ns) / (double)SIM_DAY,
                 age = (double)strategy->max_age_ns / (double)SIM_DAY, kept = kept_days(answer),
                 window = fmax(kept / 62, (kept - 10) / 25); /* of compaction, at least */
    if ((age > 0 && age <= days) || kept + window <= days)
        return false;
    return strategy->kind == BK_KIND_UNBUCKETED || strategy->kind == BK_KIND_HASH ||
           (strategy->kind == BK_KIND_TIME && !has_whole_window(answer, strategy));
}

/* Whether partitions without end, of which the largest has this many rows and bytes, first exceed a limit
 * after this many days; NaN: not before their rows leave the disk. */
bool twin_endless(const struct answer *answer, const struct lab_settings *settings,
                  const struct twin_outlook *outlook, double rows, double bytes, double told)
{
    const struct wl_workload *workload = &answer->scenario->workload;
    const uint64_t keys = answer->input->key_count;
    const double room = room_of(&answer->scenario->limits, rows, bytes), days = outlook->days,
                 kept = kept_days(answer);
    const bool is_after = rows > 0 && room >= 1;
    struct future future = {
        .workload = workload,
        .parts = settings->strategy.kind == BK_KIND_HASH ? (double)settings->strategy.of.hash.buckets : 1};
    if (told > kept || (isnan(told) && isinf(kept)))
        return false;
    if (!has_distribution(answer, settings) || !limits_of(answer, &future)) {
        /* The largest has the rows of the time that they stay on disk, and of a compaction window at most. */
        const double on_disk = fmin(days, kept),
                     wanted = grown(outlook->growth, on_disk, room * exp(outlook->growth * (days - on_disk)),
                                    false);
        if (on_disk < days)
            return isnan(told) ? wanted > 0.9 * kept : told > 0.9 * wanted && told < 1.1 * wanted;
        return isnan(told) ? wanted > kept : twin_is_near(capped(told), capped(wanted));
    }
    const double most = fmin(future.rows, future.sized_rows);
    const bool is_divided = workload->has_bursts && future.parts > 1;
    /* The twin takes sums of drawn sizes as normal. */
    const bool is_sized = isfinite(future.sized_rows);
    if (workload->every_ns > 0 || (is_sized && (most < 40 || future.sizes > 3)) || most > ROWS_MOST ||
        keys > KEYS_MOST || (is_divided && most * (double)keys > 2000))
        return !(told < 0);
    const int64_t edges_ns[] = {answer->input->start_ns, answer->input->end_ns};
    struct wl_workload level = *workload;
    future.run = naive_must(calloc(keys, sizeof(double)));
    future.later = naive_must(calloc(keys, sizeof(double)));
    level.has_daily = level.has_weekend = level.has_bursts = false;
    level.spike_count = 0;
    for (uint64_t key = 0; key < keys; key++) {
        naive_masses(workload, key, edges_ns, 1, &future.run[key]);
        naive_masses(&level, key, edges_ns, 1, &future.later[key]);
    }
    const double wanted = days * median_of(&future, keys, is_after);
    free(future.run);
    free(future.later);
    if (isnan(told))
        return wanted * (1 + ROUNDED) > kept;
    const double near = is_sized ? 0.2 : ROUNDED;
    return fabs(capped(told) - capped(wanted)) <= near * capped(wanted) + 2e-9 * days;
}

bool twin_horizon(const struct answer *answer, const struct lab_settings *settings,
                  const struct twin_outlook *outlook, double told)
{
    const enum bk_kind kind = settings->strategy.kind;
    const bool is_trace = answer->scenario->trace_path != NULL;
    const double room = room_of(&answer->scenario->limits, outlook->rows, outlook->bytes);
    if (!isnan(outlook->seen))
        return twin_is_near(capped(told), capped(outlook->seen));
    if (kind == BK_KIND_UNBUCKETED || kind == BK_KIND_HASH)
        return twin_endless(answer, settings, outlook, outlook->rows, outlook->bytes, told);
    if (is_trace && kind == BK_KIND_TIME)
        return twin_is_near(
            capped(told), outlook->growth > 0
                              ? capped(fmax(outlook->days, grown(outlook->growth, outlook->days, room, true)))
                              : (double)NAN);
    if ((kind == BK_KIND_TIME && (twin_grows(answer, settings) || !has_distribution(answer, settings))) ||
        is_odd_table(&answer->scenario->design) || answer->scenario->deletes.share > 0 ||
        settings->change_count > 0)
        return isnan(told);
    /* No partition exceeds a limit before its key has as many rows. */
    return !(told < fmin(outlook->whole_days, outlook->days) * (1 - NEAR));
}

bool twin_horizons(const struct answer *answer)
{
    const struct lab_result *result = answer->result;
    double growth = log(fmax(1, answer->scenario->workload.growth)) / 365,
           days = fmax(1, (double)(result->end_ns - result->start_ns)) / (double)SIM_DAY;
    if (answer->scenario->trace_path != NULL && !check_weeks(answer, &growth))
        return false;
    if (is_odd_table(&answer->scenario->design) ||
        isnan(twin_metric(&result->strategies[0], "keys.rows.max")))
        return true;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const struct twin_outlook outlook = {
            .growth = growth,
            .days = days,
            .seen = twin_metric(strategy, "partitions.first_over_days"),
            .rows = twin_or_zero(twin_metric(strategy, "partitions.all.rows.max")),
            .bytes = twin_or_zero(twin_metric(strategy, "partitions.all.bytes.max")),
            .key_rows = twin_or_zero(twin_metric(strategy, "keys.rows.max")),
            .key_bytes = twin_or_zero(twin_metric(strategy, "keys.bytes.max")),
            .whole_days = twin_metric(strategy, "horizon.unbucketed_days")};
        const struct lab_settings *settings = &answer->scenario->strategies[i].settings,
                                  whole = {.strategy = {.kind = BK_KIND_UNBUCKETED}};
        double told = twin_metric(strategy, "horizon.days"),
               wanted = growth > 0 ? log(2) / growth : (double)NAN;
        if (!twin_horizon(answer, settings, &outlook, told) ||
            !twin_endless(answer, &whole, &outlook, outlook.key_rows, outlook.key_bytes,
                          outlook.whole_days) ||
            !twin_is_near(twin_metric(strategy, "horizon.doubles_days"), capped(wanted)))
            return twin_differs(answer, "%s: %.9g days, %.9g unbucketed, are no horizons", strategy->label,
                                told, outlook.whole_days);
    }
    return true;
}

/* --- expected numbers */

/* Sums P(N > limit) over windows and buckets of all keys. */
static double poisson_sum(const struct answer *answer, const struct bk_strategy *strategy, double limit)
{
    int64_t *edges_ns = naive_must(calloc(EDGES, sizeof *edges_ns));
    double *masses = naive_must(calloc(EDGES, sizeof *masses)), sum = 0;
    double parts =
        strategy->kind == BK_KIND_HASH ? (double)strategy->of.hash.buckets : (double)naive_shards(strategy);
    size_t count = edges_of(answer, strategy, edges_ns);
    for (uint64_t key = 0; key < answer->input->key_count; key++) {
        naive_masses(&answer->scenario->workload, key, edges_ns, count, masses);
        for (size_t i = 0; i < count; i++)
            sum += parts * poisson_above(masses[i] / parts, limit);
    }
    free(edges_ns);
    free(masses);
    return sum;
}

/* P(a partition has more than n rows), of the kinds that end by counting; NaN for others. */
static double rows_above(const struct answer *answer, const struct lab_settings *settings, double n)
{
    const struct bk_strategy *strategy = &settings->strategy;
    const struct sim_size *size = &answer->scenario->workload.row_bytes;
    if (strategy->kind == BK_KIND_COUNT &&
        (settings->source == BK_SOURCE_EXTERNAL || settings->source == BK_SOURCE_COUNTER ||
         settings->source == BK_SOURCE_LWT || settings->source == BK_SOURCE_LEASE))
        return (double)strategy->of.count.rows > n;
    if (strategy->kind == BK_KIND_PROBABILISTIC) {
        double of = (double)strategy->of.probabilistic.chance_denominator;
        double p = of > 0 ? (double)strategy->of.probabilistic.chance_numerator / of
                          : pow(0.5, strategy->of.probabilistic.bits);
        return twin_binomial_upto((double)strategy->of.probabilistic.threshold - 1, n, p);
    }
    if (strategy->kind != BK_KIND_WEIGHTED || size->kind != SIM_SIZE_CONSTANT ||
        (answer->scenario->trace_path != NULL && !answer->scenario->has_row_bytes))
        return (double)NAN;
    uint64_t bytes = size->a < 1 ? 1 : (uint64_t)size->a, unit = strategy->of.weighted.bytes;
    double sure = n * (double)(bytes / unit), left = (double)strategy->of.weighted.threshold - 1 - sure;
    return left < 0 ? 0 : twin_binomial_upto(left, n, (double)(bytes % unit) / (double)unit);
}

/* The mean is the sum of P(N > n) over all n. */
static bool check_mean(const struct answer *answer, const struct lab_settings *settings)
{
    const uint64_t bytes = (uint64_t)fmax(1, answer->scenario->workload.row_bytes.a);
    double sum = 0, tail = rows_above(answer, settings, 0);
    if (settings->strategy.kind != BK_KIND_WEIGHTED || isnan(tail))
        return true;
    const struct tune_distribution distribution = tune_distribution_of(&settings->strategy, bytes);
    const double mean = tune_mean_rows(&distribution);
    for (double n = 0; tail > 1e-15 && n < 20000; tail = rows_above(answer, settings, ++n))
        sum += tail;
    return tail > 1e-15 || twin_is_near(mean, sum) ||
           twin_differs(answer, "weighted: %.9g rows on average, and %.9g by the twin", mean, sum);
}

/* The distribution of a probabilistic partition: one row more or less. */
static bool check_odds(const struct answer *answer, const struct lab_settings *settings, double n)
{
    const struct bk_strategy *strategy = &settings->strategy;
    if (strategy->kind != BK_KIND_PROBABILISTIC)
        return true;
    const struct tune_distribution odds = tune_distribution_of(strategy, 1);
    double upto = fmax(0, 1 - rows_above(answer, settings, n)),
           below = n > 0 ? 1 - rows_above(answer, settings, n - 1) : 0;
    uint64_t rows = (uint64_t)n, quantile = tune_quantile(&odds, upto > 0.999 ? 0.5 : upto);
    double of_quantile = 1 - rows_above(answer, settings, (double)quantile);
    return (fabs(tune_below(&odds, rows) - below) < 1e-9 &&
            twin_is_near(tune_mean_rows(&odds), (double)odds.threshold / odds.p) &&
            twin_is_near(tune_stddev_rows(&odds), sqrt((double)odds.threshold * (1 - odds.p)) / odds.p) &&
            of_quantile >= (upto > 0.999 ? 0.5 : upto) - 1e-9) ||
           twin_differs(answer, "the distribution differs at %.0f rows", n);
}

/* The expected number of partitions above `limit` rows: one that begins at row i exceeds the limit if it does
 * not end within the next `limit` rows and the key has one more. */
static double renewal_sum(const struct answer *answer, const struct lab_settings *settings, double limit)
{
    enum { MOST = 3000 };
    const int64_t edges_ns[] = {answer->input->start_ns, answer->input->end_ns};
    double *ends = naive_must(calloc(MOST + 2, sizeof *ends)),
           *begins = naive_must(calloc(MOST + 2, sizeof *begins));
    double tail = rows_above(answer, settings, limit), sum = 0, mean;
    for (size_t n = 1; n <= MOST; n++)
        ends[n] = rows_above(answer, settings, (double)n - 1) - rows_above(answer, settings, (double)n);
    begins[0] = 1;
    for (size_t i = 1; i <= MOST; i++) {
        for (size_t n = 1; n <= i; n++)
            begins[i] += ends[n] * begins[i - n];
    }
    for (size_t k = 0; k < answer->input->key_count; k++) {
        naive_masses(&answer->scenario->workload, k, edges_ns, 1, &mean);
        for (size_t i = 0; i <= MOST && (double)i + limit < mean + 9 * sqrt(mean) + 9; i++)
            sum += begins[i] * tail * poisson_above(mean, (double)i + limit);
    }
    free(ends);
    free(begins);
    return sum;
}

static void expected_of(const struct answer *answer, const struct lab_scenario *scenario,
                        const struct lab_settings *settings, struct lab_facts *out)
{
    const struct tune_prospect prospect = {.scenario = scenario,
                                           .factor = 1,
                                           .rows = (double)answer->input->rows,
                                           .keys = (double)answer->input->keys_with_rows,
                                           .seconds = 400.0 * 86400}; /* for the run alone */
    tune_expected_of(&prospect, settings, out);
}

static bool check_rows(const struct answer *answer, const struct lab_strategy *strategy, uint64_t limit)
{
    struct lab_scenario scenario = *answer->scenario;
    const struct bk_strategy *core = &strategy->settings.strategy;
    struct lab_facts told;
    double n = (double)limit, tail = rows_above(answer, &strategy->settings, n), most;
    bool is_synthetic = scenario.trace_path == NULL, has_own = wl_has_own_times(&scenario.workload);
    if (core->kind == BK_KIND_WEIGHTED && isnan(tail))
        return true;
    bool counts = !isnan(tail), is_bursty = scenario.workload.backfill_before_ns > 0 || has_own;
    scenario.limits.partition_rows = limit;
    scenario.limits.partition_bytes = 0;
    expected_of(answer, &scenario, &strategy->settings, &told);
    bool is_known =
        counts || (is_synthetic && !is_bursty && core->kind != BK_KIND_COUNT && !bk_kind_fires(core->kind));
    is_known = is_known && !is_odd_table(&scenario.design) && scenario.deletes.share == 0 &&
               strategy->settings.change_count == 0 && !has_other_days(&scenario.workload, core->kind) &&
               (core->kind == BK_KIND_TIME || naive_shards(core) == 1);
    if (told.has_distribution != is_known)
        return twin_differs(answer, "%s: whether its distribution is known differs", strategy->label);
    if (!is_known || answer->input->rows > 2000 || scenario.workload.every_ns > 0)
        return true;
    double near = NEAR, slack = TINY;
    if (counts) {
        const double full = core->max_age_ns > 0 || scenario.row_ttl_ns > 0 ? 0 : tail;
        if ((!twin_is_near(told.expected_share,
                           fmax(tail, core->kind == BK_KIND_COUNT ? 0 : 2.2250738585072014e-308)) &&
             fabs(told.expected_share - tail) > 1e-13) ||
            (!twin_is_near(told.expected_full, full) && fabs(told.expected_full - full) > 1e-13))
            return twin_differs(answer,
                                "%s: a partition has more than %.0f rows with %.9g, and %.9g by the twin",
                                strategy->label, n, told.expected_share, tail);
        if (!is_synthetic || is_bursty || scenario.workload.has_bursts || core->max_age_ns > 0 ||
            scenario.row_ttl_ns > 0)
            return true;
        near = 0.05; /* of a saddle point */
        slack = 1e-6;
        most = renewal_sum(answer, &strategy->settings, n);
    } else {
        most = poisson_sum(answer, core, n);
    }
    /* Rows leave the disk before a window or the run ends: there are bounds. */
    const double ends = core->kind != BK_KIND_TIME
                            ? (double)answer->input->end_ns - (double)answer->input->start_ns
                        : core->of.time.calendar == BK_CALENDAR_MONTH ? 31 * (double)SIM_DAY
                                                                      : (double)core->of.time.window_ns;
    if (!counts && ends > kept_days(answer) * (double)SIM_DAY)
        return (told.expected_least <= told.expected_most * (1 + near) + slack &&
                told.expected_most <= most * (scenario.workload.has_bursts ? 1.5 : 1 + near) + slack) ||
               twin_differs(answer, "%s: %.9g to %.9g partitions above %.0f rows, and %.9g by the twin",
                            strategy->label, told.expected_least, told.expected_most, n, most);
    return (fabs(told.expected_most - most) <= most * near + slack &&
            fabs(told.expected_least - most) <= most * near + slack) ||
           twin_differs(answer, "%s: %.9g to %.9g partitions above %.0f rows, and %.9g by the twin",
                        strategy->label, told.expected_least, told.expected_most, n, most);
}

/* A limit in bytes, for rows of one payload: the number is between those of the limits in rows between which
 * it lies, with write times of any length. */
static bool check_constant(const struct answer *answer, const struct lab_strategy *strategy, uint64_t rows)
{
    struct lab_scenario scenario = *answer->scenario;
    const struct sim_size *size = &scenario.workload.row_bytes;
    uint64_t small = UINT64_MAX, large = 0;
    struct lab_facts told, in_rows[2];
    if ((scenario.trace_path != NULL && !scenario.has_row_bytes) || size->kind != SIM_SIZE_CONSTANT)
        return true;
    for (size_t k = 0; k < answer->input->key_count; k++) {
        for (size_t i = 0; i < answer->input->keys[k].count; i++) {
            const uint64_t bytes = answer->input->keys[k].rows[i].weight;
            small = bytes < small ? bytes : small;
            large = bytes > large ? bytes : large;
        }
    }
    scenario.limits.partition_rows = 0;
    scenario.limits.partition_bytes =
        rows * large + lab_partition_bytes(&scenario.row_cost, 64, rows, rows * large);
    expected_of(answer, &scenario, &strategy->settings, &told);
    const uint64_t ends[2] = {rows * large / (large + 9) - 3 * (rows > 3),
                              scenario.limits.partition_bytes / small};
    for (int i = 0; i < 2; i++) {
        scenario.limits.partition_rows = ends[i] > 0 ? ends[i] : 1;
        scenario.limits.partition_bytes = 0;
        expected_of(answer, &scenario, &strategy->settings, &in_rows[i]);
    }
    bool is_tight = !in_rows[0].has_distribution || rows < 40 ||
                    told.expected_most <= in_rows[0].expected_most * (1 + NEAR) + TINY;
    return (told.has_distribution == in_rows[1].has_distribution && is_tight &&
            (!told.has_distribution || told.expected_most >= in_rows[1].expected_most * (1 - NEAR) - TINY)) ||
           twin_differs(answer,
                        "%s: %.9g to %.9g partitions above the bytes of %u rows, and above %u and %u rows "
                        "%.9g and %.9g",
                        strategy->label, told.expected_least, told.expected_most, (unsigned)rows,
                        (unsigned)ends[0], (unsigned)ends[1], in_rows[0].expected_most,
                        in_rows[1].expected_most);
}

/* The size that a share u of the sizes does not exceed, from 1 - u. */
static double quantile(const struct sim_size *size, double rest)
{
    double low = -40, high = 40; /* of the normal distribution */
    if (size->kind == SIM_SIZE_UNIFORM)
        return size->a + (1 - rest) * (size->b - size->a);
    if (size->kind == SIM_SIZE_PARETO)
        return size->a * pow(rest, -1 / size->b);
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(0.5 * erfc(middle / sqrt(2)) > rest ? &low : &high) = middle;
    }
    return size->kind == SIM_SIZE_CONSTANT ? size->a : exp(size->log_mean + size->b * low);
}

/* log of the least of Chernoff's bounds of the chance that n rows have more than `room` bytes, over caps of a
 * row's size and over t on a grid. */
static double log_tail(const struct lab_scenario *scenario, double n, double room)
{
    enum { ATOMS = 900, STEPS = 300 };
    double bytes[ATOMS], rest[ATOMS], best = 0, mean = 0;
    for (int i = 0; i < ATOMS; i++) {
        rest[i] = i < 600 ? 1 - 0.99 * (i + 1) / 600 : 0.01 * pow(10, -(i - 599) / 13.0);
        double payload = fmin(ceil(quantile(&scenario->workload.row_bytes, rest[i])), 0x1p40);
        bytes[i] = (double)lab_row_bytes(&scenario->row_cost, (uint64_t)fmax(payload, 1), 10);
        mean += ((i == 0 ? 1 : rest[i - 1]) - rest[i]) * bytes[i];
    }
    for (int part = 1; n * mean < room && part <= 64; part *= 4) {
        int last = 0;
        double least = 0;
        while (last + 1 < ATOMS && bytes[last + 1] <= room / part)
            last++;
        for (int step = 1; step <= STEPS; step++) {
            double t = (200 / bytes[last] + 200 / room) * pow((double)step / STEPS, 3), sum = 0;
            for (int i = 0; i <= last; i++)
                sum += ((i == 0 ? 1 : rest[i - 1]) - rest[i]) * exp(t * (bytes[i] - bytes[last]));
            sum += rest[last] * exp(-t * bytes[last]);
            least = fmin(least, n * (t * bytes[last] + log(sum)) - t * room);
        }
        best = fmin(best, log(fmin(1, n * rest[last] + exp(least))));
    }
    return best;
}

/* Partitions of drawn sizes: of some hundred that are drawn, more exceed the limit than its upper bound makes
 * likely. */
static bool check_bytes(const struct answer *answer, const struct lab_strategy *strategy)
{
    enum { DRAWN = 300 };
    const struct lab_scenario *scenario = answer->scenario;
    const struct bk_strategy *core = &strategy->settings.strategy;
    struct lab_scenario limited = *scenario;
    struct lab_facts told;
    uint64_t sizes[DRAWN], limit = 0, over = 0;
    if (core->kind != BK_KIND_COUNT || strategy->settings.source != BK_SOURCE_EXTERNAL ||
        core->max_age_ns > 0 || scenario->trace_path != NULL)
        return true;
    for (int i = 0; i < DRAWN; i++) {
        uint64_t bytes = 0;
        for (uint64_t row = 0; row < core->of.count.rows; row++) {
            uint64_t payload;
            wl_row_sizes(&scenario->workload, answer->random, &payload, 1);
            payload = payload > UINT64_C(1) << 40 ? UINT64_C(1) << 40 : payload; /* the largest row */
            bytes += lab_row_bytes(&scenario->row_cost, payload, 1);
        }
        sizes[i] = bytes + lab_partition_bytes(&scenario->row_cost, 5, core->of.count.rows, bytes);
        limit += (i % 10 == 0) * (sizes[i] / (DRAWN / 10));
    }
    limited.limits.partition_rows = 0;
    limited.limits.partition_bytes = limit + limit * sim_random_below(answer->random, 12) / 10 + 1;
    for (int i = 0; i < DRAWN; i++)
        over += sizes[i] > limited.limits.partition_bytes;
    expected_of(answer, &limited, &strategy->settings, &told);
    /* A header for as many of the smallest rows as the limit has room for. */
    const uint64_t bytes = limited.limits.partition_bytes,
                   most = bytes / lab_row_bytes(&scenario->row_cost, 1, 1) + 1,
                   around = lab_partition_bytes(&scenario->row_cost, 64, most, bytes);
    const double n = (double)core->of.count.rows, room = bytes > around ? (double)(bytes - around) : 0,
                 log_wanted = scenario->workload.row_bytes.kind == SIM_SIZE_CONSTANT || room == 0
                                  ? 0
                                  : log_tail(scenario, n, room);
    if (told.has_distribution && log_wanted < -0.5 && log(told.expected_share) > 0.9 * log_wanted + 0.3)
        return twin_differs(answer, "%s: %.0f rows have more than %.0f bytes with %.6g, and %.6g by the twin",
                            strategy->label, n, room, told.expected_share, exp(log_wanted));
    if (!told.has_distribution || over == 0 || told.expected_share >= 1)
        return true;
    return 1 - twin_binomial_upto((double)over - 1, DRAWN, told.expected_share) > 1e-9 ||
           twin_differs(answer,
                        "%s: %u of %d drawn partitions exceed %.0f bytes, with %.3g by their distribution",
                        strategy->label, (unsigned)over, DRAWN, (double)limited.limits.partition_bytes,
                        told.expected_share);
}

bool twin_expected(const struct answer *answer)
{
    for (size_t i = 0; i < answer->result->strategy_count; i++) {
        const struct lab_strategy *strategy = &answer->scenario->strategies[i];
        const struct lab_strategy_result *told = &answer->result->strategies[i];
        double over = twin_metric(told, "partitions.over_limit"),
               most = twin_metric(told, "expected.over_limit");
        double rows = twin_or_zero(twin_metric(told, "partitions.all.rows.p90"));
        if (over > 0 && !isnan(most) && poisson_above(most, over - 1) < UNLIKELY)
            return twin_differs(answer, "%s: %.0f partitions over, at most %.3g expected", told->label, over,
                                most);
        uint64_t limit = (uint64_t)rows + sim_random_below(answer->random, (uint64_t)rows / 2 + 4),
                 mean = (uint64_t)fmax(1, twin_or_zero(twin_metric(told, "partitions.closed.rows.mean")));
        if (rows > 0 && (!check_odds(answer, &strategy->settings, (double)limit) ||
                         !check_mean(answer, &strategy->settings) || !check_rows(answer, strategy, limit) ||
                         !check_constant(answer, strategy, limit) ||
                         !check_constant(answer, strategy, mean) || !check_bytes(answer, strategy)))
            return false;
    }
    return true;
}

/* --- what the naive engine shares with the product */

bool twin_shares(const struct answer *answer)
{
    const struct sim_zipf *zipf = &answer->scenario->workload.popularity;
    double total = 0;
    if (answer->scenario->trace_path != NULL || zipf->point_count > 1)
        return true;
    for (uint64_t i = 0; i < zipf->count; i++)
        total += pow((double)(i + 1), -zipf->s);
    for (uint64_t i = 0; i < zipf->count; i++) {
        if (fabs(sim_zipf_share(zipf, i) * total / pow((double)(i + 1), -zipf->s) - 1) > 1e-11)
            return twin_differs(answer, "the share of key %u differs", (unsigned)i);
    }
    return true;
}

/* The busiest second: the bounds of the number of seconds in which a bucket has more rows than a limit hold
 * the mean over seeds of the plain sum over keys and seconds. The chance of a false alarm is below 1e-9. */
bool twin_rates(const struct answer *answer)
{
    enum { SEEDS = 40, SECONDS = 60 };
    struct sim_random *random = answer->random;
    struct wl_spike spikes[2];
    struct lab_scenario scenario = *answer->scenario;
    struct wl_workload *workload = &scenario.workload;
    const uint64_t keys = 1 + sim_random_below(random, 6), buckets = 1 + sim_random_below(random, 3);
    const double limit = 1 + (double)sim_random_below(random, 6);
    struct lab_settings settings = {.change_count = 0};
    struct lab_rate_facts rates[LAB_RATES];
    int64_t edges_ns[SECONDS + 1];
    double sum = 0, squares = 0;
    if (scenario.design.is_given || scenario.engine == LAB_ENGINE_CLUSTER ||
        bk_strategy_hash((uint32_t)buckets, &settings.strategy) != BK_OK)
        return true;
    *workload = (struct wl_workload){.duration_ns = SECONDS * SIM_SECOND,
                                     .key_count = keys,
                                     .row_bytes = {.kind = SIM_SIZE_CONSTANT, .a = 100},
                                     .spikes = spikes,
                                     .spike_count = sim_random_below(random, 3),
                                     .has_bursts = sim_random_below(random, 2) == 0,
                                     .burst_on_ns = 5 * SIM_SECOND,
                                     .burst_off_ns = 20 * SIM_SECOND,
                                     .burst_factor = 6};
    workload->rate_per_s = (double)keys * (2 + (double)sim_random_below(random, 20)) / 10;
    sim_zipf_init(&workload->popularity, (double)sim_random_below(random, 3) / 2, keys);
    for (size_t i = 0; i < 2; i++) {
        spikes[i] = (struct wl_spike){.at_ns = (int64_t)(5 + sim_random_below(random, 20)) * SIM_SECOND};
        spikes[i].lasts_ns = (int64_t)(10 + sim_random_below(random, 20)) * SIM_SECOND;
        spikes[i].factor = 2 + (double)sim_random_below(random, 5);
        spikes[i].keys_share = (1 + (double)sim_random_below(random, 4)) / 4;
    }
    scenario.trace_path = NULL;
    scenario.limits.rate[LAB_RATE_WRITES] = limit;
    scenario.limits.rate[LAB_RATE_READS] = 0;
    const struct tune_prospect prospect = {.scenario = &scenario,
                                           .factor = 1,
                                           .rows = 1,
                                           .keys = (double)keys,
                                           .seconds = SECONDS,
                                           .busiest = 1};
    tune_rates_of(&prospect, &settings, rates);
    for (int64_t i = 0; i <= SECONDS; i++)
        edges_ns[i] = i * SIM_SECOND;
    for (int seed = 0; seed < SEEDS; seed++) {
        double seconds = 0, masses[SECONDS];
        workload->seed = sim_random_next(random);
        for (uint64_t key = 0; key < keys; key++) {
            naive_masses(workload, key, edges_ns, SECONDS, masses);
            for (int i = 0; i < SECONDS; i++) {
                double mean = masses[i] / (double)buckets, upto = 0;
                for (double n = 0; n <= limit; n++)
                    upto += exp(n * log(mean) - mean - lgamma(n + 1));
                seconds += (double)buckets * (1 - upto);
            }
        }
        sum += seconds / SEEDS;
        squares += seconds * seconds / SEEDS;
    }
    const struct lab_rate_facts *told = &rates[LAB_RATE_WRITES];
    const double near = 10 * sqrt(fmax(0, squares - sum * sum) / SEEDS) + 1e-6 * sum + TINY;
    return (told->is_known && told->most >= sum - near && told->least <= sum + near) ||
           twin_differs(answer, "%.6g to %.6g seconds of a bucket above %g rows, and %.6g by the twin",
                        told->least, told->most, limit, sum);
}

/* -log P(no window of an hour, of which the first begins after three minutes, exceeds a limit until then). */
static double windows_passed(double hours, double mean, double limit, double keys)
{
    double sum = 0;
    for (double begins = 0.05; begins < hours; begins = floor(begins) + 1)
        sum -= keys * log1p(-poisson_above(mean * (fmin(hours, floor(begins) + 1) - begins), limit));
    return sum;
}

/* When windows of a level stream first exceed a limit, after a run in which none did: at the median, or,
 * where half of all runs would have had one, the median of those that have not. */
bool twin_windows(const struct answer *answer)
{
    struct sim_random *random = answer->random;
    struct lab_scenario scenario = *answer->scenario;
    struct wl_workload *workload = &scenario.workload;
    struct lab_settings settings = {.change_count = 0};
    const uint64_t keys = 1 + sim_random_below(random, 4), windows = 3 + sim_random_below(random, 4);
    const double mean = 10 + (double)sim_random_below(random, 40);
    double low = 0, high = 1000;
    if (scenario.design.is_given || scenario.engine == LAB_ENGINE_CLUSTER ||
        bk_strategy_time(SIM_HOUR, 0, &settings.strategy) != BK_OK)
        return true;
    *workload = (struct wl_workload){.start_ns = SIM_HOUR / 20,
                                     .duration_ns = (int64_t)windows * SIM_HOUR - SIM_HOUR / 10,
                                     .key_count = keys,
                                     .rate_per_s = mean * (double)keys / 3600,
                                     .row_bytes = {.kind = SIM_SIZE_CONSTANT, .a = 100}};
    sim_zipf_init(&workload->popularity, 0, keys);
    scenario.trace_path = NULL;
    scenario.row_ttl_ns = 0;
    scenario.deletes.share = 0;
    scenario.limits = (struct lab_limits){
        .partition_rows = (uint64_t)(mean + (0.5 + (double)sim_random_below(random, 5)) * sqrt(mean)),
        .confidence = 0.95};
    const double limit = (double)scenario.limits.partition_rows,
                 in_run = windows_passed((double)windows - 0.05, mean, limit, (double)keys),
                 sought = log(2) + (in_run < log(2) ? 0 : in_run);
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        *(windows_passed(middle, mean, limit, (double)keys) < sought ? &low : &high) = middle;
    }
    const double days = (double)workload->duration_ns / (double)SIM_DAY;
    const struct tune_outlook outlook = {.scenario = &scenario,
                                         .days = days,
                                         .rows = mean * (double)(keys * windows),
                                         .busiest_rows = 1,
                                         .busiest_bytes = 100};
    double told;
    naive_must(tune_first_over_days(&outlook, &settings, (double)NAN, 1, 100, &told) ? &told : NULL);
    const double wanted = (high - 0.05) / 24;
    return high > 999 || fabs(told - wanted) <= ROUNDED * wanted ||
           twin_differs(answer, "windows exceed %.0f rows after %.6g days, and %.6g by the twin", limit, told,
                        wanted);
}

/* A spike of a number of keys strikes exactly this number, and each key is as likely as any other. */
bool twin_spikes(const struct answer *answer)
{
    enum { SEEDS = 200 };
    struct wl_spike spikes[2] = {{.factor = 2}, {.factor = 3}};
    struct wl_workload workload = {
        .key_count = 1 + sim_random_below(answer->random, 40), .spike_count = 2, .spikes = spikes};
    uint64_t both = 0, first = 0;
    spikes[0].keys_count = 1 + sim_random_below(answer->random, workload.key_count);
    spikes[1].keys_count = 1 + sim_random_below(answer->random, workload.key_count);
    const double share = (double)spikes[0].keys_count / (double)workload.key_count,
                 other = (double)spikes[1].keys_count / (double)workload.key_count;
    const uint64_t watched = sim_random_below(answer->random, workload.key_count);
    for (int round = 0; round < SEEDS; round++) {
        workload.seed = sim_random_next(answer->random);
        for (size_t i = 0; i < 2; i++) {
            uint64_t count = 0;
            for (uint64_t key = 0; key < workload.key_count; key++)
                count += wl_spike_strikes(&workload, i, key);
            if (count != spikes[i].keys_count)
                return twin_differs(answer, "a spike of %u keys strikes %u", (unsigned)spikes[i].keys_count,
                                    (unsigned)count);
        }
        first += wl_spike_strikes(&workload, 0, watched);
        both += wl_spike_strikes(&workload, 0, watched) && wl_spike_strikes(&workload, 1, watched);
    }
    /* Two sides, two figures. */
    const double hits[] = {(double)first, (double)both}, shares[] = {share, share * other};
    for (int i = 0; i < 2; i++) {
        if (twin_binomial_upto(hits[i], SEEDS, shares[i]) < UNLIKELY ||
            (hits[i] > 0 && 1 - twin_binomial_upto(hits[i] - 1, SEEDS, shares[i]) < UNLIKELY))
            return twin_differs(answer,
                                "a spike of a share of %.3g of the keys strikes one in %.0f of %d seeds",
                                shares[i], hits[i], SEEDS);
    }
    return true;
}

/* The values of columns: of some thousand rows, each value has its share. */
bool twin_values(const struct answer *answer)
{
    enum { ROWS = 3000 };
    const struct lab_design *design = &answer->scenario->design;
    struct lab_values values;
    if (!design->is_given)
        return true;
    bool is_fine = lab_values_init(&values, design, false);
    lab_values_begin(&values, sim_random_next(answer->random), sim_random_next(answer->random));
    for (size_t i = 0; is_fine && i < values.count; i++) {
        const struct lab_column *column = &design->columns[values.columns[i].column];
        double total = 0;
        for (uint32_t value = 0; value < column->values; value++)
            total += pow(value + 1, -column->zipf);
        for (uint32_t value = 0; is_fine && value < column->values; value++) {
            const double share = pow(value + 1, -column->zipf) / total;
            double hits = 0;
            for (uint64_t row = 0; row < ROWS; row++)
                hits += lab_values_of_column(&values, lab_values_of_row(&values, row),
                                             values.columns[i].column) == value;
            is_fine = twin_binomial_upto(hits, ROWS, share) > UNLIKELY &&
                      (hits == 0 || 1 - twin_binomial_upto(hits - 1, ROWS, share) > UNLIKELY);
            if (!is_fine)
                twin_differs(answer, "value %u of column '%s' is in %.0f of %d rows, and its share is %.4f",
                             (unsigned)value, column->name, hits, ROWS, share);
        }
    }
    lab_values_clear(&values);
    return is_fine;
}

/* A key's rows under settings that change and that all writers know. */
struct eras {
    const struct bk_strategy *strategy[LAB_CHANGES_MAX + 1];
    int64_t from_ns[LAB_CHANGES_MAX + 1], shift[LAB_CHANGES_MAX + 1];
    size_t count;
};

static bool make_eras(const struct answer *answer, const struct lab_settings *settings, struct eras *eras)
{
    *eras = (struct eras){.strategy = {&settings->strategy}, .from_ns = {INT64_MIN}, .count = 1};
    if (settings->strategy.kind != BK_KIND_TIME && naive_shards(&settings->strategy) > 1)
        return false; /* the naive engine alone has these */
    for (uint32_t i = 0; i < settings->change_count; i++, eras->count++) {
        const struct lab_change *change = &settings->changes[i];
        const struct bk_strategy *before = eras->strategy[i];
        int64_t from_ns = answer->input->start_ns + change->at_ns, highest = eras->shift[i];
        if (before->kind == BK_KIND_TIME)
            highest += (naive_window(before, from_ns - 1) + 1) * naive_shards(before) - 1;
        highest += before->kind == BK_KIND_HASH ? (int64_t)before->of.hash.buckets - 1 : 0;
        eras->strategy[i + 1] = &change->strategy;
        eras->from_ns[i + 1] = from_ns;
        eras->shift[i + 1] = highest + 1 -
                             (change->strategy.kind == BK_KIND_TIME
                                  ? naive_window(&change->strategy, from_ns) * naive_shards(&change->strategy)
                                  : 0);
        if (!change->keeps_old || bk_kind_fires(change->strategy.kind))
            return false;
    }
    return settings->change_count > 0;
}

bool twin_eras(const struct answer *answer)
{
    for (size_t s = 0; s < answer->scenario->strategy_count; s++) {
        const struct lab_strategy *strategy = &answer->scenario->strategies[s];
        struct eras eras;
        if (!make_eras(answer, &strategy->settings, &eras))
            continue;
        struct naive_result *naive = naive_run(answer->input, answer->scenario, strategy);
        const int64_t *bucket = naive->buckets;
        bool is_same = true;
        for (size_t k = 0; k < answer->input->key_count; k++) {
            size_t open = 0; /* the era of the newest row, for counts */
            uint64_t first = 0;
            int64_t begun = 0;
            for (uint64_t j = 0; j < answer->input->keys[k].count; j++, bucket++) {
                const struct naive_row *row = &answer->input->keys[k].rows[j];
                size_t era = eras.count - 1;
                while (era > 0 && row->own_ns < eras.from_ns[era])
                    era--;
                int64_t wanted;
                if (eras.strategy[era]->kind == BK_KIND_COUNT) {
                    if (era > open) {
                        begun = j == 0 ? 0 : bucket[-1] + 1;
                        first = j;
                        open = era;
                    }
                    wanted = begun + (int64_t)((j - first) / eras.strategy[open]->of.count.rows);
                } else {
                    struct bk_key_state none = {0};
                    struct naive_result unused = {0};
                    wanted = eras.shift[era] + naive_route(eras.strategy[era], &none, j, row, &unused);
                }
                is_same = is_same && *bucket == wanted;
            }
        }
        naive_free(naive);
        if (!is_same)
            return twin_differs(answer, "%s: buckets after a change differ", strategy->label);
    }
    return true;
}
