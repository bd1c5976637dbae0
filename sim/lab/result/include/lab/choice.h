/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which strategy of a run to choose, by what this one run has shown: of those that stayed within the limits,
 * hid no row from a reader and end their partitions, the cheapest. `tune` asks for more: many seeds and
 * intervals. */
#ifndef LAB_CHOICE_H
#define LAB_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/result.h"

/* What stands against a strategy, as bits. */
enum lab_bar {
    LAB_BAR_ROWS = 1,     /* a partition above the limit of rows */
    LAB_BAR_BYTES = 2,    /* and of bytes */
    LAB_BAR_HIDDEN = 4,   /* rows that a reader does not find, or not among the newest */
    LAB_BAR_ENDLESS = 8,  /* nothing ends a partition: it grows for as long as rows come */
    LAB_BAR_OBSERVED = 16 /* it was not run: its sizes were read from a file */
};

struct lab_standing {
    unsigned bars;
    double over; /* share of the partitions above a limit; NaN without limits */
    double cost; /* operations in addition to the inserts and partitions asked by reads, for each 1000 rows;
                    NaN when nothing was run */
    double cv;   /* standard deviation of the closed partitions' rows as a share of their mean; NaN: none
                        has closed */
};

/* Costs up to this ratio apart count as equal. */
#define LAB_AS_CHEAP 1.01

/* The cost alone. */
double lab_cost_of(const struct lab_strategy_result *strategy);
struct lab_standing lab_standing_of(const struct lab_result *result,
                                    const struct lab_strategy_result *strategy);
/* Fills in a standing each (`standings` is the caller's and has room for all). Returns the index of the one
 * to choose: without bars, of the least cost, and of those that cost as much the one of the least CV,
 * then the first. SIZE_MAX when none is without bars, when the scenario sets no limit, so that nothing was
 * asked, or when `tune` has chosen, by more than one run. */
size_t lab_choose(const struct lab_result *result, struct lab_standing *standings);

#endif
