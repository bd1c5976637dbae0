/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as text, and what is asked of it. For cmocka's tests alone: what fails, fails the test. */
#ifndef TESTS_REPORTS_FIXTURE_CHART_H
#define TESTS_REPORTS_FIXTURE_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "reports/model.h"

/* In an arena that is begun for it, which the caller frees. */
struct report_chart *fixture_chart(const struct lab_result *result, enum report_kind kind,
                                   struct report_arena *arena);
/* What report_chart_dump() or report_chart_dump_hints() writes; the caller's to free. */
char *fixture_text(const struct report_chart *chart,
                   void (*write)(const struct report_chart *chart, FILE *out));
/* The dump of a result's chart; the caller's to free. */
char *fixture_dump(const struct lab_result *result, enum report_kind kind);
/* Whether the part stands in the text, or does not. */
void fixture_says(const char *text, const char *part, bool says);

/* A group's state: the typesetter of its tests. What GLib warns of is fatal meanwhile. */
int fixture_typesetter_begin(void **state);
int fixture_typesetter_end(void **state);

#endif
