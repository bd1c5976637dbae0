/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue of pending events, and the virtual clock. Events are dispatched in the order of (time, sequence),
 * where the sequence counts the pushes. An event that is pushed for the current time is dispatched after all
 * events that are already pending for it.
 *
 * It is a 4-ary heap of 16-byte items (time, tie and slot), with a pool of 32-byte slots for the events. A
 * few items are kept in a sorted array instead of the heap. docs/performance.md gives the benefit of each
 * choice. Events that are pushed for a distant time wait in a calendar queue, and move to the heap when their
 * time is near. The events of sources, of which each has one, wait in a tree of losers. All state is indexed
 * arrays and plain numbers. Push and pop take O(log n), cancel takes O(1) over many cancellations; while the
 * pending events fit the capacity, only the calendar that grows is allocated. Functions of the hot loop are
 * inline. Only the functions are the interface; the structs are visible for the compiler alone. */
#ifndef KERNEL_QUEUE_H
#define KERNEL_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/random.h"

/* One event. The host's own switch over `kind` says what happens. */
struct sim_event {
    uint32_t kind;
    uint32_t target;
    uint64_t a;
    uint64_t b;
};

/* The most events that can be pending at once. Cancelled events that were not swept yet give way when room is
 * needed. */
#define SIM_QUEUE_MAX ((UINT32_C(1) << 24) - 2)
/* The last time an event can have; the few nanoseconds above stand for "never". */
#define SIM_QUEUE_TIME_MAX (INT64_MAX - 4)
#define SIM_QUEUE_NEVER    (SIM_QUEUE_TIME_MAX + 1)

/* The most pushes. */
#define SIM_QUEUE_PUSHES_MAX (UINT64_C(1) << 40)

/* tag: 40 bits that break ties, then 24 of the slot; this is the event's handle unless ties are shuffled. */
struct sim_queue_item {
    int64_t time_ns;
    uint64_t tag;
};

/* stamp: the handle while the event is pending, otherwise 0. In a free slot, event.a is the next free slot.
 */
struct sim_queue_slot {
    struct sim_event event;
    uint64_t stamp;
};

/* Where a waiting event is in the calendar: its neighbours in a bucket, or its index in the overflow list. */
struct sim_queue_place {
    int64_t time_ns;
    uint32_t next;     /* 0 for the last event of a bucket; in the overflow list, the event's index */
    uint32_t previous; /* 0 when the slot does not wait; the slot itself for the first event of a bucket and
                          in the overflow list */
};

struct sim_queue_overflow {
    int64_t time_ns;
    uint32_t slot;
};

/* Events that were pushed for later. From begin_ns on there are bucket_count buckets of 2^bucket_shift ns,
 * each a list of events; the buckets before the current one are empty. Events after the last bucket are in
 * the overflow list, which is not sorted. */
struct sim_queue_calendar {
    struct sim_queue_place *places; /* one per slot; NULL until the first event is pushed for later */
    struct sim_queue_overflow *overflow;
    uint32_t *buckets; /* the first slot of each bucket; 0: the bucket is empty */
    uint32_t bucket_count, bucket_shift, current;
    uint32_t overflow_count, bucketed_count;
    int64_t begin_ns;
    int64_t overflow_least_ns; /* no event in the overflow list is earlier */
};

/* A tree of losers (Knuth, volume 3, 5.4.1) of the pending events of sources. Node 1 is the root, and the
 * leaf of source s is node leaf_count + s. In each node two sources have met, one from each side; losers[i]
 * is the one whose event is later, and losers[0] the winner of all. A source is given as the time of its
 * event since base_ns, above SIM_QUEUE_SOURCE_BITS of its number; its event has a tie, too. */
