/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A world for agents: a small database that delays, refuses and loses operations. */
#include "agent_world.h"

#define STEPS_MAX 100000

struct world *world_of(const struct bk_agent_config *config, int agent_count, uint64_t seed)
{
    struct world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    assert_true(agent_count <= AGENTS_MAX && config->operations <= OPERATIONS_MAX);
    world->config = *config;
    world->draw.state = seed * 2654435761u + 1;
    world->agent_count = agent_count;
    world->reads_of_8 = 1;
    world->key_count = config->coordination == BK_GUARDED ? KEYS_GUARDED : KEYS;
    world->now_ns = 1000;
    for (int i = 0; i < agent_count; i++) {
        struct bk_agent_config own = *config;
        own.agent_id = (uint64_t)i + 1;
        world->agents[i].agent = make_agent(&own);
    }
    return world;
}

void world_free(struct world *world)
{
    for (int i = 0; i < world->agent_count; i++)
        free(world->agents[i].agent);
    free(world);
}

static bool is_guarded(const struct world *world)
{
    return world->config.coordination == BK_GUARDED;
}

/* The properties that must hold at the moment of a request. */
static void check_asked(struct world *world, int agent, const struct bk_action *action)
{
    struct world_key *key = &world->keys[action->key];
    int64_t owner = agent + 1;
    bool by_lwt = world->config.counter == BK_COUNTER_LWT || is_guarded(world);
    assert_true(action->kind != BK_ACT_WRITE_STATE || !by_lwt);
    assert_true(action->kind != BK_ACT_CAS_STATE || by_lwt);
    if (action->kind == BK_ACT_CAS_LOCK && action->columns[BK_LOCK_OWNER] != 0) {
        assert_true(action->columns[BK_LOCK_OWNER] == owner);
        key->lock_until[agent] = action->columns[BK_LOCK_UNTIL];
        /* A lock that has not expired is left alone. */
        assert_true(action->if_mask == 0 || action->expected[BK_LOCK_OWNER] == 0 ||
                    action->expected[BK_LOCK_UNTIL] <= world->now_ns);
        world->tally.takeovers += action->if_mask != 0 && action->expected[BK_LOCK_OWNER] != 0;
    }
    bool rolls = (action->kind == BK_ACT_WRITE_STATE || action->kind == BK_ACT_CAS_STATE) &&
                 (action->mask & 1u << BK_COLUMN_BUCKET) != 0 && action->columns[BK_COLUMN_BUCKET] > 0;
    /* The agent rolls under its own lock, unless the host delayed the action until the lock had expired. At a
     * line it rolls without a lock. */
    bool is_placed = world->agents[agent].operations[action->operation].has_bucket;
    if (rolls && is_placed && world->config.coordination == BK_LOCKED &&
        world->now_ns < key->lock_until[agent])
        assert_true(key->lock[BK_LOCK_OWNER] == owner && key->lock[BK_LOCK_UNTIL] == key->lock_until[agent]);
}

/* With a greatest age no row goes to the bucket of a row from before a line between the two. The exception is
 * a row that was overtaken by a row of its key from beyond its own line. */
static bool keeps_lines(struct world *world, const struct bk_action *action)
{
    struct world_key *key = &world->keys[action->key];
    int64_t time_ns = action->row.time_ns, own_ns = line_above(world, time_ns);
    assert_true(action->bucket < BUCKETS_MAX);
    int64_t *line_ns = &key->lines_ns[action->bucket];
    bool is_kept = *line_ns == 0 || time_ns < *line_ns;
    if (key->latest_ns < own_ns && (*line_ns == 0 || own_ns < *line_ns))
        *line_ns = own_ns;
    return is_kept;
}

