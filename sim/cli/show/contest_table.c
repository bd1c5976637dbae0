/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints tune's comparison of strategies as a table. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/contest_answer.h"
#include "cli/table.h"
#include "cli/text.h"

#define LABEL_COLUMNS 19

/* The verdict on a setting that fails, with the reason; no reason if it exceeds a limit, since the two
 * columns before the verdict show that. */
static const char *const failures[TUNE_DEMAND_COUNT] = {
    [TUNE_IN_LIMITS] = "fails",           [TUNE_NOT_TINY] = "fails: tiny",
    [TUNE_FEW_PER_READ] = "fails: reads", [TUNE_FINDABLE] = "fails: unfound",
    [TUNE_AVAILABLE] = "fails: refuses",
};

/* The most settings within the limits that are listed, in addition to the scenario's own. */
#define LISTED_MOST 14

static bool is_in(const struct tune_entrant *entrant)
{
    return entrant->status <= TUNE_UNSURE;
}

static bool keeps_growing(const struct tune_entrant *entrant)
{
    return entrant->is_endless && is_in(entrant);
}

/* Whether its seeds happened to show a larger share over a limit than its exact distribution has. */
static bool has_bad_luck(const struct tune_entrant *entrant)
{
    return tune_was_run(entrant) && entrant->has_distribution &&
           tune_mean_of(entrant, TUNE_OVER) > entrant->over.high;
}

/* Explains the columns, and the verdicts that are there, a line each. */
static void print_legend(const struct tune_race *race, const bool *is_chosen)
{
    static const char *const verdicts[TUNE_STATUS_COUNT] = {
        [TUNE_FRONT] = "front: none that requires no more is as good in writes, CV, parts/read and p99",
        [TUNE_HOLDS] = "in limits: another one is as good in writes, CV, parts/read and p99, or better",
        [TUNE_UNSURE] = "unsure: not seen to fail, but too few partitions to show that it is in limits",
        [TUNE_DOMINATED] = "dominated: dropped; one of its kind is as good in writes, CV, parts/read and p99",
        [TUNE_REFUSED] = "refused: not run; by its exact distribution, too many partitions exceed a limit",
        [TUNE_COSTLY] = "costly: costs too much, or only cuts larger buckets; run in part or not at all",
    };
    static const char *const misses[TUNE_DEMAND_COUNT] = {
        [TUNE_NOT_TINY] = "tiny: too many of its closed partitions are tiny",
        [TUNE_FEW_PER_READ] = "reads: too many partitions per read",
        [TUNE_FINDABLE] = "unfound: readers miss rows that are in the table",
        [TUNE_AVAILABLE] = "refuses: its agents refuse rows although nothing has failed",
    };
    const char *told[TUNE_STATUS_COUNT + 1 + TUNE_DEMAND_COUNT] = {NULL};
    bool is_marked = false;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        is_marked |= is_chosen[i] && has_bad_luck(entrant);
        if (keeps_growing(entrant))
            told[TUNE_STATUS_COUNT] =
                "keeps growing: its partitions never end; within the limits for this run only";
        else
            told[entrant->status] = verdicts[entrant->status];
        if (entrant->status == TUNE_FAILS)
            told[TUNE_STATUS_COUNT + 1 + entrant->failed] = misses[entrant->failed];
    }
    puts("\ncost: operations in addition to the inserts, and partitions read, in inserts\n"
         "per 1000 rows; of writes: the same without reads; parts/read: partitions per\n"
         "read; CV: coefficient of variation of closed partitions' rows; p99: bytes of all\n"
         "partitions");
    if (race->terms.tiny >= 0)
        puts("tiny, %: share of closed partitions with fewer rows than limits.tiny_rows");
    if (race->terms.partitions_per_read > 0)
        puts("p99/read: partitions that 99 % of reads query at most, mean over the seeds");
    if (is_marked)
        puts("=: the share of the exact distribution; these seeds happened to have more");
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        if (told[i] != NULL)
            puts(told[i]);
    }
}

/* The order of the table: the recommended setting; those on the front or within the limits; those that may be
 * within the limits; the rest. Each group is ordered by cost, but settings that fail are ordered by the share
 * of their partitions that is over a limit, and last those that stopped early. */
