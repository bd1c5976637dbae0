/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of the queue for events that are pushed for a distant time: those with a common delay are in a
 * ring for each delay, the others in buckets of equal length. So most pushes and cancellations only change
 * a ring or the links of a list, and the heap of the next events stays so small that it fits into the
 * first-level cache.
 *
 * When all buckets have passed, new ones are made. Their length is derived from the overflow list, so that at
 * least three quarters of its events get into a bucket, usually one or two per bucket. So each event is
 * examined at most four times in three, whatever the distribution of times, and an event that is cancelled in
 * the overflow list causes no further cost. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/memory.h"
#include "kernel/queue.h"

/* The number of cancelled items that are tolerated however few events are pending. */
#define STALE_LEAST 64
/* Buckets are moved while the sorted array has fewer items. */
#define BROUGHT 4u
/* The number of buckets that are searched for the next events. */
#define LOOK_AHEAD 32u

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

static void add_to_overflow(struct sim_queue_calendar *calendar, uint32_t slot)
{
    struct sim_queue_place *place = &calendar->places[slot];
    place->next = calendar->overflow_count;
    place->previous = slot;
    if (calendar->overflow_count == 0 || place->time_ns < calendar->overflow_least_ns)
        calendar->overflow_least_ns = place->time_ns;
    calendar->overflow[calendar->overflow_count++] = (struct sim_queue_overflow){place->time_ns, slot};
}

uint64_t sim_queue_push_later(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    /* If there is no memory for the calendar, the event goes to the heap. */
    if (SIM_UNLIKELY(calendar->places == NULL && !sim_queue_calendar_grow(queue, queue->capacity)) ||
        SIM_UNLIKELY(is_over(calendar, time_ns)))
        return sim_queue_push(queue, time_ns, event);
    uint64_t tie, handle = sim_queue_enter(queue, time_ns, event, &tie);
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

static bool is_pending(const struct sim_queue *queue, uint64_t handle)
{
    return queue->slots[handle & SIM_QUEUE_SLOT_MASK].stamp == handle;
}

/* Removes cancelled events from the front. Returns whether an event is left. */
static bool has_listed(const struct sim_queue *queue, struct sim_queue_list *list)
{
    while (list->head != list->tail && !is_pending(queue, list->waits[list->head & (list->room - 1)].handle))
        list->head++;
    return list->head != list->tail;
}

/* Returns the list of a delay. If there is none, an empty list is reused for it. Returns NULL if no list is
 * empty. */
static struct sim_queue_list *list_for(struct sim_queue *queue, int64_t delay_ns)
{
    for (uint32_t i = 0; i < SIM_QUEUE_LISTS; i++) {
        if (queue->lists[i].delay_ns == delay_ns)
            return &queue->lists[i];
    }
    for (uint32_t i = 0; i < SIM_QUEUE_LISTS; i++) {
        if (!has_listed(queue, &queue->lists[i])) {
            queue->lists[i].delay_ns = delay_ns;
            return &queue->lists[i];
        }
    }
    return NULL;
}

/* Removes the cancelled events of a full ring. If at least half of the events are left, the ring is replaced
 * by a larger one. Returns false if there is no room. */
static bool make_room(struct sim_queue *queue, struct sim_queue_list *list)
{
    uint32_t mask = list->room - 1, kept = list->head;
    if (list->tail - list->head < list->room)
        return true;
    for (uint32_t i = list->head; i != list->tail; i++) {
        if (is_pending(queue, list->waits[i & mask].handle))
            list->waits[kept++ & mask] = list->waits[i & mask];
    }
    list->tail = kept;
    uint32_t count = list->tail - list->head;
    if (count < list->room / 2)
        return true;
    uint32_t room = 2 * list->room;
    struct sim_queue_wait *waits = sim_memory_take(room * sizeof *waits);
    if (waits == NULL)
        return count < list->room;
    for (uint32_t i = 0; i < count; i++)
        waits[i] = list->waits[(list->head + i) & mask];
    if (list->room > SIM_QUEUE_ROOM)
        free(list->waits);
    list->waits = waits;
    list->room = room;
    list->head = 0;
    list->tail = count;
    return true;
}

uint64_t sim_queue_push_after_rare(struct sim_queue *queue, int64_t delay_ns, const struct sim_event *event)
{
    int64_t time_ns = queue->now_ns + delay_ns;
    struct sim_queue_list *list = queue->calendar.places == NULL ? NULL : list_for(queue, delay_ns);
    if (list == NULL || !sim_queue_is_usual(queue, time_ns) || !make_room(queue, list))
        return sim_queue_push_later(queue, time_ns, event);
    return sim_queue_append(queue, list, time_ns, event);
}

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
        queue->waiting_ns = queue->listed_ns;
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

bool sim_queue_cancel_rare(struct sim_queue *queue, uint64_t handle)
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
    if (queue->listed_ns < queue->waiting_ns)
        queue->waiting_ns = queue->listed_ns;
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

/* Returns the number of buckets for `events` events: a power of two that is at least as large. */
static uint32_t buckets_for(uint32_t events)
{
    uint32_t buckets = 1;
    while (buckets < events)
        buckets *= 2;
    return buckets;
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

/* Moves an event to the heap with the tie number that it got when it was pushed: the next tie number less one
 * for each push since. */
static inline void into_heap(struct sim_queue *queue, uint32_t slot, int64_t time_ns)
{
    const uint64_t mask = SIM_QUEUE_TIE_END >> SIM_QUEUE_SLOT_BITS;
    uint64_t since = (queue->sequence - (queue->slots[slot].stamp >> SIM_QUEUE_SLOT_BITS)) & mask;
    uint64_t tie = queue->next_tie - (since << SIM_QUEUE_SLOT_BITS);
    if (queue->is_shuffled)
        tie = sim_queue_shuffled_tie(queue, queue->sequence - since);
    queue->calendar.places[slot].previous = 0;
    sim_queue_place_item(queue, (struct sim_queue_item){time_ns, tie | slot}, false);
}

static void slot_into_heap(struct sim_queue *queue, uint32_t slot)
{
    into_heap(queue, slot, queue->calendar.places[slot].time_ns);
}

/* Moves the list's pending events up to a time to the heap. */
static void list_into_heap(struct sim_queue *queue, struct sim_queue_list *list, int64_t until_ns)
{
    while (has_listed(queue, list) && list->waits[list->head & (list->room - 1)].time_ns <= until_ns) {
        struct sim_queue_wait wait = list->waits[list->head++ & (list->room - 1)];
        into_heap(queue, (uint32_t)(wait.handle & SIM_QUEUE_SLOT_MASK), wait.time_ns);
    }
}

/* Moves the earliest events of the lists to the heap, unless they are after its first item. */
static void bring_listed(struct sim_queue *queue)
{
    int64_t first_ns = SIM_QUEUE_NEVER;
    for (uint32_t i = 0; i < SIM_QUEUE_LISTS; i++) {
        struct sim_queue_list *list = &queue->lists[i];
        if (has_listed(queue, list) && list->waits[list->head & (list->room - 1)].time_ns < first_ns)
            first_ns = list->waits[list->head & (list->room - 1)].time_ns;
    }
    queue->listed_ns = first_ns;
    if (first_ns > sim_queue_first(queue)->time_ns)
        return;
    for (uint32_t i = 0; i < SIM_QUEUE_LISTS; i++)
        list_into_heap(queue, &queue->lists[i], first_ns);
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
            slot_into_heap(queue, slot);
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
        if (queue->waiting_ns == queue->listed_ns) {
            bring_listed(queue);
        } else if (calendar->bucketed_count == 0) {
            make_buckets(calendar);
        } else {
            bring_buckets(queue);
        }
        remember_first(queue);
    }
}

void sim_queue_tell_soon(struct sim_queue *queue, sim_queue_soon *soon, void *context)
{
    queue->soon = soon;
    queue->soon_context = context;
}

bool sim_queue_gather(struct sim_queue *queue)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    sim_queue_settle(queue);
    if (!sim_queue_gather_sources(queue))
        return false;
    for (uint32_t i = 0; i < SIM_QUEUE_LISTS; i++)
        list_into_heap(queue, &queue->lists[i], INT64_MAX);
    queue->listed_ns = SIM_QUEUE_NEVER;
    for (uint32_t i = 0; i < calendar->overflow_count; i++)
        slot_into_heap(queue, calendar->overflow[i].slot);
    for (uint32_t bucket = calendar->current; bucket < calendar->bucket_count; bucket++) {
        for (uint32_t slot = calendar->buckets[bucket], next; slot != 0; slot = next) {
            next = calendar->places[slot].next;
            slot_into_heap(queue, slot);
        }
        calendar->buckets[bucket] = 0;
    }
    calendar->overflow_count = calendar->bucketed_count = 0;
    queue->waiting_ns = queue->later_ns = SIM_QUEUE_NEVER;
    sim_queue_spill(queue);
    return true;
}

