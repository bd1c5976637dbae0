/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the winner, and the best strategy of each other kind, again at higher rates. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "lab/gone.h"
#include "tune/contest.h"

#define LEAD_TRIES 9 /* the usual number of runs to find a lead */

static const double factors[TUNE_MARGIN_STEPS] = {TUNE_MARGIN_LEAST, 2, 3, 5, 10};
#define LAST (TUNE_MARGIN_STEPS - 1)

/* If no partition may exceed a limit, the exact distribution decides whether more than this number is
 * expected to. */
#define EXPECTED_MOST 0.5

static uint64_t lead_runs(const struct tune_race *race)
{
    bool has_lead = false;
    for (size_t i = 0; i < race->count; i++)
        has_lead = has_lead || race->entrants[i].strategy.settings.coordination == BK_THREE_STATE;
    return has_lead ? TUNE_LEAD_SEEDS * LEAD_TRIES : 0;
}

uint64_t tune_runs_after(const struct tune_contest *contest)
{
    uint64_t runs = contest->scenario->trace_path == NULL ? TUNE_MARGIN_STEPS : 0;
    return runs + lead_runs(&contest->race);
}

/* Chooses the winner, and the cheapest setting of each other kind that holds. */
static size_t choose(const struct tune_contest *contest, size_t *out)
{
    const struct tune_race *race = &contest->race;
    enum bk_kind winner = race->entrants[race->recommended].strategy.settings.strategy.kind;
    size_t count = 0;
    out[count++] = race->recommended;
    for (unsigned kind = 0; kind < BK_KIND_COUNT; kind++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < race->count && kind != winner; i++) {
            const struct tune_entrant *entrant = &race->entrants[i];
            if (entrant->strategy.settings.strategy.kind == kind && tune_may_win(entrant) &&
                tune_is_rival(race, entrant) &&
                (best == SIZE_MAX || tune_is_cheaper_beside(entrant, &race->entrants[best])))
                best = i;
        }
        if (best != SIZE_MAX)
            out[count++] = best;
    }
    return count;
}

/* Returns whether it costs too much to have a margin that needs runs. */
static bool is_far(const struct tune_race *race, size_t entrant)
{
    const struct tune_entrant *best = &race->entrants[race->recommended], *other = &race->entrants[entrant];
    return tune_is_far(tune_mean_over(other, TUNE_COST, best->seeds),
                       tune_mean_over(best, TUNE_COST, other->seeds));
}

/* Whether the share of partitions above a limit was shown to stay within the allowed one at every rate:
 * buckets that end by rows alone are as large at any rate. A higher rate fills open partitions, so each of
 * them counts as one above a limit. */
static bool is_shown(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    uint64_t over = 0, all = 0;
    if (contest->race.terms.share == 0 || lab_rows_go(contest->scenario) ||
        !tune_ends_by_rows(&entrant->strategy))
        return false;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        over += entrant->seen[i].over + entrant->seen[i].partitions - entrant->seen[i].closed;
        all += entrant->seen[i].partitions;
    }
    const double confidence = 1 - (1 - contest->race.terms.confidence) / 2;
    return over < all && lab_share_most(over, all, confidence) <= contest->race.terms.risk;
}

/* Whether the limits are all that a setting must keep. */
static bool has_only_limits(const struct tune_contest *contest)
{
    const struct lab_tune *terms = &contest->race.terms;
    return contest->scenario->engine != LAB_ENGINE_CLUSTER && terms->tiny < 0 &&
           terms->partitions_per_read == 0;
}

/* Whether the race or the exact distribution shows that the setting meets all demands at every rate. */
static bool is_proven(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    return has_only_limits(contest) &&
           ((entrant->has_distribution && entrant->exact_share <= contest->race.terms.share) ||
            is_shown(contest, entrant));
}

/* Whether partitions reach the limit in rows long before that in bytes. Then the exact distribution does not
 * depend on the bytes of rows, which differ a little with their age. */
static bool is_limited_by_rows(const struct tune_contest *contest)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    return limits->partition_rows != 0 && (limits->partition_bytes == 0 ||
                                           1.25 * contest->rows.mean_bytes * (double)limits->partition_rows <=
                                               (double)limits->partition_bytes);
}

/* Decides rates by the exact distribution, if no partition may exceed a limit. In a key with n rows, a
 * partition may exceed it only if it begins in the first n - limit rows. By Wald's identity, (n - limit) /
 * mean such partitions or more are expected, where the mean is that of their rows; and n / mean or fewer,
 * since the mean is below the limit and the distribution is "new better than used in expectation". Fewer are
 * expected where rows go, where a maximum age ends buckets, and of a backfill, whose rate does not change. */
