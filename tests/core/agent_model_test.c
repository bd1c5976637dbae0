/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an agent keeps its guarantees under any schedule and any failures.
 * Method: one to five agents over a database of a few rows (agent_world.h), with schedules, failures, lost
 * effects and late effects from seeded draws. The world asserts at every action the properties that hold
 * at any time: a row is retried in its first bucket, each operation ends once, conditional rolls go up by
 * one and only at a full count, and only the lock's owner requests a roll under a lock. This file asserts
 * the properties of whole runs. */
#include "../share.h"
#include "agent_world.h"

/* The agent's rules for one row at a time, without concurrency. */
struct naive {
    struct bk_key_state state;
    int64_t next_change_ns;
    int64_t span; /* the current span of the greatest age */
    bool is_begun;
};

/* A new span of the greatest age cancels a pending change. With three states the skipped spans get a bucket
 * too. */
static void cross_line_naively(const struct bk_agent_config *config, struct naive *naive,
                               const struct bk_row *row)
{
    int64_t age_ns = config->strategy.max_age_ns, span = age_ns == 0 ? 0 : row->time_ns / age_ns;
    if (naive->is_begun && span > naive->span) {
        naive->state.bucket += 1 + (config->coordination == BK_THREE_STATE && span > naive->span + 1);
        naive->state.counter = (uint64_t)(naive->next_change_ns = 0);
    }
    naive->span = span;
    naive->is_begun = true;
}

static int64_t place_naively(const struct bk_agent_config *config, struct naive *naive,
                             const struct bk_row *row)
{
    bool is_dated = config->coordination == BK_THREE_STATE;
    int64_t age_ns = config->strategy.max_age_ns, lead_ns = is_dated ? config->lead_ns : 0;
    if (!is_dated && age_ns == 0) {
        struct bk_placement route;
        assert_int_equal(bk_route(&config->strategy, &naive->state, row, &route), BK_OK);
        assert_int_equal(bk_advance(&config->strategy, &naive->state, row, NULL), BK_OK);
        return route.bucket;
    }
    cross_line_naively(config, naive, row);
    if (naive->next_change_ns != 0 && row->time_ns >= naive->next_change_ns)
        naive->state.counter = (uint64_t)(naive->next_change_ns = 0);
    int64_t bucket = naive->state.bucket - (naive->next_change_ns != 0);
    naive->state.counter += bk_weight(&config->strategy, row);
    bool is_near_line = age_ns != 0 && row->time_ns + 2 * lead_ns > (naive->span + 1) * age_ns;
    if (naive->next_change_ns == 0 && naive->state.counter >= THRESHOLD && !is_near_line) {
        naive->state.bucket++;
        naive->next_change_ns = is_dated ? row->time_ns + lead_ns : 0;
        naive->state.counter = is_dated ? naive->state.counter : 0;
    }
    return bucket;
}

static struct bk_strategy strategy_of(enum bk_kind kind)
{
    struct bk_strategy strategy;
    enum bk_status status = kind == BK_KIND_UNBUCKETED ? bk_strategy_unbucketed(&strategy)
                            : kind == BK_KIND_TIME     ? bk_strategy_time(1000, 0, &strategy)
                            : kind == BK_KIND_COUNT    ? bk_strategy_count(5, &strategy)
                            : kind == BK_KIND_PROBABILISTIC
                                ? bk_strategy_probabilistic(1, THRESHOLD, &strategy)
                            : kind == BK_KIND_WEIGHTED ? bk_strategy_weighted(100, THRESHOLD, &strategy)
                                                       : bk_strategy_hash(9, &strategy);
    assert_int_equal(status, BK_OK);
    return strategy;
}

/* Each row is driven to its end before the next row begins. */
static void compare_with_naive(struct bk_agent_config config, uint64_t seed)
{
    struct world *world = world_of(&config, 1, seed);
    struct naive naive[KEYS];
    memset(naive, 0, sizeof naive);
    uint64_t sequence[KEYS] = {0};
    for (int i = 0; i < 60; i++) {
        world->now_ns += (int64_t)draw_below(&world->draw, draw_below(&world->draw, 16) == 0 ? 4000 : 60);
        uint64_t key = draw_below(&world->draw, KEYS);
        struct bk_row row = {
            .time_ns = world->now_ns, .sequence = sequence[key]++, .id = draw_bits(&world->draw)};
        if (config.strategy.kind == BK_KIND_WEIGHTED)
            row.bytes = draw_below(&world->draw, 100 * WEIGHT_MOST);
        int64_t expected = place_naively(&config, &naive[key], &row);
        world_write(world, 0, key, &row);
        world_finish(world);
        assert_true(world->last_done.bucket == expected);
        assert_int_equal(world->last_done.status, BK_OPERATION_OK);
        assert_true(world->last_done.counted == bk_fires(&config.strategy, &row));
    }
    world_free(world);
}

