/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that work together, perhaps on several machines.
 *
 * Rank 0 is the program: it reads, prints and stores. The other ranks serve it. Rank 0 calls a service by its
 * number with some bytes, and gets bytes or an error back; it may have many calls under way at once, from
 * threads of its own. A service that divides its work asks the caller for one share after the other, so that
 * whoever is fast takes more. What is called must not depend on which rank does it, nor on the order of
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
    /* These three may be NULL. Whether the call is to end soon; asked now and then. */
    bool (*is_stopped)(const void *context);
    /* How far it is, in all: called with a lock held, so neither may call anything of this header. */
    void (*note)(void *context, uint64_t done, uint64_t rows);
    /* What the called is to work on next, [*begin, *end); empty: nothing is left. */
    void (*share)(void *context, uint64_t *begin, uint64_t *end);
};

/* Joins the processes that were started together; first of all, on the first thread. `program` must be the
 * same text in all of them. On false with an empty text another rank tells the error. *out may be NULL for a
 * single rank; it is to be given to ranks_end() in any case. */
bool ranks_begin(const char *program, struct ranks **out, struct sim_error *error);
/* Leaves them, last of all, with the program's exit code. Rank 0: the others leave too. */
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

/* Within a service, on one thread at a time. What is next to be worked on; false: nothing is left, or the
 * call is to end. */
bool ranks_share(struct ranks_task *task, uint64_t *begin, uint64_t *end);
/* From now until the service ends, or watch is NULL again: `watch` is called now and then with a lock held.
 * It learns whether the call is to end soon, and says how far it is. */
typedef void ranks_watch_function(void *context, bool is_stopped, uint64_t *done, uint64_t *rows);
void ranks_watch(struct ranks_task *task, ranks_watch_function *watch, void *context);

#endif
