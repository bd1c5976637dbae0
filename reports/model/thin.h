/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves out the points of a line that nobody would miss. */
#ifndef REPORTS_THIN_H
#define REPORTS_THIN_H

#include "reports/chart.h"

/* Marks in keep[] the points to draw, the first and the last among them: the line through these passes every
 * other point within `tolerance` (Douglas and Peucker 1973). Returns how many they are; when out of memory 0.
 */
size_t report_thin(struct report_arena *arena, const struct report_point *points, size_t count,
                   double tolerance, bool *keep);

#endif
