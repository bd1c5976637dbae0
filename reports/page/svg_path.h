/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes elements, numbers and paths of an SVG. Errors are recorded. Lengths have at most two decimals. The
 * points of a path are relative to the previous point, and rounded such that errors do not add up. */
#ifndef REPORTS_PAGE_SVG_PATH_H
#define REPORTS_PAGE_SVG_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include <libxml/xmlwriter.h>

#include "reports/scene.h"

struct report_svg {
    xmlTextWriterPtr writer;
    bool is_fine;
    long long x, y; /* current point of a path, in hundredths */
};

void report_svg_open(struct report_svg *svg, const char *name);
void report_svg_close(struct report_svg *svg);
void report_svg_attribute(struct report_svg *svg, const char *name, const char *value);
void report_svg_number(struct report_svg *svg, const char *name, double value);
/* Rotates an element so that its text reads from bottom to top, beginning at (x, y). */
void report_svg_upright(struct report_svg *svg, double x, double y);
void report_svg_say(struct report_svg *svg, const char *text);

/* Writes the attribute "d", whose commands are written between begin and end. */
void report_svg_path_begin(struct report_svg *svg);
void report_svg_path_end(struct report_svg *svg);
void report_svg_path_box(struct report_svg *svg, const struct report_box *box);
void report_svg_path_line(struct report_svg *svg, const struct report_point *points, size_t count);
void report_svg_path_marker(struct report_svg *svg, const struct report_box *box, enum report_marker marker);

#endif
