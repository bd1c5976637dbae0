/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An append-only sequence of bytes that is then read at any offset: the first bytes are in memory, the rest
 * in a temporary file. The file is unlinked as soon as it is created, so nothing is left of it however the
 * program ends. If no file can be created, all bytes stay in memory. */
#ifndef WORKLOAD_TRACE_SPILL_H
#define WORKLOAD_TRACE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

struct trace_spill {
    const char *path;   /* path of the trace, for messages */
    size_t memory_most; /* the most bytes in memory; may be raised at any time, but has no effect once the
                           file was created */
    char *memory;
    size_t kept, capacity;
    int file; /* -1: not created yet */
    uint64_t size;
};

/* A range of those bytes, which is read in sequence through a window. */
struct trace_stretch {
    uint64_t at, end; /* the part that was not read into the window yet */
    char *window;     /* owned by the caller, who passes its size */
    size_t begin, filled;
};

void trace_spill_init(struct trace_spill *spill, const char *path, size_t memory_most);
bool trace_spill_put(struct trace_spill *spill, const char *bytes, size_t size, struct sim_error *error);
/* Reads until the window has at least `wanted` bytes from `begin` on, or all bytes that are left. */
bool trace_spill_fill(const struct trace_spill *spill, struct trace_stretch *stretch, size_t window_bytes,
                      size_t wanted, struct sim_error *error);
void trace_spill_clear(struct trace_spill *spill);

#endif
