/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the mock's replicas promise, accept and commit as Paxos demands, its coordinators finish chosen
 * values, and clients get correct replies. Method: a reference model of each replica (its promised, accepted
 * and committed ballots, and the cells) handles the same prepares, proposals and commits at the time at which
 * the mock serves them. After each event the mock's state must equal the model's, and each answer must equal
 * the model's answer. A proposal that a quorum has accepted is chosen: a later proposal either carries the
 * same value or follows a commit of that value at a quorum. The replies to clients are compared with the
 * order of the chosen values (paxos_history.h). The model has its own version of which replicas each phase
 * asks and which answers end it; a phase ends exactly when those answers have arrived. Under Paxos v2, of the
 * updates of one key at one coordinator the first proceeds and the others wait. The conditional updates,
 * deletes and reads are random, with every commit level, SERIAL or LOCAL_SERIAL, in one datacenter or two,
 * under message loss, duplicated messages, network partitions, crashes, pauses, clock jumps and the loss of
 * recent Paxos state. At the end, after all faults have been healed, a request to each key must get a
 * definite reply. The seeds are fixed, and a list of situations must all have occurred. */
#include "model.h"
#include "paxos_history.h"
#include "state.h"

#define KEYS           HISTORY_KEYS
#define KEY_FIRST      7
#define STEPS          150
#define PROPOSALS_MAX  2048
#define OPERATIONS     256
#define BALLOTS_MAX    8192
#define NODES_MOST     16
#define ASKED_OF_A_KEY 6

enum situation {
    PREPARE_REFUSED,
    PROPOSAL_REFUSED,
    SAME_MICROSECOND,
    LATE_COMMIT,
    COMMIT_UNDER_NEWER_ACCEPTED,
    ACCEPTED_AT_OWN_PROMISE,
    VALUE_FINISHED,
    CHOSEN,
    EXPIRING_FINISHED,
    CHOSEN_IN_A_DATACENTER,
    APPLIED,
    REFUSED,
    READ,
    UNKNOWN_CHOSEN,
    UNKNOWN_LATER,
    UNKNOWN_NOT,
    SLEPT_LONG,
    READ_AFAR,
    WAITED,
    GAVE_UP_LAST,
    ROW_DELETED,
    ROW_DELETED_BY_ANOTHER,
    PROMISE_LOST,
    PROMISE_OF_ACCEPTED_LEFT,
    LEVELS_MIXED,
    ENDED_BY_PROMISES,
    REFUSED_AFTER_ACCEPTED,
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
    [EXPIRING_FINISHED] = {"a value that expires proposed again", 0},
    [CHOSEN_IN_A_DATACENTER] = {"a value accepted by a quorum of one datacenter of two", 0},
    [APPLIED] = {"an update reported as applied", 0},
    [REFUSED] = {"an update reported as not applied", 0},
    [READ] = {"a SERIAL read that found its row", 0},
    [UNKNOWN_CHOSEN] = {"an update of unknown outcome that took place", 0},
    [UNKNOWN_LATER] = {"an update that took place after its client had given up", 0},
    [UNKNOWN_NOT] = {"an update of unknown outcome that did not take place", 0},
    [SLEPT_LONG] = {"a wait of 95 ms or more after a round of Paxos v1 that was lost", 0},
    [READ_AFAR] = {"a row that Paxos v1 read in another datacenter too", 0},
    [WAITED] = {"a lock that was handed on", 0},
    [GAVE_UP_LAST] = {"the last of several that gives up waiting for a lock", 0},
    [ROW_DELETED] = {"a conditional DELETE that took place", 0},
    [ROW_DELETED_BY_ANOTHER] = {"a conditional DELETE that another coordinator finished", 0},
    [PROMISE_LOST] = {"a promise that a replica lost", 0},
    [PROMISE_OF_ACCEPTED_LEFT] = {"a lost promise above an accepted proposal that was kept", 0},
    [ENDED_BY_PROMISES] = {"a request that Paxos v2 answered from its promises", 0},
    [REFUSED_AFTER_ACCEPTED] = {"a replica that refuses a proposal that it has accepted", 0},
    [LEVELS_MIXED] = {"a round at another serial level than the one before it", 0},
};

struct known_proposal {
    struct proposal proposal;
    uint64_t tag; /* of its update */
    uint32_t entity, accepted_by;
    bool is_chosen;
};

/* A coordinator's ballot, the request for which it was made, and its serial level. */
struct known_ballot {
    struct ballot ballot, finishes; /* finishes: the ballot whose value it proposes again; or none */
    uint64_t tag;
    bool is_local;
};

struct known_replica {
    struct paxos_state state;
    struct image image;
};

/* The model's answer to a message, kept until the answer arrives. */
struct known_answer {
    bool is_due;
    struct message message;
    bool is_refused;
    struct paxos_state state;
};

/* The clients of a register, and their serial level. With LOCAL_SERIAL in both datacenters each datacenter
 * has a separate order, and a value that one of them chooses can be lost to the other, as in Cassandra. The
 * same can happen if each request has its own level. */
enum key_use { SERIAL_EVERYWHERE, LOCAL_SERIAL_IN_ONE, LOCAL_SERIAL_IN_BOTH, MIXED_IN_BOTH };

struct model {
    struct harness h;
    struct sim_random random, impatience, loss, deletes;
    struct model_run *run;
    enum key_use uses[KEYS];
    struct {
        uint32_t generation;
        uint64_t tag;
        int64_t ballot_us, since_ns; /* since_ns: when its stage began */
        int64_t refused_us;          /* the highest promise by which it was refused */
        uint32_t contentions;
        uint32_t to_repair; /* replicas that miss the last commit; 0: it repairs none */
        uint32_t round, place, entity, asked;
        uint32_t heard, judged; /* replicas whose answers of this round have arrived, except refusals: by now,
                                   and at the last check */
        uint64_t begun;         /* sequence number in the order of beginning */
        uint8_t stage;
        bool is_answered, is_local; /* is_local: its serial level is LOCAL_SERIAL */
        struct ballot pending;      /* the newest accepted ballot that this round's promises reported */
        /* Replicas that have refused in this round, by now and at the last check. A refusal of a proposal
         * that its replica has accepted, which a duplicate of the message meets, does not count. */
        uint32_t refused, judged_refused;
        bool differs;     /* its promises have different rows, or report an open proposal */
        struct image row; /* of the first promise */
    } operations[OPERATIONS];
    uint64_t begun;
    struct paxos_history history;
    uint32_t contentions[ASKED_MAX]; /* contentions that each statement met, by tag */
    bool is_short[ASKED_MAX];        /* its last phase ended before enough answers had arrived */
    bool is_hasty[ASKED_MAX];        /* it ended after its promises, and these differ */
    int64_t last_us[NODES_MOST];     /* the last ballot of each coordinator; 0: none */
    bool doubles; /* messages are duplicated; then answers are not followed, as a duplicate may reuse the slot
                     of a lost message */
    struct known_replica replicas[KEYS + 1][CASS_CLUSTER_REPLICAS_MAX]; /* by entity, from 1 */
    struct known_proposal proposals[PROPOSALS_MAX];
    size_t proposal_count;
    struct known_ballot ballots[BALLOTS_MAX];
    size_t ballot_count;
    struct known_answer *answers;
    size_t answer_count;
};

