/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says how long settings stay within the limits, and whether buckets are needed at all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/contest_answer.h"
#include "cli/text.h"
#include "reports/reports.h"

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
    return tune_horizon_of(contest, unbucketed).days - tune_contest_days(contest);
}

bool cli_contest_needs_buckets(const struct tune_contest *contest)
{
    return !(cli_contest_unbucketed_days(contest) >= REPORT_ENOUGH_DAYS);
}

static void say_unbucketed(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    const struct tune_entrant *unbucketed = cli_contest_unbucketed(contest);
    if (cli_contest_needs_buckets(contest))
        return;
    const struct report_horizon horizon = {.days_left = cli_contest_unbucketed_days(contest),
                                           .doubles_days = tune_growth_doubles(&contest->growth),
                                           .is_trace = contest->scenario->trace_path != NULL,
                                           .limit_rows = limits->partition_rows,
                                           .limit_bytes = limits->partition_bytes,
                                           .rows_most = (double)unbucketed->seen[0].rows_most,
                                           .bytes_most = (double)unbucketed->seen[0].bytes_most};
    char *text = report_no_buckets_told(&horizon);
    if (text != NULL)
        cli_say(out, "%s", text);
    free(text);
}

static void say_others(const struct tune_contest *contest, struct cli_saying *out)
{
    size_t told = 0;
    for (size_t i = 1; i < contest->margin_count; i++) {
        const struct tune_entrant *entrant = &contest->race.entrants[contest->margins[i].entrant];
        const struct tune_horizon horizon = tune_horizon_of(contest, entrant);
        char when[CLI_SPAN_SIZE];
        if (isnan(horizon.days) || entrant->is_endless)
            continue;
        if (told++ == 0)
            cli_say(out, "%sFirst partition over a limit, for other kinds: ", out->used == 0 ? "" : " ");
        cli_span(horizon.days, when);
        cli_say(out, "%s%s %s%s", told == 1 ? "" : ", ", entrant->strategy.label,
                isinf(horizon.days) ? "never"
                : horizon.is_least  ? "not before "
                                    : "after ",
                isinf(horizon.days) ? "" : when);
    }
    if (told > 0)
        cli_say(out, ".");
}

static void say_best(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_entrant *best = &contest->race.entrants[contest->race.recommended];
    struct tune_horizon horizon = tune_horizon_of(contest, best);
    char when[CLI_SPAN_SIZE], lasts[CLI_SPAN_SIZE], partitions[CLI_NUMBER_SIZE], over[CLI_NUMBER_SIZE];
    if (isnan(horizon.days))
        return;
    const char *join = out->used == 0 ? "" : " ";
    if (isinf(horizon.days)) {
        cli_say(out, "%sNo partition of %s ever exceeds a limit.", join, best->strategy.label);
        return;
    }
    cli_span(horizon.days, when);
    cli_span(tune_contest_days(contest), lasts);
    cli_compact(horizon.partitions, 4, partitions);
    double many = horizon.is_least ? horizon.over_most : horizon.over;
    if (many < 1)
        snprintf(over, sizeof over, "%.2g", many);
    else
        cli_compact(many, 4, over);
    if (horizon.is_least)
        cli_say(out,
                "%s%s makes %s partitions in %s; with %g %% confidence at most %s of them are expected to "
                "exceed a limit, the first not before %s.",
                join, best->strategy.label, partitions, lasts, 100 * contest->race.terms.confidence, over,
                when);
    else
        cli_say(
            out,
            "%s%s makes %s partitions in %s; %s of them are expected to exceed a limit, the first after %s.",
            join, best->strategy.label, partitions, lasts, over, when);
}

void cli_contest_horizon(const struct tune_contest *contest, struct cli_saying *out)
{
    say_unbucketed(contest, out);
    say_best(contest, out);
    say_others(contest, out);
}
