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

const struct report_font_style report_fonts[REPORT_FONT_COUNT] = {
    [REPORT_FONT_TITLE] = {"title", 17, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_SUBTITLE] = {"subtitle", 11, false, false, REPORT_INK_QUIET},
    [REPORT_FONT_LABEL] = {"label", 11.5, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_DETAIL] = {"detail", 10.5, false, false, REPORT_INK_QUIET},
    [REPORT_FONT_NOTE] = {"note", 10, false, true, REPORT_INK_TEXT},
    [REPORT_FONT_FIGURE] = {"figure", 10, false, false, REPORT_INK_TEXT},
    [REPORT_FONT_ALARM] = {"alarm", 10, true, false, REPORT_INK_ALARM},
    [REPORT_FONT_TICK] = {"tick", 9.5, false, false, REPORT_INK_QUIET},
    [REPORT_FONT_STAGE] = {"stage", 9.5, false, true, REPORT_INK_TEXT},
    [REPORT_FONT_LEGEND] = {"legend", 10, false, false, REPORT_INK_TEXT},
    [REPORT_FONT_FOOT] = {"foot", 9, false, false, REPORT_INK_QUIET},
    [REPORT_FONT_HEAD] = {"head", 22, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_VERDICT] = {"verdict", 15, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_BEWARE] = {"beware", 13, false, false, REPORT_INK_TEXT},
    [REPORT_FONT_ROW] = {"row", 14, true, false, REPORT_INK_TEXT},
    [REPORT_FONT_CELL] = {"cell", 14, false, false, REPORT_INK_TEXT},
    [REPORT_FONT_CELL_ALARM] = {"cell-alarm", 14, true, false, REPORT_INK_ALARM},
    [REPORT_FONT_SMALL] = {"small", 11.5, false, false, REPORT_INK_QUIET},
};

/* The marks use Okabe and Ito's palette (blue, vermilion, orange, purple), which colour-blind readers can
 * distinguish. In greyscale print the shades are light, closed bars dark and open bars hatched, and the
 * distribution has a halo. Of the buckets that agents believe to be current, the old one is dark, the new one
 * light and any other one cross-hatched. */
const struct report_ink_style report_inks[REPORT_INK_COUNT] = {
    [REPORT_INK_CLOSED] = {.name = "closed", .colour = RGB(0x0072B2)},
    [REPORT_INK_OPEN] = {"open", RGB(0x0072B2), RGB(0xDCEBF5), RGB(0x5AA3CF), REPORT_STROKES_RISING,
                         REPORT_MARKER_DISC},
    [REPORT_INK_DISTRIBUTION] = {.name = "distribution", .colour = RGB(0x111111)},
    [REPORT_INK_DASHES] = {.name = "dashes", .colour = RGB(0x555555)},
    [REPORT_INK_OVER] = {.name = "over", .colour = RGB(0xF9DCCB)},
    [REPORT_INK_TINY] = {.name = "tiny", .colour = RGB(0xFFF6DC)},
    [REPORT_INK_COST] = {.name = "cost", .colour = RGB(0x0072B2)},
    [REPORT_INK_SLOW] = {.name = "slow", .colour = RGB(0x111111)},
    [REPORT_INK_ALARM] = {.name = "alarm", .colour = RGB(0xB84A00)},
    [REPORT_INK_WASTE] = {.name = "waste", .colour = RGB(0xE69F00)},
    [REPORT_INK_OLD] = {.name = "old", .colour = RGB(0x0072B2)},
    [REPORT_INK_OLD_SOON] = {"old-soon", RGB(0x0072B2), RGB(0xDCEBF5), RGB(0x8FC1E0), REPORT_STROKES_RISING,
                             REPORT_MARKER_DISC},
    [REPORT_INK_NEW] = {.name = "new", .colour = RGB(0xF0B429)},
    [REPORT_INK_NEW_SOON] = {"new-soon", RGB(0xC98700), RGB(0xFFF1CC), RGB(0xF5D27F), REPORT_STROKES_RISING,
                             REPORT_MARKER_DISC},
    [REPORT_INK_OTHER] = {"other", RGB(0x8E3B6E), RGB(0xE9C3DA), RGB(0xC078A3),
                          REPORT_STROKES_RISING | REPORT_STROKES_FALLING, REPORT_MARKER_DISC},
    [REPORT_INK_UNKNOWN] = {"unknown", RGB(0xB5B5B5), RGB(0xFFFFFF), RGB(0xE4E4E4), REPORT_STROKES_FALLING,
                            REPORT_MARKER_DISC},
    [REPORT_INK_SPLIT] = {.name = "split", .colour = RGB(0xF7CDB5)},
    [REPORT_INK_TEXT] = {.name = "text", .colour = RGB(0x1A1A1A)},
    [REPORT_INK_QUIET] = {.name = "quiet", .colour = RGB(0x555555)},
    [REPORT_INK_AXIS] = {.name = "axis", .colour = RGB(0x777777)},
    [REPORT_INK_GRID] = {.name = "grid", .colour = RGB(0xE2E2E2)},
    [REPORT_INK_HALO] = {.name = "halo", .colour = RGB(0xFFFFFF)},
    [REPORT_INK_ZERO] = {.name = "zero", .colour = RGB(0xF0F0F0)},
    [REPORT_INK_PALE] = {.name = "pale", .colour = RGB(0xA9A9A9), .marker = REPORT_MARKER_RING},
    [REPORT_INK_CHOSEN] = {.name = "chosen", .colour = RGB(0xD55E00), .marker = REPORT_MARKER_DIAMOND},
    [REPORT_INK_RANGE] = {.name = "range", .colour = RGB(0xC9E0F0)},
    [REPORT_INK_MIDDLE] = {.name = "middle", .colour = RGB(0x79B4DB)},
    [REPORT_INK_LINE + 0] = {.name = "line1", .colour = RGB(0x0072B2)},
    [REPORT_INK_LINE + 1] = {.name = "line2", .colour = RGB(0xD55E00), .marker = REPORT_MARKER_SQUARE},
    [REPORT_INK_LINE + 2] = {.name = "line3", .colour = RGB(0x009E73), .marker = REPORT_MARKER_RISING},
    [REPORT_INK_LINE + 3] = {.name = "line4", .colour = RGB(0xB65490), .marker = REPORT_MARKER_DIAMOND},
    [REPORT_INK_LINE + 4] = {.name = "line5", .colour = RGB(0xE69F00), .marker = REPORT_MARKER_RING},
    [REPORT_INK_LINE + 5] = {.name = "line6", .colour = RGB(0x56B4E9), .marker = REPORT_MARKER_FRAME},
    [REPORT_INK_LINE + 6] = {.name = "line7", .colour = RGB(0x111111), .marker = REPORT_MARKER_CROSS},
    [REPORT_INK_LINE + 7] = {.name = "line8", .colour = RGB(0x8C6D1F), .marker = REPORT_MARKER_KITE},
    [REPORT_INK_LINE + 8] = {.name = "line9", .colour = RGB(0x8A8A8A), .marker = REPORT_MARKER_FALLING},
};

