/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures and draws text with Pango. It uses fixed settings, so that lines are broken in the same way on
 * every machine. */
#include "reports/typeset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pango/pangocairo.h>

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
