/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a run is, and whether it is to stop: shared by the threads of a run and by whoever waits for it. */
#ifndef LAB_PROGRESS_H
#define LAB_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Written by the workers, read by whoever draws a progress bar; relaxed order. */

struct lab_progress {
    _Atomic uint64_t done;  /* in the units of `total` */
    _Atomic uint64_t total; /* rows expected of a synthetic workload, bytes of a trace; 0 until known */
    _Atomic uint64_t rows;
    _Atomic(const char *) best; /* the label of what is best so far, which outlives the work; NULL: none */
    _Atomic bool stop;          /* set by the caller: the run ends soon with an error and no result */
    const struct lab_progress *parent; /* its `stop` counts too; NULL: nobody's */
};

static inline bool lab_is_stopped(const struct lab_progress *progress)
{
    while (progress != NULL && !atomic_load_explicit(&progress->stop, memory_order_relaxed))
        progress = progress->parent;
    return progress != NULL;
}

#endif
