/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the figures of a chart as CSV (RFC 4180) into a link that saves them without a script: a data URL,
 * whose bytes are percent-encoded (RFC 3986). */
#include <math.h>
#include <string.h>

#include "reports/page.h"
#include "reports/scale.h"
#include "sheet.h"

static void put_bytes(struct report_sheet *sheet, const char *text, size_t length)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~,:";
    char out[3 * 64 + 1];
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (strchr(plain, text[i]) != NULL) {
            out[used++] = text[i];
        } else {
            out[used++] = '%';
            out[used++] = digits[byte >> 4];
            out[used++] = digits[byte & 15];
        }
        if (used > sizeof out - 4 || i + 1 == length) {
            out[used] = 0;
            sheet->is_fine &= xmlTextWriterWriteString(sheet->writer, (const xmlChar *)out) >= 0;
            used = 0;
        }
    }
}

/* Writes a field, quoted if necessary, and the separator after it. */
static void put(struct report_sheet *sheet, const char *text, bool is_last)
{
    const bool is_quoted = strpbrk(text, ",\"\r\n") != NULL;
    put_bytes(sheet, "\"", is_quoted);
    for (const char *at = text; *at != 0;) {
        const size_t length = strcspn(at, "\"");
        put_bytes(sheet, at, length);
        put_bytes(sheet, "\"\"", at[length] == '"' ? 2 : 0);
        at += length + (at[length] == '"');
    }
    put_bytes(sheet, "\"", is_quoted);
    put_bytes(sheet, is_last ? "\r\n" : ",", is_last ? 2 : 1);
}

static void put_number(struct report_sheet *sheet, double value, bool is_last)
{
    put(sheet, isfinite(value) ? report_text(sheet->arena, "%.12g", value) : "", is_last);
}

/* Writes the value at the position `at` of a linear or log axis; 0 in the strip before a log axis. */
static void put_at(struct report_sheet *sheet, const struct report_axis *axis, double at, bool is_last)
{
    put_number(sheet, report_value_at(axis, at), is_last);
}

static void put_names(struct report_sheet *sheet, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(sheet, names[i], i + 1 == count);
    }
}

static void put_spread(struct report_sheet *sheet, const struct report_panel *panel,
                       const struct report_slice *step, bool is_open)
{
    const struct report_spread *spread = is_open ? &step->open : &step->closed;
    const double values[] = {spread->least, spread->p10, spread->p50, spread->p90, spread->most};
    if (!spread->present) {
        return;
    }
    put(sheet, panel->label, false);
    put_number(sheet, step->from, false);
    put_number(sheet, step->to, false);
    put(sheet, is_open ? "open" : "closed", false);
    for (size_t i = 0; i < 5; i++) {
        put_at(sheet, &panel->y, values[i], i == 4);
    }
}

static void put_stack(struct report_sheet *sheet, const struct report_chart *chart)
{
    static const char *const bars[] = {"strategy", "from", "to", "state", "count"};
    static const char *const steps[] = {"strategy", "from",   "to",  "state",  "least",
                                        "p10",      "median", "p90", "largest"};
    bool has_steps = false;
    for (size_t i = 0; i < chart->panel_count; i++) {
        has_steps |= chart->panels[i].step_count > 0;
    }
    put_names(sheet, has_steps ? steps : bars, has_steps ? 9 : 5);
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->bar_count; k++) {
            const struct report_bar *bar = &panel->bars[k];
            put(sheet, panel->label, false);
            put_number(sheet, bar->first, false);
            put_number(sheet, bar->last, false);
            put(sheet, report_ink_name(bar->ink), false);
            put_number(sheet, bar->count, true);
        }
        for (size_t k = 0; k < panel->step_count; k++) {
            put_spread(sheet, panel, &panel->steps[k], false);
            put_spread(sheet, panel, &panel->steps[k], true);
        }
    }
}

static void put_table(struct report_sheet *sheet, const struct report_chart *chart)
{
    put(sheet, "strategy", false);
    for (size_t i = 0; i < chart->column_count; i++) {
        put(sheet, chart->columns[i].title, i + 1 == chart->column_count);
    }
    for (size_t row = 0; row < chart->row_count; row++) {
        put(sheet, chart->rows[row].label, false);
        for (size_t i = 0; i < chart->column_count; i++) {
            const struct report_cell *cell = &chart->columns[i].cells[row];
            put_number(sheet, cell->present ? cell->value : (double)NAN, i + 1 == chart->column_count);
        }
    }
}

static void put_line(struct report_sheet *sheet, const char *panel, const struct report_line *line,
                     const struct report_axis *x, const struct report_axis *y)
{
    for (size_t i = 0; i < line->sample_count; i++) {
        put(sheet, panel, false);
        put(sheet, line->label[0] != 0 ? line->label : "exact distribution", false);
        put_at(sheet, x, line->samples[i].x, false);
        put_at(sheet, y, line->samples[i].y, true);
    }
}

