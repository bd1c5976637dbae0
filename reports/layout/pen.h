/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the layouts of all forms. A pen moves down the page and adds marks to a scene. */
#ifndef REPORTS_PEN_H
#define REPORTS_PEN_H

#include "reports/scene.h"

struct report_pen {
    struct report_scene *scene;
    struct report_typesetter *typesetter;
    double y; /* y of the next free line */
};

enum report_align { REPORT_LEFT, REPORT_CENTRE, REPORT_RIGHT };

/* Rounds to half a logical pixel, so that edges are on whole pixels, and sharp, at twice the scale. */
double report_snap(double value);
/* Adds a mark and returns it, so that the caller can set its other members. After a failure it returns a mark
 * that is not drawn. */
struct report_mark *report_pen_mark(struct report_pen *pen, enum report_shape shape, enum report_ink ink,
                                    struct report_box box);
void report_pen_line(struct report_pen *pen, enum report_shape shape, enum report_ink ink, double x0,
                     double y0, double x1, double y1, double stroke);
/* Adds a text with its top at y; x is its left edge, middle or right edge, by `align`. Returns its box. */
struct report_box report_pen_text(struct report_pen *pen, const struct report_type *type,
                                  enum report_align align, double x, double y);
double report_pen_width(struct report_pen *pen, const char *text, enum report_font font);
double report_pen_height(struct report_pen *pen, enum report_font font);
/* Adds a text with its baseline at `baseline`. */
struct report_box report_pen_text_on(struct report_pen *pen, const struct report_type *type,
                                     enum report_align align, double x, double baseline);

/* The right edge of the page's content, and the width of the content. */
double report_pen_right(const struct report_pen *pen);
double report_pen_content_width(const struct report_pen *pen);
/* Adds a key whose entries are wrapped like words. */
void report_pen_legend(struct report_pen *pen, const struct report_legend *entries, size_t count);
void report_pen_swatch(struct report_pen *pen, enum report_ink ink, double x, double middle);
#define REPORT_SWATCH_WIDTH 18.0
#define REPORT_SWATCH_GAP   6.0
#define REPORT_MARKER_SIZE  5.5
/* Adds the marker of an ink, centred at (x, y). */
void report_pen_marker(struct report_pen *pen, enum report_ink ink, double x, double y);
/* The names at the ends of up to REPORT_CURVES_MAX lines: at x, each with a leader, in the order of the ends
 * and within the box's height. A leader longer than far_leader is dashed. marker_width: width of the marker
 * at x. */
struct report_line_names {
    const struct report_line *lines;
    const struct report_point *ends; /* positions on the page */
    size_t count;
    struct report_box box;
    double x, marker_width, far_leader;
};
void report_pen_line_names(struct report_pen *pen, const struct report_line_names *names);
/* Draws the sides of a box. */
void report_pen_frame(struct report_pen *pen, enum report_ink ink, const struct report_box *box,
                      double stroke);

/* For both forms with panels: numbers or names are on the left, then the plot, and key figures on the right,
 * from this x. */
#define REPORT_FIGURES_LEFT 628.0
/* Adds label, settings and note of a panel, from `left` to the page's right margin, or to `right`. */
void report_pen_panel_head(struct report_pen *pen, const struct report_panel *panel, double left);
void report_pen_head(struct report_pen *pen, const struct report_panel *panel, double left, double right);
/* Adds the key figures of a panel: report_pen_figures() right of the plot, report_pen_figures_below() one
 * below the other from the left margin. Returns the y where they end. */
double report_pen_figures_below(struct report_pen *pen, const struct report_panel *panel, double top);
double report_pen_figures(struct report_pen *pen, const struct report_panel *panel, double top);

#endif
