/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from a run. In: the run. Kept: nothing. Out: an agent's clock and strategy, the settings that
 * apply at the scenario's dates, the registers and counters of a key; an action as a statement, and a reply
 * as the outcome of an action. */
#include <assert.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "kernel/time.h"
#include "lab/scenario.h"

/* A limit on clocks, so that leads and times to live can be added to their readings without overflow, however
 * often they jump. */
#define CLOCK_MAX (INT64_MAX / 8 * 7)
/* With guarded, the start of each bucket is a register, and each bucket has a counter; (key, bucket) is
 * packed into one number. No run has enough rows for 2^40 buckets. */
#define BUCKET_BITS 40
#define START_BIT   (UINT64_C(1) << 63)
static_assert(LAB_CLUSTER_KEYS_MAX <= UINT64_C(1) << (62 - BUCKET_BITS), "a key and a bucket fit");

/* Offset and drift are limited so that the reading, rounded down, stays within the bound. Only a jump exceeds
 * it. */
int64_t lab_agent_shows_at(const struct lab_cluster_run *run, uint32_t number, int64_t now_ns)
{
    __extension__ typedef __int128 wide;
    const struct lab_host_agent *agent = &run->agents[number];
    int64_t bound_ns = run->scenario->agents.clock_bound_ns;
    int64_t since_ns = now_ns - run->start_ns, drifted = 0;
    /* The product is computed for whole seconds and for the remainder, so that no 128-bit division is
     * needed. */
    if (agent->drift_ppb != 0)
        drifted =
            since_ns / SIM_SECOND * agent->drift_ppb + since_ns % SIM_SECOND * agent->drift_ppb / 1000000000;
    int64_t off = agent->offset_ns + drifted;
    int64_t step_ns = run->scenario->agents.clock_resolution_ns, least_ns = step_ns - bound_ns;
    off = off > bound_ns ? bound_ns : off < least_ns ? least_ns : off;
    wide clock_ns = (wide)now_ns + off + agent->jump_ns;
    int64_t shown_ns = (int64_t)(clock_ns > CLOCK_MAX    ? CLOCK_MAX
                                 : clock_ns < -CLOCK_MAX ? -CLOCK_MAX
                                                         : clock_ns);
    return step_ns > 0 ? shown_ns - (shown_ns % step_ns + step_ns) % step_ns : shown_ns;
}

const struct bk_history *lab_settings_at(const struct lab_cluster_run *run, int64_t time_ns)
{
    return &run->regimes.items[lab_regime_at(&run->regimes, time_ns)].history;
}

uint32_t lab_era_at(const struct lab_cluster_run *run, int64_t time_ns)
{
    const struct lab_settings *settings = &run->strategy->settings;
    uint32_t era = 0;
    while (era < settings->change_count && time_ns >= lab_until(run->start_ns, settings->changes[era].at_ns))
        era++;
    return era;
}

const struct bk_strategy *lab_era_settings(const struct lab_cluster_run *run, uint32_t era)
{
    const struct lab_settings *settings = &run->strategy->settings;
    return era == 0 ? &settings->strategy : &settings->changes[era - 1].strategy;
}

bool lab_is_misplaced(const struct lab_cluster_run *run, int64_t time_ns, int64_t bucket)
{
    /* With BK_KIND_COUNT, only the key's state determines this. */
    if (run->strategy->settings.change_count == 0 || run->config.strategy.kind == BK_KIND_COUNT)
        return false;
    const struct bk_history *history = lab_settings_at(run, time_ns);
    const struct bk_era *era = &history->eras[bk_history_era_at(history, time_ns)];
    if (era->strategy.kind == BK_KIND_HASH)
        return bucket < era->shift || bucket - era->shift >= (int64_t)era->strategy.of.hash.buckets;
    struct bk_row row = {.time_ns = time_ns};
    struct bk_placement route;
    return bk_history_route(history, NULL, &row, &route) != BK_OK ||
           !lab_are_of_one_window(&era->strategy, route.bucket - era->shift, bucket - era->shift);
}

/* The state row and the lock row of a key are two registers. */
uint64_t lab_state_register(uint32_t key)
{
    return (uint64_t)key * 2;
}

uint64_t lab_lock_register(uint32_t key)
{
    return (uint64_t)key * 2 + 1;
}

