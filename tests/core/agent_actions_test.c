/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: each protocol requests exactly the actions that bucketing/agent.h lists for it. Method: an agent of
 * every protocol writes and reads, and its host answers at random, so that every path is taken; the requested
 * actions are formatted like a row of the header's table and looked up there. All along, bk_agent_get_stats()
 * must equal the statistics that the host keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../read_file.h"
#include "../share.h"
#include "agent_host.h"
#include "bucketing/hash.h"

#define HEADER BUCKETLAB_SOURCE_DIR "/core/include/bucketing/agent.h"
#define STEPS  20000
#define KEYS   3

static const struct {
    const char *name;
    enum bk_kind kind;
    enum bk_coordination coordination;
    enum bk_counter counter;
    enum bk_source source;
} protocols[] = {
    {"unbucketed, time, hash", BK_KIND_HASH, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_EXTERNAL},
    {"single, rmw", BK_KIND_PROBABILISTIC, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_EXTERNAL},
    {"single, lwt", BK_KIND_PROBABILISTIC, BK_SINGLE, BK_COUNTER_LWT, BK_SOURCE_EXTERNAL},
    {"single, column", BK_KIND_PROBABILISTIC, BK_SINGLE, BK_COUNTER_NATIVE, BK_SOURCE_EXTERNAL},
    {"locked, rmw", BK_KIND_PROBABILISTIC, BK_LOCKED, BK_COUNTER_RMW, BK_SOURCE_EXTERNAL},
    {"locked, lwt", BK_KIND_PROBABILISTIC, BK_LOCKED, BK_COUNTER_LWT, BK_SOURCE_EXTERNAL},
    {"locked, column", BK_KIND_PROBABILISTIC, BK_LOCKED, BK_COUNTER_NATIVE, BK_SOURCE_EXTERNAL},
    {"three-state, rmw", BK_KIND_PROBABILISTIC, BK_THREE_STATE, BK_COUNTER_RMW, BK_SOURCE_EXTERNAL},
    {"three-state, lwt", BK_KIND_PROBABILISTIC, BK_THREE_STATE, BK_COUNTER_LWT, BK_SOURCE_EXTERNAL},
    {"three-state, column", BK_KIND_WEIGHTED, BK_THREE_STATE, BK_COUNTER_NATIVE, BK_SOURCE_EXTERNAL},
    {"guarded, column", BK_KIND_PROBABILISTIC, BK_GUARDED, BK_COUNTER_NATIVE, BK_SOURCE_EXTERNAL},
    {"count, external", BK_KIND_COUNT, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_EXTERNAL},
    {"count, counter", BK_KIND_COUNT, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_COUNTER},
    {"count, lwt", BK_KIND_COUNT, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_LWT},
    {"count, lease", BK_KIND_COUNT, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_LEASE},
    {"count, incremental", BK_KIND_COUNT, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_INCREMENTAL},
    {"count, scan", BK_KIND_COUNT, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_SCAN},
    {"count, memory", BK_KIND_COUNT, BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_MEMORY},
};
#define PROTOCOL_COUNT (sizeof protocols / sizeof *protocols)

/* In the order of the header's table, without the actions that every protocol requests. */
static const struct {
    enum bk_action_kind kind;
    const char *name;
} actions[] = {
    {BK_ACT_READ_STATE, "READ_STATE"},     {BK_ACT_WRITE_STATE, "WRITE_STATE"},
    {BK_ACT_CAS_STATE, "CAS_STATE"},       {BK_ACT_ADD_COUNTER, "ADD_COUNTER"},
    {BK_ACT_READ_COUNTER, "READ_COUNTER"}, {BK_ACT_READ_START, "READ_START"},
    {BK_ACT_WRITE_START, "WRITE_START"},   {BK_ACT_CAS_LOCK, "CAS_LOCK"},
    {BK_ACT_COUNT_ROWS, "COUNT_ROWS"},
};
#define ACTION_COUNT (sizeof actions / sizeof *actions)

