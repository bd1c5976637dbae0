/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The style of charts: fonts, sizes and colours, and texts set with Pango. Lengths are in logical pixels
 * (PDF: points). Texts are independent of the user's settings: there is a separate font map, resolution and
 * font options, without hinting. Markup is not interpreted: a user's `<b>` is drawn literally. */
#ifndef REPORTS_STYLE_H
#define REPORTS_STYLE_H

#include <stdbool.h>

#include <cairo.h>

#include "kernel/error.h"
#include "reports/chart.h"

#define REPORT_FONT_FAMILY  "DejaVu Sans"
#define REPORT_PAGE_MARGIN  24.0
#define REPORT_HATCH_PITCH  3.0
#define REPORT_HATCH_STROKE 0.7

enum report_font {
    REPORT_FONT_TITLE,
    REPORT_FONT_SUBTITLE,
    REPORT_FONT_LABEL,
    REPORT_FONT_DETAIL,
    REPORT_FONT_NOTE,
    REPORT_FONT_FIGURE,
    REPORT_FONT_ALARM,
    REPORT_FONT_TICK,
    REPORT_FONT_STAGE,
    REPORT_FONT_LEGEND,
    REPORT_FONT_FOOT,
    REPORT_FONT_HEAD, /* this and the following fonts are for a summary, which is also displayed in a small
                         size */
    REPORT_FONT_VERDICT,
    REPORT_FONT_BEWARE,
    REPORT_FONT_ROW,
    REPORT_FONT_CELL,
    REPORT_FONT_CELL_ALARM,
    REPORT_FONT_SMALL,
    REPORT_FONT_COUNT
};

struct report_font_style {
    const char *name; /* in style sheets: "tick", "cell-alarm" */
    double size;
    bool is_bold, is_italic;
    enum report_ink ink;
};
extern const struct report_font_style report_fonts[REPORT_FONT_COUNT];

struct report_colour {
    double red, green, blue;
};

/* The markers at the points of a line, by which lines are distinguished in greyscale. */
enum report_marker {
    REPORT_MARKER_DISC,
    REPORT_MARKER_SQUARE,
    REPORT_MARKER_RISING, /* a triangle that points up */
    REPORT_MARKER_DIAMOND,
    REPORT_MARKER_FALLING,
    REPORT_MARKER_CROSS,
    REPORT_MARKER_RING,
    REPORT_MARKER_FRAME,
    REPORT_MARKER_KITE
};
enum { REPORT_CORNERS_MAX = 4 };
struct report_marker_style {
    bool is_hollow;
    size_t corner_count;                             /* 0: round, or a cross */
    struct report_point corners[REPORT_CORNERS_MAX]; /* in the unit square */
};
extern const struct report_marker_style report_markers[];

/* The directions of the strokes of a hatched mark, as bits. */
enum { REPORT_STROKES_RISING = 1, REPORT_STROKES_FALLING = 2 };
struct report_ink_style {
    const char *name; /* in tests and style sheets: "closed", "line1" */
    struct report_colour colour;
    struct report_colour fill; /* of a hatched mark, below the strokes */
    struct report_colour flat; /* of a hatched mark that is too low for strokes */
    unsigned strokes;          /* 0: marks of this ink are not hatched */
    enum report_marker marker;
};
extern const struct report_ink_style report_inks[REPORT_INK_COUNT];

struct report_typesetter;

/* A text to set. It is wrapped at `width`; if it has more than `lines` lines, its middle is replaced by an
 * ellipsis. */
struct report_type {
    const char *text;
    enum report_font font;
    double width; /* 0: unlimited */
    int lines;    /* at least 1 */
};

struct report_extent {
    double width, height, baseline; /* baseline: of the first line, from the top */
};

/* A line of a text as it was set; text that was left out is replaced by "…". */
struct report_set_line {
    const char *text;
    double x, baseline, width; /* relative to the text's top left corner */
};

/* Returns NULL, with the error set, when the machine has no font, and when out of memory. */
struct report_typesetter *report_typesetter_create(struct sim_error *error);
void report_typesetter_destroy(struct report_typesetter *typesetter); /* typesetter may be NULL */

struct report_extent report_typeset_measure(struct report_typesetter *typesetter,
                                            const struct report_type *type);
/* The lines of a text from the top, owned by the arena; NULL when out of memory. */
struct report_set_line *report_typeset_lines(struct report_typesetter *typesetter,
                                             const struct report_type *type, struct report_arena *arena,
                                             size_t *count);
/* Draws a text with its top left corner at (x, y). */
void report_typeset_draw(struct report_typesetter *typesetter, cairo_t *cairo, const struct report_type *type,
                         double x, double y);

#endif
