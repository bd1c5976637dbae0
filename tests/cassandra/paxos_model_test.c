/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the mock's replicas promise, accept and commit as Paxos demands, and its coordinators finish what was
 * chosen. Method: a reference model of each replica (promised, accepted and committed ballot, and the cells)
 * takes the same prepares, proposals and commits, at the moment at which the mock serves them; after each
 * event the mock's state must be the model's, and each answer what the model answers. A proposal that a
 * quorum has accepted is chosen: whoever proposes later has either that value again or finds it committed by
 * a quorum. Random conditional updates and reads under losses, doubles, network partitions, crashes, pauses
 * and clock jumps; fixed seeds, and a list of situations that must have come up. */
#include "cluster_private.h"
#include "model.h"

#define KEYS          2
#define STEPS         150
#define PROPOSALS_MAX 2048

enum situation {
    PREPARE_REFUSED,
    PROPOSAL_REFUSED,
    SAME_MICROSECOND,
    LATE_COMMIT,
    COMMIT_UNDER_NEWER_ACCEPTED,
    ACCEPTED_AT_OWN_PROMISE,
    VALUE_FINISHED,
    CHOSEN,
    SITUATIONS
};
static struct model_situation situations[SITUATIONS] = {
    [PREPARE_REFUSED] = {"a prepare below the promise", 0},
    [PROPOSAL_REFUSED] = {"a proposal below the promise", 0},
    [SAME_MICROSECOND] = {"two ballots of one microsecond", 0},
    [LATE_COMMIT] = {"a commit of an older ballot than the last one", 0},
    [COMMIT_UNDER_NEWER_ACCEPTED] = {"a commit below a newer accepted proposal", 0},
    [ACCEPTED_AT_OWN_PROMISE] = {"a proposal of the promised ballot", 0},
    [VALUE_FINISHED] = {"another's value proposed again", 0},
    [CHOSEN] = {"a value accepted by a quorum", 0},
};

struct known_proposal {
    struct proposal proposal;
    uint32_t entity, accepted_by;
    bool is_chosen;
};

struct known_replica {
    struct paxos_state state;
    struct image image;
};

/* What the model answers to a message, until the answer arrives. */
struct known_answer {
    bool is_due;
    struct message message;
    bool is_refused;
    struct paxos_state state;
};

struct model {
    struct harness h;
    struct sim_random random;
    struct model_run *run;
    uint32_t quorum;
    bool doubles; /* messages come twice; then answers are not followed, as a lost one's slot may get its
                     double */
    struct known_replica replicas[KEYS + 1][CASS_CLUSTER_REPLICAS_MAX]; /* by entity, which counts from 1 */
    struct known_proposal proposals[PROPOSALS_MAX];
    size_t proposal_count;
    struct known_answer *answers;
    size_t answer_count;
};

/* --- the rules, said once more */

static int order(struct ballot a, struct ballot b)
{
    if (a.micros != b.micros)
        return a.micros < b.micros ? -1 : 1;
    if (a.micros == NO_TIME)
        return 0;
    return (a.node > b.node) - (a.node < b.node);
}

static bool is_same_value(const struct proposal *a, const struct proposal *b)
{
    bool is_same = a->is_empty == b->is_empty;
    for (int i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *left = &a->image.cells[i], *right = &b->image.cells[i];
        bool is_set = left->timestamp_us != NO_TIME;
        is_same =
            is_same && is_set == (right->timestamp_us != NO_TIME) && (!is_set || left->value == right->value);
    }
    return is_same;
}

static void merge(struct image *into, const struct image *from)
{
    for (int i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *cell = &from->cells[i];
        struct cell *own = &into->cells[i];
        if (cell->timestamp_us == NO_TIME)
            continue;
        if (cell->timestamp_us > own->timestamp_us ||
            (cell->timestamp_us == own->timestamp_us && cell->value > own->value))
            *own = *cell;
    }
}

static struct known_proposal *proposal_of(struct model *model, uint32_t entity,
                                          const struct proposal *proposal)
{
    for (size_t i = 0; i < model->proposal_count; i++) {
        struct known_proposal *known = &model->proposals[i];
        if (known->entity != entity || order(known->proposal.ballot, proposal->ballot) != 0)
            continue;
        MODEL_RULE(model->run, is_same_value(&known->proposal, proposal), "ballot",
                   "one ballot has two values");
        return known;
    }
    assert_true(model->proposal_count < PROPOSALS_MAX);
    struct known_proposal *fresh = &model->proposals[model->proposal_count++];
    *fresh = (struct known_proposal){.proposal = *proposal, .entity = entity};
    return fresh;
}

