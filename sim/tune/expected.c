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
#include "kernel/time.h"
#include "lab/metric.h"
#include "lab/tally.h"
#include "tune/odds.h"
#include "tune/sample.h"
#include "workload/trace.h"
#include "workload/workload.h"

#define ATOMS_MAX     512
#define LADDER        48    /* Poisson means for which the tail of a sum of bytes is computed */
#define NEGLIGIBLE    1e-15 /* a tail that is not computed more closely */
#define RARE          0.01
#define STRETCHES_MAX 4000000 /* rates of single keys that are examined */
#define KEYS_TRIED    16      /* before it is concluded that the sum would take too long */
#define BURSTS_DRAWN  1000000 /* the same, for the first partition over a limit */
#define SHAPES_MAX    64      /* sets of spikes that strike a key together */
#define KEY_NAME      64      /* bytes of a key's name at most, for the size of a partition's header */

#define DAYS_OF_WEEK 7
/* Expected numbers of partitions over the length of the run up to this mean "never". */
#define NEVER 1e-6

/* A distribution of the bytes of a row on disk: atoms in ascending order, each rounded up to the largest size
 * that it stands for, so that tails are upper bounds; `least` is rounded down to the smallest. */
struct sizes {
    size_t count;
    double bytes[ATOMS_MAX], weight[ATOMS_MAX], above[ATOMS_MAX]; /* above: the chance of a larger size */
    double least[ATOMS_MAX];
    double mean;
};

