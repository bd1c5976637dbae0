/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes (ranks) that work together, possibly on several machines.
 *
 * Rank 0 is the program: it reads, prints and stores. The other ranks serve it. Rank 0 calls a service of
 * another rank by its number, with a request of bytes, and gets bytes or an error back; it may have many
 * calls under way, from different threads. Results must not depend on which rank does the work, nor on the
 * order of calls.
 *
 * There are two implementations: for a single rank, and for MPI. No other code uses MPI. Functions below
 * accept NULL for a single rank, unless stated otherwise. */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

#define RANKS_THREADS_MAX 1024u

struct ranks;
struct ranks_task;

/* Malloc'ed; NULL when empty. */
struct ranks_bytes {
    unsigned char *data;
    size_t size;
};

/* Each call of a service runs on its own thread, several at the same time. The request is freed by the caller
 * of serve(). *answer is empty on entry; the caller takes ownership of it, even when serve() returns
 * false. */
struct ranks_service {
    bool (*serve)(struct ranks_task *task, const struct ranks_bytes *request, struct ranks_bytes *answer,
                  struct sim_error *error);
};

struct ranks_call {
    uint32_t rank; /* the called rank; not 0 */
    uint32_t service;
    const struct ranks_bytes *request;
    /* The call waits on the called rank while this many calls run there; 0: it does not wait. A rank that has
     * a call waiting need not wait for the next one. */
    uint32_t at_once;
    void *context;
    /* The two functions may be NULL. is_stopped() is called periodically, and returns whether the call
     * should end soon. */
    bool (*is_stopped)(const void *context);
    /* note() is called with the totals of the progress so far. A lock is held during is_stopped() and note(),
     * so neither may call a function of this header. */
    void (*note)(void *context, uint64_t done, uint64_t rows);
};

/* Joins the processes that were started together. Must be the first call, on the first thread. `program` must
 * be the same text in all of them. When it returns false with an empty error text, another rank reports the
 * error. *out may be NULL for a single rank; it must be passed to ranks_end() in any case. */
bool ranks_begin(const char *program, struct ranks **out, struct sim_error *error);
/* Leaves the group of processes, with the program's exit code. Must be the last call. When rank 0 leaves, the
 * others leave too. */
void ranks_end(struct ranks *ranks, int code);

uint32_t ranks_count(const struct ranks *ranks);
uint32_t ranks_own(const struct ranks *ranks);
/* The number of threads for which a rank has processors: the processors of its host, divided by the number of
 * ranks there; at most RANKS_THREADS_MAX. */
uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank);

/* Serves calls until rank 0 leaves. Not for rank 0. */
void ranks_serve(struct ranks *ranks, const struct ranks_service *services, size_t count);

/* Calls a service and waits for its answer. Only for rank 0, on any thread. An error of the service is
 * returned with its class and its text, followed by the rank. A call that was stopped is
 * SIM_ERROR_ENVIRONMENT. On false the answer is empty. */
bool ranks_call(struct ranks *ranks, const struct ranks_call *call, struct ranks_bytes *answer,
                struct sim_error *error);

/* Registers a function that is called periodically, with a lock held, until the service ends or registers
 * NULL. Its argument is_stopped says whether the call should end soon; it sets *done and *rows to the
 * progress so far. */
typedef void ranks_watch_function(void *context, bool is_stopped, uint64_t *done, uint64_t *rows);
void ranks_watch(struct ranks_task *task, ranks_watch_function *watch, void *context);

#endif
