/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy in words, and its figures by name. */
#ifndef REPORTS_STRATEGY_H
#define REPORTS_STRATEGY_H

#include <stdbool.h>

#include "lab/result.h"
#include "reports/arena.h"

/* "9 bits, threshold 40"; "20.5K rows, numbers leased by 100" */
const char *report_settings(struct report_arena *arena, const struct lab_strategy_result *result);
/* The label, and in *detail the settings, which begin with the strategy's kind where the label is another
 * word. */
void report_strategy_name(struct report_arena *arena, const struct lab_strategy_result *strategy,
                          const char **label, const char **detail);
/* The figure of a metric in *out; false when the run does not have it. */
bool report_metric(const struct lab_strategy_result *strategy, const char *name, double *out);

#endif