static void expect_over(const struct tune_contest *contest, const struct tune_entrant *entrant,
                        struct tune_margin *margin)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct bk_strategy *strategy = &entrant->strategy.settings.strategy;
    const double mean = tune_bucket_size(strategy), keys = (double)scenario->workload.key_count;
    const bool is_exact =
        !lab_rows_go(scenario) && strategy->max_age_ns == 0 && scenario->workload.backfill_before_ns == 0;
    if (scenario->engine == LAB_ENGINE_CLUSTER || contest->race.terms.share > 0 ||
        !entrant->has_distribution || strategy->kind != BK_PROBABILISTIC || !is_limited_by_rows(contest))
        return;
    for (size_t i = 0; i <= LAST; i++) {
        struct tune_margin_step *step = &margin->steps[i];
        const double rows = (double)contest->rows.rows * step->factor;
        step->is_bounded = true;
        step->over_most = entrant->exact_share * rows / mean;
        step->over_least =
            is_exact ? fmax(0, entrant->exact_share * (rows - keys * contest->rows.limit_rows) / mean) : 0;
        step->holds = has_only_limits(contest) && step->over_most <= EXPECTED_MOST;
        step->fails = step->over_least > EXPECTED_MOST;
    }
}

/* The lowest rate at which the setting probably fails: partitions grow with the rate at most. LAST if it
 * probably fails at none, so that one run shows that. */
static size_t likely_failure(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    double rows = 0, bytes = 0;
    size_t rate = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        rows += (double)entrant->seen[i].rows_at_risk / entrant->seeds;
        bytes += (double)entrant->seen[i].bytes_at_risk / entrant->seeds;
    }
    while (rate < LAST &&
           (limits->partition_rows == 0 || rows * factors[rate] <= (double)limits->partition_rows) &&
           (limits->partition_bytes == 0 || bytes * factors[rate] <= (double)limits->partition_bytes))
        rate++;
    return rate;
}

static void judge(const struct tune_contest *contest, size_t entrant, struct tune_seen *seen,
                  struct tune_margin_step *step)
{
    struct tune_entrant alone = contest->race.entrants[entrant];
    alone.seen = seen;
    alone.seeds = 1;
    step->seen = *seen;
    step->is_run = true;
    step->holds = tune_is_within(&alone, &contest->race.terms, &step->failed);
    step->fails = !step->holds;
}

/* Finds which rates are not decided: from *held on, but below *failed. More rows make no partition smaller,
 * so a setting that stays within the limits at one rate does so at all lower ones. Returns whether any rate
 * was run. */
static bool find_open(const struct tune_margin *margin, size_t *held, size_t *failed)
{
    bool is_begun = false;
    *held = 0;
    *failed = margin->is_tried ? TUNE_MARGIN_STEPS : 0;
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        is_begun |= step->is_run;
        if (step->holds)
            *held = i + 1;
        else if (step->fails && *failed > i)
            *failed = i;
    }
    return is_begun;
}

static bool is_open(const struct tune_margin *margin, size_t rate)
{
    size_t held, failed;
    find_open(margin, &held, &failed);
    return held <= rate && rate < failed;
}

/* Runs the settings whose next rate this is. */
static bool try_rate(struct tune_contest *contest, const size_t *next, size_t rate, uint32_t threads,
                     struct lab_progress *progress, struct sim_error *error)
{
    struct lab_strategy strategies[BK_KIND_COUNT];
    struct tune_seen seen[BK_KIND_COUNT];
    size_t open[BK_KIND_COUNT], count = 0;
    for (size_t i = 0; i < contest->margin_count; i++) {
        if (next[i] != rate)
            continue;
        assert(is_open(&contest->margins[i], rate));
        strategies[count] = contest->race.entrants[contest->margins[i].entrant].strategy;
        open[count++] = i;
    }
    if (!tune_watch_at(contest, strategies, count, contest->scenario->seed, factors[rate], threads, progress,
                       seen, error))
        return false;
    for (size_t i = 0; i < count; i++)
        judge(contest, contest->margins[open[i]].entrant, &seen[i], &contest->margins[open[i]].steps[rate]);
    if (progress != NULL)
        progress->done++;
    return !lab_is_stopped(progress) || sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
}

/* Returns the rate at which to run a setting next; TUNE_MARGIN_STEPS if all rates are decided. The lowest
 * rate at which a setting fails is searched from the one that is likely, upwards or downwards. In the
 * cluster, violations of guarantees may become fewer at a higher rate, so settings are tried from the lowest
 * rate up, unless buckets end by rows: these are tried from the highest rate down. */
static size_t next_rate(const struct tune_contest *contest, const struct tune_margin *margin)
{
    const bool is_cluster = contest->scenario->engine == LAB_ENGINE_CLUSTER;
    size_t held, failed;
    const bool is_begun = find_open(margin, &held, &failed);
    if (held >= failed)
        return TUNE_MARGIN_STEPS;
    const struct tune_entrant *entrant = &contest->race.entrants[margin->entrant];
    const bool ends_by_rows = tune_ends_by_rows(&entrant->strategy);
    if (!is_begun && is_cluster)
        return ends_by_rows ? LAST : 0;
    const size_t likely = is_begun ? 0 : likely_failure(contest, entrant);
    if (!is_cluster && ends_by_rows && likely < LAST) { /* the rate tells little about its sizes */
        const bool is_any_allowed = contest->race.terms.share > 0;
        return !is_begun && is_any_allowed ? LAST : (held + failed - 1) / 2;
    }
    if (!is_begun)
        return likely < held ? held : likely < failed ? likely : failed - 1;
    return failed < TUNE_MARGIN_STEPS && (!is_cluster || ends_by_rows) ? failed - 1 : held;
}