/* --- the rules: the model's own version */

static bool is_same_value(const struct proposal *a, const struct proposal *b)
{
    bool is_same = a->is_empty == b->is_empty && a->image.marker_until_s == b->image.marker_until_s &&
                   (a->image.marker_us != NO_TIME) == (b->image.marker_us != NO_TIME) &&
                   (a->image.deleted_us != NO_TIME) == (b->image.deleted_us != NO_TIME);
    for (int i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *left = &a->image.cells[i], *right = &b->image.cells[i];
        bool is_set = left->timestamp_us != NO_TIME;
        is_same = is_same && is_set == (right->timestamp_us != NO_TIME) &&
                  (!is_set || (left->value == right->value && left->deletion_s == right->deletion_s));
    }
    return is_same;
}

static uint32_t key_of(const struct model *model, uint32_t entity)
{
    return (uint32_t)(register_at(model->h.cluster, entity)->key - KEY_FIRST);
}

/* The replicas that promise and accept for a coordinator, and the size of their quorum. */
static uint32_t participants_of(const struct model *model, uint32_t entity, uint32_t coordinator,
                                bool is_local, uint32_t *quorum)
{
    const struct cass_cluster *cluster = model->h.cluster;
    const uint32_t *replicas = replicas_at(cluster, register_at(cluster, entity)->position);
    uint32_t set = 0;
    for (uint32_t i = 0; i < cluster->factor; i++) {
        bool is_near = cluster->nodes[replicas[i]].datacenter == cluster->nodes[coordinator].datacenter;
        if (is_near || !is_local)
            set |= UINT32_C(1) << i;
    }
    *quorum = bit_count(set) / 2 + 1;
    return set;
}

/* NULL: the ballot of a request that got its lock and was lost in one crash. */
static struct known_ballot *ballot_of(struct model *model, struct ballot ballot)
{
    for (size_t i = model->ballot_count; i > 0; i--) {
        if (paxos_history_order(model->ballots[i - 1].ballot, ballot) == 0)
            return &model->ballots[i - 1];
    }
    return NULL;
}

static struct known_proposal *proposal_find(struct model *model, uint32_t entity, struct ballot ballot)
{
    for (size_t i = 0; i < model->proposal_count; i++) {
        struct known_proposal *known = &model->proposals[i];
        if (known->entity == entity && paxos_history_order(known->proposal.ballot, ballot) == 0)
            return known;
    }
    return NULL;
}

/* The update whose value is proposed with this ballot for the first time: that of the request, or of the
 * proposal that it finishes, which is the newest one that its promises reported. */
static uint64_t tag_of(struct model *model, uint32_t entity, const struct proposal *proposal)
{
    const struct known_ballot *own = ballot_of(model, proposal->ballot);
    if (own->finishes.micros == NO_TIME)
        return own->tag;
    const struct known_proposal *finished = proposal_find(model, entity, own->finishes);
    MODEL_RULE(model->run, finished != NULL && is_same_value(&finished->proposal, proposal), "finished",
               "a coordinator finishes another value than the newest one that was reported to it");
    situations[ROW_DELETED_BY_ANOTHER].count += proposal->image.deleted_us != NO_TIME;
    return finished == NULL ? own->tag : finished->tag;
}

static struct known_proposal *proposal_of(struct model *model, uint32_t entity,
                                          const struct proposal *proposal)
{
    struct known_proposal *known = proposal_find(model, entity, proposal->ballot);
    if (known != NULL) {
        MODEL_RULE(model->run, is_same_value(&known->proposal, proposal), "ballot",
                   "one ballot has two values");
        return known;
    }
    assert_true(model->proposal_count < PROPOSALS_MAX);
    struct known_proposal *fresh = &model->proposals[model->proposal_count++];
    *fresh = (struct known_proposal){
        .proposal = *proposal, .tag = tag_of(model, entity, proposal), .entity = entity};
    paxos_history_proposed(&model->history, fresh->tag, proposal);
    return fresh;
}

/* A replica has stored cells that their coordinator could not commit in time. Only the value of a DELETE has
 * no mark; its row deletion is one microsecond older than its ballot. */
static void hint_stored(struct model *model, const struct message *message, const struct image *image)
{
    if (image->deleted_us == NO_TIME)
        paxos_history_stored(&model->history, (uint64_t)image->cells[MARK_COLUMN].value, message->replica);
    for (size_t i = 0; image->deleted_us != NO_TIME && i < model->proposal_count; i++) {
        const struct known_proposal *known = &model->proposals[i];
        if (known->entity == message->entity && known->proposal.image.deleted_us == image->deleted_us)
            paxos_history_stored(&model->history, known->tag, message->replica);
    }
}

/* Checked before a proposal is served for the first time: the proposal repeats the last value that was chosen
 * with a lower ballot, or a quorum has committed that value. */
static void check_proposal(struct model *model, const struct message *message,
                           const struct proposal *proposal)
{
    const struct known_proposal *chosen = NULL;
    if (!model->history.keys[key_of(model, message->entity)].is_linear)
        return;
    for (size_t i = 0; i < model->proposal_count; i++) {
        const struct known_proposal *known = &model->proposals[i];
        bool is_below = paxos_history_order(known->proposal.ballot, proposal->ballot) < 0;
        if (known->is_chosen && known->entity == message->entity && is_below &&
            (chosen == NULL || paxos_history_order(known->proposal.ballot, chosen->proposal.ballot) > 0))
            chosen = known;
    }
    if (chosen == NULL)
        return;
    uint32_t committed = 0, quorum;
    uint32_t participants = participants_of(model, message->entity, message->from,
                                            ballot_of(model, proposal->ballot)->is_local, &quorum);
    for (uint32_t i = 0; i < model->h.cluster->factor; i++) {
        const struct known_replica *replica = &model->replicas[message->entity][i];
        committed += (participants >> i & 1) != 0 &&
                     paxos_history_order(replica->state.committed.ballot, chosen->proposal.ballot) >= 0;
    }
    bool is_again = is_same_value(&chosen->proposal, proposal);
    situations[VALUE_FINISHED].count += is_again && committed < quorum;
    situations[EXPIRING_FINISHED].count +=
        is_again && committed < quorum && proposal->image.cells[MARK_COLUMN].deletion_s != NEVER;
    MODEL_RULE(model->run, is_again || committed >= quorum, "chosen",
               "a value that a quorum accepted was neither finished nor committed");
}

