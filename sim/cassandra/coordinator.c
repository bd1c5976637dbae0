/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An operation at its coordinator, from its arrival to its end, which may be after its answer: a write
 * continues until all replicas have acknowledged it or its timeout has passed. */
#include <stddef.h>
#include <string.h>

#include "coordination.h"
#include "data.h"
#include "state.h"
#include "traffic.h"

uint32_t cass_operation_new(struct cass_cluster *cluster, const struct cass_statement *statement)
{
    uint32_t index = cass_pool_take(&cluster->operations);
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t generation = operation->generation + 1;
    cass_clear(operation, offsetof(struct cass_operation, statement));
    operation->generation = generation | 1;
    if (SIM_LIKELY(is_row_kind(statement->kind))) {
        operation->statement.kind = statement->kind;
        operation->statement.consistency = statement->consistency;
    } else {
        memcpy(&operation->statement, statement,
               statement->named_count > 0 ? sizeof *statement : offsetof(struct cass_statement, named));
        if (statement->kind == CASS_WRITE_COLUMNS || statement->kind == CASS_CAS_COLUMNS)
            operation->statement.ttl_ns = cass_ttl(cluster, statement);
        operation->reply = (struct cass_reply){.result = CASS_OK};
    }
    return index;
}

static void begin_read(struct cass_cluster *cluster, uint32_t index)
{
    enum cass_consistency level = operation_at(cluster, index)->level;
    if (level == CASS_SERIAL || level == CASS_LOCAL_SERIAL)
        cass_cas_begin(cluster, index);
    else
        cass_read_begin(cluster, index, level);
}

void cass_operation_begin(struct cass_cluster *cluster, uint32_t index, uint32_t node)
{
    struct cass_operation *operation = operation_at(cluster, index);
    const struct cass_statement *statement = &operation->statement;
    operation->place = node;
    operation->started_ns = now_ns(cluster);
    operation->level = statement->consistency;
    cluster->nodes[node].stats.coordinated++;
    if (!cass_statement_is_valid(statement)) {
        operation->stage = STAGE_WRITE;
        cass_operation_answer(cluster, index, CASS_INVALID);
        cass_operation_end(cluster, index);
        return;
    }
    switch (statement->kind) {
    case CASS_READ_ROWS:
    case CASS_COUNT_ROWS:
    case CASS_READ_COLUMNS:
    case CASS_READ_COUNTER:
    case CASS_READ_NAMED:
        begin_read(cluster, index);
        break;
    case CASS_CAS_COLUMNS:
        cass_cas_begin(cluster, index);
        break;
    case CASS_ADD_COUNTER:
        cass_count_begin(cluster, index);
        break;
    default:
        cass_write_begin(cluster, index);
    }
}

/* Releases what the operation has, except timers and locks. */
static inline void let_go(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (SIM_LIKELY(operation->is_carrying_row))
        cass_row_release(cluster, operation->body);
    else if (operation->body != CASS_NONE)
        cass_body_release(cluster, operation->body);
    if (SIM_UNLIKELY(operation->gathered != CASS_NONE))
        cass_read_let_go(cluster, index);
    operation->generation++;
    cass_pool_give(&cluster->operations, index);
}

void cass_operation_end(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (index == CASS_NONE || operation->generation % 2 == 0)
        return;
    if (operation->has_timer)
        cass_operation_no_timer(cluster, index);
    if (operation->stage == STAGE_LOCK_WAIT)
        cass_lock_forget(cluster, index, operation->is_leader);
    else if (operation->has_lock)
        cass_lock_release(cluster, index, operation->is_leader);
    let_go(cluster, index);
}

static void answer_leader(struct cass_cluster *cluster, uint32_t index, enum cass_result result)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    uint32_t answer = cass_message_new(cluster, MESSAGE_ANSWER, operation->place, operation->parent_place);
    operation = operation_at(cluster, index);
    struct message *message = message_at(cluster, answer);
    message->operation = operation->parent;
    message->generation = operation->parent_generation;
    message->round = operation->parent_round;
    message->limit = (uint32_t)result;
    cass_message_send(cluster, answer);
}

