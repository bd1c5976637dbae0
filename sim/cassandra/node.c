/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timing of a node: its queue of requests for `concurrency` servers, its pauses, crashes and clock. A
 * request is from a client, for the work of the coordinator, or from a coordinator, for the work of a
 * replica. Requests are served in the order of their arrival by the server that is free first, so the time of
 * service is known when a request arrives, and each request needs only one event. A pause delays everything
 * that is planned on the node by its length: frozen_ns is the sum of the pauses, and a service that was
 * planned before a pause is delayed when its event fires. */
#include <assert.h>

#include "coordination.h"
#include "state.h"
#include "traffic.h"

static void serve_request(struct cass_cluster *cluster, uint32_t index)
{
    const struct message *message = message_at(cluster, index);
    cass_operation_begin(cluster, message->operation, message->to);
    cass_message_drop(cluster, index);
}

void cass_node_arrive(struct cass_cluster *cluster, uint32_t index)
{
    struct message *message = message_at(cluster, index);
    uint32_t to = message->to;
    const struct node *node = &cluster->nodes[to];
    if (node->is_down) {
        if (message->kind == MESSAGE_REQUEST)
            cass_operation_end(cluster, message->operation);
        cass_message_drop(cluster, index);
        return;
    }
    if (now_ns(cluster) < node->paused_until_ns) {
        cass_schedule(cluster, node->paused_until_ns, EVENT_ARRIVE, to, index, 0);
        return;
    }
    switch ((enum message_kind)message->kind) {
    case MESSAGE_REQUEST:
        if (cluster->config.coordinate_ns > 0)
            cass_node_enqueue(cluster, index, cluster->config.coordinate_ns, NEVER);
        else
            serve_request(cluster, index);
        break;
    case MESSAGE_COUNT:
        cass_count_lead(cluster, index);
        break;
    case MESSAGE_ACK:
    case MESSAGE_ANSWER:
        cass_operation_message(cluster, index);
        break;
    case MESSAGE_HINT_ACK:
        cass_hint_ack(cluster, message);
        cass_message_drop(cluster, index);
        break;
    default:
        cass_replica_receive(cluster, index);
    }
}

void cass_node_busy(int64_t *heap, uint32_t count, int64_t free_at)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= count)
            break;
        child += child + 1 < count && heap[child + 1] < heap[child] ? 1 : 0;
        if (heap[child] >= free_at)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = free_at;
}

void cass_node_enqueue(struct cass_cluster *cluster, uint32_t index, int64_t service_ns, int64_t timeout_ns)
{
    struct message *message = message_at(cluster, index);
    struct node *node = &cluster->nodes[message->to];
    int64_t *heap = cluster->free_at + (size_t)message->to * cluster->config.concurrency;
    int64_t start = at_least(heap[0], now_ns(cluster));
    /* A replica drops requests whose coordinator does not wait for them any more. */
    if (start - message->sent_ns > timeout_ns) {
        node->stats.dropped++;
        cass_message_drop(cluster, index);
        return;
    }
    if (node->slow != 1.0)
        service_ns = (int64_t)((double)service_ns * node->slow);
    cass_node_serve(cluster, index, start, service_ns);
}

int64_t cass_node_served_by_ns(const struct cass_cluster *cluster, uint32_t node)
{
    assert(node < cluster->node_count);
    const int64_t *heap = cluster->free_at + (size_t)node * cluster->config.concurrency;
    int64_t latest = at_least(now_ns(cluster), cluster->nodes[node].paused_until_ns);
    for (uint32_t i = 0; i < cluster->config.concurrency; i++)
        latest = at_least(latest, heap[i]);
    return latest;
}

void cass_node_served(struct cass_cluster *cluster, uint32_t index)
{
    struct message *message = message_at(cluster, index);
    struct node *node = &cluster->nodes[message->to];
    if (message->epoch != node->epoch) {
        if (message->kind == MESSAGE_REQUEST)
            cass_operation_end(cluster, message->operation);
        cass_message_drop(cluster, index);
        return;
    }
    int64_t put_off = node->frozen_ns - message->frozen_ns;
    if (put_off > 0) {
        message->frozen_ns = node->frozen_ns;
        cass_schedule(cluster, now_ns(cluster) + put_off, EVENT_SERVED, message->to, index, 0);
        return;
    }
    if (message->kind == MESSAGE_REQUEST)
        serve_request(cluster, index);
    else
        cass_replica_execute(cluster, index);
}