static void ask(struct world *world, int agent, const struct bk_action *action)
{
    struct under_way *operation = &world->agents[agent].operations[action->operation];
    assert_false(operation->pending.is_used);
    operation->pending = (struct pending){.is_used = true, .action = *action, .since_ns = world->now_ns};
    check_asked(world, agent, action);
    if (is_guarded(world))
        guarded_asked(world, agent, action);
    if (action->kind != BK_ACT_PUT_ROW)
        return;
    assert_true(action->is_retry == operation->has_bucket);
    assert_true(!action->is_retry || action->bucket == operation->bucket);
    world->tally.retried_rows += action->is_retry;
    if (!action->is_retry && world->config.strategy.max_age_ns != 0 && !is_guarded(world))
        world->tally.beyond_lines += !keeps_lines(world, action);
    if (!action->is_retry && world->config.coordination == BK_THREE_STATE) {
        const struct world_key *key = &world->keys[action->key];
        int64_t by_row = 0, by_now = 0;
        for (size_t i = 0; i < key->date_count; i++) {
            by_row += key->dates[i] <= action->row.time_ns;
            by_now += key->dates[i] <= world->now_ns;
        }
        world->tally.misrouted += action->bucket < by_row || action->bucket > by_now;
    }
    operation->has_bucket = true;
    operation->bucket = action->bucket;
}

static void end(struct world *world, int agent, const struct bk_action *action)
{
    struct under_way *operation = &world->agents[agent].operations[action->operation];
    assert_false(operation->pending.is_used);
    if (operation->has_bucket)
        assert_true(action->bucket == operation->bucket);
    else
        assert_true(operation->is_read || action->status == BK_OPERATION_REFUSED);
    assert_true(!action->counted || (action->fired && action->status == BK_OPERATION_OK));
    world->tally.refused_rows += !operation->is_read && action->status == BK_OPERATION_REFUSED;
    world->tally.unknown_rows += !operation->is_read && action->status == BK_OPERATION_UNKNOWN;
    world->tally.counted += action->counted;
    world->last_done = *action;
    if (is_guarded(world))
        guarded_ended(world, agent, action);
    operation->is_used = false;
    world->agents[agent].begun--;
}

/* Takes all requested actions, or only some of them if the host may be slow. */
static void take_actions(struct world *world, int agent)
{
    struct bk_action action;
    while ((!world->may.lag || draw_below(&world->draw, 4) > 0) &&
           bk_agent_next(world->agents[agent].agent, &action)) {
        assert_true(world->agents[agent].operations[action.operation].is_used);
        if (action.kind == BK_ACT_DONE)
            end(world, agent, &action);
        else if (action.kind != BK_ACT_ACK)
            ask(world, agent, &action);
        else {
            assert_true(action.bucket == world->agents[agent].operations[action.operation].bucket);
            guarded_acknowledged(world, agent, &action);
        }
    }
}

static void answer(struct world *world, int agent, struct pending *pending)
{
    struct bk_agent *told = world->agents[agent].agent;
    pending->is_used = false;
    int64_t now_ns = world_clock(world, agent);
    assert_int_equal(bk_agent_report(told, now_ns, pending->action.ticket, &pending->outcome), BK_OK);
    assert_int_equal(bk_agent_report(told, now_ns, pending->action.ticket, &pending->outcome),
                     BK_ERROR_OPERATION);
    take_actions(world, agent);
}

static bool holds(const int64_t *row, bool exists, const struct bk_action *action, unsigned columns)
{
    if (action->if_mask == 0 || !exists)
        return action->if_mask == 0 && !exists;
    for (unsigned i = 0; i < columns; i++) {
        if (action->if_mask & 1u << i && row[i] != action->expected[i])
            return false;
    }
    return true;
}

