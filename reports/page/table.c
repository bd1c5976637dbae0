/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One row per strategy, one column per figure that at least one strategy has. The figures that decide are in
 * a table that fits a screen, the others in a second, folded table. */
#include <assert.h>

#include "lab/metric.h"
#include "reports/page.h"
#include "sheet.h"

enum format { PLAIN, WHOLE, BYTES, MS, SHARE };
/* The condition under which a figure is marked. */
enum alarm { NEVER, ABOVE_ROWS, ABOVE_BYTES, ABOVE_ZERO, ABOVE_SHARE };

struct column {
    const char *group; /* the same text in adjacent columns of a group */
    const char *name;
    const char *metric; /* NULL: the cost of lab/judgment.h, which is not a metric */
    enum alarm alarm;
    bool is_rare;  /* left out if it is 0 for all strategies */
    bool is_first; /* in the first table rather than in the folded one */
};

static const struct column columns[] = {
    {"Cost per 1000 rows", "all", NULL, NEVER, false, true},
    {"Cost per 1000 rows", "extra operations", "writes.extra_ops_per_1000_rows", NEVER, false, false},
    {"Read to be counted", "rows", "writes.rows_scanned", NEVER, true, false},
    {"Partitions", "all", "partitions.total", NEVER, false, true},
    {"Partitions", "closed", "partitions.closed", NEVER, false, false},
    {"Partitions", "tiny", "partitions.tiny", NEVER, false, false},
    {"Partitions", "over a limit", "partitions.over_limit", ABOVE_SHARE, false, true},
    {"Largest partition", "rows", "partitions.all.rows.max", ABOVE_ROWS, false, true},
    {"Largest partition", "bytes", "partitions.all.bytes.max", ABOVE_BYTES, false, true},
    {"Disk, all replicas", "before compression", "disk.bytes", NEVER, false, false},
    {"Disk, all replicas", "estimated", "disk.compressed_bytes", NEVER, false, false},
    {"Rows of closed partitions", "median", "partitions.closed.rows.p50", NEVER, false, false},
    {"Rows of closed partitions", "99 %", "partitions.closed.rows.p99", NEVER, false, false},
    {"Partitions per read", "mean", "reads.partitions_per_read.mean", NEVER, false, true},
    {"Partitions per read", "99 %", "reads.partitions_per_read.p99", NEVER, false, true},
    {"Partitions per read", "latest", "reads.latest.partitions_per_read.mean", NEVER, false, true},
    {"Partitions per read", "range", "reads.range.partitions_per_read.mean", NEVER, false, true},
    {"Partitions per read", "all rows", "reads.all.partitions_per_read.mean", NEVER, false, true},
    {"Latency, 99 %", "write", "latency.write.p99", NEVER, false, false},
    {"Latency, 99 %", "read", "latency.read.p99", NEVER, false, false},
    {"Gone wrong", "refused rows", "writes.refused", NEVER, true, true},
    {"Gone wrong", "replaced rows", "rows.overwritten", NEVER, true, true},
    {"Gone wrong", "failed reads", "reads.failed", ABOVE_ZERO, true, true},
    {"Gone wrong", "broken guarantees", "guarantees.broken", ABOVE_ZERO, true, true},
    {"Gone wrong", "misrouted rows", "writes.misrouted", NEVER, true, true},
    {"Gone wrong", "stored twice", "writes.duplicated", NEVER, true, true},
    {"Gone wrong", "hidden rows", "oracle.findable.violations", ABOVE_ZERO, true, true},
    {"Gone wrong", "newest missed", "oracle.newest.violations", ABOVE_ZERO, true, true},
    {"Busiest", "partition, rows/s", "peak.rows_per_second_one_partition", NEVER, false, false},
    {"Busiest", "node, share", "nodes.load_share_max", NEVER, false, false},
    {"Identifiers", "per second", "ids.per_second", NEVER, false, true},
    {"Identifiers", "given", "ids.given", NEVER, false, true},
    {"Identifiers", "lost", "ids.lost", NEVER, false, true},
    {"Identifiers", "given twice", "oracle.unique.violations", ABOVE_ZERO, false, true},
    {"Wait for a lock", "median", "latency.lock.p50", NEVER, false, true},
    {"Wait for a lock", "99 %", "latency.lock.p99", NEVER, false, true},
};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

