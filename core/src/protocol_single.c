/* SPDX-License-Identifier: MIT */
/* BK_SINGLE: whoever finds the count full begins the next bucket in the same write, as if alone. */
#include "counted.h"

static void count(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    int64_t count = bk_counted_with_row(agent, operation);
    operation->adds = bk_counted_stands_here(operation);
    if (!operation->adds) {
        bk_operation_finish(operation, BK_OPERATION_OK);
        return;
    }
    bk_counted_plan(agent, operation, count);
    if (bk_counted_may_roll(agent, operation, count))
        bk_counted_plan_roll(agent, operation, now_ns);
    bk_counted_write_plan(operation);
}

static void written(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    (void)agent, (void)now_ns;
    bk_operation_finish(operation, BK_OPERATION_OK);
}

static const struct counted_way way = {count, written};

static void placed(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    bk_counted_placed(agent, operation, now_ns, &way);
}

static void take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome)
{
    bk_counted_outcome(agent, operation, now_ns, outcome, &way);
}

const struct protocol bk_protocol_single = {
    .write = bk_counted_write,
    .read = bk_counted_read,
    .route = bk_operation_route_newest,
    .placed = placed,
    .fill = bk_counted_fill,
    .outcome = take_outcome,
    .view = bk_counted_view,
    .step_count = STEP_OF_COUNTED,
};
