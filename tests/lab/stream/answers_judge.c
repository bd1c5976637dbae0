/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The twin of the judge: verdicts from facts by the list in lab/judgment.h, the costs and the choice, and the
 * comparison of observed with predicted sizes. Confidence bounds are put into the equations that define
 * them. */
#include "answers_twin.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/drift.h"
#include "lab/judgment.h"
#include "lab/metric.h"

/* --- verdicts */

static struct twin_verdict judge_bounds(const struct lab_limits *limits, const struct lab_facts *facts)
{
    const uint64_t limit[] = {limits->partition_rows, limits->partition_bytes};
    struct twin_verdict out = {.by = LAB_BY_PERCENTILES};
    for (unsigned unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        if (limit[unit] > 0 && !facts->is_unknown[unit]) {
            out.share = fmax(out.share, facts->bound_least[unit]);
            out.most += facts->bound_most[unit];
            out.exceeded |= facts->bound_least[unit] > limits->over_limit_share ? 1u << unit : 0;
        }
    }
    out.within = out.share > limits->over_limit_share   ? LAB_EXCEEDS
                 : out.most <= limits->over_limit_share ? LAB_WITHIN
                                                        : LAB_NOT_JUDGED;
    out.most = fmin(out.most, 1);
    return out;
}

static struct twin_verdict judge_partitions(const struct lab_limits *limits, const struct lab_facts *facts)
{
    const double may = limits->over_limit_share, chance = 1 - limits->confidence;
    const double n = (double)facts->partitions, over = (double)facts->over;
    struct twin_verdict out = {over > may * n ? LAB_EXCEEDS : LAB_WITHIN, LAB_BY_CERTAINTY, over / n,
                               (double)NAN, 0};
    const bool is_over =
        facts->expected_full > (may == 0 ? chance : may) || (may == 0 && facts->expected_least > chance);
    if (facts->is_certain && (over > may * n || !is_over))
        return out;
    out.by = may == 0 && over > 0 ? LAB_BY_SAMPLE : LAB_BY_DISTRIBUTION;
    out.within = LAB_EXCEEDS;
    if (may == 0 && over > 0)
        return out;
    if (is_over || facts->has_distribution)
        out.most = is_over ? fmax(facts->expected_share, facts->expected_full) : facts->expected_share;
    if (is_over)
        return out;
    if (facts->has_distribution && (may == 0 ? facts->expected_most <= chance : out.most <= may)) {
        out.by = facts->expected_most == 0 ? LAB_BY_CERTAINTY : LAB_BY_DISTRIBUTION;
        out.within = LAB_WITHIN;
        return out;
    }
    out.by = LAB_BY_SAMPLE;
    out.most = -1;
    /* As few, or as many, are unlikely if the share were `may`. */
    bool is_less = twin_binomial_upto(over, n, may) <= chance * (1 + 1e-12);
    bool is_more = over > 0 && 1 - twin_binomial_upto(over - 1, n, may) < chance * (1 - 1e-12);
    out.within = may == 0 || is_less ? LAB_WITHIN : is_more ? LAB_EXCEEDS : LAB_NOT_JUDGED;
    return out;
}

static struct twin_verdict judge_sizes(const struct lab_limits *limits, const struct lab_facts *facts)
{
    const struct twin_verdict nothing = {.share = (double)NAN, .most = (double)NAN};
    struct twin_verdict out = nothing;
    if (limits->partition_rows == 0 && limits->partition_bytes == 0)
        return nothing;
    if (facts->has_bounds)
        out = judge_bounds(limits, facts);
    else if (facts->partitions == 0)
        return nothing;
    else
        out = judge_partitions(limits, facts);
    for (unsigned unit = 0; !facts->has_bounds && out.within == LAB_EXCEEDS && unit < LAB_SIZE_UNITS; unit++)
        out.exceeded |= facts->over_of[unit] > 0 ? 1u << unit : 0;
    return out.within != LAB_EXCEEDS && (facts->is_unknown[0] || facts->is_unknown[1]) ? nothing : out;
}

