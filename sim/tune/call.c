/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which settings are worth a run, by branch and bound within each template, the lowest bound
 * first. */
#include <math.h>
#include <string.h>

#include "tune/race.h"

#define WINDOWS_FIRST 3
/* Where rows are shared, a setting costs little, and a second run of the rows much. So more settings run at
 * first: this many windows, and settings whose bounds are this many times as high. */
#define WINDOWS_SHARED 9
#define BOUNDS_SHARED  1.25
/* Each halving of a window doubles its partitions, and so its cost. So a window is called once another one
 * that is at most this many times as long has been run. */
#define WINDOWS_SPAN 16
/* Where each setting needs its own run, one that costs this many times as much as another one of its template
 * runs with its first seeds only; the costs on the same rows differ by less from seed to seed. */
#define CLEARLY_MORE 1.1 /* TUNE_AS_CHEAP from the seed TUNE_SEEDS_FIRST on */

static bool is_peer(const struct tune_entrant *one, const struct tune_entrant *other)
{
    return one->base == other->base ||
           (one->base != NULL && other->base != NULL && strcmp(one->base, other->base) == 0);
}

static bool is_kind(const struct tune_entrant *one, const struct tune_entrant *other)
{
    return one->strategy.settings.strategy.kind == other->strategy.settings.strategy.kind;
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

static bool is_numbered(const struct tune_entrant *entrant)
{
    const struct lab_settings *settings = &entrant->strategy.settings;
    return settings->strategy.kind == BK_COUNT && settings->strategy.max_age_ns == 0 &&
           (settings->source == BK_SOURCE_EXTERNAL || settings->source == BK_SOURCE_COUNTER ||
            settings->source == BK_SOURCE_LWT);
}

bool tune_is_divided_into(const struct tune_entrant *whole, const struct tune_entrant *part)
{
    if (whole == part || !is_peer(whole, part))
        return false;
    if (is_numbered(whole) && is_numbered(part))
        return whole->strategy.settings.strategy.of.count.rows >=
               part->strategy.settings.strategy.of.count.rows;
    if (!is_window(whole) || !is_window(part))
        return false;
    const int64_t window_ns = part->strategy.settings.strategy.of.time.window_ns;
    const int64_t epoch_ns = part->strategy.settings.strategy.of.time.epoch_ns;
    return whole->strategy.settings.strategy.of.time.window_ns % window_ns == 0 &&
           (whole->strategy.settings.strategy.of.time.epoch_ns - epoch_ns) % window_ns == 0;
}

/* Returns a lower bound on the cost. A reader queries at least as many buckets if each of them is divided
 * into several. */
static double least_cost(const struct tune_race *race, const struct tune_entrant *entrant)
{
    double least = entrant->cost_least;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (other->seeds > 0 && tune_is_divided_into(other, entrant))
            least = fmax(least, tune_mean_of(other, TUNE_COST));
    }
    return least;
}

/* Returns whether every part of the windows has rows, over the seeds of `part` or, if it was not run, those
 * of `whole`. Then the parts are at least as uneven as the windows, since the mean of squares is at least the
 * square of the mean. */
static bool has_full_parts(const struct tune_entrant *whole, const struct tune_entrant *part)
{
    const uint32_t seeds = part->seeds > 0 ? part->seeds : whole->seeds;
    bool is_full = is_window(whole) && (part->seeds > 0 || part->full_count > 0);
    for (uint32_t i = 0; is_full && i < seeds; i++) {
        const double parts = part->seeds > 0 ? (double)part->seen[i].partitions : part->full_count;
        is_full =
            parts * (double)part->strategy.settings.strategy.of.time.window_ns ==
            (double)whole->seen[i].partitions * (double)whole->strategy.settings.strategy.of.time.window_ns;
    }
    return is_full;
}

static uint64_t most_partitions(const struct tune_entrant *entrant)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        most = entrant->seen[i].partitions > most ? entrant->seen[i].partitions : most;
    return most;
}

