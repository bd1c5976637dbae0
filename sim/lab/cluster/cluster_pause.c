/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Agents that are paused, and agents that restart from a checkpoint. A paused agent handles one more event,
 * with its clock at that time, and stops before it acts: its actions are sent after the pause. Later events
 * wait until then, in order, and the load balancer sends the agent no more rows and reads. A checkpoint is
 * taken when the agent has no operations, so it restores only knowledge. */
#include <assert.h>
#include <stdlib.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "events.h"
#include "idgen.h"

void lab_agent_pause(struct lab_cluster_run *run, uint32_t number, int64_t lasts_ns)
{
    struct lab_host_agent *agent = &run->agents[number];
    int64_t until_ns = lab_until(sim_queue_now(&run->queue), lasts_ns);
    if (!agent->is_up)
        return;
    cluster_emit(run, AGENT_PAUSED, .agent = number);
    if (!agent->is_paused || until_ns > agent->pause_until_ns)
        agent->pause_until_ns = until_ns;
    agent->is_paused = true;
}

void lab_agent_resume(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    if (!agent->is_paused || sim_queue_now(&run->queue) < agent->pause_until_ns)
        return; /* the agent has restarted, or another pause still lasts */
    cluster_emit(run, AGENT_RESUMED, .agent = number, .flag = agent->has_heard);
    agent->is_paused = agent->has_heard = false;
    if (run->idgen != NULL)
        lab_idgen_resume(run, number);
    else
        lab_agent_pump(run, number);
}

bool lab_agent_waits(struct lab_cluster_run *run, const struct sim_event *event)
{
    uint32_t number = event->target;
    struct lab_host_agent *agent = &run->agents[number];
    if (!agent->is_paused)
        return false;
    if (!agent->has_heard) {
        agent->has_heard = true;
        cluster_emit(run, AGENT_HANDLES, .agent = number);
        return false;
    }
    cluster_emit(run, AGENT_WAITS, .agent = number);
    uint64_t handle = lab_push_event(run, agent->pause_until_ns, event);
    if (event->kind == LAB_EVENT_TICK) {
        agent->tick = handle;
        agent->tick_ns = agent->pause_until_ns;
    } else if (event->kind == LAB_EVENT_TIMEOUT && run->idgen != NULL) {
        lab_idgen_waits(run, event, handle);
    } else if (event->kind == LAB_EVENT_TIMEOUT) {
        struct lab_host_operation *operation = &agent->operations[event->a];
        if (operation->serial == (uint32_t)event->b && operation->outstanding > 0)
            operation->timeout = handle;
    }
    return true;
}

void lab_agent_keep(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    agent->wants_checkpoint = agent->is_up;
    for (uint32_t i = 0; i < agent->operations_met; i++) {
        if (!agent->is_up || agent->operations[i].is_active)
            return;
    }
    size_t size = bk_agent_state_size(agent->agent);
    unsigned char *state = realloc(agent->checkpoint, size);
    if (state == NULL) {
        run->out_of_memory = true;
        return;
    }
    bk_agent_save(agent->agent, state, size);
    agent->checkpoint = state;
    agent->checkpoint_bytes = size;
    agent->wants_checkpoint = false;
    cluster_emit(run, AGENT_KEPT, .agent = number);
}

/* A checkpoint that was made with different settings is not used. */
bool lab_agent_go_back(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    if (agent->checkpoint == NULL)
        return false;
    struct bk_agent_config config = lab_agent_config(run, number);
    return bk_agent_load(agent->memory, bk_agent_size(&config), &config, agent->checkpoint,
                         agent->checkpoint_bytes, &agent->agent) == BK_OK &&
           bk_agent_change(agent->agent, &agent->history) == BK_OK;
}
