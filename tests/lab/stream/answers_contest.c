/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The twin of `tune`: settings of a search run again one by one, by lab_run(), and what the search says of
 * them follows from these runs. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers_twin.h"
#include "kernel/time.h"
#include "lab/run.h"
#include "tune/contest.h"
#include "tune/expected.h"

static double largest(double one, double other)
{
    return one > other ? one : other;
}

/* The mean of a figure over the seeds that have it; NaN: none has. */
static double mean_of(const struct tune_seen *seen, uint32_t seeds, enum tune_figure figure)
{
    double sum = 0, count = 0;
    for (uint32_t i = 0; i < seeds; i++) {
        if (!isnan(seen[i].figures[figure])) {
            sum += seen[i].figures[figure];
            count++;
        }
    }
    return count > 0 ? sum / count : (double)NAN;
}

static struct lab_result *run_alone(const struct answer *answer, const struct tune_entrant *entrant,
                                    uint64_t seed, double factor)
{
    struct lab_scenario scenario = *answer->scenario;
    struct lab_strategy strategy = entrant->strategy;
    struct lab_result *result;
    struct sim_error error;
    scenario.strategies = &strategy;
    scenario.strategy_count = 1;
    scenario.observed_count = 0;
    scenario.seed = scenario.workload.seed = scenario.network.seed = seed;
    scenario.workload.rate_per_s *= factor;
    scenario.engine = tune_engine(answer->scenario, factor);
    scenario.reads.are_expected = lab_reads_can_be_expected(answer->scenario);
    if (!lab_run(&scenario, 1, NULL, &result, &error)) {
        twin_differs(answer, "%s: %s", strategy.label, error.text);
        return NULL;
    }
    return result;
}

/* Whether the search saw in one run what a run of the setting alone shows. */
static bool check_seen(const struct answer *answer, const struct tune_entrant *entrant,
                       const struct tune_seen *seen, uint32_t index, double factor)
{
    struct lab_result *result = run_alone(answer, entrant, seen->seed, factor);
    if (result == NULL)
        return false;
    const struct lab_strategy_result *told = &result->strategies[0];
    const double closed = twin_metric(told, "partitions.closed"),
                 total = twin_metric(told, "partitions.total");
    const double mean = twin_metric(told, "partitions.closed.rows.mean");
    const double tiny = twin_metric(told, "partitions.tiny"), rows = twin_metric(told, "writes.rows");
    struct lab_score score = lab_score_of(result, told);
    const struct {
        const char *name;
        double seen, wanted;
    } all[] = {
        {"partitions", (double)seen->facts.partitions, total},
        {"over a limit", (double)seen->facts.over, twin_metric(told, "partitions.over_limit")},
        {"share over a limit", seen->figures[TUNE_OVER], twin_metric(told, "partitions.over_limit") / total},
        {"closed", (double)seen->closed, closed},
        {"CV", seen->figures[TUNE_CV],
         mean > 0 ? twin_metric(told, "partitions.closed.rows.stddev") / mean : (double)NAN},
        {"extra operations", seen->figures[TUNE_OPS], twin_metric(told, "writes.extra_ops_per_1000_rows")},
        {"tiny", seen->figures[TUNE_TINY], closed > 0 ? tiny / closed : (double)NAN},
        {"first over", seen->figures[TUNE_FIRST_OVER], twin_metric(told, "partitions.first_over_days")},
        {"largest in rows", (double)seen->rows_most, twin_metric(told, "partitions.all.rows.max")},
        {"largest in bytes", (double)seen->bytes_most, twin_metric(told, "partitions.all.bytes.max")},
        {"p99 of bytes", seen->figures[TUNE_P99_BYTES], twin_metric(told, "partitions.all.bytes.p99")},
        {"rows", seen->figures[TUNE_ROWS], twin_metric(told, "writes.rows")},
        {"mean rows", seen->figures[TUNE_ROWS_MEAN],
         mean > 0 ? mean : twin_metric(told, "partitions.all.rows.mean")},
        {"mean bytes", seen->figures[TUNE_BYTES_MEAN],
         mean > 0 ? twin_metric(told, "partitions.closed.bytes.mean")
                  : twin_metric(told, "partitions.all.bytes.mean")},
        {"increments", seen->figures[TUNE_INCREMENTS],
         1000 * twin_metric(told, "writes.counter_increments") / rows},
        {"cost", seen->figures[TUNE_COST], score.cost},
        {"reads", seen->figures[TUNE_READS], twin_metric(told, "reads.count")},
        {"partitions per read", seen->figures[TUNE_PER_READ],
         twin_metric(told, "reads.partitions_per_read.mean")},
        {"p99 of these", seen->figures[TUNE_PER_READ_P99],
         twin_metric(told, "reads.partitions_per_read.p99")},
        {"cost of writes", seen->figures[TUNE_COST_WRITE], lab_cost_of(&result->prices, told).write},
    };
    bool is_same = true;
    for (size_t i = 0; is_same && total > 0 && i < sizeof all / sizeof *all; i++)
        is_same = twin_is_near(all[i].seen, all[i].wanted) ||
                  (strcmp(all[i].name, "tiny") == 0 && isnan(tiny)) ||
                  twin_differs(answer, "tune: %s, seed %u: %s is %.9g, and %.9g in a run", told->label,
                               (unsigned)index, all[i].name, all[i].seen, all[i].wanted);
    /* A lower bound of the load, where chance does not make it a little less. */
    if (is_same && factor == 1 && entrant->load_least > score.candidate.load * (1 + 1e-6) + 0.01 &&
        !bk_kind_fires(entrant->strategy.settings.strategy.kind) && !answer->scenario->reads.present)
        is_same = twin_differs(answer, "tune: %s: a load of at least %.9g, and %.9g in a run", told->label,
                               entrant->load_least, score.candidate.load);
    lab_result_destroy(result);
    return is_same;
}

