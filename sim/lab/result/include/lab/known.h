/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file of observed sizes says about the limits. A list of all partitions gives the share above a
 * limit; percentiles are ends of the buckets of Cassandra's histogram, so they give bounds; a list of the
 * largest partitions says nothing about the others. All is derived from what the database keeps of a
 * strategy. */
#ifndef LAB_KNOWN_H
#define LAB_KNOWN_H

#include "lab/result.h"

enum lab_known_by {
    LAB_KNOWN_NOTHING,     /* the file has no sizes in this unit, so a limit in this unit cannot be judged */
    LAB_KNOWN_EXACTLY,     /* the size of each partition */
    LAB_KNOWN_PERCENTILES, /* of the pieces of partitions in sstables; a partition may have several */
    LAB_KNOWN_LARGEST      /* the sizes of some partitions, the largest; not how many others there are */
};

struct lab_known {
    enum lab_known_by by;
    double over_least, over_most; /* bounds of the share of partitions above the limit; 0 and 1: not known */
    uint64_t largest_least, largest_most; /* bounds of the largest partition; 0 and UINT64_MAX: not known */
    uint64_t over, listed; /* partitions of the list above the limit, and all of the list; 0 for percentiles
                              and for nothing */
};

/* What is known of an observed strategy's sizes in one unit, and of the share above the limit in this unit.
 * Without such a limit no partition counts as above it. */
struct lab_known lab_known_of(const struct lab_strategy_result *observed, const struct lab_limits *limits,
                              enum lab_size_unit unit);

/* One of the points of tablehistograms, as two bounds: at least `share` of the pieces have at most `size`
 * bytes, and at least `share_above` have more than `above`. 0 for `above` says nothing. */
struct lab_known_step {
    uint64_t size, above;
    double share, share_above;
};
/* Fills out[WL_OBSERVED_POINTS], in ascending order of size; false when the strategy has other sizes. */
bool lab_known_steps(const struct lab_strategy_result *observed, struct lab_known_step *out);

#endif
