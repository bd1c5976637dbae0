/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the decompressed bytes of a plain, gzip (RFC 1952) or zstd (RFC 8878) file. A compressed file may
 * have several members or frames in sequence. Any other data after a member is an error, whereas zlib's
 * gzread() ignores it silently. */
#ifndef WORKLOAD_TRACE_SOURCE_H
#define WORKLOAD_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

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
    uint64_t read_bytes;  /* of the file */
    uint64_t given_bytes; /* decompressed bytes returned so far */
    enum trace_source_fault fault;
    int reason;
};

/* Takes ownership of an open file descriptor, which is closed even on failure. */
enum trace_source_fault trace_source_open(struct trace_source *source, int file);
/* Reads up to `size` bytes and returns their number: 0 at the end of the file, and at a fault, which is
 * stored in source->fault and is permanent. Valid data before the end of a truncated file, or before trailing
 * data, is returned first. */
size_t trace_source_read(struct trace_source *source, char *buffer, size_t size);
/* Continues at byte `place` of the decompressed data. Returns false when the data is shorter. */
bool trace_source_go(struct trace_source *source, uint64_t place);
/* The number of bytes of the file on disk that were consumed. */
uint64_t trace_source_offset(const struct trace_source *source);
/* The source may be one that failed to open, or a zeroed one. */
void trace_source_close(struct trace_source *source);

#endif
