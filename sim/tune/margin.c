/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the winner, and the best strategy of each other kind, again at higher rates. */
#include <stdlib.h>

#include "tune/contest.h"

#define LEAD_SEEDS 3
#define LEAD_TRIES 9 /* the usual number of runs to find a lead */

static const double factors[TUNE_MARGIN_STEPS] = {1.5, 2, 3, 5, 10};
#define LAST (TUNE_MARGIN_STEPS - 1)

static uint64_t lead_runs(const struct tune_race *race)
{
    bool has_lead = false;
    for (size_t i = 0; i < race->count; i++)
        has_lead = has_lead || race->entrants[i].strategy.settings.coordination == BK_THREE_STATE;
    return has_lead ? LEAD_SEEDS * LEAD_TRIES : 0;
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
            if (entrant->strategy.settings.strategy.kind == kind && !entrant->is_endless &&
                tune_is_rival(race, entrant) &&
                (best == SIZE_MAX || tune_is_cheaper(entrant, &race->entrants[best])))
                best = i;
        }
        if (best != SIZE_MAX)
            out[count++] = best;
    }
    return count;
}

/* Returns whether the number of partitions above a limit is consistent with the allowed share, given the
 * confidence. */
static bool is_chance(const struct tune_contest *contest, const struct tune_seen *seen)
{
    if (contest->race.terms.share == 0)
        return false;
    double confidence = 1 - (1 - contest->race.terms.confidence) / 2;
    return lab_share_least(seen->over, seen->partitions, confidence) <= contest->race.terms.risk;
}

/* Whether the exact distribution shows that the setting meets all demands. It does not depend on the rate. */
static bool is_proven(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_tune *terms = &contest->race.terms;
    return contest->scenario->engine != LAB_ENGINE_CLUSTER && entrant->has_distribution &&
           entrant->exact_share <= terms->share && terms->tiny < 0 && terms->partitions_per_read == 0;
}

static void judge(const struct tune_contest *contest, size_t entrant, struct tune_seen *seen,
                  struct tune_margin_step *step)
{
    struct tune_entrant alone = contest->race.entrants[entrant];
    alone.seen = seen;
    alone.seeds = 1;
    step->seen = *seen;
    step->is_run = true;
    step->holds = tune_is_within(&alone, &contest->race.terms, &step->failed) ||
                  (step->failed == TUNE_IN_LIMITS && is_chance(contest, seen));
}

/* Runs the settings for which it is not known yet whether they stay within the limits at this rate. */
static bool try_rate(struct tune_contest *contest, size_t rate, uint32_t threads,
                     struct lab_progress *progress, struct sim_error *error)
{
    struct lab_strategy strategies[BK_KIND_COUNT];
    struct tune_seen seen[BK_KIND_COUNT];
    size_t open[BK_KIND_COUNT], count = 0;
    for (size_t i = 0; i < contest->margin_count; i++) {
        const struct tune_margin_step *steps = contest->margins[i].steps;
        const bool has_failed = steps[0].is_run && rate > 0 && !steps[rate - 1].holds;
        if (steps[LAST].holds || steps[rate].is_run || has_failed)
            continue;
        strategies[count] = contest->race.entrants[contest->margins[i].entrant].strategy;
        open[count++] = i;
    }
    if (count > 0 && !tune_watch_at(contest, strategies, count, contest->scenario->seed, factors[rate],
                                    threads, progress, seen, error))
        return false;
    for (size_t i = 0; i < count; i++)
        judge(contest, contest->margins[open[i]].entrant, &seen[i], &contest->margins[open[i]].steps[rate]);
    if (progress != NULL)
        progress->done++;
    return !lab_is_stopped(progress) || sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
}

/* More rows make no partition smaller. So a setting that stays within the limits at the highest rate does so
 * at all rates, and only for the others the lowest rate at which they fail is searched, from the lowest rate
 * up. In the cluster, violations of guarantees may become fewer at a higher rate, so the highest rate is not
 * run first. */
bool tune_margins(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                  struct sim_error *error)
{
    size_t chosen[BK_KIND_COUNT];
    size_t count = choose(contest, chosen);
    contest->margins = calloc(count, sizeof *contest->margins);
    if (contest->margins == NULL)
        return sim_fail_memory(error);
    contest->margin_count = count;
    contest->has_margins = contest->scenario->trace_path == NULL;
    for (size_t i = 0; i < count; i++) {
        contest->margins[i].entrant = chosen[i];
        for (size_t j = 0; j <= LAST; j++)
            contest->margins[i].steps[j] = (struct tune_margin_step){
                .factor = factors[j], .holds = is_proven(contest, &contest->race.entrants[chosen[i]])};
    }
    if (!contest->has_margins)
        return true;
    if (progress != NULL)
        progress->total = progress->done + TUNE_MARGIN_STEPS + lead_runs(&contest->race);
    const bool is_last_first = contest->scenario->engine != LAB_ENGINE_CLUSTER;
    if (is_last_first && !try_rate(contest, LAST, threads, progress, error))
        return false;
    for (size_t rate = 0; rate < (is_last_first ? LAST : TUNE_MARGIN_STEPS); rate++) {
        if (!try_rate(contest, rate, threads, progress, error))
            return false;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; contest->margins[i].steps[LAST].holds && j < LAST; j++)
            contest->margins[i].steps[j].holds = true;
    }
    return true;
}

bool tune_contest_lead(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                       struct sim_error *error)
{
    const struct tune_race *race = &contest->race;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->status > TUNE_UNSURE || entrant->strategy.settings.coordination != BK_THREE_STATE)
            continue;
        if (best == SIZE_MAX || i == race->recommended ||
            (best != race->recommended && tune_is_cheaper(entrant, &race->entrants[best])))
            best = i;
    }
    contest->led = SIZE_MAX;
    if (best == SIZE_MAX)
        return true;
    struct lab_strategy strategy = race->entrants[best].strategy;
    struct lab_scenario scenario;
    tune_scenario_of(contest->scenario, &strategy, 1, contest->scenario->seed, 1, &scenario);
    if (!tune_lead_find(&scenario, 0, LEAD_SEEDS, threads, contest->memory, progress, &contest->lead, error))
        return false;
    contest->led = best;
    return true;
}
