/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that change while agents run. A date that all know ahead stands in their history from the start. A
 * deploy is an event for each agent: it takes the new settings then, dated by its own clock, or forgets the
 * old ones. */
#include <assert.h>

#include "cluster_run.h"
#include "history.h"
#include "lab/change.h"

static bool is_deployed(const struct lab_change *change)
{
    return change->rollout_ns > 0 || !change->keeps_old;
}

/* A clock that was set back may tell a time before the last change: then the new settings hold from just
 * after it. */
static void add(struct bk_history *history, int64_t from_ns, const struct bk_strategy *strategy)
{
    int64_t last_ns = history->eras[history->count - 1].from_ns;
    enum bk_status status = bk_history_change(history, from_ns > last_ns ? from_ns : last_ns + 1, strategy);
    assert(status == BK_OK);
    (void)status;
}

/* Those that follow and are known by their date. */
static void add_dated(const struct lab_cluster_run *run, uint32_t change, struct bk_history *history)
{
    const struct lab_change *changes = run->strategy->settings.changes;
    for (; change < run->strategy->settings.change_count && !is_deployed(&changes[change]); change++)
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
        if (!is_deployed(change))
            continue;
        lab_condition_set(run, LAB_CONDITION_UNEVEN_SETTINGS);
        for (uint32_t agent = 0; agent < run->agent_count; agent++) {
            uint64_t draw = sim_hash(run->scenario->seed, SIM_ROLLOUT, (uint64_t)agent << 8 | i);
            int64_t later_ns = change->rollout_ns > 0 ? (int64_t)(draw % (uint64_t)change->rollout_ns) : 0;
            int64_t at_ns = lab_until(lab_until(run->start_ns, change->at_ns), later_ns);
            lab_push_event(run, at_ns, &(struct sim_event){LAB_EVENT_DEPLOY, agent, i, 0});
        }
    }
}

/* An agent that is down gets them with its restart. */
void lab_deploy(struct lab_cluster_run *run, uint32_t number, uint32_t index)
{
    struct lab_host_agent *agent = &run->agents[number];
    const struct lab_change *change = &run->strategy->settings.changes[index];
    if (change->keeps_old)
        add(&agent->history, lab_agent_clock(run, number), &change->strategy);
    else
        bk_history_begin(&change->strategy, &agent->history);
    add_dated(run, index + 1, &agent->history);
    agent->deployed_ns = sim_queue_now(&run->queue);
    lab_record_settings(run, number, index);
    lab_event_trace_add(run, LAB_TOLD(STATE, LAB_NO_KEY, number), "agent %u is given new settings", number);
    if (agent->is_up) {
        enum bk_status status = bk_agent_change(agent->agent, &agent->history);
        assert(status == BK_OK);
        (void)status;
        lab_twin_changed(run, number);
    }
    /* Whoever reads from now on begins at the new numbers, which may be below those of old rows. */
    bool forgets = !change->keeps_old && number == 0 && !lab_keeps_state(run);
    for (uint32_t key = 0; forgets && run->oracles.is_linked && key < run->key_count; key++)
        lab_findable_lowered(run, key);
}

const struct bk_history *lab_settings_at(const struct lab_cluster_run *run, int64_t time_ns)
{
    return &run->regimes.items[lab_regime_at(&run->regimes, time_ns)].history;
}

uint32_t lab_era_at(const struct lab_cluster_run *run, int64_t time_ns)
{
    const struct lab_settings *settings = &run->strategy->settings;
    uint32_t era = 0;
    while (era < settings->change_count && time_ns >= lab_until(run->start_ns, settings->changes[era].at_ns))
        era++;
    return era;
}

const struct bk_strategy *lab_era_settings(const struct lab_cluster_run *run, uint32_t era)
{
    const struct lab_settings *settings = &run->strategy->settings;
    return era == 0 ? &settings->strategy : &settings->changes[era - 1].strategy;
}

bool lab_is_misplaced(const struct lab_cluster_run *run, int64_t time_ns, int64_t bucket)
{
    /* Of a count only the key's state tells. */
    if (run->strategy->settings.change_count == 0 || run->config.strategy.kind == BK_COUNT)
        return false;
    const struct bk_history *history = lab_settings_at(run, time_ns);
    const struct bk_era *era = &history->eras[bk_history_era_at(history, time_ns)];
    if (era->strategy.kind == BK_HASH)
        return bucket < era->shift || bucket - era->shift >= (int64_t)era->strategy.of.hash.buckets;
    struct bk_row row = {.time_ns = time_ns};
    struct bk_route route;
    return bk_history_route(history, NULL, &row, &route) != BK_OK || route.bucket != bucket;
}
