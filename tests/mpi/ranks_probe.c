/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: orders and results arrive complete, whatever their size; each number is drawn once; a rank that is
 * silent does not hold a stopped rank 0 without end. Method: a program for mpirun, which
 * prints "fine" when all checks succeed. Orders from empty to more than one part; on each rank several
 * threads draw numbers until they are spent, and the ranks send to rank 0 what they have drawn. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks/ranks.h"

#define THREADS    3u
#define NUMBERS    20000u
#define LARGE_SIZE ((size_t)70 << 20)

static const size_t sizes[] = {1, 4095, 4096, 100000, LARGE_SIZE, 2};

struct stand {
    struct ranks *ranks;
    _Atomic unsigned char *drawn;
};

static unsigned char byte_of(size_t index, size_t size)
{
    return (unsigned char)(index * 31 + index / 251 + size);
}

static void *draw_all(void *context)
{
    struct stand *stand = context;
    for (uint64_t number; (number = ranks_draw(stand->ranks)) < NUMBERS;)
        assert(stand->drawn[number]++ == 0);
    return NULL;
}

/* On rank 0: counts who drew each number. */
static void count_drawn(void *context, const struct ranks_bytes *bytes)
{
    unsigned char *count = context;
    assert(bytes->size == NUMBERS);
    for (size_t i = 0; i < NUMBERS; i++)
        count[i] = (unsigned char)(count[i] + bytes->data[i]);
}

/* Draws until no number is left, and sends what was drawn. */
static void work(struct ranks *ranks, unsigned char *count)
{
    struct stand stand = {.ranks = ranks, .drawn = calloc(NUMBERS, 1)};
    struct sim_error error = {0};
    pthread_t threads[THREADS];
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, draw_all, &stand);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    const struct ranks_bytes bytes = {(unsigned char *)(uintptr_t)stand.drawn, NUMBERS};
    if (ranks_own(ranks) == 0)
        count_drawn(count, &bytes);
    assert(ranks_gather(ranks, &bytes, count_drawn, NULL, count, &error));
    free((void *)(uintptr_t)stand.drawn);
}

static bool is_at_once(const void *context)
{
    (void)context;
    return true;
}

/* The others know by the order's size what to do; after the last one they do not answer. */
static void lead(struct ranks *ranks)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ranks_bytes order = {malloc(sizes[i]), sizes[i]};
        unsigned char *count = calloc(NUMBERS, 1);
        for (size_t j = 0; j < sizes[i]; j++)
            order.data[j] = byte_of(j, sizes[i]);
        assert(ranks_share(ranks, &order, 0));
        work(ranks, count);
        for (size_t j = 0; j < NUMBERS; j++)
            assert(count[j] == 1);
        free(count);
        free(order.data);
    }
    struct sim_error error = {0};
    assert(ranks_share(ranks, &(struct ranks_bytes){(unsigned char[]){"sleep"}, 5}, 8));
    assert(ranks_draw(ranks) == 8);
    assert(ranks_close(ranks) == 9);
    assert(ranks_draw(ranks) == RANKS_CLOSED);
    assert(!ranks_gather(ranks, &(struct ranks_bytes){0}, count_drawn, is_at_once, NULL, &error));
    assert(error.class == SIM_ERROR_ENVIRONMENT && strstr(error.text, "MPI lost a rank") != NULL);
    assert(!ranks_share(ranks, &(struct ranks_bytes){0}, 0));
}

static void follow(struct ranks *ranks)
{
    struct ranks_bytes order = {0};
    while (ranks_share(ranks, &order, 0)) {
        if (order.size == 5)
            sleep(60);
        for (size_t i = 0; i < order.size; i++)
            assert(order.data[i] == byte_of(i, order.size));
        work(ranks, NULL);
        free(order.data);
        order = (struct ranks_bytes){0};
    }
}

int main(int argc, char **argv)
{
    struct ranks *ranks;
    struct sim_error error = {0};
    /* With an argument, the rank with that number claims to be another program. */
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    bool is_other = argc > 1 && number != NULL && strcmp(number, argv[1]) == 0;
    bool is_fine = ranks_begin(is_other ? "probe 2" : "probe 1", &ranks, &error);
    if (ranks_own(ranks) > 0) {
        follow(ranks);
    } else if (!is_fine) {
        puts(error.text);
    } else {
        lead(ranks);
        puts("fine");
    }
    fflush(stdout);
    ranks_end(ranks, 0);
    return 0;
}
