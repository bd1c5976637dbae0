/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The world that is explored. Everything that a state is made of is interned: an agent's memory with its
 * requests, a store, a set of late requests has a number, and equal ones have the same number. A state is a
 * few such numbers. Whatever happens concerns one agent or one store, so its result is computed once by the
 * core, and looked up from then on (Holzmann's collapse compression, with a memo of transitions):
 *
 *     state   = agents' numbers, store's number, late requests' number, tick, faults left
 *     effect  : store x request            -> store x answer
 *     step    : agent x event x tick       -> agent x what it acknowledged, x requests that it abandoned
 *
 * Every step begins with bk_agent_load() of the agent's checkpoint and ends with bk_agent_save(), so the
 * search also shows that an agent may be stopped and loaded between any two events. */
#ifndef EXPLORE_WORLD_H
#define EXPLORE_WORLD_H

#include "explore/explore.h"

#define OPERATIONS_MAX 4u
#define BUCKETS_MAX    8u
#define LATE_MAX       6u
#define MOVES_MAX      96u
#define NONE           UINT32_MAX
/* How many bits the numbers of a state need: a pool has no more items. */
#define STORE_BITS         21u
#define LATE_BITS          16u
#define AGENT_BITS(agents) ((agents) < 4 ? 21u : 18u)

/* A state. The agents are in the order of their hashes, since they are alike. */
struct world {
    uint32_t agents[EXPLORE_AGENTS_MAX];
    uint32_t store, late;
    uint8_t tick, reads, faults;
};

struct move {
    enum explore_move_kind kind;
    uint8_t agent, operation; /* of LATE_EFFECT: its place in the set */
    uint8_t row;
    bool is_late;
    uint32_t action;
    struct world to;
};

struct space;

/* Makes the world of a config, and its first states. NULL with an error. */
struct space *explore_space(const struct explore_config *config, struct sim_error *error);
void explore_space_free(struct space *space);
/* The initial states: one for each combination of the agents' clocks. Returns their number. */
size_t explore_roots(struct space *space, struct world *roots, size_t capacity);
/* All moves from a state, in an order that depends only on the state's contents. May be called by several
 * threads. is_whole: without the reduction by partial order. Returns their number, or SIZE_MAX when a table
 * is full, or the memo needs more room. */
size_t explore_moves(struct space *space, const struct world *from, bool is_whole, struct move *out);
/* Gives the memo more room, if it needs it; no other thread may be at work. Returns whether it did. */
bool explore_make_room(struct space *space);
uint64_t explore_fingerprint(const struct space *space, const struct world *world);
/* The guarantees that the state breaks: bit o, enum lab_oracle o. */
uint32_t explore_broken(const struct space *space, const struct world *world);
/* Says what is wrong in a state: sets out->text and out->newest. */
void explore_explain(const struct space *space, const struct world *world, struct explore_break *out);
/* Tells a move as a step. names: the agents' numbers in the order of from->agents; it becomes that of
 * to->agents. */
void explore_tell(const struct space *space, const struct world *from, const struct move *move,
                  uint8_t *names, struct explore_step *out);
/* Fills in what the world knows: judged, probes, memories and stores. */
void explore_fill(const struct space *space, struct explore_result *out);
bool explore_failed(const struct space *space, struct sim_error *error);

#endif
