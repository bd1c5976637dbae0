/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as data: what it says, with no place for anything yet.
 *
 * Nine forms: panels stacked over one x axis (a histogram per strategy, or its sizes over time), panels of
 * lines over one, a table of bars (a line per strategy, a column per figure), panels of lanes over time (a
 * lane per agent), lines over a common x axis, spots with the front of the best among them, a grid of
 * coloured tiles, a plane in regions, and a summary: sentences, and a line per strategy. Values are in units
 * of the axis; on a log axis `at`, `from`, `to`, `x`, and of lines and spots `y`, `low` and `high`, are
 * decimal logarithms, minus infinity for 0. A hint is what a page says of a mark that one points at, with its
 * value in full; NULL for none. All memory belongs to the arena; texts but hints are never NULL. */
#ifndef REPORTS_CHART_H
#define REPORTS_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/arena.h"
#include "reports/curves.h"

/* How large a chart is drawn, in logical pixels (PDF: points): lines are thinned to what can be seen. */
#define REPORT_PAGE_WIDTH    800.0
#define REPORT_CURVES_HEIGHT 300.0 /* of a plot of curves */
#define REPORT_PIXEL_SCALE   2.0   /* pixels of a PNG to one of these */

/* More panels than this are drawn small, several side by side. */
#define REPORT_WIDE_PANELS_MAX 6

/* What a mark means; style.c says how that looks, and page/charts.css how in a page. */
enum report_ink {
    REPORT_INK_CLOSED,
    REPORT_INK_OPEN,
    REPORT_INK_DISTRIBUTION,
    REPORT_INK_DASHES,   /* a distribution next to a line, in a key */
    REPORT_INK_OVER,     /* the shade beyond a limit */
    REPORT_INK_TINY,     /* the shade below the tiny size */
    REPORT_INK_COST,     /* bars of the cost table */
    REPORT_INK_SLOW,     /* the 99th percentile next to a mean */
    REPORT_INK_ALARM,    /* the share over a limit */
    REPORT_INK_WASTE,    /* the share that is tiny */
    REPORT_INK_OLD,      /* an agent believes in the bucket before a change */
    REPORT_INK_OLD_SOON, /* and knows of the change */
    REPORT_INK_NEW,      /* in the bucket after it */
    REPORT_INK_NEW_SOON, /* and knows of another change */
    REPORT_INK_OTHER,    /* in a third bucket */
    REPORT_INK_UNKNOWN,  /* knows no bucket */
    REPORT_INK_SPLIT,    /* the shade where agents disagree */
    REPORT_INK_TEXT,
    REPORT_INK_QUIET, /* secondary text */
    REPORT_INK_AXIS,
    REPORT_INK_GRID,
    REPORT_INK_HALO,   /* the paper's colour, around a curve */
    REPORT_INK_ZERO,   /* the strip of a log axis for the value 0; a tile that was not tried */
    REPORT_INK_PALE,   /* a spot that another is better than */
    REPORT_INK_CHOSEN, /* the recommended spot */
    REPORT_INK_RING,   /* around the recommended tile */
    REPORT_INK_HOLDS,  /* around the tiles that hold */
    REPORT_INK_TILE,   /* text on a light tile */
    REPORT_INK_RANGE,  /* from the smallest to the largest of a stretch of time */
    REPORT_INK_MIDDLE, /* the middle four fifths of them */
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
    const char *title;
    struct report_tick *ticks;
    size_t tick_count;
    bool has_zero; /* before `low` lies a strip for the value 0 */
    bool is_log;   /* of counts, curves and spots: places are decimal logarithms */
};

struct report_band {
    double from, to;
    enum report_ink ink;
    bool is_level; /* from and to are along y */
};

