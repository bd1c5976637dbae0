/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges the strategies of a run: facts from metrics, a judgment from facts, and the choice. */
#include "lab/judgment.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel/time.h"

static double figure(const struct lab_strategy_result *strategy, const char *name, double missing)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? missing : metric->value;
}

static uint64_t whole(const struct lab_strategy_result *strategy, const char *name)
{
    return (uint64_t)figure(strategy, name, 0);
}

/* The partitions that the reads of a kind query, if the kind has reads of its own; "": of all kinds. */
static double queried_by(const struct lab_strategy_result *strategy, const char *kind)
{
    char count[LAB_METRIC_NAME_SIZE], mean[LAB_METRIC_NAME_SIZE];
    snprintf(count, sizeof count, "reads%s.count", kind);
    snprintf(mean, sizeof mean, "reads%s.partitions_per_read.mean", kind);
    return figure(strategy, count, 0) * figure(strategy, mean, 0);
}

/* The partitions that all reads query: kind by kind, so that ranges that begin before the stream, which the
 * means leave out, do not change the mix. */
static double queried(const struct lab_strategy_result *strategy)
{
    const double sum =
        queried_by(strategy, ".latest") + queried_by(strategy, ".range") + queried_by(strategy, ".all");
    return sum > 0 ? sum : queried_by(strategy, "");
}

struct lab_cost lab_cost_of(const struct lab_prices *prices, const struct lab_strategy_result *strategy)
{
    const double rows = figure(strategy, "writes.rows", 0);
    const double asked = queried(strategy);
    struct lab_cost cost = {.write = (double)NAN, .read = (double)NAN};
    if (!(rows > 0))
        return cost;
    if (lab_prices_are_equal(prices))
        return (struct lab_cost){figure(strategy, "writes.extra_ops_per_1000_rows", 0), 1000 * asked / rows};
    cost = (struct lab_cost){0, 0};
    for (size_t i = 0; i < lab_price_count; i++) {
        const struct lab_price *price = &lab_price_table[i];
        double count = price->metric == NULL ? asked : figure(strategy, price->metric, 0);
        *(price->metric == NULL ? &cost.read : &cost.write) +=
            lab_price_of(prices, price) * (1000 * count / rows);
    }
    return cost;
}

/* Whether partitions still grow at the end. A run of an earlier version does not say so: a kind without end
 * then grows as long as no row has expired. */
static bool still_grows(const struct lab_strategy_result *strategy)
{
    const struct lab_settings *settings = &strategy->settings;
    const bool is_endless = !settings->is_idgen && settings->observed == WL_OBSERVED_AUTO &&
                            !lab_kind_ends(settings->strategy.kind) &&
                            figure(strategy, "rows.expired", 0) == 0;
    return figure(strategy, "partitions.growing", is_endless) > 0;
}

double lab_judged_days(const struct lab_settings *settings, double lasts_ns)
{
    const double days = lasts_ns / (double)SIM_DAY;
    return lab_kind_ends(settings->strategy.kind) ? fmax(LAB_JUDGED_DAYS, days) : days;
}

/* Whether every seed makes the same partitions. */
static bool is_certain(const struct lab_result *result, const struct lab_strategy_result *strategy)
{
    enum bk_kind kind = strategy->settings.strategy.kind;
    return strategy->settings.observed != WL_OBSERVED_AUTO ||
           (result->source != NULL && strcmp(result->source, "synthetic") != 0 &&
            strategy->events.stride == 0 &&
            (kind == BK_KIND_UNBUCKETED || kind == BK_KIND_TIME || kind == BK_KIND_COUNT));
}

