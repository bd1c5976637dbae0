/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text through Pango, the same whatever the user's settings: a font map, a resolution and font options of its
 * own, no hinting, and no markup: a user's `<b>` is drawn as such. */
#ifndef REPORTS_TYPESET_H
#define REPORTS_TYPESET_H

#include <stdbool.h>

#include <cairo.h>

#include "kernel/error.h"
#include "reports/arena.h"
#include "reports/style.h"

struct report_typesetter;

/* A text as it is to be set. Beyond width it is broken, and beyond lines cut in its middle with an
 * ellipsis. */
struct report_type {
    const char *text;
    enum report_font font;
    double width; /* 0: as wide as it is */
    int lines;    /* at least 1 */
};

struct report_extent {
    double width, height, baseline; /* of the first line, from the top */
};

/* A line of a text as it was set: what was left out of it reads "…". */
struct report_set_line {
    const char *text;
    double x, baseline, width; /* from the text's top left */
};

/* NULL without a font on the machine or when out of memory; then the error says so. */
struct report_typesetter *report_typesetter_create(struct sim_error *error);
void report_typesetter_destroy(struct report_typesetter *typesetter); /* NULL is fine */

struct report_extent report_typeset_measure(struct report_typesetter *typesetter,
                                            const struct report_type *type);
/* The lines of a text from the top; NULL when out of memory. */
struct report_set_line *report_typeset_lines(struct report_typesetter *typesetter,
                                             const struct report_type *type, struct report_arena *arena,
                                             size_t *count);
/* Draws with the top left corner at the current point's place (x, y). */
void report_typeset_draw(struct report_typesetter *typesetter, cairo_t *cairo, const struct report_type *type,
                         double x, double y);

#endif
