/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of lines. In: a result. Kept: the strategies that are drawn. Out: the share of partitions that
 * are larger than each size, with the exact distributions of closed partitions, each once, and the limits as
 * rules, or only ranges where no more than percentiles is known; and the latency of operations by percentile,
 * a panel per operation. The x axis of the latter is a log axis of the share above the percentile, on which
 * each additional nine takes the same width: x = -log10(1 - p). */
#include <string.h>

#include "lab/judgment.h"
#include "parts.h"

/* The strategies that are drawn as lines: the first ones that have what the chart shows, at most as many as
 * there are colours. If the recommended strategy is not among them, it takes the last place. */
struct selection {
    const struct lab_strategy_result *items[REPORT_CURVES_MAX];
    size_t count, all;     /* all: strategies of the result */
    const char **left_out; /* labels of the others that have it */
    size_t left_out_count;
};
static void select_lines(const struct lab_result *result, bool (*has)(const struct lab_strategy_result *),
                         struct report_arena *arena, struct selection *out)
{
    *out = (struct selection){.all = result->strategy_count};
    struct lab_score *scores = report_take(arena, result->strategy_count, sizeof *scores);
    out->left_out = report_take(arena, result->strategy_count, sizeof *out->left_out);
    const size_t chosen = lab_choose(result, scores);
    size_t total = 0, before_chosen = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        total += has(&result->strategies[i]);
        before_chosen += i < chosen && chosen != SIZE_MAX && has(&result->strategies[i]);
    }
    const bool is_kept = total > REPORT_CURVES_MAX && before_chosen >= REPORT_CURVES_MAX;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        if (has(strategy) && out->count < REPORT_CURVES_MAX - (size_t)(is_kept && i < chosen))
            out->items[out->count++] = strategy;
        else if (has(strategy))
            out->left_out[out->left_out_count++] = report_clean(arena, strategy->label);
    }
}

/* Lists the first few labels and counts the others: "a, b and c", "a, b, c and 52 others". */
static const char *list_of(const char *const *labels, size_t count, struct report_arena *arena)
{
    enum { NAMED_MAX = 3 };
    const size_t named = count <= NAMED_MAX + 1 ? count : NAMED_MAX;
    const char *list = labels[0];
    for (size_t i = 1; i < named; i++)
        list = report_text(arena, "%s%s%s", list, i + 1 == count ? " and " : ", ", labels[i]);
    return named == count ? list : report_text(arena, "%s and %zu others", list, count - named);
}

/* "9 of 12 strategies are drawn, without s10 and s11."; "" when all are. */
static const char *selection_note(const struct selection *selection, struct report_arena *arena)
{
    return selection->left_out_count == 0
               ? ""
               : report_text(arena, "%zu of %zu strategies are drawn, without %s.", selection->count,
                             selection->all, list_of(selection->left_out, selection->left_out_count, arena));
}

/* Returns the distance from `point` to the nearest point of the segment. */
static double distance_to(const struct report_point *point, const struct report_point *from,
                          const struct report_point *to)
{
    const double dx = to->x - from->x, dy = to->y - from->y;
    const double length = dx * dx + dy * dy;
    const double along = length > 0 ? ((point->x - from->x) * dx + (point->y - from->y) * dy) / length : 0;
    const double share = fmin(1, fmax(0, along));
    const double x = from->x + share * dx - point->x, y = from->y + share * dy - point->y;
    return sqrt(x * x + y * y);
}

static size_t farthest(const struct report_point *points, size_t from, size_t to, double *distance)
{
    size_t best = from;
    *distance = 0;
    for (size_t i = from + 1; i < to; i++) {
        const double away = distance_to(&points[i], &points[from], &points[to]);
        if (away > *distance) {
            *distance = away;
            best = i;
        }
    }
    return best;
}

/* Removes the points of a line that make no visible difference: sets keep[] to true for the points to draw,
 * including the first and the last; every other point is within `tolerance` of the line through these
 * (Douglas and Peucker 1973). The stack holds the ends of the segments that are still to be examined, the
 * nearest one on top. */