/* Whether `run` finds the recommended setting feasible too; one seed may be too few to tell. */
static bool check_feasible(const struct answer *answer, const struct tune_contest *contest)
{
    struct sim_error error;
    if (contest->recommended == SIZE_MAX)
        return true;
    const struct tune_entrant *best = &contest->entrants[contest->recommended];
    struct lab_result *result = run_alone(answer, best, answer->scenario->seed, 1);
    if (result == NULL || !tune_horizons_add(answer->scenario, result, &error)) {
        lab_result_destroy(result);
        return result != NULL && twin_differs(answer, "%s: %s", best->strategy.label, error.text);
    }
    const struct lab_score score = lab_score_of(result, &result->strategies[0]);
    lab_result_destroy(result);
    return (score.judgment.within != LAB_EXCEEDS && score.disqualifiers == 0) ||
           twin_differs(answer, "tune: %s is recommended, and `run` judges it %d (%x)", best->strategy.label,
                        score.judgment.within, score.disqualifiers);
}

static bool check_chosen(const struct answer *answer, const struct tune_contest *contest)
{
    const struct lab_limits *limits = &answer->scenario->limits;
    struct lab_candidate *all = naive_must(calloc(contest->count + 1, sizeof *all));
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        /* All are compared by the first seed. */
        const struct tune_seen *seen = entrant->seeds > 0 ? &entrant->seen[0] : NULL;
        all[i] = (struct lab_candidate){
            .is_eligible = entrant->seeds > 0 && !entrant->is_endless &&
                           (entrant->status == TUNE_RECOMMENDED || entrant->status == TUNE_WITHIN),
            .requirements = entrant->requirements,
            .load = 1000 + (seen == NULL ? 0 : seen->figures[TUNE_COST]),
            .cv = seen == NULL ? 0 : twin_cv(&entrant->strategy.settings, seen->figures[TUNE_CV])};
        if (seen != NULL && limits->partition_rows > 0)
            all[i].fullness = (double)seen->rows_most / (double)limits->partition_rows;
        if (seen != NULL && limits->partition_bytes > 0)
            all[i].fullness =
                largest(all[i].fullness, (double)seen->bytes_most / (double)limits->partition_bytes);
    }
    size_t wanted = twin_choose(all, contest->count, contest->terms.tolerance);
    free(all);
    return wanted == contest->recommended ||
           twin_differs(answer, "tune: setting %td is recommended, and %td by the twin",
                        (ptrdiff_t)contest->recommended, (ptrdiff_t)wanted);
}

/* The verdict that follows from these seeds and the distribution. */
static struct twin_verdict judge(const struct answer *answer, const struct tune_seen *seen, uint32_t seeds,
                                 const struct lab_facts *known, struct lab_facts *facts)
{
    *facts = *known;
    for (uint32_t i = 0; i < seeds; i++) {
        *facts = i == 0 ? seen[0].facts : *facts;
        facts->partitions += i == 0 ? 0 : seen[i].facts.partitions;
        facts->over += i == 0 ? 0 : seen[i].facts.over;
        for (unsigned unit = 0; unit < LAB_SIZE_UNITS; unit++)
            facts->over_of[unit] += i == 0 ? 0 : seen[i].facts.over_of[unit];
        for (int rate = 0; rate < LAB_RATES; rate++) {
            const struct lab_rate_facts *one = &seen[i].facts.rates[rate];
            facts->rates[rate].is_counted &= one->is_counted;
            facts->rates[rate].counted = largest(facts->rates[rate].counted, one->counted);
        }
    }
    for (int rate = 0; rate < LAB_RATES; rate++) {
        facts->rates[rate].is_known = known->rates[rate].is_known;
        facts->rates[rate].most = known->rates[rate].most;
        facts->rates[rate].least = known->rates[rate].least;
    }
    facts->has_distribution = known->has_distribution;
    facts->expected_most = known->expected_most;
    facts->expected_least = known->expected_least;
    facts->expected_share = known->expected_share;
    facts->expected_full = known->expected_full;
    if (isnan(facts->expected_share) && seeds == 0)
        facts->expected_share = (double)INFINITY;
    struct twin_verdict out = twin_judge(&answer->scenario->limits, facts);
    if (seeds == 0 && out.by == LAB_BY_SAMPLE)
        out.within = LAB_NOT_JUDGED;
    return out;
}

/* What the distribution says at a multiple of the rate: a run has at most a partition for each row. Bursts
 * strike a key at other times with other seeds, so the worst of the seeds that were asked counts; a margin
 * has one seed. */
static struct lab_facts known_of(const struct tune_contest *contest, const struct lab_settings *settings,
                                 double factor, uint32_t seeds)
{
    struct lab_facts known = {.expected_share = (double)NAN};
    for (uint32_t i = 0; i < seeds; i++) {
        struct lab_scenario scenario = *contest->scenario;
        struct lab_facts one = {.expected_share = (double)NAN};
        const struct tune_prospect prospect = {.scenario = &scenario,
                                               .factor = factor,
                                               .rows = (double)contest->rows.rows * factor,
                                               .keys = (double)contest->rows.keys,
                                               .is_verdict = true,
                                               .seconds = (double)contest->rows.lasts_ns * 1e-9,
                                               .busiest = (double)contest->rows.busiest_rows * factor};
        scenario.workload.seed = contest->scenario->seed + i;
        tune_expected_of(&prospect, settings, &one);
        tune_rates_of(&prospect, settings, one.rates);
        one.partitions = (uint64_t)ceil(prospect.rows);
        one.expected_most = fmax(one.expected_most, known.expected_most);
        one.expected_least = fmax(one.expected_least, known.expected_least);
        one.expected_share = fmax(one.expected_share, known.expected_share);
        one.expected_full = fmax(one.expected_full, known.expected_full);
        known = one;
    }
    return known;
}

static struct lab_facts known_at(const struct tune_contest *contest, const struct tune_entrant *entrant,
                                 double factor)
{
    return known_of(contest, &entrant->strategy.settings, factor, factor == 1 ? entrant->asked : 1);
}

