/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expected number of partitions above a limit. In: a scenario and a setting. Out: an upper and a lower
 * bound. First the limits are converted to rows, exactly where rows have one size; then the tail of one
 * partition is computed; then tails are summed up over the partitions of the run: for windows and buckets
 * key by key, from the integral of the key's rate, where a key whose highest rate leaves no chance is
 * skipped. */
#include "tune/expected.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>

#include "kernel/grow.h"
#include "tune/odds.h"
#include "tune/weighted.h"
#include "workload/rows.h"
#include "workload/workload.h"

#define ATOMS_MAX     512
#define LADDER        48    /* Poisson means for which the tail of a sum of bytes is computed */
#define NEGLIGIBLE    1e-15 /* a tail that is not computed more closely */
#define RARE          0.01
#define STRETCHES_MAX 4000000 /* rates of single keys that are examined */
#define SHAPES_MAX    64      /* sets of spikes that strike a key together */
#define KEY_NAME      64      /* bytes of a key's name at most, for the size of a partition's header */

/* A distribution of the bytes of a row on disk: atoms in ascending order, each rounded up to the largest size
 * that it stands for, so that tails are upper bounds. */
struct sizes {
    size_t count;
    double bytes[ATOMS_MAX], weight[ATOMS_MAX], above[ATOMS_MAX]; /* above: the chance of a larger size */
    double mean;
};

struct task {
    const struct lab_scenario *scenario;
    const struct lab_settings *settings;
    double rows, keys, factor;
    double limit_most, limit_least; /* in rows: more rows may exceed a limit; more rows certainly do */
    bool has_sizes;                 /* a limit in bytes, and rows of drawn sizes: */
    struct sizes sizes;
    double room; /* the bytes of rows that a partition may have */
    /* The chance that a Poisson number of rows of mean ladder_mean(i) has more bytes; 0: not computed yet. */
    double ladder[LADDER];
    double work; /* stretches and windows examined so far */
};

/* --- sizes */

/* The size that a share u of the sizes does not exceed. */
static double quantile(const struct sim_size *size, double u, double rest)
{
    switch (size->kind) {
    case SIM_SIZE_CONSTANT:
        return size->a;
    case SIM_SIZE_UNIFORM:
        return size->a + u * (size->b - size->a);
    case SIM_SIZE_LOGNORMAL:
        return exp(size->log_mean +
                   size->b * (u < 0.5 ? gsl_cdf_ugaussian_Pinv(u) : gsl_cdf_ugaussian_Qinv(rest)));
    case SIM_SIZE_PARETO:
        return size->a * pow(rest, -1 / size->b);
    }
    return (double)NAN;
}

/* Atoms of equal weight up to the 99 % quantile, then 12 for each factor of ten down to 1e-25. */
static void make_sizes(const struct lab_scenario *scenario, uint32_t stamp, struct sizes *out)
{
    enum { BULK = 200, TAIL = 12, DECADES = 23 };
    double before = 1;
    *out = (struct sizes){.count = 0};
    for (size_t i = 0; i < BULK + TAIL * DECADES; i++) {
        const double rest =
            i < BULK ? 1 - 0.99 * (double)(i + 1) / BULK : 0.01 * pow(10, -(double)(i + 1 - BULK) / TAIL);
        const double payload = fmin(ceil(quantile(&scenario->workload.row_bytes, 1 - rest, rest)), 0x1p40);
        out->bytes[i] = (double)lab_row_bytes(&scenario->row_cost, (uint64_t)fmax(payload, 1), stamp);
        out->weight[i] = before - rest;
        out->above[i] = before = rest;
        out->mean += out->weight[i] * out->bytes[i];
        out->count++;
    }
}

/* log E(exp(t X); X <= the size of atom `last`), where larger sizes count as none. */
static double log_moment(const struct sizes *sizes, size_t last, double t)
{
    const double most = t * sizes->bytes[last];
    double sum = 0;
    for (size_t i = 0; i <= last; i++)
        sum += sizes->weight[i] * exp(t * sizes->bytes[i] - most);
    return most + log(sum + sizes->above[last] * exp(-most));
}

