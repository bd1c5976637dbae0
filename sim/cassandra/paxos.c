/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditional updates and SERIAL reads: locks of a key on one node, the Paxos state of a replica, and an
 * operation at its coordinator. Locks are granted in the order of the requests: the lock of a counter at its
 * leader, and the lock that Paxos v2 takes at its coordinator. */
#include <string.h>

#include "kernel/number.h"
#include "state.h"

static uint32_t lock_hash(uint32_t node, uint32_t entity, bool is_counter)
{
    uint64_t name = (uint64_t)node << 33 | (uint64_t)entity << 1 | (is_counter ? 1 : 0);
    return (uint32_t)(sim_mix64(name) >> 32);
}

static uint32_t lock_find(const struct cass_cluster *cluster, uint32_t node, uint32_t entity, bool is_counter)
{
    const struct sim_table *table = &cluster->lock_table;
    uint32_t hash = lock_hash(node, entity, is_counter);
    for (const struct sim_slot *slot = sim_table_first(table, hash); slot->index != CASS_NONE;
         slot = sim_table_next(table, slot)) {
        const struct lock *lock = lock_at(cluster, slot->index);
        if (lock->node == node && lock->entity == entity && (lock->is_counter != 0) == is_counter)
            return slot->index;
    }
    return CASS_NONE;
}

bool cass_lock_take(struct cass_cluster *cluster, uint32_t index, bool is_counter)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t found = lock_find(cluster, operation->place, operation->entity, is_counter);
    if (found == CASS_NONE) {
        uint32_t fresh = cass_pool_take(&cluster->locks);
        *lock_at(cluster, fresh) =
            (struct lock){.node = operation->place, .entity = operation->entity, .is_counter = is_counter};
        sim_table_put(&cluster->lock_table, lock_hash(operation->place, operation->entity, is_counter),
                      fresh);
        operation->has_lock = true;
        return true;
    }
    struct lock *lock = lock_at(cluster, found);
    operation->next = CASS_NONE;
    if (lock->head == CASS_NONE)
        lock->head = index;
    else
        operation_at(cluster, lock->tail)->next = index;
    lock->tail = index;
    return false;
}

static bool is_read(const struct cass_operation *operation)
{
    return operation->statement.kind == CASS_READ_COLUMNS;
}

static void give_up(struct cass_cluster *cluster, uint32_t index, enum cass_result result)
{
    if (result == CASS_WRITE_TIMEOUT && is_read(operation_at(cluster, index)))
        result = CASS_READ_TIMEOUT;
    cass_operation_refuse(cluster, index, result);
}

/* Determines the replicas that take part in a round of Paxos by the serial level, which is the consistency
 * level of a SERIAL read. */
static void plan_round(struct cass_cluster *cluster, struct cass_operation *operation)
{
    uint32_t alive;
    enum cass_consistency level = operation->statement.serial_consistency;
    if (is_read(operation))
        level = operation->statement.consistency;
    cass_operation_plan(cluster, operation, level, &alive);
    operation->asked = alive & operation->counted;
}

static int64_t phase_deadline(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    bool is_v2 = cluster->config.paxos == CASS_PAXOS_V2;
    return operation->started_ns +
           (is_v2 ? cluster->config.timeout_cas_ns : cluster->config.timeout_write_ns);
}

static void attempt(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    operation->stage = STAGE_PREPARE;
    operation->acked = operation->failed = 0;
    if (now_ns(cluster) - operation->started_ns >= cluster->config.timeout_cas_ns) {
        give_up(cluster, index, CASS_WRITE_TIMEOUT);
        return;
    }
    plan_round(cluster, operation);
    if (bit_count(operation->asked) < operation->required) {
        cass_operation_unavailable(cluster, index, operation->asked);
        return;
    }
    int64_t micros = cass_node_timestamp_us(cluster, operation->place, operation->ballot_least);
    operation->ballot = (struct ballot){.micros = micros, .node = operation->place};
    operation->round++;
    cass_read_let_go(cluster, index);
    uint32_t gathered = cass_body_new(cluster), body = cass_body_new(cluster);
    operation->gathered = gathered;
    memset(body_at(cluster, gathered)->answers, 0, sizeof(body_at(cluster, gathered)->answers));
    body_at(cluster, body)->ballot = operation->ballot;
    cass_operation_timer(cluster, index, phase_deadline(cluster, operation));
    cass_operation_send(cluster, index, MESSAGE_PREPARE, operation->asked, body);
    cass_body_release(cluster, body);
}

