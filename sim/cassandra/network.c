/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between places, which may be lost, duplicated, late or blocked by a network partition; and which
 * nodes each process believes to be up. A message that is in flight when a network partition begins still
 * arrives. A process notices after detect_ns that a node is down, and immediately that it is up again; gossip
 * needs up to a second. */
#include <assert.h>
#include <string.h>

#include "coordination.h"
#include "data.h"
#include "state.h"
#include "traffic.h"

void cass_network_settle(struct cass_cluster *cluster)
{
    cluster->is_calm = cluster->separated_count == 0 && cluster->loss <= 0 && cluster->duplicate <= 0 &&
                       cluster->late <= 0 && cluster->delay == 1.0;
}

static void refer(struct cass_cluster *cluster, uint32_t index)
{
    const struct message *message = message_at(cluster, index);
    if (message->kind == MESSAGE_WRITE_ROW)
        row_at(cluster, message->body)->references++;
    else if (message->body != CASS_NONE)
        body_at(cluster, message->body)->references++;
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
        refer(cluster, copy);
        int64_t later = now_ns(cluster) + cass_network_latency(cluster, from, to);
        cass_schedule(cluster, later, EVENT_ARRIVE, to, copy, 0);
    }
    int64_t at = now_ns(cluster) + cass_network_latency(cluster, from, to);
    cass_schedule(cluster, at, EVENT_ARRIVE, to, index, 0);
}

void cass_message_release(struct cass_cluster *cluster, uint32_t index)
{
    const struct message *message = message_at(cluster, index);
    if (message->kind == MESSAGE_WRITE_ROW)
        cass_row_release(cluster, message->body);
    else if (message->body != CASS_NONE)
        cass_body_release(cluster, message->body);
}

void cass_message_answer(struct cass_cluster *cluster, uint32_t index, enum message_kind kind, uint32_t body)
{
    struct message *message = message_at(cluster, index);
    if (message->body != CASS_NONE)
        cass_message_release(cluster, index);
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
    int64_t latency = cass_latency_draw(cluster, from, is_near), late_ns = 0;
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

void cass_network_refresh(struct cass_cluster *cluster, uint32_t node)
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
        cass_network_refresh(cluster, node);
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

void cass_disturbance(const struct cass_cluster *cluster, struct cass_disturbance *out)
{
    *out = (struct cass_disturbance){.loss = cluster->loss,
                                     .duplicate = cluster->duplicate,
                                     .late = cluster->late,
                                     .delay = cluster->delay,
                                     .late_ns = cluster->late_ns,
                                     .delayed_until_ns = cluster->delayed_until_ns};
}

bool cass_places_are_separated(const struct cass_cluster *cluster, uint32_t place, uint32_t node)
{
    assert(place < cluster->place_count && node < cluster->node_count);
    return are_separated(cluster, place, node);
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
        cass_network_refresh(cluster, node);
    }
}
