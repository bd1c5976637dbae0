/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab odds: the exact distribution of the partition sizes of one setting: of the rows for a pair of
 * bits and threshold, and of the bytes for a weighted one. In: options. Out: text or JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/strategy.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/text.h"
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
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
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
    struct tune_distribution rows;
    struct tune_weighted bytes;
};

static bool read_probability(const char *text, double *out, struct sim_error *error)
{
    char numerator[32];
    const char *slash = strchr(text, '/');
    uint64_t m, n;
    if (slash == NULL || (size_t)(slash - text) >= sizeof numerator)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --probability %s: not a chance; write M/N, for example 1/300", text);
    memcpy(numerator, text, (size_t)(slash - text));
    numerator[slash - text] = '\0';
    if (lab_quantity_whole(numerator, &m) != NULL || lab_quantity_whole(slash + 1, &n) != NULL)
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
    const bool has_bits = cli_has(args, "bits"), has_probability = cli_has(args, "probability");
    if (question->is_weighted && (has_bits || has_probability))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: 'odds' takes one of --bits, --probability and --weighted; leave the others out");
    if (has_bits && has_probability)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'odds' takes --bits or --probability, not both; leave one out");
    if (!question->is_weighted && cli_has(args, "row-bytes"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --row-bytes applies only with --weighted; add --weighted, or leave "
                        "--row-bytes out");
    if (!question->is_weighted && !has_bits && !has_probability)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: 'odds' needs one of --bits, --probability and --weighted; write --bits 9, "
            "--probability 1/300, or --weighted 512KB");
    return cli_has(args, "threshold") ||
           sim_fail(error, SIM_ERROR_INPUT, "bucketlab: 'odds' needs --threshold; write --threshold 40");
}

static bool read_distribution(struct question *question, struct sim_error *error)
{
    const struct cli_args *args = question->args;
    struct tune_distribution *rows = &question->rows;
    struct tune_weighted *bytes = &question->bytes;
    bytes->row_bytes = 1;
    if (question->is_weighted)
        return read_size("weighted", cli_value(args, "weighted", ""), &bytes->bytes, error) &&
               cli_whole(args, "threshold", 1, WEIGHTED_THRESHOLD_MAX, &bytes->threshold, error) &&
               (!question->is_exact ||
                read_size("row-bytes", cli_value(args, "row-bytes", ""), &bytes->row_bytes, error));
    question->has_bits = cli_has(args, "bits");
    if (!cli_whole(args, "bits", 0, BK_BITS_MAX, &question->bits, error) ||
        !cli_whole(args, "threshold", 1, INT64_MAX, &rows->threshold, error))
        return false;
    rows->p = 1.0 / (double)(UINT64_C(1) << question->bits);
    return question->has_bits || read_probability(cli_value(args, "probability", ""), &rows->p, error);
}

static double mean_of(const struct question *question)
{
    const struct tune_weighted *bytes = &question->bytes;
    return !question->is_weighted ? tune_mean_rows(&question->rows)
           : question->is_exact   ? tune_weighted_mean_bytes(bytes)
                                  : (double)bytes->bytes * (double)bytes->threshold;
}

static double stddev_of(const struct question *question)
{
    return !question->is_weighted ? tune_stddev_rows(&question->rows)
           : question->is_exact   ? tune_weighted_stddev_bytes(&question->bytes)
                                  : tune_weighted_stddev_most(&question->bytes);
}

static double increments_of(const struct question *question)
{
    return question->is_weighted ? tune_weighted_increments_per_1000_rows(&question->bytes)
                                 : tune_increments_per_1000_rows(&question->rows);
}

static double tail_of(const struct question *question, bool is_below, uint64_t size)
{
    if (!question->is_weighted)
        return is_below ? tune_below(&question->rows, size) : tune_above(&question->rows, size);
    if (question->is_exact)
        return is_below ? tune_weighted_below(&question->bytes, size)
                        : tune_weighted_above(&question->bytes, size);
    return is_below ? tune_weighted_below_most(&question->bytes, size)
                    : tune_weighted_above_most(&question->bytes, size);
}

static uint64_t quantile_of(const struct question *question, double probability)
{
    return question->is_weighted ? tune_weighted_quantile(&question->bytes, probability)
                                 : tune_quantile(&question->rows, probability);
}

