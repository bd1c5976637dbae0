/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of a run with identifiers. */
#include "cli/table.h"
#include "cli/text.h"

static const char *const columns[] = {
    "ids.per_second", "ids.given",   "ids.lost",         "ids.failed",       "locks.tried",
    "locks.acquired", "locks.stale", "latency.lock.p50", "latency.lock.p99", "oracle.unique.violations"};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

bool cli_print_identifiers(const struct lab_result *result, struct sim_error *error)
{
    bool has_colour = cli_has_colour();
    printf("              identifiers              locks               for a lock, ms\n"
           "strategy      per s  given  lost  fail tried   had stale    p50    p99  twice\n");
    for (size_t i = 0; i < result->strategy_count; i++) {
        cli_print_label(result->strategies[i].label);
        for (size_t j = 0; j < COLUMN_COUNT; j++) {
            double value = cli_figure(&result->strategies[i].metrics, columns[j]);
            bool is_red = has_colour && j == COLUMN_COUNT - 1 && value > 0;
            char number[CLI_NUMBER_SIZE];
            cli_compact(value, 5, number);
            printf("%s%*s%s", is_red ? CLI_RED : "", j < 2 || j >= 7 ? 7 : 6, number,
                   is_red ? CLI_PLAIN : "");
        }
        putchar('\n');
    }
    if (!cli_print_verdict(result, error))
        return false;
    printf("\nlost: leased by clients that died, or learned of it too late; fail: leases that were\ngiven "
           "up; stale: expired locks of other clients; for a lock: from the request\nfor a batch until its "
           "lock is held; twice: identifiers given twice\n");
    return true;
}
