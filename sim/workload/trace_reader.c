/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads lines through one buffer. */
#define _POSIX_C_SOURCE 200809L
#include "trace_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernel/file.h"
#include "kernel/grow.h"

bool trace_reader_open(const char *path, struct trace_reader *out, struct sim_error *error)
{
    return trace_reader_open_as(path, "trace", out, error);
}

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

static bool open_file(struct trace_reader *reader, int *descriptor, struct sim_error *error)
{
    int reason;
    *descriptor = sim_input_open(reader->path, &reason);
    if (*descriptor < 0) {
        return fail_system(reader, reason == EISDIR ? "cannot be read" : "cannot be opened", reason, error);
    }
    struct stat status;
    reader->all_bytes =
        fstat(*descriptor, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    return true;
}

bool trace_reader_open_as(const char *path, const char *what, struct trace_reader *out,
                          struct sim_error *error)
{
    *out = (struct trace_reader){.path = path, .what = what, .line_bytes_max = TRACE_LINE_BYTES_MAX};
    int descriptor;
    if (!open_file(out, &descriptor, error)) {
        return false;
    }
    if (trace_source_open(&out->source, descriptor) == TRACE_SOURCE_SYSTEM) {
        return fail_system(out, "cannot be read", out->source.reason, error);
    }
    out->capacity = TRACE_BUFFER_BYTES;
    out->buffer = malloc(out->capacity);
    if (out->buffer == NULL || out->source.input == NULL) {
        trace_reader_close(out);
        return sim_fail_memory(error);
    }
    return true;
}

static bool fail_source(const struct trace_reader *reader, struct sim_error *error)
{
    const char *kind = reader->source.kind == TRACE_SOURCE_ZSTD ? "zstd" : "gzip";
    switch (reader->source.fault) {
    case TRACE_SOURCE_MEMORY:
        return sim_fail_memory(error);
    case TRACE_SOURCE_SYSTEM:
        return fail_system(reader, "cannot be read", reader->source.reason, error);
    case TRACE_SOURCE_CUT:
        return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s file is truncated; copy or make it again",
                        reader->path, reader->line, kind);
    case TRACE_SOURCE_TRAILING:
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": the %s data end at byte %" PRIu64
                        ", and what follows is not %s; copy or make the file again",
                        reader->path, reader->line, kind, trace_source_offset(&reader->source), kind);
    case TRACE_SOURCE_WINDOW:
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64
                        ": zstd file with a window above 128 MiB; pack it again without --long=N",
                        reader->path, reader->line);
    case TRACE_SOURCE_FINE:
    case TRACE_SOURCE_DAMAGED:
        break;
    }
    return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": %s file is damaged; copy or make it again",
                    reader->path, reader->line, kind);
}

/* Moves the incomplete line to the beginning of the buffer and reads more bytes after it. */
static bool fill(struct trace_reader *reader, struct sim_error *error)
{
    size_t kept = reader->end - reader->begin;
    if (kept == reader->capacity && !sim_grow(&reader->buffer, &reader->capacity, kept + 1, 1))
        return sim_fail_memory(error);
    memmove(reader->buffer, reader->buffer + reader->begin, kept);
    reader->begin = 0;
    reader->end = kept;
    size_t got = trace_source_read(&reader->source, reader->buffer + kept, reader->capacity - kept);
    reader->end += got;
    bool is_begin = got > 0 && reader->source.given_bytes == got;
    if (is_begin && got >= 3 && memcmp(reader->buffer, "\xEF\xBB\xBF", 3) == 0)
        reader->begin = 3; /* a byte order mark */
    if (is_begin)
        reader->line_break =
            memchr(reader->buffer, '\n', got) == NULL && memchr(reader->buffer, '\r', got) != NULL ? '\r'
                                                                                                   : '\n';
    reader->lines_end = reader->end;
    while (reader->lines_end > 0 && reader->buffer[reader->lines_end - 1] != reader->line_break)
        reader->lines_end--;
    reader->at_end = got == 0;
    return got > 0 || reader->source.fault == TRACE_SOURCE_FINE || fail_source(reader, error);
}

bool trace_reader_next(struct trace_reader *reader, char **line, size_t *size, struct sim_error *error)
{
    *line = NULL;
    *size = 0;
    reader->line++;
    char *start = reader->buffer + reader->begin;
    char *end = memchr(start, reader->line_break, reader->end - reader->begin);
    while (end == NULL && !reader->at_end && reader->end - reader->begin <= reader->line_bytes_max + 1) {
        if (!fill(reader, error)) {
            return false;
        }
        start = reader->buffer + reader->begin;
        end = memchr(start, reader->line_break, reader->end - reader->begin);
    }
    if (end == NULL && reader->begin == reader->end) {
        reader->line--;
        return true;
    }
    size_t bytes = end != NULL ? (size_t)(end - start) : reader->end - reader->begin;
    size_t used = end != NULL ? bytes + 1 : bytes;
    if (end != NULL && bytes > 0 && start[bytes - 1] == '\r') {
        bytes--;
    }
    if (bytes > reader->line_bytes_max) {
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": line is longer than %zu bytes; put each row on its own line",
                        reader->path, reader->line, reader->line_bytes_max);
    }
    reader->begin += used;
    *line = start;
    *size = bytes;
    return true;
}

bool trace_reader_peek(struct trace_reader *reader, const char **bytes, size_t *size, struct sim_error *error)
{
    *bytes = NULL;
    *size = 0;
    while (!reader->at_end && reader->end - reader->begin < reader->capacity) {
        if (!fill(reader, error))
            return false;
    }
    *bytes = reader->buffer + reader->begin;
    *size = reader->end - reader->begin;
    return true;
}

uint64_t trace_reader_place(const struct trace_reader *reader)
{
    return reader->source.given_bytes - (reader->end - reader->begin);
}

bool trace_reader_go(struct trace_reader *reader, uint64_t place, uint64_t line)
{
    reader->begin = reader->end = reader->lines_end = 0;
    reader->at_end = false;
    reader->line = line;
    return trace_source_go(&reader->source, place);
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
