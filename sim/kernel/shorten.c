/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortens numbers to three significant digits and a power of 1000. */
#include "kernel/shorten.h"

unsigned sim_shorten(double *value, unsigned most)
{
    unsigned power = 0;
    for (; *value >= 999.5 && power < most; power++)
        *value /= 1000;
    return power;
}

int sim_shortened_decimals(double value)
{
    return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}
