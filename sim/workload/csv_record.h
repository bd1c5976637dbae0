/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One CSV record to its fields, through a reader of lines. The fields lie one behind the other in a buffer,
 * each with its end. */
#ifndef WORKLOAD_CSV_RECORD_H
#define WORKLOAD_CSV_RECORD_H

#include "trace_reader.h"
#include "workload/csv_fields.h"

#define CSV_RECORD_BYTES_MAX (16u << 20) /* one open quote takes the whole file otherwise */

/* Quotes within a quoted field are doubled in both (RFC 4180); with `has_backslash` one may also stand behind
 * a backslash, as may a delimiter and a backslash, quoted or not. */
struct csv_dialect {
    char delimiter;
    bool has_backslash;
};

struct csv_records {
    char *buffer;
    size_t size, capacity;
    size_t begins[WL_CSV_FIELDS_MAX + 1]; /* of the fields in the buffer */
};

/* The next record; out->count is 0 at the end of the file. Lines without anything are skipped. */
bool csv_records_next(struct csv_records *records, struct trace_reader *reader,
                      const struct csv_dialect *dialect, struct wl_csv_record *out, struct sim_error *error);
void csv_records_free(struct csv_records *records);
/* What the file's first bytes tell: the delimiter that the first line has most of, and which of the two ways
 * to write a quote fits them better. */
struct csv_dialect csv_sniff(const char *bytes, size_t size);
/* False, with the error, where a line lacks the delimiter of the first line and has one that csv_sniff()
 * knows in its place. */
bool csv_check_delimiter(const char *path, uint64_t number, const char *line, size_t size, char delimiter,
                         struct sim_error *error);

#endif
