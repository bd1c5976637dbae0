/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, copies of states: a row or a read that does not request the state first uses a copy that its
 * agent requested within the cache's time to live, by the agent's own clock. A copy is at least as old as the
 * agent's last answered request for the key. The time of that request is recorded for each agent's latest
 * keys, in a table of limited size in which a key may replace another one. Keys that are not in it are not
 * judged. Snapshots omit the table, so a resumed run begins with an empty one. */
#include <inttypes.h>
#include <string.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "evidence.h"
#include "oracles.h"

static struct lab_copy *place_of(struct lab_host_agent *agent, uint32_t key)
{
    return &agent->copies[key % LAB_COPIES];
}

/* Returns whether an expired copy must be requested again. Numbers and grants are valid at any age of the
 * copy. */
bool lab_copies_run_out(const struct lab_cluster_run *run)
{
    enum bk_source source = run->config.source;
    bool counts_rows =
        source == BK_SOURCE_INCREMENTAL || source == BK_SOURCE_SCAN || source == BK_SOURCE_MEMORY;
    if (run->config.strategy.kind == BK_COUNT)
        return counts_rows;
    return lab_rows_fire(run) && run->config.coordination != BK_GUARDED;
}

void lab_copies_heard(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation)
{
    enum bk_outcome_kind outcome = operation->outcome.kind;
    /* A plain write proves no more than the copy on which it was based, except that a write of a count
     * contains everything relevant. */
    bool is_write = operation->action == BK_ACT_WRITE_STATE && run->config.strategy.kind == BK_COUNT;
    bool is_told =
        operation->action == BK_ACT_READ_STATE || is_write || operation->action == BK_ACT_CAS_STATE;
    struct lab_copy *copy = place_of(&run->agents[agent], operation->key);
    if (!is_told || lab_has_failed(outcome))
        return;
    if (copy->is_known && copy->key == operation->key && copy->asked_ns > operation->asked_ns)
        return;
    *copy = (struct lab_copy){.is_known = true, .key = operation->key, .asked_ns = operation->asked_ns};
}

void lab_copies_forgotten(struct lab_cluster_run *run, uint32_t agent)
{
    memset(run->agents[agent].copies, 0, sizeof run->agents[agent].copies);
}

void lab_copies_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      const struct bk_action *next)
{
    struct lab_host_agent *host = &run->agents[agent];
    const struct lab_copy *copy = place_of(host, operation->key);
    bool is_first =
        operation->action == BK_ACT_DONE && (next->kind == BK_ACT_PUT_ROW || next->kind == BK_ACT_READ_ROWS);
    if (is_first && !copy->is_known && lab_keeps_state(run) && lab_host_is_cold(run, agent))
        lab_violate_bare(
            run, LAB_ORACLE_AVAILABLE, operation->key,
            "agent %" PRIu32 " has begun without knowledge, but uses a state that it never requested", agent);
    /* After a jump of the clock the age of a copy is unknown, and after a jump back, a copy from before
     * remains the newest one. */
    bool has_jumped = host->jumped_ns != INT64_MIN;
    if (!is_first || !copy->is_known || copy->key != operation->key || has_jumped || !lab_copies_run_out(run))
        return;
    int64_t age_ns =
        lab_agent_clock_at(run, agent, operation->begun_ns) - lab_agent_clock_at(run, agent, copy->asked_ns);
    if (age_ns >= run->config.cache_ttl_ns)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, operation->key,
                         "agent %" PRIu32 ": a %s uses an expired copy of the state", agent,
                         operation->is_read ? "read" : "row");
}