double tune_bucket_size(const struct bk_strategy *strategy)
{
    const double chance = (double)strategy->of.probabilistic.chance_numerator;
    switch (strategy->kind) {
    case BK_TIME:
        return (double)strategy->of.time.window_ns;
    case BK_COUNT:
        return (double)strategy->of.count.rows;
    case BK_PROBABILISTIC:
        return (double)strategy->of.probabilistic.threshold *
               (chance > 0 ? (double)strategy->of.probabilistic.chance_denominator / chance
                           : ldexp(1, (int)strategy->of.probabilistic.bits));
    case BK_WEIGHTED:
        return (double)strategy->of.weighted.bytes * (double)strategy->of.weighted.threshold;
    case BK_HASH:
        return 1 / (double)strategy->of.hash.buckets;
    case BK_UNBUCKETED:
    case BK_KIND_COUNT:
        break;
    }
    return 0;
}

/* Returns the most partitions of a run of a setting that was not run: no more than another one of its
 * template with smaller buckets has, and of one with larger buckets as many times more as its own buckets are
 * smaller. Returns infinity if none was run. */
static double expected_partitions(const struct tune_race *race, const struct tune_entrant *entrant)
{
    const double size = tune_bucket_size(&entrant->strategy.settings.strategy);
    double least = (double)INFINITY;
    for (size_t i = 0; size > 0 && i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        const double its = tune_bucket_size(&other->strategy.settings.strategy);
        const uint64_t most = its > 0 && is_peer(other, entrant) ? most_partitions(other) : 0;
        if (most > 0)
            least = fmin(least, (double)most * fmax(1, its / size));
    }
    return least;
}

/* Returns whether a setting may yet be shown to be within the limits, if no further partition exceeds them.
 * The seeds that are left are assumed to have more partitions than those so far, by a standard deviation of
 * their mean or, before the third seed, by a quarter. */
static bool may_be_shown(const struct tune_race *race, const struct tune_entrant *entrant)
{
    uint64_t over = 0, count = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        over += entrant->seen[i].over;
        count += entrant->seen[i].partitions;
    }
    const double mean =
        entrant->seeds > 0 ? (double)count / entrant->seeds : expected_partitions(race, entrant);
    const double each = entrant->seeds >= TUNE_SEEDS_FIRST ? mean + sqrt(mean / entrant->seeds) : 1.25 * mean;
    if (entrant->has_distribution || entrant->is_fixed || isinf(each))
        return true;
    count += (uint64_t)each * (race->terms.seeds - entrant->seeds);
    return count == 0 ||
           lab_share_most(over, count, 1 - (1 - race->terms.confidence) / 2) <= race->terms.risk;
}

/* Returns the setting for which this one was dropped, directly or by way of others; or itself. */
static const struct tune_entrant *heir_of(const struct tune_race *race, const struct tune_entrant *entrant)
{
    while (entrant->status == TUNE_DOMINATED)
        entrant = &race->entrants[entrant->dominator];
    return entrant;
}

/* Returns whether a setting may yet be shown to hold, or was. One that was dropped for another one that still
 * competes does as well. */
static bool may_hold(const struct tune_race *race, const struct tune_entrant *entrant)
{
    enum tune_demand demand;
    return competes(heir_of(race, entrant)) && entrant->seeds > 0 &&
           tune_is_within(entrant, &race->terms, &demand) &&
           (entrant->seeds < race->terms.seeds
                ? may_be_shown(race, entrant)
                : tune_judge(entrant, &race->terms, (1 - race->terms.confidence) / 2, &demand) ==
                      TUNE_VERDICT_HOLDS);
}

static bool is_within(const struct tune_race *race, const struct tune_entrant *entrant)
{
    enum tune_demand demand;
    return tune_is_within(entrant, &race->terms, &demand);
}

static bool was_shown(const struct tune_race *race, const struct tune_entrant *entrant)
{
    (void)race;
    return entrant->holds;
}

