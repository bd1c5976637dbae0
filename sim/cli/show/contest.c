/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `tune SCENARIO`. In: a contest. Out: JSON; a table, which is a view of it; sentences; a chart
 * of the JSON; without a recommendation, the setting that came nearest and a remedy. */
#include "cli/contest_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "cli/result.h"
#include "lab/quantity.h"
#include "lab/setting.h"
#include "reports/answer.h"
#include "reports/output.h"
#include "tune/contest.h"
#include "workload/workload.h"

#define LABEL_COLUMNS 19
/* The most settings within the limits that are listed, in addition to the best of each kind and the
 * scenario's own. */
#define LISTED_MOST 10

/* What a setting may fail by: its name in JSON, the word in its line, the legend of the word, what a refusal
 * says, and the cure. The first ones are failed by the settings that came nearest. `what` follows the figure,
 * and the figure stands between the two parts of a cure. */
static const struct {
    const char *name, *word, *legend;
    int distance;
    const char *what, *cure, *cure_end;
} failures[TUNE_DEMAND_COUNT] = {
    [TUNE_IN_LIMITS] = {"limits", "exceeds", NULL, 3, NULL, NULL, NULL},
    [TUNE_NOT_TINY] = {"tiny", "tiny", "tiny: too many of its closed partitions are tiny", 1,
                       "% of closed partitions are tiny", "raise tune.tiny to ",
                       "%, or lower limits.tiny_rows"},
    [TUNE_FEW_PER_READ] = {"partitions_per_read", "reads", "reads: too many partitions per read", 2,
                           " partitions or more are queried by 1% of the reads",
                           "raise tune.partitions_per_read to ", ""},
    [TUNE_FINDABLE] = {"findable", "unfound", "unfound: readers miss rows that are in the table", 5,
                       "readers miss rows", "add coordination: guarded, or remove 'faults'", NULL},
    [TUNE_AVAILABLE] = {"available", "refuses", "refuses: its agents refuse rows although nothing has failed",
                        4, "% of the rows are refused although nothing has failed",
                        "raise agents.timeout or agents.retries, or add coordination: guarded", NULL},
    [TUNE_ANSWERED] = {"reads", "reads fail", "reads fail: readers get no answer", 6, "reads fail",
                       "raise agents.timeout, or remove 'faults'", NULL},
    [TUNE_GUARANTEED] = {"guarantees", "broken",
                         "broken: rows are in another bucket than they should be, or a guarantee is broken",
                         7, "a guarantee is broken", "add coordination: guarded, or remove 'faults'", NULL},
};

/* --- the table */

static bool keeps_growing(const struct tune_entrant *entrant)
{
    return entrant->is_endless && entrant->status <= TUNE_NOT_JUDGED;
}

static bool is_good(const struct tune_entrant *entrant)
{
    return entrant->status <= TUNE_WITHIN && !entrant->is_endless;
}

/* The order of the table: by status, then by cost, but settings that exceed a limit by the share of their
 * partitions; then as they were entered. */
static int compare_entrants(const void *left, const void *right)
{
    const struct tune_entrant *one = *(const struct tune_entrant *const *)left,
                              *other = *(const struct tune_entrant *const *)right;
    const int mine = (int)one->status + keeps_growing(one), its = (int)other->status + keeps_growing(other);
    const enum tune_figure by = one->status == TUNE_EXCEEDS ? TUNE_OVER : TUNE_COST;
    const double figure = tune_mean_of(one, by), its_figure = tune_mean_of(other, by);
    if (mine != its)
        return mine - its;
    if (figure < its_figure || isnan(figure) != isnan(its_figure))
        return isnan(figure) ? 1 : -1;
    return figure > its_figure ? 1 : (one > other) - (one < other);
}

const struct tune_entrant **cli_contest_listed(const struct tune_contest *contest, size_t *count)
{
    const struct tune_entrant **listed = g_new(const struct tune_entrant *, contest->count + 1);
    size_t within = 0;
    unsigned met = 0; /* kinds of which one was run */
    *count = 0;
    for (size_t i = 0; i < contest->count; i++)
        listed[i] = &contest->entrants[i];
    qsort(listed, contest->count, sizeof *listed, compare_entrants);
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = listed[i];
        const unsigned kind = entrant->seeds > 0 ? 1u << entrant->strategy.settings.strategy.kind : 0;
        if ((is_good(entrant) && within++ < LISTED_MOST) || entrant->is_own || entrant->margin != NULL ||
            (kind & ~met) != 0)
            listed[(*count)++] = entrant;
        met |= kind;
    }
    return listed;
}

