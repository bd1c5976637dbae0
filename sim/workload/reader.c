/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In: a plain, gzip or zstd file, or a folder of these. Keeps one buffer of decompressed bytes. Out: its
 * lines, or its bytes. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd_errors.h>

#include "kernel/file.h"
#include "kernel/grow.h"
#include "trace_parts.h"

#define WHOLE_MAX (UINT64_C(1) << 63)

enum { INPUT_BYTES = 64 * 1024, BUFFER_BYTES = 256 * 1024, GZIP_WINDOW = 15 + 16, MAGIC_BYTES = 4 };

bool trace_fail(const char *path, uint64_t line, struct sim_error *error, const char *format, ...)
{
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s", path, line, text);
}

struct trace_shown trace_show(const char *text, size_t size)
{
    enum { MOST = 40 };
    struct trace_shown shown = {{0}};
    size_t bytes = size > MOST ? MOST : size;
    for (size_t i = 0; i < bytes; i++)
        shown.text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    if (size > MOST)
        memcpy(shown.text + MOST, "...", 3);
    return shown;
}

bool trace_whole(struct trace_span span, uint64_t *out)
{
    bool is_whole = span.begin < span.end;
    *out = 0;
    for (const char *at = span.begin; at < span.end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        is_whole = is_whole && digit <= 9;
        *out = *out > (WHOLE_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
    }
    return is_whole;
}

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

/* The source may be one that failed to open, or a zeroed one. */
static void trace_source_close(struct trace_source *source)
{
    if (source->input != NULL) {
        inflateEnd(&source->stream);
        ZSTD_freeDCtx(source->zstd);
        close(source->file);
        if (source->is_wide)
            iconv_close(source->wide);
    }
    free(source->input);
    *source = (struct trace_source){0};
}

/* Takes ownership of an open file descriptor, which is closed even on failure. */
static enum trace_source_fault trace_source_open(struct trace_source *source, int file)
{
    *source = (struct trace_source){.file = file, .input = malloc(INPUT_BYTES)};
    source->stream.next_in = source->input;
    if (source->input == NULL || inflateInit2(&source->stream, GZIP_WINDOW) != Z_OK) {
        free(source->input);
        source->input = NULL;
        close(file);
        return TRACE_SOURCE_MEMORY;
    }
    if (need(source, MAGIC_BYTES)) {
        source->kind = next_kind(source);
        source->is_in_member = source->kind != TRACE_SOURCE_PLAIN;
        if (source->kind == TRACE_SOURCE_ZSTD && (source->zstd = ZSTD_createDCtx()) == NULL)
            fail(source, TRACE_SOURCE_MEMORY, 0);
    }
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

static size_t read_bytes(struct trace_source *source, char *buffer, size_t size)
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
    return given;
}

/* Reads UTF-16 and converts it. What is not a character becomes '?'. */
static size_t read_wide(struct trace_source *source, char *buffer, size_t size)
{
    char raw[4096], *out = buffer;
    bool is_full = false, at_end = false;
    while (out == buffer && !is_full && !at_end) {
        size_t kept = source->rest_size, most = size / 3 < kept + 2 ? kept + 2 : size / 3, room = size;
        most = most < sizeof raw ? most : sizeof raw; /* two bytes become at most three */
        memcpy(raw, source->rest, kept);
        size_t left = kept + read_bytes(source, raw + kept, most - kept);
        at_end = left == kept;
        char *in = raw;
        while (iconv(source->wide, &in, &left, &out, &room) == (size_t)-1 && left > 0) {
            is_full = errno == E2BIG || room == 0;
            if (is_full || (errno == EINVAL && !at_end))
                break;
            *out++ = '?';
            room--;
            in += left > 1 ? 2 : 1;
            left -= left > 1 ? 2 : 1;
        }
        memcpy(source->rest, in, left);
        source->rest_size = left;
    }
    return (size_t)(out - buffer);
}

/* Reads up to `size` bytes and returns their number: 0 at the end of the file, and at a fault,
 * which is stored in source->fault and is permanent. Valid data before the end of a truncated file, or before
 * trailing data, is returned first. */
static size_t trace_source_read(struct trace_source *source, char *buffer, size_t size)
{
    size_t given = source->given_bytes > 0 ? 0 : read_bytes(source, buffer, 2);
    bool is_little = given == 2 && memcmp(buffer, "\xFF\xFE", 2) == 0;
    if (is_little || (given == 2 && memcmp(buffer, "\xFE\xFF", 2) == 0)) {
        source->wide = iconv_open("UTF-8", is_little ? "UTF-16LE" : "UTF-16BE");
        source->is_wide = source->wide != (iconv_t)-1; /* NOLINT(performance-no-int-to-ptr) */
        given = 0;
        if (!source->is_wide)
            return fail(source, TRACE_SOURCE_MEMORY, 0);
    }
    given += (source->is_wide ? read_wide : read_bytes)(source, buffer + given, size - given);
    source->given_bytes += given;
    return given;
}

/* The number of bytes of the file on disk that were consumed. */
static uint64_t trace_source_offset(const struct trace_source *source)
{
    return source->read_bytes - source->stream.avail_in;
}

/* Reads lines through one buffer. */

/* An error that the user can fix by naming another file is SIM_ERROR_INPUT; any other is
 * SIM_ERROR_ENVIRONMENT. */
static bool fail_system(const struct trace_reader *reader, const char *what, int number,
                        struct sim_error *error)
{
    enum sim_error_class class = SIM_ERROR_INPUT;
    const char *cure = "check the file's name";
    switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
        break;
    case EISDIR:
    case SIM_NOT_REGULAR:
        cure = "name a CSV file";
        break;
    case EACCES:
    case EPERM:
        cure = "check the file's permissions";
        break;
    default:
        class = SIM_ERROR_ENVIRONMENT;
        cure = "check the disk and the system's limits";
        break;
    }
    char buffer[SIM_REASON_SIZE];
    const char *reason = sim_input_reason(number, buffer, sizeof buffer);
    char line[24] = "";
    if (reader->line != 0)
        snprintf(line, sizeof line, ":%" PRIu64, reader->line);
    return sim_fail(error, class, "%s%s: %s %s (%s); %s", reader->path, line, reader->what, what, reason,
                    cure);
}

