/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: messages between ranks arrive complete, whatever their size and however many are under way at the same
 * time. Method: a program for mpirun, which prints "fine" when all checks succeed. Bodies from empty to more
 * than one part of a message; calls by many threads at the same time, and of a service that may run only
 * twice at once; errors; calls that are stopped, also while they
 * wait; and an answer that arrives when rank 0 is about to leave, which must not block either rank. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranks/ranks.h"

#define CALLS      16u
#define LARGE_SIZE ((size_t)70 << 20)

static bool reverse(struct ranks_task *task, const struct ranks_bytes *request, struct ranks_bytes *answer,
                    struct sim_error *error)
{
    (void)task;
    (void)error;
    answer->data = malloc(request->size + 1);
    answer->size = request->size;
    for (size_t i = 0; i < request->size; i++)
        answer->data[i] = request->data[request->size - 1 - i];
    return true;
}

/* Fails, with the request in its text. */
static bool fail(struct ranks_task *task, const struct ranks_bytes *request, struct ranks_bytes *answer,
                 struct sim_error *error)
{
    (void)task;
    (void)answer;
    return sim_fail(error, SIM_ERROR_CHECK, "what is %.*s; write another", (int)request->size,
                    (const char *)request->data);
}

static void watch(void *context, bool is_stopped, uint64_t *done, uint64_t *rows)
{
    _Atomic bool *stop = context;
    *stop = is_stopped;
    *done = 3;
    *rows = 4;
}

static bool wait_for_stop(struct ranks_task *task, const struct ranks_bytes *request,
                          struct ranks_bytes *answer, struct sim_error *error)
{
    _Atomic bool stop = false;
    const struct timespec moment = {.tv_nsec = 1000000};
    (void)request;
    (void)answer;
    ranks_watch(task, watch, &stop);
    while (!stop)
        nanosleep(&moment, NULL);
    ranks_watch(task, NULL, NULL);
    return sim_fail(error, SIM_ERROR_ENVIRONMENT, "stopped");
}

static _Atomic bool is_left;

/* Notes that it runs, ignores the stop, and sends a large answer when the caller says that it no longer waits
 * for it. */
static bool answer_late(struct ranks_task *task, const struct ranks_bytes *request,
                        struct ranks_bytes *answer, struct sim_error *error)
{
    _Atomic bool stop = false;
    const struct timespec moment = {.tv_nsec = 1000000};
    (void)request;
    (void)error;
    ranks_watch(task, watch, &stop);
    while (!is_left)
        nanosleep(&moment, NULL);
    ranks_watch(task, NULL, NULL);
    answer->data = calloc(1, LARGE_SIZE);
    answer->size = LARGE_SIZE;
    return true;
}

static bool note_left(struct ranks_task *task, const struct ranks_bytes *request, struct ranks_bytes *answer,
                      struct sim_error *error)
{
    (void)task;
    (void)request;
    (void)error;
    is_left = true;
    answer->data = calloc(1, 1);
    return true;
}

static _Atomic unsigned running;

/* Its answer has a byte for each call of it that runs. */
static bool count_running(struct ranks_task *task, const struct ranks_bytes *request,
                          struct ranks_bytes *answer, struct sim_error *error)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    (void)task;
    (void)request;
    (void)error;
    answer->size = ++running;
    answer->data = calloc(1, answer->size);
    nanosleep(&moment, NULL);
    running--;
    return true;
}

static const struct ranks_service services[] = {{reverse},     {fail},      {wait_for_stop},
                                                {answer_late}, {note_left}, {count_running}};

struct caller {
    struct ranks *ranks;
    uint32_t number;
    _Atomic uint64_t *twos;
    pthread_t thread;
};

