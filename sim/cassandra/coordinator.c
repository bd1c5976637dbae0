/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An operation at its coordinator, from its arrival to its end. In: a client's request, and the answers of
 * replicas. Kept: which replicas were asked and have answered, and a timer. Out: messages and hints to
 * replicas, and one answer. Consistency levels say how many replicas a request needs, and which ones. Source:
 * apache/cassandra db/ConsistencyLevel.java. */
#include <stddef.h>
#include <string.h>

#include "state.h"

static const char *const names[CASS_CONSISTENCY_COUNT] = {
    [CASS_ANY] = "ANY",
    [CASS_ONE] = "ONE",
    [CASS_TWO] = "TWO",
    [CASS_THREE] = "THREE",
    [CASS_QUORUM] = "QUORUM",
    [CASS_ALL] = "ALL",
    [CASS_LOCAL_QUORUM] = "LOCAL_QUORUM",
    [CASS_EACH_QUORUM] = "EACH_QUORUM",
    [CASS_LOCAL_ONE] = "LOCAL_ONE",
    [CASS_SERIAL] = "SERIAL",
    [CASS_LOCAL_SERIAL] = "LOCAL_SERIAL",
};

const char *cass_consistency_name(enum cass_consistency consistency)
{
    return names[consistency];
}

uint32_t cass_required(enum cass_consistency level, uint32_t factor)
{
    switch (level) {
    case CASS_ANY:
        return 0;
    case CASS_ONE:
    case CASS_LOCAL_ONE:
        return 1;
    case CASS_TWO:
        return 2;
    case CASS_THREE:
        return 3;
    case CASS_ALL:
        return factor;
    default:
        return factor / 2 + 1;
    }
}

bool cass_is_local(enum cass_consistency level)
{
    return level == CASS_LOCAL_ONE || level == CASS_LOCAL_QUORUM || level == CASS_LOCAL_SERIAL;
}

static bool is_serial(enum cass_consistency level)
{
    return level == CASS_SERIAL || level == CASS_LOCAL_SERIAL;
}

static bool is_write_level(enum cass_consistency level)
{
    return (unsigned)level < CASS_CONSISTENCY_COUNT && !is_serial(level);
}

/* A span without times reads and deletes nothing, so no replica is asked, whatever the level. */
static bool is_empty_span(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    const struct cass_statement *statement = &operation->statement;
    if (statement->kind == CASS_DELETE_RANGE)
        return row_at(cluster, operation->body)->time_ns > row_at(cluster, operation->body)->order;
    return statement->kind == CASS_READ_ROWS && statement->has_span &&
           statement->from_ns >= statement->until_ns;
}

/* A conditional update is refused only if its condition holds: paxos.c. */
static bool expires_too_late(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    if (operation->is_carrying_row)
        return cass_is_too_late(row_at(cluster, operation->body)->expires_s);
    return operation->statement.kind == CASS_WRITE_COLUMNS &&
           cass_is_too_late(cass_expiry_s(now_ns(cluster), operation->statement.ttl_ns));
}

static bool is_valid(const struct cass_statement *statement, bool is_empty)
{
    const enum cass_consistency level = statement->consistency;
    const bool is_dated = statement->timestamp_us != NO_TIME;
    switch (statement->kind) {
    case CASS_READ_ROWS:
    case CASS_COUNT_ROWS:
    case CASS_READ_COUNTER:
    case CASS_READ_NAMED:
        return level != CASS_ANY && (is_empty || !is_serial(level));
    case CASS_READ_COLUMNS:
        return level != CASS_ANY;
    case CASS_CAS_COLUMNS:
        return is_write_level(level) && is_serial(statement->serial_consistency) && !is_dated;
    case CASS_ADD_COUNTER:
    case CASS_DELETE_COUNTER:
        return is_write_level(level) && level != CASS_ANY && !is_dated &&
               (statement->kind == CASS_DELETE_COUNTER || statement->ttl_ns == 0);
    case CASS_WRITE_NAMED:
    case CASS_DELETE_NAMED: /* Cassandra does not check the level of a batch, and takes SERIAL as QUORUM */
        return is_write_level(level) || statement->named_count + (statement->set_mask != 0) > 1;
    default:
        return is_write_level(level);
    }
}

uint32_t cass_replicas_alive(const struct cass_cluster *cluster, uint32_t place, uint32_t position)
{
    const uint32_t *replicas = replicas_at(cluster, position);
    uint32_t set = 0;
    if (cluster->gone_count == 0)
        return cluster->all;
    for (uint32_t i = 0; i < cluster->factor; i++)
        set |= (cass_believes_up(cluster, place, replicas[i]) ? UINT32_C(1) : 0) << i;
    return set;
}

uint32_t cass_datacenter_set(const struct cass_cluster *cluster, uint32_t position, uint32_t datacenter)
{
    const uint32_t *replicas = replicas_at(cluster, position);
    uint32_t set = 0;
    if (cluster->config.datacenter_count == 1)
        return cluster->all;
    for (uint32_t i = 0; i < cluster->factor; i++)
        set |= (cluster->nodes[replicas[i]].datacenter == datacenter ? UINT32_C(1) : 0) << i;
    return set;
}

