/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures how long a command takes. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <stdint.h>

/* The time of a monotonic clock in milliseconds. */
int64_t cli_now_ms(void);
/* The time since cli_now_ms() was begin_ms; never negative. */
int64_t cli_passed_ms(int64_t begin_ms);

#endif
