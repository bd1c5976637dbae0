/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expected number of partitions above a limit, and when the first one exceeds it. In: a scenario and a
 * setting. Out: numbers for the judge, and a median. The limits are converted to rows, or, where sizes are
 * drawn, the tail of a sum of bytes is taken at its saddle point (Lugannani and Rice 1980, in the form of
 * Barndorff-Nielsen). Tails are summed up over the partitions that the stream makes: windows are walked key
 * by key, from the integral of the key's rate; partitions without end and those that count rows are crowds of
 * keys with the same rate, of which the first passage is followed in time. */
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
#define RUNGS         48      /* Poisson means for which the tail of a sum of bytes is computed */
#define RUNG_FIRST    38      /* standard deviations below the limit, of the first of them */
#define NEGLIGIBLE    1e-15   /* a tail that is not computed more closely */
#define STRETCHES_MAX 4000000 /* rates of single keys that are examined */
#define KEYS_TRIED    16      /* before it is concluded that the sum would take too long */
#define BURSTS_DRAWN  1000000 /* the same, for the first partition over a limit */
#define SHAPES_MAX    64      /* sets of spikes that strike a key together */
#define GENERATIONS   30      /* partitions of a key that are followed one by one */
#define BURST_DAYS    7300    /* of one key's bursts, for windows after the run: */
#define WINDOWS_SHOWN 10000   /* and how many at most */
#define LOOKS         16      /* at what is on disk, in the time that a row is */
#define DOMINANT      6       /* of the exponent of the largest size at a saddle point */

#define DAYS_OF_WEEK 7

/* A distribution of the bytes of a row on disk, as atoms in ascending order. */
struct sizes {
    size_t count;
    double bytes[ATOMS_MAX], weight[ATOMS_MAX], above[ATOMS_MAX]; /* above: the chance of a larger size */
    double chance[ATOMS_MAX]; /* that such a row increments, for kinds that count increments */
    double mean, mean_chance;
};

/* The rows of a partition: a number, Poisson of a mean, or up to the increment that reaches a threshold. */
struct number {
    enum { FIXED, POISSON, THRESHOLD } kind;
    double n;
};

/* What is known of a setting's partitions. */
struct model {
    const struct lab_scenario *scenario;
    const struct lab_settings *settings;
    double factor; /* of the rate */
    double rows;   /* that a partition may have, by the limits in rows and of one size */
    double room,
        sized_rows;     /* of drawn sizes: bytes that its rows may have, and about how many rows these are */
    struct sizes sizes; /* of drawn sizes */
    double relative, squares; /* their variance by the square of the mean; the second moment below `room` */
    double single;            /* the chance that one row has more than `room` */
    double rungs[RUNGS];      /* standard normal quantiles of tails; NaN: not computed yet */
    bool is_counted;          /* a partition ends by counting rows: */
    double mean, variance;    /* of the rows of a full one */
    double mean_within;       /* of those that are within the limits */
    double tail;              /* the chance that a full one exceeds a limit */
    double work;              /* stretches and windows examined so far */
};

/* --- sizes */

/* The size that a share 1 - rest of the sizes does not exceed. */
static double quantile(const struct sim_size *size, double rest)
{
    switch (size->kind) {
    case SIM_SIZE_CONSTANT:
        return size->a;
    case SIM_SIZE_UNIFORM:
        return size->a + (1 - rest) * (size->b - size->a);
    case SIM_SIZE_LOGNORMAL:
        return exp(size->log_mean + size->b * gsl_cdf_ugaussian_Qinv(rest));
    case SIM_SIZE_PARETO:
        return size->a * pow(rest, -1 / size->b);
    }
    return (double)NAN;
}

/* Atoms of equal weight up to the 99 % quantile, then 12 for each factor of ten down to 1e-25; scaled to the
 * mean that the sizes have. */
static void make_sizes(struct model *model, uint32_t stamp)
{
    enum { BULK = 200, TAIL = 12, DECADES = 23 };
    const struct sim_size *size = &model->scenario->workload.row_bytes;
    const struct bk_strategy *strategy = &model->settings->strategy;
    struct sizes *out = &model->sizes;
    double before = 1, sum = 0;
    out->count = BULK + TAIL * DECADES;
    for (size_t i = 0; i < out->count; i++) {
        const double rest =
            i < BULK ? 1 - 0.99 * (double)(i + 1) / BULK : 0.01 * pow(10, -(double)(i + 1 - BULK) / TAIL);
        out->bytes[i] = fmin(quantile(size, i < BULK ? (before + rest) / 2 : sqrt(before * rest)), 0x1p40);
        out->weight[i] = before - rest;
        out->above[i] = before = rest;
        sum += out->weight[i] * out->bytes[i];
    }
    const double scale = fmax(0.9, fmin(1.1, sim_size_mean(size) / sum));
    double squares = 0;
    for (size_t i = 0; i < out->count; i++) {
        const double payload = fmax(1, scale * out->bytes[i]), whole = floor(payload + 0.5);
        if (strategy->kind == BK_KIND_WEIGHTED)
            out->chance[i] = fmin(1, payload / (double)strategy->of.weighted.bytes);
        else if (strategy->kind == BK_KIND_PROBABILISTIC)
            out->chance[i] = tune_distribution_of(strategy, 1).p;
        out->bytes[i] =
            (double)lab_row_bytes(&model->scenario->row_cost, (uint64_t)whole, stamp) + payload - whole;
        out->mean += out->weight[i] * out->bytes[i];
        out->mean_chance += out->weight[i] * out->chance[i];
        squares += out->weight[i] * out->bytes[i] * out->bytes[i];
        model->squares = out->bytes[i] <= model->room ? squares : model->squares;
        model->single = i == 0 || out->bytes[i] <= model->room ? out->above[i] : model->single;
    }
    model->relative = squares / (out->mean * out->mean) - 1;
}

/* The cumulant generating function at t of the bytes of this number of rows, and its first two derivatives.
 * Sizes above that of atom `last` count as none. False where it does not exist. */
