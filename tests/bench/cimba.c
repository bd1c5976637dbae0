/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same work on the event queue of Cimba, which is not part of this project: it is built only when the
 * option BUCKETLAB_CIMBA names Cimba's folder (docs/performance.md). The draws come from this project's
 * generator, so that they cost the same. */
#include <cimba.h>

#include "bench.h"
#include "kernel/sampler.h"

enum { LINE = 65536 };

static struct sim_random stream;
static double line[LINE];
static uint64_t came, gone;
static double sojourn;

static void hold_on(void *subject, void *object)
{
    cmb_event_schedule(hold_on, subject, object, cmb_time() + sim_exponential(&stream), 0);
}

static double hold_ns(uint64_t holds)
{
    const double from = bench_processor_s();
    for (uint64_t i = 0; i < holds; i++)
        cmb_event_execute_next();
    return (bench_processor_s() - from) * 1e9 / (double)holds;
}

/* ns per hold of sim_queue, and the ratio by which Cimba takes longer; measured alternately. */
bool bench_cimba_hold(const struct bench_case *bench, const struct bench_context *context,
                      struct bench_result *result)
{
    const uint32_t pending = (uint32_t)bench_size(context, bench->keys, 1000);
    const uint64_t holds = (uint64_t)bench_size(context, bench->rows, 5000);
    struct hold ours = {.gaps = HOLD_EXPONENTIAL};
    hold_begin(&ours, pending);
    hold_go_on(&ours, 3 * (uint64_t)pending);
    bench_note_peak(result);
    sim_random_init(&stream, 1, SIM_ARRIVAL, 0);
    cmb_event_queue_initialize(0.0);
    for (uint32_t i = 0; i < pending; i++)
        cmb_event_schedule(hold_on, NULL, NULL, sim_exponential(&stream), 0);
    hold_ns(3 * (uint64_t)pending);
    for (uint32_t i = 0; i < result->run_count; i++) {
        const double from = bench_processor_s();
        hold_go_on(&ours, holds);
        struct bench_sample *sample = &result->runs[i];
        sample->value = (bench_processor_s() - from) * 1e9 / (double)holds;
        sample->beside = hold_ns(holds);
        sample->ratio = sample->beside / sample->value;
    }
    cmb_event_queue_terminate();
    hold_end(&ours);
    return true;
}

static void customer_goes(void *subject, void *object)
{
    sojourn += cmb_time() - line[gone++ % LINE];
    if (came > gone)
        cmb_event_schedule(customer_goes, subject, object, cmb_time() + sim_exponential(&stream), 0);
}

static void customer_comes(void *subject, void *object)
{
    cmb_event_schedule(customer_comes, subject, object, cmb_time() + sim_exponential(&stream) / 0.9, 0);
    line[came++ % LINE] = cmb_time();
    if (came - gone == 1)
        cmb_event_schedule(customer_goes, subject, object, cmb_time() + sim_exponential(&stream), 0);
}

/* Million customers per second on sim_queue, and the ratio by which Cimba takes longer with plain events. */
bool bench_cimba_customers(const struct bench_case *bench, const struct bench_context *context,
                           struct bench_result *result)
{
    const uint64_t count = (uint64_t)bench_size(context, bench->rows, 10000);
    for (uint32_t i = 0; i < result->run_count; i++) {
        struct bench_sample *sample = &result->runs[i];
        sample->value = 1e3 / bench_customer_ns(count);
        came = gone = 0;
        sim_random_init(&stream, 1, SIM_ARRIVAL, 0);
        cmb_event_queue_initialize(0.0);
        cmb_event_schedule(customer_comes, NULL, NULL, 0.0, 0);
        const double from = bench_processor_s();
        while (gone < count)
            cmb_event_execute_next();
        sample->beside = (double)count / (bench_processor_s() - from) / 1e6;
        sample->ratio = sample->value / sample->beside;
        cmb_event_queue_terminate();
    }
    return sojourn > 0;
}
