/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a sample in memory: their values as Cassandra stores them, one row behind the other.
 *
 *     u32 size, serialised partition key | of each other column u32 size + 1 (0: null), value
 *
 * Columns stand in the order of an sstable: clustering, regular and static ones, the latter two by name. */
#ifndef SAMPLE_ROWS_H
#define SAMPLE_ROWS_H

#include "lab/scenario.h"

#define SAMPLE_COLUMNS_MAX LAB_COLUMNS_MAX

struct sample_column {
    const struct lab_column *column;
    enum cass_type type;
    bool is_in_file, is_descending;
    bool occurs; /* in some row */
    size_t field;
};

struct sample_row {
    const struct sample_rows *rows;
    int64_t token, timestamp_us;
    uint64_t at;     /* in the bytes */
    uint64_t number; /* in the file */
};

struct sample_rows {
    struct sample_column keys[SAMPLE_COLUMNS_MAX]; /* of the partition key */
    size_t key_count;
    /* The others: clustering, from `regular` on regular, from `statics` on static. */
    struct sample_column others[SAMPLE_COLUMNS_MAX];
    size_t regular, statics, other_count;
    uint8_t *bytes;
    size_t size, capacity;
    struct sample_row *rows;
    size_t count, rows_capacity;
};

/* A value in the bytes: at `*at`, which moves behind it. NULL bytes: null. */
struct cass_bytes sample_rows_key(const struct sample_rows *rows, uint64_t *at);
struct cass_bytes sample_rows_value(const struct sample_rows *rows, uint64_t *at);

/* Reads the file. On failure what was read is to be cleared as well. */
bool sample_rows_read(const struct lab_scenario *scenario, const char *path, struct sample_rows *out,
                      struct sim_error *error);
/* By token, partition key and clustering; what is equal in all of them as in the file. */
void sample_rows_sort(struct sample_rows *rows);
/* Whether two rows are of one partition, and have one primary key. */
bool sample_rows_share_partition(const struct sample_row *a, const struct sample_row *b);
bool sample_rows_are_same(const struct sample_row *a, const struct sample_row *b);
void sample_rows_clear(struct sample_rows *rows);

#endif
