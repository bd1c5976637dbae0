/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages on their way, and the time of nodes. In: messages to send, faults, and the events of their
 * arrival. Kept: which places are separated, when servers are free, pauses. Out: more events, and the
 * messages, to coordinators and replicas.
 *
 * Latencies of messages. A lognormal latency is an exponential function of a normal draw, which is a long
 * chain of dependent operations. So each place draws several latencies ahead, whose chains the processor can
 * execute in parallel. The draws from its stream are the same, in the same order. */
#include <assert.h>
#include <string.h>

#include "kernel/number.h"
#include "kernel/sampler.h"
#include "state.h"

/* Computes a lognormal latency from a normal draw in the same way as sim_size_draw(). */
static int64_t lognormal(const struct sim_size *size, double normal)
{
    return (int64_t)sim_size_whole(sim_exp(size->log_mean + size->b * normal));
}

static void draw_ahead(const struct sim_size *near, struct latencies *ahead, struct sim_random *stream)
{
    ahead->taken = 0;
    sim_normals(stream, ahead->normals, LATENCIES_AHEAD);
    double means[LATENCIES_AHEAD];
    for (uint32_t i = 0; i < LATENCIES_AHEAD; i++)
        means[i] = near->log_mean + near->b * ahead->normals[i];
    sim_exps(means, LATENCIES_AHEAD);
    for (uint32_t i = 0; i < LATENCIES_AHEAD; i++)
        ahead->near_ns[i] = (int64_t)sim_size_whole(means[i]);
}

/* The latency of a message, before delays of faults. */
static int64_t latency_draw(struct cass_cluster *cluster, uint32_t place_index, bool is_near)
{
    struct place *place = &cluster->places[place_index];
    const struct sim_size *near = &cluster->config.latency_ns, *far = &cluster->config.latency_between_ns;
    if (near->kind != SIM_SIZE_LOGNORMAL || far->kind != SIM_SIZE_LOGNORMAL)
        return (int64_t)sim_size_draw(is_near ? near : far, &place->latency);
    struct latencies *ahead = &place->ahead;
    if (ahead->taken == LATENCIES_AHEAD)
        draw_ahead(near, ahead, &place->latency);
    uint32_t i = ahead->taken++;
    return is_near ? ahead->near_ns[i] : lognormal(far, ahead->normals[i]);
}

/* Messages between places, which may be lost, duplicated, late or blocked by a network partition; and which
 * nodes each process believes to be up. A message that is in flight when a network partition begins still
 * arrives. A process notices after detect_ns that a node is down, and immediately that it is up again; gossip
 * needs up to a second. */

void cass_network_settle(struct cass_cluster *cluster)
{
    cluster->is_calm = cluster->separated_count == 0 && cluster->loss <= 0 && cluster->duplicate <= 0 &&
                       cluster->late <= 0 && cluster->delay == 1.0;
}

void cass_message_send(struct cass_cluster *cluster, uint32_t index)
{
    struct message *message = message_at(cluster, index);
    uint32_t from = message->from, to = message->to;
    message->sent_ns = now_ns(cluster);
    if (from == to) {
        cass_node_arrive(cluster, index);
        return;
    }
    bool is_double;
    if (!cass_network_passes(cluster, from, to, &is_double)) {
        cass_message_drop(cluster, index);
        return;
    }
    if (is_double) {
        uint32_t copy = cass_pool_take(&cluster->messages);
        *message_at(cluster, copy) = *message_at(cluster, index);
        cass_carry(cluster, message_at(cluster, copy)->kind, message_at(cluster, copy)->body);
        int64_t later = now_ns(cluster) + cass_network_latency(cluster, from, to);
        cass_schedule(cluster, later, EVENT_ARRIVE, to, copy, 0);
    }
    int64_t at = now_ns(cluster) + cass_network_latency(cluster, from, to);
    cass_schedule(cluster, at, EVENT_ARRIVE, to, index, 0);
}

void cass_message_answer(struct cass_cluster *cluster, uint32_t index, enum message_kind kind, uint32_t body)
{
    struct message *message = message_at(cluster, index);
    cass_carry_no_more(cluster, message->kind, message->body);
    uint32_t from = message->from;
    message->from = message->to;
    message->to = from;
    message->kind = (uint8_t)kind;
    message->body = body;
    /* A coordinator that has served itself is up, and hears at once. */
    if (message->from == message->to && kind != MESSAGE_HINT_ACK &&
        now_ns(cluster) >= cluster->nodes[from].paused_until_ns)
        cass_operation_message(cluster, index);
    else
        cass_message_send(cluster, index);
}

/* Clients do not communicate with each other, so one of the two places is a node. */
static bool are_separated(const struct cass_cluster *cluster, uint32_t a, uint32_t b)
{
    bool is_node = b < cluster->node_count;
    size_t pair = is_node ? (size_t)a * cluster->node_count + b : (size_t)b * cluster->node_count + a;
    return cluster->separated[pair] > 0;
}

bool cass_network_passes_faults(struct cass_cluster *cluster, uint32_t from, uint32_t to, bool *is_double)
{
    if (cluster->separated_count > 0 && are_separated(cluster, from, to))
        return false;
    if (cluster->loss <= 0 && cluster->duplicate <= 0)
        return true;
    double chance = sim_random_unit(&cluster->places[from].loss);
    *is_double = chance >= cluster->loss && chance < cluster->loss + cluster->duplicate;
    return chance >= cluster->loss;
}