/* How the rate `which` is judged, if it has a limit. */
static struct twin_verdict judge_rate(const struct lab_limits *limits, const struct lab_facts *facts,
                                      unsigned which)
{
    const struct lab_rate_facts *rate = &facts->rates[which];
    const bool is_over = rate->is_counted && rate->counted > limits->rate[which],
               is_within = rate->is_known && rate->most <= 1 - limits->confidence,
               exceeds = rate->is_known && rate->least > 1 - limits->confidence;
    const enum lab_judged_by counted = facts->is_certain && which == 0 ? LAB_BY_CERTAINTY : LAB_BY_SAMPLE;
    if (is_over || exceeds)
        return (struct twin_verdict){
            .within = LAB_EXCEEDS, .by = is_over ? counted : LAB_BY_DISTRIBUTION, .exceeded = 4u << which};
    if (is_within)
        return (struct twin_verdict){.within = LAB_WITHIN,
                                     .by = rate->most == 0 ? LAB_BY_CERTAINTY : LAB_BY_DISTRIBUTION};
    return (struct twin_verdict){.within = rate->is_counted ? LAB_WITHIN : LAB_NOT_JUDGED,
                                 .by = rate->is_counted ? counted : LAB_BY_NOTHING};
}

/* The worst of the limits decides. */
struct twin_verdict twin_judge(const struct lab_limits *limits, const struct lab_facts *facts)
{
    struct twin_verdict out = judge_sizes(limits, facts);
    bool is_judged = limits->partition_rows > 0 || limits->partition_bytes > 0;
    for (unsigned which = 0; which < 2; which++) {
        if (limits->rate[which] == 0)
            continue;
        const struct twin_verdict rate = judge_rate(limits, facts, which);
        out.exceeded |= rate.exceeded;
        if (!is_judged || (out.within != LAB_EXCEEDS && rate.within != LAB_WITHIN &&
                           (rate.within == LAB_EXCEEDS || out.within == LAB_WITHIN))) {
            out.within = rate.within;
            out.by = rate.by;
        }
        is_judged = true;
    }
    return out;
}

/* A bound of Clopper and Pearson: with that share, as few as were seen have exactly this chance. */
static bool is_upper(double share, double hits, double n, double chance)
{
    return hits >= n ? share == 1 : fabs(twin_binomial_upto(hits, n, share) - chance) <= 1e-6 * chance;
}

static bool is_lower(double share, double hits, double n, double chance)
{
    return hits <= 0 ? share == 0
                     : fabs(1 - twin_binomial_upto(hits - 1, n, share) - chance) <= 1e-6 * chance + 1e-12;
}

bool twin_judged(const struct answer *answer, const char *label, const struct lab_limits *limits,
                 const struct lab_facts *facts, const struct lab_judgment *told)
{
    const struct twin_verdict wanted = twin_judge(limits, facts);
    if (told->within != wanted.within || told->by != wanted.by || told->exceeded != wanted.exceeded)
        return twin_differs(
            answer, "%s: judged %d by %s, and %d by %s by the twin (%.0f of %.0f, at most %g)", label,
            told->within, lab_judged_by_name(told->by), wanted.within, lab_judged_by_name(wanted.by),
            (double)facts->over, (double)facts->partitions, limits->over_limit_share);
    if (told->partitions != facts->partitions || told->over != facts->over ||
        told->over_of[0] != facts->over_of[0] || told->over_of[1] != facts->over_of[1] ||
        !twin_is_near(told->share, wanted.share) ||
        (told->missing != NULL) != (told->within == LAB_NOT_JUDGED))
        return twin_differs(answer, "%s: the facts of its verdict differ", label);
    bool is_fine = wanted.most == -1 ? is_upper(told->share_most, (double)facts->over,
                                                (double)facts->partitions, 1 - limits->confidence)
                                     : twin_is_near(told->share_most, wanted.most);
    return is_fine ||
           twin_differs(answer, "%s: at most %.9g of other seeds' partitions, and %.9g by the twin", label,
                        told->share_most, wanted.most);
}

static bool is_certain(const struct answer *answer, const struct lab_strategy *strategy)
{
    enum bk_kind kind = strategy->settings.strategy.kind;
    return answer->scenario->trace_path != NULL &&
           (kind == BK_KIND_UNBUCKETED || kind == BK_KIND_TIME || kind == BK_KIND_COUNT);
}

