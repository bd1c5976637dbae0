/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes that are put one behind the other, and then read at any place: the first of them in memory, the rest
 * in a temporary file. The file has no name from the moment it is made, so nothing is left of it however the
 * program ends. Where none can be made, all bytes stay in memory. */
#ifndef WORKLOAD_TRACE_SPILL_H
#define WORKLOAD_TRACE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

struct trace_spill {
    const char *path;   /* of the trace, in messages */
    size_t memory_most; /* bytes in memory; may be raised at any time, and is of use until the file is made */
    char *memory;
    size_t kept, capacity;
    int file; /* -1: none yet */
    uint64_t size;
};

/* Some bytes of it, which are read one behind the other through a window of their own. */
struct trace_stretch {
    uint64_t at, end; /* what is still to be read into the window */
    char *window;     /* the owner's, of a size that it knows */
    size_t begin, filled;
};

void trace_spill_init(struct trace_spill *spill, const char *path, size_t memory_most);
bool trace_spill_put(struct trace_spill *spill, const char *bytes, size_t size, struct sim_error *error);
/* So that the window has at least `wanted` bytes from `begin` on, or all that are left. */
bool trace_spill_fill(const struct trace_spill *spill, struct trace_stretch *stretch, size_t window_bytes,
                      size_t wanted, struct sim_error *error);
void trace_spill_clear(struct trace_spill *spill);

#endif
