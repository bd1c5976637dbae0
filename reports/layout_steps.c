/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes over time: of each stretch a box from the smallest to the largest, a darker one around the middle,
 * and the medians as a line of steps. */
#include "layout_stack.h"

static const double height_min = 1.5;

static void put_box(const struct report_stack_plot *plot, const struct report_slice *step, double low,
                    double high, enum report_ink ink, struct report_pen *pen);
static void put_medians(const struct report_panel *panel, const struct report_stack_plot *plot, bool is_open,
                        struct report_pen *pen);
static bool has_median(const struct report_slice *step, bool is_open);
static void put_run(const struct report_stack_plot *plot, const struct report_slice *steps, size_t count,
                    bool is_open, struct report_pen *pen);

/* What is open stands behind what is closed: where it goes beyond that it is seen. */
void report_stack_put_steps(const struct report_panel *panel, const struct report_stack_plot *plot,
                            struct report_pen *pen)
{
    for (size_t i = 0; i < panel->step_count; i++) {
        const struct report_slice *step = &panel->steps[i];
        if (step->open.present) {
            put_box(plot, step, step->open.least, step->open.most, REPORT_INK_OPEN, pen);
        }
        if (step->closed.present) {
            put_box(plot, step, step->closed.least, step->closed.most, REPORT_INK_RANGE, pen);
            put_box(plot, step, step->closed.p10, step->closed.p90, REPORT_INK_MIDDLE, pen);
        }
    }
    put_medians(panel, plot, true, pen);
    put_medians(panel, plot, false, pen);
    for (size_t i = 0; i < panel->step_count; i++) {
        const double left = report_snap(report_stack_x(plot, panel->steps[i].from));
        const double right = report_snap(report_stack_x(plot, panel->steps[i].to));
        const struct report_box whole = {left, plot->box.y, right - left, plot->box.height};
        report_pen_mark(pen, REPORT_SHAPE_HIT, REPORT_INK_MIDDLE, whole)->hint = panel->steps[i].hint;
    }
}

static void put_box(const struct report_stack_plot *plot, const struct report_slice *step, double low,
                    double high, enum report_ink ink, struct report_pen *pen)
{
    const double left = report_snap(report_stack_x(plot, step->from));
    const double right = report_snap(report_stack_x(plot, step->to));
    double top = report_snap(report_stack_y(plot, high)), bottom = report_snap(report_stack_y(plot, low));
    if (bottom - top < height_min) {
        top = report_snap((top + bottom - height_min) / 2);
        top = top < plot->box.y ? plot->box.y : top;
        bottom = top + height_min;
    }
    report_pen_mark(pen, report_style_is_hatched(ink) ? REPORT_SHAPE_HATCHED : REPORT_SHAPE_RECTANGLE, ink,
                    (struct report_box){left, top, right - left, bottom - top});
}

/* Of the open ones only where there is none of closed ones. */
static void put_medians(const struct report_panel *panel, const struct report_stack_plot *plot, bool is_open,
                        struct report_pen *pen)
{
    for (size_t i = 0; i < panel->step_count;) {
        size_t end = i + 1;
        if (has_median(&panel->steps[i], is_open)) {
            while (end < panel->step_count && has_median(&panel->steps[end], is_open) &&
                   panel->steps[end].from <= panel->steps[end - 1].to) {
                end++;
            }
            put_run(plot, &panel->steps[i], end - i, is_open, pen);
        }
        i = end;
    }
}

static bool has_median(const struct report_slice *step, bool is_open)
{
    return is_open ? step->open.present && !step->closed.present : step->closed.present;
}

static void put_run(const struct report_stack_plot *plot, const struct report_slice *steps, size_t count,
                    bool is_open, struct report_pen *pen)
{
    struct report_point *points = report_take(pen->scene->arena, 2 * count, sizeof *points);
    if (points == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const double y = report_stack_y(plot, is_open ? steps[i].open.p50 : steps[i].closed.p50);
        points[2 * i] = (struct report_point){report_stack_x(plot, steps[i].from), y};
        points[2 * i + 1] = (struct report_point){report_stack_x(plot, steps[i].to), y};
    }
    static const struct {
        enum report_ink ink;
        double stroke;
    } passes[] = {{REPORT_INK_HALO, 3}, {REPORT_INK_LAW, 1.4}};
    for (size_t i = is_open ? 0 : 1; i < 2; i++) { /* hatching alone is too dark for a dotted line */
        struct report_mark *mark = report_pen_mark(pen, REPORT_SHAPE_CURVE, passes[i].ink, plot->box);
        mark->points = points;
        mark->point_count = 2 * count;
        mark->stroke = passes[i].stroke;
        mark->is_dashed = is_open && i == 1;
    }
}
