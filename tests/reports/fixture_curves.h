/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves of every special kind, for the tests and the gallery. */
#ifndef TESTS_REPORTS_FIXTURE_CURVES_H
#define TESTS_REPORTS_FIXTURE_CURVES_H

#include "reports/curves.h"

enum { FIXTURE_CURVES_COUNT = 16, FIXTURE_POINTS_MAX = 1000 };

/* Contains pointers into itself, so it must not be copied. */
struct fixture_curves {
    struct report_curves curves;
    struct report_curve series[REPORT_CURVES_MAX];
    struct report_curves_point points[REPORT_CURVES_MAX][FIXTURE_POINTS_MAX];
    struct report_rule rules[REPORT_RULES_MAX];
};

/* Case 0 to FIXTURE_CURVES_COUNT - 1. */
void fixture_curves(size_t index, struct fixture_curves *out);
/* Begins without curves and rules, on linear axes of plain numbers. */
void fixture_curves_begin(struct fixture_curves *out);
void fixture_curves_add(struct fixture_curves *fixture, const char *label);
/* Adds a point to the last curve. */
void fixture_curves_point(struct fixture_curves *fixture, double x, double low, double y, double high);
void fixture_curves_rule(struct fixture_curves *fixture, double at, const char *label);

#endif
