/* SPDX-License-Identifier: GPL-3.0-or-later */
/* restored, for identifiers: a client that was restored from its own checkpoint gives the same identifiers
 * and makes the same requests as one that never stopped. Twins of clients work like those of agents, see
 * cluster_twin.c. */
#include <string.h>

#include "cluster_agents.h"
#include "evidence.h"
#include "idgen_private.h"

static void part(struct lab_cluster_run *run, uint32_t number, const char *why)
{
    run->idgen->clients[number].has_twin =
        false; /* reported once, because everything that follows would differ, too */
    lab_violate(run, LAB_ORACLE_RESTORED, LAB_NO_KEY, 1, "client %u: restored from its checkpoint it %s",
                number, why);
}

/* Loads a checkpoint of `from` into the twin. */
static void restore(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen *from)
{
    struct bk_idgen *twin = &run->idgen->clients[number].twin;
    struct bk_idgen_config config = lab_idgen_config(run, number);
    unsigned char state[LAB_ID_CHECKPOINT_MAX];
    size_t size = bk_idgen_state_size(from);
    if (bk_idgen_save(from, state, sizeof state) != BK_OK ||
        bk_idgen_load(&config, state, size, twin) != BK_OK)
        part(run, number, "cannot be loaded");
}

void lab_id_twin_begin(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    client->has_twin = run->scenario->agents.twin_share > 0;
    if (client->has_twin)
        restore(run, number, &client->idgen);
}

void lab_id_twin_took(struct lab_cluster_run *run, uint32_t number, int64_t now_ns, enum bk_status status,
                      int64_t id)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    int64_t other;
    if (client->has_twin && (bk_idgen_take(&client->twin, now_ns, &other) != status || other != id))
        part(run, number, "hands out another identifier");
}

void lab_id_twin_heard(struct lab_cluster_run *run, uint32_t number, int64_t now_ns,
                       const struct bk_idgen_outcome *outcome)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    if (client->has_twin && bk_idgen_outcome(&client->twin, now_ns, outcome) != BK_OK)
        part(run, number, "waits for nothing");
}

void lab_id_twin_ticked(struct lab_cluster_run *run, uint32_t number, int64_t now_ns)
{
    if (run->idgen->clients[number].has_twin)
        bk_idgen_tick(&run->idgen->clients[number].twin, now_ns);
}

void lab_id_twin_acted(struct lab_cluster_run *run, uint32_t number, const struct bk_idgen_action *action)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    struct bk_idgen_action other;
    if (!client->has_twin)
        return;
    if (!bk_idgen_next(&client->twin, &other))
        part(run, number, "sends no request");
    else if (memcmp(&other, action, sizeof other) != 0) /* both are zeroed first */
        part(run, number, "sends another request");
}

void lab_id_twin_rests(struct lab_cluster_run *run, uint32_t number)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    struct bk_idgen_action other;
    if (client->has_twin && bk_idgen_next(&client->twin, &other))
        part(run, number, "sends more requests");
    if (client->has_twin && bk_idgen_deadline(&client->twin) != bk_idgen_deadline(&client->idgen))
        part(run, number, "wakes at another time");
    if (client->has_twin && lab_twin_is_due(run, number))
        restore(run, number, &client->twin);
}
