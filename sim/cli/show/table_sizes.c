/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first table of a run: the sizes of partitions under each strategy, and the costs. Marks have the same
 * meaning as colours, so that no information is lost without colours. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "cli/text.h"
#include "lab/judgment.h"
#include "lab/quantity.h"

/* The most strategies above a limit that are named. */
#define NAMED_MAX 6

struct row {
    const struct lab_strategy_result *strategy;
    const struct lab_limits *limits;
    bool is_chosen, is_over, has_colour; /* is_over: by the limits' standard */
};

/* Sets *chosen to the chosen strategy; SIZE_MAX: none. The caller must free() the scores. */
static struct lab_score *choose(const struct lab_result *result, size_t *chosen)
{
    struct lab_score *scores = calloc(result->strategy_count + 1, sizeof *scores);
    *chosen = scores == NULL ? SIZE_MAX : lab_choose(result, scores);
    return scores;
}

static void print_number(const struct lab_metrics *metrics, const char *name, int columns)
{
    char text[CLI_NUMBER_SIZE];
    cli_compact(cli_figure(metrics, name), 5, text);
    printf("%*s", columns, text);
}

/* Prints the share of tiny partitions in at most 4 columns; 0% and 100% only if they are exact. */
static void print_tiny(const struct lab_metrics *metrics)
{
    double share = cli_figure(metrics, "partitions.tiny") / cli_figure(metrics, "partitions.closed");
    char text[CLI_NUMBER_SIZE];
    if (isnan(share))
        snprintf(text, sizeof text, "-");
    else if (share == 0)
        snprintf(text, sizeof text, "0");
    else if (share < 0.001)
        snprintf(text, sizeof text, "<.1%%");
    else if (share < 0.0995)
        snprintf(text, sizeof text, "%.1f%%", 100 * share);
    else
        snprintf(text, sizeof text, "%.0f%%", share > 0.99 ? floor(100 * share) : 100 * share);
    printf("%5s", text);
}

static void print_over(const struct row *row)
{
    double over = cli_figure(&row->strategy->metrics, "partitions.over_limit");
    char number[CLI_NUMBER_SIZE], text[CLI_NUMBER_SIZE + 1];
    bool is_red = row->has_colour && row->is_over;
    cli_compact(over, 4, number);
    snprintf(text, sizeof text, "%s%s", row->is_over ? "!" : "", number);
    printf("%s%6s%s", is_red ? CLI_RED : "", text, is_red ? CLI_PLAIN : "");
}

/* Prints sizes of closed partitions; if none is closed, of all partitions, which are then open. */
static void print_sizes(const struct row *row, bool is_closed, bool is_told)
{
    const struct {
        const char *name;
        uint64_t limit; /* 0: none */
    } sizes[] = {{"rows.p50", row->limits->partition_rows},
                 {"rows.p99", row->limits->partition_rows},
                 {"rows.max", row->limits->partition_rows},
                 {"bytes.p99", row->limits->partition_bytes},
                 {"bytes.max", row->limits->partition_bytes}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char name[LAB_METRIC_NAME_SIZE], number[CLI_NUMBER_SIZE], text[CLI_NUMBER_SIZE + 2];
        snprintf(name, sizeof name, "partitions.%s.%s", is_closed ? "closed" : "all", sizes[i].name);
        bool is_bytes = sizes[i].name[0] == 'b';
        double value = cli_figure(&row->strategy->metrics, name);
        bool is_red = row->has_colour && sizes[i].limit != 0 && value > (double)sizes[i].limit;
        if (is_bytes)
            cli_compact_bytes(value, number);
        else
            cli_compact(value, 5, number);
        snprintf(text, sizeof text, "%s%s", i == 0 && !is_closed && is_told ? "*" : "", number);
        printf("%s%*s%s", is_red ? CLI_RED : "", is_bytes ? 7 : 6, text, is_red ? CLI_PLAIN : "");
    }
}

/* Returns whether the row shows open partitions because none is closed. */
static bool print_row(const struct row *row)
{
    const struct lab_metrics *metrics = &row->strategy->metrics;
    bool is_closed = cli_figure(metrics, "partitions.closed") > 0;
    bool is_told = row->strategy->settings.observed == WL_OBSERVED_AUTO; /* open or closed */
    bool is_bright = row->is_chosen && row->has_colour;
    fputs(is_bright ? CLI_BOLD : "", stdout);
    fputs(row->is_chosen ? "> " : "  ", stdout);
    cli_print_label_after(row->strategy->label, 2);
    fputs(is_bright ? CLI_PLAIN : "", stdout);
    print_number(metrics, "partitions.total", 6);
    print_number(metrics, "partitions.closed", 6);
    print_tiny(metrics);
    print_over(row);
    print_sizes(row, is_closed, is_told);
    char text[CLI_NUMBER_SIZE];
    cli_compact(cli_figure(metrics, "writes.extra_ops_per_1000_rows"), 4, text);
    printf("%5s", text);
    cli_compact(cli_figure(metrics, "reads.partitions_per_read.mean"), 4, text);
    printf("%5s\n", text);
    return !is_closed && is_told;
}

