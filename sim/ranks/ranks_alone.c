/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The implementation for a single rank. In: the environment of mpirun, which it refuses. Nothing is shared.
 */
#define _DEFAULT_SOURCE
#include "ranks/ranks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A single rank has no use for most parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Refuses to run under mpirun: each process would do all of the work, and write to the same database. */
bool ranks_begin(const char *program, struct ranks **out, struct sim_error *error)
{
    *out = NULL;
    const char *count = getenv("OMPI_COMM_WORLD_SIZE"), *own = getenv("OMPI_COMM_WORLD_RANK");
    if (count == NULL || strtoul(count, NULL, 10) <= 1)
        return true;
    if (own == NULL || strcmp(own, "0") == 0)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: mpirun started %s of it, and this build does not know MPI; build it with "
                        "'cmake --preset mpi', or start it without mpirun",
                        count);
    return sim_fail(error, SIM_ERROR_INPUT, "%s", "");
}

uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : online > (long)RANKS_THREADS_MAX ? RANKS_THREADS_MAX : (uint32_t)online;
}

uint32_t ranks_count(const struct ranks *ranks)
{
    return 1;
}

uint32_t ranks_own(const struct ranks *ranks)
{
    return 0;
}

const char *ranks_host(const struct ranks *ranks, uint32_t rank)
{
    return "";
}

void ranks_end(struct ranks *ranks, int code)
{
}

/* There is no other rank to share work with. */
bool ranks_share(struct ranks *ranks, struct ranks_bytes *order, uint64_t first)
{
    abort();
}

uint64_t ranks_draw(struct ranks *ranks)
{
    abort();
}

uint64_t ranks_close(struct ranks *ranks)
{
    abort();
}

bool ranks_rest(struct ranks *ranks)
{
    abort();
}

bool ranks_gather(struct ranks *ranks, const struct ranks_bytes *mine,
                  void (*take)(void *context, const struct ranks_bytes *bytes),
                  bool (*is_stopped)(const void *context), void *context, struct sim_error *error)
{
    abort();
}
