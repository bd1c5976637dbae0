/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bucket offsets of Cassandra's EstimatedHistogram. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/estimated_histogram.h"
#include "cassandra/sstable.h"
#include "kernel/grow.h"

/* Java's Math.round(x) is floor(x + 1/2). */
static uint64_t next(uint64_t offset)
{
    uint64_t grown = (uint64_t)((double)offset * 1.2 + 0.5);
    return grown == offset ? offset + 1 : grown;
}

void cass_histogram_offsets(uint64_t *out, size_t count)
{
    uint64_t offset = 1;
    for (size_t i = 0; i < count; i++, offset = next(offset))
        out[i] = offset;
}

uint64_t cass_histogram_above(uint64_t offset)
{
    uint64_t above = 0, at = 1;
    for (size_t i = 1; i < CASS_HISTOGRAM_OFFSETS && at < offset; i++) {
        above = at;
        at = next(at);
    }
    return at == offset ? above : 0;
}

/* Serialises partitions as Cassandra's UnfilteredSerializer does. The writer can also be used without a
 * buffer; then it only counts the bytes. */

/* Flags of an item, which is a row or a bound, and of a cell. */
enum item_flag {
    ITEM_END = 0x01,
    ITEM_BOUND = 0x02,
    ITEM_TIMESTAMP = 0x04,
    ITEM_TTL = 0x08,
    ITEM_DELETION = 0x10,
    ITEM_ALL_COLUMNS = 0x20,
    ITEM_EXTENDED = 0x80
};
enum cell_flag {
    CELL_DELETED = 0x01,
    CELL_EXPIRES = 0x02,
    CELL_EMPTY = 0x04,
    CELL_ROW_TIMESTAMP = 0x08,
    CELL_ROW_TTL = 0x10
};
#define EXTENDED_STATIC 0x01u

static void put(struct cass_sstable_writer *writer, const void *bytes, size_t size)
{
    uint64_t end = writer->size + size;
    if (writer->keeps && !writer->out_of_memory)
        writer->out_of_memory = !sim_grow(&writer->out, &writer->capacity, end, 1);
    if (writer->keeps && !writer->out_of_memory && size > 0) {
        if (bytes == NULL)
            memset(writer->out + writer->size, 0, size);
        else
            memcpy(writer->out + writer->size, bytes, size);
    }
    writer->size = end;
}

/* Writes a big-endian number. */
static void put_number(struct cass_sstable_writer *writer, uint64_t value, uint32_t size)
{
    uint8_t bytes[8];
    for (uint32_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * (size - 1 - i)));
    put(writer, bytes, size);
}

/* Writes a big-endian number whose first byte has as many leading one bits as bytes follow it. */
static void put_vint(struct cass_sstable_writer *writer, uint64_t value)
{
    uint32_t size = cass_vint_size(value);
    if (size == 9) {
        put_number(writer, 0xff, 1);
        put_number(writer, value, 8);
        return;
    }
    uint64_t ones = 0xffu & ~(0xffu >> (size - 1));
    put_number(writer, value | ones << (8 * (size - 1)), size);
}

static void put_value(struct cass_sstable_writer *writer, enum cass_type type, const struct cass_bytes *value)
{
    if (cass_type_size(type) == 0)
        put_vint(writer, value->size);
    put(writer, value->bytes, value->size);
}

static void put_timestamp(struct cass_sstable_writer *writer, int64_t timestamp_us)
{
    put_vint(writer, (uint64_t)timestamp_us - (uint64_t)writer->sstable->timestamp_us_min);
}

/* Writes 32 bits, because Cassandra casts the difference to an int. */
static void put_local(struct cass_sstable_writer *writer, int64_t local_s)
{
    put_vint(writer, (uint32_t)(local_s - writer->sstable->deletion_s_min));
}

static void put_ttl(struct cass_sstable_writer *writer, uint32_t ttl_s)
{
    put_vint(writer, ttl_s - writer->sstable->ttl_s_min);
}

static void put_deletion(struct cass_sstable_writer *writer, const struct cass_deletion *deletion)
{
    put_timestamp(writer, deletion->timestamp_us);
    put_local(writer, deletion->local_s);
}

/* There are two bits per column, in batches of 32 columns: null, which never occurs in a primary key here,
 * and empty. */
static void put_clustering(struct cass_sstable_writer *writer, const struct cass_bytes *values, size_t count)
{
    for (size_t from = 0; from < count; from += 32) {
        size_t until = count - from > 32 ? from + 32 : count;
        uint64_t header = 0;
        for (size_t i = from; i < until; i++)
            header |= (uint64_t)(values[i].size == 0) << (2 * (i - from));
        put_vint(writer, header);
        for (size_t i = from; i < until; i++) {
            if (values[i].size > 0)
                put_value(writer, writer->sstable->clustering.types[i], &values[i]);
        }
    }
}

static bool has_row_ttl(const struct cass_stored_row *row, const struct cass_stored_cell *cell)
{
    return row->has_liveness && row->ttl_s > 0 && cell->ttl_s == row->ttl_s &&
           cell->expires_s == row->expires_s;
}