static void store_state(struct world *world, const struct bk_action *action)
{
    struct world_key *key = &world->keys[action->key];
    int64_t bucket = key->state[BK_COLUMN_BUCKET], counter = key->state[BK_COLUMN_COUNTER],
            before[BK_COLUMNS];
    bool existed = key->state_exists;
    assert_true(existed || action->mask == 15);
    memcpy(before, key->state, sizeof before);
    for (unsigned i = 0; i < BK_COLUMNS; i++) {
        if (action->mask & 1u << i)
            key->state[i] = action->columns[i];
    }
    key->state_exists = true;
    if (is_guarded(world))
        guarded_stored(world, action, before, existed);
    if (key->state[BK_COLUMN_BUCKET] == bucket)
        return;
    world->tally.rolls++;
    key->rolls++;
    if (world->config.counter != BK_COUNTER_LWT)
        return;
    /* The roll is caused by a row from beyond the line of the bucket that is left. */
    bool is_dated = world->config.coordination == BK_THREE_STATE && before[BK_COLUMN_NEXT_CHANGE] != 0;
    bool is_at_line = action->row.time_ns >=
                      line_above(world, before[is_dated ? BK_COLUMN_NEXT_CHANGE : BK_COLUMN_LAST_CHANGE]);
    bool has_slept = is_at_line && key->state[BK_COLUMN_BUCKET] == bucket + 2;
    assert_true(key->state[BK_COLUMN_BUCKET] == bucket + 1 || has_slept);
    world->tally.line_rolls += is_at_line;
    if (is_at_line)
        assert_true(world->config.strategy.max_age_ns != 0);
    else if (world->config.coordination == BK_LOCKED)
        assert_true(counter >= THRESHOLD);
    else
        assert_true(counter >=
                    THRESHOLD - (world->config.strategy.kind == BK_KIND_WEIGHTED ? WEIGHT_MOST : 1));
    world->tally.rolls_above_threshold += counter >= THRESHOLD;
    if (world->config.coordination == BK_THREE_STATE) {
        assert_true(key->date_count + 1 < DATES_MAX && key->state[BK_COLUMN_NEXT_CHANGE] != 0);
        if (has_slept)
            key->dates[key->date_count++] = key->state[BK_COLUMN_LAST_CHANGE];
        key->dates[key->date_count++] = key->state[BK_COLUMN_NEXT_CHANGE];
    }
}

static void perform(struct world *world, int agent, const struct bk_action *action,
                    struct bk_outcome *outcome)
{
    struct world_key *key = &world->keys[action->key];
    *outcome = (struct bk_outcome){.kind = BK_OUTCOME_APPLIED};
    switch (action->kind) {
    case BK_ACT_READ_STATE:
        outcome->mask = key->state_exists ? 15 : 0;
        memcpy(outcome->columns, key->state, sizeof key->state);
        break;
    case BK_ACT_WRITE_STATE:
        store_state(world, action);
        break;
    case BK_ACT_CAS_STATE:
        if (holds(key->state, key->state_exists, action, BK_COLUMNS)) {
            store_state(world, action);
            break;
        }
        outcome->kind = BK_OUTCOME_NOT_APPLIED;
        outcome->mask = key->state_exists ? 15 : 0;
        memcpy(outcome->columns, key->state, sizeof key->state);
        world->tally.conditions_lost++;
        break;
    case BK_ACT_ADD_COUNTER:
        key->total += action->amount;
        key->totals[is_guarded(world) ? action->bucket : 0] += action->amount;
        break;
    case BK_ACT_READ_COUNTER:
        outcome->counter = is_guarded(world) ? key->totals[action->bucket] : key->total;
        break;
    case BK_ACT_READ_START:
        outcome->mask = key->has_start[action->bucket];
        outcome->columns[0] = key->has_start[action->bucket] ? key->starts[action->bucket] : INT64_MIN;
        break;
    case BK_ACT_WRITE_START:
        key->has_start[action->bucket] = true;
        key->starts[action->bucket] = action->columns[0];
        break;
    case BK_ACT_CAS_LOCK:
        if (holds(key->lock, key->lock_exists, action, 2)) {
            key->lock_exists = true;
            memcpy(key->lock, action->columns, sizeof key->lock);
            break;
        }
        outcome->kind = BK_OUTCOME_NOT_APPLIED;
        outcome->mask = key->lock_exists ? 3 : 0;
        memcpy(outcome->columns, key->lock, sizeof key->lock);
        world->tally.conditions_lost++;
        break;
    case BK_ACT_READ_ROWS:
        assert_true(action->step.bucket_low >= 0 && action->step.bucket_low <= action->step.bucket_high);
        outcome->rows = draw_below(&world->draw, action->step.rows + 1);
        break;
    default:
        assert_int_equal(action->kind, BK_ACT_PUT_ROW);
    }
    (void)agent;
}

