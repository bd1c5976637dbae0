/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A row's time from the text of a field, in the forms that files have. */
#ifndef WORKLOAD_TRACE_TIME_H
#define WORKLOAD_TRACE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workload/trace_format.h"

/* The form of a text, by its looks: whole numbers by their size; WL_TIME_AUTO when it is none. A number of 18
 * digits and more is taken for nanoseconds, and never for a Snowflake. */
enum wl_trace_time trace_time_kind(const char *text, size_t size);
/* False when the text is no time of that kind, or lies beyond the years 1677 to 2262. *has_zone is set to
 * whether an ISO time told its zone, and is true of the other kinds. */
bool trace_time_parse(enum wl_trace_time kind, int64_t epoch_ns, const char *text, size_t size,
                      int64_t *out_ns, bool *has_zone);

#endif
