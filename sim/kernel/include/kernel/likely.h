/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hints which way a branch of the hot path goes, so that the usual way is straight and in few lines of the
 * instruction cache. A wrong hint only costs time. */
#ifndef KERNEL_LIKELY_H
#define KERNEL_LIKELY_H

#define SIM_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define SIM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
