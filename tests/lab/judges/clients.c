/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, for identifiers: a client that requests an identifier gets it, or an error. core's idgen.h and
 * docs/strategies.md have the rules: while a client waits, it always has a pending request or a time for its
 * next attempt; each request has its number of tries; a lock that was requested is released before the next
 * attempt, or before the lease ends; the nth attempt comes after the wait that is set, by the client's own
 * clock; and a lease fails because of contention only if a limit is set. All of this is exact, with or
 * without faults. If everything has been healthy for a grace period, a batch must also come within a
 * bound. */
#include "judges.h"

#include <inttypes.h>

#include "kernel/time.h"

static void violate(struct lab_cluster_run *run, uint32_t number, const char *what)
{
    judge_violate(run, LAB_NO_KEY, "client %" PRIu32 " %s", number, what);
}

static bool has_failed(enum bk_idgen_outcome_kind outcome)
{
    return outcome == BK_IDGEN_REFUSED || outcome == BK_IDGEN_UNKNOWN;
}

static bool is_release(const struct bk_idgen_action *action)
{
    return action->kind == BK_IDGEN_DELETE_COLUMNS ||
           (action->kind == BK_IDGEN_CAS_LOCK && action->set[0] == 0);
}

static bool asks_for_lock(const struct bk_idgen_action *action)
{
    return (action->kind == BK_IDGEN_CAS_LOCK && action->set[0] != 0) ||
           action->kind == BK_IDGEN_WRITE_COLUMN;
}

static int64_t end_of(const struct bk_idgen_action *action)
{
    return action->kind == BK_IDGEN_CAS_LOCK ? action->set[1] : action->columns[0].until_ns;
}

/* Returns whether the client's clock jumped, or the client was paused, since its last outcome; then the clock
 * reading of its decision is unknown. */
static bool is_disturbed(const struct lab_cluster_run *run, uint32_t number)
{
    const struct judged_agent *host = of_agent(run, number);
    const struct lab_id_watch *watch = &judge_of(run)->clients[number];
    return host->disturbed_ns >= watch->heard_ns || host->jumped_ns >= watch->heard_ns;
}

void lab_id_begins(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    *watch = (struct lab_id_watch){.until_ns = INT64_MIN};
    watch->heard_ns = sim_queue_now(&run->queue);
    watch->clock_ns = lab_agent_clock(run, number);
}

/* For columns: returns whether the client's own column exists and all others had expired when the attempt
 * began. */
static bool is_alone(const struct lab_cluster_run *run, uint32_t number,
                     const struct bk_idgen_outcome *outcome)
{
    const struct lab_id_watch *watch = &judge_of(run)->clients[number];
    bool is_there = false, is_alone = true;
    for (size_t i = 0; i < outcome->column_count; i++) {
        const struct bk_idgen_column *column = &outcome->columns[i];
        if (column->client == (uint64_t)number + 1)
            is_there = column->until_ns == watch->until_ns;
        else
            is_alone = is_alone && column->until_ns < watch->begun_ns;
    }
    return is_there && is_alone;
}

static bool is_in_lease(const struct lab_cluster_run *run, const struct lab_id_watch *watch)
{
    return watch->clock_ns >= watch->begun_ns &&
           watch->clock_ns - watch->begun_ns < run->idgen->config.lease_ns;
}

static void hear_of_last(const struct lab_cluster_run *run, uint32_t number,
                         const struct bk_idgen_outcome *outcome)
{
    const struct lab_id_client *client = &run->idgen->clients[number];
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    bool is_read = client->action == BK_IDGEN_READ_LAST && outcome->kind == BK_IDGEN_APPLIED;
    if (client->action == BK_IDGEN_WRITE_LAST)
        watch->is_late = outcome->kind == BK_IDGEN_APPLIED && !watch->is_blurred && !is_in_lease(run, watch);
    if (!is_read && (client->action != BK_IDGEN_CAS_LAST || outcome->kind != BK_IDGEN_NOT_APPLIED))
        return;
    watch->is_found = outcome->found;
    watch->last = outcome->values[0];
}