int64_t cass_node_clock_us(const struct cass_cluster *cluster, uint32_t node)
{
    int64_t wall = now_ns(cluster) + cluster->nodes[node].clock_offset_ns;
    return wall / SIM_MS * 1000 - (wall % SIM_MS < 0 ? 1000 : 0);
}

/* Returns a timestamp that is strictly increasing per node, and greater than least_us, like
 * ClientState.getTimestamp and getTimestampForPaxos. */
int64_t cass_node_timestamp_us(struct cass_cluster *cluster, uint32_t index, int64_t least_us)
{
    struct node *node = &cluster->nodes[index];
    int64_t stamp = at_least(node->last_timestamp_us + 1, cass_node_clock_us(cluster, index));
    node->last_timestamp_us = least_us >= stamp ? least_us + 1 : stamp;
    return node->last_timestamp_us;
}

void cass_node_plan_pause(struct cass_cluster *cluster, uint32_t index)
{
    struct node *node = &cluster->nodes[index];
    if (cluster->config.gc_every_ns == 0 || cluster->config.gc_lasts_ns == 0)
        return;
    double gap = sim_exponential(&node->pause) * (double)cluster->config.gc_every_ns;
    cass_schedule(cluster, now_ns(cluster) + (int64_t)gap, EVENT_PAUSE, index, 0, 0);
}

/* A pause that begins within another one extends it only if it ends later. */
static void freeze(struct cass_cluster *cluster, uint32_t index, int64_t lasts_ns)
{
    struct node *node = &cluster->nodes[index];
    int64_t now = now_ns(cluster), from = at_least(now, node->paused_until_ns);
    int64_t more = now + lasts_ns - from;
    if (node->is_down || more <= 0)
        return;
    node->stats.gc_pauses++;
    node->paused_until_ns = now + lasts_ns;
    node->frozen_ns += more;
    int64_t *heap = cluster->free_at + (size_t)index * cluster->config.concurrency;
    for (uint32_t i = 0; i < cluster->config.concurrency; i++)
        heap[i] = heap[i] > now ? heap[i] + more : heap[i];
    cass_alone_paused(cluster, index);
}

void cass_node_pause_event(struct cass_cluster *cluster, uint32_t index)
{
    struct node *node = &cluster->nodes[index];
    int64_t lasts = (int64_t)(sim_exponential(&node->pause) * (double)cluster->config.gc_lasts_ns);
    freeze(cluster, index, lasts);
    cass_node_plan_pause(cluster, index);
}

void cass_pause(struct cass_cluster *cluster, uint32_t node, int64_t lasts_ns)
{
    assert(node < cluster->node_count && lasts_ns >= 0);
    freeze(cluster, node, lasts_ns);
}

void cass_set_down(struct cass_cluster *cluster, uint32_t index, bool is_down)
{
    assert(index < cluster->node_count);
    struct node *node = &cluster->nodes[index];
    if (node->is_down == is_down)
        return;
    node->is_down = is_down;
    cass_network_refresh(cluster, index);
    if (!is_down)
        return;
    node->epoch++;
    node->paused_until_ns = NO_TIME;
    int64_t *heap = cluster->free_at + (size_t)index * cluster->config.concurrency;
    for (uint32_t i = 0; i < cluster->config.concurrency; i++)
        heap[i] = NO_TIME;
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        struct cass_operation *operation = operation_at(cluster, i);
        if (operation->generation % 2 == 1 && operation->stage != STAGE_TRAVELLING &&
            operation->place == index)
            cass_operation_end(cluster, i);
    }
}

void cass_node_disturbance(const struct cass_cluster *cluster, uint32_t index,
                           struct cass_node_disturbance *out)
{
    assert(index < cluster->node_count);
    const struct node *node = &cluster->nodes[index];
    *out = (struct cass_node_disturbance){node->is_down, node->slow, node->paused_until_ns};
}

void cass_set_slow(struct cass_cluster *cluster, uint32_t node, double factor)
{
    assert(node < cluster->node_count && factor > 0);
    cluster->nodes[node].slow = factor;
}

void cass_set_failing(struct cass_cluster *cluster, uint32_t node, bool is_failing)
{
    assert(node < cluster->node_count);
    cluster->nodes[node].is_failing = is_failing;
}

void cass_set_clock(struct cass_cluster *cluster, uint32_t node, int64_t offset_ns)
{
    assert(node < cluster->node_count);
    cluster->nodes[node].clock_offset_ns = offset_ns;
}