/* How runs lost rows or answers. */
static unsigned lost_by(const struct tune_seen *seen, uint32_t seeds)
{
    unsigned lost = 0;
    for (uint32_t i = 0; i < seeds; i++)
        lost |= seen[i].disqualifiers & LAB_DISQUALIFIED_BY_LOSS;
    return lost;
}

/* Whether it loses rows or answers, or misses a demand of `tune`: a share of tiny partitions, or partitions
 * per read. */
static bool misses(const struct tune_contest *contest, const struct tune_seen *seen, uint32_t seeds)
{
    const struct lab_tune *terms = &contest->terms;
    return lost_by(seen, seeds) != 0 || (terms->tiny >= 0 && mean_of(seen, seeds, TUNE_TINY) > terms->tiny) ||
           (terms->partitions_per_read > 0 &&
            mean_of(seen, seeds, TUNE_PER_READ_P99) > terms->partitions_per_read);
}

static bool check_status(const struct answer *answer, const struct tune_contest *contest,
                         const struct tune_entrant *entrant)
{
    const struct lab_facts known = known_at(contest, entrant, 1);
    const char *label = entrant->strategy.label;
    struct lab_facts facts;
    struct twin_verdict wanted = judge(answer, entrant->seen, entrant->seeds, &known, &facts);
    const bool fails = misses(contest, entrant->seen, entrant->seeds);
    const bool is_lost = lost_by(entrant->seen, entrant->seeds) != 0;
    enum tune_status status = is_lost                        ? TUNE_DISQUALIFIED
                              : wanted.within == LAB_EXCEEDS ? TUNE_EXCEEDS
                              : fails                        ? TUNE_DISQUALIFIED
                              : entrant->seeds == 0          ? TUNE_COSTLY
                              : wanted.within == LAB_WITHIN  ? TUNE_WITHIN
                                                             : TUNE_NOT_JUDGED;
    const bool is_chosen = entrant == &contest->entrants[contest->recommended];
    if (entrant->status != (is_chosen ? TUNE_RECOMMENDED : status) || (is_chosen && status != TUNE_WITHIN))
        return twin_differs(answer, "tune: %s is %s, and %s by the twin", label,
                            tune_status_name(entrant->status), tune_status_name(status));
    if (entrant->seeds > 0 &&
        !twin_judged(answer, label, &answer->scenario->limits, &facts, &entrant->judgment))
        return false;
    /* A setting that failed is run no more. */
    for (uint32_t seeds = 1; seeds < entrant->seeds; seeds++) {
        wanted = judge(answer, entrant->seen, seeds, &known, &facts);
        if (wanted.within == LAB_EXCEEDS || misses(contest, entrant->seen, seeds))
            return twin_differs(answer, "tune: %s was run again after it had failed", label);
    }
    const double run_days = (double)contest->rows.lasts_ns / (double)SIM_DAY;
    if (entrant->status != TUNE_EXCEEDS || entrant->seeds > 0 ||
        entrant->strategy.settings.strategy.kind != BK_KIND_TIME ||
        known.expected_least * fmin(1, run_days / known.expected_days) < 100 ||
        answer->scenario->limits.over_limit_share > 0)
        return true;
    struct lab_result *result = run_alone(answer, entrant, answer->scenario->seed, 1);
    if (result == NULL)
        return false;
    bool is_over = twin_metric(&result->strategies[0], "partitions.over_limit") > 0;
    lab_result_destroy(result);
    return is_over || twin_differs(answer, "tune: %s is excluded, and no partition exceeds a limit", label);
}

/* The search ends when its choice has all seeds, and none that was not run is clearly better: it is not
 * within the limits, or its load is higher. */
static bool check_end(const struct answer *answer, const struct tune_contest *contest)
{
    const struct tune_entrant *best =
        contest->recommended == SIZE_MAX ? NULL : &contest->entrants[contest->recommended];
    if (best != NULL && best->seeds < best->needs)
        return twin_differs(answer, "tune: %s is recommended after %u seeds", best->strategy.label,
                            (unsigned)best->seeds);
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        const char *label = entrant->strategy.label;
        if (entrant->status != TUNE_COSTLY || entrant->is_endless)
            continue;
        if (best == NULL)
            return twin_differs(answer, "tune: nothing is recommended, and %s was not run", label);
    }
    return true;
}

/* Each step is what a run shows, or else what the distribution says where it decides; and what is within the
 * limits at a rate is so at each lower rate. */
static bool check_margin(const struct answer *answer, const struct tune_contest *contest,
                         const struct tune_margin *margin)
{
    static const double factors[TUNE_MARGIN_STEPS] = {1.5, 2, 3, 5, 10};
    const struct tune_entrant *entrant = &contest->entrants[margin->entrant];
    const bool has_more = contest->terms.tiny >= 0 || contest->terms.partitions_per_read > 0 ||
                          contest->scenario->engine == LAB_ENGINE_CLUSTER;
    enum lab_within wanted[TUNE_MARGIN_STEPS];
    bool is_run_above = false;
    for (size_t i = 0; i < TUNE_MARGIN_STEPS && margin->is_tried; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        const struct lab_facts known = known_at(contest, entrant, factors[i]);
        struct lab_facts facts;
        wanted[i] = judge(answer, &step->seen, step->is_run, &known, &facts).within;
        if (step->is_run && misses(contest, &step->seen, 1))
            wanted[i] = LAB_EXCEEDS;
        if (!step->is_run && has_more && wanted[i] == LAB_WITHIN)
            wanted[i] = LAB_NOT_JUDGED;
        if (step->is_run && !check_seen(answer, entrant, &step->seen, 0, factors[i]))
            return false;
    }
    for (size_t i = TUNE_MARGIN_STEPS; margin->is_tried && i-- > 0;) {
        const struct tune_margin_step *step = &margin->steps[i];
        for (size_t other = 0; other < TUNE_MARGIN_STEPS; other++) {
            if (other > i && wanted[other] == LAB_WITHIN)
                wanted[i] = LAB_WITHIN;
        }
        for (size_t other = 0; other < i; other++) {
            if (wanted[other] == LAB_EXCEEDS && wanted[i] != LAB_WITHIN)
                wanted[i] = LAB_EXCEEDS;
        }
        is_run_above |= step->is_run;
        if (step->factor != factors[i] || step->within != wanted[i] ||
            (step->within == LAB_NOT_JUDGED && !is_run_above && margin == contest->margins))
            return twin_differs(answer,
                                "tune: %s: at %.3g times the rate it is judged %d, and %d by the twin",
                                entrant->strategy.label, step->factor, step->within, wanted[i]);
    }
    return true;
}