static bool cumulants(const struct sizes *sizes, size_t last, const struct number *number, double t,
                      double out[3])
{
    double all[3] = {sizes->above[last], 0, 0}, hits[3] = {sizes->above[last] * sizes->chance[last], 0, 0};
    for (size_t i = 0; i <= last; i++) {
        double term = sizes->weight[i] * exp(t * sizes->bytes[i]);
        for (int k = 0; k < 3; k++, term *= sizes->bytes[i]) {
            all[k] += term;
            hits[k] += term * sizes->chance[i];
        }
    }
    const double n = number->n, mean = all[1] / all[0], left = 1 - (all[0] - hits[0]);
    if (number->kind == POISSON) {
        out[0] = n * (all[0] - 1);
        out[1] = n * all[1];
        out[2] = n * all[2];
    } else if (number->kind == FIXED) {
        out[0] = n * log(all[0]);
        out[1] = n * mean;
        out[2] = n * (all[2] / all[0] - mean * mean);
    } else { /* rows that do not increment are a geometric number before each that does */
        const double others = (all[1] - hits[1]) / left, hit = hits[1] / hits[0];
        out[0] = n * (log(hits[0]) - log(left));
        out[1] = n * (hit + others);
        out[2] = n * (hits[2] / hits[0] - hit * hit + (all[2] - hits[2]) / left + others * others);
        if (!(left > 0))
            return false;
    }
    return isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]);
}

/* The chance that these rows have more than `room` bytes: Chernoff's bound, where single sizes dominate the
 * saddle point. */
static double saddle_point(const struct sizes *sizes, size_t last, const struct number *number, double room,
                           bool *is_bound)
{
    double at[3], low = 0, high = 0;
    *is_bound = false;
    if (!cumulants(sizes, last, number, 0, at) || !(at[2] > 0))
        return at[1] > room;
    const double distance = (room - at[1]) / sqrt(at[2]), step = 1 / sqrt(at[2]);
    if (distance > 0)
        for (high = step; cumulants(sizes, last, number, high, at) && at[1] < room && high < 1e4 * step;)
            high *= 2;
    else
        for (low = -step; cumulants(sizes, last, number, low, at) && at[1] > room && low > -64 * step;)
            low *= 2;
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        *(cumulants(sizes, last, number, middle, at) && at[1] < room ? &low : &high) = middle;
    }
    if (!cumulants(sizes, last, number, low, at))
        return 1;
    *is_bound = low * sizes->bytes[last] > DOMINANT;
    if (*is_bound)
        return exp(at[0] - low * room);
    const double r = copysign(sqrt(2 * fmax(0, low * room - at[0])), low), u = low * sqrt(at[2]);
    return gsl_cdf_ugaussian_Q(fabs(r) > 1e-3 && u / r > 0 ? r + log(u / r) / r : distance);
}

/* The chance that this number of rows has more than `room` bytes: those up to a size have, or one above it
 * has with the others, which are about normal. The size is the largest that does not dominate; until then,
 * there are bounds (Fuk and Nagaev 1971). */
static double bytes_above(const struct model *model, const struct number *number, double rows)
{
    const struct sizes *sizes = &model->sizes;
    double best = 1;
    bool is_bound = true;
    for (int part = 1; part <= 64 && is_bound; part *= 2) {
        size_t last = 0;
        double at[3], large = 0;
        while (last + 1 < sizes->count && sizes->bytes[last + 1] <= model->room / part)
            last++;
        const double sum = saddle_point(sizes, last, number, model->room, &is_bound);
        cumulants(sizes, last, number, 0, at);
        for (size_t i = last + 1; i < sizes->count; i++)
            large +=
                rows * sizes->weight[i] *
                (is_bound ? 1 : gsl_cdf_ugaussian_Q((model->room - sizes->bytes[i] - at[1]) / sqrt(at[2])));
        best = fmin(best, large + sum);
    }
    return best;
}

/* The mean of a Poisson number of rows whose bytes are z standard deviations below the limit. */
static double rung_mean(const struct model *model, double z)
{
    const double half = z * sqrt(model->squares) / (2 * model->sizes.mean),
                 root = sqrt(half * half + model->room / model->sizes.mean) - half;
    return root * root;
}

/* The chance that a Poisson number of rows exceeds a limit. */
static double poisson_tail(struct model *model, double mean)
{
    const double tail = tune_poisson_above(mean, model->rows), spread = sqrt(mean * model->squares);
    if (model->sized_rows == (double)INFINITY || !(mean > 0))
        return tail;
    const double at = RUNG_FIRST - (model->room - mean * model->sizes.mean) / spread;
    if (at >= RUNGS - 1)
        return 1;
    if (at < 0) /* not by the sum of the rows, but a single one may */
        return fmin(1, fmax(tail, mean * model->single));
    const size_t rung = (size_t)at;
    double means[2];
    for (size_t i = 0; i < 2; i++) {
        double *z = &model->rungs[rung + i];
        means[i] = rung_mean(model, RUNG_FIRST - (double)(rung + i));
        const struct number number = {POISSON, means[i]};
        if (isnan(*z))
            *z = gsl_cdf_ugaussian_Qinv(
                fmax(DBL_MIN, fmin(1 - DBL_EPSILON, bytes_above(model, &number, means[i]))));
    }
    const double part = (mean - means[0]) / (means[1] - means[0]),
                 z = model->rungs[rung] + part * (model->rungs[rung + 1] - model->rungs[rung]);
    return fmax(tail, gsl_cdf_ugaussian_Q(z));
}

/* --- what is known of a setting */

/* Whether the sizes of rows are those of a trace. */
static bool has_own_sizes(const struct lab_scenario *scenario)
{
    return scenario->trace_path != NULL && !scenario->has_row_bytes;
}

/* Converts the limits. False: nothing is known of bytes that have a limit. */
static bool set_limits(struct model *model, int64_t end_ns)
{
    const struct lab_scenario *scenario = model->scenario;
    const struct lab_limits *limits = &scenario->limits;
    const struct wl_workload *workload = &scenario->workload;
    const double limit = (double)limits->partition_bytes, mean = sim_size_mean(&workload->row_bytes);
    char name[WL_KEY_NAME_SIZE];
    struct lab_row_stamps stamps;
    model->rows = limits->partition_rows != 0 ? (double)limits->partition_rows : (double)INFINITY;
    model->sized_rows = (double)INFINITY;
    if (has_own_sizes(scenario))
        return limits->partition_bytes == 0;
    lab_row_stamps_init(&stamps, &scenario->row_cost, workload->start_ns);
    const uint32_t stamp = lab_row_stamp(&stamps, end_ns);
    const uint64_t each = lab_row_bytes(&scenario->row_cost, sim_size_whole(mean), stamp);
    const double header =
        (double)lab_partition_bytes(&scenario->row_cost, wl_key_name(0, name), 1, each > 0 ? each : 1);
    model->room = fmax(0, limit - header);
    if (workload->row_bytes.kind != SIM_SIZE_CONSTANT)
        make_sizes(model, stamp);
    if (limits->partition_bytes == 0)
        return true;
    if (workload->row_bytes.kind == SIM_SIZE_CONSTANT)
        model->rows = fmin(model->rows, floor(model->room / fmax(1, (double)each)));
    else
        model->sized_rows = model->room / model->sizes.mean;
    return true;
}

