/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an event costs in the queue: the hold model, with gaps of several laws, with many ties, with a timeout
 * that is pushed and cancelled each time, and a queue of customers (M/M/1, load 0.9) as plain events. Beside
 * each hold stand other structures, timed in turn in this process, so that the ratios carry from one machine
 * to another.
 * Usage: bucketlab_queue_bench [--json] [--million HOLDS] */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hold.h"
#include "kernel/queue.h"
#include "kernel/sampler.h"

#define REPEATS 5

struct bench_case {
    const char *name;
    uint32_t pending;
    enum hold_gaps gaps;
    bool has_timeouts;
};

static const struct bench_case cases[] = {
    {"exponential, 10^3", 1000, HOLD_EXPONENTIAL, false},
    {"exponential, 10^5", 100000, HOLD_EXPONENTIAL, false},
    {"exponential, 10^6", 1000000, HOLD_EXPONENTIAL, false},
    {"ties, 10^5", 100000, HOLD_TIED, false},
    {"timeouts, 10^3", 1000, HOLD_EXPONENTIAL, true},
    {"timeouts, 10^5", 100000, HOLD_EXPONENTIAL, true},
    {"bimodal, 10^3", 1000, HOLD_BIMODAL, false},
    {"bimodal, 10^5", 100000, HOLD_BIMODAL, false},
    {"bimodal, 10^6", 1000000, HOLD_BIMODAL, false},
    {"Pareto, 10^3", 1000, HOLD_PARETO, false},
    {"Pareto, 10^5", 100000, HOLD_PARETO, false},
    {"Pareto, 10^6", 1000000, HOLD_PARETO, false},
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
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

static void print_head(void)
{
    printf("%-20s", "ns a hold");
    for (enum hold_queue kind = 0; kind < HOLD_QUEUES_COUNT; kind++)
        printf(" %18s", hold_name(kind));
    printf("\n");
}

/* All queues do the same, a stretch each in turn. */
static void compare_queues(const struct bench_case *bench, uint64_t holds, bool as_json, uint64_t *out)
{
    struct hold queues[HOLD_QUEUES_COUNT];
    double spent[HOLD_QUEUES_COUNT][REPEATS];
    for (enum hold_queue kind = 0; kind < HOLD_QUEUES_COUNT; kind++) {
        queues[kind] = (struct hold){.kind = kind, .gaps = bench->gaps, .has_timeouts = bench->has_timeouts};
        hold_begin(&queues[kind], bench->pending);
        hold_go_on(&queues[kind], 3 * (uint64_t)bench->pending);
    }
    for (int j = 0; j < REPEATS; j++) {
        for (enum hold_queue kind = 0; kind < HOLD_QUEUES_COUNT; kind++) {
            double begin = now_s();
            hold_go_on(&queues[kind], holds);
            spent[kind][j] = (now_s() - begin) * 1e9 / (double)holds;
        }
    }
    if (as_json)
        printf("%s{\"name\":\"%s\",\"holds\":%" PRIu64, bench == cases ? "[" : ",\n ", bench->name, holds);
    else
        printf("%-20s", bench->name);
    for (enum hold_queue kind = 0; kind < HOLD_QUEUES_COUNT; kind++) {
        if (queues[kind].sum != queues[HOLD_OURS].sum) {
            fprintf(stderr, "bench: the %s gave other events\n", hold_name(kind));
            exit(1);
        }
        printf(as_json ? ",\"%s\":%.3f" : "%.0s %18.1f", hold_name(kind), median(spent[kind]));
        hold_end(&queues[kind]);
    }
    *out += queues[HOLD_OURS].sum;
    printf(as_json ? "}" : "\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    bool as_json = false;
    uint64_t holds = 1000000;
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
        print_head();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        compare_queues(&cases[i], holds, as_json, &sink);
    double customer[REPEATS];
    for (int j = 0; j < REPEATS; j++)
        customer[j] = customers(10 * holds, &sink);
    double customer_ns = median(customer);
    if (as_json)
        printf(",\n {\"name\":\"M/M/1\",\"customers\":%" PRIu64
               ",\"ns_per_customer\":%.3f,\"million_customers_per_s\":%.3f}]\n",
               10 * holds, customer_ns, 1e3 / customer_ns);
    else
        printf("%-44s %9.2f %27s %.1f M/s\n", "M/M/1, a customer", customer_ns, "", 1e3 / customer_ns);
    if (!as_json)
        fprintf(stderr, "(checksum %016" PRIx64 ")\n", sink);
    return 0;
}
