/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as text, a line a thing, for tests and for eyes; its hints are a text of their own. */
#ifndef TESTS_REPORTS_CHART_DUMP_H
#define TESTS_REPORTS_CHART_DUMP_H

#include <stdio.h>

#include "reports/chart.h"

void report_chart_dump(const struct report_chart *chart, FILE *out);
void report_chart_dump_hints(const struct report_chart *chart, FILE *out);

#endif
