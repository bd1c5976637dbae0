/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of bars. In: a result. Out: one panel per strategy, with all panels on the same axes: histograms
 * of rows or bytes per partition, in bins of sizes with round edges, with bars of closed and of open
 * partitions and the bars that the exact distribution expects; histograms of partitions per read; and the
 * share of the bytes, replicas included, that each node holds. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "parts.h"

/* Bins of sizes, equally wide on a log axis, with whole numbers as edges.
 *
 * Bin i has the sizes n with edges[i] < n <= edges[i + 1], so that a partition of exactly the limit is left
 * of the limit. There are 20 or 10 bins per decade. Edges are rounded down, and duplicates are removed: below
 * 10, a bin has one or two sizes. */
enum { EDGES_MAX = 400 };
struct bins {
    uint64_t edges[EDGES_MAX];
    size_t count; /* number of bins, one less than the number of edges */
};

/* 10^(k/20) to five digits, but 2, 4, 5 and 8 instead of 1.9953, 3.9811, 5.0119 and 7.9433: limits are round
 * numbers, and the bar of a partition that is just within a limit must not extend beyond it. */
static const unsigned mantissas[20] = {10000, 11220, 12589, 14125, 15849, 17783, 20000, 22387, 25119, 28184,
                                       31623, 35481, 40000, 44668, 50000, 56234, 63096, 70795, 80000, 89125};

/* The numbers of decades for which a decade has 20 bins. With more decades such bins would be too narrow.
 * With fewer, the sizes are so small that some bins would hold one size and others two, which would look like
 * a distribution. */
enum { FINE_DECADES_MIN = 4, FINE_DECADES_MAX = 8 };
static const double below_one_log10 = -0.15;

static unsigned decade_of(uint64_t value)
{
    unsigned decade = 0;
    for (; value >= 10; value /= 10)
        decade++;
    return decade;
}

static uint64_t edge_of(unsigned decade, unsigned mantissa)
{
    lab_wide edge = mantissa;
    for (unsigned i = 0; i < decade; i++)
        edge *= 10;
    edge /= 10000;
    return edge > UINT64_MAX ? UINT64_MAX : (uint64_t)edge;
}

/* Makes bins from the decade of `least` (if 1, from the size 0) to the first edge that is at least `most`. */
static void bins_make(uint64_t least, uint64_t most, struct bins *out)
{
    /* A size on an edge is in the bin below the edge, so the first bin begins below the least size. */
    unsigned first = decade_of(least > 1 ? least - 1 : 1);
    unsigned last = decade_of(most);
    size_t used = 0;
    unsigned decades = last >= first ? last - first : 0;
    bool has_many_sizes = decades >= FINE_DECADES_MIN || first >= 2;
    unsigned step = has_many_sizes && decades <= FINE_DECADES_MAX ? 1 : 2;
    if (least <= 1)
        out->edges[used++] = 0;
    for (unsigned decade = first;; decade++) {
        for (unsigned i = 0; i < 20; i += step) {
            uint64_t edge = edge_of(decade, mantissas[i]);
            if (used == 0 || edge > out->edges[used - 1]) {
                assert(used < EDGES_MAX);
                out->edges[used++] = edge;
            }
            if (edge >= most && used >= 2) {
                out->count = used - 1;
                return;
            }
        }
    }
}

/* The bin of a size; sizes outside of the bins belong to the first or the last bin. */
static size_t bins_find(const struct bins *bins, uint64_t size)
{
    size_t bin = 0;
    while (bin + 1 < bins->count && size > bins->edges[bin + 1])
        bin++;
    return bin;
}

/* Where an edge is drawn; the edge 0 is drawn slightly below 1. */
static double edge_log10(uint64_t edge)
{
    return edge == 0 ? below_one_log10 : report_log10((double)edge);
}

static void bins_axis(struct report_arena *arena, const struct bins *bins, bool is_bytes, const char *title,
                      struct report_axis *out)
{
    out->low = edge_log10(bins->edges[0]);
    out->high = edge_log10(bins->edges[bins->count]);
    out->title = report_text(arena, "%s (log scale)", title);
    report_scale_log(arena, is_bytes ? REPORT_UNIT_BYTES : REPORT_UNIT_PLAIN, false, out);
}

/* A bar of one hundredth of the panel's height is one pixel high. */
static const double linear_ratio_max = 100;
static const double log_headroom = 1.4;
/* A log axis begins at half a partition, so that a bar of one partition has a height. */
static const double log_low = 0.5;

struct range {
    double least, most; /* counts of the bars; most is 0 if there are no bars */
};

static struct range find_range(const struct report_panel *panels, size_t count, bool is_share)
{
    struct range range = {0, 0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < panels[i].bar_count && panels[i].counts_are_shares == is_share; k++) {
            const struct report_bar *bar = &panels[i].bars[k];
            const double bars = bar->high - bar->low;
            range.most = bar->high > range.most ? bar->high : range.most;
            range.least = range.least == 0 || bars < range.least ? bars : range.least;
        }
    }
    return range;
}

