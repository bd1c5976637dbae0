/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune` in a scenario: what a setting must keep to be recommended, and which settings compete. */
#ifndef LAB_TUNE_H
#define LAB_TUNE_H

#include <stdbool.h>
#include <stdint.h>

struct lab_tune {
    double risk;                /* the share of partitions that may be above a limit; default 0.1 % */
    double tiny;                /* the share of closed ones that may be tiny; negative, the default: any */
    double partitions_per_read; /* the most at p99; 0, the default: any */
    double confidence;          /* with which all is said that is said of other seeds; default 95 % */
    uint32_t seeds;             /* the most that a setting is run with; default 8 */
    uint32_t kinds;             /* bit k: kind k competes; default all */
};

#define LAB_TUNE_SEEDS_MAX 1000u
#define LAB_TUNE_RISK      0.001

#endif
