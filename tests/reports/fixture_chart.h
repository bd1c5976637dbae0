/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as text, and assertions on it. For cmocka tests only: a failure fails the test. */
#ifndef TESTS_REPORTS_FIXTURE_CHART_H
#define TESTS_REPORTS_FIXTURE_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "reports/model.h"

/* The chart is allocated in the arena, which this function initialises and the caller frees. */
struct report_chart *fixture_chart(const struct lab_result *result, enum report_kind kind,
                                   struct report_arena *arena);
/* The output of report_chart_dump() or report_chart_dump_hints(); the caller frees it. */
char *fixture_text(const struct report_chart *chart,
                   void (*write)(const struct report_chart *chart, FILE *out));
/* The dump of a result's chart; the caller frees it. */
char *fixture_dump(const struct lab_result *result, enum report_kind kind);
/* Asserts that the text contains the part, or does not. */
void fixture_says(const char *text, const char *part, bool says);

/* A group's state is the typesetter of its tests. Meanwhile a warning of GLib is fatal. */
int fixture_typesetter_begin(void **state);
int fixture_typesetter_end(void **state);

#endif
