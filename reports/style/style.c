/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of fonts, colours, hatches and markers. */
#include "reports/style.h"

#include <string.h>

#define RGB(hex)                                                                                             \
    {                                                                                                        \
        (((hex) >> 16) & 255) / 255.0, (((hex) >> 8) & 255) / 255.0, ((hex)&255) / 255.0                     \
    }

static const struct report_font_style fonts[REPORT_FONT_COUNT] = {
    [REPORT_FONT_TITLE] = {17, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_SUBTITLE] = {11, false, false, REPORT_INK_QUIET},
    [REPORT_FONT_LABEL] = {11.5, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_DETAIL] = {10.5, false, false, REPORT_INK_QUIET},
    [REPORT_FONT_NOTE] = {10, false, true, REPORT_INK_TEXT},
    [REPORT_FONT_FIGURE] = {10, false, false, REPORT_INK_TEXT},
    [REPORT_FONT_ALARM] = {10, true, false, REPORT_INK_ALARM},
    [REPORT_FONT_TICK] = {9.5, false, false, REPORT_INK_QUIET},
    [REPORT_FONT_STAGE] = {9.5, false, true, REPORT_INK_TEXT},
    [REPORT_FONT_LEGEND] = {10, false, false, REPORT_INK_TEXT},
    [REPORT_FONT_FOOT] = {9, false, false, REPORT_INK_QUIET},
    [REPORT_FONT_TILE_DARK] = {9.5, false, false, REPORT_INK_TILE},
    [REPORT_FONT_TILE_LIGHT] = {9.5, false, false, REPORT_INK_HALO},
    [REPORT_FONT_HEAD] = {22, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_VERDICT] = {15, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_BEWARE] = {13, false, false, REPORT_INK_TEXT},
    [REPORT_FONT_ROW] = {14, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_CELL] = {14, false, false, REPORT_INK_TEXT},
    [REPORT_FONT_CELL_ALARM] = {14, true, false, REPORT_INK_ALARM},
    [REPORT_FONT_SMALL] = {11.5, false, false, REPORT_INK_QUIET},
};

/* The marks use Okabe and Ito's palette (blue, vermilion, orange, purple), which colour-blind readers can
 * distinguish. In greyscale print the shades are light, closed bars dark and open bars hatched, and the
 * distribution has a halo. Of the buckets that agents believe to be current, the old one is dark, the new one
 * light and any other one cross-hatched. */
static const struct report_colour inks[REPORT_INK_COUNT] = {
    [REPORT_INK_CLOSED] = RGB(0x0072B2),       [REPORT_INK_OPEN] = RGB(0x0072B2),
    [REPORT_INK_DISTRIBUTION] = RGB(0x111111), [REPORT_INK_DASHES] = RGB(0x555555),
    [REPORT_INK_OVER] = RGB(0xF9DCCB),         [REPORT_INK_TINY] = RGB(0xFFF6DC),
    [REPORT_INK_COST] = RGB(0x0072B2),         [REPORT_INK_SLOW] = RGB(0x111111),
    [REPORT_INK_ALARM] = RGB(0xB84A00),        [REPORT_INK_WASTE] = RGB(0xE69F00),
    [REPORT_INK_OLD] = RGB(0x0072B2),          [REPORT_INK_OLD_SOON] = RGB(0x0072B2),
    [REPORT_INK_NEW] = RGB(0xF0B429),          [REPORT_INK_NEW_SOON] = RGB(0xC98700),
    [REPORT_INK_OTHER] = RGB(0x8E3B6E),        [REPORT_INK_UNKNOWN] = RGB(0xB5B5B5),
    [REPORT_INK_SPLIT] = RGB(0xF7CDB5),        [REPORT_INK_TEXT] = RGB(0x1A1A1A),
    [REPORT_INK_QUIET] = RGB(0x555555),        [REPORT_INK_AXIS] = RGB(0x777777),
    [REPORT_INK_GRID] = RGB(0xE2E2E2),         [REPORT_INK_HALO] = RGB(0xFFFFFF),
    [REPORT_INK_ZERO] = RGB(0xF0F0F0),         [REPORT_INK_PALE] = RGB(0xA9A9A9),
    [REPORT_INK_CHOSEN] = RGB(0xD55E00),       [REPORT_INK_RING] = RGB(0xD55E00),
    [REPORT_INK_HOLDS] = RGB(0x111111),        [REPORT_INK_TILE] = RGB(0x000000),
    [REPORT_INK_RANGE] = RGB(0xC9E0F0),        [REPORT_INK_MIDDLE] = RGB(0x79B4DB),
    [REPORT_INK_LINE + 0] = RGB(0x0072B2),     [REPORT_INK_LINE + 1] = RGB(0xD55E00),
    [REPORT_INK_LINE + 2] = RGB(0x009E73),     [REPORT_INK_LINE + 3] = RGB(0xB65490),
    [REPORT_INK_LINE + 4] = RGB(0xE69F00),     [REPORT_INK_LINE + 5] = RGB(0x56B4E9),
    [REPORT_INK_LINE + 6] = RGB(0x111111),     [REPORT_INK_LINE + 7] = RGB(0x8C6D1F),
    [REPORT_INK_LINE + 8] = RGB(0x8A8A8A),
};

