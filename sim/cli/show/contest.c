/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `tune SCENARIO`. In: a contest. Out: a table, sentences, and JSON; without a recommendation,
 * the setting that came nearest and a remedy. */
#include "cli/contest_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "cli/text.h"
#include "lab/quantity.h"
#include "lab/setting.h"
#include "reports/reports.h"
#include "tune/contest.h"
#include "workload/workload.h"

#define LABEL_COLUMNS 19
/* The most settings within the limits that are listed, in addition to the best of each kind and the
 * scenario's own. */
#define LISTED_MOST 10

/* What a setting is disqualified by: the word in its line, and the legend of the word. */
static const struct {
    const char *word, *legend;
} failures[TUNE_DEMAND_COUNT] = {
    [TUNE_IN_LIMITS] = {"exceeds", NULL},
    [TUNE_NOT_TINY] = {"tiny", "tiny: too many of its closed partitions are tiny"},
    [TUNE_FEW_PER_READ] = {"reads", "reads: too many partitions per read"},
    [TUNE_FINDABLE] = {"unfound", "unfound: readers miss rows that are in the table"},
    [TUNE_AVAILABLE] = {"refuses", "refuses: its agents refuse rows although nothing has failed"},
    [TUNE_ANSWERED] = {"reads fail", "reads fail: readers get no answer"},
    [TUNE_GUARANTEED] = {"broken",
                         "broken: rows are in another bucket than they should be, or a guarantee is "
                         "broken"},
};

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

/* Formats a share in percent: "0.012". */
static void percent_text(double share, char *buffer)
{
    double percent = 100 * share;
    if (isnan(share))
        snprintf(buffer, CLI_NUMBER_SIZE, "-");
    else if (percent == 0 || percent >= 99)
        snprintf(buffer, CLI_NUMBER_SIZE, "%.4g", percent);
    else if (percent < 1e-4)
        snprintf(buffer, CLI_NUMBER_SIZE, "<1e-4");
    else
        snprintf(buffer, CLI_NUMBER_SIZE, percent < 0.001 ? "%.1g" : "%.2g", percent);
}

static bool keeps_growing(const struct tune_entrant *entrant)
{
    return entrant->is_endless && entrant->status <= TUNE_NOT_JUDGED;
}

/* The order of the table: by status, then by cost, but settings that exceed a limit by the share of their
 * partitions. */
static bool comes_before(const struct tune_entrant *one, const struct tune_entrant *other)
{
    const int mine = (int)one->status + keeps_growing(one), its = (int)other->status + keeps_growing(other);
    if (mine != its)
        return mine < its;
    const enum tune_figure by = one->status == TUNE_EXCEEDS ? TUNE_OVER : TUNE_COST;
    const double figure = tune_mean_of(one, by), its_figure = tune_mean_of(other, by);
    return figure < its_figure || (isnan(its_figure) && !isnan(figure));
}

/* Whether it comes first of its kind among those that were run. */
static bool is_best_of_kind(const struct tune_contest *contest, size_t index)
{
    const struct tune_entrant *mine = &contest->entrants[index];
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *other = &contest->entrants[i];
        if (i != index && other->seeds > 0 &&
            other->strategy.settings.strategy.kind == mine->strategy.settings.strategy.kind &&
            comes_before(other, mine))
            return false;
    }
    return mine->seeds > 0;
}

static bool has_margin(const struct tune_contest *contest, size_t index)
{
    for (size_t i = 0; i < contest->margin_count; i++) {
        if (contest->margins[i].entrant == index)
            return true;
    }
    return false;
}

bool cli_contest_listed(const struct tune_contest *contest, size_t **out, size_t *count)
{
    size_t *all = calloc(contest->count + 1, sizeof *all);
    *out = calloc(contest->count + 1, sizeof **out);
    *count = 0;
    for (size_t i = 0; all != NULL && i < contest->count; i++) {
        size_t at = i;
        for (; at > 0 && comes_before(&contest->entrants[i], &contest->entrants[all[at - 1]]); at--)
            all[at] = all[at - 1];
        all[at] = i;
    }
    size_t within = 0;
    for (size_t i = 0; all != NULL && *out != NULL && i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[all[i]];
        const bool is_within = entrant->status <= TUNE_WITHIN && !entrant->is_endless;
        if ((is_within && within++ < LISTED_MOST) || entrant->is_own || has_margin(contest, all[i]) ||
            is_best_of_kind(contest, all[i]))
            (*out)[(*count)++] = all[i];
    }
    const bool is_fine = all != NULL && *out != NULL;
    free(all);
    if (is_fine)
        return true;
    free(*out);
    *out = NULL;
    return false;
}

