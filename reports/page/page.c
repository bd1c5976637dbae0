/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a run as one page. In: a result, and what the caller knows about the run. Kept: a sheet, which
 * writes elements, attributes and texts with libxml and records the first failure. Out: the bytes of the
 * page, or its file. */
#define _POSIX_C_SOURCE 200809L
#include "reports/page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include <glib.h>

#include "bucketing/strategy.h"
#include "kernel/time.h"
#include "sheet.h"

/* Both XML and HTML parsers treat the text between these markers as the content of the element. */
#define STYLE_BEGIN  "/*<![CDATA[*/\n"
#define STYLE_END    "/*]]>*/"
#define SCRIPT_BEGIN "//<![CDATA[\n"
#define SCRIPT_END   "//]]>"

void report_sheet_note(struct report_sheet *sheet, int code)
{
    sheet->is_fine = sheet->is_fine && code >= 0;
}

void report_sheet_open(struct report_sheet *sheet, const char *name)
{
    report_sheet_note(sheet, xmlTextWriterStartElement(sheet->writer, (const xmlChar *)name));
}

void report_sheet_close(struct report_sheet *sheet)
{
    report_sheet_note(sheet, xmlTextWriterFullEndElement(sheet->writer));
}

void report_sheet_close_void(struct report_sheet *sheet)
{
    report_sheet_note(sheet, xmlTextWriterEndElement(sheet->writer));
}

void report_sheet_attribute(struct report_sheet *sheet, const char *name, const char *value)
{
    report_sheet_note(sheet,
                      xmlTextWriterWriteAttribute(sheet->writer, (const xmlChar *)name,
                                                  (const xmlChar *)report_clean_lines(sheet->arena, value)));
}

void report_sheet_text(struct report_sheet *sheet, const char *text)
{
    report_sheet_note(sheet, xmlTextWriterWriteString(
                                 sheet->writer, (const xmlChar *)report_clean_lines(sheet->arena, text)));
}

static void put_attributes(struct report_sheet *sheet, va_list attributes)
{
    for (const char *key; (key = va_arg(attributes, const char *)) != NULL;) {
        report_sheet_attribute(sheet, key, va_arg(attributes, const char *));
    }
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
    if (class[0] != 0) {
        report_sheet_attribute(sheet, "class", class);
    }
    report_sheet_attribute(sheet, "aria-labelledby", heading);
    report_sheet_leaf(sheet, level == 2 ? "h2" : "h3", title, "id", heading, NULL);
}

static bool has(const char *text)
{
    return text != NULL && text[0] != 0;
}

static const char *embedded(struct report_arena *arena, const char *begin, const unsigned char *bytes,
                            size_t size, const char *end)
{
    return report_text(arena, "%s%.*s%s", begin, (int)size, (const char *)bytes, end);
}

enum { FINGERPRINT_SIZE = 64 };

/* The SHA-256 of the content in base 64, as a content security policy identifies a script. */
static void fingerprint(const char *content, char out[FINGERPRINT_SIZE])
{
    guint8 digest[32];
    gsize size = sizeof digest;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(checksum, (const guchar *)content, -1);
    g_checksum_get_digest(checksum, digest, &size);
    g_checksum_free(checksum);
    gchar *base64 = g_base64_encode(digest, size);
    snprintf(out, FINGERPRINT_SIZE, "%s", base64);
    g_free(base64);
}

/* The content is part of this program, so it is written without escaping. */
static void write_embedded(struct report_sheet *sheet, const char *element, const char *content)
{
    report_sheet_open(sheet, element);
    report_sheet_note(sheet, xmlTextWriterWriteRaw(sheet->writer, (const xmlChar *)content));
    report_sheet_close(sheet);
}

/* The content security policy allows only these styles and this script, and forbids to load, send or frame
 * anything. */
static void write_head(struct report_sheet *sheet, const char *title)
{
    static const struct {
        const char *name, *content;
    } metas[] = {{"viewport", "width=device-width, initial-scale=1"},
                 {"color-scheme", "light dark"},
                 {"referrer", "no-referrer"},
                 {"generator", "bucketlab"}};
    struct report_arena *arena = sheet->arena;
    const char *style = embedded(arena, STYLE_BEGIN, report_page_style, report_page_style_size, STYLE_END);
    const char *script =
        embedded(arena, SCRIPT_BEGIN, report_page_script, report_page_script_size, SCRIPT_END);
    char style_print[FINGERPRINT_SIZE], script_print[FINGERPRINT_SIZE];
    fingerprint(style, style_print);
    fingerprint(script, script_print);
    report_sheet_open(sheet, "head");
    report_sheet_element(sheet, "meta", "charset", "utf-8", NULL);
    report_sheet_close_void(sheet);
    report_sheet_element(
        sheet, "meta", "http-equiv", "Content-Security-Policy", "content",
        report_text(arena,
                    "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; "
                    "form-action 'none'",
                    style_print, script_print),
        NULL);
    report_sheet_close_void(sheet);
    for (size_t i = 0; i < sizeof metas / sizeof metas[0]; i++) {
        report_sheet_element(sheet, "meta", "name", metas[i].name, "content", metas[i].content, NULL);
        report_sheet_close_void(sheet);
    }
    report_sheet_leaf(sheet, "title", title, NULL);
    write_embedded(sheet, "style", style);
    report_sheet_close(sheet);
}

