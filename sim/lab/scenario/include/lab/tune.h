/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune` in a scenario: what a setting must keep to be recommended, and which settings compete. */
#ifndef LAB_TUNE_H
#define LAB_TUNE_H

#include <stdbool.h>
#include <stdint.h>

struct lab_tune {
    double share; /* limits.over_limit_share: of the partitions, so many may be over a limit */
    double risk;  /* the same; where it is 0, the chance that a sample without any is to exclude */
    double tiny;  /* the share of closed ones that may be tiny; negative, the default: any */
    double partitions_per_read; /* the most at p99; 0, the default: any */
    double confidence;          /* with which all is said that is said of other seeds; default 95 % */
    uint32_t seeds;             /* the most that a setting is run with; default 8 */
    uint32_t kinds;             /* bit k: kind k competes; default all */
};

#define LAB_TUNE_SEEDS_MAX  1000u
#define LAB_TUNE_CONFIDENCE 0.95
#define LAB_TUNE_RISK       0.001 /* where no partition may be over a limit */

#endif
