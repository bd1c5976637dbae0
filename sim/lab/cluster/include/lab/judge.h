/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges recorded histories, of runs of the lab or of processes that embed the core, with the lab's
 * oracles. */
#ifndef LAB_JUDGE_H
#define LAB_JUDGE_H

#include "lab/context.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* scenario: the settings with which the histories were recorded; its rows, reads and faults are not used.
 * paths: files that together are the history of some or all of its strategies. tables: path of the tables as
 * read back after the run; may be NULL. *out has the strategies in the histories, with the metrics and the
 * verdict of a run. progress may be NULL. Errors name file and line. */
bool lab_judge(const struct lab_scenario *scenario, const char *const *paths, size_t count,
               const char *tables, struct lab_progress *progress, struct lab_result **out,
               struct sim_error *error);

#endif
