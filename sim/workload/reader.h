/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the decompressed bytes of a plain, gzip (RFC 1952) or zstd (RFC 8878) file; UTF-16 as UTF-8. A
 * compressed file may have several members or frames in sequence. Any other data after a member is an error,
 * whereas zlib's gzread() ignores it silently. */
#ifndef WORKLOAD_READER_H
#define WORKLOAD_READER_H

#include <iconv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

#include "kernel/error.h"

enum trace_source_fault {
    TRACE_SOURCE_FINE,
    TRACE_SOURCE_SYSTEM, /* a system call failed; `reason` is the errno */
    TRACE_SOURCE_MEMORY,
    TRACE_SOURCE_CUT,     /* the file ends inside a member */
    TRACE_SOURCE_DAMAGED, /* the compressed data is invalid, or its checksum or size is wrong */
    TRACE_SOURCE_WINDOW,  /* a zstd frame demands more memory than a decoder gives without being told */
    TRACE_SOURCE_TRAILING /* other data follows a member, which ends at trace_source_offset() */
};

enum trace_source_kind { TRACE_SOURCE_PLAIN, TRACE_SOURCE_GZIP, TRACE_SOURCE_ZSTD };

struct trace_source {
    int file;
    z_stream stream;
    ZSTD_DCtx *zstd;      /* only for a zstd file; otherwise NULL */
    unsigned char *input; /* buffer of bytes read from the file; stream.next_in points into it */
    enum trace_source_kind kind;
    bool is_in_member, at_end;
    bool is_wide; /* UTF-16, which is converted to UTF-8 */
    iconv_t wide;
    char rest[8]; /* bytes that were not converted yet, of an incomplete character or for lack of room */
    size_t rest_size;
    uint64_t read_bytes;  /* of the file */
    uint64_t given_bytes; /* decompressed and converted bytes returned so far */
    enum trace_source_fault fault;
    int reason;
};

/* Takes ownership of an open file descriptor, which is closed even on failure. */
enum trace_source_fault trace_source_open(struct trace_source *source, int file);

/* Reads the lines of a plain, gzip or zstd file through one buffer. A line is returned in place in the
 * buffer, may be changed there, and is valid until the next one is read. A byte order mark at the beginning
 * of the file is skipped. A truncated or damaged file fails when its end is reached, even when it is
 * truncated at the end of a line. */
enum { TRACE_LINE_BYTES_MAX = 64 * 1024, TRACE_BUFFER_BYTES = 256 * 1024 };

struct trace_reader {
    struct trace_source source;
    const char *path;   /* owned by the caller */
    const char *what;   /* what the file is, for messages; owned by the caller */
    uint64_t all_bytes; /* size of the file; 0 when it has none, like a pipe */
    uint64_t line;      /* number of the line that was returned last, or at which reading failed; from 1 */
    uint64_t breaks;    /* line breaks from the beginning of the object that was returned last to `begin` */
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
/* Reads the next JSON object, whose lines may be many, or a part of one line; *object is NULL at the end of
 * the file. What stands between objects in an array, or between values, is skipped. A text that is no object
 * is returned up to the end of its line. reader->line is the line at which the object begins. */
bool trace_reader_object(struct trace_reader *reader, char **object, size_t *size, struct sim_error *error);
/* Whether the file's first byte begins an array, whose objects may all be on one line. */
bool trace_reader_is_array(struct trace_reader *reader, bool *out, struct sim_error *error);
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
