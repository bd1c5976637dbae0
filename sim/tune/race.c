/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the settings of a contest on more and more seeds until each is judged. */
#include "tune/race.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

/* So many entrants share a run: rows are made once for all of them, and yet there is work for every thread.
 */
#define TOGETHER 16
/* Nothing is dropped before: two seeds say too little of how seeds differ. */
#define SEEDS_FIRST 3

/* One round: some seeds, all entrants that are left. */
struct round {
    struct tune_race *race;
    size_t *left; /* numbers of entrants */
    size_t left_count, batches;
    uint32_t seed, seeds;
    uint32_t threads_each;
    struct lab_progress *progress; /* of the whole race */
};

bool tune_race_add(struct tune_race *race, const struct tune_entrant *entrant)
{
    if (!sim_grow(&race->entrants, &race->capacity, race->count + 1, sizeof *race->entrants)) {
        free(entrant->strategy.label);
        return false;
    }
    race->entrants[race->count++] = *entrant;
    return true;
}

void tune_race_clear(struct tune_race *race)
{
    for (size_t i = 0; i < race->count; i++) {
        free(race->entrants[i].strategy.label);
        free(race->entrants[i].seen);
    }
    free(race->entrants);
    race->entrants = NULL;
    race->count = race->capacity = 0;
}

static bool make_room(struct tune_race *race, struct sim_error *error)
{
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->status == TUNE_REFUSED)
            continue;
        entrant->status = TUNE_HOLDS;
        entrant->seeds = 0;
        free(entrant->seen);
        entrant->seen = calloc(race->terms.seeds, sizeof *entrant->seen);
        if (entrant->seen == NULL)
            return sim_fail_memory(error);
    }
    return true;
}

/* Entrants left[*first] and those after it; returns their number. */
static size_t batch_of(const struct round *round, uint64_t job, size_t *first)
{
    *first = (size_t)(job % round->batches) * TOGETHER;
    return round->left_count - *first < TOGETHER ? round->left_count - *first : TOGETHER;
}

static bool work(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error)
{
    const struct round *round = context;
    const struct tune_race *race = round->race;
    const struct tune_entrant *entrants[TOGETHER];
    size_t first, count = batch_of(round, job, &first);
    for (size_t i = 0; i < count; i++)
        entrants[i] = &race->entrants[round->left[first + i]];
    struct tune_seen *seen = calloc(count, sizeof *seen);
    if (seen == NULL)
        return sim_fail_memory(error);
    *made = seen;
    return race->watch(race->context, entrants, count, round->seed + (uint32_t)(job / round->batches),
                       round->threads_each, progress, seen, error);
}

static bool take(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    const struct round *round = context;
    const struct tune_seen *seen = made;
    size_t first, count = batch_of(round, job, &first);
    (void)is_enough;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        struct tune_entrant *entrant = &round->race->entrants[round->left[first + i]];
        assert(entrant->seeds == round->seed + job / round->batches);
        entrant->seen[entrant->seeds++] = seen[i];
    }
    free(made);
    round->progress->done++;
    round->progress->rows += count;
    return true;
}

static bool run_round(struct round *round, uint32_t threads, struct sim_error *error)
{
    round->batches = (round->left_count + TOGETHER - 1) / TOGETHER;
    const struct lab_crew crew = {.context = round,
                                  .count = (uint64_t)round->seeds * round->batches,
                                  .work = work,
                                  .take = take,
                                  .drop = free};
    struct lab_progress inner = {.parent = round->progress};
    uint64_t taken;
    round->threads_each = crew.count >= threads ? 1 : (uint32_t)(threads / crew.count);
    round->progress->total = round->progress->done +
                             (uint64_t)(round->race->terms.seeds - round->seed) * round->batches +
                             round->race->runs_after;
    bool is_fine = lab_crew_run(&crew, threads, &inner, &taken, error);
    if (is_fine && lab_is_stopped(round->progress))
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    return is_fine;
}

/* Demands that are a matter of chance. */
static double demand_count(const struct lab_tune *terms)
{
    return 1.0 + (terms->tiny >= 0) + (terms->partitions_per_read > 0);
}

static bool drop(struct round *round, struct tune_entrant *entrant, double fail_chance,
                 double dominate_chance)
{
    const struct tune_race *race = round->race;
    enum tune_demand demand;
    for (size_t i = 0; entrant->status == TUNE_HOLDS && i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (other == entrant || other->status != TUNE_HOLDS || other->is_endless ||
            other->strategy.settings.strategy.kind != entrant->strategy.settings.strategy.kind ||
            !tune_may_replace(other, entrant) || other->seeds != entrant->seeds ||
            !tune_dominates(other, entrant, dominate_chance) ||
            tune_judge(other, &race->terms, fail_chance, &demand) != TUNE_VERDICT_HOLDS)
            continue;
        entrant->status = TUNE_DOMINATED;
        entrant->dominator = i;
    }
    return entrant->status != TUNE_HOLDS;
}

/* The levels of the tests are those of tune/race.h. */
static void drop_some(struct round *round)
{
    const struct tune_race *race = round->race;
    size_t entered = 0, kept = 0;
    for (size_t i = 0; i < race->count; i++)
        entered += race->entrants[i].status != TUNE_REFUSED;
    double times = (double)(race->terms.seeds - SEEDS_FIRST);
    double chance = (1 - race->terms.confidence) / (2 * times);
    double fail_chance = chance / demand_count(&race->terms);
    double dominate_chance = entered > 1 ? chance / (double)(entered - 1) : chance;
    for (size_t i = 0; i < round->left_count; i++) {
        struct tune_entrant *entrant = &race->entrants[round->left[i]];
        if (tune_judge(entrant, &race->terms, fail_chance, &entrant->failed) == TUNE_VERDICT_FAILS)
            entrant->status = TUNE_FAILS;
    }
    for (size_t i = 0; i < round->left_count; i++) {
        struct tune_entrant *entrant = &race->entrants[round->left[i]];
        /* What will not be recommended has told enough. */
        if (!drop(round, entrant, fail_chance, dominate_chance) && !entrant->is_endless)
            round->left[kept++] = round->left[i];
    }
    round->left_count = kept;
}

bool tune_race_run(struct tune_race *race, uint32_t threads, struct lab_progress *progress,
                   struct sim_error *error)
{
    struct lab_progress unseen = {0};
    struct round round = {.race = race, .progress = progress != NULL ? progress : &unseen};
    if (!make_room(race, error))
        return false;
    round.left = calloc(race->count + 1, sizeof *round.left);
    if (round.left == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < race->count; i++) {
        if (race->entrants[i].status != TUNE_REFUSED)
            round.left[round.left_count++] = i;
    }
    bool is_fine = true;
    while (is_fine && round.left_count > 0 && round.seed < race->terms.seeds) {
        uint32_t seeds_left = race->terms.seeds - round.seed;
        round.seeds = round.seed > 0 ? 1 : seeds_left < SEEDS_FIRST ? seeds_left : SEEDS_FIRST;
        is_fine = run_round(&round, threads, error);
        round.seed += round.seeds;
        if (is_fine && race->drops && round.seed < race->terms.seeds)
            drop_some(&round);
    }
    free(round.left);
    if (is_fine)
        tune_race_finish(race);
    return is_fine;
}
