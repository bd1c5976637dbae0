/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the services of the lab share: requests and answers as archives. */
#ifndef LAB_TEAM_PRIVATE_H
#define LAB_TEAM_PRIVATE_H

#include "kernel/archive.h"
#include "lab/team.h"

/* A request: a scenario, and which part of its work. */
struct lab_request {
    char *path, *text, *overrides;
    uint64_t seed;
    uint32_t threads;
    uint64_t part; /* the strategy's index */
};

/* team.c: `order` as a request, malloc'ed. */
bool lab_request_make(const struct lab_order *order, uint32_t threads, uint64_t part, struct ranks_bytes *out,
                      struct sim_error *error);
/* The scenario of a request. */
bool lab_request_read(const struct ranks_bytes *bytes, struct lab_request *out,
                      struct lab_scenario **scenario, struct sim_error *error);
void lab_request_clear(struct lab_request *request);
struct lab_order lab_order_of(const struct lab_scenario *scenario);

/* team.c: what one call brings, a result and the overrides it was run with, malloc'ed; on failure both are
 * NULL. call names rank and service. */
bool lab_team_result(const struct lab_team *team, struct lab_team_call *call, const struct lab_order *order,
                     size_t part, struct lab_progress *progress, struct lab_result **out, char **overrides,
                     struct sim_error *error);
/* And the service of such a call: `work` makes the result. */
typedef bool lab_team_work(const struct lab_scenario *scenario, const struct lab_request *request,
                           struct lab_progress *progress, struct lab_result **out, struct sim_error *error);
bool lab_serve_result(struct ranks_task *task, const struct ranks_bytes *bytes, lab_team_work *work,
                      struct ranks_bytes *answer, struct sim_error *error);

/* Who may do parts of this run; NULL: nobody does. The keys of a trace come together, and a story is told in
 * one place. */
const struct lab_team *lab_team_for(const struct lab_scenario *scenario, const struct lab_progress *progress,
                                    const struct lab_story *story);

/* The services, each beside what it does. */
bool lab_serve_keys(struct ranks_task *task, const struct ranks_bytes *request, struct ranks_bytes *answer,
                    struct sim_error *error);
bool lab_serve_strategy(struct ranks_task *task, const struct ranks_bytes *request,
                        struct ranks_bytes *answer, struct sim_error *error);

/* result_archive.c: both ways; loading takes a result of zeros, and lab_result_destroy() is due in any case.
 */
void lab_result_archive(struct lab_result *result, struct sim_archive *archive);

/* team_strategies.c: other ranks take strategies from `next` too, until there are `count`, and put each
 * result and error into its place; NULL without a team, or a thread. lab_far_strategies_end() waits for them.
 */
struct lab_far_strategies;
struct lab_far_strategies *lab_far_strategies_begin(const struct lab_scenario *scenario,
                                                    const struct lab_team *team,
                                                    struct lab_progress *progress, _Atomic size_t *next,
                                                    struct lab_result **results, struct sim_error *errors);
void lab_far_strategies_end(struct lab_far_strategies *far);
/* cluster_engine.c: one strategy, in its place of a result that has no other; the digest is none. */
bool lab_cluster_strategy(const struct lab_scenario *scenario, size_t index, struct lab_progress *progress,
                          struct lab_result **out, struct sim_error *error);

#endif