static void put_lines(struct report_sheet *sheet, const struct report_chart *chart)
{
    const char *const names[] = {"panel", "line", chart->x.title,
                                 chart->panel_count > 0 ? chart->panels[0].y.title : chart->y.title};
    put_names(sheet, names, 4);
    for (size_t i = 0; i < chart->line_count; i++) {
        put_line(sheet, "", &chart->lines[i], &chart->x, &chart->y);
    }
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->line_count; k++) {
            put_line(sheet, panel->label, &panel->lines[k], &chart->x, &panel->y);
        }
    }
}

static void put_spots(struct report_sheet *sheet, const struct report_chart *chart)
{
    const char *const names[] = {"setting", chart->x.title, chart->y.title, "low", "high", "is"};
    put_names(sheet, names, 6);
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *spot = &chart->spots[i];
        put(sheet, spot->label, false);
        put_at(sheet, &chart->x, spot->x, false);
        put_at(sheet, &chart->y, spot->y, false);
        put_at(sheet, &chart->y, spot->low, false);
        put_at(sheet, &chart->y, spot->high, false);
        put(sheet, spot->is_chosen ? "recommended" : spot->is_on_front ? "on the front" : "", true);
    }
}

static void put_tiles(struct report_sheet *sheet, const struct report_grid *grid)
{
    const char *const names[] = {grid->x_title, grid->y_title, "value", "is"};
    put_names(sheet, names, 4);
    for (size_t i = 0; i < grid->row_count * grid->column_count; i++) {
        const struct report_tile *tile = &grid->tiles[i];
        if (tile->is_tried) {
            put(sheet, grid->columns[i % grid->column_count], false);
            put(sheet, grid->rows[i / grid->column_count], false);
            put(sheet, tile->text, false);
            put(sheet, tile->is_chosen ? "recommended" : tile->holds ? "holds" : "", true);
        }
    }
}

static void put_lanes(struct report_sheet *sheet, const struct report_chart *chart)
{
    static const char *const names[] = {"strategy", "agent", "from", "to", "state"};
    put_names(sheet, names, 5);
    for (size_t i = 0; i < chart->panel_count; i++) {
        for (size_t k = 0; k < chart->panels[i].lane_count; k++) {
            const struct report_lane *lane = &chart->panels[i].lanes[k];
            for (size_t n = 0; n < lane->span_count; n++) {
                put(sheet, chart->panels[i].label, false);
                put(sheet, lane->label, false);
                put_number(sheet, lane->spans[n].from, false);
                put_number(sheet, lane->spans[n].to, false);
                put(sheet, report_ink_name(lane->spans[n].ink), true);
            }
        }
    }
}

/* Writes each area of a region: the y of its middle, and the x of its left and right ends. */
static void put_areas(struct report_sheet *sheet, const struct report_chart *chart)
{
    const char *const names[] = {chart->y.title, "from", "to", "cheapest"};
    put_names(sheet, names, 4);
    for (size_t i = 0; i < chart->area_count; i++) {
        const struct report_area *area = &chart->areas[i];
        put_at(sheet, &chart->y, (area->from_y + area->to_y) / 2, false);
        put_at(sheet, &chart->x, area->from_x, false);
        put_at(sheet, &chart->x, area->to_x, false);
        put(sheet, chart->area_names[area->owner], true);
    }
}

static void put_all(struct report_sheet *sheet, const struct report_chart *chart)
{
    switch (chart->form) {
    case REPORT_FORM_STACK:
        put_stack(sheet, chart);
        break;
    case REPORT_FORM_TABLE:
        put_table(sheet, chart);
        break;
    case REPORT_FORM_CURVES:
        put_lines(sheet, chart);
        break;
    case REPORT_FORM_FRONT:
        put_spots(sheet, chart);
        break;
    case REPORT_FORM_HEATMAP:
        put_tiles(sheet, &chart->grid);
        break;
    case REPORT_FORM_LANES:
        put_lanes(sheet, chart);
        break;
    case REPORT_FORM_REGIONS:
        put_areas(sheet, chart);
        break;
    case REPORT_FORM_SUMMARY:
        break;
    }
}

void report_page_csv(struct report_sheet *sheet, const struct report_chart *chart)
{
    report_sheet_open(sheet, "p");
    report_sheet_attribute(sheet, "class", "csv");
    report_sheet_open(sheet, "a");
    report_sheet_attribute(sheet, "download",
                           report_text(sheet->arena, "%s-%s.csv",
                                       report_clean(sheet->arena, sheet->page->result->scenario_name),
                                       chart->name));
    sheet->is_fine &= xmlTextWriterStartAttribute(sheet->writer, (const xmlChar *)"href") >= 0;
    sheet->is_fine &=
        xmlTextWriterWriteString(sheet->writer, (const xmlChar *)"data:text/csv;charset=utf-8,") >= 0;
    put_all(sheet, chart);
    sheet->is_fine &= xmlTextWriterEndAttribute(sheet->writer) >= 0;
    report_sheet_text(sheet, "The figures as CSV");
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}
