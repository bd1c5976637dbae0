/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says what tune recommends; or, without a recommendation, what came nearest and what would help. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/contest_answer.h"
#include "cli/text.h"
#include "lab/quantity.h"
#include "reports/reports.h"
#include "workload/rows.h"

/* The largest value of `risk`. */
#define RISK_MOST 0.5

/* --- the answer */

static void set_margin(const struct tune_contest *contest, size_t index, struct report_option *out)
{
    for (size_t i = 0; i < contest->margin_count; i++) {
        const struct tune_margin *margin = &contest->margins[i];
        if (margin->entrant != index || !margin->is_tried)
            continue;
        for (size_t j = TUNE_MARGIN_STEPS; j-- > 0;) {
            if (margin->steps[j].within == LAB_EXCEEDS)
                out->fails_at = margin->steps[j].factor;
            else if (margin->steps[j].within == LAB_WITHIN)
                out->holds_at = fmax(out->holds_at, margin->steps[j].factor);
        }
    }
}

static double refused_of(const struct tune_entrant *entrant)
{
    double refused = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        refused = fmax(refused, entrant->seen[i].refused);
    return refused;
}

/* A mean over the seeds; 0 if there is none. */
static double count_of(const struct tune_entrant *entrant, enum tune_figure figure)
{
    const double mean = tune_mean_of(entrant, figure);
    return isnan(mean) ? 0 : mean;
}

static struct report_option option_of(const struct tune_contest *contest, size_t index)
{
    const struct tune_entrant *entrant = &contest->entrants[index];
    const bool is_run = entrant->seeds > 0;
    struct report_option option = {.label = entrant->strategy.label,
                                   .settings = &entrant->strategy.settings,
                                   .score = {.judgment = entrant->judgment,
                                             .disqualifiers = entrant->disqualifiers,
                                             .cost = tune_mean_of(entrant, TUNE_COST),
                                             .candidate = tune_candidate_for(contest, entrant)},
                                   .is_open = is_run,
                                   .rows_mean = tune_mean_of(entrant, TUNE_ROWS_MEAN),
                                   .bytes_mean = tune_mean_of(entrant, TUNE_BYTES_MEAN),
                                   .rows_max = is_run ? 0 : (double)NAN,
                                   .bytes_max = is_run ? 0 : (double)NAN,
                                   .ops = tune_mean_of(entrant, TUNE_OPS),
                                   .per_read = tune_mean_of(entrant, TUNE_PER_READ),
                                   .first_over_days = tune_contest_first_over(contest, entrant),
                                   .holds_at = (double)NAN,
                                   .fails_at = (double)NAN,
                                   .rows = count_of(entrant, TUNE_ROWS),
                                   .refused = count_of(entrant, TUNE_REFUSED),
                                   .refused_share = refused_of(entrant),
                                   .replaced = count_of(entrant, TUNE_REPLACED),
                                   .misrouted = count_of(entrant, TUNE_MISROUTED),
                                   .reads = count_of(entrant, TUNE_READS),
                                   .reads_failed = count_of(entrant, TUNE_READS_FAILED)};
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        option.rows_max = fmax(option.rows_max, (double)entrant->seen[i].rows_most);
        option.bytes_max = fmax(option.bytes_max, (double)entrant->seen[i].bytes_most);
        option.is_open = option.is_open && entrant->seen[i].closed == 0;
    }
    set_margin(contest, index, &option);
    option.score.candidate.is_eligible = entrant->status <= TUNE_WITHIN && !entrant->is_endless;
    return option;
}

struct report_horizon cli_contest_horizon(const struct tune_contest *contest)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    struct report_horizon horizon = {.days_left = (double)NAN,
                                     .doubles_days = tune_growth_doubles(&contest->growth),
                                     .is_trace = contest->scenario->trace_path != NULL,
                                     .limit_rows = limits->partition_rows,
                                     .limit_bytes = limits->partition_bytes};
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (entrant->strategy.settings.strategy.kind != BK_UNBUCKETED || !entrant->is_endless ||
            entrant->status != TUNE_WITHIN)
            continue;
        horizon.days_left = tune_contest_first_over(contest, entrant) - tune_contest_days(contest);
        horizon.rows_most = (double)entrant->seen[0].rows_most;
        horizon.bytes_most = (double)entrant->seen[0].bytes_most;
    }
    return horizon;
}

/* Of the settings within the limits, the recommended one, the best of each other kind and the scenario's own
 * are in the answer. */
static bool is_in_answer(const struct tune_contest *contest, size_t index)
{
    const struct tune_entrant *entrant = &contest->entrants[index];
    bool is_best = false;
    for (size_t i = 0; i < contest->margin_count; i++)
        is_best |= contest->margins[i].entrant == index;
    return is_best || entrant->is_own || entrant->is_endless || entrant->status > TUNE_WITHIN;
}

