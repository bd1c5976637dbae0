/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of a page. In: a result, and the front of tune. Out: each chart under a heading,
 * for a screen and for a telephone, with a sentence on how to read it and its figures; and a line for each
 * chart that is left out. */

#include <glib.h>

#include "reports/page.h"
#include "reports/scale.h"
#include "sheet.h"

/* The figures of a chart, which are listed once and written twice: as CSV (RFC 4180), in a link that saves
 * them without a script, and as a table of the page, for readers who cannot see the chart or want to copy its
 * data. The link is a data URL, whose bytes are percent-encoded (RFC 3986). */
struct list {
    struct report_sheet *sheet;
    bool is_csv;   /* with every sample and bar; else a table, whose rows a reader can survey */
    bool has_body; /* of the table */
    size_t column;
};

static void put_bytes(struct report_sheet *sheet, const char *text, size_t length)
{
    char *escaped = g_uri_escape_bytes((const guint8 *)text, length, ",:");
    report_sheet_note(sheet, xmlTextWriterWriteString(sheet->writer, (const xmlChar *)escaped));
    g_free(escaped);
}

/* Writes a field, quoted if necessary, and the separator after it. */
static void put_field(struct report_sheet *sheet, const char *text, bool is_last)
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

/* Adds a cell. The first row of a list is its heading, and the first cell of a row its name. */
static void put(struct list *list, const char *text, bool is_heading, bool is_last)
{
    struct report_sheet *sheet = list->sheet;
    if (list->is_csv) {
        put_field(sheet, text, is_last);
        return;
    }
    if (list->column == 0 && (is_heading || !list->has_body)) {
        report_sheet_open(sheet, is_heading ? "thead" : "tbody");
        list->has_body = !is_heading;
    }
    if (list->column++ == 0) {
        report_sheet_open(sheet, "tr");
    }
    if (is_heading || list->column == 1) {
        report_sheet_leaf(sheet, "th", text, "scope", is_heading ? "col" : "row", NULL);
    } else {
        report_sheet_leaf(sheet, "td", text, NULL);
    }
    if (is_last) {
        report_sheet_close(sheet);
        list->column = 0;
    }
    if (is_last && is_heading) {
        report_sheet_close(sheet);
    }
}

/* Adds a row: for each letter of `cells` a text (s), or a number (n), which is not written if it is not
 * finite. */
static void put_row(struct list *list, bool is_heading, const char *cells, ...)
{
    va_list values;
    va_start(values, cells);
    for (; *cells != 0; cells++) {
        const char *text = "";
        if (*cells == 's') {
            text = va_arg(values, const char *);
        } else {
            const double number = va_arg(values, double);
            text = isfinite(number) ? report_text(list->sheet->arena, "%.12g", number) : "";
        }
        put(list, text, is_heading, cells[1] == 0);
    }
    va_end(values);
}

static void put_spread(struct list *list, const struct report_panel *panel, const struct report_axis *x,
                       const struct report_slice *step, bool is_open)
{
    const struct report_spread *spread = is_open ? &step->open : &step->closed;
    const struct report_axis *y = &panel->y;
    if (spread->present) {
        put_row(list, false, "snnsnnnnn", panel->label, report_value_at(x, step->from) * x->unit,
                report_value_at(x, step->to) * x->unit, is_open ? "open" : "closed",
                report_value_at(y, spread->least), report_value_at(y, spread->p10),
                report_value_at(y, spread->p50), report_value_at(y, spread->p90),
                report_value_at(y, spread->most));
    }
}

static void list_bars(struct list *list, const struct report_chart *chart)
{
    bool has_steps = false;
    for (size_t i = 0; i < chart->panel_count; i++) {
        has_steps |= chart->panels[i].step_count > 0;
    }
    if (has_steps) {
        put_row(list, true, "sssssssss", "strategy", "from", "to", "state", "least", "p10", "median", "p90",
                "largest");
    } else {
        put_row(list, true, "sssss", "strategy", "from", "to", "state", "count");
    }
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->bar_count; k++) {
            const struct report_bar *bar = &panel->bars[k];
            put_row(list, false, "snnsn", panel->label, bar->first, bar->last, report_inks[bar->ink].name,
                    bar->count);
        }
        for (size_t k = 0; k < panel->step_count; k++) {
            put_spread(list, panel, &chart->x, &panel->steps[k], false);
            put_spread(list, panel, &chart->x, &panel->steps[k], true);
        }
    }
}

/* The key figures of panels, which may differ from panel to panel. */
static void list_panels(struct list *list, const struct report_chart *chart)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        put(list, panel->label, false, panel->figure_count == 0);
        for (size_t k = 0; k < panel->figure_count; k++) {
            const struct report_figure *figure = &panel->figures[k];
            put(list, report_text(list->sheet->arena, "%s %s", figure->name, figure->text), false,
                k + 1 == panel->figure_count);
        }
    }
}

