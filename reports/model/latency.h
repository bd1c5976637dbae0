/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The percentiles that the latency chart marks. */
#ifndef REPORTS_LATENCY_H
#define REPORTS_LATENCY_H

#include "reports/model.h"

/* Sets *of to N, where 1 operation in N takes longer than the index-th marked percentile. Returns false after
 * the last one. */
bool report_percentile(unsigned index, uint64_t *of);
/* The name of a percentile: "99.9%" for 1000. */
const char *report_percentile_text(struct report_arena *arena, uint64_t of);

#endif
