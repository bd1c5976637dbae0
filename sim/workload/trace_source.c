/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the bytes of a plain, gzip or zstd file. */
#define _POSIX_C_SOURCE 200809L
#include "trace_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd_errors.h>

enum { INPUT_BYTES = 64 * 1024, GZIP_WINDOW = 15 + 16, MAGIC_BYTES = 4 };

static bool fail(struct trace_source *source, enum trace_source_fault fault, int reason)
{
    source->fault = fault;
    source->reason = reason;
    return false;
}

/* Reads until the buffer has `wanted` bytes, or all bytes up to the end of the file. Bytes that were not
 * consumed are moved to the beginning of the buffer. */
static bool need(struct trace_source *source, size_t wanted)
{
    z_stream *stream = &source->stream;
    if (stream->avail_in >= wanted || source->at_end)
        return true;
    memmove(source->input, stream->next_in, stream->avail_in);
    stream->next_in = source->input;
    while (stream->avail_in < wanted && !source->at_end) {
        ssize_t got =
            read(source->file, source->input + stream->avail_in, INPUT_BYTES - (size_t)stream->avail_in);
        if (got < 0 && errno != EINTR)
            return fail(source, TRACE_SOURCE_SYSTEM, errno);
        source->at_end = got == 0;
        if (got > 0) {
            stream->avail_in += (uInt)got;
            source->read_bytes += (uint64_t)got;
        }
    }
    return true;
}

/* The kind of data that begins at the next byte of the file. */
static enum trace_source_kind next_kind(const struct trace_source *source)
{
    static const unsigned char gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd},
                               skippable[] = {0x2a, 0x4d, 0x18}; /* of pzstd: a frame of other data */
    if (source->stream.avail_in >= sizeof gzip && memcmp(source->stream.next_in, gzip, sizeof gzip) == 0)
        return TRACE_SOURCE_GZIP;
    if (source->stream.avail_in >= sizeof zstd &&
        (memcmp(source->stream.next_in, zstd, sizeof zstd) == 0 ||
         ((source->stream.next_in[0] & 0xf0) == 0x50 &&
          memcmp(source->stream.next_in + 1, skippable, sizeof skippable) == 0)))
        return TRACE_SOURCE_ZSTD;
    return TRACE_SOURCE_PLAIN;
}

/* Begins at the file's first byte. */
static bool begin(struct trace_source *source)
{
    source->stream.next_in = source->input;
    source->stream.avail_in = 0;
    source->at_end = false;
    source->read_bytes = source->given_bytes = 0;
    if (!need(source, MAGIC_BYTES))
        return false;
    source->kind = next_kind(source);
    source->is_in_member = source->kind != TRACE_SOURCE_PLAIN;
    if (source->kind == TRACE_SOURCE_ZSTD && source->zstd == NULL) {
        source->zstd = ZSTD_createDCtx();
        if (source->zstd == NULL)
            return fail(source, TRACE_SOURCE_MEMORY, 0);
    }
    return true;
}

enum trace_source_fault trace_source_open(struct trace_source *source, int file)
{
    *source = (struct trace_source){.file = file, .input = malloc(INPUT_BYTES)};
    if (source->input == NULL) {
        close(file);
        return TRACE_SOURCE_MEMORY;
    }
    if (inflateInit2(&source->stream, GZIP_WINDOW) != Z_OK) {
        free(source->input);
        source->input = NULL;
        close(file);
        return TRACE_SOURCE_MEMORY;
    }
    begin(source);
    enum trace_source_fault fault = source->fault;
    if (fault != TRACE_SOURCE_FINE) {
        int reason = source->reason;
        trace_source_close(source);
        source->reason = reason;
    }
    return fault;
}

