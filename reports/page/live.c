/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interactive part of a page: fields, sliders and figures for one setting, which start with the values of
 * the run. */
#include "live.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/strategy.h"
#include "reports/format.h"
#include "tune/odds.h"

/* The greatest threshold that page/distribution.js accepts: with a larger one, sizes would not be exact
 * integers in a double. */
#define THRESHOLD_MAX UINT64_C(1000000)

/* The initial setting on the page of a run without a probabilistic strategy. */
enum { USUAL_BITS = 9, USUAL_THRESHOLD = 40 };

struct live {
    xmlTextWriterPtr writer;
    struct report_arena *arena;
    const struct lab_result *result;
    struct tune_distribution distribution;
    uint32_t bits;
    double row_bytes; /* 0 if not known */
    bool failed;      /* true after the first failure */
};

struct field {
    const char *id, *label, *value, *mode;
};

static const double shares[] = {0.001, 0.01, 0.5, 0.99, 0.999};
enum { SHARE_COUNT = sizeof shares / sizeof shares[0] };

bool report_page_has_live(const struct lab_result *result)
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

static void note(struct live *live, int status)
{
    live->failed = live->failed || status < 0;
}

static void start(struct live *live, const char *name)
{
    note(live, xmlTextWriterStartElement(live->writer, (const xmlChar *)name));
}

static void attribute(struct live *live, const char *name, const char *value)
{
    note(live, xmlTextWriterWriteAttribute(live->writer, (const xmlChar *)name, (const xmlChar *)value));
}

/* Writes text, which may be empty. An element with text, even empty text, gets a separate end tag, which HTML
 * requires. */
static void text(struct live *live, const char *value)
{
    note(live, xmlTextWriterWriteString(live->writer, (const xmlChar *)value));
}

static void end(struct live *live)
{
    note(live, xmlTextWriterEndElement(live->writer));
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
    start(live, "p");
    start(live, "label");
    attribute(live, "for", "live-start");
    text(live, "Begin with");
    end(live);
    start(live, "select");
    attribute(live, "id", "live-start");
    for (size_t i = 0; i < live->result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &live->result->strategies[i];
        if (!is_candidate(strategy, &bits))
            continue;
        start(live, "option");
        attribute(live, "value",
                  report_text(live->arena, "%" PRIu32 " %" PRIu64, bits,
                              strategy->settings.strategy.of.probabilistic.threshold));
        text(live, report_clean(live->arena, strategy->label));
        end(live);
    }
    end(live);
    end(live);
}

/* Writes a slider and a number field for the same value. */
static void write_slider(struct live *live, const char *id, const char *label, const char *name,
                         uint64_t least, uint64_t most, uint64_t slider_most, uint64_t value)
{
    struct report_arena *arena = live->arena;
    start(live, "div");
    attribute(live, "class", "live-slider");
    start(live, "label");
    attribute(live, "for", id);
    text(live, label);
    end(live);
    start(live, "input");
    attribute(live, "type", "range");
    attribute(live, "id", id);
    attribute(live, "min", "0");
    attribute(live, "max", report_text(arena, "%" PRIu64, slider_most));
    attribute(live, "value", report_text(arena, "%" PRIu64, value < slider_most ? value : slider_most));
    end(live);
    start(live, "input");
    attribute(live, "type", "number");
    attribute(live, "id", report_text(arena, "%s-number", id));
    attribute(live, "aria-label", name);
    attribute(live, "min", report_text(arena, "%" PRIu64, least));
    attribute(live, "max", report_text(arena, "%" PRIu64, most));
    attribute(live, "required", "");
    attribute(live, "value", report_text(arena, "%" PRIu64, value));
    end(live);
    end(live);
}