/* As lab_host_came() and what follows it in host.c. */
void lab_id_came(struct lab_cluster_run *run, const struct sim_event *reply)
{
    struct lab_id_client *client = &run->idgen->clients[reply->target];
    int64_t now_ns = sim_queue_now(&run->queue);
    if (client->serial != (uint32_t)reply->a || !client->is_asking ||
        judge_of(run)->clients[reply->target].came_ns != 0 ||
        now_ns >= lab_until(client->asked_ns, run->scenario->agents.timeout_ns))
        return;
    judge_of(run)->clients[reply->target].came_ns = now_ns;
    judge_of(run)->clients[reply->target].hold_ns = of_agent(run, reply->target)->held_until_ns;
}

void lab_id_answered(struct lab_cluster_run *run, uint32_t number, bool is_reply)
{
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    int64_t now_ns = sim_queue_now(&run->queue), came_ns = watch->came_ns;
    watch->came_ns = 0;
    if (came_ns == 0 || watch->hold_ns != of_agent(run, number)->held_until_ns)
        return;
    if (!is_reply)
        violate(run, number, "loses an answer that came during a pause");
    else if (now_ns != came_ns && now_ns != watch->hold_ns)
        violate(run, number, "gets an answer later than at the end of its pause");
}

void lab_id_heard(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_outcome *outcome)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    bool was_denied = outcome->kind == BK_IDGEN_NOT_APPLIED, is_applied = outcome->kind == BK_IDGEN_APPLIED;
    bool is_own =
        outcome->found && outcome->values[0] == (int64_t)number + 1 && outcome->values[1] == watch->until_ns;
    watch->heard_ns = sim_queue_now(&run->queue);
    watch->clock_ns = lab_agent_clock(run, number);
    watch->outcome = outcome->kind;
    watch->failed = has_failed(outcome->kind) ? watch->failed + 1 : 0;
    if (client->action == BK_IDGEN_CAS_LOCK && watch->owes)
        watch->owes = watch->is_holder = is_applied || (was_denied && is_own) || has_failed(outcome->kind);
    if (client->action == BK_IDGEN_CAS_LOCK && has_failed(outcome->kind))
        watch->is_holder = false;
    hear_of_last(run, number, outcome);
    if (client->action == BK_IDGEN_READ_COLUMNS && is_applied)
        watch->is_holder = is_alone(run, number, outcome);
}

/* Returns the longest wait after the nth attempt of a lease. A random first wait is at most the base. */
static int64_t longest_wait_ns(const struct bk_idgen_config *config, uint32_t nth)
{
    if (config->backoff == BK_IDGEN_CONSTANT)
        return config->backoff_base_ns;
    if (config->backoff == BK_IDGEN_RANDOM_TIMES)
        return lab_times(nth, config->backoff_base_ns);
    int64_t wait_ns = lab_times(INT64_C(1) << (nth < 62 ? nth - 1 : 61), config->backoff_base_ns);
    return config->backoff_cap_ns != 0 && wait_ns > config->backoff_cap_ns ? config->backoff_cap_ns : wait_ns;
}

/* Judges the wait after a failed attempt. The nth random wait is n times the first one of the lease. */
static bool is_wait_right(const struct lab_cluster_run *run, uint32_t number, struct lab_id_watch *watch,
                          int64_t waited_ns)
{
    const struct bk_idgen_config *config = &run->idgen->config;
    int64_t most_ns = longest_wait_ns(config, watch->attempts), least_ns = most_ns;
    if (config->backoff == BK_IDGEN_RANDOM_TIMES)
        least_ns = watch->attempts == 1 || watch->first_wait_ns == 0
                       ? watch->attempts
                       : lab_times(watch->attempts,
                                   watch->first_wait_ns - late_most_ns(run, number, watch->first_wait_ns));
    if (watch->attempts > 1 && watch->first_wait_ns != 0)
        most_ns = config->backoff == BK_IDGEN_RANDOM_TIMES ? lab_times(watch->attempts, watch->first_wait_ns)
                                                           : most_ns;
    if (of_agent(run, number)->jumped_ns >= watch->heard_ns)
        return true;
    bool is_known = !is_disturbed(run, number);
    if (watch->attempts == 1)
        watch->first_wait_ns = is_known ? waited_ns : 0;
    return waited_ns >= least_ns &&
           (!is_known || waited_ns <= lab_until(most_ns, late_most_ns(run, number, most_ns)));
}

