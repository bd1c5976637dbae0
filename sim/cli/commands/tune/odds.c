/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab odds: exact distribution of the partition sizes of one pair of bits and threshold. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/strategy.h"
#include "cli/commands/tune.h"
#include "cli/json.h"
#include "lab/quantity.h"
#include "odds_weighted.h"
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

struct tail {
    uint64_t rows;
    double probability;
};

struct quantile {
    double probability;
    uint64_t rows;
};

struct question {
    bool has_bits;
    uint64_t bits;
    struct tune_distribution distribution;
    struct tail *below, *above;
    size_t below_count, above_count;
    struct quantile *quantiles;
    size_t quantile_count;
};

/* Above this mean, numbers of rows would not be exact in binary64, and their tails would not fit into 64
 * bits. */
#define MEAN_ROWS_MAX 0x1p53

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

static bool read_distribution(const struct cli_args *args, struct question *question, struct sim_error *error)
{
    struct tune_distribution *distribution = &question->distribution;
    question->has_bits = cli_has(args, "bits");
    if (question->has_bits && cli_has(args, "probability"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: 'odds' takes --bits or --probability, not both; leave one out");
    if (!question->has_bits && !cli_has(args, "probability"))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: 'odds' needs one of --bits, --probability and --weighted; write --bits 9, "
            "--probability 1/300, or --weighted 512KB");
    if (!cli_has(args, "threshold"))
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: 'odds' needs --threshold; write --threshold 40");
    if (!cli_whole(args, "bits", 0, BK_BITS_MAX, &question->bits, error) ||
        !cli_whole(args, "threshold", 1, INT64_MAX, &distribution->threshold, error))
        return false;
    distribution->p = 1.0 / (double)(UINT64_C(1) << question->bits);
    if (!question->has_bits && !read_probability(cli_value(args, "probability", ""), &distribution->p, error))
        return false;
    if ((double)distribution->threshold / distribution->p > MEAN_ROWS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: a partition of more than 2^53 rows on average; lower --threshold%s",
                        question->has_bits ? " or --bits" : " or raise --probability");
    return true;
}

static size_t count_of(const struct cli_args *args, const char *name)
{
    size_t count = 0;
    while (cli_value_at(args, name, count) != NULL)
        count++;
    return count;
}

static bool read_tails(const struct cli_args *args, const char *name,
                       const struct tune_distribution *distribution, struct tail **out, size_t *count,
                       struct sim_error *error)
{
    size_t given = count_of(args, name);
    *out = calloc(given + 1, sizeof **out);
    if (*out == NULL)
        return sim_fail_memory(error);
    for (*count = 0; *count < given; ++*count) {
        struct tail *tail = *out + *count;
        if (!cli_whole_parse(name, cli_value_at(args, name, *count), 0, INT64_MAX, &tail->rows, error))
            return false;
        tail->probability = strcmp(name, "below") == 0 ? tune_below(distribution, tail->rows)
                                                       : tune_above(distribution, tail->rows);
    }
    return true;
}

static bool read_quantiles(const struct cli_args *args, struct question *question, struct sim_error *error)
{
    static const double usual[] = {0.001, 0.01, 0.5, 0.99, 0.999};
    enum { USUAL_COUNT = sizeof usual / sizeof usual[0] };
    size_t given = count_of(args, "quantile");
    question->quantile_count = given == 0 ? (size_t)USUAL_COUNT : given;
    question->quantiles = calloc(question->quantile_count, sizeof *question->quantiles);
    if (question->quantiles == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < question->quantile_count; i++) {
        struct quantile *quantile = &question->quantiles[i];
        if (given == 0) {
            quantile->probability = usual[i];
        } else {
            const char *text = cli_value_at(args, "quantile", i);
            const char *why = lab_quantity_number(text, &quantile->probability);
            if (why != NULL)
                return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --quantile %s: %s", text, why);
            if (!(quantile->probability >= 0 && quantile->probability < 1))
                return sim_fail(error, SIM_ERROR_INPUT,
                                "bucketlab: --quantile %s: out of range; give a share from 0 to below 1, for "
                                "example 0.999",
                                text);
        }
        quantile->rows = tune_quantile(&question->distribution, quantile->probability);
    }
    return true;
}

static json_t *tails_as_json(const struct tail *tails, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < count; i++) {
        json_t *object = json_object();
        bool is_fine = cli_json_set(object, "rows", cli_json_whole(tails[i].rows)) &&
                       cli_json_set(object, "probability", cli_json_number(tails[i].probability));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *quantiles_as_json(const struct question *question)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < question->quantile_count; i++) {
        json_t *object = json_object();
        bool is_fine = cli_json_set(object, "p", cli_json_number(question->quantiles[i].probability)) &&
                       cli_json_set(object, "rows", cli_json_whole(question->quantiles[i].rows));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *as_json(const struct question *question)
{
    const struct tune_distribution *distribution = &question->distribution;
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "bits", question->has_bits ? cli_json_whole(question->bits) : json_null()) &&
        cli_json_set(object, "threshold", cli_json_whole(distribution->threshold)) &&
        cli_json_set(object, "increment_probability", cli_json_number(distribution->p)) &&
        cli_json_set(object, "mean_rows", cli_json_number(tune_mean_rows(distribution))) &&
        cli_json_set(object, "stddev_rows", cli_json_number(tune_stddev_rows(distribution))) &&
        cli_json_set(object, "below", tails_as_json(question->below, question->below_count)) &&
        cli_json_set(object, "above", tails_as_json(question->above, question->above_count)) &&
        cli_json_set(object, "quantiles", quantiles_as_json(question)) &&
        cli_json_set(object, "counter_increments_per_1000_rows",
                     cli_json_number(tune_increments_per_1000_rows(distribution)));
    return cli_json_complete(object, is_fine);
}

static void print_plain(const struct question *question)
{
    const struct tune_distribution *distribution = &question->distribution;
    char label[64];
    printf("rows until %" PRIu64 " increment%s; each row adds one with probability %.9g\n\n",
           distribution->threshold, distribution->threshold == 1 ? "" : "s", distribution->p);
    printf("  %-28s %20.17g\n", "mean", tune_mean_rows(distribution));
    printf("  %-28s %20.17g\n", "standard deviation", tune_stddev_rows(distribution));
    printf("  %-28s %20.17g\n", "increments per 1000 rows", tune_increments_per_1000_rows(distribution));
    for (size_t i = 0; i < question->below_count; i++) {
        snprintf(label, sizeof label, "P(rows < %" PRIu64 ")", question->below[i].rows);
        printf("  %-28s %20.11g\n", label, question->below[i].probability);
    }
    for (size_t i = 0; i < question->above_count; i++) {
        snprintf(label, sizeof label, "P(rows > %" PRIu64 ")", question->above[i].rows);
        printf("  %-28s %20.11g\n", label, question->above[i].probability);
    }
    for (size_t i = 0; i < question->quantile_count; i++) {
        snprintf(label, sizeof label, "quantile %.15g", question->quantiles[i].probability);
        printf("  %-28s %20" PRIu64 "\n", label, question->quantiles[i].rows);
    }
}

static int odds(const struct cli_args *args, struct sim_error *error)
{
    if (cli_has(args, "weighted"))
        return cli_odds_weighted(args, error);
    if (cli_has(args, "row-bytes"))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --row-bytes applies only with --weighted; add --weighted, or leave "
                        "--row-bytes out"),
               (int)error->class;
    struct question question = {0};
    bool is_fine =
        read_distribution(args, &question, error) &&
        read_tails(args, "below", &question.distribution, &question.below, &question.below_count, error) &&
        read_tails(args, "above", &question.distribution, &question.above, &question.above_count, error) &&
        read_quantiles(args, &question, error);
    if (is_fine && cli_has(args, "json"))
        is_fine = cli_json_print(as_json(&question), error);
    else if (is_fine)
        print_plain(&question);
    free(question.below);
    free(question.above);
    free(question.quantiles);
    return is_fine ? 0 : (int)error->class;
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
