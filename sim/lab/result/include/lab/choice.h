/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which strategy of a run to choose, by what this one run has shown: of those that stayed within the limits,
 * hid no row from a reader and end their partitions, the cheapest. `tune` asks for more: many seeds and
 * intervals.
 *
 * One standard: of the partitions, limits.over_limit_share may be over a limit. Where none may, one is too
 * many. Where some may and sizes are a matter of chance, a strategy exceeds the limits when the interval of
 * Clopper and Pearson lies above that share; when only the share that was seen does, it is open. */
#ifndef LAB_CHOICE_H
#define LAB_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/result.h"

/* What disqualifies a strategy, as bits. */
enum lab_disqualifier {
    LAB_DISQUALIFIER_ROWS = 1,      /* more partitions than allowed exceed the limit in rows */
    LAB_DISQUALIFIER_BYTES = 2,     /* the same for bytes */
    LAB_DISQUALIFIER_HIDDEN = 4,    /* rows that a reader does not find, or not among the newest */
    LAB_DISQUALIFIER_ENDLESS = 8,   /* nothing ends a partition: it grows for as long as rows come */
    LAB_DISQUALIFIER_OBSERVED = 16, /* it was not run: its sizes were read from a file */
    LAB_DISQUALIFIER_OPEN = 32      /* more than allowed were seen over a limit, but there were too few
                                       partitions to show it */
};
/* The disqualifiers that concern the limits. */
#define LAB_DISQUALIFIED_BY_LIMITS (LAB_DISQUALIFIER_ROWS | LAB_DISQUALIFIER_BYTES | LAB_DISQUALIFIER_OPEN)

struct lab_score {
    unsigned disqualifiers;
    double over;      /* share of the partitions above a limit; NaN without limits */
    double over_most; /* upper bound of that share for another seed, with limits.confidence; NaN where sizes
                         do not depend on the seed, and without limits */
    double cost; /* operations in addition to the inserts and partitions asked by reads, for each 1000 rows,
                    in inserts by the prices of the run; NaN when nothing was run */
    double cv;   /* standard deviation of the closed partitions' rows as a share of their mean; NaN: none
                        has closed */
};

/* What a setting needs that not every service has. */
enum lab_requirement {
    LAB_REQUIRES_SEQUENCE, /* count: external: a gapless number in each row */
    LAB_REQUIRES_FAN_OUT,  /* hash: a reader queries all partitions of a key */
    LAB_REQUIRES_LEAD,     /* three-state: a lead above what caches and clocks differ by */
    LAB_REQUIRES_LWT,      /* conditional updates */
    LAB_REQUIREMENT_COUNT
};
/* "sequence", "fan_out", "lead", "lwt". */
const char *lab_requirement_name(enum lab_requirement requirement);
/* A sentence's end behind "It needs ": "conditional updates (LWT)". */
const char *lab_requirement_text(enum lab_requirement requirement);
/* Bits 1 << enum lab_requirement. */
uint32_t lab_requirements(const struct lab_settings *settings);

/* Costs up to this ratio apart count as equal. */
#define LAB_AS_CHEAP 1.01

/* Upper and lower bound (Clopper and Pearson) of a share of which `hits` in `count` trials were hits, each
 * with this confidence. 1 and 0 for count 0. */
double lab_share_most(uint64_t hits, uint64_t count, double confidence);
double lab_share_least(uint64_t hits, uint64_t count, double confidence);
/* The cost per 1000 rows, in inserts: the writers' operations in addition to the inserts, and the
 * partitions that reads query. NaN when nothing was run. */
struct lab_cost {
    double write, read;
};
struct lab_cost lab_cost_of(const struct lab_prices *prices, const struct lab_strategy_result *strategy);
struct lab_score lab_score_of(const struct lab_result *result, const struct lab_strategy_result *strategy);
/* Scores every strategy (`scores` is the caller's and has room for all). Returns the index of the one to
 * choose: the cheapest that nothing disqualifies; of those that cost as much, the one with the least CV; of
 * those, the first. SIZE_MAX when all are disqualified, when the scenario sets no limit to judge by, or when
 * `tune` has chosen from more than one run. */
size_t lab_choose(const struct lab_result *result, struct lab_score *scores);

#endif
