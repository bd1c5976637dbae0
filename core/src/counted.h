/* SPDX-License-Identifier: MIT */
/* A counter of the rows that fired, stored next to the bucket in the state row: code that single, locked and
 * three-state share. (guarded weighs rows in the same way, but counts them elsewhere.)
 *
 * A row that fired is counted once it is stored. With BK_COUNTER_RMW the state is read again and written back
 * with the row's weight added. With BK_COUNTER_LWT it is updated by compare-and-set, first from the cached
 * copy. With BK_COUNTER_COLUMN the row is added to a counter column, whose total is then read; the state row
 * has the total at the last roll. Each protocol decides what is written then, and how the bucket is raised.
 *
 * With a greatest age, the state has the time at which the newest bucket began, and thereby the line at which
 * it ends. A row with a time at or after that line, and the first row of a key, write the state before the
 * row is put, by the same steps. So whatever copy of the state an agent has, no row after a bucket's line is
 * put into that bucket. */
#ifndef BUCKETING_COUNTED_H
#define BUCKETING_COUNTED_H

#include "operation.h"

enum counted_step {
    COUNTED_FRESH = STEP_OF_PROTOCOL, /* reads the state again, before counting */
    COUNTED_ADD,                      /* BK_COUNTER_COLUMN: adds the row's weight */
    COUNTED_TOTAL,                    /* BK_COUNTER_COLUMN: reads the total */
    COUNTED_WRITE,                    /* writes the counter, and the roll if it is due */
    STEP_OF_COUNTED                   /* the first step of the protocol itself */
};

/* Functions for the table of a protocol: write, read, placed, view, fill and outcome. placed counts the row
 * if it fired. fill and outcome handle the steps of enum counted_step, and call protocol->count and
 * protocol->written. */
void bk_counted_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_counted_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_counted_placed(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
bool bk_counted_view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                     bool *is_changing);
void bk_counted_fill(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out);
void bk_counted_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                        const struct bk_outcome *outcome);
/* Whether a conditional write of the counter (BK_COUNTER_LWT) was not applied, since another agent's was; if
 * so, learns the current state from the outcome. */
bool bk_counted_has_lost(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                         const struct bk_outcome *outcome);

/* The line at which the newest bucket ends; INT64_MAX: there is none. */
int64_t bk_counted_line(const struct bk_agent *agent, const struct known *known);
/* If the first settings have no greatest age, later ones have none either. */
static inline bool bk_counted_has_lines(const struct bk_agent *agent)
{
    return agent->config.history.eras[0].strategy.max_age_ns != 0;
}
bool bk_counted_cross_line(struct bk_agent *agent, struct operation *operation);
/* Whether the row's time is at or after the line of the newest bucket; if so, the operation writes the next
 * bucket first. */
static inline bool bk_counted_crosses_line(struct bk_agent *agent, struct operation *operation)
{
    return bk_counted_has_lines(agent) && bk_counted_cross_line(agent, operation);
}
/* protocol->route: routes the row to the newest known bucket, or handles a row after its line. */
void bk_counted_route(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* Sets the operation's weight, which is above 0 if the row fires. */
void bk_counted_weigh(const struct bk_agent *agent, struct operation *operation);
/* The count since the last roll: without this row, and with it. */
int64_t bk_counted_before_row(const struct bk_agent *agent, const struct operation *operation);
int64_t bk_counted_with_row(const struct bk_agent *agent, const struct operation *operation);
/* The value of the state's counter when the count of the bucket is `count`. */
int64_t bk_counted_stored_as(const struct bk_agent *agent, const struct operation *operation, int64_t count);
/* Whether the bucket is full with this count, by the settings at the time of the operation's row. */
bool bk_counted_is_full(const struct bk_agent *agent, const struct operation *operation, int64_t count);
/* Whether the bucket is full, and there is a next bucket. */
bool bk_counted_may_roll(const struct bk_agent *agent, const struct operation *operation, int64_t count);
/* Whether the row is in the newest bucket. A row in an older bucket neither counts for a new bucket nor
 * closes it, so no bucket without rows is closed. With a greatest age, no row counts if the state row, which
 * has the line, is missing. */
bool bk_counted_stands_here(const struct bk_agent *agent, const struct operation *operation);
/* Plans to write the known state with this row counted; with a counter column, nothing. */
void bk_counted_plan(const struct bk_agent *agent, struct operation *operation, int64_t count);
/* As bk_counted_plan(), for a row in the newest bucket, and sets *count to the new count. For any other row
 * it ends the operation and returns false. */
bool bk_counted_plan_row(struct bk_agent *agent, struct operation *operation, int64_t *count);
/* Plans to write the next bucket, which begins now. */
void bk_counted_plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* Writes the plan, or ends the operation if there is nothing to write. */
void bk_counted_write_plan(struct operation *operation);
/* Called when the plan was stored: the agent knows the new state without reading it. */
void bk_counted_keep_written(struct bk_agent *agent, struct operation *operation, int64_t now_ns);

#endif
