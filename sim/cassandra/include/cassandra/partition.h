/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The size of a partition, and the load of a node. */
#ifndef CASSANDRA_PARTITION_H
#define CASSANDRA_PARTITION_H

#include <stdint.h>

#define CASS_PARTITION_CELLS_MAX                                                                             \
    UINT64_C(2000000000) /* Cassandra's hard limit; cassandra doc data_modeling/intro.adoc */

struct cass_partition {
    uint64_t rows;
    uint64_t bytes;
};

/* The data that a node stores, including replicas. */
struct cass_node_load {
    uint64_t rows;
    uint64_t bytes;
};

#endif