struct report_bar {
    double from, to; /* along x */
    double low, high;
    double first, last, count; /* the numbers that it counts, and how many there are; of a node its share */
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

/* A stretch along x, and the sizes in it. */
struct report_slice {
    double from, to;
    struct report_spread closed, open;
    const char *hint;
};

struct report_figure {
    const char *name, *text;
    bool is_alarm;
    bool is_key; /* told where there is room for few */
};

struct report_span {
    double from, to;
    enum report_ink ink;
    const char *hint;
};

struct report_lane {
    const char *label;
    struct report_span *spans; /* in order, without overlap; nothing was seen in the gaps */
    size_t span_count;
};

/* A place on a line; low = high = y without a range. In panes it has a marker when it has a hint. */
struct report_sample {
    double x, y, low, high;
    const char *hint;
};

struct report_line {
    const char *label;
    enum report_ink ink;
    struct report_sample *samples; /* in order of x */
    size_t sample_count;
    bool is_dense;        /* so many samples that they have no markers: these stand at even distances */
    bool is_distribution; /* dashed, without markers and name */
};

/* A candidate by two figures; low = high = y without a range. */
struct report_spot {
    const char *label;
    double x, y, low, high;
    bool is_on_front, is_chosen;
    bool is_best; /* of its kind */
    const char *hint;
};

struct report_tile {
    bool is_tried, holds, is_chosen;
    double shade;     /* 0 to 1 along the colours */
    const char *text; /* its value */
    const char *hint;
};

/* Names of columns from the left, of rows from the bottom; tiles row by row. */
struct report_grid {
    const char *x_title, *y_title;
    const char **columns, **rows;
    size_t column_count, row_count;
    struct report_tile *tiles;
    struct report_axis scale;
    bool is_cut;  /* the least colour stands for smaller values, too */
    bool is_even; /* all values are equal: the note says so, and there is no scale */
};

/* A part of a plane in regions. */
struct report_area {
    double from_x, to_x, from_y, to_y;
    size_t owner; /* index of area_names */
    const char *hint;
};

/* A vertical line with a name. */
struct report_moment {
    double at;
    const char *text;
};

/* A name above a stretch of time. */
struct report_stage {
    double from, to;
    const char *text;
};

enum { REPORT_MOMENTS_MAX = 2, REPORT_STAGES_MAX = 3 };

struct report_panel {
    const char *label, *detail; /* the strategy's label; its settings */
    const char *note;           /* "" for none */
    bool is_chosen;             /* of REPORT_FORM_SUMMARY */
    struct report_band *bands;
    size_t band_count;
    struct report_figure *figures;
    size_t figure_count;
    /* REPORT_FORM_STACK */
    struct report_axis y;
    bool counts_are_shares;  /* y is in per cent */
    struct report_bar *bars; /* what is open begins where what is closed ends */
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
    /* REPORT_FORM_PANES; and y of the stack */
    struct report_line *lines;
    size_t line_count;
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
    bool is_log;      /* bars begin at `low`, and 0 has no bar */
    double low, high; /* on a log scale decimal logarithms */
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
    REPORT_FORM_HEATMAP,
    REPORT_FORM_SUMMARY,
    REPORT_FORM_PANES,
    REPORT_FORM_REGIONS
};
enum { REPORT_LEGEND_MAX = 8, REPORT_LINES_MAX = 2 * REPORT_CURVES_MAX, REPORT_SENTENCES_MAX = 3 };

struct report_chart {
    enum report_form form;
    const char *name; /* of the file: "partitions-rows" */
    const char *title, *subtitle, *foot;
    const char *note;   /* what the reader must know, NULL for nothing */
    const char *absent; /* "the scenario has no reads": why there is nothing to show; NULL when there is */
    int64_t start_ns;
    struct report_legend legend[REPORT_LEGEND_MAX];
    size_t legend_count;
    struct report_panel *panels; /* REPORT_FORM_STACK, _LANES, _PANES, _SUMMARY */
    size_t panel_count;
    struct report_axis x; /* of all but tables, lanes and tiles */
    /* REPORT_FORM_SUMMARY */
    const char *sentences[REPORT_SENTENCES_MAX];
    size_t sentence_count;
    /* REPORT_FORM_TABLE */
    struct report_row *rows;
    size_t row_count;
    struct report_column *columns;
    size_t column_count;
    /* REPORT_FORM_CURVES, REPORT_FORM_FRONT */
    struct report_axis y;
    struct report_line *lines; /* up to REPORT_CURVES_MAX, and as many distributions before them */
    size_t line_count;
    bool names_along;            /* names stand at the lines where there is room, and not at their ends */
    struct report_moment *rules; /* in order of x */
    size_t rule_count;
    struct report_spot *spots; /* REPORT_FORM_FRONT */
    size_t spot_count;
    struct report_grid grid; /* REPORT_FORM_HEATMAP */
    /* REPORT_FORM_REGIONS, with x and y */
    struct report_area *areas;
    size_t area_count;
    const char **area_names;
    size_t area_name_count;
    struct report_point now;
};

/* Adds an entry to the key. */
void report_legend_add(struct report_chart *chart, enum report_ink ink, const char *text);
/* "closed", "line1": for texts and style sheets. */
const char *report_ink_name(enum report_ink ink);
/* Where a value lies on a log axis. The same on every machine. */
double report_log10(double value);

#endif