static double curve_top(const struct report_panel *panels, size_t count)
{
    double top = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < panels[i].curve_count; k++)
            top = panels[i].curve[k].y > top ? panels[i].curve[k].y : top;
    }
    return top;
}

static double log_of(double count)
{
    return count > log_low ? report_log10(count) : report_log10(log_low);
}

static void turn_to_logs(struct report_panel *panel)
{
    for (size_t i = 0; i < panel->bar_count; i++) {
        panel->bars[i].low = log_of(panel->bars[i].low);
        panel->bars[i].high = log_of(panel->bars[i].high);
    }
    if (panel->curve_count == 0)
        return;
    /* At both ends, points with an expected count below one half are left out. */
    size_t first = 0, end = panel->curve_count;
    while (first + 1 < end && panel->curve[first + 1].y <= log_low)
        first++;
    while (end > first + 1 && panel->curve[end - 2].y <= log_low)
        end--;
    panel->curve += first;
    panel->curve_count = end - first;
    for (size_t i = 0; i < panel->curve_count; i++)
        panel->curve[i].y = log_of(panel->curve[i].y);
}

static void fill_counts(struct report_arena *arena, double top, bool is_log, const char *title,
                        struct report_axis *out)
{
    static const double headroom = 1.06, steps_max = 5;
    *out = (struct report_axis){.title = title, .high = top > 0 ? top * headroom : 1};
    if (is_log) {
        out->low = report_log10(log_low);
        out->high = report_log10(top * log_headroom);
        report_scale_log(arena, REPORT_UNIT_PLAIN, true, out);
    } else {
        report_scale_linear(arena, REPORT_UNIT_PLAIN, steps_max, 1, out);
    }
}

/* Sets the y axes of a histogram's panels: panels with counts share one axis, and panels in per cent share
 * another. If the lowest bar would not be visible next to the highest one, the axis of counts, with bars and
 * curves, is logarithmic: the chart must show a single partition that exceeds a limit. */
static void scale_counts(struct report_arena *arena, struct report_panel *panels, size_t count,
                         const char *title)
{
    const struct range range = find_range(panels, count, false);
    const struct range shares = find_range(panels, count, true);
    const double curve = curve_top(panels, count);
    const bool is_log = range.most > linear_ratio_max * range.least;
    struct report_axis axis, percent;
    fill_counts(arena, curve > range.most ? curve : range.most, is_log,
                is_log ? report_text(arena, "%s (log)", title) : title, &axis);
    fill_counts(arena, shares.most, false, report_text(arena, "%% of %s", title), &percent);
    for (size_t i = 0; i < count; i++) {
        panels[i].y = panels[i].counts_are_shares ? percent : axis;
        if (is_log && !panels[i].counts_are_shares)
            turn_to_logs(&panels[i]);
    }
}

/* Parts of the curve below this share of the top are not drawn, because they would coincide with the axis. */
static const double visible_share = 0.004;

/* P(N <= edge), interpolated if the edge is between two sizes. */
static double at_or_below(const struct tune_distribution *distribution, double edge)
{
    static const double edge_max = 9e18;
    return edge >= edge_max ? 1 : tune_below(distribution, (uint64_t)floor(edge) + 1);
}

/* Sets the curve of a panel to the outline of the bars that the distribution expects of `closed` partitions,
 * from its first visible bin to its last. */
static void outline(const struct tune_distribution *distribution, const struct bins *bins, double closed,
                    struct report_arena *arena, struct report_panel *panel)
{
    double top = 0;
    panel->curve = report_take(arena, 2 * bins->count + 2, sizeof *panel->curve);
    for (int pass = 0; pass < 2; pass++) {
        double low = 0;
        for (size_t i = 0; i < bins->count; i++) {
            double next = at_or_below(distribution, (double)bins->edges[i + 1]);
            double y = closed * (next - low);
            low = next;
            if (pass == 0) {
                top = y > top ? y : top;
            } else if (y > 0 && y >= visible_share * top) {
                struct report_point *point = panel->curve + panel->curve_count;
                const double from = edge_log10(bins->edges[i]);
                if (panel->curve_count == 0)
                    *point++ = (struct report_point){.x = from, .y = 0};
                *point++ = (struct report_point){.x = from, .y = y};
                *point++ = (struct report_point){.x = edge_log10(bins->edges[i + 1]), .y = y};
                panel->curve_count = (size_t)(point - panel->curve);
            }
        }
    }
    if (panel->curve_count > 0) {
        const double end = panel->curve[panel->curve_count - 1].x;
        panel->curve[panel->curve_count++] = (struct report_point){.x = end, .y = 0};
    }
}

