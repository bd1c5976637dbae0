/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shortcut for the write of a row, and for the plain read of a register, whose coordinator is the only
 * replica, while nothing fails. It does in one step per event what the general code does in many, such as
 * sending a message to itself. The state after each event, the random draws and the events are the same, so
 * the shortcut and the general code may continue each other's operations between two events. Only the order
 * in which free bodies will be taken differs, since a read needs no body for its answer. */
#include "state.h"

/* The consistency levels for which one replica in a single datacenter is enough. */
#define LEVELS                                                                                               \
    (1u << CASS_ONE | 1u << CASS_QUORUM | 1u << CASS_ALL | 1u << CASS_LOCAL_ONE | 1u << CASS_LOCAL_QUORUM)

/* The only replica is chosen with a draw, as one of many would be. */
static void begin_read(struct cass_cluster *cluster, struct cass_operation *operation, int64_t *service_ns,
                       int64_t *timeout_ns)
{
    sim_random_next(&cluster->places[operation->place].choice);
    operation->gathered = cass_body_new(cluster);
    body_at(cluster, operation->gathered)->answers[0] = CASS_NONE;
    *service_ns = cluster->config.read_ns + cass_named_cost(cluster, operation->entity, 0);
    *timeout_ns = cluster->config.timeout_read_ns;
}

/* Whether the operation of a request that has arrived can take the shortcut. */
static bool begins_alone(const struct cass_cluster *cluster, const struct cass_operation *operation,
                         uint32_t place)
{
    const struct node *node = &cluster->nodes[place];
    return (operation->is_carrying_row || operation->statement.kind == CASS_READ_COLUMNS) &&
           (LEVELS >> operation->statement.consistency & 1) != 0 && !node->is_down &&
           now_ns(cluster) >= node->paused_until_ns && replicas_at(cluster, operation->position)[0] == place;
}

/* Makes the message from the operation's coordinator to itself. */
static inline void make_work(struct cass_cluster *cluster, uint32_t own, uint32_t index)
{
    const struct cass_operation *operation = operation_at(cluster, index);
    bool is_row = operation->is_carrying_row;
    *message_at(cluster, own) = (struct message){.kind = is_row ? MESSAGE_WRITE_ROW : MESSAGE_READ_CELLS,
                                                 .from = operation->place,
                                                 .to = operation->place,
                                                 .operation = index,
                                                 .generation = operation->generation,
                                                 .round = operation->round,
                                                 .entity = operation->entity,
                                                 .body = is_row ? operation->body : CASS_NONE,
                                                 .sent_ns = operation->started_ns};
}

void cass_alone_begin(struct cass_cluster *cluster, uint32_t request)
{
    const struct message *message = message_at(cluster, request);
    uint32_t index = message->operation, place = message->to;
    struct cass_operation *operation = operation_at(cluster, index);
    if (SIM_UNLIKELY(!cluster->is_alone || message->kind != MESSAGE_REQUEST ||
                     !begins_alone(cluster, operation, place))) {
        cass_node_arrive(cluster, request);
        return;
    }
    int64_t now = now_ns(cluster);
    bool is_row = operation->is_carrying_row;
    operation->place = place;
    operation->started_ns = now;
    operation->level = operation->statement.consistency;
    operation->counted = operation->required = operation->asked = 1;
    operation->round++;
    struct node *node = &cluster->nodes[place];
    node->stats.coordinated++;
    int64_t service_ns = cluster->config.write_ns, timeout_ns = cluster->config.timeout_write_ns;
    operation->stage = is_row ? STAGE_WRITE : STAGE_READ;
    if (SIM_LIKELY(is_row))
        row_at(cluster, operation->body)->references++;
    else
        begin_read(cluster, operation, &service_ns, &timeout_ns);
    /* If a server is free now, it will serve this before the timeout, unless the node pauses. */
    if (SIM_LIKELY(cluster->free_at[(size_t)place * cluster->config.concurrency] <= now) &&
        SIM_LIKELY(node->slow == 1.0) && SIM_LIKELY(service_ns < timeout_ns)) {
        uint32_t own = cass_pool_swap(&cluster->messages, request);
        make_work(cluster, own, index);
        cass_node_serve(cluster, own, now, service_ns);
        return;
    }
    cass_operation_timer(cluster, index, now + timeout_ns);
    uint32_t own = cass_pool_take(&cluster->messages);
    make_work(cluster, own, index);
    cass_node_enqueue(cluster, own, service_ns, timeout_ns);
    cass_pool_give(&cluster->messages, request);
}

