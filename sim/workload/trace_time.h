/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses a row's time from the text of a field, in the formats that occur in files. */
#ifndef WORKLOAD_TRACE_TIME_H
#define WORKLOAD_TRACE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/trace_format.h"

/* Detects the format of a time; whole numbers are classified by their size. WL_TIME_AUTO when the text has no
 * known format. A number of 18 digits or more is taken for nanoseconds, and never for a Snowflake. */
enum wl_trace_time trace_time_kind(const char *text, size_t size);
/* Returns false when the text is not a time of that format, or not within the years 1677 to 2262. *has_zone
 * is set to whether an ISO time has a zone, and to true for the other formats. */
bool trace_time_parse(enum wl_trace_time kind, int64_t epoch_ns, const char *text, size_t size,
                      int64_t *out_ns, bool *has_zone);

#endif