/* Returns the cheapest setting of the template of `peer`, or of all if peer is NULL, of which this is so.
 * Returns NULL if there is none. */
static const struct tune_entrant *cheapest_that(bool is_so(const struct tune_race *,
                                                           const struct tune_entrant *),
                                                const struct tune_race *race, const struct tune_entrant *peer)
{
    const struct tune_entrant *best = NULL;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (competes(entrant) && entrant->seeds > 0 && (peer == NULL || is_peer(entrant, peer)) &&
            (best == NULL || tune_is_cheaper(entrant, best)) && is_so(race, entrant))
            best = entrant;
    }
    return best;
}

/* The same of those that may hold or, if there are none, of those that are within the limits so far. */
static const struct tune_entrant *cheapest(const struct tune_race *race, const struct tune_entrant *peer)
{
    const struct tune_entrant *best = cheapest_that(may_hold, race, peer);
    return best != NULL ? best : cheapest_that(is_within, race, peer);
}

const char *tune_race_best(const struct tune_race *race)
{
    const struct tune_entrant *best = cheapest(race, NULL);
    return best == NULL ? NULL : best->strategy.label;
}

/* Returns infinity if no setting is within the limits so far. */
static double best_cost(const struct tune_race *race, const struct tune_entrant *peer)
{
    const struct tune_entrant *best = cheapest(race, peer);
    return best == NULL ? (double)INFINITY : fmin((double)INFINITY, tune_mean_of(best, TUNE_COST));
}

/* Returns whether `other` may hold or, if the setting can never be shown to hold, whether `other` is within
 * the limits as far as it was run. */
static bool is_as_safe(const struct tune_race *race, const struct tune_entrant *other,
                       const struct tune_entrant *entrant)
{
    enum tune_demand demand;
    return may_hold(race, other) ||
           (competes(other) && other->seeds > 0 && tune_is_within(other, &race->terms, &demand) &&
            !may_be_shown(race, entrant));
}

/* Returns the mean cost over the seeds that `entrant` was run with, whose rows are the same, as far as
 * `other` was run with them; or over all seeds if `entrant` was not run. */
static double cost_beside(const struct tune_entrant *other, const struct tune_entrant *entrant)
{
    return tune_mean_over(other, TUNE_COST, entrant->seeds > 0 ? entrant->seeds : other->seeds);
}

/* Returns whether each bucket of `whole` is cut into buckets of `part`. Otherwise its smaller number of rows
 * costs more on average, but may cost less by chance. */
static bool cuts_each(const struct tune_entrant *whole, const struct tune_entrant *part)
{
    return !is_numbered(whole) ||
           whole->strategy.settings.strategy.of.count.rows % part->strategy.settings.strategy.of.count.rows ==
               0;
}

/* Returns whether `other` costs less and is at least as likely to be recommended, since the setting costs too
 * much to be recommended for its evenness, or cannot be more even. `first`: the cheapest setting within the
 * limits so far. */
static bool outdoes(const struct tune_race *race, const struct tune_entrant *other,
                    const struct tune_entrant *entrant, const struct tune_entrant *first)
{
    const double cost = cost_beside(other, entrant);
    const double least = first == NULL ? cost : fmin(cost, cost_beside(first, entrant));
    const double mine = entrant->seeds > 0 ? tune_mean_of(entrant, TUNE_COST) : least_cost(race, entrant);
    const bool has_reads = tune_mean_of(other, TUNE_COST) > tune_mean_of(other, TUNE_COST_WRITE);
    const bool is_sure = race->sharing == TUNE_SHARES_NOTHING || cuts_each(other, entrant);
    const double times = is_sure ? TUNE_AS_CHEAP : TUNE_COSTLY_TIMES;
    return (has_reads && mine > times * least) || has_full_parts(other, entrant);
}

/* Returns whether the setting divides the buckets of another one that may hold, so that it costs at least as
 * much, and is outdone by it. `first`: the cheapest setting within the limits so far. */
