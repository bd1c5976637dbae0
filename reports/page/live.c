/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interactive section of a page. In: a result. Out: fields and sliders for one setting, and the sizes
 * that the exact distribution predicts for it, with the values of the run's own setting, so that it is
 * readable without scripts. page/live.js reads the fields, and page/distribution.js computes the
 * distribution. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bucketing/strategy.h"
#include "reports/page.h"
#include "sheet.h"
#include "tune/odds.h"

/* The greatest threshold that page/distribution.js accepts: with a larger one, sizes would not be exact
 * integers in a double. */
#define THRESHOLD_MAX UINT64_C(1000000)

/* The initial setting on the page of a run without a probabilistic strategy. */
enum { USUAL_BITS = 9, USUAL_THRESHOLD = 40 };

struct live {
    struct report_sheet *sheet;
    struct report_arena *arena;
    const struct lab_result *result;
    struct tune_distribution distribution;
    uint32_t bits;
    double row_bytes; /* 0 if not known */
};

struct field {
    const char *id, *label, *value, *mode;
};

static const double shares[] = {0.001, 0.01, 0.5, 0.99, 0.999};
enum { SHARE_COUNT = sizeof shares / sizeof shares[0] };

/* Whether a run has partitions with a distribution; a run with only identifiers has none. */
static bool has_live(const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (!result->strategies[i].settings.is_idgen)
            return true;
    }
    return false;
}

static double to_digits(double value, int count)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.*e", count - 1, value);
    return strtod(digits, NULL);
}

/* Returns the mean size of a row in bytes, 0 if it is not known. It is rounded as in the input field, so that
 * the script calculates with the same number. All strategies of a run place the same rows, so any of them
 * will do. */
static double mean_row_bytes(const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        double rows = (double)(strategy->closed_rows.sum + strategy->open_rows.sum);
        double bytes = (double)(strategy->closed_bytes.sum + strategy->open_bytes.sum);
        if (strategy->settings.observed == WL_OBSERVED_AUTO && rows > 0 && bytes > 0)
            return to_digits(bytes / rows, 4);
    }
    return 0;
}

/* Returns whether the interactive part can start with the settings of this strategy, and stores its bits. A
 * probability that is not a power of two is rounded to the nearest one. If the result is false, *bits is
 * unchanged. */
static bool is_candidate(const struct lab_strategy_result *strategy, uint32_t *bits)
{
    const struct bk_strategy *settings = &strategy->settings.strategy;
    if (strategy->settings.is_idgen || strategy->settings.observed != WL_OBSERVED_AUTO ||
        settings->kind != BK_PROBABILISTIC || settings->of.probabilistic.threshold > THRESHOLD_MAX)
        return false;
    if (settings->of.probabilistic.chance_denominator == 0) {
        *bits = settings->of.probabilistic.bits;
        return true;
    }
    double nearest = round(log2((double)settings->of.probabilistic.chance_denominator /
                                (double)settings->of.probabilistic.chance_numerator));
    *bits = nearest > BK_BITS_MAX ? BK_BITS_MAX : (uint32_t)nearest;
    return true;
}

/* Returns the mean rate of one key in rows per second; 0 if the run does not have it. */
static double mean_rate(const struct lab_result *result)
{
    double seconds = (double)((uint64_t)result->end_ns - (uint64_t)result->start_ns) / 1e9;
    bool is_known = result->keys > 0 && seconds > 0;
    return is_known ? to_digits((double)result->rows / (double)result->keys / seconds, 3) : 0;
}

/* Formats `bytes` in the largest unit that represents it exactly, because the script parses the field. */
static const char *bytes_text(struct report_arena *arena, uint64_t bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    while (bytes >= 1000 && bytes % 1000 == 0 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1000;
        unit++;
    }
    return report_text(arena, "%" PRIu64 " %s", bytes, units[unit]);
}

static const char *row_text(struct report_arena *arena, double bytes)
{
    return bytes >= 1000 ? report_text(arena, "%.0f B", bytes) : report_text(arena, "%.4g B", bytes);
}

/* If the run has more than one suitable strategy, writes their settings as choices to start with. */
static void write_start(struct live *live)
{
    size_t candidates = 0;
    uint32_t bits;
    for (size_t i = 0; i < live->result->strategy_count; i++)
        candidates += is_candidate(&live->result->strategies[i], &bits);
    if (candidates < 2)
        return;
    report_sheet_open(live->sheet, "p");
    report_sheet_leaf(live->sheet, "label", "Begin with", "for", "live-start", NULL);
    report_sheet_element(live->sheet, "select", "id", "live-start", NULL);
    for (size_t i = 0; i < live->result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &live->result->strategies[i];
        if (!is_candidate(strategy, &bits))
            continue;
        report_sheet_leaf(live->sheet, "option", report_clean(live->arena, strategy->label), "value",
                          report_text(live->arena, "%" PRIu32 " %" PRIu64, bits,
                                      strategy->settings.strategy.of.probabilistic.threshold),
                          NULL);
    }
    report_sheet_close_void(live->sheet);
    report_sheet_close_void(live->sheet);
}