static void write_banner(struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    report_sheet_leaf(sheet, "a", "Skip to the answer", "class", "skip", "href", "#main", NULL);
    report_sheet_element(sheet, "header", "class", "banner", NULL);
    report_sheet_open(sheet, "div");
    report_sheet_leaf(sheet, "p", "bucketlab", "class", "maker", NULL);
    report_sheet_leaf(sheet, "h1", report_clean(sheet->arena, result->scenario_name), NULL);
    if (has(result->about)) {
        report_sheet_leaf(sheet, "p", report_clean(sheet->arena, result->about), "class", "about", NULL);
    }
    report_sheet_close(sheet);
    report_sheet_leaf(sheet, "button", "Dark", "type", "button", "id", "theme", "hidden", "hidden", NULL);
    report_sheet_close(sheet);
}

/* The script fills this element in from the headings. Without scripts it stays hidden. */
static void write_contents(struct report_sheet *sheet)
{
    report_sheet_element(sheet, "nav", "id", "contents", "aria-label", "On this page", "hidden", "hidden",
                         NULL);
    report_sheet_close(sheet);
}

static void write_line(struct report_sheet *sheet, const char *label, const char *text)
{
    report_sheet_open(sheet, "div");
    report_sheet_leaf(sheet, "dt", label, NULL);
    report_sheet_leaf(sheet, "dd", text, NULL);
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
                   page->why[i] + (colon == NULL ? 0 : label + 2));
    }
    for (size_t i = 0; page->why_count == 0 && i < answer->line_count; i++) {
        write_line(sheet, answer->lines[i].label, answer->lines[i].text);
    }
    report_sheet_close(sheet);
    report_sheet_leaf(sheet, "p", answer->asked, "class", "asked", NULL);
    report_sheet_close(sheet);
}

static void write_fact(struct report_sheet *sheet, const char *name, const char *id, const char *value)
{
    report_sheet_open(sheet, "div");
    report_sheet_leaf(sheet, "dt", name, NULL);
    report_sheet_leaf(sheet, "dd", value, "id", id, NULL);
    report_sheet_close(sheet);
}

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
    if (is_open) {
        report_sheet_attribute(sheet, "open", "open");
    }
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
    report_sheet_open(sheet, "dl");
    if (has(page->scenario_file)) {
        write_fact(sheet, "Scenario", "run-file", file_name(page->scenario_file));
    }
    write_fact(sheet, "Seed", "run-seed", report_text(arena, "%" PRIu64, result->seed));
    write_fact(sheet, "Digest", "run-digest", report_text(arena, "%016" PRIx64, result->digest));
    write_fact(sheet, "Virtual time", "run-time", report_text(arena, "%s to %s", start, end));
    if (result->source != NULL && strcmp(result->source, "synthetic") != 0) {
        write_fact(sheet, "Rows from", "run-source", file_name(result->source));
    }
    if (has(page->version)) {
        write_fact(sheet, "Made by", "run-version", report_text(arena, "bucketlab %s", page->version));
    }
    report_sheet_close(sheet);
    if (page->again_count > 0) {
        const char *lines = "";
        for (size_t i = 0; i < page->again_count; i++) {
            lines = report_text(arena, "%s%s\n", lines, page->again[i]);
        }
        write_lines(sheet, "Run it again", "run-again", lines, true);
    }
    if (has(page->overrides)) {
        write_lines(sheet, "Fields set on the command line", "run-overrides", page->overrides, false);
    }
    if (has(page->scenario_text)) {
        write_lines(sheet, "The scenario", "run-scenario", page->scenario_text, false);
    }
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
        settings->kind != BK_PROBABILISTIC || settings->of.probabilistic.threshold > threshold_max) {
        return false;
    }
    *threshold = settings->of.probabilistic.threshold;
    *bits = settings->of.probabilistic.bits;
    if (settings->of.probabilistic.chance_denominator != 0) {
        *bits = (uint32_t)fmin(BK_BITS_MAX, round(log2((double)settings->of.probabilistic.chance_denominator /
                                                       (double)settings->of.probabilistic.chance_numerator)));
    }
    return true;
}

