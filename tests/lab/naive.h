/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second, slow stream engine for tests: every row is routed by itself, every partition and every second is
 * kept, and a reader walks its buckets one by one. It shares the rows and the core with the real engine, and
 * nothing else. */
#ifndef TESTS_LAB_NAIVE_H
#define TESTS_LAB_NAIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/scenario.h"

struct naive_partition {
    uint64_t key_index;
    int64_t bucket;
    uint64_t rows, bytes;
    int64_t first_ns; /* its first row */
    int64_t second;
    uint64_t rows_in_second;
    bool is_closed, is_reopened;
};

struct naive_read {
    enum lab_read_kind kind;
    uint64_t partitions, empties, scanned;
    bool is_incomplete, is_out_of_order;
};

struct naive_result {
    struct naive_partition *partitions;
    size_t partition_count, partition_capacity;
    struct naive_read *reads;
    size_t read_count, read_capacity;
    uint64_t rows, keys, counter_increments, state_writes, state_reads, peak, digest;
    int64_t *empty; /* windows of the key under way that its readers remember */
    size_t empty_count, empty_capacity;
    uint64_t late, into_closed, reopened;
};

/* One strategy of a made workload. Aborts without memory. */
struct naive_result *naive_run(const struct lab_scenario *scenario, const struct lab_strategy *strategy);
void naive_free(struct naive_result *result);

#endif
