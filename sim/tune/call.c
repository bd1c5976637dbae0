/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which settings are worth a run: branch and bound, the least bound first, within each template. */
#include <math.h>
#include <string.h>

#include "tune/race.h"

/* Windows that are called together while none of their template is within the limits: of those there is no
 * bound before one was run. Where each has rows of its own nothing is gained by more than one. */
static unsigned windows_at_once(const struct tune_race *race)
{
    return race->sharing == TUNE_SHARES_KEYS ? 1 : 3;
}

static bool is_peer(const struct tune_entrant *one, const struct tune_entrant *other)
{
    return one->base == other->base ||
           (one->base != NULL && other->base != NULL && strcmp(one->base, other->base) == 0);
}

static bool competes(const struct tune_entrant *entrant)
{
    return entrant->status == TUNE_HOLDS && entrant->is_called && !entrant->is_endless;
}

static bool is_window(const struct tune_entrant *entrant)
{
    const struct bk_strategy *strategy = &entrant->strategy.settings.strategy;
    return strategy->kind == BK_TIME && strategy->of.time.calendar == BK_CALENDAR_NONE;
}

/* Whether each window of `whole` is cut into windows of `part`. */
static bool is_cut_into(const struct tune_entrant *whole, const struct tune_entrant *part)
{
    if (!is_window(whole) || !is_window(part))
        return false;
    const int64_t window_ns = part->strategy.settings.strategy.of.time.window_ns;
    const int64_t epoch_ns = part->strategy.settings.strategy.of.time.epoch_ns;
    return whole->strategy.settings.strategy.of.time.window_ns % window_ns == 0 &&
           (whole->strategy.settings.strategy.of.time.epoch_ns - epoch_ns) % window_ns == 0;
}

/* What it costs at the least. A reader asks at least as many windows where each is cut into several. */
static double least_cost(const struct tune_race *race, const struct tune_entrant *entrant)
{
    double least = entrant->cost_least;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (other != entrant && other->seeds > 0 && is_peer(other, entrant) && is_cut_into(other, entrant))
            least = fmax(least, tune_mean_of(other, TUNE_COST));
    }
    return least;
}

/* The cheapest of a template's settings, or (peer NULL) of all, that is within the limits so far; or, with a
 * level of the tests, that was shown to be. NULL: none is. */
static const struct tune_entrant *cheapest(const struct tune_race *race, const struct tune_entrant *peer,
                                           const double *fail_chance)
{
    const struct tune_entrant *best = NULL;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        enum tune_demand demand;
        if (competes(entrant) && entrant->seeds > 0 && (peer == NULL || is_peer(entrant, peer)) &&
            (best == NULL || tune_is_cheaper(entrant, best)) &&
            (fail_chance == NULL
                 ? tune_is_within(entrant, &race->terms, &demand)
                 : tune_judge(entrant, &race->terms, *fail_chance, &demand) == TUNE_VERDICT_HOLDS))
            best = entrant;
    }
    return best;
}

const char *tune_race_best(const struct tune_race *race)
{
    const struct tune_entrant *best = cheapest(race, NULL, NULL);
    return best == NULL ? NULL : best->strategy.label;
}

/* Infinity: none is within the limits so far. */
static double best_cost(const struct tune_race *race, const struct tune_entrant *peer)
{
    const struct tune_entrant *best = cheapest(race, peer, NULL);
    return best == NULL ? (double)INFINITY : fmin((double)INFINITY, tune_mean_of(best, TUNE_COST));
}

static bool is_waiting(const struct tune_entrant *entrant)
{
    return entrant->status == TUNE_HOLDS && !entrant->is_called;
}

/* Those of a template with the least bounds, once those before have been run. Where nobody is within the
 * limits yet, or all may be cheaper, any number of waves follows. More bits buy evenness, and are run for
 * that; windows cut into smaller ones buy nothing. */
