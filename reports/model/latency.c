/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The latency of operations by percentile. In: a result. Out: one panel per operation, one line per strategy.
 * The x axis is a log axis of the share above the percentile, on which each additional nine takes the same
 * width: x = -log10(1 - p). */

#include "parts.h"

struct latency {
    const struct lab_strategy_result *strategy;
    enum lab_latency latency;
    const char *noun; /* "write" */
};

enum { PERCENTILE_COUNT = 17 };

bool report_percentile(unsigned index, uint64_t *of)
{
    /* 50, 75, 90, 95, 99, 99.5, 99.9 ... % */
    static const uint64_t places[PERCENTILE_COUNT] = {2,       4,       10,       20,       100,      200,
                                                      1000,    2000,    10000,    20000,    100000,   200000,
                                                      1000000, 2000000, 10000000, 20000000, 100000000};
    *of = index < PERCENTILE_COUNT ? places[index] : 0;
    return index < PERCENTILE_COUNT;
}

const char *report_percentile_text(struct report_arena *arena, uint64_t of)
{
    int decimals = -2;
    uint64_t first = of;
    for (; first >= 10; first /= 10) {
        decimals++;
    }
    decimals += first > 1;
    return report_text(arena, "%.*f%%", decimals > 0 ? decimals : 0, 100 - 100 / (double)of);
}

/* Returns the x at which `upto` of `count` operations are to the left. For all of them, this is the x at
 * which one operation would be left. */
static double place_of(uint64_t count, uint64_t upto)
{
    return report_log10((double)count / (double)(upto < count ? count - upto : 1));
}

static const char *hint_of(const struct latency *latency, uint64_t of, double ns, struct report_arena *arena)
{
    return report_text(arena, "%s: %s of %s %ss took at most %s",
                       report_clean(arena, latency->strategy->label), report_percentile_text(arena, of),
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
    for (unsigned i = 0; report_percentile(i, &of); i++) {
        /* The percentile is in the first bin up to whose end enough operations have been counted. */
        const bool is_past = (lab_wide)(count - below) * of <= count;
        if (of <= count && !is_past && (lab_wide)(count - upto) * of <= count) {
            /* Prefer the metric, which was computed from latencies that were not rounded to bins. */
            double ns = (double)size, ms;
            const char *name = of == 2 ? "p50" : of == 100 ? "p99" : of == 1000 ? "p999" : NULL;
            if (name != NULL &&
                report_metric(latency->strategy,
                              report_text(arena, "%s.%s", lab_latency_name(latency->latency), name), &ms)) {
                ns = ms * 1e6;
            }
            put(path, report_log10((double)of), y, hint_of(latency, of, ns, arena));
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
    report_trace(arena, x, y, path.points, path.hints, path.count, line);
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
        if (strategy->latency[i].count > 0) {
            return true;
        }
    }
    return false;
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
        return "the scenario has no agents, so operations take no time";
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

/* The axis runs from 0 to the x at which one of all operations is left. */
static void fill_x_axis(const struct report_selection *selection, struct report_arena *arena,
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
    while (report_percentile(count, &of)) {
        count++;
    }
    axis->ticks = report_take(arena, count + 1, sizeof *axis->ticks);
    axis->ticks[axis->tick_count++] = (struct report_tick){.at = 0, .text = "0%"};
    for (unsigned i = 0; i < count; i++) {
        report_percentile(i, &of);
        const double at = report_log10((double)of);
        if (at <= axis->high) {
            /* 75%, 95%, 99.5% and so on have a stroke without a number. */
            axis->ticks[axis->tick_count++] = (struct report_tick){
                .at = at, .text = i > 0 && i % 2 == 1 ? "" : report_percentile_text(arena, of)};
        }
    }
}

static void fill_y_axis(const struct operation *operation, const struct report_selection *selection,
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
    if (extremes.least > extremes.most) {
        return;
    }
    const bool is_log = extremes.least > 0 && extremes.most > linear_ratio_max * extremes.least;
    const struct report_curves_axis data = {"latency", REPORT_UNIT_SECONDS,
                                            is_log ? REPORT_LOG : REPORT_LINEAR};
    extremes.is_tight = true;
    report_scale_fill(&data, &extremes, arena, axis);
}

/* "never acknowledged: single 3, locked 1.2K" */
static const char *note_of(const struct operation *operation, const struct report_selection *selection,
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

static void fill_panel(const struct operation *operation, const struct report_selection *selection,
                       const struct report_axis *x, struct report_arena *arena, struct report_panel *panel)
{
    *panel = (struct report_panel){.label = operation->label, .detail = operation->detail};
    fill_y_axis(operation, selection, arena, &panel->y);
    panel->lines = report_take(arena, REPORT_CURVES_MAX, sizeof *panel->lines);
    panel->note = note_of(operation, selection, arena);
    for (size_t i = 0; i < selection->count; i++) {
        const struct lab_strategy_result *strategy = selection->items[i];
        if (strategy->latency[operation->latency].count == 0) {
            continue;
        }
        struct report_line *line = &panel->lines[panel->line_count++];
        line->label = report_clean(arena, strategy->label);
        line->ink = (enum report_ink)(REPORT_INK_LINE + (int)i);
        line->is_dense = true;
        const struct latency latency = {strategy, operation->latency, operation->noun};
        fill_line(&latency, x, &panel->y, arena, line);
    }
}

void report_latency_fill(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    chart->absent = why_absent(result, arena);
    if (chart->absent != NULL) {
        return;
    }
    struct report_selection selection;
    report_select(result, has_latency, arena, &selection);
    fill_x_axis(&selection, arena, &chart->x);
    chart->panels = report_take(arena, OPERATION_COUNT, sizeof *chart->panels);
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        struct report_panel *panel = &chart->panels[chart->panel_count];
        fill_panel(&operations[i], &selection, &chart->x, arena, panel);
        chart->panel_count += panel->line_count > 0;
    }
    const char *note = report_selection_note(&selection, arena);
    chart->note = note[0] != 0 ? note : NULL;
}
