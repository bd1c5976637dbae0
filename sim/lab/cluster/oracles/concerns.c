/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Determines which oracles are notified of an operation's steps. Most steps of a row concern few oracles, and
 * which ones depends on the strategy, the previous request and the next one. This is computed once, when a
 * run begins, so a step costs nothing for oracles that it does not concern. With `tells_all` of the context,
 * every oracle is notified of everything; a test compares both. */
#include <string.h>

#include "cluster_run.h"
#include "evidence.h"
#include "oracles.h"

static uint8_t of_action(const struct lab_cluster_run *run, bool is_read, bool fires,
                         enum bk_action_kind heard, enum bk_action_kind next)
{
    unsigned concerned = lab_steps_concern(run, fires, heard, next);
    bool is_first = heard == BK_ACT_DONE &&
                    (next == BK_ACT_PUT_ROW || next == BK_ACT_READ_ROWS || next == BK_ACT_READ_STATE);
    if (run->config.coordination == BK_LOCKED && !is_read)
        concerned |= LAB_CONCERNS_LOCK;
    if (is_first && lab_keeps_state(run))
        concerned |= LAB_CONCERNS_COPIES;
    if (next == BK_ACT_PUT_ROW && !is_read)
        concerned |= LAB_CONCERNS_ROUTE;
    if (is_read)
        concerned |= LAB_CONCERNS_READS;
    if (run->config.coordination == BK_GUARDED && lab_asks_for_key(next))
        concerned |= LAB_CONCERNS_TURNS;
    return (uint8_t)concerned;
}

static uint8_t of_outcome(const struct lab_cluster_run *run, enum bk_action_kind heard)
{
    bool is_of_state = heard == BK_ACT_READ_STATE || heard == BK_ACT_CAS_STATE || heard == BK_ACT_WRITE_STATE;
    unsigned concerned = 0;
    if (run->config.coordination == BK_LOCKED)
        concerned |= LAB_CONCERNS_LOCK;
    if (is_of_state || (lab_copies_run_out(run) && lab_copies_may_go(heard)))
        concerned |= LAB_CONCERNS_COPIES;
    if (is_of_state && lab_keeps_state(run) && run->config.coordination != BK_THREE_STATE)
        concerned |= LAB_CONCERNS_STEPS;
    if (heard == BK_ACT_READ_ROWS)
        concerned |= LAB_CONCERNS_READS;
    return (uint8_t)concerned;
}

void lab_concerns_begin(struct lab_cluster_run *run)
{
    struct lab_concerns *concerns = &run->oracles.concerns;
    concerns->crowds = lab_contends_by_row(run);
    concerns->times = wl_has_own_times(&run->scenario->workload);
    if (run->context->tells_all) {
        memset(concerns->action, 0xff, sizeof concerns->action);
        memset(concerns->outcome, 0xff, sizeof concerns->outcome);
        concerns->waits = concerns->all = true;
        return;
    }
    for (int heard = 0; heard < LAB_ACTIONS; heard++) {
        concerns->outcome[heard] = of_outcome(run, (enum bk_action_kind)heard);
        for (int next = 0; next < LAB_ACTIONS; next++) {
            for (int is_read = 0; is_read < 2; is_read++) {
                for (int fires = 0; fires < 2; fires++)
                    concerns->action[is_read][fires][heard][next] =
                        of_action(run, is_read, fires, (enum bk_action_kind)heard, (enum bk_action_kind)next);
            }
        }
    }
    concerns->finds = run->oracles.read_replicas >= run->scenario->cluster.replication_factor &&
                      run->config.remember_keys == 0;
    concerns->waits = lab_contends_for_rows(run);
}

/* The request was answered, the next one comes at once, and no earlier try counts: there is nothing to judge.
 */
static bool is_answered_at_once(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    return !run->oracles.concerns.waits && operation->outcome.kind == BK_OUTCOME_APPLIED &&
           operation->action != BK_ACT_READ_START && operation->heard_ns == sim_queue_now(&run->queue);
}

/* Beyond the bits of lab_concerns: the operation has waited, and its agent is paused. */
#define CONCERNS_WAITS 256u
#define CONCERNS_PAUSE 512u
/* What concerns the first put of most rows. */
#define CONCERNS_PUT (LAB_CONCERNS_COPIES | LAB_CONCERNS_ROUTE)

SIM_OUT_OF_LINE static void tell_put(struct lab_cluster_run *run, uint32_t agent,
                                     const struct lab_host_operation *operation, const struct bk_action *next,
                                     unsigned concerned)
{
    if ((concerned & LAB_CONCERNS_COPIES) != 0)
        lab_copies_acted(run, agent, operation, next);
    if ((concerned & LAB_CONCERNS_ROUTE) != 0)
        lab_route_acted(run, agent, operation, next);
}

SIM_OUT_OF_LINE static void tell(struct lab_cluster_run *run, uint32_t agent,
                                 struct lab_host_operation *operation, const struct bk_action *next,
                                 unsigned concerned)
{
    if ((concerned & CONCERNS_WAITS) != 0)
        lab_waits_acted(run, agent, operation, next);
    if ((concerned & CONCERNS_PAUSE) != 0)
        lab_faults_acted(run, agent, operation->key);
    if ((concerned & LAB_CONCERNS_STEPS) != 0)
        lab_steps_acted(run, agent, operation, next);
    if ((concerned & LAB_CONCERNS_TURNS) != 0)
        lab_parked_acted(run, agent, operation, next->kind);
    if ((concerned & LAB_CONCERNS_LOCK) != 0)
        lab_lock_acted(run, agent, operation, next);
    tell_put(run, agent, operation, next, concerned);
    if ((concerned & LAB_CONCERNS_READS) != 0)
        lab_reads_acted(run, agent, operation, next);
}

void lab_oracles_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                       const struct bk_action *next)
{
    const struct lab_concerns *concerns = &run->oracles.concerns;
    unsigned concerned =
        concerns->action[operation->is_read][operation->fires][operation->action][next->kind];
    if (SIM_UNLIKELY(next->status == BK_OPERATION_REFUSED))
        concerned |= LAB_CONCERNS_STEPS;
    if (operation->is_awaited && SIM_UNLIKELY(operation->is_parked || !is_answered_at_once(run, operation)))
        concerned |= CONCERNS_WAITS;
    else if (operation->is_awaited)
        operation->tried = 0;
    operation->is_awaited = false;
    if (SIM_UNLIKELY(sim_queue_now(&run->queue) < run->agents[agent].held_until_ns))
        concerned |= CONCERNS_PAUSE;
    if (SIM_UNLIKELY((concerned & ~CONCERNS_PUT) != 0))
        tell(run, agent, operation, next, concerned);
    else if (concerned != 0)
        tell_put(run, agent, operation, next, concerned);
}

struct lab_known_bucket lab_oracles_tell_heard(struct lab_cluster_run *run, uint32_t agent,
                                               struct lab_host_operation *operation)
{
    unsigned concerned = run->oracles.concerns.outcome[operation->action];
    lab_host_answered(run, agent, operation);
    if ((concerned & LAB_CONCERNS_LOCK) != 0)
        lab_lock_heard(run, agent, operation);
    if ((concerned & LAB_CONCERNS_COPIES) != 0)
        lab_copies_heard(run, agent, operation);
    if ((concerned & LAB_CONCERNS_READS) != 0)
        lab_empties_heard(run, agent, operation);
    if ((concerned & LAB_CONCERNS_STEPS) != 0)
        return lab_known_bucket(run, agent, operation);
    return (struct lab_known_bucket){false, 0};
}
