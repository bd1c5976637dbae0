/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes elements, numbers and paths of an SVG. Paths use relative steps between positions that are rounded
 * to hundredths, so that rounding errors do not accumulate. */
#include "svg_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_SIZE = 32 };

static void check(struct report_svg *svg, int written)
{
    svg->is_fine = svg->is_fine && written >= 0;
}

void report_svg_open(struct report_svg *svg, const char *name)
{
    check(svg, xmlTextWriterStartElement(svg->writer, (const xmlChar *)name));
}

void report_svg_close(struct report_svg *svg)
{
    check(svg, xmlTextWriterEndElement(svg->writer));
}

void report_svg_attribute(struct report_svg *svg, const char *name, const char *value)
{
    check(svg, xmlTextWriterWriteAttribute(svg->writer, (const xmlChar *)name, (const xmlChar *)value));
}

/* Not printf() of a double, because its decimal point depends on the locale. */
static void write_hundredths(long long value, char *out)
{
    const long long size = value < 0 ? -value : value;
    const int part = (int)(size % 100);
    int used = snprintf(out, NUMBER_SIZE, "%s", value < 0 ? "-" : "");
    if (size >= 100 || part == 0) {
        used += snprintf(out + used, (size_t)(NUMBER_SIZE - used), "%lld", size / 100);
    }
    if (part != 0) {
        snprintf(out + used, (size_t)(NUMBER_SIZE - used), part % 10 == 0 ? ".%d" : ".%02d",
                 part % 10 == 0 ? part / 10 : part);
    }
}

static long long hundredths(double value)
{
    return llround(value * 100);
}

void report_svg_number(struct report_svg *svg, const char *name, double value)
{
    char text[NUMBER_SIZE];
    write_hundredths(hundredths(value), text);
    report_svg_attribute(svg, name, text);
}

void report_svg_upright(struct report_svg *svg, double x, double y)
{
    char first[NUMBER_SIZE], second[NUMBER_SIZE], text[2 * NUMBER_SIZE + 32];
    write_hundredths(hundredths(x), first);
    write_hundredths(hundredths(y), second);
    snprintf(text, sizeof text, "translate(%s %s)rotate(-90)", first, second);
    report_svg_attribute(svg, "transform", text);
}

void report_svg_say(struct report_svg *svg, const char *text)
{
    check(svg, xmlTextWriterWriteString(svg->writer, (const xmlChar *)text));
}

void report_svg_path_begin(struct report_svg *svg)
{
    check(svg, xmlTextWriterStartAttribute(svg->writer, (const xmlChar *)"d"));
}

void report_svg_path_end(struct report_svg *svg)
{
    check(svg, xmlTextWriterEndAttribute(svg->writer));
}

/* Writes `text`, which has no characters that need escaping. */
static void raw(struct report_svg *svg, const char *text)
{
    check(svg, xmlTextWriterWriteRaw(svg->writer, (const xmlChar *)text));
}

static void pair(struct report_svg *svg, char command, long long x, long long y)
{
    char first[NUMBER_SIZE], second[NUMBER_SIZE], text[2 * NUMBER_SIZE + 4];
    write_hundredths(x, first);
    write_hundredths(y, second);
    snprintf(text, sizeof text, "%c%s%s%s", command, first, y < 0 ? "" : " ", second);
    raw(svg, text);
}

static void move_to(struct report_svg *svg, double x, double y)
{
    svg->x = hundredths(x);
    svg->y = hundredths(y);
    pair(svg, 'M', svg->x, svg->y);
}

void report_svg_path_box(struct report_svg *svg, const struct report_box *box)
{
    const long long width = hundredths(box->x + box->width) - hundredths(box->x);
    const long long height = hundredths(box->y + box->height) - hundredths(box->y);
    char right[NUMBER_SIZE], down[NUMBER_SIZE], left[NUMBER_SIZE], text[3 * NUMBER_SIZE + 8];
    move_to(svg, box->x, box->y);
    write_hundredths(width, right);
    write_hundredths(height, down);
    write_hundredths(-width, left);
    snprintf(text, sizeof text, "h%sv%sh%sz", right, down, left);
    raw(svg, text);
}

static void step_to(struct report_svg *svg, double x, double y)
{
    const long long dx = hundredths(x) - svg->x, dy = hundredths(y) - svg->y;
    char text[NUMBER_SIZE + 1];
    if (dy == 0 || dx == 0) {
        text[0] = dy == 0 ? 'h' : 'v';
        write_hundredths(dy == 0 ? dx : dy, text + 1);
        raw(svg, text);
    } else {
        pair(svg, 'l', dx, dy);
    }
    svg->x += dx;
    svg->y += dy;
}

void report_svg_path_line(struct report_svg *svg, const struct report_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0) {
            move_to(svg, points[i].x, points[i].y);
        } else {
            step_to(svg, points[i].x, points[i].y);
        }
    }
}

/* Writes a disc as two semicircles. */
static void write_disc(struct report_svg *svg, const struct report_box *box)
{
    char radius[NUMBER_SIZE], size[NUMBER_SIZE], back[NUMBER_SIZE], text[6 * NUMBER_SIZE + 32];
    move_to(svg, box->x, box->y + box->width / 2);
    write_hundredths(hundredths(box->width / 2), radius);
    write_hundredths(hundredths(box->width), size);
    write_hundredths(-hundredths(box->width), back);
    snprintf(text, sizeof text, "a%s %s 0 1 1 %s 0a%s %s 0 1 1 %s 0z", radius, radius, size, radius, radius,
             back);
    raw(svg, text);
}

void report_svg_path_marker(struct report_svg *svg, const struct report_box *box, enum report_marker marker)
{
    if (marker == REPORT_MARKER_DISC || marker == REPORT_MARKER_RING) {
        write_disc(svg, box);
        return;
    }
    if (marker == REPORT_MARKER_CROSS) {
        const double right = box->x + box->width, bottom = box->y + box->width;
        const struct report_point strokes[] = {
            {box->x, box->y}, {right, bottom}, {right, box->y}, {box->x, bottom}};
        report_svg_path_line(svg, strokes, 2);
        report_svg_path_line(svg, strokes + 2, 2);
        return;
    }
    struct report_point corners[REPORT_CORNERS_MAX];
    const size_t count = report_style_corners(marker, corners);
    for (size_t i = 0; i < count; i++) {
        corners[i] =
            (struct report_point){box->x + box->width * corners[i].x, box->y + box->width * corners[i].y};
    }
    report_svg_path_line(svg, corners, count);
    raw(svg, "z");
}
