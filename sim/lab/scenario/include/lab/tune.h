/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune` in a scenario: the requirements on a recommended setting, and which kinds of strategies compete. */
#ifndef LAB_TUNE_H
#define LAB_TUNE_H

#include <stdbool.h>
#include <stdint.h>

struct lab_tune {
    double share; /* limits.over_limit_share: the share of partitions that may exceed a limit */
    double risk;  /* as read, if the file has it; `share` is what counts */
    double tiny;  /* the share of closed partitions that may be tiny; negative, the default: any */
    double partitions_per_read; /* the largest allowed p99; 0, the default: any */
    double confidence;          /* confidence of statements about other seeds; default 95 % */
    double
        tolerance;  /* settings whose load is within this share of the least count as equal; default 0.5 % */
    uint32_t seeds; /* the most seeds with which a setting is run; default 8 */
    uint32_t kinds; /* bit k: strategies of kind k compete; default: all kinds */
};

#define LAB_TUNE_SEEDS_MAX  1000u
#define LAB_TUNE_CONFIDENCE 0.95
#define LAB_TUNE_TOLERANCE  0.005

#endif
