/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab tune: finds the settings that keep partitions within limits. Without a scenario it uses only the
 * exact distribution. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/strategy.h"
#include "cli/base.h"
#include "cli/contest_answer.h"
#include "lab/quantity.h"
#include "tune/odds.h"
#include "tune_scenario.h"

static const struct cli_option options[] = {
    {"risk", "P",
     "the share of partitions that may be over a limit of\n"
     "the scenario (default its limits.over_limit_share), or\n"
     "outside --rows: 0.003, 0.3%, or 1/300, which is one\n"
     "partition in 300"},
    {"rows", "MIN..MAX",
     "without a scenario: rows that a partition should have,\n"
     "by the exact distribution of 'probabilistic'"},
    {"bits", "A..B", "with --rows: the range of bits (default 0..32)"},
    {"probability", "any", "with --rows: try every probability 1/N instead of bits"},
    {"max-increments", "X", "with --rows: at most X counter increments per\n1000 rows (default: any number)"},
    {CLI_OPTION_SEED},
    {"seeds", "N",
     "the most seeds that a setting is run with (default\n"
     "the scenario's tune.seeds, or 8)"},
    {CLI_OPTION_SET},
    {CLI_OPTION_SAMPLE},
    {"db", "FILE",
     "database (default bucketlab.db); the same command\n"
     "resumes from it when it was interrupted"},
    {"emit", "FILE",
     "write the recommended setting in the form that the core's\n"
     "bk_strategy_parse() reads"},
    {"out", "DIR", "folder of the charts (default bucketlab-out)"},
    {CLI_OPTION_FORMAT},
    {"no-charts", NULL, "draw no charts"},
    {CLI_OPTION_JOBS},
    {NULL, NULL, NULL}};

/* Tuning with and without a scenario has different options. */
static bool check_options(const struct cli_args *args, bool is_scenario, struct sim_error *error)
{
    static const char *const of_rows[] = {"rows", "bits", "probability", "max-increments", NULL};
    static const char *const of_scenario[] = {"seed", "seeds",     "set",  "sample", "emit", "out",
                                              "db",   "no-charts", "jobs", "format", NULL};
    for (const char *const *name = is_scenario ? of_rows : of_scenario; *name != NULL; name++) {
        if (cli_has(args, *name))
            return sim_fail(error, SIM_ERROR_INPUT,
                            is_scenario ? "bucketlab: --%s applies only to 'tune' without a scenario; a "
                                          "scenario has its limits under 'limits'"
                                        : "bucketlab: --%s applies only to 'tune SCENARIO'; name a scenario, "
                                          "or leave the option out",
                            *name);
    }
    return true;
}

#define SHARE_SURE    1e-30 /* smallest tail probability that is accurate */
#define LINES_MAX     12    /* the most lines for chances that are not powers of 2 */
#define DIGITS_WHOLE  99999999
#define LINE_END      80
#define ODDS_MEAN_MAX 0x1p53 /* limit of `odds` */
#define CV_UNEVEN     0.5

struct answer {
    struct tune_goal goal;
    struct tune_chances chances;
    struct tune_found found; /* the settings found, with the recommended one */
};

/* --- what is printed */

/* The exponent of a power of 2; -1 for any other number. */
static int bits_of(uint64_t one_in)
{
    int bits = 0;
    for (; one_in % 2 == 0; one_in /= 2)
        bits++;
    return one_in == 1 ? bits : -1;
}

/* Formats a chance: "9 bits", "1 bit", or "one row in 549" if chances other than powers of two are
 * considered. */
static void chance_text(const struct tune_chances *chances, uint64_t one_in, char *buffer, size_t size)
{
    if (chances->powers)
        snprintf(buffer, size, "%d bit%s", bits_of(one_in), one_in == 2 ? "" : "s");
    else
        snprintf(buffer, size, "one row in %" PRIu64, one_in);
}

/* Formats a share in percent: "0.21 %", with this number of digits, and two more near 100 %; "<1e-28 %" below
 * the accuracy of the distribution. */
static void share_text(double share, int digits, char *buffer)
{
    if (share > 0 && share < SHARE_SURE)
        snprintf(buffer, CLI_NUMBER_SIZE, "<%.0e %%", 100 * SHARE_SURE);
    else
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*g %%", share < 0.99 ? digits : digits + 2, 100 * share);
}

/* Formats a share above `limit`, with enough digits to distinguish it from the limit. */
static void share_above_text(double share, double limit, char *buffer)
{
    int digits = share < 0.99 ? 2 : 4;
    do
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*g %%", digits, 100 * share);
    while (strtod(buffer, NULL) <= 100 * limit && digits++ < 17);
}

