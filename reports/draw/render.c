/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renders a scene into the bytes of a PNG, SVG or PDF file. The bytes are reproducible: values that Cairo
 * takes from the clock or from the process are replaced. */
#include "reports/render.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <png.h>

#include "draw.h"
#include "kernel/grow.h"
#include "kernel/time.h"

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
        if (svg->data[at] >= '0' && svg->data[at] <= '9') {
            svg->data[used++] = '0';
        }
        while (at < svg->size && svg->data[at] >= '0' && svg->data[at] <= '9') {
            at++;
        }
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
    if (!sim_grow(&out->data, &out->capacity, out->size, sizeof *out->data)) {
        return sim_fail_memory(error);
    }
    if (!png_image_write_to_memory(&png, out->data, &out->size, 0, data, 0, NULL)) {
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "charts: libpng cannot write the png: %s; choose another --format", png.message);
    }
    return true;
}

bool report_render(const struct report_scene *scene, struct report_typesetter *typesetter,
                   enum report_format format, const char *title, int64_t start_ns, struct report_bytes *out,
                   struct sim_error *error)
{
    *out = (struct report_bytes){0};
    struct sink sink = {.bytes = out};
    cairo_surface_t *surface = make_surface(scene, format, &sink);
    if (format == REPORT_PDF) {
        set_metadata(surface, title, start_ns);
    }
    cairo_t *cairo = cairo_create(surface);
    if (format == REPORT_PNG) {
        cairo_scale(cairo, REPORT_PIXEL_SCALE, REPORT_PIXEL_SCALE);
    }
    report_draw(scene, typesetter, cairo);
    cairo_show_page(cairo);
    cairo_status_t status = cairo_status(cairo);
    cairo_destroy(cairo);
    const bool is_fine =
        status != CAIRO_STATUS_SUCCESS || format != REPORT_PNG || write_png(surface, out, error);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) {
        status = cairo_surface_status(surface);
    }
    if (sink.is_full) {
        status = CAIRO_STATUS_NO_MEMORY;
    }
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
    if (format == REPORT_SVG) {
        renumber(out);
    }
    return true;
}