struct report_answer *cli_contest_answer(const struct tune_contest *contest)
{
    const struct report_terms terms = {.limits = &contest->scenario->limits,
                                       .prices = &contest->scenario->prices,
                                       .horizon = cli_contest_horizon(contest)};
    size_t count = 0, chosen = SIZE_MAX, *listed = NULL;
    struct report_answer *answer = NULL;
    if (!cli_contest_listed(contest, &listed, &count))
        return NULL;
    struct report_option *options = calloc(count + 1, sizeof *options);
    size_t told = 0;
    for (size_t i = 0; options != NULL && i < count; i++) {
        if (!is_in_answer(contest, listed[i]))
            continue;
        chosen = listed[i] == contest->recommended ? told : chosen;
        options[told++] = option_of(contest, listed[i]);
    }
    if (options != NULL)
        answer = report_options_answer(options, told, chosen, &terms);
    free(options);
    free(listed);
    return answer;
}

static void say_lead(const struct tune_contest *contest, struct cli_saying *out)
{
    char needed[CLI_NUMBER_SIZE], own[CLI_NUMBER_SIZE];
    if (contest->led == SIZE_MAX)
        return;
    const struct lab_strategy *strategy = &contest->entrants[contest->led].strategy;
    const int64_t needed_ns = (int64_t)tune_contest_lead_ms(contest) * SIM_MS;
    lab_quantity_duration_text(needed_ns, needed, sizeof needed);
    lab_quantity_duration_text(strategy->settings.lead_ns, own, sizeof own);
    cli_say(out,
            "By its caches, clocks and write latency, the lead of %s must be at least %s: its lead, %s, is ",
            strategy->label, needed, own);
    if (strategy->settings.lead_ns >= needed_ns)
        cli_say(out, "long enough.");
    else
        cli_say(out, "too short; use %s.", needed);
}

void cli_contest_notes(const struct tune_contest *contest, struct cli_saying *out)
{
    char lasts[CLI_SPAN_SIZE];
    uint64_t closed = 0;
    say_lead(contest, out);
    if (contest->recommended != SIZE_MAX) {
        const struct tune_entrant *best = &contest->entrants[contest->recommended];
        for (uint32_t i = 0; i < best->seeds; i++)
            closed += best->seen[i].closed;
        cli_span(tune_contest_days(contest), lasts);
        if (closed == 0 && lab_kind_ends(best->strategy.settings.strategy.kind))
            cli_say(out,
                    "%sNo partition of %s ended within %s, so a longer run may recommend another setting.",
                    out->used == 0 ? "" : " ", best->strategy.label, lasts);
    }
    if (contest->left_out > 0)
        cli_say(out,
                "%sLeft out: %zu setting%s that change%s during the run, or that the engine cannot simulate.",
                out->used == 0 ? "" : " ", contest->left_out, contest->left_out == 1 ? "" : "s",
                contest->left_out == 1 ? "s" : "");
}

/* --- no setting is within the limits */

/* The figure by which a setting misses a demand; 0 if it has none. */
static double missed_by(const struct tune_entrant *entrant)
{
    return entrant->failed == TUNE_IN_LIMITS      ? tune_mean_of(entrant, TUNE_OVER)
           : entrant->failed == TUNE_NOT_TINY     ? tune_mean_of(entrant, TUNE_TINY)
           : entrant->failed == TUNE_FEW_PER_READ ? tune_mean_of(entrant, TUNE_PER_READ_P99)
           : entrant->failed == TUNE_AVAILABLE    ? refused_of(entrant)
                                                  : 0;
}

/* Of the settings that were run and might be recommended, the one that is closest: one that was not judged;
 * then by demand, beginning with the one that most settings meet. */
static const struct tune_entrant *nearest(const struct tune_contest *contest)
{
    static const enum tune_demand demands[] = {TUNE_NOT_TINY,  TUNE_FEW_PER_READ, TUNE_IN_LIMITS,
                                               TUNE_AVAILABLE, TUNE_FINDABLE,     TUNE_ANSWERED,
                                               TUNE_GUARANTEED};
    const struct tune_entrant *best = NULL;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (entrant->status == TUNE_NOT_JUDGED && !entrant->is_endless &&
            (best == NULL || tune_mean_of(entrant, TUNE_OVER) < tune_mean_of(best, TUNE_OVER)))
            best = entrant;
    }
    for (size_t d = 0; best == NULL && d < sizeof demands / sizeof *demands; d++) {
        for (size_t i = 0; i < contest->count; i++) {
            const struct tune_entrant *entrant = &contest->entrants[i];
            if (entrant->seeds > 0 && !entrant->is_endless && entrant->failed == demands[d] &&
                (entrant->status == TUNE_EXCEEDS || entrant->status == TUNE_DISQUALIFIED) &&
                (best == NULL || missed_by(entrant) < missed_by(best)))
                best = entrant;
        }
    }
    return best;
}

/* Formats a percentage with two digits, rounded up. */
static void percent_above(double share, char *buffer)
{
    const double percent = 100 * share;
    for (double nudged = percent;; nudged += percent * 1e-3) {
        snprintf(buffer, CLI_NUMBER_SIZE, "%.2g", nudged);
        if (nudged >= 99)
            snprintf(buffer, CLI_NUMBER_SIZE, "100");
        if (strtod(buffer, NULL) >= percent)
            return;
    }
}

