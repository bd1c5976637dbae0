/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says in sentences why tune recommends a strategy, and what the others lack. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/contest_answer.h"
#include "cli/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"
#include "workload/rows.h"

/* The greatest number of settings with endless partitions that the notes mention. */
#define ENDLESS_TOLD 3
/* The largest value of `risk`. */
#define RISK_MOST 0.5
/* The number of operations per 1000 rows if each row costs one. */
#define EVERY_ROW_OPS 1000

void cli_say(struct cli_saying *saying, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof saying->buffer - saying->used;
    int size = vsnprintf(saying->buffer + saying->used, room, format, arguments);
    va_end(arguments);
    if (size > 0)
        saying->used += (size_t)size < room ? (size_t)size : room - 1;
}

static void say_over(const struct tune_contest *contest, const struct tune_entrant *entrant,
                     struct cli_saying *out)
{
    char seen[CLI_NUMBER_SIZE], most[CLI_NUMBER_SIZE], may[CLI_NUMBER_SIZE] = "none";
    double share = tune_mean_of(entrant, TUNE_OVER);
    cli_percent(share, seen);
    cli_percent(entrant->over.high, most);
    if (contest->race.terms.share > 0) {
        cli_percent(contest->race.terms.share, may);
        strcat(may, " %");
    }
    if (entrant->is_fixed) {
        cli_say(out, " In this trace %s %% of its partitions exceed a limit (%s allowed).", seen, may);
        return;
    }
    if (share == 0)
        cli_say(out, " In %" PRIu32 " seed%s none of its partitions exceeded a limit", entrant->seeds,
                entrant->seeds == 1 ? "" : "s");
    else
        cli_say(out, " In %" PRIu32 " seed%s %s %% of its partitions exceeded a limit", entrant->seeds,
                entrant->seeds == 1 ? "" : "s", seen);
    if (entrant->has_distribution && entrant->exact_share == 0)
        cli_say(out, ", and none can");
    else if (entrant->has_distribution && entrant->over.high == entrant->exact_share)
        cli_say(out, "; by the exact distribution %s %% of the partitions that fill up do", most);
    else
        cli_say(out, "; with %g %% confidence at most %s %% do", 100 * contest->race.terms.confidence, most);
    cli_say(out, " (%s allowed).", may);
}

static bool is_cheapest(const struct tune_contest *contest)
{
    const struct tune_race *race = &contest->race;
    double cost = tune_mean_of(&race->entrants[race->recommended], TUNE_COST);
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (tune_is_rival(race, entrant) && !entrant->is_endless && tune_mean_of(entrant, TUNE_COST) < cost)
            return false;
    }
    return true;
}

/* Names the limit that more partitions exceed. */
static void say_limit(const struct tune_contest *contest, const struct tune_seen *seen,
                      struct cli_saying *out)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    char limit[CLI_NUMBER_SIZE];
    if (limits->partition_bytes != 0 &&
        (limits->partition_rows == 0 || seen->over_bytes >= seen->over_rows)) {
        lab_quantity_bytes_text(limits->partition_bytes, limit, sizeof limit);
        cli_say(out, "%s", limit);
    } else {
        cli_grouped(limits->partition_rows, limit);
        cli_say(out, "%s rows", limit);
    }
}

/* Returns the mean figures of the seeds that have figures, the sums of partitions above each limit, and the
 * largest sizes at risk. The rest is that of the first seed. */
static struct tune_seen see_all(const struct tune_entrant *entrant)
{
    struct tune_seen seen = entrant->seen[0];
    for (uint32_t i = 1; i < entrant->seeds; i++) {
        const struct tune_seen *more = &entrant->seen[i];
        seen.over_rows += more->over_rows;
        seen.over_bytes += more->over_bytes;
        seen.rows_at_risk = more->rows_at_risk > seen.rows_at_risk ? more->rows_at_risk : seen.rows_at_risk;
        seen.bytes_at_risk =
            more->bytes_at_risk > seen.bytes_at_risk ? more->bytes_at_risk : seen.bytes_at_risk;
    }
    for (int i = 0; i < TUNE_FIGURE_COUNT; i++)
        seen.figures[i] = tune_mean_of(entrant, (enum tune_figure)i);
    seen.refused = tune_refused_of(entrant);
    return seen;
}

