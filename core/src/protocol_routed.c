/* SPDX-License-Identifier: MIT */
/* The row itself determines its bucket, by its time, its number or its id, or there is only one bucket.
 * Agents need no agreement. */
#include "operation.h"

static void begin_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct bk_route route;
    (void)now_ns;
    bk_history_route(&agent->config.history, NULL, &operation->row, &route);
    operation->bucket = route.bucket;
    bk_operation_go(operation, STEP_PUT);
}

static void begin_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns)
{
    struct bk_route route;
    (void)now_ns;
    bk_route(&agent->config.strategy, NULL, &operation->row, &route);
    bk_agent_start_reader(agent, operation, agent->config.strategy.kind == BK_COUNT ? route.bucket : 0);
}

const struct protocol bk_protocol_routed = {
    .write = begin_write,
    .read = begin_read,
    .route = begin_write,
    .step_count = STEP_OF_PROTOCOL,
};
