/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers the keys of a trace. */
#include "trace_keys.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

uint32_t trace_keys_hash(const char *key, size_t size)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = size * factor;
    for (; size >= 8; size -= 8, key += 8) {
        uint64_t word;
        memcpy(&word, key, 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < size; i++) {
        tail = tail << 8 | (unsigned char)key[i];
    }
    hash = (hash ^ tail) * factor;
    hash ^= hash >> 32;
    hash *= factor;
    return (uint32_t)(hash >> 32);
}

/* The key's slot, or the free slot into which the key would be inserted. */
static struct trace_key_slot *find_slot(const struct trace_keys *keys, const char *key, size_t size,
                                        uint32_t hash)
{
    for (uint64_t at = hash;; at++) {
        struct trace_key_slot *slot = &keys->slots[at & keys->slot_mask];
        if (slot->number == 0) {
            return slot;
        }
        if (slot->hash == hash) {
            size_t other_size;
            const char *other = trace_keys_bytes(keys, slot->number - 1, &other_size);
            if (other_size == size && memcmp(other, key, size) == 0) {
                return slot;
            }
        }
    }
}

void trace_keys_fetch(const struct trace_keys *keys, const uint32_t *hashes, size_t count)
{
    if (keys->slots == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        __builtin_prefetch(&keys->slots[hashes[i] & keys->slot_mask]);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t number = keys->slots[hashes[i] & keys->slot_mask].number;
        __builtin_prefetch(&keys->ends[number > 1 ? number - 2 : 0]);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t number = keys->slots[hashes[i] & keys->slot_mask].number;
        __builtin_prefetch(keys->arena + (number > 1 ? keys->ends[number - 2] : 0));
    }
}

static bool grow_slots(struct trace_keys *keys)
{
    uint64_t before = keys->slots != NULL ? keys->slot_mask + 1 : 0;
    uint64_t count = before > 0 ? before * 2 : 128;
    struct trace_key_slot *slots = calloc(count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < before; i++) {
        uint64_t at = keys->slots[i].hash;
        while (keys->slots[i].number != 0 && slots[at & (count - 1)].number != 0) {
            at++;
        }
        if (keys->slots[i].number != 0) {
            slots[at & (count - 1)] = keys->slots[i];
        }
    }
    free(keys->slots);
    keys->slots = slots;
    keys->slot_mask = count - 1;
    return true;
}

/* Makes room for one more key, so that inserting it cannot fail. */
static bool reserve(struct trace_keys *keys, size_t size)
{
    if (keys->count == UINT32_MAX - 1 ||
        !sim_grow(&keys->ends, &keys->capacity, (size_t)keys->count + 1, sizeof *keys->ends) ||
        !sim_grow(&keys->arena, &keys->arena_capacity, keys->arena_bytes + size + 1, 1)) {
        return false; /* an empty key needs an arena too */
    }
    return (keys->slots != NULL && keys->count < (keys->slot_mask + 1) / 4 * 3) || grow_slots(keys);
}

bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t hash, uint32_t *index)
{
    *index = 0;
    if (keys->slots != NULL) {
        uint32_t number = find_slot(keys, key, size, hash)->number;
        if (number != 0) {
            *index = number - 1;
            return true;
        }
    }
    if (!reserve(keys, size)) {
        return false;
    }
    memcpy(keys->arena + keys->arena_bytes, key, size);
    keys->arena_bytes += size;
    keys->ends[keys->count] = keys->arena_bytes;
    *index = keys->count++;
    *find_slot(keys, key, size, hash) = (struct trace_key_slot){.hash = hash, .number = keys->count};
    return true;
}

const char *trace_keys_bytes(const struct trace_keys *keys, uint32_t index, size_t *size)
{
    uint64_t begin = index > 0 ? keys->ends[index - 1] : 0;
    *size = (size_t)(keys->ends[index] - begin);
    return keys->arena + begin;
}

void trace_keys_free(struct trace_keys *keys)
{
    free(keys->ends);
    free(keys->arena);
    free(keys->slots);
    *keys = (struct trace_keys){0};
}
