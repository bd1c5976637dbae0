/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the lock of `locked`. core's agent.h has the rules: an operation that finds a bucket full
 * requests the lock. It holds the lock once its own update was applied, or once the lock row has its owner
 * and end. It then reads the state again, writes the next bucket before the lock's end by its own clock, and
 * requests the release of the lock before the operation ends. Each operation is tracked from its first
 * CAS_LOCK to its end. The rules depend only on what the agent received, so faults are no excuse. */
#include "judges.h"

#include <inttypes.h>

/* After losing a free lock to other agents this many times, an operation may give up. */
#define RACES_ENOUGH 64u

static void violate(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                    const char *what)
{
    judge_violate(run, operation->key, "agent %" PRIu32 ", row %" PRIu64 ": %s", agent, operation->row, what);
}

static bool is_holder(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    return own(run, operation)->lock.step == LAB_LOCK_HELD || own(run, operation)->lock.step == LAB_LOCK_READ;
}

/* The lock row did not match the condition of the update that takes the lock. */
static void denied(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    struct lab_lock_use *lock = &own(run, operation)->lock;
    const struct bk_outcome *told = &operation->outcome;
    int64_t owner = told->mask != 0 ? told->columns[BK_LOCK_OWNER] : 0;
    int64_t until_ns = told->mask != 0 ? told->columns[BK_LOCK_UNTIL] : 0;
    if (owner == operation->columns[BK_LOCK_OWNER] && until_ns == lock->until_ns)
        lock->step = LAB_LOCK_HELD; /* an earlier try was applied */
    else if (owner != 0 && until_ns > lock->clock_ns)
        lock->held++;
    else
        lock->raced++;
}

void lab_lock_heard(const struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation)
{
    struct lab_lock_use *lock = &own(run, operation)->lock;
    enum bk_outcome_kind kind = operation->outcome.kind;
    if (run->config.coordination != BK_LOCKED)
        return;
    lock->clock_ns = lab_agent_clock(run, agent);
    lock->failed = operation->action == BK_ACT_CAS_LOCK && lab_has_failed(operation->outcome.kind)
                       ? lock->failed + 1
                       : 0;
    if (lock->step == LAB_LOCK_ASKED && kind == BK_OUTCOME_APPLIED)
        lock->step = LAB_LOCK_HELD;
    else if (lock->step == LAB_LOCK_ASKED && kind == BK_OUTCOME_NOT_APPLIED)
        denied(run, operation);
    else if (lock->step == LAB_LOCK_HELD && operation->action == BK_ACT_READ_STATE &&
             kind == BK_OUTCOME_APPLIED)
        lock->step = LAB_LOCK_READ;
}

/* A failed request must be repeated unchanged; otherwise its effect could not be distinguished from that of
 * another operation. */
static bool is_same_try(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                        const struct bk_action *next)
{
    const struct lab_lock_use *lock = &own(run, operation)->lock;
    bool is_same = next->if_mask == lock->if_mask;
    for (int i = 0; i < 2; i++)
        is_same = is_same && next->columns[i] == operation->columns[i] &&
                  (next->if_mask == 0 || next->expected[i] == lock->expected[i]);
    return is_same;
}

/* Two operations with the same owner could not be distinguished. */
bool lab_lock_is_alone(const struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation)
{
    for (uint32_t i = 0; i < run->agents[agent].operations_met; i++) {
        const struct lab_host_operation *other = &run->agents[agent].operations[i];
        if (other != operation && other->is_active && other->key == operation->key &&
            own(run, other)->lock.step != LAB_LOCK_NONE)
            return false;
    }
    return true;
}

/* The lock lasts from the moment at which the agent decides to request it: when it got the last outcome, or
 * after the wait for a lock that another agent holds. */
