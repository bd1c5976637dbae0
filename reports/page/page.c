/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a run as one page. In: a result, and what the caller knows about the run. Kept: a sheet, which
 * writes elements, attributes and texts with libxml. Out: the bytes of the page, or its file. */
#define _POSIX_C_SOURCE 200809L
#include "reports/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include <glib.h>

#include "bucketing/strategy.h"
#include "kernel/time.h"
#include "lab/metric.h"
#include "sheet.h"

void report_sheet_open(struct report_sheet *sheet, const char *name)
{
    xmlTextWriterStartElement(sheet->writer, (const xmlChar *)name);
}

void report_sheet_close(struct report_sheet *sheet)
{
    xmlTextWriterFullEndElement(sheet->writer);
}

void report_sheet_close_void(struct report_sheet *sheet)
{
    xmlTextWriterEndElement(sheet->writer);
}

void report_sheet_attribute(struct report_sheet *sheet, const char *name, const char *value)
{
    xmlTextWriterWriteAttribute(sheet->writer, (const xmlChar *)name,
                                (const xmlChar *)report_clean_lines(sheet->arena, value));
}

void report_sheet_text(struct report_sheet *sheet, const char *text)
{
    xmlTextWriterWriteString(sheet->writer, (const xmlChar *)report_clean_lines(sheet->arena, text));
}

static void put_attributes(struct report_sheet *sheet, va_list attributes)
{
    for (const char *key; (key = va_arg(attributes, const char *)) != NULL;)
        report_sheet_attribute(sheet, key, va_arg(attributes, const char *));
}

void report_sheet_element(struct report_sheet *sheet, const char *name, ...)
{
    va_list attributes;
    report_sheet_open(sheet, name);
    va_start(attributes, name);
    put_attributes(sheet, attributes);
    va_end(attributes);
}

void report_sheet_leaf(struct report_sheet *sheet, const char *name, const char *text, ...)
{
    va_list attributes;
    report_sheet_open(sheet, name);
    va_start(attributes, text);
    put_attributes(sheet, attributes);
    va_end(attributes);
    report_sheet_text(sheet, text);
    report_sheet_close(sheet);
}

void report_sheet_summary(struct report_sheet *sheet, const char *text, const char *of)
{
    report_sheet_leaf(sheet, "summary", text, "aria-label", report_text(sheet->arena, "%s: %s", text, of),
                      NULL);
}

void report_sheet_section(struct report_sheet *sheet, const char *id, const char *class, int level,
                          const char *title)
{
    const char *heading = report_text(sheet->arena, "%s-title", id);
    report_sheet_element(sheet, "section", "id", id, NULL);
    if (class[0] != 0)
        report_sheet_attribute(sheet, "class", class);
    report_sheet_attribute(sheet, "aria-labelledby", heading);
    report_sheet_leaf(sheet, level == 2 ? "h2" : "h3", title, "id", heading, NULL);
}

static bool has(const char *text)
{
    return text != NULL && text[0] != 0;
}

/* Markup that is part of this program. */
static void raw(struct report_sheet *sheet, const char *markup)
{
    xmlTextWriterWriteRaw(sheet->writer, (const xmlChar *)markup);
}

enum { FINGERPRINT_SIZE = 64 };

/* The SHA-256 of the content in base 64, as a content security policy identifies a script. */
static void fingerprint(const unsigned char *content, size_t length, char out[FINGERPRINT_SIZE])
{
    guint8 digest[32];
    gsize size = sizeof digest;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, content, (gssize)length);
    g_checksum_get_digest(checksum, digest, &size);
    g_checksum_free(checksum);
    gchar *base64 = g_base64_encode(digest, size);
    snprintf(out, FINGERPRINT_SIZE, "%s", base64);
    g_free(base64);
}

/* The content security policy allows only these styles and this script, and forbids to load, send or frame
 * anything. */
