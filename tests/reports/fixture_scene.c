/* SPDX-License-Identifier: GPL-3.0-or-later */
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

/* The vertical line at a change or at a rule: it must not run through the names beside it. */
static bool is_moment(const struct report_mark *mark)
{
    return (mark->shape == REPORT_SHAPE_LINE || mark->shape == REPORT_SHAPE_DASHED) &&
           mark->ink == REPORT_INK_TEXT && mark->box.width == 0;
}

void fixture_check_scene(const struct report_scene *scene)
{
    assert_true(scene->count > 5);
    /* Cairo's images end at 32767 pixels. */
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
            /* The strip for 0 is ground, as the plot is. */
            bool is_solid = (other->shape == REPORT_SHAPE_RECTANGLE && other->ink != REPORT_INK_ZERO) ||
                            other->shape == REPORT_SHAPE_HATCHED || other->shape == REPORT_SHAPE_CURVE ||
                            other->shape == REPORT_SHAPE_TEXT || other->shape == REPORT_SHAPE_MARKER ||
                            is_moment(other);
            /* On a tile a text may stand, but not on its edge. */
            is_solid |= other->shape == REPORT_SHAPE_TILE &&
                        !is_inside(&mark->box, other->box.x, other->box.y, other->box.x + other->box.width,
                                   other->box.y + other->box.height);
            if (k != i && is_solid && overlap(&mark->box, &other->box)) {
                name_mark("overlap", mark);
                name_mark("with", other);
                fail();
            }
        }
    }
}
