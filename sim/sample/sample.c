/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorts the rows of a sample, serialises and compresses them. */
#include "sample/sample.h"

#include "kernel/time.h"
#include "sample/chunks.h"
#include "sample_rows.h"

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
    struct cass_bytes key = sample_rows_key(file->rows, &at);
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
    sample_rows_key(file->rows, &at);
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

/* Writes the rows of one partition, from `first` to before `end`. */
static void write_partition(struct file *file, size_t first, size_t end, struct sample_figures *out)
{
    const struct sample_row *rows = file->rows->rows;
    int64_t latest_us = rows[first].timestamp_us;
    for (size_t i = first; i < end; i++)
        latest_us = rows[i].timestamp_us > latest_us ? rows[i].timestamp_us : latest_us;
    begin_partition(file, &rows[first], latest_us);
    for (size_t i = first; i < end; i++) {
        if (i + 1 < end && sample_rows_are_same(&rows[i], &rows[i + 1]))
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
        while (end < file->rows->count && sample_rows_share_partition(&rows[first], &rows[end]))
            end++;
        write_partition(file, first, end, out);
    }
    out->bytes = file->writer.size;
}

bool sample_measure(const struct lab_scenario *scenario, const char *path, struct sample_figures *out,
                    struct sim_error *error)
{
    static const struct sample_chunks chunks = {SAMPLE_CHUNK_BYTES, SAMPLE_NO_BOUND};
    struct sample_rows rows;
    *out = (struct sample_figures){0};
    if (!sample_rows_read(scenario, path, &rows, error)) {
        sample_rows_clear(&rows);
        return false;
    }
    sample_rows_sort(&rows);
    struct file file;
    begin_file(&file, scenario, &rows);
    write_rows(&file, out);
    bool ok = !file.writer.out_of_memory &&
              sample_compressed_bytes(&chunks, file.writer.out, out->bytes, &out->compressed_bytes);
    cass_sstable_clear(&file.writer);
    sample_rows_clear(&rows);
    return ok || sim_fail_memory(error);
}