static bool is_outdone(const struct tune_race *race, const struct tune_entrant *entrant,
                       const struct tune_entrant *first)
{
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (other->seeds >= entrant->seeds && tune_is_divided_into(other, entrant) &&
            heir_of(race, other) != entrant && is_as_safe(race, other, entrant) &&
            outdoes(race, other, entrant, first))
            return true;
    }
    return false;
}

static bool is_waiting(const struct tune_entrant *entrant)
{
    return entrant->status == TUNE_HOLDS && !entrant->is_called;
}

/* Returns whether a template has settings within the limits, but none that was run can be shown to hold any
 * more, while one that waits may be. Then the template is tried further, since a setting that is shown to
 * hold is preferred to cheaper ones that are not. If no share is allowed, that takes thousands of partitions,
 * and a template that costs far more than the cheapest of all is not tried further. */
static bool is_unsure(const struct tune_race *race, const struct tune_entrant *peer)
{
    const double best = best_cost(race, peer);
    bool is_any = false;
    if (isinf(best) || (race->terms.share == 0 && tune_is_far(best, best_cost(race, NULL))))
        return false;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (!is_peer(entrant, peer))
            continue;
        if (may_hold(race, entrant))
            return false;
        is_any = is_any || (is_waiting(entrant) && !entrant->is_outdone && may_be_shown(race, entrant));
    }
    return is_any;
}

/* Returns the number of windows of a template, or of numbers of rows in thinned runs, that are called
 * together while none is within the limits: their bounds are unknown until one was run. Where windows share
 * rows, more and more are called at once. */
static unsigned at_once(const struct tune_race *race, const struct tune_entrant *peer)
{
    const unsigned first = race->sharing == TUNE_SHARES_KEYS   ? 1
                           : race->sharing == TUNE_SHARES_ROWS ? WINDOWS_SHARED
                                                               : WINDOWS_FIRST;
    const bool shares = race->sharing == TUNE_SHARES_ROWS || race->sharing == TUNE_SHARES_THREADS;
    if (race->sharing == TUNE_SHARES_NOTHING && !is_window(peer))
        return 2;
    unsigned called = 0;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        called += is_peer(entrant, peer) && is_window(entrant) && entrant->seeds > 0;
    }
    return shares ? first + called : first;
}

/* Returns the shortest window of a template that has been run or, with must_show, that need not be; 0 if
 * there is none. */
static int64_t shortest_window(const struct tune_race *race, const struct tune_entrant *peer, bool must_show)
{
    int64_t shortest_ns = 0;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        const int64_t window_ns = entrant->strategy.settings.strategy.of.time.window_ns;
        if (is_peer(entrant, peer) && is_window(entrant) &&
            (entrant->seeds > 0 || (must_show && !may_be_shown(race, entrant))) &&
            (shortest_ns == 0 || window_ns < shortest_ns))
            shortest_ns = window_ns;
    }
    return shortest_ns;
}

/* Whether a setting of `probabilistic` differs from another one only by its higher threshold, so that it
 * costs no more and is more even. */
static bool is_raised(const struct tune_entrant *high, const struct tune_entrant *low)
{
    const struct bk_strategy *one = &high->strategy.settings.strategy,
                             *other = &low->strategy.settings.strategy;
    return is_peer(high, low) && one->kind == BK_PROBABILISTIC && other->kind == BK_PROBABILISTIC &&
           one->max_age_ns == 0 && other->max_age_ns == 0 &&
           one->of.probabilistic.bits == other->of.probabilistic.bits &&
           one->of.probabilistic.chance_numerator == other->of.probabilistic.chance_numerator &&
           one->of.probabilistic.chance_denominator == other->of.probabilistic.chance_denominator &&
           one->of.probabilistic.threshold > other->of.probabilistic.threshold;
}

/* Whether a higher threshold may be within the limits. */
static bool has_higher(const struct tune_race *race, const struct tune_entrant *entrant)
{
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (is_raised(other, entrant) && other->status == TUNE_HOLDS &&
            (other->seeds == 0 || may_hold(race, other)))
            return true;
    }
    return false;
}

