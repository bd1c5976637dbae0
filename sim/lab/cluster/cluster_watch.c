/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Observes the requests and outcomes of agents: which rare paths a run has taken, and which events occurred
 * that a guarantee may exclude. Nothing here affects the agents. */
#include "cluster_watch.h"
#include "cluster_run.h"
#include "evidence.h"
#include "oracles.h"

_Static_assert((int)LAB_PROBE_ROLL_NODE_DOWN == (int)LAB_FAULT_NODE_DOWN &&
                   (int)LAB_PROBE_ROLL_PAXOS_LOSS == (int)LAB_FAULT_PAXOS_LOSS,
               "the first probes are the faults during a roll, in their order");

/* Records which faults are active while a roll is requested. */
static void watch_roll(struct lab_cluster_run *run)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    for (size_t i = 0; i < run->active_count; i++) {
        if (run->active[i].is_used)
            verdict->probes[LAB_PROBE_ROLL_NODE_DOWN + run->active[i].kind]++;
    }
    for (uint32_t i = 0; i < run->agent_count; i++) {
        if (!run->agents[i].is_up) {
            verdict->probes[LAB_PROBE_ROLL_AGENT_CRASH]++;
            break;
        }
    }
}

/* Observes a write of the state that is more than an increment. Two concurrent plain writes do not know of
 * each other: another one was pending when this one was requested, or changed the state after it was read for
 * this one. */
static void watch_state_write(struct lab_cluster_run *run, struct lab_host_operation *operation,
                              const struct bk_action *action)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    const struct lab_cluster_key *key = &run->keys[operation->key];
    bool is_plain = action->kind == BK_ACT_WRITE_STATE;
    uint32_t bucket = 1u << BK_BUCKET, next_change = 1u << BK_NEXT_CHANGE;
    if (is_plain && run->config.coordination == BK_THREE_STATE &&
        (action->mask & (bucket | next_change)) == next_change && key->state[BK_NEXT_CHANGE] == 0)
        verdict->probes[LAB_PROBE_LATE_RESET]++;
    if ((action->mask & ~(1u << BK_COUNTER)) == 0)
        return;
    if (is_plain && (ledger->writes_open > 0 || operation->state_seen != ledger->state_version)) {
        verdict->probes[LAB_PROBE_CHANGES_AT_ONCE]++;
        lab_condition_of_key(run, LAB_CONDITION_CHANGES_AT_ONCE, operation->key, operation->state_read_ns,
                             LAB_OPEN_ENDED);
    }
    ledger->writes_open++;
    operation->changes_state = true;
    lab_filled_changing(run, operation);
    /* The condition of an update replaces a fresh read: if the state has changed since it was read, the
     * update is not applied. */
    if (!is_plain)
        operation->state_read_ns = sim_queue_now(&run->queue);
    int64_t before = is_plain || action->if_mask == 0 ? 0 : action->expected[BK_BUCKET];
    if ((action->mask & bucket) == 0 || action->columns[BK_BUCKET] <= before)
        return;
    run->oracles.rolls_open++;
    operation->raises = true;
    watch_roll(run);
}

/* Returns the highest bucket of the key that has rows; INT64_MIN: none has. */
static int64_t highest_bucket(const struct lab_cluster_run *run, uint32_t key)
{
    uint32_t top = run->oracles.keys[key].top;
    return top == LAB_NO_PARTITION ? INT64_MIN : run->oracles.partitions[top].bucket;
}

void lab_watch_asked(struct lab_cluster_run *run, struct lab_host_operation *operation,
                     const struct bk_action *action, const struct cass_statement *statement)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    switch (action->kind) {
    case BK_ACT_READ_STATE:
        operation->state_seen = run->oracles.keys[operation->key].state_version;
        operation->state_read_ns = sim_queue_now(&run->queue);
        operation->bucket_due = highest_bucket(run, operation->key);
        break;
    case BK_ACT_WRITE_STATE:
    case BK_ACT_CAS_STATE:
        watch_state_write(run, operation, action);
        break;
    case BK_ACT_ADD_COUNTER:
        operation->has_counted = true;
        operation->counter = statement->key;
        lab_increment_asked(run, statement->key, operation->row, (uint64_t)action->amount);
        break;
    case BK_ACT_READ_COUNTER:
        operation->counter = statement->key;
        lab_total_asked(run, operation);
        break;
    case BK_ACT_READ_START:
        verdict->probes[LAB_PROBE_OLD_START]++;
        break;
    case BK_ACT_CAS_LOCK:
        operation->is_taking_over = action->if_mask != 0 && action->expected[BK_LOCK_OWNER] != 0 &&
                                    action->columns[BK_LOCK_OWNER] != 0;
        break;
    default:
        break;
    }
}