static void test_one_agent_without_failures_is_the_naive_model(void **state)
{
    (void)state;
    uint64_t seed = 0;
    for (int kind = BK_KIND_UNBUCKETED; kind < BK_KINDS; kind++) {
        for (int coordination = BK_SINGLE; coordination <= BK_THREE_STATE; coordination++) {
            for (int counter = BK_COUNTER_RMW; counter <= BK_COUNTER_NATIVE; counter++) {
                struct bk_agent_config config =
                    small_config((enum bk_coordination)coordination, (enum bk_counter)counter);
                config.strategy = strategy_of((enum bk_kind)kind);
                for (int i = 0; i < 12 && bk_agent_check(&config) == BK_OK; i++) {
                    config.cache_ttl_ns = i % 3 * 100;
                    if (i >= 6 && bk_kind_fires(config.strategy.kind))
                        config.strategy.max_age_ns = 1000 + 37 * i;
                    compare_with_naive(config, seed++);
                }
            }
        }
    }
    assert_true(seed == 12 * (4 * 3 + 2 * 9));
}

/* All agents of a run have the same settings. Runs differ only in what is drawn here. */
static struct bk_agent_config draw_config(struct draw *draw)
{
    struct bk_agent_config config =
        small_config((enum bk_coordination)draw_below(draw, 3), (enum bk_counter)draw_below(draw, 3));
    config.cache_ttl_ns = (int64_t)draw_below(draw, 3) * 40;
    config.lead_ns = (int64_t)draw_below(draw, 3) * 60;
    config.operations = 1 + (uint32_t)draw_below(draw, 4);
    config.retries = (uint32_t)draw_below(draw, 4);
    config.counter_retries = (uint32_t)draw_below(draw, 3);
    config.retry_backoff_ns = (int64_t)draw_below(draw, 3) * 4;
    config.lock_lasts_ns = 1 + (int64_t)draw_below(draw, 200);
    config.lock_backoff_ns = 1 + (int64_t)draw_below(draw, 60);
    config.cache_entries = 1 + (uint32_t)draw_below(draw, 8);
    if (draw_below(draw, 2) == 0)
        bk_strategy_max_age(1000 + (int64_t)draw_below(draw, 1000), &config.strategy);
    return config;
}

static void test_any_schedule_with_any_failure_ends_and_keeps_rows_in_place(void **state)
{
    (void)state;
    uint64_t steps = 0, most = 0;
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < test_part(3000); seed++) {
        struct draw draw = {.state = seed};
        struct bk_agent_config config = draw_config(&draw);
        struct world *world = world_of(&config, 1 + (int)draw_below(&draw, AGENTS_MAX), seed);
        world->may = draw_failures(&draw);
        steps += world_run(world, 60);
        most = world->tally.rolls > most ? world->tally.rolls : most;
        add_tally(&tally, &world->tally);
        world_free(world);
    }
    assert_true(steps > test_part(100000));
    /* The campaign has reached the rare paths. */
    assert_true(tally.rolls > test_part(1000) && tally.retried_rows > test_part(1000) &&
                tally.late_effects > test_part(1000));
    assert_true(tally.takeovers > test_part(10) && tally.refused_rows > test_part(1000) &&
                tally.unknown_rows > test_part(1000));
    assert_true(tally.conditions_lost > test_part(1000) && tally.reads > test_part(1000) && most > 3);
}

/* Every increment that an agent reports is stored, and the roll comes with the increment that fills the
 * count. */
static void test_lwt_count_without_unknown_outcomes_loses_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < test_part(1000); seed++) {
        struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_LWT);
        config.operations = 3;
        config.retries = 8;
        struct world *world = world_of(&config, 2, seed);
        world->may.refuse = seed % 2 == 0;
        world_run(world, 150);
        int64_t stored = 0;
        for (int key = 0; key < KEYS; key++)
            stored += world->keys[key].state[BK_COLUMN_BUCKET] * THRESHOLD +
                      world->keys[key].state[BK_COLUMN_COUNTER];
        assert_true((uint64_t)stored == world->tally.counted);
        assert_true(world->tally.counted <= world->tally.fired); /* rows of a closed bucket do not count */
        assert_true(world->tally.rolls_above_threshold == 0 && world->tally.rolls > 0);
        world_free(world);
    }
}