/* Whether a table divides the strategy's partitions, or overwrites rows. */
static bool is_odd_table(const struct lab_scenario *scenario)
{
    return !lab_design_is_plain(&scenario->design) || lab_design_clusters_by(&scenario->design, LAB_FEED_KEY);
}

bool tune_is_plain(const struct lab_scenario *scenario, const struct lab_settings *settings)
{
    return !is_odd_table(scenario) && settings->change_count == 0 && !settings->is_idgen &&
           settings->observed == WL_OBSERVED_AUTO;
}

bool tune_has_rate(const struct lab_scenario *scenario)
{
    return scenario->trace_path == NULL && scenario->workload.backfill_before_ns == 0 &&
           scenario->workload.every_ns == 0;
}

uint64_t tune_keys_alike(uint64_t key, uint64_t keys)
{
    const uint64_t alike = key < 256 ? 1 : key / 128, left = keys - key;
    return alike < left ? alike : left;
}

/* Sets the distribution of a full partition. False if it is not known. */
static bool set_full(struct model *model)
{
    const struct bk_strategy *strategy = &model->settings->strategy;
    const struct lab_scenario *scenario = model->scenario;
    const enum bk_source source = model->settings->source;
    const bool is_constant =
        !has_own_sizes(scenario) && scenario->workload.row_bytes.kind == SIM_SIZE_CONSTANT;
    const double limit = fmin(model->rows, 1e18);
    struct number number = {FIXED, 0};
    if (strategy->kind == BK_KIND_COUNT) {
        number.n = model->mean = model->mean_within = (double)strategy->of.count.rows;
        model->tail = model->mean > model->rows;
        if (source != BK_SOURCE_EXTERNAL && source != BK_SOURCE_COUNTER && source != BK_SOURCE_LWT &&
            source != BK_SOURCE_LEASE)
            return false;
    } else if (strategy->kind == BK_KIND_PROBABILISTIC || strategy->kind == BK_KIND_WEIGHTED) {
        struct tune_distribution odds =
            tune_distribution_of(strategy, (uint64_t)fmax(1, scenario->workload.row_bytes.a));
        if (strategy->kind == BK_KIND_WEIGHTED && !is_constant) {
            /* Rows increment independently, with the mean chance of their sizes, if none makes two. */
            if (has_own_sizes(scenario) ||
                quantile(&scenario->workload.row_bytes, 1e-6) > (double)strategy->of.weighted.bytes)
                return false;
            odds = (struct tune_distribution){.p = model->sizes.mean_chance,
                                              .threshold = strategy->of.weighted.threshold};
        }
        const double deviation = tune_stddev_rows(&odds);
        struct tune_distribution next = odds;
        next.threshold++;
        number = (struct number){THRESHOLD, (double)odds.threshold};
        model->mean = model->mean_within = tune_mean_rows(&odds);
        model->variance = deviation * deviation;
        model->tail = tune_above(&odds, (uint64_t)limit);
        if (odds.whole == 0 && model->tail < 1) /* n P(N = n) is that of one more increment, at n + 1 */
            model->mean_within *= (1 - tune_above(&next, (uint64_t)limit + 1)) / (1 - model->tail);
    } else {
        return false;
    }
    if (model->sized_rows < (double)INFINITY)
        model->tail = fmax(model->tail, bytes_above(model, &number, model->mean));
    /* A tail that a double cannot hold is not 0. */
    if (strategy->kind != BK_KIND_COUNT || model->sized_rows < (double)INFINITY)
        model->tail = fmax(model->tail, DBL_MIN);
    model->is_counted = true;
    return true;
}

/* Whether distributions say anything of this setting. */
static bool is_known(const struct lab_scenario *scenario, const struct lab_settings *settings)
{
    const enum bk_kind kind = settings->strategy.kind;
    const bool counts = kind == BK_KIND_COUNT || kind == BK_KIND_PROBABILISTIC || kind == BK_KIND_WEIGHTED;
    if (!tune_is_plain(scenario, settings) || scenario->deletes.share > 0)
        return false;
    return counts || (scenario->engine != LAB_ENGINE_CLUSTER && tune_has_rate(scenario) &&
                      !wl_has_own_times(&scenario->workload));
}

/* False: nothing is known of its partitions. */
static bool model_of(const struct lab_scenario *scenario, const struct lab_settings *settings, double factor,
                     struct model *out)
{
    const struct wl_workload *workload = &scenario->workload;
    const int64_t year_ns = (int64_t)LAB_JUDGED_DAYS * SIM_DAY;
    const int64_t lasts_ns = lab_kind_ends(settings->strategy.kind) && workload->duration_ns < year_ns
                                 ? year_ns
                                 : workload->duration_ns;
    *out = (struct model){.scenario = scenario, .settings = settings, .factor = factor};
    for (size_t i = 0; i < RUNGS; i++)
        out->rungs[i] = (double)NAN;
    if (!is_known(scenario, settings) || !set_limits(out, workload->start_ns + lasts_ns))
        return false;
    const enum bk_kind kind = settings->strategy.kind;
    return set_full(out) || kind == BK_KIND_TIME || !lab_kind_ends(kind);
}

/* --- windows: sums over keys */

/* The integrals of a key's rate over the windows of the run. */
struct masses {
    uint64_t shape; /* the spikes that strike the key, as bits */
    double *means, most, share;
    size_t count, capacity;
    size_t whole_from, whole_count; /* windows that begin and end in the run */
    double whole_ns;
};

/* The end of the window that holds a time; of other kinds there is one. */
static int64_t window_end(const struct model *model, int64_t time_ns)
{
    const struct bk_row row = {.time_ns = time_ns};
    struct bk_placement route;
    if (model->settings->strategy.kind != BK_KIND_TIME ||
        bk_route(&model->settings->strategy, NULL, &row, &route) != BK_OK)
        return INT64_MAX;
    return route.until_ns;
}

