/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that expire or are deleted: rows with a time to live, and rows that are deleted some time after they
 * were written. Either leaves a tombstone in its partition. */
#ifndef LAB_GONE_H
#define LAB_GONE_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/scenario.h"

/* Whether a row is live, deleted or expired. */
enum lab_fate { LAB_FATE_LIVE, LAB_FATE_DELETED, LAB_FATE_EXPIRED };

static inline bool lab_rows_go(const struct lab_scenario *scenario)
{
    return scenario->row_ttl_ns > 0 || scenario->deletes.share > 0;
}

/* How long after it was written a row is deleted; -1: it is not deleted. It is a function of (seed, key,
 * row), so both engines and all strategies delete the same rows. */
int64_t lab_deleted_after(const struct lab_scenario *scenario, uint64_t entity, uint64_t row);

/* The fate at end_ns of a row that was written at written_ns. As in Cassandra, a time to live is in whole
 * seconds. */
enum lab_fate lab_row_fate(const struct lab_scenario *scenario, uint64_t entity, uint64_t row,
                           int64_t written_ns, int64_t end_ns);

/* For a scenario with a time to live: rows that were written at the returned time or later are live at
 * now_ns; earlier rows have expired. */
int64_t lab_live_since(const struct lab_scenario *scenario, int64_t now_ns);

/* The number of tombstones of `gone` expired or deleted rows. An expired row has one tombstone per cell. If
 * rows are deleted too, it is not known how many of them expired, and each row counts as one tombstone. */
static inline uint64_t lab_tombstones_of(const struct lab_scenario *scenario, uint64_t gone)
{
    bool expires = scenario->row_ttl_ns > 0 && scenario->deletes.share <= 0;
    return expires ? gone * scenario->workload.row_cells : gone;
}

#endif