/* Before a proposal is served for the first time: what was chosen below it is in it, or is committed. */
static void check_proposal(struct model *model, const struct message *message,
                           const struct proposal *proposal)
{
    const struct known_proposal *chosen = NULL;
    for (size_t i = 0; i < model->proposal_count; i++) {
        const struct known_proposal *known = &model->proposals[i];
        bool is_below = order(known->proposal.ballot, proposal->ballot) < 0;
        if (known->is_chosen && known->entity == message->entity && is_below &&
            (chosen == NULL || order(known->proposal.ballot, chosen->proposal.ballot) > 0))
            chosen = known;
    }
    if (chosen == NULL)
        return;
    uint32_t committed = 0;
    for (uint32_t i = 0; i < model->h.cluster->factor; i++)
        committed +=
            order(model->replicas[message->entity][i].state.committed.ballot, chosen->proposal.ballot) >= 0;
    bool is_again = is_same_value(&chosen->proposal, proposal);
    situations[VALUE_FINISHED].count += is_again && committed < model->quorum;
    MODEL_RULE(model->run, is_again || committed >= model->quorum, "chosen",
               "a value that a quorum accepted was neither finished nor committed");
}

static void serve(struct model *model, const struct message *message, const struct body *body,
                  struct known_answer *answer)
{
    struct known_replica *replica = &model->replicas[message->entity][message->replica];
    struct paxos_state *state = &replica->state;
    *answer = (struct known_answer){.is_due = message->kind != MESSAGE_COMMIT, .message = *message};
    if (message->kind == MESSAGE_PREPARE) {
        struct ballot ballot = body->ballot;
        answer->is_refused = order(ballot, state->promised) <= 0;
        situations[PREPARE_REFUSED].count += answer->is_refused;
        situations[SAME_MICROSECOND].count +=
            ballot.micros == state->promised.micros && ballot.node != state->promised.node;
        if (!answer->is_refused)
            state->promised = ballot;
    } else if (message->kind == MESSAGE_PROPOSE) {
        const struct proposal *proposal = &body->accepted;
        struct known_proposal *known = proposal_of(model, message->entity, proposal);
        answer->is_refused = order(proposal->ballot, state->promised) < 0;
        situations[PROPOSAL_REFUSED].count += answer->is_refused;
        situations[ACCEPTED_AT_OWN_PROMISE].count += order(proposal->ballot, state->promised) == 0;
        if (!answer->is_refused) {
            state->promised = proposal->ballot;
            state->accepted = *proposal;
            known->accepted_by |= UINT32_C(1) << message->replica;
            if (!proposal->is_empty && !known->is_chosen && bit_count(known->accepted_by) >= model->quorum) {
                known->is_chosen = true;
                situations[CHOSEN].count++;
            }
        }
    } else {
        const struct proposal *decided = &body->committed;
        bool has_accepted = state->accepted.ballot.micros != NO_TIME;
        situations[LATE_COMMIT].count += order(decided->ballot, state->committed.ballot) < 0;
        situations[COMMIT_UNDER_NEWER_ACCEPTED].count +=
            has_accepted && order(decided->ballot, state->accepted.ballot) < 0;
        if (order(decided->ballot, state->committed.ballot) > 0)
            state->committed = *decided;
        if (order(decided->ballot, state->accepted.ballot) >= 0)
            state->accepted.ballot.micros = NO_TIME;
        merge(&replica->image, &decided->image);
    }
    answer->state = *state;
}

/* --- the mock beside it */

static bool is_same_ballot(struct ballot a, struct ballot b)
{
    return order(a, b) == 0;
}

static bool is_same_image(const struct image *a, const struct image *b)
{
    bool is_same = true;
    for (int i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *left = &a->cells[i], *right = &b->cells[i];
        is_same = is_same && left->timestamp_us == right->timestamp_us &&
                  (left->timestamp_us == NO_TIME || left->value == right->value);
    }
    return is_same;
}

