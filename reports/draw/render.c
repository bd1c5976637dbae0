/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renders a scene. In: the marks of a scene, in the order in which they are drawn. Out: the bytes of a PNG,
 * SVG or PDF file, drawn by Cairo. The bytes are reproducible: values that Cairo takes from the clock or from
 * the process are replaced. */
#include "reports/render.h"

#include <math.h>
#include <string.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <png.h>

#include "kernel/grow.h"
#include "kernel/time.h"

static void set_colour(cairo_t *cairo, struct report_colour colour)
{
    cairo_set_source_rgb(cairo, colour.red, colour.green, colour.blue);
}

static void put_strokes(const struct report_box *box, bool is_falling, cairo_t *cairo)
{
    /* A falling stroke is a rising stroke on a vertically mirrored page. */
    const double sign = is_falling ? -1 : 1;
    const double top = is_falling ? -(box->y + box->height) : box->y;
    const double bottom = top + box->height;
    const double right = box->x + box->width;
    for (double sum = ceil((box->x + top) / REPORT_HATCH_PITCH) * REPORT_HATCH_PITCH; sum < right + bottom;
         sum += REPORT_HATCH_PITCH) {
        double from = fmax(box->x, sum - bottom);
        double to = fmin(right, sum - top);
        cairo_move_to(cairo, from, sign * (sum - from));
        cairo_line_to(cairo, to, sign * (sum - to));
    }
}

/* Of a narrow bar, only the top edge is drawn, because with its sides it would look solid. */
static void outline(const struct report_box *box, cairo_t *cairo)
{
    const double inset = REPORT_HATCH_STROKE / 2;
    if (box->width < 3 * REPORT_HATCH_PITCH) {
        cairo_move_to(cairo, box->x, box->y + inset);
        cairo_line_to(cairo, box->x + box->width, box->y + inset);
    } else {
        cairo_rectangle(cairo, box->x + inset, box->y + inset, box->width - REPORT_HATCH_STROKE,
                        box->height - REPORT_HATCH_STROKE);
    }
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    cairo_stroke(cairo);
}

/* The strokes lie on the lines x + y = k * pitch (falling: x - y = k * pitch) of the whole page, so that they
 * continue from bar to bar. Their ends are computed here rather than clipped by Cairo, because a clip path
 * would appear in each vector file. */
static void draw_hatched(const struct report_mark *mark, cairo_t *cairo)
{
    const struct report_box *box = &mark->box;
    const struct report_ink_style *ink = &report_inks[mark->ink];
    /* A bar that is too low for strokes is filled with their mean colour. */
    const bool is_flat = box->height < REPORT_HATCH_PITCH / 2;
    set_colour(cairo, is_flat ? ink->flat : ink->fill);
    cairo_rectangle(cairo, box->x, box->y, box->width, box->height);
    cairo_fill(cairo);
    if (is_flat)
        return;
    set_colour(cairo, ink->colour);
    if (ink->strokes & REPORT_STROKES_RISING)
        put_strokes(box, false, cairo);
    if (ink->strokes & REPORT_STROKES_FALLING)
        put_strokes(box, true, cairo);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_width(cairo, REPORT_HATCH_STROKE);
    cairo_stroke(cairo);
    outline(box, cairo);
}

