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
#include "tune/expected.h"
#include "tune/odds.h"
#include "workload/rows.h"

#define NEAR     1e-7  /* relative error of a figure */
#define TINY     1e-10 /* absolute error of an expected number */
#define UNLIKELY 1e-12 /* an event that no seed meets */
#define NEVER    1e-6  /* expected partitions above a limit */
#define EDGES    20000

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

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

static bool is_near(double told, double wanted)
{
    return (isnan(told) && isnan(wanted)) || told == wanted || fabs(told - wanted) <= NEAR * fabs(wanted);
}

/* P(at most k of n), each with chance p. */
static double binomial_upto(double k, double n, double p)
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

/* --- verdicts */

static bool is_certain(const struct answer *answer, const struct lab_strategy *strategy)
{
    enum bk_kind kind = strategy->settings.strategy.kind;
    return answer->scenario->trace_path != NULL &&
           (kind == BK_UNBUCKETED || kind == BK_TIME || kind == BK_COUNT);
}

/* The judgment that follows from the run's metrics. */
static void judge(const struct answer *answer, size_t index, enum lab_within *within, enum lab_judged_by *by,
                  double *most)
{
    const struct lab_strategy_result *strategy = &answer->result->strategies[index];
    const struct lab_limits *limits = &answer->scenario->limits;
    double n = twin_metric(strategy, "partitions.total"),
           over = twin_metric(strategy, "partitions.over_limit");
    double expected = twin_metric(strategy, "expected.over_limit"), chance = 1 - limits->confidence;
    double least = twin_metric(strategy, "expected.over_limit_least"), may = limits->over_limit_share;
    *most = (double)NAN;
    *by = LAB_BY_NOTHING;
    *within = LAB_NOT_JUDGED;
    if (n == 0)
        return;
    *within = over > may * n ? LAB_EXCEEDS : LAB_WITHIN;
    *by = is_certain(answer, &answer->scenario->strategies[index]) ? LAB_BY_CERTAINTY : LAB_BY_SAMPLE;
    if (*by == LAB_BY_CERTAINTY || (may == 0 && over > 0))
        return;
    if (!isnan(expected)) {
        *most = twin_metric(strategy, "expected.share");
        *by = expected == 0 ? LAB_BY_CERTAINTY : LAB_BY_DISTRIBUTION;
        *within = (may == 0 ? expected <= chance : *most <= may) ? LAB_WITHIN : LAB_EXCEEDS;
        if (*within == LAB_WITHIN)
            return;
        *by = LAB_BY_DISTRIBUTION;
        if (least > (may == 0 ? chance : may * n))
            return;
    }
    *by = LAB_BY_SAMPLE;
    *most = -1; /* a confidence bound */
    bool seems_over =
        binomial_upto(over, n, may)<chance / 2, /* as few are unlikely if the share were `may` */
                                    is_more = over> 0 &&
        1 - binomial_upto(over - 1, n, may) < chance / 2;
    *within = may == 0 || seems_over ? LAB_WITHIN : is_more ? LAB_EXCEEDS : LAB_NOT_JUDGED;
}

/* A bound of Clopper and Pearson: with that share, as few as were seen have exactly this chance. */
static bool is_bound(double share, double over, double n, double confidence)
{
    double chance = (1 - confidence) / 2;
    return over >= n ? share == 1 : fabs(binomial_upto(over, n, share) - chance) <= 1e-6 * chance;
}

