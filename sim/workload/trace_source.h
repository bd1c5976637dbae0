/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bytes of a plain, gzip (RFC 1952) or zstd (RFC 8878) file, decompressed. A compressed file may have
 * several members or frames, one after the other; anything else behind one is an error, where zlib's own
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
    TRACE_SOURCE_SYSTEM, /* `reason` is an errno */
    TRACE_SOURCE_MEMORY,
    TRACE_SOURCE_CUT,     /* the file ends inside a member */
    TRACE_SOURCE_DAMAGED, /* no compressed data, or its checksum or size is wrong */
    TRACE_SOURCE_TRAILING /* bytes of another kind behind a member, which ends at trace_source_offset() */
};

enum trace_source_kind { TRACE_SOURCE_PLAIN, TRACE_SOURCE_GZIP, TRACE_SOURCE_ZSTD };

struct trace_source {
    int file;
    z_stream stream;
    ZSTD_DCtx *zstd;      /* of a zstd file; else NULL */
    unsigned char *input; /* what was read of the file; stream.next_in is in it */
    enum trace_source_kind kind;
    bool is_in_member, at_end;
    uint64_t read_bytes;  /* of the file */
    uint64_t given_bytes; /* of what is in it, decompressed */
    enum trace_source_fault fault;
    int reason;
};

/* Takes over an open file, which is closed even on failure. */
enum trace_source_fault trace_source_open(struct trace_source *source, int file);
/* Up to `size` bytes; 0 at the end of the file, or with source->fault set at a fault, which stays. What comes
 * before a cut or before trailing bytes is given first. */
size_t trace_source_read(struct trace_source *source, char *buffer, size_t size);
/* Continues at byte `place` of the decompressed content. False when the file does not reach so far. */
bool trace_source_go(struct trace_source *source, uint64_t place);
/* Bytes of the file, compressed where it is, that are used up. */
uint64_t trace_source_offset(const struct trace_source *source);
/* May be called on one that failed to open, or on a zeroed one. */
void trace_source_close(struct trace_source *source);

#endif
