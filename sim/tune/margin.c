/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The winner and the best of each other kind again, at higher rates. */
#include <stdlib.h>

#include "tune/contest.h"

#define LEAD_SEEDS 3
#define LEAD_TRIES 9 /* that a lead is usually found in */

static const double factors[TUNE_MARGIN_STEPS] = {1.5, 2, 3, 5, 10};

struct trial {
    struct tune_contest *contest;
    struct lab_progress *progress;
    uint32_t threads_each;
};

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

/* The winner, and of each other kind the cheapest that holds. */
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

/* The highest rate takes longest, so it is run first. */
static bool work(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error)
{
    const struct trial *trial = context;
    const struct tune_contest *contest = trial->contest;
    struct lab_strategy strategies[BK_KIND_COUNT];
    for (size_t i = 0; i < contest->margin_count; i++)
        strategies[i] = contest->race.entrants[contest->margins[i].entrant].strategy;
    struct tune_seen *seen = calloc(contest->margin_count, sizeof *seen);
    if (seen == NULL)
        return sim_fail_memory(error);
    *made = seen;
    return tune_watch_at(contest, strategies, contest->margin_count, contest->scenario->seed,
                         factors[TUNE_MARGIN_STEPS - 1 - job], trial->threads_each, progress, seen, error);
}

/* Whether so many above a limit are no more than chance brings at the share that may be. */
static bool is_chance(const struct tune_contest *contest, const struct tune_seen *seen)
{
    if (contest->race.terms.share == 0)
        return false;
    double confidence = 1 - (1 - contest->race.terms.confidence) / 2;
    return lab_share_least(seen->over, seen->partitions, confidence) <= contest->race.terms.risk;
}

static bool take(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    const struct trial *trial = context;
    const struct tune_contest *contest = trial->contest;
    struct tune_seen *seen = made;
    (void)is_enough;
    (void)error;
    for (size_t i = 0; i < contest->margin_count; i++) {
        struct tune_margin_step *step = &contest->margins[i].steps[TUNE_MARGIN_STEPS - 1 - job];
        struct tune_entrant alone = contest->race.entrants[contest->margins[i].entrant];
        alone.seen = &seen[i];
        alone.seeds = 1;
        *step = (struct tune_margin_step){.factor = factors[TUNE_MARGIN_STEPS - 1 - job], .seen = seen[i]};
        step->holds = tune_is_within(&alone, &contest->race.terms, &step->failed) ||
                      (step->failed == TUNE_IN_LIMITS && is_chance(contest, &seen[i]));
    }
    free(made);
    trial->progress->done++;
    return true;
}

bool tune_margins(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                  struct sim_error *error)
{
    size_t chosen[BK_KIND_COUNT];
    size_t count = choose(contest, chosen);
    contest->margins = calloc(count, sizeof *contest->margins);
    if (contest->margins == NULL)
        return sim_fail_memory(error);
    contest->margin_count = count;
    for (size_t i = 0; i < count; i++)
        contest->margins[i].entrant = chosen[i];
    contest->has_margins = contest->scenario->trace_path == NULL;
    if (!contest->has_margins)
        return true;
    struct lab_progress unseen = {0}, inner = {.parent = progress};
    struct trial trial = {.contest = contest,
                          .progress = progress != NULL ? progress : &unseen,
                          .threads_each = threads > TUNE_MARGIN_STEPS ? threads / TUNE_MARGIN_STEPS : 1};
    const struct lab_crew crew = {
        .context = &trial, .count = TUNE_MARGIN_STEPS, .work = work, .take = take, .drop = free};
    uint64_t taken;
    trial.progress->total = trial.progress->done + crew.count + lead_runs(&contest->race);
    bool is_fine = lab_crew_run(&crew, threads, &inner, &taken, error);
    if (is_fine && lab_is_stopped(progress))
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    return is_fine;
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
