/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removes the points of a line that make no visible difference. */
#ifndef REPORTS_THIN_H
#define REPORTS_THIN_H

#include "reports/chart.h"

/* Sets keep[] to true for the points to draw, including the first and the last: every other point is within
 * `tolerance` of the line through these (Douglas and Peucker 1973). Returns the number of points to draw; 0
 * when out of memory. */
size_t report_thin(struct report_arena *arena, const struct report_point *points, size_t count,
                   double tolerance, bool *keep);

#endif
