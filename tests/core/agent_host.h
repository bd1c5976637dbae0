/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of the agent: small settings, an agent in its own memory, rows that fire or do not. */
#ifndef TESTS_CORE_AGENT_HOST_H
#define TESTS_CORE_AGENT_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bucketing/agent.h"

#define THRESHOLD 3
/* The largest weight of a row of a weighted strategy in these tests. */
#define WEIGHT_MOST 3

/* One bit: a row whose id is odd fires. */
static inline struct bk_agent_config small_config(enum bk_coordination coordination, enum bk_counter counter)
{
    struct bk_agent_config config = {
        .coordination = coordination,
        .counter = counter,
        .lead_ns = 200,
        .cache_ttl_ns = 100,
        .cache_entries = 8,
        .operations = 2,
        .retries = 2,
        .retry_backoff_ns = 5,
        .lock_lasts_ns = 1000,
        .lock_backoff_ns = 50,
        .grant_ns = 100,
        .clock_bound_ns = 10,
        .agent_id = 11,
    };
    assert_int_equal(bk_strategy_probabilistic(1, THRESHOLD, &config.strategy), BK_OK);
    return config;
}

static inline struct bk_agent *make_agent(const struct bk_agent_config *config)
{
    size_t size = bk_agent_size(config);
    assert_true(size > 0);
    void *memory = malloc(size);
    assert_non_null(memory);
    struct bk_agent *agent = NULL;
    assert_int_equal(bk_agent_init(memory, size, config, &agent), BK_OK);
    assert_ptr_equal(agent, memory);
    return agent;
}

/* Moves the agent to another address; the old memory is overwritten first. */
static inline struct bk_agent *move_agent(struct bk_agent *agent, size_t size)
{
    void *memory = malloc(size);
    assert_non_null(memory);
    memcpy(memory, agent, size);
    memset(agent, 0xa5, size);
    free(agent);
    return memory;
}

/* Restores the agent from its checkpoint; nothing else of the old agent remains. The restored agent must save
 * the same bytes. */
static inline struct bk_agent *reload_agent(struct bk_agent *agent, const struct bk_agent_config *config)
{
    size_t size = bk_agent_size(config), state_size = bk_agent_state_size(agent);
    unsigned char *state = malloc(state_size), *again = malloc(state_size);
    void *memory = malloc(size);
    assert_true(state != NULL && again != NULL && memory != NULL);
    assert_int_equal(bk_agent_save(agent, state, state_size), BK_OK);
    memset(agent, 0xa5, size);
    free(agent);
    assert_int_equal(bk_agent_load(memory, size, config, state, state_size, &agent), BK_OK);
    assert_ptr_equal(agent, memory);
    assert_int_equal(bk_agent_state_size(agent), state_size);
    assert_int_equal(bk_agent_save(agent, again, state_size), BK_OK);
    assert_memory_equal(again, state, state_size);
    free(state);
    free(again);
    return agent;
}

static inline struct bk_row row_at(int64_t time_ns, bool fires)
{
    return (struct bk_row){.time_ns = time_ns, .id = fires, .bytes = 100};
}

#endif