/* Returns whether a template of which no setting is within the limits yet may have one at less than half of
 * this cost. */
static bool may_be_cheaper(const struct tune_race *race, double cost)
{
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->status == TUNE_HOLDS && !entrant->is_endless && !entrant->is_outdone &&
            entrant->seeds == 0 && TUNE_COSTLY_TIMES * least_cost(race, entrant) < cost &&
            isinf(best_cost(race, entrant)))
            return true;
    }
    return false;
}

/* Whether a setting that costs little to run continues with the others of its template, whatever it costs:
 * no partition may exceed a limit, and one of the others failed, so more of them may. Then the rows need not
 * be drawn again for this one. Where rows cost little to draw, a failure after the first seed decides. */
static bool continues_too(const struct tune_race *race, const struct tune_entrant *entrant)
{
    const bool may_be = race->sharing == TUNE_SHARES_ROWS && race->terms.share == 0 && entrant->is_light;
    const uint32_t least = race->draws_sizes ? 1 : 2;
    bool is_any = false;
    for (size_t i = 0; may_be && !is_any && i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        is_any = other->status == TUNE_FAILS && other->seeds >= least && is_peer(other, entrant);
    }
    return is_any;
}

/* Whether a setting that was called with its first seed is above the costs of its template, which were not
 * known then. */
static bool was_called_early(const struct tune_race *race, const struct tune_entrant *entrant)
{
    return race->sharing == TUNE_SHARES_ROWS && entrant->seeds == 1 && !continues_too(race, entrant) &&
           entrant->cost_least > TUNE_COSTLY_TIMES * best_cost(race, entrant);
}

/* Calls the settings of a template again that were outdone by one that fails. Returns whether there are any.
 */
static bool resume(struct tune_race *race, const struct tune_entrant *peer)
{
    bool is_any = false;
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        enum tune_demand demand;
        if (is_peer(entrant, peer) && is_waiting(entrant) && !entrant->is_outdone && entrant->seeds > 0 &&
            !was_called_early(race, entrant) && tune_is_within(entrant, &race->terms, &demand))
            is_any = entrant->is_called = true;
    }
    return is_any;
}

/* Calls the settings of a template with the lowest bounds, once the previously called ones have been run. If
 * none is within the limits yet, or all may be cheaper, further waves follow. More bits make partitions more
 * even and are run for that reason; smaller windows have no such advantage, nor have lower thresholds, which
 * in thinned runs are left out if the template costs too much to be recommended. Where rows are shared, all
 * settings that cost little to run are in the first wave. Where each setting needs its own run, the
 * scenario's own settings of the template run first, and a template that costs too much to be recommended is
 * tried one by one, from the lowest bound up, until a setting is within the limits. Calls none if all bounds
 * are above `most`. */