/* What a file says: the sizes of all partitions, bounds, or nothing. */
static void observe(const struct lab_result *result, const struct lab_strategy_result *strategy,
                    struct lab_facts *facts)
{
    const struct lab_limits *limits = &result->limits;
    const uint64_t limit[LAB_SIZE_UNITS] = {limits->partition_rows, limits->partition_bytes};
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct lab_known known = lab_known_of(strategy, limits, (enum lab_size_unit)unit);
        facts->is_unknown[unit] = limit[unit] != 0 && known.by == LAB_KNOWN_NOTHING;
        facts->over_of[unit] = known.over;
        if (known.listed > facts->partitions)
            facts->partitions = known.listed;
        if (limit[unit] == 0 || known.by == LAB_KNOWN_NOTHING || known.by == LAB_KNOWN_EXACTLY)
            continue;
        const bool has_one = limits->over_limit_share == 0 && known.largest_least > limit[unit];
        facts->has_bounds = true;
        facts->bound_least[unit] = has_one ? fmax(known.over_least, DBL_MIN) : known.over_least;
        facts->bound_most[unit] = known.over_most;
    }
}

const char *lab_rate_counted(enum lab_rate rate)
{
    return rate == LAB_RATE_WRITES ? "peak.rows_per_second_one_partition"
                                   : "peak.reads_per_second_one_partition";
}

static struct lab_rate_facts rate_of(const struct lab_strategy_result *strategy, enum lab_rate rate)
{
    static const char *const known[LAB_RATES][3] = {
        {"rates.writes.over", "rates.writes.over_least", "rates.writes.peak"},
        {"rates.reads.over", "rates.reads.over_least", "rates.reads.peak"}};
    return (struct lab_rate_facts){.is_counted =
                                       lab_metrics_find(&strategy->metrics, lab_rate_counted(rate)) != NULL,
                                   .is_known = lab_metrics_find(&strategy->metrics, known[rate][0]) != NULL,
                                   .counted = figure(strategy, lab_rate_counted(rate), 0),
                                   .most = figure(strategy, known[rate][0], 0),
                                   .least = figure(strategy, known[rate][1], 0),
                                   .peak = figure(strategy, known[rate][2], 0)};
}

struct lab_facts lab_facts_of(const struct lab_result *result, const struct lab_strategy_result *strategy)
{
    static const char *const over[LAB_SIZE_UNITS] = {"partitions.over_limit_rows",
                                                     "partitions.over_limit_bytes"};
    const uint64_t limits[LAB_SIZE_UNITS] = {result->limits.partition_rows, result->limits.partition_bytes};
    struct lab_facts facts = {.partitions = whole(strategy, "partitions.total"),
                              .over = whole(strategy, "partitions.over_limit"),
                              .is_certain = is_certain(result, strategy)};
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        facts.over_of[unit] = whole(strategy, over[unit]);
        facts.is_unknown[unit] =
            limits[unit] != 0 && lab_metrics_find(&strategy->metrics, over[unit]) == NULL;
        facts.over = facts.over_of[unit] > facts.over ? facts.over_of[unit] : facts.over;
    }
    if (strategy->settings.observed != WL_OBSERVED_AUTO)
        observe(result, strategy, &facts);
    for (int i = 0; i < LAB_RATES; i++)
        facts.rates[i] = rate_of(strategy, (enum lab_rate)i);
    const struct lab_metric *most = lab_metrics_find(&strategy->metrics, "expected.over_limit");
    facts.has_distribution = most != NULL;
    facts.expected_most = most == NULL ? (double)INFINITY : most->value;
    facts.expected_least = figure(strategy, "expected.over_limit_least", 0);
    facts.expected_share = figure(strategy, "expected.share", (double)NAN);
    facts.expected_full = figure(strategy, "expected.full_share", 0);
    facts.expected_days =
        lab_judged_days(&strategy->settings, (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns));
    return facts;
}

void lab_facts_add(struct lab_facts *into, const struct lab_facts *from)
{
    into->partitions += from->partitions;
    into->over += from->over;
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        into->over_of[unit] += from->over_of[unit];
        into->is_unknown[unit] |= from->is_unknown[unit];
    }
    /* The expected number is that of one run, so the largest of the seeds counts: bursts differ. */
    into->has_distribution &= from->has_distribution;
    into->expected_most = fmax(into->expected_most, from->expected_most);
    into->expected_least = fmin(into->expected_least, from->expected_least);
    into->expected_share = fmax(into->expected_share, from->expected_share);
    into->expected_full = fmax(into->expected_full, from->expected_full);
    for (int i = 0; i < LAB_RATES; i++) {
        into->rates[i].is_counted &= from->rates[i].is_counted;
        into->rates[i].counted = fmax(into->rates[i].counted, from->rates[i].counted);
    }
}