static json_t *candidate_as_json(const struct answer *answer, const struct tune_candidate *candidate)
{
    const struct tune_distribution *distribution = &candidate->distribution;
    int bits = bits_of(candidate->one_in);
    char chance[CLI_NUMBER_SIZE];
    snprintf(chance, sizeof chance, "1/%" PRIu64, candidate->one_in);
    json_t *object =
        CLI_OBJECT({"bits", bits >= 0 && bits <= (int)BK_BITS_MAX ? json_integer(bits) : json_null()});
    if (!answer->chances.powers)
        object = cli_json_with(object, "probability", json_string(chance));
    object = cli_json_with(object, "threshold", cli_json_whole(distribution->threshold));
    object = cli_json_with(object, "mean_rows", cli_json_number(tune_mean_rows(distribution)));
    object = cli_json_with(object, "p_below", cli_json_number(candidate->below));
    object = cli_json_with(object, "p_above", cli_json_number(candidate->above));
    return cli_json_with(object, "counter_increments_per_1000_rows",
                         cli_json_number(tune_increments_per_1000_rows(distribution)));
}

static void say_rarer(const struct answer *answer, GString *out)
{
    const struct tune_found *found = &answer->found;
    char chance[64], risk[CLI_NUMBER_SIZE];
    if (!found->has_rarer) {
        g_string_append_printf(out, " No lower probability was tried%s.",
                               answer->chances.powers && answer->chances.most == UINT64_C(1) << BK_BITS_MAX
                                   ? ": a setting has at most 32 bits"
                                   : "");
        return;
    }
    chance_text(&answer->chances, found->rarer.one_in, chance, sizeof chance);
    share_above_text(found->rarer.best_risk, answer->goal.risk, risk);
    g_string_append_printf(
        out,
        " With %s, the next cheaper probability, no threshold stays within the risk: the best one, %" PRIu64
        ", has a risk of %s.",
        chance, found->rarer.best, risk);
}

static void say_why(const struct answer *answer, GString *out)
{
    const struct tune_candidate *best = &answer->found.recommended;
    const struct tune_distribution *distribution = &best->distribution;
    char chance[64], below[CLI_NUMBER_SIZE], above[CLI_NUMBER_SIZE], both[CLI_NUMBER_SIZE];
    chance_text(&answer->chances, best->one_in, chance, sizeof chance);
    double mean = tune_mean_rows(distribution), stddev = tune_stddev_rows(distribution);
    g_string_append_printf(out,
                           "With %s and threshold %" PRIu64
                           " a partition has %.15g rows on average, with a standard deviation of "
                           "%.5g (%.3g %% of the mean%s).",
                           chance, distribution->threshold, mean, stddev, 100 * stddev / mean,
                           stddev > CV_UNEVEN * mean ? ", which is uneven" : "");
    share_text(best->below, 2, below);
    share_text(best->above, 2, above);
    double risk = tune_risk(distribution, &answer->goal);
    share_text(risk, 3, both);
    if (distribution->p == 1)
        g_string_append_printf(out, " Every row counts, so none has fewer or more.");
    else if (answer->goal.rows_min <= 1)
        g_string_append_printf(out, " %s have more than %" PRIu64 " rows (%.6g %% allowed).", above,
                               answer->goal.rows_max, 100 * answer->goal.risk);
    else
        g_string_append_printf(out,
                               " %s have fewer than %" PRIu64 " rows and %s more than %" PRIu64
                               ", %s together (%.6g %% allowed).",
                               below, answer->goal.rows_min, above, answer->goal.rows_max, both,
                               100 * answer->goal.risk);
    if (risk > 0 && risk < 0.5 && distribution->p < 1) {
        char one_in[CLI_NUMBER_SIZE];
        cli_compact(1 / risk, 3, one_in);
        g_string_append_printf(out, " That is one partition in %s.", one_in);
    }
    g_string_append_printf(out, " That costs %.4g counter increments per 1000 rows.",
                           tune_increments_per_1000_rows(distribution));
    say_rarer(answer, out);
}

static json_t *answer_as_json(const struct answer *answer)
{
    const struct tune_found *found = &answer->found;
    g_autoptr(GString) why = g_string_new("");
    say_why(answer, why);
    json_t *list = json_array();
    for (size_t i = 0; i < found->candidate_count; i++)
        list = cli_json_append(list, candidate_as_json(answer, &found->candidates[i]));
    return CLI_OBJECT(
        {"candidates", list}, {"left_out", found->is_counted ? cli_json_whole(found->left_out) : json_null()},
        {"recommended", candidate_as_json(answer, &found->recommended)}, {"why", json_string(why->str)});
}

