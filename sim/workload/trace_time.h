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
 * is set to whether a time that is written as a date has a zone, and to true for the other formats. */
bool trace_time_parse(enum wl_trace_time kind, int64_t epoch_ns, const char *text, size_t size,
                      int64_t *out_ns, bool *has_zone);

/* Whether the text is a time of day, such as 9:05 or 23:59:59.5. */
bool trace_time_is_of_day(const char *text, size_t size);
/* Joins a date and a time of day to a text of one of these formats, of at most date_size + size + 2 bytes;
 * returns its size. */
size_t trace_time_join(const char *date, size_t date_size, const char *text, size_t size, char *out);

/* Judges the format of a column by a sample of its values. A number has several readings: an epoch in the
 * unit of its size, digits of a date, a spreadsheet's days, ticks. */
struct trace_time_judge {
    enum wl_trace_time first;    /* of the first value */
    size_t kinds[WL_TIME_COUNT]; /* values by trace_time_kind(), without the number 0, which is no time */
    size_t numbers;
    size_t fits[WL_TIME_COUNT]; /* numbers that are times of this kind, in the years 1980 to 2099 */
    size_t since_start;         /* numbers that are seconds in the first month from 0 on */
    size_t times_of_day;        /* numbers that are hours, minutes and seconds */
    char number[32];            /* the first number */
    uint64_t line;              /* and its line */
};

void trace_time_take(struct trace_time_judge *judge, const char *text, size_t size, uint64_t line);
/* Returns the format of the column; WL_TIME_AUTO when it has none, and when the numbers have several
 * readings. `readings` then lists these for a message, otherwise it is empty. */
#define TRACE_READINGS_SIZE 320
enum wl_trace_time trace_time_verdict(const struct trace_time_judge *judge, char *readings);

#endif
