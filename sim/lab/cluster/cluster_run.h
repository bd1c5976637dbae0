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
#include "oracles.h"
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
    bool is_up;
    bool is_paused, has_heard; /* it has heard what it will act on when the pause is over */
    bool wants_checkpoint;     /* as soon as nothing is under way */
    bool goes_back;            /* it restarts from its checkpoint */
    uint64_t keys_seen;        /* bit k: it has had an operation on a key of this number modulo 64 */
    int64_t pause_until_ns;
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
    int64_t by_ns;
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

/* Whether each key has a state row; a counter column alone is none. */
static inline bool lab_keeps_state(const struct lab_cluster_run *run)
{
    return bk_kind_fires(run->config.strategy.kind) || run->config.source > BK_SOURCE_COUNTER;
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
           (run->config.counter == BK_COUNTER_COLUMN && bk_kind_fires(run->config.strategy.kind));
}

/* Seconds since the start of the run, for people. Clocks may have jumped to where a difference overflows. */
static inline double lab_seconds(const struct lab_cluster_run *run, int64_t time_ns)
{
    __extension__ typedef __int128 wide;
    return (double)((wide)time_ns - run->start_ns) / 1e9;
}

/* cluster_host.c: the agents' host. */
bool lab_agents_create(struct lab_cluster_run *run, struct sim_error *error);
void lab_agents_destroy(struct lab_cluster_run *run);
/* Of an agent that begins, or goes on, by the history that it was given. */
struct bk_agent_config lab_agent_config(const struct lab_cluster_run *run, uint32_t agent);
/* At the end of a run: what is still under way stays unresolved. */
void lab_agents_leave(struct lab_cluster_run *run);
/* How far its clock is off, and how fast it drifts. */
void lab_agent_draw_clock(struct lab_cluster_run *run, uint32_t agent);
/* An operation of the agent has begun; then it is to be carried on. */
struct lab_host_operation *lab_agent_begun(struct lab_cluster_run *run, uint32_t agent, uint32_t number,
                                           uint32_t key);
void lab_agent_pump(struct lab_cluster_run *run, uint32_t agent);
int64_t lab_agent_clock(const struct lab_cluster_run *run, uint32_t agent);
/* At that time, unless it has jumped since. */
int64_t lab_agent_clock_at(const struct lab_cluster_run *run, uint32_t agent, int64_t time_ns);
/* The most by which the host may wake it later than it asked to, after such a wait. */
int64_t lab_agent_late_ns(const struct lab_cluster_run *run, uint32_t agent, int64_t wait_ns);
/* The agent's strategy for rows of that time. */
const struct bk_strategy *lab_agent_strategy(const struct lab_cluster_run *run, uint32_t agent,
                                             int64_t time_ns);
void lab_agent_write(struct lab_cluster_run *run, uint32_t key, const struct lab_arrival *row);
/* A row of its time, sequence number (which is its number within the key), id and bytes comes to the agent
 * (UINT32_MAX: none is up). */
void lab_agent_take(struct lab_cluster_run *run, uint32_t agent, uint32_t key, const struct bk_row *row);
/* operation->outcome is what became of its action. */
void lab_agent_hear(struct lab_cluster_run *run, uint32_t agent, uint32_t operation);
/* Whatever is paused: its time has come. */
void lab_agent_wake(struct lab_cluster_run *run, uint32_t agent);
void lab_agent_reply(struct lab_cluster_run *run, const struct sim_event *event);
void lab_agent_timeout(struct lab_cluster_run *run, const struct sim_event *event);
void lab_agent_tick(struct lab_cluster_run *run, uint32_t agent);
/* is_kept: it restarts from its checkpoint, if it has one. */
void lab_agent_crash(struct lab_cluster_run *run, uint32_t agent, int64_t lasts_ns, bool is_kept);
void lab_agent_restart(struct lab_cluster_run *run, uint32_t agent);