bool trace_reader_open(const char *path, const char *what, struct trace_reader *out, struct sim_error *error)
{
    *out = (struct trace_reader){.path = path, .what = what};
    struct stat status;
    int reason, descriptor = sim_input_open(path, &reason);
    if (descriptor < 0)
        return fail_system(out, reason == EISDIR ? "cannot be read" : "cannot be opened", reason, error);
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
        out->all_bytes = (uint64_t)status.st_size;
    if (trace_source_open(&out->source, descriptor) == TRACE_SOURCE_SYSTEM)
        return fail_system(out, "cannot be read", out->source.reason, error);
    out->capacity = BUFFER_BYTES;
    out->buffer = malloc(out->capacity);
    if (out->buffer == NULL || out->source.input == NULL) {
        trace_reader_close(out);
        return sim_fail_memory(error);
    }
    return true;
}

static bool fail_source(const struct trace_reader *reader, struct sim_error *error)
{
    const uint64_t line = reader->line + (reader->line == 0); /* before the first line was read */
    const char *kind = reader->source.kind == TRACE_SOURCE_ZSTD ? "zstd" : "gzip";
    switch (reader->source.fault) {
    case TRACE_SOURCE_MEMORY:
        return sim_fail_memory(error);
    case TRACE_SOURCE_SYSTEM:
        return fail_system(reader, "cannot be read", reader->source.reason, error);
    case TRACE_SOURCE_TRAILING:
        return trace_fail(reader->path, line, error,
                          "the %s data end at byte %" PRIu64
                          ", and what follows is not %s; copy or make the file again",
                          kind, trace_source_offset(&reader->source), kind);
    default:
        return trace_fail(reader->path, line, error, "%s file %s", kind,
                          reader->source.fault == TRACE_SOURCE_WINDOW
                              ? "with a window above 128 MiB; pack it again without --long=N"
                          : reader->source.fault == TRACE_SOURCE_CUT ? "is truncated; copy or make it again"
                                                                     : "is damaged; copy or make it again");
    }
}

bool trace_reader_fill(struct trace_reader *reader, struct sim_error *error)
{
    size_t from = reader->is_marked ? reader->mark : reader->begin, kept = reader->end - from;
    if (kept == reader->capacity && !sim_grow(&reader->buffer, &reader->capacity, kept + 1, 1))
        return sim_fail_memory(error);
    memmove(reader->buffer, reader->buffer + from, kept);
    reader->begin -= from;
    reader->mark = 0;
    reader->end = kept;
    size_t got = trace_source_read(&reader->source, reader->buffer + kept, reader->capacity - kept);
    reader->end += got;
    bool is_begin = got > 0 && reader->source.given_bytes == got;
    if (is_begin && got >= 3 && memcmp(reader->buffer, "\xEF\xBB\xBF", 3) == 0)
        reader->begin = reader->mark = 3; /* a byte order mark */
    if (is_begin)
        reader->line_break =
            memchr(reader->buffer, '\n', got) == NULL && memchr(reader->buffer, '\r', got) != NULL ? '\r'
                                                                                                   : '\n';
    reader->lines_end = reader->end;
    while (reader->lines_end > 0 && reader->buffer[reader->lines_end - 1] != reader->line_break)
        reader->lines_end--;
    reader->at_end = got == 0 && reader->source.fault == TRACE_SOURCE_FINE;
    return got > 0 || reader->source.fault == TRACE_SOURCE_FINE || fail_source(reader, error);
}

