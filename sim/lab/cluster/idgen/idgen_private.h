/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files about identifiers share. */
#ifndef LAB_IDGEN_PRIVATE_H
#define LAB_IDGEN_PRIVATE_H

#include "cluster_run.h"
#include "id_spans.h"

/* More than a client's checkpoint takes. */
#define LAB_ID_CHECKPOINT_MAX 512u

/* What `available` knows of a client's life. */
struct lab_id_watch {
    int64_t heard_ns;           /* when it heard its last outcome, or began; */
    int64_t clock_ns;           /* and by its own clock */
    int64_t until_ns, begun_ns; /* of its last attempt at a lock: the lock's end; its clock then */
    int64_t first_wait_ns;      /* of this lease; 0: not known */
    enum bk_idgen_outcome_kind outcome;
    uint32_t failed;   /* tries of its last request, one after the other */
    uint32_t attempts; /* of this lease */
    bool owes;         /* it has asked for a lock, and not to give it back */
    bool is_holder, is_releasing;
    bool is_blurred;      /* it stood still, or its clock jumped, as the attempt began */
    bool is_late;         /* its batch was acknowledged when its lease was over */
    bool is_found;        /* of the last identifier, as it was told: there is one, */
    int64_t last;         /* and which */
    int64_t next, stored; /* the identifier that is to be given next, and the last one of its batch */
};

struct lab_id_client {
    struct bk_idgen idgen, twin;
    uint32_t serial; /* of the request under way */
    bool is_asking;
    enum bk_idgen_action_kind action;
    uint64_t timeout;
    uint64_t serial_of_life;
    int64_t asked_ns;
    bool is_leasing;   /* it waits for a batch, */
    int64_t leased_ns; /* since then */
    uint64_t given;    /* by all of its lives */
    bool has_twin;
    bool is_trying;   /* an attempt at a lock is under way, */
    uint64_t attempt; /* the one of this number */
    struct lab_id_watch watch;
};

struct lab_idgen {
    struct bk_idgen_config config;
    struct lab_id_client *clients;
    struct lab_id_spans *spans; /* by stripe */
    uint64_t given, in_hand, leased, leases, failed;
    bool is_over;          /* all clients have all they wanted */
    uint32_t done;         /* clients that have all they wanted */
    int64_t last_given_ns; /* when the last identifier was */
    uint64_t tried, acquired, busy, stale;
    struct cass_named *named; /* of one reply */
    struct bk_idgen_column *columns;
};

/* Of a client: the number of each is its own, and so may be the stripe that it begins with. */
struct bk_idgen_config lab_idgen_config(const struct lab_cluster_run *run, uint32_t client);

/* --- idgen_action.c */
void lab_idgen_statement(const struct lab_cluster_run *run, const struct bk_idgen_action *action,
                         struct cass_statement *out);
/* Takes the reply. */
void lab_idgen_outcome(struct lab_cluster_run *run, enum bk_idgen_action_kind kind, uint64_t slot,
                       struct bk_idgen_outcome *out);
/* Counts an action, and adds it to the event trace. */
void lab_idgen_watch(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_action *action);
void lab_idgen_tell_outcome(struct lab_cluster_run *run, uint32_t client,
                            const struct bk_idgen_outcome *outcome);

/* --- idgen_available.c: a client begins a life; it is about to ask, or is done with a lease; it hears an
 * outcome; it has no more actions; it gets a batch. */
void lab_id_begins(struct lab_cluster_run *run, uint32_t client);
void lab_id_acted(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_action *next);
void lab_id_heard(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_outcome *outcome);
void lab_id_rests(struct lab_cluster_run *run, uint32_t client);
void lab_id_served(struct lab_cluster_run *run, uint32_t client);
/* It gives identifiers of a stripe that follow each other. */
void lab_id_given(struct lab_cluster_run *run, uint32_t client, int64_t first, int64_t last);

/* --- idgen_twin.c: a client begins a life; then what it is told, and what it does, its twin is told and has
 * to do too. */
void lab_id_twin_begin(struct lab_cluster_run *run, uint32_t client);
void lab_id_twin_took(struct lab_cluster_run *run, uint32_t client, int64_t now_ns, enum bk_status status,
                      int64_t id);
void lab_id_twin_heard(struct lab_cluster_run *run, uint32_t client, int64_t now_ns,
                       const struct bk_idgen_outcome *outcome);
void lab_id_twin_ticked(struct lab_cluster_run *run, uint32_t client, int64_t now_ns);
void lab_id_twin_acted(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_action *action);
void lab_id_twin_rests(struct lab_cluster_run *run, uint32_t client);

#endif