/* A caveat for comparing bars with the distribution; "" when there is none. */
static const char *distribution_note(struct report_arena *arena, const struct lab_strategy_result *strategy)
{
    const uint64_t closed = strategy->closed_rows.count;
    const uint64_t open = strategy->open_rows.count;
    if (closed + open == 0)
        return "no partitions";
    if (strategy->settings.strategy.kind != BK_KIND_PROBABILISTIC ||
        strategy->settings.strategy.max_age_ns != 0)
        return "";
    if (closed == 0)
        return "none closed: nothing to compare with the distribution";
    if (closed < REPORT_CLOSED_MIN)
        return report_text(arena, "%" PRIu64 " closed: too few to compare with the distribution", closed);
    if (open >= closed / 10)
        return report_text(
            arena, "%s open, %s closed: large ones are still open, so the closed ones are left of the curve",
            report_number(arena, (double)open), report_number(arena, (double)closed));
    return "";
}

struct domain {
    uint64_t least, most; /* the range of sizes that occur; most is 0 if there are none */
    uint64_t limit;       /* 0 if there is none */
    uint64_t shown;       /* the largest size that the axis must reach */
};

static struct domain find_domain(const struct lab_result *result, bool is_bytes)
{
    struct domain domain = {.limit =
                                is_bytes ? result->limits.partition_bytes : result->limits.partition_rows};
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        for (int state = 0; state < LAB_STATES; state++) {
            const struct lab_histogram *sizes = report_sizes(strategy, is_bytes, state);
            domain.most = sizes->most > domain.most ? sizes->most : domain.most;
            if (sizes->count > 0 && (domain.least == 0 || sizes->least < domain.least))
                domain.least = sizes->least > 0 ? sizes->least : 1;
        }
        double min;
        if (is_bytes && strategy->settings.observed == WL_OBSERVED_PERCENTILES &&
            report_metric(strategy, "partitions.all.bytes.min", &min) && min >= 1 &&
            min < (double)domain.least)
            domain.least = (uint64_t)min;
    }
    /* Axes of rows begin at 1. Axes of bytes begin at the least size, because partitions of a few bytes do
     * not occur. */
    domain.least = is_bytes ? domain.least : 1;
    const uint64_t shown = report_limit_shown(domain.limit, domain.most);
    domain.shown = shown > domain.most ? shown : domain.most;
    if (domain.most != 0 && domain.least < UINT64_MAX / 10 && domain.shown < 10 * domain.least)
        domain.shown = 10 * domain.least;
    return domain;
}

static const double *counts_of(const struct lab_histogram *histogram, const struct bins *bins,
                               struct report_arena *arena)
{
    size_t count;
    const struct lab_bin *sorted = report_sorted(arena, histogram, &count);
    double *counts = report_take(arena, bins->count, sizeof *counts);
    for (size_t i = 0; i < count; i++)
        counts[bins_find(bins, sorted[i].size)] += (double)sorted[i].count;
    return counts;
}

static const char *sizes_of(const struct report_bar *bar, bool is_bytes, struct report_arena *arena)
{
    const char *last = report_grouped(arena, (uint64_t)bar->last), *unit = is_bytes ? "byte" : "row";
    if (bar->first == bar->last)
        return report_text(arena, "%s %s%s", last, unit, bar->last == 1 ? "" : "s");
    return report_text(arena, "%s to %s %ss", report_grouped(arena, (uint64_t)bar->first), last, unit);
}

/* "2,049 to 2,560 rows: 1,204 closed partitions, 3.1% of all; the exact distribution expects 1,198.7". */
static const char *hint_of(const struct lab_strategy_result *strategy, bool is_bytes,
                           const struct report_bar *bar, struct report_arena *arena)
{
    const uint64_t closed = report_sizes(strategy, is_bytes, LAB_CLOSED)->count;
    const double total = (double)closed + (double)report_sizes(strategy, is_bytes, LAB_OPEN)->count;
    const char *state = strategy->settings.observed != WL_OBSERVED_AUTO ? "observed"
                        : bar->ink == REPORT_INK_CLOSED                 ? "closed"
                                                                        : "open";
    const char *hint = report_text(arena, "%s: %s %s partition%s, %s of all", sizes_of(bar, is_bytes, arena),
                                   report_full(arena, bar->count), state, bar->count == 1 ? "" : "s",
                                   report_percent(arena, bar->count / total));
    struct tune_distribution distribution;
    if (bar->ink != REPORT_INK_CLOSED || !report_distribution(strategy, is_bytes, &distribution))
        return hint;
    const double expected =
        (double)closed * (at_or_below(&distribution, bar->last) - at_or_below(&distribution, bar->first - 1));
    return report_text(arena, "%s; the exact distribution expects %s", hint,
                       report_full(arena, floor(10 * expected + 0.5) / 10));
}

