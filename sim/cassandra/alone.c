/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A shortcut for the write of a row whose coordinator is its only replica, while nothing fails. It does in
 * one step per event what the general code does in many, such as sending a message to itself. The state after
 * each event, the random draws and the events are the same, so the shortcut and the general code may continue
 * each other's operations between two events. */
#include "coordination.h"
#include "data.h"
#include "state.h"
#include "traffic.h"

/* The consistency levels for which one replica in a single datacenter is enough. */
#define LEVELS                                                                                               \
    (1u << CASS_ONE | 1u << CASS_QUORUM | 1u << CASS_ALL | 1u << CASS_LOCAL_ONE | 1u << CASS_LOCAL_QUORUM)

static bool is_alone(const struct cass_cluster *cluster)
{
    return cluster->factor == 1 && !cluster->config.avoids_shortcuts;
}

bool cass_alone_begin(struct cass_cluster *cluster, uint32_t request)
{
    const struct message *message = message_at(cluster, request);
    if (message->kind != MESSAGE_REQUEST)
        return false;
    uint32_t index = message->operation, place = message->to;
    struct cass_operation *operation = operation_at(cluster, index);
    struct node *node = &cluster->nodes[place];
    if (!is_alone(cluster) || !operation->is_carrying_row || cluster->config.datacenter_count > 1 ||
        (LEVELS >> operation->statement.consistency & 1) == 0 || node->is_down ||
        now_ns(cluster) < node->paused_until_ns || cluster->config.coordinate_ns > 0 ||
        replicas_at(cluster, operation->position)[0] != place)
        return false;
    operation->place = place;
    operation->started_ns = now_ns(cluster);
    operation->level = operation->statement.consistency;
    operation->stage = STAGE_WRITE;
    operation->counted = operation->required = operation->asked = 1;
    operation->round++;
    node->stats.coordinated++;
    /* If a server is free now, the write will be served before its timeout, unless the node pauses. */
    const int64_t *free_at = cluster->free_at + (size_t)place * cluster->config.concurrency;
    if (*free_at > now_ns(cluster) || node->slow != 1.0 ||
        cluster->config.write_ns >= cluster->config.timeout_write_ns)
        cass_operation_timer(cluster, index, now_ns(cluster) + cluster->config.timeout_write_ns);
    uint32_t own = cass_message_new(cluster, MESSAGE_WRITE_ROW, place, place);
    struct message *write = message_at(cluster, own);
    write->operation = index;
    write->generation = operation->generation;
    write->round = operation->round;
    write->entity = operation->entity;
    write->body = operation->body;
    write->sent_ns = now_ns(cluster);
    row_at(cluster, operation->body)->references++;
    cass_node_enqueue(cluster, own, cluster->config.write_ns, cluster->config.timeout_write_ns);
    cass_pool_give(&cluster->messages, request);
    return true;
}

void cass_alone_paused(struct cass_cluster *cluster, uint32_t node)
{
    for (uint32_t i = 1; cluster->factor == 1 && i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        if (operation->generation % 2 == 1 && operation->stage == STAGE_WRITE && operation->place == node &&
            !operation->has_timer)
            cass_operation_timer(cluster, i, operation->started_ns + cluster->config.timeout_write_ns);
    }
}

bool cass_alone_end(struct cass_cluster *cluster, uint32_t own)
{
    struct message *message = message_at(cluster, own);
    if (message->kind != MESSAGE_WRITE_ROW || message->flags != 0 || message->from != message->to ||
        !is_alone(cluster))
        return false;
    struct node *node = &cluster->nodes[message->to];
    uint32_t index = message->operation;
    struct cass_operation *operation = operation_at(cluster, index);
    /* A crash ends the operation. */
    if (operation->generation != message->generation || operation->stage != STAGE_WRITE ||
        message->frozen_ns != node->frozen_ns || node->is_failing || now_ns(cluster) < node->paused_until_ns)
        return false;
    node->stats.writes++;
    cass_row_apply(cluster, message->body, 0);
    cass_row_release(cluster, message->body);
    message->body = CASS_NONE;
    operation->acked = 1; /* which is all that any level waits for, where there is one replica */
    cass_operation_answer(cluster, index, CASS_OK);
    cass_operation_end(cluster, index);
    cass_pool_give(&cluster->messages, own);
    return true;
}
