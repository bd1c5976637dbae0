/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "kernel/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/random.h"

#define SLOT_BITS     24
#define SEQUENCE_BITS 40
#define SEQUENCE_MASK ((UINT64_C(1) << SEQUENCE_BITS) - 1)
#define SLOT_MASK     ((UINT64_C(1) << SLOT_BITS) - 1)
#define NO_SLOT       UINT32_MAX
#define CAPACITY_MIN  64u
/* With the root at 3, the children of i are the four from 4 (i - 2) on: a cache line, when the array begins
 * on one. */
#define ROOT 3u

__extension__ typedef unsigned __int128 wide;

struct item {
    uint64_t key;  /* sequence, slot */
    uint64_t time; /* with the sign bit turned, so that it compares as unsigned */
};

enum slot_state { SLOT_FREE, SLOT_PENDING, SLOT_CANCELLED };

struct slot {
    struct sim_event event;
    uint32_t generation;
    uint32_t state_or_next; /* free: the next free slot; else its state */
};

struct sim_queue {
    struct item *items; /* from ROOT on */
    size_t end;         /* one behind the last item */
    size_t capacity;    /* of items and of slots */
    struct slot *slots;
    uint32_t slots_used; /* those from here on were never taken */
    uint32_t free_slot;
    size_t cancelled;
    uint64_t sequence;
    uint64_t pushed;
    int64_t now_ns;
    bool shuffles;
    uint64_t shuffle_seed;
};

static bool grow(struct sim_queue *queue);
static void sift_up(struct sim_queue *queue, size_t hole, struct item item);
static struct item take_root(struct sim_queue *queue);
static void drop_cancelled_root(struct sim_queue *queue);
static void drop_all_cancelled(struct sim_queue *queue);
static void renumber(struct sim_queue *queue);
static void heapify(struct sim_queue *queue);
static void free_slot(struct sim_queue *queue, uint32_t slot);

static inline wide order(const struct item *item)
{
    return (wide)item->time << 64 | item->key;
}

static inline uint32_t slot_of(const struct item *item)
{
    return (uint32_t)(item->key & SLOT_MASK);
}

/* A bijection of 40 bits: no two events of equal time get the same place. */
static uint64_t shuffled(const struct sim_queue *queue, uint64_t sequence)
{
    uint64_t x = (sequence + queue->shuffle_seed) & SEQUENCE_MASK;
    x = (x * UINT64_C(0x9e3779b97f4a7c15)) & SEQUENCE_MASK;
    x ^= x >> 21;
    x = (x * UINT64_C(0xd1342543de82ef95)) & SEQUENCE_MASK;
    x ^= x >> 19;
    return (x * UINT64_C(0xbf58476d1ce4e5b9)) & SEQUENCE_MASK;
}

struct sim_queue *sim_queue_create(size_t capacity, int64_t start_ns)
{
    struct sim_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->now_ns = start_ns;
    queue->end = ROOT;
    queue->free_slot = NO_SLOT;
    queue->capacity = CAPACITY_MIN / 2;
    while (queue->capacity < capacity && queue->capacity < SIM_QUEUE_PENDING_MAX / 2)
        queue->capacity *= 2;
    if (!grow(queue)) {
        free(queue);
        return NULL;
    }
    return queue;
}

void sim_queue_destroy(struct sim_queue *queue)
{
    if (queue == NULL)
        return;
    free(queue->items);
    free(queue->slots);
    free(queue);
}

void sim_queue_shuffle_ties(struct sim_queue *queue, uint64_t seed)
{
    assert(queue->pushed == 0);
    queue->shuffles = true;
    queue->shuffle_seed = sim_mix64(seed);
}

sim_handle sim_queue_push(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    assert(time_ns >= queue->now_ns);
    uint32_t slot = queue->free_slot;
    if (slot != NO_SLOT) {
        queue->free_slot = queue->slots[slot].state_or_next;
    } else {
        if (queue->slots_used == queue->capacity && !grow(queue))
            return 0;
        slot = queue->slots_used++;
        queue->slots[slot].generation = 1;
    }
    if (queue->sequence > SEQUENCE_MASK)
        renumber(queue);
    struct slot *taken = &queue->slots[slot];
    taken->event = *event;
    taken->state_or_next = SLOT_PENDING;
    uint64_t sequence = queue->sequence++;
    if (queue->shuffles)
        sequence = shuffled(queue, sequence);
    struct item item = {sequence << SLOT_BITS | slot, (uint64_t)time_ns ^ (UINT64_C(1) << 63)};
    queue->pushed++;
    sift_up(queue, queue->end++, item);
    return (sim_handle)taken->generation << 32 | slot;
}

bool sim_queue_pop(struct sim_queue *queue, int64_t *time_ns, struct sim_event *out)
{
    drop_cancelled_root(queue);
    if (queue->end == ROOT)
        return false;
    __builtin_prefetch(&queue->slots[slot_of(&queue->items[ROOT])]);
    struct item root = take_root(queue);
    queue->now_ns = (int64_t)(root.time ^ (UINT64_C(1) << 63));
    *time_ns = queue->now_ns;
    *out = queue->slots[slot_of(&root)].event;
    free_slot(queue, slot_of(&root));
    return true;
}

bool sim_queue_peek(struct sim_queue *queue, int64_t *time_ns)
{
    drop_cancelled_root(queue);
    if (queue->end == ROOT)
        return false;
    *time_ns = (int64_t)(queue->items[ROOT].time ^ (UINT64_C(1) << 63));
    return true;
}