static struct bk_agent_config config_of(size_t number)
{
    struct bk_agent_config config = small_config(protocols[number].coordination, protocols[number].counter);
    config.source = protocols[number].source;
    config.lease_rows = 3;
    config.every_rows = 2;
    switch (protocols[number].kind) {
    case BK_KIND_HASH:
        assert_int_equal(bk_strategy_hash(4, &config.strategy), BK_OK);
        break;
    case BK_KIND_COUNT:
        assert_int_equal(bk_strategy_count(4, &config.strategy), BK_OK);
        break;
    case BK_KIND_WEIGHTED:
        assert_int_equal(bk_strategy_weighted(100, THRESHOLD, &config.strategy), BK_OK);
        break;
    default:
        break; /* small_config() has set the strategy */
    }
    return config;
}

/* An answer that a database might give. */
static struct bk_outcome answer(const struct bk_action *action, int64_t now_ns, uint64_t draw)
{
    static const enum bk_outcome_kind kinds[] = {
        BK_OUTCOME_APPLIED, BK_OUTCOME_APPLIED,     BK_OUTCOME_APPLIED, BK_OUTCOME_APPLIED,
        BK_OUTCOME_APPLIED, BK_OUTCOME_NOT_APPLIED, BK_OUTCOME_REFUSED, BK_OUTCOME_UNKNOWN};
    struct bk_outcome outcome = {.kind = kinds[draw % 8], .counter = (int64_t)(draw >> 8 & 7)};
    outcome.rows = draw >> 12 & 7;
    outcome.mask = (draw >> 16 & 3) == 0 ? 0 : 15;
    outcome.columns[BK_COLUMN_BUCKET] = (int64_t)(draw >> 20 & 3);
    outcome.columns[BK_COLUMN_COUNTER] = (int64_t)(draw >> 22 & 7);
    outcome.columns[BK_COLUMN_LAST_CHANGE] = now_ns - (int64_t)(draw >> 26 & 255);
    outcome.columns[BK_COLUMN_NEXT_CHANGE] =
        (draw >> 34 & 1) == 0 ? 0 : now_ns - 64 + (int64_t)(draw >> 36 & 127);
    if (action->kind == BK_ACT_READ_STATE && action->serial && outcome.columns[BK_COLUMN_BUCKET] > 1) {
        /* A state that guarded can have stored. */
        outcome.columns[BK_GUARDED_BEFORE] = now_ns - 500;
        outcome.columns[BK_GUARDED_START] = now_ns - 200;
        outcome.columns[BK_GUARDED_UNTIL] = now_ns - 100 + (int64_t)(draw >> 44 & 255);
    }
    if (action->kind == BK_ACT_READ_START)
        outcome.columns[0] = now_ns - 1000;
    return outcome;
}

/* What the host has observed. */
struct seen {
    struct bk_agent_stats stats; /* what the agent should report, without rolls and gauges */
    uint64_t sure_rolls;         /* conditional writes of a higher bucket that were applied */
    uint64_t written;            /* other writes of a bucket that were applied */
    bool is_begun[2], is_read[2];
    int64_t begun_ns[2]; /* by the operation's number */
};

static void see_action(struct seen *seen, const struct bk_action *action)
{
    struct bk_agent_stats *stats = &seen->stats;
    stats->retries += action->is_retry;
    if (action->kind != BK_ACT_DONE)
        return;
    bool is_ok = action->status == BK_OPERATION_OK;
    stats->reads_complete += seen->is_read[action->operation] && is_ok;
    stats->reads_incomplete += seen->is_read[action->operation] && !is_ok;
    stats->rows_stored += !seen->is_read[action->operation] && is_ok;
    stats->rows_refused += !seen->is_read[action->operation] && action->status == BK_OPERATION_REFUSED;
    stats->rows_unknown += !seen->is_read[action->operation] && action->status == BK_OPERATION_UNKNOWN;
    seen->is_begun[action->operation] = false;
}

