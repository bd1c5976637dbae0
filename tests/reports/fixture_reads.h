/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results with reads of all sorts, made by hand. */
#ifndef TESTS_REPORTS_FIXTURE_READS_H
#define TESTS_REPORTS_FIXTURE_READS_H

#include "fixture.h"

/* `count` reads that asked so many partitions each. */
void fixture_read(struct lab_strategy_result *strategy, uint64_t partitions, uint64_t count);
/* The metrics of the reads so far; `empties`: partitions of each without a row. */
void fixture_read_metrics(struct lab_strategy_result *strategy, double empties);

enum { FIXTURE_READS_COUNT = 6 };
/* From one number to 1 to 10^9 and 0, with alarms, and of strategies without reads. */
struct lab_result *fixture_reads_case(size_t index);

#endif