static void call_next(struct tune_race *race, const struct tune_entrant *peer)
{
    const double best = best_cost(race, peer);
    double least = (double)INFINITY;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (!is_peer(entrant, peer))
            continue;
        if (competes(entrant) && entrant->seeds == 0)
            return;
        if (is_waiting(entrant))
            least = fmin(least, least_cost(race, entrant));
    }
    unsigned windows = 0;
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (!is_peer(entrant, peer) || !is_waiting(entrant))
            continue;
        const double cost = least_cost(race, entrant);
        entrant->is_called = cost <= TUNE_COSTLY_TIMES * least &&
                             cost <= best * (is_window(entrant) ? TUNE_AS_CHEAP : TUNE_COSTLY_TIMES) &&
                             (!is_window(entrant) || windows++ < windows_at_once(race));
    }
}

/* Those that grow for ever are compared with nobody, and are run where they may cost little. */
static void call_endless(struct tune_race *race)
{
    const double most = TUNE_COSTLY_TIMES * best_cost(race, NULL);
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (is_waiting(entrant) && entrant->is_endless)
            entrant->is_called = entrant->cost_least <= most;
    }
}

void tune_race_call(struct tune_race *race, bool all)
{
    bool is_open = false;
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (is_waiting(entrant) && (all || (entrant->is_endless && entrant->is_own)))
            entrant->is_called = true;
    }
    for (size_t i = 0; i < race->count; i++) {
        if (is_waiting(&race->entrants[i]) && !race->entrants[i].is_endless)
            call_next(race, &race->entrants[i]);
    }
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (is_waiting(entrant) && entrant->is_own)
            entrant->is_called = true;
        is_open = is_open || (competes(entrant) && entrant->seeds == 0);
    }
    if (!is_open)
        call_endless(race);
}

/* More than so many times as much of it. */
static bool has_more(const struct tune_entrant *one, const struct tune_entrant *other,
                     enum tune_figure figure, double times, double error_chance)
{
    struct tune_sample differences = {0};
    const uint32_t seeds = one->seeds < other->seeds ? one->seeds : other->seeds;
    for (uint32_t i = 0; i < seeds; i++) {
        double mine = one->seen[i].figures[figure], its = other->seen[i].figures[figure];
        if (isnan(mine) || isnan(its))
            return false;
        tune_sample_add(&differences, mine - times * its);
    }
    return differences.mean > 0 && tune_sample_p_value(&differences) / 2 <= error_chance;
}

/* Whether it costs more than the best of its template. What costs as much to within 1 % may still be
 * recommended, for evenness: but not where it is less even, nor where that best costs more than the best of
 * all. */
static bool is_beaten(const struct tune_entrant *entrant, const struct tune_entrant *best,
                      const struct tune_entrant *first, double chance)
{
    return has_more(entrant, best, TUNE_COST, TUNE_AS_CHEAP, chance) ||
           (has_more(entrant, best, TUNE_COST, 1, chance) &&
            (has_more(entrant, best, TUNE_CV, 1, chance) ||
             (best != first && has_more(best, first, TUNE_COST, TUNE_AS_CHEAP, chance))));
}

/* Whether any setting but those settled before may still be cheaper than the best of its template, or than
 * that of all. */
static bool has_rivals(const struct tune_race *race, const struct tune_entrant *best,
                       const struct tune_entrant *first, double chance)
{
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (other == best || !competes(other) || other->is_settled)
            continue;
        if (is_peer(other, best) ? !is_beaten(other, best, first, chance)
                                 : best == first && !has_more(other, best, TUNE_COST, TUNE_AS_CHEAP, chance))
            return true;
    }
    return false;
}

void tune_race_settle(struct tune_race *race, double fail_chance, double cost_chance)
{
    const struct tune_entrant *first = cheapest(race, NULL, &fail_chance);
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        const struct tune_entrant *best = competes(entrant) ? cheapest(race, entrant, &fail_chance) : NULL;
        if (best != NULL && best != entrant && is_beaten(entrant, best, first, cost_chance))
            entrant->is_settled = true;
    }
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (competes(entrant) && cheapest(race, entrant, &fail_chance) == entrant &&
            (entrant == first || has_more(entrant, first, TUNE_COST, TUNE_AS_CHEAP, cost_chance)) &&
            !has_rivals(race, entrant, first, cost_chance))
            entrant->is_settled = true;
    }
}