static bool check_verdict(const struct answer *answer, size_t index)
{
    const struct lab_strategy_result *strategy = &answer->result->strategies[index];
    const struct lab_limits *limits = &answer->scenario->limits;
    struct lab_facts facts = lab_facts_of(answer->result, strategy);
    struct lab_judgment told = lab_judgment_of(limits, &facts);
    double n = twin_metric(strategy, "partitions.total"), most,
           over = twin_metric(strategy, "partitions.over_limit");
    const double over_of[] = {or_zero(twin_metric(strategy, "partitions.over_limit_rows")),
                              or_zero(twin_metric(strategy, "partitions.over_limit_bytes"))};
    enum lab_within within;
    enum lab_judged_by by;
    judge(answer, index, &within, &by, &most);
    unsigned exceeded = 0;
    for (unsigned unit = 0; within == LAB_EXCEEDS && unit < LAB_SIZE_UNITS; unit++)
        exceeded |= over_of[unit] > 0 ? 1u << unit : 0;
    if (told.within != within || told.by != by)
        return twin_differs(answer,
                            "%s: judged %d by %s, and %d by %s by the twin (%.0f of %.0f, at most %g)",
                            strategy->label, told.within, lab_judged_by_name(told.by), within,
                            lab_judged_by_name(by), over, n, limits->over_limit_share);
    if (n == 0)
        return true;
    if ((double)told.partitions != n || (double)told.over != over || (double)told.over_of[0] != over_of[0] ||
        (double)told.over_of[1] != over_of[1] || told.exceeded != exceeded || !is_near(told.share, over / n))
        return twin_differs(answer, "%s: the facts of its verdict differ", strategy->label);
    bool is_fine =
        most == -1 ? is_bound(told.share_most, over, n, limits->confidence) : is_near(told.share_most, most);
    return is_fine ||
           twin_differs(answer, "%s: at most %.9g of other seeds' partitions, and %.9g by the twin",
                        strategy->label, told.share_most, most);
}

bool twin_verdicts(const struct answer *answer)
{
    for (size_t i = 0; i < answer->result->strategy_count; i++) {
        if (!check_verdict(answer, i))
            return false;
    }
    return true;
}

/* --- costs and the choice */

static double cost_of(const struct answer *answer, const struct lab_strategy_result *strategy)
{
    const struct lab_prices *set = &answer->scenario->prices;
    const bool is_set = set->state_read > 0;
    const struct {
        const char *name;
        double price;
    } counts[] = {{"writes.counter_increments", is_set ? set->counter_increment : 1},
                  {"writes.state_reads", is_set ? set->state_read : 1},
                  {"writes.state_writes", is_set ? set->state_write : 1},
                  {"writes.lwt", is_set ? set->lwt : 1},
                  {"writes.lock_ops", is_set ? set->lock : 1},
                  {"writes.rows_scanned", is_set ? set->row_scanned : 0}};
    double sum = 0, rows = twin_metric(strategy, "writes.rows");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sum += counts[i].price * twin_metric(strategy, counts[i].name);
    sum += (is_set ? set->partition_read : 1) * or_zero(twin_metric(strategy, "reads.count")) *
           or_zero(twin_metric(strategy, "reads.partitions_per_read.mean"));
    return rows > 0 ? 1000 * sum / rows : (double)NAN;
}

/* The candidate to take: first by load, then, of those near the least, by CV, room and place. */
size_t twin_choose(const struct lab_candidate *all, size_t count, double tolerance)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        size_t best = SIZE_MAX;
        double least = (double)INFINITY;
        for (size_t i = 0; i < count; i++) {
            if (all[i].is_eligible && (all[i].requirements & 1u) == pass && all[i].load < least)
                least = all[i].load;
        }
        for (size_t i = 0; i < count; i++) {
            if (!all[i].is_eligible || (all[i].requirements & 1u) != pass ||
                all[i].load > least + tolerance * least)
                continue;
            double cv = isnan(all[i].cv) ? 1e300 : all[i].cv;
            double other = best == SIZE_MAX ? 2e300 : isnan(all[best].cv) ? 1e300 : all[best].cv;
            if (cv < other || (cv == other && all[i].fullness < all[best].fullness))
                best = i;
        }
        if (best != SIZE_MAX)
            return best;
    }
    return SIZE_MAX;
}

