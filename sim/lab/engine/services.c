/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The services that this rank offers to others: whole runs are implemented here, parts of a run in the engine
 * to which they belong. */
#include "lab/cluster_ranks.h"
#include "lab/request.h"
#include "lab/run.h"
#include "lab/stream.h"

static bool run_whole(const struct lab_scenario *scenario, const struct lab_request *request,
                      struct lab_progress *progress, struct lab_result **out, struct sim_error *error)
{
    (void)request;
    return lab_run(scenario, 1, progress, out, error);
}

static bool serve_run(struct ranks_task *task, const struct ranks_bytes *bytes, struct ranks_bytes *answer,
                      struct sim_error *error)
{
    return lab_serve_result(task, bytes, run_whole, answer, error);
}

const struct ranks_service lab_services[LAB_SERVICES] = {[LAB_SERVICE_RUN] = {serve_run},
                                                         [LAB_SERVICE_KEYS] = {lab_serve_keys},
                                                         [LAB_SERVICE_STRATEGY] = {lab_serve_strategy}};
