/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In: the rows of a CSV file, as cqlsh writes them. Keeps them as the bytes that Cassandra stores, sorted by
 * token. Out: the size of their sstable, and of the file when its chunks are compressed. */
#include <assert.h>
#include <inttypes.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/sstable.h"
#include "cassandra/token.h"
#include "kernel/error.h"
#include "kernel/grow.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/scenario.h"
#include "sample/sample.h"
#include "workload/csv.h"

#define SAMPLE_COLUMNS_MAX LAB_COLUMNS_MAX

struct sample_column {
    const struct lab_column *column;
    enum cass_type type;
    bool is_in_file, is_descending;
    bool occurs; /* the column has a value in some row */
    size_t field;
};

struct sample_rows {
    /* The columns of the partition key, and then all others: clustering columns, regular columns from index
     * `regular`, static columns from index `statics`. */
    struct sample_column keys[2 * SAMPLE_COLUMNS_MAX], *others;
    size_t key_count, regular, statics, other_count;
    uint8_t *bytes;
    size_t size, capacity;
    struct sample_row *rows;
    size_t count, rows_capacity;
};

struct sample_row {
    const struct sample_rows *rows;
    int64_t token, timestamp_us;
    uint64_t at;     /* offset in sample_rows.bytes */
    uint64_t number; /* number of the row in the file */
};

#define NO_DELETION_S INT64_C(1442880000) /* minimum deletion time of an sstable without deletions */

struct file {
    const struct sample_rows *rows;
    struct cass_sstable sstable;
    enum cass_type
        types[SAMPLE_COLUMNS_MAX]; /* types of the clustering, regular and static columns that have values */
    struct cass_sstable_writer writer;
    bool is_counter;
    uint32_t ttl_s;
};

/* A column without a value in any row is not in the sstable's header. */
static struct cass_type_list list_types(struct file *file, size_t *used, size_t first, size_t end)
{
    struct cass_type_list list = {file->types + *used, 0};
    for (size_t i = first; i < end; i++) {
        const struct sample_column *column = &file->rows->others[i];
        if (!column->occurs)
            continue;
        file->types[(*used)++] = column->type == CASS_UUID ? CASS_TIMEUUID : column->type;
        list.count++;
    }
    return list;
}

static void begin_file(struct file *file, const struct lab_scenario *scenario, const struct sample_rows *rows)
{
    int64_t ttl_s = (scenario->row_ttl_ns + SIM_SECOND - 1) / SIM_SECOND;
    size_t used = 0;
    *file =
        (struct file){.rows = rows, .is_counter = scenario->row_cost.is_counter, .ttl_s = (uint32_t)ttl_s};
    struct cass_sstable *sstable = &file->sstable;
    sstable->format = scenario->row_format == LAB_ROW_DA ? CASS_SSTABLE_DA : CASS_SSTABLE_NB;
    sstable->clustering = list_types(file, &used, 0, rows->regular);
    sstable->regular = list_types(file, &used, rows->regular, rows->statics);
    sstable->statics = list_types(file, &used, rows->statics, rows->other_count);
    sstable->timestamp_us_min = rows->rows[0].timestamp_us;
    for (size_t i = 1; i < rows->count; i++) {
        int64_t time_us = rows->rows[i].timestamp_us;
        sstable->timestamp_us_min = time_us < sstable->timestamp_us_min ? time_us : sstable->timestamp_us_min;
    }
    sstable->ttl_s_min = file->ttl_s;
    sstable->deletion_s_min = ttl_s > 0 ? sstable->timestamp_us_min / 1000000 + ttl_s : NO_DELETION_S;
    file->writer.sstable = sstable;
    file->writer.keeps = true;
}

/* Returns the value at offset *at, and advances *at past it. A value with NULL bytes is null. */
static struct cass_bytes sample_rows_value(const struct sample_rows *rows, uint64_t *at)
{
    uint32_t told;
    memcpy(&told, rows->bytes + *at, sizeof told);
    *at += sizeof told;
    if (told == 0)
        return (struct cass_bytes){NULL, 0};
    struct cass_bytes value = {rows->bytes + *at, told - 1};
    *at += told - 1;
    return value;
}

