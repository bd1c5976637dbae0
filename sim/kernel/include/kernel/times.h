/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sorted list of times, for counting how many of them are below a time. Adding a time moves each later one,
 * so times should be added nearly in order; counting is a binary search. A list of all zeros is empty. */
#ifndef KERNEL_TIMES_H
#define KERNEL_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_times {
    int64_t *items;
    size_t begin, end, capacity;
};

/* Adds a time. Returns false, and adds nothing, when out of memory. */
bool sim_times_add(struct sim_times *times, int64_t time_ns);
/* The number of times before time_ns. */
uint64_t sim_times_below(const struct sim_times *times, int64_t time_ns);
/* Removes the times before time_ns. Times before it may be added afterwards. */
void sim_times_drop(struct sim_times *times, int64_t time_ns);
void sim_times_clear(struct sim_times *times);

#endif
