/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the charts of a result share. Each chart is one function, which model.c lists. */
#ifndef REPORTS_PARTS_H
#define REPORTS_PARTS_H

#include <math.h>
#include <stdlib.h>

#include "lab/histogram.h"
#include "lab/result.h"
#include "reports/format.h"
#include "reports/scale.h"
#include "tune/odds.h"

/* The functions that fill charts, whose names, forms and titles are in the table of model.c. */
typedef void report_fill(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart);
report_fill report_partitions_fill, report_survival_fill, report_timeline_fill, report_reads_fill,
    report_costs_fill, report_nodes_fill, report_latency_fill, report_changes_fill, report_summary_fill;

/* The fewest closed partitions whose distribution is shown. */
#define REPORT_CLOSED_MIN 100u

/* Adds an entry to the key. */
void report_legend_add(struct report_chart *chart, enum report_ink ink, const char *text);
/* "100K rows", "100 MB" */
const char *report_limit_text(struct report_arena *arena, uint64_t limit, bool is_bytes);
/* Adds the shade above the limit to the key. */
void report_limit_legend(struct report_arena *arena, struct report_chart *chart, uint64_t limit,
                         bool is_bytes, bool is_shown);
/* The bins of a histogram in order of size. */
struct lab_bin *report_sorted(struct report_arena *arena, const struct lab_histogram *histogram,
                              size_t *count);
/* The sizes of the closed or the open partitions. */
const struct lab_histogram *report_sizes(const struct lab_strategy_result *strategy, bool is_bytes,
                                         enum lab_partition_state state);
/* The exact distribution of the rows of a strategy's closed partitions. False where there is none to compare
 * with: for bytes, other kinds than probabilistic, a greatest age, or below REPORT_CLOSED_MIN partitions. */
bool report_distribution(const struct lab_strategy_result *strategy, bool is_bytes,
                         struct tune_distribution *out);
/* The size up to which an axis must reach for the limit to be seen; 0 if there is none, or if it is so far
 * beyond the sizes that it would squeeze them. */
uint64_t report_limit_shown(uint64_t limit, uint64_t most);
/* Adds key figures, of which a panel has at most REPORT_FIGURES_MAX. */
enum { REPORT_FIGURES_MAX = 12 };
void report_figures_add(struct report_arena *arena, struct report_panel *panel,
                        const struct report_figure *figures, size_t count);
/* Adds a metric as a key figure, unless the run does not have it. */
enum report_alarm {
    REPORT_NO_ALARM,
    REPORT_ALARM,     /* if it is above 0 */
    REPORT_ALARM_ONLY /* the same, and left out otherwise */
};
void report_metric_add(struct report_arena *arena, struct report_panel *panel,
                       const struct lab_strategy_result *strategy, const char *name, const char *metric,
                       enum report_unit unit, enum report_alarm alarm, bool is_key);

#endif
