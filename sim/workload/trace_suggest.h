/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggests which columns of a CSV file are the time and the key of its rows, for a message about a header
 * that has none of the usual names. */
#ifndef WORKLOAD_TRACE_SUGGEST_H
#define WORKLOAD_TRACE_SUGGEST_H

#include "csv_record.h"
#include "trace_line.h"

/* The columns by name, or by number if the name cannot be written in YAML and in --columns as it is. A time
 * in two columns is "[Date, Time]". */
struct trace_suggestion {
    char time[2 * sizeof(struct trace_shown) + 4], key[sizeof(struct trace_shown)];
};

/* The next records of `reader` are the first rows below `header`; some of them are consumed, up to one that
 * is malformed. time: the index of the time if it is known, otherwise NULL. Returns false, with an error of
 * the environment, when the file cannot be read or memory runs out. */
bool trace_suggest(const struct wl_csv_record *header, struct trace_reader *reader,
                   const struct csv_dialect *dialect, const size_t *time, struct trace_suggestion *out,
                   struct sim_error *error);

#endif
