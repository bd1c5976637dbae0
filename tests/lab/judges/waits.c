/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, how long an operation waits between an outcome and its next action. core's agent.h has the rules
 * that are judged here: there is no wait after an outcome that is not a failure, or after a try of unknown
 * outcome; after the n-th refusal of an action, the wait is n times the back-off; for grants and lock rows it
 * is a random time around a mean, and the waits of contenders differ. By the agent's own clock a wait is
 * never shorter than the rule says. It may be longer, but only by the drift and the resolution of that clock,
 * since the host wakes the agent by the true time. Waits during a pause of the agent or a jump of its clock
 * are not judged. Random waits must differ: five waits, of different agents and tries, that agree within a
 * thousandth of their mean are a violation, whose probability by chance is 5e-12. */
#include <inttypes.h>

#include "judges.h"
#include "kernel/time.h"

#define DOUBLINGS_MAX 6u /* of the waits for a grant, as in core's agent.h */
#define ALIKE_WAITS   5
#define ALIKE_PPM     1000

struct wait {
    int64_t least_ns, most_ns;
    int64_t mean_ns; /* of a random wait; otherwise 0 */
};

static bool is_of_state(enum bk_action_kind kind)
{
    return kind == BK_ACT_READ_STATE || kind == BK_ACT_CAS_STATE;
}

/* Grants, rolls and starts of guarded. */
static bool is_of_grant(const struct lab_cluster_run *run, enum bk_action_kind kind)
{
    return run->config.coordination == BK_GUARDED &&
           (is_of_state(kind) || kind == BK_ACT_READ_START || kind == BK_ACT_WRITE_START);
}

/* The read and the update for a number, or for a grant, are tries of the same action. */
static bool is_same_action(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                           const struct bk_action *next)
{
    if (operation->action == BK_ACT_READ_START && next->bucket != operation->step_low)
        return false;
    return operation->action == next->kind ||
           (lab_contends_for_rows(run) && is_of_state(operation->action) && is_of_state(next->kind));
}

/* If two updates took effect at the same microsecond, the row has cells of both, and no update can have
 * written it. */
static bool is_mixed(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    const int64_t *state = operation->outcome.columns;
    if (operation->outcome.mask != LAB_ALL_COLUMNS)
        return false;
    bool is_right = state[BK_GUARDED_START] < state[BK_GUARDED_UNTIL] &&
                    (state[BK_GUARDED_BUCKET] > 0) == (state[BK_GUARDED_START] > state[BK_GUARDED_BEFORE]) &&
                    (state[BK_GUARDED_BUCKET] > 1) == (state[BK_GUARDED_BEFORE] > INT64_MIN);
    return !is_right && (lab_conditions_met(run, operation->key) & lab_may_go_back(run)) != 0;
}

bool lab_request_failed(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    const struct bk_outcome *outcome = &operation->outcome;
    bool is_lost = outcome->kind == BK_OUTCOME_NOT_APPLIED && operation->action == BK_ACT_CAS_STATE;
    bool is_gone = is_lost && outcome->mask == 0;
    bool is_told = is_lost || (outcome->kind == BK_OUTCOME_APPLIED && operation->action == BK_ACT_READ_STATE);
    return lab_has_failed(outcome->kind) ||
           (run->config.coordination == BK_GUARDED && (is_gone || (is_told && is_mixed(run, operation))));
}

/* A missing start is requested again, like one that could not be read. */
static bool has_failed(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    return lab_request_failed(run, operation) ||
           (operation->action == BK_ACT_READ_START && operation->outcome.kind == BK_OUTCOME_APPLIED);
}

static struct wait random_around(int64_t mean_ns)
{
    return (struct wait){mean_ns / 2, lab_until(mean_ns, mean_ns / 2 + 1), mean_ns};
}

/* The wait for a grant is between 0.5 and 1.5 times 2^n back-offs. After a try of unknown outcome it is based
 * on the duration of the try, up to the longest grant, if that is longer. */