struct sim_queue_sources {
    int64_t *times_ns; /* by source; "never" if it has no event */
    uint64_t *ties;
    uint64_t *losers;
    uint32_t kind, count; /* count: 0 when there is no tree */
    uint32_t leaf_count;  /* a power of two */
    uint32_t open; /* 1 + the source whose event was popped last, if the tree still has that event; for a tree
                      that must be played again, SIM_QUEUE_REPLAY */
    int64_t base_ns;
    int64_t first_ns; /* the time of the first event; no event is earlier while a leaf is open */
};
#define SIM_QUEUE_REPLAY      UINT32_MAX
#define SIM_QUEUE_SOURCE_BITS 10
/* The most sources that have a tree. With more, the calendar queue has fewer cache misses. */
#define SIM_QUEUE_SOURCES_MAX (1u << SIM_QUEUE_SOURCE_BITS)
#define SIM_QUEUE_SINCE_MAX   (UINT64_MAX >> SIM_QUEUE_SOURCE_BITS)
/* The most items that are a sorted array. */
#define SIM_QUEUE_FEW 48u

/* Called for a waiting event that comes after `buckets` (2, 1 or 0) further buckets with events. */
typedef void sim_queue_soon(void *context, const struct sim_event *event, uint32_t buckets);

struct sim_queue {
    /* While the heap is empty: the items from few[1] on, in descending order, all of them pending. few[0] has
     * the time "never". */
    struct sim_queue_item few[SIM_QUEUE_FEW + 1];
    uint32_t few_count;
    struct sim_queue_item *heap;  /* the root is at SIM_QUEUE_ROOT; unused items have the time "never" */
    struct sim_queue_slot *slots; /* numbered from 1, so that no handle is 0 */
    size_t end;                   /* index after the last item */
    bool has_hole;                /* the root was popped, and its place is not filled yet */
    bool is_shuffled;
    uint32_t free_slot; /* 0: no slot is free */
    uint32_t slots_used;
    uint32_t capacity;
    uint32_t count; /* pending events, without cancelled ones */
    uint32_t stale; /* cancelled events whose items were not swept yet */
    int64_t now_ns;
    uint64_t sequence;  /* pushes until now */
    uint64_t usual_end; /* SIM_QUEUE_PUSHES_MAX; 0 when ties are shuffled */
    uint64_t shuffle;
    sim_queue_soon *soon; /* NULL: no observer */
    void *soon_context;
    int64_t later_ns;   /* no waiting event and no source's is earlier; SIM_QUEUE_NEVER: there is none */
    int64_t waiting_ns; /* no waiting event is earlier */
    struct sim_queue_calendar calendar;
    struct sim_queue_sources sources;
};

/* Makes an empty queue with room for `capacity` events, which doubles when it is full, and sets the clock to
 * start_ns. Returns false when out of memory; *queue then needs no destroy. */
bool sim_queue_create(uint32_t capacity, int64_t start_ns, struct sim_queue *queue);
/* Frees the queue's memory. NULL and a zeroed queue are allowed. */
void sim_queue_destroy(struct sim_queue *queue);

/* Test mode, before the first push: events of equal time come in an order drawn from (seed, sequence), the
 * same in each run, so that code which depends on the order of pushes fails. The order of times is kept. */
void sim_queue_shuffle_ties(struct sim_queue *queue, uint64_t seed);

/* Adds an event at time_ns, at least the current time and at most SIM_QUEUE_TIME_MAX (else it aborts).
 * Returns a handle for sim_queue_cancel(), or 0 and nothing is changed: no memory, SIM_QUEUE_MAX are
 * pending, or SIM_QUEUE_PUSHES_MAX were pushed. */
static inline uint64_t sim_queue_push(struct sim_queue *queue, int64_t time_ns,
                                      const struct sim_event *event);

/* The same, for an event that is far in the future, or that will most likely be cancelled. Until its time is
 * near it makes no push, pop or cancel of other events more expensive, and its cancellation frees the slot at
 * once. The order of events is the same as if it had been pushed. */
uint64_t sim_queue_push_later(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event);

/* Prepares for events of this kind that have numbered sources, from 0 to count - 1, such as the arrivals of a
 * key's rows. Called at most once. Returns false when out of memory. */
bool sim_queue_create_sources(struct sim_queue *queue, uint32_t kind, uint32_t count);
/* Like sim_queue_push_later(), for the next event of a source, which has none now: it has the sources' kind,
 * the source as its target, and zeros. There is no handle, so it cannot be cancelled. Best pushed while the
 * source's last event is handled. Returns false and changes nothing where a push would return 0. */
