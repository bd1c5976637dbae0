/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renders a scene to the bytes of a file, in memory. The same scene gives the same bytes. */
#ifndef REPORTS_RENDER_H
#define REPORTS_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/error.h"
#include "reports/front.h"
#include "reports/output.h"
#include "reports/scene.h"

/* title and start_ns become metadata of a PDF; the other formats have none. */
bool report_render(const struct report_scene *scene, struct report_typesetter *typesetter,
                   enum report_format format, const char *title, int64_t start_ns, struct report_bytes *out,
                   struct sim_error *error);

#endif
