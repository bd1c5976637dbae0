/* SPDX-License-Identifier: MIT */
/* bk_weight() without the check of the strategy, for callers that have checked it before, such as agents. */
#ifndef BUCKETING_WEIGHT_H
#define BUCKETING_WEIGHT_H

#include "bucketing/strategy.h"

struct bk_row;

uint64_t bk_weight_of(const struct bk_strategy *strategy, const struct bk_row *row);

#endif
