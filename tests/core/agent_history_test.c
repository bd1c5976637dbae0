/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an agent follows its history, not its strategy (the other cases are in
 * tests/core/scripts/history.txt). Method: the buckets of its actions, and histories that it must refuse,
 * which change nothing. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bucketing/agent.h"

#include <string.h>

#define DAY_NS INT64_C(86400000000000)

static alignas(max_align_t) char memory[65536];

static struct bk_history history_of(const struct bk_strategy *first, const struct bk_strategy *then,
                                    int64_t from_ns)
{
    struct bk_history history;
    assert_int_equal(bk_history_begin(first, &history), BK_OK);
    if (then != NULL)
        assert_int_equal(bk_history_change(&history, from_ns, then), BK_OK);
    return history;
}

static struct bk_agent *agent_of(const struct bk_strategy *strategy, const struct bk_history *history)
{
    struct bk_agent_config config;
    struct bk_agent *agent;
    memset(&config, 0, sizeof config);
    config.strategy = *strategy;
    if (history != NULL)
        config.history = *history;
    config.cache_ttl_ns = 1000 * DAY_NS;
    config.cache_entries = 4;
    config.operations = 4;
    config.remember_keys = 4;
    assert_true(bk_agent_size(&config) <= sizeof memory);
    assert_int_equal(bk_agent_init(memory, sizeof memory, &config, &agent), BK_OK);
    return agent;
}

static struct bk_action next(struct bk_agent *agent, enum bk_action_kind kind)
{
    struct bk_action action;
    assert_true(bk_agent_next(agent, &action));
    assert_int_equal(action.kind, kind);
    return action;
}

static void applied(struct bk_agent *agent, int64_t now_ns, const struct bk_action *action, uint64_t rows,
                    uint64_t empty)
{
    struct bk_outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    outcome.kind = BK_OUTCOME_APPLIED;
    outcome.rows = rows;
    outcome.empty = empty;
    assert_int_equal(bk_agent_report(agent, now_ns, action->ticket, &outcome), BK_OK);
}

/* Reads down to the birth and finds nothing. Returns the number of queried buckets. */
static uint64_t walk(struct bk_agent *agent, int64_t now_ns, int64_t high, int64_t low)
{
    uint32_t operation;
    struct bk_action action;
    assert_int_equal(bk_agent_read_latest(agent, now_ns, 1, 0, 0, 10, BK_PLAN_DEFAULT, &operation), BK_OK);
    for (;;) {
        assert_true(bk_agent_next(agent, &action));
        if (action.kind == BK_ACT_DONE)
            break;
        assert_int_equal(action.step.bucket_high, high);
        high = action.step.bucket_low - 1;
        applied(agent, now_ns, &action, 0, 1);
    }
    assert_int_equal(high, low - 1);
    assert_int_equal(action.rows_found, 0);
    return action.partitions_asked;
}

/* The strategy next to a history gives only the kind: rows and readers both follow the eras. */
static void a_history_of_one_era_holds_in_place_of_the_strategy(void **unused)
{
    (void)unused;
    struct bk_strategy ten, four, day, hour;
    uint32_t operation;
    bk_strategy_count(10, &ten);
    bk_strategy_count(4, &four);
    struct bk_history history = history_of(&four, NULL, 0);
    struct bk_agent *agent = agent_of(&ten, &history);
    struct bk_row row = {0, 39, 0, 0};
    assert_int_equal(bk_agent_write(agent, 0, 1, &row, &operation), BK_OK);
    assert_int_equal(next(agent, BK_ACT_PUT_ROW).bucket, 9);
    assert_int_equal(bk_agent_read_latest(agent, 0, 1, 0, 39, 10, BK_PLAN_DEFAULT, &operation), BK_OK);
    assert_int_equal(next(agent, BK_ACT_READ_ROWS).step.bucket_high, 9);
    /* The current window is not closed, whatever the hours of the strategy say. */
    bk_strategy_time(DAY_NS, 0, &day);
    bk_strategy_time(DAY_NS / 24, 0, &hour);
    history = history_of(&day, NULL, 0);
    agent = agent_of(&hour, &history);
    assert_int_equal(walk(agent, 3 * DAY_NS, 3, 0), 4);
    assert_int_equal(walk(agent, 3 * DAY_NS, 3, 3), 1);
}

/* An answer reports on 64 windows, even if more were queried. */
static void of_many_windows_64_are_remembered(void **unused)
{
    (void)unused;
    struct bk_strategy day;
    uint32_t operation;
    bk_strategy_time(DAY_NS, 0, &day);
    struct bk_agent *agent = agent_of(&day, NULL);
    const struct bk_query query = {
        .kind = BK_QUERY_LATEST, .plan = BK_PLAN_PARALLEL, .at_once = 80, .rows = 10, .birth_ns = 0};
    assert_int_equal(bk_agent_read(agent, 79 * DAY_NS, 1, 0, &query, &operation), BK_OK);
    struct bk_action action = next(agent, BK_ACT_READ_ROWS);
    assert_int_equal(action.step.bucket_high - action.step.bucket_low, 79);
    applied(agent, 79 * DAY_NS, &action, 0, UINT64_MAX);
    assert_int_equal(next(agent, BK_ACT_DONE).partitions_asked, 80);
    /* 0 to 63 are known to be empty; the newest window is open and was not among them. */
    assert_int_equal(walk(agent, 79 * DAY_NS, 79, 64), 16);
}

static void what_does_not_fit_is_refused(void **unused)
{
    (void)unused;
    struct bk_strategy day, hash, ten, four;
    bk_strategy_time(DAY_NS, 0, &day);
    bk_strategy_hash(4, &hash);
    bk_strategy_count(10, &ten);
    bk_strategy_count(4, &four);
    struct bk_agent *agent = agent_of(&day, NULL);
    static char before[sizeof memory];
    memcpy(before, memory, sizeof memory);
    struct bk_history history = history_of(&day, &hash, DAY_NS);
    assert_int_equal(bk_agent_change(agent, &history), BK_ERROR_ERA_KIND);
    history = history_of(&hash, NULL, 0);
    assert_int_equal(bk_agent_change(agent, &history), BK_ERROR_ERA_KIND);
    history.count = 9;
    assert_int_equal(bk_agent_change(agent, &history), BK_ERROR_ERAS);
    assert_int_equal(bk_agent_change(agent, NULL), BK_ERROR_NULL);
    assert_int_equal(bk_agent_change(NULL, &history), BK_ERROR_NULL);
    assert_memory_equal(before, memory, sizeof memory);
    struct bk_agent_config config;
    memset(&config, 0, sizeof config);
    config.strategy = ten;
    config.cache_entries = config.operations = 1;
    config.history = history_of(&ten, NULL, 0);
    assert_int_equal(bk_agent_check(&config), BK_OK);
    config.history = history_of(&ten, &four, DAY_NS);
    config.lease_rows = config.every_rows = 1;
    for (int source = BK_SOURCE_EXTERNAL; source <= BK_SOURCE_MEMORY; source++) {
        config.source = (enum bk_source)source;
        bool has_state = source != BK_SOURCE_EXTERNAL && source != BK_SOURCE_COUNTER;
        assert_int_equal(bk_agent_check(&config), has_state ? BK_OK : BK_ERROR_ERA_KIND);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_history_of_one_era_holds_in_place_of_the_strategy),
                                       cmocka_unit_test(of_many_windows_64_are_remembered),
                                       cmocka_unit_test(what_does_not_fit_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