static void compare(struct model *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    for (uint32_t entity = 1; entity < cluster->registers.used; entity++) {
        uint32_t slot = register_at(cluster, entity)->paxos;
        for (uint32_t i = 0; i < cluster->factor; i++) {
            const struct known_replica *known = &model->replicas[entity][i];
            MODEL_RULE(model->run, is_same_image(image_at(cluster, entity, i), &known->image), "cells",
                       "replica %u has other cells than the model", (unsigned)i);
            if (slot == CASS_NONE)
                continue;
            const struct paxos_state *state =
                (const struct paxos_state *)(const void *)(cluster->paxos.items +
                                                           slot * cluster->paxos.item_size) +
                i;
            MODEL_RULE(model->run, is_same_ballot(state->promised, known->state.promised), "promised",
                       "replica %u has promised another ballot than the model", (unsigned)i);
            MODEL_RULE(model->run, is_same_ballot(state->accepted.ballot, known->state.accepted.ballot),
                       "accepted", "replica %u has accepted another ballot than the model", (unsigned)i);
            MODEL_RULE(model->run,
                       state->accepted.ballot.micros == NO_TIME ||
                           is_same_value(&state->accepted, &known->state.accepted),
                       "accepted", "replica %u has accepted another value than the model", (unsigned)i);
            MODEL_RULE(model->run, is_same_ballot(state->committed.ballot, known->state.committed.ballot),
                       "committed", "replica %u has committed another ballot than the model", (unsigned)i);
        }
    }
}

static void check_answer(struct model *model, const struct message *message)
{
    const struct cass_cluster *cluster = model->h.cluster;
    uint32_t index = (uint32_t)(message - message_at(cluster, 0));
    if (message->kind != MESSAGE_ANSWER || index >= model->answer_count || !model->answers[index].is_due)
        return;
    struct known_answer *known = &model->answers[index];
    known->is_due = false;
    bool is_same = known->message.operation == message->operation &&
                   known->message.generation == message->generation &&
                   known->message.round == message->round && known->message.replica == message->replica &&
                   known->message.to == message->from;
    if (!is_same || message->body == CASS_NONE)
        return; /* the slot has another message by now */
    const struct body *body = body_at(cluster, message->body);
    MODEL_RULE(model->run, known->is_refused == ((message->flags & MESSAGE_REFUSED) != 0), "answer",
               "a replica grants what the model refuses, or refuses what it grants");
    MODEL_RULE(model->run, is_same_ballot(body->promised, known->state.promised), "answer",
               "an answer names another promise than the model's");
    if (known->message.kind != MESSAGE_PREPARE)
        return;
    MODEL_RULE(model->run, is_same_ballot(body->accepted.ballot, known->state.accepted.ballot), "answer",
               "a promise names another accepted ballot than the model's");
    MODEL_RULE(model->run, is_same_ballot(body->committed.ballot, known->state.committed.ballot), "answer",
               "a promise names another committed ballot than the model's");
}

static bool is_served(const struct cass_cluster *cluster, const struct message *message)
{
    const struct node *node = &cluster->nodes[message->to];
    return message->epoch == node->epoch && node->frozen_ns <= message->frozen_ns && !node->is_failing;
}

static void need_answers(struct model *model, uint32_t index)
{
    if (index < model->answer_count)
        return;
    size_t count = index * 2 + 64;
    model->answers = realloc(model->answers, count * sizeof *model->answers);
    assert_non_null(model->answers);
    memset(model->answers + model->answer_count, 0, (count - model->answer_count) * sizeof *model->answers);
    model->answer_count = count;
}

static void handle(struct model *model, const struct sim_event *event)
{
    struct cass_cluster *cluster = model->h.cluster;
    struct message message = {0};
    struct body body = {0};
    bool is_taken = false;
    if (event->kind == EVENT_ARRIVE)
        check_answer(model, message_at(cluster, (uint32_t)event->a));
    if (event->kind == EVENT_SERVED) {
        message = *message_at(cluster, (uint32_t)event->a);
        need_answers(model, (uint32_t)event->a);
        model->answers[event->a].is_due = false;
        is_taken = is_served(cluster, &message);
        if (message.body != CASS_NONE)
            body = *body_at(cluster, message.body);
        const struct cass_operation *operation = operation_at(cluster, message.operation);
        bool is_current = operation->generation == message.generation && operation->round == message.round;
        if (is_taken && message.kind == MESSAGE_PROPOSE && is_current)
            check_proposal(model, &message, &body.accepted);
    }
    cass_handle(cluster, event);
    bool is_paxos =
        message.kind == MESSAGE_PREPARE || message.kind == MESSAGE_PROPOSE || message.kind == MESSAGE_COMMIT;
    if (is_taken && is_paxos) {
        serve(model, &message, &body, &model->answers[event->a]);
        model->answers[event->a].is_due =
            model->answers[event->a].is_due && message.from != message.to && !model->doubles;
    } else if (is_taken && message.kind == MESSAGE_WRITE_CELLS) {
        merge(&model->replicas[message.entity][message.replica].image, &body.image);
    }
    compare(model);
}

