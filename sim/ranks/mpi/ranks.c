/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins and leaves the group of processes. */
#define _GNU_SOURCE
#include "ranks/ranks.h"

#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/thread.h"
#include "ranks.h"

/* Whether mpirun launched this process. If not, MPI is not initialised, since that takes long. */
static bool is_launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMIX_RANK") != NULL ||
           getenv("PMI_RANK") != NULL;
}

static uint32_t online(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > (long)RANKS_THREADS_MAX ? RANKS_THREADS_MAX : (uint32_t)count;
}

/* The rank's share of the host's processors, or the processors to which mpirun has bound it if these are
 * fewer. */
static uint32_t own_threads(void)
{
    MPI_Comm host;
    int there = 1;
    cpu_set_t set;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) == MPI_SUCCESS) {
        MPI_Comm_size(host, &there);
        MPI_Comm_free(&host);
    }
    uint32_t threads = online() / (uint32_t)there;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && (uint32_t)CPU_COUNT(&set) < threads)
        threads = (uint32_t)CPU_COUNT(&set);
    return threads < 1 ? 1 : threads;
}

static bool tell_about(struct ranks *ranks, const char *program, struct sim_error *error)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int size;
    struct rank_about mine = {.threads = own_threads()};
    snprintf(mine.program, sizeof mine.program, "%s", program);
    if (MPI_Get_processor_name(host, &size) == MPI_SUCCESS)
        snprintf(mine.host, sizeof mine.host, "%.*s", (int)sizeof mine.host - 1, host);
    ranks->about = calloc(ranks->own == 0 ? ranks->count : 1, sizeof *ranks->about);
    if (ranks->about == NULL)
        return sim_fail_memory(error);
    ranks->about[0] = mine;
    return MPI_Gather(&mine, sizeof mine, MPI_BYTE, ranks->about, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD) ==
               MPI_SUCCESS ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s",
                    ranks->own == 0 ? "MPI lost a rank at the start; start the same command again" : "");
}

static bool join(struct ranks *ranks, const char *program, struct sim_error *error)
{
    int level, count, own;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "MPI does not start; see its message above");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    ranks->count = (uint32_t)count;
    ranks->own = (uint32_t)own;
    if (level < MPI_THREAD_SERIALIZED)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s",
                        own == 0 ? "this MPI does not support threads; use an Open MPI that does" : "");
    return tell_about(ranks, program, error);
}

static bool compare(const struct ranks *ranks, struct sim_error *error)
{
    const struct rank_about *mine = &ranks->about[0];
    for (uint32_t i = 1; i < ranks->count; i++) {
        const struct rank_about *other = &ranks->about[i];
        if (strncmp(mine->program, other->program, sizeof mine->program) != 0)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: rank %u on %.*s runs %.*s, and rank 0 on %s %s; install the same "
                            "everywhere",
                            (unsigned)i, (int)sizeof other->host - 1, other->host,
                            (int)sizeof other->program - 1, other->program, mine->host, mine->program);
    }
    return true;
}

static bool start_progress_thread(struct ranks *ranks, struct sim_error *error)
{
    ranks->has_progress_thread = sim_thread_start(&ranks->progress_thread, ranks_progress_thread, ranks) == 0;
    return ranks->has_progress_thread ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT, "cannot start a thread; end other programs first");
}

bool ranks_begin(const char *program, struct ranks **out, struct sim_error *error)
{
    *out = NULL;
    if (!is_launched())
        return true;
    struct ranks *ranks = calloc(1, sizeof *ranks);
    if (ranks == NULL)
        return sim_fail_memory(error);
    ranks->parent = getppid();
    pthread_mutex_init(&ranks->lock, NULL);
    ranks_condition(&ranks->queued);
    ranks_condition(&ranks->changed);
    *out = ranks;
    /* Signals must be handled by the program's own threads, so they are blocked in the threads that MPI
     * creates and in the progress thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_fine = join(ranks, program, error) && (ranks->count == 1 || start_progress_thread(ranks, error));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_fine && (ranks->own != 0 || compare(ranks, error));
}

void ranks_end(struct ranks *ranks, int code)
{
    if (ranks == NULL)
        return;
    /* Without a progress thread this rank cannot send anything, and the others would wait for it. MPI ends
     * the whole job when a rank exits like this. */
    if (!ranks->has_progress_thread && ranks->count != 1) {
        fflush(NULL);
        _exit(code);
    }
    for (uint32_t i = 1; ranks->own == 0 && i < ranks->count; i++)
        ranks_send(ranks, i, &(struct ranks_message_head){.kind = RANKS_MESSAGE_END}, NULL);
    if (ranks->own != 0)
        ranks_send(ranks, 0, &(struct ranks_message_head){.kind = RANKS_MESSAGE_LEAVE}, NULL);
    pthread_mutex_lock(&ranks->lock);
    ranks->is_closing = true;
    pthread_cond_signal(&ranks->queued);
    bool is_broken = ranks->is_broken;
    pthread_mutex_unlock(&ranks->lock);
    /* A rank that was interrupted, or has lost another rank, does not wait for ranks that may have ended. */
    if (is_broken || code > 128) {
        fflush(NULL);
        _exit(code);
    }
    if (ranks->has_progress_thread)
        pthread_join(ranks->progress_thread, NULL);
    if (ranks->is_broken)
        _exit(code);
    MPI_Finalize();
    while (ranks->first != NULL) {
        struct ranks_message *message = ranks->first;
        ranks->first = message->next;
        ranks_free_message(message);
    }
    pthread_cond_destroy(&ranks->queued);
    pthread_cond_destroy(&ranks->changed);
    pthread_mutex_destroy(&ranks->lock);
    free(ranks->about);
    free(ranks);
}

uint32_t ranks_count(const struct ranks *ranks)
{
    return ranks == NULL ? 1 : ranks->count;
}

uint32_t ranks_own(const struct ranks *ranks)
{
    return ranks == NULL ? 0 : ranks->own;
}

uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank)
{
    return ranks == NULL ? online() : ranks->about[rank].threads;
}
