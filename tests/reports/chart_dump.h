/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as text, one element per line, for tests and for people; its hints are a separate text. */
#ifndef TESTS_REPORTS_CHART_DUMP_H
#define TESTS_REPORTS_CHART_DUMP_H

#include <stdio.h>

#include "reports/chart.h"

void report_chart_dump(const struct report_chart *chart, FILE *out);
void report_chart_dump_hints(const struct report_chart *chart, FILE *out);

#endif
