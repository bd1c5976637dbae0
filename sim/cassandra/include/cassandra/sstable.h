/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Data.db file of an sstable, as Cassandra writes a partition into it, before compression: format `nb`
 * (`big`, of 4.0 to 5.0), and `da` (`bti`, and `oa` alike), in which the deletion time of a partition that is
 * not deleted takes 1 byte instead of 12.
 *
 *     partition: u16 key size, key, deletion | static row, if the sstable has static columns | rows | 0x01
 *     row:       flags, clustering | vint body size | vint size of the item before it | body
 *     body:      liveness | deletion | which columns, if not all | cells
 *     cell:      flags | timestamp, ttl, deletion time, as far as not the row's | value
 *
 * Timestamps, times to live and deletion times are stored as differences from the smallest one of the whole
 * sstable, as unsigned vints; a value of variable length is preceded by its length. Sources: apache/cassandra
 * 5.0.4 db/rows/UnfilteredSerializer.java, db/rows/Cell.java, db/ClusteringPrefix.java, db/Columns.java,
 * db/DeletionTime.java, db/SerializationHeader.java, io/sstable/format/SortedTablePartitionWriter.java. */
#ifndef CASSANDRA_SSTABLE_H
#define CASSANDRA_SSTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/token.h"

#define CASS_SSTABLE_COLUMNS_MAX                                                                             \
    63u /* per kind; from 64 columns on, Cassandra encodes subsets of columns differently */

enum cass_sstable_format { CASS_SSTABLE_NB, CASS_SSTABLE_DA, CASS_SSTABLE_FORMAT_COUNT };

/* The number of bytes of an unsigned vint: 1 up to 2^7 - 1, 2 up to 2^14 - 1, and so on to 8 up to 2^56 - 1;
 * 9 for larger values. */
static inline uint32_t cass_vint_size(uint64_t value)
{
    uint32_t bits = 64 - (uint32_t)__builtin_clzll(value | 1);
    return (bits * 9 + 63) >> 6; /* (bits + 6) / 7, and 9 above 56 */
}

struct cass_type_list {
    const enum cass_type *types;
    size_t count;
};

/* The contents of the sstable's header. `regular` and `statics` are the types of the columns that occur in
 * it, in order of their names. The direction of clustering columns does not affect sizes. */
struct cass_sstable {
    enum cass_sstable_format format;
    struct cass_type_list clustering, regular, statics;
    /* The smallest values in the sstable; 0 if no item has one. */
    int64_t timestamp_us_min, deletion_s_min;
    uint32_t ttl_s_min;
};

struct cass_deletion {
    int64_t timestamp_us, local_s;
};

/* A serialised value. A value of size 0 takes only its flag. bytes may be NULL if only sizes are computed. */
struct cass_bytes {
    const void *bytes;
    size_t size;
};

struct cass_stored_cell {
    bool is_present; /* false: the row has no such cell */
    bool is_deleted; /* a tombstone, with expires_s as its deletion time, and no value */
    struct cass_bytes value;
    int64_t timestamp_us;
    uint32_t ttl_s; /* 0: it does not expire */
    int64_t expires_s;
};

struct cass_stored_row {
    bool is_static; /* a static row, which has no clustering */
    const struct cass_bytes *clustering;
    /* The primary key's liveness info, which INSERT writes and UPDATE does not. */
    bool has_liveness;
    int64_t timestamp_us;
    uint32_t ttl_s;
    int64_t expires_s;
    const struct cass_deletion *deletion; /* NULL: none */
    const struct cass_stored_cell
        *cells; /* one for each regular column or, in a static row, each static column */
};

/* The kind of a range tombstone's bound, which is given by the first `size` clustering columns. */
enum cass_bound { CASS_BOUND_BEGIN_AT, CASS_BOUND_BEGIN_AFTER, CASS_BOUND_END_BEFORE, CASS_BOUND_END_AT };

/* Writes a file partition by partition or, unless `keeps`, only counts its bytes. To begin, zero the struct
 * and set `sstable`. cass_sstable_clear() frees the memory. */
struct cass_sstable_writer {
    const struct cass_sstable *sstable;
    bool keeps; /* keep the bytes, in `out` */
    uint8_t *out;
    size_t capacity;
    uint64_t size;        /* bytes written so far */
    uint64_t begin, item; /* offset of the partition, and of the last row or bound in it; 0: none yet */
    bool out_of_memory;   /* never cleared; `size` is still counted */
};

/* The calls for a partition, in this order: begin; the static row, if the sstable has static columns (without
 * cells, if the partition has no static values); rows and bounds in clustering order; end, which returns the
 * partition's bytes. deletion may be NULL. */
void cass_sstable_begin(struct cass_sstable_writer *writer, const void *key, size_t key_size,
                        const struct cass_deletion *deletion);
void cass_sstable_row(struct cass_sstable_writer *writer, const struct cass_stored_row *row);
void cass_sstable_bound(struct cass_sstable_writer *writer, enum cass_bound bound,
                        const struct cass_bytes *clustering, size_t size,
                        const struct cass_deletion *deletion);
uint64_t cass_sstable_end(struct cass_sstable_writer *writer);
void cass_sstable_clear(struct cass_sstable_writer *writer);

/* The bytes of a counter's value with shards of `leaders` nodes: a header, and an id, a clock and a count per
 * shard. */
#define CASS_COUNTER_VALUE_SIZE(leaders) (2u + (leaders)*34u)

#endif
