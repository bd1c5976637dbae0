/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says at which price, and at which rate of reads, another kind of strategy would be the cheapest. */
#include <math.h>
#include <stdio.h>

#include "cli/contest_answer.h"
#include "cli/text.h"

static const char *own_kind(const struct tune_race *race)
{
    return bk_kind_name(race->entrants[race->recommended].strategy.settings.strategy.kind);
}

static void say_side(const struct tune_contest *contest, enum tune_axis axis, bool is_up, bool *is_first,
                     struct cli_saying *out)
{
    const struct tune_race *race = &contest->race;
    struct tune_flip flip = tune_flip_of(contest, axis, is_up);
    if (flip.entrant == SIZE_MAX)
        return;
    const char *label = race->entrants[flip.entrant].strategy.label, *than = is_up ? "less" : "more",
               *many = is_up ? "fewer" : "more";
    if (*is_first)
        cli_say(out, "%s stays the cheapest kind while ", own_kind(race));
    else
        cli_say(out, ", and while ");
    char at[CLI_NUMBER_SIZE];
    if (flip.at < 1000)
        snprintf(at, sizeof at, "%.3g", flip.at);
    else
        cli_compact(flip.at, 5, at);
    if (axis == TUNE_AXIS_COUNTER)
        cli_say(out, "a counter update costs %s than %s inserts (otherwise %s)", than, at, label);
    else
        cli_say(out, "there are %s than %s times as many reads (otherwise %s)", many, at, label);
    *is_first = false;
}

void cli_contest_flip(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_race *race = &contest->race;
    bool is_first = true;
    for (int axis = 0; axis < TUNE_AXIS_COUNT; axis++) {
        if (axis == TUNE_AXIS_READS && !contest->scenario->reads.present)
            continue;
        say_side(contest, (enum tune_axis)axis, false, &is_first, out);
        say_side(contest, (enum tune_axis)axis, true, &is_first, out);
    }
    if (!is_first)
        cli_say(out, ".");
    else if (contest->margin_count > 1)
        cli_say(out, "No price of a counter update makes another kind cheaper than %s%s.", own_kind(race),
                contest->scenario->reads.present ? ", and no rate of reads" : "");
}
