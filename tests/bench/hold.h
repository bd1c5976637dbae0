/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hold model of a queue of pending events: pop the first of n events, then push one at a random later
 * time. */
#ifndef BENCH_HOLD_H
#define BENCH_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/queue.h"
#include "kernel/random.h"

enum hold_gaps {
    HOLD_EXPONENTIAL, /* mean 1 s */
    HOLD_TIED,        /* mean 100 ns, so that about 1000 of 10^5 events have the same time */
    HOLD_BIMODAL,     /* nine in ten with mean 1 ms, the tenth with mean 100 s */
    HOLD_PARETO,      /* alpha 1, from 1 ms to 1000 s */
    HOLD_GAPS_COUNT
};

struct hold {
    enum hold_gaps gaps;
    bool has_timeouts; /* each hold also cancels an event and pushes another, 1 s ahead */
    struct sim_queue queue;
    struct sim_random random;
    int64_t time_ns;
    uint64_t timeout;
    uint64_t sum; /* a checksum of all popped events, so that the work is not left out */
};

/* Creates the queue with `pending` events. Exits when out of memory. */
void hold_begin(struct hold *hold, uint32_t pending);
void hold_go_on(struct hold *hold, uint64_t holds);
void hold_end(struct hold *hold);

#endif