void cass_lock_release(struct cass_cluster *cluster, uint32_t index, bool is_counter)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t found = lock_find(cluster, operation->place, operation->entity, is_counter);
    operation->has_lock = false;
    struct lock *lock = lock_at(cluster, found);
    uint32_t next = lock->head;
    if (next == CASS_NONE) {
        sim_table_remove(&cluster->lock_table, lock_hash(operation->place, operation->entity, is_counter),
                         found);
        cass_pool_give(&cluster->locks, found);
        return;
    }
    lock->head = operation_at(cluster, next)->next;
    operation_at(cluster, next)->has_lock = true;
    if (is_counter)
        cass_count_locked(cluster, next);
    else
        attempt(cluster, next);
}

void cass_lock_forget(struct cass_cluster *cluster, uint32_t index, bool is_counter)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    struct lock *lock = lock_at(cluster, lock_find(cluster, operation->place, operation->entity, is_counter));
    uint32_t before = CASS_NONE, at = lock->head;
    while (at != index && at != CASS_NONE) {
        before = at;
        at = operation_at(cluster, at)->next;
    }
    if (at == CASS_NONE)
        return;
    if (before == CASS_NONE)
        lock->head = operation->next;
    else
        operation_at(cluster, before)->next = operation->next;
    if (lock->tail == index)
        lock->tail = before;
}

/* The Paxos state of a replica: what it has promised, accepted and committed for a register. Source:
 * apache/cassandra service/paxos/PaxosState.java. */

bool cass_ballot_after(const struct ballot *left, const struct ballot *right)
{
    if (left->micros != right->micros)
        return left->micros > right->micros;
    return left->node > right->node;
}

static struct paxos_state *state_need(struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    if (register_at(cluster, entity)->paxos == CASS_NONE) {
        uint32_t fresh = cass_pool_take(&cluster->paxos);
        for (uint32_t i = 0; i < cluster->factor; i++) {
            struct paxos_state *state = paxos_at(cluster, fresh) + i;
            state->promised = state->accepted.ballot = state->committed.ballot =
                (struct ballot){.micros = NO_TIME};
        }
        register_at(cluster, entity)->paxos = fresh;
    }
    return paxos_at(cluster, register_at(cluster, entity)->paxos) + replica;
}

void cass_paxos_prepare(struct cass_cluster *cluster, uint32_t index)
{
    uint32_t answer_index = cass_body_new(cluster);
    struct message *message = message_at(cluster, index);
    struct paxos_state *state = state_need(cluster, message->entity, message->replica);
    const struct ballot ballot = body_at(cluster, message->body)->ballot;
    struct body *answer = body_at(cluster, answer_index);
    if (cass_ballot_after(&ballot, &state->promised))
        state->promised = ballot;
    else
        message->flags |= MESSAGE_REFUSED;
    answer->promised = state->promised;
    answer->accepted = state->accepted;
    answer->committed = state->committed;
    answer->image = *image_at(cluster, message->entity, message->replica);
    if (cluster->config.paxos == CASS_PAXOS_V2)
        answer->named = cass_named_copy(cluster, message->entity, message->replica);
    cass_message_answer(cluster, index, MESSAGE_ANSWER, answer_index);
}

void cass_paxos_propose(struct cass_cluster *cluster, uint32_t index)
{
    uint32_t answer_index = cass_body_new(cluster);
    struct message *message = message_at(cluster, index);
    struct paxos_state *state = state_need(cluster, message->entity, message->replica);
    const struct proposal *proposal = &body_at(cluster, message->body)->accepted;
    if (cass_ballot_after(&state->promised, &proposal->ballot)) {
        message->flags |= MESSAGE_REFUSED;
    } else {
        state->promised = proposal->ballot;
        state->accepted = *proposal;
    }
    body_at(cluster, answer_index)->promised = state->promised;
    cass_message_answer(cluster, index, MESSAGE_ANSWER, answer_index);
}

