/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities with units: durations, sizes in bytes, rates, shares. A bare number where a unit is needed is an
 * error. Spaces may part the number from its unit: "100 MB".
 *
 * Each returns NULL and sets *out, or returns a constant text, "what; cure", for the caller to put a place in
 * front. */
#ifndef LAB_QUANTITY_H
#define LAB_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* ns us ms s m h d w y (a year is 365 d), and in words from sec, min, hour, day, week and year on: "10ms",
 * "1.5 hours". At most 2^63 - 1 ns. */
const char *lab_quantity_duration(const char *text, int64_t *out_ns);
/* The same with a sign in front, if any: "-2s". */
const char *lab_quantity_signed_duration(const char *text, int64_t *out_ns);
/* B KB MB GB TB (1000) KiB MiB GiB TiB (1024). Whole bytes. */
const char *lab_quantity_bytes(const char *text, uint64_t *out);
/* Per s, m, h, d, in words too, with k, M or G: "200/s", "3/hour", "5k/s". */
const char *lab_quantity_rate(const char *text, double *out_per_s);
/* "1%" -> 0.01; from 0 % to 100 %. "1/1000": one in so many. */
const char *lab_quantity_share(const char *text, double *out);
/* Of a clock's drift, parts per million: "20ppm" -> 20e-6. */
const char *lab_quantity_drift(const char *text, double *out);
/* A plain decimal number without a unit, finite. */
const char *lab_quantity_number(const char *text, double *out);
/* A whole number from 0 to 2^64 - 1: digits and _ between digits, or a number with k, M or G: "20k", "1.5M".
 */
const char *lab_quantity_whole(const char *text, uint64_t *out);

/* The other way: a duration of at least 0 and a size with the largest unit of days and below, or of 1000,
 * that is exact: "90d", "512KB". */
void lab_quantity_duration_text(int64_t span_ns, char *buffer, size_t size);
void lab_quantity_bytes_text(uint64_t bytes, char *buffer, size_t size);

#endif
