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
#include "events.h"
#include "idgen.h"
#include "kernel/random.h"
#include "oracles.h"

struct twin {
    struct bk_agent *agent; /* NULL: it has parted */
    void *memory;           /* of the core */
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
    twin->agent = NULL; /* reported once, because everything that follows would differ, too */
    lab_violate(run, LAB_ORACLE_RESTORED, has_key ? event->key : LAB_NO_KEY, 1,
                "agent %u: restored from its checkpoint it %s", event->agent, why);
}

/* Saves `from` into the twin's buffer for checkpoints. */
static bool save(struct twin *twin, const struct bk_agent *from, size_t *size)
{
    *size = bk_agent_state_size(from);
    if (*size > twin->room) {
        unsigned char *state = realloc(twin->state, 2 * *size);
        if (state == NULL)
            return false;
        twin->state = state;
        twin->room = 2 * *size;
    }
    return bk_agent_save(from, twin->state, *size) == BK_OK;
}

static void restore(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event,
                    const struct bk_agent *from)
{
    struct bk_agent_config config = lab_agent_config(run, event->agent);
    size_t size, room = bk_agent_size(&config);
    if (twin->memory == NULL)
        twin->memory = malloc(room);
    if (twin->memory == NULL || !save(twin, from, &size)) {
        run->out_of_memory = true;
        twin->agent = NULL;
    } else if (bk_agent_load(twin->memory, room, &config, twin->state, size, &twin->agent) != BK_OK) {
        part(run, twin, event, "cannot be loaded");
    }
}

/* Whether a twin is saved and loaded now: at all steps of an agent at one moment, or at
 * none. */
static bool cluster_twin_is_due(const struct lab_cluster_run *run, uint32_t number)
{
    uint64_t moment = (uint64_t)sim_queue_now(&run->queue) ^ (uint64_t)number << 52;
    double draw = (double)(sim_hash(run->scenario->seed, SIM_TWIN, moment) >> 11) * 0x1p-53;
    return draw < run->scenario->agents.twin_share;
}

static void takes_row(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    enum bk_status due = operation == NULL ? BK_ERROR_BUSY : BK_OK;
    uint32_t number = 0;
    if (bk_agent_write(twin->agent, event->time_ns, event->key, event->row, &number) != due ||
        (operation != NULL && operation != &run->agents[event->agent].operations[number]))
        part(run, twin, event, "takes a row as another operation");
}

static void takes_read(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    enum bk_status due = operation != NULL ? BK_OK : event->flag ? BK_ERROR_WALK_TOO_LONG : BK_ERROR_BUSY;
    uint32_t number = 0;
    if (bk_agent_read(twin->agent, event->time_ns, event->key, (uint64_t)event->value, event->query,
                      &number) != due ||
        (operation != NULL && operation != &run->agents[event->agent].operations[number]))
        part(run, twin, event, "takes a read as another operation");
}

static void acts(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    struct bk_action other;
    if (cluster_twin_is_due(run, event->agent))
        restore(run, twin, event, twin->agent); /* with the actions that it has not taken yet */
    if (twin->agent == NULL)
        return;
    if (!bk_agent_next(twin->agent, &other))
        part(run, twin, event, "sends no request");
    else if (memcmp(&other, event->action, sizeof other) != 0) /* zeroed, so padding bytes are equal */
        part(run, twin, event, "sends another request");
}

static void rests(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    const struct bk_agent *agent = run->agents[event->agent].agent;
    struct bk_action other;
    if (bk_agent_next(twin->agent, &other))
        part(run, twin, event, "sends more requests");
    if (twin->agent != NULL && bk_agent_deadline(twin->agent) != bk_agent_deadline(agent))
        part(run, twin, event, "wakes at another time");
    if (twin->agent == NULL || !cluster_twin_is_due(run, event->agent))
        return;
    run->oracles.verdict.probes[LAB_PROBE_RESTORED]++;
    restore(run, twin, event, twin->agent);
}

