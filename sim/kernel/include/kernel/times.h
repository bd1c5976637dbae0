/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sorted list of times, for counting how many lie in a span. Times come in order or nearly so: adding costs
 * as many moves as later ones are there, counting two bisections. A list of zeros is empty. */
#ifndef KERNEL_TIMES_H
#define KERNEL_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_times {
    int64_t *items;
    size_t begin, end, capacity;
};

/* False without memory; then nothing is added. */
bool sim_times_add(struct sim_times *times, int64_t time_ns);
/* How many are below. */
uint64_t sim_times_below(const struct sim_times *times, int64_t time_ns);
/* Forgets all that are below; those that come later may be below it again. */
void sim_times_drop(struct sim_times *times, int64_t time_ns);
void sim_times_clear(struct sim_times *times);

#endif
