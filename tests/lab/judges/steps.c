/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the next action of an operation. core's agent.h specifies the sequence of actions of each
 * protocol. This is a second implementation of that text, which judges each step separately: the last action,
 * its outcome, and the next action. A failed action is repeated exactly as often as is set. The values that
 * are written follow from the values that were read. No condition excuses a wrong step, because each step
 * follows from what its agent received. If a step depends on what the agent may have forgotten, or has
 * learned from its other operations, it is not judged. */
#include "judges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An operation begins again at most this many times after a lost update, or for a key that was evicted. */
#define ANEW_MAX    64u
#define BIT(column) (UINT32_C(1) << (column))
#define NOT_KNOWN   UINT64_MAX
/* Of a row, without failures: locked has the most of them. */
#define MOST_REQUESTS 9u

/* A step: the outcome of an operation's last action, and the agent's next action. */
struct step {
    struct lab_cluster_run *run;
    uint32_t agent;
    struct lab_host_operation *operation;
    const struct bk_outcome *heard;
    const struct bk_action *next;
};

static void violate(const struct step *step, const char *what)
{
    judge_violate(step->run, step->operation->key, "agent %" PRIu32 ": %s %" PRIu64 " %s", step->agent,
                  step->operation->is_read ? "a read after row" : "row", step->operation->row, what);
}

static void demand(const struct step *step, bool is_fine, const char *otherwise)
{
    if (!is_fine)
        violate(step, otherwise);
}

static bool is_ended(const struct step *step)
{
    return step->next->kind == BK_ACT_DONE;
}

static bool is_counted_protocol(const struct lab_cluster_run *run)
{
    return lab_rows_fire(run) && run->config.coordination != BK_GUARDED;
}

static bool is_aged(const struct lab_cluster_run *run)
{
    return run->config.strategy.max_age_ns != 0;
}

static uint64_t threshold(const struct step *step)
{
    return bk_threshold(lab_agent_strategy(step->run, step->agent, step->operation->row_time_ns));
}

/* Returns whether new settings may have been deployed since the step was planned. */
static bool is_deployed_since(const struct step *step, int64_t since_ns)
{
    return of_agent(step->run, step->agent)->deployed_ns >= since_ns;
}

static bool is_full(const struct step *step, int64_t count)
{
    return count > 0 && (uint64_t)count >= threshold(step);
}

/* --- Tries. */

static bool has_locked(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    return own(run, operation)->lock.step != LAB_LOCK_NONE;
}

/* A conditional update of the count, or any write at a line; under `locked` that of a roll is none. */
static bool is_read_again(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    bool is_cas = operation->action == BK_ACT_CAS_STATE;
    if (!is_counted_protocol(run) || has_locked(run, operation))
        return false;
    return operation->is_acknowledged ? is_cas && operation->fires && run->config.counter == BK_COUNTER_LWT
                                      : is_cas || operation->action == BK_ACT_WRITE_STATE;
}

/* Returns the number of retries of the action after this outcome; UINT32_MAX if something other than the
 * number of tries decides. */
static uint32_t retries_of(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    const struct lab_agents *agents = &run->scenario->agents;
    bool is_unknown = operation->outcome.kind == BK_OUTCOME_UNKNOWN;
    switch (operation->action) {
    case BK_ACT_ADD_COUNTER:
        return is_unknown ? agents->counter_retries : agents->retries;
    case BK_ACT_CAS_STATE:
        return lab_contends_for_rows(run) ? agents->retries : UINT32_MAX;
    case BK_ACT_WRITE_STATE: /* under a lock, the end of the lock may come first */
        return run->config.coordination == BK_LOCKED ? UINT32_MAX : agents->retries;
    case BK_ACT_CAS_LOCK:
        return UINT32_MAX;
    default:
        return agents->retries;
    }
}

/* Returns whether the operation ends in the right way after a failed request that is not repeated. */
static bool is_end_right(const struct step *step)
{
    const struct lab_host_operation *operation = step->operation;
    enum bk_operation_status status = step->next->status;
    if (operation->is_read)
        return status == BK_OPERATION_REFUSED || status == BK_OPERATION_UNKNOWN;
    if (operation->is_acknowledged)
        return status == BK_OPERATION_OK;
    return status == (operation->was_unknown ? BK_OPERATION_UNKNOWN : BK_OPERATION_REFUSED);
}

/* After its last try an operation ends. But an operation that may have added to a counter for the row's
 * number reads the counter next, and an operation that may hold a lock releases it. */
static void judge_given_up(const struct step *step)
{
    const struct lab_host_operation *operation = step->operation;
    if (operation->action == BK_ACT_ADD_COUNTER && step->heard->kind == BK_OUTCOME_UNKNOWN &&
        step->run->config.source == BK_SOURCE_COUNTER)
        demand(step, step->next->kind == BK_ACT_READ_COUNTER, "may have its number but does not read it");
    else if (!has_locked(step->run, operation))
        demand(step, is_ended(step) && is_end_right(step),
               "has no try left but continues, or does not report a failure");
}