static void *call_all(void *context)
{
    struct caller *caller = context;
    const size_t sizes[] = {0, 1, 4095, 4096, 100000, caller->number == 0 ? LARGE_SIZE : 2};
    uint32_t rank = 1 + caller->number % (ranks_count(caller->ranks) - 1);
    struct sim_error error = {0};
    struct ranks_bytes answer;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ranks_bytes request = {malloc(sizes[i] + 1), sizes[i]};
        for (size_t j = 0; j < sizes[i]; j++)
            request.data[j] = (unsigned char)(j * 31 + j / 251 + caller->number);
        const struct ranks_call call = {.rank = rank, .service = 0, .request = &request};
        assert(ranks_call(caller->ranks, &call, &answer, &error) && answer.size == sizes[i]);
        for (size_t j = 0; j < sizes[i]; j++)
            assert(answer.data[j] == request.data[sizes[i] - 1 - j]);
        free(request.data);
        free(answer.data);
    }
    const struct ranks_bytes nothing = {0}, wrong = {(unsigned char[]){"bad"}, 3};
    const struct ranks_call counting = {.rank = rank, .service = 5, .request = &nothing, .at_once = 2};
    for (int i = 0; i < 10; i++) {
        assert(ranks_call(caller->ranks, &counting, &answer, &error) && answer.size >= 1 && answer.size <= 2);
        atomic_fetch_add(caller->twos, answer.size == 2);
        free(answer.data);
    }
    const struct ranks_call failing = {.rank = rank, .service = 1, .request = &wrong};
    assert(!ranks_call(caller->ranks, &failing, &answer, &error) && answer.data == NULL);
    assert(error.class == SIM_ERROR_CHECK &&
           strstr(error.text, "what is bad; write another (on rank ") != NULL);
    return NULL;
}

struct waiter {
    _Atomic uint64_t done;
};

static bool is_noted(const void *context)
{
    const struct waiter *waiter = context;
    return waiter->done == 3;
}

static void note(void *context, uint64_t done, uint64_t rows)
{
    struct waiter *waiter = context;
    assert(rows == 4);
    waiter->done = done;
}

static void call_and_stop(struct ranks *ranks)
{
    struct waiter waiter = {0};
    struct ranks_bytes answer;
    struct sim_error error = {0};
    const struct ranks_bytes nothing = {0};
    const struct ranks_call call = {.rank = ranks_count(ranks) - 1,
                                    .service = 2,
                                    .request = &nothing,
                                    .context = &waiter,
                                    .is_stopped = is_noted,
                                    .note = note};
    assert(!ranks_call(ranks, &call, &answer, &error) && error.class == SIM_ERROR_ENVIRONMENT);
}

static bool is_at_once(const void *context)
{
    (void)context;
    return true;
}

static void call_and_leave(struct ranks *ranks)
{
    struct waiter waiter = {0};
    struct ranks_bytes answer;
    struct sim_error error = {0};
    const struct ranks_bytes nothing = {0};
    const struct ranks_call call = {.rank = ranks_count(ranks) - 1,
                                    .service = 3,
                                    .request = &nothing,
                                    .context = &waiter,
                                    .is_stopped = is_noted,
                                    .note = note};
    assert(!ranks_call(ranks, &call, &answer, &error) && error.class == SIM_ERROR_ENVIRONMENT);
    const struct ranks_call waiting = {
        .rank = call.rank, .service = 0, .request = &nothing, .at_once = 1, .is_stopped = is_at_once};
    assert(!ranks_call(ranks, &waiting, &answer, &error) && error.class == SIM_ERROR_ENVIRONMENT);
    const struct ranks_call leaving = {.rank = call.rank, .service = 4, .request = &nothing};
    assert(ranks_call(ranks, &leaving, &answer, &error));
    free(answer.data);
}

int main(int argc, char **argv)
{
    struct ranks *ranks;
    struct sim_error error = {0};
    _Atomic uint64_t twos = 0;
    /* With an argument, the rank with that number claims to be another program. */
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    bool is_other = argc > 1 && number != NULL && strcmp(number, argv[1]) == 0;
    bool is_fine = ranks_begin(is_other ? "probe 2" : "probe 1", &ranks, &error);
    if (ranks_own(ranks) > 0) {
        ranks_serve(ranks, services, sizeof services / sizeof *services);
    } else if (!is_fine) {
        puts(error.text);
    } else {
        struct caller callers[CALLS];
        for (uint32_t i = 0; i < CALLS; i++) {
            callers[i] = (struct caller){.ranks = ranks, .number = i, .twos = &twos};
            pthread_create(&callers[i].thread, NULL, call_all, &callers[i]);
        }
        for (uint32_t i = 0; i < CALLS; i++)
            pthread_join(callers[i].thread, NULL);
        assert(twos > 0);
        call_and_stop(ranks);
        call_and_leave(ranks);
        puts("fine");
    }
    fflush(stdout);
    ranks_end(ranks, 0);
    return 0;
}
