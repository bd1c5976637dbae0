/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scene on a Cairo context. */
#ifndef REPORTS_DRAW_H
#define REPORTS_DRAW_H

#include "reports/scene.h"

/* The one drawing function; the context's units are logical pixels. */
void report_draw(const struct report_scene *scene, struct report_typesetter *typesetter, cairo_t *cairo);

#endif