/* The number of rows in a partition: fixed, Poisson, or negative binomial. */
struct number {
    enum { FIXED, POISSON, NEGATIVE } kind;
    double mean, p; /* p: NEGATIVE, the chance of an increment */
};

/* log E(M^n) for log M; infinity where it does not exist. */
static double log_of_number(const struct number *number, double log_m)
{
    switch (number->kind) {
    case FIXED:
        return number->mean * log_m;
    case POISSON:
        return number->mean * expm1(log_m);
    case NEGATIVE: {
        const double left = 1 - (1 - number->p) * exp(log_m);
        return left > 0 ? number->mean * number->p * (log(number->p) + log_m - log(left)) : (double)INFINITY;
    }
    }
    return (double)INFINITY;
}

static double exponent_at(const struct sizes *sizes, size_t last, const struct number *number, double room,
                          double t)
{
    return log_of_number(number, log_moment(sizes, last, t)) - t * room;
}

/* The least Chernoff exponent over t, by golden section: the exponent is convex in t. */
static double exponent(const struct sizes *sizes, size_t last, const struct number *number, double room)
{
    const double golden = 0.6180339887498949;
    double low = 0, high = 200 / sizes->bytes[last] + 200 / room, best = 0;
    double one = high - golden * (high - low), other = low + golden * (high - low);
    double first = exponent_at(sizes, last, number, room, one),
           second = exponent_at(sizes, last, number, room, other);
    for (int i = 0; i < 30; i++) {
        best = fmin(best, fmin(first, second));
        if (first <= second) {
            high = other;
            other = one;
            second = first;
            one = high - golden * (high - low);
            first = exponent_at(sizes, last, number, room, one);
        } else {
            low = one;
            one = other;
            first = second;
            other = low + golden * (high - low);
            second = exponent_at(sizes, last, number, room, other);
        }
    }
    return best;
}

/* An upper bound of the chance that this number of rows has more than `room` bytes. */
static double bytes_tail(const struct sizes *sizes, const struct number *number, double room)
{
    double best = 1, before = 0;
    if (number->mean * sizes->mean >= room)
        return 1;
    for (int part = 1; part <= 64; part *= 4) {
        size_t last = 0;
        while (last + 1 < sizes->count && sizes->bytes[last + 1] <= room / part)
            last++;
        if (sizes->bytes[last] == before)
            continue;
        before = sizes->bytes[last];
        const double large = number->mean * sizes->above[last];
        if (large < best)
            best = fmin(best, large + exp(exponent(sizes, last, number, room)));
    }
    return best;
}

/* --- the tail of one partition */

/* P(N > rows), N Poisson. Far out, the first term and a geometric series. */
static double poisson_tail(double mean, double rows)
{
    const double k = floor(rows) + 1;
    if (!(mean > 0) || !(rows < 1e18))
        return 0;
    const double log_first = k - mean - k * log(k / mean) - 0.5 * log(2 * M_PI * k) - 1 / (12 * k + 1);
    if (mean >= k || log_first > -30)
        return k >= 4294967295.0 ? (mean >= k ? 1 : gsl_cdf_ugaussian_Q((k - mean) / sqrt(mean)))
                                 : gsl_cdf_poisson_Q((unsigned)(k - 1), mean);
    return exp(log_first) * (k + 1) / (k + 1 - mean);
}

static double ladder_mean(const struct task *task, size_t i)
{
    return task->room / task->sizes.mean * (0.02 + 0.98 * (double)(i + 1) / LADDER);
}

/* Upper bounds of the chance of a Poisson number of rows to exceed a limit. */
static double tail_most(struct task *task, double mean)
{
    double tail = poisson_tail(mean, task->limit_most);
    if (!task->has_sizes)
        return tail;
    const double step = ladder_mean(task, 1) - ladder_mean(task, 0);
    const double above = ceil((mean - ladder_mean(task, 0)) / step);
    if (!(above < LADDER))
        return 1;
    const size_t i = above > 0 ? (size_t)above : 0;
    if (task->ladder[i] == 0) {
        const struct number number = {POISSON, ladder_mean(task, i), 0};
        task->ladder[i] = fmax(DBL_MIN, bytes_tail(&task->sizes, &number, task->room));
    }
    return fmin(1, tail + task->ladder[i]);
}