static void print_head(const struct tune_contest *contest)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct lab_tune *terms = &contest->terms;
    char rows[CLI_NUMBER_SIZE], limit[CLI_NUMBER_SIZE], share[CLI_NUMBER_SIZE];
    struct cli_saying asked = {.used = 0};
    size_t run = 0;
    for (size_t i = 0; i < contest->count; i++)
        run += contest->entrants[i].seeds > 0;
    cli_grouped(contest->rows.rows, rows);
    percent_text(terms->share, share);
    cli_say(&asked, "%zu settings run on the same %s rows, seed by seed; ", run, rows);
    if (terms->share > 0)
        cli_say(&asked, "at most %s %% of partitions above", share);
    else
        cli_say(&asked, "no partition above");
    if (scenario->limits.partition_rows != 0) {
        cli_grouped(scenario->limits.partition_rows, limit);
        cli_say(&asked, " %s rows%s", limit, scenario->limits.partition_bytes != 0 ? " or" : "");
    }
    cli_compact_bytes((double)scenario->limits.partition_bytes, limit);
    if (scenario->limits.partition_bytes != 0)
        cli_say(&asked, " %s", limit);
    percent_text(terms->tiny, share);
    if (terms->tiny >= 0)
        cli_say(&asked, ", at most %s %% of closed ones tiny", share);
    if (terms->partitions_per_read > 0)
        cli_say(&asked, ", at most %g partitions for 99 %% of reads", terms->partitions_per_read);
    cli_print_text(stdout, scenario->name);
    putchar(':');
    cli_print_wrapped(asked.buffer, cli_text_width(scenario->name) + 1);
    fputs("\n\n", stdout);
}

static void print_figure(double value, int columns)
{
    char text[CLI_NUMBER_SIZE];
    if (value > 0 && value < 0.995)
        snprintf(text, sizeof text, value < 0.0005 ? "%.0e" : value < 0.0095 ? "%.1g" : "%.2g", value);
    else
        cli_compact(value, 4, text);
    printf("%*s", columns, text);
}

/* A figure that only a demand limits has a column if the scenario makes this demand. */
static void print_heading(const struct lab_tune *terms)
{
    const bool has_tiny = terms->tiny >= 0, has_reads = terms->partitions_per_read > 0;
    printf("                              of parts/                over a limit, %%%s%s\n",
           has_tiny ? "   tiny," : "", has_reads ? "    p99/" : "");
    printf("setting               cost writes  read    CV    p99   seen  at most%s%s\n",
           has_tiny ? "       %" : "", has_reads ? "    read" : "");
}

static const char *word_of(const struct tune_entrant *entrant)
{
    return keeps_growing(entrant)                 ? "grows"
           : entrant->status == TUNE_DISQUALIFIED ? failures[entrant->failed].word
                                                  : tune_status_name(entrant->status);
}

