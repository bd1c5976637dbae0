/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a command has taken. */
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <stdint.h>

/* Milliseconds of a monotonic clock. */
int64_t cli_now_ms(void);
/* Since cli_now_ms() was begin_ms; never negative, whatever the clock has done meanwhile. */
int64_t cli_passed_ms(int64_t begin_ms);

#endif
