/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster engine's inside: one strategy over its own mock cluster, its agents and its faults, in one
 * event queue.
 *
 * Each strategy gets the same rows, the same agents for them, and the same faults; what differs is what it
 * does. */
#ifndef LAB_CLUSTER_RUN_H
#define LAB_CLUSTER_RUN_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/memory.h"
#include "kernel/queue.h"
#include "kernel/times.h"
#include "lab/change.h"
#include "lab/cluster_rows.h"
#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "lab/tally.h"
#include "lab/tuples.h"
#include "oracle_types.h"
#include "workload/rows.h"

/* Under way at once of all agents together, as long as each has LAB_OPERATIONS_MIN. */
#define LAB_OPERATIONS_MIN 64u
#define LAB_OPERATIONS_ALL (UINT32_C(1) << 18)
/* After the last arrival, what is under way may still take this long; then it counts as unresolved. */
#define LAB_DRAIN_NS (INT64_C(600) * 1000000000)

/* The sum of a time and a span of at least 0, or the last time that an event can have. */
static inline int64_t lab_until(int64_t time_ns, int64_t span_ns)
{
    return time_ns > SIM_QUEUE_TIME_MAX - span_ns ? SIM_QUEUE_TIME_MAX : time_ns + span_ns;
}

/* So many spans of at least 0, or the longest one. */
static inline int64_t lab_times(int64_t times, int64_t span_ns)
{
    return times > 0 && span_ns > SIM_QUEUE_TIME_MAX / times ? SIM_QUEUE_TIME_MAX : times * span_ns;
}

/* Kinds of events that are the engine's own; the cluster's begin at CASS_EVENT_FIRST. */
enum lab_event {
    LAB_EVENT_ARRIVAL = 1,    /* target: key */
    LAB_EVENT_READ,           /* target: key */
    LAB_EVENT_TIMEOUT,        /* target: agent; a: operation; b: serial */
    LAB_EVENT_TICK,           /* target: agent */
    LAB_EVENT_RESTART,        /* target: agent */
    LAB_EVENT_FAULT,          /* target: fault of the scenario */
    LAB_EVENT_FAULT_END,      /* target: place in the list of active faults */
    LAB_EVENT_DELETE,         /* target: slot of the delete */
    LAB_EVENT_DELETE_TIMEOUT, /* target: slot of the delete; a: serial */
    LAB_EVENT_TAKE,           /* target: client that wants its next identifier; a: its life */
    LAB_EVENT_IDS_END,
    LAB_EVENT_DEPLOY, /* target: agent; a: change of the strategy */
    LAB_EVENT_END,    /* of a run whose rows expire: until then they do */
    LAB_EVENT_KEEP,   /* target: fault of the scenario, for which something is kept now */
};

/* A tag of an action: agent, operation, serial. That of a delete has the highest bit. */
#define LAB_DELETE_TAG(slot, serial) (UINT64_C(1) << 63 | (uint64_t)((serial)&0x7fff) << 32 | (slot))
#define LAB_NO_DELETE                UINT32_MAX

/* A key under way. What each row needs comes first, in two lines of the cache and the one that has the row.
 */
struct lab_cluster_key {
    alignas(SIM_LINE_BYTES) struct lab_arrival coming;
    uint64_t rows;    /* that have come */
    uint64_t bytes;   /* of them */
    int64_t birth_ns; /* time of the first of them that was taken, by its agent's clock; when rows have times
                         of their own, the least */
    uint64_t acknowledged, deletes_asked;
    int64_t state[BK_COLUMN_COUNT]; /* as stored; without the count */
    int64_t *changes;               /* by bucket: from when on rows belong to it, as stored; 0: not known */
    size_t change_count;
    struct lab_cursor cursor; /* last, and its stream at its end: a row seldom needs it */
};
static_assert(offsetof(struct lab_cluster_key, cursor.ahead) % SIM_LINE_BYTES == 0, "a row lies in one line");

