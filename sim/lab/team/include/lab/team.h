/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that several ranks (ranks/ranks.h) do together.
 *
 * Rank 0 begins it with an order: the number of a service, a scenario's text, and what else the work needs.
 * The other ranks wait for orders in lab_team_serve(), make the same work from it, and join. On each rank
 * threads draw the numbers of jobs or blocks from the shared counter. At the end of a round all ranks hand
 * over to rank 0 what they have done, and rank 0 says whether there is a next round. A rank needs the files
 * that the scenario names, and nothing else. The result is bit-identical, whichever rank does the work. */
#ifndef LAB_TEAM_H
#define LAB_TEAM_H

#include "kernel/archive.h"
#include "lab/context.h"
#include "lab/scenario.h"
#include "ranks/ranks.h"

/* The ranks that a run may use. */
struct lab_team {
    struct ranks *ranks; /* NULL: there is only this rank */
    uint32_t threads;    /* number of threads per rank; 0: as many as it has processors for */
};
static inline uint32_t lab_team_count(const struct lab_team *team)
{
    return team == NULL ? 1 : ranks_count(team->ranks);
}
uint32_t lab_team_threads(const struct lab_team *team, uint32_t rank);
uint32_t lab_team_all_threads(const struct lab_team *team); /* of all ranks */
/* The ranks that may do parts of this run; NULL: only this rank. The rows of a trace are read as a single
 * stream, and an event trace is written by one process, so these runs are not divided. */
const struct lab_team *lab_team_for(const struct lab_scenario *scenario,
                                    const struct lab_run_context *context);

enum lab_service {
    LAB_SERVICE_KEYS,       /* blocks of keys of a run of the stream engine */
    LAB_SERVICE_STRATEGIES, /* strategies of a run of the cluster engine */
    LAB_SERVICE_JOBS,       /* runs of a sweep */
    LAB_SERVICE_SEEDS,      /* seeds of a campaign */
    LAB_SERVICES
};
struct lab_order {
    enum lab_service service;
    uint32_t threads;              /* of the team */
    char *path, *text, *overrides; /* of the scenario; overrides: PATH=VALUE, one per line */
    uint64_t seed;
    uint64_t part; /* the meaning is the service's */
};
/* The order of a run's part. The texts stay the scenario's. */
struct lab_order lab_order_of(enum lab_service service, const struct lab_scenario *scenario);

/* Archives more of an order than struct lab_order has; the same function saves and loads. */
typedef void lab_order_more(void *context, struct sim_archive *archive);
/* On another rank: joins the work, whose order is this one. `archive` has the rest of it, which the service
 * must load before anything else and finish with sim_archive_finish_load(). Returns false with an error when
 * it could not join. */
typedef bool lab_team_service(const struct lab_team *team, const struct lab_order *order,
                              struct sim_archive *archive, struct sim_error *error);
/* Those of the engines. */
extern lab_team_service lab_serve_keys, lab_serve_strategies;
/* Serves orders until rank 0 leaves. Not for rank 0. */
void lab_team_serve(struct ranks *ranks, lab_team_service *const services[LAB_SERVICES]);

/* Work that threads of this rank, and of others if there is a team, do together. Threads draw the numbers of
 * its parts from one counter. */
struct lab_joint {
    const struct lab_team *team;   /* NULL: only this rank; then the members up to `work` are not used */
    struct lab_order *order;       /* what the others get from rank 0, and `more` */
    lab_order_more *more;          /* may be NULL */
    bool has_one_round;            /* it ends when the numbers are spent */
    uint64_t limit;                /* of the numbers that may be drawn in this round, at most RANKS_CLOSED */
    struct lab_progress *progress; /* on rank 0 gets the progress of the others, and its `stop` stops all; may
                                    * be NULL */
    /* On another rank, when a round is over: saves what is done. Returns whether there was anything. */
    bool (*give)(void *context, struct sim_archive *archive);
    /* On rank 0: loads what another rank has saved. */
    void (*take)(void *context, struct sim_archive *archive);
    /* On rank 0, when it has taken all: sets *mark, and returns whether more is needed. On the others, before
     * the next round: hears the mark. May change `limit`. NULL: all numbers are needed. */
    bool (*turn)(void *context, uint64_t *mark);
    void *context;
    void (*work)(void *context, uint32_t thread); /* what each thread of this rank does, from number 0 on */
    _Atomic uint64_t next;                        /* without a team: the next number */
    _Atomic uint32_t working;                     /* threads of this rank that work */
    int64_t round_ns;                             /* how long a round lasts; 0 before the first */
    _Atomic bool is_short;                        /* a thread got no number since the round was over */
};
/* Does the work with up to `threads` threads of this rank, at least 1, and those of the other ranks. On
 * another rank, false: it could not join; an error of its work is rank 0's. */
bool lab_joint_run(struct lab_joint *joint, uint32_t threads, struct sim_error *error);
/* The next number, which no other call on any rank returns; at least RANKS_CLOSED when the round is over. */
uint64_t lab_joint_draw(struct lab_joint *joint);
/* Adds the rank to the error of one of its jobs. */
void lab_team_name_rank(const struct lab_team *team, struct sim_error *error);

#endif
