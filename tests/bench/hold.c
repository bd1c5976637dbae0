/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hold model (hold.h). */
#include "hold.h"

#include <stdlib.h>

#include "kernel/sampler.h"
#include "kernel/time.h"
#include "rival_binary.h"
#include "rival_calendar.h"
#include "rival_ladder.h"
#include "rival_pairing.h"

#define INLINED static inline __attribute__((always_inline))

static void ours_create(void *queue)
{
    if (!sim_queue_create(RIVAL_CAPACITY, 0, queue))
        exit(3);
}

static void ours_destroy(void *queue)
{
    sim_queue_destroy(queue);
}

INLINED uint64_t ours_push(void *queue, int64_t time_ns, const struct sim_event *event)
{
    return sim_queue_push(queue, time_ns, event);
}

INLINED uint64_t ours_push_later(void *queue, int64_t time_ns, const struct sim_event *event)
{
    return sim_queue_push_later(queue, time_ns, event);
}

INLINED bool ours_pop(void *queue, int64_t *time_ns, struct sim_event *event)
{
    return sim_queue_pop(queue, time_ns, event);
}

INLINED bool ours_cancel(void *queue, uint64_t handle)
{
    return sim_queue_cancel(queue, handle);
}

static const struct rival ours = {
    .name = "4-ary heap (ours)",
    .bytes = sizeof(struct sim_queue),
    .create = ours_create,
    .destroy = ours_destroy,
    .push = ours_push,
    .push_later = ours_push_later,
    .pop = ours_pop,
    .cancel = ours_cancel,
};

static const struct rival *const queues[HOLD_QUEUES_COUNT] = {
    [HOLD_OURS] = &ours,
    [HOLD_BINARY] = &rival_binary,
    [HOLD_PAIRING] = &rival_pairing,
    [HOLD_CALENDAR] = &rival_calendar,
    [HOLD_LADDER] = &rival_ladder,
};

INLINED int64_t draw_ns(struct sim_random *random, enum hold_gaps gaps)
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

/* Inlined for each queue: the compiler then knows *rival and calls its functions directly. */
INLINED void hold_on(const struct rival *rival, struct hold *hold, uint64_t holds)
{
    struct sim_random random = hold->random;
    struct sim_event event = {.kind = 1};
    for (uint64_t i = 0; i < holds; i++) {
        rival->pop(hold->queue, &hold->time_ns, &event);
        hold->sum = hold->sum * 3 + (event.a ^ (uint64_t)hold->time_ns);
        event.a++;
        rival->push(hold->queue, hold->time_ns + draw_ns(&random, hold->gaps), &event);
        if (hold->has_timeouts) {
            rival->cancel(hold->queue, hold->timeout);
            hold->timeout = (rival->push_later != NULL ? rival->push_later : rival->push)(
                hold->queue, hold->time_ns + SIM_SECOND, &event);
        }
    }
    hold->random = random;
}

void hold_begin(struct hold *hold, uint32_t pending)
{
    const struct rival *rival = queues[hold->kind];
    hold->queue = malloc(rival->bytes);
    if (hold->queue == NULL)
        exit(3);
    rival->create(hold->queue);
    sim_random_init(&hold->random, 1, SIM_ARRIVAL, 0);
    for (uint32_t i = 0; i < pending; i++)
        rival->push(hold->queue, draw_ns(&hold->random, hold->gaps), &(struct sim_event){.a = i});
}

void hold_go_on(struct hold *hold, uint64_t holds)
{
    switch (hold->kind) {
    case HOLD_OURS:
        hold_on(&ours, hold, holds);
        break;
    case HOLD_BINARY:
        hold_on(&rival_binary, hold, holds);
        break;
    case HOLD_PAIRING:
        hold_on(&rival_pairing, hold, holds);
        break;
    case HOLD_CALENDAR:
        hold_on(&rival_calendar, hold, holds);
        break;
    default:
        hold_on(&rival_ladder, hold, holds);
        break;
    }
}

void hold_end(struct hold *hold)
{
    queues[hold->kind]->destroy(hold->queue);
    free(hold->queue);
}

const char *hold_name(enum hold_queue kind)
{
    return queues[kind]->name;
}
