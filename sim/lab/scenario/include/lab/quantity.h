/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses quantities with units: durations, sizes in bytes, rates, shares. A number without its unit is an
 * error. Spaces may separate the number from its unit: "100 MB".
 *
 * Each parser returns NULL and sets *out, or returns a constant text, "problem; remedy", before which the
 * caller puts the place. */
#ifndef LAB_QUANTITY_H
#define LAB_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* Units: ns us ms s m h d w y (a year has 365 d), and the words sec, min, hour, day, week, year and their
 * plurals: "10ms", "1.5 hours". At most 2^63 - 1 ns. */
const char *lab_quantity_duration(const char *text, int64_t *out_ns);
/* A duration with an optional sign: "-2s". */
const char *lab_quantity_signed_duration(const char *text, int64_t *out_ns);
/* Units: B KB MB GB TB (powers of 1000), KiB MiB GiB TiB (powers of 1024). The result must be a whole number
 * of bytes. */
const char *lab_quantity_bytes(const char *text, uint64_t *out);
/* A number per s, m, h or d, or per a word for these, optionally with k, M or G: "200/s", "3/hour",
 * "5k/s". */
const char *lab_quantity_rate(const char *text, double *out_per_s);
/* A share from 0 % to 100 %: "1%" is 0.01. "1/1000" is allowed too. */
const char *lab_quantity_share(const char *text, double *out);
/* A clock's drift in parts per million: "20ppm" is 20e-6. */
const char *lab_quantity_drift(const char *text, double *out);
/* A plain decimal number without a unit, finite. */
const char *lab_quantity_number(const char *text, double *out);
/* A whole number from 0 to 2^64 - 1: digits and _ between digits, or a number with k, M or G: "20k", "1.5M".
 */
const char *lab_quantity_whole(const char *text, uint64_t *out);

/* Formats a duration of at least 0, or a size, with the largest unit with which the number is whole, at most
 * days, and for sizes powers of 1000: "90d", "512KB". */
void lab_quantity_duration_text(int64_t span_ns, char *buffer, size_t size);
void lab_quantity_bytes_text(uint64_t bytes, char *buffer, size_t size);

#endif