static void take_effect(struct world *world, int agent, struct pending *pending)
{
    const struct failures *may = &world->may;
    struct bk_outcome hidden;
    uint64_t fate = draw_below(&world->draw, 16);
    pending->has_effect = true;
    pending->since_ns = world->now_ns;
    pending->outcome = (struct bk_outcome){.kind = BK_OUTCOME_UNKNOWN};
    if (fate < 2 && may->refuse)
        pending->outcome.kind = BK_OUTCOME_REFUSED;
    else if (fate == 2 && may->lose)
        return;
    else if (fate == 3 && may->hide)
        perform(world, agent, &pending->action, &hidden);
    else if (fate == 4 && may->late && world->late_count < LATE_MAX) {
        world->late[world->late_count].agent = agent;
        world->late[world->late_count++].action = pending->action;
    } else
        perform(world, agent, &pending->action, &pending->outcome);
}

/* The effect of an action under way, or its answer if the effect has happened. */
static void go_on(struct world *world, int agent, uint32_t operation)
{
    struct pending *pending = &world->agents[agent].operations[operation].pending;
    if (pending->is_used && !pending->has_effect)
        take_effect(world, agent, pending);
    else if (pending->is_used)
        answer(world, agent, pending);
}

/* Actions that would otherwise be under way for too long are advanced first. */
static void pass_time(struct world *world)
{
    if (world->is_frozen)
        return;
    int64_t then_ns = world->now_ns + 1 + (int64_t)draw_below(&world->draw, 3);
    for (int i = 0; i < world->agent_count; i++) {
        for (uint32_t j = 0; j < OPERATIONS_MAX; j++) {
            struct pending *pending = &world->agents[i].operations[j].pending;
            while (pending->is_used && then_ns - pending->since_ns > LATENCY_NS_MAX)
                go_on(world, i, j);
        }
    }
    world->now_ns = then_ns;
}

static void begin(struct world *world, int agent)
{
    struct bk_row row = {.time_ns = world_clock(world, agent), .id = draw_bits(&world->draw)};
    uint64_t key = draw_below(&world->draw, world->key_count);
    struct world_agent *own = &world->agents[agent];
    uint32_t operation;
    if (draw_below(&world->draw, 8) >= world->reads_of_8 || own->begun == world->config.operations) {
        if (is_guarded(world))
            guarded_draw_time(world, &row);
        world_write(world, agent, key, &row);
        return;
    }
    enum bk_plan plan = draw_below(&world->draw, 2) == 0 ? BK_PLAN_WALK : BK_PLAN_PAIR;
    assert_int_equal(bk_agent_read_latest(own->agent, row.time_ns, key, 0, 0, 1 + draw_below(&world->draw, 9),
                                          plan, &operation),
                     BK_OK);
    own->operations[operation] = (struct under_way){.is_used = true, .is_read = true, .row = row};
    own->begun++;
    guarded_begun(world, agent, key, operation);
    world->tally.reads++;
}

/* The process dies and starts again; its requests may still take effect, now or late. */
static void crash(struct world *world, int agent)
{
    struct world_agent *own = &world->agents[agent];
    struct bk_agent_config config = world->config;
    config.agent_id = (uint64_t)agent + 1;
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        struct pending *pending = &own->operations[i].pending;
        if (pending->is_used && !pending->has_effect && world->late_count < LATE_MAX) {
            world->late[world->late_count].agent = agent;
            world->late[world->late_count++].action = pending->action;
        }
        own->operations[i] = (struct under_way){.is_used = false};
    }
    own->begun = 0;
    world->tally.crashes++;
    void *memory = own->agent;
    assert_int_equal(bk_agent_init(memory, bk_agent_size(&config), &config, &own->agent), BK_OK);
}

