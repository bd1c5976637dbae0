/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One chart of candidates by two figures of which less is better, from plain data: what each costs and what
 * it buys, the front of those that none is better than in both, and the recommended one.
 *
 * On a log axis the value 0 has a strip of its own. Named are the recommended one, those that none
 * beats in both figures, and the best of each kind; where there is no room next to one, a line leads to its
 * name. Made as the other charts are: the same
 * data gives the same bytes, and the file appears only when whole. */
#ifndef REPORTS_FRONT_H
#define REPORTS_FRONT_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/curves.h"

/* Values as in reports/curves.h. */
struct report_front_point {
    const char *label;
    double x, y;
    double low, high; /* of a confidence interval of y, low <= y <= high; both y for none */
    bool is_on_front; /* the others are pale */
    bool is_best;     /* of its kind: it is named, as those are that none beats in both figures */
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
