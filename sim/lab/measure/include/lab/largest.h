/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a strategy's largest partition stands, so that whoever finds a limit passed knows the key. */
#ifndef LAB_LARGEST_H
#define LAB_LARGEST_H

#include <stdbool.h>
#include <stdint.h>

enum lab_size_unit { LAB_IN_ROWS, LAB_IN_BYTES, LAB_SIZE_UNITS };

#define LAB_KEY_NAME_SIZE 256

/* Of several equally large ones that of the first key, and of its first bucket. */
struct lab_largest {
    char key[LAB_KEY_NAME_SIZE]; /* a longer name is cut short between two characters */
    uint64_t key_index;
    int64_t bucket;
    uint64_t size; /* in the unit asked for; 0: there is none */
};

/* A total order, so that the parts of several workers merge to one answer. */
static inline bool lab_is_larger(uint64_t size, uint64_t key_index, int64_t bucket,
                                 const struct lab_largest *other)
{
    if (size != other->size)
        return size > other->size;
    if (key_index != other->key_index)
        return key_index < other->key_index;
    return bucket < other->bucket;
}

#endif