static bool comes_before(const struct tune_entrant *one, const struct tune_entrant *other)
{
    static const int ranks[TUNE_STATUS_COUNT] = {0, 1, 1, 2, 4, 3, 5, 6};
    int mine = ranks[one->status] + (is_in(one) && one->is_endless), its = ranks[other->status];
    its += is_in(other) && other->is_endless;
    if (mine != its)
        return mine < its;
    const double share = tune_mean_of(one, TUNE_OVER), its_share = tune_mean_of(other, TUNE_OVER);
    if (!tune_was_run(one))
        return one->exact_share < other->exact_share;
    if (one->status == TUNE_FAILS)
        return share < its_share || (isnan(its_share) && !isnan(share));
    return tune_is_cheaper(one, other);
}

static void choose_best(const struct tune_race *race, bool *is_chosen)
{
    for (size_t n = 0; n < LISTED_MOST; n++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < race->count; i++) {
            const struct tune_entrant *entrant = &race->entrants[i];
            if (!is_chosen[i] && is_in(entrant) &&
                (best == SIZE_MAX || comes_before(entrant, &race->entrants[best])))
                best = i;
        }
        if (best == SIZE_MAX)
            return;
        is_chosen[best] = true;
    }
}

/* Whether it is the setting to show for its kind: the first one in the order of the table or, if none is
 * within the limits, the closest one. */
static bool is_of_best_kind(const struct tune_race *race, size_t index)
{
    const struct tune_entrant *mine = &race->entrants[index];
    if (!tune_was_run(mine))
        return false;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *other = &race->entrants[i];
        if (i == index || !tune_was_run(other) ||
            other->strategy.settings.strategy.kind != mine->strategy.settings.strategy.kind)
            continue;
        if (is_in(other) != is_in(mine) ? is_in(other) : comes_before(other, mine))
            return false;
    }
    return true;
}

/* Chooses the settings to list: those within the limits by cost, including the cheapest of each kind; then
 * the scenario's own settings, and for each kind without a setting so far, the closest one. NULL when out of
 * memory. */
static size_t *choose(const struct tune_contest *contest, size_t *count)
{
    const struct tune_race *race = &contest->race;
    size_t *listed = calloc(race->count + 1, sizeof *listed);
    bool *is_chosen = calloc(race->count + 1, sizeof *is_chosen);
    *count = 0;
    if (is_chosen == NULL) {
        free(listed);
        return NULL;
    }
    if (listed != NULL) {
        choose_best(race, is_chosen);
        for (size_t i = 0; i < race->count; i++)
            is_chosen[i] |= race->entrants[i].is_own || is_of_best_kind(race, i);
        for (size_t i = 0; i < race->count; i++) {
            if (!is_chosen[i])
                continue;
            size_t at = (*count)++;
            for (; at > 0 && comes_before(&race->entrants[i], &race->entrants[listed[at - 1]]); at--)
                listed[at] = listed[at - 1];
            listed[at] = i;
        }
    }
    free(is_chosen);
    return listed;
}

static void print_head(const struct tune_contest *contest)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct lab_tune *terms = &contest->race.terms;
    char rows[CLI_NUMBER_SIZE], limit[CLI_NUMBER_SIZE], risk[CLI_NUMBER_SIZE];
    struct cli_saying asked = {.used = 0};
    size_t run = 0;
    for (size_t i = 0; i < contest->race.count; i++)
        run += tune_was_run(&contest->race.entrants[i]);
    cli_grouped(contest->rows.rows, rows);
    cli_percent(terms->share, risk);
    cli_say(&asked, "%zu settings run on the same %s rows, seed by seed; ", run, rows);
    if (terms->share > 0)
        cli_say(&asked, "at most %s %% of partitions above", risk);
    else
        cli_say(&asked, "no partition above");
    if (scenario->limits.partition_rows != 0) {
        cli_grouped(scenario->limits.partition_rows, limit);
        cli_say(&asked, " %s rows%s", limit, scenario->limits.partition_bytes != 0 ? " or" : "");
    }
    cli_compact_bytes((double)scenario->limits.partition_bytes, limit);
    if (scenario->limits.partition_bytes != 0)
        cli_say(&asked, " %s", limit);
    cli_percent(terms->tiny, risk);
    if (terms->tiny >= 0)
        cli_say(&asked, ", at most %s %% of closed ones tiny", risk);
    if (terms->partitions_per_read > 0)
        cli_say(&asked, ", at most %g partitions for 99 %% of reads", terms->partitions_per_read);
    cli_print_text(stdout, scenario->name);
    putchar(':');
    cli_print_wrapped(asked.buffer, cli_text_width(scenario->name) + 1);
    fputs("\n\n", stdout);
}

