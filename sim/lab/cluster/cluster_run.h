/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster engine: the run of one strategy over its own mock cluster, with its agents and faults, in one
 * event queue. In: the rows of a scenario, which all strategies share, like the faults and the agent of each
 * row. Kept: struct lab_cluster_run. Out: a result.
 *
 *     cluster_rows.c --rows--> cluster_loop.c: the queue's events, in the order of their times
 *                                |          |            |             |
 *                      reads, deletes    actions       faults     messages, timers
 *                   cluster_clients.c  cluster_host.c  cluster_faults.c     |
 *                     idgen/ (clients     |   ^           |                 |
 *                     of identifiers)  requests replies   v                 v
 *                                         +---+-------> sim/cassandra: the mock cluster
 *
 *     all of them --events.h: each fact once--> observers
 *         cluster_event_trace.c  lines for a person
 *         history/               lines from which judge.c and history.c repeat the run without a cluster
 *         oracles/, cluster_twin.c  the verdict
 *         cluster_result.c       latencies, the agents' views of a key's bucket; at the end the tally and the
 *                                metrics
 *
 * cluster_view.h is what all of them may ask of a run: clocks, settings by date, names of registers, a key's
 * state as it is stored. Observers change nothing, so a run is the same with or without them. */
#ifndef LAB_CLUSTER_RUN_H
#define LAB_CLUSTER_RUN_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/grow.h"
#include "kernel/queue.h"
#include "kernel/time.h"
#include "lab/cluster_engine.h"
#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "lab/tally.h"
#include "oracle_types.h"
#include "workload/workload.h"

/* The most number of parked operations of all agents together, unless each agent would then have fewer than
 * LAB_OPERATIONS_MIN. */
#define LAB_OPERATIONS_MIN 64u
#define LAB_OPERATIONS_ALL (UINT32_C(1) << 18)
/* How long operations may continue after the last arrival; those that are still under way then are
 * unresolved. */
#define LAB_DRAIN_NS (INT64_C(600) * 1000000000)

/* A time plus a span of at least 0, saturating at the last time that an event can have. */
static inline int64_t lab_until(int64_t time_ns, int64_t span_ns)
{
    return time_ns > SIM_QUEUE_TIME_MAX - span_ns ? SIM_QUEUE_TIME_MAX : time_ns + span_ns;
}

/* times x span_ns, for values of at least 0, saturating at SIM_QUEUE_TIME_MAX. */
static inline int64_t lab_times(int64_t times, int64_t span_ns)
{
    return times > 0 && span_ns > SIM_QUEUE_TIME_MAX / times ? SIM_QUEUE_TIME_MAX : times * span_ns;
}

/* Kinds of events of the engine; those of the cluster begin at CASS_EVENT_FIRST. */
enum lab_event {
    LAB_EVENT_ARRIVAL = 1,    /* target: key */
    LAB_EVENT_READ,           /* target: key */
    LAB_EVENT_TIMEOUT,        /* target: agent; a: operation; b: serial */
    LAB_EVENT_TICK,           /* target: agent */
    LAB_EVENT_RESTART,        /* target: agent */
    LAB_EVENT_FAULT,          /* target: fault index of the fault in the scenario */
    LAB_EVENT_FAULT_END,      /* target: index in the list of active faults */
    LAB_EVENT_DELETE,         /* target: slot of the delete */
    LAB_EVENT_DELETE_TIMEOUT, /* target: slot of the delete; a: serial */
    LAB_EVENT_TAKE,           /* target: client that takes its next identifier; a: number of its restarts */
    LAB_EVENT_IDS_END,
    LAB_EVENT_DEPLOY, /* target: agent; a: change of the strategy */
    LAB_EVENT_END,    /* end of a run in which rows expire, so that they expire up to it */
    LAB_EVENT_KEEP,   /* target: fault of the scenario, for which state is saved now */
    LAB_EVENT_TURN,   /* target: agent; a: key; b: serial of the row that has ended */
};

/* The tag of a request: an action's has agent, operation and serial; a delete's has the highest bit set. */
#define LAB_DELETE_TAG(slot, serial) (UINT64_C(1) << 63 | (uint64_t)((serial)&0x7fff) << 32 | (slot))
#define LAB_NO_DELETE                UINT32_MAX

/* A key. The members that each row needs come first, in two cache lines, and the line with the row itself. */
struct lab_cluster_key {
    alignas(SIM_LINE_BYTES) struct lab_arrival coming;
    uint64_t rows;    /* rows that have arrived */
    uint64_t bytes;   /* total bytes of these rows */
    int64_t birth_ns; /* the earliest time of these rows, by their own times or their agents' clocks */
    uint64_t acknowledged, deletes_asked;
    int64_t state[BK_COLUMNS]; /* the state as stored, without the count */
    int64_t *changes;          /* by bucket: from which time on rows belong to it, as stored; 0: not known */
    size_t change_count;
    struct lab_cursor cursor; /* last, since rows seldom need its random stream */
};
static_assert(offsetof(struct lab_cluster_key, cursor.ahead) % SIM_LINE_BYTES == 0, "a row lies in one line");

