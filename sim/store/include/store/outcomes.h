/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outcomes of the finished runs of an unfinished `tune SCENARIO`, so that the command can be repeated
 * without making these runs again. They are removed when the tune ends (store_tune_save(),
 * store_outcomes_forget()). */
#ifndef STORE_OUTCOMES_H
#define STORE_OUTCOMES_H

#include "store/store.h"

/* Two digests that identify a tune. `identity`: the program's version, the contents of scenario and trace,
 * and all options; only a tune with the same identity uses stored outcomes. `command`: the command line; when
 * a tune ends, the outcomes of the same command are removed, even if the scenario or the program has changed
 * since. */
struct store_tune {
    uint64_t command, identity;
};
struct store_outcome {
    uint64_t job; /* digest of everything that determines this run */
    size_t size;
    unsigned char *bytes; /* opaque */
};

/* Loads the outcomes of this identity, without those whose bytes are damaged. The caller must free *out with
 * store_outcomes_free(). */
bool store_outcomes_load(struct store *store, const struct store_tune *tune, struct store_outcome **out,
                         size_t *count, struct sim_error *error);
void store_outcomes_free(struct store_outcome *outcomes, size_t count);
/* Stores all of the outcomes or none. */
bool store_outcomes_keep(struct store *store, const struct store_tune *tune,
                         const struct store_outcome *outcomes, size_t count, struct sim_error *error);
/* Removes the outcomes of this command, and those of this identity. */
bool store_outcomes_forget(struct store *store, const struct store_tune *tune, struct sim_error *error);

#endif
