/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page_svg.h"

#include <math.h>

static bool write_mark(xmlTextWriterPtr writer, const struct report_scene *scene,
                       const struct report_mark *mark);
static bool attribute(xmlTextWriterPtr writer, const char *name, const char *value);
static const char *colour_text(struct report_arena *arena, struct report_colour colour);

bool report_page_svg(xmlTextWriterPtr writer, const struct report_chart *chart,
                     const struct report_scene *scene, const char *id)
{
    struct report_arena *arena = scene->arena;
    bool ok =
        xmlTextWriterStartElement(writer, (const xmlChar *)"svg") >= 0 && attribute(writer, "id", id) &&
        attribute(writer, "class", "chart-svg") &&
        attribute(writer, "viewBox", report_text(arena, "0 0 %.6g %.6g", scene->width, scene->height)) &&
        attribute(writer, "role", "img") && attribute(writer, "aria-label", chart->title);
    for (size_t i = 0; ok && i < scene->count; i++) {
        ok = write_mark(writer, scene, &scene->marks[i]);
    }
    return ok && xmlTextWriterFullEndElement(writer) >= 0;
}

static bool write_mark(xmlTextWriterPtr writer, const struct report_scene *scene,
                       const struct report_mark *mark)
{
    struct report_arena *arena = scene->arena;
    const struct report_box *box = &mark->box;
    const char *colour = colour_text(arena, report_style_colour(mark->ink));
    switch (mark->shape) {
    case REPORT_SHAPE_LINE:
    case REPORT_SHAPE_DASHED:
        return xmlTextWriterStartElement(writer, (const xmlChar *)"path") >= 0 &&
               attribute(writer, "d",
                         report_text(arena, "M%.6g %.6gL%.6g %.6g", box->x, box->y, box->x + box->width,
                                     box->y + box->height)) &&
               attribute(writer, "stroke", colour) && xmlTextWriterEndElement(writer) >= 0;
    case REPORT_SHAPE_CURVE: {
        const char *path = "";
        for (size_t i = 0; i < mark->point_count; i++) {
            path = report_text(arena, "%s%s%.6g %.6g", path, i == 0 ? "M" : "L", mark->points[i].x,
                               mark->points[i].y);
        }
        return xmlTextWriterStartElement(writer, (const xmlChar *)"path") >= 0 &&
               attribute(writer, "d", path) && attribute(writer, "fill", "none") &&
               attribute(writer, "stroke", colour) && xmlTextWriterEndElement(writer) >= 0;
    }
    case REPORT_SHAPE_TEXT: {
        const struct report_font_style *font = report_style_font(mark->type.font);
        return xmlTextWriterStartElement(writer, (const xmlChar *)"text") >= 0 &&
               attribute(writer, "x", report_text(arena, "%.6g", box->x)) &&
               attribute(writer, "y", report_text(arena, "%.6g", box->y + font->size)) &&
               attribute(writer, "font-size", report_text(arena, "%.6g", font->size)) &&
               attribute(writer, "fill", colour_text(arena, report_style_colour(font->ink))) &&
               xmlTextWriterWriteString(writer, (const xmlChar *)mark->type.text) >= 0 &&
               xmlTextWriterEndElement(writer) >= 0;
    }
    default:
        return xmlTextWriterStartElement(writer, (const xmlChar *)"rect") >= 0 &&
               attribute(writer, "x", report_text(arena, "%.6g", box->x)) &&
               attribute(writer, "y", report_text(arena, "%.6g", box->y)) &&
               attribute(writer, "width", report_text(arena, "%.6g", box->width)) &&
               attribute(writer, "height", report_text(arena, "%.6g", box->height)) &&
               attribute(writer, "fill",
                         mark->shape == REPORT_SHAPE_TILE
                             ? colour_text(arena, report_style_scale(mark->shade))
                             : colour) &&
               xmlTextWriterEndElement(writer) >= 0;
    }
}

static bool attribute(xmlTextWriterPtr writer, const char *name, const char *value)
{
    return xmlTextWriterWriteAttribute(writer, (const xmlChar *)name, (const xmlChar *)value) >= 0;
}

static const char *colour_text(struct report_arena *arena, struct report_colour colour)
{
    return report_text(arena, "#%02x%02x%02x", (unsigned)lround(255 * colour.red),
                       (unsigned)lround(255 * colour.green), (unsigned)lround(255 * colour.blue));
}
