/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The charts of a page. In: a result, and the front of tune. Out: each chart under a heading,
 * for a screen and for a telephone, with a sentence on how to read it and its figures; and a line for each
 * chart that is left out. */

#include "reports/page.h"
#include "reports/scale.h"
#include "sheet.h"

static const struct {
    const char *chart, *reading;
} readings[] = {
    {"partitions-rows",
     "Each strip is one strategy; the further right a bar stands, the more rows its partitions have, and the "
     "higher it is, the more partitions there are of that size. Hatched partitions are still open and will "
     "grow. "
     "The "
     "black line is what the exact distribution predicts; beyond the dashed line partitions exceed the "
     "limit."},
    {"partitions-bytes",
     "The same partitions, by their bytes on disk. Rows of unequal size make this distribution wider than "
     "that of rows: a partition of few rows can exceed a limit in bytes."},
    {"survival-rows", "One line per strategy: its height at a size is the share of partitions that are "
                      "larger. Where it crosses the limit, its height is the share over the limit; a line "
                      "that ends to the left stays within the limit. A vertical drop means that all "
                      "partitions have the same size. Dashed lines are the exact distributions."},
    {"survival-bytes",
     "The same partitions by their bytes on disk: how large the largest are, and how few they are."},
    {"timeline", "Each strip is one strategy, from left to right in time: a column is the partitions that "
                 "began in it, at their final sizes. A level line means that the load does not change their "
                 "sizes; the dark part spans the middle 80%, the pale part all. Hatched partitions are still "
                 "open, and small because they are young."},
    {"reads", "Each strip is one strategy; a bar at 3 is the share of reads that had to query three "
              "partitions. Further left is better: each partition is a separate request, and the slowest one "
              "decides how long the read takes."},
    {"costs", "One row per strategy, one column per cost; shorter bars are better. Where a heading says log "
              "scale, each "
              "step "
              "to the right is a multiple: compare the numbers, not the lengths. The tick next to a bar "
              "marks the 99th percentile."},
    {"nodes", "Each strip is one strategy, each bar one node with all of its data, replicas included; the "
              "line marks an even load. A bar far above the line is a node that got the few huge partitions; "
              "many small partitions spread evenly."},
    {"latency", "One panel per operation, one line per strategy: its height at 99% is the time within which "
                "99 of 100 operations were done. Each nine takes the same width, so the slowest few, which "
                "users remember, are not squeezed into the edge. Lower is better; where two lines diverge, "
                "one strategy waits for something that the other does not need."},
    {"bucket-changes",
     "Each lane is one agent, from left to right in time, coloured by the bucket that it believes the key to "
     "be in. Where lanes have different colours at one time, agents disagree, and rows may land in "
     "two partitions at once."},
    {"tune-front", "Each dot is a setting that was tried: the further left, the cheaper; the lower, the "
                   "smaller its large partitions. No setting beats those on the line in both; the "
                   "recommended one is the cheapest within the limits."},
};

const char *report_page_reading(const char *chart_name)
{
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        if (strcmp(readings[i].chart, chart_name) == 0) {
            return readings[i].reading;
        }
    }
    return NULL;
}

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
            report_sheet_note(sheet, xmlTextWriterWriteString(sheet->writer, (const xmlChar *)out));
            used = 0;
        }
    }
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

/* A column: a text, or a number, which is not written if it is not finite. */
struct cell {
    const char *text;
    double number;
};

static void put_row(struct list *list, const struct cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = cells[i].text != NULL ? cells[i].text
                           : isfinite(cells[i].number)
                               ? report_text(list->sheet->arena, "%.12g", cells[i].number)
                               : "";
        put(list, text, false, i + 1 == count);
    }
}

static void put_names(struct list *list, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(list, names[i], true, i + 1 == count);
    }
}

static void put_spread(struct list *list, const struct report_panel *panel, const struct report_axis *x,
                       const struct report_slice *step, bool is_open)
{
    const struct report_spread *spread = is_open ? &step->open : &step->closed;
    const double values[] = {spread->least, spread->p10, spread->p50, spread->p90, spread->most};
    struct cell cells[9] = {{panel->label, 0},
                            {NULL, report_value_at(x, step->from) * x->unit},
                            {NULL, report_value_at(x, step->to) * x->unit},
                            {is_open ? "open" : "closed", 0}};
    for (size_t i = 0; i < 5; i++) {
        cells[4 + i].number = report_value_at(&panel->y, values[i]);
    }
    if (spread->present) {
        put_row(list, cells, 9);
    }
}