static bool check_score(const struct answer *answer, size_t index, const struct lab_score *score)
{
    const struct lab_strategy_result *strategy = &answer->result->strategies[index];
    const struct lab_settings *settings = &answer->scenario->strategies[index].settings;
    const struct lab_limits *limits = &answer->scenario->limits;
    const enum bk_kind kind = settings->strategy.kind;
    double cost = cost_of(answer, strategy), mean = twin_metric(strategy, "partitions.closed.rows.mean");
    double cv = mean > 0 ? twin_metric(strategy, "partitions.closed.rows.stddev") / mean : (double)NAN;
    double in_rows = limits->partition_rows == 0 ? 0
                                                 : or_zero(twin_metric(strategy, "partitions.all.rows.max")) /
                                                       (double)limits->partition_rows;
    double in_bytes =
        limits->partition_bytes == 0
            ? 0
            : or_zero(twin_metric(strategy, "partitions.all.bytes.max")) / (double)limits->partition_bytes;
    bool is_endless =
        (kind == BK_UNBUCKETED || kind == BK_HASH) && or_zero(twin_metric(strategy, "rows.expired")) == 0;
    bool is_eligible = score->judgment.within == LAB_WITHIN && !is_endless && !isnan(cost);
    bool needs_numbers = kind == BK_COUNT && settings->source == BK_SOURCE_EXTERNAL;
    if (!is_near(score->cost, cost) || !is_near(score->candidate.load, 1000 + cost) ||
        !is_near(score->candidate.cv, cv) || !is_near(score->candidate.fullness, fmax(in_rows, in_bytes)))
        return twin_differs(answer, "%s: costs %.9g with CV %.9g, and %.9g with %.9g by the twin",
                            strategy->label, score->cost, score->candidate.cv, cost, cv);
    if (score->candidate.is_eligible != is_eligible ||
        (score->candidate.requirements & 1u) != (uint32_t)needs_numbers)
        return twin_differs(answer, "%s: whether it may be chosen differs", strategy->label);
    return true;
}

bool twin_choice(const struct answer *answer)
{
    struct lab_score scores[LAB_STRATEGIES_MAX];
    struct lab_candidate candidates[LAB_STRATEGIES_MAX];
    size_t told = lab_choose(answer->result, scores), count = answer->result->strategy_count;
    for (size_t i = 0; i < count; i++) {
        if (!check_score(answer, i, &scores[i]))
            return false;
        candidates[i] = scores[i].candidate;
    }
    size_t wanted = twin_choose(candidates, count, answer->scenario->limits.tolerance);
    return told == wanted ||
           twin_differs(answer, "strategy %zu is chosen, and %zu by the twin", told, wanted);
}

bool twin_rule(const struct answer *answer)
{
    static const double loads[] = {1024, 1032, 1032.0000001, 1040, 1280, 2048};
    static const double tolerances[] = {0, 0.0078125, 0.015625, 0.25, 1};
    struct lab_candidate all[6];
    for (int round = 0; round < 50; round++) {
        size_t count = 1 + sim_random_below(answer->random, 6);
        for (size_t i = 0; i < count; i++)
            all[i] = (struct lab_candidate){
                .is_eligible = sim_random_below(answer->random, 4) > 0,
                .requirements = (uint32_t)sim_random_below(answer->random, 1u << LAB_REQUIREMENT_COUNT),
                .load = loads[sim_random_below(answer->random, 6)],
                .cv = sim_random_below(answer->random, 4) == 0
                          ? (double)NAN
                          : (double)sim_random_below(answer->random, 3) / 4,
                .fullness = (double)sim_random_below(answer->random, 3) / 4};
        double tolerance = tolerances[sim_random_below(answer->random, 5)];
        size_t told = lab_choose_from(all, count, tolerance), wanted = twin_choose(all, count, tolerance);
        if (told != wanted)
            return twin_differs(answer, "of %zu drawn candidates %td is chosen, and %td by the twin", count,
                                (ptrdiff_t)told, (ptrdiff_t)wanted);
    }
    return true;
}

/* --- growth and horizons */