static void see_outcome(struct seen *seen, const struct bk_action *action, const struct bk_outcome *outcome)
{
    seen->stats.unknown += outcome->kind == BK_OUTCOME_UNKNOWN;
    if (outcome->kind != BK_OUTCOME_APPLIED || (action->mask & 1u << BK_COLUMN_BUCKET) == 0)
        return;
    if (action->kind == BK_ACT_CAS_STATE)
        seen->sure_rolls += action->columns[BK_COLUMN_BUCKET] > action->expected[BK_COLUMN_BUCKET];
    seen->written += action->kind == BK_ACT_WRITE_STATE;
}

/* All actions have been handed out, so each operation under way is parked or asleep. */
static void assert_stats(const struct bk_agent *agent, int64_t now_ns, const struct seen *seen)
{
    struct bk_agent_stats expected = seen->stats, stats;
    for (int i = 0; i < 2; i++) {
        expected.under_way += seen->is_begun[i];
        if (seen->is_begun[i] && now_ns - seen->begun_ns[i] > expected.oldest_ns)
            expected.oldest_ns = now_ns - seen->begun_ns[i];
    }
    bk_agent_get_stats(agent, now_ns, &stats);
    assert_int_equal(stats.parked + stats.asleep, expected.under_way);
    assert_int_equal(stats.asleep > 0, bk_agent_deadline(agent) != INT64_MAX);
    assert_in_range(stats.rolls, seen->sure_rolls, seen->sure_rolls + seen->written);
    expected.rolls = stats.rolls;
    expected.parked = stats.parked;
    expected.asleep = stats.asleep;
    assert_memory_equal(&stats, &expected, sizeof stats);
}

/* Bit k: BK_ACT_k was requested. */
static uint32_t walk(size_t number)
{
    struct bk_agent_config config = config_of(number);
    struct bk_agent *agent = make_agent(&config);
    uint32_t asked = 0, operation;
    struct seen seen;
    memset(&seen, 0, sizeof seen);
    for (uint64_t i = 1; i < test_part(STEPS); i++) {
        uint64_t draw = bk_murmur3_128_u64(i).h1;
        int64_t now_ns = (int64_t)i * 10;
        /* Now and then a row is long overdue, so that old starts are looked up. */
        struct bk_row row = {
            .time_ns = now_ns - (draw % 8 == 0 ? 700 : 0), .sequence = i, .id = draw, .bytes = 90};
        bool is_read = (draw >> 8 & 3) == 0;
        enum bk_status status = is_read
                                    ? bk_agent_read_latest(agent, now_ns, (draw >> 10) % KEYS, 0, i, 5,
                                                           BK_PLAN_DEFAULT, &operation)
                                    : bk_agent_write(agent, now_ns, (draw >> 10) % KEYS, &row, &operation);
        if (status == BK_OK) {
            seen.is_begun[operation] = true;
            seen.is_read[operation] = is_read;
            seen.begun_ns[operation] = now_ns;
        }
        bool is_fresh = status == BK_OK && !is_read;
        struct bk_action action;
        bk_agent_tick(agent, now_ns);
        while (bk_agent_next(agent, &action)) {
            asked |= UINT32_C(1) << action.kind;
            see_action(&seen, &action);
            /* The first action of a write is its own put if its bucket is known; after an outcome it may be
             * the put of a row that has waited. */
            if (is_fresh && action.operation == operation) {
                seen.stats.cache_hits += action.kind == BK_ACT_PUT_ROW;
                is_fresh = false;
            }
            if (action.kind == BK_ACT_ACK || action.kind == BK_ACT_DONE)
                continue;
            draw = bk_murmur3_128_u64(draw).h1;
            const struct bk_outcome outcome = answer(&action, now_ns, draw);
            assert_int_equal(bk_agent_report(agent, now_ns, action.ticket, &outcome), BK_OK);
            see_outcome(&seen, &action, &outcome);
            is_fresh = false;
        }
        assert_stats(agent, now_ns, &seen);
    }
    free(agent);
    return asked;
}

