/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes elements, attributes and texts of a page with libxml, and records the first failure. */
#include <string.h>

#include "kernel/text.h"
#include "sheet.h"

static void note(struct report_sheet *sheet, int code)
{
    sheet->is_fine = sheet->is_fine && code >= 0;
}

void report_sheet_open(struct report_sheet *sheet, const char *name)
{
    note(sheet, xmlTextWriterStartElement(sheet->writer, (const xmlChar *)name));
}

void report_sheet_close(struct report_sheet *sheet)
{
    note(sheet, xmlTextWriterFullEndElement(sheet->writer));
}

void report_sheet_close_void(struct report_sheet *sheet)
{
    note(sheet, xmlTextWriterEndElement(sheet->writer));
}

/* Returns `text` with invalid characters replaced. Text that is valid is not copied. */
static const char *clean(struct report_arena *arena, const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD", kept[] = "\n\t";
    size_t bad = 0, length = 0;
    bool is_fine;
    for (const char *at = text; *at != 0;) {
        at += sim_text_step(at, SIM_UTF8_SIZE_MAX, kept, &is_fine);
        bad += !is_fine;
        length = (size_t)(at - text);
    }
    if (bad == 0) {
        return text;
    }
    char *out = report_take(arena, length + bad * sizeof replacement + 1, 1), *to = out;
    if (out == NULL) {
        return "";
    }
    while (*text != 0) {
        size_t size = sim_text_step(text, SIM_UTF8_SIZE_MAX, kept, &is_fine);
        size_t count = is_fine ? size : sizeof replacement - 1;
        memcpy(to, is_fine ? text : replacement, count);
        to += count;
        text += size;
    }
    return out;
}

void report_sheet_attribute(struct report_sheet *sheet, const char *name, const char *value)
{
    note(sheet, xmlTextWriterWriteAttribute(sheet->writer, (const xmlChar *)name,
                                            (const xmlChar *)clean(sheet->arena, value)));
}

void report_sheet_text(struct report_sheet *sheet, const char *text)
{
    note(sheet, xmlTextWriterWriteString(sheet->writer, (const xmlChar *)clean(sheet->arena, text)));
}

void report_sheet_leaf(struct report_sheet *sheet, const char *name, const char *class, const char *text)
{
    report_sheet_open(sheet, name);
    if (class[0] != 0) {
        report_sheet_attribute(sheet, "class", class);
    }
    report_sheet_text(sheet, text);
    report_sheet_close(sheet);
}

void report_sheet_summary(struct report_sheet *sheet, const char *text, const char *of)
{
    report_sheet_open(sheet, "summary");
    report_sheet_attribute(sheet, "aria-label", report_text(sheet->arena, "%s: %s", text, of));
    report_sheet_text(sheet, text);
    report_sheet_close(sheet);
}

void report_sheet_section(struct report_sheet *sheet, const char *id, const char *class, int level,
                          const char *title)
{
    const char *heading = report_text(sheet->arena, "%s-title", id);
    report_sheet_open(sheet, "section");
    report_sheet_attribute(sheet, "id", id);
    if (class[0] != 0) {
        report_sheet_attribute(sheet, "class", class);
    }
    report_sheet_attribute(sheet, "aria-labelledby", heading);
    report_sheet_open(sheet, level == 2 ? "h2" : "h3");
    report_sheet_attribute(sheet, "id", heading);
    report_sheet_text(sheet, title);
    report_sheet_close(sheet);
}
