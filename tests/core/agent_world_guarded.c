/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The world's oracle for guarded: it knows which grants were committed, and checks every action against them.
 */
#include "agent_world.h"

#define LATE_NS_MAX  3000
#define AHEAD_NS_MAX 400

/* Notes the rows that a reader that begins now must find, and the latest row time that may be admitted now.
 */
void guarded_begun(struct world *world, int agent, uint64_t key_number, uint32_t number)
{
    struct under_way *operation = &world->agents[agent].operations[number];
    const struct world_key *key = &world->keys[key_number];
    operation->latest_ns = world_clock(world, agent) + world->config.clock_bound_ns;
    operation->due_bucket = 0;
    for (size_t i = 0; i < key->placed_count; i++) {
        if (key->placed[i].is_acknowledged && key->placed[i].bucket > operation->due_bucket)
            operation->due_bucket = key->placed[i].bucket;
    }
}

/* Mostly the agent's clock; sometimes long ago, up to the bound ahead, or further ahead. */
void guarded_draw_time(struct world *world, struct bk_row *row)
{
    uint64_t kind = draw_below(&world->draw, 16);
    int64_t bound_ns = world->config.clock_bound_ns;
    if (world->rows_are_ahead)
        row->time_ns += bound_ns;
    else if (kind < 3)
        row->time_ns -= (int64_t)draw_below(&world->draw, LATE_NS_MAX);
    else if (kind < 5)
        row->time_ns += (int64_t)draw_below(&world->draw, (uint64_t)bound_ns + 1);
    else if (kind == 5)
        row->time_ns += bound_ns + 1 + (int64_t)draw_below(&world->draw, AHEAD_NS_MAX);
}

static bool asks_for_key(enum bk_action_kind kind)
{
    return kind == BK_ACT_READ_STATE || kind == BK_ACT_CAS_STATE || kind == BK_ACT_WRITE_START;
}

static void check_put(struct world *world, struct under_way *operation, const struct bk_action *action)
{
    struct world_key *key = &world->keys[action->key];
    int64_t newest = key->state[BK_COLUMN_BUCKET], bucket = action->bucket, time_ns = action->row.time_ns;
    assert_true(key->state_exists && bucket >= 0 && bucket <= newest);
    assert_true(time_ns == operation->row.time_ns && time_ns >= key->committed[bucket]);
    assert_true(time_ns < (bucket < newest ? key->committed[bucket + 1] : key->state[BK_GUARDED_UNTIL]));
    if (operation->placed != NULL)
        return;
    assert_true(key->placed_count < PLACED_MAX);
    operation->placed = &key->placed[key->placed_count++];
    *operation->placed =
        (struct placed){time_ns, bucket, false, bk_fires(&world->config.strategy, &action->row)};
}

void guarded_asked(struct world *world, int agent, const struct bk_action *action)
{
    const struct world_agent *own = &world->agents[agent];
    struct under_way *operation = &world->agents[agent].operations[action->operation];
    struct world_key *key = &world->keys[action->key];
    assert_true(operation->is_read || operation->row.time_ns <= operation->latest_ns);
    assert_true(action->kind != BK_ACT_READ_STATE || action->serial);
    assert_true(action->kind != BK_ACT_CAS_STATE || action->mask == 15);
    /* Only one operation at a time sends requests for a key. */
    for (uint32_t i = 0; asks_for_key(action->kind) && i < world->config.operations; i++) {
        const struct pending *other = &own->operations[i].pending;
        assert_true(i == action->operation || !other->is_used || other->action.key != action->key ||
                    !asks_for_key(other->action.kind));
    }
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        check_put(world, operation, action);
        break;
    case BK_ACT_ADD_COUNTER:
    case BK_ACT_READ_COUNTER:
        assert_true(operation->placed->is_acknowledged && operation->placed->fires);
        assert_true(action->amount == (action->kind == BK_ACT_ADD_COUNTER));
        assert_true(action->bucket == operation->bucket);
        break;
    case BK_ACT_WRITE_START:
        assert_true(action->bucket >= 1 && action->columns[0] == key->committed[action->bucket]);
        break;
    case BK_ACT_READ_START:
        assert_true(action->bucket >= 1 && action->bucket < key->state[BK_COLUMN_BUCKET]);
        world->tally.lookups++;
        break;
    case BK_ACT_READ_ROWS:
        assert_true(operation->has_bucket || action->step.bucket_high >= operation->due_bucket);
        operation->has_bucket = true;
        operation->bucket = action->bucket;
        break;
    default:
        break;
    }
}