/* The host's record of an operation of an agent. The members that each row needs come first. */
struct lab_host_operation {
    alignas(SIM_LINE_BYTES) uint32_t serial; /* serial of the action under way; a reply with another serial is
                                                late */
    uint32_t outstanding;
    uint64_t ticket; /* of that action */
    uint64_t timeout;
    enum bk_action_kind action;
    bool is_active, is_read, is_acknowledged, is_moved, fires;
    bool is_heard; /* the row was reported as stored, but not acknowledged when its agent crashed */
    bool was_unknown;
    bool uses_all; /* it is a read, or has sent a request other than a put */
    uint32_t key;
    uint64_t row, row_bytes; /* number of the row within the key; its size in bytes */
    uint64_t row_id;
    int64_t row_time_ns; /* for a read of a range, the beginning of the range */
    uint64_t weight;     /* what the row adds to a counter, if it fires */
    int64_t bucket;      /* the bucket of the first put; LAB_UNPLACED: not put yet */
    int64_t begun_ns, asked_ns;
    int64_t heard_ns; /* when it got the last outcome, or began */
    int64_t
        turn_ns; /* when it began, or last went on after a wait without a failure: it may have been parked */
    uint32_t requests; /* so far */
    uint64_t rows;     /* rows of the replies to the current action */
    struct bk_outcome outcome;
    /* All members below are 0 unless uses_all. */
    uint64_t beyond;       /* read: number of acknowledged rows in windows that it does not query */
    bool has_counted;      /* its increment was requested */
    uint64_t counter;      /* the key of the counter of that increment */
    uint64_t added;        /* read of a counter: the smallest value that it must find */
    uint64_t state_seen;   /* version of the state when it was last read */
    int64_t state_read_ns; /* when that read was requested */
    int64_t bucket_due;    /* the highest bucket that had rows then; INT64_MIN: none had */
    bool changes_state, raises, is_taking_over;
    bool is_locked_out; /* it has read in an outcome that another agent has the lock */
    enum lab_read_kind read;
    uint32_t mask;
    int64_t columns[CASS_COLUMNS];
    int64_t step_low;                   /* lowest bucket of the last step */
    uint64_t step_filled, step_scanned; /* sums over the current step */
    struct lab_read_done done;          /* result of the steps that succeeded */
};

/* The members that each row needs come first. */
struct lab_host_agent {
    alignas(SIM_LINE_BYTES) struct bk_agent *agent;
    struct lab_host_operation *operations;
    uint32_t
        operations_met; /* operations below this index have begun or are cleared; others must not be read */
    bool is_up;
    bool is_paused, has_heard; /* has_heard: it has got one event, on which it will act after the pause */
    bool wants_checkpoint;     /* a checkpoint must be saved as soon as no operation is under way */
    bool goes_back;            /* it will restart from its checkpoint */
    uint64_t keys_seen;        /* bit k: it has had an operation on a key whose number modulo 64 is k */
    int64_t offset_ns, drift_ppb, jump_ns;
    uint64_t tick;
    int64_t tick_ns;
    struct bk_history history; /* the history of settings that it was given, which it uses after a restart */
    void *memory;              /* of the core */
    int64_t pause_until_ns;
    unsigned char *checkpoint; /* NULL: none was saved */
    size_t checkpoint_bytes;
    uint64_t restart;
    int64_t restart_ns; /* when an agent that is down restarts; INT64_MAX: never */
};

/* A delete that is planned or under way. */
struct lab_delete {
    uint32_t next; /* 1 + the next free slot; 0: none */
    uint32_t key, tries, serial;
    bool is_waiting; /* it waits for an answer */
    int64_t bucket;
    uint64_t row, bytes, timeout;
    uint64_t row_id;
    int64_t row_time_ns;
};
struct lab_deletes_open {
    struct lab_delete *items;
    size_t count, capacity;
    uint32_t free;             /* 1 + the first free slot; 0: none */
    uint64_t asked, confirmed; /* numbers of deletes requested and confirmed so far */
};