/* One call of ZSTD_decompressStream(), within a frame. Returns whether there may be more. */
static bool decompress_zstd(struct trace_source *source)
{
    z_stream *stream = &source->stream;
    ZSTD_inBuffer in = {stream->next_in, stream->avail_in, 0};
    ZSTD_outBuffer out = {stream->next_out, stream->avail_out, 0};
    size_t left = ZSTD_decompressStream(source->zstd, &out, &in);
    if (ZSTD_isError(left))
        return fail(source,
                    ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge
                        ? TRACE_SOURCE_WINDOW
                        : TRACE_SOURCE_DAMAGED,
                    0);
    stream->next_in += in.pos;
    stream->avail_in -= (uInt)in.pos;
    stream->next_out += out.pos;
    stream->avail_out -= (uInt)out.pos;
    source->is_in_member = left != 0;
    return true;
}

/* Decompresses some bytes of a member, or moves from one member to the next. Returns whether there may be
 * more. */
static bool inflate_some(struct trace_source *source)
{
    z_stream *stream = &source->stream;
    if (!source->is_in_member) {
        if (!need(source, MAGIC_BYTES) || stream->avail_in == 0)
            return false;
        if (next_kind(source) != source->kind)
            return fail(source, TRACE_SOURCE_TRAILING, 0);
        if (source->kind == TRACE_SOURCE_GZIP)
            inflateReset(stream);
        else
            ZSTD_DCtx_reset(source->zstd, ZSTD_reset_session_only);
        source->is_in_member = true;
    }
    if (!need(source, 1))
        return false;
    if (stream->avail_in == 0)
        return fail(source, TRACE_SOURCE_CUT, 0);
    if (source->kind == TRACE_SOURCE_ZSTD)
        return decompress_zstd(source);
    switch (inflate(stream, Z_NO_FLUSH)) {
    case Z_OK:
    case Z_BUF_ERROR:
        return true;
    case Z_STREAM_END:
        source->is_in_member = false;
        return true;
    case Z_MEM_ERROR:
        return fail(source, TRACE_SOURCE_MEMORY, 0);
    default:
        return fail(source, TRACE_SOURCE_DAMAGED, 0);
    }
}

size_t trace_source_read(struct trace_source *source, char *buffer, size_t size)
{
    z_stream *stream = &source->stream;
    size_t given = 0;
    if (source->fault != TRACE_SOURCE_FINE || size == 0)
        return 0;
    if (source->kind != TRACE_SOURCE_PLAIN) {
        stream->next_out = (unsigned char *)buffer;
        stream->avail_out = (uInt)size;
        while (stream->avail_out > 0 && inflate_some(source))
            ;
        /* Nothing is returned from damaged data, since an error about its contents would mislead. */
        given = source->fault == TRACE_SOURCE_DAMAGED ? 0 : size - stream->avail_out;
    } else if (need(source, 1)) {
        given = stream->avail_in < size ? stream->avail_in : size;
        memcpy(buffer, stream->next_in, given);
        stream->next_in += given;
        stream->avail_in -= (uInt)given;
    }
    source->given_bytes += given;
    return given;
}

bool trace_source_go(struct trace_source *source, uint64_t place)
{
    char skipped[4096];
    if (lseek(source->file, 0, SEEK_SET) != 0 || inflateReset(&source->stream) != Z_OK || !begin(source))
        return false;
    if (source->kind == TRACE_SOURCE_ZSTD)
        ZSTD_DCtx_reset(source->zstd, ZSTD_reset_session_only);
    if (source->kind == TRACE_SOURCE_PLAIN) {
        off_t end = lseek(source->file, 0, SEEK_END);
        if (end < 0 || (uint64_t)end < place || lseek(source->file, (off_t)place, SEEK_SET) != (off_t)place)
            return false;
        source->stream.avail_in = 0;
        source->at_end = false;
        source->read_bytes = source->given_bytes = place;
    }
    while (source->given_bytes < place) {
        uint64_t left = place - source->given_bytes;
        if (trace_source_read(source, skipped, left < sizeof skipped ? (size_t)left : sizeof skipped) == 0)
            return false;
    }
    return true;
}

uint64_t trace_source_offset(const struct trace_source *source)
{
    return source->read_bytes - source->stream.avail_in;
}

void trace_source_close(struct trace_source *source)
{
    if (source->input != NULL) {
        inflateEnd(&source->stream);
        ZSTD_freeDCtx(source->zstd);
        close(source->file);
    }
    free(source->input);
    *source = (struct trace_source){0};
}
