/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stories of count's sources share: partitions of three rows, leases of four, a count after every
 * second row. */
#ifndef TESTS_CORE_AGENT_SOURCE_STORY_H
#define TESTS_CORE_AGENT_SOURCE_STORY_H

#include "agent_story.h"

static inline struct bk_agent_config source_config(enum bk_source source)
{
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    assert_int_equal(bk_strategy_count(3, &config.strategy), BK_OK);
    config.source = source;
    config.lease_rows = 4;
    config.every_rows = 2;
    config.cache_entries = 4; /* one set, so that the fifth key takes the place of the first */
    config.operations = 4;
    return config;
}

static inline struct actor source_of(struct story *story, enum bk_source source)
{
    struct bk_agent_config config = source_config(source);
    return actor_of(story, "A", &config);
}

/* Reads of keys that are new at each time fill the cache, and leave no trace in the story. */
static inline void fill_cache(const struct actor *actor, int64_t now_ns)
{
    struct story aside = {.length = 0};
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

#endif