static const char verdict[] = "verdict", per_read_p99[] = "reads.partitions_per_read.p99",
                  tiny_share[] = "partitions.tiny.share";
static const char *const peaks[LAB_RATES] = {"writes_per_s", "reads_per_s"};
static const struct cli_column columns[] = {
    {"setting", "label", CLI_LABEL, .group = NULL},
    {"cost", "cost_per_1000_rows", CLI_SHORT, .group = NULL,
     .legend = "cost: operations in addition to the inserts, and partitions read, in inserts per 1000 rows"},
    {"writes", "cost_of_writes_per_1000_rows", CLI_SHORT, .group = "of",
     .legend = "of writes: the same without reads"},
    {"read", "reads.partitions_per_read.mean", CLI_SHORT, .group = "parts/",
     .legend = "parts/read: partitions per read"},
    {"CV", "cv", CLI_SHORT, .group = NULL,
     .legend = "CV: coefficient of variation of a full partition's rows, where its distribution is known, or "
               "of closed partitions' rows"},
    {"p99", "partitions.all.bytes.p99", CLI_BYTES, .group = NULL, .legend = "p99: bytes of all partitions"},
    {"seen", "partitions.over_limit.share", CLI_SHARE, .group = "over a limit"},
    {"at most", "over_limit_most", CLI_SHARE, .group = "over a limit"},
    {"writes", "writes_per_s", CLI_NUMBER, .group = "per s",
     .legend = "per s: operations of the busiest partition in its busiest second"},
    {"reads", "reads_per_s", CLI_NUMBER, .group = "per s"},
    {"tiny", tiny_share, CLI_SHARE, .group = NULL,
     .legend = "tiny: share of closed partitions with fewer rows than limits.tiny_rows"},
    {"p99/read", per_read_p99, CLI_SHORT, .group = NULL,
     .legend = "p99/read: partitions that 99 % of reads query at most, mean over the seeds"},
    {"", verdict, CLI_WORDS, .group = NULL},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static unsigned marks_of(const void *context, const json_t *row, const struct cli_column *column)
{
    const char *status = json_string_value(json_object_get(row, "status"));
    (void)context;
    if (column == NULL)
        return strcmp(status, tune_status_name(TUNE_RECOMMENDED)) == 0 ? CLI_CHOICE : 0;
    return column->name == verdict && json_object_get(row, "fails_by") != NULL ? CLI_ALARM : 0;
}

/* Counts the settings that are not listed, by their words. */
static void print_rest(const struct tune_contest *contest, const struct tune_entrant **listed, size_t count)
{
    g_autoptr(GString) rest = g_string_new("");
    int counts[TUNE_STATUS_COUNT] = {0};
    const char *join = "";
    for (size_t i = 0; i < contest->count; i++)
        counts[contest->entrants[i].status]++;
    for (size_t i = 0; i < count; i++)
        counts[listed[i]->status]--;
    if (count == contest->count)
        return;
    g_string_append_printf(rest, "%zu more:", contest->count - count);
    for (unsigned status = 0; status < TUNE_STATUS_COUNT; status++) {
        if (counts[status] == 0)
            continue;
        g_string_append_printf(rest, "%s %d %s", join, counts[status],
                               tune_status_name((enum tune_status)status));
        join = ",";
    }
    g_string_append_printf(rest, "; --json lists them");
    putchar(' ');
    cli_print_indented(rest->str, 1, 2);
    putchar('\n');
}

/* Explains the words that occur. */
static void print_words(const struct tune_contest *contest)
{
    bool is_costly = false, is_growing = false, is_known = false, has_failed[TUNE_DEMAND_COUNT] = {false};
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        is_costly |= entrant->status == TUNE_COSTLY;
        is_growing |= keeps_growing(entrant);
        is_known |=
            (entrant->status == TUNE_EXCEEDS || entrant->status == TUNE_WITHIN) && entrant->seeds == 0;
        has_failed[entrant->failed] |= entrant->status == TUNE_DISQUALIFIED;
    }
    if (is_growing)
        puts("grows: the run has no whole partition; within the limits for this run only");
    if (is_known)
        puts("without figures: by its distribution; not run");
    if (is_costly)
        puts("costly: not run, as another one of its kind is better whatever it would show");
    for (size_t i = 0; i < TUNE_DEMAND_COUNT; i++) {
        if (has_failed[i] && failures[i].legend != NULL)
            puts(failures[i].legend);
    }
}

