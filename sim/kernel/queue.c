/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The queue of pending events: a 4-ary heap, a sorted array instead of it while there are few events, and a
 * calendar queue for events in the distant future.
 *
 * The part of the queue for events that are pushed for a distant time: they are in buckets of equal length.
 * So most pushes and cancellations only change the links of a list, and the heap of the next events stays so
 * small that it fits into the first-level cache.
 *
 * When all buckets have passed, new ones are made. Their length is derived from the overflow list, so that at
 * least three quarters of its events get into a bucket, usually one or two per bucket. So each event is
 * examined at most four times in three, whatever the distribution of times, and an event that is cancelled in
 * the overflow list causes no further cost.
 *
 * The part of the queue for events of sources, of which each has at most one: a tree of losers. An event that
 * is pushed while its source's last one is handled replaces it in one walk from a leaf to the root, and needs
 * no slot. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/queue.h"

/* How a source is given in the tree, in which "never" is the last time. */
static uint64_t player_of(const struct sim_queue_sources *sources, uint32_t source)
{
    uint64_t since = (uint64_t)sources->times_ns[source] - (uint64_t)sources->base_ns;
    return (since < SIM_QUEUE_SINCE_MAX ? since : SIM_QUEUE_SINCE_MAX) << SIM_QUEUE_SOURCE_BITS | source;
}

static bool is_before(const struct sim_queue_sources *sources, uint64_t left, uint64_t right)
{
    uint32_t other = sim_queue_source_of(right);
    struct sim_queue_item item = {sources->times_ns[other], sources->ties[other]};
    return sim_queue_is_source_before(sources, sim_queue_source_of(left), &item);
}

uint64_t sim_queue_play_ties(struct sim_queue_sources *sources, size_t node, uint64_t player)
{
    for (; node > 0; node /= 2) {
        uint64_t other = sources->losers[node];
        bool is_lost = is_before(sources, other, player);
        sources->losers[node] = is_lost ? player : other;
        player = is_lost ? other : player;
    }
    return player;
}

/* Plays all games below a node, and returns the winner. */
static uint64_t play_below(struct sim_queue_sources *sources, uint32_t node)
{
    if (node >= sources->leaf_count)
        return player_of(sources, node - sources->leaf_count);
    uint64_t left = play_below(sources, 2 * node), right = play_below(sources, 2 * node + 1);
    bool is_left = is_before(sources, left, right);
    sources->losers[node] = is_left ? right : left;
    return is_left ? left : right;
}

static void sim_queue_clear_sources(struct sim_queue_sources *sources)
{
    for (uint32_t i = 0; i < sources->leaf_count; i++) {
        sources->times_ns[i] = SIM_QUEUE_NEVER;
        sources->ties[i] = 0;
    }
    sources->open = sources->count > 0 ? SIM_QUEUE_REPLAY : 0;
    sources->first_ns = SIM_QUEUE_NEVER;
}

bool sim_queue_create_sources(struct sim_queue *queue, uint32_t kind, uint32_t count)
{
    struct sim_queue_sources *sources = &queue->sources;
    uint32_t leaf_count = 2;
    assert(sources->count == 0);
    sources->kind = kind;
    if (count > SIM_QUEUE_SOURCES_MAX)
        return true;
    while (leaf_count < count)
        leaf_count *= 2;
    sources->times_ns = sim_memory_take(leaf_count * sizeof *sources->times_ns);
    sources->ties = sim_memory_take(leaf_count * sizeof *sources->ties);
    sources->losers = sim_memory_take(leaf_count * sizeof *sources->losers);
    if (sources->times_ns == NULL || sources->ties == NULL || sources->losers == NULL)
        return false;
    sources->count = count;
    sources->leaf_count = leaf_count;
    sim_queue_clear_sources(sources);
    return true;
}

