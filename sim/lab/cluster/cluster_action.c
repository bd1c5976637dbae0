/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An agent's action as Cassandra's statement, and Cassandra's reply as the action's outcome. */
#include <assert.h>
#include <string.h>

#include "cluster_run.h"

/* The state row and the lock row of a key are two registers. */
#define STATE_KEY(key) ((uint64_t)(key)*2)
#define LOCK_KEY(key)  ((uint64_t)(key)*2 + 1)
/* Of guarded, each bucket's start is a register, and each bucket has a counter: (key, bucket) in one number.
 * No run has the rows for 2^40 buckets. */
#define BUCKET_BITS 40
#define START_BIT   (UINT64_C(1) << 63)
static_assert(LAB_CLUSTER_KEYS_MAX <= UINT64_C(1) << (62 - BUCKET_BITS), "a key and a bucket fit");

/* A write that leaves bucket and change times as they were is an increment; else it rolls or resets. Of a
 * plain write nothing says how they were: it has them in its mask when they change, and when it is the key's
 * first. */
void lab_action_count(struct lab_cluster_run *run, const struct bk_action *action)
{
    struct lab_tally *tally = &run->tally;
    bool counts_alone = action->mask == 1u << BK_COUNTER ||
                        (action->columns[BK_BUCKET] == 0 && action->columns[BK_LAST_CHANGE] == 0 &&
                         action->columns[BK_NEXT_CHANGE] == 0);
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        tally->retried += action->is_retry;
        break;
    case BK_ACT_READ_STATE:
    case BK_ACT_READ_COUNTER:
    case BK_ACT_READ_START:
    case BK_ACT_COUNT_ROWS:
        tally->state_reads++;
        break;
    case BK_ACT_WRITE_START:
        tally->state_writes++;
        break;
    case BK_ACT_WRITE_STATE:
        tally->counter_increments += counts_alone;
        tally->state_writes += !counts_alone;
        break;
    case BK_ACT_CAS_STATE:
        tally->lwt++;
        break;
    case BK_ACT_ADD_COUNTER:
        tally->counter_increments++;
        break;
    case BK_ACT_CAS_LOCK:
        tally->lock_ops++;
        break;
    default:
        break;
    }
}

uint64_t lab_state_register(uint32_t key)
{
    return STATE_KEY(key);
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

bool lab_has_start(const struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
    return cass_peek_merged(run->cluster, START_BIT | pack(key, bucket), columns, &mask) && (mask & 1) != 0;
}

void lab_action_statement(const struct lab_cluster_run *run, const struct bk_action *action,
                          struct cass_statement *out)
{
    const struct lab_consistency *level = &run->scenario->consistency;
    *out =
        (struct cass_statement){.key = action->key, .timestamp_us = INT64_MIN, .consistency = level->state};
    switch (action->kind) {
    case BK_ACT_PUT_ROW:
        out->kind = CASS_WRITE_ROW;
        out->consistency = level->write;
        out->bucket = action->bucket;
        out->row_id = action->row.sequence;
        out->row_time_ns = action->row.time_ns;
        out->row_order = (int64_t)action->row.id;
        out->bytes = lab_row_bytes(&run->scenario->row_cost, action->row.bytes,
                                   lab_row_stamp(&run->stamps, sim_queue_now(&run->queue)));
        out->ttl_ns = run->scenario->row_ttl_ns;
        break;
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
        out->key = STATE_KEY(action->key);
        out->consistency = action->serial ? level->serial : level->state;
        break;
    case BK_ACT_READ_START:
        out->kind = CASS_READ_COLUMNS;
        out->key = START_BIT | pack(action->key, action->bucket);
        break;
    case BK_ACT_WRITE_START:
        out->kind = CASS_WRITE_COLUMNS;
        out->key = START_BIT | pack(action->key, action->bucket);
        out->set_mask = action->mask;
        memcpy(out->set, action->columns, sizeof action->columns);
        break;
    default:
        out->kind = action->kind == BK_ACT_WRITE_STATE ? CASS_WRITE_COLUMNS : CASS_CAS_COLUMNS;
        out->key = action->kind == BK_ACT_CAS_LOCK ? LOCK_KEY(action->key) : STATE_KEY(action->key);
        out->serial_consistency = level->serial;
        out->set_mask = action->mask;
        out->if_mask = action->if_mask;
        out->if_absent = out->kind == CASS_CAS_COLUMNS && action->if_mask == 0;
        memcpy(out->set, action->columns, sizeof action->columns);
        memcpy(out->equal, action->expected, sizeof action->expected);
    }
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

void lab_reply_add(struct lab_cluster_run *run, struct lab_host_operation *operation,
                   const struct cass_reply *reply)
{
    struct bk_outcome *outcome = &operation->outcome;
    bool is_conditional = operation->action == BK_ACT_CAS_STATE || operation->action == BK_ACT_CAS_LOCK;
    assert(reply->result != CASS_INVALID);
    if (reply->result == CASS_OK) {
        operation->rows += reply->rows;
        if (operation->action == BK_ACT_READ_ROWS)
            lab_read_reply(operation, reply);
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
        /* Also Unavailable of a conditional update: its commit can say so after the value was decided. */
        outcome->kind = BK_OUTCOME_UNKNOWN;
    }
}