/* False: out of memory, or there are too many windows. */
static bool integrate(struct model *model, const struct wl_workload *workload, uint64_t key_index,
                      struct masses *out)
{
    double sum = 0;
    int64_t at_ns = workload->start_ns, until_ns = window_end(model, at_ns);
    const bool begins = window_end(model, at_ns - 1) == at_ns;
    int64_t first_ns = begins ? at_ns : until_ns, last_ns = first_ns;
    struct wl_key key;
    struct wl_stretch stretch;
    wl_key_init(&key, workload, key_index);
    out->count = out->whole_count = 0;
    out->whole_from = !begins;
    out->most = 0;
    while (wl_key_stretch(&key, &stretch)) {
        while (at_ns < stretch.end_ns) {
            const int64_t end_ns = stretch.end_ns < until_ns ? stretch.end_ns : until_ns;
            model->work++;
            sum += (double)(end_ns - at_ns) * stretch.rate_per_ns * model->factor;
            at_ns = end_ns;
            if (at_ns < until_ns)
                continue;
            if ((out->count == out->capacity && model->work > STRETCHES_MAX) ||
                !sim_grow(&out->means, &out->capacity, out->count + 2, sizeof *out->means))
                return false;
            out->means[out->count++] = sum;
            out->whole_count += out->count > out->whole_from;
            last_ns = at_ns;
            sum = 0;
            until_ns = window_end(model, at_ns);
        }
    }
    if (!sim_grow(&out->means, &out->capacity, out->count + 1, sizeof *out->means))
        return false;
    out->means[out->count++] = sum;
    out->whole_ns = (double)(last_ns - first_ns);
    for (size_t i = 0; i < out->count; i++)
        out->most = fmax(out->most, out->means[i]);
    return true;
}

static uint64_t shape_of(const struct wl_workload *workload, uint64_t key)
{
    uint64_t shape = 0;
    for (size_t i = 0; i < workload->spike_count && i < 64; i++)
        shape |= (uint64_t)wl_spike_strikes(workload, i, key) << i;
    return shape;
}

/* The most that a key's rate may be, as a multiple of its mean. */
static double peak_of(const struct wl_workload *workload)
{
    double factor = workload->has_daily ? 1 + workload->daily_amplitude : 1;
    if (workload->has_bursts) /* a factor below 1 makes the other state the faster one */
        factor *= fmax(1, workload->burst_factor) / wl_burst_mean(workload);
    for (size_t i = 0; i < workload->spike_count; i++)
        factor *= fmax(1, workload->spikes[i].factor);
    return factor;
}

/* The stream that shows all kinds of windows that come after the run: without spikes, and for as long as
 * months, the daily curve, or bursts take, up to a number of windows. */
static struct wl_workload steady_of(const struct model *model)
{
    struct wl_workload steady = model->scenario->workload;
    const struct bk_strategy *strategy = &model->settings->strategy;
    const bool is_calendar = strategy->of.time.calendar != BK_CALENDAR_NONE;
    const double window_ns = is_calendar ? (double)SIM_DAY : (double)strategy->of.time.window_ns,
                 days = steady.has_bursts  ? BURST_DAYS
                        : is_calendar      ? 400
                        : steady.has_daily ? 8
                                           : 0;
    const double shown = fmin(WINDOWS_SHOWN, STRETCHES_MAX / 4.0 / (double)steady.key_count);
    const double lasts_ns = fmin(fmin(days * (double)SIM_DAY, shown * window_ns) + 2 * window_ns, 3e18);
    steady.spike_count = 0;
    if ((double)steady.duration_ns < lasts_ns && steady.start_ns < INT64_MAX - (int64_t)lasts_ns)
        steady.duration_ns = (int64_t)lasts_ns;
    return steady;
}

/* The number of keys, from the busiest on, of which some window might have more than a negligible tail. */
static uint64_t reach_of(struct model *model)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const struct bk_strategy *strategy = &model->settings->strategy;
    const double length_ns = strategy->of.time.calendar == BK_CALENDAR_NONE
                                 ? (double)strategy->of.time.window_ns
                                 : 31.0 * (double)SIM_DAY;
    const double parts = (double)lab_shards(strategy);
    const double bound = 1e-9 * length_ns * workload->rate_per_s * model->factor * peak_of(workload) / parts;
    const double windows = parts * fmax(1, 1e-9 * (double)steady_of(model).duration_ns);
    uint64_t low = 0, high = workload->key_count;
    while (low < high) { /* shares never ascend */
        const uint64_t key = low + (high - low) / 2;
        const double share = sim_zipf_share(&workload->popularity, key),
                     keys_left = (double)(workload->key_count - key);
        if (poisson_tail(model, bound * share) * keys_left * windows < NEGLIGIBLE)
            high = key;
        else
            low = key + 1;
    }
    return low;
}

/* Expected numbers of partitions above a limit: in the run, and, as the stream continues without spikes, in
 * each further time the run. */
struct sum {
    double run, later;
};

static void add_windows(struct model *model, const struct masses *masses, double scale, struct sum *out)
{
    const struct wl_workload *workload = &model->scenario->workload;
    double mean = -1, tail = 0, whole = 0, all = 0;
    for (size_t i = 0; i < masses->count; i++, model->work++) {
        if (masses->means[i] != mean)
            tail = poisson_tail(model, scale * masses->means[i]);
        mean = masses->means[i];
        all += tail;
        whole += i >= masses->whole_from && i - masses->whole_from < masses->whole_count ? tail : 0;
    }
    out->run += all;
    if (masses->whole_ns > 0)
        out->later += whole * (double)workload->duration_ns / masses->whole_ns;
}

/* Sums tails over all keys and windows. False: the sum was not completed: `enough` are expected, it would
 * take too long, or out of memory. */
