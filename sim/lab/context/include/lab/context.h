/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a run in addition to its scenario: its progress, observers, other ranks, and storage for its
 * partial results; and whether the files that a scenario reads have changed. */
#ifndef LAB_CONTEXT_H
#define LAB_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "lab/scenario.h"

struct lab_result;
struct lab_team;

/* The progress of a run, and the request to stop it. Written by the workers and read by the progress bar,
 * with relaxed memory order. */
struct lab_progress {
    _Atomic uint64_t done;  /* work done, in the unit of `total` */
    _Atomic uint64_t total; /* rows expected of a synthetic workload, bytes of a trace; 0 until known */
    _Atomic uint64_t rows;
    _Atomic uint64_t recalled; /* grows with steps that an earlier command has run: these take no time now */
    _Atomic(const char *)
        best;          /* label of the best strategy so far, which must outlive the work; NULL: none */
    _Atomic bool stop; /* set by the caller: the run ends soon with an error and no result */
    struct lab_progress *parent; /* its `stop` stops this run too; NULL: none */
};

static inline bool lab_is_stopped(const struct lab_progress *progress)
{
    while (progress != NULL && !atomic_load_explicit(&progress->stop, memory_order_relaxed))
        progress = progress->parent;
    return progress != NULL;
}

/* Notes a step that an earlier command has run, in the progress of the whole work. */
static inline void lab_recalled(struct lab_progress *progress)
{
    while (progress->parent != NULL)
        progress = progress->parent;
    atomic_fetch_add_explicit(&progress->recalled, 1, memory_order_relaxed);
}

/* Partial results of a run of the stream engine: the sum of the tallies of the keys that are done, and which
 * ones these are. The caller stores the newest one; the same run then begins with it, and does the other
 * keys. The sum is the same for any number of workers, and so is the result. */
struct lab_partial {
    /* Incremented by the caller, from any thread, to request a partial result: each worker adds what it has
     * done to the sum at the end of its current keys, and the first one of them puts the sum. */
    _Atomic uint32_t wish;
    /* Called from any thread, by one at a time; it reports its own failures. */
    void (*put)(void *context, const unsigned char *data, size_t size);
    void *context;
    const unsigned char *kept; /* the partial result from which the run resumes; NULL: none */
    size_t kept_size;
};

/* Whether a partial result is requested since `heard`. partial may be NULL. */
static inline bool lab_partial_is_asked(const struct lab_partial *partial, uint32_t heard)
{
    return partial != NULL && atomic_load_explicit(&partial->wish, memory_order_relaxed) != heard;
}

/* The kinds of events in the event trace of a cluster run. */
#define LAB_EVENT_MAP(X)                                                                                     \
    X(ROWS, "rows")             /* a row, from when an agent gets it until its operation ends */             \
    X(READS, "reads")           /* a read, from its beginning to its end */                                  \
    X(REQUESTS, "requests")     /* requests of agents to the cluster, and their outcomes */                  \
    X(STATE, "state")           /* a key's bucket changes, or an agent gets new settings */                  \
    X(FAULTS, "faults")         /* faults that begin and end, and restarts of agents */                      \
    X(VIOLATIONS, "violations") /* violations of oracles */
enum lab_event_kind {
#define LAB_EVENT_ENUM(name, text) LAB_EVENT_OF_##name,
    LAB_EVENT_MAP(LAB_EVENT_ENUM)
#undef LAB_EVENT_ENUM
        LAB_EVENT_KIND_COUNT,
    LAB_EVENT_OF_RUN = LAB_EVENT_KIND_COUNT /* a strategy begins; always reported */
};
enum lab_event_phase { LAB_EVENT_MOMENT, LAB_EVENT_BEGINS, LAB_EVENT_ENDS };

#define LAB_EVENT_NOBODY UINT32_MAX
struct lab_told_event {
    int64_t since_ns; /* virtual, since the start of the run */
    enum lab_event_kind kind;
    enum lab_event_phase phase;
    uint32_t agent, node; /* LAB_EVENT_NOBODY: the event has no agent, or no node */
    uint32_t operation;   /* number of the agent's operation; only for events that begin or end */
    const char *key;      /* "": the event has no key */
    const char *text;     /* "": an end without further information */
};

/* Receives the events of a cluster run, either as lines that begin with the virtual time, or as structs. With
 * an event trace, strategies run one after the other. */
struct lab_event_trace {
    void *context;
    void (*line)(void *context, const char *text); /* or */
    void (*event)(void *context, const struct lab_told_event *event);
    /* Selects events from from_ns to before until_ns (0: the end of the run), of these kinds (bit k: kind k;
     * 0: all) and, if is_of_agent, of this agent or of no agent. */
    int64_t from_ns, until_ns;
    uint32_t kinds, agent;
    bool is_of_agent;
    bool is_record;       /* `line` gets a complete history (docs/live.md) instead of readable lines */
    const char *key;      /* only the events of this key, and faults; NULL: all events */
    uint64_t first, last; /* numbers of the events to report in full, from 1; 0: none. Each is a line "event
                             N: ..." before its readable lines */
};

/* Each pointer may be NULL. All objects are owned by the caller, and must outlive the run. */
struct lab_run_context {
    struct lab_progress *progress;
    const struct lab_event_trace *event_trace; /* observer of the run's events */
    const struct lab_team *team;               /* other ranks that may do parts of the run (lab/team.h) */
    struct lab_partial *partial;               /* of a run of the stream engine  */
    struct lab_result **known; /* of a cluster run without other ranks: by strategy, the result of a run of
                                  this strategy alone, which this run takes over; NULL: none */
    bool only_judges;  /* the caller only reads verdicts: a cluster run then computes no views, no latencies,
                          and only the metrics of refused and unresolved rows */
    bool no_latencies; /* a cluster run computes neither views nor latencies, but all other metrics */
    uint32_t
        stops_at; /* bits 1 << enum lab_oracle: a cluster run ends at the first violation of one of these */
    uint64_t stops_at_rows; /* or as soon as a partition has this many rows; 0: never. Then its result has
                               only the violations so far, and the partition as one above a limit */
};
static inline bool lab_run_has_latencies(const struct lab_run_context *context)
{
    return !context->only_judges && !context->no_latencies;
}
static inline bool lab_run_is_stopped(const struct lab_run_context *context)
{
    return lab_is_stopped(context->progress);
}
/* Sets the error of a run that was stopped; returns false. */
static inline bool lab_fail_stopped(struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT, "stopped before the end; nothing was stored");
}

/* A hash of the files that the scenario reads (a trace, observed sizes); 0 when there are none.
 * SIM_ERROR_INPUT when one cannot be read. */
bool lab_sources(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error);

#endif
