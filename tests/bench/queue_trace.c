/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would the cluster engine gain by a ladder queue? Runs a scenario with the engine's own queue and with
 * a ladder queue in its place, in turn; and records the operations of all its queues and performs them again
 * on both, without the engine. All times are processor time of this process.
 *
 *   bucketlab_queue_trace SCENARIO ROUNDS
 *
 * The first line of the output has the number of operations, of pushes of each kind, of pops and cancels, and
 * the most events that were pending. Each round adds a line: seconds of the operations alone on our queue and
 * on the ladder, then of the run with each of them. It fails when the ladder gives other events.
 *
 *   bucketlab_queue_trace SCENARIO ROUNDS LOOKAHEAD_NS
 *
 * What would one strategy gain by a second core? This is the best case of conservative windows: the recorded
 * events are handled in windows that begin at the next event and last LOOKAHEAD_NS. Each event takes the mean
 * time of an event of the run, and costs nothing to hand over. Both threads always have the same share of a
 * window, give or take one event, and wait for each other at its end. The first line of the output has the
 * number of events and of windows. Each round adds a line: seconds by the clock of one thread and of two. */
#define _POSIX_C_SOURCE 200809L
#define QUEUE_TRACE_ITSELF
#include "queue_trace.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/run.h"
#include "rival_ladder.h"

#define INLINED static inline __attribute__((always_inline))

enum mode { PASS, RECORD, LADDER };
enum operation { CREATE, PUSH, PUSH_LATER, PUSH_AFTER, POP, CANCEL, OPERATIONS };
enum { OPERATION_BITS = 3 };

/* An operation is its kind, below its value: the capacity of a new queue, the time from now to a pushed
 * or popped event, or the number of the push that is cancelled. */
static struct {
    enum mode mode;
    struct rival_ladder ladder;
    bool has_ladder;
    uint64_t *operations;
    size_t count, capacity;
    uint64_t counts[OPERATIONS];
    uint32_t pending_max;
    uint64_t pushes_max; /* of one queue */
} trace;

static void *grown(void *array, size_t bytes)
{
    void *larger = realloc(array, bytes);
    if (larger == NULL)
        exit(3);
    return larger;
}

static void record(const struct sim_queue *queue, enum operation kind, uint64_t value)
{
    if (trace.count == trace.capacity) {
        trace.capacity = trace.capacity == 0 ? 1 << 20 : 2 * trace.capacity;
        trace.operations = grown(trace.operations, trace.capacity * sizeof *trace.operations);
    }
    trace.operations[trace.count++] = value << OPERATION_BITS | kind;
    trace.counts[kind]++;
    if (sim_queue_count(queue) > trace.pending_max)
        trace.pending_max = sim_queue_count(queue);
    if (sim_queue_pushed(queue) > trace.pushes_max)
        trace.pushes_max = sim_queue_pushed(queue);
}

static void end_ladder(void)
{
    if (trace.has_ladder)
        rival_ladder.destroy(&trace.ladder);
    trace.has_ladder = false;
}

/* With a ladder, our own queue holds only the clock and the counts, because the engine reads them. */
bool queue_trace_create(uint32_t capacity, int64_t start_ns, struct sim_queue *queue)
{
    if (!sim_queue_create(capacity, start_ns, queue))
        return false;
    if (trace.mode == RECORD)
        record(queue, CREATE, capacity);
    if (trace.mode == LADDER) {
        end_ladder();
        rival_ladder.create(&trace.ladder);
        trace.has_ladder = true;
    }
    return true;
}

static uint64_t push_on_ladder(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    queue->sequence++;
    queue->count++;
    return rival_ladder.push(&trace.ladder, time_ns, event);
}

static uint64_t recorded(const struct sim_queue *queue, enum operation kind, int64_t delay_ns,
                         uint64_t handle)
{
    if (trace.mode == RECORD)
        record(queue, kind, (uint64_t)delay_ns);
    return handle;
}

