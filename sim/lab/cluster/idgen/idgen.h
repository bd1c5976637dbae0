/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Identifiers in the cluster engine: clients that lease batches of identifiers with the core's bk_idgen, over
 * the mock cluster. Clients replace the agents, with the same places, clocks and faults; there are no
 * rows. */
#ifndef LAB_IDGEN_H
#define LAB_IDGEN_H

#include "bucketing/idgen.h"
#include "cluster_run.h"

/* The functions of a run whose strategy is idgen; run->idgen is NULL in all other runs. */
bool lab_idgen_create(struct lab_cluster_run *run, struct sim_error *error);
void lab_idgen_destroy(struct lab_cluster_run *run);
void lab_idgen_begin(struct lab_cluster_run *run);
/* Handles an event of a client; returns false for any other event. */
bool lab_idgen_dispatch(struct lab_cluster_run *run, const struct sim_event *event);
void lab_idgen_crash(struct lab_cluster_run *run, uint32_t client);
void lab_idgen_restart(struct lab_cluster_run *run, uint32_t client);
/* Called when a client's pause has ended: it acts on what it has got. */
void lab_idgen_resume(struct lab_cluster_run *run, uint32_t client);
/* Called when the client's timeout was postponed: it is now the event with this handle. */
void lab_idgen_waits(struct lab_cluster_run *run, const struct sim_event *timeout, uint64_t handle);
/* Called at the end of a run: outstanding requests stay unanswered. */
void lab_idgen_leave(struct lab_cluster_run *run);
/* Reads from the replicas what was leased; the cluster must still exist. */
void lab_idgen_tally(struct lab_cluster_run *run);
bool lab_idgen_metrics(const struct lab_cluster_run *run, struct lab_metrics *out);

struct lab_id_client {
    struct bk_idgen idgen;
    uint32_t serial; /* serial of the request under way */
    bool is_asking;
    uint64_t ticket; /* of the action that was asked last */
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
    uint64_t given, in_hand, leased, failed;
    bool is_over;          /* all clients have all of their identifiers */
    uint32_t done;         /* number of clients that have all of their identifiers */
    int64_t last_given_ns; /* when the last identifier was handed out */
    uint64_t tried, acquired, busy, stale;
    struct cass_named *named; /* buffer for one reply */
    struct bk_idgen_column *columns;
};

/* The config of a client: each has a different client_id, and possibly another first stripe. */
struct bk_idgen_config lab_idgen_config(const struct lab_cluster_run *run, uint32_t client);

#endif
