/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream fuzzer's statistical checks: the thinned mode is compared with the exact one, and the sizes of
 * partitions with their exact distribution. Each bound holds for any distribution and any number of samples;
 * none is an approximation. STREAM_FALSE_ALARM is the chance that one comparison fails although nothing is
 * wrong. A seed makes at most 1,800 comparisons, so the chance of a false alarm is below 2e-15 per seed, and
 * below 1e-11 for a campaign of 20,000 seeds, of which every eighth is checked. */
#ifndef TESTS_LAB_STREAM_DISTRIBUTION_H
#define TESTS_LAB_STREAM_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_FALSE_ALARM 1e-18

/* 500 runs of either mode, each with its own seed; all metrics that both modes have. */
bool stream_check_distribution(uint64_t seed, char *message, size_t size);
/* Many keys: one thread and several threads give the same result. */
bool stream_check_threads(uint64_t seed, char *message, size_t size);
/* Compares drawn and expected reads of the exact mode, and expected reads of the thinned mode. */
bool stream_check_expected(uint64_t seed, char *message, size_t size);
/* One key, many partitions, in either mode; and many keys, whose partitions have Poisson numbers of rows. */
bool stream_check_sizes(uint64_t seed, char *message, size_t size);
/* stream_histogram.c: more random sizes than a histogram stores exactly, in parts that are merged. An exact
 * comparison. */
bool stream_check_histogram(uint64_t seed, char *message, size_t size);

#endif
