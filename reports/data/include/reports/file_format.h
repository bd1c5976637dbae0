/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats that charts are written in. */
#ifndef REPORTS_FILE_FORMAT_H
#define REPORTS_FILE_FORMAT_H

#include <stdbool.h>

enum report_format { REPORT_PNG, REPORT_SVG, REPORT_PDF, REPORT_FORMAT_COUNT };
/* "png", "svg", "pdf"; false for another name. */
bool report_format_parse(const char *name, enum report_format *out);
/* "png", "svg", "pdf" */
const char *report_format_extension(enum report_format format);

#endif