/* Creates or grows either all arrays or none. Returns false when out of memory. */
bool sim_queue_calendar_grow(struct sim_queue *queue, uint32_t capacity)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    size_t slots = (size_t)capacity + 1, kept = (size_t)queue->slots_used + 1;
    struct sim_queue_place *places = sim_memory_take(slots * sizeof *places);
    struct sim_queue_overflow *overflow = sim_memory_take(slots * sizeof *overflow);
    uint32_t *buckets = sim_memory_take((size_t)buckets_for(capacity) * sizeof *buckets);
    struct sim_queue_wait *rings = NULL;
    if (calendar->places == NULL)
        rings = sim_memory_take((size_t)SIM_QUEUE_LISTS * SIM_QUEUE_ROOM * sizeof *rings);
    if (places == NULL || overflow == NULL || buckets == NULL ||
        (rings == NULL && calendar->places == NULL)) {
        free(places);
        free(overflow);
        free(buckets);
        free(rings);
        return false;
    }
    if (calendar->places == NULL) {
        queue->rings = rings;
        for (uint32_t i = 0; i < SIM_QUEUE_LISTS; i++)
            queue->lists[i] =
                (struct sim_queue_list){.waits = rings + (size_t)i * SIM_QUEUE_ROOM, .room = SIM_QUEUE_ROOM};
        calendar->begin_ns = queue->now_ns;
        memset(places, 0, slots * sizeof *places);
    } else {
        memcpy(places, calendar->places, kept * sizeof *places);
        memset(places + kept, 0, (slots - kept) * sizeof *places);
        memcpy(overflow, calendar->overflow, calendar->overflow_count * sizeof *overflow);
        memcpy(buckets, calendar->buckets, calendar->bucket_count * sizeof *buckets);
    }
    free(calendar->places);
    free(calendar->overflow);
    free(calendar->buckets);
    calendar->places = places;
    calendar->overflow = overflow;
    calendar->buckets = buckets;
    return true;
}
