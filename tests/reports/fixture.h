/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made results for the tests and the gallery, without a run. All functions assert on failure; the caller
 * frees a result with lab_result_destroy(). */
#ifndef TESTS_REPORTS_FIXTURE_H
#define TESTS_REPORTS_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "lab/result.h"

/* A scenario without strategies so far: limits 100K rows, 100 MB, tiny below 24. */
struct lab_result *fixture_result(const char *name, const char *source);
/* Adds an empty strategy. label NULL: the name of its kind. */
struct lab_strategy_result *fixture_add(struct lab_result *result, const char *label,
                                        const struct bk_strategy *strategy);
/* Adds `count` closed (or open) partitions of `rows` rows of 350 bytes. */
void fixture_put(struct lab_strategy_result *strategy, bool is_open, uint64_t rows, uint64_t count);
/* Adds partitions whose sizes are evenly spaced in the logarithm from least to most. */
void fixture_spread(struct lab_strategy_result *strategy, bool is_open, double least, double most,
                    uint64_t count);
/* Adds closed partitions with the exact distribution: the quantiles (i + 1/2) / count. */
void fixture_distribution(struct lab_strategy_result *strategy, double p, uint64_t threshold, uint64_t count);
/* Adds the metrics that follow from the histograms, and the costs; reads_mean 0: no reads. */
void fixture_metrics(const struct lab_result *result, struct lab_strategy_result *strategy, double extra_ops,
                     double reads_mean, double reads_p99);

/* The five kinds of strategy, as in the contract's scenario, and views of a change. */
struct lab_result *fixture_five(void);

/* LeakSanitizer calls these functions by name: Fontconfig 2.14 leaks a few bytes while it reads its
 * configuration. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

enum { FIXTURE_COUNT = 34 };
/* The special cases, 0 to FIXTURE_COUNT - 1. A case's name is also its scenario's name. */
struct lab_result *fixture_case(size_t index);

#endif