static void say_failure(const struct tune_contest *contest, const struct tune_seen *seen,
                        enum tune_demand failed, struct cli_saying *out)
{
    char share[CLI_NUMBER_SIZE], partitions[CLI_NUMBER_SIZE];
    switch (failed) {
    case TUNE_IN_LIMITS:
        cli_percent(seen->figures[TUNE_OVER], share);
        if (tune_is_cut(seen) || seen->figures[TUNE_OVER] == 0) /* a seed that stopped at it has no figures */
            cli_say(out, "a partition exceeds ");
        else
            cli_say(out, "%s %% of partitions exceed ", share);
        say_limit(contest, seen, out);
        return;
    case TUNE_NOT_TINY:
        cli_percent(seen->figures[TUNE_TINY], share);
        cli_say(out, "%s %% of closed partitions are tiny", share);
        return;
    case TUNE_FEW_PER_READ:
        cli_compact(seen->figures[TUNE_PER_READ_P99], 4, partitions);
        cli_say(out, "1 %% of reads query %s partitions or more", partitions);
        return;
    case TUNE_FINDABLE:
        cli_say(out, "readers miss rows");
        return;
    case TUNE_AVAILABLE:
        cli_percent(seen->refused, share);
        cli_say(out, "%s %% of the rows are refused although nothing has failed", share);
        return;
    case TUNE_DEMAND_COUNT:
        break;
    }
}

static void figure(double value, char *buffer)
{
    if (value > 0 && value < 0.995)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.2g", value);
    else
        cli_compact(value, 5, buffer);
}

/* Says what a setting requires, in a few words after its cost. */
static void say_needs(const struct tune_entrant *entrant, struct cli_saying *out)
{
    const char *join = "; needs ";
    for (int i = 0; i < LAB_REQUIREMENT_COUNT; i++) {
        if ((entrant->requirements >> i & 1) != 0) {
            cli_say(out, "%s%s", join, lab_requirement_text((enum lab_requirement)i));
            join = " and ";
        }
    }
}

/* Mentions the next cheaper setting that failed, and the cheapest setting of another kind within the
 * limits. */
static void say_rivals(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_race *race = &contest->race;
    const struct tune_entrant *best = &race->entrants[race->recommended], *missed = NULL;
    char cost[CLI_NUMBER_SIZE];
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->status == TUNE_FAILS && !entrant->is_endless &&
            tune_mean_of(entrant, TUNE_COST) * TUNE_AS_CHEAP < tune_mean_of(best, TUNE_COST) &&
            (missed == NULL || tune_is_cheaper(missed, entrant)))
            missed = entrant;
    }
    if (missed != NULL) {
        const struct tune_seen seen = see_all(missed);
        figure(tune_mean_of(missed, TUNE_COST), cost);
        cli_say(out, " The next cheaper one, %s (%s), fails: ", missed->strategy.label, cost);
        say_failure(contest, &seen, missed->failed, out);
        cli_say(out, ".");
    }
    if (contest->margin_count > 1) {
        const char *join = " The cheapest of each other kind within the limits: ";
        for (size_t i = 1; i < contest->margin_count; i++) {
            const struct tune_entrant *entrant = &race->entrants[contest->margins[i].entrant];
            if (entrant->is_endless)
                continue;
            figure(tune_mean_of(entrant, TUNE_COST), cost);
            cli_say(out, "%s%s (%s", join, entrant->strategy.label, cost);
            say_needs(entrant, out);
            cli_say(out, ")");
            join = ", ";
        }
        if (join[1] == ' ')
            cli_say(out, ".");
    }
}

/* The cheapest setting that needs a number in each row, or that does not; NULL: none. It is within the limits
 * or, with is_unsure, may be. */
static const struct tune_entrant *cheapest(const struct tune_contest *contest, uint32_t has_sequence,
                                           bool is_unsure)
{
    const struct tune_race *race = &contest->race;
    const struct tune_entrant *best = NULL;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if ((is_unsure ? entrant->status == TUNE_UNSURE : tune_is_rival(race, entrant)) &&
            !entrant->is_endless && (entrant->requirements >> LAB_REQUIRES_SEQUENCE & 1) == has_sequence &&
            (best == NULL || tune_is_cheaper(entrant, best)))
            best = entrant;
    }
    return best;
}

