/* SPDX-License-Identifier: MIT */
/* The life of an operation, and the functions that all protocols share.
 *
 *     write                                      read
 *       | protocol->write()                        | protocol->read()
 *       +--- knows too little ---> LOOK or steps --+--- of the protocol
 *       |                                          |
 *      PUT   again into the same bucket           ROWS   as often as the read plan says
 *       |                                          |
 *       | the row is acknowledged                  |
 *       | protocol->placed(): steps of             |
 *       | the protocol that count and roll         |
 *       |                                          |
 *      DONE ---> free                             DONE ---> free
 *
 * Before each action it may be PARKED while another operation of the agent requests the same key, or asleep
 * before a retry. */
#ifndef BUCKETING_OPERATION_H
#define BUCKETING_OPERATION_H

#include "protocol.h"

/* After this many lost conditional updates in a row the operation gives up and leaves the change to its
 * contenders. */
#define CAS_TRIES_MAX 64u

/* Moves the operation to another step. */
static inline void bk_operation_go(struct operation *operation, uint32_t step)
{
    operation->step = step;
    operation->tries = 0;
    operation->is_retry = false;
}

static inline void bk_operation_finish(struct operation *operation, enum bk_operation_status status)
{
    bk_operation_go(operation, STEP_DONE);
    operation->status = status;
}

/* Repeats the action, after a pause if it was refused; false: no retries are left. */
bool bk_operation_try_again(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                            bool is_unknown, uint32_t retries);
/* Repeats an action that failed, or else ends the operation: its row is stored in any case. An unconfirmed
 * copy of the state is then dropped from the cache. */
void bk_operation_try_again_or_end(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                                   bool is_unknown, uint32_t retries);
/* Handles the outcome of the action under way. */
void bk_operation_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome);
/* Fills the action of the operation's step, which is not STEP_DONE. */
void bk_operation_fill(const struct bk_agent *agent, const struct operation *operation,
                       struct bk_action *out);

static inline bool bk_outcome_is_unknown(const struct bk_outcome *outcome)
{
    return (unsigned)outcome->kind >= BK_OUTCOME_UNKNOWN;
}

/* For writes: finds the bucket by the cached state, or reads the state first. */
void bk_operation_find_bucket(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* Routes the row to the newest known bucket. */
void bk_operation_route_newest(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* For reads: reads the state first, since others may have begun a bucket since this agent's last look. */
void bk_operation_look(struct bk_agent *agent, struct operation *operation, int64_t now_ns);

/* Converts the outcome of a read to a state row; false when it cannot have been stored. */
bool bk_operation_read_known(const struct bk_outcome *outcome, int64_t asked_ns, struct known *out);
/* Stores the state in the operation, and in the cache unless the cache has a newer one. */
void bk_operation_learn(struct bk_agent *agent, struct operation *operation, const struct known *state,
                        int64_t now_ns);
/* The complete state row that the current step has just stored. */
void bk_operation_stored(const struct operation *operation, struct known *out);
/* Plans to write the next bucket, from the known state. */
void bk_operation_plan_raise(struct operation *operation, int64_t now_ns);
/* The columns that the plan writes; all columns for a new row. */
uint32_t bk_operation_written_mask(const struct operation *operation);
/* Fills the action that writes the plan: on the condition that the state is as known, or without a
 * condition. */
void bk_operation_fill_write(const struct operation *operation, bool is_conditional, struct bk_action *out);

/* now + times x span, or INT64_MAX - 1 where that would overflow. */
int64_t bk_agent_saturating_add(int64_t now_ns, uint64_t times, int64_t span_ns);
/* A pseudorandom wait from 0.5 to 1.5 times the mean, different for each agent and wait, so that contenders
 * do not collide again. */
int64_t bk_agent_spread(const struct bk_agent *agent, int64_t mean_ns, uint32_t nth);

/* turns.c: lists of the operations on a key that send requests for others, are parked, or access the key's
 * lock row, in the order of their numbers. The cost of a call is at most linear in the number of these
 * operations, of all keys with the same hash. */
/* Updates the lists after an operation has changed its step; only for agents that have such lists. */
void bk_turns_update(struct bk_agent *agent, uint32_t number);
struct operation *bk_turns_first(struct bk_agent *agent, uint64_t key); /* NULL: none */
struct operation *bk_turns_next(struct bk_agent *agent, const struct operation *operation);
/* Whether the operation sends requests on behalf of all of the agent's operations on its key. */
bool bk_turns_asks(const struct bk_agent *agent, const struct operation *operation);
/* Whether another operation on its key does so, so that this one must wait. */
bool bk_turns_is_taken(struct bk_agent *agent, const struct operation *operation);
/* Whether another operation is reading or writing its key's lock row. */
bool bk_turns_is_locking(struct bk_agent *agent, const struct operation *operation);

#endif
