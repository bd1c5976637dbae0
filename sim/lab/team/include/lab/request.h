/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests to other ranks, as archives: a request is a scenario and a part of its work, the answer is a
 * result. Each engine has its own service. */
#ifndef LAB_REQUEST_H
#define LAB_REQUEST_H

#include "kernel/archive.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "lab/team.h"

/* A request: a scenario, and which part of its work to do. */
struct lab_request {
    char *path, *text, *overrides;
    uint64_t seed;
    uint64_t part, end; /* index of the strategy; or a block of tasks, [part, end) */
};

/* Makes a request from an order. *out is malloc'ed. */
bool lab_request_make(const struct lab_order *order, uint64_t part, uint64_t end, struct ranks_bytes *out,
                      struct sim_error *error);
/* Reads a request, and makes its scenario. */
bool lab_request_read(const struct ranks_bytes *bytes, struct lab_request *out,
                      struct lab_scenario **scenario, struct sim_error *error);
void lab_request_clear(struct lab_request *request);
struct lab_order lab_order_of(const struct lab_scenario *scenario);

/* Makes one call and returns its result, and the overrides with which it was run, malloc'ed; both are NULL on
 * failure. call: its rank and service must be set. */
bool lab_team_result(const struct lab_team *team, struct lab_team_call *call, const struct lab_order *order,
                     size_t part, struct lab_progress *progress, struct lab_result **out, char **overrides,
                     struct sim_error *error);
/* Serves such a call on the other rank: `work` makes the result. */
typedef bool lab_team_work(const struct lab_scenario *scenario, const struct lab_request *request,
                           struct lab_progress *progress, struct lab_result **out, struct sim_error *error);
bool lab_serve_result(struct ranks_task *task, const struct ranks_bytes *bytes, lab_team_work *work,
                      struct ranks_bytes *answer, struct sim_error *error);

/* The ranks that may do parts of this run; NULL: only this rank. The rows of a trace are read as a single
 * stream, and an event trace is written by one process, so these runs are not divided. */
const struct lab_team *lab_team_for(const struct lab_scenario *scenario,
                                    const struct lab_run_context *context);

#endif
