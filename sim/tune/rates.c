/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The busiest second of a partition. In: a scenario and a setting. Out: for the writes, and for the reads, of
 * a partition in a second, bounds of the expected number of seconds above the limit, over all partitions of a
 * run or, of kinds that end, of LAB_JUDGED_DAYS, and the rate that no second exceeds with tune.confidence.
 *
 * The rows of a key in a second are Poisson, with a mean that the daily curve, the spikes and the bursts
 * change. First the run is divided into pieces in which this mean is constant, each with its expected number
 * of seconds over all seeds; pieces belong to all keys alike. Then tails are summed up over keys and pieces,
 * the busiest first. A second with an edge in it counts in part for either piece: the tail of a rate above
 * the mean is convex, so that is an upper bound. */
#include "tune/expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "lab/metric.h"
#include "lab/tally.h"
#include "tune/odds.h"
#include "workload/workload.h"

#define NEGLIGIBLE  1e-12
#define PIECES_MOST 4096
#define SPIKES_MOST 8 /* at a time */
#define PEAK_MOST   1e15
#define DEVIATIONS  6.0 /* no second of interest has more rows above its mean */

/* Seconds in which the rate of each key is this multiple of its mean. */
struct piece {
    double times, most, least;
};

struct profile {
    struct piece *pieces; /* the busiest first */
    size_t count, capacity;
    bool lacks_memory;
};

static bool add_piece(struct profile *profile, double times, double most, double least)
{
    for (size_t i = 0; i < profile->count; i++) {
        struct piece *piece = &profile->pieces[i];
        if (piece->times != times)
            continue;
        piece->most += most;
        piece->least += least;
        return true;
    }
    if (profile->count == PIECES_MOST)
        return false;
    if (!sim_grow(&profile->pieces, &profile->capacity, profile->count + 1, sizeof *profile->pieces)) {
        profile->lacks_memory = true;
        return false;
    }
    profile->pieces[profile->count++] = (struct piece){times, most, least};
    return true;
}

/* Adds a stretch of constant rate: once for each set of the spikes in it that may strike a key. */
static bool add_stretch(struct profile *profile, const struct wl_workload *workload, int64_t from_ns,
                        int64_t to_ns, double times)
{
    const double seconds = (double)(to_ns - from_ns) / (double)SIM_SECOND;
    const struct wl_spike *active[SPIKES_MOST];
    size_t count = 0;
    for (size_t i = 0; i < workload->spike_count; i++) {
        const struct wl_spike *spike = &workload->spikes[i];
        const int64_t begin_ns = workload->start_ns + spike->at_ns;
        if (from_ns < begin_ns || from_ns >= begin_ns + spike->lasts_ns)
            continue;
        if (count == SPIKES_MOST)
            return false;
        active[count++] = spike;
    }
    for (size_t set = 0; set < (size_t)1 << count; set++) {
        double chance = 1, factor = times;
        for (size_t i = 0; i < count; i++) {
            const double share = active[i]->keys_count > 0
                                     ? fmin(1, (double)active[i]->keys_count / (double)workload->key_count)
                                     : active[i]->keys_share;
            chance *= (set >> i & 1) != 0 ? share : 1 - share;
            factor *= (set >> i & 1) != 0 ? active[i]->factor : 1;
        }
        if (chance > 0 && !add_piece(profile, factor, chance * seconds, chance * fmax(0, seconds - 1)))
            return false;
    }
    return true;
}

/* The first edge of a spike after a time; INT64_MAX: none. */
static int64_t edge_after(const struct wl_workload *workload, int64_t time_ns)
{
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < workload->spike_count; i++) {
        const int64_t begin_ns = workload->start_ns + workload->spikes[i].at_ns,
                      edges[] = {begin_ns, begin_ns + workload->spikes[i].lasts_ns};
        for (int j = 0; j < 2; j++)
            first_ns = edges[j] > time_ns && edges[j] < first_ns ? edges[j] : first_ns;
    }
    return first_ns;
}

/* Replaces each piece by one within a burst, one between bursts and, as an upper bound, one with the seconds
 * in which a burst begins or ends. */
