/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart, from plain data, of candidates by two quantities of which less is better, such as cost and size.
 * It shows the Pareto front and the recommended candidate.
 *
 * On a log axis there is a separate strip for the value 0. Names are given to the recommended candidate, to
 * those on the front, and to the best of each kind; if there is no room next to a candidate, a line leads to
 * its name. Like other charts, the same data gives the same bytes, and the file appears only once it is
 * complete. */
#ifndef REPORTS_FRONT_H
#define REPORTS_FRONT_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/curves.h"

/* Values as in reports/curves.h. */
struct report_front_point {
    const char *label;
    double x, y;
    double low, high; /* confidence interval of y, low <= y <= high; both equal to y for none */
    bool is_on_front; /* on the Pareto front; other points are pale */
    bool is_best;     /* the best of its kind, which is named like those on the front */
};

enum { REPORT_FRONT_MAX = 1000 };

struct report_front {
    const char *title, *subtitle, *foot; /* NULL for none */
    struct report_curves_axis x, y;
    const struct report_front_point *points; /* earlier ones are named first */
    size_t count;                            /* 1 to REPORT_FRONT_MAX */
    bool has_recommended;
    size_t recommended; /* index of the point */
};

#endif
