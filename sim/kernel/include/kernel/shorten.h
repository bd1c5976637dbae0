/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one rule by which numbers are shortened for people: three significant digits, and a power of 1000 that
 * is chosen after rounding, so that 999,600 becomes 1.00M and not 1000k. Which suffix stands for a power,
 * whether zeros at the end stay, and from where on a number is shortened at all, is for each caller to say.
 */
#ifndef KERNEL_SHORTEN_H
#define KERNEL_SHORTEN_H

/* Divides the value, of at least 0, by 1000 until three digits show it; returns how often, at most `most`
 * times. */
unsigned sim_shorten(double *value, unsigned most);
/* How many decimals three significant digits leave to a value from 1 up; 2 below. */
int sim_shortened_decimals(double value);

#endif
