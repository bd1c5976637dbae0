/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the settings of agents: an agent begins with those of the scenario. A change whose date is known
 * is in its history from the start. One that is deployed reaches each agent once, within the rollout, and is
 * dated by the agent's clock then, or replaces the history. The history of each agent is kept here a second
 * time, as the numbers of changes and their dates. */
#include "judges.h"

#include <inttypes.h>

static void violate(struct lab_cluster_run *run, uint32_t agent, const char *what)
{
    judge_violate(run, LAB_NO_KEY, "agent %" PRIu32 " %s", agent, what);
}

static const struct lab_change *change_of(const struct lab_cluster_run *run, uint32_t era)
{
    return &run->strategy->settings.changes[era - 1];
}

/* A change with a rollout, or one that forgets the old settings, is deployed. */
static bool is_deployed(const struct lab_change *change)
{
    return change->rollout_ns > 0 || !change->keeps_old;
}

/* A clock that was set back dates nothing before the era that is the last by now. */
static void add(struct lab_host_record *record, uint32_t era, int64_t from_ns)
{
    int64_t last_ns = record->eras[record->era_count - 1].from_ns;
    if (record->era_count == BK_ERAS_MAX)
        return;
    record->eras[record->era_count].from_ns = from_ns > last_ns ? from_ns : last_ns + 1;
    record->eras[record->era_count++].era = era;
}

static void begin_with(struct lab_host_record *record, uint32_t era)
{
    record->eras[0].from_ns = INT64_MIN;
    record->eras[0].era = era;
    record->era_count = 1;
}

/* Adds the changes after this era whose dates are known, up to the next deployment. */
static void add_dated(const struct lab_cluster_run *run, struct lab_host_record *record, uint32_t era)
{
    while (++era <= run->strategy->settings.change_count && !is_deployed(change_of(run, era)))
        add(record, era, lab_until(run->start_ns, change_of(run, era)->at_ns));
    record->next_era = era;
}

/* Field by field, since the padding of a loaded state may differ. */
static bool is_same(const struct bk_strategy *a, const struct bk_strategy *b)
{
    if (a->kind != b->kind || a->max_age_ns != b->max_age_ns)
        return false;
    switch (a->kind) {
    case BK_KIND_TIME:
        return a->of.time.calendar == b->of.time.calendar && a->of.time.window_ns == b->of.time.window_ns &&
               a->of.time.epoch_ns == b->of.time.epoch_ns && a->of.time.shards == b->of.time.shards;
    case BK_KIND_COUNT:
        return a->of.count.rows == b->of.count.rows;
    case BK_KIND_PROBABILISTIC:
        return a->of.probabilistic.bits == b->of.probabilistic.bits &&
               a->of.probabilistic.chance_numerator == b->of.probabilistic.chance_numerator &&
               a->of.probabilistic.chance_denominator == b->of.probabilistic.chance_denominator &&
               a->of.probabilistic.threshold == b->of.probabilistic.threshold;
    case BK_KIND_HASH:
        return a->of.hash.buckets == b->of.hash.buckets;
    case BK_KIND_WEIGHTED:
        return a->of.weighted.bytes == b->of.weighted.bytes &&
               a->of.weighted.threshold == b->of.weighted.threshold;
    default:
        return true;
    }
}

static void judge_history(struct lab_cluster_run *run, uint32_t agent, const struct bk_history *history)
{
    const struct lab_host_record *record = &judge_of(run)->records[agent];
    bool is_fine = history->count == record->era_count;
    for (uint32_t i = 0; is_fine && i < history->count; i++) {
        is_fine = is_same(&history->eras[i].strategy, lab_era_settings(run, record->eras[i].era)) &&
                  (i == 0 || history->eras[i].from_ns == record->eras[i].from_ns);
    }
    if (!is_fine)
        violate(run, agent, "has settings that differ from those that were deployed to it");
}

/* The config of all agents. */
static bool is_config_right(const struct lab_cluster_run *run)
{
    const struct lab_agents *agents = &run->scenario->agents;
    const struct lab_settings *settings = &run->strategy->settings;
    const struct bk_agent_config *config = &run->config;
    return config->coordination == settings->coordination && config->counter == settings->counter &&
           config->source == settings->source && config->lease_rows == settings->lease_rows &&
           config->every_rows == settings->every_rows && config->every_ns == settings->every_ns &&
           config->late_ns == settings->reading.late_ns && config->lead_ns == settings->lead_ns &&
           config->grant_ns == settings->grant_ns && config->lock_lasts_ns == settings->lock_lasts_ns &&
           config->lock_backoff_ns == settings->lock_backoff_ns &&
           config->cache_ttl_ns == agents->cache_ttl_ns && config->retries == agents->retries &&
           config->counter_retries == agents->counter_retries &&
           config->clock_bound_ns == agents->clock_bound_ns &&
           (config->remember_keys > 0) == settings->reading.remembers_empty &&
           (agents->operations == 0 || config->operations == agents->operations) &&
           config->cache_entries <= agents->cache_entries && is_same(&config->strategy, &settings->strategy);
}

void lab_settings_begin(struct lab_cluster_run *run)
{
    if (!is_config_right(run))
        violate(run, 0, "and all others have settings that differ from those of the scenario");
    for (uint32_t i = 0; i < run->agent_count; i++) {
        struct lab_host_record *record = &judge_of(run)->records[i];
        begin_with(record, 0);
        add_dated(run, record, 0);
        judge_history(run, i, &run->agents[i].history);
    }
}

void lab_settings_deployed(struct lab_cluster_run *run, uint32_t agent, uint32_t index)
{
    const struct lab_change *change = change_of(run, index + 1);
    int64_t now_ns = sim_queue_now(&run->queue), from_ns = lab_until(run->start_ns, change->at_ns);
    struct lab_host_record *record = &judge_of(run)->records[agent];
    if (now_ns < from_ns || now_ns - from_ns > (change->rollout_ns > 0 ? change->rollout_ns - 1 : 0))
        violate(run, agent, "is given new settings outside of their rollout");
    if (record->next_era != index + 1)
        violate(run, agent, "is given new settings twice, or in the wrong order");
    if (change->keeps_old)
        add(record, index + 1, lab_agent_clock(run, agent));
    else
        begin_with(record, index + 1);
    add_dated(run, record, index + 1);
    judge_history(run, agent, &run->agents[agent].history);
}

void lab_settings_restarted(struct lab_cluster_run *run, uint32_t agent, const struct bk_history *history)
{
    judge_history(run, agent, history);
}

void lab_settings_end(struct lab_cluster_run *run)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    for (uint32_t i = 0; i < run->agent_count; i++) {
        uint32_t era = judge_of(run)->records[i].next_era;
        const struct lab_change *change = era > 0 ? change_of(run, era) : NULL;
        if (era <= run->strategy->settings.change_count &&
            lab_until(lab_until(run->start_ns, change->at_ns), change->rollout_ns) < now_ns)
            violate(run, i, "was never given new settings");
    }
}