static void print_entrant(const struct tune_entrant *entrant, const struct lab_tune *terms, bool has_colour)
{
    const bool is_good = entrant->status <= TUNE_WITHIN && !entrant->is_endless;
    const char *colour = !has_colour                          ? ""
                         : is_good                            ? CLI_GREEN
                         : entrant->status <= TUNE_NOT_JUDGED ? ""
                                                              : CLI_RED;
    const size_t width = cli_text_width(entrant->strategy.label);
    const double cv = tune_mean_of(entrant, TUNE_CV);
    char text[CLI_NUMBER_SIZE];
    fputs(entrant->status == TUNE_RECOMMENDED ? "*" : " ", stdout);
    cli_print_text(stdout, entrant->strategy.label);
    printf("%*s", width > LABEL_COLUMNS ? 0 : (int)(LABEL_COLUMNS - width), "");
    if (width > LABEL_COLUMNS)
        printf("\n%*s", LABEL_COLUMNS + 1, "");
    print_figure(tune_mean_of(entrant, TUNE_COST), 6);
    print_figure(tune_mean_of(entrant, TUNE_COST_WRITE), 6);
    print_figure(tune_mean_of(entrant, TUNE_PER_READ), 6);
    snprintf(text, sizeof text, isnan(cv) ? "-" : "%.2f", cv);
    printf("%7s", text);
    cli_compact_bytes(tune_mean_of(entrant, TUNE_P99_BYTES), text);
    printf("%7s", text);
    percent_text(tune_mean_of(entrant, TUNE_OVER), text);
    printf("%7s", text);
    percent_text(entrant->seeds > 0 ? entrant->judgment.share_most : entrant->known.expected_share, text);
    printf("%8s", text);
    if (terms->tiny >= 0) {
        percent_text(tune_mean_of(entrant, TUNE_TINY), text);
        printf("%8s", text);
    }
    if (terms->partitions_per_read > 0)
        print_figure(tune_mean_of(entrant, TUNE_PER_READ_P99), 8);
    printf("  %s%s%s\n", colour, word_of(entrant), colour[0] == '\0' ? "" : CLI_PLAIN);
}

/* Counts the settings that are not listed, by their words. */
static void print_rest(const struct tune_contest *contest, const bool *is_listed)
{
    struct cli_saying rest = {.used = 0};
    size_t all = 0, counts[TUNE_STATUS_COUNT] = {0};
    const char *join = "";
    for (size_t i = 0; i < contest->count; i++) {
        counts[contest->entrants[i].status] += !is_listed[i];
        all += !is_listed[i];
    }
    if (all == 0)
        return;
    cli_say(&rest, "%zu more:", all);
    for (unsigned status = 0; status < TUNE_STATUS_COUNT; status++) {
        if (counts[status] == 0)
            continue;
        cli_say(&rest, "%s %zu %s", join, counts[status], tune_status_name((enum tune_status)status));
        join = ",";
    }
    cli_say(&rest, "; --json lists them");
    cli_print_indented(rest.buffer, 0, 1);
    putchar('\n');
}

/* Explains the columns, and the words that occur. */
static void print_legend(const struct tune_contest *contest)
{
    bool is_costly = false, is_growing = false, is_excluded = false, has_failed[TUNE_DEMAND_COUNT] = {false};
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        is_costly |= entrant->status == TUNE_COSTLY;
        is_growing |= keeps_growing(entrant);
        is_excluded |= entrant->status == TUNE_EXCEEDS && entrant->seeds == 0;
        if (entrant->status == TUNE_DISQUALIFIED)
            has_failed[entrant->failed] = true;
    }
    puts("\ncost: operations in addition to the inserts, and partitions read, in inserts\n"
         "per 1000 rows; of writes: the same without reads; parts/read: partitions per\n"
         "read; CV: coefficient of variation of closed partitions' rows; p99: bytes of all\n"
         "partitions");
    if (contest->terms.tiny >= 0)
        puts("tiny, %: share of closed partitions with fewer rows than limits.tiny_rows");
    if (contest->terms.partitions_per_read > 0)
        puts("p99/read: partitions that 99 % of reads query at most, mean over the seeds");
    if (is_growing)
        puts("grows: its partitions never end; within the limits for this run only");
    if (is_excluded)
        puts("exceeds, without figures: by its distribution; not run");
    if (is_costly)
        puts("costly: not run, as another one of its kind is better whatever it would show");
    for (size_t i = 0; i < TUNE_DEMAND_COUNT; i++) {
        if (has_failed[i] && failures[i].legend != NULL)
            puts(failures[i].legend);
    }
}

bool cli_contest_table(const struct tune_contest *contest, struct sim_error *error)
{
    const bool has_colour = cli_has_colour();
    size_t count, *listed;
    bool *is_listed = calloc(contest->count + 1, sizeof *is_listed);
    if (is_listed == NULL || !cli_contest_listed(contest, &listed, &count)) {
        free(is_listed);
        return sim_fail_memory(error);
    }
    print_head(contest);
    print_heading(&contest->terms);
    for (size_t i = 0; i < count; i++) {
        print_entrant(&contest->entrants[listed[i]], &contest->terms, has_colour);
        is_listed[listed[i]] = true;
    }
    print_rest(contest, is_listed);
    print_legend(contest);
    free(listed);
    free(is_listed);
    return true;
}

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

