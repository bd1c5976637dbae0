/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What only a run with agents has: how long things took, which rows went wrong, how even the nodes are. */
#include "cli/table.h"
#include "cli/text.h"

struct column {
    const char *metric;
    bool is_share;
};

static const struct column columns[] = {
    {"latency.write.p50", false},   {"latency.write.p99", false},   {"latency.write.p999", false},
    {"latency.read.p99", false},    {"latency.lwt.p99", false},     {"writes.retried", false},
    {"writes.misrouted", false},    {"writes.duplicated", false},   {"writes.refused", false},
    {"nodes.load_share_max", true}, {"nodes.load_share_min", true},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static bool has_latencies(const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (lab_metrics_find(&result->strategies[i].metrics, columns[0].metric) != NULL)
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
            double value = cli_figure(&result->strategies[i].metrics, columns[j].metric);
            char number[CLI_NUMBER_SIZE], text[CLI_NUMBER_SIZE + 1];
            cli_compact(columns[j].is_share ? 100 * value : value, columns[j].is_share ? 4 : 5, number);
            snprintf(text, sizeof text, "%s%s", number, columns[j].is_share && value >= 0 ? "%" : "");
            printf("%6s", text);
        }
        putchar('\n');
    }
    printf("\nlwt: conditional updates, in ms as well; rows that were retried, are misrouted\n"
           "(in another bucket than the stored changes say), stand in two buckets, or were\n"
           "refused; node load: of all bytes, the share of the fullest and emptiest node\n");
}
