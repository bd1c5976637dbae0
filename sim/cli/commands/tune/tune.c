/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab tune: finds the settings that keep partitions within limits. Without a scenario it uses only the
 * exact distribution. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/strategy.h"
#include "cli/commands/tune.h"
#include "cli/json.h"
#include "cli/sample.h"
#include "cli/text.h"
#include "lab/quantity.h"
#include "tune_answer.h"
#include "tune_heatmap.h"
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
    {"seed", "N", "use this seed instead of the scenario's"},
    {"seeds", "N",
     "the most seeds that a setting is run with (default\n"
     "the scenario's tune.seeds, or 8)"},
    {"set", "PATH=VALUE", "change one field of the scenario; repeatable"},
    CLI_OPTION_SAMPLE,
    {"db", "FILE",
     "database (default bucketlab.db); the same command\n"
     "resumes from it when it was interrupted"},
    {"emit", "FILE",
     "write the recommended setting in the form that the core's\n"
     "bk_strategy_parse() reads"},
    {"out", "DIR",
     "folder of the charts (default bucketlab-out);\n"
     "with --rows: draw the risk of the settings"},
    CLI_OPTION_FORMAT,
    {"no-charts", NULL, "draw no charts"},
    CLI_OPTION_JOBS,
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

/* Tuning with and without a scenario has different options. */
static bool check_options(const struct cli_args *args, bool is_scenario, struct sim_error *error)
{
    static const char *const of_rows[] = {"rows", "bits", "probability", "max-increments", NULL};
    static const char *const of_scenario[] = {"seed", "seeds",     "set",  "sample", "emit",
                                              "db",   "no-charts", "jobs", NULL};
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

/* Charts are only drawn if a folder or a format is given. */
static bool answer_rows(const struct cli_args *args, const struct cli_tune_answer *answer,
                        struct sim_error *error)
{
    struct cli_charts charts = {.folder = ""};
    bool has_chart = cli_has(args, "out") || cli_has(args, "format");
    bool is_fine = !has_chart || cli_charts_read(args, &charts, error);
    if (is_fine && charts.has_page)
        is_fine = sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --format html applies only to 'tune SCENARIO', whose run has a page; choose png, "
            "svg or pdf");
    is_fine = is_fine && (!has_chart || cli_tune_draw(answer, &charts, error));
    if (is_fine && cli_has(args, "json")) {
        is_fine = cli_json_print(cli_tune_json(answer), error);
    } else if (is_fine) {
        cli_tune_print(answer);
        if (has_chart)
            printf("\ncharts\n");
        cli_charts_print(&charts, "  ");
    }
    cli_charts_free(&charts);
    return is_fine;
}

static bool read_risk(const char *text, double *out, struct sim_error *error)
{
    size_t length = strlen(text);
    bool is_share = (length > 0 && text[length - 1] == '%') || strchr(text, '/') != NULL;
    const char *why = is_share ? lab_quantity_share(text, out) : lab_quantity_number(text, out);
    if (why != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --risk %s: %s", text, why);
    return (*out >= 0 && *out < 1) ||
           sim_fail(
               error, SIM_ERROR_INPUT,
               "bucketlab: --risk %s: out of range; give a share from 0 to below 1, for example 0.003 or "
               "0.3%%",
               text);
}

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
        !read_risk(cli_value(args, "risk", ""), &goal->risk, error))
        return false;
    return goal->rows_max > 0 ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --rows %s: a partition has at least one row; write --rows 1..%" PRIu64, rows,
                    UINT64_C(32000));
}

#define RARITY_NONE (TUNE_ONE_IN_MAX + 1)

/* Uses the same expression with which increments are printed. */
static void find_rarity(struct limits *limits)
{
    uint64_t low = 0;
    limits->rarity = RARITY_NONE;
    while (limits->rarity - low > 1) {
        uint64_t middle = low + (limits->rarity - low) / 2;
        if (1000 * (1.0 / (double)middle) <= limits->increments)
            limits->rarity = middle;
        else
            low = middle;
    }
    while (limits->rarity_bits < 64 && 1000 * ldexp(1, -(int)limits->rarity_bits) > limits->increments)
        limits->rarity_bits++;
}

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
    find_rarity(out);
    return true;
}

