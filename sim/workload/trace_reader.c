/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool open_file(struct trace_reader *reader, int *descriptor, struct sim_error *error);
static bool fill(struct trace_reader *reader, struct sim_error *error);
static bool fail_system(const struct trace_reader *reader, const char *what, int number,
                        struct sim_error *error);
static bool fail_zlib(const struct trace_reader *reader, struct sim_error *error);

bool trace_reader_open(const char *path, struct trace_reader *out, struct sim_error *error)
{
    return trace_reader_open_as(path, "trace", out, error);
}

bool trace_reader_open_as(const char *path, const char *what, struct trace_reader *out,
                          struct sim_error *error)
{
    *out = (struct trace_reader){.path = path, .what = what, .line = 1};
    int descriptor;
    if (!open_file(out, &descriptor, error)) {
        return false;
    }
    out->file = gzdopen(descriptor, "rb");
    if (out->file == NULL) {
        (void)close(descriptor);
        return sim_fail_memory(error);
    }
    out->buffer = malloc(TRACE_BUFFER_BYTES);
    if (out->buffer == NULL || gzbuffer(out->file, TRACE_BUFFER_BYTES / 2) != 0) {
        trace_reader_close(out);
        return sim_fail_memory(error);
    }
    out->line = 0;
    return true;
}

bool trace_reader_next(struct trace_reader *reader, char **line, size_t *size, struct sim_error *error)
{
    *line = NULL;
    *size = 0;
    reader->line++;
    char *start = reader->buffer + reader->begin;
    char *end = memchr(start, '\n', reader->end - reader->begin);
    while (end == NULL && !reader->at_end && reader->end - reader->begin <= TRACE_LINE_BYTES_MAX + 1) {
        if (!fill(reader, error)) {
            return false;
        }
        start = reader->buffer + reader->begin;
        end = memchr(start, '\n', reader->end - reader->begin);
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
    if (bytes > TRACE_LINE_BYTES_MAX) {
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:%" PRIu64 ": line is longer than %d bytes; put each row on a line of its own",
                        reader->path, reader->line, TRACE_LINE_BYTES_MAX);
    }
    reader->begin += used;
    *line = start;
    *size = bytes;
    return true;
}

uint64_t trace_reader_place(const struct trace_reader *reader)
{
    return (uint64_t)gztell(reader->file) - (reader->end - reader->begin);
}

bool trace_reader_go(struct trace_reader *reader, uint64_t place, uint64_t line)
{
    reader->begin = reader->end = 0;
    reader->at_end = false;
    reader->line = line;
    return gzseek(reader->file, (z_off_t)place, SEEK_SET) == (z_off_t)place;
}

uint64_t trace_reader_offset(const struct trace_reader *reader)
{
    z_off_t offset = gzoffset(reader->file);
    return offset > 0 ? (uint64_t)offset : 0;
}

void trace_reader_close(struct trace_reader *reader)
{
    if (reader->file != NULL) {
        /* What it could tell was asked of gzerror() at the end of the file. */
        (void)gzclose_r(reader->file);
    }
    free(reader->buffer);
    *reader = (struct trace_reader){0};
}

/* Opens by descriptor rather than by gzopen(), which tells neither a folder nor the reason of a failure. */
static bool open_file(struct trace_reader *reader, int *descriptor, struct sim_error *error)
{
    *descriptor = open(reader->path, O_RDONLY | O_CLOEXEC);
    if (*descriptor < 0) {
        return fail_system(reader, "cannot be opened", errno, error);
    }
    struct stat status;
    if (fstat(*descriptor, &status) != 0) {
        int number = errno;
        (void)close(*descriptor);
        return fail_system(reader, "cannot be examined", number, error);
    }
    if (S_ISDIR(status.st_mode)) {
        (void)close(*descriptor);
        return fail_system(reader, "cannot be read", EISDIR, error);
    }
    reader->all_bytes = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    return true;
}

/* Moves the line under way to the buffer's front and reads more behind it. */
static bool fill(struct trace_reader *reader, struct sim_error *error)
{
    size_t kept = reader->end - reader->begin;
    memmove(reader->buffer, reader->buffer + reader->begin, kept);
    reader->begin = 0;
    reader->end = kept;
    errno = 0;
    int got = gzread(reader->file, reader->buffer + kept, (unsigned)(TRACE_BUFFER_BYTES - kept));
    if (got > 0) {
        reader->end += (size_t)got;
        return true;
    }
    int status;
    (void)gzerror(reader->file, &status);
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END)) {
        return fail_zlib(reader, error);
    }
    reader->at_end = true;
    return true;
}

static bool fail_zlib(const struct trace_reader *reader, struct sim_error *error)
{
    int number = errno;
    int status;
    (void)gzerror(reader->file, &status);
    switch (status) {
    case Z_MEM_ERROR:
        return sim_fail_memory(error);
    case Z_ERRNO:
        return fail_system(reader, "cannot be read", number, error);
    case Z_BUF_ERROR:
        return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": gzip file is cut off; copy or make it again",
                        reader->path, reader->line);
    default:
        return sim_fail(error, SIM_ERROR_INPUT, "%s:%" PRIu64 ": gzip file is damaged; copy or make it again",
                        reader->path, reader->line);
    }
}

/* What a user can mend by naming another file is bad input; the rest is the machine's. */
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
    char reason[128];
    if (strerror_r(number, reason, sizeof reason) != 0) {
        reason[0] = '\0';
    }
    return sim_fail(error, class, "%s:%" PRIu64 ": %s %s (%s); %s", reader->path, reader->line, reader->what,
                    what, reason, cure);
}
