/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The share of partitions that are larger than each size. In: a result. Kept: the strategies that are drawn,
 * and the exact distributions of their closed partitions, each once. Out: one line per strategy on log axes,
 * with the limits as rules; only ranges where no more than percentiles is known. */

#include "lab/known.h"
#include "parts.h"
#include "tune/odds.h"

/* The exact distribution of a strategy's closed partitions. */
struct exact {
    struct tune_distribution rows;
    uint64_t each; /* bytes per row, if the chart is in bytes and all rows have the same size; otherwise 1 */
    uint64_t base; /* for charts in bytes: overhead of a partition without its rows */
};

/* With up to STEPS_MAX sizes between the ends of the axis, each size has its own step. With more sizes, the
 * steps would be too narrow to be visible. */
enum { STEPS_MAX = 1500, GRID = 2 * STEPS_MAX };
static const double rows_max = 1e18;
static const double weight_tolerance = 0.02;

/* Returns the number of rows of a bin's partitions; 0 if they differ. */
static uint64_t rows_of(const struct lab_bin *bin)
{
    return bin->weight % bin->count == 0 ? bin->weight / bin->count : 0;
}

/* Returns whether all rows have the same size: whether the bytes of partitions are a constant plus a multiple
 * of their rows, except for the bytes of timestamps, which grow during a run. Stores the constant and the
 * bytes per row. */
static bool is_of_one_size(struct report_arena *arena, const struct lab_histogram *bytes, uint64_t *base,
                           uint64_t *each)
{
    if (bytes->weight == 0 || bytes->is_rounded || bytes->sum == 0) {
        return false;
    }
    size_t count;
    const struct lab_bin *bins = report_sorted(arena, bytes, &count);
    const uint64_t least = rows_of(&bins[0]), most = rows_of(&bins[count - 1]);
    bool is_so = least > 0 && most > 0 && (most > least || count == 1);
    double slope = 0, offset = 0;
    if (is_so) {
        slope = count == 1 ? (double)bins[0].size / (double)least
                           : (double)(bins[count - 1].size - bins[0].size) / (double)(most - least);
        slope = floor(slope + 0.5);
        offset = fmax(0, (double)bins[0].size - slope * (double)least);
        is_so = slope >= 1;
    }
    for (size_t i = 0; is_so && i < count; i++) {
        const double rows = (double)bins[i].weight / (double)bins[i].count;
        const double apart = fabs(offset + slope * rows - (double)bins[i].size);
        is_so = rows_of(&bins[i]) > 0 && apart <= weight_tolerance * (double)bins[i].size;
    }
    *base = (uint64_t)offset;
    *each = (uint64_t)slope;
    return is_so;
}

/* Stores in *out the payload of a row in bytes, which is the weight that weighted strategies use. Returns
 * false if rows differ in it. */
static bool payload_of(const struct lab_strategy_result *strategy, uint64_t each, uint64_t *out)
{
    const struct lab_metric *payload = lab_metrics_find(&strategy->metrics, "writes.payload_bytes");
    const struct lab_metric *rows = lab_metrics_find(&strategy->metrics, "writes.rows");
    *out = each;
    if (payload == NULL || rows == NULL || rows->value < 1) {
        return true;
    }
    *out = (uint64_t)(payload->value / rows->value);
    return *out > 0 && (double)*out * rows->value == payload->value;
}

/* Stores the distribution. Returns false when there is none: for other kinds of strategy, below
 * REPORT_CLOSED_MIN closed partitions, with a greatest age, or when it needs rows of equal size and they are
 * not. */
static bool find_exact(struct report_arena *arena, const struct lab_strategy_result *strategy, bool is_bytes,
                       struct exact *out)
{
    const struct bk_strategy *settings = &strategy->settings.strategy;
    const bool is_weighted = settings->kind == BK_WEIGHTED;
    *out = (struct exact){.each = 1};
    if ((settings->kind != BK_PROBABILISTIC && settings->kind != BK_WEIGHTED) || settings->max_age_ns != 0 ||
        strategy->closed_rows.count < REPORT_CLOSED_MIN || strategy->settings.observed != WL_OBSERVED_AUTO) {
        return false;
    }
    uint64_t base = 0, each = 1, payload = 1;
    if ((is_weighted || is_bytes) && !is_of_one_size(arena, &strategy->closed_bytes, &base, &each)) {
        return false;
    }
    if (is_weighted && !payload_of(strategy, each, &payload)) {
        return false;
    }
    out->each = is_bytes ? each : 1;
    out->base = is_bytes ? base : 0;
    out->rows = tune_distribution_of(settings, payload);
    return true;
}

static bool is_same(const struct exact *one, const struct exact *other)
{
    return one->each == other->each && one->base == other->base && one->rows.p == other->rows.p &&
           one->rows.threshold == other->rows.threshold && one->rows.whole == other->rows.whole;
}

