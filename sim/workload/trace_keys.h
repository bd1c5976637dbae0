/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers keys in order of first appearance: an open-addressing hash table of numbers, and one arena with the
 * keys' bytes. The hash never affects a result. In addition to its bytes a key takes 8 bytes and its share of
 * the table, at most 40 bytes in all, since arrays grow by doubling. */
#ifndef WORKLOAD_TRACE_KEYS_H
#define WORKLOAD_TRACE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The hash is stored in the table, so that the bytes of other keys are hardly ever compared. */
struct trace_key_slot {
    uint32_t hash;
    uint32_t number; /* the key's number + 1; 0: the slot is free */
};

struct trace_keys {
    uint32_t count;
    size_t capacity;
    uint64_t
        *ends; /* the end of each key's bytes in the arena; they begin at the end of the previous key's */
    char *arena;
    size_t arena_bytes, arena_capacity;
    struct trace_key_slot *slots; /* their number is a power of two */
    uint64_t slot_mask;
};

uint32_t trace_keys_hash(const char *key, size_t size);
/* Sets *index to the key's number, which is a new one at the key's first appearance. Returns false, and
 * changes nothing, when out of memory or of numbers. A struct of all zeros is an empty table. */
bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t hash, uint32_t *index);
/* Prefetches the memory that interning keys with these hashes will access, so that the cache misses
 * overlap. */
void trace_keys_fetch(const struct trace_keys *keys, const uint32_t *hashes, size_t count);
const char *trace_keys_bytes(const struct trace_keys *keys, uint32_t index, size_t *size);
void trace_keys_free(struct trace_keys *keys);

#endif
