/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of all cases: all kinds of charts of the results, views, curves, heat maps and fronts. */
#ifndef TESTS_REPORTS_FIXTURE_PAGES_H
#define TESTS_REPORTS_FIXTURE_PAGES_H

#include "reports/scene.h"

size_t fixture_pages_count(void);
/* Allocates only in the arena. Asserts on failure. */
struct report_chart *fixture_pages_chart(size_t index, struct report_arena *arena);

#endif
