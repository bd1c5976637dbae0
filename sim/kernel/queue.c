/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue of pending events: a 4-ary heap, a sorted array instead of it while there are few events, and a
 * calendar queue and rings of equal delays for events in the distant future. */
#include "kernel/queue.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/memory.h"

/* Grows either all arrays or none. Returns false when out of memory. */
static bool grow(struct sim_queue *queue, uint32_t capacity)
{
    /* The number is rounded up to whole groups of four, because the last group is read as a whole. */
    size_t items = (SIM_QUEUE_ROOT + (size_t)capacity + 3) / 4 * 4;
    struct sim_queue_item *heap = sim_memory_take(items * sizeof *heap);
    struct sim_queue_slot *slots = sim_memory_take(((size_t)capacity + 1) * sizeof *slots);
    if (heap == NULL || slots == NULL ||
        (queue->calendar.places != NULL && !sim_queue_calendar_grow(queue, capacity))) {
        free(heap);
        free(slots);
        return false;
    }
    /* "Never" differs within a group, so that an unfinished group does not look like a tie. */
    for (size_t i = queue->end; i < items; i++)
        heap[i] = (struct sim_queue_item){INT64_MAX - (int64_t)(i & 3), UINT64_MAX};
    for (size_t i = 0; i < SIM_QUEUE_ROOT; i++)
        heap[i] = (struct sim_queue_item){INT64_MIN, 0};
    slots[0].stamp = UINT64_MAX; /* no handle */
    if (queue->heap != NULL) {
        memcpy(heap + SIM_QUEUE_ROOT, queue->heap + SIM_QUEUE_ROOT,
               (queue->end - SIM_QUEUE_ROOT) * sizeof *heap);
        memcpy(slots + 1, queue->slots + 1, queue->slots_used * sizeof *slots);
    }
    free(queue->heap);
    free(queue->slots);
    queue->heap = heap;
    queue->slots = slots;
    queue->capacity = capacity;
    return true;
}

bool sim_queue_create(uint32_t capacity, int64_t start_ns, struct sim_queue *queue)
{
    assert(start_ns > INT64_MIN && start_ns <= SIM_QUEUE_TIME_MAX);
    *queue = (struct sim_queue){
        .end = SIM_QUEUE_ROOT,
        .now_ns = start_ns,
        .later_ns = SIM_QUEUE_NEVER,
        .waiting_ns = SIM_QUEUE_NEVER,
        .listed_ns = SIM_QUEUE_NEVER,
        .sources = {.first_ns = SIM_QUEUE_NEVER},
    };
    queue->few[0] = (struct sim_queue_item){SIM_QUEUE_NEVER, UINT64_MAX};
    if (capacity < SIM_QUEUE_FEW)
        capacity = SIM_QUEUE_FEW;
    if (grow(queue, capacity < SIM_QUEUE_MAX ? capacity : SIM_QUEUE_MAX))
        return true;
    *queue = (struct sim_queue){0};
    return false;
}

void sim_queue_destroy(struct sim_queue *queue)
{
    if (queue == NULL)
        return;
    free(queue->heap);
    free(queue->slots);
    free(queue->calendar.places);
    free(queue->calendar.overflow);
    free(queue->calendar.buckets);
    for (uint32_t i = 0; i < SIM_QUEUE_LISTS; i++) {
        if (queue->lists[i].room > SIM_QUEUE_ROOM)
            free(queue->lists[i].waits);
    }
    free(queue->rings);
    free(queue->sources.times_ns);
    free(queue->sources.ties);
    free(queue->sources.losers);
    *queue = (struct sim_queue){0};
}

void sim_queue_shuffle_ties(struct sim_queue *queue, uint64_t seed)
{
    assert(queue->sequence == 0);
    queue->is_shuffled = true;
    queue->next_tie = SIM_QUEUE_TIE_END;
    queue->shuffle = sim_mix64(seed + UINT64_C(0x9e3779b97f4a7c15));
}