static void call_next(struct tune_race *race, const struct tune_entrant *peer, double most)
{
    const bool is_alone = race->sharing == TUNE_SHARES_NOTHING;
    double best = best_cost(race, peer);
    if (is_alone && !isinf(best) && may_be_cheaper(race, best))
        return;
    const bool must_show = is_unsure(race, peer);
    if (must_show)
        best = (double)INFINITY;
    const bool is_costly = is_alone && !isinf(best) && best > TUNE_COSTLY_TIMES * best_cost(race, NULL);
    const double lower = is_costly ? cheapest(race, peer)->cost_least : best;
    double least = (double)INFINITY;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (!is_peer(entrant, peer))
            continue;
        if (entrant->seeds == 0 &&
            (competes(entrant) || (is_alone && is_waiting(entrant) && entrant->is_own)))
            return;
        if (is_waiting(entrant) && !entrant->is_outdone && (!must_show || may_be_shown(race, entrant)))
            least = fmin(least, least_cost(race, entrant));
    }
    if (least > most || resume(race, peer))
        return;
    const bool skips_lower =
        race->sharing == TUNE_SHARES_KEYS && least > TUNE_COSTLY_TIMES * best_cost(race, NULL);
    if (race->sharing == TUNE_SHARES_ROWS && isinf(best))
        least *= BOUNDS_SHARED;
    unsigned left = is_costly ? 1 : at_once(race, peer);
    const int64_t shortest_ns = shortest_window(race, peer, must_show) / WINDOWS_SPAN;
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (!is_peer(entrant, peer) || !is_waiting(entrant) || entrant->is_outdone ||
            (must_show && !may_be_shown(race, entrant)) ||
            (is_window(entrant) && entrant->strategy.settings.strategy.of.time.window_ns < shortest_ns))
            continue;
        const double cost = least_cost(race, entrant);
        const bool is_few =
            is_window(entrant) || is_alone || (race->sharing == TUNE_SHARES_KEYS && is_numbered(entrant));
        const bool is_cheap =
            cost <= TUNE_COSTLY_TIMES * least &&
            (is_costly ? cost < lower
                       : cost <= best * (is_window(entrant) ? TUNE_AS_CHEAP : TUNE_COSTLY_TIMES)) &&
            (!is_few || left > 0) && !(skips_lower && has_higher(race, entrant));
        const bool is_light = race->sharing == TUNE_SHARES_ROWS && entrant->is_light;
        entrant->is_called = is_light ? isinf(best) : is_cheap;
        if (entrant->is_called && is_few && left > 0)
            left--;
    }
}

/* Calls the settings whose partitions never end if their cost may be low beside that of a setting within the
 * limits. They are not compared with others. */
static void call_endless(struct tune_race *race)
{
    const double most = TUNE_COSTLY_TIMES * best_cost(race, NULL);
    for (size_t i = 0; !isinf(most) && i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (is_waiting(entrant) && entrant->is_endless)
            entrant->is_called = entrant->cost_least <= most;
    }
}

/* Whether this is the first setting of its template. */
static bool is_first(const struct tune_race *race, const struct tune_entrant *entrant)
{
    const struct tune_entrant *other = race->entrants;
    while (other < entrant && !is_peer(other, entrant))
        other++;
    return other == entrant;
}

/* Calls the next settings of the templates that may cost at most this much. Returns whether any setting is
 * still to run. */
static bool call_up_to(struct tune_race *race, double most)
{
    bool is_open = false;
    for (size_t i = 0; i < race->count; i++) {
        if (!race->entrants[i].is_endless && is_first(race, &race->entrants[i]))
            call_next(race, &race->entrants[i], most);
    }
    for (size_t i = 0; i < race->count; i++)
        is_open = is_open || (competes(&race->entrants[i]) && race->entrants[i].seeds == 0);
    return is_open;
}

void tune_race_call(struct tune_race *race, bool all)
{
    double least = (double)INFINITY;
    const struct tune_entrant *first = cheapest(race, NULL);
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        const bool was_called = entrant->is_called;
        const bool may_stop = !all && !entrant->is_own && !entrant->is_endless &&
                              entrant->status == TUNE_HOLDS && !continues_too(race, entrant) &&
                              (!entrant->is_settled || entrant->is_beaten_so_far);
        entrant->is_outdone = may_stop && is_outdone(race, entrant, first);
        entrant->is_called =
            entrant->is_called && !entrant->is_outdone && !(may_stop && was_called_early(race, entrant));
        if (was_called != entrant->is_called && entrant == first)
            first = cheapest(race, NULL);
        if (is_waiting(entrant) &&
            (all || (entrant->is_endless && (entrant->is_own || entrant->cost_least <= 0))))
            entrant->is_called = true;
        if (is_waiting(entrant) && !entrant->is_endless && !entrant->is_outdone)
            least = fmin(least, least_cost(race, entrant));
    }
    /* In thinned runs, where a setting costs the same in any round, the cheapest templates run first. */
    bool is_open = race->sharing == TUNE_SHARES_KEYS && call_up_to(race, TUNE_COSTLY_TIMES * least);
    is_open = is_open || call_up_to(race, (double)INFINITY);
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (is_waiting(entrant) && entrant->is_own) {
            entrant->is_called = true;
            is_open = is_open || competes(entrant);
        }
    }
    if (!is_open)
        call_endless(race);
}

