/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of a page: all of its parts write to a sheet. Parts write complete elements in sequence. The
 * writer has no way to fail: memory that runs out ends the program. */
#ifndef REPORTS_SHEET_H
#define REPORTS_SHEET_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <libxml/xmlwriter.h>

#include "reports/answer.h"
#include "reports/format.h"
#include "reports/model.h"
#include "reports/output.h"
#include "reports/scene.h"

struct report_page;

struct report_sheet {
    xmlTextWriterPtr writer;
    struct report_arena *arena; /* memory of the whole page */
    struct report_typesetter *typesetter;
    const struct report_page *page;
    struct report_answer answer;
    size_t chosen; /* index of the marked strategy; SIZE_MAX: none */
    double x, y;   /* current point of a path, rounded */
};

/* --- page.c */
void report_sheet_open(struct report_sheet *sheet, const char *name);
/* Opens an element with attributes: their names, each followed by its value, and NULL. */
void report_sheet_element(struct report_sheet *sheet, const char *name, ...) __attribute__((sentinel));
/* Closes the innermost element, always with an end tag, which HTML requires even for an empty element. */
void report_sheet_close(struct report_sheet *sheet);
/* Closes an element that has no end tag if it is empty, such as <meta>, or an element of an SVG. */
void report_sheet_close_void(struct report_sheet *sheet);
void report_sheet_attribute(struct report_sheet *sheet, const char *name, const char *value);
/* Writes text, escaped. Characters that XML does not allow become U+FFFD; line breaks are kept. */
void report_sheet_text(struct report_sheet *sheet, const char *text);
/* Writes a whole element with a text and attributes, as above. */
void report_sheet_leaf(struct report_sheet *sheet, const char *name, const char *text, ...)
    __attribute__((sentinel));
/* Writes the <summary> of a part of `of`: its accessible name is "TEXT: OF". */
void report_sheet_summary(struct report_sheet *sheet, const char *text, const char *of);
/* Opens <section id="ID" aria-labelledby="ID-title">, and writes its heading of the given level, 2 or 3. */
void report_sheet_section(struct report_sheet *sheet, const char *id, const char *class, int level,
                          const char *title);
/* Makes the bytes of the page. */
bool report_page_make(const struct report_page *page, struct report_bytes *out, struct sim_error *error);

/* --- charts.c */
void report_page_charts(struct report_sheet *sheet);
/* Writes one <svg id="ID"> of the scene, with the chart's title and subtitle as its name and description.
 * `id` must be unique in the page; it is the prefix of all ids within. */
void report_page_svg(struct report_sheet *sheet, const struct report_chart *chart,
                     const struct report_scene *scene, const char *id);
/* Writes the definitions that the charts of a page share: once per page, before the first chart. */
void report_page_svg_patterns(struct report_sheet *sheet);

/* The style sheets, the scripts and the interactive section in reports/page/, which the build embeds with a
 * zero after each. Both XML and HTML parsers treat the text between their CDATA markers as the content. */
extern const unsigned char report_page_style[], report_page_script[], report_page_live[];
extern const size_t report_page_style_size, report_page_script_size, report_page_live_size;

#endif