static void take_cells(const struct file *file, int64_t timestamp_us, uint64_t *at, size_t first, size_t end,
                       struct cass_stored_cell *cells)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        struct cass_bytes value = sample_rows_value(file->rows, at);
        if (!file->rows->others[i].occurs)
            continue;
        cells[count++] = (struct cass_stored_cell){.is_present = value.bytes != NULL,
                                                   .value = value,
                                                   .timestamp_us = timestamp_us,
                                                   .ttl_s = file->ttl_s,
                                                   .expires_s = timestamp_us / 1000000 + file->ttl_s};
    }
}

/* Begins a partition with the keys and static values of its first row. Every row of the sample writes the
 * static values too, so they have the latest timestamp. */
static void begin_partition(struct file *file, const struct sample_row *row, int64_t latest_us)
{
    struct cass_stored_cell cells[SAMPLE_COLUMNS_MAX] = {0};
    uint64_t at = row->at;
    struct cass_bytes key = sample_rows_value(file->rows, &at);
    cass_sstable_begin(&file->writer, key.bytes, key.size, NULL);
    if (file->sstable.statics.count == 0)
        return;
    for (size_t i = 0; i < file->rows->statics; i++)
        sample_rows_value(file->rows, &at);
    take_cells(file, latest_us, &at, file->rows->statics, file->rows->other_count, cells);
    const struct cass_stored_row statics = {.is_static = true, .cells = cells};
    cass_sstable_row(&file->writer, &statics);
}

static void put_row(struct file *file, const struct sample_row *row)
{
    struct cass_stored_cell cells[SAMPLE_COLUMNS_MAX] = {0};
    struct cass_bytes clustering[SAMPLE_COLUMNS_MAX];
    uint64_t at = row->at;
    sample_rows_value(file->rows, &at);
    for (size_t i = 0; i < file->rows->regular; i++)
        clustering[i] = sample_rows_value(file->rows, &at);
    take_cells(file, row->timestamp_us, &at, file->rows->regular, file->rows->statics, cells);
    const struct cass_stored_row stored = {.clustering = clustering,
                                           .has_liveness = !file->is_counter,
                                           .timestamp_us = row->timestamp_us,
                                           .ttl_s = file->ttl_s,
                                           .expires_s = row->timestamp_us / 1000000 + file->ttl_s,
                                           .cells = cells};
    cass_sstable_row(&file->writer, &stored);
}