static bool figure_of(const struct report_sheet *sheet, const struct column *column, size_t index,
                      double *out)
{
    if (column->metric != NULL) {
        return report_metric(&sheet->page->result->strategies[index], column->metric, out);
    }
    *out = sheet->answer.scores[index].cost;
    return !isnan(*out);
}

/* Chooses the columns of the first or the second table. Returns their number. */
static size_t choose_columns(const struct report_sheet *sheet, bool is_first, bool *is_shown)
{
    size_t count = 0;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        is_shown[i] = false;
        for (size_t j = 0; j < sheet->page->result->strategy_count; j++) {
            double value;
            if (figure_of(sheet, &columns[i], j, &value)) {
                is_shown[i] |= columns[i].is_first == is_first && (!columns[i].is_rare || value != 0);
            }
        }
        count += is_shown[i];
    }
    return count;
}

/* Returns whether the table has a verdict column. Without a chosen strategy, limits and disqualifiers it
 * would be empty. */
static bool is_judged(const struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    bool says = sheet->chosen != SIZE_MAX || result->limits.partition_rows != 0 ||
                result->limits.partition_bytes != 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        says |= (sheet->answer.scores[i].disqualifiers & ~(unsigned)LAB_DISQUALIFIER_OBSERVED) != 0;
    }
    return says;
}

/* Writes the name of each group above its columns. */
static void write_groups(struct report_sheet *sheet, bool has_verdict, const bool *is_shown)
{
    report_sheet_element(sheet, "tr", "class", "groups", NULL);
    report_sheet_element(sheet, "td", "class", "name", NULL);
    report_sheet_close(sheet);
    if (has_verdict) {
        report_sheet_open(sheet, "td");
        report_sheet_close(sheet);
    }
    for (size_t i = 0; i < COLUMN_COUNT;) {
        size_t shown = 0, next = i;
        for (; next < COLUMN_COUNT && strcmp(columns[next].group, columns[i].group) == 0; next++) {
            shown += is_shown[next];
        }
        if (shown > 0) {
            report_sheet_leaf(sheet, "th", columns[i].group, "scope", "colgroup", "colspan",
                              report_text(sheet->arena, "%zu", shown), NULL);
        }
        i = next;
    }
    report_sheet_close(sheet);
}