static struct wait wait_of_grant(const struct lab_cluster_run *run, uint32_t agent,
                                 const struct lab_host_operation *operation)
{
    uint32_t doublings =
        own(run, operation)->tried < DOUBLINGS_MAX ? own(run, operation)->tried : DOUBLINGS_MAX;
    struct wait wait = random_around(lab_times(INT64_C(1) << doublings, run->config.retry_backoff_ns));
    if (operation->outcome.kind != BK_OUTCOME_UNKNOWN)
        return wait;
    int64_t longest_ns = lab_times(INT64_C(1) << BK_GRANT_DOUBLINGS_MAX, run->config.grant_ns);
    int64_t spent_ns = lab_agent_clock_at(run, agent, operation->heard_ns) -
                       lab_agent_clock_at(run, agent, operation->asked_ns);
    struct wait spent = random_around(spent_ns < 0 ? 0 : spent_ns < longest_ns ? spent_ns : longest_ns);
    /* If the agent was paused or its clock jumped, it measured a different duration of the try. */
    if (of_agent(run, agent)->disturbed_ns >= operation->asked_ns)
        return (struct wait){wait.least_ns, SIM_QUEUE_TIME_MAX, 0};
    if (spent.least_ns > wait.least_ns)
        wait.least_ns = spent.least_ns;
    if (spent.most_ns > wait.most_ns)
        wait.most_ns = spent.most_ns;
    wait.mean_ns = 0;
    return wait;
}

/* Returns whether the lock row has an owner whose lock has not expired, other than this operation by an
 * earlier try. */
static bool is_locked_out(const struct lab_cluster_run *run, uint32_t agent,
                          const struct lab_host_operation *operation)
{
    const struct bk_outcome *outcome = &operation->outcome;
    if (operation->action != BK_ACT_CAS_LOCK || outcome->kind != BK_OUTCOME_NOT_APPLIED ||
        outcome->mask == 0 || operation->columns[BK_LOCK_OWNER] == 0 || outcome->columns[BK_LOCK_OWNER] == 0)
        return false;
    bool is_own = outcome->columns[BK_LOCK_OWNER] == operation->columns[BK_LOCK_OWNER] &&
                  outcome->columns[BK_LOCK_UNTIL] == operation->columns[BK_LOCK_UNTIL];
    return !is_own && outcome->columns[BK_LOCK_UNTIL] > lab_agent_clock_at(run, agent, operation->heard_ns);
}

static struct wait wait_of(const struct lab_cluster_run *run, uint32_t agent,
                           const struct lab_host_operation *operation, const struct bk_action *next)
{
    bool is_again = is_same_action(run, operation, next);
    if (is_again && is_locked_out(run, agent, operation))
        return random_around(run->config.lock_backoff_ns);
    if (!has_failed(run, operation) || !is_again)
        return (struct wait){0, 0, 0};
    if (is_of_grant(run, operation->action))
        return wait_of_grant(run, agent, operation);
    if (operation->outcome.kind == BK_OUTCOME_UNKNOWN)
        return (struct wait){0, 0, 0};
    int64_t wait_ns = lab_times(own(run, operation)->tried, run->config.retry_backoff_ns);
    return (struct wait){wait_ns, wait_ns, 0};
}

/* Returns the number of failures of the current action, which is 0 for an operation that began again. */
static uint32_t tried(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                      const struct bk_action *next)
{
    bool is_kept =
        is_of_state(operation->action) && !has_failed(run, operation) && lab_contends_for_rows(run);
    if (!is_same_action(run, operation, next))
        return is_kept && next->kind == BK_ACT_WRITE_START ? own(run, operation)->tried : 0;
    return has_failed(run, operation) ? own(run, operation)->tried + 1
           : is_kept                  ? own(run, operation)->tried
                                      : 0;
}

static void violate(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                    int64_t waited_ns, const struct wait *wait)
{
    static const char *const outcomes[] = {"answered", "lost to another", "refused", "unanswered"};
    judge_violate(run, operation->key,
                  "agent %" PRIu32 " continues %.6f s after a request of %s %" PRIu64
                  " was %s; its wait is %.6f to %.6f s",
                  agent, (double)waited_ns / 1e9, operation->is_read ? "read" : "row", operation->row,
                  outcomes[operation->outcome.kind], (double)wait->least_ns / 1e9,
                  (double)wait->most_ns / 1e9);
}

