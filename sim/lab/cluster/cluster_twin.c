/* SPDX-License-Identifier: GPL-3.0-or-later */
/* restored: an agent that was restored from its own checkpoint makes the same requests as one that never
 * stopped. Each agent has a twin that gets the same inputs at the same times by the same clock, and whose
 * actions are not executed. After a random share of the agent's steps, and of its actions, the twin is saved
 * and loaded again. An agent depends only on its inputs, so the twin has the same answers, actions and
 * deadlines. If the checkpoint leaves out a field, or loads it wrongly, the two differ as soon as that field
 * matters. The agent itself is never restored, so what the twin has once lost stays lost. Twins of clients of
 * identifiers work like those of agents. In: the inputs and actions of agents. Kept: the twins. Out:
 * violations.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "events.h"
#include "idgen.h"
#include "kernel/random.h"
#include "oracles.h"

struct twin {
    bool is_here;           /* false: it has parted */
    struct bk_agent *agent; /* in `memory` */
    void *memory;           /* of the core */
    struct bk_idgen idgen;  /* of a client */
    unsigned char *state;   /* a checkpoint */
    size_t room;
};
struct twins {
    uint32_t count;
    struct twin of[]; /* by agent */
};

static void part(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event,
                 const char *why)
{
    bool has_key = event->operation != NULL || event->kind == CLUSTER_ROW_REFUSED;
    twin->is_here = false; /* reported once, because everything that follows would differ, too */
    lab_violate(run, LAB_ORACLE_RESTORED, has_key ? event->key : LAB_NO_KEY, 1,
                "%s %u: restored from its checkpoint it %s", run->idgen != NULL ? "client" : "agent",
                event->agent, why);
}

/* Makes room for a checkpoint of this size. False when out of memory. */
static bool has_room(struct twin *twin, size_t size)
{
    unsigned char *state = size <= twin->room ? twin->state : realloc(twin->state, 2 * size);
    if (state == NULL)
        return false;
    twin->room = size <= twin->room ? twin->room : 2 * size;
    twin->state = state;
    return true;
}

/* Saves the twin, or at first the agent itself, and loads it. */
static void restore(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    const uint32_t number = event->agent;
    bool is_first = event->kind == CLUSTER_AGENT_STARTED, is_loaded;
    twin->is_here = false;
    if (run->idgen != NULL) {
        const struct bk_idgen *from = is_first ? &run->idgen->clients[number].idgen : &twin->idgen;
        const struct bk_idgen_config config = lab_idgen_config(run, number);
        const size_t size = bk_idgen_state_size(from);
        if (!has_room(twin, size)) {
            run->out_of_memory = true;
            return;
        }
        is_loaded = bk_idgen_save(from, twin->state, size) == BK_OK &&
                    bk_idgen_load(&config, twin->state, size, &twin->idgen) == BK_OK;
    } else {
        const struct bk_agent *from = is_first ? run->agents[number].agent : twin->agent;
        const struct bk_agent_config config = lab_agent_config(run, number);
        const size_t size = bk_agent_state_size(from), bytes = bk_agent_size(&config);
        if (twin->memory == NULL)
            twin->memory = malloc(bytes);
        if (twin->memory == NULL || !has_room(twin, size) ||
            bk_agent_save(from, twin->state, size) != BK_OK) {
            run->out_of_memory = true;
            return;
        }
        is_loaded = bk_agent_load(twin->memory, bytes, &config, twin->state, size, &twin->agent) == BK_OK;
    }
    twin->is_here = true;
    if (!is_loaded)
        part(run, twin, event, "cannot be loaded");
}

/* Whether a twin is saved and loaded now: at all steps of an agent at one moment, or at none. */
static bool is_due(const struct lab_cluster_run *run, uint32_t number)
{
    uint64_t moment = (uint64_t)sim_queue_now(&run->queue) ^ (uint64_t)number << 52;
    double draw = (double)(sim_hash(run->scenario->seed, SIM_TWIN, moment) >> 11) * 0x1p-53;
    return draw < run->scenario->agents.twin_share;
}

static void takes(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    const bool is_row = event->kind == CLUSTER_ROW_TAKEN || event->kind == CLUSTER_ROW_REFUSED;
    const enum bk_status due = operation != NULL        ? BK_OK
                               : !is_row && event->flag ? BK_ERROR_WALK_TOO_LONG
                                                        : BK_ERROR_BUSY;
    uint32_t number = 0;
    enum bk_status status = is_row
                                ? bk_agent_write(twin->agent, event->time_ns, event->key, event->row, &number)
                                : bk_agent_read(twin->agent, event->time_ns, event->key,
                                                (uint64_t)event->value, event->query, &number);
    if (status != due || (operation != NULL && operation != &run->agents[event->agent].operations[number]))
        part(run, twin, event,
             is_row ? "takes a row as another operation" : "takes a read as another operation");
}