static json_t *candidate_of(const struct tune_contest *contest, const struct tune_entrant *entrant);

void cli_contest_table(const struct tune_contest *contest)
{
    struct cli_column own[COLUMNS];
    char drawn[CLI_NUMBER_SIZE];
    json_t *rows = json_array();
    size_t count, run = 0;
    for (size_t i = 0; i < contest->count; i++)
        run += contest->entrants[i].seeds > 0;
    g_autofree const struct tune_entrant **listed = cli_contest_listed(contest, &count);
    for (size_t i = 0; i < count; i++) {
        const struct tune_entrant *entrant = listed[i];
        const double most = entrant->seeds > 0 ? entrant->judgment.share_most : entrant->known.expected_share;
        json_t *row = cli_json_with(candidate_of(contest, entrant), "over_limit_most", cli_json_number(most));
        const char *word = keeps_growing(entrant)                 ? "grows"
                           : entrant->status == TUNE_DISQUALIFIED ? failures[entrant->failed].word
                                                                  : tune_status_name(entrant->status);
        rows = cli_json_append(rows, cli_json_with(row, verdict, json_string(word)));
    }
    memcpy(own, columns, sizeof own);
    for (size_t i = 0; i < COLUMNS; i++) { /* a figure that only a demand limits */
        if ((own[i].name == tiny_share && contest->terms.tiny < 0) ||
            (own[i].name == per_read_p99 && contest->terms.partitions_per_read == 0))
            own[i].name = "";
    }
    const struct cli_table table = {.rows = rows,
                                    .columns = own,
                                    .count = COLUMNS,
                                    .label_least = LABEL_COLUMNS,
                                    .label_most = LABEL_COLUMNS,
                                    .has_choice = true,
                                    .marks = marks_of};
    cli_grouped(contest->rows.rows, drawn);
    cli_print_text(stdout, contest->scenario->name);
    printf(": %zu settings run on the same %s rows, seed by seed\n\n", run, drawn);
    cli_table_print(stdout, &table);
    print_rest(contest, listed, count);
    cli_table_legend(&table);
    print_words(contest);
    json_decref(rows);
}

/* --- the answer */

/* A mean over the seeds; 0 if there is none. */
static double count_of(const struct tune_entrant *entrant, enum tune_figure figure)
{
    const double mean = tune_mean_of(entrant, figure);
    return isnan(mean) ? 0 : mean;
}

static double first_over(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    double days;
    if (!tune_contest_first_over(contest, entrant, &days))
        g_error("out of memory");
    return days;
}

