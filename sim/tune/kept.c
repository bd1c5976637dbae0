/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of results and bytes; there are at most as many as settings and seeds. */
#include "tune/kept.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

struct item {
    uint64_t job;
    struct lab_result *result; /* NULL: bytes, or taken */
    void *bytes;
    size_t size;
};

struct tune_kept {
    atomic_flag lock; /* held for a few instructions per run */
    struct item *items;
    size_t count, capacity;
    const struct tune_memory *below;
    struct tune_memory memory;
};

struct tune_kept *tune_kept_create(void)
{
    struct tune_kept *kept = calloc(1, sizeof *kept);
    if (kept != NULL)
        atomic_flag_clear(&kept->lock);
    return kept;
}

static void free_item(struct item *item)
{
    lab_result_destroy(item->result);
    free(item->bytes);
}

void tune_kept_destroy(struct tune_kept *kept)
{
    for (size_t i = 0; kept != NULL && i < kept->count; i++)
        free_item(&kept->items[i]);
    if (kept == NULL)
        return;
    free(kept->items);
    free(kept);
}

static void lock(struct tune_kept *kept)
{
    while (atomic_flag_test_and_set(&kept->lock))
        ;
}

static void add(struct tune_kept *kept, struct item *item)
{
    lock(kept);
    bool is_fine = sim_grow(&kept->items, &kept->capacity, kept->count + 1, sizeof *kept->items);
    if (is_fine)
        kept->items[kept->count++] = *item;
    atomic_flag_clear(&kept->lock);
    if (!is_fine)
        free_item(item);
}

void tune_kept_result(struct tune_kept *kept, uint64_t job, struct lab_result *result)
{
    add(kept, &(struct item){.job = job, .result = result});
}

void tune_kept_bytes(struct tune_kept *kept, uint64_t job, const void *bytes, size_t size)
{
    struct item item = {.job = job, .bytes = malloc(size), .size = size};
    if (item.bytes == NULL)
        return;
    memcpy(item.bytes, bytes, size);
    add(kept, &item);
}

struct lab_result *tune_kept_take(struct tune_kept *kept, uint64_t job)
{
    struct lab_result *result = NULL;
    lock(kept);
    for (size_t i = 0; result == NULL && i < kept->count; i++) {
        if (kept->items[i].job != job)
            continue;
        result = kept->items[i].result;
        kept->items[i].result = NULL;
    }
    atomic_flag_clear(&kept->lock);
    return result;
}

static bool recall(void *context, uint64_t job, void *out, size_t size)
{
    struct tune_kept *kept = context;
    bool is_there = false;
    lock(kept);
    for (size_t i = 0; !is_there && i < kept->count; i++) {
        const struct item *item = &kept->items[i];
        is_there = item->job == job && item->bytes != NULL && item->size == size;
        if (is_there)
            memcpy(out, item->bytes, size);
    }
    atomic_flag_clear(&kept->lock);
    return is_there || (kept->below != NULL && kept->below->recall(kept->below->context, job, out, size));
}

static void keep(void *context, uint64_t job, const void *bytes, size_t size)
{
    struct tune_kept *kept = context;
    tune_kept_bytes(kept, job, bytes, size);
    if (kept->below != NULL)
        kept->below->keep(kept->below->context, job, bytes, size);
}

const struct tune_memory *tune_kept_memory(struct tune_kept *kept, const struct tune_memory *memory)
{
    if (memory != &kept->memory)
        kept->below = memory;
    kept->memory = (struct tune_memory){kept, recall, keep};
    return &kept->memory;
}
