/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab odds --weighted: the distribution of the partition sizes of the weighted strategy, in bytes. */
#include "odds_weighted.h"

#include <inttypes.h>

#include "cli/json.h"
#include "cli/text.h"
#include "lab/quantity.h"
#include "tune/odds.h"

/* Above this mean, numbers of bytes would not be exact in binary64, and their tails would not fit into 64
 * bits. */
#define MEAN_BYTES_MAX 0x1p53
/* For rows of a unit or more, the mean is a sum of tails. This limits the time to compute it. */
#define THRESHOLD_MAX 1000000000u

struct question {
    struct tune_weighted distribution;
    bool has_rows; /* all rows have one size, and the distribution is exact; otherwise there are bounds */
};

typedef double tail_of(const struct tune_weighted *distribution, uint64_t bytes);

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

static bool read_distribution(const struct cli_args *args, struct question *out, struct sim_error *error)
{
    struct tune_weighted *distribution = &out->distribution;
    if (cli_has(args, "bits") || cli_has(args, "probability"))
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: 'odds' takes one of --bits, --probability and --weighted; leave the others "
            "out");
    if (!cli_has(args, "threshold"))
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: 'odds' needs --threshold; write --threshold 40");
    out->has_rows = cli_has(args, "row-bytes");
    distribution->row_bytes = 1;
    if (!read_size("weighted", cli_value(args, "weighted", ""), &distribution->bytes, error) ||
        !cli_whole(args, "threshold", 1, THRESHOLD_MAX, &distribution->threshold, error) ||
        (out->has_rows &&
         !read_size("row-bytes", cli_value(args, "row-bytes", ""), &distribution->row_bytes, error)))
        return false;
    if ((double)distribution->threshold * (double)distribution->bytes > MEAN_BYTES_MAX)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: a partition of more than 2^53 bytes on average; lower --threshold or "
                        "--weighted");
    return true;
}

static bool check_tails(const struct cli_args *args, const char *name, struct sim_error *error)
{
    uint64_t bytes;
    for (size_t i = 0; cli_value_at(args, name, i) != NULL; i++) {
        if (!read_size(name, cli_value_at(args, name, i), &bytes, error))
            return false;
    }
    return true;
}

static bool read_quantile(const struct cli_args *args, size_t index, double *out, struct sim_error *error)
{
    const char *text = cli_value_at(args, "quantile", index), *why = lab_quantity_number(text, out);
    if (why != NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "bucketlab: --quantile %s: %s", text, why);
    if (!(*out >= 0 && *out < 1))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --quantile %s: out of range; give a share from 0 to below 1, for example "
                        "0.999",
                        text);
    return true;
}

