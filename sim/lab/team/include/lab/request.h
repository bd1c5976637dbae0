/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work on other ranks as archives: a request is a scenario and a part of it, an answer a result. Each engine
 * has a service of its own. */
#ifndef LAB_REQUEST_H
#define LAB_REQUEST_H

#include "kernel/archive.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "lab/team.h"

/* A request: a scenario, and which part of its work. */
struct lab_request {
    char *path, *text, *overrides;
    uint64_t seed;
    uint32_t threads;
    uint64_t part; /* the strategy's index */
};

/* `order` as a request, malloc'ed. */
bool lab_request_make(const struct lab_order *order, uint32_t threads, uint64_t part, struct ranks_bytes *out,
                      struct sim_error *error);
/* The scenario of a request. */
bool lab_request_read(const struct ranks_bytes *bytes, struct lab_request *out,
                      struct lab_scenario **scenario, struct sim_error *error);
void lab_request_clear(struct lab_request *request);
struct lab_order lab_order_of(const struct lab_scenario *scenario);

/* What one call brings, a result and the overrides it was run with, malloc'ed; on failure both are
 * NULL. call names rank and service. */
bool lab_team_result(const struct lab_team *team, struct lab_team_call *call, const struct lab_order *order,
                     size_t part, struct lab_progress *progress, struct lab_result **out, char **overrides,
                     struct sim_error *error);
/* And the service of such a call: `work` makes the result. */
typedef bool lab_team_work(const struct lab_scenario *scenario, const struct lab_request *request,
                           struct lab_progress *progress, struct lab_result **out, struct sim_error *error);
bool lab_serve_result(struct ranks_task *task, const struct ranks_bytes *bytes, lab_team_work *work,
                      struct ranks_bytes *answer, struct sim_error *error);

/* Who may do parts of this run; NULL: nobody may. The rows of a workload trace come in one stream, and events
 * are traced in one process. */
const struct lab_team *lab_team_for(const struct lab_scenario *scenario,
                                    const struct lab_run_context *context);

#endif
