/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the traces of the sources of `count`: partitions of three rows, leases of four, a count after
 * every second row. */
#ifndef TESTS_CORE_AGENT_SOURCE_TRACE_H
#define TESTS_CORE_AGENT_SOURCE_TRACE_H

#include "agent_trace.h"

static inline struct bk_agent_config source_config(enum bk_source source)
{
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    assert_int_equal(bk_strategy_count(3, &config.strategy), BK_OK);
    config.source = source;
    config.lease_rows = 4;
    config.every_rows = 2;
    config.cache_entries = 4; /* one set, so that the fifth key replaces the first */
    config.operations = 4;
    return config;
}

static inline struct actor source_of(struct trace *trace, enum bk_source source)
{
    struct bk_agent_config config = source_config(source);
    return actor_of(trace, "A", &config);
}

/* Reads of keys that are new at each time fill the cache, and leave nothing in the trace. */
static inline void fill_cache(const struct actor *actor, int64_t now_ns)
{
    struct trace aside = {.length = 0};
    struct actor other = {actor->name, actor->agent, &aside};
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t key = (uint64_t)now_ns * 4 + i;
        uint32_t operation;
        assert_int_equal(bk_agent_read_latest(other.agent, now_ns, key, 0, 0, 1, BK_PLAN_WALK, &operation),
                         BK_OK);
        say_actions(&other, operation);
        is_absent(&other, now_ns, operation);
        found_rows(&other, now_ns, operation, 1);
    }
}

/* A row that is stored by hand, up to the count that follows it. */
static inline void put_one(const struct actor *actor, int64_t now_ns)
{
    write_row(actor, now_ns, 7, false);
    applied(actor, now_ns + 5, 0);
}

static inline void put_two(const struct actor *actor, int64_t now_ns)
{
    put_one(actor, now_ns);
    put_one(actor, now_ns + 10);
}

/* The agent learns the state first, so that the trace may begin at its main event. */
static inline void knows_state(const struct actor *actor, int64_t now_ns, int64_t bucket, int64_t counter,
                               int64_t last_ns, int64_t last_id)
{
    read_rows(actor, now_ns, 1, BK_PLAN_WALK);
    is_state(actor, now_ns, 0, bucket, counter, last_ns, last_id);
    found_rows(actor, now_ns, 0, 1);
    actor->trace->length = 0;
    actor->trace->text[0] = '\0';
}

#endif