/* With agents.queue, a row that is under way in an agent, or waits there for the row of its key before it. */
struct lab_turn {
    struct lab_arrival row;
    int64_t since_ns; /* its arrival */
    uint64_t serial;
    uint32_t agent, next; /* next: 1 + the row that waits behind it, or the next free place; 0: none */
    /* Of the row under way: 1 + that of the key in another agent; 1 + the last row that waits; their number.
     */
    uint32_t other, last, waiting;
};
struct lab_turns {
    struct lab_turn *items;
    size_t count, capacity;
    uint32_t free;               /* 1 + the first free place; 0: none */
    uint32_t *keys;              /* by key: 1 + a row under way; 0: none. NULL: without agents.queue */
    uint32_t *waiting;           /* by key, in all agents */
    uint64_t serial, most;       /* most: the most rows of a key that waited in an agent */
    struct lab_histogram waited; /* how long, in ns */
};

/* The bounds of the factor of overlapping faults. With a larger one, no operation would end within a run. */
#define LAB_FACTOR_MAX 1e6
#define LAB_FACTOR_MIN 1e-6
struct lab_active_fault {
    bool is_used;
    uint32_t fault; /* of the scenario */
    enum lab_fault_kind kind;
    uint32_t target;
    struct lab_group between[2];
    double factor;
    int64_t by_ns, until_ns;
};

/* Whether a fault's target is an agent. */
static inline bool lab_fault_is_of_agent(enum lab_fault_kind kind)
{
    return kind == LAB_FAULT_AGENT_CRASH || kind == LAB_FAULT_CLOCK_JUMP || kind == LAB_FAULT_AGENT_PAUSE;
}

/* A key's state row, saved for a fault of the scenario that restores it. */
struct lab_backup {
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
};

/* Latencies of writes that are not in their histogram yet. */
#define LAB_SPENT_MAX 127u /* with their count, a KiB */
struct lab_spent {
    uint64_t ns[LAB_SPENT_MAX];
    uint32_t count;
};

struct lab_idgen;  /* idgen.h */
struct lab_replay; /* history.h */
struct lab_cluster_run;

/* events.h: those that observe this run. */
#define CLUSTER_LISTENERS_MAX 32u
struct cluster_event;
struct cluster_observer;
struct cluster_listener {
    void (*on_event)(struct lab_cluster_run *run, void *state, const struct cluster_event *event);
    void *state;
    const struct cluster_observer *observer;
};

struct lab_cluster_run {
    const struct lab_scenario *scenario;
    const struct lab_strategy *strategy;
    const struct lab_rows *rows;
    uint32_t traced_key; /* key whose events are traced; LAB_NO_KEY: all keys */
    const struct lab_run_context *context;
    struct lab_replay *replay;    /* the history that is replayed; NULL: a normal run */
    struct lab_row_stamps stamps; /* for rows written from start_ns on; derived from the scenario */
    struct lab_row_last row_last; /* of the rows that arrived */
    struct cass_statement put;    /* the last statement that puts a row */
    struct sim_queue queue;
    uint32_t heard_by[64]; /* by kind of event: bit i: listener i wants it */
    uint32_t listener_count;
    struct cluster_listener listeners[CLUSTER_LISTENERS_MAX];
    struct cass_cluster *cluster;
    struct bk_agent_config config;
    struct lab_regimes regimes;                                   /* settings by the scenario's dates */
    uint32_t agent_count, key_count, node_count, operation_count; /* operation_count: operations per agent */
    char *agents_memory;                                          /* of the core's agents, in one block */
    struct lab_host_operation *operations;                        /* of all agents, in one block */
    struct lab_host_agent *agents;
    struct lab_cluster_key *keys;
    struct lab_read_clock *reads[LAB_READ_KINDS]; /* by key; NULL: no such reads */
    struct lab_times *acknowledged; /* with reads of ranges: times of acknowledged rows, by key */
    int64_t start_ns, end_ns;
    struct lab_disk_windows disk, key_disk; /* of partitions, and of keys in one partition each */
    uint64_t operations_active;
    uint64_t arrivals_pending; /* number of rows and reads that have not arrived yet */
    struct lab_active_fault *active;
    size_t active_count, active_capacity;
    size_t active_free;             /* all places below this one are used */
    struct sim_random *fault_draws; /* one for each fault of the scenario */
    struct lab_backup *backups;     /* likewise */
    uint8_t *places[2];             /* buffers for the two sides of a network partition */
    struct lab_deletes_open deletes;
    struct lab_turns turns;
    struct lab_idgen *idgen; /* NULL: the strategy places rows */
    struct lab_oracles oracles;
    struct lab_tally tally;
    struct lab_histogram latency[LAB_LATENCY_COUNT], read_latency[LAB_READ_KINDS];
    struct lab_spent spent;
    uint64_t refused, refused_busy, unresolved, unresolved_increments; /* refused_busy: among the refused */
    uint64_t rows_uncounted;     /* BK_SOURCE_INCREMENTAL: number of rows that no count will ever include */
    uint64_t conditions_lost;    /* number of conditional updates of a state that lost to another agent */
    uint64_t peak_queries_per_s; /* of reads, of one partition; only if that rate has a limit */
    uint64_t keys_met;           /* number of keys with rows */
    struct lab_event_log events;
    struct lab_views views;
    uint32_t views_key; /* the busiest */
    bool views_done;
    int64_t views_until_ns, views_next_ns, views_period_ns;
    bool out_of_memory;
    bool has_own_times;   /* wl_has_own_times() */
    uint64_t pause_at;    /* number of events at the next safe point */
    bool is_over;         /* it stopped early (lab/context.h) */
    uint32_t rows_untold; /* number of rows that the progress lacks */
};