/* Chooses the next rate and, in next[], the rate of each setting, of which those with this rate run. Returns
 * TUNE_MARGIN_STEPS if all are decided. Where rows are shared and no partition may exceed a limit, the
 * highest rate is first, and all settings for which it is open run: each of them may need most rates, and
 * costs little beside another one. */
static size_t choose_rate(const struct tune_contest *contest, size_t *next)
{
    const bool shares = contest->race.sharing == TUNE_SHARES_ROWS && contest->race.terms.share == 0;
    size_t rate = TUNE_MARGIN_STEPS;
    for (size_t i = 0; i < contest->margin_count; i++) {
        next[i] = next_rate(contest, &contest->margins[i]);
        if (next[i] < TUNE_MARGIN_STEPS &&
            (rate == TUNE_MARGIN_STEPS || (shares ? next[i] > rate : next[i] < rate)))
            rate = next[i];
    }
    for (size_t i = 0; shares && i < contest->margin_count; i++) {
        if (is_open(&contest->margins[i], rate))
            next[i] = rate;
    }
    return rate;
}

/* Decides what needs no run. */
static void begin_margin(const struct tune_contest *contest, struct tune_margin *margin)
{
    const struct tune_entrant *entrant = &contest->race.entrants[margin->entrant];
    margin->holds_anywhere = is_proven(contest, entrant);
    for (size_t i = 0; i <= LAST; i++)
        margin->steps[i] = (struct tune_margin_step){.factor = factors[i], .holds = margin->holds_anywhere};
    if (!margin->holds_anywhere)
        expect_over(contest, entrant, margin);
    margin->is_tried = true;
    if (next_rate(contest, margin) < TUNE_MARGIN_STEPS && is_far(&contest->race, margin->entrant))
        margin->is_tried = false;
}

bool tune_margins(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                  struct sim_error *error)
{
    size_t chosen[BK_KIND_COUNT], next[BK_KIND_COUNT];
    size_t count = choose(contest, chosen);
    contest->margins = calloc(count, sizeof *contest->margins);
    if (contest->margins == NULL)
        return sim_fail_memory(error);
    contest->margin_count = count;
    for (size_t i = 0; i < count; i++) {
        contest->margins[i].entrant = chosen[i];
        if (contest->scenario->trace_path == NULL)
            begin_margin(contest, &contest->margins[i]);
    }
    const uint64_t after = lead_runs(&contest->race);
    if (progress != NULL)
        progress->total = progress->done + TUNE_MARGIN_STEPS + after;
    for (size_t rate = 0; rate < TUNE_MARGIN_STEPS;) {
        rate = choose_rate(contest, next);
        if (rate < TUNE_MARGIN_STEPS && !try_rate(contest, next, rate, threads, progress, error))
            return false;
        if (progress != NULL && (rate == TUNE_MARGIN_STEPS || progress->done + after > progress->total))
            progress->total = progress->done + after;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = LAST; j > 0; j--)
            contest->margins[i].steps[j - 1].holds |= contest->margins[i].steps[j].holds;
        for (size_t j = 1; j <= LAST; j++)
            contest->margins[i].steps[j].fails |= contest->margins[i].steps[j - 1].fails;
    }
    return true;
}

bool tune_contest_lead(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                       struct sim_error *error)
{
    const struct tune_race *race = &contest->race;
    size_t best = SIZE_MAX;
    /* If none is within the limits, one that may be. */
    for (int shown = 1; shown >= 0 && best == SIZE_MAX; shown--) {
        for (size_t i = 0; i < race->count; i++) {
            const struct tune_entrant *entrant = &race->entrants[i];
            if (entrant->status > (shown ? TUNE_HOLDS : TUNE_UNSURE) ||
                entrant->strategy.settings.coordination != BK_THREE_STATE)
                continue;
            if (best == SIZE_MAX || i == race->recommended ||
                (best != race->recommended && tune_is_cheaper_beside(entrant, &race->entrants[best])))
                best = i;
        }
    }
    contest->led = best;
    if (best != SIZE_MAX) {
        struct lab_strategy strategy = race->entrants[best].strategy;
        struct lab_scenario scenario;
        tune_scenario_of(contest->scenario, &strategy, 1, contest->scenario->seed, 1, &scenario);
        if (!tune_lead_find(&scenario, 0, TUNE_LEAD_SEEDS, threads, contest->memory, progress, &contest->lead,
                            error))
            return false;
    }
    /* The search may end sooner than expected, or there may be no lead. */
    if (progress != NULL)
        progress->total = progress->done;
    return true;
}