static const char *verdict_of(enum tune_status status)
{
    return status == TUNE_HOLDS ? "in limits" : tune_status_name(status);
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

static void print_entrant(const struct tune_entrant *entrant, const struct lab_tune *terms, bool has_colour)
{
    const char *verdict = verdict_of(entrant->status), *colour = "";
    size_t width = cli_text_width(entrant->strategy.label);
    char text[1 + CLI_NUMBER_SIZE];
    bool is_good = entrant->status <= TUNE_FRONT, is_refused = !tune_was_run(entrant);
    if (keeps_growing(entrant))
        verdict = "keeps growing";
    if (entrant->status == TUNE_FAILS)
        verdict = failures[entrant->failed];
    if (has_colour)
        colour = is_good ? CLI_GREEN : is_in(entrant) ? "" : CLI_RED;
    fputs(entrant->status == TUNE_RECOMMENDED ? "*" : " ", stdout);
    cli_print_text(stdout, entrant->strategy.label);
    printf("%*s", width > LABEL_COLUMNS ? 0 : (int)(LABEL_COLUMNS - width), "");
    if (width > LABEL_COLUMNS)
        printf("\n%*s", LABEL_COLUMNS + 1, "");
    print_figure(is_refused ? (double)NAN : tune_mean_of(entrant, TUNE_COST), 6);
    print_figure(is_refused ? (double)NAN : tune_mean_of(entrant, TUNE_COST_WRITE), 6);
    print_figure(is_refused ? (double)NAN : tune_mean_of(entrant, TUNE_PER_READ), 6);
    double cv = is_refused ? (double)NAN : tune_mean_of(entrant, TUNE_CV);
    snprintf(text, sizeof text, isnan(cv) ? "-" : "%.2f", cv);
    printf("%7s", text);
    cli_compact_bytes(is_refused ? (double)NAN : tune_mean_of(entrant, TUNE_P99_BYTES), text);
    printf("%7s", text);
    cli_percent(is_refused ? entrant->exact_share : tune_mean_of(entrant, TUNE_OVER), text);
    printf("%7s", text);
    /* One seed gives no interval (the bound is 1), except for partitions that grow with every seed. */
    const bool is_known = entrant->seeds > 1 || entrant->is_endless || entrant->over.high < 1;
    text[0] = '=';
    cli_percent(is_refused || !is_known ? (double)NAN : entrant->over.high, text + 1);
    printf("%8s", has_bad_luck(entrant) ? text : text + 1);
    if (terms->tiny >= 0) {
        cli_percent(is_refused ? (double)NAN : tune_mean_of(entrant, TUNE_TINY), text);
        printf("%8s", text);
    }
    if (terms->partitions_per_read > 0)
        print_figure(is_refused ? (double)NAN : tune_mean_of(entrant, TUNE_PER_READ_P99), 8);
    printf("  %s%s%s\n", colour, verdict, colour[0] == '\0' ? "" : CLI_PLAIN);
}

static void print_rest(const struct tune_race *race, const bool *is_chosen)
{
    size_t counts[TUNE_STATUS_COUNT] = {0}, all = 0;
    for (size_t i = 0; i < race->count; i++) {
        if (!is_chosen[i]) {
            counts[race->entrants[i].status]++;
            all++;
        }
    }
    if (all == 0)
        return;
    struct cli_saying rest = {.used = 0};
    const char *join = "";
    cli_say(&rest, "%zu more:", all);
    for (unsigned status = 0; status < TUNE_STATUS_COUNT; status++) {
        if (counts[status] == 0)
            continue;
        cli_say(&rest, "%s %zu %s", join, counts[status], verdict_of((enum tune_status)status));
        join = ",";
    }
    cli_say(&rest, "; --json lists them");
    cli_print_indented(rest.buffer, 0, 1);
    putchar('\n');
}

bool cli_contest_table(const struct tune_contest *contest, struct sim_error *error)
{
    const struct tune_race *race = &contest->race;
    bool has_colour = cli_has_colour();
    size_t count, *listed = choose(contest, &count);
    bool *is_chosen = calloc(race->count + 1, sizeof *is_chosen);
    if (listed == NULL || is_chosen == NULL) {
        free(listed);
        free(is_chosen);
        return sim_fail_memory(error);
    }
    print_head(contest);
    print_heading(&race->terms);
    for (size_t i = 0; i < count; i++) {
        print_entrant(&race->entrants[listed[i]], &race->terms, has_colour);
        is_chosen[listed[i]] = true;
    }
    print_rest(race, is_chosen);
    print_legend(race, is_chosen);
    free(listed);
    free(is_chosen);
    return true;
}

bool cli_contest_listed(const struct tune_contest *contest, size_t **out, size_t *count)
{
    *out = choose(contest, count);
    return *out != NULL;
}

void cli_percent(double share, char *buffer)
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
