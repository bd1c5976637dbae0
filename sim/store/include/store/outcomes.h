/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the finished runs of a `tune SCENARIO` came to, while it is under way: a later one has no need to make
 * these runs again. They go when it ends (store_tune_save(), store_outcomes_forget()). */
#ifndef STORE_OUTCOMES_H
#define STORE_OUTCOMES_H

#include "store/store.h"

/* Digests. Outcomes are of use to a tune of the same identity alone: the program's version, the bytes of
 * scenario and trace, and all options. The command tells which outcomes are to go when a tune ends: those of
 * the same command line, though the scenario or the program was another then. */
struct store_tune {
    uint64_t command, identity;
};
struct store_outcome {
    uint64_t job; /* digest of what makes this run */
    size_t size;
    unsigned char *bytes; /* opaque */
};

/* Those of this identity; one whose bytes have changed is left out. Freed by store_outcomes_free(). */
bool store_outcomes_load(struct store *store, const struct store_tune *tune, struct store_outcome **out,
                         size_t *count, struct sim_error *error);
void store_outcomes_free(struct store_outcome *outcomes, size_t count);
/* Keeps all of them or none. */
bool store_outcomes_keep(struct store *store, const struct store_tune *tune,
                         const struct store_outcome *outcomes, size_t count, struct sim_error *error);
/* Removes those of this command, and of this identity. */
bool store_outcomes_forget(struct store *store, const struct store_tune *tune, struct sim_error *error);

#endif
