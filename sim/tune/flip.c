/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Determines what would make another kind of strategy the cheapest. Costs are linear in the price of a
 * counter increment and in the rate of reads, so the point at which two costs are equal is exact. */
#include <math.h>
#include <stdlib.h>

#include "tune/contest.h"

struct line {
    double base, slope; /* a cost as a linear function of a price or of a factor of the rate */
};

/* Returns the mean of a figure. A setting that needed fewer seeds than the recommended one has the mean of
 * that one plus the difference on the seeds of both, whose rows are the same. */
static double mean_of(const struct tune_contest *contest, const struct tune_entrant *entrant,
                      enum tune_figure figure)
{
    const struct tune_entrant *best = &contest->race.entrants[contest->race.recommended];
    double mean = tune_mean_of(entrant, figure);
    if (entrant->seeds < best->seeds)
        mean += tune_mean_of(best, figure) - tune_mean_over(best, figure, entrant->seeds);
    return mean;
}

static struct line line_of(const struct tune_contest *contest, const struct tune_entrant *entrant,
                           enum tune_axis axis)
{
    double all = mean_of(contest, entrant, TUNE_COST);
    if (axis == TUNE_AXIS_READS) {
        double write = mean_of(contest, entrant, TUNE_COST_WRITE);
        return (struct line){write, all - write};
    }
    double increments = mean_of(contest, entrant, TUNE_INCREMENTS);
    return (struct line){all - increments * contest->scenario->prices.counter_increment, increments};
}

double tune_axis_now(const struct tune_contest *contest, enum tune_axis axis)
{
    return axis == TUNE_AXIS_READS ? 1 : contest->scenario->prices.counter_increment;
}

static bool competes(const struct tune_race *race, size_t index)
{
    const struct tune_entrant *entrant = &race->entrants[index];
    return (index == race->recommended || tune_is_rival(race, entrant)) && !entrant->is_endless;
}

static bool is_other_kind(const struct tune_contest *contest, size_t index)
{
    const struct tune_race *race = &contest->race;
    return race->entrants[index].strategy.settings.strategy.kind !=
           race->entrants[race->recommended].strategy.settings.strategy.kind;
}

/* Returns the least cost of the recommended setting's kind at `at`. */
static double own_cost(const struct tune_contest *contest, enum tune_axis axis, double at)
{
    const struct tune_race *race = &contest->race;
    double least = (double)INFINITY;
    for (size_t i = 0; i < race->count; i++) {
        if (!competes(race, i) || is_other_kind(contest, i))
            continue;
        struct line line = line_of(contest, &race->entrants[i], axis);
        least = fmin(least, line.base + line.slope * at);
    }
    return least;
}

/* Whether the slopes differ by more than the differences from seed to seed, which remain where one setting
 * has fewer seeds. */
static bool is_steeper(struct line one, struct line other)
{
    return one.slope - other.slope > 1e-4 * fabs(one.slope);
}

/* Returns where the line `mine`, of the recommended kind, crosses the line `its` in the given direction; NaN
 * if it does not. Other settings of the recommended kind may still be cheaper there. */
static double crossing(struct line mine, struct line its, double now, bool is_up)
{
    double at = (its.base - mine.base) / (mine.slope - its.slope);
    bool is_there = isfinite(at) &&
                    (is_up ? at > now && is_steeper(mine, its) : at < now && at > 0 && is_steeper(its, mine));
    return is_there ? at : (double)NAN;
}

struct tune_flip tune_flip_of(const struct tune_contest *contest, enum tune_axis axis, bool is_up)
{
    const struct tune_race *race = &contest->race;
    struct tune_flip flip = {.at = (double)NAN, .entrant = SIZE_MAX};
    double now = tune_axis_now(contest, axis);
    for (size_t i = 0; i < race->count; i++) {
        for (size_t j = 0; competes(race, i) && is_other_kind(contest, i) && j < race->count; j++) {
            if (!competes(race, j) || is_other_kind(contest, j))
                continue;
            struct line mine = line_of(contest, &race->entrants[j], axis);
            double at = crossing(mine, line_of(contest, &race->entrants[i], axis), now, is_up);
            bool is_nearer = !isnan(at) && (isnan(flip.at) || (is_up ? at < flip.at : at > flip.at));
            if (is_nearer && own_cost(contest, axis, at) >= (mine.base + mine.slope * at) * (1 - 1e-12))
                flip = (struct tune_flip){at, i};
        }
    }
    return flip;
}

struct tune_plane *tune_planes(const struct tune_contest *contest, size_t *count)
{
    const struct tune_race *race = &contest->race;
    struct tune_plane *planes = calloc(race->count, sizeof *planes);
    *count = 0;
    for (size_t i = 0; planes != NULL && i < race->count; i++) {
        if (!competes(race, i))
            continue;
        const struct tune_entrant *entrant = &race->entrants[i];
        const struct line line = line_of(contest, entrant, TUNE_AXIS_COUNTER);
        const double reads = line_of(contest, entrant, TUNE_AXIS_READS).slope;
        planes[(*count)++] = (struct tune_plane){i, line.base - reads, line.slope, reads};
    }
    return planes;
}

size_t tune_cheapest_at(const struct tune_plane *planes, size_t count, double price, double reads)
{
    size_t best = SIZE_MAX;
    double least = (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double cost = planes[i].base + planes[i].increments * price + planes[i].reads * reads;
        if (cost < least) {
            least = cost;
            best = planes[i].entrant;
        }
    }
    return best;
}