uint64_t queue_trace_push(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    if (trace.mode == LADDER)
        return push_on_ladder(queue, time_ns, event);
    return recorded(queue, PUSH, time_ns - queue->now_ns, sim_queue_push(queue, time_ns, event));
}

uint64_t queue_trace_push_later(struct sim_queue *queue, int64_t time_ns, const struct sim_event *event)
{
    if (trace.mode == LADDER)
        return push_on_ladder(queue, time_ns, event);
    return recorded(queue, PUSH_LATER, time_ns - queue->now_ns, sim_queue_push_later(queue, time_ns, event));
}

uint64_t queue_trace_push_after(struct sim_queue *queue, int64_t delay_ns, const struct sim_event *event)
{
    if (trace.mode == LADDER)
        return push_on_ladder(queue, queue->now_ns + delay_ns, event);
    return recorded(queue, PUSH_AFTER, delay_ns, sim_queue_push_after(queue, delay_ns, event));
}

/* A ladder queue has no sources. So that both queues get the same operations, their events wait in the
 * calendar. */
bool queue_trace_push_source(struct sim_queue *queue, int64_t time_ns, uint32_t source)
{
    const struct sim_event event = {.kind = queue->sources.kind, .target = source};
    return queue_trace_push_later(queue, time_ns, &event) != 0;
}

bool queue_trace_pop(struct sim_queue *queue, int64_t *out_time_ns, struct sim_event *out_event)
{
    const int64_t before_ns = queue->now_ns;
    if (trace.mode == LADDER) {
        if (!rival_ladder.pop(&trace.ladder, out_time_ns, out_event))
            return false;
        queue->now_ns = *out_time_ns;
        queue->count--;
        return true;
    }
    const bool is_there = sim_queue_pop(queue, out_time_ns, out_event);
    if (is_there && trace.mode == RECORD)
        record(queue, POP, (uint64_t)(*out_time_ns - before_ns));
    return is_there;
}

bool queue_trace_cancel(struct sim_queue *queue, uint64_t handle)
{
    if (trace.mode == LADDER) {
        const bool is_there = handle != 0 && rival_ladder.cancel(&trace.ladder, handle);
        queue->count -= is_there;
        return is_there;
    }
    if (handle != 0 && trace.mode == RECORD)
        record(queue, CANCEL, handle >> SIM_QUEUE_SLOT_BITS);
    return sim_queue_cancel(queue, handle);
}

struct replay {
    struct sim_queue ours;
    struct rival_ladder ladder;
    uint64_t *handles; /* by the number of the push */
    uint64_t sum;      /* a checksum of all popped events */
    bool is_wrong;     /* an event had another time than in the engine */
};

INLINED void create(struct replay *replay, bool is_ladder, bool is_first, uint32_t capacity)
{
    if (is_ladder) {
        if (!is_first)
            rival_ladder.destroy(&replay->ladder);
        rival_ladder.create(&replay->ladder);
        return;
    }
    if (!is_first)
        sim_queue_destroy(&replay->ours);
    if (!sim_queue_create(capacity, 0, &replay->ours))
        exit(3);
}