static void list_bars(struct list *list, const struct report_chart *chart)
{
    static const char *const bars[] = {"strategy", "from", "to", "state", "count"};
    static const char *const steps[] = {"strategy", "from",   "to",  "state",  "least",
                                        "p10",      "median", "p90", "largest"};
    bool has_steps = false;
    for (size_t i = 0; i < chart->panel_count; i++) {
        has_steps |= chart->panels[i].step_count > 0;
    }
    put_names(list, has_steps ? steps : bars, has_steps ? 9 : 5);
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->bar_count; k++) {
            const struct report_bar *bar = &panel->bars[k];
            const struct cell cells[] = {{panel->label, 0},
                                         {NULL, bar->first},
                                         {NULL, bar->last},
                                         {report_ink_name(bar->ink), 0},
                                         {NULL, bar->count}};
            put_row(list, cells, 5);
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
        const struct cell cells[] = {{line->label[0] != 0 ? line->label : "exact distribution", 0},
                                     {panel, 0},
                                     {NULL, report_value_at(x, line->samples[i].x)},
                                     {NULL, report_value_at(y, line->samples[i].y)}};
        if (list->is_csv || line->samples[i].hint != NULL) {
            put_row(list, cells, 4);
        }
    }
}

static void list_lines(struct list *list, const struct report_chart *chart)
{
    const char *const names[] = {"line", "panel", chart->x.title,
                                 chart->panel_count > 0 ? chart->panels[0].y.title : chart->y.title};
    put_names(list, names, 4);
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
    const char *const names[] = {"setting", chart->x.title, chart->y.title, "low", "high", "is"};
    put_names(list, names, 6);
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *spot = &chart->spots[i];
        const struct cell cells[] = {{spot->label, 0},
                                     {NULL, report_value_at(&chart->x, spot->x)},
                                     {NULL, report_value_at(&chart->y, spot->y)},
                                     {NULL, report_value_at(&chart->y, spot->low)},
                                     {NULL, report_value_at(&chart->y, spot->high)},
                                     {spot->is_chosen     ? "recommended"
                                      : spot->is_on_front ? "on the front"
                                                          : "",
                                      0}};
        put_row(list, cells, 6);
    }
}