static struct report_option option_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const bool is_run = entrant->seeds > 0;
    const struct tune_seen worst = tune_worst_of(entrant);
    struct report_option option = {.label = entrant->strategy.label,
                                   .settings = &entrant->strategy.settings,
                                   .score = {.judgment = entrant->judgment,
                                             .disqualifiers = entrant->disqualifiers,
                                             .cost = is_run
                                                         ? tune_mean_of(entrant, TUNE_COST)
                                                         : tune_candidate_for(contest, entrant).load - 1000,
                                             .candidate = tune_candidate_for(contest, entrant)},
                                   .closed = (double)worst.closed,
                                   .rows_mean = tune_mean_of(entrant, TUNE_ROWS_MEAN),
                                   .bytes_mean = tune_mean_of(entrant, TUNE_BYTES_MEAN),
                                   .rows_max = is_run ? (double)worst.rows_most : (double)NAN,
                                   .bytes_max = is_run ? (double)worst.bytes_most : (double)NAN,
                                   .ops = tune_mean_of(entrant, TUNE_OPS),
                                   .per_read = tune_mean_of(entrant, TUNE_PER_READ),
                                   .first_over_days = first_over(contest, entrant),
                                   .holds_at = (double)NAN,
                                   .fails_at = (double)NAN,
                                   .node_days = tune_mean_of(entrant, TUNE_NODE_DAYS),
                                   .node_bytes = tune_mean_of(entrant, TUNE_NODE_BYTES),
                                   .node_disk = tune_mean_of(entrant, TUNE_NODE_DISK),
                                   .node_writes = tune_mean_of(entrant, TUNE_NODE_WRITES),
                                   .node_reads = tune_mean_of(entrant, TUNE_NODE_READS),
                                   .seeds = entrant->seeds,
                                   .rows = count_of(entrant, TUNE_ROWS),
                                   .refused = count_of(entrant, TUNE_REFUSED),
                                   .refused_share = worst.refused,
                                   .replaced = count_of(entrant, TUNE_REPLACED),
                                   .misrouted = count_of(entrant, TUNE_MISROUTED),
                                   .reads = count_of(entrant, TUNE_READS),
                                   .reads_failed = count_of(entrant, TUNE_READS_FAILED)};
    for (size_t i = TUNE_MARGIN_STEPS; entrant->margin != NULL && i-- > 0;) {
        const struct tune_margin_step *step = &entrant->margin->steps[i];
        if (step->within == LAB_EXCEEDS)
            option.fails_at = step->factor;
        else if (step->within == LAB_WITHIN)
            option.holds_at = fmax(option.holds_at, step->factor);
    }
    option.score.candidate.is_eligible = is_good(entrant);
    return option;
}

/* How long a table without buckets stays within the limits: by `unbucketed`, if it competes. */
static struct report_horizon horizon_of(const struct tune_contest *contest)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    struct report_horizon horizon = {.days_left = (double)NAN,
                                     .doubles_days = tune_growth_doubles(&contest->outlook.growth),
                                     .is_trace = contest->scenario->trace_path != NULL,
                                     .limit_rows = limits->partition_rows,
                                     .limit_bytes = limits->partition_bytes};
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (entrant->strategy.settings.strategy.kind != BK_KIND_UNBUCKETED || !entrant->is_endless ||
            entrant->status != TUNE_WITHIN)
            continue;
        horizon.days_left = first_over(contest, entrant) - contest->outlook.days;
        horizon.rows_most = (double)entrant->seen[0].rows_most;
        horizon.bytes_most = (double)entrant->seen[0].bytes_most;
    }
    return horizon;
}

/* Of the settings within the limits, the recommended one, the best of each other kind and the scenario's own
 * are in the answer. */
void cli_contest_answer(const struct tune_contest *contest, struct report_arena *arena,
                        struct report_answer *out)
{
    const struct report_terms terms = {.limits = &contest->scenario->limits,
                                       .prices = &contest->scenario->prices,
                                       .horizon = horizon_of(contest)};
    size_t count, told = 0, chosen = SIZE_MAX;
    g_autofree const struct tune_entrant **listed = cli_contest_listed(contest, &count);
    struct report_option *options = report_take(arena, count, sizeof *options);
    for (size_t i = 0; i < count; i++) {
        const struct tune_entrant *entrant = listed[i];
        if (is_good(entrant) && entrant->margin == NULL && !entrant->is_own)
            continue;
        chosen = entrant == &contest->entrants[contest->recommended] ? told : chosen;
        options[told++] = option_of(contest, entrant);
    }
    report_answer_of(options, told, chosen, &terms, arena, out);
}

static void say_lead(const struct tune_contest *contest, GString *out)
{
    char needed[CLI_NUMBER_SIZE], own[CLI_NUMBER_SIZE];
    if (contest->led == SIZE_MAX)
        return;
    const struct lab_strategy *strategy = &contest->entrants[contest->led].strategy;
    const int64_t needed_ns = (int64_t)tune_contest_lead_ms(contest) * SIM_MS;
    lab_quantity_duration_text(needed_ns, needed, sizeof needed);
    lab_quantity_duration_text(strategy->settings.lead_ns, own, sizeof own);
    g_string_append_printf(
        out, "By its caches, clocks and write latency, the lead of %s must be at least %s: its lead, %s, is ",
        strategy->label, needed, own);
    if (strategy->settings.lead_ns >= needed_ns)
        g_string_append_printf(out, "long enough.");
    else
        g_string_append_printf(out, "too short; use %s.", needed);
}

