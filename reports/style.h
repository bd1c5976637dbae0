/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How charts look: fonts, sizes and colours, in one place. Lengths are in logical pixels (PDF: points). */
#ifndef REPORTS_STYLE_H
#define REPORTS_STYLE_H

#include <stdbool.h>

#include "chart.h"

#define REPORT_FONT_FAMILY  "DejaVu Sans"
#define REPORT_PAGE_WIDTH   800.0
#define REPORT_PAGE_MARGIN  24.0
#define REPORT_PIXEL_SCALE  2.0
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
    REPORT_FONT_LEGEND,
    REPORT_FONT_FOOT,
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

const struct report_font_style *report_style_font(enum report_font font);
struct report_colour report_style_colour(enum report_ink ink);
/* The light fill below the hatching of open partitions. */
struct report_colour report_style_hatched(void);
/* What such a bar becomes when it is too low for hatching. */
struct report_colour report_style_flat(void);

#endif
