/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The monotonic clock in milliseconds. */
#define _POSIX_C_SOURCE 200809L
#include "cli/clock.h"

#include <time.h>

int64_t cli_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t cli_passed_ms(int64_t begin_ms)
{
    int64_t passed_ms = cli_now_ms() - begin_ms;
    return passed_ms > 0 ? passed_ms : 0;
}