/* The margins are those of the recommended setting, and of the best of each other kind. */
static bool check_rivals(const struct answer *answer, const struct tune_contest *contest)
{
    bool is_met[TUNE_GROUPS] = {false};
    size_t wanted = contest->recommended != SIZE_MAX;
    if (wanted)
        is_met[tune_group_of(&contest->entrants[contest->recommended])] = true;
    for (size_t i = 0; wanted > 0 && i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        const bool is_new =
            entrant->status == TUNE_WITHIN && !entrant->is_endless && !is_met[tune_group_of(entrant)];
        is_met[tune_group_of(entrant)] |= is_new;
        wanted += is_new;
    }
    for (size_t i = 0; i < contest->margin_count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[contest->margins[i].entrant];
        const bool is_own = contest->margins[i].entrant == contest->recommended;
        const unsigned group = tune_group_of(entrant);
        if (is_own != (i == 0) || !is_met[group] || (!is_own && entrant->status != TUNE_WITHIN))
            return twin_differs(answer, "tune: there is a margin of %s", entrant->strategy.label);
        is_met[group] = false; /* one of each */
    }
    return wanted == contest->margin_count ||
           twin_differs(answer, "tune: %zu margins, and %zu by the twin", contest->margin_count, wanted);
}

/* --- the ladders: numbers worth trying */

struct rungs {
    uint64_t numbers[TUNE_LADDER_MAX][2];
    size_t count;
};

static void add_rung(struct rungs *rungs, double one, double other)
{
    if (rungs->count < TUNE_LADDER_MAX) {
        rungs->numbers[rungs->count][0] = (uint64_t)one;
        rungs->numbers[rungs->count++][1] = (uint64_t)other;
    }
}

static double rounded(double value, int digits)
{
    double unit = 1;
    while (floor(value / unit) >= pow(10, digits))
        unit *= 10;
    return floor(value / unit) * unit;
}

/* For each number of bits the largest threshold that the risk allows, and parts of it. */
static void climb_probabilistic(double limit, double risk, struct rungs *out)
{
    static const double parts[] = {1, 0.75, 0.5, 0.25};
    bool is_over = false;
    for (int bits = BK_BITS_MAX; bits >= 0; bits--) {
        const double p = pow(0.5, bits);
        double low = 0, high = floor(limit) + 1, before = 0;
        while (high - low > 1) { /* the chance of more rows grows with the threshold */
            double middle = floor((low + high) / 2);
            *(twin_binomial_upto(middle - 1, floor(limit), p) <= risk * (1 + 1e-12) ? &low : &high) = middle;
        }
        is_over |= low == 0;
        if (low == 0)
            continue;
        if (is_over && out->count == 0 && bits < (int)BK_BITS_MAX)
            add_rung(out, bits + 1, 1);
        for (int i = 0; i < 4; before = ceil(low * parts[i++])) {
            if (ceil(low * parts[i]) != before)
                add_rung(out, bits, ceil(low * parts[i]));
        }
        if (low > 1000)
            break;
    }
}

/* The most bytes per increment with which `threshold` increments rarely take more bytes than the limit. */
static void climb_weighted(const struct answer *answer, double limit, double risk, struct rungs *out)
{
    const struct lab_scenario *scenario = answer->scenario;
    struct sim_random random;
    double sum = 0, squares = 0, rest = (double)INFINITY;
    sim_random_init(&random, scenario->seed, SIM_ROW_BYTES, UINT64_MAX);
    for (unsigned i = 0; (scenario->trace_path == NULL || scenario->has_row_bytes) && i < 4096; i++) {
        double bytes = (double)sim_size_draw(&scenario->workload.row_bytes, &random);
        sum += bytes;
        squares += bytes * bytes;
    }
    rest = sum > 0 ? squares / (2 * sum) : rest;
    for (double threshold = 1; threshold <= 1000; threshold *= 2) {
        const double all[] = {1, 0.9, 0.75, 0.5}, few[] = {isinf(rest) ? 1 : 0.85};
        double low = 0, high = floor(limit) + 1;
        while (high - low > 1) {
            double bytes = floor((low + high) / 2), mu = (limit - fmin(rest, bytes)) / bytes, below = 0;
            for (double i = 0; mu >= threshold && i < threshold; i++)
                below += exp(i * log(mu) - mu - lgamma(i + 1));
            *(mu >= threshold && below <= risk ? &low : &high) = bytes;
        }
        for (int i = 0; i < (threshold <= 2 ? 4 : 1); i++) {
            double bytes = floor(low * (threshold <= 2 ? all[i] : few[i])), two = rounded(bytes, 2);
            bytes = bytes - two > floor(bytes / 50) ? rounded(bytes, 3) : two;
            if (bytes > 0)
                add_rung(out, bytes, threshold);
        }
    }
}

/* What the distribution says of windows. */
static enum lab_within judge_window(const struct answer *answer, const struct tune_contest *contest,
                                    double seconds, int64_t epoch_ns)
{
    struct lab_settings settings = {.strategy.kind = BK_KIND_TIME};
    struct lab_limits limits = answer->scenario->limits;
    limits.rate[0] = limits.rate[1] = 0;
    bk_strategy_time((int64_t)seconds * SIM_SECOND, epoch_ns, &settings.strategy);
    const struct lab_facts known = known_of(contest, &settings, 1, 1);
    const struct twin_verdict verdict = twin_judge(&limits, &known);
    return verdict.by == LAB_BY_SAMPLE ? LAB_NOT_JUDGED : verdict.within;
}