static int compare_bytes(const struct cass_bytes *a, const struct cass_bytes *b)
{
    size_t size = a->size < b->size ? a->size : b->size;
    int order = memcmp(a->bytes, b->bytes, size);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* Parses the fields of a sample, and extracts times from them. */

#define NUMBER_SIZE    32u
#define UUID_EPOCH_100 INT64_C(0x01B21DD213814000) /* 1970-01-01 in units of 100 ns since 1582-10-15 */

/* The time of a UUID of version 1, in microseconds since 1970. */
static int64_t sample_uuid_time_us(const uint8_t *uuid)
{
    static const uint8_t order[] = {6, 7, 4, 5, 0, 1, 2, 3};
    uint64_t ticks = 0;
    for (size_t i = 0; i < sizeof order; i++)
        ticks = ticks << 8 | (i == 0 ? uuid[order[i]] & 0x0fu : uuid[order[i]]);
    return ((int64_t)ticks - UUID_EPOCH_100) / 10;
}

/* Compares two ids by their time, and then byte by byte as signed bytes, as Cassandra does for compatibility
 * with its first UUIDs. */
static int compare_ids(const uint8_t *a, const uint8_t *b)
{
    int64_t one = sample_uuid_time_us(a), other = sample_uuid_time_us(b);
    static const uint8_t order[] = {6, 7, 4, 5, 0, 1, 2, 3};
    if (one != other)
        return one < other ? -1 : 1;
    for (size_t i = 0; i < sizeof order; i++) {
        if (a[order[i]] != b[order[i]])
            return a[order[i]] < b[order[i]] ? -1 : 1;
    }
    for (size_t i = 8; i < 16; i++) {
        if (a[i] != b[i])
            return (int8_t)a[i] < (int8_t)b[i] ? -1 : 1;
    }
    return 0;
}

/* Compares two values; whole numbers are big-endian, and the first byte has the sign. */
static int compare_values(enum cass_type type, const struct cass_bytes *a, const struct cass_bytes *b)
{
    const uint8_t *one = a->bytes, *other = b->bytes;
    if (type == CASS_UUID)
        return compare_ids(one, other);
    if ((type == CASS_BIGINT || type == CASS_TIMESTAMP) && (one[0] ^ other[0]) >> 7 != 0)
        return one[0] >> 7 != 0 ? -1 : 1;
    return compare_bytes(a, b);
}

static int compare_clustering(const struct sample_rows *rows, uint64_t a_at, uint64_t b_at)
{
    for (size_t i = 0; i < rows->regular; i++) {
        struct cass_bytes one = sample_rows_value(rows, &a_at), other = sample_rows_value(rows, &b_at);
        int order = compare_values(rows->others[i].type, &one, &other);
        if (order != 0)
            return rows->others[i].is_descending ? -order : order;
    }
    return 0;
}

static int compare_rows(const struct sample_row *a, const struct sample_row *b, bool by_clustering)
{
    if (a->token != b->token)
        return a->token < b->token ? -1 : 1;
    uint64_t a_at = a->at, b_at = b->at;
    struct cass_bytes one = sample_rows_value(a->rows, &a_at), other = sample_rows_value(b->rows, &b_at);
    int order = compare_bytes(&one, &other);
    return order != 0 || !by_clustering ? order : compare_clustering(a->rows, a_at, b_at);
}

/* Writes the rows of one partition, from `first` to before `end`. */
static void write_partition(struct file *file, size_t first, size_t end, struct sample_figures *out)
{
    const struct sample_row *rows = file->rows->rows;
    int64_t latest_us = rows[first].timestamp_us;
    for (size_t i = first; i < end; i++)
        latest_us = rows[i].timestamp_us > latest_us ? rows[i].timestamp_us : latest_us;
    begin_partition(file, &rows[first], latest_us);
    for (size_t i = first; i < end; i++) {
        if (i + 1 < end && compare_rows(&rows[i], &rows[i + 1], true) == 0)
            continue;
        put_row(file, &rows[i]);
        out->rows++;
    }
    cass_sstable_end(&file->writer);
    out->partitions++;
}

static void write_rows(struct file *file, struct sample_figures *out)
{
    const struct sample_row *rows = file->rows->rows;
    for (size_t first = 0, end; first < file->rows->count; first = end) {
        end = first + 1;
        while (end < file->rows->count && compare_rows(&rows[first], &rows[end], false) == 0)
            end++;
        write_partition(file, first, end, out);
    }
    out->bytes = file->writer.size;
}

static enum cass_type type_of(const struct lab_column *column)
{
    if (column->feed == LAB_FEED_ID && column->type == CASS_TIMEUUID)
        return CASS_UUID; /* sorted like it */
    return column->type == CASS_NESTED ? CASS_BLOB : column->type;
}

static bool is_in_key(const struct lab_design *design, size_t column)
{
    return memchr(design->partition, (int)column, design->partition_count) != NULL ||
           memchr(design->clustering, (int)column, design->clustering_count) != NULL;
}

/* Inserts a column into the columns from index `first` on, in order of names. */
static void add_by_name(struct sample_rows *rows, size_t first, const struct lab_column *column)
{
    size_t at = rows->other_count++;
    for (; at > first && strcmp(rows->others[at - 1].column->name, column->name) > 0; at--)
        rows->others[at] = rows->others[at - 1];
    rows->others[at] = (struct sample_column){.column = column, .type = type_of(column)};
}

static void list_columns(struct sample_rows *rows, const struct lab_design *design)
{
    for (size_t i = 0; i < design->partition_count; i++) {
        const struct lab_column *column = &design->columns[design->partition[i]];
        rows->keys[rows->key_count++] = (struct sample_column){.column = column, .type = type_of(column)};
    }
    rows->others = rows->keys + rows->key_count;
    for (size_t i = 0; i < design->clustering_count; i++) {
        const struct lab_column *column = &design->columns[design->clustering[i]];
        rows->others[rows->other_count++] = (struct sample_column){
            .column = column, .type = type_of(column), .is_descending = design->is_descending[i]};
    }
    rows->regular = rows->other_count;
    for (size_t i = 0; i < design->column_count; i++) {
        if (!is_in_key(design, i) && !design->columns[i].is_static)
            add_by_name(rows, rows->regular, &design->columns[i]);
    }
    rows->statics = rows->other_count;
    for (size_t i = 0; i < design->column_count; i++) {
        if (!is_in_key(design, i) && design->columns[i].is_static)
            add_by_name(rows, rows->statics, &design->columns[i]);
    }
}

static struct sample_column *column_named(struct sample_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->key_count + rows->other_count; i++) {
        if (strcmp(rows->keys[i].column->name, name) == 0)
            return &rows->keys[i];
    }
    return NULL;
}