/* Bars of open partitions are on top of those of closed ones. */
static void fill_bars(const struct lab_strategy_result *strategy, bool is_bytes, const struct bins *bins,
                      struct report_arena *arena, struct report_panel *panel)
{
    const double *counts[LAB_STATES];
    for (int state = 0; state < LAB_STATES; state++)
        counts[state] = counts_of(report_sizes(strategy, is_bytes, state), bins, arena);
    panel->bars = report_take(arena, LAB_STATES * bins->count, sizeof *panel->bars);
    for (size_t i = 0; i < LAB_STATES * bins->count; i++) {
        const size_t bin = i / LAB_STATES, state = i % LAB_STATES;
        const double low = state == LAB_OPEN ? counts[LAB_CLOSED][bin] : 0;
        if (counts[state][bin] > 0) {
            struct report_bar *bar = &panel->bars[panel->bar_count++];
            *bar = (struct report_bar){.from = edge_log10(bins->edges[bin]),
                                       .to = edge_log10(bins->edges[bin + 1]),
                                       .low = low,
                                       .high = low + counts[state][bin],
                                       .first = (double)(bins->edges[bin] + 1),
                                       .last = (double)bins->edges[bin + 1],
                                       .count = counts[state][bin],
                                       .ink = state == LAB_OPEN ? REPORT_INK_OPEN : REPORT_INK_CLOSED};
            bar->hint = hint_of(strategy, is_bytes, bar, arena);
        }
    }
}

/* Percentiles do not say where between two of them the sizes are. */
static void widen_bars(const struct lab_strategy_result *strategy, const struct bins *bins,
                       struct report_arena *arena, struct report_panel *panel)
{
    double min = 1;
    report_metric(strategy, "partitions.all.bytes.min", &min);
    const uint64_t least = min >= 1 ? (uint64_t)min : 1;
    for (size_t i = 0; i < panel->bar_count; i++) {
        struct report_bar *bar = &panel->bars[i];
        const double from = i > 0 ? bar[-1].to : edge_log10(bins->edges[bins_find(bins, least)]);
        bar->from = fmin(from, bar->from);
        bar->first = i > 0 ? bar[-1].last + 1 : (double)least;
        bar->hint = report_text(arena, "%s to %s bytes: %s%% of the partitions",
                                report_grouped(arena, (uint64_t)bar->first),
                                report_grouped(arena, (uint64_t)bar->last), report_full(arena, bar->count));
    }
}

/* Returns a note on the sizes that a file of observed partitions does not give. */
static const char *observed_note(const struct lab_strategy_result *strategy, bool is_bytes)
{
    if (!is_bytes && strategy->open_rows.count == 0)
        return "the file does not give the rows of partitions";
    if (strategy->settings.observed == WL_OBSERVED_PERCENTILES)
        return "only percentiles are known: a bar is the share between two of them, and its sizes may be "
               "anywhere in it";
    return "";
}

/* Open partitions say nothing about a strategy's precision, so the percentiles are those of closed partitions
 * if there are any. */
