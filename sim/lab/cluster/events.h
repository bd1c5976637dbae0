/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happens in a cluster run, as one stream of events, and its observers. The engine emits each fact once,
 * when it happens. Who listens is one table (observers.c): the engine does not know the observers, and none
 * of them affects agents, cluster or time, so a run has the same events with or without them. */
#ifndef LAB_CLUSTER_EVENTS_H
#define LAB_CLUSTER_EVENTS_H

#include "bucketing/idgen.h"
#include "cluster_run.h"

/* The kinds, with the members of struct cluster_event that are set besides `kind`. An event of an operation
 * has its agent, key and `operation`. */
enum cluster_event_kind {
    /* --- Rows and reads of agents. */
    CLUSTER_ROW_ARRIVES,  /* agent (LAB_EVENT_NOBODY: none is up), key, number, arrival (NULL: of a history),
                             time_ns: its own time */
    CLUSTER_ROW_TAKEN,    /* operation, row; time_ns: the agent's clock */
    CLUSTER_ROW_REFUSED,  /* agent or LAB_EVENT_NOBODY, key, row, time_ns */
    CLUSTER_READ_CHOSEN,  /* agent or LAB_EVENT_NOBODY, key; draw: number; birth: time_ns; newest: value */
    CLUSTER_READ_TAKEN,   /* operation, query; newest: value; time_ns: the agent's clock */
    CLUSTER_READ_REFUSED, /* agent, key, query; newest: value, time_ns; number: enum lab_read_kind; flag: the
                             walk would be too long, instead of: the agent is busy */
    CLUSTER_ACTED,        /* operation, action: what the agent does next */
    CLUSTER_PUT_SENT,     /* operation, action, statement */
    CLUSTER_REQUEST_SENT, /* the same, of any other request */
    CLUSTER_REPLY_CAME,   /* agent, which is paused; sim */
    CLUSTER_REPLIED,      /* operation, reply */
    CLUSTER_GAVE_UP,      /* operation: its request was not answered in time */
    CLUSTER_PUT_HEARD,    /* operation: its row was stored; the agent has not been told yet */
    CLUSTER_HEARD,        /* operation, with any other outcome */
    CLUSTER_TOLD,         /* operation: the agent has got the outcome; time_ns: by its clock */
    CLUSTER_SETTLED,      /* operation: its agent has taken all its actions after it began (number:
                             BK_ACT_DONE) or after the outcome of an action (number: its kind) */
    CLUSTER_PLACED,       /* operation, whose row is put into `bucket` */
    CLUSTER_ACKNOWLEDGED, /* operation */
    CLUSTER_ENDED,        /* operation, action */
    CLUSTER_LOST,         /* operation, with its agent; flag: the run has ended */
    /* --- Agents, or clients of identifiers. */
    CLUSTER_AGENT_STARTED,  /* agent; flag: with its checkpoint; number: 0 at the beginning of the run */
    CLUSTER_AGENT_STOPPED,  /* agent; flag: the run has ended */
    CLUSTER_AGENT_WAKES,    /* agent */
    CLUSTER_AGENT_TICKED,   /* agent; time_ns: the agent's clock */
    CLUSTER_AGENT_RESTS,    /* agent: it has no more actions */
    CLUSTER_AGENT_PAUSED,   /* agent */
    CLUSTER_AGENT_RESUMED,  /* agent; flag: it has handled an event in the pause */
    CLUSTER_AGENT_HANDLES,  /* agent: the first event in a pause */
    CLUSTER_AGENT_WAITS,    /* agent: an event waits for the end of its pause */
    CLUSTER_AGENT_KEPT,     /* agent: its checkpoint was saved */
    CLUSTER_AGENT_DEPLOYED, /* agent, number: of the change of settings */
    /* --- Faults. */
    CLUSTER_FAULT_BEGINS, /* fault; time_ns: how long it lasts */
    CLUSTER_FAULT_STRUCK, /* the same: the cluster has applied it */
    CLUSTER_FAULT_ENDS,   /* fault, number: its place in the list of active faults */
    CLUSTER_FAULT_ENDED,  /* fault: the cluster has applied that */
    CLUSTER_FAULT_KEPT,   /* number: a copy is made for this fault of the scenario; flag: of an agent */
    CLUSTER_CLOCK_JUMPED, /* agent; time_ns: the sum of its earlier jumps */
    CLUSTER_PAXOS_LOST,   /* key, of whose state a replica forgets Paxos state; LAB_NO_KEY: of identifiers */
    /* --- Deletes. */
    CLUSTER_DELETE_CHOSEN, /* agent, key; draw: number */
    CLUSTER_DELETE_SENT,   /* agent, key, item, sent */
    CLUSTER_DELETE_FAILED, /* key, item; flag: it was not answered */
    CLUSTER_DELETE_ENDED,  /* key, item, reply (NULL: it was given up) */
    /* --- What is stored. */
    CLUSTER_ROW_STORED,    /* key, bucket, number, time_ns, value: its order; bytes, replica: the first one */
    CLUSTER_ROW_COPIED,    /* the same without bytes, on another replica */
    CLUSTER_STATE_WRITTEN, /* key: some replica's copy of its state */
    CLUSTER_COUNTER_ADDED, /* bytes: name of the counter, number: of the row, value */
    /* --- What the ledger finds in these events (oracles/ledger.c). */
    CLUSTER_ROW_ENTERED, /* agent, key, number, time_ns, partition: a row is put for the first time; flag: not
                            into the highest bucket, or it is not newer than all rows of lower ones */
    CLUSTER_ROW_UNUSUAL, /* operation, partition: its row was acknowledged, and is not one of those that prove
                            nothing: in time, on all replicas that a reader asks, and uncounted */
    CLUSTER_ROW_FAILED,  /* operation, which ended without an acknowledgement; flag: it was refused */
    CLUSTER_ROW_COUNTED, /* operation, partition: it ended, and its row fires; flag: it was counted */
    CLUSTER_STATE_CHANGED, /* key: its state names `bucket` now, instead of `value`, which may be the same;
                              time_ns: from when on */
    /* --- Identifiers. */
    CLUSTER_ID_ACTED,   /* agent, id_action */
    CLUSTER_ID_REPLIED, /* agent; flag: it has a reply, instead of: it gives up waiting */
    CLUSTER_ID_HEARD,   /* agent, id_outcome; number: enum bk_idgen_action_kind of the request */
    CLUSTER_ID_TOLD,    /* the same: the client has got it; time_ns: by its clock */
    CLUSTER_ID_TOOK,    /* agent, time_ns, number: enum bk_status, value: the identifier */
    CLUSTER_IDS_GIVEN,  /* agent, value: the first one, time_ns: the last one */
    CLUSTER_IDS_END,    /* agent, which is up at the end; number: identifiers that it still has */
    /* --- The run. */
    CLUSTER_RUN_BEGINS,
    CLUSTER_RUN_ENDS, /* before agents that still have operations stop */
    CLUSTER_RESULT,   /* the tally is complete */
    CLUSTER_NUMBERED, /* sim, number: an event of the queue that the listener asked for */
    CLUSTER_VIOLATED, /* key; oracle: number; text */
    CLUSTER_EVENT_KINDS
};
_Static_assert(CLUSTER_EVENT_KINDS < 64, "a mask holds all kinds, and the end");
#define CLUSTER_WANTS(kind) (UINT64_C(1) << CLUSTER_##kind)
#define CLUSTER_WANTS_ALL   UINT64_MAX
#define CLUSTER_WANTS_END   (UINT64_C(1) << 63) /* no event, but finish() */

