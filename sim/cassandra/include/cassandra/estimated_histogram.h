/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The buckets in which Cassandra counts sizes of partitions (apache/cassandra,
 * utils/EstimatedHistogram.java): bucket i counts the sizes above offset i - 1, up to offset i. nodetool
 * prints these offsets, not actual sizes. */
#ifndef CASSANDRA_ESTIMATED_HISTOGRAM_H
#define CASSANDRA_ESTIMATED_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

/* The number of offsets for partition sizes in Cassandra 5.0; versions 3.0 to 4.1 have the first 150. The
 * last offset is 3.5e12. */
#define CASS_HISTOGRAM_OFFSETS 155

/* Computes the first `count` offsets: 1, and then each 1.2 times the previous one, rounded, but at least the
 * previous one plus 1. */
void cass_histogram_offsets(uint64_t *out, size_t count);
/* The offset before a given one, which is below all sizes in the bucket; 0 for 1 and for a number that is not
 * an offset. */
uint64_t cass_histogram_above(uint64_t offset);

#endif
