/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When the first partition exceeds a limit, as the stream goes on at its rate. */
#include <math.h>

#include "kernel/time.h"
#include "tune/contest.h"

/* Partitions that are never left grow with their key: the largest one reaches a limit first. */
static double of_endless(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    const struct tune_seen *seen = &entrant->seen[0];
    double days = (double)contest->rows.lasts_ns / (double)SIM_DAY, least = (double)INFINITY;
    if (limits->partition_rows != 0 && seen->rows_most > 0)
        least = fmin(least, days * (double)limits->partition_rows / (double)seen->rows_most);
    if (limits->partition_bytes != 0 && seen->bytes_most > 0)
        least = fmin(least, days * (double)limits->partition_bytes / (double)seen->bytes_most);
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
    if (entrant->status == TUNE_REFUSED || entrant->seeds == 0)
        return horizon;
    horizon.partitions = partitions_of(entrant);
    if (entrant->is_endless) {
        horizon.days = of_endless(contest, entrant);
        return horizon;
    }
    double seen = tune_mean_of(entrant, TUNE_OVER), share = seen;
    double days = (double)contest->rows.lasts_ns / (double)SIM_DAY;
    if (entrant->is_fixed && seen == 0) /* nothing but the trace itself tells what comes after it */
        return horizon;
    if (!(seen > 0)) {
        horizon.is_least = true;
        share = entrant->over.high;
    }
    horizon.over = seen > 0 ? seen * horizon.partitions : 0;
    horizon.over_most = entrant->over.high * horizon.partitions;
    horizon.days = share > 0 ? days / (share * horizon.partitions) : (double)INFINITY;
    return horizon;
}
