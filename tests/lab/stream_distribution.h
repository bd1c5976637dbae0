/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream fuzzer's statistical checks: the thinned mode against the exact one, and the sizes of partitions
 * against their exact distribution. Each bound holds for any distribution and any number of samples, none is
 * an approximation.
 *
 * STREAM_FALSE_ALARM is the chance that one comparison fails although nothing is wrong. A seed makes at most
 * 1,800 comparisons, so it fails wrongly with a chance below 2e-15; a campaign of 20,000 seeds, of which
 * every eighth is checked, with one below 1e-11. */
#ifndef TESTS_LAB_STREAM_DISTRIBUTION_H
#define TESTS_LAB_STREAM_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_FALSE_ALARM 1e-18

/* 500 runs of either mode, each with a seed of its own; all metrics that both have. */
bool stream_check_distribution(uint64_t seed, char *message, size_t size);
/* Many keys: one thread and several find the same. */
bool stream_check_threads(uint64_t seed, char *message, size_t size);
/* Reads of the exact mode, drawn and as they are expected; and those of the thinned mode, as expected. */
bool stream_check_expected(uint64_t seed, char *message, size_t size);
/* One key, many partitions; either mode. */
bool stream_check_sizes(uint64_t seed, char *message, size_t size);

#endif
