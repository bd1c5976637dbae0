/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy's largest partition, with its key and bucket, so that a user who sees that a limit is exceeded
 * can find the partition. */
#ifndef LAB_LARGEST_H
#define LAB_LARGEST_H

#include <stdbool.h>
#include <stdint.h>

enum lab_size_unit { LAB_IN_ROWS, LAB_IN_BYTES, LAB_SIZE_UNITS };

#define LAB_KEY_NAME_SIZE 256

/* The largest partition; of several equally large ones, that of the lowest key index, and of its lowest
 * bucket. */
struct lab_largest {
    char key[LAB_KEY_NAME_SIZE]; /* a longer name is truncated between two characters */
    uint64_t key_index;
    int64_t bucket;
    uint64_t size; /* in rows or bytes; 0: there is no partition */
};

/* A total order, so that the results of several workers merge to the same result in any order. */
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
