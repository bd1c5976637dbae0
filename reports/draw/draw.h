/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a scene on a Cairo context. */
#ifndef REPORTS_DRAW_H
#define REPORTS_DRAW_H

#include "reports/scene.h"

/* Draws the scene. The context's units must be logical pixels. */
void report_draw(const struct report_scene *scene, struct report_typesetter *typesetter, cairo_t *cairo);

#endif