static inline void answer_client(struct cass_cluster *cluster, const struct cass_operation *operation,
                                 enum cass_result result)
{
    uint32_t place = cluster->node_count + operation->client;
    bool is_double;
    if (SIM_UNLIKELY(!cass_network_passes(cluster, operation->place, place, &is_double)))
        return;
    /* A driver distinguishes answers by their stream id, so it ignores the duplicate of an answer. */
    uint32_t slot = cass_pool_take(&cluster->replies);
    struct reply_slot *reply = reply_at(cluster, slot);
    reply->named = CASS_NONE;
    reply->row = CASS_NONE;
    if (SIM_LIKELY(operation->is_carrying_row)) {
        cass_clear(&reply->reply, sizeof reply->reply);
        if (SIM_LIKELY(result == CASS_OK && operation->body != CASS_NONE)) {
            reply->row = operation->body;
            row_at(cluster, reply->row)->references++;
        }
    } else {
        reply->reply = operation->reply;
        if (result == CASS_OK && operation->statement.kind == CASS_READ_NAMED) {
            reply->named = body_at(cluster, operation->gathered)->named; /* the answer owns them now */
            body_at(cluster, operation->gathered)->named = CASS_NONE;
        }
    }
    reply->reply.result = result;
    reply->reply.contentions = operation->contentions;
    reply->reply.received = bit_count(operation->acked & operation->counted);
    reply->reply.required = operation->required;
    int64_t at = now_ns(cluster) + cass_network_latency(cluster, operation->place, place);
    cass_schedule(cluster, at, CASS_EVENT_REPLY, operation->client, operation->tag, slot);
}

void cass_operation_answer(struct cass_cluster *cluster, uint32_t index, enum cass_result result)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (operation->is_answered)
        return;
    operation->is_answered = true;
    if (operation->is_leader)
        answer_leader(cluster, index, result);
    else
        answer_client(cluster, operation, result);
}

void cass_operation_finish(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (SIM_LIKELY(!operation->is_answered))
        answer_client(cluster, operation, CASS_OK);
    if (SIM_UNLIKELY(operation->has_timer))
        cass_operation_no_timer(cluster, index);
    let_go(cluster, index);
}

void cass_operation_timer(struct cass_cluster *cluster, uint32_t index, int64_t at_ns)
{
    struct cass_operation *operation = operation_at(cluster, index);
    int64_t delay_ns = at_least(at_ns - now_ns(cluster), 0);
    if (operation->has_timer)
        sim_queue_cancel(cluster->queue, operation->timer);
    /* Nearly all timers are cancelled, and most of them have one of a few durations. */
    operation->timer = sim_queue_push_after(
        cluster->queue, delay_ns,
        &(const struct sim_event){
            .kind = EVENT_TIMER, .target = operation->place, .a = index, .b = operation->generation});
    operation->has_timer = true;
    cluster->is_broken = cluster->is_broken || operation->timer == 0;
}

void cass_operation_no_timer(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (operation->has_timer)
        sim_queue_cancel(cluster->queue, operation->timer);
    operation->has_timer = false;
}

void cass_operation_timer_fired(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    operation->has_timer = false;
    const struct node *node = &cluster->nodes[operation->place];
    if (now_ns(cluster) < node->paused_until_ns) {
        cass_operation_timer(cluster, index, node->paused_until_ns);
        return;
    }
    switch ((enum stage)operation->stage) {
    case STAGE_WRITE:
    case STAGE_COMMIT:
        cass_write_timeout(cluster, index);
        break;
    case STAGE_READ:
    case STAGE_READ_AGAIN:
    case STAGE_REPAIR:
        cass_read_timeout(cluster, index);
        break;
    case STAGE_COUNT:
    case STAGE_LEADER:
        cass_count_timeout(cluster, index);
        break;
    case STAGE_LOCK_WAIT:
        if (operation->is_leader)
            cass_count_timeout(cluster, index);
        else
            cass_cas_timer(cluster, index);
        break;
    case STAGE_PREPARE:
    case STAGE_PROPOSE:
    case STAGE_PROPOSE_REPAIR:
    case STAGE_COMMIT_REPAIR:
    case STAGE_SLEEP:
        cass_cas_timer(cluster, index);
        break;
    case STAGE_TRAVELLING:
        break; /* this stage has no timer */
    }
}