/* The mutation of a commit with an older ballot than the last one is applied, too; the cells' timestamps
 * decide which value wins. */
void cass_paxos_commit(struct cass_cluster *cluster, const struct message *message)
{
    struct paxos_state *state = state_need(cluster, message->entity, message->replica);
    const struct proposal *decided = &body_at(cluster, message->body)->committed;
    if (cass_ballot_after(&decided->ballot, &state->committed.ballot))
        state->committed = *decided;
    if (!cass_ballot_after(&state->accepted.ballot, &decided->ballot))
        state->accepted.ballot = (struct ballot){.micros = NO_TIME};
    cass_image_merge(image_need(cluster, message->entity, message->replica), &decided->image);
    cass_register_tell(cluster, message->entity);
}

/* An LWT or a SERIAL read at its coordinator: prepare, read, propose, commit. What an earlier coordinator
 * left incomplete is finished first: a commit that a promising replica misses, or a proposal that only some
 * replicas accepted. An empty proposal, of a failed condition or of a read, orders the operation after
 * earlier ones and needs no commit. Source: apache/cassandra service/StorageProxy.java (v1),
 * service/paxos/Paxos.java (v2). */

void cass_cas_begin(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    operation->ballot_least = NO_TIME;
    operation->ballot.micros = NO_TIME;
    if (cluster->config.paxos == CASS_PAXOS_V2 && !cass_lock_take(cluster, index, false)) {
        operation->stage = STAGE_LOCK_WAIT;
        cass_operation_timer(cluster, index, operation->started_ns + cluster->config.timeout_cas_ns);
        return;
    }
    attempt(cluster, index);
}

static void propose(struct cass_cluster *cluster, uint32_t index, enum stage stage, bool is_empty,
                    const struct image *image)
{
    uint32_t body = cass_body_new(cluster);
    struct cass_operation *operation = operation_at(cluster, index);
    struct proposal *proposal = &body_at(cluster, body)->accepted;
    proposal->ballot = operation->ballot;
    proposal->is_empty = is_empty;
    if (image != NULL)
        proposal->image = *image;
    else
        proposal->image = cass_image_none;
    plan_round(cluster, operation);
    operation->acked = operation->failed = 0;
    operation->stage = (uint8_t)stage;
    operation->round++;
    cass_body_release(cluster, operation->body);
    operation->body = body;
    cass_operation_timer(cluster, index, phase_deadline(cluster, operation));
    cass_operation_send(cluster, index, MESSAGE_PROPOSE, operation->asked, body);
}

/* Paxos v2: the promises contained the row. If they all agree, no read is needed. */
static void look_from_promises(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    cass_named_gather(cluster, operation->gathered, operation->acked);
    struct body *gathered = body_at(cluster, operation->gathered);
    gathered->image = cass_image_none;
    for (uint32_t set = operation->acked; set != 0; set &= set - 1)
        cass_image_merge(&gathered->image, &body_at(cluster, gathered->answers[first_bit(set)])->image);
    operation->has_mismatch = false;
    for (uint32_t set = operation->acked; set != 0; set &= set - 1) {
        const struct body *answer = body_at(cluster, gathered->answers[first_bit(set)]);
        bool is_pending = cass_ballot_after(&answer->accepted.ballot, &answer->committed.ballot);
        operation->has_mismatch = operation->has_mismatch || is_pending ||
                                  !cass_image_equal(&answer->image, &gathered->image) ||
                                  !cass_named_equal(cluster, answer->named, gathered->named);
    }
    cass_reply_gathered(cluster, operation);
    if (!is_read(operation)) {
        cass_cas_read_done(cluster, index);
    } else if (operation->has_mismatch) {
        propose(cluster, index, STAGE_PROPOSE, true, NULL);
    } else {
        give_up(cluster, index, CASS_OK);
    }
}

/* Sends the missed commit to the replicas of `set`. The repair is complete when enough replicas have it; with
 * EACH_QUORUM, a quorum in each datacenter. */
