/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the lines of a plain, gzip or zstd file through one buffer. A line is returned in place in the
 * buffer, may be changed there, and is valid until the next one is read. A byte order mark at the beginning
 * of the file is skipped. A truncated or damaged file fails when its end is reached, even when it is
 * truncated at the end of a line. */
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
    const char *what;   /* what the file is, for messages; owned by the caller */
    uint64_t all_bytes; /* size of the file; 0 when it has none, like a pipe */
    uint64_t line;      /* number of the line that was returned last, or at which reading failed; from 1 */
    char *buffer;
    size_t begin, end; /* the part of the buffer that was not returned yet */
    size_t lines_end;  /* end of the last line break in the buffer; 0: there is none */
    char line_break;   /* LF; CR in a file whose beginning has CR but no LF */
    size_t capacity;
    size_t line_bytes_max; /* TRACE_LINE_BYTES_MAX; the caller may raise it, and the buffer then grows on
                              demand */
    bool at_end;
};

bool trace_reader_open(const char *path, struct trace_reader *out, struct sim_error *error);
/* As trace_reader_open(), for a file that is not a trace; `what` describes it in messages: "PATH:1: WHAT
 * cannot be opened". */
bool trace_reader_open_as(const char *path, const char *what, struct trace_reader *out,
                          struct sim_error *error);
/* Reads the next line; *line is NULL at the end of the file. *size excludes the line break (LF, CRLF or CR).
 */
bool trace_reader_next(struct trace_reader *reader, char **line, size_t *size, struct sim_error *error);
/* Whether the next line is in the buffer, so that reading it leaves the previous line valid. */
static inline bool trace_reader_has_line(const struct trace_reader *reader)
{
    return reader->begin < reader->lines_end;
}
/* trace_reader_place() returns the offset of the next line, in decompressed bytes. trace_reader_go()
 * continues at such an offset, whose line has the number `line`, as if the file had been read up to there;
 * false when the file is shorter. */
uint64_t trace_reader_place(const struct trace_reader *reader);
bool trace_reader_go(struct trace_reader *reader, uint64_t place, uint64_t line);
/* Sets *bytes and *size to the bytes that were not returned yet, as many as the buffer holds, without
 * consuming them; valid until the next call. */
bool trace_reader_peek(struct trace_reader *reader, const char **bytes, size_t *size,
                       struct sim_error *error);
/* The number of bytes of the file on disk that were consumed. */
uint64_t trace_reader_offset(const struct trace_reader *reader);
/* The reader may be one that failed to open, or a zeroed one. */
void trace_reader_close(struct trace_reader *reader);

#endif
