/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The share of partitions that are larger than each size: one line per strategy on log axes, and the exact
 * distributions. */
#include "survival.h"

#include <math.h>
#include <stdlib.h>

#include "axis.h"
#include "lab/judgment.h"
#include "lab/known.h"
#include "sizes.h"

struct entry {
    const struct lab_strategy_result *strategy;
    const struct lab_histogram *sizes;
    enum report_ink ink;
    bool is_open; /* the strategy has no closed partitions */
    bool has_distribution, is_distribution_shared, is_distribution_drawn;
    struct report_survival_distribution distribution;
};

/* A line ends at the share of one partition. The axis ends at this factor below it. */
static const double below_last = 0.8;

/* The strategies of a result that are drawn: at most as many as there are colours. */
struct selection {
    bool is_bytes;
    struct entry entries[REPORT_CURVES_MAX];
    size_t count;
    const char **left_out; /* labels of strategies left out because there were too many */
    size_t left_out_count;
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

static void add_entry(const struct lab_strategy_result *strategy, enum report_ink ink, const char *label,
                      struct selection *out)
{
    const struct lab_histogram *closed = out->is_bytes ? &strategy->closed_bytes : &strategy->closed_rows;
    const struct lab_histogram *open = out->is_bytes ? &strategy->open_bytes : &strategy->open_rows;
    const struct lab_histogram *sizes = closed->count > 0 ? closed : open;
    if (sizes->count == 0 || sizes->most == 0 || strategy->settings.observed == WL_OBSERVED_LARGEST) {
        out->unknown[out->unknown_count++] = label;
        return;
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

/* Selects the first strategies that have partitions. If the recommended strategy is not among them, it takes
 * the last place. A strategy has the same colour in the charts of rows and of bytes. */
static bool select_all(const struct lab_result *result, struct report_arena *arena, struct selection *out)
{
    struct lab_score *scores = report_take(arena, result->strategy_count, sizeof *scores);
    out->left_out = report_take(arena, result->strategy_count, sizeof *out->left_out);
    out->unknown = report_take(arena, result->strategy_count, sizeof *out->unknown);
    if (scores == NULL || out->left_out == NULL || out->unknown == NULL) {
        return false;
    }
    const size_t chosen = lab_choose(result, scores);
    size_t total = 0, before_chosen = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        total += has_partitions(&result->strategies[i]);
        before_chosen += i < chosen && chosen != SIZE_MAX && has_partitions(&result->strategies[i]);
    }
    const bool is_kept = total > REPORT_CURVES_MAX && before_chosen >= REPORT_CURVES_MAX;
    size_t taken = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const char *label = report_clean(arena, strategy->label);
        if (!has_partitions(strategy)) {
            out->unknown[out->unknown_count++] = label;
        } else if (taken < REPORT_CURVES_MAX - (size_t)(is_kept && i < chosen)) {
            add_entry(strategy, (enum report_ink)(REPORT_INK_LINE + (int)taken++), label, out);
        } else {
            out->left_out[out->left_out_count++] = label;
        }
    }
    return true;
}

/* A distribution that several strategies share is drawn once. */
static void find_distributions(struct report_arena *arena, struct selection *selection)
{
    for (size_t i = 0; i < selection->count; i++) {
        struct entry *entry = &selection->entries[i];
        entry->has_distribution = report_survival_distribution_of(arena, entry->strategy, selection->is_bytes,
                                                                  &entry->distribution);
        entry->is_distribution_drawn = entry->has_distribution;
        for (size_t k = 0; entry->has_distribution && k < i; k++) {
            struct entry *other = &selection->entries[k];
            if (other->is_distribution_drawn &&
                report_survival_is_same_distribution(&other->distribution, &entry->distribution)) {
                other->is_distribution_shared = true;
                entry->is_distribution_drawn = false;
            }
        }
    }
}

static void add_note(struct report_arena *arena, struct report_chart *chart, const char *text)
{
    chart->note = chart->note == NULL ? text : report_text(arena, "%s %s", chart->note, text);
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
    if (chart->rules == NULL) {
        return;
    }
    if (tiny > 1 && tiny - 1 >= selection->least / 3) {
        chart->rules[chart->rule_count++] = (struct report_moment){
            .at = report_log10((double)(tiny - 1)),
            .text = report_text(arena, "tiny: below %s rows", report_exact(arena, tiny, REPORT_ROWS))};
        report_extremes_meet(extremes, (double)(tiny - 1));
    }
    if (limit == 0) {
        return;
    }
    const char *name =
        report_text(arena, "%s%s", report_exact(arena, limit, is_bytes ? REPORT_BYTES : REPORT_ROWS),
                    is_bytes ? "" : " rows");
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
            entry->is_distribution_drawn
                ? report_survival_distribution_end(&entry->distribution, 1 / (double)entry->sizes->count)
                : 0;
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
    report_curves_axis_fill(&x_axis, &x, arena, &chart->x);
    report_curves_axis_fill(&y_axis, &y, arena, &chart->y);
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

/* Adds hints at the lower ends of steps that are far enough from the last hint to be pointed at separately,
 * and at the end of the line. `bins` has the numbers of larger partitions. */
static void fill_hints(const struct entry *entry, bool is_bytes, const struct lab_bin *bins,
                       const size_t *sources, struct report_arena *arena, const struct report_chart *chart,
                       struct report_line *line)
{
    static const double gap = 0.01; /* share of the length of the axes */
    double x = -HUGE_VAL, y = HUGE_VAL;
    for (size_t i = 0; i < line->sample_count; i++) {
        struct report_sample *sample = &line->samples[i];
        const double away = fmax((sample->x - x) / (chart->x.high - chart->x.low),
                                 (y - sample->y) / (chart->y.high - chart->y.low));
        const bool is_last = i + 1 == line->sample_count;
        if (sources[i] == 0 || (!is_last && (sources[i] % 2 != 0 || away < gap))) {
            continue;
        }
        const struct lab_bin *bin = &bins[(sources[i] + 1) / 2 - 1];
        sample->hint = hint_of(entry, is_bytes, bin, arena);
        x = sample->x;
        y = sample->y;
    }
}

/* Each size is a step down, from the share of partitions that are at least as large to the share that are
 * larger. The last step ends at the share of a single partition, the least share that was observed. */
static void fill_sizes(const struct entry *entry, bool is_bytes, struct report_arena *arena,
                       const struct report_chart *chart, struct report_line *line)
{
    *line = (struct report_line){.ink = entry->ink, .is_dense = true};
    line->label = report_text(arena, "%s%s", report_clean(arena, entry->strategy->label),
                              entry->is_open ? " (open)" : "");
    size_t bin_count;
    struct lab_bin *bins = lab_histogram_sorted(entry->sizes, &bin_count);
    struct report_point *points = bins != NULL ? report_take(arena, 2 * bin_count + 1, sizeof *points) : NULL;
    if (points == NULL) {
        arena->out_of_memory = true;
        free(bins);
        return;
    }
    const double total = (double)entry->sizes->count;
    uint64_t larger = entry->sizes->count;
    double share = 0;
    points[0] = (struct report_point){chart->x.low, 0};
    for (size_t i = 0; i < bin_count; i++) {
        const double x = report_log10(fmin(REPORT_VALUE_MAX, fmax(1, (double)bins[i].size)));
        points[2 * i + 1] = (struct report_point){x, share};
        larger -= bins[i].count;
        bins[i].count = larger;
        share = report_log10((larger > 0 ? (double)larger : 1) / total);
        points[2 * i + 2] = (struct report_point){x, share};
    }
    const size_t *sources = report_survival_trace(arena, chart, points, 2 * bin_count + 1, line);
    if (sources != NULL) {
        fill_hints(entry, is_bytes, bins, sources, arena, chart, line);
    }
    free(bins);
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
    if (line->samples == NULL || !lab_known_steps(entry->strategy, steps)) {
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

/* Lists the first few labels by name and counts the others. */
static const char *list_of(const char *const *labels, size_t count, struct report_arena *arena)
{
    enum { NAMED_MAX = 3 };
    const size_t named = count <= NAMED_MAX + 1 ? count : NAMED_MAX;
    const char *list = labels[0];
    for (size_t i = 1; i < named; i++) {
        list = report_text(arena, "%s%s%s", list, i + 1 == count ? " and " : ", ", labels[i]);
    }
    return named == count ? list : report_text(arena, "%s and %zu others", list, count - named);
}

/* Adds notes on the strategies that are not drawn. */
static void fill_notes(const struct selection *selection, size_t strategy_count, struct report_arena *arena,
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
    if (selection->left_out_count > 0) {
        add_note(arena, chart,
                 report_text(arena, "%zu of %zu strategies are drawn, without %s.", selection->count,
                             strategy_count, list_of(selection->left_out, selection->left_out_count, arena)));
    }
    if (selection->unknown_count > 0) {
        add_note(arena, chart,
                 report_text(arena, "No partition, or no share of them is known: %s.",
                             list_of(selection->unknown, selection->unknown_count, arena)));
    }
}

static void fill(const struct lab_result *result, bool is_bytes, struct report_arena *arena,
                 struct report_chart *chart)
{
    chart->form = REPORT_FORM_CURVES;
    chart->name = is_bytes ? "survival-bytes" : "survival-rows";
    chart->title = is_bytes ? "Partitions larger than x bytes" : "Partitions larger than x rows";
    chart->names_along = true;
    struct selection selection = {.is_bytes = is_bytes, .least_share = 0.1};
    chart->lines = report_take(arena, REPORT_LINES_MAX, sizeof *chart->lines);
    if (chart->lines == NULL || !select_all(result, arena, &selection)) {
        return;
    }
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
        report_survival_distribution_line(arena, &entry->distribution, (double)entry->sizes->count, chart,
                                          line);
        chart->line_count -= line->sample_count == 0;
    }
    for (size_t i = 0; i < selection.count; i++) {
        struct report_line *line = &chart->lines[chart->line_count++];
        if (selection.entries[i].strategy->settings.observed == WL_OBSERVED_PERCENTILES) {
            fill_percentiles(&selection.entries[i], arena, chart, line);
            chart->line_count -= line->sample_count == 0;
        } else {
            fill_sizes(&selection.entries[i], is_bytes, arena, chart, line);
        }
    }
    if (has_distribution) {
        report_legend_add(chart, REPORT_INK_DASHES, "exact distribution, hidden where the sizes follow it");
    }
    if (chart->line_count == 0) { /* all percentiles are the largest size */
        chart->absent = "no share of the partitions is known to be larger than a size";
        return;
    }
    fill_notes(&selection, result->strategy_count, arena, chart);
}

void report_survival_rows_fill(const struct lab_result *result, struct report_arena *arena,
                               struct report_chart *chart)
{
    fill(result, false, arena, chart);
}

void report_survival_bytes_fill(const struct lab_result *result, struct report_arena *arena,
                                struct report_chart *chart)
{
    fill(result, true, arena, chart);
}
