/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the layouts of all forms use. A pen goes down the page and puts marks into a scene. */
#ifndef REPORTS_PEN_H
#define REPORTS_PEN_H

#include "reports/scene.h"

struct report_pen {
    struct report_scene *scene;
    struct report_typesetter *typesetter;
    double y; /* the next free line */
};

enum report_align { REPORT_LEFT, REPORT_CENTRE, REPORT_RIGHT };

/* Snaps to half a logical pixel: at twice the scale edges fall on whole pixels and stay crisp. */
double report_snap(double value);
/* Adds a mark and returns it, for what is left to be set; after a failure a mark that is not drawn. */
struct report_mark *report_pen_mark(struct report_pen *pen, enum report_shape shape, enum report_ink ink,
                                    struct report_box box);
void report_pen_line(struct report_pen *pen, enum report_shape shape, enum report_ink ink, double x0,
                     double y0, double x1, double y1, double stroke);
/* Sets a text with its top at y; x is its left edge, middle or right edge. Returns its box. */
struct report_box report_pen_text(struct report_pen *pen, const struct report_type *type,
                                  enum report_align align, double x, double y);
double report_pen_width(struct report_pen *pen, const char *text, enum report_font font);
double report_pen_height(struct report_pen *pen, enum report_font font);
/* The text's baseline on `baseline`. */
struct report_box report_pen_text_on(struct report_pen *pen, const struct report_type *type,
                                     enum report_align align, double x, double baseline);

/* The right end of what stands on the page, and the room from its left end. */
double report_pen_right(const struct report_pen *pen);
double report_pen_content_width(const struct report_pen *pen);
/* A key whose entries flow like words. */
void report_pen_legend(struct report_pen *pen, const struct report_legend *entries, size_t count);
void report_pen_swatch(struct report_pen *pen, enum report_ink ink, double x, double middle);
#define REPORT_SWATCH_WIDTH 18.0
#define REPORT_SWATCH_GAP   6.0
#define REPORT_MARKER_SIZE  5.5
/* The marker of an ink around (x, y). */
void report_pen_marker(struct report_pen *pen, enum report_ink ink, double x, double y);
/* Names next to the ends of up to REPORT_CURVES_MAX lines, at x with a leader each, in the order of the ends
 * and within the box's height; a leader longer than far_leader is dashed. marker_width: room for the marker
 * at x. */
struct report_line_names {
    const struct report_line *lines;
    const struct report_point *ends; /* on the page */
    size_t count;
    struct report_box box;
    double x, marker_width, far_leader;
};
void report_pen_line_names(struct report_pen *pen, const struct report_line_names *names);
/* The sides of a box. */
void report_pen_frame(struct report_pen *pen, enum report_ink ink, const struct report_box *box,
                      double stroke);

/* Of both forms that have panels: numbers or names left, plot, key figures right. */
#define REPORT_FIGURES_LEFT 628.0
/* Label, settings and note, from `left` to the page's right margin, or to `right`. */
void report_pen_panel_head(struct report_pen *pen, const struct report_panel *panel, double left);
void report_pen_head(struct report_pen *pen, const struct report_panel *panel, double left, double right);
/* Figures right of the plot, or one below the other from the left margin on. Return where they end. */
double report_pen_figures_below(struct report_pen *pen, const struct report_panel *panel, double top);
double report_pen_figures(struct report_pen *pen, const struct report_panel *panel, double top);

#endif
