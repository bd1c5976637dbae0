/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "kernel/time.h"

#define LABEL_COLUMNS 13

static void print_heading(const struct lab_result *result);
static void print_title(const struct lab_result *result);
static bool print_strategy(const struct lab_strategy_result *strategy, bool has_colour);
static void print_number(const struct lab_metrics *metrics, const char *name, int columns);
static void print_sizes(const struct lab_metrics *metrics, bool is_closed, bool is_told);
static void print_overwritten(const struct lab_result *result);
static void print_expects(const struct lab_result *result, bool has_colour);
static void settings_of_kind(const struct lab_strategy_result *result, char *buffer);
static void add_source(const struct lab_strategy_result *result, char *buffer);
static void add_coordination(const struct lab_strategy_result *result, char *buffer);

void cli_print_result(const struct lab_result *result)
{
    bool has_colour = cli_has_colour(), has_open_only = false;
    print_heading(result);
    if (result->strategy_count > 0 && result->strategies[0].is_idgen) {
        cli_print_identifiers(result);
        print_expects(result, has_colour);
        return;
    }
    printf("              partitions               rows, closed      bytes, closed ops/ part\n"
           "strategy      total closed  tiny  over   p50   p99   max    p99    max 1000 read\n");
    for (size_t i = 0; i < result->strategy_count; i++)
        has_open_only |= print_strategy(&result->strategies[i], has_colour);
    printf("\ntiny: closed with few rows; over: above a limit; ops/1000: extra operations\n"
           "per 1000 rows; part/read: partitions that a read asks on average\n");
    if (has_open_only)
        printf("*: none has closed; sizes of the open ones\n");
    cli_print_observed(result);
    print_overwritten(result);
    cli_print_cluster(result);
    cli_print_costs(result);
    cli_print_oracles(result);
    print_expects(result, has_colour);
}

/* Of a scenario with a table: what its key loses. */
static void print_overwritten(const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        double lost = cli_figure(&strategy->metrics, "rows.overwritten");
        char gone[CLI_NUMBER_SIZE], all[CLI_NUMBER_SIZE], told[2 * CLI_NUMBER_SIZE + 64];
        if (!(lost > 0))
            continue;
        cli_grouped((uint64_t)lost, gone);
        cli_grouped((uint64_t)cli_figure(&strategy->metrics, "writes.rows"), all);
        cli_print_text(stdout, strategy->label);
        putchar(':');
        snprintf(told, sizeof told, "%s of %s rows were replaced by later ones with the same primary key",
                 gone, all);
        cli_print_wrapped(told, cli_text_width(strategy->label) + 1);
        putchar('\n');
    }
}

void cli_print_label(const char *label)
{
    size_t width = cli_text_width(label);
    cli_print_text(stdout, label);
    if (width > LABEL_COLUMNS)
        printf("\n%*s", LABEL_COLUMNS, "");
    else
        printf("%*s", (int)(LABEL_COLUMNS - width), "");
}

double cli_figure(const struct lab_metrics *metrics, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(metrics, name);
    return metric == NULL ? (double)NAN : metric->value;
}

void cli_settings(const struct lab_strategy_result *result, char *buffer)
{
    char age[CLI_NUMBER_SIZE];
    settings_of_kind(result, buffer);
    if (result->strategy.max_age_ns == 0)
        return;
    size_t used = strlen(buffer);
    cli_duration(result->strategy.max_age_ns, age);
    snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", max age %s", age);
}

static void settings_of_kind(const struct lab_strategy_result *result, char *buffer)
{
    const struct bk_strategy *strategy = &result->strategy;
    if (result->observed != WL_OBSERVED_AUTO) {
        cli_observed_settings(result, buffer);
        return;
    }
    if (result->is_idgen) {
        cli_idgen_settings(&result->idgen, buffer);
        return;
    }
    static const char *const units[] = {"none", "hour", "day", "week", "month"};
    char window[CLI_NUMBER_SIZE], epoch[SIM_TIME_TEXT_SIZE];
    switch (strategy->kind) {
    case BK_TIME:
        if (strategy->of.time.calendar != BK_CALENDAR_NONE) {
            snprintf(buffer, CLI_SETTINGS_SIZE, "calendar %s", units[strategy->of.time.calendar]);
            return;
        }
        cli_duration(strategy->of.time.window_ns, window);
        sim_time_format(strategy->of.time.epoch_ns, epoch);
        snprintf(buffer, CLI_SETTINGS_SIZE, "window %s from %s", window, epoch);
        return;
    case BK_COUNT:
        snprintf(buffer, CLI_SETTINGS_SIZE, "rows %" PRIu64, strategy->of.count.rows);
        add_source(result, buffer);
        return;
    case BK_PROBABILISTIC:
        if (strategy->of.probabilistic.chance_denominator == 0)
            snprintf(buffer, CLI_SETTINGS_SIZE, "bits %" PRIu32 ", threshold %" PRIu64,
                     strategy->of.probabilistic.bits, strategy->of.probabilistic.threshold);
        else
            snprintf(buffer, CLI_SETTINGS_SIZE, "chance %" PRIu64 "/%" PRIu64 ", threshold %" PRIu64,
                     strategy->of.probabilistic.chance_numerator,
                     strategy->of.probabilistic.chance_denominator, strategy->of.probabilistic.threshold);
        add_coordination(result, buffer);
        return;
    case BK_HASH:
        snprintf(buffer, CLI_SETTINGS_SIZE, "buckets %" PRIu32, strategy->of.hash.buckets);
        return;
    case BK_WEIGHTED:
        cli_size(strategy->of.weighted.bytes, window);
        snprintf(buffer, CLI_SETTINGS_SIZE, "1 in %s, threshold %" PRIu64, window,
                 strategy->of.weighted.threshold);
        add_coordination(result, buffer);
        return;
    case BK_NONE:
    case BK_KIND_COUNT:
        break;
    }
    snprintf(buffer, CLI_SETTINGS_SIZE, "one partition a key");
}

