/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an event costs in the queue: the hold model (pop the first of n pending events, push one at a time
 * drawn from there on), the same with many ties, the same with a timeout that is pushed and cancelled each
 * time, and a queue of customers (M/M/1, load 0.9) as plain events. Beside each hold stands a textbook binary
 * heap of whole events, timed in turn in this process, so that the ratio carries from one machine to another.
 * Usage: bucketlab_queue_bench [--json] [--million HOLDS] */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "kernel/queue.h"
#include "kernel/sampler.h"
#include "kernel/time.h"

#define REPEATS 5

struct bench_case {
    const char *name;
    uint32_t pending;
    double mean_ns;
    bool has_timeouts;
};

static const struct bench_case cases[] = {
    {"hold, 10^3 pending", 1000, 1e9, false},
    {"hold, 10^5 pending", 100000, 1e9, false},
    {"hold, 10^6 pending", 1000000, 1e9, false},
    {"hold, 10^5 pending, 1000 events a time", 100000, 100, false},
    {"hold and timeout, 10^3 pending", 1000, 1e9, true},
    {"hold and timeout, 10^5 pending", 100000, 1e9, true},
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values)
{
    qsort(values, REPEATS, sizeof *values, compare);
    return values[REPEATS / 2];
}

static int64_t draw_ns(struct sim_random *random, double mean_ns)
{
    return (int64_t)(sim_exponential(random) * mean_ns);
}

/* Nanoseconds a hold; *out keeps the work from being left out. */
static double hold_queue(const struct bench_case *bench, uint64_t holds, uint64_t *out)
{
    struct sim_queue queue;
    if (!sim_queue_create(4 * bench->pending, 0, &queue))
        exit(3);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    struct sim_event event = {.kind = 1};
    for (uint32_t i = 0; i < bench->pending; i++)
        sim_queue_push(&queue, draw_ns(&random, bench->mean_ns), &event);
    int64_t time = 0;
    uint64_t sum = 0, timeout = 0;
    double begin = 0;
    uint64_t warm = 3 * (uint64_t)bench->pending;
    for (uint64_t i = 0; i < warm + holds; i++) {
        if (i == warm)
            begin = now_s();
        sim_queue_pop(&queue, &time, &event);
        sum += event.a++;
        sim_queue_push(&queue, time + draw_ns(&random, bench->mean_ns), &event);
        if (bench->has_timeouts) {
            sim_queue_cancel(&queue, timeout);
            timeout = sim_queue_push(&queue, time + SIM_SECOND, &event);
        }
    }
    double spent = now_s() - begin;
    *out += sum + (uint64_t)time;
    sim_queue_destroy(&queue);
    return spent * 1e9 / (double)holds;
}

struct whole_event {
    int64_t time_ns;
    uint64_t sequence;
    struct sim_event event;
};

struct textbook {
    struct whole_event *heap; /* root at 1 */
    size_t count;
    uint64_t sequence;
};

static bool comes_before(const struct whole_event *a, const struct whole_event *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->sequence < b->sequence);
}

static void textbook_push(struct textbook *queue, int64_t time_ns, const struct sim_event *event)
{
    struct whole_event item = {time_ns, queue->sequence++, *event};
    size_t i = ++queue->count;
    for (; i > 1 && comes_before(&item, &queue->heap[i / 2]); i /= 2)
        queue->heap[i] = queue->heap[i / 2];
    queue->heap[i] = item;
}

static int64_t textbook_pop(struct textbook *queue, struct sim_event *event)
{
    struct whole_event first = queue->heap[1], item = queue->heap[queue->count--];
    size_t i = 1;
    for (size_t child; (child = 2 * i) <= queue->count; i = child) {
        if (child < queue->count && comes_before(&queue->heap[child + 1], &queue->heap[child]))
            child++;
        if (!comes_before(&queue->heap[child], &item))
            break;
        queue->heap[i] = queue->heap[child];
    }
    queue->heap[i] = item;
    *event = first.event;
    return first.time_ns;
}