/* The source whose event was popped has no further one now, or the tree must be played again. */
void sim_queue_close_sources(struct sim_queue *queue)
{
    struct sim_queue_sources *sources = &queue->sources;
    uint32_t open = sources->open;
    if (open == 0)
        return;
    sources->open = 0;
    if (open == SIM_QUEUE_REPLAY) {
        sources->base_ns = queue->now_ns;
        sources->losers[0] = play_below(sources, 1);
        sources->first_ns = sources->times_ns[sim_queue_source_of(sources->losers[0])];
    } else {
        sources->times_ns[open - 1] = SIM_QUEUE_NEVER;
        sim_queue_play(sources, player_of(sources, open - 1));
    }
    sim_queue_note_later(queue);
}

/* Returns the number of buckets for `events` events: a power of two that is at least as large. */
static uint32_t buckets_for(uint32_t events)
{
    uint32_t buckets = 1;
    while (buckets < events)
        buckets *= 2;
    return buckets;
}

/* The old memory is kept when there is no larger one. */
static bool enlarge(void *array, size_t kept_bytes, size_t bytes)
{
    void *memory, *grown;
    memcpy(&memory, array, sizeof memory);
    grown = sim_memory_grow(memory, kept_bytes, bytes);
    if (grown != NULL)
        memcpy(array, &grown, sizeof grown);
    return grown != NULL;
}

/* Creates or grows the calendar; calendar->places are last, so that all of it exists when they do. */
static bool sim_queue_calendar_grow(struct sim_queue *queue, uint32_t capacity)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    const bool is_new = calendar->places == NULL;
    const size_t slots = (size_t)capacity + 1, kept = is_new ? 0 : (size_t)queue->slots_used + 1;
    if (!enlarge(&calendar->overflow, calendar->overflow_count * sizeof *calendar->overflow,
                 slots * sizeof *calendar->overflow) ||
        !enlarge(&calendar->buckets, calendar->bucket_count * sizeof *calendar->buckets,
                 (size_t)buckets_for(capacity) * sizeof *calendar->buckets) ||
        !enlarge(&calendar->places, kept * sizeof *calendar->places, slots * sizeof *calendar->places))
        return false;
    calendar->begin_ns = is_new ? queue->now_ns : calendar->begin_ns;
    return true;
}

/* Returns whether the bucket of this time was moved to the heap already; then further events for it must be
 * pushed to the heap. */
static bool is_over(const struct sim_queue_calendar *calendar, int64_t time_ns)
{
    return time_ns < calendar->begin_ns || ((uint64_t)time_ns - (uint64_t)calendar->begin_ns) <
                                               (uint64_t)calendar->current << calendar->bucket_shift;
}

/* Returns whether a time is after the last bucket. The time must not be before the current bucket. */
static bool is_overflow(const struct sim_queue_calendar *calendar, int64_t time_ns)
{
    return (uint64_t)time_ns - (uint64_t)calendar->begin_ns >= (uint64_t)calendar->bucket_count
                                                                   << calendar->bucket_shift;
}

static void add_to_overflow(struct sim_queue_calendar *calendar, uint32_t slot)
{
    struct sim_queue_place *place = &calendar->places[slot];
    place->next = calendar->overflow_count;
    place->previous = slot;
    if (calendar->overflow_count == 0 || place->time_ns < calendar->overflow_least_ns)
        calendar->overflow_least_ns = place->time_ns;
    calendar->overflow[calendar->overflow_count++] = (struct sim_queue_overflow){place->time_ns, slot};
}

static void add_to_bucket(struct sim_queue_calendar *calendar, uint32_t slot)
{
    struct sim_queue_place *place = &calendar->places[slot];
    uint64_t since = (uint64_t)place->time_ns - (uint64_t)calendar->begin_ns;
    uint32_t *first = &calendar->buckets[since >> calendar->bucket_shift];
    place->next = *first;
    place->previous = slot;
    if (*first != 0)
        calendar->places[*first].previous = slot;
    *first = slot;
    calendar->bucketed_count++;
}