void lab_steps_tried(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next, bool is_again)
{
    const struct step step = {run, agent, operation, &operation->outcome, next};
    if (!lab_request_failed(run, operation) || operation->action == BK_ACT_DONE)
        return;
    if (is_read_again(run, operation) && operation->outcome.kind == BK_OUTCOME_UNKNOWN) {
        const struct lab_agents *agents = &run->scenario->agents;
        bool is_due = own(run, operation)->unknown_updates++ <
                      (operation->is_acknowledged ? agents->counter_retries : agents->retries);
        demand(&step, next->kind == (is_due ? BK_ACT_READ_STATE : BK_ACT_DONE),
               is_due ? "gives up a count before its last try"
                      : "counts again too often after an unknown outcome");
        return;
    }
    if (!is_again)
        judge_given_up(&step);
    uint32_t retries = retries_of(run, operation);
    if (retries == UINT32_MAX)
        return;
    if (own(run, operation)->tried < retries)
        demand(&step, is_again, "gives up a request before its last try");
    else if (own(run, operation)->tried <
             run->scenario->agents.retries) /* for more, waits.c counts the tries */
        demand(&step, !is_again, "adds again too often");
}

/* --- What is refused without a failure. */

static bool is_too_early(const struct step *step)
{
    const struct lab_cluster_run *run = step->run;
    int64_t clock_ns = lab_agent_clock_at(run, step->agent, step->operation->begun_ns);
    return run->config.coordination == BK_GUARDED &&
           step->operation->row_time_ns > lab_until(clock_ns, run->config.clock_bound_ns);
}

uint32_t lab_may_go_back(const struct lab_cluster_run *run)
{
    uint32_t lost = UINT32_C(1) << LAB_CONDITION_STATE_LOST;
    if (run->config.coordination == BK_GUARDED)
        lost |= UINT32_C(1) << LAB_CONDITION_WEAK_LEVELS | UINT32_C(1) << LAB_CONDITION_PAXOS_LOST;
    return lost;
}

/* The agent has heard of a grant that reaches beyond the time: one that holds it, or the start of a later
 * bucket. For a state that may have gone back this cannot be decided. */
static bool knows_beyond(const struct step *step, int64_t time_ns)
{
    const struct lab_cluster_run *run = step->run;
    const struct bk_agent *agent = run->agents[step->agent].agent;
    uint32_t key = step->operation->key;
    const int64_t *starts_ns = run->keys[key].changes;
    int64_t bucket;
    bool is_changing;
    if (lab_conditions_met(run, key) & lab_may_go_back(run))
        return true;
    bool is_known = bk_agent_view(agent, time_ns, key, &bucket, &is_changing);
    for (size_t i = run->keys[key].change_count; !is_known && i > 1 && starts_ns[i - 1] > time_ns; i--)
        is_known = bk_agent_view(agent, starts_ns[i - 1], key, &bucket, &is_changing);
    return is_known;
}

static void judge_begin(const struct step *step)
{
    const struct lab_host_operation *operation = step->operation;
    if (of_agent(step->run, step->agent)->disturbed_ns >= operation->begun_ns)
        return;
    if (!operation->is_read) {
        if (step->run->config.coordination == BK_GUARDED)
            demand(step, is_ended(step) == is_too_early(step),
                   is_ended(step) ? "is refused but is not ahead of the clock by more than the bound"
                                  : "is admitted but is ahead of the clock by more than the bound");
        return;
    }
    /* All rows that were acknowledged by now have earlier times: their agents' clocks are at most two bounds
     * ahead, and their rows one more. */
    int64_t until_ns = lab_until(lab_agent_clock_at(step->run, step->agent, operation->begun_ns),
                                 lab_times(3, step->run->config.clock_bound_ns));
    if (step->run->config.coordination == BK_GUARDED && step->next->kind == BK_ACT_READ_ROWS &&
        operation->read != LAB_READ_RANGE)
        demand(step, knows_beyond(step, until_ns), "requests rows without a known grant beyond all clocks");
}

/* With three states, a row may have waited for so long that the state does not determine its bucket any more:
 * for more than a lead, and by more than that it is older than the last change. */
static bool is_forgotten(const struct step *step)
{
    int64_t row_ns = lab_until(step->operation->row_time_ns, step->run->config.lead_ns);
    return step->operation->action != BK_ACT_READ_STATE || step->heard->kind != BK_OUTCOME_APPLIED ||
           (lab_agent_clock(step->run, step->agent) > row_ns &&
            step->heard->columns[BK_COLUMN_LAST_CHANGE] > row_ns);
}

/* Judges a row whose operation has just read the state. */
static void judge_forgotten(const struct step *step)
{
    const struct lab_cluster_run *run = step->run;
    const struct bk_action *next = step->next;
    if (step->operation->action == BK_ACT_READ_STATE && next->kind == BK_ACT_PUT_ROW && next->bucket > 0 &&
        run->config.lead_ns > 0 && of_agent(run, step->agent)->disturbed_ns < step->operation->begun_ns)
        demand(step, !is_forgotten(step), "is put although the state no longer determines its bucket");
}

static void judge_refusal(const struct step *step)
{
    const struct lab_host_operation *operation = step->operation;
    if (operation->is_read || !is_ended(step) || step->next->status != BK_OPERATION_REFUSED ||
        own(step->run, operation)->failures > 0 || operation->requests >= ANEW_MAX ||
        operation->action == BK_ACT_DONE)
        return;
    if (step->run->config.coordination == BK_THREE_STATE) {
        demand(step, is_forgotten(step), "is refused although the state determines its bucket");
        return;
    }
    /* An update also fails if the state row was lost. */
    if (operation->outcome.kind == BK_OUTCOME_NOT_APPLIED && operation->outcome.mask == 0)
        return;
    violate(step, "is refused although none of its requests failed");
}

/* --- Rows that fire, without grants. */

