/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Data.db file of an sstable, as Cassandra writes a partition into it, before compression: format `nb`
 * (`big`, of 4.0 to 5.0), and `da` (`bti`, and `oa` alike), in which a partition that is not deleted says so
 * in 1 byte instead of 12.
 *
 *     partition: u16 key size, key, deletion | static row, if the sstable has static columns | rows | 0x01
 *     row:       flags, clustering | vint body size | vint size of the item before it | body
 *     body:      liveness | deletion | which columns, if not all | cells
 *     cell:      flags | timestamp, ttl, deletion time, as far as not the row's | value
 *
 * Timestamps, times to live and deletion times are differences from the least of the whole sstable, as
 * unsigned vints; a value of variable length has its length before it. Sources: apache/cassandra 5.0.4
 * db/rows/UnfilteredSerializer.java, db/rows/Cell.java, db/ClusteringPrefix.java, db/Columns.java,
 * db/DeletionTime.java, db/SerializationHeader.java, io/sstable/format/SortedTablePartitionWriter.java. */
#ifndef CASSANDRA_SSTABLE_H
#define CASSANDRA_SSTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/token.h"

#define CASS_SSTABLE_COLUMNS_MAX                                                                             \
    63u /* of a kind; from 64 on Cassandra writes subsets of columns in another way */

enum cass_sstable_format { CASS_SSTABLE_NB, CASS_SSTABLE_DA, CASS_SSTABLE_FORMAT_COUNT };

/* The bytes of an unsigned vint: 1 up to 2^7 - 1, 2 up to 2^14 - 1 ... 8 up to 2^56 - 1, 9 beyond. */
static inline uint32_t cass_vint_size(uint64_t value)
{
    uint32_t bits = 64 - (uint32_t)__builtin_clzll(value | 1);
    return (bits * 9 + 63) >> 6; /* (bits + 6) / 7, and 9 above 56 */
}

struct cass_type_list {
    const enum cass_type *types;
    size_t count;
};

/* What the sstable's header says. `regular` and `statics` are the columns that occur in it, in order of their
 * names; a value of variable length stands with its length, and a clustering column of none too, whatever its
 * direction. */
struct cass_sstable {
    enum cass_sstable_format format;
    struct cass_type_list clustering, regular, statics;
    /* The least of the sstable; 0 where nothing has one. */
    int64_t timestamp_us_min, deletion_s_min;
    uint32_t ttl_s_min;
};

struct cass_deletion {
    int64_t timestamp_us, local_s;
};

/* A value in its serialised form; of size 0: an empty one, which costs its flag alone. bytes may be NULL
 * where nothing but sizes is wanted. */
struct cass_bytes {
    const void *bytes;
    size_t size;
};

struct cass_stored_cell {
    bool is_present; /* else the row has no such cell */
    bool is_deleted; /* a tombstone, with expires_s as its deletion time, and no value */
    struct cass_bytes value;
    int64_t timestamp_us;
    uint32_t ttl_s; /* 0: it does not expire */
    int64_t expires_s;
};

struct cass_stored_row {
    bool is_static; /* then without clustering */
    const struct cass_bytes *clustering;
    /* The liveness of the primary key, which INSERT writes and UPDATE does not. */
    bool has_liveness;
    int64_t timestamp_us;
    uint32_t ttl_s;
    int64_t expires_s;
    const struct cass_deletion *deletion; /* NULL: none */
    const struct cass_stored_cell *cells; /* one for each regular, or static, column */
};

/* Where a range tombstone begins or ends, by the first `size` clustering columns. */
enum cass_bound { CASS_BOUND_BEGIN_AT, CASS_BOUND_BEGIN_AFTER, CASS_BOUND_END_BEFORE, CASS_BOUND_END_AT };

/* Writes a file partition by partition, or, with out == NULL, counts its bytes alone. Of zeros except for the
 * sstable it is ready; cass_sstable_clear() frees what was written. */
struct cass_sstable_writer {
    const struct cass_sstable *sstable;
    bool keeps; /* the bytes themselves, in out */
    uint8_t *out;
    size_t capacity;
    uint64_t size;        /* written so far */
    uint64_t begin, item; /* where the partition began, and within it the latest row or bound; 0: none yet */
    bool out_of_memory;   /* sticky; the size goes on counting */
};

/* In this order: begin, the static row where the sstable has static columns (of no cells where the partition
 * has none), rows and bounds in clustering order, end, which returns the partition's bytes. deletion: NULL:
 * none. */
void cass_sstable_begin(struct cass_sstable_writer *writer, const void *key, size_t key_size,
                        const struct cass_deletion *deletion);
void cass_sstable_row(struct cass_sstable_writer *writer, const struct cass_stored_row *row);
void cass_sstable_bound(struct cass_sstable_writer *writer, enum cass_bound bound,
                        const struct cass_bytes *clustering, size_t size,
                        const struct cass_deletion *deletion);
uint64_t cass_sstable_end(struct cass_sstable_writer *writer);
void cass_sstable_clear(struct cass_sstable_writer *writer);

/* The bytes of a counter's value that `leaders` nodes have counted: a header, and an id, a clock and a count
 * of each. */
#define CASS_COUNTER_VALUE_SIZE(leaders) (2u + (leaders)*34u)

#endif
