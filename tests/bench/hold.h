/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hold model of a queue of pending events: pop the first of n, push one at a time drawn from there on. */
#ifndef BENCH_HOLD_H
#define BENCH_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/random.h"

enum hold_gaps {
    HOLD_EXPONENTIAL, /* of mean 1 s */
    HOLD_TIED,        /* of mean 100 ns, so that of 10^5 events some 1000 stand at each time */
    HOLD_BIMODAL,     /* nine in ten of mean 1 ms, the tenth of mean 100 s */
    HOLD_PARETO,      /* alpha 1, from 1 ms to 1000 s */
    HOLD_GAPS_COUNT
};

enum hold_queue { HOLD_OURS, HOLD_BINARY, HOLD_PAIRING, HOLD_CALENDAR, HOLD_LADDER, HOLD_QUEUES_COUNT };

struct hold {
    enum hold_queue kind;
    enum hold_gaps gaps;
    bool has_timeouts; /* each hold also cancels an event and pushes another, 1 s ahead */
    void *queue;
    struct sim_random random;
    int64_t time_ns;
    uint64_t timeout;
    uint64_t sum; /* over all that was popped: the same in each queue */
};

/* Makes the queue, with `pending` events. When out of memory it exits. */
void hold_begin(struct hold *hold, uint32_t pending);
void hold_go_on(struct hold *hold, uint64_t holds);
void hold_end(struct hold *hold);
const char *hold_name(enum hold_queue kind);

#endif