struct task {
    const struct lab_scenario *scenario;
    const struct lab_settings *settings;
    double rows, keys, factor;
    double enough;                  /* a sum whose lower bound is above this is not completed */
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
static void make_sizes(const struct lab_scenario *scenario, uint32_t longest, uint32_t shortest,
                       struct sizes *out)
{
    enum { BULK = 200, TAIL = 12, DECADES = 23 };
    const struct sim_size *size = &scenario->workload.row_bytes;
    double before = 1;
    *out = (struct sizes){.count = 0};
    for (size_t i = 0; i < BULK + TAIL * DECADES; i++) {
        const double rest =
            i < BULK ? 1 - 0.99 * (double)(i + 1) / BULK : 0.01 * pow(10, -(double)(i + 1 - BULK) / TAIL);
        const double payload = fmin(ceil(quantile(size, 1 - rest, rest)), 0x1p40),
                     least = fmin(floor(quantile(size, 1 - before, before)), 0x1p40);
        out->bytes[i] = (double)lab_row_bytes(&scenario->row_cost, (uint64_t)fmax(payload, 1), longest);
        out->least[i] = (double)lab_row_bytes(&scenario->row_cost, (uint64_t)fmax(least, 1), shortest);
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

/* A lower bound of it: Cantelli's inequality for sizes that are rounded down, and cut where it says most. */
static double bytes_tail_least(const struct sizes *sizes, const struct number *number, double room)
{
    const double rows = number->mean,
                 variance = number->kind == FIXED ? 0 : rows * (1 - number->p) / number->p;
    double sum = 0, squares = 0, best = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        const double least = sizes->least[i];
        sum += sizes->weight[i] * least;
        squares += sizes->weight[i] * least * least;
        const double mean = sum + sizes->above[i] * least, square = squares + sizes->above[i] * least * least,
                     over = rows * mean - room;
        if (over > 0)
            best =
                fmax(best, over * over /
                               (over * over + rows * fmax(0, square - mean * mean) + variance * mean * mean));
    }
    return best;
}

/* --- the tail of one partition */

static double ladder_mean(const struct task *task, size_t i)
{
    return task->room / task->sizes.mean * (0.02 + 0.98 * (double)(i + 1) / LADDER);
}

/* Upper bounds of the chance of a Poisson number of rows to exceed a limit. */
static double tail_most(struct task *task, double mean)
{
    double tail = tune_poisson_above(mean, task->limit_most);
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

/* The end of the window that holds a time; the run's end for kinds without windows. */
static int64_t window_end(const struct task *task, int64_t time_ns)
{
    const struct bk_row row = {.time_ns = time_ns};
    struct bk_placement route;
    if (task->settings->strategy.kind != BK_KIND_TIME ||
        bk_route(&task->settings->strategy, NULL, &row, &route) != BK_OK)
        return INT64_MAX;
    return route.until_ns;
}

/* The integrals of a key's rate over the windows of the run. Returns their number; they are in *out, which
 * grows. SIZE_MAX: out of memory or too many. */
static size_t integrate(struct task *task, uint64_t key_index, double **out, size_t *capacity)
{
    size_t count = 0;
    double sum = 0;
    int64_t at_ns = task->scenario->workload.start_ns, until_ns = window_end(task, at_ns);
    struct wl_key key;
    struct wl_stretch stretch;
    wl_key_init(&key, &task->scenario->workload, key_index);
    while (wl_key_stretch(&key, &stretch)) {
        while (at_ns < stretch.end_ns) {
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
    if (strategy->kind == BK_KIND_TIME)
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

/* The number of keys, from the busiest on, of which some window might have more than a negligible tail. */
static uint64_t reach_of(struct task *task, double bound, double parts)
{
    const struct wl_workload *workload = &task->scenario->workload;
    const double windows = fmax(1, 1e-9 * (double)workload->duration_ns);
    uint64_t low = 0, high = workload->key_count;
    while (low < high) { /* shares never ascend */
        const uint64_t key = low + (high - low) / 2;
        const double share = sim_zipf_share(&workload->popularity, key),
                     keys_left = (double)(workload->key_count - key);
        if (tail_most(task, bound * share) * keys_left * windows * parts < NEGLIGIBLE)
            high = key;
        else
            low = key + 1;
    }
    return low;
}

/* Sums tails over all keys and windows, unless the upper bound reaches `most`. `parts`: the buckets into
 * which each is divided. False: the sum was not completed, so that only out->least is valid: enough is known,
 * it would take too long, or out of memory. */
static bool sum_keys(struct task *task, double parts, double most, struct sum *out)
{
    const struct wl_workload *workload = &task->scenario->workload;
    struct {
        uint64_t shape;
        double *means, most, share;
        size_t count, capacity;
    } known[SHAPES_MAX] = {{0}};
    const double bound = most_per_rate(task) * workload->rate_per_s / parts;
    const bool is_alike = !workload->has_bursts && workload->spike_count <= 64;
    const uint64_t reach = reach_of(task, bound, parts);
    size_t known_count = 0;
    bool is_fine = true;
    for (uint64_t key = 0; is_fine && key < reach; key++) {
        const double share = sim_zipf_share(&workload->popularity, key);
        const double keys_left = (double)(workload->key_count - key);
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
            known[at].most = 0;
            for (size_t i = 0; is_fine && i < known[at].count; i++)
                known[at].most = fmax(known[at].most, known[at].means[i]);
            known_count = is_alike && at == known_count ? known_count + 1 : known_count;
        }
        if (!is_fine)
            break;
        const double scale = share / known[at].share / parts;
        const double highest = tail_most(task, known[at].most * scale);
        if (highest * parts * (double)known[at].count * keys_left < NEGLIGIBLE) {
            if (is_alike && workload->spike_count == 0)
                break;
            continue;
        }
        for (size_t i = 0; i < known[at].count; i++, task->work++) {
            const double mean = known[at].means[i] * scale;
            out->most += parts * tail_most(task, mean);
            out->least += parts * tune_poisson_above(mean, task->limit_least);
        }
        /* Each key that bursts takes as long as those before it. */
        is_fine =
            task->work <= STRETCHES_MAX && out->most < most && out->least <= task->enough &&
            (is_alike || key < KEYS_TRIED || task->work / (double)(key + 1) * (double)reach <= STRETCHES_MAX);
    }
    for (size_t i = 0; i < SHAPES_MAX; i++)
        free(known[i].means);
    return is_fine;
}

/* --- kinds that count rows */

/* Whether the sizes of rows are those of a trace. */
static bool has_own_sizes(const struct lab_scenario *scenario)
{
    return scenario->trace_path != NULL && !scenario->has_row_bytes;
}

/* A partition has a distribution of its own, and ends by it: tails of a full partition, and the mean of its
 * rows. */
static bool full_partition(struct task *task, double *mean, struct sum *tail)
{
    const struct bk_strategy *strategy = &task->settings->strategy;
    const enum bk_source source = task->settings->source;
    struct number number = {FIXED, 0, 1};
    const uint64_t most = (uint64_t)fmin(task->limit_most, 1e18),
                   least = (uint64_t)fmin(task->limit_least, 1e18);
    if (strategy->kind == BK_KIND_COUNT) {
        if (source != BK_SOURCE_EXTERNAL && source != BK_SOURCE_COUNTER && source != BK_SOURCE_LWT &&
            source != BK_SOURCE_LEASE)
            return false;
        number.mean = (double)strategy->of.count.rows;
        *tail = (struct sum){number.mean > task->limit_most, number.mean > task->limit_least};
    } else if (strategy->kind == BK_KIND_PROBABILISTIC ||
               (strategy->kind == BK_KIND_WEIGHTED && !has_own_sizes(task->scenario) &&
                task->scenario->workload.row_bytes.kind == SIM_SIZE_CONSTANT)) {
        const uint64_t each = (uint64_t)fmax(1, task->scenario->workload.row_bytes.a);
        const struct tune_distribution distribution = tune_distribution_of(strategy, each);
        number = (struct number){NEGATIVE, tune_mean_rows(&distribution), distribution.p};
        *tail = (struct sum){tune_above(&distribution, most), tune_above(&distribution, least)};
    } else {
        return false;
    }
    *mean = number.mean;
    if (task->has_sizes) {
        tail->most = fmin(1, tail->most + bytes_tail(&task->sizes, &number, task->room));
        tail->least = fmax(tail->least, bytes_tail_least(&task->sizes, &number,
                                                         (double)task->scenario->limits.partition_bytes));
    }
    /* A tail that a double cannot hold is not 0. */
    if (strategy->kind != BK_KIND_COUNT || task->has_sizes)
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
    if (strategy->kind == BK_KIND_COUNT || task->has_sizes || mean > task->limit_most + 1)
        count += task->keys;
    if (strategy->max_age_ns == 0)
        return count;
    if (task->scenario->trace_path != NULL)
        return task->rows;
    const double ages = (double)task->scenario->workload.duration_ns / (double)strategy->max_age_ns + 1;
    return fmin(task->rows, count + task->keys * ages);
}

/* --- all of it */

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
    make_sizes(scenario, longest, shortest, &task->sizes);
    return true;
}

bool tune_is_odd_table(const struct lab_scenario *scenario)
{
    return !lab_design_is_plain(&scenario->design) || lab_design_clusters_by(&scenario->design, LAB_FEED_KEY);
}

/* Whether distributions say anything of this setting. */
static bool is_known(const struct lab_scenario *scenario, const struct lab_settings *settings)
{
    const enum bk_kind kind = settings->strategy.kind;
    const bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    const bool ends = kind == BK_KIND_COUNT || kind == BK_KIND_PROBABILISTIC || kind == BK_KIND_WEIGHTED;
    if (tune_is_odd_table(scenario) || settings->change_count > 0 || settings->is_idgen ||
        scenario->deletes.share > 0 || settings->observed != WL_OBSERVED_AUTO)
        return false;
    if (is_cluster)
        return kind == BK_KIND_COUNT && settings->source == BK_SOURCE_EXTERNAL;
    return ends || (scenario->trace_path == NULL && !wl_has_own_times(&scenario->workload) &&
                    scenario->workload.backfill_before_ns == 0);
}

void tune_expected_of(const struct tune_prospect *prospect, const struct lab_settings *settings,
                      struct lab_facts *out)
{
    const struct lab_scenario *scenario = prospect->scenario;
    const double rows = prospect->rows, keys = prospect->keys;
    struct task task = {.scenario = scenario,
                        .settings = settings,
                        .rows = rows,
                        .keys = keys,
                        .factor = prospect->factor,
                        .enough = prospect->is_verdict
                                      ? fmax(TUNE_EXPECTED_ENOUGH, scenario->limits.over_limit_share * rows)
                                      : (double)INFINITY};
    const struct bk_strategy *strategy = &settings->strategy;
    struct sum all = {0, 0}, tail = {0, 0}, of_keys = {0, 0};
    double mean = 0;
    out->has_distribution = false;
    out->expected_most = (double)INFINITY;
    out->expected_least = out->expected_full = 0;
    out->expected_share = (double)NAN;
    if (!is_known(scenario, settings))
        return;
    const bool has_limits = set_limits(&task);
    const bool is_plain = scenario->trace_path == NULL && scenario->engine != LAB_ENGINE_CLUSTER &&
                          scenario->workload.backfill_before_ns == 0;
    if (full_partition(&task, &mean, &tail)) {
        if (strategy->max_age_ns == 0 && scenario->row_ttl_ns == 0)
            out->expected_full = tail.least;
        if (!has_limits)
            return;
        /* By Wald's identity at least (n - limit) / mean partitions of a key with n rows begin early enough
         * to exceed a limit. */
        const double early = fmax(0, rows - keys * fmax(task.limit_least, mean)) / mean;
        all =
            (struct sum){tail.most * begun(&task, mean), strategy->max_age_ns == 0 ? tail.least * early : 0};
        out->expected_share = tail.most;
        /* No partition exceeds a limit unless its key does; keys that rarely do have one such partition. */
        if (all.most > 0 && is_plain && sum_keys(&task, 1, RARE, &of_keys))
            all.most = fmax(DBL_MIN, fmin(all.most, 2 * of_keys.most));
    } else if (!has_limits || (strategy->kind != BK_KIND_TIME && lab_kind_ends(strategy->kind))) {
        return;
    } else {
        const double parts = strategy->kind == BK_KIND_HASH ? (double)strategy->of.hash.buckets : 1;
        all.most =
            sum_keys(&task, parts, (double)INFINITY, &all) ? fmax(all.most, DBL_MIN) : (double)INFINITY;
    }
    out->has_distribution = true;
    out->expected_most = all.most;
    out->expected_least = scenario->row_ttl_ns > 0 ? 0 : fmin(all.least, all.most);
}

double tune_rounded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    return strtod(text, NULL);
}

/* Adds the metrics expected.* to each strategy of a run. */
static bool add_expected(const struct lab_scenario *scenario, struct lab_result *result,
                         struct sim_error *error)
{
    const struct lab_limits *limits = &scenario->limits;
    struct tune_prospect prospect = {
        .scenario = scenario,
        .rows = (double)result->rows,
        .keys = (double)result->keys,
        .factor = 1,
        .seconds = (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns) / (double)SIM_SECOND};
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < result->strategy_count; i++) {
        struct lab_strategy_result *strategy = &result->strategies[i];
        const struct lab_metric *total = lab_metrics_find(&strategy->metrics, "partitions.total");
        const struct lab_metric *busiest = lab_metrics_find(&strategy->metrics, "keys.rows.max");
        struct lab_facts facts;
        prospect.busiest = busiest == NULL ? 0 : busiest->value;
        if (!tune_rates_add(&prospect, strategy))
            return sim_fail_memory(error);
        if (!lab_limits_sizes(limits) || total == NULL)
            continue;
        tune_expected_of(&prospect, &strategy->settings, &facts);
        if (facts.expected_full > 0)
            is_fine =
                lab_metrics_add(&strategy->metrics, "expected.full_share", tune_rounded(facts.expected_full));
        if (!facts.has_distribution || !isfinite(facts.expected_most))
            continue;
        if (isnan(facts.expected_share) && total->value > 0)
            facts.expected_share = fmax(DBL_MIN, fmin(1, facts.expected_most / total->value));
        is_fine =
            is_fine &&
            lab_metrics_add(&strategy->metrics, "expected.over_limit", tune_rounded(facts.expected_most)) &&
            lab_metrics_add(&strategy->metrics, "expected.over_limit_least",
                            tune_rounded(facts.expected_least)) &&
            (isnan(facts.expected_share) ||
             lab_metrics_add(&strategy->metrics, "expected.share", tune_rounded(facts.expected_share)));
    }
    return is_fine || sim_fail_memory(error);
}

/* --- the growth of a trace */

struct tune_growth tune_growth_of(const uint64_t *weeks, uint64_t count, double confidence)
{
    struct tune_growth growth = {.weeks = count};
    struct tune_sample ratios = {.count = 0};
    uint64_t half = count / 2;
    if (count < TUNE_GROWTH_WEEKS)
        return growth;
    for (uint64_t i = count - 2 * half; i < count - half; i++)
        tune_sample_add(&ratios, log(((double)weeks[i + half] + 0.5) / ((double)weeks[i] + 0.5)));
    if (tune_sample_mean_interval(&ratios, confidence).low > 0)
        growth.per_day = ratios.mean / (double)(DAYS_OF_WEEK * half);
    return growth;
}

bool tune_growth_read(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                      double confidence, struct tune_growth *out, struct sim_error *error)
{
    struct wl_trace *trace = NULL;
    struct wl_trace_batch batch;
    uint64_t count = ((uint64_t)end_ns - (uint64_t)start_ns) / (uint64_t)SIM_WEEK;
    *out = (struct tune_growth){.weeks = count};
    if (count < TUNE_GROWTH_WEEKS)
        return true;
    uint64_t *weeks = calloc(count, sizeof *weeks);
    bool is_fine = weeks != NULL || sim_fail_memory(error);
    is_fine = is_fine && wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &trace, error);
    for (bool more = is_fine; more;) {
        is_fine = wl_trace_next(trace, &batch, &more, error);
        more = more && is_fine;
        if (more)
            wl_trace_slot_rows(&batch, end_ns - (int64_t)count * SIM_WEEK, SIM_WEEK, weeks, count);
    }
    if (is_fine)
        *out = tune_growth_of(weeks, count, confidence);
    wl_trace_close(trace);
    free(weeks);
    return is_fine;
}

bool tune_growth_of_run(const struct lab_scenario *scenario, const struct lab_result *result,
                        double confidence, struct tune_growth *out, struct sim_error *error)
{
    if (result->week_count == 0)
        return tune_growth_read(scenario, result->start_ns, result->end_ns, confidence, out, error);
    *out = tune_growth_of(result->weeks, result->week_count, confidence);
    return true;
}

double tune_growth_doubles(const struct tune_growth *growth)
{
    return growth->per_day > 0 ? log(2) / growth->per_day : (double)INFINITY;
}

double tune_growth_rows_at(const struct tune_growth *growth, double days, double times)
{
    if (growth->per_day == 0)
        return days * times;
    return log1p(times * expm1(growth->per_day * days)) / growth->per_day;
}

double tune_growth_rate_at(const struct tune_growth *growth, double days, double times)
{
    double grown = growth->per_day * days;
    if (grown == 0)
        return times >= 1 ? (double)INFINITY : 0;
    return log(times * expm1(grown) / grown) / growth->per_day;
}

/* --- the horizon */

/* Returns the ratio of the nearest limit to these rows and bytes; infinity without limits. */
static double room_above(const struct lab_limits *limits, uint64_t rows, uint64_t bytes)
{
    double least = (double)INFINITY;
    if (limits->partition_rows != 0 && rows > 0)
        least = fmin(least, (double)limits->partition_rows / (double)rows);
    if (limits->partition_bytes != 0 && bytes > 0)
        least = fmin(least, (double)limits->partition_bytes / (double)bytes);
    return least;
}

/* Partitions that are expected to have equally many rows: `seen` in the run, and `pace` more for each time
 * its length that the stream continues, apart from the daily curve. */
struct crowd {
    double seen, pace, count;
};

struct passage {
    struct crowd *crowds; /* most rows first */
    size_t count, capacity;
    double rows, sized_rows; /* that a partition may have; by its bytes, if their sizes are drawn */
    double sizes, bursts;    /* relative variance of a row's bytes; of a key's rows in one time the run */
    const struct wl_workload *workload;
    double parts; /* of a key */
    size_t drawn; /* keys whose bursts in the run are known */
};

/* Returns false if sizes have no variance, or no mean. */
static bool passage_limits(const struct lab_scenario *scenario, struct passage *out)
{
    const struct lab_limits *limits = &scenario->limits;
    const struct wl_workload *workload = &scenario->workload;
    const struct sim_size *size = &workload->row_bytes;
    const double mean = sim_size_mean(size), a = size->a, b = size->b;
    struct lab_row_stamps stamps;
    char name[WL_KEY_NAME_SIZE];
    out->rows = limits->partition_rows != 0 ? (double)limits->partition_rows : (double)INFINITY;
    out->sized_rows = (double)INFINITY;
    if (limits->partition_bytes == 0)
        return true;
    if (!(mean < 0x1p40) || (size->kind == SIM_SIZE_PARETO && !(b > 2)))
        return false;
    lab_row_stamps_init(&stamps, &scenario->row_cost, workload->start_ns);
    const uint64_t payload = sim_size_whole(mean),
                   each = lab_row_bytes(&scenario->row_cost, payload,
                                        lab_row_stamp(&stamps, workload->start_ns + workload->duration_ns));
    const uint64_t header =
        lab_partition_bytes(&scenario->row_cost, wl_key_name(0, name), 1, each > 0 ? each : 1);
    const double disk = fmax(1, (double)each + mean - (double)payload),
                 rows = floor(fmax(0, (double)limits->partition_bytes - (double)header) / disk);
    const double variances[] = {[SIM_SIZE_CONSTANT] = 0,
                                [SIM_SIZE_UNIFORM] = (b - a) * (b - a) / 12,
                                [SIM_SIZE_LOGNORMAL] = mean * mean * expm1(b * b),
                                [SIM_SIZE_PARETO] = mean * mean / (b * (b - 2))};
    out->sizes = variances[size->kind] / (disk * disk);
    if (size->kind == SIM_SIZE_CONSTANT)
        out->rows = fmin(out->rows, rows);
    else
        out->sized_rows = rows;
    return true;
}

static int compare_crowds(const void *left, const void *right)
{
    const double one = ((const struct crowd *)left)->pace, other = ((const struct crowd *)right)->pace;
    return (one < other) - (one > other);
}

/* The integral of a key's rate over the run; adds the stretches to *work. */
static double rows_of_key(const struct wl_workload *workload, uint64_t index, double *work)
{
    struct wl_key key;
    struct wl_stretch stretch;
    int64_t at_ns = workload->start_ns;
    double sum = 0;
    wl_key_init(&key, workload, index);
    for (; wl_key_stretch(&key, &stretch); at_ns = stretch.end_ns, ++*work)
        sum += (double)(stretch.end_ns - at_ns) * stretch.rate_per_ns;
    return sum;
}

/* Collects the partitions. Where neither bursts nor spikes tell neighbours apart, keys of nearly the same
 * popularity count as alike. Bursts of the busiest keys are drawn as far as the
 * run goes; later, and of other keys, they have their mean. Spikes recur. False: it would take too long, or
 * out of memory. */
static bool gather(const struct wl_workload *workload, struct passage *out)
{
    struct wl_workload steady = *workload, level = *workload;
    struct {
        uint64_t shape;
        double seen, pace; /* per share of the rate */
    } known[SHAPES_MAX];
    double work = 0, ignored = 0;
    size_t known_count = 0, at = 0;
    bool is_fine = workload->spike_count <= SHAPES_MAX;
    steady.has_bursts = level.has_bursts = level.has_daily = false;
    for (uint64_t key = 0, step; is_fine && key < workload->key_count; key += step) {
        const uint64_t left = workload->key_count - key, shape = shape_of(workload, key);
        step = workload->has_bursts || workload->spike_count > 0 || key < 256 ? 1 : key / 128;
        step = step < left ? step : left;
        const double share = sim_zipf_share(&workload->popularity, key + step / 2) / out->parts;
        for (at = 0; at < known_count && known[at].shape != shape;)
            at++;
        is_fine = at < SHAPES_MAX && out->count < STRETCHES_MAX &&
                  sim_grow(&out->crowds, &out->capacity, out->count + 1, sizeof *out->crowds);
        if (!is_fine)
            break;
        if (at == known_count) {
            const double own = sim_zipf_share(&workload->popularity, key);
            known[known_count].shape = shape;
            known[known_count].seen = rows_of_key(&steady, key, &ignored) / own;
            known[known_count++].pace = rows_of_key(&level, key, &ignored) / own;
        }
        struct crowd *crowd = &out->crowds[out->count++];
        *crowd = (struct crowd){known[at].seen * share, known[at].pace * share, out->parts * (double)step};
        if (!workload->has_bursts || work > BURSTS_DRAWN)
            continue;
        crowd->seen = rows_of_key(workload, key, &work) / out->parts;
        out->drawn++;
    }
    if (!is_fine || out->count == 0)
        return false;
    qsort(out->crowds, out->count, sizeof *out->crowds, compare_crowds);
    at = 0;
    for (size_t i = 1; i < out->count; i++) {
        const struct crowd *next = &out->crowds[i];
        if (next->pace == out->crowds[at].pace && next->seen == out->crowds[at].seen)
            out->crowds[at].count += next->count;
        else
            out->crowds[++at] = *next;
    }
    out->count = at + 1;
    return true;
}

/* P(N > rows) for this mean, Poisson unless the variance is larger. */
static double above(double rows, double mean, double variance)
{
    return variance > mean ? gsl_cdf_ugaussian_Q((floor(rows) + 0.5 - mean) / sqrt(variance))
                           : tune_poisson_above(mean, rows);
}

static double partition_tail(const struct passage *passage, double mean, double drawn)
{
    return fmax(above(passage->rows, mean, mean + drawn),
                above(passage->sized_rows, mean, mean * (1 + passage->sizes) + drawn));
}

/* The chance that no part of a key is over a limit: all have the bursts of the key. */
static double key_kept(const struct passage *passage, double mean, double deviation)
{
    double kept = 0, all = 0;
    for (int i = -40; i <= 40; i++) {
        const double weight = exp(-i * i / 200.0),
                     tail = partition_tail(passage, mean + i / 10.0 * deviation, 0);
        kept += weight * exp(passage->parts * log1p(-fmin(tail, 1)));
        all += weight;
    }
    return kept / all;
}

/* The integral of what the daily curve adds, up to this multiple of the run. */
static double daily_part(const struct wl_workload *workload, double times)
{
    const double turn = 2 * M_PI / (double)SIM_DAY,
                 after_peak_ns = (double)((workload->start_ns - workload->daily_peak_ns) % SIM_DAY);
    if (!workload->has_daily)
        return 0;
    return workload->daily_amplitude / (turn * (double)workload->duration_ns) *
           sin(turn * fmod(after_peak_ns + times * (double)workload->duration_ns, (double)SIM_DAY));
}

/* The logarithm of the chance that no partition is over a limit when the stream has lasted `times` as long as
 * the run, with its sign changed. A value above `most` need not be exact. */
static double hazard(const struct passage *passage, double times, double most)
{
    const double more = fmax(0, times - 1), rows = times > 1 ? more + daily_part(passage->workload, times) -
                                                                   daily_part(passage->workload, 1)
                                                             : 0;
    double sum = 0, left = 0;
    for (size_t i = 0; i < passage->count; i++)
        left += passage->crowds[i].count;
    for (size_t i = 0; i < passage->count && sum <= most; i++) {
        const struct crowd *crowd = &passage->crowds[i];
        const double mean = crowd->seen * fmin(1, times) + crowd->pace * rows;
        const double drawn = passage->bursts * crowd->pace * crowd->pace * more;
        /* A key's parts are Poisson, given its bursts. */
        const bool is_divided = passage->bursts > 0 && passage->parts > 1;
        const double tail = is_divided ? partition_tail(passage, mean + 4 * sqrt(drawn), 0)
                                       : partition_tail(passage, mean, drawn);
        if (i >= passage->drawn && tail * left < 1e-9)
            break;
        if (!is_divided)
            sum -= crowd->count * log1p(-fmin(tail, 1));
        else if (tail > 1e-12)
            sum -= crowd->count / passage->parts * log(key_kept(passage, mean, sqrt(drawn)));
        left -= crowd->count;
    }
    return sum;
}

/* The median of the time at which the first of the partitions that never close exceeds a limit, in times the
 * length of the run. If none did within the run, on that condition. NaN: not known. */
static double passage_median(const struct lab_scenario *scenario, const struct lab_settings *settings,
                             bool is_after)
{
    const struct wl_workload *workload = &scenario->workload;
    const double parts =
        settings->strategy.kind == BK_KIND_HASH ? fmax(1, (double)settings->strategy.of.hash.buckets) : 1;
    struct passage passage = {.workload = workload, .parts = parts};
    double low = is_after ? 1 : 0, high = 1, target = (double)NAN;
    if (!is_known(scenario, settings) || !passage_limits(scenario, &passage))
        return (double)NAN;
    if (workload->has_bursts) {
        const double on = (double)workload->burst_on_ns, off = (double)workload->burst_off_ns,
                     share = on / (on + off), more = workload->burst_factor - 1;
        passage.bursts = 2 * more * more * share * (1 - share) * (on * off / (on + off)) /
                         ((1 + share * more) * (1 + share * more)) / (double)workload->duration_ns;
    }
    if (gather(workload, &passage))
        target = M_LN2 + (is_after ? hazard(&passage, 1, (double)INFINITY) : 0);
    while (isfinite(target) && high < 1e9 && hazard(&passage, high, target) < target) {
        low = high;
        high *= 2;
    }
    for (int i = 0; isfinite(target) && i < 30; i++) {
        const double middle = (low + high) / 2;
        *(hazard(&passage, middle, target) < target ? &low : &high) = middle;
    }
    free(passage.crowds);
    return isfinite(target) ? tune_rounded(high) : isinf(target) ? 1 : (double)NAN;
}

/* For how many days a partition gets more rows before the first ones leave the disk; infinity: as long as
 * it gets rows. */
static double grows_for(const struct lab_scenario *scenario)
{
    return scenario->row_ttl_ns > 0
               ? ((double)scenario->row_ttl_ns + (double)LAB_GC_GRACE_NS) / (double)SIM_DAY
               : (double)INFINITY;
}

/* When the first partition without end exceeds a limit: by the distribution, or, where that is not known, as
 * the largest one grows, which has this many rows and bytes after the run. NaN: rows leave the disk before,
 * so it may never. */
static double endless_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                           uint64_t rows, uint64_t bytes)
{
    const double room = room_above(&outlook->scenario->limits, rows, bytes);
    const double median = passage_median(outlook->scenario, settings, rows > 0 && room >= 1);
    const double days =
        isnan(median) ? tune_growth_rows_at(&outlook->growth, outlook->days, room) : outlook->days * median;
    return days > grows_for(outlook->scenario) ? (double)NAN : days;
}

