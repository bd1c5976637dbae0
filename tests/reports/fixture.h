/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results made by hand, for the tests and the gallery: no run stands behind them. Everything asserts; the
 * caller gives a result back with lab_result_destroy(). */
#ifndef TESTS_REPORTS_FIXTURE_H
#define TESTS_REPORTS_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "lab/result.h"

/* A scenario without strategies yet: limits 100K rows, 100 MB, tiny below 24. */
struct lab_result *fixture_result(const char *name, const char *source);
/* The next strategy, empty. label NULL: its kind. */
struct lab_strategy_result *fixture_add(struct lab_result *result, const char *label,
                                        const struct bk_strategy *strategy);
/* count closed (or open) partitions of `rows` rows of 350 bytes. */
void fixture_put(struct lab_strategy_result *strategy, bool is_open, uint64_t rows, uint64_t count);
/* Sizes spread evenly in the logarithm from least to most. */
void fixture_spread(struct lab_strategy_result *strategy, bool is_open, double least, double most,
                    uint64_t count);
/* Closed sizes of the exact distribution: the quantiles (i + 1/2) / count. */
void fixture_distribution(struct lab_strategy_result *strategy, double p, uint64_t threshold, uint64_t count);
/* Adds the metrics that follow from the histograms, and the costs; reads_mean 0: without reads. */
void fixture_metrics(const struct lab_result *result, struct lab_strategy_result *strategy, double extra_ops,
                     double reads_mean, double reads_p99);

/* The five kinds, as in the contract's scenario, and views of a change. */
struct lab_result *fixture_five(void);

/* What LeakSanitizer asks for by these names: Fontconfig 2.14 loses a few bytes while it reads its own
 * configuration. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

enum { FIXTURE_COUNT = 34 };
/* Every special case in turn, 0 to FIXTURE_COUNT - 1. The name is the scenario's too. */
struct lab_result *fixture_case(size_t index);

#endif
