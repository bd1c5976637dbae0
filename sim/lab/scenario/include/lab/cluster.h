/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster engine's part of a scenario: the ring and its nodes, the agents, and what goes wrong.
 *
 * Times of faults count from the start of the run. All places are checked against the cluster before anything
 * runs. */
#ifndef LAB_CLUSTER_H
#define LAB_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/cluster.h"

#define LAB_AGENTS_MAX     4096u
#define LAB_OPERATIONS_MAX 4096u /* under way at once, of an agent */
#define LAB_FAULTS_MAX     2000u
/* Each has a row and a read pending at a time. */
#define LAB_CLUSTER_KEYS_MAX (UINT32_C(1) << 22)
/* A hash strategy's, in the cluster engine. */
#define LAB_CLUSTER_BUCKETS_MAX 65536u

/* Consistency levels by what they are for; default LOCAL_QUORUM, and LOCAL_SERIAL. */
struct lab_consistency {
    enum cass_consistency write, read, state, serial;
};

/* Where a client puts a row again whose outcome it does not know. */
enum lab_retry { LAB_RETRY_SAME_BUCKET, LAB_RETRY_ROUTE_AGAIN };

struct lab_agents {
    bool present;
    uint32_t count;          /* 1 to LAB_AGENTS_MAX */
    int64_t cache_ttl_ns;    /* default 5s */
    uint32_t cache_entries;  /* default 100000 */
    int64_t clock_offset_ns; /* each agent's clock starts uniformly within plus or minus this; default 0 */
    double clock_drift;      /* and drifts uniformly within plus or minus this; 20ppm = 20e-6; default 0 */
    int64_t clock_resolution_ns; /* what it shows is rounded down to a multiple of this; default 0: to none */
    int64_t clock_bound_ns;   /* the discipline keeps it within this, except after a clock_jump; default: the
                                 offset and the resolution */
    int retry;                /* enum lab_retry; default: into the same bucket */
    uint32_t retries;         /* of what may be repeated; default 3 */
    uint32_t counter_retries; /* of counter updates; default 0, as drivers do */
    int64_t timeout_ns;       /* the client's own; default 12s (cluster.timeouts.client) */
    bool by_key;         /* all rows and reads of a key go to one agent, while it is up; default: to any */
    uint32_t operations; /* under way at once, of each agent; 0, the default: as many as memory bears, at
                            most 4096 */
    int64_t restart_ns;  /* a crashed agent is back after this; default 5s */
    double twin_share;   /* of its steps after which its twin is restored; default 0: it has none */
};

enum lab_fault_kind {
    LAB_FAULT_NODE_DOWN,
    LAB_FAULT_SLOW_NODE,         /* factor */
    LAB_FAULT_GC_STORM,          /* the node pauses for the whole time */
    LAB_FAULT_NETWORK_PARTITION, /* between two groups of places */
    LAB_FAULT_LOST_MESSAGE,      /* chance */
    LAB_FAULT_DUPLICATE_MESSAGE, /* chance */
    LAB_FAULT_DELAY,             /* factor */
    LAB_FAULT_HINT_LOSS,         /* the node's stored hints vanish */
    LAB_FAULT_AGENT_CRASH,
    LAB_FAULT_CLOCK_JUMP,     /* by_ns */
    LAB_FAULT_AGENT_PAUSE,    /* the agent hears one event more, and acts when the pause is over */
    LAB_FAULT_LATE_MESSAGE,   /* chance, by_ns */
    LAB_FAULT_STATE_LOST,     /* a key's state row is deleted */
    LAB_FAULT_STATE_RESTORED, /* it is again what it was age_ns before */
    LAB_FAULT_PAXOS_LOSS,     /* a replica forgets its Paxos state of the last age_ns */
    LAB_FAULT_KIND_COUNT
};
/* As the scenario has it: "node_down". */
const char *lab_fault_kind_name(enum lab_fault_kind kind);

/* One side of a network partition: all agents, one agent, a datacenter, a node. */
enum lab_group_kind { LAB_GROUP_AGENTS, LAB_GROUP_AGENT, LAB_GROUP_DATACENTER, LAB_GROUP_NODE };
struct lab_group {
    enum lab_group_kind kind;
    uint32_t index;
};

/* A fault on the timetable (rate_per_s 0), or one that comes at random, as a Poisson process, until until_ns.
 */
struct lab_fault {
    uint32_t kinds; /* bit k: LAB_FAULT k; one bit for all but `random` */
    int64_t at_ns;
    int64_t lasts_ns;  /* INT64_MAX: never ends; of `random`: the mean, default 30s; of an agent_crash that
                          does not say: agents.restart_ns; nothing to clock_jump and hint_loss */
    double rate_per_s; /* 0: on the timetable */
    int64_t until_ns;  /* of those at random; INT64_MAX: the whole run */
    uint32_t target;   /* node, agent or key; UINT32_MAX: drawn each time */
    struct lab_group between[2]; /* of a network partition on the timetable */
    double factor;  /* slow_node and delay, default 10; chance of lost_message and duplicate_message, default
                       5 %, and of late_message, default 1 %; of `random`: 10 */
    int64_t by_ns;  /* clock_jump; of `random`: drawn within plus or minus this, default 2s; late_message,
                       default 1m */
    int64_t age_ns; /* state_restored, default 30s; paxos_loss, default 10s; agent_crash: of the checkpoint
                       that the agent restarts from, 0: of none */
    int line, column;
};

#endif
