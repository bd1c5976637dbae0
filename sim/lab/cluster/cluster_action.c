/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts an agent's action to a Cassandra statement, and Cassandra's reply to the outcome of the action. */
#include <assert.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"

/* Counts a write of the state. A write that does not change the bucket and the change times is an increment;
 * otherwise it rolls or resets. For a plain write the previous values are unknown, but its mask includes them
 * if they change, or if it is the key's first write. */
void lab_action_count(struct lab_cluster_run *run, const struct bk_action *action)
{
    struct lab_tally *tally = &run->tally;
    bool counts_alone = action->mask == 1u << BK_COUNTER ||
                        (action->columns[BK_BUCKET] == 0 && action->columns[BK_LAST_CHANGE] == 0 &&
                         action->columns[BK_NEXT_CHANGE] == 0);
    switch (action->kind) {
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

void lab_actions_begin(struct lab_cluster_run *run)
{
    run->has_own_times = wl_has_own_times(&run->scenario->workload);
    run->row_last = (struct lab_row_last){.until_ns = INT64_MIN};
    run->put = (struct cass_statement){.kind = CASS_WRITE_ROW,
                                       .consistency = run->scenario->consistency.write,
                                       .ttl_ns = run->scenario->row_ttl_ns,
                                       .timestamp_us = INT64_MIN};
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
        /* This includes Unavailable for a conditional update, whose commit may fail in this way after the
         * value was decided. */
        outcome->kind = BK_OUTCOME_UNKNOWN;
    }
}