int64_t cass_network_latency_drawn(struct cass_cluster *cluster, uint32_t from, uint32_t to)
{
    bool is_near = cass_place_datacenter(cluster, from) == cass_place_datacenter(cluster, to);
    const struct sim_size *distribution =
        is_near ? &cluster->config.latency_ns : &cluster->config.latency_between_ns;
    if (distribution->kind == SIM_SIZE_CONSTANT && distribution->a < 1 && cluster->late <= 0)
        return 0;
    int64_t latency = latency_draw(cluster, from, is_near), late_ns = 0;
    if (cluster->late > 0 && sim_random_unit(&cluster->places[from].loss) < cluster->late)
        late_ns = cluster->late_ns;
    if (cluster->delay == 1.0)
        return latency + late_ns;
    double delayed = (double)latency * cluster->delay;
    int64_t takes_ns = (delayed < (double)SPAN_MAX ? (int64_t)delayed : SPAN_MAX) + late_ns;
    if (now_ns(cluster) + takes_ns > cluster->delayed_until_ns)
        cluster->delayed_until_ns = now_ns(cluster) + takes_ns;
    return takes_ns;
}

bool cass_believes_up(const struct cass_cluster *cluster, uint32_t place, uint32_t node)
{
    int64_t since = cluster->gone_since[(size_t)place * cluster->node_count + node];
    return since == NEVER || now_ns(cluster) - since < cluster->config.detect_ns;
}

/* Updates which places can reach the node, and since when. */
static void refresh(struct cass_cluster *cluster, uint32_t node)
{
    for (uint32_t place = 0; place < cluster->place_count; place++) {
        int64_t *since = &cluster->gone_since[(size_t)place * cluster->node_count + node];
        bool is_gone = cluster->nodes[node].is_down || (place != node && are_separated(cluster, place, node));
        cluster->gone_count += is_gone - (size_t)(*since != NEVER);
        if (!is_gone)
            *since = NEVER;
        else if (*since == NEVER)
            *since = now_ns(cluster);
    }
}

/* Counts one network partition more or less between a place and a node. */
static void count(struct cass_cluster *cluster, uint32_t place, uint32_t node, bool is_separated)
{
    if (node >= cluster->node_count)
        return;
    uint32_t *partitions = &cluster->separated[(size_t)place * cluster->node_count + node];
    if (is_separated && (*partitions)++ == 0)
        cluster->separated_count++;
    else if (!is_separated && *partitions > 0 && --*partitions == 0)
        cluster->separated_count--;
}

void cass_set_network_partition(struct cass_cluster *cluster, const uint8_t *group_a, const uint8_t *group_b,
                                bool is_separated)
{
    for (uint32_t a = 0; a < cluster->place_count; a++) {
        for (uint32_t b = 0; group_a[a] && b < cluster->place_count; b++) {
            bool is_pair = a != b && (a < cluster->node_count || b < cluster->node_count);
            if (!group_b[b] || !is_pair)
                continue;
            count(cluster, a, b, is_separated);
            count(cluster, b, a, is_separated);
        }
    }
    cass_network_settle(cluster);
    for (uint32_t node = 0; node < cluster->node_count; node++)
        refresh(cluster, node);
}

void cass_set_loss(struct cass_cluster *cluster, double loss, double duplicate)
{
    cluster->loss = loss;
    cluster->duplicate = duplicate;
    cass_network_settle(cluster);
}

void cass_set_delay(struct cass_cluster *cluster, double factor)
{
    cluster->delay = factor;
    cass_network_settle(cluster);
}

void cass_set_late(struct cass_cluster *cluster, double chance, int64_t by_ns)
{
    assert(by_ns >= 0 && by_ns <= SPAN_MAX);
    cluster->late = chance;
    cluster->late_ns = by_ns;
    cass_network_settle(cluster);
}

int64_t cass_delayed_until_ns(const struct cass_cluster *cluster)
{
    return cluster->delayed_until_ns;
}

void cass_heal(struct cass_cluster *cluster)
{
    cluster->loss = cluster->config.loss;
    cluster->duplicate = cluster->config.duplicate;
    cluster->delay = 1;
    cluster->late = 0;
    size_t pairs = (size_t)cluster->place_count * cluster->node_count;
    memset(cluster->separated, 0, pairs * sizeof(*cluster->separated));
    cluster->separated_count = 0;
    cass_network_settle(cluster);
    for (uint32_t node = 0; node < cluster->node_count; node++) {
        cass_set_down(cluster, node, false);
        cluster->nodes[node].slow = 1;
        cluster->nodes[node].is_failing = false;
        refresh(cluster, node);
    }
}

/* The timing of a node: its queue of requests for `concurrency` servers, its pauses, crashes and clock. A
 * request is from a client, for the work of the coordinator, or from a coordinator, for the work of a
 * replica. Requests are served in the order of their arrival by the server that is free first, so the time of
 * service is known when a request arrives, and each request needs only one event. A pause delays everything
 * that is planned on the node by its length: frozen_ns is the sum of the pauses, and a service that was
 * planned before a pause is delayed when its event fires. */

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

/* Starts the timers of the node's operations that, alone on one replica, did not need one before it paused.
 */
static void start_timers(struct cass_cluster *cluster, uint32_t node)
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
    start_timers(cluster, index);
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
    refresh(cluster, index);
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

void cass_set_slow(struct cass_cluster *cluster, uint32_t node, double factor)
{
    assert(node < cluster->node_count && factor > 0);
    cluster->nodes[node].slow = factor;
}