/* The facts that follow from the run's metrics. */
static struct lab_facts facts_of(const struct answer *answer, size_t index)
{
    const struct lab_strategy_result *strategy = &answer->result->strategies[index];
    const double most = twin_metric(strategy, "expected.over_limit");
    return (struct lab_facts){
        .partitions = (uint64_t)twin_metric(strategy, "partitions.total"),
        .over = (uint64_t)twin_metric(strategy, "partitions.over_limit"),
        .over_of = {(uint64_t)twin_or_zero(twin_metric(strategy, "partitions.over_limit_rows")),
                    (uint64_t)twin_or_zero(twin_metric(strategy, "partitions.over_limit_bytes"))},
        .is_certain = is_certain(answer, &answer->scenario->strategies[index]),
        .has_distribution = !isnan(most),
        .expected_most = isnan(most) ? (double)INFINITY : most,
        .expected_least = twin_or_zero(twin_metric(strategy, "expected.over_limit_least")),
        .expected_share = twin_metric(strategy, "expected.share"),
        .expected_full = twin_or_zero(twin_metric(strategy, "expected.full_share")),
        .rates = {
            {!isnan(twin_metric(strategy, "peak.rows_per_second_one_partition")),
             !isnan(twin_metric(strategy, "rates.writes.over")),
             twin_metric(strategy, "peak.rows_per_second_one_partition"),
             twin_metric(strategy, "rates.writes.over"), twin_metric(strategy, "rates.writes.over_least"), 0},
            {false, !isnan(twin_metric(strategy, "rates.reads.over")), 0,
             twin_metric(strategy, "rates.reads.over"), twin_metric(strategy, "rates.reads.over_least"), 0}}};
}

bool twin_verdicts(const struct answer *answer)
{
    for (size_t i = 0; i < answer->result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &answer->result->strategies[i];
        const struct lab_facts seen = lab_facts_of(answer->result, strategy), facts = facts_of(answer, i);
        const struct lab_judgment told = lab_judgment_of(&answer->scenario->limits, &seen);
        if (!twin_judged(answer, strategy->label, &answer->scenario->limits, &facts, &told))
            return false;
    }
    return true;
}

/* The judge alone, of drawn facts. */
bool twin_judgments(const struct answer *answer)
{
    static const double shares[] = {0, 0, 0.01, 0.02, 0.45}, numbers[] = {0, 1e-300, 0.02, 0.05, 0.3, 2, 40};
    struct sim_random *random = answer->random;
    for (int round = 0; round < 40; round++) {
        struct lab_limits limits = answer->scenario->limits;
        struct lab_facts facts = {.partitions = sim_random_below(random, 120),
                                  .is_certain = sim_random_below(random, 5) == 0,
                                  .has_distribution = sim_random_below(random, 2) == 0,
                                  .has_bounds = sim_random_below(random, 4) == 0};
        limits.partition_rows = sim_random_below(random, 5);
        limits.partition_bytes = sim_random_below(random, 5);
        limits.over_limit_share = shares[sim_random_below(random, 5)];
        facts.over =
            facts.partitions == 0 ? 0 : sim_random_below(random, facts.partitions + 1) / (round % 4 * 9 + 1);
        for (unsigned unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            facts.over_of[unit] = facts.over == 0 ? 0 : facts.over - sim_random_below(random, 2);
            facts.is_unknown[unit] = sim_random_below(random, 6) == 0;
            facts.bound_least[unit] = shares[sim_random_below(random, 5)];
            facts.bound_most[unit] = shares[sim_random_below(random, 5)];
        }
        for (int i = 0; i < LAB_RATES; i++) {
            limits.rate[i] = (double)sim_random_below(random, 3);
            facts.rates[i] = (struct lab_rate_facts){.is_counted = sim_random_below(random, 2) == 0,
                                                     .is_known = sim_random_below(random, 2) == 0,
                                                     .counted = (double)sim_random_below(random, 4),
                                                     .least = numbers[sim_random_below(random, 7)]};
            facts.rates[i].most = fmax(facts.rates[i].least, numbers[sim_random_below(random, 7)]);
        }
        facts.expected_least = numbers[sim_random_below(random, 7)];
        facts.expected_most = fmax(facts.expected_least, numbers[sim_random_below(random, 7)]);
        facts.expected_share = round % 3 == 0 ? (double)NAN : numbers[sim_random_below(random, 5)];
        facts.expected_full = round % 4 == 0 ? numbers[sim_random_below(random, 5)] : 0;
        const struct lab_judgment told = lab_judgment_of(&limits, &facts);
        if (!twin_judged(answer, "drawn facts", &limits, &facts, &told))
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
    /* Without kinds the figures of all reads; with kinds each by its own mean. */
    static const char *const kinds[][2] = {{"reads.latest.count", "reads.latest.partitions_per_read.mean"},
                                           {"reads.range.count", "reads.range.partitions_per_read.mean"},
                                           {"reads.all.count", "reads.all.partitions_per_read.mean"},
                                           {"reads.count", "reads.partitions_per_read.mean"}};
    double asked = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && (i < 3 || asked == 0); i++)
        asked += twin_or_zero(twin_metric(strategy, kinds[i][0])) *
                 twin_or_zero(twin_metric(strategy, kinds[i][1]));
    sum += (is_set ? set->partition_read : 1) * asked;
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
            double cv = isnan(all[i].cv) ? 1e300 : floor(100 * all[i].cv + 0.5);
            double other = best == SIZE_MAX      ? 2e300
                           : isnan(all[best].cv) ? 1e300
                                                 : floor(100 * all[best].cv + 0.5);
            if (cv < other || (cv == other && all[i].fullness < all[best].fullness))
                best = i;
        }
        if (best != SIZE_MAX)
            return best;
    }
    return SIZE_MAX;
}