/* --- windows and buckets: sums over keys */

struct sum {
    double most, least;
};

static void add_mean(struct task *task, double mean, double times, struct sum *out)
{
    task->work++;
    out->most += times * tail_most(task, mean);
    out->least += times * poisson_tail(mean, task->limit_least);
}

/* The end of the window that holds a time; the run's end for kinds without windows. */
static int64_t window_end(const struct task *task, int64_t time_ns)
{
    const struct bk_row row = {.time_ns = time_ns};
    struct bk_route route;
    if (task->settings->strategy.kind != BK_TIME ||
        bk_route(&task->settings->strategy, NULL, &row, &route) != BK_OK)
        return INT64_MAX;
    return route.until_ns;
}

/* The integrals of a key's rate over the windows of the run. Returns their number; they are in *out, which
 * grows. SIZE_MAX: out of memory or too many. */
static size_t integrate(struct task *task, uint64_t key_index, double **out, size_t *capacity)
{
    const struct wl_workload *workload = &task->scenario->workload;
    struct wl_key key;
    struct wl_stretch stretch;
    size_t count = 0;
    double sum = 0;
    int64_t at_ns = workload->start_ns, until_ns = window_end(task, at_ns);
    wl_key_init(&key, workload, key_index);
    while (wl_key_stretch(&key, &stretch)) {
        for (at_ns = stretch.begin_ns; at_ns < stretch.end_ns;) {
            const int64_t end_ns = stretch.end_ns < until_ns ? stretch.end_ns : until_ns;
            task->work++;
            sum += (double)(end_ns - at_ns) * stretch.rate_per_ns * task->factor;
            at_ns = end_ns;
            if (at_ns < until_ns)
                continue;
            if ((count == *capacity && task->work > STRETCHES_MAX) ||
                !sim_grow(out, capacity, count + 1, sizeof **out))
                return SIZE_MAX;
            (*out)[count++] = sum;
            sum = 0;
            until_ns = window_end(task, at_ns);
        }
    }
    if (!sim_grow(out, capacity, count + 1, sizeof **out))
        return SIZE_MAX;
    (*out)[count++] = sum;
    return count;
}

static double largest_of(const double *means, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, means[i]);
    return most;
}

/* The spikes that strike a key, as bits. */
static uint64_t shape_of(const struct wl_workload *workload, uint64_t key)
{
    uint64_t shape = 0;
    for (size_t i = 0; i < workload->spike_count && i < 64; i++)
        shape |= (uint64_t)wl_spike_strikes(workload, i, key) << i;
    return shape;
}

/* An upper bound of the integral of any key's rate over a window of the run, per unit of its mean rate. */
static double most_per_rate(const struct task *task)
{
    const struct wl_workload *workload = &task->scenario->workload;
    const struct bk_strategy *strategy = &task->settings->strategy;
    double length = (double)workload->duration_ns, factor = task->factor;
    if (strategy->kind == BK_TIME)
        length =
            fmin(length, strategy->of.time.calendar == BK_CALENDAR_NONE ? (double)strategy->of.time.window_ns
                                                                        : 31 * 86400e9);
    factor *= workload->has_daily ? 1 + workload->daily_amplitude : 1;
    if (workload->has_bursts) { /* a factor below 1 makes the other state the faster one */
        const double on = (double)workload->burst_on_ns, off = (double)workload->burst_off_ns;
        factor *= fmax(1, workload->burst_factor) / (1 + on / (on + off) * (workload->burst_factor - 1));
    }
    for (size_t i = 0; i < workload->spike_count; i++)
        factor *= fmax(1, workload->spikes[i].factor);
    return length * 1e-9 * factor;
}

/* Sums tails over all keys and windows. `parts`: the buckets into which each is divided. False: it would take
 * too long, or out of memory; then only out->least is valid. */
