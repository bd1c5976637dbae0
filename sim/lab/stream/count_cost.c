/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The costs of the protocols of count in the stream engine. */
#include "count_cost.h"

#include <assert.h>

static uint64_t counts_of_partition(const struct lab_strategy *strategy)
{
    return (strategy->settings.strategy.of.count.rows - 1) / strategy->settings.every_rows + 1;
}

struct bk_strategy lab_counted_strategy(const struct lab_strategy *strategy)
{
    struct bk_strategy counted = strategy->settings.strategy;
    uint64_t rows = 0;
    if (lab_closes_when_full(strategy) &&
        !__builtin_mul_overflow(counts_of_partition(strategy), strategy->settings.every_rows, &rows))
        counted.of.count.rows = rows;
    return counted;
}

bool lab_closes_when_full(const struct lab_strategy *strategy)
{
    return strategy->settings.source == BK_SOURCE_INCREMENTAL || strategy->settings.source == BK_SOURCE_SCAN;
}

/* Returns the rows scanned by `counts` counts of n, 2n, 3n, ... rows, where n is every_rows. */
static uint64_t rows_scanned(uint64_t counts, uint64_t every_rows)
{
    return (counts % 2 == 0 ? counts / 2 * (counts + 1) : (counts + 1) / 2 * counts) * every_rows;
}

void lab_count_cost(const struct lab_strategy *strategy, uint64_t rows, struct lab_tally *tally)
{
    uint64_t every_rows = strategy->settings.every_rows, counts = every_rows > 0 ? rows / every_rows : 0;
    assert(rows > 0);
    tally->state_reads +=
        strategy->settings.source >= BK_SOURCE_LWT; /* the first operation reads the state */
    switch (strategy->settings.source) {
    case BK_SOURCE_EXTERNAL:
        break;
    case BK_SOURCE_COUNTER:
        tally->counter_increments += rows;
        tally->state_reads += rows;
        break;
    case BK_SOURCE_LWT:
        tally->lwt += rows;
        break;
    case BK_SOURCE_LEASE:
        tally->lwt += (rows - 1) / strategy->settings.lease_rows + 1;
        break;
    case BK_SOURCE_INCREMENTAL:
        tally->state_reads += counts;
        tally->lwt += counts;
        tally->rows_scanned += counts * every_rows;
        break;
    case BK_SOURCE_SCAN: {
        uint64_t of_partition = counts_of_partition(strategy), full = counts / of_partition;
        /* A roll reads the state again before it writes it. */
        tally->state_reads += counts + full;
        tally->state_writes += full;
        tally->rows_scanned +=
            full * rows_scanned(of_partition, every_rows) + rows_scanned(counts % of_partition, every_rows);
        break;
    }
    case BK_SOURCE_MEMORY:
        tally->state_reads++; /* the first operation counts an empty bucket */
        tally->state_writes += (rows - 1) / strategy->settings.strategy.of.count.rows;
        break;
    }
}