void guarded_acknowledged(struct world *world, int agent, const struct bk_action *action)
{
    struct under_way *operation = &world->agents[agent].operations[action->operation];
    if (operation->placed != NULL)
        operation->placed->is_acknowledged = true;
}

/* A roll at a line is caused by a row beyond the line that has not been put; a roll before the line is caused
 * by a full count. */
static void check_roll(struct world *world, const struct bk_action *action, const int64_t *before)
{
    struct world_key *key = &world->keys[action->key];
    const int64_t *after = key->state;
    int64_t closed = before[BK_COLUMN_BUCKET], line_ns = line_above(world, before[BK_GUARDED_UNTIL] - 1);
    bool is_empty = true;
    for (size_t i = 0; i < key->placed_count; i++)
        is_empty = is_empty && !(key->placed[i].bucket == closed && key->placed[i].is_acknowledged);
    if (after[BK_GUARDED_START] == line_ns) {
        assert_true(action->row.time_ns >= line_ns);
        assert_true(after[BK_GUARDED_UNTIL] <= line_above(world, action->row.time_ns));
        world->tally.line_rolls++;
        return;
    }
    assert_true(after[BK_GUARDED_START] == before[BK_GUARDED_UNTIL]);
    assert_true(after[BK_GUARDED_UNTIL] <= line_ns && key->totals[closed] >= THRESHOLD);
    assert_true(!is_empty || world->config.strategy.max_age_ns != 0);
}

/* An update took effect, perhaps late. */
void guarded_stored(struct world *world, const struct bk_action *action, const int64_t *before, bool existed)
{
    struct world_key *key = &world->keys[action->key];
    const int64_t *after = key->state;
    assert_true(after[BK_GUARDED_START] < after[BK_GUARDED_UNTIL]);
    if (!existed) {
        assert_true(action->if_mask == 0 && after[BK_COLUMN_BUCKET] == 0);
        assert_true(after[BK_GUARDED_BEFORE] == INT64_MIN && after[BK_GUARDED_START] == INT64_MIN);
        assert_true(after[BK_GUARDED_UNTIL] <= line_above(world, action->row.time_ns));
        key->committed[0] = INT64_MIN;
        return;
    }
    assert_true(action->if_mask == 15);
    assert_true(after[BK_GUARDED_UNTIL] > before[BK_GUARDED_UNTIL]);
    if (after[BK_COLUMN_BUCKET] == before[BK_COLUMN_BUCKET]) {
        assert_memory_equal(after, before, 3 * sizeof *after);
        assert_true(after[BK_GUARDED_UNTIL] <= line_above(world, before[BK_GUARDED_UNTIL] - 1));
        world->tally.extensions++;
        return;
    }
    int64_t closed = before[BK_COLUMN_BUCKET];
    assert_true(after[BK_COLUMN_BUCKET] == closed + 1 && closed + 1 < BUCKETS_MAX);
    assert_true(after[BK_GUARDED_BEFORE] == before[BK_GUARDED_START]);
    check_roll(world, action, before);
    key->committed[closed + 1] = after[BK_GUARDED_START];
    /* A start that drops out of the state can be looked up. */
    assert_true(closed < 2 || key->has_start[closed - 1]);
}

void guarded_ended(struct world *world, int agent, const struct bk_action *action)
{
    const struct under_way *operation = &world->agents[agent].operations[action->operation];
    bool is_admitted = operation->row.time_ns <= operation->latest_ns;
    assert_true(operation->is_read || is_admitted || action->status == BK_OPERATION_REFUSED);
    world->tally.future_rows += !operation->is_read && !is_admitted;
    world->tally.late_rows +=
        operation->placed != NULL && operation->bucket < world->keys[action->key].state[BK_COLUMN_BUCKET] - 1;
}

void guarded_check(const struct world *world)
{
    for (uint64_t number = 0; number < world->key_count; number++) {
        const struct world_key *key = &world->keys[number];
        int64_t counts[BUCKETS_MAX] = {0};
        for (size_t i = 0; i < key->placed_count; i++) {
            const struct placed *row = &key->placed[i];
            counts[row->bucket] += row->fires && row->is_acknowledged;
            for (size_t j = 0; j < i; j++) {
                const struct placed *other = &key->placed[j];
                assert_true(row->time_ns != other->time_ns || row->bucket == other->bucket);
                assert_true(row->time_ns < other->time_ns || row->bucket >= other->bucket);
                assert_true(row->time_ns > other->time_ns || row->bucket <= other->bucket);
            }
        }
        for (int64_t bucket = 0; bucket < BUCKETS_MAX; bucket++)
            assert_true(key->totals[bucket] <= counts[bucket] * (1 + (int64_t)world->config.counter_retries));
    }
}