static void list_table(struct list *list, const struct report_chart *chart)
{
    put(list, "strategy", true, false);
    for (size_t i = 0; i < chart->column_count; i++) {
        put(list, chart->columns[i].title, true, i + 1 == chart->column_count);
    }
    for (size_t row = 0; row < chart->row_count; row++) {
        put(list, chart->rows[row].label, false, false);
        for (size_t i = 0; i < chart->column_count; i++) {
            const struct report_cell *cell = &chart->columns[i].cells[row];
            const char *exact = report_text(list->sheet->arena, "%.12g", cell->value);
            put(list,
                !list->is_csv   ? cell->text
                : cell->present ? exact
                                : "",
                false, i + 1 == chart->column_count);
        }
    }
}

static void list_line(struct list *list, const char *panel, const struct report_line *line,
                      const struct report_axis *x, const struct report_axis *y)
{
    for (size_t i = 0; i < line->sample_count; i++) {
        if (list->is_csv || line->samples[i].hint != NULL) {
            put_row(list, false, "ssnn", line->label[0] != 0 ? line->label : "exact distribution", panel,
                    report_value_at(x, line->samples[i].x), report_value_at(y, line->samples[i].y));
        }
    }
}

static void list_lines(struct list *list, const struct report_chart *chart)
{
    put_row(list, true, "ssss", "line", "panel", chart->x.title,
            chart->panel_count > 0 ? chart->panels[0].y.title : chart->y.title);
    for (size_t i = 0; i < chart->line_count; i++) {
        list_line(list, "", &chart->lines[i], &chart->x, &chart->y);
    }
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->line_count; k++) {
            list_line(list, panel->label, &panel->lines[k], &chart->x, &panel->y);
        }
    }
}

static void list_spots(struct list *list, const struct report_chart *chart)
{
    put_row(list, true, "ssssss", "setting", chart->x.title, chart->y.title, "low", "high", "is");
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *spot = &chart->spots[i];
        put_row(list, false, "snnnns", spot->label, report_value_at(&chart->x, spot->x),
                report_value_at(&chart->y, spot->y), report_value_at(&chart->y, spot->low),
                report_value_at(&chart->y, spot->high),
                spot->is_chosen     ? "recommended"
                : spot->is_on_front ? "on the front"
                                    : "");
    }
}

static void list_lanes(struct list *list, const struct report_chart *chart)
{
    put_row(list, true, "sssss", "strategy", "agent", "from", "to", "state");
    for (size_t i = 0; i < chart->panel_count; i++) {
        for (size_t k = 0; k < chart->panels[i].lane_count; k++) {
            const struct report_lane *lane = &chart->panels[i].lanes[k];
            for (size_t n = 0; n < lane->span_count; n++) {
                put_row(list, false, "ssnns", chart->panels[i].label, lane->label, lane->spans[n].from,
                        lane->spans[n].to, report_inks[lane->spans[n].ink].name);
            }
        }
    }
}

/* In a table, the bars and lanes of a panel are represented by its key figures. */
static void list_figures(struct list *list, const struct report_chart *chart)
{
    switch (chart->form) {
    case REPORT_FORM_STACK:
        (list->is_csv ? list_bars : list_panels)(list, chart);
        break;
    case REPORT_FORM_LANES:
        (list->is_csv ? list_lanes : list_panels)(list, chart);
        break;
    case REPORT_FORM_TABLE:
        list_table(list, chart);
        break;
    case REPORT_FORM_CURVES:
        list_lines(list, chart);
        break;
    case REPORT_FORM_FRONT:
        list_spots(list, chart);
        break;
    case REPORT_FORM_SUMMARY:
        break;
    }
}

