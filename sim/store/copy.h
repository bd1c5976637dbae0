/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies a row of one database into another, with every row that refers to it.
 *
 * Which tables these are, and by which columns, the schema says itself: a table that refers to a run, or to
 * something of a run, goes along without a word here. Its own INTEGER PRIMARY KEY is given again. */
#ifndef STORE_COPY_H
#define STORE_COPY_H

#include "private.h"

struct store_copier;

/* Both of the same version of the tables, each in a transaction. */
bool store_copier_make(struct store *from, struct store *into, struct store_copier **out,
                       struct sim_error *error);
void store_copier_free(struct store_copier *copier); /* NULL is fine */
/* table: "run" or "sweep". *number is that of the copy. */
bool store_copier_copy(struct store_copier *copier, const char *table, int64_t old, int64_t *number,
                       struct sim_error *error);

#endif
