/* SPDX-License-Identifier: MIT */
/* An agent's settings over time, according to its history, which the host may replace. */
#include <string.h>

#include "agent.h"
#include "calendar.h"

enum bk_status bk_agent_change(struct bk_agent *agent, const struct bk_history *history)
{
    if (agent == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = bk_agent_history_fits(&agent->config, history);
    if (status != BK_OK)
        return status;
    agent->config.history = *history;
    agent->config.strategy = history->eras[history->count - 1].strategy;
    /* Remembered empty windows and the results of current reads use the old window numbers, so they are
     * dropped. */
    size_t entries = (size_t)agent->memory_sets * CACHE_WAYS;
    memset((char *)agent + agent->memory_at, 0, entries * sizeof(struct memory_entry));
    for (uint32_t i = 0; i < agent->operations_met; i++)
        bk_agent_operations(agent)[i].is_outdated = true;
    return BK_OK;
}

enum bk_status bk_agent_history_fits(const struct bk_agent_config *config, const struct bk_history *history)
{
    enum bk_status status = bk_history_check(history);
    if (status != BK_OK)
        return status;
    for (uint32_t i = 0; i < history->count; i++) {
        if (history->eras[i].strategy.kind != config->strategy.kind)
            return BK_ERROR_ERA_KIND;
    }
    bool has_state = config->source != BK_SOURCE_EXTERNAL && config->source != BK_SOURCE_COUNTER;
    /* The sequence number at which new settings begin is only in the state, so all agents must read a
     * state. */
    return config->strategy.kind == BK_COUNT && history->count > 1 && !has_state ? BK_ERROR_ERA_KIND : BK_OK;
}

const struct bk_strategy *bk_agent_settings(const struct bk_agent *agent, int64_t time_ns)
{
    const struct bk_history *history = &agent->config.history;
    uint32_t era = history->count == 1 ? 0 : bk_history_era_at(history, time_ns);
    return &history->eras[era].strategy;
}

static struct bk_window span_of(const struct bk_strategy *strategy, int64_t time_ns)
{
    struct bk_strategy grid = {.kind = BK_TIME, .of.time.window_ns = strategy->max_age_ns};
    return bk_window_of(&grid, time_ns);
}

int64_t bk_agent_line_above(const struct bk_agent *agent, int64_t time_ns)
{
    const struct bk_history *history = &agent->config.history;
    for (uint32_t era = bk_history_era_at(history, time_ns); era < history->count; era++) {
        const struct bk_era *current = &history->eras[era];
        bool is_last = era + 1 == history->count;
        if (current->strategy.max_age_ns == 0)
            continue;
        int64_t line_ns =
            span_of(&current->strategy, current->from_ns > time_ns ? current->from_ns - 1 : time_ns).until_ns;
        if (is_last || line_ns < history->eras[era + 1].from_ns)
            return line_ns;
    }
    return INT64_MAX;
}

/* An era without a greatest age has no lines. The first era begins at INT64_MIN. */
int64_t bk_agent_line_at(const struct bk_agent *agent, int64_t time_ns)
{
    const struct bk_history *history = &agent->config.history;
    for (uint32_t era = bk_history_era_at(history, time_ns);; era--) {
        const struct bk_era *current = &history->eras[era];
        bool has_age = current->strategy.max_age_ns != 0;
        int64_t line_ns = has_age ? span_of(&current->strategy, time_ns).from_ns : INT64_MIN;
        if (line_ns >= current->from_ns)
            return line_ns;
        time_ns = current->from_ns - 1;
    }
}
