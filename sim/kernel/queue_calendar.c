/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the queue keeps events that were pushed for later: days of equal length, so that most pushes and
 * cancellations cost a list's links, and one heap of what comes next stays so small that it lies in the first
 * cache level.
 *
 * When all days are over, new ones are made: their length comes from the far events, of which at least half
 * get a day, one or two a day as a rule. So each event is looked at about twice, however the times lie, and
 * what is far and cancelled in between costs nothing more. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/memory.h"
#include "kernel/queue.h"

/* Days that are looked at for those with events. */
#define LOOK_AHEAD 32u

static bool is_over(const struct sim_queue_calendar *calendar, int64_t time_ns);
static bool is_far(const struct sim_queue_calendar *calendar, int64_t time_ns);
static void add_to_day(struct sim_queue_calendar *calendar, uint32_t slot);
static void add_far(struct sim_queue_calendar *calendar, uint32_t slot);
static void remember_first(struct sim_queue *queue);
static void tell_days(const struct sim_queue *queue);
static void make_days(struct sim_queue_calendar *calendar);
static void lay_out(struct sim_queue_calendar *calendar, uint32_t shift, uint32_t day_count);
static void into_heap(struct sim_queue *queue, uint32_t slot);
static uint32_t days_for(uint32_t events);

uint64_t sim_queue_push_later(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    /* What has no room to wait in need not wait. */
    if ((calendar->places == NULL && !sim_queue_calendar_grow(queue, queue->capacity)) ||
        is_over(calendar, time_ns))
        return sim_queue_push(queue, time_ns, event);
    uint64_t tie, handle = sim_queue_enter(queue, time_ns, event, &tie);
    if (handle == 0)
        return 0;
    uint32_t slot = (uint32_t)(handle & SIM_QUEUE_SLOT_MASK);
    calendar->places[slot].time_ns = time_ns;
    if (is_far(calendar, time_ns))
        add_far(calendar, slot);
    else
        add_to_day(calendar, slot);
    if (time_ns < queue->later_ns)
        queue->later_ns = time_ns;
    return handle;
}

/* Takes an event out of the calendar; false when it does not wait there. */
bool sim_queue_unwait(struct sim_queue *queue, uint32_t slot)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    struct sim_queue_place *places = calendar->places;
    if (places == NULL || places[slot].previous == 0)
        return false;
    struct sim_queue_place *place = &places[slot];
    if (is_far(calendar, place->time_ns)) {
        uint32_t last = --calendar->far_count;
        calendar->far[place->next] = calendar->far[last];
        places[calendar->far[last].slot].next = place->next;
    } else {
        uint64_t since = (uint64_t)place->time_ns - (uint64_t)calendar->begin_ns;
        uint32_t before = place->previous == slot ? 0 : place->previous;
        if (before != 0)
            places[before].next = place->next;
        else
            calendar->days[since >> calendar->day_shift] = place->next;
        if (place->next != 0)
            places[place->next].previous = before != 0 ? before : place->next;
        calendar->dated_count--;
    }
    place->previous = 0;
    if (calendar->far_count + calendar->dated_count == 0)
        queue->later_ns = INT64_MAX;
    return true;
}

/* Brings day after day into the heap, until what is left comes after the heap's first. */
void sim_queue_bring(struct sim_queue *queue)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    while (queue->heap[SIM_QUEUE_ROOT].time_ns >= queue->later_ns) {
        if (calendar->dated_count == 0)
            make_days(calendar);
        while (calendar->days[calendar->today] == 0)
            calendar->today++;
        remember_first(queue);
        if (queue->heap[SIM_QUEUE_ROOT].time_ns < queue->later_ns)
            return;
        if (queue->soon != NULL)
            tell_days(queue);
        for (uint32_t slot = calendar->days[calendar->today], next; slot != 0; slot = next) {
            next = calendar->places[slot].next;
            into_heap(queue, slot);
            calendar->dated_count--;
        }
        calendar->days[calendar->today++] = 0;
        remember_first(queue);
    }
}

