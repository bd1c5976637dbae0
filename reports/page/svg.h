/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a chart inside a page: its scene as SVG elements, which the page's style sheet (page/charts.css)
 * colours, and whose marks have their hints in data-hint for page/hover.js.
 *
 * Texts remain text, with the width that the layout computed. Numbers have at most two decimals, independent
 * of the locale. Consecutive marks with the same style share a group, and those without a hint also share a
 * path. */
#ifndef REPORTS_PAGE_SVG_H
#define REPORTS_PAGE_SVG_H

#include <stdbool.h>

#include <libxml/xmlwriter.h>

#include "reports/chart.h"
#include "reports/scene.h"

/* Writes one <svg id="ID"> of the scene, with the chart's title and subtitle as its name and description.
 * `id` must be unique in the page; it is the prefix of all ids within. Returns false when the writer failed
 * or when out of memory, which the scene's arena records. */
bool report_page_svg(xmlTextWriterPtr writer, const struct report_chart *chart,
                     const struct report_scene *scene, const char *id);
/* Writes the definitions that the charts of a page share: once per page, before the first chart. */
bool report_page_svg_patterns(xmlTextWriterPtr writer);

#endif