/* Exact up to 8 digits. */
static void whole_text(uint64_t value, char *buffer)
{
    if (value <= DIGITS_WHOLE)
        snprintf(buffer, CLI_NUMBER_SIZE, "%" PRIu64, value);
    else
        cli_compact((double)value, 6, buffer);
}

static void print_fit(const struct answer *answer, const struct tune_fit *fit, bool is_recommended)
{
    const struct tune_distribution distribution = {.p = 1.0 / (double)fit->one_in, .threshold = fit->best};
    char chance[CLI_NUMBER_SIZE], first[CLI_NUMBER_SIZE], last[CLI_NUMBER_SIZE], best[CLI_NUMBER_SIZE],
        risk[CLI_NUMBER_SIZE], mean[CLI_NUMBER_SIZE], stddev[CLI_NUMBER_SIZE], range[2 * CLI_NUMBER_SIZE + 2];
    if (answer->chances.powers)
        snprintf(chance, sizeof chance, "%d", bits_of(fit->one_in));
    else
        whole_text(fit->one_in, chance);
    whole_text(fit->first, first);
    whole_text(fit->last, last);
    whole_text(fit->best, best);
    snprintf(range, sizeof range, "%s%s%s", first, fit->last > fit->first ? ".." : "",
             fit->last > fit->first ? last : "");
    share_text(fit->best_risk, 2, risk);
    cli_compact(tune_mean_rows(&distribution), 6, mean);
    cli_compact(tune_stddev_rows(&distribution), 6, stddev);
    printf("%c %9s  %-19s %8s %10s %10.4g %8s %7s\n", is_recommended ? '*' : ' ', chance, range, best, risk,
           tune_increments_per_1000_rows(&distribution), mean, stddev);
}

static void print_rest(const struct answer *answer, size_t shown)
{
    const struct tune_found *found = &answer->found;
    if (shown < found->fit_count || !found->is_counted)
        printf("  and every number below %" PRIu64 "; --json lists their thresholds, too\n",
               found->fits[shown - 1].one_in);
    printf("\n* recommended: of the settings with the fewest increments the one of least risk");
}

static void print_answer(const struct answer *answer)
{
    const struct tune_found *found = &answer->found;
    const struct tune_candidate *best = &found->recommended;
    g_autoptr(GString) why = g_string_new("");
    say_why(answer, why);
    printf("rows %" PRIu64 "..%" PRIu64 " at a risk of %.6g %% or less\n\n", answer->goal.rows_min,
           answer->goal.rows_max, 100 * answer->goal.risk);
    printf("  %9s  %-19s %8s %10s %10s\n", "", "thresholds", "the best", "its", "increments");
    printf("  %9s  %-19s %8s %10s %10s %8s %7s\n", answer->chances.powers ? "bits" : "one in", "within risk",
           "of them", "risk", "per 1000", "mean", "stddev");
    size_t shown = answer->chances.powers || found->fit_count <= LINES_MAX ? found->fit_count : LINES_MAX;
    for (size_t i = 0; i < shown; i++)
        print_fit(answer, &found->fits[i], i == 0);
    print_rest(answer, shown);
    cli_print_wrapped(why->str, LINE_END);
    printf("\n\n");
    if (tune_mean_rows(&best->distribution) > ODDS_MEAN_MAX)
        return;
    int bits = bits_of(best->one_in);
    if (bits >= 0 && bits <= (int)BK_BITS_MAX)
        printf("  bucketlab odds --bits %d", bits);
    else
        printf("  bucketlab odds --probability 1/%" PRIu64, best->one_in);
    printf(" --threshold %" PRIu64 " --below %" PRIu64 " --above %" PRIu64 "\n", best->distribution.threshold,
           answer->goal.rows_min, answer->goal.rows_max);
}

/* --- what was asked */

/* The most chances that are considered, and the most pairs that are listed, so that the answer is
 * immediate. */
enum { FITS_MAX = 1000, LIST_MAX = 50000 };

/* The range of chances that the options allow. */
struct limits {
    uint64_t bits_least, bits_most;
    double increments;    /* per 1000 rows */
    uint64_t rarity;      /* the smallest N with at most this number of increments; RARITY_NONE: none */
    uint64_t rarity_bits; /* the same in bits; 64: none */
};