static size_t thin(struct report_arena *arena, const struct report_point *points, size_t count,
                   double tolerance, bool *keep)
{
    size_t *ends = report_take(arena, count, sizeof *ends);
    if (count == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        keep[i] = i == 0;
    size_t from = 0, kept = 1, depth = 0;
    if (count > 1)
        ends[depth++] = count - 1;
    while (depth > 0) {
        const size_t to = ends[depth - 1];
        double distance;
        const size_t middle = farthest(points, from, to, &distance);
        if (distance > tolerance) {
            ends[depth++] = middle;
            continue;
        }
        keep[to] = true;
        kept++;
        from = to;
        depth--;
    }
    return kept;
}

/* Sets the samples of a line such that it is within half a pixel of the points, clipped at the bottom of the
 * plot. Points with a hint are kept. hints: one per point; NULL for none. */
static void trace(struct report_arena *arena, const struct report_axis *x, const struct report_axis *y,
                  const struct report_point *points, const char *const *hints, size_t count,
                  struct report_line *line)
{
    /* The plot is at most as wide as a page. */
    static const double tolerance = 0.5 / REPORT_PIXEL_SCALE;
    const double across = REPORT_PAGE_WIDTH / (x->high - x->low);
    const double down = REPORT_CURVES_HEIGHT / (y->high - y->low);
    struct report_point *pixels = report_take(arena, count, sizeof *pixels);
    bool *keep = report_take(arena, count, sizeof *keep);
    line->samples = report_take(arena, count, sizeof *line->samples);
    size_t shown = 0;
    for (bool is_above = true; is_above && shown < count; shown++) {
        is_above = points[shown].y >= y->low;
        pixels[shown].x = (points[shown].x - x->low) * across;
        pixels[shown].y = fmax(0, points[shown].y - y->low) * down;
    }
    for (size_t i = 0, from = 0; i < shown; i++) {
        if (i + 1 == shown || (hints != NULL && hints[i] != NULL)) {
            thin(arena, pixels + from, i - from + 1, tolerance, keep + from);
            from = i;
        }
    }
    for (size_t i = 0; i < shown; i++) {
        const char *hint = hints != NULL ? hints[i] : NULL;
        if (keep[i]) {
            const double at = fmax(points[i].y, y->low);
            line->samples[line->sample_count++] =
                (struct report_sample){.x = points[i].x, .y = at, .low = at, .high = at, .hint = hint};
        }
    }
}

/* Makes a line of the exact distribution within the axes, down to the share of one in `partitions`. */
static void fill_exact(struct report_arena *arena, const struct tune_distribution *rows, double partitions,
                       const struct report_chart *chart, struct report_line *line)
{
    enum { GRID = 3000 }; /* more steps would be too narrow to be visible */
    static const double rows_max = 1e18;
    const double least = -report_log10(partitions);
    struct report_point *points = report_take(arena, GRID + 1, sizeof *points);
    size_t count = 0;
    for (double last = 0; count <= GRID && last >= least; count++) {
        const double x = chart->x.low + (chart->x.high - chart->x.low) * (double)count / GRID;
        const double share = tune_above(rows, (uint64_t)fmin(rows_max, floor(report_exp10(x))));
        last = share > 0 ? report_log10(share) : -HUGE_VAL;
        points[count] = (struct report_point){x, fmax(last, least)};
    }
    trace(arena, &chart->x, &chart->panels[0].y, points, NULL, count, line);
}

struct entry {
    const struct lab_strategy_result *strategy;
    const struct lab_histogram *sizes;
    enum report_ink ink;
    bool is_open; /* the strategy has no closed partitions */
    bool is_distribution_shared, is_distribution_drawn;
    struct tune_distribution distribution;
};

/* A line ends at the share of one partition. The axis ends at this factor below it. */
static const double below_last = 0.8;

/* The strategies whose sizes are known. */
struct shares {
    bool is_bytes;
    struct entry entries[REPORT_CURVES_MAX];
    size_t count;
    struct selection drawn;
    const char **unknown; /* labels of strategies of whose partitions no share is known in this unit */
    size_t unknown_count;
    uint64_t least, most;
    double least_share;
};

static bool has_partitions(const struct lab_strategy_result *strategy)
{
    return strategy->closed_rows.count + strategy->open_rows.count + strategy->closed_bytes.count +
               strategy->open_bytes.count >
           0;
}

/* Adds the strategies that are drawn. A strategy has the same colour in the charts of rows and of bytes. */
static void add_entries(const struct lab_result *result, struct report_arena *arena, struct shares *out)
{
    out->unknown = report_take(arena, result->strategy_count, sizeof *out->unknown);
    select_lines(result, has_partitions, arena, &out->drawn);
    for (size_t i = 0, drawn = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const bool is_drawn = drawn < out->drawn.count && out->drawn.items[drawn] == strategy;
        const enum report_ink ink = (enum report_ink)(REPORT_INK_LINE + (int)drawn);
        drawn += is_drawn;
        const struct lab_histogram *closed = report_sizes(strategy, out->is_bytes, LAB_CLOSED);
        const struct lab_histogram *open = report_sizes(strategy, out->is_bytes, LAB_OPEN);
        const struct lab_histogram *sizes = closed->count > 0 ? closed : open;
        const bool is_known =
            sizes->count > 0 && sizes->most > 0 && strategy->settings.observed != WL_OBSERVED_LARGEST;
        if (!has_partitions(strategy) || (is_drawn && !is_known))
            out->unknown[out->unknown_count++] = report_clean(arena, strategy->label);
        if (!is_drawn || !is_known)
            continue;
        const uint64_t least = sizes->least > 0 ? sizes->least : 1;
        out->least = out->least == 0 || least < out->least ? least : out->least;
        out->most = sizes->most > out->most ? sizes->most : out->most;
        out->least_share = fmin(out->least_share, below_last / (double)sizes->count);
        out->entries[out->count++] = (struct entry){
            .strategy = strategy,
            .sizes = sizes,
            .ink = ink,
            .is_open = sizes == open && strategy->settings.observed == WL_OBSERVED_AUTO,
        };
    }
}

/* A distribution that several strategies share is drawn once. */
static void find_distributions(struct shares *selection)
{
    for (size_t i = 0; i < selection->count; i++) {
        struct entry *entry = &selection->entries[i];
        entry->is_distribution_drawn =
            report_distribution(entry->strategy, selection->is_bytes, &entry->distribution);
        for (size_t k = 0; entry->is_distribution_drawn && k < i; k++) {
            struct entry *other = &selection->entries[k];
            if (other->is_distribution_drawn && other->distribution.p == entry->distribution.p &&
                other->distribution.threshold == entry->distribution.threshold) {
                other->is_distribution_shared = true;
                entry->is_distribution_drawn = false;
            }
        }
    }
}

static void add_note(struct report_arena *arena, struct report_chart *chart, const char *text)
{
    const char *note = chart->note != NULL ? chart->note : "";
    report_append(arena, &note, " ", "%s", text);
    chart->note = note[0] != 0 ? note : NULL;
}

/* As in the histograms, the range of tiny sizes ends with the largest tiny size, and the limit is shown
 * unless it is so far away that it would squeeze the lines. */
static void add_rules(const struct lab_result *result, const struct shares *selection,
                      struct report_extremes *extremes, struct report_arena *arena,
                      struct report_chart *chart)
{
    const bool is_bytes = selection->is_bytes;
    const uint64_t limit = is_bytes ? result->limits.partition_bytes : result->limits.partition_rows;
    const uint64_t tiny = is_bytes ? 0 : result->limits.tiny_rows;
    chart->rules = report_take(arena, 2, sizeof *chart->rules);
    if (tiny > 1 && tiny - 1 >= selection->least / 3) {
        chart->rules[chart->rule_count++] = (struct report_moment){
            .at = report_log10((double)(tiny - 1)),
            .text = report_text(arena, "tiny: below %s rows", report_exact(arena, tiny, REPORT_ROWS))};
        report_extremes_meet(extremes, (double)(tiny - 1));
    }
    if (limit == 0)
        return;
    const char *name = report_limit_text(arena, limit, is_bytes);
    if (limit / 100 > selection->most || limit < selection->least / 100 || (double)limit > REPORT_VALUE_MAX) {
        add_note(arena, chart,
                 report_text(arena, "The limit of %s lies %s of the axis.", name,
                             limit > selection->most ? "right" : "left"));
        return;
    }
    const struct report_moment rule = {.at = report_log10((double)limit),
                                       .text = report_text(arena, "limit: %s", name)};
    const bool is_first = chart->rule_count > 0 && chart->rules[0].at > rule.at;
    chart->rules[chart->rule_count] = is_first ? chart->rules[0] : rule;
    if (is_first)
        chart->rules[0] = rule;
    chart->rule_count++;
    report_extremes_meet(extremes, (double)limit);
}

static void fill_axes(const struct lab_result *result, const struct shares *selection,
                      struct report_arena *arena, struct report_chart *chart)
{
    struct report_extremes x = report_no_extremes;
    struct report_extremes y = report_no_extremes;
    report_extremes_meet(&x, fmin(REPORT_VALUE_MAX, (double)selection->least));
    report_extremes_meet(&x, fmin(REPORT_VALUE_MAX, (double)selection->most));
    report_extremes_meet(&y, 1);
    report_extremes_meet(&y, selection->least_share);
    for (size_t i = 0; i < selection->count; i++) {
        const struct entry *entry = &selection->entries[i];
        if (entry->is_distribution_drawn)
            report_extremes_meet(
                &x, fmin(REPORT_VALUE_MAX,
                         (double)tune_quantile(&entry->distribution, 1 - 1 / (double)entry->sizes->count)));
    }
    add_rules(result, selection, &x, arena, chart);
    x.is_tight = true;
    y.is_tight = true;
    const struct report_curves_axis x_axis = {
        selection->is_bytes ? "x: bytes in a partition" : "x: rows in a partition",
        selection->is_bytes ? REPORT_UNIT_BYTES : REPORT_UNIT_PLAIN, REPORT_LOG};
    const struct report_curves_axis y_axis = {"share of partitions larger than x", REPORT_UNIT_SHARE,
                                              REPORT_LOG};
    report_scale_fill(&x_axis, &x, arena, &chart->x);
    report_scale_fill(&y_axis, &y, arena, &chart->panels[0].y);
}

static const char *size_hint(const struct entry *entry, bool is_bytes, const struct lab_bin *bin,
                             struct report_arena *arena)
{
    const uint64_t total = entry->sizes->count;
    const char *unit = is_bytes ? "byte" : "row";
    const char *size = report_text(arena, "%s: %s %s%s", report_clean(arena, entry->strategy->label),
                                   report_grouped(arena, bin->size), unit, bin->size == 1 ? "" : "s");
    const char *share = report_percent(arena, (double)bin->count / (double)total);
    const char *partitions = report_text(arena, "%s%s partition%s", report_grouped(arena, total),
                                         entry->strategy->settings.observed != WL_OBSERVED_AUTO ? ""
                                         : entry->is_open                                       ? " open"
                                                                                                : " closed",
                                         total == 1 ? "" : "s");
    if (bin->count == 0)
        return report_text(arena, "%s, none of %s is larger", size, partitions);
    return report_text(arena, "%s, %s of %s %s larger (%s)", size, report_grouped(arena, bin->count),
                       partitions, bin->count == 1 ? "is" : "are", share);
}

/* Each size is a step down, from the share of partitions that are at least as large to the share that are
 * larger. The last step ends at the share of a single partition, the least share that was observed. Hints are
 * at the lower ends of steps that are far enough from the last hint to be pointed at separately. */
static void fill_sizes(const struct entry *entry, struct report_arena *arena,
                       const struct report_chart *chart, struct report_line *line)
{
    static const double gap = 0.01; /* share of the length of the axes */
    *line = (struct report_line){.ink = entry->ink};
    line->label = report_text(arena, "%s%s", report_clean(arena, entry->strategy->label),
                              entry->is_open ? " (open)" : "");
    size_t bin_count;
    struct lab_bin *bins = report_sorted(arena, entry->sizes, &bin_count);
    struct report_point *points = report_take(arena, 2 * bin_count + 1, sizeof *points);
    const char **hints = report_take(arena, 2 * bin_count + 1, sizeof *hints);
    const struct report_axis *y = &chart->panels[0].y;
    const double total = (double)entry->sizes->count;
    uint64_t larger = entry->sizes->count;
    struct report_point last = {-HUGE_VAL, HUGE_VAL}; /* of the last hint */
    points[0] = (struct report_point){chart->x.low, 0};
    for (size_t i = 0; i < bin_count; i++) {
        const double x = report_log10(fmin(REPORT_VALUE_MAX, fmax(1, (double)bins[i].size)));
        points[2 * i + 1] = (struct report_point){x, points[2 * i].y};
        larger -= bins[i].count;
        bins[i].count = larger;
        const double share = report_log10((larger > 0 ? (double)larger : 1) / total);
        points[2 * i + 2] = (struct report_point){x, share};
        const double away =
            fmax((x - last.x) / (chart->x.high - chart->x.low), (last.y - share) / (y->high - y->low));
        if (away >= gap || i + 1 == bin_count) {
            hints[2 * i + 2] = size_hint(entry, chart->is_bytes, &bins[i], arena);
            last = points[2 * i + 2];
        }
    }
    trace(arena, &chart->x, y, points, hints, 2 * bin_count + 1, line);
}

/* Between two percentiles nothing is known, so a line of them would say too much. At the size of each one the
 * share of larger partitions is between its own and that of the next, and this range is drawn. */
static void fill_percentiles(const struct entry *entry, struct report_arena *arena,
                             const struct report_chart *chart, struct report_line *line)
{
    struct lab_known_step steps[WL_OBSERVED_POINTS];
    const char *label = report_clean(arena, entry->strategy->label);
    *line = (struct report_line){.label = label, .ink = entry->ink, .is_points = true};
    line->samples = report_take(arena, WL_OBSERVED_POINTS, sizeof *line->samples);
    if (!lab_known_steps(entry->strategy, steps))
        return;
    for (size_t i = WL_OBSERVED_P50; i < WL_OBSERVED_MAX; i++) {
        if (steps[i].size == steps[i + 1].size)
            continue;
        const double high = report_log10(steps[i].share_above), least = steps[i + 1].share_above;
        const double bottom = chart->panels[0].y.low;
        const double low = least > 0 ? fmax(report_log10(least), bottom) : bottom;
        line->samples[line->sample_count++] = (struct report_sample){
            .x = report_log10(fmin(REPORT_VALUE_MAX, fmax(1, (double)steps[i].size))),
            .y = high,
            .low = low,
            .high = high,
            .hint = report_text(arena, "%s: %s to %s of the partitions are larger than %s bytes", label,
                                report_percent(arena, least), report_percent(arena, steps[i].share_above),
                                report_grouped(arena, steps[i].size))};
    }
}

/* Adds notes on the strategies that are not drawn. */
static void fill_notes(const struct shares *selection, struct report_arena *arena, struct report_chart *chart)
{
    bool has_open = false, has_percentiles = false;
    for (size_t i = 0; i < selection->count; i++) {
        has_open |= selection->entries[i].is_open;
        has_percentiles |= selection->entries[i].strategy->settings.observed == WL_OBSERVED_PERCENTILES;
    }
    if (has_open)
        add_note(arena, chart, "(open): no partition of the strategy was closed, so all of them count.");
    if (has_percentiles)
        add_note(arena, chart, "A range: only percentiles are known, and the share is between two of them.");
    add_note(arena, chart, selection_note(&selection->drawn, arena));
    if (selection->unknown_count > 0)
        add_note(arena, chart,
                 report_text(arena, "No partition, or no share of them is known: %s.",
                             list_of(selection->unknown, selection->unknown_count, arena)));
}

void report_survival_fill(const struct lab_result *result, struct report_arena *arena,
                          struct report_chart *chart)
{
    struct shares selection = {.is_bytes = chart->is_bytes, .least_share = 0.1};
    struct report_panel *panel = chart->panels = report_take(arena, 1, sizeof *panel);
    *panel = (struct report_panel){.label = "", .detail = "", .note = ""};
    panel->lines = report_take(arena, REPORT_LINES_MAX, sizeof *panel->lines);
    chart->panel_count = 1;
    add_entries(result, arena, &selection);
    if (selection.count == 0) {
        chart->absent = "no partition holds a row, or its size is not known in this unit";
        return;
    }
    find_distributions(&selection);
    fill_axes(result, &selection, arena, chart);
    bool has_distribution = false;
    for (size_t i = 0; i < selection.count; i++) {
        const struct entry *entry = &selection.entries[i];
        if (!entry->is_distribution_drawn)
            continue;
        has_distribution = true;
        struct report_line *line = &panel->lines[panel->line_count++];
        *line =
            (struct report_line){.label = "",
                                 .ink = entry->is_distribution_shared ? REPORT_INK_DISTRIBUTION : entry->ink,
                                 .is_distribution = true};
        fill_exact(arena, &entry->distribution, (double)entry->sizes->count, chart, line);
        panel->line_count -= line->sample_count == 0;
    }
    for (size_t i = 0; i < selection.count; i++) {
        struct report_line *line = &panel->lines[panel->line_count++];
        if (selection.entries[i].strategy->settings.observed == WL_OBSERVED_PERCENTILES) {
            fill_percentiles(&selection.entries[i], arena, chart, line);
            panel->line_count -= line->sample_count == 0;
        } else {
            fill_sizes(&selection.entries[i], arena, chart, line);
        }
    }
    if (has_distribution)
        report_legend_add(chart, REPORT_INK_DASHES, "exact distribution, hidden where the sizes follow it");
    if (panel->line_count == 0) { /* all percentiles are the largest size */
        chart->absent = "no share of the partitions is known to be larger than a size";
        return;
    }
    fill_notes(&selection, arena, chart);
}

struct latency {
    const struct lab_strategy_result *strategy;
    enum lab_latency latency;
    const char *noun; /* "write" */
};

enum { PERCENTILE_COUNT = 17 };

/* Sets *of to N, where 1 operation in N takes longer than the index-th percentile that is marked. Returns
 * false after the last one. */
static bool percentile(unsigned index, uint64_t *of)
{
    /* 50, 75, 90, 95, 99, 99.5, 99.9 ... % */
    static const uint64_t places[PERCENTILE_COUNT] = {2,       4,       10,       20,       100,      200,
                                                      1000,    2000,    10000,    20000,    100000,   200000,
                                                      1000000, 2000000, 10000000, 20000000, 100000000};
    *of = index < PERCENTILE_COUNT ? places[index] : 0;
    return index < PERCENTILE_COUNT;
}

/* The name of a percentile: "99.9%" for 1000. */
static const char *percentile_text(struct report_arena *arena, uint64_t of)
{
    int decimals = -2;
    uint64_t first = of;
    for (; first >= 10; first /= 10)
        decimals++;
    decimals += first > 1;
    return report_text(arena, "%.*f%%", decimals > 0 ? decimals : 0, 100 - 100 / (double)of);
}

/* Returns the x at which `upto` of `count` operations are to the left. For all of them, this is the x at
 * which one operation would be left. */
static double place_of(uint64_t count, uint64_t upto)
{
    return report_log10((double)count / (double)(upto < count ? count - upto : 1));
}

static const char *percentile_hint(const struct latency *latency, uint64_t of, double ns,
                                   struct report_arena *arena)
{
    return report_text(arena, "%s: %s of %s %ss took at most %s",
                       report_clean(arena, latency->strategy->label), percentile_text(arena, of),
                       report_grouped(arena, latency->strategy->latency[latency->latency].count),
                       latency->noun, report_time(arena, ns));
}

/* A line while it is being made: points, and their hints. */
struct path {
    struct report_point *points;
    const char **hints;
    size_t count;
};

static void put(struct path *path, double x, double y, const char *hint)
{
    path->points[path->count] = (struct report_point){x, y};
    path->hints[path->count++] = hint;
}

/* Adds a step at the latency `size` ns: operations from rank `below` to rank `upto` took at most that
 * long. */
static void add_bin(const struct latency *latency, double y, uint64_t size, uint64_t below, uint64_t upto,
                    struct report_arena *arena, struct path *path)
{
    const uint64_t count = latency->strategy->latency[latency->latency].count;
    put(path, place_of(count, below), y, NULL);
    uint64_t of;
    for (unsigned i = 0; percentile(i, &of); i++) {
        /* The percentile is in the first bin up to whose end enough operations have been counted. */
        const bool is_past = (lab_wide)(count - below) * of <= count;
        if (of <= count && !is_past && (lab_wide)(count - upto) * of <= count) {
            /* Prefer the metric, which was computed from latencies that were not rounded to bins. */
            double ns = (double)size, ms;
            const char *name = of == 2 ? "p50" : of == 100 ? "p99" : of == 1000 ? "p999" : NULL;
            if (name != NULL &&
                report_metric(latency->strategy,
                              report_text(arena, "%s.%s", lab_latency_name(latency->latency), name), &ms))
                ns = ms * 1e6;
            put(path, report_log10((double)of), y, percentile_hint(latency, of, ns, arena));
        }
    }
    put(path, place_of(count, upto), y, NULL);
}

/* Makes the line from the steps of the histogram. Samples at percentiles and at the slowest operation have
 * hints. */
static void fill_line(const struct latency *latency, const struct report_axis *x, const struct report_axis *y,
                      struct report_arena *arena, struct report_line *line)
{
    const struct lab_histogram *histogram = &latency->strategy->latency[latency->latency];
    size_t bin_count = 0;
    const struct lab_bin *bins = report_sorted(arena, histogram, &bin_count);
    const size_t most = 2 * bin_count + PERCENTILE_COUNT + 1;
    struct path path = {.points = report_take(arena, most, sizeof *path.points),
                        .hints = report_take(arena, most, sizeof *path.hints)};
    uint64_t below = 0;
    for (size_t i = 0; i < bin_count; i++) {
        /* The size of a rounded bin may exceed the largest latency; use the latter. */
        const uint64_t size = bins[i].size < histogram->most ? bins[i].size : histogram->most;
        add_bin(latency, report_at(y, (double)size / 1e9), size, below, below + bins[i].count, arena, &path);
        below += bins[i].count;
    }
    const char *label = report_clean(arena, latency->strategy->label);
    const char *slowest = report_time(arena, (double)histogram->most);
    put(&path, place_of(histogram->count, histogram->count), report_at(y, (double)histogram->most / 1e9),
        histogram->count == 1 ? report_text(arena, "%s: the one %s took %s", label, latency->noun, slowest)
                              : report_text(arena, "%s: the slowest of %s %ss took %s", label,
                                            report_grouped(arena, histogram->count), latency->noun, slowest));
    trace(arena, x, y, path.points, path.hints, path.count, line);
}

/* The operations with the names of their panels, and the metric of those without an answer. */
static const struct operation {
    enum lab_latency latency;
    const char *label, *detail, *noun;
    const char *failed_metric, *failed;
} operations[] = {
    {LAB_LATENCY_WRITE, "Writes", "from a row's arrival at its agent to its acknowledgement", "write",
     "writes.unresolved", "never acknowledged"},
    {LAB_LATENCY_READ, "Reads", "all partitions of a read", "read", "reads.failed", "failed"},
    {LAB_LATENCY_COUNTER, "Counter updates", "of a counter column", "update", NULL, NULL},
    {LAB_LATENCY_LWT, "Conditional updates", "lightweight transactions, all rounds", "update", NULL, NULL},
    {LAB_LATENCY_LOCK, "Locks", "from the request for a batch to the lock", "lock", NULL, NULL},
    {LAB_LATENCY_LEASE, "Leases", "from the request for a batch to the batch", "lease", "ids.failed",
     "failed"},
};
enum { OPERATION_COUNT = sizeof operations / sizeof operations[0] };

/* From this ratio of the longest to the shortest on, a linear axis shows only the longest. */
static const double linear_ratio_max = 4;
static const double nines_min = 1;
static bool has_latency(const struct lab_strategy_result *strategy)
{
    for (int i = 0; i < LAB_LATENCY_COUNT; i++) {
        if (strategy->latency[i].count > 0)
            return true;
    }
    return false;
}

static const char *why_absent(const struct lab_result *result, struct report_arena *arena)
{
    bool has_agents = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (has_latency(&result->strategies[i]))
            return NULL;
        has_agents |= result->strategies[i].events.stride > 0;
    }
    if (lab_result_is_observed(result))
        return "nothing was run, so nothing took time";
    if (!has_agents)
        return "the scenario has no agents, so operations take no time";
    for (size_t i = 0; i < result->strategy_count; i++) {
        for (int k = 0; k < LAB_LATENCY_COUNT; k++) {
            double value;
            const char *name = report_text(arena, "%s.p50", lab_latency_name((enum lab_latency)k));
            if (report_metric(&result->strategies[i], name, &value))
                return "the run was stored before latencies were kept; run its scenario again";
        }
    }
    return "no operation was answered";
}