void cli_contest_notes(const struct tune_contest *contest, GString *out)
{
    char lasts[CLI_SPAN_SIZE];
    say_lead(contest, out);
    if (contest->recommended != SIZE_MAX) {
        const struct tune_entrant *best = &contest->entrants[contest->recommended];
        cli_span(contest->outlook.days, lasts);
        if (tune_worst_of(best).closed == 0 && lab_kind_ends(best->strategy.settings.strategy.kind))
            g_string_append_printf(
                out, "%sNo partition of %s ended within %s, so a longer run may recommend another setting.",
                out->len == 0 ? "" : " ", best->strategy.label, lasts);
    }
    if (contest->left_out > 0)
        g_string_append_printf(
            out,
            "%sLeft out: %zu setting%s that change%s during the run, or that the engine cannot simulate.",
            out->len == 0 ? "" : " ", contest->left_out, contest->left_out == 1 ? "" : "s",
            contest->left_out == 1 ? "s" : "");
}

/* --- no setting is within the limits */

/* The largest value of `risk`. */
#define RISK_MOST 0.5
/* A limit or risk that does not suffice is raised by this factor, this often. */
#define RAISE       1.25
#define RAISES_MOST 24

/* The figure by which a setting misses a demand, shares in percent; NaN if it has none. */
static double missed_by(const struct tune_entrant *entrant)
{
    if (entrant->status == TUNE_NOT_JUDGED || entrant->failed == TUNE_IN_LIMITS)
        return 100 * tune_mean_of(entrant, TUNE_OVER);
    return entrant->failed == TUNE_NOT_TINY       ? 100 * tune_mean_of(entrant, TUNE_TINY)
           : entrant->failed == TUNE_FEW_PER_READ ? ceil(tune_mean_of(entrant, TUNE_PER_READ_P99))
           : entrant->failed == TUNE_AVAILABLE    ? 100 * tune_worst_of(entrant).refused
                                                  : (double)NAN;
}

/* Of the settings that were run and might be recommended, the one that is closest: one that was not judged;
 * then by demand, beginning with the one that most settings meet. */
static const struct tune_entrant *nearest(const struct tune_contest *contest)
{
    const struct tune_entrant *best = NULL;
    int least = 0;
    double figure = 0;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        const bool is_open = entrant->status == TUNE_NOT_JUDGED;
        const int distance = is_open ? 0 : failures[entrant->failed].distance;
        const double its = missed_by(entrant);
        if (entrant->seeds == 0 || entrant->is_endless ||
            (!is_open && entrant->status != TUNE_EXCEEDS && entrant->status != TUNE_DISQUALIFIED))
            continue;
        if (best == NULL || distance < least || (distance == least && its < figure)) {
            best = entrant;
            least = distance;
            figure = its;
        }
    }
    return best;
}

void cli_round_up(double value, int digits, char *buffer)
{
    double nudged = value;
    do {
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*g", digits, nudged);
        nudged += value * 1e-3;
    } while (strtod(buffer, NULL) < value);
}

/* Raises the limits of sizes that are exceeded, or the nearest one, to the largest partition seen or, as its
 * distribution needs, beyond. False: the setting is within none that was tried. */
static bool raise_sizes(const struct tune_contest *contest, const struct tune_entrant *entrant,
                        struct lab_limits *limits)
{
    const struct tune_seen worst = tune_worst_of(entrant);
    const struct lab_limits before = *limits;
    const uint64_t *over = entrant->judgment.over_of;
    const double rows = (double)worst.rows_most, bytes = (double)worst.bytes_most,
                 in_rows = before.partition_rows == 0 ? 0 : rows / (double)before.partition_rows,
                 in_bytes = before.partition_bytes == 0 ? 0 : bytes / (double)before.partition_bytes;
    const bool is_seen = over[LAB_IN_ROWS] + over[LAB_IN_BYTES] > 0,
               has_rows = is_seen ? over[LAB_IN_ROWS] > 0 : in_rows >= in_bytes,
               has_bytes = is_seen ? over[LAB_IN_BYTES] > 0 : !has_rows;
    char number[CLI_NUMBER_SIZE];
    double factor = 1;
    for (int turn = 0; turn < RAISES_MOST; turn++, factor *= RAISE) {
        const double most[] = {factor * fmax(rows, is_seen ? 0 : (double)before.partition_rows),
                               factor * fmax(bytes, is_seen ? 0 : (double)before.partition_bytes)};
        uint64_t to[LAB_SIZE_UNITS];
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            cli_round_up(most[unit], 2, number);
            to[unit] = (uint64_t)(turn == 0 ? most[unit] : strtod(number, NULL));
        }
        limits->partition_rows = has_rows && before.partition_rows != 0 ? to[0] : before.partition_rows;
        limits->partition_bytes = has_bytes && before.partition_bytes != 0 ? to[1] : before.partition_bytes;
        if (tune_contest_try(contest, entrant, limits) == LAB_WITHIN)
            return true;
    }
    *limits = before;
    return false;
}

