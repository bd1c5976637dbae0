/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of the file formats of charts. */
#include "reports/front.h"

#include <assert.h>

const char *report_format_extension(enum report_format format)
{
    static const char *const extensions[REPORT_FORMAT_COUNT] = {
        [REPORT_PNG] = "png", [REPORT_SVG] = "svg", [REPORT_PDF] = "pdf"};
    assert(format >= 0 && format < REPORT_FORMAT_COUNT);
    return extensions[format];
}
