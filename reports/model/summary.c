/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of a run in one chart that fits into a chat message: which strategy to choose and why, and one
 * line per strategy with its sizes against the limit, its cost, how often it exceeds a limit and how many
 * partitions a read queries. The sizes are those of the charts of rows or bytes. */
#include <math.h>
#include <stdint.h>

#include "reports/answer.h"
#include "reports/format.h"
#include "reports/model.h"
#include "reports/strategy.h"

/* More lines would be unreadable when the chart is displayed at a small size. */
enum { SHOWN_MAX = 6, FIGURES = 3, LINES_MAX = 2 };

/* Returns whether sizes are shown in bytes: the unit is the one whose limit more partitions exceed, and rows
 * if there is no difference. Percentiles from a file are in bytes. */
static bool is_better_in_bytes(const struct lab_result *result)
{
    const bool has_rows = result->limits.partition_rows != 0, has_bytes = result->limits.partition_bytes != 0;
    double over_rows = 0, over_bytes = 0;
    bool is_known_in_rows = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        double value = 0;
        is_known_in_rows |= strategy->closed_rows.count + strategy->open_rows.count > 0;
        report_metric(strategy, "partitions.over_limit_rows", &value);
        over_rows += value;
        report_metric(strategy, "partitions.over_limit_bytes", &value);
        over_bytes += value;
    }
    if (!is_known_in_rows || has_rows != has_bytes) {
        return !is_known_in_rows || has_bytes;
    }
    return over_bytes > over_rows;
}

/* The order is: the chosen strategy; then those without disqualifiers, the cheapest first; then those that
 * exceed limits least often. */
static bool comes_before(const struct report_answer *answer, size_t one, size_t other)
{
    const struct lab_score *a = &answer->scores[one], *b = &answer->scores[other];
    if (one == answer->chosen || other == answer->chosen) {
        return one == answer->chosen;
    }
    if (a->candidate.is_eligible != b->candidate.is_eligible) {
        return a->candidate.is_eligible;
    }
    const double over_a = isnan(a->judgment.share) ? 0 : a->judgment.share,
                 over_b = isnan(b->judgment.share) ? 0 : b->judgment.share;
    if (over_a != over_b) {
        return over_a < over_b;
    }
    const double cost_a = isnan(a->cost) ? (double)INFINITY : a->cost,
                 cost_b = isnan(b->cost) ? (double)INFINITY : b->cost;
    return cost_a != cost_b ? cost_a < cost_b : one < other;
}

/* Chooses the best `count` strategies, in the order of the scenario. */
static void choose_shown(const struct lab_result *result, const struct report_answer *answer, size_t *shown,
                         size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        size_t before = 0;
        for (size_t k = 0; k < result->strategy_count; k++) {
            before += k != i && comes_before(answer, k, i);
        }
        if (before < count && used < count) {
            shown[used++] = i;
        }
    }
}

static const char *metric_text(struct report_arena *arena, double value)
{
    return isnan(value) ? "–" : report_number(arena, value);
}

static void fill_panel(const struct lab_result *result, const struct report_answer *answer, size_t index,
                       struct report_arena *arena, struct report_panel *panel)
{
    const struct lab_strategy_result *strategy = &result->strategies[index];
    const struct lab_score *score = &answer->scores[index];
    double reads = (double)NAN;
    if (!report_metric(strategy, "reads.partitions_per_read.mean", &reads)) {
        reads = (double)NAN;
    }
    panel->is_chosen = index == answer->chosen;
    panel->note = "";
    panel->figures = report_take(arena, FIGURES, sizeof *panel->figures);
    if (panel->figures == NULL) {
        return;
    }
    panel->figure_count = FIGURES;
    panel->figures[0] = (struct report_figure){.name = "cost in inserts per 1000 rows",
                                               .text = metric_text(arena, score->cost)};
    panel->figures[1] = (struct report_figure){.name = "partitions above a limit",
                                               .text = isnan(score->judgment.share) ? "–"
                                                       : score->judgment.share == 0
                                                           ? "0"
                                                           : report_percent(arena, score->judgment.share),
                                               .is_alarm = score->judgment.within == LAB_EXCEEDS};
    panel->figures[2] =
        (struct report_figure){.name = "partitions per read", .text = metric_text(arena, reads)};
}

static const char *left_out(struct report_arena *arena, size_t shown, size_t all)
{
    return shown == all
               ? NULL
               : report_text(
                     arena,
                     "the best %zu of %zu strategies; the others cost more, or have more disqualifiers",
                     shown, all);
}

void report_summary_fill(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    struct report_answer answer;
    struct report_chart sizes = {.absent = NULL};
    size_t shown[SHOWN_MAX];
    chart->form = REPORT_FORM_SUMMARY;
    chart->name = "summary";
    chart->title = "Which strategy";
    if (result->strategy_count == 0 || result->strategies[0].settings.is_idgen) {
        chart->absent = "identifiers have no partitions";
        return;
    }
    if (result->is_tuned) {
        chart->absent = "tune chose over several seeds; a single seed may lead to another choice";
        return;
    }
    const bool is_bytes = is_better_in_bytes(result);
    report_answer_run(result, arena, &answer);
    if (is_bytes) {
        report_bytes_fill(result, arena, &sizes);
    } else {
        report_rows_fill(result, arena, &sizes);
    }
    if (sizes.absent != NULL || arena->out_of_memory) {
        chart->absent = "no partition holds a row";
        return;
    }
    const size_t count = result->strategy_count < SHOWN_MAX ? result->strategy_count : SHOWN_MAX;
    chart->panels = report_take(arena, count, sizeof *chart->panels);
    if (chart->panels == NULL) {
        return;
    }
    chart->sentences[chart->sentence_count++] = answer.headline;
    for (size_t i = 0; i < answer.line_count && i < LINES_MAX; i++) {
        chart->sentences[chart->sentence_count++] =
            report_text(arena, "%s: %s", answer.lines[i].label, answer.lines[i].text);
    }
    chart->x = sizes.x;
    chart->x.title = report_text(arena, "%s per partition%s", is_bytes ? "bytes" : "rows",
                                 sizes.panels[0].y.is_log ? " (log counts)" : "");
    if (answer.chosen != SIZE_MAX) {
        report_legend_add(chart, REPORT_INK_CHOSEN, "the choice");
    }
    for (size_t i = 0; i < sizes.legend_count; i++) {
        if (sizes.legend[i].ink != REPORT_INK_DISTRIBUTION) {
            report_legend_add(chart, sizes.legend[i].ink, sizes.legend[i].text);
        }
    }
    choose_shown(result, &answer, shown, count);
    for (size_t i = 0; i < count; i++) {
        chart->panels[i] = sizes.panels[shown[i]];
        fill_panel(result, &answer, shown[i], arena, &chart->panels[i]);
    }
    chart->panel_count = count;
    chart->note = left_out(arena, count, result->strategy_count);
}