/* The axis runs from 0 to the x at which one of all operations is left. */
static void fill_x_axis(const struct selection *selection, struct report_arena *arena,
                        struct report_axis *axis)
{
    uint64_t most = 1, of;
    unsigned count = 0;
    for (size_t i = 0; i < selection->count; i++) {
        for (int k = 0; k < LAB_LATENCY_COUNT; k++) {
            const uint64_t operations_count = selection->items[i]->latency[k].count;
            most = operations_count > most ? operations_count : most;
        }
    }
    axis->low = 0;
    axis->high = fmax(nines_min, report_log10((double)most));
    axis->title = "percentile: the share of operations that took no longer";
    while (percentile(count, &of))
        count++;
    axis->ticks = report_take(arena, count + 1, sizeof *axis->ticks);
    axis->ticks[axis->tick_count++] = (struct report_tick){.at = 0, .text = "0%"};
    for (unsigned i = 0; i < count; i++) {
        percentile(i, &of);
        const double at = report_log10((double)of);
        if (at <= axis->high) {
            /* 75%, 95%, 99.5% and so on have a stroke without a number. */
            axis->ticks[axis->tick_count++] =
                (struct report_tick){.at = at, .text = i > 0 && i % 2 == 1 ? "" : percentile_text(arena, of)};
        }
    }
}

