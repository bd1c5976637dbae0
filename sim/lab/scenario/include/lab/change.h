/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that change during a run, as the histories that apply at each time.
 *
 * A change that keeps the old settings adds an era to the core's history; all agents know the era and its
 * date from the start. A change that forgets the old settings begins a new regime: from its date on, writers
 * and readers know only the new settings, as when a team edits a constant and deploys. */
#ifndef LAB_CHANGE_H
#define LAB_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/scenario.h"

struct lab_regime {
    int64_t from_ns; /* start of the regime; INT64_MIN for the first */
    struct bk_history history;
};

struct lab_regimes {
    uint32_t count;
    struct lab_regime items[LAB_CHANGES_MAX + 1];
};

/* Makes the regimes of a strategy in a run that starts at start_ns. Returns false when a date overflows a
 * timestamp, or when the core refuses a change; a checked scenario has neither. */
bool lab_regimes_make(const struct lab_strategy *strategy, int64_t start_ns, struct lab_regimes *out);
/* The index of the regime that applies at time_ns. */
uint32_t lab_regime_at(const struct lab_regimes *regimes, int64_t time_ns);

#endif
