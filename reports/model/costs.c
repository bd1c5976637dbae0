/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the costs of the strategies: one row per strategy, one column per figure. */

#include <math.h>

#include "bins.h"
#include "lab/judgment.h"
#include "reports/format.h"
#include "reports/model.h"
#include "reports/strategy.h"

/* From this ratio of the largest to the least value on, a logarithmic scale is used, because the bars of a
 * linear one would be too short to compare. */
static const double linear_ratio_max = 100;
enum { COLUMNS_MAX = 4 };

static struct report_column *add_column(struct report_chart *chart, struct report_arena *arena)
{
    struct report_column *column = &chart->columns[chart->column_count];
    *column = (struct report_column){.cells = report_take(arena, chart->row_count, sizeof *column->cells)};
    for (size_t i = 0; column->cells != NULL && i < chart->row_count; i++) {
        column->cells[i].text = "–";
    }
    return column->cells != NULL ? column : NULL;
}

/* Keeps the column if it has information, and sets its scale. */
static void finish_column(struct report_chart *chart, struct report_column *column, bool may_be_log)
{
    double most = 0;
    double least = 0;
    bool says_something = false;
    for (size_t i = 0; i < chart->row_count; i++) {
        const struct report_cell *cell = &column->cells[i];
        if (!cell->present) {
            continue;
        }
        says_something = true;
        double far = cell->has_mark && cell->mark > cell->value ? cell->mark : cell->value;
        most = far > most ? far : most;
        if (cell->value > 0 && (least == 0 || cell->value < least)) {
            least = cell->value;
        }
    }
    if (!says_something) {
        return;
    }
    chart->column_count++;
    column->high = most > 0 ? most : 1;
    if (may_be_log && least > 0 && most > linear_ratio_max * least) {
        column->is_log = true;
        column->high = report_log10(most);
        /* The shortest bar is an eighth of the longest, so it is visible. */
        column->low = report_log10(least) - (column->high - report_log10(least)) / 7;
    }
}

/* Adds the cost as tune and the summary define it: the operations of writers in addition to the inserts, plus
 * the partitions that reads query. */
static void add_cost(const struct lab_result *result, struct report_arena *arena, struct report_chart *chart)
{
    struct report_column *column = add_column(chart, arena);
    if (column == NULL) {
        return;
    }
    column->ink = REPORT_INK_COST;
    for (size_t i = 0; i < chart->row_count; i++) {
        struct report_cell *cell = &column->cells[i];
        const struct lab_cost cost = lab_cost_of(&result->prices, &result->strategies[i]);
        const bool is_known = result->strategies[i].settings.observed == WL_OBSERVED_AUTO;
        cell->value = cost.write + cost.read;
        if (is_known && !isnan(cell->value)) {
            cell->present = true;
            cell->text = report_number(arena, cell->value);
            cell->hint =
                report_text(arena, "%s: a cost of %s inserts per 1000 rows, %s by writers and %s by reads",
                            chart->rows[i].label, report_full(arena, cell->value),
                            report_full(arena, cost.write), report_full(arena, cost.read));
        }
    }
    finish_column(chart, column, true);
    column->title =
        column->is_log ? "cost in inserts per 1000 rows (log\u00A0scale)" : "cost in inserts per 1000 rows";
}

static void add_reads(const struct lab_result *result, struct report_arena *arena, struct report_chart *chart)
{
    struct report_column *column = add_column(chart, arena);
    if (column == NULL) {
        return;
    }
    column->ink = REPORT_INK_COST;
    for (size_t i = 0; i < chart->row_count; i++) {
        struct report_cell *cell = &column->cells[i];
        if (!report_metric(&result->strategies[i], "reads.partitions_per_read.mean", &cell->value)) {
            continue;
        }
        cell->present = true;
        cell->text = report_number(arena, cell->value);
        cell->hint = report_text(arena, "%s: %s partition%s per read on average", chart->rows[i].label,
                                 report_full(arena, cell->value), cell->value == 1 ? "" : "s");
        if (report_metric(&result->strategies[i], "reads.partitions_per_read.p99", &cell->mark)) {
            cell->has_mark = true;
            cell->text = report_text(arena, "%s, p99 %s", cell->text, report_number(arena, cell->mark));
            cell->hint =
                report_text(arena, "%s, 99th percentile %s", cell->hint, report_full(arena, cell->mark));
        }
    }
    size_t before = chart->column_count;
    finish_column(chart, column, true);
    column->title = column->is_log ? "partitions per read (log\u00A0scale)" : "partitions per read";
    if (chart->column_count > before) {
        report_legend_add(chart, REPORT_INK_COST, "mean of the reads");
        report_legend_add(chart, REPORT_INK_SLOW, "99th percentile of the reads");
    }
}

static void add_share(const struct lab_result *result, struct report_arena *arena, struct report_chart *chart,
                      enum report_ink ink, const char *title, const char *part, const char *whole)
{
    struct report_column *column = add_column(chart, arena);
    if (column == NULL) {
        return;
    }
    column->ink = ink;
    column->title = title;
    for (size_t i = 0; i < chart->row_count; i++) {
        struct report_cell *cell = &column->cells[i];
        double of, count;
        if (report_metric(&result->strategies[i], part, &count) &&
            report_metric(&result->strategies[i], whole, &of) && of > 0) {
            cell->present = true;
            cell->value = count / of;
            cell->hint = report_text(arena, "%s: %s of %s %s", chart->rows[i].label,
                                     report_full(arena, count), report_full(arena, of), title);
            cell->text = report_percent(arena, cell->value);
        }
    }
    finish_column(chart, column, false);
}

void report_costs_fill(const struct lab_result *result, struct report_arena *arena,
                       struct report_chart *chart)
{
    chart->form = REPORT_FORM_TABLE;
    chart->name = "costs";
    chart->title = "What each strategy costs";
    chart->rows = report_take(arena, result->strategy_count, sizeof *chart->rows);
    chart->columns = report_take(arena, COLUMNS_MAX, sizeof *chart->columns);
    if (chart->rows == NULL || chart->columns == NULL) {
        return;
    }
    chart->row_count = result->strategy_count;
    for (size_t i = 0; i < chart->row_count; i++) {
        chart->rows[i].label = report_clean(arena, result->strategies[i].label);
        chart->rows[i].detail = report_settings(arena, &result->strategies[i].settings);
    }
    add_cost(result, arena, chart);
    add_reads(result, arena, chart);
    if (result->limits.partition_rows != 0 || result->limits.partition_bytes != 0) {
        add_share(result, arena, chart, REPORT_INK_ALARM, "partitions over a limit", "partitions.over_limit",
                  "partitions.total");
    }
    if (result->limits.tiny_rows > 1) {
        add_share(result, arena, chart, REPORT_INK_WASTE,
                  report_text(arena, "closed partitions below %s rows",
                              report_exact(arena, result->limits.tiny_rows, REPORT_ROWS)),
                  "partitions.tiny", "partitions.closed");
    }
    if (chart->column_count == 0) {
        chart->absent = "nothing was run, so there are no costs";
    }
}
