/* SPDX-License-Identifier: MIT */
/* Buckets with a greatest age: a bucket begins with its first row and ends at the next line of the grid. */
#ifndef BUCKETING_AGE_H
#define BUCKETING_AGE_H

#include "bucketing/route.h"

/* strategy: checked, with a greatest age; state: one of it. *out comes as a route that holds everywhere. */
void bk_route_aged(const struct bk_strategy *strategy, const struct bk_key_state *state,
                   const struct bk_row *row, struct bk_route *out);
/* When the row begins a bucket, the state of that; else it stays as it is. *effect comes zeroed. */
void bk_begin_aged(const struct bk_strategy *strategy, struct bk_key_state *state, const struct bk_row *row,
                   struct bk_effect *effect);

#endif
