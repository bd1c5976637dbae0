/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that work together, perhaps on several machines.
 *
 * Rank 0 is the program: it reads, prints and stores. The other ranks serve it. Rank 0 calls a service by its
 * number with some bytes, and gets bytes or an error back; it may have many calls under way at once, from
 * threads of its own. A service that divides its work asks the caller for one share after the other, so
 * that faster ranks do more. Results must not depend on which rank does the work, nor on the order of
 * calls.
 *
 * There are two implementations: one of a single rank, and one over MPI. Nothing else knows of MPI. Calls
 * below take NULL for a single rank, except where they say otherwise. */
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

/* A service runs on a thread of its own, several at once. The request is its caller's to free; *answer, empty
 * on entry, is taken over, also on false. */
struct ranks_service {
    bool (*serve)(struct ranks_task *task, const struct ranks_bytes *request, struct ranks_bytes *answer,
                  struct sim_error *error);
};

struct ranks_call {
    uint32_t rank; /* that is called; not 0 */
    uint32_t service;
    const struct ranks_bytes *request;
    void *context;
    /* These three may be NULL. Whether the call should end soon; called now and then. */
    bool (*is_stopped)(const void *context);
    /* The progress so far, as totals. Called with a lock held, so neither function may call anything of
     * this header. */
    void (*note)(void *context, uint64_t done, uint64_t rows);
    /* The next share of the work for the called rank, [*begin, *end); empty: nothing is left. */
    void (*share)(void *context, uint64_t *begin, uint64_t *end);
};

/* Joins the processes that were started together. Must be the first call, on the first thread. `program` must
 * be the same text in all of them. False with an empty text: another rank reports the error. *out may be NULL
 * for a single rank; it must be given to ranks_end() in any case. */
bool ranks_begin(const char *program, struct ranks **out, struct sim_error *error);
/* Leaves the processes, as the last call, with the program's exit code. When rank 0 leaves, so do the
 * others. */
void ranks_end(struct ranks *ranks, int code);

uint32_t ranks_count(const struct ranks *ranks);
uint32_t ranks_own(const struct ranks *ranks);
/* How many threads a rank has processors for: those of its host, divided by the ranks there; at most
 * RANKS_THREADS_MAX. */
uint32_t ranks_threads(const struct ranks *ranks, uint32_t rank);

/* Not rank 0: serves until rank 0 leaves. */
void ranks_serve(struct ranks *ranks, const struct ranks_service *services, size_t count);

/* Rank 0, any thread. An error of the service comes with its class and text, and the rank behind it. Stopped:
 * SIM_ERROR_ENVIRONMENT. On false the answer is empty. */
bool ranks_call(struct ranks *ranks, const struct ranks_call *call, struct ranks_bytes *answer,
                struct sim_error *error);

/* Within a service, on one thread at a time. The next share of the work; false: nothing is left, or the
 * call should end. */
bool ranks_share(struct ranks_task *task, uint64_t *begin, uint64_t *end);
/* From now until the service ends, or watch is NULL again: `watch` is called now and then with a lock held.
 * It is told whether the call should end soon, and returns the progress. */
typedef void ranks_watch_function(void *context, bool is_stopped, uint64_t *done, uint64_t *rows);
void ranks_watch(struct ranks_task *task, ranks_watch_function *watch, void *context);

#endif