static inline bool sim_queue_push_source(struct sim_queue *queue, int64_t time_ns, uint32_t source);

/* From now on soon() is called for most waiting events before they come, up to three times for each, so that
 * it can prefetch what the event will need. It must not touch the queue. */
void sim_queue_tell_soon(struct sim_queue *queue, sim_queue_soon *soon, void *context);

/* Removes the first event and sets the clock to its time; false when no event is pending. */
static inline bool sim_queue_pop(struct sim_queue *queue, int64_t *out_time_ns, struct sim_event *out_event);

/* The time of the event that sim_queue_pop() would remove; false when no event is pending. */
static inline bool sim_queue_peek(struct sim_queue *queue, int64_t *out_time_ns);

/* Removes a pending event. False for 0, for a handle whose event was dispatched or cancelled, and for a
 * handle that was never returned. A handle is 40 bits of the sequence number and the slot. */
bool sim_queue_cancel(struct sim_queue *queue, uint64_t handle);

static inline uint32_t sim_queue_count(const struct sim_queue *queue)
{
    return queue->count;
}

static inline int64_t sim_queue_now(const struct sim_queue *queue)
{
    return queue->now_ns;
}

static inline uint64_t sim_queue_pushed(const struct sim_queue *queue)
{
    return queue->sequence;
}

/* The rest of this header is internal. */

#define SIM_QUEUE_SLOT_BITS 24
#define SIM_QUEUE_SLOT_MASK ((UINT64_C(1) << SIM_QUEUE_SLOT_BITS) - 1)
/* The children of i are 4i - 8 .. 4i - 5: four siblings are one cache line, and 3 is its own root's line. */
#define SIM_QUEUE_ROOT 3

/* The parts of a push and a pop that are not inline. */
uint64_t sim_queue_push_rare(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event);
void sim_queue_place_in_heap(struct sim_queue *queue, struct sim_queue_item item);
bool sim_queue_pop_any(struct sim_queue *queue, int64_t *out_time_ns, struct sim_event *out_event);
void sim_queue_sweep_top(struct sim_queue *queue);
void sim_queue_bring(struct sim_queue *queue);
bool sim_queue_push_source_rare(struct sim_queue *queue, int64_t time_ns, uint32_t source);
uint64_t sim_queue_play_ties(struct sim_queue_sources *sources, size_t node, uint64_t player);
void sim_queue_close_sources(struct sim_queue *queue);
size_t sim_queue_least_of_ties(const struct sim_queue_item *heap, size_t first);

/* (time, tag) of a before that of b: a borrow from the tags, then one comparison. No time is INT64_MIN. */
static inline bool sim_queue_before(const struct sim_queue_item *a, const struct sim_queue_item *b)
{
    return a->time_ns - (a->tag < b->tag) < b->time_ns;
}

/* Which of the siblings first .. first + 3 comes first. By time alone and without a branch (a wrong guess
 * costs more than all four comparisons) unless times tie. */
static inline size_t sim_queue_least(const struct sim_queue_item *heap, size_t first)
{
    const struct sim_queue_item *group = heap + first;
    const struct sim_queue_item *left = group + (group[1].time_ns < group[0].time_ns);
    const struct sim_queue_item *right = group + 2 + (group[3].time_ns < group[2].time_ns);
    size_t step = (size_t)(right - left) & -(size_t)(right->time_ns < left->time_ns);
    bool is_tied = (group[1].time_ns == group[0].time_ns) | (group[3].time_ns == group[2].time_ns) |
                   (left->time_ns == right->time_ns);
    if (SIM_UNLIKELY(is_tied))
        return sim_queue_least_of_ties(heap, first);
    return (size_t)(left - heap) + step;
}

static inline void sim_queue_prefetch_group(const struct sim_queue_item *heap, size_t first)
{
    for (size_t i = 0; i < 16; i += 4)
        __builtin_prefetch(heap + first + i);
}

