/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elements, numbers and paths of an SVG, on a writer. What goes wrong is kept. Lengths have two decimals at
 * most; a path's points are told as steps from the last one, rounded so that errors do not add up. */
#ifndef REPORTS_PAGE_SVG_PATH_H
#define REPORTS_PAGE_SVG_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include <libxml/xmlwriter.h>

#include "reports/scene.h"

struct report_svg {
    xmlTextWriterPtr writer;
    bool is_fine;
    long long x, y; /* where a path is, in hundredths */
};

void report_svg_open(struct report_svg *svg, const char *name);
void report_svg_close(struct report_svg *svg);
void report_svg_attribute(struct report_svg *svg, const char *name, const char *value);
void report_svg_number(struct report_svg *svg, const char *name, double value);
/* Of an element that reads from bottom to top, begun at (x, y). */
void report_svg_upright(struct report_svg *svg, double x, double y);
void report_svg_say(struct report_svg *svg, const char *text);

/* Between begin and end: the attribute "d". */
void report_svg_path_begin(struct report_svg *svg);
void report_svg_path_end(struct report_svg *svg);
void report_svg_path_box(struct report_svg *svg, const struct report_box *box);
void report_svg_path_line(struct report_svg *svg, const struct report_point *points, size_t count);
void report_svg_path_marker(struct report_svg *svg, const struct report_box *box, enum report_marker marker);

#endif