/* Rounds up to a number with this many digits. */
static void round_up(double value, int digits, char *buffer)
{
    for (double nudged = value;; nudged += value * 1e-3) {
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*g", digits, nudged);
        if (strtod(buffer, NULL) >= value)
            return;
    }
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
        round_up(1000 * ldexp(1, -(int)limits->bits_most), 3, cure);
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
static bool refuse(const struct cli_args *args, const struct limits *limits,
                   const struct cli_tune_answer *answer, struct sim_error *error)
{
    const struct tune_fit *nearest = &answer->found.rarer;
    const struct tune_chances below = {1, nearest->one_in, answer->chances.powers};
    uint64_t rarest = tune_rarest(&answer->goal, &below);
    const char *bits = cli_value(args, "bits", NULL), *increments = cli_value(args, "max-increments", NULL);
    char risk[CLI_NUMBER_SIZE], chance[64], limit[160], risk_cure[CLI_NUMBER_SIZE], cure[160] = "",
                                                                                    fewest[CLI_NUMBER_SIZE];
    cli_tune_share_above(nearest->best_risk, answer->goal.risk, risk);
    cli_tune_chance(&answer->chances, nearest->one_in, chance, sizeof chance);
    if (increments == NULL || (bits != NULL && limits->bits_least >= limits->rarity_bits))
        snprintf(limit, sizeof limit, "--bits %.40s", bits);
    else
        snprintf(limit, sizeof limit, "--max-increments %.40s, that is %s or %s", increments, chance,
                 answer->chances.powers ? "more" : "fewer");
    if (bits != NULL && (uint64_t)cli_tune_bits(rarest) < limits->bits_least)
        snprintf(cure, sizeof cure, "--bits %d", cli_tune_bits(rarest));
    round_up(1000 * (1.0 / (double)rarest), 3, fewest);
    if (rarest < limits->rarity)
        snprintf(cure + strlen(cure), sizeof cure - strlen(cure), "%s--max-increments %s",
                 cure[0] != '\0' ? " with " : "", fewest);
    round_up(nearest->best_risk, 2, risk_cure);
    bool has_risk = strtod(risk_cure, NULL) < 1;
    return sim_fail(
        error, SIM_ERROR_CHECK,
        "bucketlab: no setting stays within the limits with %s: with %s the best threshold, %" PRIu64
        ", has a risk of %s, above --risk %s; %s%s%s%s would do",
        limit, chance, nearest->best, risk, cli_value(args, "risk", ""), has_risk ? "--risk " : "",
        has_risk ? risk_cure : "", has_risk ? " or " : "", cure);
}

static int tune_rows(const struct cli_args *args, struct sim_error *error)
{
    struct cli_tune_answer answer = {0};
    struct limits limits = {.bits_most = BK_BITS_MAX, .increments = 1000};
    bool is_fine = read_goal(args, &answer.goal, error) && read_limits(args, &limits, error) &&
                   choose_chances(args, &limits, &answer.chances, error);
    if (is_fine && !tune_search(&answer.goal, &answer.chances, FITS_MAX, LIST_MAX, &answer.found))
        is_fine = sim_fail_memory(error);
    if (is_fine && answer.found.fit_count == 0)
        is_fine = refuse(args, &limits, &answer, error);
    else if (is_fine)
        is_fine = answer_rows(args, &answer, error);
    tune_found_free(&answer.found);
    return is_fine ? 0 : (int)error->class;
}

static int tune(const struct cli_args *args, struct sim_error *error)
{
    bool is_scenario = cli_argument_count(args) > 0;
    if (!check_options(args, is_scenario, error))
        return (int)error->class;
    if (is_scenario)
        return cli_tune_scenario(args, error);
    return tune_rows(args, error);
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
