/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mock cluster from its creation to its end. In: a configuration (docs/mock.md gives the sources of its
 * defaults), requests of clients, and events of the queue. Kept: the pools and hash tables
 * of its state. Out: more events, and answers in slots. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "state.h"

#define CAPACITY_FIRST 16u

/* *is_broken is set to true when the pool cannot grow. */
static bool pool_create(struct cass_pool *pool, size_t item_size, bool *is_broken)
{
    *pool = (struct cass_pool){
        .item_size = item_size, .used = 1, .capacity = CAPACITY_FIRST, .is_broken = is_broken};
    pool->items = sim_memory_take(CAPACITY_FIRST * item_size);
    if (pool->items != NULL)
        memset(pool->items, 0, item_size);
    return pool->items != NULL;
}

/* Grows by half, so that at most a third of the memory of a large pool is unused. */
static bool pool_grow(struct cass_pool *pool)
{
    if (pool->capacity > UINT32_MAX / 3 * 2 - 1)
        return false;
    uint32_t capacity = pool->capacity + pool->capacity / 2;
    uint8_t *items = sim_memory_take(capacity * pool->item_size);
    if (items == NULL)
        return false;
    memcpy(items, pool->items, pool->used * pool->item_size);
    free(pool->items);
    pool->items = items;
    pool->capacity = capacity;
    return true;
}

uint32_t cass_pool_take_new(struct cass_pool *pool)
{
    if (pool->used == pool->capacity && !pool_grow(pool)) {
        *pool->is_broken = true;
        return CASS_NONE;
    }
    memset(pool->items + pool->used * pool->item_size, 0, pool->item_size);
    return pool->used++;
}

/* --- A shortcut for the write of a row, and for the plain read of a register, whose coordinator is the only
 * replica, while nothing fails. It does in one step per event what the general code does in many, such as
 * sending a message to itself. The state after each event, the random draws and the events are the same, so
 * the shortcut and the general code may continue each other's operations between two events. Only the order
 * in which free bodies will be taken differs, since a read needs no body for its answer. */

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
    const struct row *row = operation->is_carrying_row ? row_at(cluster, operation->body) : NULL;
    bool is_plain = row != NULL ? row->expires_s == NEVER : operation->statement.kind == CASS_READ_COLUMNS;
    return is_plain && (LEVELS >> operation->statement.consistency & 1) != 0 && !node->is_down &&
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

static void arrive(struct cass_cluster *cluster, uint32_t request)
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
    uint32_t own = cass_pool_take(&cluster->messages);
    make_work(cluster, own, index);
    /* If a server is free now, it will serve this before the timeout, unless the node pauses. */
    if (SIM_LIKELY(cluster->free_at[(size_t)place * cluster->config.concurrency] <= now) &&
        SIM_LIKELY(node->slow == 1.0) && SIM_LIKELY(service_ns < timeout_ns)) {
        cass_node_serve(cluster, own, now, service_ns);
    } else {
        cass_operation_timer(cluster, index, now + timeout_ns);
        cass_node_enqueue(cluster, own, service_ns, timeout_ns);
    }
    cass_pool_give(&cluster->messages, request);
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

static void serve(struct cass_cluster *cluster, uint32_t own)
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
    cass_operation_refuse(cluster, index, CASS_OK);
    cass_pool_give(&cluster->messages, own);
}

