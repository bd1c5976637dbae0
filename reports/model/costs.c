/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The costs of the strategies, and the summary. In: a result. Out: one row per strategy and one column per
 * cost; or the answer in one chart that fits into a chat message: which strategy to choose and why, and one
 * line per strategy with its sizes against the limit, its cost, how often it exceeds a limit and how many
 * partitions a read queries. */
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "lab/judgment.h"
#include "parts.h"
#include "reports/answer.h"

/* From this ratio of the largest to the least value on, a logarithmic scale is used, because the bars of a
 * linear one would be too short to compare. */
static const double linear_ratio_max = 100;
enum { COLUMNS_MAX = 4 };

/* A column: `tell` sets the value, the text and the hint of a strategy's cell; false when they are not known.
 */
struct source {
    const char *title, *part, *whole; /* part, whole: the metrics of a share */
    enum report_ink ink;
    bool may_be_log;
    bool (*tell)(const struct source *source, const struct lab_result *result, size_t index,
                 struct report_arena *arena, struct report_cell *cell);
};

/* The cost as tune and the summary define it: the operations of writers in addition to the inserts, plus the
 * partitions that reads query. */
static bool tell_cost(const struct source *source, const struct lab_result *result, size_t index,
                      struct report_arena *arena, struct report_cell *cell)
{
    (void)source;
    const struct lab_cost cost = lab_cost_of(&result->prices, &result->strategies[index]);
    cell->value = cost.write + cost.read;
    cell->text = report_number(arena, cell->value);
    cell->hint = report_text(arena, "a cost of %s inserts per 1000 rows, %s by writers and %s by reads",
                             report_full(arena, cell->value), report_full(arena, cost.write),
                             report_full(arena, cost.read));
    return result->strategies[index].settings.observed == WL_OBSERVED_AUTO && !isnan(cell->value);
}

static bool tell_reads(const struct source *source, const struct lab_result *result, size_t index,
                       struct report_arena *arena, struct report_cell *cell)
{
    (void)source;
    const struct lab_strategy_result *strategy = &result->strategies[index];
    if (!report_metric(strategy, "reads.partitions_per_read.mean", &cell->value))
        return false;
    cell->has_mark = report_metric(strategy, "reads.partitions_per_read.p99", &cell->mark);
    cell->text = report_number(arena, cell->value);
    cell->hint = report_text(arena, "%s partition%s per read on average", report_full(arena, cell->value),
                             cell->value == 1 ? "" : "s");
    if (cell->has_mark) {
        report_append(arena, &cell->text, ", ", "p99 %s", report_number(arena, cell->mark));
        report_append(arena, &cell->hint, ", ", "99th percentile %s", report_full(arena, cell->mark));
    }
    return true;
}

static bool tell_share(const struct source *source, const struct lab_result *result, size_t index,
                       struct report_arena *arena, struct report_cell *cell)
{
    double count, of;
    if (!report_metric(&result->strategies[index], source->part, &count) ||
        !report_metric(&result->strategies[index], source->whole, &of) || !(of > 0))
        return false;
    cell->value = count / of;
    cell->text = report_percent(arena, cell->value);
    cell->hint =
        report_text(arena, "%s of %s %s", report_full(arena, count), report_full(arena, of), source->title);
    return true;
}