/* The sizes are chosen so that the shapes appear equally large. */
const struct report_marker_style report_markers[] = {
    [REPORT_MARKER_DISC] = {false, 0, {{0, 0}}},
    [REPORT_MARKER_SQUARE] = {false, 4, {{0.07, 0.07}, {0.93, 0.07}, {0.93, 0.93}, {0.07, 0.93}}},
    [REPORT_MARKER_RISING] = {false, 3, {{0.5, -0.06}, {1.04, 0.92}, {-0.04, 0.92}}},
    [REPORT_MARKER_DIAMOND] = {false, 4, {{0.5, -0.1}, {1.1, 0.5}, {0.5, 1.1}, {-0.1, 0.5}}},
    [REPORT_MARKER_FALLING] = {false, 3, {{0.5, 1.06}, {1.04, 0.08}, {-0.04, 0.08}}},
    [REPORT_MARKER_CROSS] = {false, 0, {{0, 0}}},
    [REPORT_MARKER_RING] = {true, 0, {{0, 0}}},
    [REPORT_MARKER_FRAME] = {true, 4, {{0.1, 0.1}, {0.9, 0.1}, {0.9, 0.9}, {0.1, 0.9}}},
    [REPORT_MARKER_KITE] = {true, 4, {{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}}},
};

struct report_typesetter {
    PangoLayout *layout; /* of one text after the other */
};

static PangoFontDescription *describe(enum report_font font)
{
    const struct report_font_style *style = &report_fonts[font];
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
static bool has_a_font(PangoFontMap *map, PangoContext *context)
{
    PangoFontFamily **families = NULL;
    int count = 0;
    pango_font_map_list_families(map, &families, &count);
    g_free(families);
    if (count == 0)
        return false;
    PangoFontDescription *description = describe(REPORT_FONT_TICK);
    PangoFont *font = pango_font_map_load_font(map, context, description);
    pango_font_description_free(description);
    if (font == NULL)
        return false;
    g_object_unref(font);
    return true;
}

static PangoContext *make_context(PangoFontMap *map)
{
    pango_cairo_font_map_set_resolution(PANGO_CAIRO_FONT_MAP(map), 72);
    PangoContext *context = pango_font_map_create_context(map);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    pango_cairo_context_set_font_options(context, options);
    cairo_font_options_destroy(options);
    /* The default language would depend on the environment and the locale. */
    pango_context_set_language(context, pango_language_from_string("en"));
    pango_context_set_base_dir(context, PANGO_DIRECTION_LTR);
    pango_context_set_round_glyph_positions(context, FALSE);
    return context;
}

struct report_typesetter *report_typesetter_create(struct sim_error *error)
{
    PangoFontMap *map = pango_cairo_font_map_new_for_font_type(CAIRO_FONT_TYPE_FT);
    if (map == NULL) {
        sim_fail(error, SIM_ERROR_ENVIRONMENT,
                 "charts: this Cairo has no FreeType fonts; install Debian's libcairo2");
        return NULL;
    }
    struct report_typesetter *typesetter = NULL;
    PangoContext *context = make_context(map);
    if (!has_a_font(map, context)) {
        sim_fail(error, SIM_ERROR_ENVIRONMENT,
                 "charts: there is no font on this machine; install fonts-dejavu-core");
    } else {
        typesetter = g_new(struct report_typesetter, 1);
        typesetter->layout = pango_layout_new(context);
        pango_layout_set_auto_dir(typesetter->layout, FALSE);
        pango_layout_set_single_paragraph_mode(typesetter->layout, TRUE);
        pango_layout_set_wrap(typesetter->layout, PANGO_WRAP_WORD_CHAR);
        /* A hyphen that is inserted at a line break would look like part of a name. */
        PangoAttrList *attributes = pango_attr_list_new();
        pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(FALSE));
        pango_layout_set_attributes(typesetter->layout, attributes);
        pango_attr_list_unref(attributes);
    }
    g_object_unref(context);
    g_object_unref(map);
    return typesetter;
}

