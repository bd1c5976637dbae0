/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of calls of the core for their caller: prints ns of processor time per call, one case per line.
 * linked.py links it with the core in several ways. */
#define _POSIX_C_SOURCE 200809L
#include <bucketing/bucketing.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS 2000000
#define BATCH 100000
#define KEYS  1000

static uint64_t ids[BATCH];
static int64_t buckets[BATCH];

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double route(const struct bk_strategy *strategy)
{
    struct bk_key_state state = {0};
    double from_ns = now_ns();
    for (int i = 0; i < CALLS; i++) {
        const struct bk_row row = {.time_ns = i, .sequence = (uint64_t)i, .id = ids[i % BATCH]};
        struct bk_placement out;
        bk_route(strategy, &state, &row, &out);
        if (bk_fires(strategy, &row))
            bk_advance(strategy, &state, &row, NULL);
    }
    return (now_ns() - from_ns) / CALLS;
}

static double bucket_of_id(void)
{
    int64_t sum = 0;
    double from_ns = now_ns();
    for (int i = 0; i < CALLS; i++)
        sum += bk_bucket_of_id(ids[i % BATCH], 64);
    double spent_ns = now_ns() - from_ns;
    return sum > 0 ? spent_ns / CALLS : 0;
}

static double route_batch(const struct bk_strategy *strategy)
{
    struct bk_key_state state = {0};
    const struct bk_rows rows = {.ids = ids};
    double from_ns = now_ns();
    for (int i = 0; i < 20 * CALLS / BATCH; i++)
        bk_route_batch(strategy, &state, &rows, BATCH, buckets);
    return (now_ns() - from_ns) / (20.0 * CALLS);
}

/* A write whose bucket is in the cache: the put, its outcome, and the acknowledgement. */
static double agent_write(const struct bk_strategy *strategy)
{
    struct bk_agent_config config = bk_agent_config_default(strategy);
    config.coordination = BK_THREE_STATE;
    size_t size = bk_agent_size(&config);
    void *memory = malloc(size);
    struct bk_agent *agent;
    if (memory == NULL || bk_agent_init(memory, size, &config, &agent) != BK_OK)
        exit(1);
    double from_ns = now_ns();
    for (int i = 0; i < CALLS; i++) {
        const struct bk_row row = {.time_ns = i, .sequence = (uint64_t)i, .id = ids[i % BATCH] | 1};
        struct bk_action action;
        uint32_t operation;
        bk_agent_write(agent, i, (uint64_t)i % KEYS, &row, &operation);
        while (bk_agent_next(agent, &action)) {
            const struct bk_outcome applied = {.kind = BK_OUTCOME_APPLIED};
            if (action.kind != BK_ACT_ACK && action.kind != BK_ACT_DONE)
                bk_agent_report(agent, i, action.ticket, &applied);
        }
    }
    double spent_ns = now_ns() - from_ns;
    free(memory);
    return spent_ns / CALLS;
}

int main(void)
{
    struct bk_strategy strategy;
    bk_strategy_probabilistic(9, 40, &strategy);
    for (uint64_t i = 0; i < BATCH; i++)
        ids[i] = bk_murmur3_128_u64(i).h1;
    printf("bk_route() of a row, bk_fires()\t%.3f\n", route(&strategy));
    printf("bk_bucket_of_id()\t%.3f\n", bucket_of_id());
    printf("bk_route_batch(), a row\t%.3f\n", route_batch(&strategy));
    printf("an agent's write\t%.3f\n", agent_write(&strategy));
}
