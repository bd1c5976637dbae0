/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How messages are sent and handled: network, queues of nodes, replicas, hints, locks. */
#ifndef CASSANDRA_TRAFFIC_H
#define CASSANDRA_TRAFFIC_H

#include "state.h"

/* network.c: messages, and which places can reach each other */
static inline uint32_t cass_message_new(struct cass_cluster *cluster, enum message_kind kind, uint32_t from,
                                        uint32_t to)
{
    uint32_t index = cass_pool_take(&cluster->messages);
    *message_at(cluster, index) = (struct message){.kind = (uint8_t)kind, .from = from, .to = to};
    return index;
}
void cass_message_send(struct cass_cluster *cluster, uint32_t message);
/* Turns a request into its answer, and sends it back to the sender. Releases what the request carried, and
 * takes ownership of the caller's reference to `body`. */
void cass_message_answer(struct cass_cluster *cluster, uint32_t message, enum message_kind kind,
                         uint32_t body);
void cass_message_release(struct cass_cluster *cluster, uint32_t message); /* releases what it carries */
static inline void cass_message_drop(struct cass_cluster *cluster, uint32_t message)
{
    if (message_at(cluster, message)->body != CASS_NONE)
        cass_message_release(cluster, message);
    cass_pool_give(&cluster->messages, message);
}
/* cass_network_passes(): whether a message sent now is delivered, and whether twice. cass_network_latency():
 * its latency. */
/* Called when a fault of the network has begun or ended: updates is_calm. */
void cass_network_settle(struct cass_cluster *cluster);
bool cass_network_passes_faults(struct cass_cluster *cluster, uint32_t from, uint32_t to, bool *is_double);
int64_t cass_network_latency_drawn(struct cass_cluster *cluster, uint32_t from, uint32_t to);
static inline bool cass_network_passes(struct cass_cluster *cluster, uint32_t from, uint32_t to,
                                       bool *is_double)
{
    *is_double = false;
    return SIM_LIKELY(cluster->is_calm) || cass_network_passes_faults(cluster, from, to, is_double);
}

/* The latency of most messages was drawn in advance, and no fault adds to it. */
static inline int64_t cass_network_latency(struct cass_cluster *cluster, uint32_t from, uint32_t to)
{
    struct latencies *ahead = &cluster->places[from].ahead;
    if (SIM_LIKELY(ahead->taken < LATENCIES_AHEAD) && SIM_LIKELY(cluster->is_calm) &&
        (SIM_LIKELY(cluster->config.datacenter_count == 1) ||
         cass_place_datacenter(cluster, from) == cass_place_datacenter(cluster, to)))
        return ahead->near_ns[ahead->taken++];
    return cass_network_latency_drawn(cluster, from, to);
}
bool cass_believes_up(const struct cass_cluster *cluster, uint32_t place, uint32_t node);
/* Updates which places can reach the node, and since when. */
void cass_network_refresh(struct cass_cluster *cluster, uint32_t node);

/* latency.c: the latency of a message, before delays of faults */
int64_t cass_latency_draw(struct cass_cluster *cluster, uint32_t place, bool is_near);

/* node.c: a node's clock, its pauses and its queue */
void cass_node_arrive(struct cass_cluster *cluster, uint32_t message);
void cass_node_served(struct cass_cluster *cluster, uint32_t message);
void cass_node_enqueue(struct cass_cluster *cluster, uint32_t message, int64_t service_ns,
                       int64_t timeout_ns);
/* Replaces the least value of a heap. */
void cass_node_busy(int64_t *heap, uint32_t count, int64_t free_at);
/* The server that is free first serves the message from start_ns on. It is replaced in the heap; or any
 * server that is free now, which is equivalent: for a leaf, no further step is needed. The leaf is chosen by
 * the message's index, so most messages find their leaf free. */
static inline void cass_node_serve(struct cass_cluster *cluster, uint32_t index, int64_t start_ns,
                                   int64_t service_ns)
{
    struct message *message = message_at(cluster, index);
    struct node *node = &cluster->nodes[message->to];
    uint32_t count = cluster->config.concurrency, leaves = count - count / 2;
    int64_t *heap = cluster->free_at + (size_t)message->to * count;
    uint32_t leaf = count / 2 + (uint32_t)((uint64_t)(index * UINT32_C(0x9e3779b9)) * leaves >> 32);
    if (SIM_UNLIKELY(service_ns > SPAN_MAX))
        service_ns = SPAN_MAX;
    if (SIM_LIKELY(heap[leaf] <= now_ns(cluster)))
        heap[leaf] = start_ns + service_ns;
    else
        cass_node_busy(heap, count, start_ns + service_ns);
    node->stats.busy_ns += service_ns;
    message->epoch = node->epoch;
    message->frozen_ns = node->frozen_ns;
    cass_schedule(cluster, start_ns + service_ns, EVENT_SERVED, message->to, index, 0);
}
int64_t cass_node_clock_us(const struct cass_cluster *cluster, uint32_t node);
int64_t cass_node_timestamp_us(struct cass_cluster *cluster, uint32_t node, int64_t least_us);
void cass_node_pause_event(struct cass_cluster *cluster, uint32_t node);
void cass_node_plan_pause(struct cass_cluster *cluster, uint32_t node);

/* replica.c: what a replica does with a request */
void cass_replica_receive(struct cass_cluster *cluster, uint32_t message);
void cass_replica_execute(struct cass_cluster *cluster, uint32_t message);

/* hints.c: writes for unreachable replicas; false when a replica has been unreachable for longer than hints
 * are stored */
bool cass_hint_store(struct cass_cluster *cluster, uint32_t node, uint32_t replica, uint32_t position,
                     enum message_kind kind, uint32_t entity, uint32_t body);
void cass_hints_event(struct cass_cluster *cluster, uint32_t node, uint32_t target);
void cass_hint_ack(struct cass_cluster *cluster, const struct message *message);
void cass_hints_event_now(struct cass_cluster *cluster, uint32_t node, uint32_t target);

/* lock.c: locks of a key on a node, in order of arrival */
bool cass_lock_take(struct cass_cluster *cluster, uint32_t operation, bool is_counter); /* false: it waits */
void cass_lock_enter(struct cass_cluster *cluster, uint32_t lock);
void cass_lock_release(struct cass_cluster *cluster, uint32_t operation, bool is_counter);
void cass_lock_forget(struct cass_cluster *cluster, uint32_t operation, bool is_counter);

#endif