bool lab_register_is_state(uint64_t key, uint32_t *out)
{
    *out = (uint32_t)(key / 2);
    return key % 2 == 0 && key / 2 <= UINT32_MAX;
}

static uint64_t pack(uint64_t key, int64_t bucket)
{
    assert(key < LAB_CLUSTER_KEYS_MAX && bucket >= 0 && bucket < INT64_C(1) << BUCKET_BITS);
    return key << BUCKET_BITS | (uint64_t)bucket;
}

uint64_t lab_start_register(uint64_t key, int64_t bucket)
{
    return START_BIT | pack(key, bucket);
}

uint64_t lab_counter_key(const struct lab_cluster_run *run, uint64_t key, int64_t bucket)
{
    return run->config.coordination == BK_GUARDED ? pack(key, bucket) : key;
}

void lab_counter_owner(const struct lab_cluster_run *run, uint64_t counter, uint32_t *key, int64_t *bucket)
{
    bool is_packed = run->config.coordination == BK_GUARDED;
    *key = (uint32_t)(is_packed ? counter >> BUCKET_BITS : counter);
    *bucket = is_packed ? (int64_t)(counter & ((UINT64_C(1) << BUCKET_BITS) - 1)) : 0;
}

/* --- Converts an agent's action to a Cassandra statement, and Cassandra's reply to the outcome of the
 * action. */

/* Counts a write of the state. A write that does not change the bucket and the change times is an increment;
 * otherwise it rolls or resets. For a plain write the previous values are unknown, but its mask includes them
 * if they change, or if it is the key's first write. */
void lab_action_count(struct lab_cluster_run *run, const struct bk_action *action)
{
    const enum bk_action_kind kind = action->kind;
    struct lab_tally *tally = &run->tally;
    bool counts_alone =
        action->mask == 1u << BK_COLUMN_COUNTER ||
        (action->columns[BK_COLUMN_BUCKET] == 0 && action->columns[BK_COLUMN_LAST_CHANGE] == 0 &&
         action->columns[BK_COLUMN_NEXT_CHANGE] == 0);
    tally->state_reads += kind == BK_ACT_READ_STATE || kind == BK_ACT_READ_COUNTER ||
                          kind == BK_ACT_READ_START || kind == BK_ACT_COUNT_ROWS;
    tally->state_writes += kind == BK_ACT_WRITE_START || (kind == BK_ACT_WRITE_STATE && !counts_alone);
    tally->counter_increments += kind == BK_ACT_ADD_COUNTER || (kind == BK_ACT_WRITE_STATE && counts_alone);
    tally->lwt += kind == BK_ACT_CAS_STATE;
    tally->lock_ops += kind == BK_ACT_CAS_LOCK;
}

/* The bytes of a row that is put now, which most rows are when they arrive. */
static uint64_t bytes_now(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                          const struct bk_row *row)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    if (SIM_LIKELY(operation->begun_ns == now_ns))
        return operation->row_bytes;
    return lab_row_bytes_at(&run->scenario->row_cost, &run->stamps, row->bytes, now_ns, &run->row_last);
}

void lab_action_put(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                    const struct bk_action *action)
{
    struct cass_statement *put = &run->put;
    put->key = action->key;
    put->bucket = action->bucket;
    put->row_id = action->row.sequence;
    put->row_time_ns = action->row.time_ns;
    put->row_order = (int64_t)action->row.id;
    put->bytes = bytes_now(run, operation, &action->row);
}