/* Adds a column, unless nothing in it is known. Returns whether it did. */
static bool add_column(const struct source *source, const struct lab_result *result,
                       struct report_arena *arena, struct report_chart *chart)
{
    struct report_column column = {.title = source->title,
                                   .ink = source->ink,
                                   .cells = report_take(arena, chart->row_count, sizeof *column.cells)};
    double least = HUGE_VAL, most = 0;
    bool is_known = false;
    for (size_t i = 0; i < chart->row_count; i++) {
        struct report_cell cell = {.text = "–"};
        column.cells[i] = cell;
        cell.present = source->tell(source, result, i, arena, &cell);
        if (cell.present) {
            cell.hint = report_text(arena, "%s: %s", chart->rows[i].label, cell.hint);
            column.cells[i] = cell;
            most = fmax(most, fmax(cell.value, cell.has_mark ? cell.mark : 0));
            least = cell.value > 0 ? fmin(least, cell.value) : least;
            is_known = true;
        }
    }
    column.high = most > 0 ? most : 1;
    if (source->may_be_log && most > linear_ratio_max * least) {
        column.is_log = true;
        column.title = report_text(arena, "%s (log\u00A0scale)", source->title);
        column.high = report_log10(most);
        /* The shortest bar is an eighth of the longest, so it is visible. */
        column.low = report_log10(least) - (column.high - report_log10(least)) / 7;
    }
    if (is_known)
        chart->columns[chart->column_count++] = column;
    return is_known;
}

void report_costs_fill(const struct lab_result *result, struct report_arena *arena,
                       struct report_chart *chart)
{
    chart->rows = report_take(arena, result->strategy_count, sizeof *chart->rows);
    chart->columns = report_take(arena, COLUMNS_MAX, sizeof *chart->columns);
    chart->row_count = result->strategy_count;
    for (size_t i = 0; i < chart->row_count; i++) {
        chart->rows[i].label = report_clean(arena, result->strategies[i].label);
        chart->rows[i].detail = report_settings(arena, &result->strategies[i].settings);
    }
    const struct lab_limits *limits = &result->limits;
    const struct source cost = {
        "cost in inserts per 1000 rows", NULL, NULL, REPORT_INK_COST, true, tell_cost};
    const struct source reads = {"partitions per read", NULL, NULL, REPORT_INK_COST, true, tell_reads};
    const struct source over = {"partitions over a limit",
                                "partitions.over_limit",
                                "partitions.total",
                                REPORT_INK_ALARM,
                                false,
                                tell_share};
    const struct source tiny = {report_text(arena, "closed partitions below %s rows",
                                            report_exact(arena, limits->tiny_rows, REPORT_ROWS)),
                                "partitions.tiny",
                                "partitions.closed",
                                REPORT_INK_WASTE,
                                false,
                                tell_share};
    add_column(&cost, result, arena, chart);
    if (add_column(&reads, result, arena, chart)) {
        report_legend_add(chart, REPORT_INK_COST, "mean of the reads");
        report_legend_add(chart, REPORT_INK_SLOW, "99th percentile of the reads");
    }
    if (lab_limits_sizes(limits))
        add_column(&over, result, arena, chart);
    if (limits->tiny_rows > 1)
        add_column(&tiny, result, arena, chart);
    if (chart->column_count == 0)
        chart->absent = "nothing was run, so there are no costs";
}

/* More lines would be unreadable when the chart is displayed at a small size. */
enum { SHOWN_MAX = 6, LINES_MAX = 2 };

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
    if (!is_known_in_rows || has_rows != has_bytes)
        return !is_known_in_rows || has_bytes;
    return over_bytes > over_rows;
}

/* The order is: the chosen strategy; then those without disqualifiers, the cheapest first; then those that
 * exceed limits least often. */
static bool comes_before(const struct report_answer *answer, size_t one, size_t other)
{
    const struct lab_score *a = &answer->scores[one], *b = &answer->scores[other];
    if (one == answer->chosen || other == answer->chosen)
        return one == answer->chosen;
    if (a->candidate.is_eligible != b->candidate.is_eligible)
        return a->candidate.is_eligible;
    const double over_a = isnan(a->judgment.share) ? 0 : a->judgment.share,
                 over_b = isnan(b->judgment.share) ? 0 : b->judgment.share;
    if (over_a != over_b)
        return over_a < over_b;
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
        for (size_t k = 0; k < result->strategy_count; k++)
            before += k != i && comes_before(answer, k, i);
        if (before < count && used < count)
            shown[used++] = i;
    }
}