static void commit_repair(struct cass_cluster *cluster, uint32_t index, const struct proposal *decided,
                          uint32_t set, uint32_t wanted, enum cass_consistency level)
{
    uint32_t body = cass_body_new(cluster);
    struct cass_operation *operation = operation_at(cluster, index);
    body_at(cluster, body)->committed = *decided;
    operation->stage = STAGE_COMMIT_REPAIR;
    operation->round++;
    operation->asked = set;
    operation->acked = operation->failed = 0;
    operation->required = wanted;
    operation->level = level;
    cass_operation_send(cluster, index, MESSAGE_COMMIT, set, body);
    cass_body_release(cluster, body);
}

/* A quorum has promised: finishes what other coordinators left incomplete, or continues. */
static void promised(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    const struct body *gathered = body_at(cluster, operation->gathered);
    struct proposal decided = {.ballot = {.micros = NO_TIME}}, pending = {.ballot = {.micros = NO_TIME}};
    for (uint32_t set = operation->acked; set != 0; set &= set - 1) {
        const struct body *answer = body_at(cluster, gathered->answers[first_bit(set)]);
        if (cass_ballot_after(&answer->committed.ballot, &decided.ballot))
            decided = answer->committed;
        if (cass_ballot_after(&answer->accepted.ballot, &pending.ballot))
            pending = answer->accepted;
    }
    if (cass_ballot_after(&pending.ballot, &decided.ballot) && !pending.is_empty) {
        cass_image_date(&pending.image, operation->ballot.micros);
        propose(cluster, index, STAGE_PROPOSE_REPAIR, false, &pending.image);
        return;
    }
    uint32_t missing = 0;
    for (uint32_t set = operation->acked; set != 0; set &= set - 1) {
        uint32_t replica = first_bit(set);
        const struct body *answer = body_at(cluster, gathered->answers[replica]);
        missing |= (cass_ballot_after(&decided.ballot, &answer->committed.ballot) ? UINT32_C(1) : 0)
                   << replica;
    }
    if (missing != 0) {
        commit_repair(cluster, index, &decided, missing, bit_count(missing), CASS_SERIAL);
        return;
    }
    if (cluster->config.paxos == CASS_PAXOS_V2)
        look_from_promises(cluster, index);
    else if (is_read(operation))
        propose(cluster, index, STAGE_PROPOSE, true, NULL);
    else
        cass_read_begin(cluster, index,
                        operation->statement.serial_consistency == CASS_SERIAL ? CASS_QUORUM
                                                                               : CASS_LOCAL_QUORUM);
}

/* The defaults of ContentionStrategy, with the mean latency of the node's LWTs instead of p50 and twice the
 * mean instead of p95: between p50 * 0.66 and 10 ms <= p95 * 1.8^attempts <= 100 ms, drawn as u^1.5. */
static int64_t wait_v2(struct cass_cluster *cluster, struct cass_operation *operation)
{
    struct node *node = &cluster->nodes[operation->place];
    double least = 0.66 * (double)node->paxos_mean_ns, most = 2 * (double)node->paxos_mean_ns;
    for (uint32_t i = 0; i < operation->contentions && most < 1e8; i++)
        most *= 1.8;
    most = most < 1e7 ? 1e7 : most > 1e8 ? 1e8 : most;
    least = least > most / 2 ? most / 2 : least;
    double u = sim_random_unit(&node->backoff) + 0x1p-54; /* never 0, whose logarithm is undefined */
    return (int64_t)(least + (most - least) * sim_pow(u, 1.5));
}

/* A round was lost: sleeps, then begins again with a higher ballot. */
static void contend(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    operation->contentions++;
    operation->stage = STAGE_SLEEP;
    operation->round++;
    int64_t wait;
    if (cluster->config.paxos == CASS_PAXOS_V2)
        wait = wait_v2(cluster, operation);
    else
        wait = (int64_t)sim_random_below(&cluster->nodes[operation->place].backoff, 100) * SIM_MS;
    cass_operation_timer(cluster, index, now_ns(cluster) + wait);
}