/* The size that at most `share` of the partitions exceed; 0 when it is above 1e18. */
static double end_of(const struct exact *distribution, double share)
{
    const double each = (double)distribution->each;
    const double rows = (double)tune_quantile(&distribution->rows, 1 - share);
    return rows * each <= rows_max ? (double)distribution->base + rows * each : 0;
}

static double above(const struct exact *distribution, double rows)
{
    return tune_above(&distribution->rows, (uint64_t)rows);
}

/* Adds both corners of the step at each number of rows, until no partition is larger. Returns the number of
 * points. */
static size_t fill_steps(const struct exact *distribution, double from, double to,
                         struct report_point *points)
{
    size_t count = 0;
    double last = report_log10(above(distribution, from - 1));
    for (double rows = from; rows <= to && last > -HUGE_VAL; rows++) {
        const double share = above(distribution, rows);
        const double x = report_log10(rows);
        const double y = share > 0 ? report_log10(share) : -HUGE_VAL;
        points[count++] = (struct report_point){x, last};
        points[count++] = (struct report_point){x, y};
        last = y;
    }
    return count;
}

static size_t fill_grid(const struct exact *distribution, double from, double to, struct report_point *points)
{
    const double low = report_log10(from), high = report_log10(to);
    size_t count = 0;
    double last = 0;
    for (size_t i = 0; i <= GRID && last > -HUGE_VAL; i++) {
        const double x = low + (high - low) * (double)i / GRID;
        const double share = above(distribution, fmin(rows_max, floor(report_exp10(x))));
        last = share > 0 ? report_log10(share) : -HUGE_VAL;
        points[count++] = (struct report_point){x, last};
    }
    return count;
}

/* Makes a line of the distribution within the axes, down to the share of one in `partitions`. */
static void fill_exact(struct report_arena *arena, const struct exact *distribution, double partitions,
                       const struct report_chart *chart, struct report_line *line)
{
    const double least = -report_log10(partitions);
    const double base = (double)distribution->base, low = report_exp10(chart->x.low);
    const double from = fmax(1, floor((low - base) / (double)distribution->each));
    const double to = fmin(rows_max, ceil((report_exp10(chart->x.high) - base) / (double)distribution->each));
    struct report_point *points = report_take(arena, 2 * STEPS_MAX + 2, sizeof *points);
    if (to < from) {
        return;
    }
    size_t count = to - from < STEPS_MAX ? fill_steps(distribution, from, to, points)
                                         : fill_grid(distribution, from, to, points);
    while (count > 1 && points[count - 2].y < least) {
        count--;
    }
    points[count - 1].y = fmax(points[count - 1].y, least);
    const double each = report_log10((double)distribution->each);
    for (size_t i = 0; i < count; i++) {
        const double x = distribution->base == 0
                             ? points[i].x + each
                             : report_log10(base + (double)distribution->each * report_exp10(points[i].x));
        points[i].x = fmin(chart->x.high, fmax(chart->x.low, x));
    }
    report_trace(arena, &chart->x, &chart->y, points, NULL, count, line);
}

struct entry {
    const struct lab_strategy_result *strategy;
    const struct lab_histogram *sizes;
    enum report_ink ink;
    bool is_open; /* the strategy has no closed partitions */
    bool has_distribution, is_distribution_shared, is_distribution_drawn;
    struct exact distribution;
};

/* A line ends at the share of one partition. The axis ends at this factor below it. */
static const double below_last = 0.8;

