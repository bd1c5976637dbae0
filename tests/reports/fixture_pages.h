/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every chart that there is a case of: all kinds of the results, of views, curves, heat maps and fronts. */
#ifndef TESTS_REPORTS_FIXTURE_PAGES_H
#define TESTS_REPORTS_FIXTURE_PAGES_H

#include "reports/scene.h"

size_t fixture_pages_count(void);
/* All of its memory is the arena's. Asserts. */
struct report_chart *fixture_pages_chart(size_t index, struct report_arena *arena);

#endif
