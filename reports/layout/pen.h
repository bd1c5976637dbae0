/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the layouts of all forms. A pen moves down the page and adds marks to a scene. A frame is the
 * plot of a chart or of a panel: it maps the positions of an axis to the page and draws the axes. Each layout
 * begins at the pen's position and leaves the pen below what it has drawn. */
#ifndef REPORTS_PEN_H
#define REPORTS_PEN_H

#include <math.h>

#include "reports/scene.h"

struct report_pen {
    struct report_scene *scene;
    double y; /* y of the next free line */
};

enum report_align { REPORT_LEFT, REPORT_CENTRE, REPORT_RIGHT };

/* Rounds to half a logical pixel, so that edges are on whole pixels, and sharp, at twice the scale. */
double report_snap(double value);
/* Adds a mark and returns it, so that the caller can set its other members. */
struct report_mark *report_pen_mark(struct report_pen *pen, enum report_shape shape, enum report_ink ink,
                                    struct report_box box);
/* A rectangle, hatched if the ink is. */
struct report_mark *report_pen_area(struct report_pen *pen, enum report_ink ink, struct report_box box);
void report_pen_line(struct report_pen *pen, enum report_shape shape, enum report_ink ink, double x0,
                     double y0, double x1, double y1, double stroke);
/* A line through points that belong to the arena, with a halo, which keeps it apart from what is below it. */
struct report_mark *report_pen_curve(struct report_pen *pen, enum report_ink ink,
                                     const struct report_box *box, struct report_point *points, size_t count,
                                     double stroke);
struct report_mark *report_pen_marker(struct report_pen *pen, enum report_ink ink, double x, double y,
                                      double size);
#define REPORT_MARKER_SIZE 5.5
struct report_extent report_pen_measure(const struct report_pen *pen, const struct report_type *type);
/* Adds a text with its top at y; x is its left edge, middle or right edge, by `align`. Returns its box. */
struct report_box report_pen_text(struct report_pen *pen, const struct report_type *type,
                                  enum report_align align, double x, double y);
/* The same for a text on one line, of any width. */
struct report_box report_pen_say(struct report_pen *pen, const char *text, enum report_font font,
                                 enum report_align align, double x, double y);
/* Adds a text at the left margin, as wide as the content, and moves the pen below it. */
void report_pen_paragraph(struct report_pen *pen, const char *text, enum report_font font, int lines);
/* Adds headings next to each other, aligned at their last lines, and moves the pen below them. */
void report_pen_headings(struct report_pen *pen, const struct report_type *types, const double *lefts,
                         size_t count);
/* A vertical line with a cap at each end. */
void report_pen_range(struct report_pen *pen, enum report_ink ink, double x, double top, double bottom);
#define REPORT_CAP_WIDTH 5.0
double report_pen_width(const struct report_pen *pen, const char *text, enum report_font font);
double report_pen_height(const struct report_pen *pen, enum report_font font);

/* The right edge of the page's content, and the width of the content. */
double report_pen_right(const struct report_pen *pen);
double report_pen_content_width(const struct report_pen *pen);
bool report_pen_is_narrow(const struct report_pen *pen);

/* Adds a key whose entries are wrapped like words. */
void report_pen_legend(struct report_pen *pen, const struct report_legend *entries, size_t count,
                       enum report_font font);
/* Adds label, settings and note of a panel between `left` and `right`. */
void report_pen_head(struct report_pen *pen, const struct report_panel *panel, double left, double right);
/* Adds key figures of a panel, in columns between `left` and `right`; few: only the most important ones.
 * Returns the y where they end. */
double report_pen_figures(struct report_pen *pen, const struct report_panel *panel, double left, double right,
                          double top, size_t columns, bool few);
/* Panels with figures have them right of the plot, from this x. */
#define REPORT_FIGURES_LEFT 628.0

struct report_frame {
    const struct report_axis *x, *y; /* y: NULL for none */
    struct report_box box;           /* including the strips for 0 */
    double inset;                    /* distance of the ends of the x axis from the sides */
    double strip_top;                /* of the strip for y = 0; else the bottom of the plot */
};
#define REPORT_SIDE_INSET 8.0

/* Sets the vertical place of the plot, which is `height` high without the strip for 0. */
void report_frame_place(struct report_frame *frame, double top, double height);
double report_frame_x(const struct report_frame *frame, double at);
double report_frame_y(const struct report_frame *frame, double at);
/* The width of the widest number of a y axis, with the gap to the plot. */
double report_frame_numbers(const struct report_axis *y, const struct report_pen *pen);
/* Draws the y axis: the strip for 0, a line across the plot at each number, and the numbers that do not
 * overlap. */
void report_frame_y_axis(const struct report_frame *frame, struct report_pen *pen);
/* Draws the x axis, and moves the pen below its numbers. has_grid: with a line up the plot at each number. */
void report_frame_x_axis(const struct report_frame *frame, enum report_font font, bool has_numbers,
                         bool has_grid, struct report_pen *pen);
/* Adds the title of the x axis below the pen, in the middle of the plot as far as the page allows. */
void report_frame_x_title(const struct report_frame *frame, const char *title, struct report_pen *pen);
/* Draws shades along the x axis or the y axis, with a dashed line at the limit. */
void report_frame_bands(const struct report_frame *frame, const struct report_panel *panel,
                        struct report_pen *pen);

/* The names of rules, which are vertical lines, above a plot. */
struct report_rules {
    struct report_rule_place {
        double stem, x, width; /* width: 0 if there is no name above the plot */
        size_t row;            /* 0 is next to the plot */
    } items[REPORT_MOMENTS_MAX];
    size_t count, row_count;
};
/* Finds places for the names. The frame's left edge and width must be set. */
void report_rules_place(struct report_rules *rules, const struct report_moment *moments, size_t count,
                        const struct report_frame *frame, const struct report_pen *pen);
double report_rules_height(const struct report_rules *rules, const struct report_pen *pen);
/* Draws the rules, with their names in rows from `top` down to the plot. */
void report_rules_put(const struct report_rules *rules, const struct report_moment *moments,
                      const struct report_frame *frame, double top, struct report_pen *pen);

void report_layout_bars(const struct report_chart *chart, struct report_pen *pen);
void report_layout_lines(const struct report_chart *chart, struct report_pen *pen);
void report_layout_front(const struct report_chart *chart, struct report_pen *pen);
void report_layout_sequence(const struct report_chart *chart, struct report_pen *pen);
/* Includes its own heading and footer. */
void report_layout_summary(const struct report_chart *chart, struct report_pen *pen);

#endif
