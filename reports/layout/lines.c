/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of lines. In: a chart of lines over a common x axis, or one with a panel of lines per operation.
 * Out: the key, with the name of every line, and below it one plot per panel. All plots have the same scale
 * of x, so that a panel is as wide as its longest line. Vertical rules have their names above the plot, and
 * in the key where there is no room. */
#include "pen.h"

static const double left_min = 60;
static const double panel_gap = 13;
/* The least width of a panel, even if its lines end early. */
static const double width_min = 120;
/* The distance of the markers of a line that is dense. */
static const double marker_gap = 96;
static const double marker_stagger = 37;

/* Adds one entry per colour, and the rules without a name above the plot. */
static void put_key(const struct report_chart *chart, const struct report_rules *rules,
                    struct report_pen *pen)
{
    struct report_legend entries[REPORT_CURVES_MAX + REPORT_MOMENTS_MAX];
    bool is_named[REPORT_INK_COUNT] = {false};
    size_t count = 0;
    for (int ink = REPORT_INK_LINE; ink <= REPORT_INK_LINE_LAST; ink++) {
        for (size_t i = 0; i < chart->panel_count; i++) {
            for (size_t k = 0; k < chart->panels[i].line_count; k++) {
                const struct report_line *line = &chart->panels[i].lines[k];
                if ((int)line->ink == ink && !is_named[ink] && line->label[0] != 0) {
                    is_named[ink] = true;
                    entries[count++] = (struct report_legend){line->ink, line->label};
                }
            }
        }
    }
    for (size_t i = 0; i < rules->count; i++) {
        if (rules->items[i].width == 0 && chart->rules[i].text[0] != 0)
            entries[count++] = (struct report_legend){REPORT_INK_TEXT, chart->rules[i].text};
    }
    report_pen_legend(pen, entries, count, REPORT_FONT_LEGEND);
}

/* A line of a panel. */
struct path {
    const struct report_line *line;
    const struct report_frame *frame;
    size_t index;
    double offset; /* by which its ranges are shifted, because lines often have samples at the same x */
};

static struct report_point place_of(const struct path *path, size_t sample)
{
    return (struct report_point){report_frame_x(path->frame, path->line->samples[sample].x),
                                 report_frame_y(path->frame, path->line->samples[sample].y)};
}

/* Draws the ranges of a line's samples. Short ones are not shifted. */
static void put_ranges(const struct path *path, struct report_pen *pen)
{
    static const double short_range = 3 * REPORT_MARKER_SIZE;
    for (size_t i = 0; i < path->line->sample_count; i++) {
        const struct report_sample *sample = &path->line->samples[i];
        if (!(sample->low < sample->high))
            continue;
        const double ends[] = {report_frame_y(path->frame, sample->low),
                               report_frame_y(path->frame, sample->high)};
        const double x =
            report_frame_x(path->frame, sample->x) + (ends[0] - ends[1] > short_range ? path->offset : 0);
        report_pen_range(pen, path->line->ink, x, ends[1], ends[0]);
    }
}

static void put_line(const struct path *path, struct report_pen *pen)
{
    const struct report_line *line = path->line;
    if (line->is_points || line->sample_count < 2)
        return;
    struct report_point *points = report_take(pen->scene->arena, line->sample_count, sizeof *points);
    for (size_t i = 0; i < line->sample_count; i++)
        points[i] = place_of(path, i);
    struct report_mark *mark = report_pen_curve(pen, line->ink, &path->frame->box, points, line->sample_count,
                                                line->is_distribution ? 1.4 : 1.8);
    mark->is_distribution = line->is_distribution;
}

/* The length in pixels of the level start of a line. Many lines coincide there, so that a marker would not
 * distinguish them. */
static double level_of(const struct path *path)
{
    const struct report_line *line = path->line;
    const double foot = line->samples[0].y - 0.01 * (path->frame->y->high - path->frame->y->low);
    size_t last = 0;
    while (last + 1 < line->sample_count && line->samples[last + 1].y > foot)
        last++;
    return last + 1 < line->sample_count ? place_of(path, last).x - place_of(path, 0).x : 0;
}

/* Puts markers at equal distances along a dense line. They are staggered by line, so that those of coinciding
 * lines are all visible. */