static json_t *tails_as_json(const struct question *question, const struct cli_args *args, const char *name,
                             tail_of *tail)
{
    json_t *list = json_array();
    struct sim_error none;
    uint64_t bytes;
    for (size_t i = 0; list != NULL && cli_value_at(args, name, i) != NULL; i++) {
        json_t *object = json_object();
        bool is_fine = read_size(name, cli_value_at(args, name, i), &bytes, &none) &&
                       cli_json_set(object, "bytes", cli_json_whole(bytes)) &&
                       cli_json_set(object, question->has_rows ? "probability" : "probability_most",
                                    cli_json_number(tail(&question->distribution, bytes)));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

/* The index-th requested quantile, or default quantile; false after the last one. The values were checked
 * before. */
static bool quantile_at(const struct cli_args *args, size_t index, double *out)
{
    static const double usual[] = {0.001, 0.01, 0.5, 0.99, 0.999};
    struct sim_error none;
    if (cli_value_at(args, "quantile", 0) != NULL)
        return cli_value_at(args, "quantile", index) != NULL && read_quantile(args, index, out, &none);
    if (index >= sizeof usual / sizeof *usual)
        return false;
    *out = usual[index];
    return true;
}

static json_t *quantiles_as_json(const struct question *question, const struct cli_args *args)
{
    json_t *list = json_array();
    double probability;
    for (size_t i = 0; list != NULL && quantile_at(args, i, &probability); i++) {
        json_t *object = json_object();
        bool is_fine =
            cli_json_set(object, "p", cli_json_number(probability)) &&
            cli_json_set(object, "bytes",
                         cli_json_whole(tune_weighted_quantile(&question->distribution, probability)));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *as_json(const struct question *question, const struct cli_args *args)
{
    const struct tune_weighted *distribution = &question->distribution;
    bool exact = question->has_rows;
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "bytes", cli_json_whole(distribution->bytes)) &&
        cli_json_set(object, "threshold", cli_json_whole(distribution->threshold)) &&
        cli_json_set(object, "row_bytes", exact ? cli_json_whole(distribution->row_bytes) : json_null()) &&
        cli_json_set(object, "mean_bytes",
                     cli_json_number(exact
                                         ? tune_weighted_mean_bytes(distribution)
                                         : (double)distribution->bytes * (double)distribution->threshold)) &&
        cli_json_set(object, exact ? "stddev_bytes" : "stddev_bytes_most",
                     cli_json_number(exact ? tune_weighted_stddev_bytes(distribution)
                                           : tune_weighted_stddev_most(distribution))) &&
        cli_json_set(
            object, "below",
            tails_as_json(question, args, "below", exact ? tune_weighted_below : tune_weighted_below_most)) &&
        cli_json_set(
            object, "above",
            tails_as_json(question, args, "above", exact ? tune_weighted_above : tune_weighted_above_most));
    if (is_fine && exact)
        is_fine = cli_json_set(object, "quantiles", quantiles_as_json(question, args)) &&
                  cli_json_set(object, "counter_increments_per_1000_rows",
                               cli_json_number(tune_weighted_increments_per_1000_rows(distribution)));
    return cli_json_complete(object, is_fine);
}

static void print_tails(const struct question *question, const struct cli_args *args, const char *name,
                        const char *sign, tail_of *tail)
{
    struct sim_error none;
    uint64_t bytes;
    char label[64];
    for (size_t i = 0; cli_value_at(args, name, i) != NULL; i++) {
        if (!read_size(name, cli_value_at(args, name, i), &bytes, &none))
            return;
        snprintf(label, sizeof label, "P(bytes %s %s)%s", sign, cli_value_at(args, name, i),
                 question->has_rows ? "" : ", at most");
        printf("  %-28s %20.11g\n", label, tail(&question->distribution, bytes));
    }
}

static void print_plain(const struct question *question, const struct cli_args *args)
{
    const struct tune_weighted *distribution = &question->distribution;
    bool exact = question->has_rows;
    char size[CLI_NUMBER_SIZE], row[CLI_NUMBER_SIZE], label[64];
    lab_quantity_bytes_text(distribution->bytes, size, sizeof size);
    lab_quantity_bytes_text(distribution->row_bytes, row, sizeof row);
    printf("bytes of a partition until %" PRIu64 " increment%s of %s each, ", distribution->threshold,
           distribution->threshold == 1 ? "" : "s", size);
    printf("rows of %s%s\n\n", exact ? "" : "up to ", exact ? row : size);
    printf("  %-28s %20.17g\n", "mean",
           exact ? tune_weighted_mean_bytes(distribution)
                 : (double)distribution->bytes * (double)distribution->threshold);
    printf("  %-28s %20.17g\n", exact ? "standard deviation" : "standard deviation, at most",
           exact ? tune_weighted_stddev_bytes(distribution) : tune_weighted_stddev_most(distribution));
    if (exact)
        printf("  %-28s %20.17g\n", "increments per 1000 rows",
               tune_weighted_increments_per_1000_rows(distribution));
    print_tails(question, args, "below", "<", exact ? tune_weighted_below : tune_weighted_below_most);
    print_tails(question, args, "above", ">", exact ? tune_weighted_above : tune_weighted_above_most);
    double probability;
    for (size_t i = 0; exact && quantile_at(args, i, &probability); i++) {
        snprintf(label, sizeof label, "quantile %.15g", probability);
        printf("  %-28s %20" PRIu64 "\n", label, tune_weighted_quantile(distribution, probability));
    }
}

int cli_odds_weighted(const struct cli_args *args, struct sim_error *error)
{
    struct question question = {0};
    if (!read_distribution(args, &question, error) || !check_tails(args, "below", error) ||
        !check_tails(args, "above", error))
        return (int)error->class;
    double probability;
    for (size_t i = 0; cli_value_at(args, "quantile", i) != NULL; i++) {
        if (!read_quantile(args, i, &probability, error))
            return (int)error->class;
        if (!question.has_rows)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: a quantile needs the size of a row; add --row-bytes, as in "
                            "--row-bytes 350B"),
                   (int)error->class;
    }
    if (cli_has(args, "json"))
        return cli_json_print(as_json(&question, args), error) ? 0 : (int)error->class;
    print_plain(&question, args);
    return 0;
}
