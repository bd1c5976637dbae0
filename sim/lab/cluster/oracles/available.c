/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available: a row that arrives while everything has been healthy for a grace period is acknowledged within
 * the bound of its protocol; and every operation ends, with or without faults. The bound is the sum of the
 * steps that the protocol takes before the acknowledgement, each with all its retries (docs/oracles.md has
 * the formula). An operation that overlaps a fault may be refused, but only after all its retries. An
 * operation hangs if it has not ended ten minutes after the end of the run, or if its agent has forgotten it,
 * so that it can never continue. */
#include <inttypes.h>

#include "events.h"
#include "history.h"
#include "idgen.h"
#include "oracles.h"

/* The steps of an update for which agents contend: each lost update costs a round trip and a wait. Of 178,000
 * such rows in 4,500 random clusters, the slowest took 4.0 steps, and with one agent 1.1 (docs/oracles.md);
 * this is three times as many. */
#define STEPS_OF_CONTEST 12
#define STEPS_ALONE      4
/* The greatest wait for a batch, in turns per client. A turn is the duration of a lock, plus a request with
 * all its tries, plus the base of the wait. Of 552,366 batches in 150 random clusters, the slowest took 2.4
 * turns (docs/oracles.md). */
#define TURNS_OF_A_CLIENT 12
/* With an LWT lock, taking the lock, the read and the store take 24 trips through the network. If a lease is
 * not much longer than that, its success depends on chance, and there is no bound. */
#define TRIPS_OF_A_LEASE 64

/* Returns the greatest duration of an action with all its retries. */
static int64_t step_ns(const struct lab_cluster_run *run)
{
    const struct lab_agents *agents = &run->scenario->agents;
    int64_t tries = (int64_t)agents->retries + 1;
    return lab_times(tries, lab_until(agents->timeout_ns, lab_times(tries, run->config.retry_backoff_ns)));
}

bool lab_contends_for_rows(const struct lab_cluster_run *run)
{
    return lab_takes_numbers(run) || run->config.coordination == BK_GUARDED;
}

/* Returns the number of actions before a row is acknowledged: the put, the reads that it needs, and contended
 * updates: a grant, a lease of numbers or the roll at a line, for which agents contend, or a single number,
 * for which all rows of the key contend. */
static int64_t steps_before(const struct lab_cluster_run *run)
{
    if (lab_contends_for_rows(run) || run->config.strategy.max_age_ns != 0)
        return run->agent_count > 1 || run->config.source == BK_SOURCE_LWT ? STEPS_OF_CONTEST : STEPS_ALONE;
    return lab_keeps_state(run) || run->config.source == BK_SOURCE_COUNTER ? 2 : 1;
}

int64_t lab_available_bound_ns(const struct lab_cluster_run *run)
{
    return lab_times(steps_before(run), step_ns(run));
}

/* Returns whether everything was healthy during the operation and for the grace period before it. Operations
 * that failed earlier, and operations that were parked because of them, have ended by then. */
static bool is_judged(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t spent_ns = sim_queue_now(&run->queue) - operation->begun_ns;
    int64_t grace_ns = lab_until(run->oracles.lag_ns, lab_times(2, step_ns(run)));
    int64_t well_ns = lab_health_well_ns(run);
    return well_ns >= grace_ns && well_ns - grace_ns >= spent_ns;
}

static void acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t now_ns = sim_queue_now(&run->queue), spent_ns = now_ns - operation->begun_ns;
    if (spent_ns <= run->oracles.available_ns || !is_judged(run, operation))
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "row %" PRIu64 " was acknowledged after %.3f s without a fault; the bound is %.3f s",
                       operation->row, (double)spent_ns / 1e9, (double)run->oracles.available_ns / 1e9);
}

static void failed(struct lab_cluster_run *run, const struct lab_host_operation *operation, bool is_refused)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    if (!is_judged(run, operation))
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "row %" PRIu64 " was %s after %.3f s without a fault", operation->row,
                       is_refused ? "refused" : "given up", (double)(now_ns - operation->begun_ns) / 1e9);
}