/* Whether a count of rows by an external number was tried, or readers missed rows of another count of rows.
 */
static bool is_count_known(const struct tune_contest *contest)
{
    for (size_t i = 0; i < contest->race.count; i++) {
        const struct tune_entrant *entrant = &contest->race.entrants[i];
        const struct lab_settings *settings = &entrant->strategy.settings;
        if (settings->strategy.kind == BK_COUNT &&
            (settings->source == BK_SOURCE_EXTERNAL ||
             (entrant->status == TUNE_FAILS && entrant->failed == TUNE_FINDABLE)))
            return true;
    }
    return false;
}

/* Returns the largest number of rows that stays within the limits; NULL if there is none. */
static const struct tune_entrant *most_rows(const struct tune_contest *contest)
{
    const struct tune_entrant *most = NULL;
    for (size_t i = 0; i < contest->race.count; i++) {
        const struct tune_entrant *entrant = &contest->race.entrants[i];
        const struct bk_strategy *strategy = &entrant->strategy.settings.strategy;
        if (strategy->kind == BK_COUNT && strategy->max_age_ns == 0 && entrant->status <= TUNE_HOLDS &&
            (most == NULL || strategy->of.count.rows > most->strategy.settings.strategy.of.count.rows))
            most = entrant;
    }
    return most;
}

/* Says what a sequence number in each row would change. */
static void say_with_sequence(const struct tune_contest *contest, struct cli_saying *out)
{
    char number[CLI_NUMBER_SIZE];
    const struct tune_entrant *numbered = cheapest(contest, 1, false);
    if (numbered != NULL) {
        figure(tune_mean_of(numbered, TUNE_COST), number);
        cli_say(out,
                " This assumes that rows have no sequence number. If they already carry a gapless one, %s "
                "(%s) stays within the limits too.",
                numbered->strategy.label, number);
    } else if ((contest->race.terms.kinds >> BK_COUNT & 1) != 0 && !is_count_known(contest) &&
               contest->rows.limit_rows >= 1) {
        const struct tune_entrant *most = most_rows(contest);
        cli_grouped(most != NULL ? most->strategy.settings.strategy.of.count.rows
                                 : (uint64_t)fmin(contest->rows.limit_rows, 1e18),
                    number);
        cli_say(out,
                " This assumes that rows have no sequence number. If they already carry a gapless one, such "
                "as an order number, counting by it costs no operation and gives a CV of 0, with %s%s rows "
                "per partition; add count: {rows: N, counter: external} to try it.",
                most != NULL ? "" : "fewer than ", number);
    }
}

static void say_requirements(const struct tune_contest *contest, const struct tune_entrant *best,
                             struct cli_saying *out)
{
    char cost[CLI_NUMBER_SIZE];
    if (tune_mean_of(best, TUNE_OPS) >= EVERY_ROW_OPS)
        cli_say(out, " It costs an operation for every row.");
    for (int i = 0; i < LAB_REQUIREMENT_COUNT; i++) {
        if (i != LAB_REQUIRES_SEQUENCE && (best->requirements >> i & 1) != 0)
            cli_say(out, " It needs %s.", lab_requirement_text((enum lab_requirement)i));
    }
    if ((best->requirements >> LAB_REQUIRES_SEQUENCE & 1) == 0) {
        say_with_sequence(contest, out);
        return;
    }
    const struct tune_entrant *otherwise = cheapest(contest, 0, false);
    cli_say(out, " This assumes that rows already carry a gapless sequence number; otherwise ");
    if (otherwise == NULL) {
        otherwise = cheapest(contest, 0, true);
        if (otherwise == NULL) {
            cli_say(out, "nothing that was tried stays within the limits.");
            return;
        }
        figure(tune_mean_of(otherwise, TUNE_COST), cost);
        cli_say(out,
                "nothing that was tried is shown to stay within the limits, since there are too few "
                "partitions; the cheapest that may is %s (%s).",
                otherwise->strategy.label, cost);
        return;
    }
    figure(tune_mean_of(otherwise, TUNE_COST), cost);
    double cv = tune_mean_of(otherwise, TUNE_CV);
    cli_say(out, "%s (%s", otherwise->strategy.label, cost);
    if (cv > CLI_CV_UNEVEN)
        cli_say(out, "; its partitions are uneven, with a CV of %.0f %%", 100 * cv);
    cli_say(out, ").");
}

