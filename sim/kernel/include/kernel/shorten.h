/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortens numbers for display: three significant digits and a power of 1000, which is chosen after rounding,
 * so that 999,600 becomes 1.00M and not 1000k. Each caller decides which suffix represents a power, whether
 * trailing zeros are kept, and which numbers are shortened at all. */
#ifndef KERNEL_SHORTEN_H
#define KERNEL_SHORTEN_H

/* Divides *value, at least 0, by 1000 until it rounds to at most three digits before the decimal point, at
 * most `most` times. Returns the number of divisions. */
unsigned sim_shorten(double *value, unsigned most);
/* The number of decimals with which a value of at least 1 has three significant digits; 2 for smaller
 * values. */
int sim_shortened_decimals(double value);

#endif