/* Puts the item at i or at an ancestor of i. Most items stay or rise by one, about as often: that step is
 * without a branch. Index 2 holds "before all times" and ends the climb. */
static inline void sim_queue_rise(struct sim_queue_item *heap, size_t i, struct sim_queue_item item)
{
    size_t parent = i / 4 + 2, next = parent / 4 + 2;
    if (SIM_UNLIKELY(sim_queue_before(&item, &heap[next]))) {
        heap[i] = heap[parent];
        heap[parent] = heap[next];
        i = next;
        while (sim_queue_before(&item, &heap[parent = i / 4 + 2])) {
            heap[i] = heap[parent];
            i = parent;
        }
        heap[i] = item;
        return;
    }
    /* Swapped by masks, so that the places and widths of the stores are always the same: the next pop can
     * then read the values from the store buffer. */
    struct sim_queue_item other = heap[parent];
    uint64_t swaps = -(uint64_t)sim_queue_before(&item, &other);
    uint64_t time_bits = ((uint64_t)item.time_ns ^ (uint64_t)other.time_ns) & swaps;
    uint64_t tag_bits = (item.tag ^ other.tag) & swaps;
    heap[i].time_ns = (int64_t)((uint64_t)item.time_ns ^ time_bits);
    heap[i].tag = item.tag ^ tag_bits;
    heap[parent].time_ns = (int64_t)((uint64_t)other.time_ns ^ time_bits);
    heap[parent].tag = other.tag ^ tag_bits;
}

/* Fills the root's hole with the item: the hole first sinks to a leaf, without comparisons with the item, and
 * the item then rises from there. */
static inline void sim_queue_fill(struct sim_queue *queue, struct sim_queue_item item)
{
    struct sim_queue_item *heap = queue->heap;
    size_t end = queue->end, hole = SIM_QUEUE_ROOT, children = SIM_QUEUE_ROOT + 1, top = hole;
    if (children < end) {
        top = sim_queue_least(heap, children);
        if (sim_queue_before(&item, &heap[top])) { /* it comes next */
            heap[hole] = item;
            return;
        }
        heap[hole] = heap[top];
        hole = top;
        children = 4 * hole - 8;
        size_t grandchildren;
        while ((grandchildren = 4 * children - 8) < end) {
            sim_queue_prefetch_group(heap, grandchildren);
            size_t least = sim_queue_least(heap, children);
            heap[hole] = heap[least];
            hole = least;
            children = 4 * hole - 8;
        }
        while (children < end) {
            size_t least = sim_queue_least(heap, children);
            heap[hole] = heap[least];
            hole = least;
            children = 4 * hole - 8;
        }
    }
    sim_queue_rise(heap, hole, item);
    /* It is now one of the next five, so its slot is prefetched. */
    __builtin_prefetch(&queue->slots[heap[top].tag & SIM_QUEUE_SLOT_MASK]);
}

/* Puts the last item into the root's hole, if there is one. */
static inline void sim_queue_settle(struct sim_queue *queue)
{
    if (!queue->has_hole)
        return;
    queue->has_hole = false;
    struct sim_queue_item *last = &queue->heap[--queue->end], item = *last;
    *last = (struct sim_queue_item){INT64_MAX - (int64_t)(queue->end & 3), UINT64_MAX};
    if (queue->end > SIM_QUEUE_ROOT)
        sim_queue_fill(queue, item);
}

/* Whether the items are a sorted array, which those of an empty queue are. */
static inline bool sim_queue_has_few(const struct sim_queue *queue)
{
    return queue->end == SIM_QUEUE_ROOT;
}

/* Puts an item where it belongs. If it is the newest, it comes after all items of its time. */
static inline void sim_queue_place_item(struct sim_queue *queue, struct sim_queue_item item, bool is_newest)
{
    uint32_t i = queue->few_count;
    if (SIM_UNLIKELY(!sim_queue_has_few(queue)) || SIM_UNLIKELY(i == SIM_QUEUE_FEW)) {
        sim_queue_place_in_heap(queue, item);
        return;
    }
    queue->few_count = i + 1;
    struct sim_queue_item *at = &queue->few[i];
    for (; is_newest ? at->time_ns <= item.time_ns : sim_queue_before(at, &item); at--)
        at[1] = *at;
    at[1] = item;
}