/* Contenders must wait for different times; otherwise they contend again. */
static void judge_spread(struct lab_cluster_run *run, uint32_t agent,
                         const struct lab_host_operation *operation, int64_t waited_ns, int64_t mean_ns)
{
    struct judge_waits *waits = &judge_of(run)->waits;
    uint64_t bit = UINT64_C(1) << ((agent & 7) * 8 + (own(run, operation)->tried & 7));
    if (run->scenario->agents.clock_resolution_ns > 0 || (waits->seen & bit) != 0)
        return;
    uint32_t share_ppm = (uint32_t)((double)waited_ns / (double)mean_ns * 1e6);
    waits->least_ppm = waits->seen == 0 || share_ppm < waits->least_ppm ? share_ppm : waits->least_ppm;
    waits->most_ppm = share_ppm > waits->most_ppm ? share_ppm : waits->most_ppm;
    waits->seen |= bit;
    if (__builtin_popcountll(waits->seen) == ALIKE_WAITS && waits->most_ppm - waits->least_ppm <= ALIKE_PPM)
        judge_violate(run, operation->key,
                      "%d waits of different agents and tries were all %.3f of their mean", ALIKE_WAITS,
                      (double)share_ppm / 1e6);
}

/* Returns the most tries after the first one. Increments have their own number of retries. */
static uint32_t most_tries(const struct lab_cluster_run *run, enum bk_action_kind kind)
{
    const struct lab_agents *agents = &run->scenario->agents;
    bool is_own = kind == BK_ACT_ADD_COUNTER && agents->counter_retries > agents->retries;
    return is_own ? agents->counter_retries : agents->retries;
}

void lab_waits_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    own(run, operation)->is_awaited = false;
    lab_parked_ends(run, agent, operation);
    lab_steps_tried(run, agent, operation, next, is_same_action(run, operation, next));
    own(run, operation)->tried = tried(run, operation, next);
    if (own(run, operation)->tried > most_tries(run, next->kind))
        judge_violate(run, operation->key,
                      "agent %" PRIu32 " makes try %" PRIu32 " of a request of %s %" PRIu64 "; %" PRIu32
                      " retries are configured",
                      agent, own(run, operation)->tried + 1, operation->is_read ? "read" : "row",
                      operation->row, most_tries(run, next->kind));
    struct wait wait = wait_of(run, agent, operation, next);
    if ((now_ns == operation->heard_ns && wait.least_ns == 0) ||
        of_agent(run, agent)->jumped_ns >= operation->heard_ns)
        return;
    int64_t waited_ns =
        lab_agent_clock_at(run, agent, now_ns) - lab_agent_clock_at(run, agent, operation->heard_ns);
    bool is_late = wait.most_ns == 0
                       ? now_ns > operation->heard_ns
                       : waited_ns > lab_until(wait.most_ns, late_most_ns(run, agent, wait.most_ns));
    is_late = is_late && of_agent(run, agent)->disturbed_ns < operation->heard_ns &&
              !lab_may_be_parked(run, operation);
    if (waited_ns < wait.least_ns || is_late)
        violate(run, agent, operation, waited_ns, &wait);
    else if (wait.mean_ns > 0)
        judge_spread(run, agent, operation, waited_ns, wait.mean_ns);
}

/* --- available, operations that their agent has parked: of all operations of an agent on a key, one makes
 * the request (for a grant, a lease of numbers, a count) that the others wait for. An operation must not be
 * parked if its agent knows the answer already, according to its own view of the key, or if no operation
 * makes the request. This is checked when an operation gets an outcome of such a request. If nothing is
 * parked, which is the normal case, it costs one test. */

bool lab_may_be_parked(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    bool is_guarded = run->config.coordination == BK_GUARDED;
    if (operation->action == BK_ACT_DONE) /* it has made no request yet */
        return is_guarded || run->config.source == BK_SOURCE_LEASE || run->config.source == BK_SOURCE_MEMORY;
    /* A count that could not be read is requested again. */
    return is_guarded && operation->action == BK_ACT_READ_COUNTER &&
           operation->outcome.kind == BK_OUTCOME_APPLIED;
}

/* Returns whether other operations may wait for a request of this kind. They do not wait for puts, reads of
 * rows and the counting of a guarded row. */
bool lab_asks_for_key(enum bk_action_kind kind)
{
    return kind == BK_ACT_READ_STATE || kind == BK_ACT_CAS_STATE || kind == BK_ACT_WRITE_STATE ||
           kind == BK_ACT_WRITE_START || kind == BK_ACT_COUNT_ROWS;
}

