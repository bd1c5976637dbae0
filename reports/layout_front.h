/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the spots of a front and their names share. */
#ifndef REPORTS_LAYOUT_FRONT_H
#define REPORTS_LAYOUT_FRONT_H

#include "layout_curves.h"

/* Boxes that no name may touch. */
struct report_front_taken {
    struct report_box *boxes;
    size_t count, capacity;
};

double report_front_y(const struct report_curves_plot *plot, double value);
void report_front_take(struct report_front_taken *taken, double x0, double y0, double x1, double y1);
/* Names as many spots as have room, the recommended one first, then those on the front; returns how many are
 * left out. */
size_t report_front_put_names(const struct report_curves_plot *plot, struct report_front_taken *taken,
                              struct report_pen *pen);

#endif
