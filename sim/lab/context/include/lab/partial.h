/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partial results of a run of the stream engine: the sum of the tallies of the keys that are done, and which
 * ones these are. The caller stores the newest one; the same run then begins with it, and does the other
 * keys. The sum is the same for any number of workers, and so is the result. */
#ifndef LAB_PARTIAL_H
#define LAB_PARTIAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_partial {
    /* Incremented by the caller, from any thread, to request a partial result: each worker adds what it has
     * done to the sum at the end of its current keys, and the first one of them puts the sum. */
    _Atomic uint32_t wish;
    /* Called from any thread, by one at a time; it reports its own failures. */
    void (*put)(void *context, const unsigned char *data, size_t size);
    void *context;
    const unsigned char *kept; /* the partial result from which the run resumes; NULL: none */
    size_t kept_size;
};

/* Whether a partial result is requested since `heard`. partial may be NULL. */
static inline bool lab_partial_is_asked(const struct lab_partial *partial, uint32_t heard)
{
    return partial != NULL && atomic_load_explicit(&partial->wish, memory_order_relaxed) != heard;
}

#endif
