/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual time: nanoseconds since 1970-01-01T00:00:00Z in an int64_t, good until the year 2262. */
#ifndef KERNEL_TIME_H
#define KERNEL_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_US     INT64_C(1000)
#define SIM_MS     INT64_C(1000000)
#define SIM_SECOND INT64_C(1000000000)
#define SIM_MINUTE (60 * SIM_SECOND)
#define SIM_HOUR   (3600 * SIM_SECOND)
#define SIM_DAY    (86400 * SIM_SECOND)
#define SIM_WEEK   (7 * SIM_DAY)

#define SIM_TIME_TEXT_SIZE 32

/* "2026-01-01T00:00:00Z", with as many decimals of the second as are not zero. buffer holds
 * SIM_TIME_TEXT_SIZE. */
void sim_time_format(int64_t time_ns, char *buffer);
/* Reads "2026-01-01", "2026-01-01T12:30:00Z" and the like with decimals; the zone must be Z. Returns 0, or -1
 * when the text is no such time or is out of range. */
int sim_time_parse(const char *text, int64_t *out_ns);
/* The same of `size` bytes as programs write it (ISO 8601): with Z, UTC, +02:00, +0200, +02 or no zone, which
 * is taken for UTC and told by *has_zone; a blank may stand for the T. Returns 0, or -1 as above. */
int sim_time_parse_zoned(const char *text, size_t size, int64_t *out_ns, bool *has_zone);

/* A span as one says it: how many of the unit it is, "minute", "hour", "day" or "year" (of 365 days). */
double sim_span_told(double days, const char **unit);

#endif
