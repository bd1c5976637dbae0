/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes: a write is sent to all replicas, whatever the level, which only determines the number of
 * acknowledgements that the answer waits for. A hint is stored for each replica that is down or that has not
 * answered by the timeout. */
#include "coordination.h"
#include "data.h"
#include "state.h"
#include "traffic.h"

static uint32_t cells_of(struct cass_cluster *cluster, uint32_t index)
{
    uint32_t body_index = cass_body_new(cluster);
    const struct cass_operation *operation = operation_at(cluster, index);
    const struct cass_statement *statement = &operation->statement;
    int64_t timestamp = statement->timestamp_us;
    if (timestamp == NO_TIME)
        timestamp = cass_node_timestamp_us(cluster, operation->place, NO_TIME);
    if (statement->kind == CASS_DELETE_COUNTER) {
        struct body *body = body_at(cluster, body_index);
        body->leader = cluster->factor;
        body->shard = (struct shard){.clock = timestamp};
        return body_index;
    }
    cass_image_set(&body_at(cluster, body_index)->image, statement, timestamp, now_ns(cluster));
    if (statement->kind == CASS_WRITE_NAMED || statement->kind == CASS_DELETE_NAMED) {
        uint32_t named = cass_named_set(cluster, statement, timestamp);
        body_at(cluster, body_index)->named = named;
    }
    return body_index;
}

void cass_write_begin(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    operation->stage = STAGE_WRITE;
    struct level_plan plan;
    cass_level_plan(cluster, operation->place, operation->position, operation->level, &plan);
    operation->counted = plan.counted;
    operation->required = plan.required;
    if (operation->level != CASS_ANY && !cass_level_met(cluster, operation->position, operation->level,
                                                        plan.counted, plan.required, plan.alive)) {
        operation->acked = plan.alive;
        cass_operation_answer(cluster, index, CASS_UNAVAILABLE);
        cass_operation_end(cluster, index);
        return;
    }
    if (!operation->is_carrying_row) {
        uint32_t body = cells_of(cluster, index);
        operation_at(cluster, index)->body = body;
    }
    cass_operation_timer(cluster, index, now_ns(cluster) + cluster->config.timeout_write_ns);
    cass_write_spread(cluster, index, 0);
}

enum message_kind cass_write_kind(const struct cass_operation *operation)
{
    if (operation->is_carrying_row)
        return MESSAGE_WRITE_ROW;
    if (operation->is_leader || operation->statement.kind == CASS_DELETE_COUNTER)
        return MESSAGE_WRITE_SHARD;
    return operation->stage == STAGE_COMMIT ? MESSAGE_COMMIT : MESSAGE_WRITE_CELLS;
}

/* The handler of a leader runs the same callback when a level is met and when it can no longer be met, so a
 * coordinator that sent an increment to another node gets a success. Source: apache/cassandra
 * service/AbstractWriteResponseHandler.java, signal(); see tests/cassandra5/counters/all.txt. */
static void fail(struct cass_cluster *cluster, uint32_t index, enum cass_result result)
{
    cass_operation_answer(cluster, index,
                          cass_count_is_forwarded(operation_at(cluster, index)) ? CASS_OK : result);
}

static void check_end(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    enum cass_consistency level = operation->level;
    bool is_met = level == CASS_ANY
                      ? (operation->acked | operation->hinted) != 0 || operation->stage == STAGE_COMMIT
                      : cass_level_met(cluster, operation->position, level, operation->counted,
                                       operation->required, operation->acked);
    uint32_t candidates = bit_count(operation->asked & operation->counted);
    uint32_t failures = bit_count(operation->failed & operation->counted);
    if (is_met) {
        if (operation->stage == STAGE_COMMIT)
            operation->reply.applied = true;
        cass_operation_answer(cluster, index, CASS_OK);
    } else if (failures > 0 && operation->required + failures > candidates) {
        fail(cluster, index, CASS_WRITE_FAILURE);
    }
    if (operation->is_answered && operation->has_lock)
        cass_lock_release(cluster, index, operation->is_leader);
    operation = operation_at(cluster, index);
    if ((operation->acked | operation->failed) != operation->asked)
        return;
    /* Either ANY, if every replica has been down for longer than hints are kept, so that no answer can come;
     * or the commit of Paxos v2, whose level was not checked before: it fails if the level requires more
     * replicas than there are, see Paxos.MaybeFailure. */
    bool is_impossible =
        operation->stage == STAGE_COMMIT && operation->required > bit_count(operation->counted);
    if (!operation->is_answered)
        fail(cluster, index, is_impossible ? CASS_WRITE_FAILURE : CASS_WRITE_TIMEOUT);
    cass_operation_end(cluster, index);
}

static void hint(struct cass_cluster *cluster, uint32_t index, uint32_t set)
{
    struct cass_operation *operation = operation_at(cluster, index);
    enum message_kind kind = cass_write_kind(operation);
    if (kind == MESSAGE_COMMIT)
        kind = MESSAGE_WRITE_CELLS; /* the decided value is stored as a plain mutation, as in Cassandra */
    for (; set != 0; set &= set - 1) {
        uint32_t replica = first_bit(set);
        uint32_t bit = UINT32_C(1) << replica;
        if (cass_hint_store(cluster, operation->place, replica, operation->position, kind, operation->entity,
                            operation->body))
            operation->hinted |= bit;
    }
}

void cass_write_spread(struct cass_cluster *cluster, uint32_t index, uint32_t except)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t all = all_replicas(cluster) & ~except;
    uint32_t alive = cass_replicas_alive(cluster, operation->place, operation->position) & all;
    operation->asked = alive | except;
    operation->acked = except;
    operation->failed = 0;
    operation->round++;
    cass_operation_send(cluster, index, cass_write_kind(operation), alive, operation->body);
    hint(cluster, index, all & ~alive);
    if (alive != all || except != 0 || operation->stage == STAGE_COMMIT) /* else replicas have to answer */
        check_end(cluster, index);
}

void cass_write_ack(struct cass_cluster *cluster, uint32_t index, const struct message *message)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t bit = UINT32_C(1) << message->replica;
    if (message->flags & MESSAGE_FAILED) {
        operation->failed |= bit & ~operation->acked;
        hint(cluster, index, bit & ~operation->acked);
    } else {
        operation->acked |= bit;
    }
    check_end(cluster, index);
}

/* The timeout has passed: stores hints for the replicas that have not answered, and answers unless that was
 * done before. */
void cass_write_timeout(struct cass_cluster *cluster, uint32_t index)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    hint(cluster, index, operation->asked & ~operation->acked & ~operation->failed);
    fail(cluster, index, CASS_WRITE_TIMEOUT);
    cass_operation_end(cluster, index);
}
