/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress of a run, and the request to stop it; shared by the threads of a run and their caller. */
#ifndef LAB_PROGRESS_H
#define LAB_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Written by the workers and read by the progress bar, with relaxed memory order. */

struct lab_progress {
    _Atomic uint64_t done;  /* work done, in the unit of `total` */
    _Atomic uint64_t total; /* rows expected of a synthetic workload, bytes of a trace; 0 until known */
    _Atomic uint64_t rows;
    _Atomic uint64_t recalled; /* grows with steps that an earlier command has run: these take no time now */
    _Atomic(const char *)
        best;          /* label of the best strategy so far, which must outlive the work; NULL: none */
    _Atomic bool stop; /* set by the caller: the run ends soon with an error and no result */
    struct lab_progress *parent; /* its `stop` stops this run too; NULL: none */
};

static inline bool lab_is_stopped(const struct lab_progress *progress)
{
    while (progress != NULL && !atomic_load_explicit(&progress->stop, memory_order_relaxed))
        progress = progress->parent;
    return progress != NULL;
}

/* Notes a step that an earlier command has run, in the progress of the whole work. */
static inline void lab_recalled(struct lab_progress *progress)
{
    while (progress->parent != NULL)
        progress = progress->parent;
    atomic_fetch_add_explicit(&progress->recalled, 1, memory_order_relaxed);
}

#endif
