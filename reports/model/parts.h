/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the charts of a result share. Each chart is one file with one function, which model.c lists. */
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

/* Bins of sizes, equally wide on a log axis, with whole numbers as edges.
 *
 * Bin i has the sizes n with edges[i] < n <= edges[i + 1], so that a partition of exactly the limit is left
 * of the limit. There are 20 or 10 bins per decade. Edges are rounded down, and duplicates are removed: below
 * 10, a bin has one or two sizes. */
enum { REPORT_EDGES_MAX = 400 };
struct report_bins {
    uint64_t edges[REPORT_EDGES_MAX];
    size_t count; /* number of bins, one less than the number of edges */
};
/* Makes bins from the decade of `least` (if 1, from the size 0) to the first edge that is at least `most`. */
void report_bins_make(uint64_t least, uint64_t most, struct report_bins *out);
/* The bin of a size; sizes outside of the bins belong to the first or the last bin. */
size_t report_bins_find(const struct report_bins *bins, uint64_t size);
/* Where an edge is drawn, as a decimal logarithm; the edge 0 is drawn slightly below 1. */
double report_bins_edge_log10(uint64_t edge);
void report_bins_axis(struct report_arena *arena, const struct report_bins *bins, bool is_bytes,
                      const char *title, struct report_axis *out);

/* Sets the y axes of a histogram's panels: panels with counts share one axis, and panels in per cent share
 * another. If the lowest bar would not be visible next to the highest one, the axis of counts, with bars and
 * curves, is logarithmic: the chart must show a single partition that exceeds a limit. */
void report_counts_scale(struct report_arena *arena, struct report_panel *panels, size_t count,
                         const char *title);

/* The fewest closed partitions for which their exact distribution is shown. */
#define REPORT_CLOSED_MIN 100u
/* Sets the curve of a panel to the outline of the bars that the distribution expects of `closed` partitions,
 * from its first visible bin to its last. */
void report_outline(const struct bk_strategy *strategy, const struct report_bins *bins, double closed,
                    struct report_arena *arena, struct report_panel *panel);

/* The strategies that are drawn as lines: the first ones that have what the chart shows, at most as many as
 * there are colours. If the recommended strategy is not among them, it takes the last place. */
struct report_selection {
    const struct lab_strategy_result *items[REPORT_CURVES_MAX];
    size_t count, all;     /* all: strategies of the result */
    const char **left_out; /* labels of the others that have it */
    size_t left_out_count;
};
void report_select(const struct lab_result *result, bool (*has)(const struct lab_strategy_result *),
                   struct report_arena *arena, struct report_selection *out);
/* "9 of 12 strategies are drawn, without s10 and s11."; "" when all are. */
const char *report_selection_note(const struct report_selection *selection, struct report_arena *arena);
/* Lists the first few labels and counts the others: "a, b and c", "a, b, c and 52 others". */
const char *report_list(const char *const *labels, size_t count, struct report_arena *arena);
/* Removes the points of a line that make no visible difference: sets keep[] to true for the points to draw,
 * including the first and the last; every other point is within `tolerance` of the line through these
 * (Douglas and Peucker 1973). Returns the number of points to draw. */
size_t report_thin(struct report_arena *arena, const struct report_point *points, size_t count,
                   double tolerance, bool *keep);
/* Sets the samples of a line such that it is within half a pixel of the points, clipped at the bottom of the
 * plot. Points with a hint are kept. hints: one per point; NULL for none. */
void report_trace(struct report_arena *arena, const struct report_axis *x, const struct report_axis *y,
                  const struct report_point *points, const char *const *hints, size_t count,
                  struct report_line *line);

/* Sets *of to N, where 1 operation in N takes longer than the index-th percentile that the latency chart
 * marks. Returns false after the last one. */
bool report_percentile(unsigned index, uint64_t *of);
/* The name of a percentile: "99.9%" for 1000. */
const char *report_percentile_text(struct report_arena *arena, uint64_t of);

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