struct cluster_event {
    enum cluster_event_kind kind;
    uint32_t agent, key, replica;
    bool flag;
    struct lab_host_operation *operation;
    union {
        const struct bk_action *action;
        const struct bk_row *row;
        const struct bk_query *query;
        const struct cass_reply *reply;
        const struct sim_event *sim;
        const struct lab_active_fault *fault;
        const struct bk_idgen_action *id_action;
        const struct bk_idgen_outcome *id_outcome;
        const struct lab_arrival *arrival;
        const struct cass_statement *sent; /* of a delete */
        const char *text;
    };
    union {
        const struct cass_statement *statement;
        struct lab_delete *item;
        struct lab_partition *partition;
    };
    uint64_t number, bytes;
    int64_t bucket, time_ns, value;
};

struct cluster_observer {
    const char *name;
    /* The kinds of events that it wants in this run, bit k: kind k. An observer that wants none is not
     * called. */
    uint64_t (*wants)(const struct lab_cluster_run *run);
    /* Bit o: it counts the violations of the oracle o, which is judged in a run of which it wants events. */
    uint32_t judges;
    /* Before the first event; *state is its own. False when out of memory. May be NULL. */
    bool (*begin)(struct lab_cluster_run *run, void **state);
    void (*on_event)(struct lab_cluster_run *run, void *state, const struct cluster_event *event);
    /* After the last event, when what is stored is known. May be NULL. */
    void (*finish)(struct lab_cluster_run *run, void *state);
    void (*destroy)(void *state); /* may be NULL */
};