/* group: its name, so that no two buttons have the same accessible name; NULL: none. */
static void write_head(struct report_sheet *sheet, const char *class, const char *group, const char *name,
                       const char *metric)
{
    report_sheet_element(sheet, "th", "scope", "col", "aria-sort", "none", NULL);
    if (class[0] != 0) {
        report_sheet_attribute(sheet, "class", class);
    }
    if (metric != NULL) {
        report_sheet_attribute(sheet, "data-metric", metric);
    }
    report_sheet_element(sheet, "button", "type", "button", NULL);
    if (group != NULL) {
        report_sheet_attribute(sheet, "aria-label", report_text(sheet->arena, "%s: %s", group, name));
    }
    if (metric != NULL) {
        report_sheet_attribute(sheet, "title", metric);
    }
    report_sheet_text(sheet, name);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

static void write_verdict(struct report_sheet *sheet, size_t index)
{
    const struct report_answer *answer = &sheet->answer;
    const struct lab_score *score = &answer->scores[index];
    const bool is_chosen = index == sheet->chosen;
    const bool is_against = score->judgment.within == LAB_EXCEEDS ||
                            (score->disqualifiers & ~(unsigned)LAB_DISQUALIFIER_OBSERVED) != 0;
    report_sheet_element(sheet, "td", "class", is_against && !is_chosen ? "word against" : "word",
                         "data-value",
                         is_chosen    ? "0"
                         : is_against ? "2"
                                      : "1",
                         NULL);
    if (is_chosen) {
        report_sheet_leaf(sheet, "strong", "★ chosen", "class", "badge", NULL);
    }
    if (is_against) {
        report_sheet_leaf(sheet, "span", "▲", "class", "mark", NULL);
    }
    report_sheet_text(sheet, report_text(sheet->arena, "%s%s", is_chosen || is_against ? " " : "",
                                         answer->verdicts[index]));
    report_sheet_close(sheet);
}

static bool is_alarm(const struct report_sheet *sheet, size_t index, enum alarm alarm, double value)
{
    const struct lab_limits *limits = &sheet->page->result->limits;
    switch (alarm) {
    case ABOVE_ROWS:
        return limits->partition_rows != 0 && value > (double)limits->partition_rows;
    case ABOVE_BYTES:
        return limits->partition_bytes != 0 && value > (double)limits->partition_bytes;
    case ABOVE_ZERO:
        return value > 0;
    case ABOVE_SHARE:
        return sheet->answer.scores[index].judgment.within == LAB_EXCEEDS;
    case NEVER:
        break;
    }
    return false;
}

/* Returns the format of a metric according to its unit in the table of metrics: a mean or a rate has
 * decimals, a count has none. */
static enum format format_of(const char *metric)
{
    if (metric == NULL) {
        return PLAIN;
    }
    const struct lab_metric_row *row = lab_metric_row_of(metric);
    assert(row != NULL);
    const char *part = strrchr(metric, '.');
    switch (row->unit) {
    case LAB_METRIC_BYTES:
        return BYTES;
    case LAB_METRIC_MS:
        return MS;
    case LAB_METRIC_SHARE:
        return SHARE;
    case LAB_METRIC_RATIO:
    case LAB_METRIC_OPERATIONS:
    case LAB_METRIC_IDENTIFIERS_PER_S:
        return PLAIN;
    default:
        return strcmp(part, ".mean") == 0 ? PLAIN : WHOLE;
    }
}

static const char *text_of(struct report_arena *arena, enum format format, double value)
{
    switch (format) {
    case WHOLE:
        return value >= 0 && value < 0x1p53 && value == floor(value) ? report_grouped(arena, (uint64_t)value)
                                                                     : report_number(arena, value);
    case BYTES:
        return report_size(arena, value, REPORT_BYTES);
    case MS:
        return report_time(arena, value * 1e6);
    case SHARE:
        return report_percent(arena, value);
    case PLAIN:
        break;
    }
    return report_number(arena, value);
}

/* The exact figure is an attribute, with up to seventeen significant digits. */
static void write_cell(struct report_sheet *sheet, const struct column *column, size_t index)
{
    double value;
    report_sheet_open(sheet, "td");
    /* On a telephone a row is a card, in which each figure has its name. */
    report_sheet_attribute(sheet, "data-name",
                           report_text(sheet->arena, "%s: %s", column->group, column->name));
    if (!figure_of(sheet, column, index, &value)) {
        report_sheet_attribute(sheet, "data-value", "");
        report_sheet_text(sheet, "–");
        report_sheet_close(sheet);
        return;
    }
    bool alarm = is_alarm(sheet, index, column->alarm, value);
    if (alarm) {
        report_sheet_attribute(sheet, "class", "against");
    }
    const char *exact = report_text(sheet->arena, "%.17g", value);
    report_sheet_attribute(sheet, "data-value", exact);
    report_sheet_attribute(sheet, "title", exact);
    if (alarm) {
        report_sheet_leaf(sheet, "span", "▲", "class", "mark", NULL);
        report_sheet_text(sheet, "\u00A0");
    }
    report_sheet_text(sheet, text_of(sheet->arena, format_of(column->metric), value));
    report_sheet_close(sheet);
}

static void write_row(struct report_sheet *sheet, size_t index, bool is_first, bool has_verdict,
                      const bool *is_shown)
{
    const struct lab_strategy_result *strategy = &sheet->page->result->strategies[index];
    const char *label, *detail;
    report_strategy_name(sheet->arena, strategy, &label, &detail);
    report_sheet_open(sheet, "tr");
    if (is_first) {
        report_sheet_attribute(sheet, "data-label", label);
    }
    if (is_first && index == sheet->chosen) {
        report_sheet_attribute(sheet, "class", "chosen");
    }
    report_sheet_element(sheet, "th", "scope", "row", "class", "name", "data-value", label, NULL);
    report_sheet_leaf(sheet, "span", label, "class", "label", NULL);
    report_sheet_leaf(sheet, "span", detail, "class", "detail", NULL);
    report_sheet_close(sheet);
    if (has_verdict) {
        write_verdict(sheet, index);
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_shown[i]) {
            write_cell(sheet, &columns[i], index);
        }
    }
    report_sheet_close(sheet);
}