/* cluster_pause.c: agents that stand still, and go on from where they were. */
void lab_agent_pause(struct lab_cluster_run *run, uint32_t agent, int64_t lasts_ns);
void lab_agent_resume(struct lab_cluster_run *run, uint32_t agent);
/* An event for a paused agent: true when it waits for the end of the pause. The first one is heard. */
bool lab_agent_waits(struct lab_cluster_run *run, const struct sim_event *event);
/* The agent's checkpoint is made now, or as soon as it has nothing under way. */
void lab_agent_keep(struct lab_cluster_run *run, uint32_t agent);
/* The agent made of its checkpoint; false when there is none that it can be made of. */
bool lab_agent_go_back(struct lab_cluster_run *run, uint32_t agent);

/* cluster_twin.c: with the agent, when it begins; after the agent was told the same; it has taken an
 * action; it has no more of them. */
void lab_twin_begin(struct lab_cluster_run *run, uint32_t agent);
void lab_twin_destroy(struct lab_host_agent *agent);
void lab_twin_write(struct lab_cluster_run *run, uint32_t agent, int64_t now_ns, uint32_t key,
                    const struct bk_row *row, enum bk_status status, uint32_t operation);
void lab_twin_read(struct lab_cluster_run *run, uint32_t agent, int64_t now_ns, uint32_t key,
                   const struct bk_query *query, enum bk_status status, uint32_t operation);
void lab_twin_heard(struct lab_cluster_run *run, uint32_t agent, int64_t now_ns, uint32_t operation,
                    const struct bk_outcome *outcome);
void lab_twin_ticked(struct lab_cluster_run *run, uint32_t agent, int64_t now_ns);
void lab_twin_changed(struct lab_cluster_run *run, uint32_t agent);
void lab_twin_acted(struct lab_cluster_run *run, uint32_t agent, const struct bk_action *action);
void lab_twin_rests(struct lab_cluster_run *run, uint32_t agent);
/* Whether the twin is to be restored after this step; counts those that are. */
bool lab_twin_is_due(struct lab_cluster_run *run, uint32_t agent);

/* The load balancer's choice: the drawn agent, or the next that is up and takes something; UINT32_MAX: none
 * is. */
uint32_t lab_choose_agent(const struct lab_cluster_run *run, uint64_t draw);
/* The same for a row or a read of this key: routed by key, all of them draw alike. */
uint32_t lab_choose_agent_of_key(const struct lab_cluster_run *run, uint32_t key, uint64_t draw);
/* The same for the key's row of that number. */
uint32_t lab_choose_agent_of_row(const struct lab_cluster_run *run, uint32_t key, uint64_t row);

/* cluster_prefetch.c: for the queue to tell of arrivals that will come soon. */
void lab_prefetch(void *context, const struct sim_event *event, uint32_t days);

/* cluster_delete.c: an acknowledged row may be deleted later; then the delete's events. */
void lab_delete_plan(struct lab_cluster_run *run, const struct lab_host_operation *operation);
void lab_delete_send(struct lab_cluster_run *run, uint32_t slot);
void lab_delete_reply(struct lab_cluster_run *run, const struct sim_event *event);
void lab_delete_timeout(struct lab_cluster_run *run, const struct sim_event *event);

/* cluster_reads.c: reads that come to a key, and what became of them. */
bool lab_reads_create(struct lab_cluster_run *run);
void lab_reads_destroy(struct lab_cluster_run *run);
void lab_reads_begin(struct lab_cluster_run *run, uint32_t key);
void lab_cluster_read(struct lab_cluster_run *run, uint32_t key, enum lab_read_kind kind);
/* A read comes to the agent (UINT32_MAX: none is up). newest: the key's newest sequence number. */
void lab_read_take(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum lab_read_kind kind,
                   int64_t birth_ns, uint64_t newest);
/* Its row was acknowledged, so that readers that come now are to find it. */
void lab_reads_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* A partition has answered; all of the step have; the read has ended. */
void lab_read_reply(struct lab_host_operation *operation, const struct cass_reply *reply);
void lab_read_step_done(struct lab_host_operation *operation);
void lab_read_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                    const struct bk_action *action);