/* The strategies whose sizes are known. */
struct selection {
    bool is_bytes;
    struct entry entries[REPORT_CURVES_MAX];
    size_t count;
    struct report_selection drawn;
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
static void add_entries(const struct lab_result *result, struct report_arena *arena, struct selection *out)
{
    out->unknown = report_take(arena, result->strategy_count, sizeof *out->unknown);
    report_select(result, has_partitions, arena, &out->drawn);
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
        if (!has_partitions(strategy) || (is_drawn && !is_known)) {
            out->unknown[out->unknown_count++] = report_clean(arena, strategy->label);
        }
        if (!is_drawn || !is_known) {
            continue;
        }
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
static void find_distributions(struct report_arena *arena, struct selection *selection)
{
    for (size_t i = 0; i < selection->count; i++) {
        struct entry *entry = &selection->entries[i];
        entry->has_distribution =
            find_exact(arena, entry->strategy, selection->is_bytes, &entry->distribution);
        entry->is_distribution_drawn = entry->has_distribution;
        for (size_t k = 0; entry->has_distribution && k < i; k++) {
            struct entry *other = &selection->entries[k];
            if (other->is_distribution_drawn && is_same(&other->distribution, &entry->distribution)) {
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
static void add_rules(const struct lab_result *result, const struct selection *selection,
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
    if (limit == 0) {
        return;
    }
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
    if (is_first) {
        chart->rules[0] = rule;
    }
    chart->rule_count++;
    report_extremes_meet(extremes, (double)limit);
}

static void fill_axes(const struct lab_result *result, const struct selection *selection,
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
        const double end =
            entry->is_distribution_drawn ? end_of(&entry->distribution, 1 / (double)entry->sizes->count) : 0;
        if (end > 0) {
            report_extremes_meet(&x, end);
        }
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
    report_scale_fill(&y_axis, &y, arena, &chart->y);
}

static const char *hint_of(const struct entry *entry, bool is_bytes, const struct lab_bin *bin,
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
    if (bin->count == 0) {
        return report_text(arena, "%s, none of %s is larger", size, partitions);
    }
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
    *line = (struct report_line){.ink = entry->ink, .is_dense = true};
    line->label = report_text(arena, "%s%s", report_clean(arena, entry->strategy->label),
                              entry->is_open ? " (open)" : "");
    size_t bin_count;
    struct lab_bin *bins = report_sorted(arena, entry->sizes, &bin_count);
    struct report_point *points = report_take(arena, 2 * bin_count + 1, sizeof *points);
    const char **hints = report_take(arena, 2 * bin_count + 1, sizeof *hints);
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
        const double away = fmax((x - last.x) / (chart->x.high - chart->x.low),
                                 (last.y - share) / (chart->y.high - chart->y.low));
        if (away >= gap || i + 1 == bin_count) {
            hints[2 * i + 2] = hint_of(entry, chart->is_bytes, &bins[i], arena);
            last = points[2 * i + 2];
        }
    }
    report_trace(arena, &chart->x, &chart->y, points, hints, 2 * bin_count + 1, line);
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
    if (!lab_known_steps(entry->strategy, steps)) {
        return;
    }
    for (size_t i = WL_OBSERVED_P50; i < WL_OBSERVED_MAX; i++) {
        if (steps[i].size == steps[i + 1].size) {
            continue;
        }
        const double high = report_log10(steps[i].share_above), least = steps[i + 1].share_above;
        const double low = least > 0 ? fmax(report_log10(least), chart->y.low) : chart->y.low;
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
static void fill_notes(const struct selection *selection, struct report_arena *arena,
                       struct report_chart *chart)
{
    bool has_open = false, has_percentiles = false;
    for (size_t i = 0; i < selection->count; i++) {
        has_open |= selection->entries[i].is_open;
        has_percentiles |= selection->entries[i].strategy->settings.observed == WL_OBSERVED_PERCENTILES;
    }
    if (has_open) {
        add_note(arena, chart, "(open): no partition of the strategy was closed, so all of them count.");
    }
    if (has_percentiles) {
        add_note(arena, chart, "A range: only percentiles are known, and the share is between two of them.");
    }
    add_note(arena, chart, report_selection_note(&selection->drawn, arena));
    if (selection->unknown_count > 0) {
        add_note(arena, chart,
                 report_text(arena, "No partition, or no share of them is known: %s.",
                             report_list(selection->unknown, selection->unknown_count, arena)));
    }
}

void report_survival_fill(const struct lab_result *result, struct report_arena *arena,
                          struct report_chart *chart)
{
    struct selection selection = {.is_bytes = chart->is_bytes, .least_share = 0.1};
    chart->lines = report_take(arena, REPORT_LINES_MAX, sizeof *chart->lines);
    add_entries(result, arena, &selection);
    if (selection.count == 0) {
        chart->absent = "no partition holds a row, or its size is not known in this unit";
        return;
    }
    find_distributions(arena, &selection);
    fill_axes(result, &selection, arena, chart);
    bool has_distribution = false;
    for (size_t i = 0; i < selection.count; i++) {
        const struct entry *entry = &selection.entries[i];
        if (!entry->is_distribution_drawn) {
            continue;
        }
        has_distribution = true;
        struct report_line *line = &chart->lines[chart->line_count++];
        *line =
            (struct report_line){.label = "",
                                 .ink = entry->is_distribution_shared ? REPORT_INK_DISTRIBUTION : entry->ink,
                                 .is_dense = true,
                                 .is_distribution = true};
        fill_exact(arena, &entry->distribution, (double)entry->sizes->count, chart, line);
        chart->line_count -= line->sample_count == 0;
    }
    for (size_t i = 0; i < selection.count; i++) {
        struct report_line *line = &chart->lines[chart->line_count++];
        if (selection.entries[i].strategy->settings.observed == WL_OBSERVED_PERCENTILES) {
            fill_percentiles(&selection.entries[i], arena, chart, line);
            chart->line_count -= line->sample_count == 0;
        } else {
            fill_sizes(&selection.entries[i], arena, chart, line);
        }
    }
    if (has_distribution) {
        report_legend_add(chart, REPORT_INK_DASHES, "exact distribution, hidden where the sizes follow it");
    }
    if (chart->line_count == 0) { /* all percentiles are the largest size */
        chart->absent = "no share of the partitions is known to be larger than a size";
        return;
    }
    fill_notes(&selection, arena, chart);
}