static bool read_tail(const struct question *question, const char *name, size_t index, uint64_t *out,
                      struct sim_error *error)
{
    const char *text = cli_value_at(question->args, name, index);
    return question->is_weighted ? read_size(name, text, out, error)
                                 : cli_whole_parse(name, text, 0, INT64_MAX, out, error);
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

static size_t count_of(const struct cli_args *args, const char *name)
{
    size_t count = 0;
    while (cli_value_at(args, name, count) != NULL)
        count++;
    return count;
}

static size_t quantile_count(const struct question *question)
{
    const size_t given = count_of(question->args, "quantile");
    return given > 0 ? given : question->is_exact ? USUAL_COUNT : 0;
}

/* Reads all options, so that later no value can be wrong. */
static bool read_question(struct question *question, struct sim_error *error)
{
    const struct cli_args *args = question->args;
    uint64_t size;
    double probability;
    if (!check_kind(question, error) || !read_distribution(question, error))
        return false;
    const double mean = question->is_weighted
                            ? (double)question->bytes.threshold * (double)question->bytes.bytes
                            : (double)question->rows.threshold / question->rows.p;
    if (mean > MEAN_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: a partition of more than 2^53 %s on average; lower --threshold%s",
                        question->is_weighted ? "bytes" : "rows",
                        question->is_weighted ? " or --weighted"
                        : question->has_bits  ? " or --bits"
                                              : " or raise --probability");
    for (size_t i = 0; i < count_of(args, "below"); i++) {
        if (!read_tail(question, "below", i, &size, error))
            return false;
    }
    for (size_t i = 0; i < count_of(args, "above"); i++) {
        if (!read_tail(question, "above", i, &size, error))
            return false;
    }
    for (size_t i = 0; i < count_of(args, "quantile"); i++) {
        if (!read_quantile(question, i, &probability, error))
            return false;
    }
    return true;
}

static json_t *tails_as_json(const struct question *question, const char *name, bool is_below)
{
    json_t *list = json_array();
    struct sim_error none;
    uint64_t size;
    for (size_t i = 0; list != NULL && i < count_of(question->args, name); i++) {
        json_t *object = json_object();
        bool is_fine = read_tail(question, name, i, &size, &none) &&
                       cli_json_set(object, question->is_weighted ? "bytes" : "rows", cli_json_whole(size)) &&
                       cli_json_set(object, question->is_exact ? "probability" : "probability_most",
                                    cli_json_number(tail_of(question, is_below, size)));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *quantiles_as_json(const struct question *question)
{
    json_t *list = json_array();
    struct sim_error none;
    double probability;
    for (size_t i = 0; list != NULL && i < quantile_count(question); i++) {
        json_t *object = json_object();
        bool is_fine = read_quantile(question, i, &probability, &none) &&
                       cli_json_set(object, "p", cli_json_number(probability)) &&
                       cli_json_set(object, question->is_weighted ? "bytes" : "rows",
                                    cli_json_whole(quantile_of(question, probability)));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *as_json(const struct question *question)
{
    const struct tune_weighted *bytes = &question->bytes;
    const bool is_exact = question->is_exact;
    json_t *object = json_object();
    bool is_fine;
    if (question->is_weighted)
        is_fine =
            cli_json_set(object, "bytes", cli_json_whole(bytes->bytes)) &&
            cli_json_set(object, "threshold", cli_json_whole(bytes->threshold)) &&
            cli_json_set(object, "row_bytes", is_exact ? cli_json_whole(bytes->row_bytes) : json_null()) &&
            cli_json_set(object, "mean_bytes", cli_json_number(mean_of(question))) &&
            cli_json_set(object, is_exact ? "stddev_bytes" : "stddev_bytes_most",
                         cli_json_number(stddev_of(question)));
    else
        is_fine =
            cli_json_set(object, "bits", question->has_bits ? cli_json_whole(question->bits) : json_null()) &&
            cli_json_set(object, "threshold", cli_json_whole(question->rows.threshold)) &&
            cli_json_set(object, "increment_probability", cli_json_number(question->rows.p)) &&
            cli_json_set(object, "mean_rows", cli_json_number(mean_of(question))) &&
            cli_json_set(object, "stddev_rows", cli_json_number(stddev_of(question)));
    is_fine = is_fine && cli_json_set(object, "below", tails_as_json(question, "below", true)) &&
              cli_json_set(object, "above", tails_as_json(question, "above", false));
    if (is_fine && is_exact)
        is_fine = cli_json_set(object, "quantiles", quantiles_as_json(question)) &&
                  cli_json_set(object, "counter_increments_per_1000_rows",
                               cli_json_number(increments_of(question)));
    return cli_json_complete(object, is_fine);
}

static void print_tails(const struct question *question, const char *name, bool is_below)
{
    struct sim_error none;
    uint64_t size;
    char label[64], number[CLI_NUMBER_SIZE];
    for (size_t i = 0; i < count_of(question->args, name); i++) {
        if (!read_tail(question, name, i, &size, &none))
            return;
        snprintf(number, sizeof number, "%" PRIu64, size);
        snprintf(label, sizeof label, "P(%s %c %s)%s", question->is_weighted ? "bytes" : "rows",
                 is_below ? '<' : '>', question->is_weighted ? cli_value_at(question->args, name, i) : number,
                 question->is_exact ? "" : ", at most");
        printf("  %-28s %20.11g\n", label, tail_of(question, is_below, size));
    }
}

static void print_plain(const struct question *question)
{
    const struct tune_weighted *bytes = &question->bytes;
    const uint64_t threshold = question->is_weighted ? bytes->threshold : question->rows.threshold;
    const char *plural = threshold == 1 ? "" : "s";
    struct sim_error none;
    char size[CLI_NUMBER_SIZE], row[CLI_NUMBER_SIZE], label[64];
    lab_quantity_bytes_text(bytes->bytes, size, sizeof size);
    lab_quantity_bytes_text(bytes->row_bytes, row, sizeof row);
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
        printf("  %-28s %20.17g\n", "increments per 1000 rows", increments_of(question));
    print_tails(question, "below", true);
    print_tails(question, "above", false);
    double probability;
    for (size_t i = 0; i < quantile_count(question) && read_quantile(question, i, &probability, &none); i++) {
        snprintf(label, sizeof label, "quantile %.15g", probability);
        printf("  %-28s %20" PRIu64 "\n", label, quantile_of(question, probability));
    }
}

static int odds(const struct cli_args *args, struct sim_error *error)
{
    struct question question = {.args = args,
                                .is_weighted = cli_has(args, "weighted"),
                                .is_exact = !cli_has(args, "weighted") || cli_has(args, "row-bytes")};
    if (!read_question(&question, error) ||
        (cli_has(args, "json") && !cli_json_print(as_json(&question), error)))
        return (int)error->class;
    if (!cli_has(args, "json"))
        print_plain(&question);
    return 0;
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
