/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Explores every schedule of a small world: the agents of the core, unchanged, over a store of a few
 * registers.
 *
 * A state of the world is the agents' memories, the store, the requests under way and the time. From each
 * state, every event that could come next is tried: a row or a read begins, a request takes effect, an answer
 * arrives, an answer is lost, an agent crashes, time passes. The search is breadth first, so the first path
 * that breaks a guarantee is one of the shortest. The same settings give the same result on any machine and
 * with any number of threads, unless the search ends early. */
#ifndef EXPLORE_EXPLORE_H
#define EXPLORE_EXPLORE_H

#include <stdio.h>

#include "bucketing/agent.h"
#include "kernel/error.h"
#include "lab/oracle.h"

#define EXPLORE_AGENTS_MAX 4u
#define EXPLORE_ROWS_MAX   8u
#define EXPLORE_READS_MAX  3u
#define EXPLORE_TICKS_MAX  15u
#define EXPLORE_FAULTS_MAX 9u
/* All times of a world are multiples of a tick. */
#define EXPLORE_TICK_NS INT64_C(1000000000)
/* Tick 0, so that no time is 0 or below, which the core takes for "none". */
#define EXPLORE_FIRST_NS (8 * EXPLORE_TICK_NS)

/* What may go wrong. Each event of all kinds but the last uses up one of `faults`. */
#define EXPLORE_FAULT_MAP(X)                                                                                 \
    X(LOST, "lost")       /* a request takes no effect, and its outcome is unknown */                        \
    X(LATE, "late")       /* its outcome is unknown, and it takes effect at any later time, or never */      \
    X(UNKNOWN, "unknown") /* it takes effect, but its outcome is unknown */                                  \
    X(REFUSED, "refused") /* it is refused, and takes no effect */                                           \
    X(CRASH, "crash")     /* an agent loses its memory; its requests may take effect later, or never */      \
    X(PAUSE, "pause")     /* time passes although an agent has an answer to hear */                          \
    X(GONE, "gone")       /* the state row is lost */                                                        \
    X(SKEW, "skew")       /* each agent's clock is a tick behind, right or a tick ahead */

enum explore_fault {
#define EXPLORE_FAULT_ENUM(name, text) EXPLORE_##name,
    EXPLORE_FAULT_MAP(EXPLORE_FAULT_ENUM)
#undef EXPLORE_FAULT_ENUM
        EXPLORE_FAULT_COUNT
};

/* What an exploration must have met at least once, or it shows nothing. */
#define EXPLORE_PROBE_MAP(X)                                                                                 \
    X(ROLLED, "a key rolled")                                                                                \
    X(RACED, "two agents changed the state at the same time")                                                \
    X(TOOK_LATE, "a request took effect after its agent had given it up")                                    \
    X(READ, "a read found rows")                                                                             \
    X(CRASHED, "an agent crashed")

enum explore_probe {
#define EXPLORE_PROBE_ENUM(name, text) EXPLORE_PROBE_##name,
    EXPLORE_PROBE_MAP(EXPLORE_PROBE_ENUM)
#undef EXPLORE_PROBE_ENUM
        EXPLORE_PROBE_COUNT
};

/* The time of the last row: by its agent's clock; of tick 0; or a tick ahead of the clock. */
enum explore_row_time { EXPLORE_ROW_NOW, EXPLORE_ROW_OLD, EXPLORE_ROW_AHEAD };

struct explore_config {
    struct bk_agent_config agent; /* of all agents; times are multiples of EXPLORE_TICK_NS */
    uint32_t agents, rows, reads; /* how many there are */
    uint32_t fires;               /* bit r: row r fires */
    uint64_t threshold;           /* of the strategy; BK_KIND_COUNT: its rows */
    uint64_t then;                /* the threshold for rows from the first second on; 0: the same */
    enum explore_row_time last_row;
    uint32_t ticks;  /* time passes this often */
    uint32_t faults; /* the most faults of a path */
    uint32_t may;    /* bit f: enum explore_fault f */
    bool is_whole;   /* tries each order of events, even of those whose order no other agent can see */
    uint32_t threads;
    uint64_t states_max;
    size_t memory_bytes; /* of the table of states */
};

