/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The protocols of count in the stream engine: one writer who never forgets, whose operations take no time.
 * What a key's rows cost then follows from their number. */
#ifndef LAB_COUNT_COST_H
#define LAB_COUNT_COST_H

#include "lab/tally.h"

/* The strategy as rows are placed by it: who counts after every n-th row closes a partition at the first
 * multiple of n that is enough. */
struct bk_strategy lab_counted_strategy(const struct lab_strategy *strategy);
/* Whether a partition is closed by its last row, and not by the first of the next one. */
bool lab_closes_when_full(const struct lab_strategy *strategy);
/* Adds what `rows` rows of one key cost; rows above 0. */
void lab_count_cost(const struct lab_strategy *strategy, uint64_t rows, struct lab_tally *tally);

#endif
