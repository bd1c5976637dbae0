/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layouts of the forms of charts, one per file. Each begins at the pen's position, and leaves the pen
 * below what it has drawn. */
#ifndef REPORTS_LAYOUT_H
#define REPORTS_LAYOUT_H

#include "pen.h"

void report_layout_stack(const struct report_chart *chart, struct report_pen *pen);
void report_layout_panes(const struct report_chart *chart, struct report_pen *pen);
void report_layout_table(const struct report_chart *chart, struct report_pen *pen);
void report_layout_lanes(const struct report_chart *chart, struct report_pen *pen);
void report_layout_curves(const struct report_chart *chart, struct report_pen *pen);
void report_layout_front(const struct report_chart *chart, struct report_pen *pen);
/* Includes its own heading and footer. */
void report_layout_summary(const struct report_chart *chart, struct report_pen *pen);
void report_layout_regions(const struct report_chart *chart, struct report_pen *pen);
void report_layout_heatmap(const struct report_chart *chart, struct report_pen *pen);

#endif