static bool judge_bounds(const struct lab_limits *limits, const struct lab_facts *facts,
                         struct lab_judgment *out)
{
    const uint64_t limit[LAB_SIZE_UNITS] = {limits->partition_rows, limits->partition_bytes};
    double least = 0, most = 0;
    if (!facts->has_bounds)
        return false;
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        if (limit[unit] == 0 || facts->is_unknown[unit])
            continue;
        least = fmax(least, facts->bound_least[unit]);
        most += facts->bound_most[unit];
        out->exceeded |= facts->bound_least[unit] > limits->over_limit_share ? 1u << unit : 0;
    }
    out->by = LAB_BY_PERCENTILES;
    out->share = least;
    out->share_most = fmin(1, most);
    out->within = least > limits->over_limit_share   ? LAB_EXCEEDS
                  : most <= limits->over_limit_share ? LAB_WITHIN
                                                     : LAB_NOT_JUDGED;
    if (out->within == LAB_NOT_JUDGED)
        out->missing =
            "the percentiles do not show how many partitions exceed the limit; a list of partitions "
            "(sstablepartitions) does";
    return true;
}

static void exceed(const struct lab_facts *facts, enum lab_judged_by by, struct lab_judgment *out)
{
    out->within = LAB_EXCEEDS;
    out->by = by;
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        out->exceeded |= facts->over_of[unit] > 0 ? 1u << unit : 0;
}

/* Steps 3 to 5 of the header's list. */
static void judge_partitions(const struct lab_limits *limits, const struct lab_facts *facts,
                             struct lab_judgment *out)
{
    const double may = limits->over_limit_share, chance = 1 - limits->confidence;
    const double seen = (double)facts->over / (double)facts->partitions;
    const bool is_full_over = facts->expected_full > (may == 0 ? chance : may);
    const bool is_over = is_full_over || (may == 0 && facts->expected_least > chance);
    out->share = seen;
    if (facts->is_certain && (seen > may || !is_over)) {
        out->share_most = (double)NAN;
        out->within = LAB_WITHIN;
        out->by = LAB_BY_CERTAINTY;
        if (seen > may)
            exceed(facts, LAB_BY_CERTAINTY, out);
        return;
    }
    if (may == 0 && facts->over > 0) {
        exceed(facts, LAB_BY_SAMPLE, out);
        return;
    }
    if (is_over) {
        out->share_most = fmax(facts->expected_share, facts->expected_full);
        out->expected = facts->expected_least;
        out->expected_days = facts->expected_days;
        exceed(facts, LAB_BY_DISTRIBUTION, out);
        return;
    }
    if (facts->has_distribution &&
        (may == 0 ? facts->expected_most <= chance : facts->expected_share <= may)) {
        out->share_most = facts->expected_share;
        out->by = facts->expected_most == 0 ? LAB_BY_CERTAINTY : LAB_BY_DISTRIBUTION;
        out->within = LAB_WITHIN;
        return;
    }
    out->by = LAB_BY_SAMPLE;
    out->share_most =
        limits->confidence > 0 ? lab_share_most(facts->over, facts->partitions, limits->confidence) : 1;
    if (may == 0 || out->share_most <= may)
        out->within = LAB_WITHIN;
    else if (limits->confidence <= 0
                 ? seen > may
                 : lab_share_least(facts->over, facts->partitions, limits->confidence) > may * (1 + 1e-9))
        exceed(facts, LAB_BY_SAMPLE, out);
    else
        out->missing = "there are too few partitions to tell; use more seeds or a longer run";
}

