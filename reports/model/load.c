/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histograms of partitions per read, and the load of each node. In: a result. Out: one panel of bars per
 * strategy, all on the same axes: a bar per number of partitions, or per node with the share of the bytes
 * that it holds, replicas included. */
#include <string.h>

#include "parts.h"

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
static bool find_range(const struct lab_result *result, struct places *out)
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
    struct report_bins bins;
    report_bins_make(1, places->most, &bins);
    bins.edges[bins.count] = places->most;
    report_bins_axis(arena, &bins, false, "partitions queried by a read", axis);
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
        if (i + 1 == bins.count) {
            place.to = fmax(place.to, place.from + width_min);
        }
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

static void fill_bars(const struct lab_histogram *reads, const struct places *places,
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
        for (; bin < bin_count && (bins[bin].size <= place->most || i + 1 == places->count); bin++) {
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
                                    .hint = reads_hint(place, count, upto, reads->count, arena)};
        }
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
    fill_bars(&strategy->read_partitions, places, arena, panel);
    fill_reads_figures(strategy, arena, panel);
}

void report_reads_fill(const struct lab_result *result, struct report_arena *arena,
                       struct report_chart *chart)
{
    struct places places;
    if (!find_range(result, &places)) {
        chart->absent = why_no_reads(result);
        return;
    }
    if (places.most <= LINEAR_MAX) {
        fill_linear(&places, arena, &chart->x);
    } else {
        fill_log(&places, arena, &chart->x);
    }
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    chart->panel_count = result->strategy_count;
    for (size_t i = 0; i < chart->panel_count; i++) {
        fill_reads_panel(&result->strategies[i], &places, arena, &chart->panels[i]);
    }
    report_counts_scale(arena, chart->panels, chart->panel_count, "reads");
}

/* Up to NUMBERED_MAX nodes are in the order of their numbers, with a number below each; more nodes are sorted
 * by load. */
enum { NUMBERED_MAX = 24, RANKS_MAX = 8, SHARES_MAX = 5 };
static const double headroom = 1.06;

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
    if (lab_result_is_observed(result)) {
        return "nothing was run, so no node holds data";
    }
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
    if (one->bytes != other->bytes) {
        return one->bytes < other->bytes ? 1 : -1;
    }
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
    if (total > 0) {
        report_figures_add(arena, panel, figures, sizeof figures / sizeof figures[0]);
    }
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
    if (count == 0) {
        return;
    }
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        nodes[i] = &strategy->nodes[i];
        total += (double)nodes[i]->bytes;
    }
    if (!is_numbered) {
        qsort(nodes, count, sizeof *nodes, compare_loads);
    }
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
        for (size_t bar = 0; bar < panel->bar_count; bar++) {
            top = panel->bars[bar].high > top ? panel->bars[bar].high : top;
        }
    }
    /* All panels have the same scale, so that even and uneven strategies can be compared. */
    struct report_axis shares = {.high = top > 0 ? top * headroom : 1, .title = "share of bytes"};
    report_scale_linear(arena, REPORT_UNIT_SHARE, SHARES_MAX, 1e-4, &shares);
    for (size_t i = 0; i < chart->panel_count; i++) {
        chart->panels[i].y = shares;
    }
    report_legend_add(chart, REPORT_INK_CLOSED, "share of all bytes, replicas included");
    report_legend_add(chart, REPORT_INK_DISTRIBUTION, "even share");
}