/* The agent has got an outcome, or new settings. */
static void is_told(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    const struct lab_host_agent *host = &run->agents[event->agent];
    if (event->kind == CLUSTER_AGENT_DEPLOYED) {
        if (host->is_up && bk_agent_change(twin->agent, &host->history) != BK_OK)
            part(run, twin, event, "does not take new settings");
        return;
    }
    uint32_t number = (uint32_t)(event->operation - host->operations);
    if (bk_agent_outcome(twin->agent, event->time_ns, number, &event->operation->outcome) != BK_OK)
        part(run, twin, event, "waits for nothing");
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    struct twins *twins = state;
    if (event->agent == LAB_EVENT_NOBODY)
        return;
    struct twin *twin = &twins->of[event->agent];
    if (event->kind == CLUSTER_AGENT_STARTED)
        restore(run, twin, event, run->agents[event->agent].agent);
    else if (twin->agent == NULL)
        return;
    else if (event->kind == CLUSTER_ROW_TAKEN || event->kind == CLUSTER_ROW_REFUSED)
        takes_row(run, twin, event);
    else if (event->kind == CLUSTER_READ_TAKEN || event->kind == CLUSTER_READ_REFUSED)
        takes_read(run, twin, event);
    else if (event->kind == CLUSTER_ACTED)
        acts(run, twin, event);
    else if (event->kind == CLUSTER_AGENT_RESTS)
        rests(run, twin, event);
    else if (event->kind == CLUSTER_AGENT_TICKED)
        bk_agent_tick(twin->agent, event->time_ns);
    else
        is_told(run, twin, event);
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    if (run->scenario->agents.twin_share <= 0 || run->idgen != NULL)
        return 0;
    return CLUSTER_WANTS(AGENT_STARTED) | CLUSTER_WANTS(ROW_TAKEN) | CLUSTER_WANTS(ROW_REFUSED) |
           CLUSTER_WANTS(READ_TAKEN) | CLUSTER_WANTS(READ_REFUSED) | CLUSTER_WANTS(ACTED) |
           CLUSTER_WANTS(AGENT_RESTS) | CLUSTER_WANTS(AGENT_TICKED) | CLUSTER_WANTS(TOLD) |
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

const struct cluster_observer cluster_twins = {
    .name = "twins", .wants = wants, .begin = begin, .on_event = hear, .destroy = destroy};

/* --- restored, for identifiers: a client that was restored from its own checkpoint gives the same
 * identifiers and makes the same requests as one that never stopped. Twins of clients work like those of
 * agents, see cluster_twin.c. */

/* An upper bound of the size of a client's checkpoint. */
#define CHECKPOINT_MAX 512u

struct id_twin {
    struct bk_idgen idgen;
    bool has_parted;
};

static void id_part(struct lab_cluster_run *run, struct id_twin *twin, uint32_t number, const char *why)
{
    twin->has_parted = true; /* reported once, because everything that follows would differ, too */
    lab_violate(run, LAB_ORACLE_RESTORED, LAB_NO_KEY, 1, "client %u: restored from its checkpoint it %s",
                number, why);
}

/* Loads a checkpoint of `from` into the twin. */
static void id_restore(struct lab_cluster_run *run, struct id_twin *twin, uint32_t number,
                       const struct bk_idgen *from)
{
    struct bk_idgen_config config = lab_idgen_config(run, number);
    unsigned char state[CHECKPOINT_MAX];
    size_t size = bk_idgen_state_size(from);
    twin->has_parted = false;
    if (bk_idgen_save(from, state, sizeof state) != BK_OK ||
        bk_idgen_load(&config, state, size, &twin->idgen) != BK_OK)
        id_part(run, twin, number, "cannot be loaded");
}

static void id_acts(struct lab_cluster_run *run, struct id_twin *twin, const struct cluster_event *event)
{
    struct bk_idgen_action other;
    if (!bk_idgen_next(&twin->idgen, &other))
        id_part(run, twin, event->agent, "sends no request");
    else if (memcmp(&other, event->id_action, sizeof other) != 0) /* both are zeroed first */
        id_part(run, twin, event->agent, "sends another request");
}

static void id_rests(struct lab_cluster_run *run, struct id_twin *twin, uint32_t number)
{
    struct bk_idgen_action other;
    if (bk_idgen_next(&twin->idgen, &other))
        id_part(run, twin, number, "sends more requests");
    else if (bk_idgen_deadline(&twin->idgen) != bk_idgen_deadline(&run->idgen->clients[number].idgen))
        id_part(run, twin, number, "wakes at another time");
    if (twin->has_parted || !cluster_twin_is_due(run, number))
        return;
    run->oracles.verdict.probes[LAB_PROBE_RESTORED]++;
    id_restore(run, twin, number, &twin->idgen);
}

static void id_hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    const uint32_t number = event->agent;
    struct id_twin *twin = (struct id_twin *)state + number;
    int64_t other = 0;
    if (event->kind == CLUSTER_AGENT_STARTED)
        id_restore(run, twin, number, &run->idgen->clients[number].idgen);
    else if (twin->has_parted)
        return;
    else if (event->kind == CLUSTER_ID_ACTED)
        id_acts(run, twin, event);
    else if (event->kind == CLUSTER_AGENT_RESTS)
        id_rests(run, twin, number);
    else if (event->kind == CLUSTER_AGENT_TICKED)
        bk_idgen_tick(&twin->idgen, event->time_ns);
    else if (event->kind == CLUSTER_ID_TOLD &&
             bk_idgen_outcome(&twin->idgen, event->time_ns, event->id_outcome) != BK_OK)
        id_part(run, twin, number, "waits for nothing");
    else if (event->kind == CLUSTER_ID_TOOK &&
             (bk_idgen_take(&twin->idgen, event->time_ns, &other) != (enum bk_status)event->number ||
              other != event->value))
        id_part(run, twin, number, "hands out another identifier");
}

static uint64_t id_wants(const struct lab_cluster_run *run)
{
    if (run->scenario->agents.twin_share <= 0 || run->idgen == NULL)
        return 0;
    return CLUSTER_WANTS(AGENT_STARTED) | CLUSTER_WANTS(ID_ACTED) | CLUSTER_WANTS(AGENT_RESTS) |
           CLUSTER_WANTS(AGENT_TICKED) | CLUSTER_WANTS(ID_TOLD) | CLUSTER_WANTS(ID_TOOK);
}

static bool id_begin(struct lab_cluster_run *run, void **state)
{
    *state = calloc(run->agent_count, sizeof(struct id_twin));
    return *state != NULL;
}

const struct cluster_observer cluster_id_twins = {
    .name = "twins of clients", .wants = id_wants, .begin = id_begin, .on_event = id_hear, .destroy = free};
