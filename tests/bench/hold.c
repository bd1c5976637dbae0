/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hold model (hold.h). */
#include "bench.h"

#include <stdlib.h>

#include "kernel/sampler.h"
#include "kernel/time.h"

static inline int64_t draw_ns(struct sim_random *random, enum hold_gaps gaps)
{
    switch (gaps) {
    case HOLD_TIED:
        return (int64_t)(sim_exponential(random) * 100);
    case HOLD_BIMODAL: {
        const bool is_long = sim_random_next(random) % 1024 < 102;
        return (int64_t)(sim_exponential(random) * (is_long ? 1e11 : 1e6));
    }
    case HOLD_PARETO:
        return (int64_t)(1e6 / (sim_random_unit(random) + 1e-6));
    default:
        return (int64_t)(sim_exponential(random) * 1e9);
    }
}

void hold_begin(struct hold *hold, uint32_t pending)
{
    if (!sim_queue_create(1024, 0, &hold->queue))
        exit(3);
    sim_random_init(&hold->random, 1, SIM_ARRIVAL, 0);
    for (uint32_t i = 0; i < pending; i++)
        sim_queue_push(&hold->queue, draw_ns(&hold->random, hold->gaps), &(struct sim_event){.a = i});
}

void hold_go_on(struct hold *hold, uint64_t holds)
{
    struct sim_random random = hold->random;
    struct sim_event event = {.kind = 1};
    for (uint64_t i = 0; i < holds; i++) {
        sim_queue_pop(&hold->queue, &hold->time_ns, &event);
        hold->sum = hold->sum * 3 + (event.a ^ (uint64_t)hold->time_ns);
        event.a++;
        sim_queue_push(&hold->queue, hold->time_ns + draw_ns(&random, hold->gaps), &event);
        if (hold->has_timeouts) {
            sim_queue_cancel(&hold->queue, hold->timeout);
            hold->timeout = sim_queue_push_later(&hold->queue, hold->time_ns + SIM_SECOND, &event);
        }
    }
    hold->random = random;
}

void hold_end(struct hold *hold)
{
    bench_keep(hold->sum);
    sim_queue_destroy(&hold->queue);
}
