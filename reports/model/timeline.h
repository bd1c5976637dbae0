/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The axes of a timeline, and the format of its times. */
#ifndef REPORTS_TIMELINE_H
#define REPORTS_TIMELINE_H

#include "reports/format.h"
#include "reports/model.h"

/* The time axis, in seconds since the start of the run, with labels at round dates and times of day (UTC). */
void report_timeline_time_axis(struct report_arena *arena, int64_t start_ns, int64_t end_ns,
                               struct report_axis *out);
/* A log axis for sizes from `least` to `most`, both at least 1. */
void report_timeline_size_axis(struct report_arena *arena, uint64_t least, uint64_t most,
                               enum report_unit unit, struct report_axis *out);
/* Formats an interval as briefly as possible: "2026-01-03 06:00 to 12:00 UTC", "2026-01-03 to 2026-01-08
 * UTC". */
const char *report_timeline_stretch(struct report_arena *arena, int64_t start_ns, int64_t end_ns);

#endif