/* Returns false when out of memory; an array that has grown is not used then beyond the old capacity. */
static bool grow(struct sim_queue *queue, uint32_t capacity)
{
    /* The number is rounded up to whole groups of four, because the last group is read as a whole. */
    const size_t items = (SIM_QUEUE_ROOT + (size_t)capacity + 3) / 4 * 4;
    const size_t kept = queue->heap == NULL ? 0 : queue->end;
    if (!enlarge(&queue->heap, kept * sizeof *queue->heap, items * sizeof *queue->heap))
        return false;
    /* "Never" differs within a group, so that an unfinished group does not look like a tie. */
    for (size_t i = queue->end; i < items; i++)
        queue->heap[i] = (struct sim_queue_item){INT64_MAX - (int64_t)(i & 3), UINT64_MAX};
    for (size_t i = 0; i < SIM_QUEUE_ROOT; i++)
        queue->heap[i] = (struct sim_queue_item){INT64_MIN, 0};
    if ((queue->calendar.places != NULL && !sim_queue_calendar_grow(queue, capacity)) ||
        !enlarge(&queue->slots, queue->slots == NULL ? 0 : (queue->slots_used + 1) * sizeof *queue->slots,
                 ((size_t)capacity + 1) * sizeof *queue->slots))
        return false;
    queue->slots[0].stamp = UINT64_MAX; /* no handle */
    queue->capacity = capacity;
    return true;
}