/* Returns whether the figure of `one` is shown to be more than `times` that of `other`. */
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

static bool is_equal(const struct tune_entrant *one, const struct tune_entrant *other,
                     enum tune_figure figure)
{
    bool is_equal = true;
    for (uint32_t i = 0; i < one->seeds && i < other->seeds; i++)
        is_equal = is_equal && one->seen[i].figures[figure] >= other->seen[i].figures[figure] &&
                   one->seen[i].figures[figure] <= other->seen[i].figures[figure];
    return is_equal;
}

/* Returns whether a setting is as even on all seeds as another one of its template that may hold, that costs
 * as much to within 1%, also beside the cheapest of all, and that has smaller partitions: it would be
 * recommended instead. */
static bool is_coarser(const struct tune_race *race, const struct tune_entrant *entrant, double chance)
{
    const struct tune_entrant *first = cheapest(race, NULL);
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (other != entrant && competes(other) && other->seeds >= entrant->seeds &&
            is_peer(other, entrant) && may_hold(race, other) &&
            cost_beside(other, entrant) <= TUNE_AS_CHEAP * cost_beside(first, entrant) &&
            cost_beside(other, entrant) <= TUNE_AS_CHEAP * tune_mean_of(entrant, TUNE_COST) &&
            is_equal(entrant, other, TUNE_CV) && has_more(entrant, other, TUNE_P99_BYTES, 1, chance))
            return true;
    }
    return false;
}

/* Returns whether a setting cannot be recommended while `best`, of its template, may hold. `first` is the
 * cheapest of all that was shown to hold. A setting that costs at most 1% more than `best` may still be
 * recommended for its evenness, unless it is less even, or `best` itself costs more than `first`. */
static bool is_beaten(const struct tune_entrant *entrant, const struct tune_entrant *best,
                      const struct tune_entrant *first, double chance)
{
    return has_more(entrant, best, TUNE_COST, TUNE_AS_CHEAP, chance) ||
           (has_more(entrant, best, TUNE_COST, 1, chance) &&
            (has_more(entrant, best, TUNE_CV, 1, chance) ||
             (first != NULL && best != first && has_more(best, first, TUNE_COST, TUNE_AS_CHEAP, chance))));
}

/* Returns whether any setting that is not settled may still be cheaper than `best`, the cheapest of its
 * template, or than `first`, the cheapest of all. */
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

/* Returns whether `other`, of the same template, costs less and was shown to hold. Where settings share no
 * rows, it is enough that it is as safe: if it fails, those that waited draw no rows a second time. */
static bool is_safe_saving(const struct tune_race *race, const struct tune_entrant *other,
                           const struct tune_entrant *entrant)
{
    return competes(other) && other->seeds > 0 && is_peer(other, entrant) &&
           tune_is_cheaper_beside(other, entrant) &&
           (tune_draws_alone(race->sharing) ? is_as_safe(race, other, entrant) : other->holds);
}

static bool is_beaten_by_any(const struct tune_race *race, const struct tune_entrant *entrant,
                             const struct tune_entrant *first, double chance)
{
    bool is_any = false;
    for (size_t i = 0; !is_any && i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        is_any = is_safe_saving(race, other, entrant) && is_beaten(entrant, other, first, chance);
    }
    return is_any;
}

/* Returns whether another setting of the kind that requires no more is as safe and costs less, on the seeds
 * of both, but more than `times` as much as the cheapest of all. */
