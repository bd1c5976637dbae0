/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the settings of a contest on more and more seeds until each is judged. */
#include "tune/race.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

/* One round of a race: a seed, and all entrants that are to run on it. */
struct round {
    struct tune_race *race;
    const struct tune_entrant **left; /* the entrants of the round, divided into batches */
    size_t left_count, batches, together;
    uint32_t seed;
    uint32_t threads_each;
    struct lab_progress *progress; /* the progress of the whole race */
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
        if (entrant->status == TUNE_REFUSED ||
            (race->is_second && entrant->status == TUNE_FAILS && tune_loses_rows(entrant->failed)))
            continue;
        entrant->status = TUNE_HOLDS;
        entrant->is_called = entrant->is_settled = false;
        entrant->is_beaten = entrant->is_beaten_so_far = false;
        entrant->seeds = 0;
        free(entrant->seen);
        entrant->seen = calloc(race->terms.seeds, sizeof *entrant->seen);
        if (entrant->seen == NULL)
            return sim_fail_memory(error);
    }
    return true;
}

/* Finds the entrants of a batch: left[*first] and those after it. Returns their number. */
static size_t batch_of(const struct round *round, uint64_t job, size_t *first)
{
    *first = (size_t)job * round->together;
    return round->left_count - *first < round->together ? round->left_count - *first : round->together;
}

static bool work(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error)
{
    const struct round *round = context;
    const struct tune_race *race = round->race;
    size_t first, count = batch_of(round, job, &first);
    struct tune_seen *seen = calloc(count, sizeof *seen);
    if (seen == NULL)
        return sim_fail_memory(error);
    *made = seen;
    return race->watch(race->context, round->left + first, count, round->seed, round->threads_each, progress,
                       seen, error);
}

static void tell_best(const struct round *round)
{
    atomic_store_explicit(&round->progress->best, tune_race_best(round->race), memory_order_release);
}

static bool take(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    const struct round *round = context;
    const struct tune_seen *seen = made;
    size_t first, count = batch_of(round, job, &first);
    (void)is_enough;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        struct tune_entrant *entrant = &round->race->entrants[round->left[first + i] - round->race->entrants];
        assert(entrant->seeds == round->seed);
        do
            entrant->seen[entrant->seeds++] = seen[i];
        while (entrant->is_same && entrant->seeds < round->race->terms.seeds);
    }
    free(made);
    round->progress->done++;
    round->progress->rows += count;
    tell_best(round);
    return true;
}

/* Divides the entrants into batches that are run in one call. */
static void share(struct round *round, uint32_t threads)
{
    const enum tune_sharing sharing = round->race->sharing;
    const size_t each = (round->left_count + threads - 1) / threads;
    round->together = sharing == TUNE_SHARES_ROWS || sharing == TUNE_SHARES_KEYS ? round->left_count
                      : sharing == TUNE_SHARES_THREADS                           ? each
                                                                                 : 1;
    round->batches = (round->left_count + round->together - 1) / round->together;
    round->threads_each = round->batches >= threads ? 1 : (uint32_t)(threads / round->batches);
}

static bool run_round(struct round *round, uint32_t threads, struct sim_error *error)
{
    share(round, threads);
    const struct lab_crew crew = {
        .context = round, .count = round->batches, .work = work, .take = take, .drop = free};
    struct lab_progress inner = {.parent = round->progress};
    uint64_t taken;
    round->progress->total = round->progress->done +
                             (uint64_t)(round->race->terms.seeds - round->seed) * round->batches +
                             round->race->runs_after;
    bool is_fine = lab_crew_run(&crew, threads, &inner, &taken, error);
    if (is_fine && lab_is_stopped(round->progress))
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    return is_fine;
}

static bool is_racing(const struct tune_entrant *entrant)
{
    return entrant->status == TUNE_HOLDS && entrant->is_called;
}

/* Returns the number of demands that are judged statistically. */
static double demand_count(const struct lab_tune *terms)
{
    return 1.0 + (terms->tiny >= 0) + (terms->partitions_per_read > 0);
}

