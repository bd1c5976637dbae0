/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes charts from results, and of the settings that `tune` tried. Here the contents of a chart are decided,
 * but not how it looks. */
#ifndef REPORTS_MODEL_H
#define REPORTS_MODEL_H

#include "lab/result.h"
#include "reports/chart.h"
#include "reports/front.h"

/* The charts of a result, in the order of a page. */
enum report_kind {
    REPORT_PARTITIONS_ROWS,
    REPORT_PARTITIONS_BYTES,
    REPORT_SURVIVAL_ROWS,
    REPORT_SURVIVAL_BYTES,
    REPORT_TIMELINE,
    REPORT_READS,
    REPORT_COSTS,
    REPORT_NODES,
    REPORT_LATENCY,
    REPORT_BUCKET_CHANGES,
    REPORT_SUMMARY, /* drawn only as a separate chart: a page shows the same in more detail */
    REPORT_KIND_COUNT
};

/* Makes one chart of a result. If it has nothing to show, its `absent` says why. */
struct report_chart *report_chart_make(const struct lab_result *result, enum report_kind kind,
                                       struct report_arena *arena);
/* Makes the chart of the settings that `tune` tried. */
struct report_chart *report_front_make(const struct report_front *front, struct report_arena *arena);

#endif
