/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that apply to the scene of every chart: each mark is on the page, and none crosses a text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_scene.h"

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
            bool is_solid = (other->shape == REPORT_SHAPE_RECTANGLE && other->ink != REPORT_INK_ZERO &&
                             !other->is_ground) ||
                            other->shape == REPORT_SHAPE_HATCHED ||
                            (other->shape == REPORT_SHAPE_CURVE && runs_through(other, &mark->box)) ||
                            other->shape == REPORT_SHAPE_TEXT || other->shape == REPORT_SHAPE_MARKER ||
                            is_moment(other);
            /* A text may lie on a tile, but not across its edge. */
            is_solid |= other->shape == REPORT_SHAPE_TILE &&
                        !is_inside(&mark->box, other->box.x, other->box.y, other->box.x + other->box.width,
                                   other->box.y + other->box.height);
            if (is_solid) {
                name_mark("overlap", mark);
                name_mark("with", other);
                fail();
            }
        }
    }
}