/* There are too many items for the array. A sorted array is a heap. */
static void sim_queue_spill(struct sim_queue *queue)
{
    while (queue->few_count > 0)
        queue->heap[queue->end++] = queue->few[queue->few_count--];
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

/* Drops the cancelled items and makes a heap of the remaining ones. */
static void sim_queue_purge(struct sim_queue *queue)
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
static bool sim_queue_make_room(struct sim_queue *queue)
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

/* The tag of an event: its handle, since ties are in the order of pushes, unless these are shuffled. */
static uint64_t tag_of(const struct sim_queue *queue, uint64_t handle)
{
    const uint64_t number = handle >> SIM_QUEUE_SLOT_BITS, slot = handle & SIM_QUEUE_SLOT_MASK;
    if (!queue->is_shuffled)
        return handle;
    return (sim_mix64(queue->shuffle + number * UINT64_C(0x9e3779b97f4a7c15)) & ~SIM_QUEUE_SLOT_MASK) | slot;
}

static inline void into_heap(struct sim_queue *queue, uint32_t slot, int64_t time_ns)
{
    queue->calendar.places[slot].previous = 0;
    sim_queue_place_item(queue, (struct sim_queue_item){time_ns, tag_of(queue, queue->slots[slot].stamp)},
                         false);
}

/* Makes a push usual, except that ties may be shuffled. Returns false when out of memory or numbers. */
static bool sim_queue_prepare(struct sim_queue *queue, int64_t time_ns)
{
    assert(time_ns >= queue->now_ns && time_ns <= SIM_QUEUE_TIME_MAX);
    return queue->sequence < SIM_QUEUE_PUSHES_MAX && (queue->free_slot != 0 || sim_queue_make_room(queue));
}

uint64_t sim_queue_push_later(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    /* If there is no memory for the calendar, the event goes to the heap. */
    if (SIM_UNLIKELY(calendar->places == NULL && !sim_queue_calendar_grow(queue, queue->capacity)) ||
        SIM_UNLIKELY(is_over(calendar, time_ns)))
        return sim_queue_push(queue, time_ns, event);
    uint64_t handle = sim_queue_is_usual(queue, time_ns) || sim_queue_prepare(queue, time_ns)
                          ? sim_queue_enter(queue, event)
                          : 0;
    if (handle == 0)
        return 0;
    uint32_t slot = (uint32_t)(handle & SIM_QUEUE_SLOT_MASK);
    calendar->places[slot].time_ns = time_ns;
    if (is_overflow(calendar, time_ns))
        add_to_overflow(calendar, slot);
    else
        add_to_bucket(calendar, slot);
    if (time_ns < queue->waiting_ns) {
        queue->waiting_ns = time_ns;
        queue->later_ns = time_ns < queue->later_ns ? time_ns : queue->later_ns;
    }
    return handle;
}

/* For an event of a source whose event was not the last one that was popped from the tree, or for a time that
 * is too distant for the tree. Shuffled ties need the number of a push, which the tree does not have. */
bool sim_queue_push_source_rare(struct sim_queue *queue, int64_t time_ns, uint32_t source)
{
    struct sim_queue_sources *sources = &queue->sources;
    uint64_t since = (uint64_t)time_ns - (uint64_t)queue->now_ns;
    if (sources->count == 0 || queue->is_shuffled || since >= SIM_QUEUE_SINCE_MAX)
        return sim_queue_push_later(queue, time_ns,
                                    &(struct sim_event){.kind = sources->kind, .target = source}) != 0;
    if (!sim_queue_prepare(queue, time_ns))
        return false;
    if (sources->open != SIM_QUEUE_REPLAY)
        sim_queue_close_sources(queue);
    assert(source < sources->count && sources->times_ns[source] == SIM_QUEUE_NEVER);
    sources->times_ns[source] = time_ns;
    sources->ties[source] = queue->sequence++ << SIM_QUEUE_SLOT_BITS;
    queue->count++;
    sources->open = SIM_QUEUE_REPLAY;
    sources->first_ns = queue->now_ns;
    sim_queue_note_later(queue);
    return true;
}

/* The number of cancelled items that are tolerated however few events are pending. */
#define STALE_LEAST 64
/* Buckets are moved while the sorted array has fewer items. */
#define BROUGHT 4u
/* The number of buckets that are searched for the next events. */
#define LOOK_AHEAD 32u

static void take_out_of_calendar(struct sim_queue *queue, uint32_t slot)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    struct sim_queue_place *places = calendar->places, *place = &places[slot];
    if (is_overflow(calendar, place->time_ns)) {
        uint32_t last = --calendar->overflow_count;
        calendar->overflow[place->next] = calendar->overflow[last];
        places[calendar->overflow[last].slot].next = place->next;
    } else {
        uint64_t since = (uint64_t)place->time_ns - (uint64_t)calendar->begin_ns;
        uint32_t before = place->previous == slot ? 0 : place->previous;
        if (before != 0)
            places[before].next = place->next;
        else
            calendar->buckets[since >> calendar->bucket_shift] = place->next;
        if (place->next != 0)
            places[place->next].previous = before != 0 ? before : place->next;
        calendar->bucketed_count--;
    }
    if (calendar->overflow_count + calendar->bucketed_count == 0)
        queue->waiting_ns = SIM_QUEUE_NEVER;
    sim_queue_note_later(queue);
}

static void take_out_of_few(struct sim_queue *queue, uint32_t slot)
{
    uint32_t i = queue->few_count--;
    struct sim_queue_item moved = queue->few[i];
    while ((moved.tag & SIM_QUEUE_SLOT_MASK) != slot) {
        struct sim_queue_item next = queue->few[--i];
        queue->few[i] = moved;
        moved = next;
    }
    sim_queue_free_slot(queue, slot);
}

bool sim_queue_cancel(struct sim_queue *queue, uint64_t handle)
{
    uint64_t slot = handle & SIM_QUEUE_SLOT_MASK;
    if (SIM_UNLIKELY(slot > queue->slots_used || queue->slots[slot].stamp != handle))
        return false;
    queue->slots[slot].stamp = 0;
    queue->count--;
    struct sim_queue_place *place = queue->calendar.places == NULL ? NULL : &queue->calendar.places[slot];
    if (place != NULL && place->previous != 0) {
        take_out_of_calendar(queue, (uint32_t)slot);
        place->previous = 0;
        sim_queue_free_slot(queue, (uint32_t)slot);
        return true;
    }
    if (sim_queue_has_few(queue)) {
        take_out_of_few(queue, (uint32_t)slot);
        return true;
    }
    queue->stale++;
    /* The cost of a purge is amortised by the cancellations since the last one. */
    size_t kept = queue->end - SIM_QUEUE_ROOT - queue->stale - queue->has_hole;
    if (queue->stale > kept && queue->stale - kept > STALE_LEAST)
        sim_queue_purge(queue);
    return true;
}