/* The CV that is compared: of full partitions where these are known, else what was seen. The rows until T
 * increments, each with chance p, are T geometric numbers. */
double twin_cv(const struct lab_settings *settings, double seen)
{
    const struct bk_strategy *strategy = &settings->strategy;
    const double of = (double)strategy->of.probabilistic.chance_denominator;
    if (strategy->max_age_ns > 0 || settings->change_count > 0 || strategy->shards > 1)
        return seen;
    if (strategy->kind == BK_KIND_COUNT)
        return 0;
    if (strategy->kind == BK_KIND_WEIGHTED)
        return pow((double)strategy->of.weighted.threshold, -0.5);
    if (strategy->kind != BK_KIND_PROBABILISTIC)
        return seen;
    const double p = of > 0 ? (double)strategy->of.probabilistic.chance_numerator / of
                            : pow(0.5, strategy->of.probabilistic.bits);
    const double mean = (double)strategy->of.probabilistic.threshold / p,
                 variance = (double)strategy->of.probabilistic.threshold * (1 - p) / (p * p);
    return sqrt(variance) / mean;
}

static bool check_score(const struct answer *answer, size_t index, const struct lab_score *score)
{
    const struct lab_strategy_result *strategy = &answer->result->strategies[index];
    const struct lab_settings *settings = &answer->scenario->strategies[index].settings;
    const struct lab_limits *limits = &answer->scenario->limits;
    const enum bk_kind kind = settings->strategy.kind;
    double cost = cost_of(answer, strategy), mean = twin_metric(strategy, "partitions.closed.rows.mean");
    double cv = twin_cv(settings, mean > 0 ? twin_metric(strategy, "partitions.closed.rows.stddev") / mean
                                           : (double)NAN);
    double in_rows =
        limits->partition_rows == 0
            ? 0
            : twin_or_zero(twin_metric(strategy, "partitions.all.rows.max")) / (double)limits->partition_rows;
    double in_bytes = limits->partition_bytes == 0
                          ? 0
                          : twin_or_zero(twin_metric(strategy, "partitions.all.bytes.max")) /
                                (double)limits->partition_bytes;
    const bool grows = twin_grows(answer, settings);
    bool is_eligible = score->judgment.within == LAB_WITHIN && !grows && !isnan(cost) &&
                       (score->disqualifiers & LAB_DISQUALIFIED_BY_LOSS) == 0;
    bool needs_numbers = kind == BK_KIND_COUNT && settings->source == BK_SOURCE_EXTERNAL;
    if (!twin_is_near(score->cost, cost) || !twin_is_near(score->candidate.load, 1000 + cost) ||
        !twin_is_near(score->candidate.cv, cv) ||
        !twin_is_near(score->candidate.fullness, fmax(in_rows, in_bytes)))
        return twin_differs(answer, "%s: costs %.9g with CV %.9g, and %.9g with %.9g by the twin",
                            strategy->label, score->cost, score->candidate.cv, cost, cv);
    if (((score->disqualifiers & LAB_DISQUALIFIER_ENDLESS) != 0) != grows)
        return twin_differs(answer, "%s: whether its partitions still grow differs", strategy->label);
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

/* What a drawn setting requires, and what the drawn figures of a run disqualify. */
static bool check_demands(const struct answer *answer)
{
    enum { SEQUENCE = 1, WRITER = 2, FAN_OUT = 4, LEAD = 8, LWT = 16 };
    static const uint32_t of_source[] = {SEQUENCE, 0, LWT, LWT, 0, 0, WRITER},
                          of_coordination[] = {WRITER, LWT, LEAD, LWT};
    static const struct {
        const char *name;
        double values[4];
        unsigned bit;
    } figures[] = {{"oracle.findable.violations", {0, 0, 1, 9}, LAB_DISQUALIFIER_HIDDEN},
                   {"oracle.newest.violations", {0, 0, 1, 9}, LAB_DISQUALIFIER_HIDDEN},
                   {"writes.refused_unprovoked", {0, 1, 2, 9}, LAB_DISQUALIFIER_REFUSED},
                   {"reads.failed", {0, 0, 1, 9}, LAB_DISQUALIFIER_FAILED},
                   {"writes.misrouted", {0, 0, 1, 9}, LAB_DISQUALIFIER_MISROUTED},
                   {"guarantees.broken", {0, 0, 1, 9}, LAB_DISQUALIFIER_BROKEN},
                   {"partitions.growing", {0, 0, 0, 1}, LAB_DISQUALIFIER_ENDLESS}};
    struct sim_random *random = answer->random;
    for (int round = 0; round < 60; round++) {
        struct lab_strategy_result result = {.label = NULL};
        struct lab_settings *settings = &result.settings;
        const enum bk_kind kind = (enum bk_kind)sim_random_below(random, BK_KINDS);
        const bool fires = kind == BK_KIND_PROBABILISTIC || kind == BK_KIND_WEIGHTED;
        settings->strategy.kind = kind;
        settings->source = (enum bk_source)sim_random_below(random, 7);
        settings->coordination = (enum bk_coordination)sim_random_below(random, 4);
        settings->counter = (enum bk_counter)sim_random_below(random, 3);
        uint32_t required = kind == BK_KIND_HASH    ? FAN_OUT
                            : kind == BK_KIND_COUNT ? of_source[settings->source]
                            : !fires                ? 0
                            : settings->counter == BK_COUNTER_LWT
                                ? of_coordination[settings->coordination] | LWT
                                : of_coordination[settings->coordination];
        unsigned out = 0;
        lab_metrics_add(&result.metrics, "writes.rows", 1000);
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
            const double value = figures[i].values[sim_random_below(random, 4)];
            lab_metrics_add(&result.metrics, figures[i].name, value);
            out |= value > (figures[i].bit == LAB_DISQUALIFIER_REFUSED) ? figures[i].bit : 0;
        }
        const uint32_t told = lab_requirements(settings);
        const unsigned bars = lab_disqualifiers_of(&result);
        free(result.metrics.items);
        if (told != required || bars != out)
            return twin_differs(answer, "%s requires %x and is disqualified by %x, and %x and %x by the twin",
                                bk_kind_name(kind), told, bars, required, out);
    }
    return true;
}

