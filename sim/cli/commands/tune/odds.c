/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab odds: the exact distribution of the partition sizes of one setting: of the rows for a pair of
 * bits and threshold, and of the bytes for a weighted one. In: options. Kept: the answer as JSON. Out: the
 * same, or as text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/strategy.h"
#include "cli/base.h"
#include "lab/quantity.h"
#include "tune/odds.h"

static const struct cli_option options[] = {
    {"bits", "B",
     "a row counts when B random bits are all 1: 0 to 32\n(this or one of the next two is required)"},
    {"probability", "M/N", "or: a row counts with this chance, for example 1/300"},
    {"weighted", "SIZE",
     "or: a row adds its bytes / SIZE; the odds are of bytes,\n"
     "and --below and --above take sizes"},
    {"row-bytes", "SIZE",
     "with --weighted: the size of every row, for exact odds;\n"
     "without it the odds are bounds for rows up to "
     "SIZE"},
    {"threshold", "T", "increments until the partition is full (required)"},
    {"below", "N", "show P(rows < N); repeatable"},
    {"above", "N", "show P(rows > N); repeatable"},
    {"quantile", "P",
     "show the least N with P(rows <= N) >= P; repeatable\n"
     "(default 0.001 0.01 0.5 0.99 0.999)"},
    {NULL, NULL, NULL}};

/* Above this mean, sizes would not be exact in binary64, and their tails would not fit into 64 bits. */
#define MEAN_MAX 0x1p53
/* For rows of a unit or more, the mean is a sum of tails. This limits the time to compute it. */
#define WEIGHTED_THRESHOLD_MAX 1000000000u
#define USUAL_COUNT            5

struct question {
    const struct cli_args *args;
    bool is_weighted, has_bits;
    bool is_exact; /* false: rows of any size up to the unit, so there are bounds */
    uint64_t bits;
    uint64_t unit, each; /* weighted: the bytes of an increment, and of a row; else 1 */
    struct tune_distribution rows;
    const char *noun; /* what is counted: rows or bytes */
    json_t *answer;
};

static bool read_probability(const char *text, double *out, struct sim_error *error)
{
    uint64_t m, n;
    if (!cli_pair(text, "/", &m, &n))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --probability %s: not a chance; write two whole numbers M/N, for "
                        "example 1/300",
                        text);
    struct bk_strategy strategy;
    enum bk_status status = bk_strategy_probabilistic_chance(m, n, 1, &strategy);
    if (status != BK_OK)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --probability %s: %s", text,
                        bk_status_text(status));
    *out = (double)m / (double)n;
    return true;
}

static bool read_size(const char *name, const char *text, uint64_t *out, struct sim_error *error)
{
    const char *why = lab_quantity_bytes(text, out);
    if (why != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --%s %s: %s", name, text, why);
    if (*out < 1 || *out > UINT64_C(1) << 53)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --%s %s: out of range; give a size from 1B to 2^53 bytes", name, text);
    return true;
}

/* Whether the options name one distribution. */
static bool check_kind(const struct question *question, struct sim_error *error)
{
    const struct cli_args *args = question->args;
    return (cli_has(args, "bits") + cli_has(args, "probability") + question->is_weighted == 1 &&
            cli_has(args, "threshold")) ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: 'odds' needs --threshold and one of --bits, --probability and --weighted; "
                    "write --threshold 40 --bits 9, or --probability 1/300, or --weighted 512KB");
}

static bool read_distribution(struct question *question, struct sim_error *error)
{
    const struct cli_args *args = question->args;
    struct tune_distribution *rows = &question->rows;
    if (question->is_weighted) {
        if (!read_size("weighted", cli_value(args, "weighted", ""), &question->unit, error) ||
            !cli_whole(args, "threshold", 1, WEIGHTED_THRESHOLD_MAX, &rows->threshold, error) ||
            (question->is_exact &&
             !read_size("row-bytes", cli_value(args, "row-bytes", ""), &question->each, error)))
            return false;
        *rows = tune_weighted(question->unit, rows->threshold, question->each);
        return true;
    }
    question->has_bits = cli_has(args, "bits");
    if (!cli_whole(args, "bits", 0, BK_BITS_MAX, &question->bits, error) ||
        !cli_whole(args, "threshold", 1, INT64_MAX, &rows->threshold, error))
        return false;
    rows->p = 1.0 / (double)(UINT64_C(1) << question->bits);
    return question->has_bits || read_probability(cli_value(args, "probability", ""), &rows->p, error);
}