/* Updates waiting_ns, a lower bound on the times of events in the calendar: the beginning of the current
 * bucket. */
static void remember_first(struct sim_queue *queue)
{
    const struct sim_queue_calendar *calendar = &queue->calendar;
    uint64_t over = (uint64_t)calendar->current << calendar->bucket_shift;
    if (calendar->bucketed_count > 0)
        queue->waiting_ns = (int64_t)((uint64_t)calendar->begin_ns + over);
    else
        queue->waiting_ns = calendar->overflow_count > 0 ? calendar->overflow_least_ns : SIM_QUEUE_NEVER;
    sim_queue_note_later(queue);
}

/* Announces the events of the first three buckets that have events, from the current one on, to
 * queue->soon(). For the fourth, the cache lines of its first event are prefetched. */
static void tell_buckets(const struct sim_queue *queue)
{
    const struct sim_queue_calendar *calendar = &queue->calendar;
    uint32_t end = calendar->bucket_count - calendar->current < LOOK_AHEAD ? calendar->bucket_count
                                                                           : calendar->current + LOOK_AHEAD;
    uint32_t buckets = 0;
    for (uint32_t bucket = calendar->current; bucket < end && buckets < 4; bucket++) {
        uint32_t first = calendar->buckets[bucket];
        if (first == 0)
            continue;
        if (buckets == 3) {
            __builtin_prefetch(&calendar->places[first]);
            __builtin_prefetch(&queue->slots[first]);
        }
        for (uint32_t slot = first; slot != 0 && buckets < 3; slot = calendar->places[slot].next)
            queue->soon(queue->soon_context, &queue->slots[slot].event, buckets);
        buckets++;
    }
}

static void lay_out(struct sim_queue_calendar *calendar, uint32_t shift, uint32_t bucket_count)
{
    uint32_t count = calendar->overflow_count;
    calendar->bucket_shift = shift;
    calendar->bucket_count = bucket_count;
    calendar->current = 0;
    memset(calendar->buckets, 0, bucket_count * sizeof *calendar->buckets);
    calendar->overflow_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sim_queue_overflow event = calendar->overflow[i];
        if (is_overflow(calendar, event.time_ns))
            add_to_overflow(calendar, event.slot);
        else
            add_to_bucket(calendar, event.slot);
    }
}

/* Makes buckets for a span, a power of two in length, that contains at least three quarters of the
 * events of the overflow list. */
static void make_buckets(struct sim_queue_calendar *calendar)
{
    uint32_t classes[65] = {0}, count = calendar->overflow_count, bits = 0, covered = 0;
    const struct sim_queue_overflow *overflow = calendar->overflow;
    assert(count > 0);
    int64_t least_ns = overflow[0].time_ns;
    for (uint32_t i = 1; i < count; i++)
        least_ns = overflow[i].time_ns < least_ns ? overflow[i].time_ns : least_ns;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t since = (uint64_t)overflow[i].time_ns - (uint64_t)least_ns;
        classes[since == 0 ? 0 : 64 - __builtin_clzll(since)]++;
    }
    for (covered = classes[0]; covered < count - count / 4; covered += classes[++bits])
        ;
    uint32_t bucket_count = buckets_for(covered), bucket_bits = (uint32_t)__builtin_ctz(bucket_count);
    calendar->begin_ns = least_ns;
    /* Times 2^63 ns or more after begin_ns always go to the overflow list. */
    bits = bits > 63 ? 63 : bits;
    lay_out(calendar, bits > bucket_bits ? bits - bucket_bits : 0, bucket_count);
}

