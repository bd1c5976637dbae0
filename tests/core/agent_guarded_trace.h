/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the traces of guarded. Grants extend 100 beyond the row, clocks are accurate to within 10, and
 * three rows that fire fill a bucket. */
#ifndef TESTS_CORE_AGENT_GUARDED_TRACE_H
#define TESTS_CORE_AGENT_GUARDED_TRACE_H

#include "agent_trace.h"

#define BEGINNING INT64_MIN

static inline struct actor guarded(struct trace *trace)
{
    struct bk_agent_config config = small_config(BK_GUARDED, BK_COUNTER_COLUMN);
    config.operations = 4;
    config.cache_ttl_ns = 0; /* not used */
    config.retry_backoff_ns = 0;
    trace->is_guarded = true;
    return actor_of(trace, "A", &config);
}

/* An agent that knows bucket 5 from 500, bucket 4 from 400, granted until 600. */
static inline struct actor knowing(struct trace *trace)
{
    struct actor a = guarded(trace);
    knows(&a, 510, 5, 400, 500, 600);
    return a;
}

static inline void is_start(const struct actor *actor, int64_t now_ns, uint32_t operation, int64_t start_ns)
{
    static const char *const names[] = {"start"};
    tell_columns(actor, now_ns, operation, BK_OUTCOME_APPLIED, names, 1, (int64_t[4]){start_ns});
}

static inline void no_start(const struct actor *actor, int64_t now_ns, uint32_t operation)
{
    static const char *const names[] = {"start"};
    tell_columns(actor, now_ns, operation, BK_OUTCOME_APPLIED, names, 0, (int64_t[4]){0});
}

/* Fires a row that is stored and counted; the total is three. */
static inline uint32_t fill(const struct actor *actor, int64_t now_ns)
{
    uint32_t operation = write_row(actor, now_ns, 7, true);
    applied(actor, now_ns, operation);
    applied(actor, now_ns, operation);
    is_total(actor, now_ns, operation, THRESHOLD);
    return operation;
}

#endif
