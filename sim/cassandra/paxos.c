/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Paxos state of a replica: what it has promised, accepted and committed for a register. Source:
 * apache/cassandra service/paxos/PaxosState.java. */
#include "coordination.h"
#include "data.h"
#include "state.h"
#include "traffic.h"

bool cass_ballot_after(const struct ballot *left, const struct ballot *right)
{
    if (left->micros != right->micros)
        return left->micros > right->micros;
    return left->node > right->node;
}

static struct paxos_state *state_need(struct cass_cluster *cluster, uint32_t entity, uint32_t replica)
{
    if (register_at(cluster, entity)->paxos == CASS_NONE) {
        uint32_t fresh = cass_pool_take(&cluster->paxos);
        struct paxos_state *states =
            (struct paxos_state *)(void *)(cluster->paxos.items + fresh * cluster->paxos.item_size);
        for (uint32_t i = 0; i < cluster->factor; i++) {
            states[i].promised = states[i].accepted.ballot = states[i].committed.ballot =
                (struct ballot){.micros = NO_TIME};
        }
        register_at(cluster, entity)->paxos = fresh;
    }
    size_t offset = register_at(cluster, entity)->paxos * cluster->paxos.item_size;
    return (struct paxos_state *)(void *)(cluster->paxos.items + offset) + replica;
}

void cass_paxos_prepare(struct cass_cluster *cluster, uint32_t index)
{
    uint32_t answer_index = cass_body_new(cluster);
    struct message *message = message_at(cluster, index);
    struct paxos_state *state = state_need(cluster, message->entity, message->replica);
    const struct ballot ballot = body_at(cluster, message->body)->ballot;
    struct body *answer = body_at(cluster, answer_index);
    if (cass_ballot_after(&ballot, &state->promised))
        state->promised = ballot;
    else
        message->flags |= MESSAGE_REFUSED;
    answer->promised = state->promised;
    answer->accepted = state->accepted;
    answer->committed = state->committed;
    answer->image = *image_at(cluster, message->entity, message->replica);
    cass_message_answer(cluster, index, MESSAGE_ANSWER, answer_index);
}

void cass_paxos_propose(struct cass_cluster *cluster, uint32_t index)
{
    uint32_t answer_index = cass_body_new(cluster);
    struct message *message = message_at(cluster, index);
    struct paxos_state *state = state_need(cluster, message->entity, message->replica);
    const struct proposal *proposal = &body_at(cluster, message->body)->accepted;
    if (cass_ballot_after(&state->promised, &proposal->ballot)) {
        message->flags |= MESSAGE_REFUSED;
    } else {
        state->promised = proposal->ballot;
        state->accepted = *proposal;
    }
    body_at(cluster, answer_index)->promised = state->promised;
    cass_message_answer(cluster, index, MESSAGE_ANSWER, answer_index);
}

/* The mutation of a commit with an older ballot than the last one is applied, too; the cells' timestamps
 * decide which value wins. */
void cass_paxos_commit(struct cass_cluster *cluster, const struct message *message)
{
    struct paxos_state *state = state_need(cluster, message->entity, message->replica);
    const struct proposal *decided = &body_at(cluster, message->body)->committed;
    if (cass_ballot_after(&decided->ballot, &state->committed.ballot))
        state->committed = *decided;
    if (!cass_ballot_after(&state->accepted.ballot, &decided->ballot))
        state->accepted.ballot = (struct ballot){.micros = NO_TIME};
    cass_image_merge(image_need(cluster, message->entity, message->replica), &decided->image);
    cass_register_tell(cluster, message->entity);
}
