/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table that only a run with agents has: latencies, rows that went wrong, and the load of nodes. */
#include "cli/table.h"
#include "cli/text.h"
#include "lab/metric.h"

static const char *const columns[] = {
    "latency.write.p50", "latency.write.p99",    "latency.write.p999",   "latency.read.p99",
    "latency.lwt.p99",   "writes.retried",       "writes.misrouted",     "writes.duplicated",
    "writes.refused",    "nodes.load_share_max", "nodes.load_share_min",
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static bool has_latencies(const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (lab_metrics_find(&result->strategies[i].metrics, columns[0]) != NULL)
            return true;
    }
    return false;
}

void cli_print_cluster(const struct lab_result *result)
{
    if (!has_latencies(result))
        return;
    printf("\n              write, ms          read   lwt  rows                    node load\n"
           "strategy        p50   p99  p999   p99   p99 retry  misr twice refus   max   min\n");
    for (size_t i = 0; i < result->strategy_count; i++) {
        cli_print_label(result->strategies[i].label);
        for (size_t j = 0; j < COLUMN_COUNT; j++) {
            double value = cli_figure(&result->strategies[i].metrics, columns[j]);
            bool is_share = lab_metric_row_of(columns[j])->unit == LAB_METRIC_SHARE;
            char number[CLI_NUMBER_SIZE], text[CLI_NUMBER_SIZE + 1];
            cli_compact(is_share ? 100 * value : value, is_share ? 4 : 5, number);
            snprintf(text, sizeof text, "%s%s", number, is_share && value >= 0 ? "%" : "");
            printf("%6s", text);
        }
        putchar('\n');
    }
    printf("\nlwt: conditional updates, in ms as well; rows that were retried, are misrouted\n"
           "(in another bucket than the stored changes say), are in two buckets, or were\n"
           "refused; node load: of all bytes, the share of the fullest and emptiest node\n");
}