static bool sum_windows(struct model *model, double enough, struct sum *out)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const struct wl_workload steady = steady_of(model);
    struct masses known[SHAPES_MAX] = {{0}}, later = {0};
    const bool is_alike = !workload->has_bursts && workload->spike_count <= 64,
               has_later = workload->spike_count > 0 || steady.duration_ns > workload->duration_ns;
    const uint64_t reach = reach_of(model);
    const double parts = (double)lab_shards(&model->settings->strategy); /* each is Poisson, too */
    size_t known_count = 0;
    bool is_fine = true;
    for (uint64_t key = 0; is_fine && key < reach; key++) {
        const double share = sim_zipf_share(&workload->popularity, key),
                     keys_left = (double)(workload->key_count - key);
        const uint64_t shape = is_alike ? shape_of(workload, key) : 0;
        size_t at = 0;
        while (is_alike && at < known_count && known[at].shape != shape)
            at++;
        if (!is_alike || at == known_count) {
            known_count = at + 1;
            known[at].shape = shape;
            known[at].share = share;
            is_fine = known_count < SHAPES_MAX && integrate(model, workload, key, &known[at]) &&
                      (!has_later || key > 0 || integrate(model, &steady, key, &later));
            later.share = key > 0 ? later.share : share;
            model->work = key > 0 ? model->work : 0; /* once for all keys */
        }
        if (!is_fine)
            break;
        const double scale = share / known[at].share / parts, then = share / later.share / parts;
        /* Each key that bursts takes as long as those before it. */
        is_fine = model->work <= STRETCHES_MAX &&
                  (is_alike || key < KEYS_TRIED ||
                   model->work / (double)(key + 1) * (double)reach <= STRETCHES_MAX);
        if (parts * keys_left *
                fmax(poisson_tail(model, known[at].most * scale) * (double)known[at].count,
                     poisson_tail(model, later.most * then) * (double)later.count) <
            NEGLIGIBLE) {
            if (is_alike && workload->spike_count == 0)
                break;
            continue;
        }
        struct sum of_key = {0, 0}, of_later = {0, 0};
        add_windows(model, &known[at], scale, &of_key);
        if (has_later)
            add_windows(model, &later, then, &of_later);
        out->run += parts * of_key.run;
        out->later += parts * (has_later ? of_later.later : of_key.later);
        is_fine = is_fine && out->run <= enough;
    }
    for (size_t i = 0; i < SHAPES_MAX; i++)
        free(known[i].means);
    free(later.means);
    return is_fine;
}

/* --- crowds of keys: partitions without end, and those that count rows */

/* Keys that are expected to have equally many rows: `seen` in the run, and `pace` more for each time its
 * length that the stream continues, apart from the daily curve. */
struct crowd {
    double seen, pace, count;
    double known; /* 1: its bursts in the run are known */
};

struct passage {
    struct model *model;
    struct crowd *crowds; /* most rows first */
    size_t count, capacity;
    double bursts; /* relative variance of a key's rows in one time the run */
    double parts;  /* of a key */
    int bound;     /* of the number: below or above 0, a lower or an upper one */
};

/* Adds keys, which merge with those that are alike; shares never ascend. */
static bool add_crowd(struct passage *out, const struct crowd *crowd)
{
    for (size_t i = out->count; crowd->known == 0 && i-- > 0 && out->crowds[i].pace == crowd->pace;) {
        if (out->crowds[i].seen == crowd->seen && out->crowds[i].known == 0) {
            out->crowds[i].count += crowd->count;
            return true;
        }
    }
    if (out->count >= STRETCHES_MAX ||
        !sim_grow(&out->crowds, &out->capacity, out->count + 1, sizeof *out->crowds))
        return false;
    out->crowds[out->count++] = *crowd;
    return true;
}

/* Collects the keys. Where neither bursts nor spikes tell neighbours apart, keys of nearly the same
 * popularity count as alike. Bursts of the busiest keys are drawn as far as the run goes, where partitions
 * have no end; otherwise they have their mean and a variance. Spikes do not recur. False: it would take too
 * long, or out of memory. */
static bool gather(struct passage *out)
{
    struct model *model = out->model;
    const struct wl_workload *workload = &model->scenario->workload;
    const double pace = workload->rate_per_s * 1e-9 * (double)workload->duration_ns * model->factor;
    const bool is_drawn = workload->has_bursts && !model->is_counted;
    struct wl_workload steady = *workload;
    struct masses known[SHAPES_MAX] = {{0}}, own = {0}; /* with the mean of bursts; with those of the key */
    size_t known_count = 0;
    bool is_fine = workload->spike_count <= SHAPES_MAX;
    steady.has_bursts = false;
    for (uint64_t key = 0, step; is_fine && key < workload->key_count; key += step) {
        const uint64_t shape = shape_of(workload, key);
        size_t at = 0;
        step = is_drawn || workload->spike_count > 0 ? 1 : tune_keys_alike(key, workload->key_count);
        const double share = sim_zipf_share(&workload->popularity, key + step / 2) / out->parts;
        while (at < known_count && known[at].shape != shape)
            at++;
        if (at == known_count) {
            is_fine = at < SHAPES_MAX && integrate(model, &steady, key, &known[at]);
            if (!is_fine)
                break;
            known[at].shape = shape;
            known[known_count++].share = sim_zipf_share(&workload->popularity, key);
        }
        struct crowd crowd = {known[at].means[0] * share / known[at].share, pace * share,
                              out->parts * (double)step, is_drawn && model->work <= BURSTS_DRAWN};
        if (crowd.known != 0) {
            is_fine = integrate(model, workload, key, &own);
            crowd.seen = is_fine ? own.means[0] / out->parts : 0;
        }
        is_fine = is_fine && add_crowd(out, &crowd);
    }
    for (size_t i = 0; i < known_count; i++)
        free(known[i].means);
    free(own.means);
    return is_fine;
}

/* P(N > rows) for this mean, Poisson unless the variance is larger. */
static double above(double rows, double mean, double variance)
{
    return variance > mean ? gsl_cdf_ugaussian_Q((floor(rows) + 0.5 - mean) / sqrt(variance))
                           : tune_poisson_above(mean, rows);
}

static double endless_tail(struct model *model, double mean, double drawn)
{
    return drawn > 0 ? fmax(above(model->rows, mean, mean + drawn),
                            above(model->sized_rows, mean, mean * (1 + model->relative) + drawn))
                     : poisson_tail(model, mean);
}