static void on_promise(struct cass_cluster *cluster, uint32_t index, const struct message *message)
{
    struct cass_operation *operation = operation_at(cluster, index);
    const struct body *answer = body_at(cluster, message->body);
    if (message->flags & MESSAGE_REFUSED) {
        operation->ballot_least = at_least(operation->ballot_least, answer->promised.micros);
        contend(cluster, index);
        return;
    }
    uint32_t bit = UINT32_C(1) << message->replica;
    if (operation->acked & bit)
        return;
    operation->acked |= bit;
    body_at(cluster, operation->gathered)->answers[message->replica] = message->body;
    body_at(cluster, message->body)->references++;
    if (bit_count(operation->acked) >= operation->required)
        promised(cluster, index);
}

/* The proposal of another coordinator was accepted and must be committed. Paxos v1 commits it at the
 * consistency level of the current LWT, so an LWT whose level cannot be met never evaluates its condition
 * (StorageProxy.beginAndRepairPaxos). */
static void accepted_repair(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    cluster->nodes[operation->place].stats.paxos_finished++;
    struct proposal decided = body_at(cluster, operation->body)->accepted;
    enum cass_consistency level = operation->statement.consistency, waits_at = CASS_SERIAL;
    uint32_t alive = cass_replicas_alive(cluster, operation->place, operation->position);
    if (cluster->config.paxos == CASS_PAXOS_V1 && !is_read(operation) && level != CASS_ANY) {
        if (!cass_operation_plan(cluster, operation, level, &alive)) {
            cass_operation_unavailable(cluster, index, alive);
            return;
        }
        waits_at = level;
    }
    commit_repair(cluster, index, &decided, alive, operation->required, waits_at);
}

/* The value is decided, and only its acknowledgement can still fail. Paxos v2 does not check whether the
 * level can be met (PaxosCommit.start), v1 does. */
static void commit(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    struct node *node = &cluster->nodes[operation->place];
    node->paxos_mean_ns += (now_ns(cluster) - operation->started_ns - node->paxos_mean_ns) / 8;
    operation->stage = STAGE_COMMIT;
    operation->level = operation->statement.consistency;
    uint32_t alive;
    if (!cass_operation_plan(cluster, operation, operation->level, &alive) &&
        cluster->config.paxos == CASS_PAXOS_V1 && operation->level != CASS_ANY) {
        cass_operation_unavailable(cluster, index, alive);
        return;
    }
    struct body *body = body_at(cluster, operation->body);
    body->committed = body->accepted;
    body->image = body->accepted.image;
    int64_t deadline = operation->started_ns + cluster->config.timeout_write_ns;
    if (cluster->config.paxos == CASS_PAXOS_V2)
        deadline = at_least(deadline, operation->started_ns + cluster->config.timeout_cas_ns);
    cass_operation_timer(cluster, index, deadline);
    cass_write_spread(cluster, index, 0);
}

static void finish_not_applied(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (!operation->statement.if_absent)
        operation->reply.columns_mask &= operation->statement.if_mask;
    give_up(cluster, index, CASS_OK);
}

static void accepted(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (operation->stage == STAGE_PROPOSE_REPAIR) {
        accepted_repair(cluster, index);
    } else if (is_read(operation) && cluster->config.paxos == CASS_PAXOS_V2) {
        give_up(cluster, index, CASS_OK);
    } else if (is_read(operation)) {
        cass_read_begin(cluster, index,
                        operation->statement.consistency == CASS_SERIAL ? CASS_QUORUM : CASS_LOCAL_QUORUM);
    } else if (operation->is_condition_failed) {
        finish_not_applied(cluster, index);
    } else {
        commit(cluster, index);
    }
}

static void on_accept(struct cass_cluster *cluster, uint32_t index, const struct message *message)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t bit = UINT32_C(1) << message->replica;
    if (message->flags & MESSAGE_REFUSED) {
        int64_t seen = body_at(cluster, message->body)->promised.micros;
        operation->ballot_least = at_least(operation->ballot_least, seen);
        operation->failed |= bit & ~operation->acked;
    } else {
        operation->acked |= bit;
    }
    if (bit_count(operation->acked) >= operation->required) {
        accepted(cluster, index);
        return;
    }
    bool is_fast = operation->stage == STAGE_PROPOSE_REPAIR || is_read(operation);
    bool is_lost = bit_count(operation->asked & ~operation->failed) < operation->required;
    bool is_over = (operation->acked | operation->failed) == operation->asked;
    if (is_fast && is_lost)
        contend(cluster, index);
    else if (!is_fast && is_over && operation->acked == 0)
        contend(cluster, index);
    else if (!is_fast && is_over)
        give_up(cluster, index,
                cluster->config.paxos == CASS_PAXOS_V2 ? CASS_WRITE_TIMEOUT : CASS_CAS_UNKNOWN);
}

