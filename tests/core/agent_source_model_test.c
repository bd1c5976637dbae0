/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: under any schedule and any failures, each source of `count` keeps its guarantee.
 * Method: one to five agents over a store that applies one action after another, with schedules, failures,
 * lost effects, late effects, crashes and undersized caches from seeded draws. After each effect the store
 * is checked against the guarantee of the source. A late plain write loses to a write that was requested
 * after it, as with Cassandra's timestamps. */
#include "../share.h"
#include "agent_host.h"
#include "draw.h"

#define KEYS           6 /* more than the smallest cache holds */
#define AGENTS_MAX     5
#define OPERATIONS_MAX 4
#define ROWS_MAX       200
#define LATE_MAX       32
#define STEPS_MAX      200000
#define LATENCY_NS_MAX 30 /* from the request to the effect, and from the effect to the answer */

/* A row whose put was requested. */
struct kept {
    uint64_t key;
    int64_t bucket, time_ns, id;
    bool is_stored, was_on_its_way; /* when the rows of its bucket were counted */
};

struct asked {
    bool is_used, has_effect;
    struct bk_action action;
    uint64_t stamp;
    int64_t since_ns;
    struct bk_outcome outcome;
};

struct state {
    bool exists, is_disordered; /* a row of the bucket came with a place before that of a stored row */
    int64_t columns[BK_COLUMNS], total;
    uint64_t stamp;
};

struct tally {
    uint64_t ok, refused, unknown, counts, exact, raises, crashes, late, lost;
};

struct world {
    struct draw draw;
    struct bk_agent_config config;
    bool refuses, loses, crashes;
    int64_t now_ns, offsets_ns[AGENTS_MAX];
    int agent_count;
    struct bk_agent *agents[AGENTS_MAX];
    uint32_t begun[AGENTS_MAX];
    struct asked asked[AGENTS_MAX][OPERATIONS_MAX], late[LATE_MAX];
    size_t late_count, row_count;
    struct kept rows[ROWS_MAX];
    struct state states[KEYS];
    uint64_t stamps;
    struct bk_action last_done;
    struct tally tally;
};

static uint64_t limit_at(const struct world *world, int64_t time_ns)
{
    const struct bk_history *history = &world->config.history;
    return history->eras[bk_history_era_at(history, time_ns)].strategy.of.count.rows;
}

/* The greater limit of the settings before and after the change. */
static uint64_t greatest_limit(const struct world *world)
{
    uint64_t before = limit_at(world, INT64_MIN), after = limit_at(world, INT64_MAX);
    return before > after ? before : after;
}

static uint64_t least_limit(const struct world *world)
{
    uint64_t before = limit_at(world, INT64_MIN), after = limit_at(world, INT64_MAX);
    return before < after ? before : after;
}

static bool is_after(const struct kept *row, int64_t time_ns, int64_t id)
{
    return row->time_ns != time_ns ? row->time_ns > time_ns : row->id > id;
}

static uint64_t stored_in(const struct world *world, uint64_t key, int64_t bucket)
{
    uint64_t stored = 0;
    for (size_t i = 0; i < world->row_count; i++)
        stored += world->rows[i].is_stored && world->rows[i].key == key && world->rows[i].bucket == bucket;
    return stored;
}

/* Numbers are given once, so a bucket gets only its own rows and no more. A source that counts for itself
 * cannot know rows that were on their way when it counted. */
static void check_stored(const struct world *world, uint64_t key, int64_t bucket)
{
    enum bk_source source = world->config.source;
    uint64_t known = 0;
    for (size_t i = 0; i < world->row_count; i++) {
        const struct kept *row = &world->rows[i];
        known += row->is_stored && !row->was_on_its_way && row->key == key && row->bucket == bucket;
    }
    if (source == BK_SOURCE_LWT || source == BK_SOURCE_LEASE)
        assert_true(stored_in(world, key, bucket) <= greatest_limit(world));
    if (source == BK_SOURCE_MEMORY)
        assert_true(known <= greatest_limit(world));
}

/* No row is in the sum twice; all rows that came in the order of their places are in it; and a bucket is left
 * only when it is full. */
