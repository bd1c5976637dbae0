/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A calendar queue (Brown 1988): days of 2^n ns with a sorted list each, and as many days in a year as there
 * are events, or half as many. An event is in the list of its day, whatever its year. The queue is rebuilt
 * when the number of events has doubled or halved, and, as later authors do, when the number of steps shows
 * that its days are too long or too short; the new length of a day comes from the gaps between the next
 * events. */
#ifndef BENCH_RIVAL_CALENDAR_H
#define BENCH_RIVAL_CALENDAR_H

#include <stdlib.h>

#include "rivals.h"

struct rival_calendar_node {
    int64_t time_ns;
    uint64_t handle; /* 0 when it is not pending */
    struct sim_event event;
    uint32_t next, previous; /* of a free node: the next free one */
    uint32_t unused[4];      /* padding to a cache line */
};

/* last_ns: the time of the last event, so that most pushes need not read that event. */
struct rival_calendar_day {
    uint32_t first, last;
    int64_t last_ns;
};

enum { RIVAL_CALENDAR_SAMPLE = 64, RIVAL_CALENDAR_DAYS_LEAST = 16, RIVAL_CALENDAR_STEPS = 4 };

struct rival_calendar {
    struct rival_calendar_node *nodes; /* from index 1 */
    struct rival_calendar_day *days;
    uint32_t day_count, shift; /* a power of two; a day is 1 << shift ns */
    uint32_t free_node, used, capacity, count;
    int64_t today;
    uint64_t sequence;
    uint64_t steps, operations; /* since the last rebuild */
};

static inline void rival_calendar_create(void *self)
{
    struct rival_calendar *queue = self;
    *queue = (struct rival_calendar){.day_count = RIVAL_CALENDAR_DAYS_LEAST, .shift = 20};
    queue->days = rival_grow(NULL, 0, queue->day_count * sizeof *queue->days);
}

static inline void rival_calendar_destroy(void *self)
{
    struct rival_calendar *queue = self;
    free(queue->nodes);
    free(queue->days);
}

static inline struct rival_calendar_day *rival_calendar_day_of(const struct rival_calendar *queue,
                                                               int64_t time_ns)
{
    return &queue->days[(uint64_t)(time_ns >> queue->shift) & (queue->day_count - 1)];
}

/* Events with equal times keep the order of their insertion. */
static inline void rival_calendar_insert(struct rival_calendar *queue, uint32_t i)
{
    struct rival_calendar_node *nodes = queue->nodes, *node = &nodes[i];
    struct rival_calendar_day *day = rival_calendar_day_of(queue, node->time_ns);
    uint32_t after = day->last, before = 0;
    if (after != 0 && node->time_ns < day->last_ns) {
        do {
            before = after;
            after = nodes[after].previous;
            queue->steps++;
        } while (after != 0 && node->time_ns < nodes[after].time_ns);
    }
    node->previous = after;
    node->next = before;
    if (after != 0)
        nodes[after].next = i;
    else
        day->first = i;
    if (before != 0) {
        nodes[before].previous = i;
    } else {
        day->last = i;
        day->last_ns = node->time_ns;
    }
}

static inline void rival_calendar_unlink(struct rival_calendar *queue, uint32_t i)
{
    struct rival_calendar_node *nodes = queue->nodes, *node = &nodes[i];
    struct rival_calendar_day *day = rival_calendar_day_of(queue, node->time_ns);
    if (node->previous != 0)
        nodes[node->previous].next = node->next;
    else
        day->first = node->next;
    if (node->next != 0) {
        nodes[node->next].previous = node->previous;
    } else {
        day->last = node->previous;
        day->last_ns = nodes[node->previous].time_ns;
    }
}

/* The first event, whose day becomes the current day; the queue is not empty. */
static inline uint32_t rival_calendar_first(struct rival_calendar *queue)
{
    const uint64_t mask = queue->day_count - 1;
    for (uint32_t i = 0; i < queue->day_count; i++) {
        const uint32_t first = queue->days[(uint64_t)queue->today & mask].first;
        if (first != 0 && queue->nodes[first].time_ns >> queue->shift == queue->today) {
            queue->steps += i;
            return first;
        }
        queue->today++;
    }
    uint32_t least = 0; /* there is no event within a whole year */
    for (uint32_t i = 0; i < queue->day_count; i++) {
        const uint32_t first = queue->days[i].first;
        if (first != 0 && (least == 0 || queue->nodes[first].time_ns < queue->nodes[least].time_ns))
            least = first;
    }
    queue->steps += 2 * (uint64_t)queue->day_count;
    queue->today = queue->nodes[least].time_ns >> queue->shift;
    return least;
}