/* How long a table without buckets stays within the limits: by `unbucketed`, if it competes. */
static struct report_horizon horizon_of(const struct tune_contest *contest)
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
    return has_margin(contest, index) || entrant->is_own || entrant->is_endless ||
           entrant->status > TUNE_WITHIN;
}

struct report_answer *cli_contest_answer(const struct tune_contest *contest)
{
    const struct report_terms terms = {.limits = &contest->scenario->limits,
                                       .prices = &contest->scenario->prices,
                                       .horizon = horizon_of(contest)};
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
    percent_text(tune_mean_of(entrant, TUNE_OVER), number);
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
        percent_text(entrant->judgment.share_most, number);
        cli_say(what, "up to %s %% of partitions may exceed a limit", number);
        cli_say(cure, "raise --seeds or duration, as there are too few partitions to tell");
        return;
    }
    switch (entrant->failed) {
    case TUNE_IN_LIMITS:
        say_limits(contest, entrant, what, cure);
        break;
    case TUNE_NOT_TINY:
        percent_text(tune_mean_of(entrant, TUNE_TINY), number);
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
        percent_text(refused_of(entrant), number);
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

/* --- JSON */

static const char *const figure_names[TUNE_FIGURE_COUNT] = {
    [TUNE_COST] = "cost_per_1000_rows",
    [TUNE_COST_WRITE] = "cost_of_writes_per_1000_rows",
    [TUNE_CV] = "partitions.closed.rows.cv",
    [TUNE_PER_READ] = "reads.partitions_per_read.mean",
    [TUNE_PER_READ_P99] = "reads.partitions_per_read.p99",
    [TUNE_P99_BYTES] = "partitions.all.bytes.p99",
    [TUNE_OVER] = "partitions.over_limit.share",
    [TUNE_TINY] = "partitions.tiny.share",
    [TUNE_OPS] = "writes.extra_ops_per_1000_rows",
    [TUNE_INCREMENTS] = "writes.counter_increments_per_1000_rows",
    [TUNE_ROWS_MEAN] = "partitions.rows.mean",
    [TUNE_BYTES_MEAN] = "partitions.bytes.mean",
    [TUNE_FIRST_OVER] = "partitions.first_over_days",
    [TUNE_ROWS] = "writes.rows",
    [TUNE_REFUSED] = "writes.refused",
    [TUNE_REPLACED] = "rows.overwritten",
    [TUNE_MISROUTED] = "writes.misrouted",
    [TUNE_READS] = "reads.count",
    [TUNE_READS_FAILED] = "reads.failed",
    [TUNE_WRITE_P999] = "latency.write.p999",
};
static const char *const demand_names[TUNE_DEMAND_COUNT] = {
    [TUNE_IN_LIMITS] = "limits",
    [TUNE_NOT_TINY] = "tiny",
    [TUNE_FEW_PER_READ] = "partitions_per_read",
    [TUNE_FINDABLE] = "findable",
    [TUNE_AVAILABLE] = "available",
    [TUNE_ANSWERED] = "reads",
    [TUNE_GUARANTEED] = "guarantees",
};

static json_t *asked_of(const struct tune_contest *contest)
{
    const struct lab_tune *terms = &contest->terms;
    const struct lab_limits *limits = &contest->scenario->limits;
    return CLI_OBJECT(
        {"partition_rows",
         limits->partition_rows == 0 ? json_null() : cli_json_whole(limits->partition_rows)},
        {"partition_bytes",
         limits->partition_bytes == 0 ? json_null() : cli_json_whole(limits->partition_bytes)},
        {"over_limit_share", cli_json_number(terms->share)},
        {"tiny", terms->tiny < 0 ? json_null() : cli_json_number(terms->tiny)},
        {"partitions_per_read",
         terms->partitions_per_read == 0 ? json_null() : cli_json_number(terms->partitions_per_read)},
        {"confidence", cli_json_number(terms->confidence)}, {"tolerance", cli_json_number(terms->tolerance)},
        {"seeds", json_integer(terms->seeds)});
}

/* A number that tune varies. */
static json_t *number_of(const struct lab_setting *setting, const void *value)
{
    const uint64_t *whole = value;
    switch (setting->type) {
    case LAB_SETTING_DURATION:
        return cli_json_number((double)*(const int64_t *)value / 1e9);
    case LAB_SETTING_CHANCE:
        return cli_json_number((double)whole[0] / (double)whole[1]);
    case LAB_SETTING_CHOICE:
        return json_string(lab_setting_word(setting->words, *(const int *)value));
    case LAB_SETTING_U32:
        return json_integer(*(const uint32_t *)value);
    default:
        return cli_json_whole(*whole);
    }
}

static json_t *settings_of(const struct lab_settings *settings)
{
    json_t *object = json_object();
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        char name[32];
        if (!setting->is_rung || !lab_setting_is_said(setting, settings, 0, LAB_ZERO_WRITTEN))
            continue;
        snprintf(name, sizeof name, "%s%s", setting->path, setting->type == LAB_SETTING_DURATION ? "_s" : "");
        object =
            cli_json_with(object, name,
                          number_of(setting, (const unsigned char *)settings +
                                                 lab_setting_place(setting, settings->strategy.kind, 0)));
    }
    return object;
}

