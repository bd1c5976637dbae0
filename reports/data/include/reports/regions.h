/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart, from plain data, of which candidate is best as two quantities vary: a plane divided into named
 * regions, and a mark at the present values. Like other charts, the same data gives the same bytes, and the
 * file only appears once it is complete. */
#ifndef REPORTS_REGIONS_H
#define REPORTS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/curves.h"

enum { REPORT_REGIONS_MAX = 4, REPORT_REGIONS_SIDE_MAX = 128 };

struct report_regions {
    const char *title, *subtitle, *foot; /* NULL for none */
    struct report_curves_axis x, y;      /* on log scales */
    /* Ascending, above 0, in equal ratios; a cell reaches halfway to its neighbours. */
    const double *columns, *rows;
    size_t column_count, row_count; /* 2 to REPORT_REGIONS_SIDE_MAX */
    const char *const *names;
    size_t name_count;      /* 1 to REPORT_REGIONS_MAX */
    const unsigned *owners; /* indexes of names: column_count for the first row, then for the second, ... */
    const char *now;        /* name of the present values in the key */
    double now_x, now_y;    /* within the columns and rows */
};

#endif
