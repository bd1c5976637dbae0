/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The implementation for a single rank. */
#define _DEFAULT_SOURCE
#include "ranks/ranks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of processes that mpirun started, as text, if there are several; otherwise NULL. */
static const char *launched(void)
{
    const char *count = getenv("OMPI_COMM_WORLD_SIZE");
    return count == NULL || strtoul(count, NULL, 10) <= 1 ? NULL : count;
}

/* Refuses to run under mpirun: each process would do all of the work, and write to the same database. */
bool ranks_begin(const char *program, struct ranks **out, struct sim_error *error)
{
    (void)program;
    *out = NULL;
    const char *count = launched(), *own = getenv("OMPI_COMM_WORLD_RANK");
    if (count == NULL)
        return true;
    if (own == NULL || strcmp(own, "0") == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: mpirun started %s of it, and this build does not know MPI; build it with "
                        "'cmake --preset mpi', or start it without mpirun",
                        count);
    return sim_fail(error, SIM_ERROR_INPUT, "%s", "");
}

void ranks_end(struct ranks *ranks, int code)
{
    (void)ranks;
    (void)code;
}

uint32_t ranks_count(const struct ranks *ranks)
{
    (void)ranks;
    return 1;
}

uint32_t ranks_own(const struct ranks *ranks)
{
    (void)ranks;
    return 0;
}

uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank)
{
    (void)ranks;
    (void)rank;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > (long)RANKS_THREADS_MAX ? RANKS_THREADS_MAX : (uint32_t)online;
}

/* There is no other rank to serve or to call. */
void ranks_serve(struct ranks *ranks, const struct ranks_service *services, size_t count)
{
    (void)ranks;
    (void)services;
    (void)count;
    assert(false);
}

bool ranks_call(struct ranks *ranks, const struct ranks_call *call, struct ranks_bytes *answer,
                struct sim_error *error)
{
    (void)ranks;
    (void)call;
    (void)answer;
    (void)error;
    assert(false);
    return false;
}

void ranks_watch(struct ranks_task *task, ranks_watch_function *watch, void *context)
{
    (void)task;
    (void)watch;
    (void)context;
}