static void draw_line(const struct report_mark *mark, cairo_t *cairo)
{
    static const double dashes[] = {3, 2};
    cairo_set_line_width(cairo, mark->stroke);
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
    if (mark->shape == REPORT_SHAPE_DASHED)
        cairo_set_dash(cairo, dashes, 2, 0);
    cairo_move_to(cairo, mark->box.x, mark->box.y);
    cairo_line_to(cairo, mark->box.x + mark->box.width, mark->box.y + mark->box.height);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

static void draw_curve(const struct report_mark *mark, cairo_t *cairo)
{
    static const double dots[] = {1, 4};
    static const double dashes[] = {5, 3};
    /* Drawing text leaves a current point, which the first cairo_line_to() would connect to the curve. */
    cairo_new_path(cairo);
    for (size_t i = 0; i < mark->point_count; i++)
        cairo_line_to(cairo, mark->points[i].x, mark->points[i].y);
    if (mark->is_dashed)
        cairo_set_dash(cairo, dots, 2, 0);
    else if (mark->is_distribution)
        cairo_set_dash(cairo, dashes, 2, 0);
    cairo_set_line_width(cairo, mark->stroke);
    cairo_set_line_cap(cairo, mark->is_distribution ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, NULL, 0, 0);
}

static void put_polygon(const struct report_box *box, enum report_marker marker, cairo_t *cairo)
{
    static const double full_turn = 6.28318530717958647693;
    const double x = box->x;
    const double y = box->y;
    const double size = box->width;
    if (marker == REPORT_MARKER_DISC || marker == REPORT_MARKER_RING) {
        cairo_new_sub_path(cairo);
        cairo_arc(cairo, x + size / 2, y + size / 2, size / 2, 0, full_turn);
        return;
    }
    if (marker == REPORT_MARKER_CROSS) {
        cairo_move_to(cairo, x, y);
        cairo_line_to(cairo, x + size, y + size);
        cairo_move_to(cairo, x + size, y);
        cairo_line_to(cairo, x, y + size);
        return;
    }
    const struct report_marker_style *style = &report_markers[marker];
    for (size_t i = 0; i < style->corner_count; i++)
        cairo_line_to(cairo, x + size * style->corners[i].x, y + size * style->corners[i].y);
    cairo_close_path(cairo);
}

/* An outline in the paper's colour separates the marker from the lines under it. A hollow marker is filled
 * with the paper's colour. */
static void draw_marker(const struct report_mark *mark, cairo_t *cairo)
{
    const enum report_marker marker = report_inks[mark->ink].marker;
    const bool is_hollow = report_markers[marker].is_hollow;
    const bool is_open = marker == REPORT_MARKER_CROSS;
    cairo_set_line_cap(cairo, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_MITER);
    cairo_new_path(cairo);
    put_polygon(&mark->box, marker, cairo);
    set_colour(cairo, report_inks[REPORT_INK_HALO].colour);
    cairo_set_line_width(cairo, 3);
    cairo_stroke_preserve(cairo);
    if (!is_open)
        cairo_fill_preserve(cairo);
    set_colour(cairo, report_inks[mark->ink].colour);
    cairo_set_line_width(cairo, 1.5);
    if (is_open || is_hollow)
        cairo_stroke(cairo);
    else
        cairo_fill(cairo);
}

static void draw_text(const struct report_mark *mark, struct report_typesetter *typesetter, cairo_t *cairo)
{
    if (!mark->is_upright) {
        report_typeset_draw(typesetter, cairo, &mark->type, mark->box.x, mark->box.y);
        return;
    }
    static const double quarter_turn = -1.57079632679489661923;
    cairo_save(cairo);
    cairo_translate(cairo, mark->box.x, mark->box.y + mark->box.height);
    cairo_rotate(cairo, quarter_turn);
    report_typeset_draw(typesetter, cairo, &mark->type, 0, 0);
    cairo_restore(cairo);
}

/* The units of the context must be logical pixels. */
static void draw_scene(const struct report_scene *scene, struct report_typesetter *typesetter, cairo_t *cairo)
{
    set_colour(cairo, report_inks[REPORT_INK_HALO].colour);
    cairo_rectangle(cairo, 0, 0, scene->width, scene->height);
    cairo_fill(cairo);
    for (size_t i = 0; i < scene->count; i++) {
        const struct report_mark *mark = &scene->marks[i];
        set_colour(cairo, report_inks[mark->ink].colour);
        switch (mark->shape) {
        case REPORT_SHAPE_RECTANGLE:
            cairo_rectangle(cairo, mark->box.x, mark->box.y, mark->box.width, mark->box.height);
            cairo_fill(cairo);
            break;
        case REPORT_SHAPE_HATCHED:
            draw_hatched(mark, cairo);
            break;
        case REPORT_SHAPE_LINE:
        case REPORT_SHAPE_DASHED:
            draw_line(mark, cairo);
            break;
        case REPORT_SHAPE_CURVE:
            draw_curve(mark, cairo);
            break;
        case REPORT_SHAPE_MARKER:
            draw_marker(mark, cairo);
            break;
        case REPORT_SHAPE_TEXT:
            draw_text(mark, typesetter, cairo);
            break;
        case REPORT_SHAPE_HIT:
            break;
        }
    }
}

/* Where Cairo writes. Cairo's PDF surface loses the status of a write that fails, so it is kept here. */
struct sink {
    struct report_bytes *bytes;
    bool is_full;
};

static cairo_status_t keep(void *context, const unsigned char *data, unsigned int length)
{
    struct sink *sink = context;
    struct report_bytes *bytes = sink->bytes;
    if (!sim_grow(&bytes->data, &bytes->capacity, bytes->size + length, sizeof *bytes->data)) {
        sink->is_full = true;
        return CAIRO_STATUS_NO_MEMORY;
    }
    memcpy(bytes->data + bytes->size, data, length);
    bytes->size += length;
    return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *make_surface(const struct report_scene *scene, enum report_format format,
                                     struct sink *sink)
{
    switch (format) {
    case REPORT_SVG: {
        cairo_surface_t *svg = cairo_svg_surface_create_for_stream(keep, sink, scene->width, scene->height);
        cairo_svg_surface_restrict_to_version(svg, CAIRO_SVG_VERSION_1_1);
        return svg;
    }
    case REPORT_PDF: {
        cairo_surface_t *pdf = cairo_pdf_surface_create_for_stream(keep, sink, scene->width, scene->height);
        /* The oldest PDF version that Cairo writes: newer versions put the metadata into compressed
         * objects. */
        cairo_pdf_surface_restrict_to_version(pdf, CAIRO_PDF_VERSION_1_4);
        return pdf;
    }
    case REPORT_PNG:
    case REPORT_FORMAT_COUNT:
        break;
    }
    /* The image has no alpha channel, so that a dark slide does not show through it. */
    return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(scene->width * REPORT_PIXEL_SCALE),
                                      (int)ceil(scene->height * REPORT_PIXEL_SCALE));
}

/* Without explicit dates, Cairo would write the current time into the file. */
static void set_metadata(cairo_surface_t *pdf, const char *title, int64_t start_ns)
{
    char date[SIM_TIME_TEXT_SIZE];
    /* Cairo does not parse fractions of a second, so the time is rounded down to a whole second. C's % rounds
     * towards zero, hence the correction for times before 1970. */
    int64_t rest = start_ns % SIM_SECOND;
    sim_time_format(start_ns - (rest < 0 && start_ns >= INT64_MIN + SIM_SECOND ? rest + SIM_SECOND : rest),
                    date);
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_TITLE, title);
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATOR, "bucketlab");
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE, date);
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_MOD_DATE, date);
}