void cli_contest_why(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_entrant *best = &contest->race.entrants[contest->race.recommended];
    char cost[CLI_NUMBER_SIZE], ops[CLI_NUMBER_SIZE], reads[CLI_NUMBER_SIZE], per_read[CLI_NUMBER_SIZE],
        p99[CLI_NUMBER_SIZE];
    double all = tune_mean_of(best, TUNE_COST), extra = tune_mean_of(best, TUNE_COST_WRITE);
    figure(all, cost);
    figure(extra, ops);
    figure(all - extra, reads);
    figure(tune_mean_of(best, TUNE_PER_READ), per_read);
    const char *how = contest->race.is_shown ? "stays within the limits" : "was not seen to fail";
    if (is_cheapest(contest))
        cli_say(out, "%s is the cheapest that %s", best->strategy.label, how);
    else
        cli_say(
            out,
            "%s costs at most 1 %% more than the cheapest that %s, and has the lowest CV of such settings",
            best->strategy.label, how);
    cli_say(out,
            lab_prices_are_equal(&contest->scenario->prices)
                ? ": %s operations per 1000 rows in addition to the inserts"
                : ": its additional operations cost %s inserts per 1000 rows",
            cost);
    if (contest->scenario->reads.present)
        cli_say(out, ", %s for counters and state and %s for the partitions that reads query (%s a read)",
                ops, reads, per_read);
    cli_say(out, ".");
    say_over(contest, best, out);
    double cv = tune_mean_of(best, TUNE_CV);
    cli_compact_bytes(tune_mean_of(best, TUNE_P99_BYTES), p99);
    cli_say(out, " 99 %% of its partitions are within %s", p99);
    if (!isnan(cv))
        cli_say(out, ", and the rows of closed ones have a CV of %.0f %%%s%s", 100 * cv,
                cv > CLI_CV_UNEVEN ? ", which is uneven" : "",
                cv > CLI_CV_UNEVEN && bk_kind_fires(best->strategy.settings.strategy.kind)
                    ? ": a higher threshold with fewer bits evens them out"
                    : "");
    cli_say(out, ".");
    say_requirements(contest, best, out);
    say_rivals(contest, out);
}

/* Returns the unit of the second digit of a value, but at least this one. */
static double unit_of(double value, double least)
{
    while (value / least >= 100)
        least *= 10;
    return least;
}

/* Formats a bound of an expected number with two digits, or two decimals, rounded away from the number. */
static void bound(double value, bool is_upper, char *buffer)
{
    const double unit = unit_of(value, 0.01);
    const double units = is_upper ? ceil(value / unit - 1e-9) : floor(value / unit + 1e-9);
    if (units * unit < 10)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.2g", units * unit);
    else
        cli_compact(units * unit, 5, buffer);
}

void cli_contest_margin(const struct tune_contest *contest, const struct tune_margin *margin,
                        struct cli_saying *out)
{
    const char *label = contest->race.entrants[margin->entrant].strategy.label;
    char number[CLI_NUMBER_SIZE], lasts[CLI_SPAN_SIZE];
    size_t held = 0;
    cli_span(tune_contest_days(contest), lasts);
    while (held < TUNE_MARGIN_STEPS && margin->steps[held].holds)
        held++;
    const struct tune_margin_step *last = held == 0 ? NULL : &margin->steps[held - 1],
                                  *step = held < TUNE_MARGIN_STEPS ? &margin->steps[held] : NULL;
    const bool is_expected = last != NULL && last->is_bounded && !last->is_run;
    if (last == NULL) {
        cli_say(out, "%s already fails at %g times this rate: ", label, step->factor);
    } else if (is_expected) {
        bound(last->over_most, true, number);
        cli_say(
            out,
            "At %g times this rate the expected number of partitions of %s above a limit in %s is at most "
            "%s",
            last->factor, label, lasts, number);
    } else if (step == NULL) {
        cli_say(out, "%s still stays within the limits at %g times this rate", label, last->factor);
    } else {
        cli_say(out, "At %g times this rate %s still stays within the limits", last->factor, label);
    }
    if (step != NULL && last != NULL)
        cli_say(out, "; at %g times ", step->factor);
    if (step != NULL && step->is_run) {
        say_failure(contest, &step->seen, step->failed, out);
    } else if (step != NULL) {
        bound(step->over_least, false, number);
        if (is_expected)
            cli_say(out, "it is at least %s", number);
        else
            cli_say(out, "the expected number of partitions above a limit in %s is at least %s", lasts,
                    number);
    }
    cli_say(out, ".");
}