/* The chance that no part of a key is over a limit: all have the bursts of the key. */
static double key_kept(const struct passage *passage, double mean, double deviation)
{
    double kept = 0, all = 0;
    for (int i = -40; i <= 40; i++) {
        const double weight = exp(-i * i / 200.0),
                     tail = endless_tail(passage->model, mean + i / 10.0 * deviation, 0);
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

/* For how many days a partition gets more rows before the first ones leave the disk; infinity: as long as
 * it gets rows. */
static double grows_for(const struct lab_scenario *scenario)
{
    return scenario->row_ttl_ns > 0
               ? ((double)scenario->row_ttl_ns + (double)LAB_GC_GRACE_NS) / (double)SIM_DAY
               : (double)INFINITY;
}

/* How a chance enters a sum: as an expected number, or as -log of the chance that it does not happen. */
static double weigh(double chance, bool is_number)
{
    return is_number ? fmin(1, chance) : -log1p(-fmin(chance, 1 - DBL_EPSILON));
}

/* Of the partitions of a key with this many rows. Its j-th partition, if it exceeds a limit, does so once the
 * key has that many rows more than the partitions before it, which are a renewal process. pace: rows in one
 * time the run; rows must not leave the disk before. */
static double sum_counted(const struct model *model, double mean, double drawn, double pace, bool is_number)
{
    const double limit = fmin(model->rows, model->sized_rows),
                 days = (double)model->scenario->workload.duration_ns / (double)SIM_DAY,
                 open = grows_for(model->scenario) / days, held = pace * open,
                 each = is_number ? model->mean : model->mean_within;
    const double first = above(limit, mean, mean + drawn), left = (mean - limit) / each,
                 tail = isfinite(open) ? model->tail * above(limit - 1, held, held) : model->tail;
    double later = 0, more = 1;
    if (left > GENERATIONS)
        later = left + (model->variance / (each * each) - 1) / 2;
    else
        for (double j = 1; j < left + 2 || more > 1e-9 * later; j++)
            later += more = fmin(above(limit + j, mean, mean + drawn),
                                 gsl_cdf_ugaussian_Q((floor(limit) + 0.5 + j * each - mean) /
                                                     sqrt(mean + drawn + j * model->variance)));
    return weigh(tail * first, is_number) + later * weigh(tail, is_number);
}

/* Whether a key is expected to have equally many rows in all ages of its partitions, apart from spikes. */
static bool has_level_ages(const struct model *model)
{
    const struct wl_workload *workload = &model->scenario->workload;
    return tune_has_rate(model->scenario) && !workload->has_bursts &&
           (!workload->has_daily || model->settings->strategy.max_age_ns % SIM_DAY == 0);
}

/* The same where partitions end at the multiples of an age, after each of which the key begins again. The
 * number ascends ever faster with the rows: it is least if all ages have equally many, and greatest if one
 * has those of all spikes, and all have the peak of the rate, or end no partition early. */
static double sum_aged(const struct passage *passage, const struct crowd *crowd, double times, bool is_number)
{
    const struct model *model = passage->model;
    const struct wl_workload *workload = &model->scenario->workload;
    const double rows = crowd->pace * times,
                 ages = times * (double)workload->duration_ns / (double)model->settings->strategy.max_age_ns,
                 count = passage->bound < 0 ? ceil(ages) + 1 : fmax(1, ages);
    if (passage->bound <= 0)
        return count * sum_counted(model, rows / count, 0, crowd->pace, is_number);
    const double spikes = fmax(0, crowd->seen - crowd->pace),
                 most = rows / count * (has_level_ages(model) ? 1 : peak_of(workload));
    return fmin(model->tail * ((rows + spikes) / model->mean + count + 1),
                count * sum_counted(model, most, 0, crowd->pace, is_number) +
                    sum_counted(model, most + spikes, 0, crowd->pace, is_number));
}

/* The expected number of partitions above a limit when the stream has lasted `times` as long as the run; or
 * -log of the chance that there is none. A value above `most` need not be exact. Where rows leave the disk, a
 * partition has at least those of the time until then, and the bound above looks at overlapping times. */
static double sum_until(const struct passage *passage, double times, bool is_number, double most)
{
    const struct model *model = passage->model;
    const struct wl_workload *workload = &model->scenario->workload;
    const double days = (double)workload->duration_ns / (double)SIM_DAY,
                 open = model->is_counted ? (double)INFINITY : grows_for(model->scenario) / days;
    const bool is_capped = passage->bound > 0 && times > open;
    const double looks = is_capped ? LOOKS * times / open : 1;
    double sum = 0, left = 0;
    if (passage->bound < 0)
        times = fmin(times, open);
    const double more = fmax(0, times - 1),
                 rows = times > 1 ? more + daily_part(workload, times) - daily_part(workload, 1) : 0;
    for (size_t i = 0; i < passage->count; i++)
        left += passage->crowds[i].count;
    for (size_t i = 0; i < passage->count && sum <= most; i++) {
        const struct crowd *crowd = &passage->crowds[i];
        double mean = crowd->seen * fmin(1, times) + crowd->pace * rows,
               drawn = passage->bursts * crowd->pace * crowd->pace * fmax(0, times - crowd->known);
        if (is_capped) {
            const double daily = workload->has_daily ? workload->daily_amplitude / M_PI / days : 0,
                         kept = open * (1 + 1.0 / LOOKS);
            mean = fmin(mean, crowd->pace * (kept + daily) + fmax(0, crowd->seen - crowd->pace));
            drawn = passage->bursts * crowd->pace * crowd->pace * kept;
        }
        /* A key's parts are Poisson, given its bursts. */
        const bool is_divided = drawn > 0 && passage->parts > 1;
        const double tail =
            model->is_counted && model->settings->strategy.max_age_ns > 0
                ? sum_aged(passage, crowd, times, is_number)
            : model->is_counted
                ? sum_counted(model, mean, drawn, crowd->pace, is_number)
                : looks * endless_tail(passage->model, is_divided ? mean + 4 * sqrt(drawn) : mean,
                                       is_divided ? 0 : drawn);
        if (tail * left < NEGLIGIBLE && crowd->known == 0 && workload->spike_count == 0)
            break;
        left -= crowd->count;
        if (model->is_counted)
            sum += crowd->count * tail;
        else if (!is_divided)
            sum += crowd->count * weigh(tail, is_number);
        else if (tail > NEGLIGIBLE)
            sum -= looks * crowd->count / passage->parts * log(key_kept(passage, mean, sqrt(drawn)));
    }
    return sum;
}

static bool passage_of(struct model *model, struct passage *out)
{
    const struct wl_workload *workload = &model->scenario->workload;
    const struct bk_strategy *strategy = &model->settings->strategy;
    *out = (struct passage){
        .model = model,
        .parts = strategy->kind == BK_KIND_HASH ? fmax(1, (double)strategy->of.hash.buckets) : 1};
    if (workload->has_bursts) {
        const double on = (double)workload->burst_on_ns, off = (double)workload->burst_off_ns,
                     share = wl_burst_share(workload), mean = wl_burst_mean(workload),
                     more = workload->burst_factor - 1;
        out->bursts = 2 * more * more * share * (1 - share) * (on * off / (on + off)) / (mean * mean) /
                      (double)workload->duration_ns;
    }
    return gather(out);
}

/* --- the expected number */

/* Where only the numbers of rows and keys are known: most partitions exceed a limit if few keys have all
 * rows, and fewest if all have equally many. */
static struct sum counted_bounds(const struct model *model, double rows, double keys, double times)
{
    const double each = times * rows / fmax(1, keys);
    const double begun = model->settings->strategy.max_age_ns > 0 ? rows : rows / model->mean;
    return (struct sum){keys * sum_counted(model, each, 0, each / times, true),
                        model->tail * (times * begun + keys)};
}

void tune_expected_share(struct lab_facts *facts, double partitions)
{
    if (isnan(facts->expected_share) && isfinite(facts->expected_most) && partitions > 0) {
        facts->expected_share = fmax(DBL_MIN, fmin(1, facts->expected_run / partitions));
        facts->expected_full =
            facts->expected_least > 0 || facts->expected_run == 0 ? facts->expected_share : 0;
    }
}

void tune_expected_of(const struct tune_prospect *prospect, const struct lab_settings *settings,
                      struct lab_facts *out)
{
    const struct lab_scenario *scenario = prospect->scenario;
    const struct wl_workload *workload = &scenario->workload;
    const enum bk_kind kind = settings->strategy.kind;
    const double days = lab_judged_days(settings, 1e9 * prospect->seconds),
                 times = days * 86400 / prospect->seconds,
                 enough = prospect->is_verdict && scenario->limits.over_limit_share == 0
                              ? TUNE_EXPECTED_ENOUGH
                              : (double)INFINITY;
    struct model model;
    struct sum sum = {0, 0};
    bool is_whole = true;
    out->has_distribution = false;
    out->expected_most = (double)INFINITY;
    out->expected_least = out->expected_full = out->expected_run = 0;
    out->expected_share = (double)NAN;
    out->expected_days = days;
    if (!model_of(scenario, settings, prospect->factor, &model))
        return;
    if (kind == BK_KIND_TIME) {
        is_whole = sum_windows(&model, enough, &sum);
        out->expected_run = sum.run;
        sum.run += (times - 1) * sum.later;
        /* Bursts that were drawn tell the number if it is not small. Otherwise a longer one may come, unless
         * not even a window that is all burst exceeds a limit. */
        is_whole = is_whole && (!workload->has_bursts || times <= 1 || sum.run > TUNE_EXPECTED_ENOUGH ||
                                reach_of(&model) == 0);
    } else if (model.is_counted) {
        sum = tune_has_rate(scenario)
                  ? counted_bounds(&model,
                                   workload->rate_per_s * 1e-9 * (double)workload->duration_ns * model.factor,
                                   (double)workload->key_count, times)
                  : counted_bounds(&model, prospect->rows, prospect->keys, times);
        out->expected_share = model.tail;
        out->expected_full = settings->strategy.max_age_ns == 0 && scenario->row_ttl_ns == 0 ? model.tail : 0;
    }
    if (!lab_kind_ends(kind) || (model.is_counted && tune_has_rate(scenario) && sum.later > NEGLIGIBLE)) {
        struct passage passage;
        is_whole = passage_of(&model, &passage);
        passage.bound = 1;
        sum.later = out->expected_run = is_whole ? sum_until(&passage, times, true, enough) : 0;
        passage.bound = -1;
        sum.run = is_whole ? fmin(sum.later, sum_until(&passage, times, true, enough)) : 0;
        is_whole = is_whole && sum.later <= enough;
        free(passage.crowds);
    }
    /* Agents make more of their partitions exceed a limit, if anything, unless rows have a number. */
    out->has_distribution = scenario->engine != LAB_ENGINE_CLUSTER ||
                            (kind == BK_KIND_COUNT && settings->source == BK_SOURCE_EXTERNAL);
    /* Rows may leave the disk before a window ends, and an age may end a partition of a trace early. */
    if ((kind == BK_KIND_TIME && scenario->row_ttl_ns == 0) ||
        (kind != BK_KIND_TIME && (settings->strategy.max_age_ns == 0 || tune_has_rate(scenario))))
        out->expected_least = sum.run;
    if (is_whole && out->has_distribution)
        out->expected_most = model.is_counted && model.tail == 0
                                 ? 0
                                 : fmax(DBL_MIN, kind == BK_KIND_TIME ? sum.run : sum.later);
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
        .factor = 1,
        .rows = (double)result->rows,
        .keys = (double)result->keys,
        .seconds =
            fmax(1, (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns)) / (double)SIM_SECOND};
    for (size_t i = 0; i < result->strategy_count; i++) {
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
        tune_expected_share(&facts, total->value);
        const bool is_known = facts.has_distribution && isfinite(facts.expected_most);
        const struct {
            bool is_there;
            const char *name;
            double value;
        } metrics[] = {
            {is_known, "expected.over_limit", facts.expected_most},
            {is_known || facts.expected_least > 0, "expected.over_limit_least", facts.expected_least},
            {is_known && !isnan(facts.expected_share), "expected.share", facts.expected_share},
            {facts.expected_full > 0, "expected.full_share", facts.expected_full}};
        for (size_t k = 0; k < sizeof metrics / sizeof *metrics; k++) {
            if (metrics[k].is_there &&
                !lab_metrics_add(&strategy->metrics, metrics[k].name, tune_rounded(metrics[k].value)))
                return sim_fail_memory(error);
        }
    }
    return true;
}

/* --- the growth of a trace */

/* weeks: the rows of each, oldest first. */
static struct tune_growth growth_of(const uint64_t *weeks, uint64_t count, double confidence)
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
        *out = growth_of(weeks, count, confidence);
    wl_trace_close(trace);
    free(weeks);
    return is_fine;
}

