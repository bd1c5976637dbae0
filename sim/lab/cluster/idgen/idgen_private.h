/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder. */
#ifndef LAB_IDGEN_PRIVATE_H
#define LAB_IDGEN_PRIVATE_H

#include "cluster_run.h"
#include "id_spans.h"

/* An upper bound of the size of a client's checkpoint. */
#define LAB_ID_CHECKPOINT_MAX 512u

/* What the oracle `available` records of a client since its last restart. */
struct lab_id_watch {
    int64_t heard_ns; /* true time when it got its last outcome, or began */
    int64_t clock_ns; /* the same by its own clock */
    int64_t until_ns,
        begun_ns;          /* its last attempt at a lock: the end of the lock, and its clock when it began */
    int64_t came_ns;       /* when the answer to its request came during a pause; 0: it did not */
    int64_t hold_ns;       /* the end of that pause, as it was known then */
    int64_t first_wait_ns; /* first wait number of attempts of this lease; 0: not known */
    enum bk_idgen_outcome_kind outcome;
    uint32_t failed;   /* consecutive failed tries of its last request */
    uint32_t attempts; /* of this lease */
    bool owes;         /* it has requested a lock, and not its release */
    bool is_holder, is_releasing;
    bool is_blurred;      /* it was paused, or its clock jumped, when the attempt began */
    bool is_late;         /* its batch was acknowledged after the end of its lease */
    bool is_found;        /* the last identifier exists, as reported to it */
    bool has_batch;       /* it has a batch, and has not handed out all of it */
    int64_t last;         /* the last identifier, as reported to it */
    int64_t next, stored; /* the identifier to hand out next, and the last one of its batch */
};

struct lab_id_client {
    struct bk_idgen idgen, twin;
    uint32_t serial; /* serial of the request under way */
    bool is_asking;
    enum bk_idgen_action_kind action;
    uint64_t timeout;
    uint64_t serial_of_life;
    int64_t asked_ns;
    bool is_leasing;   /* it waits for a batch */
    int64_t leased_ns; /* since when it waits for a batch */
    uint64_t given;    /* identifiers handed out, including before restarts */
    bool has_twin;
    bool is_trying;   /* an attempt at a lock is under way */
    uint64_t attempt; /* number of the current attempt */
    struct lab_id_watch watch;
};

struct lab_idgen {
    struct bk_idgen_config config;
    struct lab_id_client *clients;
    struct lab_id_spans *spans; /* by stripe */
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
/* Counts an action, and adds it to the event trace. */
void lab_idgen_watch(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_action *action);
void lab_idgen_tell_outcome(struct lab_cluster_run *run, uint32_t client,
                            const struct bk_idgen_outcome *outcome);

/* --- idgen_available.c: called when a client starts or restarts; when it sends a request or ends a lease;
 * when it gets an outcome; when it has no more actions; and when it gets a batch. */
void lab_id_begins(struct lab_cluster_run *run, uint32_t client);
void lab_id_acted(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_action *next);
void lab_id_heard(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_outcome *outcome);
/* Called when a reply comes to a client that is paused, and when a client has a reply, or gives up waiting.
 */
void lab_id_came(struct lab_cluster_run *run, const struct sim_event *reply);
void lab_id_answered(struct lab_cluster_run *run, uint32_t client, bool is_reply);
void lab_id_rests(struct lab_cluster_run *run, uint32_t client);
void lab_id_served(struct lab_cluster_run *run, uint32_t client);
/* Called when a client hands out consecutive identifiers of a stripe. */
void lab_id_given(struct lab_cluster_run *run, uint32_t client, int64_t first, int64_t last);
/* Called at the end of a run for each client that is up. in_hand: the identifiers that it still has. */
void lab_id_ends(struct lab_cluster_run *run, uint32_t client, uint64_t in_hand);

/* --- idgen_twin.c: called when a client starts or restarts, and then for each of its calls and actions: its
 * twin gets the same calls, and must have the same actions. */
void lab_id_twin_begin(struct lab_cluster_run *run, uint32_t client);
void lab_id_twin_took(struct lab_cluster_run *run, uint32_t client, int64_t now_ns, enum bk_status status,
                      int64_t id);
void lab_id_twin_heard(struct lab_cluster_run *run, uint32_t client, int64_t now_ns,
                       const struct bk_idgen_outcome *outcome);
void lab_id_twin_ticked(struct lab_cluster_run *run, uint32_t client, int64_t now_ns);
void lab_id_twin_acted(struct lab_cluster_run *run, uint32_t client, const struct bk_idgen_action *action);
void lab_id_twin_rests(struct lab_cluster_run *run, uint32_t client);

#endif
