/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster engine's part of a scenario: consistency levels, agents and faults.
 *
 * Times of faults are relative to the start of the run. The nodes, agents and datacenters that a fault names
 * are checked against the cluster when the scenario is read. */
#ifndef LAB_CLUSTER_H
#define LAB_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/cluster.h"

#define LAB_AGENTS_MAX     4096u
#define LAB_OPERATIONS_MAX 4096u /* operations under way at once per agent */
#define LAB_FAULTS_MAX     2000u
/* The most keys; each has one row and one read pending at a time. */
#define LAB_CLUSTER_KEYS_MAX (UINT32_C(1) << 22)
/* The most buckets of a hash strategy in the cluster engine. */
#define LAB_CLUSTER_BUCKETS_MAX 65536u

/* The consistency levels of writes and reads of rows, of the state, and of LWT; the defaults are LOCAL_QUORUM
 * and LOCAL_SERIAL. */
struct lab_consistency {
    enum cass_consistency write, read, state, serial;
};

/* Where a client retries a row whose outcome is unknown. */
enum lab_retry { LAB_RETRY_SAME_BUCKET, LAB_RETRY_ROUTE_AGAIN };

struct lab_agents {
    bool present;
    uint32_t count;          /* 1 to LAB_AGENTS_MAX */
    int64_t cache_ttl_ns;    /* default 5s */
    uint32_t cache_entries;  /* default 100000 */
    int64_t clock_offset_ns; /* each agent's clock starts uniformly within plus or minus this; default 0 */
    double clock_drift;      /* and drifts uniformly within plus or minus this; 20ppm = 20e-6; default 0 */
    int64_t clock_resolution_ns; /* times of the clock are rounded down to a multiple of this; default 0: not
                                    rounded */
    int64_t clock_bound_ns;      /* time synchronisation keeps the clock's error within this, except after a
                                    clock_jump; default: the offset plus the resolution */
    int retry;                   /* enum lab_retry; default LAB_RETRY_SAME_BUCKET */
    uint32_t retries;            /* retries of actions that may be repeated; default 3 */
    uint32_t counter_retries;    /* retries of counter updates; default 0, as in drivers */
    int64_t timeout_ns;          /* the client's own timeout; default 12s (cluster.timeouts.client) */
    bool by_key; /* all rows and reads of a key go to the same agent while it is up; default: to any agent */
    uint32_t operations; /* operations under way at once per agent; 0, the default: as many as fit into
                            memory, at most 4096 */
    int64_t restart_ns;  /* a crashed agent restarts after this; default 5s */
    double twin_share;   /* share of the agent's steps after which its twin is saved and loaded; default 0:
                            there is no twin */
};

enum lab_fault_kind {
    LAB_FAULT_NODE_DOWN,
    LAB_FAULT_SLOW_NODE,         /* factor */
    LAB_FAULT_GC_STORM,          /* the node pauses for the duration of the fault */
    LAB_FAULT_NETWORK_PARTITION, /* between two groups of places */
    LAB_FAULT_LOST_MESSAGE,      /* chance */
    LAB_FAULT_DUPLICATE_MESSAGE, /* chance */
    LAB_FAULT_DELAY,             /* factor */
    LAB_FAULT_HINT_LOSS,         /* the node loses its stored hints */
    LAB_FAULT_AGENT_CRASH,
    LAB_FAULT_CLOCK_JUMP,     /* by_ns */
    LAB_FAULT_AGENT_PAUSE,    /* the agent still receives one event, and acts on it after the pause */
    LAB_FAULT_LATE_MESSAGE,   /* chance, by_ns */
    LAB_FAULT_STATE_LOST,     /* a key's state row is deleted */
    LAB_FAULT_STATE_RESTORED, /* a key's state row is set back to its contents of age_ns before */
    LAB_FAULT_PAXOS_LOSS,     /* a replica loses its Paxos state of the last age_ns */
    LAB_FAULT_KIND_COUNT
};
/* The name in a scenario, for example "node_down". */
const char *lab_fault_kind_name(enum lab_fault_kind kind);

/* One side of a network partition: all agents, one agent, a datacenter, a node. */
enum lab_group_kind { LAB_GROUP_AGENTS, LAB_GROUP_AGENT, LAB_GROUP_DATACENTER, LAB_GROUP_NODE };
struct lab_group {
    enum lab_group_kind kind;
    uint32_t index;
};

/* A fault at a given time (rate_per_s 0), or faults at random times, which are a Poisson process up to
 * until_ns. */
struct lab_fault {
    uint32_t kinds; /* bit k: enum lab_fault_kind k; only `random` has several bits */
    int64_t at_ns;
    int64_t lasts_ns;  /* INT64_MAX: never ends. `random`: the mean, default 30s. agent_crash: default
                          agents.restart_ns. Not used by clock_jump and hint_loss */
    double rate_per_s; /* rate of random faults; 0: one fault, at at_ns */
    int64_t until_ns;  /* end of random faults; INT64_MAX: the end of the run */
    uint32_t target;   /* index of the node, agent or key; UINT32_MAX: drawn for each fault */
    struct lab_group between[2]; /* the two sides of a network partition at a given time */
    double factor;  /* slow_node and delay: factor, default 10. lost_message and duplicate_message:
                       probability, default 5 %. late_message: probability, default 1 %. `random`: factor 10 */
    int64_t by_ns;  /* clock_jump: the jump; `random`: drawn within plus or minus this, default 2s.
                       late_message: the delay, default 1m */
    int64_t age_ns; /* state_restored: default 30s; paxos_loss: default 10s; agent_crash: age of the
                       checkpoint from which the agent restarts, 0: it restarts without one */
    int line, column;
};

#endif