void lab_watch_outcome(struct lab_cluster_run *run, struct lab_host_operation *operation,
                       enum bk_outcome_kind outcome)
{
    struct lab_verdict *verdict = &run->oracles.verdict;
    bool is_unknown = outcome == BK_OUTCOME_UNKNOWN;
    switch (operation->action) {
    case BK_ACT_PUT_ROW:
        operation->was_unknown = operation->was_unknown || is_unknown;
        break;
    case BK_ACT_READ_STATE:
        /* The state named the bucket of each row before the row was put there, so a write has lowered it. */
        if (outcome == BK_OUTCOME_APPLIED && operation->outcome.columns[BK_BUCKET] < operation->bucket_due)
            lab_watch_late_effect(run, operation->key);
        break;
    case BK_ACT_READ_COUNTER:
        if (outcome == BK_OUTCOME_APPLIED)
            lab_total_heard(run, operation);
        break;
    case BK_ACT_WRITE_STATE:
    case BK_ACT_CAS_STATE:
        verdict->probes[LAB_PROBE_UNKNOWN_ROLL] += operation->raises && is_unknown;
        run->conditions_lost += outcome == BK_OUTCOME_NOT_APPLIED;
        verdict->probes[LAB_PROBE_LOST_RACE] += operation->raises && outcome == BK_OUTCOME_NOT_APPLIED;
        if (is_unknown)
            lab_filled_unknown(run, operation);
        lab_state_write_ended(run, operation, outcome);
        break;
    case BK_ACT_ADD_COUNTER:
        verdict->probes[LAB_PROBE_COUNTER_UNKNOWN] += is_unknown;
        if (is_unknown)
            lab_filled_unknown(run, operation);
        if (outcome == BK_OUTCOME_APPLIED)
            lab_total_heard(run, operation);
        break;
    case BK_ACT_CAS_LOCK:
        verdict->probes[LAB_PROBE_LOCK_TAKEN_OVER] +=
            operation->is_taking_over && outcome == BK_OUTCOME_APPLIED;
        if (outcome == BK_OUTCOME_NOT_APPLIED && operation->outcome.mask != 0 &&
            operation->outcome.columns[BK_LOCK_OWNER] != 0 &&
            operation->outcome.columns[BK_LOCK_OWNER] != operation->columns[BK_LOCK_OWNER])
            operation->is_locked_out = true;
        break;
    default:
        break;
    }
}

/* Returns whether a write of unknown outcome has lowered the state below the bucket of some rows. Readers do
 * not begin high enough for these rows until the state names their bucket again. */
static bool is_below_rows(const struct lab_cluster_run *run, uint32_t key)
{
    return highest_bucket(run, key) > run->oracles.keys[key].state_bucket;
}

void lab_state_write_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                           enum bk_outcome_kind outcome)
{
    run->oracles.rolls_open -= operation->raises;
    operation->raises = false;
    if (!operation->changes_state)
        return;
    operation->changes_state = false;
    uint32_t key = operation->key;
    int64_t now_ns = sim_queue_now(&run->queue), over_ns = lab_until(now_ns, lab_aftermath_ns(run));
    int64_t asked_ns = operation->asked_ns, read_ns = operation->state_read_ns;
    /* Two concurrent writes may disagree until both have ended and the cached states have expired. */
    if (--run->oracles.keys[key].writes_open == 0)
        lab_condition_closes(run, LAB_CONDITION_CHANGES_AT_ONCE, key, INT64_MAX, over_ns);
    /* A write of unknown outcome may take effect until the next write that is known to be applied. */
    if (outcome == BK_OUTCOME_APPLIED) {
        if (!is_below_rows(run, key))
            lab_condition_closes(run, LAB_CONDITION_UNKNOWN_WRITE, key, asked_ns, over_ns);
        lab_condition_closes(run, LAB_CONDITION_LATE_STATE_WRITE, key, asked_ns, over_ns);
    }
    if (outcome == BK_OUTCOME_UNKNOWN) {
        lab_condition_of_key(run, LAB_CONDITION_UNKNOWN_WRITE, key, asked_ns, LAB_OPEN_ENDED);
        run->oracles.keys[key].numbers_lost += lab_numbers_at_once(run);
    }
    if (run->config.coordination != BK_THREE_STATE || outcome == BK_OUTCOME_REFUSED)
        return;
    /* The time from the read on which the write is based until the write is known to be applied. */
    int64_t left_ns = run->config.lead_ns - run->config.cache_ttl_ns - run->oracles.tolerance_ns;
    if (outcome == BK_OUTCOME_UNKNOWN || now_ns - read_ns > left_ns)
        lab_condition_of_key(run, LAB_CONDITION_LATE_STATE_WRITE, key, read_ns,
                             outcome == BK_OUTCOME_UNKNOWN ? LAB_OPEN_ENDED : over_ns);
}

/* If there was a write of unknown outcome, it has taken effect late. Its coordinator may have been paused
 * meanwhile, so its timestamp may be later than those of all others. If a write under way has an even later
 * timestamp, only reads of replicas that lack that write show the effect. */
void lab_watch_late_effect(struct lab_cluster_run *run, uint32_t key)
{
    uint32_t met = lab_conditions_at(run, key, INT64_MIN, INT64_MAX);
    int64_t now_ns = sim_queue_now(&run->queue);
    if ((met >> LAB_CONDITION_UNKNOWN_WRITE & 1) == 0)
        return;
    lab_condition_of_key(run, LAB_CONDITION_UNKNOWN_WRITE, key, now_ns, LAB_OPEN_ENDED);
    if (run->config.coordination == BK_THREE_STATE)
        lab_condition_of_key(run, LAB_CONDITION_LATE_STATE_WRITE, key, now_ns, LAB_OPEN_ENDED);
}

void lab_watch_fault(struct lab_cluster_run *run, enum lab_fault_kind kind)
{
    if (run->oracles.rolls_open > 0 || sim_queue_now(&run->queue) < run->oracles.rolls_until_ns)
        run->oracles.verdict.probes[LAB_PROBE_ROLL_NODE_DOWN + kind]++;
}