/* Reads rows, and sorts them into the order of an sstable. */

#define SHOWN 60

/* A file that is read. */
struct source {
    const char *path;
    struct wl_csv_record record;
    struct sample_rows *rows;
    struct sim_error *error;
};

#define FAIL(source, format, ...)                                                                            \
    sim_fail((source)->error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": " format, (source)->path,                    \
             (source)->record.line, __VA_ARGS__)

static bool read_header(struct source *source)
{
    struct sample_rows *rows = source->rows;
    for (size_t i = 0; i < source->record.count; i++) {
        struct sample_column *column = column_named(rows, source->record.fields[i]);
        if (column == NULL)
            return FAIL(source,
                        "'%.*s' is not a column of the scenario's table; name it under row.columns or in "
                        "'table', leave it out, or put the columns' names into the first line, as COPY TO "
                        "does WITH HEADER = TRUE",
                        SHOWN, source->record.fields[i]);
        if (column->is_in_file)
            return FAIL(source, "column '%s' appears twice; remove one", column->column->name);
        column->is_in_file = true;
        column->field = i;
    }
    for (size_t i = 0; i < rows->key_count + rows->regular; i++) {
        const struct sample_column *column = &rows->keys[i];
        if (!column->is_in_file && column->column->feed != LAB_FEED_BUCKET)
            return FAIL(source, "no column '%s', which is in the table's primary key; export it too",
                        column->column->name);
    }
    return true;
}

static bool copy(const void *bytes, size_t size, uint8_t **out, size_t *out_size, struct sim_error *error)
{
    *out = malloc(size + 1);
    if (*out == NULL)
        return sim_fail_memory(error);
    memcpy(*out, bytes, size);
    *out_size = size;
    return true;
}

/* Writes one shard: a header with one index, the id of its node, its clock and its count. */
static bool parse_counter(const char *text, uint8_t **out, size_t *size, struct sim_error *error)
{
    static const uint8_t begin[] = {0,    1,    0x80, 0,    0xd1, 0x7e, 0x3a, 0x90, 0x5b, 0xc2,
                                    0x11, 0xee, 0x9a, 0x41, 0x6d, 0xf3, 0x2c, 0x88, 0x05, 0xb7,
                                    0,    0,    0,    0,    0,    0,    0,    1};
    uint8_t *count = NULL, whole[CASS_COUNTER_VALUE_SIZE(1)];
    size_t count_size;
    if (!cass_value_parse(CASS_BIGINT, text, &count, &count_size, error))
        return false;
    memcpy(whole, begin, sizeof begin);
    memcpy(whole + sizeof begin, count, count_size);
    free(count);
    return copy(whole, sizeof whole, out, size, error);
}

/* *out is malloc'ed and the caller's. Text is copied unchanged. A timestamp is milliseconds since 1970, or a
 * date with a time and a zone. A counter is stored as one shard with its count. Errors: SIM_ERROR_INPUT,
 * without file and line. */
static bool sample_value_parse(enum cass_type type, const char *text, size_t text_size, uint8_t **out,
                               size_t *size, struct sim_error *error)
{
    char number[NUMBER_SIZE];
    int64_t ns;
    bool has_zone;
    *out = NULL;
    *size = 0;
    if (type == CASS_TEXT)
        return copy(text, text_size, out, size, error);
    if (type == CASS_COUNTER)
        return parse_counter(text, out, size, error);
    if (type == CASS_BOOLEAN && (strcmp(text, "True") == 0 || strcmp(text, "False") == 0))
        return cass_value_parse(type, *text == 'T' ? "true" : "false", out, size, error);
    if (type == CASS_TIMESTAMP && sim_time_parse_zoned(text, text_size, &ns, &has_zone) == 0) {
        snprintf(number, sizeof number, "%" PRId64, ns / SIM_MS - (ns % SIM_MS < 0));
        return cass_value_parse(type, number, out, size, error);
    }
    return cass_value_parse(type, text, out, size, error);
}

