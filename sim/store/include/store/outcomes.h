/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an unfinished command has done, so that the same command need not do it again: the outcomes of the
 * finished runs of `tune SCENARIO`, and the partial result of a run. They are removed when the work ends. */
#ifndef STORE_OUTCOMES_H
#define STORE_OUTCOMES_H

#include "store/store.h"

/* Two digests that identify a work. `identity`: the program's version, the contents of the scenario, and all
 * options; only a work with the same identity uses stored outcomes. `command`: the command line; when a work
 * ends, the outcomes of the same command are removed, even if the scenario or the program has changed
 * since. */
struct store_work {
    uint64_t command, identity;
};
struct store_outcome {
    uint64_t job; /* digest of what, beyond the identity, determines this outcome */
    size_t size;
    unsigned char *bytes; /* opaque */
};

/* Loads the outcomes of this identity, without those whose bytes are damaged. The caller must free *out with
 * store_outcomes_free(). */
bool store_outcomes_load(struct store *store, const struct store_work *work, struct store_outcome **out,
                         size_t *count, struct sim_error *error);
void store_outcomes_free(struct store_outcome *outcomes, size_t count);
/* Stores all of the outcomes or none. */
bool store_outcomes_keep(struct store *store, const struct store_work *work,
                         const struct store_outcome *outcomes, size_t count, struct sim_error *error);
/* Removes the outcomes of this command, and those of this identity. */
bool store_outcomes_forget(struct store *store, const struct store_work *work, struct sim_error *error);

#endif
