/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a table's columns that have N different ones: drawn for each row of a key by itself, the same
 * under every strategy, and put together into one number. */
#ifndef LAB_STORED_VALUES_H
#define LAB_STORED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/design.h"

struct lab_value_column {
    uint32_t values;
    uint32_t column;     /* its position among the table's columns */
    const double *up_to; /* share of the values up to each; NULL: all as often */
};

struct lab_values {
    struct lab_value_column columns[LAB_COLUMNS_MAX]; /* those of the partition key first */
    size_t count;
    uint64_t partition_combinations;
    double *distributions; /* what up_to points into */
};

/* False when out of memory; lab_values_clear() is due in any case. */
bool lab_values_init(struct lab_values *values, const struct lab_design *design);
void lab_values_clear(struct lab_values *values);
/* Of the key's row with this number. The remainder by partition_combinations is that of the partition. */
uint64_t lab_values_of_row(const struct lab_values *values, uint64_t seed, uint64_t key_hash, uint64_t row);
/* The value of the column at this position, of such a number. */
uint64_t lab_values_of_column(const struct lab_values *values, uint64_t combination, uint32_t column);

#endif
