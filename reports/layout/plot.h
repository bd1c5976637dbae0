/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plot of a chart of curves; shared by the files that draw lines and place their names. */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

#include "pen.h"

/* The place of a rule's name above the plot. */
struct report_rule_place {
    double x, width;
    size_t row;     /* 0 is next to the plot */
    bool is_in_key; /* there is no place above the plot, so the name is in the key */
};

struct report_curves_plot {
    const struct report_chart *chart;
    struct report_box box; /* the plot's box, including the strips for 0 */
    double right;          /* right edge of the page's content */
    double strip_top;      /* top of the strip for y = 0 */
    size_t lanes[REPORT_LINES_MAX];
    bool has_names; /* all names are at the lines' ends */
    /* Whether a line's name is next to the line, and the top left corner of the name in the plot. */
    bool is_named[REPORT_LINES_MAX];
    struct report_point names[REPORT_LINES_MAX];
    double names_top, names_line;
    struct report_rule_place rules[REPORT_RULES_MAX];
    size_t rule_rows;
};

double report_curves_x(const struct report_curves_plot *plot, double value);
double report_curves_y(const struct report_curves_plot *plot, size_t line, double value);

/* Draws the background, the axes and their labels, and moves the pen below them. */
void report_curves_put_axes(const struct report_curves_plot *plot, struct report_pen *pen);
/* The left edge of a plot, right of the labels of the y axis. */
double report_curves_plot_left(const struct report_chart *chart, struct report_pen *pen);
/* Sets the plot's top and height, with room for `lanes` lanes in the strip; returns its bottom. */
double report_curves_set_top(struct report_curves_plot *plot, double top, size_t lanes);

/* The width that names need right of the plot; 0 when they are not placed there. */
double report_curves_names_width(const struct report_chart *chart, struct report_pen *pen);
void report_curves_put_names(const struct report_curves_plot *plot, struct report_pen *pen);
/* Finds a place for each name next to its line. The plot's box and the rules must be set. */
void report_curves_place_along(struct report_curves_plot *plot, struct report_pen *pen);
void report_curves_put_along(const struct report_curves_plot *plot, struct report_pen *pen);
/* Computes points at equal distances of `gap` pixels along a line, the first after `first` pixels. Returns
 * their number. */
size_t report_curves_stations(const struct report_curves_plot *plot, size_t line, double gap, double first,
                              struct report_pen *pen, struct report_point **out);
/* The positions of the markers of a dense line. */
size_t report_curves_markers(const struct report_curves_plot *plot, size_t line, struct report_pen *pen,
                             struct report_point **out);
/* Draws the key, with the lines and rules that have no name in the plot. */
void report_curves_put_key(const struct report_curves_plot *plot, struct report_pen *pen);
/* Finds places for the names of the rules. The plot's left edge and width must be set. */
void report_curves_place_rules(struct report_curves_plot *plot, struct report_pen *pen);
void report_curves_put_rules(const struct report_curves_plot *plot, struct report_pen *pen);

#endif
