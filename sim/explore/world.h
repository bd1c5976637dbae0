/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The world that is explored. Everything that a state is made of is interned: an agent's memory with its
 * requests, a store, a set of late requests has a number, and equal ones have the same number. A state is a
 * few such numbers. Whatever happens concerns one agent or one store, so its result is computed once by the
 * core, and looked up from then on (Holzmann's collapse compression, with a memo of transitions):
 *
 *     state   = agents' numbers, store's number, late requests' number, tick, reads, faults
 *     step    : agent x event    -> agent x note to the store
 *     effect  : store x request  -> store x answer
 *     noted   : store x note     -> store
 *
 * Every step begins with bk_agent_load() of the agent's checkpoint and ends with bk_agent_save(), so the
 * search also shows that an agent may be stopped and loaded between any two events. */
#ifndef EXPLORE_WORLD_H
#define EXPLORE_WORLD_H

#include "explore/explore.h"

#define OPERATIONS_MAX 4u
#define BUCKETS_MAX    8u
#define MOVES_MAX      96u
/* An operation that makes more requests than this in a world of a few rows and faults never ends. */
#define REQUESTS_MAX 30u
/* How many bits the numbers of a state need. */
#define STORE_BITS         21u
#define LATE_BITS          16u
#define AGENT_BITS(agents) ((agents) < 4 ? 21u : 18u)

/* --- store.c: what is stored, and what is wrong with it. No struct that is interned has padding. */

/* Registers and rows. A write that takes effect wins over all earlier ones; a late one may take effect, and
 * win, after any later one, as when its coordinator was paused and dates it again (docs/mock.md). */
struct stored {
    int64_t state[BK_COLUMNS], lock[2], starts[BUCKETS_MAX], times[EXPLORE_ROWS_MAX];
    uint8_t counters[BUCKETS_MAX];     /* all but guarded use only the first */
    uint8_t buckets[EXPLORE_ROWS_MAX]; /* bit b: the row is stored in bucket b */
    uint8_t has_state, has_lock /* bits of their columns */, has_start /* bit b */, taken;
    uint8_t acknowledged;      /* bit r */
    uint8_t missed, stuck;     /* rows that a read missed; an agent has forgotten an operation */
    uint8_t overtaken;         /* rows that were put after one from beyond the next line had been taken */
    uint8_t refused, failed;   /* rows that were refused; operations that failed although all was well */
    uint8_t told, uncounted;   /* increments that agents know to be stored; rows whose increment none knows */
    uint8_t left[BUCKETS_MAX]; /* buckets that were left: 1, or 2 + its counted rows when these are too few */
    uint8_t unused;
};
struct answer {
    struct bk_outcome told;
    uint64_t seen; /* bit r: a read found row r */
};
/* What an agent's step tells the store. */
struct note {
    uint32_t late[OPERATIONS_MAX]; /* requests that may still take effect, numbers + 1 */
    uint8_t taken;                 /* the time of the row that it takes, in ticks; 0: none */
    uint8_t acknowledged, missed, refused, uncounted, told, failed, stuck;
};

/* The settings, and what is judged by them. */
struct rules {
    struct explore_config config;
    struct bk_row rows[EXPLORE_ROWS_MAX]; /* without their times */
    bool is_guarded, is_count, has_state, reads_are_judged;
    bool has_column; /* the counter is a counter column */
    bool is_certain; /* guarded, and no outcome is unknown */
    bool is_in_turn; /* one operation follows the other, and nothing fails */
    unsigned most;   /* rows that a bucket may hold; UINT_MAX: it is not judged */
    uint32_t judged; /* bit o: enum lab_oracle o */
};
bool explore_rules(const struct explore_config *config, struct rules *out, struct sim_error *error);
/* The guarantees that the store breaks. For a break of out->oracle, unless out is NULL, sets its text and
 * newest. */
uint32_t explore_judge(const struct rules *rules, const struct stored *store, struct explore_break *out);
/* A request takes effect. Sets *answer, which is zeroed, and returns the probes that it meets. */
uint32_t explore_perform(const struct rules *rules, struct stored *store, const struct bk_action *action,
                         struct answer *answer);

/* --- world.c: states. */

/* The agents are in the order of their hashes, since they are alike. */
struct world {
    uint32_t agents[EXPLORE_AGENTS_MAX];
    uint32_t store, late;
    uint8_t tick, reads, faults;
};
struct move {
    enum explore_move_kind kind;
    uint8_t agent, place; /* its place among the agents before and afterwards */
    uint8_t operation;    /* of LATE_EFFECT: its place in the set */
    struct world to;
};

struct space;
/* NULL with an error. */
struct space *explore_space(const struct explore_config *config, struct sim_error *error);
void explore_space_free(struct space *space);
/* The initial states: one for each combination of the agents' clocks. Returns their number, at most 15. */
size_t explore_roots(struct space *space, struct world *roots);
/* All moves from a state, in an order that depends only on the state's contents. May be called by several
 * threads. is_whole: without the reduction by partial order. Returns their number, or SIZE_MAX when a pool
 * is full, or the memo needs more room. */
size_t explore_moves(struct space *space, const struct world *from, bool is_whole, struct move *out);
/* Gives the memo more room, if it needs it; no other thread may be at work. Returns whether it did. */
bool explore_make_room(struct space *space);
/* 56 bits. */
uint64_t explore_fingerprint(const struct space *space, const struct world *world);
/* As explore_judge(), of a state. */
uint32_t explore_broken(const struct space *space, const struct world *world, struct explore_break *out);
/* Tells a move as a step. names: the agents' numbers in the order of from->agents; it becomes that of
 * to->agents. */
void explore_tell(struct space *space, const struct world *from, const struct move *move, uint8_t *names,
                  struct explore_step *out);
/* Fills in what the world knows: judged, probes, memories and stores. */
void explore_fill(const struct space *space, struct explore_result *out);
bool explore_failed(const struct space *space, struct sim_error *error);

#endif