/* Common windows from the first that the distribution does not exclude, down to a quarter of the first that
 * is within the limits by it; before them the longest in whole days, hours, minutes or seconds; and the last
 * if it is excluded. */
static void climb_time(const struct answer *answer, const struct tune_contest *contest, bool is_sharded,
                       double writes, int64_t epoch_ns, struct rungs *out)
{
    static const double seconds[] = {31536000, 15552000, 7776000, 5184000, 2592000, 1209600, 864000, 604800,
                                     432000,   259200,   172800,  86400,   43200,   28800,   21600,  14400,
                                     10800,    7200,     3600,    1800,    1200,    900,     600,    300,
                                     120,      60,       30,      10,      5,       1};
    const struct tune_rows *rows = &contest->rows;
    const double lasts = (double)rows->lasts_ns / 1e9,
                 full = lasts * rows->limit_rows / (double)rows->busiest_rows;
    double least = full / 100, excluded = 0;
    bool is_known = !is_sharded;
    for (int i = 0; i < 30; i++) {
        const double window = seconds[i];
        if (window > lasts || window < least)
            continue;
        const enum lab_within within =
            is_known ? judge_window(answer, contest, window, epoch_ns) : LAB_NOT_JUDGED;
        is_known = within != LAB_NOT_JUDGED;
        if (within == LAB_EXCEEDS) {
            excluded = window;
            continue;
        }
        double longest = window;
        for (double high = excluded, middle; high > 0;) {
            middle = longest + floor((high - longest) / 2);
            const double unit = middle >= 172800 ? 86400 : middle >= 7200 ? 3600 : middle >= 120 ? 60 : 1;
            middle = floor(middle / unit) * unit;
            if (!(middle > longest))
                break;
            *(judge_window(answer, contest, middle, epoch_ns) == LAB_EXCEEDS ? &high : &longest) = middle;
        }
        excluded = 0;
        if (longest > window)
            add_rung(out, longest * 1e9, 1);
        double shards = 1;
        while (is_sharded && shards < 64 && (shards < window / full || shards < writes))
            shards *= 2;
        add_rung(out, window * 1e9, shards);
        if (is_sharded && shards < 64)
            add_rung(out, window * 1e9, 2 * shards);
        least = within == LAB_WITHIN ? fmax(least, window / 4) : least;
    }
    if (excluded > 0)
        add_rung(out, excluded * 1e9, 1);
}

static void climb(const struct answer *answer, const struct tune_contest *contest, enum bk_kind kind,
                  int64_t epoch_ns, struct rungs *out)
{
    static const double parts[] = {1, 0.75, 0.5, 0.9, 0.25, 0.1};
    const struct tune_rows *rows = &contest->rows;
    const struct lab_tune *terms = &contest->terms;
    const double limit = rows->limit_rows, lasts_ns = (double)rows->lasts_ns;
    const double year = fmax(1, 365 * (double)SIM_DAY / lasts_ns),
                 partitions = fmax(1, year * (double)rows->rows / limit);
    const double risk = terms->share > 0 ? terms->share : fmin(0.001, (1 - terms->confidence) / partitions);
    const bool stops = !twin_grows(answer, &(struct lab_settings){.strategy.kind = BK_KIND_HASH});
    const struct tune_prospect prospect = {contest->scenario,         1,    (double)rows->rows,
                                           (double)rows->keys,        true, lasts_ns * 1e-9,
                                           (double)rows->busiest_rows};
    struct lab_rate_facts rates[LAB_RATES];
    double buckets = 1, needed = (double)rows->busiest_rows / limit, writes = 1;
    tune_rates_of(&prospect, &(struct lab_settings){.strategy.kind = BK_KIND_UNBUCKETED}, rates);
    if (rates[LAB_RATE_WRITES].is_known) /* so that the busiest second is divided too */
        writes = rates[LAB_RATE_WRITES].peak / contest->scenario->limits.rate[LAB_RATE_WRITES];
    needed = fmax(needed, writes);
    bool is_sharded = false;
    for (size_t i = 0; i < answer->scenario->strategy_count; i++)
        is_sharded |= naive_shards(&answer->scenario->strategies[i].settings.strategy) > 1;
    out->count = 0;
    if (kind == BK_KIND_TIME)
        climb_time(answer, contest, is_sharded, writes, epoch_ns, out);
    for (int i = 0; kind == BK_KIND_COUNT && i < 6; i++) {
        double number = floor(fmin(limit * parts[i], 1e15));
        if (rounded(number, i == 0 ? 18 : 2) > 0)
            add_rung(out, rounded(number, i == 0 ? 18 : 2), 0);
    }
    while (buckets < needed && buckets < 65536)
        buckets *= 2;
    for (int turn = stops ? 1 : 2; kind == BK_KIND_HASH && buckets > 1 && turn <= 2; turn++)
        add_rung(out, fmin(turn * buckets, 65536), 0);
    if (kind == BK_KIND_UNBUCKETED)
        add_rung(out, 0, 0);
    if (kind == BK_KIND_PROBABILISTIC)
        climb_probabilistic(limit, risk, out);
    if (kind == BK_KIND_WEIGHTED)
        climb_weighted(answer, floor(fmin(limit * rows->mean_payload, 1e15)), risk, out);
}

static bool is_rung(const struct bk_strategy *strategy, const uint64_t *numbers)
{
    switch (strategy->kind) {
    case BK_KIND_TIME:
        return (uint64_t)strategy->of.time.window_ns == numbers[0] &&
               (uint64_t)naive_shards(strategy) == numbers[1];
    case BK_KIND_COUNT:
        return strategy->of.count.rows == numbers[0];
    case BK_KIND_HASH:
        return strategy->of.hash.buckets == numbers[0];
    case BK_KIND_PROBABILISTIC:
        return strategy->of.probabilistic.bits == numbers[0] &&
               strategy->of.probabilistic.threshold == numbers[1];
    case BK_KIND_WEIGHTED:
        return strategy->of.weighted.bytes == numbers[0] && strategy->of.weighted.threshold == numbers[1];
    default:
        return true;
    }
}