void cli_contest_margins(const struct tune_contest *contest, struct cli_saying *out)
{
    size_t left = 0;
    for (size_t i = 0; i < contest->margin_count; i++)
        left += contest->margins[i].holds_anywhere;
    const char *join = "",
               *end = left > 1    ? " stay within the limits at any rate, since their buckets end by rows."
                      : left == 1 ? " stays within the limits at any rate, since its buckets end by rows."
                                  : "";
    for (size_t i = 0; i < contest->margin_count; i++) {
        if (!contest->margins[i].holds_anywhere)
            continue;
        cli_say(out, "%s%s", join, contest->race.entrants[contest->margins[i].entrant].strategy.label);
        join = --left > 1 ? ", " : " and ";
    }
    cli_say(out, "%s", end);
    for (size_t i = 0; i < contest->margin_count; i++) {
        if (!contest->margins[i].is_tried || contest->margins[i].holds_anywhere)
            continue;
        cli_say(out, "%s", out->used == 0 ? "" : " ");
        cli_contest_margin(contest, &contest->margins[i], out);
    }
}

static int64_t round_to_ms(int64_t span_ns)
{
    return (span_ns + SIM_MS - 1) / SIM_MS * SIM_MS;
}

static void say_lead(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_lead *lead = &contest->lead;
    char safe[CLI_NUMBER_SIZE], formula[CLI_NUMBER_SIZE], own[CLI_NUMBER_SIZE];
    if (contest->led == SIZE_MAX)
        return;
    const char *label = contest->race.entrants[contest->led].strategy.label;
    const int64_t own_ns = contest->race.entrants[contest->led].strategy.settings.lead_ns;
    lab_quantity_duration_text(round_to_ms(lead->formula_ns), formula, sizeof formula);
    if (lead->safe_ns < 0) {
        cli_say(out,
                " The agents of %s disagreed with every lead that was tried, even with twice the %s that "
                "caches and clocks require.",
                label, formula);
        return;
    }
    lab_quantity_duration_text(round_to_ms(lead->safe_ns), safe, sizeof safe);
    lab_quantity_duration_text(own_ns, own, sizeof own);
    cli_say(out,
            " In the lab, the smallest lead of %s without a violation is %s, and by its caches, clocks and "
            "write latency it should be %s: its lead, %s, is ",
            label, safe, formula, own);
    if (own_ns >= round_to_ms(lead->safe_ns) && own_ns >= round_to_ms(lead->formula_ns))
        cli_say(out, "long enough.");
    else
        cli_say(out, "too short; use %s.", lead->safe_ns > lead->formula_ns ? safe : formula);
}

/* Says what is not shown of a setting, and what would show it. */
static void say_open(const struct tune_contest *contest, const struct tune_entrant *entrant,
                     struct cli_saying *out)
{
    const struct lab_tune *terms = &contest->race.terms;
    const uint32_t seeds = tune_seeds_to_show(entrant, terms);
    char most[CLI_NUMBER_SIZE];
    if (entrant->failed == TUNE_NOT_TINY) {
        cli_percent(tune_tiny_interval(entrant, (1 - terms->confidence) / 2).high, most);
        cli_say(out, "up to %s %% of its closed partitions may be tiny; ", most);
    } else if (entrant->failed == TUNE_FEW_PER_READ) {
        cli_say(out, "1 %% of reads may query more than %g partitions; ", terms->partitions_per_read);
    } else {
        cli_percent(entrant->over.high, most);
        cli_say(out, "up to %s %% of its partitions may be above a limit; ", most);
    }
    if (seeds > 0)
        cli_say(out, "about %" PRIu32 " seeds (--seeds %" PRIu32 ") would decide.", seeds, seeds);
    else
        cli_say(out, "more seeds (--seeds), more keys or a longer run would decide.");
}

