/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a partition holds, and what the nodes that hold it carry. */
#ifndef CASSANDRA_PARTITION_H
#define CASSANDRA_PARTITION_H

#include <stdint.h>

#define CASS_PARTITION_CELLS_MAX                                                                             \
    UINT64_C(2000000000) /* the hard wall; cassandra doc data_modeling/intro.adoc */

struct cass_partition {
    uint64_t rows;
    uint64_t bytes;
};

/* Load of the nodes by data held, replicas included: rows and bytes per node, plain arrays of the caller's.
 */
struct cass_node_load {
    uint64_t rows;
    uint64_t bytes;
};

#endif