/* Whether the search looks for settings of a kind. */
static bool is_sought(const struct answer *answer, const struct tune_contest *contest, enum bk_kind kind)
{
    const struct lab_scenario *scenario = answer->scenario;
    const bool has_varied = scenario->trace_path != NULL && !scenario->has_row_bytes;
    bool is_own = false;
    for (size_t i = 0; i < scenario->strategy_count; i++)
        is_own |= scenario->strategies[i].settings.strategy.kind == kind;
    return (contest->terms.kinds >> kind & 1) != 0 &&
           (kind != BK_KIND_WEIGHTED || is_own ||
            (scenario->limits.partition_bytes > 0 &&
             (has_varied || scenario->workload.row_bytes.kind != SIM_SIZE_CONSTANT)));
}

/* All settings besides the scenario's own are rungs, in their order, and each rung of a kind is a setting
 * unless it cannot be run. */
static bool check_ladders(const struct answer *answer, const struct tune_contest *contest)
{
    struct rungs rungs;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *first = &contest->entrants[i];
        size_t at = 0;
        if (first->is_own || (i > 0 && first[-1].base == first->base && !first[-1].is_own))
            continue;
        const enum bk_kind kind = first->strategy.settings.strategy.kind;
        climb(answer, contest, kind,
              kind == BK_KIND_TIME ? first->strategy.settings.strategy.of.time.epoch_ns : 0, &rungs);
        for (size_t j = i; j < contest->count && contest->entrants[j].base == first->base; j++) {
            const struct bk_strategy *strategy = &contest->entrants[j].strategy.settings.strategy;
            while (at < rungs.count && !is_rung(strategy, rungs.numbers[at]))
                at++;
            if (at++ >= rungs.count)
                return twin_differs(answer, "tune: %s is no rung of the ladder",
                                    contest->entrants[j].strategy.label);
        }
    }
    for (size_t i = 0; i < contest->count; i++) { /* no setting twice */
        for (size_t j = 0; j < i; j++) {
            char texts[2][TUNE_STRATEGY_TEXT_SIZE];
            struct lab_strategy one = contest->entrants[i].strategy, other = contest->entrants[j].strategy;
            one.label = other.label = (char[]){"same"};
            tune_strategy_text(&one, texts[0]);
            tune_strategy_text(&other, texts[1]);
            if (!contest->entrants[i].is_own && strcmp(texts[0], texts[1]) == 0)
                return twin_differs(answer, "tune: %s is tried twice", texts[0]);
        }
    }
    for (unsigned kind = 0; kind < BK_KINDS && contest->left_out == 0; kind++) {
        size_t met = 0;
        if (!is_sought(answer, contest, (enum bk_kind)kind))
            continue;
        int64_t epoch_ns = 0;
        for (size_t i = 0; kind == BK_KIND_TIME && i < contest->count; i++) {
            if (!contest->entrants[i].is_own &&
                contest->entrants[i].strategy.settings.strategy.kind == BK_KIND_TIME)
                epoch_ns = contest->entrants[i].strategy.settings.strategy.of.time.epoch_ns;
        }
        climb(answer, contest, (enum bk_kind)kind, epoch_ns, &rungs);
        for (size_t rung = 0; rung < rungs.count; rung++) {
            bool is_there = false;
            for (size_t i = 0; i < contest->count; i++) {
                const struct bk_strategy *strategy = &contest->entrants[i].strategy.settings.strategy;
                is_there |= strategy->kind == kind && is_rung(strategy, rungs.numbers[rung]);
            }
            met += is_there;
        }
        if (met < rungs.count)
            return twin_differs(answer, "tune: %zu of %zu rungs of %s are tried", met, rungs.count,
                                bk_kind_name((enum bk_kind)kind));
    }
    return true;
}

/* The time of the first partition above a limit, with the scenario's seed. */
static bool check_first_over(const struct answer *answer, const struct tune_contest *contest,
                             const struct tune_entrant *entrant)
{
    struct twin_outlook outlook = {.growth = contest->outlook.growth.per_day,
                                   .days = (double)contest->rows.lasts_ns / (double)SIM_DAY,
                                   .seen = (double)NAN,
                                   .key_rows = (double)contest->rows.busiest_rows,
                                   .key_bytes = (double)contest->rows.busiest_bytes,
                                   .whole_days = contest->outlook.unbucketed_days};
    if (entrant->seeds > 0) {
        outlook.seen = entrant->seen[0].figures[TUNE_FIRST_OVER];
        outlook.rows = (double)entrant->seen[0].rows_most;
        outlook.bytes = (double)entrant->seen[0].bytes_most;
    }
    const struct lab_settings whole = {.strategy = {.kind = BK_KIND_UNBUCKETED}};
    double told;
    naive_must(tune_contest_first_over(contest, entrant, &told) ? &told : NULL);
    return (twin_horizon(answer, &entrant->strategy.settings, &outlook, told) &&
            twin_endless(answer, &whole, &outlook, outlook.key_rows, outlook.key_bytes,
                         outlook.whole_days)) ||
           twin_differs(answer, "tune: %s exceeds a limit after %.9g days, unbucketed after %.9g",
                        entrant->strategy.label, told, outlook.whole_days);
}

