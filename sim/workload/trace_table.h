/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the rows of a trace that is not in the plain form: CSV of any dialect or JSON Lines, in one file or
 * several, by columns that are found by name or number. The table is a cursor, which returns rows in the
 * order of the files. */
#ifndef WORKLOAD_TRACE_TABLE_H
#define WORKLOAD_TRACE_TABLE_H

#include "csv_record.h"
#include "trace_columns.h"
#include "trace_json.h"
#include "trace_line.h"
#include "trace_reader.h"
#include "workload/trace_files.h"

#define TRACE_LISTING_SIZE 200u

struct trace_table {
    const struct wl_trace_format *format; /* the caller's; must outlive the table */
    struct wl_trace_files files;
    size_t file;         /* index of the file that is being read */
    uint64_t done_bytes; /* total size of the files before it */
    struct trace_reader reader;
    bool is_json, has_header;
    struct csv_dialect dialect;
    struct csv_records records;
    struct trace_json json;
    struct wl_csv_record record; /* the current row; while a CSV file is opened, its first line */
    size_t field_count;          /* number of fields of each record of a CSV file */
    struct trace_columns columns;
    enum wl_trace_time time;         /* how times are written; WL_TIME_AUTO before the first row */
    bool has_zones;                  /* the times of all rows so far have a zone */
    char unused[TRACE_LISTING_SIZE]; /* the names of the columns that are not used, for display */
    char *key;                       /* buffer for a key of several parts */
    size_t key_capacity;
};

/* Opens the first file and finds its columns and the format of its times. The caller must close the table
 * even after a failure. */
bool trace_table_open(struct trace_table *table, const char *path, const struct wl_trace_format *format,
                      struct sim_error *error);
/* Reads the next row; *more is false after the last one. */
bool trace_table_next(struct trace_table *table, struct trace_row *out, bool *more, struct sim_error *error);
/* The file and the line of the row that was returned last, and the number of bytes consumed of all files. */
const char *trace_table_path(const struct trace_table *table);
uint64_t trace_table_line(const struct trace_table *table);
uint64_t trace_table_offset(const struct trace_table *table);
/* Describes for display how the file is read: "CSV with ';', time 'at' in ISO 8601, key 'guild' + 'channel',
 * bytes 'size'". */
void trace_table_text(const struct trace_table *table, char *buffer, size_t size);
void trace_table_close(struct trace_table *table);

#endif
