/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that do not stay: those with a time to live, and those that are deleted some time after they were
 * written. Either leaves a tombstone in its partition. */
#ifndef LAB_GONE_H
#define LAB_GONE_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/scenario.h"

/* What has become of a row. */
enum lab_fate { LAB_FATE_LIVE, LAB_FATE_DELETED, LAB_FATE_EXPIRED };

static inline bool lab_rows_go(const struct lab_scenario *scenario)
{
    return scenario->row_ttl_ns > 0 || scenario->deletes.share > 0;
}

/* How long after it was written a row is deleted; -1: it is not. A function of (seed, key, row), so that both
 * engines and all strategies delete the same rows. */
int64_t lab_deleted_after(const struct lab_scenario *scenario, uint64_t entity, uint64_t row);

/* At end_ns, of a row that was written at written_ns. A time to live counts whole seconds, as Cassandra's. */
enum lab_fate lab_row_fate(const struct lab_scenario *scenario, uint64_t entity, uint64_t row,
                           int64_t written_ns, int64_t end_ns);

/* Of a scenario with a time to live: a row that was written at this time or later is live at now_ns, and one
 * before it has expired. */
int64_t lab_live_since(const struct lab_scenario *scenario, int64_t now_ns);

/* The tombstones of expired and deleted rows: an expired row is one for each of its cells. Which of them
 * expired is not known where rows are deleted too; each then counts as one. */
static inline uint64_t lab_tombstones_of(const struct lab_scenario *scenario, uint64_t gone)
{
    bool expires = scenario->row_ttl_ns > 0 && scenario->deletes.share <= 0;
    return expires ? gone * scenario->workload.row_cells : gone;
}

#endif
