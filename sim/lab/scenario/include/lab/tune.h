/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune` in a scenario: the demands on a recommended setting, and which settings compete. */
#ifndef LAB_TUNE_H
#define LAB_TUNE_H

#include <stdbool.h>
#include <stdint.h>

struct lab_tune {
    double share; /* limits.over_limit_share: the share of partitions that may be over a limit */
    double risk;  /* as share; if that is 0, the chance that a sample without any must exclude */
    double tiny;  /* the share of closed partitions that may be tiny; negative, the default: any */
    double partitions_per_read; /* the most at p99; 0, the default: any */
    double confidence;          /* the confidence of statements about other seeds; default 95 % */
    uint32_t seeds;             /* the most that a setting is run with; default 8 */
    uint32_t kinds;             /* bit k: kind k competes; default all */
};

#define LAB_TUNE_SEEDS_MAX  1000u
#define LAB_TUNE_CONFIDENCE 0.95
#define LAB_TUNE_RISK       0.001 /* when no partition may be over a limit */

#endif