static void check_state(struct world *world, uint64_t key, const struct state *before)
{
    struct state *state = &world->states[key];
    int64_t bucket = state->columns[BK_COLUMN_BUCKET];
    bool is_raised = bucket != before->columns[BK_COLUMN_BUCKET];
    world->tally.raises += is_raised;
    if (world->config.source == BK_SOURCE_SCAN || world->config.source == BK_SOURCE_INCREMENTAL)
        assert_true(!is_raised || stored_in(world, key, bucket - 1) >= least_limit(world));
    if (world->config.source != BK_SOURCE_INCREMENTAL)
        return;
    assert_true(!is_raised || bucket == before->columns[BK_COLUMN_BUCKET] + 1);
    uint64_t up_to_last = 0, counted = (uint64_t)state->columns[BK_COLUMN_COUNTER];
    if (is_raised)
        state->is_disordered = false;
    for (size_t i = 0; i < world->row_count; i++) {
        const struct kept *row = &world->rows[i];
        up_to_last += row->is_stored && row->key == key && row->bucket == bucket &&
                      !is_after(row, state->columns[BK_SUM_TIME], state->columns[BK_SUM_ID]);
    }
    assert_true(counted <= up_to_last);
    assert_true(state->is_disordered || counted == up_to_last);
    assert_true(counted < greatest_limit(world));
    world->tally.exact += !state->is_disordered;
}

static void put_row(struct world *world, const struct bk_action *action)
{
    struct kept *put = NULL;
    struct state *state = &world->states[action->key];
    bool is_newest = action->bucket == state->columns[BK_COLUMN_BUCKET];
    for (size_t i = 0; i < world->row_count; i++) {
        if (world->rows[i].id == (int64_t)action->row.id)
            put = &world->rows[i];
    }
    assert_non_null(put);
    for (size_t i = 0; i < world->row_count; i++) {
        const struct kept *row = &world->rows[i];
        if (is_newest && row->is_stored && row->key == put->key && row->bucket == put->bucket &&
            is_after(row, put->time_ns, put->id))
            state->is_disordered = true;
    }
    put->is_stored = true;
    check_stored(world, put->key, put->bucket);
}

static void count_rows(struct world *world, const struct bk_action *action, struct bk_outcome *out)
{
    const struct kept *last = NULL;
    for (size_t i = 0; i < world->row_count; i++) {
        struct kept *row = &world->rows[i];
        if (row->key != action->key || row->bucket != action->bucket)
            continue;
        row->was_on_its_way = row->was_on_its_way || !row->is_stored;
        if (!row->is_stored || (action->mask != 0 &&
                                !is_after(row, action->columns[BK_PLACE_TIME], action->columns[BK_PLACE_ID])))
            continue;
        out->rows++;
        last = last == NULL || is_after(row, last->time_ns, last->id) ? row : last;
    }
    world->tally.counts++;
    if (last == NULL)
        return;
    out->mask = 3;
    out->columns[BK_PLACE_TIME] = last->time_ns;
    out->columns[BK_PLACE_ID] = last->id;
}

static void write_state(struct world *world, const struct bk_action *action, uint64_t stamp)
{
    struct state *state = &world->states[action->key], before = *state;
    if (action->kind == BK_ACT_WRITE_STATE && stamp < state->stamp)
        return;
    assert_true(state->exists || action->mask == 15);
    for (unsigned i = 0; i < BK_COLUMNS; i++)
        state->columns[i] = action->mask & 1u << i ? action->columns[i] : state->columns[i];
    state->exists = true;
    state->stamp = stamp;
    check_state(world, action->key, &before);
}

static void tell_state(const struct state *state, struct bk_outcome *out)
{
    out->mask = state->exists ? 15 : 0;
    memcpy(out->columns, state->columns, sizeof state->columns);
}

static void perform(struct world *world, const struct asked *asked, struct bk_outcome *out)
{
    const struct bk_action *action = &asked->action;
    struct state *state = &world->states[action->key];
    *out = (struct bk_outcome){.kind = BK_OUTCOME_APPLIED};
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        put_row(world, action);
        break;
    case BK_ACT_COUNT_ROWS:
        count_rows(world, action, out);
        break;
    case BK_ACT_WRITE_STATE:
        write_state(world, action, asked->stamp);
        break;
    case BK_ACT_CAS_STATE:
        if (action->if_mask == 0 ? !state->exists
                                 : memcmp(action->expected, state->columns, sizeof state->columns) == 0) {
            assert_true(action->if_mask == 0 || action->if_mask == 15);
            write_state(world, action, asked->stamp);
            break;
        }
        world->tally.lost++;
        out->kind = BK_OUTCOME_NOT_APPLIED;
        tell_state(state, out);
        break;
    case BK_ACT_READ_STATE:
        tell_state(state, out);
        break;
    case BK_ACT_ADD_COUNTER:
        state->total++;
        break;
    case BK_ACT_READ_COUNTER:
        out->counter = state->total;
        break;
    default:
        assert_int_equal(action->kind, BK_ACT_READ_ROWS);
    }
}

