/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event queue alone: ns per hold, and an M/M/1 queue of customers. */
#include <stdlib.h>

#include "bench.h"
#include "kernel/queue.h"
#include "kernel/sampler.h"

/* ns per hold, after three holds for each pending event. */
bool bench_hold(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result)
{
    const uint32_t pending = (uint32_t)bench_size(context, bench->keys, 1000);
    const uint64_t holds = (uint64_t)bench_size(context, bench->rows, 5000);
    struct hold hold = {.gaps = bench->gaps, .has_timeouts = bench->has_timeouts};
    hold_begin(&hold, pending);
    hold_go_on(&hold, 3 * (uint64_t)pending);
    bench_note_peak(result);
    for (uint32_t i = 0; i < result->run_count; i++) {
        const double from = bench_processor_s();
        hold_go_on(&hold, holds);
        result->runs[i].value = (bench_processor_s() - from) * 1e9 / (double)holds;
    }
    hold_end(&hold);
    return true;
}

/* Million customers per second. */
bool bench_customers(const struct bench_case *bench, const struct bench_context *context,
                     struct bench_result *result)
{
    const uint64_t count = (uint64_t)bench_size(context, bench->rows, 10000);
    for (uint32_t i = 0; i < result->run_count; i++)
        result->runs[i].value = 1e3 / bench_customer_ns(count);
    return true;
}

enum { CUSTOMER_COMES, CUSTOMER_GOES, LINE = 65536 };

static int64_t draw_ns(struct sim_random *random, double mean_ns)
{
    return (int64_t)(sim_exponential(random) * mean_ns);
}

/* The load is 0.9. The line holds the arrival times of the customers in the system. */
double bench_customer_ns(uint64_t count)
{
    static int64_t line[LINE];
    struct sim_queue queue;
    if (!sim_queue_create(2, 0, &queue))
        exit(3);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    struct sim_random stream = random;
    const double gap_ns = 1e9 / 0.9, service_ns = 1e9;
    uint64_t came = 0, gone = 0;
    int64_t time, sojourn = 0;
    const double from = bench_processor_s();
    sim_queue_push(&queue, 0, &(struct sim_event){.kind = CUSTOMER_COMES});
    struct sim_event event;
    while (gone < count && sim_queue_pop(&queue, &time, &event)) {
        switch (event.kind) {
        case CUSTOMER_COMES:
            sim_queue_push(&queue, time + draw_ns(&stream, gap_ns), &event);
            if (came - gone == LINE)
                exit(3);
            line[came++ % LINE] = time;
            if (came - gone == 1)
                sim_queue_push(&queue, time + draw_ns(&stream, service_ns),
                               &(struct sim_event){.kind = CUSTOMER_GOES});
            break;
        case CUSTOMER_GOES:
            sojourn += time - line[gone++ % LINE];
            if (came > gone)
                sim_queue_push(&queue, time + draw_ns(&stream, service_ns), &event);
            break;
        default:
            abort();
        }
    }
    const double spent = bench_processor_s() - from;
    bench_keep((uint64_t)sojourn);
    sim_queue_destroy(&queue);
    return spent * 1e9 / (double)count;
}
