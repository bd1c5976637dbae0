/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a plain, gzip or zstd file through one buffer. The model: a line is handed out where it lies in
 * the buffer, may be changed in place, and is valid until the next one is asked for. A file that is cut off
 * or damaged fails when its end is reached, even where the cut is at a line's end. */
#ifndef WORKLOAD_TRACE_READER_H
#define WORKLOAD_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "trace_source.h"

enum { TRACE_LINE_BYTES_MAX = 64 * 1024, TRACE_BUFFER_BYTES = 256 * 1024 };

struct trace_reader {
    struct trace_source source;
    const char *path;   /* owned by the caller */
    const char *what;   /* the file is, in messages; the same */
    uint64_t all_bytes; /* of the file; 0 where it has no size, as a pipe */
    uint64_t line;      /* number of the line that was handed out last, or at which reading failed; from 1 */
    char *buffer;
    size_t begin, end; /* what is in the buffer and not handed out yet */
    size_t lines_end;  /* behind the last line break in the buffer; 0: there is none */
    size_t capacity;
    size_t line_bytes_max; /* TRACE_LINE_BYTES_MAX; may be raised, and the buffer then grows as it must */
    bool at_end;
};

bool trace_reader_open(const char *path, struct trace_reader *out, struct sim_error *error);
/* The same for a file that is something else: "PATH:1: WHAT cannot be opened". */
bool trace_reader_open_as(const char *path, const char *what, struct trace_reader *out,
                          struct sim_error *error);
/* *line is NULL at the end of the file. The size is without the line break (LF or CRLF). */
bool trace_reader_next(struct trace_reader *reader, char **line, size_t *size, struct sim_error *error);
/* Whether the next line is in the buffer, so that asking for it leaves the one before valid. */
static inline bool trace_reader_has_line(const struct trace_reader *reader)
{
    return reader->begin < reader->lines_end;
}
/* Where the next line begins, in bytes of what is compressed when the file is; and to go there, which is as
 * good as having read up to it. False when the file does not reach so far. */
uint64_t trace_reader_place(const struct trace_reader *reader);
bool trace_reader_go(struct trace_reader *reader, uint64_t place, uint64_t line);
/* The first bytes of what was not handed out, as many as the buffer holds; *bytes is good until the next
 * call. */
bool trace_reader_peek(struct trace_reader *reader, const char **bytes, size_t *size,
                       struct sim_error *error);
uint64_t trace_reader_offset(const struct trace_reader *reader);
/* May be called on a reader that failed to open, or on a zeroed one. */
void trace_reader_close(struct trace_reader *reader);

#endif