static bool check_rows(const struct answer *answer, const struct tune_contest *contest)
{
    const struct lab_strategy_result *first = &answer->result->strategies[0];
    const struct lab_limits *limits = &answer->scenario->limits;
    const struct tune_rows *rows = &contest->rows;
    const double in_bytes = limits->partition_bytes > 0
                                ? floor((double)limits->partition_bytes / rows->mean_bytes)
                                : (double)INFINITY;
    const double limit =
        fmin(limits->partition_rows > 0 ? (double)limits->partition_rows : in_bytes, in_bytes);
    char label[] = "all";
    const struct lab_strategy whole = {.label = label, .settings.strategy.kind = BK_KIND_UNBUCKETED};
    struct naive_result *naive = naive_run(answer->input, answer->scenario, &whole);
    double bytes = 0, stored = 0;
    for (size_t i = 0; i < naive->partition_count; i++) {
        bytes += (double)naive->partitions[i].bytes;
        stored += (double)naive->partitions[i].rows;
    }
    naive_free(naive);
    const int64_t lasts_ns = answer->input->end_ns - answer->input->start_ns;
    const bool has_more = answer->scenario->deletes.share > 0 || /* bytes of tombstones */
                          (answer->scenario->trace_path == NULL &&
                           answer->scenario->workload.row_bytes.kind != SIM_SIZE_CONSTANT); /* mean sizes */
    const bool is_table = answer->scenario->design.is_given; /* a partition may have several keys */
    return (rows->rows == answer->input->rows && rows->keys == answer->input->keys_with_rows &&
            rows->lasts_ns == (lasts_ns > 0 ? lasts_ns : 1) &&
            (is_table || (double)rows->busiest_rows == twin_metric(first, "keys.rows.max")) &&
            (has_more || is_table || (double)rows->busiest_bytes == twin_metric(first, "keys.bytes.max")) &&
            (has_more || is_table || twin_is_near(rows->mean_bytes, bytes / stored)) &&
            rows->limit_rows == fmax(1, limit)) ||
           twin_differs(answer, "tune: the pilot's totals differ");
}

/* Of drawn seeds: the worst figures, the mean and its interval; demands that the mean meets or misses. */
static bool check_drawn(const struct answer *answer, const struct tune_contest *contest)
{
    static const size_t sizes[] = {offsetof(struct tune_seen, rows_most),
                                   offsetof(struct tune_seen, bytes_most)};
    struct sim_random *random = answer->random;
    struct tune_seen seen[4] = {{.closed = 0}}, worst = {.closed = 0};
    struct tune_entrant entrant = {.seen = seen, .seeds = 1 + (uint32_t)sim_random_below(random, 4)};
    struct tune_contest other = *contest;
    struct lab_facts known = {.partitions = 0};
    struct lab_judgment judgment;
    enum tune_demand failed;
    const double n = entrant.seeds, tiny = 0.25 * (double)sim_random_below(random, 4),
                 asks = 1 + (double)sim_random_below(random, 4);
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < entrant.seeds; i++) {
        seen[i] = (struct tune_seen){.refused = 0.25 * (double)sim_random_below(random, 4)};
        seen[i].closed = sim_random_below(random, 9);
        seen[i].figures[TUNE_TINY] = tiny;
        seen[i].figures[TUNE_PER_READ_P99] = asks;
        seen[i].figures[TUNE_COST] = (double)sim_random_below(random, 50);
        sum += seen[i].figures[TUNE_COST];
        worst.refused = largest(worst.refused, seen[i].refused);
        worst.closed += seen[i].closed;
        for (size_t at = 0; at < 2; at++) {
            uint64_t *one = (uint64_t *)((uintptr_t)&seen[i] + sizes[at]),
                     *most = (uint64_t *)((uintptr_t)&worst + sizes[at]);
            *one = sim_random_below(random, 9);
            *most = *one > *most ? *one : *most;
        }
    }
    for (uint32_t i = 0; i < entrant.seeds; i++)
        squares += pow(seen[i].figures[TUNE_COST] - sum / n, 2);
    const struct tune_seen told = tune_worst_of(&entrant);
    if (told.refused != worst.refused || told.closed != worst.closed ||
        memcmp(&told.rows_most, &worst.rows_most, 2 * sizeof(uint64_t)) != 0)
        return twin_differs(answer, "tune: the worst of %.0f drawn seeds differs", n);
    const struct tune_sample sample = tune_figures_of(seen, entrant.seeds, TUNE_COST);
    const struct tune_interval interval = tune_sample_mean_interval(&sample, contest->terms.confidence);
    const double half = (interval.high - interval.low) / 2, error = sqrt(squares / (n - 1) / n),
                 chance = (1 - contest->terms.confidence) / 2;
    if (!twin_is_near(tune_mean_of(&entrant, TUNE_COST), sum / n) || !(interval.high >= sum / n) ||
        (n > 1 && (fabs((interval.high + interval.low) / 2 - sum / n) > 1e-9 ||
                   (squares > 0 && fabs(twin_student_above(half / error, n - 1) - chance) > 1e-3 * chance))))
        return twin_differs(answer, "tune: the mean of %.0f drawn seeds, or its interval, differs", n);
    other.terms.tiny = tiny - 0.25 * (double)sim_random_below(random, 2);
    other.terms.partitions_per_read = asks - (double)sim_random_below(random, 2);
    const bool is_tiny = other.terms.tiny >= 0 &&
                         other.terms.tiny<tiny, asks_many = other.terms.partitions_per_read> 0 &&
                         other.terms.partitions_per_read < asks;
    const enum lab_within within = tune_judge(&other, seen, entrant.seeds, &known, &judgment, &failed);
    return ((within == LAB_EXCEEDS) == (is_tiny || asks_many) &&
            (within != LAB_EXCEEDS || failed == (is_tiny ? TUNE_NOT_TINY : TUNE_FEW_PER_READ))) ||
           twin_differs(answer, "tune: a share of %g tiny partitions is judged %d, %g are allowed", tiny,
                        within, other.terms.tiny);
}

