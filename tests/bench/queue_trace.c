/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What would the cluster engine gain by a ladder queue? Runs a scenario with the engine's own queue and with
 * a ladder queue in its place, in turn; and records the operations of all its queues and performs them again
 * on both, without the engine. All times are processor time of this process.
 *
 *   bucketlab_queue_trace SCENARIO ROUNDS
 *
 * The first line of the output has the number of operations, of pushes of each kind, of pops and cancels, and
 * the most events that were pending. Each round adds a line: seconds of the operations alone on our queue and
 * on the ladder, then of the run with each of them. It fails when the ladder gives other events. */
#define _POSIX_C_SOURCE 200809L
#define QUEUE_TRACE_ITSELF
#include "queue_trace.h"

#include <inttypes.h>
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

static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
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

int main(int argc, char **argv)
{
    struct lab_scenario *scenario;
    struct sim_error error;
    if (argc != 3)
        return 2;
    if (!lab_scenario_load(argv[1], NULL, 0, NULL, &scenario, &error)) {
        fprintf(stderr, "queue_trace: %s\n", error.text);
        return 2;
    }
    uint64_t ours, theirs;
    run_s(scenario, RECORD, &ours);
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