static void begin_attempt(struct lab_cluster_run *run, uint32_t number, int64_t until_ns)
{
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    const struct bk_idgen_config *config = &run->idgen->config;
    int64_t clock_ns = lab_agent_clock(run, number), due_ns;
    bool is_known = !is_disturbed(run, number);
    if (watch->owes)
        violate(run, number, "requests a lock again without releasing the last one");
    if (watch->has_batch)
        violate(run, number, "requests a lock before it has handed out all identifiers of its batch");
    if (config->attempts != 0 && watch->attempts >= config->attempts)
        violate(run, number, "tries to get the lock too often");
    if (watch->attempts > 0 && !is_wait_right(run, number, watch, clock_ns - watch->clock_ns))
        violate(run, number, "waits too long or too short for its next attempt");
    bool is_beyond = __builtin_add_overflow(clock_ns, config->lock_lasts_ns, &due_ns);
    if (!is_beyond && is_known && until_ns != due_ns &&
        (until_ns != watch->until_ns + 1 || until_ns < due_ns))
        violate(run, number, "requests a lock with a wrong end");
    watch->attempts++;
    watch->until_ns = until_ns;
    watch->begun_ns = clock_ns;
    watch->is_blurred = !is_known;
}

/* Under the lock, a request is repeated only while the lease lasts. */
static bool may_stop_trying(const struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_id_client *client = &run->idgen->clients[number];
    const struct lab_id_watch *watch = &judge_of(run)->clients[number];
    bool is_store = client->action == BK_IDGEN_WRITE_LAST || client->action == BK_IDGEN_CAS_LAST;
    if (client->action != BK_IDGEN_READ_LAST && !is_store)
        return false;
    return watch->is_blurred || !is_in_lease(run, watch) ||
           (client->action == BK_IDGEN_CAS_LAST && watch->outcome == BK_IDGEN_UNKNOWN);
}

static void judge_tries(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *next)
{
    const struct lab_id_client *client = &run->idgen->clients[number];
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    uint32_t retries = run->scenario->agents.retries;
    bool is_anew = asks_for_lock(next) && end_of(next) != watch->until_ns;
    bool is_again = next->kind == client->action && !is_anew && is_release(next) == watch->is_releasing;
    if (watch->failed == 0)
        return;
    if (is_again && watch->failed > retries)
        violate(run, number, "sends a request too often");
    else if (!is_again && watch->failed <= retries && !may_stop_trying(run, number))
        violate(run, number, "gives up a request before its last try");
    if (!is_again)
        watch->failed = 0;
}

static void release(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *next)
{
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    bool is_lwt = next->kind == BK_IDGEN_CAS_LOCK;
    int64_t owner = is_lwt ? next->expected[0] : (int64_t)next->columns[0].client;
    int64_t until_ns = is_lwt ? next->expected[1] : next->columns[0].until_ns;
    if (!watch->owes && watch->failed == 0)
        violate(run, number, "releases a lock that it did not request, or releases it twice");
    if (owner != (int64_t)number + 1 || until_ns != watch->until_ns)
        violate(run, number, "releases a lock of another owner");
    watch->owes = watch->is_holder = false;
}

/* Judges a batch: it follows the last identifier or begins the stripe, and may be shorter at the end of the
 * range. */