static bool sum_keys(struct task *task, double parts, struct sum *out)
{
    const struct wl_workload *workload = &task->scenario->workload;
    struct {
        uint64_t shape;
        double *means, most, share;
        size_t count, capacity;
    } known[SHAPES_MAX] = {{0}};
    const double bound = most_per_rate(task) * workload->rate_per_s / parts;
    const bool is_alike = !workload->has_bursts && workload->spike_count <= 64;
    size_t known_count = 0;
    bool is_fine = true;
    for (uint64_t key = 0; is_fine && key < workload->key_count; key++) {
        const double share = sim_zipf_share(&workload->popularity, key);
        const double keys_left = (double)(workload->key_count - key);
        /* Shares never ascend. */
        const double windows = fmax(1, 1e-9 * (double)workload->duration_ns);
        if (tail_most(task, bound * share) * keys_left * windows * parts < NEGLIGIBLE)
            break;
        size_t at = 0;
        const uint64_t shape = is_alike ? shape_of(workload, key) : 0;
        while (is_alike && at < known_count && known[at].shape != shape)
            at++;
        if (!is_alike || at == known_count) {
            if (at >= SHAPES_MAX) {
                is_fine = false;
                break;
            }
            known[at].shape = shape;
            known[at].share = share;
            known[at].count = integrate(task, key, &known[at].means, &known[at].capacity);
            is_fine = known[at].count != SIZE_MAX;
            known[at].most = is_fine ? largest_of(known[at].means, known[at].count) : 0;
            known_count = is_alike && at == known_count ? known_count + 1 : known_count;
        }
        if (!is_fine)
            break;
        const double scale = share / known[at].share / parts, times = parts;
        const double highest = tail_most(task, known[at].most * scale);
        if (highest * times * (double)known[at].count * keys_left < NEGLIGIBLE) {
            if (is_alike && workload->spike_count == 0)
                break;
            continue;
        }
        for (size_t i = 0; i < known[at].count; i++)
            add_mean(task, known[at].means[i] * scale, times, out);
        is_fine = task->work <= STRETCHES_MAX;
    }
    for (size_t i = 0; i < SHAPES_MAX; i++)
        free(known[i].means);
    return is_fine;
}

/* --- kinds that count rows */

/* A partition has a distribution of its own, and ends by it: tails of a full partition, and the mean of its
 * rows. */
static bool full_partition(struct task *task, double *mean, struct sum *tail)
{
    const struct bk_strategy *strategy = &task->settings->strategy;
    const enum bk_source source = task->settings->source;
    struct number number = {FIXED, 0, 1};
    const uint64_t most = (uint64_t)fmin(task->limit_most, 1e18),
                   least = (uint64_t)fmin(task->limit_least, 1e18);
    if (strategy->kind == BK_COUNT) {
        if (source != BK_SOURCE_EXTERNAL && source != BK_SOURCE_COUNTER && source != BK_SOURCE_LWT &&
            source != BK_SOURCE_LEASE)
            return false;
        number.mean = (double)strategy->of.count.rows;
        *tail = (struct sum){number.mean > task->limit_most, number.mean > task->limit_least};
    } else if (strategy->kind == BK_PROBABILISTIC) {
        const double n = (double)strategy->of.probabilistic.chance_denominator;
        const struct tune_distribution distribution = {
            .p = n > 0 ? (double)strategy->of.probabilistic.chance_numerator / n
                       : ldexp(1, -(int)strategy->of.probabilistic.bits),
            .threshold = strategy->of.probabilistic.threshold};
        number = (struct number){NEGATIVE, tune_mean_rows(&distribution), distribution.p};
        *tail = (struct sum){tune_above(&distribution, most), tune_above(&distribution, least)};
    } else if (strategy->kind == BK_WEIGHTED &&
               task->scenario->workload.row_bytes.kind == SIM_SIZE_CONSTANT) {
        const uint64_t each = (uint64_t)fmax(1, task->scenario->workload.row_bytes.a);
        const struct tune_weighted distribution = {.bytes = strategy->of.weighted.bytes,
                                                   .threshold = strategy->of.weighted.threshold,
                                                   .row_bytes = each};
        number.mean = tune_weighted_mean_bytes(&distribution) / (double)each;
        *tail = (struct sum){
            tune_weighted_above(&distribution, (uint64_t)fmin(task->limit_most * (double)each, 1e18)),
            tune_weighted_above(&distribution, (uint64_t)fmin(task->limit_least * (double)each, 1e18))};
    } else {
        return false;
    }
    *mean = number.mean;
    if (task->has_sizes)
        tail->most = fmin(1, tail->most + bytes_tail(&task->sizes, &number, task->room));
    /* A tail that a double cannot hold is not 0. */
    if (strategy->kind != BK_COUNT || task->has_sizes)
        tail->most = fmax(tail->most, DBL_MIN);
    return true;
}

