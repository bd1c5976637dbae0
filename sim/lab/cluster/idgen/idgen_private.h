/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder. */
#ifndef LAB_IDGEN_PRIVATE_H
#define LAB_IDGEN_PRIVATE_H

#include "cluster_run.h"

struct lab_id_client {
    struct bk_idgen idgen;
    uint32_t serial; /* serial of the request under way */
    bool is_asking;
    enum bk_idgen_action_kind action;
    uint64_t timeout;
    uint64_t serial_of_life;
    int64_t asked_ns;
    bool is_leasing;   /* it waits for a batch */
    int64_t leased_ns; /* since when it waits for a batch */
    uint64_t given;    /* identifiers handed out, including before restarts */
    bool is_trying;    /* an attempt at a lock is under way */
    uint64_t attempt;  /* number of the current attempt */
};

struct lab_idgen {
    struct bk_idgen_config config;
    struct lab_id_client *clients;
    uint64_t given, in_hand, leased, leases, failed;
    bool is_over;          /* all clients have all of their identifiers */
    uint32_t done;         /* number of clients that have all of their identifiers */
    int64_t last_given_ns; /* when the last identifier was handed out */
    uint64_t tried, acquired, busy, stale;
    struct cass_named *named; /* buffer for one reply */
    struct bk_idgen_column *columns;
};

/* The config of a client: each has a different client_id, and possibly another first stripe. */
struct bk_idgen_config lab_idgen_config(const struct lab_cluster_run *run, uint32_t client);

/* --- idgen_action.c */
void lab_idgen_statement(const struct lab_cluster_run *run, const struct bk_idgen_action *action,
                         struct cass_statement *out);
/* Takes the reply of an action, and converts it to an outcome. */
void lab_idgen_outcome(struct lab_cluster_run *run, enum bk_idgen_action_kind kind, uint64_t slot,
                       struct bk_idgen_outcome *out);
/* Counts an action. */
void lab_idgen_watch(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_action *action);

#endif
