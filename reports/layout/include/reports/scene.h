/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as positioned marks, in the order of drawing, in logical pixels from the top left corner. */
#ifndef REPORTS_SCENE_H
#define REPORTS_SCENE_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/chart.h"
#include "reports/style.h"

struct report_box {
    double x, y, width, height;
};

enum report_shape {
    REPORT_SHAPE_RECTANGLE,
    REPORT_SHAPE_HATCHED, /* a rectangle with diagonal strokes */
    REPORT_SHAPE_LINE,    /* from a corner of the box to the opposite one */
    REPORT_SHAPE_DASHED,
    REPORT_SHAPE_CURVE,
    REPORT_SHAPE_MARKER, /* the marker of a line's ink, in the box */
    REPORT_SHAPE_TEXT,
    REPORT_SHAPE_HIT /* not drawn: an area with a hint */
};

struct report_mark {
    enum report_shape shape;
    enum report_ink ink; /* a text has the ink of its font */
    struct report_box box;
    double stroke;               /* stroke width of lines and curves */
    struct report_point *points; /* points of a curve */
    size_t point_count;
    bool is_dashed;          /* a dotted curve */
    bool is_distribution;    /* a curve with long dashes */
    struct report_type type; /* of a text */
    bool is_upright;         /* a text that reads from bottom to top; its box is that of the rotated text */
    const char *hint;        /* its hint in a page; NULL for none */
};

struct report_scene {
    struct report_arena *arena;
    struct report_typesetter *typesetter; /* with which its texts were measured */
    double width, height;
    struct report_mark *marks;
    size_t count, capacity;
};

/* Lays out a chart on a page, as high as needed. width: REPORT_PAGE_WIDTH, or less for phones. */
void report_layout(const struct report_chart *chart, double width, struct report_typesetter *typesetter,
                   struct report_arena *arena, struct report_scene *out);

#endif
