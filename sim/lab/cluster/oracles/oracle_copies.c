/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, copies of states: a row or a read that asks for no state first goes by a copy that its agent has
 * asked for within the cache's time to live, by the agent's own clock.
 *
 * A copy is no younger than the last question about the key that its agent has an answer to, so that question
 * is kept: of each agent's latest keys, in a table that a key may push another out of. A key that is not in
 * it is not judged. Snapshots leave the table out, so a run that is resumed begins with an empty one. */
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

/* Whether a copy that has run out is asked for again. Numbers are taken, and grants read, at any age. */
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
    /* A plain write tells no more than the copy that it went by; of a count it writes all that matters. */
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
    /* Across a jump of the clock nobody knows a copy's age, and after a jump back one from before it goes on
     * being the youngest. */
    bool has_jumped = host->jumped_ns != INT64_MIN;
    if (!is_first || !copy->is_known || copy->key != operation->key || has_jumped || !lab_copies_run_out(run))
        return;
    int64_t age_ns =
        lab_agent_clock_at(run, agent, operation->begun_ns) - lab_agent_clock_at(run, agent, copy->asked_ns);
    if (age_ns >= run->config.cache_ttl_ns)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, operation->key,
                         "agent %" PRIu32 ": a %s goes by a copy of the state that has run out", agent,
                         operation->is_read ? "read" : "row");
}
