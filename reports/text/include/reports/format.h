/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats figures, settings, limits and spans for charts and sentences: three significant digits, and a
 * suffix from 1000 on. */
#ifndef REPORTS_FORMAT_H
#define REPORTS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/result.h"
#include "reports/arena.h"
#include "reports/option.h"

enum report_unit { REPORT_ROWS, REPORT_BYTES };

/* A number: "0", "0.0123", "2.35", "999", "1.23K", "20.5K", "1M", with the suffixes K M G T P E. "0" only for
 * 0. */
const char *report_number(struct report_arena *arena, double value);
/* A number with its unit: rows without one, bytes as "1.2 KB". */
const char *report_size(struct report_arena *arena, double value, enum report_unit unit);
/* A number without rounding: the short form if that is exact ("100K", "100 MB"), otherwise all digits in
 * groups of three. */
const char *report_exact(struct report_arena *arena, uint64_t value, enum report_unit unit);
/* All digits, with commas: "46,422,562". */
const char *report_grouped(struct report_arena *arena, uint64_t value);
/* Any number with all of its decimals, up to fifteen digits: "1,234.5", "1.5·10⁻⁷". */
const char *report_full(struct report_arena *arena, double value);
/* A share, from 0 to 1, in per cent: "1.2%". */
const char *report_percent(struct report_arena *arena, double share);
/* A duration in the largest unit in which it is whole: "10 d", "90 min", "250 ms". */
const char *report_duration(struct report_arena *arena, int64_t ns);
/* A time with three significant digits: "1.02 s", "25 ms", "2.5 min". */
const char *report_time(struct report_arena *arena, double ns);

/* --- a strategy's settings and name, and its metrics by name */

/* The settings as text: "9 bits, threshold 40"; "20.5K rows, numbers leased by 100". */
const char *report_settings(struct report_arena *arena, const struct lab_settings *settings);
/* Sets *label to the label, and *detail to the settings, which begin with the strategy's kind unless the
 * label is the kind. */
void report_strategy_name(struct report_arena *arena, const struct lab_strategy_result *strategy,
                          const char **label, const char **detail);
/* Sets *out to the value of a metric; false when the run does not have it. */
bool report_metric(const struct lab_strategy_result *strategy, const char *name, double *out);

/* --- the limits, and when partitions exceed one */

/* The limits as text: "100,000 rows or 100 MB"; "" without limits. */
const char *report_limits(const struct lab_limits *limits, struct report_arena *arena);
/* "9.31 years" */
const char *report_days(struct report_arena *arena, double days);
/* "You need no buckets yet: ..."; "" when buckets are needed within a year. */
const char *report_no_buckets(const struct report_horizon *horizon, struct report_arena *arena);
/* The size at which to look again: "50,000 rows, half the limit". */
const char *report_half_limit(const struct report_horizon *horizon, struct report_arena *arena);

#endif
