/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the table of a run: one line for each strategy. */
#define _POSIX_C_SOURCE 200809L
#include "cli/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "kernel/time.h"
#include "reports/reports.h"

#define LABEL_COLUMNS 13

/* "disk, all replicas: day 474MB, about 246MB compressed; count 471MB, about 245MB compressed" */
static void print_disk(const struct lab_result *result)
{
    size_t column = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_metrics *metrics = &result->strategies[i].metrics;
        double bytes = cli_figure(metrics, "disk.bytes");
        char plain[CLI_NUMBER_SIZE], compressed[CLI_NUMBER_SIZE],
            told[LAB_LABEL_SIZE_MAX + 2 * CLI_NUMBER_SIZE + 32];
        if (!(bytes > 0))
            continue;
        cli_compact_bytes(bytes, plain);
        cli_compact_bytes(cli_figure(metrics, "disk.compressed_bytes"), compressed);
        column = column == 0 ? (size_t)printf("disk, all replicas:") : column + (size_t)printf(";");
        snprintf(told, sizeof told, "%s %s, about %s compressed", result->strategies[i].label, plain,
                 compressed);
        column = cli_print_indented(told, column, 2);
    }
    if (column > 0)
        putchar('\n');
}

static void print_title(const struct lab_result *result)
{
    cli_print_text(stdout, result->scenario_name);
    if (result->about != NULL && result->about[0] != '\0') {
        putchar(':');
        cli_print_wrapped(result->about, cli_text_width(result->scenario_name) + 1);
    }
}

static void print_heading(const struct lab_result *result)
{
    char rows[CLI_NUMBER_SIZE], keys[CLI_NUMBER_SIZE];
    char start[SIM_TIME_TEXT_SIZE], end[SIM_TIME_TEXT_SIZE];
    if (result->strategy_count > 0 && result->strategies[0].settings.is_idgen) {
        print_title(result);
        printf("\nidentifiers, within %.10g s\n\n",
               (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns) / 1e9);
        return;
    }
    if (lab_result_is_observed(result)) {
        print_title(result);
        printf("\nobserved; no rows were generated\n\n");
        return;
    }
    cli_grouped(result->rows, rows);
    cli_grouped(result->keys, keys);
    sim_time_format(result->start_ns, start);
    sim_time_format(result->end_ns, end);
    print_title(result);
    putchar('\n');
    int column = printf("%s row%s of %s key%s, %s to %s", rows, result->rows == 1 ? "" : "s", keys,
                        result->keys == 1 ? "" : "s", start, end);
    if (result->source != NULL && strcmp(result->source, "synthetic") != 0) {
        putchar(',');
        cli_print_wrapped(result->source, cli_print_wrapped("from", (size_t)column + 1));
    }
    fputs("\n\n", stdout);
}

static void print_expects(const struct lab_result *result, bool has_colour)
{
    for (size_t i = 0; i < result->expect_count; i++) {
        const struct lab_expect_result *expect = &result->expects[i];
        printf("%s%s%s%s ", i == 0 ? "\nexpectations\n  " : "  ",
               !has_colour  ? ""
               : expect->ok ? CLI_GREEN
                            : CLI_RED,
               expect->ok ? "ok    " : "FAILED", has_colour ? CLI_PLAIN : "");
        cli_print_text(stdout, expect->text);
        printf(isnan(expect->actual) ? "\n" : "   (actual %.10g)\n", expect->actual);
    }
}

bool cli_print_result(const struct lab_result *result, struct sim_error *error)
{
    struct report_answer *answer = report_run_answer(result);
    if (answer == NULL)
        return sim_fail_memory(error);
    cli_print_answer(answer);
    putchar('\n');
    print_heading(result);
    if (result->strategy_count > 0 && result->strategies[0].settings.is_idgen) {
        cli_print_identifiers(result);
    } else {
        cli_print_sizes(result, answer);
        cli_print_observed(result);
        print_disk(result);
        cli_print_agents(result);
    }
    print_expects(result, cli_has_colour());
    report_answer_free(answer);
    return true;
}

void cli_print_answer(const struct report_answer *answer)
{
    size_t width = 0;
    for (size_t i = 0; i < answer->line_count; i++) {
        const size_t length = strlen(answer->lines[i].label);
        width = length > width ? length : width;
    }
    cli_print_paragraph(answer->headline);
    for (size_t i = 0; i < answer->line_count; i++) {
        const size_t column = 2 + width + 1;
        printf("%s  %-*s", i == 0 ? "\n" : "", (int)width + 1, answer->lines[i].label);
        cli_print_indented(answer->lines[i].text, column, column + 1);
        putchar('\n');
    }
}

void cli_print_label(const char *label)
{
    cli_print_label_after(label, 0);
}

void cli_print_label_after(const char *label, size_t column)
{
    size_t width = cli_text_width(label);
    cli_print_text(stdout, label);
    if (width > LABEL_COLUMNS)
        printf("\n%*s", (int)column + LABEL_COLUMNS, "");
    else
        printf("%*s", (int)(LABEL_COLUMNS - width), "");
}

bool cli_has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return (no_colour == NULL || no_colour[0] == '\0') && isatty(STDOUT_FILENO) == 1 &&
           (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

bool cli_expects_hold(const struct lab_result *result, struct sim_error *error)
{
    size_t failed = 0;
    for (size_t i = 0; i < result->expect_count; i++)
        failed += !result->expects[i].ok;
    if (failed == 0)
        return true;
    return sim_fail(error, SIM_ERROR_CHECK, "%s: %zu of %zu expectation%s failed", result->scenario_name,
                    failed, result->expect_count, result->expect_count == 1 ? "" : "s");
}