bool cass_operation_plan(const struct cass_cluster *cluster, struct cass_operation *operation,
                         enum cass_consistency level, uint32_t *alive)
{
    const uint32_t *replicas = replicas_at(cluster, operation->position);
    bool is_local = cass_is_local(level);
    uint32_t datacenter = cass_place_datacenter(cluster, operation->place), counted = 0;
    for (uint32_t i = 0; i < cluster->factor; i++) {
        if (!is_local || cluster->nodes[replicas[i]].datacenter == datacenter)
            counted |= UINT32_C(1) << i;
    }
    uint32_t required = level == CASS_ANY ? 1 : cass_required(level, bit_count(counted));
    if (level == CASS_EACH_QUORUM) {
        required = 0;
        for (uint32_t i = 0; i < cluster->config.datacenter_count; i++) {
            uint32_t factor = cluster->config.datacenters[i].replication_factor;
            required += factor > 0 ? factor / 2 + 1 : 0;
        }
    }
    operation->counted = counted;
    operation->required = required;
    *alive = cass_replicas_alive(cluster, operation->place, operation->position);
    return cass_level_met(cluster, operation, level, *alive);
}

bool cass_level_met(const struct cass_cluster *cluster, const struct cass_operation *operation,
                    enum cass_consistency level, uint32_t set)
{
    if (level != CASS_EACH_QUORUM)
        return bit_count(set & operation->counted) >= operation->required;
    uint32_t found[CASS_DATACENTERS_MAX] = {0};
    const uint32_t *replicas = replicas_at(cluster, operation->position);
    for (uint32_t left = set; left != 0; left &= left - 1)
        found[cluster->nodes[replicas[first_bit(left)]].datacenter]++;
    for (uint32_t i = 0; i < cluster->config.datacenter_count; i++) {
        uint32_t factor = cluster->config.datacenters[i].replication_factor;
        if (factor > 0 && found[i] < factor / 2 + 1)
            return false;
    }
    return true;
}

/* Writes: a write is sent to all replicas, whatever the level, which only determines the number of
 * acknowledgements that the answer waits for. A hint is stored for each replica that is down or that has not
 * answered by the timeout. */

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

void cass_operation_refuse(struct cass_cluster *cluster, uint32_t index, enum cass_result result)
{
    cass_operation_answer(cluster, index, result);
    cass_operation_end(cluster, index);
}

void cass_operation_unavailable(struct cass_cluster *cluster, uint32_t index, uint32_t alive)
{
    operation_at(cluster, index)->acked = alive;
    cass_operation_refuse(cluster, index, CASS_UNAVAILABLE);
}

static void write_begin(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t alive;
    operation->stage = STAGE_WRITE;
    if (!cass_operation_plan(cluster, operation, operation->level, &alive) && operation->level != CASS_ANY) {
        cass_operation_unavailable(cluster, index, alive);
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
                      : cass_level_met(cluster, operation, level, operation->acked);
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
    uint32_t all = cluster->all & ~except;
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

static void write_ack(struct cass_cluster *cluster, uint32_t index, const struct message *message)
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
static void write_timeout(struct cass_cluster *cluster, uint32_t index)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    hint(cluster, index, operation->asked & ~operation->acked & ~operation->failed);
    fail(cluster, index, CASS_WRITE_TIMEOUT);
    cass_operation_end(cluster, index);
}

/* An operation at its coordinator, from its arrival to its end, which may be after its answer: a write
 * continues until all replicas have acknowledged it or its timeout has passed. */

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
    bool is_empty = is_empty_span(cluster, operation);
    bool is_allowed = is_valid(statement, is_empty) && !expires_too_late(cluster, operation);
    if (!is_allowed || is_empty) {
        operation->stage = STAGE_WRITE;
        if (statement->kind == CASS_READ_ROWS)
            operation->reply.bucket = statement->bucket;
        cass_operation_refuse(cluster, index, is_allowed ? CASS_OK : CASS_INVALID);
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
        write_begin(cluster, index);
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

void cass_operation_timer(struct cass_cluster *cluster, uint32_t index, int64_t at_ns)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (operation->has_timer)
        sim_queue_cancel(cluster->queue, operation->timer);
    /* Nearly all timers are cancelled. */
    operation->timer = sim_queue_push_later(
        cluster->queue, at_least(at_ns, now_ns(cluster)),
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
        write_timeout(cluster, index);
        break;
    case STAGE_READ:
    case STAGE_READ_AGAIN:
    case STAGE_REPAIR:
        cass_operation_refuse(cluster, index, CASS_READ_TIMEOUT);
        break;
    case STAGE_COUNT:
    case STAGE_LEADER:
        cass_operation_refuse(cluster, index, CASS_WRITE_TIMEOUT);
        break;
    case STAGE_LOCK_WAIT:
        if (operation->is_leader)
            cass_operation_refuse(cluster, index, CASS_WRITE_TIMEOUT);
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
            write_ack(cluster, target, message);
            break;
        case STAGE_READ:
        case STAGE_READ_AGAIN:
        case STAGE_REPAIR:
            cass_read_answer(cluster, target, message);
            break;
        case STAGE_LEADER:
            cass_operation_refuse(cluster, target, (enum cass_result)message->limit);
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
    bool is_limited = operation->statement.kind == CASS_READ_ROWS && !cluster->config.keeps_lifetimes;
    uint64_t limit = is_limited ? operation->statement.limit : 0;
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
        cass_carry(cluster, kind, body);
        cass_message_send(cluster, fresh);
    }
}
