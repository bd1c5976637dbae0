/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of plain data, and the file formats of charts.
 *
 * Curves over a common x axis: a metric over a setting, a line per strategy. And a front: candidates by two
 * quantities of which less is better, such as cost and size, with the Pareto front and the recommended
 * candidate. Names are given to the recommended candidate, to those on the front, and to the best of each
 * kind; if there is no room next to a candidate, a line leads to its name.
 *
 * On a log axis there is a separate strip for the value 0, labelled 0, before the axis. Like other charts,
 * the same data gives the same bytes, and the file appears only once it is complete. */
#ifndef REPORTS_CURVES_H
#define REPORTS_CURVES_H

#include <stdbool.h>
#include <stddef.h>

enum report_scale { REPORT_LINEAR, REPORT_LOG };

/* The units of an axis: plain numbers with K, M, G; rows, likewise; times in ms, s, min, h or d; shares in %;
 * bytes in B, KB, MB. */
enum report_curves_unit {
    REPORT_UNIT_PLAIN,
    REPORT_UNIT_ROWS,
    REPORT_UNIT_SECONDS,
    REPORT_UNIT_SHARE,
    REPORT_UNIT_BYTES,
    REPORT_UNIT_COUNT
};

struct report_curves_axis {
    const char *title;
    enum report_curves_unit unit;
    enum report_scale scale;
};

/* All values must be finite and within -REPORT_VALUE_MAX and REPORT_VALUE_MAX; on a log axis at least 0. */
struct report_curves_point {
    double x, y;
    double low, high; /* confidence interval of y, low <= y <= high; both equal to y for none */
};

struct report_curve {
    const char *label;
    const struct report_curves_point *points; /* in any order of x; at least one */
    size_t count;
};

/* A vertical line with a name. */
struct report_rule {
    double at; /* x */
    const char *label;
};

enum { REPORT_CURVES_MAX = 9, REPORT_RULES_MAX = 6 };
/* Values closer to 0 than REPORT_VALUE_LEAST are treated as 0. */
#define REPORT_VALUE_MAX   1e18
#define REPORT_VALUE_LEAST 1e-18

struct report_curves {
    const char *title, *subtitle, *foot; /* NULL for none */
    struct report_curves_axis x, y;
    const struct report_curve *curves;
    size_t curve_count; /* 1 to REPORT_CURVES_MAX */
    const struct report_rule *rules;
    size_t rule_count; /* up to REPORT_RULES_MAX */
};

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

enum report_format { REPORT_PNG, REPORT_SVG, REPORT_PDF, REPORT_FORMAT_COUNT };
/* Parses "png", "svg" or "pdf"; false for any other name. */
bool report_format_parse(const char *name, enum report_format *out);
/* "png", "svg", "pdf" */
const char *report_format_extension(enum report_format format);

#endif
