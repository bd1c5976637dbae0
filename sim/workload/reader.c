/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In: a plain or compressed file, or a folder of these. Keeps one buffer of decompressed bytes. Out: its
 * lines, or its bytes. */
#define _POSIX_C_SOURCE 200809L

#include <bzlib.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <lz4frame.h>
#include <lzma.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "kernel/file.h"
#include "kernel/grow.h"
#include "trace_parts.h"

#define WHOLE_MAX (UINT64_C(1) << 63)

enum {
    INPUT_BYTES = 64 * 1024,
    BUFFER_BYTES = 256 * 1024,
    GZIP_WINDOW = 15 + 16,
    MAGIC_BYTES = 6,
    CHARACTER_BYTES = 4 /* the most of one in UTF-8: with less room, none of UTF-16 may be given */
};
#define XZ_MEMORY_MAX (UINT64_C(192) << 20) /* xz -9 needs 65 MiB */

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

static bool fail(struct trace_source *source, enum trace_source_fault fault, const char *cure)
{
    source->fault = fault;
    source->cure = cure;
    return false;
}

/* Reads until the buffer has `wanted` bytes, or all bytes up to the end of the file. Bytes that were not
 * consumed are moved to the beginning of the buffer. */
static bool need(struct trace_source *source, size_t wanted)
{
    if (source->left >= wanted || source->at_end)
        return true;
    memmove(source->input, source->next, source->left);
    source->next = source->input;
    while (source->left < wanted && !source->at_end) {
        ssize_t got = read(source->file, source->input + source->left, INPUT_BYTES - source->left);
        if (got < 0 && errno != EINTR) {
            source->reason = errno;
            return fail(source, TRACE_SOURCE_SYSTEM, NULL);
        }
        source->at_end = got == 0;
        if (got > 0) {
            source->left += (size_t)got;
            source->read_bytes += (uint64_t)got;
        }
    }
    return true;
}

static void consume(struct trace_source *source, size_t bytes)
{
    source->next += bytes;
    source->left -= bytes;
}

/* The decoders. `begin` prepares for a member, `run` decodes some bytes from the source to *out, and `end`
 * frees what `begin` allocated. `run` may set the source's `cure` before STEP_DAMAGED. */

enum step { STEP_MORE, STEP_END, STEP_MEMORY, STEP_DAMAGED };

struct room {
    char *at;
    size_t left;
};

struct zip_member {
    z_stream stream;
    bool is_stored, has_descriptor; /* the check follows the data */
    uint64_t stored_left;
    uint32_t check, wanted; /* CRC-32 */
};

union decoder {
    z_stream gzip;
    ZSTD_DCtx *zstd;
    bz_stream bzip2;
    lzma_stream xz;
    LZ4F_dctx *lz4;
    struct zip_member zip;
};

/* zlib, bzip2 and liblzma have streams with the same fields. */
#define ENTER(stream, type)                                                                                  \
    ((stream)->next_in = (type *)source->next, (stream)->avail_in = (unsigned)source->left,                  \
     (stream)->next_out = (type *)out->at, (stream)->avail_out = (unsigned)out->left)
#define LEAVE(stream)                                                                                        \
    (consume(source, source->left - (stream)->avail_in), out->at += out->left - (stream)->avail_out,         \
     out->left = (stream)->avail_out)

static bool begin_gzip(struct trace_source *source)
{
    return inflateInit2(&source->decoder->gzip, GZIP_WINDOW) == Z_OK;
}

static enum step inflate_step(z_stream *stream, struct trace_source *source, struct room *out)
{
    ENTER(stream, unsigned char);
    int result = inflate(stream, Z_NO_FLUSH);
    LEAVE(stream);
    return result == Z_OK || result == Z_BUF_ERROR ? STEP_MORE
           : result == Z_STREAM_END                ? STEP_END
           : result == Z_MEM_ERROR                 ? STEP_MEMORY
                                                   : STEP_DAMAGED;
}

static enum step run_gzip(struct trace_source *source, struct room *out)
{
    return inflate_step(&source->decoder->gzip, source, out);
}

