/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The share of the bytes, including replicas, that each node holds: one panel per strategy, one bar per node,
 * and the share that each node would hold if the load were even. */
#include <stdlib.h>

#include "reports/format.h"
#include "reports/model.h"
#include "reports/strategy.h"

/* Up to NUMBERED_MAX nodes are in the order of their numbers, with a number below each; more nodes are sorted
 * by load. */
enum { NUMBERED_MAX = 24, RANKS_MAX = 8, Y_TICKS_MAX = 8, FIGURES_MAX = 4 };
static const double numbered_width = 0.8;
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

static const char *why_absent(const struct lab_result *result)
{
    if (lab_result_is_observed(result)) {
        return "nothing was run, so no node holds data";
    }
    return most_nodes(result) == 1 ? "one node holds everything"
                                   : "what each node holds was not kept with this run";
}

static void fill_x_axis(size_t count, struct report_arena *arena, struct report_axis *axis)
{
    const bool is_numbered = count <= NUMBERED_MAX;
    const size_t step = is_numbered ? 1 : (count + RANKS_MAX - 1) / RANKS_MAX;
    axis->high = (double)count;
    axis->title = is_numbered ? "node" : "nodes, the fullest first";
    axis->ticks = report_take(arena, count / step + 1, sizeof *axis->ticks);
    for (size_t i = 0; axis->ticks != NULL && i < count; i += step) {
        axis->ticks[axis->tick_count++] = (struct report_tick){
            .at = (double)i + 0.5, .text = report_grouped(arena, is_numbered ? i : i + 1)};
    }
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
static const char *hint_of(const struct lab_node_load *node, double share, double even,
                           struct report_arena *arena)
{
    return report_text(arena, "%s: %s of the bytes, %s times the even share (%s bytes, %s rows)",
                       report_clean(arena, node->name), report_percent(arena, share),
                       report_number(arena, share / even), report_grouped(arena, node->bytes),
                       report_grouped(arena, node->rows));
}

static void fill_figures(const struct lab_strategy_result *strategy, double total, struct report_arena *arena,
                         struct report_panel *panel)
{
    const struct lab_node_load *nodes = strategy->nodes;
    const size_t count = strategy->node_count;
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = nodes[i].bytes < least ? nodes[i].bytes : least;
        most = nodes[i].bytes > most ? nodes[i].bytes : most;
    }
    panel->figures = report_take(arena, FIGURES_MAX, sizeof *panel->figures);
    if (panel->figures == NULL || !(total > 0)) {
        return;
    }
    const double mean = total / (double)count;
    const struct report_figure figures[FIGURES_MAX] = {
        {.name = "nodes", .text = report_number(arena, (double)count)},
        {.name = "fullest holds", .text = report_size(arena, (double)most, REPORT_BYTES)},
        {.name = "fullest / even", .text = report_number(arena, (double)most / mean), .is_key = true},
        {.name = "emptiest / even", .text = report_number(arena, (double)least / mean), .is_key = true},
    };
    for (size_t i = 0; i < FIGURES_MAX; i++) {
        panel->figures[panel->figure_count++] = figures[i];
    }
}

static void fill_panel(const struct lab_strategy_result *strategy, bool is_numbered,
                       struct report_arena *arena, struct report_panel *panel)
{
    const size_t count = strategy->node_count;
    report_strategy_name(arena, strategy, &panel->label, &panel->detail);
    panel->note = strategy->settings.observed != WL_OBSERVED_AUTO ? "observed: no node holds it"
                  : count == 0                                    ? "not kept"
                                                                  : "";
    const struct lab_node_load **nodes = report_take(arena, count + 1, sizeof *nodes);
    panel->bars = report_take(arena, count + 1, sizeof *panel->bars);
    panel->curve = report_take(arena, 2, sizeof *panel->curve);
    if (nodes == NULL || panel->bars == NULL || panel->curve == NULL || count == 0) {
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
    const double even = 1 / (double)count, half = is_numbered ? numbered_width / 2 : 0.5;
    for (size_t i = 0; i < count && total > 0; i++) {
        const double share = (double)nodes[i]->bytes / total, middle = (double)i + 0.5;
        panel->bars[panel->bar_count++] = (struct report_bar){.from = middle - half,
                                                              .to = middle + half,
                                                              .high = share,
                                                              .first = (double)i,
                                                              .last = (double)i,
                                                              .count = share,
                                                              .ink = REPORT_INK_CLOSED,
                                                              .hint = hint_of(nodes[i], share, even, arena)};
    }
    panel->curve[0] = (struct report_point){0, even};
    panel->curve[1] = (struct report_point){(double)count, even};
    panel->curve_count = 2;
    fill_figures(strategy, total, arena, panel);
}

/* The distance of ticks is 1, 2, 5, 10, ... hundredths of a percent: the first of these that fits at most
 * four times below the top. */
static void fill_y_axis(double top, struct report_arena *arena, struct report_axis *axis)
{
    double step = 1e-4;
    for (unsigned i = 0; top > 4.999 * step; i++) {
        step *= i % 3 == 1 ? 2.5 : 2;
    }
    axis->high = top > 0 ? top * headroom : 1;
    axis->title = "share of bytes";
    axis->ticks = report_take(arena, Y_TICKS_MAX, sizeof *axis->ticks);
    for (double at = 0; axis->ticks != NULL && at <= axis->high && axis->tick_count < Y_TICKS_MAX;
         at += step) {
        axis->ticks[axis->tick_count++] = (struct report_tick){.at = at, .text = report_percent(arena, at)};
    }
}

void report_nodes_fill(const struct lab_result *result, struct report_arena *arena,
                       struct report_chart *chart)
{
    chart->form = REPORT_FORM_STACK;
    chart->name = "nodes";
    chart->title = "Load per node";
    const size_t count = most_nodes(result);
    if (count < 2) {
        chart->absent = why_absent(result);
        return;
    }
    fill_x_axis(count, arena, &chart->x);
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    if (chart->panels == NULL) {
        return;
    }
    chart->panel_count = result->strategy_count;
    double top = 0;
    for (size_t i = 0; i < chart->panel_count; i++) {
        struct report_panel *panel = &chart->panels[i];
        fill_panel(&result->strategies[i], count <= NUMBERED_MAX, arena, panel);
        for (size_t bar = 0; bar < panel->bar_count; bar++) {
            top = panel->bars[bar].high > top ? panel->bars[bar].high : top;
        }
    }
    /* All panels have the same scale, so that even and uneven strategies can be compared. */
    for (size_t i = 0; i < chart->panel_count; i++) {
        fill_y_axis(top, arena, &chart->panels[i].y);
    }
    report_legend_add(chart, REPORT_INK_CLOSED, "share of all bytes, replicas included");
    report_legend_add(chart, REPORT_INK_DISTRIBUTION, "even share");
}