static void choose(struct model *model, const struct message *message, struct known_proposal *known)
{
    bool is_local = ballot_of(model, known->proposal.ballot)->is_local;
    uint32_t quorum, participants = participants_of(model, message->entity, message->from, is_local, &quorum);
    if (known->proposal.is_empty || known->is_chosen || bit_count(known->accepted_by & participants) < quorum)
        return;
    known->is_chosen = true;
    situations[CHOSEN].count++;
    situations[CHOSEN_IN_A_DATACENTER].count += bit_count(participants) < model->h.cluster->factor;
    situations[ROW_DELETED].count += known->proposal.image.deleted_us != NO_TIME;
    paxos_history_chosen(&model->history, key_of(model, message->entity), known->tag, &known->proposal);
}

/* A replica promises and accepts only for coordinators whose quorum it can belong to. */
static void check_participant(struct model *model, const struct message *message, struct ballot ballot)
{
    const struct known_ballot *known = ballot_of(model, ballot);
    if (known == NULL)
        return;
    uint32_t quorum,
        participants = participants_of(model, message->entity, message->from, known->is_local, &quorum);
    MODEL_RULE(model->run, participants >> message->replica & 1, "participant",
               "a replica of another datacenter is asked at LOCAL_SERIAL");
}

static void serve(struct model *model, const struct message *message, const struct body *body,
                  struct known_answer *answer)
{
    struct known_replica *replica = &model->replicas[message->entity][message->replica];
    struct paxos_state *state = &replica->state;
    *answer = (struct known_answer){.is_due = message->kind != MESSAGE_COMMIT, .message = *message};
    if (message->kind != MESSAGE_COMMIT)
        check_participant(model, message,
                          message->kind == MESSAGE_PREPARE ? body->ballot : body->accepted.ballot);
    if (message->kind == MESSAGE_PREPARE) {
        struct ballot ballot = body->ballot;
        answer->is_refused = paxos_history_order(ballot, state->promised) <= 0;
        situations[PREPARE_REFUSED].count += answer->is_refused;
        situations[SAME_MICROSECOND].count +=
            ballot.micros == state->promised.micros && ballot.node != state->promised.node;
        if (!answer->is_refused)
            state->promised = ballot;
    } else if (message->kind == MESSAGE_PROPOSE) {
        const struct proposal *proposal = &body->accepted;
        struct known_proposal *known = proposal_of(model, message->entity, proposal);
        answer->is_refused = paxos_history_order(proposal->ballot, state->promised) < 0;
        situations[PROPOSAL_REFUSED].count += answer->is_refused;
        if (answer->is_refused && known->accepted_by >> message->replica & 1 && !proposal->is_empty)
            paxos_history_doubled(&model->history, known->tag);
        situations[ACCEPTED_AT_OWN_PROMISE].count +=
            paxos_history_order(proposal->ballot, state->promised) == 0;
        if (!answer->is_refused) {
            state->promised = proposal->ballot;
            state->accepted = *proposal;
            known->accepted_by |= UINT32_C(1) << message->replica;
            choose(model, message, known);
        }
    } else {
        const struct proposal *decided = &body->committed;
        bool has_accepted = state->accepted.ballot.micros != NO_TIME;
        situations[LATE_COMMIT].count += paxos_history_order(decided->ballot, state->committed.ballot) < 0;
        situations[COMMIT_UNDER_NEWER_ACCEPTED].count +=
            has_accepted && paxos_history_order(decided->ballot, state->accepted.ballot) < 0;
        if (paxos_history_order(decided->ballot, state->committed.ballot) > 0)
            state->committed = *decided;
        if (paxos_history_order(decided->ballot, state->accepted.ballot) >= 0)
            state->accepted.ballot.micros = NO_TIME;
        paxos_history_merge(&replica->image, &decided->image);
        paxos_history_stored(&model->history, proposal_of(model, message->entity, decided)->tag,
                             message->replica);
    }
    answer->state = *state;
}

/* --- comparison with the mock */

static bool is_same_ballot(struct ballot a, struct ballot b)
{
    return paxos_history_order(a, b) == 0;
}

