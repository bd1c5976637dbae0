/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart as text, one element per line, for tests and for people. */
#include "chart_dump.h"

#include <inttypes.h>

#include "reports/style.h"

static void dump_table(const struct report_chart *chart, FILE *out)
{
    for (size_t i = 0; i < chart->row_count; i++) {
        fprintf(out, "row '%s' '%s'\n", chart->rows[i].label, chart->rows[i].detail);
    }
    for (size_t i = 0; i < chart->column_count; i++) {
        const struct report_column *column = &chart->columns[i];
        fprintf(out, "column %s '%s' %s %.4g..%.4g\n", report_ink_name(column->ink), column->title,
                column->is_log ? "log" : "linear", column->low, column->high);
        for (size_t row = 0; row < chart->row_count; row++) {
            const struct report_cell *cell = &column->cells[row];
            if (!cell->present) {
                fprintf(out, "  - '%s'\n", cell->text);
            } else if (cell->has_mark) {
                fprintf(out, "  %.4g mark %.4g '%s'\n", cell->value, cell->mark, cell->text);
            } else {
                fprintf(out, "  %.4g '%s'\n", cell->value, cell->text);
            }
        }
    }
}

static void dump_axis(const char *name, const struct report_axis *axis, FILE *out)
{
    fprintf(out, "%s %s%.4g..%.4g '%s'", name, axis->has_zero ? "0, " : "", axis->low, axis->high,
            axis->title);
    for (size_t i = 0; i < axis->tick_count; i++) {
        if (axis->ticks[i].text[0] != 0) {
            fprintf(out, " %.4g='%s'", axis->ticks[i].at, axis->ticks[i].text);
        }
    }
    fputc('\n', out);
}

static void dump_line(const struct report_line *line, FILE *out)
{
    fprintf(out, "%s %s '%s'", line->is_distribution ? "distribution" : "line", report_ink_name(line->ink),
            line->label);
    for (size_t k = 0; k < line->sample_count; k++) {
        const struct report_sample *sample = &line->samples[k];
        fprintf(out, " %.4g,%.4g", sample->x, sample->y);
        if (sample->low < sample->high) {
            fprintf(out, "(%.4g..%.4g)", sample->low, sample->high);
        }
    }
    fputc('\n', out);
}

static void dump_lines(const struct report_chart *chart, FILE *out)
{
    dump_axis("x", &chart->x, out);
    dump_axis("y", &chart->y, out);
    for (size_t i = 0; i < chart->rule_count; i++) {
        fprintf(out, "rule %.4g '%s'\n", chart->rules[i].at, chart->rules[i].text);
    }
    for (size_t i = 0; i < chart->line_count; i++) {
        dump_line(&chart->lines[i], out);
    }
}

static void dump_spots(const struct report_chart *chart, FILE *out)
{
    dump_axis("x", &chart->x, out);
    dump_axis("y", &chart->y, out);
    for (size_t i = 0; i < chart->spot_count; i++) {
        const struct report_spot *spot = &chart->spots[i];
        fprintf(out, "spot %s'%s' %.4g,%.4g",
                spot->is_chosen     ? "chosen "
                : spot->is_on_front ? "front "
                                    : "",
                spot->label, spot->x, spot->y);
        if (spot->low < spot->high) {
            fprintf(out, "(%.4g..%.4g)", spot->low, spot->high);
        }
        fputc('\n', out);
    }
}

static void dump_grid(const struct report_grid *grid, FILE *out)
{
    dump_axis("scale", &grid->scale, out);
    fprintf(out, "columns '%s'", grid->x_title);
    for (size_t i = 0; i < grid->column_count; i++) {
        fprintf(out, " '%s'", grid->columns[i]);
    }
    fprintf(out, "\nrows '%s'\n", grid->y_title);
    for (size_t row = 0; row < grid->row_count; row++) {
        fprintf(out, "  '%s'", grid->rows[row]);
        for (size_t i = 0; i < grid->column_count; i++) {
            const struct report_tile *tile = &grid->tiles[row * grid->column_count + i];
            if (!tile->is_tried) {
                fputs(" -", out);
                continue;
            }
            fprintf(out, " %s%s%.3f='%s'", tile->is_chosen ? "chosen " : "", tile->holds ? "holds " : "",
                    tile->shade, tile->text);
        }
        fputc('\n', out);
    }
}

static void dump_steps(const struct report_panel *panel, FILE *out)
{
    for (size_t i = 0; i < panel->step_count; i++) {
        const struct report_slice *step = &panel->steps[i];
        const struct report_spread *both[] = {&step->closed, &step->open};
        fprintf(out, "  step %.6g..%.6g", step->from, step->to);
        for (size_t k = 0; k < 2; k++) {
            if (both[k]->present) {
                fprintf(out, " %s %.3f %.3f %.3f %.3f %.3f", k == 0 ? "closed" : "open", both[k]->least,
                        both[k]->p10, both[k]->p50, both[k]->p90, both[k]->most);
            }
        }
        fputc('\n', out);
    }
}

static void dump_lanes(const struct report_panel *panel, FILE *out)
{
    for (size_t i = 0; i < panel->moment_count; i++) {
        fprintf(out, "  moment %.4g '%s'\n", panel->moments[i].at, panel->moments[i].text);
    }
    for (size_t i = 0; i < panel->stage_count; i++) {
        fprintf(out, "  stage %.4g..%.4g '%s'\n", panel->stages[i].from, panel->stages[i].to,
                panel->stages[i].text);
    }
    for (size_t i = 0; i < panel->lane_count; i++) {
        const struct report_lane *lane = &panel->lanes[i];
        fprintf(out, "  lane '%s'", lane->label);
        for (size_t k = 0; k < lane->span_count; k++) {
            fprintf(out, " %s %.4g..%.4g", report_ink_name(lane->spans[k].ink), lane->spans[k].from,
                    lane->spans[k].to);
        }
        fputc('\n', out);
    }
}