void sim_queue_tell_soon(struct sim_queue *queue, sim_queue_soon *soon, void *context)
{
    queue->soon = soon;
    queue->soon_context = context;
}

void sim_queue_gather(struct sim_queue *queue)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    sim_queue_settle(queue);
    for (uint32_t i = 0; i < calendar->far_count; i++)
        into_heap(queue, calendar->far[i].slot);
    for (uint32_t day = calendar->today; day < calendar->day_count; day++) {
        for (uint32_t slot = calendar->days[day], next; slot != 0; slot = next) {
            next = calendar->places[slot].next;
            into_heap(queue, slot);
        }
        calendar->days[day] = 0;
    }
    calendar->far_count = calendar->dated_count = 0;
    queue->later_ns = INT64_MAX;
}

/* All arrays or none; makes them where there are none yet. */
bool sim_queue_calendar_grow(struct sim_queue *queue, uint32_t capacity)
{
    struct sim_queue_calendar *calendar = &queue->calendar;
    size_t slots = (size_t)capacity + 1, kept = (size_t)queue->slots_used + 1;
    struct sim_queue_place *places = sim_memory_take(slots * sizeof *places);
    struct sim_queue_far *far = sim_memory_take(slots * sizeof *far);
    uint32_t *days = sim_memory_take((size_t)days_for(capacity) * sizeof *days);
    if (places == NULL || far == NULL || days == NULL) {
        free(places);
        free(far);
        free(days);
        return false;
    }
    if (calendar->places == NULL) {
        calendar->begin_ns = queue->now_ns;
        memset(places, 0, slots * sizeof *places);
    } else {
        memcpy(places, calendar->places, kept * sizeof *places);
        memset(places + kept, 0, (slots - kept) * sizeof *places);
        memcpy(far, calendar->far, calendar->far_count * sizeof *far);
        memcpy(days, calendar->days, calendar->day_count * sizeof *days);
    }
    free(calendar->places);
    free(calendar->far);
    free(calendar->days);
    calendar->places = places;
    calendar->far = far;
    calendar->days = days;
    return true;
}

/* Its day has been brought into the heap: so must be what still comes for it. */
static bool is_over(const struct sim_queue_calendar *calendar, int64_t time_ns)
{
    return time_ns < calendar->begin_ns || ((uint64_t)time_ns - (uint64_t)calendar->begin_ns) <
                                               (uint64_t)calendar->today << calendar->day_shift;
}

/* Of a time that is not over. */
static bool is_far(const struct sim_queue_calendar *calendar, int64_t time_ns)
{
    return (uint64_t)time_ns - (uint64_t)calendar->begin_ns >= (uint64_t)calendar->day_count
                                                                   << calendar->day_shift;
}

static void add_to_day(struct sim_queue_calendar *calendar, uint32_t slot)
{
    struct sim_queue_place *place = &calendar->places[slot];
    uint64_t since = (uint64_t)place->time_ns - (uint64_t)calendar->begin_ns;
    uint32_t *first = &calendar->days[since >> calendar->day_shift];
    place->next = *first;
    place->previous = slot;
    if (*first != 0)
        calendar->places[*first].previous = slot;
    *first = slot;
    calendar->dated_count++;
}

static void add_far(struct sim_queue_calendar *calendar, uint32_t slot)
{
    struct sim_queue_place *place = &calendar->places[slot];
    place->next = calendar->far_count;
    place->previous = slot;
    if (calendar->far_count == 0 || place->time_ns < calendar->far_least_ns)
        calendar->far_least_ns = place->time_ns;
    calendar->far[calendar->far_count++] = (struct sim_queue_far){place->time_ns, slot};
}

