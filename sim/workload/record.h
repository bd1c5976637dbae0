/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits CSV records, read line by line, into fields; also those of a table that was pasted from the terminal
 * of cqlsh, psql or mysql, or written in Markdown, which has bars between columns, and a rule below its
 * header. The fields are stored consecutively in a buffer, each with a final NUL. */
#ifndef WORKLOAD_RECORD_H
#define WORKLOAD_RECORD_H

#include "kernel/error.h"
#include "reader.h"
#include "workload/csv.h"

#define CSV_RECORD_BYTES_MAX                                                                                 \
    (16u << 20) /* limits the damage of an unclosed quote, which would otherwise read the whole file */

/* A quote within a quoted field may always be doubled (RFC 4180). With has_backslash, a backslash escapes a
 * quote, a delimiter or a backslash, whether the field is quoted or not. */
struct csv_dialect {
    char delimiter;
    bool has_backslash;
    bool is_pasted;       /* a table with a rule: fields have no quotes, and no spaces around them */
    uint64_t header_line; /* of a pasted table: the number of its header's line */
};

struct csv_records {
    char *buffer;
    size_t size, capacity;
    size_t begins[WL_CSV_FIELDS_MAX + 1]; /* offset of each field in the buffer */
    size_t pasted_columns;                /* number of columns of a pasted table's header */
};

/* Reads the next record; out->count is 0 at the end of the file. Empty lines are skipped. */
bool csv_records_next(struct csv_records *records, struct trace_reader *reader,
                      const struct csv_dialect *dialect, struct wl_csv_record *out, struct sim_error *error);
void csv_records_free(struct csv_records *records);
/* Detects the dialect from the file's first bytes: a pasted table by its rule; otherwise the delimiter that
 * occurs most often in the first line, and the escape of quotes under which the records parse with fewer
 * faults. */
struct csv_dialect csv_sniff(const char *bytes, size_t size);
/* Returns false, with an error, when a line does not contain the delimiter of the first line but contains
 * another one that csv_sniff() knows. */
bool csv_check_delimiter(const char *path, uint64_t number, const char *line, size_t size, char delimiter,
                         struct sim_error *error);

/* Reads the fields of one line of JSON Lines (https://jsonlines.org), which has one object per line. */
struct trace_json {
    char *buffer;
    size_t size, capacity;
};

/* Sets out->fields[i] to the value of names[i] as text with a final NUL, or to NULL when the value is missing
 * or null. A name is that of a field, or a path to a nested field, with dots. names NULL: sets out->fields to
 * the names of all fields. Returns false when the line is not an object, with the reason in *why (a
 * constant), and when out of memory, with *why NULL. */
bool trace_json_fields(struct trace_json *json, const char *line, size_t size, const char *const *names,
                       size_t count, struct wl_csv_record *out, const char **why);
void trace_json_free(struct trace_json *json);

#endif