/* Returns the first item, which may be that of a cancelled event; in an empty queue it has the time
 * "never". */
static inline const struct sim_queue_item *sim_queue_first(const struct sim_queue *queue)
{
    return sim_queue_has_few(queue) ? &queue->few[queue->few_count] : &queue->heap[SIM_QUEUE_ROOT];
}

/* The earliest of the times of events that are not in the heap. */
static inline void sim_queue_note_later(struct sim_queue *queue)
{
    int64_t waiting_ns = queue->waiting_ns, source_ns = queue->sources.first_ns;
    queue->later_ns = source_ns < waiting_ns ? source_ns : waiting_ns;
}

static inline uint32_t sim_queue_source_of(uint64_t player)
{
    return (uint32_t)(player & (SIM_QUEUE_SOURCES_MAX - 1));
}

static inline bool sim_queue_is_source_before(const struct sim_queue_sources *sources, uint32_t source,
                                              const struct sim_queue_item *item)
{
    struct sim_queue_item own = {sources->times_ns[source], sources->ties[source]};
    return sim_queue_before(&own, item);
}

/* Makes the first pending event the heap's first item or the first of the sources' events, or returns false.
 */
static inline bool sim_queue_ready(struct sim_queue *queue)
{
    sim_queue_settle(queue);
    if (SIM_UNLIKELY(queue->stale > 0))
        sim_queue_sweep_top(queue);
    if (SIM_UNLIKELY(queue->sources.open != 0))
        sim_queue_close_sources(queue);
    if (SIM_UNLIKELY(sim_queue_first(queue)->time_ns >= queue->waiting_ns))
        sim_queue_bring(queue);
    return queue->count > 0;
}

/* Whether a push needs nothing rare: the time is between now and the last one, a slot is free, and pushes are
 * neither used up nor shuffled. */
static inline bool sim_queue_is_usual(const struct sim_queue *queue, int64_t time_ns)
{
    int64_t never_ns = queue->few[0].time_ns; /* a constant that needs no instruction to be loaded */
    return SIM_LIKELY(time_ns >= queue->now_ns) && SIM_LIKELY(time_ns < never_ns) &&
           SIM_LIKELY(queue->free_slot != 0) && SIM_LIKELY(queue->sequence < queue->usual_end);
}

/* Puts the event into a slot, and returns its handle. */
static inline uint64_t sim_queue_enter(struct sim_queue *queue, const struct sim_event *event)
{
    uint32_t slot = queue->free_slot;
    uint64_t handle = queue->sequence++ << SIM_QUEUE_SLOT_BITS | slot;
    queue->free_slot = (uint32_t)queue->slots[slot].event.a;
    queue->count++;
    queue->slots[slot] = (struct sim_queue_slot){*event, handle};
    return handle;
}

static inline uint64_t sim_queue_push(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    if (SIM_UNLIKELY(!sim_queue_is_usual(queue, time_ns)))
        return sim_queue_push_rare(queue, time_ns, event);
    uint64_t handle = sim_queue_enter(queue, event);
    sim_queue_place_item(queue, (struct sim_queue_item){time_ns, handle}, true);
    return handle;
}

static inline void sim_queue_free_slot(struct sim_queue *queue, uint32_t slot)
{
    queue->slots[slot].event.a = queue->free_slot;
    queue->free_slot = slot;
}

/* Takes the event out of the slot of the first item, which the caller removes. */
static inline void sim_queue_leave(struct sim_queue *queue, const struct sim_queue_item *first,
                                   int64_t *out_time_ns, struct sim_event *out_event)
{
    uint32_t index = (uint32_t)(first->tag & SIM_QUEUE_SLOT_MASK);
    struct sim_queue_slot *slot = &queue->slots[index];
    *out_time_ns = queue->now_ns = first->time_ns;
    *out_event = slot->event;
    slot->stamp = 0;
    sim_queue_free_slot(queue, index);
    queue->count--;
}