bool tune_growth_of_run(const struct lab_scenario *scenario, const struct lab_result *result,
                        double confidence, struct tune_growth *out, struct sim_error *error)
{
    if (result->week_count == 0)
        return tune_growth_read(scenario, result->start_ns, result->end_ns, confidence, out, error);
    *out = growth_of(result->weeks, result->week_count, confidence);
    return true;
}

double tune_growth_doubles(const struct tune_growth *growth)
{
    return growth->per_day > 0 ? log(2) / growth->per_day : (double)INFINITY;
}

/* The number of days from the start until the stream has `times` as many rows as in its first `days`. */
static double growth_rows_at(const struct tune_growth *growth, double days, double times)
{
    if (growth->per_day == 0)
        return days * times;
    return log1p(times * expm1(growth->per_day * days)) / growth->per_day;
}

/* Until its rate is `times` the mean rate of its first `days`. */
static double growth_rate_at(const struct tune_growth *growth, double days, double times)
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

/* The median of the time at which the first partition exceeds a limit, in times the length of the run. If
 * none did within a run that is longer (is_after), on that condition. NaN: not known. */
static double passage_median(struct model *model, bool is_after)
{
    struct passage passage;
    double low = 0, high = 1, target = (double)NAN;
    if (passage_of(model, &passage))
        target = M_LN2;
    if (target > 0 && is_after && (low = sum_until(&passage, 1, false, (double)INFINITY)) > M_LN2)
        target += low;
    low = target > M_LN2;
    while (isfinite(target) && high < 1e15 && sum_until(&passage, high, false, target) < target) {
        low = high;
        high *= 2;
    }
    for (int i = 0; isfinite(target) && i < 30; i++) {
        const double middle = (low + high) / 2;
        *(sum_until(&passage, middle, false, target) < target ? &low : &high) = middle;
    }
    free(passage.crowds);
    return isfinite(target) ? tune_rounded(high) : isinf(target) ? 1 : (double)NAN;
}