void lab_parked_begins(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation)
{
    if (!operation->is_active || !own(run, operation)->is_awaited || run->agents[agent].is_paused ||
        !lab_may_be_parked(run, operation))
        return;
    own(run, operation)->is_parked = true;
    of_agent(run, agent)->parked++;
}

void lab_parked_ends(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation)
{
    if (!own(run, operation)->is_parked)
        return;
    of_agent(run, agent)->parked--;
    own(run, operation)->is_parked = false;
    operation->turn_ns = sim_queue_now(&run->queue);
}

void lab_parked_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      enum bk_action_kind kind)
{
    const struct lab_host_agent *host = &run->agents[agent];
    if (run->config.coordination != BK_GUARDED || !lab_asks_for_key(kind))
        return;
    for (uint32_t i = 0; i < host->operations_met; i++) {
        const struct lab_host_operation *other = &host->operations[i];
        if (other->is_active && other != operation && other->key == operation->key &&
            !own(run, other)->is_awaited && lab_asks_for_key(other->action))
            judge_violate(run, operation->key,
                          "agent %" PRIu32 " requests the state for row %" PRIu64
                          " while it requests the state for row %" PRIu64 ", which is for all its operations",
                          agent, operation->row, other->row);
    }
}

/* The agent's view is about a row with the current time; a row that waited may belong to other settings. */
static bool has_settings_of_now(const struct lab_cluster_run *run, uint32_t agent,
                                const struct lab_host_operation *operation, int64_t now_ns)
{
    const struct bk_strategy *now = lab_agent_strategy(run, agent, now_ns);
    return now->kind != BK_KIND_COUNT ||
           now->of.count.rows == lab_agent_strategy(run, agent, operation->row_time_ns)->of.count.rows;
}

/* What the agent knows by now is enough for the operation: of guarded the grant holds the row's time, or the
 * time up to which a read has to see all rows (core's protocol_guarded.c), or names a later bucket than the
 * full one. */
static bool is_served(const struct lab_cluster_run *run, uint32_t agent,
                      const struct lab_host_operation *operation)
{
    const struct lab_host_agent *host = &run->agents[agent];
    int64_t now_ns = lab_agent_clock(run, agent), at_ns = now_ns, bucket;
    bool is_changing;
    if (run->config.coordination == BK_GUARDED && operation->is_read) {
        if (of_agent(run, agent)->jumped_ns >= operation->begun_ns)
            return false;
        int64_t begun_ns = lab_agent_clock_at(run, agent, operation->begun_ns);
        at_ns = lab_until(begun_ns, lab_times(3, run->config.clock_bound_ns));
    } else if (run->config.coordination == BK_GUARDED && !operation->is_acknowledged) {
        at_ns = operation->row_time_ns;
    }
    if (!has_settings_of_now(run, agent, operation, now_ns) ||
        !bk_agent_view(host->agent, at_ns, operation->key, &bucket, &is_changing))
        return false;
    return !operation->is_acknowledged || bucket > operation->bucket;
}

void lab_parked_heard(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum bk_action_kind kind)
{
    const struct lab_host_agent *host = &run->agents[agent];
    if (of_agent(run, agent)->parked == 0 || !lab_asks_for_key(kind) || host->is_paused)
        return;
    const struct lab_host_operation *parked = NULL;
    bool is_asked = false, is_known = false;
    for (uint32_t i = 0; i < host->operations_met; i++) {
        const struct lab_host_operation *operation = &host->operations[i];
        if (!operation->is_active || operation->key != key)
            continue;
        if (!own(run, operation)->is_parked) {
            is_asked = is_asked || lab_asks_for_key(operation->action);
            continue;
        }
        bool known = is_served(run, agent, operation);
        if (parked == NULL || (known && !is_known))
            parked = operation;
        is_known = is_known || known;
    }
    if (parked == NULL || (is_asked && !is_known))
        return;
    judge_violate(run, key, "agent %" PRIu32 " has %s %" PRIu64 " wait for %s", agent,
                  parked->is_read ? "a read parked with row" : "row", parked->row,
                  is_known ? "what it knows" : "an answer that no operation requests");
}