static void fill_figures(const struct lab_strategy_result *strategy, bool is_bytes,
                         struct report_arena *arena, struct report_panel *panel)
{
    const enum report_unit unit = is_bytes ? REPORT_BYTES : REPORT_ROWS;
    const char *of = report_sizes(strategy, is_bytes, LAB_CLOSED)->count > 0 ? "closed" : "all";
    const char *what = is_bytes ? "bytes" : "rows";
    const struct {
        const char *name, *metric;
        enum report_unit unit;
        enum report_alarm alarm;
        bool is_key;
    } wanted[] = {
        {"partitions", "partitions.total", REPORT_ROWS, REPORT_NO_ALARM, true},
        {"closed", "partitions.closed", REPORT_ROWS, REPORT_NO_ALARM, false},
        {report_text(arena, "p50 of %s", of), report_text(arena, "partitions.%s.%s.p50", of, what), unit,
         REPORT_NO_ALARM, false},
        {report_text(arena, "p99 of %s", of), report_text(arena, "partitions.%s.%s.p99", of, what), unit,
         REPORT_NO_ALARM, true},
        {"largest", report_text(arena, "partitions.all.%s.max", what), unit, REPORT_NO_ALARM, true},
        {"over the limit", report_text(arena, "partitions.over_limit_%s", what), REPORT_ROWS, REPORT_ALARM,
         true},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        report_metric_add(arena, panel, strategy, wanted[i].name, wanted[i].metric, wanted[i].unit,
                          wanted[i].alarm, wanted[i].is_key);
}

static void fill_panel(const struct lab_strategy_result *strategy, bool is_bytes, const struct bins *bins,
                       struct report_arena *arena, struct report_panel *panel)
{
    struct tune_distribution distribution;
    report_strategy_name(arena, strategy, &panel->label, &panel->detail);
    fill_bars(strategy, is_bytes, bins, arena, panel);
    panel->note = strategy->settings.observed != WL_OBSERVED_AUTO ? observed_note(strategy, is_bytes)
                  : is_bytes                                      ? ""
                                                                  : distribution_note(arena, strategy);
    panel->counts_are_shares = strategy->settings.observed == WL_OBSERVED_PERCENTILES;
    if (panel->counts_are_shares)
        widen_bars(strategy, bins, arena, panel);
    if (report_distribution(strategy, is_bytes, &distribution))
        outline(&distribution, bins, (double)strategy->closed_rows.count, arena, panel);
    fill_figures(strategy, is_bytes, arena, panel);
}

/* A bar ends at its largest size, and so do the shades: one begins above the limit, the other ends at the
 * largest tiny size. */
static void fill_bands(const struct report_axis *x, const struct domain *domain, uint64_t tiny,
                       struct report_arena *arena, struct report_panel *panel)
{
    panel->bands = report_take(arena, 2, sizeof *panel->bands);
    if (tiny > 1)
        panel->bands[panel->band_count++] = (struct report_band){
            .from = x->low, .to = fmin(report_log10((double)(tiny - 1)), x->high), .ink = REPORT_INK_TINY};
    if (domain->limit != 0 && report_log10((double)domain->limit) < x->high)
        panel->bands[panel->band_count++] = (struct report_band){
            .from = fmax(report_log10((double)domain->limit), x->low), .to = x->high, .ink = REPORT_INK_OVER};
}

static void fill_legend(const struct lab_result *result, const struct domain *domain,
                        struct report_arena *arena, struct report_chart *chart)
{
    bool has_closed = false, has_open = false, has_curve = false, has_observed = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const bool is_observed = result->strategies[i].settings.observed != WL_OBSERVED_AUTO;
        has_closed |= result->strategies[i].closed_rows.count > 0;
        has_open |= !is_observed && result->strategies[i].open_rows.count > 0;
        has_observed |= is_observed;
        has_curve |= chart->panels[i].curve_count > 0;
    }
    if (has_closed)
        report_legend_add(chart, REPORT_INK_CLOSED, "closed partitions");
    if (has_open || has_observed)
        report_legend_add(chart, REPORT_INK_OPEN,
                          !has_observed ? "open partitions"
                          : has_open    ? "open partitions, and all observed ones"
                                        : "observed partitions");
    if (has_curve)
        report_legend_add(chart, REPORT_INK_DISTRIBUTION, "exact distribution (negative binomial)");
    if (!chart->is_bytes && result->limits.tiny_rows > 1)
        report_legend_add(chart, REPORT_INK_TINY,
                          report_text(arena, "tiny: below %s rows",
                                      report_exact(arena, result->limits.tiny_rows, REPORT_ROWS)));
    if (domain->limit != 0)
        report_limit_legend(arena, chart, domain->limit, chart->is_bytes,
                            report_log10((double)domain->limit) < chart->x.high);
}

/* Replaces the notes of small panels, which all say the same, by one note on the chart. */
static void join_notes(struct report_chart *chart)
{
    bool has_note = false;
    for (size_t i = 0; i < chart->panel_count && chart->panel_count > REPORT_WIDE_PANELS_MAX; i++) {
        has_note |= chart->panels[i].curve_count > 0 && chart->panels[i].note[0] != 0;
        chart->panels[i].note = chart->panels[i].curve_count > 0 ? "" : chart->panels[i].note;
    }
    if (has_note)
        chart->note = "Where bars are left of their curve, the large partitions are still open.";
}

void report_partitions_fill(const struct lab_result *result, struct report_arena *arena,
                            struct report_chart *chart)
{
    const bool is_bytes = chart->is_bytes;
    const struct domain domain = find_domain(result, is_bytes);
    if (domain.most == 0) {
        chart->absent = "no partition holds a row, or its size is not known in this unit";
        return;
    }
    struct bins bins;
    bins_make(domain.least, domain.shown, &bins);
    bins_axis(arena, &bins, is_bytes, is_bytes ? "bytes in a partition" : "rows in a partition", &chart->x);
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    chart->panel_count = result->strategy_count;
    for (size_t i = 0; i < chart->panel_count; i++) {
        fill_panel(&result->strategies[i], is_bytes, &bins, arena, &chart->panels[i]);
        fill_bands(&chart->x, &domain, is_bytes ? 0 : result->limits.tiny_rows, arena, &chart->panels[i]);
    }
    scale_counts(arena, chart->panels, chart->panel_count, "partitions");
    join_notes(chart);
    fill_legend(result, &domain, arena, chart);
}

/* Up to LINEAR_MAX partitions, each number has its own bar and the axis is linear. It is at least SHOWN_MIN
 * long, because the place of a single bar that fills the panel would not be visible. */
enum { LINEAR_MAX = 100, SHOWN_MIN = 8 };
static const double half_width = 0.42;
/* On a log axis, in decades: the limits of a bar's width, and the place of 0, left of 1. */
static const double width_min = 0.06;
static const double half_width_max = 0.06;
static const double zero_at = -0.3;
static const double side_room = 0.06;

