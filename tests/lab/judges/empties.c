/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, windows that a read skips. core's agent.h has the rule: an agent remembers a window of a key as
 * empty if it queried the whole window, `late` or more after its end by its own clock, and found no rows; and
 * it forgets this when it stores a row there itself. An answer that was pending at that time may be older
 * than the row, so nothing is learned from it. So each window that a read skips was found to be empty in this
 * way.
 *
 * The windows that an agent may skip are recorded from its start to its next crash, in a table that only
 * grows. Beyond a few thousand windows, and for an agent that restarts from a checkpoint, nothing is judged.
 */
#include "judges.h"

#define WINDOWS_MOST (1u << 14)
/* Of a long stretch of skipped windows, at most this many are judged, from the newest on. */
#define JUDGED_MOST 256

void lab_empties_forgotten(struct lab_cluster_run *run, uint32_t agent, bool is_known)
{
    if (of_agent(run, agent)->empties.windows.values > 0)
        lab_tuples_clear(&of_agent(run, agent)->empties.windows);
    of_agent(run, agent)->empties.is_unknown = !is_known;
}

/* Returns the flag of a window that was once found empty: 1 if it still is. NULL for other windows. */
static uint64_t *find(const struct lab_cluster_run *run, uint32_t agent, uint32_t key, int64_t window)
{
    const uint64_t tuple[LAB_TUPLE_WORDS] = {key, (uint64_t)window};
    return lab_tuples_find(&of_agent(run, agent)->empties.windows, tuple);
}

static void learn(struct lab_cluster_run *run, uint32_t agent, uint32_t key, int64_t window)
{
    struct lab_tuples *windows = &of_agent(run, agent)->empties.windows;
    const uint64_t tuple[LAB_TUPLE_WORDS] = {key, (uint64_t)window};
    if (windows->count == 0) {
        lab_tuples_init(windows, 1);
        windows->most = WINDOWS_MOST;
    }
    uint64_t *is_empty = lab_tuples_get(windows, tuple);
    if (is_empty != NULL) {
        *is_empty = 1;
    } else {
        run->out_of_memory = run->out_of_memory || windows->out_of_memory;
        lab_empties_forgotten(run, agent, false);
    }
}

static struct bk_route window_at(const struct lab_cluster_run *run, int64_t time_ns)
{
    struct bk_row row = {.time_ns = time_ns};
    struct bk_route route = {0};
    bk_route(&run->config.strategy, NULL, &row, &route);
    return route;
}

void lab_empties_heard(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation)
{
    const struct bk_outcome *outcome = &operation->outcome;
    if (run->config.remember_keys == 0 || operation->action != BK_ACT_READ_ROWS ||
        outcome->kind != BK_OUTCOME_APPLIED || outcome->empty == 0 ||
        own(run, operation)->walk.is_overtaken || of_agent(run, agent)->empties.is_unknown)
        return;
    struct bk_query query;
    lab_read_query(run->scenario, run->strategy, operation->read, own(run, operation)->walk.now_ns,
                   own(run, operation)->walk.birth_ns, &query);
    /* Windows that had ended at least `late` ago. If the clock jumped meanwhile, this is unknown. */
    int64_t clock_ns = lab_agent_clock_at(run, agent, operation->asked_ns);
    bool is_known = of_agent(run, agent)->disturbed_ns < operation->begun_ns;
    int64_t low = INT64_MIN,
            end = is_known ? window_at(run, clock_ns - run->config.late_ns).bucket : INT64_MAX;
    if (query.kind == BK_QUERY_RANGE) { /* only windows that were queried completely */
        struct bk_route first = window_at(run, query.from_ns), last = window_at(run, query.until_ns);
        low = first.bucket + (query.from_ns > first.from_ns);
        end = last.bucket < end ? last.bucket : end;
    }
    for (int i = 0; i < 64; i++) {
        int64_t window = operation->step_low + i;
        if ((outcome->empty >> i & 1) != 0 && window >= low && window < end &&
            !of_agent(run, agent)->empties.is_unknown)
            learn(run, agent, operation->key, window);
    }
}

void lab_empties_stored(struct lab_cluster_run *run, uint32_t agent,
                        const struct lab_host_operation *operation)
{
    struct lab_host_agent *host = &run->agents[agent];
    uint64_t *is_empty = find(run, agent, operation->key, operation->bucket);
    if (is_empty != NULL)
        *is_empty = 0;
    for (uint32_t i = 0; i < host->operations_met; i++) {
        struct lab_host_operation *other = &host->operations[i];
        if (other->is_active && other->is_read && other->key == operation->key &&
            !own(run, other)->is_awaited)
            own(run, other)->walk.is_overtaken = true;
    }
}

bool lab_empties_know(const struct lab_cluster_run *run, uint32_t agent, uint32_t key, int64_t low,
                      int64_t high)
{
    if (of_agent(run, agent)->empties.is_unknown || high < low)
        return true;
    for (int64_t window = high; window >= low && high - window < JUDGED_MOST; window--) {
        const uint64_t *is_empty = find(run, agent, key, window);
        if (is_empty == NULL || *is_empty == 0)
            return false;
    }
    return true;
}
