/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, copies of states: a row or a read that does not request the state first uses a copy that its
 * agent requested within the cache's time to live, by the agent's own clock. A copy is at least as old as the
 * agent's last answered request for the key. The time of that request is recorded for each agent's latest
 * keys, in a table of limited size in which a key may replace another one. Keys that are not in it are not
 * judged.
 *
 * An agent whose copy has not expired uses it, and does not read the state first: each answer, except one
 * with a lower bucket, takes the place of the copy. */
#include <inttypes.h>
#include <string.h>

#include "judges.h"

static struct lab_copy *place_of(const struct lab_cluster_run *run, uint32_t agent, uint32_t key)
{
    return &of_agent(run, agent)->copies[key % LAB_COPIES];
}

/* Returns whether an expired copy must be requested again. Numbers and grants are valid at any age of the
 * copy. */
bool lab_copies_run_out(const struct lab_cluster_run *run)
{
    enum bk_source source = run->config.source;
    bool counts_rows =
        source == BK_SOURCE_INCREMENTAL || source == BK_SOURCE_SCAN || source == BK_SOURCE_MEMORY;
    if (run->config.strategy.kind == BK_KIND_COUNT)
        return counts_rows;
    return lab_rows_fire(run) && run->config.coordination != BK_GUARDED;
}

bool lab_copies_may_go(enum bk_action_kind heard)
{
    return heard != BK_ACT_PUT_ROW && heard != BK_ACT_READ_ROWS && heard != BK_ACT_DONE;
}

/* Notes the state that the agent has learned from an answer or by its own write. The age of a copy whose
 * request was decided before a pause and sent after it is unknown, and so is that of a copy of a writer that
 * takes lower buckets too. */
static void keep(const struct lab_cluster_run *run, uint32_t agent,
                 const struct lab_host_operation *operation, bool is_told, struct lab_copy *copy)
{
    const struct bk_outcome *outcome = &operation->outcome;
    bool is_own = operation->action != BK_ACT_READ_STATE && outcome->kind == BK_OUTCOME_APPLIED;
    int64_t bucket = is_own                                         ? operation->columns[BK_COLUMN_BUCKET]
                     : (outcome->mask & 1 << BK_COLUMN_BUCKET) != 0 ? outcome->columns[BK_COLUMN_BUCKET]
                                                                    : 0;
    if (is_told && bucket >= copy->bucket) {
        copy->is_kept = of_agent(run, agent)->disturbed_ns < operation->asked_ns;
        copy->kept_ns = operation->asked_ns;
        copy->bucket = bucket;
    } else if (bucket > copy->bucket) {
        copy->bucket = bucket;
    } else if (bucket < copy->bucket) {
        copy->is_kept = false;
    }
}

void lab_copies_heard(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation)
{
    enum bk_action_kind action = operation->action;
    bool is_write = action == BK_ACT_WRITE_STATE;
    bool is_of_state = is_write || action == BK_ACT_READ_STATE || action == BK_ACT_CAS_STATE;
    /* A plain write proves no more than the copy on which it was based, except that a write of a count
     * contains everything relevant. */
    bool is_told = is_of_state && (!is_write || run->config.strategy.kind == BK_KIND_COUNT);
    struct lab_copy *copy = place_of(run, agent, operation->key);
    bool is_same = copy->is_known && copy->key == operation->key;
    if (lab_has_failed(operation->outcome.kind)) {
        copy->is_kept = copy->is_kept && !is_same; /* the agent may have forgotten it */
        return;
    }
    if (!is_same && is_told)
        *copy = (struct lab_copy){.is_known = true, .key = operation->key, .asked_ns = INT64_MIN};
    if (is_of_state && (is_same || is_told))
        keep(run, agent, operation, is_told, copy);
    if (is_told && operation->asked_ns > copy->asked_ns)
        copy->asked_ns = operation->asked_ns;
}