/* The first event of the sorted array, unless there is none, or a waiting event may come first. */
static inline bool sim_queue_pop_few(struct sim_queue *queue, int64_t *out_time_ns,
                                     struct sim_event *out_event)
{
    const struct sim_queue_item *first = &queue->few[queue->few_count];
    if (SIM_UNLIKELY(first->time_ns >=
                     queue->later_ns)) /* few[0] has the time "never", which later_ns does not exceed */
        return false;
    sim_queue_leave(queue, first, out_time_ns, out_event);
    queue->few_count--;
    return true;
}

/* Takes the first of the sources' events. */
static inline void sim_queue_leave_source(struct sim_queue *queue, int64_t *out_time_ns,
                                          struct sim_event *out_event)
{
    struct sim_queue_sources *sources = &queue->sources;
    uint32_t source = sim_queue_source_of(sources->losers[0]);
    *out_time_ns = queue->now_ns = sources->first_ns;
    *out_event = (struct sim_event){.kind = sources->kind, .target = source};
    sources->open = source + 1;
    queue->count--;
}

/* The first of the sources' events, if it is before all others. A popped or cancelled item that is still in
 * the heap may be taken for an earlier one. */
static inline bool sim_queue_pop_source(struct sim_queue *queue, int64_t *out_time_ns,
                                        struct sim_event *out_event)
{
    int64_t time_ns = queue->sources.first_ns;
    if (queue->sources.open != 0 || time_ns >= queue->waiting_ns ||
        time_ns >= sim_queue_first(queue)->time_ns)
        return false;
    sim_queue_leave_source(queue, out_time_ns, out_event);
    return true;
}

static inline bool sim_queue_pop(struct sim_queue *queue, int64_t *out_time_ns, struct sim_event *out_event)
{
    return sim_queue_pop_few(queue, out_time_ns, out_event) ||
           sim_queue_pop_source(queue, out_time_ns, out_event) ||
           sim_queue_pop_any(queue, out_time_ns, out_event);
}

/* Plays the games of the last winner again, since its event has changed. Who wins cannot be predicted, so
 * there is no branch unless times tie. */
static inline void sim_queue_play(struct sim_queue_sources *sources, uint64_t player)
{
    uint64_t *losers = sources->losers;
    for (size_t node = (sources->leaf_count + sim_queue_source_of(player)) / 2; node > 0; node /= 2) {
        uint64_t other = losers[node], both = other ^ player;
        if (SIM_UNLIKELY(both < SIM_QUEUE_SOURCES_MAX)) {
            player = sim_queue_play_ties(sources, node, player);
            break;
        }
        player = other < player ? other : player;
        losers[node] = both ^ player;
    }
    losers[0] = player;
    sources->first_ns = sources->times_ns[sim_queue_source_of(player)];
}

static inline bool sim_queue_push_source(struct sim_queue *queue, int64_t time_ns, uint32_t source)
{
    struct sim_queue_sources *sources = &queue->sources;
    uint64_t since = (uint64_t)time_ns - (uint64_t)sources->base_ns;
    if (SIM_UNLIKELY(sources->open != source + 1) || SIM_UNLIKELY(since >= SIM_QUEUE_SINCE_MAX) ||
        SIM_UNLIKELY(!sim_queue_is_usual(queue, time_ns)))
        return sim_queue_push_source_rare(queue, time_ns, source);
    sources->open = 0;
    sources->times_ns[source] = time_ns;
    sources->ties[source] = queue->sequence++ << SIM_QUEUE_SLOT_BITS;
    queue->count++;
    sim_queue_play(sources, since << SIM_QUEUE_SOURCE_BITS | source);
    sim_queue_note_later(queue);
    return true;
}

static inline bool sim_queue_peek(struct sim_queue *queue, int64_t *out_time_ns)
{
    if (!sim_queue_ready(queue))
        return false;
    int64_t time_ns = sim_queue_first(queue)->time_ns;
    *out_time_ns = queue->sources.first_ns < time_ns ? queue->sources.first_ns : time_ns;
    return true;
}

#endif