static bool is_end_right(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         const struct bk_action *next, int64_t *begins_ns)
{
    __extension__ typedef __int128 wide;
    wide begins = (wide)next->columns[BK_LOCK_UNTIL] - run->config.lock_lasts_ns;
    wide waits = begins - own(run, operation)->lock.clock_ns;
    bool is_bounded = next->columns[BK_LOCK_UNTIL] >= INT64_MAX - 1; /* timestamp overflow */
    const struct bk_outcome *told = &operation->outcome;
    bool was_held = own(run, operation)->lock.step == LAB_LOCK_ASKED && told->mask != 0 &&
                    told->columns[BK_LOCK_OWNER] != 0 &&
                    told->columns[BK_LOCK_UNTIL] > own(run, operation)->lock.clock_ns;
    wide mean = was_held ? run->config.lock_backoff_ns : 0;
    *begins_ns = begins < INT64_MIN ? INT64_MIN : (int64_t)begins;
    return is_bounded || (waits >= mean / 2 && waits <= mean + mean / 2 + (was_held ? 1 : 0));
}

/* Returns whether the update's condition is right. For a lock that is free or has expired by then, it must
 * name the last known row. Otherwise it must be that there is no lock row. */
static bool is_condition_right(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                               const struct bk_action *next, int64_t begins_ns)
{
    const struct bk_outcome *told = &operation->outcome;
    bool is_free = own(run, operation)->lock.step == LAB_LOCK_ASKED && told->kind == BK_OUTCOME_NOT_APPLIED &&
                   told->mask != 0 &&
                   (told->columns[BK_LOCK_OWNER] == 0 || told->columns[BK_LOCK_UNTIL] <= begins_ns);
    if (!is_free || next->if_mask == 0)
        return !is_free && next->if_mask == 0;
    return next->if_mask == next->mask && next->expected[BK_LOCK_OWNER] == told->columns[BK_LOCK_OWNER] &&
           next->expected[BK_LOCK_UNTIL] == told->columns[BK_LOCK_UNTIL];
}

static void takes(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                  const struct bk_action *next)
{
    struct lab_lock_use *lock = &own(run, operation)->lock;
    int64_t begins_ns;
    if (is_holder(run, operation) || lock->step == LAB_LOCK_RETURNED) {
        violate(run, agent, operation, "it requests a lock that it has or had");
    } else if (lock->step == LAB_LOCK_ASKED && lab_has_failed(operation->outcome.kind)) {
        if (!is_same_try(run, operation, next))
            violate(run, agent, operation, "it repeats a failed request for the lock with changes");
    } else {
        if (lock->step == LAB_LOCK_NONE && !lab_lock_is_alone(run, agent, operation))
            violate(run, agent, operation, "it requests the lock while another row of its agent does");
        if (next->columns[BK_LOCK_OWNER] != (int64_t)agent + 1)
            violate(run, agent, operation, "it requests the lock in another agent's name");
        if (!is_end_right(run, operation, next, &begins_ns))
            violate(run, agent, operation, "it requests a lock with a wrong end");
        if (!is_condition_right(run, operation, next, begins_ns))
            violate(
                run, agent, operation,
                "it takes over a lock that it was not told of, or that still lasts; or it leaves one that is "
                "free");
        if (lock->held > run->scenario->agents.retries)
            violate(run, agent, operation, "it requests a lock that another agent holds too often");
    }
    lock->step = LAB_LOCK_ASKED;
    lock->until_ns = next->columns[BK_LOCK_UNTIL];
}

static void releases(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next)
{
    struct lab_lock_use *lock = &own(run, operation)->lock;
    bool is_again = lock->step == LAB_LOCK_RETURNED && lab_has_failed(operation->outcome.kind);
    if (!is_holder(run, operation) && !is_again)
        violate(run, agent, operation,
                lock->step == LAB_LOCK_RETURNED ? "it releases its lock twice"
                                                : "it releases a lock that it does not hold");
    else if (next->if_mask != next->mask || next->expected[BK_LOCK_OWNER] != (int64_t)agent + 1 ||
             next->expected[BK_LOCK_UNTIL] != lock->until_ns)
        violate(run, agent, operation, "it releases a lock of another owner");
    else if (next->columns[BK_LOCK_UNTIL] != 0)
        violate(run, agent, operation, "it releases its lock but does not clear the lock's end");
    lock->step = LAB_LOCK_RETURNED;
}

/* Uses the clock reading of the decision, or that of the end of the wait after a refusal. */
static bool is_over(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                    bool is_again)
{
    bool has_waited = is_again && operation->outcome.kind == BK_OUTCOME_REFUSED;
    int64_t wait_ns = has_waited ? lab_times(own(run, operation)->tried, run->config.retry_backoff_ns) : 0;
    return own(run, operation)->lock.until_ns - wait_ns <= own(run, operation)->lock.clock_ns;
}