/* Under every failure a bucket is left only when its count is full, and no bucket number is skipped. */
static void test_locked_lwt_skips_no_bucket(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < test_part(1000); seed++) {
        struct draw draw = {.state = seed};
        struct bk_agent_config config = draw_config(&draw);
        config.coordination = BK_LOCKED;
        config.counter = BK_COUNTER_LWT;
        config.strategy.max_age_ns = 0;
        struct world *world = world_of(&config, 2 + (int)draw_below(&draw, AGENTS_MAX - 1), seed);
        world->may = draw_failures(&draw);
        world_run(world, 100);
        for (int key = 0; key < KEYS; key++)
            assert_true((uint64_t)world->keys[key].state[BK_COLUMN_BUCKET] == world->keys[key].rolls);
        add_tally(&tally, &world->tally);
        world_free(world);
    }
    assert_true(tally.rolls > test_part(1000));
}

/* If the lead is longer than cache and refresh, each row goes to the bucket that the stored dates give,
 * whichever agent places it. */
static void test_three_state_lwt_with_a_safe_lead_misroutes_no_row(void **state)
{
    (void)state;
    struct tally safe = {0}, unsafe = {0};
    for (uint64_t seed = 0; seed < test_part(1000); seed++) {
        struct bk_agent_config config = small_config(BK_THREE_STATE, BK_COUNTER_LWT);
        bool is_safe = seed % 2 == 0;
        config.operations = 3;
        config.retry_backoff_ns = 0;
        config.cache_ttl_ns = 100;
        config.lead_ns = is_safe ? 101 + 2 * LATENCY_NS_MAX : 20;
        if (seed / 2 % 2 == 0)
            bk_strategy_max_age(1000, &config.strategy);
        struct world *world = world_of(&config, 2 + (int)(seed % (AGENTS_MAX - 1)), seed);
        world_run(world, 300);
        add_tally(is_safe ? &safe : &unsafe, &world->tally);
        world_free(world);
    }
    assert_true(safe.rolls > test_part(1000) && unsafe.rolls > test_part(1000));
    assert_true(safe.misrouted == 0 && safe.beyond_lines == 0 && safe.line_rolls > test_part(1000));
    assert_true(unsafe.misrouted > 0); /* the measurement detects an unsafe lead */
}

/* Under any failures, crashes and clock errors: with conditional updates no bucket has rows from both sides
 * of a line, except for rows that were overtaken by a roll. */
static void test_lwt_keeps_rows_of_two_sides_of_a_line_apart(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < test_part(1000); seed++) {
        struct draw draw = {.state = seed};
        struct bk_agent_config config = draw_config(&draw);
        config.counter = BK_COUNTER_LWT;
        bk_strategy_max_age(1000 + (int64_t)draw_below(&draw, 1000), &config.strategy);
        struct world *world = world_of(&config, 1 + (int)draw_below(&draw, AGENTS_MAX), seed);
        world->may = draw_failures(&draw);
        world->may.crash = draw_below(&draw, 2) == 0;
        /* Locks depend on clocks, and the world has only one clock. */
        for (int i = 0; i < world->agent_count && config.coordination != BK_LOCKED; i++)
            world->agents[i].offset_ns = (int64_t)draw_below(&draw, 400);
        world_run(world, 120);
        add_tally(&tally, &world->tally);
        world_free(world);
    }
    assert_true(tally.beyond_lines == 0);
    assert_true(tally.rolls > test_part(2000) && tally.line_rolls > test_part(2000) &&
                tally.late_effects > test_part(300) && tally.crashes > test_part(300));
}

/* Draws all settings of guarded. Clocks are wrong by up to the bound. */
static struct world *draw_guarded(uint64_t seed, struct failures may)
{
    struct draw draw = {.state = seed};
    struct bk_agent_config config = draw_config(&draw);
    config.coordination = BK_GUARDED;
    config.counter = BK_COUNTER_NATIVE;
    config.strategy.max_age_ns = 0;
    config.grant_ns = 1 + (int64_t)draw_below(&draw, 200);
    config.clock_bound_ns = (int64_t)draw_below(&draw, 4) * 15;
    config.cache_entries = draw_below(&draw, 2) == 0 ? 1 : 64;
    if (draw_below(&draw, 2) == 0)
        bk_strategy_max_age(1000 + (int64_t)draw_below(&draw, 1000), &config.strategy);
    struct world *world = world_of(&config, 1 + (int)draw_below(&draw, AGENTS_MAX), seed);
    world->key_count = 1 + draw_below(&draw, KEYS_GUARDED);
    world->may = may;
    uint64_t span = 2 * (uint64_t)config.clock_bound_ns + 1;
    for (int i = 0; i < world->agent_count; i++)
        world->agents[i].offset_ns = (int64_t)draw_below(&draw, span) - config.clock_bound_ns;
    return world;
}

