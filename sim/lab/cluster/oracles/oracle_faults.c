/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, of what the engine makes of faults: no agent acts while a pause of its holds it, which a crash
 * ends, and a node is down while a fault says so, and up otherwise. conserved, of deletes: one ends with its
 * acknowledgement, or when it was tried as often as is set. Histories tell of what others made; nothing of
 * that is judged. */
#include <inttypes.h>

#include "cluster_run.h"
#include "evidence.h"
#include "oracles.h"

void lab_faults_begun(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns)
{
    if (fault->kind != LAB_FAULT_AGENT_PAUSE && fault->kind != LAB_FAULT_AGENT_CRASH)
        return;
    struct lab_host_agent *agent = &run->agents[fault->target];
    int64_t until_ns = lab_until(sim_queue_now(&run->queue), lasts_ns);
    if (fault->kind == LAB_FAULT_AGENT_CRASH)
        agent->held_until_ns = 0;
    else if (agent->is_up && until_ns > agent->held_until_ns)
        agent->held_until_ns = until_ns;
}

void lab_faults_acted(struct lab_cluster_run *run, uint32_t agent, uint32_t key)
{
    if (sim_queue_now(&run->queue) < run->agents[agent].held_until_ns && run->replay == NULL)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, key, "agent %" PRIu32 " acts, and is paused until %.6f s",
                         agent, lab_seconds(run, run->agents[agent].held_until_ns));
}

/* Of several that end now, some may not have been heard of yet. */
void lab_faults_changed(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    bool is_held = false, may_be_down = false;
    if (fault->kind != LAB_FAULT_NODE_DOWN || run->replay != NULL || run->out_of_memory)
        return;
    for (size_t i = 0; i < run->active_count; i++) {
        const struct lab_active_fault *other = &run->active[i];
        bool is_same = other->is_used && other->kind == LAB_FAULT_NODE_DOWN && other->target == fault->target;
        may_be_down = may_be_down || is_same;
        is_held = is_held || (is_same && other->until_ns > sim_queue_now(&run->queue));
    }
    bool is_down = cass_node_is_down(run->cluster, fault->target);
    if (is_down ? !may_be_down : is_held)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, LAB_NO_KEY,
                         "node %" PRIu32 " is %s, against what the faults say", fault->target,
                         is_down ? "down" : "up");
}

void lab_delete_ended(struct lab_cluster_run *run, const struct lab_delete *item,
                      const struct cass_reply *reply)
{
    if (reply != NULL ? reply->result != CASS_OK : item->tries != run->scenario->agents.retries + 1)
        lab_violate_bare(run, LAB_ORACLE_CONSERVED, item->key,
                         "the delete of row %" PRIu64 " ends after %" PRIu32
                         " tries, and is not acknowledged",
                         item->row, item->tries);
}
