/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a coordinator executes an operation: consistency levels, writes, reads, counters, Paxos. */
#ifndef CASSANDRA_COORDINATION_H
#define CASSANDRA_COORDINATION_H

#include "state.h"

/* consistency.c */
struct level_plan {
    uint32_t counted;  /* replicas whose answers count */
    uint32_t required; /* number of answers required; for EACH_QUORUM, a quorum of each datacenter: see
                          cass_level_met() */
    uint32_t alive;
};
void cass_level_plan(const struct cass_cluster *cluster, uint32_t place, uint32_t position,
                     enum cass_consistency level, struct level_plan *out);
bool cass_level_met(const struct cass_cluster *cluster, uint32_t position, enum cass_consistency level,
                    uint32_t counted, uint32_t required, uint32_t set);
/* The set of replicas in a datacenter. */
uint32_t cass_datacenter_set(const struct cass_cluster *cluster, uint32_t position, uint32_t datacenter);
uint32_t cass_replicas_alive(const struct cass_cluster *cluster, uint32_t place, uint32_t position);
bool cass_statement_is_valid(const struct cass_statement *statement);

/* coordinator.c: an operation from arrival to answer */
void cass_operation_begin(struct cass_cluster *cluster, uint32_t operation, uint32_t node);
/* The time to live, in ns, of what a statement writes; 0: it does not expire. */
static inline int64_t cass_ttl(const struct cass_cluster *cluster, const struct cass_statement *statement)
{
    int64_t ttl_ns = statement->ttl_ns == 0 ? cluster->config.default_ttl_ns : statement->ttl_ns;
    return ttl_ns == CASS_NO_TTL ? 0 : ttl_ns;
}
/* Allocates an operation for a statement, and returns its index. Its members before `statement` are 0. For
 * the write of a row, only the statement's kind and level are copied, and `reply` is not initialised. */
uint32_t cass_operation_new(struct cass_cluster *cluster, const struct cass_statement *statement);
void cass_operation_end(struct cass_cluster *cluster, uint32_t operation);
/* cass_operation_answer() with CASS_OK, then cass_operation_end(), of a client's operation without a lock. */
void cass_operation_finish(struct cass_cluster *cluster, uint32_t operation);
void cass_operation_answer(struct cass_cluster *cluster, uint32_t operation, enum cass_result result);
void cass_operation_timer(struct cass_cluster *cluster, uint32_t operation, int64_t at_ns);
void cass_operation_timer_fired(struct cass_cluster *cluster, uint32_t operation);
void cass_operation_no_timer(struct cass_cluster *cluster, uint32_t operation);
/* Handles an answer to one of an operation's messages, and drops the message. */
void cass_operation_message(struct cass_cluster *cluster, uint32_t message);
/* Sends a request to each of the operation's replicas in `set`, and begins a new round. */
void cass_operation_send(struct cass_cluster *cluster, uint32_t operation, enum message_kind kind,
                         uint32_t set, uint32_t body);

/* coordinator_write.c */
void cass_write_begin(struct cass_cluster *cluster, uint32_t operation);
/* Sends the operation's body to all replicas except those in `except`, and stores hints for unreachable ones.
 * Ends the operation if no replica is left to answer. */
void cass_write_spread(struct cass_cluster *cluster, uint32_t operation, uint32_t except);
/* The message that carries the operation's body. */
enum message_kind cass_write_kind(const struct cass_operation *operation);
void cass_write_ack(struct cass_cluster *cluster, uint32_t operation, const struct message *message);
void cass_write_timeout(struct cass_cluster *cluster, uint32_t operation);

/* alone.c: a shortcut for a write whose coordinator is the row's only replica: cass_alone_begin() when a
 * message arrives, cass_alone_end() when it is served. If the shortcut does not apply, both call the general
 * functions, cass_node_arrive() and cass_node_served(). */
void cass_alone_begin(struct cass_cluster *cluster, uint32_t request);
void cass_alone_end(struct cass_cluster *cluster, uint32_t message);
/* Starts the timers of the node's operations that did not need one before the node paused. */
void cass_alone_paused(struct cass_cluster *cluster, uint32_t node);

/* coordinator_read.c */
void cass_read_begin(struct cass_cluster *cluster, uint32_t operation, enum cass_consistency level);
void cass_read_answer(struct cass_cluster *cluster, uint32_t operation, const struct message *message);
/* Releases the answers that a read has collected. */
void cass_read_let_go(struct cass_cluster *cluster, uint32_t operation);
void cass_read_timeout(struct cass_cluster *cluster, uint32_t operation);

/* paxos.c: the replica's part of Paxos */
bool cass_ballot_after(const struct ballot *left, const struct ballot *right);
void cass_paxos_prepare(struct cass_cluster *cluster, uint32_t message);
void cass_paxos_propose(struct cass_cluster *cluster, uint32_t message);
void cass_paxos_commit(struct cass_cluster *cluster, const struct message *message);

/* paxos_coordinator.c: the coordinator's part of Paxos */
void cass_cas_begin(struct cass_cluster *cluster, uint32_t operation);
void cass_cas_answer(struct cass_cluster *cluster, uint32_t operation, const struct message *message);
void cass_cas_read_done(struct cass_cluster *cluster, uint32_t operation);
void cass_cas_timer(struct cass_cluster *cluster, uint32_t operation);
void cass_cas_locked(struct cass_cluster *cluster, uint32_t operation);

/* counter.c */
/* Adds with wrap-around, like a Java long. */
int64_t cass_count_sum(int64_t left, int64_t right);
/* Whether anything was added to a counter after its deletion. */
bool cass_count_is_found(const struct shard *shards, uint32_t factor);
void cass_count_begin(struct cass_cluster *cluster, uint32_t operation);
void cass_count_lead(struct cass_cluster *cluster, uint32_t message);
void cass_count_locked(struct cass_cluster *cluster, uint32_t operation);
void cass_count_shard(struct cass_cluster *cluster, uint32_t message);
void cass_count_timeout(struct cass_cluster *cluster, uint32_t operation);
/* Whether this is a leader's part of an increment that another node coordinates. */
bool cass_count_is_forwarded(const struct cass_operation *operation);
void cass_count_answer(struct cass_cluster *cluster, uint32_t operation, const struct message *message);

#endif
