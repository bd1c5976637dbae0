/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart inside a page, as SVG. */
#ifndef REPORTS_PAGE_SVG_H
#define REPORTS_PAGE_SVG_H

#include <stdbool.h>

#include <libxml/xmlwriter.h>

#include "chart.h"
#include "scene.h"

/* Writes one <svg id="ID"> of the scene. False when the writer failed; what memory lacked the scene's arena
 * knows. */
bool report_page_svg(xmlTextWriterPtr writer, const struct report_chart *chart,
                     const struct report_scene *scene, const char *id);

#endif