static double hold_textbook(const struct bench_case *bench, uint64_t holds, uint64_t *out)
{
    struct textbook queue = {.heap = malloc((bench->pending + 2) * sizeof *queue.heap)};
    if (queue.heap == NULL)
        exit(3);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    struct sim_event event = {.kind = 1};
    for (uint32_t i = 0; i < bench->pending; i++)
        textbook_push(&queue, draw_ns(&random, bench->mean_ns), &event);
    int64_t time = 0;
    uint64_t sum = 0;
    double begin = 0;
    uint64_t warm = 3 * (uint64_t)bench->pending;
    for (uint64_t i = 0; i < warm + holds; i++) {
        if (i == warm)
            begin = now_s();
        time = textbook_pop(&queue, &event);
        sum += event.a++;
        textbook_push(&queue, time + draw_ns(&random, bench->mean_ns), &event);
    }
    double spent = now_s() - begin;
    *out += sum + (uint64_t)time;
    free(queue.heap);
    return spent * 1e9 / (double)holds;
}

enum { CUSTOMER_COMES, CUSTOMER_GOES };
#define LINE 65536

/* Nanoseconds a customer. The line holds the times of arrival of those in the system. */
static double customers(uint64_t count, uint64_t *out)
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
    double begin = now_s();
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
    double spent = now_s() - begin;
    *out += (uint64_t)sojourn;
    sim_queue_destroy(&queue);
    return spent * 1e9 / (double)count;
}

static uint64_t peak_memory_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss;
}

int main(int argc, char **argv)
{
    bool as_json = false;
    uint64_t holds = 5000000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            as_json = true;
        } else if (strcmp(argv[i], "--million") == 0 && i + 1 < argc) {
            holds = strtoull(argv[++i], NULL, 10) * 1000000;
        } else {
            fprintf(stderr, "usage: bucketlab_queue_bench [--json] [--million HOLDS]\n");
            return 2;
        }
    }
    if (holds == 0)
        return 2;
    uint64_t sink = 0;
    if (!as_json)
        printf("%-44s %9s %9s %7s %10s\n", "event queue", "ns", "textbook", "ratio", "peak MiB");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ours[REPEATS], textbook[REPEATS], ratio[REPEATS];
        for (int j = 0; j < REPEATS; j++) {
            ours[j] = hold_queue(&cases[i], holds, &sink);
            textbook[j] = hold_textbook(&cases[i], holds, &sink);
            ratio[j] = ours[j] / textbook[j];
        }
        double ours_median = median(ours), textbook_median = median(textbook), ratio_median = median(ratio);
        if (as_json)
            printf("%s{\"name\":\"%s\",\"holds\":%" PRIu64 ",\"ns_per_hold\":%.3f,"
                   "\"textbook_ns_per_hold\":%.3f,\"ratio\":%.3f,\"peak_kib\":%" PRIu64 "}",
                   i == 0 ? "[" : ",\n ", cases[i].name, holds, ours_median, textbook_median, ratio_median,
                   peak_memory_kib());
        else
            printf("%-44s %9.2f %9.2f %7.2f %10.1f\n", cases[i].name, ours_median, textbook_median,
                   ratio_median, (double)peak_memory_kib() / 1024);
        fflush(stdout);
    }
    double customer[REPEATS];
    for (int j = 0; j < REPEATS; j++)
        customer[j] = customers(2 * holds, &sink);
    double customer_ns = median(customer);
    if (as_json)
        printf(",\n {\"name\":\"M/M/1\",\"customers\":%" PRIu64
               ",\"ns_per_customer\":%.3f,\"million_customers_per_s\":%.3f}]\n",
               2 * holds, customer_ns, 1e3 / customer_ns);
    else
        printf("%-44s %9.2f %27s %.1f M/s\n", "M/M/1, a customer", customer_ns, "", 1e3 / customer_ns);
    if (!as_json)
        fprintf(stderr, "(checksum %016" PRIx64 ")\n", sink);
    return 0;
}
