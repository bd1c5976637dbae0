/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that change while agents run. A change at a date that all agents know in advance is in their
 * history from the start. A deployment is an event for each agent, which then adopts the new settings, dated
 * by its own clock, or forgets the old ones. */
#include <assert.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
#include "lab/scenario.h"

/* If a clock was set back, it may show a time before the last change. The new settings then apply from just
 * after that change. */
static void add(struct bk_history *history, int64_t from_ns, const struct bk_strategy *strategy)
{
    int64_t last_ns = history->eras[history->count - 1].from_ns;
    enum bk_status status = bk_history_change(history, from_ns > last_ns ? from_ns : last_ns + 1, strategy);
    assert(status == BK_OK);
    (void)status;
}

/* Adds the later changes whose dates are known in advance. */
static void add_dated(const struct lab_cluster_run *run, uint32_t change, struct bk_history *history)
{
    const struct lab_change *changes = run->strategy->settings.changes;
    for (; change < run->strategy->settings.change_count && !lab_change_is_deployed(&changes[change]);
         change++)
        add(history, lab_until(run->start_ns, changes[change].at_ns), &changes[change].strategy);
}

void lab_changes_begin(struct lab_cluster_run *run)
{
    bool is_made = lab_regimes_make(run->strategy, run->start_ns, &run->regimes);
    assert(is_made);
    (void)is_made;
    bk_history_begin(&run->strategy->settings.strategy, &run->config.history);
    add_dated(run, 0, &run->config.history);
}

void lab_deploys_begin(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; i < run->strategy->settings.change_count; i++) {
        const struct lab_change *change = &run->strategy->settings.changes[i];
        if (!lab_change_is_deployed(change))
            continue;
        for (uint32_t agent = 0; agent < run->agent_count; agent++) {
            uint64_t draw = sim_hash(run->scenario->seed, SIM_ROLLOUT, (uint64_t)agent << 8 | i);
            int64_t later_ns = change->rollout_ns > 0 ? (int64_t)(draw % (uint64_t)change->rollout_ns) : 0;
            int64_t at_ns = lab_until(lab_until(run->start_ns, change->at_ns), later_ns);
            lab_push_event(run, at_ns, &(struct sim_event){LAB_EVENT_DEPLOY, agent, i, 0});
        }
    }
}

/* An agent that is down gets the settings when it restarts. */
void lab_deploy(struct lab_cluster_run *run, uint32_t number, uint32_t index)
{
    struct lab_host_agent *agent = &run->agents[number];
    const struct lab_change *change = &run->strategy->settings.changes[index];
    if (change->keeps_old)
        add(&agent->history, lab_agent_clock(run, number), &change->strategy);
    else
        bk_history_begin(&change->strategy, &agent->history);
    add_dated(run, index + 1, &agent->history);
    if (agent->is_up) {
        enum bk_status status = bk_agent_change(agent->agent, &agent->history);
        assert(status == BK_OK);
        (void)status;
    }
    cluster_emit(run, AGENT_DEPLOYED, .agent = number, .number = index);
}