static void write_head(struct report_sheet *sheet, const char *title)
{
    char style[FINGERPRINT_SIZE], script[FINGERPRINT_SIZE];
    fingerprint(report_page_style, report_page_style_size, style);
    fingerprint(report_page_script, report_page_script_size, script);
    report_sheet_open(sheet, "head");
    raw(sheet,
        report_text(sheet->arena,
                    "<meta charset=\"utf-8\"/><meta http-equiv=\"Content-Security-Policy\" content=\""
                    "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; "
                    "form-action 'none'\"/>"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
                    "<meta name=\"color-scheme\" content=\"light dark\"/>"
                    "<meta name=\"referrer\" content=\"no-referrer\"/>"
                    "<meta name=\"generator\" content=\"bucketlab\"/>",
                    style, script));
    report_sheet_leaf(sheet, "title", title, NULL);
    report_sheet_open(sheet, "style");
    raw(sheet, (const char *)report_page_style);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

/* The script fills the navigation in from the headings. Without scripts it stays hidden. */
static void write_banner(struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    raw(sheet, "<a class=\"skip\" href=\"#main\">Skip to the answer</a><header class=\"banner\"><div>"
               "<p class=\"maker\">bucketlab</p>");
    report_sheet_leaf(sheet, "h1", report_clean(sheet->arena, result->scenario_name), NULL);
    if (has(result->about))
        report_sheet_leaf(sheet, "p", report_clean(sheet->arena, result->about), "class", "about", NULL);
    raw(sheet, "</div><button type=\"button\" id=\"theme\" hidden=\"hidden\">Dark</button></header>"
               "<nav id=\"contents\" aria-label=\"On this page\" hidden=\"hidden\"></nav>");
}

static void write_line(struct report_sheet *sheet, const char *label, const char *text, const char *id)
{
    report_sheet_open(sheet, "div");
    report_sheet_leaf(sheet, "dt", label, NULL);
    report_sheet_leaf(sheet, "dd", text, id != NULL ? "id" : NULL, id, NULL);
    report_sheet_close(sheet);
}

static void write_answer(struct report_sheet *sheet)
{
    const struct report_page *page = sheet->page;
    const struct report_answer *answer = &sheet->answer;
    report_sheet_section(sheet, "answer", "", 2, "The answer");
    report_sheet_leaf(sheet, "p", page->why_count > 0 ? page->why[0] : answer->headline, "class", "verdict",
                      NULL);
    report_sheet_element(sheet, "dl", "class", "lines", NULL);
    for (size_t i = 1; i < page->why_count; i++) {
        const char *colon = strstr(page->why[i], ": ");
        const int label = colon == NULL ? 0 : (int)(colon - page->why[i]);
        write_line(sheet, report_text(sheet->arena, "%.*s", label, page->why[i]),
                   page->why[i] + (colon == NULL ? 0 : label + 2), NULL);
    }
    for (size_t i = 0; page->why_count == 0 && i < answer->line_count; i++)
        write_line(sheet, answer->lines[i].label, answer->lines[i].text, NULL);
    report_sheet_close(sheet);
    report_sheet_leaf(sheet, "p", answer->asked, "class", "asked", NULL);
    report_sheet_close(sheet);
}

/* --- the comparison: one row per strategy, one column per figure that at least one strategy has. The figures
 * that decide are in a table that fits a screen, the others in a second, folded table. */

/* The condition under which a figure is marked. */
enum alarm { NEVER, ABOVE_ROWS, ABOVE_BYTES, ABOVE_WRITES, ABOVE_READS, ABOVE_ZERO, ABOVE_SHARE };

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
    {"Busiest partition, per s", "writes", "rates.writes.peak", ABOVE_WRITES, false, true},
    {"Busiest partition, per s", "reads", "rates.reads.peak", ABOVE_READS, false, true},
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
    if (column->metric != NULL)
        return report_metric(&sheet->page->result->strategies[index], column->metric, out);
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
            if (figure_of(sheet, &columns[i], j, &value))
                is_shown[i] |= columns[i].is_first == is_first && (!columns[i].is_rare || value != 0);
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
    bool says = sheet->chosen != SIZE_MAX || lab_limits_any(&result->limits);
    for (size_t i = 0; i < result->strategy_count; i++)
        says |= (sheet->answer.scores[i].disqualifiers & ~(unsigned)LAB_DISQUALIFIER_OBSERVED) != 0;
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
        for (; next < COLUMN_COUNT && strcmp(columns[next].group, columns[i].group) == 0; next++)
            shown += is_shown[next];
        if (shown > 0)
            report_sheet_leaf(sheet, "th", columns[i].group, "scope", "colgroup", "colspan",
                              report_text(sheet->arena, "%zu", shown), NULL);
        i = next;
    }
    report_sheet_close(sheet);
}

