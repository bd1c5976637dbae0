/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long operations took, by percentile: a panel an operation, a line a strategy. */
#include "latency.h"

#include <math.h>
#include <stdlib.h>

#include "bins.h"
#include "curves_axis.h"
#include "format.h"
#include "lab/choice.h"

/* An operation, what its panel is called, and who got no answer. */
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
    {LAB_LATENCY_LOCK, "Locks", "from the wish for a batch to the lock", "lock", NULL, NULL},
    {LAB_LATENCY_LEASE, "Leases", "from the wish for a batch to the batch", "lease", "ids.failed", "failed"},
};
enum { OPERATION_COUNT = sizeof operations / sizeof operations[0] };

/* From this ratio of the longest to the shortest on, a linear axis shows only the longest. */
static const double linear_ratio_max = 4;
static const double nines_min = 1;
/* What is seen of a line, across and up a panel. */
static const double details_x = 600;
static const double details_y = 200;

/* Strategies that are drawn: at most one a colour. */
struct selection {
    struct {
        const struct lab_strategy_result *strategy;
        enum report_ink ink;
    } items[REPORT_CURVES_MAX];
    size_t count, left_out;
};

static const char *why_absent(const struct lab_result *result, struct report_arena *arena);
static bool has_latency(const struct lab_strategy_result *strategy);
static bool select_all(const struct lab_result *result, struct report_arena *arena, struct selection *out);
static void fill_x_axis(const struct selection *selection, struct report_arena *arena,
                        struct report_axis *axis);
static void fill_panel(const struct operation *operation, const struct selection *selection,
                       const struct report_axis *x, struct report_arena *arena, struct report_panel *panel);
static struct report_mapping fill_y_axis(const struct operation *operation, const struct selection *selection,
                                         struct report_arena *arena, struct report_axis *axis);
static const char *note_of(const struct operation *operation, const struct selection *selection,
                           struct report_arena *arena);

void report_latency_fill(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    chart->form = REPORT_FORM_PANES;
    chart->name = "latency";
    chart->title = "Latency by percentile";
    chart->absent = why_absent(result, arena);
    struct selection selection = {0};
    if (chart->absent != NULL || !select_all(result, arena, &selection)) {
        return;
    }
    fill_x_axis(&selection, arena, &chart->x);
    chart->panels = report_take(arena, OPERATION_COUNT, sizeof *chart->panels);
    for (size_t i = 0; chart->panels != NULL && i < OPERATION_COUNT; i++) {
        struct report_panel *panel = &chart->panels[chart->panel_count];
        fill_panel(&operations[i], &selection, &chart->x, arena, panel);
        chart->panel_count += panel->line_count > 0;
    }
    if (selection.left_out > 0) {
        chart->note = report_text(arena, "%zu of %zu strategies are drawn.", selection.count,
                                  selection.count + selection.left_out);
    }
}

static const char *why_absent(const struct lab_result *result, struct report_arena *arena)
{
    bool has_agents = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (has_latency(&result->strategies[i])) {
            return NULL;
        }
        has_agents |= result->strategies[i].events.stride > 0;
    }
    if (lab_result_is_observed(result)) {
        return "nothing was run, so nothing took time";
    }
    if (!has_agents) {
        return "the scenario has no agents: nothing takes time";
    }
    for (size_t i = 0; i < result->strategy_count; i++) {
        for (int k = 0; k < LAB_LATENCY_COUNT; k++) {
            double value;
            const char *name = report_text(arena, "%s.p50", lab_latency_name((enum lab_latency)k));
            if (report_metric(&result->strategies[i], name, &value)) {
                return "the run was stored before latencies were kept; run its scenario again";
            }
        }
    }
    return "no operation was answered";
}

static bool has_latency(const struct lab_strategy_result *strategy)
{
    for (int i = 0; i < LAB_LATENCY_COUNT; i++) {
        if (strategy->latency[i].count > 0) {
            return true;
        }
    }
    return false;
}

