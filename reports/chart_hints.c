/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "chart.h"

static void dump(const char *hint, FILE *out);

void report_chart_dump_hints(const struct report_chart *chart, FILE *out)
{
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        fprintf(out, "panel '%s'\n", panel->label);
        for (size_t k = 0; k < panel->bar_count; k++) {
            dump(panel->bars[k].hint, out);
        }
        for (size_t k = 0; k < panel->step_count; k++) {
            dump(panel->steps[k].hint, out);
        }
        for (size_t k = 0; k < panel->lane_count; k++) {
            for (size_t m = 0; m < panel->lanes[k].span_count; m++) {
                dump(panel->lanes[k].spans[m].hint, out);
            }
        }
        for (size_t k = 0; k < panel->line_count; k++) {
            for (size_t m = 0; m < panel->lines[k].sample_count; m++) {
                dump(panel->lines[k].samples[m].hint, out);
            }
        }
    }
    for (size_t i = 0; i < chart->column_count; i++) {
        for (size_t row = 0; row < chart->row_count; row++) {
            dump(chart->columns[i].cells[row].hint, out);
        }
    }
    for (size_t i = 0; i < chart->line_count; i++) {
        for (size_t k = 0; k < chart->lines[i].sample_count; k++) {
            dump(chart->lines[i].samples[k].hint, out);
        }
    }
    for (size_t i = 0; i < chart->spot_count; i++) {
        dump(chart->spots[i].hint, out);
    }
    for (size_t i = 0; i < chart->grid.column_count * chart->grid.row_count; i++) {
        dump(chart->grid.tiles[i].hint, out);
    }
}

static void dump(const char *hint, FILE *out)
{
    if (hint != NULL) {
        fprintf(out, "hint %s\n", hint);
    }
}