static void judge_placed(const struct step *step)
{
    const struct lab_cluster_run *run = step->run;
    const struct lab_host_operation *operation = step->operation;
    enum bk_action_kind next = step->next->kind;
    bool is_firing_kind = lab_rows_fire(run);
    if (!is_firing_kind)
        return;
    if (run->config.coordination == BK_GUARDED)
        demand(step, next == (operation->fires ? BK_ACT_ADD_COUNTER : BK_ACT_DONE),
               operation->fires ? "fires but is not counted" : "does not fire but is counted");
    else if (!operation->fires && run->config.coordination != BK_THREE_STATE)
        demand(step, next == BK_ACT_DONE, "does not fire but is counted");
    else if (operation->fires && run->config.counter != BK_COUNTER_LWT)
        demand(step, next == BK_ACT_READ_STATE, "fires but the state is not read before it is counted");
}

/* The expected write for a row that fires. */
struct count_written {
    uint32_t mask; /* 0 if nothing is written */
    int64_t columns[BK_COLUMNS];
};

/* By the state, and, with a counter column, by its total, which has the row in it. */
static struct count_written count_of(const struct step *step, const int64_t *state, int64_t total)
{
    const struct bk_agent_config *config = &step->run->config;
    const struct lab_host_operation *operation = step->operation;
    bool is_column = config->counter == BK_COUNTER_NATIVE, is_dated = config->coordination == BK_THREE_STATE;
    bool is_newest = operation->bucket >= state[BK_COLUMN_BUCKET],
         is_waiting = is_dated && state[BK_COLUMN_NEXT_CHANGE] != 0;
    int64_t now_ns = lab_agent_clock(step->run, step->agent);
    int64_t count =
        is_column ? total - state[BK_COLUMN_COUNTER] : state[BK_COLUMN_COUNTER] + (int64_t)operation->weight;
    struct count_written out = {.mask = is_column ? 0 : BIT(BK_COLUMN_COUNTER)};
    memcpy(out.columns, state, sizeof out.columns);
    if (!is_newest && !is_waiting)
        return (struct count_written){0};
    if (is_waiting && now_ns >= state[BK_COLUMN_NEXT_CHANGE]) { /* the date of the change has passed */
        count = is_newest ? (int64_t)operation->weight : 0;
        out.mask = BIT(BK_COLUMN_COUNTER) | BIT(BK_COLUMN_LAST_CHANGE) | BIT(BK_COLUMN_NEXT_CHANGE);
        out.columns[BK_COLUMN_LAST_CHANGE] = state[BK_COLUMN_NEXT_CHANGE];
        out.columns[BK_COLUMN_NEXT_CHANGE] = 0;
        is_waiting = false;
    }
    if (out.mask != 0)
        out.columns[BK_COLUMN_COUNTER] = is_column ? total - count : count;
    if (is_waiting || !is_full(step, count) || config->coordination == BK_LOCKED)
        return out;
    int64_t start_ns = lab_state_start(step->run, state), line_ns = INT64_MAX;
    if (is_aged(step->run))
        line_ns = lab_line_above(step->run, start_ns);
    if (is_dated && lab_until(now_ns, lab_times(2, config->lead_ns)) > line_ns)
        return out; /* the line is before the change */
    out.columns[BK_COLUMN_BUCKET]++;
    out.mask |= BIT(BK_COLUMN_BUCKET);
    if (is_dated) {
        out.mask |= BIT(BK_COLUMN_NEXT_CHANGE);
        out.columns[BK_COLUMN_NEXT_CHANGE] = lab_until(now_ns, config->lead_ns);
    } else {
        out.mask |= BIT(BK_COLUMN_COUNTER) | BIT(BK_COLUMN_LAST_CHANGE);
        out.columns[BK_COLUMN_COUNTER] = is_column ? total : 0;
        out.columns[BK_COLUMN_LAST_CHANGE] = now_ns;
        if (is_aged(step->run)) /* within the times of the full bucket */
            out.columns[BK_COLUMN_LAST_CHANGE] = now_ns < start_ns  ? start_ns
                                                 : now_ns < line_ns ? now_ns
                                                                    : line_ns - 1;
    }
    return out;
}

/* With `locked`: an operation that finds the bucket full requests the lock, unless another operation of its
 * agent does. */
static void judge_roll_begins(const struct step *step, int64_t count)
{
    bool is_due = is_full(step, count);
    if (is_deployed_since(step, step->operation->heard_ns))
        return;
    if (is_due && lab_lock_is_alone(step->run, step->agent, step->operation))
        demand(step, step->next->kind == BK_ACT_CAS_LOCK,
               "finds the count full but does not request the lock");
    else
        demand(step, is_ended(step),
               is_due ? "requests a lock that another operation of its agent requests"
                      : "requests a lock although the count is not full");
}