/* A bar's place, the same in all panels: the range of numbers that it counts, and its ends on the axis. */
struct place {
    uint64_t least, most;
    double from, to;
};
struct places {
    uint64_t least, most; /* the range of numbers that occur */
    struct place *items;
    size_t count;
};

/* False when there are no reads. */
static bool find_places(const struct lab_result *result, struct places *out)
{
    *out = (struct places){.least = UINT64_MAX};
    bool has_reads = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_histogram *reads = &result->strategies[i].read_partitions;
        if (reads->count > 0) {
            has_reads = true;
            out->least = reads->least < out->least ? reads->least : out->least;
            out->most = reads->most > out->most ? reads->most : out->most;
        }
    }
    return has_reads;
}

static const char *why_no_reads(const struct lab_result *result)
{
    if (lab_result_is_observed(result))
        return "nothing was run, so nothing was read";
    for (size_t i = 0; i < result->strategy_count; i++) {
        double count;
        if (report_metric(&result->strategies[i], "reads.count", &count))
            return "no read was answered in the time of the run";
    }
    return "the scenario has no reads";
}

static void fill_linear(struct places *places, struct report_arena *arena, struct report_axis *axis)
{
    static const double steps_max = 10;
    const uint64_t first = places->least == 0 ? 0 : 1;
    const uint64_t last = places->most > SHOWN_MIN ? places->most : SHOWN_MIN;
    axis->low = (double)first - 0.7;
    axis->high = (double)last + 0.7;
    axis->title = "partitions queried by a read";
    places->count = (size_t)(last - first) + 1;
    places->items = report_take(arena, places->count, sizeof *places->items);
    report_scale_linear(arena, REPORT_UNIT_PLAIN, steps_max, 1, axis);
    for (uint64_t i = first; i <= last; i++) {
        const double at = (double)i;
        places->items[i - first] = (struct place){i, i, at - half_width, at + half_width};
    }
}

/* A bar extends from one half below its least number to one half above its largest. The bar of a small number
 * would be too broad that way, so its width is limited and it is centred on its number. */
static void fill_log(struct places *places, struct report_arena *arena, struct report_axis *axis)
{
    struct bins bins;
    bins_make(1, places->most, &bins);
    bins.edges[bins.count] = places->most;
    bins_axis(arena, &bins, false, "partitions queried by a read", axis);
    places->items = report_take(arena, bins.count + 1, sizeof *places->items);
    if (places->least == 0) {
        places->items[places->count++] =
            (struct place){0, 0, zero_at - half_width_max, zero_at + half_width_max};
        memmove(axis->ticks + 1, axis->ticks, axis->tick_count++ * sizeof *axis->ticks);
        axis->ticks[0] = (struct report_tick){.at = zero_at, .text = "0"};
    }
    for (size_t i = 0; i < bins.count; i++) {
        const uint64_t least = bins.edges[i] + 1, most = bins.edges[i + 1];
        struct place place = {least, most, report_log10((double)least - 0.5),
                              report_log10((double)most + 0.5)};
        if (least == most) {
            place.from = fmax(place.from, report_log10((double)most) - half_width_max);
            place.to = fmin(place.to, report_log10((double)most) + half_width_max);
        }
        /* The last bar ends at the largest number, so it may be narrower than the least width. */
        if (i + 1 == bins.count)
            place.to = fmax(place.to, place.from + width_min);
        places->items[places->count++] = place;
    }
    axis->low = places->items[0].from - side_room;
    axis->high = places->items[places->count - 1].to + side_room;
}

/* "3 partitions: 1,204 of 12,345 reads (9.75%); 98.1% query no more" */
static const char *reads_hint(const struct place *place, uint64_t count, uint64_t upto, uint64_t all,
                              struct report_arena *arena)
{
    const char *numbers = place->least == place->most
                              ? report_grouped(arena, place->most)
                              : report_text(arena, "%s to %s", report_grouped(arena, place->least),
                                            report_grouped(arena, place->most));
    return report_text(arena, "%s partition%s: %s of %s read%s (%s); %s query no more", numbers,
                       place->most == 1 ? "" : "s", report_grouped(arena, count), report_grouped(arena, all),
                       all == 1 ? "" : "s", report_percent(arena, (double)count / (double)all),
                       report_percent(arena, (double)upto / (double)all));
}

static void fill_read_bars(const struct lab_histogram *reads, const struct places *places,
                           struct report_arena *arena, struct report_panel *panel)
{
    size_t bin_count = 0;
    const struct lab_bin *bins = report_sorted(arena, reads, &bin_count);
    panel->bars = report_take(arena, places->count, sizeof *panel->bars);
    uint64_t upto = 0;
    for (size_t i = 0, bin = 0; i < places->count; i++) {
        const struct place *place = &places->items[i];
        uint64_t count = 0;
        /* The size of a rounded bin may be above the largest number. */
        for (; bin < bin_count && (bins[bin].size <= place->most || i + 1 == places->count); bin++)
            count += bins[bin].count;
        upto += count;
        if (count > 0)
            panel->bars[panel->bar_count++] =
                (struct report_bar){.from = place->from,
                                    .to = place->to,
                                    .high = (double)count,
                                    .first = (double)place->least,
                                    .last = (double)place->most,
                                    .count = (double)count,
                                    .ink = REPORT_INK_CLOSED,
                                    .hint = reads_hint(place, count, upto, reads->count, arena)};
    }
}

