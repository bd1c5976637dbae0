/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that threads do together, of this rank and of others (ranks/ranks.h).
 *
 * Rank 0 begins it with an order: the number of a service, a scenario's text, and what else the work needs.
 * The other ranks wait for orders in lab_team_serve(), make the same work from it, and join. On each rank
 * threads draw the numbers of jobs or blocks from the shared counter. Then each rank hands over to rank 0
 * what it has done. Long work is a row of orders, so that rank 0 can store what is done. A rank needs the
 * files that the scenario names, and nothing else. The result is bit-identical, whichever rank does the work.
 */
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
    uint64_t first;      /* on another rank: the first number of the order */
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
    uint64_t first; /* the first number to be drawn */
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

/* Work whose threads draw the numbers of its parts from one counter. */
struct lab_joint {
    const struct lab_team *team;   /* NULL: only this rank; then the members up to `work` are not used */
    struct lab_order *order;       /* what the others get from rank 0, and `more` */
    lab_order_more *more;          /* may be NULL */
    bool may_end_early;            /* when rank 0 should see what is done, but numbers are left */
    struct lab_progress *progress; /* on rank 0 gets the progress of the others, and its `stop` stops all; may
                                    * be NULL */
    /* Saves what is done on another rank, and loads it on rank 0. */
    void (*archive)(void *context, struct sim_archive *archive);
    void *context;
    void (*work)(void *context, uint32_t thread); /* what each thread of this rank does */
    /* The next number: without a team; on rank 0 before the work and, if it has ended early, after it, and
     * otherwise at least RANKS_CLOSED. */
    _Atomic uint64_t next;
    _Atomic uint32_t working; /* threads of this rank that work */
    struct sim_error failed;  /* the first error of a rank */
};
/* Does the work with up to `threads` threads of this rank, at least 1, and those of the other ranks. On
 * another rank, false: it could not join; an error of its work is rank 0's. */
bool lab_joint_run(struct lab_joint *joint, uint32_t threads, struct sim_error *error);
/* The next number, which no other call on any rank returns; at least RANKS_CLOSED when there is none. */
uint64_t lab_joint_draw(struct lab_joint *joint);

/* --- Many independent jobs, on several threads and on all ranks of a team.
 *
 * Jobs are started in the order of their numbers, and their results are delivered to take() in that order,
 * one at a time, whichever thread finishes first. So the outcome does not depend on the number of threads or
 * ranks. Only some jobs per thread may be ahead of the slowest job, so memory does not grow with the number
 * of jobs. */
struct lab_crew {
    void *context;
    uint64_t count; /* jobs 0 to count - 1 */
    bool is_part;   /* the jobs are parts of a run, and make its progress, which work() does not get */
    bool is_open;   /* take() decides when the jobs end, so progress has no total */
    /* Called once for each job, on any thread, several at the same time. Sets *made, NULL on entry, to the
     * job's result. `progress` must be passed to lab_run(), so that the job ends when the crew must stop. */
    bool (*work)(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error);
    /* Called on any thread, one call at a time, in the order of jobs; takes ownership of `made`. When it sets
     * *is_enough, no more results are delivered. */
    bool (*take)(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error);
    void (*drop)(void *made); /* frees a result that is not delivered; made may be NULL */
    /* The ranks that work on the jobs; NULL: only this one. Rank 0 sends the order, by which each other rank
     * makes the same crew and runs it. It needs no take(): archive() saves its results there, and loads them
     * on rank 0. */
    const struct lab_team *team;
    struct lab_order *order;
    lab_order_more *more;
    void (*archive)(void *context, void **made, struct sim_archive *archive);
};

/* Runs all jobs. threads: the most threads of this rank, at least 1. progress may be NULL; its `total`,
 * `done` and `rows` count jobs, and `stop` ends all jobs soon. *taken: number of jobs whose results were
 * delivered. Returns true when all were delivered, when take() has set *is_enough, or when progress->stop was
 * set; false with the error of take(), or of the first failed job in the order of jobs. */
bool lab_crew_run(const struct lab_crew *crew, uint32_t threads, struct lab_progress *progress,
                  uint64_t *taken, struct sim_error *error);

#endif