static void write_table(struct report_sheet *sheet, bool is_first, const bool *is_shown)
{
    const bool has_verdict = is_first && is_judged(sheet);
    report_sheet_element(sheet, "div", "class", "scroll", "role", "region",
                         is_first ? "aria-labelledby" : "aria-label",
                         is_first ? "comparison-title" : "All other figures", "tabindex", "0", NULL);
    report_sheet_element(sheet, "table", "id", is_first ? "strategies" : "more-figures", "class", "sortable",
                         NULL);
    report_sheet_open(sheet, "thead");
    write_groups(sheet, has_verdict, is_shown);
    report_sheet_open(sheet, "tr");
    write_head(sheet, "name", NULL, "strategy", NULL);
    if (has_verdict) {
        write_head(sheet, "word", NULL, "verdict", NULL);
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_shown[i]) {
            write_head(sheet, "", columns[i].group, columns[i].name, columns[i].metric);
        }
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_open(sheet, "tbody");
    for (size_t i = 0; i < sheet->page->result->strategy_count; i++) {
        write_row(sheet, i, is_first, has_verdict, is_shown);
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

void report_page_table(struct report_sheet *sheet)
{
    bool is_shown[COLUMN_COUNT];
    choose_columns(sheet, true, is_shown);
    report_sheet_section(sheet, "comparison", "", 2, "Comparison");
    write_table(sheet, true, is_shown);
    report_sheet_leaf(sheet, "p",
                      is_shown[0]
                          ? "Cost is what a strategy does in addition to the inserts: extra operations, and "
                            "the partitions that reads query. Point at a figure to see all of its digits."
                          : "Point at a figure to see all of its digits.",
                      "class", "note", NULL);
    if (choose_columns(sheet, false, is_shown) > 0) {
        report_sheet_element(sheet, "details", "class", "fold", NULL);
        report_sheet_leaf(sheet, "summary", "All other figures", NULL);
        write_table(sheet, false, is_shown);
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
}

void report_page_expects(struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    if (result->expect_count == 0) {
        return;
    }
    report_sheet_section(sheet, "expectations", "", 2, "Expectations");
    report_sheet_element(sheet, "ul", "class", "expects", NULL);
    for (size_t i = 0; i < result->expect_count; i++) {
        const struct lab_expect_result *expect = &result->expects[i];
        report_sheet_element(sheet, "li", "class", expect->ok ? "ok" : "alarm", NULL);
        report_sheet_leaf(sheet, "span", expect->ok ? "✓ holds" : "▲ fails", "class", "mark", NULL);
        report_sheet_leaf(sheet, "code", expect->text, NULL);
        if (!isnan(expect->actual)) { /* an expectation about tune's answer has none */
            report_sheet_leaf(
                sheet, "span",
                report_text(sheet->arena, "actual %s", report_number(sheet->arena, expect->actual)), "class",
                "actual", NULL);
        }
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}