/* The action is refused, lost, applied without an answer, or applied later; otherwise it is applied and
 * answered. */
static void take_effect(struct world *world, struct asked *asked)
{
    struct bk_outcome untold;
    uint64_t fate = draw_below(&world->draw, 24);
    asked->has_effect = true;
    asked->since_ns = world->now_ns;
    asked->outcome = (struct bk_outcome){.kind = BK_OUTCOME_UNKNOWN};
    if (fate < 2 && world->refuses)
        asked->outcome.kind = BK_OUTCOME_REFUSED;
    else if (fate == 2 && world->loses)
        return;
    else if (fate == 3 && world->loses)
        perform(world, asked, &untold);
    else if (fate == 4 && world->loses && world->late_count < LATE_MAX)
        world->late[world->late_count++] = *asked;
    else
        perform(world, asked, &asked->outcome);
}

static void ask(struct world *world, int agent, const struct bk_action *action)
{
    struct asked *asked = &world->asked[agent][action->operation];
    assert_false(asked->is_used);
    *asked = (struct asked){.is_used = true, .action = *action, .stamp = ++world->stamps};
    asked->since_ns = world->now_ns;
    if (action->kind != BK_ACT_PUT_ROW)
        return;
    for (size_t i = 0; i < world->row_count; i++) {
        if (world->rows[i].id != (int64_t)action->row.id)
            continue;
        assert_true(action->is_retry && world->rows[i].bucket == action->bucket);
        return;
    }
    assert_true(world->row_count < ROWS_MAX && !action->is_retry);
    world->rows[world->row_count++] = (struct kept){
        action->key, action->bucket, action->row.time_ns, (int64_t)action->row.id, false, false};
}

static void take_actions(struct world *world, int agent)
{
    struct bk_action action;
    while (bk_agent_next(world->agents[agent], &action)) {
        if (action.kind == BK_ACT_DONE) {
            world->begun[agent]--;
            world->last_done = action;
            world->tally.ok += action.status == BK_OPERATION_OK;
            world->tally.refused += action.status == BK_OPERATION_REFUSED;
            world->tally.unknown += action.status == BK_OPERATION_UNKNOWN;
        } else if (action.kind != BK_ACT_ACK) {
            ask(world, agent, &action);
        }
    }
}

static void go_on(struct world *world, int agent, uint32_t operation)
{
    struct asked *asked = &world->asked[agent][operation];
    if (asked->is_used && !asked->has_effect) {
        take_effect(world, asked);
    } else if (asked->is_used) {
        asked->is_used = false;
        assert_int_equal(bk_agent_report(world->agents[agent], world->now_ns + world->offsets_ns[agent],
                                         asked->action.ticket, &asked->outcome),
                         BK_OK);
        take_actions(world, agent);
    }
}

static void begin(struct world *world, int agent, uint64_t key)
{
    int64_t now_ns = world->now_ns + world->offsets_ns[agent];
    struct bk_row row = {.time_ns = now_ns, .id = draw_bits(&world->draw), .bytes = 100};
    uint32_t operation;
    bool is_read = draw_below(&world->draw, 8) == 0,
         is_busy = world->begun[agent] == world->config.operations;
    enum bk_status status =
        is_read ? bk_agent_read_latest(world->agents[agent], now_ns, key, 0, 0, 1, BK_PLAN_WALK, &operation)
                : bk_agent_write(world->agents[agent], now_ns, key, &row, &operation);
    assert_int_equal(status, is_busy ? BK_ERROR_BUSY : BK_OK);
    world->begun[agent] += !is_busy;
    take_actions(world, agent);
}

/* The requests of the crashed agent are still on their way. */
static void crash(struct world *world, int agent)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        struct asked *asked = &world->asked[agent][i];
        if (asked->is_used && !asked->has_effect && world->late_count < LATE_MAX)
            world->late[world->late_count++] = *asked;
        asked->is_used = false;
    }
    world->begun[agent] = 0;
    world->tally.crashes++;
    assert_int_equal(bk_agent_init(world->agents[agent], bk_agent_size(&world->config), &world->config,
                                   &world->agents[agent]),
                     BK_OK);
}

