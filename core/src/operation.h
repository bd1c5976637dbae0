/* SPDX-License-Identifier: MIT */
/* The life of an operation, and what all protocols need for their part of it.
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
 * Before each of its questions it may be PARKED, while another operation asks for the same key, or asleep. */
#ifndef BUCKETING_OPERATION_H
#define BUCKETING_OPERATION_H

#include "protocol.h"

/* A conditional update that has lost this often in a row is given up: others are at it. */
#define CAS_TRIES_MAX 64u

/* On to another step. */
void bk_operation_go(struct operation *operation, uint32_t step);
void bk_operation_finish(struct operation *operation, enum bk_operation_status status);
/* The same action again, after a pause when it was refused; false when that was the last try. */
bool bk_operation_try_again(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                            bool is_unknown, uint32_t retries);
/* After an action that failed: again, or, the row being stored all the same, its end without a copy of a
 * state that nobody has confirmed. */
void bk_operation_try_again_or_end(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                                   bool is_unknown, uint32_t retries);
/* Takes what the host found out about the action under way. */
void bk_operation_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome);
/* Fills the action of the operation's step. */
void bk_operation_fill(const struct bk_agent *agent, const struct operation *operation,
                       struct bk_action *out);

static inline bool bk_outcome_is_unknown(const struct bk_outcome *outcome)
{
    return (unsigned)outcome->kind >= BK_OUTCOME_UNKNOWN;
}

/* Writes: by the cached state, or else by the one that is then read. */
void bk_operation_find_bucket(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* The row goes to the newest bucket that is known. */
void bk_operation_route_newest(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* Reads: others may have begun a bucket since this agent looked, so the state is asked for the newest one. */
void bk_operation_look(struct bk_agent *agent, struct operation *operation, int64_t now_ns);

/* The state row as the outcome tells it; false when nobody can have stored it. */
bool bk_operation_read_known(const struct bk_outcome *outcome, int64_t asked_ns, struct known *out);
/* Into the operation, and into the cache unless it holds something newer. */
void bk_operation_learn(struct bk_agent *agent, struct operation *operation, const struct known *state,
                        int64_t now_ns);
/* The whole state row as the step under way has just stored it. */
void bk_operation_stored(const struct operation *operation, struct known *out);
/* Plans to write the next bucket, from what is known. */
void bk_operation_plan_raise(struct operation *operation, int64_t now_ns);
/* The columns that the plan writes: of a new row all. */
uint32_t bk_operation_written_mask(const struct operation *operation);
/* The action that writes the plan: on the condition that the state is as known, or plainly. */
void bk_operation_fill_write(const struct operation *operation, bool is_conditional, struct bk_action *out);

/* now + times x span, or the last time that is one. */
int64_t bk_agent_saturating_add(int64_t now_ns, uint64_t times, int64_t span_ns);
/* Between half and one and a half of the mean, other for each agent and wait, so that contenders part. */
int64_t bk_agent_spread(const struct bk_agent *agent, int64_t mean_ns, uint32_t nth);

/* turns.c: the operations on one key that ask for others, are parked, or are about its lock row, in the order
 * of their numbers. Each call costs the number of these at most, of all keys of the same hash. */
/* An operation has moved. Only where there are lists. */
void bk_turns_update(struct bk_agent *agent, uint32_t number);
struct operation *bk_turns_first(struct bk_agent *agent, uint64_t key); /* NULL: none */
struct operation *bk_turns_next(struct bk_agent *agent, const struct operation *operation);
/* Whether the operation asks for what all of the agent's on its key need. */
bool bk_turns_asks(const struct bk_agent *agent, const struct operation *operation);
/* Another operation on its key does, so that this one is to wait for it. */
bool bk_turns_is_taken(struct bk_agent *agent, const struct operation *operation);
/* Another operation is about its key's lock row. */
bool bk_turns_is_locking(struct bk_agent *agent, const struct operation *operation);

#endif