/* Whether the state that the operation received last is full without it: the row is among those counted by
 * now. A counter column holds the count elsewhere. */
static bool may_roll(const struct lab_cluster_run *run, uint32_t agent,
                     const struct lab_host_operation *operation)
{
    const struct bk_outcome *told = &operation->outcome;
    if (run->config.counter == BK_COUNTER_NATIVE || (told->mask >> BK_COLUMN_COUNTER & 1) == 0)
        return true;
    uint64_t threshold = bk_threshold(lab_agent_strategy(run, agent, operation->row_time_ns));
    return told->columns[BK_COLUMN_COUNTER] > 0 && (uint64_t)told->columns[BK_COLUMN_COUNTER] >= threshold;
}

/* Judges requests about the key's state: it is read again, and the next bucket is written, only under the
 * lock. */
static void uses_state(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation, const struct bk_action *next)
{
    const struct lab_lock_use *lock = &own(run, operation)->lock;
    bool is_write = next->kind != BK_ACT_READ_STATE;
    bool is_roll = is_write && (next->mask >> BK_COLUMN_BUCKET & 1) != 0 &&
                   next->columns[BK_COLUMN_BUCKET] > operation->bucket && operation->bucket != LAB_UNPLACED;
    if (lock->step == LAB_LOCK_ASKED || lock->step == LAB_LOCK_RETURNED ||
        (is_roll && !is_holder(run, operation)))
        violate(run, agent, operation, "it acts as the holder of a lock that it did not get");
    else if (is_holder(run, operation) && is_write && lock->step == LAB_LOCK_HELD)
        violate(run, agent, operation, "it changes the state under a lock without reading it first");
    else if (is_holder(run, operation) && is_write &&
             is_over(run, operation, operation->action == next->kind))
        violate(run, agent, operation, "it changes the state after its lock expired");
    else if (is_holder(run, operation) && is_roll && !lab_has_failed(operation->outcome.kind) &&
             !may_roll(run, agent, operation))
        violate(run, agent, operation, "it rolls a bucket that was not full when the state was read");
}

/* Returns whether the operation ends after a denied or failed request that it should have repeated. */
static bool gives_up_early(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    const struct lab_lock_use *lock = &own(run, operation)->lock;
    uint32_t retries = run->scenario->agents.retries;
    if (operation->action != BK_ACT_CAS_LOCK)
        return false;
    if (lab_has_failed(operation->outcome.kind))
        return lock->failed <= retries;
    if (operation->outcome.kind != BK_OUTCOME_NOT_APPLIED || lock->step != LAB_LOCK_ASKED)
        return false;
    return lock->held <= retries && lock->raced < RACES_ENOUGH;
}

static void ends(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation)
{
    if (is_holder(run, operation) && own(run, operation)->lock.until_ns > own(run, operation)->lock.clock_ns)
        violate(run, agent, operation, "it ends without a request to release its lock");
    else if (gives_up_early(run, operation))
        violate(run, agent, operation, "it gives up a lock, or its release, before the last try");
}

void lab_lock_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                    const struct bk_action *next)
{
    if (run->config.coordination != BK_LOCKED || operation->is_read)
        return;
    switch (next->kind) {
    case BK_ACT_CAS_LOCK:
        if (next->columns[BK_LOCK_OWNER] != 0)
            takes(run, agent, operation, next);
        else
            releases(run, agent, operation, next);
        own(run, operation)->lock.if_mask = next->if_mask;
        own(run, operation)->lock.expected[BK_LOCK_OWNER] = next->expected[BK_LOCK_OWNER];
        own(run, operation)->lock.expected[BK_LOCK_UNTIL] = next->expected[BK_LOCK_UNTIL];
        break;
    case BK_ACT_READ_STATE:
    case BK_ACT_WRITE_STATE:
    case BK_ACT_CAS_STATE:
        uses_state(run, agent, operation, next);
        break;
    case BK_ACT_DONE:
        ends(run, agent, operation);
        break;
    default:
        if (own(run, operation)->lock.step != LAB_LOCK_NONE && next->kind != BK_ACT_ACK)
            violate(run, agent, operation, "it sends another request between its lock and its end");
        break;
    }
}