/* Writes a slider and a number field for the same value. */
static void write_slider(struct live *live, const char *id, const char *label, const char *name,
                         uint64_t least, uint64_t most, uint64_t slider_most, uint64_t value)
{
    struct report_arena *arena = live->arena;
    report_sheet_element(live->sheet, "div", "class", "live-slider", NULL);
    report_sheet_leaf(live->sheet, "label", label, "for", id, NULL);
    report_sheet_element(live->sheet, "input", "type", "range", "id", id, "min", "0", "max",
                         report_text(arena, "%" PRIu64, slider_most), "value",
                         report_text(arena, "%" PRIu64, value < slider_most ? value : slider_most), NULL);
    report_sheet_close_void(live->sheet);
    report_sheet_element(live->sheet, "input", "type", "number", "id", report_text(arena, "%s-number", id),
                         "aria-label", name, "min", report_text(arena, "%" PRIu64, least), "max",
                         report_text(arena, "%" PRIu64, most), "required", "", "value",
                         report_text(arena, "%" PRIu64, value), NULL);
    report_sheet_close_void(live->sheet);
    report_sheet_close_void(live->sheet);
}

static void write_field(struct live *live, const struct field *field)
{
    report_sheet_open(live->sheet, "div");
    report_sheet_leaf(live->sheet, "label", field->label, "for", field->id, NULL);
    report_sheet_element(live->sheet, "input", "type", "text", "id", field->id, "inputmode", field->mode,
                         "autocomplete", "off", "value", field->value, NULL);
    report_sheet_close_void(live->sheet);
    report_sheet_close_void(live->sheet);
}

/* The controls and their chart are hidden until the script runs. */
static void write_controls(struct live *live)
{
    const struct lab_limits *limits = &live->result->limits;
    const double rate = mean_rate(live->result);
    struct report_arena *arena = live->arena;
    const struct field fields[] = {
        {"live-limit-rows", "Limit of rows",
         limits->partition_rows > 0 ? report_text(arena, "%" PRIu64, limits->partition_rows) : "", "numeric"},
        {"live-limit-bytes", "Limit of bytes",
         limits->partition_bytes > 0 ? bytes_text(arena, limits->partition_bytes) : "", "text"},
        {"live-row-bytes", "Bytes of a row", live->row_bytes > 0 ? row_text(arena, live->row_bytes) : "",
         "text"},
        {"live-tiny", "Tiny: fewer rows than",
         limits->tiny_rows > 0 ? report_text(arena, "%" PRIu64, limits->tiny_rows) : "", "numeric"},
        {"live-rate", "Rows/s of one key", rate > 0 ? report_text(arena, "%.3g", rate) : "", "decimal"},
    };
    report_sheet_element(live->sheet, "form", "id", "live-controls", "hidden", "", NULL);
    write_start(live);
    write_slider(live, "live-bits", "Bits", "Bits as a number", 0, BK_BITS_MAX, BK_BITS_MAX, live->bits);
    write_slider(live, "live-threshold", "Threshold", "Threshold as a number", 1, THRESHOLD_MAX, 460,
                 live->distribution.threshold);
    report_sheet_element(live->sheet, "div", "class", "live-fields", NULL);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        write_field(live, &fields[i]);
    report_sheet_close_void(live->sheet);
    report_sheet_leaf(live->sheet, "output", "", "id", "live-says", "for",
                      "live-bits live-bits-number live-threshold live-threshold-number live-limit-rows "
                      "live-limit-bytes live-row-bytes live-tiny live-rate",
                      "aria-live", "polite", NULL);
    report_sheet_leaf(live->sheet, "div", "", "id", "live-plot", NULL);
    report_sheet_leaf(live->sheet, "p", "", "id", "live-reading", NULL);
    report_sheet_close_void(live->sheet);
}

/* Writes a figure, and its exact value as an attribute. */
static void write_figure(struct live *live, const char *name, const char *heading, double value,
                         const char *unit, bool is_hidden)
{
    struct report_arena *arena = live->arena;
    const bool is_whole = value >= 1 && value < 0x1p53 && value == floor(value);
    report_sheet_element(live->sheet, "tr", "data-figure", name, NULL);
    if (is_hidden)
        report_sheet_attribute(live->sheet, "hidden", "");
    report_sheet_leaf(live->sheet, "th", heading, "scope", "row", NULL);
    report_sheet_open(live->sheet, "td");
    report_sheet_element(live->sheet, "data", "value", report_text(arena, "%.17g", value), NULL);
    report_sheet_text(live->sheet,
                      is_whole ? report_grouped(arena, (uint64_t)value) : report_text(arena, "%.6g", value));
    if (unit[0] != 0)
        report_sheet_text(live->sheet,
                          report_text(arena, " %s", strcmp(unit, "rows") == 0 && value == 1 ? "row" : unit));
    report_sheet_close_void(live->sheet);
    report_sheet_close_void(live->sheet);
    report_sheet_close_void(live->sheet);
}

static bool has_bytes(const struct live *live)
{
    return live->result->limits.partition_bytes > 0 && live->row_bytes > 0;
}