/* Says which limit is exceeded, and which limits or risk would do: each was tried. */
static void say_limits(const struct tune_contest *contest, const struct tune_entrant *entrant, GString *what,
                       GString *cure)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    const struct lab_judgment *judgment = &entrant->judgment;
    const uint64_t *over = judgment->over_of;
    struct lab_limits raised = *limits, risked;
    char number[CLI_NUMBER_SIZE];
    const unsigned rates = judgment->exceeded >> LAB_SIZE_UNITS;
    for (int i = 0; i < LAB_RATES; i++) {
        if ((rates >> i & 1) == 0)
            continue;
        cli_round_up(judgment->peak[i], 3, number);
        raised.rate[i] = strtod(number, NULL);
        g_string_append_printf(cure, "%s partition_%s to %s/s", cure->len == 0 ? "raise" : " and",
                               lab_rate_name((enum lab_rate)i), number);
    }
    risked = raised;
    if (rates != 0 && judgment->over == 0) {
        g_string_append_printf(
            what, "%% of partitions are too large, but the busiest takes too many operations in a second");
        return;
    }
    if (!(tune_mean_of(entrant, TUNE_OVER) > 0)) {
        struct report_arena arena = {NULL};
        g_string_append(what, report_judged(judgment, limits, &arena));
        report_arena_free(&arena);
    } else {
        if (limits->partition_bytes != 0 && (limits->partition_rows == 0 || over[1] >= over[0]))
            lab_quantity_bytes_text(limits->partition_bytes, number, sizeof number);
        else
            cli_grouped(limits->partition_rows, number);
        g_string_append_printf(what, "%% of partitions exceed %s%s", number,
                               strspn(number, "0123456789,") == strlen(number) ? " rows" : "");
    }
    raise_sizes(contest, entrant, &raised);
    if (raised.partition_rows != limits->partition_rows)
        g_string_append_printf(cure, "%s partition_rows to %" PRIu64, cure->len == 0 ? "raise" : " and",
                               raised.partition_rows);
    if (raised.partition_bytes != limits->partition_bytes) {
        lab_quantity_bytes_text(raised.partition_bytes, number, sizeof number);
        g_string_append_printf(cure, "%s partition_bytes to %s", cure->len == 0 ? "raise" : " and", number);
    }
    const double least = isnan(judgment->share_most) ? judgment->share : judgment->share_most;
    for (double risk = least; risk > 0 && risk <= RISK_MOST; risk *= RAISE) {
        cli_round_up(100 * risk, 3, number);
        risked.over_limit_share = strtod(number, NULL) / 100;
        if (tune_contest_try(contest, entrant, &risked) != LAB_WITHIN)
            continue;
        g_string_append_printf(cure, "%s risk to %s%%", cure->len == 0 ? "raise" : ", or", number);
        break;
    }
    if (cure->len == 0)
        g_string_append(cure, "raise the limits under 'limits', or duration");
}