/* Under any failures and crashes: a row's bucket depends only on its time, buckets are in order of time, no
 * closed bucket is empty, each counter counts only the rows of its own bucket, and readers begin high enough.
 * The world asserts the rest at each step. */
static void test_guarded_places_rows_by_their_time_only(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < test_part(2000); seed++) {
        struct draw draw = {.state = seed * 77};
        struct failures may = draw_failures(&draw);
        may.crash = draw_below(&draw, 2) == 0;
        struct world *world = draw_guarded(seed, may);
        world_run(world, 120);
        guarded_check(world);
        add_tally(&tally, &world->tally);
        world_free(world);
    }
    assert_true(tally.rolls > test_part(1000) && tally.extensions > test_part(10000) &&
                tally.crashes > test_part(1000));
    assert_true(tally.line_rolls > test_part(1000) && tally.lookups > test_part(300) &&
                tally.late_rows > test_part(1000) && tally.late_effects > test_part(1000));
    assert_true(tally.conditions_lost > test_part(1000) && tally.retried_rows > test_part(1000) &&
                tally.reads > test_part(1000));
}

/* The worst case for a reader with clocks within their bound: its own clock is late by the bound, and the
 * rows that it must find come from a clock that is ahead by the bound. The world asserts where the reader
 * begins. */
static void test_guarded_readers_begin_high_enough_by_the_worst_clocks(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < test_part(600); seed++) {
        struct draw draw = {.state = seed};
        struct bk_agent_config config = small_config(BK_GUARDED, BK_COUNTER_NATIVE);
        config.operations = 4;
        config.clock_bound_ns = 20 + (int64_t)draw_below(&draw, 40);
        config.grant_ns = 20 + (int64_t)draw_below(&draw, 300);
        if (seed % 2 == 0)
            bk_strategy_max_age(1000, &config.strategy);
        struct world *world = world_of(&config, 4, seed);
        world->key_count = 1;
        world->reads_of_8 = 4;
        world->rows_are_ahead = true;
        for (int i = 0; i < world->agent_count; i++)
            world->agents[i].offset_ns = i % 2 == 0 ? config.clock_bound_ns : -config.clock_bound_ns;
        world_run(world, 150);
        guarded_check(world);
        add_tally(&tally, &world->tally);
        world_free(world);
    }
    assert_true(tally.reads > test_part(3000) && tally.rolls > test_part(1000));
}

/* Without failures only rows of the future are refused, and every increment is made once. */
static void test_guarded_without_failures_takes_every_row(void **state)
{
    (void)state;
    struct tally tally = {0};
    for (uint64_t seed = 0; seed < test_part(500); seed++) {
        struct world *world = draw_guarded(seed, (struct failures){.lag = seed % 2});
        world_run(world, 150);
        guarded_check(world);
        int64_t stored = 0;
        for (size_t key = 0; key < KEYS_GUARDED; key++)
            stored += world->keys[key].total;
        assert_true((uint64_t)stored == world->tally.counted && world->tally.unknown_rows == 0);
        assert_true(world->tally.refused_rows == world->tally.future_rows);
        add_tally(&tally, &world->tally);
        world_free(world);
    }
    assert_true(tally.rolls > test_part(1000) && tally.future_rows > test_part(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_agent_without_failures_is_the_naive_model),
        cmocka_unit_test(test_any_schedule_with_any_failure_ends_and_keeps_rows_in_place),
        cmocka_unit_test(test_lwt_count_without_unknown_outcomes_loses_nothing),
        cmocka_unit_test(test_locked_lwt_skips_no_bucket),
        cmocka_unit_test(test_lwt_keeps_rows_of_two_sides_of_a_line_apart),
        cmocka_unit_test(test_guarded_places_rows_by_their_time_only),
        cmocka_unit_test(test_guarded_readers_begin_high_enough_by_the_worst_clocks),
        cmocka_unit_test(test_guarded_without_failures_takes_every_row),
        cmocka_unit_test(test_three_state_lwt_with_a_safe_lead_misroutes_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
