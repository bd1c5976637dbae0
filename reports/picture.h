/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One picture of plain data, from its chart to the file. */
#ifndef REPORTS_PICTURE_H
#define REPORTS_PICTURE_H

#include "chart.h"

/* Makes the chart of `data`; failures stay in the arena. */
typedef void report_fill(const void *data, struct report_arena *arena, struct report_chart *chart);

/* Writes it to path, whole or not at all; its folder is made when missing. */
bool report_picture_write(report_fill *fill, const void *data, const char *name, enum report_format format,
                          const char *path, struct sim_error *error);

#endif
