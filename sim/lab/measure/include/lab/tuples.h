/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A map from tuples of four numbers to a few numbers each, in the order in which the tuples came. */
#ifndef LAB_TUPLES_H
#define LAB_TUPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/archive.h"

#define LAB_TUPLE_WORDS 4
#define LAB_TUPLES_MAX  (UINT32_C(1) << 23)

struct lab_tuples {
    uint64_t *entries; /* each entry: a tuple and its values */
    uint32_t *slots;   /* open addressing: number of an entry + 1; 0: free */
    uint32_t count, capacity, slot_count;
    uint32_t values;    /* numbers of each tuple */
    uint32_t most;      /* LAB_TUPLES_MAX, except in tests */
    bool out_of_memory; /* sticky */
    bool is_full;       /* sticky: a tuple beyond `most` was lost */
};

/* values: at least 1. Memory is taken when the first tuple comes. */
void lab_tuples_init(struct lab_tuples *tuples, uint32_t values);
/* The values of a tuple, zeros when it is new; NULL when no more can be added. The pointer is valid until the
 * next tuple is added. */
uint64_t *lab_tuples_get(struct lab_tuples *tuples, const uint64_t *tuple);
/* The values of a tuple that exists; else NULL. */
uint64_t *lab_tuples_find(const struct lab_tuples *tuples, const uint64_t *tuple);
/* The index-th tuple, followed by its values. */
static inline uint64_t *lab_tuples_at(const struct lab_tuples *tuples, uint32_t index)
{
    return tuples->entries + (size_t)index * (LAB_TUPLE_WORDS + tuples->values);
}
/* Forgets all tuples and keeps the memory. */
void lab_tuples_empty(struct lab_tuples *tuples);
void lab_tuples_clear(struct lab_tuples *tuples);
/* Saves or loads; loading needs tuples initialised with the same number of values, and leaves them empty on
 * failure.
 */
void lab_tuples_archive(struct lab_tuples *tuples, struct sim_archive *archive);

#endif