/* --- The events of the cluster, and the requests of clients and their answers. */

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
    if (SIM_LIKELY(event->kind == EVENT_ARRIVE)) {
        arrive(cluster, (uint32_t)event->a);
        return;
    }
    if (SIM_LIKELY(event->kind == EVENT_SERVED)) {
        serve(cluster, (uint32_t)event->a);
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

/* --- Creates a cluster. */

void cass_cluster_config_default(struct cass_cluster_config *out)
{
    *out = (struct cass_cluster_config){
        .datacenter_count = 1,
        .datacenters = {{.name = "dc1", .nodes = 6, .racks = 3, .replication_factor = 3}},
        .num_tokens = 16,
        .client_count = 1,
        .latency_ns = {.kind = SIM_SIZE_LOGNORMAL, .a = 500e3, .b = 0.4},
        .latency_between_ns = {.kind = SIM_SIZE_LOGNORMAL, .a = 40e6, .b = 0.1},
        .concurrency = 32,
        .write_ns = 80 * SIM_US,
        .read_ns = 180 * SIM_US,
        .scan_row_ns = 1 * SIM_US,
        .scan_tombstone_ns = 1 * SIM_US,
        .gc_every_ns = 30 * SIM_SECOND,
        .gc_lasts_ns = 50 * SIM_MS,
        .timeout_write_ns = 2 * SIM_SECOND,
        .timeout_read_ns = 5 * SIM_SECOND,
        .timeout_counter_ns = 5 * SIM_SECOND,
        .timeout_cas_ns = 1 * SIM_SECOND,
        .detect_ns = 10 * SIM_SECOND,
        .hint_window_ns = 3 * SIM_HOUR,
        .hint_retry_ns = 10 * SIM_SECOND,
        .slow_query_ns = 500 * SIM_MS,
        .paxos = CASS_PAXOS_V1,
        .tombstone_warn = 1000,
        .tombstone_fail = 100000,
        .row_cells = 1,
    };
}

/* Who makes a configuration checks it: that of a scenario, where it is read. */
static void check(struct cass_cluster_config *config)
{
    struct sim_size *const latencies[] = {&config->latency_ns, &config->latency_between_ns};
    assert(config->datacenter_count >= 1 && config->datacenter_count <= CASS_DATACENTERS_MAX);
    assert(config->client_count >= 1 && config->concurrency >= 1);
    assert(config->loss >= 0 && config->duplicate >= 0 && config->loss + config->duplicate <= 1);
    for (int i = 0; i < 2; i++) {
        bool is_none = latencies[i]->kind == SIM_SIZE_CONSTANT && latencies[i]->a >= 0 && latencies[i]->a < 1;
        bool is_prepared = is_none || sim_size_prepare(latencies[i]) == 0;
        assert(is_prepared);
        (void)is_prepared;
    }
}

static bool place_nodes(struct cass_cluster *cluster, struct sim_error *error)
{
    const struct cass_cluster_config *config = &cluster->config;
    uint32_t node = 0;
    if (!cass_ring_create(config->seed, config->datacenters, config->datacenter_count, config->num_tokens,
                          &cluster->ring, error))
        return false;
    cluster->node_count = cass_ring_node_count(cluster->ring);
    cluster->place_count = cluster->node_count + config->client_count;
    cluster->factor = cass_ring_replication_factor(cluster->ring);
    assert(cluster->factor <= CASS_CLUSTER_REPLICAS_MAX);
    cluster->all = (uint32_t)((UINT64_C(1) << cluster->factor) - 1);
    cluster->nodes = calloc(cluster->node_count, sizeof(*cluster->nodes));
    if (cluster->nodes == NULL)
        return sim_fail_memory(error);
    for (uint32_t i = 0; i < config->datacenter_count; i++) {
        cluster->datacenter_first[i] = node;
        for (uint32_t j = 0; j < config->datacenters[i].nodes; j++)
            cluster->nodes[node++].datacenter = i;
    }
    return true;
}

static bool create_arrays(struct cass_cluster *cluster)
{
    size_t nodes = cluster->node_count, places = cluster->place_count;
    cluster->places = calloc(places, sizeof(*cluster->places));
    cluster->free_at = calloc(nodes * cluster->config.concurrency, sizeof(*cluster->free_at));
    cluster->separated = calloc(places * nodes, sizeof(*cluster->separated));
    cluster->gone_since = calloc(places * nodes, sizeof(*cluster->gone_since));
    cluster->hints_for = calloc(nodes * nodes, sizeof(*cluster->hints_for));
    return cluster->places != NULL && cluster->free_at != NULL && cluster->separated != NULL &&
           cluster->gone_since != NULL && cluster->hints_for != NULL;
}

/* In the order of the pools. */
static bool create_pools(struct cass_cluster *cluster)
{
    const size_t factor = cluster->factor, names = cluster->config.named_columns;
    const size_t named = (names > 0 ? names : 1) * sizeof(struct cell);
    const size_t sizes[] = {sizeof(struct message),
                            sizeof(struct body),
                            sizeof(struct cass_operation),
                            sizeof(struct row),
                            sizeof(struct expiry),
                            sizeof(struct hint),
                            sizeof(struct reply_slot),
                            sizeof(struct lock),
                            sizeof(struct partition),
                            sizeof(struct register_entry),
                            sizeof(struct register_entry),
                            factor * sizeof(struct image),
                            factor * (factor + 1) * sizeof(struct shard),
                            factor * sizeof(struct paxos_state),
                            sizeof(struct clustering_chunk),
                            sizeof(struct range),
                            named,
                            factor * named};
    static_assert(sizeof sizes / sizeof *sizes == sizeof cluster->pools / sizeof *cluster->pools,
                  "all pools");
    bool ok = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ok = pool_create(&cluster->pools[i], sizes[i], &cluster->is_broken) && ok;
    for (size_t i = 0; i < sizeof(cluster->tables) / sizeof(cluster->tables[0]); i++)
        ok = sim_table_create(&cluster->tables[i], &cluster->is_broken) && ok;
    return ok;
}

static void begin(struct cass_cluster *cluster)
{
    const struct cass_cluster_config *config = &cluster->config;
    cluster->loss = config->loss;
    cluster->duplicate = config->duplicate;
    cluster->delay = 1;
    cluster->delayed_until_ns = INT64_MIN;
    cluster->is_alone = cluster->factor == 1 && config->datacenter_count == 1 && config->coordinate_ns == 0 &&
                        !config->avoids_shortcuts;
    cass_network_settle(cluster);
    for (uint32_t i = 0; i < cluster->place_count; i++) {
        cluster->places[i].datacenter = i < cluster->node_count
                                            ? cluster->nodes[i].datacenter
                                            : (i - cluster->node_count) % config->datacenter_count;
        sim_random_init(&cluster->places[i].latency, config->seed, SIM_NETWORK, i);
        cluster->places[i].ahead.taken = LATENCIES_AHEAD;
        sim_random_init(&cluster->places[i].loss, config->seed, SIM_LOSS, i);
        sim_random_init(&cluster->places[i].choice, config->seed, SIM_CHOICE, i);
    }
    for (size_t i = 0; i < (size_t)cluster->node_count * config->concurrency; i++)
        cluster->free_at[i] = NO_TIME;
    for (size_t i = 0; i < (size_t)cluster->place_count * cluster->node_count; i++)
        cluster->gone_since[i] = NEVER;
    for (uint32_t i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        node->paused_until_ns = NO_TIME;
        node->last_timestamp_us = NO_TIME;
        node->slow = 1;
        node->paxos_mean_ns = 4 * SIM_MS;
        sim_random_init(&node->pause, config->seed, SIM_PAUSE, i);
        sim_random_init(&node->backoff, config->seed, SIM_BACKOFF, i);
        cass_node_plan_pause(cluster, i);
    }
}

bool cass_cluster_create(const struct cass_cluster_config *config, struct sim_queue *queue,
                         struct cass_cluster **out, struct sim_error *error)
{
    *out = NULL;
    struct cass_cluster *cluster = calloc(1, sizeof(*cluster));
    if (cluster == NULL)
        return sim_fail_memory(error);
    cluster->config = *config;
    cluster->queue = queue;
    check(&cluster->config);
    bool ok = place_nodes(cluster, error) &&
              ((create_arrays(cluster) && create_pools(cluster)) || sim_fail_memory(error));
    if (ok)
        begin(cluster);
    if (ok && cluster->is_broken)
        ok = sim_fail_memory(error);
    if (!ok) {
        cass_cluster_destroy(cluster);
        return false;
    }
    *out = cluster;
    return true;
}

void cass_cluster_destroy(struct cass_cluster *cluster)
{
    if (cluster == NULL)
        return;
    cass_ring_destroy(cluster->ring);
    free(cluster->nodes);
    free(cluster->places);
    free(cluster->free_at);
    free(cluster->separated);
    free(cluster->gone_since);
    free(cluster->hints_for);
    for (size_t i = 0; i < sizeof(cluster->pools) / sizeof(cluster->pools[0]); i++)
        free(cluster->pools[i].items);
    for (size_t i = 0; i < sizeof(cluster->tables) / sizeof(cluster->tables[0]); i++)
        free(cluster->tables[i].slots);
    free(cluster);
}

bool cass_cluster_is_sound(const struct cass_cluster *cluster)
{
    return !cluster->is_broken;
}

const bool *cass_cluster_broken(const struct cass_cluster *cluster)
{
    return &cluster->is_broken;
}
