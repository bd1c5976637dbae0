/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters: a leader adds to its own shard under a lock and sends the resulting shard to the other replicas.
 * The increment that is sent to the leader is not idempotent and never hinted; the shard is both. Source:
 * apache/cassandra db/CounterMutation.java, StorageProxy.mutateCounter. */
#include "state.h"

static struct hint_list *list_of(struct cass_cluster *cluster, uint32_t node, uint32_t target)
{
    return &cluster->hints_for[(size_t)node * cluster->node_count + target];
}

static void plan(struct cass_cluster *cluster, uint32_t node, uint32_t target, int64_t after_ns)
{
    struct hint_list *list = list_of(cluster, node, target);
    if (list->has_event)
        return;
    list->has_event = true;
    list->event = cass_schedule(cluster, now_ns(cluster) + after_ns, EVENT_HINTS, node, target, 0);
}

/* Chooses a random live replica of the coordinator's datacenter, or of any datacenter if that one has
 * none. */
static uint32_t choose_leader(struct cass_cluster *cluster, uint32_t index, uint32_t alive)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    uint32_t datacenter = cass_place_datacenter(cluster, operation->place);
    uint32_t near = alive & cass_datacenter_set(cluster, operation->position, datacenter);
    uint32_t set = near != 0 ? near : alive;
    uint64_t skip = sim_random_below(&cluster->places[operation->place].choice, bit_count(set));
    for (; skip > 0; skip--)
        set &= set - 1;
    return first_bit(set);
}

void cass_count_begin(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    uint32_t alive;
    operation->stage = STAGE_LEADER;
    if (!cass_operation_plan(cluster, operation, operation->level, &alive) || alive == 0) {
        cass_operation_unavailable(cluster, index, alive);
        return;
    }
    uint32_t body_index = cass_body_new(cluster);
    struct body *body = body_at(cluster, body_index);
    body->leader = choose_leader(cluster, index, alive);
    body->delta = operation->statement.delta;
    body->row_id = operation->statement.row_id;
    body->limit = (uint64_t)operation->level;
    operation->body = body_index;
    uint32_t leader = UINT32_C(1) << body->leader;
    cass_operation_timer(cluster, index, operation->started_ns + cluster->config.timeout_counter_ns);
    cass_operation_send(cluster, index, MESSAGE_COUNT, leader, body_index);
}

void cass_count_lead(struct cass_cluster *cluster, uint32_t message_index)
{
    const struct message *message = message_at(cluster, message_index);
    const struct body *body = body_at(cluster, message->body);
    struct cass_statement statement = {.kind = CASS_ADD_COUNTER,
                                       .key = counter_at(cluster, message->entity)->key,
                                       .row_id = body->row_id,
                                       .delta = body->delta};
    uint32_t index = cass_operation_new(cluster, &statement);
    struct cass_operation *operation = operation_at(cluster, index);
    operation->stage = STAGE_COUNT;
    operation->is_leader = true;
    operation->place = message->to;
    operation->parent = message->operation;
    operation->parent_generation = message->generation;
    operation->parent_round = message->round;
    operation->parent_place = message->from;
    operation->entity = message->entity;
    operation->position = counter_at(cluster, message->entity)->position;
    operation->started_ns = now_ns(cluster);
    operation->level = (enum cass_consistency)body->limit;
    operation->leader = body->leader;
    cass_message_drop(cluster, message_index);
    uint32_t alive;
    if (!cass_operation_plan(cluster, operation, operation->level, &alive)) {
        cass_operation_unavailable(cluster, index, alive);
        return;
    }
    cass_operation_timer(cluster, index, operation->started_ns + cluster->config.timeout_counter_ns);
    if (cass_lock_take(cluster, index, true))
        cass_count_locked(cluster, index);
    else
        operation_at(cluster, index)->stage = STAGE_LOCK_WAIT;
}

void cass_count_locked(struct cass_cluster *cluster, uint32_t index)
{
    struct cass_operation *operation = operation_at(cluster, index);
    operation->stage = STAGE_COUNT;
    cass_operation_send(cluster, index, MESSAGE_COUNT_SHARD, UINT32_C(1) << operation->leader, CASS_NONE);
}

