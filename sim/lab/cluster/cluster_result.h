/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes tally, metrics and result of a run from what was stored. */
#ifndef LAB_CLUSTER_RESULT_H
#define LAB_CLUSTER_RESULT_H

#include "cluster_run.h"

void lab_cluster_tally(struct lab_cluster_run *run);
/* Makes the result of all strategies from those of each alone, whose contents are moved to *out. */
bool lab_cluster_result(const struct lab_scenario *scenario, struct lab_result **each,
                        struct lab_result **out);
/* Makes a result with only this strategy. */
bool lab_cluster_result_of(const struct lab_scenario *scenario, size_t index, struct lab_cluster_run *run,
                           struct lab_result **out);
bool lab_cluster_metrics(const struct lab_cluster_run *run, struct lab_metrics *out);
/* Adds the number of violations of every oracle that applies. */
bool lab_metrics_of_oracles(const struct lab_verdict *verdict, struct lab_metrics *out);
/* Makes the result of the strategies that were judged, in their order; runs[i] NULL: not judged. */
bool lab_cluster_result_some(const struct lab_scenario *scenario, struct lab_cluster_run **runs,
                             struct lab_result **out);

#endif
