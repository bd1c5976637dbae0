/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The percentiles that the latency chart marks. */
#ifndef REPORTS_LATENCY_H
#define REPORTS_LATENCY_H

#include "reports/model.h"

/* The index-th marked percentile: 1 of *of operations takes longer. Returns false after the last one. */
bool report_percentile(unsigned index, uint64_t *of);
/* The name of a percentile: "99.9%" for 1000. */
const char *report_percentile_text(struct report_arena *arena, uint64_t of);

#endif