/* group: its name, so that no two buttons have the same accessible name; NULL: none. */
static void write_heading(struct report_sheet *sheet, const char *class, const char *group, const char *name,
                          const char *metric)
{
    report_sheet_element(sheet, "th", "scope", "col", "aria-sort", "none", NULL);
    if (class[0] != 0)
        report_sheet_attribute(sheet, "class", class);
    if (metric != NULL)
        report_sheet_attribute(sheet, "data-metric", metric);
    report_sheet_element(sheet, "button", "type", "button", NULL);
    if (group != NULL)
        report_sheet_attribute(sheet, "aria-label", report_text(sheet->arena, "%s: %s", group, name));
    if (metric != NULL)
        report_sheet_attribute(sheet, "title", metric);
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
    if (is_chosen)
        report_sheet_leaf(sheet, "strong", "★ chosen", "class", "badge", NULL);
    if (is_against)
        report_sheet_leaf(sheet, "span", "▲", "class", "mark", NULL);
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
    case ABOVE_WRITES:
    case ABOVE_READS:
        return value > limits->rate[alarm == ABOVE_WRITES ? LAB_RATE_WRITES : LAB_RATE_READS];
    case ABOVE_ZERO:
        return value > 0;
    case ABOVE_SHARE:
        return sheet->answer.scores[index].judgment.within == LAB_EXCEEDS;
    case NEVER:
        break;
    }
    return false;
}

/* By the unit in the table of metrics: a mean or a rate has decimals, a count has none. */
static const char *figure_text(struct report_arena *arena, const char *metric, double value)
{
    switch (metric == NULL ? LAB_METRIC_RATIO : lab_metric_row_of(metric)->unit) {
    case LAB_METRIC_BYTES:
        return report_size(arena, value, REPORT_BYTES);
    case LAB_METRIC_MS:
        return report_time(arena, value * 1e6);
    case LAB_METRIC_SHARE:
        return report_percent(arena, value);
    case LAB_METRIC_RATIO:
    case LAB_METRIC_OPERATIONS:
    case LAB_METRIC_IDENTIFIERS_PER_S:
        return report_number(arena, value);
    default:
        return strcmp(strrchr(metric, '.'), ".mean") != 0 && value >= 0 && value < 0x1p53 &&
                       value == floor(value)
                   ? report_grouped(arena, (uint64_t)value)
                   : report_number(arena, value);
    }
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
    if (alarm)
        report_sheet_attribute(sheet, "class", "against");
    const char *exact = report_text(sheet->arena, "%.17g", value);
    report_sheet_attribute(sheet, "data-value", exact);
    report_sheet_attribute(sheet, "title", exact);
    if (alarm) {
        report_sheet_leaf(sheet, "span", "▲", "class", "mark", NULL);
        report_sheet_text(sheet, "\u00A0");
    }
    report_sheet_text(sheet, figure_text(sheet->arena, column->metric, value));
    report_sheet_close(sheet);
}

static void write_row(struct report_sheet *sheet, size_t index, bool is_first, bool has_verdict,
                      const bool *is_shown)
{
    const struct lab_strategy_result *strategy = &sheet->page->result->strategies[index];
    const char *label, *detail;
    report_strategy_name(sheet->arena, strategy, &label, &detail);
    report_sheet_open(sheet, "tr");
    if (is_first)
        report_sheet_attribute(sheet, "data-label", label);
    if (is_first && index == sheet->chosen)
        report_sheet_attribute(sheet, "class", "chosen");
    report_sheet_element(sheet, "th", "scope", "row", "class", "name", "data-value", label, NULL);
    report_sheet_leaf(sheet, "span", label, "class", "label", NULL);
    report_sheet_leaf(sheet, "span", detail, "class", "detail", NULL);
    report_sheet_close(sheet);
    if (has_verdict)
        write_verdict(sheet, index);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_shown[i])
            write_cell(sheet, &columns[i], index);
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
    write_heading(sheet, "name", NULL, "strategy", NULL);
    if (has_verdict)
        write_heading(sheet, "word", NULL, "verdict", NULL);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_shown[i])
            write_heading(sheet, "", columns[i].group, columns[i].name, columns[i].metric);
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_open(sheet, "tbody");
    for (size_t i = 0; i < sheet->page->result->strategy_count; i++)
        write_row(sheet, i, is_first, has_verdict, is_shown);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

static void write_comparison(struct report_sheet *sheet)
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

