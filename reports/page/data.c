/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the data of a chart as a table of words and numbers, for readers who cannot see the chart or want to
 * copy its data. */
#include <string.h>

#include "sheet.h"

static bool has_data(const struct report_chart *chart)
{
    size_t count = chart->row_count + chart->grid.row_count;
    for (size_t i = 0; i < chart->panel_count; i++) {
        count += chart->panels[i].figure_count + chart->panels[i].line_count;
    }
    for (size_t i = 0; i < chart->line_count; i++) {
        for (size_t j = 0; j < chart->lines[i].sample_count; j++) {
            count += chart->lines[i].samples[j].hint != NULL;
        }
    }
    for (size_t i = 0; i < chart->spot_count; i++) {
        count += chart->spots[i].hint != NULL;
    }
    return count > 0;
}

static void begin_row(struct report_sheet *sheet, const char *name)
{
    report_sheet_open(sheet, "tr");
    report_sheet_open(sheet, "th");
    report_sheet_attribute(sheet, "scope", "row");
    report_sheet_text(sheet, name);
    report_sheet_close(sheet);
}

/* Writes the key figures of panels, which may differ from panel to panel. */
static void write_panels(struct report_sheet *sheet, const struct report_chart *chart)
{
    report_sheet_open(sheet, "tbody");
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        begin_row(sheet, panel->label);
        for (size_t j = 0; j < panel->figure_count; j++) {
            report_sheet_leaf(
                sheet, "td", "",
                report_text(sheet->arena, "%s %s", panel->figures[j].name, panel->figures[j].text));
        }
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
}

static void write_heading(struct report_sheet *sheet, const char *text)
{
    report_sheet_open(sheet, "th");
    report_sheet_attribute(sheet, "scope", "col");
    report_sheet_text(sheet, text);
    report_sheet_close(sheet);
}

static void write_columns(struct report_sheet *sheet, const struct report_chart *chart)
{
    report_sheet_open(sheet, "thead");
    report_sheet_open(sheet, "tr");
    write_heading(sheet, "strategy");
    for (size_t i = 0; i < chart->column_count; i++) {
        write_heading(sheet, chart->columns[i].title);
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_open(sheet, "tbody");
    for (size_t i = 0; i < chart->row_count; i++) {
        begin_row(sheet, chart->rows[i].label);
        for (size_t j = 0; j < chart->column_count; j++) {
            report_sheet_leaf(sheet, "td", "", chart->columns[j].cells[i].text);
        }
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
}

/* A hint begins with the name of its mark, as in "hash: 628 rows ..." or "hash-8; cost: 12". Returns the hint
 * without that name, which the table row has already. The row's name may be longer, as in "hash (open)". */
static const char *without_name(const char *hint, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(hint, name, length) == 0 && (hint[length] == ':' || hint[length] == ';') &&
        hint[length + 1] == ' ') {
        return hint + length + 2;
    }
    const char *end = strstr(hint, ": ");
    return end != NULL && strncmp(hint, name, (size_t)(end - hint)) == 0 ? end + 2 : hint;
}

/* Writes one row for each sample of a line that has a hint. */
static void write_line(struct report_sheet *sheet, const char *panel, const struct report_line *line)
{
    for (size_t i = 0; i < line->sample_count; i++) {
        if (line->samples[i].hint != NULL) {
            begin_row(sheet, line->label);
            if (panel != NULL) {
                report_sheet_leaf(sheet, "td", "", panel);
            }
            report_sheet_leaf(sheet, "td", "", without_name(line->samples[i].hint, line->label));
            report_sheet_close(sheet);
        }
    }
}

static void write_lines(struct report_sheet *sheet, const struct report_chart *chart)
{
    report_sheet_open(sheet, "tbody");
    for (size_t i = 0; i < chart->line_count; i++) {
        write_line(sheet, NULL, &chart->lines[i]);
    }
    for (size_t i = 0; i < chart->panel_count; i++) {
        for (size_t j = 0; j < chart->panels[i].line_count; j++) {
            write_line(sheet, chart->panels[i].label, &chart->panels[i].lines[j]);
        }
    }
    report_sheet_close(sheet);
}

static void write_spots(struct report_sheet *sheet, const struct report_chart *chart)
{
    report_sheet_open(sheet, "tbody");
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *spot = &chart->spots[i];
        if (spot->hint != NULL) {
            begin_row(sheet, spot->label);
            report_sheet_leaf(sheet, "td", "", without_name(spot->hint, spot->label));
            report_sheet_close(sheet);
        }
    }
    report_sheet_close(sheet);
}

/* Writes the rows from the top, in the order in which they are drawn. */
static void write_grid(struct report_sheet *sheet, const struct report_grid *grid)
{
    report_sheet_open(sheet, "thead");
    report_sheet_open(sheet, "tr");
    write_heading(sheet, report_text(sheet->arena, "%s, by %s", grid->y_title, grid->x_title));
    for (size_t i = 0; i < grid->column_count; i++) {
        write_heading(sheet, grid->columns[i]);
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_open(sheet, "tbody");
    for (size_t i = grid->row_count; i-- > 0;) {
        begin_row(sheet, grid->rows[i]);
        for (size_t j = 0; j < grid->column_count; j++) {
            const struct report_tile *tile = &grid->tiles[i * grid->column_count + j];
            report_sheet_leaf(sheet, "td", "",
                              !tile->is_tried ? "–"
                                              : report_text(sheet->arena, "%s%s", tile->text,
                                                            tile->is_chosen ? " (recommended)"
                                                            : tile->holds   ? " (holds)"
                                                                            : ""));
        }
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
}

void report_page_data(struct report_sheet *sheet, const struct report_chart *chart)
{
    if (!has_data(chart)) {
        return;
    }
    report_sheet_open(sheet, "details");
    report_sheet_attribute(sheet, "class", "data");
    report_sheet_summary(sheet, "The figures as a table", chart->title);
    report_sheet_open(sheet, "div");
    report_sheet_attribute(sheet, "class", "scroll");
    report_sheet_attribute(sheet, "tabindex", "0");
    report_sheet_attribute(sheet, "role", "region");
    report_sheet_attribute(sheet, "aria-label", report_text(sheet->arena, "Figures: %s", chart->title));
    report_sheet_open(sheet, "table");
    switch (chart->form) {
    case REPORT_FORM_STACK:
    case REPORT_FORM_LANES:
    case REPORT_FORM_SUMMARY:
        write_panels(sheet, chart);
        break;
    case REPORT_FORM_TABLE:
        write_columns(sheet, chart);
        break;
    case REPORT_FORM_CURVES:
        write_lines(sheet, chart);
        break;
    case REPORT_FORM_FRONT:
        write_spots(sheet, chart);
        break;
    case REPORT_FORM_REGIONS: /* has_data() is false for this form */
        break;
    case REPORT_FORM_HEATMAP:
        write_grid(sheet, &chart->grid);
        break;
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}
