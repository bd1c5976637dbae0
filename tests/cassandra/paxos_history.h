/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What clients asked of registers by Paxos, and what they were told, compared with the values that quorums
 * chose.
 *
 * The values of a register stand in the order in which they were chosen: that is the order of its history.
 * Each update sets MARK_COLUMN to its own tag, so that a value is known wherever it turns up. Of a register
 * all of whose users have one quorum (SERIAL, or LOCAL_SERIAL in one datacenter) each answer must fit into
 * that order, between the values that were chosen when it was asked and those that were chosen when it was
 * told:
 *  - applied: its value was chosen, its condition held before it, and its level's replicas had it when its
 *    coordinator answered;
 *  - not applied: its value is never chosen, and the row that is told is one for which the condition fails;
 *  - a SERIAL read: a row of that time;
 *  - unavailable: its value is not chosen later; under Paxos v2 never;
 *  - any other: nothing is known. */
#ifndef TESTS_CASSANDRA_PAXOS_HISTORY_H
#define TESTS_CASSANDRA_PAXOS_HISTORY_H

#include "model.h"
#include "state.h"

#define HISTORY_KEYS 3
#define ASKED_MAX    1024
#define MARK_COLUMN  1
#define ENDS_MAX     8

struct asked {
    bool is_sent, is_told, is_surely_not; /* is_surely_not: its client takes it as not applied */
    uint32_t key;                         /* its number */
    uint32_t node;
    struct cass_statement statement;
    struct cass_reply reply;
    int64_t sent_ns;
    size_t before;          /* values of the key that were chosen when it was sent */
    size_t position;        /* of its value in the key's order, from 1 on; 0: not chosen */
    int64_t ends[ENDS_MAX]; /* of its time to live, in each proposal of its own: a new attempt counts again */
    uint32_t end_count;
    uint32_t has_it,
        had_it; /* replicas that have stored its value: by now, and when its coordinator answered */
    bool is_answered, is_doubled;
};

struct chosen {
    uint64_t tag;
    struct ballot ballot; /* of its first choice */
    int64_t chosen_ns;
    struct image row; /* with it, and all before it */
};

struct chosen_order {
    bool is_linear;    /* all its users have one quorum */
    uint32_t position; /* in the ring */
    size_t count;
    struct chosen values[ASKED_MAX]; /* from 1 on; 0: no row */
};

struct paxos_history {
    struct model_run *run;
    const struct cass_cluster *cluster;
    struct asked asked[ASKED_MAX]; /* by tag */
    struct chosen_order keys[HISTORY_KEYS];
    uint64_t applied, refused, read, unknown_chosen, unknown_later, unknown_not;
};

int paxos_history_order(struct ballot a, struct ballot b);
/* What a replica holds after it has got this too. */
void paxos_history_merge(struct image *into, const struct image *from);
/* The update whose value this is. */
uint64_t paxos_history_tag(const struct proposal *proposal);

void paxos_history_begin(struct paxos_history *history, struct model_run *run,
                         const struct cass_cluster *cluster);
void paxos_history_sent(struct paxos_history *history, uint64_t tag, uint32_t key, uint32_t node,
                        const struct cass_statement *statement);
/* A proposal reaches its first replica. */
void paxos_history_proposed(struct paxos_history *history, const struct proposal *proposal);
/* A quorum has accepted it. */
void paxos_history_chosen(struct paxos_history *history, uint32_t key, const struct proposal *proposal);
/* A replica that has accepted the update's proposal refuses the same message when it comes again. The mock's
 * network doubles messages and Cassandra's does not; a coordinator that hears the refusal first is wrong
 * about its update, and is not judged. */
void paxos_history_doubled(struct paxos_history *history, uint64_t tag);
/* A replica stores the update's value. */
void paxos_history_stored(struct paxos_history *history, uint64_t tag, uint32_t replica);
/* Its coordinator has answered. */
void paxos_history_answered(struct paxos_history *history, uint64_t tag);
/* Whether these replicas are as many as the level of the update's commit wants, and where it wants them. */
bool paxos_history_is_enough(const struct paxos_history *history, uint64_t tag, uint32_t set);
/* The answer has come to its client. */
void paxos_history_told(struct paxos_history *history, uint64_t tag, const struct cass_reply *reply);
/* The run is over: counts what the unknown ones came to. */
void paxos_history_end(struct paxos_history *history);

#endif
