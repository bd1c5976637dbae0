/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets text with Pango, independent of the user's settings: it has its own font map, resolution and font
 * options, without hinting. Markup is not interpreted: a user's `<b>` is drawn literally. */
#ifndef REPORTS_TYPESET_H
#define REPORTS_TYPESET_H

#include <stdbool.h>

#include <cairo.h>

#include "kernel/error.h"
#include "reports/arena.h"
#include "reports/style.h"

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