static double mean_of(const struct question *question)
{
    return question->is_exact ? tune_mean_rows(&question->rows) * (double)question->each
                              : (double)question->unit * (double)question->rows.threshold;
}

static double stddev_of(const struct question *question)
{
    return question->is_exact ? tune_stddev_rows(&question->rows) * (double)question->each
                              : (double)question->unit * sqrt((double)question->rows.threshold);
}

static double tail_of(const struct question *question, bool is_below, uint64_t size)
{
    const uint64_t unit = question->unit, each = question->each, threshold = question->rows.threshold;
    if (!question->is_exact)
        return is_below ? tune_weighted_below_most(unit, threshold, size)
                        : tune_weighted_above_about(unit, threshold, size, (double)unit);
    return is_below ? tune_below(&question->rows, size / each + (size % each != 0))
                    : tune_above(&question->rows, size / each);
}

static void add(struct question *question, const char *name, json_t *value)
{
    question->answer = cli_json_with(question->answer, name, value);
}

/* The probabilities that an option asks for, --below or --above. */
static bool add_tails(struct question *question, const char *name, bool is_below, struct sim_error *error)
{
    json_t *list = json_array();
    const char *text;
    for (size_t i = 0; (text = cli_value_at(question->args, name, i)) != NULL; i++) {
        uint64_t size;
        if (question->is_weighted ? !read_size(name, text, &size, error)
                                  : !cli_whole_parse(name, text, 0, INT64_MAX, &size, error)) {
            json_decref(list);
            return false;
        }
        list = cli_json_append(list, CLI_OBJECT({question->noun, cli_json_whole(size)},
                                                {question->is_exact ? "probability" : "probability_most",
                                                 cli_json_number(tail_of(question, is_below, size))}));
    }
    add(question, name, list);
    return true;
}

/* The index-th requested quantile, or the usual one. */
static bool read_quantile(const struct question *question, size_t index, double *out, struct sim_error *error)
{
    static const double usual[USUAL_COUNT] = {0.001, 0.01, 0.5, 0.99, 0.999};
    const char *text = cli_value_at(question->args, "quantile", index), *why;
    if (text == NULL) {
        *out = usual[index];
        return true;
    }
    if ((why = lab_quantity_number(text, out)) != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --quantile %s: %s", text, why);
    if (!(*out >= 0 && *out < 1))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --quantile %s: out of range; give a share from 0 to below 1, for example "
                        "0.999",
                        text);
    return question->is_exact ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: a quantile needs the size of a row; add --row-bytes, as in --row-bytes 350B");
}

static bool add_quantiles(struct question *question, struct sim_error *error)
{
    const bool is_usual = !cli_has(question->args, "quantile");
    json_t *list = json_array();
    for (size_t i = 0; is_usual ? i < USUAL_COUNT : cli_value_at(question->args, "quantile", i) != NULL;
         i++) {
        double p;
        if (!read_quantile(question, i, &p, error)) {
            json_decref(list);
            return false;
        }
        const uint64_t rows = tune_quantile(&question->rows, p);
        list = cli_json_append(list,
                               CLI_OBJECT({"p", cli_json_number(p)},
                                          {question->noun, cli_json_whole(rows > UINT64_MAX / question->each
                                                                              ? UINT64_MAX
                                                                              : rows * question->each)}));
    }
    add(question, "quantiles", list);
    return true;
}

/* Whether a binary64 holds the sizes. */
static bool check_mean(const struct question *question, struct sim_error *error)
{
    const double threshold = (double)question->rows.threshold;
    return (question->is_weighted ? threshold * (double)question->unit : threshold / question->rows.p) <=
               MEAN_MAX ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: a partition of more than 2^53 %s on average; lower --threshold%s",
                    question->noun,
                    question->is_weighted ? " or --weighted"
                    : question->has_bits  ? " or --bits"
                                          : " or raise --probability");
}

