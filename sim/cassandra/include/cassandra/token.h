/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cassandra's token of a partition key, as Murmur3Partitioner computes it.
 *
 * Token = h1 of Cassandra's murmur3_128 over the serialised key, seed 0; the token of an empty key is
 * INT64_MIN, and a hash of INT64_MIN becomes INT64_MAX. A key with one component is serialised as its raw
 * bytes; with two or more, each component is a big-endian 16-bit length, the bytes and a zero byte. Sources:
 * apache/cassandra dht/Murmur3Partitioner.java, db/marshal/CompositeType.java. */
#ifndef CASSANDRA_TOKEN_H
#define CASSANDRA_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

#define CASS_COMPONENT_SIZE_MAX 65535u

int64_t cass_token(const void *serialised_key, size_t size);

struct cass_component {
    const void *data;
    size_t size; /* at most CASS_COMPONENT_SIZE_MAX */
};
/* The size of the serialised key. */
size_t cass_key_size(const struct cass_component *components, size_t count);
/* Writes the serialised key into `out`, which must have cass_key_size() bytes. count >= 1. */
void cass_key_serialise(const struct cass_component *components, size_t count, uint8_t *out);

enum cass_type {
    CASS_TEXT,
    CASS_ASCII,
    CASS_VARCHAR,
    CASS_BLOB,
    CASS_INT,
    CASS_BIGINT,
    CASS_UUID,
    CASS_TIMEUUID,
    CASS_BOOLEAN,
    CASS_TINYINT,
    CASS_SMALLINT,
    CASS_TIMESTAMP,
    CASS_FLOAT,
    CASS_DOUBLE,
    CASS_DATE,
    CASS_TIME,
    CASS_INET,
    CASS_VARINT,
    CASS_DECIMAL,
    CASS_DURATION,
    CASS_COUNTER, /* values cannot be serialised, and cannot be part of a key */
    CASS_NESTED,  /* a collection, tuple, vector or user type: cass_type_weigh() */
    CASS_TYPE_COUNT = CASS_NESTED
};
/* The types whose values can be written. */
#define CASS_TYPES                                                                                           \
    "text, ascii, varchar, blob, int, bigint, uuid, timeuuid, boolean, tinyint, smallint, timestamp, "       \
    "float, "                                                                                                \
    "double, date, time, inet, varint, decimal, duration"
/* Parses the name of a type, "text" to "counter"; false for any other name. */
bool cass_type_parse(const char *name, enum cass_type *out);
const char *cass_type_name(enum cass_type type);
/* Whether values have any length: text and blob. */
static inline bool cass_type_is_any_length(enum cass_type type)
{
    return type <= CASS_BLOB;
}
/* The bytes of a value of varying length, if nothing says how many; 0: it does not vary. */
uint32_t cass_type_usual(enum cass_type type);
/* The size of a value that an sstable stores without its length; 0: the sstable stores the length, too. The
 * length of tinyint and others is stored although it is always the same. */
uint32_t cass_type_size(enum cass_type type);

/* What an sstable stores of a column, in bytes, without write times. A collection or user type that is not
 * frozen is complex: it has a cell for each element or field, after their number, and INSERT writes a
 * deletion before them. */
struct cass_weight {
    bool is_complex;
    uint64_t count;         /* cells */
    uint64_t value;         /* of all values: those of a map with their keys */
    uint64_t cells;         /* of all cells */
    uint64_t element;       /* is_complex: of the values of one element */
    uint64_t element_cells; /* is_complex: of the cells of one element */
};
#define CASS_ELEMENTS_USUAL 5u
/* Weighs a type as CQL writes it: "map<text, frozen<list<int>>>". bytes: of each value of varying length in
 * it; 0: the usual ones of its type. elements: of each collection; 0: CASS_ELEMENTS_USUAL. users: the user
 * types with their fields, as "\nNAME<TYPE, TYPE>" each, or NULL. Returns whether
 * all of it are types. Source: apache/cassandra db/rows/Cell.java, db/rows/UnfilteredSerializer.java,
 * db/marshal/CollectionType.java, VectorType.java, TupleType.java. */
bool cass_type_weigh(const char *text, const char *users, uint64_t bytes, uint64_t elements,
                     struct cass_weight *out);

/* Converts a CQL literal to the bytes that Cassandra stores: text unchanged, a blob from 0x..., whole numbers
 * big-endian, a timestamp from milliseconds since 1970 or a time with its zone, float and double as IEEE 754,
 * UUIDs as 16 bytes (a timeuuid must have version 1). Types from date on also take their bytes, from 0x...,
 * and a duration only them. The caller must free *out. Errors: SIM_ERROR_INPUT with the value and the
 * expected form. */
bool cass_value_parse(enum cass_type type, const char *text, uint8_t **out, size_t *out_size,
                      struct sim_error *error);

/* Replaces buckets by the tokens of the partition keys (key, bucket) of a bucketed table: key as text of at
 * most CASS_COMPONENT_SIZE_MAX bytes, bucket as bigint. */
void cass_tokens_bucketed(const char *key, size_t key_size, int64_t *buckets, size_t count);

#endif
