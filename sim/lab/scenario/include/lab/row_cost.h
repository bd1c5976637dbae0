/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Computes how many bytes the scenario's rows and partitions take in an sstable, in O(1) per row. The result
 * is that of cassandra/sstable.h for rows that were each written by one INSERT of all columns. Everything
 * that is equal for all rows is precomputed.
 *
 * A row's bytes depend on its payload and on the time of its write: times are stored as differences from the
 * sstable's first time, in 1 to 9 bytes (struct lab_row_stamps). One simplification: on disk each row also
 * stores the size of the previous row; here the row's own size takes its place. So a partition's size is
 * exact if the sizes of all its rows have vints of the same length. Otherwise each row whose size is near a
 * step of that length (2^7, 2^14 and so on bytes) may make it wrong by one byte. */
#ifndef LAB_ROW_COST_H
#define LAB_ROW_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/sstable.h"
#include "kernel/random.h"

#ifdef __cplusplus
extern "C" {
#endif

enum lab_row_format { LAB_ROW_NB, LAB_ROW_DA, LAB_ROW_PAYLOAD };

/* The precomputed sizes, which lab_row_cost_make() derives from a checked scenario. */
struct lab_row_cost {
    bool
        is_payload; /* a row's size is its payload, and a partition has no overhead, unlike in any database */
    uint32_t shares;     /* number of columns that share the rest of the payload equally */
    uint64_t own_values; /* total bytes of the values of columns with a fixed size */
    uint64_t own_cells;  /* total bytes of the cells of these columns */
    uint64_t head;       /* bytes of a row's flags and clustering, without the key */
    uint64_t
        partition; /* bytes of a partition without its rows and its key: header, bucket, static row, end */
    bool clusters_by_key; /* the key is a clustering column, so each row contains it */
    bool partitions_by_key;
    int64_t ttl_ns;   /* 0: rows do not expire */
    double deletions; /* mean number of deletions that INSERT writes before complex columns (cass_weight) */
    /* If not 0, rows differ in the number of elements of a complex column: the bytes of an element's values,
     * which are the row's payload, and of its cells. */
    uint64_t element, element_cells;
    /* is_estimated: some columns are missing in some rows, or the columns are counters, whose cells each
     * store a write time. A row's bytes are then estimated by regression on its payload: `beside` is the
     * overhead in bytes, and `cells` the number of cells, of a row with the mean payload; the slopes are
     * their increases per byte of payload. A row has at most cells_most cells. */
    bool is_estimated, is_counter;
    double shares_present; /* mean number of the `shares` columns that a row has */
    double payload_mean, beside, beside_slope, cells, cells_slope, cells_most;
    uint32_t dated; /* number of write times in a row: 1, or one per cell, without a row marker */
    bool has_nulls; /* a column that a row lacks is a tombstone; `nulls` is their mean number */
    double nulls;
};

/* How many bytes a row's times take, as a step function of its write time: bytes[i] for write times before
 * until_ns[i]. In a table with nulls, the bits from 8 on are the bytes of the deletion time of a null. */
#define LAB_ROW_STAMPS_MAX 16u
struct lab_row_stamps {
    uint32_t count;
    int64_t until_ns[LAB_ROW_STAMPS_MAX]; /* ascending; the last is INT64_MAX */
    uint32_t bytes[LAB_ROW_STAMPS_MAX];
};

/* start_ns: when the sstable's first row is written. */
void lab_row_stamps_init(struct lab_row_stamps *out, const struct lab_row_cost *cost, int64_t start_ns);

/* How many bytes a write time takes that is 9.5 hours to 50 days after the sstable's first write time. */
#define LAB_STAMP_USUAL 6u

static inline uint32_t lab_row_stamp_class(const struct lab_row_stamps *stamps, int64_t time_ns)
{
    uint32_t i = 0;
    while (time_ns >= stamps->until_ns[i] && i + 1 < stamps->count)
        i++;
    return i;
}

static inline uint32_t lab_row_stamp(const struct lab_row_stamps *stamps, int64_t time_ns)
{
    return stamps->bytes[lab_row_stamp_class(stamps, time_ns)];
}

/* lab_row_bytes() for is_estimated. */
uint64_t lab_estimated_row_bytes(const struct lab_row_cost *cost, uint64_t payload, uint32_t stamp);

/* The bytes of a row with this payload, without the bytes of a key in its clustering. stamp: lab_row_stamp()
 * of its time of writing. */
static inline uint64_t lab_row_bytes(const struct lab_row_cost *cost, uint64_t payload, uint32_t stamp)
{
    if (cost->is_payload)
        return payload;
    if (cost->is_estimated)
        return lab_estimated_row_bytes(cost, payload, stamp);
    uint64_t rest = payload > cost->own_values ? payload - cost->own_values : 0, cells;
    if (cost->shares == 1) {
        cells = rest == 0 ? 1 : 1 + cass_vint_size(rest) + rest;
    } else {
        uint64_t each = cost->shares == 0 ? 0 : rest / cost->shares,
                 longer = cost->shares == 0 ? 0 : rest % cost->shares;
        cells = cost->shares == 0 ? 0
                                  : cost->shares + rest + longer * cass_vint_size(each + 1) +
                                        (each == 0 ? 0 : (cost->shares - longer) * cass_vint_size(each));
    }
    uint64_t body = (uint64_t)cost->dated * stamp + cost->own_cells + cells;
    uint32_t before = cass_vint_size(cost->head + body + 2);
    return cost->head + cass_vint_size(body + before) + before + body;
}

/* The bytes of the last row, since many rows have the size of the one before. */
struct lab_row_last {
    uint64_t payload, bytes;
    int64_t until_ns; /* `bytes` holds for this payload and write times before this; INT64_MIN: no row yet */
};

void lab_row_last_set(const struct lab_row_cost *cost, const struct lab_row_stamps *stamps, uint64_t payload,
                      int64_t time_ns, struct lab_row_last *last);
/* lab_row_bytes() of a row that is written at time_ns, which must not be before the time of the last row. */
static inline uint64_t lab_row_bytes_at(const struct lab_row_cost *cost, const struct lab_row_stamps *stamps,
                                        uint64_t payload, int64_t time_ns, struct lab_row_last *last)
{
    if (SIM_UNLIKELY(payload != last->payload || time_ns >= last->until_ns))
        lab_row_last_set(cost, stamps, payload, time_ns, last);
    return last->bytes;
}
/* The bytes of the tombstone of a deleted row: its clustering and its deletion time. */
uint64_t lab_tombstone_bytes(const struct lab_row_cost *cost, uint32_t stamp);
/* The overhead of a partition with `rows` rows of `bytes` bytes in all. */
uint64_t lab_partition_bytes(const struct lab_row_cost *cost, size_t key_size, uint64_t rows, uint64_t bytes);
/* The bytes of the key in each row, in a table that clusters by the key: the key with its length. */
static inline uint64_t lab_key_in_row_bytes(const struct lab_row_cost *cost, size_t key_size)
{
    return cost->clusters_by_key && !cost->is_payload ? cass_vint_size(key_size) + key_size : 0;
}

#ifdef __cplusplus
}
#endif
#endif