static void on_commit_repair(struct cass_cluster *cluster, uint32_t index, const struct message *message)
{
    struct cass_operation *operation = operation_at(cluster, index);
    operation->acked |= UINT32_C(1) << message->replica;
    if (cass_level_met(cluster, operation, operation->level, operation->acked))
        attempt(cluster, index);
}

void cass_cas_answer(struct cass_cluster *cluster, uint32_t index, const struct message *message)
{
    /* The answer of a replica that fails is ignored; the phase then ends by its timeout. */
    if (message->flags & MESSAGE_FAILED)
        return;
    switch ((enum stage)operation_at(cluster, index)->stage) {
    case STAGE_PREPARE:
        on_promise(cluster, index, message);
        break;
    case STAGE_COMMIT_REPAIR:
        on_commit_repair(cluster, index, message);
        break;
    case STAGE_PROPOSE:
    case STAGE_PROPOSE_REPAIR:
        on_accept(cluster, index, message);
        break;
    default:
        break; /* not a stage in which an LWT waits for answers */
    }
}

void cass_cas_timer(struct cass_cluster *cluster, uint32_t index)
{
    if (operation_at(cluster, index)->stage == STAGE_SLEEP)
        attempt(cluster, index);
    else
        give_up(cluster, index, CASS_WRITE_TIMEOUT);
}

/* As in ColumnCondition, null equals only null, and is not an element of any list. */
static bool column_holds(const struct cass_statement *statement, const struct cass_reply *reply,
                         uint32_t column)
{
    bool has_value = reply->columns_mask >> column & 1, is_not = statement->if_not_mask >> column & 1;
    int64_t value = reply->columns[column];
    if (statement->if_in_mask >> column & 1) {
        for (uint32_t i = 0; i < statement->in_count; i++) {
            if (has_value && value == statement->in[i])
                return true;
        }
        return false;
    }
    bool is_equal =
        statement->if_null_mask >> column & 1 ? !has_value : has_value && value == statement->equal[column];
    return is_equal != is_not;
}

static bool condition_holds(const struct cass_cluster *cluster, const struct cass_operation *operation)
{
    const struct cass_statement *statement = &operation->statement;
    const struct cass_reply *reply = &operation->reply;
    /* Static columns exist by their values, whatever rows their partition has. */
    bool is_static = register_at(cluster, operation->entity)->named != CASS_NONE;
    if (statement->if_absent || statement->if_exists)
        return (is_static ? reply->columns_mask != 0 : reply->found) == statement->if_exists;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (statement->if_mask >> i & 1 && !column_holds(statement, reply, i))
            return false;
    }
    return true;
}

/* The row was read: a SERIAL read ends, and an LWT evaluates its condition. */
void cass_cas_read_done(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    if (is_read(operation)) {
        give_up(cluster, index, CASS_OK);
        return;
    }
    operation->is_condition_failed = !condition_holds(cluster, operation);
    if (operation->is_condition_failed) {
        if (cluster->config.paxos == CASS_PAXOS_V2 && !operation->has_mismatch)
            finish_not_applied(cluster, index);
        else
            propose(cluster, index, STAGE_PROPOSE, true, NULL);
        return;
    }
    if (cass_is_too_late(cass_expiry_s(now_ns(cluster), operation->statement.ttl_ns))) {
        give_up(cluster, index, CASS_INVALID);
        return;
    }
    struct image image;
    cass_image_set(&image, &operation->statement, operation->ballot.micros, now_ns(cluster));
    if (operation->statement.is_whole_row)
        cass_image_date(&image, operation->ballot.micros);
    propose(cluster, index, STAGE_PROPOSE, false, &image);
}