/* P(T > t) of Student's distribution: the density of its angle is a power of the cosine. */
static double student_above(double t, double degrees)
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
    bool grows = sum > 0 && (error < 1e-12 || student_above(sum / n / error, n - 1) < (1 - confidence) / 2);
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
    double so_far = (exp(growth * days) - 1) / growth;
    return is_rate ? log(times * so_far / days) / growth : log(1 + growth * times * so_far) / growth;
}

static double horizon_of(const struct answer *answer, size_t index, double growth, double days,
                         double *all_days)
{
    const struct lab_strategy_result *strategy = &answer->result->strategies[index];
    const struct lab_limits *limits = &answer->scenario->limits;
    const enum bk_kind kind = answer->scenario->strategies[index].settings.strategy.kind;
    const char *const names[][2] = {{"partitions.all.rows.max", "partitions.all.bytes.max"},
                                    {"keys.rows.max", "keys.bytes.max"}};
    double seen = twin_metric(strategy, "partitions.first_over_days"), room[2];
    for (int i = 0; i < 2; i++) {
        double rows = or_zero(twin_metric(strategy, names[i][0])),
               bytes = or_zero(twin_metric(strategy, names[i][1]));
        room[i] = (double)INFINITY;
        if (limits->partition_rows > 0 && rows > 0)
            room[i] = fmin(room[i], (double)limits->partition_rows / rows);
        if (limits->partition_bytes > 0 && bytes > 0)
            room[i] = fmin(room[i], (double)limits->partition_bytes / bytes);
    }
    double ttl_days = (double)answer->scenario->row_ttl_ns / (double)SIM_DAY;
    bool stops = ttl_days > 0 && ttl_days <= days;
    double unbucketed = grown(growth, days, room[1], false);
    double most = twin_metric(strategy, "expected.over_limit"),
           least = twin_metric(strategy, "expected.over_limit_least");
    *all_days = stops ? (double)NAN : unbucketed;
    if (!isnan(seen))
        return seen;
    if ((kind == BK_UNBUCKETED || kind == BK_HASH) && !stops)
        return grown(growth, days, room[0], false);
    if (answer->scenario->trace_path != NULL && kind == BK_TIME)
        return growth > 0 ? fmax(days, grown(growth, days, room[0], true)) : (double)NAN;
    if (isnan(most))
        return (double)NAN;
    if (most <= NEVER)
        return (double)INFINITY;
    return least > 0 ? fmax(unbucketed, grown(growth, days, 2 / (least + most), false)) : (double)NAN;
}

bool twin_horizons(const struct answer *answer)
{
    const struct lab_result *result = answer->result;
    double growth = 0, days = fmax(1, (double)(result->end_ns - result->start_ns)) / (double)SIM_DAY;
    if (answer->scenario->trace_path != NULL && !check_weeks(answer, &growth))
        return false;
    if (answer->scenario->design.is_given || isnan(twin_metric(&result->strategies[0], "keys.rows.max")))
        return true;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        double all_days, wanted = horizon_of(answer, i, growth, days, &all_days);
        double doubles = growth > 0 ? log(2) / growth : (double)NAN;
        const struct {
            const char *name;
            double wanted;
        } told[] = {{"horizon.days", wanted},
                    {"horizon.unbucketed_days", all_days},
                    {"horizon.doubles_days", doubles}};
        for (size_t j = 0; j < 3; j++) {
            double is = twin_metric(strategy, told[j].name),
                   should = told[j].wanted > LAB_DAYS_MOST ? LAB_DAYS_MOST : told[j].wanted;
            if (!is_near(is, should))
                return twin_differs(answer, "%s: %s is %.9g, and %.9g by the twin", strategy->label,
                                    told[j].name, is, should);
        }
    }
    return true;
}

/* --- expected numbers */