static bool is_same_image(const struct image *a, const struct image *b)
{
    bool is_same = true;
    for (int i = 0; i < CASS_COLUMNS; i++) {
        const struct cell *left = &a->cells[i], *right = &b->cells[i];
        is_same = is_same && left->timestamp_us == right->timestamp_us &&
                  (left->timestamp_us == NO_TIME ||
                   (left->value == right->value && left->deletion_s == right->deletion_s));
    }
    return is_same && a->marker_us == b->marker_us && a->deleted_us == b->deleted_us &&
           (a->marker_us == NO_TIME || a->marker_until_s == b->marker_until_s);
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
                           (is_same_value(&state->accepted, &known->state.accepted) &&
                            is_same_image(&state->accepted.image, &known->state.accepted.image)),
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
        return; /* the slot has been reused for another message */
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

/* Whether the coordinator still waits for the answer. */
static bool is_current(const struct cass_cluster *cluster, const struct message *message)
{
    const struct cass_operation *operation = operation_at(cluster, message->operation);
    return operation->generation == message->generation && operation->round == message->round;
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

/* Each ballot of a coordinator is higher than all its former ballots, whatever its clock shows. */
static void check_ballot(struct model *model, const struct cass_operation *operation, bool is_local,
                         int64_t refused_us)
{
    const struct cass_cluster *cluster = model->h.cluster;
    int64_t *last_us = &model->last_us[operation->place];
    MODEL_RULE(model->run, operation->ballot.micros > refused_us, "rising",
               "node %u tries again with a ballot that is too low as well", operation->place);
    MODEL_RULE(model->run, now_ns(cluster) - operation->started_ns < cluster->config.timeout_cas_ns,
               "deadline", "node %u begins a round though its time is over", operation->place);
    MODEL_RULE(model->run, operation->ballot.node == operation->place, "rising",
               "a ballot of node %u names another node", operation->place);
    MODEL_RULE(model->run, *last_us == 0 || operation->ballot.micros > *last_us, "rising",
               "a ballot of node %u is no higher than one before it", operation->place);
    *last_us = operation->ballot.micros;
    situations[LEVELS_MIXED].count +=
        model->ballot_count > 0 && model->ballots[model->ballot_count - 1].is_local != is_local;
    assert_true(model->ballot_count < BALLOTS_MAX);
    model->ballots[model->ballot_count++] = (struct known_ballot){
        .ballot = operation->ballot, .finishes.micros = NO_TIME, .tag = operation->tag, .is_local = is_local};
}

/* When replicas that promised miss a commit, the coordinator waits until all of them have it. */
static void follow_repair(struct model *model, uint32_t index, const struct cass_operation *operation)
{
    bool begins = model->operations[index].stage == STAGE_PREPARE && operation->stage == STAGE_COMMIT_REPAIR;
    bool goes_on = model->operations[index].stage == STAGE_COMMIT_REPAIR && operation->stage == STAGE_PREPARE;
    uint32_t missing = model->operations[index].to_repair & ~model->operations[index].heard;
    MODEL_RULE(model->run, !goes_on || missing == 0, "repaired",
               "a coordinator begins again before the last commit is everywhere");
    model->operations[index].to_repair = begins ? operation->asked : 0;
}

/* Whether a phase may end, and therefore must: the replicas for which it waits have answered. */
static bool is_heard(const struct model *model, uint32_t index)
{
    uint32_t quorum, heard = model->operations[index].heard, asked = model->operations[index].asked;
    uint32_t participants =
        participants_of(model, model->operations[index].entity, model->operations[index].place,
                        model->operations[index].is_local, &quorum);
    uint64_t tag = model->operations[index].tag;
    const struct cass_statement *statement = &model->history.asked[tag].statement;
    switch ((enum stage)model->operations[index].stage) {
    case STAGE_READ:
    case STAGE_READ_AGAIN:
        return heard == asked;
    case STAGE_COMMIT:
        return paxos_history_is_enough(&model->history, tag, heard);
    case STAGE_COMMIT_REPAIR:
        if (model->operations[index].to_repair != 0)
            return (model->operations[index].to_repair & ~heard) == 0;
        if (model->h.cluster->config.paxos == CASS_PAXOS_V1 && statement->kind == CASS_CAS_COLUMNS &&
            statement->consistency != CASS_ANY)
            return paxos_history_is_enough(&model->history, tag, heard);
        return bit_count(heard & participants) >= quorum;
    default:
        return bit_count(heard & participants) >= quorum;
    }
}

/* Whether a round is lost, so that its coordinator sleeps: a prepare by one refusal; a proposal that finishes
 * another's or that has no value once no quorum is left to accept; and an update's own proposal only when all
 * have refused, because one acceptance may be enough for others to finish it. */
static bool is_lost(const struct model *model, uint32_t index)
{
    uint32_t quorum, asked = model->operations[index].asked, refused = model->operations[index].refused;
    participants_of(model, model->operations[index].entity, model->operations[index].place,
                    model->operations[index].is_local, &quorum);
    const struct asked *statement = &model->history.asked[model->operations[index].tag];
    switch ((enum stage)model->operations[index].stage) {
    case STAGE_PREPARE:
        return refused != 0;
    case STAGE_PROPOSE:
        if (statement->statement.kind == CASS_CAS_COLUMNS)
            return model->operations[index].heard == 0 && refused == asked;
        return bit_count(asked & ~refused) < quorum;
    case STAGE_PROPOSE_REPAIR:
        return bit_count(asked & ~refused) < quorum;
    default:
        return false;
    }
}

static bool is_waiting(enum stage stage)
{
    return stage == STAGE_PREPARE || stage == STAGE_PROPOSE || stage == STAGE_PROPOSE_REPAIR ||
           stage == STAGE_COMMIT_REPAIR || stage == STAGE_COMMIT || stage == STAGE_READ ||
           stage == STAGE_READ_AGAIN;
}

/* The replicas to which a phase sends requests: a round of Paxos uses all that can belong to its quorum, a
 * read within the round exactly a quorum of these, and a commit all replicas. */
static void check_asked(const struct model *model, const struct cass_operation *operation, bool is_local)
{
    const struct cass_cluster *cluster = model->h.cluster;
    uint32_t quorum, asked = operation->asked;
    uint32_t participants = participants_of(model, operation->entity, operation->place, is_local, &quorum);
    uint32_t alive = cass_replicas_alive(cluster, operation->place, operation->position);
    switch ((enum stage)operation->stage) {
    case STAGE_PREPARE:
    case STAGE_PROPOSE:
    case STAGE_PROPOSE_REPAIR:
        MODEL_RULE(model->run, asked == (participants & alive), "asked",
                   "a round of Paxos asks replicas %#x, and not %#x", asked, participants & alive);
        break;
    case STAGE_READ:
    case STAGE_READ_AGAIN:
        situations[READ_AFAR].count +=
            (asked & ~cass_datacenter_set(cluster, operation->position,
                                          cluster->nodes[operation->place].datacenter)) != 0;
        MODEL_RULE(model->run, (asked & ~participants) == 0 && bit_count(asked) == quorum, "asked",
                   "a read within Paxos asks replicas %#x, and not %u of %#x", asked, quorum, participants);
        break;
    case STAGE_COMMIT:
        MODEL_RULE(model->run, asked == alive, "asked", "a commit goes to replicas %#x, and not to %#x",
                   asked, alive);
        break;
    default:
        break;
    }
}

/* A phase ends exactly when enough answers have arrived, unless its operation is lost or has timed out. */
static void follow_phase(struct model *model, uint32_t index, const struct cass_operation *operation,
                         bool is_other)
{
    enum stage before = (enum stage)model->operations[index].stage, now = (enum stage)operation->stage;
    bool was_waiting = model->operations[index].generation % 2 == 1 && is_waiting(before);
    bool is_over = is_other || operation->round != model->operations[index].round || operation->is_answered;
    bool is_at_once = was_waiting && before == STAGE_PREPARE && now != STAGE_SLEEP;
    situations[ENDED_BY_PROMISES].count += is_at_once && is_other && is_heard(model, index);
    if (is_at_once && is_other)
        model->is_hasty[model->operations[index].tag] = model->operations[index].differs;
    if (is_at_once && !is_other && now == STAGE_PROPOSE && operation->statement.kind == CASS_READ_COLUMNS)
        MODEL_RULE(model->run,
                   model->h.cluster->config.paxos == CASS_PAXOS_V1 || model->operations[index].differs,
                   "needless", "a read makes a proposal, though its promises agree");
    if (was_waiting && !is_other && now == STAGE_SLEEP)
        MODEL_RULE(model->run, is_lost(model, index), "lost",
                   "a coordinator takes a round of stage %d for lost, and replicas %#x have refused",
                   (int)before, model->operations[index].refused);
    else if (was_waiting && !is_over)
        MODEL_RULE(model->run, !is_lost(model, index), "lost",
                   "a coordinator waits on in stage %d, though replicas %#x have refused", (int)before,
                   model->operations[index].refused);
    if (was_waiting && is_other)
        model->is_short[model->operations[index].tag] = !is_heard(model, index);
    else if (was_waiting && is_over && now != STAGE_SLEEP && before != STAGE_COMMIT)
        MODEL_RULE(model->run, is_heard(model, index), "early",
                   "a coordinator goes on from stage %d, and only replicas %#x have answered", (int)before,
                   model->operations[index].heard);
    else if (was_waiting && !is_over && model->operations[index].heard != model->operations[index].judged)
        MODEL_RULE(model->run, !is_heard(model, index), "late",
                   "a coordinator waits on in stage %d, though replicas %#x have answered", (int)before,
                   model->operations[index].heard);
}

/* Under Paxos v2, updates that want a key's lock at one coordinator get it in the order of their arrival: the
 * first unanswered update proceeds, and the others wait. */
static void check_locks(const struct model *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    uint64_t firsts[NODES_MOST][KEYS + 1] = {{0}};
    if (cluster->config.paxos != CASS_PAXOS_V2)
        return;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 1; i < cluster->operations.used; i++) {
            const struct cass_operation *operation = operation_at(cluster, i);
            if (operation->generation % 2 == 0 || operation->stage == STAGE_TRAVELLING ||
                operation->is_answered)
                continue;
            uint64_t begun = model->operations[i].begun,
                     *first = &firsts[operation->place][operation->entity];
            if (pass == 0)
                *first = *first == 0 || begun < *first ? begun : *first;
            else
                MODEL_RULE(model->run, (operation->stage == STAGE_LOCK_WAIT) == (begun != *first), "lock",
                           begun == *first ? "node %u has the first of those that want a lock wait"
                                           : "node %u has two at work under one lock",
                           operation->place);
        }
    }
}

