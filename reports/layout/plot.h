/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plot of a chart of curves, shared by what draws the lines and what names them. */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

#include "pen.h"

/* Where a rule's name stands above the plot. */
struct report_rule_place {
    double x, width;
    size_t row;     /* 0 is next to the plot */
    bool is_in_key; /* for want of a place */
};

struct report_curves_plot {
    const struct report_chart *chart;
    struct report_box box; /* with the strips */
    double right;          /* of the page's content */
    double strip_top;      /* of the strip for y = 0 */
    size_t lanes[REPORT_LINES_MAX];
    bool has_names; /* all of them, at the lines' ends */
    /* Whether a line's name stands next to it, and the top left corner of its place in the plot. */
    bool is_named[REPORT_LINES_MAX];
    struct report_point names[REPORT_LINES_MAX];
    double names_top, names_line;
    struct report_rule_place rules[REPORT_RULES_MAX];
    size_t rule_rows;
};

double report_curves_x(const struct report_curves_plot *plot, double value);
double report_curves_y(const struct report_curves_plot *plot, size_t line, double value);

/* Ground, axes and their numbers; the pen goes below them. */
void report_curves_put_axes(const struct report_curves_plot *plot, struct report_pen *pen);
/* Where a plot begins, right of the y axis's numbers. */
double report_curves_plot_left(const struct report_chart *chart, struct report_pen *pen);
/* Sets the plot's top and height, the strip with room for so many lanes; returns its bottom. */
double report_curves_set_top(struct report_curves_plot *plot, double top, size_t lanes);

/* The room that names need right of the plot; 0 when they do not go there. */
double report_curves_names_width(const struct report_chart *chart, struct report_pen *pen);
void report_curves_put_names(const struct report_curves_plot *plot, struct report_pen *pen);
/* Looks for a place next to each line. Needs the plot's box and the rules. */
void report_curves_place_along(struct report_curves_plot *plot, struct report_pen *pen);
void report_curves_put_along(const struct report_curves_plot *plot, struct report_pen *pen);
/* Points at even distances along a line, the first after `first` pixels. Returns how many. */
size_t report_curves_stations(const struct report_curves_plot *plot, size_t line, double gap, double first,
                              struct report_pen *pen, struct report_point **out);
/* Where a dense line has its markers. */
size_t report_curves_markers(const struct report_curves_plot *plot, size_t line, struct report_pen *pen,
                             struct report_point **out);
/* What has no name at its place. */
void report_curves_put_key(const struct report_curves_plot *plot, struct report_pen *pen);
/* Finds places for the rules' names; needs the plot's left edge and width. */
void report_curves_place_rules(struct report_curves_plot *plot, struct report_pen *pen);
void report_curves_put_rules(const struct report_curves_plot *plot, struct report_pen *pen);

#endif