/* Sets *out to the malloc'ed value of a column: NULL for null, zeros for a bucket column that is not in the
 * file. */
static bool value_of(const struct source *source, const struct sample_column *column, uint8_t **out,
                     size_t *size)
{
    const char *name = column->column->name;
    struct sim_error why;
    *out = NULL;
    *size = 0;
    if (!column->is_in_file && column->column->feed == LAB_FEED_BUCKET) {
        *size = column->column->weight.value;
        *out = calloc(1, *size);
        return *out != NULL || sim_fail_memory(source->error);
    }
    if (!column->is_in_file || source->record.sizes[column->field] == 0)
        return true;
    if (column->column->weight.is_complex)
        return FAIL(
            source,
            "column '%s' has a cell for each element, which a sample does not weigh; leave the column "
            "out",
            name);
    const char *text = source->record.fields[column->field];
    const size_t text_size = source->record.sizes[column->field];
    if (column->type != CASS_TEXT && strlen(text) != text_size)
        return FAIL(source, "column '%s': a zero byte; export it as a blob", name);
    if (sample_value_parse(column->type, text, text_size, out, size, &why))
        return true;
    return why.class == SIM_ERROR_INPUT ? FAIL(source, "column '%s': %s", name, why.text)
                                        : sim_fail(source->error, why.class, "%s", why.text);
}

/* Likewise of a column of the primary key, which may not be null. */
static bool value_of_key(const struct source *source, const struct sample_column *column, uint8_t **out,
                         size_t *size)
{
    return value_of(source, column, out, size) &&
           (*out != NULL ||
            FAIL(source, "column '%s' of the primary key is empty; give it a value, or leave the row out",
                 column->column->name));
}

/* Sets the row's time of writing if the value contains a time. */
static void take_time(const struct sample_column *column, const uint8_t *value, struct sample_row *row,
                      bool *is_told)
{
    if (column->column->feed == LAB_FEED_TIME) {
        uint64_t ms = 0;
        for (size_t i = 0; i < 8; i++)
            ms = ms << 8 | value[i];
        if (__builtin_mul_overflow((int64_t)ms, 1000, &row->timestamp_us))
            row->timestamp_us = INT64_MAX;
        *is_told = true;
    } else if (column->column->feed == LAB_FEED_ID && !*is_told && value[6] >> 4 == 1) {
        row->timestamp_us = sample_uuid_time_us(value);
    }
}

/* Appends a value with its size in front; 0: null. */
static bool put(struct sample_rows *rows, const void *bytes, size_t size, struct sim_error *error)
{
    const uint32_t told = bytes == NULL ? 0 : (uint32_t)size + 1;
    if (!sim_grow(&rows->bytes, &rows->capacity, rows->size + sizeof told + size, sizeof *rows->bytes))
        return sim_fail_memory(error);
    memcpy(rows->bytes + rows->size, &told, sizeof told);
    if (size > 0)
        memcpy(rows->bytes + rows->size + sizeof told, bytes, size);
    rows->size += sizeof told + size;
    return true;
}

static bool add_key(const struct source *source, struct sample_row *row, bool *is_told)
{
    struct sample_rows *rows = source->rows;
    struct cass_component parts[SAMPLE_COLUMNS_MAX];
    uint8_t *values[SAMPLE_COLUMNS_MAX] = {NULL}, *key = NULL;
    size_t size = 0, most = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < rows->key_count; i++) {
        ok = value_of_key(source, &rows->keys[i], &values[i], &size);
        if (ok)
            take_time(&rows->keys[i], values[i], row, is_told);
        parts[i] = (struct cass_component){values[i], size};
        most = size > most ? size : most;
    }
    size = ok && most <= CASS_COMPONENT_SIZE_MAX ? cass_key_size(parts, rows->key_count) : most;
    ok = ok && (size <= CASS_COMPONENT_SIZE_MAX ||
                FAIL(source, "a key of more than %u bytes; leave the row out", CASS_COMPONENT_SIZE_MAX));
    ok = ok && ((key = malloc(size + 1)) != NULL || sim_fail_memory(source->error));
    if (ok) {
        cass_key_serialise(parts, rows->key_count, key);
        row->token = cass_token(key, size);
        ok = put(rows, key, size, source->error);
    }
    for (size_t i = 0; i < rows->key_count; i++)
        free(values[i]);
    free(key);
    return ok;
}

