/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histograms of partitions per read, one panel per strategy. */
#include <math.h>
#include <stdlib.h>

#include "bins.h"
#include "reports/format.h"
#include "reports/model.h"
#include "reports/strategy.h"
#include "sizes.h"

/* Up to LINEAR_MAX partitions, each number has its own bar and the axis is linear. It is at least SHOWN_MIN
 * long, because the place of a single bar that fills the panel would not be visible. */
enum { LINEAR_MAX = 100, SHOWN_MIN = 8 };
static const double steps_max = 10;
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
struct scale {
    uint64_t least, most; /* the range of numbers that occur */
    struct place *places;
    size_t count;
};

/* False when there are no reads. */
static bool find_range(const struct lab_result *result, struct scale *out)
{
    *out = (struct scale){.least = UINT64_MAX};
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

static const char *why_absent(const struct lab_result *result)
{
    if (lab_result_is_observed(result)) {
        return "nothing was run, so nothing was read";
    }
    for (size_t i = 0; i < result->strategy_count; i++) {
        double count;
        if (report_metric(&result->strategies[i], "reads.count", &count)) {
            return "no read was answered in the time of the run";
        }
    }
    return "the scenario has no reads";
}

static void fill_linear(struct scale *scale, struct report_arena *arena, struct report_axis *axis)
{
    const uint64_t first = scale->least == 0 ? 0 : 1;
    const uint64_t last = scale->most > SHOWN_MIN ? scale->most : SHOWN_MIN;
    axis->low = (double)first - 0.7;
    axis->high = (double)last + 0.7;
    axis->title = "partitions queried by a read";
    scale->count = (size_t)(last - first) + 1;
    scale->places = report_take(arena, scale->count, sizeof *scale->places);
    axis->ticks = report_take(arena, scale->count, sizeof *axis->ticks);
    if (scale->places == NULL || axis->ticks == NULL) {
        return;
    }
    /* 1, 2, 5, 10, 20 ... */
    uint64_t step = 1;
    for (unsigned i = 0; (double)(last - first) > steps_max * (double)step; i++) {
        step = i % 3 == 1 ? step * 5 / 2 : step * 2;
    }
    for (uint64_t i = first; i <= last; i++) {
        const double at = (double)i;
        scale->places[i - first] = (struct place){i, i, at - half_width, at + half_width};
        if (i == first || i % step == 0) {
            const bool is_free = i == first || 2 * (i - first) > step;
            axis->ticks[axis->tick_count++] =
                (struct report_tick){.at = at, .text = is_free ? report_number(arena, at) : ""};
        }
    }
}

/* A bar extends from one half below its least number to one half above its largest. The bar of a small number
 * would be too broad that way, so its width is limited and it is centred on its number. */
static void fill_log(struct scale *scale, struct report_arena *arena, struct report_axis *axis)
{
    struct report_bins bins;
    report_bins_make(1, scale->most, &bins);
    bins.edges[bins.count] = scale->most;
    report_sizes_x_axis(arena, &bins, REPORT_ROWS, axis);
    axis->title = "partitions queried by a read (log scale)";
    scale->places = report_take(arena, bins.count + 1, sizeof *scale->places);
    struct report_tick *ticks = report_take(arena, axis->tick_count + 1, sizeof *ticks);
    if (scale->places == NULL || ticks == NULL) {
        return;
    }
    if (scale->least == 0) {
        scale->places[scale->count++] =
            (struct place){0, 0, zero_at - half_width_max, zero_at + half_width_max};
        ticks[0] = (struct report_tick){.at = zero_at, .text = "0"};
        for (size_t i = 0; i < axis->tick_count; i++) {
            ticks[i + 1] = axis->ticks[i];
        }
        axis->ticks = ticks;
        axis->tick_count++;
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
        if (i + 1 == bins.count) {
            place.to = fmax(place.to, place.from + width_min);
        }
        scale->places[scale->count++] = place;
    }
    axis->low = scale->places[0].from - side_room;
    axis->high = scale->places[scale->count - 1].to + side_room;
}

/* "3 partitions: 1,204 of 12,345 reads (9.75%); 98.1% query no more" */
static const char *hint_of(const struct place *place, uint64_t count, uint64_t upto, uint64_t all,
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

static void fill_bars(const struct lab_histogram *reads, const struct scale *scale,
                      struct report_arena *arena, struct report_panel *panel)
{
    size_t bin_count = 0;
    struct lab_bin *bins = reads->count > 0 ? lab_histogram_sorted(reads, &bin_count) : NULL;
    panel->bars = report_take(arena, scale->count, sizeof *panel->bars);
    if (panel->bars == NULL || (bins == NULL && reads->count > 0)) {
        arena->out_of_memory = true;
        free(bins);
        return;
    }
    uint64_t upto = 0;
    for (size_t i = 0, bin = 0; i < scale->count; i++) {
        const struct place *place = &scale->places[i];
        uint64_t count = 0;
        /* The size of a rounded bin may be above the largest number. */
        for (; bin < bin_count && (bins[bin].size <= place->most || i + 1 == scale->count); bin++) {
            count += bins[bin].count;
        }
        upto += count;
        if (count > 0) {
            panel->bars[panel->bar_count++] =
                (struct report_bar){.from = place->from,
                                    .to = place->to,
                                    .high = (double)count,
                                    .first = (double)place->least,
                                    .last = (double)place->most,
                                    .count = (double)count,
                                    .ink = REPORT_INK_CLOSED,
                                    .hint = hint_of(place, count, upto, reads->count, arena)};
        }
    }
    free(bins);
}

static void fill_figures(const struct lab_strategy_result *strategy, struct report_arena *arena,
                         struct report_panel *panel)
{
    static const struct {
        const char *name, *metric;
    } wanted[] = {
        {"reads", "reads.count"},
        {"mean", "reads.partitions_per_read.mean"},
        {"p99", "reads.partitions_per_read.p99"},
        {"most", "reads.partitions_per_read.max"},
        /* These figures are alarms and are left out when they are 0. */
        {"failed", "reads.failed"},
        {"incomplete", "reads.incomplete"},
        {"out of order", "reads.out_of_order"},
        {"cut off", "reads.cut_off"},
    };
    enum { ALARMS_FROM = 4, WANTED_COUNT = sizeof wanted / sizeof wanted[0] };
    panel->figures = report_take(arena, WANTED_COUNT + 1, sizeof *panel->figures);
    for (size_t i = 0; panel->figures != NULL && i < WANTED_COUNT; i++) {
        double value, mean;
        if (i == ALARMS_FROM && report_metric(strategy, "reads.empty_partitions_per_read", &value) &&
            report_metric(strategy, "reads.partitions_per_read.mean", &mean) && mean > 0) {
            panel->figures[panel->figure_count++] =
                (struct report_figure){.name = "without a row", .text = report_percent(arena, value / mean)};
        }
        if (report_metric(strategy, wanted[i].metric, &value) && (value > 0 || i < ALARMS_FROM)) {
            const char *name = wanted[i].name;
            /* A read that was cut off queried the greatest number of partitions that a read may query. */
            if (i + 1 == WANTED_COUNT) {
                name = report_text(arena, "%s at %s", name,
                                   report_number(arena, (double)strategy->read_partitions.most));
            }
            panel->figures[panel->figure_count++] =
                (struct report_figure){.name = name,
                                       .text = report_number(arena, value),
                                       .is_alarm = i >= ALARMS_FROM,
                                       .is_key = i == 1 || i == 2};
        }
    }
}

static void fill_panel(const struct lab_strategy_result *strategy, const struct scale *scale,
                       struct report_arena *arena, struct report_panel *panel)
{
    report_strategy_name(arena, strategy, &panel->label, &panel->detail);
    panel->note = strategy->settings.observed != WL_OBSERVED_AUTO ? "observed: nothing was read"
                  : strategy->read_partitions.count == 0          ? "no read was answered"
                                                                  : "";
    fill_bars(&strategy->read_partitions, scale, arena, panel);
    fill_figures(strategy, arena, panel);
}

void report_reads_fill(const struct lab_result *result, struct report_arena *arena,
                       struct report_chart *chart)
{
    chart->form = REPORT_FORM_STACK;
    chart->name = "reads";
    chart->title = "Partitions per read";
    struct scale scale;
    if (!find_range(result, &scale)) {
        chart->absent = why_absent(result);
        return;
    }
    if (scale.most <= LINEAR_MAX) {
        fill_linear(&scale, arena, &chart->x);
    } else {
        fill_log(&scale, arena, &chart->x);
    }
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    if (chart->panels == NULL || scale.places == NULL) {
        return;
    }
    chart->panel_count = result->strategy_count;
    for (size_t i = 0; i < chart->panel_count; i++) {
        fill_panel(&result->strategies[i], &scale, arena, &chart->panels[i]);
    }
    report_counts_scale(arena, chart->panels, chart->panel_count, "reads");
}