static void write_csv(struct report_sheet *sheet, const struct report_chart *chart)
{
    struct list list = {.sheet = sheet, .is_csv = true};
    const char *name = report_clean(sheet->arena, sheet->page->result->scenario_name);
    report_sheet_element(sheet, "p", "class", "csv", NULL);
    report_sheet_element(sheet, "a", "download", report_text(sheet->arena, "%s-%s.csv", name, chart->name),
                         NULL);
    report_sheet_note(sheet, xmlTextWriterStartAttribute(sheet->writer, (const xmlChar *)"href"));
    report_sheet_note(
        sheet, xmlTextWriterWriteString(sheet->writer, (const xmlChar *)"data:text/csv;charset=utf-8,"));
    list_figures(&list, chart);
    report_sheet_note(sheet, xmlTextWriterEndAttribute(sheet->writer));
    report_sheet_text(sheet, "The figures as CSV");
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

static void write_data(struct report_sheet *sheet, const struct report_chart *chart)
{
    struct list list = {.sheet = sheet};
    report_sheet_element(sheet, "details", "class", "data", NULL);
    report_sheet_summary(sheet, "The figures as a table", chart->title);
    report_sheet_element(sheet, "div", "class", "scroll", "tabindex", "0", "role", "region", "aria-label",
                         report_text(sheet->arena, "Figures: %s", chart->title), NULL);
    report_sheet_open(sheet, "table");
    list_figures(&list, chart);
    if (list.has_body) {
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

/* The width of a telephone's screen in CSS pixels. */
static const double narrow_width = 390;

/* Removes the hints of the narrow drawing. Its figures are in the table and in the CSV file, and a hint per
 * mark would double the size of the page. */
static void drop_hints(struct report_scene *scene)
{
    size_t kept = 0;
    for (size_t i = 0; i < scene->count; i++) {
        if (scene->marks[i].shape != REPORT_SHAPE_HIT) {
            scene->marks[kept] = scene->marks[i];
            scene->marks[kept++].hint = NULL;
        }
    }
    scene->count = kept;
}

/* Returns whether a chart is among the first ones of the page. On a page of a run, all are; on a page of
 * tune, which has many large charts, only those that explain its answer. */
static bool is_first(const struct report_sheet *sheet, const struct report_chart *chart)
{
    static const char *const first[] = {"tune-front", "survival-rows"};
    bool is_first = sheet->page->front == NULL;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        is_first |= strcmp(first[i], chart->name) == 0;
    }
    return is_first;
}

/* The title and the foot are part of the page and are not repeated in the drawing. Each chart is drawn twice,
 * for a screen and for a telephone; the style sheet displays one of them. */
static void write_chart(struct report_sheet *sheet, const struct report_chart *chart)
{
    const char *id = report_text(sheet->arena, "chart-%s", chart->name);
    struct report_chart bare = *chart;
    struct report_scene wide, narrow;
    bare.title = bare.subtitle = bare.foot = "";
    report_layout(&bare, REPORT_PAGE_WIDTH, sheet->typesetter, sheet->arena, &wide);
    report_layout(&bare, narrow_width, sheet->typesetter, sheet->arena, &narrow);
    drop_hints(&narrow);
    report_sheet_section(sheet, id, "chart", 3, chart->heading);
    report_sheet_element(sheet, "details", "class", "fold", NULL);
    if (is_first(sheet, chart)) {
        report_sheet_attribute(sheet, "open", "open");
    }
    report_sheet_summary(sheet, "Chart", chart->heading);
    report_sheet_open(sheet, "figure");
    report_page_svg(sheet, chart, &wide, report_text(sheet->arena, "%s-svg", id));
    report_page_svg(sheet, chart, &narrow, report_text(sheet->arena, "%s-narrow", id));
    report_sheet_close(sheet);
    write_csv(sheet, chart);
    report_sheet_element(sheet, "details", "class", "reading", NULL);
    report_sheet_summary(sheet, "How to read it", chart->heading);
    report_sheet_leaf(sheet, "p", chart->reading, NULL);
    report_sheet_close(sheet);
    write_data(sheet, chart);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
}

void report_page_charts(struct report_sheet *sheet)
{
    const struct report_page *page = sheet->page;
    const struct report_chart *left[REPORT_SUMMARY];
    size_t left_count = 0;
    report_sheet_section(sheet, "charts", "", 2, "Charts");
    report_page_svg_patterns(sheet);
    if (page->front != NULL) {
        struct report_chart front = {.name = "tune-front",
                                     .heading = "The settings that stay within the limits",
                                     .reading = "Each dot is a setting that was tried: the further left, the "
                                                "cheaper; the lower, the smaller its "
                                                "large partitions. No setting beats those on the line in "
                                                "both; the recommended one is the cheapest "
                                                "within the limits."};
        report_front_fill(page->front, sheet->arena, &front);
        write_chart(sheet, &front);
    }
    for (int kind = 0; kind < REPORT_SUMMARY; kind++) {
        const struct report_chart *chart =
            report_chart_make(page->result, (enum report_kind)kind, sheet->arena);
        if (chart->absent == NULL) {
            write_chart(sheet, chart);
        } else {
            left[left_count++] = chart;
        }
    }
    for (size_t i = 0; i < left_count; i++) {
        if (i == 0) {
            report_sheet_element(sheet, "ul", "class", "absent", NULL);
        }
        report_sheet_element(sheet, "li", "data-chart", left[i]->name, NULL);
        report_sheet_leaf(sheet, "span", left[i]->heading, NULL);
        report_sheet_text(sheet, report_text(sheet->arena, " is left out: %s.", left[i]->absent));
        report_sheet_close(sheet);
    }
    if (left_count > 0) {
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
}