bool lab_copies_has(const struct lab_cluster_run *run, uint32_t agent, uint32_t key)
{
    const struct lab_copy *copy = &of_agent(run, agent)->copies[key % LAB_COPIES];
    return copy->is_known && copy->is_kept && copy->key == key;
}

void lab_copies_forgotten(struct lab_cluster_run *run, uint32_t agent)
{
    memset(of_agent(run, agent)->copies, 0, sizeof of_agent(run, agent)->copies);
}

/* Readers of `count` always read the state, and so does a row that is beyond the line of the copy. What an
 * agent knew before its first answer about a key is unknown if it began with a checkpoint. */
static bool may_ask(const struct lab_cluster_run *run, uint32_t agent,
                    const struct lab_host_operation *operation)
{
    bool is_count = run->config.strategy.kind == BK_KIND_COUNT;
    return (operation->is_read ? is_count : run->config.strategy.max_age_ns != 0) ||
           !lab_host_is_cold(run, agent) || run->key_count > LAB_COPIES ||
           lab_may_be_evicted(run, operation->key);
}

void lab_copies_judge(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      const struct bk_action *next)
{
    const struct lab_copy *copy = place_of(run, agent, operation->key);
    if (copy->is_known && copy->key != operation->key) /* another key has taken its place */
        return;
    bool asks = next->kind == BK_ACT_READ_STATE;
    bool is_first = operation->action == BK_ACT_DONE &&
                    (asks || next->kind == BK_ACT_PUT_ROW || next->kind == BK_ACT_READ_ROWS);
    if (is_first && !asks && !copy->is_known && lab_keeps_state(run) && lab_host_is_cold(run, agent))
        judge_violate(
            run, operation->key,
            "agent %" PRIu32 " has begun without knowledge, but uses a state that it never requested", agent);
    /* After a jump of the clock the age of a copy is unknown, and after a jump back, a copy from before
     * remains the newest one. */
    bool has_jumped = of_agent(run, agent)->jumped_ns != INT64_MIN;
    if (!is_first || !copy->is_known || has_jumped || !lab_copies_run_out(run))
        return;
    int64_t age_ns = lab_agent_clock_at(run, agent, asks ? sim_queue_now(&run->queue) : operation->begun_ns) -
                     lab_agent_clock_at(run, agent, asks ? copy->kept_ns : copy->asked_ns);
    if (asks && copy->is_kept && age_ns < run->config.cache_ttl_ns && !may_ask(run, agent, operation))
        judge_violate(run, operation->key,
                      "agent %" PRIu32 ": a %s reads the state although its agent's copy has not expired",
                      agent, operation->is_read ? "read" : "row");
    if (!asks && age_ns >= run->config.cache_ttl_ns)
        judge_violate(run, operation->key, "agent %" PRIu32 ": a %s uses an expired copy of the state", agent,
                      operation->is_read ? "read" : "row");
}

/* --- available, windows that a read skips. core's agent.h has the rule: an agent remembers a window of a key
 * as empty if it queried the whole window, `late` or more after its end by its own clock, and found no rows;
 * and it forgets this when it stores a row there itself. An answer that was pending at that time may be older
 * than the row, so nothing is learned from it. So each window that a read skips was found to be empty in this
 * way.
 *
 * The windows that an agent may skip are recorded from its start to its next crash, in a table that only
 * grows. Beyond a few thousand windows, and for an agent that restarts from a checkpoint, nothing is judged.
 */

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

static struct bk_placement window_at(const struct lab_cluster_run *run, int64_t time_ns)
{
    struct bk_row row = {.time_ns = time_ns};
    struct bk_placement route = {0};
    bk_route(&run->config.strategy, NULL, &row, &route);
    route.bucket = lab_first_shard(&run->config.strategy, route.bucket);
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
        struct bk_placement first = window_at(run, query.from_ns), last = window_at(run, query.until_ns);
        low = first.bucket + (query.from_ns > first.from_ns ? lab_shards(&run->config.strategy) : 0);
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