static void step(struct world *world, int *left)
{
    int agent = (int)draw_below(&world->draw, (uint64_t)world->agent_count);
    struct world_agent *own = &world->agents[agent];
    pass_time(world);
    if (world->may.crash && draw_below(&world->draw, 256) == 0)
        crash(world, agent);
    switch (draw_below(&world->draw, 8)) {
    case 0:
        if (*left > 0) {
            --*left;
            begin(world, agent);
        }
        break;
    case 1: {
        struct bk_agent_config config = world->config;
        config.agent_id = (uint64_t)agent + 1;
        own->agent = reload_agent(own->agent, &config);
        break;
    }
    case 2:
        assert_int_equal(bk_agent_tick(own->agent, world_clock(world, agent)), BK_OK);
        break;
    case 3:
        if (world->late_count > 0) {
            size_t i = draw_below(&world->draw, world->late_count);
            struct bk_outcome outcome;
            perform(world, world->late[i].agent, &world->late[i].action, &outcome);
            world->late[i] = world->late[--world->late_count];
            world->tally.late_effects++;
        }
        break;
    default:
        go_on(world, agent, (uint32_t)draw_below(&world->draw, OPERATIONS_MAX));
    }
    take_actions(world, agent);
}

static bool is_quiet(const struct world *world)
{
    for (int i = 0; i < world->agent_count; i++) {
        if (world->agents[i].begun > 0)
            return false;
    }
    return true;
}

/* Each operation number is given once, and then no more: none was lost, and none was freed twice. */
static void check_all_free(struct world *world)
{
    for (int i = 0; i < world->agent_count; i++) {
        struct bk_agent *agent = world->agents[i].agent;
        struct bk_row row = row_at(world_clock(world, i), false);
        struct bk_action action;
        bool seen[OPERATIONS_MAX] = {false};
        uint32_t operation;
        assert_true(bk_agent_deadline(agent) == INT64_MAX || bk_agent_deadline(agent) <= row.time_ns);
        assert_int_equal(bk_agent_tick(agent, row.time_ns), BK_OK);
        assert_true(bk_agent_deadline(agent) == INT64_MAX);
        assert_false(bk_agent_next(agent, &action));
        for (uint32_t j = 0; j < world->config.operations; j++) {
            /* Each operation has its own key, so that none has to wait for another. */
            assert_int_equal(bk_agent_write(agent, row.time_ns, 100 + j, &row, &operation), BK_OK);
            assert_false(seen[operation]);
            seen[operation] = true;
        }
        assert_int_equal(bk_agent_write(agent, row.time_ns, 0, &row, &operation), BK_ERROR_BUSY);
        for (uint32_t j = 0; j < world->config.operations; j++)
            assert_true(bk_agent_next(agent, &action));
        assert_false(bk_agent_next(agent, &action));
    }
}

uint64_t world_run(struct world *world, int count)
{
    uint64_t steps = 0;
    int left = count;
    while (left > 0 || !is_quiet(world)) {
        step(world, &left);
        assert_true(++steps < STEPS_MAX);
    }
    check_all_free(world);
    return steps;
}

void world_write(struct world *world, int agent, uint64_t key, const struct bk_row *row)
{
    uint32_t operation;
    struct world_agent *own = &world->agents[agent];
    enum bk_status status = bk_agent_write(own->agent, world_clock(world, agent), key, row, &operation);
    assert_int_equal(status, own->begun < world->config.operations ? BK_OK : BK_ERROR_BUSY);
    if (status != BK_OK)
        return;
    assert_true(operation < world->config.operations && !own->operations[operation].is_used);
    own->operations[operation] = (struct under_way){.is_used = true, .row = *row};
    own->begun++;
    guarded_begun(world, agent, key, operation);
    if (row->time_ns > world->keys[key].latest_ns)
        world->keys[key].latest_ns = row->time_ns;
    world->tally.fired += bk_fires(&world->config.strategy, row);
    take_actions(world, agent);
}

void world_finish(struct world *world)
{
    world->is_frozen = true;
    for (int left = 0; !is_quiet(world);)
        step(world, &left);
    world->is_frozen = false;
}

int64_t world_clock(const struct world *world, int agent)
{
    return world->now_ns + world->agents[agent].offset_ns;
}
