/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sorted list of times, which counts how many lie in a span. Times come in order or nearly so: adding costs
 * one move for each later time, counting costs two bisections. A zeroed list is empty. */
#ifndef KERNEL_TIMES_H
#define KERNEL_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_times {
    int64_t *items;
    size_t begin, end, capacity;
};

/* False when out of memory; then nothing is added. */
bool sim_times_add(struct sim_times *times, int64_t time_ns);
/* The number of times before time_ns. */
uint64_t sim_times_below(const struct sim_times *times, int64_t time_ns);
/* Forgets the times before time_ns; times added later may be before it. */
void sim_times_drop(struct sim_times *times, int64_t time_ns);
void sim_times_clear(struct sim_times *times);

#endif