/* Means over seeds with their intervals, at the requested confidence; for the share above a limit, the
 * interval by which it was judged. null: no bound. */
static json_t *metrics_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_judgment *judgment = &entrant->judgment;
    json_t *object = json_object();
    for (int i = 0; i < TUNE_FIGURE_COUNT; i++) {
        struct tune_sample sample = tune_figures_of(entrant, (enum tune_figure)i);
        if (sample.count == 0)
            continue;
        struct tune_interval interval = tune_sample_mean_interval(&sample, contest->terms.confidence);
        if (i == TUNE_OVER && isnan(judgment->share_most)) /* every seed has the same partitions */
            interval = (struct tune_interval){sample.mean, sample.mean};
        else if (i == TUNE_OVER)
            interval = (struct tune_interval){lab_share_least(judgment->over, judgment->partitions,
                                                              1 - (1 - contest->terms.confidence) / 2),
                                              judgment->share_most};
        object = cli_json_with(object, figure_names[i],
                               CLI_OBJECT({"mean", cli_json_number(sample.mean)},
                                          {"low", cli_json_number(interval.low)},
                                          {"high", cli_json_number(interval.high)}));
    }
    return object;
}

static json_t *requirements_of(const struct tune_entrant *entrant)
{
    json_t *list = json_array();
    for (unsigned i = 0; list != NULL && i < LAB_REQUIREMENT_COUNT; i++) {
        if ((entrant->requirements >> i & 1) != 0)
            list = cli_json_append(list, json_string(lab_requirement_name((enum lab_requirement)i)));
    }
    return list;
}

static json_t *candidate_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_facts *known = &entrant->known;
    char yaml[TUNE_STRATEGY_TEXT_SIZE];
    tune_strategy_text(&entrant->strategy, yaml);
    json_t *object = CLI_OBJECT(
        {"label", json_string(entrant->strategy.label)},
        {"kind", json_string(bk_kind_name(entrant->strategy.settings.strategy.kind))},
        {"settings", settings_of(&entrant->strategy.settings)}, {"yaml", json_string(yaml)},
        {"template", json_string(entrant->base)}, {"own", json_boolean(entrant->is_own)},
        {"requires", requirements_of(entrant)}, {"grows", json_boolean(entrant->is_endless)},
        {"status", json_string(tune_status_name(entrant->status))},
        {"judged_by", json_string(lab_judged_by_name(entrant->judgment.by))},
        {"expected_share", known->has_distribution ? cli_json_number(known->expected_share) : json_null()},
        {"horizon_days", cli_json_number(tune_contest_first_over(contest, entrant))},
        {"seeds", json_integer(entrant->seeds)}, {"metrics", metrics_of(contest, entrant)});
    if (entrant->status == TUNE_EXCEEDS || entrant->status == TUNE_DISQUALIFIED)
        object = cli_json_with(object, "fails_by", json_string(demand_names[entrant->failed]));
    return object;
}