/* Cairo 1.16 numbers the surfaces of a process and writes that number into an id attribute that nothing
 * refers to. This function replaces the number by 0, so that the bytes do not depend on earlier surfaces. It
 * cannot change users' text, because Cairo writes text as outlines. */
static void renumber(struct report_bytes *svg)
{
    static const char prefix[] = "id=\"surface";
    const size_t length = sizeof prefix - 1;
    size_t used = 0;
    for (size_t at = 0; at < svg->size;) {
        if (svg->size - at <= length || memcmp(svg->data + at, prefix, length) != 0) {
            svg->data[used++] = svg->data[at++];
            continue;
        }
        memmove(svg->data + used, svg->data + at, length);
        used += length;
        at += length;
        if (svg->data[at] >= '0' && svg->data[at] <= '9')
            svg->data[used++] = '0';
        while (at < svg->size && svg->data[at] >= '0' && svg->data[at] <= '9')
            at++;
    }
    svg->size = used;
}

/* Writes the image without row filters and at a low level of compression. For a chart, which is mostly of one
 * colour, the file is then about as large as with Cairo's writer, in a quarter of the time. The image is
 * lost: its pixels are packed into three bytes each, where they are. */
static bool write_png(cairo_surface_t *image, struct report_bytes *out, struct sim_error *error)
{
    cairo_surface_flush(image);
    png_image png = {
        .version = PNG_IMAGE_VERSION,
        .width = (png_uint_32)cairo_image_surface_get_width(image),
        .height = (png_uint_32)cairo_image_surface_get_height(image),
        .format = PNG_FORMAT_RGB,
        .flags = PNG_IMAGE_FLAG_FAST,
    };
    unsigned char *data = cairo_image_surface_get_data(image), *packed = data;
    size_t stride = (size_t)cairo_image_surface_get_stride(image);
    for (size_t y = 0; y < png.height; y++) {
        for (size_t x = 0; x < png.width; x++) {
            uint32_t pixel;
            memcpy(&pixel, data + y * stride + x * sizeof pixel, sizeof pixel);
            *packed++ = (unsigned char)(pixel >> 16);
            *packed++ = (unsigned char)(pixel >> 8);
            *packed++ = (unsigned char)pixel;
        }
    }
    out->size = PNG_IMAGE_PNG_SIZE_MAX(png);
    if (!sim_grow(&out->data, &out->capacity, out->size, sizeof *out->data))
        return sim_fail_memory(error);
    if (!png_image_write_to_memory(&png, out->data, &out->size, 0, data, 0, NULL))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "charts: libpng cannot write the png: %s; choose another --format", png.message);
    return true;
}

bool report_render(const struct report_scene *scene, struct report_typesetter *typesetter,
                   enum report_format format, const char *title, int64_t start_ns, struct report_bytes *out,
                   struct sim_error *error)
{
    *out = (struct report_bytes){0};
    struct sink sink = {.bytes = out};
    cairo_surface_t *surface = make_surface(scene, format, &sink);
    if (format == REPORT_PDF)
        set_metadata(surface, title, start_ns);
    cairo_t *cairo = cairo_create(surface);
    if (format == REPORT_PNG)
        cairo_scale(cairo, REPORT_PIXEL_SCALE, REPORT_PIXEL_SCALE);
    draw_scene(scene, typesetter, cairo);
    cairo_show_page(cairo);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    const bool is_fine =
        status != CAIRO_STATUS_SUCCESS || format != REPORT_PNG || write_png(surface, out, error);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    if (sink.is_full)
        status = CAIRO_STATUS_NO_MEMORY;
    cairo_surface_destroy(surface);
    if (!is_fine) {
        report_bytes_free(out);
        return false;
    }
    if (status != CAIRO_STATUS_SUCCESS) {
        report_bytes_free(out);
        return status == CAIRO_STATUS_NO_MEMORY
                   ? sim_fail_memory(error)
                   : sim_fail(error, SIM_ERROR_ENVIRONMENT,
                              "charts: Cairo cannot draw the %s: %s; choose another --format",
                              report_format_extension(format), cairo_status_to_string(status));
    }
    if (format == REPORT_SVG)
        renumber(out);
    return true;
}