/* About three times the mean gap between the next events, without the gaps above twice the mean. */
static inline uint32_t rival_calendar_shift(const int64_t *times, uint32_t count, uint32_t otherwise)
{
    if (count < 2 || times[count - 1] == times[0])
        return otherwise;
    const int64_t bound = 2 * ((times[count - 1] - times[0]) / (count - 1)) + 1;
    int64_t sum = 0, kept = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (times[i] - times[i - 1] <= bound) {
            sum += times[i] - times[i - 1];
            kept++;
        }
    }
    uint32_t shift = 0;
    for (int64_t width = 3 * sum / (kept + (kept == 0)); width > 1; width /= 2)
        shift++;
    return shift;
}

static inline void rival_calendar_remake(struct rival_calendar *queue, uint32_t day_count)
{
    uint32_t sample[RIVAL_CALENDAR_SAMPLE], sampled = 0;
    int64_t times[RIVAL_CALENDAR_SAMPLE];
    for (; sampled < RIVAL_CALENDAR_SAMPLE && sampled < queue->count; sampled++) {
        const uint32_t first = rival_calendar_first(queue);
        rival_calendar_unlink(queue, first);
        sample[sampled] = first;
        times[sampled] = queue->nodes[first].time_ns;
    }
    struct rival_calendar_day *old = queue->days;
    const uint32_t old_count = queue->day_count;
    queue->shift = rival_calendar_shift(times, sampled, queue->shift);
    queue->day_count = day_count;
    queue->days = rival_grow(NULL, 0, day_count * sizeof *queue->days);
    if (sampled > 0)
        queue->today = times[0] >> queue->shift;
    for (uint32_t i = 0; i < sampled; i++)
        rival_calendar_insert(queue, sample[i]);
    for (uint32_t i = 0; i < old_count; i++) {
        for (uint32_t node = old[i].first, next; node != 0; node = next) {
            next = queue->nodes[node].next;
            rival_calendar_insert(queue, node);
        }
    }
    free(old);
    queue->steps = queue->operations = 0;
}

static inline void rival_calendar_check(struct rival_calendar *queue)
{
    const uint32_t days = queue->day_count;
    queue->operations++;
    if (queue->count > 2 * days)
        rival_calendar_remake(queue, 2 * days);
    else if (queue->count < days / 2 && days > RIVAL_CALENDAR_DAYS_LEAST)
        rival_calendar_remake(queue, days / 2);
    else if (queue->operations > days && queue->steps > RIVAL_CALENDAR_STEPS * queue->operations)
        rival_calendar_remake(queue, days);
}

static inline uint64_t rival_calendar_push(void *self, int64_t time_ns, const struct sim_event *event)
{
    struct rival_calendar *queue = self;
    uint32_t i = queue->free_node;
    if (i != 0) {
        queue->free_node = queue->nodes[i].next;
    } else {
        if (queue->used + 1 >= queue->capacity) {
            const size_t old = queue->capacity, capacity = old == 0 ? RIVAL_CAPACITY : 2 * old;
            queue->nodes =
                rival_grow(queue->nodes, old * sizeof *queue->nodes, capacity * sizeof *queue->nodes);
            queue->capacity = (uint32_t)capacity;
        }
        i = ++queue->used;
    }
    const uint64_t handle = rival_handle(++queue->sequence, i);
    queue->nodes[i] = (struct rival_calendar_node){.time_ns = time_ns, .handle = handle, .event = *event};
    /* When the queue is empty, the current day is that of the last event. */
    if (queue->count++ == 0 || time_ns >> queue->shift < queue->today)
        queue->today = time_ns >> queue->shift;
    rival_calendar_insert(queue, i);
    rival_calendar_check(queue);
    return handle;
}

static inline void rival_calendar_drop(struct rival_calendar *queue, uint32_t i)
{
    rival_calendar_unlink(queue, i);
    queue->nodes[i].handle = 0;
    queue->nodes[i].next = queue->free_node;
    queue->free_node = i;
    queue->count--;
    rival_calendar_check(queue);
}

static inline bool rival_calendar_pop(void *self, int64_t *time_ns, struct sim_event *event)
{
    struct rival_calendar *queue = self;
    if (queue->count == 0)
        return false;
    const uint32_t first = rival_calendar_first(queue);
    *time_ns = queue->nodes[first].time_ns;
    *event = queue->nodes[first].event;
    rival_calendar_drop(queue, first);
    return true;
}

static inline bool rival_calendar_cancel(void *self, uint64_t handle)
{
    struct rival_calendar *queue = self;
    const uint32_t i = rival_slot(handle);
    if (i == 0 || i > queue->used || queue->nodes[i].handle != handle)
        return false;
    rival_calendar_drop(queue, i);
    return true;
}

static const struct rival rival_calendar = {
    .name = "calendar queue",
    .bytes = sizeof(struct rival_calendar),
    .create = rival_calendar_create,
    .destroy = rival_calendar_destroy,
    .push = rival_calendar_push,
    .pop = rival_calendar_pop,
    .cancel = rival_calendar_cancel,
};

#endif
