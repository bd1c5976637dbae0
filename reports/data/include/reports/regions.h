/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One chart of who is the best over two figures, from plain data: a plane in regions, each with its name, and
 * a mark where one is now. Made as the other charts are: the same data gives the same bytes, and the file
 * appears only when whole. */
#ifndef REPORTS_REGIONS_H
#define REPORTS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/curves.h"

enum { REPORT_REGIONS_MAX = 4, REPORT_REGIONS_SIDE_MAX = 128 };

struct report_regions {
    const char *title, *subtitle, *foot; /* NULL for none */
    struct report_curves_axis x, y;      /* on log scales */
    /* Upwards, above 0, by equal ratios; each has the stretch halfway to its neighbours. */
    const double *columns, *rows;
    size_t column_count, row_count; /* 2 to REPORT_REGIONS_SIDE_MAX */
    const char *const *names;
    size_t name_count;      /* 1 to REPORT_REGIONS_MAX */
    const unsigned *owners; /* indexes of names: column_count for the first row, then for the second, ... */
    const char *now;        /* in the key */
    double now_x, now_y;    /* within the columns and rows */
};

#endif