static const char *metric_text(struct report_arena *arena, double value)
{
    return isnan(value) ? "–" : report_number(arena, value);
}

/* The share of partitions above a limit; percentiles only give a bound. */
static const char *above_text(struct report_arena *arena, const struct lab_judgment *judgment)
{
    const bool is_bound = judgment->by == LAB_BY_PERCENTILES, is_over = judgment->within == LAB_EXCEEDS;
    const double share = is_bound && !is_over ? judgment->share_most : judgment->share;
    if (isnan(share) || (is_bound && judgment->within == LAB_NOT_JUDGED))
        return "–";
    if (share <= DBL_MIN) /* above 0: the largest partition, and perhaps no other */
        return share == 0 ? "0" : "some";
    return report_text(arena, "%s%s",
                       !is_bound || share >= 1 ? ""
                       : is_over               ? "≥"
                                               : "≤",
                       report_percent(arena, share));
}

static void fill_panel(const struct lab_result *result, const struct report_answer *answer, size_t index,
                       struct report_arena *arena, struct report_panel *panel)
{
    const struct lab_strategy_result *strategy = &result->strategies[index];
    const struct lab_score *score = &answer->scores[index];
    double reads = (double)NAN;
    if (!report_metric(strategy, "reads.partitions_per_read.mean", &reads))
        reads = (double)NAN;
    panel->is_chosen = index == answer->chosen;
    panel->note = "";
    panel->figures = NULL;
    panel->figure_count = 0;
    const struct report_figure figures[] = {
        {.name = "cost in inserts per 1000 rows", .text = metric_text(arena, score->cost)},
        {.name = "partitions above a limit",
         .text = above_text(arena, &score->judgment),
         .is_alarm = score->judgment.within == LAB_EXCEEDS},
        {.name = "partitions per read", .text = metric_text(arena, reads)},
    };
    report_figures_add(arena, panel, figures, sizeof figures / sizeof figures[0]);
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
    struct report_chart sizes = {.is_bytes = is_better_in_bytes(result)};
    size_t shown[SHOWN_MAX];
    if (result->strategy_count == 0 || result->strategies[0].settings.is_idgen) {
        chart->absent = "identifiers have no partitions";
        return;
    }
    if (result->is_tuned) {
        chart->absent = "tune chose over several seeds; a single seed may lead to another choice";
        return;
    }
    report_answer_run(result, arena, &answer);
    report_partitions_fill(result, arena, &sizes);
    if (sizes.absent != NULL) {
        chart->absent = "no partition holds a row";
        return;
    }
    const size_t count = result->strategy_count < SHOWN_MAX ? result->strategy_count : SHOWN_MAX;
    chart->panels = report_take(arena, count, sizeof *chart->panels);
    chart->sentences[chart->sentence_count++] = answer.headline;
    for (size_t i = 0; i < answer.line_count && i < LINES_MAX; i++)
        chart->sentences[chart->sentence_count++] =
            report_text(arena, "%s: %s", answer.lines[i].label, answer.lines[i].text);
    chart->x = sizes.x;
    chart->x.title = report_text(arena, "%s per partition%s", sizes.is_bytes ? "bytes" : "rows",
                                 sizes.panels[0].y.is_log ? " (log counts)" : "");
    if (answer.chosen != SIZE_MAX)
        report_legend_add(chart, REPORT_INK_CHOSEN, "the choice");
    for (size_t i = 0; i < sizes.legend_count; i++) {
        if (sizes.legend[i].ink != REPORT_INK_DISTRIBUTION)
            report_legend_add(chart, sizes.legend[i].ink, sizes.legend[i].text);
    }
    choose_shown(result, &answer, shown, count);
    for (size_t i = 0; i < count; i++) {
        chart->panels[i] = sizes.panels[shown[i]];
        fill_panel(result, &answer, shown[i], arena, &chart->panels[i]);
    }
    chart->panel_count = count;
    chart->note = left_out(arena, count, result->strategy_count);
}
