/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a sample in memory: their values as Cassandra stores them, row after row.
 *
 *     u32 size, serialised partition key | of each other column u32 size + 1 (0: null), value
 *
 * Columns are in the order of an sstable: clustering columns, then regular and static columns, the latter two
 * sorted by name. */
#ifndef SAMPLE_ROWS_H
#define SAMPLE_ROWS_H

#include "lab/scenario.h"

#define SAMPLE_COLUMNS_MAX LAB_COLUMNS_MAX

struct sample_column {
    const struct lab_column *column;
    enum cass_type type;
    bool is_in_file, is_descending;
    bool occurs; /* the column has a value in some row */
    size_t field;
};

struct sample_row {
    const struct sample_rows *rows;
    int64_t token, timestamp_us;
    uint64_t at;     /* offset in sample_rows.bytes */
    uint64_t number; /* number of the row in the file */
};

struct sample_rows {
    struct sample_column keys[SAMPLE_COLUMNS_MAX]; /* columns of the partition key */
    size_t key_count;
    /* All other columns: clustering columns, regular columns from index `regular`, static columns from index
     * `statics`. */
    struct sample_column others[SAMPLE_COLUMNS_MAX];
    size_t regular, statics, other_count;
    uint8_t *bytes;
    size_t size, capacity;
    struct sample_row *rows;
    size_t count, rows_capacity;
};

/* Each returns the value at offset *at, and advances *at past it. A value with NULL bytes is null. */
struct cass_bytes sample_rows_key(const struct sample_rows *rows, uint64_t *at);
struct cass_bytes sample_rows_value(const struct sample_rows *rows, uint64_t *at);

/* Reads the file. The caller must clear *out even after a failure. */
bool sample_rows_read(const struct lab_scenario *scenario, const char *path, struct sample_rows *out,
                      struct sim_error *error);
/* Sorts by token, partition key and clustering columns; rows that are equal in all of these stay in the order
 * of the file. */
void sample_rows_sort(struct sample_rows *rows);
/* Whether two rows are in the same partition, and whether they have the same primary key. */
bool sample_rows_share_partition(const struct sample_row *a, const struct sample_row *b);
bool sample_rows_are_same(const struct sample_row *a, const struct sample_row *b);
void sample_rows_clear(struct sample_rows *rows);

#endif