/* Returns the greatest number of rows of mean size that are within the limit of bytes; 0 if there is no such
 * limit. */
static uint64_t bytes_as_rows(const struct live *live)
{
    return has_bytes(live) ? (uint64_t)floor((double)live->result->limits.partition_bytes / live->row_bytes)
                           : 0;
}

static void write_figures(struct live *live)
{
    const struct lab_limits *limits = &live->result->limits;
    const struct tune_distribution *distribution = &live->distribution;
    struct report_arena *arena = live->arena;
    report_sheet_element(live->sheet, "table", "class", "live-figures", NULL);
    report_sheet_leaf(live->sheet, "caption", "What the exact distribution says", NULL);
    report_sheet_open(live->sheet, "tbody");
    write_figure(live, "mean", "mean", tune_mean_rows(distribution), "rows", false);
    write_figure(live, "stddev", "standard deviation", tune_stddev_rows(distribution), "rows", false);
    write_figure(live, "increments", "increments per 1000 rows", tune_increments_per_1000_rows(distribution),
                 "", false);
    write_figure(live, "below", report_text(arena, "P(rows < %s)", report_grouped(arena, limits->tiny_rows)),
                 tune_below(distribution, limits->tiny_rows), "", limits->tiny_rows == 0);
    write_figure(live, "above",
                 report_text(arena, "P(rows > %s)", report_grouped(arena, limits->partition_rows)),
                 tune_above(distribution, limits->partition_rows), "", limits->partition_rows == 0);
    const uint64_t rows = bytes_as_rows(live);
    write_figure(live, "above-bytes",
                 report_text(arena, "P(bytes > %s), above %s rows",
                             bytes_text(arena, limits->partition_bytes), report_grouped(arena, rows)),
                 tune_above(distribution, rows), "", !has_bytes(live));
    for (size_t i = 0; i < SHARE_COUNT; i++) {
        write_figure(live, report_text(arena, "quantile-%g", shares[i]),
                     report_text(arena, "quantile %g", shares[i]),
                     (double)tune_quantile(distribution, shares[i]), "rows", false);
    }
    const double rate = mean_rate(live->result);
    write_figure(live, "lasts", "one key fills a partition in",
                 rate > 0 ? tune_mean_rows(distribution) / rate : 0, "s", rate <= 0);
    report_sheet_close_void(live->sheet);
    report_sheet_close_void(live->sheet);
}

static void write_command(struct live *live)
{
    const struct lab_limits *limits = &live->result->limits;
    const uint64_t rows = bytes_as_rows(live);
    struct report_arena *arena = live->arena;
    report_sheet_open(live->sheet, "p");
    report_sheet_text(live->sheet, "The same on the command line: ");
    report_sheet_element(live->sheet, "code", "id", "live-command", NULL);
    report_sheet_text(live->sheet,
                      report_text(arena, "bucketlab odds --bits %" PRIu32 " --threshold %" PRIu64, live->bits,
                                  live->distribution.threshold));
    if (limits->tiny_rows > 0)
        report_sheet_text(live->sheet, report_text(arena, " --below %" PRIu64, limits->tiny_rows));
    if (limits->partition_rows > 0)
        report_sheet_text(live->sheet, report_text(arena, " --above %" PRIu64, limits->partition_rows));
    if (has_bytes(live))
        report_sheet_text(live->sheet, report_text(arena, " --above %" PRIu64, rows));
    report_sheet_close_void(live->sheet);
    report_sheet_close_void(live->sheet);
}

void report_page_live(struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    struct report_arena *arena = sheet->arena;
    if (!has_live(result)) {
        return;
    }
    struct live live = {.sheet = sheet,
                        .arena = arena,
                        .result = result,
                        .distribution = {.threshold = USUAL_THRESHOLD},
                        .bits = USUAL_BITS,
                        .row_bytes = mean_row_bytes(result)};
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (is_candidate(&result->strategies[i], &live.bits)) {
            live.distribution.threshold = result->strategies[i].settings.strategy.of.probabilistic.threshold;
            break;
        }
    }
    live.distribution.p = 1 / (double)(UINT64_C(1) << live.bits);
    report_sheet_element(sheet, "section", "id", "live", "aria-labelledby", "live-title", NULL);
    report_sheet_leaf(sheet, "h2", "Try a setting", "id", "live-title", NULL);
    report_sheet_leaf(
        sheet, "p",
        "The exact distribution of a probabilistic partition, computed in this page without a simulation.",
        NULL);
    report_sheet_open(sheet, "noscript");
    report_sheet_open(sheet, "p");
    report_sheet_text(
        sheet, "To change bits and threshold, enable scripts for this page. These are the figures of ");
    report_sheet_text(sheet, report_text(arena, "%" PRIu32 " bits and threshold %" PRIu64 ".", live.bits,
                                         live.distribution.threshold));
    report_sheet_close_void(sheet);
    report_sheet_close_void(sheet);
    write_controls(&live);
    write_figures(&live);
    write_command(&live);
    report_sheet_close_void(sheet);
}