static void fill_y_axis(const struct operation *operation, const struct selection *selection,
                        struct report_arena *arena, struct report_axis *axis)
{
    struct report_extremes extremes = report_no_extremes;
    for (size_t i = 0; i < selection->count; i++) {
        const struct lab_histogram *latency = &selection->items[i]->latency[operation->latency];
        if (latency->count > 0) {
            report_extremes_meet(&extremes, (double)latency->least / 1e9);
            report_extremes_meet(&extremes, (double)latency->most / 1e9);
        }
    }
    if (extremes.least > extremes.most)
        return;
    const bool is_log = extremes.least > 0 && extremes.most > linear_ratio_max * extremes.least;
    const struct report_curves_axis data = {"latency", REPORT_UNIT_SECONDS,
                                            is_log ? REPORT_LOG : REPORT_LINEAR};
    extremes.is_tight = true;
    report_scale_fill(&data, &extremes, arena, axis);
}

/* "never acknowledged: single 3, locked 1.2K" */
static const char *note_of(const struct operation *operation, const struct selection *selection,
                           struct report_arena *arena)
{
    const char *note = "";
    for (size_t i = 0; operation->failed_metric != NULL && i < selection->count; i++) {
        const struct lab_strategy_result *strategy = selection->items[i];
        double count;
        if (report_metric(strategy, operation->failed_metric, &count) && count > 0) {
            note = note[0] == 0 ? report_text(arena, "%s, and not in the lines: ", operation->failed)
                                : report_text(arena, "%s, ", note);
            note = report_text(arena, "%s%s %s", note, report_clean(arena, strategy->label),
                               report_number(arena, count));
        }
    }
    return note;
}

