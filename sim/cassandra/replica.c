/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of a replica for a request: its service time, and the changes that it makes. */
#include "coordination.h"
#include "data.h"
#include "state.h"
#include "traffic.h"

/* If lifetimes are kept, the coordinator has determined what is scanned. Otherwise rows and tombstones are
 * assumed to be evenly mixed, so that a read that stops at its limit has scanned a proportional number of
 * tombstones. */
static int64_t scan_cost(struct cass_cluster *cluster, uint32_t index)
{
    struct message *message = message_at(cluster, index);
    uint64_t rows = message->limit, tombstones = message->tombstones, limit = message->limit;
    if (!(message->flags & MESSAGE_SCANS)) {
        cass_partition_expire(cluster, message->entity);
        rows = partition_at(cluster, message->entity)->rows;
        tombstones = partition_at(cluster, message->entity)->tombstones;
    }
    if (!(message->flags & MESSAGE_SCANS) && limit > 0 && limit < rows) {
        tombstones = (uint64_t)((double)tombstones * (double)limit / (double)rows);
        rows = limit;
    }
    struct cass_node_stats *stats = &cluster->nodes[message->to].stats;
    stats->tombstone_warnings += tombstones > cluster->config.tombstone_warn ? 1 : 0;
    if (tombstones > cluster->config.tombstone_fail) {
        /* The read is aborted at this number of tombstones. */
        tombstones = cluster->config.tombstone_fail;
        message->flags |= MESSAGE_FAILED;
    }
    return (int64_t)rows * cluster->config.scan_row_ns +
           (int64_t)tombstones * cluster->config.scan_tombstone_ns;
}

void cass_replica_receive(struct cass_cluster *cluster, uint32_t index)
{
    const struct message *message = message_at(cluster, index);
    const struct cass_cluster_config *config = &cluster->config;
    int64_t service = config->write_ns, timeout = config->timeout_write_ns;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_READ_ROWS:
        service = config->read_ns + scan_cost(cluster, index);
        timeout = config->timeout_read_ns;
        break;
    case MESSAGE_READ_CELLS:
        service = config->read_ns + cass_named_cost(cluster, message->entity, message->replica);
        timeout = config->timeout_read_ns;
        break;
    case MESSAGE_READ_SHARDS:
        service = config->read_ns;
        timeout = config->timeout_read_ns;
        break;
    case MESSAGE_PREPARE:
    case MESSAGE_PROPOSE:
        /* Both kinds of request read their state before they write it. */
        service = config->read_ns + config->write_ns;
        break;
    case MESSAGE_COUNT_SHARD:
        service = config->read_ns + config->write_ns;
        timeout = config->timeout_counter_ns;
        break;
    default:
        break;
    }
    cass_node_enqueue(cluster, index, service, message->flags & MESSAGE_HINT ? NEVER : timeout);
}

static void apply_shard(struct shard *own, const struct shard *other)
{
    if (other->clock > own->clock)
        *own = *other;
}

static void apply(struct cass_cluster *cluster, const struct message *message)
{
    uint32_t replica = message->replica;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_WRITE_ROW:
        cass_row_apply(cluster, message->body, replica);
        break;
    case MESSAGE_REPAIR_ROWS:
        cass_rows_repair(cluster, message->entity, replica, message->limit);
        break;
    case MESSAGE_WRITE_CELLS:
        cass_image_merge(image_need(cluster, message->entity, replica),
                         &body_at(cluster, message->body)->image);
        cass_named_apply(cluster, message->entity, replica, body_at(cluster, message->body)->named);
        cass_register_tell(cluster, message->entity);
        break;
    case MESSAGE_WRITE_SHARD: {
        const struct body *body = body_at(cluster, message->body);
        apply_shard(shard_at(cluster, message->entity, replica, body->leader), &body->shard);
        break;
    }
    case MESSAGE_REPAIR_SHARDS:
        for (uint32_t leader = 0; leader <= cluster->factor; leader++) {
            apply_shard(shard_at(cluster, message->entity, replica, leader),
                        &body_at(cluster, message->body)->shards[leader]);
        }
        break;
    case MESSAGE_COMMIT:
        cass_paxos_commit(cluster, message);
        break;
    default:
        break;
    }
}

/* Copies what the replica has now. Rows are counted by the coordinator when it has all answers. */
static uint32_t read_copy(struct cass_cluster *cluster, const struct message *message)
{
    if (message->kind == MESSAGE_READ_ROWS)
        return CASS_NONE;
    uint32_t index = cass_body_new(cluster);
    struct body *body = body_at(cluster, index);
    if (message->kind == MESSAGE_READ_CELLS) {
        body->image = *image_at(cluster, message->entity, message->replica);
        uint32_t named = cass_named_copy(cluster, message->entity, message->replica);
        body_at(cluster, index)->named = named;
    } else {
        for (uint32_t leader = 0; leader <= cluster->factor; leader++)
            body->shards[leader] = *shard_at(cluster, message->entity, message->replica, leader);
    }
    return index;
}

static void count_served(struct cass_cluster *cluster, const struct message *message)
{
    struct cass_node_stats *stats = &cluster->nodes[message->to].stats;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_READ_ROWS:
    case MESSAGE_READ_CELLS:
    case MESSAGE_READ_SHARDS:
        stats->reads++;
        stats->slow_queries += now_ns(cluster) - message->sent_ns > cluster->config.slow_query_ns ? 1 : 0;
        break;
    case MESSAGE_PREPARE:
    case MESSAGE_PROPOSE:
    case MESSAGE_COMMIT:
        stats->paxos++;
        break;
    case MESSAGE_COUNT_SHARD:
        stats->counters++;
        break;
    default:
        stats->writes++;
    }
}

void cass_replica_execute(struct cass_cluster *cluster, uint32_t index)
{
    struct message *message = message_at(cluster, index);
    count_served(cluster, message);
    if (message->kind == MESSAGE_COUNT_SHARD) {
        cass_count_shard(cluster, index);
        return;
    }
    enum message_kind answer = message->flags & MESSAGE_HINT ? MESSAGE_HINT_ACK : MESSAGE_ACK;
    if (cluster->nodes[message->to].is_failing) {
        message->flags |= MESSAGE_FAILED;
        cass_message_answer(cluster, index, answer, CASS_NONE);
        return;
    }
    uint32_t body;
    switch ((enum message_kind)message->kind) {
    case MESSAGE_PREPARE:
        cass_paxos_prepare(cluster, index);
        break;
    case MESSAGE_PROPOSE:
        cass_paxos_propose(cluster, index);
        break;
    case MESSAGE_READ_ROWS:
    case MESSAGE_READ_CELLS:
    case MESSAGE_READ_SHARDS:
        body = read_copy(cluster, message);
        cass_message_answer(cluster, index, MESSAGE_ANSWER, body);
        break;
    default:
        apply(cluster, message);
        cass_message_answer(cluster, index, answer, CASS_NONE);
    }
}
