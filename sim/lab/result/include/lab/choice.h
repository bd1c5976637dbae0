/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses a strategy by the results of a single run: the cheapest strategy that stayed within the limits, hid
 * no row from a reader, refused none without a fault (LAB_REFUSED_MOST), and closes its partitions. `tune`
 * makes a stronger statement, with many seeds and confidence intervals.
 *
 * The criterion for limits: a share limits.over_limit_share of the partitions may exceed a limit. If that
 * share is 0, one partition over a limit is too many. Otherwise, if sizes are random, a strategy exceeds the
 * limits when the Clopper-Pearson interval is above that share; when only the observed share is above it, the
 * result is open. */
#ifndef LAB_CHOICE_H
#define LAB_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/result.h"

/* What disqualifies a strategy, as bits. */
enum lab_disqualifier {
    LAB_DISQUALIFIER_ROWS = 1,  /* more partitions than allowed exceed the limit of rows */
    LAB_DISQUALIFIER_BYTES = 2, /* more partitions than allowed exceed the limit of bytes */
    LAB_DISQUALIFIER_HIDDEN =
        4, /* a reader does not find some rows, or does not find them among the newest */
    LAB_DISQUALIFIER_ENDLESS = 8,   /* partitions have no end: they grow for as long as rows arrive */
    LAB_DISQUALIFIER_OBSERVED = 16, /* it was not run: its sizes were read from a file */
    LAB_DISQUALIFIER_OPEN = 32,     /* more partitions than allowed exceeded a limit, but there were too few
                                       partitions for a statement with the required confidence */
    LAB_DISQUALIFIER_REFUSED = 64   /* its agents refused more than LAB_REFUSED_MOST of the rows, or gave them
                                       up,   although nothing had failed */
};
/* The disqualifiers that concern the limits. */
#define LAB_DISQUALIFIED_BY_LIMITS (LAB_DISQUALIFIER_ROWS | LAB_DISQUALIFIER_BYTES | LAB_DISQUALIFIER_OPEN)

/* This share of the rows may be refused although nothing had failed: conditional updates that compete for a
 * key sometimes give up. */
#define LAB_REFUSED_MOST 0.001

struct lab_score {
    unsigned disqualifiers;
    double over;      /* share of the partitions above a limit; NaN without limits */
    double over_most; /* upper bound of that share for another seed, with limits.confidence; NaN where sizes
                         do not depend on the seed, and without limits */
    double cost; /* cost per 1000 rows, in inserts, by the prices of the run: the operations in addition to
                    the inserts, and the partitions that reads query; NaN when nothing was run */
    double cv;   /* coefficient of variation of the closed partitions' rows; NaN: no partition has closed */
};

/* Requirements of a setting that not every service can meet. */
enum lab_requirement {
    LAB_REQUIRES_SEQUENCE, /* count: external: a gapless number in each row */
    LAB_REQUIRES_FAN_OUT,  /* hash: a reader queries all partitions of a key */
    LAB_REQUIRES_LEAD,     /* three-state: a lead longer than the time to live of caches plus the difference
                              between clocks */
    LAB_REQUIRES_LWT,      /* conditional updates */
    LAB_REQUIREMENT_COUNT
};
/* "sequence", "fan_out", "lead", "lwt". */
const char *lab_requirement_name(enum lab_requirement requirement);
/* The end of a sentence that begins with "It needs ": "conditional updates (LWT)". */
const char *lab_requirement_text(enum lab_requirement requirement);
/* The requirements of a setting; bit r: enum lab_requirement r. */
uint32_t lab_requirements(const struct lab_settings *settings);

/* Costs whose ratio is at most this are considered equal. */
#define LAB_AS_CHEAP 1.01

/* The upper and the lower Clopper-Pearson bound of a probability, given `hits` successes in `count` trials,
 * each bound with this confidence. 1 and 0 when count is 0. */
double lab_share_most(uint64_t hits, uint64_t count, double confidence);
double lab_share_least(uint64_t hits, uint64_t count, double confidence);
/* The cost per 1000 rows, in inserts: the writers' operations in addition to the inserts, and the
 * partitions that reads query. NaN when nothing was run. */
struct lab_cost {
    double write, read;
};
struct lab_cost lab_cost_of(const struct lab_prices *prices, const struct lab_strategy_result *strategy);
/* The share of the rows that agents refused or gave up although nothing had failed, by the oracle
 * `available`; 0 without agents. */
double lab_refused_share(const struct lab_strategy_result *strategy);
struct lab_score lab_score_of(const struct lab_result *result, const struct lab_strategy_result *strategy);
/* Scores every strategy into `scores`, the caller's array with room for all of them. Returns the index of the
 * strategy to choose: the cheapest that is not disqualified; of equally expensive ones, the one with the
 * smallest CV; of these, the first. Returns SIZE_MAX when all are disqualified, when the scenario has no
 * limits, or when `tune` has chosen from more than one run. */
size_t lab_choose(const struct lab_result *result, struct lab_score *scores);

#endif
