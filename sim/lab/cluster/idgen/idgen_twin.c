/* SPDX-License-Identifier: GPL-3.0-or-later */
/* restored, for identifiers: a client that was restored from its own checkpoint gives the same identifiers
 * and makes the same requests as one that never stopped. Twins of clients work like those of agents, see
 * cluster_twin.c. */
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "idgen_private.h"
#include "observers.h"

/* An upper bound of the size of a client's checkpoint. */
#define CHECKPOINT_MAX 512u

struct twin {
    struct bk_idgen idgen;
    bool has_parted;
};

static void part(struct lab_cluster_run *run, struct twin *twin, uint32_t number, const char *why)
{
    twin->has_parted = true; /* reported once, because everything that follows would differ, too */
    lab_violate(run, LAB_ORACLE_RESTORED, LAB_NO_KEY, 1, "client %u: restored from its checkpoint it %s",
                number, why);
}

/* Loads a checkpoint of `from` into the twin. */
static void restore(struct lab_cluster_run *run, struct twin *twin, uint32_t number,
                    const struct bk_idgen *from)
{
    struct bk_idgen_config config = lab_idgen_config(run, number);
    unsigned char state[CHECKPOINT_MAX];
    size_t size = bk_idgen_state_size(from);
    twin->has_parted = false;
    if (bk_idgen_save(from, state, sizeof state) != BK_OK ||
        bk_idgen_load(&config, state, size, &twin->idgen) != BK_OK)
        part(run, twin, number, "cannot be loaded");
}

static void acts(struct lab_cluster_run *run, struct twin *twin, const struct cluster_event *event)
{
    struct bk_idgen_action other;
    if (!bk_idgen_next(&twin->idgen, &other))
        part(run, twin, event->agent, "sends no request");
    else if (memcmp(&other, event->id_action, sizeof other) != 0) /* both are zeroed first */
        part(run, twin, event->agent, "sends another request");
}

static void rests(struct lab_cluster_run *run, struct twin *twin, uint32_t number)
{
    struct bk_idgen_action other;
    if (bk_idgen_next(&twin->idgen, &other))
        part(run, twin, number, "sends more requests");
    else if (bk_idgen_deadline(&twin->idgen) != bk_idgen_deadline(&run->idgen->clients[number].idgen))
        part(run, twin, number, "wakes at another time");
    if (twin->has_parted || !cluster_twin_is_due(run, number))
        return;
    run->oracles.verdict.probes[LAB_PROBE_RESTORED]++;
    restore(run, twin, number, &twin->idgen);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    const uint32_t number = event->agent;
    struct twin *twin = (struct twin *)state + number;
    int64_t other = 0;
    if (event->kind == CLUSTER_AGENT_STARTED)
        restore(run, twin, number, &run->idgen->clients[number].idgen);
    else if (twin->has_parted)
        return;
    else if (event->kind == CLUSTER_ID_ACTED)
        acts(run, twin, event);
    else if (event->kind == CLUSTER_AGENT_RESTS)
        rests(run, twin, number);
    else if (event->kind == CLUSTER_AGENT_TICKED)
        bk_idgen_tick(&twin->idgen, event->time_ns);
    else if (event->kind == CLUSTER_ID_TOLD &&
             bk_idgen_outcome(&twin->idgen, event->time_ns, event->id_outcome) != BK_OK)
        part(run, twin, number, "waits for nothing");
    else if (event->kind == CLUSTER_ID_TOOK &&
             (bk_idgen_take(&twin->idgen, event->time_ns, &other) != (enum bk_status)event->number ||
              other != event->value))
        part(run, twin, number, "hands out another identifier");
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    if (run->scenario->agents.twin_share <= 0 || run->idgen == NULL)
        return 0;
    return CLUSTER_WANTS(AGENT_STARTED) | CLUSTER_WANTS(ID_ACTED) | CLUSTER_WANTS(AGENT_RESTS) |
           CLUSTER_WANTS(AGENT_TICKED) | CLUSTER_WANTS(ID_TOLD) | CLUSTER_WANTS(ID_TOOK);
}

static bool begin(struct lab_cluster_run *run, void **state)
{
    *state = calloc(run->agent_count, sizeof(struct twin));
    return *state != NULL;
}

const struct cluster_observer cluster_id_twins = {
    .name = "twins of clients", .wants = wants, .begin = begin, .on_event = hear, .destroy = free};