/* The observers that the program has, each of which is cluster_NAME, in the order in which they hear of an
 * event: lines for a person, before what follows from the event; then the evidence of the oracles; then the
 * oracles, each of which is a file of oracles/ and a row here; then their verdict, and what comes after it.
 */
#define CLUSTER_OBSERVER_MAP(X)                                                                              \
    X(event_trace)                                                                                           \
    X(history)                                                                                               \
    X(conditions)                                                                                            \
    X(ledger)                                                                                                \
    X(findable)                                                                                              \
    X(newest)                                                                                                \
    X(order)                                                                                                 \
    X(lines)                                                                                                 \
    X(no_gaps)                                                                                               \
    X(bounded)                                                                                               \
    X(filled)                                                                                                \
    X(live)                                                                                                  \
    X(no_duplicates)                                                                                         \
    X(conserved)                                                                                             \
    X(expired)                                                                                               \
    X(available)                                                                                             \
    X(unique)                                                                                                \
    X(twins)                                                                                                 \
    X(verdict)                                                                                               \
    X(delivered)                                                                                             \
    X(views)                                                                                                 \
    X(latencies)                                                                                             \
    X(queries)
#define CLUSTER_OBSERVER(name) extern const struct cluster_observer cluster_##name;
CLUSTER_OBSERVER_MAP(CLUSTER_OBSERVER)
#undef CLUSTER_OBSERVER
#define CLUSTER_OBSERVER_ROW(name) &cluster_##name,

/* The table of a program: the rows above, and in a test program the judges of the engine. NULL ends it. */
extern const struct cluster_observer *const cluster_observers[];

/* --- events.c */
bool cluster_observers_begin(struct lab_cluster_run *run);
void cluster_observers_finish(struct lab_cluster_run *run);
void cluster_observers_end(struct lab_cluster_run *run);
void cluster_tell(struct lab_cluster_run *run, const struct cluster_event *event);

/* Emits an event: cluster_emit(run, ROW_PLACED, .key = 3). Without an observer for it, this is one test. */
#define cluster_emit(run, which, ...)                                                                        \
    do {                                                                                                     \
        if ((run)->heard_by[CLUSTER_##which] != 0)                                                           \
            cluster_tell(run, &(const struct cluster_event){.kind = CLUSTER_##which, __VA_ARGS__});          \
    } while (0)
/* The same for an event of an operation. */
#define cluster_emit_of(run, which, host, of, ...)                                                           \
    cluster_emit(run, which, .agent = (host), .key = (of)->key, .operation = (of), __VA_ARGS__)

/* --- cluster_result.c: each agent's view of one key's bucket, around its first change. The engine looks at
 * intervals. */
void lab_views_sample(struct lab_cluster_run *run, int64_t now_ns);

/* --- cluster_result.c: what the observer of latencies does with an event. */
void cluster_latencies_hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event);

#endif
