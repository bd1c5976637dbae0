/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plot of a panel among several over one x axis. */
#ifndef REPORTS_LAYOUT_STACK_H
#define REPORTS_LAYOUT_STACK_H

#include "layout.h"

struct report_stack_plot {
    const struct report_axis *x, *y;
    struct report_box box;
};

double report_stack_x(const struct report_stack_plot *plot, double value);
double report_stack_y(const struct report_stack_plot *plot, double value);

/* layout_steps.c: sizes by stretches of x. */
void report_stack_put_steps(const struct report_panel *panel, const struct report_stack_plot *plot,
                            struct report_pen *pen);

#endif