void lab_action_statement(const struct lab_cluster_run *run, const struct bk_action *action,
                          struct cass_statement *out)
{
    const struct lab_consistency *level = &run->scenario->consistency;
    memset(out, 0, offsetof(struct cass_statement, named)); /* no action uses named columns */
    out->key = action->key;
    out->timestamp_us = INT64_MIN;
    out->consistency = level->state;
    switch (action->kind) {
    case BK_ACT_READ_ROWS:
        out->kind = CASS_READ_ROWS;
        out->consistency = level->read;
        out->limit = action->step.rows;
        out->has_span = action->step.from_ns != INT64_MIN || action->step.until_ns != INT64_MAX;
        out->from_ns = action->step.from_ns;
        out->until_ns = action->step.until_ns;
        break;
    case BK_ACT_COUNT_ROWS:
        out->kind = CASS_COUNT_ROWS;
        out->consistency = level->read;
        out->bucket = action->bucket;
        out->has_after = action->mask != 0;
        out->after_time_ns = action->columns[BK_PLACE_TIME];
        out->after_order = action->columns[BK_PLACE_ID];
        break;
    case BK_ACT_ADD_COUNTER:
        out->kind = CASS_ADD_COUNTER;
        out->row_id = action->row.sequence;
        out->key = lab_counter_key(run, action->key, action->bucket);
        out->delta = action->amount;
        break;
    case BK_ACT_READ_COUNTER:
        out->kind = CASS_READ_COUNTER;
        out->key = lab_counter_key(run, action->key, action->bucket);
        break;
    case BK_ACT_READ_STATE:
        out->kind = CASS_READ_COLUMNS;
        out->key = lab_state_register((uint32_t)action->key);
        out->consistency = action->serial ? level->serial : level->state;
        break;
    case BK_ACT_READ_START:
        out->kind = CASS_READ_COLUMNS;
        out->key = lab_start_register(action->key, action->bucket);
        break;
    case BK_ACT_WRITE_START:
        out->kind = CASS_WRITE_COLUMNS;
        out->key = lab_start_register(action->key, action->bucket);
        out->set_mask = action->mask;
        memcpy(out->set, action->columns, sizeof action->columns);
        break;
    default:
        out->kind = action->kind == BK_ACT_WRITE_STATE ? CASS_WRITE_COLUMNS : CASS_CAS_COLUMNS;
        out->key = action->kind == BK_ACT_CAS_LOCK ? lab_lock_register((uint32_t)action->key)
                                                   : lab_state_register((uint32_t)action->key);
        out->serial_consistency = level->serial;
        out->set_mask = action->mask;
        out->if_mask = action->if_mask;
        out->if_null_mask = action->if_null_mask;
        out->if_absent = out->kind == CASS_CAS_COLUMNS && action->if_mask == 0;
        memcpy(out->set, action->columns, sizeof action->columns);
        memcpy(out->equal, action->expected, sizeof action->expected);
    }
}

/* A partition has answered. */
static void add_partition(struct lab_host_operation *operation, const struct cass_reply *reply)
{
    uint64_t place = (uint64_t)(reply->bucket - operation->step_low);
    operation->step_filled += reply->rows > 0;
    operation->step_scanned += reply->scanned;
    operation->outcome.saw_older = operation->outcome.saw_older || reply->saw_older;
    if (reply->rows == 0 && place < 64)
        operation->outcome.empty |= UINT64_C(1) << place;
}

void lab_reply_add(struct lab_cluster_run *run, struct lab_host_operation *operation,
                   const struct cass_reply *reply)
{
    struct bk_outcome *outcome = &operation->outcome;
    bool is_conditional = operation->action == BK_ACT_CAS_STATE || operation->action == BK_ACT_CAS_LOCK;
    assert(reply->result != CASS_INVALID);
    if (reply->result == CASS_OK) {
        operation->rows += reply->rows;
        if (operation->action == BK_ACT_READ_ROWS)
            add_partition(operation, reply);
        run->tally.rows_scanned += operation->action == BK_ACT_COUNT_ROWS ? reply->scanned : 0;
        run->tally.tombstones_read += operation->action == BK_ACT_READ_ROWS ? reply->tombstones : 0;
        outcome->rows = operation->rows;
        outcome->counter = reply->counter;
        outcome->mask = reply->found ? reply->columns_mask : 0;
        memcpy(outcome->columns, reply->columns, sizeof outcome->columns);
        if (is_conditional && !reply->applied)
            outcome->kind = BK_OUTCOME_NOT_APPLIED;
    } else if (reply->result == CASS_UNAVAILABLE && !is_conditional) {
        outcome->kind = outcome->kind == BK_OUTCOME_UNKNOWN ? BK_OUTCOME_UNKNOWN : BK_OUTCOME_REFUSED;
    } else {
        /* This includes Unavailable for a conditional update, whose commit may fail in this way after the
         * value was decided. */
        outcome->kind = BK_OUTCOME_UNKNOWN;
    }
}
