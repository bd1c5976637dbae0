/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heat maps and fronts of every special kind, for the tests and the gallery. */
#ifndef TESTS_REPORTS_FIXTURE_TUNE_H
#define TESTS_REPORTS_FIXTURE_TUNE_H

#include "reports/front.h"
#include "reports/heatmap.h"

enum { FIXTURE_HEATMAP_COUNT = 8, FIXTURE_FRONT_COUNT = 9, FIXTURE_LABEL_SIZE = 160 };

/* Both contain pointers into themselves, so they must not be copied. */
struct fixture_heatmap {
    struct report_heatmap heatmap;
    struct report_heatmap_cell cells[REPORT_HEATMAP_MAX * REPORT_HEATMAP_MAX];
    char texts[2][REPORT_HEATMAP_MAX][FIXTURE_LABEL_SIZE];
    const char *labels[2][REPORT_HEATMAP_MAX];
};

struct fixture_front {
    struct report_front front;
    struct report_front_point points[REPORT_FRONT_MAX];
    char labels[REPORT_FRONT_MAX][FIXTURE_LABEL_SIZE];
};

void fixture_heatmap(size_t index, struct fixture_heatmap *out);
void fixture_front(size_t index, struct fixture_front *out);
/* Begins without points: log x axis, linear y axis. */
void fixture_front_begin(struct fixture_front *out);
void fixture_front_add(struct fixture_front *fixture, const char *label, double x, double y,
                       bool is_on_front);

#endif
