/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How charts look: fonts, sizes and colours, in one place. Lengths are in logical pixels (PDF: points). */
#ifndef REPORTS_STYLE_H
#define REPORTS_STYLE_H

#include <stdbool.h>

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
    REPORT_FONT_HEAD, /* these of a summary, which is also shown small */
    REPORT_FONT_VERDICT,
    REPORT_FONT_BEWARE,
    REPORT_FONT_ROW,
    REPORT_FONT_CELL,
    REPORT_FONT_CELL_ALARM,
    REPORT_FONT_SMALL,
    REPORT_FONT_TILE_DARK, /* on a light tile */
    REPORT_FONT_TILE_LIGHT,
    REPORT_FONT_COUNT
};

struct report_font_style {
    double size;
    bool is_bold, is_italic;
    enum report_ink ink;
};

struct report_colour {
    double red, green, blue;
};

/* "tick", "tile-dark": for style sheets. */
const char *report_font_name(enum report_font font);
const struct report_font_style *report_style_font(enum report_font font);
struct report_colour report_style_colour(enum report_ink ink);
/* Along the colours of tiles, share from 0 to 1; and the font that can be read on it. */
struct report_colour report_style_scale(double share);
enum report_font report_style_scale_font(double share);
/* Which way the strokes of a hatched mark run: bits. */
enum { REPORT_STROKES_RISING = 1, REPORT_STROKES_FALLING = 2 };
struct report_hatch {
    struct report_colour fill; /* below the strokes */
    struct report_colour flat; /* what the whole becomes when it is too low for strokes */
    unsigned strokes;
};
struct report_hatch report_style_hatch(enum report_ink ink);
/* What stands at the points of a line, so that a grey print tells the lines apart. */
enum report_marker {
    REPORT_MARKER_DISC,
    REPORT_MARKER_SQUARE,
    REPORT_MARKER_RISING, /* a triangle that points up */
    REPORT_MARKER_DIAMOND,
    REPORT_MARKER_FALLING,
    REPORT_MARKER_CROSS,
    REPORT_MARKER_RING, /* the hollow ones */
    REPORT_MARKER_FRAME,
    REPORT_MARKER_KITE
};
enum report_marker report_style_marker(enum report_ink ink);
enum { REPORT_CORNERS_MAX = 4 };
/* The corners of a marker on the unit square; none for what is round or crossed. */
size_t report_style_corners(enum report_marker marker, struct report_point corners[REPORT_CORNERS_MAX]);
bool report_style_is_line(enum report_ink ink);
/* Whether marks of this ink are hatched. */
bool report_style_is_hatched(enum report_ink ink);

#endif
