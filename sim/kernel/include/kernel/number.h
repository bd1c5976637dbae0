/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log, exp and power from + - * / alone, so that every IEEE 754 machine gives the same bits. Within 2 ulp of
 * the true value (tests/kernel/number_test.c); not for subnormal results, which become 0. */
#ifndef KERNEL_NUMBER_H
#define KERNEL_NUMBER_H

#include <stddef.h>

double sim_log(double x); /* natural; x > 0 and finite; x <= 0 asserts */
double sim_exp(double x); /* 0 below -708, infinity above 709.78 */
/* Of each, in its place: the chains of operations run side by side. */
void sim_exps(double *values, size_t count);
double sim_pow(double x, double y); /* x > 0: exp(y * log(x)), within a few ulp times |y log x| */

#endif