static void list_lanes(struct list *list, const struct report_chart *chart)
{
    static const char *const names[] = {"strategy", "agent", "from", "to", "state"};
    put_names(list, names, 5);
    for (size_t i = 0; i < chart->panel_count; i++) {
        for (size_t k = 0; k < chart->panels[i].lane_count; k++) {
            const struct report_lane *lane = &chart->panels[i].lanes[k];
            for (size_t n = 0; n < lane->span_count; n++) {
                const struct cell cells[] = {{chart->panels[i].label, 0},
                                             {lane->label, 0},
                                             {NULL, lane->spans[n].from},
                                             {NULL, lane->spans[n].to},
                                             {report_ink_name(lane->spans[n].ink), 0}};
                put_row(list, cells, 5);
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

/* The charts of a page: that of tune, and then those of the result. */
enum source { FROM_FRONT, FROM_RESULT, SOURCE_COUNT = FROM_RESULT + REPORT_SUMMARY };

static bool make(const struct report_sheet *sheet, int source, struct report_arena *arena,
                 struct report_chart **out, struct sim_error *error)
{
    const struct report_page *page = sheet->page;
    if (source >= FROM_RESULT) {
        return report_chart_make(page->result, (enum report_kind)(source - FROM_RESULT), arena, out, error);
    }
    *out = report_take(arena, 1, sizeof **out);
    if (*out != NULL) {
        (*out)->name = "tune-front";
        report_front_fill(page->front, arena, *out);
    }
    return arena->out_of_memory ? sim_fail_memory(error) : true;
}

/* Returns the heading of the chart without the scenario, which the page's heading names. */
static const char *heading_of(const struct report_sheet *sheet, const struct report_chart *chart)
{
    const char *name = report_clean(sheet->arena, sheet->page->result->scenario_name);
    const char *after = report_text(sheet->arena, ": %s", name);
    const char *before = report_text(sheet->arena, "%s: ", name);
    size_t length = strlen(chart->title);
    if (length > strlen(after) && strcmp(chart->title + length - strlen(after), after) == 0) {
        return report_text(sheet->arena, "%.*s", (int)(length - strlen(after)), chart->title);
    }
    if (length > strlen(before) && strncmp(chart->title, before, strlen(before)) == 0) {
        const char *rest = chart->title + strlen(before);
        char first = *rest >= 'a' && *rest <= 'z' ? (char)(*rest - 'a' + 'A') : *rest;
        return report_text(sheet->arena, "%c%s", first, rest + 1);
    }
    return chart->title;
}

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
static bool write_chart(struct report_sheet *sheet, const struct report_chart *chart,
                        struct report_arena *arena, struct sim_error *error)
{
    const char *id = report_text(sheet->arena, "chart-%s", chart->name);
    const char *reading = report_page_reading(chart->name);
    struct report_chart bare = *chart;
    struct report_scene wide, narrow;
    bare.title = bare.subtitle = bare.foot = "";
    if (!report_layout(&bare, REPORT_PAGE_WIDTH, sheet->typesetter, arena, &wide, error) ||
        !report_layout(&bare, narrow_width, sheet->typesetter, arena, &narrow, error)) {
        return false;
    }
    drop_hints(&narrow);
    report_sheet_section(sheet, id, "chart", 3, heading_of(sheet, chart));
    report_sheet_element(sheet, "details", "class", "fold", NULL);
    if (is_first(sheet, chart)) {
        report_sheet_attribute(sheet, "open", "open");
    }
    report_sheet_summary(sheet, "Chart", heading_of(sheet, chart));
    report_sheet_open(sheet, "figure");
    report_page_svg(sheet, chart, &wide, report_text(sheet->arena, "%s-svg", id));
    report_page_svg(sheet, chart, &narrow, report_text(sheet->arena, "%s-narrow", id));
    report_sheet_close(sheet);
    write_csv(sheet, chart);
    if (reading != NULL) {
        report_sheet_element(sheet, "details", "class", "reading", NULL);
        report_sheet_summary(sheet, "How to read it", heading_of(sheet, chart));
        report_sheet_leaf(sheet, "p", reading, NULL);
        report_sheet_close(sheet);
    }
    write_data(sheet, chart);
    report_sheet_close(sheet);
    report_sheet_close(sheet);
    return arena->out_of_memory ? sim_fail_memory(error) : true;
}

/* Writes the chart. If it has nothing to show, sets the name, title and reason in *left instead; the texts
 * are in the sheet's arena. */
static bool write_source(struct report_sheet *sheet, int source, struct report_chart *left,
                         struct sim_error *error)
{
    struct report_arena arena;
    report_arena_init(&arena);
    struct report_chart *chart;
    bool ok = make(sheet, source, &arena, &chart, error);
    if (ok && chart->absent != NULL) {
        left->name = report_text(sheet->arena, "%s", chart->name);
        left->title = report_text(sheet->arena, "%s", heading_of(sheet, chart));
        left->absent = report_text(sheet->arena, "%s", chart->absent);
    } else if (ok) {
        ok = write_chart(sheet, chart, &arena, error);
    }
    report_arena_free(&arena);
    return ok;
}

static void write_absent(struct report_sheet *sheet, const struct report_chart *left, size_t count)
{
    if (count == 0) {
        return;
    }
    report_sheet_element(sheet, "ul", "class", "absent", NULL);
    for (size_t i = 0; i < count; i++) {
        report_sheet_element(sheet, "li", "data-chart", left[i].name, NULL);
        report_sheet_leaf(sheet, "span", left[i].title, NULL);
        report_sheet_text(sheet, report_text(sheet->arena, " is left out: %s.", left[i].absent));
        report_sheet_close(sheet);
    }
    report_sheet_close(sheet);
}

bool report_page_charts(struct report_sheet *sheet, struct sim_error *error)
{
    const struct report_page *page = sheet->page;
    struct report_chart left[SOURCE_COUNT] = {{.absent = NULL}};
    size_t absent = 0;
    report_sheet_section(sheet, "charts", "", 2, "Charts");
    report_page_svg_patterns(sheet);
    for (int source = page->front == NULL ? FROM_RESULT : 0; source < SOURCE_COUNT; source++) {
        if (!write_source(sheet, source, &left[absent], error)) {
            return false;
        }
        absent += left[absent].absent != NULL;
    }
    write_absent(sheet, left, absent);
    report_sheet_close(sheet);
    return true;
}
