/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file formats of charts. */
#ifndef REPORTS_FILE_FORMAT_H
#define REPORTS_FILE_FORMAT_H

#include <stdbool.h>

enum report_format { REPORT_PNG, REPORT_SVG, REPORT_PDF, REPORT_FORMAT_COUNT };
/* Parses "png", "svg" or "pdf"; false for any other name. */
bool report_format_parse(const char *name, enum report_format *out);
/* "png", "svg", "pdf" */
const char *report_format_extension(enum report_format format);

#endif