/* When the first partition without end exceeds a limit: by the distribution, or, where that is not known, as
 * the largest one grows, which has this many rows and bytes after the run. NaN: rows leave the disk before,
 * so it may never. */
static double endless_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                           uint64_t rows, uint64_t bytes)
{
    const struct lab_scenario *scenario = outlook->scenario;
    const struct sim_size *size = &scenario->workload.row_bytes;
    const double room = room_above(&scenario->limits, rows, bytes);
    const bool is_wild =
        scenario->limits.partition_bytes != 0 &&
        (!(sim_size_mean(size) < 0x1p40) || (size->kind == SIM_SIZE_PARETO && !(size->b > 2)));
    struct model model;
    const double median = !is_wild && model_of(scenario, settings, 1, &model)
                              ? passage_median(&model, rows > 0 && room >= 1)
                              : (double)NAN;
    const double days =
        isnan(median) ? growth_rows_at(&outlook->growth, outlook->days, room) : outlook->days * median;
    return days > grows_for(scenario) ? (double)NAN : days;
}

double tune_unbucketed_days(const struct tune_outlook *outlook)
{
    const struct lab_settings unbucketed = {.strategy = {.kind = BK_KIND_UNBUCKETED}};
    return endless_days(outlook, &unbucketed, outlook->busiest_rows, outlook->busiest_bytes);
}

/* The same for partitions that end. */
static double ending_days(const struct tune_outlook *outlook, struct model *model, bool is_after)
{
    struct sum sum = {0, 0};
    double times;
    if (model->is_counted && model->tail == 0)
        return (double)INFINITY;
    if (model->is_counted && model->settings->strategy.max_age_ns > 0 && !has_level_ages(model))
        return (double)NAN; /* there are only bounds */
    if (model->is_counted && !tune_has_rate(model->scenario))
        return growth_rows_at(&outlook->growth, outlook->days,
                              M_LN2 * model->mean / model->tail / outlook->rows);
    if (model->is_counted)
        return outlook->days * passage_median(model, is_after);
    const int64_t next_ns = window_end(model, model->scenario->workload.start_ns);
    if ((double)(window_end(model, next_ns) - next_ns) > grows_for(model->scenario) * (double)SIM_DAY ||
        !sum_windows(model, (double)INFINITY, &sum))
        return (double)NAN;
    times = sum.run < M_LN2 ? 1 + (M_LN2 - sum.run) / sum.later
            : is_after      ? 1 + M_LN2 / sum.later
                            : M_LN2 / sum.run;
    return outlook->days * tune_rounded(times);
}

double tune_first_over_days(const struct tune_outlook *outlook, const struct lab_settings *settings,
                            double seen_days, uint64_t rows_most, uint64_t bytes_most)
{
    const struct lab_scenario *scenario = outlook->scenario;
    const enum bk_kind kind = settings->strategy.kind;
    const int64_t start_ns = scenario->workload.start_ns, end_ns = start_ns + scenario->workload.duration_ns;
    const double room = room_above(&scenario->limits, rows_most, bytes_most), days = outlook->days;
    struct model model;
    if (!isnan(seen_days))
        return seen_days;
    if (!lab_kind_ends(kind))
        return endless_days(outlook, settings, rows_most, bytes_most);
    if (scenario->trace_path != NULL && kind == BK_KIND_TIME)
        return outlook->growth.per_day > 0 ? fmax(days, growth_rate_at(&outlook->growth, days, room))
                                           : (double)NAN;
    if ((kind == BK_KIND_TIME && lab_partitions_grow(scenario, settings, start_ns, end_ns)) ||
        !model_of(scenario, settings, 1, &model))
        return (double)NAN;
    /* No partition has more rows than its key so far. */
    const double first = ending_days(outlook, &model, rows_most > 0 && room >= 1);
    return isnan(first) ? first : fmax(first, outlook->unbucketed_days);
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

static bool add_all(struct tune_outlook *outlook, struct lab_strategy_result *strategy)
{
    /* Of the rows that this strategy stored. */
    outlook->busiest_rows = whole(strategy, "keys.rows.max");
    outlook->busiest_bytes = whole(strategy, "keys.bytes.max");
    outlook->unbucketed_days = tune_unbucketed_days(outlook);
    const double days = tune_first_over_days(
        outlook, &strategy->settings, figure(strategy, "partitions.first_over_days"),
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
    struct tune_outlook outlook = {.scenario = scenario,
                                   .days =
                                       fmax(1, (double)(result->end_ns - result->start_ns)) / (double)SIM_DAY,
                                   .rows = (double)result->rows};
    if (!add_expected(scenario, result, error))
        return false;
    if (!lab_limits_sizes(limits) || is_odd_table(scenario) || result->strategy_count == 0 ||
        isnan(figure(&result->strategies[0], "keys.rows.max")))
        return true;
    if (scenario->trace_path != NULL &&
        !tune_growth_of_run(scenario, result, scenario->tune.confidence, &outlook.growth, error))
        return false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        struct lab_strategy_result *strategy = &result->strategies[i];
        if (strategy->settings.observed == WL_OBSERVED_AUTO && !add_all(&outlook, strategy))
            return sim_fail_memory(error);
    }
    return true;
}