/* Moves the item at i down to where it belongs. */
static void sink(struct sim_queue_item *heap, size_t end, size_t i)
{
    struct sim_queue_item item = heap[i];
    for (size_t children; (children = 4 * i - 8) < end;) {
        size_t least = sim_queue_least(heap, children);
        if (!sim_queue_before(&heap[least], &item))
            break;
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = item;
}

/* There are too many items for the array. A sorted array is a heap. */
void sim_queue_spill(struct sim_queue *queue)
{
    while (queue->few_count > 0)
        queue->heap[queue->end++] = queue->few[queue->few_count--];
}

/* Puts an item into the heap, also when the sorted array is full. */
void sim_queue_place_in_heap(struct sim_queue *queue, struct sim_queue_item item)
{
    if (sim_queue_has_few(queue))
        sim_queue_spill(queue);
    if (queue->has_hole) {
        queue->has_hole = false;
        sim_queue_fill(queue, item);
    } else {
        sim_queue_rise(queue->heap, queue->end++, item);
    }
}

/* The heap has only a few items left. Those that are pending become a sorted array. */
void sim_queue_unspill(struct sim_queue *queue)
{
    struct sim_queue_item items[SIM_QUEUE_FEW];
    uint32_t count = 0;
    for (sim_queue_settle(queue); !sim_queue_has_few(queue); sim_queue_settle(queue)) {
        struct sim_queue_item item = queue->heap[SIM_QUEUE_ROOT];
        uint32_t slot = (uint32_t)(item.tag & SIM_QUEUE_SLOT_MASK);
        queue->has_hole = true;
        if (queue->slots[slot].stamp != 0)
            items[count++] = item;
        else
            sim_queue_free_slot(queue, slot);
    }
    queue->stale = 0;
    while (count > 0)
        queue->few[++queue->few_count] = items[--count];
}

bool sim_queue_pop_any(struct sim_queue *queue, int64_t *out_time_ns, struct sim_event *out_event)
{
    if (!sim_queue_ready(queue))
        return false;
    if (queue->sources.first_ns <= sim_queue_first(queue)->time_ns &&
        queue->sources.first_ns < SIM_QUEUE_NEVER &&
        sim_queue_is_source_before(&queue->sources, sim_queue_source_of(queue->sources.losers[0]),
                                   sim_queue_first(queue))) {
        sim_queue_leave_source(queue, out_time_ns, out_event);
        return true;
    }
    sim_queue_leave(queue, sim_queue_first(queue), out_time_ns, out_event);
    if (sim_queue_has_few(queue)) {
        queue->few_count--;
        return true;
    }
    /* The hole is filled by the next push, which saves that push its own path through the heap. */
    queue->has_hole = true;
    if (queue->end <= SIM_QUEUE_ROOT + SIM_QUEUE_FEW / 4)
        sim_queue_unspill(queue);
    return true;
}

/* Drops the cancelled items and makes a heap of the remaining ones. */
void sim_queue_purge(struct sim_queue *queue)
{
    sim_queue_settle(queue);
    sim_queue_spill(queue);
    size_t kept = SIM_QUEUE_ROOT;
    for (size_t i = SIM_QUEUE_ROOT; i < queue->end; i++) {
        struct sim_queue_item item = queue->heap[i];
        uint32_t slot = (uint32_t)(item.tag & SIM_QUEUE_SLOT_MASK);
        if (queue->slots[slot].stamp != 0) {
            queue->heap[kept++] = item;
        } else {
            sim_queue_free_slot(queue, slot);
        }
    }
    for (size_t i = kept; i < queue->end; i++)
        queue->heap[i] = (struct sim_queue_item){INT64_MAX - (int64_t)(i & 3), UINT64_MAX};
    queue->end = kept;
    queue->stale = 0;
    for (size_t i = (kept - 1) / 4 + 2; i >= SIM_QUEUE_ROOT && kept > SIM_QUEUE_ROOT; i--)
        sink(queue->heap, kept, i);
}

/* Adds a slot to the empty list of free ones: an unused one, if necessary from a larger pool, or those of
 * cancelled events. Returns false if there is none. */
bool sim_queue_make_room(struct sim_queue *queue)
{
    if (queue->slots_used == queue->capacity) {
        uint32_t most = SIM_QUEUE_MAX;
        uint32_t capacity = queue->capacity < most / 2 ? queue->capacity * 2 : most;
        bool is_larger = capacity > queue->capacity && grow(queue, capacity);
        if (!is_larger) {
            bool has_stale = queue->stale > 0;
            if (has_stale)
                sim_queue_purge(queue);
            return has_stale;
        }
    }
    sim_queue_free_slot(queue, ++queue->slots_used);
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct sim_queue_item *a = left, *b = right;
    return (int)sim_queue_before(b, a) - (int)sim_queue_before(a, b);
}

/* Called when 2^40 pushes have used up the tie numbers: the pending events are renumbered 0, 1, 2, ... in the
 * order in which they will be taken. Returns false when out of memory. */
static bool renumber(struct sim_queue *queue)
{
    if (!sim_queue_gather(queue))
        return false;
    sim_queue_purge(queue);
    size_t count = queue->end - SIM_QUEUE_ROOT;
    /* A sorted array is a heap. */
    qsort(queue->heap + SIM_QUEUE_ROOT, count, sizeof *queue->heap, compare);
    queue->next_tie = 0;
    for (size_t i = SIM_QUEUE_ROOT; i < queue->end; i++) {
        queue->heap[i].tag = queue->next_tie | (queue->heap[i].tag & SIM_QUEUE_SLOT_MASK);
        queue->next_tie += SIM_QUEUE_TIE_ONE;
    }
    return true;
}

/* Removes cancelled items from the front until the first one is pending. */
void sim_queue_sweep_top(struct sim_queue *queue)
{
    while (queue->stale > 0) {
        uint32_t slot = (uint32_t)(sim_queue_first(queue)->tag & SIM_QUEUE_SLOT_MASK);
        if (queue->slots[slot].stamp != 0)
            return;
        sim_queue_free_slot(queue, slot);
        queue->stale--;
        queue->has_hole = true;
        sim_queue_settle(queue);
    }
}

static _Noreturn void refuse_time(const struct sim_queue *queue, int64_t time_ns)
{
    fprintf(stderr,
            "queue: push %" PRIu64 " at %" PRId64 " ns is before the current time, %" PRId64
            " ns, or after the last\n",
            queue->sequence, time_ns, queue->now_ns);
    abort();
}

uint64_t sim_queue_shuffled_tie(const struct sim_queue *queue, uint64_t sequence)
{
    return sim_mix64(queue->shuffle + sequence * UINT64_C(0x9e3779b97f4a7c15)) & SIM_QUEUE_TIE_END;
}

/* Makes a push usual, except that ties may be shuffled. Returns false when out of memory. */
bool sim_queue_prepare(struct sim_queue *queue, int64_t time_ns)
{
    if (time_ns < queue->now_ns || time_ns > SIM_QUEUE_TIME_MAX)
        refuse_time(queue, time_ns);
    if (queue->next_tie >= SIM_QUEUE_TIE_END && !queue->is_shuffled && !renumber(queue))
        return false;
    return queue->free_slot != 0 || sim_queue_make_room(queue);
}

uint64_t sim_queue_enter_rare(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event,
                              uint64_t *out_tie)
{
    if (!sim_queue_prepare(queue, time_ns))
        return 0;
    uint64_t handle = sim_queue_enter_usual(queue, event, out_tie);
    if (queue->is_shuffled) {
        *out_tie = sim_queue_shuffled_tie(queue, queue->sequence - 1);
        queue->next_tie = SIM_QUEUE_TIE_END;
    }
    return handle;
}

uint64_t sim_queue_push_rare(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    uint64_t tie, handle = sim_queue_enter_rare(queue, time_ns, event, &tie);
    if (handle == 0)
        return 0;
    sim_queue_place_item(queue, (struct sim_queue_item){time_ns, tie | (handle & SIM_QUEUE_SLOT_MASK)},
                         !queue->is_shuffled);
    return handle;
}

/* Compares both pairs, and then the two winners, by (time, tag). */
size_t sim_queue_least_of_ties(const struct sim_queue_item *heap, size_t first)
{
    size_t left = first + sim_queue_before(&heap[first + 1], &heap[first]);
    size_t right = first + 2 + sim_queue_before(&heap[first + 3], &heap[first + 2]);
    return left + ((right - left) & -(size_t)sim_queue_before(&heap[right], &heap[left]));
}