void cass_operation_message(struct cass_cluster *cluster, uint32_t index)
{
    const struct message *message = message_at(cluster, index);
    uint32_t target = message->operation;
    const struct cass_operation *operation = operation_at(cluster, target);
    bool is_late = operation->generation != message->generation || operation->round != message->round ||
                   operation->place != message->to;
    if (!is_late) {
        switch ((enum stage)operation->stage) {
        case STAGE_WRITE:
        case STAGE_COMMIT:
            cass_write_ack(cluster, target, message);
            break;
        case STAGE_READ:
        case STAGE_READ_AGAIN:
        case STAGE_REPAIR:
            cass_read_answer(cluster, target, message);
            break;
        case STAGE_LEADER:
            cass_count_answer(cluster, target, message);
            break;
        case STAGE_PREPARE:
        case STAGE_PROPOSE:
        case STAGE_PROPOSE_REPAIR:
        case STAGE_COMMIT_REPAIR:
            cass_cas_answer(cluster, target, message);
            break;
        default:
            break;
        }
    }
    cass_message_drop(cluster, index);
}

/* Returns the number of rows to scan, 0 for all. A read of newer rows that finds none has scanned one row. */
static uint64_t rows_to_scan(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    const struct cass_statement *statement = &operation->statement;
    if (statement->kind == CASS_READ_ROWS && statement->has_span)
        return cass_span_scanned(cluster, operation);
    if (statement->kind == CASS_READ_ROWS)
        return statement->limit;
    if (statement->kind != CASS_COUNT_ROWS || !statement->has_after || operation->entity == CASS_NONE)
        return 0;
    uint64_t newer = cass_clustering_newer(cluster, operation->entity, statement);
    return newer > 0 ? newer : 1;
}

/* Determines what the replica scans, according to its rows and tombstones. A read of a time span also scans
 * the row at which it ends, and a read that finds nothing has scanned one row. */
static void plan_scan(const struct cass_cluster *cluster, uint32_t index, uint32_t message_index)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    struct message *message = message_at(cluster, message_index);
    struct scan scan;
    cass_lifetimes_scan(cluster, operation->entity, &operation->statement, UINT32_C(1) << message->replica,
                        &scan);
    uint64_t rows = scan.rows + scan.saw_older;
    rows += rows + scan.tombstones == 0;
    message->flags = MESSAGE_SCANS;
    message->limit = rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX;
    message->tombstones = scan.tombstones < UINT32_MAX ? (uint32_t)scan.tombstones : UINT32_MAX;
}

void cass_operation_send(struct cass_cluster *cluster, uint32_t index, enum message_kind kind, uint32_t set,
                         uint32_t body)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    const uint32_t *replicas = replicas_at(cluster, operation->position);
    uint32_t place = operation->place, generation = operation->generation, round = operation->round;
    uint32_t entity = operation->entity, asked = operation->asked;
    uint64_t limit = cluster->config.keeps_lifetimes ? 0 : rows_to_scan(cluster, operation);
    for (; set != 0; set &= set - 1) {
        uint32_t replica = first_bit(set);
        uint32_t fresh = cass_message_new(cluster, kind, place, replicas[replica]);
        struct message *message = message_at(cluster, fresh);
        message->replica = (uint16_t)replica;
        message->operation = index;
        message->generation = generation;
        message->round = round;
        message->entity = entity;
        message->limit = limit < UINT32_MAX ? (uint32_t)limit : 0;
        message->body = body;
        if (kind == MESSAGE_REPAIR_ROWS)
            message->limit = asked;
        if (kind == MESSAGE_READ_ROWS && entity != CASS_NONE && cluster->config.keeps_lifetimes)
            plan_scan(cluster, index, fresh);
        if (kind == MESSAGE_WRITE_ROW)
            row_at(cluster, body)->references++;
        else if (body != CASS_NONE)
            body_at(cluster, body)->references++;
        cass_message_send(cluster, fresh);
    }
}
