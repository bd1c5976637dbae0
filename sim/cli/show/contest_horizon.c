/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says how long settings stay within the limits, and whether buckets are needed at all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/contest_answer.h"
#include "cli/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"

#define DAYS_OF_YEAR 365.0
#define SPAN_SIZE    (CLI_NUMBER_SIZE + 16)

/* "9.2 years", "3.1 days", "40 minutes" */
static void span(double days, char *buffer)
{
    char number[CLI_NUMBER_SIZE];
    double hours = 24 * days;
    const char *unit = days >= 2 * DAYS_OF_YEAR ? "year"
                       : hours >= 48            ? "day"
                       : hours >= 1             ? "hour"
                                                : "minute";
    double value = days >= 2 * DAYS_OF_YEAR ? days / DAYS_OF_YEAR
                   : hours >= 48            ? days
                   : hours >= 1             ? hours
                                            : 60 * hours;
    cli_compact(value, 3, number);
    snprintf(buffer, SPAN_SIZE, "%s %s%s", number, unit, strcmp(number, "1") == 0 ? "" : "s");
}

const struct tune_entrant *cli_contest_unbucketed(const struct tune_contest *contest)
{
    for (size_t i = 0; i < contest->race.count; i++) {
        const struct tune_entrant *entrant = &contest->race.entrants[i];
        if (entrant->strategy.settings.strategy.kind == BK_UNBUCKETED && entrant->is_endless)
            return entrant;
    }
    return NULL;
}

double cli_contest_unbucketed_days(const struct tune_contest *contest)
{
    const struct tune_entrant *unbucketed = cli_contest_unbucketed(contest);
    if (unbucketed == NULL || unbucketed->status > TUNE_UNSURE)
        return (double)NAN;
    return tune_horizon_of(contest, unbucketed).days - (double)contest->rows.lasts_ns / (double)SIM_DAY;
}

bool cli_contest_needs_buckets(const struct tune_contest *contest)
{
    return !(cli_contest_unbucketed_days(contest) >= DAYS_OF_YEAR);
}

static void say_unbucketed(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    char left[SPAN_SIZE], size[CLI_NUMBER_SIZE];
    const struct tune_entrant *unbucketed = cli_contest_unbucketed(contest);
    if (cli_contest_needs_buckets(contest))
        return;
    const struct tune_seen *seen = &unbucketed->seen[0];
    double rows = limits->partition_rows == 0 ? 0 : (double)seen->rows_most / (double)limits->partition_rows;
    double bytes =
        limits->partition_bytes == 0 ? 0 : (double)seen->bytes_most / (double)limits->partition_bytes;
    double days = cli_contest_unbucketed_days(contest);
    bool is_bytes = bytes >= rows;
    span(days, left);
    if (is_bytes)
        lab_quantity_bytes_text(limits->partition_bytes / 2, size, sizeof size);
    else
        cli_grouped(limits->partition_rows / 2, size);
    cli_say(
        out,
        "You need no buckets yet: unbucketed is within the limits for %s more at this %s. Come back when the "
        "largest partition has %s%s, half the limit%s.",
        isinf(days) ? "ever" : left, contest->scenario->trace_path != NULL ? "trace's mean rate" : "rate",
        size, is_bytes ? "" : " rows", rows <= 0.5 && bytes <= 0.5 ? "" : ", which is now");
}

void cli_contest_horizon(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_entrant *best = &contest->race.entrants[contest->race.recommended];
    struct tune_horizon horizon = tune_horizon_of(contest, best);
    char when[SPAN_SIZE], lasts[SPAN_SIZE], partitions[CLI_NUMBER_SIZE], over[CLI_NUMBER_SIZE];
    say_unbucketed(contest, out);
    if (isnan(horizon.days))
        return;
    const char *join = out->used == 0 ? "" : " ";
    if (isinf(horizon.days)) {
        cli_say(out, "%sNo partition of %s ever exceeds a limit.", join, best->strategy.label);
        return;
    }
    span(horizon.days, when);
    span((double)contest->rows.lasts_ns / (double)SIM_DAY, lasts);
    cli_compact(horizon.partitions, 4, partitions);
    double many = horizon.is_least ? horizon.over_most : horizon.over;
    if (many < 1)
        snprintf(over, sizeof over, "%.2g", many);
    else
        cli_compact(many, 4, over);
    if (horizon.is_least)
        cli_say(
            out,
            "%sOf the %s partitions that %s makes in %s at most %s are expected above a limit, with %g %% "
            "confidence: the first not before %s.",
            join, partitions, best->strategy.label, lasts, over, 100 * contest->race.terms.confidence, when);
    else
        cli_say(
            out,
            "%sOf the %s partitions that %s makes in %s %s are expected above a limit, the first after %s.",
            join, partitions, best->strategy.label, lasts, over, when);
}
