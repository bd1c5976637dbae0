/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints which settings `tune` recommends, as text or as JSON. */
#include "tune_answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/strategy.h"
#include "cli/json.h"
#include "cli/text.h"

#define SHARE_SURE    1e-30 /* smallest tail probability that is accurate */
#define LINES_MAX     12    /* the most lines for chances that are not powers of 2 */
#define DIGITS_WHOLE  99999999
#define TEXT_SIZE     1024
#define LINE_END      80
#define ODDS_MEAN_MAX 0x1p53 /* limit of `odds` */
#define CV_UNEVEN     0.5

struct text {
    char buffer[TEXT_SIZE];
    size_t used;
};

static json_t *candidate_as_json(const struct cli_tune_answer *answer, const struct tune_candidate *candidate)
{
    const struct tune_distribution *distribution = &candidate->distribution;
    int bits = cli_tune_bits(candidate->one_in);
    char chance[CLI_NUMBER_SIZE];
    snprintf(chance, sizeof chance, "1/%" PRIu64, candidate->one_in);
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "bits",
                                bits >= 0 && bits <= (int)BK_BITS_MAX ? json_integer(bits) : json_null()) &&
                   (answer->chances.powers || cli_json_set(object, "probability", json_string(chance))) &&
                   cli_json_set(object, "threshold", cli_json_whole(distribution->threshold)) &&
                   cli_json_set(object, "mean_rows", cli_json_number(tune_mean_rows(distribution))) &&
                   cli_json_set(object, "p_below", cli_json_number(candidate->below)) &&
                   cli_json_set(object, "p_above", cli_json_number(candidate->above)) &&
                   cli_json_set(object, "counter_increments_per_1000_rows",
                                cli_json_number(tune_increments_per_1000_rows(distribution)));
    return cli_json_complete(object, is_fine);
}

static __attribute__((format(printf, 2, 3))) void say(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->buffer + text->used, sizeof text->buffer - text->used, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < sizeof text->buffer - text->used)
        text->used += (size_t)length;
}

static void say_rarer(const struct cli_tune_answer *answer, struct text *text)
{
    const struct tune_found *found = &answer->found;
    char chance[64], risk[CLI_NUMBER_SIZE];
    if (!found->has_rarer) {
        say(text, " No lower probability was tried%s.",
            answer->chances.powers && answer->chances.most == UINT64_C(1) << BK_BITS_MAX
                ? ": a setting has at most 32 bits"
                : "");
        return;
    }
    cli_tune_chance(&answer->chances, found->rarer.one_in, chance, sizeof chance);
    cli_tune_share_above(found->rarer.best_risk, answer->goal.risk, risk);
    say(text,
        " With %s, the next cheaper probability, no threshold stays within the risk: the best one, %" PRIu64
        ", has a risk of %s.",
        chance, found->rarer.best, risk);
}

static void say_commoner(const struct cli_tune_answer *answer, struct text *text)
{
    const struct tune_found *found = &answer->found;
    if (!answer->chances.powers || found->fit_count < 2)
        return;
    char chance[64], risk[CLI_NUMBER_SIZE];
    const struct tune_fit *next = &found->fits[1];
    const struct tune_distribution distribution = {1.0 / (double)next->one_in, next->best};
    cli_tune_chance(&answer->chances, next->one_in, chance, sizeof chance);
    cli_tune_share(next->best_risk, 2, risk);
    say(text,
        " With %s and threshold %" PRIu64
        ", at twice the increments, the standard deviation is %.3g %% of the mean and "
        "the risk %s.",
        chance, next->best, 100 * tune_stddev_rows(&distribution) / tune_mean_rows(&distribution), risk);
}

static void say_why(const struct cli_tune_answer *answer, struct text *text)
{
    const struct tune_candidate *best = &answer->found.recommended;
    const struct tune_distribution *distribution = &best->distribution;
    char chance[64], below[CLI_NUMBER_SIZE], above[CLI_NUMBER_SIZE], both[CLI_NUMBER_SIZE];
    cli_tune_chance(&answer->chances, best->one_in, chance, sizeof chance);
    double mean = tune_mean_rows(distribution), stddev = tune_stddev_rows(distribution);
    say(text,
        "With %s and threshold %" PRIu64
        " a partition has %.15g rows on average, with a standard deviation of "
        "%.5g (%.3g %% of the mean%s).",
        chance, distribution->threshold, mean, stddev, 100 * stddev / mean,
        stddev > CV_UNEVEN * mean ? ", which is uneven" : "");
    cli_tune_share(best->below, 2, below);
    cli_tune_share(best->above, 2, above);
    double risk = tune_risk(distribution, &answer->goal);
    cli_tune_share(risk, 3, both);
    if (distribution->p == 1)
        say(text, " Every row counts, so none has fewer or more.");
    else if (answer->goal.rows_min <= 1)
        say(text, " %s have more than %" PRIu64 " rows (%.6g %% allowed).", above, answer->goal.rows_max,
            100 * answer->goal.risk);
    else
        say(text,
            " %s have fewer than %" PRIu64 " rows and %s more than %" PRIu64
            ", %s together (%.6g %% allowed).",
            below, answer->goal.rows_min, above, answer->goal.rows_max, both, 100 * answer->goal.risk);
    if (risk > 0 && risk < 0.5 && distribution->p < 1) {
        char one_in[CLI_NUMBER_SIZE];
        cli_compact(1 / risk, 3, one_in);
        say(text, " That is one partition in %s.", one_in);
    }
    say(text, " That costs %.4g counter increments per 1000 rows.",
        tune_increments_per_1000_rows(distribution));
    say_rarer(answer, text);
    say_commoner(answer, text);
}

