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

/* What an agent heard of a request. */
struct lab_heard {
    uint32_t agent, operation; /* operation: its number */
    enum bk_action_kind action;
    int64_t bucket; /* of PUT_ROW */
    const struct bk_outcome *outcome;
    uint64_t filled, scanned; /* of READ_ROWS: partitions that had rows, and rows that were read */
};
/* Writes the event of a history: "agent 2 hears 0 put_row applied bucket 4" (docs/live.md). */
void lab_heard_text(const struct lab_heard *heard, char *text, size_t size);

#endif