bool twin_rule(const struct answer *answer)
{
    if (!check_demands(answer))
        return false;
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

/* --- observed and predicted sizes */

struct list {
    double *sizes; /* ascending */
    size_t count;
};

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static struct list list_of(const struct lab_strategy_result *strategy, enum lab_size_unit unit)
{
    const bool is_rows = unit == LAB_IN_ROWS;
    const struct lab_histogram *parts[] = {is_rows ? &strategy->closed_rows : &strategy->closed_bytes,
                                           is_rows ? &strategy->open_rows : &strategy->open_bytes};
    struct list list = {naive_must(malloc((parts[0]->count + parts[1]->count + 1) * sizeof(double))), 0};
    for (int i = 0; i < 2; i++) {
        size_t count;
        struct lab_bin *bins = lab_histogram_sorted(parts[i], &count);
        for (size_t j = 0; j < count; j++) {
            for (uint64_t k = 0; k < bins[j].count; k++)
                list.sizes[list.count++] = (double)bins[j].size;
        }
        free(bins);
    }
    qsort(list.sizes, list.count, sizeof *list.sizes, by_size);
    return list;
}

/* The share of sizes up to this one, or below it. */
static double share_upto(const struct list *list, double size, bool includes)
{
    size_t count = 0;
    while (count < list->count && (includes ? list->sizes[count] <= size : list->sizes[count] < size))
        count++;
    return (double)count / (double)list->count;
}

/* What is known of the largest observed sizes: `count` of them have at least `size`, from the largest on. */
struct largest {
    double size, count;
};

/* The largest number of observed sizes that reach the last of them, which the prediction does not explain. */
static double beyond(const struct largest *largest, size_t count, double n, const struct list *predicted,
                     double tolerance, double chance, double *size)
{
    const double m = (double)predicted->count, k = floor(sqrt(m));
    double found = 0, logs = 0, choices = 0, j = 0;
    if (m <= k)
        return 0;
    const double from = predicted->sizes[predicted->count - (size_t)k - 1];
    for (size_t i = 0; i < (size_t)k; i++)
        logs += log((predicted->sizes[predicted->count - 1 - i] + 1) / from);
    for (size_t i = 0; i < count && largest[i].count <= LAB_DRIFT_LARGEST; i++) {
        for (; j < largest[i].count; j++)
            choices += log((n - j) / (j + 1)) + log((k + j + 1) / (m + j + 1));
        const double excess = log(largest[i].size / (1 + tolerance) / from);
        if (excess > 0 && choices - k * log(1 + j * excess / logs) <= log(chance / (j * (j + 1)))) {
            found = j;
            *size = largest[i].size;
        }
    }
    return found;
}

/* The largest difference of the shares of observed and predicted sizes, up to a size and below it; and what
 * is known of the largest. */
static double compare_lists(const struct list *seen, const struct list *all, double tolerance,
                            struct largest *largest, size_t *count)
{
    double distance = 0;
    *count = 0;
    for (size_t i = 0; i < seen->count; i++) {
        const double at = seen->sizes[i];
        distance = fmax(distance, share_upto(seen, at, true) - share_upto(all, at * (1 + tolerance), true));
        distance = fmax(distance, share_upto(all, at / (1 + tolerance), false) - share_upto(seen, at, false));
    }
    for (size_t i = seen->count; i-- > 0;) {
        if (i == 0 || seen->sizes[i - 1] < seen->sizes[i])
            largest[(*count)++] = (struct largest){seen->sizes[i], (double)(seen->count - i)};
    }
    return distance;
}

static double compare_points(const struct twin_points *points, const struct list *all, double tolerance,
                             struct largest *largest, size_t *count)
{
    static const double shares[TWIN_POINTS] = {0, 0.5, 0.75, 0.95, 0.98, 0.99, 1};
    double distance = 0;
    *count = TWIN_POINTS;
    for (size_t i = 0; i < TWIN_POINTS; i++) {
        const double at = (double)points->size[i], above = (double)points->above[i];
        distance = fmax(distance, shares[i] - share_upto(all, at * (1 + tolerance), true));
        distance = fmax(distance, share_upto(all, above / (1 + tolerance), true) - shares[i]);
        const double least = floor((1 - shares[i]) * (double)points->count + 1e-9);
        largest[TWIN_POINTS - 1 - i] = (struct largest){above + 1, fmax(1, least)};
    }
    return distance;
}

bool twin_drift(const struct answer *answer, size_t index, const struct lab_strategy_result *observed,
                enum lab_size_unit unit, const struct twin_points *points)
{
    const struct lab_strategy_result *predicted = &answer->result->strategies[index];
    struct list all = list_of(predicted, unit), seen = list_of(observed, unit);
    const struct lab_drift_question question = {
        .predicted = predicted,
        .observed = observed,
        .unit = unit,
        .partitions = points == NULL ? 0 : points->count,
        .limit = sim_random_below(answer->random, 2) * (1 + (uint64_t)all.sizes[all.count / 2]),
        .tolerance = sim_random_below(answer->random, 2) == 0 ? 0 : 0.1,
        .false_alarm = 0.01 + 0.5 * (double)sim_random_below(answer->random, 2),
        .look = 1 + sim_random_below(answer->random, 3)};
    struct largest *largest = naive_must(calloc(seen.count + TWIN_POINTS, sizeof *largest));
    struct lab_drift told;
    size_t count;
    double n = points == NULL ? (double)seen.count : (double)points->count, m = (double)all.count;
    double size = 0, look = (double)question.look, tolerance = question.tolerance,
           limit = (double)question.limit, over = 0;
    const double chance = question.false_alarm / look / (look + 1) / (question.limit > 0 ? 5 : 3);
    const double distance = points == NULL ? compare_lists(&seen, &all, tolerance, largest, &count)
                                           : compare_points(points, &all, tolerance, largest, &count);
    const double allowed = sqrt(log(2 / chance) / 2 / n) + sqrt(log(2 / chance) / 2 / m) +
                           (points == NULL ? 0 : 1 / n); /* the rank of a percentile is rounded */
    const double expected = m - round(m * share_upto(&all, limit, true)),
                 most_predicted = all.sizes[all.count - 1],
                 most = beyond(largest, count, n, &all, tolerance, chance, &size);
    for (size_t i = 0; i < count && largest[i].size > limit * (1 + tolerance); i++)
        over = largest[i].count;
    free(largest);
    free(all.sizes);
    free(seen.sizes);
    if (!lab_drift_judge(&question, &told))
        return twin_differs(answer, "%s: no comparison", observed->label);
    bool is_fine = twin_is_near(told.distance, distance) && twin_is_near(told.allowed, allowed) &&
                   told.is_far == (told.distance > told.allowed) && (double)told.beyond == most &&
                   (most == 0 || (double)told.beyond_size == size) && told.has_limit == (limit > 0) &&
                   (double)told.largest_predicted == most_predicted && (double)told.observed_count == n &&
                   (double)told.predicted_count == m &&
                   told.is_drift == (told.is_far || told.is_over || most > 0);
    if (is_fine && limit > 0)
        is_fine = twin_is_near(told.over, over / n) && is_lower(told.over_least, over, n, chance) &&
                  is_upper(told.over_most, expected, m, chance) &&
                  told.is_over == (told.over_least > told.over_most);
    return is_fine ||
           twin_differs(answer,
                        "drift from %s: distance %.9g of %.9g, %.0f beyond, and %.9g of %.9g, "
                        "%.0f by the twin (over %g: %.9g and %.9g, %.9g to %.9g)",
                        predicted->label, told.distance, told.allowed, (double)told.beyond, distance, allowed,
                        most, limit, told.over, over / n, told.over_least, told.over_most);
}

/* What is known of a list: all of it, and which partition is the largest. */
bool twin_known(const struct answer *answer, const struct lab_strategy_result *observed,
                const struct lab_limits *limits, const struct naive_result *naive)
{
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct lab_largest *largest = &observed->largest[unit];
        bool is_there = false;
        for (size_t i = 0; i < naive->partition_count; i++) {
            const struct naive_partition *partition = &naive->partitions[i];
            char name[64];
            snprintf(name, sizeof name, "%s:%lld", answer->input->keys[partition->key_index].name,
                     (long long)partition->bucket);
            const uint64_t size = unit == LAB_IN_ROWS ? partition->rows : partition->bytes;
            is_there |= size == largest->size && strcmp(name, largest->key) == 0 && i == largest->key_index;
            if (size > largest->size)
                return twin_differs(answer, "a partition of the list is larger than its largest");
        }
        if (!is_there)
            return twin_differs(answer, "the largest partition of the list is '%s'", largest->key);
    }
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct lab_known told = lab_known_of(observed, limits, (enum lab_size_unit)unit);
        struct list list = list_of(observed, (enum lab_size_unit)unit);
        const double limit = (double)(unit == LAB_IN_ROWS ? limits->partition_rows : limits->partition_bytes);
        const double n = (double)list.count,
                     over = limit == 0 ? 0 : n - round(n * share_upto(&list, limit, true));
        bool is_fine = told.by == LAB_KNOWN_EXACTLY && (double)told.over == over &&
                       (double)told.listed == n && told.over_least == over / n &&
                       told.over_most == over / n &&
                       (double)told.largest_least == list.sizes[list.count - 1] &&
                       told.largest_most == told.largest_least;
        free(list.sizes);
        if (!is_fine)
            return twin_differs(answer, "what is known of a list of partitions differs");
    }
    return true;
}