/* A first write sets all columns, and so does one that completes a state. */
static void judge_written(const struct step *step, const int64_t *state, bool is_first, int64_t total)
{
    struct count_written due = count_of(step, state, total);
    const struct bk_action *next = step->next;
    bool is_write = next->kind == BK_ACT_WRITE_STATE || next->kind == BK_ACT_CAS_STATE;
    /* The plan used the clock at that time; the agent may have been paused since. */
    if (of_agent(step->run, step->agent)->disturbed_ns >= step->operation->heard_ns)
        return;
    /* The agent counts the row in the bucket that it chose, and a client that routes retries put it
     * elsewhere. */
    if (step->operation->is_moved)
        return;
    if (is_first && is_aged(step->run)) {
        demand(step, is_ended(step), "is counted in a lost state, whose line is unknown");
        return;
    }
    if (due.mask == 0 && step->run->config.coordination == BK_LOCKED) {
        demand(step, !is_write, "writes a count that does not follow from the state that it read");
        if (step->operation->bucket >= state[BK_COLUMN_BUCKET])
            judge_roll_begins(step, total - state[BK_COLUMN_COUNTER]);
        return;
    }
    bool is_right = is_write == (due.mask != 0) && (is_write || is_ended(step));
    bool sets_all = is_first || next->if_null_mask != 0;
    is_right = is_right && (!is_write || next->mask == (sets_all ? LAB_ALL_COLUMNS : due.mask));
    for (int i = 0; is_right && is_write && i < BK_COLUMNS; i++)
        is_right = (next->mask >> i & 1) == 0 || next->columns[i] == due.columns[i];
    demand(step, is_right,
           "writes a count, a bucket or a date that does not follow from the state that it read");
}

/* The state was read just before the row is counted. */
static void judge_fresh(const struct step *step)
{
    static const int64_t none[BK_COLUMNS];
    struct lab_host_operation *operation = step->operation;
    bool is_first = step->heard->mask == 0;
    memcpy(own(step->run, operation)->state_told, is_first ? none : step->heard->columns,
           sizeof own(step->run, operation)->state_told);
    own(step->run, operation)->is_state_told = !is_first;
    if (step->run->config.counter == BK_COUNTER_NATIVE)
        demand(step, step->next->kind == BK_ACT_ADD_COUNTER, "fires but does not add to the counter");
    else if (step->run->config.counter == BK_COUNTER_RMW)
        judge_written(step, own(step->run, operation)->state_told, is_first, 0);
}

/* The row's own increment is in the total. */
static void judge_total(const struct step *step)
{
    judge_written(step, own(step->run, step->operation)->state_told,
                  !own(step->run, step->operation)->is_state_told, step->heard->counter);
}

/* The condition of an update names the state on which the update is based. */
static void judge_conditional(const struct step *step)
{
    static const int64_t none[BK_COLUMNS];
    bool is_first = step->next->if_mask == 0;
    judge_written(step, is_first ? none : step->next->expected, is_first, 0);
}

/* --- Grants. */

/* The grant of a row's bucket reaches to a line, where the next row rolls the key. For a state that may have
 * gone back this cannot be decided. */
static bool ends_at_line(const struct step *step)
{
    const struct lab_cluster_key *key = &step->run->keys[step->operation->key];
    int64_t bucket = step->operation->bucket;
    bool is_newest = key->state[BK_GUARDED_BUCKET] <= bucket;
    if (is_aged(step->run) &&
        lab_conditions_met(step->run, step->operation->key) & lab_may_go_back(step->run))
        return true;
    return lab_is_line(step->run, is_newest ? key->state[BK_GUARDED_UNTIL] : key->changes[bucket + 1]);
}

static void judge_guarded_total(const struct step *step)
{
    const struct lab_host_operation *operation = step->operation;
    const struct lab_host_agent *host = &step->run->agents[step->agent];
    int64_t bucket;
    bool is_changing;
    if (is_deployed_since(step, operation->heard_ns)) /* the plan used the threshold at that time */
        return;
    if (!is_full(step, step->heard->counter)) {
        demand(step, is_ended(step), "rolls its key before the threshold");
        return;
    }
    bool is_known = bk_agent_view(host->agent, lab_agent_clock(step->run, step->agent), operation->key,
                                  &bucket, &is_changing);
    demand(step,
           !is_ended(step) || !is_known || bucket != operation->bucket || is_changing || ends_at_line(step),
           "reaches the threshold but does not roll its key");
}

/* Judges a grant: it contains this time and extends beyond the current time, but not beyond the next line. It
 * is doubled for each failed or lost update. */
static bool is_granted(const struct step *step, int64_t time_ns, int64_t until_ns)
{
    const struct lab_cluster_run *run = step->run;
    const struct judged_operation *judged = own(run, step->operation);
    uint32_t missed = judged->tried + judged->lost;
    int64_t now_ns = lab_agent_clock(run, step->agent), from_ns = time_ns > now_ns ? time_ns : now_ns;
    int64_t line_ns = is_aged(run) ? lab_line_above(run, time_ns) : INT64_MAX;
    int64_t times = INT64_C(1) << (missed < BK_GRANT_DOUBLINGS_MAX ? missed : BK_GRANT_DOUBLINGS_MAX);
    int64_t due_ns = lab_until(from_ns, lab_times(times, run->config.grant_ns));
    return until_ns == (due_ns < line_ns ? due_ns : line_ns);
}

/* Whether the start of the bucket is stored on any replica. */
static bool has_start(const struct lab_cluster_run *run, uint32_t key, int64_t bucket)
{
    int64_t columns[CASS_COLUMNS];
    uint32_t mask;
    return cass_peek_merged(run->cluster, lab_start_register(key, bucket), columns, &mask) && (mask & 1) != 0;
}

/* A grant reaches beyond now and the row; a
 * roll begins where the grant before it ends, or at the line that its row has not been put beyond yet. */