/* Whether the request's serial level, which is the level itself of a SERIAL read, is LOCAL_SERIAL. */
static bool is_local(const struct cass_operation *operation)
{
    const struct cass_statement *statement = &operation->statement;
    bool is_read = statement->kind == CASS_READ_COLUMNS;
    return (is_read ? statement->consistency : statement->serial_consistency) == CASS_LOCAL_SERIAL;
}

/* Finds the updates that their coordinators have answered by now. */
static void follow_operations(struct model *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    assert_true(cluster->operations.used <= OPERATIONS);
    bool is_moved = false;
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        bool is_other = model->operations[i].generation != operation->generation;
        if (!is_other && model->operations[i].stage == operation->stage &&
            model->operations[i].round == operation->round &&
            model->operations[i].heard == model->operations[i].judged &&
            model->operations[i].refused == model->operations[i].judged_refused &&
            model->operations[i].is_answered == operation->is_answered)
            continue;
        is_moved = true;
        if (is_other && model->operations[i].generation % 2 == 1)
            paxos_history_answered(&model->history, model->operations[i].tag);
        bool has_ballot = operation->generation % 2 == 1 && operation->stage != STAGE_TRAVELLING &&
                          operation->ballot.micros != NO_TIME;
        int64_t before_us = is_other ? NO_TIME : model->operations[i].ballot_us;
        model->operations[i].ballot_us = has_ballot ? operation->ballot.micros : NO_TIME;
        if (has_ballot && operation->ballot.micros != before_us)
            check_ballot(model, operation, is_local(operation),
                         is_other ? NO_TIME : model->operations[i].refused_us);
        if (is_other) {
            model->operations[i].refused_us = NO_TIME;
            model->operations[i].contentions = 0;
        }
        bool is_asleep = operation->generation % 2 == 1 && operation->stage == STAGE_SLEEP;
        if (is_asleep && model->operations[i].stage != STAGE_SLEEP) {
            model->contentions[operation->tag] = ++model->operations[i].contentions;
        }
        follow_phase(model, i, operation, is_other);
        if (!is_other && model->operations[i].stage != operation->stage)
            follow_repair(model, i, operation);
        if (is_other || model->operations[i].round != operation->round) {
            model->operations[i].heard = model->operations[i].refused = 0;
            model->operations[i].differs = false;
            if (has_ballot && operation->stage == STAGE_PROPOSE_REPAIR)
                ballot_of(model, operation->ballot)->finishes = model->operations[i].pending;
            model->operations[i].pending.micros = NO_TIME;
            if (operation->generation % 2 == 1 && operation->stage != STAGE_TRAVELLING)
                check_asked(model, operation, is_local(operation));
        }
        bool was_begun = !is_other && model->operations[i].stage != STAGE_TRAVELLING;
        if (!was_begun)
            model->operations[i].begun = operation->stage == STAGE_TRAVELLING ? 0 : ++model->begun;
        situations[WAITED].count +=
            !is_other && model->operations[i].stage == STAGE_LOCK_WAIT && operation->stage != STAGE_LOCK_WAIT;
        model->operations[i].round = operation->round;
        model->operations[i].place = operation->place;
        model->operations[i].entity = operation->entity;
        model->operations[i].asked = operation->asked;
        model->operations[i].is_local = is_local(operation);
        if (is_other || model->operations[i].stage != operation->stage)
            model->operations[i].since_ns = now_ns(cluster);
        model->operations[i].judged = model->operations[i].heard;
        model->operations[i].judged_refused = model->operations[i].refused;
        model->operations[i].is_answered = operation->is_answered;
        model->operations[i].stage = operation->stage;
        model->operations[i].generation = operation->generation;
        model->operations[i].tag = operation->tag;
        if (operation->generation % 2 == 1 && operation->is_answered)
            paxos_history_answered(&model->history, operation->tag);
    }
    if (is_moved)
        check_locks(model);
}

/* A coordinator's timer runs out. Timers that a pause delays are not judged. */
static void check_timer(struct model *model, uint32_t index)
{
    const struct cass_cluster *cluster = model->h.cluster;
    const struct cass_cluster_config *config = &cluster->config;
    const struct cass_operation *operation = operation_at(cluster, index);
    int64_t lasted_ns = now_ns(cluster) - operation->started_ns, due_ns = config->timeout_cas_ns;
    bool is_v2 = config->paxos == CASS_PAXOS_V2;
    if (cluster->nodes[operation->place].frozen_ns > 0)
        return;
    switch ((enum stage)operation->stage) {
    case STAGE_PREPARE:
    case STAGE_PROPOSE:
    case STAGE_PROPOSE_REPAIR:
    case STAGE_COMMIT_REPAIR:
        due_ns = is_v2 ? config->timeout_cas_ns : config->timeout_write_ns;
        break;
    case STAGE_COMMIT:
        due_ns = is_v2 && config->timeout_cas_ns > config->timeout_write_ns ? config->timeout_cas_ns
                                                                            : config->timeout_write_ns;
        break;
    case STAGE_READ:
    case STAGE_READ_AGAIN:
    case STAGE_REPAIR:
        due_ns = config->timeout_read_ns;
        break;
    case STAGE_SLEEP:
        lasted_ns = now_ns(cluster) - model->operations[index].since_ns;
        situations[SLEPT_LONG].count += !is_v2 && lasted_ns >= 95 * SIM_MS;
        MODEL_RULE(model->run, lasted_ns <= 100 * SIM_MS && (is_v2 || lasted_ns < 100 * SIM_MS), "sleep",
                   "a coordinator waits for too long after a round that was lost");
        return;
    default:
        break;
    }
    int64_t began_ns = model->operations[index].since_ns - operation->started_ns; /* may exceed due_ns */
    due_ns = began_ns > due_ns ? began_ns : due_ns;
    MODEL_RULE(model->run, lasted_ns == due_ns, "deadline",
               "a coordinator waits for %" PRId64 " ms and not %" PRId64, lasted_ns / SIM_MS,
               due_ns / SIM_MS);
}

