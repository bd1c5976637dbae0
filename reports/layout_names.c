/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "layout.h"

/* In the order in which the lines end, pushed down and then up again until none touches another. */
void report_pen_line_names(struct report_pen *pen, const struct report_line_names *names)
{
    const double height = report_pen_height(pen, REPORT_FONT_LEGEND) + 1;
    const struct report_point *ends = names->ends;
    double places[REPORT_CURVES_MAX];
    size_t order[REPORT_CURVES_MAX];
    for (size_t i = 0; i < names->count; i++) {
        size_t place = i;
        for (; place > 0 && ends[order[place - 1]].y > ends[i].y; place--) {
            order[place] = order[place - 1];
        }
        order[place] = i;
    }
    double next = names->box.y;
    for (size_t i = 0; i < names->count; i++) {
        places[i] = fmax(next, ends[order[i]].y - height / 2);
        next = places[i] + height;
    }
    next = names->box.y + names->box.height;
    for (size_t i = names->count; i-- > 0;) {
        places[i] = fmin(places[i], next - height);
        next = places[i];
    }
    for (size_t i = 0; i < names->count; i++) {
        const struct report_line *line = &names->lines[order[i]];
        const double middle = places[i] + height / 2;
        const double from = ends[order[i]].x + REPORT_MARKER_SIZE / 2;
        const bool is_far = names->x - from > names->far_leader;
        report_pen_line(pen, is_far ? REPORT_SHAPE_DASHED : REPORT_SHAPE_LINE, line->ink, from,
                        ends[order[i]].y, names->x, middle, 0.8);
        report_pen_marker(pen, line->ink, names->x, middle);
        const struct report_type type = {.text = line->label, .font = REPORT_FONT_LEGEND, .lines = 1};
        report_pen_text(pen, &type, REPORT_LEFT, names->x + names->marker_width / 2, places[i]);
    }
}
