/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes (ranks) that work together, possibly on several machines.
 *
 * Rank 0 is the program: it reads, prints and stores. Work that all ranks share begins with an order, which
 * rank 0 broadcasts (ranks_share()). Each thread of each rank then draws numbers from one counter
 * (ranks_draw()), so a fast rank does more. When its threads have ended, each rank sends rank 0 what it has
 * done (ranks_gather()). Every rank must make the same calls of share and gather in the same order.
 *
 * There are two implementations: for a single rank, and for MPI. No other code uses MPI. count, own and
 * threads accept NULL, which is a single rank; the calls of shared work are for several. */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

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

/* Rank 0 broadcasts an order, and the counter begins at `first`. Each other rank waits for the order, and
 * owns its bytes. False: rank 0 leaves, or MPI has failed. */
bool ranks_share(struct ranks *ranks, struct ranks_bytes *order, uint64_t first);
/* The next number of the counter, which no other call returns. On any thread. UINT64_MAX when MPI has failed.
 */
uint64_t ranks_draw(struct ranks *ranks);
/* Until the next order, all ranks draw only numbers from RANKS_CLOSED on. On any thread of any rank. Returns
 * the number that was the next one. */
uint64_t ranks_close(struct ranks *ranks);
#define RANKS_CLOSED (UINT64_MAX / 2)
/* On rank 0, while its threads work: sleeps for a moment in which others can draw. Returns whether so much
 * time has passed since the order that a gathering is short compared with it. */
bool ranks_rest(struct ranks *ranks);
/* Sends `mine` to rank 0, where take() gets the bytes of each other rank. False with an error when out of
 * memory or when a rank was lost; rank 0 also stops waiting some time after is_stopped() returns true. */
bool ranks_gather(struct ranks *ranks, const struct ranks_bytes *mine,
                  void (*take)(void *context, const struct ranks_bytes *bytes),
                  bool (*is_stopped)(const void *context), void *context, struct sim_error *error);

#endif
