/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps bytes in memory, and the bytes beyond a limit in a temporary file. */
#define _POSIX_C_SOURCE 200809L
#include "trace_spill.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/grow.h"

void trace_spill_init(struct trace_spill *spill, const char *path, size_t memory_most)
{
    *spill = (struct trace_spill){.path = path, .memory_most = memory_most, .file = -1};
}

/* /var/tmp is on disk, whereas /tmp may be in memory. */
static bool make_file(struct trace_spill *spill)
{
    static const char *const names[] = {"/var/tmp/bucketlab-sort-XXXXXX", "/tmp/bucketlab-sort-XXXXXX"};
    for (size_t i = 0; i < 2 && spill->file == -1; i++) {
        char name[40];
        memcpy(name, names[i], strlen(names[i]) + 1);
        spill->file = mkstemp(name);
        if (spill->file != -1)
            unlink(name);
    }
    return spill->file != -1;
}

static bool fail_file(const struct trace_spill *spill, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: cannot be sorted in a temporary file in /var/tmp or /tmp (%s); free space there",
                    spill->path, errno == 0 ? "it is cut off" : strerror(errno));
}

static bool write_bytes(struct trace_spill *spill, const char *bytes, size_t size, struct sim_error *error)
{
    while (size > 0) {
        ssize_t done = write(spill->file, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_file(spill, error);
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

bool trace_spill_put(struct trace_spill *spill, const char *bytes, size_t size, struct sim_error *error)
{
    bool is_small =
        spill->file == -1 && size <= spill->memory_most && spill->kept <= spill->memory_most - size;
    if (is_small || (spill->file == -1 && !make_file(spill))) {
        if (!sim_grow(&spill->memory, &spill->capacity, spill->kept + size, 1))
            return sim_fail_memory(error);
        memcpy(spill->memory + spill->kept, bytes, size);
        spill->kept += size;
    } else if (!write_bytes(spill, bytes, size, error)) {
        return false;
    }
    spill->size += size;
    return true;
}

/* Copies the bytes that are contiguous, in memory or in the file, up to `size`. Returns their number; 0 on
 * failure. */
static size_t get(const struct trace_spill *spill, uint64_t at, char *out, size_t size)
{
    if (at < spill->kept) {
        size_t left = spill->kept - (size_t)at;
        size = size < left ? size : left;
        memcpy(out, spill->memory + at, size);
        return size;
    }
    ssize_t got;
    do {
        errno = 0;
        got = pread(spill->file, out, size, (off_t)(at - spill->kept));
    } while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : (size_t)got;
}

bool trace_spill_fill(const struct trace_spill *spill, struct trace_stretch *stretch, size_t window_bytes,
                      size_t wanted, struct sim_error *error)
{
    size_t kept = stretch->filled - stretch->begin;
    if (kept >= wanted || stretch->at == stretch->end)
        return true;
    memmove(stretch->window, stretch->window + stretch->begin, kept);
    stretch->begin = 0;
    stretch->filled = kept;
    while (stretch->filled < window_bytes && stretch->at < stretch->end) {
        uint64_t left = stretch->end - stretch->at;
        size_t room = window_bytes - stretch->filled;
        size_t got =
            get(spill, stretch->at, stretch->window + stretch->filled, left < room ? (size_t)left : room);
        if (got == 0)
            return fail_file(spill, error);
        stretch->filled += got;
        stretch->at += got;
    }
    return true;
}

void trace_spill_clear(struct trace_spill *spill)
{
    if (spill->file != -1)
        close(spill->file);
    free(spill->memory);
    trace_spill_init(spill, NULL, 0);
}
