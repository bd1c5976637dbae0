/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints explanations of observed sizes. */
#include <string.h>

#include "cassandra/estimated_histogram.h"
#include "cli/table.h"
#include "cli/text.h"

void cli_observed_settings(const struct lab_strategy_result *result, char *buffer)
{
    bool has_table = result->settings.observed_table[0] != '\0';
    snprintf(buffer, CLI_SETTINGS_SIZE, "%s of %.64s%s%.80s",
             wl_observed_format_name(result->settings.observed), result->settings.observed_table,
             has_table ? " in " : "", result->settings.observed_file);
}

/* Prints the ranges of the true sizes. */
static void print_buckets(const struct lab_metrics *metrics, size_t column)
{
    static const char *const names[] = {"p50", "p99", "max"};
    column = cli_print_wrapped("(of all partitions in sstables; sizes are the ends of Cassandra's buckets",
                               column);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[LAB_METRIC_NAME_SIZE], from[CLI_NUMBER_SIZE], to[CLI_NUMBER_SIZE], told[96];
        snprintf(name, sizeof name, "partitions.all.bytes.%s", names[i]);
        double size = cli_figure(metrics, name);
        uint64_t above = cass_histogram_above((uint64_t)size);
        if (above == 0)
            continue;
        cli_compact_bytes((double)above, from);
        cli_compact_bytes(size, to);
        column += (size_t)printf(";");
        snprintf(told, sizeof told, "%s is above %s, at most %s", names[i], from, to);
        column = cli_print_wrapped(told, column);
    }
    printf(")");
}

void cli_print_observed(const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *one = &result->strategies[i];
        char settings[CLI_SETTINGS_SIZE];
        if (one->settings.observed == WL_OBSERVED_AUTO)
            continue;
        cli_observed_settings(one, settings);
        cli_print_text(stdout, one->label);
        putchar(':');
        size_t column = cli_print_wrapped(settings, cli_text_width(one->label) + 1);
        if (one->settings.observed == WL_OBSERVED_PARTITIONS)
            cli_print_wrapped("(of all partitions, since a file does not say which are closed)", column);
        else
            print_buckets(&one->metrics, column);
        putchar('\n');
    }
}
