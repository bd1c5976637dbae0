/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histograms of rows or bytes per partition. In: a result. Kept: bins of sizes with round edges, and one axis
 * of counts for all panels. Out: one panel per strategy, with bars of closed and of open partitions, the bars
 * that the exact distribution expects, and the key figures. */
#include <assert.h>
#include <inttypes.h>

#include "parts.h"

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
    for (; value >= 10; value /= 10) {
        decade++;
    }
    return decade;
}

static uint64_t edge_of(unsigned decade, unsigned mantissa)
{
    lab_wide edge = mantissa;
    for (unsigned i = 0; i < decade; i++) {
        edge *= 10;
    }
    edge /= 10000;
    return edge > UINT64_MAX ? UINT64_MAX : (uint64_t)edge;
}

void report_bins_make(uint64_t least, uint64_t most, struct report_bins *out)
{
    /* A size on an edge is in the bin below the edge, so the first bin begins below the least size. */
    unsigned first = decade_of(least > 1 ? least - 1 : 1);
    unsigned last = decade_of(most);
    size_t used = 0;
    unsigned decades = last >= first ? last - first : 0;
    bool has_many_sizes = decades >= FINE_DECADES_MIN || first >= 2;
    unsigned step = has_many_sizes && decades <= FINE_DECADES_MAX ? 1 : 2;
    if (least <= 1) {
        out->edges[used++] = 0;
    }
    for (unsigned decade = first;; decade++) {
        for (unsigned i = 0; i < 20; i += step) {
            uint64_t edge = edge_of(decade, mantissas[i]);
            if (used == 0 || edge > out->edges[used - 1]) {
                assert(used < REPORT_EDGES_MAX);
                out->edges[used++] = edge;
            }
            if (edge >= most && used >= 2) {
                out->count = used - 1;
                return;
            }
        }
    }
}