static void run_for(struct model *model, int64_t lasts_ns)
{
    struct harness *h = &model->h;
    struct sim_event marker = {.kind = 1}, event;
    int64_t end_ns = sim_queue_now(&h->queue) + lasts_ns, time_ns;
    sim_queue_push(&h->queue, end_ns, &marker);
    while (!model->run->is_broken && sim_queue_pop(&h->queue, &time_ns, &event) && event.kind != 1) {
        struct cass_reply reply;
        if (event.kind == CASS_EVENT_REPLY)
            cass_reply_take(h->cluster, event.b, &reply);
        else
            handle(model, &event);
    }
}

static void disturb(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t nodes = cass_node_count(cluster), places = cass_place_count(cluster);
    uint32_t node = (uint32_t)sim_random_below(&model->random, nodes);
    uint32_t other = (uint32_t)sim_random_below(&model->random, places);
    switch (sim_random_below(&model->random, 8)) {
    case 0:
        cass_set_down(cluster, node, true);
        break;
    case 1:
        cass_set_loss(cluster, sim_random_unit(&model->random) * 0.3, model->doubles ? 0.2 : 0);
        break;
    case 2:
        if (node != other)
            cut_node(&model->h, node, other, true);
        break;
    case 3:
        cass_pause(cluster, node, (int64_t)sim_random_below(&model->random, 300) * SIM_MS);
        break;
    case 4:
        cass_set_clock(cluster, node, ((int64_t)sim_random_below(&model->random, 200) - 100) * SIM_MS);
        break;
    default:
        cass_heal(cluster);
    }
}

static void request(struct model *model)
{
    uint64_t key = 7 + sim_random_below(&model->random, KEYS);
    struct cass_statement statement = cas_column(key, (int64_t)sim_random_below(&model->random, 4),
                                                 (int64_t)sim_random_below(&model->random, 4));
    uint64_t kind = sim_random_below(&model->random, 4);
    if (kind == 0)
        statement = statement_of(CASS_READ_COLUMNS, CASS_SERIAL, key);
    if (kind == 1) {
        statement.if_mask = 0;
        statement.if_absent = true;
    }
    if (kind == 2) { /* another column, so that the condition holds oftener */
        statement.set_mask = 2;
        statement.set[1] = (int64_t)model->h.tags;
    }
    uint32_t node = (uint32_t)sim_random_below(&model->random, cass_node_count(model->h.cluster));
    harness_send(&model->h, (uint32_t)(model->h.tags % 2), node, &statement);
}

static void begin(struct model *model)
{
    struct cass_cluster_config config = harness_config();
    config.seed = model->run->seed;
    config.paxos = sim_random_below(&model->random, 2) == 0 ? CASS_PAXOS_V1 : CASS_PAXOS_V2;
    uint32_t nodes = sim_random_below(&model->random, 3) == 0 ? 5 : 3;
    config.datacenters[0].nodes = config.datacenters[0].replication_factor = nodes;
    /* Far apart, so that messages overtake each other. */
    config.latency_ns = (struct sim_size){.kind = SIM_SIZE_UNIFORM, .a = 1e5, .b = 3e7};
    if (sim_random_below(&model->random, 3) == 0)
        config.latency_ns = (struct sim_size){.kind = SIM_SIZE_LOGNORMAL, .a = 2e6, .b = 2};
    sim_size_prepare(&config.latency_ns);
    harness_start(&model->h, &config);
    model->quorum = nodes / 2 + 1;
    for (uint32_t entity = 0; entity <= KEYS; entity++) {
        for (uint32_t i = 0; i < CASS_CLUSTER_REPLICAS_MAX; i++) {
            struct known_replica *known = &model->replicas[entity][i];
            known->state.promised.micros = known->state.accepted.ballot.micros = NO_TIME;
            known->state.committed.ballot.micros = NO_TIME;
            cass_image_clear(&known->image);
        }
    }
}

static void check_seed(struct model_run *run)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->run = run;
    model->doubles = run->seed % 2 == 0;
    sim_random_init(&model->random, run->seed, SIM_FUZZ, 0);
    begin(model);
    uint64_t calm = sim_random_below(&model->random, 3);
    for (int step = 0; step < STEPS && !run->is_broken; step++) {
        uint64_t together = 1 + sim_random_below(&model->random, 3);
        for (uint64_t i = 0; i < together; i++)
            request(model);
        if (calm != 0 && sim_random_below(&model->random, 8) == 0)
            disturb(model);
        run_for(model, (int64_t)sim_random_below(&model->random, 60) * SIM_MS + 1);
    }
    cass_heal(model->h.cluster);
    run_for(model, SIM_MINUTE);
    harness_stop(&model->h);
    free(model->answers);
    free(model);
}

int main(int argc, char **argv)
{
    return model_main(argc, argv, 200, check_seed, situations, SITUATIONS);
}