/* Names a cheaper setting that more seeds might show to be within the limits. */
static void say_cheaper(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_race *race = &contest->race;
    const struct tune_entrant *cheapest = NULL;
    char cost[CLI_NUMBER_SIZE];
    if (race->recommended == SIZE_MAX || !race->is_shown)
        return;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->status == TUNE_UNSURE && !entrant->is_endless &&
            tune_mean_of(entrant, TUNE_COST) * TUNE_AS_CHEAP <
                tune_mean_of(&race->entrants[race->recommended], TUNE_COST) &&
            (cheapest == NULL || tune_is_cheaper(entrant, cheapest)))
            cheapest = entrant;
    }
    if (cheapest == NULL)
        return;
    figure(tune_mean_of(cheapest, TUNE_COST), cost);
    cli_say(out, " %s would cost %s and was not seen to fail, but with so few seeds ",
            cheapest->strategy.label, cost);
    say_open(contest, cheapest, out);
}

static void say_endless(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_race *race = &contest->race;
    char when[CLI_SPAN_SIZE];
    size_t told = 0;
    for (size_t i = 0; i < race->count && told < ENDLESS_TOLD; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (!entrant->is_endless || entrant->status > TUNE_UNSURE)
            continue;
        if (told == 0)
            cli_say(out, " Partitions that never close keep growing: at this %s ",
                    contest->growth.per_day > 0 ? "growth" : "rate");
        cli_span(tune_horizon_of(contest, entrant).days, when);
        cli_say(out, "%s%s exceeds a limit after %s", told == 0 ? "" : ", ", entrant->strategy.label, when);
        told++;
    }
    if (told > 0)
        cli_say(out, ".");
}

/* If no partition was seen to end, the run says little about those of a longer stream. */
static void say_none_closed(const struct tune_contest *contest, struct cli_saying *out)
{
    const size_t best = contest->race.recommended;
    uint64_t closed = 0;
    char lasts[CLI_SPAN_SIZE];
    if (best == SIZE_MAX)
        return;
    if (!lab_kind_ends(contest->race.entrants[best].strategy.settings.strategy.kind))
        return;
    for (uint32_t i = 0; i < contest->race.entrants[best].seeds; i++)
        closed += contest->race.entrants[best].seen[i].closed;
    cli_span(tune_contest_days(contest), lasts);
    if (closed == 0)
        cli_say(out, " No partition of %s ended within %s, so a longer run may recommend another setting.",
                contest->race.entrants[best].strategy.label, lasts);
}

void cli_contest_notes(const struct tune_contest *contest, struct cli_saying *out)
{
    const struct tune_race *race = &contest->race;
    const struct lab_scenario *scenario = contest->scenario;
    if (race->recommended != SIZE_MAX && !race->is_shown) {
        cli_say(
            out,
            " There are too few partitions to show with %g %% confidence that %s stays within the limits: ",
            100 * race->terms.confidence, race->entrants[race->recommended].strategy.label);
        say_open(contest, &race->entrants[race->recommended], out);
    }
    say_none_closed(contest, out);
    if (scenario->trace_path != NULL)
        cli_say(out,
                " The rows come from a trace, at its rate, so a margin by rate cannot be computed; to see "
                "a margin, lower the limits (--set limits.partition_rows=N).");
    say_lead(contest, out);
    say_cheaper(contest, out);
    say_endless(contest, out);
    if (contest->left_out > 0)
        cli_say(out,
                " Left out: %zu setting%s that change%s during the run, or that the engine cannot simulate.",
                contest->left_out, contest->left_out == 1 ? "" : "s", contest->left_out == 1 ? "s" : "");
}

/* The figure by which a setting misses a demand; 0 if it has none. */
static double missed_by(const struct tune_entrant *entrant, enum tune_demand demand)
{
    switch (demand) {
    case TUNE_IN_LIMITS:
        return tune_mean_of(entrant, TUNE_OVER);
    case TUNE_NOT_TINY:
        return tune_mean_of(entrant, TUNE_TINY);
    case TUNE_FEW_PER_READ:
        return tune_mean_of(entrant, TUNE_PER_READ_P99);
    case TUNE_AVAILABLE:
        return tune_refused_of(entrant);
    case TUNE_FINDABLE:
    case TUNE_DEMAND_COUNT:
        break;
    }
    return 0;
}