static void judge_grant(const struct step *step)
{
    const struct bk_action *next = step->next;
    const struct lab_cluster_run *run = step->run;
    const int64_t *to = next->columns, *from = next->expected;
    bool is_roll = next->if_mask != 0 && to[BK_GUARDED_BUCKET] != from[BK_GUARDED_BUCKET];
    int64_t row_ns = step->operation->row_time_ns, start_ns = from[BK_GUARDED_UNTIL];
    bool is_placed = step->operation->is_acknowledged;
    /* Settings may have been deployed since it was planned. */
    if (is_aged(run) && is_deployed_since(step, step->operation->heard_ns))
        return;
    if (is_aged(run) && next->if_mask != 0 && !is_placed) {
        start_ns = lab_line_above(run, start_ns - 1);
        demand(step, is_roll == (row_ns >= start_ns),
               is_roll ? "rolls its key although it is before the line" : "extends a grant beyond a line");
    }
    bool is_long_enough = is_granted(step, is_roll && is_placed ? start_ns : row_ns, to[BK_GUARDED_UNTIL]);
    /* A request that waits for its next try was planned before the wait, and so was one that a pause has
     * delayed. */
    bool is_planned_now =
        !step->next->is_retry && of_agent(run, step->agent)->disturbed_ns < step->operation->heard_ns;
    demand(step, is_long_enough || !is_planned_now, "requests a grant of a wrong length");
    if (is_roll)
        demand(step, from[BK_GUARDED_BUCKET] < 2 || own(step->run, step->operation)->is_start_kept,
               "rolls its key before it has stored the start that the state drops");
    if (is_roll)
        demand(step,
               to[BK_GUARDED_BUCKET] == from[BK_GUARDED_BUCKET] + 1 && to[BK_GUARDED_START] == start_ns &&
                   to[BK_GUARDED_BEFORE] == from[BK_GUARDED_START],
               "rolls its key but the new bucket does not begin where the old one ends");
    /* A row that rolls at a line may do so more than once, and each time another start drops out. */
    if (is_roll && is_aged(run) && from[BK_GUARDED_BUCKET] >= 2)
        demand(step, has_start(run, step->operation->key, from[BK_GUARDED_BUCKET] - 1),
               "rolls its key but the start that the state drops is not stored");
    else if (!is_roll && next->if_mask != 0)
        demand(step,
               to[BK_GUARDED_START] == from[BK_GUARDED_START] &&
                   to[BK_GUARDED_BEFORE] == from[BK_GUARDED_BEFORE],
               "extends a grant and moves its start");
}

/* Judges the start of the bucket before the newest one, as the key's states had it. */
static void judge_start(const struct step *step)
{
    const struct lab_cluster_run *run = step->run;
    const struct lab_cluster_key *key = &run->keys[step->operation->key];
    int64_t bucket = step->next->bucket;
    if (bucket < 1 || (size_t)bucket >= key->change_count || key->changes[bucket] == 0 ||
        (lab_conditions_met(run, step->operation->key) & lab_may_go_back(run)) != 0)
        return;
    bool is_before_put = is_aged(run) && !step->operation->is_acknowledged;
    demand(step,
           (is_before_put || bucket == step->operation->bucket - 1) &&
               step->next->columns[0] == key->changes[bucket],
           "stores a start that differs from its bucket's");
}

/* A row that is older than its agent's copy of the state covers looks up the starts of older buckets. The
 * first one is that of the highest bucket that the copy does not cover, two below the newest; it was stored
 * before the copy was written. The others follow downwards. */
static void judge_look_up(const struct step *step)
{
    const struct lab_cluster_run *run = step->run;
    const struct lab_host_operation *operation = step->operation;
    const struct lab_cluster_key *key = &run->keys[operation->key];
    int64_t bucket = step->next->bucket, known;
    bool is_changing, is_first = operation->action != BK_ACT_READ_START;
    if (!is_first) {
        demand(step, bucket == operation->step_low - !step->next->is_retry,
               "looks up starts that do not follow each other downwards");
        return;
    }
    if ((lab_conditions_met(run, operation->key) & lab_may_go_back(run)) != 0)
        return;
    demand(step, bucket >= 1 && has_start(run, operation->key, bucket),
           "looks up the start of a bucket whose start is not stored");
    /* By now, an agent that was paused, or whose cache has evicted the key, may know another state. */
    size_t newest = (size_t)bucket + 2;
    if (of_agent(run, step->agent)->disturbed_ns >= operation->heard_ns || newest >= key->change_count ||
        key->changes[newest] == 0 || lab_may_be_evicted(run, operation->key))
        return;
    demand(step,
           bk_agent_view(run->agents[step->agent].agent, key->changes[newest], operation->key, &known,
                         &is_changing) &&
               known == bucket + 2 && !is_changing,
           "looks up a start although it is not the highest one that its agent's state does not have");
}

/* --- Numbers. */

/* Returns the rows of a bucket according to the settings of the row's time. */
static uint64_t rows_at(const struct step *step)
{
    return lab_agent_strategy(step->run, step->agent, step->operation->row_time_ns)->of.count.rows;
}

/* Returns the first number of a bucket according to a state. */
static int64_t first_number(const struct step *step, int64_t bucket, const int64_t *state)
{
    const struct bk_history *history = &step->run->agents[step->agent].history;
    int64_t rows = (int64_t)history->eras[0].strategy.of.count.rows;
    return state[BK_NUMBER_FIRST] != 0 ? state[BK_NUMBER_FIRST] : bucket * rows;
}

/* Judges an update that takes numbers: they fill up the newest bucket first, if it is not full, and then the
 * next ones. */
