/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question and the answer of a run, in the three sentences at the top of a page. The strategy is chosen
 * by lab/judgment.h: the cheapest one that stayed within the limits, hid no row and closes its partitions. */
#ifndef REPORTS_ANSWER_H
#define REPORTS_ANSWER_H

#include "lab/judgment.h"
#include "lab/result.h"
#include "reports/arena.h"

/* Each text is one line, and neither NULL nor empty. Labels are written as in the scenario. */
struct report_answer {
    const char *asked;   /* the scenario, its strategies, rows, keys and limits */
    const char *verdict; /* which strategy to choose and why; or which strategies exceeded which limit, and by
                            what share */
    const char *beware;  /* what the chosen strategy requires, what the others cost and why they are
                            disqualified; or how far the closest strategy is from the limits */
    size_t chosen;       /* index of the strategy; SIZE_MAX: none */
    const struct lab_score *scores; /* one per strategy */
};

/* Makes the answer. Failures are recorded in the arena; the texts are then "". */
void report_answer(const struct lab_result *result, struct report_arena *arena, struct report_answer *out);
/* Why a strategy is disqualified, for a badge: "48 of 10,000 partitions (0.48%) above 100,000 rows"; "" when
 * it is not. */
const char *report_answer_against(const struct lab_result *result, const struct lab_strategy_result *strategy,
                                  const struct lab_score *score, struct report_arena *arena);
/* The limits as text: "100,000 rows or 100 MB"; "" without limits. */
const char *report_answer_limits(const struct lab_limits *limits, struct report_arena *arena);

/* Makes `verdict` and `beware` of a run with identifiers, which has no partitions. */
void report_answer_identifiers(const struct lab_result *result, struct report_arena *arena,
                               struct report_answer *out);

#endif