static void put_stations(const struct path *path, struct report_pen *pen)
{
    double next = level_of(path) + fmod(marker_gap / 3 + marker_stagger * (double)path->index, marker_gap);
    double length = 0;
    for (size_t i = 1; i < path->line->sample_count; i++) {
        const struct report_point from = place_of(path, i - 1), to = place_of(path, i);
        const double part = sqrt((to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y));
        for (; part > 0 && next <= length + part; next += marker_gap) {
            const double share = (next - length) / part;
            report_pen_marker(pen, path->line->ink, from.x + share * (to.x - from.x),
                              from.y + share * (to.y - from.y), REPORT_MARKER_SIZE);
        }
        length += part;
    }
}

static void put_markers(const struct path *path, struct report_pen *pen)
{
    const struct report_line *line = path->line;
    if (!line->is_points && !line->is_distribution)
        put_stations(path, pen);
    for (size_t i = 0; i < line->sample_count; i++) {
        const struct report_point at = place_of(path, i);
        if ((line->is_points || i + 1 == line->sample_count) && !line->is_distribution)
            report_pen_marker(pen, line->ink, at.x, at.y, REPORT_MARKER_SIZE);
        if (line->samples[i].hint != NULL)
            report_pen_mark(pen, REPORT_SHAPE_HIT, line->ink, (struct report_box){at.x, at.y, 0, 0})->hint =
                line->samples[i].hint;
    }
}

static void put_lines(const struct report_frame *frame, const struct report_panel *panel,
                      struct report_pen *pen)
{
    static void (*const layers[])(const struct path *, struct report_pen *) = {put_ranges, put_line,
                                                                               put_markers};
    static const double pitch = 2;
    for (size_t layer = 0; layer < sizeof layers / sizeof layers[0]; layer++) {
        for (size_t i = 0; i < panel->line_count; i++) {
            const struct path path = {&panel->lines[i], frame, i,
                                      pitch * ((double)i - (double)(panel->line_count - 1) / 2)};
            layers[layer](&path, pen);
        }
    }
}

/* Of several panels, each ends where its longest line ends. */
static void measure(const struct report_panel *panel, struct report_axis *x, struct report_frame *frame)
{
    double end = x->low;
    for (size_t i = 0; i < panel->line_count; i++)
        end = fmax(end, panel->lines[i].samples[panel->lines[i].sample_count - 1].x);
    const double scale = (frame->box.width - 2 * frame->inset) / (x->high - x->low);
    const double width = fmax(width_min, 2 * frame->inset + ceil((end - x->low) * scale));
    if (width < frame->box.width) {
        frame->box.width = width;
        x->high = x->low + (width - 2 * frame->inset) / scale;
    }
}

void report_layout_lines(const struct report_chart *chart, struct report_pen *pen)
{
    static const double heights[] = {REPORT_CURVES_HEIGHT, 220, 180};
    const struct report_panel *panels = chart->panels;
    const size_t count = chart->panel_count;
    struct report_frame page = {.x = &chart->x, .inset = REPORT_SIDE_INSET};
    page.box.x = left_min;
    for (size_t i = 0; i < count; i++)
        page.box.x = fmax(page.box.x, ceil(REPORT_PAGE_MARGIN + report_frame_numbers(&panels[i].y, pen)));
    page.box.width = floor(report_pen_right(pen)) - page.box.x;
    struct report_rules rules;
    report_rules_place(&rules, chart->rules, chart->rule_count, &page, pen);
    put_key(chart, &rules, pen);
    for (size_t i = 0; i < count; i++) {
        struct report_axis x = chart->x;
        struct report_frame frame = page;
        frame.x = &x;
        frame.y = &panels[i].y;
        if (panels[i].label[0] != 0) {
            pen->y += panel_gap;
            report_pen_head(pen, &panels[i], page.box.x, report_pen_right(pen));
            measure(&panels[i], &x, &frame);
        }
        report_pen_paragraph(pen, panels[i].y.title, REPORT_FONT_TICK, 1);
        const double top = pen->y + 4;
        report_frame_place(&frame, top + report_rules_height(&rules, pen) + 4,
                           heights[count < 3 ? count - 1 : 2]);
        report_frame_y_axis(&frame, pen);
        report_frame_x_axis(&frame, REPORT_FONT_TICK, true, true, pen);
        report_rules_put(&rules, chart->rules, &frame, top, pen);
        put_lines(&frame, &panels[i], pen);
    }
    report_frame_x_title(&page, chart->x.title, pen);
}