static void test_the_header_names_the_actions_of_each_protocol(void **state)
{
    (void)state;
    size_t size;
    char *header = read_file(HEADER, &size);
    const uint32_t all = 1u << BK_ACT_PUT_ROW | 1u << BK_ACT_READ_ROWS | 1u << BK_ACT_ACK | 1u << BK_ACT_DONE;
    for (size_t i = 0; i < PROTOCOL_COUNT; i++) {
        char line[256];
        uint32_t asked = walk(i);
        assert_int_equal(asked & all, all);
        int used = snprintf(line, sizeof line, "\n *     %-23s", protocols[i].name);
        for (size_t j = 0; j < ACTION_COUNT; j++) {
            if (asked >> actions[j].kind & 1)
                used += snprintf(line + used, sizeof line - (size_t)used, " %s", actions[j].name);
        }
        snprintf(line + used, sizeof line - (size_t)used, "%s\n", (asked & ~all) == 0 ? " none" : "");
        if (strstr(header, line) == NULL)
            fail_msg("bucketing/agent.h has no line for these observed actions:%s", line);
    }
    free(header);
}

/* A single agent over a database that never fails: each roll is one step of the bucket. */
static void test_each_step_of_the_bucket_is_a_roll(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    struct bk_agent *agent = make_agent(&config);
    struct bk_outcome stored = {.kind = BK_OUTCOME_APPLIED};
    struct bk_agent_stats stats;
    uint32_t operation;
    for (int64_t i = 0; i < 60; i++) {
        const struct bk_row row = row_at(i, i % 2 == 1);
        struct bk_action action;
        assert_int_equal(bk_agent_write(agent, i, 7, &row, &operation), BK_OK);
        while (bk_agent_next(agent, &action)) {
            if (action.kind == BK_ACT_ACK || action.kind == BK_ACT_DONE)
                continue;
            for (unsigned j = 0; j < BK_COLUMNS && action.kind == BK_ACT_WRITE_STATE; j++) {
                if (action.mask >> j & 1)
                    stored.columns[j] = action.columns[j];
                stored.mask |= action.mask;
            }
            assert_int_equal(bk_agent_report(agent, i, action.ticket, &stored), BK_OK);
        }
    }
    bk_agent_get_stats(agent, 60, &stats);
    assert_int_equal(stored.columns[BK_COLUMN_BUCKET], 30 / THRESHOLD);
    assert_int_equal(stats.rolls, 30 / THRESHOLD);
    assert_int_equal(stats.rows_stored, 60);
    assert_int_equal(stats.cache_hits, 59); /* all but the first; every copy is younger than cache_ttl_ns */
    free(agent);
}

/* The age of an operation that was saved before its outcome came is the age of its last action. */
static void test_a_checkpoint_keeps_ages_and_no_counters(void **state)
{
    (void)state;
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    struct bk_agent *agent = make_agent(&config);
    const struct bk_row row = row_at(100, false);
    struct bk_agent_stats stats;
    struct bk_action action;
    uint32_t operation;
    assert_int_equal(bk_agent_write(agent, 100, 7, &row, &operation), BK_OK);
    assert_true(bk_agent_next(agent, &action));
    const struct bk_outcome unknown = {.kind = BK_OUTCOME_UNKNOWN};
    assert_int_equal(bk_agent_report(agent, 130, action.ticket, &unknown), BK_OK);
    assert_true(bk_agent_next(agent, &action));
    bk_agent_get_stats(agent, 150, &stats);
    assert_int_equal(stats.unknown, 1);
    assert_int_equal(stats.retries, 1);
    assert_int_equal(stats.oldest_ns, 50);
    agent = reload_agent(agent, &config);
    bk_agent_get_stats(agent, 150, &stats);
    const struct bk_agent_stats expected = {.under_way = 1, .oldest_ns = 20};
    assert_memory_equal(&stats, &expected, sizeof stats);
    bk_agent_get_stats(NULL, 150, &stats);
    const struct bk_agent_stats none = {.under_way = 0};
    assert_memory_equal(&stats, &none, sizeof stats);
    bk_agent_get_stats(agent, 150, NULL);
    free(agent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_header_names_the_actions_of_each_protocol),
        cmocka_unit_test(test_each_step_of_the_bucket_is_a_roll),
        cmocka_unit_test(test_a_checkpoint_keeps_ages_and_no_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