static void judge_take(const struct step *step)
{
    static const int64_t none[BK_COLUMNS];
    const struct bk_action *next = step->next;
    const int64_t *from = next->if_mask != 0 ? next->expected : none;
    int64_t given = from[BK_COLUMN_COUNTER], last = given + (int64_t)lab_numbers_at_once(step->run) - 1;
    int64_t rows = (int64_t)rows_at(step), bucket = from[BK_COLUMN_BUCKET];
    int64_t first = first_number(step, bucket, from);
    demand(step, next->columns[BK_COLUMN_COUNTER] == last + 1, "takes numbers that are not the next ones");
    if (is_deployed_since(step, step->operation->begun_ns))
        return;
    if (first > given || first + rows <= given) {
        first = given;
        bucket++;
    }
    int64_t more = (last - first) / rows;
    demand(step,
           next->columns[BK_COLUMN_BUCKET] == bucket + more &&
               first_number(step, bucket + more, next->columns) == first + more * rows,
           "takes numbers but does not store the bucket of the last one");
}

/* If settings change, the numbers of a lease may be of several buckets that the update does not name. */
static void judge_taken(const struct step *step)
{
    const struct lab_cluster_run *run = step->run;
    int64_t wanted = (int64_t)lab_numbers_at_once(run);
    int64_t first = step->operation->columns[BK_COLUMN_COUNTER] - wanted;
    int64_t bucket = step->operation->columns[BK_COLUMN_BUCKET];
    bool is_steady = run->strategy->settings.change_count == 0;
    if (is_steady)
        bucket = first / (int64_t)run->config.strategy.of.count.rows;
    demand(step,
           step->next->kind == BK_ACT_PUT_ROW &&
               (is_steady || wanted == 1 ? step->next->bucket == bucket : step->next->bucket <= bucket),
           "has taken a number but goes to another bucket");
}

static void judge_number(const struct step *step)
{
    int64_t number = step->heard->counter > 0 ? step->heard->counter - 1 : 0;
    if (!step->operation->is_read)
        demand(step,
               step->next->kind == BK_ACT_PUT_ROW &&
                   step->next->bucket == number / (int64_t)step->run->config.strategy.of.count.rows,
               "has read its number but goes to another bucket");
}

/* --- Rows that are counted at intervals. */

/* The agent's number of this key, by cluster_run.h. NULL once a fault has begun, since agents that crash, or
 * go back to a checkpoint, forget keys and count from a random number; and when out of memory. */
static uint64_t *kept_of(const struct step *step)
{
    struct lab_cluster_run *run = step->run;
    if (lab_health_unhealthy_ns(run) > 0)
        return NULL;
    if (of_agent(step->run, step->agent)->uncounted == NULL)
        of_agent(step->run, step->agent)->uncounted =
            calloc(run->key_count, sizeof *of_agent(step->run, step->agent)->uncounted);
    run->out_of_memory = run->out_of_memory || of_agent(step->run, step->agent)->uncounted == NULL;
    return of_agent(step->run, step->agent)->uncounted == NULL
               ? NULL
               : &of_agent(step->run, step->agent)->uncounted[step->operation->key];
}

/* After a request that failed an agent may have forgotten the key as well. */
static void forget_kept(const struct step *step)
{
    const uint64_t *rows = of_agent(step->run, step->agent)->uncounted;
    uint64_t *kept = rows == NULL || !lab_has_failed(step->heard->kind) ? NULL : kept_of(step);
    if (kept != NULL)
        *kept = NOT_KNOWN;
}

/* A row of the newest bucket, which its agent counts unless it has learned of a later one by now. */
static void judge_uncounted(const struct step *step)
{
    struct lab_cluster_run *run = step->run;
    const struct lab_host_operation *operation = step->operation;
    uint64_t *uncounted = run->config.every_rows == 0 ? NULL : kept_of(step);
    if (uncounted == NULL)
        return;
    /* Without an entry of the cache, the row is counted or not by chance, and the rows before it are
     * forgotten again. */
    bool has_entry = *uncounted != NOT_KNOWN || lab_copies_has(run, step->agent, operation->key);
    if (step->next->kind == BK_ACT_COUNT_ROWS)
        *uncounted = has_entry ? 0 : NOT_KNOWN;
    else if (*uncounted != NOT_KNOWN && operation->bucket == run->oracles.keys[operation->key].state_bucket)
        demand(step, ++*uncounted < run->config.every_rows || lab_may_be_evicted(run, operation->key),
               "is the last row before a count but its bucket's rows are not counted");
}

