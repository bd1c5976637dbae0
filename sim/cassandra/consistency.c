/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Consistency levels: how many replicas a request needs, and which ones. Source: apache/cassandra
 * db/ConsistencyLevel.java. */
#include <string.h>

#include "coordination.h"
#include "state.h"
#include "traffic.h"

static const char *const names[CASS_CONSISTENCY_COUNT] = {
    [CASS_ANY] = "ANY",
    [CASS_ONE] = "ONE",
    [CASS_TWO] = "TWO",
    [CASS_THREE] = "THREE",
    [CASS_QUORUM] = "QUORUM",
    [CASS_ALL] = "ALL",
    [CASS_LOCAL_QUORUM] = "LOCAL_QUORUM",
    [CASS_EACH_QUORUM] = "EACH_QUORUM",
    [CASS_LOCAL_ONE] = "LOCAL_ONE",
    [CASS_SERIAL] = "SERIAL",
    [CASS_LOCAL_SERIAL] = "LOCAL_SERIAL",
};

bool cass_consistency_parse(const char *name, enum cass_consistency *out)
{
    for (int i = 0; i < CASS_CONSISTENCY_COUNT; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        *out = (enum cass_consistency)i;
        return true;
    }
    return false;
}

const char *cass_consistency_name(enum cass_consistency consistency)
{
    return names[consistency];
}

static bool is_serial(enum cass_consistency level)
{
    return level == CASS_SERIAL || level == CASS_LOCAL_SERIAL;
}

static bool is_write_level(enum cass_consistency level)
{
    return (unsigned)level < CASS_CONSISTENCY_COUNT && !is_serial(level);
}

bool cass_statement_is_valid(const struct cass_statement *statement)
{
    enum cass_consistency level = statement->consistency;
    switch (statement->kind) {
    case CASS_WRITE_ROW:
    case CASS_DELETE_ROW:
    case CASS_WRITE_COLUMNS:
    case CASS_DELETE_COLUMNS:
    case CASS_WRITE_NAMED:
    case CASS_DELETE_NAMED:
    case CASS_DELETE_RANGE:
    case CASS_DELETE_PARTITION:
        return is_write_level(level);
    case CASS_READ_ROWS:
    case CASS_COUNT_ROWS:
    case CASS_READ_COUNTER:
    case CASS_READ_NAMED:
        return level != CASS_ANY && !is_serial(level);
    case CASS_READ_COLUMNS:
        return level != CASS_ANY;
    case CASS_CAS_COLUMNS:
        return is_write_level(level) && is_serial(statement->serial_consistency) &&
               statement->timestamp_us == NO_TIME;
    case CASS_ADD_COUNTER:
        return is_write_level(level) && level != CASS_ANY && statement->timestamp_us == NO_TIME &&
               statement->ttl_ns == 0;
    case CASS_DELETE_COUNTER:
        return is_write_level(level) && level != CASS_ANY && statement->timestamp_us == NO_TIME;
    }
    return false;
}

uint32_t cass_replicas_alive(const struct cass_cluster *cluster, uint32_t place, uint32_t position)
{
    const uint32_t *replicas = replicas_at(cluster, position);
    uint32_t set = 0;
    if (cluster->gone_count == 0)
        return all_replicas(cluster);
    for (uint32_t i = 0; i < cluster->factor; i++)
        set |= (cass_believes_up(cluster, place, replicas[i]) ? UINT32_C(1) : 0) << i;
    return set;
}

uint32_t cass_datacenter_set(const struct cass_cluster *cluster, uint32_t position, uint32_t datacenter)
{
    const uint32_t *replicas = replicas_at(cluster, position);
    uint32_t set = 0;
    if (cluster->config.datacenter_count == 1)
        return all_replicas(cluster);
    for (uint32_t i = 0; i < cluster->factor; i++)
        set |= (cluster->nodes[replicas[i]].datacenter == datacenter ? UINT32_C(1) : 0) << i;
    return set;
}

void cass_level_plan(const struct cass_cluster *cluster, uint32_t place, uint32_t position,
                     enum cass_consistency level, struct level_plan *out)
{
    const uint32_t *replicas = replicas_at(cluster, position);
    bool is_local = level == CASS_LOCAL_ONE || level == CASS_LOCAL_QUORUM || level == CASS_LOCAL_SERIAL;
    uint32_t datacenter = cass_place_datacenter(cluster, place), counted = 0;
    for (uint32_t i = 0; i < cluster->factor; i++) {
        if (!is_local || cluster->nodes[replicas[i]].datacenter == datacenter)
            counted |= UINT32_C(1) << i;
    }
    uint32_t total = bit_count(counted), required = 1;
    switch (level) {
    case CASS_TWO:
        required = 2;
        break;
    case CASS_THREE:
        required = 3;
        break;
    case CASS_QUORUM:
    case CASS_SERIAL:
    case CASS_LOCAL_QUORUM:
    case CASS_LOCAL_SERIAL:
        required = total / 2 + 1;
        break;
    case CASS_ALL:
        required = total;
        break;
    case CASS_EACH_QUORUM:
        required = 0;
        for (uint32_t i = 0; i < cluster->config.datacenter_count; i++) {
            uint32_t factor = cluster->config.datacenters[i].replication_factor;
            required += factor > 0 ? factor / 2 + 1 : 0;
        }
        break;
    default:
        break;
    }
    *out = (struct level_plan){
        .counted = counted, .required = required, .alive = cass_replicas_alive(cluster, place, position)};
}

bool cass_level_met(const struct cass_cluster *cluster, uint32_t position, enum cass_consistency level,
                    uint32_t counted, uint32_t required, uint32_t set)
{
    if (level != CASS_EACH_QUORUM)
        return bit_count(set & counted) >= required;
    uint32_t found[CASS_DATACENTERS_MAX] = {0};
    const uint32_t *replicas = replicas_at(cluster, position);
    for (uint32_t left = set; left != 0; left &= left - 1)
        found[cluster->nodes[replicas[first_bit(left)]].datacenter]++;
    for (uint32_t i = 0; i < cluster->config.datacenter_count; i++) {
        uint32_t factor = cluster->config.datacenters[i].replication_factor;
        if (factor > 0 && found[i] < factor / 2 + 1)
            return false;
    }
    return true;
}