/* The first ones; the one to choose takes the last place when it is not among them. */
static bool select_all(const struct lab_result *result, struct report_arena *arena, struct selection *out)
{
    struct lab_standing *standings = report_take(arena, result->strategy_count, sizeof *standings);
    if (standings == NULL) {
        return false;
    }
    const size_t chosen = lab_choose(result, standings);
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        if (!has_latency(strategy)) {
            continue;
        }
        out->left_out += out->count == REPORT_CURVES_MAX;
        if (out->count < REPORT_CURVES_MAX) {
            out->items[out->count].ink = (enum report_ink)(REPORT_INK_LINE + (int)out->count);
            out->items[out->count++].strategy = strategy;
        } else if (i == chosen) {
            out->items[REPORT_CURVES_MAX - 1].strategy = strategy;
        }
    }
    return true;
}

/* From 0 to where one of all operations is left. */
static void fill_x_axis(const struct selection *selection, struct report_arena *arena,
                        struct report_axis *axis)
{
    uint64_t most = 1, of;
    unsigned count = 0;
    for (size_t i = 0; i < selection->count; i++) {
        for (int k = 0; k < LAB_LATENCY_COUNT; k++) {
            const uint64_t operations_count = selection->items[i].strategy->latency[k].count;
            most = operations_count > most ? operations_count : most;
        }
    }
    axis->low = 0;
    axis->high = fmax(nines_min, report_log10((double)most));
    axis->title = "percentile: the share of them that took no longer";
    while (report_percentile(count, &of)) {
        count++;
    }
    axis->ticks = report_take(arena, count + 1, sizeof *axis->ticks);
    if (axis->ticks == NULL) {
        return;
    }
    axis->ticks[axis->tick_count++] = (struct report_tick){.at = 0, .text = "0%"};
    for (unsigned i = 0; i < count; i++) {
        report_percentile(i, &of);
        const double at = report_log10((double)of);
        if (at <= axis->high) {
            /* 75, 95, 99.5 % ... have a stroke alone. */
            axis->ticks[axis->tick_count++] = (struct report_tick){
                .at = at, .text = i > 0 && i % 2 == 1 ? "" : report_percentile_text(arena, of)};
        }
    }
}

static void fill_panel(const struct operation *operation, const struct selection *selection,
                       const struct report_axis *x, struct report_arena *arena, struct report_panel *panel)
{
    *panel = (struct report_panel){.label = operation->label, .detail = operation->detail};
    const struct report_mapping y = fill_y_axis(operation, selection, arena, &panel->y);
    panel->lines = report_take(arena, REPORT_CURVES_MAX, sizeof *panel->lines);
    panel->note = note_of(operation, selection, arena);
    for (size_t i = 0; panel->lines != NULL && i < selection->count; i++) {
        const struct lab_strategy_result *strategy = selection->items[i].strategy;
        if (strategy->latency[operation->latency].count == 0) {
            continue;
        }
        struct report_line *line = &panel->lines[panel->line_count++];
        line->label = report_clean(arena, strategy->label);
        line->ink = selection->items[i].ink;
        const struct report_latency latency = {strategy, operation->latency, operation->noun};
        report_latency_line(&latency, &y, (x->high - x->low) / details_x,
                            (panel->y.high - panel->y.low) / details_y, arena, line);
    }
}

static struct report_mapping fill_y_axis(const struct operation *operation, const struct selection *selection,
                                         struct report_arena *arena, struct report_axis *axis)
{
    struct report_extremes extremes = report_no_extremes;
    for (size_t i = 0; i < selection->count; i++) {
        const struct lab_histogram *latency = &selection->items[i].strategy->latency[operation->latency];
        if (latency->count > 0) {
            report_extremes_meet(&extremes, (double)latency->least / 1e9);
            report_extremes_meet(&extremes, (double)latency->most / 1e9);
        }
    }
    if (extremes.least > extremes.most) {
        return (struct report_mapping){0};
    }
    const bool is_log = extremes.least > 0 && extremes.most > linear_ratio_max * extremes.least;
    const struct report_curves_axis data = {"latency", REPORT_UNIT_SECONDS,
                                            is_log ? REPORT_LOG : REPORT_LINEAR};
    extremes.is_tight = true;
    return report_curves_axis_fill(&data, &extremes, arena, axis);
}

/* "never acknowledged: single 3, locked 1.2K" */
static const char *note_of(const struct operation *operation, const struct selection *selection,
                           struct report_arena *arena)
{
    const char *note = "";
    for (size_t i = 0; operation->failed_metric != NULL && i < selection->count; i++) {
        const struct lab_strategy_result *strategy = selection->items[i].strategy;
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
