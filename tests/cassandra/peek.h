/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tests look up in a cluster and set in it, and the product never does. */
#ifndef TESTS_CASSANDRA_PEEK_H
#define TESTS_CASSANDRA_PEEK_H

#include "cassandra/cluster.h"
#include "cassandra/ring.h"

/* Parses "QUORUM" and the like; false for any other name. */
bool cass_consistency_parse(const char *name, enum cass_consistency *out);
const char *cass_result_name(enum cass_result result);
int64_t cass_ring_token_at(const struct cass_ring *ring, size_t position);
/* The replicas of a register or counter, and of a data partition. `out` must have room for
 * CASS_CLUSTER_REPLICAS_MAX. Returns their number. */
uint32_t cass_key_replicas(const struct cass_cluster *cluster, uint64_t key, uint32_t *out);
uint32_t cass_partition_replicas(const struct cass_cluster *cluster, uint64_t key, int64_t bucket,
                                 uint32_t *out);
/* The committed values of a register on the replica `node`; false when it has none. */
bool cass_peek_columns(const struct cass_cluster *cluster, uint32_t node, uint64_t key, int64_t *columns,
                       uint32_t *mask);
/* The value of a counter on the replica `node`; false when it has none. */
bool cass_peek_counter(const struct cass_cluster *cluster, uint32_t node, uint64_t key, int64_t *value);
/* What a replica still has: the number of ballots that it has accepted or learned as committed by since_us,
 * and of ballots that it has promised, accepted or learned after that. */
struct cass_paxos_age {
    uint64_t older, newer;
};
struct cass_paxos_age cass_peek_paxos(const struct cass_cluster *cluster, uint32_t node, int64_t since_us);
/* Whether the node stores a hint. */
bool cass_has_hints(const struct cass_cluster *cluster, uint32_t node);
/* Whether a network partition separates two places; either may be a client, but not both. */
bool cass_places_are_separated(const struct cass_cluster *cluster, uint32_t place, uint32_t node);
/* The number of live rows of a partition (cass_partition_at()) that some replica misses. */
uint64_t cass_missing_rows(const struct cass_cluster *cluster, size_t partition);
/* The faults that are in force now. */
struct cass_disturbance {
    double loss, duplicate, late; /* the chances of a message */
    double delay;                 /* the factor of latencies */
    int64_t late_ns;              /* how much longer a late message takes */
    int64_t delayed_until_ns;     /* cass_delayed_until_ns() */
};
void cass_disturbance(const struct cass_cluster *cluster, struct cass_disturbance *out);
struct cass_node_disturbance {
    bool is_down;
    double slow;             /* the factor of service times */
    int64_t paused_until_ns; /* in the past: the node does not pause */
};
void cass_node_disturbance(const struct cass_cluster *cluster, uint32_t node,
                           struct cass_node_disturbance *out);
/* Makes a node answer every replica request with an error, as with a broken disk. */
void cass_set_failing(struct cass_cluster *cluster, uint32_t node, bool is_failing);
/* Sets the offset of a node's wall clock from the true time. */
void cass_set_clock(struct cass_cluster *cluster, uint32_t node, int64_t offset_ns);
/* Bytes of memory that the cluster uses now. */
size_t cass_cluster_memory(const struct cass_cluster *cluster);

#endif