size_t report_bins_find(const struct report_bins *bins, uint64_t size)
{
    size_t low = 0;
    size_t high = bins->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (size <= bins->edges[middle + 1]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

double report_bins_edge_log10(uint64_t edge)
{
    return edge == 0 ? below_one_log10 : report_log10((double)edge);
}

void report_bins_axis(struct report_arena *arena, const struct report_bins *bins, bool is_bytes,
                      const char *title, struct report_axis *out)
{
    out->low = report_bins_edge_log10(bins->edges[0]);
    out->high = report_bins_edge_log10(bins->edges[bins->count]);
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
        for (size_t k = 0; k < panels[i].curve_count; k++) {
            top = panels[i].curve[k].y > top ? panels[i].curve[k].y : top;
        }
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
    if (panel->curve_count == 0) {
        return;
    }
    /* At both ends, points with an expected count below one half are left out. */
    size_t first = 0, end = panel->curve_count;
    while (first + 1 < end && panel->curve[first + 1].y <= log_low) {
        first++;
    }
    while (end > first + 1 && panel->curve[end - 2].y <= log_low) {
        end--;
    }
    panel->curve += first;
    panel->curve_count = end - first;
    for (size_t i = 0; i < panel->curve_count; i++) {
        panel->curve[i].y = log_of(panel->curve[i].y);
    }
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

void report_counts_scale(struct report_arena *arena, struct report_panel *panels, size_t count,
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
        if (is_log && !panels[i].counts_are_shares) {
            turn_to_logs(&panels[i]);
        }
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

void report_outline(const struct bk_strategy *strategy, const struct report_bins *bins, double closed,
                    struct report_arena *arena, struct report_panel *panel)
{
    const struct tune_distribution distribution = tune_distribution_of(strategy, 1);
    double top = 0;
    panel->curve = report_take(arena, 2 * bins->count + 2, sizeof *panel->curve);
    for (int pass = 0; pass < 2; pass++) {
        double low = 0;
        for (size_t i = 0; i < bins->count; i++) {
            double next = at_or_below(&distribution, (double)bins->edges[i + 1]);
            double y = closed * (next - low);
            low = next;
            if (pass == 0) {
                top = y > top ? y : top;
            } else if (y > 0 && y >= visible_share * top) {
                struct report_point *point = panel->curve + panel->curve_count;
                const double from = report_bins_edge_log10(bins->edges[i]);
                if (panel->curve_count == 0) {
                    *point++ = (struct report_point){.x = from, .y = 0};
                }
                *point++ = (struct report_point){.x = from, .y = y};
                *point++ = (struct report_point){.x = report_bins_edge_log10(bins->edges[i + 1]), .y = y};
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
    if (closed + open == 0) {
        return "no partitions";
    }
    if (strategy->settings.strategy.kind != BK_PROBABILISTIC || strategy->settings.strategy.max_age_ns != 0) {
        return "";
    }
    if (closed == 0) {
        return "none closed: nothing to compare with the distribution";
    }
    if (closed < REPORT_CLOSED_MIN) {
        return report_text(arena, "%" PRIu64 " closed: too few to compare with the distribution", closed);
    }
    if (open >= closed / 10) {
        return report_text(
            arena, "%s open, %s closed: large ones are still open, so the closed ones are left of the curve",
            report_number(arena, (double)open), report_number(arena, (double)closed));
    }
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
            if (sizes->count > 0 && (domain.least == 0 || sizes->least < domain.least)) {
                domain.least = sizes->least > 0 ? sizes->least : 1;
            }
        }
        double min;
        if (is_bytes && strategy->settings.observed == WL_OBSERVED_PERCENTILES &&
            report_metric(strategy, "partitions.all.bytes.min", &min) && min >= 1 &&
            min < (double)domain.least) {
            domain.least = (uint64_t)min;
        }
    }
    /* Axes of rows begin at 1. Axes of bytes begin at the least size, because partitions of a few bytes do
     * not occur. */
    domain.least = is_bytes ? domain.least : 1;
    const uint64_t shown = report_limit_shown(domain.limit, domain.most);
    domain.shown = shown > domain.most ? shown : domain.most;
    if (domain.most != 0 && domain.least < UINT64_MAX / 10 && domain.shown < 10 * domain.least) {
        domain.shown = 10 * domain.least;
    }
    return domain;
}

static const double *counts_of(const struct lab_histogram *histogram, const struct report_bins *bins,
                               struct report_arena *arena)
{
    size_t count;
    const struct lab_bin *sorted = report_sorted(arena, histogram, &count);
    double *counts = report_take(arena, bins->count, sizeof *counts);
    for (size_t i = 0; i < count; i++) {
        counts[report_bins_find(bins, sorted[i].size)] += (double)sorted[i].count;
    }
    return counts;
}

static const char *sizes_of(const struct report_bar *bar, bool is_bytes, struct report_arena *arena)
{
    const char *last = report_grouped(arena, (uint64_t)bar->last), *unit = is_bytes ? "byte" : "row";
    if (bar->first == bar->last) {
        return report_text(arena, "%s %s%s", last, unit, bar->last == 1 ? "" : "s");
    }
    return report_text(arena, "%s to %s %ss", report_grouped(arena, (uint64_t)bar->first), last, unit);
}

static bool has_distribution(const struct lab_strategy_result *strategy, bool is_bytes)
{
    return !is_bytes && strategy->settings.strategy.kind == BK_PROBABILISTIC &&
           strategy->settings.strategy.max_age_ns == 0 && strategy->closed_rows.count >= REPORT_CLOSED_MIN;
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
    if (bar->ink != REPORT_INK_CLOSED || !has_distribution(strategy, is_bytes)) {
        return hint;
    }
    const struct tune_distribution distribution = tune_distribution_of(&strategy->settings.strategy, 1);
    const double expected =
        (double)closed * (at_or_below(&distribution, bar->last) - at_or_below(&distribution, bar->first - 1));
    return report_text(arena, "%s; the exact distribution expects %s", hint,
                       report_full(arena, floor(10 * expected + 0.5) / 10));
}

/* Bars of open partitions are on top of those of closed ones. */
static void fill_bars(const struct lab_strategy_result *strategy, bool is_bytes,
                      const struct report_bins *bins, struct report_arena *arena, struct report_panel *panel)
{
    const double *counts[LAB_STATES];
    for (int state = 0; state < LAB_STATES; state++) {
        counts[state] = counts_of(report_sizes(strategy, is_bytes, state), bins, arena);
    }
    panel->bars = report_take(arena, LAB_STATES * bins->count, sizeof *panel->bars);
    for (size_t i = 0; i < LAB_STATES * bins->count; i++) {
        const size_t bin = i / LAB_STATES, state = i % LAB_STATES;
        const double low = state == LAB_OPEN ? counts[LAB_CLOSED][bin] : 0;
        if (counts[state][bin] > 0) {
            struct report_bar *bar = &panel->bars[panel->bar_count++];
            *bar = (struct report_bar){.from = report_bins_edge_log10(bins->edges[bin]),
                                       .to = report_bins_edge_log10(bins->edges[bin + 1]),
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
static void widen_bars(const struct lab_strategy_result *strategy, const struct report_bins *bins,
                       struct report_arena *arena, struct report_panel *panel)
{
    double min = 1;
    report_metric(strategy, "partitions.all.bytes.min", &min);
    const uint64_t least = min >= 1 ? (uint64_t)min : 1;
    for (size_t i = 0; i < panel->bar_count; i++) {
        struct report_bar *bar = &panel->bars[i];
        const double from =
            i > 0 ? bar[-1].to : report_bins_edge_log10(bins->edges[report_bins_find(bins, least)]);
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
    if (!is_bytes && strategy->open_rows.count == 0) {
        return "the file does not give the rows of partitions";
    }
    if (strategy->settings.observed == WL_OBSERVED_PERCENTILES) {
        return "only percentiles are known: a bar is the share between two of them, and its sizes may be "
               "anywhere in it";
    }
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
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        report_metric_add(arena, panel, strategy, wanted[i].name, wanted[i].metric, wanted[i].unit,
                          wanted[i].alarm, wanted[i].is_key);
    }
}

static void fill_panel(const struct lab_strategy_result *strategy, bool is_bytes,
                       const struct report_bins *bins, struct report_arena *arena, struct report_panel *panel)
{
    report_strategy_name(arena, strategy, &panel->label, &panel->detail);
    fill_bars(strategy, is_bytes, bins, arena, panel);
    panel->note = strategy->settings.observed != WL_OBSERVED_AUTO ? observed_note(strategy, is_bytes)
                  : is_bytes                                      ? ""
                                                                  : distribution_note(arena, strategy);
    panel->counts_are_shares = strategy->settings.observed == WL_OBSERVED_PERCENTILES;
    if (panel->counts_are_shares) {
        widen_bars(strategy, bins, arena, panel);
    }
    if (has_distribution(strategy, is_bytes)) {
        report_outline(&strategy->settings.strategy, bins, (double)strategy->closed_rows.count, arena, panel);
    }
    fill_figures(strategy, is_bytes, arena, panel);
}

/* A bar ends at its largest size, and so do the shades: one begins above the limit, the other ends at the
 * largest tiny size. */
static void fill_bands(const struct report_axis *x, const struct domain *domain, uint64_t tiny,
                       struct report_arena *arena, struct report_panel *panel)
{
    panel->bands = report_take(arena, 2, sizeof *panel->bands);
    if (tiny > 1) {
        panel->bands[panel->band_count++] = (struct report_band){
            .from = x->low, .to = fmin(report_log10((double)(tiny - 1)), x->high), .ink = REPORT_INK_TINY};
    }
    if (domain->limit != 0 && report_log10((double)domain->limit) < x->high) {
        panel->bands[panel->band_count++] = (struct report_band){
            .from = fmax(report_log10((double)domain->limit), x->low), .to = x->high, .ink = REPORT_INK_OVER};
    }
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
    if (has_closed) {
        report_legend_add(chart, REPORT_INK_CLOSED, "closed partitions");
    }
    if (has_open || has_observed) {
        report_legend_add(chart, REPORT_INK_OPEN,
                          !has_observed ? "open partitions"
                          : has_open    ? "open partitions, and all observed ones"
                                        : "observed partitions");
    }
    if (has_curve) {
        report_legend_add(chart, REPORT_INK_DISTRIBUTION, "exact distribution (negative binomial)");
    }
    if (!chart->is_bytes && result->limits.tiny_rows > 1) {
        report_legend_add(chart, REPORT_INK_TINY,
                          report_text(arena, "tiny: below %s rows",
                                      report_exact(arena, result->limits.tiny_rows, REPORT_ROWS)));
    }
    if (domain->limit != 0) {
        report_limit_legend(arena, chart, domain->limit, chart->is_bytes,
                            report_log10((double)domain->limit) < chart->x.high);
    }
}

/* Replaces the notes of small panels, which all say the same, by one note on the chart. */
static void join_notes(struct report_chart *chart)
{
    bool has_note = false;
    for (size_t i = 0; i < chart->panel_count && chart->panel_count > REPORT_WIDE_PANELS_MAX; i++) {
        has_note |= chart->panels[i].curve_count > 0 && chart->panels[i].note[0] != 0;
        chart->panels[i].note = chart->panels[i].curve_count > 0 ? "" : chart->panels[i].note;
    }
    if (has_note) {
        chart->note = "Where bars are left of their curve, the large partitions are still open.";
    }
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
    struct report_bins bins;
    report_bins_make(domain.least, domain.shown, &bins);
    report_bins_axis(arena, &bins, is_bytes, is_bytes ? "bytes in a partition" : "rows in a partition",
                     &chart->x);
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    chart->panel_count = result->strategy_count;
    for (size_t i = 0; i < chart->panel_count; i++) {
        fill_panel(&result->strategies[i], is_bytes, &bins, arena, &chart->panels[i]);
        fill_bands(&chart->x, &domain, is_bytes ? 0 : result->limits.tiny_rows, arena, &chart->panels[i]);
    }
    report_counts_scale(arena, chart->panels, chart->panel_count, "partitions");
    join_notes(chart);
    fill_legend(result, &domain, arena, chart);
}