/* Called when the leader has read and written its own shard. */
static void cass_count_shard(struct cass_cluster *cluster, uint32_t message_index)
{
    const struct message *message = message_at(cluster, message_index);
    uint32_t index = message->operation, node = message->to;
    struct cass_operation *operation = operation_at(cluster, index);
    bool is_late = operation->generation != message->generation || operation->stage != STAGE_COUNT;
    cass_message_drop(cluster, message_index);
    if (is_late)
        return;
    if (cluster->nodes[node].is_failing) {
        cass_operation_refuse(cluster, index, CASS_WRITE_FAILURE);
        return;
    }
    uint32_t leader = operation->leader;
    struct shard *own = shard_at(cluster, operation->entity, leader, leader);
    int64_t clock_us = cass_node_clock_us(cluster, node);
    int64_t deleted_us = shard_at(cluster, operation->entity, leader, cluster->factor)->clock;
    /* Timestamps rise within a millisecond, so what is added in the millisecond of a deletion is newer. */
    if (deleted_us / 1000 == clock_us / 1000)
        clock_us = deleted_us + 1;
    own->clock = at_least(own->clock + 1, clock_us);
    own->count = cass_count_sum(own->count, operation->statement.delta);
    if (cluster->observer.counter_added != NULL)
        cluster->observer.counter_added(cluster->observer.context, operation->statement.key,
                                        operation->statement.row_id, operation->statement.delta);
    uint32_t body_index = cass_body_new(cluster);
    struct body *body = body_at(cluster, body_index);
    body->leader = leader;
    body->shard = *own;
    operation->body = body_index;
    operation->stage = STAGE_WRITE;
    /* The shard is sent to the others by a write, whose timeout is shorter. */
    cass_operation_timer(cluster, index, now_ns(cluster) + cluster->config.timeout_write_ns);
    cass_lock_release(cluster, index, true);
    cass_write_spread(cluster, index, UINT32_C(1) << leader);
}

bool cass_count_is_forwarded(const struct cass_operation *operation)
{
    return operation->is_leader && operation->place != operation->parent_place;
}

int64_t cass_count_sum(int64_t left, int64_t right)
{
    return (int64_t)((uint64_t)left + (uint64_t)right);
}

bool cass_count_is_found(const struct shard *shards, uint32_t factor)
{
    int64_t latest = 0;
    for (uint32_t leader = 0; leader < factor; leader++)
        latest = at_least(latest, shards[leader].clock);
    return latest > shards[factor].clock;
}

/* The work of a replica for a request: its service time, and the changes that it makes. */

/* If lifetimes are kept, the coordinator has determined what is scanned. Otherwise rows and tombstones are
 * assumed to be evenly mixed, so that a read that stops at its limit has scanned a proportional number of
 * tombstones. */
static int64_t scan_cost(struct cass_cluster *cluster, uint32_t index)
{
    struct message *message = message_at(cluster, index);
    uint64_t rows = message->limit, tombstones = message->tombstones, limit = message->limit;
    if (!(message->flags & MESSAGE_SCANS)) {
        cass_partition_expire(cluster, message->entity);
        rows = partition_at(cluster, message->entity)->rows;
        tombstones = partition_at(cluster, message->entity)->tombstones;
    }
    if (!(message->flags & MESSAGE_SCANS) && limit > 0 && limit < rows) {
        tombstones = (uint64_t)((double)tombstones * (double)limit / (double)rows);
        rows = limit;
    }
    struct cass_node_stats *stats = &cluster->nodes[message->to].stats;
    stats->tombstone_warnings += tombstones > cluster->config.tombstone_warn ? 1 : 0;
    if (tombstones > cluster->config.tombstone_fail) {
        /* The read is aborted at this number of tombstones. */
        tombstones = cluster->config.tombstone_fail;
        message->flags |= MESSAGE_FAILED;
    }
    return (int64_t)rows * cluster->config.scan_row_ns +
           (int64_t)tombstones * cluster->config.scan_tombstone_ns;
}

void cass_replica_receive(struct cass_cluster *cluster, uint32_t index)
{
    const struct message *message = message_at(cluster, index);
    const struct cass_cluster_config *config = &cluster->config;
    int64_t service = config->write_ns, timeout = config->timeout_write_ns;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_READ_ROWS:
        service = config->read_ns + scan_cost(cluster, index);
        timeout = config->timeout_read_ns;
        break;
    case MESSAGE_READ_CELLS:
        service = config->read_ns + cass_named_cost(cluster, message->entity, message->replica);
        timeout = config->timeout_read_ns;
        break;
    case MESSAGE_READ_SHARDS:
        service = config->read_ns;
        timeout = config->timeout_read_ns;
        break;
    case MESSAGE_PREPARE:
    case MESSAGE_PROPOSE:
        /* Both kinds of request read their state before they write it. */
        service = config->read_ns + config->write_ns;
        break;
    case MESSAGE_COUNT_SHARD:
        service = config->read_ns + config->write_ns;
        timeout = config->timeout_counter_ns;
        break;
    default:
        break;
    }
    cass_node_enqueue(cluster, index, service, message->flags & MESSAGE_HINT ? NEVER : timeout);
}

