/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How numbers are written on a chart: three significant digits and a suffix from 1000 on, everywhere. */
#ifndef REPORTS_FORMAT_H
#define REPORTS_FORMAT_H

#include <stdint.h>

#include "reports/arena.h"

enum report_unit { REPORT_ROWS, REPORT_BYTES };

/* "0", "0.0123", "2.35", "999", "1.23K", "20.5K", "1M": K M G T P E. Never "0" for what is not 0. */
const char *report_number(struct report_arena *arena, double value);
/* The same with a unit: rows bare, bytes as "1.2 KB". */
const char *report_size(struct report_arena *arena, double value, enum report_unit unit);
/* Exact: the short form where it says all ("100K", "100 MB"), otherwise every digit in groups of three. */
const char *report_exact(struct report_arena *arena, uint64_t value, enum report_unit unit);
/* Every digit, with commas: "46,422,562". */
const char *report_grouped(struct report_arena *arena, uint64_t value);
/* The same of any number, with as many decimals as it has, up to fifteen digits: "1,234.5", "1.5·10⁻⁷". */
const char *report_full(struct report_arena *arena, double value);
/* "⁻⁷", of -99 to 99. */
const char *report_superscript(struct report_arena *arena, int exponent);
/* "1.2%", from a share of 1. */
const char *report_percent(struct report_arena *arena, double share);
/* "10 d", "90 min", "250 ms": in the largest unit that needs no fraction. */
const char *report_duration(struct report_arena *arena, int64_t ns);
/* "1.02 s", "25 ms", "2.5 min": three digits. */
const char *report_time(struct report_arena *arena, double ns);

#endif