/* An upper bound of the number of partitions that may exceed a limit. A key with n rows has at most n / mean
 * of more rows than a limit that is not below the mean, since the distribution is "new better than used in
 * expectation"; of all partitions it may have one more, and one for each time that max_age ends one. */
static double begun(const struct task *task, double mean)
{
    const struct bk_strategy *strategy = &task->settings->strategy;
    double count = task->rows / mean;
    if (strategy->kind == BK_COUNT || task->has_sizes || mean > task->limit_least + 1)
        count += task->keys;
    if (strategy->max_age_ns == 0)
        return count;
    if (task->scenario->trace_path != NULL)
        return task->rows;
    const double ages = (double)task->scenario->workload.duration_ns / (double)strategy->max_age_ns + 1;
    return fmin(task->rows, count + task->keys * ages);
}

/* --- all of it */

static bool has_own_sizes(const struct lab_scenario *scenario)
{
    return scenario->trace_path != NULL && !scenario->has_row_bytes;
}

/* Converts the limits. False: nothing is known of bytes that have a limit. */
static bool set_limits(struct task *task)
{
    const struct lab_scenario *scenario = task->scenario;
    const struct lab_limits *limits = &scenario->limits;
    const struct wl_workload *workload = &scenario->workload;
    task->limit_most = task->limit_least =
        limits->partition_rows != 0 ? (double)limits->partition_rows : (double)INFINITY;
    if (limits->partition_bytes == 0)
        return true;
    struct lab_row_stamps stamps;
    lab_row_stamps_init(&stamps, &scenario->row_cost, workload->start_ns);
    uint32_t longest = 0, shortest = UINT32_MAX;
    for (uint32_t i = 0; i < stamps.count; i++) {
        longest = stamps.bytes[i] > longest ? stamps.bytes[i] : longest;
        shortest = stamps.bytes[i] < shortest ? stamps.bytes[i] : shortest;
    }
    const int64_t end_ns = workload->start_ns + workload->duration_ns;
    longest = lab_row_stamp(&stamps, end_ns) > shortest ? lab_row_stamp(&stamps, end_ns) : longest;
    if (has_own_sizes(scenario))
        return false;
    const double limit = (double)limits->partition_bytes;
    const double smallest = (double)lab_row_bytes(&scenario->row_cost, 1, shortest);
    const double around = (double)lab_partition_bytes(
        &scenario->row_cost, KEY_NAME, (uint64_t)(limit / fmax(1, smallest)) + 1, limits->partition_bytes);
    task->room = fmax(0, limit - around);
    if (workload->row_bytes.kind == SIM_SIZE_CONSTANT) {
        const uint64_t payload = (uint64_t)workload->row_bytes.a;
        const double large = (double)lab_row_bytes(&scenario->row_cost, payload, longest);
        const double small = (double)lab_row_bytes(&scenario->row_cost, payload, shortest);
        task->limit_most = fmin(task->limit_most, floor(task->room / large));
        task->limit_least = fmin(task->limit_least, floor(limit / fmax(1, small)));
        return true;
    }
    task->has_sizes = true;
    make_sizes(scenario, longest, &task->sizes);
    return true;
}

