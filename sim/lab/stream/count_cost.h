/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The protocols of count in the stream engine: there is one writer, whose cache never evicts a key and whose
 * operations take no time, so the cost of a key's rows depends only on their number. */
#ifndef LAB_COUNT_COST_H
#define LAB_COUNT_COST_H

#include "lab/tally.h"

/* The strategy by which rows are placed: a writer that counts after every n-th row closes a partition at the
 * first multiple of n that is not below its number of rows. */
struct bk_strategy lab_counted_strategy(const struct lab_strategy *strategy);
/* Whether a partition is closed by its last row, and not by the first row of the next one. */
bool lab_closes_when_full(const struct lab_strategy *strategy);
/* Adds the cost of `rows` rows of one key, above 0, to the tally. */
void lab_count_cost(const struct lab_strategy *strategy, uint64_t rows, struct lab_tally *tally);

#endif