/* An ink without strokes is not hatched. */
static const struct report_hatch hatches[REPORT_INK_COUNT] = {
    [REPORT_INK_OPEN] = {RGB(0xDCEBF5), RGB(0x5AA3CF), REPORT_STROKES_RISING},
    [REPORT_INK_OLD_SOON] = {RGB(0xDCEBF5), RGB(0x8FC1E0), REPORT_STROKES_RISING},
    [REPORT_INK_NEW_SOON] = {RGB(0xFFF1CC), RGB(0xF5D27F), REPORT_STROKES_RISING},
    [REPORT_INK_OTHER] = {RGB(0xE9C3DA), RGB(0xC078A3), REPORT_STROKES_RISING | REPORT_STROKES_FALLING},
    [REPORT_INK_UNKNOWN] = {RGB(0xFFFFFF), RGB(0xE4E4E4), REPORT_STROKES_FALLING},
};

static const char *const font_names[REPORT_FONT_COUNT] = {
    "title", "subtitle", "label",      "detail", "note",      "figure",    "alarm",
    "tick",  "stage",    "legend",     "foot",   "head",      "verdict",   "beware",
    "row",   "cell",     "cell-alarm", "small",  "tile-dark", "tile-light"};

static const char *const ink_names[REPORT_INK_COUNT] = {
    "closed", "open",  "distribution", "dashes",   "over",  "tiny",     "cost",  "slow",
    "alarm",  "waste", "old",          "old-soon", "new",   "new-soon", "other", "unknown",
    "split",  "text",  "quiet",        "axis",     "grid",  "halo",     "zero",  "pale",
    "chosen", "ring",  "holds",        "tile",     "range", "middle",   "line1", "line2",
    "line3",  "line4", "line5",        "line6",    "line7", "line8",    "line9",
};

const char *report_ink_name(enum report_ink ink)
{
    return ink_names[ink];
}

const char *report_font_name(enum report_font font)
{
    return font_names[font];
}

const struct report_font_style *report_style_font(enum report_font font)
{
    return &fonts[font];
}

struct report_colour report_style_colour(enum report_ink ink)
{
    return inks[ink];
}

/* Eleven evenly spaced colours of the 256 of cividis (Nunez, Anderton and Renslow 2018), whose lightness
 * increases evenly for all kinds of colour vision. */
struct report_colour report_style_scale(double share)
{
    static const struct report_colour stops[] = {
        RGB(0x00224E), RGB(0x0F3570), RGB(0x30466D), RGB(0x4B566E), RGB(0x616A72), RGB(0x7C7B78),
        RGB(0x958F78), RGB(0xB0A172), RGB(0xCBBA69), RGB(0xE6D256), RGB(0xFEE838),
    };
    enum { LAST = sizeof stops / sizeof stops[0] - 1 };
    double place = share * LAST;
    int index = place < 0 ? 0 : place >= LAST ? LAST - 1 : (int)place;
    double part = place < 0 ? 0 : place > LAST ? 1 : place - index;
    const struct report_colour *from = &stops[index], *to = &stops[index + 1];
    return (struct report_colour){from->red + part * (to->red - from->red),
                                  from->green + part * (to->green - from->green),
                                  from->blue + part * (to->blue - from->blue)};
}

enum report_font report_style_scale_font(double share)
{
    /* At this share, white and black text both have a contrast of 4.5 to 1. At any other share, one of them
     * has a higher contrast. */
    static const double middle = 0.465;
    return share < middle ? REPORT_FONT_TILE_LIGHT : REPORT_FONT_TILE_DARK;
}

struct report_hatch report_style_hatch(enum report_ink ink)
{
    return hatches[ink];
}

bool report_style_is_hatched(enum report_ink ink)
{
    return hatches[ink].strokes != 0;
}

bool report_style_is_line(enum report_ink ink)
{
    return ink >= REPORT_INK_LINE && ink <= REPORT_INK_LINE_LAST;
}

enum report_marker report_style_marker(enum report_ink ink)
{
    static const enum report_marker markers[REPORT_CURVES_MAX] = {
        REPORT_MARKER_DISC,    REPORT_MARKER_SQUARE, REPORT_MARKER_RISING,
        REPORT_MARKER_DIAMOND, REPORT_MARKER_RING,   REPORT_MARKER_FRAME,
        REPORT_MARKER_CROSS,   REPORT_MARKER_KITE,   REPORT_MARKER_FALLING,
    };
    if (report_style_is_line(ink)) {
        return markers[ink - REPORT_INK_LINE];
    }
    return ink == REPORT_INK_PALE     ? REPORT_MARKER_RING
           : ink == REPORT_INK_CHOSEN ? REPORT_MARKER_DIAMOND
                                      : REPORT_MARKER_DISC;
}

size_t report_style_corners(enum report_marker marker, struct report_point corners[REPORT_CORNERS_MAX])
{
    /* The sizes are chosen so that the shapes appear equally large. */
    static const struct {
        size_t count;
        struct report_point corners[REPORT_CORNERS_MAX];
    } shapes[] = {
        [REPORT_MARKER_SQUARE] = {4, {{0.07, 0.07}, {0.93, 0.07}, {0.93, 0.93}, {0.07, 0.93}}},
        [REPORT_MARKER_RISING] = {3, {{0.5, -0.06}, {1.04, 0.92}, {-0.04, 0.92}}},
        [REPORT_MARKER_DIAMOND] = {4, {{0.5, -0.1}, {1.1, 0.5}, {0.5, 1.1}, {-0.1, 0.5}}},
        [REPORT_MARKER_FALLING] = {3, {{0.5, 1.06}, {1.04, 0.08}, {-0.04, 0.08}}},
        [REPORT_MARKER_FRAME] = {4, {{0.1, 0.1}, {0.9, 0.1}, {0.9, 0.9}, {0.1, 0.9}}},
        [REPORT_MARKER_KITE] = {4, {{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}}},
    };
    memcpy(corners, shapes[marker].corners, sizeof shapes[marker].corners);
    return shapes[marker].count;
}
