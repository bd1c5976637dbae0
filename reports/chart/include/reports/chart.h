/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as data: its contents, without positions on the page.
 *
 * There are seven forms: panels stacked over one x axis (a histogram per strategy, or its sizes over time), a
 * table of bars (a line per strategy, a column per quantity), panels of lanes over time (a lane per agent),
 * lines over a common x axis (one plot, or a panel per operation), spots with their Pareto front, a summary
 * (sentences, and a line per strategy), and a sequence diagram. Values are in units of the axis. On a log
 * axis `at`, `from`, `to` and `x`, and for lines and spots also `y`, `low` and `high`, are decimal
 * logarithms, with minus infinity for 0. A hint is the text that a page shows when the mouse points at a
 * mark, with all digits of its value; NULL for none. All memory belongs to the arena; except for hints, texts
 * are never NULL. */
#ifndef REPORTS_CHART_H
#define REPORTS_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/arena.h"
#include "reports/front.h"

/* The size of charts in logical pixels (PDF: points); lines are thinned accordingly. */
#define REPORT_PAGE_WIDTH 800.0
enum { REPORT_CURVES_MAX = 9 };
#define REPORT_CURVES_HEIGHT 300.0 /* height of a plot of curves */
#define REPORT_PIXEL_SCALE   2.0   /* pixels of a PNG per logical pixel */

/* If there are more panels than this, they are drawn small, several next to each other. */
#define REPORT_WIDE_PANELS_MAX 6

/* The meaning of a mark; its style is in style.c and, for pages, in page/charts.css. */
enum report_ink {
    REPORT_INK_CLOSED,
    REPORT_INK_OPEN,
    REPORT_INK_DISTRIBUTION,
    REPORT_INK_DASHES,   /* the distribution in a key, when it belongs to a line */
    REPORT_INK_OVER,     /* shading above a limit */
    REPORT_INK_TINY,     /* shading below the tiny size */
    REPORT_INK_COST,     /* bars of the cost table */
    REPORT_INK_SLOW,     /* the 99th percentile next to a mean */
    REPORT_INK_ALARM,    /* the share over a limit */
    REPORT_INK_WASTE,    /* the share that is tiny */
    REPORT_INK_OLD,      /* an agent's view is the bucket before a change */
    REPORT_INK_OLD_SOON, /* the bucket before a change, and the agent knows of the change */
    REPORT_INK_NEW,      /* the bucket after the change */
    REPORT_INK_NEW_SOON, /* the bucket after the change, and the agent knows of another change */
    REPORT_INK_OTHER,    /* another bucket */
    REPORT_INK_UNKNOWN,  /* the agent knows no bucket */
    REPORT_INK_SPLIT,    /* shading where agents disagree */
    REPORT_INK_TEXT,
    REPORT_INK_QUIET, /* secondary text */
    REPORT_INK_AXIS,
    REPORT_INK_GRID,
    REPORT_INK_HALO,   /* the background colour, around a curve */
    REPORT_INK_ZERO,   /* the strip of a log axis for the value 0 */
    REPORT_INK_PALE,   /* a spot that is not on the Pareto front */
    REPORT_INK_CHOSEN, /* the recommended spot or strategy */
    REPORT_INK_RANGE,  /* from the smallest to the largest value in an interval of time */
    REPORT_INK_MIDDLE, /* the middle four fifths of the values */
    REPORT_INK_LINE,   /* the first of REPORT_CURVES_MAX lines; the others follow */
    REPORT_INK_LINE_LAST = REPORT_INK_LINE + REPORT_CURVES_MAX - 1,
    REPORT_INK_COUNT
};

struct report_tick {
    double at;
    const char *text; /* "" for a tick without a number */
};

struct report_axis {
    double low, high;
    double unit; /* of a linear axis, in units of the data: 0.001 for seconds that are written in ms */
    const char *title;
    struct report_tick *ticks;
    size_t tick_count;
    bool has_zero; /* there is a strip for the value 0 before `low` */
    bool is_log;   /* for counts, curves and spots: positions are decimal logarithms */
};

struct report_band {
    double from, to;
    enum report_ink ink;
    bool is_level; /* from and to are along the y axis */
};

struct report_bar {
    double from, to; /* along the x axis */
    double low, high;
    double first, last,
        count; /* the range of sizes that the bar counts, and their number; for a node, its share */
    enum report_ink ink;
    const char *hint;
};

struct report_point {
    double x, y;
};

struct report_spread {
    bool present;
    double least, p10, p50, p90, most;
};

/* An interval of the x axis, and the sizes in it. */
struct report_slice {
    double from, to;
    struct report_spread closed, open;
    const char *hint;
};

struct report_figure {
    const char *name, *text;
    bool is_alarm;
    bool is_key; /* shown even when there is room for only a few */
};

struct report_span {
    double from, to;
    enum report_ink ink;
    const char *hint;
};

