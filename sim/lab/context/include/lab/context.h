/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run may use in addition to its scenario: whoever watches it, other ranks, and a place for its
 * snapshots. */
#ifndef LAB_CONTEXT_H
#define LAB_CONTEXT_H

#include "kernel/error.h"
#include "lab/progress.h"

struct lab_snapshots;
struct lab_team;

/* What an event of a cluster run is about. */
#define LAB_EVENT_MAP(X)                                                                                     \
    X(ROWS, "rows")             /* a row from when an agent takes it to the end of its work */               \
    X(READS, "reads")           /* a read, likewise */                                                       \
    X(REQUESTS, "requests")     /* what agents ask the cluster for, and what they hear */                    \
    X(STATE, "state")           /* a key's bucket changes, an agent has new settings */                      \
    X(FAULTS, "faults")         /* what begins and ends, and agents that are back */                         \
    X(VIOLATIONS, "violations") /* of oracles */
enum lab_event_kind {
#define LAB_EVENT_ENUM(name, text) LAB_EVENT_OF_##name,
    LAB_EVENT_MAP(LAB_EVENT_ENUM)
#undef LAB_EVENT_ENUM
        LAB_EVENT_KIND_COUNT,
    LAB_EVENT_OF_RUN = LAB_EVENT_KIND_COUNT /* a strategy begins; always told */
};
enum lab_event_phase { LAB_EVENT_MOMENT, LAB_EVENT_BEGINS, LAB_EVENT_ENDS };

#define LAB_EVENT_NOBODY UINT32_MAX
struct lab_told_event {
    int64_t since_ns; /* virtual, since the start of the run */
    enum lab_event_kind kind;
    enum lab_event_phase phase;
    uint32_t agent, node; /* LAB_EVENT_NOBODY: of none */
    uint32_t operation;   /* of the agent, among those that it has under way; of what begins and ends */
    const char *key;      /* "": of none */
    const char *text;     /* "": nothing more is to be said than that it ended */
};

/* Takes the events of a cluster run: as lines that begin with the virtual time, or as they are. Strategies
 * then run one after the other. */
struct lab_event_trace {
    void *context;
    void (*line)(void *context, const char *text); /* or */
    void (*event)(void *context, const struct lab_told_event *event);
    /* Those from from_ns on, to before until_ns (0: to the end), of these kinds (bit k: kind k; 0: all), of
     * this agent or of none. */
    int64_t from_ns, until_ns;
    uint32_t kinds, agent;
    bool is_of_agent;
    bool is_record;       /* `line` gets a history (docs/judge.md), whole, in place of what is for people */
    const char *key;      /* this key's events alone, and the faults; NULL: everything */
    uint64_t first, last; /* numbers of the events to tell of raw, from 1; 0: none. "event N: what it is", and
                             then what it means */
};

/* Each pointer may be NULL. All of it is the caller's and outlives the run. */
struct lab_run_context {
    struct lab_progress *progress;
    const struct lab_event_trace *event_trace; /* who listens */
    const struct lab_team *team;               /* other ranks that may do parts of the run (lab/team.h) */
    struct lab_snapshots *snapshots;           /* where states of the run are kept (lab/snapshot.h) */
    bool only_judges; /* the caller reads verdicts alone: of a cluster run's metrics are made only those of
                         rows that were refused or are unresolved, and no views */
    bool tells_all;   /* each oracle is told of all that happens, of what cannot concern it too: for a test */
};
static inline bool lab_run_is_stopped(const struct lab_run_context *context)
{
    return lab_is_stopped(context->progress);
}
/* Sets the error of a run that was stopped; returns false. */
static inline bool lab_fail_stopped(struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT, "stopped before the end; nothing was stored");
}

#endif