/* Actions that would otherwise be under way for too long are advanced first. */
static void pass_time(struct world *world)
{
    int64_t then_ns = world->now_ns + (int64_t)draw_below(&world->draw, 4);
    for (int i = 0; i < world->agent_count; i++) {
        for (uint32_t j = 0; j < OPERATIONS_MAX; j++) {
            while (world->asked[i][j].is_used && then_ns - world->asked[i][j].since_ns > LATENCY_NS_MAX)
                go_on(world, i, j);
        }
    }
    world->now_ns = then_ns;
}

static void step(struct world *world, int *left)
{
    int agent = (int)draw_below(&world->draw, (uint64_t)world->agent_count);
    pass_time(world);
    if (world->crashes && draw_below(&world->draw, 256) == 0)
        crash(world, agent);
    switch (draw_below(&world->draw, 8)) {
    case 0:
        if (*left > 0)
            begin(world, agent, draw_below(&world->draw, KEYS) * draw_below(&world->draw, 2));
        *left -= *left > 0;
        break;
    case 1:
        world->agents[agent] = reload_agent(world->agents[agent], &world->config);
        break;
    case 2:
        assert_int_equal(bk_agent_tick(world->agents[agent], world->now_ns + world->offsets_ns[agent]),
                         BK_OK);
        take_actions(world, agent);
        break;
    case 3:
        if (world->late_count > 0) {
            size_t i = draw_below(&world->draw, world->late_count);
            struct bk_outcome untold;
            perform(world, &world->late[i], &untold);
            world->late[i] = world->late[--world->late_count];
            world->tally.late++;
        }
        break;
    default:
        go_on(world, agent, (uint32_t)draw_below(&world->draw, OPERATIONS_MAX));
    }
}

static bool is_quiet(const struct world *world)
{
    uint32_t begun = 0;
    for (int i = 0; i < world->agent_count; i++)
        begun += world->begun[i];
    return begun == 0;
}

static struct world *world_of(const struct bk_agent_config *config, int agent_count, uint64_t seed)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->config = *config;
    world->draw.state = seed * 2654435761u + 1;
    world->agent_count = agent_count;
    world->now_ns = 1000;
    for (int i = 0; i < agent_count; i++)
        world->agents[i] = make_agent(config);
    return world;
}

/* Starts rows and reads, and continues until all have ended. */
static void run(struct world *world, int count)
{
    for (int steps = 0; count > 0 || !is_quiet(world); steps++) {
        assert_true(steps < STEPS_MAX);
        step(world, &count);
    }
}

static void end(struct world *world, struct tally *sum)
{
    uint64_t *to = (uint64_t *)sum;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += ((const uint64_t *)&world->tally)[i];
    for (int i = 0; i < world->agent_count; i++)
        free(world->agents[i]);
    free(world);
}

static struct bk_agent_config draw_config(struct draw *draw, enum bk_source source)
{
    struct bk_agent_config config = small_config(BK_SINGLE, BK_COUNTER_RMW);
    assert_int_equal(bk_strategy_count(1 + draw_below(draw, 5), &config.strategy), BK_OK);
    assert_int_equal(bk_history_begin(&config.strategy, &config.history), BK_OK);
    config.source = source;
    config.lease_rows = 1 + draw_below(draw, 5);
    config.every_rows = draw_below(draw, 4);
    config.every_ns =
        config.every_rows == 0 || draw_below(draw, 2) == 0 ? 1 + (int64_t)draw_below(draw, 60) : 0;
    config.cache_ttl_ns = (int64_t)draw_below(draw, 3) * 60;
    config.cache_entries = draw_below(draw, 2) == 0 ? 1 : 64;
    config.operations = 1 + (uint32_t)draw_below(draw, OPERATIONS_MAX);
    config.retries = (uint32_t)draw_below(draw, 4);
    config.counter_retries = (uint32_t)draw_below(draw, 3);
    config.retry_backoff_ns = (int64_t)draw_below(draw, 3) * 4;
    return config;
}

/* In half of the runs other settings apply from a date within the run on. */
static void draw_change(struct draw *draw, struct bk_agent_config *config)
{
    struct bk_strategy next;
    int64_t from_ns = 1000 + (int64_t)draw_below(draw, 1000);
    assert_int_equal(bk_strategy_count(1 + draw_below(draw, 5), &next), BK_OK);
    if (draw_below(draw, 2) == 0)
        assert_int_equal(bk_history_change(&config->history, from_ns, &next), BK_OK);
}