/* An answer reaches a coordinator that waits for it. */
static bool is_listened_to(const struct cass_cluster *cluster, const struct message *message)
{
    return is_current(cluster, message) && !cluster->nodes[message->to].is_down &&
           now_ns(cluster) >= cluster->nodes[message->to].paused_until_ns;
}

static void hear_refusal(struct model *model, uint32_t operation, uint32_t replica)
{
    uint32_t bit = UINT32_C(1) << replica;
    bool is_late = (model->operations[operation].heard & bit) != 0,
         is_prepare = model->operations[operation].stage == STAGE_PREPARE;
    situations[REFUSED_AFTER_ACCEPTED].count += is_late && !is_prepare;
    model->operations[operation].refused |= is_late && !is_prepare ? 0 : bit;
}

/* A replica answered; a promise reported to its coordinator what its replica had accepted and stored. */
static void hear_answer(struct model *model, uint32_t operation, uint32_t replica,
                        const struct ballot *accepted, const struct ballot *committed,
                        const struct image *row)
{
    struct ballot *pending = &model->operations[operation].pending;
    uint32_t bit = UINT32_C(1) << replica;
    bool is_first = model->operations[operation].heard == 0;
    bool is_again = (model->operations[operation].heard & bit) != 0;
    model->operations[operation].heard |= bit;
    if (model->operations[operation].stage != STAGE_PREPARE || row == NULL || is_again)
        return;
    if (is_first)
        model->operations[operation].row = *row;
    if (paxos_history_order(*accepted, *pending) > 0)
        *pending = *accepted;
    model->operations[operation].differs = model->operations[operation].differs ||
                                           paxos_history_order(*accepted, *committed) > 0 ||
                                           !is_same_image(row, &model->operations[operation].row);
}

static void hear(struct model *model, const struct message *message)
{
    const struct cass_cluster *cluster = model->h.cluster;
    if ((message->kind != MESSAGE_ANSWER && message->kind != MESSAGE_ACK) ||
        !is_listened_to(cluster, message))
        return;
    if (!(message->flags & MESSAGE_REFUSED)) {
        const struct body *body = body_at(cluster, message->body);
        hear_answer(model, message->operation, message->replica, &body->accepted.ballot,
                    &body->committed.ballot, message->body == CASS_NONE ? NULL : &body->image);
    } else if (message->body != CASS_NONE) {
        int64_t promised_us = body_at(cluster, message->body)->promised.micros,
                *refused_us = &model->operations[message->operation].refused_us;
        *refused_us = promised_us > *refused_us ? promised_us : *refused_us;
        hear_refusal(model, message->operation, message->replica);
    }
}

static void handle(struct model *model, const struct sim_event *event)
{
    struct cass_cluster *cluster = model->h.cluster;
    if (event->kind == EVENT_TIMER)
        check_timer(model, (uint32_t)event->a);
    if (event->kind == EVENT_ARRIVE)
        hear(model, message_at(cluster, (uint32_t)event->a));
    struct message message = {0};
    struct body body = {0};
    bool is_taken = false, is_own = false;
    if (event->kind == EVENT_ARRIVE)
        check_answer(model, message_at(cluster, (uint32_t)event->a));
    if (event->kind == EVENT_SERVED) {
        message = *message_at(cluster, (uint32_t)event->a);
        need_answers(model, (uint32_t)event->a);
        model->answers[event->a].is_due = false;
        is_taken = is_served(cluster, &message);
        if (message.body != CASS_NONE)
            body = *body_at(cluster, message.body);
        if (is_taken && message.kind == MESSAGE_PROPOSE && is_current(cluster, &message))
            check_proposal(model, &message, &body.accepted);
        is_own = is_taken && message.from == message.to && message.kind != MESSAGE_REQUEST &&
                 is_listened_to(cluster, &message);
    }
    cass_handle(cluster, event);
    bool is_paxos =
        message.kind == MESSAGE_PREPARE || message.kind == MESSAGE_PROPOSE || message.kind == MESSAGE_COMMIT;
    if (is_taken && is_paxos) {
        serve(model, &message, &body, &model->answers[event->a]);
        if (is_own && model->answers[event->a].is_refused)
            hear_refusal(model, message.operation, message.replica);
        is_own = is_own && !model->answers[event->a].is_refused;
        model->answers[event->a].is_due =
            model->answers[event->a].is_due && message.from != message.to && !model->doubles;
    } else if (is_taken && message.kind == MESSAGE_WRITE_CELLS) {
        paxos_history_merge(&model->replicas[message.entity][message.replica].image, &body.image);
        hint_stored(model, &message, &body.image);
    }
    if (is_own) {
        const struct known_replica *replica = &model->replicas[message.entity][message.replica];
        hear_answer(model, message.operation, message.replica, &replica->state.accepted.ballot,
                    &replica->state.committed.ballot,
                    message.kind == MESSAGE_PREPARE ? &replica->image : NULL);
    }
    follow_operations(model);
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
        if (event.kind == CASS_EVENT_REPLY) {
            cass_reply_take(h->cluster, event.b, &reply);
            paxos_history_told(&model->history, event.a, &reply);
            MODEL_RULE(model->run, reply.contentions == model->contentions[event.a], "contentions",
                       "a client is told of %u contentions, and not of %u", reply.contentions,
                       model->contentions[event.a]);
            MODEL_RULE(model->run, reply.result != CASS_OK || !model->is_short[event.a], "early",
                       "request %u is answered before enough replicas have answered", (unsigned)event.a);
            MODEL_RULE(model->run, reply.result != CASS_OK || !model->is_hasty[event.a], "hasty",
                       "request %u is answered from promises that differ", (unsigned)event.a);
            h->replies[event.a] = reply;
            h->is_answered[event.a] = true;
        } else {
            handle(model, &event);
        }
    }
}

/* An operation that waits for a lock gives up before its timeout; whichever it is, the others keep their
 * order. */