/* A day's events come at its beginning at the earliest. */
static void remember_first(struct sim_queue *queue)
{
    const struct sim_queue_calendar *calendar = &queue->calendar;
    uint64_t over = (uint64_t)calendar->today << calendar->day_shift;
    if (calendar->dated_count > 0)
        queue->later_ns = (int64_t)((uint64_t)calendar->begin_ns + over);
    else
        queue->later_ns = calendar->far_count > 0 ? calendar->far_least_ns : INT64_MAX;
}

/* Of today, and the next two days that have events; of the third the first event's own lines are fetched. */
static void tell_days(const struct sim_queue *queue)
{
    const struct sim_queue_calendar *calendar = &queue->calendar;
    uint32_t end = calendar->day_count - calendar->today < LOOK_AHEAD ? calendar->day_count
                                                                      : calendar->today + LOOK_AHEAD;
    uint32_t days = 0;
    for (uint32_t day = calendar->today; day < end && days < 4; day++) {
        uint32_t first = calendar->days[day];
        if (first == 0)
            continue;
        if (days == 3) {
            __builtin_prefetch(&calendar->places[first]);
            __builtin_prefetch(&queue->slots[first]);
        }
        for (uint32_t slot = first; slot != 0 && days < 3; slot = calendar->places[slot].next)
            queue->soon(queue->soon_context, &queue->slots[slot].event, days);
        days++;
    }
}

/* Days for the span, a power of two, in which at least half of the far events lie. */
static void make_days(struct sim_queue_calendar *calendar)
{
    uint32_t classes[65] = {0}, count = calendar->far_count, bits = 0, covered = 0;
    const struct sim_queue_far *far = calendar->far;
    assert(count > 0);
    int64_t least_ns = far[0].time_ns;
    for (uint32_t i = 1; i < count; i++)
        least_ns = far[i].time_ns < least_ns ? far[i].time_ns : least_ns;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t since = (uint64_t)far[i].time_ns - (uint64_t)least_ns;
        classes[since == 0 ? 0 : 64 - __builtin_clzll(since)]++;
    }
    for (covered = classes[0]; covered < count - count / 2; covered += classes[++bits])
        ;
    uint32_t day_count = days_for(covered), day_bits = (uint32_t)__builtin_ctz(day_count);
    calendar->begin_ns = least_ns;
    /* Times of more than 2^63 ns from here on are far in any case. */
    bits = bits > 63 ? 63 : bits;
    lay_out(calendar, bits > day_bits ? bits - day_bits : 0, day_count);
}

static void lay_out(struct sim_queue_calendar *calendar, uint32_t shift, uint32_t day_count)
{
    uint32_t count = calendar->far_count;
    calendar->day_shift = shift;
    calendar->day_count = day_count;
    calendar->today = 0;
    memset(calendar->days, 0, day_count * sizeof *calendar->days);
    calendar->far_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sim_queue_far event = calendar->far[i];
        if (is_far(calendar, event.time_ns))
            add_far(calendar, event.slot);
        else
            add_to_day(calendar, event.slot);
    }
}

/* With the tie that it was given when it was pushed: one less for each push since. */
static void into_heap(struct sim_queue *queue, uint32_t slot)
{
    const uint64_t mask = SIM_QUEUE_TIE_END >> SIM_QUEUE_SLOT_BITS;
    struct sim_queue_place *place = &queue->calendar.places[slot];
    uint64_t since = (queue->sequence - (queue->slots[slot].stamp >> SIM_QUEUE_SLOT_BITS)) & mask;
    uint64_t tie = queue->next_tie - (since << SIM_QUEUE_SLOT_BITS);
    if (queue->is_shuffled)
        tie = sim_queue_shuffled_tie(queue, queue->sequence - since);
    place->previous = 0;
    sim_queue_rise(queue->heap, queue->end++, (struct sim_queue_item){place->time_ns, tie | slot});
}

/* A power of two, at least as many. */
static uint32_t days_for(uint32_t events)
{
    uint32_t days = 1;
    while (days < events)
        days *= 2;
    return days;
}
