/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a page: a sheet is what all its parts write on. Parts write whole elements, one after the
 * other; what goes wrong is kept, so that page.c asks once at the end. */
#ifndef REPORTS_SHEET_H
#define REPORTS_SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include <libxml/xmlwriter.h>

#include "reports/answer.h"
#include "reports/model.h"
#include "reports/output.h"
#include "reports/typeset.h"

struct report_page;

struct report_sheet {
    xmlTextWriterPtr writer;
    struct report_arena *arena; /* of the whole page; texts of one chart have one of their own */
    struct report_typesetter *typesetter;
    const struct report_page *page;
    const struct report_answer *answer;
    size_t chosen; /* index of the strategy that is marked; SIZE_MAX: none */
    bool is_fine;  /* the writer has not failed */
};

/* --- sheet.c */
void report_sheet_open(struct report_sheet *sheet, const char *name);
/* Closes the innermost element, with an end tag: HTML has no other way for one that is empty. */
void report_sheet_close(struct report_sheet *sheet);
/* Closes an element that has no end tag, as <meta>. */
void report_sheet_close_void(struct report_sheet *sheet);
void report_sheet_attribute(struct report_sheet *sheet, const char *name, const char *value);
/* As text. What XML cannot hold becomes U+FFFD; line breaks stay. */
void report_sheet_text(struct report_sheet *sheet, const char *text);
/* An element with a class ("" for none) and a text. */
void report_sheet_leaf(struct report_sheet *sheet, const char *name, const char *class, const char *text);
/* <section id="ID" aria-labelledby="ID-title"> with a heading of its level, 2 or 3. */
void report_sheet_section(struct report_sheet *sheet, const char *id, const char *class, int level,
                          const char *title);

/* --- table.c: the comparison, and what was expected */
void report_page_table(struct report_sheet *sheet);
void report_page_expects(struct report_sheet *sheet);
/* --- charts.c: false when one cannot be made; then the error says why */
bool report_page_charts(struct report_sheet *sheet, struct sim_error *error);
/* --- data.c: what a chart shows, as a table */
void report_page_data(struct report_sheet *sheet, const struct report_chart *chart);
/* --- csv.c: the same as numbers, in a link */
void report_page_csv(struct report_sheet *sheet, const struct report_chart *chart);
/* How to read a chart, in two or three sentences; NULL for one without */
const char *report_page_reading(const char *chart_name);

/* The bytes of the page; page.c. */
bool report_page_make(const struct report_page *page, struct report_bytes *out, struct sim_error *error);

/* What the build takes from reports/page/: all styles, all scripts. */
extern const unsigned char report_page_style[], report_page_script[];
extern const size_t report_page_style_size, report_page_script_size;

#endif
