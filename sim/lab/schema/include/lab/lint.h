/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lints a scenario before it runs: warns of what its table and strategies are sure, or likely, to bring.
 *
 * It goes by the scenario's own means (rate, popularity, windows, thresholds, sizes), not by its bursts and
 * spikes, so what it estimates is a little less than what may come. Of a trace it knows no rates, and says
 * what follows from the design alone. */
#ifndef LAB_LINT_H
#define LAB_LINT_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

enum lab_risk {
    LAB_RISK_UNBOUNDED,   /* a partition grows for as long as rows come */
    LAB_RISK_HOT_SPOT,    /* one partition at a time takes the writes of all keys */
    LAB_RISK_SKEW,        /* one key's partitions, or the nodes that hold them, have far more than others */
    LAB_RISK_LARGE,       /* every partition is to be over a limit */
    LAB_RISK_CELL_WALL,   /* a partition is to come near Cassandra's 2 billion cells */
    LAB_RISK_OVERWRITTEN, /* rows replace other rows */
    LAB_RISK_TOMBSTONES,  /* a read of a partition is to meet more tombstones than Cassandra likes */
    LAB_RISK_COUNT
};
/* "unbounded", "hot_spot", "skew", "large", "cell_wall", "overwritten", "tombstones". */
const char *lab_risk_name(enum lab_risk risk);

struct lab_warning {
    enum lab_risk risk;
    bool is_certain;    /* by the scenario's own figures it comes to that within the run */
    size_t strategy;    /* its number; SIZE_MAX: of the table, whatever the strategy */
    const char *column; /* its name, the scenario's */
    char text[224], cure[128];
};

struct lab_warnings {
    struct lab_warning *items; /* strategy by strategy */
    size_t count, capacity;
};

/* False when out of memory; then *out is empty. */
bool lab_lint(const struct lab_scenario *scenario, struct lab_warnings *out);
void lab_warnings_clear(struct lab_warnings *warnings);

#ifdef __cplusplus
}
#endif
#endif
