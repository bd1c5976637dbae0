/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the first partition exceeds a limit, as the stream goes on at its rate, or grows as it did. */
#include <math.h>

#include "kernel/time.h"
#include "tune/contest.h"

/* How many times the largest partition a limit is; infinity without any. */
static double room_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    double least = (double)INFINITY;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        const struct tune_seen *seen = &entrant->seen[i];
        if (limits->partition_rows != 0 && seen->rows_most > 0)
            least = fmin(least, (double)limits->partition_rows / (double)seen->rows_most);
        if (limits->partition_bytes != 0 && seen->bytes_most > 0)
            least = fmin(least, (double)limits->partition_bytes / (double)seen->bytes_most);
        if (entrant->is_endless) /* the first seed's */
            break;
    }
    return least;
}

static double partitions_of(const struct tune_entrant *entrant)
{
    double sum = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        sum += (double)entrant->seen[i].partitions;
    return sum / (double)entrant->seeds;
}

struct tune_horizon tune_horizon_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    struct tune_horizon horizon = {.days = (double)NAN};
    if (entrant->seeds == 0)
        return horizon;
    horizon.partitions = partitions_of(entrant);
    const struct tune_growth *growth = &contest->growth;
    double days = (double)contest->rows.lasts_ns / (double)SIM_DAY;
    if (entrant->is_endless) {
        /* Partitions that are never left grow with their key: the largest one reaches a limit first. */
        horizon.days = tune_growth_rows_at(growth, days, room_of(contest, entrant));
        return horizon;
    }
    double seen = tune_mean_of(entrant, TUNE_OVER), share = seen;
    if (entrant->is_fixed && seen == 0) {
        /* Nothing but the trace itself tells what comes after it. */
        bool is_never = entrant->has_distribution && entrant->exact_share == 0;
        bool is_window = entrant->strategy.settings.strategy.kind == BK_TIME;
        if (is_never)
            horizon.days = (double)INFINITY;
        else if (is_window && growth->per_day > 0)
            horizon.days = fmax(days, tune_growth_rate_at(growth, days, room_of(contest, entrant)));
        return horizon;
    }
    if (!(seen > 0)) {
        horizon.is_least = true;
        share = entrant->over.high;
    }
    horizon.over = seen > 0 ? seen * horizon.partitions : 0;
    horizon.over_most = entrant->over.high * horizon.partitions;
    horizon.days =
        share > 0 ? tune_growth_rows_at(growth, days, 1 / (share * horizon.partitions)) : (double)INFINITY;
    return horizon;
}