/* Formats bytes with two digits, rounded up. */
static void bytes_above(uint64_t bytes, char *buffer)
{
    double unit = 1;
    while ((double)bytes / unit >= 100)
        unit *= 10;
    lab_quantity_bytes_text((uint64_t)(ceil((double)bytes / unit) * unit), buffer, CLI_NUMBER_SIZE);
}

/* Says which limit is exceeded, and which limits would do. */
static void say_limits(const struct tune_contest *contest, const struct tune_entrant *entrant,
                       struct cli_saying *what, struct cli_saying *cure)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    const uint64_t *over = entrant->judgment.over_of;
    uint64_t rows = 0, bytes = 0;
    char number[CLI_NUMBER_SIZE];
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        rows = entrant->seen[i].rows_at_risk > rows ? entrant->seen[i].rows_at_risk : rows;
        bytes = entrant->seen[i].bytes_at_risk > bytes ? entrant->seen[i].bytes_at_risk : bytes;
    }
    cli_percent(tune_mean_of(entrant, TUNE_OVER), number);
    cli_say(what, "%s %% of partitions exceed ", number);
    if (limits->partition_bytes != 0 && (limits->partition_rows == 0 || over[1] >= over[0])) {
        lab_quantity_bytes_text(limits->partition_bytes, number, sizeof number);
        cli_say(what, "%s", number);
    } else {
        cli_grouped(limits->partition_rows, number);
        cli_say(what, "%s rows", number);
    }
    if (limits->partition_rows != 0 && over[0] > 0)
        cli_say(cure, "raise partition_rows to %" PRIu64, rows);
    bytes_above(bytes, number);
    if (limits->partition_bytes != 0 && over[1] > 0)
        cli_say(cure, "%s partition_bytes to %s", cure->used == 0 ? "raise" : " and", number);
    const double most = entrant->judgment.share_most;
    if (!isnan(most) && most <= RISK_MOST) {
        percent_above(most, number);
        cli_say(cure, "%s risk to %s%%", cure->used == 0 ? "raise" : ", or", number);
    }
}

static void say_nearest(const struct tune_contest *contest, const struct tune_entrant *entrant,
                        struct cli_saying *what, struct cli_saying *cure)
{
    const bool is_late = wl_has_late(&contest->scenario->workload) &&
                         entrant->strategy.settings.coordination == BK_THREE_STATE;
    char number[CLI_NUMBER_SIZE];
    if (entrant->status == TUNE_NOT_JUDGED) {
        cli_percent(entrant->judgment.share_most, number);
        cli_say(what, "up to %s %% of partitions may exceed a limit", number);
        cli_say(cure, "raise --seeds or duration, as there are too few partitions to tell");
        return;
    }
    switch (entrant->failed) {
    case TUNE_IN_LIMITS:
        say_limits(contest, entrant, what, cure);
        break;
    case TUNE_NOT_TINY:
        cli_percent(tune_mean_of(entrant, TUNE_TINY), number);
        cli_say(what, "%s %% of closed partitions are tiny", number);
        percent_above(tune_mean_of(entrant, TUNE_TINY), number);
        cli_say(cure, "raise tune.tiny to %s%%, or lower limits.tiny_rows", number);
        break;
    case TUNE_FEW_PER_READ:
        cli_compact(tune_mean_of(entrant, TUNE_PER_READ_P99), 4, number);
        cli_say(what, "1 %% of reads query %s partitions or more", number);
        cli_say(cure, "raise tune.partitions_per_read to %g", ceil(tune_mean_of(entrant, TUNE_PER_READ_P99)));
        break;
    case TUNE_AVAILABLE:
        cli_percent(refused_of(entrant), number);
        cli_say(what, "%s %% of the rows are refused although nothing has failed", number);
        cli_say(cure, "%s",
                is_late ? "add coordination: guarded, or a kind without a state, such as time"
                        : "raise agents.timeout or agents.retries");
        break;
    case TUNE_ANSWERED:
        cli_say(what, "reads fail");
        cli_say(cure, "raise agents.timeout, or remove 'faults'");
        break;
    case TUNE_FINDABLE:
    case TUNE_GUARANTEED:
    case TUNE_DEMAND_COUNT:
        cli_say(what, entrant->failed == TUNE_FINDABLE ? "readers miss rows" : "a guarantee is broken");
        cli_say(cure, "add coordination: guarded, or remove 'faults'");
        break;
    }
}

bool cli_contest_refuse(const struct tune_contest *contest, struct sim_error *error)
{
    const struct tune_entrant *entrant = nearest(contest);
    struct cli_saying what = {.used = 0}, cure = {.used = 0};
    if (entrant == NULL)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "%s: no setting stays within the limits: the distribution excludes every one; raise "
                        "the limits under 'limits', or the risk",
                        contest->scenario->path);
    say_nearest(contest, entrant, &what, &cure);
    return sim_fail(error, SIM_ERROR_CHECK,
                    "%s: no setting stays within the limits: with %s, the nearest, %s; %s",
                    contest->scenario->path, entrant->strategy.label, what.buffer, cure.buffer);
}