static void apply_shard(struct shard *own, const struct shard *other)
{
    if (other->clock > own->clock)
        *own = *other;
}

static void apply(struct cass_cluster *cluster, const struct message *message)
{
    uint32_t replica = message->replica;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_WRITE_ROW:
        cass_row_apply(cluster, message->body, replica);
        break;
    case MESSAGE_REPAIR_ROWS:
        cass_rows_repair(cluster, message->entity, replica, message->limit,
                         &body_at(cluster, message->body)->seen);
        break;
    case MESSAGE_WRITE_CELLS:
        cass_image_merge(image_need(cluster, message->entity, replica),
                         &body_at(cluster, message->body)->image);
        cass_named_apply(cluster, message->entity, replica, body_at(cluster, message->body)->named);
        cass_register_tell(cluster, message->entity);
        break;
    case MESSAGE_WRITE_SHARD: {
        const struct body *body = body_at(cluster, message->body);
        apply_shard(shard_at(cluster, message->entity, replica, body->leader), &body->shard);
        break;
    }
    case MESSAGE_REPAIR_SHARDS:
        for (uint32_t leader = 0; leader <= cluster->factor; leader++) {
            apply_shard(shard_at(cluster, message->entity, replica, leader),
                        &body_at(cluster, message->body)->shards[leader]);
        }
        break;
    case MESSAGE_COMMIT:
        cass_paxos_commit(cluster, message);
        break;
    default:
        break;
    }
}

/* Copies what the replica has now. Rows are counted by the coordinator when it has all answers. */
static uint32_t read_copy(struct cass_cluster *cluster, const struct message *message)
{
    if (message->kind == MESSAGE_READ_ROWS)
        return CASS_NONE;
    uint32_t index = cass_body_new(cluster);
    struct body *body = body_at(cluster, index);
    if (message->kind == MESSAGE_READ_CELLS) {
        body->image = *image_at(cluster, message->entity, message->replica);
        uint32_t named = cass_named_copy(cluster, message->entity, message->replica);
        body_at(cluster, index)->named = named;
    } else {
        for (uint32_t leader = 0; leader <= cluster->factor; leader++)
            body->shards[leader] = *shard_at(cluster, message->entity, message->replica, leader);
    }
    return index;
}

static void count_served(struct cass_cluster *cluster, const struct message *message)
{
    struct cass_node_stats *stats = &cluster->nodes[message->to].stats;
    const uint8_t kind = message->kind;
    bool is_read = kind == MESSAGE_READ_ROWS || kind == MESSAGE_READ_CELLS || kind == MESSAGE_READ_SHARDS;
    bool is_paxos = kind == MESSAGE_PREPARE || kind == MESSAGE_PROPOSE || kind == MESSAGE_COMMIT;
    stats->reads += is_read;
    stats->slow_queries += is_read && now_ns(cluster) - message->sent_ns > cluster->config.slow_query_ns;
    stats->paxos += is_paxos;
    stats->counters += kind == MESSAGE_COUNT_SHARD;
    stats->writes += !is_read && !is_paxos && kind != MESSAGE_COUNT_SHARD;
}

void cass_replica_execute(struct cass_cluster *cluster, uint32_t index)
{
    struct message *message = message_at(cluster, index);
    count_served(cluster, message);
    if (message->kind == MESSAGE_COUNT_SHARD) {
        cass_count_shard(cluster, index);
        return;
    }
    enum message_kind answer = message->flags & MESSAGE_HINT ? MESSAGE_HINT_ACK : MESSAGE_ACK;
    if (cluster->nodes[message->to].is_failing) {
        message->flags |= MESSAGE_FAILED;
        cass_message_answer(cluster, index, answer, CASS_NONE);
        return;
    }
    uint32_t body;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_PREPARE:
        cass_paxos_prepare(cluster, index);
        break;
    case MESSAGE_PROPOSE:
        cass_paxos_propose(cluster, index);
        break;
    case MESSAGE_READ_ROWS:
    case MESSAGE_READ_CELLS:
    case MESSAGE_READ_SHARDS:
        body = read_copy(cluster, message);
        cass_message_answer(cluster, index, MESSAGE_ANSWER, body);
        break;
    default:
        apply(cluster, message);
        cass_message_answer(cluster, index, answer, CASS_NONE);
    }
}

/* Hints: the writes that a coordinator stores for a replica that missed them, and delivers later with their
 * original timestamps. They are on the coordinator's disk, so they survive its crash, and no other node can
 * deliver them. */

#define HINTS_IN_FLIGHT 128u

