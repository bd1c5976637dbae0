/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files for the tests of traces, each in a fresh folder that is removed with it. */
#ifndef TESTS_WORKLOAD_TRACE_FILE_H
#define TESTS_WORKLOAD_TRACE_FILE_H

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

struct trace_file {
    char folder[32];
    char path[64];
};

static inline struct trace_file trace_file_name(const char *name)
{
    struct trace_file file = {.folder = "/tmp/bucketlab-trace-XXXXXX"};
    const char *made = mkdtemp(file.folder);
    assert(made != NULL);
    (void)made;
    (void)snprintf(file.path, sizeof file.path, "%s/%s", file.folder, name);
    return file;
}

static inline struct trace_file trace_file_plain(const char *bytes, size_t size)
{
    struct trace_file file = trace_file_name("t.csv");
    FILE *stream = fopen(file.path, "wb");
    assert(stream != NULL);
    size_t written = fwrite(bytes, 1, size, stream);
    int closed = fclose(stream);
    assert(written == size && closed == 0);
    (void)written;
    (void)closed;
    return file;
}

/* Removes the compressed file's last `cut` bytes, and adds `damage` to the fifth byte from the new end, which
 * is within the checksum when `cut` is 0. */
static inline struct trace_file trace_file_gzip(const char *bytes, size_t size, size_t cut,
                                                unsigned char damage)
{
    struct trace_file file = trace_file_name("t.csv.gz");
    gzFile zipped = gzopen(file.path, "wb");
    assert(zipped != NULL);
    int written = gzwrite(zipped, bytes, (unsigned)size);
    int closed = gzclose(zipped);
    FILE *stream = fopen(file.path, "r+b");
    assert(written == (int)size && closed == Z_OK && stream != NULL);
    (void)written;
    (void)closed;
    (void)fseek(stream, 0, SEEK_END);
    long end = ftell(stream) - (long)cut;
    if (damage != 0) {
        (void)fseek(stream, end - 5, SEEK_SET);
        int byte = fgetc(stream);
        (void)fseek(stream, end - 5, SEEK_SET);
        (void)fputc((byte + damage) & 0xFF, stream);
    }
    (void)fclose(stream);
    int cut_off = truncate(file.path, end);
    assert(cut_off == 0);
    (void)cut_off;
    return file;
}

static inline void trace_file_remove(struct trace_file *file)
{
    (void)remove(file->path);
    (void)rmdir(file->folder);
}

#endif