/* Actions are zeroed first, so padding bytes are equal. */
static void acts(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    const bool is_id = event->kind == CLUSTER_ID_ACTED;
    struct bk_action other;
    struct bk_idgen_action id_other;
    if (!is_id && is_due(run, event->agent))
        restore(run, twin, event); /* with the actions that it has not taken yet */
    if (!twin->is_here)
        return;
    if (is_id ? !bk_idgen_next(&twin->idgen, &id_other) : !bk_agent_next(twin->agent, &other))
        part(run, twin, event, "sends no request");
    else if (is_id ? memcmp(&id_other, event->id_action, sizeof id_other) != 0
                   : memcmp(&other, event->action, sizeof other) != 0)
        part(run, twin, event, "sends another request");
}

static void rests(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    const uint32_t number = event->agent;
    const bool is_id = run->idgen != NULL;
    struct bk_action other;
    struct bk_idgen_action id_other;
    if (is_id ? bk_idgen_next(&twin->idgen, &id_other) : bk_agent_next(twin->agent, &other))
        part(run, twin, event, "sends more requests");
    else if (is_id ? bk_idgen_deadline(&twin->idgen) != bk_idgen_deadline(&run->idgen->clients[number].idgen)
                   : bk_agent_deadline(twin->agent) != bk_agent_deadline(run->agents[number].agent))
        part(run, twin, event, "wakes at another time");
    if (!twin->is_here || !is_due(run, number))
        return;
    run->oracles.verdict.probes[LAB_PROBE_RESTORED]++;
    restore(run, twin, event);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    struct twins *twins = state;
    if (event->agent == LAB_EVENT_NOBODY)
        return;
    const struct lab_host_agent *host = &run->agents[event->agent];
    struct twin *twin = &twins->of[event->agent];
    int64_t other = 0;
    if (event->kind == CLUSTER_AGENT_STARTED)
        restore(run, twin, event);
    else if (!twin->is_here)
        return;
    else if (event->kind == CLUSTER_ACTED || event->kind == CLUSTER_ID_ACTED)
        acts(run, twin, event);
    else if (event->kind == CLUSTER_AGENT_RESTS)
        rests(run, twin, event);
    else if (event->kind == CLUSTER_AGENT_TICKED && run->idgen != NULL)
        bk_idgen_tick(&twin->idgen, event->time_ns);
    else if (event->kind == CLUSTER_AGENT_TICKED)
        bk_agent_tick(twin->agent, event->time_ns);
    else if (event->kind == CLUSTER_AGENT_DEPLOYED) {
        if (host->is_up && bk_agent_change(twin->agent, &host->history) != BK_OK)
            part(run, twin, event, "does not take new settings");
    } else if (event->kind == CLUSTER_TOLD) {
        if (bk_agent_report(twin->agent, event->time_ns, event->operation->ticket,
                            &event->operation->outcome) != BK_OK)
            part(run, twin, event, "waits for nothing");
    } else if (event->kind == CLUSTER_ID_TOLD) {
        if (bk_idgen_report(&twin->idgen, event->time_ns, run->idgen->clients[event->agent].ticket,
                            event->id_outcome) != BK_OK)
            part(run, twin, event, "waits for nothing");
    } else if (event->kind != CLUSTER_ID_TOOK)
        takes(run, twin, event);
    else if (bk_idgen_take(&twin->idgen, event->time_ns, &other) != (enum bk_status)event->number ||
             other != event->value)
        part(run, twin, event, "hands out another identifier");
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    const uint64_t all =
        CLUSTER_WANTS(AGENT_STARTED) | CLUSTER_WANTS(AGENT_RESTS) | CLUSTER_WANTS(AGENT_TICKED);
    if (run->scenario->agents.twin_share <= 0)
        return 0;
    if (run->idgen != NULL)
        return all | CLUSTER_WANTS(ID_ACTED) | CLUSTER_WANTS(ID_TOLD) | CLUSTER_WANTS(ID_TOOK);
    return all | CLUSTER_WANTS(ROW_TAKEN) | CLUSTER_WANTS(ROW_REFUSED) | CLUSTER_WANTS(READ_TAKEN) |
           CLUSTER_WANTS(READ_REFUSED) | CLUSTER_WANTS(ACTED) | CLUSTER_WANTS(TOLD) |
           CLUSTER_WANTS(AGENT_DEPLOYED);
}

static bool begin(struct lab_cluster_run *run, void **state)
{
    struct twins *twins = calloc(1, sizeof *twins + run->agent_count * sizeof *twins->of);
    *state = twins;
    if (twins != NULL)
        twins->count = run->agent_count;
    return twins != NULL;
}

static void destroy(void *state)
{
    struct twins *twins = state;
    for (uint32_t i = 0; twins != NULL && i < twins->count; i++) {
        free(twins->of[i].memory);
        free(twins->of[i].state);
    }
    free(twins);
}

const struct cluster_observer cluster_twins = {.name = "twins",
                                               .wants = wants,
                                               .judges = 1u << LAB_ORACLE_RESTORED,
                                               .begin = begin,
                                               .on_event = hear,
                                               .destroy = destroy};
