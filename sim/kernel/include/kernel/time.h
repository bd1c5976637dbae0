/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual time: nanoseconds since 1970-01-01T00:00:00Z in an int64_t, which last until the year 2262. */
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

/* A time plus a span of at least 0; INT64_MAX if that is out of range. */
static inline int64_t sim_time_after(int64_t time_ns, int64_t span_ns)
{
    return time_ns > INT64_MAX - span_ns ? INT64_MAX : time_ns + span_ns;
}

/* Writes the time as "2026-01-01T00:00:00Z", with decimals of the second only as far as they are not zero.
 * buffer must have SIM_TIME_TEXT_SIZE bytes. */
void sim_time_format(int64_t time_ns, char *buffer);
struct tm;

/* A date in UTC and a time of day, none of them below 0. False when there is no such day or time of day, or
 * the year is not within 1678 to 2261. */
bool sim_time_of(const struct tm *time, int64_t *out_ns);
/* Parses "2026-01-01" or "2026-01-01T12:30:00Z", with or without decimals of the second; the zone must be Z.
 * Returns 0, or -1 when the text is not such a time or is out of range. */
int sim_time_parse(const char *text, int64_t *out_ns);
/* Parses a zone: Z, UTC, GMT, +02:00, +0200, +02, GMT+0200 or GMT+2. */
bool sim_time_zone(const char *text, int64_t *out_ns);
/* Parses a time of `size` bytes in the forms that programs write (ISO 8601). A time without a zone is taken
 * as UTC, and *has_zone is then false. A space may replace the T. Returns 0, or -1 as above. */
int sim_time_parse_zoned(const char *text, size_t size, int64_t *out_ns, bool *has_zone);

/* Converts a span in days to the unit in which a person would say it, "minute", "hour", "day" or "year" (of
 * 365 days). Returns the number of units. */
double sim_span_told(double days, const char **unit);

#endif