bool cass_hint_store(struct cass_cluster *cluster, uint32_t node, uint32_t replica, uint32_t position,
                     enum message_kind kind, uint32_t entity, uint32_t body)
{
    uint32_t target = replicas_at(cluster, position)[replica];
    int64_t since = cluster->gone_since[(size_t)node * cluster->node_count + target];
    if (since != NEVER && now_ns(cluster) - since > cluster->config.hint_window_ns)
        return false;
    uint32_t index = cass_pool_take(&cluster->hints);
    *hint_at(cluster, index) =
        (struct hint){.kind = (uint8_t)kind, .replica = (uint16_t)replica, .body = body, .entity = entity};
    cass_carry(cluster, kind, body);
    struct hint_list *list = list_of(cluster, node, target);
    if (list->head == CASS_NONE)
        list->head = index;
    else
        hint_at(cluster, list->tail)->next = index;
    list->tail = index;
    cluster->nodes[node].stats.hints_stored++;
    plan(cluster, node, target, cluster->config.hint_retry_ns);
    return true;
}

static void send(struct cass_cluster *cluster, uint32_t node, uint32_t target, uint32_t index)
{
    const struct hint *hint = hint_at(cluster, index);
    uint32_t fresh = cass_message_new(cluster, (enum message_kind)hint->kind, node, target);
    struct message *message = message_at(cluster, fresh);
    message->flags = MESSAGE_HINT;
    message->replica = hint->replica;
    message->operation = index;
    message->round = list_of(cluster, node, target)->page;
    message->entity = hint->entity;
    message->body = hint->body;
    cass_carry(cluster, hint->kind, hint->body);
    cluster->nodes[node].stats.hints_sent++;
    cass_message_send(cluster, fresh);
}

/* Sends a page of hints and schedules the next one, earlier if the whole page arrived. */
void cass_hints_event(struct cass_cluster *cluster, uint32_t node, uint32_t target)
{
    struct hint_list *list = list_of(cluster, node, target);
    list->has_event = false;
    list->in_flight = 0;
    list->page++;
    if (list->head == CASS_NONE)
        return;
    const struct node *own = &cluster->nodes[node];
    if (now_ns(cluster) < own->paused_until_ns) {
        plan(cluster, node, target, own->paused_until_ns - now_ns(cluster));
        return;
    }
    plan(cluster, node, target, cluster->config.hint_retry_ns);
    if (own->is_down || !cass_believes_up(cluster, node, target))
        return;
    uint32_t at = list->head;
    for (uint32_t i = 0; i < HINTS_IN_FLIGHT && at != CASS_NONE; i++) {
        uint32_t next = hint_at(cluster, at)->next;
        list->in_flight++;
        send(cluster, node, target, at);
        at = next;
    }
}

static void hint_free(struct cass_cluster *cluster, uint32_t index)
{
    cass_carry_no_more(cluster, hint_at(cluster, index)->kind, hint_at(cluster, index)->body);
    cass_pool_give(&cluster->hints, index);
}

static void cass_hints_event_now(struct cass_cluster *cluster, uint32_t node, uint32_t target)
{
    struct hint_list *list = list_of(cluster, node, target);
    if (list->has_event)
        sim_queue_cancel(cluster->queue, list->event);
    cass_hints_event(cluster, node, target);
}

void cass_hint_ack(struct cass_cluster *cluster, const struct message *message)
{
    uint32_t node = message->to, target = message->from, index = message->operation;
    struct hint_list *list = list_of(cluster, node, target);
    if (message->flags & MESSAGE_FAILED || message->round != list->page)
        return;
    /* The hints of the page that are not acknowledged are at the head of the list. A later hint may have the
     * index of one that was acknowledged, and a duplicate of that acknowledgement must not remove it. */
    uint32_t before = CASS_NONE, at = list->head, passed = 0;
    for (; passed < list->in_flight && at != CASS_NONE && at != index; passed++) {
        before = at;
        at = hint_at(cluster, at)->next;
    }
    if (passed == list->in_flight || at != index || index == CASS_NONE)
        return;
    uint32_t next = hint_at(cluster, index)->next;
    if (before == CASS_NONE)
        list->head = next;
    else
        hint_at(cluster, before)->next = next;
    if (next == CASS_NONE)
        list->tail = before;
    hint_free(cluster, index);
    list->in_flight--;
    if (list->in_flight == 0 && list->head != CASS_NONE)
        cass_hints_event_now(cluster, node, target);
}

void cass_drop_hints(struct cass_cluster *cluster, uint32_t node)
{
    for (uint32_t target = 0; target < cluster->node_count; target++) {
        struct hint_list *list = list_of(cluster, node, target);
        while (list->head != CASS_NONE) {
            uint32_t head = list->head;
            list->head = hint_at(cluster, head)->next;
            hint_free(cluster, head);
        }
        list->tail = CASS_NONE;
        list->in_flight = 0;
        list->page++;
    }
}