static void end_gzip(union decoder *decoder)
{
    inflateEnd(&decoder->gzip);
}

static bool begin_zstd(struct trace_source *source)
{
    return (source->decoder->zstd = ZSTD_createDCtx()) != NULL;
}

static enum step run_zstd(struct trace_source *source, struct room *out)
{
    ZSTD_inBuffer from = {source->next, source->left, 0};
    ZSTD_outBuffer to = {out->at, out->left, 0};
    size_t left = ZSTD_decompressStream(source->decoder->zstd, &to, &from);
    consume(source, from.pos);
    *out = (struct room){out->at + to.pos, out->left - to.pos};
    if (ZSTD_isError(left) && ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
        source->cure = "with a window above 128 MiB; pack it again without --long=N";
    return ZSTD_isError(left) ? STEP_DAMAGED : left == 0 ? STEP_END : STEP_MORE;
}

static void end_zstd(union decoder *decoder)
{
    ZSTD_freeDCtx(decoder->zstd);
}

static bool begin_bzip2(struct trace_source *source)
{
    return BZ2_bzDecompressInit(&source->decoder->bzip2, 0, 0) == BZ_OK;
}

static enum step run_bzip2(struct trace_source *source, struct room *out)
{
    bz_stream *stream = &source->decoder->bzip2;
    ENTER(stream, char);
    int result = BZ2_bzDecompress(stream);
    LEAVE(stream);
    return result == BZ_OK           ? STEP_MORE
           : result == BZ_STREAM_END ? STEP_END
           : result == BZ_MEM_ERROR  ? STEP_MEMORY
                                     : STEP_DAMAGED;
}

static void end_bzip2(union decoder *decoder)
{
    BZ2_bzDecompressEnd(&decoder->bzip2);
}

static bool begin_xz(struct trace_source *source)
{
    return lzma_stream_decoder(&source->decoder->xz, XZ_MEMORY_MAX, 0) == LZMA_OK;
}

static enum step run_xz(struct trace_source *source, struct room *out)
{
    lzma_stream *stream = &source->decoder->xz;
    ENTER(stream, uint8_t);
    lzma_ret result = lzma_code(stream, LZMA_RUN);
    LEAVE(stream);
    if (result == LZMA_MEMLIMIT_ERROR)
        source->cure = "with a dictionary above 128 MiB; pack it again with xz -9";
    return result == LZMA_OK || result == LZMA_BUF_ERROR ? STEP_MORE
           : result == LZMA_STREAM_END                   ? STEP_END
           : result == LZMA_MEM_ERROR                    ? STEP_MEMORY
                                                         : STEP_DAMAGED;
}

static void end_xz(union decoder *decoder)
{
    lzma_end(&decoder->xz);
}

static bool begin_lz4(struct trace_source *source)
{
    return !LZ4F_isError(LZ4F_createDecompressionContext(&source->decoder->lz4, LZ4F_VERSION));
}

static enum step run_lz4(struct trace_source *source, struct room *out)
{
    size_t in = source->left, given = out->left;
    size_t left = LZ4F_decompress(source->decoder->lz4, out->at, &given, source->next, &in, NULL);
    if (LZ4F_isError(left))
        return STEP_DAMAGED;
    consume(source, in);
    *out = (struct room){out->at + given, out->left - given};
    return left == 0 ? STEP_END : STEP_MORE;
}

static void end_lz4(union decoder *decoder)
{
    LZ4F_freeDecompressionContext(decoder->lz4);
}

#define ZIP_HEADER 30u
static const char zip_magic[] = "PK\x03\x04";

static uint32_t little(const unsigned char *bytes, unsigned count)
{
    uint32_t value = 0;
    while (count-- > 0)
        value = value << 8 | bytes[count];
    return value;
}

/* Skips bytes, at most INPUT_BYTES; false at the end of the file. */
static bool skip(struct trace_source *source, size_t bytes)
{
    if (need(source, bytes) && source->left < bytes)
        fail(source, TRACE_SOURCE_CUT, NULL);
    consume(source, source->left < bytes ? source->left : bytes);
    return source->fault == TRACE_SOURCE_FINE;
}

/* Reads the header of the first member that is no folder: APPNOTE.TXT 6.3, section 4.3.7. */
static bool begin_zip(struct trace_source *source)
{
    struct zip_member *zip = &source->decoder->zip;
    bool is_folder = true;
    while (is_folder) {
        if (!need(source, ZIP_HEADER + 1))
            return false;
        unsigned char header[ZIP_HEADER + 1] = {0};
        memcpy(header, source->next, source->left < sizeof header ? source->left : sizeof header);
        const unsigned flags = little(header + 6, 2), method = little(header + 8, 2);
        const size_t name_size = little(header + 26, 2);
        *zip = (struct zip_member){.is_stored = method == 0,
                                   .has_descriptor = (flags & 8) != 0,
                                   .wanted = little(header + 14, 4),
                                   .stored_left = little(header + 18, 4)};
        if (!skip(source, ZIP_HEADER + name_size))
            return false;
        is_folder = source->next[-1] == '/';
        if (!skip(source, little(header + 28, 2) + (is_folder ? (size_t)zip->stored_left : 0)))
            return false;
        if (header[ZIP_HEADER] == '[') /* [Content_Types].xml */
            return fail(source, TRACE_SOURCE_DAMAGED, "is a spreadsheet; save it as CSV");
        if ((flags & 1) != 0 || (!zip->is_stored && method != Z_DEFLATED) ||
            (zip->is_stored && zip->has_descriptor && !is_folder))
            return fail(source, TRACE_SOURCE_DAMAGED, "is encrypted, or packed in an unknown way; unpack it");
    }
    return zip->is_stored || inflateInit2(&zip->stream, -MAX_WBITS) == Z_OK;
}

static enum step run_zip(struct trace_source *source, struct room *out)
{
    struct zip_member *zip = &source->decoder->zip;
    const char *begin = out->at;
    enum step step = STEP_END;
    if (!zip->is_stored) {
        step = inflate_step(&zip->stream, source, out);
    } else if (zip->stored_left > 0) {
        size_t size = source->left < out->left ? source->left : out->left;
        size = size < zip->stored_left ? size : (size_t)zip->stored_left;
        memcpy(out->at, source->next, size);
        consume(source, size);
        *out = (struct room){out->at + size, out->left - size};
        step = (zip->stored_left -= size) == 0 ? STEP_END : STEP_MORE;
    }
    zip->check = (uint32_t)crc32(zip->check, (const unsigned char *)begin, (unsigned)(out->at - begin));
    if (step != STEP_END)
        return step;
    if (zip->has_descriptor) { /* the check and two sizes, of 4 bytes, or of 8 in a large archive */
        if (!need(source, 24) || source->left < 24)
            return STEP_DAMAGED;
        const unsigned begin_of_check = memcmp(source->next, "PK\x07\x08", 4) == 0 ? 4 : 0;
        zip->wanted = little(source->next + begin_of_check, 4);
        consume(source, begin_of_check + 12);
        consume(source, memcmp(source->next, "PK", 2) == 0 ? 0 : 8);
    }
    return zip->check == zip->wanted ? STEP_END : STEP_DAMAGED;
}

static void end_zip(union decoder *decoder)
{
    inflateEnd(&decoder->zip.stream);
}

/* By the first bytes of a file, of which the low bits of the first one may be anything (a zstd file may begin
 * with a frame of other data). */
static const struct trace_codec {
    const char *name, *end_of_name, *magic;
    unsigned char any_bits;
    bool (*begin)(struct trace_source *source);
    enum step (*run)(struct trace_source *source, struct room *out);
    void (*end)(union decoder *decoder);
} codecs[] = {
    {"gzip", ".gz", "\x1f\x8b", 0, begin_gzip, run_gzip, end_gzip},
    {"zstd", ".zst", "\x28\xb5\x2f\xfd", 0, begin_zstd, run_zstd, end_zstd},
    {"zstd", ".zst", "\x50\x2a\x4d\x18", 0x0f, begin_zstd, run_zstd, end_zstd},
    {"bzip2", ".bz2", "BZh", 0, begin_bzip2, run_bzip2, end_bzip2},
    {"xz", ".xz",
     "\xfd"
     "7zXZ",
     0, begin_xz, run_xz, end_xz},
    {"lz4", ".lz4", "\x04\x22\x4d\x18", 0, begin_lz4, run_lz4, end_lz4},
    {"zip", ".zip", zip_magic, 0, begin_zip, run_zip, end_zip},
};
#define CODECS (sizeof codecs / sizeof *codecs)

/* The codec of the data that begins at the next byte of the file; NULL for plain data. */
static const struct trace_codec *next_codec(const struct trace_source *source)
{
    for (size_t i = 0; i < CODECS; i++) {
        size_t size = strlen(codecs[i].magic);
        if (source->left >= size &&
            ((source->next[0] ^ codecs[i].magic[0]) & ~codecs[i].any_bits & 0xff) == 0 &&
            memcmp(source->next + 1, codecs[i].magic + 1, size - 1) == 0)
            return &codecs[i];
    }
    return NULL;
}

static void leave_member(struct trace_source *source)
{
    if (source->is_in_member)
        source->codec->end(source->decoder);
    source->is_in_member = false;
}

/* The source may be one that failed to open, or a zeroed one. */
static void trace_source_close(struct trace_source *source)
{
    if (source->input != NULL) {
        leave_member(source);
        close(source->file);
        if (source->is_wide)
            iconv_close(source->wide);
    }
    free(source->decoder);
    free(source->input);
    *source = (struct trace_source){0};
}

/* Takes ownership of an open file descriptor, which is closed even on failure. */
static enum trace_source_fault trace_source_open(struct trace_source *source, int file)
{
    *source = (struct trace_source){
        .file = file, .input = malloc(INPUT_BYTES), .decoder = calloc(1, sizeof *source->decoder)};
    source->next = source->input;
    if (source->input == NULL) {
        close(file);
        fail(source, TRACE_SOURCE_MEMORY, NULL);
    } else if (source->decoder == NULL) {
        fail(source, TRACE_SOURCE_MEMORY, NULL);
    } else if (need(source, MAGIC_BYTES)) {
        source->codec = next_codec(source);
    }
    enum trace_source_fault fault = source->fault;
    if (fault != TRACE_SOURCE_FINE) {
        int reason = source->reason;
        trace_source_close(source);
        source->reason = reason;
    }
    return fault;
}

/* Moves to the next member. Returns false at the end of the data. */
static bool next_member(struct trace_source *source)
{
    static const char of_macos[] = "__MACOSX"; /* a folder with attributes of the files */
    if (!need(source, ZIP_HEADER + sizeof of_macos) || source->left == 0)
        return false;
    const struct trace_codec *codec = next_codec(source);
    if (source->codec->run == run_zip && source->is_begun) /* the archive's directory follows */
        return codec == source->codec && memcmp(source->next + ZIP_HEADER, of_macos, 8) != 0 &&
               fail(source, TRACE_SOURCE_DAMAGED, "holds several files; unpack it, and name one");
    if (codec == NULL || codec->run != source->codec->run)
        return fail(source, TRACE_SOURCE_TRAILING, NULL);
    memset(source->decoder, 0, sizeof *source->decoder);
    source->is_begun = source->is_in_member = codec->begin(source);
    return source->is_in_member ||
           (source->fault == TRACE_SOURCE_FINE && fail(source, TRACE_SOURCE_MEMORY, NULL));
}

/* Decompresses some bytes of a member, or moves from one member to the next. Returns whether there may be
 * more. */
static bool decode_some(struct trace_source *source, struct room *out)
{
    if (!source->is_in_member && !next_member(source))
        return false;
    if (!need(source, 1))
        return false;
    if (source->left == 0)
        return fail(source, TRACE_SOURCE_CUT, NULL);
    switch (source->codec->run(source, out)) {
    case STEP_END:
        leave_member(source);
        return true;
    case STEP_MEMORY:
        return fail(source, TRACE_SOURCE_MEMORY, NULL);
    case STEP_DAMAGED:
        return fail(source, TRACE_SOURCE_DAMAGED,
                    source->cure != NULL ? source->cure : "is damaged; copy or make it again");
    case STEP_MORE:
        break;
    }
    return true;
}

static size_t read_bytes(struct trace_source *source, char *buffer, size_t size)
{
    size_t given = 0;
    if (source->fault != TRACE_SOURCE_FINE || size == 0)
        return 0;
    if (source->codec != NULL) {
        struct room room = {buffer, size};
        while (room.left > 0 && decode_some(source, &room))
            ;
        /* Nothing is returned from damaged data, since an error about its contents would mislead. */
        given = source->fault == TRACE_SOURCE_DAMAGED ? 0 : size - room.left;
    } else if (need(source, 1)) {
        given = source->left < size ? source->left : size;
        memcpy(buffer, source->next, given);
        consume(source, given);
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

/* Reads up to `size` bytes, at least CHARACTER_BYTES, and returns their number: 0 at the end of the file, and
 * at a fault, which is stored in source->fault and is permanent. Valid data before the end of a truncated
 * file, or before trailing data, is returned first. */
static size_t trace_source_read(struct trace_source *source, char *buffer, size_t size)
{
    size_t given = source->given_bytes > 0 ? 0 : read_bytes(source, buffer, 2);
    bool is_little = given == 2 && memcmp(buffer, "\xFF\xFE", 2) == 0;
    if (is_little || (given == 2 && memcmp(buffer, "\xFE\xFF", 2) == 0)) {
        source->wide = iconv_open("UTF-8", is_little ? "UTF-16LE" : "UTF-16BE");
        source->is_wide = source->wide != (iconv_t)-1; /* NOLINT(performance-no-int-to-ptr) */
        given = 0;
        if (!source->is_wide)
            return fail(source, TRACE_SOURCE_MEMORY, NULL);
    }
    given += (source->is_wide ? read_wide : read_bytes)(source, buffer + given, size - given);
    source->given_bytes += given;
    return given;
}

/* The number of bytes of the file on disk that were consumed. */
static uint64_t trace_source_offset(const struct trace_source *source)
{
    return source->read_bytes - source->left;
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
    const char *kind = reader->source.codec == NULL ? "" : reader->source.codec->name;
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
                          reader->source.fault == TRACE_SOURCE_CUT ? "is truncated; copy or make it again"
                                                                   : reader->source.cure);
    }
}

bool trace_reader_fill(struct trace_reader *reader, struct sim_error *error)
{
    size_t from = reader->is_marked ? reader->mark : reader->begin, kept = reader->end - from;
    if (!sim_grow(&reader->buffer, &reader->capacity, kept + CHARACTER_BYTES, 1))
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
           reader->end - reader->begin + CHARACTER_BYTES <= reader->capacity &&
           trace_reader_fill(reader, NULL))
        ;
    *size = reader->end - reader->begin;
    return reader->buffer + reader->begin;
}

void trace_reader_mark(struct trace_reader *reader)
{
    reader->is_marked = true;
    reader->mark = reader->begin;
    reader->mark_line = reader->line;
    reader->mark_row = reader->row;
    reader->mark_continued = reader->continued;
}

void trace_reader_return(struct trace_reader *reader)
{
    reader->is_marked = false;
    reader->begin = reader->mark;
    reader->line = reader->mark_line;
    reader->row = reader->mark_row;
    reader->continued = reader->mark_continued;
}

uint64_t trace_reader_offset(const struct trace_reader *reader)
{
    return trace_source_offset(&reader->source);
}

void trace_reader_close(struct trace_reader *reader)
{
    trace_source_close(&reader->source);
    free(reader->buffer);
    json_decref(reader->rows);
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
    for (size_t i = 0; i < CODECS; i++)
        size -= ends_with(name, size, codecs[i].end_of_name) ? strlen(codecs[i].end_of_name) : 0;
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
