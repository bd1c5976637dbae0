/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The clients' Paxos requests to registers and the replies to them, compared with the values that quorums
 * chose.
 *
 * The values of a register are listed in the order in which they were chosen, which is the order of its
 * history. Each update but a DELETE sets MARK_COLUMN to its own tag, so that its value is recognised
 * everywhere. When all clients of a register use the same quorum (SERIAL, or LOCAL_SERIAL in one datacenter),
 * each reply must fit into that order, between the values that were chosen when the request was sent and
 * those that were chosen when the reply arrived:
 *  - applied: the value was chosen, its condition held before it, and the replicas that its level needs
 *    had it when its coordinator answered;
 *  - not applied: the value is never chosen, and the condition fails for the returned row;
 *  - a SERIAL read: the row was current in that interval;
 *  - unavailable: the value is not chosen later; under Paxos v2 never;
 *  - any other result: nothing is known. */
#ifndef TESTS_CASSANDRA_PAXOS_HISTORY_H
#define TESTS_CASSANDRA_PAXOS_HISTORY_H

#include "model.h"
#include "state.h"

#define HISTORY_KEYS 3
#define ASKED_MAX    1024
#define MARK_COLUMN  1
#define ENDS_MAX     8

struct asked {
    bool is_sent, is_told, is_surely_not; /* is_surely_not: known not to be applied */
    uint32_t key;                         /* the number of the key */
    uint32_t node;
    struct cass_statement statement;
    struct cass_reply reply;
    int64_t sent_ns;
    size_t before;          /* values of the key that were chosen when the request was sent */
    size_t position;        /* of its value in the key's order, from 1; 0: not chosen */
    int64_t ends[ENDS_MAX]; /* expiry of its time to live in each of its own proposals: a new attempt starts
                               the time again */
    uint32_t end_count;
    uint32_t has_it, had_it; /* replicas that have stored its value: now, and when its coordinator answered */
    bool is_answered, is_doubled;
};

struct chosen {
    uint64_t tag;
    struct ballot ballot; /* of the first time it was chosen */
    int64_t chosen_ns;
    struct image row; /* the row after this value and all former ones */
};

struct chosen_order {
    bool is_linear;    /* all its clients use the same quorum */
    uint32_t position; /* of the key in the ring */
    size_t count;
    struct chosen values[ASKED_MAX]; /* from 1; values[0]: no row */
};

struct paxos_history {
    struct model_run *run;
    const struct cass_cluster *cluster;
    struct asked asked[ASKED_MAX]; /* by tag */
    struct chosen_order keys[HISTORY_KEYS];
    uint64_t applied, refused, read, unknown_chosen, unknown_later, unknown_not;
};

int paxos_history_order(struct ballot a, struct ballot b);
/* The state of a replica after it has also received `from`. */
void paxos_history_merge(struct image *into, const struct image *from);

void paxos_history_begin(struct paxos_history *history, struct model_run *run,
                         const struct cass_cluster *cluster);
void paxos_history_sent(struct paxos_history *history, uint64_t tag, uint32_t key, uint32_t node,
                        const struct cass_statement *statement);
/* A proposal of that update's value has reached its first replica. */
void paxos_history_proposed(struct paxos_history *history, uint64_t tag, const struct proposal *proposal);
/* A quorum has accepted the proposal. */
void paxos_history_chosen(struct paxos_history *history, uint32_t key, uint64_t tag,
                          const struct proposal *proposal);
/* A replica that has accepted the update's proposal refuses a duplicate of the same message. The mock's
 * network duplicates messages, Cassandra's does not. A coordinator that receives the refusal first draws the
 * wrong conclusion about its update, so that update is not judged. */
void paxos_history_doubled(struct paxos_history *history, uint64_t tag);
/* A replica has stored the update's value. */
void paxos_history_stored(struct paxos_history *history, uint64_t tag, uint32_t replica);
/* The update's coordinator has answered. */
void paxos_history_answered(struct paxos_history *history, uint64_t tag);
/* Whether these replicas satisfy the level of the update's commit, in number and by datacenter. */
bool paxos_history_is_enough(const struct paxos_history *history, uint64_t tag, uint32_t set);
/* The reply has reached its client. */
void paxos_history_told(struct paxos_history *history, uint64_t tag, const struct cass_reply *reply);
/* The run is over: counts the final outcomes of updates whose results were unknown. */
void paxos_history_end(struct paxos_history *history);

#endif