static void fill_panel(const struct operation *operation, const struct selection *selection,
                       const struct report_axis *x, struct report_arena *arena, struct report_panel *panel)
{
    *panel = (struct report_panel){.label = operation->label, .detail = operation->detail};
    fill_y_axis(operation, selection, arena, &panel->y);
    panel->lines = report_take(arena, REPORT_CURVES_MAX, sizeof *panel->lines);
    panel->note = note_of(operation, selection, arena);
    for (size_t i = 0; i < selection->count; i++) {
        const struct lab_strategy_result *strategy = selection->items[i];
        if (strategy->latency[operation->latency].count == 0)
            continue;
        struct report_line *line = &panel->lines[panel->line_count++];
        line->label = report_clean(arena, strategy->label);
        line->ink = (enum report_ink)(REPORT_INK_LINE + (int)i);
        const struct latency latency = {strategy, operation->latency, operation->noun};
        fill_line(&latency, x, &panel->y, arena, line);
    }
}

void report_latency_fill(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    chart->absent = why_absent(result, arena);
    if (chart->absent != NULL)
        return;
    struct selection selection;
    select_lines(result, has_latency, arena, &selection);
    fill_x_axis(&selection, arena, &chart->x);
    chart->panels = report_take(arena, OPERATION_COUNT, sizeof *chart->panels);
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        struct report_panel *panel = &chart->panels[chart->panel_count];
        fill_panel(&operations[i], &selection, &chart->x, arena, panel);
        chart->panel_count += panel->line_count > 0;
    }
    const char *note = selection_note(&selection, arena);
    chart->note = note[0] != 0 ? note : NULL;
}