static bool add_bursts(struct profile *profile, const struct wl_workload *workload)
{
    const double second = (double)SIM_SECOND, on = (double)workload->burst_on_ns,
                 off = (double)workload->burst_off_ns, share = wl_burst_share(workload),
                 mean = wl_burst_mean(workload);
    const double in = share * exp(-second / on), out = (1 - share) * exp(-second / off);
    const struct profile calm = *profile;
    bool is_fine = true;
    *profile = (struct profile){0};
    for (size_t i = 0; is_fine && i < calm.count; i++) {
        const struct piece *piece = &calm.pieces[i];
        const double burst = piece->times * workload->burst_factor / mean, rest = piece->times / mean;
        is_fine = add_piece(profile, burst, in * piece->most, in * piece->least) &&
                  add_piece(profile, rest, out * piece->most, out * piece->least) &&
                  add_piece(profile, fmax(burst, rest), (1 - in - out) * piece->most, 0);
    }
    free(calm.pieces);
    return is_fine;
}

static int compare_pieces(const void *left, const void *right)
{
    const double one = ((const struct piece *)left)->times, other = ((const struct piece *)right)->times;
    return (one < other) - (one > other);
}

/* False: there are too many pieces, or out of memory. */
static bool make_profile(const struct wl_workload *workload, struct profile *out)
{
    struct wl_workload level = *workload;
    struct wl_stretch stretch;
    struct wl_key key;
    int64_t at_ns = workload->start_ns;
    bool is_fine = true;
    level.has_bursts = false;
    level.spike_count = 0;
    wl_key_init(&key, &level, 0);
    const double mean = level.rate_per_s * 1e-9 * sim_zipf_share(&level.popularity, 0);
    while (is_fine && wl_key_stretch(&key, &stretch)) {
        while (is_fine && at_ns < stretch.end_ns) {
            const int64_t edge_ns = edge_after(workload, at_ns),
                          to_ns = edge_ns < stretch.end_ns ? edge_ns : stretch.end_ns;
            is_fine = add_stretch(out, workload, at_ns, to_ns, stretch.rate_per_ns / mean);
            at_ns = to_ns;
        }
    }
    is_fine = is_fine && (!workload->has_bursts || add_bursts(out, workload));
    qsort(out->pieces, out->count, sizeof *out->pieces, compare_pieces);
    return is_fine;
}

/* What is summed up: for each key the pieces, with a mean rate of its share of these. */
struct rates {
    const struct sim_zipf *popularity;
    uint64_t keys;
    const struct profile *profile;
    double most, least; /* per second, of all keys */
    double parts;       /* partitions of a key that take rows at a time, each the same share of them */
    double rows;        /* the mean of a partition that ends by its rows; infinity: it does not */
};

/* The chance that a second with this many rows is one of a partition that does not end in it. */
static double undivided(const struct rates *rates, double mean, double limit)
{
    const double rows = fmax(mean, limit + 1);
    return fmax(0, 1 - (rows + DEVIATIONS * sqrt(rows)) / rates->rows);
}

static struct lab_rate_facts seconds_over(const struct rates *rates, double limit)
{
    struct lab_rate_facts out = {.is_known = true};
    const struct profile *profile = rates->profile;
    double all = 0;
    for (size_t i = 0; i < profile->count; i++)
        all += profile->pieces[i].most;
    for (uint64_t key = 0, step; key < rates->keys; key += step) {
        const uint64_t left = rates->keys - key;
        step = sim_zipf_alike(rates->popularity, key);
        const double most = rates->most * sim_zipf_share(rates->popularity, key) / rates->parts,
                     least = rates->least * sim_zipf_share(rates->popularity, key + step - 1) / rates->parts;
        const double parts = rates->parts * (double)step;
        double seconds = all;
        for (size_t i = 0; i < profile->count; i++) {
            const struct piece *piece = &profile->pieces[i];
            const double tail = tune_poisson_above(most * piece->times, limit);
            if (tail * seconds * rates->parts * (double)left < NEGLIGIBLE) {
                if (i == 0)
                    return out;
                break;
            }
            out.most += parts * piece->most * tail;
            out.least += parts * piece->least * undivided(rates, least * piece->times, limit) *
                         (least == most ? tail : tune_poisson_above(least * piece->times, limit));
            seconds -= piece->most;
        }
    }
    return out;
}

