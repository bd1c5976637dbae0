/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simplifies a line by the algorithm of Douglas and Peucker (1973), with an explicit stack instead of
 * recursion. */
#include "thin.h"

#include <math.h>

/* Returns the distance from `point` to the nearest point of the segment. */
static double distance_to(const struct report_point *point, const struct report_point *from,
                          const struct report_point *to)
{
    const double dx = to->x - from->x, dy = to->y - from->y;
    const double length = dx * dx + dy * dy;
    const double along = length > 0 ? ((point->x - from->x) * dx + (point->y - from->y) * dy) / length : 0;
    const double share = fmin(1, fmax(0, along));
    const double x = from->x + share * dx - point->x, y = from->y + share * dy - point->y;
    return sqrt(x * x + y * y);
}

static size_t farthest(const struct report_point *points, size_t from, size_t to, double *distance)
{
    size_t best = from;
    *distance = 0;
    for (size_t i = from + 1; i < to; i++) {
        const double away = distance_to(&points[i], &points[from], &points[to]);
        if (away > *distance) {
            *distance = away;
            best = i;
        }
    }
    return best;
}

/* The stack holds the ends of the segments that are still to be examined, the nearest one on top. */
size_t report_thin(struct report_arena *arena, const struct report_point *points, size_t count,
                   double tolerance, bool *keep)
{
    size_t *ends = report_take(arena, count, sizeof *ends);
    if (ends == NULL || count == 0) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        keep[i] = i == 0;
    }
    size_t from = 0, kept = 1, depth = 0;
    if (count > 1) {
        ends[depth++] = count - 1;
    }
    while (depth > 0) {
        const size_t to = ends[depth - 1];
        double distance;
        const size_t middle = farthest(points, from, to, &distance);
        if (distance > tolerance) {
            ends[depth++] = middle;
            continue;
        }
        keep[to] = true;
        kept++;
        from = to;
        depth--;
    }
    return kept;
}
