/* SPDX-License-Identifier: GPL-3.0-or-later */
/* restored: an agent that was restored from its own checkpoint makes the same requests as one that never
 * stopped. Each agent has a twin that gets the same inputs at the same times by the same clock, and whose
 * actions are not executed. After a random share of the agent's steps, and of its actions, the twin is saved
 * and loaded again. An agent depends only on its inputs, so the twin has the same answers, actions and
 * deadlines. If the checkpoint leaves out a field, or loads it wrongly, the two differ as soon as that field
 * matters. The agent itself is never restored, so what the twin has once lost stays lost. */
#include <stdlib.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "evidence.h"
#include "kernel/random.h"

static void part(struct lab_cluster_run *run, uint32_t number, uint32_t key, const char *why)
{
    run->agents[number].twin = NULL; /* reported once, because everything that follows would differ, too */
    lab_violate(run, LAB_ORACLE_RESTORED, key, 1, "agent %u: restored from its checkpoint it %s", number,
                why);
}

/* Saves `from` into the agent's buffer for checkpoints. */
static bool save(struct lab_host_agent *agent, const struct bk_agent *from, size_t *size)
{
    *size = bk_agent_state_size(from);
    if (*size > agent->twin_room) {
        unsigned char *state = realloc(agent->twin_state, 2 * *size);
        if (state == NULL)
            return false;
        agent->twin_state = state;
        agent->twin_room = 2 * *size;
    }
    return bk_agent_save(from, agent->twin_state, *size) == BK_OK;
}

static void restore(struct lab_cluster_run *run, uint32_t number, const struct bk_agent *from)
{
    struct lab_host_agent *agent = &run->agents[number];
    struct bk_agent_config config = lab_agent_config(run, number);
    size_t size;
    if (!save(agent, from, &size)) {
        run->out_of_memory = true;
        agent->twin = NULL;
        return;
    }
    if (bk_agent_load(agent->twin_memory, bk_agent_size(&config), &config, agent->twin_state, size,
                      &agent->twin) != BK_OK)
        part(run, number, LAB_NO_KEY, "cannot be loaded");
}

void lab_twin_begin(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    if (run->scenario->agents.twin_share <= 0)
        return;
    if (agent->twin_memory == NULL)
        agent->twin_memory = malloc(bk_agent_size(&run->config));
    if (agent->twin_memory == NULL)
        run->out_of_memory = true;
    else
        restore(run, number, agent->agent);
}

void lab_twin_destroy(struct lab_host_agent *agent)
{
    free(agent->twin_memory);
    free(agent->twin_state);
}

void lab_twin_write(struct lab_cluster_run *run, uint32_t number, int64_t now_ns, uint32_t key,
                    const struct bk_row *row, enum bk_status status, uint32_t operation)
{
    uint32_t other = 0;
    struct bk_agent *twin = run->agents[number].twin;
    if (twin != NULL &&
        (bk_agent_write(twin, now_ns, key, row, &other) != status || (status == BK_OK && other != operation)))
        part(run, number, key, "takes a row as another operation");
}

void lab_twin_read(struct lab_cluster_run *run, uint32_t number, int64_t now_ns, uint32_t key,
                   const struct bk_query *query, enum bk_status status, uint32_t operation)
{
    uint32_t other = 0;
    uint64_t rows = run->keys[key].rows;
    struct bk_agent *twin = run->agents[number].twin;
    if (twin != NULL && (bk_agent_read(twin, now_ns, key, rows > 0 ? rows - 1 : 0, query, &other) != status ||
                         (status == BK_OK && other != operation)))
        part(run, number, key, "takes a read as another operation");
}

void lab_twin_heard(struct lab_cluster_run *run, uint32_t number, int64_t now_ns, uint32_t operation,
                    const struct bk_outcome *outcome)
{
    struct lab_host_agent *agent = &run->agents[number];
    if (agent->twin != NULL && bk_agent_outcome(agent->twin, now_ns, operation, outcome) != BK_OK)
        part(run, number, agent->operations[operation].key, "waits for nothing");
}

void lab_twin_ticked(struct lab_cluster_run *run, uint32_t number, int64_t now_ns)
{
    if (run->agents[number].twin != NULL)
        bk_agent_tick(run->agents[number].twin, now_ns);
}

void lab_twin_changed(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    if (agent->twin != NULL && bk_agent_change(agent->twin, &agent->history) != BK_OK)
        part(run, number, LAB_NO_KEY, "does not take new settings");
}

/* Of all steps of an agent at one moment, or of none. */
static bool is_due(const struct lab_cluster_run *run, uint32_t number)
{
    uint64_t moment = (uint64_t)sim_queue_now(&run->queue) ^ (uint64_t)number << 52;
    double draw = (double)(sim_hash(run->scenario->seed, SIM_TWIN, moment) >> 11) * 0x1p-53;
    return draw < run->scenario->agents.twin_share;
}

void lab_twin_acted(struct lab_cluster_run *run, uint32_t number, const struct bk_action *action)
{
    struct bk_action other;
    struct bk_agent *twin = run->agents[number].twin;
    if (twin != NULL && is_due(run, number)) {
        restore(run, number, twin); /* with the actions that it has not taken yet */
        twin = run->agents[number].twin;
    }
    if (twin == NULL)
        return;
    if (!bk_agent_next(twin, &other))
        part(run, number, (uint32_t)action->key, "sends no request");
    else if (memcmp(&other, action, sizeof other) != 0) /* zeroed, so padding bytes are equal */
        part(run, number, (uint32_t)action->key, "sends another request");
}

bool lab_twin_is_due(struct lab_cluster_run *run, uint32_t number)
{
    bool is_now = is_due(run, number);
    run->oracles.verdict.probes[LAB_PROBE_RESTORED] += is_now;
    return is_now;
}

void lab_twin_rests(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    struct bk_action other;
    if (agent->twin != NULL && bk_agent_next(agent->twin, &other))
        part(run, number, (uint32_t)other.key, "sends more requests");
    if (agent->twin != NULL && bk_agent_deadline(agent->twin) != bk_agent_deadline(agent->agent))
        part(run, number, LAB_NO_KEY, "wakes at another time");
    if (agent->twin != NULL && lab_twin_is_due(run, number))
        restore(run, number, agent->twin);
}
