/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other ranks (ranks/ranks.h) at work for this one: what they do, and how it is asked of them.
 *
 * A rank gets the text of a scenario and makes the rest of it, so it needs the files that the scenario names
 * and nothing else. What it finds comes back as an archive. Whoever does a piece of work, the result is the
 * same to the last bit. */
#ifndef LAB_TEAM_H
#define LAB_TEAM_H

#include "kernel/archive.h"
#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "ranks/ranks.h"

/* The other ranks, for whoever may use them. */
struct lab_team {
    struct ranks *ranks; /* NULL: there are none */
    uint32_t threads;    /* that each of them is to use; 0: as many as it has processors for */
};
static inline uint32_t lab_team_count(const struct lab_team *team)
{
    return team == NULL ? 1 : ranks_count(team->ranks);
}
uint32_t lab_team_threads(const struct lab_team *team, uint32_t rank);

/* What a rank serves; the services of others may stand behind these. */
enum lab_service {
    LAB_SERVICE_RUN,      /* a run as a whole */
    LAB_SERVICE_KEYS,     /* of a run by the stream engine: keys, as long as there are any */
    LAB_SERVICE_STRATEGY, /* of a run by the cluster engine: one strategy */
    LAB_SERVICES
};
extern const struct ranks_service lab_services[LAB_SERVICES];

/* A run that another rank is to do: what lab_scenario_again() takes. The texts are the caller's. */
struct lab_order {
    const char *path, *text, *overrides; /* overrides: PATH=VALUE, one a line */
    uint64_t seed;
};
/* lab_run() on that rank, with one thread. *overrides are those of the scenario, malloc'ed. */
bool lab_team_run(const struct lab_team *team, uint32_t rank, const struct lab_order *order,
                  struct lab_progress *progress, struct lab_result **out, char **overrides,
                  struct sim_error *error);

/* A call of any service, with a request of bytes: `progress` (may be NULL) stops it, and learns how far it
 * is. share as in struct ranks_call; NULL: the service asks for none. */
struct lab_team_call {
    uint32_t rank, service;
    struct ranks_bytes request;
    void (*share)(void *context, uint64_t *begin, uint64_t *end);
    void *context;
};
bool lab_team_ask(const struct lab_team *team, const struct lab_team_call *call,
                  struct lab_progress *progress, struct ranks_bytes *answer, struct sim_error *error);
/* On the other side: a progress that the caller sees, and that the caller can stop, until lab_team_done(). */
void lab_team_attend(struct ranks_task *task, struct lab_progress *progress);
void lab_team_done(struct ranks_task *task);
/* An answer is an archive of this kind. It is read between the two, which tell of a damaged answer what an
 * archive tells of a damaged snapshot. */
#define LAB_ANSWER_KIND UINT64_C(0x616e73776572)
bool lab_answer_begin_load(struct sim_archive *archive, const struct ranks_bytes *answer,
                           struct sim_error *error);
bool lab_answer_finish_load(struct sim_archive *archive, struct sim_error *error);

#endif
