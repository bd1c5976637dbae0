/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of sizes, and the search for one of them by its rank. */
#include "lab/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

#define CLASSES_AN_OCTAVE 32u
#define CLASSES           (60 * CLASSES_AN_OCTAVE)

static inline size_t count_of(const struct lab_sizes *sizes)
{
    return sizes->small_count + sizes->large_count;
}

static inline uint64_t size_at(const struct lab_sizes *sizes, size_t i)
{
    return i < sizes->small_count ? sizes->small[i] : sizes->large[i - sizes->small_count];
}

static void put(struct lab_histogram *histogram, const struct lab_sizes *sizes)
{
    for (size_t i = 0; i < count_of(sizes); i++)
        lab_histogram_add(histogram, size_at(sizes, i), 1, 1);
}

void lab_sizes_add_more(struct lab_sizes *sizes, uint64_t size)
{
    if (count_of(sizes) == LAB_SIZES_LISTED) {
        put(&sizes->rest, sizes);
        sizes->small_count = sizes->large_count = 0;
    }
    if (size <= UINT32_MAX &&
        sim_grow(&sizes->small, &sizes->small_capacity, sizes->small_count + 1, sizeof *sizes->small))
        sizes->small[sizes->small_count++] = (uint32_t)size;
    else if (size > UINT32_MAX &&
             sim_grow(&sizes->large, &sizes->large_capacity, sizes->large_count + 1, sizeof *sizes->large))
        sizes->large[sizes->large_count++] = size;
    else
        sizes->out_of_memory = true;
}

void lab_sizes_merge(struct lab_sizes *into, const struct lab_sizes *from)
{
    for (size_t i = 0; i < count_of(from); i++)
        lab_sizes_add(into, size_at(from, i));
    lab_histogram_merge(&into->rest, &from->rest);
    into->out_of_memory |= from->out_of_memory;
}

/* Sizes below 2 * CLASSES_AN_OCTAVE have a class each. */
static inline uint32_t class_of(uint64_t size)
{
    if (size < 2 * CLASSES_AN_OCTAVE)
        return (uint32_t)size;
    const uint32_t shift = 58 - (uint32_t)__builtin_clzll(size);
    return shift * CLASSES_AN_OCTAVE + (uint32_t)(size >> shift);
}

/* Moves the sizes above `middle` to the front, and those that are equal to it behind them. Returns their
 * numbers. */
static size_t divide(uint64_t *list, size_t count, uint64_t middle, size_t *equal)
{
    size_t above = 0, from = 0, end = count;
    while (from < end) {
        const uint64_t size = list[from];
        if (size > middle) {
            list[from++] = list[above];
            list[above++] = size;
        } else if (size == middle) {
            from++;
        } else {
            list[from] = list[--end];
            list[end] = size;
        }
    }
    *equal = end - above;
    return above;
}

static uint64_t select_size(uint64_t *list, size_t count, uint64_t rank)
{
    for (;;) {
        const uint64_t middle = list[count / 2];
        size_t equal, above = divide(list, count, middle, &equal);
        if (rank > above && rank <= above + equal)
            return middle;
        if (rank > above) {
            list += above + equal;
            count -= above + equal;
            rank -= above + equal;
        } else {
            count = above;
        }
    }
}

/* The least size of a class. */
static inline uint64_t least_of(uint32_t class)
{
    if (class < 2 * CLASSES_AN_OCTAVE)
        return class;
    const uint32_t shift = class / CLASSES_AN_OCTAVE - 1;
    return (uint64_t)(class - shift * CLASSES_AN_OCTAVE) << shift;
}

/* The classes show how small a size may be to have one of the ranks. Only the larger ones are searched. */
static bool find_listed(const struct lab_sizes *sizes, const uint64_t *ranks, size_t rank_count,
                        uint64_t *out)
{
    uint32_t counts[CLASSES] = {0}, class = 0;
    uint64_t rank = 0, above;
    for (size_t i = 0; i < count_of(sizes); i++) {
        const uint32_t its = class_of(size_at(sizes, i));
        counts[its]++;
        class = its > class ? its : class;
    }
    for (size_t i = 0; i < rank_count; i++)
        rank = ranks[i] > rank ? ranks[i] : rank;
    for (above = counts[class]; class > 0 && above < rank; above += counts[class])
        class --;
    const uint64_t least = least_of(class);
    uint64_t *members = malloc(above * sizeof *members);
    size_t found = 0;
    if (members == NULL)
        return false;
    for (size_t i = 0; i < count_of(sizes); i++) {
        if (size_at(sizes, i) >= least)
            members[found++] = size_at(sizes, i);
    }
    for (size_t i = 0; i < rank_count; i++)
        out[i] = select_size(members, found, ranks[i]);
    free(members);
    return true;
}

static bool find_binned(const struct lab_sizes *sizes, const uint64_t *ranks, size_t rank_count,
                        uint64_t *out)
{
    struct lab_histogram all;
    size_t count;
    lab_histogram_init(&all);
    lab_histogram_merge(&all, &sizes->rest);
    put(&all, sizes);
    struct lab_bin *bins = lab_histogram_sorted(&all, &count);
    const bool is_found = bins != NULL && !all.out_of_memory;
    for (size_t i = 0; is_found && i < rank_count; i++) {
        uint64_t reached = 0;
        size_t bin = count;
        while (bin > 0 && reached < ranks[i])
            reached += bins[--bin].count;
        out[i] = bins[bin].size < all.most ? bins[bin].size : all.most;
    }
    free(bins);
    lab_histogram_clear(&all);
    return is_found;
}

bool lab_sizes_find(const struct lab_sizes *sizes, const uint64_t *ranks, size_t rank_count, uint64_t *out)
{
    return !sizes->out_of_memory && (sizes->rest.count == 0 ? find_listed(sizes, ranks, rank_count, out)
                                                            : find_binned(sizes, ranks, rank_count, out));
}

void lab_sizes_clear(struct lab_sizes *sizes)
{
    free(sizes->small);
    free(sizes->large);
    lab_histogram_clear(&sizes->rest);
    memset(sizes, 0, sizeof *sizes);
}