bool sim_queue_cancel(struct sim_queue *queue, sim_handle handle)
{
    uint32_t slot = (uint32_t)handle;
    if (slot >= queue->slots_used || queue->slots[slot].generation != (uint32_t)(handle >> 32))
        return false;
    /* The generation moves on at once, so a second cancel finds nothing; the slot waits for its item. */
    queue->slots[slot].generation++;
    queue->slots[slot].state_or_next = SLOT_CANCELLED;
    queue->cancelled++;
    if (queue->cancelled > CAPACITY_MIN && queue->cancelled * 2 > queue->end - ROOT)
        drop_all_cancelled(queue);
    return true;
}

size_t sim_queue_count(const struct sim_queue *queue)
{
    return queue->end - ROOT - queue->cancelled;
}

int64_t sim_queue_now(const struct sim_queue *queue)
{
    return queue->now_ns;
}

uint64_t sim_queue_pushed(const struct sim_queue *queue)
{
    return queue->pushed;
}

static bool grow(struct sim_queue *queue)
{
    size_t capacity = queue->capacity * 2;
    if (capacity > SIM_QUEUE_PENDING_MAX)
        return false;
    void *items = NULL;
    if (posix_memalign(&items, 64, (capacity + ROOT) * sizeof(struct item)) != 0)
        return false;
    struct slot *slots = realloc(queue->slots, capacity * sizeof *slots);
    if (slots == NULL) {
        free(items);
        return false;
    }
    if (queue->items != NULL)
        memcpy(items, queue->items, queue->end * sizeof *queue->items);
    free(queue->items);
    queue->items = items;
    queue->slots = slots;
    queue->capacity = capacity;
    return true;
}

static void sift_up(struct sim_queue *queue, size_t hole, struct item item)
{
    struct item *items = queue->items;
    wide place = order(&item);
    while (hole > ROOT) {
        size_t parent = hole / 4 + 2;
        if (order(&items[parent]) <= place)
            break;
        items[hole] = items[parent];
        hole = parent;
    }
    items[hole] = item;
}

/* Down to a leaf along the least children, then up with the last item, which belongs near the leaves. */
static struct item take_root(struct sim_queue *queue)
{
    struct item *items = queue->items;
    struct item root = items[ROOT];
    size_t end = --queue->end;
    struct item last = items[end];
    if (end == ROOT)
        return root;
    size_t hole = ROOT, child = 4 * (ROOT - 2);
    while (child + 3 < end) {
        __builtin_prefetch(&items[4 * (child - 2)]);
        wide order0 = order(&items[child]), order1 = order(&items[child + 1]);
        wide order2 = order(&items[child + 2]), order3 = order(&items[child + 3]);
        size_t low = child + (order1 < order0), high = child + 2 + (order3 < order2);
        wide order_low = order1 < order0 ? order1 : order0, order_high = order3 < order2 ? order3 : order2;
        size_t least = order_high < order_low ? high : low;
        items[hole] = items[least];
        hole = least;
        child = 4 * (hole - 2);
    }
    if (child < end) {
        size_t least = child;
        for (size_t i = child + 1; i < end; i++)
            least = order(&items[i]) < order(&items[least]) ? i : least;
        items[hole] = items[least];
        hole = least;
    }
    sift_up(queue, hole, last);
    return root;
}

static void drop_cancelled_root(struct sim_queue *queue)
{
    while (queue->cancelled > 0 && queue->end > ROOT) {
        uint32_t slot = slot_of(&queue->items[ROOT]);
        if (queue->slots[slot].state_or_next != SLOT_CANCELLED)
            return;
        take_root(queue);
        queue->cancelled--;
        free_slot(queue, slot);
    }
}

static void drop_all_cancelled(struct sim_queue *queue)
{
    size_t kept = ROOT;
    for (size_t i = ROOT; i < queue->end; i++) {
        uint32_t slot = slot_of(&queue->items[i]);
        if (queue->slots[slot].state_or_next == SLOT_CANCELLED)
            free_slot(queue, slot);
        else
            queue->items[kept++] = queue->items[i];
    }
    queue->end = kept;
    queue->cancelled = 0;
    heapify(queue);
}

static int compare_items(const void *left, const void *right)
{
    wide a = order(left), b = order(right);
    return (a > b) - (a < b);
}

/* After 2^40 pushes the pending events are numbered anew in their order; a sorted array is a heap. */
static void renumber(struct sim_queue *queue)
{
    assert(!queue->shuffles);
    qsort(queue->items + ROOT, queue->end - ROOT, sizeof *queue->items, compare_items);
    queue->sequence = 0;
    for (size_t i = ROOT; i < queue->end; i++)
        queue->items[i].key = queue->sequence++ << SLOT_BITS | slot_of(&queue->items[i]);
}

static void heapify(struct sim_queue *queue)
{
    size_t end = queue->end;
    for (size_t i = ROOT; i < end; i++) {
        queue->end = i + 1;
        sift_up(queue, i, queue->items[i]);
    }
    queue->end = end;
}

static void free_slot(struct sim_queue *queue, uint32_t slot)
{
    if (queue->slots[slot].state_or_next == SLOT_PENDING)
        queue->slots[slot].generation++;
    queue->slots[slot].state_or_next = queue->free_slot;
    queue->free_slot = slot;
}