/* The moments at which windows end, from the start of the run to its end. Returns the number of windows. */
static size_t edges_of(const struct answer *answer, const struct bk_strategy *strategy, int64_t *edges_ns)
{
    size_t count = 0;
    int64_t end_ns = answer->input->end_ns;
    edges_ns[0] = answer->input->start_ns;
    while (strategy->kind == BK_TIME && edges_ns[count] < end_ns && count + 2 < EDGES) {
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
    if (strategy->kind != BK_TIME)
        edges_ns[++count] = end_ns;
    return count;
}

/* Sums P(N > limit) over windows and buckets of all keys. */
static double poisson_sum(const struct answer *answer, const struct bk_strategy *strategy, double limit)
{
    int64_t *edges_ns = naive_must(calloc(EDGES, sizeof *edges_ns));
    double *masses = naive_must(calloc(EDGES, sizeof *masses)), sum = 0;
    double parts = strategy->kind == BK_HASH ? (double)strategy->of.hash.buckets : 1;
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
    if (strategy->kind == BK_COUNT &&
        (settings->source == BK_SOURCE_EXTERNAL || settings->source == BK_SOURCE_COUNTER ||
         settings->source == BK_SOURCE_LWT || settings->source == BK_SOURCE_LEASE))
        return (double)strategy->of.count.rows > n;
    if (strategy->kind == BK_PROBABILISTIC) {
        double of = (double)strategy->of.probabilistic.chance_denominator;
        double p = of > 0 ? (double)strategy->of.probabilistic.chance_numerator / of
                          : pow(0.5, strategy->of.probabilistic.bits);
        return binomial_upto((double)strategy->of.probabilistic.threshold - 1, n, p);
    }
    if (strategy->kind != BK_WEIGHTED || size->kind != SIM_SIZE_CONSTANT)
        return (double)NAN;
    uint64_t bytes = size->a < 1 ? 1 : (uint64_t)size->a, unit = strategy->of.weighted.bytes;
    double sure = n * (double)(bytes / unit), left = (double)strategy->of.weighted.threshold - 1 - sure;
    return left < 0 ? 0 : binomial_upto(left, n, (double)(bytes % unit) / (double)unit);
}

/* The mean is the sum of P(N > n) over all n. */
static bool check_mean(const struct answer *answer, const struct lab_settings *settings)
{
    const uint64_t bytes = (uint64_t)fmax(1, answer->scenario->workload.row_bytes.a);
    const struct tune_weighted distribution = {.bytes = settings->strategy.of.weighted.bytes,
                                               .threshold = settings->strategy.of.weighted.threshold,
                                               .row_bytes = bytes};
    double sum = 0, tail = rows_above(answer, settings, 0);
    if (settings->strategy.kind != BK_WEIGHTED || isnan(tail))
        return true;
    for (double n = 0; tail > 1e-15 && n < 20000; tail = rows_above(answer, settings, ++n))
        sum += tail;
    return tail > 1e-15 || is_near(tune_weighted_mean_bytes(&distribution), sum * (double)bytes) ||
           twin_differs(answer, "weighted: %.9g bytes on average, and %.9g by the twin",
                        tune_weighted_mean_bytes(&distribution), sum * (double)bytes);
}

/* The distribution of a probabilistic partition: one row more or less. */
static bool check_odds(const struct answer *answer, const struct lab_settings *settings, double n)
{
    const struct bk_strategy *strategy = &settings->strategy;
    if (strategy->kind != BK_PROBABILISTIC)
        return true;
    double of = (double)strategy->of.probabilistic.chance_denominator;
    const struct tune_distribution odds = {.p = of > 0
                                                    ? (double)strategy->of.probabilistic.chance_numerator / of
                                                    : pow(0.5, strategy->of.probabilistic.bits),
                                           .threshold = strategy->of.probabilistic.threshold};
    double upto = 1 - rows_above(answer, settings, n),
           below = n > 0 ? 1 - rows_above(answer, settings, n - 1) : 0;
    uint64_t rows = (uint64_t)n, quantile = tune_quantile(&odds, upto > 0.999 ? 0.5 : upto);
    double of_quantile = 1 - rows_above(answer, settings, (double)quantile);
    return (fabs(tune_pmf(&odds, rows) - (upto - below)) < 1e-9 &&
            fabs(tune_below(&odds, rows) - below) < 1e-9 &&
            is_near(tune_mean_rows(&odds), (double)odds.threshold / odds.p) &&
            is_near(tune_stddev_rows(&odds), sqrt((double)odds.threshold * (1 - odds.p)) / odds.p) &&
            of_quantile >= (upto > 0.999 ? 0.5 : upto) - 1e-9) ||
           twin_differs(answer, "the distribution differs at %.0f rows", n);
}

/* The expected number of partitions above `limit` rows, given the rows of each key: one that begins at row i
 * exceeds the limit if it does not end within the next `limit` rows and the key has one more. */
static double renewal_sum(const struct answer *answer, const struct lab_settings *settings, double limit)
{
    size_t most = 0;
    for (size_t k = 0; k < answer->input->key_count; k++)
        most = answer->input->keys[k].count > most ? answer->input->keys[k].count : most;
    double *ends = naive_must(calloc(most + 2, sizeof *ends)),
           *begins = naive_must(calloc(most + 2, sizeof *ends));
    double tail = rows_above(answer, settings, limit), sum = 0;
    for (size_t n = 1; n <= most; n++)
        ends[n] = rows_above(answer, settings, (double)n - 1) - rows_above(answer, settings, (double)n);
    begins[0] = 1;
    for (size_t i = 1; i <= most; i++) {
        for (size_t n = 1; n <= i; n++)
            begins[i] += ends[n] * begins[i - n];
    }
    for (size_t k = 0; k < answer->input->key_count; k++) {
        for (size_t i = 0; (double)i + limit < (double)answer->input->keys[k].count; i++)
            sum += begins[i] * tail;
    }
    free(ends);
    free(begins);
    return sum;
}

static bool check_rows(const struct answer *answer, const struct lab_strategy *strategy, uint64_t limit)
{
    struct lab_scenario scenario = *answer->scenario;
    const struct bk_strategy *core = &strategy->settings.strategy;
    struct lab_facts told;
    double n = (double)limit, tail = rows_above(answer, &strategy->settings, n), least, most;
    bool is_synthetic = scenario.trace_path == NULL, has_own = wl_has_own_times(&scenario.workload);
    bool counts = !isnan(tail), is_bursty = scenario.workload.backfill_before_ns > 0 || has_own;
    scenario.limits.partition_rows = limit;
    scenario.limits.partition_bytes = 0;
    const struct tune_prospect prospect = {.scenario = &scenario,
                                           .factor = 1,
                                           .rows = (double)answer->input->rows,
                                           .keys = (double)answer->input->keys_with_rows};
    tune_expected_of(&prospect, &strategy->settings, &told);
    bool is_known =
        counts || (is_synthetic && !is_bursty && core->kind != BK_COUNT && !bk_kind_fires(core->kind));
    is_known = is_known && !scenario.design.is_given && scenario.deletes.share == 0 &&
               strategy->settings.change_count == 0;
    if (told.has_distribution != is_known)
        return twin_differs(answer, "%s: whether its distribution is known differs", strategy->label);
    if (!is_known || answer->input->rows > 4000)
        return true;
    if (counts) {
        /* A key that rarely has as many rows has an expected number of its own. */
        const struct bk_strategy whole = {.kind = BK_UNBUCKETED};
        least = most = core->max_age_ns > 0 ? 0 : renewal_sum(answer, &strategy->settings, n);
        most = is_synthetic && poisson_sum(answer, &whole, n) < 0.0101 ? 0 : most;
        if (!is_near(told.expected_share, fmax(tail, core->kind == BK_COUNT ? 0 : 2.2250738585072014e-308)) &&
            fabs(told.expected_share - tail) > 1e-13)
            return twin_differs(answer,
                                "%s: a partition has more than %.0f rows with %.9g, and %.9g by the twin",
                                strategy->label, n, told.expected_share, tail);
    } else {
        least = most = poisson_sum(answer, core, n);
    }
    least = scenario.row_ttl_ns > 0 ? 0 : least;
    bool is_tight = counts || told.expected_most <= most * (1 + NEAR) + TINY;
    bool is_least = counts || fabs(told.expected_least - least) <= least * NEAR + TINY;
    return (told.expected_most >= most * (1 - NEAR) - TINY &&
            told.expected_least <= least * (1 + NEAR) + TINY && is_tight && is_least) ||
           core->max_age_ns > 0 ||
           twin_differs(answer, "%s: %.9g to %.9g partitions above %.0f rows, and %.9g to %.9g by the twin",
                        strategy->label, told.expected_least, told.expected_most, n, least, most);
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
    if (core->kind != BK_COUNT || strategy->settings.source != BK_SOURCE_EXTERNAL || core->max_age_ns > 0 ||
        scenario->trace_path != NULL)
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
    const struct tune_prospect prospect = {.scenario = &limited,
                                           .factor = 1,
                                           .rows = (double)answer->input->rows,
                                           .keys = (double)answer->input->keys_with_rows};
    tune_expected_of(&prospect, &strategy->settings, &told);
    if (!told.has_distribution || over == 0 || told.expected_share >= 1)
        return true;
    return 1 - binomial_upto((double)over - 1, DRAWN, told.expected_share) > 1e-9 ||
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
               most = twin_metric(told, "expected.over_limit"),
               least = twin_metric(told, "expected.over_limit_least");
        double rows = or_zero(twin_metric(told, "partitions.all.rows.p90"));
        if (over > 0 && !isnan(most) && poisson_above(most, over - 1) < UNLIKELY)
            return twin_differs(answer, "%s: %.0f partitions over, at most %.3g expected", told->label, over,
                                most);
        if (least > over && 1 - poisson_above(least, over) < UNLIKELY)
            return twin_differs(answer, "%s: %.0f partitions over, at least %.3g expected", told->label, over,
                                least);
        uint64_t limit = (uint64_t)rows + sim_random_below(answer->random, (uint64_t)rows / 2 + 4);
        if (rows > 0 && (!check_odds(answer, &strategy->settings, (double)limit) ||
                         !check_mean(answer, &strategy->settings) || !check_rows(answer, strategy, limit) ||
                         !check_bytes(answer, strategy)))
            return false;
    }
    return true;
}

