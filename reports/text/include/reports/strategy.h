/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of a strategy's settings and name, and its metrics by name. */
#ifndef REPORTS_STRATEGY_H
#define REPORTS_STRATEGY_H

#include <stdbool.h>

#include "lab/result.h"
#include "reports/arena.h"

/* The settings as text: "9 bits, threshold 40"; "20.5K rows, numbers leased by 100". */
const char *report_settings(struct report_arena *arena, const struct lab_settings *settings);
/* Sets *label to the label, and *detail to the settings, which begin with the strategy's kind unless the
 * label is the kind. */
void report_strategy_name(struct report_arena *arena, const struct lab_strategy_result *strategy,
                          const char **label, const char **detail);
/* Sets *out to the value of a metric; false when the run does not have it. */
bool report_metric(const struct lab_strategy_result *strategy, const char *name, double *out);

#endif