/* An operation of an agent, as the host sees it. */
struct lab_host_operation {
    uint32_t serial; /* of the action under way; a reply with another one comes too late */
    uint32_t outstanding;
    uint64_t timeout;
    enum bk_action_kind action;
    bool is_active, is_read, is_acknowledged, is_moved, fires;
    bool is_heard; /* told to be stored, and not acknowledged when its agent crashed */
    uint32_t key;
    uint64_t row, row_bytes; /* number within the key; what it weighs */
    uint64_t row_id;
    uint64_t weight;       /* what it adds to a counter, when it fires */
    uint64_t beyond;       /* of a read: rows acknowledged in windows that it does not walk */
    int64_t row_time_ns;   /* of a read of a range: where the range begins */
    int64_t bucket;        /* where it was put first; LAB_UNPLACED: not yet */
    bool has_counted;      /* its increment was asked for */
    uint64_t counter;      /* the register of that */
    uint64_t added;        /* of a read of a counter: what it has to find at least */
    uint64_t state_seen;   /* the state's version when it was read last */
    int64_t state_read_ns; /* and when that was asked */
    bool changes_state, raises, was_unknown, is_taking_over;
    int64_t begun_ns, asked_ns;
    uint64_t rows;
    enum lab_read_kind read;
    uint32_t failures; /* of its requests, so far */
    uint32_t tried;    /* and of the action as it stands */
    bool is_awaited;   /* it has begun, or heard an outcome, and has not yet acted on that */
    bool is_parked;
    bool is_state_told; /* there was one when it was read to count the row; else none */
    bool is_start_kept; /* it has stored the start that its roll takes out of the state */
    int64_t state_told[BK_COLUMN_COUNT];
    uint32_t requests;        /* so far */
    uint32_t unknown_updates; /* conditional ones that count it, of unknown outcome */
    int64_t heard_ns;         /* when */
    int64_t turn_ns;          /* since when it may ask itself: it began then, or was no longer parked */
    int64_t step_low;         /* the lowest bucket that was asked last */
    uint64_t step_filled, step_scanned; /* of the step under way */
    struct lab_read_done done;          /* of the steps that succeeded */
    struct bk_outcome outcome;
    uint32_t mask;
    int64_t columns[CASS_COLUMNS];
    struct lab_lock_use lock;
    struct lab_walk walk;
};

/* Of oracle_copies.c: the last question about a key's state that the agent has an answer to. */
#define LAB_COPIES 16u
struct lab_copy {
    bool is_known;
    uint32_t key;
    int64_t asked_ns;
};

struct lab_host_agent {
    void *memory;
    struct bk_agent *agent;
    struct bk_history history; /* what it was given; a restart takes it up */
    struct lab_host_operation *operations;
    uint32_t operations_met; /* those below it have begun, or are cleared; no other is to be looked at */
    bool is_up;
    bool is_paused, has_heard; /* it has heard what it will act on when the pause is over */
    bool wants_checkpoint;     /* as soon as nothing is under way */
    bool goes_back;            /* it restarts from its checkpoint */
    uint64_t keys_seen;        /* bit k: it has had an operation on a key of this number modulo 64 */
    int64_t pause_until_ns;
    int64_t held_until_ns;     /* of oracle_faults.c: the latest end of its pauses */
    unsigned char *checkpoint; /* NULL: none was made */
    size_t checkpoint_bytes;
    uint64_t *uncounted; /* by key, of oracle_steps.c: rows since it was counted last, or, from memory, rows
                            that were counted last; NULL: none yet */
    struct {
        bool is_known;
        uint32_t key;
        int64_t bucket;
    } stored; /* of oracle_reads.c: where it stored its last row, until it reads there */
    struct {
        bool is_unknown;           /* what the agent remembers */
        struct lab_tuples windows; /* found empty: key and number, and whether it may still leave them out */
    } empties;                     /* of oracle_empties.c; none of agents that remember none */
    void *twin_memory;             /* NULL: agents have no twins */
    struct bk_agent *twin;
    unsigned char *twin_state;
    size_t twin_room;
    int64_t offset_ns, drift_ppb, jump_ns;
    int64_t jumped_ns;    /* when its clock jumped last */
    int64_t disturbed_ns; /* when it did, or the agent's last pause ended */
    int64_t deployed_ns;  /* when it was given its settings */
    uint32_t parked;      /* operations */
    uint64_t tick;
    int64_t tick_ns;
    uint64_t restart;
    int64_t restart_ns; /* of one that is down; INT64_MAX: it stays so */
    struct lab_copy copies[LAB_COPIES];
};

/* A delete that is still to be made, or under way. */
struct lab_delete {
    uint32_t key, tries, serial;
    bool is_waiting; /* for an answer */
    int64_t bucket;
    uint64_t row, bytes, timeout;
    uint64_t row_id;
    int64_t row_time_ns;
};
struct lab_deletes_open {
    struct lab_delete *items;
    uint32_t *free_slots;
    uint32_t capacity, free_count;
    uint64_t asked, confirmed; /* so far */
};

struct lab_active_fault {
    bool is_used;
    uint32_t fault; /* of the scenario */
    enum lab_fault_kind kind;
    uint32_t target;
    struct lab_group between[2];
    double factor;
    int64_t by_ns, until_ns;
};

/* A key's state row as it was when a fault of the scenario had it kept. */
struct lab_backup {
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
};

struct lab_idgen;  /* idgen.h */
struct lab_replay; /* history.h */