/* cluster_action.c. */
/* The register of a key's state row, and back. */
uint64_t lab_state_register(uint32_t key);
bool lab_register_is_state(uint64_t key, uint32_t *out);
/* Whether any replica has the start of the bucket. */
bool lab_has_start(const struct lab_cluster_run *run, uint32_t key, int64_t bucket);
void lab_action_count(struct lab_cluster_run *run, const struct bk_action *action);
void lab_action_statement(const struct lab_cluster_run *run, const struct bk_action *action,
                          struct cass_statement *out);
/* Zeroed memory of all keys, which takes long enough to be stopped; NULL then, and without memory. */
void *lab_keys_memory(const struct lab_cluster_run *run, size_t bytes);
/* The counter that an action of this (key, bucket) adds to. */
uint64_t lab_counter_key(const struct lab_cluster_run *run, uint64_t key, int64_t bucket);
/* And back; bucket 0 where a key has one counter. */
void lab_counter_owner(const struct lab_cluster_run *run, uint64_t counter, uint32_t *key, int64_t *bucket);
void lab_reply_add(struct lab_cluster_run *run, struct lab_host_operation *operation,
                   const struct cass_reply *reply);

/* cluster_watch.c: which rare paths are walked, and what happens that a guarantee may exclude. */
void lab_watch_asked(struct lab_cluster_run *run, struct lab_host_operation *operation,
                     const struct bk_action *action, const struct cass_statement *statement);
void lab_watch_outcome(struct lab_cluster_run *run, struct lab_host_operation *operation,
                       enum bk_outcome_kind outcome);
/* Its write of the state is no longer under way, if it was one. */
void lab_state_write_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                           enum bk_outcome_kind outcome);
/* The key's state has changed though no write of it is under way, or has gone back. */
void lab_watch_late_effect(struct lab_cluster_run *run, uint32_t key);
/* A fault of that kind strikes. */
void lab_watch_fault(struct lab_cluster_run *run, enum lab_fault_kind kind);

/* cluster_change.c: settings that change. Into the agents' config; events for those who are given them. */
void lab_changes_begin(struct lab_cluster_run *run);
void lab_deploys_begin(struct lab_cluster_run *run);
void lab_deploy(struct lab_cluster_run *run, uint32_t agent, uint32_t change);
/* By the scenario's dates. */
const struct bk_history *lab_settings_at(const struct lab_cluster_run *run, int64_t time_ns);
/* The number of changes that have come by then, by the scenario's dates; what holds after so many. */
uint32_t lab_era_at(const struct lab_cluster_run *run, int64_t time_ns);
const struct bk_strategy *lab_era_settings(const struct lab_cluster_run *run, uint32_t era);
/* Of a kind without state: the dates call for another bucket (of hash: for those of another era). */
bool lab_is_misplaced(const struct lab_cluster_run *run, int64_t time_ns, int64_t bucket);

/* cluster_faults.c. */
void lab_faults_begin(struct lab_cluster_run *run);
void lab_fault_strike(struct lab_cluster_run *run, uint32_t fault);
/* One that was drawn strikes. is_kept: of an agent's crash, see lab_agent_crash(). */
void lab_fault_begins(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns,
                      bool is_kept);
void lab_fault_paxos(struct lab_cluster_run *run, uint32_t key);
void lab_fault_end(struct lab_cluster_run *run, uint32_t place);
/* What the fault will put back later. */
void lab_fault_keep(struct lab_cluster_run *run, uint32_t fault);

/* cluster_views.c: what each agent believes of one key's bucket, around its first change. */
void lab_views_sample(struct lab_cluster_run *run, int64_t now_ns);
void lab_views_change(struct lab_cluster_run *run, uint32_t key, int64_t now_ns, int64_t until_ns);