static bool has_better_of_kind(const struct tune_race *race, const struct tune_entrant *entrant, double times)
{
    const struct tune_entrant *first = cheapest(race, NULL);
    for (size_t i = 0; first != NULL && i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (competes(other) && other->seeds >= entrant->seeds && is_kind(other, entrant) &&
            tune_may_replace(other, entrant) &&
            cost_beside(other, entrant) > times * cost_beside(first, entrant) &&
            tune_mean_of(entrant, TUNE_COST) > cost_beside(other, entrant) &&
            is_as_safe(race, other, entrant))
            return true;
    }
    return false;
}

/* Returns whether a setting costs far more than the cheapest of all, and its first seeds are enough: it
 * cannot be shown to hold, or is not the best of its kind, or no share is allowed. */
static bool is_far(const struct tune_race *race, const struct tune_entrant *entrant)
{
    const struct tune_entrant *first = cheapest(race, NULL);
    return first != NULL && entrant->seeds >= TUNE_SEEDS_FIRST &&
           tune_is_far(tune_mean_of(entrant, TUNE_COST), cost_beside(first, entrant)) &&
           (race->terms.share == 0 || !may_be_shown(race, entrant) || has_better_of_kind(race, entrant, 0));
}

/* Returns whether the costs on the seeds so far are enough where each setting needs its own run: another one
 * of the template is as safe and costs clearly less, or the cheapest of all costs far less. */
static bool is_clearly_beaten(const struct tune_race *race, const struct tune_entrant *entrant)
{
    const double times = entrant->seeds >= TUNE_SEEDS_FIRST ? TUNE_AS_CHEAP : CLEARLY_MORE;
    bool is_any = is_far(race, entrant);
    for (size_t i = 0; !is_any && i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        is_any = is_safe_saving(race, other, entrant) && other->seeds >= entrant->seeds &&
                 tune_mean_of(entrant, TUNE_COST) > times * cost_beside(other, entrant);
    }
    return is_any;
}

void tune_race_settle(struct tune_race *race, double fail_chance, double cost_chance, bool is_even)
{
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        enum tune_demand demand;
        entrant->holds = competes(entrant) && entrant->seeds > 0 &&
                         tune_judge(entrant, &race->terms, fail_chance, &demand) == TUNE_VERDICT_HOLDS;
    }
    const struct tune_entrant *first = cheapest_that(was_shown, race, NULL);
    for (size_t i = 0; i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        if (!competes(entrant))
            continue;
        const bool was_beaten = entrant->is_beaten_so_far;
        /* What a test has shown need not be shown again, while the means say the same. */
        const double chance = entrant->is_beaten ? 0.5 : cost_chance;
        entrant->is_beaten_so_far =
            entrant->seeds > 0 && tune_draws_alone(race->sharing) &&
            (has_better_of_kind(race, entrant, TUNE_COSTLY_TIMES) ||
             (race->sharing == TUNE_SHARES_NOTHING && is_clearly_beaten(race, entrant)));
        if (is_even)
            entrant->is_beaten =
                !continues_too(race, entrant) && is_beaten_by_any(race, entrant, first, chance);
        entrant->is_settled = entrant->is_beaten_so_far ||
                              (is_even ? entrant->is_beaten || (race->sharing == TUNE_SHARES_NOTHING &&
                                                                is_coarser(race, entrant, cost_chance))
                                       : entrant->is_settled && !was_beaten);
    }
    for (size_t i = 0; is_even && i < race->count; i++) {
        struct tune_entrant *entrant = &race->entrants[i];
        /* One partition above a limit on a later seed would show that the best one fails as well. */
        const bool needs_all =
            race->terms.share == 0 &&
            (entrant == first || (race->sharing != TUNE_SHARES_NOTHING && !is_far(race, entrant)));
        if (competes(entrant) && !needs_all && cheapest_that(was_shown, race, entrant) == entrant &&
            (entrant == first || has_more(entrant, first, TUNE_COST, TUNE_AS_CHEAP, cost_chance)) &&
            !has_rivals(race, entrant, first, cost_chance))
            entrant->is_settled = true;
    }
}
