/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loss of state: a replica loses recent Paxos state in a power failure, and an administrator deletes or
 * restores registers on all replicas. */
#include <assert.h>

#include "coordination.h"
#include "data.h"
#include "kernel/time.h"
#include "state.h"

static bool forget(struct paxos_state *state, int64_t since_us)
{
    const struct proposal none = {.ballot = {.micros = NO_TIME}, .image = cass_image_none};
    bool is_lost = state->promised.micros > since_us;
    if (state->committed.ballot.micros > since_us) {
        state->committed = none;
        is_lost = true;
    }
    if (state->accepted.ballot.micros > since_us) {
        state->accepted = none;
        is_lost = true;
    }
    /* The previous promise is not stored, but the accepted and the committed ballot had been promised, so the
     * newest of those remains. */
    if (state->promised.micros > since_us)
        state->promised = cass_ballot_after(&state->accepted.ballot, &state->committed.ballot)
                              ? state->accepted.ballot
                              : state->committed.ballot;
    return is_lost;
}

/* Returns the Paxos state of a register on a node; NULL if it has none. */
static struct paxos_state *state_on(const struct cass_cluster *cluster, uint32_t entry, uint32_t node)
{
    const struct register_entry *item = register_at(cluster, entry);
    const uint32_t *replicas = replicas_at(cluster, item->position);
    size_t offset = item->paxos * cluster->paxos.item_size;
    for (uint32_t replica = 0; item->paxos != CASS_NONE && replica < cluster->factor; replica++) {
        if (replicas[replica] == node)
            return (struct paxos_state *)(void *)(cluster->paxos.items + offset) + replica;
    }
    return NULL;
}

uint64_t cass_forget_paxos(struct cass_cluster *cluster, uint32_t node, int64_t last_ns,
                           void (*forgot)(void *context, uint64_t key), void *context)
{
    assert(node < cluster->node_count && last_ns >= 0);
    uint64_t count = 0;
    int64_t since_us = (now_ns(cluster) - last_ns) / SIM_US;
    for (uint32_t entry = 1; entry < cluster->registers.used; entry++) {
        struct paxos_state *state = state_on(cluster, entry, node);
        if (state == NULL || !forget(state, since_us))
            continue;
        count++;
        if (forgot != NULL)
            forgot(context, register_at(cluster, entry)->key);
    }
    return count;
}

struct cass_paxos_age cass_peek_paxos(const struct cass_cluster *cluster, uint32_t node, int64_t since_us)
{
    struct cass_paxos_age age = {0, 0};
    for (uint32_t entry = 1; entry < cluster->registers.used; entry++) {
        const struct paxos_state *state = state_on(cluster, entry, node);
        if (state == NULL)
            continue;
        int64_t told_us[] = {state->accepted.ballot.micros, state->committed.ballot.micros};
        age.newer += state->promised.micros > since_us;
        for (int i = 0; i < 2; i++) {
            age.newer += told_us[i] > since_us;
            age.older += told_us[i] <= since_us && told_us[i] != NO_TIME;
        }
    }
    return age;
}

void cass_set_columns(struct cass_cluster *cluster, uint64_t key, const int64_t *columns, uint32_t mask)
{
    uint32_t entry = cass_register_need(cluster, key);
    int64_t now_us = now_ns(cluster) / SIM_US;
    struct image image = cass_image_none;
    /* The row is deleted, and the restored cells have a timestamp one microsecond later. */
    image.deleted_us = now_us;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++) {
        if (mask >> i & 1)
            image.cells[i] =
                (struct cell){.value = columns[i], .timestamp_us = now_us + 1, .deletion_s = NEVER};
    }
    if (mask != 0)
        image.marker_us = now_us + 1;
    for (uint32_t replica = 0; replica < cluster->factor; replica++)
        cass_image_merge(image_need(cluster, entry, replica), &image);
    cass_register_tell(cluster, entry);
}