static void fill_reads_figures(const struct lab_strategy_result *strategy, struct report_arena *arena,
                               struct report_panel *panel)
{
    /* A read that was cut off queried the greatest number of partitions that a read may query. */
    const char *most = report_number(arena, (double)strategy->read_partitions.most);
    const struct {
        const char *name, *metric;
        enum report_alarm alarm;
        bool is_key;
    } wanted[] = {
        {"reads", "reads.count", REPORT_NO_ALARM, false},
        {"mean", "reads.partitions_per_read.mean", REPORT_NO_ALARM, true},
        {"p99", "reads.partitions_per_read.p99", REPORT_NO_ALARM, true},
        {"most", "reads.partitions_per_read.max", REPORT_NO_ALARM, false},
        {"failed", "reads.failed", REPORT_ALARM_ONLY, false},
        {"incomplete", "reads.incomplete", REPORT_ALARM_ONLY, false},
        {"out of order", "reads.out_of_order", REPORT_ALARM_ONLY, false},
        {report_text(arena, "cut off at %s", most), "reads.cut_off", REPORT_ALARM_ONLY, false},
    };
    double empty, mean;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (i == 4 && report_metric(strategy, "reads.empty_partitions_per_read", &empty) &&
            report_metric(strategy, "reads.partitions_per_read.mean", &mean) && mean > 0) {
            const struct report_figure figure = {"without a row", report_percent(arena, empty / mean), false,
                                                 false};
            report_figures_add(arena, panel, &figure, 1);
        }
        report_metric_add(arena, panel, strategy, wanted[i].name, wanted[i].metric, REPORT_ROWS,
                          wanted[i].alarm, wanted[i].is_key);
    }
}

static void fill_reads_panel(const struct lab_strategy_result *strategy, const struct places *places,
                             struct report_arena *arena, struct report_panel *panel)
{
    report_strategy_name(arena, strategy, &panel->label, &panel->detail);
    panel->note = strategy->settings.observed != WL_OBSERVED_AUTO ? "observed: nothing was read"
                  : strategy->read_partitions.count == 0          ? "no read was answered"
                                                                  : "";
    fill_read_bars(&strategy->read_partitions, places, arena, panel);
    fill_reads_figures(strategy, arena, panel);
}

void report_reads_fill(const struct lab_result *result, struct report_arena *arena,
                       struct report_chart *chart)
{
    struct places places;
    if (!find_places(result, &places)) {
        chart->absent = why_no_reads(result);
        return;
    }
    if (places.most <= LINEAR_MAX)
        fill_linear(&places, arena, &chart->x);
    else
        fill_log(&places, arena, &chart->x);
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    chart->panel_count = result->strategy_count;
    for (size_t i = 0; i < chart->panel_count; i++)
        fill_reads_panel(&result->strategies[i], &places, arena, &chart->panels[i]);
    scale_counts(arena, chart->panels, chart->panel_count, "reads");
}

/* Up to NUMBERED_MAX nodes are in the order of their numbers, with a number below each; more nodes are sorted
 * by load. */
enum { NUMBERED_MAX = 24, RANKS_MAX = 8, SHARES_MAX = 5 };
static const double shares_headroom = 1.06;

static size_t most_nodes(const struct lab_result *result)
{
    size_t count = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const size_t nodes = result->strategies[i].node_count;
        count = nodes > count ? nodes : count;
    }
    return count;
}

static const char *why_no_nodes(const struct lab_result *result)
{
    if (lab_result_is_observed(result))
        return "nothing was run, so no node holds data";
    return most_nodes(result) == 1 ? "one node holds everything"
                                   : "what each node holds was not kept with this run";
}

/* The first node is 0, or the first rank is 1. */
static void fill_nodes_axis(size_t count, bool is_numbered, struct report_arena *arena,
                            struct report_axis *axis)
{
    axis->low = is_numbered ? -0.5 : 0.5;
    axis->high = axis->low + (double)count;
    axis->title = is_numbered ? "node" : "nodes, the fullest first";
    report_scale_linear(arena, REPORT_UNIT_PLAIN, is_numbered ? NUMBERED_MAX : RANKS_MAX, 1, axis);
}

