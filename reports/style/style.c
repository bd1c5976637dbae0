/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The style of charts: tables of fonts, colours, hatches and markers. In: texts. Out: their sizes and lines
 * as Pango sets them, with fixed settings, so that lines are broken in the same way on every machine. */
#include "reports/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pango/pangocairo.h>

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
    "title",  "subtitle", "label", "detail",  "note",   "figure", "alarm", "tick",       "stage",
    "legend", "foot",     "head",  "verdict", "beware", "row",    "cell",  "cell-alarm", "small"};

static const char *const ink_names[REPORT_INK_COUNT] = {
    "closed", "open",  "distribution", "dashes",   "over",  "tiny",     "cost",  "slow",
    "alarm",  "waste", "old",          "old-soon", "new",   "new-soon", "other", "unknown",
    "split",  "text",  "quiet",        "axis",     "grid",  "halo",     "zero",  "pale",
    "chosen", "ring",  "range",        "middle",   "line1", "line2",    "line3", "line4",
    "line5",  "line6", "line7",        "line8",    "line9",
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

struct report_typesetter {
    PangoFontMap *map;
    PangoContext *context;
};

static PangoFontDescription *describe(enum report_font font)
{
    const struct report_font_style *style = report_style_font(font);
    PangoFontDescription *description = pango_font_description_new();
    pango_font_description_set_family_static(description, REPORT_FONT_FAMILY);
    pango_font_description_set_absolute_size(description, style->size * PANGO_SCALE);
    pango_font_description_set_weight(description, style->is_bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    /* The package fonts-dejavu-core has no oblique sans-serif font; Pango then slants the upright one. */
    pango_font_description_set_style(description,
                                     style->is_italic ? PANGO_STYLE_OBLIQUE : PANGO_STYLE_NORMAL);
    return description;
}

/* Pango terminates the process if it has to draw text and finds no font, so this is checked first. */
static bool has_a_font(struct report_typesetter *typesetter)
{
    PangoFontFamily **families = NULL;
    int count = 0;
    pango_font_map_list_families(typesetter->map, &families, &count);
    g_free(families);
    if (count == 0) {
        return false;
    }
    PangoFontDescription *description = describe(REPORT_FONT_TICK);
    PangoFont *font = pango_font_map_load_font(typesetter->map, typesetter->context, description);
    pango_font_description_free(description);
    if (font == NULL) {
        return false;
    }
    g_object_unref(font);
    return true;
}

struct report_typesetter *report_typesetter_create(struct sim_error *error)
{
    struct report_typesetter *typesetter = calloc(1, sizeof *typesetter);
    if (typesetter == NULL) {
        sim_fail_memory(error);
        return NULL;
    }
    typesetter->map = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT);
    if (typesetter->map == NULL) {
        free(typesetter);
        sim_fail(error, SIM_ERROR_ENVIRONMENT,
                 "charts: this Cairo has no FreeType fonts; install Debian's libcairo2");
        return NULL;
    }
    pango_cairo_font_map_set_resolution(PANGO_CAIRO_FONT_MAP(typesetter->map), 72);
    typesetter->context = pango_font_map_create_context(typesetter->map);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(typesetter->context, options);
    cairo_font_options_destroy(options);
    /* The default language would depend on the environment and the locale. */
    pango_context_set_language(typesetter->context, pango_language_from_string("en"));
    pango_context_set_base_dir(typesetter->context, PANGO_DIRECTION_LTR);
    pango_context_set_round_glyph_positions(typesetter->context, FALSE);
    if (!has_a_font(typesetter)) {
        report_typesetter_destroy(typesetter);
        sim_fail(error, SIM_ERROR_ENVIRONMENT,
                 "charts: there is no font on this machine; install fonts-dejavu-core");
        return NULL;
    }
    return typesetter;
}

void report_typesetter_destroy(struct report_typesetter *typesetter)
{
    if (typesetter != NULL) {
        g_object_unref(typesetter->context);
        g_object_unref(typesetter->map);
        free(typesetter);
    }
}

static PangoLayout *set(struct report_typesetter *typesetter, const struct report_type *type)
{
    PangoLayout *layout = pango_layout_new(typesetter->context);
    PangoFontDescription *description = describe(type->font);
    pango_layout_set_font_description(layout, description);
    pango_font_description_free(description);
    pango_layout_set_auto_dir(layout, FALSE);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_text(layout, type->text, -1);
    /* A hyphen that is inserted at a line break would look like part of a name. */
    PangoAttrList *attributes = pango_attr_list_new();
    pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
    pango_layout_set_attributes(layout, attributes);
    pango_attr_list_unref(attributes);
    if (type->width > 0) {
        pango_layout_set_width(layout, (int)floor(type->width * PANGO_SCALE));
        pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
        pango_layout_set_height(layout, -type->lines);
        pango_layout_set_ellipsize(layout, type->lines == 1 ? PANGO_ELLIPSIZE_MIDDLE : PANGO_ELLIPSIZE_END);
    }
    return layout;
}

struct report_extent report_typeset_measure(struct report_typesetter *typesetter,
                                            const struct report_type *type)
{
    PangoLayout *layout = set(typesetter, type);
    PangoRectangle logical;
    pango_layout_get_extents(layout, NULL, &logical);
    struct report_extent extent = {
        .width = (double)(logical.x + logical.width) / PANGO_SCALE,
        .height = (double)logical.height / PANGO_SCALE,
        .baseline = (double)pango_layout_get_baseline(layout) / PANGO_SCALE,
    };
    g_object_unref(layout);
    return extent;
}

void report_typeset_draw(struct report_typesetter *typesetter, cairo_t *cairo, const struct report_type *type,
                         double x, double y)
{
    PangoLayout *layout = set(typesetter, type);
    struct report_colour colour = report_style_colour(report_style_font(type->font)->ink);
    cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
    cairo_move_to(cairo, x, y);
    pango_cairo_show_layout(cairo, layout);
    g_object_unref(layout);
}

/* Returns the first run that begins after byte `from`. */
static PangoGlyphItem *next_run(PangoLayoutLine *line, int from)
{
    PangoGlyphItem *next = NULL;
    for (GSList *at = line->runs; at != NULL; at = at->next) {
        PangoGlyphItem *run = at->data;
        if (run->item->offset > from && (next == NULL || run->item->offset < next->item->offset)) {
            next = run;
        }
    }
    return next;
}

/* Pango's runs are in visual order, but the result is in logical order. */
static const char *text_of(PangoLayoutLine *line, const char *text, struct report_arena *arena)
{
    static const char ellipsis[] = "\xE2\x80\xA6";
    char *out = report_take(arena, strlen(text) + sizeof ellipsis, 1);
    if (out == NULL) {
        return "";
    }
    size_t used = 0;
    for (PangoGlyphItem *run = next_run(line, -1); run != NULL; run = next_run(line, run->item->offset)) {
        const bool is_cut = (run->item->analysis.flags & PANGO_ANALYSIS_FLAG_IS_ELLIPSIS) != 0;
        const char *part = is_cut ? ellipsis : text + run->item->offset;
        const size_t size = is_cut ? sizeof ellipsis - 1 : (size_t)run->item->length;
        memcpy(out + used, part, size);
        used += size;
    }
    /* Removes the space at which the line was broken. */
    while (used > 0 && out[used - 1] == ' ') {
        used--;
    }
    out[used] = 0;
    return out;
}

struct report_set_line *report_typeset_lines(struct report_typesetter *typesetter,
                                             const struct report_type *type, struct report_arena *arena,
                                             size_t *count)
{
    PangoLayout *layout = set(typesetter, type);
    const int line_count = pango_layout_get_line_count(layout);
    struct report_set_line *lines = report_take(arena, (size_t)line_count, sizeof *lines);
    *count = lines != NULL ? (size_t)line_count : 0;
    PangoLayoutIter *place = pango_layout_get_iter(layout);
    for (size_t i = 0; i < *count; i++) {
        PangoRectangle logical;
        pango_layout_iter_get_line_extents(place, NULL, &logical);
        lines[i] = (struct report_set_line){
            .text = text_of(pango_layout_iter_get_line_readonly(place), type->text, arena),
            .x = (double)logical.x / PANGO_SCALE,
            .baseline = (double)pango_layout_iter_get_baseline(place) / PANGO_SCALE,
            .width = (double)logical.width / PANGO_SCALE,
        };
        pango_layout_iter_next_line(place);
    }
    pango_layout_iter_free(place);
    g_object_unref(layout);
    return lines;
}
