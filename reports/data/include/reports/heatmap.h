/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart, from plain data, of a quantity over two settings: a coloured cell per pair, with its value.
 *
 * Colours range from dark blue (least) to yellow (most), so that they can be distinguished by colour-blind
 * readers and in greyscale. A line surrounds the cells that meet the requirements, and a ring marks the
 * recommended one. Like other charts, the same data gives the same bytes, and the file appears only once it
 * is complete. */
#ifndef REPORTS_HEATMAP_H
#define REPORTS_HEATMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/curves.h"

/* A setting: its values as texts, in order from the left, or from the bottom. */
struct report_heatmap_axis {
    const char *title;
    const char *const *labels;
    size_t count; /* 1 to REPORT_HEATMAP_MAX */
};

struct report_heatmap_cell {
    double value; /* NaN: not tried; within the bounds of reports/curves.h, on a log scale at least 0 */
    bool holds;   /* the cell meets all requirements; undefined when not tried */
};

enum { REPORT_HEATMAP_MAX = 64 };

struct report_heatmap {
    const char *title, *subtitle, *foot; /* NULL for none */
    struct report_heatmap_axis x, y;
    struct report_curves_axis value; /* its title is the title of the colour scale */
    double least; /* smaller values, and 0, have the colour of this value; 0: no such limit */
    const struct report_heatmap_cell *cells; /* x.count for y's first label, then for its second, ... */
    const char *inside,
        *outside; /* names of the cells inside and outside of the line; NULL for "holds", "does not hold" */
    const char *recommended; /* name of the recommended cell in the key; NULL when there is none */
    size_t recommended_x, recommended_y; /* indices of the recommended cell, which must have been tried */
};

#endif