/* Moves the current bucket to the heap, and further ones with events while the sorted array is short.
 */
static void bring_buckets(struct sim_queue *queue)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    do {
        if (queue->soon != NULL)
            tell_buckets(queue);
        for (uint32_t slot = calendar->buckets[calendar->current], next; slot != 0; slot = next) {
            next = calendar->places[slot].next;
            into_heap(queue, slot, calendar->places[slot].time_ns);
            calendar->bucketed_count--;
        }
        calendar->buckets[calendar->current++] = 0;
        while (calendar->bucketed_count > 0 && calendar->buckets[calendar->current] == 0)
            calendar->current++;
    } while (calendar->bucketed_count > 0 && sim_queue_has_few(queue) && queue->few_count < BROUGHT);
}

/* Moves buckets to the heap until all remaining events come after the heap's first one. */
void sim_queue_bring(struct sim_queue *queue)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    while (queue->waiting_ns < SIM_QUEUE_NEVER && sim_queue_first(queue)->time_ns >= queue->waiting_ns &&
           queue->sources.first_ns >= queue->waiting_ns) {
        if (calendar->bucketed_count == 0)
            make_buckets(calendar);
        else
            bring_buckets(queue);
        remember_first(queue);
    }
}

void sim_queue_tell_soon(struct sim_queue *queue, sim_queue_soon *soon, void *context)
{
    queue->soon = soon;
    queue->soon_context = context;
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
    free(queue->sources.times_ns);
    free(queue->sources.ties);
    free(queue->sources.losers);
    *queue = (struct sim_queue){0};
}

bool sim_queue_create(uint32_t capacity, int64_t start_ns, struct sim_queue *queue)
{
    assert(start_ns > INT64_MIN && start_ns <= SIM_QUEUE_TIME_MAX);
    *queue = (struct sim_queue){
        .end = SIM_QUEUE_ROOT,
        .usual_end = SIM_QUEUE_PUSHES_MAX,
        .now_ns = start_ns,
        .later_ns = SIM_QUEUE_NEVER,
        .waiting_ns = SIM_QUEUE_NEVER,
        .sources = {.first_ns = SIM_QUEUE_NEVER},
    };
    queue->few[0] = (struct sim_queue_item){SIM_QUEUE_NEVER, UINT64_MAX};
    if (capacity < SIM_QUEUE_FEW)
        capacity = SIM_QUEUE_FEW;
    if (grow(queue, capacity < SIM_QUEUE_MAX ? capacity : SIM_QUEUE_MAX))
        return true;
    sim_queue_destroy(queue);
    return false;
}

void sim_queue_shuffle_ties(struct sim_queue *queue, uint64_t seed)
{
    assert(queue->sequence == 0);
    queue->is_shuffled = true;
    queue->usual_end = 0;
    queue->shuffle = sim_mix64(seed + UINT64_C(0x9e3779b97f4a7c15));
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
static void sim_queue_unspill(struct sim_queue *queue)
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

uint64_t sim_queue_push_rare(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    if (!sim_queue_prepare(queue, time_ns))
        return 0;
    uint64_t handle = sim_queue_enter(queue, event);
    sim_queue_place_item(queue, (struct sim_queue_item){time_ns, tag_of(queue, handle)}, !queue->is_shuffled);
    return handle;
}

/* Compares both pairs, and then the two winners, by (time, tag). */
size_t sim_queue_least_of_ties(const struct sim_queue_item *heap, size_t first)
{
    size_t left = first + sim_queue_before(&heap[first + 1], &heap[first]);
    size_t right = first + 2 + sim_queue_before(&heap[first + 3], &heap[first + 2]);
    return left + ((right - left) & -(size_t)sim_queue_before(&heap[right], &heap[left]));
}
