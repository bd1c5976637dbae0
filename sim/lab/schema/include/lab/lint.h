/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lints a scenario before it runs: warns of problems that its table and strategies certainly, or probably,
 * cause.
 *
 * Estimates use the scenario's means (rate, popularity, windows, thresholds, sizes) and ignore bursts and
 * spikes, so they are somewhat low. For a trace no rates are known, and only warnings that follow from the
 * design are made. */
#ifndef LAB_LINT_H
#define LAB_LINT_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

enum lab_risk {
    LAB_RISK_UNBOUNDED, /* a partition grows for as long as rows arrive */
    LAB_RISK_HOT_SPOT,  /* at any one time, all keys write to the same partition */
    LAB_RISK_SKEW,  /* the partitions of one key, or the nodes that store them, get many more rows than others
                     */
    LAB_RISK_LARGE, /* every partition is expected to exceed a limit */
    LAB_RISK_CELL_WALL,   /* a partition is expected to approach Cassandra's limit of 2 billion cells */
    LAB_RISK_OVERWRITTEN, /* rows overwrite other rows */
    LAB_RISK_TOMBSTONES,  /* a read of a partition is expected to scan more tombstones than Cassandra's
                             threshold */
    LAB_RISK_COUNT
};
/* The name of a risk: "unbounded", "hot_spot", "skew", "large", "cell_wall", "overwritten", "tombstones". */
const char *lab_risk_name(enum lab_risk risk);

struct lab_warning {
    enum lab_risk risk;
    bool is_certain;    /* by the scenario's own numbers, it happens within the run */
    size_t strategy;    /* index of the strategy; SIZE_MAX: a warning about the table, for any strategy */
    const char *column; /* name of the column, owned by the scenario */
    char text[224], cure[128];
};

struct lab_warnings {
    struct lab_warning *items; /* in the order of strategies */
    size_t count, capacity;
};

/* Makes the warnings. Returns false, with *out empty, when out of memory. */
bool lab_lint(const struct lab_scenario *scenario, struct lab_warnings *out);
void lab_warnings_clear(struct lab_warnings *warnings);

#ifdef __cplusplus
}
#endif
#endif