json_t *cli_tune_json(const struct cli_tune_answer *answer)
{
    const struct tune_found *found = &answer->found;
    struct text why = {.used = 0};
    say_why(answer, &why);
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < found->candidate_count; i++)
        list = cli_json_append(list, candidate_as_json(answer, &found->candidates[i]));
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "candidates", list) &&
        cli_json_set(object, "left_out", found->is_counted ? cli_json_whole(found->left_out) : json_null()) &&
        cli_json_set(object, "recommended", candidate_as_json(answer, &found->recommended)) &&
        cli_json_set(object, "why", json_string(why.buffer));
    return cli_json_complete(object, is_fine);
}

/* Exact up to 8 digits. */
static void whole_text(uint64_t value, char *buffer)
{
    if (value <= DIGITS_WHOLE)
        snprintf(buffer, CLI_NUMBER_SIZE, "%" PRIu64, value);
    else
        cli_compact((double)value, 6, buffer);
}

static void print_fit(const struct cli_tune_answer *answer, const struct tune_fit *fit, bool is_recommended)
{
    const struct tune_distribution distribution = {1.0 / (double)fit->one_in, fit->best};
    char chance[CLI_NUMBER_SIZE], first[CLI_NUMBER_SIZE], last[CLI_NUMBER_SIZE], best[CLI_NUMBER_SIZE],
        risk[CLI_NUMBER_SIZE], mean[CLI_NUMBER_SIZE], stddev[CLI_NUMBER_SIZE], range[2 * CLI_NUMBER_SIZE + 2];
    if (answer->chances.powers)
        snprintf(chance, sizeof chance, "%d", cli_tune_bits(fit->one_in));
    else
        whole_text(fit->one_in, chance);
    whole_text(fit->first, first);
    whole_text(fit->last, last);
    whole_text(fit->best, best);
    snprintf(range, sizeof range, "%s%s%s", first, fit->last > fit->first ? ".." : "",
             fit->last > fit->first ? last : "");
    cli_tune_share(fit->best_risk, 2, risk);
    cli_compact(tune_mean_rows(&distribution), 6, mean);
    cli_compact(tune_stddev_rows(&distribution), 6, stddev);
    printf("%c %9s  %-19s %8s %10s %10.4g %8s %7s\n", is_recommended ? '*' : ' ', chance, range, best, risk,
           tune_increments_per_1000_rows(&distribution), mean, stddev);
}

static void print_rest(const struct cli_tune_answer *answer, size_t shown)
{
    const struct tune_found *found = &answer->found;
    if (shown < found->fit_count || !found->is_counted)
        printf("  and every number below %" PRIu64 "; --json lists their thresholds, too\n",
               found->fits[shown - 1].one_in);
    printf("\n* recommended: of the settings with the fewest increments the one of least risk");
}

void cli_tune_print(const struct cli_tune_answer *answer)
{
    const struct tune_found *found = &answer->found;
    const struct tune_candidate *best = &found->recommended;
    struct text why = {.used = 0};
    say_why(answer, &why);
    printf("rows %" PRIu64 "..%" PRIu64 " at a risk of %.6g %% or less\n\n", answer->goal.rows_min,
           answer->goal.rows_max, 100 * answer->goal.risk);
    printf("  %9s  %-19s %8s %10s %10s\n", "", "thresholds", "the best", "its", "increments");
    printf("  %9s  %-19s %8s %10s %10s %8s %7s\n", answer->chances.powers ? "bits" : "one in", "within risk",
           "of them", "risk", "per 1000", "mean", "stddev");
    size_t shown = answer->chances.powers || found->fit_count <= LINES_MAX ? found->fit_count : LINES_MAX;
    for (size_t i = 0; i < shown; i++)
        print_fit(answer, &found->fits[i], i == 0);
    print_rest(answer, shown);
    cli_print_wrapped(why.buffer, LINE_END);
    printf("\n\n");
    if (tune_mean_rows(&best->distribution) > ODDS_MEAN_MAX)
        return;
    int bits = cli_tune_bits(best->one_in);
    if (bits >= 0 && bits <= (int)BK_BITS_MAX)
        printf("  bucketlab odds --bits %d", bits);
    else
        printf("  bucketlab odds --probability 1/%" PRIu64, best->one_in);
    printf(" --threshold %" PRIu64 " --below %" PRIu64 " --above %" PRIu64 "\n", best->distribution.threshold,
           answer->goal.rows_min, answer->goal.rows_max);
}

void cli_tune_chance(const struct tune_chances *chances, uint64_t one_in, char *buffer, size_t size)
{
    if (chances->powers)
        snprintf(buffer, size, "%d bit%s", cli_tune_bits(one_in), one_in == 2 ? "" : "s");
    else
        snprintf(buffer, size, "one row in %" PRIu64, one_in);
}

void cli_tune_share(double share, int digits, char *buffer)
{
    if (share > 0 && share < SHARE_SURE)
        snprintf(buffer, CLI_NUMBER_SIZE, "<%.0e %%", 100 * SHARE_SURE);
    else
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*g %%", share < 0.99 ? digits : digits + 2, 100 * share);
}

void cli_tune_share_above(double share, double limit, char *buffer)
{
    int digits = share < 0.99 ? 2 : 4;
    do
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*g %%", digits, 100 * share);
    while (strtod(buffer, NULL) <= 100 * limit && digits++ < 17);
}

int cli_tune_bits(uint64_t one_in)
{
    int bits = 0;
    for (; one_in % 2 == 0; one_in /= 2)
        bits++;
    return one_in == 1 ? bits : -1;
}