struct lab_cluster_run {
    const struct lab_scenario *scenario;
    const struct lab_strategy *strategy;
    const struct lab_rows *rows;
    uint32_t traced_key; /* LAB_NO_KEY: all */
    const struct lab_run_context *context;
    struct lab_replay *replay;    /* what happens comes from a history; NULL: the run makes it */
    struct lab_row_stamps stamps; /* of rows written from start_ns on, which follows from the scenario */
    struct sim_queue queue;
    struct cass_cluster *cluster;
    struct bk_agent_config config;
    struct lab_regimes regimes;                                   /* what holds by the scenario's dates */
    uint32_t agent_count, key_count, node_count, operation_count; /* operations: of an agent */
    struct lab_host_agent *agents;
    struct lab_cluster_key *keys;
    struct lab_read_clock *reads[LAB_READ_KINDS]; /* by key; NULL: no such reads */
    struct sim_times *acknowledged;               /* with reads of ranges: times of rows, by key */
    int64_t start_ns, end_ns;
    uint64_t operations_active;
    uint64_t arrivals_pending; /* rows and reads that are still to come */
    struct lab_active_fault *active;
    size_t active_count, active_capacity;
    struct sim_random *fault_draws; /* one a fault of the scenario */
    struct lab_backup *backups;     /* likewise */
    uint8_t *places[2];             /* room for the two sides of a network partition */
    struct lab_deletes_open deletes;
    struct lab_idgen *idgen; /* NULL: the strategy places rows */
    struct lab_oracles oracles;
    struct lab_tally tally;
    struct lab_histogram latency[LAB_LATENCY_COUNT], read_latency[LAB_READ_KINDS];
    uint64_t refused, unresolved, unresolved_increments;
    uint64_t rows_uncounted;  /* of BK_SOURCE_INCREMENTAL: no count will ever meet them */
    uint64_t conditions_lost; /* conditional updates of a state that somebody else was ahead of */
    uint64_t keys_met;        /* that had rows */
    struct lab_event_log events;
    struct lab_views views;
    uint32_t views_key; /* the busiest */
    bool views_done;
    int64_t views_until_ns, views_next_ns, views_period_ns;
    bool out_of_memory;
    uint32_t part, wish_heard; /* of lab/snapshot.h: its number, which is the strategy's */
    uint64_t pause_at;         /* after so many events comes a safe point */
    bool is_over;              /* its result has been tallied */
    bool is_resumed;           /* from a saved state: what it asks may not be what a run comes to */
    bool is_damaged;           /* and was not */
};

/* bk_kind_fires() of the strategy, without a call: this is asked many times a row. */
static inline bool lab_rows_fire(const struct lab_cluster_run *run)
{
    return run->config.strategy.kind == BK_PROBABILISTIC || run->config.strategy.kind == BK_WEIGHTED;
}

/* Whether each key has a state row; a counter column alone is none. */
static inline bool lab_keeps_state(const struct lab_cluster_run *run)
{
    return lab_rows_fire(run) || run->config.source > BK_SOURCE_COUNTER;
}

static inline bool lab_has_failed(enum bk_outcome_kind outcome)
{
    return outcome == BK_OUTCOME_REFUSED || outcome == BK_OUTCOME_UNKNOWN;
}

/* Whether rows take numbers from the key's state row. */
static inline bool lab_takes_numbers(const struct lab_cluster_run *run)
{
    return run->config.source == BK_SOURCE_LWT || run->config.source == BK_SOURCE_LEASE;
}

/* So many of them by one update. */
static inline uint64_t lab_numbers_at_once(const struct lab_cluster_run *run)
{
    return run->config.source == BK_SOURCE_LEASE ? run->config.lease_rows : 1;
}

/* Whether counter columns are added to. */
static inline bool lab_adds_to_counters(const struct lab_cluster_run *run)
{
    return run->config.source == BK_SOURCE_COUNTER ||
           (run->config.counter == BK_COUNTER_COLUMN && lab_rows_fire(run));
}

/* Seconds since the start of the run, for people. Clocks may have jumped to where a difference overflows. */
static inline double lab_seconds(const struct lab_cluster_run *run, int64_t time_ns)
{
    __extension__ typedef __int128 wide;
    return (double)((wide)time_ns - run->start_ns) / 1e9;
}

/* Zeroed memory of all keys, which takes long enough to be stopped; NULL then, and when out of memory. */
void *lab_keys_memory(const struct lab_cluster_run *run, size_t bytes);
/* An event of the engine's own; 0 and out_of_memory without room. */
uint64_t lab_push(struct lab_cluster_run *run, int64_t time_ns, enum lab_event kind, uint32_t target);
uint64_t lab_push_event(struct lab_cluster_run *run, int64_t time_ns, const struct sim_event *event);
/* In place of a key: none, or all. */
#define LAB_NO_KEY UINT32_MAX

#endif
