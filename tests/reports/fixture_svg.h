/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart of a page as a separate file, for the tests and the gallery. */
#ifndef TESTS_REPORTS_FIXTURE_SVG_H
#define TESTS_REPORTS_FIXTURE_SVG_H

#include "reports/scene.h"

/* The style sheet of a page's charts; the caller frees it. */
char *fixture_svg_style(void);
/* The value of a variable ("--ink-axis") in the style sheet's n-th block of variables: 0 light, 1 and 2 dark.
 * Returns whether it exists. */
bool fixture_svg_variable(const char *style, size_t block, const char *name, char *out, size_t size);
/* The output of report_page_svg() and report_page_svg_patterns(); the caller frees it. */
char *fixture_svg_chart(const struct report_chart *chart, const struct report_scene *scene, const char *id);
char *fixture_svg_patterns(void);
/* An SVG file that needs no style sheet and no variables; the caller frees it. */
char *fixture_svg_file(const struct report_chart *chart, const struct report_scene *scene, bool is_dark);

#endif
