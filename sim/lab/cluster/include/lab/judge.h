/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges recorded histories, of runs of the lab or of processes that embed the core, by the lab's oracles. */
#ifndef LAB_JUDGE_H
#define LAB_JUDGE_H

#include "lab/progress.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* scenario: the settings that the histories were made with; its rows, reads and faults do not happen. paths:
 * files that together are the history of each of its strategies, or of some; tables: what was read back when
 * all was over, NULL: nothing. *out has the strategies that the histories tell of, with the figures and the
 * verdict of a run. progress may be NULL. Errors name file and line. */
bool lab_judge(const struct lab_scenario *scenario, const char *const *paths, size_t count,
               const char *tables, struct lab_progress *progress, struct lab_result **out,
               struct sim_error *error);

#endif
