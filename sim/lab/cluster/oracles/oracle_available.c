/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available: a row that comes while all is well, and has been for a grace period, is acknowledged, and within
 * the bound of its protocol; and an operation always ends, faults or not. The bound adds up the steps that
 * the protocol takes before it acknowledges, each with all of its retries (docs/oracles.md has the formula).
 * What overlaps a fault may be refused, but not before each of its retries was used. An operation that is
 * still under way when a run has been left its ten minutes, or that its agent has forgotten, so that nothing
 * of it will ever happen, hangs. */
#include <inttypes.h>

#include "cluster_run.h"
#include "evidence.h"
#include "history.h"
#include "kernel/time.h"
#include "oracles.h"

/* Where others may win the update that a row waits for, each of which costs it a round trip and a pause. Of
 * 178,000 such rows in 4,500 drawn clusters the slowest took 4.0 steps, and with one agent 1.1
 * (docs/oracles.md); this is three times as many. */
#define STEPS_OF_CONTEST 12
#define STEPS_ALONE      4

/* Of an action with all of its retries. */
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

/* Actions before the row is acknowledged: the put, what it needs to know, and what rows contend for: a grant,
 * a lease of numbers or the roll at a line with other agents, a single number with any other row of the key.
 */
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

/* All was well for the operation's whole life, and for the grace before it: what failed earlier, and what was
 * parked behind that, has ended by then. */
static bool is_judged(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t spent_ns = sim_queue_now(&run->queue) - operation->begun_ns;
    int64_t grace_ns = lab_until(run->oracles.lag_ns, lab_times(2, step_ns(run)));
    int64_t well_ns = lab_health_well_ns(run);
    return well_ns >= grace_ns && well_ns - grace_ns >= spent_ns;
}

void lab_available_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t now_ns = sim_queue_now(&run->queue), spent_ns = now_ns - operation->begun_ns;
    if (spent_ns <= run->oracles.available_ns || !is_judged(run, operation))
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "row %" PRIu64
                       " was acknowledged after %.3f s without a fault, and %.3f s is the bound",
                       operation->row, (double)spent_ns / 1e9, (double)run->oracles.available_ns / 1e9);
}

/* Where numbers come from a counter column its own retries hold too. */
static uint32_t tries_of(const struct lab_cluster_run *run)
{
    const struct lab_agents *agents = &run->scenario->agents;
    bool is_less = run->config.source != BK_SOURCE_EXTERNAL && agents->counter_retries < agents->retries;
    return (is_less ? agents->counter_retries : agents->retries) + 1;
}

/* Its last request failed, and it might have been tried again. */
static bool gives_up_early(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    return operation->failures < tries_of(run) && operation->failures > 0 &&
           lab_has_failed(operation->outcome.kind);
}

void lab_available_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         bool is_refused)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    if (operation->is_acknowledged)
        return;
    if (gives_up_early(run, operation)) {
        lab_violate_within(
            run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
            "row %" PRIu64 " was %s after %" PRIu32 " failed requests, and %" PRIu32 " tries are set",
            operation->row, is_refused ? "refused" : "given up", operation->failures, tries_of(run));
        return;
    }
    if (!is_judged(run, operation))
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "row %" PRIu64 " was %s after %.3f s without a fault", operation->row,
                       is_refused ? "refused" : "given up", (double)(now_ns - operation->begun_ns) / 1e9);
}

void lab_available_left(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t now_ns = sim_queue_now(&run->queue), spent_ns = now_ns - operation->begun_ns;
    bool is_forgotten = run->replay != NULL ? run->replay->is_exhausted : sim_queue_count(&run->queue) == 0;
    /* All retries of a few steps may take longer than a run is left, and so may those of the operations that
     * one after another asked for a parked one. */
    bool is_early = operation->is_parked || spent_ns < LAB_DRAIN_NS ||
                    now_ns - operation->turn_ns <= lab_times(8, step_ns(run));
    if (!is_forgotten && is_early)
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "%s has not ended %.0f s after it began%s",
                       operation->is_read ? "a read" : "a row's write", (double)spent_ns / 1e9,
                       is_forgotten ? ", and nothing more will happen" : "");
}