static void dump_panel(const struct report_panel *panel, bool has_lanes, FILE *out)
{
    fprintf(out, "panel %s'%s' '%s' '%s'\n", panel->is_chosen ? "chosen " : "", panel->label, panel->detail,
            panel->note);
    dump_axis(has_lanes ? "  x" : "  y", has_lanes ? &panel->x : &panel->y, out);
    for (size_t i = 0; i < panel->band_count; i++) {
        fprintf(out, "  band %s%s %.4g..%.4g\n", panel->bands[i].is_level ? "level " : "",
                report_ink_name(panel->bands[i].ink), panel->bands[i].from, panel->bands[i].to);
    }
    for (size_t i = 0; i < panel->bar_count; i++) {
        const struct report_bar *bar = &panel->bars[i];
        fprintf(out, "  bar %s %.4f..%.4f %.4g..%.4g\n", report_ink_name(bar->ink), bar->from, bar->to,
                bar->low, bar->high);
    }
    if (panel->curve_count > 0) {
        double top = 0;
        double at = 0;
        for (size_t i = 0; i < panel->curve_count; i++) {
            if (panel->curve[i].y > top) {
                top = panel->curve[i].y;
                at = panel->curve[i].x;
            }
        }
        fprintf(out, "  curve distribution %.4f..%.4f top %.4g at %.4f\n", panel->curve[0].x,
                panel->curve[panel->curve_count - 1].x, top, at);
    }
    dump_steps(panel, out);
    dump_lanes(panel, out);
    for (size_t i = 0; i < panel->line_count; i++) {
        fputs("  ", out);
        dump_line(&panel->lines[i], out);
    }
    for (size_t i = 0; i < panel->figure_count; i++) {
        fprintf(out, "  figure '%s' %s%s\n", panel->figures[i].name, panel->figures[i].text,
                panel->figures[i].is_alarm ? " !" : "");
    }
}

void report_chart_dump(const struct report_chart *chart, FILE *out)
{
    if (chart->absent != NULL) {
        fprintf(out, "absent %s\n", chart->absent);
        return;
    }
    fprintf(out, "chart %s\ntitle %s\nsubtitle %s\nfoot %s\nstart %" PRId64 "\n", chart->name, chart->title,
            chart->subtitle, chart->foot, chart->start_ns);
    for (size_t i = 0; i < chart->legend_count; i++) {
        fprintf(out, "legend %s %s\n", report_ink_name(chart->legend[i].ink), chart->legend[i].text);
    }
    if (chart->note != NULL) {
        fprintf(out, "note %s\n", chart->note);
    }
    if (chart->form == REPORT_FORM_TABLE) {
        dump_table(chart, out);
        return;
    }
    if (chart->form == REPORT_FORM_CURVES && chart->panel_count == 0) {
        dump_lines(chart, out);
        return;
    }
    if (chart->form == REPORT_FORM_FRONT) {
        dump_spots(chart, out);
        return;
    }
    if (chart->form == REPORT_FORM_HEATMAP) {
        dump_grid(&chart->grid, out);
        return;
    }
    for (size_t i = 0; i < chart->sentence_count; i++) {
        fprintf(out, "sentence %s\n", chart->sentences[i]);
    }
    const bool has_lanes = chart->form == REPORT_FORM_LANES;
    if (!has_lanes) {
        dump_axis("x", &chart->x, out);
    }
    for (size_t i = 0; i < chart->panel_count; i++) {
        dump_panel(&chart->panels[i], has_lanes, out);
    }
}

static void dump_hint(const char *hint, FILE *out)
{
    if (hint != NULL) {
        fprintf(out, "hint %s\n", hint);
    }
}

void report_chart_dump_hints(const struct report_chart *chart, FILE *out)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        fprintf(out, "panel '%s'\n", panel->label);
        for (size_t k = 0; k < panel->bar_count; k++) {
            dump_hint(panel->bars[k].hint, out);
        }
        for (size_t k = 0; k < panel->step_count; k++) {
            dump_hint(panel->steps[k].hint, out);
        }
        for (size_t k = 0; k < panel->lane_count; k++) {
            for (size_t m = 0; m < panel->lanes[k].span_count; m++) {
                dump_hint(panel->lanes[k].spans[m].hint, out);
            }
        }
        for (size_t k = 0; k < panel->line_count; k++) {
            for (size_t m = 0; m < panel->lines[k].sample_count; m++) {
                dump_hint(panel->lines[k].samples[m].hint, out);
            }
        }
    }
    for (size_t i = 0; i < chart->column_count; i++) {
        for (size_t row = 0; row < chart->row_count; row++) {
            dump_hint(chart->columns[i].cells[row].hint, out);
        }
    }
    for (size_t i = 0; i < chart->line_count; i++) {
        for (size_t k = 0; k < chart->lines[i].sample_count; k++) {
            dump_hint(chart->lines[i].samples[k].hint, out);
        }
    }
    for (size_t i = 0; i < chart->spot_count; i++) {
        dump_hint(chart->spots[i].hint, out);
    }
    for (size_t i = 0; i < chart->grid.column_count * chart->grid.row_count; i++) {
        dump_hint(chart->grid.tiles[i].hint, out);
    }
}
