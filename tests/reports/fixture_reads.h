/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hand-made results with reads of all sorts. */
#ifndef TESTS_REPORTS_FIXTURE_READS_H
#define TESTS_REPORTS_FIXTURE_READS_H

#include "fixture.h"

/* Adds `count` reads that queried `partitions` partitions each. */
void fixture_read(struct lab_strategy_result *strategy, uint64_t partitions, uint64_t count);
/* Adds the metrics of the reads so far; `empties`: partitions without a row per read. */
void fixture_read_metrics(struct lab_strategy_result *strategy, double empties);

enum { FIXTURE_READS_COUNT = 6 };
/* The cases: from a single value to 1 to 10^9 and 0, with alarms, and with strategies without reads. */
struct lab_result *fixture_reads_case(size_t index);

#endif
