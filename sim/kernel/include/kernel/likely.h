/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hints for the hot path: which way a branch goes, so that the usual way is straight and in few lines of the
 * instruction cache, and which functions few rows need. A wrong hint only costs time. */
#ifndef KERNEL_LIKELY_H
#define KERNEL_LIKELY_H

#define SIM_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define SIM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* Inlined, the function would make its callers save registers for every row. */
#define SIM_OUT_OF_LINE __attribute__((noinline))

#endif