/* Formats a share with two significant digits, "0.35%"; "100%" only for all partitions. */
static void share_text(double share, char *buffer)
{
    double percent = 100 * share;
    if (percent >= 99.5)
        snprintf(buffer, CLI_NUMBER_SIZE, "%s", share < 1 ? ">99%" : "100%");
    else
        snprintf(buffer, CLI_NUMBER_SIZE, "%.*g%%", percent < 9.95 ? 2 : 3,
                 percent < 9.95 ? percent : round(percent));
}

/* "! above 100MB: none 12 of 3,402 partitions (0.35%), time 3 of 90,211 (0.0033%)" */
static void print_passed(const struct lab_result *result, const char *metric, const char *limit)
{
    size_t named = 0, left = 0, column = 0;
    char told[LAB_LABEL_SIZE_MAX + 4 * CLI_NUMBER_SIZE], count[CLI_NUMBER_SIZE], all[CLI_NUMBER_SIZE],
        share[CLI_NUMBER_SIZE];
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_metrics *metrics = &result->strategies[i].metrics;
        double over = cli_figure(metrics, metric), total = cli_figure(metrics, "partitions.total");
        if (!(over > 0))
            continue;
        if (named == NAMED_MAX) {
            left++;
            continue;
        }
        cli_grouped((uint64_t)over, count);
        cli_grouped((uint64_t)total, all);
        share_text(over / total, share);
        if (named == 0)
            column = (size_t)printf("! above %s:", limit);
        else
            putchar(',');
        snprintf(told, sizeof told, "%s %s of %s%s (%s)", result->strategies[i].label, count, all,
                 named == 0 ? total == 1 ? " partition" : " partitions" : "", share);
        column = cli_print_indented(told, column + (named > 0), 2);
        named++;
    }
    if (left > 0) {
        snprintf(told, sizeof told, "and %zu more", left);
        putchar(',');
        cli_print_indented(told, column + 1, 2);
    }
    if (named > 0)
        putchar('\n');
}

/* Explains the columns that are shown. */
static void print_columns(const struct lab_limits *limits, bool has_open_only)
{
    char rows[CLI_NUMBER_SIZE], told[8 * CLI_NUMBER_SIZE] = "";
    size_t used = 0;
    if (has_open_only)
        printf("* none has closed; sizes of the open ones\n");
    if (limits->tiny_rows != 0) {
        cli_grouped(limits->tiny_rows, rows);
        used = (size_t)snprintf(told, sizeof told, "tiny: of the closed ones, fewer than %s rows; ", rows);
    }
    snprintf(
        told + used, sizeof told - used,
        "%sops/1000 rows: operations in addition to the inserts; parts per read: partitions per read, on "
        "average",
        limits->partition_rows != 0 || limits->partition_bytes != 0 ? "over: above a limit; " : "");
    cli_print_paragraph(told);
}

bool cli_print_sizes(const struct lab_result *result, struct sim_error *error)
{
    size_t chosen;
    char limit[CLI_NUMBER_SIZE], words[CLI_NUMBER_SIZE + 8];
    bool has_open_only = false;
    struct lab_score *scores = choose(result, &chosen);
    if (scores == NULL)
        return sim_fail_memory(error);
    printf("%74s%6s\n", "ops/", "parts");
    printf("%27s%27s%16s%5s%5s\n", "partitions", "rows, closed", "bytes, closed", "1000", "per");
    printf("%-15s%5s%7s%5s%6s%6s%6s%6s%7s%7s%5s%5s\n", "  strategy", "all", "closed", "tiny", "over", "p50",
           "p99", "max", "p99", "max", "rows", "read");
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct row row = {.strategy = &result->strategies[i],
                                .limits = &result->limits,
                                .is_chosen = i == chosen,
                                .is_over = scores[i].judgment.within == LAB_EXCEEDS,
                                .has_colour = cli_has_colour()};
        has_open_only |= print_row(&row);
    }
    free(scores);
    if (!cli_print_verdict(result, error))
        return false;
    putchar('\n');
    if (result->limits.partition_rows != 0) {
        cli_grouped(result->limits.partition_rows, limit);
        snprintf(words, sizeof words, "%s rows", limit);
        print_passed(result, "partitions.over_limit_rows", words);
    }
    if (result->limits.partition_bytes != 0) {
        lab_quantity_bytes_text(result->limits.partition_bytes, limit, sizeof limit);
        print_passed(result, "partitions.over_limit_bytes", limit);
    }
    print_columns(&result->limits, has_open_only);
    return true;
}
