/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The percentiles that the latency chart marks. */
#ifndef REPORTS_LATENCY_H
#define REPORTS_LATENCY_H

#include "reports/model.h"

/* A percentile that is marked: 1 of `of` operations takes longer. False behind the last one. */
bool report_percentile(unsigned index, uint64_t *of);
/* "99.9%" of 1000. */
const char *report_percentile_text(struct report_arena *arena, uint64_t of);

#endif