/* Adds how a rate is judged to a judgment of sizes, or of nothing yet. */
static void judge_rate(const struct lab_limits *limits, const struct lab_facts *facts, enum lab_rate which,
                       struct lab_judgment *out)
{
    const struct lab_rate_facts *rate = &facts->rates[which];
    const double limit = limits->rate[which], chance = 1 - limits->confidence;
    const bool is_over = rate->is_counted && rate->counted > limit;
    enum lab_judged_by by = LAB_BY_NOTHING;
    if (limit == 0)
        return;
    if (rate->is_known && (rate->most <= chance || rate->least > chance))
        by = rate->most == 0 ? LAB_BY_CERTAINTY : LAB_BY_DISTRIBUTION;
    if (is_over || (by == LAB_BY_NOTHING && rate->is_counted))
        by = facts->is_certain && which == LAB_RATE_WRITES ? LAB_BY_CERTAINTY : LAB_BY_SAMPLE;
    out->peak[which] = fmax(rate->is_known ? rate->peak : 0, rate->is_counted ? rate->counted : 0);
    if (is_over || (by == LAB_BY_DISTRIBUTION && rate->least > chance)) {
        out->by = out->within == LAB_EXCEEDS ? out->by : by;
        out->within = LAB_EXCEEDS;
        out->missing = NULL;
        out->exceeded |= 1u << (LAB_SIZE_UNITS + which);
    } else if (out->within != LAB_WITHIN) {
        return;
    } else if (by == LAB_BY_NOTHING) {
        out->within = LAB_NOT_JUDGED;
        out->by = LAB_BY_NOTHING;
        out->missing = which == LAB_RATE_READS
                           ? "the reads of a partition in a second are not known; 'agents' count them"
                           : "the writes of a partition in a second are not known; engine: exact counts them";
    } else if (out->by == LAB_BY_NOTHING) {
        out->by = by;
    }
}

static struct lab_judgment judge_sizes(const struct lab_limits *limits, const struct lab_facts *facts)
{
    const struct lab_judgment nothing = {.partitions = facts->partitions,
                                         .over = facts->over,
                                         .over_of = {facts->over_of[0], facts->over_of[1]},
                                         .share = (double)NAN,
                                         .share_most = (double)NAN};
    struct lab_judgment out = nothing;
    if (!lab_limits_sizes(limits)) {
        out.within = lab_limits_any(limits) ? LAB_WITHIN : LAB_NOT_JUDGED;
        out.missing = lab_limits_any(limits) ? NULL : "no limit is set; add limits: {partition_bytes: 100MB}";
        return out;
    }
    if (!judge_bounds(limits, facts, &out)) {
        if (facts->partitions > 0)
            judge_partitions(limits, facts, &out);
        else
            out.missing = "there are no partitions";
    }
    /* What is known may show that a limit is exceeded, but not that the unknown limit is kept. */
    if (out.within != LAB_EXCEEDS && (facts->is_unknown[LAB_IN_ROWS] || facts->is_unknown[LAB_IN_BYTES])) {
        out = nothing;
        out.missing =
            facts->is_unknown[LAB_IN_ROWS]
                ? "the limit is in rows, and the rows of partitions are not known; give a file with a "
                  "rowCount column, or a limit in bytes"
                : "the limit is in bytes, and the bytes of partitions are not known; give a limit in "
                  "rows";
    }
    return out;
}

struct lab_judgment lab_judgment_of(const struct lab_limits *limits, const struct lab_facts *facts)
{
    struct lab_judgment out = judge_sizes(limits, facts);
    for (int i = 0; i < LAB_RATES; i++)
        judge_rate(limits, facts, (enum lab_rate)i, &out);
    return out;
}

const char *lab_judged_by_name(enum lab_judged_by by)
{
    static const char *const names[] = {"not judged", "certain", "distribution", "sample", "percentiles"};
    return (unsigned)by < sizeof names / sizeof *names ? names[by] : "unknown";
}

double lab_refused_share(const struct lab_strategy_result *strategy)
{
    const double rows = figure(strategy, "writes.rows", 0);
    return rows > 0 ? figure(strategy, "writes.refused_unprovoked", 0) / rows : 0;
}