double tune_unbucketed_days(const struct tune_outlook *outlook)
{
    const struct lab_settings unbucketed = {.strategy = {.kind = BK_KIND_UNBUCKETED}};
    return endless_days(outlook, &unbucketed, outlook->busiest_rows, outlook->busiest_bytes);
}

double tune_first_over_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                            const struct lab_facts *facts, double seen_days, uint64_t rows_most,
                            uint64_t bytes_most)
{
    const struct lab_scenario *scenario = outlook->scenario;
    const struct tune_growth *growth = &outlook->growth;
    const enum bk_kind kind = settings->strategy.kind;
    const int64_t start_ns = scenario->workload.start_ns, end_ns = start_ns + scenario->workload.duration_ns;
    const double days = outlook->days;
    if (!isnan(seen_days))
        return seen_days;
    if (!lab_kind_ends(kind)) {
        const double first = endless_days(outlook, settings, rows_most, bytes_most);
        if (!isnan(first) || grows_for(scenario) > days)
            return first;
    }
    if (scenario->trace_path != NULL && kind == BK_KIND_TIME)
        return growth->per_day > 0
                   ? fmax(days, tune_growth_rate_at(growth, days,
                                                    room_above(&scenario->limits, rows_most, bytes_most)))
                   : (double)NAN;
    /* A full partition exceeds a limit, so the first is that of the key that first has enough rows. */
    if (facts->expected_full >= 0.5 && !(facts->expected_least > 0))
        return outlook->unbucketed_days;
    if (!facts->has_distribution ||
        (kind == BK_KIND_TIME && lab_partitions_grow(scenario, settings, start_ns, end_ns)))
        return (double)NAN;
    /* Keys that have too few rows in the run may have a full partition later. */
    const double of_full =
        isnan(facts->expected_share) ? 0 : facts->expected_share * (double)facts->partitions;
    if (fmax(facts->expected_most, of_full) <= NEVER)
        return (double)INFINITY;
    double expected = (facts->expected_least + facts->expected_most) / 2;
    if (isinf(expected)) /* more than this many */
        expected = facts->expected_least > TUNE_EXPECTED_ENOUGH ? facts->expected_least : (double)NAN;
    if (!(facts->expected_least > 0) || isnan(expected))
        return (double)NAN;
    /* No partition has more rows than its key so far. */
    return fmax(tune_growth_rows_at(growth, days, 1 / expected), outlook->unbucketed_days);
}

