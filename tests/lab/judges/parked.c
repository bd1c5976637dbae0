/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, operations that their agent has parked: of all operations of an agent on a key, one makes the
 * request (for a grant, a lease of numbers, a count) that the others wait for. An operation must not be
 * parked if its agent knows the answer already, according to its own view of the key, or if no operation
 * makes the request. This is checked when an operation gets an outcome of such a request. If nothing is
 * parked, which is the normal case, it costs one test. */
#include "judges.h"

#include <inttypes.h>

bool lab_may_be_parked(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    bool is_guarded = run->config.coordination == BK_GUARDED;
    if (operation->action == BK_ACT_DONE) /* it has made no request yet */
        return is_guarded || run->config.source == BK_SOURCE_LEASE || run->config.source == BK_SOURCE_MEMORY;
    /* A count that could not be read is requested again. */
    return is_guarded && operation->action == BK_ACT_READ_COUNTER &&
           operation->outcome.kind == BK_OUTCOME_APPLIED;
}

/* Returns whether other operations may wait for a request of this kind. They do not wait for puts, reads of
 * rows and the counting of a guarded row. */
bool lab_asks_for_key(enum bk_action_kind kind)
{
    return kind == BK_ACT_READ_STATE || kind == BK_ACT_CAS_STATE || kind == BK_ACT_WRITE_STATE ||
           kind == BK_ACT_WRITE_START || kind == BK_ACT_COUNT_ROWS;
}

void lab_parked_begins(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation)
{
    if (!operation->is_active || !own(run, operation)->is_awaited || run->agents[agent].is_paused ||
        !lab_may_be_parked(run, operation))
        return;
    own(run, operation)->is_parked = true;
    of_agent(run, agent)->parked++;
}

void lab_parked_ends(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation)
{
    if (!own(run, operation)->is_parked)
        return;
    of_agent(run, agent)->parked--;
    own(run, operation)->is_parked = false;
    operation->turn_ns = sim_queue_now(&run->queue);
}

void lab_parked_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      enum bk_action_kind kind)
{
    const struct lab_host_agent *host = &run->agents[agent];
    if (run->config.coordination != BK_GUARDED || !lab_asks_for_key(kind))
        return;
    for (uint32_t i = 0; i < host->operations_met; i++) {
        const struct lab_host_operation *other = &host->operations[i];
        if (other->is_active && other != operation && other->key == operation->key &&
            !own(run, other)->is_awaited && lab_asks_for_key(other->action))
            judge_violate(run, operation->key,
                          "agent %" PRIu32 " requests the state for row %" PRIu64
                          " while it requests the state for row %" PRIu64 ", which is for all its operations",
                          agent, operation->row, other->row);
    }
}

/* The agent's view is about a row with the current time; a row that waited may belong to other settings. */
static bool has_settings_of_now(const struct lab_cluster_run *run, uint32_t agent,
                                const struct lab_host_operation *operation, int64_t now_ns)
{
    const struct bk_strategy *now = lab_agent_strategy(run, agent, now_ns);
    return now->kind != BK_COUNT ||
           now->of.count.rows == lab_agent_strategy(run, agent, operation->row_time_ns)->of.count.rows;
}

/* What the agent knows by now is enough for the operation: of guarded the grant holds the row's time, or the
 * time up to which a read has to see all rows (core's protocol_guarded.c), or names a later bucket than the
 * full one. */
static bool is_served(const struct lab_cluster_run *run, uint32_t agent,
                      const struct lab_host_operation *operation)
{
    const struct lab_host_agent *host = &run->agents[agent];
    int64_t now_ns = lab_agent_clock(run, agent), at_ns = now_ns, bucket;
    bool is_changing;
    if (run->config.coordination == BK_GUARDED && operation->is_read) {
        if (of_agent(run, agent)->jumped_ns >= operation->begun_ns)
            return false;
        int64_t begun_ns = lab_agent_clock_at(run, agent, operation->begun_ns);
        at_ns = lab_until(begun_ns, lab_times(3, run->config.clock_bound_ns));
    } else if (run->config.coordination == BK_GUARDED && !operation->is_acknowledged) {
        at_ns = operation->row_time_ns;
    }
    if (!has_settings_of_now(run, agent, operation, now_ns) ||
        !bk_agent_view(host->agent, at_ns, operation->key, &bucket, &is_changing))
        return false;
    return !operation->is_acknowledged || bucket > operation->bucket;
}

void lab_parked_heard(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum bk_action_kind kind)
{
    const struct lab_host_agent *host = &run->agents[agent];
    if (of_agent(run, agent)->parked == 0 || !lab_asks_for_key(kind) || host->is_paused)
        return;
    const struct lab_host_operation *parked = NULL;
    bool is_asked = false, is_known = false;
    for (uint32_t i = 0; i < host->operations_met; i++) {
        const struct lab_host_operation *operation = &host->operations[i];
        if (!operation->is_active || operation->key != key)
            continue;
        if (!own(run, operation)->is_parked) {
            is_asked = is_asked || lab_asks_for_key(operation->action);
            continue;
        }
        bool known = is_served(run, agent, operation);
        if (parked == NULL || (known && !is_known))
            parked = operation;
        is_known = is_known || known;
    }
    if (parked == NULL || (is_asked && !is_known))
        return;
    judge_violate(run, key, "agent %" PRIu32 " has %s %" PRIu64 " wait for %s", agent,
                  parked->is_read ? "a read parked with row" : "row", parked->row,
                  is_known ? "what it knows" : "an answer that no operation requests");
}
