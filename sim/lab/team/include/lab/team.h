/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other ranks (ranks/ranks.h) that work for this one: their services, and how to call them.
 *
 * A rank gets the text of a scenario and parses it, so it needs the files that the scenario names, and
 * nothing else. It returns its result as an archive. The result is bit-identical, whichever rank does the
 * work. */
#ifndef LAB_TEAM_H
#define LAB_TEAM_H

#include "kernel/archive.h"
#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "ranks/ranks.h"

/* The other ranks that a run may use. */
struct lab_team {
    struct ranks *ranks; /* NULL: there are no other ranks */
    uint32_t threads;    /* number of threads per rank; 0: as many as it has processors for */
};
static inline uint32_t lab_team_count(const struct lab_team *team)
{
    return team == NULL ? 1 : ranks_count(team->ranks);
}
uint32_t lab_team_threads(const struct lab_team *team, uint32_t rank);

/* The services of a rank; other modules may add services after these. */
enum lab_service {
    LAB_SERVICE_RUN,      /* a whole run */
    LAB_SERVICE_KEYS,     /* stream engine: a block of keys */
    LAB_SERVICE_STRATEGY, /* cluster engine: the run of one strategy */
    LAB_SERVICES
};
extern const struct ranks_service lab_services[LAB_SERVICES];

/* A run for another rank: the arguments of lab_scenario_again(). The texts are owned by the caller. */
struct lab_order {
    const char *path, *text, *overrides; /* overrides: PATH=VALUE, one per line */
    uint64_t seed;
};
/* Calls lab_run() on that rank, with one thread. *overrides is set to those of the scenario, malloc'ed. */
bool lab_team_run(const struct lab_team *team, uint32_t rank, const struct lab_order *order,
                  struct lab_progress *progress, struct lab_result **out, char **overrides,
                  struct sim_error *error);

/* A call of any service, with a request of bytes. `progress`, which may be NULL, can stop the call and gets
 * its progress. */
struct lab_team_call {
    uint32_t rank, service;
    struct ranks_bytes request;
};
bool lab_team_ask(const struct lab_team *team, const struct lab_team_call *call,
                  struct lab_progress *progress, struct ranks_bytes *answer, struct sim_error *error);
/* On the called rank: connects a progress to the caller, which sees it and can stop it, until
 * lab_team_done(). */
void lab_team_attend(struct ranks_task *task, struct lab_progress *progress);
void lab_team_done(struct ranks_task *task);
/* An answer is an archive of this kind, which the caller loads between these two calls. They convert an
 * archive's errors, which mention saved states, to errors about the answer. */
#define LAB_ANSWER_KIND UINT64_C(0x616e73776572)
bool lab_answer_begin_load(struct sim_archive *archive, const struct ranks_bytes *answer,
                           struct sim_error *error);
bool lab_answer_finish_load(struct sim_archive *archive, struct sim_error *error);

#endif
