/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes (ranks) that work together, possibly on several machines.
 *
 * Rank 0 is the program: it reads, prints and stores. Work that all ranks share begins with an order, which
 * rank 0 broadcasts (ranks_share()). Each thread of each rank then draws numbers from one counter
 * (ranks_draw()), so a fast rank does more, and one thread of each rank meets the others now and then
 * (ranks_meet()): all see what each has noted, and the others send their results to rank 0 (ranks_send()).
 * Every rank must make the same calls of share, meet and send in the same order.
 *
 * There are two implementations: for a single rank, and for MPI. No other code uses MPI. count, own and
 * threads accept NULL, which is a single rank; the calls of shared work are for several. */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"

#define RANKS_THREADS_MAX 1024u

struct ranks;

/* Malloc'ed; NULL when empty. */
struct ranks_bytes {
    unsigned char *data;
    size_t size;
};

/* What a rank tells all others when they meet; the meaning is the caller's. */
struct ranks_note {
    uint64_t size; /* the bytes that it will send to rank 0 after the meeting */
    uint64_t flags, mark, done, rows;
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
const char *ranks_host(const struct ranks *ranks, uint32_t rank);

/* Rank 0 broadcasts an order, and the counter begins at 0. Each other rank waits for the order, and owns its
 * bytes. False: rank 0 leaves, or MPI has failed. */
bool ranks_share(struct ranks *ranks, struct ranks_bytes *order);
/* The next number of the counter, which no other call returns. On any thread. UINT64_MAX when MPI has failed.
 */
uint64_t ranks_draw(struct ranks *ranks);
/* Waits until no thread of this rank is at work, at most until the next meeting is due. */
void ranks_rest(struct ranks *ranks, const _Atomic uint32_t *working);
/* Tells `mine` to all ranks and returns the notes of all, by rank, until the next meeting. NULL with an error
 * when a rank was lost; rank 0 also stops waiting some time after is_stopped() returns true. */
const struct ranks_note *ranks_meet(struct ranks *ranks, const struct ranks_note *mine,
                                    bool (*is_stopped)(const void *context), const void *context,
                                    struct sim_error *error);
/* Whether there was a meeting since the last order. */
bool ranks_has_met(const struct ranks *ranks);
/* On rank `from`: sends the bytes to rank 0, which receives them: bytes->size is set by the caller, and data
 * by the call. False with an error when out of memory or when a rank was lost. */
bool ranks_send(struct ranks *ranks, uint32_t from, struct ranks_bytes *bytes, struct sim_error *error);

#endif