static void give_up_waiting(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t chosen = 0, before = 0;
    uint64_t waiting = 0;
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        if (operation->generation % 2 == 1 && operation->stage == STAGE_LOCK_WAIT &&
            sim_random_below(&model->impatience, ++waiting) == 0)
            chosen = i;
    }
    if (chosen == 0)
        return;
    const struct cass_operation *last = operation_at(cluster, chosen);
    for (uint32_t i = 1; i < cluster->operations.used; i++) {
        const struct cass_operation *operation = operation_at(cluster, i);
        before += i != chosen && operation->generation % 2 == 1 && operation->stage == STAGE_LOCK_WAIT &&
                  operation->place == last->place && operation->entity == last->entity;
    }
    situations[GAVE_UP_LAST].count += before > 0 && last->next == CASS_NONE;
    cass_cas_timer(cluster, chosen);
    follow_operations(model);
}

static bool forgets(struct ballot ballot, int64_t since_us)
{
    return ballot.micros > since_us;
}

/* A node loses the Paxos state of the last few seconds. It keeps older proposals and commits, and of its
 * promises the newest one of those. */
static void lose_state(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t node = (uint32_t)sim_random_below(&model->loss, cass_node_count(cluster));
    int64_t last_ns = (int64_t)sim_random_below(&model->loss, 2000) * SIM_MS,
            since_us = (now_ns(cluster) - last_ns) / SIM_US;
    for (uint32_t entity = 1; entity < cluster->registers.used; entity++) {
        for (uint32_t i = 0; i < cluster->factor; i++) {
            struct paxos_state *state = &model->replicas[entity][i].state;
            if (replicas_at(cluster, register_at(cluster, entity)->position)[i] != node ||
                !(forgets(state->promised, since_us) || forgets(state->accepted.ballot, since_us) ||
                  forgets(state->committed.ballot, since_us)))
                continue;
            model->history.keys[key_of(model, entity)].is_linear = false;
            if (forgets(state->accepted.ballot, since_us))
                state->accepted.ballot.micros = NO_TIME;
            if (forgets(state->committed.ballot, since_us))
                state->committed.ballot.micros = NO_TIME;
            if (!forgets(state->promised, since_us))
                continue;
            bool has_accepted = state->accepted.ballot.micros != NO_TIME;
            bool is_newest = paxos_history_order(state->accepted.ballot, state->committed.ballot) > 0;
            state->promised = is_newest ? state->accepted.ballot : state->committed.ballot;
            situations[PROMISE_LOST].count++;
            situations[PROMISE_OF_ACCEPTED_LEFT].count += has_accepted && is_newest;
        }
    }
    cass_forget_paxos(cluster, node, last_ns, NULL, NULL);
    compare(model);
}

static void disturb(struct model *model)
{
    struct cass_cluster *cluster = model->h.cluster;
    uint32_t nodes = cass_node_count(cluster), places = cass_place_count(cluster);
    uint32_t node = (uint32_t)sim_random_below(&model->random, nodes);
    uint32_t other = (uint32_t)sim_random_below(&model->random, places);
    int64_t far = sim_random_below(&model->random, 4) == 0 ? 50 : 1;
    switch (sim_random_below(&model->random, 8)) {
    case 0:
        cass_set_down(cluster, node, true);
        break;
    case 1:
        cass_set_loss(cluster, sim_random_unit(&model->random) * 0.3, model->doubles ? 0.2 : 0);
        break;
    case 2:
        if (node != other)
            separate(&model->h, node, other, true);
        break;
    case 3:
        cass_pause(cluster, node, (int64_t)sim_random_below(&model->random, 300) * SIM_MS);
        break;
    case 4:
        /* The clock jumps by a little, or by more than any timeout of an update. */
        cass_set_clock(cluster, node, ((int64_t)sim_random_below(&model->random, 200) - 100) * SIM_MS * far);
        break;
    default:
        cass_heal(cluster);
    }
}

/* An update with one kind of condition: a column, absence, existence, another value, no value. */
static struct cass_statement update_of(struct model *model, uint64_t key, uint64_t tag)
{
    struct cass_statement statement = cas_column(key, (int64_t)sim_random_below(&model->random, 3),
                                                 (int64_t)sim_random_below(&model->random, 3));
    statement.set_mask = 1u << 0 | 1u << MARK_COLUMN;
    statement.set[MARK_COLUMN] = (int64_t)tag;
    switch (sim_random_below(&model->random, 8)) {
    case 0:
        statement.if_mask = 0;
        statement.if_absent = true;
        break;
    case 1:
        statement.if_mask = 0;
        statement.if_exists = true;
        break;
    case 2:
        statement.if_not_mask = 1;
        break;
    case 3:
        statement.if_null_mask = 1;
        break;
    case 5:
        statement.if_in_mask = 1;
        statement.in_count = 2;
        statement.in[1] = 1 + (int64_t)sim_random_below(&model->random, 2);
        break;
    case 4: /* another column, so that the condition holds more often */
        statement.set_mask = 1u << MARK_COLUMN | 1u << 2;
        statement.set[2] = (int64_t)tag;
        break;
    default:
        break;
    }
    if (sim_random_below(&model->random, 8) == 0)
        statement.null_mask = statement.set_mask & 1;
    if (sim_random_below(&model->random, 4) == 0)
        statement.ttl_ns = (int64_t)(1 + sim_random_below(&model->random, 3)) * SIM_SECOND;
    if (sim_random_below(&model->deletes, 8) == 0) { /* DELETE of the row */
        statement.is_whole_row = true;
        statement.set_mask = statement.null_mask = 0;
        statement.ttl_ns = 0;
        statement.if_exists = statement.if_exists || statement.if_absent;
        statement.if_absent = false;
    }
    return statement;
}

static enum cass_consistency any_level(struct model *model)
{
    static const enum cass_consistency levels[] = {CASS_ANY,       CASS_ONE,        CASS_TWO,
                                                   CASS_LOCAL_ONE, CASS_QUORUM,     CASS_LOCAL_QUORUM,
                                                   CASS_ALL,       CASS_EACH_QUORUM};
    return levels[sim_random_below(&model->random, sizeof levels / sizeof *levels)];
}

/* Sends to a coordinator that may serve this key; returns the tag. */
static uint64_t send(struct model *model, uint32_t key, struct cass_statement *statement)
{
    const struct cass_cluster_config *config = &model->h.cluster->config;
    enum key_use use = model->uses[key];
    bool is_everywhere =
        use == SERIAL_EVERYWHERE || (use == MIXED_IN_BOTH && sim_random_below(&model->loss, 2) == 0);
    enum cass_consistency serial = is_everywhere ? CASS_SERIAL : CASS_LOCAL_SERIAL;
    uint32_t nodes =
        use == LOCAL_SERIAL_IN_ONE ? config->datacenters[0].nodes : cass_node_count(model->h.cluster);
    uint32_t node = (uint32_t)sim_random_below(&model->random, nodes);
    statement->serial_consistency = serial;
    if (statement->kind == CASS_READ_COLUMNS) {
        /* A serial read does not use the serial level of updates: it finishes updates at its own level. */
        statement->serial_consistency = CASS_ANY;
        statement->consistency = serial;
    }
    uint64_t tag = harness_send(&model->h, (uint32_t)(model->h.tags % 2), node, statement);
    paxos_history_sent(&model->history, tag, key, node, statement);
    return tag;
}

