/* SPDX-License-Identifier: GPL-3.0-or-later */
/* monotone: in the order of row times a key's buckets never go back, whoever placed the rows. */
#include <inttypes.h>

#include "cluster_run.h"

void lab_monotone_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                         int64_t time_ns, const struct lab_extreme *higher)
{
    bool is_early = partition->below.time_ns[0] > time_ns;
    if (!is_early && -higher->time_ns[0] >= time_ns)
        return;
    int64_t other_ns = is_early ? partition->below.time_ns[0] : -higher->time_ns[0];
    lab_violate(run, LAB_ORACLE_MONOTONE, partition->key, 1,
                "row %" PRIu64 " of %.6f s goes to bucket %" PRId64 ", one of %.6f s went to a %s one", row,
                lab_seconds(run, time_ns), partition->bucket, lab_seconds(run, other_ns),
                is_early ? "lower" : "higher");
}
