/* SPDX-License-Identifier: MIT */
/* A protocol: how the rows of a key find their bucket, and how agents agree on the next one. Each protocol
 * is one file with one table of functions. An agent's config selects its protocol, which never changes.
 *
 * The functions set the operation's next step; operation.c returns the step's action to the host, and passes
 * its outcome back. A protocol may have further steps in addition to those of enum step. */
#ifndef BUCKETING_PROTOCOL_H
#define BUCKETING_PROTOCOL_H

#include "agent.h"

/* The steps that protocols share. The numbers of a protocol's own steps begin with STEP_OF_PROTOCOL. */
enum step {
    STEP_FREE,   /* the operation is unused */
    STEP_PARKED, /* waits until another operation, which requests the same key, has learned enough or has
                    ended */
    STEP_LOOK,   /* reads the state, to find the bucket */
    STEP_PUT,    /* puts the row into its bucket */
    STEP_ROWS,   /* reads the rows of the reader's step */
    STEP_DONE,   /* the result must be reported to the host */
    STEP_OF_PROTOCOL
};

struct protocol {
    /* Begin a write, or a read. */
    void (*write)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    void (*read)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* Chooses the row's bucket; the state is known. */
    void (*route)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* Called once the row is stored and acknowledged; NULL: the operation ends. */
    void (*placed)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* For the protocol's own steps: fills the action, and handles its outcome. Both NULL without such
     * steps. */
    void (*fill)(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out);
    void (*outcome)(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                    const struct bk_outcome *outcome);
    /* Only for protocols in which one operation sends requests on behalf of all of the agent's operations on
     * the key; else NULL. asks(): whether the operation is that one. is_served(): whether it can proceed
     * without a request. resume(): makes it proceed, send a request, or park. */
    bool (*asks)(const struct operation *operation);
    bool (*is_served)(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    void (*resume)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* Only for protocols with a lock row for each key; else NULL. Whether the operation is reading or
     * writing the lock row, and whether its plan is a write of the lock row. */
    bool (*is_locking)(const struct operation *operation);
    bool (*plans_lock)(const struct operation *operation);
    /* Only for protocols that count in the state row (counted.h); else NULL. count() plans the write of the
     * state for the row, once the known state is current; written() is called after that write (NULL: the
     * operation ends). */
    void (*count)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    void (*written)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* Implements bk_agent_view(); NULL: the protocol keeps no state to show. */
    bool (*view)(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                 bool *is_changing);
    uint32_t step_count;  /* the number of its last step, plus 1 */
    bool has_local_count; /* it uses a struct local_count for each key */
};

extern const struct protocol bk_protocol_routed;      /* the bucket depends only on the row */
extern const struct protocol bk_protocol_single;      /* BK_SINGLE */
extern const struct protocol bk_protocol_locked;      /* BK_LOCKED */
extern const struct protocol bk_protocol_three_state; /* BK_THREE_STATE */
extern const struct protocol bk_protocol_guarded;     /* BK_GUARDED */
extern const struct protocol bk_protocol_number;      /* BK_SOURCE_COUNTER, BK_SOURCE_LWT */
extern const struct protocol bk_protocol_lease;       /* BK_SOURCE_LEASE */
extern const struct protocol bk_protocol_sum;         /* BK_SOURCE_INCREMENTAL, BK_SOURCE_SCAN */
extern const struct protocol bk_protocol_memory;      /* BK_SOURCE_MEMORY */

/* The protocols by number, since an agent's memory contains no pointers. */
extern const struct protocol *const bk_protocols[];
/* The number of a checked config's protocol. */
uint32_t bk_protocol_of(const struct bk_agent_config *config);

static inline const struct protocol *bk_protocol(const struct bk_agent *agent)
{
    return bk_protocols[agent->protocol];
}

#endif
