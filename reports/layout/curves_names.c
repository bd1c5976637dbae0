/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places the names of lines and of vertical rules around a plot. The names of rules are placed by
 * backtracking over the rows and over both sides of each stem. */
#include "plot.h"

#include <math.h>

/* A name right of the plot consists of a leader from the line's end, the line's marker and the text. Widths
 * in pixels. */
static const double name_width_max = 210;
static const double leader_width = 14;
static const double marker_width = 14;
/* A line that ends before this share of the x axis would be too far from a name right of the plot. */
static const double end_share_min = 0.85;
static const double rule_gap = 8;
static const double flag_gap = 3;

double report_curves_names_width(const struct report_chart *chart, struct report_pen *pen)
{
    double width = 0;
    if (chart->names_along) {
        return 0;
    }
    for (size_t i = 0; i < chart->line_count; i++) {
        const struct report_line *line = &chart->lines[i];
        const double end = line->samples[line->sample_count - 1].x;
        const double share = (end - chart->x.low) / (chart->x.high - chart->x.low);
        width = fmax(width, report_pen_width(pen, line->label, REPORT_FONT_LEGEND));
        if (width > name_width_max || !(share >= end_share_min)) {
            return 0;
        }
    }
    return leader_width + marker_width + width;
}

void report_curves_put_names(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_chart *chart = plot->chart;
    struct report_point ends[REPORT_CURVES_MAX];
    for (size_t i = 0; i < chart->line_count; i++) {
        const struct report_sample *last = &chart->lines[i].samples[chart->lines[i].sample_count - 1];
        ends[i] = (struct report_point){report_curves_x(plot, last->x), report_curves_y(plot, i, last->y)};
    }
    report_pen_line_names(pen, &(struct report_line_names){
                                   .lines = chart->lines,
                                   .ends = ends,
                                   .count = chart->line_count,
                                   .box = plot->box,
                                   .x = plot->box.x + plot->box.width + leader_width,
                                   .marker_width = marker_width,
                                   .far_leader = HUGE_VAL,
                               });
}

void report_curves_put_key(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_chart *chart = plot->chart;
    struct report_legend entries[REPORT_CURVES_MAX + REPORT_RULES_MAX];
    size_t count = 0;
    for (size_t i = 0; !plot->has_names && i < chart->line_count; i++) {
        if (!chart->lines[i].is_distribution && !plot->is_named[i]) {
            entries[count++] = (struct report_legend){chart->lines[i].ink, chart->lines[i].label};
        }
    }
    for (size_t i = 0; i < chart->rule_count; i++) {
        if (plot->rules[i].is_in_key) {
            entries[count++] = (struct report_legend){REPORT_INK_TEXT, chart->rules[i].text};
        }
    }
    report_pen_legend(pen, entries, count);
}

static bool crosses(const struct report_rule_place *name, double stem)
{
    return stem > name->x - flag_gap + 1 && stem < name->x + name->width + flag_gap - 1;
}

/* True if neither the name nor its stem down to the plot touches the names and stems of earlier rules. */
static bool is_free(const struct report_curves_plot *plot, size_t index, double stem)
{
    const struct report_rule_place *place = &plot->rules[index];
    if (place->x < REPORT_PAGE_MARGIN || place->x + place->width > plot->right) {
        return false;
    }
    for (size_t i = 0; i < index; i++) {
        const struct report_rule_place *other = &plot->rules[i];
        if (other->width == 0) {
            continue;
        }
        const double other_stem = report_curves_x(plot, plot->chart->rules[i].at);
        const bool is_beside =
            place->x + place->width + rule_gap <= other->x || other->x + other->width + rule_gap <= place->x;
        if ((place->row == other->row && !is_beside) ||
            (place->row <= other->row && crosses(place, other_stem)) ||
            (place->row >= other->row && crosses(other, stem))) {
            return false;
        }
    }
    return true;
}

/* Places the names of the rules from `index` on, each of them left or right of its stem and in any of the
 * rows. Returns false when no combination fits. */
static bool place_from(struct report_curves_plot *plot, size_t index)
{
    if (index == plot->chart->rule_count) {
        return true;
    }
    struct report_rule_place *place = &plot->rules[index];
    if (place->width == 0) {
        return place_from(plot, index + 1);
    }
    const double stem = report_curves_x(plot, plot->chart->rules[index].at);
    for (place->row = 0; place->row < plot->rule_rows; place->row++) {
        const double lefts[] = {stem + flag_gap, stem - flag_gap - place->width};
        for (size_t side = 0; side < 2; side++) {
            place->x = lefts[side];
            if (is_free(plot, index, stem) && place_from(plot, index + 1)) {
                return true;
            }
        }
    }
    return false;
}

/* Uses as few rows as possible. If the names do not fit in any number of rows, all of them go to the key. */
void report_curves_place_rules(struct report_curves_plot *plot, struct report_pen *pen)
{
    const size_t count = plot->chart->rule_count;
    plot->right = report_pen_right(pen);
    for (size_t i = 0; i < count; i++) {
        plot->rules[i].width = report_pen_width(pen, plot->chart->rules[i].text, REPORT_FONT_STAGE);
        plot->rule_rows += plot->rules[i].width > 0;
    }
    const size_t rows_max = plot->rule_rows;
    for (plot->rule_rows = 0; plot->rule_rows <= rows_max; plot->rule_rows++) {
        if (place_from(plot, 0)) {
            return;
        }
    }
    plot->rule_rows = 0;
    for (size_t i = 0; i < count; i++) {
        plot->rules[i].is_in_key = plot->rules[i].width > 0;
    }
}

void report_curves_put_rules(const struct report_curves_plot *plot, struct report_pen *pen)
{
    const struct report_chart *chart = plot->chart;
    const double bottom = plot->box.y + plot->box.height;
    for (size_t i = 0; i < chart->rule_count; i++) {
        const struct report_rule_place *place = &plot->rules[i];
        const double x = report_snap(report_curves_x(plot, chart->rules[i].at));
        double top = plot->box.y;
        if (!place->is_in_key && place->width > 0) {
            top = plot->names_top + plot->names_line * (double)(plot->rule_rows - 1 - place->row);
            const struct report_type type = {
                .text = chart->rules[i].text, .font = REPORT_FONT_STAGE, .lines = 1};
            report_pen_text(pen, &type, REPORT_LEFT, place->x, top);
        }
        report_pen_line(pen, REPORT_SHAPE_DASHED, REPORT_INK_TEXT, x, top, x, bottom, 1);
    }
}
