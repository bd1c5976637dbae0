/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart with a place for everything: marks in the order of drawing, in logical pixels from the top left. */
#ifndef REPORTS_SCENE_H
#define REPORTS_SCENE_H

#include <stdbool.h>
#include <stddef.h>

#include "reports/chart.h"
#include "reports/style.h"
#include "reports/typeset.h"

struct report_box {
    double x, y, width, height;
};

enum report_shape {
    REPORT_SHAPE_RECTANGLE,
    REPORT_SHAPE_HATCHED, /* a rectangle with diagonal strokes */
    REPORT_SHAPE_LINE,    /* from the box's corner to the opposite one */
    REPORT_SHAPE_DASHED,
    REPORT_SHAPE_CURVE,
    REPORT_SHAPE_TILE,   /* a rectangle in a colour of the scale, on which a text may stand */
    REPORT_SHAPE_MARKER, /* what a line's ink has for its points, in the box */
    REPORT_SHAPE_TEXT,
    REPORT_SHAPE_HIT /* nothing is drawn: a place that has a hint */
};

struct report_mark {
    enum report_shape shape;
    enum report_ink ink; /* a text has its font's */
    struct report_box box;
    double stroke;               /* of lines and curves */
    struct report_point *points; /* of a curve */
    size_t point_count;
    bool is_dashed;          /* a curve: dotted */
    bool is_distribution;    /* a curve: with long dashes */
    double shade;            /* a tile */
    struct report_type type; /* of a text */
    bool is_upright;         /* a text that reads from bottom to top; its box is as it stands */
    bool is_ground;          /* a rectangle on which a text may stand */
    const char *hint;        /* what a page says of it; NULL for nothing */
};

struct report_scene {
    struct report_arena *arena;
    struct report_typesetter *typesetter; /* that measured its texts */
    double width, height;
    struct report_mark *marks;
    size_t count, capacity;
    struct report_mark spare; /* takes what has no place for want of memory; never drawn */
};

/* Puts a chart on a page as wide as REPORT_PAGE_WIDTH and as high as it takes. */
bool report_layout(const struct report_chart *chart, struct report_typesetter *typesetter,
                   struct report_arena *arena, struct report_scene *out, struct sim_error *error);
/* The same on a page of another width, for a telephone. */
bool report_layout_wide(const struct report_chart *chart, double width, struct report_typesetter *typesetter,
                        struct report_arena *arena, struct report_scene *out, struct sim_error *error);

#endif
