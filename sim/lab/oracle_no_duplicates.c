/* SPDX-License-Identifier: GPL-3.0-or-later */
/* no_duplicates: a retried row stands in one bucket only. A row that was put into a second bucket is
 * remembered with the first; both count when a replica holds it, whenever that was. */
#include <inttypes.h>

#include "cluster_run.h"

void lab_no_duplicates_end(struct lab_cluster_run *run)
{
    const struct lab_open_rows *moved = &run->oracles.moved;
    for (size_t i = 0; i < moved->count; i++) {
        const struct lab_open_row *row = &moved->items[i];
        if (cass_row_is_open(run->cluster, row->key, row->bucket, row->row)) {
            run->tally.duplicated++;
            lab_violate(run, LAB_ORACLE_NO_DUPLICATES, row->key, 1,
                        "row %" PRIu64 " stands in bucket %" PRId64 " and in the one of a later try",
                        row->row, row->bucket);
        }
    }
}