static void judge_batch(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *next)
{
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    int64_t stripes = run->idgen->config.stripes, batch = run->idgen->config.batch;
    int64_t last = watch->is_found ? watch->last : (int64_t)next->stripe - stripes, stored;
    bool is_beyond = __builtin_add_overflow(last, batch * stripes, &stored);
    if (!is_beyond && next->set[0] != stored)
        violate(run, number, "stores a batch that is not the next one");
    if (!watch->is_blurred && !is_in_lease(run, watch))
        violate(run, number, "stores a batch after its lease expired");
    watch->next = last + stripes;
    watch->stored = next->set[0];
}

void lab_id_given(struct lab_cluster_run *run, uint32_t number, int64_t first, int64_t last)
{
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    if (first != watch->next || last > watch->stored)
        violate(run, number, "hands out identifiers of no batch that it has stored, or hands them out twice");
    watch->has_batch = last < watch->stored;
    watch->next = watch->has_batch ? last + run->idgen->config.stripes : 0;
}

/* A client that is paused may have a batch of which it has not told. */
void lab_id_ends(struct lab_cluster_run *run, uint32_t number, uint64_t in_hand)
{
    const struct lab_id_watch *watch = &judge_of(run)->clients[number];
    uint64_t left = (uint64_t)(watch->stored - watch->next) / run->idgen->config.stripes + 1;
    if (in_hand != (watch->has_batch ? left : 0) && !run->agents[number].is_paused)
        violate(run, number, "has other identifiers than those of its batch that it has not handed out");
}

static void end_lease(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *action)
{
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    const struct bk_idgen_config *config = &run->idgen->config;
    bool is_contended = action->kind == BK_IDGEN_FAILED && action->status == BK_ERROR_CONTENDED;
    bool is_tried = config->attempts != 0 && watch->attempts >= config->attempts;
    bool is_long = config->backoff_limit_ns != 0 && watch->attempts > 0 &&
                   longest_wait_ns(config, watch->attempts) > config->backoff_limit_ns;
    if (is_contended && !is_tried && !is_long)
        violate(run, number, "fails to lease before its last try");
    if (action->kind == BK_IDGEN_FAILED && watch->owes)
        violate(run, number, "fails to lease without releasing its lock");
    if (action->kind == BK_IDGEN_READY && watch->is_late)
        violate(run, number, "hands out a batch whose store was acknowledged after its lease expired");
    watch->attempts = 0;
    watch->first_wait_ns = 0;
    watch->is_late = false;
    watch->has_batch = action->kind == BK_IDGEN_READY;
}

void lab_id_acted(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *next)
{
    struct lab_id_watch *watch = &judge_of(run)->clients[number];
    if (next->kind == BK_IDGEN_READY || next->kind == BK_IDGEN_FAILED) {
        end_lease(run, number, next);
        return;
    }
    judge_tries(run, number, next);
    bool needs_lock = next->kind == BK_IDGEN_READ_LAST || next->kind == BK_IDGEN_WRITE_LAST ||
                      next->kind == BK_IDGEN_CAS_LAST;
    if (needs_lock && !watch->is_holder && !watch->is_blurred)
        violate(run, number, "leases a batch under a lock that it did not get");
    if (next->kind == BK_IDGEN_CAS_LAST && !next->is_retry &&
        (next->if_absent == watch->is_found || (watch->is_found && next->expected[0] != watch->last)))
        violate(run, number, "stores a batch on a condition that its reads did not show");
    if (next->kind == BK_IDGEN_WRITE_LAST || next->kind == BK_IDGEN_CAS_LAST)
        judge_batch(run, number, next);
    if (asks_for_lock(next)) {
        if (end_of(next) != watch->until_ns)
            begin_attempt(run, number, end_of(next));
        watch->owes = true;
        watch->is_holder = false;
    } else if (is_release(next)) {
        release(run, number, next);
    }
    watch->is_releasing = is_release(next);
}