static void judge_rows(const struct step *step)
{
    const struct bk_agent_config *config = &step->run->config;
    const struct bk_action *next = step->next;
    uint64_t rows = step->heard->rows;
    if (config->source == BK_SOURCE_MEMORY) {
        bool is_enough = rows >= rows_at(step);
        uint64_t *found = kept_of(step);
        demand(step, next->kind != (is_enough ? BK_ACT_PUT_ROW : BK_ACT_WRITE_STATE),
               is_enough ? "has counted a full bucket but still goes to it"
                         : "raises the bucket although it has counted a bucket that is not full");
        if (found != NULL)
            *found = rows;
    } else if (config->source == BK_SOURCE_SCAN) {
        demand(step, next->kind == (rows >= rows_at(step) ? BK_ACT_READ_STATE : BK_ACT_DONE),
               "has counted the rows of its bucket but does not act on their number");
    } else if (config->source == BK_SOURCE_INCREMENTAL && rows == 0) {
        demand(step, is_ended(step), "has counted no row but stores a sum");
    } else if (config->source == BK_SOURCE_INCREMENTAL) {
        int64_t before = next->if_mask != 0 ? next->expected[BK_COLUMN_COUNTER] : 0;
        int64_t bucket = next->if_mask != 0 ? next->expected[BK_COLUMN_BUCKET] : 0;
        bool rolls = (uint64_t)before + rows >= rows_at(step);
        demand(step,
               next->kind == BK_ACT_CAS_STATE && next->columns[BK_COLUMN_BUCKET] == bucket + rolls &&
                   next->columns[BK_COLUMN_COUNTER] == (rolls ? 0 : before + (int64_t)rows),
               "stores a sum that differs from its count");
        demand(step,
               next->columns[BK_SUM_TIME] == (rolls ? INT64_MIN : step->heard->columns[BK_PLACE_TIME]) &&
                   next->columns[BK_SUM_ID] == (rolls ? INT64_MIN : step->heard->columns[BK_PLACE_ID]),
               "stores a position that is not that of the last counted row");
    }
}

/* Judges the action after a count that reached the number of rows of a bucket. */
static void judge_raise(const struct step *step)
{
    const struct bk_action *next = step->next;
    int64_t bucket = step->heard->mask != 0 ? step->heard->columns[BK_COLUMN_BUCKET] : 0;
    bool is_due = bucket == step->operation->bucket;
    demand(step, next->kind == (is_due ? BK_ACT_WRITE_STATE : BK_ACT_DONE),
           is_due ? "does not raise a bucket that is full" : "raises a bucket that another agent has raised");
    if (is_due && next->kind == BK_ACT_WRITE_STATE)
        demand(step, next->columns[BK_COLUMN_BUCKET] == bucket + 1,
               "raises its bucket by a number other than 1");
}

/* Its agent counts alone, unless the bucket that it raised had rows before it came: others may have raised it
 * as well, and filled the next one. */
static void judge_raised(const struct step *step)
{
    uint64_t *found = kept_of(step);
    if (found == NULL)
        return;
    demand(step, *found == 0 || *found == NOT_KNOWN || step->next->kind != BK_ACT_PUT_ROW,
           "has raised a bucket with rows of other agents but treats the next one as empty");
    *found = 0;
}

/* --- Knowledge of the state. */

/* With three states an answer that is newer may have a change dated later. */
struct lab_known_bucket lab_known_bucket(const struct lab_cluster_run *run, uint32_t agent,
                                         const struct lab_host_operation *operation)
{
    struct lab_known_bucket known = {false, 0};
    bool is_changing, is_of_state = operation->action == BK_ACT_READ_STATE ||
                                    operation->action == BK_ACT_CAS_STATE ||
                                    operation->action == BK_ACT_WRITE_STATE;
    if (is_of_state && lab_keeps_state(run) && run->config.coordination != BK_THREE_STATE)
        known.is_known = bk_agent_view(run->agents[agent].agent, lab_agent_clock(run, agent), operation->key,
                                       &known.bucket, &is_changing);
    return known;
}

void lab_known_heard(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct lab_known_bucket *before)
{
    struct lab_known_bucket after = lab_known_bucket(run, agent, operation);
    if (before->is_known && after.is_known && after.bucket < before->bucket &&
        (lab_conditions_met(run, operation->key) & lab_may_go_back(run)) == 0)
        judge_violate(run, operation->key,
                      "agent %" PRIu32 " knows bucket %" PRId64
                      ", receives an older answer and goes back to bucket %" PRId64,
                      agent, before->bucket, after.bucket);
}

/* Grants and numbers must be based on a state that was read at SERIAL. */
static void judge_level(const struct step *step)
{
    const struct bk_agent_config *config = &step->run->config;
    bool is_serial = config->coordination == BK_GUARDED ||
                     (lab_takes_numbers(step->run) && !step->operation->is_read) ||
                     (is_counted_protocol(step->run) && config->counter == BK_COUNTER_LWT &&
                      (step->operation->is_acknowledged || step->operation->action == BK_ACT_CAS_STATE));
    if (step->next->kind == BK_ACT_READ_STATE && is_serial)
        demand(step, step->next->serial, "reads the state at a level other than SERIAL");
}

/* An update of unknown outcome that other agents contend for may be applied, or be applied later: it is never
 * repeated, since it may be its own rival; the state is read first. */
static void judge_unknown(const struct step *step)
{
    if (step->operation->action == BK_ACT_CAS_STATE && step->heard->kind == BK_OUTCOME_UNKNOWN &&
        lab_contends_for_rows(step->run))
        demand(step, step->next->kind != BK_ACT_CAS_STATE && step->next->kind != BK_ACT_WRITE_STATE,
               "updates the state again although an update of unknown outcome may still be applied");
}

/* --- All steps. */