/* bk_kind_fires() of the strategy, inlined since it is called many times per row. */
static inline bool lab_rows_fire(const struct lab_cluster_run *run)
{
    return run->config.strategy.kind == BK_KIND_PROBABILISTIC ||
           run->config.strategy.kind == BK_KIND_WEIGHTED;
}

/* Whether each key has a state row; a counter column is not one. */
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

/* How many numbers one update reserves. */
static inline uint64_t lab_numbers_at_once(const struct lab_cluster_run *run)
{
    return run->config.source == BK_SOURCE_LEASE ? run->config.lease_rows : 1;
}

/* Whether the strategy adds to counter columns. */
static inline bool lab_adds_to_counters(const struct lab_cluster_run *run)
{
    return run->config.source == BK_SOURCE_COUNTER ||
           (run->config.counter == BK_COUNTER_NATIVE && lab_rows_fire(run));
}

/* Seconds since the start of the run, for display. The difference is computed in 128 bits, since times of
 * clocks that have jumped may overflow. */
static inline double lab_seconds(const struct lab_cluster_run *run, int64_t time_ns)
{
    __extension__ typedef __int128 wide;
    return (double)((wide)time_ns - run->start_ns) / 1e9;
}

/* Allocates zeroed memory for all keys, `bytes` each. Since this takes long, it can be stopped. NULL when it
 * was stopped, and when out of memory. */
void *lab_keys_memory(const struct lab_cluster_run *run, size_t bytes);
/* Pushes an event of the engine, other than an arrival. When out of memory it returns 0 and sets
 * out_of_memory. */
uint64_t lab_push(struct lab_cluster_run *run, int64_t time_ns, enum lab_event kind, uint32_t target);
static inline uint64_t lab_push_event(struct lab_cluster_run *run, int64_t time_ns,
                                      const struct sim_event *event)
{
    if (SIM_UNLIKELY(run->replay != NULL)) /* the history says what happens */
        return 0;
    /* Nearly all timeouts are cancelled. */
    bool is_later = event->kind == LAB_EVENT_TIMEOUT || event->kind == LAB_EVENT_DELETE_TIMEOUT ||
                    event->kind == LAB_EVENT_READ || event->kind == LAB_EVENT_DELETE;
    uint64_t handle = is_later ? sim_queue_push_later(&run->queue, time_ns, event)
                               : sim_queue_push(&run->queue, time_ns, event);
    if (SIM_UNLIKELY(handle == 0))
        run->out_of_memory = true;
    return handle;
}
/* Instead of a key: no key, or all keys. */
#define LAB_NO_KEY UINT32_MAX

/* --- cluster_loop.c */

/* Makes the rows that all strategies share; *out is NULL for a scenario with identifiers. */
bool lab_cluster_rows(const struct lab_scenario *scenario, const struct lab_run_context *context,
                      struct lab_rows **out, struct sim_error *error);
/* Begins the observers of a run whose agents and cluster exist, and passes them what the cluster stores.
 * False when out of memory. */
bool lab_cluster_observe(struct lab_cluster_run *run);
/* Runs the strategy with this index to its end, or replays the events of a history up to the beginning of the
 * next strategy (replay; may be NULL). *out: the result of this strategy alone. */
bool lab_cluster_play(const struct lab_scenario *scenario, size_t index, const struct lab_rows *rows,
                      const struct lab_run_context *context, struct lab_replay *replay,
                      struct lab_result **out, struct sim_error *error);

/* --- Makes tally, metrics and result of a run from what was stored. */
void lab_cluster_tally(struct lab_cluster_run *run);
/* Makes the result of all strategies from those of each alone, whose contents are moved to *out; each[i]
 * NULL: it was not run. At least one was. */
bool lab_cluster_result(const struct lab_scenario *scenario, struct lab_result **each,
                        struct lab_result **out);
/* Makes a result with only this strategy. */
bool lab_cluster_result_of(const struct lab_scenario *scenario, size_t index, struct lab_cluster_run *run,
                           struct lab_result **out);

#endif
