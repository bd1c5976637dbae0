/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a strategy as in a scenario: one element of `strategies` in YAML's flow style, to paste into a
 * scenario or to pass as an override. Parsing it gives the same strategy. Changes (`then`) are left out. */
#ifndef TUNE_STRATEGY_TEXT_H
#define TUNE_STRATEGY_TEXT_H

#include "lab/scenario.h"

#define TUNE_STRATEGY_TEXT_SIZE 768

/* "probabilistic: {bits: 9, threshold: 40, label: mine}"; buffer holds TUNE_STRATEGY_TEXT_SIZE. */
void tune_strategy_text(const struct lab_strategy *strategy, char *buffer);

#endif