/* With the rate that has a chance of at most `chance` to be exceeded. */
static struct lab_rate_facts facts_of(const struct rates *rates, double limit, double chance)
{
    struct lab_rate_facts out = seconds_over(rates, limit);
    out.most = fmax(out.most, NEGLIGIBLE); /* never certain */
    double low = -1, high = 1;
    while (high < PEAK_MOST && seconds_over(rates, high).most > chance) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        *(seconds_over(rates, middle).most > chance ? &low : &high) = middle;
    }
    out.peak = high;
    return out;
}

/* --- writes */

/* Sets what kinds differ by: how many partitions of a key take rows at a time, and when one ends. */
static void set_kind(const struct lab_scenario *scenario, const struct lab_settings *settings,
                     struct rates *rates)
{
    const struct bk_strategy *strategy = &settings->strategy;
    const struct sim_size *size = &scenario->workload.row_bytes;
    rates->parts = (double)lab_shards(strategy);
    rates->rows = (double)INFINITY;
    switch (strategy->kind) {
    case BK_KIND_HASH:
        rates->parts = (double)strategy->of.hash.buckets;
        break;
    case BK_KIND_TIME:
        if (wl_has_own_times(&scenario->workload) ||
            (strategy->of.time.calendar == BK_CALENDAR_NONE &&
             (strategy->of.time.window_ns % SIM_SECOND != 0 || strategy->of.time.epoch_ns % SIM_SECOND != 0)))
            rates->least = 0;
        break;
    case BK_KIND_COUNT:
        rates->rows = (double)strategy->of.count.rows;
        break;
    case BK_KIND_PROBABILISTIC:
    case BK_KIND_WEIGHTED:
        if (strategy->kind == BK_KIND_WEIGHTED &&
            (scenario->trace_path != NULL || size->kind != SIM_SIZE_CONSTANT)) {
            rates->least = 0;
        } else {
            const struct tune_distribution distribution =
                tune_distribution_of(strategy, (uint64_t)fmax(1, size->a));
            rates->rows = tune_mean_rows(&distribution);
        }
        break;
    default:
        break;
    }
    rates->rows /= rates->parts;
    if (strategy->max_age_ns != 0)
        rates->least = 0;
}

static double judged_seconds(const struct tune_prospect *prospect, const struct lab_settings *settings)
{
    return 86400 * lab_judged_days(settings, 1e9 * prospect->seconds);
}

static bool know_writes(const struct tune_prospect *prospect, const struct lab_settings *settings,
                        double chance, struct lab_rate_facts *out)
{
    const struct lab_scenario *scenario = prospect->scenario;
    struct wl_workload workload = scenario->workload;
    const struct bk_strategy *strategy = &settings->strategy;
    const double limit = floor(scenario->limits.rate[LAB_RATE_WRITES]),
                 rate = workload.rate_per_s * prospect->factor;
    struct profile profile = {0};
    struct rates rates = {&workload.popularity, workload.key_count, &profile, rate, rate, 1, 0};
    if (!tune_has_rate(scenario) || workload.every_ns > 0)
        return true;
    set_kind(scenario, settings, &rates);
    workload.duration_ns =
        (int64_t)((double)workload.duration_ns * judged_seconds(prospect, settings) / prospect->seconds);
    if (make_profile(&workload, &profile)) {
        *out = facts_of(&rates, limit, chance);
        const double rows = rates.rows * rates.parts;
        if (strategy->kind == BK_KIND_COUNT && settings->source <= BK_SOURCE_LEASE && rows <= limit)
            *out = (struct lab_rate_facts){.is_known = true, .peak = fmin(out->peak, rows)};
    }
    free(profile.pieces);
    return !profile.lacks_memory;
}

/* --- reads */

/* The readers of a key query one of its partitions together: the newest one; of a range, the one in which it
 * ends. So no partition gets more reads than its key. They move on when a partition ends. Of a trace, only
 * the rows of the busiest key are known: most seconds above the limit would be those of keys like it. */
