/* SPDX-License-Identifier: MIT */
/* BK_SINGLE: an operation that finds the bucket full begins the next one in the same write, as if there were
 * no other agents. */
#include "counted.h"

static void count(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t count;
    if (!bk_counted_plan_row(agent, operation, &count))
        return;
    if (bk_counted_may_roll(agent, operation, count))
        bk_counted_plan_roll(agent, operation, now_ns);
    bk_counted_write_plan(operation);
}

const struct protocol bk_protocol_single = {
    .write = bk_counted_write,
    .read = bk_counted_read,
    .route = bk_counted_route,
    .placed = bk_counted_placed,
    .fill = bk_counted_fill,
    .outcome = bk_counted_outcome,
    .count = count,
    .view = bk_counted_view,
    .step_count = STEP_OF_COUNTED,
};
