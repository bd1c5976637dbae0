/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads the queue of pending events. */
#include "kernel/queue_archive.h"

#include <stdlib.h>

/* The least number of bytes of an item, or of a free slot, in an archive. */
#define BYTES_EACH 4u

/* The order of ties is a property of the queue that is loaded into, so the archived one must be the same. */
static void clock_of(struct sim_queue *queue, struct sim_archive *archive)
{
    bool is_shuffled = queue->is_shuffled;
    uint64_t shuffle = queue->shuffle;
    sim_archive_bool(archive, &is_shuffled);
    sim_archive_u64(archive, &shuffle);
    sim_archive_check(archive, is_shuffled == queue->is_shuffled && shuffle == queue->shuffle);
    sim_archive_i64_within(archive, &queue->now_ns, INT64_MIN + 1, SIM_QUEUE_TIME_MAX + 1);
    sim_archive_u64(archive, &queue->sequence);
    sim_archive_u64(archive, &queue->next_tie);
    sim_archive_check(archive, (queue->next_tie & SIM_QUEUE_SLOT_MASK) == 0);
}

/* An empty queue with room for as many slots as the saved one has used. */
static bool make_room(struct sim_queue *queue, struct sim_archive *archive, uint32_t slots_used,
                      uint8_t **seen)
{
    struct sim_queue fresh;
    uint32_t capacity = slots_used > queue->capacity ? slots_used : queue->capacity;
    *seen = sim_archive_allocate(archive, (size_t)slots_used + 1, 1, BYTES_EACH);
    if (*seen == NULL)
        return false;
    if (!sim_queue_create(capacity, queue->now_ns, &fresh)) {
        sim_archive_fail_memory(archive);
        free(*seen);
        return false;
    }
    fresh.is_shuffled = queue->is_shuffled;
    fresh.shuffle = queue->shuffle;
    fresh.sequence = queue->sequence;
    fresh.next_tie = queue->is_shuffled ? SIM_QUEUE_TIE_END : queue->next_tie;
    fresh.slots_used = slots_used;
    fresh.soon = queue->soon;
    fresh.soon_context = queue->soon_context;
    fresh.sources = queue->sources;
    sim_queue_clear_sources(&fresh.sources);
    queue->sources = (struct sim_queue_sources){0};
    sim_queue_destroy(queue);
    *queue = fresh;
    return true;
}

static bool take(struct sim_archive *archive, const struct sim_queue *queue, uint64_t slot, uint8_t *seen)
{
    bool is_new = slot >= 1 && slot <= queue->slots_used && seen[slot] == 0;
    sim_archive_check(archive, is_new);
    if (is_new)
        seen[slot] = 1;
    return is_new && sim_archive_is_fine(archive);
}

/* Archives an item. The items must be a heap, and each must have its own slot. The slot of a cancelled item
 * has no stamp. */
static void item_of(struct sim_queue *queue, struct sim_archive *archive, size_t i, uint8_t *seen)
{
    struct sim_queue_item *item = &queue->heap[i], read = *item;
    sim_archive_i64_within(archive, &read.time_ns, queue->now_ns, SIM_QUEUE_TIME_MAX + 1);
    sim_archive_u64(archive, &read.tag);
    uint64_t number = read.tag & SIM_QUEUE_SLOT_MASK;
    if (archive->is_loading && !take(archive, queue, number, seen))
        return;
    struct sim_queue_slot *slot = &queue->slots[number];
    if (archive->is_loading) {
        *item = read;
        queue->end = i + 1;
        slot->stamp = 0;
        sim_archive_check(archive, i == SIM_QUEUE_ROOT || !sim_queue_before(item, &queue->heap[i / 4 + 2]));
    }
    sim_archive_u64(archive, &slot->stamp);
    bool is_pending = slot->stamp != 0;
    if (archive->is_loading) {
        uint64_t sequence = slot->stamp >> SIM_QUEUE_SLOT_BITS;
        sim_archive_check(archive, !is_pending || (slot->stamp & SIM_QUEUE_SLOT_MASK) == number);
        sim_archive_check(archive, !is_pending || sequence < queue->sequence);
        queue->count += is_pending;
        queue->stale += !is_pending;
    }
    if (!is_pending)
        return;
    sim_archive_u32(archive, &slot->event.kind);
    sim_archive_u32(archive, &slot->event.target);
    sim_archive_u64(archive, &slot->event.a);
    sim_archive_u64(archive, &slot->event.b);
}

/* Archives the remaining slots, in the order in which they will be taken. */
static void free_slots_of(struct sim_queue *queue, struct sim_archive *archive, uint32_t count, uint8_t *seen)
{
    uint32_t number = queue->free_slot, before = 0;
    for (uint32_t i = 0; i < count; i++) {
        sim_archive_u32(archive, &number);
        if (archive->is_loading && !take(archive, queue, number, seen))
            return;
        if (archive->is_loading && before == 0)
            queue->free_slot = number;
        else if (archive->is_loading)
            queue->slots[before].event.a = number;
        before = number;
        if (archive->is_loading)
            queue->slots[number] = (struct sim_queue_slot){.stamp = 0};
        else
            number = (uint32_t)queue->slots[number].event.a;
    }
}

void sim_queue_archive(struct sim_queue *queue, struct sim_archive *archive)
{
    uint8_t *seen = NULL; /* when loading: the slots that were seen */
    sim_archive_mark(archive, 0x71756575);
    if (!archive->is_loading && !sim_queue_gather(queue)) {
        sim_archive_fail_memory(archive);
        return;
    }
    clock_of(queue, archive);
    uint32_t slots_used = queue->slots_used, items = (uint32_t)(queue->end - SIM_QUEUE_ROOT);
    sim_archive_u32_below(archive, &slots_used, (uint64_t)SIM_QUEUE_MAX + 1);
    sim_archive_u32_below(archive, &items, (uint64_t)slots_used + 1);
    if (archive->is_loading && !make_room(queue, archive, slots_used, &seen))
        return;
    for (size_t i = SIM_QUEUE_ROOT; i < SIM_QUEUE_ROOT + (size_t)items; i++) {
        item_of(queue, archive, i, seen);
        if (!sim_archive_is_fine(archive))
            break;
    }
    if (sim_archive_is_fine(archive))
        free_slots_of(queue, archive, slots_used - items, seen);
    free(seen);
}

bool sim_queue_next_pending(const struct sim_queue *queue, size_t *at, struct sim_pending *out)
{
    for (size_t i = SIM_QUEUE_ROOT + *at; i < queue->end; i++) {
        const struct sim_queue_slot *slot = &queue->slots[queue->heap[i].tag & SIM_QUEUE_SLOT_MASK];
        if (slot->stamp == 0)
            continue;
        *out = (struct sim_pending){queue->heap[i].time_ns, slot->stamp, slot->event};
        *at = i + 1 - SIM_QUEUE_ROOT;
        return true;
    }
    return false;
}