unsigned lab_disqualifiers_of(const struct lab_strategy_result *strategy)
{
    unsigned out = strategy->settings.observed != WL_OBSERVED_AUTO ? LAB_DISQUALIFIER_OBSERVED : 0u;
    if (still_grows(strategy))
        out |= LAB_DISQUALIFIER_ENDLESS;
    if (figure(strategy, "oracle.findable.violations", 0) + figure(strategy, "oracle.newest.violations", 0) >
        0)
        out |= LAB_DISQUALIFIER_HIDDEN;
    if (lab_refused_share(strategy) > LAB_REFUSED_MOST)
        out |= LAB_DISQUALIFIER_REFUSED;
    if (figure(strategy, "reads.failed", 0) > 0)
        out |= LAB_DISQUALIFIER_FAILED;
    if (figure(strategy, "writes.misrouted", 0) > 0)
        out |= LAB_DISQUALIFIER_MISROUTED;
    if (figure(strategy, "guarantees.broken", 0) > 0)
        out |= LAB_DISQUALIFIER_BROKEN;
    return out;
}

/* The largest partition as a share of the limit that it is nearest to. */
static double fullness_of(const struct lab_limits *limits, const struct lab_strategy_result *strategy)
{
    const double rows = figure(strategy, "partitions.all.rows.max", 0);
    const double bytes = figure(strategy, "partitions.all.bytes.max", 0);
    double most = limits->partition_rows != 0 ? rows / (double)limits->partition_rows : 0;
    if (limits->partition_bytes != 0)
        most = fmax(most, bytes / (double)limits->partition_bytes);
    return most;
}

struct lab_full lab_full_of(const struct lab_settings *settings)
{
    const struct bk_strategy *strategy = &settings->strategy;
    struct lab_full full = {(double)NAN, (double)NAN, (double)NAN};
    if (settings->is_idgen || settings->observed != WL_OBSERVED_AUTO || settings->change_count > 0 ||
        strategy->max_age_ns > 0 || lab_shards(strategy) > 1)
        return full;
    if (strategy->kind == BK_KIND_COUNT) {
        full.rows = (double)strategy->of.count.rows;
        full.cv = 0;
    } else if (strategy->kind == BK_KIND_PROBABILISTIC) {
        const double threshold = (double)strategy->of.probabilistic.threshold, chance = lab_chance(strategy);
        full.rows = threshold / chance;
        full.cv = sqrt((1 - chance) / threshold);
    } else if (strategy->kind == BK_KIND_WEIGHTED) {
        full.bytes = (double)strategy->of.weighted.bytes * (double)strategy->of.weighted.threshold;
        full.cv = 1 / sqrt((double)strategy->of.weighted.threshold);
    }
    return full;
}

struct lab_score lab_score_of(const struct lab_result *result, const struct lab_strategy_result *strategy)
{
    const double mean = figure(strategy, "partitions.closed.rows.mean", 0),
                 known = lab_full_of(&strategy->settings).cv;
    const struct lab_facts facts = lab_facts_of(result, strategy);
    const struct lab_cost cost = lab_cost_of(&result->prices, strategy);
    struct lab_score score = {.judgment = lab_judgment_of(&result->limits, &facts),
                              .disqualifiers = lab_disqualifiers_of(strategy),
                              .cost = cost.write + cost.read};
    score.candidate = (struct lab_candidate){
        .is_eligible = score.judgment.within == LAB_WITHIN && score.disqualifiers == 0 && !isnan(score.cost),
        .requirements = lab_requirements(&strategy->settings),
        .load = 1000 + score.cost,
        .cv = !isnan(known) ? known
              : mean > 0    ? figure(strategy, "partitions.closed.rows.stddev", 0) / mean
                            : (double)NAN,
        .fullness = fullness_of(&result->limits, strategy)};
    return score;
}

/* Orders CVs in whole percent. NaN is greater than any number. */
static int order(double one, double other)
{
    one = floor(100 * one + 0.5);
    other = floor(100 * other + 0.5);
    return isnan(one) || isnan(other) ? isnan(one) - isnan(other) : (one > other) - (one < other);
}