static void write_field(struct live *live, const struct field *field)
{
    start(live, "div");
    start(live, "label");
    attribute(live, "for", field->id);
    text(live, field->label);
    end(live);
    start(live, "input");
    attribute(live, "type", "text");
    attribute(live, "id", field->id);
    attribute(live, "inputmode", field->mode);
    attribute(live, "autocomplete", "off");
    attribute(live, "value", field->value);
    end(live);
    end(live);
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
    start(live, "form");
    attribute(live, "id", "live-controls");
    attribute(live, "hidden", "");
    write_start(live);
    write_slider(live, "live-bits", "Bits", "Bits as a number", 0, BK_BITS_MAX, BK_BITS_MAX, live->bits);
    write_slider(live, "live-threshold", "Threshold", "Threshold as a number", 1, THRESHOLD_MAX, 460,
                 live->distribution.threshold);
    start(live, "div");
    attribute(live, "class", "live-fields");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        write_field(live, &fields[i]);
    end(live);
    start(live, "output");
    attribute(live, "id", "live-says");
    attribute(live, "for",
              "live-bits live-bits-number live-threshold live-threshold-number live-limit-rows "
              "live-limit-bytes live-row-bytes live-tiny live-rate");
    attribute(live, "aria-live", "polite");
    text(live, "");
    end(live);
    start(live, "div");
    attribute(live, "id", "live-plot");
    text(live, "");
    end(live);
    start(live, "p");
    attribute(live, "id", "live-reading");
    text(live, "");
    end(live);
    end(live);
}

/* Writes a figure, and its exact value as an attribute. */
static void write_figure(struct live *live, const char *name, const char *heading, double value,
                         const char *unit, bool is_hidden)
{
    struct report_arena *arena = live->arena;
    const bool is_whole = value >= 1 && value < 0x1p53 && value == floor(value);
    start(live, "tr");
    attribute(live, "data-figure", name);
    if (is_hidden)
        attribute(live, "hidden", "");
    start(live, "th");
    attribute(live, "scope", "row");
    text(live, heading);
    end(live);
    start(live, "td");
    start(live, "data");
    attribute(live, "value", report_text(arena, "%.17g", value));
    text(live, is_whole ? report_grouped(arena, (uint64_t)value) : report_text(arena, "%.6g", value));
    if (unit[0] != 0)
        text(live, report_text(arena, " %s", strcmp(unit, "rows") == 0 && value == 1 ? "row" : unit));
    end(live);
    end(live);
    end(live);
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
    start(live, "table");
    attribute(live, "class", "live-figures");
    start(live, "caption");
    text(live, "What the exact distribution says");
    end(live);
    start(live, "tbody");
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
    end(live);
    end(live);
}

static void write_command(struct live *live)
{
    const struct lab_limits *limits = &live->result->limits;
    const uint64_t rows = bytes_as_rows(live);
    struct report_arena *arena = live->arena;
    start(live, "p");
    text(live, "The same on the command line: ");
    start(live, "code");
    attribute(live, "id", "live-command");
    text(live, report_text(arena, "bucketlab odds --bits %" PRIu32 " --threshold %" PRIu64, live->bits,
                           live->distribution.threshold));
    if (limits->tiny_rows > 0)
        text(live, report_text(arena, " --below %" PRIu64, limits->tiny_rows));
    if (limits->partition_rows > 0)
        text(live, report_text(arena, " --above %" PRIu64, limits->partition_rows));
    if (has_bytes(live))
        text(live, report_text(arena, " --above %" PRIu64, rows));
    end(live);
    end(live);
}

bool report_page_live(xmlTextWriterPtr writer, const struct lab_result *result, struct report_arena *arena)
{
    struct live live = {.writer = writer,
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
    start(&live, "section");
    attribute(&live, "id", "live");
    attribute(&live, "aria-labelledby", "live-title");
    start(&live, "h2");
    attribute(&live, "id", "live-title");
    text(&live, "Try a setting");
    end(&live);
    start(&live, "p");
    text(&live,
         "The exact distribution of a probabilistic partition, computed in this page without a simulation.");
    end(&live);
    start(&live, "noscript");
    start(&live, "p");
    text(&live, "To change bits and threshold, enable scripts for this page. These are the figures of ");
    text(&live, report_text(arena, "%" PRIu32 " bits and threshold %" PRIu64 ".", live.bits,
                            live.distribution.threshold));
    end(&live);
    end(&live);
    write_controls(&live);
    write_figures(&live);
    write_command(&live);
    end(&live);
    return !live.failed;
}
