/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A map from tuples of four numbers to a fixed number of values, in order of insertion. */
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
    uint32_t values;    /* number of values per tuple */
    uint32_t most;      /* LAB_TUPLES_MAX, except in tests */
    bool out_of_memory; /* never cleared */
    bool is_full;       /* never cleared: a tuple beyond `most` was lost */
};

/* values: number of values per tuple, at least 1. Memory is allocated with the first tuple. */
void lab_tuples_init(struct lab_tuples *tuples, uint32_t values);
/* The values of a tuple, which is inserted with zeros when it is new; NULL when it cannot be inserted. The
 * pointer is valid until the next insertion. */
uint64_t *lab_tuples_get(struct lab_tuples *tuples, const uint64_t *tuple);
/* The values of a tuple; NULL when it does not exist. */
uint64_t *lab_tuples_find(const struct lab_tuples *tuples, const uint64_t *tuple);
/* The index-th tuple, followed by its values. */
static inline uint64_t *lab_tuples_at(const struct lab_tuples *tuples, uint32_t index)
{
    return tuples->entries + (size_t)index * (LAB_TUPLE_WORDS + tuples->values);
}
/* Removes all tuples and keeps the memory. */
void lab_tuples_empty(struct lab_tuples *tuples);
void lab_tuples_clear(struct lab_tuples *tuples);
/* Saves or loads; loading needs tuples initialised with the same number of values, and leaves them empty on
 * failure.
 */
void lab_tuples_archive(struct lab_tuples *tuples, struct sim_archive *archive);

#endif
