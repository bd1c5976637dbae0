/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of costs of a run with agents, per kind of operation, and the resulting CV. */
#include <math.h>

#include "cli/table.h"
#include "cli/text.h"

static const char *const operations[] = {
    "writes.counter_increments", "writes.state_reads",  "writes.state_writes", "writes.lwt",
    "writes.lock_ops",           "writes.rows_scanned",
};
static const int widths[] = {8, 8, 7, 7, 7, 8};
_Static_assert(sizeof widths / sizeof widths[0] == sizeof operations / sizeof operations[0], "a width each");

static bool has_latencies(const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (lab_metrics_find(&result->strategies[i].metrics, "latency.write.p99") != NULL)
            return true;
    }
    return false;
}

/* NaN when no partition has closed. */
static double cv_of(const struct lab_metrics *metrics)
{
    double mean = cli_figure(metrics, "partitions.closed.rows.mean");
    return mean > 0 ? cli_figure(metrics, "partitions.closed.rows.stddev") / mean : (double)NAN;
}

static void print_strategy(const struct lab_strategy_result *strategy)
{
    const struct lab_metrics *metrics = &strategy->metrics;
    double rows = cli_figure(metrics, "writes.rows"), cv = cv_of(metrics);
    char number[CLI_NUMBER_SIZE], text[CLI_NUMBER_SIZE + 1];
    cli_print_label(strategy->label);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        double count = cli_figure(metrics, operations[i]);
        cli_compact(rows > 0 ? 1000 * count / rows : (double)NAN, 5, number);
        printf("%*s", widths[i], number);
    }
    cli_compact(cli_figure(metrics, "latency.write.p99"), 5, number);
    printf("%8s", number);
    cli_compact(cli_figure(metrics, "reads.partitions_per_read.mean"), 4, number);
    printf("%7s", number);
    cli_compact(100 * cv, 4, number);
    snprintf(text, sizeof text, "%s%s", number, cv >= 0 ? "%" : "");
    printf("%7s\n", text);
}

void cli_print_costs(const struct lab_result *result)
{
    if (!has_latencies(result))
        return;
    printf("\noperations            state  state                   rows   write  parts/\n"
           "per 1000 rows counter  reads writes    lwt   lock scanned p99, ms    read     CV\n");
    for (size_t i = 0; i < result->strategy_count; i++)
        print_strategy(&result->strategies[i]);
    printf("\ncounter: additions to it; rows scanned: read in order to be counted; parts/read:\n"
           "partitions per read; CV: coefficient of variation of closed partitions' rows\n");
}
