/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many partitions of a run are expected to exceed a limit, by the distribution of their sizes.
 *
 * The rows of a partition are: at most N for `count`; negative binomial for `probabilistic` (tune/odds.h); by
 * tune/weighted.h for `weighted`; and Poisson for windows of `time`, buckets of `hash` and the partitions of
 * `unbucketed`, given the integral of the key's rate, which bursts, spikes and the daily curve change. The
 * bytes of n rows of drawn sizes are a sum of n independent sizes. For a size c, its tail is at most the
 * chance that any size exceeds c, and the Chernoff bound of the sum of those that do not (Fuk and Nagaev
 * 1971); the least bound over some c counts.
 *
 * Nothing is known where rows are deleted, where a table has other partitions than (key, bucket), where
 * settings change during the run, and with agents, except that `count: external` never has more than N. Of a
 * trace, windows and hash buckets are what they are in the run. */
#ifndef TUNE_EXPECTED_H
#define TUNE_EXPECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/judgment.h"
#include "lab/scenario.h"

/* Sets the members of *out that begin with `expected`, and has_distribution; the others are not changed.
 * rows: of the run, at `factor` times the scenario's rate; keys: those with rows. Both are used by the kinds
 * that count rows. The scenario must have a limit. Deterministic; costs some milliseconds at most, or up to a
 * second where keys burst. */
void tune_expected_of(const struct lab_scenario *scenario, const struct lab_settings *settings, double rows,
                      double keys, double factor, struct lab_facts *out);
/* Adds the metrics expected.* to each strategy of a run. False: out of memory. */
bool tune_expected_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error);

#endif