/* Sorts the largest load first. Equal loads are in the order of the array that both pointers point into. */
static int compare_loads(const void *left, const void *right)
{
    const struct lab_node_load *one = *(const struct lab_node_load *const *)left;
    const struct lab_node_load *other = *(const struct lab_node_load *const *)right;
    if (one->bytes != other->bytes)
        return one->bytes < other->bytes ? 1 : -1;
    return one < other ? -1 : one > other;
}

/* "node 3: 18.2% of the bytes, 1.09 times the even share (12,345,678 bytes, 12,345 rows)" */
static const char *node_hint(const struct lab_node_load *node, double share, double even,
                             struct report_arena *arena)
{
    return report_text(arena, "%s: %s of the bytes, %s times the even share (%s bytes, %s rows)",
                       report_clean(arena, node->name), report_percent(arena, share),
                       report_number(arena, share / even), report_grouped(arena, node->bytes),
                       report_grouped(arena, node->rows));
}

static void fill_nodes_figures(const struct lab_strategy_result *strategy, double total,
                               struct report_arena *arena, struct report_panel *panel)
{
    const struct lab_node_load *nodes = strategy->nodes;
    const size_t count = strategy->node_count;
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = nodes[i].bytes < least ? nodes[i].bytes : least;
        most = nodes[i].bytes > most ? nodes[i].bytes : most;
    }
    const double mean = total / (double)count;
    const struct report_figure figures[] = {
        {.name = "nodes", .text = report_number(arena, (double)count)},
        {.name = "fullest holds", .text = report_size(arena, (double)most, REPORT_BYTES)},
        {.name = "fullest / even", .text = report_number(arena, (double)most / mean), .is_key = true},
        {.name = "emptiest / even", .text = report_number(arena, (double)least / mean), .is_key = true},
    };
    if (total > 0)
        report_figures_add(arena, panel, figures, sizeof figures / sizeof figures[0]);
}

static void fill_nodes_panel(const struct lab_strategy_result *strategy, bool is_numbered,
                             const struct report_axis *x, struct report_arena *arena,
                             struct report_panel *panel)
{
    const size_t count = strategy->node_count;
    report_strategy_name(arena, strategy, &panel->label, &panel->detail);
    panel->note = strategy->settings.observed != WL_OBSERVED_AUTO ? "observed: no node holds it"
                  : count == 0                                    ? "not kept"
                                                                  : "";
    const struct lab_node_load **nodes = report_take(arena, count + 1, sizeof *nodes);
    panel->bars = report_take(arena, count + 1, sizeof *panel->bars);
    panel->curve = report_take(arena, 2, sizeof *panel->curve);
    if (count == 0)
        return;
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        nodes[i] = &strategy->nodes[i];
        total += (double)nodes[i]->bytes;
    }
    if (!is_numbered)
        qsort(nodes, count, sizeof *nodes, compare_loads);
    const double even = 1 / (double)count, half = is_numbered ? half_width : 0.5;
    for (size_t i = 0; i < count && total > 0; i++) {
        const double share = (double)nodes[i]->bytes / total, middle = (double)(i + !is_numbered);
        panel->bars[panel->bar_count++] =
            (struct report_bar){.from = middle - half,
                                .to = middle + half,
                                .high = share,
                                .first = (double)i,
                                .last = (double)i,
                                .count = share,
                                .ink = REPORT_INK_CLOSED,
                                .hint = node_hint(nodes[i], share, even, arena)};
    }
    panel->curve[0] = (struct report_point){x->low, even};
    panel->curve[1] = (struct report_point){x->low + (double)count, even};
    panel->curve_count = 2;
    fill_nodes_figures(strategy, total, arena, panel);
}

void report_nodes_fill(const struct lab_result *result, struct report_arena *arena,
                       struct report_chart *chart)
{
    const size_t count = most_nodes(result);
    if (count < 2) {
        chart->absent = why_no_nodes(result);
        return;
    }
    const bool is_numbered = count <= NUMBERED_MAX;
    fill_nodes_axis(count, is_numbered, arena, &chart->x);
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    chart->panel_count = result->strategy_count;
    double top = 0;
    for (size_t i = 0; i < chart->panel_count; i++) {
        struct report_panel *panel = &chart->panels[i];
        fill_nodes_panel(&result->strategies[i], is_numbered, &chart->x, arena, panel);
        for (size_t bar = 0; bar < panel->bar_count; bar++)
            top = panel->bars[bar].high > top ? panel->bars[bar].high : top;
    }
    /* All panels have the same scale, so that even and uneven strategies can be compared. */
    struct report_axis shares = {.high = top > 0 ? top * shares_headroom : 1, .title = "share of bytes"};
    report_scale_linear(arena, REPORT_UNIT_SHARE, SHARES_MAX, 1e-4, &shares);
    for (size_t i = 0; i < chart->panel_count; i++)
        chart->panels[i].y = shares;
    report_legend_add(chart, REPORT_INK_CLOSED, "share of all bytes, replicas included");
    report_legend_add(chart, REPORT_INK_DISTRIBUTION, "even share");
}