/* Inlined once for each of the two queues, so that the loop does not test which one it is. */
INLINED void replay_on(struct replay *replay, bool is_ladder)
{
    int64_t now_ns = 0;
    uint64_t sum = 0, wrong = 0, pushes = 0;
    struct sim_event event = {.kind = 1};
    for (size_t i = 0; i < trace.count; i++) {
        const enum operation kind = trace.operations[i] & ((1 << OPERATION_BITS) - 1);
        const uint64_t value = trace.operations[i] >> OPERATION_BITS;
        switch (kind) {
        case CREATE:
            create(replay, is_ladder, i == 0, (uint32_t)value);
            now_ns = 0;
            pushes = 0;
            break;
        case POP: {
            const int64_t before_ns = now_ns;
            wrong |= is_ladder ? !rival_ladder.pop(&replay->ladder, &now_ns, &event)
                               : !sim_queue_pop(&replay->ours, &now_ns, &event);
            wrong |= value ^ (uint64_t)(now_ns - before_ns);
            sum = sum * 3 + event.a;
            break;
        }
        case CANCEL:
            if (is_ladder)
                rival_ladder.cancel(&replay->ladder, replay->handles[value]);
            else
                sim_queue_cancel(&replay->ours, replay->handles[value]);
            break;
        default:
            event.a = pushes;
            replay->handles[pushes++] =
                is_ladder            ? rival_ladder.push(&replay->ladder, now_ns + (int64_t)value, &event)
                : kind == PUSH       ? sim_queue_push(&replay->ours, now_ns + (int64_t)value, &event)
                : kind == PUSH_LATER ? sim_queue_push_later(&replay->ours, now_ns + (int64_t)value, &event)
                                     : sim_queue_push_after(&replay->ours, (int64_t)value, &event);
        }
    }
    replay->sum = sum;
    replay->is_wrong = wrong != 0;
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double processor_s(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* Seconds of all recorded operations; *sum gets the checksum of the events. */
static double replay_s(bool is_ladder, uint64_t *handles, uint64_t *sum)
{
    struct replay replay = {.handles = handles};
    const double from = processor_s();
    if (is_ladder)
        replay_on(&replay, true);
    else
        replay_on(&replay, false);
    const double spent = processor_s() - from;
    if (is_ladder)
        rival_ladder.destroy(&replay.ladder);
    else
        sim_queue_destroy(&replay.ours);
    if (replay.is_wrong) {
        fprintf(stderr, "queue_trace: an event came at another time than in the engine\n");
        exit(1);
    }
    *sum = replay.sum;
    return spent;
}

/* Seconds of a run; *sum gets the digests of the events of all strategies. */
static double run_s(const struct lab_scenario *scenario, enum mode mode, uint64_t *sum)
{
    struct lab_result *made;
    struct sim_error error;
    trace.mode = mode;
    const double from = processor_s();
    if (!lab_run(scenario, 1, NULL, &made, &error)) {
        fprintf(stderr, "queue_trace: %s\n", error.text);
        exit(1);
    }
    end_ladder();
    const double spent = processor_s() - from;
    *sum = 0;
    for (size_t i = 0; i < made->strategy_count; i++)
        *sum = *sum * 3 + made->strategies[i].events.digest;
    lab_result_destroy(made);
    return spent;
}

static void refuse_others(uint64_t ours, uint64_t theirs)
{
    if (ours == theirs)
        return;
    fprintf(stderr, "queue_trace: the ladder queue gave other events\n");
    exit(1);
}

/* What two threads share: each one tells the other how many windows it has finished. */
struct windows {
    const uint32_t *events; /* by window */
    size_t count;
    uint64_t loops; /* of an event's work */
    uint32_t threads;
    struct {
        _Alignas(64) atomic_size_t count; /* in a line of its own */
        uint64_t outcome;
    } done[2];
};

struct worker {
    struct windows *windows;
    uint32_t number;
};

/* Work that a processor can neither leave out nor do in parallel. */
static uint64_t work(uint64_t loops, uint64_t from)
{
    for (uint64_t i = 0; i < loops; i++)
        from = from * 6364136223846793005U + 1442695040888963407U;
    return from;
}

static void *work_windows(void *context)
{
    const struct worker *worker = context;
    struct windows *windows = worker->windows;
    const uint32_t me = worker->number;
    const bool is_shared = windows->threads == 2;
    uint64_t outcome = me;
    for (size_t i = 0; i < windows->count; i++) {
        /* Who gets the odd event changes from window to window. */
        const uint64_t events = windows->events[i], half = (events + ((i & 1) == me)) / 2;
        outcome = work(windows->loops * (is_shared ? half : events), outcome);
        if (!is_shared)
            continue;
        atomic_store_explicit(&windows->done[me].count, i + 1, memory_order_release);
        for (uint32_t spins = 0;
             atomic_load_explicit(&windows->done[1 - me].count, memory_order_acquire) <= i;)
            if (++spins % 4096 == 0) /* some microseconds: the other thread is not on a processor */
                sched_yield();
    }
    windows->done[me].outcome = outcome;
    return NULL;
}

/* Seconds by the clock in which this many threads handle all windows. */
static double windows_s(struct windows *windows, uint32_t threads)
{
    struct worker workers[2] = {{windows, 0}, {windows, 1}};
    pthread_t other;
    windows->threads = threads;
    for (size_t i = 0; i < 2; i++)
        atomic_store(&windows->done[i].count, 0);
    const double from = seconds(CLOCK_MONOTONIC);
    if (threads == 2 && pthread_create(&other, NULL, work_windows, &workers[1]) != 0)
        exit(3);
    work_windows(&workers[0]);
    if (threads == 2)
        pthread_join(other, NULL);
    return seconds(CLOCK_MONOTONIC) - from;
}

/* The numbers of events in the windows of the recorded run. */
static uint32_t *cut(int64_t lookahead_ns, size_t *count)
{
    uint32_t *events = grown(NULL, (trace.counts[POP] + 1) * sizeof *events);
    int64_t now_ns = 0, end_ns = 0;
    *count = 0;
    for (size_t i = 0; i < trace.count; i++) {
        const enum operation kind = trace.operations[i] & ((1 << OPERATION_BITS) - 1);
        if (kind == CREATE)
            now_ns = end_ns = 0;
        if (kind != POP)
            continue;
        now_ns += (int64_t)(trace.operations[i] >> OPERATION_BITS);
        if (now_ns >= end_ns) {
            end_ns = now_ns + lookahead_ns;
            events[(*count)++] = 0;
        }
        events[*count - 1]++;
    }
    return events;
}

static void try_windows(const struct lab_scenario *scenario, int64_t lookahead_ns, long rounds)
{
    uint64_t ignored;
    struct windows windows = {.count = 0};
    uint32_t *events = cut(lookahead_ns, &windows.count);
    const double event_s = run_s(scenario, PASS, &ignored) / (double)trace.counts[POP];
    const uint64_t loops = 20000000;
    const double from = processor_s();
    ignored = work(loops, ignored);
    windows.loops = (uint64_t)(event_s * (double)loops / (processor_s() - from)) + (ignored == 0);
    windows.events = events;
    printf("%" PRIu64 " %zu\n", trace.counts[POP], windows.count);
    for (; rounds > 0; rounds--) {
        printf("%.9f", windows_s(&windows, 1));
        printf(" %.9f\n", windows_s(&windows, 2));
    }
    free(events);
}

int main(int argc, char **argv)
{
    struct lab_scenario *scenario;
    struct sim_error error;
    if (argc != 3 && argc != 4)
        return 2;
    if (!lab_scenario_load(argv[1], NULL, 0, NULL, &scenario, &error)) {
        fprintf(stderr, "queue_trace: %s\n", error.text);
        return 2;
    }
    uint64_t ours, theirs;
    run_s(scenario, RECORD, &ours);
    if (argc == 4) {
        try_windows(scenario, strtoll(argv[3], NULL, 10), strtol(argv[2], NULL, 10));
        free(trace.operations);
        lab_scenario_destroy(scenario);
        return 0;
    }
    uint64_t *handles = grown(NULL, (trace.pushes_max + 1) * sizeof *handles);
    printf("%zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", trace.count,
           trace.counts[PUSH], trace.counts[PUSH_LATER], trace.counts[PUSH_AFTER], trace.counts[POP],
           trace.counts[CANCEL], trace.pending_max);
    for (long round = strtol(argv[2], NULL, 10); round > 0; round--) {
        printf("%.9f", replay_s(false, handles, &ours));
        printf(" %.9f", replay_s(true, handles, &theirs));
        refuse_others(ours, theirs);
        printf(" %.9f", run_s(scenario, PASS, &ours));
        printf(" %.9f\n", run_s(scenario, LADDER, &theirs));
        refuse_others(ours, theirs);
    }
    free(handles);
    free(trace.operations);
    lab_scenario_destroy(scenario);
    return 0;
}
