/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The live corner of a page: fields and sliders of one setting, and what the exact distribution says of it.
 *
 * Written with the figures of the run's own setting, so that it reads without scripts; page/live.js takes the
 * fields from there, and page/distribution.js is the distribution. */
#ifndef REPORTS_PAGE_LIVE_H
#define REPORTS_PAGE_LIVE_H

#include <stdbool.h>

#include <libxml/xmlwriter.h>

#include "lab/result.h"
#include "reports/arena.h"

/* Whether a run has partitions whose distribution is worth a question: not one of identifiers alone. */
bool report_page_has_live(const struct lab_result *result);
/* One <section id="live">. False when the writer failed; when out of memory the arena says so. */
bool report_page_live(xmlTextWriterPtr writer, const struct lab_result *result, struct report_arena *arena);

#endif