static bool add_row(const struct source *source)
{
    struct sample_rows *rows = source->rows;
    if (!sim_grow(&rows->rows, &rows->rows_capacity, rows->count + 1, sizeof *rows->rows))
        return sim_fail_memory(source->error);
    struct sample_row *row = &rows->rows[rows->count];
    bool is_told = false;
    *row = (struct sample_row){.rows = rows, .at = rows->size, .number = rows->count};
    bool ok = add_key(source, row, &is_told);
    for (size_t i = 0; ok && i < rows->other_count; i++) {
        struct sample_column *column = &rows->others[i];
        const bool is_in_key = i < rows->regular;
        uint8_t *value;
        size_t size;
        if (!(is_in_key ? value_of_key : value_of)(source, column, &value, &size))
            return false;
        if (is_in_key)
            take_time(column, value, row, &is_told);
        column->occurs = column->occurs || value != NULL;
        ok = put(rows, value, size, source->error);
        free(value);
    }
    rows->count += ok;
    return ok;
}

/* Reads the file. The caller must free the arrays of *out even after a failure. */
static bool sample_rows_read(const struct lab_scenario *scenario, const char *path, struct sample_rows *out,
                             struct sim_error *error)
{
    struct source source = {.path = path, .rows = out, .error = error};
    struct wl_csv *csv;
    *out = (struct sample_rows){0};
    list_columns(out, &scenario->design);
    if (!wl_csv_open(path, "sample", &csv, error))
        return false;
    bool ok = wl_csv_next(csv, &source.record, error);
    const size_t wanted = source.record.count;
    ok = ok && (wanted == 0 || read_header(&source));
    while (ok && wanted > 0 && (ok = wl_csv_next(csv, &source.record, error)) && source.record.count > 0) {
        if (source.record.count != wanted)
            ok = FAIL(&source,
                      "%zu fields where the first line has %zu; write a row per line, and quote fields "
                      "with a comma",
                      source.record.count, wanted);
        ok = ok && add_row(&source);
    }
    wl_csv_close(csv);
    return ok &&
           (out->count > 0 ||
            sim_fail(error, SIM_ERROR_INPUT,
                     "%s: a sample without rows; export some, as by COPY t TO 'rows.csv' WITH HEADER = TRUE",
                     path));
}

/* By token, partition key and clustering columns; rows that are equal in all of these stay in the order of
 * the file. */
static int compare(const void *a, const void *b)
{
    const struct sample_row *one = a, *other = b;
    int order = compare_rows(one, other, true);
    return order != 0 ? order : (one->number > other->number) - (one->number < other->number);
}

/* Compresses chunk by chunk, and keeps only the lengths. */

#define LENGTH_BYTES 4u
#define CRC_BYTES    4u

bool sample_compressed_bytes(const uint8_t *bytes, uint64_t size, uint64_t *out)
{
    int bound = LZ4_compressBound(SAMPLE_CHUNK_BYTES);
    char *scratch = malloc((size_t)bound);
    *out = 0;
    if (scratch == NULL)
        return false;
    for (uint64_t at = 0; at < size; at += SAMPLE_CHUNK_BYTES) {
        int some = size - at < SAMPLE_CHUNK_BYTES ? (int)(size - at) : SAMPLE_CHUNK_BYTES;
        int length = LZ4_compress_default((const char *)bytes + at, scratch, some, bound);
        assert(length > 0);
        *out += LENGTH_BYTES + (uint64_t)length + CRC_BYTES;
    }
    free(scratch);
    return true;
}

bool sample_measure(const struct lab_scenario *scenario, const char *path, struct sample_figures *out,
                    struct sim_error *error)
{
    struct sample_rows rows;
    struct file file;
    *out = (struct sample_figures){0};
    bool ok = sample_rows_read(scenario, path, &rows, error);
    if (ok) {
        qsort(rows.rows, rows.count, sizeof *rows.rows, compare);
        begin_file(&file, scenario, &rows);
        write_rows(&file, out);
        ok = (!file.writer.out_of_memory &&
              sample_compressed_bytes(file.writer.out, out->bytes, &out->compressed_bytes)) ||
             sim_fail_memory(error);
        cass_sstable_clear(&file.writer);
    }
    free(rows.bytes);
    free(rows.rows);
    return ok;
}
