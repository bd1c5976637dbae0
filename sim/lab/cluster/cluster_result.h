/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was stored, into the tally and the metrics. */
#ifndef LAB_CLUSTER_RESULT_H
#define LAB_CLUSTER_RESULT_H

#include "cluster_run.h"

void lab_cluster_tally(struct lab_cluster_run *run);
/* far: by strategy, what another rank has made of it; NULL: it is one of `runs`. What is taken over is gone
 * from either. */
bool lab_cluster_result(const struct lab_scenario *scenario, struct lab_cluster_run **runs,
                        struct lab_result **far, struct lab_result **out);
/* Of this strategy alone, in its place. */
bool lab_cluster_result_of(const struct lab_scenario *scenario, size_t index, struct lab_cluster_run *run,
                           struct lab_result **out);
bool lab_cluster_metrics(const struct lab_cluster_run *run, struct lab_metrics *out);
/* The violations of every oracle that judged. */
bool lab_metrics_of_oracles(const struct lab_verdict *verdict, struct lab_metrics *out);
/* Of the strategies that were judged, in their order; runs[i] NULL: not judged. */
bool lab_cluster_result_some(const struct lab_scenario *scenario, struct lab_cluster_run **runs,
                             struct lab_result **out);

#endif