/* --- what the naive engine shares with the product */

bool twin_shares(const struct answer *answer)
{
    const struct sim_zipf *zipf = &answer->scenario->workload.popularity;
    double total = 0;
    if (answer->scenario->trace_path != NULL || zipf->point_count > 0)
        return true;
    for (uint64_t i = 0; i < zipf->count; i++)
        total += pow((double)(i + 1), -zipf->s);
    for (uint64_t i = 0; i < zipf->count; i++) {
        if (fabs(sim_zipf_share(zipf, i) * total / pow((double)(i + 1), -zipf->s) - 1) > 1e-11)
            return twin_differs(answer, "the share of key %u differs", (unsigned)i);
    }
    return true;
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
    for (uint32_t i = 0; i < settings->change_count; i++, eras->count++) {
        const struct lab_change *change = &settings->changes[i];
        const struct bk_strategy *before = eras->strategy[i];
        int64_t from_ns = answer->input->start_ns + change->at_ns, highest = eras->shift[i];
        highest += before->kind == BK_TIME ? naive_window(before, from_ns - 1) : 0;
        highest += before->kind == BK_HASH ? (int64_t)before->of.hash.buckets - 1 : 0;
        eras->strategy[i + 1] = &change->strategy;
        eras->from_ns[i + 1] = from_ns;
        eras->shift[i + 1] =
            highest + 1 - (change->strategy.kind == BK_TIME ? naive_window(&change->strategy, from_ns) : 0);
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
                if (eras.strategy[era]->kind == BK_COUNT) {
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