/* Whether the operation waits for an answer that another one of its agent requests for the key. */
static bool is_parked(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    bool is_guarded = run->config.coordination == BK_GUARDED;
    if (operation->outstanding > 0)
        return false;
    if (operation->action == BK_ACT_DONE) /* it has made no request yet */
        return is_guarded || run->config.source == BK_SOURCE_LEASE || run->config.source == BK_SOURCE_MEMORY;
    return is_guarded && operation->action == BK_ACT_READ_COUNTER &&
           operation->outcome.kind == BK_OUTCOME_APPLIED;
}

static void left(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t now_ns = sim_queue_now(&run->queue), spent_ns = now_ns - operation->begun_ns;
    bool is_forgotten = run->replay != NULL ? run->replay->is_exhausted : sim_queue_count(&run->queue) == 0;
    /* All retries of a few steps may take longer than the drain of a run, and so may those of several
     * operations for which a parked one waited in turn. */
    bool is_early = is_parked(run, operation) || spent_ns < LAB_DRAIN_NS ||
                    now_ns - operation->turn_ns <= lab_times(8, step_ns(run));
    if (!is_forgotten && is_early)
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "%s has not ended %.0f s after it began%s",
                       operation->is_read ? "a read" : "a row's write", (double)spent_ns / 1e9,
                       is_forgotten ? ", and no event of it is pending" : "");
}

/* --- Identifiers. */

/* If everything was healthy while the client waited, and for the grace period before, the batch must have
 * come within a few turns per client. */
static void served(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_id_client *client = &run->idgen->clients[number];
    const struct lab_agents *agents = &run->scenario->agents;
    const struct bk_idgen_config *config = &run->idgen->config;
    int64_t step_ns = lab_times((int64_t)agents->retries + 1, agents->timeout_ns);
    int64_t turn_ns = lab_until(lab_until(config->lock_lasts_ns, step_ns), config->backoff_base_ns);
    int64_t grace_ns = lab_until(run->oracles.lag_ns, turn_ns);
    int64_t well_ns = lab_health_well_ns(run), spent_ns = sim_queue_now(&run->queue) - client->leased_ns;
    int64_t bound_ns = lab_times(TURNS_OF_A_CLIENT * (int64_t)run->agent_count, turn_ns);
    if (config->lease_ns < lab_times(TRIPS_OF_A_LEASE, lab_longest_trip_ns(run->scenario)))
        return;
    if (!client->is_leasing || config->backoff != BK_IDGEN_RANDOM_TIMES || spent_ns > well_ns - grace_ns)
        return;
    if (spent_ns > bound_ns)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, LAB_NO_KEY,
                         "client %" PRIu32
                         " waits %.3f s for an identifier without a fault; the bound is %.3f s",
                         number, (double)spent_ns / 1e9, (double)bound_ns / 1e9);
}

static void waits(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_id_client *client = &run->idgen->clients[number];
    if (client->is_leasing && !client->is_asking && bk_idgen_deadline(&client->idgen) == INT64_MAX)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, LAB_NO_KEY,
                         "client %" PRIu32
                         " waits for an identifier without a request or a time for the next attempt",
                         number);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    switch (event->kind) {
    case CLUSTER_ROW_UNUSUAL:
        acknowledged(run, event->operation);
        break;
    case CLUSTER_ROW_FAILED:
        failed(run, event->operation, event->flag);
        break;
    case CLUSTER_LOST:
        if (event->flag)
            left(run, event->operation);
        break;
    case CLUSTER_ID_ACTED:
        if (event->id_action->kind == BK_IDGEN_READY)
            served(run, event->agent);
        break;
    default: /* CLUSTER_AGENT_RESTS */
        waits(run, event->agent);
    }
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->idgen != NULL ? CLUSTER_WANTS(ID_ACTED) | CLUSTER_WANTS(AGENT_RESTS)
                              : CLUSTER_WANTS(ROW_UNUSUAL) | CLUSTER_WANTS(ROW_FAILED) | CLUSTER_WANTS(LOST);
}

const struct cluster_observer cluster_available = {
    .name = "available", .wants = wants, .judges = 1u << LAB_ORACLE_AVAILABLE, .on_event = hear};
