/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as text, one element per line; the typesetter that a group of tests shares; checks that apply to the
 * scene of every chart: each mark is on the page, and none crosses a text; and every chart of a page. */
#define _POSIX_C_SOURCE 200809L
#include "fixture.h"

#include <inttypes.h>

#include <glib.h>

static void dump_table(const struct report_chart *chart, FILE *out)
{
    for (size_t i = 0; i < chart->row_count; i++) {
        fprintf(out, "row '%s' '%s'\n", chart->rows[i].label, chart->rows[i].detail);
    }
    for (size_t i = 0; i < chart->column_count; i++) {
        const struct report_column *column = &chart->columns[i];
        fprintf(out, "column %s '%s' %s %.4g..%.4g\n", report_inks[column->ink].name, column->title,
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
    fprintf(out, "%s %s '%s'", line->is_distribution ? "distribution" : "line", report_inks[line->ink].name,
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
    const struct report_panel *panel = &chart->panels[0];
    dump_axis("x", &chart->x, out);
    dump_axis("y", &panel->y, out);
    for (size_t i = 0; i < chart->rule_count; i++) {
        fprintf(out, "rule %.4g '%s'\n", chart->rules[i].at, chart->rules[i].text);
    }
    for (size_t i = 0; i < panel->line_count; i++) {
        dump_line(&panel->lines[i], out);
    }
}

static void dump_spots(const struct report_chart *chart, FILE *out)
{
    const struct report_panel *panel = &chart->panels[0];
    dump_axis("x", &chart->x, out);
    dump_axis("y", &panel->y, out);
    for (size_t i = 0; i < panel->spot_count; i++) {
        const struct report_spot *spot = &panel->spots[i];
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
            fprintf(out, " %s %.4g..%.4g", report_inks[lane->spans[k].ink].name, lane->spans[k].from,
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
                report_inks[panel->bands[i].ink].name, panel->bands[i].from, panel->bands[i].to);
    }
    for (size_t i = 0; i < panel->bar_count; i++) {
        const struct report_bar *bar = &panel->bars[i];
        fprintf(out, "  bar %s %.4f..%.4f %.4g..%.4g\n", report_inks[bar->ink].name, bar->from, bar->to,
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
        fprintf(out, "legend %s %s\n", report_inks[chart->legend[i].ink].name, chart->legend[i].text);
    }
    if (chart->note != NULL) {
        fprintf(out, "note %s\n", chart->note);
    }
    if (chart->form == REPORT_FORM_TABLE) {
        dump_table(chart, out);
        return;
    }
    if (chart->form == REPORT_FORM_CURVES && chart->panels[0].label[0] == 0) {
        dump_lines(chart, out);
        return;
    }
    if (chart->form == REPORT_FORM_FRONT) {
        dump_spots(chart, out);
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
        if (panel->label[0] != 0) {
            fprintf(out, "panel '%s'\n", panel->label);
        }
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
        for (size_t k = 0; k < panel->spot_count; k++) {
            dump_hint(panel->spots[k].hint, out);
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
}

struct report_chart *fixture_chart(const struct lab_result *result, enum report_kind kind,
                                   struct report_arena *arena)
{
    *arena = (struct report_arena){NULL};
    return report_chart_make(result, kind, arena);
}

char *fixture_text(const struct report_chart *chart,
                   void (*write)(const struct report_chart *chart, FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    write(chart, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

char *fixture_dump(const struct lab_result *result, enum report_kind kind)
{
    struct report_arena arena;
    char *text = fixture_text(fixture_chart(result, kind, &arena), report_chart_dump);
    report_arena_free(&arena);
    return text;
}

void fixture_says(const char *text, const char *part, bool says)
{
    if ((strstr(text, part) != NULL) != says) {
        print_error("%s '%s' in:\n%.6000s\n", says ? "no" : "a", part, text);
        fail();
    }
}

int fixture_typesetter_begin(void **state)
{
    g_log_set_always_fatal(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK);
    *state = report_typesetter_create(NULL);
    return *state != NULL ? 0 : -1;
}

int fixture_typesetter_end(void **state)
{
    report_typesetter_destroy(*state);
    return 0;
}

static const double slack = 0.01;

static bool overlap(const struct report_box *a, const struct report_box *b)
{
    return a->x + a->width > b->x + slack && b->x + b->width > a->x + slack &&
           a->y + a->height > b->y + slack && b->y + b->height > a->y + slack;
}

static bool is_inside(const struct report_box *box, double left, double top, double right, double bottom)
{
    return box->x >= left - slack && box->y >= top - slack && box->x + box->width <= right + slack &&
           box->y + box->height <= bottom + slack;
}

static void name_mark(const char *what, const struct report_mark *mark)
{
    print_error("%s: '%s' at %.2f,%.2f %.2fx%.2f\n", what,
                mark->shape == REPORT_SHAPE_TEXT ? mark->type.text : "(a shape)", mark->box.x, mark->box.y,
                mark->box.width, mark->box.height);
}

/* Whether a curve crosses a box: clips each segment at the box's sides (Liang and Barsky 1984). */
static bool runs_through(const struct report_mark *curve, const struct report_box *box)
{
    for (size_t i = 1; i < curve->point_count; i++) {
        const struct report_point *from = &curve->points[i - 1], *to = &curve->points[i];
        const double dx = to->x - from->x, dy = to->y - from->y;
        const double steps[] = {-dx, dx, -dy, dy};
        const double rooms[] = {from->x - box->x - slack, box->x + box->width - slack - from->x,
                                from->y - box->y - slack, box->y + box->height - slack - from->y};
        double enters = 0, leaves = 1;
        for (size_t k = 0; k < 4; k++) {
            if (steps[k] == 0) {
                leaves = rooms[k] < 0 ? -1 : leaves;
            } else if (steps[k] < 0) {
                enters = fmax(enters, rooms[k] / steps[k]);
            } else {
                leaves = fmin(leaves, rooms[k] / steps[k]);
            }
        }
        if (enters <= leaves) {
            return true;
        }
    }
    return false;
}

/* The vertical line at a change or at a rule, which must not cross the names next to it. */
static bool is_moment(const struct report_mark *mark)
{
    return (mark->shape == REPORT_SHAPE_LINE || mark->shape == REPORT_SHAPE_DASHED) &&
           mark->ink == REPORT_INK_TEXT && mark->box.width == 0;
}

void fixture_check_scene(const struct report_scene *scene)
{
    assert_true(scene->count > 5);
    /* Cairo's images have at most 32767 pixels per side. */
    assert_true(scene->height * REPORT_PIXEL_SCALE < 32767);
    for (size_t i = 0; i < scene->count; i++) {
        const struct report_mark *mark = &scene->marks[i];
        const double margin = mark->shape == REPORT_SHAPE_TEXT ? 10 : 0;
        if (!is_inside(&mark->box, margin, margin, scene->width - margin, scene->height - margin)) {
            name_mark("off the page", mark);
            fail();
        }
        for (size_t k = 0; mark->shape == REPORT_SHAPE_CURVE && k < mark->point_count; k++) {
            const struct report_box point = {mark->points[k].x, mark->points[k].y, 0, 0};
            assert_true(is_inside(&point, mark->box.x, mark->box.y, mark->box.x + mark->box.width,
                                  mark->box.y + mark->box.height));
        }
        for (size_t k = 0; mark->shape == REPORT_SHAPE_TEXT && k < scene->count; k++) {
            const struct report_mark *other = &scene->marks[k];
            if (k == i || !overlap(&mark->box, &other->box)) {
                continue;
            }
            /* The strip for 0 is background, like the plot. */
            bool is_solid = (other->shape == REPORT_SHAPE_RECTANGLE && other->ink != REPORT_INK_ZERO) ||
                            other->shape == REPORT_SHAPE_HATCHED ||
                            (other->shape == REPORT_SHAPE_CURVE && runs_through(other, &mark->box)) ||
                            other->shape == REPORT_SHAPE_TEXT || other->shape == REPORT_SHAPE_MARKER ||
                            is_moment(other);
            if (is_solid) {
                name_mark("overlap", mark);
                name_mark("with", other);
                fail();
            }
        }
    }
}

enum { RESULTS = FIXTURE_COUNT + FIXTURE_VIEWS_COUNT };

size_t fixture_pages_count(void)
{
    return RESULTS * REPORT_KIND_COUNT + FIXTURE_FRONT_COUNT;
}

/* The last result is cached, since its charts are requested one after the other. */
static const struct lab_result *result_of(size_t which)
{
    static struct lab_result *kept;
    static size_t kept_which;
    if (kept == NULL || kept_which != which) {
        lab_result_destroy(kept);
        kept = which < FIXTURE_COUNT ? fixture_case(which) : fixture_views_case(which - FIXTURE_COUNT);
        kept_which = which;
    }
    return kept;
}

struct report_chart *fixture_pages_chart(size_t index, struct report_arena *arena)
{
    static struct fixture_front front;
    if (index < RESULTS * REPORT_KIND_COUNT) {
        const enum report_kind kind = (enum report_kind)(index % REPORT_KIND_COUNT);
        return report_chart_make(result_of(index / REPORT_KIND_COUNT), kind, arena);
    }
    fixture_front(index - RESULTS * REPORT_KIND_COUNT, &front);
    return report_front_make(&front.front, arena);
}

void fixture_lay_out(const struct lab_result *result, enum report_kind kind, double width,
                     struct report_typesetter *typesetter)
{
    struct report_arena arena;
    struct report_scene scene;
    const struct report_chart *chart = fixture_chart(result, kind, &arena);
    report_layout(chart, width, typesetter, &arena, &scene);
    assert_true(scene.width == width);
    fixture_check_scene(&scene);
    report_arena_free(&arena);
}
