/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints tune's comparison of settings as a table. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/contest_answer.h"
#include "cli/table.h"
#include "cli/text.h"

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
    cli_percent(terms->share, share);
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
    cli_percent(terms->tiny, share);
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
    cli_percent(tune_mean_of(entrant, TUNE_OVER), text);
    printf("%7s", text);
    cli_percent(entrant->seeds > 0 ? entrant->judgment.share_most : entrant->known.expected_share, text);
    printf("%8s", text);
    if (terms->tiny >= 0) {
        cli_percent(tune_mean_of(entrant, TUNE_TINY), text);
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