/* cluster_event_trace.c: events, when a listener wants them. */
#define LAB_NO_KEY UINT32_MAX
struct lab_told {
    enum lab_event_kind kind;
    uint32_t key, agent, node, operation;
    enum lab_event_phase phase;
};
/* A moment of an agent, or of LAB_EVENT_NOBODY. */
#define LAB_TOLD(kind, key, agent)                                                                           \
    ((struct lab_told){LAB_EVENT_OF_##kind, key, agent, LAB_EVENT_NOBODY, 0, LAB_EVENT_MOMENT})
bool lab_event_trace_wants(const struct lab_cluster_run *run, uint32_t key);
void lab_event_trace_add(struct lab_cluster_run *run, struct lab_told told, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* An operation that its agent, which crashed, has forgotten. */
void lab_event_trace_lost(struct lab_cluster_run *run, uint32_t agent, uint32_t number);
void lab_event_trace_action(struct lab_cluster_run *run, uint32_t agent, const struct bk_action *action);
void lab_event_trace_outcome(struct lab_cluster_run *run, uint32_t agent,
                             const struct lab_host_operation *operation, uint32_t number,
                             const struct bk_outcome *outcome);

/* cluster_result.c: what was stored, into the tally and the metrics. */
void lab_cluster_tally(struct lab_cluster_run *run);
/* far: by strategy, what another rank has made of it; NULL: it is one of `runs`. What is taken over is gone
 * from either. */
bool lab_cluster_result(const struct lab_scenario *scenario, struct lab_cluster_run **runs,
                        struct lab_result **far, struct lab_result **out);
/* Of this strategy alone, in its place. */
bool lab_cluster_result_of(const struct lab_scenario *scenario, size_t index, struct lab_cluster_run *run,
                           struct lab_result **out);
bool lab_cluster_metrics(const struct lab_cluster_run *run, struct lab_metrics *out);
/* The violations of every oracle that judged. */
bool lab_metrics_of_oracles(const struct lab_verdict *verdict, struct lab_metrics *out);

/* cluster_archive_check.c: whether a reply's tag is of an operation, a delete or a client that there is. */
bool lab_is_possible_tag(const struct lab_cluster_run *run, uint64_t tag);

/* cluster_snapshot.c: the state that was kept of the strategy, if one was, in place of the run's own. */
bool lab_cluster_go_on(struct lab_cluster_run *run, struct sim_error *error);
/* Keeps the state, when that is due; and what the result of a run that is over is made of. */
void lab_cluster_keep(struct lab_cluster_run *run);
void lab_cluster_keep_end(struct lab_cluster_run *run);

/* Of the strategies that were judged, in their order; runs[i] NULL: not judged. */
bool lab_cluster_result_some(const struct lab_scenario *scenario, struct lab_cluster_run **runs,
                             struct lab_result **out);

/* cluster_loop.c: the rows of all strategies; NULL where there are identifiers in place of rows. */
bool lab_cluster_rows(const struct lab_scenario *scenario, const struct lab_run_context *context,
                      struct lab_rows **out, struct sim_error *error);
/* Runs the strategy of this index to its end. What a result is made of stays until lab_cluster_run_destroy(),
 * which is due even where the error is set; NULL without memory. */
struct lab_cluster_run *lab_cluster_run_create(const struct lab_scenario *scenario, size_t index,
                                               const struct lab_rows *rows,
                                               const struct lab_run_context *context,
                                               struct sim_error *error);
void lab_cluster_run_destroy(struct lab_cluster_run *run); /* NULL is fine */
/* The same of what a history says has happened, up to the next strategy's beginning. */
struct lab_cluster_run *lab_cluster_run_replay(const struct lab_scenario *scenario, size_t index,
                                               const struct lab_rows *rows,
                                               const struct lab_run_context *context,
                                               struct lab_replay *replay, struct sim_error *error);
/* history/replay.c: the events of the history up to the end of the strategy's run. */
bool lab_replay_events(struct lab_cluster_run *run, struct sim_error *error);
/* An event of the engine's own; 0 and out_of_memory without room. */
uint64_t lab_push(struct lab_cluster_run *run, int64_t time_ns, enum lab_event kind, uint32_t target);
uint64_t lab_push_event(struct lab_cluster_run *run, int64_t time_ns, const struct sim_event *event);

#endif
