/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart inside a page: its scene as SVG elements that the page's style sheet (page/charts.css) colours, and
 * whose marks carry their hints (data-hint) for page/hover.js.
 *
 * Texts stay texts, with the width that the layout gave them. Numbers have two decimals at most, whatever the
 * locale. Marks that follow each other and look alike share a group, and those without a hint one path. */
#ifndef REPORTS_PAGE_SVG_H
#define REPORTS_PAGE_SVG_H

#include <stdbool.h>

#include <libxml/xmlwriter.h>

#include "reports/chart.h"
#include "reports/scene.h"

/* Writes one <svg id="ID"> of the scene, named and described by the chart's title and subtitle. `id` begins
 * the ids within and occurs once a page. False when the writer failed or memory ran out, which the scene's
 * arena knows. */
bool report_page_svg(xmlTextWriterPtr writer, const struct report_chart *chart,
                     const struct report_scene *scene, const char *id);
/* What the charts of a page have in common: once a page, before the first of them. */
bool report_page_svg_patterns(xmlTextWriterPtr writer);

#endif