/* Where the numbers come from, unless the rows have them. */
static void add_source(const struct lab_strategy_result *result, char *buffer)
{
    static const char *const sources[] = {"external",    "counter", "lwt",   "lease",
                                          "incremental", "scan",    "memory"};
    char span[CLI_NUMBER_SIZE];
    size_t used = strlen(buffer);
    if (result->source == BK_SOURCE_EXTERNAL)
        return;
    used +=
        (size_t)snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", counter %s", sources[result->source]);
    if (result->source == BK_SOURCE_LEASE)
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", batch %" PRIu64, result->lease_rows);
    if (result->source != BK_SOURCE_INCREMENTAL && result->source != BK_SOURCE_SCAN)
        return;
    if (result->every_rows != 0)
        used += (size_t)snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", every %" PRIu64 " row%s",
                                 result->every_rows, result->every_rows == 1 ? "" : "s");
    cli_duration(result->every_ns, span);
    if (result->every_ns != 0)
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", every %s", span);
}

/* Of a run with agents: without them there is nothing to coordinate. */
static void add_coordination(const struct lab_strategy_result *result, char *buffer)
{
    static const char *const coordinations[] = {"single", "locked", "three-state", "guarded"};
    static const char *const counters[] = {"rmw", "lwt", "counter"};
    char span[CLI_NUMBER_SIZE];
    size_t used = strlen(buffer);
    if (result->events.stride == 0)
        return;
    used += (size_t)snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", %s",
                             coordinations[result->coordination]);
    if (result->coordination != BK_GUARDED)
        used += (size_t)snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", counter %s",
                                 counters[result->counter]);
    if (result->coordination == BK_THREE_STATE) {
        cli_duration(result->lead_ns, span);
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", lead %s", span);
    } else if (result->coordination == BK_GUARDED) {
        cli_duration(result->grant_ns, span);
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", grants of %s", span);
    }
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

static void print_heading(const struct lab_result *result)
{
    char rows[CLI_NUMBER_SIZE], keys[CLI_NUMBER_SIZE];
    char start[SIM_TIME_TEXT_SIZE], end[SIM_TIME_TEXT_SIZE];
    if (result->strategy_count > 0 && result->strategies[0].is_idgen) {
        print_title(result);
        printf("\nidentifiers, within %.10g s\n\n", (double)(result->end_ns - result->start_ns) / 1e9);
        return;
    }
    if (lab_result_is_observed(result)) {
        print_title(result);
        printf("\nobserved; no rows were made\n\n");
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
    if (result->source != NULL && strcmp(result->source, "made") != 0) {
        putchar(',');
        cli_print_wrapped(result->source, cli_print_wrapped("from", (size_t)column + 1));
    }
    fputs("\n\n", stdout);
}

static void print_title(const struct lab_result *result)
{
    cli_print_text(stdout, result->scenario_name);
    if (result->about != NULL && result->about[0] != '\0') {
        putchar(':');
        cli_print_wrapped(result->about, cli_text_width(result->scenario_name) + 1);
    }
}

/* Returns whether the row shows open partitions, none being closed. */
static bool print_strategy(const struct lab_strategy_result *strategy, bool has_colour)
{
    const struct lab_metrics *metrics = &strategy->metrics;
    bool is_closed = cli_figure(metrics, "partitions.closed") > 0;
    bool is_told = strategy->observed == WL_OBSERVED_AUTO; /* open or closed */
    bool is_over = has_colour && cli_figure(metrics, "partitions.over_limit") > 0;
    cli_print_label(strategy->label);
    print_number(metrics, "partitions.total", 6);
    print_number(metrics, "partitions.closed", 7);
    print_number(metrics, "partitions.tiny", 6);
    fputs(is_over ? CLI_RED : "", stdout);
    print_number(metrics, "partitions.over_limit", 6);
    fputs(is_over ? CLI_PLAIN : "", stdout);
    print_sizes(metrics, is_closed, is_told);
    char text[CLI_NUMBER_SIZE];
    cli_compact(cli_figure(metrics, "writes.extra_ops_per_1000_rows"), 4, text);
    printf("%5s", text);
    cli_compact(cli_figure(metrics, "reads.partitions_per_read.mean"), 4, text);
    printf("%5s\n", text);
    return !is_closed && is_told;
}

static void print_number(const struct lab_metrics *metrics, const char *name, int columns)
{
    char text[CLI_NUMBER_SIZE];
    cli_compact(cli_figure(metrics, name), 5, text);
    printf("%*s", columns, text);
}

/* Where none is closed, those of all partitions: they are the open ones. */
static void print_sizes(const struct lab_metrics *metrics, bool is_closed, bool is_told)
{
    static const char *const names[] = {"rows.p50", "rows.p99", "rows.max", "bytes.p99", "bytes.max"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[LAB_METRIC_NAME_SIZE], number[CLI_NUMBER_SIZE], text[CLI_NUMBER_SIZE + 2];
        snprintf(name, sizeof name, "partitions.%s.%s", is_closed ? "closed" : "all", names[i]);
        bool is_bytes = names[i][0] == 'b';
        if (is_bytes)
            cli_compact_bytes(cli_figure(metrics, name), number);
        else
            cli_compact(cli_figure(metrics, name), 5, number);
        snprintf(text, sizeof text, "%s%s", i == 0 && !is_closed && is_told ? "*" : "", number);
        printf("%*s", is_bytes ? 7 : 6, text);
    }
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
        printf("   (actual %.10g)\n", expect->actual);
    }
}
