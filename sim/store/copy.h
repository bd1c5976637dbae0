/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies a row of one database into another, with every row that refers to it, directly or indirectly.
 *
 * The tables and columns are found by the foreign keys of the schema, so a new table that refers to a run
 * needs no code here. An INTEGER PRIMARY KEY gets a new value in the target. */
#ifndef STORE_COPY_H
#define STORE_COPY_H

#include "private.h"

struct store_copier;

/* Both databases must have the same version of the schema, and each must be in a transaction. */
bool store_copier_make(struct store *from, struct store *into, struct store_copier **out,
                       struct sim_error *error);
void store_copier_free(struct store_copier *copier); /* copier may be NULL */
/* Copies one row of the table "run" or "sweep", by its number `old`; sets *number to the number of the
 * copy. */
bool store_copier_copy(struct store_copier *copier, const char *table, int64_t old, int64_t *number,
                       struct sim_error *error);

#endif