static void know_reads(const struct tune_prospect *prospect, const struct lab_settings *settings,
                       double chance, struct lab_rate_facts *out)
{
    const struct lab_scenario *scenario = prospect->scenario;
    const struct lab_read *kinds = scenario->reads.kinds, *range = &kinds[LAB_READ_RANGE];
    const struct bk_strategy *strategy = &settings->strategy;
    const bool is_trace = scenario->trace_path != NULL;
    const double newest = kinds[LAB_READ_LATEST].rate_per_s + kinds[LAB_READ_ALL].rate_per_s,
                 all = newest + range->rate_per_s, limit = floor(scenario->limits.rate[LAB_RATE_READS]),
                 busiest = is_trace ? prospect->busiest / prospect->rows
                                    : sim_zipf_share(&scenario->workload.popularity, 0);
    const double seconds = judged_seconds(prospect, settings);
    struct piece always = {1, seconds, fmax(0, seconds - 1)};
    const struct profile profile = {&always, 1, 1, false};
    struct sim_zipf even;
    struct rates rates = {&scenario->workload.popularity,
                          scenario->workload.key_count,
                          &profile,
                          all,
                          all,
                          1,
                          (double)INFINITY};
    if (!(busiest > 0))
        return;
    set_kind(scenario, settings, &rates);
    const double ends_per_s = busiest * prospect->rows / prospect->seconds / (rates.rows * rates.parts) +
                              (strategy->kind == BK_KIND_TIME && strategy->of.time.window_ns > 0
                                   ? (double)SIM_SECOND / (double)strategy->of.time.window_ns
                                   : 0);
    rates.parts = 1;
    rates.rows = (double)INFINITY;
    if (range->age_ns > 0 && strategy->kind != BK_KIND_HASH && strategy->kind != BK_KIND_UNBUCKETED)
        rates.least = fmin(rates.least, fmax(newest, range->rate_per_s));
    if (is_trace) {
        sim_zipf_init(&even, 0, (uint64_t)fmax(1, floor(1 / busiest)));
        rates.popularity = &even;
        rates.keys = even.count;
        rates.least *= busiest * (double)even.count;
    }
    *out = facts_of(&rates, limit, chance);
    out->least *= fmax(0, 1 - ends_per_s) / (is_trace ? (double)even.count : 1);
}

/* --- both */

bool tune_rates_of(const struct tune_prospect *prospect, const struct lab_settings *settings,
                   struct lab_rate_facts *out)
{
    const struct lab_scenario *scenario = prospect->scenario;
    const struct lab_limits *limits = &scenario->limits;
    const double chance = 1 - limits->confidence;
    for (int i = 0; i < LAB_RATES; i++)
        out[i] = (struct lab_rate_facts){.is_known = false};
    if (scenario->engine == LAB_ENGINE_CLUSTER || !tune_is_plain(scenario, settings))
        return true;
    if (limits->rate[LAB_RATE_READS] > 0)
        know_reads(prospect, settings, chance, &out[LAB_RATE_READS]);
    return limits->rate[LAB_RATE_WRITES] == 0 ||
           know_writes(prospect, settings, chance, &out[LAB_RATE_WRITES]);
}

static bool add(struct lab_strategy_result *strategy, enum lab_rate rate, const char *name, double value)
{
    char full[LAB_METRIC_NAME_SIZE];
    snprintf(full, sizeof full, "rates.%s.%s", lab_rate_name(rate), name);
    return lab_metrics_add(&strategy->metrics, full, tune_rounded(value));
}

bool tune_rates_add(const struct tune_prospect *prospect, struct lab_strategy_result *strategy)
{
    struct lab_rate_facts facts[LAB_RATES];
    bool is_fine = tune_rates_of(prospect, &strategy->settings, facts);
    for (int i = 0; is_fine && i < LAB_RATES; i++) {
        const struct lab_metric *counted =
            lab_metrics_find(&strategy->metrics, lab_rate_counted((enum lab_rate)i));
        const double limit = prospect->scenario->limits.rate[i];
        if (limit > 0 && (facts[i].is_known || counted != NULL))
            is_fine = add(strategy, (enum lab_rate)i, "peak",
                          fmax(facts[i].peak, counted == NULL ? 0 : counted->value));
        if (facts[i].is_known)
            is_fine = is_fine && add(strategy, (enum lab_rate)i, "over", facts[i].most) &&
                      add(strategy, (enum lab_rate)i, "over_least", facts[i].least);
    }
    return is_fine;
}