static double figure(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? (double)NAN : metric->value;
}

static uint64_t whole(const struct lab_strategy_result *strategy, const char *name)
{
    const double value = figure(strategy, name);
    return isnan(value) ? 0 : (uint64_t)value;
}

static bool add(struct lab_strategy_result *strategy, const char *name, double days)
{
    return isnan(days) || lab_metrics_add(&strategy->metrics, name, fmin(days, LAB_DAYS_MOST));
}

static bool add_all(struct tune_outlook *outlook, const struct lab_result *result,
                    struct lab_strategy_result *strategy)
{
    /* Of the rows that this strategy stored. */
    outlook->busiest_rows = whole(strategy, "keys.rows.max");
    outlook->busiest_bytes = whole(strategy, "keys.bytes.max");
    outlook->unbucketed_days = tune_unbucketed_days(outlook);
    const struct lab_facts facts = lab_facts_of(result, strategy);
    const double days = tune_first_over_days(
        outlook, &strategy->settings, &facts, figure(strategy, "partitions.first_over_days"),
        whole(strategy, "partitions.all.rows.max"), whole(strategy, "partitions.all.bytes.max"));
    return add(strategy, "horizon.days", days) &&
           add(strategy, "horizon.unbucketed_days", outlook->unbucketed_days) &&
           (outlook->growth.per_day == 0 ||
            add(strategy, "horizon.doubles_days", tune_growth_doubles(&outlook->growth)));
}

bool tune_horizons_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error)
{
    const struct lab_limits *limits = &scenario->limits;
    struct tune_outlook outlook = {
        .scenario = scenario, .days = fmax(1, (double)(result->end_ns - result->start_ns)) / (double)SIM_DAY};
    if (!add_expected(scenario, result, error))
        return false;
    if ((limits->partition_rows == 0 && limits->partition_bytes == 0) || tune_is_odd_table(scenario) ||
        result->strategy_count == 0 || isnan(figure(&result->strategies[0], "keys.rows.max")))
        return true;
    if (scenario->trace_path != NULL &&
        !tune_growth_of_run(scenario, result, scenario->tune.confidence, &outlook.growth, error))
        return false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_strategy_result *strategy = &result->strategies[i];
        if (strategy->settings.observed == WL_OBSERVED_AUTO && !add_all(&outlook, result, strategy))
            return sim_fail_memory(error);
    }
    return true;
}
