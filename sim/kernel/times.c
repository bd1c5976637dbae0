/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sorted list of times that counts how many of them are below a given time. */
#include "kernel/times.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

static bool make_room(struct sim_times *times)
{
    size_t kept = times->end - times->begin;
    if ((kept > times->capacity / 2 || times->capacity == 0) &&
        !sim_grow(&times->items, &times->capacity, times->capacity + 1, sizeof *times->items))
        return false;
    if (times->begin > 0)
        memmove(times->items, times->items + times->begin, kept * sizeof *times->items);
    times->begin = 0;
    times->end = kept;
    return true;
}

bool sim_times_add(struct sim_times *times, int64_t time_ns)
{
    if (times->end == times->capacity && !make_room(times))
        return false;
    size_t at = times->end++;
    for (; at > times->begin && times->items[at - 1] > time_ns; at--)
        times->items[at] = times->items[at - 1];
    times->items[at] = time_ns;
    return true;
}

uint64_t sim_times_below(const struct sim_times *times, int64_t time_ns)
{
    size_t low = times->begin, high = times->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times->items[middle] < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low - times->begin;
}

void sim_times_drop(struct sim_times *times, int64_t time_ns)
{
    times->begin += (size_t)sim_times_below(times, time_ns);
}

void sim_times_clear(struct sim_times *times)
{
    free(times->items);
    memset(times, 0, sizeof *times);
}
