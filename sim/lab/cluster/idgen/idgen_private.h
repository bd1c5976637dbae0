/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files about identifiers share. */
#ifndef LAB_IDGEN_PRIVATE_H
#define LAB_IDGEN_PRIVATE_H

#include "cluster_run.h"
#include "idgen.h"

struct lab_id_client {
    struct bk_idgen idgen;
    uint32_t serial; /* of the request under way */
    bool is_asking;
    enum bk_idgen_action_kind action;
    uint64_t timeout;
    uint64_t serial_of_life;
    int64_t asked_ns;
    bool is_leasing;   /* it waits for a batch, */
    int64_t leased_ns; /* since then */
    uint64_t given;    /* by all of its lives */
    bool is_trying;    /* an attempt at a lock is under way, */
    uint64_t attempt;  /* the one of this number */
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

#endif