/* Parses "A..B", or "A" for A..A. */
static bool read_range(const char *name, const char *text, uint64_t most, const char *example,
                       uint64_t *first, uint64_t *last, struct sim_error *error)
{
    const char *dots = strstr(text, "..");
    char left[CLI_NUMBER_SIZE];
    size_t length = dots != NULL ? (size_t)(dots - text) : strlen(text);
    snprintf(left, sizeof left, "%.*s", (int)(length < sizeof left ? length : sizeof left - 1), text);
    if (length >= sizeof left || lab_quantity_whole(left, first) != NULL ||
        lab_quantity_whole(dots != NULL ? dots + 2 : left, last) != NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --%s %s: not a range; give two whole numbers, as in --%s %s", name, text,
                        name, example);
    if (*first > *last)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --%s %s: ends before it begins; write --%s %" PRIu64 "..%" PRIu64, name,
                        text, name, *last, *first);
    return *last <= most ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --%s %s: out of range; give whole numbers from 0 to %" PRIu64, name, text,
                    most);
}

static bool read_goal(const struct cli_args *args, struct tune_goal *goal, struct sim_error *error)
{
    if (!cli_has(args, "rows"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'tune' needs --rows or a scenario; write --rows 12000..32000, or "
                        "'bucketlab tune SCENARIO'");
    const char *rows = cli_value(args, "rows", "");
    uint64_t exactly;
    if (lab_quantity_whole(rows, &exactly) == NULL && exactly > 0)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --rows %s: no probability gives exactly this number; write --rows 1..%" PRIu64
            " for at most this number, or --rows %" PRIu64 "..%" PRIu64 " for a range",
            rows, exactly, exactly > 3 ? exactly * 3 / 8 : 1, exactly);
    if (!cli_has(args, "risk"))
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: 'tune' needs --risk; write --risk 0.003");
    if (!read_range("rows", rows, TUNE_ROWS_MAX, "12000..32000", &goal->rows_min, &goal->rows_max, error) ||
        !cli_tune_risk(args, 1, &goal->risk, error))
        return false;
    return goal->rows_max > 0 ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --rows %s: a partition has at least one row; write --rows 1..%" PRIu64, rows,
                    UINT64_C(32000));
}

#define RARITY_NONE (TUNE_ONE_IN_MAX + 1)

static bool read_limits(const struct cli_args *args, struct limits *out, struct sim_error *error)
{
    const char *bits = cli_value(args, "bits", NULL), *increments = cli_value(args, "max-increments", NULL);
    if (bits != NULL &&
        !read_range("bits", bits, BK_BITS_MAX, "4..12", &out->bits_least, &out->bits_most, error))
        return false;
    const char *why = increments != NULL ? lab_quantity_number(increments, &out->increments) : NULL;
    if (why != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --max-increments %s: %s", increments, why);
    if (!(out->increments > 0))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --max-increments %s: out of range; give a number above 0, for example 2",
                        increments);
    /* The same expression with which increments are printed. */
    const double least = ceil(1000 / out->increments);
    out->rarity = least < (double)TUNE_ONE_IN_MAX ? (uint64_t)fmax(least, 1) : RARITY_NONE;
    out->rarity += out->rarity < RARITY_NONE && 1000 * (1.0 / (double)out->rarity) > out->increments;
    while (out->rarity_bits < 64 && UINT64_C(1) << out->rarity_bits < out->rarity)
        out->rarity_bits++;
    return true;
}

