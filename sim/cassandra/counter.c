/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters: a leader adds to its own shard under a lock and sends the resulting shard to the other replicas.
 * The increment that is sent to the leader is not idempotent and never hinted; the shard is both. Source:
 * apache/cassandra db/CounterMutation.java, StorageProxy.mutateCounter. */
#include "coordination.h"
#include "data.h"
#include "state.h"
#include "traffic.h"

static void refuse(struct cass_cluster *cluster, uint32_t index, enum cass_result result)
{
    cass_operation_answer(cluster, index, result);
    cass_operation_end(cluster, index);
}

static bool plan_level(struct cass_cluster *cluster, uint32_t index, struct level_plan *plan)
{
    struct cass_operation *operation = operation_at(cluster, index);
    cass_level_plan(cluster, operation->place, operation->position, operation->level, plan);
    operation->counted = plan->counted;
    operation->required = plan->required;
    return cass_level_met(cluster, operation->position, operation->level, plan->counted, plan->required,
                          plan->alive);
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
    struct level_plan plan;
    operation->stage = STAGE_LEADER;
    if (!plan_level(cluster, index, &plan) || plan.alive == 0) {
        operation->acked = plan.alive;
        refuse(cluster, index, CASS_UNAVAILABLE);
        return;
    }
    uint32_t body_index = cass_body_new(cluster);
    struct body *body = body_at(cluster, body_index);
    body->leader = choose_leader(cluster, index, plan.alive);
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
    struct level_plan plan;
    if (!plan_level(cluster, index, &plan)) {
        refuse(cluster, index, CASS_UNAVAILABLE);
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
void cass_count_shard(struct cass_cluster *cluster, uint32_t message_index)
{
    const struct message *message = message_at(cluster, message_index);
    uint32_t index = message->operation, node = message->to;
    struct cass_operation *operation = operation_at(cluster, index);
    bool is_late = operation->generation != message->generation || operation->stage != STAGE_COUNT;
    cass_message_drop(cluster, message_index);
    if (is_late)
        return;
    if (cluster->nodes[node].is_failing) {
        refuse(cluster, index, CASS_WRITE_FAILURE);
        return;
    }
    uint32_t leader = operation->leader;
    struct shard *own = shard_at(cluster, operation->entity, leader, leader);
    own->clock = at_least(own->clock + 1, cass_node_clock_us(cluster, node));
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

void cass_count_answer(struct cass_cluster *cluster, uint32_t index, const struct message *message)
{
    refuse(cluster, index, (enum cass_result)message->limit);
}

void cass_count_timeout(struct cass_cluster *cluster, uint32_t index)
{
    refuse(cluster, index, CASS_WRITE_TIMEOUT);
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