static void put_cell(struct cass_sstable_writer *writer, enum cass_type type,
                     const struct cass_stored_row *row, const struct cass_stored_cell *cell)
{
    bool has_value = !cell->is_deleted && cell->value.size > 0;
    bool expires = !cell->is_deleted && cell->ttl_s > 0;
    bool at_row = row->has_liveness && cell->timestamp_us == row->timestamp_us;
    bool by_row = expires && has_row_ttl(row, cell);
    unsigned flags = (has_value ? 0 : (unsigned)CELL_EMPTY) |
                     (cell->is_deleted ? (unsigned)CELL_DELETED : 0) |
                     (expires ? (unsigned)CELL_EXPIRES : 0) | (at_row ? (unsigned)CELL_ROW_TIMESTAMP : 0) |
                     (by_row ? (unsigned)CELL_ROW_TTL : 0);
    put_number(writer, flags, 1);
    if (!at_row)
        put_timestamp(writer, cell->timestamp_us);
    if ((cell->is_deleted || expires) && !by_row)
        put_local(writer, cell->expires_s);
    if (expires && !by_row)
        put_ttl(writer, cell->ttl_s);
    if (has_value)
        put_value(writer, type, &cell->value);
}

/* Writes the part of a row that follows the two sizes. */
static void put_body(struct cass_sstable_writer *writer, const struct cass_stored_row *row,
                     const struct cass_type_list *columns, uint64_t absent)
{
    if (row->has_liveness)
        put_timestamp(writer, row->timestamp_us);
    if (row->has_liveness && row->ttl_s > 0) {
        put_ttl(writer, row->ttl_s);
        put_local(writer, row->expires_s);
    }
    if (row->deletion != NULL)
        put_deletion(writer, row->deletion);
    if (absent != 0)
        put_vint(writer, absent);
    for (size_t i = 0; i < columns->count; i++) {
        if (row->cells[i].is_present)
            put_cell(writer, columns->types[i], row, &row->cells[i]);
    }
}

void cass_sstable_begin(struct cass_sstable_writer *writer, const void *key, size_t key_size,
                        const struct cass_deletion *deletion)
{
    assert(key_size <= CASS_COMPONENT_SIZE_MAX);
    writer->begin = writer->size;
    writer->item = 0;
    put_number(writer, key_size, 2);
    put(writer, key, key_size);
    if (writer->sstable->format == CASS_SSTABLE_NB) {
        put_number(writer, deletion == NULL ? INT32_MAX : (uint64_t)deletion->local_s, 4);
        put_number(writer, deletion == NULL ? (uint64_t)INT64_MIN : (uint64_t)deletion->timestamp_us, 8);
    } else if (deletion == NULL) {
        put_number(writer, 0x80, 1);
    } else {
        put_number(writer, (uint64_t)deletion->timestamp_us, 8);
        put_number(writer, (uint64_t)deletion->local_s, 4);
    }
}

/* Returns the size of the previous item; for the first item, the size of everything before it; for a static
 * row, 0. */
static uint64_t size_before(struct cass_sstable_writer *writer)
{
    uint64_t at = writer->size - writer->begin, before = at - writer->item;
    writer->item = at;
    return before;
}

void cass_sstable_row(struct cass_sstable_writer *writer, const struct cass_stored_row *row)
{
    const struct cass_sstable *sstable = writer->sstable;
    const struct cass_type_list *columns = row->is_static ? &sstable->statics : &sstable->regular;
    assert(columns->count <= CASS_SSTABLE_COLUMNS_MAX);
    uint64_t before = row->is_static ? 0 : size_before(writer), absent = 0;
    for (size_t i = 0; i < columns->count; i++)
        absent |= (uint64_t)!row->cells[i].is_present << i;
    unsigned flags = (row->has_liveness ? (unsigned)ITEM_TIMESTAMP : 0) |
                     (row->has_liveness && row->ttl_s > 0 ? (unsigned)ITEM_TTL : 0) |
                     (row->deletion != NULL ? (unsigned)ITEM_DELETION : 0) |
                     (absent == 0 ? (unsigned)ITEM_ALL_COLUMNS : 0) |
                     (row->is_static ? (unsigned)ITEM_EXTENDED : 0);
    put_number(writer, flags, 1);
    if (row->is_static)
        put_number(writer, EXTENDED_STATIC, 1);
    else
        put_clustering(writer, row->clustering, sstable->clustering.count);
    struct cass_sstable_writer body = {.sstable = sstable};
    put_body(&body, row, columns, absent);
    put_vint(writer, body.size + cass_vint_size(before));
    put_vint(writer, before);
    put_body(writer, row, columns, absent);
}

void cass_sstable_bound(struct cass_sstable_writer *writer, enum cass_bound bound,
                        const struct cass_bytes *clustering, size_t size,
                        const struct cass_deletion *deletion)
{
    static const uint8_t kinds[] = {[CASS_BOUND_BEGIN_AT] = 1,
                                    [CASS_BOUND_BEGIN_AFTER] = 7,
                                    [CASS_BOUND_END_BEFORE] = 0,
                                    [CASS_BOUND_END_AT] = 6};
    uint64_t before = size_before(writer);
    put_number(writer, ITEM_BOUND, 1);
    put_number(writer, kinds[bound], 1);
    put_number(writer, size, 2);
    put_clustering(writer, clustering, size);
    struct cass_sstable_writer body = {.sstable = writer->sstable};
    put_deletion(&body, deletion);
    put_vint(writer, body.size + cass_vint_size(before));
    put_vint(writer, before);
    put_deletion(writer, deletion);
}

uint64_t cass_sstable_end(struct cass_sstable_writer *writer)
{
    put_number(writer, ITEM_END, 1);
    return writer->size - writer->begin;
}

void cass_sstable_clear(struct cass_sstable_writer *writer)
{
    free(writer->out);
    *writer = (struct cass_sstable_writer){0};
}