void report_typesetter_destroy(struct report_typesetter *typesetter)
{
    if (typesetter != NULL) {
        g_object_unref(typesetter->layout);
        g_free(typesetter);
    }
}

static PangoLayout *set(struct report_typesetter *typesetter, const struct report_type *type)
{
    PangoLayout *layout = typesetter->layout;
    PangoFontDescription *description = describe(type->font);
    const bool is_limited = type->width > 0;
    pango_layout_set_font_description(layout, description);
    pango_font_description_free(description);
    pango_layout_set_text(layout, type->text, -1);
    pango_layout_set_width(layout, is_limited ? (int)floor(type->width * PANGO_SCALE) : -1);
    pango_layout_set_height(layout, is_limited ? -type->lines : -1);
    pango_layout_set_ellipsize(layout, !is_limited        ? PANGO_ELLIPSIZE_NONE
                                       : type->lines == 1 ? PANGO_ELLIPSIZE_MIDDLE
                                                          : PANGO_ELLIPSIZE_END);
    return layout;
}

struct report_extent report_typeset_measure(struct report_typesetter *typesetter,
                                            const struct report_type *type)
{
    PangoLayout *layout = set(typesetter, type);
    PangoRectangle logical;
    pango_layout_get_extents(layout, NULL, &logical);
    return (struct report_extent){
        .width = (double)(logical.x + logical.width) / PANGO_SCALE,
        .height = (double)logical.height / PANGO_SCALE,
        .baseline = (double)pango_layout_get_baseline(layout) / PANGO_SCALE,
    };
}

void report_typeset_draw(struct report_typesetter *typesetter, cairo_t *cairo, const struct report_type *type,
                         double x, double y)
{
    const struct report_colour *colour = &report_inks[report_fonts[type->font].ink].colour;
    cairo_set_source_rgb(cairo, colour->red, colour->green, colour->blue);
    cairo_move_to(cairo, x, y);
    pango_cairo_show_layout(cairo, set(typesetter, type));
}

/* Returns the first run that begins after byte `from`. */
static PangoGlyphItem *next_run(PangoLayoutLine *line, int from)
{
    PangoGlyphItem *next = NULL;
    for (GSList *at = line->runs; at != NULL; at = at->next) {
        PangoGlyphItem *run = at->data;
        if (run->item->offset > from && (next == NULL || run->item->offset < next->item->offset))
            next = run;
    }
    return next;
}

/* Pango's runs are in visual order, but the result is in logical order. */
static const char *text_of(PangoLayoutLine *line, const char *text, struct report_arena *arena)
{
    const char *out = "";
    for (PangoGlyphItem *run = next_run(line, -1); run != NULL; run = next_run(line, run->item->offset)) {
        const bool is_cut = (run->item->analysis.flags & PANGO_ANALYSIS_FLAG_IS_ELLIPSIS) != 0;
        out = is_cut ? report_text(arena, "%s…", out)
                     : report_text(arena, "%s%.*s", out, run->item->length, text + run->item->offset);
    }
    /* Without the space at which the line was broken. */
    size_t length = strlen(out);
    while (length > 0 && out[length - 1] == ' ')
        length--;
    return report_text(arena, "%.*s", (int)length, out);
}

struct report_set_line *report_typeset_lines(struct report_typesetter *typesetter,
                                             const struct report_type *type, struct report_arena *arena,
                                             size_t *count)
{
    PangoLayout *layout = set(typesetter, type);
    *count = (size_t)pango_layout_get_line_count(layout);
    struct report_set_line *lines = report_take(arena, *count, sizeof *lines);
    for (size_t i = 0; i < *count; i++)
        lines[i].text = text_of(pango_layout_get_line_readonly(layout, (int)i), type->text, arena);
    PangoLayoutIter *place = pango_layout_get_iter(layout);
    for (size_t i = 0; i < *count; i++) {
        PangoRectangle logical;
        pango_layout_iter_get_line_extents(place, NULL, &logical);
        lines[i].x = (double)logical.x / PANGO_SCALE;
        lines[i].baseline = (double)pango_layout_iter_get_baseline(place) / PANGO_SCALE;
        lines[i].width = (double)logical.width / PANGO_SCALE;
        pango_layout_iter_next_line(place);
    }
    pango_layout_iter_free(place);
    return lines;
}
