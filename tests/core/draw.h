/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws for the property tests of this folder: splitmix64 from a fixed seed, and numbers that are often at
 * the edges. */
#ifndef TESTS_CORE_DRAW_H
#define TESTS_CORE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
    uint64_t state;
    bool is_coarse; /* spans of time are round numbers, so that two times are often equal */
    bool is_edge; /* at limits: 32 bits, the last days of months before 2100, a lead ago, a late first row */
};

static inline uint64_t draw_bits(struct draw *draw)
{
    uint64_t x = draw->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t draw_below(struct draw *draw, uint64_t n)
{
    return draw_bits(draw) % n;
}

/* Numbers of any size, small ones as often as large ones. */
static inline uint64_t draw_size(struct draw *draw)
{
    uint64_t bits = draw_bits(draw); /* compilers differ in the order of draws in one expression */
    return bits >> draw_below(draw, 64);
}

/* An int64 number: its ends, near 0, near the days of calendars, or anywhere. */
static inline int64_t draw_time(struct draw *draw)
{
    uint64_t where = draw_below(draw, 6), bits = draw_bits(draw);
    switch (where) {
    case 0:
        return INT64_MIN + (int64_t)(bits >> (1 + draw_below(draw, 63)));
    case 1:
        return INT64_MAX - (int64_t)(bits >> (1 + draw_below(draw, 63)));
    case 2:
        return (int64_t)(bits % 7) - 3;
    case 3:
        return ((int64_t)(bits % 200000) - 100000) * INT64_C(86400000000000) + (int64_t)draw_below(draw, 3) -
               1;
    default:
        return (int64_t)bits >> draw_below(draw, 64);
    }
}

#endif