struct report_lane {
    const char *label;
    struct report_span *spans; /* in order, without overlap; there are no samples in the gaps */
    size_t span_count;
};

/* A point of a line; low = high = y without a range. */
struct report_sample {
    double x, y, low, high;
    const char *hint;
};

struct report_line {
    const char *label;
    enum report_ink ink;
    struct report_sample *samples; /* in order of x */
    size_t sample_count;
    bool is_distribution; /* dashed, without markers and name */
    bool is_points; /* only samples and their ranges, since nothing is known between them; the markers of
                       other lines are at equal distances */
};

/* A candidate by two quantities; low = high = y without a range. */
struct report_spot {
    const char *label;
    double x, y, low, high;
    bool is_on_front, is_chosen;
    bool is_best; /* the best of its kind */
    const char *hint;
};

/* A vertical line with a name. */
struct report_moment {
    double at;
    const char *text;
};

/* A name above an interval of time. */
struct report_stage {
    double from, to;
    const char *text;
};

enum { REPORT_MOMENTS_MAX = 2, REPORT_STAGES_MAX = 3 };

struct report_panel {
    const char *label, *detail; /* the strategy's label; its settings */
    const char *note;           /* "" for none */
    bool is_chosen;             /* REPORT_FORM_SUMMARY: the recommended strategy */
    struct report_band *bands;
    size_t band_count;
    struct report_figure *figures;
    size_t figure_count;
    /* REPORT_FORM_STACK */
    struct report_axis y;
    bool counts_are_shares;  /* y is in per cent */
    struct report_bar *bars; /* bars are stacked: open partitions begin where closed ones end */
    size_t bar_count;
    struct report_point *curve; /* the exact distribution; empty for none */
    size_t curve_count;
    struct report_slice *steps; /* in order, without overlap */
    size_t step_count;
    /* REPORT_FORM_LANES */
    struct report_axis x;
    struct report_lane *lanes;
    size_t lane_count;
    struct report_moment moments[REPORT_MOMENTS_MAX]; /* in order of time */
    size_t moment_count;
    struct report_stage stages[REPORT_STAGES_MAX];
    size_t stage_count;
    /* REPORT_FORM_CURVES, together with y of REPORT_FORM_STACK; at most REPORT_LINES_MAX, distributions
     * first. The only panel of a chart may have no label. */
    struct report_line *lines;
    size_t line_count;
    /* REPORT_FORM_FRONT, together with y of REPORT_FORM_STACK */
    struct report_spot *spots;
    size_t spot_count;
};

struct report_cell {
    bool present;
    double value;
    bool has_mark; /* a second value on the same scale, drawn as a stroke */
    double mark;
    const char *text;
    const char *hint;
};

struct report_column {
    const char *title;
    enum report_ink ink;
    bool is_log;      /* bars begin at `low`; the value 0 has no bar */
    double low, high; /* decimal logarithms on a log scale */
    struct report_cell *cells;
};

struct report_row {
    const char *label, *detail;
};

struct report_legend {
    enum report_ink ink;
    const char *text;
};

enum report_form {
    REPORT_FORM_STACK,
    REPORT_FORM_TABLE,
    REPORT_FORM_LANES,
    REPORT_FORM_CURVES,
    REPORT_FORM_FRONT,
    REPORT_FORM_SUMMARY,
    REPORT_FORM_SEQUENCE
};
enum { REPORT_LEGEND_MAX = 8, REPORT_LINES_MAX = 2 * REPORT_CURVES_MAX, REPORT_SENTENCES_MAX = 3 };

struct report_chart {
    enum report_form form;
    bool is_bytes;       /* sizes are in bytes rather than in rows */
    const char *name;    /* name in the file's name: "partitions-rows" */
    const char *reading; /* how to read the chart, in a page */
    const char *heading; /* the title without the scenario's name, in a page */
    const char *title, *subtitle, *foot;
    const char *note;   /* a caveat for the reader; NULL for none */
    const char *absent; /* the reason why there is nothing to show, "the scenario has no reads"; NULL when
                           there is something */
    int64_t start_ns;
    struct report_legend legend[REPORT_LEGEND_MAX];
    size_t legend_count;
    struct report_panel *panels; /* of all forms but tables and sequences */
    size_t panel_count;
    struct report_axis x; /* for all forms except tables, lanes and tiles */
    /* REPORT_FORM_SUMMARY */
    const char *sentences[REPORT_SENTENCES_MAX];
    size_t sentence_count;
    /* REPORT_FORM_TABLE */
    struct report_row *rows;
    size_t row_count;
    struct report_column *columns;
    size_t column_count;
    struct report_moment *rules; /* REPORT_FORM_CURVES: in order of x */
    size_t rule_count;
    const struct report_sequence *sequence; /* REPORT_FORM_SEQUENCE */
};

#endif
