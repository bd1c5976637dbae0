/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys by number, in order of first appearance: an open-addressing table of numbers over one arena of the
 * keys' bytes. The hash serves speed alone and reaches no result. In addition to its bytes a key takes 8
 * bytes and its share of the table, each at most doubled by growth: at most 40 bytes. */
#ifndef WORKLOAD_TRACE_KEYS_H
#define WORKLOAD_TRACE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The hash stands in the table, so that hardly any other key's bytes are looked at. */
struct trace_key_slot {
    uint32_t hash;
    uint32_t number; /* the key's + 1; 0: free */
};

struct trace_keys {
    uint32_t count;
    size_t capacity;
    uint64_t *ends; /* of each key's bytes in the arena; they begin where those of the key before end */
    char *arena;
    size_t arena_bytes, arena_capacity;
    struct trace_key_slot *slots; /* as many as a power of two */
    uint64_t slot_mask;
};

uint32_t trace_keys_hash(const char *key, size_t size);
/* Gives the key's number, a new one at its first appearance. False when memory or numbers are out; then
 * nothing changed. All zeros is an empty table. */
bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t hash, uint32_t *index);
/* Fetches what interning keys of these hashes will look at, so that they wait for memory together. */
void trace_keys_fetch(const struct trace_keys *keys, const uint32_t *hashes, size_t count);
const char *trace_keys_bytes(const struct trace_keys *keys, uint32_t index, size_t *size);
void trace_keys_free(struct trace_keys *keys);

#endif
