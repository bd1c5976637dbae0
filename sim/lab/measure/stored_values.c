/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the values of a table's columns. */
#include "stored_values.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/random.h"
#include "kernel/sampler.h"

static void add(struct lab_values *values, const struct lab_design *design, uint8_t position)
{
    if (design->columns[position].feed == LAB_FEED_VALUES)
        values->columns[values->count++] =
            (struct lab_value_column){.values = design->columns[position].values, .column = position};
}

bool lab_values_init(struct lab_values *values, const struct lab_design *design, bool of_partition_alone)
{
    memset(values, 0, sizeof *values);
    for (size_t i = 0; i < design->partition_count; i++)
        add(values, design, design->partition[i]);
    for (size_t i = 0; !of_partition_alone && i < design->clustering_count; i++)
        add(values, design, design->clustering[i]);
    values->partition_combinations = lab_design_values(design, true);
    values->combinations = lab_design_values(design, of_partition_alone);
    size_t size = 0;
    for (size_t i = 0; i < values->count; i++)
        size += design->columns[values->columns[i].column].zipf > 0 ? values->columns[i].values : 0;
    if (size == 0)
        return true;
    values->distributions = malloc(size * sizeof *values->distributions);
    if (values->distributions == NULL)
        return false;
    double *distribution = values->distributions;
    for (size_t i = 0; i < values->count; i++) {
        struct lab_value_column *column = &values->columns[i];
        const struct lab_column *designed = &design->columns[column->column];
        if (designed->zipf == 0)
            continue;
        struct sim_zipf zipf;
        double sum = 0;
        sim_zipf_init(&zipf, designed->zipf, column->values);
        for (uint32_t j = 0; j < column->values; j++)
            distribution[j] = sum += sim_zipf_share(&zipf, j);
        column->up_to = distribution;
        distribution += column->values;
    }
    return true;
}

void lab_values_clear(struct lab_values *values)
{
    free(values->distributions);
    memset(values, 0, sizeof *values);
}

static uint64_t draw(const struct lab_value_column *column, uint64_t bits)
{
    if (column->up_to == NULL)
        return (bits >> 32) * column->values >> 32;
    double unit = (double)(int64_t)(bits >> 11) * 0x1p-53;
    uint32_t low = 0, high = column->values - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (column->up_to[middle] <= unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A stream of splitmix64 for each (key, column), of which a row takes the draw with its number: so a row's
 * values depend neither on the caller nor on the order of calls. */
void lab_values_begin(struct lab_values *values, uint64_t seed, uint64_t key_hash)
{
    for (size_t i = 0; i < values->count; i++) {
        struct lab_value_column *column = &values->columns[i];
        column->begin = sim_hash(seed, SIM_COLUMN, sim_mix64(key_hash + column->column));
    }
}

uint64_t lab_values_of_row(const struct lab_values *values, uint64_t row)
{
    uint64_t combination = 0, unit = 1;
    for (size_t i = 0; i < values->count; i++) {
        const struct lab_value_column *column = &values->columns[i];
        uint64_t bits = sim_mix64(column->begin + (row + 1) * UINT64_C(0x9e3779b97f4a7c15));
        combination += draw(column, bits) * unit;
        unit *= column->values;
    }
    return combination;
}

uint64_t lab_values_of_column(const struct lab_values *values, uint64_t combination, uint32_t column)
{
    for (size_t i = 0; i < values->count; i++) {
        if (values->columns[i].column == column)
            return combination % values->columns[i].values;
        combination /= values->columns[i].values;
    }
    return 0;
}