static void write_expects(struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    if (result->expect_count == 0)
        return;
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

/* --- the run */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Writes preformatted text, line by line. */
static void write_lines(struct report_sheet *sheet, const char *summary, const char *id, const char *text,
                        bool is_open)
{
    report_sheet_open(sheet, "details");
    if (is_open)
        report_sheet_attribute(sheet, "open", "open");
    report_sheet_leaf(sheet, "summary", summary, NULL);
    report_sheet_leaf(sheet, "pre", text, "id", id, "tabindex", "0", NULL);
    report_sheet_close(sheet);
}

/* Writes the information that is needed to repeat the run. */
static void write_run(struct report_sheet *sheet)
{
    const struct report_page *page = sheet->page;
    const struct lab_result *result = page->result;
    struct report_arena *arena = sheet->arena;
    char start[SIM_TIME_TEXT_SIZE], end[SIM_TIME_TEXT_SIZE];
    sim_time_format(result->start_ns, start);
    sim_time_format(result->end_ns, end);
    report_sheet_section(sheet, "run", "", 2, "The run");
    const bool is_synthetic = result->source == NULL || strcmp(result->source, "synthetic") == 0;
    const struct {
        const char *name, *id, *value;
    } facts[] = {
        {"Scenario", "run-file", has(page->scenario_file) ? file_name(page->scenario_file) : ""},
        {"Seed", "run-seed", report_text(arena, "%" PRIu64, result->seed)},
        {"Digest", "run-digest", report_text(arena, "%016" PRIx64, result->digest)},
        {"Virtual time", "run-time", report_text(arena, "%s to %s", start, end)},
        {"Rows from", "run-source", is_synthetic ? "" : file_name(result->source)},
        {"Made by", "run-version",
         has(page->version) ? report_text(arena, "bucketlab %s", page->version) : ""},
    };
    report_sheet_open(sheet, "dl");
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (facts[i].value[0] != 0)
            write_line(sheet, facts[i].name, facts[i].value, facts[i].id);
    }
    report_sheet_close(sheet);
    if (page->again_count > 0) {
        const char *lines = "";
        for (size_t i = 0; i < page->again_count; i++)
            lines = report_text(arena, "%s%s\n", lines, page->again[i]);
        write_lines(sheet, "Run it again", "run-again", lines, true);
    }
    if (has(page->overrides))
        write_lines(sheet, "Fields set on the command line", "run-overrides", page->overrides, false);
    if (has(page->scenario_text))
        write_lines(sheet, "The scenario", "run-scenario", page->scenario_text, false);
    report_sheet_close(sheet);
}

/* Whether the interactive section can start with the settings of this strategy: stores them. A probability
 * that is not a power of two is rounded to the nearest one. */
static bool can_start(const struct lab_strategy_result *strategy, uint32_t *bits, uint64_t *threshold)
{
    /* The greatest that page/distribution.js accepts: beyond it, sizes would not be exact in a double. */
    static const uint64_t threshold_max = 1000000;
    const struct bk_strategy *settings = &strategy->settings.strategy;
    if (strategy->settings.is_idgen || strategy->settings.observed != WL_OBSERVED_AUTO ||
        settings->kind != BK_KIND_PROBABILISTIC || settings->of.probabilistic.threshold > threshold_max)
        return false;
    *threshold = settings->of.probabilistic.threshold;
    *bits = (uint32_t)fmin(BK_BITS_MAX, round(-log2(lab_chance(settings))));
    return true;
}