static json_t *candidates_of(const struct tune_contest *contest)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < contest->count; i++)
        list = cli_json_append(list, candidate_of(contest, &contest->entrants[i]));
    return list;
}

static json_t *steps_of(const struct tune_margin *margin)
{
    static const char *const words[] = {"not judged", "within", "exceeds"};
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < TUNE_MARGIN_STEPS; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        json_t *object =
            CLI_OBJECT({"times", cli_json_number(step->factor)}, {"within", json_string(words[step->within])},
                       {"judged_by", json_string(lab_judged_by_name(step->judgment.by))});
        if (step->is_run) {
            object = cli_json_with(object, figure_names[TUNE_OVER],
                                   cli_json_number(step->seen.figures[TUNE_OVER]));
            object = cli_json_with(object, "rows_max", cli_json_whole(step->seen.rows_most));
            object = cli_json_with(object, "bytes_max", cli_json_whole(step->seen.bytes_most));
        }
        list = cli_json_append(list, object);
    }
    return list;
}

static json_t *margins_of(const struct tune_contest *contest)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < contest->margin_count; i++) {
        const struct tune_margin *margin = &contest->margins[i];
        if (!margin->is_tried)
            continue;
        list = cli_json_append(
            list, CLI_OBJECT({"label", json_string(contest->entrants[margin->entrant].strategy.label)},
                             {"rates", steps_of(margin)}));
    }
    return list;
}

static json_t *lead_of(const struct tune_contest *contest)
{
    if (contest->led == SIZE_MAX)
        return json_null();
    return CLI_OBJECT({"label", json_string(contest->entrants[contest->led].strategy.label)},
                      {"formula_s", cli_json_number(tune_contest_lead_ms(contest) / 1000)});
}

/* null: a synthetic stream, or a trace of less than four weeks. */
static json_t *growth_of(const struct tune_contest *contest)
{
    const struct tune_growth *growth = &contest->growth;
    if (growth->weeks < TUNE_GROWTH_WEEKS)
        return json_null();
    return CLI_OBJECT({"weeks", cli_json_whole(growth->weeks)}, {"per_day", cli_json_number(growth->per_day)},
                      {"doubles_days", cli_json_number(tune_growth_doubles(growth))});
}

static json_t *prices_of(const struct tune_contest *contest)
{
    json_t *object = json_object();
    for (size_t i = 0; i < lab_price_count; i++)
        object =
            cli_json_with(object, lab_price_table[i].name,
                          cli_json_number(lab_price_of(&contest->scenario->prices, &lab_price_table[i])));
    return object;
}

/* A list: the headline, and the lines. */
static json_t *why_of(const struct report_answer *answer)
{
    json_t *list = cli_json_append(json_array(), json_string(answer->headline));
    for (size_t i = 0; i < answer->line_count; i++)
        list = cli_json_append(list, json_sprintf("%s: %s", answer->lines[i].label, answer->lines[i].text));
    return list;
}

json_t *cli_contest_json(const struct tune_contest *contest)
{
    const struct lab_scenario *scenario = contest->scenario;
    const double days_left = horizon_of(contest).days_left;
    struct cli_saying notes = {.used = 0};
    struct report_answer *answer = cli_contest_answer(contest);
    if (answer == NULL)
        return NULL;
    cli_contest_notes(contest, &notes);
    json_t *why = why_of(answer);
    report_answer_free(answer);
    return CLI_OBJECT({"scenario", json_string(scenario->name)}, {"seed", cli_json_whole(scenario->seed)},
                      {"asked", asked_of(contest)}, {"candidates", candidates_of(contest)},
                      {"recommended", candidate_of(contest, &contest->entrants[contest->recommended])},
                      {"why", why}, {"growth", growth_of(contest)}, {"prices", prices_of(contest)},
                      {"unbucketed_days_left", cli_json_number(days_left)},
                      {"needs_buckets", json_boolean(!(days_left >= REPORT_ENOUGH_DAYS))},
                      {"notes", json_string(notes.buffer)}, {"margin", margins_of(contest)},
                      {"lead", lead_of(contest)});
}
