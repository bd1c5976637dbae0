/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The events of the cluster, and the requests of clients and their answers. */
#include <assert.h>

#include "coordination.h"
#include "data.h"
#include "state.h"
#include "traffic.h"

const char *cass_event_name(uint32_t kind)
{
    static const char *const names[] = {"a message arrives", "a node has served", "a timer runs out",
                                        "a node pauses or goes on", "hints are looked at"};
    if (kind == CASS_EVENT_REPLY)
        return "a reply arrives";
    return kind - CASS_EVENT_FIRST < sizeof names / sizeof *names ? names[kind - CASS_EVENT_FIRST] : NULL;
}

void cass_handle(struct cass_cluster *cluster, const struct sim_event *event)
{
    if (SIM_UNLIKELY(cluster->is_broken))
        return;
    cluster->events_handled++;
    if (SIM_LIKELY(event->kind == EVENT_ARRIVE)) {
        cass_alone_begin(cluster, (uint32_t)event->a);
        return;
    }
    if (SIM_LIKELY(event->kind == EVENT_SERVED)) {
        cass_alone_end(cluster, (uint32_t)event->a);
        return;
    }
    switch (event->kind) {
    case EVENT_TIMER:
        /* A timer is cancelled when its operation ends. */
        assert(operation_at(cluster, (uint32_t)event->a)->generation == event->b);
        cass_operation_timer_fired(cluster, (uint32_t)event->a);
        break;
    case EVENT_PAUSE:
        cass_node_pause_event(cluster, event->target);
        break;
    case EVENT_HINTS:
        cass_hints_event(cluster, event->target, (uint32_t)event->a);
        break;
    default:
        assert(event->kind == EVENT_TIMER);
    }
}

static void travel(struct cass_cluster *cluster, uint32_t operation, uint32_t client, uint32_t coordinator)
{
    uint32_t place = cluster->node_count + client;
    uint32_t index = cass_message_new(cluster, MESSAGE_REQUEST, place, coordinator);
    message_at(cluster, index)->operation = operation;
    int64_t at = now_ns(cluster) + cass_network_latency(cluster, place, coordinator);
    cass_schedule(cluster, at, EVENT_ARRIVE, coordinator, index, 0);
}

/* Registers and counters are created by their first request, a data partition by its first write. */
static uint32_t find_entity(struct cass_cluster *cluster, const struct cass_statement *statement,
                            uint32_t *position)
{
    uint32_t entity;
    switch (statement->kind) {
    case CASS_WRITE_ROW:
    case CASS_DELETE_ROW:
    case CASS_DELETE_RANGE:
    case CASS_DELETE_PARTITION:
        entity = cass_partition_need(cluster, statement->key, statement->bucket);
        *position = partition_at(cluster, entity)->position;
        return entity;
    case CASS_READ_ROWS:
    case CASS_COUNT_ROWS:
        entity = cass_partition_find(cluster, statement->key, statement->bucket);
        *position = entity != CASS_NONE ? partition_at(cluster, entity)->position
                                        : cass_partition_position(cluster, statement->key, statement->bucket);
        return entity;
    case CASS_ADD_COUNTER:
    case CASS_READ_COUNTER:
    case CASS_DELETE_COUNTER:
        entity = cass_counter_need(cluster, statement->key);
        *position = counter_at(cluster, entity)->position;
        return entity;
    default:
        entity = cass_register_need(cluster, statement->key);
        if (statement->kind >= CASS_WRITE_NAMED)
            cass_named_need(cluster, entity);
        *position = register_at(cluster, entity)->position;
        return entity;
    }
}

/* Chooses the coordinator as a token-aware driver does. */
static uint32_t choose_coordinator(struct cass_cluster *cluster, uint32_t client, uint32_t position)
{
    uint32_t place = cluster->node_count + client;
    struct sim_random *choice = &cluster->places[place].choice;
    if (SIM_LIKELY(cluster->is_alone && cluster->gone_count == 0)) {
        random_below(choice, 1);
        return replicas_at(cluster, position)[0];
    }
    uint32_t datacenter = cass_place_datacenter(cluster, place);
    uint32_t set =
        cass_replicas_alive(cluster, place, position) & cass_datacenter_set(cluster, position, datacenter);
    if (set != 0) {
        for (uint64_t skip = random_below(choice, bit_count(set)); skip > 0; skip--)
            set &= set - 1;
        return replicas_at(cluster, position)[first_bit(set)];
    }
    uint32_t first = cluster->datacenter_first[datacenter];
    uint32_t nodes = cluster->config.datacenters[datacenter].nodes;
    uint32_t start = (uint32_t)sim_random_below(choice, nodes);
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t node = first + (start + i) % nodes;
        if (cass_believes_up(cluster, place, node))
            return node;
    }
    return first + start;
}

void cass_request(struct cass_cluster *cluster, uint32_t client, uint32_t coordinator, uint64_t tag,
                  const struct cass_statement *statement)
{
    assert(client < cluster->config.client_count);
    assert(coordinator < cluster->node_count || coordinator == CASS_ANY_NODE);
    for (uint32_t i = 0; i < statement->named_count; i++)
        assert(i < CASS_NAMED_MAX && statement->named[i].name < cluster->config.named_columns);
    if (SIM_UNLIKELY(cluster->is_broken))
        return;
    uint32_t position;
    uint32_t entity = find_entity(cluster, statement, &position);
    if (SIM_LIKELY(coordinator == CASS_ANY_NODE))
        coordinator = choose_coordinator(cluster, client, position);
    /* Only messages between nodes are duplicated. A driver numbers its requests, and if one were executed
     * twice, a failed condition would have no meaning. */
    bool is_double, is_row = is_row_kind(statement->kind);
    if (SIM_UNLIKELY(!cass_network_passes(cluster, cluster->node_count + client, coordinator, &is_double)))
        return;
    uint32_t row = is_row ? cass_row_need(cluster, entity, statement) : CASS_NONE;
    uint32_t index = cass_operation_new(cluster, statement);
    struct cass_operation *operation = operation_at(cluster, index);
    operation->stage = STAGE_TRAVELLING;
    operation->client = client;
    operation->tag = tag;
    operation->entity = entity;
    operation->position = position;
    operation->body = row;
    operation->is_carrying_row = is_row;
    travel(cluster, index, client, coordinator);
}

void cass_reply_take(struct cass_cluster *cluster, uint64_t slot, struct cass_reply *out)
{
    const struct reply_slot *reply = reply_at(cluster, (uint32_t)slot);
    *out = reply->reply;
    if (reply->row != CASS_NONE)
        cass_row_confirm(cluster, reply->row);
    cass_reply_discard(cluster, slot);
}

void cass_reply_discard(struct cass_cluster *cluster, uint64_t slot)
{
    const struct reply_slot *reply = reply_at(cluster, (uint32_t)slot);
    cass_row_release(cluster, reply->row);
    cass_pool_give(&cluster->named, reply->named);
    cass_pool_give(&cluster->replies, (uint32_t)slot);
}
