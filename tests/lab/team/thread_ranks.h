/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks that are threads of this process, instead of sim/ranks. Included after no_memory.h, whose refusals
 * then reach the work of every rank, but not the ranks themselves. */
#ifndef TESTS_THREAD_RANKS_H
#define TESTS_THREAD_RANKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/team.h"

#ifndef TESTS_NO_MEMORY_H
#define __real_malloc malloc
#endif
#define THREAD_RANKS_MAX 5u

/* What happens to the bytes between ranks. */
enum thread_fate { DELIVERED, CUT_ORDER, CUT_WORK, LONG_WORK };

struct ranks {
    uint32_t own;
    struct thread_world *world;
};

struct thread_world {
    uint32_t count;
    enum thread_fate fate;
    lab_team_service *const *services;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint64_t waiting, round;
    const struct ranks_bytes *order, *mail[THREAD_RANKS_MAX]; /* an order without data: leave */
    uint64_t first;
    _Atomic uint64_t counter;
    struct ranks ranks[THREAD_RANKS_MAX];
    pthread_t threads[THREAD_RANKS_MAX];
};

uint32_t ranks_count(const struct ranks *ranks)
{
    return ranks == NULL ? 1 : ranks->world->count;
}

uint32_t ranks_own(const struct ranks *ranks)
{
    return ranks == NULL ? 0 : ranks->own;
}

uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank)
{
    (void)ranks;
    return 1 + rank % 2;
}

const char *ranks_host(const struct ranks *ranks, uint32_t rank)
{
    (void)ranks, (void)rank;
    return "here";
}

static void wait_for_all(struct thread_world *world)
{
    pthread_mutex_lock(&world->lock);
    const uint64_t round = world->round;
    if (++world->waiting == world->count) {
        world->waiting = 0;
        world->round++;
        pthread_cond_broadcast(&world->turned);
    }
    while (world->round == round)
        pthread_cond_wait(&world->turned, &world->lock);
    pthread_mutex_unlock(&world->lock);
}

static struct ranks_bytes copy_of(const struct ranks_bytes *bytes, size_t size)
{
    struct ranks_bytes copy = {__real_malloc(size + 1), size};
    if (size > 0)
        memcpy(copy.data, bytes->data, size);
    return copy;
}

bool ranks_share(struct ranks *ranks, struct ranks_bytes *order, uint64_t first)
{
    struct thread_world *world = ranks->world;
    if (ranks->own == 0) {
        world->order = order;
        world->counter = world->first = first;
    }
    wait_for_all(world);
    bool is_left = world->order->data == NULL;
    if (ranks->own != 0 && !is_left)
        *order = copy_of(world->order, world->order->size / (world->fate == CUT_ORDER ? 2 : 1));
    wait_for_all(world);
    return !is_left;
}

uint64_t ranks_draw(struct ranks *ranks)
{
    return atomic_fetch_add(&ranks->world->counter, 1);
}

uint64_t ranks_close(struct ranks *ranks)
{
    return atomic_exchange(&ranks->world->counter, RANKS_CLOSED);
}

/* Some 60 draws are enough. */
bool ranks_rest(struct ranks *ranks)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    return ranks->world->counter > ranks->world->first + 60;
}

/* There is a field too many, and the checksum is right. */
static void reseal(struct ranks_bytes *bytes)
{
    struct sim_archive archive;
    unsigned char *data;
    size_t size;
    sim_archive_begin_save(&archive, 0);
    archive.size = 0; /* the bytes have a header */
    sim_archive_bytes(&archive, bytes->data, bytes->size - sizeof(uint64_t));
    sim_archive_bool(&archive, &(bool){true});
    sim_archive_finish_save(&archive, &data, &size, NULL);
    free(bytes->data);
    *bytes = (struct ranks_bytes){data, size};
}

bool ranks_gather(struct ranks *ranks, const struct ranks_bytes *mine,
                  void (*take)(void *context, const struct ranks_bytes *bytes),
                  bool (*is_stopped)(const void *context), void *context, struct sim_error *error)
{
    struct thread_world *world = ranks->world;
    (void)is_stopped, (void)error;
    world->mail[ranks->own] = mine;
    wait_for_all(world);
    for (uint32_t rank = 1; ranks->own == 0 && rank < world->count; rank++) {
        struct ranks_bytes bytes =
            copy_of(world->mail[rank], world->mail[rank]->size / (world->fate == CUT_WORK ? 2 : 1));
        if (world->fate == LONG_WORK && bytes.size > 0)
            reseal(&bytes);
        take(context, &bytes);
        free(bytes.data);
    }
    wait_for_all(world);
    return true;
}

static void *follow(void *context)
{
    struct ranks *ranks = context;
    lab_team_serve(ranks, ranks->world->services);
    return NULL;
}

/* Returns rank 0; the others serve until world_end(). */
static struct ranks *world_begin(struct thread_world *world, uint32_t count, enum thread_fate fate,
                                 lab_team_service *const services[LAB_SERVICES])
{
    *world = (struct thread_world){.count = count, .fate = fate, .services = services};
    pthread_mutex_init(&world->lock, NULL);
    pthread_cond_init(&world->turned, NULL);
    for (uint32_t i = 0; i < count; i++) {
        world->ranks[i] = (struct ranks){.own = i, .world = world};
        if (i > 0)
            pthread_create(&world->threads[i], NULL, follow, &world->ranks[i]);
    }
    return &world->ranks[0];
}

static void world_end(struct thread_world *world)
{
    ranks_share(&world->ranks[0], &(struct ranks_bytes){0}, 0);
    for (uint32_t i = 1; i < world->count; i++)
        pthread_join(world->threads[i], NULL);
    pthread_cond_destroy(&world->turned);
    pthread_mutex_destroy(&world->lock);
}

#endif