bool cli_contest_refuse(const struct tune_contest *contest, struct sim_error *error)
{
    const struct tune_entrant *entrant = nearest(contest);
    g_autoptr(GString) what = g_string_new("");
    g_autoptr(GString) cure = g_string_new("");
    char figure[CLI_NUMBER_SIZE] = "";
    if (entrant == NULL)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "%s: no setting stays within the limits: the distribution excludes every one; raise "
                        "the limits under 'limits', or the risk",
                        contest->scenario->path);
    if (!isnan(missed_by(entrant)) &&
        (entrant->status == TUNE_NOT_JUDGED || entrant->failed != TUNE_IN_LIMITS || missed_by(entrant) > 0 ||
         entrant->judgment.exceeded >> LAB_SIZE_UNITS != 0))
        cli_round_up(missed_by(entrant), 3, figure);
    if (entrant->status == TUNE_NOT_JUDGED) {
        g_string_append_printf(what,
                               "%% of partitions are seen to exceed a limit, which are too few to tell");
        g_string_append_printf(cure, "raise --seeds or duration");
    } else if (entrant->failed == TUNE_IN_LIMITS) {
        say_limits(contest, entrant, what, cure);
    } else {
        const char *end = failures[entrant->failed].cure_end;
        g_string_append_printf(what, "%s", failures[entrant->failed].what);
        g_string_append_printf(cure, "%s%s%s", failures[entrant->failed].cure, end != NULL ? figure : "",
                               end != NULL ? end : "");
    }
    return sim_fail(error, SIM_ERROR_CHECK,
                    "%s: no setting stays within the limits: with %s, the nearest, %s%s; %s",
                    contest->scenario->path, entrant->strategy.label, figure, what->str, cure->str);
}

/* --- JSON */

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
        struct tune_sample sample = tune_figures_of(entrant->seen, entrant->seeds, (enum tune_figure)i);
        if (sample.count == 0)
            continue;
        struct tune_interval interval = tune_sample_mean_interval(&sample, contest->terms.confidence);
        if (i == TUNE_OVER && isnan(judgment->share_most)) /* every seed has the same partitions */
            interval = (struct tune_interval){sample.mean, sample.mean};
        else if (i == TUNE_OVER)
            interval = (struct tune_interval){
                lab_share_least(judgment->over, judgment->partitions, contest->terms.confidence),
                judgment->share_most};
        object = cli_json_with(object, tune_figure_names[i],
                               CLI_OBJECT({"mean", cli_json_number(sample.mean)},
                                          {"low", cli_json_number(interval.low)},
                                          {"high", cli_json_number(interval.high)}));
    }
    return object;
}

static json_t *requirements_of(const struct tune_entrant *entrant)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < LAB_REQUIREMENT_COUNT; i++) {
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
        {"horizon_days", entrant->seeds > 0 || entrant->status == TUNE_EXCEEDS
                             ? cli_json_number(first_over(contest, entrant))
                             : json_null()},
        {"seeds", json_integer(entrant->seeds)}, {"metrics", metrics_of(contest, entrant)});
    if (entrant->seeds > 0)
        object = cli_json_with(object, "cv", cli_json_number(tune_candidate_for(contest, entrant).cv));
    for (int i = 0; i < LAB_RATES; i++) {
        if (contest->scenario->limits.rate[i] > 0)
            object = cli_json_with(object, peaks[i], cli_json_number(entrant->judgment.peak[i]));
    }
    if (entrant->status == TUNE_EXCEEDS || entrant->status == TUNE_DISQUALIFIED)
        object = cli_json_with(object, "fails_by", json_string(failures[entrant->failed].name));
    return object;
}

static json_t *candidates_of(const struct tune_contest *contest)
{
    json_t *list = json_array();
    for (size_t i = 0; i < contest->count; i++)
        list = cli_json_append(list, candidate_of(contest, &contest->entrants[i]));
    return list;
}

