/* SPDX-License-Identifier: MIT */
/* A counter of the rows that fired, next to the bucket in the state row: what single, locked and three-state
 * share (guarded weighs rows alike, and counts them elsewhere).
 *
 * A row that fired is counted once it is stored. With BK_COUNTER_RMW the state is read afresh and written
 * back plus one; with BK_COUNTER_LWT it is compared and set, from the copy at first; with BK_COUNTER_COLUMN
 * the row is added to a counter of the database, whose total is then read, and the state row keeps the total
 * at the last roll. What is written then, and how the bucket is raised, is the protocol's own.
 *
 * With a greatest age the state tells when each bucket began, and so at which line it ends. A row from beyond
 * that line, and the first row of a key, writes the state before it is put, by the same steps. So whatever
 * copy of the state an agent holds, no row from beyond a bucket's line goes there. */
#ifndef BUCKETING_COUNTED_H
#define BUCKETING_COUNTED_H

#include "operation.h"

enum counted_step {
    COUNTED_FRESH = STEP_OF_PROTOCOL, /* reads the state again, to count on it */
    COUNTED_ADD,                      /* BK_COUNTER_COLUMN: adds the row's weight, */
    COUNTED_TOTAL,                    /* and reads what they come to */
    COUNTED_WRITE,                    /* the counter, and the roll where it is due */
    STEP_OF_COUNTED                   /* where the steps of the protocol itself begin */
};

/* protocol->write, read, placed, view, fill and outcome; placed counts the row if it fired. Fill and outcome
 * are those of enum counted_step; they call protocol->count and written. */
void bk_counted_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_counted_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_counted_placed(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
bool bk_counted_view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                     bool *is_changing);
void bk_counted_fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out);
void bk_counted_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                        const struct bk_outcome *outcome);
/* A conditional write has lost against another; what holds now is taken over. */
bool bk_counted_has_lost(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome);

/* The line at which the newest bucket ends; INT64_MAX: at none. */
int64_t bk_counted_line(const struct bk_agent *agent, const struct known *known);
/* The row lies beyond the line of the newest bucket, and the operation writes the next one first. */
bool bk_counted_crosses_line(struct bk_agent *agent, struct operation *operation);
/* protocol->route: the row goes to the newest known bucket, or crosses its line. */
void bk_counted_route(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* The row's weight, which is above 0 when it fires. */
void bk_counted_weigh(const struct bk_agent *agent, struct operation *operation);
/* Rows counted since the last roll: without this row, and with it. */
int64_t bk_counted_before_row(const struct bk_agent *agent, const struct operation *operation);
int64_t bk_counted_with_row(const struct bk_agent *agent, const struct operation *operation);
/* What the state's counter is set to when `count` rows have been counted in the bucket. */
int64_t bk_counted_stored_as(const struct bk_agent *agent, const struct operation *operation, int64_t count);
/* By the settings of the time of the operation's row. */
bool bk_counted_is_full(const struct bk_agent *agent, const struct operation *operation, int64_t count);
/* That, and there is a next bucket. */
bool bk_counted_may_roll(const struct bk_agent *agent, const struct operation *operation, int64_t count);
/* The row stands in the newest bucket. One that went to an older bucket neither counts for a new one nor
 * closes it: so none is closed that holds no row. Nor does any row where the state is gone that tells the
 * line. */
bool bk_counted_stands_here(const struct bk_agent *agent, const struct operation *operation);
/* The plan writes what is known with this row counted; of a counter column it writes nothing. */
void bk_counted_plan(const struct bk_agent *agent, struct operation *operation, int64_t count);
/* The same of a row in the newest bucket, and *count is what it makes; any other row ends the operation:
 * false. */
bool bk_counted_plan_row(struct bk_agent *agent, struct operation *operation, int64_t *count);
/* The plan writes the next bucket, which begins now. */
void bk_counted_plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* Writes the plan, or has nothing to write and ends. */
void bk_counted_write_plan(struct operation *operation);
/* The plan is stored, so the agent knows the new state without reading it. */
void bk_counted_keep_written(struct bk_agent *agent, struct operation *operation, int64_t now_ns);

#endif
