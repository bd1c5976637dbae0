/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One chart of a figure over two settings, from plain data: a coloured cell a pair, its value in it.
 *
 * The colours go from dark blue (least) to yellow (most), so that the colour-blind and a grey print tell the
 * same; a line runs around the cells that hold, and a ring marks the recommended one. Made as the other
 * charts are: the same data gives the same bytes, and the file appears only when whole. */
#ifndef REPORTS_HEATMAP_H
#define REPORTS_HEATMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/curves.h"

/* A setting: its values as they are to be read, in order; from the left, and from the bottom. */
struct report_heatmap_axis {
    const char *title;
    const char *const *labels;
    size_t count; /* 1 to REPORT_HEATMAP_MAX */
};

struct report_heatmap_cell {
    double value; /* NaN: not tried; within the bounds of reports/curves.h, on a log scale at least 0 */
    bool holds;   /* all that was asked for; of no meaning when not tried */
};

enum { REPORT_HEATMAP_MAX = 64 };

struct report_heatmap {
    const char *title, *subtitle, *foot; /* NULL for none */
    struct report_heatmap_axis x, y;
    struct report_curves_axis value;         /* its title stands at the colours */
    double least;                            /* smaller values take its colour, and 0 too; 0 for none */
    const struct report_heatmap_cell *cells; /* x.count for y's first label, then for its second, ... */
    const char *inside, *outside; /* what tiles within the line do, and those without; NULL for "holds",
                                     "does not hold" */
    const char *recommended;      /* its name in the key; NULL when none is */
    size_t recommended_x, recommended_y; /* a cell that was tried */
};

#endif