static void drop(const struct tune_race *race, struct tune_entrant *entrant, double fail_chance,
                 double dominate_chance)
{
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
}

/* Drops entrants by the tests and levels of tune/race.h, and settles others. Before the third seed, only
 * hopeless entrants are dropped; after the last one, none. */
static void drop_some(struct tune_race *race, bool is_even, bool is_last)
{
    size_t entered = 0;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        entered += entrant->is_called;
        is_even = is_even && (!is_racing(entrant) || entrant->is_settled || entrant->is_endless ||
                              entrant->seeds >= TUNE_SEEDS_FIRST);
    }
    double times =
        race->terms.seeds > TUNE_SEEDS_FIRST ? 1 + (double)(race->terms.seeds - TUNE_SEEDS_FIRST) : 1;
    double chance = (1 - race->terms.confidence) / (2 * times);
    double fail_chance = chance / demand_count(&race->terms);
    double dominate_chance = entered > 1 ? chance / (double)(entered - 1) : chance;
    for (size_t i = 0; !is_last && i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (is_racing(entrant) && entrant->seeds > 0 &&
            (tune_is_hopeless(entrant, &race->terms, fail_chance) ||
             (is_even &&
              tune_judge(entrant, &race->terms, fail_chance, &entrant->failed) == TUNE_VERDICT_FAILS)))
            entrant->status = TUNE_FAILS;
    }
    for (size_t i = 0; is_even && !is_last && i < race->count; i++) {
        if (is_racing(&race->entrants[i]))
            drop(race, &race->entrants[i], fail_chance, dominate_chance);
    }
    if (is_even || tune_draws_alone(race->sharing))
        tune_race_settle(race, fail_chance, dominate_chance, is_even);
}

/* Returns the number of seeds that an entrant must run on. One is enough for an entrant that is not compared
 * with others. */
static uint32_t seeds_of(const struct tune_race *race, const struct tune_entrant *entrant)
{
    if (!is_racing(entrant) || entrant->is_settled)
        return 0;
    return race->drops && entrant->is_endless ? 1 : race->terms.seeds;
}

/* Chooses the entrants with the fewest seeds, so that those called later catch up. Returns false if no
 * entrant needs another seed. *is_even: all entrants that need more have the same number of seeds. */
static bool choose(struct round *round, bool *is_even)
{
    const struct tune_race *race = round->race;
    round->seed = UINT32_MAX;
    round->left_count = 0;
    *is_even = true;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->seeds < seeds_of(race, entrant) && entrant->seeds < round->seed)
            round->seed = entrant->seeds;
    }
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->seeds >= seeds_of(race, entrant))
            continue;
        if (entrant->seeds == round->seed)
            round->left[round->left_count++] = entrant;
        else
            *is_even = false;
    }
    return round->left_count > 0;
}

static bool run_all(struct round *round, uint32_t threads, struct sim_error *error)
{
    struct tune_race *race = round->race;
    bool is_even, is_fine = true;
    tune_race_call(race, !race->drops);
    while (is_fine && choose(round, &is_even)) {
        is_fine = run_round(round, threads, error);
        if (is_fine && race->drops)
            drop_some(race, is_even, round->seed + 1 == race->terms.seeds);
        tell_best(round);
        tune_race_call(race, !race->drops);
    }
    return is_fine;
}

bool tune_race_run(struct tune_race *race, uint32_t threads, struct lab_progress *progress,
                   struct sim_error *error)
{
    struct lab_progress unseen = {0};
    struct round round = {.race = race, .progress = progress != NULL ? progress : &unseen};
    if (!make_room(race, error))
        return false;
    round.left = calloc(race->count + 1, sizeof *round.left);
    bool is_fine = round.left != NULL ? run_all(&round, threads, error) : sim_fail_memory(error);
    free(round.left);
    for (size_t i = 0; i < race->count; i++) {
        if (race->entrants[i].status == TUNE_HOLDS && !race->entrants[i].is_called)
            race->entrants[i].status = TUNE_COSTLY;
    }
    if (is_fine)
        tune_race_finish(race);
    return is_fine;
}
