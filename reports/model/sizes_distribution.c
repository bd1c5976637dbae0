/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exact distribution of partition sizes, drawn over a histogram, and notes that say when it does not
 * apply. */
#include <inttypes.h>
#include <math.h>

#include "kernel/number.h"
#include "sizes.h"

/* Points of the curve per bin. */
enum { STEPS = 8 };
/* Parts of the curve below this share of the top are not drawn, because they would coincide with the axis. */
static const double visible_share = 0.004;

/* The distribution is drawn as steps if the bins have few sizes or if it spans only a bin or two, because it
 * then has no meaningful shape within a bin. */
static const double smooth_rows_min = 300;
static const double smooth_spread_min = 0.06;

/* P(N <= edge), interpolated if the edge is between two sizes. */
static double at_or_below(const struct tune_distribution *distribution, double edge)
{
    static const double edge_max = 9e18;
    return edge >= edge_max ? 1 : tune_below(distribution, (uint64_t)floor(edge) + 1);
}

/* The outline of the bars that the distribution expects, from its first visible bin to its last. */
static void fill_steps(const struct tune_distribution *distribution, const struct report_bins *bins,
                       double closed, struct report_panel *panel)
{
    double top = 0;
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

static double log10_at(const struct report_bins *bins, size_t step)
{
    size_t bin = step / STEPS;
    double from = report_bins_edge_log10(bins->edges[bin]);
    if (step % STEPS == 0) {
        return from;
    }
    double to = report_bins_edge_log10(bins->edges[bin + 1]);
    return from + (to - from) * (double)(step % STEPS) / STEPS;
}

/* At a bin's edge, the result is the exact edge rather than the exponential of its logarithm. */
static double edge_at(const struct report_bins *bins, size_t step)
{
    static const double log_of_ten = 2.302585092994045684;
    if (step % STEPS == 0) {
        return (double)bins->edges[step / STEPS];
    }
    return sim_exp(log10_at(bins, step) * log_of_ten);
}

static void fill_smooth(struct report_arena *arena, const struct tune_distribution *distribution,
                        const struct report_bins *bins, double closed, struct report_panel *panel)
{
    const size_t grid_count = bins->count * STEPS + 1;
    double *below = report_take(arena, grid_count, sizeof *below);
    if (below == NULL) {
        return;
    }
    for (size_t step = 0; step < grid_count; step++) {
        below[step] = at_or_below(distribution, edge_at(bins, step));
    }
    for (size_t step = STEPS / 2; step + STEPS / 2 < grid_count; step++) {
        panel->curve[panel->curve_count++] = (struct report_point){
            .x = log10_at(bins, step), .y = closed * (below[step + STEPS / 2] - below[step - STEPS / 2])};
    }
}

static void keep_visible(struct report_panel *panel)
{
    double top = 0;
    for (size_t i = 0; i < panel->curve_count; i++) {
        top = panel->curve[i].y > top ? panel->curve[i].y : top;
    }
    size_t first = 0;
    while (first < panel->curve_count && panel->curve[first].y < visible_share * top) {
        first++;
    }
    size_t end = panel->curve_count;
    while (end > first && panel->curve[end - 1].y < visible_share * top) {
        end--;
    }
    panel->curve += first;
    panel->curve_count = top > 0 ? end - first : 0;
}

void report_sizes_distribution(struct report_arena *arena, const struct bk_strategy *strategy,
                               const struct report_bins *bins, uint64_t closed, struct report_panel *panel)
{
    const struct tune_distribution distribution = report_sizes_distribution_of(strategy);
    /* The curve has two points per bin and one at each end, or STEPS points per bin. */
    panel->curve = report_take(arena, bins->count * STEPS + 2, sizeof *panel->curve);
    if (panel->curve == NULL) {
        return;
    }
    const double mean = tune_mean_rows(&distribution);
    const double stddev = tune_stddev_rows(&distribution);
    if (mean - 3 * stddev < smooth_rows_min || stddev < smooth_spread_min * mean) {
        fill_steps(&distribution, bins, (double)closed, panel);
    } else {
        fill_smooth(arena, &distribution, bins, (double)closed, panel);
        keep_visible(panel);
    }
}

double report_sizes_expected(const struct bk_strategy *strategy, uint64_t from, uint64_t to, uint64_t closed)
{
    const struct tune_distribution distribution = report_sizes_distribution_of(strategy);
    return (double)closed *
           (at_or_below(&distribution, (double)to) - at_or_below(&distribution, (double)from));
}

struct tune_distribution report_sizes_distribution_of(const struct bk_strategy *strategy)
{
    struct tune_distribution distribution = {.threshold = strategy->of.probabilistic.threshold};
    if (strategy->of.probabilistic.chance_denominator != 0) {
        distribution.p = (double)strategy->of.probabilistic.chance_numerator /
                         (double)strategy->of.probabilistic.chance_denominator;
    } else {
        distribution.p = 1 / (double)(UINT64_C(1) << strategy->of.probabilistic.bits);
    }
    return distribution;
}

const char *report_sizes_note(struct report_arena *arena, const struct lab_strategy_result *strategy)
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