static bool make_answer(struct question *question, struct sim_error *error)
{
    const bool is_weighted = question->is_weighted, is_exact = question->is_exact;
    if (!check_kind(question, error) || !read_distribution(question, error) || !check_mean(question, error))
        return false;
    if (is_weighted)
        add(question, "bytes", cli_json_whole(question->unit));
    else
        add(question, "bits", question->has_bits ? cli_json_whole(question->bits) : json_null());
    add(question, "threshold", cli_json_whole(question->rows.threshold));
    if (is_weighted)
        add(question, "row_bytes", is_exact ? cli_json_whole(question->each) : json_null());
    else
        add(question, "increment_probability", cli_json_number(question->rows.p));
    add(question, is_weighted ? "mean_bytes" : "mean_rows", cli_json_number(mean_of(question)));
    add(question,
        !is_exact     ? "stddev_bytes_most"
        : is_weighted ? "stddev_bytes"
                      : "stddev_rows",
        cli_json_number(stddev_of(question)));
    if (!add_tails(question, "below", true, error) || !add_tails(question, "above", false, error) ||
        ((is_exact || cli_has(question->args, "quantile")) && !add_quantiles(question, error)))
        return false;
    if (is_exact)
        add(question, "counter_increments_per_1000_rows",
            cli_json_number(tune_increments_per_1000_rows(&question->rows)));
    return true;
}

static void print_tails(const struct question *question, const char *name, char sign)
{
    const bool is_exact = question->is_exact;
    const json_t *tail;
    size_t i;
    json_array_foreach(json_object_get(question->answer, name), i, tail)
    {
        char label[64];
        snprintf(label, sizeof label, "P(%s %c %s)%s", question->noun, sign,
                 cli_value_at(question->args, name, i), is_exact ? "" : ", at most");
        printf("  %-28s %20.11g\n", label,
               json_number_value(json_object_get(tail, is_exact ? "probability" : "probability_most")));
    }
}

static void print_plain(const struct question *question)
{
    const uint64_t threshold = question->rows.threshold;
    const char *plural = threshold == 1 ? "" : "s";
    char size[CLI_NUMBER_SIZE], row[CLI_NUMBER_SIZE], label[64];
    lab_quantity_bytes_text(question->unit, size, sizeof size);
    lab_quantity_bytes_text(question->each, row, sizeof row);
    if (question->is_weighted)
        printf("bytes of a partition until %" PRIu64 " increment%s of %s each, rows of %s%s\n\n", threshold,
               plural, size, question->is_exact ? "" : "up to ", question->is_exact ? row : size);
    else
        printf("rows until %" PRIu64 " increment%s; each row adds one with probability %.9g\n\n", threshold,
               plural, question->rows.p);
    printf("  %-28s %20.17g\n", "mean", mean_of(question));
    printf("  %-28s %20.17g\n", question->is_exact ? "standard deviation" : "standard deviation, at most",
           stddev_of(question));
    if (question->is_exact)
        printf("  %-28s %20.17g\n", "increments per 1000 rows",
               tune_increments_per_1000_rows(&question->rows));
    print_tails(question, "below", '<');
    print_tails(question, "above", '>');
    const json_t *quantile;
    size_t i;
    json_array_foreach(json_object_get(question->answer, "quantiles"), i, quantile)
    {
        const json_t *reached = json_object_get(quantile, question->noun);
        snprintf(label, sizeof label, "quantile %.15g", json_number_value(json_object_get(quantile, "p")));
        if (json_is_string(reached)) /* too large for an integer of JSON */
            printf("  %-28s %20s\n", label, json_string_value(reached));
        else
            printf("  %-28s %20" JSON_INTEGER_FORMAT "\n", label, json_integer_value(reached));
    }
}

static bool odds(const struct cli_args *args, struct sim_error *error)
{
    const bool is_weighted = cli_has(args, "weighted");
    struct question question = {.args = args,
                                .is_weighted = is_weighted,
                                .is_exact = !is_weighted || cli_has(args, "row-bytes"),
                                .unit = 1,
                                .each = 1,
                                .noun = is_weighted ? "bytes" : "rows",
                                .answer = json_object()};
    bool is_fine = make_answer(&question, error);
    if (is_fine && cli_has(args, "json"))
        cli_json_print(json_incref(question.answer));
    else if (is_fine)
        print_plain(&question);
    json_decref(question.answer);
    return is_fine;
}

const struct cli_command cli_odds = {
    .name = "odds",
    .arguments = "",
    .summary = "print the exact distribution of partition sizes for one setting",
    .example = "  bucketlab odds --bits 9 --threshold 40 --below 12000 --above 32000\n"
               "  bucketlab odds --weighted 512KB --threshold 40 --row-bytes 1KB --above 30MB\n",
    .options = options,
    .least = 0,
    .most = 0,
    .run = odds,
};