/* If the run has several suitable strategies, their settings are choices to start with. */
static void write_starts(struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    size_t count = 0;
    uint32_t bits;
    uint64_t threshold;
    for (size_t i = 0; i < result->strategy_count; i++)
        count += can_start(&result->strategies[i], &bits, &threshold);
    if (count < 2)
        return;
    report_sheet_element(sheet, "p", "hidden", "", NULL);
    report_sheet_leaf(sheet, "label", "Begin with", "for", "live-start", NULL);
    report_sheet_element(sheet, "select", "id", "live-start", NULL);
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (can_start(&result->strategies[i], &bits, &threshold))
            report_sheet_leaf(sheet, "option", report_clean(sheet->arena, result->strategies[i].label),
                              "value", report_text(sheet->arena, "%" PRIu32 " %" PRIu64, bits, threshold),
                              NULL);
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

/* Writes an attribute of the interactive section; an unknown value is empty. */
static void write_start(struct report_sheet *sheet, const char *name, bool is_known, const char *text)
{
    report_sheet_attribute(sheet, name, is_known ? text : "");
}

/* The interactive section begins with the first suitable strategy, and otherwise with usual settings. All
 * strategies of a run place the same rows, so the mean row is that of any of them. A run with only
 * identifiers has no section. */
static void write_live(struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    const struct lab_limits *limits = &result->limits;
    struct report_arena *arena = sheet->arena;
    uint32_t bits = 9;
    uint64_t threshold = 40;
    double row = 0;
    bool has_partitions = false;
    for (size_t i = result->strategy_count; i-- > 0;) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const double rows = (double)(strategy->closed_rows.sum + strategy->open_rows.sum);
        const double bytes = (double)(strategy->closed_bytes.sum + strategy->open_bytes.sum);
        const bool is_run = strategy->settings.observed == WL_OBSERVED_AUTO;
        can_start(strategy, &bits, &threshold);
        has_partitions |= !strategy->settings.is_idgen;
        row = is_run && rows > 0 && bytes > 0 ? bytes / rows : row;
    }
    if (!has_partitions)
        return;
    const double seconds = (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns) / 1e9;
    const double rate = (double)result->rows / (double)result->keys / seconds;
    report_sheet_element(sheet, "section", "id", "live", "aria-labelledby", "live-title", "data-bits-number",
                         report_text(arena, "%" PRIu32, bits), "data-threshold-number",
                         report_text(arena, "%" PRIu64, threshold), NULL);
    write_start(sheet, "data-limit-rows", limits->partition_rows > 0,
                report_text(arena, "%" PRIu64, limits->partition_rows));
    write_start(sheet, "data-limit-bytes", limits->partition_bytes > 0,
                report_exact(arena, limits->partition_bytes, REPORT_BYTES));
    write_start(sheet, "data-row-bytes", row > 0, report_text(arena, row >= 1000 ? "%.0f B" : "%.4g B", row));
    write_start(sheet, "data-tiny", limits->tiny_rows > 0, report_text(arena, "%" PRIu64, limits->tiny_rows));
    write_start(sheet, "data-rate", isfinite(rate) && rate > 0, report_text(arena, "%.3g", rate));
    write_starts(sheet);
    raw(sheet, (const char *)report_page_live);
    report_sheet_close(sheet);
}

static void write_page(struct report_sheet *sheet)
{
    const struct report_page *page = sheet->page;
    const char *name = report_clean(sheet->arena, page->result->scenario_name);
    report_answer_run(page->result, sheet->arena, &sheet->answer);
    sheet->chosen = sheet->answer.chosen;
    for (size_t i = 0; has(page->recommended) && i < page->result->strategy_count; i++) {
        if (strcmp(page->result->strategies[i].label, page->recommended) == 0)
            sheet->chosen = i;
    }
    xmlTextWriterWriteDTD(sheet->writer, (const xmlChar *)"html", NULL, NULL, NULL);
    report_sheet_element(sheet, "html", "lang", "en", NULL);
    write_head(sheet, report_text(sheet->arena, "%s · bucketlab", name));
    report_sheet_open(sheet, "body");
    write_banner(sheet);
    report_sheet_element(sheet, "main", "id", "main", NULL);
    write_answer(sheet);
    write_comparison(sheet);
    report_page_charts(sheet);
    write_expects(sheet);
    write_live(sheet);
    write_run(sheet);
    report_sheet_close(sheet);
    report_sheet_open(sheet, "script");
    raw(sheet, (const char *)report_page_script);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    xmlTextWriterEndDocument(sheet->writer);
}

bool report_page_make(const struct report_page *page, struct report_bytes *out, struct sim_error *error)
{
    *out = (struct report_bytes){0};
    struct report_typesetter *typesetter = report_typesetter_create(error);
    if (typesetter == NULL)
        return false;
    struct report_arena arena = {NULL};
    xmlMemSetup(g_free, g_malloc, g_realloc, g_strdup); /* so that no call fails for lack of memory */
    xmlBufferPtr buffer = xmlBufferCreate();
    struct report_sheet sheet = {
        .writer = xmlNewTextWriterMemory(buffer, 0), .arena = &arena, .typesetter = typesetter, .page = page};
    write_page(&sheet);
    xmlFreeTextWriter(sheet.writer);
    out->size = (size_t)xmlBufferLength(buffer);
    out->data = xmlBufferDetach(buffer);
    xmlBufferFree(buffer);
    report_arena_free(&arena);
    report_typesetter_destroy(typesetter);
    return true;
}

bool report_page_write(const struct report_page *page, const char *folder, char **path,
                       struct sim_error *error)
{
    struct report_bytes content = {0};
    *path = report_output_path(folder, page->result->scenario_name, page->result->is_tuned, NULL, "html");
    bool ok = report_page_make(page, &content, error) &&
              report_output((const char *const *)path, &content, 1, false, error);
    report_bytes_free(&content);
    if (!ok)
        g_clear_pointer(path, g_free);
    return ok;
}
