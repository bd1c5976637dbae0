/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys by number, in order of first appearance: an open-addressing table of numbers over one arena of the
 * keys' bytes. The hash serves speed alone and reaches no result. In addition to its bytes a key takes 16
 * bytes and its share of the table, each at most doubled by growth: at most 64 bytes. */
#ifndef WORKLOAD_TRACE_KEYS_H
#define WORKLOAD_TRACE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/archive.h"

struct trace_key {
    uint64_t hash;
    uint64_t end; /* of its bytes in the arena; they begin where those of the key before end */
};

struct trace_keys {
    uint32_t count;
    uint32_t capacity;
    struct trace_key *keys;
    char *arena;
    size_t arena_bytes, arena_capacity;
    uint32_t *slots; /* number + 1, or 0 when free; as many as a power of two */
    uint64_t slot_mask;
};

/* Gives the key's number, a new one at its first appearance. False when memory or numbers are out; then
 * nothing changed. All zeros is an empty table. */
bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t *index);
const char *trace_keys_bytes(const struct trace_keys *keys, uint32_t index, size_t *size);
/* Both ways; loading takes an empty table. */
void trace_keys_archive(struct trace_keys *keys, struct sim_archive *archive);
void trace_keys_free(struct trace_keys *keys);

#endif