static bool check_contest(const struct answer *answer, const struct tune_contest *contest)
{
    bool is_fine = check_rows(answer, contest) && check_drawn(answer, contest) &&
                   check_chosen(answer, contest) && check_feasible(answer, contest) &&
                   check_end(answer, contest) && check_rivals(answer, contest) &&
                   (answer->scenario->engine == LAB_ENGINE_CLUSTER || check_ladders(answer, contest));
    for (size_t i = 0; is_fine && i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (entrant->strategy.settings.change_count > 0)
            return twin_differs(answer, "tune: %s changes during the run", entrant->strategy.label);
        bool is_looked_at = i == contest->recommended || sim_random_below(answer->random, contest->count) < 6;
        if (!is_looked_at)
            continue;
        is_fine = check_status(answer, contest, entrant) && check_first_over(answer, contest, entrant);
        for (uint32_t seed = 0; is_fine && seed < entrant->seeds; seed++)
            is_fine = check_seen(answer, entrant, &entrant->seen[seed], seed, 1);
    }
    if (is_fine && contest->led != SIZE_MAX) {
        const struct lab_agents *agents = &answer->scenario->agents;
        const struct tune_entrant *led = &contest->entrants[contest->led];
        const double lead_ms = ((double)agents->cache_ttl_ns + 2 * (double)agents->clock_bound_ns) / 1e6 +
                               twin_or_zero(mean_of(led->seen, led->seeds, TUNE_WRITE_P999));
        is_fine = fabs(tune_contest_lead_ms(contest) - lead_ms - 0.5) <= 0.5 + 1e-6 ||
                  twin_differs(answer, "tune: the lead of %s differs", led->strategy.label);
    }
    for (size_t i = 0; is_fine && i < contest->margin_count; i++)
        is_fine = check_margin(answer, contest, &contest->margins[i]);
    return is_fine;
}

/* Whether an expectation, as `check` judges it, fits the verdict of the run. */
static bool check_expects(const struct answer *answer, const struct lab_score *scores)
{
    struct lab_scenario scenario = *answer->scenario;
    struct lab_expect expects[LAB_STRATEGIES_MAX];
    struct lab_result *result = NULL;
    struct sim_error error;
    const double may = scenario.limits.over_limit_share;
    bool is_fine = true;
    scenario.expects = expects;
    for (size_t i = 0; i < scenario.strategy_count; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s.partitions.over_limit <= %.0f", scenario.strategies[i].label,
                 floor(may * (double)scores[i].judgment.partitions));
        is_fine = is_fine && lab_expect_parse(text, &expects[i]) == NULL;
        scenario.expect_count += is_fine;
    }
    is_fine = is_fine && lab_run(&scenario, 1, NULL, &result, &error);
    if (!is_fine)
        twin_differs(answer, "an expectation cannot be judged");
    for (size_t i = 0; is_fine && i < scenario.strategy_count; i++) {
        const struct lab_judgment *judgment = &scores[i].judgment;
        if (judgment->by == LAB_BY_DISTRIBUTION || judgment->within == LAB_NOT_JUDGED ||
            judgment->exceeded >= 1u << LAB_SIZE_UNITS) /* by a rate */
            continue;
        is_fine = result->expects[i].ok == (judgment->within == LAB_WITHIN) ||
                  twin_differs(answer, "%s: `run` and `check` disagree", scenario.strategies[i].label);
    }
    for (size_t i = 0; i < scenario.expect_count; i++)
        lab_expect_clear(&expects[i]);
    lab_result_destroy(result);
    return is_fine;
}

bool twin_agree(const struct answer *answer)
{
    struct lab_score scores[LAB_STRATEGIES_MAX];
    struct lab_tune terms = answer->scenario->tune;
    struct tune_contest contest;
    struct sim_error error;
    size_t own = 0;
    terms.seeds = 1;
    lab_choose(answer->result, scores);
    if (!check_expects(answer, scores))
        return false;
    if (!tune_contest_begin(&contest, answer->scenario, &terms, 1, NULL, &error))
        return twin_differs(answer, "tune: %s", error.text);
    for (size_t i = 0; i < contest.count; i++) {
        if (contest.entrants[i].is_own)
            contest.entrants[own++] = contest.entrants[i];
        else
            free(contest.entrants[i].strategy.label);
    }
    contest.count = own;
    bool is_fine = tune_race(&contest, 1, NULL, &error) || twin_differs(answer, "tune: %s", error.text);
    for (size_t i = 0; is_fine && i < own; i++) {
        const struct tune_entrant *entrant = &contest.entrants[i];
        size_t at = 0;
        while (strcmp(answer->scenario->strategies[at].label, entrant->strategy.label) != 0)
            at++;
        const struct lab_judgment *told = &entrant->judgment, *wanted = &scores[at].judgment;
        is_fine = (told->within == wanted->within &&
                   (entrant->seeds == 0 || (told->over == wanted->over && told->by == wanted->by &&
                                            entrant->disqualifiers == scores[at].disqualifiers))) ||
                  twin_differs(answer, "%s: judged %d by %s in `run`, and %d by %s in `tune`",
                               entrant->strategy.label, wanted->within, lab_judged_by_name(wanted->by),
                               told->within, lab_judged_by_name(told->by));
    }
    tune_contest_clear(&contest);
    return is_fine;
}

bool twin_tune(const struct answer *answer)
{
    struct lab_tune terms = answer->scenario->tune;
    struct tune_contest contest;
    struct sim_error error;
    terms.seeds = 1 + (uint32_t)sim_random_below(answer->random, 3);
    if (answer->scenario->limits.tiny_rows > 0 && sim_random_below(answer->random, 4) == 0)
        terms.tiny = 0.1 * (double)sim_random_below(answer->random, 6);
    if (answer->scenario->reads.present && sim_random_below(answer->random, 4) == 0)
        terms.partitions_per_read = 1 + (double)sim_random_below(answer->random, 4);
    if (!tune_contest_begin(&contest, answer->scenario, &terms, 1, NULL, &error))
        return twin_differs(answer, "tune: %s", error.text);
    bool is_fine =
        tune_contest_run(&contest, 1, NULL, &error) || twin_differs(answer, "tune: %s", error.text);
    is_fine = is_fine && check_contest(answer, &contest);
    tune_contest_clear(&contest);
    return is_fine;
}
