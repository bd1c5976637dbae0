/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that change in the middle of a run, as the histories that are in force.
 *
 * A change that keeps the old settings is an era of the core's history, known to all from the start by its
 * date. One that forgets them begins a regime of its own: from then on writers and readers know the new
 * settings alone, as a team that edits a constant and deploys. */
#ifndef LAB_CHANGE_H
#define LAB_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/scenario.h"

struct lab_regime {
    int64_t from_ns; /* of the first INT64_MIN */
    struct bk_history history;
};

struct lab_regimes {
    uint32_t count;
    struct lab_regime items[LAB_CHANGES_MAX + 1];
};

/* Of a strategy in a run that starts at start_ns. False: a date overflows a timestamp, or the changes cannot
 * be made; the scenario's checks let none of these through. */
bool lab_regimes_make(const struct lab_strategy *strategy, int64_t start_ns, struct lab_regimes *out);
/* The newest that has begun by then. */
uint32_t lab_regime_at(const struct lab_regimes *regimes, int64_t time_ns);

#endif
