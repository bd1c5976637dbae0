/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settles a race: finds the settings that no other setting dominates, and recommends one. */
#include <math.h>

#include "tune/race.h"

static const enum tune_figure cheap_by[] = {TUNE_COST, TUNE_CV, TUNE_P99_BYTES};
static const enum tune_figure narrow_by[] = {TUNE_CV, TUNE_P99_BYTES, TUNE_COST};

const char *tune_status_name(enum tune_status status)
{
    static const char *const names[TUNE_STATUS_COUNT] = {"recommended", "front", "holds",   "unsure",
                                                         "dominated",   "fails", "refused", "costly"};
    return (unsigned)status < TUNE_STATUS_COUNT ? names[status] : "unknown";
}

static bool is_left(const struct tune_entrant *entrant)
{
    return entrant->status != TUNE_DOMINATED && entrant->status != TUNE_FAILS && tune_was_run(entrant);
}

/* Judges each remaining setting with the requested confidence. Results of the race itself are kept. */
static void judge_all(struct tune_race *race, double error_chance)
{
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->seeds > 0)
            entrant->over = tune_over_interval(entrant, error_chance);
        if (!is_left(entrant))
            continue;
        enum tune_demand demand;
        enum tune_verdict verdict = tune_judge(entrant, &race->terms, error_chance, &entrant->failed);
        if (verdict == TUNE_VERDICT_HOLDS) {
            entrant->status = TUNE_HOLDS;
        } else if (verdict == TUNE_VERDICT_OPEN && tune_is_within(entrant, &race->terms, &demand)) {
            entrant->status = TUNE_UNSURE;
        } else {
            entrant->status = TUNE_FAILS;
            if (verdict == TUNE_VERDICT_OPEN)
                entrant->failed = demand;
        }
    }
}

static bool is_choice(const struct tune_entrant *entrant, enum tune_status among)
{
    return entrant->status == among && tune_may_win(entrant);
}

/* Compares by the first of these figures that differs; with `beside`, over the seeds of both. A missing
 * figure comes last. */
static int compare(const struct tune_entrant *one, const struct tune_entrant *other, bool beside,
                   const enum tune_figure *figures, size_t count)
{
    int order = 0;
    for (size_t i = 0; i < count && order == 0; i++) {
        double mine = tune_mean_over(one, figures[i], beside ? other->seeds : one->seeds);
        double its = tune_mean_over(other, figures[i], beside ? one->seeds : other->seeds);
        order = isnan(mine) || isnan(its) ? isnan(mine) - isnan(its) : (mine > its) - (mine < its);
    }
    return order;
}

static bool is_narrower(const struct tune_entrant *one, const struct tune_entrant *other)
{
    return compare(one, other, false, narrow_by, sizeof narrow_by / sizeof *narrow_by) < 0;
}

/* Returns whether the costs on the seeds of both are practically the same. */
static bool is_as_cheap(const struct tune_entrant *entrant, const struct tune_entrant *cheapest)
{
    return tune_mean_over(entrant, TUNE_COST, cheapest->seeds) <=
           TUNE_AS_CHEAP * tune_mean_over(cheapest, TUNE_COST, entrant->seeds);
}

/* Recommends the cheapest setting that was shown to hold; if there is none, the cheapest of those that are
 * undecided. Among settings of practically the same cost, the most even one is chosen. */
static void choose(struct tune_race *race)
{
    race->recommended = SIZE_MAX;
    for (int shown = 1; shown >= 0 && race->recommended == SIZE_MAX; shown--) {
        enum tune_status among = shown ? TUNE_HOLDS : TUNE_UNSURE;
        size_t cheapest = SIZE_MAX;
        race->is_shown = shown != 0;
        for (size_t i = 0; i < race->count; i++) {
            if (is_choice(&race->entrants[i], among) &&
                (cheapest == SIZE_MAX ||
                 tune_is_cheaper_beside(&race->entrants[i], &race->entrants[cheapest])))
                cheapest = i;
        }
        if (cheapest == SIZE_MAX)
            continue;
        race->recommended = cheapest;
        for (size_t i = 0; i < race->count; i++) {
            const struct tune_entrant *entrant = &race->entrants[i];
            if (is_choice(entrant, among) && is_as_cheap(entrant, &race->entrants[cheapest]) &&
                is_narrower(entrant, &race->entrants[race->recommended]))
                race->recommended = i;
        }
    }
}

/* Marks the front among the settings whose verdict is the same as that of the recommended one. */
static void mark_front(struct tune_race *race)
{
    enum tune_status among = race->entrants[race->recommended].status;
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        bool is_on_front = entrant->status == among && !entrant->is_endless;
        for (size_t j = 0; is_on_front && j < race->count; j++) {
            const struct tune_entrant *other = &race->entrants[j];
            bool is_peer = other->status == among || other->status == TUNE_FRONT;
            is_on_front = !is_peer || other->is_endless || !tune_may_replace(other, entrant) ||
                          !tune_is_better(other, entrant);
        }
        if (is_on_front)
            entrant->status = TUNE_FRONT;
    }
    race->entrants[race->recommended].status = TUNE_RECOMMENDED;
}

void tune_race_finish(struct tune_race *race)
{
    judge_all(race, (1 - race->terms.confidence) / 2);
    choose(race);
    if (race->recommended != SIZE_MAX)
        mark_front(race);
}

bool tune_is_cheaper(const struct tune_entrant *one, const struct tune_entrant *other)
{
    return compare(one, other, false, cheap_by, sizeof cheap_by / sizeof *cheap_by) < 0;
}

bool tune_is_cheaper_beside(const struct tune_entrant *one, const struct tune_entrant *other)
{
    return compare(one, other, true, cheap_by, sizeof cheap_by / sizeof *cheap_by) < 0;
}

bool tune_is_rival(const struct tune_race *race, const struct tune_entrant *entrant)
{
    return entrant->status == TUNE_FRONT || entrant->status == TUNE_HOLDS ||
           (entrant->status == TUNE_UNSURE && !race->is_shown);
}
