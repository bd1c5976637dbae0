/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of the columns with LAB_FEED_VALUES: drawn independently for each row of a key, equal under every
 * strategy, and combined into one number. */
#ifndef LAB_STORED_VALUES_H
#define LAB_STORED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/scenario.h"

struct lab_value_column {
    uint32_t values;
    uint32_t column;     /* its index among the table's columns */
    const double *up_to; /* cumulative shares of the values; NULL: all values are equally frequent */
    uint64_t begin;      /* of the key's stream of draws */
};

struct lab_values {
    struct lab_value_column columns[LAB_COLUMNS_MAX]; /* columns of the partition key come first */
    size_t count;
    uint64_t combinations, partition_combinations;
    double *distributions; /* memory to which up_to points */
};

/* Takes the columns of the primary key or, with of_partition_alone, of the partition key. Returns false when
 * out of memory; lab_values_clear() must be called in any case. */
bool lab_values_init(struct lab_values *values, const struct lab_design *design, bool of_partition_alone);
void lab_values_clear(struct lab_values *values);
/* Chooses the key of the following calls. */
void lab_values_begin(struct lab_values *values, uint64_t seed, uint64_t key_hash);
/* The combination of values of the key's row with this number. Its remainder modulo partition_combinations is
 * the combination of the partition key's columns. */
uint64_t lab_values_of_row(const struct lab_values *values, uint64_t row);
/* The value of one column in such a combination. */
uint64_t lab_values_of_column(const struct lab_values *values, uint64_t combination, uint32_t column);

#endif