static struct tally run_many(enum bk_source source, int agents_max, uint64_t seeds)
{
    struct tally sum = {0};
    for (uint64_t seed = 0; seed < test_part(seeds); seed++) {
        struct draw draw = {.state = seed};
        struct bk_agent_config config = draw_config(&draw, source);
        draw_change(&draw, &config);
        struct world *world = world_of(&config, 1 + (int)draw_below(&draw, (uint64_t)agents_max), seed);
        world->refuses = draw_below(&draw, 2) == 0;
        world->loses = draw_below(&draw, 2) == 0;
        world->crashes = draw_below(&draw, 2) == 0;
        for (int i = 0; i < world->agent_count; i++)
            world->offsets_ns[i] = (int64_t)draw_below(&draw, 2) * (int64_t)draw_below(&draw, 40);
        run(world, 120);
        end(world, &sum);
    }
    /* The campaign has reached the rare paths. */
    assert_true(sum.ok > test_part(20000) && sum.refused > test_part(100) && sum.unknown > test_part(100));
    assert_true(sum.late > test_part(1000) && sum.crashes > test_part(100));
    return sum;
}

static void test_lwt_gives_no_number_twice(void **state)
{
    (void)state;
    assert_true(run_many(BK_SOURCE_LWT, AGENTS_MAX, 1500).lost > test_part(1000));
}

static void test_lease_gives_no_number_twice(void **state)
{
    (void)state;
    assert_true(run_many(BK_SOURCE_LEASE, AGENTS_MAX, 1500).lost > test_part(1000));
}

static void test_incremental_counts_no_row_twice_and_all_that_come_in_order(void **state)
{
    (void)state;
    struct tally sum = run_many(BK_SOURCE_INCREMENTAL, AGENTS_MAX, 1500);
    assert_true(sum.counts > test_part(1000) && sum.raises > test_part(1000) && sum.exact > test_part(1000) &&
                sum.lost > test_part(100));
}

static void test_scan_leaves_a_bucket_when_it_is_full(void **state)
{
    (void)state;
    struct tally sum = run_many(BK_SOURCE_SCAN, AGENTS_MAX, 1500);
    assert_true(sum.counts > test_part(1000) && sum.raises > test_part(1000));
}

static void test_memory_of_one_writer_fills_no_bucket_beyond_its_rows(void **state)
{
    (void)state;
    struct tally sum = run_many(BK_SOURCE_MEMORY, 1, 1500);
    assert_true(sum.counts > test_part(1000) && sum.raises > test_part(1000));
}

/* The rows come one after another, and each is driven to its end. */
static void test_one_agent_without_failures_fills_each_bucket_and_then_the_next(void **state)
{
    (void)state;
    const enum bk_source sources[] = {BK_SOURCE_COUNTER, BK_SOURCE_LWT, BK_SOURCE_LEASE, BK_SOURCE_MEMORY};
    struct tally sum = {0};
    for (uint64_t seed = 0; seed < test_part(400); seed++) {
        struct draw draw = {.state = seed};
        struct bk_agent_config config = draw_config(&draw, sources[seed % 4]);
        if (config.source == BK_SOURCE_LWT || config.source == BK_SOURCE_MEMORY)
            draw_change(&draw, &config);
        struct world *world = world_of(&config, 1, seed);
        uint64_t written[KEYS] = {0};
        int64_t buckets[KEYS] = {0};
        /* With more keys than the cache holds a lease would be lost. */
        uint64_t keys = config.source == BK_SOURCE_LEASE ? 4 : KEYS;
        for (int i = 0; i < 60; i++) {
            uint64_t key = draw_below(&draw, keys);
            struct bk_row row = {.time_ns = world->now_ns += 20, .id = draw_bits(&draw)};
            uint32_t operation;
            assert_int_equal(bk_agent_write(world->agents[0], world->now_ns, key, &row, &operation), BK_OK);
            world->begun[0]++;
            take_actions(world, 0);
            while (world->begun[0] > 0)
                go_on(world, 0, operation);
            assert_int_equal(world->last_done.status, BK_OPERATION_OK);
            if (written[key] >= limit_at(world, row.time_ns)) {
                written[key] = 0;
                buckets[key]++;
            }
            written[key]++;
            assert_true(world->last_done.bucket == buckets[key]);
        }
        end(world, &sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lwt_gives_no_number_twice),
        cmocka_unit_test(test_lease_gives_no_number_twice),
        cmocka_unit_test(test_incremental_counts_no_row_twice_and_all_that_come_in_order),
        cmocka_unit_test(test_scan_leaves_a_bucket_when_it_is_full),
        cmocka_unit_test(test_memory_of_one_writer_fills_no_bucket_beyond_its_rows),
        cmocka_unit_test(test_one_agent_without_failures_fills_each_bucket_and_then_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