static bool choose_chances(const struct cli_args *args, const struct limits *limits, struct tune_chances *out,
                           struct sim_error *error)
{
    const char *probability = cli_value(args, "probability", NULL);
    if (probability != NULL && strcmp(probability, "any") != 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --probability %s: 'tune' takes only 'any'; for one probability use "
                        "'bucketlab odds --probability 1/300'",
                        probability);
    if (probability != NULL && cli_has(args, "bits"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --bits and --probability any exclude each other; leave one of them out");
    const char *increments = cli_value(args, "max-increments", "");
    if (probability != NULL && limits->rarity > TUNE_ONE_IN_MAX)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "bucketlab: no setting stays within the limits with --max-increments %s: the lowest "
                        "probability is 1 in 2^63; --max-increments 2e-16 would do",
                        increments);
    if (probability == NULL && limits->rarity_bits > limits->bits_most) {
        char cure[CLI_NUMBER_SIZE], bits[64] = "";
        cli_round_up(1000 * ldexp(1, -(int)limits->bits_most), 3, cure);
        if (limits->rarity_bits <= BK_BITS_MAX)
            snprintf(bits, sizeof bits, " or --bits %" PRIu64, limits->rarity_bits);
        return sim_fail(
            error, SIM_ERROR_CHECK,
            "bucketlab: no setting of up to %" PRIu64
            " bits has as few as %s increments per 1000 rows; --max-increments %s%s is the nearest",
            limits->bits_most, increments, cure, bits);
    }
    uint64_t bits = limits->rarity_bits > limits->bits_least ? limits->rarity_bits : limits->bits_least;
    if (probability != NULL)
        *out = (struct tune_chances){.least = limits->rarity, .most = TUNE_ONE_IN_MAX};
    else
        *out = (struct tune_chances){UINT64_C(1) << bits, UINT64_C(1) << limits->bits_most, true};
    return true;
}

/* More frequent chances always stay within the limits (tune/odds.h), so the most frequent one that was
 * considered is reported. */
static bool refuse(const struct cli_args *args, const struct limits *limits, const struct answer *answer,
                   struct sim_error *error)
{
    const struct tune_fit *nearest = &answer->found.rarer;
    const struct tune_chances below = {1, nearest->one_in, answer->chances.powers};
    uint64_t rarest = tune_rarest(&answer->goal, &below);
    const char *bits = cli_value(args, "bits", NULL), *increments = cli_value(args, "max-increments", NULL);
    char risk[CLI_NUMBER_SIZE], chance[64], limit[160], risk_cure[CLI_NUMBER_SIZE], cure[160] = "",
                                                                                    fewest[CLI_NUMBER_SIZE];
    share_above_text(nearest->best_risk, answer->goal.risk, risk);
    chance_text(&answer->chances, nearest->one_in, chance, sizeof chance);
    if (increments == NULL || (bits != NULL && limits->bits_least >= limits->rarity_bits))
        snprintf(limit, sizeof limit, "--bits %.40s", bits);
    else
        snprintf(limit, sizeof limit, "--max-increments %.40s, that is %s or %s", increments, chance,
                 answer->chances.powers ? "more" : "fewer");
    if (bits != NULL && (uint64_t)bits_of(rarest) < limits->bits_least)
        snprintf(cure, sizeof cure, "--bits %d", bits_of(rarest));
    cli_round_up(1000 * (1.0 / (double)rarest), 3, fewest);
    if (rarest < limits->rarity)
        snprintf(cure + strlen(cure), sizeof cure - strlen(cure), "%s--max-increments %s",
                 cure[0] != '\0' ? " with " : "", fewest);
    cli_round_up(nearest->best_risk, 2, risk_cure);
    bool has_risk = strtod(risk_cure, NULL) < 1;
    return sim_fail(
        error, SIM_ERROR_CHECK,
        "bucketlab: no setting stays within the limits with %s: with %s the best threshold, %" PRIu64
        ", has a risk of %s, above --risk %s; %s%s%s%s would do",
        limit, chance, nearest->best, risk, cli_value(args, "risk", ""), has_risk ? "--risk " : "",
        has_risk ? risk_cure : "", has_risk ? " or " : "", cure);
}

static bool tune_rows(const struct cli_args *args, struct sim_error *error)
{
    struct answer answer = {0};
    struct limits limits = {.bits_most = BK_BITS_MAX, .increments = 1000};
    bool is_fine = read_goal(args, &answer.goal, error) && read_limits(args, &limits, error) &&
                   choose_chances(args, &limits, &answer.chances, error);
    if (is_fine && !tune_search(&answer.goal, &answer.chances, FITS_MAX, LIST_MAX, &answer.found))
        is_fine = sim_fail_memory(error);
    if (is_fine && answer.found.fit_count == 0)
        is_fine = refuse(args, &limits, &answer, error);
    else if (is_fine && cli_has(args, "json"))
        cli_json_print(answer_as_json(&answer));
    else if (is_fine)
        print_answer(&answer);
    tune_found_free(&answer.found);
    return is_fine;
}

static bool tune(const struct cli_args *args, struct sim_error *error)
{
    bool is_scenario = args->count > 0;
    return check_options(args, is_scenario, error) &&
           (is_scenario ? cli_tune_scenario(args, error) : tune_rows(args, error));
}

const struct cli_command cli_tune = {
    .name = "tune",
    .arguments = "[SCENARIO]",
    .summary = "find the settings that stay within the limits, cheapest first",
    .example = "  bucketlab tune chat.yaml --risk 0.1%\n"
               "  bucketlab tune --rows 12000..32000 --risk 0.003\n"
               "  bucketlab tune --rows 12000..32000 --risk 0.3% --probability any\n",
    .options = options,
    .least = 0,
    .most = 1,
    .run = tune,
};