/* If the run has several suitable strategies, their settings are choices to start with. */
static void write_starts(struct report_sheet *sheet)
{
    const struct lab_result *result = sheet->page->result;
    size_t count = 0;
    uint32_t bits;
    uint64_t threshold;
    for (size_t i = 0; i < result->strategy_count; i++) {
        count += can_start(&result->strategies[i], &bits, &threshold);
    }
    if (count < 2) {
        return;
    }
    report_sheet_element(sheet, "p", "hidden", "", NULL);
    report_sheet_leaf(sheet, "label", "Begin with", "for", "live-start", NULL);
    report_sheet_element(sheet, "select", "id", "live-start", NULL);
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (can_start(&result->strategies[i], &bits, &threshold)) {
            report_sheet_leaf(sheet, "option", report_clean(sheet->arena, result->strategies[i].label),
                              "value", report_text(sheet->arena, "%" PRIu32 " %" PRIu64, bits, threshold),
                              NULL);
        }
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
    if (!has_partitions) {
        return;
    }
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
    report_sheet_note(sheet, xmlTextWriterWriteRaw(sheet->writer, report_page_live));
    report_sheet_close(sheet);
}

static void write_page(struct report_sheet *sheet)
{
    const struct report_page *page = sheet->page;
    const char *name = report_clean(sheet->arena, page->result->scenario_name);
    report_answer_run(page->result, sheet->arena, &sheet->answer);
    sheet->chosen = sheet->answer.chosen;
    for (size_t i = 0; has(page->recommended) && i < page->result->strategy_count; i++) {
        if (strcmp(page->result->strategies[i].label, page->recommended) == 0) {
            sheet->chosen = i;
        }
    }
    report_sheet_note(sheet, xmlTextWriterWriteDTD(sheet->writer, (const xmlChar *)"html", NULL, NULL, NULL));
    report_sheet_element(sheet, "html", "lang", "en", NULL);
    write_head(sheet, report_text(sheet->arena, "%s · bucketlab", name));
    report_sheet_open(sheet, "body");
    write_banner(sheet);
    write_contents(sheet);
    report_sheet_element(sheet, "main", "id", "main", NULL);
    write_answer(sheet);
    report_page_table(sheet);
    report_page_charts(sheet);
    report_page_expects(sheet);
    write_live(sheet);
    write_run(sheet);
    report_sheet_close(sheet);
    write_embedded(
        sheet, "script",
        embedded(sheet->arena, SCRIPT_BEGIN, report_page_script, report_page_script_size, SCRIPT_END));
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_note(sheet, xmlTextWriterEndDocument(sheet->writer));
}

static bool try_page(struct report_sheet *sheet, struct sim_error *error)
{
    if (sheet->writer == NULL || report_arena_fails(sheet->arena)) {
        return sim_fail_memory(error);
    }
    write_page(sheet);
    return sheet->is_fine ? true : sim_fail_memory(error);
}

bool report_page_make(const struct report_page *page, struct report_bytes *out, struct sim_error *error)
{
    *out = (struct report_bytes){0};
    struct report_typesetter *typesetter = report_typesetter_create(error);
    if (typesetter == NULL) {
        return false;
    }
    struct report_arena arena;
    report_arena_init(&arena);
    xmlBufferPtr buffer = xmlBufferCreate();
    struct report_sheet sheet = {.writer = buffer == NULL ? NULL : xmlNewTextWriterMemory(buffer, 0),
                                 .arena = &arena,
                                 .typesetter = typesetter,
                                 .page = page,
                                 .is_fine = true};
    const bool ok = try_page(&sheet, error);
    if (sheet.writer != NULL) {
        xmlFreeTextWriter(sheet.writer);
    }
    if (ok) {
        out->size = (size_t)xmlBufferLength(buffer);
        out->data = xmlBufferDetach(buffer);
    }
    xmlBufferFree(buffer);
    report_arena_free(&arena);
    report_typesetter_destroy(typesetter);
    return ok;
}

bool report_page_write(const struct report_page *page, const char *folder, char **path,
                       struct sim_error *error)
{
    struct report_bytes content = {0};
    *path = report_output_path(folder, page->result->scenario_name, page->result->is_tuned, NULL, "html");
    bool ok = *path != NULL ? report_page_make(page, &content, error) : sim_fail_memory(error);
    ok = ok && report_output(folder, path, &content, 1, error);
    report_bytes_free(&content);
    if (!ok) {
        free(*path);
        *path = NULL;
    }
    return ok;
}
