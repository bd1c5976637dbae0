/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log, exp and power, computed only by + - * / so that results are bit-identical on every IEEE 754 machine.
 * They are within 2 ulp of the true value (tests/kernel/number_test.c), except for subnormal results, which
 * become 0. */
#ifndef KERNEL_NUMBER_H
#define KERNEL_NUMBER_H

#include <stddef.h>

double sim_log(double x); /* natural logarithm; x must be finite and above 0 (asserted) */
double sim_exp(double x); /* 0 below -708, infinity above 709.78 */
/* Replaces each value by its sim_exp(). Independent values are computed in parallel in the pipeline. */
void sim_exps(double *values, size_t count);
double sim_pow(double x, double y); /* x > 0: exp(y * log(x)), within a few ulp times |y log x| */

/* Shortens numbers for display: three significant digits and a power of 1000, which is chosen after rounding,
 * so that 999,600 becomes 1.00M and not 1000k. Each caller decides which suffix represents a power, whether
 * trailing zeros are kept, and which numbers are shortened at all. */

/* Divides *value, at least 0, by 1000 until it rounds to at most three digits before the decimal point, at
 * most `most` times. Returns the number of divisions. */
unsigned sim_shorten(double *value, unsigned most);
/* The number of decimals with which a value of at least 1 has three significant digits; 2 for smaller
 * values. */
int sim_shortened_decimals(double value);

#endif
