/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts between the file formats of charts and their names. */
#include "reports/curves.h"

#include <assert.h>
#include <string.h>

static const char *const extensions[REPORT_FORMAT_COUNT] = {
    [REPORT_PNG] = "png", [REPORT_SVG] = "svg", [REPORT_PDF] = "pdf"};

bool report_format_parse(const char *name, enum report_format *out)
{
    for (int i = 0; name != NULL && i < REPORT_FORMAT_COUNT; i++) {
        if (strcmp(name, extensions[i]) == 0) {
            *out = (enum report_format)i;
            return true;
        }
    }
    return false;
}

const char *report_format_extension(enum report_format format)
{
    assert(format >= 0 && format < REPORT_FORMAT_COUNT);
    return extensions[format];
}
