/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hints: the writes that a coordinator stores for a replica that missed them, and delivers later with their
 * original timestamps. They are on the coordinator's disk, so they survive its crash, and no other node can
 * deliver them. */
#include "data.h"
#include "state.h"
#include "traffic.h"

#define HINTS_IN_FLIGHT 128u

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
    if (kind == MESSAGE_WRITE_ROW)
        row_at(cluster, body)->references++;
    else
        body_at(cluster, body)->references++;
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
    if (hint->kind == MESSAGE_WRITE_ROW)
        row_at(cluster, hint->body)->references++;
    else
        body_at(cluster, hint->body)->references++;
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
    const struct hint *hint = hint_at(cluster, index);
    if (hint->kind == MESSAGE_WRITE_ROW)
        cass_row_release(cluster, hint->body);
    else
        cass_body_release(cluster, hint->body);
    cass_pool_give(&cluster->hints, index);
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

bool cass_has_hints(const struct cass_cluster *cluster, uint32_t node)
{
    for (uint32_t target = 0; target < cluster->node_count; target++) {
        if (cluster->hints_for[(size_t)node * cluster->node_count + target].head != CASS_NONE)
            return true;
    }
    return false;
}

void cass_hints_event_now(struct cass_cluster *cluster, uint32_t node, uint32_t target)
{
    struct hint_list *list = list_of(cluster, node, target);
    if (list->has_event)
        sim_queue_cancel(cluster->queue, list->event);
    cass_hints_event(cluster, node, target);
}