/* Of the settings that were run and might be recommended, the one that is closest to meeting the demands,
 * which are compared in order, beginning with the one that most settings meet. */
static size_t nearest(const struct tune_contest *contest)
{
    const struct tune_race *race = &contest->race;
    static const enum tune_demand demands[] = {TUNE_NOT_TINY, TUNE_FEW_PER_READ, TUNE_IN_LIMITS,
                                               TUNE_AVAILABLE, TUNE_FINDABLE};
    for (size_t d = 0; d < sizeof demands / sizeof *demands; d++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < race->count; i++) {
            const struct tune_entrant *entrant = &race->entrants[i];
            if (entrant->status != TUNE_FAILS || entrant->is_endless || entrant->failed != demands[d])
                continue;
            if (best == SIZE_MAX ||
                missed_by(entrant, demands[d]) < missed_by(&race->entrants[best], demands[d]))
                best = i;
        }
        if (best != SIZE_MAX)
            return best;
    }
    return SIZE_MAX;
}

/* Formats a percentage with two digits, rounded up. */
static void percent_above(double share, char *buffer)
{
    double percent = 100 * share;
    for (double nudged = percent;; nudged += percent * 1e-3) {
        snprintf(buffer, CLI_NUMBER_SIZE, "%.2g", nudged);
        if (nudged >= 99)
            snprintf(buffer, CLI_NUMBER_SIZE, "100");
        if (strtod(buffer, NULL) >= percent)
            return;
    }
}

/* Formats bytes with two digits, rounded up. */
static void round_up(double value, char *buffer)
{
    const double unit = unit_of(value, 1);
    lab_quantity_bytes_text((uint64_t)(ceil(value / unit) * unit), buffer, CLI_NUMBER_SIZE);
}

bool cli_contest_refuse(const struct tune_contest *contest, struct sim_error *error)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    size_t index = nearest(contest);
    if (index == SIZE_MAX)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "%s: no setting stays within the limits: the exact distribution excludes every one; "
                        "raise the limits under 'limits', "
                        "or the risk",
                        contest->scenario->path);
    const struct tune_entrant *entrant = &contest->race.entrants[index];
    struct cli_saying what = {.used = 0}, cure = {.used = 0};
    const struct tune_seen seen = see_all(entrant);
    char number[CLI_NUMBER_SIZE];
    double error_chance = (1 - contest->race.terms.confidence) / 2;
    say_failure(contest, &seen, entrant->failed, &what);
    if (entrant->failed == TUNE_IN_LIMITS) {
        if (limits->partition_rows != 0 && seen.over_rows > 0)
            cli_say(&cure, "raise partition_rows to %" PRIu64, seen.rows_at_risk);
        round_up((double)seen.bytes_at_risk, number);
        if (limits->partition_bytes != 0 && seen.over_bytes > 0)
            cli_say(&cure, "%s partition_bytes to %s", cure.used == 0 ? "raise" : " and", number);
        percent_above(entrant->over.high, number);
        if (entrant->over.high <= RISK_MOST)
            cli_say(&cure, ", or risk to %s%%", number);
    } else if (entrant->failed == TUNE_NOT_TINY) {
        percent_above(tune_tiny_interval(entrant, error_chance).high, number);
        cli_say(&cure, "raise tune.tiny to %s%%, or lower limits.tiny_rows", number);
    } else if (entrant->failed == TUNE_FEW_PER_READ) {
        cli_say(&cure, "raise tune.partitions_per_read to %g", ceil(seen.figures[TUNE_PER_READ_P99]));
    } else if (entrant->failed == TUNE_AVAILABLE) {
        const bool is_late = wl_has_late(&contest->scenario->workload) &&
                             entrant->strategy.settings.coordination == BK_THREE_STATE;
        cli_say(&cure, is_late ? "add coordination: guarded, or a kind without a state, such as time"
                               : "raise agents.timeout or agents.retries");
    } else {
        cli_say(&cure, "add coordination: guarded, or remove 'faults'");
    }
    return sim_fail(error, SIM_ERROR_CHECK,
                    "%s: no setting stays within the limits: with %s, the nearest, %s; %s",
                    contest->scenario->path, entrant->strategy.label, what.buffer, cure.buffer);
}