static json_t *steps_of(const struct tune_margin *margin)
{
    static const char *const words[] = {"not judged", "within", "exceeds"};
    json_t *list = json_array();
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        json_t *object =
            CLI_OBJECT({"times", cli_json_number(step->factor)}, {"within", json_string(words[step->within])},
                       {"judged_by", json_string(lab_judged_by_name(step->judgment.by))});
        if (step->is_run) {
            object = cli_json_with(object, tune_figure_names[TUNE_OVER],
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
    for (size_t i = 0; i < contest->margin_count; i++) {
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
    const struct tune_growth *growth = &contest->outlook.growth;
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

json_t *cli_contest_json(const struct tune_contest *contest)
{
    const struct lab_scenario *scenario = contest->scenario;
    const double days_left = horizon_of(contest).days_left;
    g_autoptr(GString) notes = g_string_new("");
    struct report_arena arena = {NULL};
    struct report_answer answer;
    cli_contest_answer(contest, &arena, &answer);
    cli_contest_notes(contest, notes);
    json_t *why = cli_json_why(&answer);
    report_arena_free(&arena);
    return CLI_OBJECT({"scenario", json_string(scenario->name)}, {"seed", cli_json_whole(scenario->seed)},
                      {"asked", asked_of(contest)}, {"candidates", candidates_of(contest)},
                      {"recommended", candidate_of(contest, &contest->entrants[contest->recommended])},
                      {"why", why}, {"growth", growth_of(contest)}, {"prices", prices_of(contest)},
                      {"unbucketed_days_left", cli_json_number(days_left < 0 ? 0 : days_left)},
                      {"needs_buckets", json_boolean(!(days_left >= REPORT_ENOUGH_DAYS))},
                      {"notes", json_string(notes->str)}, {"margin", margins_of(contest)},
                      {"lead", lead_of(contest)});
}

/* --- the chart, of the answer's JSON, so that `report` can draw it from the database */

#define COST "cost_per_1000_rows"
#define P99  "partitions.all.bytes.p99"

static const char *text(const json_t *object, const char *name)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value != NULL ? value : "";
}

static bool holds(const json_t *candidate)
{
    const char *status = text(candidate, "status");
    return (strcmp(status, "recommended") == 0 || strcmp(status, "within") == 0) &&
           !json_is_true(json_object_get(candidate, "grows"));
}

/* A number of a candidate; NaN when there is none that a chart can show. */
static double figure(const json_t *candidate, const char *name, const char *part)
{
    const json_t *metric = json_object_get(json_object_get(candidate, "metrics"), name);
    const json_t *number = json_object_get(metric, part);
    double value = json_is_number(number) ? json_number_value(number) : (double)NAN;
    return value >= 0 && value <= REPORT_VALUE_MAX ? value : (double)NAN;
}

/* Whether it is the cheapest setting of its kind within the limits; the first of several. */
static bool is_cheapest(const json_t *list, size_t own)
{
    const json_t *mine = json_array_get(list, own), *other;
    double cost = figure(mine, COST, "mean");
    size_t index;
    json_array_foreach(list, index, other)
    {
        double its = figure(other, COST, "mean");
        if (holds(other) && strcmp(text(other, "kind"), text(mine, "kind")) == 0 &&
            (its < cost || (its == cost && index < own)))
            return false;
    }
    return true;
}

/* A point is on the front if no other one is as low in both figures. */
static void mark_front(struct report_front_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        points[i].is_on_front = true;
        for (size_t j = 0; j < count; j++) {
            if (points[j].cost <= points[i].cost && points[j].bytes <= points[i].bytes &&
                (points[j].cost < points[i].cost || points[j].bytes < points[i].bytes))
                points[i].is_on_front = false;
        }
    }
}

/* The recommended setting comes first, so that its name is placed first. */
static size_t take_points(const json_t *answer, struct report_front *front, struct report_front_point *points)
{
    const json_t *list = json_object_get(answer, "candidates");
    size_t count = 0, index;
    for (int turn = 0; turn < 2; turn++) {
        const json_t *candidate;
        json_array_foreach(list, index, candidate)
        {
            bool is_best = strcmp(text(candidate, "status"), "recommended") == 0;
            double cost = figure(candidate, COST, "mean"), p99 = figure(candidate, P99, "mean");
            double low = figure(candidate, P99, "low"), high = figure(candidate, P99, "high");
            if (is_best != (turn == 0) || !holds(candidate) || isnan(cost) || isnan(p99) ||
                count == REPORT_FRONT_MAX)
                continue;
            low = isnan(low) || low < 0 ? p99 : fmin(low, p99);
            high = isnan(high) ? p99 : fmax(high, p99);
            front->has_recommended |= is_best;
            points[count++] = (struct report_front_point){
                .label = text(candidate, "label"),
                .cost = cost,
                .bytes = p99,
                .low = low,
                .high = high,
                .is_best = is_cheapest(list, index),
            };
        }
    }
    mark_front(points, count);
    return count;
}

void cli_contest_front_make(const json_t *answer, struct cli_contest_front *out)
{
    out->front = (struct report_front){.scenario = text(answer, "scenario"), .points = out->points};
    out->front.count = take_points(answer, &out->front, out->points);
}
