/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers the keys of a trace. */
#include "trace_keys.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(const char *bytes, size_t size)
{
    const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = size * factor;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    for (size_t i = 0; i < size; i++) {
        tail = tail << 8 | (unsigned char)bytes[i];
    }
    hash = (hash ^ tail) * factor;
    hash ^= hash >> 32;
    hash *= factor;
    return hash ^ (hash >> 32);
}

/* The slot of the key, or the free one where it belongs. */
static uint32_t *find_slot(const struct trace_keys *keys, const char *key, size_t size, uint64_t hash)
{
    for (uint64_t at = hash;; at++) {
        uint32_t *slot = &keys->slots[at & keys->slot_mask];
        if (*slot == 0) {
            return slot;
        }
        if (keys->keys[*slot - 1].hash == hash) {
            size_t other_size;
            const char *other = trace_keys_bytes(keys, *slot - 1, &other_size);
            if (other_size == size && memcmp(other, key, size) == 0) {
                return slot;
            }
        }
    }
}

static bool grow_slots(struct trace_keys *keys)
{
    uint64_t count = keys->slots != NULL ? (keys->slot_mask + 1) * 2 : 128;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    free(keys->slots);
    keys->slots = slots;
    keys->slot_mask = count - 1;
    for (uint32_t i = 0; i < keys->count; i++) {
        uint64_t at = keys->keys[i].hash & keys->slot_mask;
        while (slots[at] != 0) {
            at = (at + 1) & keys->slot_mask;
        }
        slots[at] = i + 1;
    }
    return true;
}

/* Room for one key more, so that what follows cannot fail. */
static bool reserve(struct trace_keys *keys, size_t size)
{
    if (keys->count == UINT32_MAX - 1) {
        return false;
    }
    if (keys->count == keys->capacity) {
        uint32_t capacity = keys->capacity < 64               ? 64
                            : keys->capacity > UINT32_MAX / 2 ? UINT32_MAX
                                                              : keys->capacity * 2;
        struct trace_key *grown = realloc(keys->keys, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        keys->keys = grown;
        keys->capacity = capacity;
    }
    if (keys->arena == NULL ||
        keys->arena_capacity - keys->arena_bytes < size) { /* an empty key needs one too */
        size_t capacity = keys->arena_capacity * 2 + size + 1024;
        char *grown = realloc(keys->arena, capacity);
        if (grown == NULL) {
            return false;
        }
        keys->arena = grown;
        keys->arena_capacity = capacity;
    }
    return keys->slots != NULL && keys->count < (keys->slot_mask + 1) / 4 * 3 ? true : grow_slots(keys);
}

bool trace_keys_intern(struct trace_keys *keys, const char *key, size_t size, uint32_t *index)
{
    *index = 0;
    uint64_t hash = hash_bytes(key, size);
    if (keys->slots != NULL) {
        uint32_t slot = *find_slot(keys, key, size, hash);
        if (slot != 0) {
            *index = slot - 1;
            return true;
        }
    }
    if (!reserve(keys, size)) {
        return false;
    }
    memcpy(keys->arena + keys->arena_bytes, key, size);
    keys->arena_bytes += size;
    keys->keys[keys->count] = (struct trace_key){.hash = hash, .end = keys->arena_bytes};
    *index = keys->count++;
    *find_slot(keys, key, size, hash) = keys->count;
    return true;
}

const char *trace_keys_bytes(const struct trace_keys *keys, uint32_t index, size_t *size)
{
    uint64_t begin = index > 0 ? keys->keys[index - 1].end : 0;
    *size = (size_t)(keys->keys[index].end - begin);
    return keys->arena + begin;
}

/* The keys' sizes and bytes; the rest follows from them. */
void trace_keys_archive(struct trace_keys *keys, struct sim_archive *archive)
{
    size_t count = keys->count, bytes = keys->arena_bytes;
    sim_archive_size(archive, &count);
    char *arena = archive->is_loading ? NULL : keys->arena;
    arena = sim_archive_array(archive, arena, 1, &bytes, SIZE_MAX);
    if (archive->is_loading && sim_archive_is_fine(archive)) {
        sim_archive_check(archive, count < UINT32_MAX);
    }
    for (size_t i = 0, at = 0; sim_archive_is_fine(archive) && i < count; i++) {
        size_t size = 0;
        if (!archive->is_loading) {
            trace_keys_bytes(keys, (uint32_t)i, &size);
        }
        sim_archive_size_below(archive, &size, bytes - at + 1);
        if (archive->is_loading) {
            uint32_t index;
            if (!trace_keys_intern(keys, arena == NULL ? "" : arena + at, size, &index)) {
                sim_archive_fail_memory(archive);
            } else {
                sim_archive_check(archive, index == i);
            }
        }
        at += size;
    }
    if (archive->is_loading) {
        free(arena);
    }
}

void trace_keys_free(struct trace_keys *keys)
{
    free(keys->keys);
    free(keys->arena);
    free(keys->slots);
    *keys = (struct trace_keys){0};
}