/* Whether distributions say anything of this setting. */
static bool is_known(const struct lab_scenario *scenario, const struct lab_settings *settings)
{
    const enum bk_kind kind = settings->strategy.kind;
    const bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    const bool ends = kind == BK_COUNT || kind == BK_PROBABILISTIC || kind == BK_WEIGHTED;
    if (scenario->design.is_given || settings->change_count > 0 || settings->is_idgen ||
        scenario->deletes.share > 0 || settings->observed != WL_OBSERVED_AUTO)
        return false;
    if (is_cluster)
        return kind == BK_COUNT && settings->source == BK_SOURCE_EXTERNAL;
    return ends || (scenario->trace_path == NULL && !wl_has_own_times(&scenario->workload) &&
                    scenario->workload.backfill_before_ns == 0);
}

void tune_expected_of(const struct lab_scenario *scenario, const struct lab_settings *settings, double rows,
                      double keys, double factor, struct lab_facts *out)
{
    struct task task = {
        .scenario = scenario, .settings = settings, .rows = rows, .keys = keys, .factor = factor};
    const struct bk_strategy *strategy = &settings->strategy;
    struct sum all = {0, 0}, tail = {0, 0}, of_keys = {0, 0};
    double mean = 0;
    out->has_distribution = false;
    out->expected_most = (double)INFINITY;
    out->expected_least = 0;
    out->expected_share = (double)NAN;
    if (!is_known(scenario, settings) || !set_limits(&task))
        return;
    const bool is_plain = scenario->trace_path == NULL && scenario->engine != LAB_ENGINE_CLUSTER &&
                          scenario->workload.backfill_before_ns == 0;
    if (full_partition(&task, &mean, &tail)) {
        /* By Wald's identity at least (n - limit) / mean partitions of a key with n rows begin early enough
         * to exceed a limit. */
        const double early = fmax(0, rows - keys * fmax(task.limit_least, mean)) / mean;
        all =
            (struct sum){tail.most * begun(&task, mean), strategy->max_age_ns == 0 ? tail.least * early : 0};
        out->expected_share = tail.most;
        /* No partition exceeds a limit unless its key does; keys that rarely do have one such partition. */
        if (all.most > 0 && is_plain && sum_keys(&task, 1, &of_keys) && of_keys.most < RARE)
            all.most = fmax(DBL_MIN, fmin(all.most, 2 * of_keys.most));
    } else if (strategy->kind != BK_TIME && lab_kind_ends(strategy->kind)) {
        return;
    } else {
        const double parts = strategy->kind == BK_HASH ? (double)strategy->of.hash.buckets : 1;
        all.most = sum_keys(&task, parts, &all) ? fmax(all.most, DBL_MIN) : (double)INFINITY;
    }
    out->has_distribution = true;
    out->expected_most = all.most;
    out->expected_least = scenario->row_ttl_ns > 0 ? 0 : fmin(all.least, all.most);
}

/* Six digits, so that a metric does not depend on the last bits of a machine's logarithm. */
static double rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

bool tune_expected_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error)
{
    const struct lab_limits *limits = &scenario->limits;
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_strategy_result *strategy = &result->strategies[i];
        const struct lab_metric *total = lab_metrics_find(&strategy->metrics, "partitions.total");
        struct lab_facts facts;
        if ((limits->partition_rows == 0 && limits->partition_bytes == 0) || total == NULL)
            continue;
        tune_expected_of(scenario, &strategy->settings, (double)result->rows, (double)result->keys, 1,
                         &facts);
        if (!facts.has_distribution || !isfinite(facts.expected_most))
            continue;
        if (isnan(facts.expected_share) && total->value > 0)
            facts.expected_share = fmax(DBL_MIN, fmin(1, facts.expected_most / total->value));
        if (!lab_metrics_add(&strategy->metrics, "expected.over_limit", rounded(facts.expected_most)) ||
            !lab_metrics_add(&strategy->metrics, "expected.over_limit_least",
                             rounded(facts.expected_least)) ||
            (!isnan(facts.expected_share) &&
             !lab_metrics_add(&strategy->metrics, "expected.share", rounded(facts.expected_share))))
            return sim_fail_memory(error);
    }
    return true;
}