/* A step of a path. */
enum explore_move_kind {
    EXPLORE_TICK,       /* time passes */
    EXPLORE_WRITE,      /* an agent takes the next row */
    EXPLORE_READ,       /* an agent begins a read of all rows */
    EXPLORE_EFFECT,     /* a request takes effect */
    EXPLORE_ANSWER,     /* the agent hears its outcome */
    EXPLORE_GIVE_UP,    /* the agent hears that the outcome is unknown */
    EXPLORE_REFUSE,     /* the agent hears that it was refused */
    EXPLORE_WAKE,       /* an agent's wait is over */
    EXPLORE_DIES,       /* an agent crashes and starts again */
    EXPLORE_STATE_GONE, /* the state row is lost */
    EXPLORE_LATE_EFFECT
};
struct explore_step {
    enum explore_move_kind kind;
    uint32_t agent, operation; /* agents have the same numbers in all steps of a path */
    uint32_t tick;
    uint32_t number;           /* of the row or read, from 0 */
    struct bk_row row;         /* WRITE; READ: `sequence` is the newest row's */
    struct bk_action action;   /* if it has one */
    struct bk_outcome outcome; /* of EFFECT and LATE_EFFECT: what the store answers; of ANSWER */
    bool is_late;              /* GIVE_UP: the request may still take effect */
    uint32_t acknowledged;     /* bit r: the agent acknowledges row r now */
    int64_t offset_ns;         /* of the agent's clock */
};

/* A guarantee that was broken, with one of the shortest paths to it. */
struct explore_break {
    enum lab_oracle oracle;
    uint32_t steps;
    uint32_t newest; /* of `newest`: a read of this many rows gets other rows than the newest; else 1 */
    struct explore_step *path;
    char text[200]; /* what is wrong in the last state */
};

struct explore_result {
    uint64_t states, transitions, frontier; /* frontier: states that were reached and not expanded */
    uint32_t depth;
    bool is_complete;          /* every state was expanded */
    uint32_t probes;           /* bit p: enum explore_probe p */
    uint32_t requests;         /* the most that one operation made, in all states that were reached */
    uint64_t request_digest;   /* of all different requests that agents made, and of how long they waited */
    uint64_t memories, stores; /* how many different ones of agents and of the store there are */
    uint32_t judged;           /* bit o: enum lab_oracle o was asked about every state */
    uint32_t broken_count;
    struct explore_break broken[LAB_ORACLE_COUNT];
};

/* Called now and then, by any thread; false: stop. */
typedef bool explore_progress(void *context, const struct explore_result *so_far);

/* Explores. False with an error when the settings fit no world or memory runs out. */
bool explore_run(const struct explore_config *config, explore_progress *progress, void *context,
                 struct explore_result *out, struct sim_error *error);
void explore_result_free(struct explore_result *result);

/* --- path.c */
/* Sets config->agent to a protocol with config->threshold, by its name in guarantees (lab_protocol_name())
 * and, unless NULL, how its counter is kept: "rmw", "lwt" or "counter". False when there is no such protocol.
 * The settings of time are the core's defaults. */
bool explore_find_protocol(const char *name, const char *counter, struct explore_config *config);
/* Prints step i as a sentence without its agent; nothing when it needs no telling. */
void explore_print_step(const struct explore_config *config, const struct explore_break *broken, uint32_t i,
                        FILE *out);
/* Whether such a step has an action. */
bool explore_has_request(enum explore_move_kind kind);
/* Whether an agent takes the step; else it is one of time or of the store. */
bool explore_is_of_agent(const struct explore_step *step);
/* Prints a path, a step per line, and what is wrong at its end. */
void explore_print_path(const struct explore_config *config, const struct explore_break *broken, FILE *out);
/* Prints a path as a history (docs/live.md), and the scenario with which it is judged. */
void explore_history(const struct explore_config *config, const struct explore_break *broken, FILE *out);
void explore_scenario(const struct explore_config *config, const struct explore_break *broken, FILE *out);

#endif