static void judge_answer(const struct step *step)
{
    const struct lab_cluster_run *run = step->run;
    const struct lab_host_operation *operation = step->operation;
    enum bk_source source = run->config.source;
    bool is_count = run->config.strategy.kind == BK_KIND_COUNT,
         is_guarded = run->config.coordination == BK_GUARDED;
    switch (operation->action) {
    case BK_ACT_PUT_ROW:
        judge_placed(step);
        if (is_count &&
            source == BK_SOURCE_SCAN) /* after a failed incremental count, the agent forgets the key */
            judge_uncounted(step);
        return;
    case BK_ACT_READ_STATE:
        if (is_counted_protocol(run) && operation->is_acknowledged && operation->fires &&
            !has_locked(run, operation))
            judge_fresh(step);
        else if (is_count && source == BK_SOURCE_SCAN && operation->is_acknowledged)
            judge_raise(step);
        return;
    case BK_ACT_ADD_COUNTER:
        if (!is_guarded)
            demand(step, step->next->kind == BK_ACT_READ_COUNTER, "has added but does not read the total");
        return;
    case BK_ACT_READ_COUNTER:
        if (is_guarded)
            judge_guarded_total(step);
        else if (is_count && source == BK_SOURCE_COUNTER)
            judge_number(step);
        else if (is_counted_protocol(run) && operation->is_acknowledged && operation->fires)
            judge_total(step);
        return;
    case BK_ACT_COUNT_ROWS:
        judge_rows(step);
        return;
    case BK_ACT_CAS_STATE:
    case BK_ACT_WRITE_STATE:
        if (is_count && lab_takes_numbers(run))
            judge_taken(step);
        else if (is_count && source == BK_SOURCE_MEMORY)
            judge_raised(step);
        else if (run->config.coordination == BK_LOCKED && !has_locked(run, operation) &&
                 operation->is_acknowledged)
            judge_roll_begins(step, operation->columns[BK_COLUMN_COUNTER]);
        return;
    default:
        return;
    }
}

void lab_steps_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next)
{
    const struct step step = {run, agent, operation, &operation->outcome, next};
    if (next->kind == BK_ACT_ACK) {
        own(run, operation)->unknown_updates = 0; /* those at a line */
        return;
    }
    judge_refusal(&step);
    lab_lines_acted(run, agent, operation, next);
    if (run->config.coordination == BK_THREE_STATE && !operation->is_read)
        judge_forgotten(&step);
    forget_kept(&step);
    if (operation->action == BK_ACT_DONE)
        judge_begin(&step);
    else if (operation->outcome.kind == BK_OUTCOME_APPLIED)
        judge_answer(&step);
    judge_level(&step);
    judge_unknown(&step);
    own(run, operation)->is_start_kept =
        own(run, operation)->is_start_kept ||
        (operation->action == BK_ACT_WRITE_START && operation->outcome.kind == BK_OUTCOME_APPLIED);
    if (next->kind == BK_ACT_CAS_STATE && run->config.coordination == BK_GUARDED)
        judge_grant(&step);
    if (next->kind == BK_ACT_WRITE_START)
        judge_start(&step);
    if (next->kind == BK_ACT_READ_START)
        judge_look_up(&step);
    if (next->kind == BK_ACT_CAS_STATE && run->config.strategy.kind == BK_KIND_COUNT &&
        lab_takes_numbers(run))
        judge_take(&step);
    if (next->kind == BK_ACT_CAS_STATE && is_counted_protocol(run) && operation->fires && !next->is_retry &&
        operation->is_acknowledged && !has_locked(run, operation) && run->config.counter == BK_COUNTER_LWT)
        judge_conditional(&step);
    if (next->kind == BK_ACT_ADD_COUNTER)
        demand(&step, next->amount == (int64_t)(operation->weight > 0 ? operation->weight : 1),
               "adds an amount other than its weight");
}

/* The most requests of a row of which none failed or was lost. Buckets whose starts
 * are looked up, and buckets between the state and a row beyond several lines, are not counted. */
static uint32_t most_requests(const struct lab_cluster_run *run)
{
    if (!lab_keeps_state(run))
        return run->config.source == BK_SOURCE_COUNTER ? 3 : 1;
    /* It counts each bucket. A state that went back is rolled once more for each bucket left since then. */
    if (run->config.source == BK_SOURCE_MEMORY ||
        (run->oracles.verdict.conditions & lab_may_go_back(run)) != 0)
        return UINT32_MAX;
    /* With lines, a state is written and read again before its row is counted. */
    return MOST_REQUESTS + (run->config.strategy.max_age_ns != 0 ? 2 : 0);
}

/* With numbers from a counter column, its separate number of retries applies, too. */
void lab_steps_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                     enum bk_operation_status status)
{
    const struct lab_agents *agents = &run->scenario->agents;
    bool is_less = run->config.source != BK_SOURCE_EXTERNAL && agents->counter_retries < agents->retries;
    const struct judged_operation *judged = own(run, operation);
    uint32_t tries = (is_less ? agents->counter_retries : agents->retries) + 1, failures = judged->failures;
    if (!operation->is_acknowledged && failures < tries && failures > 0 &&
        lab_has_failed(operation->outcome.kind))
        judge_violate(run, operation->key,
                      "row %" PRIu64 " is given up after %" PRIu32 " failed requests; %" PRIu32
                      " tries are configured",
                      operation->row, failures, tries);
    if (!operation->is_acknowledged && operation->was_unknown && status == BK_OPERATION_REFUSED)
        judge_violate(run, operation->key, "row %" PRIu64 " is refused, but a put of it may have been stored",
                      operation->row);
    if (failures == 0 && judged->lost + judged->lock.held + judged->lock.raced == 0 &&
        operation->requests > most_requests(run))
        judge_violate(run, operation->key,
                      "row %" PRIu64 " took %" PRIu32
                      " requests, of which none failed; its protocol needs %" PRIu32,
                      operation->row, operation->requests, most_requests(run));
}
