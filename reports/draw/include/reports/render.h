/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scene as the bytes of a file, made in memory: the same scene, the same bytes. */
#ifndef REPORTS_RENDER_H
#define REPORTS_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/error.h"
#include "reports/file_format.h"
#include "reports/output.h"
#include "reports/scene.h"

/* title and start_ns go into the PDF's metadata; the other formats carry none. */
bool report_render(const struct report_scene *scene, struct report_typesetter *typesetter,
                   enum report_format format, const char *title, int64_t start_ns, struct report_bytes *out,
                   struct sim_error *error);

#endif
