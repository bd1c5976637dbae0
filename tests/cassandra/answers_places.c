/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The replicas of a key, the nodes that are believed up, and the replicas that a level needs, from the config
 * and the faults alone. */
#include "answers_model.h"
#include "cassandra/token.h"

/* --- replicas, and the nodes that are believed up */

uint32_t answers_node_count(const struct answers *model)
{
    return cass_node_count(model->h.cluster);
}

uint32_t answers_datacenter_of(const struct answers *model, uint32_t place)
{
    const struct cass_cluster_config *config = &model->config;
    uint32_t first = 0;
    if (place >= answers_node_count(model))
        return (place - answers_node_count(model)) % config->datacenter_count;
    for (uint32_t i = 0;; first += config->datacenters[i++].nodes) {
        if (place < first + config->datacenters[i].nodes)
            return i;
    }
}

uint32_t answers_node_of(const struct answers *model, uint32_t position, uint32_t replica)
{
    return replicas_at(model->h.cluster, position)[replica];
}

uint32_t answers_replicas_in(const struct answers *model, uint32_t position, uint32_t datacenter)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < model->h.cluster->factor; i++)
        set |= (uint32_t)(answers_datacenter_of(model, answers_node_of(model, position, i)) == datacenter)
               << i;
    return set;
}

bool answers_is_up_to(const struct answers *model, uint32_t place, uint32_t node)
{
    int64_t since = model->gone_since[place][node];
    return since == NEVER || sim_queue_now(&model->h.queue) < since + model->config.detect_ns;
}

uint32_t answers_alive_to(const struct answers *model, uint32_t place, uint32_t position)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < model->h.cluster->factor; i++)
        set |= (uint32_t)answers_is_up_to(model, place, answers_node_of(model, position, i)) << i;
    return set;
}

/* Called after a fault begins or ends. */
void answers_look_around(struct answers *model)
{
    for (uint32_t place = 0; place < cass_place_count(model->h.cluster); place++) {
        for (uint32_t node = 0; node < answers_node_count(model); node++) {
            bool is_gone = model->is_down[node] || model->is_cut[place][node];
            int64_t *since = &model->gone_since[place][node];
            if (!is_gone)
                *since = NEVER;
            else if (*since == NEVER)
                *since = sim_queue_now(&model->h.queue);
        }
    }
}

/* The ring position of the first token at or after the key's token. */
uint32_t answers_position_of(const struct answers *model, const struct cass_statement *statement)
{
    uint8_t key[22] = {0, 8};
    const struct cass_ring *ring = model->h.cluster->ring;
    bool is_of_rows = is_row_kind(statement->kind) || statement->kind == CASS_READ_ROWS ||
                      statement->kind == CASS_COUNT_ROWS;
    for (int i = 0; i < 8; i++) {
        key[2 + i] = (uint8_t)(statement->key >> (56 - 8 * i));
        key[13 + i] = (uint8_t)((uint64_t)statement->bucket >> (56 - 8 * i));
    }
    key[12] = 8;
    int64_t token = is_of_rows ? cass_token(key, sizeof key) : cass_token(key + 2, 8);
    for (size_t i = 0; i < ring->token_count; i++) {
        if (cass_ring_token_at(ring, i) >= token)
            return (uint32_t)i;
    }
    return 0;
}

/* --- levels: the model's own version */

static uint32_t quorum(uint32_t replicas)
{
    return replicas == 0 ? 0 : replicas / 2 + 1;
}

bool answers_is_local(enum cass_consistency level)
{
    return level == CASS_LOCAL_ONE || level == CASS_LOCAL_QUORUM || level == CASS_LOCAL_SERIAL;
}

uint32_t answers_counted_at(const struct answers *model, uint32_t place, uint32_t position,
                            enum cass_consistency level)
{
    uint32_t all = (UINT32_C(1) << model->h.cluster->factor) - 1;
    return answers_is_local(level) ? answers_replicas_in(model, position, answers_datacenter_of(model, place))
                                   : all;
}

uint32_t answers_required_at(const struct answers *model, uint32_t counted, enum cass_consistency level)
{
    uint32_t sum = 0;
    switch (level) {
    case CASS_TWO:
        return 2;
    case CASS_THREE:
        return 3;
    case CASS_ALL:
        return bit_count(counted);
    case CASS_QUORUM:
    case CASS_SERIAL: /* of a batch */
    case CASS_LOCAL_QUORUM:
    case CASS_LOCAL_SERIAL:
        return bit_count(counted) / 2 + 1;
    case CASS_EACH_QUORUM:
        for (uint32_t i = 0; i < model->config.datacenter_count; i++)
            sum += quorum(model->config.datacenters[i].replication_factor);
        return sum;
    default:
        return 1;
    }
}

bool answers_is_enough(const struct answers *model, const struct known_operation *known, uint32_t set)
{
    if (known->level != CASS_EACH_QUORUM)
        return bit_count(set & known->counted) >= known->required;
    for (uint32_t i = 0; i < model->config.datacenter_count; i++) {
        uint32_t there = bit_count(set & answers_replicas_in(model, known->position, i));
        if (there < quorum(model->config.datacenters[i].replication_factor))
            return false;
    }
    return true;
}

bool answers_is_read(enum cass_statement_kind kind)
{
    return kind == CASS_READ_ROWS || kind == CASS_COUNT_ROWS || kind == CASS_READ_COLUMNS ||
           kind == CASS_READ_NAMED || kind == CASS_READ_COUNTER;
}

bool answers_is_nothing(const struct cass_statement *statement)
{
    return (statement->kind == CASS_DELETE_RANGE ||
            (statement->kind == CASS_READ_ROWS && statement->has_span)) &&
           statement->from_ns >= statement->until_ns;
}

bool answers_is_allowed(const struct cass_statement *statement)
{
    enum cass_consistency level = statement->consistency;
    bool is_counter = statement->kind == CASS_ADD_COUNTER || statement->kind == CASS_DELETE_COUNTER;
    if (level == CASS_SERIAL || level == CASS_LOCAL_SERIAL)
        return answers_is_nothing(statement) ? statement->kind == CASS_READ_ROWS
                                             : statement->named_count + (statement->set_mask != 0) > 1 &&
                                                   !answers_is_read(statement->kind);
    if (level == CASS_ANY && (answers_is_read(statement->kind) || is_counter))
        return false;
    if (is_counter && statement->timestamp_us != NO_TIME)
        return false;
    return statement->kind != CASS_ADD_COUNTER || statement->ttl_ns == 0;
}
