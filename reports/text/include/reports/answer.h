/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run was asked and what it answers, in three plain sentences, as they stand at the head of a page. By
 * the rules of lab/choice.h: of the strategies that stayed within the limits, hid no row and end their
 * partitions, the cheapest. */
#ifndef REPORTS_ANSWER_H
#define REPORTS_ANSWER_H

#include "lab/choice.h"
#include "lab/result.h"
#include "reports/arena.h"

/* One line of text each, never NULL and never empty; labels stand in them as the scenario has them. */
struct report_answer {
    const char *asked;   /* the scenario, its strategies, rows, keys and limits */
    const char *verdict; /* which to choose and why; or who passed which limit, and by what share */
    const char *beware; /* what it requires, what the others cost and what stands against them; or how far the
                           nearest is off */
    size_t chosen;      /* index of the strategy; SIZE_MAX: none */
    const struct lab_score *scores; /* one a strategy */
};

/* Failures stay in the arena; then the texts are "". */
void report_answer(const struct lab_result *result, struct report_arena *arena, struct report_answer *out);
/* What stands against a strategy, for a badge: "48 of 10,000 partitions (0.48%) above 100,000 rows"; ""
 * when nothing does. */
const char *report_answer_against(const struct lab_result *result, const struct lab_strategy_result *strategy,
                                  const struct lab_score *score, struct report_arena *arena);
/* "100,000 rows or 100 MB"; "" without limits. */
const char *report_answer_limits(const struct lab_limits *limits, struct report_arena *arena);

/* Verdict and warning of a run that hands out identifiers, which has no partitions. */
void report_answer_identifiers(const struct lab_result *result, struct report_arena *arena,
                               struct report_answer *out);

#endif