size_t lab_choose_from(const struct lab_candidate *candidates, size_t count, double tolerance)
{
    const uint32_t sequence = UINT32_C(1) << LAB_REQUIRES_SEQUENCE;
    for (uint32_t allowed = 0;; allowed = sequence) {
        double least = (double)INFINITY;
        for (size_t i = 0; i < count; i++) {
            const struct lab_candidate *one = &candidates[i];
            if (one->is_eligible && (one->requirements & sequence) == allowed)
                least = fmin(least, one->load);
        }
        size_t chosen = SIZE_MAX;
        for (size_t i = 0; i < count; i++) {
            const struct lab_candidate *one = &candidates[i],
                                       *best = chosen == SIZE_MAX ? NULL : &candidates[chosen];
            if (!one->is_eligible || (one->requirements & sequence) != allowed ||
                !(one->load <= least * (1 + tolerance)))
                continue;
            const int by_cv = best == NULL ? -1 : order(one->cv, best->cv);
            if (by_cv < 0 || (by_cv == 0 && one->fullness < best->fullness))
                chosen = i;
        }
        if (chosen != SIZE_MAX || allowed != 0)
            return chosen;
    }
}

size_t lab_choose(const struct lab_result *result, struct lab_score *scores)
{
    struct lab_candidate candidates[LAB_STRATEGIES_MAX];
    for (size_t i = 0; i < result->strategy_count; i++) {
        scores[i] = lab_score_of(result, &result->strategies[i]);
        if (i < LAB_STRATEGIES_MAX)
            candidates[i] = scores[i].candidate;
    }
    const size_t count =
        result->strategy_count < LAB_STRATEGIES_MAX ? result->strategy_count : LAB_STRATEGIES_MAX;
    return result->is_tuned ? SIZE_MAX : lab_choose_from(candidates, count, result->limits.tolerance);
}

/* Indexed by requirement. */
static const struct {
    const char *name, *text;
} requirements[LAB_REQUIREMENT_COUNT] = {
    [LAB_REQUIRES_SEQUENCE] = {"sequence", "a gapless number in each row"},
    [LAB_REQUIRES_WRITER] = {"writer", "one writer per key, or a protocol for several"},
    [LAB_REQUIRES_FAN_OUT] = {"fan_out", "readers that query all partitions of a key"},
    [LAB_REQUIRES_LEAD] = {"lead", "a lead with bounded caches and clocks"},
    [LAB_REQUIRES_LWT] = {"lwt", "conditional updates (LWT)"},
};

const char *lab_requirement_name(enum lab_requirement requirement)
{
    return (unsigned)requirement < LAB_REQUIREMENT_COUNT ? requirements[requirement].name : "unknown";
}

const char *lab_requirement_text(enum lab_requirement requirement)
{
    return (unsigned)requirement < LAB_REQUIREMENT_COUNT ? requirements[requirement].text : "unknown";
}

uint32_t lab_requirements(const struct lab_settings *settings)
{
    enum bk_kind kind = settings->strategy.kind;
    bool is_count = kind == BK_KIND_COUNT, fires = bk_kind_fires(kind);
    bool has_lwt = (is_count && (settings->source == BK_SOURCE_LWT || settings->source == BK_SOURCE_LEASE)) ||
                   (fires && (settings->counter == BK_COUNTER_LWT || settings->coordination == BK_LOCKED ||
                              settings->coordination == BK_GUARDED));
    bool has_writer =
        (is_count && settings->source == BK_SOURCE_MEMORY) || (fires && settings->coordination == BK_SINGLE);
    return (uint32_t)(is_count && settings->source == BK_SOURCE_EXTERNAL) << LAB_REQUIRES_SEQUENCE |
           (uint32_t)has_writer << LAB_REQUIRES_WRITER |
           (uint32_t)(kind == BK_KIND_HASH) << LAB_REQUIRES_FAN_OUT |
           (uint32_t)(fires && settings->coordination == BK_THREE_STATE) << LAB_REQUIRES_LEAD |
           (uint32_t)has_lwt << LAB_REQUIRES_LWT;
}