void cass_alone_paused(struct cass_cluster *cluster, uint32_t node)
{
    for (uint32_t i = 1; cluster->factor == 1 && i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        bool is_read = operation->stage == STAGE_READ;
        if (operation->generation % 2 == 1 && (is_read || operation->stage == STAGE_WRITE) &&
            operation->place == node && !operation->has_timer)
            cass_operation_timer(cluster, i,
                                 operation->started_ns + (is_read ? cluster->config.timeout_read_ns
                                                                  : cluster->config.timeout_write_ns));
    }
}

/* Whether the operation reads one register for itself, not for Paxos, and has no named columns. */
static bool is_plain_read(const struct cass_cluster *cluster, const struct cass_operation *operation,
                          const struct message *message)
{
    return operation->stage == STAGE_READ && operation->round == message->round &&
           operation->statement.kind == CASS_READ_COLUMNS && operation->ballot.micros == 0 &&
           register_at(cluster, operation->entity)->named == CASS_NONE;
}

static void end_read(struct cass_cluster *cluster, struct cass_operation *operation,
                     const struct message *message)
{
    struct cass_reply *reply = &operation->reply;
    struct cass_node_stats *stats = &cluster->nodes[message->to].stats;
    const struct image *image = image_at(cluster, operation->entity, 0);
    stats->reads++;
    stats->slow_queries += now_ns(cluster) - message->sent_ns > cluster->config.slow_query_ns ? 1 : 0;
    reply->columns_mask = cass_image_live(image, now_ns(cluster), reply->columns);
    reply->found = cass_image_is_found(image, now_ns(cluster), reply->columns_mask);
}

/* Whether the message is an operation's only one, and nothing has failed since it was sent; a crash ends the
 * operation. */
static bool ends_alone(const struct cass_cluster *cluster, const struct message *message)
{
    const struct node *node = &cluster->nodes[message->to];
    const struct cass_operation *operation = operation_at(cluster, message->operation);
    bool is_row = message->kind == MESSAGE_WRITE_ROW;
    return (is_row || message->kind == MESSAGE_READ_CELLS) && message->flags == 0 &&
           message->from == message->to && operation->generation == message->generation &&
           (is_row ? operation->stage == STAGE_WRITE : is_plain_read(cluster, operation, message)) &&
           message->frozen_ns == node->frozen_ns && !node->is_failing &&
           now_ns(cluster) >= node->paused_until_ns;
}

void cass_alone_end(struct cass_cluster *cluster, uint32_t own)
{
    struct message *message = message_at(cluster, own);
    if (SIM_UNLIKELY(!cluster->is_alone || !ends_alone(cluster, message))) {
        cass_node_served(cluster, own);
        return;
    }
    uint32_t index = message->operation;
    if (SIM_UNLIKELY(message->kind == MESSAGE_READ_CELLS)) {
        end_read(cluster, operation_at(cluster, index), message);
    } else {
        cluster->nodes[message->to].stats.writes++;
        cass_row_apply(cluster, message->body, 0);
        cass_row_release(cluster, message->body);
        message->body = CASS_NONE;
    }
    operation_at(cluster, index)->acked =
        1; /* which is all that any level waits for, where there is one replica */
    cass_operation_finish(cluster, index);
    cass_pool_give(&cluster->messages, own);
}
