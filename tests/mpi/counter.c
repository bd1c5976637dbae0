/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: measure the messages that a rank sends, its memory and its processor time, without a change to the
 * program. Method: MPI's profiling interface. This preloaded library intercepts MPI_Isend(), which is the
 * program's only way to send, and MPI_Finalize(), where it writes one line to $MPI_COUNTER.RANK: messages and
 * bytes by kind, seconds of processor time in all and in the progress thread, and peak memory in KiB. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../../sim/ranks/mpi/ranks.h"

#define KINDS (RANKS_MESSAGE_LEAVE + 1)

/* Only the progress thread sends, one part at a time: a header, then its body. */
static uint64_t messages[KINDS], bytes[KINDS], kind, left;
static struct timespec progress; /* its processor time at the last message */

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    struct ranks_message_head head;
    if (left == 0) {
        memcpy(&head, buffer, sizeof head);
        kind = head.kind < KINDS ? head.kind : 0;
        left = head.size;
        messages[kind]++;
    } else {
        left -= (uint64_t)count;
    }
    bytes[kind] += (uint64_t)count;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &progress);
    return PMPI_Isend(buffer, count, type, rank, tag, comm, request);
}

int MPI_Finalize(void)
{
    const char *path = getenv("MPI_COUNTER");
    char name[4096];
    int rank = 0;
    struct rusage used;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    getrusage(RUSAGE_SELF, &used);
    snprintf(name, sizeof name, "%s.%d", path == NULL ? "counter" : path, rank);
    FILE *out = fopen(name, "w");
    for (int i = 0; out != NULL && i < KINDS; i++)
        fprintf(out, "%llu %llu ", (unsigned long long)messages[i], (unsigned long long)bytes[i]);
    if (out != NULL) {
        fprintf(out, "%.6f %.6f %ld\n",
                (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
                (double)progress.tv_sec + (double)progress.tv_nsec / 1e9, used.ru_maxrss);
        fclose(out);
    }
    return PMPI_Finalize();
}