static void request(struct model *model)
{
    uint32_t key = (uint32_t)sim_random_below(&model->random, KEYS);
    struct cass_statement statement = update_of(model, KEY_FIRST + key, model->h.tags);
    statement.consistency = any_level(model);
    if (sim_random_below(&model->random, 4) == 0)
        statement = statement_of(CASS_READ_COLUMNS, CASS_SERIAL, KEY_FIRST + key);
    send(model, key, &statement);
}

static void begin_keys(struct model *model)
{
    const struct cass_cluster *cluster = model->h.cluster;
    paxos_history_begin(&model->history, model->run, cluster);
    for (uint32_t key = 0; key < KEYS; key++) {
        model->uses[key] = (enum key_use)sim_random_below(&model->random, 3);
        if (model->uses[key] == LOCAL_SERIAL_IN_BOTH && sim_random_below(&model->random, 2) == 0)
            model->uses[key] = SERIAL_EVERYWHERE;
        if (model->uses[key] == LOCAL_SERIAL_IN_BOTH && sim_random_below(&model->loss, 2) == 0)
            model->uses[key] = MIXED_IN_BOTH;
        model->history.keys[key].is_linear =
            model->uses[key] < LOCAL_SERIAL_IN_BOTH || cluster->config.datacenter_count == 1;
        model->history.keys[key].position = cass_position(cluster, KEY_FIRST + key);
    }
    for (uint32_t entity = 0; entity <= KEYS; entity++) {
        for (uint32_t i = 0; i < CASS_CLUSTER_REPLICAS_MAX; i++) {
            struct known_replica *known = &model->replicas[entity][i];
            known->state.promised.micros = known->state.accepted.ballot.micros = NO_TIME;
            known->state.committed.ballot.micros = NO_TIME;
            known->image = cass_image_none;
        }
    }
}

static void begin(struct model *model)
{
    struct cass_cluster_config config = harness_config();
    config.seed = model->run->seed;
    config.paxos = sim_random_below(&model->random, 2) == 0 ? CASS_PAXOS_V1 : CASS_PAXOS_V2;
    uint32_t nodes = sim_random_below(&model->random, 3) == 0 ? 5 : 3;
    config.datacenters[0].nodes = config.datacenters[0].replication_factor = nodes;
    /* Up to two additional nodes, which are coordinators without being replicas. */
    config.datacenters[0].nodes += (uint32_t)sim_random_below(&model->random, 3);
    if (sim_random_below(&model->random, 2) == 0) {
        config.datacenter_count = 2;
        config.datacenters[1] = config.datacenters[0];
        config.datacenters[1].name[0] = 'x';
        config.datacenters[1].nodes = config.datacenters[1].replication_factor =
            1 + (uint32_t)sim_random_below(&model->random, 3);
    }
    /* The latencies vary widely, so that messages overtake each other. */
    config.latency_ns = (struct sim_size){.kind = SIM_SIZE_UNIFORM, .a = 1e5, .b = 3e7};
    if (sim_random_below(&model->random, 3) == 0)
        config.latency_ns = (struct sim_size){.kind = SIM_SIZE_LOGNORMAL, .a = 2e6, .b = 2};
    sim_size_prepare(&config.latency_ns);
    config.latency_between_ns = config.latency_ns;
    harness_start(&model->h, &config);
    begin_keys(model);
}

/* All faults are healed and no other operation runs: now every reply is definite, although the clocks still
 * differ. */
static void settle(struct model *model)
{
    cass_heal(model->h.cluster);
    run_for(model, SIM_MINUTE);
    for (uint32_t i = 0; i < ASKED_OF_A_KEY * KEYS && !model->run->is_broken; i++) {
        uint32_t key = i / ASKED_OF_A_KEY;
        struct cass_statement statement = statement_of(CASS_READ_COLUMNS, CASS_SERIAL, KEY_FIRST + key);
        if (i % 3 != 0) {
            statement = update_of(model, KEY_FIRST + key, model->h.tags);
            statement.consistency = any_level(model);
        }
        uint64_t tag = send(model, key, &statement);
        for (int step = 0; step < 50 && !model->h.is_answered[tag]; step++)
            run_for(model, 100 * SIM_MS);
        MODEL_RULE(model->run, model->h.is_answered[tag] && model->h.replies[tag].result == CASS_OK, "sure",
                   "when all is well request %u of key %u is not answered for sure", (unsigned)tag, key);
    }
}

static void count_situations(struct model *model)
{
    paxos_history_end(&model->history);
    situations[APPLIED].count += model->history.applied;
    situations[REFUSED].count += model->history.refused;
    situations[READ].count += model->history.read;
    situations[UNKNOWN_CHOSEN].count += model->history.unknown_chosen;
    situations[UNKNOWN_LATER].count += model->history.unknown_later;
    situations[UNKNOWN_NOT].count += model->history.unknown_not;
}

static void check_seed(struct model_run *run)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->run = run;
    model->doubles = run->seed % 2 == 0;
    sim_random_init(&model->random, run->seed, SIM_FUZZ, 0);
    sim_random_init(&model->impatience, run->seed, SIM_FUZZ, 1);
    sim_random_init(&model->loss, run->seed, SIM_FUZZ, 2);
    sim_random_init(&model->deletes, run->seed, SIM_FUZZ, 3);
    begin(model);
    uint64_t calm = sim_random_below(&model->random, 3);
    bool loses = sim_random_below(&model->loss, 4) == 0;
    for (int step = 0; step < STEPS && !run->is_broken; step++) {
        uint64_t together = 1 + sim_random_below(&model->random, 3);
        for (uint64_t i = 0; i < together; i++)
            request(model);
        if (calm != 0 && sim_random_below(&model->random, 8) == 0)
            disturb(model);
        if (sim_random_below(&model->impatience, 4) == 0)
            give_up_waiting(model);
        if (loses && sim_random_below(&model->loss, 16) == 0)
            lose_state(model);
        run_for(model, (int64_t)sim_random_below(&model->random, 60) * SIM_MS + 1);
    }
    if (!run->is_broken)
        settle(model);
    count_situations(model);
    harness_stop(&model->h);
    free(model->answers);
    free(model);
}

int main(int argc, char **argv)
{
    return model_main(argc, argv, 200, check_seed, situations, SITUATIONS);
}