bool trace_reader_next(struct trace_reader *reader, char **line, size_t *size, struct sim_error *error)
{
    *line = NULL;
    *size = 0;
    reader->line++;
    char *start = reader->buffer + reader->begin;
    char *end = memchr(start, reader->line_break, reader->end - reader->begin);
    while (end == NULL && !reader->at_end && reader->end - reader->begin <= TRACE_LINE_BYTES_MAX + 1) {
        if (!trace_reader_fill(reader, error))
            return false;
        start = reader->buffer + reader->begin;
        end = memchr(start, reader->line_break, reader->end - reader->begin);
    }
    if (end == NULL && reader->begin == reader->end) {
        reader->line--;
        return true;
    }
    size_t bytes = end != NULL ? (size_t)(end - start) : reader->end - reader->begin;
    size_t used = end != NULL ? bytes + 1 : bytes;
    if (end != NULL && bytes > 0 && start[bytes - 1] == '\r')
        bytes--;
    if (bytes > TRACE_LINE_BYTES_MAX)
        return trace_fail(reader->path, reader->line, error,
                          "line is longer than %zu bytes; put each row on its own line",
                          TRACE_LINE_BYTES_MAX);
    reader->begin += used;
    *line = start;
    *size = bytes;
    return true;
}

const char *trace_reader_peek(struct trace_reader *reader, size_t *size)
{
    while (!reader->at_end && reader->source.fault == TRACE_SOURCE_FINE &&
           reader->end - reader->begin < reader->capacity && trace_reader_fill(reader, NULL))
        ;
    *size = reader->end - reader->begin;
    return reader->buffer + reader->begin;
}

void trace_reader_mark(struct trace_reader *reader)
{
    reader->is_marked = true;
    reader->mark = reader->begin;
    reader->mark_line = reader->line;
}

void trace_reader_return(struct trace_reader *reader)
{
    reader->is_marked = false;
    reader->begin = reader->mark;
    reader->line = reader->mark_line;
}

uint64_t trace_reader_offset(const struct trace_reader *reader)
{
    return trace_source_offset(&reader->source);
}

void trace_reader_close(struct trace_reader *reader)
{
    trace_source_close(&reader->source);
    free(reader->buffer);
    *reader = (struct trace_reader){0};
}

/* Finds the files of a trace. */

static bool ends_with(const char *name, size_t size, const char *end)
{
    size_t length = strlen(end);
    return size > length && memcmp(name + size - length, end, length) == 0;
}

static int is_rows(const struct dirent *entry)
{
    static const char *const ends[] = {".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson"};
    const char *name = entry->d_name;
    size_t size = strlen(name);
    size -= ends_with(name, size, ".gz") ? 3 : ends_with(name, size, ".zst") ? 4 : 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (name[0] != '.' && ends_with(name, size, ends[i]))
            return true;
    }
    return false;
}

static bool add(struct wl_trace_files *files, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = sim_grow(&files->paths, &files->capacity, files->count + 1, sizeof *files->paths)
                     ? malloc(size)
                     : NULL;
    if (path == NULL)
        return false;
    snprintf(path, size, "%s%s%s", folder, folder[0] == '\0' ? "" : "/", name);
    files->paths[files->count++] = path;
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        files->bytes += (uint64_t)status.st_size;
    return true;
}

static int by_name(const struct dirent **one, const struct dirent **other)
{
    return strcmp((*one)->d_name, (*other)->d_name);
}

bool wl_trace_files_find(const char *path, struct wl_trace_files *out, struct sim_error *error)
{
    *out = (struct wl_trace_files){0};
    struct stat status;
    struct dirent **entries;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return add(out, "", path) || sim_fail_memory(error);
    int count = scandir(path, &entries, is_rows, by_name);
    if (count < 0)
        return errno == ENOMEM ? sim_fail_memory(error)
                               : sim_fail(error, SIM_ERROR_INPUT,
                                          "%s: the folder cannot be read; check its permissions", path);
    bool ok = true;
    for (int i = 0; i < count; i++) {
        ok = ok && add(out, path, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (!ok)
        return sim_fail_memory(error);
    return count > 0 ||
           sim_fail(error, SIM_ERROR_INPUT, "%s: a folder without files of rows; name a CSV file", path);
}

void wl_trace_files_clear(struct wl_trace_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct wl_trace_files){0};
}
