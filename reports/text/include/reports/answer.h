/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of a run or of `tune`: one sentence that can be acted on, and at most nine labelled lines. The
 * strategy is chosen by lab/judgment.h; this module only tells. */
#ifndef REPORTS_ANSWER_H
#define REPORTS_ANSWER_H

#include "lab/judgment.h"
#include "lab/result.h"
#include "reports/arena.h"
#include "reports/option.h"

/* Fills an option from strategy `index` of a run. */
void report_option_of(const struct lab_result *result, size_t index, struct report_option *out);
/* Makes the answer of a run. */
void report_answer_run(const struct lab_result *result, struct report_arena *arena,
                       struct report_answer *out);
/* Makes the answer of options, of a run or of `tune`; chosen: SIZE_MAX if none is. */
void report_answer_of(const struct report_option *options, size_t count, size_t chosen,
                      const struct report_terms *terms, struct report_arena *arena,
                      struct report_answer *out);

/* The judgment in words, as the end of a sentence: "48 of 10,000 partitions (0.48%) are above 100,000 rows";
 * "not judged: no limit is set; add limits: {partition_bytes: 100MB}". */
const char *report_judged(const struct lab_judgment *judgment, const struct lab_limits *limits,
                          struct report_arena *arena);

#endif
