/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interactive section of a page: fields and sliders for one setting, and the sizes that the exact
 * distribution predicts for it.
 *
 * It is written with the values of the run's own setting, so that it is readable without scripts.
 * page/live.js reads the fields, and page/distribution.js computes the distribution. */
#ifndef REPORTS_PAGE_LIVE_H
#define REPORTS_PAGE_LIVE_H

#include <stdbool.h>

#include <libxml/xmlwriter.h>

#include "lab/result.h"
#include "reports/arena.h"

/* Whether a run has partitions with a distribution; a run with only identifiers has none. */
bool report_page_has_live(const struct lab_result *result);
/* Writes one <section id="live">. Returns false when the writer failed; running out of memory is recorded in
 * the arena. */
bool report_page_live(xmlTextWriterPtr writer, const struct lab_result *result, struct report_arena *arena);

#endif
